// What is no number stays none: min, max, sign and abs of it, in everything that evaluates expressions. (Exported code:
// tests/cross/exported_random_test.cpp.)
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>

#include "expr/conditions.hpp"
#include "expr/evaluate.hpp"
#include "jit/native_code.hpp"
#include "lanes/lane_workspace.hpp"
#include "tape/enclosure.hpp"
#include "tape/evaluate_wide.hpp"
#include "tape/workspace.hpp"

namespace appell {
namespace {

constexpr double k_inf = std::numeric_limits<double>::infinity(), k_nan = std::numeric_limits<double>::quiet_NaN();
constexpr double k_numbers[] = {k_nan, 0.0, -0.0, 1.5, -2.5, 5e-324, k_inf, -k_inf};

struct Piecewise {
    Graph g;
    std::vector<SymbolId> inputs{g.add_symbol("x", SymbolKind::coordinate), g.add_symbol("y", SymbolKind::coordinate)};
    NodeId x = g.symbol_node(inputs[0]), y = g.symbol_node(inputs[1]);
    // one by one, and inside others
    std::vector<NodeId> roots{g.make(Op::Min, x, y),
                              g.make(Op::Max, x, y),
                              g.make(Op::Sign, x),
                              g.make(Op::Abs, x),
                              g.make(Op::Min, g.make(Op::Sign, x), y),
                              g.make(Op::Max, g.constant(3), g.make(Op::Abs, x)),
                              g.make(Op::Sign, g.make(Op::Min, g.make(Op::Sqrt, x), y)),
                              g.make(Op::Max, g.make(Op::Log, x), g.make(Op::Min, y, g.constant(-1)))};

