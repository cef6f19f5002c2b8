// The solves of a program in C: tables of their shapes, where their operands are written, and the calls of the functions in
// runtime/ that solve them.
#pragma once

#include <string>
#include <vector>

#include "emit/straight_line.hpp"
#include "tape/program.hpp"

namespace appell {

// How runtime/constrained_solve.c has a block: columns in the order of the uncoupled blocks of M, as ConstrainedSolver takes
// them.
struct ColumnLayout {
    struct Block {
        std::size_t begin, size, offset;  // columns; where its square begins among the operands
    };
    explicit ColumnLayout(const SolveBlock& block);

    std::vector<Block> blocks;
    std::vector<std::size_t> order;               // position -> column
    std::vector<std::size_t> position, block_of;  // by column
    std::size_t entries = 0;                      // of all blocks
    // where among the operands an entry of M or A is
    [[nodiscard]] std::size_t mass(std::size_t row, std::size_t column) const {
        const Block& home = blocks[block_of[row]];
        return home.offset + (position[row] - home.begin) * home.size + (position[column] - home.begin);
    }
    [[nodiscard]] std::size_t row_entry(std::size_t row, std::size_t column) const {
        return entries + row * order.size() + position[column];
    }
};

struct SolveText {
    std::string tables;                       // static const
    std::vector<StraightLine::Write> writes;  // operands
    std::vector<StraightLine::Write> law;     // operands that are written again and again
    std::size_t operands = 0;                 // numbers at the front of its memory
    bool zeros = false;                       // some operands are not written: they are zero
    std::size_t numbers = 0, indices = 0;     // its memory, the operands included
    std::size_t solved_rows = 0;              // of `multipliers`: where the rows are when it is done (ConstrainedSolver::rows)
    bool sparse = false;                      // then the whole memory is needed to have them (sparse_row_square)
};

// `name` of the tables
[[nodiscard]] SolveText solve_text(const SolveBlock& block, const std::string& name);

// The statements that solve it, into the report `one`. `limit`: an expression for the largest rank; `unknowns`: where they are in
// s; `law`: the calls that evaluate the law
[[nodiscard]] std::string solve_call(const SolveBlock& block, const std::string& name, const std::string& limit,
                                     std::size_t unknowns, const std::string& law);

// "static const int NAME[] = {...};"; no table, and the name 0, when there is nothing in it; the largest size_t is -1
[[nodiscard]] std::string index_table(const std::string& name, const std::vector<std::size_t>& values);

}  // namespace appell
