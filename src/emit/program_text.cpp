#include "emit/program_text.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "emit/small_solve.hpp"
#include "emit/solve_text.hpp"
#include "emit/straight_line.hpp"

namespace appell {

namespace {

// NOTE: the arrays s (numbers that functions share, unknowns) and o (memory of the solve at hand) follow each other in w->d; how
// long s is shows when all functions are made, so that the calls are written last.
struct Solving {
    SolveText text;
    StraightLine::Part operands, law;
};

std::string indented(const std::string& lines) {
    std::string out;
    for (std::size_t at = 0; at < lines.size();) {
        const std::size_t end = lines.find('\n', at) + 1;
        out += "    " + lines.substr(at, end - at);
        at = end;
    }
    return out;
}

}  // namespace

ProgramText program_text(const Program& program, const ProgramTextOptions& options) {
    StraightLine lines(program, options.states, options.name, options.most_statements);
    std::vector<Solving> solves;
    for (std::size_t k = 0; k < program.solves.size(); ++k) {
        Solving s{solve_text(program.solves[k], fmt::format("{}_shape_{}", options.name, k + 1)), {}, {}};
        s.operands = lines.add_part(s.text.writes);
        if (!s.text.law.empty()) s.law = lines.add_part(s.text.law, true);
        solves.push_back(std::move(s));
    }
    ProgramText out;
    out.outputs = options.size != 0 ? options.size : program.output_slots.size();
    std::vector<StraightLine::Write> writes;
    for (std::size_t i = 0; i < program.output_slots.size(); ++i)
        writes.push_back({'y', options.places.empty() ? i : options.places[i], program.output_slots[i]});
    const bool sparse = writes.size() < out.outputs;
    const StraightLine::Part outputs = lines.add_part(writes);

    const std::size_t shared = lines.stored();
    std::string body, tables;
    std::size_t memory = 0;
    for (std::size_t k = 0; k < solves.size(); ++k) {
        const SolveBlock& block = program.solves[k];
        Solving& s = solves[k];
        tables += s.text.tables;
        memory = std::max(memory, s.text.numbers);
        out.indices = std::max(out.indices, s.text.indices);
        out.solved_rows = shared + s.text.solved_rows;
        out.sparse_shape = s.text.sparse ? fmt::format("{}_shape_{}", options.name, k + 1) : "";
        if (s.text.zeros) body += fmt::format("    fill(o, 0, {});\n", s.text.operands);
        body += lines.calls(s.operands.functions, "    ") + lines.calls(s.law.before, "    ");
        const bool limited =
            k + 1 == solves.size() || (block.kind == SolveKind::realised && block.rows == program.solves.back().rows);
        const std::string limit =
            options.rank_limit && limited ? fmt::format("w->most_rank[{}]", *options.rank_limit) : "0x7fffffff";
        std::string solving = solve_call(block, fmt::format("{}_shape_{}", options.name, k + 1), limit, lines.unknowns(k),
                                         lines.calls(s.law.functions, "            "));
        solving += fmt::format("    if (!merge_report(&w->last, &one, {})) {{\n", k);
        solving += fmt::format("        fill(y, NAN, {});\n        return w->last.status;\n    }}\n", out.outputs);
        const std::string small = fmt::format("{}_small_{}", options.name, k + 1);
        const std::optional<std::string> unrolled = options.unroll ? small_solve_text(block, small) : std::nullopt;
        if (!unrolled) {
            body += solving;
            continue;
        }
        tables += *unrolled;
        // fewer rows than there are may count as independent: then they are pivoted
        const std::string condition =
            block.rows > 1 && limit.starts_with("w") ? fmt::format("{} < {} || ", limit, block.rows) : "";
        body += fmt::format("    if ({}!{}(o, s + {}, &w->last)) {{\n", condition, small, lines.unknowns(k));
        body += indented(solving) + "    }\n";
    }
    if (sparse) body += fmt::format("    fill(y, 0, {});\n", out.outputs);
    body += lines.calls(outputs.functions, "    ");

    out.text = lines.text() + tables;
    out.text +=
        fmt::format("static int {}(double t, const double *x, const double *p, double *y, MODEL_work *w) {{\n", options.name);
    // an argument that is not used would be warned of
    const auto uses = [&](std::string_view array) {
        return body.find(fmt::format("({},", array)) != std::string::npos ||
               body.find(fmt::format(" {},", array)) != std::string::npos ||
               body.find(fmt::format(" {})", array)) != std::string::npos ||
               body.find(fmt::format("({})", array)) != std::string::npos;
    };
    if (!solves.empty()) out.text += "    MODEL_report one;\n";
    if (uses("s") || body.find("s + ") != std::string::npos) out.text += "    double *const s = w->d;\n";
    if (uses("o")) out.text += fmt::format("    double *const o = w->d + {};\n", shared);
    for (const char* argument : {"t", "x", "p"})
        if (!uses(argument)) out.text += fmt::format("    (void){};\n", argument);
    out.text += "    begin_report(&w->last);\n" + body;
    out.text += fmt::format(
        "    if (!finite_all(y, {})) {{\n        w->last.status = MODEL_not_finite;\n        w->last.solve = {};\n    }}\n"
        "    return w->last.status;\n}}\n\n",
        out.outputs, program.solves.size());
    out.numbers = shared + memory;
    out.functions = lines.functions();
    return out;
}

}  // namespace appell
