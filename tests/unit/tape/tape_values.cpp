// Tapes against direct evaluation, derivatives and many digits; slot sharing; what lowering refuses.
#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <limits>
#include <set>

#include "expr/differentiate.hpp"
#include "jit/native_code.hpp"
#include "support/random_expr.hpp"
#include "tape/evaluate_wide.hpp"
#include "tape/workspace.hpp"

namespace appell {
namespace {

using test::RandomExpr;
using test::RandomExprOptions;

template <class T>
std::vector<T> run_tape(const Program& program, const std::vector<SymbolId>& inputs, const std::vector<T>& values,
                        bool poison = false) {
    Workspace<T> workspace(program);
    for (std::size_t i = 0; i < inputs.size(); ++i) workspace.inputs()[i] = values[inputs[i].index()];
    const EvalReport report = poison ? workspace.run_poisoned() : workspace.run();
    EXPECT_EQ(report.status, EvalStatus::ok);
    return {workspace.outputs().begin(), workspace.outputs().end()};
}

template <class T>
std::vector<T> converted(const std::vector<double>& values) {
    return {values.begin(), values.end()};
}

struct Case {
    Graph graph;
    std::vector<SymbolId> inputs;
    std::vector<NodeId> roots;
    std::vector<double> values;
    ProgramSpec spec;
};

Case random_case(std::uint64_t seed, RandomExprOptions options) {
    Case c;
    RandomExpr random(c.graph, seed, options);
    for (int i = 0; i < 6; ++i) c.roots.push_back(random.next(40));
    c.inputs = random.symbols();
    c.values = random.values();
    c.spec.inputs = c.inputs;
    c.spec.outputs = {{"first", {c.roots[0], c.roots[1]}}, {"rest", {c.roots.begin() + 2, c.roots.end()}}};
    return c;
}

TEST(TapeValues, EqualDirectEvaluationBitForBit) {
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        const Case c = random_case(seed, {.symbols = 4, .analytic_only = false, .piecewise = true, .calls = true});
        const std::vector<double> expected = evaluate<double>(c.graph, c.roots, c.values);
        const Program program = lower_program(c.graph, c.spec);
        const std::vector<double> found = run_tape(program, c.inputs, c.values);
        ASSERT_EQ(found.size(), expected.size());
        for (std::size_t i = 0; i < found.size(); ++i)
            EXPECT_EQ(std::bit_cast<std::uint64_t>(found[i]), std::bit_cast<std::uint64_t>(expected[i]))
                << "seed " << seed << " root " << i;
    }
}

TEST(TapeValues, SharedSlotsNeverHoldTwoLiveValues) {
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        const Case c = random_case(
            1000 + seed, {.symbols = 3, .parameters = seed % 3, .analytic_only = false, .piecewise = true, .calls = true});
        const Program shared = lower_program(c.graph, c.spec), apart = lower_program(c.graph, c.spec, {.share_slots = false});
        EXPECT_EQ(apart.first_temporary, apart.slots);
        EXPECT_LT(shared.slots, apart.slots);
        EXPECT_EQ(run_tape(shared, c.inputs, c.values, true), run_tape(apart, c.inputs, c.values)) << "seed " << seed;
    }
}

TEST(TapeValues, InstructionsOfOneRunAreIndependent) {
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
        const Case c = random_case(2000 + seed, {});
        const Program program = lower_program(c.graph, c.spec);
        for (const Segment& segment : program.segments)
            for (const InstructionRun& run : segment.runs) {
                std::set<Slot> written;
                for (std::uint32_t i = run.begin; i < run.end; ++i) {
                    EXPECT_EQ(program.instructions[i].op, run.op);
                    EXPECT_TRUE(written.insert(program.instructions[i].out).second);
                }
                for (std::uint32_t i = run.begin; i < run.end; ++i) {
                    EXPECT_FALSE(written.contains(program.instructions[i].a));
                    if (run.op != Op::PowInt) {
                        EXPECT_FALSE(written.contains(program.instructions[i].b));
                        EXPECT_FALSE(written.contains(program.instructions[i].c));
                    }
                }
            }
    }
}

