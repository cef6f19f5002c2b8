#include "model/builder.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "expr/dependence.hpp"

namespace appell {

ModelBuilder::ModelBuilder(std::string system, std::string newtonian, std::string origin, std::size_t node_limit) {
    model_.name = std::move(system);
    model_.graph = std::make_shared<Graph>(node_limit);
    model_.time = graph().add_symbol("t", SymbolKind::time);
    model_.kinetic_energy = graph().add_symbol("kinetic", SymbolKind::other);
    model_.potential_energy = graph().add_symbol("potential", SymbolKind::other);
    model_.total_energy = graph().add_symbol("energy", SymbolKind::other);
    frame(std::move(newtonian), FrameId{}, Orientation{});
    point(std::move(origin), graph().vector_zero());
}

Expr ModelBuilder::parameter(std::string name, double value, Span span) {
    const SymbolId symbol = graph().add_symbol(name, SymbolKind::parameter);
    model_.parameters.push_back({std::move(name), symbol, value, {}, span});
    return {&graph(), graph().symbol_node(symbol)};
}

Expr ModelBuilder::input(std::string name, std::optional<double> value, Span span) {
    const SymbolId symbol = graph().add_symbol(name, SymbolKind::input);
    model_.inputs.push_back({std::move(name), symbol, value, {}, span});
    return {&graph(), graph().symbol_node(symbol)};
}

Expr ModelBuilder::coordinate(std::string name, double start, Span span) {
    Coordinate c;
    c.q = graph().add_symbol(name, SymbolKind::coordinate);
    c.rate = graph().add_symbol(name + "'", SymbolKind::coordinate_rate);
    c.rate2 = graph().add_symbol(name + "''", SymbolKind::coordinate_rate2);
    c.name = std::move(name);
    c.start = start;
    c.span = span;
    const SymbolId q = c.q;
    model_.coordinates.push_back(std::move(c));
    return {&graph(), graph().symbol_node(q)};
}

Expr ModelBuilder::rate(std::size_t coordinate) {
    return {&graph(), graph().symbol_node(model_.coordinates.at(coordinate).rate)};
}

Expr ModelBuilder::speed(std::string name, NodeId definition, double start, Span span) {
    Speed s;
    s.u = graph().add_symbol(name, SymbolKind::speed);
    s.rate = graph().add_symbol(name + "'", SymbolKind::speed_rate);
    s.name = std::move(name);
    s.definition = definition;
    s.start = start;
    s.given = start != 0;
    s.span = span;
    const SymbolId u = s.u;
    model_.speeds.push_back(std::move(s));
    return {&graph(), graph().symbol_node(u)};
}

Expr ModelBuilder::time() { return {&graph(), graph().symbol_node(model_.time)}; }

NodeId ModelBuilder::vector_symbol(VectorKind kind, std::uint32_t first, std::uint32_t second, std::string name) {
    const auto key = std::tuple(kind, first, second);
    if (const auto found = vector_symbols_.find(key); found != vector_symbols_.end()) return found->second;
    const VectorSymbolId id = graph().add_vector_symbol({std::move(name), static_cast<std::uint8_t>(kind), first, second});
    return vector_symbols_[key] = graph().vector_node(id);
}

NodeId ModelBuilder::position(PointId p) {
    return vector_symbol(VectorKind::position, p.value, 0, fmt::format("pos({})", model_.point(p).name));
}
NodeId ModelBuilder::velocity(PointId p) {
    return vector_symbol(VectorKind::velocity, p.value, 0, fmt::format("vel({})", model_.point(p).name));
}
NodeId ModelBuilder::velocity_at(FrameId body, PointId p) {
    return vector_symbol(VectorKind::velocity_at, body.value, p.value,
                         fmt::format("vel({} at {})", model_.frame(body).name, model_.point(p).name));
}
NodeId ModelBuilder::omega(FrameId f) {
    return vector_symbol(VectorKind::omega, f.value, 0, fmt::format("omega({})", model_.frame(f).name));
}
NodeId ModelBuilder::acceleration(PointId p) {
    return vector_symbol(VectorKind::acceleration, p.value, 0, fmt::format("acc({})", model_.point(p).name));
}
NodeId ModelBuilder::alpha(FrameId f) {
    return vector_symbol(VectorKind::alpha, f.value, 0, fmt::format("alpha({})", model_.frame(f).name));
}

NodeId ModelBuilder::constraint_force(std::size_t constraint, std::size_t component, PointId p, FrameId body, bool ideal) {
    const Constraint& c = model_.constraints.at(constraint);
    const SymbolId multiplier = (ideal ? c.ideal_multipliers : c.multipliers).at(component);
    const std::string axis = c.multipliers.size() == 3 ? fmt::format(", {}", "xyz"[component]) : "";
    const std::string place =
        body.valid() ? fmt::format("{} at {}", model_.frame(body).name, model_.point(p).name) : model_.point(p).name;
    const NodeId where = body.valid() ? velocity_at(body, p) : position(p);
    return vector_symbol(VectorKind::constraint_force, multiplier.value, graph().vector_symbol_of(where).value,
                         fmt::format("{}({}, {}{})", ideal ? "ideal" : "force", c.name, place, axis));
}
NodeId ModelBuilder::constraint_torque(std::size_t constraint, std::size_t component, FrameId body, bool ideal) {
    const Constraint& c = model_.constraints.at(constraint);
    const SymbolId multiplier = (ideal ? c.ideal_multipliers : c.multipliers).at(component);
    const std::string axis = c.multipliers.size() == 3 ? fmt::format(", {}", "xyz"[component]) : "";
    return vector_symbol(VectorKind::constraint_torque, multiplier.value, body.value,
                         fmt::format("{}({}, {}{})", ideal ? "ideal" : "torque", c.name, model_.frame(body).name, axis));
}

NodeId ModelBuilder::nonideal_force(std::size_t constraint, PointId p, FrameId body) {
    const std::string place =
        body.valid() ? fmt::format("{} at {}", model_.frame(body).name, model_.point(p).name) : model_.point(p).name;
    const NodeId where = body.valid() ? velocity_at(body, p) : position(p);
    return vector_symbol(VectorKind::nonideal_force, static_cast<std::uint32_t>(constraint),
                         graph().vector_symbol_of(where).value,
                         fmt::format("nonideal({}, {})", model_.constraints.at(constraint).name, place));
}
NodeId ModelBuilder::friction(std::size_t constraint) {
    return vector_symbol(VectorKind::friction, static_cast<std::uint32_t>(constraint), 0,
                         fmt::format("friction({})", model_.constraints.at(constraint).name));
}
NodeId ModelBuilder::nonideal_torque(std::size_t constraint, FrameId body) {
    return vector_symbol(VectorKind::nonideal_torque, static_cast<std::uint32_t>(constraint), body.value,
                         fmt::format("nonideal({}, {})", model_.constraints.at(constraint).name, model_.frame(body).name));
}

NodeId ModelBuilder::quantity(const Quantity& quantity, std::string name, bool vector) {
    const auto key =
        std::tuple(quantity.kind, quantity.of.valid() ? quantity.of.value : 0u, quantity.first, quantity.row, quantity.column);
    const auto [found, fresh] = quantities_.emplace(key, NodeId{});
    if (!fresh) return found->second;
    const auto index = static_cast<std::uint32_t>(model_.quantities.size());
    model_.quantities.push_back(quantity);
    if (vector) return found->second = vector_symbol(VectorKind::quantity, index, 0, std::move(name));
    const SymbolId symbol = graph().add_symbol(std::move(name), SymbolKind::other);
    model_.quantities.back().symbol = symbol;
    return found->second = graph().symbol_node(symbol);
}

NodeId ModelBuilder::vector(FrameId f, NodeId x, NodeId y, NodeId z) {
    return graph().vadd(graph().vadd(graph().vscale(x, basis(f, 0)), graph().vscale(y, basis(f, 1))),
                        graph().vscale(z, basis(f, 2)));
}

FrameId ModelBuilder::frame(std::string name, FrameId parent, Orientation orientation, Span span) {
    const FrameId id(model_.frames.size());
    if (parent.valid() && parent.index() >= id.index()) throw Error("a frame's parent must be added before it");
    Frame f;
    f.name = std::move(name);
    f.parent = parent;
    f.orientation = std::move(orientation);
    f.span = span;
    static constexpr const char* k_axes[] = {"x", "y", "z"};
    for (std::uint32_t axis = 0; axis < 3; ++axis)
        f.basis[axis] = vector_symbol(VectorKind::basis, id.value, axis, fmt::format("{}.{}", f.name, k_axes[axis]));
    model_.frames.push_back(std::move(f));
    return id;
}

FrameId ModelBuilder::simple_frame(std::string name, FrameId parent, int axis, NodeId angle, Span span) {
    const NodeId zero = graph().constant(0), one = graph().constant(1);
    SimpleRotation rotation{{zero, zero, zero}, angle};
    rotation.axis.at(static_cast<std::size_t>(axis)) = one;
    return frame(std::move(name), parent, rotation, span);
}

FrameId ModelBuilder::quaternion_frame(std::string name, FrameId parent, std::array<std::size_t, 4> coordinates, Span span) {
    QuaternionRotation rotation;
    rotation.coordinates = coordinates;
    static constexpr const char* k_axes[] = {"x", "y", "z"};
    for (std::size_t axis = 0; axis < 3; ++axis)
        rotation.rates[axis] = graph().add_symbol(fmt::format("w_{}({})", k_axes[axis], name), SymbolKind::quasi_rate);
    return frame(std::move(name), parent, rotation, span);
}

PointId ModelBuilder::point(std::string name, NodeId position, Span span) {
    model_.points.push_back({std::move(name), position, span});
    return PointId(model_.points.size() - 1);
}

void ModelBuilder::particle(std::string name, PointId point, NodeId mass, Span span) {
    model_.particles.push_back({std::move(name), point, mass, span});
}

void ModelBuilder::body(Body body) {
    // a body is known by its frame: docs/decisions/009
    if (body.frame == Model::newtonian() ||
        std::any_of(model_.bodies.begin(), model_.bodies.end(), [&](const Body& other) { return other.frame == body.frame; }))
        throw Error(fmt::format("body {} needs a frame of its own", body.name));
    if (!body.inertia_frame.valid()) body.inertia_frame = body.frame;
    if (!body.inertia_point.valid()) body.inertia_point = body.center;
    model_.bodies.push_back(std::move(body));
}

void ModelBuilder::load(Load load) { model_.loads.push_back(std::move(load)); }

std::size_t ModelBuilder::constraint(std::string name, NodeId phi, std::string text, Span span) {
    Constraint c;
    const std::vector<std::string> components =
        graph().is_vector(phi) ? std::vector<std::string>{", x", ", y", ", z"} : std::vector<std::string>{""};
    for (const std::string& axis : components) {
        c.multipliers.push_back(graph().add_symbol(fmt::format("lambda({}{})", name, axis), SymbolKind::multiplier));
        c.ideal_multipliers.push_back(graph().add_symbol(fmt::format("ideal({}{})", name, axis), SymbolKind::multiplier));
    }
    c.name = std::move(name);
    c.phi = phi;
    c.text = std::move(text);
    c.span = span;
    model_.constraints.push_back(std::move(c));
    return model_.constraints.size() - 1;
}

std::size_t ModelBuilder::actuator(std::string name, std::vector<Action> directions, std::string text, Span span) {
    const SymbolId magnitude = graph().add_symbol(fmt::format("actuator({})", name), SymbolKind::multiplier);
    model_.actuators.push_back({std::move(name), magnitude, std::move(directions), std::move(text), span});
    return model_.actuators.size() - 1;
}

namespace {

// default speeds: the rate of each coordinate, and the angular velocity components of each quaternion frame
void add_default_speeds(ModelBuilder& builder) {
    Model& model = builder.model();
    std::vector<bool> in_quaternion(model.coordinates.size(), false);
    for (const Frame& frame : model.frames)
        if (const auto* quaternion = std::get_if<QuaternionRotation>(&frame.orientation))
            for (const std::size_t coordinate : quaternion->coordinates) in_quaternion[coordinate] = true;
    for (std::size_t i = 0; i < model.coordinates.size(); ++i)
        if (!in_quaternion[i]) {
            const Coordinate c = model.coordinates[i];
            builder.speed(c.name + "'", builder.rate(i).id, 0, c.span);
            if (c.dimension) model.speeds.back().dimension = *c.dimension / Dimension::of(0, 0, 1);
        }
    for (const Frame& frame : model.frames)
        if (const auto* quaternion = std::get_if<QuaternionRotation>(&frame.orientation))
            for (const SymbolId rate : quaternion->rates)
                builder.speed(model.graph->symbol(rate).name, model.graph->symbol_node(rate), 0, frame.span);
}

}  // namespace

Result<Model> ModelBuilder::build() {
    Result<Model> result;
    if (model_.speeds.empty()) add_default_speeds(*this);
    if (model_.coordinates.empty())
        result.diagnostics.add({Code::E0591,
                                {},
                                "the model has no coordinates",
                                "",
                                "at least one `coord`",
                                "declare what can move, e.g. `coord x = 0 m`"});
    if (model_.particles.empty() && model_.bodies.empty())
        result.diagnostics.add({Code::E0592,
                                {},
                                "the model has no particle and no body",
                                "",
                                "at least one `particle` or `body`",
                                "without mass there are no equations of motion"});
    std::vector<bool> taken(model_.coordinates.size(), false);
    for (const Frame& frame : model_.frames)
        if (const auto* quaternion = std::get_if<QuaternionRotation>(&frame.orientation)) {
            bool said = false;
            for (const std::size_t coordinate : quaternion->coordinates) {
                if (taken[coordinate] && !std::exchange(said, true))
                    result.diagnostics.add(
                        {Code::E0593, frame.span,
                         fmt::format("coordinate {} belongs to two quaternions", model_.coordinates[coordinate].name),
                         fmt::format("frame {} uses it too", frame.name), "four coordinates for each quaternion frame",
                         "declare four more coordinates, or turn the second frame relative to the first"});
                taken[coordinate] = true;
            }
        }
    if (!result.diagnostics.has_errors()) result.value = std::move(model_);
    return result;
}

}  // namespace appell
