/* The solve  M x - A' lambda = f,  A x = b  of many rows that reach few columns each, as src/tape/sparse_solve.cpp has it,
   operation by operation: [M A'; A 0] = L D L' in an order, and with a pattern, that were found when this was exported. What a
   row has of its own shows in its pivot; where that is little the pivoted solve decides, as far as there is memory for one.
   Dependent rows are always the pivoted solve's: those that the library leaves out by itself need memory of no known size. */

/* of a pivot of M, relative to its diagonal entry */
static const double least_sparse_mass = 3.7e-11;

/* Shares, squares of what a row has of its own: below the first it depends on others, */
static const double dependent_share = 1e-11;

/* above this one nothing needs a second look, */
static const double plain_share = 1e-2;

/* and between it and this one refinement brings the digits back. */
static const double refined_share = 1e-6;

typedef struct {
    int n, m;
    int operands, entries;         /* of L below its diagonal */
    const int *unknown;            /* by place in the order: a column of M, or n + a row of A */
    const int *diagonal, *right;   /* by place, operands: of M (-1 for rows), of f or b */
    const int *first;              /* by place, and the end: the row of L left of its diagonal */
    const int *column, *value;     /* by entry: its place, its operand in M or A (-1: none) */
    const int *first_pair, *pair;  /* by entry, and the end: products that are taken off it, of two entries each */
    const int *first_part, *part;  /* by row of A, and the end: entry, place of the column, operand, is the column late? */
    const constrained_shape *full; /* of the pivoted solve; 0: too large */
    const int *home;               /* by operand: where it is among those of the pivoted solve */
    int full_operands;
    int asks;                      /* 1: the pivoted solve decides about every row in doubt; 0: about what is left unsolved */
} sparse_shape;

typedef struct {
    const sparse_shape *shape;
    const double *o; /* operands: entries of M, of A, f, b */
    double *positive, *U, *L, *inverse, *y, *rhs, *size;
    double *full; /* memory of the pivoted solve */
    int dropped, weakest, failed;
    double least_share;
} sparse_memory;

static void sparse_layout(sparse_memory *c, const sparse_shape *shape, double *d) {
    const int count = shape->n + shape->m;
    c->shape = shape;
    c->o = d;
    c->positive = d += shape->operands;
    c->U = d += 1;
    c->L = d += shape->entries;
    c->inverse = d += shape->entries;
    c->y = d += count;
    c->rhs = d += count;
    c->size = d += count;
    c->full = d + count;
}

/* the square of a row in the metric of M: what columns before it have taken, and what those after it will */
static double sparse_length(const sparse_memory *c, int row, double of_columns) {
    const sparse_shape *const s = c->shape;
    double length = of_columns;
    int k;
    for (k = s->first_part[row]; k < s->first_part[row + 1]; ++k) {
        const int *const part = s->part + 4 * k;
        if (part[3]) length += c->o[part[2]] * c->o[part[2]] / c->o[s->diagonal[part[1]]];
    }
    return length;
}

/* L D L' and, with it, D^-1 L^-1 of the right side in y; 0 where M is not positive definite, or a number is none */
static int sparse_factor(sparse_memory *c) {
    const sparse_shape *const s = c->shape;
    const int n = s->n, count = s->n + s->m;
    int e, i, p;
    c->dropped = c->weakest = c->failed = 0;
    c->least_share = 1;
    *c->positive = 1;
    for (i = 0; i < count; ++i) {
        const int unknown = s->unknown[i];
        double right = c->o[s->right[i]], of_columns = 0, of_rows = 0, pivot, length, share;
        for (e = s->first[i]; e < s->first[i + 1]; ++e) {
            const int k = s->column[e];
            double value = s->value[e] < 0 ? 0.0 : c->o[s->value[e]], scaled;
            for (p = s->first_pair[e]; p < s->first_pair[e + 1]; ++p) value -= c->U[s->pair[2 * p]] * c->L[s->pair[2 * p + 1]];
            scaled = value * c->inverse[k];
            c->U[e] = value;
            c->L[e] = scaled;
            right -= value * c->y[k];
            if (s->unknown[k] < n)
                of_columns += value * scaled;
            else
                of_rows += value * scaled;
        }
        if (unknown < n) {
            const double diagonal = c->o[s->diagonal[i]];
            pivot = diagonal - (of_columns + of_rows);
            if (!(pivot > least_sparse_mass * diagonal) || !(diagonal > 0)) {
                *c->positive = 0;
                c->failed = unknown;
                return 0;
            }
            c->inverse[i] = 1 / pivot;
            c->y[i] = right * c->inverse[i];
            continue;
        }
        pivot = of_columns + of_rows;
        length = sparse_length(c, unknown - n, of_columns);
        share = length > 0 ? pivot / length : 0;
        if (!(share > dependent_share)) {
            if (!(share <= dependent_share)) return 0;
            if (c->dropped++ == 0) c->failed = unknown - n;
            c->inverse[i] = c->y[i] = 0;
            continue;
        }
        if (share < c->least_share) {
            c->least_share = share;
            c->weakest = unknown - n;
        }
        c->inverse[i] = -1 / pivot;
        c->y[i] = right * c->inverse[i];
    }
    return 1;
}

