// Random programs, exported and compiled, against the interpreter, bit by bit: every operation of the table, and solves of every
// kind with random patterns, rows that depend on each other, and mass matrices that are close to singular.
#include <gtest/gtest.h>

#include <array>
#include <random>

#include "pipeline/export_code.hpp"
#include "support/exported_probe.hpp"
#include "support/gallery_run.hpp"
#include "support/random_expressions.hpp"
#include "tape/workspace.hpp"

namespace appell {
namespace {

// a small model whose outputs are replaced: its inputs are t, x, x', a, b, c, d and the length
constexpr std::size_t k_inputs = 8;

ExportedModel with_outputs(Program program) {
    Derivation d = derive_text(
        "system random\nparam a = 1, b = 2, c = 3, d = 4\ncoord x = 1 m\nparticle P mass 1 kg at O + x*N.x\noutput y = a + b + c "
        "+ "
        "d\nrun for 1 s\n");
    std::optional<ExportedModel> model = exported_model(d, {});
    EXPECT_TRUE(model.has_value()) << render(d.diagnostics, d.sources);
    EXPECT_EQ(model->rate.inputs, k_inputs);
    model->outputs.clear();
    for (std::size_t i = 0; i < program.output_slots.size(); ++i) model->outputs.push_back({fmt::format("y{}", i + 1), ""});
    model->output_values = std::move(program);
    return std::move(*model);
}

struct Symbols {
    explicit Symbols(Graph& g) {
        for (std::size_t i = 0; i < k_inputs; ++i) {
            ids.push_back(g.add_symbol(fmt::format("s{}", i + 1), SymbolKind::other));
            expressions.push_back(Expr{&g, g.symbol_node(ids.back())});
        }
    }
    std::vector<SymbolId> ids;
    std::vector<Expr> expressions;
};

void expect_same_outputs(const Program& program, ExportLanguage language, const std::string& compiler,
                         std::size_t most_statements) {
    const ExportedModel model = with_outputs(program);
    const ExportedCode code(model, language, most_statements);
    ASSERT_TRUE(code.compile(compiler));
    std::mt19937_64 random(7);
    std::uniform_real_distribution<double> uniform(-2, 2);
    std::vector<ProbeState> states;
    for (int k = 0; k < 20; ++k) {
        ProbeState s;
        s.t = k == 19 ? 0 : uniform(random);
        for (int i = 0; i < 2; ++i) s.x.push_back(k == 19 ? 0 : uniform(random));
        for (int i = 0; i < 5; ++i) s.p.push_back(k == 19 ? 0 : uniform(random));
        states.push_back(std::move(s));
    }
    ProbeAnswers answers = code.ask(states);
    ASSERT_EQ(answers.size(), states.size());
    Workspace<double> workspace(program);
    for (std::size_t k = 0; k < states.size(); ++k) {
        const std::span<double> in = workspace.inputs();
        in[0] = states[k].t;
        std::copy(states[k].x.begin(), states[k].x.end(), in.begin() + 1);
        std::copy(states[k].p.begin(), states[k].p.end(), in.begin() + 3);
        const EvalReport report = workspace.run();
        const ProbeAnswer& got = answers[k]["outputs"];
        EXPECT_EQ(got.status, static_cast<int>(report.status)) << "state " << k;
        ASSERT_EQ(got.values.size(), workspace.outputs().size());
        for (std::size_t i = 0; i < got.values.size(); ++i)
            ASSERT_EQ(ulps(got.values[i], workspace.outputs()[i]), 0)
                << "state " << k << ", output " << i << ": " << got.values[i] << " and " << workspace.outputs()[i];
    }
}

TEST(ExportedRandom, ExpressionsOfEveryOperation) {
    for (const std::uint64_t seed : {1, 2}) {
        SCOPED_TRACE(seed);
        Graph g;
        const Symbols symbols(g);
        test::RandomExpressions random(g, symbols.expressions, seed, {.piecewise = true});
        OutputGroup group{"y", {}};
        for (int i = 0; i < 40; ++i) group.values.push_back(random.next(10).id);
        for (const int n : {-7, -5, -4, -3, -2, -1, 2, 3, 4, 5, 6, 7, 8, 11, 13})  // powers by products
            group.values.push_back(g.pow(g.add(symbols.expressions[2].id, g.constant(3)), n));
        const Program program = lower_program(g, {symbols.ids, {}, {group}});
        expect_same_outputs(program, ExportLanguage::c, "gcc", seed == 1 ? 2000 : 50);
        expect_same_outputs(program, ExportLanguage::cpp, has_command("clang++") ? "clang++" : "g++", 300);
    }
}

// min, max, sign and abs of what is no number are none, in C and in C++ as on the tape; the parameter `a` says which
TEST(ExportedRandom, WhatIsNoNumberStaysNone) {
    Graph g;
    const Symbols symbols(g);
    const NodeId x = symbols.expressions[1].id, y = symbols.expressions[2].id, which = symbols.expressions[3].id;
    NodeId value = g.make(Op::Abs, x);
    double k = 2;
    for (const NodeId node : {g.make(Op::Sign, x), g.make(Op::Max, x, y), g.make(Op::Min, x, y)})
        value = g.make(Op::If, g.make(Op::LessEqual, which, g.constant(k--)), node, value);
    const Program program = lower_program(g, {symbols.ids, {}, {{"y", {value}}}});
    const double none = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
    std::vector<ProbeState> states;
    for (const double operation : {0.0, 1.0, 2.0, 3.0})
        for (const double first : {none, -0.5, infinity})
            for (const double second : {none, 2.0, -infinity}) states.push_back({0, {first, second}, {operation, 1, 1, 1, 1}});
    Workspace<double> workspace(program);
    for (const auto& [language, compiler] : {std::pair{ExportLanguage::c, "gcc"}, {ExportLanguage::cpp, "g++"}}) {
        const ExportedCode code(with_outputs(program), language);
        ASSERT_TRUE(code.compile(compiler));
        ProbeAnswers answers = code.ask(states);
        ASSERT_EQ(answers.size(), states.size());
        for (std::size_t s = 0; s < states.size(); ++s) {
            std::ranges::copy(states[s].x, workspace.inputs().begin() + 1);
            std::ranges::copy(states[s].p, workspace.inputs().begin() + 3);
            (void)workspace.run();
            const double first = states[s].x[0], second = states[s].x[1], wanted = workspace.outputs()[0];
            const bool takes_both = states[s].p[0] <= 1;
            EXPECT_EQ(std::isnan(wanted), std::isnan(first) || (takes_both && std::isnan(second))) << "state " << s;
            const ProbeAnswer& found = answers[s]["outputs"];
            EXPECT_EQ(ulps(found.values.at(0), wanted), 0) << "state " << s;
            EXPECT_EQ(found.status == 0, std::isfinite(wanted)) << "state " << s;
        }
    }
}

class RandomSolves {
public:
    RandomSolves(Graph& g, const Symbols& symbols, std::uint64_t seed)
        : g_(g), random_(seed), values_(g, symbols.expressions, seed) {}

