#include "doctor/special_states.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "expr/print.hpp"
#include "tape/workspace.hpp"

namespace appell {

namespace {

constexpr std::size_t k_most_points = 8;  // for descriptions of pairs
constexpr double k_vanishes = 1e-6;       // of the size of the state; states are known to 1e-10, double roots to half of that

}  // namespace

std::vector<SpecialState> special_states(const ConstrainedDynamics& d) {
    const Model& m = *d.model;
    Graph& g = d.graph();
    Kinematics& kin = *d.kinematics;
    FrameTree& frames = kin.frames();
    const auto in_N = [&](const Vec3& v) { return frames.express(v, Model::newtonian()); };
    const auto varies = [&](const Vec3& v) {
        return std::any_of(v.c.begin(), v.c.end(), [&](NodeId c) { return !g.constant_value(c); });
    };
    const auto components = [](const Vec3& v) { return std::vector<NodeId>(v.c.begin(), v.c.end()); };
    std::vector<SpecialState> out;
    std::vector<std::size_t> moving;
    std::vector<Vec3> velocity, position;
    for (std::size_t i = 1; i < m.points.size(); ++i) {
        const Vec3 v = in_N(kin.velocity(PointId(static_cast<std::uint32_t>(i))));
        if (!varies(v)) continue;
        moving.push_back(i);
        velocity.push_back(v);
        position.push_back(frames.express(kin.position(PointId(static_cast<std::uint32_t>(i))), Model::newtonian()));
    }
    for (std::size_t a = 0; a < moving.size(); ++a)
        out.push_back({fmt::format("vel({}) = 0", m.points[moving[a]].name), components(velocity[a]), moving[a], 0});
    if (moving.size() <= k_most_points)
        for (std::size_t a = 0; a < moving.size(); ++a)
            for (std::size_t b = a + 1; b < moving.size(); ++b) {
                const std::string &A = m.points[moving[a]].name, &B = m.points[moving[b]].name;
                out.push_back(
                    {fmt::format("vel({}) = vel({})", A, B), components(sub(g, velocity[a], velocity[b])), moving[a], moving[b]});
                out.push_back({fmt::format("vel({}) = -vel({})", A, B), components(add(g, velocity[a], velocity[b])), moving[a],
                               moving[b]});
                out.push_back(
                    {fmt::format("{} and {} meet", A, B), components(sub(g, position[a], position[b])), moving[a], moving[b]});
            }
    for (std::size_t i = 1; i < m.frames.size(); ++i)
        if (const Vec3& w = kin.omega(FrameId(static_cast<std::uint32_t>(i))); varies(w))
            out.push_back({fmt::format("omega({}) = 0", m.frames[i].name), components(w), 0, 0});
    for (std::size_t i = 0; i < m.coordinates.size(); ++i)
        if (!g.constant_value(kin.coordinate_rates()[i]))
            out.push_back({fmt::format("{}' = 0", m.coordinates[i].name), {kin.coordinate_rates()[i]}, 0, 0});
    for (std::size_t i = 0; i < m.coordinates.size(); ++i)
        out.push_back({fmt::format("{} = 0", m.coordinates[i].name), {g.symbol_node(m.coordinates[i].q)}, 0, 0});
    // those that hold always, or never, describe nothing
    std::erase_if(out, [&](const SpecialState& s) {
        return std::all_of(s.vanishes.begin(), s.vanishes.end(), [&](NodeId n) { return g.constant_value(n).has_value(); });
    });
    return out;
}

struct SpecialStateTest::Evaluation {
    Program program;
    std::optional<Workspace<double>> workspace;
    std::vector<SymbolKind> kinds;  // of the inputs
};

SpecialStateTest::SpecialStateTest(const ConstrainedDynamics& d, std::vector<SpecialState> candidates,
                                   std::vector<SymbolId> inputs)
    : candidates_(std::move(candidates)), evaluation_(std::make_unique<Evaluation>()) {
    for (const SymbolId s : inputs) evaluation_->kinds.push_back(d.graph().symbol(s).kind);
    std::vector<NodeId> nodes;
    for (const SpecialState& s : candidates_) nodes.insert(nodes.end(), s.vanishes.begin(), s.vanishes.end());
    evaluation_->program = lower_program(d.graph(), {std::move(inputs), {}, {{"v", std::move(nodes)}}});
    evaluation_->workspace.emplace(evaluation_->program);
}

SpecialStateTest::~SpecialStateTest() = default;

std::vector<bool> SpecialStateTest::holds(std::span<const double> state) {
    std::copy(state.begin(), state.end(), evaluation_->workspace->inputs().begin());
    (void)evaluation_->workspace->run();
    // the smaller of the sizes of coordinates and speeds: their units may differ by orders
    double q = 1e-3, u = 1e-3;
    for (std::size_t i = 0; i < state.size(); ++i) {
        if (evaluation_->kinds[i] == SymbolKind::coordinate) q = std::max(q, std::abs(state[i]));
        if (evaluation_->kinds[i] == SymbolKind::speed) u = std::max(u, std::abs(state[i]));
    }
    const double size = std::min(q, u);
    const auto values = evaluation_->workspace->output("v");
    std::vector<bool> out;
    std::size_t place = 0;
    for (const SpecialState& s : candidates_) {
        double largest = 0;
        for (std::size_t i = 0; i < s.vanishes.size(); ++i) largest = std::max(largest, std::abs(values[place++]));
        out.push_back(largest <= k_vanishes * size);  // false when it is not a number
    }
    return out;
}

std::vector<std::string> descriptions(const SpecialStateTest& test, const std::vector<bool>& here,
                                      const std::vector<bool>& elsewhere, std::size_t most) {
    std::vector<std::string> out;
    std::vector<std::size_t> said;  // points
    const auto mentioned = [&](std::size_t point) { return std::find(said.begin(), said.end(), point) != said.end(); };
    for (std::size_t i = 0; i < here.size() && out.size() < most; ++i) {
        const SpecialState& s = test.candidates()[i];
        if (!here[i] || elsewhere[i] || (s.second > 0 && (mentioned(s.first) || mentioned(s.second)))) continue;
        if (s.first == 0 && !said.empty()) break;  // rates make up velocities
        out.push_back(s.text);
        if (s.first > 0) said.push_back(s.first);
        if (s.second > 0) said.push_back(s.second);
    }
    return out;
}

Cover cover(const std::vector<std::vector<bool>>& table, const std::vector<std::size_t>& which,
            const std::vector<std::size_t>& others) {
    Cover out;
    std::vector<std::size_t> open = which;
    const std::size_t candidates = table.empty() ? 0 : table.front().size();
    while (!open.empty()) {
        std::size_t best = candidates, best_count = 0;
        for (std::size_t c = 0; c < candidates; ++c) {
            const auto count = static_cast<std::size_t>(
                std::count_if(open.begin(), open.end(), [&](std::size_t state) { return table[state][c]; }));
            const auto elsewhere = static_cast<std::size_t>(
                std::count_if(others.begin(), others.end(), [&](std::size_t state) { return table[state][c]; }));
            if (4 * elsewhere > others.size()) continue;  // no sign of anything
            if (count > best_count) {
                best = c;
                best_count = count;
            }
        }
        if (best == candidates) return out;
        out.candidates.push_back(best);
        std::erase_if(open, [&](std::size_t state) { return table[state][best]; });
    }
    out.covered = true;
    return out;
}

}  // namespace appell
