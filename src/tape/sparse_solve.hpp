// The numbers of a sparse elimination (sparse_elimination.hpp). Rows that depend on others show in their pivots: what is left of
// a row of A M^-1 A', relative to its diagonal, is the square of what the row has of its own. Where that is next to nothing the
// row is left out, lambda is the one of least norm, and b is checked for consistency, as constrained_solve.hpp has it; squares
// lose half of the digits, so that rows in between are the pivoted solve's, where there is one.
#pragma once

#include <span>
#include <vector>

#include "tape/constrained_solve.hpp"
#include "tape/sparse_elimination.hpp"

namespace appell {

class SparseSolver {
public:
    explicit SparseSolver(const SolveBlock& block);

    // What the pivoted solve behind this one is for: every row in doubt; what this one can not solve to a residual at round-off,
    // rows that may not depend on others, and contradictions; or nothing, since there is none.
    enum class Pivoted { decides, helps, absent };
    // x and lambda to their slots; false where the pivoted solve is to be asked. Where it is absent, what can not be solved is
    // `needs_pivoting` in the name of a row or column.
    bool solve(double* slots, SolveReport& report, Pivoted pivoted);
    void limit_rank(std::size_t rank) { most_rank_ = rank; }

    // L^-1 A' of the last solve where M = L L' was regular, A itself otherwise: the entries of one row after the other, always
    // the same ones.
    [[nodiscard]] std::span<const double> rows(const double* slots);
    [[nodiscard]] std::span<const std::uint32_t> row_begin() const { return plan_.first_part; }
    // do rows a come out with the opposite orientation as rows b? Also where that can not be told.
    [[nodiscard]] bool turned_over(std::span<const double> a, std::span<const double> b);

    // of the vectors that the last solve with dependent rows made: what their multipliers cost
    [[nodiscard]] std::size_t null_parts() const { return null_.size(); }

private:
    [[nodiscard]] bool factor(const double* slots, double dependent);
    [[nodiscard]] bool late_parts_vanish(const double* slots) const;
    void substitute(std::vector<double>& y) const;
    struct Residual {
        double of_rows = 0, of_columns = 0;
    };
    Residual refine(const double* slots);
    void check_dropped(const double* slots, SolveReport& report) const;
    [[nodiscard]] bool find_null_vectors(const double* slots, double noise, std::size_t most_parts);
    void spread_multipliers(const double* slots);

    const SparseElimination& plan_;
    const SolveBlock& block_;
    std::size_t most_rank_ = static_cast<std::size_t>(-1);
    std::vector<double> U_, L_;    // by entry: L D and L
    std::vector<double> inverse_;  // by place: 1 / D; 0 for a row that is left out
    std::vector<double> y_, rhs_;  // by place
    std::vector<double> length_;   // by row: its square in the metric of M
    std::vector<double> share_;    // by row: what is left of it by the rows before
    std::vector<std::uint32_t> dropped_;
    bool positive_ = true;      // M was, at the last solve
    std::uint32_t failed_ = 0;  // a column of M that was not
    double least_share_ = 1;    // of the rows that are kept
    std::uint32_t weakest_ = 0;
    std::vector<double> rows_;                       // see rows()
    std::vector<double> Q_, lower_, upper_, pivot_;  // of turned_over, taken when it is first asked for
    std::vector<double> P_;                          // likewise; and sizes of residuals
    struct Part {
        std::uint32_t row;
        double value;
    };
    std::vector<Part> null_;  // vectors z with A' z = 0, one for each row left out
    std::vector<std::uint32_t> null_begin_, open_;
    std::vector<double> z_, r_, p_, s_, along_, diagonal_;
    std::vector<bool> is_open_;
};

}  // namespace appell
