#include "doctor/nearest_solution.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "expr/differentiate.hpp"

namespace appell {

namespace {

constexpr int k_most_iterations = 120;
constexpr double k_solved = 1e-12;      // scaled residual
constexpr double k_follows = 1e-9;      // singular values below, relative to the largest, belong to equations that follow
constexpr double k_longest_step = 0.5;  // in sizes of the unknowns: farther away the linear model says nothing

}  // namespace

NearestSolution::NearestSolution(Graph& g, std::vector<NodeId> equations, std::vector<SymbolId> inputs,
                                 std::span<const SymbolId> unknowns)
    : equations_(equations.size()) {
    for (const SymbolId u : unknowns) {
        unknowns_.push_back(static_cast<std::size_t>(std::find(inputs.begin(), inputs.end(), u) - inputs.begin()));
        kinds_.push_back(g.symbol(u).kind);
    }
    sizes_.resize(unknowns_.size(), 1.0);
    entries_ = jacobian(g, equations, unknowns).entries;
    std::vector<NodeId> slopes;
    for (const SparseEntry& e : entries_) slopes.push_back(e.value);
    program_ = lower_program(g, {std::move(inputs), {}, {{"r", std::move(equations)}, {"J", std::move(slopes)}}});
    workspace_.emplace(program_);
}

bool NearestSolution::evaluate(std::span<const double> values) {
    std::copy(values.begin(), values.end(), workspace_->inputs().begin());
    return workspace_->run().status == EvalStatus::ok;
}

// coordinates, speeds and others are of different units: each kind has its size
void NearestSolution::measure(std::span<const double> values) {
    const auto size_of = [&](SymbolKind kind) {
        double size = 1e-3;
        for (std::size_t i = 0; i < unknowns_.size(); ++i)
            if (kinds_[i] == kind) size = std::max(size, std::abs(values[unknowns_[i]]));
        return size;
    };
    const double q = size_of(SymbolKind::coordinate), u = size_of(SymbolKind::speed);
    for (std::size_t i = 0; i < unknowns_.size(); ++i)
        sizes_[i] = kinds_[i] == SymbolKind::coordinate ? q : kinds_[i] == SymbolKind::speed ? u : 1;
}

double NearestSolution::residual(std::span<const double> values) {
    if (!evaluate(values)) return std::numeric_limits<double>::infinity();
    measure(values);
    const auto r = workspace_->output("r"), J = workspace_->output("J");
    std::vector<double> scale(equations_, 0);
    for (std::size_t i = 0; i < entries_.size(); ++i) scale[entries_[i].row] += std::abs(J[i]) * sizes_[entries_[i].column];
    double worst = 0;
    for (std::size_t i = 0; i < equations_; ++i)
        if (r[i] != 0) worst = std::max(worst, std::abs(r[i]) / std::max(scale[i], 1e-300));
    return worst;
}

std::optional<std::vector<double>> NearestSolution::solve(std::span<const double> start) {
    std::vector<double> values(start.begin(), start.end());
    const auto n = static_cast<Eigen::Index>(unknowns_.size()), m = static_cast<Eigen::Index>(equations_);
    Eigen::MatrixXd J(m, n);
    Eigen::VectorXd r(m);
    for (int iteration = 0; iteration < k_most_iterations; ++iteration) {
        const double worst = residual(values);
        if (!std::isfinite(worst)) return std::nullopt;
        const auto residuals = workspace_->output("r"), slopes = workspace_->output("J");
        if (worst < k_solved) return values;
        // unknowns in their sizes, rows of unit length: the rank is decided free of units
        J.setZero();
        for (std::size_t i = 0; i < entries_.size(); ++i)
            J(entries_[i].row, entries_[i].column) = slopes[i] * sizes_[entries_[i].column];
        for (Eigen::Index i = 0; i < m; ++i) {
            const double length = J.row(i).norm();
            r(i) = residuals[static_cast<std::size_t>(i)];
            if (length > 0) {
                J.row(i) /= length;
                r(i) /= length;
            }
        }
        Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd> decomposition;
        decomposition.setThreshold(k_follows);
        decomposition.compute(J);
        Eigen::VectorXd step = decomposition.solve(-r);
        const double length = step.norm();
        if (!std::isfinite(length)) return std::nullopt;
        if (length > k_longest_step) step *= k_longest_step / length;
        for (std::size_t i = 0; i < unknowns_.size(); ++i) values[unknowns_[i]] += sizes_[i] * step(static_cast<Eigen::Index>(i));
    }
    // a double root: half of the digits, and the residual is the square of what is missing
    return residual(values) < 1e-7 ? std::optional(values) : std::nullopt;
}

}  // namespace appell
