// `appell linearize`: the linear equations about an equilibrium or a steady motion, and a sweep of their eigenvalues.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "doctor/eigenvalue_sweep.hpp"
#include "doctor/linearization.hpp"
#include "doctor/symbolic_linearization.hpp"
#include "pipeline/pipeline.hpp"

namespace appell {

struct SweepRequest {
    std::string name;  // parameter, input, coordinate, speed or rate
    double from = 0, to = 1;
    std::size_t count = 51;
};

struct LinearizeRequest {
    TrimKind trim = TrimKind::none;
    std::vector<std::string> hold;  // coordinates, speeds, rates: at their start values
    bool open = false;              // servo-constraints let go, their actuators inputs
    std::optional<SweepRequest> sweep;
};

struct Linearization {
    LinearSystem system;
    SymbolicLinearization symbols;
    std::optional<EigenvalueSweep> sweep;
};

// No value where there is none; the reasons are among the derivation's diagnostics.
[[nodiscard]] std::optional<Linearization> linearize(Derivation& derivation, const LinearizeRequest& request);

// t, q, u, parameters, inputs at the model's start, on the constraints
[[nodiscard]] std::optional<std::vector<Digits50>> start_point(Derivation& derivation);

}  // namespace appell
