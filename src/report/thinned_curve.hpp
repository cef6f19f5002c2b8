// A curve of any length in bounded memory, point by point: consecutive points are gathered in cells, and a cell that holds many
// keeps its first and last point and the outermost ones, left, right, lowest and highest. When there are too many cells,
// neighbours become one. No extreme of the curve is ever lost, and a curve of few points is kept whole.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "report/svg_plot.hpp"

namespace appell {

class ThinnedCurve {
public:
    explicit ThinnedCurve(std::size_t most_cells = 4096) : most_cells_(most_cells) {}

    // `t`: when it was, where x is not that
    void add(double x, double y, double t = 0);
    // appended to the curve, in order
    void append_to(Curve& curve) const;
    [[nodiscard]] std::vector<double> times() const;  // the t of these points
    // no point was left out
    [[nodiscard]] bool whole() const { return per_cell_ <= k_kept; }

private:
    static constexpr std::size_t k_kept = 6;
    struct Point {
        double x, y, t;
    };
    struct Cell {
        std::array<Point, k_kept> points;
        std::size_t count = 0;  // of those in use
    };

    static void add_to(Cell& cell, const Point& point);
    void halve();

    std::size_t most_cells_;
    std::size_t points_ = 0;    // so far
    std::size_t per_cell_ = 1;  // points that a cell stands for, the last one perhaps for fewer
    std::vector<Cell> cells_;
};

}  // namespace appell
