#include "pipeline/law_programs.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "dynam/central_inertia.hpp"
#include "dynam/row_sizes.hpp"
#include "expr/compared_pairs.hpp"
#include "expr/dependence.hpp"
#include "expr/differentiate.hpp"
#include "pipeline/motion_lowering.hpp"

namespace appell {

namespace {

bool depends_on_sides(const Graph& g, std::span<const NodeId> roots, const FrozenConditions& conditions) {
    const std::vector<SymbolId> symbols = symbols_in(g, roots);
    return std::ranges::any_of(conditions.all(), [&](const Condition& c) { return std::ranges::binary_search(symbols, c.side); });
}

bool depends_on_sides(const Graph& g, NodeId root, const FrozenConditions& conditions) {
    return depends_on_sides(g, std::span(&root, 1), conditions);
}

class LawProgramMaker {
public:
    LawProgramMaker(const ConstrainedDynamics& d, const LoweredMotion& lowered, FrozenConditions& conditions, LawPrograms& out)
        : d_(d), m_(*d.model), g_(d.graph()), lowered_(lowered), conditions_(conditions), out_(out) {}

    void make() {
        out_.motion = &lowered_.motion;
        out_.first_side = lowered_.first_side;
        out_.conditions = lowered_.sides;
        look();
        clocks();
        places();
        jumps();
    }

private:
    void look() {
        std::vector<NodeId> values, sizes, rates, rate_sizes, seconds, second_sizes;
        for (const Condition& c : conditions_.all()) {
            values.push_back(c.guard);
            sizes.push_back(g_.add(g_.make(Op::Abs, c.first), g_.make(Op::Abs, c.second)));
            rates.push_back(d_.kinematics->rate(c.guard));
            rate_sizes.push_back(size_of_rate(c.guard));
            out_.has_second.push_back(c.jumps && compares_places(c.guard));
            const bool second = out_.has_second.back();
            seconds.push_back(second ? d_.kinematics->rate(rates.back()) : g_.constant(0));
            second_sizes.push_back(second ? size_of_rate(rates.back()) : g_.constant(0));
        }
        out_.values = lower_frozen(g_,
                                   {lowered_.inputs,
                                    lowered_.equations,
                                    {{"value", values},
                                     {"size", sizes},
                                     {"rate", rates},
                                     {"rate size", rate_sizes},
                                     {"second", seconds},
                                     {"second size", second_sizes}}},
                                   &conditions_);
        out_.look.emplace(lowered_.motion, out_.values);
        out_.guards = lower_frozen(g_, {lowered_.inputs, {}, {{"value", values}}}, &conditions_);
        if (Enclosure::serves(out_.guards)) out_.bounds.emplace(out_.guards);
    }

    // it depends on coordinates, and on no speeds
    [[nodiscard]] bool compares_places(NodeId guard) const {
        bool places = false;
        for (const SymbolId s : symbols_in(g_, std::span(&guard, 1))) {
            if (g_.symbol(s).kind == SymbolKind::speed) return false;
            places = places || g_.symbol(s).kind == SymbolKind::coordinate;
        }
        return places;
    }

    // of all that the rate is the sum of, where a constraint may make them cancel
    [[nodiscard]] NodeId size_of_rate(NodeId guard) {
        NodeId sum = g_.constant(0);
        for (const SymbolId s : symbols_in(g_, std::span(&guard, 1))) {
            const NodeId rate = d_.kinematics->rate(g_.symbol_node(s));
            if (!g_.is_constant(rate, 0))
                sum = g_.add(sum, g_.make(Op::Abs, g_.mul(derivative(g_, std::span(&guard, 1), s).front(), rate)));
        }
        return sum;
    }

