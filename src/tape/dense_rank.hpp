// Rank and null space of dense matrices with fifty digits, by elimination with complete pivoting on rows scaled to their largest
// entry. Fifty digits tell a number that is zero from one that is small: what is left of a zero is round-off near 1e-50, times
// what the pivots before it cost.
#pragma once

#include <cstddef>
#include <vector>

#include "tape/scalars.hpp"

namespace appell {

class DenseRank {
public:
    // entries row by row; pivots up to `bar` count as zero
    DenseRank(std::vector<Digits50> entries, std::size_t columns, const Digits50& bar = Digits50(1e-30));

    [[nodiscard]] std::size_t rank() const { return pivot_rows_.size(); }
    [[nodiscard]] std::size_t columns() const { return columns_; }
    // of the matrix as given, in the order they were chosen; the best conditioned first
    [[nodiscard]] const std::vector<std::size_t>& pivot_rows() const { return pivot_rows_; }
    [[nodiscard]] const std::vector<std::size_t>& pivot_columns() const { return pivot_columns_; }
    // the columns that are no pivots, ascending: the free unknowns of A x = 0
    [[nodiscard]] const std::vector<std::size_t>& free_columns() const { return free_columns_; }
    // a basis of A x = 0: one vector for each free column, which is 1 there and 0 in the other free columns
    [[nodiscard]] std::vector<std::vector<Digits50>> null_space() const;
    // the smallest pivot relative to the largest; 1 for rank zero
    [[nodiscard]] double smallest_pivot() const { return smallest_; }

private:
    std::size_t columns_;
    std::vector<Digits50> a_;  // eliminated: pivot row k is k, above and below its pivot are zeros, the pivot is one
    std::vector<std::size_t> pivot_rows_, pivot_columns_, free_columns_;
    double smallest_ = 1;
};

}  // namespace appell
