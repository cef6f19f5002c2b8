// u' by articulated inertias against M and f, which are formed another way: random trees with all kinds of joints, speeds and
// loads.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <random>

#include <fmt/format.h>

#include "expr/evaluate.hpp"
#include "pipeline/lower_motion.hpp"
#include "sim/motion_rate.hpp"
#include "support/gallery_run.hpp"

namespace appell {
namespace {

// rates q'; these and components of velocities by name; each second one with a part of the one before; sums, as absolute rates
// are
enum class Speeds { rates, named, paired, summed };

// bodies and particles on joints that turn and slide, on the ground or on each other
class RandomTree {
public:
    RandomTree(unsigned seed, bool planar, Speeds speeds) : random_(seed), planar_(planar), speeds_(speeds) {
        text_ = "system tree\nparam g = 9.81, k = 3, c = 0.4, w = 0.7\npoint C0 at O\n";
        if (!planar) add_free_body();
        for (int i = planar ? 1 : 2; i <= k_bodies; ++i) add_body(i);
        define_speeds();
        text_ += "gravity -g*N.z\nspring C2 C5 stiffness k length 0.3\nspring C1 C7 stiffness k\ndamper C3 C8 coefficient c\n";
        text_ += fmt::format("torque on {0} from {1} = c*sin(t)*{1}.y\nforce on {0} at C4 = k*{1}.x - c*N.z\n", bodies_.back(),
                             bodies_.front());
    }
    [[nodiscard]] std::string text() const { return text_ + "run for 1 s\n"; }
    // with rows of every kind: a loop, a distance, a skate, one that is nonlinear in the speeds, one in bare rates, one on
    // accelerations
    [[nodiscard]] std::string constrained() const {
        return text_ + fmt::format(
                           "constraint distance: dot(pos(C18) - pos(C9), pos(C18) - pos(C9)) = 1.7\nconstraint height: "
                           "dot(pos(C17), N.z) "
                           "= -1\nconstraint skate: dot(vel(C14), {0}.x) = 0\nconstraint steady: dot(vel(C12), vel(C12)) = 1.3\n"
                           "constraint gear: {1} = 2*{2}\nconstraint held: dot(acc(C6), N.z) = 0.1\nrun for 1 s\n",
                           bodies_.back(), rates_.front(), rates_.back());
    }

private:
    static constexpr int k_bodies = 18;

    int pick(int count) { return std::uniform_int_distribution<int>(0, count - 1)(random_); }
    double number(double from, double to) {
        return std::round(1000 * std::uniform_real_distribution<double>(from, to)(random_)) / 1000;
    }

    std::string coordinate(const std::string& name) {
        text_ += fmt::format("coord {} = {}\n", name, number(-1, 1));
        rates_.push_back(name + "'");
        return name;
    }

    // its speeds are components of its velocities along its own axes
    void add_free_body() {
        text_ +=
            "coord x = 0.1, y = -0.2, z = 0.3, a1 = 0.8, b1 = 0.6, c1 = 0, d1 = 0\nparam m1 = 1.5\n"
            "frame B1 from N quaternion (a1, b1, c1, d1)\npoint C1 at O + x*N.x + y*N.y + z*N.z\n"
            "body B1 frame B1 mass m1 center C1 inertia (0.3, 0.4, 0.5)\n";
        bodies_.push_back("B1");
        for (const char* of : {"omega(B1)", "vel(C1)"})
            for (const char* e : {"x", "y", "z"}) velocities_.push_back(fmt::format("dot({}, B1.{})", of, e));
    }

