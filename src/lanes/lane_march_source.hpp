// The text of a turn of a march, which is part of the kernels (lane_kernels_source.hpp). What ExplicitRungeKutta, DormandPrince,
// Projector, RowWatch and Stretch do along an ordinary step is done here by the same operations in the same order; tests compare
// runs to the last bit. The same note applies: nothing of the standard library is called.
#include "lanes/lane_march_plan.hpp"
#include "sim/project_limits.hpp"
#include "sim/row_watch_limits.hpp"
#include "sim/step_size.hpp"

namespace appell {

namespace {

struct PackWords {
    using Bits = std::uint64_t __attribute__((vector_size(8 * k_lanes), may_alias));
    static inline Bits all(std::uint64_t bits) { return Bits{} + bits; }
    static inline Pack all(double x) { return Pack{} + x; }
    static inline Bits bits(const Pack& x) { return (Bits)x; }
    static inline Pack number(const Bits& bits) { return (Pack)bits; }
};

inline Pack magnitude(const Pack& x) { return PackWords::number(PackWords::bits(x) & PackWords::all(~(std::uint64_t(1) << 63))); }
// as std::max and std::min choose
inline Pack larger(const Pack& a, const Pack& b) { return a < b ? b : a; }
inline Pack smaller(const Pack& a, const Pack& b) { return b < a ? b : a; }
inline Pack one_where(const Choice& choice) { return choice ? Pack{} + 1.0 : Pack{}; }

class Turn {
public:
    explicit Turn(const LaneMarchPlan& plan) : p_(plan), n_(plan.one) {}

    // The lanes that stay, of those given: a step was taken, or the next one will be shorter. The others are as they were.
    LaneMask run(LaneMask among) {
        for (std::size_t k = 0; k < k_lanes; ++k) going_[k] = (among >> k & 1u) != 0 ? -1 : 0;
        set_out();
        if (!none() && evaluate_stages()) judge_error();
        const Choice shortened = going_ & ~accepted_;
        going_ &= accepted_;
        if (!none()) correct(p_.position, p_.of_position, p_.position_rows, 0, p_.coordinates);
        if (!none()) correct(p_.velocity, p_.of_velocity, p_.rows, p_.coordinates, p_.states);
        if (!none() && p_.constraints != 0) watch();
        if (!none()) evaluate_again();
        if (!none()) judge_pivots();
        if (!none()) accept();
        if (bits(shortened) != 0) shorten(shortened);
        return bits(going_ | shortened);
    }

private:
    [[nodiscard]] bool none() const { return bits(going_) == 0; }
    static void put(double* number, const Choice& where, const Pack& value) { in(number, 0) = where ? value : in(number, 0); }
    static void add(double* number, const Choice& where, double value) { in(number, 0) += where ? Pack{} + value : Pack{}; }
    [[nodiscard]] static Pack output(const LaneEvaluation& of, std::size_t i) { return in(of.outputs, of.places[i]); }
    void keep(LaneMask good) {
        for (std::size_t k = 0; k < k_lanes; ++k)
            if ((good >> k & 1u) == 0) going_[k] = 0;
    }
    static LaneMask evaluate(const LaneEvaluation& of, const Pack& t, const double* x, std::size_t count) {
        in(of.slots, 0) = t;
        for (std::size_t i = 0; i < count; ++i) in(of.slots, 1 + i) = in(x, i);
        return of.run(of.workspace);
    }

    // ---- ExplicitRungeKutta::step

    void set_out() {
        const Pack t = in(n_.t, 0), t_end = in(n_.t_end, 0), most = in(n_.max_step, 0), direction = in(n_.direction, 0);
        Pack h = in(n_.h, 0);
        h = ((most > 0.0) & (magnitude(h) > most)) ? direction * most : h;
        const Pack left = t_end - t;
        going_ &= magnitude(h) >= k_least_step * larger(magnitude(t), k_least_of_left * magnitude(left));
        const Choice last = magnitude(left) <= k_almost_there * magnitude(h);
        h_ = last ? left : h;
        t_new_ = last ? t_end : t + h;
        going_ &= in(n_.steps, 0) < in(n_.most_steps, 0);
        going_ &= ~(direction * (t_new_ - in(n_.t_row, 0)) > 0.0);
        in(p_.step, 0) = h_;
    }

