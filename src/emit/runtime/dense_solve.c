/* The other roads to  M x - A' lambda = f,  A x = b,  each by the algebra of its formulation, as src/tape/dense_solve.cpp has
   them: minimal, nonminimal, udwadia-kalaba, ukp. */

typedef struct {
    int n, m;
    int given;              /* of independent unknowns; 0: chosen by pivoting */
    const int *independent; /* the given ones */
    int sizes;              /* 1: behind b stands how long each row is in general, where that is far apart */
} dense_shape;

typedef struct {
    const dense_shape *shape;
    const double *M, *A, *f, *b; /* operands, M in full */
    double *E, *e, *length, *S, *s, *L, *B, *U, *W, *square, *right, *left, *column, *x, *lambda;
    int *rows, *dependent, *independent, *order;
    int rank, most_rank, free;
    MODEL_report *said;
} dense_memory;

static void dense_layout(dense_memory *c, const dense_shape *shape, double *d, int *ints, MODEL_report *report) {
    const int n = shape->n, m = shape->m, most = n > m ? n : m;
    c->shape = shape;
    c->M = d;
    c->A = d += n * n;
    c->f = d += m * n;
    c->b = d += n;
    c->E = d += shape->sizes ? 2 * m : m;
    c->e = d += m * n;
    c->length = d += m;
    c->S = d += m;
    c->s = d += n * n;
    c->L = d += n;
    c->B = d += n * n;
    c->U = d += m * n;
    c->W = d += m * n;
    c->square = d += m * m;
    c->right = d += most * most;
    c->left = d += most;
    c->column = d += most;
    c->x = d += n;
    c->lambda = d + n;
    c->rows = ints;
    c->dependent = ints += m;
    c->independent = ints += m;
    c->order = ints + n;
    c->rank = c->free = 0;
    c->said = report;
}

/* rows that are left over: do given independent unknowns leave no other free? */
static int judge_elimination(dense_memory *c) {
    const int n = c->shape->n, m = c->shape->m;
    const double noise = larger(100.0 * (double)(n + m) * 2.220446049250313e-16, dependent_row);
    double left = 0;
    int i, j;
    if (c->shape->given != 0) {
        for (i = c->rank; i < m; ++i)
            for (j = 0; j < c->shape->given; ++j) left = larger(left, fabs(c->E[i * n + c->shape->independent[j]]));
        if ((c->rank != c->most_rank && left > noise * 100.0) || n - c->rank != c->shape->given) {
            c->said->status = MODEL_singular_partition;
            return 0;
        }
    }
    return 1;
}

/* rows that are left over must ask for what the others give; the accelerations tell what is small */
static void judge_dependent_rows(dense_memory *c) {
    double size = 0;
    int i;
    for (i = 0; i < c->rank; ++i) size = larger(size, fabs(c->e[i]));
    for (i = 0; i < c->shape->n; ++i) size = larger(size, fabs(c->x[i]));
    for (i = c->rank; i < c->shape->m; ++i) {
        const double relative = fabs(c->e[i]) / (size + consistency_floor);
        if (!(relative > c->said->inconsistency)) continue;
        c->said->inconsistency = relative;
        c->said->inconsistent_row = c->rows[i];
    }
    if (c->said->inconsistency > consistency_tolerance) c->said->status = MODEL_inconsistent_rows;
}

static double relative_dense_length(const dense_memory *c, int row) {
    return c->shape->sizes ? c->length[row] / c->b[c->shape->m + row] : c->length[row];
}

/* some rows follow from the others, and it is known how long they are in general */
static int chosen_rows(const dense_memory *c) {
    return c->most_rank < c->shape->m && c->shape->sizes;
}

/* Lengths of the rows; one that is small against the others to round-off, each measured by how long it is in general, is none.
   Of chosen rows the lengths in general: a row that is short for the moment stays short, and is not preferred. */
static void measure_rows(dense_memory *c) {
    const int n = c->shape->n, m = c->shape->m;
    const double round_off = (double)(n > m ? n : m) * 2.220446049250313e-16;
    double longest = 0;
    int i, j;
    for (i = 0; i < m; ++i) {
        double squared = 0;
        for (j = 0; j < n; ++j) squared += c->A[i * n + j] * c->A[i * n + j];
        c->length[i] = sqrt(squared);
        longest = larger(longest, relative_dense_length(c, i));
    }
    for (i = 0; i < m; ++i) {
        if (!(relative_dense_length(c, i) > round_off * longest))
            c->length[i] = 0;
        else if (chosen_rows(c))
            c->length[i] = longest * c->b[m + i];
    }
}

