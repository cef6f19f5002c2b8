// What explicit Runge-Kutta methods have in common: the way steps are taken, rejected, taken back and replaced. A method adds
// its stages, its error estimate and its continuous extension; its coefficients are constants of the program, so that a stage
// costs what it costs when written out by hand, and zeros cost nothing.
//
// Adaptive: weights of an error are atol + rtol * max(|x before|, |x after|), root mean square over the state; step control and
// first step after E. Hairer, S. P. Norsett, G. Wanner, Solving Ordinary Differential Equations I, II.4. Entries whose atol is
// infinite, and those that the system does not have controlled, are carried along without a say.
//
// Fixed: steps go from one multiple of the step to the next, counted from the start. Only where one fails, or is taken back, the
// way to the next multiple is done in shorter ones.
//
// The rate at the end of an accepted step is always the last one evaluated in it, and the first stage of the next step.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "sim/integrator.hpp"
#include "sim/neighbours.hpp"

namespace appell {

// Entries of a state, which are exchanged with others of the same size by their addresses: a step does that several times.
class Entries {
public:
    explicit Entries(std::size_t size) : data_(std::make_unique<double[]>(size)), size_(size) {}
    void exchange(Entries& other) noexcept { data_.swap(other.data_); }

    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] double* data() { return data_.get(); }
    [[nodiscard]] const double* data() const { return data_.get(); }
    [[nodiscard]] double* begin() { return data(); }
    [[nodiscard]] double* end() { return data() + size_; }
    [[nodiscard]] const double* begin() const { return data(); }
    [[nodiscard]] const double* end() const { return data() + size_; }
    [[nodiscard]] double& operator[](std::size_t i) { return data_[i]; }
    [[nodiscard]] double operator[](std::size_t i) const { return data_[i]; }
    operator std::span<const double>() const { return {data(), size_}; }
    operator std::span<double>() { return {data(), size_}; }

private:
    std::unique_ptr<double[]> data_;
    std::size_t size_;
};

class ExplicitRungeKutta : public Integrator {
public:
    [[nodiscard]] StepStatus start(double t, std::span<const double> x, double t_end) override;
    [[nodiscard]] StepStatus step() override;
    [[nodiscard]] bool retreat() override;
    [[nodiscard]] bool dense(double t, std::span<double> x) override;
    [[nodiscard]] bool bounds(std::span<const std::size_t> entries, std::span<double> low, std::span<double> high) override;
    [[nodiscard]] std::size_t dense_degree() const override { return 4; }
    [[nodiscard]] StepStatus replace_state(std::span<const double> x, bool rate_too) override;
    [[nodiscard]] bool checkpoint(Checkpoint& checkpoint) override;
    void take_back(const March& march) override;

    [[nodiscard]] double t() const override { return t_; }
    [[nodiscard]] double t_previous() const override { return t_previous_; }
    [[nodiscard]] bool at_end() const override { return t_ == t_end_; }
    [[nodiscard]] std::span<const double> x() const override { return x_; }
    [[nodiscard]] RateStatus rate_status() const override { return rate_status_; }
    [[nodiscard]] const IntegratorStatistics& statistics() const override { return statistics_; }

protected:
    struct Control {
        int order;                        // of the method
        double alpha, beta;               // powers of this error and of the last one in the next step
        double most_growth, most_shrink;  // of one step to the next
        bool end_rate_in_error;           // the error estimate needs the rate at the new state
        double stability;                 // h |lambda| beyond which a decay at rate lambda is not followed any more
    };
    ExplicitRungeKutta(FirstOrderSystem& system, const IntegratorOptions& options, const Control& control);

    // a step of size h from (t_, x_), whose rate is rate_: the new state into trial_; false when a rate fails
    [[nodiscard]] virtual bool stages(double h, double t_new) = 0;
    // of the step just tried, in weights; at most 1 is accepted. Squared, since the next step waits for it, and its logarithm
    // needs no root
    [[nodiscard]] virtual double squared_error(double h) const = 0;
    // The coefficients of the continuous extension of the last step, for `interpolate`. The step went from x_previous_, with
    // rate_previous_, to end() with end_rate(). May evaluate rates; false when one fails.
    [[nodiscard]] virtual bool prepare_dense(double h) = 0;
    virtual void interpolate(double share, std::span<double> x) const = 0;
    // between which values entries are, with bound_extension
    virtual void bound(std::span<const std::size_t> entries, std::span<double> low, std::span<double> high) const = 0;
    // the rate at last_stage_, of the step just tried
    [[nodiscard]] virtual const std::vector<double>& last_stage_rate() const = 0;

    // what methods have in common of `lend`
    [[nodiscard]] bool lend_steps(March& march);
    [[nodiscard]] const Control& control() const { return control_; }

