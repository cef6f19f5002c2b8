#include "tape/sparse_elimination.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include <Eigen/OrderingMethods>
#include <Eigen/SparseCore>

#include "base/error.hpp"

namespace appell {

namespace {

constexpr std::uint32_t k_unknown = 0xffffffffu;
constexpr std::size_t k_least_rows = 8;
// rows that couple through one block of M cost the square of their number
constexpr std::size_t k_many_rows = 6;
// of one unknown, on average: beyond it nothing is sparse
constexpr std::size_t k_most_operations = 2000;

class Plan {
public:
    explicit Plan(const SolveBlock& block) : block_(block), n_(block.size), m_(block.rows) {}

    std::shared_ptr<const SparseElimination> make() {
        find_reach();
        choose_late();
        // the dense solve takes inner products of rows with rows, and factors the blocks of M
        double dense = 8.0 * static_cast<double>(m_) * static_cast<double>(m_);
        for (const auto& b : block_.mass_blocks) dense += std::pow(static_cast<double>(b.size()), 3) / 6;
        most_ = static_cast<std::size_t>(std::min(dense / 2, static_cast<double>(k_most_operations * (n_ + m_))));
        // as the rows come, which is how chains are written, or by minimum degree where that fills in
        order(false);
        const bool filled = fill();
        if (!filled || out_.entry_column.size() > given_) {
            SparseElimination as_given = std::exchange(out_, {});
            order(true);
            const bool better = fill() && (!filled || out_.entry_column.size() < as_given.entry_column.size());
            if (!better && !filled) return nullptr;
            if (!better) out_ = std::move(as_given);
            for (std::size_t i = 0; i < out_.unknown.size(); ++i) place_[out_.unknown[i]] = static_cast<std::uint32_t>(i);
        }
        find_pairs();
        if (out_.operations() > most_) return nullptr;
        write_rows();
        return std::make_shared<const SparseElimination>(std::move(out_));
    }

private:
    // which rows reach which blocks of M
    void find_reach() {
        block_of_.resize(n_);
        for (std::size_t i = 0; i < block_.mass_blocks.size(); ++i)
            for (const std::uint32_t column : block_.mass_blocks[i]) block_of_[column] = static_cast<std::uint32_t>(i);
        rows_of_.resize(block_.mass_blocks.size());
        for (const MatrixEntry& e : block_.A) {
            std::vector<std::uint32_t>& rows = rows_of_[block_of_[e.column]];
            if (rows.empty() || rows.back() != e.row) rows.push_back(e.row);
        }
        for (std::vector<std::uint32_t>& rows : rows_of_) {
            std::sort(rows.begin(), rows.end());
            rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
        }
    }

    // Blocks of M that many rows reach come late, if every row can still be told by a column of its own that does not.
    void choose_late() {
        late_.assign(rows_of_.size(), false);
        bool any = false;
        for (std::size_t i = 0; i < rows_of_.size(); ++i) any |= late_[i] = rows_of_[i].size() > k_many_rows;
        if (!any) return;
        std::vector<std::vector<std::uint32_t>> columns(m_);
        for (const MatrixEntry& e : block_.A)
            if (!late_[block_of_[e.column]]) columns[e.row].push_back(e.column);
        if (!all_matched(columns)) late_.assign(rows_of_.size(), false);
    }

    // Can every row have a column to itself? By augmenting paths, breadth first.
    [[nodiscard]] bool all_matched(const std::vector<std::vector<std::uint32_t>>& columns) const {
        std::vector<std::uint32_t> owner(n_, k_unknown), match(m_, k_unknown), from(n_), seen(n_, k_unknown), queue;
        for (std::uint32_t start = 0; start < m_; ++start) {
            queue.assign(1, start);
            std::uint32_t free = k_unknown;
            for (std::size_t at = 0; at < queue.size() && free == k_unknown; ++at)
                for (const std::uint32_t c : columns[queue[at]]) {
                    if (seen[c] == start) continue;
                    seen[c] = start;
                    from[c] = queue[at];
                    if (owner[c] == k_unknown) {
                        free = c;
                        break;
                    }
                    queue.push_back(owner[c]);
                }
            if (free == k_unknown) return false;
            for (std::uint32_t c = free, next; c != k_unknown; c = next) {
                const std::uint32_t row = from[c];
                next = match[row];
                owner[c] = row;
                match[row] = c;
                if (row == start) break;
            }
        }
        return true;
    }

