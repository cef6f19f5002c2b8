#include "sim/crossing_search.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace appell {

namespace {

// Enclosures in one search. A function that is still unclear after that many is not one that intervals can follow.
constexpr std::size_t k_most_enclosures = 50'000;
// halvings of an interval before it is as short as numbers are resolved
constexpr std::size_t k_most_depth = 64;
constexpr int k_most_sections = 200;

bool beyond(int side, double value, double noise) { return side * value < -noise; }

Interval times(int side, const Interval& x) { return side < 0 ? -x : x; }

}  // namespace

CrossingSearch::CrossingSearch(std::size_t functions) : at_end_(functions) {
    pieces_.reserve(2 * k_most_depth);
    undecided_.reserve(2 * k_most_depth * (functions + 1));
}

bool CrossingSearch::is_shortest(const Piece& piece) const {
    constexpr double k_resolved = 4 * std::numeric_limits<double>::epsilon();
    const double least = std::max(1e-13 * (end_ - begin_), k_resolved * std::max(std::abs(piece.a), std::abs(piece.b)));
    return piece.b - piece.a <= least;
}

bool CrossingSearch::run(EnclosedFunctions& functions, double begin, double end, std::span<Crossing> crossings) {
    functions_ = &functions;
    begin_ = begin;
    end_ = first_ = end;
    for (Crossing& c : crossings) {
        c.at = c.grazes = c.lost = Crossing::k_none;
        c.clear = begin;
    }
    if (!(begin < end)) return true;
    undecided_.resize(crossings.size());
    std::iota(undecided_.begin(), undecided_.end(), std::size_t{0});
    pieces_.assign(1, {begin, end, 0, crossings.size()});
    std::size_t enclosures = 0;
    while (!pieces_.empty()) {
        const Piece piece = pieces_.back();
        pieces_.pop_back();
        undecided_.resize(piece.last);
        // together with the first crossing others may happen, but not after it
        if (piece.a > first_) continue;
        if (++enclosures > k_most_enclosures) return false;
        look_at(piece, crossings);
    }
    return true;
}

void CrossingSearch::look_at(const Piece& piece, std::span<Crossing> crossings) {
    const std::span<const MovingInterval> over = functions_->enclose(piece.a, piece.b);
    const std::span<const double> values = functions_->evaluate(piece.b);
    std::copy(values.begin(), values.end(), at_end_.begin());
    const std::size_t kept = undecided_.size();
    const bool shortest = is_shortest(piece) || pieces_.size() + 2 > pieces_.capacity();
    for (std::size_t k = piece.first; k < piece.last; ++k) {
        const std::size_t which = undecided_[k];
        Crossing& c = crossings[which];
        if (!std::isnan(c.at)) continue;
        if (c.arrives && !has_arrived(c, over[which], at_end_[which], shortest)) {
            if (c.arrives && !shortest && !(times(c.side, over[which].value).hi < 0)) undecided_.push_back(which);
            continue;
        }
        switch (judge(c, piece, over[which], at_end_[which])) {
            case Verdict::none:
                if (c.side == 0 && std::abs(at_end_[which]) > c.noise) c.side = at_end_[which] > 0 ? 1 : -1;
                if (c.side * at_end_[which] > 0) c.clear = piece.b;
                if (c.side * at_end_[which] > c.noise) {
                    c.noise = std::min(c.noise, c.least);
                    c.on_zero = false;
                }
                break;
            case Verdict::crossing: cross(c, piece, which); break;
            case Verdict::no_value: lose(c, piece.a); break;
            case Verdict::near_zero: settle(c, piece, which); break;
            case Verdict::unclear:
                if (shortest)
                    settle(c, piece, which);
                else
                    undecided_.push_back(which);
        }
    }
    const std::size_t count = undecided_.size() - kept;
    if (count == 0) return;
    // the earlier half is looked at first, and its list lies above that of the later one
    const double middle = piece.a + 0.5 * (piece.b - piece.a);
    undecided_.resize(kept + 2 * count);
    std::copy_n(undecided_.begin() + static_cast<std::ptrdiff_t>(kept), count,
                undecided_.begin() + static_cast<std::ptrdiff_t>(kept + count));
    pieces_.push_back({middle, piece.b, kept, kept + count});
    pieces_.push_back({piece.a, middle, kept + count, kept + 2 * count});
}

// In pieces that are on the way to its side there is nothing to find; the one in which it gets there is as short as can be.
bool CrossingSearch::has_arrived(Crossing& c, const MovingInterval& over, double at_end, bool shortest) {
    if (times(c.side, over.value).lo > 0) {
        c.arrives = false;
        return true;
    }
    if (shortest && c.side * at_end > c.noise) c.arrives = false;
    return false;
}

