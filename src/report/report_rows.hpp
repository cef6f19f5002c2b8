// The rows of a run as a report needs them, in bounded memory and bounded bytes: every column that is plotted as a thinned curve
// over time, which keeps all extremes, columns that are plotted against each other together, and the scene as frames, whole rows
// of which every second is dropped when there are too many.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "report/row_layout.hpp"
#include "report/thinned_curve.hpp"

namespace appell {

class ReportRows {
public:
    // `works`: entries of the energy ledger
    ReportRows(const RowLayout& layout, std::size_t works);

    void add(double t, std::span<const double> row);

    struct Column {
        std::size_t column;
        ThinnedCurve curve;  // over t
    };
    [[nodiscard]] const std::vector<Column>& columns() const { return columns_; }
    [[nodiscard]] const Column* find(std::size_t column) const;

    // Two columns against each other. Each thinned over time by itself, they would keep extremes at times of their own, and what
    // is drawn between them would be no path.
    struct Pair {
        std::size_t x, y;
        ThinnedCurve curve;
    };
    [[nodiscard]] const Pair* find_pair(std::size_t x, std::size_t y) const;

    // --- frames of the scene
    [[nodiscard]] std::size_t frames() const { return times_.size(); }
    [[nodiscard]] std::span<const double> times() const { return times_; }
    [[nodiscard]] double at(std::size_t frame, std::size_t column) const { return frames_[frame * width_ + column - first_]; }

private:
    void keep(double t, std::span<const double> row);
    void drop_every_second();

    std::vector<Column> columns_;
    std::vector<Pair> pairs_;
    std::size_t first_, width_;  // of the scene's columns
    std::size_t most_frames_;
    std::size_t rows_ = 0, spacing_ = 1;
    bool last_is_extra_ = false;  // the last frame is only there because it is the last
    std::vector<double> times_;
    std::vector<float> frames_;  // pixels need no more digits
};

}  // namespace appell
