// Lowering: expressions to a program of segments and solve blocks.
//
// The stage of a node is one more than the index of the latest solve whose unknowns it uses; segment k computes the nodes of
// stage k. What depends on parameters and constants alone comes before all others, in a segment of its own. A law that depends on
// its own solve's multipliers is a stage of its own between the guess and the solve. Inside a segment instructions are ordered by
// depth, then by operation, and equal neighbours form runs, so that the interpreter branches once per run. Slots of temporaries
// are given out by a linear scan; they return to the pool at the end of the run that reads them last, which keeps the
// instructions of a run independent. All passes are plain loops over needed nodes, n log n together.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "base/error.hpp"
#include "expr/sweep.hpp"
#include "tape/program.hpp"
#include "tape/sparse_elimination.hpp"

namespace appell {

const OutputRange& Program::output(std::string_view name) const {
    for (const OutputRange& range : outputs)
        if (range.name == name) return range;
    throw Error("the program has no output named " + std::string(name));
}

std::size_t Program::moving_instructions() const {
    std::size_t steady_ones = 0;
    for (std::size_t k = 0; k < steady_segments; ++k)
        for (const InstructionRun& run : segments[k].runs) steady_ones += run.end - run.begin;
    return instructions.size() - steady_ones;
}

namespace {

constexpr std::uint32_t k_none = 0xffffffffu;

class Lowering {
public:
    Lowering(const Graph& graph, const ProgramSpec& spec, const LowerOptions& options)
        : g_(graph), spec_(spec), options_(options) {}

    Program run() {
        check_sizes();
        find_read_multipliers();
        collect();
        number_symbols();
        stage_and_level();
        order_instructions();
        place_values();
        write_instructions();
        write_solves();
        write_outputs();
        return std::move(program_);
    }

private:
    struct Key {
        std::uint32_t stage, level;
        std::uint32_t node;  // local index
        Op op;
    };

    void check_sizes() const {
        for (const ConstrainedSolve& s : spec_.solves) {
            if (s.kind == SolveKind::linear) {
                check_linear(s);
                continue;
            }
            const std::size_t n = s.x.size(), m = s.lambda.size();
            const bool a_fits = s.A.rows == m && (s.A.columns == n || (m == 0 && s.A.entries.empty()));
            const bool b_fits = s.b.size() == m || s.b.size() == 2 * m;
            if (s.M.rows != n || s.M.columns != n || s.f.size() != n || !a_fits || !b_fits)
                throw Error("the sizes of a solve disagree: M is " + std::to_string(s.M.rows) + " x " +
                            std::to_string(s.M.columns) + ", A is " + std::to_string(s.A.rows) + " x " +
                            std::to_string(s.A.columns) + ", f has " + std::to_string(s.f.size()) + " and b " +
                            std::to_string(s.b.size()) + " rows, x has " + std::to_string(n) + " and lambda " +
                            std::to_string(m) + " symbols");
            for (const SparseEntry& e : s.M.entries)
                if (e.row >= n || e.column > e.row) throw Error("M of a solve takes entries of its lower triangle only");
            for (const SparseEntry& e : s.A.entries)
                if (e.row >= m || e.column >= n) throw Error("an entry of A lies outside the matrix");
            const bool law_fits = s.law.empty() ? s.guess.empty() : s.law.size() == n && s.guess.size() == m;
            if (!law_fits || s.S.rows != s.s.size() || s.D.columns != s.tau.size())
                throw Error("the sizes of a law, of servo rows or of actuators disagree with their solve");
        }
    }

    template <class Visit>
    void for_each_operand_of(const ConstrainedSolve& s, Visit visit) const {
        for (const SparseMatrix* matrix : {&s.M, &s.A, &s.law_slope, &s.S, &s.D})
            for (const SparseEntry& e : matrix->entries) visit(e.value);
        for (const std::vector<NodeId>* list : {&s.f, &s.b, &s.law, &s.s})
            for (const NodeId id : *list) visit(id);
        const bool with_lambda = lambda_read_[static_cast<std::size_t>(&s - spec_.solves.data())];
        s.closed.for_each(visit, with_lambda);
    }

