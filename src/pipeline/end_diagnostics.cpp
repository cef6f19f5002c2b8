#include "pipeline/end_diagnostics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "base/integrators.hpp"
#include "base/number_format.hpp"
#include "base/time_text.hpp"
#include "pipeline/start_branches.hpp"
#include "pipeline/start_problems.hpp"
#include "sim/motion_program.hpp"

namespace appell {

namespace {

// a step is at least so many roundings of t
constexpr double k_least_step_roundings = 16;
// fewer are no reason to change the integrator
constexpr std::size_t k_many_stiff_steps = 1000;

// the state as text: a few names and values
std::string state_text(const Model& m, std::span<const double> x) {
    std::vector<std::string> parts;
    for (std::size_t i = 0; i < x.size() && parts.size() < 8; ++i)
        parts.push_back(fmt::format("{} = {}",
                                    i < m.coordinates.size() ? m.coordinates[i].name : m.speeds[i - m.coordinates.size()].name,
                                    short_number(x[i])));
    return fmt::format("{}{}", fmt::join(parts, ", "), x.size() > 8 ? ", ..." : "");
}

// the row whose scaled residual is largest at a state, by a projector of either level
struct WorstRow {
    const ConstraintRow* row = nullptr;
    double residual = 0;
};
WorstRow worst_row(const ConstrainedDynamics& d, const Motion& motion, double t, std::span<const double> x) {
    WorstRow worst;
    double largest = 0;
    for (const Level level : {Level::position, Level::velocity}) {
        const Program& program = level == Level::position ? motion.position : motion.velocity;
        if (program.outputs.empty() || worst.row) continue;
        MotionProgram evaluated(motion, program);
        evaluated.run(t, x);
        std::size_t i = 0;
        for (const ConstraintRow& row : d.rows) {
            if (row.level == Level::acceleration) continue;
            if (level == Level::position && row.level != Level::position) continue;
            const double scaled = std::abs(evaluated.output("scaled")[i]);
            if (!(scaled <= largest) && !(scaled < 1e-12)) {
                largest = std::isfinite(scaled) ? scaled : largest;
                worst = {&row, evaluated.output("residual")[i]};
            }
            ++i;
        }
    }
    return worst;
}

// what a run with a reduced state integrates; speeds only where positions are free
std::string independent_names(const Model& m, const Motion& motion) {
    if (!motion.reduction) return "speeds";
    std::vector<std::string> coordinates, speeds;
    for (const std::size_t i : motion.reduction->independent) {
        if (i < motion.coordinates)
            coordinates.push_back(m.coordinates[i].name);
        else
            speeds.push_back(m.speeds[i - motion.coordinates].name);
    }
    const std::string of_speeds = fmt::format("speeds {}", fmt::join(speeds, ", "));
    if (motion.position_rows == 0) return of_speeds;
    return fmt::format("coordinates {} and {}", fmt::join(coordinates, ", "), of_speeds);
}

// the values marked `fixed`: their names, and where the first of them was written
struct Fixed {
    std::vector<std::string> names;
    Span span;
};
Fixed fixed_values(const Model& m) {
    Fixed out;
    const auto add = [&](bool fixed, std::string name, Span span) {
        if (!fixed) return;
        if (out.names.empty()) out.span = span;
        out.names.push_back(std::move(name));
    };
    for (const StartRate& r : m.start_rates) add(r.fixed, m.coordinates[r.coordinate].name + "'", r.span);
    for (const Coordinate& c : m.coordinates) add(c.fixed, c.name, c.span);
    for (const Speed& u : m.speeds) add(u.fixed, u.name, u.span);
    return out;
}

// the first few of a list, and how many there are beside them
std::string some_of(const std::vector<std::string>& parts) {
    constexpr std::size_t k_most = 6;
    if (parts.size() <= k_most + 1) return fmt::format("{}", fmt::join(parts, ", "));
    return fmt::format("{} and {} others", fmt::join(parts.begin(), parts.begin() + k_most, ", "), parts.size() - k_most);
}

Diagnostic no_start(const ConstrainedDynamics& d, const Motion& motion, const SimulateSummary& s) {
    const Model& m = *d.model;
    const WorstRow worst = worst_row(d, motion, s.t_end, s.x_start);
    const Fixed fixed = fixed_values(m);
    if (!worst.row && !fixed.names.empty())
        return {Code::E0802,
                fixed.span,
                fmt::format("the constraints do not hold together with what is fixed: {}", some_of(fixed.names)),
                fmt::format("on the constraints {}", state_text(m, s.x_start)),
                "a state on all constraints with the fixed values",
                "change these values, or release some of them"};
    std::string hint = "change start values, or release those marked `fixed`";
    if (s.contradiction && fixed.names.empty())
        hint = "the constraints contradict each other near there, so that no start values help: remove or correct one of them";
    else if (s.contradiction)
        hint = fmt::format(
            "the constraints and what is fixed ({}) contradict each other near there: change or release one of these "
            "values, or correct a constraint",
            some_of(fixed.names));
    return {Code::E0802,
            worst.row ? m.constraints[worst.row->constraint].span : Span{},
            worst.row ? fmt::format("no start values near the given ones satisfy constraint {}", worst.row->name)
                      : std::string("no start values near the given ones satisfy the constraints"),
            worst.row ? fmt::format("left minus right is {} at {}", short_number(worst.residual), state_text(m, s.x_start))
                      : state_text(m, s.x_start),
            "a state on all constraints",
            hint};
}

// a speed whose rate nothing determines: without any mass in its way, or a rotation without inertia
Diagnostic without_inertia(const ConstrainedDynamics& d, const SimulateSummary& summary) {
    const Model& m = *d.model;
    const std::size_t speed = std::min(summary.singular_column, m.speeds.size() - 1);
    bool translates = false, turns = false;
    const auto uses = [&](std::span<const PartialVelocity> partials) {
        return std::any_of(partials.begin(), partials.end(), [&](const PartialVelocity& p) { return p.speed == speed; });
    };
    for (const Particle& p : m.particles) translates = translates || uses(d.kinematics->partial_velocities(p.point));
    for (const Body& b : m.bodies) {
        translates = translates || uses(d.kinematics->partial_velocities(b.center));
        turns = turns || uses(d.kinematics->partial_omegas(b.frame));
    }
    const std::string& name = m.speeds[speed].name;
    if (summary.unbound && !d.rows.empty() && !turns && !translates)
        return {Code::E0701,
                m.speeds[speed].span,
                fmt::format("nothing with mass moves with speed {}, and the constraints on positions do not determine it", name),
                "start values that can not be moved onto the constraints",
                "a mass that moves with it, or as many constraints on positions as coordinates without mass in them",
                "attach a mass, state a constraint on velocities as one on positions, or remove the coordinate"};
    if (turns && !translates)
        return {Code::E0702,
                m.speeds[speed].span,
                fmt::format("nothing resists speed {}: the body it turns has no inertia about that axis", name),
                "a singular mass matrix",
                "a positive moment of inertia",
                "give the body its moments of inertia, or use a particle"};
    if (!turns && !translates)
        return {Code::E0701,
                m.speeds[speed].span,
                fmt::format("nothing with mass moves with speed {}", name),
                "a column of zeros in the mass matrix",
                "a particle or body that moves with it",
                "attach a mass, or remove the coordinate"};
    return {Code::E0709,
            m.speeds[speed].span,
            fmt::format("the equations of motion do not determine the rate of speed {} at the start", name),
            state_text(m, summary.x_start),
            "a regular mass matrix",
            "check for masses that are zero and for coordinates that move nothing here"};
}

// a branch is known by the way that a run has come
constexpr const char* k_no_way_yet =
    "`--through` leads through such a position, but not out of it: begin a little before it, on the branch that is meant";

Diagnostic lost_rank(const ConstrainedDynamics& d, const SimulateSummary& s) {
    const Model& m = *d.model;
    const std::string& constraint = m.constraints[s.constraint].name;
    const Span span = m.constraints[s.constraint].span;
    const bool of_positions = std::ranges::any_of(
        d.rows, [&](const ConstraintRow& row) { return row.constraint == s.constraint && row.level == Level::position; });
    const bool at_start = s.steps == 0;
    if (at_start && s.loss == RowLoss::vanishes)
        return {
            Code::E0808,
            span,
            fmt::format("constraint {} has no gradient at the start: it restricts no acceleration there", constraint),
            state_text(m, s.x_start),
            "a constraint that some change of the coordinates or speeds violates at once",
            of_positions
                ? fmt::format("start elsewhere, or write the constraint without the square or product that vanishes there; {}",
                              k_no_way_yet)
                : "start elsewhere, or write the constraint without the square or product that vanishes there"};
    const std::string when = fmt::format("t = {}", time_text(s.t_end, s.t_start));
    std::string what;
    switch (s.loss) {
        case RowLoss::vanishes: what = fmt::format("the gradient of constraint {} vanishes at {}", constraint, when); break;
        case RowLoss::turns:
            what = fmt::format("the gradient of constraint {} changes its direction at once at {}", constraint, when);
            break;
        default: what = fmt::format("the constraints lost rank at {}: {} depends on the others there", when, constraint);
    }
    std::string hint = "the motion beyond is not determined by these constraints; the rows up to there are kept";
    if (of_positions && at_start)
        hint = fmt::format("a singular position: start elsewhere; {}", k_no_way_yet);
    else if (of_positions && !s.through)
        hint =
            "a singular position: branches of the motion meet there, and the constraints do not say which one it takes; "
            "`run --through` follows the one that keeps the velocities, where it is smooth; the rows up to there are kept";
    return {Code::E0808,
            span,
            what,
            fmt::format("{} independent {} at the start, {} there; {}", s.rank, s.rank == 1 ? "row" : "rows",
                        s.rank == 0 ? 0 : s.rank - 1, state_text(m, s.x_end)),
            "independent rows all along",
            hint};
}

constexpr const char* k_check_start = "start elsewhere, or check the parameters: divisions by zero, roots of negative numbers";

Diagnostic not_finite(const ConstrainedDynamics& d, const Motion& motion, Code code, double t, std::span<const double> x,
                      const std::string& when, const std::string& hint) {
    const std::string state = state_text(*d.model, x);
    if (const auto part = part_without_value(d, motion, t, x, when))
        return {code, part->span, part->message, fmt::format("{}, at {}", part->found, state), "finite numbers", hint};
    return {code, {}, "the equations of motion are not finite " + when, state, "finite numbers", hint};
}

// The last state that was reached is good, and what has no value lies ahead of it: the part that loses its value first along the
// rate there.
std::optional<PartWithoutValue> part_ahead(const ConstrainedDynamics& d, const Motion& motion, const SimulateSummary& s) {
    MotionProgram rate(motion, motion.rate);
    (void)rate.run(s.t_end, s.x_end);
    std::vector<double> rates(rate.output("qd").begin(), rate.output("qd").end());
    rates.insert(rates.end(), rate.output("ud").begin(), rate.output("ud").end());
    const double gone_by = s.t_end != s.t_start ? s.t_end - s.t_start : 1;
    for (const double share : {1e-12, 1e-9, 1e-6, 1e-3}) {
        const double step = share * gone_by;
        std::vector<double> x = s.x_end;
        for (std::size_t i = 0; i < x.size(); ++i)
            if (std::isfinite(rates[i])) x[i] += step * rates[i];
        if (auto part =
                part_without_value(d, motion, s.t_end + step, x, fmt::format("beyond t = {}", time_text(s.t_end, s.t_start))))
            return part;
    }
    return std::nullopt;
}

Diagnostic from_part(const Model& m, const PartWithoutValue& part, const SimulateSummary& s, const std::string& hint) {
    return {Code::E0804,      part.span, part.message, fmt::format("{}, behind {}", part.found, state_text(m, s.x_end)),
            "finite numbers", hint};
}

// Far from t = 0 a step that moves t may be too long for the motion.
std::string coarse_time(const SimulateSummary& s) {
    constexpr double k_coarse = 1e-10;  // of the time that went by
    const double apart = std::abs(s.t_end) * std::numeric_limits<double>::epsilon();
    if (!(k_least_step_roundings * apart > k_coarse * std::abs(s.t_end - s.t_start))) return "";
    return fmt::format(
        "numbers near t = {} are {} s apart, and no shorter step moves t: begin the run nearer to t = 0; otherwise ",
        short_number(s.t_end), short_number(apart, 2));
}

// of a run with too many steps
std::string what_it_takes(const SimulateSummary& s) {
    constexpr double k_largest_limit = 4e9;
    const double enough = 1.1 * s.steps_needed;
    const std::string limit = enough < k_largest_limit
                                  ? fmt::format("--limit steps={} lets it end", short_number(std::ceil(enough), 2))
                                  : fmt::format("no limit reaches that far (--limit steps=N takes up to {}): shorten the run",
                                                short_number(k_largest_limit));
    return fmt::format("{}; loosened tolerances make steps longer; the rows up to there are kept", limit);
}

// What rows that depend on others leave open. Where laws or contacts see the forces, W0858 says whether the motion depends on
// them.
std::string redundancy_hint(const ConstrainedDynamics& d, const SimulateSummary& s) {
    const Model& m = *d.model;
    const std::string forces = m.shares.empty()
                                   ? "of the multipliers those of least norm are given"
                                   : "the multipliers stand as `share` states, and are otherwise those of least norm";
    const bool seen = d.C_of_reaction || d.C_of_ideal || m.switches();
    const bool determined = s.reason != EndReason::inconsistent_constraints && !seen;
    return determined ? "the motion is determined; " + forces : forces;
}

}  // namespace

void add_end_diagnostics(Diagnostics& diagnostics, const ConstrainedDynamics& d, const Motion& motion, const SimulateSummary& s,
                         const Diagnostic& switching) {
    const Model& m = *d.model;
    const auto place = [&](std::span<const double> x) { return state_text(m, x); };
    const std::string when = fmt::format("t = {}", time_text(s.t_end, s.t_start));
    const bool at_start = s.steps == 0;
    const auto rows_kept = "the rows up to there are kept";
    switch (s.reason) {
        case EndReason::finished:
        case EndReason::event: break;
        case EndReason::no_mode:
        case EndReason::penetrated:
        case EndReason::no_value:
        case EndReason::chatter: {
            Diagnostic why = switching;
            if (why.found.empty()) why.found = place(s.x_end);
            if (why.hint.empty()) why.hint = rows_kept;
            diagnostics.add(std::move(why));
            break;
        }
        case EndReason::start_has_no_solution: diagnostics.add(no_start(d, motion, s)); break;
        case EndReason::start_not_finite:
            if (const auto law = law_without_value(d, motion, s.t_end, s.x_start)) {
                diagnostics.add(*law);
                break;
            }
            diagnostics.add(not_finite(d, motion, Code::E0803, s.t_end, s.x_start, "at the start", k_check_start));
            break;
        case EndReason::not_finite:
            if (const auto law = law_without_value(d, motion, s.t_end, s.x_end)) {
                diagnostics.add(*law);
                break;
            }
            if (const auto part = at_start ? std::nullopt : part_ahead(d, motion, s)) {
                diagnostics.add(from_part(m, *part, s, rows_kept));
                break;
            }
            diagnostics.add(not_finite(d, motion, at_start ? Code::E0803 : Code::E0804, s.t_end, s.x_end, "at " + when,
                                       at_start ? k_check_start : rows_kept));
            break;
        case EndReason::step_too_small:
            diagnostics.add(
                {Code::E0805,
                 {},
                 fmt::format("the step size collapsed at {}", when),
                 place(s.x_end),
                 "a motion that can be followed",
                 fmt::format("{}look for a singularity or a jump of the forces there (sign, abs or unit of a velocity that "
                             "vanishes; dry friction that may stick is `nonideal c: friction on P = ...`), or loosen the "
                             "tolerances; the rows up to there are kept",
                             coarse_time(s))});
            break;
        case EndReason::singular_mass:
            if (const auto singular = at_start ? singular_coordinates(d, motion, s.t_end, s.x_start) : std::nullopt)
                diagnostics.add(*singular);
            else if (at_start)
                diagnostics.add(without_inertia(d, s));
            else
                diagnostics.add({Code::E0806,
                                 {},
                                 fmt::format("the equations of motion became singular at {}", when),
                                 place(s.x_end),
                                 "a regular mass matrix",
                                 rows_kept});
            break;
        case EndReason::edge_of_chart: break;  // formulation_limits.hpp
        case EndReason::singular_partition:
            diagnostics.add(
                {Code::E0817, m.independent_span,
                 fmt::format("the independent {} do not determine the others at {}", independent_names(m, motion), when),
                 place(s.x_end), "a choice whose dependent coordinates and speeds follow from the constraints",
                 fmt::format("choose other speeds with `independent`, or formulation `multipliers`, which needs none{}{}",
                             at_start ? "" : "; ", at_start ? "" : rows_kept)});
            break;
        case EndReason::unreachable: {
            std::vector<const ConstraintRow*> servo;
            for (const ConstraintRow& row : d.rows)
                if (row.by_actuators) servo.push_back(&row);
            const ConstraintRow* row = s.row < servo.size() ? servo[s.row] : nullptr;
            const std::string out_of_reach = unreachable_combinations(d, motion, s.t_end, s.x_end);
            diagnostics.add({Code::E0818, row ? m.constraints[row->constraint].span : Span{},
                             fmt::format("the actuators can not keep servo-constraint {} at {}", row ? row->name : "", when),
                             out_of_reach.empty() ? place(s.x_end) : fmt::format("no actuator accelerates {}", out_of_reach),
                             "an actuator that accelerates it, beside what the others do",
                             at_start ? "add an actuator, or state the objective where this one acts" : rows_kept});
            break;
        }
        case EndReason::no_reaction:
        case EndReason::several_reactions:
            if (const auto law = law_without_value(d, motion, s.t_end, s.x_end)) {
                diagnostics.add(*law);
                break;
            }
            diagnostics.add(
                {Code::E0819, m.nonideal.empty() ? Span{} : m.nonideal.front().span,
                 fmt::format("{} satisfies the nonideal law at {}",
                             s.reason == EndReason::no_reaction ? "no constraint force" : "more than one constraint force", when),
                 place(s.x_end), "one constraint force",
                 "Painleve's paradox: rigid bodies with this law have no single motion here; a smaller coefficient, or "
                 "a law of the ideal force, has"});
            break;
        case EndReason::inconsistent_constraints:
            diagnostics.add({Code::E0807, m.constraints[s.constraint].span,
                             fmt::format("the constraints contradict each other at {}: {} asks for another acceleration than the "
                                         "others allow",
                                         when, m.constraints[s.constraint].name),
                             place(s.x_end), "constraints that some motion satisfies",
                             "rows that oppose each other need another value or sign; rows that only repeat others do no harm"});
            break;
        case EndReason::rank_loss: diagnostics.add(lost_rank(d, s)); break;
        case EndReason::projection_failed:
            if (const auto part = part_ahead(d, motion, s)) {
                diagnostics.add(from_part(m, *part, s, rows_kept));
                break;
            }
            diagnostics.add({Code::E0809,
                             {},
                             fmt::format("the state could not be brought back onto the constraints at {}", when),
                             place(s.x_end),
                             "a state on all constraints",
                             "tighten the tolerances; the rows up to there are kept"});
            break;
        case EndReason::too_many_steps:
            diagnostics.add({Code::E0810,
                             {},
                             fmt::format("the run took {} steps and reached only {}", s.steps, when),
                             std::isfinite(s.steps_needed)
                                 ? fmt::format("at this pace about {} steps in all", short_number(s.steps_needed, 2))
                                 : "",
                             "fewer steps",
                             what_it_takes(s)});
            break;
        case EndReason::too_many_rows:
            diagnostics.add({Code::E0814,
                             {},
                             fmt::format("the run wrote {} rows and reached only {}", s.rows, when),
                             "",
                             "fewer rows",
                             "use a larger `every`, or raise --limit output_rows=N"});
            break;
        case EndReason::cancelled:
            diagnostics.add({Code::E0811, {}, fmt::format("the run was stopped at {}", when), "", "", rows_kept});
            break;
        case EndReason::wrong_checkpoint:
            diagnostics.add({Code::E0824, {}, "the state to resume from is not one of this run", "", "", "run the model again"});
            break;
    }
    if (s.reason != EndReason::start_has_no_solution && !s.moved.empty()) {
        std::vector<std::string> parts;
        for (const Moved& moved : s.moved)
            parts.push_back(fmt::format("{} from {} to {}",
                                        moved.is_speed ? m.speeds[moved.index].name : m.coordinates[moved.index].name,
                                        short_number(moved.from, 9), short_number(moved.to, 9)));
        diagnostics.add(
            {Code::N0812, {}, fmt::format("start values were moved onto the constraints: {}", some_of(parts)), "", "", ""});
        if (!m.switches())
            if (auto branches = other_branches(d, motion, s)) diagnostics.add(std::move(*branches));
    }
    if (s.stiff_steps >= k_many_stiff_steps || (s.reason == EndReason::too_many_steps && s.stiff_steps > 0))
        diagnostics.add({Code::W0831,
                         {},
                         fmt::format("the equations are stiff from t = {} on: {} of {} steps were kept short by stability alone",
                                     short_number(s.stiff_from), s.stiff_steps, s.steps),
                         "",
                         "",
                         "`integrator cvode` is made for such equations"});
    if (s.redundant && !(s.reason == EndReason::rank_loss && at_start))
        diagnostics.add(
            {Code::W0813,
             {},
             fmt::format("{} constraint rows, of which {} are independent at {}", s.redundancy.rows, s.redundancy.rank,
                         s.redundancy.t == s.t_start ? std::string("the start") : "t = " + short_number(s.redundancy.t)),
             "",
             "",
             redundancy_hint(d, s)});
}

namespace {

// Many states before a contact, an impact or an event that acts lead to one behind it.
void check_direction(Diagnostics& diagnostics, const Model& m, const SimulateOptions& o) {
    if (!(o.t1 < o.t0)) return;
    const auto refuse = [&](Span span, const std::string& what) {
        diagnostics.add({Code::E0847, span,
                         fmt::format("the run goes backwards in time, from t = {} to t = {}, and the model has {}",
                                     short_number(o.t0), short_number(o.t1), what),
                         "", "a model whose motion can be followed backwards: smooth laws, or laws that switch",
                         "run forwards from an earlier state, or leave it out"});
    };
    const auto contact = std::ranges::find_if(m.constraints, &Constraint::unilateral);
    if (contact != m.constraints.end()) return refuse(contact->span, fmt::format("the contact {}", contact->name));
    if (!m.frictions.empty())
        return refuse(m.frictions.front().span,
                      fmt::format("friction of {}", m.constraints[m.frictions.front().constraint].name));
    const auto acts = [](const Event& e) { return !e.sets.empty() || !e.drops.empty() || !e.enforces.empty(); };
    const auto event = std::ranges::find_if(m.events, acts);
    if (event != m.events.end()) refuse(event->span, fmt::format("the event {}, which changes the motion", event->name));
}

// Far from t = 0 numbers are far apart.
template <class Refuse>
void check_resolution(const SimulateOptions& o, const Refuse& refuse) {
    const double farthest = std::max(std::abs(o.t0), std::abs(o.t1));
    const double apart = farthest * std::numeric_limits<double>::epsilon(), least = k_least_step_roundings * apart;
    const auto too_short = [&](const std::string& what, double value, double bound) {
        if (value < bound)
            refuse(fmt::format("{} {} s near t = {}, where numbers are {} s apart", what, short_number(value),
                               short_number(farthest), short_number(apart, 2)),
                   fmt::format("at least {} s, or a run nearer to t = 0", short_number(bound, 2)));
    };
    too_short("a run of", std::abs(o.t1 - o.t0), 4 * least);
    if (o.every > 0) too_short("rows every", o.every, 4 * apart);
    if (o.step > 0) too_short("steps of", o.step, least);
    if (o.max_step > 0) too_short("max_step", o.max_step, least);
    if (o.first_step > 0) too_short("first_step", o.first_step, least);
}

}  // namespace

bool check_run_options(Diagnostics& diagnostics, const Model& m, const RunOptions& wanted, const Run& run) {
    const SimulateOptions& o = run.options;
    const std::size_t before = diagnostics.error_count();
    const auto refuse = [&](std::string message, std::string expected) {
        diagnostics.add({Code::E0815, m.run.span, std::move(message), "", std::move(expected), ""});
    };
    if (!std::isfinite(o.t0) || !std::isfinite(o.t1) || o.t1 == o.t0)
        refuse(fmt::format("a run from {} to {}", o.t0, o.t1), "a run of finite length");
    else
        check_resolution(o, refuse);
    check_direction(diagnostics, m, o);
    if (wanted.forces && m.constraints.empty())
        refuse(fmt::format("--forces {}: the model has no constraints, and so no constraint forces", *wanted.forces),
               "a model with constraints");
    if (!(o.every >= 0)) refuse(fmt::format("rows every {}", o.every), "a positive spacing, or `step`");
    for (const double t : o.at)
        if (!(std::min(o.t0, o.t1) <= t) || !(t <= std::max(o.t0, o.t1)))
            refuse(fmt::format("a row at {}", short_number(t)),
                   fmt::format("times from {} to {}", short_number(o.t0), short_number(o.t1)));
    if (!(o.rtol > 0) || !(o.rtol < 1)) refuse(fmt::format("rtol {}", o.rtol), "a relative tolerance between 0 and 1");
    if (!(o.atol > 0) || !std::isfinite(o.atol)) refuse(fmt::format("atol {}", o.atol), "a positive absolute tolerance");
    const auto one_of = [&](const std::string& what, const std::string& value, const std::vector<std::string>& allowed) {
        if (std::none_of(allowed.begin(), allowed.end(), [&](const std::string& a) { return value == a; }))
            refuse(fmt::format("{} {} is not known", what, value), fmt::format("one of: {}", fmt::join(allowed, ", ")));
    };
    std::vector<std::string> formulations;
    for (const FormulationInfo& row : all_formulations()) formulations.emplace_back(row.name);
    one_of("formulation", wanted.formulation.value_or(m.run.formulation), formulations);
    const std::string integrator = wanted.integrator.value_or(m.run.integrator);
    one_of("integrator", integrator, integrator_names());
    if (const IntegratorInfo* row = find_integrator(integrator)) {
        if (row->fixed_step && !(o.step > 0 && std::isfinite(o.step)))
            refuse(fmt::format("integrator {} has a fixed step, and the run gives none", integrator),
                   "`step TIME` in the model's `run`, or --step");
        if (row->fixed_step && o.max_step > 0)
            refuse(fmt::format("integrator {} has a fixed step and takes no `max_step`", integrator), "`step` alone");
        if (row->fixed_step && o.first_step > 0)
            refuse(fmt::format("integrator {} has a fixed step and takes no `first_step`", integrator), "`step` alone");
        if (!row->fixed_step && o.step != 0)
            refuse(fmt::format("integrator {} chooses its steps by the tolerances and takes no `step`", integrator),
                   fmt::format("an integrator with a fixed step ({}), or `first_step` and `max_step`", fixed_step_names()));
        if (!(o.max_step >= 0)) refuse(fmt::format("max_step {}", o.max_step), "a positive bound of the steps");
        if (!(o.first_step >= 0) || !std::isfinite(o.first_step))
            refuse(fmt::format("first_step {}", o.first_step), "a positive step to set out with");
    }
    one_of("stabilization", wanted.stabilize.value_or(m.run.stabilize), drift_control_names());
    if (!run.gains.empty() && run.drift != DriftControl::baumgarte)
        refuse("gains are given, and nothing takes them", "`stabilize baumgarte`");
    if (run.gains.size() > 2 || std::any_of(run.gains.begin(), run.gains.end(), [](double g) { return !(g < 0); }))
        refuse(fmt::format("gains {}", fmt::join(run.gains, ", ")), "one or two negative gains");
    if (run.drift == DriftControl::baumgarte && run.gains.empty() && info(o.integrator).implicit)
        refuse(
            fmt::format("integrator {} needs the gains of `stabilize baumgarte`: only explicit ones choose them from their steps",
                        info(o.integrator).name),
            "`gains (G)` or `gains (G1, G2)`");
    if (const auto formulation = find_formulation(wanted.formulation.value_or(m.run.formulation));
        formulation && run.drift == DriftControl::baumgarte &&
        all_formulations()[static_cast<std::size_t>(*formulation)].partitioned)
        refuse(
            fmt::format("formulation {} takes the constraints on velocities as they are, and no damping", name_of(*formulation)),
            "another formulation for `stabilize baumgarte`, or `stabilize project`");
    const double rows = o.every > 0 ? std::ceil(std::abs(o.t1 - o.t0) / o.every) + 1 + static_cast<double>(o.at.size()) : 0;
    if (rows > static_cast<double>(o.max_rows))
        diagnostics.add({Code::E0814, m.run.span, fmt::format("the run would write {} rows", short_number(rows)), "",
                         fmt::format("at most {}", o.max_rows), "use a larger `every`, or raise --limit output_rows=N"});
    return diagnostics.error_count() > before;
}

}  // namespace appell