    void clocks() {
        for (std::size_t i = 0; i < conditions_.size(); ++i) {
            const Condition& c = conditions_.all()[i];
            if (!c.of_time) continue;
            out_.of_time.push_back(i);
            out_.nested.push_back(depends_on_sides(g_, c.guard, conditions_));
            out_.clocks.push_back(lower_frozen(g_, {lowered_.inputs, {}, {{"value", {c.guard}}}}, &conditions_));
        }
    }

    void add_place(const std::string& name, NodeId value) {
        const NodeId frozen = conditions_(value);
        if (!depends_on_sides(g_, frozen, conditions_)) return;
        places_.push_back(frozen);
        out_.place_names.push_back(name);
    }

    void places() {
        Kinematics& kin = *d_.kinematics;
        for (std::size_t i = 0; i < m_.points.size(); ++i) {
            const Vec3 at = kin.frames().express(kin.position(PointId(i)), Model::newtonian());
            for (const NodeId component : at.c) add_place(fmt::format("position of {}", m_.points[i].name), component);
        }
        for (std::size_t i = 1; i < m_.frames.size(); ++i)
            for (const NodeId axis : m_.frames[i].basis) {
                const Vec3 direction = kin.frames().express(kin.resolve_vector(axis), Model::newtonian());
                for (const NodeId component : direction.c)
                    add_place(fmt::format("orientation of {}", m_.frames[i].name), component);
            }
        if (places_.empty()) return;
        out_.places = lower_frozen(g_, {lowered_.inputs, {}, {{"place", places_}}}, &conditions_);
        out_.place.emplace(lowered_.motion, out_.places);
    }

    // velocities v and momenta h, by component, so that the kinetic energy is the sum of v h/2
    void add_mass_motions() {
        Kinematics& kin = *d_.kinematics;
        const auto add = [&](const Vec3& v, const Vec3& h) {
            for (std::size_t i = 0; i < 3; ++i) {
                if (g_.is_constant(v.c[i], 0)) continue;
                velocity_.push_back(v.c[i]);
                momentum_.push_back(h.c[i]);
            }
        };
        const auto add_point = [&](PointId point, NodeId mass) {
            const Vec3& v = kin.velocity(point);
            add(v, scale(g_, kin.resolve(mass), v));
        };
        Diagnostics said;  // when the dynamics were derived
        for (const Particle& particle : m_.particles) add_point(particle.point, particle.mass);
        for (const Body& body : m_.bodies) {
            add_point(body.center, body.mass);
            const Turning turn = turning(kin, body, said);
            add(turn.omega, turn.momentum(g_));
        }
    }

    // The momenta of the masses change by impulses along the normals of the rows alone: with the momenta before h,
    //     M du - A' p = -sum (momentum - h) d velocity/du,    A du = -(residuals of the rows)
    // from speeds u to u + du. Servo rows are kept by impulses of their actuators.
    void jumps() {
        if (!switches_may_jump(d_, conditions_)) return;
        add_mass_motions();
        std::vector<SymbolId> u;
        for (const Speed& s : m_.speeds) u.push_back(s.u);
        out_.momenta =
            lower_frozen(g_,
                         {lowered_.inputs,
                          {},
                          {{"momentum", momentum_}, {"potential", {d_.potential_energy}}, {"kinetic", {d_.kinetic_energy}}}},
                         &conditions_);
        out_.momentum.emplace(lowered_.motion, out_.momenta);
        std::vector<SymbolId> inputs = lowered_.inputs;
        ConstrainedSolve solve;
        solve.M = d_.M();
        solve.f.assign(u.size(), g_.constant(0));
        std::vector<NodeId> change;
        for (std::size_t k = 0; k < momentum_.size(); ++k) {
            inputs.push_back(g_.add_symbol(fmt::format("momentum before {}", k + 1), SymbolKind::other));
            change.push_back(g_.sub(g_.symbol_node(inputs.back()), momentum_[k]));
        }
        for (const SparseEntry& e : jacobian(g_, velocity_, u).entries)
            solve.f[e.column] = g_.add(solve.f[e.column], g_.mul(change[e.row], e.value));
        std::vector<NodeId> jump;
        for (std::size_t i = 0; i < u.size(); ++i) {
            solve.x.push_back(g_.add_symbol(fmt::format("jump at a switch {}", i + 1), SymbolKind::other));
            jump.push_back(g_.symbol_node(solve.x.back()));
        }
        add_rows(solve);
        out_.impulse = lower_frozen(g_, {std::move(inputs), {std::move(solve)}, {{"jump", std::move(jump)}}}, &conditions_);
    }