/* a number of a row at unit length */
static double unit_number(double number, double length) {
    return length > 0 ? number / length : 0;
}

/* Gauss-Jordan with complete pivoting over rows scaled to unit length: which unknowns depend on which, and S, s */
static int eliminate(dense_memory *c) {
    const int n = c->shape->n, m = c->shape->m;
    const double noise = larger(100.0 * (double)(n + m) * 2.220446049250313e-16, dependent_row);
    int *const used = c->order;
    int i, j, k, most = n < m ? n : m;
    double first = 0;
    measure_rows(c);
    for (i = 0; i < m; ++i) {
        for (j = 0; j < n; ++j) c->E[i * n + j] = unit_number(c->A[i * n + j], c->length[i]);
        c->e[i] = c->length[i] > 0 ? c->b[i] / c->length[i] : c->b[i];
        c->rows[i] = i;
    }
    for (j = 0; j < n; ++j) used[j] = 0;
    for (j = 0; j < c->shape->given; ++j) used[c->shape->independent[j]] = 1;
    if (c->most_rank < most) most = c->most_rank;
    while (c->rank < most) {
        const int at = c->rank;
        int row = at, column = n;
        double largest = 0, inverse, pivot;
        for (i = at; i < m; ++i)
            for (j = 0; j < n; ++j)
                if (!used[j] && fabs(c->E[i * n + j]) > largest) {
                    largest = fabs(c->E[i * n + j]);
                    row = i;
                    column = j;
                }
        if (at == 0) first = largest;
        if (column == n || largest <= noise * first) break;
        pivot = c->shape->given == 0 ? largest / first : largest;
        if (pivot < c->said->smallest_pivot) c->said->smallest_pivot = pivot;
        for (j = 0; j < n; ++j) swap_numbers(c->E + at * n + j, c->E + row * n + j);
        swap_numbers(c->e + at, c->e + row);
        swap_indices(c->rows + at, c->rows + row);
        inverse = 1.0 / c->E[at * n + column];
        for (j = 0; j < n; ++j) c->E[at * n + j] *= inverse;
        c->e[at] *= inverse;
        for (i = 0; i < m; ++i) {
            const double factor = c->E[i * n + column];
            if (i == at || factor == 0) continue;
            for (j = 0; j < n; ++j) c->E[i * n + j] -= factor * c->E[at * n + j];
            c->e[i] -= factor * c->e[at];
        }
        used[column] = 1;
        c->dependent[c->rank++] = column;
    }
    for (j = 0; j < c->shape->given; ++j) used[c->shape->independent[j]] = 0;
    c->said->rank = c->rank;
    c->said->redundant = c->rank < m;
    if (m != 0) c->said->weakest_row = c->rows[c->rank < m ? c->rank : c->rank - 1];
    if (!judge_elimination(c)) return 0;
    for (j = 0; j < n; ++j)
        if (!used[j]) c->independent[c->free++] = j;
    fill(c->S, 0, n * n);
    fill(c->s, 0, n);
    for (k = 0; k < c->free; ++k) c->S[c->independent[k] * c->free + k] = 1;
    for (i = 0; i < c->rank; ++i) {
        for (k = 0; k < c->free; ++k) c->S[c->dependent[i] * c->free + k] = -c->E[i * n + c->independent[k]];
        c->s[c->dependent[i]] = c->e[i];
    }
    return 1;
}

/* a x = b by elimination with complete pivoting, in square and right, and for so many columns in W; 0 when a pivot vanishes */
static int solve_square(dense_memory *c, int n, int columns) {
    double *const a = c->square, *const b = c->right, *const B = c->W;
    double first = 0;
    int i, j, k, l;
    for (j = 0; j < n; ++j) c->order[j] = j;
    for (k = 0; k < n; ++k) {
        int row = k, column = k;
        double largest = 0;
        for (i = k; i < n; ++i)
            for (j = k; j < n; ++j)
                if (fabs(a[i * n + j]) > largest) {
                    largest = fabs(a[i * n + j]);
                    row = i;
                    column = j;
                }
        if (k == 0) first = largest;
        if (!(largest > 2.220446049250313e-16 * first)) return 0;
        for (j = 0; j < n; ++j) swap_numbers(a + k * n + j, a + row * n + j);
        swap_numbers(b + k, b + row);
        for (l = 0; l < columns; ++l) swap_numbers(B + k * columns + l, B + row * columns + l);
        for (i = 0; i < n; ++i) swap_numbers(a + i * n + k, a + i * n + column);
        swap_indices(c->order + k, c->order + column);
        for (i = k + 1; i < n; ++i) {
            const double factor = a[i * n + k] / a[k * n + k];
            for (j = k; j < n; ++j) a[i * n + j] -= factor * a[k * n + j];
            b[i] -= factor * b[k];
            for (l = 0; l < columns; ++l) B[i * columns + l] -= factor * B[k * columns + l];
        }
    }
    for (k = n; k-- > 0;) {
        for (j = k + 1; j < n; ++j) {
            b[k] -= a[k * n + j] * b[j];
            for (l = 0; l < columns; ++l) B[k * columns + l] -= a[k * n + j] * B[j * columns + l];
        }
        b[k] /= a[k * n + k];
        for (l = 0; l < columns; ++l) B[k * columns + l] /= a[k * n + k];
    }
    for (k = 0; k < n; ++k) c->left[c->order[k]] = b[k];
    copy(b, c->left, n);
    for (l = 0; l < columns; ++l) {
        for (k = 0; k < n; ++k) c->left[c->order[k]] = B[k * columns + l];
        for (k = 0; k < n; ++k) B[k * columns + l] = c->left[k];
    }
    return 1;
}