TEST(TapeValues, ComplexStepIsTheDerivative) {
    // the step is so small that its square vanishes: the imaginary part is the derivative to round-off, which grows along the
    // chain of 40 operations; 1e-11 of the largest value is far above that and far below any wrong derivative
    constexpr double k_step = 1e-30;
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
        Case c = random_case(3000 + seed, {.symbols = 3, .analytic_only = true, .piecewise = false, .calls = true});
        const SymbolId variable = c.inputs[seed % c.inputs.size()];
        const std::vector<NodeId> derivatives = derivative(c.graph, c.roots, variable);
        const std::vector<double> expected = evaluate<double>(c.graph, derivatives, c.values);
        auto values = converted<std::complex<double>>(c.values);
        values[variable.index()] += std::complex<double>(0, k_step);
        const auto found = run_tape(lower_program(c.graph, c.spec), c.inputs, values);
        for (std::size_t i = 0; i < expected.size(); ++i)
            EXPECT_NEAR(found[i].imag() / k_step, expected[i], 1e-11 * (1 + std::abs(expected[i])))
                << "seed " << seed << " root " << i;
    }
}

TEST(TapeValues, FiftyDigitsRoundToDoubles) {
    // forty operations on numbers of size one lose a few digits at most
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        const Case c = random_case(4000 + seed, {.symbols = 3, .analytic_only = true, .piecewise = false});
        const Program program = lower_program(c.graph, c.spec);
        const auto exact = run_tape(program, c.inputs, converted<Digits50>(c.values));
        const auto direct = evaluate<Digits50>(c.graph, c.roots, converted<Digits50>(c.values));
        const auto rounded = run_tape(program, c.inputs, c.values);
        for (std::size_t i = 0; i < exact.size(); ++i) {
            EXPECT_EQ(exact[i], direct[i]);
            EXPECT_NEAR(static_cast<double>(exact[i]), rounded[i], 1e-11 * (1 + std::abs(rounded[i]))) << "seed " << seed;
        }
    }
}

TEST(TapeValues, PiHasAllDigits) {
    Graph g;
    ProgramSpec spec{{}, {}, {{"sine", {g.make(Op::Sin, g.div(g.pi(), g.constant(6)))}}}};
    const Program program = lower_program(g, spec);
    Workspace<Digits50> workspace(program);
    EXPECT_EQ(workspace.run().status, EvalStatus::ok);
    EXPECT_LT(abs(workspace.output("sine")[0] - Digits50(0.5)), Digits50("1e-48"));
}

TEST(TapeValues, NothingUnneededIsComputed) {
    Graph g;
    const SymbolId s = g.add_symbol("s", SymbolKind::other);
    const NodeId needed = g.make(Op::Sin, g.symbol_node(s));
    const NodeId unneeded = g.make(Op::Exp, needed);
    (void)unneeded;
    const Program program = lower_program(g, {{s}, {}, {{"y", {needed, needed}}}});
    EXPECT_EQ(program.instructions.size(), 1u);
    EXPECT_EQ(program.output_slots[0], program.output_slots[1]);
}

// sin(p) and p^2 + 1 are computed when p may have changed, and not while only x moves
TEST(TapeValues, WhatDependsOnParametersAloneIsComputedWhenTheyChange) {
    Graph g;
    const SymbolId x = g.add_symbol("x", SymbolKind::coordinate), p = g.add_symbol("p", SymbolKind::parameter);
    const NodeId of_p = g.make(Op::Sin, g.symbol_node(p)), constant = g.add(g.pow(g.symbol_node(p), 2), g.constant(1));
    Program program = lower_program(g, {{x, p}, {}, {{"y", {g.mul(of_p, g.symbol_node(x)), constant}}}});
    EXPECT_EQ(program.steady_segments, 1u);
    EXPECT_EQ(program.segments.size(), 2u);
    EXPECT_FALSE(program.is_steady(0));
    EXPECT_TRUE(program.is_steady(1));
    EXPECT_FALSE(program.is_steady(program.output_slots[0]));
    EXPECT_TRUE(program.is_steady(program.output_slots[1]));
    for (const bool native : {false, true}) {
        if (native) add_native_code(program);
        Workspace<double> w(program);
        const auto expect = [&](double at_x, double at_p) {
            EXPECT_EQ(w.run().status, EvalStatus::ok);
            EXPECT_EQ(w.outputs()[0], std::sin(at_p) * at_x);
            EXPECT_EQ(w.outputs()[1], at_p * at_p + 1);
        };
        w.inputs()[0] = 2;
        w.inputs()[1] = 0.5;
        expect(2, 0.5);
        w.moving_inputs()[0] = 3;
        expect(3, 0.5);
        w.inputs()[1] = 0.25;
        expect(3, 0.25);
        w.moving_inputs()[1] = 7;  // which nobody is told
        expect(3, 0.25);
        EXPECT_EQ(w.run_interpreted().status, EvalStatus::ok);  // the reference looks at everything
        EXPECT_EQ(w.outputs()[1], 50);
    }
}

