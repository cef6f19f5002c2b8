/* How the rate changes with the state. u' is the solution of equations R(x, z) = 0 with other unknowns among z; R_z dz = -R_x is
   solved by an orthogonal decomposition, since redundant rows leave R_z without an inverse, but not u' without a derivative. */

/* smaller pivots, against the largest, are those of rows that follow from the others */
static const double jacobian_rank = 1e-10;

/* v - 2 h (h.v)/(h.h), for the column h of length n and each of `count` columns of v; entry (i, j) of v is v[i * stride + j] */
static void reflect(const double *h, double square, int n, double *v, int stride, int count) {
    int i, j;
    for (j = 0; j < count; ++j) {
        double sum = 0;
        for (i = 0; i < n; ++i) sum += h[i] * v[i * stride + j];
        sum *= 2 / square;
        for (i = 0; i < n; ++i) v[i * stride + j] -= sum * h[i];
    }
}

/* the reflection that leaves of a column its first entry only: h, and h.h; 0 where there is nothing to do */
static double reflection(const double *column, int stride, int n, double *h) {
    double square = 0, length;
    int i;
    for (i = 0; i < n; ++i) {
        h[i] = column[i * stride];
        square += h[i] * h[i];
    }
    length = sqrt(square);
    if (!(length > 0)) return 0;
    h[0] += h[0] < 0 ? -length : length;
    square = 0;
    for (i = 0; i < n; ++i) square += h[i] * h[i];
    return square;
}

/* Z (rows x columns) to an upper triangle with its columns exchanged, the right sides along with it; its rank, `most` at most */
static int decompose(double *Z, int rows, int columns, double *right, int count, double *h, int *order, int most) {
    const int steps = rows < columns ? rows : columns;
    double largest = 0;
    int i, j, k, rank = 0;
    for (j = 0; j < columns; ++j) order[j] = j;
    for (k = 0; k < steps; ++k) {
        int best = k;
        double longest = -1, square;
        for (j = k; j < columns; ++j) {
            double sum = 0;
            for (i = k; i < rows; ++i) sum += Z[i * columns + j] * Z[i * columns + j];
            if (sum > longest) {
                longest = sum;
                best = j;
            }
        }
        if (k == 0) largest = sqrt(longest);
        if (rank == most || !(sqrt(longest) > jacobian_rank * largest)) break;
        if (best != k) {
            const int other = order[k];
            order[k] = order[best];
            order[best] = other;
            for (i = 0; i < rows; ++i) {
                const double value = Z[i * columns + k];
                Z[i * columns + k] = Z[i * columns + best];
                Z[i * columns + best] = value;
            }
        }
        square = reflection(Z + k * columns + k, columns, rows - k, h);
        if (square > 0) {
            reflect(h, square, rows - k, Z + k * columns + k, columns, columns - k);
            reflect(h, square, rows - k, right + k * count, count, count);
        }
        ++rank;
    }
    return rank;
}

/* Y = R^-1 right for the leading `rank` rows of a triangle, in place */
static void back_substitute(const double *R, int stride, int rank, double *right, int count) {
    int i, j, k;
    for (j = 0; j < count; ++j)
        for (i = rank; i-- > 0;) {
            double value = right[i * count + j];
            for (k = i + 1; k < rank; ++k) value -= R[i * stride + k] * right[k * count + j];
            right[i * count + j] = value / R[i * stride + i];
        }
}

/* The solution of least length for each right side; entry (i, j) goes to X[i * count + j]. C holds columns x rank numbers. */
static void least_solution(double *Z, int rows, int columns, double *right, int count, double *X, double *C, double *h, int *order,
                           int most) {
    const int rank = decompose(Z, rows, columns, right, count, h, order, most);
    int i, j, k;
    fill(X, 0, columns * count);
    if (rank == columns) {
        back_substitute(Z, columns, rank, right, count);
        for (i = 0; i < rank; ++i) copy(X + order[i] * count, right + i * count, count);
        return;
    }
    /* the trapezoid (R1 R2), transposed, is Q T: then T' y = right, and x = Q (y, 0). The reflections stay below T's diagonal,
       their first entries in h. */
    for (i = 0; i < rank; ++i)
        for (j = 0; j < columns; ++j) C[j * rank + i] = j < i ? 0 : Z[i * columns + j];
    for (k = 0; k < rank; ++k) {
        double *const v = h + rank; /* room for one reflection */
        const double square = reflection(C + k * rank + k, rank, columns - k, v);
        reflect(v, square, columns - k, C + k * rank + k, rank, rank - k);
        h[k] = v[0];
        for (i = k + 1; i < columns; ++i) C[i * rank + k] = v[i - k];
    }
    for (j = 0; j < count; ++j) {
        double *const y = h + rank; /* columns numbers, then a reflection of as many */
        double *const v = y + columns;
        for (i = 0; i < rank; ++i) {
            double value = right[i * count + j];
            for (k = 0; k < i; ++k) value -= C[k * rank + i] * y[k];
            y[i] = value / C[i * rank + i];
        }
        for (i = rank; i < columns; ++i) y[i] = 0;
        for (k = rank; k-- > 0;) {
            double square = h[k] * h[k];
            v[0] = h[k];
            for (i = k + 1; i < columns; ++i) {
                v[i - k] = C[i * rank + k];
                square += v[i - k] * v[i - k];
            }
            reflect(v, square, columns - k, y + k, 1, 1);
        }
        for (i = 0; i < columns; ++i) X[order[i] * count + j] = y[i];
    }
}

typedef struct {
    int coordinates, states;
    int equations, unknowns;
    int rates;                       /* entries of d q'/d x */
    const int *rate;                 /* row and column of each */
    int entries;                     /* of d R/d (x, z) */
    const int *entry;                /* row and column of each */
    int blocks, rows;                /* of the equations, each with all rows of the constraints */
    int buffer;                      /* where in the work's numbers there is room */
} jacobian_shape;

/* from the entries in the buffer to d x'/d x, row by row */
static void assemble_jacobian(const jacobian_shape *s, MODEL_work *w, double *J) {
    const int n = s->states, E = s->equations, U = s->unknowns;
    const double *const values = w->d + s->buffer;
    double *const Z = w->d + s->buffer + s->rates + s->entries, *const right = Z + E * U, *const X = right + E * n,
                 *const C = X + U * n, *const h = C + U * U;
    const int limit = w->most_rank[0] < s->rows ? w->most_rank[0] : s->rows;
    int i, most = U - s->blocks * (s->rows - limit);
    if (E < most) most = E;
    fill(J, 0, n * n);
    for (i = 0; i < s->rates; ++i) J[s->rate[2 * i] * n + s->rate[2 * i + 1]] = values[i];
    fill(Z, 0, E * U);
    fill(right, 0, E * n);
    for (i = 0; i < s->entries; ++i) {
        const int row = s->entry[2 * i], column = s->entry[2 * i + 1];
        if (column < n)
            right[row * n + column] = -values[s->rates + i];
        else
            Z[row * U + column - n] = values[s->rates + i];
    }
    least_solution(Z, E, U, right, n, X, C, h, w->i, most);
    copy(J + s->coordinates * n, X, (n - s->coordinates) * n);
}
