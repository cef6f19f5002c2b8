// See constrained_solve.hpp. Kernels are written out over preallocated arrays: the common sizes (a dozen unknowns, one to three
// rows) are too small for a matrix library to pay, and every scalar type gets the same arithmetic.
#include "tape/constrained_solve.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

#include "tape/least_norm.hpp"

namespace appell {

namespace {

// beyond this the bordered matrix is allocated when it is first needed: with a regular M it never is
constexpr std::size_t k_bordered_at_once = 768;

template <class T>
double as_double(const T& x) {
    return static_cast<double>(x);
}

template <class T>
Real<T> magnitude(const T& x) {
    using std::abs;
    if constexpr (IsComplex<T>::value)
        return abs(x.real()) + abs(x.imag());  // a norm that is cheap and orders pivots well enough
    else
        return abs(x);
}

template <class T>
T dot(const T* x, const T* y, std::size_t n) {
    T sum(0);
    std::size_t i = 0;
    // a long sum in four parts: it would wait for each addition otherwise
    if (n >= 16) {
        std::array<T, 4> parts{T(0), T(0), T(0), T(0)};
        for (; i + 4 <= n; i += 4)
            for (std::size_t k = 0; k < 4; ++k) parts[k] += x[i + k] * y[i + k];
        sum = (parts[0] + parts[1]) + (parts[2] + parts[3]);
    }
    for (; i < n; ++i) sum += x[i] * y[i];
    return sum;
}

template <class T>
void add_multiple(T* y, const T& factor, const T* x, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) y[i] += factor * x[i];
}

template <class R>
R epsilon() {
    return std::numeric_limits<R>::epsilon();
}

}  // namespace

RowColumns::RowColumns(const SolveBlock& block) : reach(block.rows) {
    const std::size_t count = block.mass_blocks.size();
    std::vector<std::size_t> block_of(block.size), first_row(count, block.rows), begin(count);
    for (std::size_t i = 0; i < count; ++i)
        for (const std::uint32_t column : block.mass_blocks[i]) block_of[column] = i;
    for (const MatrixEntry& e : block.A) {
        std::size_t& first = first_row[block_of[e.column]];
        first = std::min<std::size_t>(first, e.row);
    }
    block_order.resize(count);
    std::iota(block_order.begin(), block_order.end(), std::size_t{0});
    std::stable_sort(block_order.begin(), block_order.end(),
                     [&](std::size_t a, std::size_t b) { return first_row[a] < first_row[b]; });
    std::size_t columns = 0;
    for (const std::size_t i : block_order) {
        begin[i] = columns;
        columns += block.mass_blocks[i].size();
    }
    for (const MatrixEntry& e : block.A) {
        const std::size_t i = block_of[e.column];
        const Range whole{begin[i], begin[i] + block.mass_blocks[i].size()};
        Range& row = reach[e.row];
        row = row.begin == row.end ? whole : Range{std::min(row.begin, whole.begin), std::max(row.end, whole.end)};
    }
    for (const Range& row : reach) entries += row.end - row.begin;
}

