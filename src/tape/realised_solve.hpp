// The solve of constraints that ideal forces alone do not keep (001 eqs. 9-40; design: friction names its force, actuators):
//     M x - A' lambda - law(lambda) - D tau = f,   A x = b,   S x = s.
//
// The bordered matrix [M, -(A' + law slope); A, 0], scaled to be free of units, is factored by LU with complete pivoting.
// Actuator columns are eliminated first, x = x0 + G tau; then S G tau = s - S x0 by orthogonalising the rows of S G, with the tau
// of least sum of squares when there are more actuators than rows; a row of S G that vanishes can not be reached.
//
// Where rows depend on each other, N' A = 0, the rows read  A x + N Y' lambda = b  with Y such that Y' lambda = 0 says that
// lambda has the least norm of all that exert the same force. N' times the rows is that condition, and the rest is A x = b: the
// matrix is regular again, and a law has the multipliers of least norm in it.
//
// A law is solved
// by Newton's method from every combination of signs of the multipliers it depends on: for Coulomb's law, linear on each orthant,
// that finds every solution there is. None, or several, is Painleve's paradox. All memory is taken at construction. The caller
// evaluates the law between the steps:
//     begin; while (next_start) do evaluate the law, while (iterate); finish.
#pragma once

#include <cstdint>
#include <vector>

#include "tape/constrained_solve.hpp"

namespace appell {

template <class T>
class RealisedSolver {
public:
    explicit RealisedSolver(const SolveBlock& block);

    void begin(T* slots);
    // the next guess, written to its slots; false when all were tried, and at once after a failure
    bool next_start(T* slots);
    // one step from the guess and the law in the slots; false when this start is done
    bool iterate(T* slots);
    // writes the result, the guess included
    SolveReport finish(T* slots);
    // from now on no more rows than this count as independent (ConstrainedSolver)
    void limit_rank(std::size_t rank) { most_rank_ = rank; }

private:
    using R = Real<T>;

    bool gather(const T* slots, bool with_law);
    void find_dependent_rows();
    void orthonormalise(std::vector<T>& vectors, std::size_t count) const;
    void border_dependent_rows();
    bool factor();
    void substitute(T* right);
    bool solve_once(const T* slots, bool with_law);
    bool reach_servo_rows();
    void keep_solution();
    [[nodiscard]] T& B(std::size_t row, std::size_t column) { return B_[row * size_ + column]; }

    const SolveBlock block_;
    std::size_t n_, m_, r_, p_, size_;
    std::vector<T> B_;      // scaled bordered matrix, then its factors
    std::vector<R> scale_;  // of the unknowns: x, then lambda
    std::vector<std::uint32_t> row_order_, column_order_;
    std::size_t rank_ = 0;
    std::size_t row_rank_ = 0, most_rank_ = static_cast<std::size_t>(-1);
    std::vector<T> rows_;            // of A, scaled, and what elimination leaves of them
    std::vector<T> null_, balance_;  // N and Y in scaled rows and multipliers, one vector after the other
    std::vector<T> columns_;         // right sides: the given one, one for each actuator, one for each servo row
    std::vector<T> work_;
    std::vector<T> S_, D_, Q_;  // servo rows r x n, directions n x p; rows of S G, made orthonormal
    std::vector<T> missing_;    // s - S x0
    std::vector<std::uint32_t> servo_order_;
    std::vector<T> unknowns_;              // x, lambda, tau of the last step
    std::vector<T> ideal_;                 // multipliers without the law: sizes of the first guesses
    std::vector<std::uint32_t> law_rows_;  // rows whose multipliers the law depends on
    std::vector<T> guess_;
    std::vector<T> first_;  // the first solution found
    std::size_t solutions_ = 0, starts_ = 0, start_ = 0, steps_ = 0;
    SolveReport report_;
};

extern template class RealisedSolver<double>;
extern template class RealisedSolver<std::complex<double>>;
extern template class RealisedSolver<Digits50>;

}  // namespace appell
