// Drawing goes in three passes: ranges and ticks from the data, layout from the estimated widths of their labels, then text.
// The legend stands in a corner no curve touches; where there is none it becomes rows above the plotting area, which keep
// the area's width, so that plots under one another stay aligned.
#include "report/svg_plot.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "base/error.hpp"
#include "report/svg_text.hpp"
#include "report/svg_ticks.hpp"
#include "report/svg_trace.hpp"

namespace appell {
namespace {

constexpr double k_title_size = 15;
constexpr double k_label_size = 13;
constexpr double k_tick_size = 12;
constexpr double k_edge = 14;  // from the border of the image to anything
constexpr double k_tick_length = 4;
constexpr double k_tick_space_x = 52;  // least distance of ticks
constexpr double k_tick_space_y = 34;
constexpr double k_print_space_x = 36;  // the same on paper, where figures are small
constexpr double k_print_space_y = 24;
constexpr double k_legend_row = 19;
constexpr double k_legend_swatch = 22;  // the line sample
constexpr double k_legend_gap = 7;      // between sample and text
constexpr std::size_t k_legend_most = 24;
constexpr std::size_t k_colours = 7;
constexpr std::size_t k_dashes = 3;        // beyond as many curves as there are colours the line pattern changes
constexpr std::size_t k_print_dashes = 5;  // with seven colours, 35 curves that differ

struct Extent {
    bool any = false;
    double low = 0, high = 0;

    void include(double value) {
        low = any ? std::min(low, value) : value;
        high = any ? std::max(high, value) : value;
        any = true;
    }
};

struct LegendRow {
    std::vector<std::size_t> entries;  // indices of curves
};

struct LegendPlace {
    bool inside = false;
    double left = 0, top = 0;
};

AxisRange padded(AxisRange range, double share) {
    const double pad = (range.high - range.low) * share;
    return {range.low - pad, range.high + pad};
}

AxisRange widened(AxisRange range, double width) {
    const double grow = (width - (range.high - range.low)) / 2;
    return grow > 0 ? AxisRange{range.low - grow, range.high + grow} : range;
}

// values on an axis; on a logarithmic one their logarithms
std::vector<double> on_axis(const std::vector<double>& values, bool logarithmic) {
    if (!logarithmic) return values;
    std::vector<double> out;
    out.reserve(values.size());
    for (const double value : values) out.push_back(value > 0 ? std::log10(value) : std::nan(""));
    return out;
}

class PlotDrawing {
    using Anchor = FigureMark::Anchor;

public:
    explicit PlotDrawing(const PlotSpec& spec) : spec_(spec) {
        for (const Curve& curve : spec.curves)
            if (curve.x.size() != curve.y.size())
                throw Error(
                    fmt::format("curve '{}' has {} x values and {} y values", curve.label, curve.x.size(), curve.y.size()));
        if (spec.width < 160 || spec.height < 120) throw Error("a plot needs at least 160 x 120 pixels");
        y_label_ = spec.y_label.empty() && spec.curves.size() == 1 ? spec.curves.front().label : spec.y_label;
        if (spec.curves.size() > 1) make_legend();
        for (const Curve& curve : spec.curves)
            curves_.push_back({"", on_axis(curve.x, spec.log_x), on_axis(curve.y, spec.log_y)});
        measure_data();
    }

    Figure draw() {
        lay_out(0);
        if (!legend_labels_.empty()) {
            place_ = free_corner();
            if (!place_) {
                const std::vector<LegendRow> rows = legend_rows();
                lay_out(static_cast<double>(rows.size()) * k_legend_row + 4);
            }
        }
        open();
        if (empty_) {
            text("ap-quiet", view_.left + view_.width / 2, view_.top + view_.height / 2, Anchor::middle, "no data to show");
            const double bottom = view_.top + view_.height;
            path("ap-axis", {{{view_.left, bottom}, {view_.left + view_.width, bottom}}});
        } else {
            draw_grid();
            draw_curves();
            draw_axes();
        }
        draw_labels();
        draw_legend();
        return std::move(out_);
    }

private:
    // ------------------------------------------------------------ what there is to show

