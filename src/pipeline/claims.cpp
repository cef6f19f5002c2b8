#include "pipeline/claims.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <span>

#include <fmt/format.h>

#include "base/number_format.hpp"
#include "dynam/formulations.hpp"
#include "dynam/quantities.hpp"
#include "expr/dependence.hpp"
#include "expr/print.hpp"
#include "tape/workspace.hpp"

namespace appell {

namespace {

// An identity leaves round-off of fifty digits, amplified by the condition of the equations; what is wrong leaves its size.
constexpr double k_bar = 1e-25;
constexpr double k_bar_double = 1e-9;
// Where all terms vanish (u3' = 0) the equation has another size: how much it changes with the unknowns of solves in it, and with
// a state this little off; or it vanishes identically, and the round-off it leaves in double is far larger than with fifty
// digits, while a difference would be the same in both.
constexpr double k_off = 1e-12;
// In double the states themselves are off by round-off, which a root near zero or a small divisor makes large. A change of a
// state by a few hundred roundings shows how large: what it changes, and the noise of the evaluation with it, is the size that
// the bar of 1e-9 is relative to, so that ten thousand times the noise is allowed and a difference beyond that is none of it.
constexpr std::array<double, 2> k_off_double{1e-6, 1e-13};
constexpr double k_from_double = 1e10;
constexpr std::size_t k_together = 1000;  // equations whose values are kept at a time

struct ScalarEquation {
    std::size_t claim;
    std::string entry;
    NodeId left, right;
    struct Term {
        NodeId value;
        bool in_left, negative;
    };
    std::vector<Term> terms;     // of left and right: their sums taken apart
    std::size_t first_term;      // among those of all equations
    std::vector<NodeId> slopes;  // by the unknowns of solves
};

// sums, differences and signs at the top of an expression taken apart
void take_apart(const Graph& g, NodeId side, bool in_left, std::vector<ScalarEquation::Term>& out) {
    std::vector<std::pair<NodeId, bool>> stack{{side, false}};
    while (!stack.empty() && out.size() < 200) {
        const auto [node, negative] = stack.back();
        stack.pop_back();
        switch (g.op(node)) {
            case Op::Add:
                stack.emplace_back(g.operand(node, 1), negative);
                stack.emplace_back(g.operand(node, 0), negative);
                break;
            case Op::Sub:
                stack.emplace_back(g.operand(node, 1), !negative);
                stack.emplace_back(g.operand(node, 0), negative);
                break;
            case Op::Neg: stack.emplace_back(g.operand(node, 0), !negative); break;
            default: out.push_back({node, in_left, negative});
        }
    }
    for (const auto& [node, negative] : stack) out.push_back({node, in_left, negative});
}

// A number as a small fraction, where it is one.
std::string factor_text(const Digits50& value) {
    for (int denominator = 1; denominator <= 24; ++denominator) {
        const Digits50 scaled = value * denominator;
        const Digits50 nearest = round(scaled);
        if (abs(scaled - nearest) < Digits50(1e-20) * (abs(scaled) + 1) && abs(nearest) < 10000) {
            const auto numerator = static_cast<long>(nearest);
            return denominator == 1 ? fmt::format("{}", numerator) : fmt::format("{}/{}", numerator, denominator);
        }
    }
    return short_number(static_cast<double>(value), 8);
}

template <class T>
T magnitude(const T& value) {
    using std::abs;
    return abs(value);
}

// the claims' values at some states, in one number type
template <class T>
struct Values {
    std::vector<std::vector<T>> left, right, where;  // [state][equation], where by claim
    std::vector<std::vector<T>> terms;               // [state][term], those of all equations one after the other
    std::vector<std::vector<T>> floor;               // [state][equation]: slopes times the largest unknown
};

// at states a little off
template <class T>
struct Near {
    double off;
    Values<T> values;
};

class ClaimTest {
public:
    ClaimTest(const ConstrainedDynamics& d, const LoweredMotion& lowered, const ConsistentStates& states,
              Diagnostics& diagnostics)
        : d_(d), m_(*d.model), g_(d.graph()), states_(states), diagnostics_(diagnostics), quantities_(d, diagnostics) {
        quantities_.set_rank(states.rank);
        inputs_ = program_inputs(m_);
        inputs_.push_back(lowered.length_symbol);
        for (const Speed& speed : m_.speeds) unknowns_.push_back(speed.rate);
        for (const ConstraintRow& row : d.rows)
            if (!row.by_actuators) unknowns_.push_back(row.multiplier);
        unknowns_.insert(unknowns_.end(), d.actuators.begin(), d.actuators.end());
    }

