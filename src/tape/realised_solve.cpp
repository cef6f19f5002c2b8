#include "tape/realised_solve.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace appell {

namespace {

// more multipliers than this in one law: guesses with the signs of the ideal ones, all turned, and one by one
constexpr std::size_t k_most_signs = 6;
constexpr std::size_t k_most_steps = 40;

template <class R>
R noise(std::size_t size) {
    return R(1000) * R(static_cast<double>(size)) * std::numeric_limits<R>::epsilon();
}

}  // namespace

template <class T>
RealisedSolver<T>::RealisedSolver(const SolveBlock& block)
    : block_(block), n_(block.size), m_(block.rows), r_(block.s.size()), p_(block.tau.size()), size_(n_ + m_) {
    B_.resize(size_ * size_);
    scale_.resize(size_);
    row_order_.resize(size_);
    column_order_.resize(size_);
    rows_.resize(m_ * n_);
    null_.resize(m_ * m_);
    balance_.resize(m_ * m_);
    columns_.resize(size_ * (1 + p_ + r_));
    work_.resize(size_);
    S_.resize(r_ * n_);
    D_.resize(n_ * p_);
    Q_.resize(r_ * p_);
    missing_.resize(r_);
    servo_order_.resize(r_);
    unknowns_.resize(size_ + p_);
    first_.resize(size_ + p_);
    ideal_.resize(m_);
    guess_.resize(m_);
    for (std::uint32_t s = 0; s < m_; ++s)
        if (std::any_of(block_.law_slope.begin(), block_.law_slope.end(), [&](const MatrixEntry& e) { return e.column == s; }))
            law_rows_.push_back(s);
}

template <class T>
bool RealisedSolver<T>::gather(const T* slots, bool with_law) {
    using std::abs, std::sqrt;
    std::fill(B_.begin(), B_.end(), T(0));
    std::fill(columns_.begin(), columns_.end(), T(0));
    std::fill(S_.begin(), S_.end(), T(0));
    std::fill(D_.begin(), D_.end(), T(0));
    for (const MatrixEntry& e : block_.M) B(e.row, e.column) = B(e.column, e.row) = slots[e.slot];
    for (const MatrixEntry& e : block_.A) {
        B(n_ + e.row, e.column) += slots[e.slot];
        B(e.column, n_ + e.row) -= slots[e.slot];
    }
    for (const MatrixEntry& e : block_.S) S_[e.row * n_ + e.column] += slots[e.slot];
    for (const MatrixEntry& e : block_.D) D_[e.row * p_ + e.column] += slots[e.slot];
    for (std::size_t i = 0; i < n_; ++i) columns_[i] = slots[block_.f[i]];
    for (std::size_t i = 0; i < m_; ++i) columns_[n_ + i] = slots[block_.b[i]];
    for (std::size_t i = 0; i < r_; ++i) missing_[i] = slots[block_.s[i]];
    for (std::size_t j = 0; j < p_; ++j)
        for (std::size_t i = 0; i < n_; ++i) columns_[(1 + j) * size_ + i] = D_[i * p_ + j];
    for (std::size_t j = 0; j < r_; ++j)
        for (std::size_t i = 0; i < n_; ++i) columns_[(1 + p_ + j) * size_ + i] = S_[j * n_ + i];
    // free of units: kinetic energy for x, and the rows at unit length in that metric
    for (std::size_t i = 0; i < n_; ++i) {
        const R mass = abs(B(i, i));
        scale_[i] = mass > R(0) ? R(1) / sqrt(mass) : R(1);
    }
    for (std::size_t s = 0; s < m_; ++s) {
        R squared(0);
        for (std::size_t i = 0; i < n_; ++i) {
            const R part = abs(B(n_ + s, i)) * scale_[i];
            squared += part * part;
        }
        scale_[n_ + s] = squared > R(0) ? R(1) / sqrt(squared) : R(1);
    }
    if (with_law) {
        for (std::size_t i = 0; i < n_; ++i) columns_[i] += slots[block_.law[i]];
        for (const MatrixEntry& e : block_.law_slope) {
            B(e.row, n_ + e.column) -= slots[e.slot];
            columns_[e.row] -= slots[e.slot] * guess_[e.column];
        }
    }
    for (std::size_t i = 0; i < size_; ++i) {
        for (std::size_t j = 0; j < size_; ++j) B(i, j) *= scale_[i] * scale_[j];
        for (std::size_t k = 0; k <= p_ + r_; ++k) columns_[k * size_ + i] *= scale_[i];
    }
    find_dependent_rows();
    if (row_rank_ < m_) border_dependent_rows();
    for (const std::vector<T>* list : {&B_, &columns_, &S_, &missing_})
        for (const T& value : *list)
            if (!is_finite(value)) return false;
    return true;
}

