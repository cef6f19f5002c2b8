#include "pipeline/mode.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "dynam/constraint_forces.hpp"
#include "dynam/modes.hpp"
#include "dynam/quantities.hpp"
#include "dynam/row_sizes.hpp"
#include "expr/dependence.hpp"
#include "expr/differentiate.hpp"
#include "jit/native_code.hpp"
#include "pipeline/motion_lowering.hpp"

namespace appell {

namespace {

// The lowest flight that is followed, in units in the last place of a coordinate: below that it would be round-off.
constexpr double k_digits = 256 * std::numeric_limits<double>::epsilon();

}  // namespace

SwitchedSystem::SwitchedSystem(const ConstrainedDynamics& all, double rtol, double atol, bool implicit)
    : whole(all),
      model(*all.model),
      rest_speed(appell::rest_speed(model, atol)),
      gap_noise((implicit ? 10 : 1e-3) * atol),
      touching(std::max(atol, 2 * gap_noise)),
      first_rtol(implicit ? std::max(rtol, k_digits) : k_digits),
      first_atol(implicit ? atol : 0) {
    for (std::size_t row = 0; row < whole.rows.size(); ++row)
        if (model.constraints[whole.rows[row].constraint].unilateral) {
            contacts.push_back(whole.rows[row].constraint);
            contact_rows.push_back(row);
        }
    for (std::size_t i = 0; i < model.frictions.size(); ++i) {
        SlipSymbols slip;
        for (std::size_t axis = 0; axis < 3; ++axis) {
            const auto symbol = [&](const char* what) {
                return whole.graph().add_symbol(fmt::format("slip {} {}.{}", what, i + 1, "xyz"[axis]), SymbolKind::other);
            };
            slip.direction[axis] = symbol("direction");
            slip.turning[axis] = symbol("turning");
        }
        slip.begins = whole.graph().add_symbol(fmt::format("slip begins {}", i + 1), SymbolKind::other);
        slips.push_back(slip);
    }
}

void Mode::set_parameter(std::size_t place, double value) {
    lowered.motion.parameters[place] = value;
    for (std::optional<MotionProgram>* program : {&inspected, &impacted, &evaluated})
        if (*program) (*program)->set_parameter(place, value);
    laws.set_parameter(place, value);
    if (forces) forces->set_parameter(place, value);
}

void Mode::set_slips(std::span<const SlipParameters> slips) {
    std::size_t place = lowered.first_slip;
    for (const SlipParameters& slip : slips) {
        for (const double part : slip.direction) set_parameter(place++, part);
        for (const double part : slip.turning) set_parameter(place++, part);
        set_parameter(place++, slip.begins ? 1 : 0);
    }
}

void Mode::set_sides(std::span<const int> sides) {
    for (std::size_t i = 0; i < lowered.sides; ++i) set_parameter(lowered.first_side + i, sides[i]);
}

Guard::Passage passage_of(const Event& event) {
    return event.passage < 0 ? Guard::Passage::falling : event.passage > 0 ? Guard::Passage::rising : Guard::Passage::either;
}

namespace {

class ModeMaker {
public:
    ModeMaker(const SwitchedSystem& system, const std::vector<bool>& off, Mode& mode, FrozenConditions* conditions,
              Diagnostics& diagnostics)
        : s_(system),
          m_(system.model),
          g_(system.whole.graph()),
          off_(off),
          mode_(mode),
          d_(mode.dynamics),
          conditions_(conditions),
          diagnostics_(diagnostics),
          quantities_(d_, diagnostics) {}