    ClaimResults run() {
        ClaimResults out;
        out.wide = !states_.exact.empty();
        collect();
        if (diagnostics_.has_errors()) return out;
        for (const ConstrainedSolve& solve : quantities_.solves())
            unknowns_.insert(unknowns_.end(), solve.x.begin(), solve.x.end());
        for (ScalarEquation& equation : equations_) {
            const NodeId difference = g_.sub(equation.left, equation.right);
            const SparseMatrix slopes = jacobian(g_, std::span(&difference, 1), unknowns_, DerivativeMode::automatic);
            for (const SparseEntry& e : slopes.entries) equation.slopes.push_back(e.value);
        }
        while (first_claim_ < m_.claims.size()) judge_some(out);
        return out;
    }

private:
    // As many claims as have a bounded number of equations, one at least: what all of a thousand claims are at all states takes
    // more memory than the rest of the program.
    void judge_some(ClaimResults& out) {
        end_claim_ = first_claim_ + 1;
        while (end_claim_ < m_.claims.size() && first_[end_claim_ + 1] - first_[first_claim_] <= k_together) ++end_claim_;
        const Program program = make_program();
        const Values<double> rough = evaluate<double>(program, states_.rough);
        std::vector<Near<double>> rough_near;
        for (const double off : k_off_double) rough_near.push_back({off, evaluate<double>(program, near(states_.rough, off))});
        near_.clear();
        if (out.wide) {
            exact_ = evaluate<Digits50>(program, states_.exact);
            near_.push_back({k_off, evaluate<Digits50>(program, near(states_.exact, k_off))});
        }
        for (std::size_t c = first_claim_; c < end_claim_; ++c) {
            // where states with fifty digits are few, its condition may hold at others only
            const bool wide = count(exact_, c) > 0 || count(rough, c) == 0;
            out.claims.push_back(judge(c, rough, rough_near, out.wide && wide));
        }
        first_claim_ = end_claim_;
    }

    [[nodiscard]] std::span<const ScalarEquation> judged() const {
        return std::span(equations_).subspan(first_[first_claim_], first_[end_claim_] - first_[first_claim_]);
    }

    void collect() {
        for (std::size_t c = 0; c < m_.claims.size(); ++c) {
            const Claim& claim = m_.claims[c];
            first_.push_back(equations_.size());
            if (claim.matrix && !fits(claim)) continue;
            for (const Claim::Equation& e : claim.equations) {
                if (!g_.is_vector(e.left)) {
                    add(c, e.entry, quantities_.scalar(e.left, claim.span), quantities_.scalar(e.right, claim.span));
                    continue;
                }
                const auto left = quantities_.vector(e.left, claim.span), right = quantities_.vector(e.right, claim.span);
                static constexpr const char* k_axes[] = {"component x", "component y", "component z"};
                for (std::size_t axis = 0; axis < 3; ++axis) add(c, k_axes[axis], left[axis], right[axis]);
            }
            where_.push_back(claim.where.valid() ? quantities_.scalar(claim.where, claim.span) : g_.constant(1));
        }
        first_.push_back(equations_.size());
    }