// The rows, scaled to unit length, by elimination with complete pivoting: row_order_ has the independent ones first, null_ what
// the others are made of.
template <class T>
void RealisedSolver<T>::find_dependent_rows() {
    using std::abs;
    for (std::size_t s = 0; s < m_; ++s) {
        std::copy_n(B_.begin() + static_cast<std::ptrdiff_t>((n_ + s) * size_), n_,
                    rows_.begin() + static_cast<std::ptrdiff_t>(s * n_));
        row_order_[s] = static_cast<std::uint32_t>(s);
    }
    // L of the elimination, in the place of null_
    const auto L = [&](std::size_t row, std::size_t k) -> T& { return null_[row * m_ + k]; };
    const std::size_t most = std::min({n_, m_, most_rank_});
    for (row_rank_ = 0; row_rank_ < most; ++row_rank_) {
        const std::size_t k = row_rank_;
        std::size_t best = k, column = 0;
        R largest(0);
        for (std::size_t i = k; i < m_; ++i)
            for (std::size_t j = 0; j < n_; ++j)
                if (const R value = abs(rows_[row_order_[i] * n_ + j]); value > largest) {
                    largest = value;
                    best = i;
                    column = j;
                }
        if (!(largest > std::max(noise<R>(n_), R(k_dependent_row)))) break;
        std::swap(row_order_[k], row_order_[best]);
        const T* const pivot = rows_.data() + row_order_[k] * n_;
        for (std::size_t i = k + 1; i < m_; ++i) {
            T* const row = rows_.data() + row_order_[i] * n_;
            const T factor = L(row_order_[i], k) = row[column] / pivot[column];
            if (factor == T(0)) continue;
            for (std::size_t j = 0; j < n_; ++j) row[j] -= factor * pivot[j];
            row[column] = T(0);
        }
    }
}

// by Gram and Schmidt, twice over, without conjugation
template <class T>
void RealisedSolver<T>::orthonormalise(std::vector<T>& vectors, std::size_t count) const {
    using std::sqrt;
    const auto dot = [&](const T* v, const T* w) {
        T sum(0);
        for (std::size_t i = 0; i < m_; ++i) sum += v[i] * w[i];
        return sum;
    };
    for (std::size_t k = 0; k < count; ++k) {
        T* const v = vectors.data() + k * m_;
        for (int pass = 0; pass < 2; ++pass) {
            const T before = T(1) / sqrt(dot(v, v));
            for (std::size_t i = 0; i < m_; ++i) v[i] *= before;
            for (std::size_t j = 0; j < k; ++j) {
                const T* const w = vectors.data() + j * m_;
                const T part = dot(v, w);
                for (std::size_t i = 0; i < m_; ++i) v[i] -= part * w[i];
            }
        }
        const T length = T(1) / sqrt(dot(v, v));
        for (std::size_t i = 0; i < m_; ++i) v[i] *= length;
    }
}

