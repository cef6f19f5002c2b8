// See passage.hpp.
#include "sim/passage.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace appell {

namespace {

// states before
constexpr std::size_t k_noted = 32;
// arcs are not longer than this many steps before, on either side, or than this part of the way
constexpr double k_longest_arc = 4, k_part_of_way = 0.5;
constexpr std::size_t k_hermite_states = 3;
constexpr int k_most_iterations = 60;
// In units of the tolerances of the run: what an iteration leaves where round-off, which a singular position near by makes large,
// lets it gain no more; and what two orders, or the constraints, may differ by.
constexpr double k_converged = 1, k_agreed = 3, k_inside = 30;
// of the way before and behind: where the lines of falling and rising rank are drawn through, and where they meet zero
constexpr double k_far = 1.0 / 8, k_near = 1.0 / 16, k_same_instant = 1.0 / 40;

// Places at which an arc is searched for other singular positions, unevenly spaced, so that no period hides one; and what a rank
// that vanishes there comes down to.
constexpr std::size_t k_searched = 63;
constexpr double k_uneven = 0.35, k_vanishes = 1e-3;
// an arc does not end next to another one: the rank there, against the largest on the arc
constexpr double k_open_end = 0.05;
// The zero of the rank is looked for in a neighbourhood that shrinks by this factor, as often as it has room for round-off.
constexpr double k_shrink = 1.0 / 16;
constexpr int k_locations = 3;
constexpr double k_nowhere = std::numeric_limits<double>::quiet_NaN();
// of the arc: two instants are one
constexpr double k_instant = 1e-9;

// as many rows as have their singular values computed, by so many sweeps
constexpr std::size_t k_few_rows = 24;
constexpr int k_sweeps = 8;

double row_length(std::span<const double> row) {
    double square = 0;
    for (const double entry : row) square += entry * entry;
    return std::sqrt(square);
}

}  // namespace

double PositionRank::operator()(Projector& position, double t, std::span<const double> x, bool learn) {
    const EvalReport report = position.measure(t, x).evaluation;
    if (report.status != EvalStatus::ok && report.status != EvalStatus::inconsistent_rows) return 0;
    if (rank_ == 0) rank_ = report.rank;
    if (report.rank < rank_ || rank_ == 0) return 0;
    double least = report.smallest_pivot;
    const std::span<const double> rows = position.program().rows();
    const bool few = rows_ <= k_few_rows && position.program().sparse() == nullptr;
    if (rank_ < rows_ && !few) return least;
    for (std::size_t i = 0; i < rows_; ++i) {
        const std::size_t begin = position.program().row_begin(i), end = position.program().row_begin(i + 1);
        const double length = row_length(rows.subspan(begin, end - begin));
        if (learn) longest_[i] = std::max(longest_[i], length);
        if (longest_[i] > 0) least = std::min(least, length / longest_[i]);
    }
    return few ? smallest_singular_value(rows) : least;
}