static void multiply_mass(const dense_memory *c, const double *x, double *y) {
    const int n = c->shape->n;
    int i, j;
    for (i = 0; i < n; ++i) {
        double sum = 0;
        for (j = 0; j < n; ++j) sum += c->M[i * n + j] * x[j];
        y[i] = sum;
    }
}

/* the projection of M x - f on the partial accelerations */
static int solve_minimal(dense_memory *c) {
    const int n = c->shape->n, p = c->free;
    int i, k, l;
    multiply_mass(c, c->s, c->x);
    for (k = 0; k < p; ++k) {
        double sum = 0;
        for (i = 0; i < n; ++i) sum += c->S[i * p + k] * (c->f[i] - c->x[i]);
        c->right[k] = sum;
    }
    for (l = 0; l < p; ++l) {
        for (i = 0; i < n; ++i) c->column[i] = c->S[i * p + l];
        multiply_mass(c, c->column, c->x);
        for (k = 0; k < p; ++k) {
            double entry = 0;
            for (i = 0; i < n; ++i) entry += c->S[i * p + k] * c->x[i];
            c->square[k * p + l] = entry;
        }
    }
    if (!solve_square(c, p, 0)) return 0;
    for (i = 0; i < n; ++i) {
        c->x[i] = c->s[i];
        for (k = 0; k < p; ++k) c->x[i] += c->S[i * p + k] * c->right[k];
    }
    return 1;
}

/* the rows themselves above the annihilated equations */
static int solve_nonminimal(dense_memory *c) {
    const int n = c->shape->n, p = c->free, rank = c->rank;
    int i, j, k;
    for (i = 0; i < rank; ++i) {
        for (j = 0; j < n; ++j) c->square[i * n + j] = unit_number(c->A[c->rows[i] * n + j], c->length[c->rows[i]]);
        c->right[i] = unit_number(c->b[c->rows[i]], c->length[c->rows[i]]);
    }
    for (k = 0; k < p; ++k) {
        double sum = 0;
        for (i = 0; i < n; ++i) sum += c->S[i * p + k] * c->f[i];
        c->right[rank + k] = sum;
        for (j = 0; j < n; ++j) {
            double entry = 0;
            for (i = 0; i < n; ++i) entry += c->S[i * p + k] * c->M[i * n + j];
            c->square[(rank + k) * n + j] = entry;
        }
    }
    if (!solve_square(c, n, 0)) return 0;
    copy(c->x, c->right, n);
    return 1;
}

static int factor_dense_mass(dense_memory *c) {
    const int n = c->shape->n;
    const double noise = 100.0 * (double)n * 2.220446049250313e-16;
    int i, j, k;
    for (i = 0; i < n; ++i)
        for (j = 0; j <= i; ++j) {
            double sum = c->M[i * n + j];
            for (k = 0; k < j; ++k) sum -= c->L[i * n + k] * c->L[j * n + k];
            if (i != j) {
                c->L[i * n + j] = sum / c->L[j * n + j];
            } else {
                if (!(sum > noise * c->M[i * n + i])) return 0;
                c->L[i * n + i] = sqrt(sum);
            }
        }
    return 1;
}

static void forward_dense(const dense_memory *c, double *v) {
    const int n = c->shape->n;
    int i, j;
    for (i = 0; i < n; ++i) {
        for (j = 0; j < i; ++j) v[i] -= c->L[i * n + j] * v[j];
        v[i] /= c->L[i * n + i];
    }
}

