// See row_watch.hpp.
#include "sim/row_watch.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sim/march.hpp"
#include "sim/row_watch_limits.hpp"

namespace appell {

using namespace row_watch;

RowWatch::RowWatch(const Motion& motion, Projector& velocity)
    : velocity_(velocity), columns_(motion.speeds), states_(motion.states()) {
    for (std::size_t row = 0; row < motion.velocity_rows; ++row)
        if (const auto& of = motion.velocity_constraints; row == 0 || of.empty() || of[row] != of[row - 1])
            first_row_.push_back(row);
    first_row_.push_back(motion.velocity_rows);
    for (const std::size_t row : first_row_) begin_.push_back(motion.velocity_rows == 0 ? 0 : velocity.program().row_begin(row));
    state_.resize(motion.carried());
    other_state_.resize(motion.carried());
    x_before_.resize(motion.states());
    q_sizes_.resize(motion.coordinates, 0.0);
    for (Sample* s : {&before_, &after_, &end_, &middle_, &trial_, &other_trial_}) {
        s->rows.resize(begin_.back());
        s->directions.resize(motion.velocity_rows > 1 && velocity.program().sparse() == nullptr ? s->rows.size() : 0);
        s->size.resize(constraints() + 1);
    }
    longest_.resize(constraints());
    turned_.resize(constraints() + 1);
    implied_.resize(constraints());
    for (auto& sizes : sizes_) sizes.resize(constraints() + 1);
    for (auto& angles : angles_) angles.resize(constraints() + 1);
}

// from the projector's last evaluation
void RowWatch::take(Sample& sample, const EvalReport& report) const {
    const std::span<const double> rows = velocity_.program().rows(), directions = velocity_.program().directions();
    std::copy_n(rows.begin(), sample.rows.size(), sample.rows.begin());
    if (together_ && !sample.directions.empty()) std::copy(directions.begin(), directions.end(), sample.directions.begin());
    sample.bordered = report.bordered;
    sample.known = report.status == EvalStatus::ok || report.status == EvalStatus::inconsistent_rows;
    for (std::size_t c = 0; c < constraints(); ++c) {
        double square = 0;
        for (std::size_t i = begin_[c]; i < begin_[c + 1]; ++i) square += rows[i] * rows[i];
        sample.size[c] = std::sqrt(square);
        sample.known = sample.known && std::isfinite(square);
    }
    // more rows than at the start may be independent for a while: their pivot was not promised
    sample.size.back() = report.rank < rank_ ? 0 : report.rank > rank_ ? 1 : report.smallest_pivot;
    sample.weakest = report.weakest_row;
    if (together_) weigh_components(sample);
}

// The rows of a constraint are components along axes that nobody chose for it, and pivots are those of rows of unit length: rank
// that is lost along an axis shows in the length of one component alone.
void RowWatch::weigh_components(Sample& sample) const {
    double least = 1;
    for (std::size_t c = 0; c < constraints(); ++c) {
        const double whole = sample.size[c] * sample.size[c];
        for (std::size_t row = first_row_[c]; row < first_row_[c + 1] && first_row_[c + 1] - first_row_[c] > 1; ++row) {
            const std::size_t begin = velocity_.program().row_begin(row), end = velocity_.program().row_begin(row + 1);
            double square = 0;
            for (std::size_t i = begin; i < end; ++i) square += sample.rows[i] * sample.rows[i];
            const double share = k_whole_component * square / whole;
            if (!(share < least)) continue;
            least = share;
            sample.weakest = row;
        }
    }
    if (least < 1) sample.size.back() *= std::sqrt(least);
}

const RowWatch::Sample& RowWatch::sample_at(Integrator& integrator, double t, Sample& sample) {
    if (look_inside(integrator, t, state_))
        take(sample, velocity_.measure(t, state_).evaluation);
    else
        sample.known = false;
    return sample;
}

bool RowWatch::look_inside(Integrator& integrator, double t, std::vector<double>& x) {
    const bool seen = integrator.dense(t, x);
    unseen_ = unseen_ || !seen;
    return seen;
}

double RowWatch::angle(const Sample& a, const Sample& b, std::size_t which) {
    if (which == constraints()) return turned_over(a, b) ? k_over : 0;
    if (!(a.size[which] > 0) || !(b.size[which] > 0)) return 0;
    double dot = 0;
    for (std::size_t i = begin_[which]; i < begin_[which + 1]; ++i) dot += a.rows[i] * b.rows[i];
    return std::acos(std::clamp(dot / a.size[which] / b.size[which], -1.0, 1.0));
}

// by more than is worth a look; most steps do not, and need no angle to know it
bool RowWatch::turns(const Sample& a, const Sample& b, std::size_t which) {
    if (which == constraints()) return turned_over(a, b);
    double dot = 0;
    for (std::size_t i = begin_[which]; i < begin_[which + 1]; ++i) dot += a.rows[i] * b.rows[i];
    return dot < k_cosine_of_small_turn * a.size[which] * b.size[which];
}

// Rows that become dependent and independent again without a sign of it in any one of them: the directions they span between them
// come out with the opposite orientation. The sign of the determinant of all products of directions tells.
bool RowWatch::turned_over(const Sample& a, const Sample& b) {
    if (!together_ || !(a.size.back() > 0) || !(b.size.back() > 0)) return false;
    if (SparseSolver* const sparse = velocity_.program().sparse()) return sparse->turned_over(a.rows, b.rows);
    const std::size_t m = first_row_.back(), n = columns_;
    // a b' = 1 + a (b - a)' with orthonormal a: no determinant changes its sign while |b - a| < 1
    double changed = 0;
    for (std::size_t i = 0; i < a.directions.size(); ++i)
        changed += (b.directions[i] - a.directions[i]) * (b.directions[i] - a.directions[i]);
    if (changed < k_same_orientation) return false;
    // rows along a chain have directions with few entries
    const auto reach = [&](const Sample& sample, std::vector<std::pair<std::size_t, std::size_t>>& out) {
        for (std::size_t i = 0; i < m; ++i) {
            const double* const row = sample.directions.data() + i * n;
            out[i] = {0, n};
            while (out[i].first < n && row[out[i].first] == 0) ++out[i].first;
            while (out[i].second > out[i].first && row[out[i].second - 1] == 0) --out[i].second;
        }
    };
    reach(a, reach_a_);
    reach(b, reach_b_);
    for (std::size_t i = 0; i < m; ++i)
        for (std::size_t j = 0; j < m; ++j) {
            const std::size_t begin = std::max(reach_a_[i].first, reach_b_[j].first);
            const std::size_t end = std::min(reach_a_[i].second, reach_b_[j].second);
            double dot = 0;
            for (std::size_t k = begin; k < end; ++k) dot += a.directions[i * n + k] * b.directions[j * n + k];
            overlap_[i * m + j] = dot;
        }
    bool negative = false;
    for (std::size_t k = 0; k < m; ++k) {
        std::size_t pivot = k;
        for (std::size_t i = k + 1; i < m; ++i)
            if (std::abs(overlap_[i * m + k]) > std::abs(overlap_[pivot * m + k])) pivot = i;
        if (pivot != k) std::swap_ranges(&overlap_[k * m], &overlap_[k * m] + m, &overlap_[pivot * m]);
        negative ^= (pivot != k) ^ (overlap_[k * m + k] < 0);
        if (overlap_[k * m + k] == 0) return false;
        for (std::size_t i = k + 1; i < m; ++i) {
            const double factor = overlap_[i * m + k] / overlap_[k * m + k];
            if (factor == 0) continue;
            for (std::size_t j = k + 1; j < m; ++j) overlap_[i * m + j] -= factor * overlap_[k * m + j];
        }
    }
    return negative;
}

void RowWatch::grow(std::span<const double> x) {
    const std::size_t nq = states_ - columns_;
    for (std::size_t i = 0; i < nq; ++i) q_sizes_[i] = std::max(q_sizes_[i], std::abs(x[i]));
    for (std::size_t i = nq; i < states_; ++i) u_size_ = std::max(u_size_, std::abs(x[i]));
}

void RowWatch::find_implied(const Sample& sample) {
    const std::size_t rows = first_row_.back();
    if (!sample.known || rank_ == rows || velocity_.program().sparse() != nullptr) return;
    const std::size_t n = begin_.back() / rows;
    std::vector<double> directions;
    const auto rank_without = [&](std::size_t constraint) {
        directions.clear();
        std::size_t rank = 0;
        for (std::size_t row = 0; row < rows; ++row) {
            if (row >= first_row_[constraint] && row < first_row_[constraint + 1]) continue;
            const auto begin = sample.rows.begin() + static_cast<std::ptrdiff_t>(row * n);
            std::vector<double> v(begin, begin + static_cast<std::ptrdiff_t>(n));
            const auto product = [&](const double* a, const double* b) { return std::inner_product(a, a + n, b, 0.0); };
            const double whole = std::sqrt(product(v.data(), v.data()));
            for (int again = 0; again < 2; ++again)
                for (std::size_t k = 0; k < rank; ++k) {
                    const double part = product(v.data(), &directions[k * n]);
                    for (std::size_t i = 0; i < n; ++i) v[i] -= part * directions[k * n + i];
                }
            const double left = std::sqrt(product(v.data(), v.data()));
            if (!(left > k_follows * whole)) continue;
            for (const double entry : v) directions.push_back(entry / left);
            ++rank;
        }
        return rank;
    };
    for (std::size_t c = 0; c < constraints(); ++c) implied_[c] = rank_without(c) >= rank_;
}

bool RowWatch::vanishes_in_vain(std::size_t which, double least, double most) const {
    return may_vanish(which) && least < k_steady * most;
}

RowFinding RowWatch::start(double t, std::span<const double> x) {
    if (constraints() == 0) return {};
    rank_ = velocity_.measure(t, x).evaluation.rank;
    const std::size_t rows = first_row_.back();
    together_ = rows > 1 && rank_ == rows;
    if (together_ && velocity_.program().sparse() == nullptr) overlap_.resize(rows * rows);
    reach_a_.resize(rows);
    reach_b_.resize(rows);
    // every coordinate and every speed moved by a part of the largest one; where all are zero, by a part of one: any size will do
    // to see that a gradient which is zero here is not zero there
    grow(x);
    const double largest = q_sizes_.empty() ? 0 : *std::max_element(q_sizes_.begin(), q_sizes_.end());
    std::fill(q_sizes_.begin(), q_sizes_.end(), largest == 0 ? 1.0 : largest);
    if (u_size_ == 0) u_size_ = 1;
    // one without a gradient here is not known to follow from others elsewhere
    std::fill(implied_.begin(), implied_.end(), false);
    const RowFinding found = look_around(t, x, {.q_part = 0.3, .u_part = 0.3, .least = k_no_gradient, .turn = k_over});
    std::fill(q_sizes_.begin(), q_sizes_.end(), 0.0);
    u_size_ = 0;
    grow(x);
    std::swap(before_, middle_);
    find_implied(before_);
    std::copy_n(before_.size.begin(), constraints(), longest_.begin());
    std::copy_n(x.begin(), states_, x_before_.begin());
    return found;
}

void RowWatch::know(const Sizes& before) {
    if (before.coordinates.size() != q_sizes_.size()) return;
    for (std::size_t i = 0; i < q_sizes_.size(); ++i) q_sizes_[i] = std::max(q_sizes_[i], before.coordinates[i]);
    u_size_ = std::max(u_size_, before.speed);
}

void RowWatch::accept(std::span<const double> x) {
    std::swap(before_, after_);
    // in another metric nothing was measured yet
    const bool same = before_.bordered == after_.bordered;
    for (std::size_t c = 0; c < constraints(); ++c) longest_[c] = same ? std::max(longest_[c], before_.size[c]) : before_.size[c];
    std::copy_n(x.begin(), states_, x_before_.begin());
    grow(x);
}

bool RowWatch::lend(March& march) {
    if (constraints() > 0 &&
        (rank_ != first_row_.back() || !before_.known || before_.bordered || velocity_.program().sparse() != nullptr))
        return false;
    march.row_begin = begin_;
    march.rows = before_.rows.data();
    march.directions = before_.directions.data();
    march.sizes = before_.size.data();
    march.longest = longest_.data();
    march.coordinate_sizes = q_sizes_.data();
    march.speed_size = u_size_;
    march.longest_step = longest_step_;
    return true;
}

void RowWatch::take_back(const March& march) {
    u_size_ = march.speed_size;
    longest_step_ = march.longest_step;
    std::copy_n(march.x, states_, x_before_.begin());
}

void RowWatch::checkpoint(Checkpoint& c) {
    c("watch.x", x_before_);
    c("watch.coordinate_sizes", q_sizes_);
    c("watch.speed_size", u_size_);
    c("watch.longest_step", longest_step_);
    c("watch.turn_rate", turn_rate_);
    c("watch.rows", before_.rows);
    c("watch.directions", before_.directions);
    c("watch.sizes", before_.size);
    c("watch.longest", longest_);
    c("watch.known", before_.known);
    c("watch.bordered", before_.bordered);
}

RowFinding RowWatch::near(double t, std::span<const double> x, Failed failed) {
    if (constraints() == 0) return {};
    const double part = failed == Failed::step ? k_near : k_near_not_projected;
    Around around{.q_part = part, .u_part = part, .least = k_collapse, .turn = k_large_turn, .pivots = k_doubles};
    around.must_double = failed == Failed::partition;
    return look_around(t, x, around);
}

bool RowWatch::is_short(const Sample& sample, std::size_t constraint) const {
    return sample.size[constraint] < k_nearly_lost * longest_[constraint];
}

// At x and at states around, within a part of each coordinate and of the largest speed: a gradient less than `least` of what it
// is there, or of another direction, or a smallest pivot that is less than `pivots` of what it is there. Coordinates differ in
// their units, and an angle is not to be moved by a part of a distance.
RowFinding RowWatch::look_around(double t, std::span<const double> x, const Around& around) {
    take(middle_, velocity_.measure(t, x).evaluation);
    if (!middle_.known) return {};
    const std::size_t weakest = middle_.weakest;
    std::uint64_t random = 0x2545f4914f6cdd1dull;
    std::fill(after_.size.begin(), after_.size.end(), 0.0);  // the largest of each
    std::fill(turned_.begin(), turned_.end(), false);
    for (int k = 0; k < k_states_around; ++k) {
        for (std::size_t i = 0; i < states_; ++i) {
            random = random * 6364136223846793005ull + 1442695040888963407ull;
            const double symmetric = 2 * (static_cast<double>(random >> 11) / 9007199254740992.0) - 1;
            state_[i] = x[i] + symmetric * (i + columns_ < states_ ? around.q_part * q_sizes_[i] : around.u_part * u_size_);
        }
        take(trial_, velocity_.measure(t, state_).evaluation);
        if (!comparable(trial_, middle_)) continue;
        for (std::size_t c = 0; c <= constraints(); ++c) {
            after_.size[c] = std::max(after_.size[c], trial_.size[c]);
            turned_[c] = turned_[c] || angle(trial_, middle_, c) > around.turn;
        }
    }
    for (std::size_t c = 0; c < constraints(); ++c)
        if (!implied_[c] && !(middle_.size[c] > around.least * after_.size[c])) return finding(RowLoss::vanishes, c);
    RowFinding found;
    for (std::size_t c = 0; c <= constraints() && found.loss == RowLoss::none; ++c) {
        if (!turned_[c]) continue;
        const bool is_gradient = c < constraints();
        if (vanishes_in_vain(c, middle_.size[c], after_.size[c])) continue;
        if (is_gradient && around.must_be_short && !is_short(middle_, c)) continue;
        if (is_gradient && around.must_double && !(middle_.size[c] < k_doubles * after_.size[c])) continue;
        // one that is very short already, and turns so near, vanishes
        found = finding(is_gradient && is_short(middle_, c) ? RowLoss::vanishes : RowLoss::turns, c);
    }
    if (found.loss == RowLoss::none && middle_.size.back() < around.pivots * after_.size.back())
        return {RowLoss::dependent, weakest};
    return found;
}

RowFinding RowWatch::look(Integrator& integrator) {
    unseen_ = false;
    RowFinding found = look_over(integrator);
    found.unseen = unseen_ && found.loss == RowLoss::none;
    return found;
}

RowFinding RowWatch::look_over(Integrator& integrator) {
    RowFinding found = look_along(integrator);
    if (found.loss == RowLoss::none) found = look_at_rest(integrator);
    if (found.loss != RowLoss::none) {
        found.certain = near(integrator.t_previous(), x_before_).loss != RowLoss::none;
        return found;
    }
    // Steps may lead round a singularity on the errors made before, without a sign of it in any one of them: a linkage that is
    // stretched out bends to the side where its round-off is. Gradients that have become short are looked at along the
    // coordinates alone: speeds are of many units, and those that come to rest are looked at for themselves.
    if (constraints() == 0) return found;
    const bool small_pivot = after_.size.back() < k_nearly_lost;
    bool short_gradient = false;
    for (std::size_t c = 0; c < constraints(); ++c) short_gradient = short_gradient || (!implied_[c] && is_short(after_, c));
    if (!(small_pivot || short_gradient) || !look_inside(integrator, integrator.t(), other_state_)) return found;
    Around around{.q_part = k_near, .u_part = k_near, .least = k_collapse, .turn = k_large_turn, .pivots = k_doubles};
    if (!small_pivot) {
        around.u_part = 0;
        around.must_be_short = true;
    }
    std::swap(after_, end_);  // what was seen at the end of the step is needed for the next one
    found = look_around(integrator.t(), other_state_, around);
    std::swap(after_, end_);
    found.certain = found.loss != RowLoss::none;
    return found;
}

// Through rest a motion may pass a singularity straight on, so that nothing along it tells: on a cone of velocities from one half
// to the other along one line. The gradient has a limit from either side, the same one, and none at the tip. Where a step comes
// to rest, or very nearly, the states around are looked at; and where steps have become very short, which they do not without a
// reason.
RowFinding RowWatch::look_at_rest(Integrator& integrator) {
    if (constraints() == 0) return {};
    const double t0 = integrator.t_previous(), h = integrator.t() - t0;
    longest_step_ = std::max(longest_step_, std::abs(h));
    const std::size_t nq = states_ - columns_;
    const auto speed_at = [&](double s) {
        if (!look_inside(integrator, t0 + s * h, state_)) return u_size_;
        double largest = 0;
        for (std::size_t i = nq; i < states_; ++i) largest = std::max(largest, std::abs(state_[i]));
        return largest;
    };
    double place = 1, least = 0;
    if (std::abs(h) > k_short_step * longest_step_) {
        const double first = speed_at(0), middle = speed_at(0.5), last = speed_at(1);
        if (!(std::min({first, middle, last}) < k_steady * std::max({first, middle, last}))) return {};
        // the least speed, by golden section; along a straight passage through rest it is a corner
        const double golden = 0.6180339887498949;
        double a = 0, b = 1;
        for (int k = 0; k < 40; ++k) {
            const double c = b - golden * (b - a), d = a + golden * (b - a);
            (speed_at(c) < speed_at(d) ? b : a) = speed_at(c) < speed_at(d) ? d : c;
        }
        place = 0.5 * (a + b);
        least = speed_at(place);
        if (!(least < k_rest * u_size_)) return {};
    }
    if (!look_inside(integrator, t0 + place * h, other_state_)) return {};
    std::swap(after_, end_);  // what was seen at the end of the step is needed for the next one
    // as far around as rest was missed
    const double part = std::max(k_near, 3 * least / u_size_);
    const RowFinding found =
        look_around(t0 + place * h, other_state_, {.q_part = 0, .u_part = part, .least = k_collapse, .turn = k_large_turn});
    std::swap(after_, end_);
    return found;
}

RowFinding RowWatch::look_along(Integrator& integrator) {
    if (constraints() == 0) return {};
    take(after_, velocity_.evaluation());
    weakest_row_ = after_.weakest;
    const double h = std::abs(integrator.t() - integrator.t_previous()), expected = turn_rate_ * h;
    sample_at(integrator, integrator.t_previous() + 0.5 * (integrator.t() - integrator.t_previous()), middle_);
    for (const Sample* s : {&before_, &middle_})
        if (!comparable(*s, after_)) return {};
    // a step much longer than the last one may turn a gradient over, and back
    bool closely = expected > 2 * k_notable_turn;
    double most_turned = k_small_turn;
    for (std::size_t c = 0; c <= constraints() && !closely; ++c) {
        const auto [least, most] = std::minmax({before_.size[c], middle_.size[c], after_.size[c]});
        if (vanishes_in_vain(c, least, most)) continue;
        closely = least < k_steady * most;
        if (closely || (!turns(before_, middle_, c) && !turns(middle_, after_, c))) continue;
        const auto [less, more] = std::minmax({angle(before_, middle_, c), angle(middle_, after_, c)});
        closely = more > k_notable_turn || (more > k_small_turn && more > k_uneven * less);
        most_turned = std::max(most_turned, more);
    }
    if (closely) return look_closely(integrator);
    turn_rate_ = most_turned / (0.5 * h);
    return look_ahead(integrator);
}

// A motion that is drawn to a singularity may hover about it: the stages of a step lie on both sides, what they add up to does
// not. Straight on from the start of the step the gradient is the one of its end all the same, unless the step hides a jump.
RowFinding RowWatch::look_ahead(Integrator& integrator) {
    const double t0 = integrator.t_previous(), t1 = integrator.t();
    if (!look_inside(integrator, t0, other_state_) || !look_inside(integrator, t0 + k_beginning * (t1 - t0), state_)) return {};
    for (std::size_t i = 0; i < states_; ++i) state_[i] = other_state_[i] + (state_[i] - other_state_[i]) / k_beginning;
    take(trial_, velocity_.measure(t1, state_).evaluation);
    if (!comparable(trial_, after_)) return {};
    for (std::size_t c = 0; c <= constraints(); ++c) {
        if (!turns(trial_, after_, c)) continue;
        const auto [least, most] = std::minmax({before_.size[c], trial_.size[c], after_.size[c]});
        if (vanishes_in_vain(c, least, most)) continue;
        const double ahead = angle(trial_, after_, c);
        if (ahead > k_small_turn && ahead > k_uneven * angle(before_, after_, c)) return finding(RowLoss::turns, c);
    }
    return {};
}

RowFinding RowWatch::look_closely(Integrator& integrator) {
    const double t0 = integrator.t_previous(), h = integrator.t() - t0;
    sizes_.front() = before_.size;
    const Sample* last = &before_;
    for (std::size_t k = 1; k <= k_parts; ++k) {
        const Sample* const next = k == k_parts ? &after_
                                                : &sample_at(integrator, t0 + h * static_cast<double>(k) / k_parts,
                                                             last == &trial_ ? other_trial_ : trial_);
        if (!comparable(*last, *next)) return {};
        sizes_[k] = next->size;
        for (std::size_t c = 0; c <= constraints(); ++c) angles_[k - 1][c] = angle(*last, *next, c);
        last = next;
    }
    double most_turned = k_small_turn;
    for (std::size_t c = 0; c <= constraints(); ++c) {
        const auto of_constraint = [c](const std::vector<double>& a, const std::vector<double>& b) { return a[c] < b[c]; };
        const auto [least, most] = std::minmax_element(sizes_.begin(), sizes_.end(), of_constraint);
        if (vanishes_in_vain(c, (*least)[c], (*most)[c])) continue;
        if (c < constraints())
            for (const std::vector<double>& angles : angles_) most_turned = std::max(most_turned, angles[c]);
        if (dips(integrator, c)) return finding(RowLoss::vanishes, c);
        if (spikes(integrator, c)) return finding(RowLoss::turns, c);
        if (jumps(c)) return finding(RowLoss::turns, c);
    }
    turn_rate_ = most_turned * k_parts / std::abs(h);
    return {};
}

// does the size go to zero inside the step, or at its end?
bool RowWatch::dips(Integrator& integrator, std::size_t which) {
    std::size_t least = 0;
    double most = 0;
    for (std::size_t k = 0; k <= k_parts; ++k) {
        if (sizes_[k][which] < sizes_[least][which]) least = k;
        most = std::max(most, sizes_[k][which]);
    }
    if (!(sizes_[least][which] < k_steady * most)) return false;
    const double smallest = sign_times_least(integrator, which, least, 1);
    // a motion that only leaves a small gradient behind is not stopped
    return smallest < k_collapse * most && smallest < k_steady * sizes_.front()[which];
}

// Does the size grow beyond all bounds inside the step, and come back? A row divided by what vanishes at the singularity does so
// a little off the constraints, where the state inside a step is.
bool RowWatch::spikes(Integrator& integrator, std::size_t which) {
    if (which == constraints()) return false;
    std::size_t largest = 0;
    for (std::size_t k = 0; k <= k_parts; ++k)
        if (sizes_[k][which] > sizes_[largest][which]) largest = k;
    const double ends = std::max(sizes_.front()[which], sizes_.back()[which]);
    if (!(ends < k_steady * sizes_[largest][which])) return false;
    return ends < k_collapse * -sign_times_least(integrator, which, largest, -1);
}

// The smallest size, or the largest with its sign turned, around one found between the parts, by golden section.
double RowWatch::sign_times_least(Integrator& integrator, std::size_t which, std::size_t around, double sign) {
    const double t0 = integrator.t_previous(), h = integrator.t() - t0, golden = 0.6180339887498949;
    double a = around == 0 ? 0 : static_cast<double>(around - 1) / k_parts;
    double b = static_cast<double>(std::min(around + 1, k_parts)) / k_parts;
    double smallest = sign * sizes_[around][which];
    const auto size_at = [&](double s) {
        const Sample& sample = sample_at(integrator, t0 + s * h, trial_);
        if (!sample.known) return smallest;
        if (sign * sample.size[which] < smallest) {
            smallest = sign * sample.size[which];
            weakest_row_ = sample.weakest;
        }
        return sign * sample.size[which];
    };
    double c = b - golden * (b - a), d = a + golden * (b - a);
    double at_c = size_at(c), at_d = size_at(d);
    for (int k = 0; k < 60; ++k) {
        if (at_c < at_d) {
            b = std::exchange(d, c);
            at_d = at_c;
            c = b - golden * (b - a);
            at_c = size_at(c);
        } else {
            a = std::exchange(c, d);
            at_c = at_d;
            d = a + golden * (b - a);
            at_d = size_at(d);
        }
    }
    return smallest;
}

// does the direction turn in one part of the step, unlike in its neighbours?
bool RowWatch::jumps(std::size_t c) const {
    for (std::size_t k = 0; k < k_parts; ++k) {
        const double left = k > 0 ? angles_[k - 1][c] : 0, right = k + 1 < k_parts ? angles_[k + 1][c] : 0;
        if (angles_[k][c] > k_small_turn && angles_[k][c] > k_uneven * std::max(left, right)) return true;
    }
    return false;
}

}  // namespace appell
