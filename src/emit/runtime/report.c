/* What the solves of an evaluation have to say, put together. */

/* x - x is zero for finite numbers only */
static int finite_all(const double *v, int n) {
    int finite = 1;
    int i;
    for (i = 0; i < n; ++i) finite &= v[i] - v[i] == 0;
    return finite;
}

static void fill(double *v, double value, int n) {
    int i;
    for (i = 0; i < n; ++i) v[i] = value;
}

static void copy(double *to, const double *from, int n) {
    int i;
    for (i = 0; i < n; ++i) to[i] = from[i];
}

static double larger(double a, double b) { return a < b ? b : a; }

static void begin_report(MODEL_report *r) {
    r->status = MODEL_ok;
    r->solve = r->rank = r->redundant = r->bordered = r->weakest_row = r->inconsistent_row = r->singular_column = r->row = 0;
    r->servo_rank = 0;
    r->smallest_pivot = 1;
    r->inconsistency = 0;
}

/* The report of one solve into that of the evaluation; 1 where the evaluation goes on. Rows that contradict each other do not
   stop it: the independent ones are solved exactly. */
static int merge_report(MODEL_report *all, const MODEL_report *one, int solve) {
    if (one->servo_rank > all->servo_rank) all->servo_rank = one->servo_rank;
    all->rank = one->rank + all->servo_rank;
    all->redundant |= one->redundant;
    all->bordered |= one->bordered;
    all->weakest_row = one->weakest_row;
    if (one->smallest_pivot < all->smallest_pivot) all->smallest_pivot = one->smallest_pivot;
    if (one->inconsistency > all->inconsistency) {
        all->inconsistent_row = one->inconsistent_row;
        all->inconsistency = one->inconsistency;
    }
    if (one->status == MODEL_ok) return 1;
    if (all->status == MODEL_ok || one->status != MODEL_inconsistent_rows) {
        all->status = one->status;
        all->solve = solve;
        all->singular_column = one->singular_column;
        all->row = one->row;
    }
    return one->status == MODEL_inconsistent_rows;
}
