#include "tape/small_inverse.hpp"

#include <utility>

namespace appell {

namespace {

constexpr std::size_t k_most_coupled = 3;  // rows that are inverted by minors together

}  // namespace

NodeId sum_in_pairs(Graph& g, std::vector<NodeId> terms) {
    const NodeId zero = g.constant(0);
    std::erase(terms, zero);
    if (terms.empty()) return zero;
    while (terms.size() > 1) {
        std::size_t kept = 0;
        for (std::size_t i = 0; i < terms.size(); i += 2)
            terms[kept++] = i + 1 < terms.size() ? g.add(terms[i], terms[i + 1]) : terms[i];
        terms.resize(kept);
    }
    return terms.front();
}

NodeId dot_product(Graph& g, std::span<const NodeId> a, std::span<const NodeId> b) {
    std::vector<NodeId> terms;
    for (std::size_t k = 0; k < a.size(); ++k) terms.push_back(g.mul(a[k], b[k]));
    return sum_in_pairs(g, std::move(terms));
}

std::optional<DependentColumns> invert_columns(Graph& g, const std::vector<std::vector<NodeId>>& A,
                                               const std::vector<std::size_t>& dependent) {
    const std::size_t m = A.size();
    const NodeId zero = g.constant(0);
    DependentColumns out{{}, std::vector<std::vector<NodeId>>(m, std::vector<NodeId>(m, zero))};
    std::vector<bool> row_done(m), column_done(m);
    for (std::size_t first = 0; first < m; ++first) {
        if (row_done[first]) continue;
        // rows and columns that hang together
        std::vector<std::size_t> rows{first}, columns;
        row_done[first] = true;
        for (std::size_t r = 0; r < rows.size(); ++r)
            for (std::size_t c = 0; c < m; ++c) {
                if (column_done[c] || A[rows[r]][dependent[c]] == zero) continue;
                column_done[c] = true;
                columns.push_back(c);
                for (std::size_t i = 0; i < m; ++i)
                    if (!row_done[i] && A[i][dependent[c]] != zero) {
                        row_done[i] = true;
                        rows.push_back(i);
                    }
            }
        const std::size_t k = rows.size();
        if (k != columns.size() || k > k_most_coupled) return std::nullopt;
        const auto at = [&](std::size_t i, std::size_t j) { return A[rows[i % k]][dependent[columns[j % k]]]; };
        // cofactors with their signs: cyclic indices need none for three
        const auto cofactor = [&](std::size_t i, std::size_t j) {
            if (k == 1) return g.constant(1);
            if (k == 2) return i == j ? at(1 - i, 1 - j) : g.neg(at(1 - i, 1 - j));
            return g.sub(g.mul(at(i + 1, j + 1), at(i + 2, j + 2)), g.mul(at(i + 1, j + 2), at(i + 2, j + 1)));
        };
        NodeId determinant = zero;
        for (std::size_t j = 0; j < k; ++j) determinant = g.add(determinant, g.mul(at(0, j), cofactor(0, j)));
        if (determinant == zero) return std::nullopt;
        NodeId lengths = g.constant(1);
        for (std::size_t i = 0; i < k; ++i) {
            for (std::size_t j = 0; j < k; ++j) out.cofactors[columns[j]][rows[i]] = cofactor(i, j);
            std::vector<NodeId> squares;
            for (const NodeId entry : A[rows[i]]) squares.push_back(g.mul(entry, entry));
            lengths = g.mul(lengths, sum_in_pairs(g, std::move(squares)));
        }
        out.blocks.push_back({rows, columns, determinant, g.div(g.constant(1), determinant), lengths});
    }
    return out;
}

}  // namespace appell