    bool evaluate_stages() {
        const std::size_t size = p_.carried, count = p_.stages;
        for (std::size_t i = 0; i < size; ++i) in(p_.rates, i) = in(p_.rate_at_x, i);
        for (std::size_t stage = 1; stage <= count; ++stage) {
            double* const state = stage == count ? p_.trial : stage + 1 == count ? p_.last_stage : p_.inside;
            move(state, p_.x, p_.step, p_.rates, p_.tableau + (stage - 1) * count, stage, size);
            const bool at_end = stage == count || p_.nodes[stage - 1] == 1;
            const Pack t = at_end ? t_new_ : in(n_.t, 0) + h_ * p_.nodes[stage == count ? 0 : stage - 1];
            keep(evaluate(p_.rate, t, state, p_.states));
            if (none()) return false;
            for (std::size_t i = 0; i < size; ++i) in(p_.rates, stage * size + i) = output(p_.rate, i);
        }
        rate_pivot_ = pivot_of(p_.rate);
        return true;
    }

    // sum of weights times h times rates, the end's among them
    [[nodiscard]] Pack weighted(const double* weights, std::size_t i) const {
        Pack sum{};
        for (std::size_t j = 0; j <= p_.stages; ++j)
            if (weights[j] != 0) sum += weights[j] * h_ * in(p_.rates, j * p_.carried + i);
        return sum;
    }
    static Pack largest(Pack a, Pack b) {
        a = a < 0.0 ? -a : a;
        b = b < 0.0 ? -b : b;
        return a < b ? b : a;
    }
    [[nodiscard]] Pack weight(std::size_t i) const {
        return in(p_.atol, i) + in(n_.rtol, 0) * largest(in(p_.x, i), in(p_.trial, i));
    }

    void judge_error() {
        const auto square = [&](std::size_t i) {
            const Pack e = weighted(p_.error, i) * (1.0 / weight(i));
            return e * e;
        };
        Pack even{}, odd{};
        std::size_t i = 0;
        for (; i + 1 < p_.states; i += 2) {
            even += square(i);
            odd += square(i + 1);
        }
        if (i < p_.states) even += square(i);
        squared_error_ = (even + odd) * in(n_.share, 0);
        log2_square_ = log2_about<PackWords>(squared_error_);
        accepted_ = squared_error_ <= 1.0;
    }

    void shorten(const Choice& where) {
        const Pack least = PackWords::all(1 / p_.most_shrink), raw = shrink_about<PackWords>(log2_square_, p_.alpha);
        const Choice finite = squared_error_ - squared_error_ == Pack{};
        put(n_.h, where, h_ * (finite ? larger(least, raw) : least));
        put(n_.rejected, where, PackWords::all(1.0));
        add(n_.rejections, where, 1);
        add(n_.evaluations, where, static_cast<double>(p_.stages));
    }

    // ExplicitRungeKutta::look_for_stiffness
    void look_for_stiffness() {
        const Choice asked = going_ & ((in(n_.at_the_bound, 0) != 0.0) | (in(n_.phase, 0) == 0.0));
        if (bits(asked) == 0) return;
        Pack rates{}, states{};
        for (std::size_t i = 0; i < p_.states; ++i) {
            const Pack w = weight(i), inverse = 1.0 / (w * w);
            const Pack of_rate = in(p_.rates, p_.stages * p_.carried + i) - in(p_.rates, (p_.stages - 1) * p_.carried + i);
            const Pack of_state = in(p_.trial, i) - in(p_.last_stage, i);
            rates += of_rate * of_rate * inverse;
            states += of_state * of_state * inverse;
        }
        constexpr double k_enough = k_stiff_enough, k_others = k_stiff_others;
        const Choice stiff = asked & (states > 0.0) & (h_ * h_ * rates > p_.stability * p_.stability * states);
        const Choice others = asked & ~stiff;
        put(n_.below_it, stiff, Pack{});
        add(n_.at_the_bound, stiff, 1);
        put(n_.stiff_from, stiff & (in(n_.at_the_bound, 0) == k_enough) & (in(n_.stiff_steps, 0) == 0.0), t_new_);
        add(n_.below_it, others, 1);
        put(n_.at_the_bound, others & (in(n_.below_it, 0) == k_others), Pack{});
        add(n_.stiff_steps, asked & (in(n_.at_the_bound, 0) >= k_enough), 1);
    }

