// The symbolic inverse of a sparse square matrix of expressions, for the definitions of the generalized speeds.
//
// The matrix is brought to block-triangular form (maximum matching, strongly connected components); each diagonal block is
// inverted as adjugate over determinant, the minors shared. So nothing is divided by but the blocks' determinants, which vanish
// only where the matrix itself is singular: no pivot is chosen that could vanish elsewhere.
#pragma once

#include <vector>

#include "expr/differentiate.hpp"

namespace appell {

struct SymbolicInverse {
    enum class Status { ok, structurally_singular, identically_singular, block_too_large };

    Status status = Status::ok;
    SparseMatrix inverse;
    std::vector<NodeId> determinants;         // of the diagonal blocks; the inverse is regular where none vanishes
    std::vector<std::uint32_t> culprit_rows;  // rows of the block that failed
    std::vector<std::uint32_t> culprit_columns;
};

inline constexpr std::size_t k_largest_block = 10;

// A diagonal block larger than `largest_block` is refused with block_too_large.
[[nodiscard]] SymbolicInverse invert(Graph& graph, const SparseMatrix& matrix, std::size_t largest_block = k_largest_block);

}  // namespace appell
