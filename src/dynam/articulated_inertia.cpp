#include "dynam/articulated_inertia.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "dynam/row_sizes.hpp"
#include "expr/evaluate.hpp"
#include "expr/linear_split.hpp"

namespace appell {

namespace {

// sums that begin with their first term
void add_to(Graph& g, NodeId& sum, NodeId term) { sum = sum.valid() ? g.add(sum, term) : term; }
void take_from(Graph& g, NodeId& sum, NodeId term) { sum = sum.valid() ? g.sub(sum, term) : g.neg(term); }

}  // namespace

// The variables of a tree and their combinations; then the elimination.
class ArticulatedTree::Elimination {
public:
    explicit Elimination(const ConstrainedDynamics& dynamics)
        : kin_(*dynamics.kinematics),
          m_(*dynamics.model),
          g_(kin_.graph()),
          sums_(*dynamics.inertia),
          speeds_(m_.speeds.size()),
          zero_(g_.constant(0)),
          one_(g_.constant(1)) {
        split_speeds();
        define_frames();
        define_points();
    }

    // false where some rate has no inertia, or where there is no tree
    [[nodiscard]] bool run() {
        rows_.resize(speeds_ + 3 * vectors_.size());
        force_.resize(rows_.size());
        pivots_.resize(speeds_);
        add_inertia();
        for (Variable x = 0; x < rows_.size(); ++x)
            for (const auto& [y, value] : rows_[x])
                if (y <= x) given_.push_back({x, y, value});
        add_forces();
        return eliminate();
    }

    // The root of the largest M_ii / D_i in numbers. M_ii come by the same steps without the minimising: a rate that nothing else
    // contains any more has its inertia then, and leaves.
    [[nodiscard]] double growth(std::span<const double> values) const {
        std::vector<NodeId> nodes(pivots_);
        for (const Given& given : given_) nodes.push_back(given.value);
        for (const Step& step : steps_)
            for (const Share& share : step.shares) nodes.push_back(share.factor);
        const std::vector<double> numbers = evaluate<double>(g_, nodes, values);
        std::vector<std::map<Variable, double>> rows(rows_.size());
        const auto add = [&](Variable x, Variable y, double value) {
            rows[x][y] += value;
            if (x != y) rows[y][x] = rows[x][y];
        };
        std::size_t next = speeds_;
        for (const Given& given : given_) add(given.x, given.y, numbers[next++]);
        double most = 1;
        for (const Step& step : steps_) {
            const std::span<const double> factors = std::span(numbers).subspan(next, step.shares.size());
            next += step.shares.size();
            const std::map<Variable, double> row = std::exchange(rows[step.variable], {});
            for (const auto& [other, value] : row)
                if (other != step.variable) rows[other].erase(step.variable);
            if (step.variable < speeds_) {
                const auto own = row.find(step.variable);
                if (own != row.end()) most = std::max(most, own->second / numbers[step.variable]);
                continue;
            }
            for (const auto& [other, value] : row)
                for (std::size_t k = 0; k < factors.size(); ++k) {
                    const Variable of = step.shares[k].of;
                    if (other != step.variable) {
                        add(of, other, (of == other ? 2 : 1) * factors[k] * value);
                        continue;
                    }
                    for (std::size_t l = 0; l <= k; ++l) add(of, step.shares[l].of, factors[k] * value * factors[l]);
                }
        }
        return std::sqrt(most);
    }

    [[nodiscard]] ArticulatedTree tree() && {
        ArticulatedTree out;
        out.graph_ = &g_;
        out.speeds_ = speeds_;
        out.variables_ = rows_.size();
        out.steps_ = std::move(steps_);
        out.inertias_ = std::move(pivots_);
        out.forces_.assign(force_.begin(), force_.begin() + static_cast<std::ptrdiff_t>(speeds_));
        for (NodeId& force : out.forces_)
            if (!force.valid()) force = zero_;
        return out;
    }