    void measure_data() {
        Extent x, y;
        for (const Curve& curve : curves_) {
            for (std::size_t i = 0; i < curve.x.size(); ++i) {
                if (!can_be_shown(curve.x[i]) || !can_be_shown(curve.y[i])) continue;
                x.include(curve.x[i]);
                y.include(curve.y[i]);
            }
        }
        empty_ = !x.any;
        if (empty_) return;
        x_ = range_around(x.low, x.high);
        y_ = range_around(y.low, y.high);
        // a signal ends at the frame, a path keeps clear of it
        if (spec_.equal_axes) x_ = padded(x_, 0.06);
        y_ = padded(y_, 0.06);
    }

    void make_legend() {
        for (std::size_t i = 0; i < spec_.curves.size() && i < k_legend_most; ++i)
            legend_labels_.push_back(fit_text(spec_.curves[i].label, k_tick_size, spec_.width * 0.4));
        if (spec_.curves.size() > k_legend_most)
            legend_labels_.push_back(fmt::format("and {} more", spec_.curves.size() - k_legend_most));
    }

    // ------------------------------------------------------------ where it goes

    // `above` is what the legend needs between title and plotting area
    void lay_out(double above) {
        view_.top = k_edge + (has_header() ? k_title_size + 11 : 0) + above;
        const double below = k_tick_length + k_tick_size + 7 + (spec_.x_label.empty() ? 0 : k_label_size + 7) + k_edge - 4;
        view_.height = std::max(40.0, spec_.height - view_.top - below);
        view_.left = k_edge + (y_label_.empty() ? 0 : k_label_size + 8);
        const double full = spec_.width - view_.left - k_edge;
        view_.width = full;
        if (empty_) return;

        // labels need width, width decides the ticks, ticks make the labels: twice is enough
        double label_width = 30;
        for (int pass = 0; pass < 2; ++pass) {
            view_.left = k_edge + (y_label_.empty() ? 0 : k_label_size + 8) + label_width + k_tick_length + 5;
            view_.width = std::max(60.0, spec_.width - view_.left - k_edge - 8);
            choose_ticks();
            label_width = 0;
            for (const std::string& label : y_ticks_.labels) label_width = std::max(label_width, text_width(label, k_tick_size));
        }
        // room above the area for the note of the y axis
        if (!y_ticks_.note.empty()) {
            const double room = k_tick_size + 5;
            view_.top += room;
            view_.height = std::max(40.0, view_.height - room);
            choose_ticks();
        }
        strokes_.clear();
        for (const Curve& curve : curves_) {
            strokes_.push_back(make_strokes(curve.x, curve.y, view_));
            for (Stroke& stroke : strokes_.back()) stroke = thin_stroke(stroke);
        }
    }

    void choose_ticks() {
        view_.x = x_;
        view_.y = y_;
        if (spec_.equal_axes) {
            const double unit = std::max((x_.high - x_.low) / view_.width, (y_.high - y_.low) / view_.height);
            view_.x = widened(x_, unit * view_.width);
            view_.y = widened(y_, unit * view_.height);
        }
        const auto ticks = [](AxisRange range, bool logarithmic, int intervals) {
            return logarithmic ? make_log_ticks(range, intervals) : make_ticks(range, tick_step(range, intervals));
        };
        y_ticks_ = ticks(view_.y, spec_.log_y,
                         std::max(2, static_cast<int>(view_.height / (spec_.print ? k_print_space_y : k_tick_space_y))));
        // as many ticks along x as their labels leave room for
        int intervals = std::max(2, static_cast<int>(view_.width / (spec_.print ? k_print_space_x : k_tick_space_x)));
        x_ticks_ = ticks(view_.x, spec_.log_x, intervals);
        while (intervals > 2 && labels_collide()) x_ticks_ = ticks(view_.x, spec_.log_x, --intervals);
        if (!spec_.equal_axes) return;
        // one step for both axes makes the squares of the grid square, if it leaves ticks on both
        const bool x_is_wider = x_ticks_.step.value() > y_ticks_.step.value();
        Ticks shared = x_is_wider ? make_ticks(view_.y, x_ticks_.step) : make_ticks(view_.x, y_ticks_.step);
        if (shared.major.size() >= 2) (x_is_wider ? y_ticks_ : x_ticks_) = std::move(shared);
    }

