// The reduced state of `minimal` (000 secs. 2-4): only the independent entries of x = (q, u) are integrated. The dependent ones
// solve the position rows, then the velocity rows themselves, so that the constraints hold to round-off at every stage and in
// every row, and nothing drifts.
//
// The works (motion.hpp) follow the independent entries, as they follow x.
//
// Newton's method sets out from a guess: the state of the last accepted step, moved on along its rate. So the rate is a function
// of (t, independent entries, guess) and of nothing else. Each correction must be at most a quarter of the one before: by the
// theorem of Newton and Kantorovich there is then one solution near the guess, that of the branch the start values are on. Rows
// that are affine in the dependent entries are solved by the first correction; the second takes its rounding away. What can not
// be solved so is no rate: the step is shortened, and where no step is short enough the run ends.
//
// For few rows corrections and rate are written out as one program (WrittenRate), which is asked first. Rows that are affine in
// the dependent entries, and blocks of rows one of which is quadratic, are solved by one correction from a guess that is near
// enough; for others there are several of Newton's, which must shrink as above. Where that, or a determinant, is in doubt, the
// iteration sets out from the same guess and decides.
//
// Rows that follow from others may be among them. The elimination takes a row and a column with each pivot, the largest there is,
// so that other rows are taken wherever those of before would not do; on the constraints they say the same, and nothing jumps.
//
// A partition fails where the dependent entries lose their share in some row: the jacobian of the rows along them becomes
// singular although the rows do not. Errors of the independent entries then grow without bound in the dependent ones. The rate
// ends where the smallest pivot, compared with that of the rows along all directions, has lost three digits against the start, or
// the determinant has changed its sign (of rows that are all independent).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/integrators.hpp"
#include "sim/integrator.hpp"
#include "sim/motion.hpp"
#include "sim/motion_program.hpp"

namespace appell {

// The dependent entries of one level.
class DependentEntries {
public:
    // `correction`: the program of the motion that corrects all entries of this level
    DependentEntries(const Motion& motion, const DependentRows& rows, const Program& correction);

    // takes the measure of the partition at a state on the rows, for later states to be compared with
    [[nodiscard]] RateStatus start(double t, std::span<const double> x);
    // from the guess in x to the solution
    [[nodiscard]] RateStatus solve(double t, std::span<double> x);
    // the least pivot at a state on the rows against that of the start
    void measure_share(double t, std::span<const double> x);
    [[nodiscard]] double share() const { return share_; }
    // below which no pivot of rows of unit length may fall
    [[nodiscard]] double least_pivot() const { return std::abs(least_share_); }

private:
    double factor();
    [[nodiscard]] bool worn(double pivot, double t, std::span<const double> x);
    void correct(std::span<double> x);

    const Motion& motion_;
    const DependentRows& rows_;
    MotionProgram program_, correction_;
    OutputRange residual_, jacobian_, moves_, scaled_;
    std::vector<double> lu_, step_, work_;
    std::vector<std::size_t> row_order_, column_order_;
    double least_share_ = 0;  // the least pivot over that of all directions, with the sign of the determinant if it has one
    double share_ = 1;
    double moved_ = 0;  // largest relative change of an entry by the last correction
};

// The rate and the dependent entries of both levels by what is written out.
class WrittenSolution {
public:
    // `whole` has the written rate of the motion
    WrittenSolution(const Motion& motion, const WrittenRate& written, FirstOrderSystem& whole);

    // takes the signs of the determinants at a state on the rows; what pivots must stay above
    [[nodiscard]] bool start(double t, std::span<const double> x, double least_position_pivot, double least_velocity_pivot);
    void set_guess(double t, std::span<const double> x, std::span<const double> xd);
    // the rate of y for the stages of a step
    [[nodiscard]] NativeEvaluation native() { return stage_ ? stage_->native() : NativeEvaluation{}; }
    // at the independent entries and works y; false: nothing is known
    [[nodiscard]] bool solve(double t, std::span<const double> y);
    // at the last solution: of y; all of x; its rate
    void take_rate(std::span<double> yd) const;
    void take_state(std::span<double> x) const;
    void take_whole_rate(std::span<double> xd) const;

private:
    [[nodiscard]] bool regular() const;
    [[nodiscard]] static bool contracts(const WrittenRate::Level& level, const double* entries, const double* steps);

