#include "doctor/implication.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <random>

#include "doctor/nearest_solution.hpp"
#include "doctor/special_states.hpp"
#include "expr/dependence.hpp"

namespace appell {

namespace {

constexpr std::size_t k_enough = 20;
constexpr double k_breaks = 1e-6;  // scaled residual of a conclusion; premises hold to 1e-10

enum class As { premise, conclusion, exception };

// The scalar equations that conditions stand for. Those on positions keep their value as premises and let it be anything as
// conclusions: then only their time derivative must vanish. Exceptions are taken as written.
std::vector<NodeId> scalars(const ConstrainedDynamics& d, const std::vector<StatedEquation>& equations, As as) {
    Kinematics& kin = *d.kinematics;
    Graph& g = d.graph();
    std::vector<NodeId> out;
    for (const StatedEquation& e : equations)
        for (const NodeId phi : e.phi) {
            std::vector<NodeId> parts;
            if (g.is_vector(phi)) {
                const Vec3 v = kin.frames().express(kin.resolve_vector(phi), Model::newtonian());
                parts.assign(v.c.begin(), v.c.end());
            } else {
                parts.push_back(kin.resolve(phi));
            }
            for (NodeId part : parts) {
                const bool on_positions = !depends_on(g, part, SymbolKind::speed) && !depends_on(g, part, SymbolKind::speed_rate);
                // 0 = 0 says nothing, 1 = 0 can not be met
                if ((as != As::conclusion || !on_positions || g.constant_value(part)) && !g.is_constant(part, 0))
                    out.push_back(part);
                if (as == As::exception || !on_positions) continue;
                part = kin.rate_bias(part);
                if (!g.is_constant(part, 0)) out.push_back(part);
            }
        }
    return out;
}

class Tester {
public:
    Tester(const ConstrainedDynamics& d, const Samples& samples, const ImplicationOptions& options)
        : d_(d), g_(d.graph()), m_(*d.model), samples_(samples), options_(options) {
        for (const Coordinate& c : m_.coordinates) unknowns_.push_back(c.q);
        for (const Speed& s : m_.speeds) unknowns_.push_back(s.u);
        for (const Digits50& x : samples.start) start_.push_back(static_cast<double>(x));
        for (std::size_t i = 1; i < 1 + m_.coordinates.size(); ++i) length_ = std::max(length_, std::abs(start_[i]));
        for (std::size_t i = 1 + m_.coordinates.size(); i < 1 + unknowns_.size(); ++i)
            speed_ = std::max(speed_, std::abs(start_[i]));
    }