    // early columns as their blocks come; then rows and late columns
    void order(bool by_minimum_degree) {
        place_.assign(n_ + m_, k_unknown);
        std::vector<std::uint32_t>& unknown = out_.unknown;
        for (std::size_t i = 0; i < rows_of_.size(); ++i)
            if (!late_[i]) unknown.insert(unknown.end(), block_.mass_blocks[i].begin(), block_.mass_blocks[i].end());
        std::vector<std::uint32_t> rest;
        for (std::size_t r = 0; r < m_; ++r) rest.push_back(static_cast<std::uint32_t>(n_ + r));
        for (std::size_t i = 0; i < rows_of_.size(); ++i)
            if (late_[i]) rest.insert(rest.end(), block_.mass_blocks[i].begin(), block_.mass_blocks[i].end());
        if (by_minimum_degree) sort_by_minimum_degree(rest);
        unknown.insert(unknown.end(), rest.begin(), rest.end());
        for (std::size_t i = 0; i < unknown.size(); ++i) place_[unknown[i]] = static_cast<std::uint32_t>(i);
    }

    // on the graph that the elimination of the early columns leaves
    void sort_by_minimum_degree(std::vector<std::uint32_t>& rest) const {
        std::vector<int> index(n_ + m_, -1);
        for (std::size_t i = 0; i < rest.size(); ++i) index[rest[i]] = static_cast<int>(i);
        std::vector<Eigen::Triplet<double>> entries;
        const auto couple = [&](std::size_t a, std::size_t b) {
            entries.emplace_back(index[a], index[b], 1.0);
            if (a != b) entries.emplace_back(index[b], index[a], 1.0);
        };
        for (std::size_t i = 0; i < rows_of_.size(); ++i) {
            const std::vector<std::uint32_t>& rows = rows_of_[i];
            if (late_[i]) {
                for (const std::uint32_t c : block_.mass_blocks[i]) {
                    for (const std::uint32_t d : block_.mass_blocks[i])
                        if (d <= c) couple(c, d);
                    for (const std::uint32_t r : rows) couple(c, n_ + r);
                }
                continue;
            }
            for (std::size_t a = 0; a < rows.size(); ++a)
                for (std::size_t b = 0; b <= a; ++b) couple(n_ + rows[a], n_ + rows[b]);
        }
        const auto size = static_cast<int>(rest.size());
        Eigen::SparseMatrix<double, Eigen::ColMajor, int> pattern(size, size);
        pattern.setFromTriplets(entries.begin(), entries.end());
        Eigen::PermutationMatrix<Eigen::Dynamic, Eigen::Dynamic, int> permutation;
        Eigen::AMDOrdering<int>()(pattern, permutation);
        const std::vector<std::uint32_t> before = rest;
        for (std::size_t k = 0; k < rest.size(); ++k)
            rest[k] = before[static_cast<std::size_t>(permutation.indices()[static_cast<Eigen::Index>(k)])];
    }

    // the pattern of L by rows: along the elimination tree, from each entry up to the row
    bool fill() {
        const std::size_t count = n_ + m_;
        std::vector<std::vector<std::pair<std::uint32_t, Slot>>> given(count);
        out_.columns = n_;
        out_.rows = m_;
        out_.diagonal.assign(count, SparseElimination::k_none);
        out_.right.resize(count);
        for (std::size_t i = 0; i < n_; ++i) out_.right[place_[i]] = block_.f[i];
        for (std::size_t i = 0; i < m_; ++i) out_.right[place_[n_ + i]] = block_.b[i];
        const auto put = [&](std::uint32_t a, std::uint32_t b, Slot slot) {
            given[std::max(a, b)].emplace_back(std::min(a, b), slot);
        };
        for (const MatrixEntry& e : block_.M) {
            if (e.row == e.column)
                out_.diagonal[place_[e.row]] = e.slot;
            else
                put(place_[e.row], place_[e.column], e.slot);
        }
        for (std::size_t i = 0; i < n_; ++i)
            if (out_.diagonal[place_[i]] == SparseElimination::k_none) return false;  // no inertia: M is singular
        for (const MatrixEntry& e : block_.A) put(place_[n_ + e.row], place_[e.column], e.slot);

        given_ = 0;
        for (const auto& list : given) given_ += list.size();
        // neighbours along a chain of rows fill in one entry each: no order does better
        given_ += m_;
        std::vector<std::uint32_t> parent(count, k_unknown), mark(count, k_unknown), row;
        std::vector<Slot> slot(count, SparseElimination::k_none);
        out_.first_entry.push_back(0);
        for (std::uint32_t i = 0; i < count; ++i) {
            row.clear();
            mark[i] = i;
            for (const auto& [column, value] : given[i]) {
                if (slot[column] != SparseElimination::k_none) return false;  // an entry given twice: not for this solve
                slot[column] = value;
                for (std::uint32_t k = column; mark[k] != i; k = parent[k]) {
                    mark[k] = i;
                    row.push_back(k);
                    if (parent[k] == k_unknown) parent[k] = i;
                    if (parent[k] == i) break;
                }
            }
            std::sort(row.begin(), row.end());
            for (const std::uint32_t k : row) {
                out_.entry_column.push_back(k);
                out_.entry_slot.push_back(slot[k]);
                slot[k] = SparseElimination::k_none;
            }
            if (2 * out_.entry_column.size() > most_) return false;
            out_.first_entry.push_back(static_cast<std::uint32_t>(out_.entry_column.size()));
        }
        return true;
    }

