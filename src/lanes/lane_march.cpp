#include "lanes/lane_march.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/step_size.hpp"

namespace appell {

namespace {

double arc_cosine(double x) { return std::acos(x); }

LaneMarchPlan::Outputs outputs_of(const Program& program, std::string_view correction) {
    const OutputRange& scaled = program.output("scaled");
    return {scaled.begin, scaled.end, program.output(correction).begin};
}

}  // namespace

bool LaneMarch::possible(const Motion& motion) {
    const auto can = [](const Program& program) { return program.native != nullptr && LaneWorkspace::possible(program); };
    if (!can(motion.rate)) return false;
    if (motion.position_rows > 0 && !can(motion.position)) return false;
    if (motion.velocity_rows == 0) return true;
    const Program& velocity = motion.velocity;
    return can(velocity) && !velocity.solves.empty() && velocity.solves[0].closed.empty() &&
           velocity.solves[0].rows == motion.velocity_rows && velocity.solves[0].size == motion.speeds;
}

LaneMarch::Evaluated::Evaluated(const Program& program, const LaneKernels& kernels, LaneEvaluation& out)
    : workspace(program, kernels) {
    const auto list = [](const std::vector<Slot>& from) { return LaneSolvePlan::List<Slot>{from.data(), from.size()}; };
    for (std::size_t s = 0; s < program.solves.size(); ++s) {
        const ClosedForm<Slot>& closed = program.solves[s].closed;
        pivots.push_back({list(closed.row_pivots), list(closed.row_diagonal), workspace.solve_plan(s)});
    }
    out.workspace = &workspace;
    out.run = [](void* of) { return static_cast<LaneWorkspace*>(of)->evaluate(); };
    out.slots = workspace.slots();
    out.outputs = workspace.outputs();
    out.places = workspace.output_places().data();
    out.pivots = pivots.data();
    out.pivots_count = pivots.size();
}

LaneMarch::LaneMarch(const Motion& motion, const LaneKernels& kernels) : motion_(motion), kernels_(kernels) {
    plan_.coordinates = motion.coordinates;
    plan_.states = motion.states();
    plan_.carried = motion.carried();
    plan_.rows = motion.velocity_rows;
    plan_.position_rows = motion.position_rows;
    plan_.arc_cosine = arc_cosine;
    rate_.emplace(motion.rate, kernels, plan_.rate);
    if (motion.position_rows > 0) {
        position_.emplace(motion.position, kernels, plan_.position);
        plan_.of_position = outputs_of(motion.position, "dq");
    }
    if (motion.velocity_rows > 0) {
        velocity_.emplace(motion.velocity, kernels, plan_.velocity);
        plan_.of_velocity = outputs_of(motion.velocity, "du");
    }
}

bool LaneMarch::is_for(const Motion& motion) const { return motion.rate.native == motion_.rate.native; }

std::size_t LaneMarch::seated() const {
    return k_lanes - static_cast<std::size_t>(std::count(seats_.begin(), seats_.end(), nullptr));
}

// memory for the method, and for the rows of the constraints
void LaneMarch::use(const MarchMethod& method) {
    method_ = method;
    LaneMarchPlan& p = plan_;
    p.stages = method.stages;
    p.nodes = method.nodes;
    p.tableau = method.rows;
    p.error = method.error;
    p.extension = method.extension;
    p.alpha = method.alpha;
    p.beta = method.beta;
    p.most_growth = method.most_growth;
    p.most_shrink = method.most_shrink;
    p.stability = method.stability;
    p.constraints = row_begin_.empty() ? 0 : row_begin_.size() - 1;
    p.row_begin = row_begin_.data();

    const std::size_t carried = p.carried, entries = row_begin_.empty() ? 0 : row_begin_.back(), constraints = p.constraints;
    std::vector<LaneNumbers::Part> parts;
    LaneMarchPlan::Numbers& n = p.one;
    for (double** one : {&n.t,
                         &n.t_previous,
                         &n.t_end,
                         &n.direction,
                         &n.h,
                         &n.log_error,
                         &n.rejected,
                         &n.t_row,
                         &n.rtol,
                         &n.share,
                         &n.max_step,
                         &n.least_pivot,
                         &n.steps,
                         &n.most_steps,
                         &n.phase,
                         &n.rejections,
                         &n.evaluations,
                         &n.at_the_bound,
                         &n.below_it,
                         &n.stiff_steps,
                         &n.stiff_from,
                         &n.speed_size,
                         &n.longest_step,
                         &n.longest_taken,
                         &n.projections,
                         &n.smallest_pivot,
                         &n.smallest_pivot_at,
                         &p.step})
        parts.push_back({one, 1});
    for (double** all : {&p.x, &p.rate_at_x, &p.trial, &p.last_stage, &p.state, &p.inside, &p.end_rate, &p.change, &p.bend,
                         &p.twist, &p.fourth, &p.atol, &p.coordinate_sizes})
        parts.push_back({all, carried});
    for (LaneMarchPlan::Sample* sample : {&p.before, &p.middle, &p.after, &p.ahead}) {
        parts.push_back({&sample->rows, entries});
        parts.push_back({&sample->directions, entries});
        parts.push_back({&sample->sizes, constraints + 1});
    }
    parts.push_back({&p.longest, constraints});
    parts.push_back({&p.rates, (method.stages + 1) * carried});
    numbers_ = LaneNumbers(parts);
}

bool LaneMarch::seat(March& march) {
    if (seated() == 0 && (method_ != march.method || !std::ranges::equal(row_begin_, march.row_begin))) {
        row_begin_.assign(march.row_begin.begin(), march.row_begin.end());
        use(march.method);
    }
    if (method_ != march.method || !std::ranges::equal(row_begin_, march.row_begin)) return false;
    const auto lane = static_cast<std::size_t>(std::find(seats_.begin(), seats_.end(), nullptr) - seats_.begin());
    seats_[lane] = &march;
    exchange(lane, march, true);
    return true;
}

// Every number of a march, into its lane or back. What is counted in the lane goes on from zero.
void LaneMarch::exchange(std::size_t lane, March& m, bool into_lane) {
    const LaneMarchPlan& p = plan_;
    const LaneMarchPlan::Numbers& n = p.one;
    const auto all = [&](double* numbers, double* own, std::size_t count) {
        double* const at = numbers + lane;
        if (into_lane)
            for (std::size_t i = 0; i < count; ++i) at[k_lanes * i] = own[i];
        else
            for (std::size_t i = 0; i < count; ++i) own[i] = at[k_lanes * i];
    };
    const auto one = [&](double* number, double& own) { all(number, &own, 1); };
    const auto given = [&](double* number, double value) {
        if (into_lane) number[lane] = value;
    };
    const auto whole = [&](double* number, std::size_t& own) {
        if (into_lane)
            number[lane] = static_cast<double>(own);
        else
            own = static_cast<std::size_t>(number[lane]);
    };
    const auto counted = [&](double* number, std::size_t& own) {
        if (into_lane)
            number[lane] = 0;
        else
            own += static_cast<std::size_t>(number[lane]);
    };
    one(n.t, m.t);
    one(n.t_previous, m.t_previous);
    one(n.h, m.h);
    one(n.log_error, m.log_error);
    given(n.t_end, m.t_end);
    given(n.t_row, m.t_row);
    given(n.direction, m.t_end < m.t ? -1 : 1);
    given(n.rtol, m.rtol);
    given(n.share, m.share);
    given(n.max_step, m.max_step);
    given(n.least_pivot, m.least_pivot);
    given(n.most_steps, static_cast<double>(m.most_steps));
    given(n.phase, static_cast<double>(m.statistics.steps % k_stiff_asked));
    given(n.rejected, m.rejected ? 1 : 0);
    if (!into_lane) m.rejected = n.rejected[lane] != 0;
    whole(n.at_the_bound, m.at_the_bound);
    whole(n.below_it, m.below_it);
    whole(n.projections, m.projections);
    whole(n.stiff_steps, m.statistics.stiff_steps);
    one(n.stiff_from, m.statistics.stiff_from);
    counted(n.rejections, m.statistics.rejected);
    counted(n.evaluations, m.statistics.evaluations);
    counted(n.steps, m.steps);
    if (!into_lane) m.statistics.steps += m.steps;
    one(n.speed_size, m.speed_size);
    one(n.longest_step, m.longest_step);
    one(n.longest_taken, m.longest_taken);
    one(n.smallest_pivot, m.smallest_pivot);
    one(n.smallest_pivot_at, m.smallest_pivot_at);
    all(p.x, m.x, p.carried);
    all(p.rate_at_x, m.rate, p.carried);
    all(p.coordinate_sizes, m.coordinate_sizes, p.coordinates);
    if (p.constraints > 0) {
        all(p.before.rows, m.rows, row_begin_.back());
        if (p.rows > 1) all(p.before.directions, m.directions, row_begin_.back());
        all(p.before.sizes, m.sizes, p.constraints + 1);
        all(p.longest, m.longest, p.constraints);
    }
    if (!into_lane) return;
    for (std::size_t i = 0; i < p.states; ++i) p.atol[k_lanes * i + lane] = m.atol[i];
    const std::vector<double>& parameters = m.motion->parameters;
    for (std::optional<Evaluated>* const of : {&rate_, &position_, &velocity_}) {
        if (!*of) continue;
        LaneWorkspace& workspace = (*of)->workspace;
        for (std::size_t i = 0; i < parameters.size(); ++i)
            workspace.slots()[k_lanes * (1 + p.states + i) + lane] = parameters[i];
        workspace.parameters_changed();
    }
}

bool LaneMarch::at_its_end(std::size_t lane) const {
    const LaneMarchPlan::Numbers& n = plan_.one;
    return n.t[lane] == n.t_end[lane] || n.t[lane] == n.t_row[lane] || !(n.steps[lane] < n.most_steps[lane]);
}

std::size_t LaneMarch::go(std::array<March*, k_lanes>& left) {
    LaneMask among = 0;
    for (std::size_t k = 0; k < k_lanes; ++k) among |= seats_[k] != nullptr ? 1u << k : 0u;
    std::size_t count = 0;
    while (among != 0 && count == 0) {
        const LaneMask staying = kernels_.turn(plan_, among);
        for (std::size_t k = 0; k < k_lanes; ++k) {
            if ((among >> k & 1u) == 0) continue;
            if ((staying >> k & 1u) != 0 && !at_its_end(k)) continue;
            exchange(k, *seats_[k], false);
            left[count++] = std::exchange(seats_[k], nullptr);
        }
    }
    return count;
}

}  // namespace appell
