#include "pipeline/formulation_limits.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/number_format.hpp"
#include "pipeline/start_problems.hpp"

namespace appell {

namespace {

// A partition that has lost so much since the start is at the edge of its chart.
constexpr double k_edge = 1e-3;

bool starts_by_multipliers(const ConstrainedDynamics& d, const SimulateSummary& s, LowerMotionOptions options) {
    options.formulation = Formulation::multipliers;
    options.for_run = options.works = options.scene = options.jacobian = options.residual = options.native = false;
    options.forces_in = {};
    options.conditions = nullptr;
    const Result<LoweredMotion> lowered = lower_motion(d, options);
    if (!lowered.ok()) return false;
    SimulateOptions start;
    start.t0 = start.t1 = s.t_start;
    return simulate(lowered->motion, lowered->x0, start, [](double, std::span<const double>) {}).reason == EndReason::finished;
}

std::optional<Diagnostic> singular_mass(const ConstrainedDynamics& d, Formulation formulation, const SimulateSummary& s,
                                        const LowerMotionOptions& options) {
    if (s.steps > 0 || formulation == Formulation::multipliers || d.rows.empty() || s.unbound) return std::nullopt;
    if (!starts_by_multipliers(d, s, options)) return std::nullopt;
    const Model& m = *d.model;
    const std::size_t speed = std::min(s.singular_column, m.speeds.size() - 1);
    return Diagnostic{
        Code::E0820,
        m.run.span,
        fmt::format("formulation {} does not apply to this model", name_of(formulation)),
        fmt::format("the mass matrix is singular at the start: nothing with mass resists {} by itself, and only the "
                    "constraints determine its rate",
                    m.speeds[speed].name),
        "a regular mass matrix, which this formulation inverts",
        "`multipliers`, `minimal` and `nonminimal` do without; `appell check` lists what applies"};
}

// the equations lost what they take as given
bool lost_partition(const ConstrainedDynamics& d, const LoweredMotion& lowered, Formulation formulation,
                    const SimulateSummary& s) {
    if (s.steps == 0 || s.x_start.empty() || s.x_end.empty()) return false;
    const FormulatedDynamics formulated(d, formulation);
    const auto share = [&](double t, std::span<const double> x) {
        return formulated.conditioning(values_at(d, lowered.motion, t, x), lowered.partition);
    };
    return share(s.t_end, s.x_end) < k_edge * share(s.t_start, s.x_start);
}

std::optional<Diagnostic> edge_of_chart(const ConstrainedDynamics& d, const LoweredMotion& lowered, Formulation formulation,
                                        const SimulateSummary& s) {
    if (lowered.partition.dependent.empty()) return std::nullopt;
    if (s.reason != EndReason::edge_of_chart && !lost_partition(d, lowered, formulation, s)) return std::nullopt;
    const Model& m = *d.model;
    std::vector<std::string> dependent, others, state;
    for (std::size_t i = 0; i < m.coordinates.size(); ++i) {
        const bool depends = std::ranges::binary_search(lowered.partition.dependent, i);
        (depends ? dependent : others).push_back(m.coordinates[i].name + "'");
        if (state.size() < 8) state.push_back(fmt::format("{} = {}", m.coordinates[i].name, short_number(s.x_end[i])));
    }
    return Diagnostic{Code::E0863,
                      m.run.span,
                      fmt::format("formulation {} ends at t = {}, at the edge of its chart: {} no longer follow{} from {}",
                                  name_of(formulation), short_number(s.t_end), fmt::join(dependent, ", "),
                                  dependent.size() == 1 ? "s" : "", fmt::join(others, ", ")),
                      fmt::format("{}", fmt::join(state, ", ")),
                      fmt::format("a motion on which the constraints give {} as functions of {}", fmt::join(dependent, ", "),
                                  fmt::join(others, ", ")),
                      "the motion itself goes on: `multipliers` has no chart, and `minimal` changes its own; or choose other "
                      "rates with `independent`; the rows up to there are kept"};
}

}  // namespace

std::optional<Diagnostic> formulation_limit(const ConstrainedDynamics& d, const LoweredMotion& lowered, Formulation formulation,
                                            const SimulateSummary& s, const LowerMotionOptions& options) {
    switch (s.reason) {
        case EndReason::singular_mass:
            if (auto found = singular_mass(d, formulation, s, options)) return found;
            [[fallthrough]];
        case EndReason::step_too_small:
        case EndReason::not_finite:
        case EndReason::edge_of_chart: return edge_of_chart(d, lowered, formulation, s);
        default: return std::nullopt;
    }
}

}  // namespace appell
