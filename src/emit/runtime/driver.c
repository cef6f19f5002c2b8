/* Integrates the model and prints a table (CSV) of its motion: t, the state, multipliers, residuals, energies, outputs.

     ./driver [NAME=VALUE ...] [--until T] [--every DT] [--rtol R] [--atol A] [--rk4 STEP]

   NAME is a parameter or a start value. The method is that of Dormand and Prince, of order 5 with an error estimate of order 4,
   in steps that end at the rows; with --rk4 it is the classical one of order 4 in equal steps. After each step the state is
   brought back onto the constraints. Exit status: 0 good, 1 the run has a problem, 2 wrong usage. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "MODEL_HEADER"

enum { N = MODEL_STATES };

typedef struct {
    double t, until, every, rtol, atol, step; /* step of the method of order 4; 0: the other */
    double x[N], p[MODEL_PARAMETERS + 1];
    double next; /* step to be tried */
    MODEL_work *w;
} Run;

static int rate(Run *r, double t, const double *x, double *y) {
    const int status = MODEL_rate(t, x, r->p, y, r->w);
    return status == MODEL_ok || status == MODEL_inconsistent_rows ? MODEL_ok : status;
}

/* x(t + h) by the classical method */
static int step_rk4(Run *r, double h, double *end) {
    static const double at[4] = {0, 0.5, 0.5, 1}, weight[4] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
    static double k[4][N], x[N]; /* of a large model: too much for a stack */
    int i, j, status;
    for (i = 0; i < N; ++i) end[i] = r->x[i];
    for (j = 0; j < 4; ++j) {
        for (i = 0; i < N; ++i) x[i] = r->x[i] + (j > 0 ? h * at[j] * k[j - 1][i] : 0);
        status = rate(r, r->t + h * at[j], x, k[j]);
        if (status != MODEL_ok) return status;
        for (i = 0; i < N; ++i) end[i] += h * weight[j] * k[j][i];
    }
    return MODEL_ok;
}

/* x(t + h) by the method of Dormand and Prince; *error is the estimated error over the tolerance */
static int step_dopri5(Run *r, double h, double *end, double *error) {
    static const double c[7] = {0, 1.0 / 5, 3.0 / 10, 4.0 / 5, 8.0 / 9, 1, 1};
    static const double a[7][6] = {
        {0, 0, 0, 0, 0, 0},
        {1.0 / 5, 0, 0, 0, 0, 0},
        {3.0 / 40, 9.0 / 40, 0, 0, 0, 0},
        {44.0 / 45, -56.0 / 15, 32.0 / 9, 0, 0, 0},
        {19372.0 / 6561, -25360.0 / 2187, 64448.0 / 6561, -212.0 / 729, 0, 0},
        {9017.0 / 3168, -355.0 / 33, 46732.0 / 5247, 49.0 / 176, -5103.0 / 18656, 0},
        {35.0 / 384, 0, 500.0 / 1113, 125.0 / 192, -2187.0 / 6784, 11.0 / 84}};
    static const double e[7] = {71.0 / 57600, 0, -71.0 / 16695, 71.0 / 1920, -17253.0 / 339200, 22.0 / 525, -1.0 / 40};
    static double k[7][N];
    double sum = 0;
    int i, j, l, status;
    for (j = 0; j < 7; ++j) {
        for (i = 0; i < N; ++i) {
            double slope = 0;
            for (l = 0; l < j; ++l) slope += a[j][l] * k[l][i];
            end[i] = r->x[i] + h * slope;
        }
        status = rate(r, r->t + c[j] * h, end, k[j]);
        if (status != MODEL_ok) return status;
    }
    for (i = 0; i < N; ++i) {
        const double size = fabs(end[i]) > fabs(r->x[i]) ? fabs(end[i]) : fabs(r->x[i]);
        double miss = 0;
        for (j = 0; j < 7; ++j) miss += e[j] * k[j][i];
        miss *= h / (r->atol + r->rtol * size);
        sum += miss * miss;
    }
    *error = sqrt(sum / N);
    return MODEL_ok;
}

