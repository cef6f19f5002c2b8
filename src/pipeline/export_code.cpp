#include "pipeline/export_code.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "dynam/acting_forces.hpp"
#include "dynam/quantities.hpp"
#include "expr/dependence.hpp"
#include "expr/print.hpp"
#include "pipeline/lower_motion.hpp"
#include "pipeline/smooth_laws.hpp"
#include "pipeline/value_jumps.hpp"

namespace appell {

namespace {

// Contacts, sticking friction and constraints that come and go have several sets of equations; one is exported.
bool refuse_modes(const Model& m, Diagnostics& diagnostics) {
    const auto refuse = [&](Span span, std::string what) {
        diagnostics.add({Code::E0861, span, fmt::format("{} can not be exported", what), "",
                         "one set of equations for the whole motion",
                         "take it out of the model, or simulate here with `appell run`"});
    };
    for (const Friction& friction : m.frictions) refuse(friction.span, "friction that sticks and slides");
    for (const Constraint& c : m.constraints) {
        if (c.stick_of) continue;
        if (c.unilateral)
            refuse(c.span, fmt::format("{}, a contact that opens and closes,", c.name));
        else if (c.off_at_start)
            refuse(c.span, fmt::format("{}, a constraint that is off at the start,", c.name));
    }
    for (const Event& event : m.events)
        if (!event.drops.empty() || !event.enforces.empty())
            refuse(event.span, fmt::format("event {}, which drops or enforces constraints,", event.name));
    return diagnostics.has_errors();
}

bool refuse_opaque(Graph& g, std::span<const NodeId> used, Diagnostics& diagnostics) {
    for (const FunctionId f : opaque_functions_in(g, used))
        diagnostics.add(
            {Code::E0706,
             {},
             fmt::format("function {} has no expression, so that exported code has no values for it", g.function(f).name),
             "",
             "a function given by an expression",
             fmt::format("write function {}({}) = ...", g.function(f).name, fmt::join(g.function(f).arguments, ", "))});
    return diagnostics.has_errors();
}

// speeds and rows up to which there is a jacobian, whose memory is some five times their square
constexpr std::size_t k_most_in_jacobian = 2000;
// exported arrays have indices that are ints, those of M as well
constexpr std::size_t k_most_entries = 0x7fffffff;

// The derivatives of the rate are those of `multipliers`, whatever the formulation.
Result<LoweredMotion> lower_with_jacobian(const ConstrainedDynamics& d, LowerMotionOptions options) {
    options.formulation = Formulation::multipliers;
    options.jacobian = true;
    options.for_run = false;
    return lower_motion(d, options);
}

std::string unit_of(const std::optional<Dimension>& dimension) { return dimension ? si_text(*dimension) : ""; }

class Exporting {
public:
    Exporting(Derivation& derivation, const ExportRequest& request, const LoweredMotion& lowered, const RateJacobian* jacobian)
        : d_(*derivation.dynamics),
          m_(*d_.model),
          g_(d_.graph()),
          diagnostics_(derivation.diagnostics),
          lowered_(lowered),
          jacobian_(jacobian),
          observable_(d_, diagnostics_) {
        out_.name = m_.name;
        out_.title = m_.title;
        out_.formulation = request.formulation.value_or(m_.run.formulation);
        out_.version = request.version;
    }

