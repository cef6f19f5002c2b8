/* Constraints that ideal forces alone do not keep, M x - A' lambda - law(lambda) - D tau = f,  A x = b,  S x = s,  as
   src/tape/realised_solve.cpp has it: a bordered matrix by LU with complete pivoting, multipliers of least norm where rows depend
   on each other, actuators by least squares, laws by Newton's method from every combination of signs. */

typedef struct {
    int n, m, r, p;      /* unknowns, rows, servo rows, actuators */
    int law_rows;        /* rows whose multipliers the law depends on */
    const int *law_row;
    int law;             /* 1 where there is one, whatever it depends on */
} realised_shape;

typedef struct {
    const realised_shape *shape;
    int size;
    /* operands: M in full, A, f, b, S (r x n), s, D (n x p), law, its slope (n x m) */
    const double *M, *A, *f, *b, *S, *s, *D, *law, *slope;
    double *B, *scale, *columns, *work, *Q, *missing, *unknowns, *ideal, *guess, *first;
    double *rows, *null, *balance;
    int *row_order, *column_order, *servo_order;
    int rank, row_rank, most_rank;
    int solutions, starts, start, steps;
    MODEL_report *said;
} realised_memory;

static void realised_layout(realised_memory *c, const realised_shape *shape, double *d, int *ints, int most_rank,
                            MODEL_report *report) {
    const int n = shape->n, m = shape->m, r = shape->r, p = shape->p, size = n + m;
    c->shape = shape;
    c->size = size;
    c->M = d;
    c->A = d += n * n;
    c->f = d += m * n;
    c->b = d += n;
    c->S = d += m;
    c->s = d += r * n;
    c->D = d += r;
    c->law = d += n * p;
    c->slope = d += n;
    c->B = d += n * m;
    c->scale = d += size * size;
    c->columns = d += size;
    c->work = d += size * (1 + p + r);
    c->Q = d += size;
    c->missing = d += r * p;
    c->unknowns = d += r;
    c->ideal = d += size + p;
    c->guess = d += m;
    c->first = d += m;
    c->rows = d += size + p;
    c->null = d += m * n;
    c->balance = d + m * m;
    c->row_order = ints;
    c->column_order = ints + size;
    c->servo_order = ints + 2 * size;
    c->rank = c->row_rank = 0;
    c->most_rank = most_rank - (most_rank < r ? most_rank : r);
    c->solutions = c->starts = c->start = c->steps = 0;
    c->said = report;
}

/* the rows, scaled to unit length, by elimination with complete pivoting: row_order has the independent ones first, null what the
   others are made of */
static void find_dependent_rows(realised_memory *c) {
    const int n = c->shape->n, m = c->shape->m, size = c->size;
    const double noise = larger(1000.0 * (double)n * 2.220446049250313e-16, dependent_row);
    double *const L = c->null;
    int most = n < m ? n : m, i, j, k;
    if (c->most_rank < most) most = c->most_rank;
    for (k = 0; k < m; ++k) {
        copy(c->rows + k * n, c->B + (n + k) * size, n);
        c->row_order[k] = k;
    }
    for (c->row_rank = 0; c->row_rank < most; ++c->row_rank) {
        int best = c->row_rank, column = 0;
        double largest = 0;
        const double *pivot;
        k = c->row_rank;
        for (i = k; i < m; ++i)
            for (j = 0; j < n; ++j)
                if (fabs(c->rows[c->row_order[i] * n + j]) > largest) {
                    largest = fabs(c->rows[c->row_order[i] * n + j]);
                    best = i;
                    column = j;
                }
        if (!(largest > noise)) break;
        swap_indices(c->row_order + k, c->row_order + best);
        pivot = c->rows + c->row_order[k] * n;
        for (i = k + 1; i < m; ++i) {
            double *const row = c->rows + c->row_order[i] * n;
            const double factor = row[column] / pivot[column];
            L[c->row_order[i] * m + k] = factor;
            if (factor == 0) continue;
            for (j = 0; j < n; ++j) row[j] -= factor * pivot[j];
            row[column] = 0;
        }
    }
}