    // ---- Projector::project, without halving

    void correct(const LaneEvaluation& of, const LaneMarchPlan::Outputs& at, std::size_t rows, std::size_t begin,
                 std::size_t end) {
        if (begin == 0)
            for (std::size_t i = 0; i < p_.carried; ++i) in(p_.state, i) = in(p_.trial, i);
        if (rows == 0) return;
        constexpr auto k_most = static_cast<double>(projection::k_most_corrections);
        Pack previous = PackWords::all(__builtin_inf()), corrections{};
        for (;;) {
            keep(evaluate(of, t_new_, p_.state, p_.states));
            Pack scaled{};
            for (std::size_t i = at.scaled; i < at.scaled_end; ++i) scaled = larger(scaled, magnitude(output(of, i)));
            const Choice converged =
                (scaled <= projection::k_round_off) | ((scaled <= projection::k_good_enough) & (scaled >= 0.5 * previous));
            Choice open = going_ & ~converged;
            going_ &= ~(open & (corrections == k_most));
            open &= going_;
            if (bits(open) == 0) break;
            previous = open ? scaled : previous;
            for (std::size_t i = begin; i < end; ++i)
                in(p_.state, i) = open ? in(p_.state, i) + output(of, at.correction + i - begin) : in(p_.state, i);
            corrections += one_where(open);
        }
        corrections_ += corrections;
        Pack largest_entry{};
        for (std::size_t i = begin; i < end; ++i) largest_entry = larger(largest_entry, magnitude(in(p_.state, i)));
        for (std::size_t i = begin; i < end; ++i) {
            const Pack x = in(p_.state, i);
            moved_ |= magnitude(x - in(p_.trial, i)) >
                      projection::k_moved * (magnitude(x) + projection::k_moved_of_largest * largest_entry);
        }
    }

    // ---- RowWatch::look

