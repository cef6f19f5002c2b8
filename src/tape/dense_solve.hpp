// Other roads to the solution of  M x - A' lambda = f,  A x = b,  each by the algebra of its source, so that their agreement
// means something. They share nothing with constrained_solve.cpp but the operands; dense, with all memory taken at construction.
//
//   minimal          000 eqs. 8-18: x = S y + s from the rows, with the columns of S the coefficients of the independent unknowns
//                    (nonholonomic partial accelerations); then S'(M x - f) = 0
//   nonminimal       003 eqs. 20-50: [A1; A2 M] x = [b; A2 f], with A2 the annihilator of A1
//   udwadia_kalaba   001 eqs. 47-49: x = a + M^-1/2 (A M^-1/2)^+ (b - A a), the Moore-Penrose inverse by a Jacobi SVD
//   ukp              001 eqs. 15-40: scaled force J B'(b - B a_s), J = (B'B + V V')^-1, no generalized inverse
//
// M^1/2 is the Cholesky factor: the formulas hold for any square root. lambda is read back from A' lambda = M x - f.
#pragma once

#include <vector>

#include "tape/constrained_solve.hpp"

namespace appell {

template <class T>
class DenseSolver {
public:
    explicit DenseSolver(const SolveBlock& block);

    SolveReport solve(T* slots);
    void limit_rank(std::size_t rank) { most_rank_ = rank; }  // as ConstrainedSolver's

private:
    void gather(const T* slots);
    bool eliminate(SolveReport& report);
    bool factor_mass();
    void forward(T* v) const;   // L^-1 v
    void backward(T* v) const;  // L^-T v
    void multiply_mass(const T* x, T* y) const;
    bool solve_minimal();
    bool solve_nonminimal();
    bool solve_udwadia_kalaba();
    bool solve_ukp();
    bool recover_multipliers();
    // a x = b by elimination with complete pivoting; both are overwritten. False when a pivot vanishes.
    bool solve_square(std::size_t n, std::vector<T>& a, std::vector<T>& b) { return solve_square(n, a, b, 0, W_); }
    // and for the columns of B, n by so many
    bool solve_square(std::size_t n, std::vector<T>& a, std::vector<T>& b, std::size_t columns, std::vector<T>& B);

    const SolveBlock block_;
    std::size_t n_, m_, rank_ = 0, most_rank_ = static_cast<std::size_t>(-1);
    std::vector<T> M_, A_, f_, b_, x_, lambda_;  // row by row
    std::vector<T> E_, e_;                       // rows of A eliminated: unit in the dependent columns
    std::vector<std::uint32_t> rows_, dependent_, independent_;
    std::vector<T> S_, s_;  // x = S y + s; S is n x (n - rank)
    std::vector<T> L_, B_, U_, W_, square_, right_, left_, column_;
    std::vector<std::uint32_t> order_;
};

extern template class DenseSolver<double>;
extern template class DenseSolver<Digits50>;

}  // namespace appell
