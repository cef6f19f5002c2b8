/* Operations of the expression table that C has no function for. */

static double less_value(double x, double y) { return x < y ? 1.0 : 0.0; }

static double less_equal_value(double x, double y) { return x <= y ? 1.0 : 0.0; }

static double choose(double condition, double yes, double no) { return condition != 0 ? yes : no; }

static double sign_value(double x) { return x > 0 ? 1.0 : x < 0 ? -1.0 : 0.0; }

static double abs_value(double x) { return x < 0 ? -x : x; }
