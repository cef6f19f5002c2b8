#include "doctor/hidden_positions.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <optional>

#include "doctor/pfaffian.hpp"
#include "doctor/small_determinant.hpp"
#include "expr/dependence.hpp"
#include "expr/evaluate.hpp"

namespace appell {

namespace {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

constexpr std::size_t k_most_rows = 8, k_most_columns = 16;  // of one condition: determinants are written out
constexpr std::size_t k_most_entries = 40'000;               // of all rows
constexpr double k_zero = 1e-9;                              // start values are on the constraints to round-off
constexpr double k_small = 1e-6;                             // derivatives of what is known to that

Eigen::Index index(std::size_t i) { return static_cast<Eigen::Index>(i); }

class Search {
public:
    Search(const ConstrainedDynamics& d, std::span<const double> values)
        : d_(d), g_(d.graph()), values_(values), affine_(affine_rows(d)) {}

    std::vector<HiddenPosition> run() {
        if (!read()) return {};
        eliminate();
        for (std::size_t k = rank_; k < rows_.size(); ++k) look_at(k);
        return std::move(out_);
    }

private:
    // homogeneous rows on velocities and positions, free of units: columns by the masses that move with them, unit length
    bool read() {
        const std::size_t speeds = d_.model->speeds.size();
        for (std::size_t i = 0; i < affine_.rows.size(); ++i)
            if (g_.is_constant(affine_.c[i], 0)) rows_.push_back(i);
        if (rows_.empty() || rows_.size() * speeds > k_most_entries) return false;
        std::vector<NodeId> nodes;
        for (const std::size_t i : rows_) nodes.insert(nodes.end(), affine_.a[i].begin(), affine_.a[i].end());
        for (std::size_t j = 0; j < speeds; ++j) {
            const NodeId diagonal = d_.M().find(static_cast<std::uint32_t>(j), static_cast<std::uint32_t>(j));
            nodes.push_back(diagonal.valid() ? diagonal : g_.constant(1));
        }
        const std::vector<double> numbers = evaluate<double>(g_, nodes, values_);
        a_.resize(index(rows_.size()), index(speeds));
        unit_.resize(index(speeds));
        for (std::size_t j = 0; j < speeds; ++j) {
            const double mass = numbers[rows_.size() * speeds + j];
            unit_(index(j)) = mass > 0 ? 1 / std::sqrt(mass) : 1;
            for (std::size_t i = 0; i < rows_.size(); ++i) a_(index(i), index(j)) = numbers[i * speeds + j] * unit_(index(j));
        }
        for (Eigen::Index i = 0; i < a_.rows(); ++i)
            if (const double length = a_.row(i).norm(); length > 0) a_.row(i) /= length;
        for (const Coordinate& c : d_.model->coordinates) q_.push_back(c.q);
        for (const ConstraintRow& row : d_.rows)
            if (row.position.valid()) stated_.push_back(row.position);
        return a_.allFinite();
    }

    // which rows depend on which: L of the elimination with complete pivoting, rows in the order of order_
    void eliminate() {
        Matrix left = a_;
        L_ = Matrix::Zero(a_.rows(), a_.rows());
        for (std::size_t i = 0; i < rows_.size(); ++i) order_.push_back(i);
        for (rank_ = 0; rank_ < std::min(rows_.size(), static_cast<std::size_t>(a_.cols())); ++rank_) {
            Eigen::Index best = 0, column = 0;
            double largest = 0;
            for (std::size_t k = rank_; k < order_.size(); ++k)
                for (Eigen::Index j = 0; j < a_.cols(); ++j)
                    if (const double value = std::abs(left(index(order_[k]), j)); value > largest) {
                        largest = value;
                        best = index(k);
                        column = j;
                    }
            if (!(largest > k_zero)) break;
            std::swap(order_[rank_], order_[static_cast<std::size_t>(best)]);
            for (std::size_t k = rank_ + 1; k < order_.size(); ++k) {
                const double factor = left(index(order_[k]), column) / left(index(order_[rank_]), column);
                L_(index(order_[k]), index(rank_)) = factor;
                left.row(index(order_[k])) -= factor * left.row(index(order_[rank_]));
            }
        }
    }

    // the k-th row in that order with those of the independent ones that it depends on
    [[nodiscard]] std::vector<std::size_t> dependent_set(std::size_t k) const {
        Vector n = Vector::Zero(index(rank_));
        for (std::size_t i = rank_; i-- > 0;) {
            double part = L_(index(order_[k]), index(i));
            for (std::size_t j = i + 1; j < rank_; ++j) part -= n(index(j)) * L_(index(order_[j]), index(i));
            n(index(i)) = part;
        }
        std::vector<std::size_t> out{order_[k]};
        for (std::size_t i = 0; i < rank_; ++i)
            if (std::abs(n(index(i))) > k_small) out.push_back(order_[i]);
        return out;
    }

    [[nodiscard]] Matrix gradients(std::span<const NodeId> functions) const {
        const SparseMatrix J = jacobian(g_, functions, q_);
        std::vector<NodeId> entries;
        for (const SparseEntry& e : J.entries) entries.push_back(e.value);
        const std::vector<double> numbers = evaluate<double>(g_, entries, values_);
        Matrix out = Matrix::Zero(index(functions.size()), index(q_.size()));
        for (std::size_t i = 0; i < numbers.size(); ++i) out(J.entries[i].row, J.entries[i].column) = numbers[i];
        return out;
    }

