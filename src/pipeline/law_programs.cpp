#include "pipeline/law_programs.hpp"

#include <algorithm>

#include <fmt/format.h>

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
        clock();
        places();
        jumps();
    }

private:
    void look() {
        std::vector<NodeId> values, sizes, rates;
        for (const Condition& c : conditions_.all()) {
            values.push_back(c.guard);
            sizes.push_back(g_.add(g_.make(Op::Abs, c.first), g_.make(Op::Abs, c.second)));
            rates.push_back(d_.kinematics->rate(c.guard));
        }
        out_.values = lower_frozen(
            g_, {lowered_.inputs, lowered_.equations, {{"value", values}, {"size", sizes}, {"rate", rates}}}, &conditions_);
        out_.look.emplace(lowered_.motion, out_.values);
    }

    void clock() {
        std::vector<NodeId> values;
        for (std::size_t i = 0; i < conditions_.size(); ++i) {
            if (!conditions_.all()[i].of_time) continue;
            out_.of_time.push_back(i);
            values.push_back(conditions_.all()[i].guard);
        }
        if (!values.empty()) out_.clock = lower_frozen(g_, {lowered_.inputs, {}, {{"value", values}}}, &conditions_);
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

    // M du - A' p = -(change of the momenta at the same speeds), A du = -(residuals of the rows): momenta along all that the rows
    // leave free stay what they were
    void jumps() {
        if (!switches_may_jump(d_, conditions_)) return;
        std::vector<SymbolId> u;
        for (const Speed& s : m_.speeds) u.push_back(s.u);
        std::vector<NodeId> momentum(u.size(), g_.constant(0));
        for (const SparseEntry& e : jacobian(g_, std::span(&d_.kinetic_energy, 1), u).entries) momentum[e.column] = e.value;
        out_.momenta =
            lower_frozen(g_,
                         {lowered_.inputs,
                          {},
                          {{"momentum", momentum}, {"potential", {d_.potential_energy}}, {"kinetic", {d_.kinetic_energy}}}},
                         &conditions_);
        out_.momentum.emplace(lowered_.motion, out_.momenta);
        ConstrainedSolve solve;
        solve.M = d_.M();
        solve.A = {0, u.size(), {}};
        std::vector<SymbolId> inputs = lowered_.inputs;
        std::vector<NodeId> jump;
        for (std::size_t i = 0; i < u.size(); ++i) {
            inputs.push_back(g_.add_symbol(fmt::format("change of momentum {}", i + 1), SymbolKind::other));
            solve.f.push_back(g_.neg(g_.symbol_node(inputs.back())));
            solve.x.push_back(g_.add_symbol(fmt::format("jump at a switch {}", i + 1), SymbolKind::other));
            jump.push_back(g_.symbol_node(solve.x.back()));
        }
        for (std::size_t row = 0; row < d_.rows.size(); ++row) {
            const ConstraintRow& r = d_.rows[row];
            const Constraint& c = m_.constraints[r.constraint];
            // friction makes no impulse, actuators none either, and contacts have their own law of impact
            if (r.level == Level::acceleration || c.stick_of || c.unilateral || r.by_actuators) continue;
            for (const SparseEntry& e : d_.A.entries)
                if (e.row == row) solve.A.entries.push_back({static_cast<std::uint32_t>(solve.A.rows), e.column, e.value});
            solve.b.push_back(g_.neg(r.velocity));
            solve.lambda.push_back(g_.add_symbol(fmt::format("impulse at a switch {}", row + 1), SymbolKind::other));
            ++solve.A.rows;
        }
        out_.impulse = lower_frozen(g_, {std::move(inputs), {std::move(solve)}, {{"jump", std::move(jump)}}}, &conditions_);
    }

    const ConstrainedDynamics& d_;
    const Model& m_;
    Graph& g_;
    const LoweredMotion& lowered_;
    FrozenConditions& conditions_;
    LawPrograms& out_;
    std::vector<NodeId> places_;
};

}  // namespace

bool switches_may_jump(const ConstrainedDynamics& d, FrozenConditions& conditions) {
    if (conditions.empty()) return false;
    std::vector<NodeId> roots{conditions(d.kinetic_energy), conditions(d.potential_energy)};
    for (const ConstraintRow& row : d.rows)
        for (const NodeId phi : {row.position, row.velocity})
            if (phi.valid()) roots.push_back(conditions(phi));
    return depends_on_sides(d.graph(), roots, conditions);
}

void LawPrograms::set_parameter(std::size_t index, double value) {
    for (std::optional<MotionProgram>* program : {&look, &place, &momentum})
        if (*program) (*program)->set_parameter(index, value);
}

void make_law_programs(const ConstrainedDynamics& dynamics, const LoweredMotion& lowered, FrozenConditions& conditions,
                       LawPrograms& out) {
    LawProgramMaker(dynamics, lowered, conditions, out).make();
}

}  // namespace appell
