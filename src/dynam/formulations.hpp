// The formulations by name: what a run can integrate and what `check` compares. Each is a function of the constrained dynamics to
// solves in order, the last of which give u' and the multipliers; laws and actuators come before those (realised.hpp). Where
// their sources' algebra differs, so does the code (tape/dense_solve.cpp, gibbs_appell.cpp, voronec.cpp, chaplygin.cpp).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dynam/constrained_dynamics.hpp"
#include "dynam/rate_equations.hpp"
#include "dynam/realised.hpp"
#include "tape/program.hpp"

namespace appell {

enum class Formulation { multipliers, minimal, nonminimal, udwadia_kalaba, ukp, gibbs_appell, voronec, chaplygin };

struct FormulationInfo {
    Formulation formulation;
    std::string_view name;
    std::string_view source;  // document and equations
    bool partitioned;         // its equations are made for a partition of the rates, chosen at a state
};

[[nodiscard]] std::span<const FormulationInfo> all_formulations();
[[nodiscard]] std::optional<Formulation> find_formulation(std::string_view name);
[[nodiscard]] std::string_view name_of(Formulation formulation);

// One formulation of one system, made ready once; its solves are asked for once, or for each partition of the rates.
class FormulatedDynamics {
public:
    // `conditions`: those that are frozen where its solves are lowered
    FormulatedDynamics(const ConstrainedDynamics& dynamics, Formulation formulation, FrozenConditions* conditions = nullptr);
    FormulatedDynamics(const FormulatedDynamics&) = delete;
    FormulatedDynamics& operator=(const FormulatedDynamics&) = delete;

    [[nodiscard]] const std::string& not_applicable() const { return not_applicable_; }  // why; empty when it is
    [[nodiscard]] bool partitioned() const { return partitioned_; }
    [[nodiscard]] bool given() const { return !dependent_.empty(); }  // the partition is the user's
    // The partition at a state; `values` are those of t, q, u, parameters and inputs, by symbol. `dependent`: coordinates whose
    // rates shall depend on the others; empty: the user's independent speeds where those are rates, else by conditioning.
    [[nodiscard]] PartitionChoice choose(std::span<const double> values, std::span<const std::size_t> dependent = {}) const;
    // how well the dependent rates are determined there, against the best partition; 0 for not at all
    [[nodiscard]] double conditioning(std::span<const double> values, const Partition& partition) const {
        return partitioned_ ? appell::conditioning(rates_, values, partition) : 1;
    }
    [[nodiscard]] std::vector<ConstrainedSolve> solves(const Partition& partition = {}) const;
    [[nodiscard]] ChartRows chart(const Partition& partition) const { return chart_rows(rates_, partition); }

private:
    [[nodiscard]] ConstrainedSolve form_of_rows() const;

    const ConstrainedDynamics& dynamics_;
    Formulation formulation_;
    Realisation realisation_;
    bool partitioned_ = false;
    std::string not_applicable_;
    RateForm rates_;                       // of the partitioned ones
    std::vector<std::size_t> candidates_;  // coordinates that may depend; empty: all
    std::size_t general_rank_ = 0;         // of Chaplygin's rows at coordinates in general
    std::vector<std::size_t> dependent_;   // those that shall, by the user's choice; empty: none was made
};

struct Formulated {
    std::vector<ConstrainedSolve> solves;
    std::string not_applicable;
    // of those made for a partition of the rates where some depend: what it is, and what tells how long it serves
    Partition partition = {};
    ChartRows chart = {};
};

// the solves of a formulation, with the partition of the rates, if it needs one, chosen at the state
[[nodiscard]] Formulated formulate(const ConstrainedDynamics& dynamics, Formulation formulation, std::span<const double> values,
                                   std::span<const std::size_t> dependent = {}, FrozenConditions* conditions = nullptr);

}  // namespace appell
