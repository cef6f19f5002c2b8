#include "pipeline/law_jumps.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/number_format.hpp"
#include "sim/project.hpp"
#include "tape/workspace.hpp"

namespace appell {

namespace {

// a change this small against the model's length, against energies or against speeds is round-off
constexpr double k_same = 1e-9;
// so many units in the last place of the time are one instant
constexpr double k_instant = 64;
constexpr int k_most_steps = 50;

class LawCarrier {
public:
    LawCarrier(Mode& mode, const LawSwitch& change, std::span<double> x, Diagnostic& why)
        : mode_(mode),
          laws_(mode.laws),
          motion_(mode.lowered.motion),
          change_(change),
          off_(k_instant * std::numeric_limits<double>::epsilon() * std::abs(change.t)),
          x_(x),
          why_(why) {}

    [[nodiscard]] LawJump run() {
        if (!places_stay() || !rows_stay()) return LawJump::impossible;
        if (!laws_.momentum) return LawJump::none;
        const std::vector<double> momentum_before = at_sides_before(*laws_.momentum, "momentum");
        const double potential_before = laws_.momentum->output("potential").front();
        (void)at_sides_after(*laws_.momentum, "momentum");
        if (!potential_stays(potential_before)) return LawJump::impossible;
        MotionProgram rate(motion_, motion_.rate);
        const std::vector<double> rates_before = at_sides_before(rate, "qd"), before = speeds();
        if (const Push pushed = push(momentum_before); pushed != Push::found) return no_speeds(pushed);
        if (same(before, speeds())) return LawJump::none;
        if (same(rates_before, at_sides_after(rate, "qd"))) return LawJump::definitions;
        return change_.backwards && !leads_back_to(before) ? LawJump::impossible : LawJump::speeds;
    }

private:
    // a little before the switch or at it, under the sides before
    [[nodiscard]] std::vector<double> at_sides_before(MotionProgram& program, std::string_view output, double earlier = 0) {
        for (std::size_t i = 0; i < laws_.conditions; ++i) program.set_parameter(laws_.first_side + i, change_.before[i]);
        (void)program.run(change_.t - earlier, x_);
        const std::span<const double> values = program.output(output);
        return {values.begin(), values.end()};
    }
    // at the switch or a little later, under the sides after
    [[nodiscard]] std::vector<double> at_sides_after(MotionProgram& program, std::string_view output, double later = 0) {
        for (std::size_t i = 0; i < laws_.conditions; ++i)
            program.set_parameter(laws_.first_side + i, motion_.parameters[laws_.first_side + i]);
        (void)program.run(change_.t + later, x_);
        const std::span<const double> values = program.output(output);
        return {values.begin(), values.end()};
    }
    // to the tolerance of the run, and round-off of the largest
    [[nodiscard]] bool same(const std::vector<double>& a, const std::vector<double>& b) const {
        double size = 0, apart = 0;
        for (std::size_t i = 0; i < a.size(); ++i) {
            size = std::max({size, std::abs(a[i]), std::abs(b[i])});
            apart = std::max(apart, std::abs(a[i] - b[i]));
        }
        return apart <= change_.atol + k_same * size;
    }
    // By value, how far it jumps beyond what the round-off of the time makes of it, which is not known better than `off_`.
    [[nodiscard]] std::vector<double> jumps(MotionProgram& program, std::string_view output) {
        const std::vector<double> earlier = at_sides_before(program, output, off_), before = at_sides_before(program, output),
                                  later = at_sides_after(program, output, off_), after = at_sides_after(program, output);
        std::vector<double> out(before.size());
        for (std::size_t i = 0; i < out.size(); ++i) {
            const double moves = std::abs(later[i] - after[i]) + std::abs(before[i] - earlier[i]);
            const double round_off = 1e-13 * (std::abs(before[i]) + std::abs(after[i]));
            out[i] = std::max(std::abs(after[i] - before[i]) - moves - round_off, 0.0);
        }
        return out;
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
        const std::vector<double> jump = jumps(*laws_.place, "place");
        for (std::size_t i = 0; i < jump.size(); ++i)
            if (!(jump[i] <= k_same * motion_.length))
                return refuse(fmt::format("the {} jumps", laws_.place_names[i]),
                              fmt::format("a jump by {}", short_number(jump[i])), {},
                              "prescribe a motion that gets there in a time: a ramp, or a velocity");
        return true;
    }