    [[nodiscard]] bool labels_collide() const {
        constexpr double k_between = 14;
        for (std::size_t i = 1; i < x_ticks_.major.size(); ++i) {
            const double half =
                (text_width(x_ticks_.labels[i - 1], k_tick_size) + text_width(x_ticks_.labels[i], k_tick_size)) / 2;
            if (view_.to_x(x_ticks_.major[i]) - view_.to_x(x_ticks_.major[i - 1]) < half + k_between) return true;
        }
        return false;
    }

    [[nodiscard]] bool has_header() const { return !spec_.title.empty() || spec_.mark_start; }

    // a pattern needs some length to be seen
    [[nodiscard]] double swatch() const { return spec_.print ? 36 : k_legend_swatch; }

    [[nodiscard]] double entry_width(std::size_t entry) const {
        const bool sample = entry < k_legend_most;
        return (sample ? swatch() + k_legend_gap : 0) + text_width(legend_labels_[entry], k_tick_size);
    }

    [[nodiscard]] std::optional<LegendPlace> free_corner() const {
        if (empty_) return std::nullopt;
        double width = 0;
        for (std::size_t i = 0; i < legend_labels_.size(); ++i) width = std::max(width, entry_width(i));
        const double height = static_cast<double>(legend_labels_.size()) * k_legend_row;
        constexpr double k_inset = 12;
        constexpr double k_clear = 8;  // free space around the legend
        if (width + 2 * k_inset > view_.width || height + 2 * k_inset > view_.height) return std::nullopt;
        const double right = view_.left + view_.width - k_inset - width;
        const double bottom = view_.top + view_.height - k_inset - height;
        const double left = view_.left + k_inset;
        const double top = view_.top + k_inset;
        const std::array<LegendPlace, 4> corners{
            LegendPlace{true, right, top}, {true, left, top}, {true, right, bottom}, {true, left, bottom}};
        for (const LegendPlace& corner : corners) {
            const auto in_the_way = [&](const Stroke& stroke) {
                return touches_box(stroke, corner.left - k_clear, corner.top - k_clear, corner.left + width + k_clear,
                                   corner.top + height + k_clear);
            };
            const bool free = std::none_of(strokes_.begin(), strokes_.end(), [&](const std::vector<Stroke>& strokes) {
                return std::any_of(strokes.begin(), strokes.end(), in_the_way);
            });
            if (free) return corner;
        }
        return std::nullopt;
    }

    [[nodiscard]] std::vector<LegendRow> legend_rows() const {
        std::vector<LegendRow> rows(1);
        double used = 0;
        for (std::size_t i = 0; i < legend_labels_.size(); ++i) {
            const double width = entry_width(i) + 18;
            if (used > 0 && used + width > view_.width + 18) {
                rows.emplace_back();
                used = 0;
            }
            rows.back().entries.push_back(i);
            used += width;
        }
        return rows;
    }

    // ------------------------------------------------------------ ink

    void open() {
        out_ = {spec_.width, spec_.height, spec_.title.empty() ? y_label_ : spec_.title, spec_.print, {}};
        box("ap-bg", 0, 0, spec_.width, spec_.height, 0);
    }

    FigureMark& mark(FigureMark::Kind kind, std::string style, double x, double y) {
        FigureMark& out = out_.marks.emplace_back();
        out.kind = kind;
        out.style = std::move(style);
        out.x = x;
        out.y = y;
        return out;
    }

    void box(std::string style, double x, double y, double width, double height, double corner) {
        FigureMark& out = mark(FigureMark::Kind::box, std::move(style), x, y);
        out.width = width;
        out.height = height;
        out.radius = corner;
    }

