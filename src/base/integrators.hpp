// The integrators there are: one table, from which the language, the command line, the messages and the factory take theirs.
// It stands here because `lang` must know the names and `sim` the methods, and neither knows the other.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace appell {

enum class IntegratorKind : std::uint8_t { dopri5, dop853, rk4, merson, cvode, adams, arkode, ida };

struct IntegratorInfo {
    IntegratorKind kind;
    std::string_view name;
    int order;        // of the error over a given time, in powers of the step; 0: it changes from step to step
    int dense_order;  // of its continuous extension, as a method: the error inside a step is one power higher
    bool fixed_step;  // takes `step`, and no tolerances
    bool implicit;    // solves for its states, with the jacobian of the rate
    std::string_view description;
};

[[nodiscard]] std::span<const IntegratorInfo> integrator_table();
[[nodiscard]] const IntegratorInfo& info(IntegratorKind kind);
[[nodiscard]] const IntegratorInfo* find_integrator(std::string_view name);  // null: there is none of this name
[[nodiscard]] std::vector<std::string> integrator_names();
[[nodiscard]] std::string fixed_step_names();  // for messages: those that take `step`

}  // namespace appell
