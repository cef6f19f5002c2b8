#include "tape/zero_test.hpp"

#include <boost/multiprecision/cpp_bin_float.hpp>
#include <vector>

#include "expr/dependence.hpp"
#include "expr/evaluate.hpp"

namespace appell {

namespace {

using Wide = boost::multiprecision::number<boost::multiprecision::cpp_bin_float<50>, boost::multiprecision::et_off>;

// Symbols are drawn from (0.3, 1.3), so that terms are of order one and cancellation to 1e-35 is no accident.
constexpr int k_points = 3;
const Wide k_bar = 1e-35;

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
    const std::vector<SymbolId> symbols = symbols_in(graph, open);
    std::vector<Wide> values(graph.symbol_count(), Wide(0));
    std::uint64_t state = 0x2545f4914f6cdd1dull;
    for (int point = 0; point < k_points; ++point) {
        for (const SymbolId symbol : symbols) {
            state = state * 6364136223846793005ull + 1442695040888963407ull;
            values[symbol.index()] = Wide(0.3) + Wide(static_cast<double>(state >> 11)) / Wide(9007199254740992.0);
        }
        const std::vector<Wide> results = evaluate<Wide>(graph, open, values);
        for (std::size_t i = 0; i < open.size(); ++i)
            if (!(abs(results[i]) < k_bar)) zero[place[i]] = false;  // also when it is not a number
    }
    return zero;
}

bool vanishes_identically(const Graph& graph, NodeId expression) {
    return identically_zero(graph, std::span(&expression, 1)).front();
}

}  // namespace appell