// What dependent rows contradict the others by is told and taken out of b; N Y' comes in where lambda is.
template <class T>
void RealisedSolver<T>::border_dependent_rows() {
    using std::abs;
    const std::size_t dependent = m_ - row_rank_;
    // row = sum L row_k + what is left: back through the earlier ones
    std::vector<T>& L = null_;
    for (std::size_t d = 0; d < dependent; ++d) {
        T* const v = balance_.data() + d * m_;
        std::fill_n(v, m_, T(0));
        const std::uint32_t row = row_order_[row_rank_ + d];
        v[row] = T(1);
        for (std::size_t k = row_rank_; k-- > 0;) {
            T part = L[row * m_ + k];
            for (std::size_t i = k + 1; i < row_rank_; ++i) part += v[row_order_[i]] * L[row_order_[i] * m_ + k];
            v[row_order_[k]] = -part;
        }
    }
    std::copy_n(balance_.begin(), static_cast<std::ptrdiff_t>(dependent * m_), null_.begin());
    for (std::size_t d = 0; d < dependent; ++d)
        for (std::size_t s = 0; s < m_; ++s) balance_[d * m_ + s] *= scale_[n_ + s] * scale_[n_ + s];
    orthonormalise(null_, dependent);
    orthonormalise(balance_, dependent);
    R size(0);
    for (std::size_t i = 0; i < size_; ++i) size = std::max(size, R(abs(columns_[i])));
    for (std::size_t d = 0; d < dependent; ++d) {
        const T* const v = null_.data() + d * m_;
        T missing(0);
        for (std::size_t s = 0; s < m_; ++s) missing += v[s] * columns_[n_ + s];
        for (std::size_t s = 0; s < m_; ++s) columns_[n_ + s] -= missing * v[s];
        report_.inconsistency =
            std::max(report_.inconsistency, static_cast<double>(abs(missing) / (size + R(k_consistency_floor))));
        for (std::size_t s = 0; s < m_; ++s)
            for (std::size_t i = 0; i < m_; ++i) B(n_ + s, n_ + i) += v[s] * balance_[d * m_ + i];
    }
}

template <class T>
bool RealisedSolver<T>::factor() {
    using std::abs;
    std::iota(row_order_.begin(), row_order_.end(), 0u);
    std::iota(column_order_.begin(), column_order_.end(), 0u);
    rank_ = 0;
    R first(0);
    for (std::size_t k = 0; k < size_; ++k) {
        std::size_t row = k, column = k;
        R largest(0);
        for (std::size_t i = k; i < size_; ++i)
            for (std::size_t j = k; j < size_; ++j)
                if (const R value = abs(B(i, j)); value > largest) {
                    largest = value;
                    row = i;
                    column = j;
                }
        if (k == 0) first = largest;
        if (!(largest > std::max(noise<R>(size_), R(k_dependent_row)) * first)) break;
        for (std::size_t j = 0; j < size_; ++j) std::swap(B(k, j), B(row, j));
        for (std::size_t i = 0; i < size_; ++i) std::swap(B(i, k), B(i, column));
        std::swap(row_order_[k], row_order_[row]);
        std::swap(column_order_[k], column_order_[column]);
        for (std::size_t i = k + 1; i < size_; ++i) {
            B(i, k) /= B(k, k);
            const T factor = B(i, k);
            if (factor == T(0)) continue;
            for (std::size_t j = k + 1; j < size_; ++j) B(i, j) -= factor * B(k, j);
        }
        ++rank_;
    }
    return rank_ == size_;
}

// the scaled right side becomes the solution in the user's units
template <class T>
void RealisedSolver<T>::substitute(T* right) {
    for (std::size_t k = 0; k < size_; ++k) {
        T value = right[row_order_[k]];
        for (std::size_t j = 0; j < k; ++j) value -= B(k, j) * work_[j];
        work_[k] = value;
    }
    for (std::size_t k = size_; k-- > 0;) {
        for (std::size_t j = k + 1; j < size_; ++j) work_[k] -= B(k, j) * work_[j];
        work_[k] /= B(k, k);
    }
    for (std::size_t k = 0; k < size_; ++k) right[column_order_[k]] = work_[k] * scale_[column_order_[k]];
}

