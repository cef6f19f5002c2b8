#include "pipeline/pipeline.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include <fmt/format.h>

#include "base/integrators.hpp"
#include "base/number_format.hpp"
#include "dynam/modes.hpp"
#include "pipeline/completion.hpp"
#include "pipeline/doctor_samples.hpp"
#include "pipeline/end_diagnostics.hpp"
#include "pipeline/energy_audit.hpp"
#include "pipeline/extreme_parameters.hpp"
#include "pipeline/findings.hpp"
#include "pipeline/formulation_limits.hpp"
#include "pipeline/lower_motion.hpp"
#include "pipeline/missing_values.hpp"
#include "pipeline/mode_switching.hpp"
#include "pipeline/passed_positions.hpp"
#include "pipeline/smooth_laws.hpp"
#include "pipeline/undetermined_forces.hpp"
#include "report/run_files.hpp"
#include "sim/motion_program.hpp"

namespace appell {

namespace {

void add_limit(Diagnostics& diagnostics, const NodeLimitReached& limit) {
    diagnostics.add({Code::E0012, {}, limit.what(), "", "a smaller model, or a higher limit", "use --limit nodes=N"});
}

}  // namespace

namespace {

// the dynamics to look at is that of the mode the motion starts in
void take_start_mode(Derivation& out) {
    out.whole = std::move(out.dynamics);
    out.dynamics.reset();
    const RunPlan& plan = out.model->run;
    SimulateOptions options;
    options.atol = plan.atol;
    ModeSwitching switching(*out.whole, {.from = plan.from, .solve_entries = out.limits.solve_entries}, options, out.diagnostics);
    if (!switching.begin()) return;
    Result<ConstrainedDynamics> dynamics = in_start_mode(*out.whole, switching.off(), switching.leaves_along());
    out.diagnostics.append(dynamics.diagnostics);
    if (dynamics.ok()) out.dynamics = std::move(*dynamics);
    if (out.dynamics &&
        !fit_shares(*out.dynamics, {.from = plan.from, .solve_entries = out.limits.solve_entries}, true, out.diagnostics))
        out.dynamics.reset();
    out.start_mode = switching.describe();
}

// from the model to its dynamics, in the mode of the start
void derive_model(Derivation& out) {
    Result<ConstrainedDynamics> dynamics = derive_dynamics(out.model);
    out.diagnostics.append(dynamics.diagnostics);
    out.dynamics.reset();
    out.whole.reset();
    if (!dynamics.ok()) return;
    out.dynamics = std::move(*dynamics);
    check_smooth_values(*out.dynamics, out.diagnostics);
    if (out.diagnostics.has_errors()) return;
    if (out.model->switches())
        take_start_mode(out);
    else if (!fit_shares(*out.dynamics, {.from = out.model->run.from, .solve_entries = out.limits.solve_entries}, true,
                         out.diagnostics))
        out.dynamics.reset();
}

// start values on the constraints, as a run would move them; one evaluation of everything
struct StartOfMotion {
    LoweredMotion lowered;
    SimulateSummary summary;