    void add_body(int i) {
        const int before = i < 4 ? i - 1 : std::max(0, i - 1 - pick(4));
        const std::string parent = before == 0 ? "N" : fmt::format("B{}", before), q = fmt::format("q{}", i);
        const std::string axis = planar_ ? "y" : std::string(1, "xyz"[pick(3)]);
        std::string slide;
        const int kind = pick(planar_ ? 4 : 7);
        if (kind == 0) {
            text_ += fmt::format("frame B{} from {} rotate {} about y\n", i, parent, number(-1, 1));
            slide = fmt::format(" + {}*{}.x", coordinate(q), parent);
        } else if (kind == 1) {
            text_ += fmt::format("frame B{} from N rotate {} about {}\n", i, coordinate(q), axis);
        } else if (kind == 2) {
            text_ += fmt::format("frame B{} from {} rotate {} + w*t about {}\n", i, parent, coordinate(q), axis);
        } else if (kind == 4) {
            const std::string r = coordinate(q + "b");
            text_ += fmt::format("frame B{} from {} rotate {} about z, {} about x\n", i, parent, coordinate(q), r);
        } else if (kind == 5) {
            text_ += fmt::format("coord a{0} = 0.8, b{0} = 0.6, c{0} = 0, d{0} = 0\n", i);
            text_ += fmt::format("frame B{0} from {1} quaternion (a{0}, b{0}, c{0}, d{0})\n", i, parent);
            for (const char* e : {"x", "y", "z"}) velocities_.push_back(fmt::format("dot(omega(B{0}), B{0}.{1})", i, e));
        } else {
            text_ += fmt::format("frame B{} from {} rotate {} about {}\n", i, parent, coordinate(q), axis);
        }
        text_ += fmt::format("param m{0} = {1}\n", i, number(0.5, 2));
        text_ += fmt::format("point J{} at C{} + {}*{}.x - {}*{}.z{}\n", i, before, number(0.1, 0.5), parent, number(0.1, 0.5),
                             parent, slide);
        text_ += fmt::format("point C{0} at J{0} - {1}*B{0}.z + {2}*B{0}.x\n", i, number(0.3, 1), number(0.1, 0.3));
        if (kind == 5 || pick(3) > 0) {
            text_ += fmt::format("body B{0} frame B{0} mass m{0} center C{0} inertia ({1}, {2}, 0.07)\n", i, number(0.05, 0.1),
                                 number(0.05, 0.1));
            bodies_.push_back(fmt::format("B{}", i));
        } else {
            text_ += fmt::format("particle P{0} mass m{0} at C{0}\n", i);
        }
    }

    void define_speeds() {
        if (speeds_ == Speeds::rates) return;
        std::string sum;
        for (std::size_t i = 0; i < rates_.size(); ++i) {
            sum += (i > 0 ? " + " : "") + rates_[i];
            const std::string half = i % 2 == 1 ? fmt::format(" + 0.5*{}", rates_[i - 1]) : "";
            text_ += fmt::format("speed u{} = {}\n", i,
                                 speeds_ == Speeds::summed   ? sum
                                 : speeds_ == Speeds::paired ? rates_[i] + half
                                                             : rates_[i]);
        }
        for (std::size_t i = 0; i < velocities_.size(); ++i) text_ += fmt::format("speed w{} = {}\n", i, velocities_[i]);
    }

