#include "pipeline/force_columns.hpp"

#include <algorithm>

namespace appell {

std::vector<ActingForce> forces_for_columns(const ConstrainedDynamics& mode, const ConstrainedDynamics& whole) {
    const std::vector<ActingForce> here = acting_forces(mode);
    std::vector<ActingForce> out = acting_forces(whole);
    std::erase_if(out, [](const ActingForce& f) { return f.member == ForceMember::law; });
    Graph& g = mode.graph();
    for (ActingForce& f : out) {
        const auto find = [&](ForceMember member) {
            return std::find_if(here.begin(), here.end(), [&](const ActingForce& other) {
                return other.member == member && other.owner == f.owner && other.kind == f.kind && other.point == f.point &&
                       other.body == f.body && other.speed == f.speed;
            });
        };
        auto found = find(f.member);
        // in a mode without laws the whole reaction is the ideal one
        if (found == here.end() && f.member == ForceMember::ideal && mode.C.empty()) found = find(ForceMember::reaction);
        f.value = found != here.end() ? found->value : f.kind == ActingForce::Kind::generalized ? g.constant(0) : g.vector_zero();
    }
    return out;
}

}  // namespace appell
