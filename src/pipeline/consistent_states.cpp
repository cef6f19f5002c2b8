#include "pipeline/consistent_states.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "sim/motion_program.hpp"
#include "sim/project.hpp"
#include "tape/workspace.hpp"

namespace appell {

namespace {

// a fixed generator of our own: the same states on every machine and library
class Random {
public:
    explicit Random(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15ull + 0x2545f4914f6cdd1dull) {}
    double unit() {  // [0, 1)
        state_ ^= state_ << 13;
        state_ ^= state_ >> 7;
        state_ ^= state_ << 17;
        return static_cast<double>(state_ >> 11) / 9007199254740992.0;
    }
    double symmetric() { return 2 * unit() - 1; }

private:
    std::uint64_t state_;
};

// states whose rows are worse conditioned than this are not used: they say more about themselves than about the formulations
constexpr double k_worst_pivot = 1e-6;

// independent rows at the start. States near it have no more of them, though a little off the constraints it seems so
struct StartRanks {
    std::size_t position = static_cast<std::size_t>(-1), velocity = position, rows = position;  // unknown: no limits
};

StartRanks ranks_at(const Motion& motion, double t, std::span<const double> x) {
    if (x.empty()) return {};
    Projector position(motion, motion.position, Projector::Part::coordinates);
    Projector velocity(motion, motion.velocity, Projector::Part::speeds);
    MotionProgram rate(motion, motion.rate);
    return {position.measure(t, x).evaluation.rank, velocity.measure(t, x).evaluation.rank, rate.run(t, x).rank};
}

// What was projected in double is on the constraints to sixteen digits only; Newton's iteration doubles them.
class Refinement {
public:
    Refinement(const Motion& motion, const StartRanks& ranks) : motion_(motion) {
        if (!motion.position.outputs.empty()) position_.emplace(motion.position).limit_rank(ranks.position);
        if (!motion.velocity.outputs.empty()) velocity_.emplace(motion.velocity).limit_rank(ranks.velocity);
    }

    bool refine(std::vector<Digits50>& inputs) {
        normalise(inputs);
        return correct(position_, "dq", 1, inputs) && correct(velocity_, "du", 1 + motion_.coordinates, inputs);
    }

private:
    // a unit norm is no row; without it a frame would be orthonormal to sixteen digits only
    void normalise(std::vector<Digits50>& inputs) const {
        for (const auto& quaternion : motion_.quaternions) {
            Digits50 squares = 0;
            for (const std::size_t i : quaternion) squares += inputs[1 + i] * inputs[1 + i];
            const Digits50 norm = sqrt(squares);
            for (const std::size_t i : quaternion) inputs[1 + i] /= norm;
        }
    }

    bool correct(std::optional<Workspace<Digits50>>& workspace, std::string_view step, std::size_t first,
                 std::vector<Digits50>& inputs) {
        if (!workspace) return true;
        bool close = false;  // one more step takes it to round-off
        for (int iteration = 0; iteration < 10; ++iteration) {
            std::copy(inputs.begin(), inputs.end(), workspace->inputs().begin());
            const EvalStatus status = workspace->run().status;
            if (status != EvalStatus::ok && status != EvalStatus::inconsistent_rows) return false;
            double worst = 0;
            for (const Digits50& scaled : workspace->output("scaled"))
                worst = std::max(worst, std::abs(static_cast<double>(scaled)));
            if (close && worst < 1e-40) return true;
            close = worst < 1e-30;
            const auto correction = workspace->output(step);
            for (std::size_t i = 0; i < correction.size(); ++i) inputs[first + i] += correction[i];
            normalise(inputs);
        }
        return false;
    }

