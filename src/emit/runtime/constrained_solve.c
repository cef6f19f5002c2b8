/* The solve  M x - A' lambda = f,  A x = b,  as src/tape/constrained_solve.cpp has it, operation by operation: Cholesky of M by
   blocks, pivoted orthogonalisation of the rows L^-1 A'; where M is singular or close to it, the bordered matrix by LU with
   complete pivoting; of dependent rows the multipliers of least norm. */

/* a row closer than this to what the others span is taken for dependent */
static const double dependent_row = 1e-13;

/* dependent rows whose b differs by more than this, relatively, are inconsistent */
static const double consistency_tolerance = 1e-8;

static const double consistency_floor = 1e-4;

/* eps^(2/3): a pivot of M this small has lost a third of its digits, and the bordered matrix takes over */
static const double least_mass_pivot = 3.666852862501036e-11;

typedef struct {
    int n, m;
    int entries;       /* of M's blocks, each in full */
    int blocks;        /* of M that do not couple */
    const int *block;  /* of each: first column, size, where it begins in M */
    int touches;
    const int *touch;  /* row and block: which blocks a row reaches */
    const int *reach;  /* of each row: columns outside which it is zero once M's factor is applied, begin and end */
    const int *column; /* position in the order of the blocks -> column */
    int sizes;         /* 1: behind b stands how long each row is in general, where that is far apart */
} constrained_shape;

typedef struct {
    const constrained_shape *shape;
    const double *M, *A0, *f, *b; /* operands: M by blocks, rows of A, f in the order of the blocks, b and what is behind it */
    double *L, *inverse, *A, *Q, *R, *W, *length, *left, *x, *lambda, *w, *part;
    double *B, *rhs, *scratch, *row_scale, *column_scale;
    int *pivot, *filled, *row_order, *column_order;
    int rank, most_rank;
    double growth;
} constrained_memory;

static double dot(const double *x, const double *y, int n) {
    double sum = 0;
    int i = 0;
    /* a long sum in four parts: it would wait for each addition otherwise */
    if (n >= 16) {
        double p0 = 0, p1 = 0, p2 = 0, p3 = 0;
        for (; i + 4 <= n; i += 4) {
            p0 += x[i] * y[i];
            p1 += x[i + 1] * y[i + 1];
            p2 += x[i + 2] * y[i + 2];
            p3 += x[i + 3] * y[i + 3];
        }
        sum = (p0 + p1) + (p2 + p3);
    }
    for (; i < n; ++i) sum += x[i] * y[i];
    return sum;
}

static void add_multiple(double *y, double factor, const double *x, int n) {
    int i;
    for (i = 0; i < n; ++i) y[i] += factor * x[i];
}

/* the operands are at the front of d, as the emitted code has written them */
static void constrained_layout(constrained_memory *c, const constrained_shape *shape, double *d, int *i, int most_rank) {
    const int n = shape->n, m = shape->m;
    c->shape = shape;
    c->M = d;
    c->A0 = d += shape->entries;
    c->f = d += m * n;
    c->b = d += n;
    c->A = d += shape->sizes ? 2 * m : m;
    c->L = d += m * n;
    c->inverse = d += shape->entries;
    c->Q = d += n;
    c->R = d += m * n;
    c->W = d += m * m;
    c->length = d += m * m;
    c->left = d += m;
    c->x = d += m;
    c->lambda = d += n;
    c->w = d += m;
    c->part = d += m;
    c->rhs = d += m;
    c->scratch = d += n + m;
    c->row_scale = d += n + m;
    c->column_scale = d += n + m;
    c->B = d + (n + m);
    c->pivot = i;
    c->filled = i += m;
    c->row_order = i += 2 * m;
    c->column_order = i + (n + m);
    c->rank = 0;
    c->most_rank = most_rank;
    c->growth = 1;
}

