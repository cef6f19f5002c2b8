#include "emit/solve_text.hpp"

#include <algorithm>
#include <set>
#include <string_view>
#include <unordered_map>

#include <fmt/format.h>

#include "tape/constrained_solve.hpp"
#include "tape/sparse_elimination.hpp"

namespace appell {

namespace {

using Write = StraightLine::Write;

std::string table_name(const std::string& name, const std::vector<std::size_t>& values) { return values.empty() ? "0" : name; }

// operands one after the other, in the order of the memory layouts in runtime/
class Operands {
public:
    explicit Operands(SolveText& out) : out_(out) {}

    void matrix(const std::vector<MatrixEntry>& entries, std::size_t rows, std::size_t columns, bool symmetric = false,
                bool law = false) {
        for (const MatrixEntry& e : entries) {
            write(e.row * columns + e.column, e.slot, law);
            if (symmetric && e.row != e.column) write(e.column * columns + e.row, e.slot, law);
        }
        out_.operands += rows * columns;
    }
    void list(const std::vector<Slot>& slots, std::size_t size, bool law = false) {
        for (std::size_t i = 0; i < std::min(size, slots.size()); ++i) write(i, slots[i], law);
        out_.operands += size;
    }
    void write(std::size_t index, Slot slot, bool law = false) {
        (law ? out_.law : out_.writes).push_back({'o', out_.operands + index, slot});
    }
    void finish() {
        out_.zeros = out_.writes.size() + out_.law.size() < out_.operands;
        out_.numbers += out_.operands;
    }

private:
    SolveText& out_;
};

// runtime/constrained_solve.c
void constrained(const SolveBlock& block, const std::string& name, SolveText& out) {
    const std::size_t n = block.size, m = block.rows;
    const ColumnLayout columns(block);
    std::vector<std::size_t> blocks, touches, reach;
    for (const ColumnLayout::Block& b : columns.blocks)
        for (const std::size_t value : {b.begin, b.size, b.offset}) blocks.push_back(value);
    std::set<std::pair<std::size_t, std::size_t>> touched;
    for (const MatrixEntry& e : block.A) touched.emplace(e.row, columns.block_of[e.column]);
    for (const auto& [row, at] : touched) {
        touches.push_back(row);
        touches.push_back(at);
    }
    for (const RowColumns::Range& range : RowColumns(block).reach) {
        reach.push_back(range.begin);
        reach.push_back(range.end);
    }
    Operands operands(out);
    for (const MatrixEntry& e : block.M) operands.write(columns.mass(e.row, e.column), e.slot);
    for (const MatrixEntry& e : block.A) operands.write(columns.row_entry(e.row, e.column), e.slot);
    out.operands += columns.entries + m * n;
    for (std::size_t i = 0; i < n; ++i) operands.write(i, block.f[columns.order[i]]);
    out.operands += n;
    operands.list(block.b, block.b.size());
    out.solved_rows = out.operands;
    operands.finish();
    out.numbers += m * n + columns.entries + n + m * n + 2 * m * m + 2 * m + n + 3 * m + 4 * (n + m) + (n + m) * (n + m);
    out.indices = 3 * m + 2 * (n + m);
    out.tables = index_table(name + "_block", blocks) + index_table(name + "_touch", touches) +
                 index_table(name + "_reach", reach) + index_table(name + "_column", columns.order);
    out.tables += fmt::format("static const constrained_shape {} = {{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}}};\n\n", name, n, m,
                              columns.entries, columns.blocks.size(), table_name(name + "_block", blocks), touches.size() / 2,
                              table_name(name + "_touch", touches), table_name(name + "_reach", reach),
                              table_name(name + "_column", columns.order), block.b.size() > m ? 1 : 0);
}

// runtime/sparse_solve.c. NOTE: exported code allocates nothing, so that the memory of the pivoted solve is always there.
void sparse(const SolveBlock& block, const std::string& name, SolveText& out) {
    const SparseElimination& plan = *block.sparse;
    const std::size_t n = block.size, m = block.rows, entries = plan.entry_column.size();
    const std::size_t pivoted = plan.pivoted_entries();
    const bool alone = pivoted > SparseElimination::k_most_pivoted;
    SolveText full;
    constrained(block, name + "_full", full);
    // one operand for each number that the pivoted solve would read, without its zeros
    std::unordered_map<Slot, std::size_t> operand;
    std::vector<std::size_t> home;
    for (const Write& write : full.writes) {
        operand.emplace(write.slot, out.operands);
        home.push_back(write.index);
        out.writes.push_back({'o', out.operands++, write.slot});
    }
    out.numbers = out.operands + 1 + 2 * entries + 4 * (n + m) + (alone ? 0 : full.numbers);
    out.indices = alone ? 0 : full.indices;
    out.sparse = true;

    constexpr auto k_absent = static_cast<std::size_t>(-1);
    const auto of_slots = [&](const std::vector<Slot>& slots) {
        std::vector<std::size_t> values;
        for (const Slot slot : slots) values.push_back(slot == SparseElimination::k_none ? k_absent : operand.at(slot));
        return values;
    };
    const auto of_indices = [](const std::vector<std::uint32_t>& list) {
        return std::vector<std::size_t>(list.begin(), list.end());
    };
    std::vector<std::size_t> pairs, parts;
    for (const SparseElimination::Pair& pair : plan.pairs) {
        pairs.push_back(pair.mine);
        pairs.push_back(pair.other);
    }
    for (const SparseElimination::RowPart& part : plan.parts)
        for (const std::size_t value :
             {std::size_t{part.entry}, std::size_t{part.column},
              part.value == SparseElimination::k_none ? k_absent : operand.at(part.value), std::size_t{part.late}})
            parts.push_back(value);
    std::string names;
    const auto table = [&](const char* what, const std::vector<std::size_t>& values) {
        const std::string whole = fmt::format("{}_{}", name, what);
        out.tables += index_table(whole, values);
        names += ", " + table_name(whole, values);
    };
    table("unknown", of_indices(plan.unknown));
    table("diagonal", of_slots(plan.diagonal));
    table("right", of_slots(plan.right));
    table("first", of_indices(plan.first_entry));
    table("column", of_indices(plan.entry_column));
    table("value", of_slots(plan.entry_slot));
    table("first_pair", of_indices(plan.first_pair));
    table("pair", pairs);
    table("first_part", of_indices(plan.first_part));
    table("part", parts);
    if (alone) {
        names += ", 0, 0, 0, 0";
    } else {
        out.tables += full.tables;
        names += fmt::format(", &{}_full", name);
        table("home", home);
        names += fmt::format(", {}, {}", full.operands, pivoted <= SparseElimination::k_pivoted_decides ? 1 : 0);
    }
    out.tables +=
        fmt::format("static const sparse_shape {} = {{{}, {}, {}, {}{}}};\n\n", name, n, m, out.operands, entries, names);
}

// runtime/dense_solve.c
void dense(const SolveBlock& block, const std::string& name, SolveText& out) {
    const std::size_t n = block.size, m = block.rows, most = std::max(n, m);
    Operands operands(out);
    operands.matrix(block.M, n, n, true);
    operands.matrix(block.A, m, n);
    operands.list(block.f, n);
    operands.list(block.b, block.b.size());
    operands.finish();
    out.numbers += m * n + 2 * m + n * n + n + n * n + 2 * m * n + m * m + most * most + 2 * most + 2 * n + m;
    out.indices = 2 * m + n + most;
    const std::vector<std::size_t> given(block.independent.begin(), block.independent.end());
    out.tables = index_table(name + "_independent", given);
    out.tables += fmt::format("static const dense_shape {} = {{{}, {}, {}, {}, {}}};\n\n", name, n, m, given.size(),
                              table_name(name + "_independent", given), block.b.size() > m ? 1 : 0);
}

// runtime/realised_solve.c
void realised(const SolveBlock& block, const std::string& name, SolveText& out) {
    const std::size_t n = block.size, m = block.rows, r = block.s.size(), p = block.tau.size(), size = n + m;
    Operands operands(out);
    operands.matrix(block.M, n, n, true);
    operands.matrix(block.A, m, n);
    operands.list(block.f, n);
    operands.list(block.b, m);
    operands.matrix(block.S, r, n);
    operands.list(block.s, r);
    operands.matrix(block.D, n, p);
    operands.list(block.law, n, true);
    operands.matrix(block.law_slope, n, m, false, true);
    operands.finish();
    out.numbers += size * size + size + size * (1 + p + r) + size + r * p + r + 2 * (size + p) + 2 * m + m * n + 2 * m * m;
    out.indices = 2 * size + r;
    std::vector<std::size_t> law_rows;
    for (std::size_t row = 0; row < m; ++row)
        if (std::any_of(block.law_slope.begin(), block.law_slope.end(), [&](const MatrixEntry& e) { return e.column == row; }))
            law_rows.push_back(row);
    out.tables = index_table(name + "_law", law_rows) +
                 fmt::format("static const realised_shape {} = {{{}, {}, {}, {}, {}, {}, {}}};\n\n", name, n, m, r, p,
                             law_rows.size(), table_name(name + "_law", law_rows), block.law.empty() ? 0 : 1);
}

// runtime/linear_solve.c
void linear(const SolveBlock& block, SolveText& out) {
    const std::size_t n = block.size;
    Operands operands(out);
    operands.matrix(block.A, n, n);
    operands.list(block.b, block.b.size());
    operands.finish();
    out.numbers += 2 * n;
    out.indices = 2 * n;
}

std::string_view dense_steps(SolveKind kind) {
    switch (kind) {
        case SolveKind::minimal: return "solve_minimal(&c)";
        case SolveKind::nonminimal: return "solve_nonminimal(&c)";
        case SolveKind::udwadia_kalaba: return "factor_dense_mass(&c) && solve_udwadia_kalaba(&c)";
        default: return "factor_dense_mass(&c) && solve_ukp(&c)";
    }
}

}  // namespace

ColumnLayout::ColumnLayout(const SolveBlock& block) : position(block.size), block_of(block.size) {
    for (const std::size_t index : RowColumns(block).block_order) {
        const std::vector<std::uint32_t>& members = block.mass_blocks[index];
        for (const std::uint32_t column : members) {
            position[column] = order.size();
            block_of[column] = blocks.size();
            order.push_back(column);
        }
        blocks.push_back({order.size() - members.size(), members.size(), entries});
        entries += members.size() * members.size();
    }
}

std::string index_table(const std::string& name, const std::vector<std::size_t>& values) {
    if (values.empty()) return {};
    std::string out = fmt::format("static const int {}[] = {{", name);
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (i % 24 == 0 && values.size() > 24) out += "\n    ";
        out += fmt::format("{}{}", static_cast<std::ptrdiff_t>(values[i]), i + 1 < values.size() ? ", " : "");
    }
    return out + "};\n";
}