    ConstrainedSolve constrained(SolveKind kind) {
        ConstrainedSolve s;
        s.kind = kind;
        const std::size_t n = 1 + pick(kind == SolveKind::multipliers ? 24 : 6), m = pick(std::min<std::size_t>(n, 6) + 1);
        s.M = {n, n, {}};
        const std::size_t coupling = pick(4);                                              // none, little, much
        const double weak = pick(5) == 0 && kind == SolveKind::multipliers ? 1e-14 : 1.0;  // close to singular
        for (std::uint32_t i = 0; i < n; ++i) {
            for (std::uint32_t j = 0; j < i; ++j)
                if (pick(6) < coupling) s.M.entries.push_back({i, j, scaled(0.4 / static_cast<double>(n))});
            const NodeId size = g_.add(g_.constant(1.5), g_.make(Op::Tanh, value()));
            s.M.entries.push_back({i, i, i == 0 ? g_.mul(g_.constant(weak), size) : size});
        }
        rows(s, m, n);
        for (std::size_t i = 0; i < n; ++i) s.f.push_back(value());
        name(s, n, m);
        return s;
    }

    // Rows along a chain, three columns each. Every fourth is next to the one before it, by a distance whose square is plain,
    // calls for refinement or for the pivoted solve, or is nothing.
    ConstrainedSolve chain() {
        ConstrainedSolve s;
        const auto m = static_cast<std::uint32_t>(12 + pick(8)), n = 2 * m + 1;
        s.M = {n, n, {}};
        for (std::uint32_t i = 0; i < n; ++i) s.M.entries.push_back({i, i, g_.add(g_.constant(1.5), g_.make(Op::Tanh, value()))});
        s.A = {m, n, {}};
        std::array<NodeId, 3> row{};
        for (std::uint32_t i = 0; i < m; ++i) {
            const bool near = i % 4 == 3;
            const double distance = std::array{0.3, 0.03, 3e-3, 1e-4, 0.0}[pick(5)];
            for (std::uint32_t j = 0; j < 3; ++j) {
                row[j] = near ? g_.add(row[j], scaled(distance)) : g_.add(g_.constant(j == 1 ? 2 : 1), scaled(0.5));
                s.A.entries.push_back({i, 2 * (near ? i - 1 : i) + j, row[j]});
            }
            s.b.push_back(value());
        }
        for (std::size_t i = 0; i < n; ++i) s.f.push_back(value());
        name(s, n, m);
        return s;
    }