    // some mass, or some inertia, has more speeds in its velocity than this
    [[nodiscard]] bool moves_by_more_than(std::size_t most) const {
        std::vector<std::set<Variable>> speeds(vectors_.size());
        for (VectorIndex v = 0; v < vectors_.size(); ++v)
            for (const std::vector<Share>& shares : vectors_[v].components)
                for (const Share& share : shares) {
                    if (speeds[v].size() > most) break;
                    if (share.of < speeds_)
                        speeds[v].insert(share.of);
                    else
                        speeds[v].insert(speeds[(share.of - speeds_) / 3].begin(), speeds[(share.of - speeds_) / 3].end());
                }
        const auto many = [&](VectorIndex v) { return speeds[v].size() > most; };
        for (std::size_t i = 0; i < sums_.masses().size(); ++i)
            if (sums_.masses()[i].valid() && many(velocities_[i])) return true;
        return std::any_of(sums_.rotations().begin(), sums_.rotations().end(),
                           [&](const InertiaSums::Rotation& rotation) { return many(omegas_[rotation.body.index()]); });
    }

private:
    using Variable = ArticulatedTree::Variable;
    using Share = ArticulatedTree::Share;
    using Step = ArticulatedTree::Step;
    using VectorIndex = std::uint32_t;
    struct Given {
        Variable x, y;
        NodeId value;
    };

    // components by their shares; one without any is zero
    struct Vector {
        FrameId frame;
        std::array<std::vector<Share>, 3> components;
    };

    // ---- combinations

    [[nodiscard]] Variable component(VectorIndex v, std::size_t axis) const {
        return static_cast<Variable>(speeds_ + 3 * v + axis);
    }
    [[nodiscard]] bool moves(VectorIndex v, std::size_t axis) const { return !vectors_[v].components[axis].empty(); }

    VectorIndex add_vector(Vector v) {
        vectors_.push_back(std::move(v));
        return static_cast<VectorIndex>(vectors_.size() - 1);
    }

    void add_share(Vector& v, std::size_t axis, Variable of, NodeId factor) const {
        std::vector<Share>& shares = v.components[axis];
        const auto found = std::find_if(shares.begin(), shares.end(), [&](const Share& share) { return share.of == of; });
        if (found == shares.end())
            shares.push_back({of, factor});
        else
            found->factor = g_.add(found->factor, factor);
    }
    // the speeds of a vector that is linear in them, the next of those that were split
    void add_speeds(Vector& v) {
        for (std::size_t axis = 0; axis < 3; ++axis, ++next_split_)
            for (; next_entry_ < split_.entries.size() && split_.entries[next_entry_].row == next_split_; ++next_entry_)
                add_share(v, axis, split_.entries[next_entry_].column, split_.entries[next_entry_].value);
    }
    // what frames and points add to the velocities they are defined by, all at once
    void split_speeds() {
        const VelocityField& field = kin_.field();
        std::vector<NodeId> roots;
        const auto add_root = [&](const std::array<NodeId, 3>& c) { roots.insert(roots.end(), c.begin(), c.end()); };
        for (std::size_t i = 0; i < m_.frames.size(); ++i)
            add_root(field.omega_known[i] ? field.omega[i].c : field.relative_omega[i].c);
        for (std::size_t i = 0; i < m_.points.size(); ++i) {
            if (field.velocity_known[i])
                add_root(field.velocity[i].c);
            else
                for (const Vec3& part : kin_.place(PointId(i)).offset.parts)
                    add_root({kin_.rate_bias(part.c[0]), kin_.rate_bias(part.c[1]), kin_.rate_bias(part.c[2])});
        }
        std::vector<SymbolId> speeds;
        for (const Speed& speed : m_.speeds) speeds.push_back(speed.u);
        LinearSplit split = split_linear(g_, roots, speeds);
        APPELL_ASSERT(!split.failure, "velocities are linear in the speeds");
        split_ = std::move(split.coefficients);
    }
    void add_component(Vector& v, std::size_t axis, VectorIndex of, std::size_t axis_of, NodeId factor) const {
        if (moves(of, axis_of) && factor != zero_) add_share(v, axis, component(of, axis_of), factor);
    }

    // the same vector in another frame, a variable of its own: what several vectors add there is turned together
    VectorIndex turned(VectorIndex v, FrameId to) {
        const FrameId from = vectors_[v].frame;
        if (from == to) return v;
        const auto found = turned_.find({v, to});
        if (found != turned_.end()) return found->second;
        const Matrix3& R = kin_.frames().rotation(to, from);
        Vector out{to, {}};
        for (std::size_t i = 0; i < 3; ++i)
            for (std::size_t j = 0; j < 3; ++j) add_component(out, i, v, j, R[3 * i + j]);
        return turned_[{v, to}] = add_vector(std::move(out));
    }
    void add_whole(Vector& sum, VectorIndex v) {
        v = turned(v, sum.frame);
        for (std::size_t i = 0; i < 3; ++i) add_component(sum, i, v, i, one_);
    }
    // omega x part
    void add_turning(Vector& sum, VectorIndex omega, const std::array<NodeId, 3>& part) {
        for (std::size_t i = 0; i < 3; ++i) {
            const std::size_t j = (i + 1) % 3, k = (i + 2) % 3;
            add_component(sum, i, omega, j, part[k]);
            add_component(sum, i, omega, k, g_.neg(part[j]));
        }
    }

