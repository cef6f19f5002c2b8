// Guards, columns and claims that lose their value somewhere: each is named, with its time, and what does not depend on it goes
// on.
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

private:
    std::mt19937 random_;
};

std::string text(double x) { return fmt::format("({:.17g})", x); }

// without a value beyond x = a, in one way or another, and never zero before
std::string lost_beyond(double a, std::size_t k) {
    const std::array forms{"log({0} - x) + 100", "sqrt({0} - x) + 1", "({0} - x)^0.5 + 2", "asin(x - {0} + 1) + 7",
                           "log({0} - x)^2 + 1"};
    return fmt::format(fmt::runtime(forms[k % forms.size()]), text(a));
}

// the same of t in place of x
std::string of_time(std::string lost) {
    for (std::size_t at = 0; (at = lost.find("x", at)) != std::string::npos;) lost.replace(at, 1, "t");
    return lost;
}

const Diagnostic* find(const Derivation& d, Code code) {
    for (const Diagnostic& diagnostic : d.diagnostics.all())
        if (diagnostic.code == code) return &diagnostic;
    return nullptr;
}

double time_in(const std::string& message) { return std::stod(message.substr(message.find("t = ") + 4)); }

// a ball that bounces, beside an event that loses its value: the same bounces, and the event named
TEST(MissingValues, OfAnEventSwitchNothingElseOff) {
    Draw draw(1);
    for (std::size_t k = 0; k < members(40); ++k) {
        const double v = draw.uniform(0.5, 2), a = draw.uniform(0.1, 1.5), e = draw.uniform(0.3, 0.9), h = draw.uniform(0.2, 1);
        const auto model = [&](const std::string& event) {
            return fmt::format(
                "system ball\ncoord x = 0, y = {}\nstart x' = {}\nparticle P mass 1 at O + x*N.x + y*N.y\n"
                "gravity -9.81*N.y\nconstraint floor: y >= 0 restitution {}\n"
                "event mark: x - 0.7 => report\n{}run for 1.5\n",
                text(h), text(v), text(e), event);
        };
        RunOptions options;
        options.integrator = k_adaptive[k % k_adaptive.size()];
        const TextRun with = run_text(model("event dome: " + lost_beyond(a, k) + " => report\n"), options);
        const TextRun without = run_text(model(""), options);
        ASSERT_EQ(with.run.events.size(), without.run.events.size()) << k;
        for (std::size_t i = 0; i < with.run.events.size(); ++i) {
            EXPECT_EQ(with.run.events[i].what, without.run.events[i].what) << k;
            EXPECT_NEAR(with.run.events[i].t, without.run.events[i].t, 1e-6) << k;
        }
        const Diagnostic* said = find(with.derivation, Code::W0850);
        ASSERT_EQ(said != nullptr, a < 1.5 * v) << k;
        if (said) {
            EXPECT_NE(said->message.find("event dome"), std::string::npos);
            EXPECT_NEAR(time_in(said->message), a / v, 1e-4) << k << said->message;
        }
    }
}

// a pole is no zero: the event does not happen, and is named
TEST(MissingValues, PolesAreNoPassages) {
    Draw draw(2);
    for (std::size_t k = 0; k < members(40); ++k) {
        const double a = draw.uniform(0.2, 0.6), b = draw.uniform(0.7, 0.9), v = draw.uniform(1, 2);
        const std::array poles{"1/(x - {0})", "(x - 2)/(x - {0})^3", "tan(0.5*pi*x/{0})", "-3/(x - {0}) + 0.1*t"};
        const std::string pole = fmt::format(fmt::runtime(poles[k % poles.size()]), text(a));
        const bool has_zero = k % poles.size() == 2 || k % poles.size() == 3;
        RunOptions options;
        options.integrator = k_adaptive[k % k_adaptive.size()];
        const TextRun r = run_text(fmt::format("system pole\ncoord x = 0.01\nstart x' = {}\nparticle P mass 1 at O + x*N.x\n"
                                               "event pole: {} => report\nevent zero: x - {} => report\nrun for {}\n",
                                               text(v), pole, text(b), text(1.0 / v)),
                                   options);
        std::size_t zeros = 0;
        for (const RunEvent& e : r.run.events) {
            zeros += e.what == "zero" ? 1 : 0;
            if (e.what == "pole") {
                EXPECT_GT(std::abs(0.01 + v * e.t - a), 1e-3) << k;
            }
        }
        EXPECT_EQ(zeros, 1u) << k;
        if (!has_zero) {
            EXPECT_EQ(r.run.events.size(), 1u) << k;
        }
        const Diagnostic* said = find(r.derivation, Code::W0850);
        ASSERT_NE(said, nullptr) << k << " " << pole;
        EXPECT_NEAR(time_in(said->message), (a - 0.01) / v, 1e-4) << k;
    }
}

