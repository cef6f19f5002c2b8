// See project.hpp.
#include "sim/project.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace appell {

using namespace projection;

namespace {

constexpr double k_epsilon = std::numeric_limits<double>::epsilon();

bool finite(std::span<const double> values) {
    return std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
}

}  // namespace

bool normalise_quaternions(const Motion& motion, std::span<double> x) {
    for (const std::array<std::size_t, 4>& e : motion.quaternions) {
        const double square = x[e[0]] * x[e[0]] + x[e[1]] * x[e[1]] + x[e[2]] * x[e[2]] + x[e[3]] * x[e[3]];
        if (!(square > 0) || !std::isfinite(square)) return false;
        if (std::abs(square - 1) <= 4 * k_epsilon) continue;  // dividing again would only shuffle round-off
        const double norm = std::sqrt(square);
        for (const std::size_t i : e) x[i] /= norm;
    }
    return true;
}

Projector::Projector(const Motion& motion, const Program& program, Part part)
    : motion_(&motion), program_(motion, program), active_(!program.outputs.empty()), part_(part) {
    offset_ = part == Part::coordinates ? 0 : motion.coordinates;
    count_ = part == Part::coordinates ? motion.coordinates : motion.speeds;
    before_.resize(count_);
    original_.resize(count_);
    step_.resize(count_);
    if (!active_) return;
    residual_ = program.output("residual");
    scaled_ = program.output("scaled");
    correction_ = program.output(part == Part::coordinates ? "dq" : "du");
    if (residual_.end - residual_.begin != scaled_.end - scaled_.begin || correction_.end - correction_.begin != count_)
        throw Error("the outputs of a correction program do not have the sizes of the motion");
    weight_.resize(residual_.end - residual_.begin);
    scaled_now_.resize(weight_.size());
    active_ = !weight_.empty();
}

// residuals and correction at x; false when they can not be had
bool Projector::evaluate(double t, std::span<const double> x, ProjectReport& report) {
    report.evaluation = evaluation_ = program_.run(t, x);
    if (report.evaluation.status == EvalStatus::singular_mass || report.evaluation.status == EvalStatus::needs_pivoting) {
        report.status = ProjectStatus::singular;
        return false;
    }
    const std::span<const double> residual = program_.output(residual_), scaled = program_.output(scaled_);
    const bool all_finite = report.evaluation.status == EvalStatus::ok;
    if (!all_finite && (!finite(residual) || !finite(program_.output(correction_)))) {
        report.status = ProjectStatus::not_finite;
        return false;
    }
    report.residual = report.scaled = 0;
    for (std::size_t i = 0; i < residual.size(); ++i) {
        // a row without any size to compare with (all at rest) is judged as it is
        scaled_now_[i] = all_finite || std::isfinite(scaled[i]) ? std::abs(scaled[i]) : std::abs(residual[i]);
        report.residual = std::max(report.residual, std::abs(residual[i]));
        report.scaled = std::max(report.scaled, scaled_now_[i]);
    }
    return true;
}

// What the shortened corrections must reduce: residuals, each over the length of its row at first, which makes distances of them
// whatever the units and factors a row was written with.
double Projector::merit() const {
    const std::span<const double> residual = program_.output(residual_);
    double sum = 0;
    for (std::size_t i = 0; i < residual.size(); ++i) sum += weight_[i] * residual[i] * weight_[i] * residual[i];
    return std::sqrt(sum);
}

void Projector::weigh() {
    const std::span<const double> rows = program_.rows();
    if (rows.size() < program_.row_begin(weight_.size())) throw Error("a correction program begins with the solve of its rows");
    double longest = 0;
    for (std::size_t i = 0; i < weight_.size(); ++i) {
        double square = 0;
        const std::size_t begin = program_.row_begin(i);
        for (const double entry : rows.subspan(begin, program_.row_begin(i + 1) - begin)) square += entry * entry;
        weight_[i] = std::sqrt(square);
        longest = std::max(longest, weight_[i]);
    }
    // a gradient that vanishes gives no distance: the row then counts by its residual, and waits for the others
    for (double& weight : weight_)
        weight = weight > 1e-280 && std::isfinite(weight) ? 1 / weight : longest > 1e-280 ? 1 / longest : 1;
}

bool Projector::normalise(std::span<double> x) const { return part_ != Part::coordinates || normalise_quaternions(*motion_, x); }

ProjectReport Projector::finish(std::span<const double> x, ProjectReport report, bool converged) const {
    if (report.status == ProjectStatus::converged && !converged)
        report.status =
            report.evaluation.status == EvalStatus::inconsistent_rows ? ProjectStatus::inconsistent : ProjectStatus::no_solution;
    double largest = 0;
    for (std::size_t i = 0; i < count_; ++i) largest = std::max(largest, std::abs(x[offset_ + i]));
    for (std::size_t i = 0; i < count_; ++i) {
        const double round_off = k_moved * (std::abs(x[offset_ + i]) + k_moved_of_largest * largest);
        if (std::abs(x[offset_ + i] - original_[i]) > round_off) report.moved = true;
    }
    return report;
}

ProjectReport Projector::measure(double t, std::span<const double> x) {
    ProjectReport report;
    if (active_) evaluate(t, x, report);
    return report;
}

ProjectReport Projector::project(double t, std::span<double> x, const ProjectOptions& options) {
    ProjectReport report;
    const std::span<double> part = x.subspan(offset_, count_);
    std::copy(part.begin(), part.end(), original_.begin());
    const auto advance = [&](double factor) {
        for (std::size_t i = 0; i < count_; ++i) part[i] = before_[i] + factor * step_[i];
        return normalise(x);
    };
    if (!normalise(x)) {
        report.status = ProjectStatus::not_finite;
        return report;
    }
    if (!active_) return finish(x, report, true);

    // Rows that follow from the others come down as far as the round-off of those lets them, and no correction is for them.
    const auto good_enough = [&] { return report.evaluation.redundant ? k_rows_follow : k_good_enough; };
    double previous = std::numeric_limits<double>::infinity();
    if (!evaluate(t, x, report)) return finish(x, report, false);
    if (options.halving) weigh();
    for (;;) {
        if (report.scaled <= k_round_off) return finish(x, report, true);
        if (report.scaled <= good_enough() && report.scaled >= 0.5 * previous) return finish(x, report, true);
        if (report.corrections == options.max_corrections)
            return finish(x, report, options.as_it_is || report.scaled <= good_enough());
        previous = report.scaled;
        std::copy(part.begin(), part.end(), before_.begin());
        const std::span<const double> correction = program_.output(correction_);
        std::copy(correction.begin(), correction.end(), step_.begin());

        // full correction; with halving, shorter ones until the residual goes down
        const double merit_before = options.halving ? merit() : 0;
        double factor = 1;
        for (;;) {
            ProjectReport trial = report;
            const bool usable = advance(factor) && evaluate(t, x, trial);
            if (usable && (!options.halving || merit() < merit_before)) {
                trial.corrections = report.corrections + 1;
                report = trial;
                break;
            }
            if (!options.halving && !usable) {
                if (trial.status == ProjectStatus::converged) trial.status = ProjectStatus::not_finite;
                return finish(x, trial, false);
            }
            factor /= 2;
            if (factor < 1e-6) {
                std::copy(before_.begin(), before_.end(), part.begin());
                evaluate(t, x, report);
                return finish(x, report, report.scaled <= good_enough());
            }
        }
    }
}

}  // namespace appell