/* one step of length h, or shorter where the tolerance asks for it, onto the constraints; the step taken, or a status below 0 */
static double advance(Run *r, double h, double *end) {
    for (;;) {
        double error = 0, factor;
        int status = r->step > 0 ? step_rk4(r, h, end) : step_dopri5(r, h, end, &error);
        if (status == MODEL_ok && error <= 1) {
            status = MODEL_project(r->t + h, end, r->p, r->w);
            if (status != MODEL_ok) return -status;
            factor = error > 0 ? 0.9 * pow(error, -0.2) : 5;
            r->next = h * (factor > 5 ? 5 : factor < 0.2 ? 0.2 : factor);
            return h;
        }
        if (r->step > 0) return -status;
        factor = status == MODEL_ok ? 0.9 * pow(error, -0.2) : 0.25;
        h *= factor > 0.1 ? factor : 0.1;
        if (!(r->t + h > r->t)) return status == MODEL_ok ? -MODEL_no_solution : -status;
    }
}

/* no sign before what is no number */
static void print_number(const char *separator, double value) {
    if (value != value)
        printf("%snan", separator);
    else
        printf("%s%.17g", separator, value);
}

static void print_row(Run *r) {
    static double y[MODEL_MULTIPLIERS + MODEL_RESIDUALS + MODEL_OUTPUTS + 3];
    int i, n = 0;
    MODEL_multipliers(r->t, r->x, r->p, y, r->w);
    n += MODEL_MULTIPLIERS;
    MODEL_residuals(r->t, r->x, r->p, y + n, r->w);
    n += MODEL_RESIDUALS;
    MODEL_energies(r->t, r->x, r->p, y + n, r->w);
    y[n + 2] = y[n] + y[n + 1];
    n += 3;
    MODEL_outputs(r->t, r->x, r->p, y + n, r->w);
    n += MODEL_OUTPUTS;
    print_number("", r->t);
    for (i = 0; i < N; ++i) print_number(",", r->x[i]);
    for (i = 0; i < n; ++i) print_number(",", y[i]);
    printf("\n");
}

static void print_names(const MODEL_entry *table) {
    for (; table->name; ++table) {
        /* names with commas are quoted */
        const char *const quote = strchr(table->name, ',') ? "\"" : "";
        printf(",%s%s%s", quote, table->name, quote);
    }
}

static void print_header(void) {
    printf("t");
    print_names(MODEL_state_table);
    print_names(MODEL_multiplier_table);
    print_names(MODEL_residual_table);
    printf(",kinetic,potential,energy");
    print_names(MODEL_output_table);
    printf("\n");
}

/* it has passed where it is clearly beyond zero: laws that jump there then have their values of that side */
static int passes(int event, const double *before, const double *after) {
    const double which = MODEL_event_table[event].value;
    return (which <= 0 && before[event] > 0 && after[event] < 0) || (which >= 0 && before[event] < 0 && after[event] > 0);
}

/* the step that ends where the first event happens, or h; *event is -1 without any */
static double find_event(Run *r, double h, const double *before, double *end, int *event) {
    double after[MODEL_EVENTS + 1], low = 0, high = h, error;
    int i, halvings;
    *event = -1;
    MODEL_events(r->t + h, end, r->p, after, r->w);
    for (i = 0; i < MODEL_EVENTS; ++i)
        if (passes(i, before, after)) *event = i;
    for (halvings = 0; *event >= 0 && halvings < 60 && high - low > 1e-15 * (fabs(r->t) + high); ++halvings) {
        const double middle = 0.5 * (low + high);
        int earlier = -1;
        if ((r->step > 0 ? step_rk4(r, middle, end) : step_dopri5(r, middle, end, &error)) != MODEL_ok) break;
        MODEL_project(r->t + middle, end, r->p, r->w);
        MODEL_events(r->t + middle, end, r->p, after, r->w);
        for (i = 0; i < MODEL_EVENTS; ++i)
            if (passes(i, before, after)) earlier = i;
        if (earlier >= 0) {
            high = middle;
            *event = earlier;
        } else {
            low = middle;
        }
    }
    if (*event >= 0 && high < h) {
        if (r->step > 0)
            step_rk4(r, high, end);
        else
            step_dopri5(r, high, end, &error);
        MODEL_project(r->t + high, end, r->p, r->w);
    }
    return high;
}