TEST(TapeValues, OutputsMayBeInputsAndConstants) {
    Graph g;
    const SymbolId s = g.add_symbol("s", SymbolKind::other), unused = g.add_symbol("unused", SymbolKind::other);
    const Program program = lower_program(g, {{unused, s}, {}, {{"y", {g.symbol_node(s), g.constant(2.5)}}, {"none", {}}}});
    Workspace<double> workspace(program);
    workspace.inputs()[1] = 7;
    EXPECT_EQ(workspace.run().status, EvalStatus::ok);
    EXPECT_EQ(workspace.output("y")[0], 7);
    EXPECT_EQ(workspace.output("y")[1], 2.5);
    EXPECT_TRUE(workspace.output("none").empty());
    EXPECT_THROW((void)workspace.output("z"), Error);
}

TEST(TapeValues, ValuesThatAreNotFiniteAreReported) {
    Graph g;
    const SymbolId s = g.add_symbol("s", SymbolKind::other);
    const Program program = lower_program(g, {{s}, {}, {{"y", {g.make(Op::Log, g.symbol_node(s))}}}});
    Workspace<double> workspace(program);
    workspace.inputs()[0] = -1;
    EXPECT_EQ(workspace.run().status, EvalStatus::not_finite);
    workspace.inputs()[0] = 1;
    EXPECT_EQ(workspace.run().status, EvalStatus::ok);
    EXPECT_EQ(workspace.output("y")[0], 0);
}

TEST(TapeValues, LoweringNamesAMissingSymbol) {
    Graph g;
    const SymbolId s = g.add_symbol("stiffness", SymbolKind::parameter);
    const ProgramSpec spec{{}, {}, {{"y", {g.symbol_node(s)}}}};
    try {
        (void)lower_program(g, spec);
        FAIL() << "no error";
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("stiffness"), std::string::npos);
    }
    EXPECT_THROW((void)lower_program(g, {{s, s}, {}, {}}), Error);
}

TEST(TapeValues, LoweringRefusesVectors) {
    Graph g;
    const VectorSymbolId v = g.add_vector_symbol({"N.x", 0, 0, 0}), w = g.add_vector_symbol({"N.y", 0, 0, 1});
    EXPECT_THROW((void)lower_program(g, {{}, {}, {{"y", {g.dot(g.vector_node(v), g.vector_node(w))}}}}), Error);
}

TEST(TapeValues, LongChainsLowerWithoutDeepStacks) {
    Graph g;
    const SymbolId s = g.add_symbol("s", SymbolKind::other);
    NodeId node = g.symbol_node(s);
    for (int i = 0; i < 300'000; ++i) node = g.make(i % 2 == 0 ? Op::Sin : Op::Cos, node);
    const Program program = lower_program(g, {{s}, {}, {{"y", {node}}}});
    EXPECT_EQ(program.instructions.size(), 300'000u);
    EXPECT_LE(program.slots, 5u);  // a chain needs two temporaries, one input and one output
    Workspace<double> workspace(program);
    workspace.inputs()[0] = 0.3;
    EXPECT_EQ(workspace.run().status, EvalStatus::ok);
    double expected = 0.3;
    for (int i = 0; i < 300'000; ++i) expected = i % 2 == 0 ? std::sin(expected) : std::cos(expected);
    EXPECT_EQ(workspace.output("y")[0], expected);
}

TEST(Lowering, QuotientsByPowersOfTwoAreProductsToTheLastBit) {
    Graph g;
    const SymbolId x = g.add_symbol("x", SymbolKind::other);
    const std::vector<double> divisors{2, -4, 0.125, 0x1p1021, 0x1p1023, 0x1p-1022, 0x1p-1074, 3, 6};
    std::vector<NodeId> quotients;
    for (const double d : divisors) quotients.push_back(g.div(g.symbol_node(x), g.constant(d)));
    const Program program = lower_program(g, {{x}, {}, {{"q", quotients}}});
    std::size_t left = 0;
    for (const Instruction& in : program.instructions) left += in.op == Op::Div ? 1 : 0;
    EXPECT_EQ(left, 4u);  // 3, 6, and what has no normal reciprocal
    Workspace<double> w(program);
    for (const double value : {1.0, -0.3, 1e-310, 5e-324, 1e308, 0.0, -0.0, std::numeric_limits<double>::infinity()}) {
        w.inputs()[0] = value;
        static_cast<void>(w.run());
        for (std::size_t i = 0; i < divisors.size(); ++i) {
            const double expected = value / divisors[i], found = w.outputs()[i];
            EXPECT_EQ(std::memcmp(&expected, &found, sizeof(double)), 0) << value << " / " << divisors[i];
        }
    }
}

}  // namespace
}  // namespace appell