template <class T>
ConstrainedSolver<T>::ConstrainedSolver(const SolveBlock& block)
    : n_(block.size), m_(block.rows), f_slots_(block.f), b_slots_(block.b), lambda_slots_(block.lambda) {
    // columns in block order; within a block the order of M's columns stays, so the lower triangle stays lower
    std::vector<std::uint32_t> position(n_), block_of(n_);
    RowColumns columns_of_rows(block);
    reach_ = std::move(columns_of_rows.reach);
    std::uint32_t offset = 0;
    for (const std::size_t index : columns_of_rows.block_order) {
        const std::vector<std::uint32_t>& columns = block.mass_blocks[index];
        const auto begin = static_cast<std::uint32_t>(column_of_.size()), size = static_cast<std::uint32_t>(columns.size());
        for (const std::uint32_t column : columns) {
            position[column] = static_cast<std::uint32_t>(column_of_.size());
            block_of[column] = static_cast<std::uint32_t>(blocks_.size());
            column_of_.push_back(column);
        }
        blocks_.push_back({begin, size, offset});
        offset += size * size;
    }
    APPELL_ASSERT(column_of_.size() == n_, "the mass blocks do not cover the columns");
    for (const MatrixEntry& e : block.M) {
        const Block& home = blocks_[block_of[e.row]];
        mass_.push_back({e.slot, home.offset + (position[e.row] - home.begin) * home.size + (position[e.column] - home.begin)});
        mass_bordered_.push_back({e.slot, static_cast<std::uint32_t>(position[e.row] * n_ + position[e.column])});
    }
    for (const MatrixEntry& e : block.A) {
        rows_.push_back({e.slot, static_cast<std::uint32_t>(e.row * n_ + position[e.column])});
        touches_.push_back({e.row, block_of[e.column]});
    }
    const auto key = [](const Touch& t) { return std::pair(t.row, t.block); };
    std::sort(touches_.begin(), touches_.end(), [&](const Touch& a, const Touch& b) { return key(a) < key(b); });
    touches_.erase(
        std::unique(touches_.begin(), touches_.end(), [&](const Touch& a, const Touch& b) { return key(a) == key(b); }),
        touches_.end());
    f_slots_.clear();
    for (const std::uint32_t column : column_of_) {
        f_slots_.push_back(block.f[column]);
        x_slots_.push_back(block.x[column]);
    }
    if constexpr (!IsComplex<T>::value) {
        L_.resize(offset);
        inverse_diagonal_.resize(n_);
    }
    A_.resize(m_ * n_);
    Q_.resize(m_ * n_);
    R_.resize(m_ * m_);
    W_.resize(m_ * m_);
    length_.resize(m_);
    left_.resize(m_);
    filled_.resize(m_);
    pivot_.resize(m_);
    for (std::vector<T>* v : {&lambda_, &w_, &part_}) v->resize(m_);
    b_.resize(b_slots_.size());  // and behind it how long the rows are in general, where that is far apart
    x_.resize(n_);
    rhs_.resize(n_ + m_);
    scratch_.resize(n_ + m_);
    row_scale_.resize(n_ + m_);
    column_scale_.resize(n_ + m_);
    row_order_.resize(n_ + m_);
    column_order_.resize(n_ + m_);
    using std::pow;
    given_growth_ = block.growth;
    least_pivot_ = pow(epsilon<R>(), R(2) / R(3));
    if (IsComplex<T>::value || n_ + m_ <= k_bordered_at_once) B_.resize(bordered_entries());
}

// f into x_, A into A_, b into b_, M into L_
template <class T>
void ConstrainedSolver<T>::gather(const T* slots) {
    std::fill(A_.begin(), A_.end(), T(0));
    for (const Target& t : rows_) A_[t.offset] = slots[t.slot];
    for (std::size_t i = 0; i < n_; ++i) x_[i] = slots[f_slots_[i]];
    for (std::size_t i = 0; i < b_.size(); ++i) b_[i] = slots[b_slots_[i]];
    if constexpr (!IsComplex<T>::value) {
        std::fill(L_.begin(), L_.end(), T(0));
        for (const Target& t : mass_) L_[t.offset] = slots[t.slot];
    }
}

template <class T>
bool ConstrainedSolver<T>::operands_finite(const T* slots) const {
    bool finite = true;
    for (const Target& t : mass_) finite &= is_finite(slots[t.slot]);
    for (const Target& t : rows_) finite &= is_finite(slots[t.slot]);
    for (const Slot slot : f_slots_) finite &= is_finite(slots[slot]);
    for (const Slot slot : b_slots_) finite &= is_finite(slots[slot]);
    return finite;
}

// M = L L' by blocks; false when a pivot is close to the round-off of its diagonal entry
template <class T>
bool ConstrainedSolver<T>::factor_mass() {
    using std::sqrt;
    growth_ = 1;
    // NOTE: a pivot this small has lost a third of its digits. The bordered matrix is slower and always at least as good, so it
    // takes over well before the pivot is noise.
    const R least = least_pivot_;
    for (const Block& block : blocks_) {
        T* const L = L_.data() + block.offset;
        const std::size_t size = block.size;
        for (std::size_t j = 0; j < size; ++j) {
            T* const row = L + j * size;
            const T diagonal = row[j];
            for (std::size_t i = 0; i < j; ++i)
                row[i] = (row[i] - dot(row, L + i * size, i)) * inverse_diagonal_[block.begin + i];
            const T pivot = diagonal - dot(row, row, j);
            if constexpr (!IsComplex<T>::value) {
                if (!(pivot > least * diagonal)) return false;
                if (pivot < diagonal) growth_ = std::max(growth_, as_double(diagonal / pivot));
            }
            row[j] = sqrt(pivot);
            inverse_diagonal_[block.begin + j] = T(1) / row[j];
        }
    }
    growth_ = std::max(std::sqrt(growth_), given_growth_);
    return true;
}