// rows of S G made orthonormal, longest remaining first; tau = sum over them
template <class T>
bool RealisedSolver<T>::reach_servo_rows() {
    using std::abs, std::sqrt;
    // lengths in the mass metric, over what the ideal rows leave free: a row is out of reach where the actuators accelerate
    // across it, whatever the units
    const auto length = [&](const T* direction, std::size_t stride, std::size_t column) {
        T sum(0);
        for (std::size_t j = 0; j < n_; ++j) sum += direction[j * stride] * columns_[column * size_ + j];
        return R(sqrt(abs(sum)));
    };
    R strongest(0);
    for (std::size_t k = 0; k < p_; ++k) strongest = std::max(strongest, length(D_.data() + k, p_, 1 + k));
    for (std::size_t i = 0; i < r_; ++i) {
        const R natural = strongest * length(S_.data() + i * n_, 1, 1 + p_ + i);
        for (std::size_t k = 0; k < p_; ++k) {
            T sum(0);
            for (std::size_t j = 0; j < n_; ++j) sum += S_[i * n_ + j] * columns_[(1 + k) * size_ + j];
            Q_[i * p_ + k] = sum;
        }
        for (std::size_t j = 0; j < n_; ++j) missing_[i] -= S_[i * n_ + j] * columns_[j];
        const R unit = natural > R(0) ? R(1) / natural : R(1);
        for (std::size_t k = 0; k < p_; ++k) Q_[i * p_ + k] *= unit;
        missing_[i] *= unit;
        servo_order_[i] = static_cast<std::uint32_t>(i);
    }
    for (std::size_t k = 0; k < p_; ++k) unknowns_[size_ + k] = T(0);
    for (std::size_t done = 0; done < r_; ++done) {
        std::size_t best = done;
        R largest(-1);
        for (std::size_t i = done; i < r_; ++i) {
            T squared(0);
            for (std::size_t k = 0; k < p_; ++k) squared += Q_[servo_order_[i] * p_ + k] * Q_[servo_order_[i] * p_ + k];
            if (const R size = abs(squared); size > largest) {
                largest = size;
                best = i;
            }
        }
        std::swap(servo_order_[done], servo_order_[best]);
        const std::uint32_t row = servo_order_[done];
        if (!(sqrt(largest) > std::max(noise<R>(n_ + p_), R(k_dependent_row)))) {
            report_.status = EvalStatus::unreachable;
            report_.row = row;
            return false;
        }
        report_.smallest_pivot = std::min(report_.smallest_pivot, static_cast<double>(sqrt(largest)));
        T squared(0);
        for (std::size_t k = 0; k < p_; ++k) squared += Q_[row * p_ + k] * Q_[row * p_ + k];
        const T norm = sqrt(squared);
        for (std::size_t k = 0; k < p_; ++k) Q_[row * p_ + k] /= norm;
        // what is missing along this direction, after the earlier ones
        T along = missing_[row];
        along /= norm;
        for (std::size_t k = 0; k < p_; ++k) unknowns_[size_ + k] += along * Q_[row * p_ + k];
        for (std::size_t i = done + 1; i < r_; ++i) {
            const std::uint32_t other = servo_order_[i];
            for (int pass = 0; pass < 2; ++pass) {  // twice is enough
                T part(0);
                for (std::size_t k = 0; k < p_; ++k) part += Q_[other * p_ + k] * Q_[row * p_ + k];
                for (std::size_t k = 0; k < p_; ++k) Q_[other * p_ + k] -= part * Q_[row * p_ + k];
                missing_[other] -= part * along;
            }
        }
    }
    return true;
}

template <class T>
bool RealisedSolver<T>::solve_once(const T* slots, bool with_law) {
    report_.inconsistency = 0;
    if (!gather(slots, with_law)) {
        report_.status = EvalStatus::not_finite;
        return false;
    }
    report_.rank = static_cast<std::uint32_t>(row_rank_);
    report_.redundant = row_rank_ < m_;
    if (!factor()) {
        if (with_law) return false;  // this start has no solution; others may
        report_.status = EvalStatus::singular_mass;
        report_.singular_column = 0;
        for (std::size_t k = rank_; k < size_; ++k)
            if (column_order_[k] < n_) report_.singular_column = column_order_[k];
        return false;
    }
    for (std::size_t k = 0; k <= p_ + r_; ++k) substitute(columns_.data() + k * size_);
    if (r_ > 0 && !reach_servo_rows()) return false;
    for (std::size_t i = 0; i < size_; ++i) {
        unknowns_[i] = columns_[i];
        for (std::size_t k = 0; k < p_; ++k) unknowns_[i] += columns_[(1 + k) * size_ + i] * unknowns_[size_ + k];
    }
    report_.servo_rank = static_cast<std::uint32_t>(r_);
    return true;
}