    void define_frames() {
        const VelocityField& field = kin_.field();
        for (std::size_t i = 0; i < m_.frames.size(); ++i) {
            Vector w{FrameId(i), {}};
            const FrameId parent = m_.frames[i].parent;
            if (!field.omega_known[i] && parent.valid()) add_whole(w, omegas_[parent.index()]);
            add_speeds(w);
            omegas_.push_back(add_vector(std::move(w)));
        }
    }

    void define_points() {
        const VelocityField& field = kin_.field();
        for (std::size_t i = 0; i < m_.points.size(); ++i) {
            Vector v{field.velocity[i].frame, {}};
            const PointPlace& place = kin_.place(PointId(i));
            if (field.velocity_known[i]) {
                add_speeds(v);
            } else {
                if (place.base.valid()) add_whole(v, velocities_[place.base.index()]);
                for (const Vec3& part : place.offset.parts) {
                    Vector added{part.frame, {}};
                    Vector& sum = part.frame == v.frame ? v : added;
                    add_turning(sum, omegas_[part.frame.index()], part.c);
                    add_speeds(sum);
                    if (&sum == &added) add_whole(v, add_vector(std::move(added)));
                }
            }
            velocities_.push_back(add_vector(std::move(v)));
        }
    }

    // ---- the quadratic form and the linear one

    // one pair of places; what cancels is gone
    template <class Change>
    void change(Variable x, Variable y, Change change) {
        const auto found = rows_[x].find(y);
        NodeId sum = found == rows_[x].end() ? NodeId{} : found->second;
        change(sum);
        for (const Variable variable : {x, y})
            if (variable >= speeds_) changed_.insert(static_cast<VectorIndex>((variable - speeds_) / 3));
        if (sum == zero_) {
            rows_[x].erase(y);
            rows_[y].erase(x);
        } else {
            rows_[x][y] = rows_[y][x] = sum;
        }
    }
    void add(Variable x, Variable y, NodeId term) {
        if (term != zero_) change(x, y, [&](NodeId& sum) { add_to(g_, sum, term); });
    }

    void add_inertia() {
        for (std::size_t i = 0; i < sums_.masses().size(); ++i)
            for (std::size_t axis = 0; axis < 3 && sums_.masses()[i].valid(); ++axis)
                if (moves(velocities_[i], axis))
                    add(component(velocities_[i], axis), component(velocities_[i], axis), sums_.masses()[i]);
        // an inertia that is the same in the frame before the last rotation is the same in the body's
        for (const InertiaSums::Rotation& rotation : sums_.rotations()) {
            const VectorIndex w = omegas_[rotation.body.index()];
            for (std::size_t i = 0; i < 3; ++i)
                for (std::size_t j = 0; j <= i; ++j)
                    if (moves(w, i) && moves(w, j)) add(component(w, i), component(w, j), rotation.inertia[3 * i + j]);
        }
    }

    void add_force(VectorIndex v, const std::array<NodeId, 3>& force) {
        for (std::size_t axis = 0; axis < 3; ++axis)
            if (moves(v, axis) && force[axis] != zero_) add_to(g_, force_[component(v, axis)], force[axis]);
    }
    void add_forces() {
        for (std::size_t i = 0; i < sums_.forces().size(); ++i)
            if (sums_.forces()[i].frame.valid()) add_force(velocities_[i], sums_.forces()[i].c);
        for (const InertiaSums::Resultant& resultant : sums_.resultants()) {
            if (const auto* torque = std::get_if<InertiaSums::Torque>(&resultant))
                add_force(omegas_[torque->body.index()], kin_.frames().express(torque->torque, torque->body).c);
            if (const auto* force = std::get_if<InertiaSums::MaterialForce>(&resultant)) {
                const FrameId body = force->body;
                add_force(velocities_[kin_.center(body).index()], force->force.c);
                const Vec3 arm = kin_.material_arm(body, force->point);
                add_force(omegas_[body.index()], cross(g_, arm, kin_.frames().express(force->force, body)).c);
            }
            if (const auto* force = std::get_if<InertiaSums::Generalized>(&resultant))
                add_to(g_, force_[force->speed], force->force);
        }
    }

