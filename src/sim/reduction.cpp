// See reduction.hpp.
#include "sim/reduction.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "base/error.hpp"
#include "sim/make_integrator.hpp"
#include "sim/project.hpp"

namespace appell {

namespace {

constexpr double k_epsilon = std::numeric_limits<double>::epsilon();
// a start where the dependent entries have less than this share in the rows is no start: ten digits would be lost at once
constexpr double k_least_share = 1e-10;
// what the share may lose against the start: an error of the independent entries then is a thousand times as large in the
// dependent ones as it was at first
constexpr double k_worn = 1e-3;
// of one correction to the one before; see the head of reduction.hpp
constexpr double k_contraction = 0.25;
// a residual that is this small against its terms is their rounding
constexpr double k_round_off = 32 * k_epsilon;
// and where corrections no longer shrink, so is this one: rows may be long sums
constexpr double k_good_enough = 2e-13;
constexpr int k_most_corrections = 10;
// Pivots of three rows of at most unit length, but the smallest, have at most this product: the largest is at most one, and
// complete pivoting lets entries grow no further than 9/4. A determinant over it is below the smallest pivot.
constexpr double k_other_pivots = 9.0 / 4;

// Numbers that were stored one or two at a time a moment ago. NOTE: read as wider pieces, as a copy of the library does, they are
// waited for until the stores have left the pipeline.
inline void copy_in_pairs(const double* from, std::size_t count, double* to) {
    std::size_t k = 0;
    for (; k + 1 < count; k += 2) {
        const double first = from[k], second = from[k + 1];
        to[k] = first;
        to[k + 1] = second;
    }
    if (k < count) to[k] = from[k];
}

}  // namespace

// ---------------------------------------------------------------- the dependent entries

DependentEntries::DependentEntries(const Motion& motion, const DependentRows& rows, const Program& correction)
    : motion_(motion), rows_(rows), program_(motion, rows.program), correction_(motion, correction) {
    const std::size_t n = rows.count;
    if (n == 0) return;
    const Program& program = rows.program;
    residual_ = program.output("residual");
    jacobian_ = program.output("jacobian");
    moves_ = program.output("moves");
    scaled_ = program.output("scaled");
    const auto size = [](const OutputRange& range) { return range.end - range.begin; };
    const std::size_t m = size(residual_);
    if (m < n || size(scaled_) != m || size(jacobian_) != m * n || size(moves_) != rows.moves.size())
        throw Error("the outputs of the dependent rows do not have the sizes of the reduction");
    lu_.resize(m * n);
    step_.resize(n);
    work_.resize(n);
    row_order_.resize(m);
    column_order_.resize(n);
}

// LU of the jacobian with complete pivoting, which leaves rows over where there are more than directions; its smallest pivot,
// with the sign of the determinant where it has one
double DependentEntries::factor() {
    const std::size_t n = rows_.count, m = row_order_.size();
    const std::span<const double> jacobian = program_.output(jacobian_);
    std::copy(jacobian.begin(), jacobian.end(), lu_.begin());
    std::iota(row_order_.begin(), row_order_.end(), std::size_t{0});
    std::iota(column_order_.begin(), column_order_.end(), std::size_t{0});
    bool negative = false;
    double smallest = std::numeric_limits<double>::infinity();
    for (std::size_t k = 0; k < n; ++k) {
        std::size_t row = k, column = k;
        for (std::size_t i = k; i < m; ++i)
            for (std::size_t j = k; j < n; ++j)
                if (std::abs(lu_[i * n + j]) > std::abs(lu_[row * n + column])) row = i, column = j;
        if (row != k) {
            std::swap_ranges(&lu_[k * n], &lu_[k * n] + n, &lu_[row * n]);
            std::swap(row_order_[k], row_order_[row]);
            negative = !negative;
        }
        if (column != k) {
            for (std::size_t i = 0; i < m; ++i) std::swap(lu_[i * n + k], lu_[i * n + column]);
            std::swap(column_order_[k], column_order_[column]);
            negative = !negative;
        }
        const double pivot = lu_[k * n + k];
        if (pivot == 0) return 0;
        negative ^= pivot < 0;
        smallest = std::min(smallest, std::abs(pivot));
        for (std::size_t i = k + 1; i < m; ++i) {
            const double factor = lu_[i * n + k] / pivot;
            lu_[i * n + k] = factor;
            for (std::size_t j = k + 1; j < n; ++j) lu_[i * n + j] -= factor * lu_[k * n + j];
        }
    }
    return negative && m == n ? -smallest : smallest;
}

// one Newton correction, with the factors at x
void DependentEntries::correct(std::span<double> x) {
    const std::size_t n = rows_.count;
    const std::span<const double> residual = program_.output(residual_), moves = program_.output(moves_);
    for (std::size_t i = 0; i < n; ++i) {
        work_[i] = -residual[row_order_[i]];
        for (std::size_t j = 0; j < i; ++j) work_[i] -= lu_[i * n + j] * work_[j];
    }
    for (std::size_t i = n; i-- > 0;) {
        for (std::size_t j = i + 1; j < n; ++j) work_[i] -= lu_[i * n + j] * work_[j];
        work_[i] /= lu_[i * n + i];
    }
    for (std::size_t i = 0; i < n; ++i) step_[column_order_[i]] = work_[i];
    moved_ = 0;
    for (std::size_t k = 0; k < moves.size(); ++k) {
        const double change = moves[k] * step_[rows_.moves[k].direction];
        double& entry = x[rows_.moves[k].entry];
        entry += change;
        if (change != 0) moved_ = std::max(moved_, std::abs(change / entry));
    }
}

RateStatus DependentEntries::start(double t, std::span<const double> x) {
    if (rows_.count == 0) return RateStatus::ok;
    if (program_.run(t, x).status != EvalStatus::ok) return RateStatus::not_finite;
    const double pivot = factor();
    if (!(std::abs(pivot) > k_least_share)) return RateStatus::partition;
    const EvalReport all = correction_.run(t, x);
    if (all.redundant) correction_.limit_rank(all.rank);
    least_share_ = k_worn * pivot / all.smallest_pivot;
    return RateStatus::ok;
}

// Rows that become dependent leave no partition a large pivot: that is not this one's failure, and is found elsewhere.
bool DependentEntries::worn(double pivot, double t, std::span<const double> x) {
    if (!(pivot * least_share_ > 0)) return true;
    const double size = std::abs(pivot), least = std::abs(least_share_);
    if (size >= least) return false;  // no pivot of rows of unit length is above one
    return !(size >= least * correction_.run(t, x).smallest_pivot);
}

RateStatus DependentEntries::solve(double t, std::span<double> x) {
    if (rows_.count == 0) return RateStatus::ok;
    double previous = 0;  // size of the correction before
    for (int corrections = 0; corrections < k_most_corrections; ++corrections) {
        if (program_.run(t, x).status != EvalStatus::ok) return RateStatus::not_finite;
        double worst = 0;
        for (const double scaled : program_.output(scaled_)) worst = std::max(worst, std::abs(scaled));
        const double pivot = factor();
        if (worn(pivot, t, x)) return RateStatus::partition;
        correct(x);
        if (!normalise_quaternions(motion_, x)) return RateStatus::not_finite;
        double size = 0;
        for (const double s : step_) size = std::max(size, std::abs(s));
        if (worst <= k_round_off || moved_ <= k_epsilon) return RateStatus::ok;
        if (corrections > 0) {
            const double ratio = size / previous;
            if (!(ratio <= k_contraction)) return worst <= k_good_enough ? RateStatus::ok : RateStatus::partition;
            // convergence is quadratic: the next correction is by ratio^2 smaller than this one. Where that is below rounding
            // there is no need to look.
            if (ratio * ratio * moved_ <= 0.25 * k_epsilon) return RateStatus::ok;
        }
        previous = size;
    }
    return RateStatus::partition;
}

void DependentEntries::measure_share(double t, std::span<const double> x) {
    if (rows_.count == 0 || program_.run(t, x).status != EvalStatus::ok) return;
    share_ = std::abs(factor() * k_worn / least_share_);
}

// ---------------------------------------------------------------- what is written out

WrittenSolution::WrittenSolution(const Motion& motion, const WrittenRate& written, FirstOrderSystem& whole)
    : written_(written),
      whole_(whole),
      states_(motion.states()),
      independent_(motion.reduction.value().independent.size()),
      works_(motion.works.size()),
      guess_(states_ - independent_),
      guess_rate_(guess_.size()),
      state_(states_),
      y_works_(works_) {
    entries_ = written.program.output("entries").begin;
    sizes_ = written.program.output("sizes").begin;
    steps_ = written.program.output("steps").begin;
    slopes_ = written.program.output("slopes").begin;
    determinants_ = written.program.output("determinants").begin;
    lengths_ = written.program.output("lengths").begin;
    if (entries_ != states_ + works_ || written.order.size() != states_)
        throw Error("the written rate does not begin with the rate of all of x");
    out_.resize(written.program.output_slots.size());
    least_.resize(lengths_ - determinants_);
    // parameters that change along a run are told to `whole` alone, and what others evaluate with it is not bypassed
    const bool may_be_bypassed = motion.neighbours == nullptr || !motion.neighbours->serves(written.program);
    if (!written.stage.native || !motion.followed.empty() || motion.step_gains || !may_be_bypassed) return;
    stage_guess_ = 1 + independent_ + motion.parameters.size();
    if (written.stage.inputs != stage_guess_ + 2 * guess_.size() + 1 + least_.size())
        throw Error("the written rate of stages does not have the inputs of the motion");
    stage_.emplace(written.stage);
    std::ranges::copy(motion.parameters, stage_->inputs().begin() + static_cast<std::ptrdiff_t>(1 + independent_));
}

void WrittenSolution::set_guess(double t, std::span<const double> x, std::span<const double> xd) {
    guess_t_ = t;
    for (std::size_t k = 0; k < guess_.size(); ++k) {
        guess_[k] = x[written_.order[independent_ + k]];
        guess_rate_[k] = xd[written_.order[independent_ + k]];
    }
    if (!stage_) return;
    const std::span<double> inputs = stage_->moving_inputs().subspan(stage_guess_);
    std::ranges::copy(guess_, inputs.begin());
    std::ranges::copy(guess_rate_, inputs.begin() + static_cast<std::ptrdiff_t>(guess_.size()));
    inputs[2 * guess_.size()] = t;
}

bool WrittenSolution::start(double t, std::span<const double> x, double least_position_pivot, double least_velocity_pivot) {
    for (std::size_t k = 0; k < states_; ++k) state_[k] = x[written_.order[k]];
    if (!whole_.written_rate(t, state_, out_)) return false;
    for (std::size_t k = 0; k < least_.size(); ++k) {
        const double least = k < written_.position.blocks ? least_position_pivot : least_velocity_pivot;
        least_[k] = std::copysign(k_other_pivots * least, out_[determinants_ + k]);
    }
    if (stage_) std::ranges::copy(least_, stage_->moving_inputs().end() - static_cast<std::ptrdiff_t>(least_.size()));
    return regular();
}

bool WrittenSolution::regular() const {
    for (std::size_t k = slopes_; k < determinants_; ++k)
        if (!(out_[k] >= WrittenRate::k_least_slope)) return false;
    for (std::size_t k = 0; k < least_.size(); ++k) {
        const double determinant = out_[determinants_ + k];
        if (!(determinant * least_[k] > 0)) return false;
        if (!(determinant * determinant > least_[k] * least_[k] * out_[lengths_ + k])) return false;
    }
    return true;
}

// by the tests of DependentEntries::solve, from the second correction on, but for the sizes of residuals
bool WrittenSolution::contracts(const WrittenRate::Level& level, const double* entries, const double* steps) {
    const std::size_t n = level.entries.size();
    const double* const scales = level.scales.data();
    const auto size_of = [n](const double* step) {
        double size = 0;
        for (std::size_t k = 0; k < n; ++k) size = std::max(size, std::abs(step[k]));
        return size;
    };
    // no entry moves by more than so much of itself
    const auto moved_at_most = [&](const double* step, double part) {
        for (std::size_t k = 0; k < n; ++k)
            if (!(std::abs(scales[k] * step[k]) <= part * std::abs(entries[k]))) return false;
        return true;
    };
    double previous = size_of(steps);
    for (std::size_t correction = 1; correction < level.corrections; ++correction) {
        steps += n;
        if (moved_at_most(steps, k_epsilon)) return true;
        const double size = size_of(steps), ratio = size / previous;
        if (!(ratio <= k_contraction)) return false;
        if (moved_at_most(steps, 0.25 * k_epsilon / (ratio * ratio))) return true;
        previous = size;
    }
    return false;
}

bool WrittenSolution::solve(double t, std::span<const double> y) {
    const double since = t - guess_t_;
    double* const guess = state_.data() + independent_;
    for (std::size_t k = 0; k < guess_.size(); ++k) guess[k] = guess_[k] + since * guess_rate_[k];
    copy_in_pairs(y.data(), independent_, state_.data());
    copy_in_pairs(y.data() + independent_, works_, y_works_.data());
    if (!whole_.written_rate(t, state_, out_) || !regular()) return false;
    const double *entries = out_.data() + entries_, *sizes = out_.data() + sizes_, *steps = out_.data() + steps_;
    for (const WrittenRate::Level* level : {&written_.position, &written_.velocity}) {
        if (level->corrections == 1) {
            // what is exact has the rounding of its own size, which must not be larger than what it leads to
            if (!(sizes[0] <= sizes[1])) return false;
            sizes += 2;
        } else if (level->corrections > 1) {
            if (!contracts(*level, entries, steps)) return false;
            steps += level->corrections * level->entries.size();
        }
        entries += level->entries.size();
    }
    return true;
}

void WrittenSolution::take_rate(std::span<double> yd) const { copy_in_pairs(out_.data(), independent_ + works_, yd.data()); }

void WrittenSolution::take_state(std::span<double> x) const {
    for (std::size_t k = 0; k < states_; ++k)
        x[written_.order[k]] = k < independent_ ? state_[k] : out_[entries_ + k - independent_];
    std::copy_n(y_works_.data(), works_, x.data() + states_);
}

void WrittenSolution::take_whole_rate(std::span<double> xd) const {
    for (std::size_t k = 0; k < states_; ++k) xd[written_.order[k]] = out_[k < independent_ ? k : works_ + k];
    std::copy_n(out_.data() + independent_, works_, xd.data() + states_);
}

// ---------------------------------------------------------------- the rate

ReducedRate::ReducedRate(const Motion& motion, FirstOrderSystem& whole)
    : motion_(motion),
      whole_(whole),
      independent_(motion.reduction.value().independent),
      states_(motion.states()),
      works_(motion.works.size()),
      position_(motion, motion.reduction->position, motion.position),
      velocity_(motion, motion.reduction->velocity, motion.velocity) {
    for (std::vector<double>* v : {&guess_x_, &guess_xd_, &x_, &xd_}) v->resize(motion.carried());
    if (motion.reduction->written) written_.emplace(motion, *motion.reduction->written, whole);
    for (const std::size_t entry : independent_)
        if (entry >= motion.states()) throw Error("an independent entry is not in the state");
    for (std::size_t entry = 0; entry < states_; ++entry)
        if (std::ranges::find(independent_, entry) == independent_.end()) dependent_.push_back(entry);
}

void ReducedRate::take_independent(std::span<const double> x, std::span<double> y) const {
    for (std::size_t k = 0; k < independent_.size(); ++k) y[k] = x[independent_[k]];
    for (std::size_t k = 0; k < works_; ++k) y[independent_.size() + k] = x[states_ + k];
}

void ReducedRate::set_guess(double t, std::span<const double> x, std::span<const double> xd) {
    if (written_) written_->set_guess(t, x, xd);
    guess_t_ = t;
    std::copy(x.begin(), x.end(), guess_x_.begin());
    std::copy(xd.begin(), xd.end(), guess_xd_.begin());
}

RateStatus ReducedRate::start(double t, std::span<const double> x) {
    std::fill(xd_.begin(), xd_.end(), 0.0);
    set_guess(t, x, xd_);
    for (DependentEntries* level : {&position_, &velocity_})
        if (const RateStatus status = level->start(t, x); status != RateStatus::ok) return status;
    written_serves_ = written_ && written_->start(t, x, position_.least_pivot(), velocity_.least_pivot());
    return RateStatus::ok;
}

RateStatus ReducedRate::complete(double t, std::span<const double> y, std::span<double> x) {
    if (!(written_serves_ && written_->solve(t, y))) return iterate(t, y, x);
    written_->take_state(x);
    return RateStatus::ok;
}

RateStatus ReducedRate::iterate(double t, std::span<const double> y, std::span<double> x) {
    for (const std::size_t entry : dependent_) x[entry] = guess_x_[entry] + (t - guess_t_) * guess_xd_[entry];
    for (std::size_t k = 0; k < independent_.size(); ++k) x[independent_[k]] = y[k];
    for (std::size_t k = 0; k < works_; ++k) x[states_ + k] = y[independent_.size() + k];
    if (!normalise_quaternions(motion_, x)) return RateStatus::not_finite;
    for (DependentEntries* level : {&position_, &velocity_})
        if (const RateStatus status = level->solve(t, x); status != RateStatus::ok) return status;
    return RateStatus::ok;
}

RateStatus ReducedRate::rate(double t, std::span<const double> y, std::span<double> yd) {
    is_written_ = written_serves_ && written_->solve(t, y);
    if (is_written_) {
        written_->take_rate(yd);
        return RateStatus::ok;
    }
    RateStatus status = iterate(t, y, x_);
    if (status == RateStatus::ok) status = whole_.rate(t, x_, xd_);
    if (status == RateStatus::ok) take_independent(xd_, yd);
    return status;
}

void ReducedRate::take_last(std::span<double> x, std::span<double> xd) const {
    if (is_written_) {
        written_->take_state(x);
        written_->take_whole_rate(xd);
        return;
    }
    std::copy(x_.begin(), x_.end(), x.begin());
    std::copy(xd_.begin(), xd_.end(), xd.begin());
}

double ReducedRate::share(double t, std::span<const double> x) {
    position_.measure_share(t, x);
    velocity_.measure_share(t, x);
    return std::min(position_.share(), velocity_.share());
}

// ---------------------------------------------------------------- the integrator

namespace {

IntegratorOptions of_independent(const Motion& motion, IntegratorOptions options) {
    if (options.atol_by_entry.empty()) return options;
    std::vector<double> atol;
    for (const std::size_t entry : motion.reduction.value().independent) atol.push_back(options.atol_by_entry[entry]);
    options.atol_by_entry = std::move(atol);
    return options;
}

}  // namespace

ReducedIntegrator::ReducedIntegrator(const Motion& motion, FirstOrderSystem& whole, IntegratorKind kind,
                                     const IntegratorOptions& options)
    : rate_(motion, whole),
      inner_(make_integrator(kind, rate_, of_independent(motion, options))),
      corrects_independent_(!motion.quaternions.empty()) {
    for (std::vector<double>* v : {&x_, &xd_, &x_previous_, &xd_previous_}) v->resize(motion.carried());
    y_.resize(rate_.size());
    yd_.resize(rate_.size());
}

void ReducedIntegrator::keep_last_evaluation() { rate_.take_last(x_, xd_); }

StepStatus ReducedIntegrator::start(double t, std::span<const double> x, double t_end) {
    rate_.take_independent(x, y_);
    start_ = rate_.start(t, x);
    if (start_ == RateStatus::ok) start_ = rate_.rate(t, y_, yd_);
    if (start_ != RateStatus::ok) return StepStatus::rate_failed;
    keep_last_evaluation();
    rate_.set_guess(t, x_, xd_);
    return inner_->start(t, y_, t_end);
}

StepStatus ReducedIntegrator::step() {
    rate_.set_guess(inner_->t(), x_, xd_);
    const StepStatus status = inner_->step();
    if (status != StepStatus::ok) return status;
    // the last evaluation of an accepted step is the one at its end
    std::swap(x_, x_previous_);
    std::swap(xd_, xd_previous_);
    keep_last_evaluation();
    if (!corrects_independent_) return status;
    // NOTE: the rate stays: it was taken at the entries put right, and these are put right to themselves
    rate_.take_independent(x_, y_);
    return inner_->replace_state(y_, false);
}

bool ReducedIntegrator::retreat() {
    std::swap(x_, x_previous_);
    std::swap(xd_, xd_previous_);
    return inner_->retreat();
}

bool ReducedIntegrator::dense(double t, std::span<double> x) {
    return inner_->dense(t, y_) && rate_.complete(t, y_, x) == RateStatus::ok;
}

// the guess of the next step is made of these
bool ReducedIntegrator::checkpoint(Checkpoint& c) {
    c("reduced.x", x_);
    c("reduced.rate", xd_);
    return inner_->checkpoint(c);
}

StepStatus ReducedIntegrator::replace_state(std::span<const double> x, bool rate_too) {
    std::copy(x.begin(), x.end(), x_.begin());
    rate_.take_independent(x, y_);
    const StepStatus status = inner_->replace_state(y_, rate_too);
    if (rate_too && status == StepStatus::ok) keep_last_evaluation();
    return status;
}

}  // namespace appell