    FigureMark& text(std::string style, double x, double y, Anchor anchor, std::string content) {
        FigureMark& out = mark(FigureMark::Kind::text, std::move(style), x, y);
        out.anchor = anchor;
        out.text = std::move(content);
        return out;
    }

    FigureMark& path(std::string style, std::vector<Stroke> strokes) {
        FigureMark& out = mark(FigureMark::Kind::path, std::move(style), 0, 0);
        out.strokes = std::move(strokes);
        return out;
    }

    void circle(std::string style, const ScreenPoint& at, double radius) {
        mark(FigureMark::Kind::circle, std::move(style), at.x, at.y).radius = radius;
    }

    [[nodiscard]] std::string line_class(std::size_t curve) const {
        const std::size_t dash = spec_.print ? curve % k_print_dashes : curve / k_colours % k_dashes;
        return fmt::format("ap-line ap-c{}{}", curve % k_colours, dash == 0 ? "" : fmt::format(" ap-d{}", dash));
    }

    // thin lines fall on whole pixels, so that they are sharp
    [[nodiscard]] double sharp_x(double value) const { return std::floor(view_.to_x(value)) + 0.5; }
    [[nodiscard]] double sharp_y(double value) const { return std::floor(view_.to_y(value)) + 0.5; }

    void grid_lines(std::string_view style, const std::vector<double>& xs, const std::vector<double>& ys) {
        std::vector<Stroke> lines;
        for (const double x : xs) lines.push_back({{sharp_x(x), view_.top}, {sharp_x(x), view_.top + view_.height}});
        for (const double y : ys) lines.push_back({{view_.left, sharp_y(y)}, {view_.left + view_.width, sharp_y(y)}});
        if (!lines.empty()) path(std::string(style), std::move(lines));
    }

    void draw_grid() {
        grid_lines("ap-fine", x_ticks_.minor, y_ticks_.minor);
        grid_lines("ap-grid", x_ticks_.major, y_ticks_.major);
        if (!spec_.log_y && view_.y.low < 0 && view_.y.high > 0) grid_lines("ap-zero", {}, {0.0});
        if (spec_.equal_axes && view_.x.low < 0 && view_.x.high > 0) grid_lines("ap-zero", {0.0}, {});
    }

    void draw_curves() {
        for (std::size_t i = 0; i < strokes_.size(); ++i) {
            std::vector<Stroke> lines;
            for (const Stroke& stroke : strokes_[i])
                if (stroke.size() > 1) lines.push_back(stroke);
            if (!lines.empty()) path(line_class(i), std::move(lines)).text = spec_.curves[i].label;
            // a point without neighbours has no line to be seen by
            for (const Stroke& stroke : strokes_[i])
                if (stroke.size() == 1) dot(i, stroke.front(), 3);
        }
        if (!spec_.mark_start) return;
        for (std::size_t i = 0; i < strokes_.size(); ++i) {
            if (strokes_[i].empty()) continue;
            dot(i, strokes_[i].front().front(), 3.5);
            circle(fmt::format("ap-end ap-c{}", i % k_colours), strokes_[i].back().back(), 5.5);
        }
    }

    void dot(std::size_t curve, const ScreenPoint& at, double radius) {
        circle(fmt::format("ap-f{}", curve % k_colours), at, radius);
    }

    void draw_axes() {
        const double left = std::floor(view_.left) + 0.5;
        const double bottom = std::floor(view_.top + view_.height) + 0.5;
        std::vector<Stroke> lines{{{left, view_.top}, {left, bottom}, {view_.left + view_.width, bottom}}};
        for (const double x : x_ticks_.major) lines.push_back({{sharp_x(x), bottom}, {sharp_x(x), bottom + k_tick_length}});
        for (const double y : y_ticks_.major) lines.push_back({{left, sharp_y(y)}, {left - k_tick_length, sharp_y(y)}});
        path("ap-axis", std::move(lines));
        for (std::size_t i = 0; i < x_ticks_.major.size(); ++i)
            text("ap-tick", view_.to_x(x_ticks_.major[i]), bottom + k_tick_length + k_tick_size + 2, Anchor::middle,
                 x_ticks_.labels[i]);
        for (std::size_t i = 0; i < y_ticks_.major.size(); ++i)
            text("ap-tick", left - k_tick_length - 5, view_.to_y(y_ticks_.major[i]) + k_tick_size * 0.36, Anchor::end,
                 y_ticks_.labels[i]);
        if (!y_ticks_.note.empty()) text("ap-tick", view_.left, view_.top - 7, Anchor::start, y_ticks_.note);
    }