    // outputs, and what conditions compare
    template <class Visit>
    void for_each_result(Visit visit) const {
        for (const OutputGroup& group : spec_.outputs)
            for (const NodeId id : group.values) visit(id);
        for (const auto& [more, less] : spec_.at_least) {
            visit(more);
            visit(less);
        }
    }

    static void check_linear(const ConstrainedSolve& s) {
        const std::size_t n = s.A.columns;
        if (n == 0 || s.A.rows != n || s.b.size() % n != 0 || s.x.size() != s.b.size())
            throw Error("the sizes of a linear solve disagree: A is " + std::to_string(s.A.rows) + " x " + std::to_string(n) +
                        ", b has " + std::to_string(s.b.size()) + " numbers, x has " + std::to_string(s.x.size()) + " symbols");
        if (s.M.rows != 0 || !s.M.entries.empty() || !s.f.empty() || !s.lambda.empty())
            throw Error("a linear solve has no M, f and lambda");
        for (const SparseEntry& e : s.A.entries)
            if (e.row >= n || e.column >= n) throw Error("an entry of A lies outside the matrix");
    }

    // closed forms of multipliers that neither an output nor a solve reads need not be computed
    void find_read_multipliers() {
        lambda_read_.assign(spec_.solves.size(), true);
        const auto has_one = [](const ConstrainedSolve& s) { return !s.closed.empty(); };
        if (std::none_of(spec_.solves.begin(), spec_.solves.end(), has_one)) return;
        lambda_read_.assign(spec_.solves.size(), false);
        std::vector<NodeId> readers;
        for_each_result([&](NodeId id) { readers.push_back(id); });
        for (const ConstrainedSolve& s : spec_.solves) for_each_operand_of(s, [&](NodeId id) { readers.push_back(id); });
        for (const NodeId id : readers)
            if (!id.valid() || id.index() >= g_.size()) return;  // collect() says so
        std::vector<bool> read(g_.symbol_count());
        Sweep sweep;
        for (const NodeId id : sweep.collect(g_, readers))
            if (g_.op(id) == Op::Symbol) read[g_.symbol_of(id).index()] = true;
        for (std::size_t k = 0; k < spec_.solves.size(); ++k)
            for (const SymbolId l : spec_.solves[k].lambda)
                if (l.index() < read.size() && read[l.index()]) lambda_read_[k] = true;
    }

    // the needed nodes, operands first, and their index in that order
    void collect() {
        std::vector<NodeId> roots;
        for (const ConstrainedSolve& s : spec_.solves) for_each_operand_of(s, [&](NodeId id) { roots.push_back(id); });
        for_each_result([&](NodeId id) { roots.push_back(id); });
        for (const NodeId root : roots)
            if (!root.valid() || root.index() >= g_.size()) throw Error("a value of the program is not a node of the graph");
        Sweep sweep;
        order_ = sweep.collect(g_, roots);
        local_.assign(g_.size(), k_none);
        for (std::size_t i = 0; i < order_.size(); ++i) local_[order_[i].index()] = static_cast<std::uint32_t>(i);
        slot_.assign(order_.size(), k_none);
        find_steady();
    }

    // values of parameters and constants alone; without parameters nothing is told apart
    void find_steady() {
        const auto is_parameter = [&](SymbolId s) {
            return s.index() < g_.symbol_count() && g_.symbol(s).kind == SymbolKind::parameter;
        };
        steady_.assign(order_.size(), false);
        if (std::ranges::none_of(spec_.inputs, is_parameter)) return;
        std::vector<bool> given(g_.symbol_count());
        for (const SymbolId s : spec_.inputs)
            if (is_parameter(s)) given[s.index()] = true;
        for (std::size_t i = 0; i < order_.size(); ++i) {
            const NodeId id = order_[i];
            const Op op = g_.op(id);
            const int arity = g_.arity(id);
            bool steady = op != Op::Symbol || given[g_.symbol_of(id).index()];
            for (int k = 0; k < arity && steady; ++k) steady = steady_[operand(id, k)];
            steady_[i] = steady;
            if (steady && arity > 0 && op != Op::Args) program_.steady_segments = 1;
        }
    }

