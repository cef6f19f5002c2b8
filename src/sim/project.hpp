// Projection onto the constraints: Newton's iteration with a correction program (Motion::position and its kin) until the scaled
// residuals are at round-off. With halving, a correction that does not reduce the residual is shortened; without, a handful of
// full corrections must do, as they do next to the constraints. Quaternions are kept at unit norm along the way.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "sim/motion.hpp"
#include "sim/motion_program.hpp"
#include "sim/project_limits.hpp"

namespace appell {

enum class ProjectStatus {
    converged,
    no_solution,  // the residual does not go down to round-off
    not_finite,
    inconsistent,  // rows contradict each other where the iteration ends
    singular       // the correction itself can not be computed
};

struct ProjectReport {
    ProjectStatus status = ProjectStatus::converged;
    std::size_t corrections = 0;
    double residual = 0, scaled = 0;  // largest, at the state left behind
    bool moved = false;               // by more than round-off
    EvalReport evaluation;            // of the last program run
};

struct ProjectOptions {
    std::size_t max_corrections = projection::k_most_corrections;
    bool halving = false;
    bool as_it_is = false;  // what the corrections leave is taken, round-off or not
};
inline constexpr ProjectOptions k_project_start{60, true};
inline constexpr ProjectOptions k_project_step{};
inline constexpr ProjectOptions k_correct_once{1, false, true};

// brings the quaternions among the coordinates to unit norm; false for one that has no direction
[[nodiscard]] bool normalise_quaternions(const Motion& motion, std::span<double> x);

class Projector {
public:
    enum class Part { coordinates, speeds };  // of the state: what is corrected

    // the program may have no outputs: then only quaternions are renormalised
    Projector(const Motion& motion, const Program& program, Part part);

    // corrects q or u in x = (q, u)
    ProjectReport project(double t, std::span<double> x, const ProjectOptions& options);
    // residuals only
    ProjectReport measure(double t, std::span<const double> x);
    void limit_rank(std::size_t rank) { program_.limit_rank(rank); }

    // of the last evaluation, at whatever state: its report and the rows of its solve
    [[nodiscard]] const EvalReport& evaluation() const { return evaluation_; }
    [[nodiscard]] const MotionProgram& program() const { return program_; }

private:
    bool evaluate(double t, std::span<const double> x, ProjectReport& report);
    [[nodiscard]] double merit() const;
    void weigh();
    [[nodiscard]] bool normalise(std::span<double> x) const;
    ProjectReport finish(std::span<const double> x, ProjectReport report, bool converged) const;

    const Motion* motion_;
    MotionProgram program_;
    bool active_;
    Part part_;
    EvalReport evaluation_;
    std::size_t offset_, count_;  // the part of x that is corrected
    OutputRange residual_, scaled_, correction_;
    std::vector<double> original_, before_, step_, weight_, scaled_now_;
};

}  // namespace appell
