// The affine rows B z + c = 0 leave the line z = b + s n, with n from the cofactors of the quadratic row and b at right angles to
// it. On the line that row is  r(b) + slope s + bend s^2/2,  and a product of two affine ones if its discriminant
// slope^2 - 2 bend r(b) is the square of an affine form T over what depends on parameters alone: then s = (+-T - slope)/bend.
#include "tape/quadratic_split.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "expr/dependence.hpp"
#include "expr/differentiate.hpp"
#include "expr/evaluate.hpp"
#include "expr/substitute.hpp"
#include "tape/exact_zero_test.hpp"
#include "tape/small_inverse.hpp"

namespace appell {

namespace {

class Splitting {
public:
    Splitting(Graph& graph, const QuadraticBlock& block, std::span<const SymbolId> affine_in, std::span<const double> state)
        : g_(graph), block_(block), affine_in_(affine_in), state_(state), n_(block.unknowns.size()), columns_(n_) {
        std::iota(columns_.begin(), columns_.end(), std::size_t{0});
        slopes_.assign(n_, std::vector<NodeId>(n_, g_.constant(0)));
        for (const SparseEntry& e : jacobian(g_, block.residuals, block.unknowns).entries) slopes_[e.row][e.column] = e.value;
    }

    std::optional<QuadraticSplit> run() {
        if (!find_line() || !find_base()) return std::nullopt;
        Substitution at_base;
        for (std::size_t k = 0; k < n_; ++k) at_base.set(block_.unknowns[k], base_[k]);
        std::vector<NodeId> bent(n_, g_.constant(0));
        for (const SparseEntry& e : jacobian(g_, slopes_.back(), block_.unknowns).entries)
            bent[e.row] = g_.add(bent[e.row], g_.mul(e.value, line_[e.column]));
        const NodeId bend = settled(dot(line_, bent));
        if (vanishes(bend)) return std::nullopt;
        const NodeId here = dot(slopes_.back(), line_);
        const std::optional<NodeId> slope = affine(substitute(g_, here, at_base));
        if (!slope) return std::nullopt;
        const NodeId rest = substitute(g_, block_.residuals.back(), at_base);
        const std::optional<NodeId> root = root_of(g_.sub(g_.pow(*slope, 2), g_.mul(g_.constant(2), g_.mul(bend, rest))));
        if (!root) return std::nullopt;

        const NodeId side = g_.mul(*root, here);
        const double on = evaluate<double>(g_, std::span(&side, 1), state_).front();
        if (!(on != 0) || !std::isfinite(on)) return std::nullopt;
        const NodeId chosen = on > 0 ? *root : g_.neg(*root);
        // NOTE: apart, so that nothing which comes late waits for a quotient
        const NodeId middle = g_.div(*slope, bend), way = g_.sub(g_.div(chosen, bend), middle);
        QuadraticSplit out;
        for (std::size_t k = 0; k < n_; ++k) {
            out.values.push_back(g_.add(base_[k], g_.mul(way, line_[k])));
            out.spread.push_back(g_.mul(middle, line_[k]));
        }
        out.slope = g_.div(chosen, here);
        out.side = chosen;
        divisors_.push_back(bend);
        out.everywhere = of_parameters(divisors_);
        if (!holds(out)) return std::nullopt;
        return out;
    }

private:
    bool find_line() {
        const std::optional<DependentColumns> columns = invert_columns(g_, slopes_, columns_);
        if (!columns || columns->blocks.size() != 1) return false;
        for (std::size_t k = 0; k < n_; ++k) line_.push_back(columns->cofactors[k][n_ - 1]);
        return true;
    }

    // where the affine rows hold, and at right angles to the line
    bool find_base() {
        Substitution at_zero;
        for (const SymbolId unknown : block_.unknowns) at_zero.set(unknown, g_.constant(0));
        std::vector<std::vector<NodeId>> rows(slopes_.begin(), slopes_.end() - 1);
        rows.push_back(line_);
        std::optional<DependentColumns> columns = invert_columns(g_, rows, columns_);
        if (!columns) return false;
        for (DependentColumns::Block& block : columns->blocks) {
            divisors_.push_back(settled(block.determinant));
            block.reciprocal = g_.div(g_.constant(1), divisors_.back());
        }
        std::vector<NodeId> right(n_, g_.constant(0));
        for (std::size_t row = 0; row + 1 < n_; ++row) {
            const NodeId rest = substitute(g_, block_.residuals[row], at_zero);
            right[row] = g_.neg(affine(rest).value_or(rest));
        }
        base_ = columns->times_inverse(g_, [&](std::size_t row) { return right[row]; });
        return true;
    }