// Of those that are not zero all along. By Jacobi's rotations of the products of rows: half of the digits of what is very small
// are lost, and that is enough.
double PositionRank::smallest_singular_value(std::span<const double> rows) {
    const std::size_t m = rows_, n = rows.size() / m;
    gram_.resize(m * m);
    for (std::size_t i = 0; i < m; ++i)
        for (std::size_t k = 0; k < m; ++k) {
            double dot = 0;
            for (std::size_t j = 0; j < n; ++j) dot += rows[i * n + j] * rows[k * n + j];
            const double scale = longest_[i] * longest_[k];
            gram_[i * m + k] = scale > 0 ? dot / scale : dot;
        }
    for (int sweep = 0; sweep < k_sweeps; ++sweep)
        for (std::size_t p = 0; p + 1 < m; ++p)
            for (std::size_t q = p + 1; q < m; ++q) {
                const double off = gram_[p * m + q];
                if (off == 0) continue;
                const double angle = 0.5 * std::atan2(2 * off, gram_[q * m + q] - gram_[p * m + p]);
                const double c = std::cos(angle), s = std::sin(angle);
                for (std::size_t i = 0; i < m; ++i) {
                    const double a = gram_[i * m + p], b = gram_[i * m + q];
                    gram_[i * m + p] = c * a - s * b;
                    gram_[i * m + q] = s * a + c * b;
                }
                for (std::size_t i = 0; i < m; ++i) {
                    const double a = gram_[p * m + i], b = gram_[q * m + i];
                    gram_[p * m + i] = c * a - s * b;
                    gram_[q * m + i] = s * a + c * b;
                }
            }
    for (std::size_t i = 0; i < m; ++i) gram_[i] = gram_[i * m + i];
    const auto at = gram_.begin() + static_cast<std::ptrdiff_t>(m - std::min(rank_, m));
    std::nth_element(gram_.begin(), at, gram_.begin() + static_cast<std::ptrdiff_t>(m));
    return std::sqrt(std::max(0.0, *at));
}

// ---------------------------------------------------------------- Gauss's method

Passage::Gauss::Gauss(std::size_t stages) {
    const auto n = static_cast<double>(stages);
    for (std::size_t k = 0; k < stages; ++k) {
        double x = -std::cos((static_cast<double>(k) + 0.75) / (n + 0.5) * 3.14159265358979323846), slope = 1;
        for (int i = 0; i < 20; ++i) {  // Newton's iteration for a root of Legendre's polynomial
            double before = 1, p = x;
            for (std::size_t m = 2; m <= stages; ++m)
                before = std::exchange(p, ((2 * static_cast<double>(m) - 1) * x * p - (static_cast<double>(m) - 1) * before) /
                                              static_cast<double>(m));
            slope = n * (x * p - before) / (x * x - 1);
            x -= p / slope;
        }
        nodes.push_back(0.5 * (1 + x));
        weights.push_back(1 / ((1 - x * x) * slope * slope));
    }
    for (const double s : nodes)
        for (std::size_t j = 0; j < stages; ++j) at_nodes.push_back(integral(j, s));
}

// the method's own quadrature is exact for its polynomials
double Passage::Gauss::integral(std::size_t j, double s) const {
    double sum = 0;
    for (std::size_t k = 0; k < size(); ++k) {
        double value = weights[k];
        for (std::size_t m = 0; m < size(); ++m)
            if (m != j) value *= (s * nodes[k] - nodes[m]) / (nodes[j] - nodes[m]);
        sum += value;
    }
    return s * sum;
}

// ---------------------------------------------------------------- the states before

Passage::Passage(const Motion& motion, MotionRate& rate, Projector& position, Projector& velocity, Tolerances tolerances,
                 Way& way)
    : motion_(motion),
      rate_(rate),
      position_(position),
      velocity_(velocity),
      tolerances_(tolerances),
      rank_(motion),
      states_(motion.states()),
      carried_(motion.carried()),
      way_(way),
      noted_(way.noted),
      gauss_(k_stages),
      lower_(k_stages - 2),
      end_(carried_),
      state_(carried_),
      next_(carried_) {
    noted_.reserve(k_noted + 1);
    for (Arc* arc : {&arc_, &other_}) {
        arc->start.resize(carried_);
        arc->end.resize(carried_);
        arc->rates.resize(carried_ * k_stages);
    }
    hermite_.resize(2 * k_hermite_states * carried_);
}

