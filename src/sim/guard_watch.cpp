#include "sim/guard_watch.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "base/error.hpp"

namespace appell {

namespace {

// so many units in the last place of the largest entry of its kind, an entry is known
constexpr double k_units = 8 * std::numeric_limits<double>::epsilon();
// and to that part of its absolute tolerance, which is what corrections leave
constexpr double k_of_atol = 1e-4, k_of_tolerance = 0.1;
// what is always zero is enclosed by intervals this wide
constexpr double k_nothing = 1e-290;
// passages closer than this part of a step are one instant
constexpr double k_together = 1e-12;
// it is measured anew what tolerances and round-off make of a guard after so many steps, or where it has changed so many times
constexpr std::size_t k_measure_after = 32;
constexpr double k_changed = 8;
constexpr double k_unknown = std::numeric_limits<double>::infinity();

double finite_or_zero(double value) { return std::isfinite(value) ? value : 0; }

// so many times what the tolerances make of a guard, it has hardly left zero
constexpr double k_hardly = 10;
// within so many times its round-off, and what the tolerances make of it, a guard touches zero and does not cross it
constexpr double k_touching = 1e3;
// a guard is clear of zero beyond so many times what the tolerances make of it
constexpr double k_clear = 2;
// where a guard cannot be enclosed, an interval of time is looked at in so many parts
constexpr std::size_t k_samples = 8;

// entries of the state that a program reads
std::vector<bool> entries_read(const Program& program, std::size_t states) {
    std::vector<bool> out(states, false);
    const auto read = [&](Slot slot) {
        if (slot >= 1 && slot < 1 + states) out[slot - 1] = true;
    };
    for (const Instruction& i : program.instructions) {
        // NOTE: operands that an operation does not have may name any slot; an entry too many is harmless
        read(i.a);
        read(i.b);
        read(i.c);
    }
    for (const std::vector<Slot>& list : program.argument_lists)
        for (const Slot slot : list) read(slot);
    for (const SolveBlock& block : program.solves) {
        for (const std::vector<MatrixEntry>* m : {&block.M, &block.A, &block.law_slope, &block.S, &block.D})
            for (const MatrixEntry& e : *m) read(e.slot);
        for (const std::vector<Slot>* v : {&block.f, &block.b, &block.law, &block.s})
            for (const Slot slot : *v) read(slot);
    }
    for (const Slot slot : program.output_slots) read(slot);
    return out;
}

std::vector<std::size_t> entries_of(const Motion& motion) {
    std::vector<std::size_t> out;
    const std::vector<bool> plain = entries_read(motion.guard, motion.states());
    const std::vector<bool> by_solves = entries_read(motion.guard_by_solves, motion.states());
    for (std::size_t i = 0; i < motion.states(); ++i)
        if (plain[i] || by_solves[i]) out.push_back(i);
    return out;
}

}  // namespace

// Guards with one program, as functions of the step's own time.
class GuardWatch::Part final : public EnclosedFunctions {
public:
    Part(GuardWatch& watch, const Motion& motion, const Program& program, std::size_t begin)
        : first(begin), watch_(watch), program_(motion, program), output_(program.output("guard")), search(size()) {
        samples_.resize((k_samples + 1) * size());
        between_.resize(k_samples * size());
        sampled_.resize(size());
        least_change_.resize(size());
        is_unknown_.resize(size());
        if (!Enclosure::serves(program)) return;
        enclosure_.emplace(program);
        for (std::size_t i = 0; i < motion.states(); ++i) enclosure_->set_constant(1 + i, 0);
        for (std::size_t i = 0; i < motion.parameters.size(); ++i) set_parameter(i, motion.parameters[i]);
    }

    [[nodiscard]] std::size_t size() const { return output_.end - output_.begin; }
    [[nodiscard]] bool is_sampled() const { return !enclosure_; }
    void sample_from_now_on() { enclosure_.reset(); }