    [[nodiscard]] Program program() { return lower_program(g, {inputs, {}, {{"values", roots}}}); }
};

// by the definition of each
std::vector<double> expected(double x, double y) {
    const auto least = [](double a, double b) { return std::isnan(a) || std::isnan(b) ? k_nan : b < a ? b : a; };
    const auto most = [](double a, double b) { return std::isnan(a) || std::isnan(b) ? k_nan : a < b ? b : a; };
    const auto sign = [](double a) { return std::isnan(a) ? k_nan : a > 0 ? 1.0 : a < 0 ? -1.0 : 0.0; };
    return {least(x, y),
            most(x, y),
            sign(x),
            std::abs(x),
            least(sign(x), y),
            most(3, std::abs(x)),
            sign(least(std::sqrt(x), y)),
            most(std::log(x), least(y, -1))};
}

template <class T>
void expect_same(std::span<const T> found, double x, double y, const char* where) {
    const std::vector<double> wanted = expected(x, y);
    ASSERT_EQ(found.size(), wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        const auto value = static_cast<double>(real_part(found[i]));
        EXPECT_TRUE(std::isnan(wanted[i]) ? std::isnan(value) : std::abs(value - wanted[i]) < 1e-15 || value == wanted[i])
            << where << ", x = " << x << ", y = " << y << ", expression " << i << ": " << value << " and " << wanted[i];
    }
}

template <class Check>
void for_all_numbers(const Check& check) {
    for (const double x : k_numbers)
        for (const double y : k_numbers) check(x, y);
}

TEST(NotANumber, StaysNoneInTheGraphAndOnTapes) {
    Piecewise p;
    const Program program = p.program();
    for_all_numbers([&](double x, double y) {
        expect_same<double>(evaluate<double>(p.g, p.roots, std::vector<double>{x, y}), x, y, "directly");
        Workspace<double> tape(program);
        tape.inputs()[0] = x;
        tape.inputs()[1] = y;
        (void)tape.run();
        expect_same<double>(tape.outputs(), x, y, "on a tape");
        Workspace<Digits50> wide(program);
        wide.inputs()[0] = x;
        wide.inputs()[1] = y;
        (void)wide.run();
        expect_same<Digits50>(wide.outputs(), x, y, "with fifty digits");
    });
}

// the real part decides; log and sqrt of negative numbers have values there
TEST(NotANumber, StaysNoneInComplexNumbers) {
    Piecewise p;
    p.roots.resize(6);
    const Program program = p.program();
    for_all_numbers([&](double x, double y) {
        Workspace<std::complex<double>> tape(program);
        tape.inputs()[0] = x;
        tape.inputs()[1] = y;
        (void)tape.run();
        const std::vector<double> wanted = expected(x, y);
        for (std::size_t i = 0; i < p.roots.size(); ++i)
            EXPECT_EQ(std::isnan(tape.outputs()[i].real()), std::isnan(wanted[i])) << x << ", " << y << ", expression " << i;
    });
}

TEST(NotANumber, StaysNoneInNativeCode) {
    Piecewise p;
    Program program = p.program();
    add_native_code(program);
    for_all_numbers([&](double x, double y) {
        Workspace<double> tape(program);
        tape.inputs()[0] = x;
        tape.inputs()[1] = y;
        (void)tape.run();
        expect_same<double>(tape.outputs(), x, y, "in native code");
    });
}

// the kernels of all widths, and native code for lanes
TEST(NotANumber, StaysNoneInLanes) {
    Piecewise p;
    const Program program = p.program();
    std::vector<std::pair<double, double>> numbers;
    for_all_numbers([&](double x, double y) { numbers.emplace_back(x, y); });
    ASSERT_EQ(numbers.size() % k_lanes, 0u);
    const auto compare = [&](const auto& run, const char* where) {
        for (std::size_t first = 0; first < numbers.size(); first += k_lanes) {
            LaneNumbers slots(program.slots), outputs(program.output_slots.size());
            for (const auto& [slot, value] : program.constants)
                for (std::size_t k = 0; k < k_lanes; ++k) slots.data()[k_lanes * slot + k] = value;
            for (std::size_t k = 0; k < k_lanes; ++k) {
                slots.data()[k] = numbers[first + k].first;
                slots.data()[k_lanes + k] = numbers[first + k].second;
            }
            run(slots);
            for (std::size_t k = 0; k < k_lanes; ++k) {
                std::vector<double> found;
                for (const Slot slot : program.output_slots) found.push_back(slots.data()[k_lanes * slot + k]);
                expect_same<double>(found, numbers[first + k].first, numbers[first + k].second, where);
            }
        }
    };
    for (const LaneKernels* const kernels : all_lane_kernels())
        compare(
            [&](LaneNumbers& slots) {
                for (const Segment& segment : program.segments)
                    for (const InstructionRun& run : segment.runs)
                        kernels->execute(run, program.instructions.data(), slots.data());
            },
            kernels->in_register == 8 ? "in lanes, eight in a register" : "in lanes, fewer in a register");
}

TEST(NotANumber, StaysNoneInIntervals) {
    Piecewise p;
    const Program program = p.program();
    Enclosure enclosure(program);
    for (const double x : {k_nan, 0.0, 1.5, -2.5})
        for (const double y : {k_nan, 0.0, 1.5, -2.5}) {
            enclosure.set(0, {Interval(x), Interval(0)});
            enclosure.set(1, {Interval(y), Interval(0)});
            enclosure.run();
            const std::vector<double> wanted = expected(x, y);
            for (std::size_t i = 0; i < wanted.size(); ++i) {
                const Interval found = enclosure.outputs()[i].value;
                EXPECT_EQ(found.empty(), std::isnan(wanted[i])) << x << ", " << y << ", expression " << i;
                if (!std::isnan(wanted[i])) {
                    EXPECT_TRUE(found.contains(wanted[i])) << x << ", " << y << ", expression " << i;
                }
            }
        }
}

// intervals of min and max contain all that points inside give
TEST(NotANumber, IntervalsOfTheLeastAndTheLargestAreTight) {
    const Interval a(-1, 2), b(0, 5);
    EXPECT_EQ(min_value(a, b).lo, -1);
    EXPECT_EQ(min_value(a, b).hi, 2);
    EXPECT_EQ(max_value(a, b).lo, 0);
    EXPECT_EQ(max_value(a, b).hi, 5);
}

// A constant of the graph is always a number: what has none is not folded, and no rule makes a number of it.
TEST(NotANumber, IsNotFoldedAway) {
    Graph g;
    const NodeId none = g.make(Op::Sqrt, g.constant(-1)), also = g.make(Op::Log, g.constant(-2));
    const std::vector<NodeId> roots{g.make(Op::Min, none, g.constant(3)),
                                    g.make(Op::Max, g.constant(3), none),
                                    g.make(Op::Sign, none),
                                    g.make(Op::Abs, none),
                                    g.make(Op::Min, none, none),
                                    g.make(Op::Max, also, none),
                                    g.make(Op::Sign, g.neg(also))};
    for (const double value : evaluate<double>(g, roots, std::vector<double>{})) EXPECT_TRUE(std::isnan(value));
}

// conditions in laws that are not frozen mean what is written
TEST(NotANumber, StaysNoneInConditionsWithoutASide) {
    Piecewise p;
    FrozenConditions conditions(p.g);
    conditions.find(p.roots);
    ASSERT_FALSE(conditions.empty());
    std::vector<NodeId> frozen;
    for (const NodeId root : p.roots) frozen.push_back(conditions(root));
    for_all_numbers([&](double x, double y) {
        if (std::isinf(x) || std::isinf(y)) return;  // their difference is none
        std::vector<double> values(p.g.symbol_count(), 0.0);
        values[0] = x;
        values[1] = y;
        expect_same<double>(evaluate<double>(p.g, frozen, values), x, y, "with conditions of no side");
    });
}

}  // namespace
}  // namespace appell
