#include "dynam/shares.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "dynam/modes.hpp"
#include "expr/evaluate.hpp"
#include "expr/substitute.hpp"
#include "tape/dense_rank.hpp"

namespace appell {

namespace {

// a state is on the constraints to round-off of doubles
constexpr double k_dependent = 1e-9;

// Groups in the making: the weight of a row is that of its group's first one times its own.
struct Groups {
    explicit Groups(Graph& graph) : g(graph) {}

    void join(std::size_t first, NodeId w_first, std::size_t second, NodeId w_second) {
        const std::size_t a = group_of(first), b = group_of(second);
        if (a == b) return;  // elaboration has looked at whether they agree
        // weights of b, scaled so that the second row stands to the first as was said
        const NodeId factor = g.div(g.mul(weight(a, first), w_second), g.mul(w_first, weight(b, second)));
        for (std::size_t i = 0; i < groups[b].rows.size(); ++i) {
            groups[a].rows.push_back(groups[b].rows[i]);
            groups[a].weights.push_back(g.mul(factor, groups[b].weights[i]));
        }
        groups.erase(groups.begin() + static_cast<std::ptrdiff_t>(b));
    }

    Graph& g;
    std::vector<SharedRows> groups;

private:
    std::size_t group_of(std::size_t row) {
        for (std::size_t k = 0; k < groups.size(); ++k)
            if (std::ranges::find(groups[k].rows, row) != groups[k].rows.end()) return k;
        groups.push_back({{row}, {g.constant(1)}});
        return groups.size() - 1;
    }
    [[nodiscard]] NodeId weight(std::size_t group, std::size_t row) const {
        const SharedRows& of = groups[group];
        return of.weights[static_cast<std::size_t>(std::ranges::find(of.rows, row) - of.rows.begin())];
    }
};

// the row of one component of a constraint, where it is there
std::optional<std::size_t> row_of(const ConstrainedDynamics& d, std::size_t constraint, std::size_t component) {
    const std::vector<SymbolId>& multipliers = d.model->constraints[constraint].multipliers;
    for (std::size_t i = 0; i < d.rows.size(); ++i)
        if (component < multipliers.size() && d.rows[i].multiplier == multipliers[component]) return i;
    return std::nullopt;
}

NodeId sum_of(Graph& g, const SharedRows& shared, const std::vector<NodeId>& values) {
    std::vector<NodeId> terms;
    for (std::size_t i = 0; i < shared.rows.size(); ++i) terms.push_back(g.mul(shared.weights[i], values[shared.rows[i]]));
    return g.sum(terms);
}

SparseMatrix merged_matrix(const ConstrainedDynamics& d, const std::vector<std::uint32_t>& place,
                           const std::vector<NodeId>& weight, std::size_t rows) {
    Graph& g = d.graph();
    SparseMatrix out{rows, d.A.columns, {}};
    for (const SparseEntry& e : d.A.entries) {
        const NodeId value = weight[e.row].valid() ? g.mul(weight[e.row], e.value) : e.value;
        const auto same = std::ranges::find_if(
            out.entries, [&](const SparseEntry& other) { return other.row == place[e.row] && other.column == e.column; });
        if (same != out.entries.end())
            same->value = g.add(same->value, value);
        else
            out.entries.push_back({place[e.row], e.column, value});
    }
    std::erase_if(out.entries, [&](const SparseEntry& e) { return g.is_constant(e.value, 0); });
    std::ranges::stable_sort(out.entries, {}, [](const SparseEntry& e) { return std::pair(e.row, e.column); });
    return out;
}

std::size_t rank_at(const ConstrainedDynamics& d, std::span<const double> values) {
    Graph& g = d.graph();
    std::vector<NodeId> entries;
    for (const SparseEntry& e : d.A.entries) entries.push_back(e.value);
    for (const SparseEntry& e : d.M().entries)
        if (e.row == e.column) entries.push_back(e.value);
    const std::vector<double> numbers = evaluate<double>(g, entries, values);
    // free of units: columns by the masses that move with them, rows at unit length
    std::vector<double> scale(d.A.columns, 1.0), length(d.rows.size(), 0.0);
    std::size_t at = d.A.entries.size();
    for (const SparseEntry& e : d.M().entries)
        if (e.row == e.column && numbers[at++] > 0) scale[e.row] = 1 / std::sqrt(numbers[at - 1]);
    for (std::size_t i = 0; i < d.A.entries.size(); ++i)
        length[d.A.entries[i].row] = std::hypot(length[d.A.entries[i].row], numbers[i] * scale[d.A.entries[i].column]);
    std::vector<Digits50> matrix(d.rows.size() * d.A.columns, Digits50(0));
    for (std::size_t i = 0; i < d.A.entries.size(); ++i) {
        const SparseEntry& e = d.A.entries[i];
        if (length[e.row] > 0) matrix[e.row * d.A.columns + e.column] += numbers[i] * scale[e.column] / length[e.row];
    }
    return DenseRank(std::move(matrix), d.A.columns, Digits50(k_dependent)).rank();
}

}  // namespace

std::vector<SharedRows> shared_rows(const ConstrainedDynamics& d) {
    Graph& g = d.graph();
    Groups groups(g);
    for (const Share& share : d.model->shares)
        for (std::size_t component = 0; component < 3; ++component) {
            std::optional<std::size_t> last;
            NodeId weight_of_last{};
            for (std::size_t i = 0; i < share.constraints.size(); ++i) {
                const auto row = row_of(d, share.constraints[i], component);
                if (!row) continue;
                if (last) groups.join(*last, weight_of_last, *row, share.weights[i]);
                last = row;
                weight_of_last = share.weights[i];
            }
        }
    for (SharedRows& shared : groups.groups) {
        std::vector<NodeId> squares;
        for (const NodeId w : shared.weights) squares.push_back(g.mul(w, w));
        const NodeId length = g.make(Op::Sqrt, g.sum(squares));
        for (NodeId& w : shared.weights) w = g.div(w, length);
    }
    return std::move(groups.groups);
}

std::vector<SharedRows> shares_that_fit(const ConstrainedDynamics& d, const std::vector<SharedRows>& shares,
                                        std::span<const double> values) {
    if (shares.empty()) return {};
    const std::size_t rank = rank_at(d, values);
    ConstrainedDynamics tried = d;
    tried.shared.clear();
    for (const SharedRows& shared : shares) {
        tried.shared.push_back(shared);
        if (rank_at(share_out(tried).dynamics, values) < rank) tried.shared.pop_back();
    }
    return std::move(tried.shared);
}

bool may_share(const ConstrainedDynamics& d, std::size_t first, std::size_t second, std::span<const double> values) {
    const NodeId weight = d.graph().constant(1);  // of equal lengths, whatever they are
    std::vector<SharedRows> shares;
    for (const SharedRows& shared : d.shared)
        if (shared.rows.size() > 1) shares.push_back(shared);
    for (std::size_t component = 0; component < 3; ++component) {
        const auto a = row_of(d, first, component), b = row_of(d, second, component);
        if (a.has_value() != b.has_value()) return false;
        if (!a) continue;
        for (const SharedRows& shared : shares)
            for (const std::size_t row : {*a, *b})
                if (std::ranges::find(shared.rows, row) != shared.rows.end()) return false;
        shares.push_back({{*a, *b}, {weight, weight}});
    }
    return shares_that_fit(d, shares, values).size() == shares.size();
}

SharedSystem share_out(const ConstrainedDynamics& d) {
    Graph& g = d.graph();
    SharedSystem out{d, {}};
    ConstrainedDynamics& merged = out.dynamics;
    merged.shared.clear();
    merged.rows.clear();
    merged.b.clear();
    ConstrainedSolve& members = out.members;
    members.kind = SolveKind::linear;
    Substitution in_law;
    const auto define = [&](SymbolId member, NodeId value) {
        const auto place = static_cast<std::uint32_t>(members.x.size());
        members.x.push_back(member);
        members.A.entries.push_back({place, place, g.constant(1)});
        members.b.push_back(value);
        in_law.set(member, value);
    };
    std::vector<std::uint32_t> place(d.rows.size());
    std::vector<NodeId> weight(d.rows.size()), velocities, positions;
    for (const ConstraintRow& row : d.rows) {
        velocities.push_back(row.velocity.valid() ? row.velocity : g.constant(0));
        positions.push_back(row.position.valid() ? row.position : g.constant(0));
    }
    for (std::size_t i = 0; i < d.rows.size(); ++i) {
        const auto shared =
            std::ranges::find_if(d.shared, [&](const SharedRows& s) { return std::ranges::find(s.rows, i) != s.rows.end(); });
        if (shared == d.shared.end()) {
            place[i] = static_cast<std::uint32_t>(merged.rows.size());
            merged.rows.push_back(d.rows[i]);
            merged.b.push_back(d.b[i]);
            continue;
        }
        if (i != *std::ranges::min_element(shared->rows)) continue;
        ConstraintRow row = d.rows[i];
        row.name = names_of(d, *shared);
        row.multiplier = g.add_symbol(fmt::format("shared lambda({})", row.name), SymbolKind::other);
        row.ideal_multiplier = g.add_symbol(fmt::format("shared ideal lambda({})", row.name), SymbolKind::other);
        for (const std::size_t k : shared->rows) row.level = std::max(row.level, d.rows[k].level);
        row.position = row.level == Level::position ? sum_of(g, *shared, positions) : NodeId{};
        row.velocity = row.level == Level::acceleration ? NodeId{} : sum_of(g, *shared, velocities);
        for (std::size_t k = 0; k < shared->rows.size(); ++k) {
            const std::size_t member = shared->rows[k];
            place[member] = static_cast<std::uint32_t>(merged.rows.size());
            weight[member] = shared->weights[k];
            const Constraint& c = d.model->constraints[d.rows[member].constraint];
            define(d.rows[member].multiplier, g.mul(shared->weights[k], g.symbol_node(row.multiplier)));
            // nonideal forces have no part in ideal multipliers: rows of friction that sticks have none
            if (d.C.empty() || sticks(d, d.rows[member])) continue;
            const auto component = std::ranges::find(c.multipliers, d.rows[member].multiplier) - c.multipliers.begin();
            define(c.ideal_multipliers[static_cast<std::size_t>(component)],
                   g.mul(shared->weights[k], g.symbol_node(row.ideal_multiplier)));
        }
        merged.b.push_back(sum_of(g, *shared, d.b));
        merged.rows.push_back(std::move(row));
    }
    members.A.rows = members.A.columns = members.x.size();
    merged.A = merged_matrix(d, place, weight, merged.rows.size());
    if (!d.C.empty()) merged.C = substitute(g, d.C, in_law);
    return out;
}

std::vector<std::size_t> solved_constraints(const ConstrainedDynamics& d) {
    std::vector<std::size_t> out;
    for (std::size_t i = 0; i < d.rows.size(); ++i) {
        const bool later = std::ranges::any_of(d.shared, [&](const SharedRows& s) {
            return std::ranges::find(s.rows, i) != s.rows.end() && i != *std::ranges::min_element(s.rows);
        });
        if (!later && !d.rows[i].by_actuators) out.push_back(d.rows[i].constraint);
    }
    return out;
}

std::string names_of(const ConstrainedDynamics& d, const SharedRows& shared) {
    std::vector<std::string> names;
    for (const std::size_t row : shared.rows) names.push_back(d.rows[row].name);
    return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace appell
