// The solve of a `linear` block: a square matrix with one or several right sides, A X = B, by elimination with complete pivoting
// over rows scaled to their largest entry. The matrix is factored once, whatever the number of right sides. All memory is taken
// at construction.
#pragma once

#include <vector>

#include "tape/constrained_solve.hpp"

namespace appell {

template <class T>
class LinearSolver {
public:
    explicit LinearSolver(const SolveBlock& block);

    // reads A and B from the slots and writes X to its own; singular_partition when A has no inverse to working precision
    SolveReport solve(T* slots);

private:
    using R = Real<T>;

    bool factor();
    void substitute(T* right);

    const SolveBlock block_;
    std::size_t n_, right_sides_;
    std::vector<T> A_;                         // row by row, factored in place
    std::vector<T> right_;                     // one right side, in the order of the pivots
    std::vector<R> scale_;                     // of the rows
    std::vector<std::uint32_t> row_, column_;  // in the order of the pivots
};

extern template class LinearSolver<double>;
extern template class LinearSolver<std::complex<double>>;
extern template class LinearSolver<Digits50>;

}  // namespace appell