template <class T>
void RealisedSolver<T>::begin(T* slots) {
    using std::abs;
    report_ = {};
    solutions_ = start_ = 0;
    starts_ = 0;
    if (!solve_once(slots, false)) {
        if (report_.status == EvalStatus::ok) report_.status = EvalStatus::singular_mass;
        return;
    }
    if (block_.law.empty()) {
        keep_solution();
        return;
    }
    R largest(0);
    for (std::size_t s = 0; s < m_; ++s) largest = std::max(largest, R(abs(unknowns_[n_ + s])));
    const R least = largest > R(0) ? largest * R(1e-3) : R(1);
    for (std::size_t s = 0; s < m_; ++s) {
        ideal_[s] = unknowns_[n_ + s];
        if (abs(ideal_[s]) < least) ideal_[s] = T(least);
    }
    const std::size_t signs = law_rows_.size();
    starts_ = signs <= k_most_signs ? std::size_t{1} << signs : 2 + signs;
}

template <class T>
bool RealisedSolver<T>::next_start(T* slots) {
    if (report_.status != EvalStatus::ok || start_ == starts_) return false;
    const bool all = law_rows_.size() <= k_most_signs;
    for (std::size_t s = 0; s < m_; ++s) guess_[s] = ideal_[s];
    for (std::size_t i = 0; i < law_rows_.size(); ++i) {
        const bool turned = all ? ((start_ >> i) & 1u) != 0 : start_ == 1 || start_ == i + 2;
        if (turned) guess_[law_rows_[i]] = -guess_[law_rows_[i]];
    }
    for (std::size_t s = 0; s < m_; ++s) slots[block_.guess[s]] = guess_[s];
    ++start_;
    steps_ = 0;
    return true;
}

template <class T>
bool RealisedSolver<T>::iterate(T* slots) {
    using std::abs;
    const SolveReport before = report_;
    if (!solve_once(slots, true)) {
        // a start may run into a singular or infinite law without harm to the others
        if (report_.status != EvalStatus::unreachable) report_ = before;
        return false;
    }
    R change(0), size(0);
    for (const std::uint32_t s : law_rows_) {
        change = std::max(change, R(abs(unknowns_[n_ + s] - guess_[s])));
        size = std::max(size, R(abs(unknowns_[n_ + s])));
        size = std::max(size, R(abs(guess_[s])));
    }
    const bool done = change <= noise<R>(size_) * size || size == R(0);
    for (std::size_t s = 0; s < m_; ++s) slots[block_.guess[s]] = guess_[s] = unknowns_[n_ + s];
    if (done) keep_solution();
    return !done && ++steps_ < k_most_steps;
}

template <class T>
void RealisedSolver<T>::keep_solution() {
    using std::abs;
    if (solutions_ == 0) {
        first_ = unknowns_;
        solutions_ = 1;
        return;
    }
    R difference(0), size(0);
    for (const std::uint32_t s : law_rows_) {
        difference = std::max(difference, R(abs(unknowns_[n_ + s] - first_[n_ + s])));
        size = std::max(size, R(abs(first_[n_ + s])));
    }
    if (difference > R(1e-6) * size) ++solutions_;
}

template <class T>
SolveReport RealisedSolver<T>::finish(T* slots) {
    if (report_.status != EvalStatus::ok) return report_;
    if (solutions_ != 1) {
        report_.status = solutions_ == 0 ? EvalStatus::no_reaction : EvalStatus::several_reactions;
        return report_;
    }
    for (std::size_t i = 0; i < n_; ++i) slots[block_.x[i]] = first_[i];
    for (std::size_t s = 0; s < m_; ++s) slots[block_.lambda[s]] = first_[n_ + s];
    for (std::size_t s = 0; s < block_.guess.size(); ++s) slots[block_.guess[s]] = first_[n_ + s];
    for (std::size_t k = 0; k < p_; ++k) slots[block_.tau[k]] = first_[size_ + k];
    for (const T& value : first_)
        if (!is_finite(value)) report_.status = EvalStatus::not_finite;
    if (report_.status == EvalStatus::ok && report_.inconsistency > k_consistency_tolerance)
        report_.status = EvalStatus::inconsistent_rows;
    return report_;
}

template class RealisedSolver<double>;
template class RealisedSolver<std::complex<double>>;
template class RealisedSolver<Digits50>;

}  // namespace appell