static double product_of(const double *v, const double *w, int size) {
    double sum = 0;
    int i;
    for (i = 0; i < size; ++i) sum += v[i] * w[i];
    return sum;
}

/* by Gram and Schmidt, twice over */
static void orthonormalise(double *vectors, int count, int m) {
    int i, j, k, pass;
    for (k = 0; k < count; ++k) {
        double *const v = vectors + k * m;
        double length;
        for (pass = 0; pass < 2; ++pass) {
            const double before = 1.0 / sqrt(product_of(v, v, m));
            for (i = 0; i < m; ++i) v[i] *= before;
            for (j = 0; j < k; ++j) {
                const double *const w = vectors + j * m;
                const double part = product_of(v, w, m);
                for (i = 0; i < m; ++i) v[i] -= part * w[i];
            }
        }
        length = 1.0 / sqrt(product_of(v, v, m));
        for (i = 0; i < m; ++i) v[i] *= length;
    }
}

/* what dependent rows contradict the others by is told and taken out of b; N Y' comes in where lambda is */
static void border_dependent_rows(realised_memory *c) {
    const int n = c->shape->n, m = c->shape->m, size = c->size, dependent = m - c->row_rank;
    const double *const L = c->null;
    double largest = 0;
    int d, s, i, k;
    for (d = 0; d < dependent; ++d) {
        double *const v = c->balance + d * m;
        const int row = c->row_order[c->row_rank + d];
        fill(v, 0, m);
        v[row] = 1.0;
        for (k = c->row_rank; k-- > 0;) {
            double part = L[row * m + k];
            for (i = k + 1; i < c->row_rank; ++i) part += v[c->row_order[i]] * L[c->row_order[i] * m + k];
            v[c->row_order[k]] = -part;
        }
    }
    copy(c->null, c->balance, dependent * m);
    for (d = 0; d < dependent; ++d)
        for (s = 0; s < m; ++s) c->balance[d * m + s] *= c->scale[n + s] * c->scale[n + s];
    orthonormalise(c->null, dependent, m);
    orthonormalise(c->balance, dependent, m);
    for (i = 0; i < size; ++i) largest = larger(largest, fabs(c->columns[i]));
    for (d = 0; d < dependent; ++d) {
        const double *const v = c->null + d * m;
        double missing = 0;
        for (s = 0; s < m; ++s) missing += v[s] * c->columns[n + s];
        for (s = 0; s < m; ++s) c->columns[n + s] -= missing * v[s];
        c->said->inconsistency = larger(c->said->inconsistency, fabs(missing) / (largest + consistency_floor));
        for (s = 0; s < m; ++s)
            for (i = 0; i < m; ++i) c->B[(n + s) * size + n + i] += v[s] * c->balance[d * m + i];
    }
}

