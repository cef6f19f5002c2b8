// What is said where something has no value: a root of something negative, a logarithm, a quotient by zero. A guard is said once,
// with its time, and the others are watched as before; where the motion depends on it the run ends. Columns are counted.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/diagnostics.hpp"
#include "pipeline/mode.hpp"
#include "report/run_record.hpp"

namespace appell {

// "event e", "the gap of contact c"; `text`: of a condition
[[nodiscard]] std::string name_of_guard(const SwitchedSystem& system, const GuardMeaning& guard, const std::string& text);

// A warning for an event, an error for what the motion depends on. `text`: of a condition.
[[nodiscard]] Diagnostic guard_without_value(const SwitchedSystem& system, const GuardMeaning& guard, const std::string& text,
                                             double t);

// Whether the rate of the motion at a state is another one on the other side of a condition.
[[nodiscard]] bool rate_depends_on_side(const Motion& motion, std::size_t condition, double t, std::span<const double> x);

// Counts, along the rows of a run, the visible columns that are not finite.
class ColumnAudit {
public:
    explicit ColumnAudit(std::size_t visible) : counts_(visible), firsts_(visible) {}
    void note(double t, std::span<const double> row);
    [[nodiscard]] std::vector<NotFinite> found(std::span<const std::string> columns) const;

private:
    std::vector<std::size_t> counts_;
    std::vector<double> firsts_;
};
// a warning where there are any
void add_not_finite(Diagnostics& diagnostics, std::span<const NotFinite> columns, std::size_t rows);

}  // namespace appell
