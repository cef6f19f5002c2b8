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
constexpr double k_legend_row = 19;
constexpr double k_legend_swatch = 22;  // the line sample
constexpr double k_legend_gap = 7;      // between sample and text
constexpr std::size_t k_legend_most = 24;
constexpr std::size_t k_colours = 7;
constexpr std::size_t k_dashes = 3;

// Okabe and Ito's colours, which remain distinct under the common kinds of colour blindness, without the yellow that drowns on
// white; the dark set has the same hues, lighter. Beyond seven curves the line pattern changes.
constexpr std::string_view k_style = R"(<style>
.ap-plot{font-family:system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
.ap-bg{fill:#fff}.ap-veil{fill:#fff;fill-opacity:.88}
.ap-title{fill:#16191d;font-size:15px;font-weight:600}.ap-label{fill:#2c3138;font-size:13px}
.ap-tick{fill:#4a515b;font-size:12px;font-variant-numeric:tabular-nums}.ap-quiet{fill:#6d7580;font-size:12px}
.ap-axis{stroke:#4a515b;stroke-width:1;fill:none}.ap-grid{stroke:#dde1e6;stroke-width:1;fill:none}
.ap-fine{stroke:#f1f3f5;stroke-width:1;fill:none}.ap-zero{stroke:#aab1ba;stroke-width:1;fill:none}
.ap-line{fill:none;stroke-width:1.7;stroke-linejoin:round;stroke-linecap:round}.ap-end{fill:none;stroke-width:1.5}
.ap-c0{stroke:#0072b2}.ap-c1{stroke:#d55e00}.ap-c2{stroke:#009e73}.ap-c3{stroke:#cc79a7}
.ap-c4{stroke:#e69f00}.ap-c5{stroke:#56b4e9}.ap-c6{stroke:#3d434b}
.ap-f0{fill:#0072b2}.ap-f1{fill:#d55e00}.ap-f2{fill:#009e73}.ap-f3{fill:#cc79a7}
.ap-f4{fill:#e69f00}.ap-f5{fill:#56b4e9}.ap-f6{fill:#3d434b}
.ap-d1{stroke-dasharray:7 4}.ap-d2{stroke-dasharray:1.5 4}
@media (prefers-color-scheme:dark){
.ap-bg{fill:#14171b}.ap-veil{fill:#14171b}.ap-title{fill:#f0f2f4}.ap-label{fill:#d3d8de}
.ap-tick{fill:#aeb6c0}.ap-quiet{fill:#929ba6}.ap-axis{stroke:#aeb6c0}.ap-grid{stroke:#2b3138}
.ap-fine{stroke:#1e2328}.ap-zero{stroke:#59626d}
.ap-c0{stroke:#4aa8e0}.ap-c1{stroke:#ff8a4a}.ap-c2{stroke:#2fc598}.ap-c3{stroke:#e6a2c8}
.ap-c4{stroke:#f3b840}.ap-c5{stroke:#9ad3f7}.ap-c6{stroke:#d5dae0}
.ap-f0{fill:#4aa8e0}.ap-f1{fill:#ff8a4a}.ap-f2{fill:#2fc598}.ap-f3{fill:#e6a2c8}
.ap-f4{fill:#f3b840}.ap-f5{fill:#9ad3f7}.ap-f6{fill:#d5dae0}
}
</style>
)";

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

std::string line_class(std::size_t curve) {
    std::string out = fmt::format("ap-line ap-c{}", curve % k_colours);
    if (const std::size_t dash = curve / k_colours % k_dashes; dash != 0) out += fmt::format(" ap-d{}", dash);
    return out;
}

class PlotDrawing {
public:
    explicit PlotDrawing(const PlotSpec& spec) : spec_(spec) {
        for (const Curve& curve : spec.curves)
            if (curve.x.size() != curve.y.size())
                throw Error(
                    fmt::format("curve '{}' has {} x values and {} y values", curve.label, curve.x.size(), curve.y.size()));
        if (spec.width < 160 || spec.height < 120) throw Error("a plot needs at least 160 x 120 pixels");
        y_label_ = spec.y_label.empty() && spec.curves.size() == 1 ? spec.curves.front().label : spec.y_label;
        if (spec.curves.size() > 1) make_legend();
        measure_data();
    }

    std::string draw() {
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
            text("ap-quiet", view_.left + view_.width / 2, view_.top + view_.height / 2, "middle", "no data to show");
            line("ap-axis", view_.left, view_.top + view_.height, view_.left + view_.width, view_.top + view_.height);
        } else {
            draw_grid();
            draw_curves();
            draw_axes();
        }
        draw_labels();
        draw_legend();
        out_ += "</svg>\n";
        return std::move(out_);
    }

private:
    // ------------------------------------------------------------ what there is to show

    void measure_data() {
        Extent x, y;
        for (const Curve& curve : spec_.curves) {
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
        for (const Curve& curve : spec_.curves) {
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
        y_ticks_ = make_ticks(view_.y, tick_step(view_.y, std::max(2, static_cast<int>(view_.height / k_tick_space_y))));
        // as many ticks along x as their labels leave room for
        int intervals = std::max(2, static_cast<int>(view_.width / k_tick_space_x));
        x_ticks_ = make_ticks(view_.x, tick_step(view_.x, intervals));
        while (intervals > 2 && labels_collide()) x_ticks_ = make_ticks(view_.x, tick_step(view_.x, --intervals));
        if (!spec_.equal_axes) return;
        // one step for both axes makes the squares of the grid square, if it leaves ticks on both
        const bool x_is_wider = x_ticks_.step.value() > y_ticks_.step.value();
        Ticks shared = x_is_wider ? make_ticks(view_.y, x_ticks_.step) : make_ticks(view_.x, y_ticks_.step);
        if (shared.major.size() >= 2) (x_is_wider ? y_ticks_ : x_ticks_) = std::move(shared);
    }

    [[nodiscard]] bool labels_collide() const {
        double widest = 0;
        for (const std::string& label : x_ticks_.labels) widest = std::max(widest, text_width(label, k_tick_size));
        return x_ticks_.step.value() / (view_.x.high - view_.x.low) * view_.width < widest + 14;
    }

    [[nodiscard]] bool has_header() const { return !spec_.title.empty() || spec_.mark_start; }

    [[nodiscard]] double entry_width(std::size_t entry) const {
        const bool sample = entry < k_legend_most;
        return (sample ? k_legend_swatch + k_legend_gap : 0) + text_width(legend_labels_[entry], k_tick_size);
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
        const std::string title = escape_xml(spec_.title.empty() ? y_label_ : spec_.title);
        out_ = fmt::format(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"ap-plot\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" "
            "role=\"img\" aria-label=\"{2}\">\n<title>{2}</title>\n",
            spec_.width, spec_.height, title);
        out_ += k_style;
        out_ += fmt::format("<rect class=\"ap-bg\" width=\"{}\" height=\"{}\"/>\n", spec_.width, spec_.height);
    }

    void text(std::string_view style, double x, double y, std::string_view anchor, std::string_view content) {
        out_ += fmt::format("<text class=\"{}\" x=\"{}\" y=\"{}\" text-anchor=\"{}\">{}</text>\n", style, pixel_text(x),
                            pixel_text(y), anchor, escape_xml(content));
    }

    void line(std::string_view style, double x1, double y1, double x2, double y2) {
        out_ += fmt::format("<path class=\"{}\" d=\"M{} {}L{} {}\"/>\n", style, pixel_text(x1), pixel_text(y1), pixel_text(x2),
                            pixel_text(y2));
    }

    // thin lines fall on whole pixels, so that they are sharp
    [[nodiscard]] double sharp_x(double value) const { return std::floor(view_.to_x(value)) + 0.5; }
    [[nodiscard]] double sharp_y(double value) const { return std::floor(view_.to_y(value)) + 0.5; }

    void grid_lines(std::string_view style, const std::vector<double>& xs, const std::vector<double>& ys) {
        std::string d;
        for (const double x : xs)
            d += fmt::format("M{} {}V{}", pixel_text(sharp_x(x)), pixel_text(view_.top), pixel_text(view_.top + view_.height));
        for (const double y : ys)
            d += fmt::format("M{} {}H{}", pixel_text(view_.left), pixel_text(sharp_y(y)), pixel_text(view_.left + view_.width));
        if (!d.empty()) out_ += fmt::format("<path class=\"{}\" d=\"{}\"/>\n", style, d);
    }

    void draw_grid() {
        grid_lines("ap-fine", x_ticks_.minor, y_ticks_.minor);
        grid_lines("ap-grid", x_ticks_.major, y_ticks_.major);
        if (view_.y.low < 0 && view_.y.high > 0) grid_lines("ap-zero", {}, {0.0});
        if (spec_.equal_axes && view_.x.low < 0 && view_.x.high > 0) grid_lines("ap-zero", {0.0}, {});
    }

    void draw_curves() {
        for (std::size_t i = 0; i < strokes_.size(); ++i) {
            std::string d;
            for (const Stroke& stroke : strokes_[i])
                if (stroke.size() > 1) d += path_data(stroke);
            if (!d.empty())
                out_ += fmt::format("<path class=\"{}\" d=\"{}\"><title>{}</title></path>\n", line_class(i), d,
                                    escape_xml(spec_.curves[i].label));
            // a point without neighbours has no line to be seen by
            for (const Stroke& stroke : strokes_[i])
                if (stroke.size() == 1) dot(i, stroke.front(), 3);
        }
        if (!spec_.mark_start) return;
        for (std::size_t i = 0; i < strokes_.size(); ++i) {
            if (strokes_[i].empty()) continue;
            dot(i, strokes_[i].front().front(), 3.5);
            const ScreenPoint& last = strokes_[i].back().back();
            out_ += fmt::format("<circle class=\"ap-end ap-c{}\" cx=\"{}\" cy=\"{}\" r=\"5.5\"/>\n", i % k_colours,
                                pixel_text(last.x), pixel_text(last.y));
        }
    }

    void dot(std::size_t curve, const ScreenPoint& at, double radius) {
        out_ += fmt::format("<circle class=\"ap-f{}\" cx=\"{}\" cy=\"{}\" r=\"{}\"/>\n", curve % k_colours, pixel_text(at.x),
                            pixel_text(at.y), pixel_text(radius));
    }

    void draw_axes() {
        const double left = std::floor(view_.left) + 0.5;
        const double bottom = std::floor(view_.top + view_.height) + 0.5;
        std::string d = fmt::format("M{} {}V{}H{}", pixel_text(left), pixel_text(view_.top), pixel_text(bottom),
                                    pixel_text(view_.left + view_.width));
        for (const double x : x_ticks_.major)
            d += fmt::format("M{} {}v{}", pixel_text(sharp_x(x)), pixel_text(bottom), k_tick_length);
        for (const double y : y_ticks_.major)
            d += fmt::format("M{} {}h-{}", pixel_text(left), pixel_text(sharp_y(y)), k_tick_length);
        out_ += fmt::format("<path class=\"ap-axis\" d=\"{}\"/>\n", d);
        for (std::size_t i = 0; i < x_ticks_.major.size(); ++i)
            text("ap-tick", view_.to_x(x_ticks_.major[i]), bottom + k_tick_length + k_tick_size + 2, "middle",
                 x_ticks_.labels[i]);
        for (std::size_t i = 0; i < y_ticks_.major.size(); ++i)
            text("ap-tick", left - k_tick_length - 5, view_.to_y(y_ticks_.major[i]) + k_tick_size * 0.36, "end",
                 y_ticks_.labels[i]);
        if (!y_ticks_.note.empty()) text("ap-tick", view_.left, view_.top - 7, "start", y_ticks_.note);
    }

    void draw_labels() {
        const double baseline = k_edge + k_title_size - 2;
        const double right = view_.left + view_.width;
        const std::string marks = spec_.mark_start && !empty_ ? "●\u2009start   ○\u2009end" : "";
        const double marks_width = marks.empty() ? 0 : text_width(marks, k_tick_size) + 12;
        if (!spec_.title.empty())
            text("ap-title", view_.left, baseline, "start",
                 fit_text(spec_.title, k_title_size * 1.05, right - view_.left - marks_width));
        if (!marks.empty()) text("ap-quiet", right, baseline, "end", marks);

        // the note of the x axis is part of its label's line
        const double label_y = spec_.height - k_edge + 2;
        if (!spec_.x_label.empty())
            text("ap-label", view_.left + view_.width / 2, label_y, "middle",
                 fit_text(spec_.x_label, k_label_size, view_.width * 0.7));
        if (!empty_ && !x_ticks_.note.empty()) text("ap-tick", right, label_y, "end", x_ticks_.note);
        if (!y_label_.empty()) {
            const double x = k_edge + k_label_size - 3;
            const double y = view_.top + view_.height / 2;
            out_ += fmt::format(
                "<text class=\"ap-label\" transform=\"translate({} {}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n",
                pixel_text(x), pixel_text(y), escape_xml(fit_text(y_label_, k_label_size, view_.height)));
        }
    }

    void legend_entry(std::size_t entry, double x, double y) {
        if (entry < k_legend_most) {
            line(line_class(entry), x, y - 4, x + k_legend_swatch, y - 4);
            x += k_legend_swatch + k_legend_gap;
        }
        text("ap-tick", x, y, "start", legend_labels_[entry]);
    }

    void draw_legend() {
        if (legend_labels_.empty() || empty_) return;
        if (place_) {
            double width = 0;
            for (std::size_t i = 0; i < legend_labels_.size(); ++i) width = std::max(width, entry_width(i));
            out_ += fmt::format("<rect class=\"ap-veil\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"3\"/>\n",
                                pixel_text(place_->left - 6), pixel_text(place_->top - 3), pixel_text(width + 12),
                                pixel_text(static_cast<double>(legend_labels_.size()) * k_legend_row + 6));
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
    std::string y_label_;
    std::vector<std::string> legend_labels_;  // the last may be a count of those left out
    bool empty_ = true;
    AxisRange x_, y_;  // of the data, with padding
    Viewport view_;
    Ticks x_ticks_, y_ticks_;
    std::vector<std::vector<Stroke>> strokes_;  // by curve, thinned
    std::optional<LegendPlace> place_;          // the free corner, if there is one
    std::string out_;
};

}  // namespace

std::string render_svg(const PlotSpec& spec) { return PlotDrawing(spec).draw(); }

}  // namespace appell