// Where there is no more room, the one goes whose neighbours are nearest to each other, against their distance from here: steps
// may shrink by any factor toward a singular position, and states of every distance are kept.
void Passage::note(double t, std::span<const double> x) {
    if (!noted_.empty() && t == noted_.back().t) noted_.pop_back();
    if (!noted_.empty()) way_.longest = std::max(way_.longest, std::abs(t - noted_.back().t));
    std::size_t place = noted_.size();
    if (noted_.size() == k_noted) {
        double least = 2;
        for (std::size_t i = 1; i + 1 < k_noted; ++i) {
            const double gap = std::abs((noted_[i + 1].t - noted_[i - 1].t) / (t - noted_[i].t));
            if (!(gap < least)) continue;
            least = gap;
            place = i;
        }
        if (place == noted_.size()) place = 0;
        std::rotate(noted_.begin() + static_cast<std::ptrdiff_t>(place), noted_.begin() + static_cast<std::ptrdiff_t>(place) + 1,
                    noted_.end());
    } else {
        noted_.push_back({t, std::vector<double>(carried_)});
    }
    noted_.back().t = t;
    std::copy_n(x.begin(), carried_, noted_.back().x.begin());
}

// The polynomial through states and rates at the beginning of the arc and at those noted after it, or before it where none are.
void Passage::foresee(std::size_t first) {
    std::vector<std::size_t> use{first};
    const double way = std::abs(t_singular_ - noted_[first].t);
    for (std::size_t i = first + 1; i < noted_.size() && use.size() < k_hermite_states; ++i)
        if (std::abs(t_singular_ - noted_[i].t) > 0.15 * way) use.push_back(i);
    for (std::size_t i = first; i-- > 0 && use.size() < k_hermite_states;) use.push_back(i);
    const std::size_t n = 2 * use.size();
    hermite_nodes_.resize(n);
    std::vector<double> rates(carried_);
    for (std::size_t k = 0; k < use.size(); ++k) {
        const Way::Noted& at = noted_[use[k]];
        hermite_nodes_[2 * k] = hermite_nodes_[2 * k + 1] = at.t;
        const bool known = rate_.rate(at.t, at.x, rates) == RateStatus::ok;
        for (std::size_t i = 0; i < carried_; ++i) {
            hermite_[2 * k * carried_ + i] = at.x[i];
            hermite_[(2 * k + 1) * carried_ + i] = known ? rates[i] : 0;  // the first difference of a double node
        }
    }
    // divided differences, from the last to the first
    for (std::size_t i = 0; i < carried_; ++i) {
        std::array<double, 2 * k_hermite_states> value{}, slope{}, table{};
        for (std::size_t k = 0; k < n; k += 2) {
            value[k] = value[k + 1] = hermite_[k * carried_ + i];
            slope[k + 1] = hermite_[(k + 1) * carried_ + i];
        }
        table = value;
        for (std::size_t order = 1; order < n; ++order)
            for (std::size_t k = n - 1; k >= order; --k) {
                const double between = hermite_nodes_[k] - hermite_nodes_[k - order];
                table[k] = between == 0 ? slope[k] : (table[k] - table[k - 1]) / between;
            }
        for (std::size_t k = 0; k < n; ++k) hermite_[k * carried_ + i] = table[k];
    }
}

void Passage::guess(double t, std::span<double> x) const {
    if (has_arc_) {
        along(arc_, t, x);
        return;
    }
    const std::size_t n = hermite_nodes_.size();
    for (std::size_t i = 0; i < carried_; ++i) {
        double value = hermite_[(n - 1) * carried_ + i];
        for (std::size_t k = n - 1; k-- > 0;) value = value * (t - hermite_nodes_[k]) + hermite_[k * carried_ + i];
        x[i] = value;
    }
}

// ---------------------------------------------------------------- one arc

void Passage::along(const Arc& arc, double t, std::span<double> x) const {
    const double s = (t - arc.from) / arc.length;
    std::copy(arc.start.begin(), arc.start.end(), x.begin());
    for (std::size_t j = 0; j < arc.method->size(); ++j) {
        const double share = arc.length * arc.method->integral(j, s);
        for (std::size_t i = 0; i < carried_; ++i) x[i] += share * arc.rates[j * carried_ + i];
    }
}

