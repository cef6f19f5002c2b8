// Which columns of a matrix to solve for: rows that are independent at a state, and as many columns that they determine.
//
// A choice is as good as the determinant of its columns (003 eqs. 16-20; rows scaled to unit length). A determinant of
// parameters alone can not vanish later, so such a choice wins while it is not badly conditioned; otherwise the largest
// determinant at the state does. Where rows follow from others, rows and columns are chosen together. Equally good choices are
// decided for the columns named last, as the sources do.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "expr/differentiate.hpp"

namespace appell {

struct ColumnChoice {
    std::vector<std::uint32_t> rows;     // independent ones, ascending
    std::vector<std::uint32_t> columns;  // ascending, as many as rows
    double determinant = 1;              // of these at the state, its size; rows scaled to unit length
    bool steady = false;                 // the determinant is the same in every state
    bool takes_turns = false;            // it is not, and other rows may do where these do not
};

struct ColumnRules {
    std::vector<bool> allowed;         // by column
    std::vector<std::uint32_t> first;  // columns that must be chosen, as far as they are independent
};

// `values` has a number for every symbol of the graph.
[[nodiscard]] ColumnChoice choose_columns(Graph& graph, const SparseMatrix& matrix, std::span<const double> values,
                                          const ColumnRules& rules);

// the rank of the matrix at the state, over all columns
[[nodiscard]] std::size_t rank_at(const Graph& graph, const SparseMatrix& matrix, std::span<const double> values);

}  // namespace appell
