// What can be known of a sparse solve before it has numbers: the order of elimination and every operation of
//
//     [M  A'] [   x   ]   [f]
//     [A  0 ] [-lambda] = [b]   =  L D L'
//
// Columns of M come before the rows that reach them: their pivots are those of a positive definite matrix, and what they leave of
// the rows is -A M^-1 A', whose order is one of minimum degree. Only columns that many rows reach (the one point that all others
// are compared with) wait: eliminated first, they would couple all their rows with each other.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "tape/program.hpp"

namespace appell {

struct SparseElimination {
    static constexpr Slot k_none = 0xffffffffu;
    // Entries of the pivoted solve behind this one: up to the first it decides about every row in doubt, up to the second about
    // what is left (SparseSolver::Pivoted), and above that there is none.
    static constexpr std::size_t k_pivoted_decides = 20'000, k_most_pivoted = 1'000'000;

    struct Pair {
        std::uint32_t mine, other;  // entries of the row, and of the row of the column
    };
    struct RowPart {
        std::uint32_t entry;   // of L
        std::uint32_t column;  // its place
        Slot value;            // of A; none where M's factor fills it in
        bool late;             // the column is eliminated after the row
    };

    std::size_t columns = 0, rows = 0;
    std::vector<std::uint32_t> unknown;       // by place in the order: a column of M, or columns + a row of A
    std::vector<Slot> diagonal, right;        // by place: of M (none for rows); f or b
    std::vector<std::uint32_t> first_entry;   // by place, and the end: the row of L left of its diagonal
    std::vector<std::uint32_t> entry_column;  // by entry
    std::vector<Slot> entry_slot;             // its value in M or A; none for fill-in
    std::vector<std::uint32_t> first_pair;    // by entry, and the end: products that are taken off it
    std::vector<Pair> pairs;
    std::vector<std::uint32_t> place_of_row;
    std::vector<std::uint32_t> first_part;  // by row of A, and the end: where it is not zero once M's factor is applied
    std::vector<RowPart> parts;

    [[nodiscard]] std::size_t pivoted_entries() const { return rows * (columns + rows); }
    [[nodiscard]] std::size_t operations() const { return 2 * entry_column.size() + pairs.size(); }
};

// Null where a dense solve is as good: few rows, or rows that couple everything with everything.
[[nodiscard]] std::shared_ptr<const SparseElimination> plan_sparse_elimination(const SolveBlock& block);

}  // namespace appell
