// Instants against closed forms: events that act once, that accumulate, that meet laws and contacts; impacts of contacts whose
// rows depend on each other.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>
#include <string>

#include <fmt/format.h>

#include "support/gallery_run.hpp"
#include "support/members.hpp"

namespace appell {
namespace {

constexpr std::array k_adaptive{"dopri5", "dop853", "cvode", "adams", "arkode", "ida"};

class Draw {
public:
    explicit Draw(unsigned seed) : random_(seed) {}
    double uniform(double a, double b) { return std::uniform_real_distribution(a, b)(random_); }
    double power_of_ten(double a, double b) { return std::pow(10, uniform(a, b)); }

private:
    std::mt19937 random_;
};

std::string text(double x) { return fmt::format("({:.17g})", x); }

struct Ended {
    Derivation derivation;
    std::optional<Run> run;
    [[nodiscard]] std::size_t count(Code code) const {
        std::size_t out = 0;
        for (const Diagnostic& d : derivation.diagnostics.all()) out += d.code == code;
        return out;
    }
    // at the end
    [[nodiscard]] double state(std::size_t i) const { return run->summary.x_end[i]; }
    [[nodiscard]] std::size_t listed(const std::string& what) const {
        std::size_t out = 0;
        for (const RunEvent& e : run->events) out += e.what.find(what) != std::string::npos;
        return out;
    }
    [[nodiscard]] std::string said() const { return render(derivation.diagnostics, derivation.sources); }
};

Ended run_to_its_end(const std::string& model, const RunOptions& options = {}) {
    Ended out{derive_text(model), {}};
    EXPECT_TRUE(out.derivation.ok()) << out.said();
    out.run = run(out.derivation, options);
    EXPECT_TRUE(out.run.has_value()) << out.said() << model;
    return out;
}

RunOptions with(std::size_t k) {
    RunOptions options;
    options.integrator = k_adaptive[k % k_adaptive.size()];
    return options;
}

// a relay that switches at an even pace, for long: the limit of work, not chatter
TEST(Instants, EvenSwitchesForLongAreTheLimitOfWork) {
    for (const std::string law : {"force on P = -sign(x)*N.x\n", "force on P = -x*N.x\nevent e: x => set x' = x'\n"}) {
        const Ended e =
            run_to_its_end("system relay\ncoord x = 1\nparticle P mass 1 at O + x*N.x\n" + law + "run for 1e10, every 1e9\n");
        EXPECT_EQ(e.run->summary.reason, EndReason::too_many_steps) << e.said();
        EXPECT_GT(e.run->summary.steps_needed, 1e9);
    }
}

TEST(Instants, StepsBeginFarFromZero) {
    Draw draw(10);
    for (std::size_t k = 0; k < members(20); ++k) {
        const double from = std::round(draw.power_of_ten(8, 10.5)), x = draw.power_of_ten(-12, 1), pulse = from + 5;
        const Ended e = run_to_its_end(fmt::format("system far\ncoord x = {}\nparticle P mass 1 at O + x*N.x\n"
                                                   "force on P = if(t > {}, 1, 0)*N.x\nrun from {} for 10\n",
                                                   text(x), text(pulse), text(from)),
                                       with(k % 2));
        ASSERT_EQ(e.run->summary.reason, EndReason::finished) << k << e.said();
        EXPECT_NEAR(e.state(0), x + 12.5, 1e-5) << k;
    }
}

}  // namespace
}  // namespace appell