/* M = L L' by blocks; 0 when a pivot is close to the round-off of its diagonal entry */
static int factor_mass(constrained_memory *c) {
    int block, i, j;
    c->growth = 1;
    for (block = 0; block < c->shape->blocks; ++block) {
        const int begin = c->shape->block[3 * block], size = c->shape->block[3 * block + 1];
        double *const L = c->L + c->shape->block[3 * block + 2];
        double *const inverse = c->inverse + begin;
        for (j = 0; j < size; ++j) {
            double *const row = L + j * size;
            const double diagonal = row[j];
            double pivot;
            for (i = 0; i < j; ++i) row[i] = (row[i] - dot(row, L + i * size, i)) * inverse[i];
            pivot = diagonal - dot(row, row, j);
            if (!(pivot > least_mass_pivot * diagonal)) return 0;
            if (pivot < diagonal) c->growth = larger(c->growth, diagonal / pivot);
            row[j] = sqrt(pivot);
            inverse[j] = 1.0 / row[j];
        }
    }
    c->growth = sqrt(c->growth);
    return 1;
}

/* v = L^-1 v on one block */
static void forward_block(const constrained_memory *c, double *v, int block) {
    const int begin = c->shape->block[3 * block], size = c->shape->block[3 * block + 1];
    const double *row = c->L + c->shape->block[3 * block + 2];
    double *const part = v + begin;
    int j;
    for (j = 0; j < size; ++j, row += size) part[j] = (part[j] - dot(row, part, j)) * c->inverse[begin + j];
}

/* v = L^-T v on all blocks */
static void backward_blocks(const constrained_memory *c, double *v) {
    int block, j;
    for (block = 0; block < c->shape->blocks; ++block) {
        const int begin = c->shape->block[3 * block], size = c->shape->block[3 * block + 1];
        const double *const L = c->L + c->shape->block[3 * block + 2];
        double *const part = v + begin;
        for (j = size; j-- > 0;) {
            part[j] *= c->inverse[begin + j];
            add_multiple(part, -part[j], L + j * size, j);
        }
    }
}

/* takes the part along a direction of Q, the k-th, out of a row of Q */
static void remove_part(constrained_memory *c, int row, int direction, int k) {
    const int n = c->shape->n, other_begin = c->filled[2 * direction], other_end = c->filled[2 * direction + 1];
    int *const mine = c->filled + 2 * row;
    const int begin = mine[0] > other_begin ? mine[0] : other_begin, end = mine[1] < other_end ? mine[1] : other_end;
    const double *const q = c->Q + direction * n;
    double *const v = c->Q + row * n;
    double part;
    if (begin >= end) return;
    part = dot(q + begin, v + begin, end - begin);
    if (part == 0) return;
    if (other_begin < mine[0]) mine[0] = other_begin;
    if (other_end > mine[1]) mine[1] = other_end;
    add_multiple(v + other_begin, -part, q + other_begin, other_end - other_begin);
    c->R[k * c->shape->m + row] += part;
    c->left[row] = -1; /* to be measured again */
}

static double row_length(const constrained_memory *c, int row) {
    const double *const v = c->Q + row * c->shape->n + c->filled[2 * row];
    return sqrt(dot(v, v, c->filled[2 * row + 1] - c->filled[2 * row]));
}

/* against how long the row is in general */
static double relative_length(const constrained_memory *c, int row) {
    return c->shape->sizes ? c->length[row] / c->b[c->shape->m + row] : c->length[row];
}

