#include "tape/sparse_solve.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

namespace appell {

namespace {

constexpr Slot k_none = SparseElimination::k_none;
constexpr double k_epsilon = std::numeric_limits<double>::epsilon();
// of a pivot of M, relative to its diagonal entry, as the dense solve has it
constexpr double k_least_mass = 3.7e-11;
// Shares, squares of what a row has of its own: below the first it is noise of a row that depends on others; above the second two
// digits are lost at most, and nothing needs a second look; between it and the third refinement brings the digits back.
constexpr double k_dependent = 1e-11, k_plain = 1e-2, k_refined = 1e-6;
// what noise, or a constraint that is not quite satisfied, leaves of a row that depends on others: above it the row may be just
// close to them
constexpr double k_surely_dependent = 1e-13;
constexpr int k_refinements = 4;
constexpr double k_solved = 1e-10;  // relative residual
// what is left of a row that is left out in columns eliminated later, relative to its length there
constexpr double k_late = 1e-3;
// Parts of a vector z with A' z = 0, relative to the row it is about: those of round-off, and those that are no more than a
// trail.
constexpr double k_null_noise = 1e-13, k_null_trail = 1e-6;
constexpr std::size_t k_most_null = 4;  // parts of such vectors, for each entry of L
// a part of such a vector that is this large against the row it is about: scales are far apart
constexpr double k_far_apart = 1e3;

// Rows that are left out may be much longer than those they are made of, as they are written. The vectors z are then nearly
// parallel, and are made independent by eliminating their largest parts one after the other. False where there are none.
template <class Part>
bool separate_vectors(std::vector<Part>& null, std::vector<std::uint32_t>& null_begin, std::size_t count_of_rows) {
    if (std::ranges::none_of(null, [](const Part& part) { return std::abs(part.value) > k_far_apart; })) return false;
    const std::size_t count = null_begin.size() - 1;
    std::vector<Part> separate;
    std::vector<std::uint32_t> begin{0}, rows;
    std::map<std::uint32_t, std::uint32_t> vector_of;  // by row that is eliminated
    std::vector<double> v(count_of_rows, 0.0), size(count_of_rows, 0.0);
    for (std::uint32_t j = 0; j < count; ++j) {
        rows.clear();
        std::set<std::uint32_t> due;  // vectors to be taken off, in order: each brings in parts of later ones alone
        const auto add = [&](std::uint32_t row, double value) {
            if (size[row] == 0) rows.push_back(row);
            v[row] += value;
            size[row] += std::abs(value);
            if (const auto at = vector_of.find(row); at != vector_of.end()) due.insert(at->second);
        };
        for (std::uint32_t k = null_begin[j]; k < null_begin[j + 1]; ++k) add(null[k].row, null[k].value);
        while (!due.empty()) {
            const std::uint32_t i = *due.begin();
            due.erase(due.begin());
            const Part& largest = separate[begin[i]];  // the first part
            const double factor = v[largest.row] / largest.value;
            for (std::uint32_t k = begin[i]; factor != 0 && k < begin[i + 1]; ++k)
                if (k == begin[i])
                    v[separate[k].row] = 0;
                else
                    add(separate[k].row, -factor * separate[k].value);
        }
        const std::size_t first = separate.size();
        for (const std::uint32_t row : rows) {
            if (std::abs(v[row]) > k_null_noise * size[row]) separate.push_back({row, v[row]});
            v[row] = size[row] = 0;
        }
        if (separate.size() > first) {
            const auto at = std::max_element(separate.begin() + static_cast<std::ptrdiff_t>(first), separate.end(),
                                             [](const Part& a, const Part& b) { return std::abs(a.value) < std::abs(b.value); });
            std::iter_swap(separate.begin() + static_cast<std::ptrdiff_t>(first), at);
            const double scale = 1 / separate[first].value;
            for (std::size_t k = first; k < separate.size(); ++k) separate[k].value *= scale;
            vector_of.emplace(separate[first].row, j);
        }
        begin.push_back(static_cast<std::uint32_t>(separate.size()));
    }
    null = std::move(separate);
    null_begin = std::move(begin);
    return true;
}

}  // namespace

SparseSolver::SparseSolver(const SolveBlock& block) : plan_(*block.sparse), block_(block) {
    const std::size_t count = plan_.unknown.size();
    U_.resize(plan_.entry_column.size());
    L_.resize(plan_.entry_column.size());
    for (std::vector<double>* v : {&inverse_, &y_, &rhs_}) v->resize(count);
    length_.resize(plan_.rows);
    share_.resize(plan_.rows);
    dropped_.reserve(plan_.rows);
    // of dependent rows: nothing is to be allocated when they appear, or trail further than before
    null_.reserve(k_most_null * plan_.entry_column.size() + count);
    null_begin_.reserve(plan_.rows + 1);
    open_.reserve(count);
    is_open_.resize(count);
    P_.reserve(std::max(count, plan_.entry_column.size()));
    for (std::vector<double>* v : {&z_, &r_, &p_, &s_, &along_, &diagonal_}) v->reserve(plan_.rows);
}

// L D L' and, with it, D^-1 L^-1 of the right side in y_. False where M is not positive definite.
bool SparseSolver::factor(const double* slots, double dependent) {
    const std::uint32_t* const first = plan_.first_entry.data();
    const std::uint32_t* const column = plan_.entry_column.data();
    const Slot* const slot = plan_.entry_slot.data();
    const std::uint32_t* const first_pair = plan_.first_pair.data();
    const SparseElimination::Pair* const pairs = plan_.pairs.data();
    const std::size_t n = plan_.columns;
    dropped_.clear();
    least_share_ = 1;
    weakest_ = 0;
    positive_ = true;
    for (std::size_t i = 0; i < plan_.unknown.size(); ++i) {
        const std::uint32_t unknown = plan_.unknown[i];
        double right = slots[plan_.right[i]];  // becomes D^-1 L^-1 of it
        double of_columns = 0, of_rows = 0;
        const bool row = unknown >= n;
        for (std::uint32_t e = first[i]; e < first[i + 1]; ++e) {
            double value = slot[e] == k_none ? 0.0 : slots[slot[e]];
            for (std::uint32_t p = first_pair[e]; p < first_pair[e + 1]; ++p) value -= U_[pairs[p].mine] * L_[pairs[p].other];
            const std::uint32_t k = column[e];
            const double scaled = value * inverse_[k];
            U_[e] = value;
            L_[e] = scaled;
            right -= value * y_[k];
            (plan_.unknown[k] < n ? of_columns : of_rows) += value * scaled;
        }
        if (!row) {
            const double diagonal = slots[plan_.diagonal[i]], pivot = diagonal - (of_columns + of_rows);
            if (!(pivot > k_least_mass * diagonal) || !(diagonal > 0)) {
                positive_ = false;
                failed_ = unknown;
                return false;
            }
            inverse_[i] = 1 / pivot;
            y_[i] = right * inverse_[i];
            continue;
        }
        // the row's square in the metric of M: what columns before it have taken, and what those after it will
        const std::uint32_t r = unknown - static_cast<std::uint32_t>(n);
        const double pivot = of_columns + of_rows;
        double length = of_columns;
        for (std::uint32_t k = plan_.first_part[r]; k < plan_.first_part[r + 1]; ++k)
            if (const SparseElimination::RowPart& part = plan_.parts[k]; part.late)
                length += slots[part.value] * slots[part.value] / slots[plan_.diagonal[part.column]];
        length_[r] = length;
        const double share = length > 0 ? pivot / length : 0;
        share_[r] = share;
        if (!(share > dependent)) {
            if (!(share <= dependent)) return false;  // not a number
            inverse_[i] = y_[i] = 0;
            dropped_.push_back(r);
            continue;
        }
        if (share < least_share_) {
            least_share_ = share;
            weakest_ = r;
        }
        inverse_[i] = -1 / pivot;
        y_[i] = right * inverse_[i];
    }
    return true;
}

// A row that early columns do not tell from others must not be told by late ones either.
bool SparseSolver::late_parts_vanish(const double* slots) const {
    for (const std::uint32_t r : dropped_)
        for (std::uint32_t k = plan_.first_part[r]; k < plan_.first_part[r + 1]; ++k) {
            const SparseElimination::RowPart& part = plan_.parts[k];
            if (!part.late) continue;
            const double mass = slots[plan_.diagonal[part.column]];
            if (!(U_[part.entry] * U_[part.entry] <= k_late * k_late * length_[r] * mass)) return false;
        }
    return true;
}

// L'^-1 y, in place
void SparseSolver::substitute(std::vector<double>& y) const {
    for (std::size_t i = y.size(); i-- > 0;) {
        const double value = y[i];
        for (std::uint32_t e = plan_.first_entry[i]; e < plan_.first_entry[i + 1]; ++e) y[plan_.entry_column[e]] -= L_[e] * value;
    }
}

// One correction of y_ by its residual. Returns the largest residual of a row that is kept, and of a column, relative to the size
// of their terms, as they were before the correction.
SparseSolver::Residual SparseSolver::refine(const double* slots) {
    const std::size_t count = y_.size(), n = plan_.columns;
    std::vector<double>& size = P_;
    size.assign(count, 0.0);
    for (std::size_t i = 0; i < count; ++i) {
        rhs_[i] = slots[plan_.right[i]];
        size[i] = std::abs(rhs_[i]);
        if (plan_.diagonal[i] == k_none) continue;
        const double term = slots[plan_.diagonal[i]] * y_[i];
        rhs_[i] -= term;
        size[i] += std::abs(term);
    }
    for (std::size_t i = 0; i < count; ++i)
        for (std::uint32_t e = plan_.first_entry[i]; e < plan_.first_entry[i + 1]; ++e) {
            if (plan_.entry_slot[e] == k_none) continue;
            const double value = slots[plan_.entry_slot[e]];
            const std::uint32_t k = plan_.entry_column[e];
            rhs_[i] -= value * y_[k];
            rhs_[k] -= value * y_[i];
            size[i] += std::abs(value * y_[k]);
            size[k] += std::abs(value * y_[i]);
        }
    Residual before;
    for (std::size_t i = 0; i < count; ++i) {
        if (inverse_[i] == 0 || !(size[i] > 0)) continue;  // NOTE: the inverse of a column's pivot is never zero
        double& largest = plan_.unknown[i] < n ? before.of_columns : before.of_rows;
        largest = std::max(largest, std::abs(rhs_[i]) / size[i]);
    }
    for (std::size_t i = 0; i < count; ++i) {
        for (std::uint32_t e = plan_.first_entry[i]; e < plan_.first_entry[i + 1]; ++e)
            rhs_[i] -= U_[e] * rhs_[plan_.entry_column[e]];
        rhs_[i] *= inverse_[i];
    }
    substitute(rhs_);
    for (std::size_t i = 0; i < count; ++i) y_[i] += rhs_[i];
    return before;
}

// b of the rows left out against what the others make of it; sizes are those of the accelerations that the row is about
void SparseSolver::check_dropped(const double* slots, SolveReport& report) const {
    for (const std::uint32_t r : dropped_) {
        const double b = slots[block_.b[r]];
        double sum = 0, moves = 0, forced = 0;
        for (std::uint32_t k = plan_.first_part[r]; k < plan_.first_part[r + 1]; ++k) {
            const SparseElimination::RowPart& part = plan_.parts[k];
            const double mass = slots[plan_.diagonal[part.column]], x = y_[part.column], f = slots[plan_.right[part.column]];
            if (part.value != k_none) sum += slots[part.value] * x;
            moves += mass * x * x;
            forced += f * f / mass;
        }
        const double length = length_[r] > 0 ? std::sqrt(length_[r]) : 1;
        const double relative =
            std::abs(b - sum) / length / (std::sqrt(moves) + std::sqrt(forced) + std::abs(b) / length + k_consistency_floor);
        if (!(relative > report.inconsistency)) continue;
        report.inconsistency = relative;
        report.inconsistent_row = r;
        if (relative > k_consistency_tolerance) report.status = EvalStatus::inconsistent_rows;
    }
}

// z = L'^-1 e for each row left out, by descending the elimination tree, without the parts below `noise`. False where they have
// more parts than that.
bool SparseSolver::find_null_vectors(const double* slots, double noise, std::size_t most_parts) {
    const std::size_t n = plan_.columns;
    is_open_.assign(y_.size(), false);
    null_.clear();
    null_begin_.assign(1, 0);
    std::vector<double>& v = rhs_;
    std::fill(v.begin(), v.end(), 0.0);
    // of a row, and of a column eliminated late, in the metric of M
    const auto size_of = [&](std::uint32_t place) {
        const std::uint32_t unknown = plan_.unknown[place];
        return std::sqrt(unknown < n ? slots[plan_.diagonal[place]] : length_[unknown - n]);
    };
    for (const std::uint32_t r : dropped_) {
        const double least = noise * std::sqrt(length_[r]);
        const std::uint32_t start = plan_.place_of_row[r];
        open_.assign(1, start);
        is_open_[start] = true;
        v[start] = 1;
        while (!open_.empty()) {
            std::pop_heap(open_.begin(), open_.end());
            const std::uint32_t i = open_.back();
            open_.pop_back();
            is_open_[i] = false;
            const double value = v[i];
            v[i] = 0;
            if (i != start && !(std::abs(value) * size_of(i) > least)) continue;
            if (plan_.unknown[i] >= n) null_.push_back({plan_.unknown[i] - static_cast<std::uint32_t>(n), value});
            for (std::uint32_t e = plan_.first_entry[i]; e < plan_.first_entry[i + 1]; ++e) {
                const std::uint32_t k = plan_.entry_column[e];
                if (plan_.first_entry[k] == plan_.first_entry[k + 1]) continue;  // a column of M: x has no part in it
                v[k] -= L_[e] * value;
                if (is_open_[k]) continue;
                is_open_[k] = true;
                open_.push_back(k);
                std::push_heap(open_.begin(), open_.end());
            }
        }
        null_begin_.push_back(static_cast<std::uint32_t>(null_.size()));
        if (null_.size() > most_parts) return false;
    }
    return true;
}

// lambda of least norm: the part along the vectors z with A' z = 0 is taken out. Their normal equations by conjugate gradients,
// which is one step where they have no row in common.
void SparseSolver::spread_multipliers(const double* slots) {
    // Off the constraints a dependence of a few rows among themselves trails off along all rows before them, by as much as they
    // are violated. Such trails are cut where they would cost the square of the rows, and forces made good afterwards.
    const bool cut = !find_null_vectors(slots, k_null_noise, k_most_null * plan_.entry_column.size());
    if (cut) (void)find_null_vectors(slots, k_null_trail, static_cast<std::size_t>(-1));
    // what a short row was given for long ones is taken from it in a second pass, down to the round-off of what is left
    const int passes = separate_vectors(null_, null_begin_, plan_.rows) ? 2 : 1;
    const std::size_t count = dropped_.size();
    along_.assign(plan_.rows, 0.0);
    for (std::vector<double>* w : {&z_, &r_, &p_, &s_, &diagonal_}) w->assign(count, 0.0);
    const auto products = [&](const std::vector<double>& rows, std::vector<double>& out) {
        for (std::size_t j = 0; j < count; ++j) {
            double sum = 0;
            for (std::uint32_t k = null_begin_[j]; k < null_begin_[j + 1]; ++k) sum += null_[k].value * rows[null_[k].row];
            out[j] = sum;
        }
    };
    const auto combine = [&](const std::vector<double>& by, std::vector<double>& rows) {
        std::fill(rows.begin(), rows.end(), 0.0);
        for (std::size_t j = 0; j < count; ++j)
            for (std::uint32_t k = null_begin_[j]; k < null_begin_[j + 1]; ++k) rows[null_[k].row] += null_[k].value * by[j];
    };
    for (std::size_t j = 0; j < count; ++j) {
        for (std::uint32_t k = null_begin_[j]; k < null_begin_[j + 1]; ++k) diagonal_[j] += null_[k].value * null_[k].value;
        if (diagonal_[j] == 0) diagonal_[j] = 1;  // of a vector without parts
    }
    for (int pass = 0; pass < passes; ++pass) {
        for (std::size_t i = 0; i < plan_.rows; ++i) along_[i] = y_[plan_.place_of_row[i]];
        products(along_, r_);
        std::ranges::fill(z_, 0.0);
        double rho = 0, rho_first = 0;
        for (std::size_t j = 0; j < count; ++j) rho += r_[j] * (p_[j] = r_[j] / diagonal_[j]);
        rho_first = rho;
        for (std::size_t step = 0; step < 2 * count + 10 && rho > k_epsilon * k_epsilon * rho_first && rho > 0; ++step) {
            combine(p_, along_);
            products(along_, s_);
            double curvature = 0;
            for (std::size_t j = 0; j < count; ++j) curvature += p_[j] * s_[j];
            if (!(curvature > 0)) break;
            const double alpha = rho / curvature, before = rho;
            rho = 0;
            for (std::size_t j = 0; j < count; ++j) {
                z_[j] += alpha * p_[j];
                r_[j] -= alpha * s_[j];
                rho += r_[j] * r_[j] / diagonal_[j];
            }
            for (std::size_t j = 0; j < count; ++j) p_[j] = r_[j] / diagonal_[j] + rho / before * p_[j];
        }
        combine(z_, along_);
        for (std::size_t i = 0; i < plan_.rows; ++i) y_[plan_.place_of_row[i]] -= along_[i];
    }
    for (int k = 0; cut && k < k_refinements && refine(slots).of_columns > 64 * k_epsilon; ++k) {
    }
}

bool SparseSolver::solve(double* slots, SolveReport& report, Pivoted pivoted) {
    const std::size_t n = plan_.columns, m = plan_.rows;
    const bool absent = pivoted == Pivoted::absent;
    report = {};
    const auto refuse = [&](std::uint32_t column, std::uint32_t row) {
        report.status = EvalStatus::needs_pivoting;
        report.singular_column = column;
        report.row = report.weakest_row = row;
        return absent;
    };
    if (!factor(slots, k_dependent)) {
        if (positive_) report.status = EvalStatus::not_finite;
        return positive_ ? absent : refuse(failed_, k_none);
    }
    // a little off the constraints it matters which of the dependent rows are kept
    if (pivoted == Pivoted::decides && (!dropped_.empty() || m > most_rank_ || least_share_ < k_refined)) return false;
    if (pivoted == Pivoted::helps && m <= most_rank_ &&
        std::ranges::any_of(dropped_, [&](std::uint32_t r) { return share_[r] > k_surely_dependent; }))
        return false;
    if (m - dropped_.size() > most_rank_) {
        // rows that depend on others on the constraints only: those of the smallest shares
        z_.assign(share_.begin(), share_.end());
        const auto last = z_.begin() + static_cast<std::ptrdiff_t>(m - most_rank_ - 1);
        std::nth_element(z_.begin(), last, z_.end());
        if (!factor(slots, *last) || m - dropped_.size() != most_rank_) return refuse(k_none, weakest_);
    }
    if (!dropped_.empty() && !late_parts_vanish(slots)) return refuse(k_none, dropped_.front());
    substitute(y_);
    if (least_share_ < k_plain || !dropped_.empty()) {
        const double good = 64 * k_epsilon;
        double residual = 0;
        for (int k = 0; k < k_refinements; ++k)
            if (residual = refine(slots).of_rows; residual <= good) break;
        if (!(residual <= k_solved)) return refuse(k_none, weakest_);
    }
    if (!dropped_.empty()) {
        check_dropped(slots, report);
        if (report.status == EvalStatus::inconsistent_rows && !absent) return false;
        spread_multipliers(slots);
        report.redundant = true;
    }
    report.rank = static_cast<std::uint32_t>(m - dropped_.size());
    report.smallest_pivot = std::sqrt(least_share_);
    report.weakest_row = dropped_.empty() ? weakest_ : *std::min_element(dropped_.begin(), dropped_.end());
    double sum = 0;  // not finite where any of them is
    for (std::size_t i = 0; i < y_.size(); ++i) {
        const std::uint32_t unknown = plan_.unknown[i];
        sum += std::abs(y_[i]);
        if (unknown < n)
            slots[block_.x[unknown]] = y_[i];
        else
            slots[block_.lambda[unknown - n]] = -y_[i];
    }
    if (!std::isfinite(sum)) report.status = EvalStatus::not_finite;
    return true;
}

std::span<const double> SparseSolver::rows(const double* slots) {
    rows_.resize(plan_.parts.size());
    for (std::size_t k = 0; k < rows_.size(); ++k) {
        const SparseElimination::RowPart& part = plan_.parts[k];
        if (!positive_)
            rows_[k] = part.value == k_none ? 0 : slots[part.value];
        else if (part.late)
            rows_[k] = slots[part.value] / std::sqrt(slots[plan_.diagonal[part.column]]);
        else
            rows_[k] = U_[part.entry] * std::sqrt(inverse_[part.column]);
    }
    return rows_;
}

// The sign of det(a b') = det [1 b'; -a 0], by the same elimination without symmetry.
bool SparseSolver::turned_over(std::span<const double> a, std::span<const double> b) {
    const std::size_t entries = plan_.entry_column.size();
    for (std::vector<double>* v : {&P_, &Q_, &lower_, &upper_}) v->assign(entries, 0.0);
    pivot_.resize(plan_.unknown.size());
    for (std::size_t k = 0; k < plan_.parts.size(); ++k) {
        const SparseElimination::RowPart& part = plan_.parts[k];
        P_[part.entry] = part.late ? b[k] : -a[k];
        Q_[part.entry] = part.late ? -a[k] : b[k];
    }
    bool negative = false;
    for (std::size_t i = 0; i < plan_.unknown.size(); ++i) {
        double pivot = plan_.unknown[i] < plan_.columns ? 1 : 0, size = pivot;
        for (std::uint32_t e = plan_.first_entry[i]; e < plan_.first_entry[i + 1]; ++e) {
            double p = P_[e], q = Q_[e];
            for (std::uint32_t k = plan_.first_pair[e]; k < plan_.first_pair[e + 1]; ++k) {
                const SparseElimination::Pair pair = plan_.pairs[k];
                p -= P_[pair.mine] * upper_[pair.other];
                q -= Q_[pair.mine] * lower_[pair.other];
            }
            const double inverse = 1 / pivot_[plan_.entry_column[e]];
            P_[e] = p;
            Q_[e] = q;
            lower_[e] = p * inverse;
            upper_[e] = q * inverse;
            pivot -= p * upper_[e];
            size += std::abs(p * upper_[e]);
        }
        // digits are lost where rows turn far, not where they turn over: shorter steps will tell
        if (!(std::abs(pivot) > 1e-8 * size)) return true;
        pivot_[i] = pivot;
        negative ^= pivot < 0;
    }
    return negative;
}

}  // namespace appell