    [[nodiscard]] bool evaluate(double t, std::span<const double> x, std::span<double> xd);
    [[nodiscard]] NativeEvaluation native_rate() { return system_.native_rate(); }
    [[nodiscard]] bool evaluate(const NativeEvaluation& native, double t, const Entries& x, std::span<double> xd) {
        if (native.function == nullptr) return evaluate(t, x, xd);
        native.slots[0] = t;
        if (!native(x.data(), xd.data())) return evaluate(t, x, xd);
        ++statistics_.evaluations;
        return true;
    }
    [[nodiscard]] bool evaluate_at_once(const StepStages& stages);
    // mean of the squares of an error in weights, over the entries that count; `size` is that of controlled()
    template <class Error>
    [[nodiscard]] double mean_square(const Error& error) const {
        return mean_square(controlled_, error);
    }
    template <class Size, class Error>
    [[nodiscard]] double mean_square(Size size, const Error& error) const {
        const double *const x = x_.data(), *const trial = trial_.data(), *const atol = atol_.data();
        const double rtol = options_.rtol;
        const auto square = [&](std::size_t i) {
            // the weight is known before the rate that the error waits for
            const double e = error(i) * (1 / (atol[i] + rtol * largest(x[i], trial[i])));
            return e * e;
        };
        double even = 0, odd = 0;  // side by side, so that no addition waits for the one before
        std::size_t i = 0;
        for (; i + 1 < size; i += 2) {
            even += square(i);
            odd += square(i + 1);
        }
        if (i < size) even += square(i);
        return (even + odd) * share_;
    }
    [[nodiscard]] std::size_t controlled() const { return controlled_; }
    [[nodiscard]] double h_done() const { return h_done_; }
    [[nodiscard]] const Entries& end() const { return replaced_ ? reached_ : x_; }
    [[nodiscard]] const Entries& end_rate() const { return replaced_ ? reached_rate_ : rate_; }

    double t_ = 0, t_previous_ = 0;
    Entries x_, x_previous_, trial_;
    Entries rate_, rate_previous_, rate_trial_;
    Entries last_stage_;  // its state, at the end of the step like trial_

private:
    static double largest(double a, double b) {
        a = a < 0 ? -a : a;
        b = b < 0 ? -b : b;
        return a < b ? b : a;
    }
    [[nodiscard]] double weighted_norm(std::span<const double> v) const;
    [[nodiscard]] double first_step();
    [[nodiscard]] double least_step() const;
    [[nodiscard]] bool fixed() const { return options_.fixed_step > 0; }
    [[nodiscard]] double next_stop() const;
    void look_for_stiffness(double h, double t_new);

    FirstOrderSystem& system_;
    std::size_t controlled_;  // leading entries
    IntegratorOptions options_;
    Control control_;
    IntegratorStatistics statistics_;
    RateStatus rate_status_ = RateStatus::ok;
    std::vector<double> atol_;
    double share_ = 0;  // of an entry with a finite atol in a mean over these
    double t_start_ = 0, t_end_ = 0;
    double h_ = 0;       // size of the next step, signed
    double h_done_ = 0;  // size of the last step
    double direction_ = 1;
    bool far_ = false;  // from zero (integrator.hpp)
    double previous_log_error_ = 0;
    double multiple_ = 0;                          // of the fixed step: the last one passed
    double multiple_before_ = 0;                   // the same before the last step
    std::size_t at_the_bound_ = 0, below_it_ = 0;  // steps, of look_for_stiffness
    bool rejected_ = false;                        // the last trial was rejected: the step must not grow at once
    bool dense_ready_ = false;                     // the continuous extension belongs to the last step
    bool replaced_ = false;                        // x_ is not what the last step reached; reached_ is
    Entries reached_, reached_rate_;
};

// Bounds of the extension  x0 + s (c0 + r (c1 + s (c2 + r (c3 + ...))))  for s from 0 to 1, r = 1 - s: between the ends of the
// step, and beyond by no more than the other terms reach. A term s^a r^b is at most a^a b^b/(a + b)^(a + b).
template <std::size_t N>
inline void bound_extension(double x0, const std::array<double, N>& c, double& low, double& high) {
    constexpr std::array most{1.0, 1.0 / 4, 4.0 / 27, 1.0 / 16, 108.0 / 3125, 1.0 / 64, 6912.0 / 823543};
    static_assert(N <= most.size());
    const double x1 = x0 + c[0];
    double beyond = 4 * std::numeric_limits<double>::epsilon() * (std::abs(x0) + std::abs(x1));
    for (std::size_t k = 1; k < N; ++k) beyond += most[k] * std::abs(c[k]);
    low = std::min(x0, x1) - beyond;
    high = std::max(x0, x1) + beyond;
}

// Row I of a tableau times the step, which is done once for all entries: what a stage adds to the state is then one sum behind
// the last of its rates.
template <class Rows, std::size_t I>
[[nodiscard]] inline auto scaled_row(double h) {
    auto out = Rows::rows[I];
    for (double& a : out) a *= h;
    return out;
}

// sum over j of a_j k_j[i], where `a` is row I times something
template <class Rows, std::size_t I, std::size_t N>
[[nodiscard]] inline double weighted_rates(const std::array<double, N>& a, const std::array<const double*, N>& k, std::size_t i) {
    return [&]<std::size_t... J>(std::index_sequence<J...>) {
        double sum = 0;
        (
            [&] {
                if constexpr (Rows::rows[I][J] != 0) sum += a[J] * k[J][i];
            }(),
            ...);
        return sum;
    }
    (std::make_index_sequence<N>{});
}