/* Q holds rows; they become orthonormal directions, the independent ones first in pivot */
static void factor_rows(constrained_memory *c, double growth) {
    const int n = c->shape->n, m = c->shape->m;
    const double round_off = (double)(n > m ? n : m) * 2.220446049250313e-16;
    double longest = 0, tolerance;
    int i, j, k, most = n < m ? n : m;
    for (j = 0; j < m; ++j) {
        c->pivot[j] = j;
        c->filled[2 * j] = c->shape->reach[2 * j];
        c->filled[2 * j + 1] = c->shape->reach[2 * j + 1];
        c->length[j] = row_length(c, j);
        longest = larger(longest, relative_length(c, j));
    }
    /* Rows at unit length; one that is small against the others to round-off counts as zero. Where some follow from the others
       they keep how long they are against what they are in general: a short one would bring in the round-off of a long one. */
    for (j = 0; j < m; ++j) {
        double scale;
        if (!(relative_length(c, j) > round_off * longest))
            c->length[j] = 0;
        else if (c->most_rank < m && c->shape->sizes)
            c->length[j] = longest * c->b[m + j];
        scale = c->length[j] > 0 ? 1.0 / c->length[j] : 0.0;
        for (i = c->filled[2 * j]; i < c->filled[2 * j + 1]; ++i) c->Q[j * n + i] *= scale;
        c->left[j] = -1;
    }
    tolerance = larger(100.0 * round_off * growth, dependent_row);
    if (1e-6 < tolerance) tolerance = 1e-6;
    fill(c->R, 0, m * m);
    c->rank = 0;
    if (c->most_rank < most) most = c->most_rank;
    for (k = 0; k < most; ++k) {
        /* the longest remainder; earlier rows are preferred among equals */
        int best = k, p;
        double best_length = 0, length, inverse;
        for (j = k; j < m; ++j) {
            double *const left = c->left + c->pivot[j];
            if (*left < 0) *left = row_length(c, c->pivot[j]);
            if (*left > 1.001 * best_length) {
                best_length = *left;
                best = j;
            }
        }
        if (!(best_length > tolerance)) break;
        p = c->pivot[best];
        for (j = best; j > k; --j) c->pivot[j] = c->pivot[j - 1];
        c->pivot[k] = p;
        for (i = 0; i < k; ++i) remove_part(c, p, c->pivot[i], i);
        length = row_length(c, p);
        c->R[k * m + p] = length;
        inverse = 1.0 / length;
        for (i = c->filled[2 * p]; i < c->filled[2 * p + 1]; ++i) c->Q[p * n + i] *= inverse;
        for (j = k + 1; j < m; ++j) remove_part(c, c->pivot[j], p, k);
        c->rank = k + 1;
    }
    /* the dependent ones in their own order */
    for (j = c->rank + 1; j < m; ++j) {
        const int row = c->pivot[j];
        for (i = j; i > c->rank && c->pivot[i - 1] > row; --i) c->pivot[i] = c->pivot[i - 1];
        c->pivot[i] = row;
    }
}

static void judge_row(int row, double disagreement, double scale, MODEL_report *report) {
    const double relative = disagreement / (scale + consistency_floor);
    if (!(relative > report->inconsistency)) return;
    report->inconsistency = relative;
    report->inconsistent_row = row;
    if (report->inconsistency > consistency_tolerance) report->status = MODEL_inconsistent_rows;
}

/* one row, by far the most frequent case; 0 when it vanishes or is not finite */
static int solve_one_row(constrained_memory *c) {
    const int n = c->shape->n;
    double square;
    int i;
    for (i = 0; i < c->shape->touches; ++i) forward_block(c, c->A, c->shape->touch[2 * i + 1]);
    square = dot(c->A, c->A, n);
    if (!(square > 0)) return 0;
    for (i = 0; i < c->shape->blocks; ++i) forward_block(c, c->x, i);
    c->lambda[0] = (c->b[0] - dot(c->A, c->x, n)) / square;
    add_multiple(c->x, c->lambda[0], c->A, n);
    backward_blocks(c, c->x);
    c->rank = 1;
    return 1;
}

/* LU with complete pivoting of B (size x size) in place; the rank where pivots fall to the tolerance of the first */
static int factor_full(constrained_memory *c, int size, double tolerance) {
    double *const B = c->B;
    double first = 0;
    int i, j, k;
    for (i = 0; i < size; ++i) c->row_order[i] = c->column_order[i] = i;
    for (k = 0; k < size; ++k) {
        int row = k, column = k;
        double best = -1, inverse;
        for (i = k; i < size; ++i)
            for (j = k; j < size; ++j) {
                const double value = fabs(B[i * size + j]);
                if (value > best) {
                    best = value;
                    row = i;
                    column = j;
                }
            }
        if (k == 0) first = best;
        if (!(best > tolerance * first) || !(best > 0)) return k;
        if (row != k) {
            const int other = c->row_order[k];
            c->row_order[k] = c->row_order[row];
            c->row_order[row] = other;
            for (j = 0; j < size; ++j) {
                const double value = B[k * size + j];
                B[k * size + j] = B[row * size + j];
                B[row * size + j] = value;
            }
        }
        if (column != k) {
            const int other = c->column_order[k];
            c->column_order[k] = c->column_order[column];
            c->column_order[column] = other;
            for (i = 0; i < size; ++i) {
                const double value = B[i * size + k];
                B[i * size + k] = B[i * size + column];
                B[i * size + column] = value;
            }
        }
        inverse = 1.0 / B[k * size + k];
        for (i = k + 1; i < size; ++i) {
            double *const factor = B + i * size + k;
            if (*factor == 0) continue;
            *factor *= inverse;
            add_multiple(factor + 1, -*factor, B + k * size + k + 1, size - k - 1);
        }
    }
    return size;
}

