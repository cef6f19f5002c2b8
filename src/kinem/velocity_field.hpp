// Angular velocities of all frames and velocities of all points in the Newtonian frame, by recursion along the frame tree and
// from base point to point. The same recursion serves twice: with rates q' as they are (to read the definitions of the speeds),
// and with q' = K u + k put in (everything after).
//
// Each velocity lives in one frame, its home. A point stays in the home of its base when turning the new part is cheaper than
// turning what the base brings along, and moves to the new part's frame otherwise; cheap means few partial velocities.
#pragma once

#include <functional>
#include <vector>

#include "expr/differentiate.hpp"
#include "model/model.hpp"
#include "vec/frame_tree.hpp"

namespace appell {

// A point's position: base point plus parts in frames.
struct PointPlace {
    PointId base;  // invalid for the origin
    MixedVector offset;
};

struct VelocityField {
    std::vector<Vec3> omega;     // by frame, in its own basis
    std::vector<Vec3> velocity;  // by point, in its home frame
    // what the recursion added: by frame, the angular velocity in its parent; and where a better form took its place
    std::vector<Vec3> relative_omega;
    std::vector<bool> omega_known, velocity_known;
};

struct VelocityFieldInput {
    Graph& graph;
    const Model& model;
    FrameTree& frames;
    const std::vector<PointPlace>& places;
    TimeDerivative& rate;
    std::function<NodeId(NodeId)> convert;  // applied to the rate symbols of quaternion frames
    // a better form of an angular velocity or a velocity, if one is known (speeds defined as its components)
    std::function<bool(FrameId, Vec3&)> known_omega;
    std::function<bool(PointId, Vec3&)> known_velocity;
};

[[nodiscard]] VelocityField derive_velocity_field(const VelocityFieldInput& in);

// (d/dt in the Newtonian frame) of a vector given in a frame with angular velocity w: c' + w x c
[[nodiscard]] Vec3 vector_rate(Graph& graph, const Vec3& v, const Vec3& w, TimeDerivative& rate);

}  // namespace appell
