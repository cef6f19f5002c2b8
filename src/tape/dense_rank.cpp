#include "tape/dense_rank.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace appell {

namespace {

const Digits50 k_round_off = 1e-42;  // of the largest entry of a matrix

}  // namespace

DenseRank::DenseRank(std::vector<Digits50> entries, std::size_t columns, const Digits50& bar)
    : columns_(columns), a_(std::move(entries)) {
    if (columns_ == 0) {
        if (!a_.empty()) throw Error("a matrix without columns has no entries");
        return;
    }
    const std::size_t rows = a_.size() / columns_;
    std::vector<std::size_t> order(rows);
    Digits50 overall(0);
    for (const Digits50& x : a_) overall = std::max(overall, Digits50(abs(x)));
    for (std::size_t i = 0; i < rows; ++i) {
        order[i] = i;
        Digits50 largest(0);
        for (std::size_t j = 0; j < columns_; ++j) largest = std::max(largest, Digits50(abs(a_[i * columns_ + j])));
        // a row of round-off must not be blown up to a row of numbers
        const bool zero = !(largest > k_round_off * overall);
        for (std::size_t j = 0; j < columns_; ++j) a_[i * columns_ + j] = zero ? Digits50(0) : a_[i * columns_ + j] / largest;
    }
    std::vector<bool> taken(columns_, false);
    Digits50 first(0);
    for (std::size_t k = 0; k < std::min(rows, columns_); ++k) {
        std::size_t row = k, column = 0;
        Digits50 largest(0);
        for (std::size_t i = k; i < rows; ++i)
            for (std::size_t j = 0; j < columns_; ++j) {
                const Digits50 size = abs(a_[i * columns_ + j]);
                if (!taken[j] && size > largest) {
                    largest = size;
                    row = i;
                    column = j;
                }
            }
        if (!(largest > bar)) break;
        if (k == 0) first = largest;
        smallest_ = std::min(smallest_, static_cast<double>(Digits50(largest / first)));
        std::swap_ranges(a_.begin() + static_cast<std::ptrdiff_t>(k * columns_),
                         a_.begin() + static_cast<std::ptrdiff_t>((k + 1) * columns_),
                         a_.begin() + static_cast<std::ptrdiff_t>(row * columns_));
        std::swap(order[k], order[row]);
        taken[column] = true;
        const Digits50 pivot = a_[k * columns_ + column];
        for (std::size_t j = 0; j < columns_; ++j) a_[k * columns_ + j] /= pivot;
        for (std::size_t i = 0; i < rows; ++i) {
            const Digits50 factor = a_[i * columns_ + column];
            if (i == k || factor == 0) continue;
            for (std::size_t j = 0; j < columns_; ++j) a_[i * columns_ + j] -= factor * a_[k * columns_ + j];
            a_[i * columns_ + column] = 0;
        }
        pivot_columns_.push_back(column);
    }
    pivot_rows_.assign(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(pivot_columns_.size()));
    for (std::size_t j = 0; j < columns_; ++j)
        if (!taken[j]) free_columns_.push_back(j);
}

std::vector<std::vector<Digits50>> DenseRank::null_space() const {
    std::vector<std::vector<Digits50>> out;
    for (const std::size_t free : free_columns_) {
        std::vector<Digits50>& x = out.emplace_back(columns_, Digits50(0));
        x[free] = 1;
        for (std::size_t k = 0; k < rank(); ++k) x[pivot_columns_[k]] = -a_[k * columns_ + free];
    }
    return out;
}

}  // namespace appell
