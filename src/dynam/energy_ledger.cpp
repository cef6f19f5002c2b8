#include "dynam/energy_ledger.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "dynam/acting_forces.hpp"
#include "dynam/central_inertia.hpp"
#include "dynam/constraint_forces.hpp"
#include "dynam/modes.hpp"
#include "expr/differentiate.hpp"
#include "expr/memoized_substitution.hpp"
#include "expr/sweep.hpp"
#include "tape/zero_test.hpp"

namespace appell {

namespace {

// degrees of homogeneity that are looked for; a row of another degree is integrated, and gives zero
constexpr double k_degrees[] = {0, 1, 2, 0.5, 3, 4, -1, -2};

// what a statement of a load is called: its words up to the value
std::string statement_name(const std::string& text) {
    std::string out;
    for (const char c : text) {
        const bool space = c == ' ' || c == '\t' || c == '\n' || c == '\r';
        if (!space)
            out += c;
        else if (!out.empty() && out.back() != ' ')
            out += ' ';
    }
    for (const std::string_view end : {"=", " coefficient ", " stiffness "})
        if (const std::size_t at = out.find(end); at != std::string::npos) out.resize(at);
    for (const std::string_view word : {"gravity", "potential"})
        if (out.starts_with(word)) out = word;
    while (!out.empty() && out.back() == ' ') out.pop_back();
    return out;
}

// random points see one branch of it only
bool piecewise(const Graph& g, NodeId phi) {
    constexpr Op k_branching[] = {Op::Abs, Op::Sign, Op::Min, Op::Max, Op::Less, Op::LessEqual, Op::If};
    Sweep sweep;
    const auto nodes = sweep.collect(g, std::span(&phi, 1));
    return std::any_of(nodes.begin(), nodes.end(), [&](NodeId id) {
        return std::find(std::begin(k_branching), std::end(k_branching), g.node(id).op) != std::end(k_branching);
    });
}

class Ledger {
public:
    Ledger(const ConstrainedDynamics& d, Quantities& quantities)
        : d_(d),
          m_(*d.model),
          g_(d.graph()),
          kin_(*d.kinematics),
          quantities_(quantities),
          at_rest_(g_, no_speeds(m_, g_)),
          offset_(kin_.speed_offsets()),
          guides_({g_.constant(0)}) {}

    std::vector<LedgerEntry> run() {
        masses();
        for (const Load& load : m_.loads) {
            add_load(load, std::visit([&](const auto& what) { return of_load(what); }, load.what));
        }
        constraints();
        for (const ActingForce& f : acting_forces(d_)) {
            if (f.member == ForceMember::law) add(law_entry(f.owner), of_acting(f));
            if (f.member == ForceMember::actuator) add(fmt::format("actuator {}", m_.actuators[f.owner].name), of_acting(f));
        }
        entries_.push_back({"prescribed motion", g_.sum(guides_)});
        std::erase_if(entries_, [&](const LedgerEntry& e) { return g_.is_constant(e.power, 0) && !of_friction(e); });
        tell_apart();
        return std::move(entries_);
    }

private:
    static Substitution no_speeds(const Model& m, Graph& g) {
        Substitution out;
        for (const Speed& s : m.speeds) out.set(s.u, g.constant(0));
        return out;
    }

    // ---- velocities: all of them, and the part that is there when all speeds are zero

    Vec3 time_part(Vec3 v) {
        for (NodeId& c : v.c) c = at_rest_(c);
        return v;
    }
    // F.v_t is taken from the guides
    void take_from_guides(const MixedVector& force, const Vec3& velocity) {
        if (const Vec3 v_t = time_part(velocity); !is_zero(g_, v_t)) guides_.push_back(g_.neg(kin_.frames().dot(force, {{v_t}})));
    }
    // F.v, for the entry
    NodeId power(const MixedVector& force, const Vec3& velocity) {
        take_from_guides(force, velocity);
        return kin_.frames().dot(force, {{velocity}});
    }
    NodeId generalized_power(std::size_t speed, NodeId force) {
        guides_.push_back(g_.mul(force, offset_[speed]));
        return g_.mul(force, g_.sub(g_.symbol_node(m_.speeds[speed].u), offset_[speed]));
    }
    Vec3 velocity_at(PointId point, FrameId body) {
        return body.valid() ? kin_.material_velocity(body, point) : kin_.velocity(point);
    }

    // ---- entries

    void add(std::string name, NodeId power) {
        const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const LedgerEntry& e) { return e.name == name; });
        if (found == entries_.end())
            entries_.push_back({std::move(name), power});
        else
            found->power = g_.add(found->power, power);
    }

    // the parts of one statement, which may be a pair of forces or a family, are one entry
    void add_load(const Load& load, NodeId power) {
        const std::pair place(load.span.file, load.span.begin);
        const auto [found, fresh] = statements_.try_emplace(place, entries_.size());
        if (fresh || !load.span.known())
            entries_.push_back({statement_name(load.text), power});
        else
            entries_[found->second].power = g_.add(entries_[found->second].power, power);
    }