    // for each entry (i, k): the columns that rows i and k share before k
    void find_pairs() {
        const auto& first = out_.first_entry;
        std::vector<std::uint32_t> entry_at(n_ + m_, k_unknown);  // of row i, by column
        out_.first_pair.push_back(0);
        for (std::size_t i = 0; i + 1 < first.size(); ++i) {
            for (std::uint32_t e = first[i]; e < first[i + 1]; ++e) entry_at[out_.entry_column[e]] = e;
            for (std::uint32_t e = first[i]; e < first[i + 1]; ++e) {
                const std::uint32_t k = out_.entry_column[e];
                for (std::uint32_t other = first[k]; other < first[k + 1]; ++other)
                    if (const std::uint32_t mine = entry_at[out_.entry_column[other]]; mine != k_unknown)
                        out_.pairs.push_back({mine, other});
                out_.first_pair.push_back(static_cast<std::uint32_t>(out_.pairs.size()));
            }
            for (std::uint32_t e = first[i]; e < first[i + 1]; ++e) entry_at[out_.entry_column[e]] = k_unknown;
            if (out_.pairs.size() > most_) return;
        }
    }

    // where the rows of A are: entries of their own rows of L, or of those of late columns
    void write_rows() {
        const auto& first = out_.first_entry;
        std::vector<std::vector<SparseElimination::RowPart>> parts(m_);
        for (std::size_t i = 0; i + 1 < first.size(); ++i) {
            const std::uint32_t at = out_.unknown[i];
            for (std::uint32_t e = first[i]; e < first[i + 1]; ++e) {
                const std::uint32_t k = out_.entry_column[e], other = out_.unknown[k];
                if (at >= n_ && other < n_)
                    parts[at - n_].push_back({e, k, out_.entry_slot[e], false});
                else if (at < n_ && other >= n_ && out_.entry_slot[e] != SparseElimination::k_none)
                    parts[other - n_].push_back({e, static_cast<std::uint32_t>(i), out_.entry_slot[e], true});
            }
        }
        out_.first_part.push_back(0);
        for (const auto& list : parts) {
            out_.parts.insert(out_.parts.end(), list.begin(), list.end());
            out_.first_part.push_back(static_cast<std::uint32_t>(out_.parts.size()));
        }
        for (std::size_t r = 0; r < m_; ++r) out_.place_of_row.push_back(place_[n_ + r]);
    }

    const SolveBlock& block_;
    const std::size_t n_, m_;
    SparseElimination out_;
    std::vector<std::uint32_t> block_of_;              // by column
    std::vector<std::vector<std::uint32_t>> rows_of_;  // by block of M
    std::vector<bool> late_;                           // by block of M
    std::vector<std::uint32_t> place_;                 // by unknown
    std::size_t most_ = 0;                             // operations that are worth it
    std::size_t given_ = 0;                            // entries that no order has less of, or hardly
};

}  // namespace

std::shared_ptr<const SparseElimination> plan_sparse_elimination(const SolveBlock& block) {
    if (block.kind != SolveKind::multipliers || block.rows < k_least_rows) return nullptr;
    return Plan(block).make();
}

}  // namespace appell
