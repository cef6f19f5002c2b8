// Constraint rows as functions of the speeds, at given configurations, with fifty digits: what the doctor's findings about rows
// are decided with.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "doctor/samples.hpp"
#include "dynam/constrained_dynamics.hpp"

namespace appell {

using Vector50 = std::vector<Digits50>;

// a fixed generator: the same numbers on every machine
class Draws {
public:
    explicit Draws(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15ull + 0x2545f4914f6cdd1dull) {}
    [[nodiscard]] double symmetric();  // [-1, 1)

private:
    std::uint64_t state_;
};

// A row of velocity level, or the derivative of a position row: its value and its gradient by the speeds.
struct RowValue {
    Digits50 value;
    Vector50 gradient;
    [[nodiscard]] bool finite() const;
};

// the gradient of one row by the speeds: what is not structurally zero
struct GradientEntries {
    std::vector<NodeId> values;
    std::vector<std::uint32_t> columns;
};
[[nodiscard]] GradientEntries gradient_entries(const ConstrainedDynamics& dynamics, std::size_t row);

// The rows at one state, whose speeds may be replaced. Rows of acceleration level have a gradient only.
class RowsAt {
public:
    RowsAt(const ConstrainedDynamics& dynamics, const Samples& samples, std::span<const Digits50> state);

    [[nodiscard]] const Vector50& speeds() const { return u_; }
    [[nodiscard]] RowValue at(std::size_t row, std::span<const Digits50> u) const;
    [[nodiscard]] RowValue at(std::size_t row) const { return at(row, u_); }
    [[nodiscard]] double speed_size() const;  // 1 + the largest of the speeds

private:
    const ConstrainedDynamics& d_;
    std::vector<Digits50> values_;  // by symbol
    Vector50 u_;
};

[[nodiscard]] Digits50 largest(std::span<const Digits50> v);
[[nodiscard]] Digits50 dot(std::span<const Digits50> v, std::span<const Digits50> w);

// The rows that are affine in the speeds at the configurations of all states, whatever the speeds; position rows always are.
[[nodiscard]] std::vector<bool> affine_rows(const ConstrainedDynamics& dynamics, const Samples& samples);

// x, of n numbers, of least length with A x = r; none where the rows contradict each other
[[nodiscard]] std::optional<Vector50> least_solution(const std::vector<Vector50>& rows, std::span<const Digits50> r,
                                                     std::size_t n);

// Rows that are independent, in their order; `bar` as DenseRank's.
[[nodiscard]] std::vector<std::size_t> independent_rows(const std::vector<Vector50>& rows, const Digits50& bar = Digits50(1e-30));
// row = sum c_j others_j with `others` independent; none where it is independent of them
[[nodiscard]] std::optional<Vector50> combination(const std::vector<Vector50>& others, const Vector50& row,
                                                  const Digits50& bar = Digits50(1e-30));

// States near the start at which the independent ones among the position rows hold, and then the independent ones among the rows
// that are affine; the other rows need not. For models without consistent states: what contradicts itself can still be looked
// at. None for models with quaternions, and where the position rows can not be reached.
[[nodiscard]] Samples random_configurations(const ConstrainedDynamics& dynamics, const Samples& samples);
// Consistent states close to the start, and so on its branch of the rows. None for models with quaternions.
[[nodiscard]] Samples states_near_start(const ConstrainedDynamics& dynamics, const Samples& samples);

}  // namespace appell