    const WrittenRate& written_;
    FirstOrderSystem& whole_;
    std::size_t states_, independent_, works_;
    double guess_t_ = 0;
    std::vector<double> guess_, guess_rate_;  // of the dependent entries
    std::vector<double> state_, y_works_;     // the independent entries and the guess, as the program takes them; the works
    std::size_t entries_, sizes_, steps_, slopes_, determinants_, lengths_;  // where they begin in the outputs
    std::vector<double> out_;
    std::optional<Workspace<double>> stage_;
    std::size_t stage_guess_ = 0;  // where the guess begins in its inputs
    std::vector<double> least_;    // by block: of the determinant for rows of unit length, with the sign of the start
};

// The rate of the independent entries: the dependent ones solved for, then the rate of all of x.
class ReducedRate final : public FirstOrderSystem {
public:
    ReducedRate(const Motion& motion, FirstOrderSystem& whole);

    [[nodiscard]] std::size_t size() const override { return independent_.size() + works_; }
    [[nodiscard]] std::size_t controlled() const override { return independent_.size(); }
    [[nodiscard]] RateStatus rate(double t, std::span<const double> y, std::span<double> yd) override;
    [[nodiscard]] NativeEvaluation native_rate() override { return written_serves_ ? written_->native() : NativeEvaluation{}; }

    [[nodiscard]] RateStatus start(double t, std::span<const double> x);
    // the guess of all evaluations from now on
    void set_guess(double t, std::span<const double> x, std::span<const double> xd);
    // all of x, from its independent entries
    [[nodiscard]] RateStatus complete(double t, std::span<const double> y, std::span<double> x);
    void take_independent(std::span<const double> x, std::span<double> y) const;

    // of the dependent entries in the rows, at the state reached
    [[nodiscard]] double share(double t, std::span<const double> x);
    // of the last rate
    void take_last(std::span<double> x, std::span<double> xd) const;

private:
    [[nodiscard]] RateStatus iterate(double t, std::span<const double> y, std::span<double> x);

    const Motion& motion_;
    FirstOrderSystem& whole_;
    std::span<const std::size_t> independent_;
    std::vector<std::size_t> dependent_;  // the others
    std::size_t states_, works_;
    DependentEntries position_, velocity_;
    std::optional<WrittenSolution> written_;
    bool written_serves_ = false;
    bool is_written_ = false;  // the last rate
    double guess_t_ = 0;
    std::vector<double> guess_x_, guess_xd_;
    std::vector<double> x_, xd_;
};

// Integrates the independent entries and shows all of x.
class ReducedIntegrator final : public Integrator {
public:
    // the motion has a reduction; the options are those of the whole state
    ReducedIntegrator(const Motion& motion, FirstOrderSystem& whole, IntegratorKind kind, const IntegratorOptions& options);

    [[nodiscard]] StepStatus start(double t, std::span<const double> x, double t_end) override;
    [[nodiscard]] StepStatus step() override;
    [[nodiscard]] bool retreat() override;
    [[nodiscard]] bool dense(double t, std::span<double> x) override;
    [[nodiscard]] StepStatus replace_state(std::span<const double> x, bool rate_too) override;
    [[nodiscard]] bool checkpoint(Checkpoint& checkpoint) override;

    [[nodiscard]] double t() const override { return inner_->t(); }
    [[nodiscard]] double t_previous() const override { return inner_->t_previous(); }
    [[nodiscard]] bool at_end() const override { return inner_->at_end(); }
    [[nodiscard]] std::span<const double> x() const override { return x_; }
    [[nodiscard]] RateStatus rate_status() const override { return start_ != RateStatus::ok ? start_ : inner_->rate_status(); }
    [[nodiscard]] const IntegratorStatistics& statistics() const override { return inner_->statistics(); }
    [[nodiscard]] double dependent_share() const override { return rate_.share(inner_->t(), x_); }

private:
    void keep_last_evaluation();

    mutable ReducedRate rate_;  // the share is worked out late
    std::unique_ptr<Integrator> inner_;
    RateStatus start_ = RateStatus::ok;
    bool corrects_independent_;  // quaternions are integrated whole, and put right with the dependent entries
    std::vector<double> x_, xd_, x_previous_, xd_previous_;
    std::vector<double> y_, yd_;
};

}  // namespace appell
