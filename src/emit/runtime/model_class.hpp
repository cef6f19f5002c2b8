// The model with its parameters and its memory: one object for each thread. Nothing is allocated; an object is as large as its
// memory, so that those of large models belong on the heap.
class Model {
public:
    using State = std::array<double, STATES>;
    using Parameters = std::array<double, PARAMETERS>;
    using Mass = std::array<double, std::size_t(SPEEDS) * SPEEDS>;
    using Rows = std::array<double, std::size_t(ROWS) * SPEEDS + ROWS>;
    using Jacobian = std::array<double, std::size_t(STATES) * STATES>;

    Parameters parameters{};

    Model() {
        init(&work_);
        for (std::size_t i = 0; i < parameters.size(); ++i) parameters[i] = parameter_table[i].value;
    }

    // as in the model; start() moves them onto the constraints
    static State start_values() {
        State x{};
        for (std::size_t i = 0; i < x.size(); ++i) x[i] = state_table[i].value;
        return x;
    }

    int rate(double t, const State& x, State& y) { return NAMESPACE::rate(t, x.data(), parameters.data(), y.data(), &work_); }
    int jacobian(double t, const State& x, Jacobian& y) {
        return NAMESPACE::jacobian(t, x.data(), parameters.data(), y.data(), &work_);
    }
    int mass(double t, const State& x, Mass& y) { return NAMESPACE::mass(t, x.data(), parameters.data(), y.data(), &work_); }
    int rows(double t, const State& x, Rows& y) { return NAMESPACE::rows(t, x.data(), parameters.data(), y.data(), &work_); }
    int residuals(double t, const State& x, std::array<double, RESIDUALS>& y) {
        return NAMESPACE::residuals(t, x.data(), parameters.data(), y.data(), &work_);
    }
    int multipliers(double t, const State& x, std::array<double, MULTIPLIERS>& y) {
        return NAMESPACE::multipliers(t, x.data(), parameters.data(), y.data(), &work_);
    }
    int forces(double t, const State& x, std::array<double, FORCES>& y) {
        return NAMESPACE::forces(t, x.data(), parameters.data(), y.data(), &work_);
    }
    int energies(double t, const State& x, std::array<double, 2>& y) {
        return NAMESPACE::energies(t, x.data(), parameters.data(), y.data(), &work_);
    }
    int outputs(double t, const State& x, std::array<double, OUTPUTS>& y) {
        return NAMESPACE::outputs(t, x.data(), parameters.data(), y.data(), &work_);
    }
    int events(double t, const State& x, std::array<double, EVENTS>& y) {
        return NAMESPACE::events(t, x.data(), parameters.data(), y.data(), &work_);
    }
    bool happen(int event, double t, State& x) { return NAMESPACE::happen(event, t, x.data(), parameters.data(), &work_) != 0; }
    int start(double t, State& x) { return NAMESPACE::start(t, x.data(), parameters.data(), &work_); }
    int project(double t, State& x) { return NAMESPACE::project(t, x.data(), parameters.data(), &work_); }

    // about the last evaluation
    const report& last_report() const { return work_.last; }

private:
    work work_;
};
