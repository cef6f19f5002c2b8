#include "base/integrators.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace appell {

namespace {

// by kind
constexpr IntegratorInfo k_integrators[] = {
    {IntegratorKind::dopri5, "dopri5", 5, 4, false, false, "Dormand and Prince's pair of orders 5 and 4; the default"},
    {IntegratorKind::dop853, "dop853", 8, 7, false, false,
     "Dormand and Prince's method of order 8 with Hairer's error estimate; fewer steps at tight tolerances"},
    {IntegratorKind::rk4, "rk4", 4, 4, true, false, "the classical Runge-Kutta method"},
    {IntegratorKind::merson, "merson", 4, 4, true, false, "the method of Kutta and Merson, of five stages"},
    {IntegratorKind::cvode, "cvode", 0, 0, false, true, "CVODE's backward differentiation, orders 1 to 5; for stiff equations"},
    {IntegratorKind::adams, "adams", 0, 0, false, true,
     "CVODE's Adams methods, orders 1 to 12; for smooth motion over a long time"},
    {IntegratorKind::arkode, "arkode", 4, 3, false, true,
     "ARKODE's diagonally implicit Runge-Kutta method; for stiff equations with many corrections"},
    {IntegratorKind::ida, "ida", 0, 0, false, true,
     "IDA's backward differentiation, orders 1 to 5, of the equations as they stand, with multipliers among the unknowns; for "
     "stiff equations"},
};

}  // namespace

std::span<const IntegratorInfo> integrator_table() { return k_integrators; }

const IntegratorInfo& info(IntegratorKind kind) { return k_integrators[static_cast<std::size_t>(kind)]; }

const IntegratorInfo* find_integrator(std::string_view name) {
    const auto found =
        std::find_if(std::begin(k_integrators), std::end(k_integrators), [&](const auto& row) { return row.name == name; });
    return found == std::end(k_integrators) ? nullptr : found;
}

std::vector<std::string> integrator_names() {
    std::vector<std::string> names;
    for (const IntegratorInfo& row : k_integrators) names.emplace_back(row.name);
    return names;
}

std::string fixed_step_names() {
    std::vector<std::string_view> names;
    for (const IntegratorInfo& row : k_integrators)
        if (row.fixed_step) names.push_back(row.name);
    return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace appell