    [[nodiscard]] std::string law_entry(std::size_t constraint) const {
        return fmt::format("nonideal {}", m_.constraints[constraint].name);
    }
    // Friction whose law is zero while it slides may still have a force in the mode where it sticks: every mode has the entry.
    [[nodiscard]] bool of_friction(const LedgerEntry& e) const {
        return std::ranges::any_of(m_.frictions, [&](const Friction& f) { return law_entry(f.constraint) == e.name; });
    }

    // statements that begin alike
    void tell_apart() {
        for (std::size_t i = 0; i < entries_.size(); ++i) {
            const std::string name = entries_[i].name;
            int number = 1;
            for (std::size_t k = i + 1; k < entries_.size(); ++k)
                if (entries_[k].name == name) entries_[k].name = fmt::format("{} ({})", name, ++number);
        }
    }

    // ---- the sums

    // m a . v_t of everything with mass
    void masses() {
        const auto at_point = [&](PointId point, NodeId mass) {
            const Vec3& v = kin_.velocity(point);
            const Vec3 v_t = time_part(v);
            if (is_zero(g_, v_t)) return;
            guides_.push_back(
                g_.mul(mass, dot(g_, with_rates(kin_.acceleration_bias(point), kin_.partial_velocities(point)), v_t)));
        };
        for (const Particle& particle : m_.particles) at_point(particle.point, kin_.resolve(particle.mass));
        for (const Body& body : m_.bodies) {
            at_point(body.center, kin_.resolve(body.mass));
            const Vec3& w = kin_.omega(body.frame);
            const Vec3 w_t = time_part(w);
            if (is_zero(g_, w_t)) continue;
            Diagnostics judged_before;
            const Matrix3 I = central_inertia(kin_, body, judged_before);
            const Vec3 alpha = with_rates(kin_.alpha_bias(body.frame), kin_.partial_omegas(body.frame));
            const Vec3 momentum{body.frame, multiply(g_, I, w.c)}, change{body.frame, multiply(g_, I, alpha.c)};
            guides_.push_back(dot(g_, appell::add(g_, change, cross(g_, w, momentum)), w_t));
        }
    }

    Vec3 with_rates(Vec3 bias, std::span<const PartialVelocity> partials) {
        for (const PartialVelocity& p : partials)
            bias = appell::add(g_, bias, scale(g_, g_.symbol_node(m_.speeds[p.speed].rate), p.v));
        return bias;
    }

    NodeId of_load(const ForceLoad& load) { return power(kin_.resolve_vector(load.force), velocity_at(load.point, load.body)); }

    NodeId of_load(const TorqueLoad& load) {
        const MixedVector torque = kin_.resolve_vector(load.torque);
        const NodeId on_body = power(torque, kin_.omega(load.body));
        if (!load.reaction.valid()) return on_body;
        return g_.add(on_body, power(appell::scale(g_, g_.constant(-1), torque), kin_.omega(load.reaction)));
    }

    // The potential of gravity holds where it depends on parameters alone; all of it is in the energy then (derive_dynamics).
    NodeId of_load(const GravityLoad& load) {
        const MixedVector gravity = kin_.resolve_vector(load.acceleration);
        std::vector<NodeId> terms;
        const auto weight = [&](PointId point, NodeId mass) {
            const MixedVector force = appell::scale(g_, kin_.resolve(mass), gravity);
            if (d_.gravity_has_potential)
                take_from_guides(force, kin_.velocity(point));
            else
                terms.push_back(power(force, kin_.velocity(point)));
        };
        for (const Particle& particle : m_.particles) weight(particle.point, particle.mass);
        for (const Body& body : m_.bodies) weight(body.center, body.mass);
        return g_.sum(terms);
    }

    // V = k s^2/2 with s = |line| - l changes by k' s^2/2 - k s l' beside the work of the force
    NodeId of_load(const SpringLoad& load) {
        const MixedVector line = between(kin_.position(load.first), kin_.position(load.second));
        const NodeId k = kin_.resolve(load.stiffness), rest = kin_.resolve(load.length);
        const bool no_length = g_.is_constant(rest, 0);
        const NodeId length = no_length ? NodeId{} : kin_.frames().magnitude(line);
        const NodeId stretch = no_length ? NodeId{} : g_.sub(length, rest);
        const NodeId over_length = no_length ? k : g_.div(g_.mul(k, stretch), length);
        (void)on_pair(load.first, load.second, appell::scale(g_, g_.neg(over_length), line));
        const NodeId k_rate = kin_.rate(k), rest_rate = kin_.rate(rest);
        const NodeId square = no_length ? kin_.frames().dot(line, line) : g_.pow(stretch, 2);
        NodeId change = g_.mul(g_.constant(0.5), g_.mul(k_rate, square));
        if (!no_length) change = g_.sub(change, g_.mul(g_.mul(k, stretch), rest_rate));
        return change;
    }

