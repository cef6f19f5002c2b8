#include "doctor/hidden_positions.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "doctor/pfaffian.hpp"
#include "doctor/small_determinant.hpp"
#include "expr/dependence.hpp"
#include "expr/evaluate.hpp"
#include "tape/zero_test.hpp"

namespace appell {

namespace {

constexpr std::size_t k_most_rows = 60;  // of small support; triples of them are looked at
constexpr double k_zero = 1e-9;          // start values are on the constraints to round-off

Eigen::MatrixXd gradients(const ConstrainedDynamics& d, std::span<const NodeId> functions, std::span<const double> values) {
    Graph& g = d.graph();
    std::vector<SymbolId> q;
    for (const Coordinate& c : d.model->coordinates) q.push_back(c.q);
    const SparseMatrix J = jacobian(g, functions, q);
    std::vector<NodeId> entries;
    for (const SparseEntry& e : J.entries) entries.push_back(e.value);
    const std::vector<double> numbers = evaluate<double>(g, entries, values);
    Eigen::MatrixXd out = Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(functions.size()), static_cast<Eigen::Index>(q.size()));
    for (std::size_t i = 0; i < numbers.size(); ++i) out(J.entries[i].row, J.entries[i].column) = numbers[i];
    return out;
}

// its gradient is a combination of theirs
bool stated(const ConstrainedDynamics& d, NodeId determinant, std::span<const double> values) {
    std::vector<NodeId> functions;
    for (const ConstraintRow& row : d.rows)
        if (row.position.valid()) functions.push_back(row.position);
    if (functions.empty()) return false;
    functions.push_back(determinant);
    const Eigen::MatrixXd all = gradients(d, functions, values);
    const auto rank = [](const Eigen::MatrixXd& m) {
        Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr(m);
        qr.setThreshold(1e-8);
        return qr.rank();
    };
    return rank(all) == rank(all.topRows(all.rows() - 1));
}

}  // namespace

std::vector<HiddenPosition> hidden_positions(const ConstrainedDynamics& d, std::span<const double> values) {
    Graph& g = d.graph();
    const AffineRows affine = affine_rows(d);
    struct Row {
        std::size_t place;
        std::vector<std::size_t> columns;
    };
    std::vector<Row> rows;
    for (std::size_t i = 0; i < affine.rows.size(); ++i) {
        if (d.rows[affine.rows[i]].level != Level::velocity || !g.is_constant(affine.c[i], 0)) continue;
        std::vector<std::size_t> columns;
        for (std::size_t j = 0; j < affine.a[i].size(); ++j)
            if (!g.is_constant(affine.a[i][j], 0)) columns.push_back(j);
        if (columns.size() >= 2 && columns.size() <= 3) rows.push_back({i, std::move(columns)});
    }
    if (rows.size() > k_most_rows) rows.resize(k_most_rows);
    std::vector<HiddenPosition> out;
    const auto look_at = [&](std::initializer_list<const Row*> some) {
        std::vector<std::size_t> columns, places;
        for (const Row* row : some) {
            places.push_back(row->place);
            for (const std::size_t c : row->columns)
                if (std::find(columns.begin(), columns.end(), c) == columns.end()) columns.push_back(c);
        }
        if (columns.size() != places.size()) return;
        std::sort(columns.begin(), columns.end());
        const NodeId det = small_determinant(g, affine.a, places, columns);
        if (!depends_on(g, det, SymbolKind::coordinate) || vanishes_identically(g, det)) return;
        // at rest they ask for nothing more
        if (std::all_of(columns.begin(), columns.end(), [&](std::size_t c) { return values[d.model->speeds[c].u.index()] == 0; }))
            return;
        for (const HiddenPosition& known : out)  // a pair is not news in a triple
            if (std::all_of(known.rows.begin(), known.rows.end(), [&](std::size_t row) {
                    return std::any_of(places.begin(), places.end(), [&](std::size_t p) { return affine.rows[p] == row; });
                }))
                return;
        // against the sizes of the rows
        double scale = 1;
        std::vector<NodeId> entries;
        for (const std::size_t p : places)
            for (const std::size_t c : columns) entries.push_back(affine.a[p][c]);
        const std::vector<double> numbers = evaluate<double>(g, entries, values);
        for (std::size_t i = 0; i < places.size(); ++i) {
            double square = 0;
            for (std::size_t j = 0; j < columns.size(); ++j) square += std::pow(numbers[i * columns.size() + j], 2);
            scale *= std::sqrt(square);
        }
        const double value = evaluate<double>(g, std::span(&det, 1), values).front();
        if (!(std::abs(value) <= k_zero * scale) || scale == 0 || stated(d, det, values)) return;
        HiddenPosition found;
        for (const std::size_t p : places) found.rows.push_back(affine.rows[p]);
        for (const std::size_t c : columns) found.speeds.push_back(static_cast<std::uint32_t>(c));
        found.determinant = det;
        out.push_back(std::move(found));
    };
    for (std::size_t i = 0; i < rows.size(); ++i)
        for (std::size_t j = i + 1; j < rows.size(); ++j) look_at({&rows[i], &rows[j]});
    for (std::size_t i = 0; i < rows.size(); ++i)
        for (std::size_t j = i + 1; j < rows.size(); ++j)
            for (std::size_t k = j + 1; k < rows.size(); ++k) look_at({&rows[i], &rows[j], &rows[k]});
    return out;
}

}  // namespace appell