    // of the last evaluation of the velocity rows
    void take(const LaneMarchPlan::Sample& sample) {
        const LaneSolvePlan& solve = *p_.velocity.pivots[0].solve;
        const std::size_t n = solve.n, m = solve.m;
        for (std::size_t i = 0; i < m * n; ++i) in(sample.rows, i) = in(solve.A, i);
        for (std::size_t k = 0; k < m && m > 1; ++k)
            for (std::size_t row = 0; row < m; ++row) {
                const Choice here = in(solve.pivot, k) == static_cast<double>(row);
                for (std::size_t i = 0; i < n; ++i) {
                    Pack& direction = in(sample.directions, row * n + i);
                    direction = here ? in(solve.Q, k * n + i) : direction;
                }
            }
        for (std::size_t c = 0; c < p_.constraints; ++c) {
            Pack square{};
            for (std::size_t i = p_.row_begin[c]; i < p_.row_begin[c + 1]; ++i) square += in(sample.rows, i) * in(sample.rows, i);
            root(in(sample.sizes, c), square);
            going_ &= square - square == Pack{};
        }
        in(sample.sizes, p_.constraints) = pivot_of(p_.velocity);
        weigh_components(sample);
    }
    void weigh_components(const LaneMarchPlan::Sample& sample) {
        const std::size_t n = p_.velocity.pivots[0].solve->n;
        Pack least = PackWords::all(1.0);
        for (std::size_t c = 0; c < p_.constraints; ++c) {
            const std::size_t begin = p_.row_begin[c], end = p_.row_begin[c + 1];
            if (end - begin <= n) continue;
            const Pack whole = in(sample.sizes, c) * in(sample.sizes, c);
            for (std::size_t row = begin; row < end; row += n) {
                Pack square{};
                for (std::size_t i = row; i < row + n; ++i) square += in(sample.rows, i) * in(sample.rows, i);
                const Pack share = row_watch::k_whole_component * square / whole;
                least = share < least ? share : least;
            }
        }
        Pack factor;
        root(factor, least);
        in(sample.sizes, p_.constraints) *= factor;
    }
    void sample_at(const LaneMarchPlan::Sample& sample, const Pack& t, const double* x) {
        keep(evaluate(p_.velocity, t, x, p_.states));
        take(sample);
    }
    [[nodiscard]] Pack product(const LaneMarchPlan::Sample& a, const LaneMarchPlan::Sample& b, std::size_t c) const {
        Pack sum{};
        for (std::size_t i = p_.row_begin[c]; i < p_.row_begin[c + 1]; ++i) sum += in(a.rows, i) * in(b.rows, i);
        return sum;
    }
    [[nodiscard]] Choice turns(const LaneMarchPlan::Sample& a, const LaneMarchPlan::Sample& b, std::size_t c) const {
        return product(a, b, c) < row_watch::k_cosine_of_small_turn * in(a.sizes, c) * in(b.sizes, c);
    }
    // where it is asked for
    [[nodiscard]] Pack angle(const LaneMarchPlan::Sample& a, const LaneMarchPlan::Sample& b, std::size_t c,
                             const Choice& where) const {
        const Pack cosine = product(a, b, c) / in(a.sizes, c) / in(b.sizes, c);
        Pack out{};
        for (std::size_t k = 0; k < k_lanes; ++k)
            if (where[k] != 0 && in(a.sizes, c)[k] > 0 && in(b.sizes, c)[k] > 0)
                out[k] = p_.arc_cosine(cosine[k] < -1 ? -1 : 1 < cosine[k] ? 1 : cosine[k]);
        return out;
    }
    // the directions may have come out with the opposite orientation
    [[nodiscard]] Choice may_be_turned_over(const LaneMarchPlan::Sample& a, const LaneMarchPlan::Sample& b) const {
        if (p_.rows < 2) return Choice{};
        Pack changed{};
        for (std::size_t i = 0; i < p_.row_begin[p_.constraints]; ++i) {
            const Pack difference = in(b.directions, i) - in(a.directions, i);
            changed += difference * difference;
        }
        return ~(changed < row_watch::k_same_orientation);
    }

    // the continuous extension of DormandPrince
    void prepare_extension() {
        const double* const end_rate = p_.rates + k_lanes * p_.stages * p_.carried;
        for (std::size_t i = 0; i < p_.states; ++i) {
            const Pack change = in(p_.trial, i) - in(p_.x, i), bend = h_ * in(p_.rate_at_x, i) - change;
            in(p_.change, i) = change;
            in(p_.bend, i) = bend;
            in(p_.twist, i) = change - h_ * in(end_rate, i) - bend;
            in(p_.fourth, i) = weighted(p_.extension, i);
        }
    }
    [[nodiscard]] Pack entry_at(const Pack& s, std::size_t i) const {
        const Pack r = 1.0 - s;
        return in(p_.x, i) + s * (in(p_.change, i) + r * (in(p_.bend, i) + s * (in(p_.twist, i) + r * in(p_.fourth, i))));
    }
    [[nodiscard]] Pack share_at(const Pack& t) const { return (t - in(n_.t, 0)) / h_; }
    [[nodiscard]] Pack speed(const double* x) const {
        Pack out{};
        for (std::size_t i = p_.coordinates; i < p_.states; ++i) out = larger(out, magnitude(in(x, i)));
        return out;
    }
    void inside_at(const Pack& t) {
        const Pack s = share_at(t);
        for (std::size_t i = 0; i < p_.states; ++i) in(p_.inside, i) = entry_at(s, i);
    }