// Calls with a number of entries that the compiler knows, up to Most; beyond, with one that it does not. Loops over few entries
// are unrolled then: the same operations on each entry, without the way around them.
template <std::size_t Most, class Call>
[[nodiscard]] inline auto with_size(std::size_t size, const Call& call) {
    if constexpr (Most > 0) {
        if (size == Most) return call(std::integral_constant<std::size_t, Most>{});
        return with_size<Most - 1>(size, call);
    } else {
        return call(size);
    }
}

// Stages from a tableau: `rows` has the coefficients of stage 2, of stage 3, ..., and of the new state; `nodes` where in the step
// the stages are, from the second on; `unrolled`, where there is one, up to how many entries loops are unrolled.
template <class Tableau>
class TableauRungeKutta : public ExplicitRungeKutta {
protected:
    static constexpr std::size_t k_stages = Tableau::nodes.size() + 1;
    static constexpr std::size_t k_unrolled = [] {
        if constexpr (requires { Tableau::unrolled; })
            return Tableau::unrolled;
        else
            return std::size_t(0);
    }();
    using Rates = std::array<const double*, k_stages>;

    TableauRungeKutta(FirstOrderSystem& system, const IntegratorOptions& options, const Control& control)
        : ExplicitRungeKutta(system, options, control) {
        for (std::vector<double>& k : k_) k.resize(system.size());
    }

    [[nodiscard]] bool stages(double h, double t_new) override {
        const NativeEvaluation native = native_rate();
        if (native.function == nullptr) {
            std::array<double*, k_stages> at_once{rate_.data()};
            for (std::size_t j = 1; j < k_stages; ++j) at_once[j] = k_[j - 1].data();
            if (evaluate_at_once({k_stages, Tableau::nodes.data(), Tableau::rows.front().data(), t_, h, t_new, x_.data(),
                                  at_once.data(), last_stage_.data(), trial_.data()}))
                return true;
        }
        return with_size<k_unrolled>(x_.size(), [&](auto size) {
            const Rates k = rates(rate_);
            const bool good = [&]<std::size_t... I>(std::index_sequence<I...>) {
                return (stage<I>(native, k, h, t_new, size) && ...);
            }
            (std::make_index_sequence<k_stages - 1>{});
            if (good) move<k_stages - 1>(k, h, size);
            return good;
        });
    }

    [[nodiscard]] const std::vector<double>& last_stage_rate() const override { return k_.back(); }

    // of all stages, the first of which is the rate at the start
    [[nodiscard]] Rates rates(const Entries& first) const {
        Rates out{first.data()};
        for (std::size_t j = 1; j < k_stages; ++j) out[j] = k_[j - 1].data();
        return out;
    }

private:
    template <std::size_t I, class Size>
    void move(const Rates& k, double h, Size size) {
        double* __restrict const trial = trial_.data();
        const double* const x = x_.data();
        const auto a = scaled_row<Tableau, I>(h);
        for (std::size_t i = 0; i < size; ++i) trial[i] = x[i] + weighted_rates<Tableau, I>(a, k, i);
    }
    template <std::size_t I, class Size>
    [[nodiscard]] bool stage(const NativeEvaluation& native, const Rates& k, double h, double t_new, Size size) {
        move<I>(k, h, size);
        const double t = Tableau::nodes[I] == 1 ? t_new : t_ + h * Tableau::nodes[I];
        Entries* state = &trial_;
        if constexpr (I + 2 == k_stages) {
            static_assert(Tableau::nodes[I] == 1);
            trial_.exchange(last_stage_);
            state = &last_stage_;
        }
        return evaluate(native, t, *state, k_[I]);
    }

    std::array<std::vector<double>, k_stages - 1> k_;
};

// The continuous extension of methods of order 4 without one of their own: the cubic that has the states and rates of both ends,
// and a quartic term from one more rate, taken on the cubic where that term's slope is steepest. The cubic misses the solution by
// the fourth power of the step, its rate there times the step by the fifth, and so does the quartic.
class QuarticExtension {
public:
    static constexpr double k_place = 0.21132486540518713;  // (3 - sqrt 3)/6: there (s (1 - s))^2 has its steepest slope,
    static constexpr double k_slope = 0.19245008972987526;  // 1/(3 sqrt 3)

    explicit QuarticExtension(std::size_t size);
    void cubic(double h, std::span<const double> x0, std::span<const double> rate0, std::span<const double> x1,
               std::span<const double> rate1);
    void quartic(double h, std::span<const double> rate_at_place);
    void evaluate(double share, std::span<double> x) const;
    void bound(std::span<const std::size_t> entries, std::span<double> low, std::span<double> high) const;
    std::vector<double>& at_place() { return at_place_; }
    std::vector<double>& rate_at_place() { return rate_; }

private:
    std::vector<double> x0_, change_, bend_, twist_, fourth_, at_place_, rate_;
};

}  // namespace appell
