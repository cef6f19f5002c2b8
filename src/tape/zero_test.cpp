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

bool vanish_identically(const Graph& graph, std::span<const NodeId> expressions) {
    bool all_constant_zero = true;
    for (const NodeId id : expressions) all_constant_zero = all_constant_zero && graph.is_constant(id, 0);
    if (all_constant_zero) return true;
    const std::vector<SymbolId> symbols = symbols_in(graph, expressions);
    std::vector<Wide> values(graph.symbol_count(), Wide(0));
    std::uint64_t state = 0x2545f4914f6cdd1dull;
    for (int point = 0; point < k_points; ++point) {
        for (const SymbolId symbol : symbols) {
            state = state * 6364136223846793005ull + 1442695040888963407ull;
            values[symbol.index()] = Wide(0.3) + Wide(static_cast<double>(state >> 11)) / Wide(9007199254740992.0);
        }
        for (const Wide& value : evaluate<Wide>(graph, expressions, values))
            if (!(abs(value) < k_bar)) return false;  // also when it is not a number
    }
    return true;
}

bool vanishes_identically(const Graph& graph, NodeId expression) { return vanish_identically(graph, std::span(&expression, 1)); }

}  // namespace appell