    ImplicationFinding test(std::size_t index) {
        const Implication& statement = m_.implications[index];
        ImplicationFinding out;
        out.implication = index;
        std::vector<NodeId> premises = scalars(d_, statement.premises, As::premise);
        const std::vector<NodeId> conclusions = scalars(d_, statement.conclusions, As::conclusion);
        // states are positions and velocities
        std::vector<NodeId> all = premises;
        all.insert(all.end(), conclusions.begin(), conclusions.end());
        for (const NodeId e : scalars(d_, statement.exceptions, As::exception)) all.push_back(e);
        if (std::any_of(all.begin(), all.end(), [&](NodeId e) { return depends_on(g_, e, SymbolKind::speed_rate); })) {
            out.why = "accelerations stand in it";
            return out;
        }
        for (const Frame& frame : m_.frames)
            if (const auto* q = std::get_if<QuaternionRotation>(&frame.orientation)) {
                std::vector<NodeId> squares{g_.constant(-1)};
                for (const std::size_t c : q->coordinates) squares.push_back(g_.pow(g_.symbol_node(m_.coordinates[c].q), 2));
                premises.push_back(g_.sum(squares));
            }
        std::mt19937_64 random(options_.seed);
        NearestSolution solver(g_, premises, samples_.symbols, unknowns_);
        NearestSolution conclusion(g_, conclusions, samples_.symbols, unknowns_);
        // the premises, and one conclusion that misses by a number drawn
        const SymbolId miss = g_.add_symbol("miss", SymbolKind::other);
        std::deque<NearestSolution> breakers;  // they do not move
        std::vector<SymbolId> inputs = samples_.symbols;
        inputs.push_back(miss);
        for (const NodeId c : conclusions) {
            std::vector<NodeId> equations = premises;
            equations.push_back(g_.sub(c, g_.symbol_node(miss)));
            breakers.emplace_back(g_, std::move(equations), inputs, unknowns_);
        }

        std::vector<std::vector<double>> states;
        std::vector<std::size_t> breaking, keeping;
        for (std::size_t i = 0; i < options_.tries; ++i) {
            std::vector<double> from = draw(random);
            std::optional<std::vector<double>> state;
            if (i % 2 == 0 || breakers.empty()) {
                state = solver.solve(from);
            } else {
                from.push_back(speed_ * speed_ * std::uniform_real_distribution(0.2, 1.0)(random) * (i % 4 == 1 ? 1 : -1));
                state = breakers[(i / 2) % breakers.size()].solve(from);
                if (state) state->pop_back();
                if (state && !(solver.residual(*state) < 1e-9)) state.reset();
            }
            if (!state) continue;
            (conclusion.residual(*state) > k_breaks ? breaking : keeping).push_back(states.size());
            states.push_back(std::move(*state));
        }
        out.states = states.size();
        out.exceptions = breaking.size();
        if (states.size() < k_enough) return out;
        if (breaking.empty()) {
            out.verdict = Verdict::holds;
            return out;
        }
        for (std::size_t i = 0; i < unknowns_.size(); ++i)
            out.example.emplace_back(g_.symbol(unknowns_[i]).name, states[breaking.front()][1 + i]);
        describe(out, statement, states, breaking, keeping);
        return out;
    }

private:
    std::vector<double> draw(std::mt19937_64& random) {
        std::uniform_real_distribution<double> symmetric(-1, 1);
        std::vector<double> out = start_;
        out[0] += m_.run.duration * 0.5 * (1 + symmetric(random));
        for (std::size_t i = 1; i < 1 + m_.coordinates.size(); ++i) out[i] += length_ * symmetric(random);
        for (std::size_t i = 1 + m_.coordinates.size(); i < 1 + unknowns_.size(); ++i) out[i] = speed_ * symmetric(random);
        return out;
    }

    void describe(ImplicationFinding& out, const Implication& statement, const std::vector<std::vector<double>>& states,
                  const std::vector<std::size_t>& breaking, const std::vector<std::size_t>& keeping) {
        // what the model states comes first, so that a tie is decided for it
        std::vector<SpecialState> candidates;
        for (const StatedEquation& e : statement.exceptions)
            candidates.push_back({e.text, scalars(d_, {e}, As::exception), 0, 0});
        const std::size_t stated = candidates.size();
        for (SpecialState& s : special_states(d_)) candidates.push_back(std::move(s));
        SpecialStateTest test(d_, std::move(candidates), samples_.symbols);
        std::vector<std::vector<bool>> table;
        for (const std::vector<double>& state : states) table.push_back(test.holds(state));
        const auto excepted = [&](std::size_t state) {
            return std::any_of(table[state].begin(), table[state].begin() + static_cast<std::ptrdiff_t>(stated),
                               [](bool holds) { return holds; });
        };
        out.as_stated = std::all_of(breaking.begin(), breaking.end(), excepted);
        if (out.as_stated && std::all_of(keeping.begin(), keeping.end(), excepted)) {
            out.verdict = Verdict::vacuous;
            return;
        }
        const Cover found = cover(table, breaking, keeping);
        out.verdict = found.covered ? Verdict::holds_except : Verdict::fails;
        if (out.as_stated && stated > 0) out.verdict = Verdict::holds_except;
        for (const std::size_t c : found.candidates) out.exceptional.push_back(test.candidates()[c].text);
    }

    const ConstrainedDynamics& d_;
    Graph& g_;
    const Model& m_;
    const Samples& samples_;
    const ImplicationOptions options_;
    std::vector<SymbolId> unknowns_;
    std::vector<double> start_;
    double length_ = 1, speed_ = 1;
};

}  // namespace

std::vector<ImplicationFinding> test_implications(const ConstrainedDynamics& d, const Samples& samples,
                                                  const ImplicationOptions& options) {
    std::vector<ImplicationFinding> out;
    for (std::size_t i = 0; i < d.model->implications.size(); ++i) out.push_back(Tester(d, samples, options).test(i));
    return out;
}

}  // namespace appell