static int gather_realised(realised_memory *c, int with_law) {
    const int n = c->shape->n, m = c->shape->m, r = c->shape->r, p = c->shape->p, size = c->size;
    double *const B = c->B;
    int i, j, k;
    fill(B, 0, size * size);
    fill(c->columns, 0, size * (1 + p + r));
    for (i = 0; i < n; ++i)
        for (j = 0; j < n; ++j) B[i * size + j] = c->M[i * n + j];
    for (k = 0; k < m; ++k)
        for (j = 0; j < n; ++j) {
            B[(n + k) * size + j] += c->A[k * n + j];
            B[j * size + n + k] -= c->A[k * n + j];
        }
    for (i = 0; i < n; ++i) c->columns[i] = c->f[i];
    for (i = 0; i < m; ++i) c->columns[n + i] = c->b[i];
    for (i = 0; i < r; ++i) c->missing[i] = c->s[i];
    for (j = 0; j < p; ++j)
        for (i = 0; i < n; ++i) c->columns[(1 + j) * size + i] = c->D[i * p + j];
    for (j = 0; j < r; ++j)
        for (i = 0; i < n; ++i) c->columns[(1 + p + j) * size + i] = c->S[j * n + i];
    /* free of units: kinetic energy for x, and the rows at unit length in that metric */
    for (i = 0; i < n; ++i) {
        const double mass = fabs(B[i * size + i]);
        c->scale[i] = mass > 0 ? 1.0 / sqrt(mass) : 1.0;
    }
    for (k = 0; k < m; ++k) {
        double squared = 0;
        for (i = 0; i < n; ++i) {
            const double part = fabs(B[(n + k) * size + i]) * c->scale[i];
            squared += part * part;
        }
        c->scale[n + k] = squared > 0 ? 1.0 / sqrt(squared) : 1.0;
    }
    if (with_law) {
        for (i = 0; i < n; ++i) c->columns[i] += c->law[i];
        for (i = 0; i < n; ++i)
            for (k = 0; k < m; ++k) {
                const double slope = c->slope[i * m + k];
                if (slope == 0) continue;
                B[i * size + n + k] -= slope;
                c->columns[i] -= slope * c->guess[k];
            }
    }
    for (i = 0; i < size; ++i) {
        for (j = 0; j < size; ++j) B[i * size + j] *= c->scale[i] * c->scale[j];
        for (k = 0; k <= p + r; ++k) c->columns[k * size + i] *= c->scale[i];
    }
    find_dependent_rows(c);
    if (c->row_rank < m) border_dependent_rows(c);
    return finite_all(B, size * size) & finite_all(c->columns, size * (1 + p + r)) & finite_all(c->S, r * n) &
           finite_all(c->missing, r);
}

static int factor_realised(realised_memory *c) {
    const int size = c->size;
    const double noise = larger(1000.0 * (double)size * 2.220446049250313e-16, dependent_row);
    double *const B = c->B;
    double first = 0;
    int i, j, k;
    for (i = 0; i < size; ++i) c->row_order[i] = c->column_order[i] = i;
    c->rank = 0;
    for (k = 0; k < size; ++k) {
        int row = k, column = k;
        double largest = 0;
        for (i = k; i < size; ++i)
            for (j = k; j < size; ++j)
                if (fabs(B[i * size + j]) > largest) {
                    largest = fabs(B[i * size + j]);
                    row = i;
                    column = j;
                }
        if (k == 0) first = largest;
        if (!(largest > noise * first)) break;
        for (j = 0; j < size; ++j) swap_numbers(B + k * size + j, B + row * size + j);
        for (i = 0; i < size; ++i) swap_numbers(B + i * size + k, B + i * size + column);
        swap_indices(c->row_order + k, c->row_order + row);
        swap_indices(c->column_order + k, c->column_order + column);
        for (i = k + 1; i < size; ++i) {
            double factor;
            B[i * size + k] /= B[k * size + k];
            factor = B[i * size + k];
            if (factor == 0) continue;
            for (j = k + 1; j < size; ++j) B[i * size + j] -= factor * B[k * size + j];
        }
        ++c->rank;
    }
    return c->rank == size;
}

/* the scaled right side becomes the solution in the user's units */
static void substitute_realised(realised_memory *c, double *right) {
    const int size = c->size;
    const double *const B = c->B;
    int j, k;
    for (k = 0; k < size; ++k) {
        double value = right[c->row_order[k]];
        for (j = 0; j < k; ++j) value -= B[k * size + j] * c->work[j];
        c->work[k] = value;
    }
    for (k = size; k-- > 0;) {
        for (j = k + 1; j < size; ++j) c->work[k] -= B[k * size + j] * c->work[j];
        c->work[k] /= B[k * size + k];
    }
    for (k = 0; k < size; ++k) right[c->column_order[k]] = c->work[k] * c->scale[c->column_order[k]];
}

/* of a direction in the mass metric, over what the ideal rows leave free */
static double free_length(const realised_memory *c, const double *direction, int stride, int column) {
    double sum = 0;
    int j;
    for (j = 0; j < c->shape->n; ++j) sum += direction[j * stride] * c->columns[column * c->size + j];
    return sqrt(fabs(sum));
}

