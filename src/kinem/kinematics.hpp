// Kinematics of a model: q' = K u + k, velocities and angular velocities in the speeds, partial velocities, accelerations, and
// the resolution of everything the user wrote with vectors into scalars of q, u, u' and t.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/result.hpp"
#include "expr/differentiate.hpp"
#include "kinem/velocity_field.hpp"
#include "model/model.hpp"
#include "vec/frame_tree.hpp"

namespace appell {

// the coefficient vector of a speed in a velocity or an angular velocity
struct PartialVelocity {
    std::uint32_t speed;
    Vec3 v;
};

class Resolver;

class Kinematics {
public:
    ~Kinematics();

    [[nodiscard]] static Result<std::unique_ptr<Kinematics>> derive(std::shared_ptr<const Model> model);

    [[nodiscard]] const Model& model() const { return *model_; }
    [[nodiscard]] Graph& graph() const { return *model_->graph; }
    [[nodiscard]] FrameTree& frames() { return frames_; }

    // --- q' = K u + k
    [[nodiscard]] const SparseMatrix& K() const { return K_; }
    [[nodiscard]] std::span<const NodeId> k() const { return k_; }
    [[nodiscard]] std::span<const NodeId> coordinate_rates() const { return coordinate_rates_; }  // K u + k
    // the speeds' definitions u = Y r + Z, in the rates q' (and those of quaternion frames)
    [[nodiscard]] std::span<const NodeId> speed_definitions() const { return definitions_; }
    [[nodiscard]] std::vector<NodeId> speed_offsets() const;  // Z
    // the independent rates r and their values in the speeds, r = Y^-1 (u - Z); and Y
    [[nodiscard]] std::span<const SymbolId> independent_rates() const { return independent_rates_; }
    [[nodiscard]] std::span<const NodeId> rate_values() const { return rate_values_; }
    [[nodiscard]] const SparseMatrix& Y() const { return Y_; }
    // what must not vanish for the speeds' definitions to be regular
    [[nodiscard]] std::span<const NodeId> determinants() const { return determinants_; }

    // --- vectors, in the Newtonian frame
    [[nodiscard]] const Vec3& omega(FrameId frame) const { return field_.omega[frame.index()]; }
    [[nodiscard]] const Vec3& velocity(PointId point) const { return field_.velocity[point.index()]; }
    [[nodiscard]] PointId base(PointId point) const { return places_[point.index()].base; }  // invalid for none
    [[nodiscard]] const PointPlace& place(PointId point) const { return places_[point.index()]; }
    [[nodiscard]] const VelocityField& field() const { return field_; }
    [[nodiscard]] const MixedVector& position(PointId point) const { return positions_[point.index()]; }
    [[nodiscard]] std::span<const PartialVelocity> partial_velocities(PointId point) const {
        return partials().of_points[point.index()];
    }
    [[nodiscard]] std::span<const PartialVelocity> partial_omegas(FrameId frame) const {
        return partials().of_frames[frame.index()];
    }
    // accelerations with u' = 0, in the home frame of the velocity
    [[nodiscard]] Vec3 acceleration_bias(PointId point);
    [[nodiscard]] Vec3 alpha_bias(FrameId frame);
    // The same of a frame that is turned about one of its basis axes, in the basis of the frame before: along the axis they are
    // those of the frame, across it those of the frame before.
    [[nodiscard]] Vec3 omega_before(FrameId frame) const;
    [[nodiscard]] std::vector<PartialVelocity> partial_omegas_before(FrameId frame) const;
    [[nodiscard]] Vec3 alpha_bias_before(FrameId frame);
    // velocity and partial velocities of the body's material point that is at `point`, and where it is from the mass centre, in
    // the body's basis
    [[nodiscard]] Vec3 material_velocity(FrameId body, PointId point);
    [[nodiscard]] std::vector<PartialVelocity> material_partials(FrameId body, PointId point);
    [[nodiscard]] Vec3 material_arm(FrameId body, PointId point);

    // --- resolution: vel(P), omega(B), q', q'', dt(v, A), dot, cross become scalars of q, u, u', t
    [[nodiscard]] NodeId resolve(NodeId scalar);
    [[nodiscard]] MixedVector resolve_vector(NodeId vector);
    [[nodiscard]] bool has_body(FrameId frame) const;
    [[nodiscard]] PointId center(FrameId body) const { return body_center_[body.index()]; }  // invalid for none

    // time derivatives with q' = K u + k: with u' = 0, and with u' as symbols
    [[nodiscard]] NodeId rate_bias(NodeId expression) { return rate_bias_(expression); }
    [[nodiscard]] NodeId rate(NodeId expression) { return rate_full_(expression); }

private:
    explicit Kinematics(std::shared_ptr<const Model> model);

    void place_frames_and_points();
    void derive_speeds(Diagnostics& diagnostics);
    // All of them, when one is first asked for: a chain of n bodies has n^2, and its motion by articulated inertias needs none.
    struct Partials {
        std::vector<std::vector<PartialVelocity>> of_points, of_frames;
    };
    [[nodiscard]] const Partials& partials() const;
    [[nodiscard]] Partials derive_partials() const;
    void make_resolver();

    std::shared_ptr<const Model> model_;
    FrameTree frames_;
    std::vector<PointPlace> places_;
    std::vector<MixedVector> positions_;
    SparseMatrix K_;
    std::vector<NodeId> k_, coordinate_rates_, determinants_, definitions_, rate_values_;
    std::vector<SymbolId> independent_rates_;
    SparseMatrix Y_;
    VelocityField field_;
    TimeDerivative rate_bias_, rate_full_;
    mutable std::optional<Partials> partials_;
    std::unique_ptr<Resolver> resolver_;
    std::vector<PointId> body_center_;  // by frame; invalid where no body belongs to it
};

}  // namespace appell