/* solves with the factors of factor_full; the solution takes the place of the right-hand side */
static void substitute_full(constrained_memory *c, int size, double *rhs) {
    double *const v = c->scratch;
    const double *const B = c->B;
    int i;
    for (i = 0; i < size; ++i) v[i] = rhs[c->row_order[i]] - dot(B + i * size, v, i);
    for (i = size; i-- > 0;) v[i] = (v[i] - dot(B + i * size + i + 1, v + i + 1, size - i - 1)) / B[i * size + i];
    for (i = 0; i < size; ++i) rhs[c->column_order[i]] = v[i];
}

/* Of all multipliers with the same forces those of least norm, as src/tape/least_norm.hpp has it. V: the others (count of them)
   in terms of the independent rows (rank of them), all of unit length; weight: lengths as written, by place; lambda: given for
   the independent rows; order: which row stands at a place in the end. */
typedef struct {
    int rank, count, stride;
    double *V, *weight, *lambda, *square;
    int *order;
} least_norm;

/* zero where it is no more than noise */
static double without_noise(double x, double noise) {
    return fabs(x) > noise ? x : 0;
}

/* the row at place rank + j stands for the one at place k from now on */
static void exchange_rows(least_norm *c, int k, int j, double noise) {
    const int count = c->count;
    double *const V = c->V + k * c->stride;
    const double inverse = 1 / V[j], weight = c->weight[k];
    const int row = c->order[k];
    int i, l;
    for (l = 0; l < count; ++l)
        if (l != j) V[l] *= inverse;
    c->lambda[k] *= inverse;
    for (i = 0; i < c->rank; ++i) {
        double *const other = c->V + i * c->stride;
        const double factor = other[j];
        if (i == k) continue;
        for (l = 0; l < count; ++l) {
            double part, size;
            if (l == j) continue;
            part = factor * V[l];
            size = noise * (fabs(other[l]) + fabs(part));
            other[l] = without_noise(other[l] - part, size);
        }
        c->lambda[i] -= factor * c->lambda[k];
        other[j] = -(factor * inverse);
    }
    V[j] = inverse;
    c->weight[k] = c->weight[c->rank + j];
    c->weight[c->rank + j] = weight;
    c->order[k] = c->order[c->rank + j];
    c->order[c->rank + j] = row;
}

/* short rows for long ones */
static void exchange_short_rows(least_norm *c) {
    const int rank = c->rank, count = c->count;
    const double noise = 100.0 * (double)(rank + count) * 2.220446049250313e-16;
    int i, j, k, step;
    for (i = 0; i < rank + count; ++i) c->order[i] = i;
    for (k = 0; k < rank; ++k) {
        for (j = 0; j < count; ++j) c->V[k * c->stride + j] = without_noise(c->V[k * c->stride + j], noise);
        c->lambda[k] *= c->weight[k];
    }
    for (step = 0; step < 64 * (rank + count); ++step) {
        int row = rank, column = 0;
        double best = 2;
        for (k = 0; k < rank; ++k)
            for (j = 0; j < count; ++j) {
                const double part = fabs(c->V[k * c->stride + j]);
                double gain;
                if (!(part > 1e-6)) continue;
                gain = part * c->weight[rank + j] / c->weight[k];
                if (gain > best) {
                    best = gain;
                    row = k;
                    column = j;
                }
            }
        if (row == rank) break;
        exchange_rows(c, row, column, noise);
    }
    for (k = 0; k < rank; ++k) c->lambda[k] /= c->weight[k];
}

