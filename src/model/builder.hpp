// Builds a Model, from C++ or from the language. Entities must be added after the ones they refer to; the builder names the
// graph's symbols and gives out the vector symbols (one node for each of vel(P), omega(B), N.x, ...).
#pragma once

#include <map>
#include <span>
#include <string>
#include <tuple>

#include "base/result.hpp"
#include "model/model.hpp"

namespace appell {

class ModelBuilder {
public:
    // makes the Newtonian frame and the origin, a point fixed in it
    ModelBuilder(std::string system, std::string newtonian = "N", std::string origin = "O", std::size_t node_limit = 0xfffffff0u);

    [[nodiscard]] Graph& graph() { return *model_.graph; }
    [[nodiscard]] Model& model() { return model_; }
    [[nodiscard]] const Model& model() const { return model_; }

    // --- scalars: the returned Expr is the symbol
    Expr parameter(std::string name, double value, Span span = {});
    Expr input(std::string name, std::optional<double> value = {}, Span span = {});
    // q; its index is model().coordinates.size() - 1 afterwards
    Expr coordinate(std::string name, double start = 0, Span span = {});
    [[nodiscard]] Expr rate(std::size_t coordinate);  // q'
    // u with its definition; coordinates left without speeds get u = q' in build()
    Expr speed(std::string name, NodeId definition, double start = 0, Span span = {});
    [[nodiscard]] Expr time();

    // --- vectors
    [[nodiscard]] NodeId basis(FrameId frame, int axis) const {
        return model_.frame(frame).basis[static_cast<std::size_t>(axis)];
    }
    [[nodiscard]] NodeId position(PointId point);
    [[nodiscard]] NodeId velocity(PointId point);
    [[nodiscard]] NodeId velocity_at(FrameId body, PointId point);
    [[nodiscard]] NodeId omega(FrameId frame);
    [[nodiscard]] NodeId acceleration(PointId point);
    [[nodiscard]] NodeId alpha(FrameId frame);
    // the force that one equation of a constraint exerts on a point, or on a body's material point there, and its torque on a
    // body; components of a vector equation are numbered 0..2
    [[nodiscard]] NodeId constraint_force(std::size_t constraint, std::size_t component, PointId point, FrameId body = {},
                                          bool ideal = false);
    [[nodiscard]] NodeId constraint_torque(std::size_t constraint, std::size_t component, FrameId body, bool ideal = false);
    // the nonideal member of a constraint's force there, and of its torque
    [[nodiscard]] NodeId nonideal_force(std::size_t constraint, PointId point, FrameId body = {});
    [[nodiscard]] NodeId nonideal_torque(std::size_t constraint, FrameId body);
    // what the friction of a constraint does, whether it slides or sticks
    [[nodiscard]] NodeId friction(std::size_t constraint);
    // the node that stands for a quantity of the dynamics; asked for twice, the same one
    [[nodiscard]] NodeId quantity(const Quantity& quantity, std::string name, bool vector = false);
    // x*F.x + y*F.y + z*F.z
    [[nodiscard]] NodeId vector(FrameId frame, NodeId x, NodeId y, NodeId z);

    // --- entities
    FrameId frame(std::string name, FrameId parent, Orientation orientation, Span span = {});
    FrameId simple_frame(std::string name, FrameId parent, int axis, NodeId angle, Span span = {});
    // the three relative angular velocity components become rates of their own
    FrameId quaternion_frame(std::string name, FrameId parent, std::array<std::size_t, 4> coordinates, Span span = {});
    PointId point(std::string name, NodeId position, Span span = {});
    void particle(std::string name, PointId point, NodeId mass, Span span = {});
    // its frame must be its own: not the Newtonian one, and no other body's
    void body(Body body);
    void load(Load load);
    // phi = 0; scalar or vector
    std::size_t constraint(std::string name, NodeId phi, std::string text = {}, Span span = {});
    std::size_t actuator(std::string name, std::vector<Action> directions, std::string text = {}, Span span = {});

    // Adds the default speeds q', checks the model's completeness, and gives it out. The builder is empty afterwards.
    Result<Model> build();

private:
    NodeId vector_symbol(VectorKind kind, std::uint32_t first, std::uint32_t second, std::string name);

    Model model_;
    std::map<std::tuple<VectorKind, std::uint32_t, std::uint32_t>, NodeId> vector_symbols_;
    std::map<std::tuple<QuantityKind, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>, NodeId> quantities_;
};

}  // namespace appell