// what the motion depends on: a gap, the bound of a friction, a condition of the state or of time
TEST(MissingValues, OfWhatTheMotionDependsOnStopTheRun) {
    Draw draw(3);
    for (std::size_t k = 0; k < members(40); ++k) {
        const double v = draw.uniform(0.5, 2), a = draw.uniform(0.2, 0.9), T = a / v;
        const std::string lost = lost_beyond(a, k / 4), in_time = lost_beyond(T, k / 4);
        std::string model =
            fmt::format("system lost\ncoord x = 0, y = 1\nstart x' = {}\nparticle P mass 1 at O + x*N.x + y*N.y\n", text(v));
        std::string name;
        switch (k % 4) {
            case 0:
                model += "constraint floor: y + " + lost + " >= 0\n";
                name = "the gap of contact floor";
                break;
            case 1:  // it sticks
                model =
                    "system lost\ncoord x = 0, y = 0\nparticle P mass 1 at O + x*N.x + y*N.y\ngravity -9.81*N.y\n"
                    "constraint table: dot(pos(P), N.y) = 0\nnonideal table: friction on P = (" +
                    of_time(in_time) + ")*abs(reaction(table))\n";
                name = "the bound of friction of table";
                break;
            case 2:
                model += "force on P = if(" + lost + " > -50, 0, 1)*N.y\n";
                name = "the condition of a law";
                break;
            default: model += "force on P = if(" + of_time(in_time) + " > -50, 0, 1)*N.y\n"; name = "the condition of a law";
        }
        Derivation d = derive_text(model + "run for 2\n");
        ASSERT_TRUE(d.ok()) << render(d.diagnostics, d.sources);
        RunOptions options;
        options.integrator = k_adaptive[k % k_adaptive.size()];
        const auto r = run(d, options);
        ASSERT_TRUE(r.has_value()) << k << render(d.diagnostics, d.sources);
        const Diagnostic* said = find(d, Code::E0848);
        ASSERT_NE(said, nullptr) << k << "\n" << model << render(d.diagnostics, d.sources);
        EXPECT_NE(said->message.find(name), std::string::npos) << said->message;
        EXPECT_NEAR(time_in(said->message), T, 1e-4) << k << said->message;
        EXPECT_GT(r->rows(), 10u);
        for (std::size_t i = 0; i < r->rows(); ++i) EXPECT_LE(r->t(i), T + 1e-6) << k;
    }
}

// a condition that another one hides has no say while it is hidden
TEST(MissingValues, OfHiddenConditionsDoNoHarm) {
    Draw draw(4);
    for (std::size_t k = 0; k < members(40); ++k) {
        const double a = draw.uniform(0.2, 0.6), v = draw.uniform(0.5, 2), s = draw.uniform(0.1, 0.4);
        const std::array laws{"if(x > {0}, if(sqrt(x - {0}) > {1}, 1, 0), 0)", "if(x > {0} and sqrt(x - {0}) > {1}, 1, 0)",
                              "if(t*{2} > {0}, if(sqrt(t*{2} - {0}) > {1}, 1, 0), 0)",
                              "if(t*{2} > {0} and sqrt(t*{2} - {0}) > {1}, 1, 0)"};
        RunOptions options;
        options.integrator = k_adaptive[k % k_adaptive.size()];
        const std::string law = fmt::format(fmt::runtime(laws[k % laws.size()]), text(a), text(s), text(v));
        const double on = (a + s * s) / v, T = on + 1;
        const TextRun r = run_text(fmt::format("system hidden\ncoord x = 0, y = 0\nstart x' = {}\n"
                                               "particle P mass 1 at O + x*N.x + y*N.y\nforce on P = {}*N.y\nrun for {}\n",
                                               text(v), law, text(T)),
                                   options);
        EXPECT_NEAR(r.at(r.run.rows() - 1, "y'"), 1, 1e-6) << k << " " << law;
        EXPECT_NEAR(r.at(r.run.rows() - 1, "y"), 0.5, 1e-6) << k << " " << law;
    }
}

// a potential of time alone, which makes no force: where it has no value, neither has the ledger, and the summary says so
TEST(MissingValues, OfTheLedgerAreCounted) {
    Draw draw(6);
    for (std::size_t k = 0; k < members(20); ++k) {
        const double a = draw.uniform(0.2, 0.8);
        const TextRun r =
            run_text(fmt::format("system ledger\ncoord x = 0\nstart x' = 1\nparticle P mass 1 at O + x*N.x\n"
                                 "potential {}\nrun for 1, every 0.01\n",
                                 of_time(lost_beyond(a, k))));
        std::size_t rows = 0;
        for (std::size_t i = 0; i < r.run.rows(); ++i) rows += std::isfinite(r.at(i, "balance")) ? 0 : 1;
        EXPECT_GT(rows, 0u) << k;
        const Diagnostic* said = find(r.derivation, Code::W0849);
        ASSERT_NE(said, nullptr) << k;
        EXPECT_NE(said->message.find(fmt::format("balance in {} of", rows)), std::string::npos) << said->message;
        EXPECT_NEAR(r.at(r.run.rows() - 1, "x"), 1, 1e-9) << k;
    }
}

// columns are counted, with the time of the first
TEST(MissingValues, OfColumnsAreCounted) {
    Draw draw(5);
    for (std::size_t k = 0; k < members(40); ++k) {
        const double a = draw.uniform(0.1, 1.5);
        const TextRun r =
            run_text(fmt::format("system columns\ncoord x = 0\nstart x' = 1\nparticle P mass 1 at O + x*N.x\n"
                                 "output lost = {}\noutput kept = x^2\noutput least = min(sqrt({} - x), 3)\n"
                                 "run for 1, every 0.01\n",
                                 lost_beyond(a, k), text(a)));
        std::size_t rows = 0;
        double first = 0;
        for (std::size_t i = 0; i < r.run.rows(); ++i)
            if (!std::isfinite(r.at(i, "lost")) && rows++ == 0) first = r.run.t(i);
        ASSERT_EQ(r.run.not_finite.empty(), rows == 0) << k;
        EXPECT_EQ(r.derivation.diagnostics.has(Code::W0849), rows > 0) << k;
        if (rows == 0) continue;
        EXPECT_NEAR(first, a, 0.0101) << k;
        ASSERT_GE(r.run.not_finite.size(), 1u);
        EXPECT_EQ(r.run.not_finite[0].column, "lost");
        EXPECT_EQ(r.run.not_finite[0].rows, rows) << k;
        EXPECT_EQ(r.run.not_finite[0].first, first) << k;
        for (const NotFinite& c : r.run.not_finite) EXPECT_NE(c.column, "kept");
    }
}

}  // namespace
}  // namespace appell