    // what is settled is so until it leaves the band that it has now
    [[nodiscard]] bool has_settled_guards() {
        return std::ranges::any_of(memory(), [](const Memory& m) { return m.within > 0; });
    }
    // what was measured tells little of the end of the step
    [[nodiscard]] bool has_changed(std::span<const double> x) {
        const std::span<const double> values = at(watch_.t_to_, x);
        for (std::size_t i = 0; i < size(); ++i) {
            const Memory& m = memory()[i];
            if (m.at_pole) return true;
            const double least = std::max(m.band, m.round_off), size = std::max(std::abs(values[i]), least);
            const double measured = std::max(m.measured, least);
            if (size > k_changed * measured || k_changed * size < measured) return true;
        }
        return false;
    }

    void set_parameter(std::size_t index, double value) {
        program_.set_parameter(index, value);
        if (enclosure_) enclosure_->set_constant(1 + watch_.states_ + index, value);
    }

    [[nodiscard]] std::span<const double> at(double t, std::span<const double> x) {
        (void)program_.run(t, x);  // where a solve fails, its outputs are not numbers
        return program_.output(output_);
    }

    [[nodiscard]] std::span<const double> evaluate(double s) override {
        for (std::size_t k = 0; k < watch_.entries_.size(); ++k) watch_.state_[watch_.entries_[k]] = watch_.step_.value(k, s);
        return at(watch_.time(s), watch_.state_);
    }

    [[nodiscard]] std::span<const MovingInterval> enclose(double a, double b) override {
        if (!enclosure_) return enclose_samples(a, b);
        const double from = watch_.time(a), to = watch_.time(b);
        enclosure_->set(
            0, {Interval(std::min(from, to), std::max(from, to)) + Interval(0), Interval(0.5 * (watch_.t_to_ - watch_.t_from_))});
        for (std::size_t k = 0; k < watch_.entries_.size(); ++k)
            enclosure_->set(1 + watch_.entries_[k], watch_.step_.enclose(k, a, b));
        enclosure_->run();
        return enclosure_->outputs();
    }

    // At one state an enclosure is as wide as round-off. One that has no bound at several states where the guard has a value (a
    // solve whose rows follow from each other) has none anywhere around; at a single one the guard may have a pole.
    void judge_enclosure(double s) {
        if (!enclosure_ || std::exchange(judged_, true)) return;
        for (const double part : {0.0, 0.37, 1.0})
            if (has_bounds(s + part * (1 - s))) return;
        sample_from_now_on();
    }
    [[nodiscard]] bool has_bounds(double s) {
        const std::span<const MovingInterval> over = enclose(s, s);
        const std::span<const double> values = evaluate(s);
        for (std::size_t i = 0; i < size(); ++i)
            if (std::isfinite(values[i]) && !over[i].value.bounded()) return false;
        return true;
    }

    // By guard at a state: how far the tolerances of the state move it, and what round-off makes of it.
    void measure(double t, std::span<const double> x) {
        const std::span<const double> values = at(t, x);
        for (std::size_t i = 0; i < size(); ++i) {
            Memory& m = watch_.memory_[first + i];
            m.measured = std::abs(values[i]);
            m.band = m.round_off = k_unknown;
            m.at_pole = false;
        }
        if (enclosure_) {
            measure_by_slopes(t, x);
            measure_around(t, x);
        }
        const auto unknown = [&](const Memory& m) { return m.band == k_unknown || m.round_off == k_unknown; };
        if (std::ranges::any_of(memory(), unknown)) measure_by_differences(t, x);
    }