// v = L^-1 v on one block
template <class T>
void ConstrainedSolver<T>::forward(T* v, const Block& block) const {
    const T* row = L_.data() + block.offset;
    T* const part = v + block.begin;
    for (std::size_t j = 0; j < block.size; ++j, row += block.size)
        part[j] = (part[j] - dot(row, part, j)) * inverse_diagonal_[block.begin + j];
}

// v = L^-T v on all blocks
template <class T>
void ConstrainedSolver<T>::backward(T* v) const {
    for (const Block& block : blocks_) {
        const T* const L = L_.data() + block.offset;
        T* const part = v + block.begin;
        for (std::size_t j = block.size; j-- > 0;) {
            part[j] *= inverse_diagonal_[block.begin + j];
            add_multiple(part, T(-part[j]), L + j * block.size, j);
        }
    }
}

// takes the part along a direction of Q_, the k-th, out of a row of Q_
template <class T>
void ConstrainedSolver<T>::remove_part(std::size_t row, std::size_t direction, std::size_t k) {
    Range& mine = filled_[row];
    const Range other = filled_[direction];
    const std::size_t begin = std::max(mine.begin, other.begin), end = std::min(mine.end, other.end);
    if (begin >= end) return;
    const R* const q = &Q_[direction * n_];
    R* const v = &Q_[row * n_];
    const R part = dot(q + begin, static_cast<const R*>(v + begin), end - begin);
    if (part == 0) return;
    mine = {std::min(mine.begin, other.begin), std::max(mine.end, other.end)};
    add_multiple(v + other.begin, R(-part), q + other.begin, other.end - other.begin);
    R_[k * m_ + row] += part;
    left_[row] = R(-1);  // to be measured again
}