    // inputs take the first slots; unknowns get theirs after inputs and constants
    void number_symbols() {
        symbol_slot_.assign(g_.symbol_count(), k_none);
        symbol_stage_.assign(g_.symbol_count(), 0);
        program_.inputs = spec_.inputs.size();
        const auto first = static_cast<std::uint32_t>(program_.steady_segments);
        for (std::size_t i = 0; i < spec_.inputs.size(); ++i) claim(spec_.inputs[i], static_cast<Slot>(i), first);
        next_ = static_cast<Slot>(program_.inputs);
        for (std::size_t i = 0; i < order_.size(); ++i) {
            const Op op = g_.op(order_[i]);
            if (op == Op::Constant) {
                slot_[i] = next_++;
                program_.constants.emplace_back(slot_[i], *g_.constant_value(order_[i]));
            } else if (op == Op::Pi) {
                slot_[i] = next_++;
                program_.pi_slots.push_back(slot_[i]);
            }
        }
        number_reciprocals();
        std::uint32_t stage = first;
        for (const ConstrainedSolve& s : spec_.solves) {
            if (!s.guess.empty()) ++stage;
            for (const SymbolId symbol : s.guess) claim(symbol, next_++, stage);
            stage_of_solve_.push_back(stage++);
            for (const std::vector<SymbolId>* unknowns : {&s.x, &s.lambda, &s.tau})
                for (const SymbolId symbol : *unknowns) claim(symbol, next_++, stage);
        }
    }

    // A quotient by a power of two is a product, to the last bit, and not waited for.
    void number_reciprocals() {
        reciprocal_.assign(order_.size(), k_none);
        for (const NodeId id : order_) {
            if (g_.op(id) != Op::Div) continue;
            const std::uint32_t divisor = operand(id, 1);
            const std::optional<double> value = g_.constant_value(g_.operand(id, 1));
            if (!value || reciprocal_[divisor] != k_none || !has_exact_reciprocal(*value)) continue;
            reciprocal_[divisor] = next_++;
            program_.constants.emplace_back(reciprocal_[divisor], 1 / *value);
        }
    }
    [[nodiscard]] static bool has_exact_reciprocal(double value) {
        int exponent = 0;
        return std::abs(std::frexp(value, &exponent)) == 0.5 && std::isnormal(value) && std::isnormal(1 / value);
    }
    [[nodiscard]] bool is_product(NodeId id) const { return g_.op(id) == Op::Div && reciprocal_[operand(id, 1)] != k_none; }

    void claim(SymbolId symbol, Slot slot, std::uint32_t stage) {
        if (symbol.index() >= g_.symbol_count()) throw Error("an input or unknown of the program is not a symbol of the graph");
        if (symbol_slot_[symbol.index()] != k_none)
            throw Error("the symbol " + g_.symbol(symbol).name + " is an input or unknown of the program twice");
        symbol_slot_[symbol.index()] = slot;
        symbol_stage_[symbol.index()] = stage;
    }