    [[nodiscard]] bool make(bool native) {
        look_at_contacts();
        look_at_frictions();
        guard_all();
        if (diagnostics_.has_errors()) return false;
        lower_guards(native);
        Motion& motion = mode_.lowered.motion;
        if (!event_values_.empty()) {
            mode_.events = program({{"value", event_values_}, {"set", sets_}});
            mode_.evaluated.emplace(motion, mode_.events);
        }
        if (s_.contacts.empty() && m_.frictions.empty()) return true;
        mode_.inspect = program({{"gap", gap_},
                                 {"gap_rate", gap_rate_},
                                 {"gap_acceleration", gap_acceleration_},
                                 {"gap_terms", gap_terms_},
                                 {"gap_error", gap_error_},
                                 {"push", push_},
                                 {"slip", slip_},
                                 {"slip_acceleration", slip_acceleration_},
                                 {"slip_terms", slip_terms_},
                                 {"friction", friction_},
                                 {"bound", bound_},
                                 {"static_bound", static_bound_}});
        mode_.inspected.emplace(motion, mode_.inspect);
        follow_directions();
        if (!s_.contacts.empty()) impact();
        return true;
    }

private:
    [[nodiscard]] Program lower(ProgramSpec spec) const { return lower_frozen(g_, std::move(spec), conditions_); }
    [[nodiscard]] Program program(std::vector<OutputGroup> outputs) const {
        std::vector<ConstrainedSolve> solves(quantities_.solves());
        solves.insert(solves.end(), mode_.lowered.equations.begin(), mode_.lowered.equations.end());
        return lower({mode_.lowered.inputs, std::move(solves), std::move(outputs)});
    }

    // of a row of the whole system
    [[nodiscard]] NodeId acceleration(std::size_t row) const {
        NodeId sum = g_.neg(s_.whole.b[row]);
        for (const SparseEntry& e : s_.whole.A.entries)
            if (e.row == row) sum = g_.add(sum, g_.mul(e.value, g_.symbol_node(m_.speeds[e.column].rate)));
        return sum;
    }
    // what the terms of that are as large as: forces over inertia
    [[nodiscard]] NodeId acceleration_terms(std::size_t row) const {
        NodeId sum = g_.make(Op::Abs, s_.whole.b[row]);
        for (const SparseEntry& e : s_.whole.A.entries) {
            if (e.row != row) continue;
            const NodeId diagonal = d_.M().find(e.column, e.column);
            const NodeId inertia = g_.make(Op::Max, diagonal.valid() ? diagonal : g_.constant(0), g_.constant(1e-300));
            sum = g_.add(sum, g_.make(Op::Abs, g_.div(g_.mul(e.value, d_.f()[e.column]), inertia)));
        }
        return sum;
    }
    // What the error of a first step, and round-off, may make of a gap: integrators bound the mean square over the entries of
    // the state.
    [[nodiscard]] NodeId first_error(NodeId gap) const {
        NodeId sum = g_.constant(0);
        for (const Coordinate& c : m_.coordinates) {
            const NodeId slope = derivative(g_, std::span(&gap, 1), c.q).front();
            const NodeId size = g_.make(Op::Abs, g_.symbol_node(c.q));
            const NodeId tolerance = g_.add(g_.constant(s_.first_atol), g_.mul(g_.constant(s_.first_rtol), size));
            if (!g_.is_constant(slope, 0)) sum = g_.add(sum, g_.mul(g_.make(Op::Abs, slope), tolerance));
        }
        return g_.mul(g_.constant(std::sqrt(static_cast<double>(m_.coordinates.size() + m_.speeds.size()))), sum);
    }
    [[nodiscard]] NodeId length(const std::vector<NodeId>& vectors, std::size_t i) const {
        NodeId square = g_.constant(0);
        for (std::size_t axis = 0; axis < 3; ++axis) square = g_.add(square, g_.pow(vectors[3 * i + axis], 2));
        return g_.make(Op::Sqrt, square);
    }

    void look_at_contacts() {
        for (const std::size_t i : s_.contact_rows) {
            const ConstraintRow& row = s_.whole.rows[i];
            gap_.push_back(row.position);
            gap_rate_.push_back(row.velocity);
            gap_acceleration_.push_back(acceleration(i));
            gap_terms_.push_back(acceleration_terms(i));
            gap_error_.push_back(first_error(row.position));
            push_.push_back(quantities_.scalar(g_.symbol_node(row.multiplier), {}));
        }
    }