    // look_along, look_ahead, look_at_rest, and what is worth a look around: all that finds nothing
    void watch() {
        using namespace row_watch;
        take(p_.after);
        prepare_extension();
        const Pack t = in(n_.t, 0), whole = t_new_ - t, t_middle = t + 0.5 * whole;
        inside_at(t_middle);
        const Pack middle_speed = speed(p_.inside);
        sample_at(p_.middle, t_middle, p_.inside);
        for (std::size_t c = 0; c <= p_.constraints; ++c) {
            const Pack a = in(p_.before.sizes, c), b = in(p_.middle.sizes, c), d = in(p_.after.sizes, c);
            going_ &= ~(smaller(smaller(a, b), d) < k_steady * larger(larger(a, b), d));
        }
        for (std::size_t c = 0; c < p_.constraints; ++c) {
            const Choice turned = going_ & (turns(p_.before, p_.middle, c) | turns(p_.middle, p_.after, c));
            if (bits(turned) == 0) continue;
            const Pack first = angle(p_.before, p_.middle, c, turned), second = angle(p_.middle, p_.after, c, turned);
            const Pack less = smaller(first, second), more = larger(first, second);
            going_ &= ~(turned & (((more > k_small_turn) & (more > k_uneven * less)) | (more > k_notable_turn)));
        }
        going_ &= ~(may_be_turned_over(p_.before, p_.middle) | may_be_turned_over(p_.middle, p_.after));
        if (none()) return;

        const Pack ahead = share_at(t + k_beginning * whole);
        for (std::size_t i = 0; i < p_.states; ++i)
            in(p_.inside, i) = in(p_.x, i) + (entry_at(ahead, i) - in(p_.x, i)) / k_beginning;
        sample_at(p_.ahead, t_new_, p_.inside);
        for (std::size_t c = 0; c < p_.constraints; ++c) {
            const Choice turned = going_ & turns(p_.ahead, p_.after, c);
            if (bits(turned) == 0) continue;
            const Pack to_end = angle(p_.ahead, p_.after, c, turned), of_step = angle(p_.before, p_.after, c, turned);
            going_ &= ~(turned & (to_end > k_small_turn) & (to_end > k_uneven * of_step));
        }
        going_ &= ~may_be_turned_over(p_.ahead, p_.after);

        longest_step_ = larger(in(n_.longest_step, 0), magnitude(whole));
        going_ &= magnitude(whole) > k_short_step * longest_step_;
        inside_at(t + whole);
        const Pack first = speed(p_.x), last = speed(p_.inside);
        going_ &= ~(smaller(smaller(first, middle_speed), last) < k_steady * larger(larger(first, middle_speed), last));

        going_ &= ~(in(p_.after.sizes, p_.constraints) < k_nearly_lost);
        for (std::size_t c = 0; c < p_.constraints; ++c) going_ &= ~(in(p_.after.sizes, c) < k_nearly_lost * in(p_.longest, c));
    }

    // ---- Stretch::loop

    // the rate where the corrections have led to
    void evaluate_again() {
        const double* const end_rate = p_.rates + k_lanes * p_.stages * p_.carried;
        for (std::size_t i = 0; i < p_.carried; ++i) in(p_.end_rate, i) = in(end_rate, i);
        moved_ &= going_;
        if (bits(moved_) == 0) return;
        const LaneMask good = evaluate(p_.rate, t_new_, p_.state, p_.states);
        keep(good | ~bits(moved_));
        for (std::size_t i = 0; i < p_.carried; ++i) in(p_.end_rate, i) = moved_ ? output(p_.rate, i) : in(p_.end_rate, i);
        rate_pivot_ = moved_ ? pivot_of(p_.rate) : rate_pivot_;
    }

    // EvalReport::smallest_pivot
    [[nodiscard]] static Pack pivot_of(const LaneEvaluation& of) {
        Pack smallest = PackWords::all(1.0);
        for (std::size_t s = 0; s < of.pivots_count; ++s) {
            const LaneEvaluation::Pivots& p = of.pivots[s];
            Pack least = PackWords::all(1.0);
            if (p.solve == nullptr) {
                for (std::size_t i = 0; i < p.pivots.size; ++i) {
                    const Pack share = in(of.slots, p.pivots.begin[i]) / in(of.slots, p.diagonals.begin[i]);
                    least = share < least ? share : least;
                }
                const Pack square = least;
                root(least, square);
            } else if (const std::size_t m = p.solve->m; m > 1) {
                least = in(p.solve->R, m * m - 1);
            }
            smallest = smaller(smallest, least);
        }
        return smallest;
    }

