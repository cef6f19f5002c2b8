#include "pipeline/smooth_laws.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/number_format.hpp"
#include "dynam/quantities.hpp"
#include "expr/compared_pairs.hpp"
#include "expr/print.hpp"
#include "expr/sweep.hpp"
#include "pipeline/motion_lowering.hpp"
#include "pipeline/value_jumps.hpp"

namespace appell {

namespace {

std::string surface_of(const Graph& g, const ComparedPair& pair) {
    return fmt::format("{} = {}", to_text(g, pair.first), to_text(g, pair.second));
}

// of t, q, u, multipliers and parameters
NodeId resolved(const ConstrainedDynamics& d, const SmoothValue& smooth, Diagnostics& diagnostics) {
    return d.kinematics->resolve(WrittenForces(d, diagnostics).put_in(smooth.value, {}));
}

bool compares_anything(const Graph& g) {
    for (std::size_t i = 0; i < g.size(); ++i)
        if (compares(g, NodeId(i))) return true;
    return false;
}

// where masses are: the motion knows it by velocities alone, which do not show a jump
std::vector<NodeId> places(const ConstrainedDynamics& d) {
    Kinematics& kin = *d.kinematics;
    std::vector<NodeId> out;
    const auto add = [&](const MixedVector& v) {
        for (const Vec3& part : v.parts) out.insert(out.end(), part.c.begin(), part.c.end());
    };
    for (const Particle& particle : d.model->particles) add(kin.position(particle.point));
    for (const Body& body : d.model->bodies) add(kin.position(body.center));
    for (std::size_t i = 1; i < d.model->frames.size(); ++i) {
        const Matrix3& cosines = kin.frames().rotation_to_parent(FrameId(i));
        out.insert(out.end(), cosines.begin(), cosines.end());
    }
    return out;
}

// what the motion is made of, and whose jumps are jumps of speeds
std::vector<NodeId> law_values(const ConstrainedDynamics& d) {
    std::vector<NodeId> out = motion_expressions(d);
    out.insert(out.end(), {d.kinetic_energy, d.potential_energy});
    return out;
}

std::vector<NodeId> those_with(Graph& g, const std::vector<NodeId>& roots, const ComparedPair& pair) {
    std::vector<NodeId> out;
    Sweep sweep;
    for (const NodeId root : roots) {
        const std::vector<NodeId>& below = sweep.collect(g, std::span(&root, 1));
        const auto compares_pair = [&](NodeId id) {
            if (!compares(g, id)) return false;
            const Compared by = compared_by(g, id);
            return (by.first == pair.first && by.second == pair.second) || (by.first == pair.second && by.second == pair.first);
        };
        if (std::ranges::any_of(below, compares_pair)) out.push_back(root);
    }
    return out;
}

}  // namespace

void check_smooth_values(const ConstrainedDynamics& d, Diagnostics& diagnostics) {
    Graph& g = d.graph();
    for (const SmoothValue& smooth : smooth_values(g)) {
        const NodeId value = resolved(d, smooth, diagnostics);
        for (const ComparedPair& pair : compared_pairs(g, std::span(&value, 1))) {
            ValueJumps jumps(*d.model);
            ValueJumps::Jump jump{};
            const ValueJumps::Verdict verdict = jumps.look(pair.first, pair.second, std::span(&value, 1), jump);
            if (verdict == ValueJumps::Verdict::none) continue;
            const bool found = verdict == ValueJumps::Verdict::jumps;
            diagnostics.add(
                {Code::E0835, Span{},
                 found ? fmt::format("the value of {} jumps where {}", smooth.text, surface_of(g, pair))
                       : fmt::format("it cannot be verified that {} has no jump where {}", smooth.text, surface_of(g, pair)),
                 found ? fmt::format("{} and {} on its two sides, at a random point", short_number(jump.below),
                                     short_number(jump.above))
                       : "no point with a finite value on both sides",
                 "a value without jumps: abs, min, max, or an `if` whose branches agree where it switches",
                 "write it without smooth(): steps then end where it switches"});
            break;
        }
    }
}

namespace {

// Laws that jump with what a solve finds, as forces of constraints: no guard is known for them before the solve.
void name_unlocated(const ConstrainedDynamics& d, Diagnostics& diagnostics) {
    if (d.C.empty()) return;
    Graph& g = d.graph();
    const std::vector<NodeId> laws = motion_expressions(d);
    for (const ComparedPair& pair : compared_pairs(g, laws)) {
        ValueJumps::Jump jump{};
        if (!pair.unknown || !pair.jumps ||
            ValueJumps(*d.model).look(pair.first, pair.second, those_with(g, laws, pair), jump) != ValueJumps::Verdict::jumps)
            continue;
        diagnostics.add({Code::W0837,
                         {},
                         fmt::format("a law jumps where {}, and steps do not end there", surface_of(g, pair)),
                         "a comparison of constraint forces",
                         "comparisons of time, positions and velocities",
                         "a passage that is shorter than a step can be missed: limit the steps with max_step, or make the law "
                         "continuous"});
    }
}

}  // namespace

void find_law_conditions(const ConstrainedDynamics& d, FrozenConditions& conditions, Diagnostics& diagnostics) {
    Graph& g = d.graph();
    if (!compares_anything(g)) return;
    // where slip comes to zero friction has a guard of its own
    for (const Friction& friction : d.model->frictions) {
        const NodeId speed = d.kinematics->resolve(g.make(Op::Sqrt, g.dot(friction.slip, friction.slip)));
        conditions.leave(std::span(&speed, 1));
    }
    const std::vector<SmoothValue> marked = smooth_values(g);
    const std::vector<NodeId> laws = marked.empty() ? std::vector<NodeId>{} : law_values(d);
    for (const SmoothValue& smooth : marked) {
        Diagnostics said;  // by the check before
        const NodeId value = resolved(d, smooth, said);
        for (const ComparedPair& pair : compared_pairs(g, std::span(&value, 1))) {
            if (pair.unknown) continue;
            ValueJumps::Jump jump{};
            const std::vector<NodeId> with = those_with(g, laws, pair);
            if (with.empty()) continue;
            if (ValueJumps(*d.model).look(pair.first, pair.second, with, jump) != ValueJumps::Verdict::jumps) {
                const NodeId comparison = g.make(Op::Less, pair.first, pair.second);
                conditions.leave(std::span(&comparison, 1));
            } else
                diagnostics.add(
                    {Code::N0838, Span{}, fmt::format("steps end where {}, in spite of {}", surface_of(g, pair), smooth.text),
                     fmt::format("a law jumps there, from {} to {}", short_number(jump.below), short_number(jump.above)),
                     "laws that do not jump there",
                     "the law is a derivative of the value (of a potential, a position), or the comparison "
                     "is written a second time outside smooth()"});
        }
    }
    conditions.find(motion_expressions(d));
    conditions.find(places(d));
    conditions.find(std::span(&d.potential_energy, 1));
    name_unlocated(d, diagnostics);
}

}  // namespace appell
