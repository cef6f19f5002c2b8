// Frames without a body, in every context: what names a material point of one is refused everywhere (E0604), and what has a
// meaning without a body has the same one everywhere.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "support/gallery_run.hpp"

namespace appell {
namespace {

// a frame T that turns, and a particle on it; {} is a scalar
constexpr const char* k_model =
    "system bodiless\ncoord a = 0.3, x = 1\nspeed w = a', v = x'\nframe T from N rotate a about z\n"
    "particle P mass 2 at O + x*T.x\nconstraint hold: dot(vel(P), T.x) = 0\nstart w = 2, v = 0\n";

struct Context {
    const char* name;
    const char* statement;
};
constexpr Context k_contexts[] = {
    {"output", "output y = {}\n"},
    {"let", "let y = {}\noutput z = y\n"},
    {"plot", "plot {}\n"},
    {"plot against", "plot x vs {}\n"},
    {"claim", "claim \"c\": {} = 0\n"},
    {"claim, right side", "claim \"c\": 0 = {}\n"},
    {"claim where", "claim \"c\": x = x where {} > 0\n"},
    {"misprint", "misprint \"c\": {} = 1\n"},
    {"constraint", "constraint c: {} = 0\n"},
    {"condition", "condition c: {} = 0\nimply hold => c\n"},
    {"force", "force on P = {}*N.x\n"},
    {"torque", "torque on T = {}*N.z\n"},
    {"load", "load on w = {}\n"},
    {"damper", "damper P O coefficient 1 + {}\n"},
    {"event", "event e: {} => report\n"},
    {"event set", "event e: t - 9 => set x = {}\n"},
    {"nonideal law", "nonideal hold: force on P = {}*N.x\n"},
    {"friction", "nonideal hold: friction on P along T.y = abs({})\n"},
    {"actuator", "actuator F: force on P along (2 + {})*N.y\nservo s: dot(pos(P), N.y) = 0.3 by F\n"},
    {"partial in an output", "output y = partial({}, w)\n"},
    {"partial in a claim", "claim \"c\": partial({}, w) = 0\n"},
    {"speed", "speed third = a' + 0*({})\n"},
};

std::string with(const char* statement, const std::string& scalar) {
    std::string out = statement;
    out.replace(out.find("{}"), 2, scalar);
    return k_model + out + "run for 1 s\n";
}

TEST(BodilessFrames, MaterialPointsAreRefusedInEveryContext) {
    for (const char* function :
         {"dot(vel(T at P), N.y)", "dot(vel(P, T), N.y)", "dot(vel(O, T), T.y)", "mag(vel(T at O) + vel(P))"})
        for (const Context& context : k_contexts) {
            const Derivation d = derive_text(with(context.statement, function));
            EXPECT_TRUE(d.diagnostics.has(Code::E0604)) << function << " in " << context.name << '\n'
                                                        << render(d.diagnostics, d.sources);
            EXPECT_FALSE(d.ok()) << function << " in " << context.name;
        }
    // and where no expression names them
    for (const char* statement :
         {"constraint c: rolling(T, N, P)\n", "condition c: rolling(N, T, P)\nimply hold => c\n", "force on T at P = N.x\n",
          "nonideal hold: force on T at P = N.x\n", "nonideal hold: friction on T at P along T.y = 1\n",
          "nonideal hold: friction on P from T along T.y = 1\n", "actuator F: force on T at P along N.y\nservo s: x = 1 by F\n",
          "output y = dot(force(hold, T at P), N.x)\n", "claim \"c\": ideal(hold, T at P) = 0\n",
          "claim \"c\": nonideal(hold, T at P) = 0\n", "let unused = vel(T at P)\n"}) {
        const Derivation d = derive_text(k_model + std::string(statement) + "run for 1 s\n");
        EXPECT_TRUE(d.diagnostics.has(Code::E0604)) << statement << render(d.diagnostics, d.sources);
    }
}

TEST(BodilessFrames, MaterialPointsOfBodiesAreNot) {
    for (const Context& context : k_contexts) {
        std::string model = with(context.statement, "dot(vel(T at P), N.y)");
        model += "body T frame T mass 1 center O inertia (1, 1, 1)\n";
        EXPECT_FALSE(derive_text(model).diagnostics.has(Code::E0604)) << context.name;
    }
}

struct Meaning {
    const char* written;
    const char* scalar;  // the same without the frame
};
constexpr Meaning k_rates[] = {
    {"dot(omega(T), N.z)", "a'"},
    {"dot(omega(T, N), T.z)", "a'"},
    {"dot(omega(N, T), N.z)", "-a'"},
    {"dot(dt(T.x, N), T.y)", "a'"},
    {"dot(dt(N.x, T), N.y)", "-a'"},
    {"dot(T.x, N.y)", "sin(a)"},
    {"dot(cross(omega(T), P - O), T.y)", "x*a'"},
};
constexpr Meaning k_accelerations[] = {
    {"dot(alpha(T), N.z)", "a''"},
    {"dot(dt(omega(T), N), T.z)", "a''"},
    {"dot(dt(dt(T.x, N), N), T.x)", "-a'^2"},
};

// claims, outputs and plots against the same in coordinates
TEST(BodilessFrames, RatesMeanTheSameInClaimsAndOutputs) {
    std::vector<Meaning> all(std::begin(k_rates), std::end(k_rates));
    all.insert(all.end(), std::begin(k_accelerations), std::end(k_accelerations));
    std::string model = k_model;
    std::size_t i = 0;
    for (const Meaning& m : all)
        model += fmt::format("claim \"true {0}\": {1} = {2}\nmisprint \"false {0}\": {1} = 2 + {2}\noutput y{0} = {1} - ({2})\n",
                             i++, m.written, m.scalar);
    Derivation d = derive_text(model + "force on P = 3*N.y\nrun for 1 s\n");
    const auto checked = check(d, 20);
    ASSERT_TRUE(checked) << render(d.diagnostics, d.sources);
    for (const ClaimResult& claim : checked->claims.claims) EXPECT_EQ(claim.holds, !claim.misprint) << claim.label;
    const auto result = run(d, {});
    ASSERT_TRUE(result);
    const TextRun r{std::move(d), std::move(*result)};
    for (std::size_t k = 0; k < all.size(); ++k)
        for (std::size_t row = 0; row < r.run.rows(); row += 50)
            EXPECT_NEAR(r.at(row, fmt::format("y{}", k)), 0, 1e-12) << all[k].written;
}

// contexts that make a motion: the same motion by either way of writing
TEST(BodilessFrames, RatesMeanTheSameWhereTheyMakeTheMotion) {
    for (const Meaning& m : k_rates)
        for (const char* statement : {"force on P = 0.3*{}*N.x\n", "torque on T = 0.3*{}*N.z\n", "load on w = -0.2*{}\n",
                                      "damper P W coefficient 0.1 + ({})^2\n", "event e: {} - 0.9 => set w = 1\n",
                                      "event e: t - 0.5 => set w = 1 + 0.1*{}\n", "nonideal hold: force on P = 0.2*{}*N.y\n"}) {
            const std::string tail = "point W at O + 3*N.x + N.y\nrun for 1 s\n";
            const TextRun by_frame = run_text(with(statement, m.written) + tail.substr(0, tail.find("run")));
            const TextRun by_rate = run_text(with(statement, fmt::format("({})", m.scalar)) + tail.substr(0, tail.find("run")));
            ASSERT_EQ(by_frame.run.rows(), by_rate.run.rows());
            for (const char* column : {"a", "w"})
                EXPECT_NEAR(by_frame.at(by_frame.run.rows() - 1, column), by_rate.at(by_rate.run.rows() - 1, column), 1e-7)
                    << m.written << statement;
        }
}

}  // namespace
}  // namespace appell