    // ---- elimination

    // A vector's combination is put in when no other contains the vector any more, so that leaves come first. Among those that
    // wait for their turn the one comes first that ties the fewest variables together; of equals, one with speeds, so that these
    // are gone before what is left is turned.
    using Turn = std::tuple<std::size_t, bool, VectorIndex>;

    // a speed, or a vector behind the speeds
    [[nodiscard]] std::size_t owner(Variable variable) const {
        return variable < speeds_ ? variable : speeds_ + (variable - speeds_) / 3;
    }
    [[nodiscard]] Turn turn_of(VectorIndex v) const {
        std::set<std::size_t> tied;
        bool without_speeds = true;
        for (std::size_t axis = 0; axis < 3; ++axis) {
            for (const auto& [other, value] : rows_[component(v, axis)]) tied.insert(owner(other));
            for (const Share& share : vectors_[v].components[axis]) {
                if (share.of < speeds_)
                    without_speeds = false;
                else
                    tied.insert(owner(share.of));
            }
        }
        return {tied.size(), without_speeds, v};
    }

    bool eliminate() {
        std::vector<std::uint32_t> users(speeds_ + vectors_.size(), 0);  // components that contain them and are not put in yet
        const auto for_each_share = [&](VectorIndex v, const auto& visit) {
            for (const std::vector<Share>& shares : vectors_[v].components)
                for (const Share& share : shares) visit(share);
        };
        for (VectorIndex v = 0; v < vectors_.size(); ++v)
            for_each_share(v, [&](const Share& share) { ++users[owner(share.of)]; });
        std::set<Turn> waiting;
        std::vector<std::optional<Turn>> turns(vectors_.size());
        const auto wait = [&](VectorIndex v) {
            if (turns[v]) waiting.erase(*turns[v]);
            waiting.insert(*(turns[v] = turn_of(v)));
        };
        for (VectorIndex v = 0; v < vectors_.size(); ++v)
            if (users[speeds_ + v] == 0) wait(v);
        while (!waiting.empty()) {
            const VectorIndex v = std::get<VectorIndex>(*waiting.begin());
            waiting.erase(waiting.begin());
            turns[v].reset();
            changed_.clear();
            for (std::size_t axis = 0; axis < 3; ++axis) put_in(component(v, axis), vectors_[v].components[axis]);
            bool regular = true;
            for_each_share(v, [&](const Share& share) {
                const std::size_t of = owner(share.of);
                if (--users[of] != 0) return;
                if (of < speeds_)
                    regular = regular && minimise(share.of);
                else
                    wait(static_cast<VectorIndex>(of - speeds_));
            });
            if (!regular) return false;
            for (const VectorIndex other : changed_)
                if (turns[other]) wait(other);
        }
        return std::all_of(pivots_.begin(), pivots_.end(), [](NodeId pivot) { return pivot.valid(); });
    }

    // takes a row out of the form
    std::map<Variable, NodeId> take(Variable variable) {
        std::map<Variable, NodeId> row = std::move(rows_[variable]);
        rows_[variable].clear();
        for (const auto& [other, value] : row)
            if (other != variable) rows_[other].erase(variable);
        return row;
    }

    void put_in(Variable y, const std::vector<Share>& shares) {
        if (shares.empty()) return;
        const std::map<Variable, NodeId> row = take(y);
        for (const auto& [other, value] : row) {
            if (other == y) {
                for (std::size_t k = 0; k < shares.size(); ++k) {
                    const NodeId scaled = g_.mul(shares[k].factor, value);
                    for (std::size_t l = 0; l <= k; ++l) add(shares[k].of, shares[l].of, g_.mul(scaled, shares[l].factor));
                }
                continue;
            }
            for (const Share& share : shares) {
                const NodeId term = g_.mul(share.factor, value);
                add(share.of, other, share.of == other ? g_.mul(g_.constant(2), term) : term);
            }
        }
        for (const Share& share : shares)
            if (force_[y].valid()) add_to(g_, force_[share.of], g_.mul(share.factor, force_[y]));
        steps_.push_back({y, shares});
    }

