#include "kinem/velocity_field.hpp"

#include <algorithm>

#include "expr/sweep.hpp"
#include "kinem/orientation.hpp"

namespace appell {

namespace {

// the moving symbols a quantity depends on, ascending; their number is what a change of basis costs
using Rates = std::vector<SymbolId>;

Rates merge(const Rates& a, const Rates& b) {
    Rates out;
    std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(out));
    return out;
}

bool moves(SymbolKind kind) {
    return kind == SymbolKind::coordinate_rate || kind == SymbolKind::speed || kind == SymbolKind::quasi_rate;
}

Rates rates_in(const Graph& g, Sweep& sweep, std::span<const NodeId> roots) {
    Rates out;
    for (const NodeId id : sweep.collect(g, roots))
        if (g.op(id) == Op::Symbol && moves(g.symbol(g.symbol_of(id)).kind)) out.push_back(g.symbol_of(id));
    std::sort(out.begin(), out.end());
    return out;
}

}  // namespace

Vec3 vector_rate(Graph& g, const Vec3& v, const Vec3& w, TimeDerivative& rate) {
    const Vec3 local{v.frame, {rate(v.c[0]), rate(v.c[1]), rate(v.c[2])}};
    return add(g, local, cross(g, w, v));
}

VelocityField derive_velocity_field(const VelocityFieldInput& in) {
    Graph& g = in.graph;
    VelocityField field;
    Sweep sweep;
    std::vector<Rates> frame_rates, point_rates;

    for (std::size_t i = 0; i < in.model.frames.size(); ++i) {
        const FrameId id(i);
        const Frame& frame = in.model.frames[i];
        Vec3 w = zero_vector(g, id);
        std::array<NodeId, 3> relative = w.c;
        bool known = false;
        Rates rates;
        if (frame.parent.valid()) {
            relative = relative_angular_velocity(g, frame.orientation, in.frames.rotation_to_parent(id), in.rate);
            if (std::holds_alternative<QuaternionRotation>(frame.orientation))
                for (NodeId& c : relative) c = in.convert(c);
            rates = merge(frame_rates[frame.parent.index()], rates_in(g, sweep, relative));
            known = in.known_omega && in.known_omega(id, w);
            if (!known) w = add(g, in.frames.express(field.omega[frame.parent.index()], id), Vec3{id, relative});
        }
        field.omega.push_back(w);
        field.relative_omega.push_back({id, relative});
        field.omega_known.push_back(known);
        frame_rates.push_back(std::move(rates));
    }

    for (std::size_t i = 0; i < in.model.points.size(); ++i) {
        const PointPlace& place = in.places[i];
        Vec3 v = zero_vector(g, Model::newtonian());
        Rates rates;
        std::vector<Vec3> parts;  // velocity contributions, each in its frame
        std::vector<Rates> part_rates;
        for (const Vec3& part : place.offset.parts) {
            const Vec3 contribution = vector_rate(g, part, field.omega[part.frame.index()], in.rate);
            if (is_zero(g, contribution)) continue;
            const std::array<NodeId, 3> own{in.rate(part.c[0]), in.rate(part.c[1]), in.rate(part.c[2])};
            parts.push_back(contribution);
            part_rates.push_back(merge(frame_rates[part.frame.index()], rates_in(g, sweep, own)));
        }
        if (place.base.valid()) {
            v = field.velocity[place.base.index()];
            rates = point_rates[place.base.index()];
        }
        // the home with the fewest vectors to turn; the present one wins ties
        FrameId home = v.frame;
        std::size_t best = 0;
        for (std::size_t k = 0; k < parts.size(); ++k)
            if (parts[k].frame != home) best += part_rates[k].size();
        for (const Vec3& candidate : parts) {
            std::size_t cost = candidate.frame == v.frame ? 0 : rates.size();
            for (std::size_t k = 0; k < parts.size(); ++k)
                if (parts[k].frame != candidate.frame) cost += part_rates[k].size();
            if (cost < best) {
                best = cost;
                home = candidate.frame;
            }
        }
        for (const Rates& r : part_rates) rates = merge(rates, r);
        const bool known = in.known_velocity && in.known_velocity(PointId(i), v);
        if (!known) {
            v = in.frames.express(v, home);
            for (const Vec3& part : parts) v = add(g, v, in.frames.express(part, home));
        }
        field.velocity.push_back(v);
        field.velocity_known.push_back(known);
        point_rates.push_back(std::move(rates));
    }
    return field;
}

}  // namespace appell