    // what is left of gradients along the surface that is stated
    [[nodiscard]] Matrix along_stated(Matrix G) const {
        if (stated_.empty()) return G;
        const Matrix P = gradients(stated_);
        Eigen::ColPivHouseholderQR<Matrix> qr(P.transpose());
        qr.setThreshold(k_zero);
        const Matrix Q = Matrix(qr.householderQ()).leftCols(qr.rank());
        return G - G * Q * Q.transpose();
    }

    void look_at(std::size_t k) {
        std::vector<std::size_t> set = dependent_set(k);
        std::ranges::sort(set);
        if (set.size() > k_most_rows || set.size() < 2) return;
        if (std::ranges::all_of(set, [&](std::size_t i) { return row(i).level == Level::position; })) return;
        std::vector<std::size_t> columns, places;
        for (const std::size_t i : set) places.push_back(rows_[i]);
        for (std::size_t j = 0; j < static_cast<std::size_t>(a_.cols()); ++j)
            if (std::ranges::any_of(places, [&](std::size_t p) { return !g_.is_constant(affine_.a[p][j], 0); }))
                columns.push_back(j);
        if (columns.size() < set.size() || columns.size() > k_most_columns) return;
        // columns that the rows but one are independent in, and V: a vector for each other column
        Matrix part(index(set.size()), index(columns.size()));
        for (std::size_t i = 0; i < set.size(); ++i)
            for (std::size_t j = 0; j < columns.size(); ++j) part(index(i), index(j)) = a_(index(set[i]), index(columns[j]));
        Eigen::ColPivHouseholderQR<Matrix> qr(part);
        qr.setThreshold(k_zero);
        if (qr.rank() != part.rows() - 1) return;
        std::vector<std::size_t> pivots, others;
        for (Eigen::Index j = 0; j < part.cols(); ++j)
            (j < qr.rank() ? pivots : others).push_back(columns[static_cast<std::size_t>(qr.colsPermutation().indices()(j))]);
        decide(set, places, pivots, others);
    }

    void decide(const std::vector<std::size_t>& set, const std::vector<std::size_t>& places,
                const std::vector<std::size_t>& pivots, const std::vector<std::size_t>& others) {
        std::vector<NodeId> determinants;
        for (const std::size_t c : others) determinants.push_back(small_determinant(g_, affine_.a, places, sorted(pivots, c)));
        Matrix G = gradients(determinants);
        if (!G.allFinite()) return;
        // the minors with a column exchanged, without the sign that its place gives them and its unit
        Vector y(index(others.size()));
        for (std::size_t i = 0; i < others.size(); ++i) {
            const std::vector<std::size_t> where = sorted(pivots, others[i]);
            const auto place = std::ranges::find(where, others[i]) - where.begin();
            const double scale = unit_(index(others[i])) * (place % 2 == 0 ? 1 : -1);
            G.row(index(i)) *= scale;
            y(index(i)) = values_[d_.model->speeds[others[i]].u.index()] / unit_(index(others[i]));
        }
        const double size = G.norm();
        const Matrix left = along_stated(G);
        Eigen::JacobiSVD<Matrix> svd(left, Eigen::ComputeThinU);
        const Vector& s = svd.singularValues();
        if (!(s(0) > k_small * size) || (s.size() > 1 && s(1) > k_small * s(0))) return;
        const Vector h = svd.matrixU().col(0);
        if (!(std::abs(h.dot(y)) > k_small * y.norm()) || y.norm() == 0) return;
        Eigen::Index best = 0;
        h.cwiseAbs().maxCoeff(&best);
        HiddenPosition found;
        for (const std::size_t i : set) found.rows.push_back(affine_.rows[rows_[i]]);
        for (const std::size_t c : sorted(pivots, others[static_cast<std::size_t>(best)]))
            found.speeds.push_back(static_cast<std::uint32_t>(c));
        found.determinant = determinants[static_cast<std::size_t>(best)];
        stated_.push_back(found.determinant);
        out_.push_back(std::move(found));
    }

    [[nodiscard]] static std::vector<std::size_t> sorted(std::vector<std::size_t> columns, std::size_t another) {
        columns.push_back(another);
        std::ranges::sort(columns);
        return columns;
    }
    [[nodiscard]] const ConstraintRow& row(std::size_t i) const { return d_.rows[affine_.rows[rows_[i]]]; }

    const ConstrainedDynamics& d_;
    Graph& g_;
    std::span<const double> values_;
    AffineRows affine_;
    std::vector<std::size_t> rows_;  // of the affine ones
    Matrix a_, L_;
    Vector unit_;
    std::vector<std::size_t> order_;
    std::size_t rank_ = 0;
    std::vector<SymbolId> q_;
    std::vector<NodeId> stated_;
    std::vector<HiddenPosition> out_;
};

}  // namespace

std::vector<HiddenPosition> hidden_positions(const ConstrainedDynamics& d, std::span<const double> values) {
    return Search(d, values).run();
}

}  // namespace appell
