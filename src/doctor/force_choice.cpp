#include "doctor/force_choice.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

namespace appell {

namespace {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;
using RowMajor = Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;

constexpr double k_dependent = 1e-9;  // states are on the constraints to round-off
constexpr double k_change = 1e-6;     // relative to the forces at work: above what the rank's bar lets through

Eigen::Index index(std::size_t i) { return static_cast<Eigen::Index>(i); }

}  // namespace

ForceChoice look_at_choice(const ForcesAtState& s) {
    ForceChoice out;
    const Eigen::Index n = index(s.speeds), m = index(s.rows);
    if (m < 1 || n == 0) return out;
    const RowMajor M(s.M.data(), n, n), A(s.A.data(), m, n), slope(s.slope.data(), n, m), ideal(s.ideal_slope.data(), n, m);
    if (!M.allFinite() || !A.allFinite() || !slope.allFinite() || !ideal.allFinite()) return out;
    // free of units: kinetic energy, and rows of unit length in that metric
    Vector unit(n), length(m);
    for (Eigen::Index i = 0; i < n; ++i) unit(i) = M(i, i) > 0 ? 1 / std::sqrt(M(i, i)) : 1;
    Matrix rows = A * unit.asDiagonal();
    for (Eigen::Index k = 0; k < m; ++k) {
        length(k) = rows.row(k).norm() > 0 ? rows.row(k).norm() : 1;
        rows.row(k) /= length(k);
    }
    Eigen::JacobiSVD<Matrix> svd(rows, Eigen::ComputeFullU);
    svd.setThreshold(k_dependent);
    const Eigen::Index rank = svd.rank(), free = m - rank;
    if (free == 0) return out;
    const Matrix null = svd.matrixU().rightCols(free);
    for (Eigen::Index k = 0; k < m; ++k)
        if (null.row(k).norm() > k_change) out.rows.push_back(static_cast<std::size_t>(k));
    // multipliers of unit rows are lambda times the lengths
    const Matrix law = unit.asDiagonal() * slope * length.cwiseInverse().asDiagonal();
    const Matrix all = law + Matrix(unit.asDiagonal() * ideal * length.cwiseInverse().asDiagonal());
    Vector lambda(m), rate(n);
    for (Eigen::Index k = 0; k < m; ++k) lambda(k) = s.multipliers[static_cast<std::size_t>(k)] * length(k);
    for (Eigen::Index i = 0; i < n; ++i) rate(i) = s.rate[static_cast<std::size_t>(i)] / unit(i);
    const Matrix by_choice = all * null * lambda.norm();
    const double size = rate.norm() + lambda.norm();
    if (!std::isfinite(size) || !(by_choice.norm() > k_change * size)) return out;
    out.law = true;
    // of least norm as written: N' lambda = 0
    const Matrix least = length.cwiseInverse().cwiseAbs2().asDiagonal() * null;
    Matrix K = Matrix::Zero(n + m, n + m);
    K.topLeftCorner(n, n) = unit.asDiagonal() * M * unit.asDiagonal();
    K.topRightCorner(n, m) = -rows.transpose() - law;
    K.bottomLeftCorner(m, n) = rows;
    K.bottomRightCorner(m, m) = null * Matrix(least.householderQr().householderQ() * Matrix::Identity(m, free)).transpose();
    Matrix right = Matrix::Zero(n + m, free);
    right.topRows(n) = by_choice;
    out.motion = Matrix(K.fullPivLu().solve(right)).topRows(n).norm() > k_change * size;
    return out;
}

}  // namespace appell