static int integrate(Run *r) {
    static double before[MODEL_EVENTS + 1], after[MODEL_EVENTS + 1], end[N];
    static int happened[MODEL_EVENTS + 1];
    long row = 0;
    const double from = r->t;
    int status = MODEL_start(r->t, r->x, r->p, r->w), i, event;
    if (status != MODEL_ok) return status;
    print_header();
    print_row(r);
    MODEL_events(r->t, r->x, r->p, before, r->w);
    while (r->t < r->until) {
        const double row_time = from + (double)(row + 1) * r->every, stop = row_time < r->until ? row_time : r->until;
        double h = r->step > 0 ? r->step : r->next;
        int at_stop = r->t + 1.0000001 * h >= stop;
        const double wanted = at_stop ? stop - r->t : h, proposed = r->next;
        h = advance(r, wanted, end);
        if (!(h > 0)) return (int)-h;
        at_stop = at_stop && h == wanted;
        if (at_stop && r->next < proposed && wanted < 0.5 * proposed) r->next = proposed; /* a short step says little */
        if (MODEL_EVENTS > 0) {
            h = find_event(r, h, before, end, &event);
            at_stop = at_stop && (event < 0 || !(r->t + h < stop));
        } else {
            event = -1;
        }
        r->t = at_stop ? stop : r->t + h;
        for (i = 0; i < N; ++i) r->x[i] = end[i];
        if (event >= 0) {
            int stops = 0;
            MODEL_events(r->t, r->x, r->p, after, r->w);
            /* those that happen at the same instant happen, too */
            for (i = 0; i < MODEL_EVENTS; ++i) {
                happened[i] = i == event || passes(i, before, after);
                if (!happened[i]) continue;
                fprintf(stderr, "t = %.9g: event %s\n", r->t, MODEL_event_table[i].name);
                if (MODEL_happen(i, r->t, r->x, r->p, r->w)) stops = 1;
            }
            if (stops) {
                print_row(r);
                return MODEL_ok;
            }
            status = MODEL_project(r->t, r->x, r->p, r->w);
            if (status != MODEL_ok) return status;
        }
        if (MODEL_EVENTS > 0) MODEL_events(r->t, r->x, r->p, after, r->w);
        /* what is on zero has the side that it had before */
        for (i = 0; i < MODEL_EVENTS; ++i)
            if (after[i] != 0) before[i] = after[i];
        /* an event leaves its own function at zero: it may not happen again at once */
        for (i = 0; event >= 0 && i < MODEL_EVENTS; ++i)
            if (happened[i]) before[i] = 0;
        if (at_stop) {
            if (stop == row_time) ++row;
            print_row(r);
        }
    }
    return MODEL_ok;
}

/* NAME=VALUE; 0 when there is no such name */
static int assign(const MODEL_entry *table, double *values, const char *text, const char *equals) {
    int i;
    for (i = 0; table[i].name; ++i)
        if (strlen(table[i].name) == (size_t)(equals - text) && strncmp(table[i].name, text, (size_t)(equals - text)) == 0) {
            values[i] = strtod(equals + 1, 0);
            return 1;
        }
    return 0;
}

static int option(const char *text, const char *name, const char *value, double *number) {
    if (strcmp(text, name) != 0 || !value) return 0;
    *number = strtod(value, 0);
    return 1;
}

int main(int count, char **words) {
    static MODEL_work work;
    static Run run;
    int i, status;
    run.w = &work;
    run.t = PLAN_FROM;
    run.until = PLAN_UNTIL;
    run.every = PLAN_EVERY;
    run.rtol = PLAN_RTOL;
    run.atol = PLAN_ATOL;
    for (i = 0; i < N; ++i) run.x[i] = MODEL_state_table[i].value;
    for (i = 0; i < MODEL_PARAMETERS; ++i) run.p[i] = MODEL_parameter_table[i].value;
    for (i = 1; i < count; ++i) {
        const char *const equals = strchr(words[i], '=');
        const char *const value = i + 1 < count ? words[i + 1] : 0;
        if (equals && (assign(MODEL_parameter_table, run.p, words[i], equals) ||
                       assign(MODEL_state_table, run.x, words[i], equals)))
            continue;
        if (!option(words[i], "--until", value, &run.until) && !option(words[i], "--every", value, &run.every) &&
            !option(words[i], "--rtol", value, &run.rtol) && !option(words[i], "--atol", value, &run.atol) &&
            !option(words[i], "--rk4", value, &run.step)) {
            fprintf(stderr, "driver: what is '%s'?\n", words[i]);
            return 2;
        }
        ++i;
    }
    if (!(run.until > run.t) || !(run.every > 0) || !(run.rtol >= 0) || !(run.atol > 0) || !(run.step >= 0)) {
        fprintf(stderr, "driver: times, tolerances and steps are positive\n");
        return 2;
    }
    run.next = 1e-3 * (run.every < run.until - run.t ? run.every : run.until - run.t);
    MODEL_init(run.w);
    status = integrate(&run);
    if (status != MODEL_ok) fprintf(stderr, "driver: status %d at t = %.9g\n", status, run.t);
    return status == MODEL_ok ? 0 : 1;
}