bool Passage::onto_constraints(double t, std::span<double> x) {
    return position_.project(t, x, k_project_step).status == ProjectStatus::converged &&
           velocity_.project(t, x, k_project_step).status == ProjectStatus::converged;
}

// The largest difference of two states, in units of the tolerances; round-off of the large entries is in all of them.
double Passage::distance(std::span<const double> a, std::span<const double> b) const {
    double out = 0;
    const auto compare = [&](std::size_t begin, std::size_t end) {
        double size = 0, largest = 0;
        for (std::size_t i = begin; i < end; ++i) {
            size = std::max({size, std::abs(a[i]), std::abs(b[i])});
            const double difference = std::abs(a[i] - b[i]);
            if (!(difference <= largest)) largest = difference;  // not a number, too
        }
        const double share = largest / (tolerances_.atol + tolerances_.rtol * size);
        if (!(share <= out)) out = share;
    };
    compare(0, motion_.coordinates);
    compare(motion_.coordinates, states_);
    return out;
}

bool Passage::find_arc(const Gauss& method, std::size_t first, double t_end, Arc& arc) {
    arc.method = &method;
    arc.from = noted_[first].t;
    arc.length = t_end - arc.from;
    arc.start = noted_[first].x;
    const std::size_t n = method.size();
    std::vector<double> rates(n * carried_), stages(n * carried_);
    double before = 0;
    for (int k = 0; k < k_most_iterations; ++k) {
        double change = 0;
        for (std::size_t i = 0; i < n; ++i) {
            const double t = arc.from + method.nodes[i] * arc.length;
            const std::span<double> stage(&stages[i * carried_], carried_);
            if (k == 0) {
                guess(t, next_);
            } else {
                next_ = arc.start;
                for (std::size_t j = 0; j < n; ++j) {
                    const double share = arc.length * method.at_nodes[i * n + j];
                    for (std::size_t e = 0; e < carried_; ++e) next_[e] += share * arc.rates[j * carried_ + e];
                }
            }
            if (!onto_constraints(t, next_)) return false;
            change = k == 0 ? 1 : std::max(change, distance(next_, stage));
            std::ranges::copy(next_, stage.begin());
            if (rate_.rate(t, stage, std::span<double>(&rates[i * carried_], carried_)) != RateStatus::ok) return false;
        }
        std::ranges::copy(rates, arc.rates.begin());
        if (!std::isfinite(change)) return false;
        // down to where it no longer gains
        if (k > 0 && change <= k_converged && (change == 0 || change > 0.5 * before)) return find_end(arc);
        if (k > 5 && change > 1e6) return false;
        before = change;
    }
    return before <= k_converged && find_end(arc);
}

bool Passage::find_end(Arc& arc) {
    const double t = arc.from + arc.length;
    along(arc, t, next_);
    arc.end = next_;
    return onto_constraints(t, arc.end) && distance(arc.end, next_) <= k_agreed;
}

// The rank falls along one line before and rises along one behind, and both meet zero at the same instant.
bool Passage::crosses_once() {
    const double before = t_singular_ - arc_.from, behind = arc_.from + arc_.length - t_singular_;
    const std::array t{t_singular_ - k_far * before, t_singular_ - k_near * before, t_singular_ + k_near * behind,
                       t_singular_ + k_far * behind};
    std::array<double, 4> rank{};
    for (std::size_t k = 0; k < 4; ++k) {
        along(arc_, t[k], state_);
        if (!onto_constraints(t[k], state_)) return false;
        rank[k] = rank_(position_, t[k], state_);
    }
    if (!(rank[1] > 0 && rank[0] > rank[1] && rank[2] > 0 && rank[3] > rank[2])) return false;
    const double left = t[1] + (t[1] - t[0]) * rank[1] / (rank[0] - rank[1]);
    const double right = t[2] - (t[3] - t[2]) * rank[2] / (rank[3] - rank[2]);
    const double shorter = std::min(std::abs(before), std::abs(behind));
    t_singular_ = 0.5 * (left + right);
    return std::abs(left - right) <= k_same_instant * shorter;
}