static void backward_dense(const dense_memory *c, double *v) {
    const int n = c->shape->n;
    int i, j;
    for (i = n; i-- > 0;) {
        for (j = i + 1; j < n; ++j) v[i] -= c->L[j * n + i] * v[j];
        v[i] /= c->L[i * n + i];
    }
}

static double dense_row_length(const double *row, int n) {
    double squared = 0;
    int j;
    for (j = 0; j < n; ++j) squared += row[j] * row[j];
    return sqrt(squared);
}

/* A row of B at unit length, or none where it vanishes, and the factor; of chosen rows as short as that of A is, but not shorter
   than `shortest` */
static double scale_row(dense_memory *c, int i, double shortest) {
    const int n = c->shape->n;
    double *const row = c->B + i * n;
    double scale = c->length[i] > 0 ? 1.0 / dense_row_length(row, n) : 0;
    int j;
    if (chosen_rows(c) && c->length[i] > 0) scale *= larger(dense_row_length(c->A + i * n, n) / c->length[i], shortest);
    for (j = 0; j < n; ++j) row[j] *= scale;
    return scale;
}

/* of two rows of v: (c, -s; s, c) */
static void turn_rows(double *v, int width, int p, int q, double c, double s) {
    int j;
    for (j = 0; j < width; ++j) {
        const double a = v[p * width + j], b = v[q * width + j];
        v[p * width + j] = c * a - s * b;
        v[q * width + j] = s * a + c * b;
    }
}

/* one-sided Jacobi on the rows of B: W B = Sigma U' with orthogonal W */
static void jacobi_rows(dense_memory *c) {
    const int n = c->shape->n, m = c->shape->m;
    int j, p, q, sweep;
    for (sweep = 0; sweep < 60; ++sweep) {
        int turned = 0;
        for (p = 0; p + 1 < m; ++p)
            for (q = p + 1; q < m; ++q) {
                double pp = 0, qq = 0, pq = 0, zeta, t, cosine, sine;
                for (j = 0; j < n; ++j) {
                    pp += c->U[p * n + j] * c->U[p * n + j];
                    qq += c->U[q * n + j] * c->U[q * n + j];
                    pq += c->U[p * n + j] * c->U[q * n + j];
                }
                if (fabs(pq) <= 2.220446049250313e-16 * sqrt(pp * qq)) continue;
                turned = 1;
                zeta = (qq - pp) / (2.0 * pq);
                t = (zeta >= 0 ? 1.0 : -1.0) / (fabs(zeta) + sqrt(1.0 + zeta * zeta));
                cosine = 1.0 / sqrt(1.0 + t * t);
                sine = cosine * t;
                turn_rows(c->U, n, p, q, cosine, sine);
                turn_rows(c->W, m, p, q, cosine, sine);
            }
        if (!turned) break;
    }
}

/* x = a + M^-1/2 (A M^-1/2)^+ (b - A a) */
static int solve_udwadia_kalaba(dense_memory *c) {
    const int n = c->shape->n, m = c->shape->m;
    const double least = larger(100.0 * (double)(n + m) * 2.220446049250313e-16, dependent_row);
    double largest = 0, bar;
    int i, j, k, kept;
    copy(c->x, c->f, n);
    forward_dense(c, c->x);
    copy(c->B, c->A, m * n);
    fill(c->W, 0, m * m);
    for (i = 0; i < m; ++i) {
        double missing = c->b[i];
        forward_dense(c, c->B + i * n);
        c->W[i * m + i] = 1;
        for (j = 0; j < n; ++j) missing -= c->B[i * n + j] * c->x[j];
        c->right[i] = missing * scale_row(c, i, 0);
    }
    copy(c->U, c->B, m * n);
    jacobi_rows(c);
    for (k = 0; k < m; ++k) {
        double squared = 0;
        for (j = 0; j < n; ++j) squared += c->U[k * n + j] * c->U[k * n + j];
        c->left[k] = squared; /* singular value squared */
        largest = larger(largest, squared);
    }
    bar = least * least * largest;
    for (kept = m; kept > c->most_rank;) { /* the weakest go, until no more are left than may be */
        double weakest = largest;
        kept = 0;
        for (k = 0; k < m; ++k)
            if (c->left[k] > bar) {
                ++kept;
                if (c->left[k] < weakest) weakest = c->left[k];
            }
        if (kept > c->most_rank) bar = weakest;
    }
    for (k = 0; k < m; ++k) {
        double along = 0;
        if (!(c->left[k] > bar)) continue;
        for (i = 0; i < m; ++i) along += c->W[k * m + i] * c->right[i];
        along /= c->left[k];
        for (j = 0; j < n; ++j) c->x[j] += along * c->U[k * n + j];
    }
    backward_dense(c, c->x);
    return 1;
}

