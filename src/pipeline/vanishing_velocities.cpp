#include "pipeline/vanishing_velocities.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "tape/workspace.hpp"

namespace appell {

namespace {

// States are on the constraints to round-off, and what vanishes is regular there; a random velocity is a billion times smaller
// than the largest one at none of a hundred states.
constexpr double k_vanishes = 1e-9;

}  // namespace

VanishingVelocities vanishing_velocities(const ConstrainedDynamics& d, const LoweredMotion& lowered,
                                         const ConsistentStates& states) {
    const Model& m = *d.model;
    Kinematics& kin = *d.kinematics;
    Graph& g = d.graph();
    VanishingVelocities out;
    std::vector<std::string> names;
    std::set<std::string> known;
    std::vector<bool> angular;  // compared among themselves: their units differ
    std::vector<NodeId> components;
    const auto add = [&](std::string name, const Vec3& v, bool turns) {
        if (is_zero(g, v) || !known.insert(name).second) return;  // several masses may share a point
        names.push_back(std::move(name));
        angular.push_back(turns);
        components.insert(components.end(), v.c.begin(), v.c.end());
    };
    for (const Particle& p : m.particles) add(fmt::format("vel({})", m.point(p.point).name), kin.velocity(p.point), false);
    for (const Body& b : m.bodies) {
        add(fmt::format("vel({})", m.point(b.center).name), kin.velocity(b.center), false);
        add(fmt::format("omega({})", b.name), kin.omega(b.frame), true);
    }
    if (names.empty() || d.rows.empty()) return out;

    ProgramSpec spec{program_inputs(m), {}, {{"velocities", components}}};
    spec.inputs.push_back(lowered.length_symbol);
    const Program program = lower_program(g, spec);
    Workspace<double> workspace(program);
    std::vector<std::size_t> count(names.size(), 0);
    bool at_each = true;
    for (const std::vector<double>& state : states.rough) {
        std::copy(state.begin(), state.end(), workspace.inputs().begin());
        if (workspace.run().status != EvalStatus::ok) continue;
        const auto v = workspace.output("velocities");
        std::vector<double> size;
        std::array<double, 2> largest{};
        for (std::size_t i = 0; i < names.size(); ++i) {
            size.push_back(std::hypot(v[3 * i], v[3 * i + 1], v[3 * i + 2]));
            largest[angular[i] ? 1 : 0] = std::max(largest[angular[i] ? 1 : 0], size.back());
        }
        if (largest[0] == 0 && largest[1] == 0) continue;
        ++out.states;
        bool any = false;
        for (std::size_t i = 0; i < names.size(); ++i) {
            // among velocities of one kind that all vanish there is nothing to compare with
            const double scale = largest[angular[i] ? 1 : 0];
            if (scale > 0 && size[i] > k_vanishes * scale) continue;
            ++count[i];
            any = true;
        }
        at_each = at_each && any;
    }
    if (out.states == 0 || !at_each) return out;
    for (std::size_t i = 0; i < names.size(); ++i)
        if (count[i] > 0) out.names.emplace_back(names[i], count[i]);
    std::stable_sort(out.names.begin(), out.names.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
    return out;
}

}  // namespace appell
