#include "pipeline/law_jumps.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/number_format.hpp"
#include "sim/project.hpp"
#include "tape/workspace.hpp"

namespace appell {

namespace {

// a change of positions this small against the model's length is the round-off of the instant
constexpr double k_same_place = 1e-6;
// likewise of energies against their sizes, and of speeds against theirs
constexpr double k_same = 1e-9;

class LawCarrier {
public:
    LawCarrier(Mode& mode, const LawSwitch& change, std::span<double> x, Diagnostic& why)
        : mode_(mode), laws_(mode.laws), motion_(mode.lowered.motion), change_(change), x_(x), why_(why) {}

    [[nodiscard]] LawJump run() {
        if (!places_stay() || !rows_stay()) return LawJump::impossible;
        if (!laws_.momentum) return LawJump::none;
        const std::vector<double> momentum_before = at_sides_before(*laws_.momentum, "momentum");
        const double potential_before = laws_.momentum->output("potential").front();
        const std::span<const double> momentum = at_sides_after(*laws_.momentum, "momentum");
        if (!potential_stays(potential_before)) return LawJump::impossible;
        return push(momentum_before, momentum);
    }

private:
    [[nodiscard]] std::vector<double> at_sides_before(MotionProgram& program, std::string_view output) {
        for (std::size_t i = 0; i < laws_.conditions; ++i) program.set_parameter(laws_.first_side + i, change_.before[i]);
        (void)program.run(change_.t, x_);
        const std::span<const double> values = program.output(output);
        return {values.begin(), values.end()};
    }
    [[nodiscard]] std::span<const double> at_sides_after(MotionProgram& program, std::string_view output) {
        for (std::size_t i = 0; i < laws_.conditions; ++i)
            program.set_parameter(laws_.first_side + i, motion_.parameters[laws_.first_side + i]);
        (void)program.run(change_.t, x_);
        return program.output(output);
    }
    [[nodiscard]] bool refuse(const std::string& what, const std::string& found, Span span, const std::string& hint) {
        why_ = {Code::E0833,
                span,
                fmt::format("{} at t = {}", what, short_number(change_.t)),
                found,
                "positions that change without jumps",
                hint};
        return false;
    }

    [[nodiscard]] bool places_stay() {
        if (!laws_.place) return true;
        const std::vector<double> before = at_sides_before(*laws_.place, "place");
        const std::span<const double> after = at_sides_after(*laws_.place, "place");
        for (std::size_t i = 0; i < before.size(); ++i)
            if (const double jump = std::abs(after[i] - before[i]); jump > k_same_place * motion_.length)
                return refuse(fmt::format("the {} jumps", laws_.place_names[i]), fmt::format("a jump by {}", short_number(jump)),
                              {}, "prescribe a motion that gets there in a time: a ramp, or a velocity");
        return true;
    }

    [[nodiscard]] bool rows_stay() {
        if (motion_.position_rows == 0) return true;
        MotionProgram position(motion_, motion_.position);
        (void)position.run(change_.t, x_);
        const std::span<const double> scaled = position.output("scaled"), residual = position.output("residual");
        std::size_t i = 0;
        for (const ConstraintRow& row : mode_.dynamics.rows) {
            if (row.level != Level::position) continue;
            const Constraint& c = mode_.dynamics.model->constraints[row.constraint];
            if (const double size = std::abs(scaled[i]); !c.unilateral && !(size <= std::max(1e3 * change_.atol, k_same_place)))
                return refuse(fmt::format("constraint {} jumps", c.name),
                              fmt::format("a residual of {}", short_number(residual[i])), c.span,
                              "no force moves a point at once: let the constraint change in a time, by a ramp");
            ++i;
        }
        return true;
    }

    [[nodiscard]] bool potential_stays(double before) {
        const double after = laws_.momentum->output("potential").front();
        const double size = std::abs(before) + std::abs(after) + laws_.momentum->output("kinetic").front();
        if (!change_.by_state || std::abs(after - before) <= change_.atol + k_same * size) return true;
        return refuse("the potential energy jumps with the state", fmt::format("a jump by {} J", short_number(after - before)),
                      {}, "no force comes from such a jump: let the potential change along a way, by a ramp");
    }

    [[nodiscard]] LawJump push(std::span<const double> momentum_before, std::span<const double> momentum) {
        Workspace<double> impulse(laws_.impulse);
        const std::span<double> inputs = impulse.inputs();
        inputs[0] = change_.t;
        std::copy_n(x_.begin(), motion_.states(), inputs.begin() + 1);
        std::ranges::copy(motion_.parameters, inputs.begin() + static_cast<std::ptrdiff_t>(1 + motion_.states()));
        for (std::size_t i = 0; i < momentum.size(); ++i) inputs[motion_.inputs() + i] = momentum[i] - momentum_before[i];
        const EvalReport report = impulse.run();
        if (report.status != EvalStatus::ok) {
            why_ = {Code::E0842,
                    {},
                    fmt::format("no speeds satisfy the constraints after laws switch at t = {}", short_number(change_.t)),
                    "",
                    "prescribed velocities that do not contradict each other",
                    ""};
            return LawJump::impossible;
        }
        const std::span<const double> jump = impulse.output("jump");
        bool moved = false;
        for (std::size_t i = 0; i < jump.size(); ++i) {
            double& u = x_[motion_.coordinates + i];
            moved = moved || std::abs(jump[i]) > change_.atol + k_same * std::abs(u);
            u += jump[i];
        }
        return moved ? LawJump::speeds : LawJump::none;
    }

    Mode& mode_;
    LawPrograms& laws_;
    const Motion& motion_;
    const LawSwitch& change_;
    std::span<double> x_;
    Diagnostic& why_;
};

}  // namespace

LawJump carry_over(Mode& mode, const LawSwitch& change, std::span<double> x, Diagnostic& why) {
    return LawCarrier(mode, change, x, why).run();
}

}  // namespace appell