    std::mt19937 random_;
    const bool planar_;
    const Speeds speeds_;
    std::string text_;
    std::vector<std::string> rates_, velocities_, bodies_;
};

struct RandomState {
    double t;
    std::vector<double> x, values;  // by entry of the motion; by symbol
};

RandomState random_state(const ConstrainedDynamics& d, const LoweredMotion& lowered, unsigned seed) {
    const Motion& motion = lowered.motion;
    std::mt19937 random(seed);
    RandomState out{0.3, lowered.x0, std::vector<double>(d.graph().symbol_count(), 0.0)};
    for (double& value : out.x) value += std::uniform_real_distribution<double>(-0.3, 0.3)(random);
    out.x.resize(motion.carried());
    std::size_t next = 0;
    out.values[lowered.inputs[next++].index()] = out.t;
    for (std::size_t i = 0; i < motion.states(); ++i) out.values[lowered.inputs[next++].index()] = out.x[i];
    for (const double parameter : motion.parameters) out.values[lowered.inputs[next++].index()] = parameter;
    return out;
}

// |M u' - f| at a random state, relative to what is added up: free of the condition of M
double disagreement(const ConstrainedDynamics& d, const LoweredMotion& lowered, unsigned seed) {
    const Motion& motion = lowered.motion;
    const auto [t, x, values] = random_state(d, lowered, seed);
    std::vector<double> xd(motion.carried());
    MotionRate rate(motion);
    EXPECT_EQ(rate.rate(t, x, xd), RateStatus::ok);
    std::vector<NodeId> nodes = d.f();
    for (const SparseEntry& e : d.M().entries) nodes.push_back(e.value);
    const std::vector<double> found = evaluate<double>(d.graph(), nodes, std::span<const double>(values));
    const auto n = static_cast<Eigen::Index>(motion.speeds);
    Eigen::MatrixXd M = Eigen::MatrixXd::Zero(n, n);
    std::size_t next = motion.speeds;
    for (const SparseEntry& e : d.M().entries) M(e.row, e.column) = M(e.column, e.row) = found[next++];
    const Eigen::VectorXd f = Eigen::Map<const Eigen::VectorXd>(found.data(), n);
    const Eigen::VectorXd ud = Eigen::Map<const Eigen::VectorXd>(xd.data() + motion.coordinates, n);
    return (M * ud - f).norm() / (M.norm() * ud.norm() + f.norm());
}

// The rate and the corrections of a system with rows, at a random state, against M, f, A and b: what M u' - f and M du have
// beside A' lambda, and how far A u' and A du are from where they shall be; relative to what is added up.
void expect_rows_kept(const ConstrainedDynamics& d, const LoweredMotion& lowered, unsigned seed) {
    const Motion& motion = lowered.motion;
    const auto [t, x, values] = random_state(d, lowered, seed);
    std::vector<double> xd(motion.carried());
    MotionRate rate(motion);
    ASSERT_EQ(rate.rate(t, x, xd), RateStatus::ok);
    MotionProgram velocity(motion, motion.velocity), position(motion, motion.position), observe(motion, motion.observe);
    ASSERT_EQ(velocity.run(t, x).status, EvalStatus::ok);
    ASSERT_EQ(position.run(t, x).status, EvalStatus::ok);
    ASSERT_EQ(observe.run(t, x).status, EvalStatus::ok);

    const auto numbers = [&, &values = values](const std::vector<NodeId>& nodes) {
        const std::vector<double> found = evaluate<double>(d.graph(), nodes, std::span<const double>(values));
        return Eigen::VectorXd(Eigen::Map<const Eigen::VectorXd>(found.data(), static_cast<Eigen::Index>(found.size())));
    };
    const auto matrix = [&](const SparseMatrix& sparse, bool symmetric) {
        std::vector<NodeId> nodes;
        for (const SparseEntry& e : sparse.entries) nodes.push_back(e.value);
        const Eigen::VectorXd found = numbers(nodes);
        Eigen::MatrixXd out =
            Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(sparse.rows), static_cast<Eigen::Index>(sparse.columns));
        for (std::size_t i = 0; i < sparse.entries.size(); ++i) {
            const SparseEntry& e = sparse.entries[i];
            out(e.row, e.column) = found(static_cast<Eigen::Index>(i));
            if (symmetric) out(e.column, e.row) = found(static_cast<Eigen::Index>(i));
        }
        return out;
    };
    const auto vector = [](std::span<const double> list) {
        return Eigen::VectorXd(Eigen::Map<const Eigen::VectorXd>(list.data(), static_cast<Eigen::Index>(list.size())));
    };
    const Eigen::MatrixXd M = matrix(d.M(), true), A = matrix(d.A, false);
    const Eigen::VectorXd f = numbers(d.f()), b = numbers(d.b);
    const Eigen::VectorXd ud = vector(std::span(xd).subspan(motion.coordinates, motion.speeds));
    const Eigen::VectorXd lambda = vector(observe.output("row").subspan(lowered.layout.multipliers, d.rows.size()));
    const double forces = M.norm() * ud.norm() + f.norm() + A.norm() * lambda.norm();
    EXPECT_LT((M * ud - f - A.transpose() * lambda).norm() / forces, 1e-13);
    EXPECT_LT((A * ud - b).norm() / (A.norm() * ud.norm() + b.norm()), 1e-13);