    std::optional<ExportedModel> run() {
        name_states();
        name_parameters();
        std::vector<NodeId> rates, multipliers, forces, outputs, events, sets;
        for (const NodeId rate : d_.kinematics->coordinate_rates()) rates.push_back(rate);
        for (const Speed& s : m_.speeds) rates.push_back(g_.symbol_node(s.rate));
        add_multipliers(multipliers);
        add_forces(forces);
        for (const Output& o : m_.outputs) {
            out_.outputs.push_back({o.name, unit_of(o.dimension)});
            outputs.push_back(observable_.scalar(o.value, o.span));
        }
        add_events(events, sets);
        add_switches(events);
        std::vector<NodeId> residuals = add_rows();
        std::vector<NodeId> mass, rows;
        for (const SparseEntry& e : d_.M().entries) {
            out_.mass_places.emplace_back(e.row, e.column);
            mass.push_back(e.value);
        }
        for (const SparseEntry& e : d_.A.entries) {
            out_.row_places.emplace_back(e.row, e.column);
            rows.push_back(e.value);
        }
        rows.insert(rows.end(), d_.b.begin(), d_.b.end());
        const std::vector<NodeId> energies{d_.kinetic_energy, d_.potential_energy};
        if (diagnostics_.has_errors()) return std::nullopt;

        std::vector<NodeId> used;
        for (const std::vector<NodeId>* list : std::initializer_list<const std::vector<NodeId>*>{
                 &rates, &multipliers, &forces, &outputs, &events, &sets, &residuals, &mass, &rows, &energies, &d_.f(), &d_.C})
            used.insert(used.end(), list->begin(), list->end());
        for (const SparseEntry& e : d_.D.entries) used.push_back(e.value);
        if (refuse_opaque(g_, used, diagnostics_)) return std::nullopt;

        out_.rate = program(rates, true);
        out_.multiplier_values = program(multipliers, true);
        out_.force_values = program(forces, true);
        out_.output_values = program(outputs, true);
        out_.event_values = program(events, true);
        if (!sets.empty()) out_.event_sets = program(sets, true);
        out_.mass = program(mass, false);
        out_.rows_matrix = program(rows, false);
        out_.residual_values = program(residuals, false);
        out_.energies = program(energies, false);
        add_motion();
        return std::move(out_);
    }

private:
    // with the solves only where something needs their unknowns: a program without them never fails
    [[nodiscard]] Program program(const std::vector<NodeId>& values, bool solved) const {
        ProgramSpec spec{lowered_.inputs, {}, {{"y", values}}};
        if (solved && needs_solves(values)) {
            spec.solves = observable_.solves();
            spec.solves.insert(spec.solves.end(), lowered_.equations.begin(), lowered_.equations.end());
        }
        return lower_program(g_, spec);
    }
    [[nodiscard]] bool needs_solves(const std::vector<NodeId>& values) const {
        std::vector<SymbolId> given = lowered_.inputs;
        std::sort(given.begin(), given.end());
        for (const SymbolId s : symbols_in(g_, values))
            if (!std::binary_search(given.begin(), given.end(), s)) return true;
        return false;
    }

    void name_states() {
        out_.coordinates = m_.coordinates.size();
        out_.speeds = m_.speeds.size();
        const std::vector<double>& x0 = lowered_.x0;
        for (const Coordinate& c : m_.coordinates)
            out_.states.push_back({c.name, unit_of(c.dimension), x0[out_.states.size()], c.fixed ? "held at the start" : ""});
        for (const Speed& s : m_.speeds)
            out_.states.push_back({s.name, unit_of(s.dimension), x0[out_.states.size()], s.fixed ? "held at the start" : ""});
        out_.held = lowered_.motion.held;
        out_.quaternions = lowered_.motion.quaternions;
    }

    void name_parameters() {
        const std::vector<double>& values = lowered_.motion.parameters;
        for (const Parameter& p : m_.parameters)
            out_.parameters.push_back({p.name, unit_of(p.dimension), values[out_.parameters.size()]});
        for (const Input& i : m_.inputs)
            out_.parameters.push_back({i.name, unit_of(i.dimension), values[out_.parameters.size()],
                                       i.value ? "input" : "input, without a value in the model"});
        out_.parameters.push_back({"length_scale", "m", values[out_.parameters.size()],
                                   "size of the system; residuals of positions are compared with it"});
        if (!m_.inputs.empty())
            out_.notes.emplace_back(
                "Inputs are parameters that the caller changes as time goes on. They hold their values within a step.");
    }

    void add_multipliers(std::vector<NodeId>& values) {
        for (const ConstraintRow& r : d_.rows)
            if (!r.by_actuators) {
                out_.multipliers.push_back({g_.symbol(r.multiplier).name, ""});
                values.push_back(observable_.scalar(g_.symbol_node(r.multiplier), {}));
            }
        for (const SymbolId magnitude : d_.actuators) {
            out_.multipliers.push_back({g_.symbol(magnitude).name, ""});
            values.push_back(g_.symbol_node(magnitude));
        }
    }

