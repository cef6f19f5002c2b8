#include "tape/evaluate_wide.hpp"

namespace appell {

template std::vector<Digits50> evaluate<Digits50>(const Graph& g, std::span<const NodeId> roots,
                                                  std::span<const Digits50> values);

}  // namespace appell
