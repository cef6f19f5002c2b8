#include "report/scene.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace appell {

namespace {

// Jacobi's rotations on a symmetric 3 x 3 matrix: `values` on its diagonal, `vectors` as columns
void principal_axes(std::array<double, 9> a, std::array<double, 3>& values, std::array<double, 9>& vectors) {
    vectors = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    for (int sweep = 0; sweep < 30; ++sweep) {
        const double off = std::abs(a[1]) + std::abs(a[2]) + std::abs(a[5]);
        if (off <= 1e-15 * (std::abs(a[0]) + std::abs(a[4]) + std::abs(a[8]))) break;
        for (std::size_t p = 0; p < 2; ++p)
            for (std::size_t q = p + 1; q < 3; ++q) {
                if (a[3 * p + q] == 0) continue;
                const double theta = 0.5 * std::atan2(2 * a[3 * p + q], a[3 * q + q] - a[3 * p + p]);
                const double c = std::cos(theta), s = std::sin(theta);
                for (std::size_t k = 0; k < 3; ++k) {
                    const double x = a[3 * k + p], y = a[3 * k + q];
                    a[3 * k + p] = c * x - s * y;
                    a[3 * k + q] = s * x + c * y;
                }
                for (std::size_t k = 0; k < 3; ++k) {
                    const double x = a[3 * p + k], y = a[3 * q + k];
                    a[3 * p + k] = c * x - s * y;
                    a[3 * q + k] = s * x + c * y;
                }
                for (std::size_t k = 0; k < 3; ++k) {
                    const double x = vectors[3 * k + p], y = vectors[3 * k + q];
                    vectors[3 * k + p] = c * x - s * y;
                    vectors[3 * k + q] = s * x + c * y;
                }
            }
    }
    values = {a[0], a[4], a[8]};
}

std::array<double, 9> columns_in_order(const std::array<double, 9>& axes, const std::array<std::size_t, 3>& order) {
    std::array<double, 9> out{};
    for (std::size_t row = 0; row < 3; ++row)
        for (std::size_t column = 0; column < 3; ++column) out[3 * row + column] = axes[3 * row + order[column]];
    // right-handed
    const double det = out[0] * (out[4] * out[8] - out[5] * out[7]) - out[1] * (out[3] * out[8] - out[5] * out[6]) +
                       out[2] * (out[3] * out[7] - out[4] * out[6]);
    if (det < 0)
        for (std::size_t row = 0; row < 3; ++row) out[3 * row] = -out[3 * row];
    return out;
}

}  // namespace

SolidShape solid_shape(double mass, const std::array<double, 9>& inertia) {
    SolidShape out;
    if (!(mass > 0) || !std::all_of(inertia.begin(), inertia.end(), [](double v) { return std::isfinite(v); })) return out;
    std::array<double, 3> moment{};
    std::array<double, 9> axes{};
    principal_axes(inertia, moment, axes);
    const double largest = std::max({moment[0], moment[1], moment[2]});
    if (!(largest > 0)) return out;
    const auto equal = [&](double a, double b) { return std::abs(a - b) <= 1e-6 * largest; };
    const auto root = [](double square) { return std::sqrt(std::max(square, 0.0)); };

    if (equal(moment[0], moment[1]) && equal(moment[1], moment[2])) {
        out.kind = SolidShape::Kind::ball;
        out.size = {root(2.5 * largest / mass), 0, 0};
        out.axes = {1, 0, 0, 0, 1, 0, 0, 0, 1};
        return out;
    }
    for (std::size_t own = 0; own < 3; ++own) {
        const std::size_t i = (own + 1) % 3, j = (own + 2) % 3;
        if (!equal(moment[i], moment[j])) continue;
        // I_own = m r^2/2, I_across = m (3 r^2 + l^2)/12
        const double radius = root(2 * moment[own] / mass);
        out.kind = SolidShape::Kind::cylinder;
        out.size = {radius, root(12 * moment[i] / mass - 3 * radius * radius), 0};
        out.axes = columns_in_order(axes, {i, j, own});
        return out;
    }
    // I_1 = m (b^2 + c^2)/12 and so on
    const double sum = moment[0] + moment[1] + moment[2];
    out.kind = SolidShape::Kind::box;
    for (std::size_t i = 0; i < 3; ++i) out.size[i] = root(6 * (sum - 2 * moment[i]) / mass);
    out.axes = columns_in_order(axes, {0, 1, 2});
    return out;
}

}  // namespace appell