    [[nodiscard]] bool rows_stay() {
        if (motion_.position_rows == 0) return true;
        MotionProgram position(motion_, motion_.position);
        const std::vector<double> scaled = jumps(position, "scaled"), residual = jumps(position, "residual");
        std::size_t i = 0;
        for (const ConstraintRow& row : mode_.dynamics.rows) {
            if (row.level != Level::position) continue;
            const Constraint& c = mode_.dynamics.model->constraints[row.constraint];
            // where a closed contact ends it is open
            if (!c.unilateral && !(scaled[i] <= k_same))
                return refuse(fmt::format("constraint {} jumps", c.name), fmt::format("by {}", short_number(residual[i])), c.span,
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

    [[nodiscard]] std::vector<double> speeds() const {
        return {x_.begin() + static_cast<std::ptrdiff_t>(motion_.coordinates),
                x_.begin() + static_cast<std::ptrdiff_t>(motion_.states())};
    }
    // A run backwards knows the speeds after the jump, and an impulse goes one way: carried forwards again, the speeds before
    // must jump to those.
    [[nodiscard]] bool leads_back_to(const std::vector<double>& after) {
        const std::vector<double> before = speeds();
        const std::vector<double> momentum = at_sides_after(*laws_.momentum, "momentum");
        const bool found = push(momentum, change_.before) == Push::found;
        const bool back = found && same(speeds(), after);
        std::ranges::copy(before, x_.begin() + static_cast<std::ptrdiff_t>(motion_.coordinates));
        if (back) return true;
        why_ = {Code::E0847,
                {},
                fmt::format("speeds jump at t = {}, and from the speeds after the jump those before it cannot be found",
                            short_number(change_.t)),
                "an impulse of constraints that change there",
                "a model whose motion can be followed backwards: smooth laws, or laws that switch",
                "run forwards from an earlier state"};
        return false;
    }

    enum class Push { found, no_mass, none };
    // Newton's method, for rows that are not linear in the speeds; under the sides of the mode, or under others
    [[nodiscard]] Push push(std::span<const double> momentum_before, std::span<const int> sides = {}) {
        Workspace<double> impulse(laws_.impulse);
        const std::span<double> inputs = impulse.inputs();
        inputs[0] = change_.t;
        std::ranges::copy(motion_.parameters, inputs.begin() + static_cast<std::ptrdiff_t>(1 + motion_.states()));
        for (std::size_t i = 0; i < sides.size() && i < laws_.conditions; ++i)
            inputs[1 + motion_.states() + laws_.first_side + i] = sides[i];
        std::ranges::copy(momentum_before, inputs.begin() + static_cast<std::ptrdiff_t>(motion_.inputs()));
        std::vector<double> after(x_.begin(), x_.begin() + static_cast<std::ptrdiff_t>(motion_.states()));
        double size = 0, left = std::numeric_limits<double>::infinity();
        for (int steps = 0; steps < k_most_steps && left > 1e-3 * k_same * size; ++steps) {
            std::ranges::copy(after, inputs.begin() + 1);
            const EvalStatus status = impulse.run().status;
            // a mass that vanishes is for the run to report
            if (status == EvalStatus::singular_mass) return Push::no_mass;
            if (status != EvalStatus::ok) return Push::none;
            const std::span<const double> jump = impulse.output("jump");
            left = size = 0;
            for (std::size_t i = 0; i < jump.size(); ++i) {
                double& u = after[motion_.coordinates + i];
                u += jump[i];
                left = std::max(left, std::abs(jump[i]));
                size = std::max(size, std::abs(u));
            }
        }
        if (!(left <= k_same * size)) return Push::none;
        std::copy(after.begin() + static_cast<std::ptrdiff_t>(motion_.coordinates), after.end(),
                  x_.begin() + static_cast<std::ptrdiff_t>(motion_.coordinates));
        return Push::found;
    }

    [[nodiscard]] LawJump no_speeds(Push pushed) {
        if (pushed == Push::no_mass) return LawJump::none;
        why_ = {Code::E0842,
                {},
                fmt::format("no speeds satisfy the constraints after laws switch at t = {}", short_number(change_.t)),
                "",
                "prescribed velocities that do not contradict each other, and that the actuators can bring about",
                ""};
        return LawJump::impossible;
    }

    Mode& mode_;
    LawPrograms& laws_;
    const Motion& motion_;
    const LawSwitch& change_;
    double off_;
    std::span<double> x_;
    Diagnostic& why_;
};

}  // namespace

LawJump carry_over(Mode& mode, const LawSwitch& change, std::span<double> x, Diagnostic& why) {
    return LawCarrier(mode, change, x, why).run();
}

}  // namespace appell