    void look_at_frictions() {
        const std::vector<ConstraintForces> forces = row_forces(d_);
        for (const Friction& f : m_.frictions) {
            const std::array<NodeId, 3> v = quantities_.vector(f.slip, f.span);
            slip_.insert(slip_.end(), v.begin(), v.end());
            std::array<NodeId, 3> rate{g_.constant(0), g_.constant(0), g_.constant(0)};
            NodeId terms = g_.constant(0);
            const bool scalar = !g_.is_vector(m_.constraints[f.stick].phi);
            for (std::size_t row = 0; row < s_.whole.rows.size(); ++row) {
                if (s_.whole.rows[row].constraint != f.stick) continue;
                terms = g_.add(terms, acceleration_terms(row));
                const auto& multipliers = m_.constraints[f.stick].multipliers;
                const auto axis = std::find(multipliers.begin(), multipliers.end(), s_.whole.rows[row].multiplier);
                if (!scalar) rate[static_cast<std::size_t>(axis - multipliers.begin())] = acceleration(row);
                // along a given direction: slip = s e, and its rate at rest is s' e
                const NodeId speed = g_.make(Op::Max, g_.make(Op::Abs, s_.whole.rows[row].velocity), g_.constant(1e-300));
                for (std::size_t k = 0; k < 3 && scalar; ++k) rate[k] = g_.mul(acceleration(row), g_.div(v[k], speed));
            }
            slip_acceleration_.insert(slip_acceleration_.end(), rate.begin(), rate.end());
            slip_terms_.push_back(terms);
            NodeId stick = g_.vector_zero();
            for (std::size_t row = 0; row < d_.rows.size(); ++row) {
                if (d_.rows[row].constraint != f.stick) continue;
                for (const ForceDirection& place : forces[row].forces)
                    if (place.point == f.on.point && place.body == f.on.body)
                        stick = g_.vadd(stick, g_.vscale(g_.symbol_node(d_.rows[row].multiplier), place.W));
            }
            const std::array<NodeId, 3> force = quantities_.vector(stick, f.span);
            friction_.insert(friction_.end(), force.begin(), force.end());
            bound_.push_back(quantities_.scalar(f.bound, f.span));
            static_bound_.push_back(f.static_bound.valid() ? quantities_.scalar(f.static_bound, f.span) : bound_.back());
        }
    }

    struct MeantGuard {
        GuardMeaning meaning;
        NodeId value;
        Guard how;
    };

    void guard(GuardMeaning meaning, NodeId value, Guard how) { guards_.push_back({meaning, value, how}); }

    void guard_all() {
        using What = GuardMeaning::What;
        using Passage = Guard::Passage;
        // by what it stands for each of these is positive, and the motion depends on it
        const auto contact_or_friction = [](double noise, bool gap) {
            return Guard{.passage = Passage::falling, .armed = true, .noise = noise, .essential = true, .gap = gap};
        };
        for (std::size_t i = 0; i < s_.contacts.size(); ++i) {
            if (off_[s_.contacts[i]])
                guard({What::closes, i}, gap_[i], contact_or_friction(s_.gap_noise, true));
            else
                guard({What::opens, i}, push_[i], contact_or_friction(0, false));
        }
        for (std::size_t i = 0; i < m_.frictions.size(); ++i) {
            const Friction& f = m_.frictions[i];
            if (off_[f.constraint]) continue;
            if (off_[f.stick]) {
                // a slip that has only begun lies on zero, and does not stop
                const NodeId slip = quantities_.scalar(g_.dot(f.slip, last_direction(d_, i)), f.span);
                const NodeId forward = g_.add(slip, g_.symbol_node(s_.slips[i].begins));
                guard({What::stops, i}, forward, contact_or_friction(s_.rest_speed, false));
            } else {
                guard({What::slips, i}, g_.sub(static_bound_[i], length(friction_, i)), contact_or_friction(0, false));
            }
        }
        for (std::size_t i = 0; i < m_.events.size(); ++i) {
            const Event& event = m_.events[i];
            event_values_.push_back(quantities_.scalar(event.value, event.span));
            guard({What::event, i}, event_values_.back(), {.passage = passage_of(event)});
            for (const Event::Set& set : event.sets) sets_.push_back(quantities_.scalar(set.value, event.span));
        }
        // what depends on time alone switches at instants that are known beforehand
        for (std::size_t i = 0; i < mode_.lowered.sides; ++i)
            if (const Condition& c = conditions_->all()[i]; !c.of_time)
                guard({What::condition, i}, c.guard, {.passage = Passage::either, .leaves = true});
    }

