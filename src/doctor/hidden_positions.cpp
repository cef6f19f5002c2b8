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

enum class Found { nothing, condition, several_conditions };

Eigen::Index index(std::size_t i) { return static_cast<Eigen::Index>(i); }

class Search {
public:
    Search(const ConstrainedDynamics& d, std::span<const double> values)
        : d_(d), g_(d.graph()), values_(values), affine_(affine_rows(d)), speeds_(d.model->speeds.size()) {}

    std::vector<HiddenPosition> run() {
        if (!read()) return {};
        eliminate();
        for (std::size_t k = rank_; k < entries_.size(); ++k) look_at(k);
        return std::move(out_);
    }

private:
    // Rows on velocities and positions, free of units: columns by the masses that move with them, rows of unit length. What
    // stands beside the speeds, c(q, t), is one more column, of a speed that is always one.
    bool read() {
        const bool drifts = std::ranges::any_of(affine_.c, [&](NodeId c) { return !g_.is_constant(c, 0); });
        const std::size_t columns = speeds_ + (drifts ? 1 : 0);
        if (affine_.rows.empty() || affine_.rows.size() * columns > k_most_entries) return false;
        entries_ = affine_.a;
        for (std::size_t i = 0; drifts && i < entries_.size(); ++i) entries_[i].push_back(affine_.c[i]);
        std::vector<NodeId> nodes;
        for (const std::vector<NodeId>& row : entries_) nodes.insert(nodes.end(), row.begin(), row.end());
        for (std::size_t j = 0; j < speeds_; ++j) {
            const NodeId diagonal = d_.M().find(static_cast<std::uint32_t>(j), static_cast<std::uint32_t>(j));
            nodes.push_back(diagonal.valid() ? diagonal : g_.constant(1));
        }
        const std::vector<double> numbers = evaluate<double>(g_, nodes, values_);
        a_.resize(index(entries_.size()), index(columns));
        unit_.resize(index(columns));
        for (std::size_t j = 0; j < columns; ++j) {
            const double mass = j < speeds_ ? numbers[entries_.size() * columns + j] : 1;
            unit_(index(j)) = mass > 0 ? 1 / std::sqrt(mass) : 1;
            for (std::size_t i = 0; i < entries_.size(); ++i) a_(index(i), index(j)) = numbers[i * columns + j] * unit_(index(j));
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
        for (std::size_t i = 0; i < entries_.size(); ++i) order_.push_back(i);
        for (rank_ = 0; rank_ < std::min(entries_.size(), static_cast<std::size_t>(a_.cols())); ++rank_) {
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

    [[nodiscard]] std::vector<std::size_t> columns_of(const std::vector<std::size_t>& set) const {
        std::vector<std::size_t> out;
        for (std::size_t j = 0; j < static_cast<std::size_t>(a_.cols()); ++j)
            if (std::ranges::any_of(set, [&](std::size_t i) { return !g_.is_constant(entries_[i][j], 0); })) out.push_back(j);
        return out;
    }

    // with the independent rows that bind speeds of the set, and those that bind theirs
    [[nodiscard]] std::vector<std::size_t> with_neighbours(std::vector<std::size_t> set) const {
        for (bool grown = true; grown;) {
            grown = false;
            const std::vector<std::size_t> columns = columns_of(set);
            for (std::size_t k = 0; k < rank_; ++k) {
                const std::size_t i = order_[k];
                if (std::ranges::find(set, i) != set.end()) continue;
                if (std::ranges::none_of(columns, [&](std::size_t j) { return !g_.is_constant(entries_[i][j], 0); })) continue;
                set.push_back(i);
                grown = true;
            }
        }
        return set;
    }

    // Rows that depend on each other leave velocities that other rows forbid: where the rank is kept in several ways with
    // them, those rows are taken along.
    void look_at(std::size_t k) {
        const std::vector<std::size_t> set = dependent_set(k);
        if (std::ranges::all_of(set, [&](std::size_t i) { return row(i).level == Level::position; })) return;
        if (look_at(set) != Found::several_conditions) return;
        const std::vector<std::size_t> more = with_neighbours(set);
        if (more.size() > set.size()) (void)look_at(more);
    }

    Found look_at(std::vector<std::size_t> set) {
        std::ranges::sort(set);
        if (set.size() > k_most_rows || set.size() < 2) return Found::nothing;
        const std::vector<std::size_t> columns = columns_of(set);
        if (columns.size() < set.size() || columns.size() > k_most_columns) return Found::nothing;
        // columns that the rows but one are independent in, and V: a vector for each other column
        Matrix part(index(set.size()), index(columns.size()));
        for (std::size_t i = 0; i < set.size(); ++i)
            for (std::size_t j = 0; j < columns.size(); ++j) part(index(i), index(j)) = a_(index(set[i]), index(columns[j]));
        Eigen::ColPivHouseholderQR<Matrix> qr(part);
        qr.setThreshold(k_zero);
        if (qr.rank() != part.rows() - 1) return Found::nothing;
        std::vector<std::size_t> pivots, others;
        for (Eigen::Index j = 0; j < part.cols(); ++j)
            (j < qr.rank() ? pivots : others).push_back(columns[static_cast<std::size_t>(qr.colsPermutation().indices()(j))]);
        return decide(set, pivots, others);
    }

    Found decide(const std::vector<std::size_t>& set, const std::vector<std::size_t>& pivots,
                 const std::vector<std::size_t>& others) {
        std::vector<NodeId> determinants;
        for (const std::size_t c : others) determinants.push_back(small_determinant(g_, entries_, set, sorted(pivots, c)));
        Matrix G = gradients(determinants);
        if (!G.allFinite()) return Found::nothing;
        // the minors with a column exchanged, without the sign that its place gives them and its unit
        Vector y(index(others.size()));
        for (std::size_t i = 0; i < others.size(); ++i) {
            const std::vector<std::size_t> where = sorted(pivots, others[i]);
            const auto place = std::ranges::find(where, others[i]) - where.begin();
            const double scale = unit_(index(others[i])) * (place % 2 == 0 ? 1 : -1);
            G.row(index(i)) *= scale;
            y(index(i)) = speed(others[i]) / unit_(index(others[i]));
        }
        const double size = G.norm();
        const Matrix left = along_stated(G);
        Eigen::JacobiSVD<Matrix> svd(left, Eigen::ComputeThinU);
        const Vector& s = svd.singularValues();
        if (!(s(0) > k_small * size)) return Found::nothing;
        if (s.size() > 1 && s(1) > k_small * s(0)) return Found::several_conditions;
        const Vector h = svd.matrixU().col(0);
        Eigen::Index best = 0;
        h.cwiseAbs().maxCoeff(&best);
        HiddenPosition found;
        found.determinant = determinants[static_cast<std::size_t>(best)];
        // speeds that rest may go on resting, or the surface is kept and they move
        found.may_rest = y.norm() == 0;
        if (found.may_rest ? leaves(found.determinant) : !(std::abs(h.dot(y)) > k_small * y.norm())) return Found::nothing;
        for (const std::size_t i : set) found.rows.push_back(affine_.rows[i]);
        for (const std::size_t c : sorted(pivots, others[static_cast<std::size_t>(best)]))
            if (c < speeds_) found.speeds.push_back(static_cast<std::uint32_t>(c));
        stated_.push_back(found.determinant);
        out_.push_back(std::move(found));
        return Found::condition;
    }

    // does the motion go away from where the function is zero?
    [[nodiscard]] bool leaves(NodeId function) const {
        const NodeId rate = d_.kinematics->rate(function);
        const double value = std::abs(evaluate<double>(g_, std::span(&rate, 1), values_).front());
        double fastest = 0;
        for (const Speed& s : d_.model->speeds) fastest = std::max(fastest, std::abs(values_[s.u.index()]));
        return !(value <= k_small * fastest * gradients(std::span(&function, 1)).norm());
    }

    [[nodiscard]] double speed(std::size_t column) const {
        return column < speeds_ ? values_[d_.model->speeds[column].u.index()] : 1;
    }

    [[nodiscard]] static std::vector<std::size_t> sorted(std::vector<std::size_t> columns, std::size_t another) {
        columns.push_back(another);
        std::ranges::sort(columns);
        return columns;
    }
    [[nodiscard]] const ConstraintRow& row(std::size_t i) const { return d_.rows[affine_.rows[i]]; }

    const ConstrainedDynamics& d_;
    Graph& g_;
    std::span<const double> values_;
    AffineRows affine_;
    std::size_t speeds_;
    std::vector<std::vector<NodeId>> entries_;  // of the affine rows, by speed; c in a last column, where there is any
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
