#include "emit/straight_line.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "emit/identifiers.hpp"
#include "emit/operation_text.hpp"
#include "expr/scalar_math.hpp"

namespace appell {

namespace {

constexpr std::uint32_t k_none = 0xffffffffu;
constexpr std::string_view k_arrays = "txpsoy";
constexpr std::array<std::string_view, 6> k_parameters{"double t",  "const double *x", "const double *p",
                                                       "double *s", "double *o",       "double *y"};

}  // namespace

StraightLine::StraightLine(const Program& program, std::size_t states, std::string name, std::size_t most_statements)
    : program_(program), states_(states), name_(std::move(name)), most_statements_(most_statements) {
    resolve_slots();
}

template <class Visit>
void StraightLine::for_each_operand(std::uint32_t instruction, Visit visit) const {
    const Op op = program_.instructions[instruction].op;
    const int arity = op == Op::PowInt ? 1 : info(op).arity;
    for (int k = 0; k < arity; ++k) visit(operands_[instruction][static_cast<std::size_t>(k)]);
}

// which value each operand is: slots are written again and again, values once
void StraightLine::resolve_slots() {
    const std::size_t count = program_.instructions.size();
    slot_value_.resize(program_.slots);
    for (std::uint32_t i = 0; i < program_.inputs; ++i) slot_value_[i] = {Kind::input, i};
    const auto constant = [&](Slot slot, double value) {
        slot_value_[slot] = {Kind::constant, static_cast<std::uint32_t>(constants_.size())};
        constants_.push_back(value);
    };
    for (const auto& [slot, value] : program_.constants) constant(slot, value);
    for (const Slot slot : program_.pi_slots) constant(slot, 3.141592653589793);
    for (const SolveBlock& block : program_.solves) {
        unknowns_.push_back(stored_count_);
        for (const std::vector<Slot>* list : {&block.x, &block.lambda, &block.tau, &block.guess})
            for (const Slot slot : *list) slot_value_[slot] = {Kind::unknown, static_cast<std::uint32_t>(stored_count_++)};
    }
    operands_.resize(count);
    segment_of_.resize(count);
    function_of_.assign(count, k_none);
    local_.assign(count, 0);
    place_.assign(count, k_none);
    for (std::uint32_t s = 0; s < program_.segments.size(); ++s)
        for (const InstructionRun& run : program_.segments[s].runs)
            for (std::uint32_t i = run.begin; i < run.end; ++i) {
                const Instruction& in = program_.instructions[i];
                APPELL_ASSERT(in.op != Op::Call, "opaque functions have no C");
                operands_[i] = {slot_value_[in.a], in.op == Op::PowInt ? Value{} : slot_value_[in.b],
                                in.op == Op::PowInt ? Value{} : slot_value_[in.c]};
                segment_of_[i] = s;
                slot_value_[in.out] = {Kind::instruction, i};
                bool constant_operands = true;
                for_each_operand(i, [&](const Value& v) { constant_operands &= v.kind == Kind::constant; });
                if (constant_operands) constant(in.out, constant_value(i));
            }
}

// of an instruction whose operands are constants
double StraightLine::constant_value(std::uint32_t instruction) const {
    const Instruction& in = program_.instructions[instruction];
    std::array<double, 3> x{};
    std::size_t n = 0;
    for_each_operand(instruction, [&](const Value& v) { x[n++] = constants_[v.index]; });
    return in.op == Op::PowInt ? int_power(x[0], static_cast<std::int32_t>(in.b)) : operation_value(in.op, x[0], x[1], x[2]);
}

// what a value needs that is not computed yet, operands first
void StraightLine::order_values(std::uint32_t root, std::vector<std::uint32_t>& order) {
    constexpr std::uint32_t k_ordered = k_none - 1;  // a place in some function, still to be decided
    std::vector<std::pair<std::uint32_t, bool>> stack{{root, false}};
    while (!stack.empty()) {
        const auto [i, entered] = stack.back();
        stack.pop_back();
        if (function_of_[i] != k_none) continue;
        if (entered) {
            function_of_[i] = k_ordered;
            order.push_back(i);
            continue;
        }
        stack.emplace_back(i, true);
        // the first operand is computed first: it is on top
        std::array<std::uint32_t, 3> next{};
        std::size_t n = 0;
        for_each_operand(i, [&](const Value& v) {
            if (v.kind == Kind::instruction && function_of_[v.index] == k_none) next[n++] = v.index;
        });
        while (n > 0) stack.emplace_back(next[--n], false);
    }
}

void StraightLine::need(Slot slot, std::vector<std::uint32_t>& order) {
    const Value& value = slot_value_[slot];
    if (value.kind == Kind::instruction) order_values(value.index, order);
}

// values of earlier segments that the writes of this one need, and that nobody has computed
std::vector<std::uint32_t> StraightLine::needed_from_before(const std::vector<Write>& writes, std::uint32_t segment) {
    std::vector<std::uint32_t> found, stack;
    std::vector<bool> seen(operands_.size(), false);
    const auto visit = [&](const Value& v) {
        if (v.kind != Kind::instruction || function_of_[v.index] != k_none || seen[v.index]) return;
        seen[v.index] = true;
        (segment_of_[v.index] < segment ? found : stack).push_back(v.index);
    };
    for (const Write& write : writes) visit(slot_value_[write.slot]);
    while (!stack.empty()) {
        const std::uint32_t i = stack.back();
        stack.pop_back();
        for_each_operand(i, visit);
    }
    std::sort(found.begin(), found.end());
    return found;
}

void StraightLine::note_use(const Value& value, std::size_t function) {
    Function& f = functions_[function];
    const auto use = [&](char array) { f.uses[k_arrays.find(array)] = true; };
    switch (value.kind) {
        case Kind::input: use(value.index == 0 ? 't' : value.index <= states_ ? 'x' : 'p'); break;
        case Kind::constant: break;
        case Kind::unknown: use('s'); break;
        case Kind::instruction:
            if (function_of_[value.index] == function) break;
            use('s');
            functions_[function_of_[value.index]].uses[k_arrays.find('s')] = true;
            if (place_[value.index] == k_none) place_[value.index] = static_cast<std::uint32_t>(stored_count_++);
            break;
    }
}

// the statements become functions
std::vector<std::size_t> StraightLine::close(std::vector<Statement> statements, const std::vector<Write>& writes) {
    const std::size_t first = functions_.size();
    for (std::size_t begin = 0; begin < statements.size(); begin += most_statements_) {
        Function f;
        for (std::size_t i = begin; i < std::min(begin + most_statements_, statements.size()); ++i) {
            Statement statement = statements[i];
            if (statement.is_write) {
                f.writes.push_back(writes[statement.index]);
                statement.index = static_cast<std::uint32_t>(f.writes.size() - 1);
            } else {
                function_of_[statement.index] = static_cast<std::uint32_t>(functions_.size());
                local_[statement.index] = ++placed_;
            }
            f.statements.push_back(statement);
        }
        functions_.push_back(std::move(f));
    }
    std::vector<std::size_t> made;
    for (std::size_t k = first; k < functions_.size(); ++k) {
        made.push_back(k);
        for (const Statement& statement : functions_[k].statements) {
            if (!statement.is_write) {
                for_each_operand(statement.index, [&](const Value& v) { note_use(v, k); });
                continue;
            }
            const Write& write = functions_[k].writes[statement.index];
            functions_[k].uses[k_arrays.find(write.array)] = true;
            note_use(slot_value_[write.slot], k);
        }
    }
    return made;
}

StraightLine::Part StraightLine::add_part(const std::vector<Write>& writes, bool repeats) {
    Part part;
    std::vector<std::uint32_t> order;
    if (repeats) {
        std::uint32_t segment = 0;
        for (const Write& write : writes)
            if (const Value& v = slot_value_[write.slot]; v.kind == Kind::instruction)
                segment = std::max(segment, segment_of_[v.index]);
        for (const std::uint32_t i : needed_from_before(writes, segment)) order_values(i, order);
        std::vector<Statement> statements;
        for (const std::uint32_t i : order) statements.push_back({false, i});
        part.before = close(std::move(statements), {});
    }
    std::vector<Statement> statements;
    for (std::uint32_t w = 0; w < writes.size(); ++w) {
        order.clear();
        need(writes[w].slot, order);
        for (const std::uint32_t i : order) statements.push_back({false, i});
        statements.push_back({true, w});
    }
    part.functions = close(std::move(statements), writes);
    return part;
}

std::string StraightLine::operand(const Value& value, std::size_t function) const {
    switch (value.kind) {
        case Kind::input:
            if (value.index == 0) return "t";
            return value.index <= states_ ? fmt::format("x[{}]", value.index - 1)
                                          : fmt::format("p[{}]", value.index - 1 - states_);
        case Kind::constant: return as_number(constants_[value.index]);
        case Kind::unknown: return fmt::format("s[{}]", value.index);
        case Kind::instruction: break;
    }
    return function_of_[value.index] == function ? fmt::format("v{}", local_[value.index])
                                                 : fmt::format("s[{}]", place_[value.index]);
}

std::string StraightLine::function_text(std::size_t function) const {
    const Function& f = functions_[function];
    std::string out = fmt::format("static void {}_{}(", name_, function + 1);
    std::string separator;
    for (std::size_t k = 0; k < k_arrays.size(); ++k)
        if (f.uses[k]) {
            out += separator + std::string(k_parameters[k]);
            separator = ", ";
        }
    out += separator.empty() ? "void) {\n" : ") {\n";
    std::vector<std::string> powers;
    for (const Statement& statement : f.statements) {
        if (statement.is_write) {
            const Write& write = f.writes[statement.index];
            out += fmt::format("    {}[{}] = {};\n", write.array, write.index, operand(slot_value_[write.slot], function));
            continue;
        }
        const std::uint32_t i = statement.index;
        const Instruction& in = program_.instructions[i];
        const std::string name = fmt::format("v{}", local_[i]);
        std::string value;
        if (in.op == Op::PowInt) {
            powers.clear();
            value = power_text(operand(operands_[i][0], function), static_cast<std::int32_t>(in.b), name, powers);
            for (const std::string& line : powers) out += "    " + line + "\n";
        } else {
            std::array<std::string, 3> texts;
            std::size_t n = 0;
            for_each_operand(i, [&](const Value& v) { texts[n++] = operand(v, function); });
            value = operation_text(in.op, texts);
        }
        out += fmt::format("    const double {} = {};\n", name, value);
        if (place_[i] != k_none) out += fmt::format("    s[{}] = {};\n", place_[i], name);
    }
    return out + "}\n\n";
}

std::string StraightLine::text() const {
    std::string out;
    for (std::size_t k = 0; k < functions_.size(); ++k) out += function_text(k);
    return out;
}

std::string StraightLine::calls(const std::vector<std::size_t>& functions, std::string_view indent) const {
    std::string out;
    for (const std::size_t k : functions) {
        out += fmt::format("{}{}_{}(", indent, name_, k + 1);
        std::string separator;
        for (std::size_t a = 0; a < k_arrays.size(); ++a)
            if (functions_[k].uses[a]) {
                out += separator + k_arrays[a];
                separator = ", ";
            }
        out += ");\n";
    }
    return out;
}

}  // namespace appell
