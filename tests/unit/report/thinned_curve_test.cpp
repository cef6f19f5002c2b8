// Curves in bounded memory: few points are kept as they are, of many the extremes, in order.
#include "report/thinned_curve.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace appell {
namespace {

Curve curve_of(const ThinnedCurve& thinned) {
    Curve curve;
    thinned.append_to(curve);
    return curve;
}

TEST(ThinnedCurve, FewPointsAreKeptWhole) {
    ThinnedCurve thinned(64);
    Curve all;
    for (int i = 0; i < 256; ++i) {
        all.x.push_back(i);
        all.y.push_back(std::sin(0.7 * i));
        thinned.add(all.x.back(), all.y.back());
        const Curve kept = curve_of(thinned);
        ASSERT_EQ(kept.x, all.x);
        ASSERT_EQ(kept.y, all.y);
    }
}

TEST(ThinnedCurve, LongCurvesKeepTheirExtremes) {
    constexpr int k_points = 300'000;
    ThinnedCurve thinned(64);
    double least = 0, largest = 0;
    for (int i = 0; i < k_points; ++i) {
        // a spike of one point now and then
        const double y = std::sin(1e-4 * i) + (i % 9973 == 17 ? 5.0 + 1e-6 * i : 0) - (i % 7919 == 3 ? 4.0 + 1e-6 * i : 0);
        least = std::min(least, y);
        largest = std::max(largest, y);
        thinned.add(i, y);
    }
    const Curve kept = curve_of(thinned);
    EXPECT_LE(kept.x.size(), 64u * 6);
    EXPECT_GE(kept.x.size(), 64u);
    EXPECT_TRUE(std::is_sorted(kept.x.begin(), kept.x.end()));
    EXPECT_EQ(kept.x.front(), 0);
    EXPECT_EQ(kept.x.back(), k_points - 1);
    EXPECT_EQ(*std::min_element(kept.y.begin(), kept.y.end()), least);
    EXPECT_EQ(*std::max_element(kept.y.begin(), kept.y.end()), largest);
}

// the extremes of every stretch, not of the whole alone; and of a path along both axes
TEST(ThinnedCurve, EveryStretchKeepsItsExtremes) {
    ThinnedCurve thinned(64);
    constexpr int k_points = 64 * 512;  // cells of 512 points, after nine halvings
    std::ptrdiff_t spikes = 0;
    for (int i = 0; i < k_points; ++i) {
        const double angle = 0.05 * i, y = std::sin(angle) * (i % 512 == 100 ? 3 : 1);
        spikes += std::abs(y) > 1 ? 1 : 0;
        thinned.add(std::cos(angle), y);
    }
    EXPECT_GT(spikes, 40);
    const Curve kept = curve_of(thinned);
    EXPECT_EQ(std::count_if(kept.y.begin(), kept.y.end(), [](double y) { return std::abs(y) > 1; }), spikes);
    EXPECT_GE(std::count_if(kept.x.begin(), kept.x.end(), [](double x) { return x > 0.999; }), 60);
    EXPECT_GE(std::count_if(kept.x.begin(), kept.x.end(), [](double x) { return x < -0.999; }), 60);
}

TEST(ThinnedCurve, GapsDoNotHideExtremes) {
    ThinnedCurve thinned(2);
    const double nan = std::numeric_limits<double>::quiet_NaN();
    for (int i = 0; i < 1000; ++i) thinned.add(i, i % 10 == 0 ? nan : i == 501 ? 7.0 : 0.0);
    const Curve kept = curve_of(thinned);
    EXPECT_NE(std::find(kept.y.begin(), kept.y.end(), 7.0), kept.y.end());
}

}  // namespace
}  // namespace appell
