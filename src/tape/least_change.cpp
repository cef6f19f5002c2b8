#include "tape/least_change.hpp"

#include <algorithm>

#include <Eigen/Dense>

namespace appell {

namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

// rows and columns that are shorter than this against the longest, and residuals below it, are round-off
constexpr double k_round_off = 1e-11;
// what the conditions may be off, against their largest side
constexpr double k_satisfied = 1e-9;
// sides smaller than this are none
constexpr double k_least_speed = 1e-6;
constexpr int k_most_exchanges = 1000;

// columns of E that are in use, by least squares; Lawson and Hanson, Solving Least Squares Problems, algorithm NNLS
VectorXd nonnegative_least_squares(const MatrixXd& E, const VectorXd& f) {
    const Eigen::Index n = E.cols();
    VectorXd u = VectorXd::Zero(n);
    std::vector<Eigen::Index> used;
    for (int exchanges = 0; exchanges < k_most_exchanges; ++exchanges) {
        const VectorXd w = E.transpose() * (f - E * u);
        Eigen::Index best = -1;
        for (Eigen::Index j = 0; j < n; ++j)
            if (std::ranges::find(used, j) == used.end() && w[j] > k_round_off && (best < 0 || w[j] > w[best])) best = j;
        if (best < 0) break;
        used.push_back(best);
        for (;;) {
            MatrixXd columns(E.rows(), static_cast<Eigen::Index>(used.size()));
            for (std::size_t k = 0; k < used.size(); ++k) columns.col(static_cast<Eigen::Index>(k)) = E.col(used[k]);
            const VectorXd s = columns.colPivHouseholderQr().solve(f);
            if ((s.array() > 0).all()) {
                u.setZero();
                for (std::size_t k = 0; k < used.size(); ++k) u[used[k]] = s[static_cast<Eigen::Index>(k)];
                break;
            }
            double way = 1;
            for (std::size_t k = 0; k < used.size(); ++k)
                if (const double to = s[static_cast<Eigen::Index>(k)]; to <= 0)
                    way = std::min(way, u[used[k]] / (u[used[k]] - to));
            std::vector<Eigen::Index> kept;
            for (std::size_t k = 0; k < used.size(); ++k) {
                double& value = u[used[k]];
                value += way * (s[static_cast<Eigen::Index>(k)] - value);
                if (value > k_round_off)
                    kept.push_back(used[k]);
                else
                    value = 0;
            }
            if (kept.size() == used.size()) return u;
            used = kept;
            if (used.empty()) break;
        }
    }
    return u;
}

// The shortest y with B y >= h, whose rows have unit length (ibid., algorithm LDP): the rows that hold it back are found by
// least squares, and y from them.
std::optional<VectorXd> least_distance(const MatrixXd& B, const VectorXd& h) {
    const double size = h.cwiseAbs().maxCoeff();
    if (h.maxCoeff() <= 0) return VectorXd::Zero(B.cols());
    MatrixXd E(B.cols() + 1, B.rows());
    E << B.transpose(), h.transpose() / size;
    VectorXd f = VectorXd::Zero(B.cols() + 1);
    f[B.cols()] = 1;
    const VectorXd u = nonnegative_least_squares(E, f);
    std::vector<Eigen::Index> holding;
    for (Eigen::Index i = 0; i < u.size(); ++i)
        if (u[i] > 0) holding.push_back(i);
    MatrixXd rows(static_cast<Eigen::Index>(holding.size()), B.cols());
    VectorXd sides(rows.rows());
    for (Eigen::Index k = 0; k < rows.rows(); ++k) {
        rows.row(k) = B.row(holding[static_cast<std::size_t>(k)]);
        sides[k] = h[holding[static_cast<std::size_t>(k)]];
    }
    const VectorXd y = rows.completeOrthogonalDecomposition().solve(sides);
    if (((B * y - h).array() < -k_satisfied * size).any()) return std::nullopt;
    return y;
}

MatrixXd matrix(std::span<const double> rows, std::size_t columns) {
    using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    return Eigen::Map<const Rows>(rows.data(), static_cast<Eigen::Index>(rows.size() / columns),
                                  static_cast<Eigen::Index>(columns));
}

VectorXd vector(std::span<const double> values) {
    return Eigen::Map<const VectorXd>(values.data(), static_cast<Eigen::Index>(values.size()));
}

// all du with A du = b are given + free w
struct Solutions {
    VectorXd given;
    MatrixXd free;
};

std::optional<Solutions> solutions(MatrixXd A, VectorXd b) {
    const Eigen::Index n = A.cols();
    if (A.rows() == 0) return Solutions{VectorXd::Zero(n), MatrixXd::Identity(n, n)};
    for (Eigen::Index i = 0; i < A.rows(); ++i)
        if (const double size = A.row(i).norm(); size > 0) {
            A.row(i) /= size;
            b[i] /= size;
        }
    Eigen::CompleteOrthogonalDecomposition<MatrixXd> decomposition;
    decomposition.setThreshold(k_round_off);
    decomposition.compute(A);
    const VectorXd given = decomposition.solve(b);
    if ((A * given - b).cwiseAbs().maxCoeff() > k_satisfied * std::max(k_least_speed, b.cwiseAbs().maxCoeff()))
        return std::nullopt;
    Eigen::ColPivHouseholderQR<MatrixXd> across(A.transpose());
    across.setThreshold(k_round_off);
    const MatrixXd Q = across.householderQ() * MatrixXd::Identity(n, n);
    return Solutions{given, Q.rightCols(n - across.rank())};
}

}  // namespace

std::optional<std::vector<double>> least_change(const LeastChange& problem, std::size_t speeds) {
    const MatrixXd M = matrix(problem.M, speeds).selfadjointView<Eigen::Lower>();
    const MatrixXd A = matrix(problem.A, speeds), C = matrix(problem.C, speeds);
    const VectorXd b = vector(problem.b);
    VectorXd h = vector(problem.h);
    if (!M.allFinite() || !A.allFinite() || !b.allFinite() || !C.allFinite() || !h.allFinite()) return std::nullopt;
    const std::optional<Solutions> kept = solutions(A, b);
    if (!kept) return std::nullopt;
    const auto& [given, free] = *kept;
    // with H = L L' of the free part: du = change + back y, and y as short as can be
    VectorXd change = given;
    MatrixXd back(given.size(), 0);
    if (free.cols() > 0) {
        const Eigen::LLT<MatrixXd> H(free.transpose() * M * free);
        if (H.info() != Eigen::Success) return std::nullopt;
        change -= free * H.solve(free.transpose() * M * given);
        back = free * MatrixXd(H.matrixU().solve(MatrixXd::Identity(free.cols(), free.cols())));
    }
    MatrixXd B = C * back;
    h -= C * change;
    for (Eigen::Index k = 0; k < B.rows(); ++k) {
        const double size = B.row(k).norm();
        if (size > k_round_off * C.row(k).norm() * back.norm()) {
            B.row(k) /= size;
            h[k] /= size;
        } else {
            B.row(k).setZero();  // the kept constraints say how it moves
        }
    }
    if (B.rows() > 0 && B.cols() > 0) {
        const std::optional<VectorXd> y = least_distance(B, h);
        if (!y) return std::nullopt;
        change += back * *y;
    } else if (B.rows() > 0 && h.maxCoeff() > k_satisfied * std::max(k_least_speed, h.cwiseAbs().maxCoeff())) {
        return std::nullopt;
    }
    return std::vector<double>(change.begin(), change.end());
}

}  // namespace appell