std::optional<double> Passage::rank_at(double t) {
    along(arc_, t, state_);
    if (!onto_constraints(t, state_)) return std::nullopt;
    return rank_(position_, t, state_);
}

// With the sign of the way to it the rank is smooth across the singular position: the zero of the cubic through four of its
// values about it, then of one four times as near, and again. Where the rank is that of other rows behind than before, it is
// smooth on either side alone; the nearer, the less that matters.
void Passage::locate() {
    const double shorter = std::min(std::abs(t_singular_ - arc_.from), std::abs(arc_.from + arc_.length - t_singular_));
    double around = k_near * shorter;
    for (int k = 0; k < k_locations; ++k, around *= k_shrink) {
        const std::array place{-2.0, -1.0, 1.0, 2.0};
        std::array<double, 4> table{};
        for (std::size_t i = 0; i < 4; ++i) {
            const std::optional<double> rank = rank_at(t_singular_ + place[i] * around);
            if (!rank) return;
            table[i] = place[i] < 0 ? -*rank : *rank;
        }
        // divided differences, then Newton's iteration from the middle
        for (std::size_t order = 1; order < 4; ++order)
            for (std::size_t i = 3; i >= order; --i) table[i] = (table[i] - table[i - 1]) / (place[i] - place[i - order]);
        double s = 0;
        for (int i = 0; i < 10; ++i) {
            double value = table[3], slope = 0;
            for (std::size_t j = 3; j-- > 0;) {
                slope = slope * (s - place[j]) + value;
                value = value * (s - place[j]) + table[j];
            }
            s -= value / slope;
        }
        if (!(std::abs(s) < 1)) return;
        t_singular_ += s * around;
    }
}

// The first zero of the rank on the arc, or right beside it, that is not about the instant given.
std::optional<double> Passage::zero_on_arc(double except) {
    std::array<double, k_searched> t{}, rank{};
    const auto at = [&](double time) {
        along(arc_, time, state_);
        return rank_(position_, time, state_);
    };
    for (std::size_t k = 0; k < k_searched; ++k) {
        // the first and the last of them beside the arc
        const double n = static_cast<double>(k) - 1, last = static_cast<double>(k_searched) - 3;
        const double place = n <= 0 || n >= last ? n : n + k_uneven * std::sin(2 * n);
        t[k] = arc_.from + place / last * arc_.length;
        rank[k] = at(t[k]);
    }
    const double golden = 0.6180339887498949;
    for (std::size_t k = 1; k + 1 < k_searched; ++k) {
        if (rank[k] > rank[k - 1] || rank[k] > rank[k + 1]) continue;
        if ((except - t[k - 1]) * (except - t[k + 1]) <= 0) continue;
        double a = t[k - 1], b = t[k + 1], least = rank[k];
        for (int i = 0; i < 30; ++i) {
            const double c = b - golden * (b - a), d = a + golden * (b - a), at_c = at(c), at_d = at(d);
            least = std::min({least, at_c, at_d});
            (at_c < at_d ? b : a) = at_c < at_d ? d : c;
        }
        if (least < k_vanishes * std::max(rank[k - 1], rank[k + 1])) return 0.5 * (a + b);
    }
    // nor does the arc end next to one
    const double end = arc_.from + arc_.length;
    if (at(end) < k_open_end * std::ranges::max(rank)) return end;
    return std::nullopt;
}

// Rows come from inside the arc, where its polynomial is less exact than at the end.
bool Passage::lies_on_constraints() {
    for (const double share : {0.12, 0.3, 0.7, 0.88}) {
        const double t = arc_.from + share * arc_.length;
        along(arc_, t, state_);
        next_ = state_;
        if (!onto_constraints(t, next_) || !(distance(next_, state_) <= k_inside)) return false;
    }
    return true;
}

