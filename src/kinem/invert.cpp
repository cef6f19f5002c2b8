#include "kinem/invert.hpp"

#include <algorithm>
#include <map>

#include "tape/zero_test.hpp"

namespace appell {

namespace {

constexpr std::uint32_t k_none = 0xffffffffu;

using Row = std::vector<std::pair<std::uint32_t, NodeId>>;  // column, value

std::vector<Row> rows_of(const SparseMatrix& matrix) {
    std::vector<Row> rows(matrix.rows);
    for (const SparseEntry& e : matrix.entries) rows[e.row].emplace_back(e.column, e.value);
    return rows;
}

// column matched to each row, by breadth-first augmenting paths; k_none where the matrix is structurally singular
std::vector<std::uint32_t> match_columns(const std::vector<Row>& rows, std::size_t columns) {
    std::vector<std::uint32_t> column_of(rows.size(), k_none), row_of(columns, k_none);
    for (std::uint32_t row = 0; row < rows.size(); ++row)
        for (const auto& [column, value] : rows[row])
            if (row_of[column] == k_none) {
                row_of[column] = row;
                column_of[row] = column;
                break;
            }
    std::vector<std::uint32_t> reached_from(columns);
    for (std::uint32_t start = 0; start < rows.size(); ++start) {
        if (column_of[start] != k_none) continue;
        std::fill(reached_from.begin(), reached_from.end(), k_none);
        std::vector<std::uint32_t> queue{start};
        std::uint32_t free_column = k_none;
        for (std::size_t head = 0; head < queue.size() && free_column == k_none; ++head)
            for (const auto& [column, value] : rows[queue[head]]) {
                if (reached_from[column] != k_none) continue;
                reached_from[column] = queue[head];
                if (row_of[column] == k_none) {
                    free_column = column;
                    break;
                }
                queue.push_back(row_of[column]);
            }
        while (free_column != k_none) {  // flip the path
            const std::uint32_t row = reached_from[free_column], next = column_of[row];
            column_of[row] = free_column;
            row_of[free_column] = row;
            free_column = row == start ? k_none : next;
        }
    }
    return column_of;
}

// Tarjan's components of the graph row -> row that owns a column it uses; emitted dependencies first. Iterative.
std::vector<std::vector<std::uint32_t>> components(const std::vector<Row>& rows, const std::vector<std::uint32_t>& column_of,
                                                   std::size_t columns) {
    std::vector<std::uint32_t> owner(columns, k_none);
    for (std::uint32_t row = 0; row < rows.size(); ++row) owner[column_of[row]] = row;
    std::vector<std::uint32_t> index(rows.size(), k_none), low(rows.size()), position(rows.size(), 0);
    std::vector<bool> on_stack(rows.size(), false);
    std::vector<std::uint32_t> stack, path;
    std::vector<std::vector<std::uint32_t>> out;
    std::uint32_t counter = 0;
    for (std::uint32_t root = 0; root < rows.size(); ++root) {
        if (index[root] != k_none) continue;
        path.push_back(root);
        while (!path.empty()) {
            const std::uint32_t row = path.back();
            if (index[row] == k_none) {
                index[row] = low[row] = counter++;
                stack.push_back(row);
                on_stack[row] = true;
            }
            bool descend = false;
            for (; position[row] < rows[row].size(); ++position[row]) {
                const std::uint32_t next = owner[rows[row][position[row]].first];
                if (index[next] == k_none) {
                    path.push_back(next);
                    descend = true;
                    break;
                }
                if (on_stack[next]) low[row] = std::min(low[row], low[next]);
            }
            if (descend) continue;
            if (low[row] == index[row]) {
                std::vector<std::uint32_t> component;
                std::uint32_t member = k_none;
                while (member != row) {
                    member = stack.back();
                    stack.pop_back();
                    on_stack[member] = false;
                    component.push_back(member);
                }
                std::sort(component.begin(), component.end());
                out.push_back(std::move(component));
            }
            path.pop_back();
            if (!path.empty()) low[path.back()] = std::min(low[path.back()], low[row]);
        }
    }
    return out;
}

struct DenseInverse {
    NodeId determinant;
    std::vector<NodeId> adjugate;  // n x n
};

// Minors of a small dense matrix by dynamic programming over column sets: minor[S] of the first |S| listed rows and columns S.
DenseInverse adjugate(Graph& g, const std::vector<NodeId>& a, std::size_t n) {
    const NodeId zero = g.constant(0);
    DenseInverse out{zero, std::vector<NodeId>(n * n, zero)};
    std::vector<NodeId> minor(std::size_t{1} << n);
    for (std::size_t skipped = 0; skipped < n; ++skipped) {
        std::vector<std::size_t> rows;
        for (std::size_t i = 0; i < n; ++i)
            if (i != skipped) rows.push_back(i);
        minor[0] = g.constant(1);
        for (std::size_t set = 1; set < minor.size(); ++set) {
            const auto size = static_cast<std::size_t>(__builtin_popcountll(set));
            if (size > n - 1) continue;
            // expand along the last row of the minor
            NodeId sum = zero;
            std::size_t place = 0;
            for (std::size_t column = 0; column < n; ++column) {
                if (!(set >> column & 1u)) continue;
                const NodeId term = g.mul(a[rows[size - 1] * n + column], minor[set & ~(std::size_t{1} << column)]);
                sum = (size - 1 + place) % 2 == 0 ? g.add(sum, term) : g.sub(sum, term);
                ++place;
            }
            minor[set] = sum;
        }
        for (std::size_t column = 0; column < n; ++column) {
            const NodeId m = minor[(minor.size() - 1) & ~(std::size_t{1} << column)];
            const NodeId cofactor = (skipped + column) % 2 == 0 ? m : g.neg(m);
            out.adjugate[column * n + skipped] = cofactor;
            if (skipped == 0) out.determinant = g.add(out.determinant, g.mul(a[column], cofactor));
        }
    }
    return out;
}

}  // namespace

SymbolicInverse invert(Graph& g, const SparseMatrix& matrix, std::size_t largest_block) {
    SymbolicInverse result;
    result.inverse = {matrix.columns, matrix.rows, {}};
    const NodeId zero = g.constant(0);
    const std::vector<Row> rows = rows_of(matrix);
    const std::vector<std::uint32_t> column_of = match_columns(rows, matrix.columns);
    for (std::uint32_t row = 0; row < rows.size(); ++row)
        if (column_of[row] == k_none) result.culprit_rows.push_back(row);
    if (!result.culprit_rows.empty()) {
        std::vector<bool> matched(matrix.columns, false);
        for (const std::uint32_t column : column_of)
            if (column != k_none) matched[column] = true;
        for (std::uint32_t column = 0; column < matrix.columns; ++column)
            if (!matched[column]) result.culprit_columns.push_back(column);
        result.status = SymbolicInverse::Status::structurally_singular;
        return result;
    }

    // solve block by block: x_B = D^-1 (y_B - sum over earlier columns)
    std::vector<std::map<std::uint32_t, NodeId>> inverse(matrix.columns);  // by column of the matrix = row of the inverse
    for (const std::vector<std::uint32_t>& block : components(rows, column_of, matrix.columns)) {
        const std::size_t n = block.size();
        std::vector<std::uint32_t> columns;
        for (const std::uint32_t row : block) columns.push_back(column_of[row]);
        const auto fail = [&](SymbolicInverse::Status status) {
            result.status = status;
            result.culprit_rows = block;
            result.culprit_columns = columns;
        };
        if (n > largest_block) {
            fail(SymbolicInverse::Status::block_too_large);
            return result;
        }
        std::vector<NodeId> dense(n * n, zero);
        std::vector<std::map<std::uint32_t, NodeId>> right(n);  // rows of (E_B - sum Y_BC K_C)
        for (std::size_t i = 0; i < n; ++i) {
            right[i][block[i]] = g.constant(1);
            for (const auto& [column, value] : rows[block[i]]) {
                const auto inside = std::find(columns.begin(), columns.end(), column);
                if (inside != columns.end()) {
                    dense[i * n + static_cast<std::size_t>(inside - columns.begin())] = value;
                    continue;
                }
                for (const auto& [u, coefficient] : inverse[column]) {
                    NodeId& entry = right[i].try_emplace(u, zero).first->second;
                    entry = g.sub(entry, g.mul(value, coefficient));
                }
            }
        }
        const DenseInverse d = adjugate(g, dense, n);
        if (vanishes_identically(g, d.determinant)) {
            fail(SymbolicInverse::Status::identically_singular);
            return result;
        }
        result.determinants.push_back(d.determinant);
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t j = 0; j < n; ++j)
                for (const auto& [u, value] : right[j]) {
                    const NodeId term = g.div(g.mul(d.adjugate[i * n + j], value), d.determinant);
                    if (term == zero) continue;
                    NodeId& entry = inverse[columns[i]].try_emplace(u, zero).first->second;
                    entry = g.add(entry, term);
                }
    }
    for (std::uint32_t row = 0; row < inverse.size(); ++row)
        for (const auto& [column, value] : inverse[row])
            if (value != zero) result.inverse.entries.push_back({row, column, value});
    return result;
}

}  // namespace appell
