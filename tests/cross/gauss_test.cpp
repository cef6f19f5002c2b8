// Principles that every ideally constrained motion obeys, at random consistent states of the gallery: Gauss's, by which the
// accelerations minimise (u' - a)' M (u' - a) among those the rows admit, a = M^-1 f; and d'Alembert's, by which constraint
// forces do no work in any admissible direction. Neither uses multipliers or a formulation's algebra.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <filesystem>

#include "dynam/formulations.hpp"
#include "pipeline/consistent_states.hpp"
#include "sim/simulate.hpp"
#include "support/gallery_run.hpp"
#include "tape/workspace.hpp"

namespace appell {
namespace {

struct Numbers {
    Eigen::MatrixXd M, A;
    Eigen::VectorXd f, b, ud;
};

std::vector<Numbers> numbers_of(const Derivation& d) {
    const ConstrainedDynamics& dynamics = *d.dynamics;
    Graph& g = dynamics.graph();
    const auto lowered = lower_motion(dynamics, {});
    EXPECT_TRUE(lowered.ok());
    const SimulateSummary start = simulate(lowered->motion, lowered->x0, {.t0 = d.model->run.from, .t1 = d.model->run.from},
                                           [](double, std::span<const double>) {});
    CertificateOptions options;
    options.states = 5;
    const ConsistentStates states = random_consistent_states(dynamics, *lowered, start.x_start, options);
    std::vector<SymbolId> inputs = program_inputs(*d.model);
    inputs.push_back(lowered->length_symbol);
    const auto n = static_cast<Eigen::Index>(d.model->speeds.size()), m = static_cast<Eigen::Index>(dynamics.rows.size());
    std::vector<NodeId> M(static_cast<std::size_t>(n * n), g.constant(0)), A(static_cast<std::size_t>(n * m), g.constant(0)), ud;
    for (const SparseEntry& e : dynamics.M().entries)
        M[e.row * static_cast<std::size_t>(n) + e.column] = M[e.column * static_cast<std::size_t>(n) + e.row] = e.value;
    for (const SparseEntry& e : dynamics.A.entries) A[e.row * static_cast<std::size_t>(n) + e.column] = e.value;
    for (const Speed& s : d.model->speeds) ud.push_back(g.symbol_node(s.rate));
    ProgramSpec spec{inputs,
                     formulate(dynamics, Formulation::multipliers, {}, {}).solves,
                     {{"M", M}, {"A", A}, {"f", dynamics.f()}, {"b", dynamics.b}, {"ud", ud}}};
    const Program program = lower_program(g, spec);
    Workspace<double> w(program);
    std::vector<Numbers> out;
    using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    for (const std::vector<double>& state : states.rough) {
        std::copy(state.begin(), state.end(), w.inputs().begin());
        EXPECT_EQ(w.run().status, EvalStatus::ok);
        const auto vector = [&](const char* name) {
            const auto values = w.output(name);
            return Eigen::VectorXd(Eigen::Map<const Eigen::VectorXd>(values.data(), static_cast<Eigen::Index>(values.size())));
        };
        out.push_back({Eigen::Map<const RowMajor>(w.output("M").data(), n, n),
                       Eigen::Map<const RowMajor>(w.output("A").data(), m, n), vector("f"), vector("b"), vector("ud")});
    }
    return out;
}

TEST(Principles, GaussAndDAlembertHoldForIdealConstraints) {
    int models = 0;
    for (const auto& entry : std::filesystem::directory_iterator(APPELL_SOURCE_DIR "/gallery")) {
        if (entry.path().extension() != ".appell") continue;
        const std::string name = entry.path().stem();
        const Derivation d = derive_text(gallery_text(name));
        ASSERT_TRUE(d.ok()) << name;
        if (d.dynamics->rows.empty() || !d.dynamics->C.empty() || !d.dynamics->actuators.empty()) continue;
        ++models;
        for (const Numbers& x : numbers_of(d)) {
            const Eigen::VectorXd a = x.M.ldlt().solve(x.f);
            const auto gaussian = [&](const Eigen::VectorXd& ud) { return (ud - a).dot(x.M * (ud - a)); };
            const Eigen::FullPivLU<Eigen::MatrixXd> lu = Eigen::FullPivLU<Eigen::MatrixXd>(x.A).setThreshold(1e-9);
            const Eigen::MatrixXd admissible = lu.kernel();
            if (lu.dimensionOfKernel() == 0) continue;
            const Eigen::VectorXd force = x.M * x.ud - x.f;
            // round-off of the forces that cancel
            const double size = (x.M * x.ud).norm() + x.f.norm();
            EXPECT_LT((x.A * x.ud - x.b).norm(), 1e-8 * (1 + x.b.norm() + (x.A * x.ud).norm())) << name;
            for (Eigen::Index k = 0; k < admissible.cols(); ++k) {
                const Eigen::VectorXd v = admissible.col(k).normalized();
                EXPECT_LT(std::abs(force.dot(v)), 1e-8 * size) << name;
                for (const double step : {-0.5, -0.01, 0.01, 0.5}) {
                    const Eigen::VectorXd moved = x.ud + step * x.ud.norm() * v + step * v;
                    EXPECT_GT(gaussian(moved), gaussian(x.ud) * (1 - 1e-9)) << name;
                }
            }
        }
    }
    EXPECT_GT(models, 50);
}

}  // namespace
}  // namespace appell
