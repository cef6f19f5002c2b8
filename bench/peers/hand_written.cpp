// The hand-written right-hand sides, and steps of Boost.odeint's dopri5 on them.
//   hand_written evaluate|step SYSTEM [TOLERANCE T_END]
#include <boost/numeric/odeint.hpp>
#include <boost/version.hpp>
#include <cstdlib>
#include <stdexcept>

#include "right_hand_sides.hpp"
#include "worker.hpp"

namespace {

using namespace bench;

template <class System>
__attribute__((noinline)) void rate(System& system, const double* x, double* out) {
    system(x, out);
}

template <class System>
int evaluate(System system, std::vector<double> x, std::size_t q) {
    keep(&system);
    std::vector<double> out(x.size());
    rate(system, x.data(), out.data());
    const std::vector<double> values(out.begin() + static_cast<std::ptrdiff_t>(q), out.end());
    States states(std::move(x), q);
    Batches batches;
    return serve({}, [&] {
        return Measurement{batches.seconds([&](long i) {
                               rate(system, states.state().data(), out.data());
                               keep(out.data());
                               states.next(i, out.data());
                           }),
                           values};
    });
}

template <class System>
int evaluate() {
    const auto x = System::start();
    return evaluate(System(), {x.begin(), x.end()}, System::q);
}

template <bool perpendicular>
int evaluate_points(std::size_t n) {
    const Points<perpendicular> points(n);
    return evaluate(points, points.start(), 3 * n);
}

template <class System>
int step(double tolerance, double t_end) {
    namespace odeint = boost::numeric::odeint;
    using State = std::array<double, System::size>;
    System system;
    keep(&system);
    auto stepper = odeint::make_controlled<odeint::runge_kutta_dopri5<State>>(tolerance, tolerance);
    const auto of = [&](const State& x, State& xd, double) { system(x.data(), xd.data()); };
    std::size_t steps = 0, trials = 0;
    State x;
    const auto run = [&] {
        x = System::start();
        double t = 0, h = 1e-3;
        stepper.reset();
        while (t < t_end) {
            if (t + h > t_end) h = t_end - t;
            ++trials;
            if (stepper.try_step(of, x, t, h) == odeint::success) ++steps;
        }
    };
    run();
    const std::vector<double> values = all_of_state(system, x.data());
    const double in_run = double(steps);
    Batches batches;
    return serve(
        {{"steps", in_run}, {"evaluations per step", 6.0 * double(trials) / in_run}},
        [&] {
            const double of_run = batches.seconds([&](long) { run(); });
            return Measurement{of_run / in_run, values};
        },
        "Boost " + std::to_string(BOOST_VERSION / 100000) + "." + std::to_string(BOOST_VERSION / 100 % 1000));
}

int work(const std::vector<std::string>& a) {
    if (a.size() < 2) throw std::runtime_error("usage: hand_written evaluate|step SYSTEM [TOLERANCE T_END]");
    const std::string &task = a[0], &system = a[1];
    if (task == "evaluate") {
        if (system == "pucks") return evaluate<Pucks>();
        if (system == "hamel_minimal") return evaluate<HamelMinimal>();
        if (system == "hamel_nonminimal") return evaluate<HamelNonminimal>();
        if (system == "pendulum:4") return evaluate<Pendulum<4>>();
        const std::size_t colon = system.find(':');
        const std::size_t n = colon == std::string::npos ? 0 : static_cast<std::size_t>(std::atol(system.c_str() + colon + 1));
        if (system.substr(0, colon) == "equal_speeds" && n > 1) return evaluate_points<false>(n);
        if (system.substr(0, colon) == "perpendicular" && n > 1) return evaluate_points<true>(n);
    }
    if (task == "step") {
        const double tolerance = a.size() > 2 ? std::atof(a[2].c_str()) : 1e-8,
                     t_end = a.size() > 3 ? std::atof(a[3].c_str()) : 10;
        if (system == "pucks") return step<Pucks>(tolerance, t_end);
        if (system == "hamel_reduced") return step<HamelReduced>(tolerance, t_end);
        if (system == "hamel_nonminimal") return step<HamelNonminimal>(tolerance, t_end);
        if (system == "pendulum:4") return step<Pendulum<4>>(tolerance, t_end);
    }
    throw std::runtime_error("no " + task + " of " + system);
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return work({argv + 1, argv + argc});
    } catch (const std::exception& problem) {
        std::fprintf(stderr, "hand_written: %s\n", problem.what());
        return 1;
    }
}