    // None of its guards comes near zero in the region, or loses its value: they have slopes there, too, which have no bound at
    // the ends of what a root or a logarithm is defined for.
    [[nodiscard]] bool is_clear(const ClearRegion& region) {
        if (!enclosure_) return false;
        enclosure_->set(0, {Interval(region.t_low(), region.t_high()), Interval(-1, 1)});
        for (std::size_t k = 0; k < watch_.entries_.size(); ++k)
            enclosure_->set(1 + watch_.entries_[k], {Interval(region.low(k), region.high(k)), Interval(-1, 1)});
        enclosure_->run();
        for (std::size_t i = 0; i < size(); ++i) {
            const auto& [value, rate] = enclosure_->outputs()[i];
            const Memory& m = watch_.memory_[first + i];
            const double nearest = m.side > 0 ? value.lo : -value.hi;
            const bool settled = m.side != 0 && m.within == 0 && std::isnan(m.touch);
            if (!settled || !value.bounded() || !rate.bounded()) return false;
            if (!(nearest > k_clear * std::max(m.band, watch_.noise(first + i)))) return false;
        }
        for (std::size_t i = 0; i < size(); ++i) {
            const Interval value = enclosure_->outputs()[i].value;
            Memory& m = watch_.memory_[first + i];
            m.farthest = std::max(m.farthest, m.side > 0 ? value.lo : -value.hi);
        }
        return true;
    }

    const std::size_t first;  // among the guards

private:
    [[nodiscard]] std::span<Memory> memory() { return std::span(watch_.memory_).subspan(first, size()); }

    void measure_by_slopes(double t, std::span<const double> x) {
        enclosure_->set(0, {Interval(t), Interval(0)});
        for (const std::size_t i : watch_.entries_) {
            const double tolerance = watch_.tolerance(x[i]);
            enclosure_->set(1 + i, {Interval(x[i]), Interval(-tolerance, tolerance)});
        }
        enclosure_->run();
        for (std::size_t i = 0; i < size(); ++i)
            if (const Interval moved = enclosure_->outputs()[i].rate; moved.bounded()) memory()[i].band = moved.largest();
    }

    // Values around: where slopes are steep, as of a root near zero, they tell more than slopes.
    void measure_around(double t, std::span<const double> x) {
        const auto widths = [&](double of_time, const auto& of_entry, double Memory::*width, bool if_known) {
            enclosure_->set(0, {Interval(t - of_time, t + of_time), Interval(0)});
            for (const std::size_t i : watch_.entries_)
                enclosure_->set(1 + i, {Interval(x[i] - of_entry(i), x[i] + of_entry(i)), Interval(0)});
            enclosure_->run();
            for (std::size_t i = 0; i < size(); ++i) {
                const Interval around = enclosure_->outputs()[i].value;
                double& known = memory()[i].*width;
                if (if_known) memory()[i].at_pole = !around.bounded();
                // a band without slopes may have a jump in it, which says nothing of the values
                if (around.bounded() && !(if_known && known == k_unknown)) known = std::min(known, around.width());
            }
        };
        widths(
            0, [&](std::size_t i) { return watch_.tolerance(x[i]); }, &Memory::band, true);
        watch_.know_round_off(x);
        widths(
            4 * std::numeric_limits<double>::epsilon() * std::abs(t),
            [&](std::size_t i) { return watch_.round_off_of_entry(x, i); }, &Memory::round_off, false);
    }

    // where a jump is near, the values on this side of it
    void measure_by_differences(double t, std::span<const double> x) {
        std::copy_n(x.begin(), watch_.states_, watch_.state_.begin());
        std::ranges::copy(at(t, x), samples_.begin());
        watch_.know_round_off(x);
        const auto add_up = [&](const auto& of_entry, double Memory::*sum) {
            for (std::size_t i = 0; i < size(); ++i) {
                is_unknown_[i] = memory()[i].*sum == k_unknown;
                if (is_unknown_[i]) memory()[i].*sum = k_units * finite_or_zero(std::abs(samples_[i]));
            }
            for (const std::size_t k : watch_.entries_) {
                std::ranges::fill(least_change_, k_unknown);
                for (const double side : {1.0, -1.0}) {
                    watch_.state_[k] = x[k] + side * of_entry(k);
                    const std::span<const double> moved = at(t, watch_.state_);
                    for (std::size_t i = 0; i < size(); ++i)
                        if (const double change = std::abs(moved[i] - samples_[i]); change < least_change_[i])
                            least_change_[i] = change;
                }
                for (std::size_t i = 0; i < size(); ++i)
                    if (is_unknown_[i]) memory()[i].*sum += finite_or_zero(least_change_[i]);
                watch_.state_[k] = x[k];
            }
        };
        add_up([&](std::size_t i) { return watch_.tolerance(x[i]); }, &Memory::band);
        add_up([&](std::size_t i) { return watch_.round_off_of_entry(x, i); }, &Memory::round_off);
    }