    void draw_labels() {
        const double baseline = k_edge + k_title_size - 2;
        const double right = view_.left + view_.width;
        const std::string marks = spec_.mark_start && !empty_ ? "●\u2009start   ○\u2009end" : "";
        const double marks_width = marks.empty() ? 0 : text_width(marks, k_tick_size) + 12;
        if (!spec_.title.empty())
            text("ap-title", view_.left, baseline, Anchor::start,
                 fit_text(spec_.title, k_title_size * 1.05, right - view_.left - marks_width));
        if (!marks.empty()) text("ap-quiet", right, baseline, Anchor::end, marks);

        // the note of the x axis is part of its label's line
        const double label_y = spec_.height - k_edge + 2;
        if (!spec_.x_label.empty())
            text("ap-label", view_.left + view_.width / 2, label_y, Anchor::middle,
                 fit_text(spec_.x_label, k_label_size, view_.width * 0.7));
        if (!empty_ && !x_ticks_.note.empty()) text("ap-tick", right, label_y, Anchor::end, x_ticks_.note);
        if (!y_label_.empty()) {
            const double x = k_edge + k_label_size - 3;
            const double y = view_.top + view_.height / 2;
            text("ap-label", x, y, Anchor::middle, fit_text(y_label_, k_label_size, view_.height)).upwards = true;
        }
    }

    void legend_entry(std::size_t entry, double x, double y) {
        if (entry < k_legend_most) {
            path(line_class(entry), {{{x, y - 4}, {x + swatch(), y - 4}}});
            x += swatch() + k_legend_gap;
        }
        text("ap-tick", x, y, Anchor::start, legend_labels_[entry]);
    }

    void draw_legend() {
        if (legend_labels_.empty() || empty_) return;
        if (place_) {
            double width = 0;
            for (std::size_t i = 0; i < legend_labels_.size(); ++i) width = std::max(width, entry_width(i));
            box("ap-veil", place_->left - 6, place_->top - 3, width + 12,
                static_cast<double>(legend_labels_.size()) * k_legend_row + 6, 3);
            for (std::size_t i = 0; i < legend_labels_.size(); ++i)
                legend_entry(i, place_->left, place_->top + static_cast<double>(i) * k_legend_row + 13);
            return;
        }
        double y = k_edge + (has_header() ? k_title_size + 11 : 0) + 11;
        for (const LegendRow& row : legend_rows()) {
            double x = view_.left;
            for (const std::size_t entry : row.entries) {
                legend_entry(entry, x, y);
                x += entry_width(entry) + 18;
            }
            y += k_legend_row;
        }
    }

    const PlotSpec& spec_;
    std::vector<Curve> curves_;  // in the values of the axes
    std::string y_label_;
    std::vector<std::string> legend_labels_;  // the last may be a count of those left out
    bool empty_ = true;
    AxisRange x_, y_;  // of the data, with padding
    Viewport view_;
    Ticks x_ticks_, y_ticks_;
    std::vector<std::vector<Stroke>> strokes_;  // by curve, thinned
    std::optional<LegendPlace> place_;          // the free corner, if there is one
    Figure out_;
};

}  // namespace

Figure draw_plot(const PlotSpec& spec) { return PlotDrawing(spec).draw(); }

std::string render_svg(const PlotSpec& spec) { return figure_svg(draw_plot(spec)); }

}  // namespace appell