    [[nodiscard]] std::span<const double> state() const { return summary.x_start.empty() ? lowered.x0 : summary.x_start; }
};
std::optional<StartOfMotion> start_of_motion(const Derivation& derivation, Diagnostics& diagnostics) {
    Result<LoweredMotion> lowered = lower_motion(
        *derivation.dynamics, {Formulation::multipliers, derivation.model->run.from, derivation.limits.solve_entries, false});
    diagnostics.append(lowered.diagnostics);
    if (!lowered.ok()) return std::nullopt;
    SimulateOptions options;
    options.t0 = options.t1 = derivation.model->run.from;
    SimulateSummary summary = simulate(lowered->motion, lowered->x0, options, [](double, std::span<const double>) {});
    return StartOfMotion{std::move(*lowered), std::move(summary)};
}

// without what was said already
void append_new(Diagnostics& diagnostics, const Diagnostics& more) {
    const std::vector<Diagnostic> before(diagnostics.all().begin(), diagnostics.all().end());
    for (const Diagnostic& d : more.all())
        if (std::ranges::none_of(before, [&](const Diagnostic& b) { return b.code == d.code && b.message == d.message; }))
            diagnostics.add(d);
}

// Conditions that hide in the constraints become constraints; with them others may show.
void complete(Derivation& out) {
    constexpr int k_most_rounds = 10;
    for (int round = 0; round < k_most_rounds && out.ok() && !out.dynamics->rows.empty(); ++round) {
        Diagnostics said;
        const std::optional<StartOfMotion> start = start_of_motion(out, said);
        if (!start) return;
        const auto hidden = hidden_at(*out.dynamics, start->lowered, out.model->run.from, start->state());
        if (hidden.empty() && out.completed.empty())
            out.diagnostics.add({Code::N0855, out.model->constraints.front().span,
                                 "no condition on positions was found that hides in the constraints: none was added",
                                 "--complete", "", "it looks at the start, at sets of up to 8 rows and 16 speeds"});
        if (hidden.empty()) return;
        CompletedModel completed = with_hidden_positions(*out.dynamics, hidden, out.diagnostics);
        out.model = std::move(completed.model);
        out.completed.insert(out.completed.end(), completed.added.begin(), completed.added.end());
        Diagnostics said_before = std::exchange(out.diagnostics, {});
        derive_model(out);
        append_new(said_before, out.diagnostics);
        out.diagnostics = std::move(said_before);
    }
}

}  // namespace

Derivation derive(const ModelText& text) {
    Derivation out;
    out.limits = text.options.limits;
    try {
        out.timer.start("read");
        Result<Model> model = read_model(text.name, text.text, text.include, text.options, out.sources);
        out.diagnostics.append(model.diagnostics);
        if (!model.ok()) return out;
        out.model = std::make_shared<const Model>(std::move(*model));
        out.timer.start("derive");
        derive_model(out);
        if (text.complete) complete(out);
        out.timer.stop();
        name_extreme_parameters(out.diagnostics, *out.model);
    } catch (const NodeLimitReached& limit) {
        out.timer.stop();
        add_limit(out.diagnostics, limit);
    }
    return out;
}

namespace {

void add_vanishing(Diagnostics& diagnostics, const VanishingVelocities& found) {
    constexpr std::size_t k_most = 8;  // names in one message
    if (found.names.empty()) return;
    std::vector<std::string> parts;
    bool always = false;
    for (const auto& [name, states] : found.names) {
        if (parts.size() == k_most) {
            parts.push_back(fmt::format("{} more", found.names.size() - k_most));
            break;
        }
        always = always || states == found.states;
        parts.push_back(states == found.states ? fmt::format("{} always", name) : fmt::format("{} at {}", name, states));
    }
    diagnostics.add({Code::N0822,
                     {},
                     fmt::format("the constraints can not be kept while everything moves: {} at each of {} random consistent "
                                 "states ({})",
                                 always && found.names.size() == 1 ? found.names.front().first + " vanishes"
                                                                   : std::string("some velocity vanishes"),
                                 found.states, fmt::join(parts, ", ")),
                     "",
                     "",
                     "no row is redundant by that; conditions that ask too much of moving bodies do it"});
}

// forces that are not unique, at the start and at random states
ForcesChosen forces_at(Derivation& derivation, const LoweredMotion& lowered, const SimulateSummary& start,
                       const ConsistentStates& states) {
    constexpr std::size_t k_most_states = 30;
    const ConstrainedDynamics& d = *derivation.dynamics;
    ForceChoices choices(derivation.diagnostics);
    UndeterminedForces forces(d, lowered, nullptr);
    if (forces.too_many() && !start.redundant) return {};
    choices.look(d, forces, derivation.model->run.from, start.x_start);
    const std::size_t parameters = 1 + d.model->coordinates.size() + d.model->speeds.size();
    for (std::size_t i = 0; i < std::min(states.rough.size(), k_most_states); ++i) {
        const std::vector<double>& state = states.rough[i];
        for (std::size_t p = parameters; p < state.size(); ++p) forces.set_parameter(p - parameters, state[p]);
        choices.look(d, forces, state[0], std::span(state).subspan(1));
    }
    return choices.chosen();
}

std::optional<Check> check_dynamics(Derivation& derivation, std::size_t count);

// Counts and findings of the model as it is once what hides in its constraints is stated. What is wrong with it as it was written
// stays among the diagnostics.
std::optional<Check> check_completed(Derivation& derivation, std::size_t count) {
    Derivation completed = derivation;
    completed.diagnostics = {};
    complete(completed);
    if (!completed.ok()) return std::nullopt;
    Diagnostics said = std::move(completed.diagnostics);
    completed.diagnostics = {};
    std::optional<Check> out = check_dynamics(completed, count);
    derivation.diagnostics.append(completed.diagnostics);
    if (!out) return out;
    derivation.model = completed.model;
    derivation.dynamics = std::move(completed.dynamics);
    derivation.whole = std::move(completed.whole);
    derivation.completed = std::move(completed.completed);
    return out;
}

std::optional<Check> check_dynamics(Derivation& derivation, std::size_t count) {
    const std::optional<StartOfMotion> start = start_of_motion(derivation, derivation.diagnostics);
    if (!start) return std::nullopt;
    const LoweredMotion* const lowered = &start->lowered;
    const SimulateSummary& summary = start->summary;
    const Model& m = *derivation.model;
    add_end_diagnostics(derivation.diagnostics, *derivation.dynamics, lowered->motion, summary);
    const auto hidden = hidden_at(*derivation.dynamics, *lowered, m.run.from, start->state());
    add_hidden_positions(derivation.diagnostics, *derivation.dynamics, hidden);
    // at rest nothing says whether they hold: the counts are those of the rows as they are written
    const bool sure = std::ranges::any_of(hidden, [](const HiddenPosition& h) { return !h.may_rest; });
    if (sure && derivation.completed.empty()) return check_completed(derivation, count);
    if (summary.reason == EndReason::rank_loss)
        add_equivalent_rows(derivation.diagnostics, *derivation.dynamics, *lowered, summary.x_start, summary.constraint);
    if (derivation.diagnostics.has_errors()) return std::nullopt;
    Check out;
    out.coordinates = m.coordinates.size();
    out.speeds = m.speeds.size();
    out.quaternions = lowered->motion.quaternions.size();
    for (const ConstraintRow& row : derivation.dynamics->rows)
        ++(row.level == Level::position   ? out.position_rows
           : row.level == Level::velocity ? out.velocity_rows
                                          : out.acceleration_rows);
    out.rank = summary.rank;
    out.freedoms = out.speeds - out.rank;
    out.moved = summary.moved;
    out.start = summary.x_start;
    CertificateOptions certificate;
    certificate.states = count;
    const std::size_t size = size_of(*derivation.dynamics);
    // beyond the largest size states serve the claims alone
    if (size > certificate.largest_dense && m.claims.empty()) certificate.states = 0;
    const ConsistentStates states = random_consistent_states(*derivation.dynamics, *lowered, summary.x_start, certificate);
    if (states.rough.empty() && certificate.states > 0 && !derivation.dynamics->rows.empty()) {
        derivation.diagnostics.add(
            {Code::W1009, m.constraints.front().span,
             fmt::format("none of {} random states near the start could be brought onto the constraints", states.tried), "",
             "constraints that leave a motion, and states beside the start's",
             "no claim, no formulation and no constraint was examined"});
        // they may hold at the start alone: the first steps of the motion show it
        SimulateOptions begin;
        begin.t0 = m.run.from;
        begin.t1 = m.run.from + m.run.duration;
        begin.every = std::abs(m.run.duration);
        begin.max_steps = 100;
        const SimulateSummary motion = simulate(lowered->motion, lowered->x0, begin, [](double, std::span<const double>) {});
        Diagnostics ended;
        if (motion.reason != EndReason::too_many_steps) add_end_diagnostics(ended, *derivation.dynamics, lowered->motion, motion);
        for (const Diagnostic& d : ended.all())
            if (d.severity() == Severity::error) derivation.diagnostics.add(d);
    }
    CertificateOptions own = certificate;
    own.states = std::min<std::size_t>(certificate.states, 30);
    own.vary_parameters = false;
    const Samples varied = doctor_samples(*derivation.dynamics, *lowered, states, summary.x_start);
    const Samples samples =
        varied.size() == 0 || size > k_largest_examined
            ? varied
            : doctor_samples(*derivation.dynamics, *lowered,
                             random_consistent_states(*derivation.dynamics, *lowered, summary.x_start, own), summary.x_start);
    out.diagnosis = diagnose(*derivation.dynamics, samples, varied);
    add_findings(derivation.diagnostics, *derivation.dynamics, out.diagnosis);
    out.vanishing = vanishing_velocities(*derivation.dynamics, *lowered, states);
    add_vanishing(derivation.diagnostics, out.vanishing);
    out.certificate = certify(*derivation.dynamics, *lowered, states, certificate);
    if (out.certificate.enough) add_disagreements(derivation.diagnostics, out.certificate);
    out.claims = test_claims(*derivation.dynamics, *lowered, states, derivation.diagnostics);
    out.forces = forces_at(derivation, *lowered, summary, states);
    return out;
}

}  // namespace

std::optional<Check> check(Derivation& derivation, std::size_t states) {
    if (!derivation.ok()) return std::nullopt;
    try {
        std::optional<Check> found = check_dynamics(derivation, states);
        name_extreme_parameters(derivation.diagnostics, *derivation.model);
        return found;
    } catch (const NodeLimitReached& limit) {
        add_limit(derivation.diagnostics, limit);
        return std::nullopt;
    }
}

std::vector<std::string_view> formulation_names() {
    std::vector<std::string_view> names;
    for (const FormulationInfo& row : all_formulations()) names.push_back(row.name);
    return names;
}

namespace {

// the frame that constraint forces are wanted in; invalid, with the reason among the diagnostics, when there is none
FrameId find_frame(Derivation& d, const std::string& wanted) {
    const Model& m = *d.model;
    std::vector<std::string> names;
    for (const Body& body : m.bodies) {
        if (body.name == wanted) return body.frame;
        names.push_back(body.name);
    }
    for (std::size_t i = 0; i < m.frames.size(); ++i) {
        if (m.frames[i].name == wanted) return FrameId(i);
        names.push_back(m.frames[i].name);
    }
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    const std::string near = nearest_name(wanted, names);
    d.diagnostics.add({Code::E0202,
                       {},
                       fmt::format("the model has no frame or body `{}`", wanted),
                       "--forces " + wanted,
                       fmt::format("one of {}", fmt::join(names, ", ")),
                       near.empty() ? "" : fmt::format("did you mean {}?", near)});
    return {};
}

// absolute tolerances by entry of x, where the model gives some of their own
void add_tolerances(Derivation& derivation, SimulateOptions& options) {
    const Model& m = *derivation.model;
    if (m.run.tolerances.empty()) return;
    const std::size_t nq = m.coordinates.size();
    options.atol_by_entry.assign(nq + m.speeds.size(), options.atol);
    for (const RunPlan::Tolerance& tolerance : m.run.tolerances) {
        using Of = RunPlan::Tolerance::Of;
        std::size_t entry = tolerance.of == Of::coordinate ? tolerance.index : nq + tolerance.index;
        if (tolerance.of == Of::rate) {
            const auto speed = derivation.dynamics->speed_of(m.coordinates[tolerance.index].rate);
            if (!speed) {
                derivation.diagnostics.add({Code::E0815, tolerance.span,
                                            fmt::format("{}' is no speed of the model, so that it has no tolerance of its own",
                                                        m.coordinates[tolerance.index].name),
                                            "", "a coordinate or a speed", "the speeds are those declared with `speed`"});
                continue;
            }
            entry = nq + *speed;
        }
        options.atol_by_entry[entry] = tolerance.value;
    }
}

}  // namespace

namespace {

// A row of a stopped run: what it wrote of it, the rest observed again from the same state. False where the two do not agree.
bool complete_row(const LoweredMotion& lowered, MotionProgram& observe, std::span<const double> written, std::span<double> row) {
    const RowLayout& layout = lowered.layout;
    (void)observe.run(written[0], written.subspan(1 + layout.coordinates));
    const std::span<const double> seen = observe.output("row");
    std::copy(seen.begin(), seen.end(), row.begin());
    for (std::size_t i = 0; i < layout.visible; ++i) {
        const bool carried = i >= layout.works && i <= layout.works + lowered.motion.works.size();
        if (!carried && std::bit_cast<std::uint64_t>(row[i]) != std::bit_cast<std::uint64_t>(written[1 + i]) &&
            !(std::isnan(row[i]) && std::isnan(written[1 + i])))
            return false;
        row[i] = written[1 + i];
    }
    return true;
}

}  // namespace

namespace {

// what a run ends with that leaves a hidden condition
bool may_have_hidden_conditions(EndReason reason) {
    return reason == EndReason::inconsistent_constraints || reason == EndReason::rank_loss ||
           reason == EndReason::projection_failed;
}

// where rows contradict each other a condition may hide in them; it holds at the start, and no longer well where the run ended
void add_hidden_of_run(Diagnostics& diagnostics, const ModeSwitching& switching, double t0, const SimulateSummary& s) {
    const auto at = [&](double t, std::span<const double> x) {
        return hidden_at(switching.dynamics(), switching.lowered(), t, x);
    };
    // from rest the start says that there are two branches
    auto hidden = s.x_start.empty() ? std::vector<HiddenPosition>() : at(t0, s.x_start);
    if (std::ranges::none_of(hidden, &HiddenPosition::may_rest))
        if (auto at_end = at(s.t_end, s.x_end); !at_end.empty()) hidden = std::move(at_end);
    add_hidden_positions(diagnostics, switching.dynamics(), hidden);
}

void add_unlisted_events(Diagnostics& diagnostics, const Run& run) {
    diagnostics.add(
        {Code::W0884,
         {},
         fmt::format("{} events happened; the first {} and the last one are listed", run.event_count, run.events.size() - 1),
         "",
         "",
         run.options.at_events ? "--limit events=N lists more; the table has rows at all of them"
                               : "--limit events=N lists more; `--at-events` writes rows at all of them"});
}

}  // namespace

Run planned_run(const Model& m, const RunOptions& wanted) {
    Run run;
    SimulateOptions& out = run.options;
    out.t0 = wanted.from.value_or(m.run.from);
    out.t1 = wanted.until.value_or(out.t0 + m.run.duration);
    // without a spacing or times: 500 rows
    out.at = wanted.at.empty() ? m.run.at : wanted.at;
    out.at_events = m.run.at_events || wanted.at_events;
    out.through = wanted.through;
    const double apart = 16 * std::numeric_limits<double>::epsilon() * std::max(std::abs(out.t0), std::abs(out.t1));
    const double otherwise =
        out.at.empty() ? std::max(std::abs(out.t1 - out.t0) / 500, apart) : std::numeric_limits<double>::infinity();
    out.every = wanted.every.value_or(m.run.every.value_or(otherwise));
    out.rtol = wanted.rtol.value_or(m.run.rtol);
    out.atol = wanted.atol.value_or(m.run.atol);
    const IntegratorInfo* integrator = find_integrator(wanted.integrator.value_or(m.run.integrator));
    if (integrator != nullptr) out.integrator = integrator->kind;
    // an integrator that replaces the model's takes over of its plan what it can use
    const bool replaced = wanted.integrator && *wanted.integrator != m.run.integrator && integrator != nullptr;
    out.step = wanted.step.value_or(replaced && !integrator->fixed_step ? 0 : m.run.step.value_or(0));
    out.max_step = wanted.max_step.value_or(replaced && integrator->fixed_step ? 0 : m.run.max_step.value_or(0));
    out.first_step = wanted.first_step.value_or(replaced && integrator->fixed_step ? 0 : m.run.first_step.value_or(0));
    const std::string stabilize = wanted.stabilize.value_or(m.run.stabilize);
    if (const DriftControlInfo* drift = find_drift_control(stabilize)) run.drift = drift->control;
    out.project = run.drift != DriftControl::baumgarte && run.drift != DriftControl::none;
    out.correct_once = run.drift == DriftControl::blajer || run.drift == DriftControl::yoon;
    const bool own_gains = !wanted.stabilize || stabilize == m.run.stabilize;
    run.gains = !wanted.gains.empty() ? wanted.gains : own_gains ? m.run.gains : std::vector<double>{};
    out.max_steps = wanted.max_steps;
    out.max_rows = wanted.max_rows;
    return run;
}

std::optional<Run> run(Derivation& derivation, const RunOptions& wanted, const Progress& progress) {
    RunHooks hooks;
    hooks.progress = progress;
    return run(derivation, wanted, hooks);
}

std::optional<Run> run(Derivation& derivation, const RunOptions& wanted, const RunHooks& hooks) {
    if (!derivation.ok()) return std::nullopt;
    const Model& m = *derivation.model;
    Run out = planned_run(m, wanted);
    add_tolerances(derivation, out.options);
    if (check_run_options(derivation.diagnostics, m, wanted, out)) return std::nullopt;
    const FrameId forces_in = wanted.forces ? find_frame(derivation, *wanted.forces) : FrameId{};
    if (wanted.forces && !forces_in.valid()) return std::nullopt;
    try {
        derivation.timer.start("lower");
        const std::string name = wanted.formulation.value_or(m.run.formulation);
        out.formulation = name;
        ModeSwitching switching(derivation.whole ? *derivation.whole : *derivation.dynamics,
                                {.formulation = find_formulation(name).value_or(Formulation::multipliers),
                                 .from = out.options.t0,
                                 .solve_entries = derivation.limits.solve_entries,
                                 .native = wanted.native,
                                 .for_run = true,
                                 .drift = out.drift,
                                 .gains = out.gains,
                                 .step = out.options.step,
                                 .jacobian = info(out.options.integrator).implicit,
                                 .residual = out.options.integrator == IntegratorKind::ida,
                                 .forces_in = forces_in,
                                 .scene = wanted.scene},
                                out.options, derivation.diagnostics);
        switching.keep_events(wanted.max_events);
        if (!switching.begin()) {
            derivation.timer.stop();
            name_extreme_parameters(derivation.diagnostics, m);
            return std::nullopt;
        }
        const LoweredMotion* lowered = &switching.lowered();
        out.start_mode = switching.describe();
        for (const std::size_t i : lowered->independent_coordinates) out.independent_coordinates.push_back(m.coordinates[i].name);
        for (const std::size_t i : lowered->independent_speeds) out.independent_speeds.push_back(m.speeds[i].name);
        if (lowered->motion.reduction) {  // a reduced state can not leave the constraints
            out.options.project = false;
            out.drift = DriftControl::none;
        }
        out.layout = lowered->layout;
        out.columns = lowered->motion.columns;
        out.nodes = lowered->nodes;
        out.instructions = lowered->instructions;
        derivation.timer.start("simulate");
        EnergyAudit audit(out.layout, lowered->motion.works);
        switching.at_steps([&](double t, std::span<const double> x) { audit.step(t, x); });
        ColumnAudit columns(out.layout.visible);
        out.curves = plot_curves(out.layout, lowered->motion.works.size());
        if (wanted.scene) out.report_rows.emplace(out.layout, lowered->motion.works.size());
        if (hooks.rows) hooks.rows->begin(out);
        std::vector<double> row(out.columns.size());
        std::size_t looked_at = 0;
        const auto look_at_forces = [&](double t) {
            // at each of the first rows, then at fewer and fewer
            constexpr std::size_t k_each = 256;
            const std::size_t every = std::bit_floor(looked_at++ / k_each + 1);
            if (looked_at % every == 0) switching.look_at_forces(t, std::span(row).subspan(out.layout.coordinates));
        };
        const auto take = [&](double t) {
            audit.note(t, row);
            columns.note(t, row);
            for (RunCurve& curve : out.curves) curve.points.add(curve.x == RowLayout::k_time ? t : row[curve.x], row[curve.y]);
            if (out.report_rows) out.report_rows->add(t, row);
            if (hooks.rows) {
                hooks.rows->row(t, row);
            } else {
                out.table.push_back(t);
                out.table.insert(out.table.end(), row.begin(), row.end());
            }
        };
        if (const std::optional<Checkpoint>& from = hooks.resumable.from) {
            const auto count = from->values().find("summary.rows");
            const double rows = count != from->values().end() && count->second.size() == 1 ? count->second[0] : 0;
            MotionProgram observe(lowered->motion, lowered->motion.observe);
            std::vector<double> written(1 + out.layout.visible);
            for (double i = 0; i < rows; ++i) {
                const bool there = hooks.written_row(written);
                // the rank at the first row limits that at all rows, as in the run that wrote them
                if (there && i == 0) {
                    const EvalReport first = observe.run(written[0], std::span(written).subspan(1 + out.layout.coordinates));
                    if (first.redundant) observe.limit_rank(first.rank);
                }
                if (there && complete_row(*lowered, observe, written, row)) {
                    take(written[0]);
                    continue;
                }
                derivation.timer.stop();
                derivation.diagnostics.add({Code::E0824,
                                            {},
                                            "the rows that were written are not those of this run",
                                            fmt::format("row {} is missing or another one", i + 1),
                                            fmt::format("{} rows", rows),
                                            "run the model again"});
                return std::nullopt;
            }
        }
        out.summary = simulate(
            switching, std::vector<double>(lowered->x0), out.options,
            [&](double t, std::span<const double> observed) {
                std::copy(observed.begin(), observed.end(), row.begin());
                look_at_forces(t);
                take(t);
            },
            hooks.progress, hooks.resumable);
        derivation.timer.stop();
        out.energy = audit.balance();
        out.not_finite = columns.found(out.columns);
        out.events = switching.events();
        out.event_count = switching.event_count();
        if (out.events.size() < out.event_count) add_unlisted_events(derivation.diagnostics, out);
        out.law_switches = switching.law_switches();
        out.guard_remarks = switching.remarks();
        out.forces = switching.forces_chosen();
        out.completed = derivation.completed;
        const Formulation formulation = find_formulation(name).value_or(Formulation::multipliers);
        SimulateSummary ended = out.summary;
        if (auto limit = formulation_limit(switching.dynamics(), switching.lowered(), formulation, out.summary,
                                           {.from = out.options.t0, .solve_entries = derivation.limits.solve_entries})) {
            derivation.diagnostics.add(std::move(*limit));
            ended.reason = EndReason::finished;  // all else that is to be said of it
        }
        add_end_diagnostics(derivation.diagnostics, switching.dynamics(), switching.motion(), ended, switching.failure(ended));
        if (may_have_hidden_conditions(out.summary.reason))
            add_hidden_of_run(derivation.diagnostics, switching, out.options.t0, out.summary);
        if (!m.switches()) {
            const bool redundant = out.summary.rank < derivation.dynamics->rows.size();
            if (out.summary.reason == EndReason::rank_loss)
                add_equivalent_rows(derivation.diagnostics, *derivation.dynamics, *lowered, out.summary.x_start,
                                    out.summary.constraint);
            else if (out.summary.reason == EndReason::step_too_small &&
                     redundant)  // a row no other can be told from at the start
                add_equivalent_rows(derivation.diagnostics, *derivation.dynamics, *lowered, out.summary.x_start, std::nullopt);
        }
        add_passed_positions(derivation.diagnostics, switching.dynamics(), switching.lowered(), out.summary);
        std::optional<MotionProgram> rate;
        EnergyAudit::Powers powers;
        if (!switching.motion().works.empty())
            powers = [&](double t, std::span<const double> x) -> std::span<const double> {
                if (!rate) rate.emplace(switching.motion(), switching.motion().rate);
                (void)rate->run(t, x);
                return rate->output("power");
            };
        audit.judge(
            derivation.diagnostics, m, out.options, out.summary,
            [&](double t, std::span<const double> x) { return switching.energy(t, x); }, powers);
        add_not_finite(derivation.diagnostics, out.not_finite, out.summary.rows);
        name_extreme_parameters(derivation.diagnostics, m);
        if (!std::isfinite(out.energy.start + out.energy.end + out.energy.largest)) refuse_overflow(derivation.diagnostics, m);
    } catch (const NodeLimitReached& limit) {
        derivation.timer.stop();
        add_limit(derivation.diagnostics, limit);
        return std::nullopt;
    }
    out.phases = derivation.timer.phases();
    return out;
}

}  // namespace appell