/* (1 + W'W) z = W' lambda with W as the rows are written */
static void spread_multipliers(least_norm *c) {
    const int rank = c->rank, count = c->count;
    double *const z = c->lambda + rank;
    int i, j, k;
    exchange_short_rows(c);
    for (k = 0; k < rank; ++k)
        for (j = 0; j < count; ++j) c->V[k * c->stride + j] *= c->weight[rank + j] / c->weight[k];
    for (i = 0; i < count; ++i) {
        for (j = 0; j <= i; ++j) {
            double sum = i == j ? 1 : 0;
            for (k = 0; k < rank; ++k) sum += c->V[k * c->stride + i] * c->V[k * c->stride + j];
            c->square[i * count + j] = sum;
        }
        z[i] = 0;
        for (k = 0; k < rank; ++k) z[i] += c->V[k * c->stride + i] * c->lambda[k];
    }
    for (i = 0; i < count; ++i) {
        double *const row = c->square + i * count;
        double pivot;
        for (j = 0; j < i; ++j) {
            const double *const other = c->square + j * count;
            for (k = 0; k < j; ++k) row[j] -= row[k] * other[k];
        }
        pivot = row[i];
        for (j = 0; j < i; ++j) {
            const double scaled = row[j] / c->square[j * count + j];
            pivot -= row[j] * scaled;
            row[j] = scaled;
            z[i] -= scaled * z[j];
        }
        row[i] = fabs(pivot) > 0.5 ? pivot : 1;
    }
    for (i = 0; i < count; ++i) z[i] /= c->square[i * count + i];
    for (i = count; i-- > 0;)
        for (j = 0; j < i; ++j) z[j] -= c->square[i * count + j] * z[i];
    for (k = 0; k < rank; ++k)
        for (j = 0; j < count; ++j) c->lambda[k] -= c->V[k * c->stride + j] * z[j];
}

/* the multipliers of the independent rows are in lambda, and W has what the others are made of */
static void spread_dependent(constrained_memory *c, MODEL_report *report) {
    const int m = c->shape->m;
    least_norm v;
    int i;
    report->redundant = 1;
    v.rank = c->rank;
    v.count = m - c->rank;
    v.stride = m;
    v.V = c->W + c->rank;
    v.weight = c->left;
    v.lambda = c->part;
    v.square = c->B;
    v.order = c->row_order;
    for (i = 0; i < m; ++i) {
        c->left[i] = c->length[c->pivot[i]] > 0 ? c->length[c->pivot[i]] : 1;
        c->part[i] = c->lambda[c->pivot[i]];
    }
    spread_multipliers(&v);
    for (i = 0; i < m; ++i) c->lambda[c->pivot[c->row_order[i]]] = c->part[i];
}

/* of dependent rows: do they ask for what the independent ones give, and what are they made of? */
static void judge_dependent(constrained_memory *c, double scale, MODEL_report *report) {
    const int m = c->shape->m, rank = c->rank;
    int i, j, k;
    for (j = rank; j < m; ++j) {
        const int p = c->pivot[j];
        const double given = c->length[p] > 0 ? c->b[p] / c->length[p] : c->b[p];
        double implied = 0;
        for (k = 0; k < rank; ++k) implied += c->R[k * m + p] * c->w[k];
        judge_row(p, fabs(given - implied), scale + fabs(given), report);
        for (k = rank; k-- > 0;) {
            double value = c->R[k * m + p];
            for (i = k + 1; i < rank; ++i) value -= c->R[k * m + c->pivot[i]] * c->W[i * m + j];
            c->W[k * m + j] = value / c->R[k * m + c->pivot[k]];
        }
    }
    spread_dependent(c, report);
}

