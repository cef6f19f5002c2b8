#include "pipeline/lower_motion.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_set>

#include <fmt/format.h>

#include "dynam/articulated_inertia.hpp"
#include "dynam/baumgarte.hpp"
#include "dynam/energy_ledger.hpp"
#include "dynam/quantities.hpp"
#include "dynam/shares.hpp"
#include "dynam/speed_partition.hpp"
#include "dynam/state_partition.hpp"
#include "expr/dependence.hpp"
#include "jit/native_code.hpp"
#include "pipeline/force_columns.hpp"
#include "pipeline/law_programs.hpp"
#include "pipeline/motion_lowering.hpp"
#include "pipeline/scene_columns.hpp"
#include "sim/project.hpp"
#include "tape/closed_solve.hpp"
#include "tape/constrained_solve.hpp"

namespace appell {

std::pair<int, int> path_plane(const Graph& g, const std::vector<Vec3>& paths) {
    std::array<bool, 3> moves{};
    for (const Vec3& p : paths)
        for (std::size_t axis = 0; axis < 3; ++axis)
            moves[axis] =
                moves[axis] || depends_on(g, p.c[axis], SymbolKind::coordinate) || depends_on(g, p.c[axis], SymbolKind::time);
    if (!moves[1] && moves[2]) return {0, 2};
    if (!moves[0] && moves[1] && moves[2]) return {1, 2};
    return {0, 1};
}

std::vector<SymbolId> program_inputs(const Model& model) {
    std::vector<SymbolId> inputs{model.time};
    for (const Coordinate& c : model.coordinates) inputs.push_back(c.q);
    for (const Speed& s : model.speeds) inputs.push_back(s.u);
    for (const Parameter& p : model.parameters) inputs.push_back(p.symbol);
    for (const Input& i : model.inputs) inputs.push_back(i.symbol);
    return inputs;
}

namespace {

// values by symbol, with those of a state
std::vector<double> with_state(const Model& m, std::span<const double> x, std::vector<double> values) {
    for (std::size_t i = 0; i < m.coordinates.size(); ++i) values[m.coordinates[i].q.index()] = x[i];
    for (std::size_t i = 0; i < m.speeds.size(); ++i) values[m.speeds[i].u.index()] = x[m.coordinates.size() + i];
    return values;
}

// The start values by symbol, moved onto the constraints as the run will move them; none where it will not get that far.
std::optional<std::vector<double>> values_on_constraints(const Model& m, const Motion& motion, std::vector<double> x, double t,
                                                         const std::vector<double>& values) {
    Projector position(motion, motion.for_start_position(), Projector::Part::coordinates);
    Projector velocity(motion, motion.for_start_velocity(), Projector::Part::speeds);
    for (Projector* projector : {&position, &velocity})
        if (projector->project(t, x, k_project_start).status != ProjectStatus::converged) return std::nullopt;
    return with_state(m, x, values);
}

// Speeds of one chain of bodies under constraint rows up to which M is faster than the passes over the tree, by measurement
// (decision 035).
constexpr std::size_t k_longest_chain = 10;

// rows that reach few speeds each are worked on there only, but have their place in full
constexpr std::size_t k_sparse = 64;

bool too_many_entries(const ConstrainedDynamics& d, std::size_t entries, std::size_t most, const LowerMotionOptions& options,
                      Diagnostics& diagnostics) {
    if (entries <= most) return false;
    diagnostics.add({Code::E0715,
                     {},
                     fmt::format("{} constraint rows on {} speeds are too many for formulation {}", d.rows.size(),
                                 d.model->speeds.size(), name_of(options.formulation)),
                     fmt::format("{} entries", entries),
                     fmt::format("at most {}", most),
                     fmt::format("make the family smaller, or raise the limit with --limit solve_entries={}",
                                 entries / (most / std::max<std::size_t>(options.solve_entries, 1)) + 1)});
    return true;
}

// what the solves of a program work on, with those of the sparse ones left out or not
std::size_t entries_of(const Program& program, bool sparse) {
    std::size_t most = 0;
    for (const SolveBlock& block : program.solves)
        most = std::max(most, (sparse && block.sparse) || block.rows == 0 ? 0
                              : block.kind == SolveKind::multipliers      ? RowColumns(block).entries
                                                                          : block.size * (block.size + block.rows));
    return most;
}

// What the last solve of a dense formulation will work on, known before anything is made for it; 0 where it is not.
std::size_t entries_of_dense(const ConstrainedDynamics& d, Formulation formulation) {
    switch (formulation) {
        case Formulation::multipliers:
        case Formulation::voronec:
        case Formulation::chaplygin: return 0;
        default: break;
    }
    if (!d.shared.empty()) return 0;  // its rows are chosen later
    const std::size_t size = d.model->speeds.size();
    const auto rows = static_cast<std::size_t>(
        std::count_if(d.rows.begin(), d.rows.end(), [](const ConstraintRow& row) { return !row.by_actuators; }));
    return rows == 0 ? 0 : size * (size + rows);
}

// the system with Baumgarte's damping; its gains are parameters behind all others
ConstrainedDynamics damp(const ConstrainedDynamics& d, const LowerMotionOptions& options, Motion& motion,
                         MotionLowering& lowering) {
    Graph& g = d.graph();
    std::array<double, 3> gains{};
    if (options.gains.size() == 1)
        gains = {2 * options.gains[0], -options.gains[0] * options.gains[0], options.gains[0]};
    else if (options.gains.size() == 2)
        gains = {options.gains[0], options.gains[1], options.gains[0] / 2};
    else if (options.step > 0)
        gains = gains_of_step(options.step);
    else
        motion.step_gains = motion.parameters.size();
    std::vector<SymbolId> symbols;
    for (const char* name : {"gain of rates", "gain of positions", "gain of velocities"})
        symbols.push_back(g.add_symbol(name, SymbolKind::other));
    motion.parameters.insert(motion.parameters.end(), gains.begin(), gains.end());
    lowering.add_inputs(symbols);
    return damped(d, {g.symbol_node(symbols[0]), g.symbol_node(symbols[1]), g.symbol_node(symbols[2])});
}

}  // namespace

double rest_speed(const Model& m, double atol) {
    double fastest = 0;
    for (const Speed& u : m.speeds) fastest = std::max(fastest, std::abs(u.start));
    for (const StartRate& rate : m.start_rates) fastest = std::max(fastest, std::abs(rate.value));
    return std::max(1e-3 * atol, 1e-12 * fastest);
}

Result<LoweredMotion> lower_motion(const ConstrainedDynamics& d, const LowerMotionOptions& options) {
    Result<LoweredMotion> result;
    Diagnostics& diagnostics = result.diagnostics;
    const Model& m = *d.model;
    Graph& g = d.graph();
    Kinematics& kin = *d.kinematics;
    LoweredMotion out;

    // a run by explicit steps takes rows as sparse as they are; checks with fifty digits, the other formulations and the
    // Jacobians of implicit integrators are dense
    const bool sparse = options.for_run && options.formulation == Formulation::multipliers && !options.jacobian;
    if (!sparse && too_many_entries(d, d.rows.size() * m.speeds.size(), k_sparse * options.solve_entries, options, diagnostics))
        return result;
    if (too_many_entries(d, entries_of_dense(d, options.formulation), options.solve_entries, options, diagnostics)) return result;
    if (options.for_run)
        for (const Input& input : m.inputs)
            if (!input.value)
                diagnostics.add({Code::E0707, input.span, fmt::format("input {} has no value", input.name), "",
                                 "a number for the run",
                                 fmt::format("write `input {} = 0`, or use --set {}=VALUE", input.name, input.name)});
    std::optional<Start> found = find_start(d, m, options.from, diagnostics);
    if (!found) return result;
    const std::vector<double> start = std::move(found->values);
    out.x0 = std::move(found->numbers.x0);
    if (!options.state.empty()) out.x0 = options.state;
    const SymbolId length_symbol = g.add_symbol("length scale", SymbolKind::other);

    // --- the observed row
    Quantities observable(d, diagnostics);
    std::vector<NodeId> row;
    std::vector<std::string>& columns = out.motion.columns;
    const auto column = [&](std::string name, NodeId value) {
        columns.push_back(std::move(name));
        row.push_back(value);
        return row.size() - 1;
    };
    RowLayout& layout = out.layout;
    layout.coordinates = row.size();
    for (const Coordinate& c : m.coordinates) column(c.name, g.symbol_node(c.q));
    layout.speeds = row.size();
    for (const Speed& s : m.speeds) column(s.name, g.symbol_node(s.u));
    layout.multipliers = row.size();
    // sticking shows as friction, not as a constraint
    std::vector<ConstraintRow> rows = options.whole ? options.whole->rows : d.rows;
    std::erase_if(rows, [&](const ConstraintRow& r) { return m.constraints[r.constraint].stick_of.has_value(); });
    for (const ConstraintRow& r : rows)
        if (!r.by_actuators) column(g.symbol(r.multiplier).name, observable.scalar(g.symbol_node(r.multiplier), {}));
    for (const SymbolId magnitude : d.actuators) column(g.symbol(magnitude).name, g.symbol_node(magnitude));
    layout.residuals = row.size();
    for (const ConstraintRow& r : rows)
        if (r.level == Level::position) column(fmt::format("residual({})", r.name), r.position);
    for (const ConstraintRow& r : rows)
        if (r.level != Level::acceleration)
            column(fmt::format("residual({}){}", r.name, r.level == Level::position ? "'" : ""), r.velocity);
    layout.kinetic = column("kinetic", d.kinetic_energy);
    layout.potential = column("potential", d.potential_energy);
    layout.energy = column("energy", g.add(d.kinetic_energy, d.potential_energy));
    // the works stand behind the state, and the balance needs the start: both are put in as the run goes
    Quantities acting(d, diagnostics);
    std::vector<NodeId> powers;
    layout.works = out.motion.work_columns = row.size();
    if (options.for_run && options.works) {
        // a mode has the entries of the whole system, some of them with nothing to enter
        const std::vector<LedgerEntry> entries = energy_ledger(d, acting);
        std::vector<std::string> names;
        if (options.whole && !d.off.empty()) {
            Diagnostics said;
            Quantities all(*options.whole, said);
            for (const LedgerEntry& entry : energy_ledger(*options.whole, all)) names.push_back(entry.name);
        } else {
            for (const LedgerEntry& entry : entries) names.push_back(entry.name);
        }
        for (const LedgerEntry& entry : entries)
            APPELL_ASSERT(std::find(names.begin(), names.end(), entry.name) != names.end(),
                          "the whole has every entry of a mode");
        const bool laws_jump =
            options.conditions != nullptr && switches_may_jump(options.whole ? *options.whole : d, *options.conditions);
        if (m.switches() || laws_jump) names.emplace_back(k_jumps);
        for (std::string& name : names) {
            column(fmt::format("work({})", name), g.constant(0));
            const auto found = std::find_if(entries.begin(), entries.end(), [&](const LedgerEntry& e) { return e.name == name; });
            powers.push_back(found == entries.end() ? g.constant(0) : found->power);
            out.motion.works.push_back(std::move(name));
        }
        column("balance", g.constant(0));
    }
    layout.outputs = row.size();
    std::unordered_set<std::string> taken(columns.begin(), columns.end());
    for (const Output& o : m.outputs) {
        if (!taken.insert(o.name).second)
            diagnostics.add({Code::E0203, o.span,
                             fmt::format("an output can not be called {}: the table has that column already", o.name), "",
                             "another name", ""});
        column(o.name, observable.scalar(o.value, o.span));
    }
    layout.visible = row.size();
    if (options.forces_in.valid()) {
        layout.forces_frame = m.frame(options.forces_in).name;
        for (const ActingForce& f : forces_for_columns(d, options.whole ? *options.whole : d)) {
            const std::string name = force_name(m, f);
            if (f.kind == ActingForce::Kind::generalized) {
                column(name, observable.scalar(f.value, {}));
                layout.force_units.emplace_back();  // energy over whatever the speed's unit times a second is
                continue;
            }
            for (std::size_t axis = 0; axis < 3; ++axis) {
                column(fmt::format("{}.{}", name, "xyz"[axis]),
                       observable.scalar(g.dot(f.value, m.frame(options.forces_in).basis[axis]), {}));
                layout.force_units.emplace_back(f.kind == ActingForce::Kind::force ? "N" : "N m");
            }
        }
    }
    layout.forces_end = row.size();
    for (const Plot& plot : m.plots) {
        std::vector<Vec3> paths;
        for (const PlotTrace& trace : plot.traces)
            if (trace.path.valid()) paths.push_back(kin.frames().express(kin.position(trace.path), Model::newtonian()));
        RowLayout::PlotColumns where;
        std::tie(where.across, where.up) = plot.plane ? std::pair((*plot.plane)[0], (*plot.plane)[1]) : path_plane(g, paths);
        const std::size_t x = plot.x.valid() ? column("", observable.scalar(plot.x, plot.span)) : RowLayout::k_time;
        for (const PlotTrace& trace : plot.traces) {
            if (trace.path.valid()) {
                const Vec3 p = kin.frames().express(kin.position(trace.path), Model::newtonian());
                const std::size_t across = column("", p.c[static_cast<std::size_t>(where.across)]);
                where.traces.push_back({across, column("", p.c[static_cast<std::size_t>(where.up)])});
            } else {
                where.traces.push_back({x, column("", observable.scalar(trace.y, plot.span))});
            }
        }
        layout.plots.push_back(std::move(where));
    }
    if (options.scene)
        layout.scene = scene_columns(d, options.whole ? *options.whole : d, observable, start,
                                     [&](NodeId value) { return column("", value); });

    if (diagnostics.has_errors()) return result;
    if (options.for_run) {
        // every number of a run must have a value, the outputs' as well
        std::vector<NodeId> used(row);
        used.insert(used.end(), powers.begin(), powers.end());
        const std::vector<NodeId> moving = d.inertia->values();
        used.insert(used.end(), moving.begin(), moving.end());
        used.insert(used.end(), d.b.begin(), d.b.end());
        used.insert(used.end(), d.C.begin(), d.C.end());
        for (const SparseEntry& e : d.D.entries) used.push_back(e.value);
        for (const SparseEntry& e : d.A.entries) used.push_back(e.value);
        for (const FunctionId f : opaque_functions_in(g, used))
            diagnostics.add(
                {Code::E0706,
                 {},
                 fmt::format("function {} has no expression, so that a run has no values for it", g.function(f).name),
                 "",
                 "a function given by an expression",
                 fmt::format("write function {}({}) = ...", g.function(f).name, fmt::join(g.function(f).arguments, ", "))});
        if (diagnostics.has_errors()) return result;
    }

    // --- programs
    Motion& motion = out.motion;
    motion.coordinates = m.coordinates.size();
    motion.speeds = m.speeds.size();
    motion.velocity_rows = static_cast<std::size_t>(
        std::count_if(d.rows.begin(), d.rows.end(), [](const ConstraintRow& r) { return r.level != Level::acceleration; }));
    motion.position_rows = static_cast<std::size_t>(
        std::count_if(d.rows.begin(), d.rows.end(), [](const ConstraintRow& r) { return r.level == Level::position; }));
    for (const ConstraintRow& r : d.rows)
        if (r.level != Level::acceleration) motion.velocity_constraints.push_back(r.constraint);
    motion.rate_constraints = solved_constraints(d);
    motion.parameters = std::move(found->numbers.parameters);
    out.first_slip = motion.parameters.size();
    motion.parameters.resize(out.first_slip + SlipSymbols::k_count * d.slips.size(), 0.0);
    for (std::size_t i = 0; i < d.slips.size(); ++i) motion.parameters[out.first_slip + SlipSymbols::k_count * i] = 1;
    for (const Friction& friction : m.frictions)
        motion.repeats_rows = motion.repeats_rows || (!d.off.empty() && !d.off[friction.stick]);
    for (std::size_t i = 0; i < m.coordinates.size(); ++i)
        if (m.coordinates[i].fixed) motion.held.push_back(i);
    for (std::size_t i = 0; i < m.speeds.size(); ++i)
        if (m.speeds[i].fixed) motion.held.push_back(m.coordinates.size() + i);
    MotionLowering lowering(d, length_symbol, options.rest_speed > 0 ? options.rest_speed : rest_speed(m, m.run.atol));
    out.length_symbol = length_symbol;
    std::optional<ConstrainedDynamics> with_damping;
    if (options.drift == DriftControl::baumgarte) with_damping = damp(d, options, motion, lowering);
    motion.length = motion.parameters[out.first_slip - 1];
    out.first_side = motion.first_side = motion.parameters.size();
    if (options.conditions != nullptr) {
        options.conditions->find(motion_expressions(d));
        lowering.freeze(*options.conditions);
        out.sides = motion.sides = options.conditions->size();
        motion.parameters.resize(out.first_side + out.sides, 0.0);
    }
    const bool euclidean = options.drift == DriftControl::yoon;
    // A tree by articulated inertias, where the elimination of M is too long to be written out. With constraint rows the solve is
    // one of numbers, and M is as long as its longest chain: other systems may have many speeds and few in one place. The rows
    // are not sparse any more.
    const bool tree_serves = sparse && !options.residual && d.C.empty() && d.actuators.empty() && d.added_force.empty() &&
                             d.rows.size() * m.speeds.size() <= options.solve_entries;
    const bool long_anyway = m.speeds.size() > k_most_closed_unknowns;
    std::optional<ArticulatedTree> tree;
    if (tree_serves && (!d.rows.empty() || long_anyway))
        tree = ArticulatedTree::of(d, with_state(m, out.x0, start), d.rows.empty() ? 0 : k_longest_chain);
    if (tree) lowering.use(&*tree);
    const auto fixed = [](const auto& value) { return value.fixed; };
    const auto lower_corrections = [&] {
        motion.position = lowering.position(false, euclidean);
        motion.velocity = lowering.velocity(false, euclidean);
        // start values are moved in the metric of mass, whatever is done later
        if (euclidean || std::any_of(m.coordinates.begin(), m.coordinates.end(), fixed))
            motion.start_position = lowering.position(true);
        if (euclidean || std::any_of(m.speeds.begin(), m.speeds.end(), fixed) ||
            std::any_of(m.start_rates.begin(), m.start_rates.end(), fixed))
            motion.start_velocity = lowering.velocity(true);
    };
    lower_corrections();
    if (too_many_entries(d, entries_of(motion.velocity, sparse), options.solve_entries, options, diagnostics)) return result;
    for (const Frame& frame : m.frames)
        if (const auto* q = std::get_if<QuaternionRotation>(&frame.orientation)) motion.quaternions.push_back(q->coordinates);
    // `minimal`: what is integrated is decided where the run starts
    auto at_start = values_on_constraints(m, motion, out.x0, options.from, start);
    for (const SlipSymbols& slip : d.slips) {
        if (!at_start) break;
        const std::size_t first = slip.direction.front().index();
        if (at_start->size() <= first) at_start->resize(first + 1, 0.0);
        (*at_start)[first] = 1;  // as their parameters are so far: no row of friction has the weight zero
    }
    if (tree && !(at_start && tree->has_inertia(*at_start))) {
        // M says which rate has none, or that the rows give it one
        tree.reset();
        lowering.use(nullptr);
        lower_corrections();
        if (too_many_entries(d, entries_of(motion.velocity, sparse), options.solve_entries, options, diagnostics)) return result;
        at_start = values_on_constraints(m, motion, out.x0, options.from, start);
    }
    if (at_start) out.start_values = *at_start;
    // in a mode the user's independent speeds are those that fit it
    std::optional<ConstrainedDynamics> partitioned, fitted;
    if (at_start && !d.off.empty() && !d.independent.empty()) {
        FittedChoice choice = fitted_choice(d, *at_start);
        out.leaves_out_named_speeds = choice.leaves_out;
        for (const std::uint32_t j : choice.independent) out.independent_in_mode.push_back(j);
        fitted.emplace(d);
        for (ConstrainedDynamics* const of : {&*fitted, with_damping ? &*with_damping : nullptr}) {
            if (of == nullptr) continue;
            of->independent = choice.independent;
            of->dependent = choice.dependent;
        }
    }
    const ConstrainedDynamics& chosen = fitted ? *fitted : d;
    Result<StatePartition> partition;
    if (options.formulation == Formulation::minimal && at_start) {
        partition = choose_state_partition(chosen, *at_start);
        diagnostics.append(partition.diagnostics);
        if (!partition.ok()) return result;
        for (const std::uint32_t i : partition->coordinates) out.independent_coordinates.push_back(i);
        for (const std::uint32_t j : partition->speeds) out.independent_speeds.push_back(j);
        if (motion.velocity_rows != 0) motion.reduction = lowering.reduction(*partition);
        // the accelerations by the same partition, where all rows take part in it
        if (motion.velocity_rows == d.rows.size()) partitioned.emplace(d).independent = partition->speeds;
    }
    const ConstrainedDynamics& of_run = partitioned ? *partitioned : with_damping ? *with_damping : chosen;
    const std::vector<double>& at = at_start ? *at_start : start;
    Formulated equations;
    if (tree) equations.solves = articulated_rates(of_run, *tree);
    if (equations.solves.empty()) {
        equations = formulate(of_run, options.formulation, at, {}, options.conditions);
        if (!equations.not_applicable.empty()) {
            diagnostics.add({Code::E0820, m.run.span,
                             fmt::format("formulation {} does not apply to this model", name_of(options.formulation)),
                             equations.not_applicable, "a formulation that does",
                             "`appell check` lists them; `multipliers` always applies"});
            return result;
        }
        if (options.for_run)
            for (ConstrainedSolve& solve : equations.solves) add_closed_form(g, solve);
        if (tree_serves && d.rows.empty() && !long_anyway && equations.solves.back().closed.empty())
            tree = ArticulatedTree::of(d, at);
        if (tree) equations.solves = articulated_rates(of_run, *tree);
    }
    if (!equations.partition.dependent.empty()) {
        motion.chart = Chart{lowering.chart(equations.chart), equations.partition.dependent};
        out.partition = std::move(equations.partition);
    }
    motion.rate = lowering.rate(equations.solves, powers, acting.solves());
    if (too_many_entries(d, entries_of(motion.rate, sparse), options.solve_entries, options, diagnostics)) return result;
    if (options.jacobian && !motion.reduction) motion.jacobian = lowering.jacobian_of(with_damping ? *with_damping : d);
    if (options.residual && !motion.reduction)
        motion.residual = lowering.residual_of(with_damping ? *with_damping : d, powers, acting.solves());
    motion.observe = lowering.observe(equations.solves, std::move(row), observable.solves());
    if (options.for_run && motion.reduction)
        motion.reduction->written = lowering.written_rate(*partition, equations.solves, powers, acting.solves(), at);
    if (options.for_run && options.native) {
        for (Program* program : {&motion.rate, &motion.position, &motion.velocity, &motion.observe}) add_native_code(*program);
        if (motion.reduction)
            for (DependentRows* rows : {&motion.reduction->position, &motion.reduction->velocity}) add_native_code(rows->program);
        if (motion.reduction && motion.reduction->written)
            for (Program* program : {&motion.reduction->written->program, &motion.reduction->written->stage})
                add_native_code(*program);
    }
    out.inputs = lowering.inputs();
    out.equations = equations.solves;
    out.nodes = g.size();
    out.instructions = motion.rate.instructions.size();
    result.value = std::move(out);
    return result;
}

}  // namespace appell
