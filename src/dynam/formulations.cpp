#include "dynam/formulations.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "dynam/chaplygin.hpp"
#include "dynam/gibbs_appell.hpp"
#include "dynam/multipliers.hpp"
#include "dynam/voronec.hpp"

namespace appell {

namespace {

constexpr auto k_formulations = std::to_array<FormulationInfo>({
    {Formulation::multipliers, "multipliers", "000 eqs. 5-7", false},
    {Formulation::minimal, "minimal", "000 eqs. 8-18", false},
    {Formulation::nonminimal, "nonminimal", "003 eqs. 20-50", false},
    {Formulation::udwadia_kalaba, "udwadia-kalaba", "001 eqs. 47-49", false},
    {Formulation::ukp, "ukp", "001 eqs. 15-40", false},
    {Formulation::gibbs_appell, "gibbs-appell", "002 eqs. 72-75", false},
    {Formulation::voronec, "voronec", "002 eqs. 48-57", true},
    {Formulation::chaplygin, "chaplygin", "002 eqs. 62-63", true},
});

// The coordinates whose rates depend by the user's choice of independent speeds; none where some speed is no rate, or where the
// choice is one of all rows and actuators keep some.
std::vector<std::size_t> chosen_dependent(const ConstrainedDynamics& d, const ConstrainedDynamics& ideal) {
    std::vector<std::size_t> out;
    if (d.independent.empty() || ideal.rows.size() != d.rows.size()) return {};
    for (std::size_t j = 0; j < d.model->coordinates.size(); ++j) {
        const auto speed = d.speed_of(d.model->coordinates[j].rate);
        if (!speed) return {};
        if (std::find(d.dependent.begin(), d.dependent.end(), *speed) != d.dependent.end()) out.push_back(j);
    }
    return out;
}

}  // namespace

std::span<const FormulationInfo> all_formulations() { return k_formulations; }

std::optional<Formulation> find_formulation(std::string_view name) {
    for (const FormulationInfo& row : k_formulations)
        if (row.name == name) return row.formulation;
    return std::nullopt;
}

std::string_view name_of(Formulation formulation) {
    for (const FormulationInfo& row : k_formulations)
        if (row.formulation == formulation) return row.name;
    APPELL_ASSERT(false, "every formulation is in the table");
}

FormulatedDynamics::FormulatedDynamics(const ConstrainedDynamics& dynamics, Formulation formulation, FrozenConditions* conditions)
    : dynamics_(dynamics), formulation_(formulation), realisation_(realise(dynamics)) {
    for (const FormulationInfo& row : k_formulations) partitioned_ |= row.formulation == formulation && row.partitioned;
    if (!partitioned_) return;
    rates_ = derive_rate_form(realisation_.ideal, conditions);
    not_applicable_ = rates_.not_applicable;
    if (!not_applicable_.empty()) return;
    dependent_ = chosen_dependent(dynamics, realisation_.ideal);
    if (formulation == Formulation::chaplygin) {
        if (!realisation_.before.empty()) {
            not_applicable_ = "the forces of nonideal laws and actuators depend on all coordinates";
            return;
        }
        ChaplyginStructure structure = recognise_chaplygin(rates_);
        not_applicable_ = std::move(structure.not_applicable);
        candidates_ = std::move(structure.candidates);
        general_rank_ = structure.rank;
    }
}

PartitionChoice FormulatedDynamics::choose(std::span<const double> values, std::span<const std::size_t> dependent) const {
    if (!partitioned_ || !not_applicable_.empty()) return {{}, not_applicable_};
    if (dependent.empty()) dependent = dependent_;
    for (const std::size_t j : dependent)
        if (!candidates_.empty() && std::find(candidates_.begin(), candidates_.end(), j) == candidates_.end())
            return {{},
                    fmt::format("the equations contain the coordinate {}, whose rate is to depend",
                                dynamics_.model->coordinates.at(j).name)};
    PartitionChoice choice = choose_partition(rates_, values, candidates_, dependent);
    if (choice.not_applicable.empty()) choice.not_applicable = structure_lost(general_rank_, choice.partition);
    return choice;
}

std::vector<ConstrainedSolve> FormulatedDynamics::solves(const Partition& partition) const {
    if (!not_applicable_.empty()) throw Error("the formulation does not apply: " + not_applicable_);
    std::vector<ConstrainedSolve> solves = realisation_.before;
    if (partitioned_) {
        for (ConstrainedSolve& solve :
             formulation_ == Formulation::voronec ? voronec_solves(rates_, partition) : chaplygin_solves(rates_, partition))
            solves.push_back(std::move(solve));
    } else if (formulation_ == Formulation::gibbs_appell) {
        solves.push_back(gibbs_appell_form(realisation_.ideal));
    } else {
        solves.push_back(form_of_rows());
    }
    solves.insert(solves.end(), realisation_.after.begin(), realisation_.after.end());
    return solves;
}

// one solve over M, A, f and b
ConstrainedSolve FormulatedDynamics::form_of_rows() const {
    ConstrainedSolve solve = multipliers_form(realisation_.ideal);
    switch (formulation_) {
        case Formulation::minimal: solve.kind = SolveKind::minimal; break;
        case Formulation::nonminimal: solve.kind = SolveKind::nonminimal; break;
        case Formulation::udwadia_kalaba: solve.kind = SolveKind::udwadia_kalaba; break;
        case Formulation::ukp: solve.kind = SolveKind::ukp; break;
        default: break;
    }
    // the user's partition is one of all rows; where actuators keep some it is not one of the others
    const bool by_user = formulation_ == Formulation::minimal || formulation_ == Formulation::nonminimal;
    if (by_user && realisation_.ideal.rows.size() == dynamics_.rows.size()) solve.independent = dynamics_.independent;
    return solve;
}

Formulated formulate(const ConstrainedDynamics& dynamics, Formulation formulation, std::span<const double> values,
                     std::span<const std::size_t> dependent, FrozenConditions* conditions) {
    const FormulatedDynamics formulated(dynamics, formulation, conditions);
    PartitionChoice choice = formulated.choose(values, dependent);
    if (!choice.not_applicable.empty()) return {{}, std::move(choice.not_applicable)};
    Formulated out{formulated.solves(choice.partition), ""};
    if (!choice.partition.dependent.empty()) out.chart = formulated.chart(choice.partition);
    out.partition = std::move(choice.partition);
    return out;
}

}  // namespace appell