bool Passage::attempt(std::size_t first, double t_end, bool may_end_there) {
    has_arc_ = false;
    foresee(first);
    const double from = noted_[first].t, forward = t_end < from ? -1 : 1;
    constexpr int k_refinements = 3;
    for (int k = 0; k < k_refinements; ++k) {
        double to = t_singular_ + (t_singular_ - from);
        if (!may_end_there && forward * (to - t_end) >= 0) to = t_singular_ + 0.9 * (t_end - t_singular_);
        if (!(forward * (to - t_singular_) > 0) || !find_arc(gauss_, first, to, arc_)) return false;
        has_arc_ = true;
        const double before = t_singular_;
        const bool once = crosses_once();
        if (!(forward * (t_singular_ - from) > 0) || !(forward * (from + arc_.length - t_singular_) > 0)) return false;
        const bool moved = std::abs(t_singular_ - before) > 0.02 * std::abs(arc_.length);
        if (moved && k + 1 < k_refinements) continue;
        // A run may be stopped well before the position. A motion that is a polynomial of time, on the other hand, has an arc of
        // any length, over the next singular position and more.
        const std::optional<double> other = zero_on_arc(once ? t_singular_ : k_nowhere);
        if (!once && other && k + 1 < k_refinements) {
            t_singular_ = *other;
            continue;
        }
        if (!once || other || !lies_on_constraints()) return false;
        locate();
        break;
    }
    return find_arc(lower_, first, arc_.from + arc_.length, other_) && distance(arc_.end, other_.end) <= k_agreed;
}

bool Passage::across(double t_end, bool may_end_there) {
    if (motion_.position_rows == 0 || noted_.empty()) return false;
    const double t = noted_.back().t;
    for (const Way::Noted& at : noted_) (void)rank_(position_, at.t, at.x, true);
    const double longest = std::max(k_longest_arc * way_.longest, k_part_of_way * std::abs(t - noted_.front().t));
    for (std::size_t first = 0; first < noted_.size(); ++first) {
        const double way = std::abs(t - noted_[first].t);
        if (!(way > 0) || (way > longest && first + 1 < noted_.size())) continue;
        t_singular_ = t;
        if (!attempt(first, t_end, may_end_there)) continue;
        t_seen_ = t;
        t_end_ = arc_.from + arc_.length;
        end_ = arc_.end;
        const double forward = arc_.length < 0 ? -1 : 1;
        if (forward * (t_end_ - t_end) > 0) {
            t_end_ = t_end;
            if (!dense(t_end, end_)) return false;
        }
        return forward * (t_end_ - t_seen_) > 0;
    }
    return false;
}

bool Passage::is_passed(double t) const {
    const double forward = arc_.length < 0 ? -1 : 1, same = k_instant * std::abs(arc_.length);
    return forward * (t - t_singular_) > -same;
}

PassedPosition Passage::passed() {
    PassedPosition out;
    out.t = t_singular_;
    out.from = arc_.from;
    out.to = t_end_;
    const double before = t_singular_ - arc_.from, behind = arc_.from + arc_.length - t_singular_;
    for (const double way : {before, behind})
        for (const double share : PassedPosition::k_shares) {
            const double sign = out.times.size() < PassedPosition::k_shares.size() ? -1 : 1;
            out.times.push_back(t_singular_ + sign * share * way);
            along(arc_, out.times.back(), state_);
            if (!onto_constraints(out.times.back(), state_)) return {out.t, 0, out.from, out.to, {}, {}};
            out.states.insert(out.states.end(), state_.begin(), state_.begin() + static_cast<std::ptrdiff_t>(states_));
        }
    return out;
}

bool Passage::dense(double t, std::span<double> x) {
    along(arc_, t, x);
    std::copy(x.begin(), x.end(), next_.begin());
    if (onto_constraints(t, next_) && distance(next_, x) <= 10 * k_inside) std::ranges::copy(next_, x.begin());
    return true;
}

}  // namespace appell
