#include "tape/zero_test.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "expr/dependence.hpp"
#include "expr/sweep.hpp"
#include "tape/dense_rank.hpp"
#include "tape/evaluate_wide.hpp"
#include "tape/exact_zero_test.hpp"

namespace appell {

namespace {

// Symbols are drawn from (0.3, 1.3), so that terms are of order one and cancellation to 1e-35 is no accident.
constexpr int k_points = 3;
const Digits50 k_bar = 1e-35;
// Of the largest number on the way, in doubles: rounding leaves ten digits less.
constexpr double k_plainly_not_zero = 1e-6;

template <class T>
class RandomPoints {
public:
    RandomPoints(const Graph& graph, std::span<const NodeId> expressions)
        : graph_(graph), symbols_(symbols_in(graph, expressions)), values_(graph.symbol_count(), T(0)) {}

    // the expressions, or some of them, at the next point
    std::vector<T> next(std::span<const NodeId> expressions) {
        for (const SymbolId symbol : symbols_) {
            state_ = state_ * 6364136223846793005ull + 1442695040888963407ull;
            values_[symbol.index()] = T(0.3) + T(static_cast<double>(state_ >> 11)) / T(9007199254740992.0);
        }
        return evaluate<T>(graph_, expressions, values_);
    }

private:
    const Graph& graph_;
    std::vector<SymbolId> symbols_;
    std::vector<T> values_;
    std::uint64_t state_ = 0x2545f4914f6cdd1dull;
};

// most are not zero, and doubles show it
std::vector<bool> plainly_not_zero(const Graph& graph, std::span<const NodeId> expressions) {
    Sweep sweep;
    const std::vector<NodeId>& nodes = sweep.collect(graph, expressions);
    const std::vector<double> numbers = RandomPoints<double>(graph, expressions).next(nodes);
    double largest = 1;
    for (const double number : numbers) largest = std::max(largest, std::abs(number));
    std::vector<bool> out(expressions.size(), false);
    // where a number is infinite, or none, nothing is plain
    if (!std::all_of(numbers.begin(), numbers.end(), [](double number) { return std::isfinite(number); })) return out;
    for (std::size_t i = 0; i < expressions.size(); ++i) {
        const auto place = std::lower_bound(nodes.begin(), nodes.end(), expressions[i]) - nodes.begin();
        out[i] = std::abs(numbers[static_cast<std::size_t>(place)]) > k_plainly_not_zero * largest;
    }
    return out;
}

}  // namespace

std::vector<bool> identically_zero(const Graph& graph, std::span<const NodeId> expressions) {
    std::vector<bool> zero(expressions.size());
    // constants decide at once: the common case, and cheap in large graphs
    std::vector<NodeId> open;
    std::vector<std::size_t> place;
    for (std::size_t i = 0; i < expressions.size(); ++i) {
        const auto value = graph.constant_value(expressions[i]);
        zero[i] = !value || *value == 0;
        if (!value) {
            open.push_back(expressions[i]);
            place.push_back(i);
        }
    }
    if (open.empty()) return zero;
    // what is settled is not looked at again; zero is what nothing shows to be something else
    const auto settle = [&](const auto& verdict_on) {
        std::size_t left = 0;
        for (std::size_t i = 0; i < open.size(); ++i) {
            const ZeroVerdict verdict = verdict_on(i);
            if (verdict != ZeroVerdict::open) {
                zero[place[i]] = verdict == ZeroVerdict::zero;
                continue;
            }
            open[left] = open[i];
            place[left++] = place[i];
        }
        open.resize(left);
        place.resize(left);
    };
    const auto not_zero_if = [](bool shown) { return shown ? ZeroVerdict::not_zero : ZeroVerdict::open; };
    const std::vector<ZeroVerdict> exact = exact_zero_test(graph, open);
    settle([&](std::size_t i) { return exact[i]; });
    if (open.empty()) return zero;
    const std::vector<bool> plain = plainly_not_zero(graph, open);
    settle([&](std::size_t i) { return not_zero_if(plain[i]); });
    RandomPoints<Digits50> points(graph, open);
    for (int point = 0; point < k_points && !open.empty(); ++point) {
        const std::vector<Digits50> results = points.next(open);
        settle([&](std::size_t i) { return not_zero_if(!(abs(results[i]) < k_bar)); });  // also when it is not a number
    }
    return zero;
}

bool vanishes_identically(const Graph& graph, NodeId expression) {
    return identically_zero(graph, std::span(&expression, 1)).front();
}

std::size_t generic_rank(const Graph& graph, std::span<const NodeId> entries, std::size_t columns) {
    if (entries.empty()) return 0;
    std::size_t largest = 0;
    RandomPoints<Digits50> points(graph, entries);
    for (int point = 0; point < k_points; ++point) {
        std::vector<Digits50> values = points.next(entries);
        const bool finite = std::all_of(values.begin(), values.end(), [](const Digits50& v) { return is_finite(v); });
        if (!finite) return std::min(entries.size() / columns, columns);
        largest = std::max(largest, DenseRank(std::move(values), columns, k_bar).rank());
    }
    return largest;
}

}  // namespace appell