    // where between two samples it is looked: at other parts of the way each time, so that no period of a guard fits to all
    [[nodiscard]] static double part_of_the_way(std::size_t k) {
        constexpr double k_golden = 0.6180339887498949;
        const double turns = k_golden * static_cast<double>(k + 1);
        return 0.2 + 0.6 * (turns - std::floor(turns));
    }

    void take_samples(double a, double b, double h) {
        const auto put = [&](double s, std::vector<double>& where, std::size_t k) {
            std::ranges::copy(evaluate(s), where.begin() + static_cast<std::ptrdiff_t>(k * size()));
        };
        for (std::size_t k = 0; k <= k_samples; ++k) put(k == k_samples ? b : a + h * static_cast<double>(k), samples_, k);
        for (std::size_t k = 0; k < k_samples; ++k) put(a + h * (static_cast<double>(k) + part_of_the_way(k)), between_, k);
    }

    // What samples say of the interval between them: widened by twice their second differences, which is what a smooth function
    // may do beside them. Values between the samples are off the straight line by an eighth of that; where they are by more, the
    // guard swings faster than the samples follow.
    [[nodiscard]] std::span<const MovingInterval> enclose_samples(double a, double b) {
        const double h = (b - a) / static_cast<double>(k_samples);
        take_samples(a, b, h);
        for (std::size_t i = 0; i < size(); ++i) {
            const auto sample = [&](std::size_t k) { return samples_[k * size() + i]; };
            double low = sample(0), high = low, bend = 0, slow = sample(1) - sample(0), fast = slow;
            bool finite = std::isfinite(low), some = finite;
            for (std::size_t k = 1; k <= k_samples; ++k) {
                some = some || std::isfinite(sample(k));
                finite = finite && std::isfinite(sample(k));
                low = std::min(low, sample(k));
                high = std::max(high, sample(k));
                slow = std::min(slow, sample(k) - sample(k - 1));
                fast = std::max(fast, sample(k) - sample(k - 1));
                if (k >= 2) bend = std::max(bend, std::abs(sample(k) - 2 * sample(k - 1) + sample(k - 2)));
                const double part = part_of_the_way(k - 1), line = sample(k - 1) + part * (sample(k) - sample(k - 1));
                const double between = between_[(k - 1) * size() + i];
                bend = std::max(bend, 8 * std::abs(between - line));
                finite = finite && std::isfinite(between);
            }
            sampled_[i] = {Interval(low - 2 * bend, high + 2 * bend), Interval((slow - 2 * bend) / h, (fast + 2 * bend) / h)};
            if (!finite) sampled_[i] = {some ? Interval::entire() : Interval::nothing(), Interval::entire()};
        }
        return sampled_;
    }

