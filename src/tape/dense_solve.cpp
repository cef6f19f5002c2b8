#include "tape/dense_solve.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "tape/least_norm.hpp"

namespace appell {

namespace {

// a pivot this far below the largest is round-off
template <class T>
T noise(std::size_t size) {
    return T(100) * T(static_cast<double>(size)) * std::numeric_limits<T>::epsilon();
}

// Lengths of the rows, behind the first m numbers of `out`. One that is small against the others to round-off is none; each is
// measured by how long it is in general, where that stands behind the first m numbers of b. `chosen`: some rows follow from the
// others. Then the lengths are those in general: a row that is short for the moment stays short, and is not preferred.
template <class T>
void measure_rows(std::size_t m, std::size_t n, const std::vector<T>& A, const std::vector<T>& b, bool chosen,
                  std::vector<T>& out) {
    using std::sqrt;
    T longest(0);
    const auto relative = [&](std::size_t i) { return b.size() == m ? out[m + i] : T(out[m + i] / b[m + i]); };
    for (std::size_t i = 0; i < m; ++i) {
        T squared(0);
        for (std::size_t j = 0; j < n; ++j) squared += A[i * n + j] * A[i * n + j];
        out[m + i] = sqrt(squared);
        longest = std::max(longest, T(relative(i)));
    }
    const T round_off = T(static_cast<double>(std::max(n, m))) * std::numeric_limits<T>::epsilon();
    for (std::size_t i = 0; i < m; ++i) {
        if (!(relative(i) > round_off * longest))
            out[m + i] = T(0);
        else if (chosen && b.size() == 2 * m)
            out[m + i] = longest * b[m + i];
    }
}

// a number of a row at unit length
template <class T>
T unit(const T& number, const T& length) {
    return length > T(0) ? T(number / length) : T(0);
}

template <class T>
T length_of(const T* row, std::size_t n) {
    using std::sqrt;
    T squared(0);
    for (std::size_t j = 0; j < n; ++j) squared += row[j] * row[j];
    return sqrt(squared);
}

// A row at unit length, unless it is one that vanishes; and the factor. Of chosen rows (measure_rows): as short as the row `of`
// that it was made of is against its length, but not shorter than `least`.
template <class T>
T scale_row(T* row, const T* of, std::size_t n, const T& length, bool chosen, double least) {
    T scale = length > T(0) ? T(T(1) / length_of(row, n)) : T(0);
    if (chosen && length > T(0)) scale *= std::max(T(length_of(of, n) / length), T(least));
    for (std::size_t j = 0; j < n; ++j) row[j] *= scale;
    return scale;
}

// Dependent rows must ask for what the independent ones give; the accelerations tell what is small. `right` by row in the order
// of `rows`, the independent ones first.
template <class T>
void judge_dependent_rows(std::size_t rank, const std::vector<std::uint32_t>& rows, const std::vector<T>& right,
                          const std::vector<T>& accelerations, SolveReport& report) {
    using std::abs;
    T size(0);
    for (std::size_t i = 0; i < rank; ++i) size = std::max(size, T(abs(right[i])));
    for (const T& acceleration : accelerations) size = std::max(size, T(abs(acceleration)));
    for (std::size_t i = rank; i < rows.size(); ++i) {
        const auto relative = static_cast<double>(abs(right[i]) / (size + T(k_consistency_floor)));
        if (!(relative > report.inconsistency)) continue;
        report.inconsistency = relative;
        report.inconsistent_row = rows[i];
    }
    if (report.inconsistency > k_consistency_tolerance) report.status = EvalStatus::inconsistent_rows;
}

}  // namespace

template <class T>
DenseSolver<T>::DenseSolver(const SolveBlock& block) : block_(block), n_(block.size), m_(block.rows) {
    const std::size_t most = std::max(n_, m_);
    M_.resize(n_ * n_);
    A_.resize(m_ * n_);
    E_.resize(m_ * n_);
    for (std::vector<T>* v : {&f_, &x_, &s_, &column_}) v->resize(n_);
    for (std::vector<T>* v : {&b_, &lambda_}) v->resize(m_);
    e_.resize(2 * m_);          // behind the eliminated b: how long the rows are as written, zero for one that vanishes
    b_.resize(block.b.size());  // behind it: how long the rows are in general, where that is far apart
    S_.resize(n_ * n_);
    L_.resize(n_ * n_);
    B_.resize(m_ * n_);
    U_.resize(m_ * n_);
    W_.resize(m_ * m_);
    square_.resize(most * most);
    right_.resize(most);
    left_.resize(most);
    rows_.resize(m_);
    order_.resize(most);
    dependent_.reserve(m_);
    independent_.reserve(n_);
}

template <class T>
void DenseSolver<T>::gather(const T* slots) {
    std::fill(M_.begin(), M_.end(), T(0));
    std::fill(A_.begin(), A_.end(), T(0));
    for (const MatrixEntry& e : block_.M) M_[e.row * n_ + e.column] = M_[e.column * n_ + e.row] = slots[e.slot];
    for (const MatrixEntry& e : block_.A) A_[e.row * n_ + e.column] = slots[e.slot];
    for (std::size_t i = 0; i < n_; ++i) f_[i] = slots[block_.f[i]];
    for (std::size_t i = 0; i < b_.size(); ++i) b_[i] = slots[block_.b[i]];
}

template <class T>
void DenseSolver<T>::multiply_mass(const T* x, T* y) const {
    for (std::size_t i = 0; i < n_; ++i) {
        T sum(0);
        for (std::size_t j = 0; j < n_; ++j) sum += M_[i * n_ + j] * x[j];
        y[i] = sum;
    }
}

// Gauss-Jordan with complete pivoting over rows scaled to unit length: which unknowns depend on which, and S, s
template <class T>
bool DenseSolver<T>::eliminate(SolveReport& report) {
    using std::abs;
    measure_rows(m_, n_, A_, b_, most_rank_ < m_, e_);
    for (std::size_t i = 0; i < m_; ++i) {
        for (std::size_t j = 0; j < n_; ++j) E_[i * n_ + j] = unit(A_[i * n_ + j], e_[m_ + i]);
        e_[i] = e_[m_ + i] > T(0) ? T(b_[i] / e_[m_ + i]) : b_[i];
        rows_[i] = static_cast<std::uint32_t>(i);
    }
    dependent_.clear();
    rank_ = 0;
    T first(0);
    std::vector<std::uint32_t>& used = order_;
    std::fill(used.begin(), used.end(), 0);
    for (const std::uint32_t column : block_.independent) used[column] = 1;
    while (rank_ < std::min({m_, n_, most_rank_})) {
        std::size_t row = rank_, column = n_;
        T largest(0);
        for (std::size_t i = rank_; i < m_; ++i)
            for (std::size_t j = 0; j < n_; ++j)
                if (!used[j] && abs(E_[i * n_ + j]) > largest) {
                    largest = abs(E_[i * n_ + j]);
                    row = i;
                    column = j;
                }
        if (rank_ == 0) first = largest;
        if (column == n_ || largest <= std::max(noise<T>(n_ + m_), T(k_dependent_row)) * first) break;
        // rows are of unit length: a given choice of unknowns may have small pivots from the first on
        report.smallest_pivot =
            std::min(report.smallest_pivot, static_cast<double>(block_.independent.empty() ? T(largest / first) : largest));
        for (std::size_t j = 0; j < n_; ++j) std::swap(E_[rank_ * n_ + j], E_[row * n_ + j]);
        std::swap(e_[rank_], e_[row]);
        std::swap(rows_[rank_], rows_[row]);
        const T inverse = T(1) / E_[rank_ * n_ + column];
        for (std::size_t j = 0; j < n_; ++j) E_[rank_ * n_ + j] *= inverse;
        e_[rank_] *= inverse;
        for (std::size_t i = 0; i < m_; ++i) {
            if (i == rank_) continue;
            const T factor = E_[i * n_ + column];
            if (factor == T(0)) continue;
            for (std::size_t j = 0; j < n_; ++j) E_[i * n_ + j] -= factor * E_[rank_ * n_ + j];
            e_[i] -= factor * e_[rank_];
        }
        used[column] = 1;
        dependent_.push_back(static_cast<std::uint32_t>(column));
        ++rank_;
    }
    for (const std::uint32_t column : block_.independent) used[column] = 0;
    report.rank = static_cast<std::uint32_t>(rank_);
    report.redundant = rank_ < m_;
    if (m_ != 0) report.weakest_row = rows_[rank_ < m_ ? rank_ : rank_ - 1];
    // given independent unknowns must leave no other one free, and no row on themselves alone
    if (!block_.independent.empty()) {
        T left(0);
        for (std::size_t i = rank_; i < m_; ++i)
            for (const std::uint32_t column : block_.independent) left = std::max(left, T(abs(E_[i * n_ + column])));
        const bool limited =
            rank_ == most_rank_;  // then what is left is known to be no more than the distance to the constraints
        if ((!limited && left > std::max(noise<T>(n_ + m_), T(k_dependent_row)) * T(100)) ||
            n_ - rank_ != block_.independent.size()) {
            report.status = EvalStatus::singular_partition;
            return false;
        }
    }
    independent_.clear();
    for (std::uint32_t j = 0; j < n_; ++j)
        if (!used[j]) independent_.push_back(j);
    const std::size_t p = independent_.size();
    std::fill(S_.begin(), S_.end(), T(0));
    std::fill(s_.begin(), s_.end(), T(0));
    for (std::size_t k = 0; k < p; ++k) S_[independent_[k] * p + k] = T(1);
    for (std::size_t i = 0; i < rank_; ++i) {
        for (std::size_t k = 0; k < p; ++k) S_[dependent_[i] * p + k] = -E_[i * n_ + independent_[k]];
        s_[dependent_[i]] = e_[i];
    }
    return true;
}

template <class T>
bool DenseSolver<T>::solve_square(std::size_t n, std::vector<T>& a, std::vector<T>& b, std::size_t columns, std::vector<T>& B) {
    using std::abs;
    for (std::uint32_t j = 0; j < n; ++j) order_[j] = j;
    T first(0);
    for (std::size_t k = 0; k < n; ++k) {
        std::size_t row = k, column = k;
        T largest(0);
        for (std::size_t i = k; i < n; ++i)
            for (std::size_t j = k; j < n; ++j)
                if (abs(a[i * n + j]) > largest) {
                    largest = abs(a[i * n + j]);
                    row = i;
                    column = j;
                }
        if (k == 0) first = largest;
        if (!(largest > std::numeric_limits<T>::epsilon() * first)) return false;
        for (std::size_t j = 0; j < n; ++j) std::swap(a[k * n + j], a[row * n + j]);
        std::swap(b[k], b[row]);
        for (std::size_t c = 0; c < columns; ++c) std::swap(B[k * columns + c], B[row * columns + c]);
        for (std::size_t i = 0; i < n; ++i) std::swap(a[i * n + k], a[i * n + column]);
        std::swap(order_[k], order_[column]);
        for (std::size_t i = k + 1; i < n; ++i) {
            const T factor = a[i * n + k] / a[k * n + k];
            for (std::size_t j = k; j < n; ++j) a[i * n + j] -= factor * a[k * n + j];
            b[i] -= factor * b[k];
            for (std::size_t c = 0; c < columns; ++c) B[i * columns + c] -= factor * B[k * columns + c];
        }
    }
    for (std::size_t k = n; k-- > 0;) {
        for (std::size_t j = k + 1; j < n; ++j) {
            b[k] -= a[k * n + j] * b[j];
            for (std::size_t c = 0; c < columns; ++c) B[k * columns + c] -= a[k * n + j] * B[j * columns + c];
        }
        b[k] /= a[k * n + k];
        for (std::size_t c = 0; c < columns; ++c) B[k * columns + c] /= a[k * n + k];
    }
    // undo the exchange of columns: unknown order_[k] is b[k]
    for (std::size_t k = 0; k < n; ++k) left_[order_[k]] = b[k];
    for (std::size_t k = 0; k < n; ++k) b[k] = left_[k];
    for (std::size_t c = 0; c < columns; ++c) {
        for (std::size_t k = 0; k < n; ++k) left_[order_[k]] = B[k * columns + c];
        for (std::size_t k = 0; k < n; ++k) B[k * columns + c] = left_[k];
    }
    return true;
}

template <class T>
bool DenseSolver<T>::factor_mass() {
    using std::sqrt;
    for (std::size_t i = 0; i < n_; ++i)
        for (std::size_t j = 0; j <= i; ++j) {
            T sum = M_[i * n_ + j];
            for (std::size_t k = 0; k < j; ++k) sum -= L_[i * n_ + k] * L_[j * n_ + k];
            if (i != j) {
                L_[i * n_ + j] = sum / L_[j * n_ + j];
            } else {
                if (!(sum > noise<T>(n_) * M_[i * n_ + i])) return false;
                L_[i * n_ + i] = sqrt(sum);
            }
        }
    return true;
}

template <class T>
void DenseSolver<T>::forward(T* v) const {
    for (std::size_t i = 0; i < n_; ++i) {
        for (std::size_t j = 0; j < i; ++j) v[i] -= L_[i * n_ + j] * v[j];
        v[i] /= L_[i * n_ + i];
    }
}

template <class T>
void DenseSolver<T>::backward(T* v) const {
    for (std::size_t i = n_; i-- > 0;) {
        for (std::size_t j = i + 1; j < n_; ++j) v[i] -= L_[j * n_ + i] * v[j];
        v[i] /= L_[i * n_ + i];
    }
}

// 000 eq. 8: the projection of M x - f on the partial accelerations
template <class T>
bool DenseSolver<T>::solve_minimal() {
    const std::size_t p = independent_.size();
    multiply_mass(s_.data(), x_.data());  // M s
    // S'(f - M s), and S' (M S) column by column of S
    for (std::size_t k = 0; k < p; ++k) {
        T sum(0);
        for (std::size_t i = 0; i < n_; ++i) sum += S_[i * p + k] * (f_[i] - x_[i]);
        right_[k] = sum;
    }
    for (std::size_t l = 0; l < p; ++l) {
        for (std::size_t i = 0; i < n_; ++i) column_[i] = S_[i * p + l];
        multiply_mass(column_.data(), x_.data());
        for (std::size_t k = 0; k < p; ++k) {
            T entry(0);
            for (std::size_t i = 0; i < n_; ++i) entry += S_[i * p + k] * x_[i];
            square_[k * p + l] = entry;
        }
    }
    if (!solve_square(p, square_, right_)) return false;
    for (std::size_t i = 0; i < n_; ++i) {
        x_[i] = s_[i];
        for (std::size_t k = 0; k < p; ++k) x_[i] += S_[i * p + k] * right_[k];
    }
    return true;
}

// 003 eqs. 40-50: the rows themselves above the annihilated equations
template <class T>
bool DenseSolver<T>::solve_nonminimal() {
    const std::size_t p = independent_.size();
    for (std::size_t i = 0; i < rank_; ++i) {
        for (std::size_t j = 0; j < n_; ++j) square_[i * n_ + j] = unit(A_[rows_[i] * n_ + j], e_[m_ + rows_[i]]);
        right_[i] = unit(b_[rows_[i]], e_[m_ + rows_[i]]);
    }
    for (std::size_t k = 0; k < p; ++k) {
        T sum(0);
        for (std::size_t i = 0; i < n_; ++i) sum += S_[i * p + k] * f_[i];
        right_[rank_ + k] = sum;
        for (std::size_t j = 0; j < n_; ++j) {
            T entry(0);
            for (std::size_t i = 0; i < n_; ++i) entry += S_[i * p + k] * M_[i * n_ + j];
            square_[(rank_ + k) * n_ + j] = entry;
        }
    }
    if (!solve_square(n_, square_, right_)) return false;
    std::copy(right_.begin(), right_.begin() + static_cast<std::ptrdiff_t>(n_), x_.begin());
    return true;
}

// B = A L^-T (row i solves L w = a_i), a_s = L^-1 f; the scaled acceleration is a_s + B^+ (b - B a_s), and x = L^-T of it
template <class T>
bool DenseSolver<T>::solve_udwadia_kalaba() {
    using std::abs, std::sqrt;
    const bool chosen = most_rank_ < m_ && b_.size() == 2 * m_;
    x_ = f_;
    forward(x_.data());
    // one-sided Jacobi on the rows of B: W B = Sigma U' with orthogonal W
    B_ = A_;
    std::fill(W_.begin(), W_.end(), T(0));
    for (std::size_t i = 0; i < m_; ++i) {
        forward(B_.data() + i * n_);
        W_[i * m_ + i] = T(1);
        T missing = b_[i];
        for (std::size_t j = 0; j < n_; ++j) missing -= B_[i * n_ + j] * x_[j];
        right_[i] = missing * scale_row(B_.data() + i * n_, A_.data() + i * n_, n_, e_[m_ + i], chosen, 0);
    }
    U_ = B_;
    for (int sweep = 0; sweep < 60; ++sweep) {
        bool turned = false;
        for (std::size_t p = 0; p + 1 < m_; ++p)
            for (std::size_t q = p + 1; q < m_; ++q) {
                T pp(0), qq(0), pq(0);
                for (std::size_t j = 0; j < n_; ++j) {
                    pp += U_[p * n_ + j] * U_[p * n_ + j];
                    qq += U_[q * n_ + j] * U_[q * n_ + j];
                    pq += U_[p * n_ + j] * U_[q * n_ + j];
                }
                if (abs(pq) <= std::numeric_limits<T>::epsilon() * sqrt(pp * qq)) continue;
                turned = true;
                const T zeta = (qq - pp) / (T(2) * pq);
                const T t = (zeta >= T(0) ? T(1) : T(-1)) / (abs(zeta) + sqrt(T(1) + zeta * zeta));
                const T c = T(1) / sqrt(T(1) + t * t), s = c * t;
                const auto turn = [&](std::vector<T>& v, std::size_t width) {
                    for (std::size_t j = 0; j < width; ++j) {
                        const T a = v[p * width + j], b = v[q * width + j];
                        v[p * width + j] = c * a - s * b;
                        v[q * width + j] = s * a + c * b;
                    }
                };
                turn(U_, n_);
                turn(W_, m_);
            }
        if (!turned) break;
    }
    T largest(0);
    for (std::size_t k = 0; k < m_; ++k) {
        T squared(0);
        for (std::size_t j = 0; j < n_; ++j) squared += U_[k * n_ + j] * U_[k * n_ + j];
        left_[k] = squared;  // singular value squared
        largest = std::max(largest, squared);
    }
    const T least = std::max(noise<T>(n_ + m_), T(k_dependent_row));
    T bar = least * least * largest;
    for (std::size_t kept = m_; kept > most_rank_;) {  // the weakest go, until no more are left than may be
        kept = 0;
        T weakest = largest;
        for (std::size_t k = 0; k < m_; ++k)
            if (left_[k] > bar) {
                ++kept;
                weakest = std::min(weakest, left_[k]);
            }
        if (kept > most_rank_) bar = weakest;
    }
    // B^+ = sum over k of u_k w_k' / sigma_k; U_ holds sigma_k u_k
    for (std::size_t k = 0; k < m_; ++k) {
        if (!(left_[k] > bar)) continue;
        T along(0);
        for (std::size_t i = 0; i < m_; ++i) along += W_[k * m_ + i] * right_[i];
        along /= left_[k];
        for (std::size_t j = 0; j < n_; ++j) x_[j] += along * U_[k * n_ + j];
    }
    backward(x_.data());
    return true;
}

// 001 eq. 38 with C = 0; V = L' S has B V = A S = 0 and full rank, and the result does not depend on the choice of V
template <class T>
bool DenseSolver<T>::solve_ukp() {
    using std::sqrt;
    const std::size_t p = independent_.size();
    const bool chosen = most_rank_ < m_ && b_.size() == 2 * m_;
    x_ = f_;
    forward(x_.data());  // a_s
    B_ = A_;
    std::fill(right_.begin(), right_.end(), T(0));
    for (std::size_t i = 0; i < m_; ++i) {
        T* const row = B_.data() + i * n_;
        forward(row);
        T missing = b_[i];
        for (std::size_t j = 0; j < n_; ++j) missing -= row[j] * x_[j];
        // B'B squares their condition, and no more of it than there is
        constexpr double k_shortest = 1e-3;
        const T scale = scale_row(row, A_.data() + i * n_, n_, e_[m_ + i], chosen, k_shortest);
        for (std::size_t j = 0; j < n_; ++j) right_[j] += row[j] * missing * scale;  // B'(b - B a_s)
    }
    // B'B + V V'
    std::fill(square_.begin(), square_.end(), T(0));
    for (std::size_t i = 0; i < m_; ++i)
        for (std::size_t j = 0; j < n_; ++j)
            for (std::size_t k = 0; k < n_; ++k) square_[j * n_ + k] += B_[i * n_ + j] * B_[i * n_ + k];
    for (std::size_t c = 0; c < p; ++c) {
        for (std::size_t j = 0; j < n_; ++j) {  // column c of V = L' S
            left_[j] = T(0);
            for (std::size_t k = j; k < n_; ++k) left_[j] += L_[k * n_ + j] * S_[k * p + c];
        }
        T squared(0);
        for (std::size_t j = 0; j < n_; ++j) squared += left_[j] * left_[j];
        for (std::size_t j = 0; j < n_; ++j) left_[j] /= sqrt(squared);
        for (std::size_t j = 0; j < n_; ++j)
            for (std::size_t k = 0; k < n_; ++k) square_[j * n_ + k] += left_[j] * left_[k];
    }
    if (!solve_square(n_, square_, right_)) return false;
    for (std::size_t j = 0; j < n_; ++j) x_[j] += right_[j];
    backward(x_.data());
    return true;
}

// A1' lambda = M x - f on the dependent unknowns, over the independent rows; with dependent ones the lambda of least norm. All
// rows of unit length.
template <class T>
bool DenseSolver<T>::recover_multipliers() {
    const std::size_t more = m_ - rank_;
    const auto entry = [&](std::size_t row, std::size_t column) { return unit(A_[row * n_ + column], e_[m_ + row]); };
    for (std::size_t i = 0; i < rank_; ++i) {
        T sum = -f_[dependent_[i]];
        for (std::size_t j = 0; j < n_; ++j) sum += M_[dependent_[i] * n_ + j] * x_[j];
        right_[i] = sum;
        for (std::size_t k = 0; k < rank_; ++k) square_[i * rank_ + k] = entry(rows_[k], dependent_[i]);
        for (std::size_t k = 0; k < more; ++k) W_[i * more + k] = entry(rows_[rank_ + k], dependent_[i]);
    }
    if (!solve_square(rank_, square_, right_, more, W_)) return false;
    for (std::size_t i = 0; i < m_; ++i) left_[i] = e_[m_ + rows_[i]] > T(0) ? e_[m_ + rows_[i]] : T(1);
    for (std::size_t i = 0; i < rank_; ++i) right_[i] /= left_[i];
    if (more > 0)
        LeastNorm<T>{rank_, more, W_.data(), more, left_.data(), right_.data(), order_.data(), square_.data()}.spread();
    else
        std::iota(order_.begin(), order_.end(), 0u);
    for (std::size_t i = 0; i < m_; ++i) lambda_[rows_[order_[i]]] = right_[i];
    return true;
}

template <class T>
SolveReport DenseSolver<T>::solve(T* slots) {
    SolveReport report;
    gather(slots);
    for (const std::vector<T>* v : {&M_, &A_, &f_, &b_})
        for (const T& value : *v)
            if (!is_finite(value)) {
                report.status = EvalStatus::not_finite;
                return report;
            }
    if (!eliminate(report)) return report;
    bool solved = false;
    switch (block_.kind) {
        case SolveKind::minimal: solved = solve_minimal(); break;
        case SolveKind::nonminimal: solved = solve_nonminimal(); break;
        case SolveKind::udwadia_kalaba: solved = factor_mass() && solve_udwadia_kalaba(); break;
        case SolveKind::ukp: solved = factor_mass() && solve_ukp(); break;
        case SolveKind::multipliers:
        case SolveKind::realised:
        case SolveKind::linear: APPELL_ASSERT(false, "these kinds have solvers of their own");
    }
    if (!solved || !recover_multipliers()) {
        report.status = EvalStatus::singular_mass;
        return report;
    }
    judge_dependent_rows(rank_, rows_, e_, x_, report);
    for (std::size_t i = 0; i < n_; ++i) slots[block_.x[i]] = x_[i];
    for (std::size_t i = 0; i < m_; ++i) slots[block_.lambda[i]] = lambda_[i];
    return report;
}

template class DenseSolver<double>;
template class DenseSolver<Digits50>;

}  // namespace appell
