#include "dynam/formulations.hpp"

#include <array>

#include "dynam/gibbs_appell.hpp"
#include "dynam/multipliers.hpp"
#include "dynam/realised.hpp"

namespace appell {

namespace {

constexpr auto k_formulations = std::to_array<FormulationInfo>({
    {Formulation::multipliers, "multipliers", "000 eqs. 5-7", false},
    {Formulation::minimal, "minimal", "000 eqs. 8-18", false},
    {Formulation::nonminimal, "nonminimal", "003 eqs. 20-50", false},
    {Formulation::udwadia_kalaba, "udwadia-kalaba", "001 eqs. 47-49", true},
    {Formulation::ukp, "ukp", "001 eqs. 15-40", true},
    {Formulation::gibbs_appell, "gibbs-appell", "002 eqs. 72-75", false},
});

}  // namespace

std::span<const FormulationInfo> all_formulations() { return k_formulations; }

std::optional<Formulation> find_formulation(std::string_view name) {
    for (const FormulationInfo& row : k_formulations)
        if (row.name == name) return row.formulation;
    return std::nullopt;
}

std::vector<ConstrainedSolve> formulate(const ConstrainedDynamics& dynamics, Formulation formulation) {
    Realisation realisation = realise(dynamics);
    std::vector<ConstrainedSolve> solves = std::move(realisation.before);
    if (formulation == Formulation::gibbs_appell) {
        solves.push_back(gibbs_appell_form(realisation.ideal));
        return solves;
    }
    ConstrainedSolve solve = multipliers_form(realisation.ideal);
    switch (formulation) {
        case Formulation::minimal: solve.kind = SolveKind::minimal; break;
        case Formulation::nonminimal: solve.kind = SolveKind::nonminimal; break;
        case Formulation::udwadia_kalaba: solve.kind = SolveKind::udwadia_kalaba; break;
        case Formulation::ukp: solve.kind = SolveKind::ukp; break;
        default: break;
    }
    // the user's partition is one of all rows; where actuators keep some it is not one of the others
    const bool partition = formulation == Formulation::minimal || formulation == Formulation::nonminimal;
    if (partition && realisation.ideal.rows.size() == dynamics.rows.size()) solve.independent = dynamics.independent;
    solves.push_back(std::move(solve));
    return solves;
}

}  // namespace appell