    bool fits(const Claim& claim) {
        const auto [rows, columns] = quantities_.size(static_cast<MatrixName>(*claim.matrix));
        const bool list = claim.columns == 0;
        if (list ? (rows == 1 || columns == 1) && claim.rows == rows * columns : claim.rows == rows && claim.columns == columns)
            return true;
        if (*claim.matrix > static_cast<std::uint32_t>(MatrixName::b) && d_.independent.empty()) return true;  // said below
        diagnostics_.add({Code::E0613, claim.span, fmt::format("the matrix {} has another size", k_matrix_names[*claim.matrix]),
                          list ? fmt::format("a list of {}", claim.rows) : fmt::format("{} x {}", claim.rows, claim.columns),
                          fmt::format("{} x {}", rows, columns), ""});
        return false;
    }

    void add(std::size_t claim, std::string entry, NodeId left, NodeId right) {
        ScalarEquation equation{claim, std::move(entry), left, right, {}, terms_, {}};
        take_apart(g_, left, true, equation.terms);
        take_apart(g_, right, false, equation.terms);
        terms_ += equation.terms.size();
        equations_.push_back(std::move(equation));
    }

    // the states moved a little in every number, off the constraints
    template <class T>
    static std::vector<std::vector<T>> near(std::vector<std::vector<T>> states, double off) {
        std::uint32_t turn = 1;
        for (std::vector<T>& state : states)
            for (T& value : state) {
                turn = turn * 1664525u + 1013904223u;
                const double along = static_cast<double>(turn >> 8) / 16777216.0 - 0.5;
                value += T(off * along) * (1 + magnitude(value));
            }
        return states;
    }

    Program make_program() {
        ProgramSpec spec{inputs_, quantities_.solves(), {}};
        for (ConstrainedSolve& solve : FormulatedDynamics(d_, Formulation::multipliers).solves())
            spec.solves.push_back(std::move(solve));
        OutputGroup left{"left", {}}, right{"right", {}};
        for (const ScalarEquation& e : judged()) {
            left.values.push_back(e.left);
            right.values.push_back(e.right);
        }
        std::vector<NodeId> unknowns;
        for (const SymbolId symbol : unknowns_) unknowns.push_back(g_.symbol_node(symbol));
        spec.outputs = {left,
                        right,
                        {"where",
                         {where_.begin() + static_cast<std::ptrdiff_t>(first_claim_),
                          where_.begin() + static_cast<std::ptrdiff_t>(end_claim_)}},
                        {"unknowns", unknowns}};
        OutputGroup terms{"terms", {}}, slopes{"slopes", {}};
        for (const ScalarEquation& e : judged()) {
            for (const ScalarEquation::Term& term : e.terms) terms.values.push_back(term.value);
            slopes.values.insert(slopes.values.end(), e.slopes.begin(), e.slopes.end());
        }
        spec.outputs.push_back(std::move(terms));
        spec.outputs.push_back(std::move(slopes));
        return lower_program(g_, spec);
    }

    template <class T>
    Values<T> evaluate(const Program& program, const std::vector<std::vector<T>>& states) {
        Values<T> out;
        Workspace<T> workspace(program);
        const auto copy = [&](const OutputRange& range) {
            const auto values = workspace.output(range);
            return std::vector<T>(values.begin(), values.end());
        };
        const OutputRange &left = program.output("left"), &right = program.output("right"), &where = program.output("where"),
                          &unknowns = program.output("unknowns"), &terms = program.output("terms"),
                          &slopes = program.output("slopes");
        for (const std::vector<T>& state : states) {
            std::copy(state.begin(), state.end(), workspace.inputs().begin());
            (void)workspace.run();  // what is not finite is judged claim by claim
            out.left.push_back(copy(left));
            out.right.push_back(copy(right));
            out.where.push_back(copy(where));
            T largest(0);
            for (const T& value : workspace.output(unknowns))
                if (is_finite(value)) largest = std::max(largest, T(magnitude(value)));
            std::vector<T> floor(judged().size(), T(0));
            out.terms.push_back(copy(terms));
            auto slope = workspace.output(slopes).begin();
            for (std::size_t i = 0; i < floor.size(); ++i)
                for (const auto end = slope + static_cast<std::ptrdiff_t>(judged()[i].slopes.size()); slope != end; ++slope)
                    if (is_finite(*slope)) floor[i] = std::max(floor[i], T(magnitude(*slope) * largest));
            out.floor.push_back(std::move(floor));
        }
        return out;
    }