    bool minimise(Variable u) {
        const std::map<Variable, NodeId> row = take(u);
        const auto found = row.find(u);
        if (found == row.end()) return false;
        const NodeId D = found->second, inverse = g_.div(one_, D);
        std::vector<Share> shares;
        std::vector<NodeId> values;
        for (const auto& [other, value] : row) {
            if (other == u) continue;
            // A joint about one axis takes all inertia along it away: there everything cancels, by ids.
            shares.push_back({other, value == D ? one_ : value == g_.neg(D) ? g_.constant(-1) : g_.mul(value, inverse)});
            values.push_back(value);
        }
        if (shares.size() > k_most_shares) return false;
        for (std::size_t k = 0; k < shares.size(); ++k)
            for (std::size_t l = 0; l <= k; ++l) {
                const bool number = g_.op(shares[k].factor) == Op::Constant;
                const NodeId term = number ? g_.mul(shares[k].factor, values[l]) : g_.mul(values[k], shares[l].factor);
                change(shares[k].of, shares[l].of, [&](NodeId& sum) { take_from(g_, sum, term); });
            }
        const NodeId force = force_[u].valid() ? force_[u] : zero_;
        for (const Share& share : shares)
            if (force != zero_) take_from(g_, force_[share.of], g_.mul(share.factor, force));
        pivots_[u] = D;
        steps_.push_back({u, std::move(shares)});
        return true;
    }

    // beyond, what hangs together at a joint is no tree of small joints
    static constexpr std::size_t k_most_shares = 24;

    Kinematics& kin_;
    const Model& m_;
    Graph& g_;
    const InertiaSums& sums_;
    const std::size_t speeds_;
    const NodeId zero_, one_;
    SparseMatrix split_;  // rows: components, in the order of frames and points; columns: speeds
    std::size_t next_split_ = 0, next_entry_ = 0;
    std::vector<Vector> vectors_;                   // combinations of earlier ones
    std::vector<VectorIndex> omegas_, velocities_;  // by frame, by point
    std::map<std::pair<VectorIndex, FrameId>, VectorIndex> turned_;
    std::vector<std::map<Variable, NodeId>> rows_;  // of the quadratic form, both triangles
    std::vector<Given> given_;                      // the same before anything was eliminated, one triangle
    std::vector<NodeId> force_;                     // the linear form; invalid: nothing
    std::vector<NodeId> pivots_;
    std::set<VectorIndex> changed_;  // rows by the last vector that was put in
    std::vector<Step> steps_;        // from the leaves to the root
};

namespace {

// of the largest pivot: squares of round-off, whatever the units
constexpr double k_no_inertia = 1e-24;

// A joint has at most six speeds, so that frames and points which follow from few others need no closer look.
bool may_be_deep(const ConstrainedDynamics& dynamics, std::size_t speeds) {
    const Model& m = *dynamics.model;
    std::vector<std::size_t> frames(m.frames.size(), 1), points(m.points.size(), 1);
    std::size_t deepest = 1;
    for (std::size_t i = 0; i < m.frames.size(); ++i) {
        if (m.frames[i].parent.valid()) frames[i] = frames[m.frames[i].parent.index()] + 1;
        deepest = std::max(deepest, frames[i]);
    }
    for (std::size_t i = 0; i < m.points.size(); ++i) {
        if (const PointId base = dynamics.kinematics->base(PointId(i)); base.valid()) points[i] = points[base.index()] + 1;
        deepest = std::max(deepest, points[i]);
    }
    return 6 * deepest > speeds;
}

}  // namespace

std::optional<ArticulatedTree> ArticulatedTree::of(const ConstrainedDynamics& dynamics, std::span<const double> values,
                                                   std::size_t deeper_than) {
    if (dynamics.model->speeds.size() <= deeper_than || !may_be_deep(dynamics, deeper_than)) return std::nullopt;
    Elimination elimination(dynamics);
    if (deeper_than > 0 && !elimination.moves_by_more_than(deeper_than)) return std::nullopt;
    if (!elimination.run()) return std::nullopt;
    const double growth = dynamics.rows.empty() ? 1 : elimination.growth(values);
    ArticulatedTree out = std::move(elimination).tree();
    if (!out.has_inertia(values)) return std::nullopt;
    out.growth_ = growth;
    return out;
}

bool ArticulatedTree::has_inertia(std::span<const double> values) const {
    const std::vector<double> inertias = evaluate<double>(*graph_, inertias_, values);
    const double largest = *std::max_element(inertias.begin(), inertias.end());
    return std::all_of(inertias.begin(), inertias.end(), [&](double inertia) { return inertia > k_no_inertia * largest; });
}

std::vector<NodeId> ArticulatedTree::down(std::vector<NodeId> values) const {
    Graph& g = *graph_;
    values.resize(variables_);
    for (const Step& step : steps_) {
        const NodeId value = values[step.variable];
        if (!value.valid()) continue;
        for (const Share& share : step.shares) {
            const NodeId term = g.mul(share.factor, value);
            if (step.variable < speeds_)
                take_from(g, values[share.of], term);
            else
                add_to(g, values[share.of], term);
        }
    }
    values.resize(speeds_);
    return values;
}

std::vector<NodeId> ArticulatedTree::up(const std::vector<NodeId>& by_speed) const {
    Graph& g = *graph_;
    std::vector<NodeId> values(variables_), terms;
    for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) {
        terms.clear();
        for (const Share& share : step->shares) terms.push_back(g.mul(share.factor, values[share.of]));
        const NodeId sum = g.sum(terms);
        values[step->variable] = step->variable < speeds_ ? g.sub(by_speed[step->variable], sum) : sum;
    }
    values.resize(speeds_);
    return values;
}

