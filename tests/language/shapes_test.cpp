// How a body is drawn: `shape` changes nothing else, and its sizes are lengths.
#include <gtest/gtest.h>

#include "expr/evaluate.hpp"
#include "language/read.hpp"

namespace {

using namespace appell;
using language_test::read;

std::string body(const std::string& shape) {
    return "system s\nparam r = 0.5 m, m = 2 kg\ncoord q = 0 rad\nframe B from N rotate q about z\n"
           "body D frame B mass m center O inertia (1 kg*m^2, 1 kg*m^2, 1 kg*m^2) " +
           shape + "\n";
}

struct Drawn {
    BodyShape::Kind kind;
    std::array<double, 3> size;
    int axis;
};

std::optional<Drawn> drawn(const std::string& shape) {
    const Result<Model> model = read(body(shape));
    EXPECT_TRUE(model.ok()) << shape;
    if (!model.ok() || !model->bodies.front().shape) return std::nullopt;
    const BodyShape& given = *model->bodies.front().shape;
    std::vector<double> values(model->graph->symbol_count());
    for (const Parameter& p : model->parameters) values[p.symbol.index()] = p.value;
    const std::vector<double> size = evaluate<double>(*model->graph, given.size, values);
    return Drawn{given.kind, {size[0], size[1], size[2]}, given.axis};
}

TEST(Shapes, AreReadWithTheirSizesAndAxes) {
    EXPECT_FALSE(drawn("").has_value());
    const auto expect = [](const std::string& text, BodyShape::Kind kind, std::array<double, 3> size, int axis) {
        const auto found = drawn(text);
        ASSERT_TRUE(found.has_value()) << text;
        EXPECT_EQ(found->kind, kind) << text;
        EXPECT_EQ(found->size, size) << text;
        EXPECT_EQ(found->axis, axis) << text;
    };
    expect("shape sphere r", BodyShape::Kind::ball, {0.5, 0, 0}, 2);
    expect("shape disk 2*r along y", BodyShape::Kind::cylinder, {1, 0, 0}, 1);
    expect("shape cylinder (r, 30 cm) along x", BodyShape::Kind::cylinder, {0.5, 0.3, 0}, 0);
    expect("shape rod 2 m", BodyShape::Kind::cylinder, {0, 2, 0}, 2);
    expect("shape box (1 m, r, 3*r)", BodyShape::Kind::box, {1, 0.5, 1.5}, 2);
}

TEST(Shapes, BadOnesAreToldByName) {
    const auto code = [](const std::string& shape) { return read(body(shape)).diagnostics.all().at(0).code; };
    EXPECT_EQ(code("shape cone r"), Code::E0105);
    EXPECT_EQ(code("shape box (r, r)"), Code::E0105);
    EXPECT_EQ(code("shape disk r along w"), Code::E0105);
    EXPECT_EQ(code("shape sphere m"), Code::E0303);
    EXPECT_EQ(code("shape sphere 0 m"), Code::E0406);
    EXPECT_EQ(code("shape sphere r shape sphere r"), Code::E0110);
}

}  // namespace
