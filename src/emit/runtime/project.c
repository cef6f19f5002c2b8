/* Projection onto the constraints: Newton's iteration with one of the correction programs until the scaled residuals are at
   round-off, as src/sim/project.cpp has it. Quaternions are kept at unit norm along the way. */

/* residuals are scaled by the size of the terms in them: a few dozen roundings is all that is left to gain */
static const double projected = 32 * 2.220446049250313e-16;

/* where an iteration that no longer gains counts as converged */
static const double good_enough = 2e-13;
/* rows that follow from the others come down as far as the round-off of those lets them */
static const double rows_follow = 1e-9;

typedef struct {
    int (*program)(double t, const double *x, const double *p, double *out, MODEL_work *w); /* residuals, scaled, step */
    int rows;              /* residuals; 0: only quaternions are renormalised, and there is no program */
    int offset, count;     /* of the part of x that is corrected */
    int speeds;            /* length of a row of the solve */
    int solved;            /* where in the work's numbers the solve leaves its rows */
    double (*square)(const void *shape, double *solved, int row); /* of a row that a sparse solve has left; 0: it is not sparse */
    const void *shape;     /* of the sparse solve */
    int quaternions;       /* whose norms are kept */
    const int *quaternion; /* four indices each */
    int buffer;            /* where in the work's numbers there is room for this iteration */
} projection_shape;

static int finite_number(double v) { return v - v == 0; }

static int normalise_quaternions(const projection_shape *s, double *x) {
    int i, k;
    for (k = 0; k < s->quaternions; ++k) {
        const int *const e = s->quaternion + 4 * k;
        const double square = x[e[0]] * x[e[0]] + x[e[1]] * x[e[1]] + x[e[2]] * x[e[2]] + x[e[3]] * x[e[3]];
        double norm;
        if (!(square > 0) || !finite_number(square)) return 0;
        if (fabs(square - 1) <= 4 * 2.220446049250313e-16) continue; /* dividing again would only shuffle round-off */
        norm = sqrt(square);
        for (i = 0; i < 4; ++i) x[e[i]] /= norm;
    }
    return 1;
}

/* residuals and correction at x; *scaled is the largest scaled residual */
static int evaluate_residuals(const projection_shape *s, double t, const double *x, const double *p, MODEL_work *w,
                              double *scaled) {
    const double *const out = w->d + s->buffer;
    int i;
    s->program(t, x, p, w->d + s->buffer, w);
    if (w->last.status == MODEL_singular_mass || w->last.status == MODEL_needs_pivoting) return w->last.status;
    if (!finite_all(out, s->rows) || !finite_all(out + 2 * s->rows, s->count)) return MODEL_not_finite;
    *scaled = 0;
    for (i = 0; i < s->rows; ++i) /* a row without any size to compare with (all at rest) is judged as it is */
        *scaled = larger(*scaled, fabs(finite_number(out[s->rows + i]) ? out[s->rows + i] : out[i]));
    return MODEL_ok;
}

/* what shortened corrections must reduce: residuals, each over the length of its row at first */
static double merit(const projection_shape *s, const double *residual, const double *weight) {
    double sum = 0;
    int i;
    for (i = 0; i < s->rows; ++i) sum += weight[i] * residual[i] * weight[i] * residual[i];
    return sqrt(sum);
}

static void weigh(const projection_shape *s, double *rows, double *weight) {
    double longest = 0;
    int i, j;
    for (i = 0; i < s->rows; ++i) {
        double square = 0;
        if (s->square)
            square = s->square(s->shape, rows, i);
        else
            for (j = 0; j < s->speeds; ++j) square += rows[i * s->speeds + j] * rows[i * s->speeds + j];
        weight[i] = sqrt(square);
        longest = larger(longest, weight[i]);
    }
    /* a gradient that vanishes gives no distance: the row then counts by its residual, and waits for the others */
    for (i = 0; i < s->rows; ++i)
        weight[i] = weight[i] > 1e-280 && finite_number(weight[i]) ? 1 / weight[i] : longest > 1e-280 ? 1 / longest : 1;
}

static int failed_projection(const MODEL_work *w) {
    return w->last.status == MODEL_inconsistent_rows ? MODEL_inconsistent_rows : MODEL_no_solution;
}

/* with halving, a correction that does not reduce the residual is shortened; without, full corrections must do */
static int project_part(const projection_shape *s, double t, double *x, const double *p, MODEL_work *w, int most_corrections,
                        int halving) {
    double *const out = w->d + s->buffer, *const before = out + 2 * s->rows + s->count, *const step = before + s->count,
                 *const weight = step + s->count, *const part = x + s->offset;
    double previous = HUGE_VAL, scaled = 0, bar;
    int corrections, i, status;
    if (!normalise_quaternions(s, x)) return MODEL_not_finite;
    if (s->rows == 0) return MODEL_ok;
    status = evaluate_residuals(s, t, x, p, w, &scaled);
    if (status != MODEL_ok) return status;
    weigh(s, w->d + s->solved, weight);
    for (corrections = 0;; ++corrections) {
        double merit_before, factor = 1;
        if (scaled <= projected) return MODEL_ok;
        bar = w->last.redundant ? rows_follow : good_enough;
        if (scaled <= bar && scaled >= 0.5 * previous) return MODEL_ok;
        if (corrections == most_corrections) return scaled <= bar ? MODEL_ok : failed_projection(w);
        previous = scaled;
        copy(before, part, s->count);
        copy(step, out + 2 * s->rows, s->count);
        merit_before = merit(s, out, weight);
        for (;;) {
            for (i = 0; i < s->count; ++i) part[i] = before[i] + factor * step[i];
            status = normalise_quaternions(s, x) ? evaluate_residuals(s, t, x, p, w, &scaled) : MODEL_not_finite;
            if (status == MODEL_ok && (!halving || merit(s, out, weight) < merit_before)) break;
            if (!halving && status != MODEL_ok) return status;
            factor /= 2;
            if (factor < 1e-6) {
                copy(part, before, s->count);
                status = evaluate_residuals(s, t, x, p, w, &scaled);
                if (status != MODEL_ok) return status;
                return scaled <= bar ? MODEL_ok : failed_projection(w);
            }
        }
    }
}