std::vector<NodeId> ArticulatedTree::transform(ConstrainedSolve& solve, std::vector<SymbolId> z) const {
    Graph& g = *graph_;
    solve.growth = growth_;
    solve.M = {speeds_, speeds_, {}};
    for (std::uint32_t i = 0; i < speeds_; ++i) solve.M.entries.push_back({i, i, inertias_[i]});
    const std::vector<SparseEntry> given = std::exchange(solve.A.entries, {});
    for (auto begin = given.begin(); begin != given.end();) {
        const std::uint32_t row = begin->row;
        std::vector<NodeId> values(speeds_);
        for (; begin != given.end() && begin->row == row; ++begin) values[begin->column] = begin->value;
        values = down(std::move(values));
        for (std::uint32_t i = 0; i < speeds_; ++i)
            if (values[i].valid() && !g.is_constant(values[i], 0)) solve.A.entries.push_back({row, i, values[i]});
    }
    solve.x = std::move(z);
    std::vector<NodeId> unknowns;
    for (const SymbolId unknown : solve.x) unknowns.push_back(g.symbol_node(unknown));
    return up(unknowns);
}

std::vector<ConstrainedSolve> articulated_rates(const ConstrainedDynamics& dynamics, const ArticulatedTree& tree) {
    Graph& g = dynamics.graph();
    const Model& m = *dynamics.model;
    // the matrix (1) with as many right sides as there are speeds gives the rates their names
    ConstrainedSolve names;
    names.kind = SolveKind::linear;
    names.A = {1, 1, {{0, 0, g.constant(1)}}};
    for (const Speed& speed : m.speeds) names.x.push_back(speed.rate);
    if (dynamics.rows.empty()) {
        std::vector<NodeId> alone;
        for (std::size_t i = 0; i < m.speeds.size(); ++i)
            alone.push_back(g.mul(tree.forces()[i], g.div(g.constant(1), tree.inertias()[i])));
        names.b = names.closed.x = tree.up(alone);
        // a small tree is one piece of native code, which looks whether the inertias are above zero
        names.closed.mass_pivots = names.closed.mass_diagonal = tree.inertias();
        return {std::move(names)};
    }
    ConstrainedSolve solve;
    solve.A = dynamics.A;
    solve.b = dynamics.b;
    for (const double size : row_sizes(dynamics)) solve.b.push_back(g.constant(size));
    solve.f = tree.forces();
    for (const ConstraintRow& row : dynamics.rows) solve.lambda.push_back(row.multiplier);
    std::vector<SymbolId> z;
    for (std::size_t i = 0; i < m.speeds.size(); ++i)
        z.push_back(g.add_symbol("rate along " + m.speeds[i].name, SymbolKind::other));
    names.b = names.closed.x = tree.transform(solve, std::move(z));
    return {std::move(solve), std::move(names)};
}

}  // namespace appell