// Q_ holds rows; they become orthonormal directions, the independent ones first in pivot_. Modified Gram-Schmidt with row
// pivoting; each chosen row is orthogonalised once more, which makes Q orthonormal to round-off.
template <class T>
void ConstrainedSolver<T>::factor_rows(double growth) {
    using std::sqrt;
    const std::size_t n = n_, m = m_;
    const auto measure = [&](std::size_t row) {
        const R* const v = Q_.data() + row * n + filled_[row].begin;
        const std::size_t size = filled_[row].end - filled_[row].begin;
        return R(sqrt(dot(v, v, size)));
    };
    // scale the rows to unit length: what is dependent must not depend on the units of a row. A row that is small against the
    // others to round-off counts as zero, each of them measured by how long it is in general.
    R longest(0);
    const auto relative = [&](std::size_t j) { return b_.size() == m ? length_[j] : R(length_[j] / real_part(b_[m + j])); };
    for (std::size_t j = 0; j < m; ++j) {
        pivot_[j] = static_cast<std::uint32_t>(j);
        filled_[j] = reach_[j];
        length_[j] = measure(j);
        longest = std::max(longest, relative(j));
    }
    const R round_off = R(static_cast<double>(std::max(n, m))) * epsilon<R>();
    // NOTE: where some rows follow from the others, which of them are kept is open, and one that is short for the moment would
    // bring in the round-off of a long one. There the rows keep how long they are against what they are in general.
    const bool chosen = most_rank_ < m && b_.size() == 2 * m;
    for (std::size_t j = 0; j < m; ++j) {
        if (!(relative(j) > round_off * longest))
            length_[j] = R(0);
        else if (chosen)
            length_[j] = longest * real_part(b_[m + j]);
        const R scale = length_[j] > 0 ? R(R(1) / length_[j]) : R(0);
        for (std::size_t i = filled_[j].begin; i < filled_[j].end; ++i) Q_[j * n + i] *= scale;
        left_[j] = R(-1);
    }
    // NOTE: a dependent row leaves a remainder of some n eps; forming the rows through L^-1 enlarges it by the condition of L,
    // for which the loss in M's pivots stands. The factor 100 keeps clear of both.
    const R tolerance = std::min(std::max(R(100) * round_off * R(growth), R(k_dependent_row)), R(1e-6));
    std::fill(R_.begin(), R_.end(), R(0));
    rank_ = 0;
    for (std::size_t k = 0; k < std::min({n, m, most_rank_}); ++k) {
        // the longest remainder; earlier rows are preferred among equals, so that the choice does not flicker
        std::size_t best = k;
        R best_length(0);
        for (std::size_t j = k; j < m; ++j) {
            R& length = left_[pivot_[j]];
            if (length < 0) length = measure(pivot_[j]);
            if (length > R(1.001) * best_length) {
                best_length = length;
                best = j;
            }
        }
        if (!(best_length > tolerance)) break;
        std::rotate(pivot_.begin() + static_cast<std::ptrdiff_t>(k), pivot_.begin() + static_cast<std::ptrdiff_t>(best),
                    pivot_.begin() + static_cast<std::ptrdiff_t>(best) + 1);
        const std::size_t p = pivot_[k];
        for (std::size_t i = 0; i < k; ++i) remove_part(p, pivot_[i], i);
        const R length = measure(p);
        R_[k * m + p] = length;
        const R inverse = R(1) / length;
        for (std::size_t i = filled_[p].begin; i < filled_[p].end; ++i) Q_[p * n + i] *= inverse;
        for (std::size_t j = k + 1; j < m; ++j) remove_part(pivot_[j], p, k);
        rank_ = k + 1;
    }
    std::sort(pivot_.begin() + static_cast<std::ptrdiff_t>(rank_), pivot_.end());
}

template <class T>
void ConstrainedSolver<T>::judge(std::size_t row, const R& disagreement, const R& scale, SolveReport& report) const {
    const double relative = as_double(disagreement / (scale + R(k_consistency_floor)));
    if (!(relative > report.inconsistency)) return;
    report.inconsistency = relative;
    report.inconsistent_row = static_cast<std::uint32_t>(row);
    if (report.inconsistency > k_consistency_tolerance) report.status = EvalStatus::inconsistent_rows;
}

// M positive definite and one row, by far the most frequent case: z = L^-1 f + g lambda with g = L^-1 A' and g z = b. False when
// the row vanishes or is not finite.
template <class T>
bool ConstrainedSolver<T>::solve_one_row() {
    if constexpr (!IsComplex<T>::value) {
        for (const Touch& t : touches_) forward(A_.data(), blocks_[t.block]);
        const T square = dot(A_.data(), A_.data(), n_);
        if (!(square > 0)) return false;
        for (const Block& block : blocks_) forward(x_.data(), block);
        lambda_[0] = (b_[0] - dot(A_.data(), x_.data(), n_)) / square;
        add_multiple(x_.data(), lambda_[0], A_.data(), n_);
        backward(x_.data());
        rank_ = 1;
        return true;
    }
    return false;
}

