#include "report/svg_trace.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace appell {
namespace {

// a path's points closer than this to the last one kept are not drawn
constexpr double k_path_grain = 0.4;

Stroke thin_signal(const Stroke& stroke) {
    Stroke kept;
    std::size_t begin = 0;
    while (begin < stroke.size()) {
        const double column = std::floor(stroke[begin].x);
        std::size_t end = begin;
        std::size_t lowest = begin;
        std::size_t highest = begin;
        for (; end < stroke.size() && std::floor(stroke[end].x) == column; ++end) {
            if (stroke[end].y < stroke[lowest].y) lowest = end;
            if (stroke[end].y > stroke[highest].y) highest = end;
        }
        std::array<std::size_t, 4> chosen{begin, lowest, highest, end - 1};
        std::sort(chosen.begin(), chosen.end());
        for (std::size_t i = 0; i < chosen.size(); ++i)
            if (i == 0 || chosen[i] != chosen[i - 1]) kept.push_back(stroke[chosen[i]]);
        begin = end;
    }
    return kept;
}

Stroke thin_path(const Stroke& stroke) {
    const auto by_x = [](const ScreenPoint& a, const ScreenPoint& b) { return a.x < b.x; };
    const auto by_y = [](const ScreenPoint& a, const ScreenPoint& b) { return a.y < b.y; };
    const auto [left, right] = std::minmax_element(stroke.begin(), stroke.end(), by_x);
    const auto [top, bottom] = std::minmax_element(stroke.begin(), stroke.end(), by_y);
    Stroke kept;
    for (auto point = stroke.begin(); point != stroke.end(); ++point) {
        const bool outermost = point == left || point == right || point == top || point == bottom;
        const bool border = point == stroke.begin() || point + 1 == stroke.end();
        if (outermost || border || std::hypot(point->x - kept.back().x, point->y - kept.back().y) >= k_path_grain)
            kept.push_back(*point);
    }
    return kept;
}

}  // namespace

std::vector<Stroke> make_strokes(const std::vector<double>& x, const std::vector<double>& y, const Viewport& view) {
    std::vector<Stroke> strokes;
    bool open = false;
    for (std::size_t i = 0; i < x.size(); ++i) {
        if (!can_be_shown(x[i]) || !can_be_shown(y[i])) {
            open = false;
            continue;
        }
        if (!open) strokes.emplace_back();
        open = true;
        strokes.back().push_back({view.to_x(x[i]), view.to_y(y[i])});
    }
    return strokes;
}

Stroke thin_stroke(const Stroke& stroke) {
    const bool signal = std::is_sorted(stroke.begin(), stroke.end(), [](const auto& a, const auto& b) { return a.x < b.x; });
    return signal ? thin_signal(stroke) : thin_path(stroke);
}

bool touches_box(const Stroke& stroke, double left, double top, double right, double bottom) {
    const auto inside = [&](const ScreenPoint& p) { return p.x >= left && p.x <= right && p.y >= top && p.y <= bottom; };
    if (stroke.size() == 1) return inside(stroke.front());
    for (std::size_t i = 1; i < stroke.size(); ++i) {
        const ScreenPoint& a = stroke[i - 1];
        const ScreenPoint& b = stroke[i];
        // the part of the segment, as shares of its length, that lies between two parallel lines
        double from = 0;
        double to = 1;
        const auto clip = [&](double start, double step, double low, double high) {
            if (step == 0) {
                if (start < low || start > high) from = 2;
                return;
            }
            const double enter = (step > 0 ? low - start : high - start) / step;
            const double leave = (step > 0 ? high - start : low - start) / step;
            from = std::max(from, enter);
            to = std::min(to, leave);
        };
        clip(a.x, b.x - a.x, left, right);
        clip(a.y, b.y - a.y, top, bottom);
        if (from <= to) return true;
    }
    return false;
}

std::string pixel_text(double value) {
    const long hundredths = std::lround(value * 100);
    std::string out = hundredths < 0 ? "-" : "";
    const long size = std::labs(hundredths);
    out += std::to_string(size / 100);
    if (size % 100 != 0) {
        out += '.';
        out += static_cast<char>('0' + size % 100 / 10);
        if (size % 10 != 0) out += static_cast<char>('0' + size % 10);
    }
    return out;
}

std::string path_data(const Stroke& stroke) {
    std::string out;
    for (std::size_t i = 0; i < stroke.size(); ++i) {
        out += i == 0 ? "M" : i == 1 ? "L" : " ";
        out += pixel_text(stroke[i].x);
        out += ' ';
        out += pixel_text(stroke[i].y);
    }
    return out;
}

}  // namespace appell