CrossingSearch::Verdict CrossingSearch::judge(const Crossing& c, const Piece& piece, const MovingInterval& over,
                                              double at_end) const {
    if (over.value.empty()) return Verdict::no_value;
    if (!std::isfinite(at_end)) return Verdict::unclear;
    Interval value = over.value;
    const bool slope_known = over.rate.bounded();
    if (slope_known) value = common_part(value, Interval(at_end) + over.rate * Interval(piece.a - piece.b, 0));
    const bool monotone = slope_known && !over.rate.contains(0);
    const double noise = std::max(c.noise, 0.0);
    if (c.side == 0) {
        if (value.largest() <= noise) return Verdict::none;
        const bool clear = std::abs(at_end) > noise;
        // it sets out on zero: monotone, it is on one side from then on
        if (clear && (monotone || value.lo > 0 || value.hi < 0)) return c.leaves ? Verdict::crossing : Verdict::none;
        return Verdict::unclear;
    }
    if (times(c.side, value).lo >= -noise) {  // it does not cross zero; does it touch it?
        if (monotone || times(c.side, value).lo > c.band) return Verdict::none;
        return value.largest() <= c.band ? Verdict::near_zero : Verdict::unclear;
    }
    if (monotone) return beyond(c.side, at_end, noise) ? Verdict::crossing : Verdict::none;
    // beyond throughout: it was there already
    if (times(c.side, value).hi < -noise) return Verdict::crossing;
    return value.largest() <= c.band ? Verdict::near_zero : Verdict::unclear;
}

// No shorter interval can be had, or the function stays near zero: its end tells.
void CrossingSearch::settle(Crossing& c, const Piece& piece, std::size_t which) {
    const double at_end = at_end_[which];
    if (!std::isfinite(at_end)) {
        if (!c.through_infinity || !has_value_after(piece.b, which)) lose(c, piece.b);
    } else if (c.side == 0) {
        if (std::abs(at_end) <= c.noise) return;
        if (c.leaves)
            cross(c, piece, which);
        else
            c.side = at_end > 0 ? 1 : -1;
    } else if (beyond(c.side, at_end, c.noise)) {
        cross(c, piece, which);
    } else if (std::isnan(c.grazes)) {
        c.grazes = piece.b;
    }
}

// A pole, or 0/0, that is met exactly: a single place without a value, where the search goes on.
bool CrossingSearch::has_value_after(double s, std::size_t which) const {
    const double next = std::max(1e-12 * (end_ - begin_), 32 * std::numeric_limits<double>::epsilon() * std::abs(s));
    return std::isfinite(functions_->evaluate(s + next)[which]);
}

void CrossingSearch::lose(Crossing& c, double at) const {
    if (std::isnan(c.lost)) c.lost = at;
    if (!c.through_infinity) c.side = 0;
}

// It grows without bound towards the place between a and b where its sign changes.
bool CrossingSearch::is_pole(const Piece& piece, double a, double b, std::size_t which) const {
    constexpr double k_larger = 1e3;
    const auto size = [&](double s) { return std::abs(functions_->evaluate(s)[which]); };
    const double there = std::min(size(a), size(b));
    return there > k_larger * std::max(size(begin_), size(end_)) && there >= std::max(size(piece.a), size(piece.b));
}

// Where side times the function falls below `zero` between a and b, which then enclose that place as closely as can be: by the
// rule of Illinois, which keeps the root between two values of different sign and halves the interval where it would stall.
void CrossingSearch::section(std::size_t which, int side, double zero, double& a, double& b) const {
    const auto above_zero = [&](double s) { return side * functions_->evaluate(s)[which] - zero; };
    double ga = above_zero(a), gb = above_zero(b);
    if (!(ga > 0)) ga = zero < 0 ? -zero : std::numeric_limits<double>::min();  // it sets out beyond
    bool halve = false;
    for (int i = 0; i < k_most_sections && gb < 0; ++i) {
        double middle = a + (b - a) * (ga / (ga - gb));
        if (halve || !(middle > a && middle < b)) middle = a + 0.5 * (b - a);
        if (!(middle > a && middle < b)) break;
        const double before = b - a;
        const double g = above_zero(middle);
        if (g <= 0) {
            if (gb == g || b - middle < 0.1 * before) ga *= 0.5;
            b = middle;
            gb = g;
        } else {
            if (middle - a < 0.1 * before) gb *= 0.5;
            a = middle;
            ga = g;
        }
        halve = b - a > 0.5 * before;
    }
}

// From b back, in steps that double: to where the function is clear of round-off on its side, if it is anywhere.
bool CrossingSearch::go_back_to_clear(const Crossing& c, std::size_t which, int side, double b, double& clear) const {
    for (double way = std::numeric_limits<double>::epsilon() * std::max(1.0, std::abs(b)); b - way > begin_; way *= 2) {
        if (!(side * functions_->evaluate(b - way)[which] > c.least)) continue;
        clear = b - way;
        return true;
    }
    return false;
}

// The first place that is not on the side before any more. A function that sets out on zero has passed as soon as it is clearly
// on the other side.
void CrossingSearch::cross(Crossing& c, const Piece& piece, std::size_t which) {
    const int side = c.side != 0 ? c.side : at_end_[which] > 0 ? -1 : 1;
    double a = piece.a, b = piece.b;
    const auto is_on_side = [&](double s) { return side * functions_->evaluate(s)[which] > 0; };
    if (c.side == 0 || c.on_zero) {
        section(which, side, -c.noise, a, b);
        // where round-off changes the sign at once, it may be above zero for a while all the same, as in a low bounce
        if (go_back_to_clear(c, which, side, b, a)) section(which, side, 0, a, b);
    } else if (is_on_side(a) || is_on_side(a = c.clear)) {
        section(which, side, 0, a, b);
    } else {
        b = begin_;  // it was beyond zero there already, by no more than round-off
    }
    if (!c.through_infinity && is_pole(piece, a, b, which)) {
        lose(c, b);
        c.side = -side;
        return;
    }
    c.at = b;
    first_ = std::min(first_, b);
}

}  // namespace appell
