#include "tape/linear_solve.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace appell {

template <class T>
LinearSolver<T>::LinearSolver(const SolveBlock& block)
    : block_(block),
      n_(block.size),
      right_sides_(block.size == 0 ? 0 : block.b.size() / block.size),
      A_(n_ * n_),
      right_(n_),
      scale_(n_),
      row_(n_),
      column_(n_) {}

// A = L U with rows and columns exchanged in place; L has a unit diagonal
template <class T>
bool LinearSolver<T>::factor() {
    using std::abs;
    std::iota(row_.begin(), row_.end(), 0u);
    std::iota(column_.begin(), column_.end(), 0u);
    for (std::size_t i = 0; i < n_; ++i) {
        R largest(0);
        for (std::size_t j = 0; j < n_; ++j) largest = std::max(largest, R(abs(A_[i * n_ + j])));
        if (!(largest > R(0))) return false;
        scale_[i] = R(1) / largest;
        for (std::size_t j = 0; j < n_; ++j) A_[i * n_ + j] *= T(scale_[i]);
    }
    const R noise = R(100) * R(static_cast<double>(n_)) * std::numeric_limits<R>::epsilon();
    for (std::size_t k = 0; k < n_; ++k) {
        std::size_t row = k, column = k;
        R largest(0);
        for (std::size_t i = k; i < n_; ++i)
            for (std::size_t j = k; j < n_; ++j)
                if (const R size = abs(A_[i * n_ + j]); size > largest) {
                    largest = size;
                    row = i;
                    column = j;
                }
        if (!(largest > noise)) return false;  // the first pivot is 1
        for (std::size_t j = 0; j < n_; ++j) std::swap(A_[k * n_ + j], A_[row * n_ + j]);
        for (std::size_t i = 0; i < n_; ++i) std::swap(A_[i * n_ + k], A_[i * n_ + column]);
        std::swap(row_[k], row_[row]);
        std::swap(column_[k], column_[column]);
        for (std::size_t i = k + 1; i < n_; ++i) {
            const T factor = A_[i * n_ + k] / A_[k * n_ + k];
            A_[i * n_ + k] = factor;
            for (std::size_t j = k + 1; j < n_; ++j) A_[i * n_ + j] -= factor * A_[k * n_ + j];
        }
    }
    return true;
}

template <class T>
void LinearSolver<T>::substitute(T* right) {
    for (std::size_t i = 0; i < n_; ++i)
        for (std::size_t j = 0; j < i; ++j) right[i] -= A_[i * n_ + j] * right[j];
    for (std::size_t i = n_; i-- > 0;) {
        for (std::size_t j = i + 1; j < n_; ++j) right[i] -= A_[i * n_ + j] * right[j];
        right[i] /= A_[i * n_ + i];
    }
}

template <class T>
SolveReport LinearSolver<T>::solve(T* slots) {
    SolveReport report;
    std::fill(A_.begin(), A_.end(), T(0));
    bool finite = true;
    for (const MatrixEntry& e : block_.A) {
        A_[e.row * n_ + e.column] = slots[e.slot];
        finite &= is_finite(slots[e.slot]);
    }
    for (const Slot slot : block_.b) finite &= is_finite(slots[slot]);
    if (!finite) {
        report.status = EvalStatus::not_finite;
        return report;
    }
    if (!factor()) {
        report.status = EvalStatus::singular_partition;
        return report;
    }
    for (std::size_t c = 0; c < right_sides_; ++c) {
        for (std::size_t i = 0; i < n_; ++i) right_[i] = slots[block_.b[c * n_ + row_[i]]] * T(scale_[row_[i]]);
        substitute(right_.data());
        for (std::size_t i = 0; i < n_; ++i) slots[block_.x[c * n_ + column_[i]]] = right_[i];
    }
    return report;
}

template class LinearSolver<double>;
template class LinearSolver<std::complex<double>>;
template class LinearSolver<Digits50>;

}  // namespace appell