    // where an equation is among the values of those that are judged, and where its terms are
    [[nodiscard]] std::size_t own(std::size_t e) const { return e - first_[first_claim_]; }
    [[nodiscard]] std::size_t place_of_terms(std::size_t e) const {
        return equations_[e].first_term - equations_[first_[first_claim_]].first_term;
    }

    // states where the condition of a claim holds
    template <class T>
    [[nodiscard]] std::size_t count(const Values<T>& values, std::size_t claim) const {
        return static_cast<std::size_t>(std::count_if(values.where.begin(), values.where.end(),
                                                      [&](const auto& where) { return where[claim - first_claim_] == 1; }));
    }

    // those of them where a side of some equation is not finite
    template <class T>
    [[nodiscard]] std::size_t without_value(const Values<T>& values, std::size_t claim) const {
        std::size_t out = 0;
        for (std::size_t k = 0; k < values.where.size(); ++k) {
            if (!(values.where[k][claim - first_claim_] == 1)) continue;
            bool finite = true;
            for (std::size_t e = first_[claim]; e < first_[claim + 1]; ++e)
                finite = finite && is_finite(T(values.left[k][own(e)] - values.right[k][own(e)]));
            out += finite ? 0 : 1;
        }
        return out;
    }

    ClaimResult judge(std::size_t c, const Values<double>& rough, const std::vector<Near<double>>& rough_near, bool wide) {
        const Claim& claim = m_.claims[c];
        ClaimResult out{claim.label, claim.text, claim.misprint, wide, false, true, 0, 0, "", 0, 0, "", "", 0};
        out.states = wide ? count(exact_, c) : count(rough, c);
        out.without_value = wide ? without_value(exact_, c) : without_value(rough, c);
        const ScalarEquation* untested = nullptr;
        std::optional<std::pair<std::size_t, std::size_t>> worst;  // equation, state
        for (std::size_t e = first_[c]; e < first_[c + 1]; ++e) {
            const auto [residual, shown, state] =
                wide ? largest(e, exact_, near_, round_off(e, rough)) : largest(e, rough, rough_near, 0);
            if (!state) {  // nothing is known of it, whatever is known of the other entries
                untested = &equations_[e];
                continue;
            }
            out.tested = true;
            if (!(residual <= (wide ? k_bar : k_bar_double))) out.holds = false;
            if (!worst || !(shown <= out.residual)) {
                out.residual = shown;
                worst = {e, *state};
            }
        }
        out.tested = out.tested && (!untested || !out.holds);
        if (!out.tested) {
            out.holds = false;
            diagnostics_.add(
                {Code::E1003, claim.span,
                 fmt::format("claim \"{}\" could not be tested{}", claim.label,
                             !untested || untested->entry.empty() ? "" : fmt::format(" ({})", untested->entry)),
                 out.states == 0 ? "no random state satisfies its condition" : "its sides are not finite at any random state",
                 "states where both sides are finite", "check its condition, and divisions and roots in it"});
            return out;
        }
        if (out.without_value > 0)
            diagnostics_.add(
                {Code::N0852, claim.span,
                 fmt::format("claim \"{}\" has no value at {} of {} states", claim.label, out.without_value, out.states),
                 "a side that is not finite", "sides that are finite wherever the claim is meant",
                 "say with `where` for which states it is meant"});
        if (!out.holds && worst) explain(out, worst->first, worst->second, rough, wide);
        if (!out.holds && !claim.misprint)
            diagnostics_.add(
                {Code::E1001, claim.span,
                 fmt::format("claim \"{}\" does not hold{}", claim.label,
                             out.entry.empty() ? "" : fmt::format(" ({})", out.entry)),
                 fmt::format("left {}, right {} at {}", short_number(out.left, 9), short_number(out.right, 9), out.state),
                 "equal sides at all consistent states", out.hint});
        if (out.holds && claim.misprint)
            diagnostics_.add({Code::E1002, claim.span, fmt::format("the misprint \"{}\" holds", claim.label), claim.text,
                              "an equation that fails", "state it as a claim"});
        return out;
    }

