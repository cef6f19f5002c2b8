#include "doctor/eigenvalues.hpp"

#include <algorithm>
#include <numeric>

#include <boost/multiprecision/eigen.hpp>

#include <Eigen/Eigenvalues>
#include <Eigen/SVD>

#include "base/error.hpp"
#include "tape/dense_rank.hpp"

namespace appell {

namespace {

using Matrix50 = Eigen::Matrix<Digits50, Eigen::Dynamic, Eigen::Dynamic>;

// Takes the eigenvalue zero out. With the null space's basis n_f (one at the free column f, zero at the others), the vectors
// (n_f, e_p) for the pivot columns p are a basis of the whole space; modulo the n_f the matrix maps e_p to the entries of A e_p
// at the pivot columns, less what the n_f have there.
std::size_t deflate(Matrix50& a) {
    std::size_t zeros = 0;
    while (a.rows() > 0) {
        const auto n = static_cast<std::size_t>(a.rows());
        std::vector<Digits50> entries(n * n);
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t j = 0; j < n; ++j)
                entries[i * n + j] = a(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j));
        // rows are scaled by the whole matrix: a row of round-off must stay one
        const Digits50 size = a.cwiseAbs().maxCoeff();
        if (size == 0) return zeros + n;
        std::vector<Digits50> guarded = entries;
        for (std::size_t i = 0; i < n; ++i) {
            Digits50 largest(0);
            for (std::size_t j = 0; j < n; ++j) largest = std::max(largest, Digits50(abs(entries[i * n + j])));
            if (largest <= size * Digits50(1e-35))
                for (std::size_t j = 0; j < n; ++j) guarded[i * n + j] = 0;
        }
        const DenseRank rank(std::move(guarded), n);
        const std::size_t nullity = n - rank.rank();
        if (nullity == 0) return zeros;
        zeros += nullity;
        const std::vector<std::vector<Digits50>> null = rank.null_space();
        std::vector<std::size_t> pivots = rank.pivot_columns();
        std::sort(pivots.begin(), pivots.end());
        const auto m = static_cast<Eigen::Index>(pivots.size());
        Matrix50 rest(m, m);
        for (Eigen::Index i = 0; i < m; ++i)
            for (Eigen::Index j = 0; j < m; ++j) {
                const std::size_t row = pivots[static_cast<std::size_t>(i)], column = pivots[static_cast<std::size_t>(j)];
                Digits50 value = entries[row * n + column];
                for (std::size_t k = 0; k < nullity; ++k) value -= null[k][row] * entries[rank.free_columns()[k] * n + column];
                rest(i, j) = value;
            }
        a = std::move(rest);
    }
    return zeros;
}

std::vector<Eigenvalue> eigenvalues_of(const Matrix50& a) {
    std::vector<Eigenvalue> out;
    if (a.rows() == 0) return out;
    const Eigen::RealSchur<Matrix50> schur(a, false);
    if (schur.info() != Eigen::Success) throw Error("the iteration for the eigenvalues did not converge");
    const Matrix50& t = schur.matrixT();
    for (Eigen::Index i = 0; i < t.rows(); ++i) {
        if (i + 1 == t.rows() || t(i + 1, i) == 0) {
            out.push_back({t(i, i), Digits50(0)});
            continue;
        }
        // a block of two: (a + d)/2 +- sqrt(((a - d)/2)^2 + b c)
        const Digits50 middle = (t(i, i) + t(i + 1, i + 1)) / 2, half = (t(i, i) - t(i + 1, i + 1)) / 2;
        const Digits50 square = half * half + t(i, i + 1) * t(i + 1, i);
        if (square < 0) {
            const Digits50 im = sqrt(Digits50(-square));
            out.push_back({middle, im});
            out.push_back({middle, -im});
        } else {
            const Digits50 root = sqrt(square);
            out.push_back({middle + root, Digits50(0)});
            out.push_back({middle - root, Digits50(0)});
        }
        ++i;
    }
    return out;
}

}  // namespace