/* rows of S G made orthonormal, longest remaining first; tau = sum over them */
static int reach_servo_rows(realised_memory *c) {
    const int n = c->shape->n, r = c->shape->r, p = c->shape->p, size = c->size;
    const double noise = larger(1000.0 * (double)(n + p) * 2.220446049250313e-16, dependent_row);
    double strongest = 0;
    int done, i, j, k, pass;
    for (k = 0; k < p; ++k) strongest = larger(strongest, free_length(c, c->D + k, p, 1 + k));
    for (i = 0; i < r; ++i) {
        const double natural = strongest * free_length(c, c->S + i * n, 1, 1 + p + i);
        double unit;
        for (k = 0; k < p; ++k) {
            double sum = 0;
            for (j = 0; j < n; ++j) sum += c->S[i * n + j] * c->columns[(1 + k) * size + j];
            c->Q[i * p + k] = sum;
        }
        for (j = 0; j < n; ++j) c->missing[i] -= c->S[i * n + j] * c->columns[j];
        unit = natural > 0 ? 1.0 / natural : 1.0;
        for (k = 0; k < p; ++k) c->Q[i * p + k] *= unit;
        c->missing[i] *= unit;
        c->servo_order[i] = i;
    }
    for (k = 0; k < p; ++k) c->unknowns[size + k] = 0;
    for (done = 0; done < r; ++done) {
        int best = done, row;
        double largest = -1, squared = 0, norm, along;
        for (i = done; i < r; ++i) {
            const double *const q = c->Q + c->servo_order[i] * p;
            double length = 0;
            for (k = 0; k < p; ++k) length += q[k] * q[k];
            if (fabs(length) > largest) {
                largest = fabs(length);
                best = i;
            }
        }
        swap_indices(c->servo_order + done, c->servo_order + best);
        row = c->servo_order[done];
        if (!(sqrt(largest) > noise)) {
            c->said->status = MODEL_unreachable;
            c->said->row = row;
            return 0;
        }
        if (sqrt(largest) < c->said->smallest_pivot) c->said->smallest_pivot = sqrt(largest);
        for (k = 0; k < p; ++k) squared += c->Q[row * p + k] * c->Q[row * p + k];
        norm = sqrt(squared);
        for (k = 0; k < p; ++k) c->Q[row * p + k] /= norm;
        along = c->missing[row];
        along /= norm;
        for (k = 0; k < p; ++k) c->unknowns[size + k] += along * c->Q[row * p + k];
        for (i = done + 1; i < r; ++i) {
            const int other = c->servo_order[i];
            for (pass = 0; pass < 2; ++pass) { /* twice is enough */
                double part = 0;
                for (k = 0; k < p; ++k) part += c->Q[other * p + k] * c->Q[row * p + k];
                for (k = 0; k < p; ++k) c->Q[other * p + k] -= part * c->Q[row * p + k];
                c->missing[other] -= part * along;
            }
        }
    }
    return 1;
}

static int solve_realised_once(realised_memory *c, int with_law) {
    const int n = c->shape->n, m = c->shape->m, r = c->shape->r, p = c->shape->p, size = c->size;
    int i, k;
    c->said->inconsistency = 0;
    if (!gather_realised(c, with_law)) {
        c->said->status = MODEL_not_finite;
        return 0;
    }
    c->said->rank = c->row_rank;
    c->said->redundant = c->row_rank < m;
    if (!factor_realised(c)) {
        if (with_law) return 0; /* this start has no solution; others may */
        c->said->status = MODEL_singular_mass;
        c->said->singular_column = 0;
        for (k = c->rank; k < size; ++k)
            if (c->column_order[k] < n) c->said->singular_column = c->column_order[k];
        return 0;
    }
    for (k = 0; k <= p + r; ++k) substitute_realised(c, c->columns + k * size);
    if (r > 0 && !reach_servo_rows(c)) return 0;
    for (i = 0; i < size; ++i) {
        c->unknowns[i] = c->columns[i];
        for (k = 0; k < p; ++k) c->unknowns[i] += c->columns[(1 + k) * size + i] * c->unknowns[size + k];
    }
    c->said->servo_rank = r;
    return 1;
}

