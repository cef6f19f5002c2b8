#include "pipeline/linearize.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "expr/evaluate.hpp"
#include "pipeline/end_diagnostics.hpp"
#include "pipeline/lower_motion.hpp"

namespace appell {

namespace {

// a name of the state with its value at a point
std::optional<Held> state_entry(const ConstrainedDynamics& d, std::string_view name, std::span<const Digits50> point) {
    const Model& m = *d.model;
    const std::size_t nq = m.coordinates.size();
    for (std::uint32_t j = 0; j < m.speeds.size(); ++j)
        if (m.speeds[j].name == name) return Held{Held::Kind::speed, j, point[1 + nq + j]};
    for (std::uint32_t i = 0; i < nq; ++i) {
        const Coordinate& c = m.coordinates[i];
        if (c.name == name) return Held{Held::Kind::coordinate, i, point[1 + i]};
        if (c.name + "'" != name) continue;
        if (const auto speed = d.speed_of(c.rate)) return Held{Held::Kind::speed, *speed, point[1 + nq + *speed]};
        const auto rates = d.kinematics->independent_rates();
        if (std::find(rates.begin(), rates.end(), c.rate) == rates.end()) return std::nullopt;  // of a quaternion
        std::vector<Digits50> values(d.graph().symbol_count(), Digits50(0));
        const std::vector<SymbolId> symbols = program_inputs(m);
        for (std::size_t k = 0; k < symbols.size(); ++k) values[symbols[k].index()] = point[k];
        const NodeId rate = d.kinematics->coordinate_rates()[i];
        return Held{Held::Kind::rate, i, evaluate<Digits50>(d.graph(), std::span(&rate, 1), values).front()};
    }
    return std::nullopt;
}

// an entry of a quaternion has no variation of its own
bool holdable(const Model& m, const Held& held) {
    if (held.kind == Held::Kind::speed) return true;
    for (const Frame& frame : m.frames)
        if (const auto* rotation = std::get_if<QuaternionRotation>(&frame.orientation))
            if (std::find(rotation->coordinates.begin(), rotation->coordinates.end(), held.index) != rotation->coordinates.end())
                return false;
    return true;
}

std::vector<std::string> state_names(const Model& m) {
    std::vector<std::string> out;
    for (const Coordinate& c : m.coordinates) {
        out.push_back(c.name);
        out.push_back(c.name + "'");
    }
    for (const Speed& s : m.speeds) out.push_back(s.name);
    return out;
}

void unknown_name(Diagnostics& diagnostics, const std::string& option, const std::string& name, std::vector<std::string> names,
                  const std::string& expected) {
    const std::string near = nearest_name(name, names);
    diagnostics.add({Code::E1106,
                     {},
                     fmt::format("--{} {}: the model has nothing of this name to {}", option, name, option),
                     "",
                     expected,
                     near.empty() ? "" : fmt::format("did you mean {}?", near)});
}

std::optional<Linearization> linearize_dynamics(Derivation& derivation, const LinearizeRequest& wanted) {
    const std::optional<std::vector<Digits50>> start = start_point(derivation);
    if (!start) return std::nullopt;
    const ConstrainedDynamics& d = *derivation.dynamics;
    const Model& m = *d.model;
    Diagnostics& diagnostics = derivation.diagnostics;
    TrimRequest request{wanted.trim, {}};
    for (const std::string& name : wanted.hold) {
        const auto held = state_entry(d, name, *start);
        if (held && holdable(m, *held))
            request.held.push_back(*held);
        else
            unknown_name(diagnostics, "hold", name, state_names(m), "coordinates, speeds or rates; no entries of a quaternion");
    }
    std::optional<SweepRange> range;
    if (wanted.sweep) {
        range = SweepRange{wanted.sweep->name, 0, {}, wanted.sweep->from, wanted.sweep->to, wanted.sweep->count};
        const std::size_t before = 1 + m.coordinates.size() + m.speeds.size();
        std::vector<std::string> names = state_names(m);
        for (std::size_t i = 0; i < m.parameters.size(); ++i) {
            names.push_back(m.parameters[i].name);
            if (names.back() == range->name) range->place = before + i;
        }
        for (std::size_t i = 0; i < m.inputs.size(); ++i) {
            names.push_back(m.inputs[i].name);
            if (names.back() == range->name) range->place = before + m.parameters.size() + i;
        }
        if (range->place == 0) range->held = state_entry(d, range->name, *start);
        if (range->place == 0 && !(range->held && holdable(m, *range->held)))
            unknown_name(diagnostics, "sweep", range->name, names, "a parameter, an input, a coordinate, a speed or a rate");
    }
    if (diagnostics.has_errors()) return std::nullopt;

    Linearizer linearizer(d, {wanted.open, 1});
    Result<LinearSystem> found = linearizer.at(*start, request);
    diagnostics.append(found.diagnostics);
    if (!found.ok()) return std::nullopt;
    Linearization out{std::move(*found), {}, std::nullopt};
    out.symbols = symbolic_linearization(d, out.system);
    if (out.system.frozen_time)
        diagnostics.add({Code::N1107,
                         {},
                         fmt::format("the equations depend on time, which is held at t = {} s", m.run.from),
                         "",
                         "",
                         "the eigenvalues are those of the system as it is at this instant"});
    if (range) {
        request.kind = out.system.kind;
        if (range->held)  // in place of the start value that the user may have held
            std::erase_if(request.held,
                          [&](const Held& h) { return h.kind == range->held->kind && h.index == range->held->index; });
        out.sweep = sweep_eigenvalues(linearizer, out.system, request, *range);
        const auto missing = static_cast<std::size_t>(
            std::count_if(out.sweep->points.begin(), out.sweep->points.end(), [](const SweepPoint& p) { return !p.found; }));
        if (missing > 0)
            diagnostics.add({Code::W1108,
                             {},
                             fmt::format("{} of {} points of the sweep have no eigenvalues", missing, out.sweep->points.size()),
                             fmt::format("{}", fmt::join(out.sweep->gaps, "; ")),
                             "",
                             "sweep a shorter range, or start where the state exists"});
    }
    return out;
}

}  // namespace

std::optional<std::vector<Digits50>> start_point(Derivation& derivation) {
    const Model& m = *derivation.model;
    Result<LoweredMotion> lowered =
        lower_motion(*derivation.dynamics, {Formulation::multipliers, m.run.from, derivation.limits.solve_entries, true});
    derivation.diagnostics.append(lowered.diagnostics);
    if (!lowered.ok()) return std::nullopt;
    // a run of no length moves the start values onto the constraints, as a run would
    SimulateOptions options;
    options.t0 = options.t1 = m.run.from;
    const SimulateSummary summary = simulate(lowered->motion, lowered->x0, options, [](double, std::span<const double>) {});
    add_end_diagnostics(derivation.diagnostics, *derivation.dynamics, lowered->motion, summary);
    if (derivation.diagnostics.has_errors()) return std::nullopt;
    std::vector<Digits50> out{Digits50(m.run.from)};
    out.insert(out.end(), summary.x_start.begin(), summary.x_start.end());
    out.insert(out.end(), lowered->motion.parameters.begin(), lowered->motion.parameters.end() - 1);  // the last is a length
    return out;
}

std::optional<Linearization> linearize(Derivation& derivation, const LinearizeRequest& request) {
    if (!derivation.ok()) return std::nullopt;
    try {
        return linearize_dynamics(derivation, request);
    } catch (const NodeLimitReached& limit) {
        derivation.diagnostics.add(
            {Code::E0012, {}, limit.what(), "", "a smaller model, or a higher limit", "use --limit nodes=N"});
        return std::nullopt;
    }
}

}  // namespace appell