    // of t, q, u and parameters alone
    [[nodiscard]] bool is_plain(NodeId value) const {
        const std::vector<SymbolId>& inputs = mode_.lowered.inputs;
        return std::ranges::all_of(symbols_in(g_, std::span(&value, 1)),
                                   [&](SymbolId s) { return std::ranges::find(inputs, s) != inputs.end(); });
    }

    void lower_guards(bool native) {
        Motion& motion = mode_.lowered.motion;
        const auto by_solves =
            std::stable_partition(guards_.begin(), guards_.end(), [&](const MeantGuard& g) { return is_plain(g.value); });
        std::vector<NodeId> plain, others;
        for (auto g = guards_.begin(); g != guards_.end(); ++g) {
            mode_.guards.push_back(g->meaning);
            motion.guards.push_back(g->how);
            (g < by_solves ? plain : others).push_back(g->value);
        }
        if (!plain.empty()) motion.guard = lower({mode_.lowered.inputs, {}, {{"guard", std::move(plain)}}});
        if (!others.empty()) motion.guard_by_solves = program({{"guard", std::move(others)}});
        if (!native) return;
        for (Program* p : {&motion.guard, &motion.guard_by_solves})
            if (!p->outputs.empty()) add_native_code(*p);
    }

    // the direction a friction slides in is remembered from step to step
    void follow_directions() {
        Motion& motion = mode_.lowered.motion;
        std::vector<NodeId> followed;
        for (std::size_t i = 0; i < m_.frictions.size(); ++i) {
            if (!slides(d_, i)) continue;
            const NodeId size = length(slip_, i);
            // close to rest the direction is round-off: it stays; and so it does where the slip begins
            const NodeId begun = g_.sub(g_.constant(1), g_.symbol_node(s_.slips[i].begins));
            const NodeId clear = g_.make(Op::Less, g_.constant(s_.rest_speed), g_.mul(begun, size));
            for (std::size_t axis = 0; axis < 3; ++axis) {
                const NodeId unit = g_.div(slip_[3 * i + axis], g_.make(Op::Max, size, g_.constant(1e-300)));
                followed.push_back(g_.make(Op::If, clear, unit, g_.symbol_node(s_.slips[i].direction[axis])));
                motion.followed.push_back(mode_.lowered.first_slip + SlipSymbols::k_count * i + axis);
            }
        }
        if (!followed.empty()) motion.follow = lower({mode_.lowered.inputs, {}, {{"follow", followed}}});
    }

    // M du = A' p over all rows that are on, without laws: the rates of closed gaps are reversed times their restitution
    void impact() {
        ConstrainedSolve solve;
        solve.M = d_.M();
        solve.f.assign(m_.speeds.size(), g_.constant(0));
        solve.A = {0, m_.speeds.size(), {}};
        for (std::size_t i = 0; i < m_.speeds.size(); ++i)
            solve.x.push_back(g_.add_symbol(fmt::format("jump {}", i + 1), SymbolKind::other));
        std::vector<NodeId> impulse(s_.contacts.size(), g_.constant(0)), jump, change, restitution;
        const std::vector<double> row_sizes = appell::row_sizes(d_);
        std::vector<NodeId> sizes;  // behind the right sides
        for (std::size_t row = 0; row < d_.rows.size(); ++row) {
            const ConstraintRow& r = d_.rows[row];
            const Constraint& c = m_.constraints[r.constraint];
            if (r.level == Level::acceleration || c.stick_of || r.by_actuators) continue;
            for (const SparseEntry& e : d_.A.entries)
                if (e.row == row) solve.A.entries.push_back({static_cast<std::uint32_t>(solve.A.rows), e.column, e.value});
            if (!row_sizes.empty()) sizes.push_back(g_.constant(row_sizes[row]));
            NodeId factor = g_.constant(1);
            if (c.unilateral && c.restitution.valid()) factor = g_.add(factor, quantities_.scalar(c.restitution, c.span));
            solve.b.push_back(g_.neg(g_.mul(factor, r.velocity)));
            solve.lambda.push_back(g_.add_symbol(fmt::format("impulse {}", row + 1), SymbolKind::other));
            const auto contact = std::find(s_.contacts.begin(), s_.contacts.end(), r.constraint);
            if (contact != s_.contacts.end())
                impulse[static_cast<std::size_t>(contact - s_.contacts.begin())] = g_.symbol_node(solve.lambda.back());
            ++solve.A.rows;
        }
        solve.b.insert(solve.b.end(), sizes.begin(), sizes.end());
        for (const SymbolId s : solve.x) jump.push_back(g_.symbol_node(s));
        for (std::size_t i = 0; i < s_.contacts.size(); ++i) {
            const Constraint& c = m_.constraints[s_.contacts[i]];
            NodeId sum = g_.constant(0);
            for (const SparseEntry& e : s_.whole.A.entries)
                if (e.row == s_.contact_rows[i]) sum = g_.add(sum, g_.mul(e.value, jump[e.column]));
            change.push_back(sum);
            restitution.push_back(c.restitution.valid() ? quantities_.scalar(c.restitution, c.span) : g_.constant(0));
        }
        mode_.impact = lower(
            {mode_.lowered.inputs,
             {solve},
             {{"jump", jump}, {"impulse", impulse}, {"change", change}, {"restitution", restitution}, {"rate", gap_rate_}}});
        mode_.impacted.emplace(mode_.lowered.motion, mode_.impact);
    }

