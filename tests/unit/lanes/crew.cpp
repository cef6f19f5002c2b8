// Fibers go on where they were left; a crew evaluates together what its hands ask for, and each gets its own.
#include "lanes/crew.hpp"

#include <gtest/gtest.h>

#include <array>
#include <stdexcept>

#include "jit/native_code.hpp"
#include "tape/workspace.hpp"

namespace appell {
namespace {

TEST(Fiber, GoesOnWhereItPaused) {
    if (!Fiber::available()) GTEST_SKIP() << "no fibers here";
    std::string told;
    Fiber* self = nullptr;
    Fiber fiber([&] {
        const std::string mine = "kept across pauses, and too long for the string itself";
        for (int i = 0; i < 3; ++i) {
            told += std::to_string(i);
            self->pause();
        }
        // exceptions find their way inside a fiber
        try {
            throw std::runtime_error(mine);
        } catch (const std::exception& e) {
            told += e.what();
        }
    });
    self = &fiber;
    for (const char* expected : {"0", "01", "012"}) {
        fiber.resume();
        EXPECT_EQ(told, expected);
        EXPECT_FALSE(fiber.ended());
    }
    fiber.resume();
    EXPECT_TRUE(fiber.ended());
    EXPECT_EQ(told, "012kept across pauses, and too long for the string itself");
}

TEST(Fiber, OneThatNeverBeganCanGo) {
    Fiber fiber([] {});
}

// two long ways from x to a number near one
struct Programs {
    Graph g;
    Program up, down;

    Programs() {
        const SymbolId x = g.add_symbol("x", SymbolKind::other);
        NodeId a = g.symbol_node(x), b = a;
        for (int i = 0; i < 400; ++i) {
            a = g.make(Op::Sqrt, g.add(a, g.constant(0.25 + i)));
            b = g.div(g.constant(1.5), g.add(b, g.constant(0.5 + i)));
        }
        up = lower_program(g, {{x}, {}, {{"y", {a}}}});
        down = lower_program(g, {{x}, {}, {{"y", {b}}}});
        for (Program* p : {&up, &down}) add_native_code(*p);
    }
};

double alone(const Program& program, double x) {
    Workspace<double> own(program);
    own.inputs()[0] = x;
    own.run();
    return own.outputs()[0];
}

TEST(Crew, EachHandGetsItsOwn) {
    Programs p;
    Crew crew({&p.up, &p.down});
    if (!Fiber::available() || !crew.serves(p.up)) GTEST_SKIP() << "no lanes here";
    std::size_t next = 0, together = 0, by_itself = 0;
    std::vector<double> results(500);
    const Program copy = p.up;
    EXPECT_TRUE(crew.serves(copy));
    const auto evaluate = [&](const Program& program, double x) {
        double y = -1;
        Neighbours::Request request{&program, &x, &x, &y};
        crew.evaluate(request);
        ++(request.done ? together : by_itself);
        return request.done ? y : alone(program, x);
    };
    crew.run(1000, [&] {
        for (;;) {
            const std::size_t i = next++;
            if (i >= results.size()) return;
            // ways of different lengths, over both programs
            double x = 1 + static_cast<double>(i);
            for (std::size_t k = 0; k <= i % 7; ++k) x = evaluate(k % 2 == 0 ? copy : p.down, x);
            results[i] = x;
        }
    });
    for (std::size_t i = 0; i < results.size(); ++i) {
        double x = 1 + static_cast<double>(i);
        for (std::size_t k = 0; k <= i % 7; ++k) x = alone(k % 2 == 0 ? p.up : p.down, x);
        EXPECT_EQ(results[i], x) << i;
    }
    EXPECT_GT(together, 5 * by_itself);
    // who is no hand of the crew is not served
    const std::size_t before = together;
    EXPECT_EQ(evaluate(p.up, 4), alone(p.up, 4));
    EXPECT_EQ(together, before);
}

TEST(Crew, StagesAreServedWhereSingleEvaluationsAreNotWorthIt) {
    // x' = c - t (a long way from x): steps of Euler's method, whose last rate is the next one's first
    Graph g;
    std::vector<SymbolId> inputs;
    for (const char* name : {"t", "x", "c"}) inputs.push_back(g.add_symbol(name, SymbolKind::other));
    const auto node = [&](std::size_t i) { return g.symbol_node(inputs[i]); };
    NodeId far = g.mul(node(1), node(1));
    for (int i = 0; i < 100; ++i) far = g.make(Op::Sqrt, g.add(far, g.constant(0.25 + i)));
    Program program = lower_program(g, {inputs, {}, {{"rate", {g.sub(node(2), g.mul(node(0), far))}}}});
    program.stream_begin = 1;
    program.stream_end = 2;
    add_native_code(program);
    Crew crew({&program});
    if (!Fiber::available() || !crew.serves_stages(program)) GTEST_SKIP() << "no lanes here";
    EXPECT_FALSE(crew.serves(program));
    constexpr double h = 0.125, one = 1;
    const auto rate_alone = [&](double t, double x, double c) {
        Workspace<double> own(program);
        own.inputs()[0] = t;
        own.inputs()[1] = x;
        own.inputs()[2] = c;
        own.run();
        return own.outputs()[0];
    };
    std::size_t next = 0, together = 0;
    std::vector<double> results(100);
    crew.run(1000, [&] {
        for (std::size_t i = next++; i < results.size(); i = next++) {
            const double c = static_cast<double>(i);
            double x = 1, rate = c, last = 0, end = 0, end_rate = 0;
            double* const rates = &rate;
            for (int k = 0; k < 8; ++k) {
                const std::array<double, 3> own{0, x, c};
                const double t = h * k;
                Neighbours::StageRequest request{
                    &program, own.data(), {1, nullptr, &one, t, h, t + h, &x, &rates, &last, &end}, &end_rate};
                crew.evaluate(request);
                if (!request.done) {
                    end = x + h * rate;
                    end_rate = rate_alone(t + h, end, c);
                }
                together += request.done ? 1 : 0;
                x = end;
                rate = end_rate;
            }
            results[i] = x;
        }
    });
    for (std::size_t i = 0; i < results.size(); ++i) {
        const double c = static_cast<double>(i);
        double x = 1, rate = c;
        for (int k = 0; k < 8; ++k) {
            x = x + h * rate;
            rate = rate_alone(h * k + h, x, c);
        }
        EXPECT_EQ(results[i], x) << i;
    }
    EXPECT_GT(together, 700u);
}

TEST(Crew, WithoutProgramsTheWorkIsDoneOnce) {
    Crew crew(std::vector<const Program*>{});
    int calls = 0;
    crew.run(1000, [&] { ++calls; });
    EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace appell
