#include "pipeline/missing_values.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include <fmt/format.h>

#include "base/number_format.hpp"
#include "sim/motion_program.hpp"

namespace appell {

namespace {

constexpr const char* k_where_to_look = "look for a root or a logarithm of something negative, or a division by zero, in it";

}  // namespace

std::string name_of_guard(const SwitchedSystem& system, const GuardMeaning& guard, const std::string& text) {
    using What = GuardMeaning::What;
    const Model& m = system.model;
    const auto contact = [&] { return m.constraints[system.contacts[guard.index]].name; };
    const auto rubbing = [&] { return m.constraints[m.frictions[guard.index].constraint].name; };
    switch (guard.what) {
        case What::closes: return fmt::format("the gap of contact {}", contact());
        case What::opens: return fmt::format("the force of contact {}", contact());
        case What::stops: return fmt::format("the slip of friction of {}", rubbing());
        case What::slips: return fmt::format("the bound of friction of {}", rubbing());
        case What::condition: return fmt::format("the condition of a law, {}", text);
        case What::event: return fmt::format("event {}", m.events[guard.index].name);
    }
    return "";
}

Diagnostic guard_without_value(const SwitchedSystem& system, const GuardMeaning& guard, const std::string& text, double t) {
    using What = GuardMeaning::What;
    const Model& m = system.model;
    const std::string what = fmt::format("{}{} has no value at t = {}", name_of_guard(system, guard, text),
                                         guard.what == What::condition ? "," : "", short_number(t));
    if (guard.what != What::event) {
        Span span;
        if (guard.what == What::closes || guard.what == What::opens) span = m.constraints[system.contacts[guard.index]].span;
        if (guard.what == What::stops || guard.what == What::slips) span = m.frictions[guard.index].span;
        return {Code::E0848,
                span,
                what,
                "a number that is not finite",
                "a number wherever the motion goes, which depends on it",
                fmt::format("{}; the rows up to there are kept", k_where_to_look)};
    }
    return {Code::W0850,
            m.events[guard.index].span,
            what,
            "a number that is not finite",
            "a number as long as the event is watched",
            fmt::format("{}; the event cannot happen while it has none, all else is watched as before", k_where_to_look)};
}

bool rate_depends_on_side(const Motion& motion, std::size_t condition, double t, std::span<const double> x) {
    MotionProgram rate(motion, motion.rate);
    std::vector<double> under[2];
    for (const int side : {0, 1}) {
        rate.set_parameter(motion.first_side + condition, side == 0 ? -1 : 1);
        (void)rate.run(t, x);
        for (const char* output : {"qd", "ud"}) {
            const std::span<const double> values = rate.output(output);
            under[side].insert(under[side].end(), values.begin(), values.end());
        }
    }
    return !std::ranges::equal(under[0], under[1], [](double a, double b) {
        return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b) || a == b;
    });
}

void ColumnAudit::note(double t, std::span<const double> row) {
    for (std::size_t i = 0; i < counts_.size(); ++i)
        if (!std::isfinite(row[i]) && counts_[i]++ == 0) firsts_[i] = t;
}

std::vector<NotFinite> ColumnAudit::found(std::span<const std::string> columns) const {
    std::vector<NotFinite> out;
    for (std::size_t i = 0; i < counts_.size(); ++i)
        if (counts_[i] > 0) out.push_back({columns[i], counts_[i], firsts_[i]});
    return out;
}

void add_not_finite(Diagnostics& diagnostics, std::span<const NotFinite> columns, std::size_t rows) {
    constexpr std::size_t k_most = 6;
    std::vector<std::string> parts;
    std::size_t more = 0;
    for (const NotFinite& c : columns) {
        if (parts.size() == k_most)
            ++more;
        else
            parts.push_back(fmt::format("{} in {} of {} rows, first at t = {}", c.column, c.rows, rows, short_number(c.first)));
    }
    if (parts.empty()) return;
    if (more > 0) parts.push_back(fmt::format("{} more columns", more));
    diagnostics.add({Code::W0849,
                     {},
                     fmt::format("columns of the trajectory are not finite: {}", fmt::join(parts, "; ")),
                     "",
                     "finite numbers",
                     "look for divisions by zero, roots and logarithms there; the motion does not depend on outputs"});
}

}  // namespace appell