int Spectrum::sign(const Eigenvalue& e) const {
    // a pair on the axis is there to round-off, of fifty digits; a double pair may split by its root
    const Digits50 bar = size * Digits50(1e-20);
    return e.re > bar ? 1 : e.re < -bar ? -1 : 0;
}

std::size_t Spectrum::unstable() const {
    return static_cast<std::size_t>(
        std::count_if(eigenvalues.begin(), eigenvalues.end(), [&](const Eigenvalue& e) { return sign(e) > 0; }));
}

Spectrum spectrum_of(std::span<const Digits50> matrix, std::span<const Digits50> scale, bool with_modes) {
    const std::size_t n = scale.size();
    APPELL_ASSERT(matrix.size() == n * n, "a matrix with its variables' scales");
    const auto size = static_cast<Eigen::Index>(n);
    Matrix50 a(size, size);
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j)
            a(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) = matrix[i * n + j] * scale[j] / scale[i];
    Eigen::MatrixXcd rough(size, size);
    for (Eigen::Index i = 0; i < size; ++i)
        for (Eigen::Index j = 0; j < size; ++j) rough(i, j) = static_cast<double>(a(i, j));
    Spectrum out;
    const Digits50 norm = n > 0 ? Digits50(a.cwiseAbs().maxCoeff()) : Digits50(0);
    out.zeros = deflate(a);
    out.eigenvalues = eigenvalues_of(a);
    // a state that is known to fewer digits leaves more of a zero
    out.zeros += std::erase_if(out.eigenvalues, [&](const Eigenvalue& e) {
        return abs(e.re) <= norm * Digits50(1e-20) && abs(e.im) <= norm * Digits50(1e-20);
    });
    for (const Eigenvalue& e : out.eigenvalues) out.size = std::max(out.size, Digits50(sqrt(e.re * e.re + e.im * e.im)));
    // equal real parts to round-off are ordered by frequency, so that the order is the same on every machine
    const Digits50 same = out.size * Digits50(1e-20);
    std::vector<Eigenvalue>& values = out.eigenvalues;
    std::sort(values.begin(), values.end(), [](const Eigenvalue& x, const Eigenvalue& y) { return x.re > y.re; });
    for (auto begin = values.begin(); begin != values.end();) {
        auto end = begin + 1;
        while (end != values.end() && (end - 1)->re - end->re <= same) ++end;
        std::sort(begin, end, [&](const Eigenvalue& x, const Eigenvalue& y) {
            const Digits50 p = abs(x.im), q = abs(y.im);
            return abs(Digits50(p - q)) > same ? p > q : x.im > y.im;
        });
        begin = end;
    }
    if (!with_modes || n == 0) return out;
    // The vector of an eigenvalue spans the null space of A - s: the right singular vector of least singular value. Further ones
    // are taken for an eigenvalue that occurs again and has as many vectors.
    for (std::size_t k = 0; k < values.size(); ++k) {
        std::size_t before = 0;
        for (std::size_t i = 0; i < k; ++i)
            if (abs(Digits50(values[i].re - values[k].re)) <= same && abs(Digits50(values[i].im - values[k].im)) <= same)
                ++before;
        const Eigen::MatrixXcd shifted = rough - values[k].value() * Eigen::MatrixXcd::Identity(size, size);
        const Eigen::JacobiSVD<Eigen::MatrixXcd> svd(shifted, Eigen::ComputeFullV);
        auto column = size - 1 - static_cast<Eigen::Index>(before);
        if (column < 0 || svd.singularValues()(column) > 1e-10 * static_cast<double>(out.size)) column = size - 1;
        std::vector<std::complex<double>> mode(n);
        std::complex<double> largest = 0;
        for (std::size_t i = 0; i < n; ++i) {
            mode[i] = svd.matrixV()(static_cast<Eigen::Index>(i), column) * static_cast<double>(scale[i]);
            if (std::abs(mode[i]) > std::abs(largest) * (1 + 1e-9)) largest = mode[i];
        }
        for (std::complex<double>& entry : mode) entry /= largest;
        out.modes.push_back(std::move(mode));
    }
    return out;
}

}  // namespace appell