/* L'^-1 y, in place */
static void sparse_substitute(const sparse_memory *c, double *y) {
    const sparse_shape *const s = c->shape;
    int e, i;
    for (i = s->n + s->m; i-- > 0;) {
        const double value = y[i];
        for (e = s->first[i]; e < s->first[i + 1]; ++e) y[s->column[e]] -= c->L[e] * value;
    }
}

/* One correction of y by its residual; the largest residual of a row, relative to the size of its terms, as it was before. */
static double sparse_refine(sparse_memory *c) {
    const sparse_shape *const s = c->shape;
    const int count = s->n + s->m;
    double *const rhs = c->rhs, *const size = c->size, *const y = c->y;
    double largest = 0;
    int e, i;
    for (i = 0; i < count; ++i) {
        rhs[i] = c->o[s->right[i]];
        size[i] = fabs(rhs[i]);
        if (s->diagonal[i] >= 0) rhs[i] -= c->o[s->diagonal[i]] * y[i];
    }
    for (i = 0; i < count; ++i)
        for (e = s->first[i]; e < s->first[i + 1]; ++e) {
            const int k = s->column[e];
            double value;
            if (s->value[e] < 0) continue;
            value = c->o[s->value[e]];
            rhs[i] -= value * y[k];
            rhs[k] -= value * y[i];
            size[i] += fabs(value * y[k]);
            size[k] += fabs(value * y[i]);
        }
    for (i = 0; i < count; ++i)
        if (s->unknown[i] >= s->n && c->inverse[i] != 0 && size[i] > 0) largest = larger(largest, fabs(rhs[i]) / size[i]);
    for (i = 0; i < count; ++i) {
        for (e = s->first[i]; e < s->first[i + 1]; ++e) rhs[i] -= c->U[e] * rhs[s->column[e]];
        rhs[i] *= c->inverse[i];
    }
    sparse_substitute(c, rhs);
    for (i = 0; i < count; ++i) y[i] += rhs[i];
    return largest;
}

/* refined until the residuals of the rows are at round-off; 0 where they stay above it */
static int sparse_settle(sparse_memory *c) {
    double residual = 0;
    int k;
    for (k = 0; k < 4; ++k) {
        residual = sparse_refine(c);
        if (residual <= 64 * 2.220446049250313e-16) break;
    }
    return residual <= 1e-10;
}

static void sparse_refuse(MODEL_report *report, int column, int row) {
    report->status = MODEL_needs_pivoting;
    report->singular_column = column;
    report->row = report->weakest_row = row;
}

/* x and lambda into the unknowns, or what there is to report; 0 where the pivoted solve has to look */
static int solve_by_plan(sparse_memory *c, int most_rank, double *unknowns, MODEL_report *report) {
    const sparse_shape *const s = c->shape;
    const int n = s->n, count = s->n + s->m, alone = s->full == 0;
    double sum = 0; /* not finite where any of them is */
    int i;
    begin_report(report);
    if (!sparse_factor(c)) {
        if (*c->positive != 0) {
            report->status = MODEL_not_finite;
            return !s->asks;
        }
        sparse_refuse(report, c->failed, -1);
        return alone;
    }
    if (s->asks && c->least_share < refined_share) return 0;
    if (c->dropped != 0 || s->m > most_rank) {
        sparse_refuse(report, -1, c->dropped != 0 ? c->failed : c->weakest);
        return alone;
    }
    sparse_substitute(c, c->y);
    if (c->least_share < plain_share && !sparse_settle(c)) {
        sparse_refuse(report, -1, c->weakest);
        return alone;
    }
    report->rank = s->m;
    report->smallest_pivot = sqrt(c->least_share);
    report->weakest_row = c->weakest;
    for (i = 0; i < count; ++i) {
        const int unknown = s->unknown[i];
        sum += fabs(c->y[i]);
        unknowns[unknown] = unknown < n ? c->y[i] : -c->y[i];
    }
    if (!finite_all(&sum, 1)) report->status = MODEL_not_finite;
    return 1;
}

/* the operands at the front of d; x by column and then lambda into the unknowns */
static void solve_sparse(const sparse_shape *shape, double *d, int *ints, int most_rank, double *unknowns, MODEL_report *report) {
    sparse_memory c;
    int i;
    sparse_layout(&c, shape, d);
    if (solve_by_plan(&c, most_rank, unknowns, report)) return;
    fill(c.full, 0, shape->full_operands);
    for (i = 0; i < shape->operands; ++i) c.full[shape->home[i]] = c.o[i];
    solve_constrained(shape->full, c.full, ints, most_rank, unknowns, report);
}

/* the square of a row of L^-1 A' with M = L L', as the last solve has it; of A where M was not regular */
static double sparse_row_square(const void *shape, double *d, int row) {
    const sparse_shape *const s = (const sparse_shape *)shape;
    sparse_memory c;
    double square = 0;
    int k;
    sparse_layout(&c, s, d);
    for (k = s->first_part[row]; k < s->first_part[row + 1]; ++k) {
        const int *const part = s->part + 4 * k;
        double entry;
        if (*c.positive == 0)
            entry = part[2] < 0 ? 0 : c.o[part[2]];
        else if (part[3])
            entry = c.o[part[2]] / sqrt(c.o[s->diagonal[part[1]]]);
        else
            entry = c.U[part[0]] * sqrt(c.inverse[part[1]]);
        square += entry * entry;
    }
    return square;
}
