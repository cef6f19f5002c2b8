#include "report/thinned_curve.hpp"

#include <algorithm>
#include <cmath>

namespace appell {

// Of seven points, those that are first, last or outermost are kept. Values that are not finite are gaps of the curve: the first
// and the last of a run of them are kept like any other.
void ThinnedCurve::add_to(Cell& cell, const Point& point) {
    if (cell.count < k_kept) {
        cell.points[cell.count++] = point;
        return;
    }
    std::array<Point, k_kept + 1> all;
    std::copy(cell.points.begin(), cell.points.end(), all.begin());
    all.back() = point;
    std::array<bool, k_kept + 1> keep{};
    keep.front() = keep.back() = true;
    const auto outermost = [&](auto value) {
        // NOTE: comparisons with nan are false, so that finite values win over it
        std::size_t best = 0;
        for (std::size_t i = 1; i < all.size(); ++i)
            if (value(all[i]) > value(all[best]) || std::isnan(value(all[best]))) best = i;
        keep[best] = true;
    };
    outermost([](const Point& p) { return p.x; });
    outermost([](const Point& p) { return -p.x; });
    outermost([](const Point& p) { return p.y; });
    outermost([](const Point& p) { return -p.y; });
    // one of the seven is dropped, and any of those that are not needed will do: the one in the middle of them
    std::size_t spare = 0;
    for (std::size_t i = 0; i < all.size(); ++i) spare += keep[i] ? 0 : 1;
    std::size_t seen = 0, dropped = all.size();
    for (std::size_t i = 0; i < all.size() && dropped == all.size(); ++i)
        if (!keep[i] && ++seen > spare / 2) dropped = i;
    cell.count = 0;
    for (std::size_t i = 0; i < all.size(); ++i)
        if (i != dropped) cell.points[cell.count++] = all[i];
}

void ThinnedCurve::add(double x, double y, double t) {
    if (points_ % per_cell_ == 0) {
        if (cells_.size() == most_cells_) halve();
        if (points_ % per_cell_ == 0) cells_.emplace_back();
    }
    add_to(cells_.back(), {x, y, t});
    ++points_;
}

void ThinnedCurve::halve() {
    for (std::size_t i = 0; 2 * i < cells_.size(); ++i) {
        Cell merged = cells_[2 * i];
        if (2 * i + 1 < cells_.size())
            for (std::size_t k = 0; k < cells_[2 * i + 1].count; ++k) add_to(merged, cells_[2 * i + 1].points[k]);
        cells_[i] = merged;
    }
    cells_.resize((cells_.size() + 1) / 2);
    per_cell_ *= 2;
}

void ThinnedCurve::append_to(Curve& curve) const {
    for (const Cell& cell : cells_)
        for (std::size_t k = 0; k < cell.count; ++k) {
            curve.x.push_back(cell.points[k].x);
            curve.y.push_back(cell.points[k].y);
        }
}

std::vector<double> ThinnedCurve::times() const {
    std::vector<double> out;
    for (const Cell& cell : cells_)
        for (std::size_t k = 0; k < cell.count; ++k) out.push_back(cell.points[k].t);
    return out;
}

}  // namespace appell