    const SwitchedSystem& s_;
    const Model& m_;
    Graph& g_;
    const std::vector<bool>& off_;
    Mode& mode_;
    const ConstrainedDynamics& d_;
    FrozenConditions* conditions_;  // of the laws; none: they mean what is written
    Diagnostics& diagnostics_;
    Quantities quantities_;
    std::vector<NodeId> gap_, gap_rate_, gap_acceleration_, gap_terms_, gap_error_, push_;
    std::vector<NodeId> slip_, slip_acceleration_, slip_terms_, friction_, bound_, static_bound_;
    std::vector<MeantGuard> guards_;
    std::vector<NodeId> event_values_, sets_;
};

// each as a group of one
void weigh_rows_of_friction(const SwitchedSystem& system, ConstrainedDynamics& d) {
    for (std::size_t row = 0; row < d.rows.size(); ++row)
        if (const auto& friction = system.model.constraints[d.rows[row].constraint].stick_of)
            d.shared.push_back({{row}, {d.graph().symbol_node(system.slips[*friction].direction.front())}});
}

}  // namespace

std::unique_ptr<Mode> make_mode(const SwitchedSystem& system, const std::vector<bool>& off, std::span<const double> x,
                                LowerMotionOptions options, Diagnostics& diagnostics, bool weigh_friction) {
    auto mode = std::make_unique<Mode>();
    const Model& m = system.model;
    if (m.switches()) {
        Result<ConstrainedDynamics> dynamics = in_mode(system.whole, off, system.slips);
        diagnostics.append(dynamics.diagnostics);
        if (!dynamics.ok()) return nullptr;
        mode->dynamics = std::move(*dynamics);
        if (!m.shares.empty()) {
            LowerMotionOptions here = options;
            if (!x.empty())
                here.state.assign(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(m.coordinates.size() + m.speeds.size()));
            if (!fit_shares(mode->dynamics, std::move(here), false, diagnostics)) return nullptr;
        }
        if (weigh_friction) weigh_rows_of_friction(system, mode->dynamics);
        mode->weighs_friction = weigh_friction;
    } else {
        mode->dynamics = system.whole;
    }
    if (!x.empty())
        options.state.assign(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(m.coordinates.size() + m.speeds.size()));
    Result<LoweredMotion> lowered = lower_motion(mode->dynamics, options);
    diagnostics.append(lowered.diagnostics);
    if (!lowered.ok()) return nullptr;
    mode->lowered = std::move(*lowered);
    if (!ModeMaker(system, off, *mode, options.conditions, diagnostics).make(options.native)) return nullptr;
    if (mode->lowered.sides > 0) make_law_programs(mode->dynamics, mode->lowered, *options.conditions, mode->laws);
    return mode;
}

}  // namespace appell
