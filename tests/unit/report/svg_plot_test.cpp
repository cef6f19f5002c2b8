// Plots: well-formed whatever the data, the same bytes each time, thinning that loses no extreme, gaps, equal axes.
#include "report/svg_plot.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <regex>

#include "base/error.hpp"
#include "report/svg_text.hpp"
#include "report/svg_trace.hpp"
#include "support/xml_check.hpp"

namespace appell {
namespace {

constexpr double k_nan = std::numeric_limits<double>::quiet_NaN();
constexpr double k_inf = std::numeric_limits<double>::infinity();

Curve sine(std::size_t points, double amplitude = 1, const std::string& label = "x") {
    Curve curve{label, {}, {}};
    for (std::size_t i = 0; i < points; ++i) {
        const double t = 10.0 * static_cast<double>(i) / static_cast<double>(points - 1);
        curve.x.push_back(t);
        curve.y.push_back(amplitude * std::sin(3 * t));
    }
    return curve;
}

std::size_t count(const std::string& text, const std::string& what) {
    std::size_t n = 0;
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + what.size())) ++n;
    return n;
}

PlotSpec plot_of(std::vector<Curve> curves) {
    PlotSpec spec;
    spec.title = "title";
    spec.x_label = "t (s)";
    spec.curves = std::move(curves);
    return spec;
}

TEST(SvgText, EscapesWhatXmlReserves) {
    EXPECT_EQ(escape_xml("a < b & \"c\" > 'd'"), "a &lt; b &amp; &quot;c&quot; &gt; &#39;d&#39;");
    EXPECT_EQ(escape_xml("θ ≤ ½"), "θ ≤ ½");
}

TEST(SvgText, BrokenBytesBecomeReplacementCharacters) {
    const std::string bad = "\xef\xbf\xbd";
    EXPECT_EQ(escape_xml(std::string("a\0b", 3)), "a" + bad + "b");
    EXPECT_EQ(escape_xml("\x1b[31m"), bad + "[31m");
    EXPECT_EQ(escape_xml("\xff"), bad);
    EXPECT_EQ(escape_xml("\xc3"), bad);                      // cut in the middle
    EXPECT_EQ(escape_xml("\xc0\xaf"), bad + bad);            // overlong
    EXPECT_EQ(escape_xml("\xed\xa0\x80"), bad + bad + bad);  // surrogate
}

TEST(SvgText, FittingKeepsTheBeginning) {
    EXPECT_EQ(fit_text("short", 12, 200), "short");
    const std::string cut = fit_text("a label that is much longer than the place there is for it", 12, 100);
    EXPECT_LE(text_width(cut, 12), 100);
    EXPECT_EQ(cut.substr(0, 7), "a label");
    EXPECT_EQ(cut.substr(cut.size() - 3), "…");
    // never cut inside a character
    EXPECT_EQ(test::xml_problem("<a>" + escape_xml(fit_text("θθθθθθθθθθθθθθθθθ", 12, 50)) + "</a>"), "");
    EXPECT_EQ(escape_xml(fit_text("θθθθθθθθθθθθθθθθθ", 12, 50)).find("\xef\xbf\xbd"), std::string::npos);
}

TEST(SvgTrace, ThinnedSignalKeepsEveryColumnsExtremes) {
    std::mt19937_64 random(7);
    std::normal_distribution<double> noise;
    Stroke stroke;
    for (int i = 0; i < 200'000; ++i) stroke.push_back({i * 600.0 / 200'000, 100 + 20 * noise(random)});
    const Stroke thin = thin_stroke(stroke);
    EXPECT_LE(thin.size(), 4u * 601u);
    // the envelope, column by column, is the same
    std::vector<double> low(600, 1e9), high(600, -1e9), thin_low(600, 1e9), thin_high(600, -1e9);
    for (const ScreenPoint& p : stroke) {
        const auto column = static_cast<std::size_t>(p.x);
        low[column] = std::min(low[column], p.y);
        high[column] = std::max(high[column], p.y);
    }
    for (const ScreenPoint& p : thin) {
        const auto column = static_cast<std::size_t>(p.x);
        thin_low[column] = std::min(thin_low[column], p.y);
        thin_high[column] = std::max(thin_high[column], p.y);
    }
    EXPECT_EQ(low, thin_low);
    EXPECT_EQ(high, thin_high);
    EXPECT_EQ(thin.front(), stroke.front());
    EXPECT_EQ(thin.back(), stroke.back());
    EXPECT_TRUE(std::is_sorted(thin.begin(), thin.end(), [](auto a, auto b) { return a.x < b.x; }));
}