/* M positive definite: z = L' x satisfies Q z = R'^-1 b and differs from L^-1 f by a combination of Q's directions only */
static void solve_by_blocks(constrained_memory *c, MODEL_report *report) {
    const int n = c->shape->n, m = c->shape->m;
    double scale = 0;
    int i, k;
    for (i = 0; i < c->shape->blocks; ++i) forward_block(c, c->x, i);
    if (m != 0) {
        if (m > 1) /* a single row has been through solve_one_row */
            for (i = 0; i < c->shape->touches; ++i)
                forward_block(c, c->A + c->shape->touch[2 * i] * n, c->shape->touch[2 * i + 1]);
        copy(c->Q, c->A, m * n);
        factor_rows(c, c->growth);
        if (c->rank < m) scale = fabs(dot(c->x, c->x, n));
        for (k = 0; k < c->rank; ++k) {
            const int p = c->pivot[k], begin = c->filled[2 * p], size = c->filled[2 * p + 1] - begin;
            const double *const q = c->Q + p * n + begin;
            double w = c->b[p] / c->length[p];
            for (i = 0; i < k; ++i) w -= c->R[i * m + p] * c->w[i];
            c->w[k] = w / c->R[k * m + p];
            c->part[k] = c->w[k] - dot(q, c->x + begin, size);
            add_multiple(c->x + begin, c->part[k], q, size);
        }
        for (k = c->rank; k-- > 0;) {
            double value = c->part[k];
            for (i = k + 1; i < c->rank; ++i) value -= c->R[k * m + c->pivot[i]] * c->part[i];
            c->part[k] = value / c->R[k * m + c->pivot[k]];
        }
        for (k = 0; k < c->rank; ++k) c->lambda[c->pivot[k]] = c->part[k] / c->length[c->pivot[k]];
        if (c->rank < m) judge_dependent(c, sqrt(scale) + sqrt(fabs(dot(c->x, c->x, n))), report);
    }
    backward_blocks(c, c->x);
}

/* [M -A'; A 0] over the independent rows, scaled by rows and columns, and its right-hand side */
static void fill_bordered(constrained_memory *c) {
    const int n = c->shape->n, size = n + c->rank;
    int block, i, j, k, round;
    fill(c->B, 0, size * size);
    for (block = 0; block < c->shape->blocks; ++block) {
        const int begin = c->shape->block[3 * block], width = c->shape->block[3 * block + 1];
        const double *const M = c->M + c->shape->block[3 * block + 2];
        for (i = 0; i < width; ++i)
            for (j = 0; j <= i; ++j)
                c->B[(begin + i) * size + begin + j] = c->B[(begin + j) * size + begin + i] = M[i * width + j];
    }
    for (k = 0; k < c->rank; ++k)
        for (j = 0; j < n; ++j) {
            const double a = c->A[c->pivot[k] * n + j];
            c->B[(n + k) * size + j] = a;
            c->B[j * size + n + k] = -a;
        }
    copy(c->rhs, c->x, n);
    for (k = 0; k < c->rank; ++k) c->rhs[n + k] = c->b[c->pivot[k]];
    fill(c->row_scale, 1, n + c->shape->m);
    fill(c->column_scale, 1, n + c->shape->m);
    for (k = 0; k < c->rank; ++k) c->row_scale[n + k] = c->column_scale[n + k] = 1.0 / c->length[c->pivot[k]];
    for (round = 0; round < 3; ++round)
        for (i = 0; i < size; ++i) {
            double row = 0, column = 0;
            for (j = 0; j < size; ++j) {
                row = larger(row, fabs(c->B[i * size + j]) * c->row_scale[i] * c->column_scale[j]);
                column = larger(column, fabs(c->B[j * size + i]) * c->row_scale[j] * c->column_scale[i]);
            }
            if (row > 0) c->row_scale[i] /= sqrt(row);
            if (column > 0) c->column_scale[i] /= sqrt(column);
        }
    for (i = 0; i < size; ++i) {
        for (j = 0; j < size; ++j) c->B[i * size + j] *= c->row_scale[i] * c->column_scale[j];
        c->rhs[i] *= c->row_scale[i];
    }
}

/* the unknown of x with the largest part in a null vector of the factored matrix */
static int free_column(constrained_memory *c, int size, int rank) {
    double *const v = c->rhs;
    const double *const B = c->B;
    double largest = -1;
    int i, best = 0;
    fill(v, 0, c->shape->n + c->shape->m);
    for (i = rank; i-- > 0;) v[i] = -B[i * size + rank];
    for (i = rank; i-- > 0;) {
        v[i] -= dot(B + i * size + i + 1, v + i + 1, rank - i - 1);
        v[i] = v[i] / B[i * size + i];
    }
    v[rank] = 1;
    for (i = 0; i <= rank; ++i) {
        const int column = c->column_order[i];
        double value;
        if (column >= c->shape->n) continue;
        value = fabs(v[i]) * c->column_scale[column];
        if (value > largest) {
            largest = value;
            best = c->shape->column[column];
        }
    }
    return best;
}

