#include "expr/evaluate.hpp"

namespace appell {

template std::vector<double> evaluate<double>(const Graph& g, std::span<const NodeId> roots, std::span<const double> values);

}  // namespace appell
