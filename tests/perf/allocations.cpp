// Allocations are counted, not timed: evaluating a program, taking steps, projecting and writing rows must not touch the heap.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "expr/dependence.hpp"
#include "expr/evaluate.hpp"
#include "expr/substitute.hpp"
#include "sim/simulate.hpp"
#include "support/hand_motion.hpp"
#include "tape/workspace.hpp"

namespace {

std::atomic<std::size_t> allocation_count{0}, allocated_bytes{0};

void* counted(std::size_t size) {
    ++allocation_count;
    allocated_bytes += size;
    if (void* p = std::malloc(size == 0 ? 1 : size)) return p;
    throw std::bad_alloc();
}

}  // namespace

void* operator new(std::size_t size) { return counted(size); }
void* operator new[](std::size_t size) { return counted(size); }
void operator delete(void* p) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t) noexcept { std::free(p); }

namespace appell {
namespace {

using test::build_motion;
using test::HandModel;

// what the step loop allocates between the first call of progress and the last; rows and projections are part of it
std::size_t allocations_in_loop(const Motion& motion, const std::vector<double>& x0, double t1,
                                IntegratorKind integrator = IntegratorKind::dopri5) {
    SimulateOptions options;
    options.t1 = t1;
    options.every = 0.01;
    options.integrator = integrator;
    options.step = 0.007;
    std::size_t first = 0, last = 0, calls = 0;
    const SimulateSummary s = simulate(
        motion, x0, options, [](double, std::span<const double>) {},
        [&](double) {
            if (calls++ == 0) first = allocation_count;
            last = allocation_count;
            return true;
        });
    EXPECT_EQ(s.reason, EndReason::finished);
    EXPECT_GT(calls, 10u);
    return last - first;
}

// what is asked about a small expression costs what the expression costs, however large the graph around it
TEST(Allocations, SmallExpressionsOfALargeGraph) {
    Graph g;
    const SymbolId x = g.add_symbol("x", SymbolKind::coordinate), y = g.add_symbol("y", SymbolKind::parameter);
    const NodeId small = g.add(g.make(Op::Sin, g.symbol_node(x)), g.symbol_node(y));
    const std::vector<SymbolId> formals{g.add_symbol("a", SymbolKind::argument)};
    const FunctionId f = g.add_given_function("f", formals, g.make(Op::Cos, g.symbol_node(formals[0])));
    NodeId large = small;
    for (int i = 0; i < 200'000; ++i) large = g.make(Op::Sin, g.add(large, g.symbol_node(x)));
    SymbolId late;
    for (int i = 0; i < 100'000; ++i) late = g.add_symbol("p", SymbolKind::parameter);
    const std::vector<double> values(g.symbol_count(), 0.5);
    Substitution other;
    other.set(late, small);
    const auto bytes = [&](const auto& work) {
        const std::size_t before = allocated_bytes;
        work();
        return allocated_bytes - before;
    };
    EXPECT_LT(bytes([&] { EXPECT_EQ(symbols_in(g, std::span(&small, 1)).size(), 2u); }), 4096u);
    EXPECT_LT(bytes([&] { EXPECT_TRUE(depends_on(g, small, x)); }), 4096u);
    EXPECT_LT(bytes([&] { EXPECT_EQ(substitute(g, small, other), small); }), 4096u);
    EXPECT_LT(bytes([&] { EXPECT_EQ(evaluate<double>(g, std::span(&small, 1), values).size(), 1u); }), 4096u);
    EXPECT_LT(bytes([&] { EXPECT_TRUE(g.call(f, std::vector<NodeId>{small}).valid()); }), 4096u);
    // a large one may take a table over the graph, once
    EXPECT_LT(bytes([&] { EXPECT_EQ(symbols_in(g, std::span(&large, 1)).size(), 2u); }), 100 * g.size());
}

TEST(Allocations, TheCounterCounts) {
    const std::size_t before = allocation_count;
    const std::vector<double> v(10);
    EXPECT_EQ(allocation_count - before, 1u) << v.size();
}

TEST(Allocations, NoneInTheStepLoop) {
    HandModel m = test::pendulum(9.81);
    EXPECT_EQ(allocations_in_loop(build_motion(m), {1, 0, 0, 0}, 5), 0u);
}

TEST(Allocations, NoneWithAReducedState) {
    HandModel m = test::pendulum(9.81);
    EXPECT_EQ(allocations_in_loop(test::build_reduced_motion(m, {1}, {1}), {0.6, -0.8, 0, 0}, 5), 0u);
}

TEST(Allocations, NoneWithRedundantRows) {
    HandModel m = test::pendulum(9.81);
    m.position.push_back((2.0 * (m.Q(0) * m.Q(0) + m.Q(1) * m.Q(1) - 1.0)).id);
    EXPECT_EQ(allocations_in_loop(build_motion(m), {1, 0, 0, 0}, 5), 0u);
}

TEST(Allocations, NoneWithASingularMassMatrix) {
    HandModel m(3);
    m.masses[2] = 0;
    m.forces[0] = (-m.Q(0)).id;
    m.velocity.push_back((m.U(2) - m.U(0)).id);
    EXPECT_EQ(allocations_in_loop(build_motion(m), {1, 0, 0, 0, 1, 0}, 20), 0u);
}

template <class T>
std::size_t allocations_of_evaluation() {
    HandModel m = test::pendulum(9.81);
    const Motion motion = build_motion(m);
    Workspace<T> workspace(motion.observe);
    const double x0[] = {0, 1, 0, 0, 1};
    for (std::size_t i = 0; i < 5; ++i) workspace.inputs()[i] = T(x0[i]);
    const std::size_t before = allocation_count;
    EXPECT_EQ(workspace.run().status, EvalStatus::ok);
    return allocation_count - before;
}

TEST(Allocations, NoneInAnEvaluation) {
    EXPECT_EQ(allocations_of_evaluation<double>(), 0u);
    EXPECT_EQ(allocations_of_evaluation<std::complex<double>>(), 0u);
    EXPECT_EQ(allocations_of_evaluation<Digits50>(), 0u);
}

TEST(StepWork, SixEvaluationsAStepAndNoProjectionWithoutRows) {
    // counts of one oscillator: six evaluations a step, and no projection where there are no rows
    HandModel m(1);
    m.forces[0] = (-m.Q(0)).id;
    const Motion motion = build_motion(m);
    EXPECT_EQ(motion.rate.instructions.size(), 1u);
    SimulateOptions options;
    options.t1 = 10;
    const SimulateSummary s = simulate(motion, std::vector<double>{1, 0}, options, {});
    EXPECT_EQ(s.projections, 0u);
    EXPECT_EQ(s.evaluations, 6 * (s.steps + s.rejected) + 2);
}

}  // namespace
}  // namespace appell
