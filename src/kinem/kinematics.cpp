#include "kinem/kinematics.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "expr/dependence.hpp"
#include "expr/linear_split.hpp"
#include "expr/print.hpp"
#include "expr/substitute.hpp"
#include "kinem/invert.hpp"
#include "kinem/orientation.hpp"
#include "kinem/resolver.hpp"

namespace appell {

namespace {

MixedVector basis_vector(Graph& g, FrameId frame, std::uint32_t axis) {
    Vec3 e = zero_vector(g, frame);
    e.c[axis] = g.constant(1);
    return {{e}};
}

// The base point of a position: the first bare pos(Q) in the sum, found without recursion; the rest is the offset.
struct BaseAndOffset {
    PointId base;
    NodeId offset;
};
BaseAndOffset split_base(Graph& g, NodeId position) {
    BaseAndOffset out{PointId{}, g.vector_zero()};
    std::vector<NodeId> stack{position};
    while (!stack.empty()) {
        const NodeId id = stack.back();
        stack.pop_back();
        if (g.op(id) == Op::VAdd) {
            stack.push_back(g.operand(id, 1));
            stack.push_back(g.operand(id, 0));
            continue;
        }
        if (!out.base.valid() && g.op(id) == Op::VSymbol) {
            const VectorSymbolInfo& symbol = g.vector_symbol(g.vector_symbol_of(id));
            if (static_cast<VectorKind>(symbol.kind) == VectorKind::position) {
                out.base = PointId(symbol.first);
                continue;
            }
        }
        out.offset = g.vadd(out.offset, id);
    }
    return out;
}

// The coordinate of a q' or q'': the builder adds q, q', q'' as consecutive symbols.
std::size_t coordinate_of(const Model& m, SymbolId rate) {
    const std::uint32_t q = rate.value - (m.graph->symbol(rate).kind == SymbolKind::coordinate_rate ? 1 : 2);
    const auto found = std::lower_bound(m.coordinates.begin(), m.coordinates.end(), q,
                                        [](const Coordinate& c, std::uint32_t value) { return c.q.value < value; });
    return static_cast<std::size_t>(found - m.coordinates.begin());
}

// dot(vel(P), F.axis) in a definition: the user thinks of vel(P) in F
std::map<PointId, std::vector<FrameId>> home_hints(const Graph& g, std::span<const NodeId> definitions) {
    std::map<PointId, std::vector<FrameId>> hints;
    Sweep sweep;
    for (const NodeId id : sweep.collect(g, definitions)) {
        if (g.op(id) != Op::Dot) continue;
        for (int side = 0; side < 2; ++side) {
            const NodeId v = g.operand(id, side), e = g.operand(id, 1 - side);
            if (g.op(v) != Op::VSymbol || g.op(e) != Op::VSymbol) continue;
            const VectorSymbolInfo& vs = g.vector_symbol(g.vector_symbol_of(v));
            const VectorSymbolInfo& es = g.vector_symbol(g.vector_symbol_of(e));
            if (static_cast<VectorKind>(vs.kind) != VectorKind::velocity || static_cast<VectorKind>(es.kind) != VectorKind::basis)
                continue;
            std::vector<FrameId>& frames = hints[PointId(vs.first)];
            if (std::find(frames.begin(), frames.end(), FrameId(es.first)) == frames.end()) frames.push_back(FrameId(es.first));
        }
    }
    return hints;
}

}  // namespace

Kinematics::Kinematics(std::shared_ptr<const Model> model)
    : model_(std::move(model)), frames_(graph()), rate_bias_(graph()), rate_full_(graph()) {}

Kinematics::~Kinematics() = default;

Result<std::unique_ptr<Kinematics>> Kinematics::derive(std::shared_ptr<const Model> model) {
    Result<std::unique_ptr<Kinematics>> result;
    std::unique_ptr<Kinematics> kinematics(new Kinematics(std::move(model)));
    kinematics->place_frames_and_points();
    kinematics->derive_speeds(result.diagnostics);
    if (result.diagnostics.has_errors()) return result;
    kinematics->make_resolver();
    result.value = std::move(kinematics);
    return result;
}

void Kinematics::place_frames_and_points() {
    Graph& g = graph();
    for (const Frame& frame : model().frames) frames_.add(frame.parent, rotation_matrix(g, model(), frame.orientation));
    body_center_.assign(model().frames.size(), PointId{});
    for (const Body& body : model().bodies) body_center_[body.frame.index()] = body.center;

    Resolver resolver(g, frames_,
                      {[&](VectorKind kind, std::uint32_t first, std::uint32_t second) -> MixedVector {
                           if (kind == VectorKind::basis) return basis_vector(g, FrameId(first), second);
                           if (kind == VectorKind::position) return positions_.at(first);
                           throw Error("a position must not depend on velocities");
                       },
                       [](SymbolId) { return NodeId{}; },
                       {},
                       {}});
    for (const Point& point : model().points) {
        const BaseAndOffset split = split_base(g, point.position);
        PointPlace place{split.base, resolver.vector(split.offset)};
        positions_.push_back(place.base.valid() ? add(g, positions_[place.base.index()], place.offset) : place.offset);
        places_.push_back(std::move(place));
    }
}

bool Kinematics::has_body(FrameId frame) const { return body_center_[frame.index()].valid(); }

// The definitions u = Y r + Z over the independent rates r (q' of ordinary coordinates, angular velocity components of quaternion
// frames), inverted to r = Y^-1 (u - Z); then the velocity field in the speeds.
void Kinematics::derive_speeds(Diagnostics& diagnostics) {
    Graph& g = graph();
    const Model& m = model();

    // independent rates
    std::vector<SymbolId> rates;
    std::vector<std::string> rate_names;
    std::vector<std::pair<std::size_t, const QuaternionRotation*>> quaternion_of(m.coordinates.size(), {0, nullptr});
    for (const Frame& frame : m.frames)
        if (const auto* q = std::get_if<QuaternionRotation>(&frame.orientation))
            for (std::size_t i = 0; i < 4; ++i) quaternion_of[q->coordinates[i]] = {i, q};
    for (std::size_t i = 0; i < m.coordinates.size(); ++i)
        if (!quaternion_of[i].second) rates.push_back(m.coordinates[i].rate);
    for (const Frame& frame : m.frames)
        if (const auto* q = std::get_if<QuaternionRotation>(&frame.orientation))
            rates.insert(rates.end(), q->rates.begin(), q->rates.end());
    for (const SymbolId r : rates) rate_names.push_back(g.symbol(r).name);

    if (m.speeds.size() != rates.size()) {
        diagnostics.add(
            {Code::E0601, m.speeds.empty() ? Span{} : m.speeds.back().span,
             fmt::format("the model defines {} speeds, but {} rates need one", m.speeds.size(), rates.size()),
             fmt::format("{} speeds", m.speeds.size()),
             fmt::format("{} speeds, for {}", rates.size(), fmt::join(rate_names, ", ")),
             "define as many speeds as there are rates, or leave out all `speed` statements to use the rates themselves"});
        return;
    }

    // q' of quaternion coordinates: e' = 1/2 G(e) w
    const auto quaternion_rate = [&](std::size_t coordinate, const std::array<NodeId, 3>& w) {
        const auto [place, q] = quaternion_of[coordinate];
        std::array<Expr, 4> e;
        for (std::size_t i = 0; i < 4; ++i) e[i] = {&g, g.symbol_node(m.coordinates[q->coordinates[i]].q)};
        const Expr x{&g, w[0]}, y{&g, w[1]}, z{&g, w[2]};
        const Expr rows[4] = {-(e[1] * x + e[2] * y + e[3] * z), e[0] * x - e[3] * y + e[2] * z, e[3] * x + e[0] * y - e[1] * z,
                              e[1] * y - e[2] * x + e[0] * z};
        return (rows[place] / 2).id;
    };

    // --- first field: in the rates themselves; only needed when a definition is written with vectors
    TimeDerivative by_rates(g);
    std::vector<NodeId> raw_rates;  // q' in the independent rates
    for (std::size_t i = 0; i < m.coordinates.size(); ++i) {
        const QuaternionRotation* q = quaternion_of[i].second;
        raw_rates.push_back(
            q ? quaternion_rate(i, {g.symbol_node(q->rates[0]), g.symbol_node(q->rates[1]), g.symbol_node(q->rates[2])})
              : g.symbol_node(m.coordinates[i].rate));
        by_rates.set_rate(m.coordinates[i].q, raw_rates.back());
    }
    by_rates.set_rate(m.time, g.constant(1));
    std::vector<NodeId> written;
    for (const Speed& speed : m.speeds) written.push_back(speed.definition);
    const bool with_vectors = !vector_symbols_in(g, written).empty();
    VelocityField raw;
    if (with_vectors) raw = derive_velocity_field({g, m, frames_, places_, by_rates, [](NodeId n) { return n; }, {}, {}});

    Resolver to_rates(
        g, frames_,
        {[&](VectorKind kind, std::uint32_t first, std::uint32_t second) -> MixedVector {
             switch (kind) {
                 case VectorKind::basis: return basis_vector(g, FrameId(first), second);
                 case VectorKind::position: return positions_[first];
                 case VectorKind::velocity: return {{raw.velocity[first]}};
                 case VectorKind::omega: return {{raw.omega[first]}};
                 case VectorKind::velocity_at: {
                     if (FrameId(first) == Model::newtonian() || !body_center_[first].valid()) return {};
                     const PointId center = body_center_[first];
                     const MixedVector arm = add(g, positions_[second], scale(g, g.constant(-1), positions_[center.index()]));
                     return add(g, MixedVector{{raw.velocity[center.index()]}}, frames_.cross({{raw.omega[first]}}, arm));
                 }
                 default: throw Error("a speed must not be defined by accelerations");
             }
         },
         [&](SymbolId s) { return g.symbol(s).kind == SymbolKind::coordinate_rate ? raw_rates[coordinate_of(m, s)] : NodeId{}; },
         [&](NodeId n) { return by_rates(n); },
         [&](FrameId f) { return with_vectors ? raw.omega[f.index()] : zero_vector(g, f); }});
    std::vector<NodeId>& definitions = definitions_;
    for (const Speed& speed : m.speeds) definitions.push_back(to_rates.scalar(speed.definition));

    // --- Y and Z, and the inverse
    const LinearSplit linear = split_linear(g, definitions, rates);
    if (linear.failure) {
        const Speed& speed = m.speeds[linear.failure->root];
        diagnostics.add({Code::E0602, speed.span,
                         fmt::format("speed {} is not linear in the rates of the coordinates", speed.name),
                         to_text(g, linear.failure->term), "a linear combination of q' plus a function of q and t",
                         "write the nonlinear relation as a constraint, or as an `output`"});
        return;
    }
    const SymbolicInverse inverse = invert(g, linear.coefficients);
    if (inverse.status != SymbolicInverse::Status::ok) {
        std::vector<std::string> speeds, columns;
        for (const std::uint32_t row : inverse.culprit_rows) speeds.push_back(m.speeds[row].name);
        for (const std::uint32_t column : inverse.culprit_columns) columns.push_back(rate_names[column]);
        const bool large = inverse.status == SymbolicInverse::Status::block_too_large;
        diagnostics.add({large ? Code::E0606 : Code::E0603, m.speeds[inverse.culprit_rows.front()].span,
                         large ? fmt::format("the definitions of {} speeds couple in one block; at most {} can be inverted",
                                             inverse.culprit_rows.size(), k_largest_block)
                               : fmt::format("the definitions of the speeds can not be solved for {}", fmt::join(columns, ", ")),
                         fmt::format("speeds {}", fmt::join(speeds, ", ")), "definitions that determine every q'",
                         large ? "define some of the speeds by fewer rates"
                               : "check that no two of these speeds are multiples of each other and that every q' occurs"});
        return;
    }
    determinants_ = inverse.determinants;

    // r = Kr u + kr, kr = -Kr Z
    std::vector<NodeId> rate_value(rates.size(), g.constant(0));
    std::vector<NodeId> offset(rates.size(), g.constant(0));
    for (const SparseEntry& e : inverse.inverse.entries) {
        rate_value[e.row] = g.add(rate_value[e.row], g.mul(e.value, g.symbol_node(m.speeds[e.column].u)));
        offset[e.row] = g.sub(offset[e.row], g.mul(e.value, linear.remainders[e.column]));
    }
    for (std::size_t i = 0; i < rates.size(); ++i) rate_value[i] = g.add(rate_value[i], offset[i]);
    independent_rates_ = rates;
    rate_values_ = rate_value;
    Y_ = linear.coefficients;

    // expressions in rates to expressions in speeds; a subexpression that is a speed's definition becomes the speed
    Substitution rate_to_speed;
    for (std::size_t i = 0; i < rates.size(); ++i) rate_to_speed.set(rates[i], rate_value[i]);
    std::map<NodeId, NodeId> speed_of_definition;
    for (std::size_t i = 0; i < definitions.size(); ++i)
        speed_of_definition.emplace(definitions[i], g.symbol_node(m.speeds[i].u));
    const auto rate_free = [&](NodeId n) {
        return !depends_on(g, n, SymbolKind::coordinate_rate) && !depends_on(g, n, SymbolKind::quasi_rate);
    };
    const auto by_definition = [&](Vec3 v, Vec3& out) {
        for (NodeId& c : v.c) {
            const auto found = speed_of_definition.find(c);
            if (found != speed_of_definition.end())
                c = found->second;
            else if (!rate_free(c))
                return false;
        }
        out = v;
        return true;
    };

    // --- q' = K u + k
    std::map<SymbolId, NodeId> value_of_rate;
    for (std::size_t i = 0; i < rates.size(); ++i) value_of_rate[rates[i]] = rate_value[i];
    std::vector<SymbolId> speed_symbols;
    for (const Speed& speed : m.speeds) speed_symbols.push_back(speed.u);
    for (std::size_t i = 0; i < m.coordinates.size(); ++i) {
        const QuaternionRotation* q = quaternion_of[i].second;
        coordinate_rates_.push_back(
            q ? quaternion_rate(i, {value_of_rate[q->rates[0]], value_of_rate[q->rates[1]], value_of_rate[q->rates[2]]})
              : value_of_rate[m.coordinates[i].rate]);
    }
    LinearSplit K = split_linear(g, coordinate_rates_, speed_symbols);
    APPELL_ASSERT(!K.failure, "q' is linear in u by construction");
    K_ = std::move(K.coefficients);
    k_ = std::move(K.remainders);

    for (TimeDerivative* rate : {&rate_bias_, &rate_full_}) {
        for (std::size_t i = 0; i < m.coordinates.size(); ++i) rate->set_rate(m.coordinates[i].q, coordinate_rates_[i]);
        rate->set_rate(m.time, g.constant(1));
    }
    for (const Speed& speed : m.speeds) rate_full_.set_rate(speed.u, g.symbol_node(speed.rate));

    // --- second field: in the speeds
    const auto hints = home_hints(g, written);
    field_ = derive_velocity_field({g, m, frames_, places_, rate_bias_, [&](NodeId n) { return substitute(g, n, rate_to_speed); },
                                    [&](FrameId f, Vec3& w) { return with_vectors && by_definition(raw.omega[f.index()], w); },
                                    [&](PointId p, Vec3& v) {
                                        const auto found = hints.find(p);
                                        if (found == hints.end()) return false;
                                        return std::any_of(found->second.begin(), found->second.end(), [&](FrameId f) {
                                            return by_definition(frames_.express(raw.velocity[p.index()], f), v);
                                        });
                                    }});
}

const Kinematics::Partials& Kinematics::partials() const {
    if (!partials_) partials_ = derive_partials();
    return *partials_;
}

Kinematics::Partials Kinematics::derive_partials() const {
    Graph& g = graph();
    Partials out;
    std::vector<SymbolId> speeds;
    for (const Speed& speed : model().speeds) speeds.push_back(speed.u);
    std::vector<NodeId> roots;
    for (const Vec3& w : field_.omega) roots.insert(roots.end(), w.c.begin(), w.c.end());
    for (const Vec3& v : field_.velocity) roots.insert(roots.end(), v.c.begin(), v.c.end());
    const LinearSplit split = split_linear(g, roots, speeds);
    APPELL_ASSERT(!split.failure, "velocities are linear in the speeds");

    const NodeId zero = g.constant(0);
    const std::size_t frame_count = field_.omega.size();
    out.of_frames.resize(frame_count);
    out.of_points.resize(field_.velocity.size());
    // three consecutive rows are the components of one vector: their sorted entries, merged by speed
    const auto& entries = split.coefficients.entries;
    std::size_t next = 0;
    for (std::size_t item = 0; item < frame_count + field_.velocity.size(); ++item) {
        const bool is_frame = item < frame_count;
        const FrameId frame = is_frame ? field_.omega[item].frame : field_.velocity[item - frame_count].frame;
        auto& list = is_frame ? out.of_frames[item] : out.of_points[item - frame_count];
        std::array<std::size_t, 3> at, end;
        for (std::size_t i = 0; i < 3; ++i) {
            at[i] = next;
            while (next < entries.size() && entries[next].row == 3 * item + i) ++next;
            end[i] = next;
        }
        for (;;) {
            auto speed = static_cast<std::uint32_t>(speeds.size());
            for (std::size_t i = 0; i < 3; ++i)
                if (at[i] < end[i]) speed = std::min(speed, entries[at[i]].column);
            if (speed == speeds.size()) break;
            Vec3 v{frame, {zero, zero, zero}};
            for (std::size_t i = 0; i < 3; ++i)
                if (at[i] < end[i] && entries[at[i]].column == speed) v.c[i] = entries[at[i]++].value;
            list.push_back({speed, v});
        }
    }
    return out;
}

Vec3 Kinematics::acceleration_bias(PointId point) {
    const Vec3& v = velocity(point);
    return vector_rate(graph(), v, omega(v.frame), rate_bias_);
}

Vec3 Kinematics::alpha_bias(FrameId frame) {
    const Vec3& w = omega(frame);  // w x w = 0: only the components change
    return {frame, {rate_bias_(w.c[0]), rate_bias_(w.c[1]), rate_bias_(w.c[2])}};
}

Vec3 Kinematics::omega_before(FrameId frame) const {
    const Frame& turned = model().frame(frame);
    const std::size_t axis = common_axis(graph(), turned.orientation).value();
    Vec3 w = omega(turned.parent);
    w.c[axis] = omega(frame).c[axis];
    return w;
}

std::vector<PartialVelocity> Kinematics::partial_omegas_before(FrameId frame) const {
    const Frame& turned = model().frame(frame);
    const std::size_t axis = common_axis(graph(), turned.orientation).value();
    std::map<std::uint32_t, Vec3> by_speed;
    for (const PartialVelocity& p : partial_omegas(turned.parent))
        by_speed.emplace(p.speed, p.v).first->second.c[axis] = graph().constant(0);
    for (const PartialVelocity& p : partial_omegas(frame))
        by_speed.try_emplace(p.speed, zero_vector(graph(), turned.parent)).first->second.c[axis] = p.v.c[axis];
    std::vector<PartialVelocity> out;
    for (const auto& [speed, v] : by_speed)
        if (!is_zero(graph(), v)) out.push_back({speed, v});
    return out;
}

Vec3 Kinematics::alpha_bias_before(FrameId frame) {
    return vector_rate(graph(), omega_before(frame), omega(model().frame(frame).parent), rate_bias_);
}

Vec3 Kinematics::material_arm(FrameId body, PointId point) {
    return frames_.express(add(graph(), position(point), scale(graph(), graph().constant(-1), position(center(body)))), body);
}

Vec3 Kinematics::material_velocity(FrameId body, PointId point) {
    Graph& g = graph();
    if (body == Model::newtonian() || !has_body(body)) return zero_vector(g, Model::newtonian());
    const Vec3& v = velocity(center(body));
    return add(g, v, frames_.express(cross(g, omega(body), material_arm(body, point)), v.frame));
}

std::vector<PartialVelocity> Kinematics::material_partials(FrameId body, PointId point) {
    Graph& g = graph();
    if (body == Model::newtonian() || !has_body(body)) return {};
    const Vec3 arm = material_arm(body, point);
    std::map<std::uint32_t, Vec3> by_speed;
    for (const PartialVelocity& p : partial_velocities(center(body))) by_speed.emplace(p.speed, p.v);
    for (const PartialVelocity& p : partial_omegas(body)) {
        const Vec3 turn = frames_.express(cross(g, p.v, arm), velocity(center(body)).frame);
        const auto [at, fresh] = by_speed.try_emplace(p.speed, turn);
        if (!fresh) at->second = add(g, at->second, turn);
    }
    std::vector<PartialVelocity> out;
    for (const auto& [speed, v] : by_speed)
        if (!is_zero(g, v)) out.push_back({speed, v});
    return out;
}

// What the user's vectors mean once the velocity field is known.
void Kinematics::make_resolver() {
    Graph& g = graph();
    const auto full_rate = [this](const Vec3& v) { return Vec3{v.frame, {rate(v.c[0]), rate(v.c[1]), rate(v.c[2])}}; };
    resolver_ = std::make_unique<Resolver>(
        g, frames_,
        Resolver::Meaning{[this, &g, full_rate](VectorKind kind, std::uint32_t first, std::uint32_t second) -> MixedVector {
                              switch (kind) {
                                  case VectorKind::basis: return basis_vector(g, FrameId(first), second);
                                  case VectorKind::position: return position(PointId(first));
                                  case VectorKind::velocity: return {{velocity(PointId(first))}};
                                  case VectorKind::omega: return {{omega(FrameId(first))}};
                                  case VectorKind::velocity_at: return {{material_velocity(FrameId(first), PointId(second))}};
                                  case VectorKind::alpha: return {{full_rate(omega(FrameId(first)))}};
                                  case VectorKind::acceleration: {
                                      const Vec3& v = velocity(PointId(first));
                                      return {{add(g, full_rate(v), cross(g, omega(v.frame), v))}};
                                  }
                                  case VectorKind::constraint_force:
                                  case VectorKind::constraint_torque:
                                  case VectorKind::nonideal_force:
                                  case VectorKind::nonideal_torque:
                                  case VectorKind::friction:
                                  case VectorKind::quantity: break;  // put in by whoever knows the dynamics
                              }
                              throw Error("unknown kind of vector symbol");
                          },
                          [this, &g](SymbolId s) -> NodeId {
                              const SymbolKind kind = g.symbol(s).kind;
                              if (kind != SymbolKind::coordinate_rate && kind != SymbolKind::coordinate_rate2) return {};
                              const NodeId first = coordinate_rates_[coordinate_of(model(), s)];
                              return kind == SymbolKind::coordinate_rate ? first : rate(first);
                          },
                          [this](NodeId n) { return rate(n); }, [this](FrameId f) { return omega(f); }});
}

NodeId Kinematics::resolve(NodeId scalar) { return resolver_->scalar(scalar); }
MixedVector Kinematics::resolve_vector(NodeId vector) { return resolver_->vector(vector); }

std::vector<NodeId> Kinematics::speed_offsets() const {
    Graph& g = graph();
    Substitution at_rest;
    for (const SymbolId rate : independent_rates_) at_rest.set(rate, g.constant(0));
    std::vector<NodeId> out;
    for (const NodeId definition : definitions_) out.push_back(substitute(g, definition, at_rest));
    return out;
}

}  // namespace appell