static void keep_solution(realised_memory *c) {
    const int n = c->shape->n;
    double difference = 0, size = 0;
    int i;
    if (c->solutions == 0) {
        copy(c->first, c->unknowns, c->size + c->shape->p);
        c->solutions = 1;
        return;
    }
    for (i = 0; i < c->shape->law_rows; ++i) {
        const int row = n + c->shape->law_row[i];
        difference = larger(difference, fabs(c->unknowns[row] - c->first[row]));
        size = larger(size, fabs(c->first[row]));
    }
    if (difference > 1e-6 * size) ++c->solutions;
}

static void begin_realised(realised_memory *c) {
    const int n = c->shape->n, m = c->shape->m, signs = c->shape->law_rows;
    double largest = 0, least;
    int k;
    begin_report(c->said);
    if (!solve_realised_once(c, 0)) {
        if (c->said->status == MODEL_ok) c->said->status = MODEL_singular_mass;
        return;
    }
    if (!c->shape->law) {
        keep_solution(c);
        return;
    }
    for (k = 0; k < m; ++k) largest = larger(largest, fabs(c->unknowns[n + k]));
    least = largest > 0 ? largest * 1e-3 : 1.0;
    for (k = 0; k < m; ++k) {
        c->ideal[k] = c->unknowns[n + k];
        if (fabs(c->ideal[k]) < least) c->ideal[k] = least;
    }
    c->starts = signs <= 6 ? 1 << signs : 2 + signs;
}

/* the next guess; 0 when all were tried, and at once after a failure */
static int next_start(realised_memory *c, double *guess) {
    const int m = c->shape->m, all = c->shape->law_rows <= 6;
    int i;
    if (c->said->status != MODEL_ok || c->start == c->starts) return 0;
    for (i = 0; i < m; ++i) c->guess[i] = c->ideal[i];
    for (i = 0; i < c->shape->law_rows; ++i) {
        const int turned = all ? (c->start >> i) & 1 : c->start == 1 || c->start == i + 2;
        if (turned) c->guess[c->shape->law_row[i]] = -c->guess[c->shape->law_row[i]];
    }
    copy(guess, c->guess, m);
    ++c->start;
    c->steps = 0;
    return 1;
}

/* one step from the guess and the law in the operands; 0 when this start is done */
static int iterate_law(realised_memory *c, double *guess) {
    const int n = c->shape->n, m = c->shape->m;
    const MODEL_report before = *c->said;
    double change = 0, size = 0;
    int i, done;
    if (!solve_realised_once(c, 1)) {
        /* a start may run into a singular or infinite law without harm to the others */
        if (c->said->status != MODEL_unreachable) *c->said = before;
        return 0;
    }
    for (i = 0; i < c->shape->law_rows; ++i) {
        const int row = c->shape->law_row[i];
        change = larger(change, fabs(c->unknowns[n + row] - c->guess[row]));
        size = larger(size, fabs(c->unknowns[n + row]));
        size = larger(size, fabs(c->guess[row]));
    }
    done = change <= 1000.0 * (double)c->size * 2.220446049250313e-16 * size || size == 0;
    for (i = 0; i < m; ++i) guess[i] = c->guess[i] = c->unknowns[n + i];
    if (done) keep_solution(c);
    return !done && ++c->steps < 40;
}

/* x, lambda and tau into the unknowns, and the guess that led there */
static void finish_realised(realised_memory *c, double *unknowns, double *guess) {
    const int n = c->shape->n, m = c->shape->m;
    if (c->said->status != MODEL_ok) return;
    if (c->solutions != 1) {
        c->said->status = c->solutions == 0 ? MODEL_no_reaction : MODEL_several_reactions;
        return;
    }
    copy(unknowns, c->first, c->size + c->shape->p);
    if (c->shape->law) copy(guess, c->first + n, m);
    if (!finite_all(c->first, c->size + c->shape->p)) c->said->status = MODEL_not_finite;
    if (c->said->status == MODEL_ok && c->said->inconsistency > consistency_tolerance)
        c->said->status = MODEL_inconsistent_rows;
}
