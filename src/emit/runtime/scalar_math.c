/* Operations of the expression table that C has no function for. */

static double less_value(double x, double y) { return x < y ? 1.0 : 0.0; }

static double less_equal_value(double x, double y) { return x <= y ? 1.0 : 0.0; }

static double choose(double condition, double yes, double no) { return condition != 0 ? yes : no; }

static double sign_value(double x) { return x > 0 ? 1.0 : x < 0 ? -1.0 : x == 0 ? 0.0 : x; }

static double min_value(double x, double y) { return x <= y ? x : y < x ? y : x + y; }

static double max_value(double x, double y) { return y <= x ? x : x < y ? y : x + y; }

static double abs_value(double x) { return x < 0 ? -x : x; }