    // stage by the unknowns used, level by depth inside the stage; argument lists pass both on
    void stage_and_level() {
        stage_.assign(order_.size(), 0);
        level_.assign(order_.size(), 0);
        keys_.reserve(order_.size());
        for (std::size_t i = 0; i < order_.size(); ++i) {
            const NodeId id = order_[i];
            const Op op = g_.op(id);
            if (op == Op::Constant || op == Op::Pi || op == Op::NoArgs) continue;
            if (op == Op::Symbol) {
                const SymbolId symbol = g_.symbol_of(id);
                slot_[i] = symbol_slot_[symbol.index()];
                if (slot_[i] == k_none)
                    throw Error("the program uses the symbol " + g_.symbol(symbol).name + ", which is not one of its inputs");
                stage_[i] = steady_[i] ? 0 : symbol_stage_[symbol.index()];
                continue;
            }
            if (!(info(op).scalar || op == Op::PowInt || op == Op::Args || op == Op::Call))
                throw Error("vector expressions can not be lowered: resolve them into components first");
            const int arity = g_.arity(id);
            if (!steady_[i]) stage_[i] = static_cast<std::uint32_t>(program_.steady_segments);
            for (int k = 0; k < arity; ++k) stage_[i] = std::max(stage_[i], stage_[operand(id, k)]);
            for (int k = 0; k < arity; ++k) {
                const std::uint32_t o = operand(id, k);
                if (stage_[o] == stage_[i]) level_[i] = std::max(level_[i], level_[o]);
            }
            if (op == Op::Args) continue;
            ++level_[i];
            keys_.push_back({stage_[i], level_[i], static_cast<std::uint32_t>(i), is_product(id) ? Op::Mul : op});
        }
        for (std::size_t k = 0; k < spec_.solves.size(); ++k)
            for_each_operand_of(spec_.solves[k], [&](NodeId id) {
                if (stage_[local_[id.index()]] > stage_of_solve_[k])
                    throw Error("solve " + std::to_string(k) + " uses unknowns of its own or of a later solve");
            });
    }

    void order_instructions() {
        std::sort(keys_.begin(), keys_.end(), [](const Key& x, const Key& y) {
            if (x.stage != y.stage) return x.stage < y.stage;
            if (x.level != y.level) return x.level < y.level;
            if (x.op != y.op) return x.op < y.op;
            return x.node < y.node;
        });
        program_.segments.resize(stage_of_solve_.empty() ? 1 + program_.steady_segments : stage_of_solve_.back() + 2);
        for (std::size_t k = 0; k < spec_.solves.size(); ++k) {
            Segment& segment = program_.segments[stage_of_solve_[k]];
            segment.solve = static_cast<std::int32_t>(k);
            segment.repeats = !spec_.solves[k].guess.empty();
        }
        // a run also ends with its level: its instructions must not feed each other
        for (std::size_t begin = 0; begin < keys_.size();) {
            const Key& first = keys_[begin];
            std::size_t end = begin + 1;
            while (end < keys_.size() && keys_[end].stage == first.stage && keys_[end].level == first.level &&
                   keys_[end].op == first.op)
                ++end;
            program_.segments[first.stage].runs.push_back(
                {first.op, static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)});
            begin = end;
        }
    }

    // slots: first the values that keep theirs, then a linear scan over the rest
    void place_values() {
        std::vector<bool> keeps(order_.size(), !options_.share_slots);
        const auto keep = [&](NodeId id) { keeps[local_[id.index()]] = true; };
        for (const ConstrainedSolve& s : spec_.solves) for_each_operand_of(s, keep);
        for_each_result(keep);

        // the last reader of each value, and the values that cross into a later segment
        std::vector<std::uint32_t> last_use(order_.size(), 0);
        for (std::size_t i = 0; i < keys_.size(); ++i)
            for_each_operand(order_[keys_[i].node], [&](std::uint32_t o) {
                last_use[o] = static_cast<std::uint32_t>(i);
                if (stage_[o] != keys_[i].stage) keeps[o] = true;
            });

        for (const Key& key : keys_)
            if (keeps[key.node]) slot_[key.node] = next_++;
        program_.first_temporary = next_;
        list_steady_slots();

        std::vector<Slot> pool, ending;
        for (const Segment& segment : program_.segments) {
            for (const InstructionRun& run : segment.runs) {
                ending.clear();
                for (std::uint32_t i = run.begin; i < run.end; ++i) {
                    const std::uint32_t node = keys_[i].node;
                    if (!keeps[node]) {
                        if (pool.empty()) pool.push_back(next_++);
                        slot_[node] = pool.back();
                        pool.pop_back();
                    }
                    for_each_operand(order_[node], [&](std::uint32_t o) {
                        if (last_use[o] != i || keeps[o] || slot_[o] < program_.first_temporary) return;
                        ending.push_back(slot_[o]);
                        last_use[o] = k_none;  // an operand used twice by one instruction is freed once
                    });
                }
                pool.insert(pool.end(), ending.rbegin(), ending.rend());
            }
        }
        program_.slots = next_;
    }