// M positive definite: z = L' x satisfies Q z = R'^-1 b and differs from L^-1 f by a combination of Q's directions only
template <class T>
void ConstrainedSolver<T>::solve_by_blocks(SolveReport& report) {
    if constexpr (!IsComplex<T>::value) {
        const std::size_t n = n_, m = m_;
        for (const Block& block : blocks_) forward(x_.data(), block);
        if (m != 0) {
            if (m > 1)  // a single row has been through solve_one_row
                for (const Touch& t : touches_) forward(&A_[t.row * n], blocks_[t.block]);
            std::copy(A_.begin(), A_.end(), Q_.begin());
            factor_rows(growth_);
            R scale(0);
            if (rank_ < m) scale = magnitude(T(dot(x_.data(), x_.data(), n)));
            for (std::size_t k = 0; k < rank_; ++k) {
                const std::size_t p = pivot_[k];
                T w = b_[p] / length_[p];
                for (std::size_t i = 0; i < k; ++i) w -= R_[i * m + p] * w_[i];
                w_[k] = w / R_[k * m + p];
                const Range at = filled_[p];
                const R* const q = Q_.data() + p * n + at.begin;
                T* const x = x_.data() + at.begin;
                part_[k] = w_[k] - dot(q, static_cast<const T*>(x), at.end - at.begin);
                add_multiple(x, part_[k], q, at.end - at.begin);
            }
            for (std::size_t k = rank_; k-- > 0;) {
                T value = part_[k];
                for (std::size_t i = k + 1; i < rank_; ++i) value -= R_[k * m + pivot_[i]] * part_[i];
                part_[k] = value / R_[k * m + pivot_[k]];
            }
            for (std::size_t k = 0; k < rank_; ++k) lambda_[pivot_[k]] = part_[k] / length_[pivot_[k]];
            if (rank_ < m) {
                using std::sqrt;
                scale = sqrt(scale) + sqrt(magnitude(T(dot(x_.data(), x_.data(), n))));
                for (std::size_t j = rank_; j < m; ++j) {
                    const std::size_t p = pivot_[j];
                    T implied(0);
                    for (std::size_t k = 0; k < rank_; ++k) implied += R_[k * m + p] * w_[k];
                    const T given = length_[p] > 0 ? T(b_[p] / length_[p]) : b_[p];
                    judge(p, magnitude(T(given - implied)), scale + magnitude(given), report);
                    for (std::size_t k = rank_; k-- > 0;) {
                        T value = R_[k * m + p];
                        for (std::size_t i = k + 1; i < rank_; ++i) value -= R_[k * m + pivot_[i]] * W_[i * m + j];
                        W_[k * m + j] = value / R_[k * m + pivot_[k]];
                    }
                }
                spread_multipliers(report);
            }
        }
        backward(x_.data());
    }
}

// the multipliers of the independent rows are in lambda_, and W_ has what the others are made of
template <class T>
void ConstrainedSolver<T>::spread_multipliers(SolveReport& report) {
    report.redundant = true;
    const std::size_t m = m_, count = m - rank_;
    if (B_.size() < count * count) B_.resize(count * count);
    for (std::size_t i = 0; i < m; ++i) {
        left_[i] = length_[pivot_[i]] > 0 ? length_[pivot_[i]] : R(1);
        part_[i] = lambda_[pivot_[i]];
    }
    LeastNorm<T>{rank_, count, W_.data() + rank_, m, left_.data(), part_.data(), row_order_.data(), B_.data()}.spread();
    for (std::size_t i = 0; i < m; ++i) lambda_[pivot_[row_order_[i]]] = part_[i];
}

// LU with complete pivoting of B_ (size x size) in place; the rank where pivots fall to the tolerance of the first
template <class T>
std::size_t ConstrainedSolver<T>::factor_full(std::size_t size, double tolerance) {
    for (std::size_t i = 0; i < size; ++i) row_order_[i] = column_order_[i] = static_cast<std::uint32_t>(i);
    R first(0);
    for (std::size_t k = 0; k < size; ++k) {
        std::size_t row = k, column = k;
        R best(-1);
        for (std::size_t i = k; i < size; ++i)
            for (std::size_t j = k; j < size; ++j)
                if (const R value = magnitude(B_[i * size + j]); value > best) best = value, row = i, column = j;
        if (k == 0) first = best;
        if (!(best > R(tolerance) * first) || !(best > 0)) return k;
        if (row != k) {
            std::swap(row_order_[k], row_order_[row]);
            std::swap_ranges(&B_[k * size], &B_[k * size] + size, &B_[row * size]);
        }
        if (column != k) {
            std::swap(column_order_[k], column_order_[column]);
            for (std::size_t i = 0; i < size; ++i) std::swap(B_[i * size + k], B_[i * size + column]);
        }
        const T inverse = T(1) / B_[k * size + k];
        for (std::size_t i = k + 1; i < size; ++i) {
            T& factor = B_[i * size + k];
            if (magnitude(factor) == 0) continue;
            factor *= inverse;
            add_multiple(B_.data() + i * size + k + 1, T(-factor), B_.data() + k * size + k + 1, size - k - 1);
        }
    }
    return size;
}