    void add_forces(std::vector<NodeId>& values) {
        for (const ActingForce& f : acting_forces(d_)) {
            if (f.member == ForceMember::law) continue;  // the nonideal member contains it
            const std::string name = force_name(m_, f);
            if (f.kind == ActingForce::Kind::generalized) {
                out_.forces.push_back({name, ""});
                values.push_back(observable_.scalar(f.value, {}));
                continue;
            }
            for (std::size_t axis = 0; axis < 3; ++axis) {
                out_.forces.push_back(
                    {fmt::format("{}.{}", name, "xyz"[axis]), f.kind == ActingForce::Kind::force ? "N" : "N m"});
                values.push_back(observable_.scalar(g_.dot(f.value, m_.frame(Model::newtonian()).basis[axis]), {}));
            }
        }
    }

    void add_events(std::vector<NodeId>& values, std::vector<NodeId>& sets) {
        for (const Event& event : m_.events) {
            ExportedEvent e{event.name, event.text, event.passage, event.stop, {}};
            values.push_back(observable_.scalar(event.value, event.span));
            for (const Event::Set& set : event.sets) {
                e.sets.push_back(entry_of(set.symbol));
                sets.push_back(observable_.scalar(set.value, event.span));
            }
            out_.events.push_back(std::move(e));
        }
    }

    // The code evaluates conditions as they are written. Where a law jumps with one an integrator has to begin anew, which makes
    // it an event that changes nothing. Velocities and positions that jump are beyond what such code can do.
    void add_switches(std::vector<NodeId>& values) {
        FrozenConditions conditions(g_);
        find_law_conditions(d_, conditions, diagnostics_);
        std::vector<NodeId> moving{d_.kinetic_energy};
        for (const ConstraintRow& row : d_.rows)
            for (const NodeId phi : {row.position, row.velocity})
                if (phi.valid()) moving.push_back(phi);
        for (const Condition& c : conditions.all()) {
            const std::string where = fmt::format("{} = {}", to_text(g_, c.first), to_text(g_, c.second));
            ValueJumps::Jump jump{};
            if (ValueJumps(m_).look(c.first, c.second, moving, jump) == ValueJumps::Verdict::jumps)
                diagnostics_.add({Code::E0861,
                                  {},
                                  fmt::format("a velocity or a position that jumps where {} can not be exported", where),
                                  "",
                                  "velocities that change without jumps",
                                  "let it change in a time, or simulate here with `appell run`"});
            if (!c.jumps) continue;
            out_.events.push_back({"switch: " + where, where, 0, false, {}});
            values.push_back(g_.sub(c.first, c.second));
        }
        if (std::ranges::any_of(conditions.all(), &Condition::jumps))
            out_.notes.push_back(
                "Laws of this model jump where conditions switch. Each condition is an event that changes nothing: an integrator "
                "ends a "
                "step\nthere and begins anew. The driver does so; it looks for events at the ends of its steps, and a step that "
                "ends at "
                "a jump\nis of first order.");
    }

    // a coordinate, a speed, or a rate that is a speed
    [[nodiscard]] std::size_t entry_of(SymbolId symbol) const {
        for (std::size_t i = 0; i < m_.coordinates.size(); ++i)
            if (m_.coordinates[i].q == symbol) return i;
        const auto speed = d_.speed_of(symbol);
        APPELL_ASSERT(speed.has_value(), "an event sets coordinates and speeds");
        return m_.coordinates.size() + *speed;
    }

    // the rows of A, and their residuals by level
    std::vector<NodeId> add_rows() {
        std::vector<NodeId> values;
        for (const ConstraintRow& r : d_.rows)
            out_.rows.push_back({r.name, "", 0,
                                 r.level == Level::position   ? "a constraint on positions"
                                 : r.level == Level::velocity ? "a constraint on velocities"
                                                              : "a constraint on accelerations"});
        for (const ConstraintRow& r : d_.rows)
            if (r.level == Level::position) {
                out_.residuals.push_back({fmt::format("residual({})", r.name), ""});
                values.push_back(r.position);
            }
        for (const ConstraintRow& r : d_.rows)
            if (r.level != Level::acceleration) {
                out_.residuals.push_back({fmt::format("residual({}){}", r.name, r.level == Level::position ? "'" : ""), ""});
                values.push_back(r.velocity);
            }
        return values;
    }

