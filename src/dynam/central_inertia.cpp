#include "dynam/central_inertia.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "expr/dependence.hpp"
#include "expr/print.hpp"
#include "kinem/orientation.hpp"

namespace appell {

namespace {

// Is the body symmetric about the axis that its frame has in common with the frame before, and does its angular velocity know the
// angle between the two in its own basis alone? Not where speeds are defined by that basis.
bool turns_better_before(Kinematics& kin, const Body& body, const Matrix3& I) {
    const Graph& g = kin.graph();
    const Frame& frame = kin.model().frame(body.frame);
    const std::optional<std::size_t> axis = common_axis(g, frame.orientation);
    if (!axis) return false;
    const std::size_t i = (*axis + 1) % 3, j = (*axis + 2) % 3;
    if (I[3 * i + i] != I[3 * j + j]) return false;
    for (std::size_t a = 0; a < 3; ++a)
        for (std::size_t b = 0; b < 3; ++b)
            if (a != b && !g.is_constant(I[3 * a + b], 0)) return false;
    const NodeId angle = std::get<SimpleRotation>(frame.orientation).angle;
    std::vector<SymbolId> moving = symbols_in(g, std::span(&angle, 1));
    std::erase_if(moving,
                  [&](SymbolId s) { return g.symbol(s).kind != SymbolKind::coordinate && g.symbol(s).kind != SymbolKind::time; });
    const auto knows = [&](const Vec3& w) {
        const std::vector<SymbolId> present = symbols_in(g, w.c);
        return std::ranges::any_of(moving, [&](SymbolId s) { return std::ranges::binary_search(present, s); });
    };
    return knows(kin.omega(body.frame)) && !knows(kin.omega_before(body.frame));
}

bool moves(const Graph& g, NodeId n) { return depends_on(g, n, SymbolKind::coordinate) || depends_on(g, n, SymbolKind::time); }

}  // namespace

Matrix3 central_inertia(Kinematics& kin, const Body& body, Diagnostics& diagnostics) {
    Graph& g = kin.graph();
    const auto& i = body.inertia;  // xx yy zz xy yz zx
    Matrix3 I{i[0], i[3], i[5], i[3], i[1], i[4], i[5], i[4], i[2]};
    for (NodeId& entry : I) entry = kin.resolve(entry);
    if (body.inertia_frame != body.frame) {
        const Matrix3 R = kin.frames().rotation(body.frame, body.inertia_frame);
        if (std::any_of(R.begin(), R.end(), [&](NodeId r) { return moves(g, r); })) {
            diagnostics.add({Code::E0607, body.span,
                             fmt::format("the inertia of {} is given in {}, which turns relative to the body", body.name,
                                         kin.model().frame(body.inertia_frame).name),
                             "", "a frame fixed in the body", "give the inertia in the body's own frame"});
            return I;
        }
        I = multiply(g, multiply(g, R, I), transpose(R));
    }
    if (body.inertia_point == body.center) return I;
    const MixedVector mixed = add(g, kin.position(body.center), scale(g, g.constant(-1), kin.position(body.inertia_point)));
    const Vec3 r = kin.frames().express(mixed, body.frame);
    for (const NodeId c : r.c)
        if (moves(g, c)) {
            diagnostics.add({Code::E0607, body.span,
                             fmt::format("the inertia of {} is about {}, which is not fixed in the body", body.name,
                                         kin.model().point(body.inertia_point).name),
                             to_text(g, c), "a point fixed in the body", "give the inertia about the mass centre"});
            return I;
        }
    // I_center = I_Q - m (|r|^2 E - r r')
    const NodeId mass = kin.resolve(body.mass), squared = dot(g, r, r);
    for (std::size_t a = 0; a < 3; ++a)
        for (std::size_t b = 0; b < 3; ++b) {
            const NodeId outer = g.mul(r.c[a], r.c[b]);
            I[3 * a + b] = g.sub(I[3 * a + b], g.mul(mass, a == b ? g.sub(squared, outer) : g.neg(outer)));
        }
    return I;
}

Turning turning(Kinematics& kin, const Body& body, Diagnostics& diagnostics) {
    const Matrix3 I = central_inertia(kin, body, diagnostics);
    if (turns_better_before(kin, body, I))
        return {kin.model().frame(body.frame).parent, I, kin.omega_before(body.frame), kin.alpha_bias_before(body.frame)};
    return {body.frame, I, kin.omega(body.frame), kin.alpha_bias(body.frame)};
}

// I alpha + omega x I omega
Vec3 Turning::momentum_bias(Graph& g) const {
    return add(g, Vec3{basis, multiply(g, inertia, alpha_bias.c)}, cross(g, omega, momentum(g)));
}

}  // namespace appell
