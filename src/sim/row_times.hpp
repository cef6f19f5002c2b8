// When a run writes rows.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "sim/checkpoint.hpp"
#include "sim/simulate.hpp"

namespace appell {

// the times of rows: products, never sums, the times that were listed, and the end itself
class RowTimes {
public:
    explicit RowTimes(const SimulateOptions& options)
        : t0_(options.t0), t1_(options.t1), every_(options.every), direction_(options.t1 < options.t0 ? -1 : 1) {
        if (every_ > 0) {
            const double whole = std::abs(t1_ - t0_) / every_;
            // a last product that misses the end by round-off is the end
            last_ = std::ceil(whole - 1e-9 * std::max(1.0, whole * 1e-3));
            if (t0_ != t1_) last_ = std::max(last_, 1.0);
        }
        for (const double t : options.at)
            if (before(t0_, t) && before(t, t1_)) listed_.push_back(t);
        std::sort(listed_.begin(), listed_.end(), [&](double a, double b) { return direction_ * (b - a) > 0; });
        listed_.erase(std::unique(listed_.begin(), listed_.end()), listed_.end());
    }
    [[nodiscard]] bool every_step() const { return every_ <= 0; }
    [[nodiscard]] double count() const { return last_ + 1 + static_cast<double>(listed_.size()); }
    [[nodiscard]] bool done() const { return grid_done() && place_ == listed_.size(); }
    [[nodiscard]] double next() const {
        if (place_ == listed_.size()) return grid();
        return grid_done() || !before(grid(), listed_[place_]) ? listed_[place_] : grid();
    }
    // but for round-off
    [[nodiscard]] bool due_at(double t) const { return !done() && !before(t, next()) && !before(next(), t); }
    void advance() {
        const double t = next();
        if (place_ < listed_.size() && t == listed_[place_]) ++place_;
        // a product that is a listed time but for round-off is not written again
        if (!grid_done() && !before(t, grid())) ++index_;
    }
    void checkpoint(Checkpoint& c) {
        c("rows.index", index_);
        c("rows.listed", place_);
    }
    // can these be the rows to come of a run that is at t?
    [[nodiscard]] bool fit(double t) const {
        return place_ <= listed_.size() && index_ >= 1 && index_ <= last_ + 1 && index_ == std::floor(index_) &&
               (done() || !before(next(), t));
    }

private:
    [[nodiscard]] double grid() const { return index_ >= last_ ? t1_ : t0_ + direction_ * (index_ * every_); }
    [[nodiscard]] bool grid_done() const { return every_step() || index_ > last_; }
    // by more than round-off
    [[nodiscard]] bool before(double a, double b) const {
        return direction_ * (b - a) > 1e-12 * std::max({std::abs(a), std::abs(b), 1e-3 * std::abs(t1_ - t0_)});
    }

    double t0_, t1_, every_, direction_;
    double last_ = 0;   // index of the row at t1
    double index_ = 1;  // the row at t0 is written first of all
    std::vector<double> listed_;
    std::size_t place_ = 0;
};

}  // namespace appell
