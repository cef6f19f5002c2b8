// The numeric solve of a program:  M x - A' lambda = f,  A x = b.
//
// Real numbers, M positive definite: Cholesky M = L L' by uncoupled blocks, then a pivoted QR of L^-1 A' with its columns (the
// rows of A) scaled to unit length. x and lambda come from Q and R, never from A M^-1 A', so that the condition of A is not
// squared. A row is worked on between the first and the last column it reaches, and columns stand in the order in which rows
// first reach them, so that rows that follow each other along a chain cost what their overlap costs. Otherwise (M singular or
// close to it, or complex numbers): the bordered matrix over the independent rows, by LU with complete pivoting, without
// conjugation, so that complex-step derivatives pass through. Dependent rows: lambda is the one of least norm, b is checked for
// consistency. All memory is taken at construction.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tape/program.hpp"
#include "tape/scalars.hpp"

namespace appell {

struct SolveReport {
    EvalStatus status = EvalStatus::ok;
    std::uint32_t rank = 0;
    bool redundant = false;
    bool bordered = false;
    double smallest_pivot = 1;
    std::uint32_t weakest_row = 0;  // the first dependent row, or that of the smallest pivot
    double inconsistency = 0;
    std::uint32_t inconsistent_row = 0;
    std::uint32_t singular_column = 0;
    std::uint32_t row = 0;
    std::uint32_t servo_rank = 0;
};

// A row closer than this to what the others span is taken for dependent, with any number of digits: a state is on the constraints
// to its own accuracy only, and rows that depend on each other there do so no better.
inline constexpr double k_dependent_row = 1e-13;
// dependent rows whose b differs from what the independent ones imply by more than this, relatively, are inconsistent
inline constexpr double k_consistency_tolerance = 1e-8;
// accelerations far below this size count as zero when consistency is judged: at rest b is round-off of nothing
inline constexpr double k_consistency_floor = 1e-4;

// The order in which the solve takes the columns, and what each row reaches in that order.
struct RowColumns {
    struct Range {
        std::size_t begin = 0, end = 0;
    };

    explicit RowColumns(const SolveBlock& block);

    std::vector<std::size_t> block_order;  // of mass_blocks: as rows first reach them
    std::vector<Range> reach;              // by row: columns outside which it is zero once M's factor is applied
    std::size_t entries = 0;               // in all of them
};

template <class T>
class ConstrainedSolver {
public:
    using R = Real<T>;

    explicit ConstrainedSolver(const SolveBlock& block);

    // reads the operands from the slots and writes x and lambda to theirs
    SolveReport solve(T* slots);
    // From now on no more rows than this count as independent. Rows that depend on each other on the constraints only seem
    // independent a little off them, as the stages of an integrator are.
    void limit_rank(std::size_t rank) { most_rank_ = rank; }
    // A as it was at the last solve, row by row: L^-1 A' where M = L L' was regular, A itself otherwise. Columns in an order that
    // never changes.
    [[nodiscard]] std::span<const T> rows() const { return A_; }
    // The same made orthonormal, by a matrix of positive determinant; means something for several rows that are all independent.
    [[nodiscard]] std::span<const R> directions() const { return Q_; }

private:
    struct Target {
        Slot slot;
        std::uint32_t offset;
    };
    struct Block {
        std::uint32_t begin, size, offset;  // columns begin .. begin + size - 1; L's rows from offset on, row by row
    };
    struct Touch {
        std::uint32_t row, block;
    };
    using Range = RowColumns::Range;

    void gather(const T* slots);
    [[nodiscard]] bool operands_finite(const T* slots) const;
    bool solve_one_row();
    bool factor_mass();
    void forward(T* v, const Block& block) const;
    void backward(T* v) const;
    void factor_rows(double growth);
    void remove_part(std::size_t row, std::size_t direction, std::size_t k);
    void solve_by_blocks(SolveReport& report);
    void solve_bordered(const T* slots, SolveReport& report);
    void spread_multipliers(SolveReport& report);
    void fill_bordered(const T* slots);
    std::size_t factor_full(std::size_t size, double tolerance);
    void substitute_full(std::size_t size, T* rhs);
    std::uint32_t free_column(std::size_t size, std::size_t rank);
    void judge(std::size_t row, const R& disagreement, const R& scale, SolveReport& report) const;
    [[nodiscard]] std::size_t bordered_entries() const { return (n_ + m_) * (n_ + m_); }

    std::size_t n_, m_;
    std::vector<std::uint32_t> column_of_;  // position in the block order -> column of M
    std::vector<Block> blocks_;
    std::vector<Touch> touches_;       // which blocks a row of A reaches, by row
    std::vector<Target> mass_, rows_;  // where the entries of M and A go
    std::vector<Target> mass_bordered_;
    std::vector<Slot> f_slots_, b_slots_, x_slots_, lambda_slots_;

    std::vector<T> L_, inverse_diagonal_;  // Cholesky factors and 1 / L_jj
    R least_pivot_;                        // of M, relative to its diagonal
    double given_growth_ = 1;              // SolveBlock::growth
    double growth_ = 1;                    // largest loss of size of a pivot of M, a cheap measure of its condition
    std::vector<T> A_;                     // rows of A in block order, m x n
    std::vector<R> Q_;                     // the rows made orthonormal, m x n
    std::vector<R> R_;                     // R_[k * m + j]: part of scaled row j along direction k
    std::vector<R> length_;                // of the rows before scaling; 0 for rows that vanish
    std::vector<Range> reach_, filled_;    // columns outside which a row of A is zero, and one of Q_ is
    std::vector<R> left_;                  // of the rows, what the chosen directions leave of their unit length
    std::vector<std::uint32_t> pivot_;     // rows, independent ones first
    std::size_t rank_ = 0, most_rank_ = static_cast<std::size_t>(-1);
    std::vector<T> x_, lambda_, b_, w_;
    std::vector<T> W_, part_;           // dependent rows in terms of the independent ones
    std::vector<T> B_, rhs_, scratch_;  // the bordered matrix, factored in place
    std::vector<R> row_scale_, column_scale_;
    std::vector<std::uint32_t> row_order_, column_order_;
};

extern template class ConstrainedSolver<double>;
extern template class ConstrainedSolver<std::complex<double>>;
extern template class ConstrainedSolver<Digits50>;

}  // namespace appell