    void add_rows(ConstrainedSolve& solve) {
        solve.A = solve.S = {0, m_.speeds.size(), {}};
        const std::vector<double> row_sizes = appell::row_sizes(d_);
        std::vector<NodeId> sizes;  // behind the right sides
        for (std::size_t row = 0; row < d_.rows.size(); ++row) {
            const ConstraintRow& r = d_.rows[row];
            const Constraint& c = m_.constraints[r.constraint];
            // friction makes no impulse, and contacts have their own law of impact
            if (r.level == Level::acceleration || c.stick_of || c.unilateral) continue;
            SparseMatrix& rows = r.by_actuators ? solve.S : solve.A;
            for (const SparseEntry& e : d_.A.entries)
                if (e.row == row) rows.entries.push_back({static_cast<std::uint32_t>(rows.rows), e.column, e.value});
            ++rows.rows;
            (r.by_actuators ? solve.s : solve.b).push_back(g_.neg(r.velocity));
            if (!r.by_actuators && !row_sizes.empty()) sizes.push_back(g_.constant(row_sizes[row]));
            if (!r.by_actuators)
                solve.lambda.push_back(g_.add_symbol(fmt::format("impulse at a switch {}", row + 1), SymbolKind::other));
        }
        solve.b.insert(solve.b.end(), sizes.begin(), sizes.end());
        if (solve.S.rows == 0) {
            solve.S = {};
            return;
        }
        solve.kind = SolveKind::realised;
        solve.D = d_.D;
        for (std::size_t i = 0; i < d_.actuators.size(); ++i)
            solve.tau.push_back(g_.add_symbol(fmt::format("impulse of an actuator {}", i + 1), SymbolKind::other));
    }

    const ConstrainedDynamics& d_;
    const Model& m_;
    Graph& g_;
    const LoweredMotion& lowered_;
    FrozenConditions& conditions_;
    LawPrograms& out_;
    std::vector<NodeId> places_, velocity_, momentum_;
};

}  // namespace

bool switches_may_jump(const ConstrainedDynamics& d, const FrozenConditions& conditions) {
    if (conditions.empty()) return false;
    std::vector<NodeId> roots{d.kinetic_energy, d.potential_energy};
    for (const ConstraintRow& row : d.rows)
        for (const NodeId phi : {row.position, row.velocity})
            if (phi.valid()) roots.push_back(phi);
    // what abs, min and max alone make of these bends and does not jump
    const std::vector<ComparedPair> pairs = compared_pairs(d.graph(), roots);
    return std::ranges::any_of(pairs, [&](const ComparedPair& pair) {
        return pair.jumps && std::ranges::any_of(conditions.all(), [&](const Condition& c) {
                   return (c.first == pair.first && c.second == pair.second) ||
                          (c.first == pair.second && c.second == pair.first);
               });
    });
}

void LawPrograms::set_parameter(std::size_t index, double value) {
    for (std::optional<MotionProgram>* program : {&look, &place, &momentum})
        if (*program) (*program)->set_parameter(index, value);
    if (bounds) bounds->set_constant(1 + motion->states() + index, value);
}

void make_law_programs(const ConstrainedDynamics& dynamics, const LoweredMotion& lowered, FrozenConditions& conditions,
                       LawPrograms& out) {
    LawProgramMaker(dynamics, lowered, conditions, out).make();
}

}  // namespace appell