    double round_off(std::size_t e, const Values<double>& rough) const {
        double out = 0;
        for (std::size_t k = 0; k < rough.left.size(); ++k) {
            const double residual = std::abs(rough.left[k][own(e)] - rough.right[k][own(e)]);
            if (rough.where[k][equations_[e].claim - first_claim_] == 1 && std::isfinite(residual)) out = std::max(out, residual);
        }
        return out;
    }

    // the largest residual relative to the terms, and its state; none where nothing was finite
    struct Largest {
        double residual = 0;  // with everything that is a scale
        double shown = 0;     // without the round-off of double numbers
        std::optional<std::size_t> state;
    };
    template <class T>
    Largest largest(std::size_t e, const Values<T>& values, const std::vector<Near<T>>& nearby, double round_off) {
        Largest out;
        const auto residual_of = [&](const Values<T>& v, std::size_t k) { return T(v.left[k][own(e)] - v.right[k][own(e)]); };
        for (std::size_t k = 0; k < values.left.size(); ++k) {
            if (!(values.where[k][equations_[e].claim - first_claim_] == 1)) continue;
            const T residual = magnitude(residual_of(values, k));
            if (!is_finite(residual)) continue;
            T scale = values.floor[k][own(e)];
            const auto term = values.terms[k].begin() + static_cast<std::ptrdiff_t>(place_of_terms(e));
            for (const T& value : std::span(term, equations_[e].terms.size()))
                if (is_finite(value)) scale = std::max(scale, magnitude(value));
            for (const Near<T>& near : nearby)
                if (const T change = magnitude(T(residual_of(near.values, k) - residual_of(values, k))); is_finite(change))
                    scale = std::max(scale, T(change / T(near.off)));
            const auto relative = [&](const T& to) { return residual == 0 ? 0 : static_cast<double>(T(residual / to)); };
            const double all = relative(std::max(scale, T(k_from_double * round_off)));
            if (!out.state || all > out.residual) out = {all, all > k_bar ? relative(scale) : all, k};
        }
        return out;
    }

    void explain(ClaimResult& out, std::size_t e, std::size_t k, const Values<double>& rough, bool wide) {
        out.entry = equations_[e].entry;
        out.left = rough.left[k][own(e)];
        out.right = rough.right[k][own(e)];
        std::vector<std::string> parts;
        for (std::size_t i = 0; i + 1 < inputs_.size(); ++i) {
            if (i == 0 && !uses_time(e)) continue;
            parts.push_back(fmt::format("{} = {}", g_.symbol(inputs_[i]).name, short_number(states_.rough[k][i], 6)));
        }
        if (parts.size() > 16) parts.resize(16);
        out.state = fmt::format("{}{}", fmt::join(parts, ", "), inputs_.size() > 18 ? ", ..." : "");
        if (wide) out.hint = repair(e);
    }

    bool uses_time(std::size_t e) const {
        return depends_on(g_, equations_[e].left, SymbolKind::time) || depends_on(g_, equations_[e].right, SymbolKind::time);
    }

