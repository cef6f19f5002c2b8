#include "pipeline/passed_positions.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/number_format.hpp"
#include "sim/motion_program.hpp"

namespace appell {

namespace {

// A quarter of the time to the singular position makes multipliers that grow like its inverse four times as large.
constexpr double k_grows = 2;

// columns of multipliers that grow beyond bounds toward a singular position
std::vector<std::string> growing_multipliers(const LoweredMotion& lowered, const PassedPosition& passed) {
    const RowLayout& layout = lowered.layout;
    MotionProgram observe(lowered.motion, lowered.motion.observe);
    const OutputRange row = lowered.motion.observe.output("row");
    std::array<std::vector<double>, 4> values;
    const std::size_t n = lowered.motion.states();
    for (std::size_t k = 0; k < values.size(); ++k) {
        (void)observe.run(passed.times[k], std::span(passed.states).subspan(k * n, n));
        const std::span<const double> all = observe.output(row);
        values[k].assign(all.begin() + static_cast<std::ptrdiff_t>(layout.multipliers),
                         all.begin() + static_cast<std::ptrdiff_t>(layout.residuals));
    }
    double largest = 0;
    for (const std::vector<double>& at : values)
        for (const double value : at) largest = std::max(largest, std::abs(value));
    std::vector<std::string> out;
    for (std::size_t i = 0; i < values[0].size(); ++i) {
        const auto grows = [&](std::size_t far, std::size_t near) {
            return std::abs(values[near][i]) > k_grows * std::abs(values[far][i]) && std::abs(values[near][i]) > 1e-6 * largest;
        };
        if (grows(0, 1) && grows(2, 3)) out.push_back(lowered.motion.columns[layout.multipliers + i]);
    }
    return out;
}

}  // namespace

void add_passed_positions(Diagnostics& diagnostics, const ConstrainedDynamics& d, const LoweredMotion& lowered,
                          const SimulateSummary& s) {
    const Model& m = *d.model;
    if (!s.passed.empty()) {
        constexpr std::size_t k_most = 6;
        std::vector<std::string> times;
        for (const PassedPosition& passed : s.passed) {
            if (times.size() == k_most) break;
            times.push_back(fmt::format("t = {} ({})", short_number(passed.t), m.constraints[passed.constraint].name));
        }
        if (s.passed.size() > k_most) times.push_back(fmt::format("{} more", s.passed.size() - k_most));
        const std::size_t count = s.passed.size();
        Diagnostic note{Code::N0865,
                        m.constraints[s.passed.front().constraint].span,
                        fmt::format("the run went through {} singular position{}, along the branch that keeps the velocities: {}",
                                    count, count == 1 ? "" : "s", fmt::join(times, ", ")),
                        "",
                        "",
                        ""};
        if (!m.switches() && !s.passed.front().times.empty()) {
            const std::vector<std::string> growing = growing_multipliers(lowered, s.passed.front());
            note.found = growing.empty() ? std::string("multipliers stay finite there")
                                         : fmt::format("{} grow{} beyond all bounds there, and have the other sign behind",
                                                       fmt::join(growing, ", "), growing.size() == 1 ? "s" : "");
        }
        diagnostics.add(std::move(note));
    }
    if (s.no_way_through)
        diagnostics.add({Code::E0862, m.run.span,
                         fmt::format("no smooth motion leads through the position at t = {}", short_number(s.t_end)), "",
                         "a singular position that the constraints on positions pass at some speed, on one branch of their own",
                         "velocities that vanish there, branches that touch, corners of a constraint, and positions that are "
                         "not singular have none; the rows up to there are kept"});
}

}  // namespace appell