    NodeId of_load(const DamperLoad& load) {
        const MixedVector line = between(kin_.position(load.first), kin_.position(load.second));
        const MixedVector relative = between(MixedVector{{kin_.velocity(load.first)}}, MixedVector{{kin_.velocity(load.second)}});
        const NodeId factor =
            g_.div(g_.mul(kin_.resolve(load.coefficient), kin_.frames().dot(relative, line)), kin_.frames().dot(line, line));
        return on_pair(load.first, load.second, appell::scale(g_, g_.neg(factor), line));
    }

    NodeId of_load(const GeneralizedLoad& load) { return generalized_power(load.speed, kin_.resolve(load.force)); }

    // forces -dV/dq have the power -dV/dq q'; of V' that leaves dV/dt, and dV/dq k to the guides
    NodeId of_load(const PotentialLoad& load) {
        const NodeId V = kin_.resolve(load.energy);
        std::vector<SymbolId> variables;
        for (const Coordinate& c : m_.coordinates) variables.push_back(c.q);
        variables.push_back(m_.time);
        NodeId by_time = g_.constant(0);
        for (const SparseEntry& e : jacobian(g_, std::span(&V, 1), variables, DerivativeMode::automatic).entries) {
            if (e.column == m_.coordinates.size())
                by_time = e.value;
            else
                guides_.push_back(g_.mul(e.value, kin_.k()[e.column]));
        }
        return by_time;
    }

    NodeId on_pair(PointId first, PointId second, const MixedVector& force_on_first) {
        const NodeId on_first = power(force_on_first, kin_.velocity(first));
        return g_.add(on_first, power(appell::scale(g_, g_.constant(-1), force_on_first), kin_.velocity(second)));
    }
    MixedVector between(const MixedVector& first, const MixedVector& second) {
        return appell::add(g_, first, appell::scale(g_, g_.constant(-1), second));
    }

    // rows that ideal forces keep
    void constraints() {
        const std::vector<ConstraintForces> forces = row_forces(d_);
        std::vector<std::size_t> rows;
        std::vector<NodeId> powers, euler;
        for (std::size_t i = 0; i < d_.rows.size(); ++i) {
            if (d_.rows[i].by_actuators || sticks(d_, d_.rows[i])) continue;
            const std::size_t known = guides_.size();
            const NodeId lambda = g_.symbol_node(d_.rows[i].multiplier);
            std::vector<NodeId> terms;
            for (const ForceDirection& f : forces[i].forces)
                terms.push_back(power(kin_.resolve_vector(f.W), velocity_at(f.point, f.body)));
            for (const TorqueDirection& t : forces[i].torques)
                terms.push_back(power(kin_.resolve_vector(t.tau), kin_.omega(t.body)));
            for (const GeneralizedDirection& q : forces[i].generalized) terms.push_back(generalized_power(q.speed, q.value));
            for (std::size_t k = known; k < guides_.size(); ++k) guides_[k] = g_.mul(lambda, guides_[k]);
            rows.push_back(i);
            powers.push_back(g_.sum(terms));
            const NodeId phi = d_.rows[i].velocity;
            for (const double p : k_degrees) {
                if (!phi.valid())
                    euler.push_back(powers.back());
                else
                    euler.push_back(piecewise(g_, phi) ? g_.constant(1) : g_.sub(powers.back(), g_.mul(g_.constant(p), phi)));
            }
        }
        const std::vector<bool> zero = identically_zero(g_, euler);
        for (std::size_t k = 0; k < rows.size(); ++k) {
            const auto first = zero.begin() + static_cast<std::ptrdiff_t>(k * std::size(k_degrees));
            if (std::any_of(first, first + std::size(k_degrees), [](bool b) { return b; })) continue;
            const ConstraintRow& row = d_.rows[rows[k]];
            add(m_.constraints[row.constraint].name, g_.mul(g_.symbol_node(row.multiplier), powers[k]));
        }
    }

    NodeId of_acting(const ActingForce& f) {
        if (f.kind == ActingForce::Kind::generalized) return generalized_power(f.speed, quantities_.scalar(f.value, {}));
        const MixedVector force{{Vec3{Model::newtonian(), quantities_.vector(f.value, {})}}};
        return power(force, f.kind == ActingForce::Kind::torque ? kin_.omega(f.body) : velocity_at(f.point, f.body));
    }

    const ConstrainedDynamics& d_;
    const Model& m_;
    Graph& g_;
    Kinematics& kin_;
    Quantities& quantities_;
    MemoizedSubstitution at_rest_;
    std::vector<NodeId> offset_;  // Z
    std::vector<NodeId> guides_;  // terms of sum (m a - F - R).v_t
    std::vector<LedgerEntry> entries_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> statements_;  // entry of each, by its place
};

}  // namespace

std::vector<LedgerEntry> energy_ledger(const ConstrainedDynamics& dynamics, Quantities& quantities) {
    return Ledger(dynamics, quantities).run();
}

}  // namespace appell