    // T: the discriminant is T^2. Taken by the speed that has the most part in it; a part that depends on an angle would vanish
    // with it, and take the digits along.
    std::optional<NodeId> root_of(NodeId discriminant) {
        NodeId half, square;
        SymbolId leading{};
        double most = 0;
        for (const SymbolId w : affine_in_) {
            const NodeId slope = g_.mul(g_.constant(0.5), derivative(g_, std::span(&discriminant, 1), w).front());
            const NodeId part = settled(at_zero(derivative(g_, std::span(&slope, 1), w).front()));
            if (!of_parameters(std::span(&part, 1))) continue;
            const double size = evaluate<double>(g_, std::span(&part, 1), state_).front();
            if (!(size > most)) continue;
            most = size;
            half = slope;
            square = part;
            leading = w;
        }
        if (!half.valid()) return std::nullopt;
        const std::optional<NodeId> root = affine(half);
        if (!root || !vanishes(g_.sub(g_.mul(discriminant, square), g_.pow(*root, 2)))) return std::nullopt;
        // what leads has the part `square` in T: its part in the root is that of the square, without a quotient
        const NodeId part = g_.make(Op::Sqrt, square);
        const NodeId others = settled(g_.sub(*root, g_.mul(square, g_.symbol_node(leading))));
        return g_.add(g_.mul(part, g_.symbol_node(leading)), g_.div(others, part));
    }

    // What cancels in the coefficients is not seen in them: the rows tell, at the state.
    [[nodiscard]] bool holds(const QuadraticSplit& split) const {
        constexpr double k_good = 1e-13;
        const std::vector<double> values = evaluate<double>(g_, split.values, state_);
        std::vector<double> solution(state_.begin(), state_.end());
        for (std::size_t k = 0; k < n_; ++k) solution[block_.unknowns[k].index()] = values[k];
        const std::vector<double> residuals = evaluate<double>(g_, block_.residuals, solution);
        for (std::size_t i = 0; i < n_; ++i) {
            const std::vector<double> slopes = evaluate<double>(g_, slopes_[i], solution);
            double size = 0;
            for (std::size_t k = 0; k < n_; ++k) size += std::abs(slopes[k] * values[k]);
            if (!(std::abs(residuals[i]) <= k_good * size)) return false;
        }
        return true;
    }

    // written as an affine form, its coefficients as short as they come
    std::optional<NodeId> affine(NodeId expression) {
        std::vector<NodeId> terms{settled(at_zero(expression))};
        for (const SymbolId w : affine_in_)
            terms.push_back(g_.mul(settled(at_zero(derivative(g_, std::span(&expression, 1), w).front())), g_.symbol_node(w)));
        const NodeId form = sum_in_pairs(g_, std::move(terms));
        if (!vanishes(g_.sub(expression, form))) return std::nullopt;
        return form;
    }

    [[nodiscard]] bool of_parameters(std::span<const NodeId> expressions) const {
        const auto is_parameter = [&](SymbolId s) { return g_.symbol(s).kind == SymbolKind::parameter; };
        return std::ranges::all_of(symbols_in(g_, expressions), is_parameter);
    }

    NodeId at_zero(NodeId expression) {
        Substitution zeros;
        for (const SymbolId w : affine_in_) zeros.set(w, g_.constant(0));
        return substitute(g_, expression, zeros);
    }

    NodeId settled(NodeId expression) {
        expression = without_idle_symbols(g_, expression);
        return vanishes(expression) ? g_.constant(0) : expression;
    }

    // beyond doubt: one branch of a piecewise function must not speak for the others
    [[nodiscard]] bool vanishes(NodeId expression) const {
        return exact_zero_test(g_, std::span(&expression, 1)).front() == ZeroVerdict::zero;
    }

    NodeId dot(std::span<const NodeId> a, std::span<const NodeId> b) { return dot_product(g_, a, b); }

    Graph& g_;
    const QuadraticBlock& block_;
    const std::span<const SymbolId> affine_in_;
    const std::span<const double> state_;  // by symbol
    const std::size_t n_;
    std::vector<std::size_t> columns_;
    std::vector<std::vector<NodeId>> slopes_;  // row by unknown
    std::vector<NodeId> line_, base_, divisors_;
};

}  // namespace

std::optional<QuadraticSplit> split_quadratic(Graph& graph, const QuadraticBlock& block, std::span<const SymbolId> affine_in,
                                              std::span<const double> state) {
    return Splitting(graph, block, affine_in, state).run();
}

}  // namespace appell
