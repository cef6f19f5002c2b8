#include "report/report_rows.hpp"

#include <algorithm>

namespace appell {

namespace {

constexpr std::size_t k_most_columns = 240;
constexpr std::size_t k_column_values = 40'000, k_scene_values = 120'000;  // in all
constexpr std::size_t k_most_cells = 256, k_least_cells = 24;
// a path shows its shape, and takes more points than a signal
constexpr std::size_t k_pair_values = 40'000, k_most_pair_cells = 1024;
constexpr std::size_t k_most_frames = 1200, k_least_frames = 100;

}  // namespace

ReportRows::ReportRows(const RowLayout& layout, std::size_t works)
    : first_(layout.scene.first),
      width_(layout.scene.columns),
      most_frames_(width_ == 0 ? 0 : std::clamp(k_scene_values / width_, k_least_frames, k_most_frames)) {
    // what the plots show comes first, should there be too many
    std::vector<std::size_t> wanted;
    std::vector<std::pair<std::size_t, std::size_t>> against;
    const auto want = [&](std::size_t column) {
        if (column != RowLayout::k_time && std::find(wanted.begin(), wanted.end(), column) == wanted.end() &&
            wanted.size() < k_most_columns)
            wanted.push_back(column);
    };
    for (const RowLayout::PlotColumns& plot : layout.plots)
        for (const RowLayout::TraceColumns& trace : plot.traces) {
            want(trace.x);
            want(trace.y);
            if (trace.x != RowLayout::k_time && against.size() < k_most_columns) against.emplace_back(trace.x, trace.y);
        }
    for (std::size_t c = layout.kinetic; c <= layout.works + works; ++c) want(c);
    for (std::size_t c = layout.residuals; c < layout.kinetic; ++c) want(c);
    for (std::size_t c = layout.outputs; c < layout.visible; ++c) want(c);
    for (std::size_t c = layout.multipliers; c < layout.residuals; ++c) want(c);
    for (std::size_t c = 0; c < layout.multipliers; ++c) want(c);
    const std::size_t cells =
        std::clamp(k_column_values / (6 * std::max<std::size_t>(wanted.size(), 1)), k_least_cells, k_most_cells);
    for (const std::size_t column : wanted) columns_.push_back({column, ThinnedCurve(cells)});
    const std::size_t pair_cells =
        std::clamp(k_pair_values / (18 * std::max<std::size_t>(against.size(), 1)), k_least_cells, k_most_pair_cells);
    for (const auto& [x, y] : against) pairs_.push_back({x, y, ThinnedCurve(pair_cells)});
}

const ReportRows::Column* ReportRows::find(std::size_t column) const {
    const auto found = std::find_if(columns_.begin(), columns_.end(), [&](const Column& c) { return c.column == column; });
    return found == columns_.end() ? nullptr : &*found;
}

const ReportRows::Pair* ReportRows::find_pair(std::size_t x, std::size_t y) const {
    const auto found = std::find_if(pairs_.begin(), pairs_.end(), [&](const Pair& p) { return p.x == x && p.y == y; });
    return found == pairs_.end() ? nullptr : &*found;
}

void ReportRows::add(double t, std::span<const double> row) {
    for (Pair& p : pairs_) p.curve.add(row[p.x], row[p.y], t);
    for (Column& c : columns_) c.curve.add(t, row[c.column]);
    if (width_ == 0) return;
    if (last_is_extra_) {
        times_.pop_back();
        frames_.resize(frames_.size() - width_);
    }
    if (times_.size() == most_frames_ && rows_ % spacing_ == 0) drop_every_second();
    last_is_extra_ = rows_ % spacing_ != 0;
    keep(t, row);
    ++rows_;
}

void ReportRows::keep(double t, std::span<const double> row) {
    times_.push_back(t);
    for (std::size_t i = 0; i < width_; ++i) frames_.push_back(static_cast<float>(row[first_ + i]));
}

void ReportRows::drop_every_second() {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < times_.size(); i += 2, ++kept) {
        times_[kept] = times_[i];
        std::copy_n(frames_.begin() + static_cast<std::ptrdiff_t>(i * width_), width_,
                    frames_.begin() + static_cast<std::ptrdiff_t>(kept * width_));
    }
    times_.resize(kept);
    frames_.resize(kept * width_);
    spacing_ *= 2;
}

}  // namespace appell