// solves with the factors of factor_full; the solution takes the place of the right-hand side
template <class T>
void ConstrainedSolver<T>::substitute_full(std::size_t size, T* rhs) {
    T* const v = scratch_.data();
    for (std::size_t i = 0; i < size; ++i) v[i] = rhs[row_order_[i]] - dot(&B_[i * size], v, i);
    for (std::size_t i = size; i-- > 0;)
        v[i] = (v[i] - dot(B_.data() + i * size + i + 1, v + i + 1, size - i - 1)) / B_[i * size + i];
    for (std::size_t i = 0; i < size; ++i) rhs[column_order_[i]] = v[i];
}

// [M -A'; A 0] over the independent rows, scaled by rows and columns, and its right-hand side
template <class T>
void ConstrainedSolver<T>::fill_bordered(const T* slots) {
    const std::size_t n = n_, size = n + rank_;
    std::fill(B_.begin(), B_.begin() + static_cast<std::ptrdiff_t>(size * size), T(0));
    for (const Target& t : mass_bordered_) {
        const std::size_t i = t.offset / n, j = t.offset % n;
        B_[i * size + j] = B_[j * size + i] = slots[t.slot];
    }
    for (std::size_t k = 0; k < rank_; ++k)
        for (std::size_t j = 0; j < n; ++j) {
            const T& a = A_[pivot_[k] * n + j];
            B_[(n + k) * size + j] = a;
            B_[j * size + n + k] = -a;
        }
    std::copy(x_.begin(), x_.end(), rhs_.begin());
    for (std::size_t k = 0; k < rank_; ++k) rhs_[n + k] = b_[pivot_[k]];
    // rows of A at unit length; then three rounds of scaling by the root of the largest entry bring all rows and columns near one
    using std::sqrt;
    std::fill(row_scale_.begin(), row_scale_.end(), R(1));
    std::fill(column_scale_.begin(), column_scale_.end(), R(1));
    for (std::size_t k = 0; k < rank_; ++k) row_scale_[n + k] = column_scale_[n + k] = R(1) / length_[pivot_[k]];
    for (int round = 0; round < 3; ++round) {
        for (std::size_t i = 0; i < size; ++i) {
            R row(0), column(0);
            for (std::size_t j = 0; j < size; ++j) {
                row = std::max(row, R(magnitude(B_[i * size + j]) * row_scale_[i] * column_scale_[j]));
                column = std::max(column, R(magnitude(B_[j * size + i]) * row_scale_[j] * column_scale_[i]));
            }
            if (row > 0) row_scale_[i] /= sqrt(row);
            if (column > 0) column_scale_[i] /= sqrt(column);
        }
    }
    for (std::size_t i = 0; i < size; ++i) {
        for (std::size_t j = 0; j < size; ++j) B_[i * size + j] *= row_scale_[i] * column_scale_[j];
        rhs_[i] *= row_scale_[i];
    }
}

// the unknown of x with the largest part in a null vector of the factored matrix
template <class T>
std::uint32_t ConstrainedSolver<T>::free_column(std::size_t size, std::size_t rank) {
    std::vector<T>& v = rhs_;
    std::fill(v.begin(), v.end(), T(0));
    for (std::size_t i = rank; i-- > 0;) v[i] = -B_[i * size + rank];
    for (std::size_t i = rank; i-- > 0;) {
        v[i] -= dot(B_.data() + i * size + i + 1, v.data() + i + 1, rank - i - 1);
        v[i] = v[i] / B_[i * size + i];
    }
    v[rank] = T(1);
    std::uint32_t best = 0;
    R largest(-1);
    for (std::size_t i = 0; i <= rank; ++i) {
        const std::uint32_t column = column_order_[i];
        if (column >= n_) continue;
        if (const R value = magnitude(v[i]) * column_scale_[column]; value > largest) {
            largest = value;
            best = column_of_[column];
        }
    }
    return best;
}