    void judge_pivots() {
        pivot_ = p_.rows == 0 ? rate_pivot_ : smaller(rate_pivot_, in(p_.after.sizes, p_.constraints));
        going_ &= ~(pivot_ < in(n_.least_pivot, 0));
    }

    void accept() {
        Pack growth = growth_about<PackWords>(log2_square_, in(n_.log_error, 0), p_.alpha, p_.beta);
        const Pack least = PackWords::all(1 / p_.most_shrink), most = PackWords::all(p_.most_growth);
        growth = growth < least ? least : most < growth ? most : growth;
        growth = in(n_.rejected, 0) != 0.0 ? smaller(growth, PackWords::all(1.0)) : growth;
        put(n_.log_error, going_, larger(k_half_ln2 * log2_square_, PackWords::all(k_least_log_error)));
        look_for_stiffness();
        put(n_.rejected, going_, Pack{});
        put(n_.h, going_, h_ * growth);
        const Pack whole = magnitude(t_new_ - in(n_.t, 0));
        put(n_.longest_taken, going_, larger(in(n_.longest_taken, 0), whole));
        put(n_.t_previous, going_, in(n_.t, 0));
        put(n_.t, going_, t_new_);
        add(n_.steps, going_, 1);
        put(n_.phase, going_, in(n_.phase, 0) == k_stiff_asked - 1.0 ? Pack{} : in(n_.phase, 0) + 1.0);
        add(n_.evaluations, going_, static_cast<double>(p_.stages));
        add(n_.evaluations, moved_ & going_, 1);
        put(n_.projections, going_, in(n_.projections, 0) + corrections_);
        const Choice lower = going_ & (pivot_ < in(n_.smallest_pivot, 0));
        put(n_.smallest_pivot, lower, pivot_);
        put(n_.smallest_pivot_at, lower, t_new_);
        const auto copy = [&](double* to, const double* from, std::size_t count) {
            for (std::size_t i = 0; i < count; ++i) in(to, i) = going_ ? in(from, i) : in(to, i);
        };
        copy(p_.x, p_.state, p_.carried);
        copy(p_.rate_at_x, p_.end_rate, p_.carried);
        // RowWatch::accept
        if (p_.constraints != 0) {
            put(n_.longest_step, going_, longest_step_);
            const std::size_t entries = p_.row_begin[p_.constraints];
            copy(p_.before.rows, p_.after.rows, entries);
            if (p_.rows > 1) copy(p_.before.directions, p_.after.directions, entries);
            copy(p_.before.sizes, p_.after.sizes, p_.constraints + 1);
            for (std::size_t c = 0; c < p_.constraints; ++c)
                put(p_.longest + k_lanes * c, going_, larger(in(p_.longest, c), in(p_.before.sizes, c)));
        }
        for (std::size_t i = 0; i < p_.coordinates; ++i)
            put(p_.coordinate_sizes + k_lanes * i, going_, larger(in(p_.coordinate_sizes, i), magnitude(in(p_.x, i))));
        Pack speeds = in(n_.speed_size, 0);
        for (std::size_t i = p_.coordinates; i < p_.states; ++i) speeds = larger(speeds, magnitude(in(p_.x, i)));
        put(n_.speed_size, going_, speeds);
    }

    const LaneMarchPlan& p_;
    const LaneMarchPlan::Numbers& n_;
    Choice going_{}, accepted_{}, moved_{};
    Pack h_{}, t_new_{}, squared_error_{}, log2_square_{}, corrections_{}, rate_pivot_{}, pivot_{}, longest_step_{};
};

LaneMask turn(const LaneMarchPlan& plan, LaneMask among) { return Turn(plan).run(among); }

}  // namespace

}  // namespace appell
