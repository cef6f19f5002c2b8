/* A X = B for a square A and one or several right sides, by elimination with complete pivoting over rows scaled to their largest
   entry, as src/tape/linear_solve.cpp has it. */

static void swap_numbers(double *a, double *b) {
    const double other = *a;
    *a = *b;
    *b = other;
}

static void swap_indices(int *a, int *b) {
    const int other = *a;
    *a = *b;
    *b = other;
}

/* A = L U with rows and columns exchanged in place; 0 when A has no inverse to working precision */
static int factor_linear(int n, double *A, double *scale, int *rows, int *columns) {
    const double noise = 100.0 * (double)n * 2.220446049250313e-16;
    int i, j, k;
    for (i = 0; i < n; ++i) {
        double largest = 0;
        rows[i] = columns[i] = i;
        for (j = 0; j < n; ++j) largest = larger(largest, fabs(A[i * n + j]));
        if (!(largest > 0)) return 0;
        scale[i] = 1.0 / largest;
        for (j = 0; j < n; ++j) A[i * n + j] *= scale[i];
    }
    for (k = 0; k < n; ++k) {
        int row = k, column = k;
        double largest = 0;
        for (i = k; i < n; ++i)
            for (j = k; j < n; ++j)
                if (fabs(A[i * n + j]) > largest) {
                    largest = fabs(A[i * n + j]);
                    row = i;
                    column = j;
                }
        if (!(largest > noise)) return 0;
        for (j = 0; j < n; ++j) swap_numbers(A + k * n + j, A + row * n + j);
        for (i = 0; i < n; ++i) swap_numbers(A + i * n + k, A + i * n + column);
        swap_indices(rows + k, rows + row);
        swap_indices(columns + k, columns + column);
        for (i = k + 1; i < n; ++i) {
            const double factor = A[i * n + k] / A[k * n + k];
            A[i * n + k] = factor;
            for (j = k + 1; j < n; ++j) A[i * n + j] -= factor * A[k * n + j];
        }
    }
    return 1;
}

/* operands at the front of d: A row by row, then the right sides; X into the unknowns, column after column */
static void solve_linear(int n, int right_sides, double *d, int *ints, double *unknowns, MODEL_report *report) {
    double *const A = d, *const b = A + n * n, *const right = b + right_sides * n, *const scale = right + n;
    int *const rows = ints, *const columns = rows + n;
    int c, i, j;
    begin_report(report);
    if (!finite_all(A, n * n + right_sides * n)) {
        report->status = MODEL_not_finite;
        return;
    }
    if (!factor_linear(n, A, scale, rows, columns)) {
        report->status = MODEL_singular_partition;
        return;
    }
    for (c = 0; c < right_sides; ++c) {
        for (i = 0; i < n; ++i) right[i] = b[c * n + rows[i]] * scale[rows[i]];
        for (i = 0; i < n; ++i)
            for (j = 0; j < i; ++j) right[i] -= A[i * n + j] * right[j];
        for (i = n; i-- > 0;) {
            for (j = i + 1; j < n; ++j) right[i] -= A[i * n + j] * right[j];
            right[i] /= A[i * n + i];
        }
        for (i = 0; i < n; ++i) unknowns[c * n + columns[i]] = right[i];
    }
}
