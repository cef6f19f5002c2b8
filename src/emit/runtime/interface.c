/* The functions of the interface that are the same for every model. */

static void set_limits(MODEL_work *w, int most_rank) {
    int i;
    for (i = 0; i < 3; ++i) w->most_rank[i] = most_rank;
}

/* did a value move that must not? */
static int held_moved(const int *held, int count, const double *x, const double *given) {
    int i;
    for (i = 0; i < count; ++i) {
        const double size = larger(1.0, fabs(given[i]));
        if (!(fabs(x[held[i]] - given[i]) <= 1e-12 * size)) return 1;
    }
    return 0;
}

/* how many of the rows of a correction count from now on */
static void limit_rank(const projection_shape *s, double t, const double *x, const double *p, MODEL_work *w, int which) {
    if (s->rows == 0) return;
    s->program(t, x, p, w->d + s->buffer, w);
    if (w->last.redundant) w->most_rank[which] = w->last.rank;
}