    const Motion& motion_;
    std::optional<Workspace<Digits50>> position_, velocity_;
};

// how often a state may be sought for: a try costs a few solves in double
constexpr double k_work_of_tries = 1e10;
constexpr std::size_t k_few_states = 5, k_few_tries = 200;

double cube(std::size_t size) { return std::pow(static_cast<double>(std::max<std::size_t>(size, 1)), 3); }

}  // namespace

std::size_t size_of(const ConstrainedDynamics& d) { return d.model->speeds.size() + d.rows.size(); }

std::size_t affordable_states(double work, std::size_t size, std::size_t wanted) {
    return std::min(wanted, static_cast<std::size_t>(std::min(work / cube(size), 1e9)));
}

ConsistentStates random_consistent_states(const ConstrainedDynamics& d, const LoweredMotion& lowered,
                                          std::span<const double> start, const CertificateOptions& options) {
    const Model& m = *d.model;
    const std::size_t nq = m.coordinates.size(), nu = m.speeds.size();
    Random random(options.seed);
    ConsistentStates out;
    const std::size_t size = size_of(d);
    const std::size_t wide = affordable_states(options.wide_work, size, options.states);
    const std::size_t wanted = size <= options.largest ? options.states : std::min(options.states, std::max(k_few_states, wide));
    const std::size_t tries =
        std::min(options.tries, std::max(k_few_tries, static_cast<std::size_t>(std::min(k_work_of_tries / cube(size), 1e9))));
    const StartRanks ranks = ranks_at(lowered.motion, m.run.from, start);
    Refinement refinement(lowered.motion, ranks), free_refinement(lowered.motion, {});
    // typical sizes: a coordinate moves by a fraction of itself and of the others
    double q_size = 0.1, u_size = 1;
    for (std::size_t i = 0; i < nq; ++i) q_size = std::max(q_size, 0.3 * std::abs(lowered.x0[i]));
    for (std::size_t i = nq; i < nq + nu; ++i) u_size = std::max(u_size, std::abs(lowered.x0[i]));
    out.rank = ranks.rows;
    Motion motion = lowered.motion;
    std::size_t failed = 0;  // tries since the last state
    // failures after which speeds are sought for nearer to the start's, half as far each time
    const std::size_t patience = tries < options.tries ? 8 : 40;
    for (; out.tried < tries && out.rough.size() < wanted; ++out.tried) {
        // a start on constraints that are hidden has a rank of its own: then the generic one
        const bool any_rank = out.rough.empty() && (start.empty() || out.tried > std::max(tries / 20, 9 * patience));
        // a parameter that is zero would hide every term it stands in
        for (std::size_t i = 0; i < m.parameters.size() && options.vary_parameters; ++i) {
            const double given = lowered.motion.parameters[i], factor = random.symmetric();
            motion.parameters[i] = given != 0 ? given * std::exp2(factor) : failed < 2 * patience ? factor : 0;
        }
        const double t = m.run.from + random.unit() * m.run.duration;
        std::vector<double> x = lowered.x0;
        for (std::size_t i = 0; i < nq; ++i) x[i] += q_size * random.symmetric();
        // Speeds anew, and every other time near the start's; ever closer where those fall on other branches of the constraints.
        const bool anew = failed < patience && out.rough.size() % 2 == 0;
        const double spread =
            anew ? 1 : std::max(1e-3, 0.3 * std::exp2(-static_cast<double>(failed) / static_cast<double>(patience)));
        for (std::size_t i = nq; i < nq + nu; ++i) x[i] = (anew ? 0 : x[i]) + spread * u_size * random.symmetric();
        if (!anew)
            for (std::size_t i = 0; i < nq; ++i) x[i] = lowered.x0[i] + spread * (x[i] - lowered.x0[i]);
        ++failed;
        Projector position(motion, motion.position, Projector::Part::coordinates);
        Projector velocity(motion, motion.velocity, Projector::Part::speeds);
        if (!any_rank) {
            position.limit_rank(ranks.position);
            velocity.limit_rank(ranks.velocity);
        }
        if (position.project(t, x, k_project_start).status != ProjectStatus::converged) continue;
        if (velocity.project(t, x, k_project_start).status != ProjectStatus::converged) continue;
        std::vector<double> inputs{t};
        inputs.insert(inputs.end(), x.begin(), x.end());
        inputs.insert(inputs.end(), motion.parameters.begin(), motion.parameters.end());
        Workspace<double> rate(motion.rate);
        std::copy(inputs.begin(), inputs.end(), rate.inputs().begin());
        const EvalReport report = rate.run();
        if (report.status != EvalStatus::ok || report.smallest_pivot < k_worst_pivot) continue;
        if (!any_rank && report.rank != out.rank) continue;
        if (out.exact.size() < wide) {
            std::vector<Digits50> exact(inputs.begin(), inputs.end());
            if (!(any_rank ? free_refinement : refinement).refine(exact)) continue;
            for (std::size_t i = 0; i < inputs.size(); ++i) inputs[i] = static_cast<double>(exact[i]);
            out.exact.push_back(std::move(exact));
        }
        out.rank = report.rank;
        out.least_pivot = std::min(out.least_pivot, report.smallest_pivot);
        out.rough.push_back(std::move(inputs));
        // where random speeds were of no use they will not be later
        failed = failed > patience ? failed - patience / 2 : 0;
    }
    return out;
}

}  // namespace appell