    GuardWatch& watch_;
    MotionProgram program_;
    OutputRange output_;
    std::optional<Enclosure> enclosure_;
    bool judged_ = false;
    std::vector<double> samples_, between_;
    std::vector<double> least_change_;  // of measure_by_differences, with what is unknown
    std::vector<bool> is_unknown_;
    std::vector<MovingInterval> sampled_;

public:
    CrossingSearch search;
};

GuardWatch::GuardWatch(const Motion& motion, std::size_t dense_degree, double rtol, double atol)
    : guards_(motion.guards),
      states_(motion.states()),
      coordinates_(motion.coordinates),
      rtol_(rtol),
      atol_(atol),
      entries_(guards_.empty() ? std::vector<std::size_t>{} : entries_of(motion)),
      step_(entries_.size(), dense_degree),
      region_(entries_.size()) {
    if (guards_.empty()) return;
    parameters_ = motion.parameters;
    state_.resize(motion.carried());
    end_state_.resize(motion.carried());
    sides_.resize(guards_.size());
    memory_.resize(guards_.size());
    crossings_.resize(guards_.size());
    passed_.reserve(guards_.size());
    notes_.reserve(3 * guards_.size());
    std::size_t begin = 0;
    for (const Program* program : {&motion.guard, &motion.guard_by_solves}) {
        if (program->outputs.empty()) continue;
        parts_.push_back(std::make_unique<Part>(*this, motion, *program, begin));
        begin += parts_.back()->size();
    }
    if (begin != guards_.size()) throw Error("the guard programs do not have the guards of the motion");
    has_gaps_ = std::ranges::any_of(guards_, &Guard::gap);
}

GuardWatch::~GuardWatch() = default;

void GuardWatch::set_parameter(std::size_t index, double value) {
    if (guards_.empty() || std::exchange(parameters_[index], value) == value) return;
    region_.forget();
    for (const std::unique_ptr<Part>& part : parts_) part->set_parameter(index, value);
}

double GuardWatch::noise(std::size_t i) const { return std::max(least_noise(i), memory_[i].within); }

double GuardWatch::least_noise(std::size_t i) const { return std::max({guards_[i].noise, round_off(i), k_nothing}); }

double GuardWatch::round_off(std::size_t i) const { return std::min(memory_[i].round_off, memory_[i].round_off_before); }

// Round-off of entries is that of the largest of their kind: constraints keep them at zero no better.
void GuardWatch::know_round_off(std::span<const double> x) {
    largest_ = {0, 0};
    for (std::size_t i = 0; i < states_; ++i) {
        double& largest = largest_[i < coordinates_ ? 0 : 1];
        largest = std::max(largest, std::abs(x[i]));
    }
}

double GuardWatch::round_off_of_entry(std::span<const double> x, std::size_t i) const {
    return std::min(k_units * largest_[i < coordinates_ ? 0 : 1], k_of_tolerance * tolerance(x[i])) + k_of_atol * atol_;
}

double GuardWatch::tolerance(double value) const { return atol_ + rtol_ * std::abs(value); }

bool GuardWatch::counts(std::size_t guard, int from, int to) const {
    if (from == 0) return guards_[guard].leaves;
    // a run backwards finds the passages of the run forwards
    const int earlier = t_to_ < t_from_ ? to : from;
    switch (guards_[guard].passage) {
        case Guard::Passage::falling: return from * to < 0 && earlier > 0;
        case Guard::Passage::rising: return from * to < 0 && earlier < 0;
        case Guard::Passage::either: return from * to < 0;
    }
    return false;
}

double GuardWatch::time(double s) const {
    return s == 1 ? t_to_ : s == -1 ? t_from_ : t_from_ + 0.5 * (1 + s) * (t_to_ - t_from_);
}

void GuardWatch::start(double t, std::span<const double> x, std::span<const Settled> settled) {
    region_.forget();
    for (const std::unique_ptr<Part>& part : parts_) {
        part->measure(t, x);
        const std::span<const double> values = part->at(t, x);
        for (std::size_t k = 0; k < part->size(); ++k) {
            const std::size_t i = part->first + k;
            Memory& m = memory_[i];
            m.round_off_before = m.round_off;
            m.size = std::abs(values[k]);
            m.farthest = finite_or_zero(m.size);
            m.within = 0;
            m.arrives = false;
            m.touch = Crossing::k_none;
            const bool on_zero = m.size <= noise(i) && !m.at_pole;
            m.side = guards_[i].armed ? 1 : on_zero || !std::isfinite(m.size) ? 0 : values[k] > 0 ? 1 : -1;
            // what is zero at the start may be kept there, give or take the tolerances
            if (on_zero && !guards_[i].armed) m.within = std::max(m.band, noise(i));
            // One that is positive by what it stands for has the round-off of whoever made it so: it passes where it falls
            // below where it is.
            if (guards_[i].armed && on_zero) m.within = noise(i);
            if (guards_[i].armed && values[k] < 0) m.within = m.size + std::min(m.size, std::max(m.band, noise(i)));
        }
    }
    for (const Settled& s : settled) {
        Memory& m = memory_[s.guard];
        const double close = std::max(noise(s.guard), m.band);
        const bool near_zero = m.size <= close && !m.at_pole;
        // it is on its way to its side: where a passage was found, it is known as well as the inside of the step only
        const int side = std::clamp(s.side, -1, 1);
        const bool behind = side * m.side < 0, by_rate = s.side != side;
        if (near_zero || side != 0) m.side = side;
        m.arrives = behind && m.at_pole;  // it has not quite gone through infinity
        if (m.arrives) continue;
        if (by_rate) {
            // it sets out from where it lies: what it does from there on is known better than where zero is
            m.round_off_before = 0;
            m.within = finite_or_zero(m.size);
        } else if (near_zero || behind) {
            m.within = std::max(close, 2 * finite_or_zero(m.size));
        }
    }
}

bool GuardWatch::follow(Integrator& integrator) {
    followed_ = true;
    t_from_ = integrator.t_previous();
    t_to_ = integrator.t();
    s_ = -1;
    for (Memory& m : memory_) {
        m.side_before = m.side;
        m.touch_before = m.touch;
        m.within_before = m.within;
    }
    for (std::size_t k = 0; k < step_.nodes(); ++k) {
        if (!integrator.dense(time(step_.node(k)), state_)) return false;
        for (std::size_t i = 0; i < entries_.size(); ++i) step_.set(k, i, state_[entries_[i]]);
    }
    step_.fit();
    std::copy(state_.begin(), state_.end(), end_state_.begin());
    ++steps_;
    for (const std::unique_ptr<Part>& part : parts_)
        if (steps_ >= k_measure_after || part->has_settled_guards() || part->has_changed(end_state_)) {
            for (std::size_t i = part->first; i < part->first + part->size(); ++i)
                memory_[i].round_off_before = memory_[i].round_off;
            part->measure(t_to_, end_state_);
        }
    if (steps_ >= k_measure_after) steps_ = 0;
    return true;
}

void GuardWatch::take_back() {
    if (!followed_) return;
    region_.forget();
    for (Memory& m : memory_) {
        m.side = m.side_before;
        m.touch = m.touch_before;
        m.within = m.within_before;
    }
}

void GuardWatch::note(GuardNote::What what, std::size_t guard, double s) { notes_.push_back({what, guard, time(s)}); }

// the first crossing of any guard after s, whether it counts or not; beyond 1 without any
double GuardWatch::find_first(double from) {
    double first = 1;
    bool found = false;
    for (std::size_t i = 0; i < guards_.size(); ++i) {
        const double least = noise(i);
        crossings_[i] = {.side = memory_[i].side,
                         .noise = least,
                         .least = least_noise(i),
                         .band = std::max(least, std::min(memory_[i].band, k_touching * round_off(i))),
                         .on_zero = memory_[i].within > 0,
                         .leaves = guards_[i].leaves && memory_[i].side == 0,
                         .through_infinity = guards_[i].leaves,
                         .arrives = memory_[i].arrives};
    }
    for (const std::unique_ptr<Part>& part : parts_) {
        const std::span<Crossing> crossings(&crossings_[part->first], part->size());
        const std::vector<Crossing>::const_iterator begin = crossings_.begin() + static_cast<std::ptrdiff_t>(part->first);
        part->judge_enclosure(from);
        if (!part->search.run(*part, from, first, crossings) && !part->is_sampled()) {
            part->sample_from_now_on();
            for (Crossing& c : crossings) c.side = memory_[static_cast<std::size_t>(&c - crossings_.data())].side;
            (void)part->search.run(*part, from, first, crossings);
        }
        for (auto c = begin; c != begin + static_cast<std::ptrdiff_t>(part->size()); ++c)
            if (!std::isnan(c->at)) {
                first = std::min(first, c->at);
                found = true;
            }
    }
    return found ? first : 2;
}

// up to `first`: what crosses there has another side from then on
void GuardWatch::pass(double first) {
    for (const std::unique_ptr<Part>& part : parts_)
        for (std::size_t i = part->first; i < part->first + part->size(); ++i) {
            const Crossing& c = crossings_[i];
            Memory& m = memory_[i];
            m.arrives = c.arrives;
            if (c.grazes <= first && c.grazes > s_ + k_together && std::isnan(m.touch) && m.side != 0 && m.within == 0)
                m.touch = time(c.grazes);
            if (c.lost <= first && !std::exchange(m.said_no_value, true)) note(GuardNote::What::has_no_value, i, c.lost);
            if (part->is_sampled() && !std::exchange(m.said_sampled, true)) note(GuardNote::What::is_sampled, i, first);
            if (c.at <= first + k_together) {
                const int from = c.side;  // it may have left zero in this step only
                m.farthest = std::max(m.farthest, std::abs(part->evaluate(0.5 * (s_ + c.at))[i - part->first]));
                m.hardly_left = m.farthest <= k_hardly * std::max(m.band, noise(i));
                m.farthest = 0;
                m.touch = Crossing::k_none;
                m.within = 0;
                m.side = from != 0 ? -from : part->evaluate(c.at)[i - part->first] > 0 ? 1 : -1;
                if (counts(i, from, m.side)) passed_.push_back(i);
            } else {
                m.side = c.side;
                if (c.noise < m.within) m.within = 0;
            }
        }
}

void GuardWatch::finish_step() {
    for (const std::unique_ptr<Part>& part : parts_) {
        const std::span<const double> values = part->evaluate(1);
        for (std::size_t k = 0; k < part->size(); ++k) {
            Memory& m = memory_[part->first + k];
            const double size = std::abs(values[k]);
            if (!std::isfinite(size)) continue;
            m.farthest = std::max(m.farthest, size);
            const bool on_its_side = m.side == 0 || m.side * values[k] > 0;
            if (!on_its_side || size <= std::max(m.band, least_noise(part->first + k))) continue;
            m.within = 0;
            if (!std::isnan(m.touch)) notes_.push_back({GuardNote::What::grazes, part->first + k, m.touch});
            m.touch = Crossing::k_none;
        }
    }
}

bool GuardWatch::look(Integrator& integrator, double from) {
    passed_.clear();
    notes_.clear();
    blind_ = false;
    if (empty()) return false;
    if (from == integrator.t_previous()) {
        followed_ = false;
        if (region_.holds(integrator, entries_)) {
            ++steps_;
            return false;
        }
        if (!follow(integrator)) {
            blind_ = true;
            return false;
        }
    }
    while (s_ < 1) {
        const double first = find_first(s_);
        pass(std::min(first, 1.0));
        s_ = std::min(first, 1.0);
        t_ = time(s_);
        if (passed_.empty()) continue;
        // a passage too early in the step to show in its time: the motion goes on from there, and has to go on
        if (t_ == t_from_) t_ = std::nextafter(t_from_, t_to_);
        std::ranges::transform(memory_, sides_.begin(), &Memory::side);
        return true;
    }
    finish_step();
    if (region_.offer(integrator, entries_))
        region_.settle(std::ranges::all_of(parts_, [&](const std::unique_ptr<Part>& part) { return part->is_clear(region_); }));
    return false;
}

std::span<const int> GuardWatch::sides_now() {
    std::ranges::transform(memory_, sides_.begin(), [](const Memory& m) { return m.within > 0 ? 0 : m.side; });
    return sides_;
}

std::optional<GuardWatch::Gap> GuardWatch::gap_below(double t, std::span<const double> x, double limit) {
    if (!has_gaps_) return std::nullopt;
    const std::span<const double> values = parts_.front()->at(t, x);
    for (std::size_t i = 0; i < values.size(); ++i)
        if (guards_[i].gap && values[i] < limit) return Gap{i, values[i]};
    return std::nullopt;
}

}  // namespace appell