SolveText solve_text(const SolveBlock& block, const std::string& name) {
    SolveText out;
    switch (block.kind) {
        case SolveKind::multipliers: block.sparse ? sparse(block, name, out) : constrained(block, name, out); break;
        case SolveKind::realised: realised(block, name, out); break;
        case SolveKind::linear: linear(block, out); break;
        default: dense(block, name, out);
    }
    return out;
}

std::string solve_call(const SolveBlock& block, const std::string& name, const std::string& limit, std::size_t unknowns,
                       const std::string& law) {
    switch (block.kind) {
        case SolveKind::multipliers:
            return fmt::format("    {}(&{}, o, w->i, {}, s + {}, &one);\n", block.sparse ? "solve_sparse" : "solve_constrained",
                               name, limit, unknowns);
        case SolveKind::linear:
            return fmt::format("    solve_linear({}, {}, o, w->i, s + {}, &one);\n", block.size, block.b.size() / block.size,
                               unknowns);
        case SolveKind::realised: {
            const std::size_t guess = unknowns + block.x.size() + block.lambda.size() + block.tau.size();
            std::string out = fmt::format(
                "    {{\n        realised_memory c;\n        realised_layout(&c, &{}, o, w->i, {}, &one);\n        "
                "begin_realised(&c);\n",
                name, limit);
            if (!block.guess.empty())
                out += fmt::format(
                    "        while (next_start(&c, s + {0})) {{\n{1}            while (iterate_law(&c, s + {0})) {{\n{1}"
                    "            }}\n        }}\n",
                    guess, law);
            out += fmt::format("        finish_realised(&c, s + {}, s + {});\n{}    }}\n", unknowns, guess,
                               block.guess.empty() ? "" : law);
            return out;
        }
        default:
            return fmt::format(
                "    {{\n        dense_memory c;\n        if (begin_dense(&c, &{}, o, w->i, {}, &one))\n"
                "            finish_dense(&c, {}, s + {});\n    }}\n",
                name, limit, dense_steps(block.kind), unknowns);
    }
}

}  // namespace appell