/* scaled force J B'(b - B a_s), J = (B'B + V V')^-1, V = L' S */
static int solve_ukp(dense_memory *c) {
    const int n = c->shape->n, m = c->shape->m, p = c->free;
    int i, j, k, l;
    copy(c->x, c->f, n);
    forward_dense(c, c->x);
    copy(c->B, c->A, m * n);
    fill(c->right, 0, n > m ? n : m);
    for (i = 0; i < m; ++i) {
        double *const row = c->B + i * n;
        double missing = c->b[i], scale;
        forward_dense(c, row);
        for (j = 0; j < n; ++j) missing -= row[j] * c->x[j];
        scale = scale_row(c, i, 1e-3);
        for (j = 0; j < n; ++j) c->right[j] += row[j] * missing * scale;
    }
    fill(c->square, 0, n * n);
    for (i = 0; i < m; ++i)
        for (j = 0; j < n; ++j)
            for (k = 0; k < n; ++k) c->square[j * n + k] += c->B[i * n + j] * c->B[i * n + k];
    for (l = 0; l < p; ++l) {
        double squared = 0;
        for (j = 0; j < n; ++j) { /* column l of V */
            c->left[j] = 0;
            for (k = j; k < n; ++k) c->left[j] += c->L[k * n + j] * c->S[k * p + l];
        }
        for (j = 0; j < n; ++j) squared += c->left[j] * c->left[j];
        for (j = 0; j < n; ++j) c->left[j] /= sqrt(squared);
        for (j = 0; j < n; ++j)
            for (k = 0; k < n; ++k) c->square[j * n + k] += c->left[j] * c->left[k];
    }
    if (!solve_square(c, n, 0)) return 0;
    for (j = 0; j < n; ++j) c->x[j] += c->right[j];
    backward_dense(c, c->x);
    return 1;
}

/* of a row at unit length */
static double dense_entry(const dense_memory *c, int row, int column) {
    return unit_number(c->A[row * c->shape->n + column], c->length[row]);
}

/* A1' lambda = M x - f on the dependent unknowns, over the independent rows; with dependent ones the lambda of least norm. All
   rows of unit length. */
static int recover_multipliers(dense_memory *c) {
    const int n = c->shape->n, m = c->shape->m, rank = c->rank, more = m - rank;
    const int *const rows = c->rows;
    int i, j, k;
    for (i = 0; i < rank; ++i) {
        const int at = c->dependent[i];
        double sum = -c->f[at];
        for (j = 0; j < n; ++j) sum += c->M[at * n + j] * c->x[j];
        c->right[i] = sum;
        for (k = 0; k < rank; ++k) c->square[i * rank + k] = dense_entry(c, rows[k], at);
        for (k = 0; k < more; ++k) c->W[i * more + k] = dense_entry(c, rows[rank + k], at);
    }
    if (!solve_square(c, rank, more)) return 0;
    for (i = 0; i < m; ++i) {
        c->left[i] = c->length[rows[i]] > 0 ? c->length[rows[i]] : 1;
        c->order[i] = i;
    }
    for (i = 0; i < rank; ++i) c->right[i] /= c->left[i];
    if (more > 0) {
        least_norm v;
        v.rank = rank;
        v.count = v.stride = more;
        v.V = c->W;
        v.weight = c->left;
        v.lambda = c->right;
        v.square = c->square;
        v.order = c->order;
        spread_multipliers(&v);
    }
    for (i = 0; i < m; ++i) c->lambda[rows[c->order[i]]] = c->right[i];
    return 1;
}

static int begin_dense(dense_memory *c, const dense_shape *shape, double *d, int *ints, int most_rank, MODEL_report *report) {
    begin_report(report);
    dense_layout(c, shape, d, ints, report);
    c->most_rank = most_rank;
    if (!finite_all(d, shape->n * (shape->n + shape->m + 1) + shape->m)) {
        report->status = MODEL_not_finite;
        return 0;
    }
    return eliminate(c);
}

/* x and lambda into the unknowns, where both were found */
static void finish_dense(dense_memory *c, int solved, double *unknowns) {
    if (!solved || !recover_multipliers(c)) {
        c->said->status = MODEL_singular_mass;
        return;
    }
    judge_dependent_rows(c);
    copy(unknowns, c->x, c->shape->n);
    copy(unknowns + c->shape->n, c->lambda, c->shape->m);
}