    void add_motion() {
        const Motion& motion = lowered_.motion;
        const auto correction = [](const Program& p) {
            ExportedCorrection c{p, 0};
            if (!p.outputs.empty()) c.rows = p.output("residual").end - p.output("residual").begin;
            return c;
        };
        out_.position = correction(motion.position);
        out_.velocity = correction(motion.velocity);
        out_.start_position = correction(motion.start_position);
        out_.start_velocity = correction(motion.start_velocity);
        if (jacobian_)
            out_.jacobian = {jacobian_->program, jacobian_->equations, jacobian_->unknowns,
                             jacobian_->rows,    jacobian_->residual,  jacobian_->rates};
        else
            out_.notes.emplace_back("There is no function `jacobian`: the model is too large for one without zeros.");
        const Run plan = planned_run(m_, {});
        out_.from = plan.options.t0;
        out_.until = plan.options.t1;
        out_.every =
            plan.options.every > 0 && std::isfinite(plan.options.every) ? plan.options.every : (out_.until - out_.from) / 500;
        out_.rtol = plan.options.rtol;
        out_.atol = plan.options.atol;
        if (out_.formulation == "minimal" && !lowered_.independent_speeds.empty())
            out_.notes.emplace_back(
                "The accelerations are those of `minimal`, by the independent speeds that the model has at its start. The state "
                "is\n"
                "nevertheless all of q and u, and is kept on the constraints by projection.");
    }

    const ConstrainedDynamics& d_;
    const Model& m_;
    Graph& g_;
    Diagnostics& diagnostics_;
    const LoweredMotion& lowered_;
    const RateJacobian* jacobian_;  // null where the model is too large
    Quantities observable_;
    ExportedModel out_;
};

}  // namespace

std::optional<ExportedModel> exported_model(Derivation& derivation, const ExportRequest& request) {
    if (!derivation.ok() || refuse_modes(*derivation.model, derivation.diagnostics)) return std::nullopt;
    const Model& m = *derivation.model;
    const std::string name = request.formulation.value_or(m.run.formulation);
    const std::size_t speeds = m.speeds.size(), rows = derivation.dynamics->rows.size();
    if (const std::size_t entries = speeds * std::max(speeds, rows + 1); entries > k_most_entries) {
        derivation.diagnostics.add({Code::E0715,
                                    {},
                                    fmt::format("{} speeds and {} constraint rows are too many for exported code", speeds, rows),
                                    fmt::format("{} entries of a matrix", entries),
                                    fmt::format("at most {}", k_most_entries),
                                    "make the family smaller, or simulate here with `appell run`"});
        return std::nullopt;
    }
    LowerMotionOptions options{.formulation = find_formulation(name).value_or(Formulation::multipliers),
                               .from = m.run.from,
                               .solve_entries = derivation.limits.solve_entries,
                               .native = false,
                               .works = false};
    // NOTE: what is written out for a run of a small model, or taken from its tree, is not exported; rows that are too many for
    // either are solved sparsely, as a run solves them
    options.for_run = options.formulation == Formulation::multipliers && rows * speeds > options.solve_entries;
    try {
        Result<LoweredMotion> lowered = lower_motion(*derivation.dynamics, options);
        derivation.diagnostics.append(lowered.diagnostics);
        if (!lowered.ok()) return std::nullopt;
        Result<LoweredMotion> with_jacobian;
        if (speeds + rows <= k_most_in_jacobian) with_jacobian = lower_with_jacobian(*derivation.dynamics, options);
        if (!with_jacobian.ok() && !with_jacobian.diagnostics.empty() && !with_jacobian.diagnostics.has(Code::E0715)) {
            derivation.diagnostics.append(with_jacobian.diagnostics);
            return std::nullopt;
        }
        const RateJacobian* const jacobian = with_jacobian.ok() ? &with_jacobian->motion.jacobian.value() : nullptr;
        return Exporting(derivation, request, *lowered, jacobian).run();
    } catch (const NodeLimitReached& limit) {
        derivation.diagnostics.add(
            {Code::E0012, {}, limit.what(), "", "a smaller model, or a higher limit", "use --limit nodes=N"});
        return std::nullopt;
    }
}

std::optional<std::vector<ExportedFile>> export_code(Derivation& derivation, const ExportRequest& request) {
    const std::optional<ExportedModel> model = exported_model(derivation, request);
    if (!model) return std::nullopt;
    return emit_model(*model, request.options);
}

std::optional<std::string> code_text(Derivation& derivation, const ExportRequest& request) {
    const std::optional<ExportedModel> model = exported_model(derivation, request);
    if (!model) return std::nullopt;
    return emit_model_text(*model, request.options);
}

}  // namespace appell
