#include "dynam/quantities.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "dynam/gibbs_appell.hpp"
#include "dynam/modes.hpp"
#include "dynam/realised.hpp"
#include "dynam/row_sizes.hpp"
#include "expr/dependence.hpp"

namespace appell {

// ---------------------------------------------------------------- constraint forces as written

namespace {

bool is_force(const VectorSymbolInfo& symbol) {
    switch (static_cast<VectorKind>(symbol.kind)) {
        case VectorKind::constraint_force:
        case VectorKind::constraint_torque:
        case VectorKind::nonideal_force:
        case VectorKind::nonideal_torque:
        case VectorKind::friction: return true;
        default: return false;
    }
}

}  // namespace

bool WrittenForces::any_named() {
    const Graph& g = d_.graph();
    for (; !named_ && looked_at_ < g.vector_symbol_count(); ++looked_at_)
        named_ = is_force(g.vector_symbol(VectorSymbolId(static_cast<std::uint32_t>(looked_at_))));
    return named_;
}

NodeId WrittenForces::put_in(NodeId written, Span span) {
    if (!any_named()) return written;
    Graph& g = d_.graph();
    std::vector<VectorSymbolId> named;
    for (const NodeId id : forces_.new_in(written))
        if (g.op(id) == Op::VSymbol && is_force(g.vector_symbol(g.vector_symbol_of(id)))) named.push_back(g.vector_symbol_of(id));
    std::ranges::sort(named);
    for (const VectorSymbolId id : named) {
        if (forces_.has(id)) continue;  // by a law that another one of them contains
        const VectorSymbolInfo symbol = g.vector_symbol(id);
        const auto kind = static_cast<VectorKind>(symbol.kind);
        forces_.set(id, kind == VectorKind::constraint_force || kind == VectorKind::constraint_torque
                            ? constraint_vector(symbol, span)
                        : kind == VectorKind::friction ? friction_vector(symbol, span)
                                                       : nonideal_vector(symbol, span));
    }
    return forces_(written);
}

namespace {

// Places of forces at one point, by name. Two names that move alike are one place.
class PlacesHere {
public:
    explicit PlacesHere(const ConstrainedDynamics& d) : d_(d) {}
    void add(PointId point, FrameId body, std::string name) {
        const auto same = [&](FrameId other) { return moves_alike(d_, point, other, body); };
        if (std::ranges::any_of(bodies_, same)) return;
        bodies_.push_back(body);
        names_.push_back(std::move(name));
    }
    [[nodiscard]] const std::vector<std::string>& names() const { return names_; }

private:
    const ConstrainedDynamics& d_;
    std::vector<FrameId> bodies_;
    std::vector<std::string> names_;
};

}  // namespace

// multiplier times direction of one row at one place
NodeId WrittenForces::constraint_vector(const VectorSymbolInfo& symbol, Span span) {
    if (!rows_) rows_ = row_forces(d_);
    Graph& g = d_.graph();
    const Model& m = *d_.model;
    const auto kind = static_cast<VectorKind>(symbol.kind);
    const bool force = kind == VectorKind::constraint_force;
    const SymbolId multiplier(symbol.first);
    // the constraint and the component; ideal multipliers have the directions of the others
    std::size_t constraint = 0, component = 0;
    for (std::size_t c = 0; c < m.constraints.size(); ++c)
        for (std::size_t i = 0; i < m.constraints[c].multipliers.size(); ++i)
            if (m.constraints[c].multipliers[i] == multiplier || m.constraints[c].ideal_multipliers[i] == multiplier) {
                constraint = c;
                component = i;
            }
    const SymbolId own_row = m.constraints[constraint].multipliers[component];
    // a component may be without a force where another one has it: the place is looked up in the whole constraint
    std::vector<std::string> places, bodies;
    PlacesHere points(d_);
    NodeId direction = g.vector_zero();
    const auto note = [](std::vector<std::string>& list, std::string name) {
        if (std::find(list.begin(), list.end(), name) == list.end()) list.push_back(std::move(name));
    };
    for (std::size_t i = 0; i < d_.rows.size(); ++i) {
        if (d_.rows[i].constraint != constraint || d_.rows[i].by_actuators) continue;
        const bool own = d_.rows[i].multiplier == own_row;
        if (force)
            for (const ForceDirection& f : (*rows_)[i].forces) {
                note(places, place_name(m, f));
                if (!acts_at(f.point, f.body, VectorSymbolId(symbol.second))) continue;
                points.add(f.point, f.body, place_name(m, f));
                if (own) direction = g.vadd(direction, f.W);
            }
        else
            for (const TorqueDirection& t : (*rows_)[i].torques) {
                note(places, body_name(m, t.body));
                if (t.body != FrameId(symbol.second)) continue;
                note(bodies, body_name(m, t.body));
                if (own) direction = t.tau;
            }
    }
    const std::vector<std::string>& here = force ? points.names() : bodies;
    // a constraint that is off in this mode exerts none, wherever it would
    const bool off = !d_.off.empty() && d_.off[constraint];
    if (here.size() != 1 && !off && refused_.insert({constraint, kind, symbol.second}).second)
        refuse(symbol.name, constraint, force ? "force" : "torque", places, here, span);
    return g.vscale(g.symbol_node(multiplier), direction);
}

// the third member of 001 eq. 40 at one place; laws may contain constraint forces
NodeId WrittenForces::nonideal_vector(const VectorSymbolInfo& symbol, Span span) {
    if (!rows_) rows_ = row_forces(d_);
    if (!acting_) acting_ = acting_forces(d_);
    Graph& g = d_.graph();
    const auto kind = static_cast<VectorKind>(symbol.kind);
    const bool force = kind == VectorKind::nonideal_force;
    std::vector<std::string> places, bodies;
    PlacesHere points(d_);
    NodeId sum = g.vector_zero();
    for (const ActingForce& f : *acting_) {
        if (f.member == ForceMember::actuator || f.owner != symbol.first ||
            f.kind != (force ? ActingForce::Kind::force : ActingForce::Kind::torque))
            continue;
        const std::string name = place_name(*d_.model, f);
        if (std::find(places.begin(), places.end(), name) == places.end()) places.push_back(name);
        if (force ? !acts_at(f.point, f.body, VectorSymbolId(symbol.second)) : f.body != FrameId(symbol.second)) continue;
        if (force)
            points.add(f.point, f.body, name);
        else if (bodies.empty())
            bodies.push_back(name);
        if (f.member == ForceMember::nonideal) sum = g.vadd(sum, f.value);
    }
    const std::vector<std::string>& here = force ? points.names() : bodies;
    const bool off = !d_.off.empty() && d_.off[symbol.first];
    if (here.size() != 1 && !off && refused_.insert({symbol.first, kind, symbol.second}).second)
        refuse(symbol.name, symbol.first, force ? "force" : "torque", places, here, span);
    return put_in(sum, span);
}

// of all frictions of a constraint: the laws of those that slide, the constraint forces of those that stick
NodeId WrittenForces::friction_vector(const VectorSymbolInfo& symbol, Span span) {
    if (!rows_) rows_ = row_forces(d_);
    Graph& g = d_.graph();
    const Model& m = *d_.model;
    NodeId sum = g.vector_zero();
    bool any = false;
    for (std::size_t i = 0; i < m.frictions.size(); ++i) {
        const Friction& friction = m.frictions[i];
        if (friction.constraint != symbol.first) continue;
        any = true;
        if (slides(d_, i)) sum = g.vadd(sum, put_in(sliding_force(d_, i), span));
        for (std::size_t row = 0; row < d_.rows.size(); ++row) {
            if (d_.rows[row].constraint != friction.stick) continue;
            for (const ForceDirection& f : (*rows_)[row].forces)
                if (f.point == friction.on.point && f.body == friction.on.body)
                    sum = g.vadd(sum, g.vscale(g.symbol_node(d_.rows[row].multiplier), f.W));
        }
    }
    if (!any && refused_.insert({symbol.first, VectorKind::friction, 0}).second)
        diagnostics_.add({Code::E0721, span, fmt::format("constraint {} has no friction", m.constraints[symbol.first].name),
                          symbol.name, "a constraint with a friction law",
                          fmt::format("write `nonideal {}: friction on P = ...`", m.constraints[symbol.first].name)});
    return sum;
}

// pos(P) stands for whatever the force acts on at P, vel(B at P) for the body, or the point where that moves with it
bool WrittenForces::acts_at(PointId point, FrameId body, VectorSymbolId place) const {
    const VectorSymbolInfo& where = d_.graph().vector_symbol(place);
    if (static_cast<VectorKind>(where.kind) == VectorKind::position) return point == PointId(where.first);
    return point == PointId(where.second) && moves_alike(d_, point, body, FrameId(where.first));
}

void WrittenForces::refuse(const std::string& written, std::size_t constraint, std::string_view what,
                           const std::vector<std::string>& places, const std::vector<std::string>& here, Span span) {
    const Constraint& c = d_.model->constraints[constraint];
    std::string why;
    for (std::size_t i = 0; i < d_.rows.size() && why.empty(); ++i)
        if (d_.rows[i].constraint == constraint) why = (*rows_)[i].why;
    if (!c.actuators.empty()) why = "actuators keep it; actuator(F) is the magnitude of one";
    const std::string expected = places.empty() ? "" : fmt::format("one of {}", fmt::join(places, ", "));
    if (!here.empty())
        diagnostics_.add({Code::E0721, span, fmt::format("constraint {} acts on several bodies at this point", c.name), written,
                          fmt::format("one of {}", fmt::join(here, ", ")), "write force(c, B at P)"});
    else
        diagnostics_.add({Code::E0721, span, fmt::format("constraint {} exerts no {} there", c.name, what), written, expected,
                          why.empty() ? "`appell check` lists the constraint forces" : why});
}

// ---------------------------------------------------------------- quantities

Quantities::Quantities(const ConstrainedDynamics& d, Diagnostics& diagnostics)
    : d_(d),
      g_(d.graph()),
      kin_(*d.kinematics),
      diagnostics_(diagnostics),
      forces_(d, diagnostics),
      nonideal_(has_nonideal(d)),
      need_ideal_(nonideal_ && d.C.empty()),
      energies_(d.graph(), energies_and_multipliers()),
      resolved_(d.graph(), {}) {
    const Model& m = *d.model;
    done_.assign(m.quantities.size(), 0);
    for (std::size_t i = 0; i < m.quantities.size(); ++i)
        if (m.quantities[i].symbol.valid()) quantity_of_[m.quantities[i].symbol] = i;
}

Substitution Quantities::energies_and_multipliers() const {
    Substitution out;
    const Model& m = *d_.model;
    out.set(m.kinetic_energy, d_.kinetic_energy);
    out.set(m.potential_energy, d_.potential_energy);
    out.set(m.total_energy, g_.add(d_.kinetic_energy, d_.potential_energy));
    std::map<SymbolId, bool> present;
    for (const ConstraintRow& row : d_.rows) present[row.multiplier] = true;
    for (const Constraint& c : m.constraints)
        for (std::size_t i = 0; i < c.multipliers.size(); ++i) {
            const bool row = present.contains(c.multipliers[i]);
            if (!row) out.set(c.multipliers[i], g_.constant(0));
            // without nonideal forces the two are one
            if (!row || !nonideal_) out.set(c.ideal_multipliers[i], row ? g_.symbol_node(c.multipliers[i]) : g_.constant(0));
        }
    return out;
}

NodeId Quantities::put_in(NodeId written, Span span) {
    written = forces_.put_in(written, span);
    const Model& m = *d_.model;
    if (m.quantities.empty()) return written;
    // quantities contain older ones only: what is needed is found downward, then resolved upward
    std::set<std::size_t> needed;
    const auto mark = [&](NodeId expression) {
        for (const NodeId id : resolved_.new_in(expression)) {
            if (g_.op(id) == Op::Symbol) {
                const auto found = quantity_of_.find(g_.symbol_of(id));
                if (found != quantity_of_.end()) needed.insert(found->second);
            } else if (g_.op(id) == Op::VSymbol) {
                const VectorSymbolInfo& symbol = g_.vector_symbol(g_.vector_symbol_of(id));
                if (static_cast<VectorKind>(symbol.kind) == VectorKind::quantity) needed.insert(symbol.first);
            }
        }
    };
    mark(written);
    for (auto next = needed.end(); next != needed.begin();)
        if (--next; !done_[*next] && m.quantities[*next].of.valid()) mark(m.quantities[*next].of);
    for (const std::size_t i : needed)
        if (!done_[i]) resolve(i);
    return resolved_(written);
}

NodeId Quantities::scalar(NodeId written, Span span) {
    const NodeId value = energies_(kin_.resolve(put_in(written, span)));
    note_ideal(std::span(&value, 1));
    return value;
}

std::array<NodeId, 3> Quantities::vector(NodeId written, Span span) {
    Vec3 v = kin_.frames().express(kin_.resolve_vector(put_in(written, span)), Model::newtonian());
    for (NodeId& c : v.c) c = energies_(c);
    note_ideal(v.c);
    return v.c;
}

// Where friction sticks and there is no law beside it, no solve of the motion needs the ideal multipliers: they are solved for
// where somebody asks.
void Quantities::note_ideal(std::span<const NodeId> values) {
    if (!need_ideal_) return;
    std::vector<SymbolId> present;
    const auto known = [&](NodeId id) { return id.index() < looked_at_.size() && looked_at_[id.index()] != 0; };
    const std::vector<NodeId>& order = sweep_.collect(g_, values, known);
    if (looked_at_.size() < g_.size()) looked_at_.resize(g_.size());
    for (const NodeId id : order) {
        looked_at_[id.index()] = 1;
        if (g_.op(id) == Op::Symbol) present.push_back(g_.symbol_of(id));
    }
    if (present.empty()) return;
    std::ranges::sort(present);
    const auto asked = [&](const Constraint& c) {
        return std::ranges::any_of(c.ideal_multipliers,
                                   [&](SymbolId ideal) { return std::ranges::binary_search(present, ideal); });
    };
    if (std::ranges::none_of(d_.model->constraints, asked)) return;
    need_ideal_ = false;
    solves_.push_back(ideal_solve(d_));
}

void Quantities::resolve(std::size_t which) {
    const Quantity q = d_.model->quantities[which];
    done_[which] = 1;
    const bool derivative = q.kind == QuantityKind::partial || q.kind == QuantityKind::nonholonomic_partial;
    if (derivative && g_.is_vector(q.of)) {
        // part by part: the basis vectors do not depend on speeds and their rates
        NodeId sum = g_.vector_zero();
        bool rate = false;
        const bool follows = q.kind == QuantityKind::nonholonomic_partial;
        const auto speed = follows ? independent_index(SymbolId(q.first), rate, q.span) : std::nullopt;
        if (!follows || speed)
            for (const Vec3& part : kin_.resolve_vector(put_in(q.of, q.span)).parts)
                for (std::size_t axis = 0; axis < 3; ++axis) {
                    const NodeId c = energies_(part.c[axis]);
                    const NodeId slope = follows ? following(c, *speed, rate) : derivative_by(c, SymbolId(q.first));
                    sum = g_.vadd(sum, g_.vscale(slope, d_.model->frame(part.frame).basis[axis]));
                }
        for (std::uint32_t i = 0; i < g_.vector_symbol_count(); ++i) {
            const VectorSymbolInfo& symbol = g_.vector_symbol(VectorSymbolId(i));
            if (static_cast<VectorKind>(symbol.kind) == VectorKind::quantity && symbol.first == which)
                resolved_.set(VectorSymbolId(i), sum);
        }
        return;
    }
    NodeId value = g_.constant(0);
    switch (q.kind) {
        case QuantityKind::time_derivative: {
            const NodeId of = scalar(q.of, q.span);
            for (const SymbolKind kind : {SymbolKind::speed_rate, SymbolKind::multiplier, SymbolKind::other})
                if (depends_on(g_, of, kind)) {
                    diagnostics_.add({Code::E0405, q.span, "this can not be differentiated",
                                      "accelerations, constraint forces or a matrix of the dynamics in it",
                                      "positions and velocities", ""});
                    break;
                }
            value = kin_.rate(of);
            break;
        }
        case QuantityKind::partial: value = derivative_by(scalar(q.of, q.span), SymbolId(q.first)); break;
        case QuantityKind::nonholonomic_partial: {
            bool rate = false;
            if (const auto speed = independent_index(SymbolId(q.first), rate, q.span))
                value = following(scalar(q.of, q.span), *speed, rate);
            break;
        }
        case QuantityKind::matrix: value = entry(q); break;
        case QuantityKind::count: {
            const std::size_t rank = rank_.value_or(0);
            const std::size_t counts[] = {d_.model->coordinates.size(), d_.model->speeds.size(), d_.rows.size(), rank,
                                          d_.model->speeds.size() - rank};
            value = g_.constant(static_cast<double>(counts[q.first]));
            break;
        }
        default: value = generalized(q);
    }
    resolved_.set(q.symbol, value);
}

// Rates q' and q'' by the chain rule u = Y q' + Z, every other rate held.
NodeId Quantities::derivative_by(NodeId of, SymbolId variable) {
    const SymbolKind kind = g_.symbol(variable).kind;
    if (kind != SymbolKind::coordinate_rate && kind != SymbolKind::coordinate_rate2)
        return derivative(g_, std::span(&of, 1), variable).front();
    const bool second = kind == SymbolKind::coordinate_rate2;
    std::vector<NodeId> terms;
    for (const SparseEntry& e : kin_.Y().entries) {
        const SymbolId rate = kin_.independent_rates()[e.column];
        const bool own = std::any_of(d_.model->coordinates.begin(), d_.model->coordinates.end(), [&](const Coordinate& c) {
            return c.rate == rate && (second ? c.rate2 : c.rate) == variable;
        });
        if (!own) continue;
        const Speed& speed = d_.model->speeds[e.row];
        terms.push_back(g_.mul(e.value, derivative(g_, std::span(&of, 1), second ? speed.rate : speed.u).front()));
    }
    return g_.sum(terms);
}

// d/du_I + sum over the dependent speeds of D_sI d/du_s (000 eqs. 13-16)
NodeId Quantities::following(NodeId of, std::uint32_t independent, bool rates) {
    const auto slope = [&](std::uint32_t speed) {
        const Speed& s = d_.model->speeds[speed];
        return derivative(g_, std::span(&of, 1), rates ? s.rate : s.u).front();
    };
    std::vector<NodeId> terms{slope(d_.independent[independent])};
    for (std::size_t s = 0; s < d_.dependent.size(); ++s) terms.push_back(g_.mul(D_[s][independent], slope(d_.dependent[s])));
    return g_.sum(terms);
}

bool Quantities::need_partition(Span span) {
    if (d_.independent.empty()) {
        if (!std::exchange(partition_missed_, true))  // the entries of a matrix repeat it
            diagnostics_.add({Code::E0612, span, "this depends on the choice of independent speeds", "",
                              "an `independent` statement",
                              "write `independent u1, ...` with as many speeds as there are freedoms"});
        return false;
    }
    solve_for_dependent(span);
    return true;
}

std::optional<std::uint32_t> Quantities::independent_index(SymbolId symbol, bool& rate, Span span) {
    if (!need_partition(span)) return std::nullopt;
    const SymbolKind kind = g_.symbol(symbol).kind;
    rate = kind == SymbolKind::speed_rate || kind == SymbolKind::coordinate_rate2;
    SymbolId of = symbol;
    for (const Speed& s : d_.model->speeds)
        if (s.rate == symbol) of = s.u;
    for (const Coordinate& c : d_.model->coordinates)
        if (c.rate2 == symbol) of = c.rate;
    const auto speed = d_.speed_of(of);
    for (std::uint32_t i = 0; speed && i < d_.independent.size(); ++i)
        if (d_.independent[i] == *speed) return i;
    diagnostics_.add({Code::E0612, span, fmt::format("{} is not among the independent speeds", g_.symbol(of).name),
                      g_.symbol(of).name, "an independent speed", ""});
    return std::nullopt;
}

const std::vector<NodeId>& Quantities::active() {
    if (!active_) active_ = generalized_active_forces(d_);
    return *active_;
}

NodeId Quantities::generalized(const Quantity& q) {
    const auto speed = d_.speed_of(SymbolId(q.first));
    if (!speed) {
        diagnostics_.add({Code::E0611, q.span, fmt::format("{} is no speed of this model", g_.symbol(SymbolId(q.first)).name),
                          g_.symbol(SymbolId(q.first)).name, "a speed", ""});
        return g_.constant(0);
    }
    const auto inertia = [&](std::uint32_t r) {
        std::vector<NodeId> terms{d_.f()[r], g_.neg(active()[r])};
        for (const SparseEntry& e : d_.M().entries) {
            if (e.row == r) terms.push_back(g_.neg(g_.mul(e.value, g_.symbol_node(d_.model->speeds[e.column].rate))));
            if (e.column == r && e.row != r)
                terms.push_back(g_.neg(g_.mul(e.value, g_.symbol_node(d_.model->speeds[e.row].rate))));
        }
        return g_.sum(terms);
    };
    const auto along_rows = [&](bool ideal) {
        std::vector<NodeId> terms;
        for (const SparseEntry& e : d_.A.entries) {
            if (e.column != *speed || d_.rows[e.row].by_actuators || (ideal && sticks(d_, d_.rows[e.row]))) continue;
            const Constraint& c = d_.model->constraints[d_.rows[e.row].constraint];
            for (std::size_t i = 0; i < c.multipliers.size(); ++i)
                if (c.multipliers[i] == d_.rows[e.row].multiplier)
                    terms.push_back(
                        g_.mul(e.value, g_.symbol_node(ideal && nonideal_ ? c.ideal_multipliers[i] : c.multipliers[i])));
        }
        if (ideal) note_ideal(terms);
        return g_.sum(terms);
    };
    switch (q.kind) {
        case QuantityKind::active: return active()[*speed];
        case QuantityKind::inertia: return inertia(*speed);
        case QuantityKind::given: return d_.f()[*speed];
        case QuantityKind::ideal: return along_rows(true);
        case QuantityKind::nonideal:
            return !nonideal_ ? g_.constant(0)
                              : g_.add(d_.C.empty() ? g_.constant(0) : d_.C[*speed], g_.sub(along_rows(false), along_rows(true)));
        default: break;
    }
    bool rate = false;
    const auto independent = independent_index(SymbolId(q.first), rate, q.span);
    if (!independent) return g_.constant(0);
    const auto of = [&](std::uint32_t r) { return q.kind == QuantityKind::nonholonomic_active ? active()[r] : inertia(r); };
    std::vector<NodeId> terms{of(*speed)};
    for (std::size_t s = 0; s < d_.dependent.size(); ++s) terms.push_back(g_.mul(D_[s][*independent], of(d_.dependent[s])));
    return g_.sum(terms);
}

// The dependent speeds that some row reaches. In a mode without some of the rows the others follow nothing: no speed moves them,
// and their rows of D and d are zero.
std::vector<std::uint32_t> Quantities::following_speeds() const {
    std::vector<bool> reached(d_.model->speeds.size());
    for (const SparseEntry& e : d_.A.entries) reached[e.column] = true;
    std::vector<std::uint32_t> out;
    for (std::uint32_t i = 0; i < d_.dependent.size(); ++i)
        if (reached[d_.dependent[i]]) out.push_back(i);
    return out;
}

// J2 D = -J1 and J2 d = b, a solve for each column: the identity for M makes it the solution of the rows alone
void Quantities::solve_for_dependent(Span span) {
    if (!offset_.empty() || d_.dependent.empty()) return;
    D_.assign(d_.dependent.size(), std::vector<NodeId>(d_.independent.size(), g_.constant(0)));
    offset_.assign(d_.dependent.size(), g_.constant(0));
    const std::vector<std::uint32_t> following = following_speeds();
    const std::size_t n = following.size();
    if (n == 0) return;
    if (d_.rows.size() < n) {
        diagnostics_.add({Code::E0612, span, "the constraints that are on do not determine the dependent speeds",
                          fmt::format("{} row{} for {} dependent speeds", d_.rows.size(), d_.rows.size() == 1 ? "" : "s", n),
                          "as many rows as dependent speeds, in every mode of the motion",
                          "the choice of `independent` fits the modes in which all constraints are on"});
        return;
    }
    ConstrainedSolve shape;
    shape.M = {n, n, {}};
    for (std::uint32_t i = 0; i < n; ++i) shape.M.entries.push_back({i, i, g_.constant(1)});
    shape.f.assign(n, g_.constant(0));
    shape.A = {d_.rows.size(), n, {}};
    std::vector<std::uint32_t> place(d_.model->speeds.size(), static_cast<std::uint32_t>(n));
    for (std::uint32_t i = 0; i < n; ++i) place[d_.dependent[following[i]]] = i;
    for (const SparseEntry& e : d_.A.entries)
        if (place[e.column] < n) shape.A.entries.push_back({e.row, place[e.column], e.value});
    std::vector<NodeId> sizes;
    for (const double size : row_sizes(d_)) sizes.push_back(g_.constant(size));
    const auto solve = [&](std::vector<NodeId> right, const std::string& name) {
        ConstrainedSolve one = shape;
        one.b = std::move(right);
        one.b.insert(one.b.end(), sizes.begin(), sizes.end());
        std::vector<NodeId> out;
        for (std::size_t i = 0; i < n; ++i) {
            one.x.push_back(g_.add_symbol(fmt::format("{}({})", name, i + 1), SymbolKind::other));
            out.push_back(g_.symbol_node(one.x.back()));
        }
        for (std::size_t i = 0; i < d_.rows.size(); ++i)
            one.lambda.push_back(g_.add_symbol(fmt::format("unused {}({})", name, i + 1), SymbolKind::other));
        solves_.push_back(std::move(one));
        return out;
    };
    for (std::uint32_t k = 0; k < d_.independent.size(); ++k) {
        std::vector<NodeId> right(d_.rows.size(), g_.constant(0));
        for (const SparseEntry& e : d_.A.entries)
            if (e.column == d_.independent[k]) right[e.row] = g_.neg(e.value);
        const std::vector<NodeId> column = solve(std::move(right), fmt::format("D column {}", k + 1));
        for (std::size_t i = 0; i < n; ++i) D_[following[i]][k] = column[i];
    }
    const std::vector<NodeId> offset = solve(d_.b, "d");
    for (std::size_t i = 0; i < n; ++i) offset_[following[i]] = offset[i];
}

NodeId Quantities::mass(std::size_t row, std::size_t column) const {
    const NodeId entry = d_.M().find(std::max(row, column), std::min(row, column));
    return entry.valid() ? entry : g_.constant(0);
}

std::pair<std::size_t, std::size_t> Quantities::size(MatrixName name) const {
    const std::size_t n = d_.model->speeds.size(), rows = d_.rows.size(), p = d_.independent.size(), k = d_.dependent.size();
    switch (name) {
        case MatrixName::M:
        case MatrixName::T: return {n, n};
        case MatrixName::f:
        case MatrixName::V: return {n, 1};
        case MatrixName::A: return {rows, n};
        case MatrixName::b: return {rows, 1};
        case MatrixName::J1: return {rows, p};
        case MatrixName::J2: return {rows, k};
        case MatrixName::D: return {k, p};
        case MatrixName::d: return {k, 1};
        case MatrixName::A1: return {k, n};
        case MatrixName::A2: return {p, n};
    }
    return {0, 0};
}

NodeId Quantities::entry(const Quantity& q) {
    const auto name = static_cast<MatrixName>(q.first);
    if (name > MatrixName::b && !need_partition(q.span)) return g_.constant(0);
    const auto [rows, columns] = size(name);
    std::size_t row = q.row, column = q.column;
    if (column == 0 && (rows == 1 || columns == 1)) {
        if (columns != 1) std::swap(row, column);
        if (columns == 1) column = 1;
        if (rows == 1 && columns != 1) row = 1;
    }
    if (row < 1 || row > rows || column < 1 || column > columns) {
        diagnostics_.add({Code::E0613, q.span, fmt::format("the matrix {} has no such entry", k_matrix_names[q.first]),
                          q.column > 0 ? fmt::format("({}, {})", q.row, q.column) : fmt::format("({})", q.row),
                          fmt::format("a matrix of {} x {}", rows, columns), ""});
        return g_.constant(0);
    }
    return matrix_entry(name, row - 1, column - 1);
}

NodeId Quantities::matrix_entry(MatrixName name, std::size_t row, std::size_t column) {
    const auto or_zero = [&](NodeId id) { return id.valid() ? id : g_.constant(0); };
    const auto unit = [&](bool one) { return g_.constant(one ? 1 : 0); };
    const std::size_t p = d_.independent.size(), k = d_.dependent.size();
    // speeds in the order independent, dependent
    const auto speed = [&](std::size_t i) -> std::size_t { return i < p ? d_.independent[i] : d_.dependent[i - p]; };
    const auto A2 = [&](std::size_t r, std::size_t i) { return i < p ? unit(r == i) : D_[i - p][r]; };
    switch (name) {
        case MatrixName::M: return mass(row, column);
        case MatrixName::f: return d_.f()[row];
        case MatrixName::A: return or_zero(d_.A.find(row, column));
        case MatrixName::b: return d_.b[row];
        case MatrixName::J1: return or_zero(d_.A.find(row, d_.independent[column]));
        case MatrixName::J2: return or_zero(d_.A.find(row, d_.dependent[column]));
        case MatrixName::D: return D_[row][column];
        case MatrixName::d: return offset_[row];
        case MatrixName::A1: return column < p ? g_.neg(D_[row][column]) : unit(row == column - p);
        case MatrixName::A2: return A2(row, column);
        case MatrixName::T: {
            if (row < k) return column < p ? g_.neg(D_[row][column]) : unit(row == column - p);
            std::vector<NodeId> terms;
            for (std::size_t i = 0; i < p + k; ++i) terms.push_back(g_.mul(A2(row - k, i), mass(speed(i), speed(column))));
            return g_.sum(terms);
        }
        case MatrixName::V: {
            if (row < k) return offset_[row];
            std::vector<NodeId> terms;
            for (std::size_t i = 0; i < p + k; ++i) terms.push_back(g_.mul(A2(row - k, i), d_.f()[speed(i)]));
            return g_.sum(terms);
        }
    }
    return g_.constant(0);
}

}  // namespace appell