template <class T>
void ConstrainedSolver<T>::solve_bordered(const T* slots, SolveReport& report) {
    const std::size_t n = n_, m = m_;
    if (B_.size() < bordered_entries()) B_.resize(bordered_entries());
    for (std::size_t i = 0; i < A_.size(); ++i) Q_[i] = real_part(A_[i]);
    factor_rows(1);
    fill_bordered(slots);
    const std::size_t size = n + rank_;
    const double tolerance = 100 * static_cast<double>(size) * as_double(epsilon<R>());
    if (const std::size_t found = factor_full(size, tolerance); found < size) {
        report.status = EvalStatus::singular_mass;
        report.singular_column = free_column(size, found);
        return;
    }
    substitute_full(size, rhs_.data());
    for (std::size_t i = 0; i < n; ++i) x_[i] = rhs_[i] * column_scale_[i];
    for (std::size_t k = 0; k < rank_; ++k) lambda_[pivot_[k]] = rhs_[n + k] * column_scale_[n + k];
    if (rank_ == m) return;

    // the dependent rows: consistent? and in terms of the independent ones, by the square system Q (A_S)' W = Q (A_j)', all rows
    // of unit length
    R speed(0);
    for (std::size_t i = 0; i < n; ++i) speed = std::max(speed, magnitude(x_[i]));
    for (std::size_t j = rank_; j < m; ++j) {
        const std::size_t p = pivot_[j];
        const T implied = dot(&A_[p * n], x_.data(), n);
        const R length = length_[p] > 0 ? length_[p] : R(1);
        judge(p, magnitude(T(b_[p] - implied)) / length, speed + magnitude(b_[p]) / length, report);
    }
    const auto project = [&](std::size_t k, std::size_t row) {
        T sum(0);
        for (std::size_t i = 0; i < n; ++i) sum += Q_[pivot_[k] * n + i] * A_[row * n + i];
        return T(sum / length_[row]);
    };
    for (std::size_t k = 0; k < rank_; ++k)
        for (std::size_t i = 0; i < rank_; ++i) B_[k * rank_ + i] = project(k, pivot_[i]);
    const std::size_t regular = factor_full(rank_, 0);
    APPELL_ASSERT(regular == rank_, "the chosen rows are independent");
    for (std::size_t j = rank_; j < m; ++j) {
        for (std::size_t k = 0; k < rank_; ++k) part_[k] = length_[pivot_[j]] > 0 ? project(k, pivot_[j]) : T(0);
        substitute_full(rank_, part_.data());
        for (std::size_t k = 0; k < rank_; ++k) W_[k * m + j] = part_[k];
    }
    spread_multipliers(report);
}

template <class T>
SolveReport ConstrainedSolver<T>::solve(T* slots) {
    SolveReport report;
    gather(slots);
    rank_ = 0;
    // NOTE: operands that are not finite are looked for only off the fast paths: on these they show in x and lambda
    const bool positive = !IsComplex<T>::value && factor_mass();
    if (positive && m_ == 1 && solve_one_row()) {
        report.rank = 1;
    } else {
        if (!(positive && m_ == 0) && !operands_finite(slots)) {
            report.status = EvalStatus::not_finite;
            return report;
        }
        std::fill(lambda_.begin(), lambda_.end(), T(0));
        if (positive) {
            solve_by_blocks(report);
        } else {
            report.bordered = !IsComplex<T>::value;
            solve_bordered(slots, report);
        }
        report.rank = static_cast<std::uint32_t>(rank_);
        if (rank_ != 0) report.smallest_pivot = as_double(R_[(rank_ - 1) * m_ + pivot_[rank_ - 1]]);
        if (m_ != 0) report.weakest_row = pivot_[rank_ < m_ ? rank_ : rank_ - 1];
    }
    if (report.status == EvalStatus::singular_mass) return report;
    bool finite = true;
    for (std::size_t i = 0; i < n_; ++i) {
        slots[x_slots_[i]] = x_[i];
        finite &= is_finite(x_[i]);
    }
    for (std::size_t i = 0; i < m_; ++i) {
        slots[lambda_slots_[i]] = lambda_[i];
        finite &= is_finite(lambda_[i]);
    }
    if (!finite) report.status = EvalStatus::not_finite;
    return report;
}

template class ConstrainedSolver<double>;
template class ConstrainedSolver<std::complex<double>>;
template class ConstrainedSolver<Digits50>;

}  // namespace appell
