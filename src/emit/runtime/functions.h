/* All functions answer MODEL_ok, or what went wrong; then the results are NaN, unless it says otherwise above. They read t, the
   state x (MODEL_STATES numbers) and the parameters p (MODEL_PARAMETERS numbers), and write y and the work. Matrices are row by
   row. */

/* before the first use of a work */
void MODEL_init(MODEL_work *w);

/* y = (q', u'): MODEL_STATES numbers */
int MODEL_rate(double t, const double *x, const double *p, double *y, MODEL_work *w);

/* y = d (q', u') / d x: MODEL_STATES x MODEL_STATES numbers */
int MODEL_jacobian(double t, const double *x, const double *p, double *y, MODEL_work *w);

/* y = M: MODEL_SPEEDS x MODEL_SPEEDS numbers */
int MODEL_mass(double t, const double *x, const double *p, double *y, MODEL_work *w);

/* the constraints at the level of accelerations, A u' = b: y = A (MODEL_ROWS x MODEL_SPEEDS), then b (MODEL_ROWS) */
int MODEL_rows(double t, const double *x, const double *p, double *y, MODEL_work *w);

/* y: MODEL_RESIDUALS numbers; A u' - b is that of accelerations */
int MODEL_residuals(double t, const double *x, const double *p, double *y, MODEL_work *w);

/* y: MODEL_MULTIPLIERS numbers */
int MODEL_multipliers(double t, const double *x, const double *p, double *y, MODEL_work *w);

/* y: MODEL_FORCES numbers */
int MODEL_forces(double t, const double *x, const double *p, double *y, MODEL_work *w);

/* y = (kinetic energy, potential energy), in J */
int MODEL_energies(double t, const double *x, const double *p, double *y, MODEL_work *w);

/* y: MODEL_OUTPUTS numbers */
int MODEL_outputs(double t, const double *x, const double *p, double *y, MODEL_work *w);

/* y: MODEL_EVENTS numbers; an event happens where its number passes through zero */
int MODEL_events(double t, const double *x, const double *p, double *y, MODEL_work *w);

/* Event `event` happens: entries of x get the values that the model says. Answers 1 when the run is to stop there, else 0. */
int MODEL_happen(int event, double t, double *x, const double *p, MODEL_work *w);

/* Moves x onto the constraints, positions first, as little as possible in the metric of mass, from start values that may be far
   away; values that the model holds fixed stay. Where rows turn out to be redundant it fixes how many of them count as
   independent from now on (most_rank). Once, at the start. */
int MODEL_start(double t, double *x, const double *p, MODEL_work *w);

/* The same for a state that is close to the constraints: after a step. */
int MODEL_project(double t, double *x, const double *p, MODEL_work *w);