/* the part of a row of A, at unit length, along a direction of Q */
static double along_direction(const constrained_memory *c, int k, int row) {
    const int n = c->shape->n;
    double sum = 0;
    int i;
    for (i = 0; i < n; ++i) sum += c->Q[c->pivot[k] * n + i] * c->A[row * n + i];
    return sum / c->length[row];
}

static void solve_bordered(constrained_memory *c, MODEL_report *report) {
    const int n = c->shape->n, m = c->shape->m;
    int i, j, k, size, found;
    double speed = 0;
    copy(c->Q, c->A, m * n);
    factor_rows(c, 1);
    fill_bordered(c);
    size = n + c->rank;
    found = factor_full(c, size, 100 * (double)size * 2.220446049250313e-16);
    if (found < size) {
        report->status = MODEL_singular_mass;
        report->singular_column = free_column(c, size, found);
        return;
    }
    substitute_full(c, size, c->rhs);
    for (i = 0; i < n; ++i) c->x[i] = c->rhs[i] * c->column_scale[i];
    for (k = 0; k < c->rank; ++k) c->lambda[c->pivot[k]] = c->rhs[n + k] * c->column_scale[n + k];
    if (c->rank == m) return;
    /* the dependent rows, in terms of the independent ones by the square system Q (A_S)' W = Q (A_j)',
       all of unit length */
    for (i = 0; i < n; ++i) speed = larger(speed, fabs(c->x[i]));
    for (j = c->rank; j < m; ++j) {
        const int p = c->pivot[j];
        const double length = c->length[p] > 0 ? c->length[p] : 1;
        const double implied = dot(c->A + p * n, c->x, n);
        judge_row(p, fabs(c->b[p] - implied) / length, speed + fabs(c->b[p]) / length, report);
    }
    for (k = 0; k < c->rank; ++k)
        for (i = 0; i < c->rank; ++i) c->B[k * c->rank + i] = along_direction(c, k, c->pivot[i]);
    factor_full(c, c->rank, 0);
    for (j = c->rank; j < m; ++j) {
        for (k = 0; k < c->rank; ++k) c->part[k] = c->length[c->pivot[j]] > 0 ? along_direction(c, k, c->pivot[j]) : 0;
        substitute_full(c, c->rank, c->part);
        for (k = 0; k < c->rank; ++k) c->W[k * m + j] = c->part[k];
    }
    spread_dependent(c, report);
}

/* the operands at the front of d; x by column and then lambda into the unknowns */
static void solve_constrained(const constrained_shape *shape, double *d, int *ints, int most_rank, double *unknowns,
                              MODEL_report *report) {
    const int n = shape->n, m = shape->m;
    constrained_memory c;
    int i, positive, finite;
    begin_report(report);
    constrained_layout(&c, shape, d, ints, most_rank);
    copy(c.L, c.M, shape->entries);
    copy(c.A, c.A0, m * n);
    copy(c.x, c.f, n);
    positive = factor_mass(&c);
    if (positive && m == 1 && solve_one_row(&c)) {
        report->rank = 1;
    } else {
        /* a factor that is positive definite had finite entries */
        if (!(positive && m == 0) && !((positive || finite_all(c.M, shape->entries)) && finite_all(c.A0, m * n + n + m))) {
            report->status = MODEL_not_finite;
            return;
        }
        fill(c.lambda, 0, m);
        if (positive) {
            solve_by_blocks(&c, report);
        } else {
            report->bordered = 1;
            solve_bordered(&c, report);
        }
        report->rank = c.rank;
        if (c.rank != 0) report->smallest_pivot = c.R[(c.rank - 1) * m + c.pivot[c.rank - 1]];
        if (m != 0) report->weakest_row = c.pivot[c.rank < m ? c.rank : c.rank - 1];
    }
    if (report->status == MODEL_singular_mass) return;
    finite = finite_all(c.x, n) & finite_all(c.lambda, m);
    for (i = 0; i < n; ++i) unknowns[shape->column[i]] = c.x[i];
    copy(unknowns + n, c.lambda, m);
    if (!finite) report->status = MODEL_not_finite;
}
