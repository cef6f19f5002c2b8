// The scene of a run: solids from inertia, where things are, what acts on them, and how many frames are kept.
#include "report/scene.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "report/report_rows.hpp"
#include "support/gallery_run.hpp"

namespace appell {
namespace {

std::array<double, 9> diagonal(double a, double b, double c) { return {a, 0, 0, 0, b, 0, 0, 0, c}; }

TEST(SolidShape, UniformSolidsAreFoundAgain) {
    const double m = 3, r = 0.7, l = 1.9;
    const SolidShape ball = solid_shape(m, diagonal(0.4 * m * r * r, 0.4 * m * r * r, 0.4 * m * r * r));
    EXPECT_EQ(ball.kind, SolidShape::Kind::ball);
    EXPECT_NEAR(ball.size[0], r, 1e-12);

    const double own = m * r * r / 2, across = m * (3 * r * r + l * l) / 12;
    const SolidShape cylinder = solid_shape(m, diagonal(across, own, across));
    EXPECT_EQ(cylinder.kind, SolidShape::Kind::cylinder);
    EXPECT_NEAR(cylinder.size[0], r, 1e-12);
    EXPECT_NEAR(cylinder.size[1], l, 1e-12);
    EXPECT_NEAR(std::abs(cylinder.axes[3 + 2]), 1, 1e-12);  // its axis is the body's y

    const SolidShape rod = solid_shape(m, diagonal(0, m * l * l / 12, m * l * l / 12));
    EXPECT_EQ(rod.kind, SolidShape::Kind::cylinder);
    EXPECT_NEAR(rod.size[0], 0, 1e-12);
    EXPECT_NEAR(rod.size[1], l, 1e-12);

    const SolidShape box = solid_shape(m, diagonal(m * (4 + 9) / 12, m * (1 + 9) / 12, m * (1 + 4) / 12));
    EXPECT_EQ(box.kind, SolidShape::Kind::box);
    EXPECT_NEAR(box.size[0], 1, 1e-12);
    EXPECT_NEAR(box.size[1], 2, 1e-12);
    EXPECT_NEAR(box.size[2], 3, 1e-12);
}

// products of inertia turn the solid: its axes diagonalise them, and are a rotation
TEST(SolidShape, AxesAreThePrincipalOnes) {
    const std::array<double, 9> I{2, -0.3, 0.1, -0.3, 3, 0.2, 0.1, 0.2, 4};
    const SolidShape s = solid_shape(1, I);
    for (std::size_t a = 0; a < 3; ++a)
        for (std::size_t b = 0; b < 3; ++b) {
            double product = 0, unit = 0;
            for (std::size_t i = 0; i < 3; ++i) {
                unit += s.axes[3 * i + a] * s.axes[3 * i + b];
                for (std::size_t j = 0; j < 3; ++j) product += s.axes[3 * i + a] * I[3 * i + j] * s.axes[3 * j + b];
            }
            EXPECT_NEAR(unit, a == b ? 1 : 0, 1e-13);
            if (a != b) {
                EXPECT_NEAR(product, 0, 1e-13);
            }
        }
}

TEST(SolidShape, WhatHasNoInertiaHasNoShape) {
    EXPECT_EQ(solid_shape(1, diagonal(0, 0, 0)).kind, SolidShape::Kind::none);
    EXPECT_EQ(solid_shape(0, diagonal(1, 1, 1)).kind, SolidShape::Kind::none);
    EXPECT_EQ(solid_shape(1, diagonal(NAN, 1, 1)).kind, SolidShape::Kind::none);
    // a planar body is given by one moment: a disk
    const SolidShape planar = solid_shape(2, diagonal(0, 0, 0.25));
    EXPECT_EQ(planar.kind, SolidShape::Kind::cylinder);
    EXPECT_NEAR(planar.size[0], 0.5, 1e-12);
    EXPECT_EQ(planar.size[1], 0);
}

RunOptions with_scene() {
    RunOptions options;
    options.scene = true;
    return options;
}

TEST(SceneColumns, PointsAndForcesAreThoseOfTheTable) {
    const TextRun r = run_text(gallery_text("perpendicular_pucks"), with_scene());
    const Scene& scene = r.run.layout.scene;
    ASSERT_EQ(scene.arrows.size(), 2u);
    const Scene::Arrow& first = scene.arrows[0];
    EXPECT_EQ(first.owner, "perpendicular");
    EXPECT_EQ(scene.points[first.at].name, first.place);
    for (std::size_t row = 0; row < r.run.rows(); row += 100) {
        // on P1 acts lambda vel(P2), on P2 lambda vel(P1)
        const bool on_p1 = first.place == "P1";
        const double lambda = r.at(row, "lambda(perpendicular)");
        EXPECT_NEAR(r.run.at(row, first.value), lambda * r.at(row, on_p1 ? "u3" : "u1"), 1e-12);
        EXPECT_NEAR(r.run.at(row, first.value + 1), lambda * r.at(row, on_p1 ? "u4" : "u2"), 1e-12);
        EXPECT_EQ(r.run.at(row, first.value + 2), 0);
    }
}

TEST(SceneColumns, AContactPushesWhileItIsClosed) {
    const TextRun r = run_text(gallery_text("bouncing_ball"), with_scene());
    const Scene& scene = r.run.layout.scene;
    ASSERT_EQ(scene.arrows.size(), 1u);
    EXPECT_EQ(scene.arrows[0].owner, "floor");
    EXPECT_EQ(r.run.at(10, scene.arrows[0].value + 1), 0);                         // in flight
    EXPECT_NEAR(r.run.at(r.run.rows() - 1, scene.arrows[0].value + 1), 10, 1e-9);  // at rest: m g
}

TEST(SceneColumns, FrictionIsThereWhetherItSlidesOrSticks) {
    const TextRun r = run_text(gallery_text("block_on_vibrating_table"), with_scene());
    const Scene& scene = r.run.layout.scene;
    const auto friction = std::find_if(scene.arrows.begin(), scene.arrows.end(),
                                       [](const Scene::Arrow& a) { return a.owner.starts_with("friction of"); });
    ASSERT_NE(friction, scene.arrows.end());
    std::size_t acting = 0;
    for (std::size_t row = 0; row < r.run.rows(); ++row) {
        double square = 0;
        for (std::size_t k = 0; k < 3; ++k) square += std::pow(r.run.at(row, friction->value + k), 2);
        ASSERT_TRUE(std::isfinite(square));
        acting += square > 0 ? 1 : 0;
    }
    EXPECT_GT(acting, r.run.rows() / 2);
}

TEST(SceneColumns, RotationsAreRotations) {
    const TextRun r = run_text(gallery_text("rolling_disk"), with_scene());
    const Scene& scene = r.run.layout.scene;
    ASSERT_EQ(scene.bodies.size(), 1u);
    EXPECT_EQ(scene.bodies[0].shape.kind, SolidShape::Kind::cylinder);
    EXPECT_NEAR(scene.bodies[0].shape.size[0], 0.5, 1e-12);
    EXPECT_NEAR(scene.gravity[2], -9.81, 1e-12);
    for (std::size_t row = 0; row < r.run.rows(); row += 97)
        for (std::size_t a = 0; a < 3; ++a)
            for (std::size_t b = 0; b < 3; ++b) {
                double dot = 0;
                for (std::size_t k = 0; k < 3; ++k)
                    dot += r.run.at(row, scene.bodies[0].turn + 3 * a + k) * r.run.at(row, scene.bodies[0].turn + 3 * b + k);
                EXPECT_NEAR(dot, a == b ? 1 : 0, 1e-13);
            }
}

TEST(SceneColumns, ARigidOffsetIsARod) {
    const TextRun r = run_text(gallery_text("simple_pendulum"), with_scene());
    const Scene& scene = r.run.layout.scene;
    ASSERT_EQ(scene.links.size(), 1u);
    EXPECT_EQ(scene.links[0].kind, Scene::Link::Kind::rod);
    EXPECT_EQ(scene.points[scene.links[0].from].name, "O");
    EXPECT_EQ(scene.points[scene.links[0].to].name, "P");
    EXPECT_TRUE(run_text(gallery_text("perpendicular_pucks"), with_scene()).run.layout.scene.links.empty());
}

TEST(ReportRows, FramesAreBoundedAndKeepBothEnds) {
    RowLayout layout;
    layout.scene.points.push_back({"P", 1, 1, false});
    layout.scene.first = 1;
    layout.scene.columns = 3;
    ReportRows rows(layout, 0);
    constexpr int k_rows = 54'321;
    for (int i = 0; i < k_rows; ++i) {
        const std::array<double, 4> row{0, i + 0.0, 2.0 * i, 1};
        rows.add(0.5 * i, row);
        ASSERT_EQ(rows.times().back(), 0.5 * i);
        ASSERT_EQ(rows.at(rows.frames() - 1, 1), i);
        ASSERT_LE(rows.frames(), 1201u);
    }
    EXPECT_GT(rows.frames(), 600u);
    EXPECT_EQ(rows.times().front(), 0);
    for (std::size_t i = 0; i < rows.frames(); ++i) EXPECT_EQ(rows.at(i, 1), 2 * rows.times()[i]);
    // equally spaced but for the last
    const double step = rows.times()[1];
    for (std::size_t i = 2; i + 1 < rows.frames(); ++i) EXPECT_EQ(rows.times()[i] - rows.times()[i - 1], step);
}

}  // namespace
}  // namespace appell