    // One factor that makes the equation hold at all states: of a whole side, or of one term. The factor is a number, or a number
    // times a power of one symbol.
    std::string repair(std::size_t e) {
        const ScalarEquation& equation = equations_[e];
        std::vector<std::size_t> used;
        for (std::size_t k = 0; k < exact_.left.size(); ++k)
            if (exact_.where[k][equation.claim - first_claim_] == 1 &&
                is_finite(Digits50(exact_.left[k][own(e)] - exact_.right[k][own(e)])))
                used.push_back(k);
        if (used.size() < 3) return "";
        const auto whole = [&](std::size_t k) { return Digits50(exact_.left[k][own(e)] / exact_.right[k][own(e)]); };
        if (const std::string factor = constant_factor(used, whole); !factor.empty())
            return fmt::format("it holds with the right side times {}", factor);
        for (std::size_t t = 0; t < equation.terms.size(); ++t) {
            const ScalarEquation::Term& term = equation.terms[t];
            const auto wanted = [&](std::size_t k) {
                const Digits50 difference = exact_.left[k][own(e)] - exact_.right[k][own(e)];
                const Digits50& value = exact_.terms[k][place_of_terms(e) + t];
                const Digits50 signed_term = term.in_left == term.negative ? Digits50(-value) : value;
                return Digits50(1 - difference / signed_term);
            };
            const std::string factor = constant_factor(used, wanted);
            if (factor.empty()) continue;
            const std::string text = to_text(g_, term.value);
            const std::string side = term.in_left ? "left" : "right";
            if (text.size() > 200) continue;
            if (factor == "0") return fmt::format("it holds without the term {} on the {}", text, side);
            if (factor == "-1") return fmt::format("it holds with the other sign of the term {} on the {}", text, side);
            return fmt::format("it holds with the term {} on the {} times {}", text, side, factor);
        }
        return "";
    }

    template <class Factor>
    std::string constant_factor(const std::vector<std::size_t>& used, Factor factor) {
        const auto constant = [&](auto divisor) -> std::optional<Digits50> {
            std::optional<Digits50> first;
            for (const std::size_t k : used) {
                const Digits50 value = factor(k) / divisor(k);
                if (!is_finite(value)) return {};
                if (!first) first = value;
                if (abs(value - *first) > Digits50(1e-20) * (abs(*first) + Digits50(1e-10))) return {};
            }
            return first;
        };
        if (const auto number = constant([](std::size_t) { return Digits50(1); }))
            return abs(*number) < Digits50(1e-15) ? "0" : factor_text(*number);
        for (std::size_t i = 0; i + 1 < inputs_.size(); ++i) {
            const std::string& name = g_.symbol(inputs_[i]).name;
            for (const auto& form : {std::pair{1.0, "{}"}, {-1.0, "1/{}"}, {2.0, "{}^2"}, {-2.0, "1/{}^2"}}) {
                const Digits50 power = form.first;
                const auto number = constant([&](std::size_t k) { return Digits50(pow(states_.exact[k][i], power)); });
                if (!number || abs(*number) < Digits50(1e-15)) continue;
                const std::string symbol = fmt::format(fmt::runtime(form.second), name), value = factor_text(*number);
                return value == "1" ? symbol : fmt::format("{}*{}", value, symbol);
            }
        }
        return "";
    }

    const ConstrainedDynamics& d_;
    const Model& m_;
    Graph& g_;
    const ConsistentStates& states_;
    Diagnostics& diagnostics_;
    Quantities quantities_;
    std::vector<SymbolId> inputs_;
    std::vector<ScalarEquation> equations_;        // in the order of the claims
    std::vector<std::size_t> first_;               // of each claim, and where the last one's end
    std::size_t terms_ = 0;                        // of all equations
    std::size_t first_claim_ = 0, end_claim_ = 0;  // those that are judged
    std::vector<NodeId> where_;                    // by claim
    std::vector<SymbolId> unknowns_;               // of solves: accelerations, multipliers, actuators, ...
    Values<Digits50> exact_;                       // at the states with fifty digits
    std::vector<Near<Digits50>> near_;
};

}  // namespace

ClaimResults test_claims(const ConstrainedDynamics& d, const LoweredMotion& lowered, const ConsistentStates& states,
                         Diagnostics& diagnostics) {
    if (d.model->claims.empty()) return {};
    return ClaimTest(d, lowered, states, diagnostics).run();
}

}  // namespace appell
