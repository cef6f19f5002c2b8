// What a row is as a function on a plane of velocities u_k + S y, at one configuration.
#pragma once

#include "doctor/linear_factors.hpp"
#include "doctor/row_values.hpp"

namespace appell {

struct RowShape {
    bool genuine = true;  // nonlinear in truth; else:
    LinearTruth truth = LinearTruth::factor;
    bool quadratic = false;         // or of lower degree
    std::size_t count = 0;          // linear equations behind it
    std::vector<Vector50> normals;  // of the equations that hold at u_k: by speed, then the constant; none for `product`
                                    // at a state where the factors meet

    [[nodiscard]] bool like(const RowShape& other) const {
        return genuine == other.genuine &&
               (genuine || (truth == other.truth && count == other.count && quadratic == other.quadratic));
    }
};

// `S` spans the plane; the row is the d.rows[row] of `at`
[[nodiscard]] RowShape row_shape(const ConstrainedDynamics& dynamics, const Samples& samples, std::span<const Digits50> state,
                                 std::size_t row, const std::vector<Vector50>& S);

// positive and negative squares of a symmetric form, by elimination with symmetric pivoting
struct Inertia {
    std::size_t positive = 0, negative = 0;
};
[[nodiscard]] Inertia inertia(std::vector<Vector50> form, const Digits50& bar = Digits50(1e-30));

}  // namespace appell
