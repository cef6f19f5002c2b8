// What a stretch does next to singular positions: tells that it comes to one, and goes through (passage.hpp).
#include <algorithm>
#include <cmath>

#include "sim/stretch.hpp"

namespace appell {

namespace {

// of the constraints on positions: falling, and this small, it is on its way to zero
constexpr double k_small_rank = 0.1;

}  // namespace

bool Stretch::nears_singular_position() {
    const double longest = std::max(longest_step_, journey_.longest_step);
    if (motion_.position_rows == 0 || !(longest > 0)) return false;
    const double t = integrator_.t(), back = 0.1 * longest * (options_.t1 < options_.t0 ? -1 : 1);
    std::vector<double> before(accepted_), rates(accepted_.size());
    if (rate_.rate(t, accepted_, rates) != RateStatus::ok) return false;
    PositionRank rank(motion_);
    // how long rows are elsewhere
    for (const double turn : {-1.0, 1.0}) {
        double largest = 1;
        for (std::size_t i = 0; i < motion_.coordinates; ++i) largest = std::max(largest, std::abs(accepted_[i]));
        for (std::size_t i = 0; i < motion_.coordinates; ++i)
            before[i] =
                accepted_[i] + turn * 0.3 * largest * (0.5 + static_cast<double>(i) / static_cast<double>(motion_.coordinates));
        (void)rank(position_, t, before, true);
    }
    const double here = rank(position_, t, accepted_, true);
    // the same way backwards, on the constraints
    double least = 1e300, at = 0;
    for (const double share : {1.0, 0.1}) {
        for (std::size_t i = 0; i < motion_.coordinates; ++i) before[i] = accepted_[i] - share * back * rates[i];
        if (position_.project(t - share * back, before, k_project_step).status != ProjectStatus::converged) continue;
        const double there = rank(position_, t - share * back, before, true);
        const double way = std::abs(share * back) * here / (there - here);
        if (there > here && way < least) {
            least = way;
            at = rank(position_, t, accepted_);
        }
    }
    return at < k_small_rank && least < longest;
}

bool Stretch::pass_singular_position() {
    switch (summary_.reason) {
        case EndReason::rank_loss:
        case EndReason::step_too_small:
        case EndReason::projection_failed:
        case EndReason::singular_partition:
        case EndReason::singular_mass:
        case EndReason::inconsistent_constraints:
        case EndReason::not_finite: break;
        default: return false;
    }
    if (!passage_ || passage_->t_noted() == options_.t1) return false;
    if (!passage_->across(t_stop_, t_stop_ == options_.t1)) {
        summary_.no_way_through = true;
        return false;
    }
    PassedPosition passed = passage_->passed();
    std::vector<double> there(motion_.carried());
    (void)passage_->dense(passed.t, there);
    passed.constraint =
        summary_.reason == EndReason::rank_loss
            ? summary_.constraint
            : constraint_of(motion_.velocity_constraints, velocity_.measure(passed.t, there).evaluation.weakest_row);
    summary_.reason = EndReason::finished;
    summary_.loss = RowLoss::none;
    std::ranges::copy(passage_->x(), state_.begin());
    const double t_end = passage_->t();
    const bool whole = guards_.empty() || pass_guards(*passage_, t_end);
    // something else may have happened on the arc, before it or behind it
    if (passage_->is_passed(whole ? t_end : switched_ ? t_switch_ : summary_.t_end)) {
        journey_.switching.went_through(passed, there);
        summary_.passed.push_back(std::move(passed));
    }
    if (!whole || !rows_inside(*passage_, t_end)) return false;
    if (t_end == options_.t1) {
        reach(t_end, state_);
        return row_at_step(t_end);
    }
    if (!row_at_step(t_end)) return false;
    return hand_over(t_end, std::vector<double>(state_));
}

}  // namespace appell
