// The velocities that differ least, in the metric of mass, among all that rows allow:
//     min du' M du,   A du = b,   C du >= h.
// Rows may depend on each other. By Lawson and Hanson, Solving Least Squares Problems, chapter 23.
#pragma once

#include <optional>
#include <span>
#include <vector>

namespace appell {

// matrices row by row, with as many columns as there are speeds; of M the lower triangle counts
struct LeastChange {
    std::vector<double> M, A, b, C, h;
};

// None where nothing satisfies the rows, or where something without mass is free.
[[nodiscard]] std::optional<std::vector<double>> least_change(const LeastChange& problem, std::size_t speeds);

}  // namespace appell
