// See chart_watch.hpp.
#include "sim/chart_watch.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace appell {

namespace {

// Of what it was where the stretch set out: nearer to the edge second derivatives of the dependent rates, which grow with the
// cube of it, have no digits left.
constexpr double k_edge = 1e-4;
// of the share, along one step
constexpr double k_resolved = 0.5;
// between neighbouring samples the plane turns by less: the product of its cosines
constexpr double k_turn = 0.7;
// Samples inside a step, by share of it: a plane that has turned evenly by whole or half turns shows at one of them.
constexpr std::array k_places{0.13, 0.38, 0.71};
// what the others leave of a row that depends on them
constexpr double k_dependent = 1e-10;

const Program& program_of(const Motion& motion) {
    static const Program none;
    return motion.chart ? motion.chart->program : none;
}

}  // namespace

ChartWatch::ChartWatch(const Motion& motion)
    : program_(motion, program_of(motion)),
      dependent_(motion.chart ? motion.chart->dependent : std::vector<std::size_t>{}),
      rows_(dependent_.size()),
      columns_(motion.coordinates) {
    if (empty()) return;
    row_range_ = motion.chart->program.output("rows");
    inertia_range_ = motion.chart->program.output("inertia");
    for (Sample* sample : {&before_, &after_, &inside_, &other_inside_}) sample->rows.resize(rows_ * columns_);
    square_.resize(rows_ * rows_);
    state_.resize(motion.carried());
}

void ChartWatch::take(double t, std::span<const double> x, Sample& sample) {
    (void)program_.run(t, x);
    const std::span<const double> rows = program_.output(row_range_), inertia = program_.output(inertia_range_);
    const std::size_t n = columns_;
    sample.known = true;
    for (std::size_t i = 0; i < rows_ && sample.known; ++i) {
        double* const row = &sample.rows[i * n];
        double whole = 0, left = 0;
        for (std::size_t j = 0; j < n; ++j) {
            row[j] = rows[i * n + j] / (inertia[j] > 0 ? std::sqrt(inertia[j]) : 1);
            whole += row[j] * row[j];
        }
        for (int again = 0; again < 2; ++again)
            for (std::size_t k = 0; k < i; ++k) {
                const double* const other = &sample.rows[k * n];
                double part = 0;
                for (std::size_t j = 0; j < n; ++j) part += row[j] * other[j];
                for (std::size_t j = 0; j < n; ++j) row[j] -= part * other[j];
            }
        for (std::size_t j = 0; j < n; ++j) left += row[j] * row[j];
        sample.known = std::isfinite(whole) && std::sqrt(left) > k_dependent * std::sqrt(whole);
        for (std::size_t j = 0; j < n; ++j) row[j] /= std::sqrt(left);
    }
    if (!sample.known) return;
    for (std::size_t i = 0; i < rows_; ++i)
        for (std::size_t k = 0; k < rows_; ++k) square_[i * rows_ + k] = sample.rows[i * n + dependent_[k]];
    sample.share = determinant();
}

double ChartWatch::determinant() {
    const std::size_t m = rows_;
    double out = 1;
    for (std::size_t k = 0; k < m; ++k) {
        std::size_t pivot = k;
        for (std::size_t i = k + 1; i < m; ++i)
            if (std::abs(square_[i * m + k]) > std::abs(square_[pivot * m + k])) pivot = i;
        if (pivot != k) {
            std::swap_ranges(&square_[k * m], &square_[k * m] + m, &square_[pivot * m]);
            out = -out;
        }
        out *= square_[k * m + k];
        if (square_[k * m + k] == 0) return 0;
        for (std::size_t i = k + 1; i < m; ++i) {
            const double factor = square_[i * m + k] / square_[k * m + k];
            for (std::size_t j = k + 1; j < m; ++j) square_[i * m + j] -= factor * square_[k * m + j];
        }
    }
    return out;
}

double ChartWatch::overlap(const Sample& a, const Sample& b) {
    for (std::size_t i = 0; i < rows_; ++i)
        for (std::size_t k = 0; k < rows_; ++k) {
            double dot = 0;
            for (std::size_t j = 0; j < columns_; ++j) dot += a.rows[i * columns_ + j] * b.rows[k * columns_ + j];
            square_[i * rows_ + k] = dot;
        }
    return determinant();
}

void ChartWatch::start(double t, std::span<const double> x) {
    if (empty()) return;
    take(t, x, before_);
    start_share_ = before_.known && before_.share != 0 ? std::abs(before_.share) : 1;
}

// NOTE: rows that become dependent are no matter of the chart (RowWatch): where they flip, the plane does not.
ChartWatch::Seen ChartWatch::look(Integrator& integrator, std::span<const double> x) {
    if (empty()) return Seen::inside;
    const double t0 = integrator.t_previous(), h = integrator.t() - t0;
    take(integrator.t(), x, after_);
    if (!before_.known || !after_.known) return Seen::inside;
    const Sample* last = &before_;
    const double least = k_resolved * std::abs(before_.share);
    const auto resolves = [&](const Sample& next) {
        const double same = overlap(*last, next), share = next.share * last->share;
        last = &next;
        return std::abs(same) > k_turn && same * share > 0 && std::abs(next.share) >= least;
    };
    for (const double place : k_places) {
        Sample& next = last == &inside_ ? other_inside_ : inside_;
        if (!integrator.dense(t0 + place * h, state_)) return Seen::unclear;
        take(t0 + place * h, state_, next);
        if (!next.known) return Seen::inside;
        if (!resolves(next)) return Seen::unclear;
    }
    if (!resolves(after_)) return Seen::unclear;
    return std::abs(after_.share) < k_edge * start_share_ ? Seen::edge : Seen::inside;
}

void ChartWatch::accept() { std::swap(before_, after_); }

double ChartWatch::share() const { return before_.known ? std::abs(before_.share) / start_share_ : 1; }

void ChartWatch::checkpoint(Checkpoint& c) {
    if (empty()) return;
    c("chart.rows", before_.rows);
    c("chart.share", before_.share);
    c("chart.known", before_.known);
    c("chart.start_share", start_share_);
}

}  // namespace appell
