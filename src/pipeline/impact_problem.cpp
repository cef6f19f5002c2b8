#include "pipeline/impact_problem.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "dynam/quantities.hpp"
#include "pipeline/motion_lowering.hpp"

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

LeastChange ImpactProblem::rows_at(double t, std::span<const double> x, const std::vector<bool>& touching) {
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
    for (std::size_t i = 0; i < touching.size(); ++i) {
        if (!touching[i]) continue;
        const auto row = contacts.begin() + static_cast<std::ptrdiff_t>(i * speeds_);
        problem.C.insert(problem.C.end(), row, row + static_cast<std::ptrdiff_t>(speeds_));
    }
    return problem;
}

std::optional<std::vector<double>> ImpactProblem::solve(double t, std::span<const double> x, const std::vector<bool>& touching) {
    LeastChange problem = rows_at(t, x, touching);
    const std::span<const double> rate = evaluated_->output("rate"), restitution = evaluated_->output("restitution");
    for (std::size_t i = 0; i < touching.size(); ++i)
        if (touching[i]) problem.h.push_back(-(1 + restitution[i]) * rate[i]);
    return least_change(problem, speeds_);
}

namespace {

// contacts of an impact that are tried in every order; of more, as many orders as there are contacts, and their reverses
constexpr std::size_t k_all_orders = 4;
// rounds of a sequence: endless ones converge
constexpr int k_most_sweeps = 3000;
// changes that differ by less, in parts of their size, are the same
constexpr double k_same_change = 1e-6;

double dot(std::span<const double> v, std::span<const double> w) {
    return std::inner_product(v.begin(), v.end(), w.begin(), 0.0);
}

// in the metric of mass
double size_of(std::span<const double> change, const std::vector<double>& M) {
    const std::size_t n = change.size();
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j) sum += change[i] * M[std::max(i, j) * n + std::min(i, j)] * change[j];
    return std::sqrt(std::max(sum, 0.0));
}

std::vector<std::vector<std::size_t>> orders_of(std::size_t contacts) {
    std::vector<std::size_t> order(contacts);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::vector<std::vector<std::size_t>> out;
    if (contacts <= k_all_orders) {
        do out.push_back(order);
        while (std::next_permutation(order.begin(), order.end()));
        return out;
    }
    for (std::size_t k = 0; k < contacts; ++k) {
        out.push_back(order);
        out.emplace_back(order.rbegin(), order.rend());
        std::rotate(order.begin(), order.begin() + 1, order.end());
    }
    return out;
}

// Single impacts: in rounds, each contact that approaches when its turn comes is hit.
struct SingleImpacts {
    std::vector<std::vector<double>> response;      // by contact: the change of the speeds by which its rate grows by one
    std::vector<std::vector<double>> effect;        // of that on the rates of all
    std::vector<double> restitution, rate, before;  // the last: the change that the other rows make by themselves

    [[nodiscard]] std::vector<double> in_order(const std::vector<std::size_t>& order) const {
        std::vector<double> change = before, now = rate;
        double largest = 0;
        for (const double r : rate) largest = std::max(largest, std::abs(r));
        const auto approaches = [&](std::size_t i) { return now[i] < -1e-9 * largest; };
        for (int sweep = 0; sweep < k_most_sweeps && std::ranges::any_of(order, approaches); ++sweep)
            for (const std::size_t i : order) {
                if (!approaches(i)) continue;
                const double reversed = -(1 + restitution[i]) * now[i];
                for (std::size_t k = 0; k < change.size(); ++k) change[k] += reversed * response[i][k];
                for (std::size_t j = 0; j < now.size(); ++j) now[j] += reversed * effect[i][j];
            }
        return change;
    }
};

}  // namespace

std::optional<std::vector<double>> ImpactProblem::another_change(double t, std::span<const double> x,
                                                                 const std::vector<bool>& touching,
                                                                 std::span<const double> change) {
    const LeastChange rows = rows_at(t, x, touching);
    const std::span<const double> rate = evaluated_->output("rate"), restitution = evaluated_->output("restitution");
    SingleImpacts impacts;
    for (std::size_t i = 0; i < touching.size(); ++i) {
        if (!touching[i]) continue;
        impacts.rate.push_back(rate[i]);
        impacts.restitution.push_back(restitution[i]);
    }
    const std::size_t contacts = impacts.rate.size();
    const auto before = least_change({rows.M, rows.A, rows.b, {}, {}}, speeds_);
    if (!before) return std::nullopt;
    impacts.before = *before;
    const auto row = [&](std::size_t i) { return std::span(rows.C).subspan(i * speeds_, speeds_); };
    for (std::size_t i = 0; i < contacts; ++i) {
        LeastChange alone{rows.M, rows.A, std::vector<double>(rows.b.size(), 0.0), {row(i).begin(), row(i).end()}, {1.0}};
        auto response = least_change(alone, speeds_);
        if (!response) return std::nullopt;
        std::vector<double>& effect = impacts.effect.emplace_back();
        for (std::size_t j = 0; j < contacts; ++j) effect.push_back(dot(row(j), *response));
        impacts.response.push_back(std::move(*response));
    }
    for (std::size_t i = 0; i < contacts; ++i) impacts.rate[i] += dot(row(i), impacts.before);
    const double size = size_of(change, rows.M);
    for (const std::vector<std::size_t>& order : orders_of(contacts)) {
        std::vector<double> other = impacts.in_order(order), difference = other;
        for (std::size_t k = 0; k < speeds_; ++k) difference[k] -= change[k];
        if (size_of(difference, rows.M) > k_same_change * std::max(size, size_of(other, rows.M))) return other;
    }
    return std::nullopt;
}

}  // namespace appell
