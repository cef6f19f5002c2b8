#include "pipeline/impact_problem.hpp"

#include "dynam/quantities.hpp"
#include "pipeline/motion_lowering.hpp"
#include "tape/least_change.hpp"

namespace appell {

namespace {

std::vector<double> matrix(std::span<const double> values, const std::vector<std::pair<std::size_t, std::size_t>>& places,
                           std::size_t rows, std::size_t columns) {
    std::vector<double> out(rows * columns, 0);
    for (std::size_t k = 0; k < places.size(); ++k) out[places[k].first * columns + places[k].second] += values[k];
    return out;
}

}  // namespace

ImpactProblem::ImpactProblem(const SwitchedSystem& system, const Mode& mode, FrozenConditions* conditions,
                             Diagnostics& diagnostics)
    : mode_(mode), speeds_(system.model.speeds.size()) {
    Graph& g = system.whole.graph();
    const ConstrainedDynamics& d = mode.dynamics;
    Quantities quantities(d, diagnostics);
    std::vector<NodeId> mass, kept, kept_rate, contact, contact_rate, restitution;
    for (const SparseEntry& e : d.M().entries) {
        mass_places_.emplace_back(e.row, e.column);
        mass.push_back(e.value);
    }
    for (std::size_t row = 0; row < d.rows.size(); ++row) {
        const Constraint& c = system.model.constraints[d.rows[row].constraint];
        if (d.rows[row].level == Level::acceleration || c.stick_of || d.rows[row].by_actuators || c.unilateral) continue;
        for (const SparseEntry& e : d.A.entries)
            if (e.row == row) {
                kept_places_.emplace_back(kept_, e.column);
                kept.push_back(e.value);
            }
        kept_rate.push_back(d.rows[row].velocity);
        ++kept_;
    }
    for (std::size_t i = 0; i < system.contacts.size(); ++i) {
        const Constraint& c = system.model.constraints[system.contacts[i]];
        for (const SparseEntry& e : system.whole.A.entries)
            if (e.row == system.contact_rows[i]) {
                contact_places_.emplace_back(i, e.column);
                contact.push_back(e.value);
            }
        contact_rate.push_back(system.whole.rows[system.contact_rows[i]].velocity);
        restitution.push_back(c.restitution.valid() ? quantities.scalar(c.restitution, c.span) : g.constant(0));
    }
    std::vector<ConstrainedSolve> solves(quantities.solves());
    solves.insert(solves.end(), mode.lowered.equations.begin(), mode.lowered.equations.end());
    std::vector<OutputGroup> outputs{{"mass", mass}, {"contact", contact}, {"rate", contact_rate}, {"restitution", restitution}};
    if (kept_ > 0) {
        outputs.push_back({"kept", kept});
        outputs.push_back({"kept_rate", kept_rate});
    }
    program_ = lower_frozen(g, {mode.lowered.inputs, std::move(solves), std::move(outputs)}, conditions);
    evaluated_.emplace(mode.lowered.motion, program_);
}

std::optional<std::vector<double>> ImpactProblem::solve(double t, std::span<const double> x, const std::vector<bool>& touching) {
    for (std::size_t i = 0; i < mode_.lowered.motion.parameters.size(); ++i)
        evaluated_->set_parameter(i, mode_.lowered.motion.parameters[i]);
    (void)evaluated_->run(t, x);
    LeastChange problem;
    problem.M = matrix(evaluated_->output("mass"), mass_places_, speeds_, speeds_);
    if (kept_ > 0) {
        problem.A = matrix(evaluated_->output("kept"), kept_places_, kept_, speeds_);
        for (const double rate : evaluated_->output("kept_rate")) problem.b.push_back(-rate);
    }
    const std::vector<double> contacts = matrix(evaluated_->output("contact"), contact_places_, touching.size(), speeds_);
    const std::span<const double> rate = evaluated_->output("rate"), restitution = evaluated_->output("restitution");
    for (std::size_t i = 0; i < touching.size(); ++i) {
        if (!touching[i]) continue;
        const auto row = contacts.begin() + static_cast<std::ptrdiff_t>(i * speeds_);
        problem.C.insert(problem.C.end(), row, row + static_cast<std::ptrdiff_t>(speeds_));
        problem.h.push_back(-(1 + restitution[i]) * rate[i]);
    }
    return least_change(problem, speeds_);
}

}  // namespace appell
