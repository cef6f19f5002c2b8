/* what a function answers */
enum {
    MODEL_ok = 0,
    MODEL_not_finite = 1,         /* an operand or an unknown of a solve, or a result, is not finite */
    MODEL_singular_mass = 2,      /* the mass matrix is singular on the motions that the constraints allow */
    MODEL_inconsistent_rows = 3,  /* rows depend on each other and contradict each other; the results are there */
    MODEL_singular_partition = 4, /* the rows do not determine the dependent unknowns from the independent ones */
    MODEL_unreachable = 5,        /* the actuators can not produce what a servo-constraint asks for */
    MODEL_needs_pivoting = 6,     /* rows too close to dependent for the sparse solve, and too many for the pivoted one */
    MODEL_no_reaction = 7,        /* no constraint force satisfies the law that depends on it */
    MODEL_several_reactions = 8,  /* more than one does */
    MODEL_no_solution = 9         /* of a projection: the residuals do not go down to round-off */
};

/* more about the last evaluation */
typedef struct {
    int status;
    int solve;             /* which solve the status is about, from 0; the number of solves for results */
    int rank;              /* independent rows */
    int redundant;         /* 1: some rows follow from others, and the multipliers are those of least norm */
    int bordered;          /* 1: the mass matrix was close to singular, and a slower solve was taken */
    int weakest_row;       /* the first dependent row, or that of the smallest pivot */
    int inconsistent_row;  /* of the largest disagreement */
    int singular_column;   /* of singular_mass: a speed that is free to move without inertia; of needs_pivoting: -1 or a speed */
    int row;               /* of unreachable: the servo row; of needs_pivoting: the row, -1 where it is a speed */
    int servo_rank;
    double smallest_pivot; /* of the last independent row, rows scaled to unit length */
    double inconsistency;  /* largest relative disagreement of a dependent row */
} MODEL_report;

/* All memory of the computations: one for each thread, given to MODEL_init before its first use. */
typedef struct {
    double d[MODEL_WORK_NUMBERS];
    int i[MODEL_WORK_INDICES];
    int most_rank[3]; /* rows that count as independent, at most: of the rate, of positions, of velocities */
    MODEL_report last; /* about the last evaluation */
} MODEL_work;