    void list_steady_slots() {
        if (std::ranges::none_of(steady_, [](bool steady) { return steady; })) return;
        program_.steady.assign(program_.first_temporary, false);
        for (std::size_t i = 0; i < order_.size(); ++i)
            if (steady_[i] && slot_[i] != k_none) program_.steady[slot_[i]] = true;
    }

    void write_instructions() {
        std::vector<std::uint32_t> function_index(g_.function_count(), k_none);
        program_.instructions.reserve(keys_.size());
        for (const Key& key : keys_) {
            const NodeId id = order_[key.node];
            Instruction in{key.op, slot_[key.node], 0, 0, 0};
            if (key.op == Op::Call) {
                const FunctionId f = g_.function_of(id);
                if (function_index[f.index()] == k_none) {
                    function_index[f.index()] = static_cast<std::uint32_t>(program_.functions.size());
                    const FunctionInfo& function = g_.function(f);
                    program_.functions.push_back({g_.function(function.base).name, function.orders});
                }
                std::vector<Slot> arguments;
                for_each_operand(id, [&](std::uint32_t o) { arguments.push_back(slot_[o]); });
                in.a = static_cast<Slot>(program_.argument_lists.size());
                in.b = function_index[f.index()];
                program_.argument_lists.push_back(std::move(arguments));
            } else if (key.op == Op::PowInt) {
                in.a = slot_[operand(id, 0)];
                in.b = static_cast<Slot>(g_.exponent(id));
            } else {
                // absent operands repeat the first: the interpreter may load them
                const int arity = g_.arity(id);
                in.a = slot_[operand(id, 0)];
                in.b = arity > 1 ? slot_[operand(id, 1)] : in.a;
                in.c = arity > 2 ? slot_[operand(id, 2)] : in.a;
                if (is_product(id)) in.b = reciprocal_[operand(id, 1)];
            }
            program_.instructions.push_back(in);
        }
    }

    void write_solves() {
        for (const ConstrainedSolve& s : spec_.solves) {
            SolveBlock block;
            block.kind = s.kind;
            block.growth = s.growth;
            block.size = s.kind == SolveKind::linear ? s.A.columns : s.x.size();
            block.rows = s.kind == SolveKind::linear ? s.A.rows : s.lambda.size();
            const auto entries = [&](const SparseMatrix& matrix, std::vector<MatrixEntry>& out) {
                for (const SparseEntry& e : matrix.entries) out.push_back({e.row, e.column, slot(e.value)});
            };
            entries(s.M, block.M);
            entries(s.A, block.A);
            entries(s.law_slope, block.law_slope);
            entries(s.S, block.S);
            entries(s.D, block.D);
            const auto values = [&](const std::vector<NodeId>& list, std::vector<Slot>& out) {
                for (const NodeId id : list) out.push_back(slot(id));
            };
            values(s.f, block.f);
            values(s.b, block.b);
            values(s.law, block.law);
            values(s.s, block.s);
            values(s.closed.x, block.closed.x);
            if (lambda_read_[program_.solves.size()]) values(s.closed.lambda, block.closed.lambda);
            values(s.closed.mass_pivots, block.closed.mass_pivots);
            values(s.closed.mass_diagonal, block.closed.mass_diagonal);
            values(s.closed.row_pivots, block.closed.row_pivots);
            values(s.closed.row_diagonal, block.closed.row_diagonal);
            block.closed.pivot_rows = s.closed.pivot_rows;
            const auto unknowns = [&](const std::vector<SymbolId>& list, std::vector<Slot>& out) {
                for (const SymbolId symbol : list) out.push_back(symbol_slot_[symbol.index()]);
            };
            unknowns(s.x, block.x);
            unknowns(s.lambda, block.lambda);
            unknowns(s.guess, block.guess);
            unknowns(s.tau, block.tau);
            block.independent = s.independent;
            block.mass_blocks = mass_blocks(block);
            if (s.closed.empty()) block.sparse = plan_sparse_elimination(block);
            program_.solves.push_back(std::move(block));
        }
    }