TEST(SvgTrace, ThinnedSignalKeepsASpikeOfOnePoint) {
    Stroke stroke;
    for (int i = 0; i < 100'000; ++i) stroke.push_back({i * 0.005, 50});
    stroke[61'234].y = -3;
    const Stroke thin = thin_stroke(stroke);
    EXPECT_EQ(std::count(thin.begin(), thin.end(), stroke[61'234]), 1);
}

TEST(SvgTrace, ThinnedPathStaysWithinAFractionOfAPixel) {
    Stroke circle;
    for (int i = 0; i <= 100'000; ++i) {
        const double angle = 2 * M_PI * i / 100'000;
        circle.push_back({200 + 100 * std::cos(angle), 200 + 100 * std::sin(angle)});
    }
    const Stroke thin = thin_stroke(circle);
    EXPECT_LT(thin.size(), 2000u);
    // a chord of 0.4 px on a circle of 100 px lies 0.4^2/800 px inside it; all points left out are near kept ones
    for (std::size_t i = 1; i < thin.size(); ++i)
        EXPECT_LT(std::hypot(thin[i].x - thin[i - 1].x, thin[i].y - thin[i - 1].y), 0.42);
    const auto by_x = [](const auto& a, const auto& b) { return a.x < b.x; };
    EXPECT_EQ(std::max_element(thin.begin(), thin.end(), by_x)->x, std::max_element(circle.begin(), circle.end(), by_x)->x);
    EXPECT_EQ(std::min_element(thin.begin(), thin.end(), by_x)->x, std::min_element(circle.begin(), circle.end(), by_x)->x);
}

TEST(SvgTrace, GapsSplitStrokes) {
    const Viewport view{{0, 10}, {0, 1}, 0, 0, 100, 100};
    const std::vector<Stroke> strokes = make_strokes({0, 1, 2, 3, 4, 5}, {0, k_nan, 0.5, 0.5, k_inf, 1}, view);
    ASSERT_EQ(strokes.size(), 3u);
    EXPECT_EQ(strokes[0], (Stroke{{0, 100}}));
    EXPECT_EQ(strokes[1], (Stroke{{20, 50}, {30, 50}}));
    EXPECT_EQ(strokes[2], (Stroke{{50, 0}}));
}

TEST(SvgTrace, SegmentsThroughABoxAreSeen) {
    EXPECT_TRUE(touches_box({{0, 0}, {100, 100}}, 40, 40, 60, 60));  // no end point inside
    EXPECT_FALSE(touches_box({{0, 0}, {100, 0}}, 40, 40, 60, 60));
    EXPECT_FALSE(touches_box({{0, 70}, {70, 200}}, 40, 40, 60, 60));  // passes a corner
    EXPECT_TRUE(touches_box({{50, 50}}, 40, 40, 60, 60));
    EXPECT_TRUE(touches_box({{50, 0}, {50, 100}}, 40, 40, 60, 60));  // vertical
    EXPECT_FALSE(touches_box({}, 40, 40, 60, 60));
}

TEST(SvgTrace, PixelsAreHundredthsWithoutTrailingZeros) {
    EXPECT_EQ(pixel_text(1), "1");
    EXPECT_EQ(pixel_text(1.5), "1.5");
    EXPECT_EQ(pixel_text(-0.05), "-0.05");
    EXPECT_EQ(pixel_text(-0.001), "0");
    EXPECT_EQ(pixel_text(123.456), "123.46");
    EXPECT_EQ(path_data({{0, 1}, {2, 3}, {4, 5}}), "M0 1L2 3 4 5");
}

TEST(SvgPlot, IsWellFormedWhateverTheData) {
    PlotSpec hostile = plot_of({sine(100, 1, "</path><script>alert(1)</script>"), sine(100, 2, "a\x01\xff & b")});
    hostile.title = "<b>\"bold\" & 'brave'</b>";
    hostile.y_label = "]]>";
    hostile.mark_start = true;
    const std::vector<PlotSpec> specs = {
        plot_of({}),
        plot_of({{"empty", {}, {}}}),
        plot_of({{"only nan", {0, 1}, {k_nan, k_nan}}}),
        plot_of({{"point", {2}, {3}}}),
        plot_of({{"flat", {0, 1, 2}, {5, 5, 5}}}),
        plot_of({{"zero", {0, 1, 2}, {0, 0, 0}}}),
        plot_of({{"same x", {1, 1, 1}, {0, 1, 2}}}),
        plot_of({{"huge", {0, 1, 2}, {-1e308, 0, 1e308}}}),
        plot_of({{"tiny", {0, 1, 2}, {1e-320, 2e-320, 3e-320}}}),
        plot_of({{"mixed", {0, 1, 2, 3}, {1, k_inf, -k_inf, 2}}}),
        hostile,
    };
    for (PlotSpec spec : specs) {
        for (const bool equal : {false, true}) {
            spec.equal_axes = equal;
            const std::string svg = render_svg(spec);
            EXPECT_EQ(test::xml_problem(svg), "") << spec.title << (spec.curves.empty() ? "" : spec.curves[0].label);
            // the style sheet is ours; numbers are not allowed to come out as words
            const std::string drawing = svg.substr(svg.find("</style>"));
            EXPECT_EQ(std::regex_search(drawing, std::regex("[\" ML](-?nan|-?inf)[\" L]")), false) << drawing;
        }
    }
    EXPECT_EQ(render_svg(hostile).find("<script"), std::string::npos);
}

TEST(SvgPlot, SameSpecSameBytes) {
    const PlotSpec spec = plot_of({sine(5000), sine(5000, 2, "y")});
    EXPECT_EQ(render_svg(spec), render_svg(spec));
}

TEST(SvgPlot, LongTracesStaySmall) {
    // 4 points in each of fewer than 720 columns, about 14 bytes a point, and the frame
    EXPECT_LT(render_svg(plot_of({sine(1'000'000)})).size(), 720u * 4u * 14u + 8000u);
}

TEST(SvgPlot, LegendNamesEveryCurveOnce) {
    const std::string two = render_svg(plot_of({sine(100, 1, "alpha"), sine(100, 2, "beta")}));
    EXPECT_EQ(count(two, ">alpha</text>"), 1u);
    EXPECT_EQ(count(two, ">beta</text>"), 1u);
    // a single curve is named by the axis
    const std::string one = render_svg(plot_of({sine(100, 1, "alpha")}));
    EXPECT_EQ(count(one, ">alpha</text>"), 1u);
    EXPECT_EQ(count(one, "rotate(-90)"), 1u);
    // a crowd is counted
    std::vector<Curve> crowd;
    for (int i = 0; i < 40; ++i) crowd.push_back(sine(50, 1 + i, "c" + std::to_string(i)));
    EXPECT_EQ(count(render_svg(plot_of(crowd)), ">and 16 more</text>"), 1u);
}

TEST(SvgPlot, LegendStandsInAFreeCornerOrAboveThePlot) {
    // two falling curves leave the upper right corner free; a dense wave leaves none
    const Curve first{"first", {0, 1}, {1, 0}};
    const Curve second{"second", {0, 1}, {0.9, 0}};
    const std::string corner = render_svg(plot_of({first, second}));
    EXPECT_EQ(count(corner, "<rect class=\"ap-veil\""), 1u);
    Curve dense{"dense", {}, {}};
    for (int i = 0; i <= 4000; ++i) {
        dense.x.push_back(i);
        dense.y.push_back(i % 2 == 0 ? 1 : -1);
    }
    const std::string above = render_svg(plot_of({dense, Curve{"other", {0, 4000}, {0, 0}}}));
    EXPECT_EQ(count(above, "<rect class=\"ap-veil\""), 0u);
    EXPECT_EQ(count(above, ">dense</text>"), 1u);
}

TEST(SvgPlot, EqualAxesHaveEqualUnits) {
    // corners of a 2 x 1 rectangle as four single points: their pixel distances must have the ratio 2 : 1
    PlotSpec spec = plot_of({{"r", {0, 0, 2, 0, 2}, {0, k_nan, 0, k_nan, 1}}});
    spec.equal_axes = true;
    const std::string svg = render_svg(spec);
    const std::regex circle("<circle class=\"ap-f0\" cx=\"([0-9.]+)\" cy=\"([0-9.]+)\"");
    std::vector<ScreenPoint> points;
    for (std::sregex_iterator it(svg.begin(), svg.end(), circle), end; it != end; ++it)
        points.push_back({std::stod((*it)[1]), std::stod((*it)[2])});
    ASSERT_EQ(points.size(), 3u);
    // coordinates are rounded to hundredths of a pixel
    EXPECT_NEAR((points[1].x - points[0].x) / 2, points[1].y - points[2].y, 0.02);
    EXPECT_NEAR(points[0].y, points[1].y, 0.011);
}

TEST(SvgPlot, TickLabelsDoNotCollide) {
    for (const double high : {1.0, 20'000.0, 99'999.0, 0.0314}) {
        for (const int width : {200, 360, 720, 1400}) {
            PlotSpec spec = plot_of({{"c", {-high, high}, {0, 1}}});
            spec.width = width;
            const std::string svg = render_svg(spec);
            const std::regex label("<text class=\"ap-tick\" x=\"([0-9.]+)\" y=\"[0-9.]+\" text-anchor=\"middle\">([^<]*)<");
            double last = -1e9;
            for (std::sregex_iterator it(svg.begin(), svg.end(), label), end; it != end; ++it) {
                const double half = text_width((*it)[2].str(), 12) / 2;
                EXPECT_GT(std::stod((*it)[1]) - half, last) << high << " in " << width << " px";
                last = std::stod((*it)[1]) + half;
            }
            EXPECT_GT(last, 0) << "no labels";
        }
    }
}

TEST(SvgPlot, StartAndEndAreMarked) {
    PlotSpec spec = plot_of({sine(100), sine(100, 2, "y")});
    EXPECT_EQ(count(render_svg(spec), "<circle"), 0u);
    spec.mark_start = true;
    EXPECT_EQ(count(render_svg(spec), "<circle class=\"ap-f"), 2u);
    EXPECT_EQ(count(render_svg(spec), "<circle class=\"ap-end"), 2u);
}

TEST(SvgPlot, MisuseIsRefused) {
    EXPECT_THROW((void)render_svg(plot_of({{"c", {0, 1}, {0}}})), Error);
    PlotSpec small = plot_of({sine(10)});
    small.width = 20;
    EXPECT_THROW((void)render_svg(small), Error);
}

}  // namespace
}  // namespace appell
