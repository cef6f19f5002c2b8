#include "pipeline/undetermined_forces.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "base/number_format.hpp"
#include "expr/differentiate.hpp"
#include "pipeline/motion_lowering.hpp"

namespace appell {

namespace {

// rows and speeds of modes that are looked at: the decomposition of their rows grows with the cube
constexpr std::size_t k_largest = 120;

bool contains(const std::vector<std::size_t>& list, std::size_t what) { return std::ranges::find(list, what) != list.end(); }

// the constraint that a user knows: sticking is part of the one whose friction it is
std::size_t named_constraint(const Model& m, std::size_t constraint) {
    const auto& stick_of = m.constraints[constraint].stick_of;
    return stick_of ? m.frictions[*stick_of].constraint : constraint;
}

std::vector<std::string> names_of_rows(const ConstrainedDynamics& d, const std::vector<std::size_t>& rows) {
    std::vector<std::string> out;
    for (const std::size_t row : rows) {
        const std::string& name = d.model->constraints[named_constraint(*d.model, d.rows[row].constraint)].name;
        if (std::ranges::find(out, name) == out.end()) out.push_back(name);
    }
    return out;
}

// the first few of many names
std::string some_of(const std::vector<std::string>& names) {
    constexpr std::size_t k_most = 8;
    if (names.size() <= k_most) return fmt::format("{}", fmt::join(names, ", "));
    return fmt::format("{} and {} others", fmt::join(names.begin(), names.begin() + k_most, ", "), names.size() - k_most);
}

const Share* share_of(const Model& m, std::size_t constraint) {
    const auto found = std::ranges::find_if(m.shares, [&](const Share& s) { return contains(s.constraints, constraint); });
    return found == m.shares.end() ? nullptr : &*found;
}

}  // namespace

bool fit_shares(ConstrainedDynamics& d, LowerMotionOptions options, bool at_start, Diagnostics& diagnostics) {
    const Model& m = *d.model;
    d.shared.clear();
    const std::vector<SharedRows> stated = shared_rows(d);
    if (stated.empty()) return true;
    options.native = options.for_run = options.works = options.scene = options.jacobian = options.residual = false;
    options.formulation = Formulation::multipliers;
    options.drift = DriftControl::project;
    options.forces_in = {};
    options.conditions = nullptr;
    const Result<LoweredMotion> lowered = lower_motion(d, options);
    if (!lowered.ok() || lowered->start_values.empty()) return true;  // why is the run's to say
    d.shared = shares_that_fit(d, stated, lowered->start_values);
    if (!at_start || d.shared.size() == stated.size()) return true;
    for (const SharedRows& shared : stated) {
        const bool fits = std::ranges::any_of(d.shared, [&](const SharedRows& s) { return s.rows == shared.rows; });
        const Share* share = share_of(m, d.rows[shared.rows.front()].constraint);
        if (fits || share == nullptr) continue;
        // a contact that is open now may make the forces of the others unique for a while
        const bool all_on = std::ranges::all_of(share->constraints, [&](std::size_t c) {
            return std::ranges::any_of(d.rows, [&](const ConstraintRow& row) { return row.constraint == c; });
        });
        if (!all_on) continue;
        diagnostics.add({Code::E0856, share->span,
                         fmt::format("the constraints do not leave the forces of {} free to be shared so", names_of(d, shared)),
                         fmt::format("{}; with it the constraints would bind less than they do", share->text),
                         "constraints whose forces are not unique, and no more conditions than there are forces to choose",
                         "`check` says which rows follow from others; take the share out, or part of it"});
    }
    return !diagnostics.has_errors();
}

UndeterminedForces::UndeterminedForces(const ConstrainedDynamics& d, const LoweredMotion& lowered, FrozenConditions* conditions)
    : start_values_(lowered.start_values), shared_(d.shared) {
    Graph& g = d.graph();
    const Model& m = *d.model;
    speeds_ = m.speeds.size();
    std::vector<SymbolId> multipliers, ideal;
    bool switched = false;
    for (std::uint32_t i = 0; i < d.rows.size(); ++i) {
        const Constraint& c = m.constraints[d.rows[i].constraint];
        if (d.rows[i].by_actuators) continue;
        switched = switched || c.unilateral || c.stick_of;
        kept_.push_back(i);
        multipliers.push_back(d.rows[i].multiplier);
        const auto component = std::ranges::find(c.multipliers, d.rows[i].multiplier) - c.multipliers.begin();
        ideal.push_back(c.ideal_multipliers[static_cast<std::size_t>(component)]);
    }
    rows_ = kept_.size();
    if (rows_ < 2 || !(switched || d.C_of_ideal || d.C_of_reaction)) return;
    too_many_ = rows_ > k_largest || speeds_ > k_largest;
    if (too_many_) return;
    const auto dense = [&](const SparseMatrix& matrix, std::size_t rows, std::size_t columns) {
        std::vector<NodeId> out(rows * columns, g.constant(0));
        for (const SparseEntry& e : matrix.entries) out[e.row * columns + e.column] = e.value;
        return out;
    };
    std::vector<NodeId> M = dense(d.M(), speeds_, speeds_), A(rows_ * speeds_, g.constant(0));
    for (const SparseEntry& e : d.M().entries) M[e.column * speeds_ + e.row] = e.value;
    const std::vector<NodeId> all = dense(d.A, d.rows.size(), speeds_);
    for (std::size_t k = 0; k < rows_; ++k)
        std::copy_n(all.begin() + static_cast<std::ptrdiff_t>(kept_[k] * speeds_), speeds_,
                    A.begin() + static_cast<std::ptrdiff_t>(k * speeds_));
    const std::vector<NodeId> law = d.C.empty() ? std::vector<NodeId>(speeds_, g.constant(0)) : d.C;
    std::vector<NodeId> rate, lambda, weights;
    for (const Speed& s : m.speeds) rate.push_back(g.symbol_node(s.rate));
    for (const SymbolId s : multipliers) lambda.push_back(g.symbol_node(s));
    for (const SharedRows& shared : d.shared) weights.insert(weights.end(), shared.weights.begin(), shared.weights.end());
    program_ = lower_frozen(g,
                            {lowered.inputs,
                             lowered.equations,
                             {{"M", std::move(M)},
                              {"A", std::move(A)},
                              {"slope", dense(jacobian(g, law, multipliers, DerivativeMode::forward), speeds_, rows_)},
                              {"ideal", dense(jacobian(g, law, ideal, DerivativeMode::forward), speeds_, rows_)},
                              {"rate", std::move(rate)},
                              {"lambda", std::move(lambda)},
                              {"weights", std::move(weights)}}},
                            conditions);
    evaluated_.emplace(lowered.motion, program_);
}

// Rows that share a force are one row: their rows and the slopes by their multipliers add up, each with its weight.
ForceChoice UndeterminedForces::look(double t, std::span<const double> x) {
    if (!evaluated_) return {};
    const EvalReport report = evaluated_->run(t, x);
    if (report.status != EvalStatus::ok && report.status != EvalStatus::inconsistent_rows) return {};
    const std::span<const double> A = evaluated_->output("A"), slope = evaluated_->output("slope"),
                                  ideal = evaluated_->output("ideal"), lambda = evaluated_->output("lambda"),
                                  weights = evaluated_->output("weights");
    std::vector<std::size_t> group(rows_, rows_);
    std::vector<double> weight(rows_, 1.0);
    std::size_t at = 0;
    for (const SharedRows& shared : shared_) {
        if (shared.rows.size() == 1) {  // the weight of one row alone is no share
            ++at;
            continue;
        }
        for (const std::size_t row : shared.rows) {
            const auto k = static_cast<std::size_t>(std::ranges::find(kept_, row) - kept_.begin());
            const auto first = static_cast<std::size_t>(std::ranges::find(kept_, shared.rows.front()) - kept_.begin());
            group[k] = first;
            weight[k] = weights[at++];
        }
    }
    std::vector<std::size_t> solved;  // one row of each group
    for (std::size_t k = 0; k < rows_; ++k)
        if (group[k] == rows_ || group[k] == k) solved.push_back(k);
    const std::size_t count = solved.size();
    std::vector<double> rows(count * speeds_), by_reaction(speeds_ * count), by_ideal(speeds_ * count), multipliers(count);
    for (std::size_t k = 0; k < rows_; ++k) {
        const std::size_t to =
            static_cast<std::size_t>(std::ranges::find(solved, group[k] == rows_ ? k : group[k]) - solved.begin());
        multipliers[to] += weight[k] * lambda[k];
        for (std::size_t j = 0; j < speeds_; ++j) {
            rows[to * speeds_ + j] += weight[k] * A[k * speeds_ + j];
            by_reaction[j * count + to] += weight[k] * slope[j * rows_ + k];
            by_ideal[j * count + to] += weight[k] * ideal[j * rows_ + k];
        }
    }
    ForceChoice out = look_at_choice(
        {speeds_, count, evaluated_->output("M"), rows, by_reaction, by_ideal, evaluated_->output("rate"), multipliers});
    // in rows of the dynamics, all of a group
    std::vector<std::size_t> named;
    for (std::size_t k = 0; k < rows_; ++k) {
        const std::size_t in_solves = group[k] == rows_ ? k : group[k];
        const auto to = static_cast<std::size_t>(std::ranges::find(solved, in_solves) - solved.begin());
        if (contains(out.rows, to)) named.push_back(kept_[k]);
    }
    out.rows = std::move(named);
    return out;
}

namespace {

// two of the constraints that `share` may join; what it says of a family's member is beyond one line
std::optional<std::pair<std::string, std::string>> shareable(const ConstrainedDynamics& d, const UndeterminedForces& forces,
                                                             const std::vector<std::size_t>& rows) {
    constexpr std::size_t k_most_pairs = 20;  // each of them costs two ranks
    const Model& m = *d.model;
    std::size_t tried = 0;
    for (std::size_t i = 0; i < rows.size(); ++i)
        for (std::size_t k = i + 1; k < rows.size() && tried < k_most_pairs; ++k) {
            const std::size_t first = d.rows[rows[i]].constraint, second = d.rows[rows[k]].constraint;
            if (first == second || m.constraints[first].stick_of || m.constraints[second].stick_of) continue;
            ++tried;
            if (may_share(d, first, second, forces.start_values()))
                return std::pair(m.constraints[first].name, m.constraints[second].name);
        }
    return std::nullopt;
}

}  // namespace

void ForceChoices::say_choice(const ConstrainedDynamics& d, const UndeterminedForces& forces,
                              const std::vector<std::size_t>& rows) {
    const std::vector<std::string> names = names_of_rows(d, rows);
    if (!said_.insert(names).second) return;
    for (const std::string& name : names)
        if (std::ranges::find(chosen_.constraints, name) == chosen_.constraints.end()) chosen_.constraints.push_back(name);
    // once, as a note, however many modes there are; the summary has them all
    if (said_.size() > 1) return;
    const auto pair = shareable(d, forces, rows);
    diagnostics_.add(
        {Code::N0859, d.model->constraints.front().span,
         fmt::format("the forces of {} are not unique, and laws or contacts depend on them", some_of(names)),
         "those of least norm are taken", "",
         pair ? fmt::format("`share {} = {}` in the model states how they share what they carry", pair->first, pair->second)
              : std::string()});
}

void ForceChoices::say_unexamined(const ConstrainedDynamics& d, const UndeterminedForces& forces) {
    if (std::exchange(unexamined_, true)) return;
    diagnostics_.add({Code::N0866, d.model->constraints.front().span,
                      "the forces of the constraints are not unique; whether laws, friction or contacts depend on the choice was "
                      "not examined",
                      fmt::format("{} constraint rows and {} speeds", forces.rows(), forces.speeds()),
                      fmt::format("at most {} of each", k_largest), "the forces of least norm are taken"});
}

void ForceChoices::look(const ConstrainedDynamics& d, UndeterminedForces& forces, double t, std::span<const double> x) {
    if (forces.too_many()) say_unexamined(d, forces);
    if (forces.idle()) return;
    for (const SharedRows& shared : d.shared) {
        const Share* share = share_of(*d.model, d.rows[shared.rows.front()].constraint);
        if (share != nullptr && std::ranges::find(chosen_.shares, share->text) == chosen_.shares.end())
            chosen_.shares.push_back(share->text);
    }
    const ForceChoice found = forces.look(t, x);
    const auto switched = [&](std::size_t row) {
        const Constraint& c = d.model->constraints[d.rows[row].constraint];
        return c.unilateral || c.stick_of.has_value();
    };
    if (found.rows.empty()) {
        forces.be_idle();
        return;
    }
    if (found.law || std::ranges::any_of(found.rows, switched)) say_choice(d, forces, found.rows);
    if (!d.C_of_reaction && !d.C_of_ideal) forces.be_idle();
    if (!found.motion) return;
    forces.be_idle();
    if (chosen_.motion_since) return;
    chosen_.motion_since = t;
    diagnostics_.add({Code::W0858, d.model->constraints[named_constraint(*d.model, d.rows[found.rows.front()].constraint)].span,
                      fmt::format("the motion depends on how {} share their forces, at t = {}",
                                  some_of(names_of_rows(d, found.rows)), short_number(t)),
                      "another choice of forces that carry the same changes the accelerations, by the laws that depend on them",
                      "forces that are unique, laws that depend on their sum alone, or a `share`",
                      "those of least norm are taken; state the shares, or what is elastic there"});
}

}  // namespace appell