    // the connected components of M's pattern, by their first column
    static std::vector<std::vector<std::uint32_t>> mass_blocks(const SolveBlock& block) {
        std::vector<std::uint32_t> parent(block.size);
        std::iota(parent.begin(), parent.end(), 0u);
        const auto root = [&](std::uint32_t i) {
            while (parent[i] != i) i = parent[i] = parent[parent[i]];
            return i;
        };
        for (const MatrixEntry& e : block.M) {
            const std::uint32_t r = root(e.row), c = root(e.column);
            parent[std::max(r, c)] = std::min(r, c);
        }
        std::vector<std::vector<std::uint32_t>> blocks;
        std::vector<std::uint32_t> index(block.size, k_none);
        for (std::uint32_t i = 0; i < block.size; ++i) {
            const std::uint32_t r = root(i);
            if (index[r] == k_none) {
                index[r] = static_cast<std::uint32_t>(blocks.size());
                blocks.emplace_back();
            }
            blocks[index[r]].push_back(i);
        }
        return blocks;
    }

    void write_outputs() {
        for (const OutputGroup& group : spec_.outputs) {
            const auto begin = static_cast<std::uint32_t>(program_.output_slots.size());
            for (const NodeId id : group.values) program_.output_slots.push_back(slot(id));
            program_.outputs.push_back({group.name, begin, static_cast<std::uint32_t>(program_.output_slots.size())});
        }
        for (const auto& [more, less] : spec_.at_least) program_.at_least.emplace_back(slot(more), slot(less));
    }

    [[nodiscard]] std::uint32_t operand(NodeId id, int k) const { return local_[g_.operand(id, k).index()]; }
    [[nodiscard]] Slot slot(NodeId id) const { return slot_[local_[id.index()]]; }

    // the values an instruction reads: its operands, or the members of its argument list
    template <class Visit>
    void for_each_operand(NodeId id, Visit visit) const {
        if (g_.op(id) == Op::Call) {
            for (const NodeId argument : g_.call_arguments(id)) visit(local_[argument.index()]);
            return;
        }
        const int arity = g_.arity(id);
        for (int k = 0; k < arity; ++k) visit(operand(id, k));
    }

    const Graph& g_;
    const ProgramSpec& spec_;
    std::vector<bool> lambda_read_;  // by solve
    const LowerOptions options_;
    Program program_;
    std::vector<NodeId> order_;         // needed nodes, ascending; all tables below are by index in it
    std::vector<std::uint32_t> local_;  // node -> index in order_
    std::vector<bool> steady_;          // of parameters and constants alone
    std::vector<std::uint32_t> stage_, level_;
    std::vector<Slot> slot_;
    std::vector<Slot> reciprocal_;  // of divisors that are powers of two
    std::vector<Slot> symbol_slot_;
    std::vector<std::uint32_t> symbol_stage_;
    std::vector<std::uint32_t> stage_of_solve_;  // the segment it ends
    std::vector<Key> keys_;                      // one per instruction
    Slot next_ = 0;
};

}  // namespace

Program lower_program(const Graph& graph, const ProgramSpec& spec, const LowerOptions& options) {
    return Lowering(graph, spec, options).run();
}

}  // namespace appell
