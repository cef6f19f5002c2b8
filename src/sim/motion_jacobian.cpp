#include "sim/motion_jacobian.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"

namespace appell {

namespace {

// smaller pivots, against the largest, are those of rows that follow from the others
constexpr double k_rank = 1e-10;

}  // namespace

MotionJacobian::MotionJacobian(const Motion& motion)
    : form_(motion.jacobian.value()),
      coordinates_(motion.coordinates),
      states_(motion.states()),
      program_(motion, form_.program),
      residual_(form_.program.output("residual")),
      rates_(form_.program.output("rates")) {
    if (residual_.end - residual_.begin != form_.residual.size() || rates_.end - rates_.begin != form_.rates.size() ||
        form_.unknowns < motion.speeds)
        throw Error("the outputs of the jacobian do not have the sizes of its places");
    const auto equations = static_cast<Eigen::Index>(form_.equations), unknowns = static_cast<Eigen::Index>(form_.unknowns);
    by_unknowns_.resize(equations, unknowns);
    by_state_.resize(equations, static_cast<Eigen::Index>(states_));
    solution_.resize(unknowns, static_cast<Eigen::Index>(states_));
    most_rank_ = std::min(equations, unknowns);
}

void MotionJacobian::limit_rank(std::size_t rank) {
    program_.limit_rank(rank);
    // one block of equations, or two: each loses what the rows lose
    const std::size_t nu = states_ - coordinates_, blocks = std::max<std::size_t>(1, form_.equations / (nu + form_.rows));
    most_rank_ =
        static_cast<Eigen::Index>(form_.unknowns) - static_cast<Eigen::Index>(blocks * (form_.rows - std::min(rank, form_.rows)));
}

RateStatus MotionJacobian::evaluate(double t, std::span<const double> x, std::span<double> J, std::size_t size) {
    const EvalReport report = program_.run(t, x.first(states_));
    if (report.status == EvalStatus::not_finite) return RateStatus::not_finite;
    if (report.status != EvalStatus::ok && report.status != EvalStatus::inconsistent_rows) return RateStatus::singular;
    std::fill(J.begin(), J.end(), 0.0);
    const std::span<const double> rates = program_.output(rates_), residual = program_.output(residual_);
    for (std::size_t k = 0; k < rates.size(); ++k) J[form_.rates[k].second * size + form_.rates[k].first] = rates[k];
    by_unknowns_.setZero();
    by_state_.setZero();
    for (std::size_t k = 0; k < residual.size(); ++k) {
        const auto [row, column] = form_.residual[k];
        if (column < states_)
            by_state_(row, column) = -residual[k];
        else
            by_unknowns_(row, static_cast<Eigen::Index>(column - states_)) = residual[k];
    }
    decomposition_.setThreshold(k_rank);
    decomposition_.compute(by_unknowns_);
    if (decomposition_.rank() > most_rank_) {
        const double pivot = std::abs(decomposition_.matrixQTZ()(most_rank_, most_rank_));
        decomposition_.setThreshold(1.0001 * pivot / decomposition_.maxPivot());
        decomposition_.compute(by_unknowns_);
    }
    solution_ = decomposition_.solve(by_state_);
    const auto nu = static_cast<Eigen::Index>(states_ - coordinates_);
    for (Eigen::Index c = 0; c < solution_.cols(); ++c)
        for (Eigen::Index r = 0; r < nu; ++r)
            J[static_cast<std::size_t>(c) * size + coordinates_ + static_cast<std::size_t>(r)] = solution_(r, c);
    return RateStatus::ok;
}

}  // namespace appell
