// What the watch says of steps that it can not look into.
#include "sim/row_watch.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sim/make_integrator.hpp"
#include "sim/motion_rate.hpp"
#include "support/hand_motion.hpp"

namespace appell {
namespace {

// an integrator that has no states inside its steps while it is blind
class Veiled final : public Integrator {
public:
    explicit Veiled(Integrator& inner) : inner_(inner) {}
    [[nodiscard]] StepStatus start(double t, std::span<const double> x, double t_end) override {
        return inner_.start(t, x, t_end);
    }
    [[nodiscard]] StepStatus step() override { return inner_.step(); }
    [[nodiscard]] bool retreat() override { return inner_.retreat(); }
    [[nodiscard]] bool dense(double t, std::span<double> x) override {
        return !(blind && t != inner_.t() && t != inner_.t_previous()) && inner_.dense(t, x);
    }
    [[nodiscard]] StepStatus replace_state(std::span<const double> x, bool rate_too) override {
        return inner_.replace_state(x, rate_too);
    }
    [[nodiscard]] double t() const override { return inner_.t(); }
    [[nodiscard]] double t_previous() const override { return inner_.t_previous(); }
    [[nodiscard]] bool at_end() const override { return inner_.at_end(); }
    [[nodiscard]] std::span<const double> x() const override { return inner_.x(); }
    [[nodiscard]] RateStatus rate_status() const override { return inner_.rate_status(); }
    [[nodiscard]] const IntegratorStatistics& statistics() const override { return inner_.statistics(); }
    bool blind = false;

private:
    Integrator& inner_;
};

TEST(RowWatch, SaysWhatItCouldNotSee) {
    test::HandModel m = test::pendulum(9.81);
    const Motion motion = test::build_motion(m);
    MotionRate rate(motion);
    const std::unique_ptr<Integrator> inner = make_integrator(IntegratorKind::dopri5, rate, {1e-8, 1e-8});
    Veiled integrator(*inner);
    Projector velocity(motion, motion.velocity, Projector::Part::speeds);
    RowWatch watch(motion, velocity);
    std::vector<double> x{std::sin(0.9), -std::cos(0.9), 0.3 * std::cos(0.9), 0.3 * std::sin(0.9)};
    ASSERT_EQ(integrator.start(0, x, 1), StepStatus::ok);
    ASSERT_EQ(watch.start(0, x).loss, RowLoss::none);
    for (int step = 0; step < 4; ++step) {
        ASSERT_EQ(integrator.step(), StepStatus::ok);
        x.assign(integrator.x().begin(), integrator.x().end());
        (void)velocity.measure(integrator.t(), x);
        integrator.blind = step % 2 == 1;
        const RowFinding found = watch.look(integrator);
        EXPECT_EQ(found.loss, RowLoss::none);
        EXPECT_EQ(found.unseen, integrator.blind);
        watch.accept(x);
    }
}

}  // namespace
}  // namespace appell