    ConstrainedSolve linear() {
        ConstrainedSolve s;
        s.kind = SolveKind::linear;
        const std::size_t n = 1 + pick(7), sides = 1 + pick(3);
        s.A = {n, n, {}};
        for (std::uint32_t i = 0; i < n; ++i)
            for (std::uint32_t j = 0; j < n; ++j)
                if (i == j || pick(2) == 0) s.A.entries.push_back({i, j, value()});
        for (std::size_t i = 0; i < n * sides; ++i) {
            s.b.push_back(value());
            s.x.push_back(g_.add_symbol(fmt::format("x{}", ++named_), SymbolKind::other));
        }
        return s;
    }

private:
    std::size_t pick(std::size_t count) { return static_cast<std::size_t>(random_() % count); }
    NodeId value() { return values_.next(3).id; }
    NodeId scaled(double factor) { return g_.mul(g_.constant(factor), g_.make(Op::Sin, value())); }

    // some rows are sums of the ones before, and ask for what those ask for, or for something else
    void rows(ConstrainedSolve& s, std::size_t m, std::size_t n) {
        std::vector<std::vector<NodeId>> row(m, std::vector<NodeId>(n));
        for (std::size_t i = 0; i < m; ++i) {
            const bool repeats = i >= 2 && pick(3) == 0;
            for (std::size_t j = 0; j < n; ++j) {
                if (repeats && (row[i - 1][j].valid() || row[i - 2][j].valid()))
                    row[i][j] = g_.add(part(row[i - 1][j]), part(row[i - 2][j]));
                else if (!repeats && (pick(3) != 0 || j == i))
                    row[i][j] = value();
            }
            s.b.push_back(repeats && pick(3) != 0 ? g_.add(s.b[i - 1], s.b[i - 2]) : value());
        }
        s.A = {m, n, {}};
        for (std::uint32_t i = 0; i < m; ++i)
            for (std::uint32_t j = 0; j < n; ++j)
                if (row[i][j].valid()) s.A.entries.push_back({i, j, row[i][j]});
    }
    NodeId part(NodeId entry) { return entry.valid() ? entry : g_.constant(0); }

    void name(ConstrainedSolve& s, std::size_t n, std::size_t m) {
        for (std::size_t i = 0; i < n; ++i) s.x.push_back(g_.add_symbol(fmt::format("x{}", ++named_), SymbolKind::other));
        for (std::size_t i = 0; i < m; ++i) s.lambda.push_back(g_.add_symbol(fmt::format("l{}", ++named_), SymbolKind::other));
    }

    Graph& g_;
    std::mt19937_64 random_;
    test::RandomExpressions values_;
    std::size_t named_ = 0;
};

// NOTE: a solve that fails ends its program, so that each kind has programs of its own; rows that contradict each other do not
TEST(ExportedRandom, SolvesOfEveryKind) {
    for (const SolveKind kind : {SolveKind::multipliers, SolveKind::minimal, SolveKind::nonminimal, SolveKind::udwadia_kalaba,
                                 SolveKind::ukp, SolveKind::linear}) {
        SCOPED_TRACE(static_cast<int>(kind));
        Graph g;
        const Symbols symbols(g);
        RandomSolves random(g, symbols, 11 + static_cast<std::uint64_t>(kind));
        ProgramSpec spec{symbols.ids, {}, {{"y", {}}}};
        for (int i = 0; i < (kind == SolveKind::multipliers ? 24 : 8); ++i) {
            spec.solves.push_back(kind == SolveKind::linear ? random.linear() : random.constrained(kind));
            for (const std::vector<SymbolId>* list : {&spec.solves.back().x, &spec.solves.back().lambda})
                for (const SymbolId s : *list) spec.outputs[0].values.push_back(g.symbol_node(s));
        }
        expect_same_outputs(lower_program(g, spec), ExportLanguage::c, "gcc", 2000);
    }
}

TEST(ExportedRandom, SparseSolves) {
    Graph g;
    const Symbols symbols(g);
    RandomSolves random(g, symbols, 5);
    ProgramSpec spec{symbols.ids, {}, {{"y", {}}}};
    for (int i = 0; i < 12; ++i) {
        spec.solves.push_back(random.chain());
        for (const std::vector<SymbolId>* list : {&spec.solves.back().x, &spec.solves.back().lambda})
            for (const SymbolId s : *list) spec.outputs[0].values.push_back(g.symbol_node(s));
    }
    const Program program = lower_program(g, spec);
    for (const SolveBlock& block : program.solves) ASSERT_NE(block.sparse, nullptr);
    expect_same_outputs(program, ExportLanguage::c, "gcc", 2000);
    expect_same_outputs(program, ExportLanguage::cpp, has_command("clang++") ? "clang++" : "g++", 300);
}

}  // namespace
}  // namespace appell
