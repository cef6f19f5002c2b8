// Integrates the model by the classical method of order 4 in equal steps and prints a table (CSV): t, the state, the energy.
//     ./driver [UNTIL [STEPS]]
// After each step the state is brought back onto the constraints. Exit status: 0 good, 1 the run has a problem.
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "MODEL_HEADER"

namespace {

using NAMESPACE::Model;

bool good(int status) { return status == NAMESPACE::ok || status == NAMESPACE::inconsistent_rows; }

void print_row(Model& model, double t, const Model::State& x) {
    std::array<double, 2> energy{};
    model.energies(t, x, energy);
    std::printf("%.17g", t);
    for (const double value : x) std::printf(",%.17g", value);
    std::printf(",%.17g\n", energy[0] + energy[1]);
}

bool step(Model& model, double t, double h, Model::State& x) {
    constexpr double at[] = {0, 0.5, 0.5, 1}, weight[] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
    Model::State slope{}, stage{}, end = x;
    for (int j = 0; j < 4; ++j) {
        for (std::size_t i = 0; i < x.size(); ++i) stage[i] = x[i] + h * at[j] * slope[i];
        if (!good(model.rate(t + h * at[j], stage, slope))) return false;
        for (std::size_t i = 0; i < x.size(); ++i) end[i] += h * weight[j] * slope[i];
    }
    x = end;
    return model.project(t + h, x) == NAMESPACE::ok;
}

}  // namespace

int main(int count, char** words) {
    const auto model = std::make_unique<Model>();
    const double from = PLAN_FROM, until = count > 1 ? std::atof(words[1]) : PLAN_UNTIL;
    const long steps = count > 2 ? std::atol(words[2]) : 10000;
    Model::State x = Model::start_values();
    if (!good(model->start(from, x))) return 1;
    std::printf("t");
    for (int i = 0; i < NAMESPACE::STATES; ++i) std::printf(",%s", NAMESPACE::state_table[i].name);
    std::printf(",energy\n");
    for (long k = 0; k < steps; ++k) {
        if (k % (steps > 500 ? steps / 500 : 1) == 0) print_row(*model, from + k * (until - from) / steps, x);
        if (!step(*model, from + k * (until - from) / steps, (until - from) / steps, x)) {
            std::fprintf(stderr, "driver: status %d in step %ld\n", model->last_report().status, k + 1);
            return 1;
        }
    }
    print_row(*model, until, x);
}