    const auto expect_correction = [&](const Eigen::VectorXd& move, const MotionProgram& program, Level least) {
        std::vector<Eigen::Index> rows;
        for (std::size_t i = 0; i < d.rows.size(); ++i)
            if (d.rows[i].level != Level::acceleration && (least == Level::velocity || d.rows[i].level == Level::position))
                rows.push_back(static_cast<Eigen::Index>(i));
        const Eigen::VectorXd phi = vector(program.output("residual"));
        const Eigen::MatrixXd B = A(rows, Eigen::all);
        EXPECT_LT((B * move + phi).norm() / (B.norm() * move.norm() + phi.norm()), 1e-13);
        const Eigen::VectorXd force = M * move;
        const Eigen::VectorXd along = B.transpose().colPivHouseholderQr().solve(force);
        EXPECT_LT((force - B.transpose() * along).norm() / (M.norm() * move.norm()), 1e-13);
    };
    expect_correction(vector(velocity.output("du")), velocity, Level::velocity);
    if (motion.coordinates != motion.speeds) return;
    const Eigen::MatrixXd K = matrix(d.kinematics->K(), false);
    expect_correction(K.fullPivLu().solve(vector(position.output("dq"))), position, Level::position);
}

bool by_recursion(const LoweredMotion& lowered) { return lowered.equations.back().kind == SolveKind::linear; }

class Trees : public testing::TestWithParam<Speeds> {};

TEST_P(Trees, MoveAsTheirMassMatrixSays) {
    constexpr int k_trees = 12;
    int taken = 0;
    for (unsigned seed = 1; seed <= k_trees; ++seed) {
        const std::string text = RandomTree(seed, seed % 3 == 0, GetParam()).text();
        const Derivation derived = derive_text(text);
        ASSERT_TRUE(derived.ok()) << render(derived.diagnostics, derived.sources) << text;
        const ConstrainedDynamics& d = *derived.dynamics;
        for (const bool native : {true, false}) {
            LowerMotionOptions options;
            options.for_run = true;
            options.native = native;
            const Result<LoweredMotion> lowered = lower_motion(d, options);
            ASSERT_TRUE(lowered.ok()) << render(lowered.diagnostics, derived.sources);
            if (native && by_recursion(*lowered)) ++taken;
            EXPECT_LT(disagreement(d, *lowered, seed), 1e-14) << text;
        }
    }
    // speeds that bodies on different branches share may tie too many together
    EXPECT_GE(taken, GetParam() == Speeds::rates || GetParam() == Speeds::named ? k_trees : k_trees / 3);
}

TEST_P(Trees, KeepTheirConstraintRows) {
    constexpr int k_trees = 12;
    int taken = 0;
    for (unsigned seed = 1; seed <= k_trees; ++seed) {
        const std::string text = RandomTree(seed, seed % 3 == 0, GetParam()).constrained();
        const Derivation derived = derive_text(text);
        ASSERT_TRUE(derived.ok()) << render(derived.diagnostics, derived.sources) << text;
        for (const bool native : {true, false}) {
            const Result<LoweredMotion> lowered = lower_motion(*derived.dynamics, {.native = native, .for_run = true});
            ASSERT_TRUE(lowered.ok()) << render(lowered.diagnostics, derived.sources);
            if (native && by_recursion(*lowered)) ++taken;
            SCOPED_TRACE(text);
            expect_rows_kept(*derived.dynamics, *lowered, seed);
        }
    }
    EXPECT_GE(taken, GetParam() == Speeds::rates || GetParam() == Speeds::named ? k_trees / 2 : 1);
}

INSTANTIATE_TEST_SUITE_P(Kinds, Trees, testing::Values(Speeds::rates, Speeds::named, Speeds::paired, Speeds::summed));

// A planar chain of 14 links whose end is held: runs by the tree against runs by M in other formulations, projections and watch
// included; its rows written twice change nothing, and a chain pulled straight is told as the loss of rank that it is.
std::string held_chain(const std::string& rows) {
    std::string text = "system held\nparam g = 9.81\npoint J0 at O\nframe B0 from N rotate 0 about y\n";
    for (int i = 1; i <= 14; ++i)
        text += fmt::format(
            "coord q{0} = {1}\nframe B{0} from B{2} rotate q{0} about y\npoint C{0} at J{2} - 0.5*B{0}.z\n"
            "point J{0} at J{2} - B{0}.z\nbody B{0} frame B{0} mass 1 center C{0} inertia (0.09, 0.09, 0.02)\n",
            i, i == 1 ? 0.4 : 0.1, i - 1);
    return text + "gravity -g*N.z\n" + rows + "run for 0.5 s, every 0.1 s, rtol 1e-10, atol 1e-10\n";
}
const char* const k_held = "constraint x: dot(pos(J14), N.x) = -11\nconstraint z: dot(pos(J14), N.z) = -4.5\n";

TEST(Trees, RunWithTheirEndsHeld) {
    const TextRun tree = run_text(held_chain(k_held));
    EXPECT_EQ(tree.run.summary.reason, EndReason::finished);
    EXPECT_LT(tree.run.summary.position_scaled, 1e-13);
    EXPECT_LT(tree.run.energy.relative_error(), 1e-9);
    ASSERT_TRUE(by_recursion(*lower_motion(*tree.derivation.dynamics, {.for_run = true})));
    RunOptions other;
    other.formulation = "udwadia-kalaba";
    const TextRun by_M = run_text(held_chain(k_held), other);
    for (const char* column : {"q1", "q7", "q14", "q3'", "lambda(x)", "lambda(z)"})
        for (std::size_t row = 0; row < tree.run.rows(); ++row)
            EXPECT_NEAR(tree.at(row, column), by_M.at(row, column), 1e-7 * std::max(1.0, std::abs(by_M.at(row, column))))
                << column;

    const TextRun twice = run_text(
        held_chain(k_held + std::string("constraint z2: 2*dot(pos(J14), N.z) = -9\nconstraint x2: dot(pos(J14), N.x) = -11\n")));
    EXPECT_TRUE(twice.run.summary.redundant);
    EXPECT_EQ(twice.run.summary.rank, 2u);
    for (const char* column : {"q1", "q7", "q14", "q3'"}) EXPECT_NEAR(twice.at(5, column), tree.at(5, column), 1e-7) << column;

    RunOptions damped;
    damped.stabilize = "baumgarte";
    const TextRun drift = run_text(held_chain(k_held), damped);
    EXPECT_NEAR(drift.at(5, "q7"), tree.at(5, "q7"), 1e-6);
}

// Rank is that of the rows, though the last solve has none: with a row on accelerations, and with one that follows from the
// others on the constraints only, where it is left out all along the run.
TEST(Trees, KnowTheRankOfTheirRows) {
    const TextRun with_acceleration = run_text(held_chain(k_held + std::string("constraint a: dot(acc(C7), N.z) = 0.1\n")));
    EXPECT_EQ(with_acceleration.run.summary.rank, 3u);
    EXPECT_FALSE(with_acceleration.run.summary.redundant);
    // x and z say where the end is; so does its distance from the origin, there alone
    const std::string three = held_chain(k_held + std::string("constraint r: dot(pos(J14), pos(J14)) = 141.25\n"));
    RunOptions other;
    other.formulation = "udwadia-kalaba";
    const TextRun tree = run_text(three), by_M = run_text(three, other);
    EXPECT_EQ(tree.run.summary.rank, 2u);
    EXPECT_TRUE(tree.run.summary.redundant);
    EXPECT_EQ(tree.run.summary.reason, EndReason::finished);
    for (const char* column : {"q1", "q7", "q14", "q3'"})
        for (std::size_t row = 0; row < tree.run.rows(); ++row)
            EXPECT_NEAR(tree.at(row, column), by_M.at(row, column), 1e-7) << column;
}

// a light cable with a load: the passes lose digits, as the elimination of M would, and dependent rows must still be told
TEST(Trees, OfLightLinksTellDependentRows) {
    for (const char* mass : {"1e-4", "1e-6"}) {
        std::string text = held_chain(
            "constraint x: dot(pos(J14), N.x) = -11\nconstraint z: dot(pos(J14), N.z) = -4.5\n"
            "constraint both: dot(pos(J14), N.x) + dot(pos(J14), N.z) = -15.5\nparticle L mass 1 at J14 + 0.3*B14.x\n");
        for (std::size_t at = 0; (at = text.find("mass 1 center", at)) != std::string::npos; ++at)
            text.replace(at, 6, fmt::format("mass {}", mass));
        for (std::size_t at = 0; (at = text.find("(0.09, 0.09, 0.02)", at)) != std::string::npos; ++at)
            text.replace(at, 18, fmt::format("({0}, {0}, {0})", mass));
        const Derivation derived = derive_text(text);
        ASSERT_TRUE(derived.ok()) << render(derived.diagnostics, derived.sources);
        const Result<LoweredMotion> lowered = lower_motion(*derived.dynamics, {.for_run = true});
        ASSERT_TRUE(lowered.ok());
        ASSERT_TRUE(by_recursion(*lowered));
        std::vector<double> x = lowered->x0;
        x.resize(lowered->motion.carried());
        MotionProgram velocity(lowered->motion, lowered->motion.velocity);
        std::mt19937 random(3);
        for (int i = 0; i < 50; ++i) {
            for (std::size_t k = 0; k < lowered->motion.coordinates; ++k)
                x[k] = lowered->x0[k] + std::uniform_real_distribution<double>(-0.3, 0.3)(random);
            const EvalReport report = velocity.run(0, x);
            EXPECT_EQ(report.rank, 2u) << mass;
            EXPECT_TRUE(report.redundant) << mass;
        }
    }
}

TEST(Trees, PulledStraightLoseRank) {
    std::string straight = held_chain("constraint x: dot(pos(J14), N.x) = 0\nconstraint z: dot(pos(J14), N.z) = -14\n");
    for (std::size_t at = 0; (at = straight.find("= 0.1\n", at)) != std::string::npos;) straight.replace(at, 5, "= 0");
    straight.replace(straight.find("= 0.4\n"), 5, "= 0");
    Derivation derived = derive_text(straight);
    ASSERT_TRUE(derived.ok()) << render(derived.diagnostics, derived.sources);
    (void)run(derived, {});
    EXPECT_TRUE(derived.diagnostics.has_errors());
    const std::string told = render(derived.diagnostics, derived.sources);
    EXPECT_NE(told.find("E0808"), std::string::npos) << told;
    EXPECT_NE(told.find("constraint z"), std::string::npos) << told;  // along which it can not move
}

// Spherical pendulums hang straight down: the first of their angles moves nothing, and M is asked which.
TEST(Trees, LeaveSingularStatesToTheMassMatrix) {
    for (const char* second : {"0", "0.1"}) {
        std::string text = "system pole\npoint P0 at O\n";
        for (int i = 1; i <= 9; ++i)
            text += fmt::format(
                "coord a{0} = 0.2, b{0} = {1}\nframe B{0} from N rotate a{0} about z, b{0} about x\n"
                "particle P{0} mass 1 at P{2} - B{0}.z\n",
                i, second, i - 1);
        Derivation derived = derive_text(text + "gravity -9.81*N.z\nrun for 0.1 s\n");
        ASSERT_TRUE(derived.ok()) << render(derived.diagnostics, derived.sources);
        const bool pole = second == std::string("0");
        const Result<LoweredMotion> lowered = lower_motion(*derived.dynamics, {.for_run = true});
        ASSERT_TRUE(lowered.ok());
        EXPECT_EQ(by_recursion(*lowered), !pole);
        (void)run(derived, {});
        EXPECT_EQ(derived.diagnostics.has_errors(), pole);
        EXPECT_EQ(render(derived.diagnostics, derived.sources).find("E0709") != std::string::npos, pole);
    }
}

}  // namespace
}  // namespace appell
