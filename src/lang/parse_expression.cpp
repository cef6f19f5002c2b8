// Expressions, by operator precedence with explicit stacks: operands go to the postfix list at once, operators wait on a stack
// until one of lower precedence arrives, open brackets are entries of the same stack. The stack's height is the nesting, and it
// has a limit of its own; a long chain a + a + ... never makes it higher.
#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "lang/parser.hpp"

namespace appell {

namespace {

struct Operator {
    SyntaxOp op;
    int precedence;
    bool right;  // groups to the right
};

constexpr int k_unary_precedence = 6;  // -x^2 is -(x^2), -x*y is (-x)*y

struct Entry {
    enum class What : std::uint8_t { operation, group, call, index, sum, body_at } what;
    Operator operation{};
    Span span;
    NameId name = 0;          // call, index, sum
    std::uint32_t count = 0;  // commas seen
    int stage = 0;            // sum: 0 first bound, 1 last bound, 2 body
    std::size_t begin = 0;    // sum: where its sum_begin stands
};

class ExpressionParser {
public:
    ExpressionParser(TokenReader& reader, const Limits& limits, Syntax& syntax, SyntaxExpr& out)
        : reader_(reader), limits_(limits), syntax_(syntax), out_(out) {}

    bool run() {
        out_.span = reader_.span(reader_.peek());
        bool ended = false;
        while (!ended) {
            if (stack_.size() > limits_.nesting)
                return reader_.fail(Code::E0011, reader_.span(reader_.peek()), "the expression is nested too deeply", {},
                                    fmt::format("at most {} levels", limits_.nesting),
                                    "name a part of it with `let`, or use --limit nesting=N");
            if (expect_operand_) {
                if (!operand()) return false;
            } else if (!operation(ended)) {
                return false;
            }
        }
        out_.span = join(out_.span, reader_.previous_span());
        return true;
    }

private:
    SyntaxNode& emit(SyntaxKind kind, Span span) {
        SyntaxNode node;
        node.kind = kind;
        node.span = span;
        out_.nodes.push_back(node);
        return out_.nodes.back();
    }

    bool operand() {
        const Token token = reader_.peek();
        const Span span = reader_.span(token);
        switch (token.kind) {
            case TokenKind::number: return number();
            case TokenKind::word: return word();
            case TokenKind::open:
                reader_.take();
                push({Entry::What::group, {}, span});
                return true;
            case TokenKind::minus:
            case TokenKind::plus: {
                reader_.take();
                const SyntaxOp op = token.kind == TokenKind::minus ? SyntaxOp::neg : SyntaxOp::plus;
                push({Entry::What::operation, {op, k_unary_precedence, true}, span});
                return true;
            }
            case TokenKind::close:
                // an empty argument list
                if (!stack_.empty() && stack_.back().what == Entry::What::call && stack_.back().count == 0 && fresh_bracket_) {
                    reader_.take();
                    SyntaxNode& node = emit(SyntaxKind::call, join(stack_.back().span, span));
                    node.name = stack_.back().name;
                    stack_.pop_back();
                    expect_operand_ = false;
                    return true;
                }
                return reader_.fail_expected("a number, a name or `(`");
            default: return reader_.fail_expected("a number, a name or `(`");
        }
    }

    void push(Entry entry) {
        fresh_bracket_ = entry.what != Entry::What::operation;
        stack_.push_back(entry);
        expect_operand_ = true;
    }

    bool number() {
        const Token token = reader_.take();
        const std::string_view text = reader_.text(token);
        double value = 0;
        const auto [stop, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (stop != text.data() + text.size() && problem == std::errc{}) {
            return reader_.fail(Code::E0103, reader_.span(token), "this is not a number", std::string(text));
        }
        if (problem == std::errc::result_out_of_range || !std::isfinite(value))
            return reader_.fail(Code::E0103, reader_.span(token), "this number is out of the range of double precision",
                                std::string(text));
        std::uint32_t unit = 0;
        if (reader_.kind() == TokenKind::word && !reader_.peek().first_on_line) {
            const std::string_view next = reader_.word();
            // `in` is also a clause word; as an inch it is followed by no frame
            const bool clause = next == "in" && reader_.kind(1) == TokenKind::word;
            if (find_unit(next) != nullptr && !clause && plain_word(0)) {
                if (!units(unit)) return false;
            } else if (!is_clause_word(next)) {
                const std::string near = nearest_name(next, unit_names());
                if (next == "to" || next == "until")
                    return reader_.fail(
                        Code::E0105, reader_.span(reader_.peek()), "expected a unit or an operator here",
                        fmt::format("`{}`", next), "a unit or an operator",
                        fmt::format("a range is written `{}..10`, and a run `run from {} s for 10 s`", text, text));
                return reader_.fail(Code::E0107, reader_.span(reader_.peek()),
                                    fmt::format("`{}` behind a number is no unit", next), {}, "a unit or an operator",
                                    near.empty() || near == next
                                        ? "write `*` for a product"
                                        : fmt::format("did you mean `{}`? Write `*` for a product", near));
            }
        }
        if (unit == 0 && reader_.kind() == TokenKind::number && !inverse_unit().empty())
            return reader_.fail(Code::E0105, reader_.span(reader_.peek()), "a unit begins with its name, not with a number",
                                fmt::format("`{}/{}`", reader_.text(reader_.peek()), reader_.word(2)), "an operator or a unit",
                                fmt::format("write `{} {}`{}", text, inverse_unit(),
                                            inverse_unit() == "s^-1" ? fmt::format(" or `{} Hz`", text) : ""));
        if (reader_.kind() == TokenKind::open && !reader_.peek().first_on_line)
            return reader_.fail(Code::E0105, reader_.span(reader_.peek()), "expected an operator or a unit here", "`(`",
                                "an operator or a unit",
                                unit_in_parentheses() ? "units have no parentheses: 1 m^2/s^2"
                                                      : fmt::format("write `{}*(...)` for a product", reader_.text_since(token)));
        SyntaxNode& node = emit(SyntaxKind::number, join(reader_.span(token), reader_.previous_span()));
        node.value = value;
        node.unit = unit;
        expect_operand_ = false;
        return true;
    }

    // a word that something belongs to is a name: N.x, x[1], f(x), x'
    [[nodiscard]] bool plain_word(std::size_t ahead) const {
        const TokenKind behind = reader_.kind(ahead + 1);
        const bool bound = behind == TokenKind::dot || behind == TokenKind::open_bracket || behind == TokenKind::open ||
                           behind == TokenKind::prime;
        return !bound || !reader_.adjacent(ahead + 1);
    }

    // of 1/s or 1/s^2 at the reading position, how it is written as a unit; empty where there is no such thing
    [[nodiscard]] std::string inverse_unit() const {
        const bool there = reader_.text(reader_.peek()) == "1" && reader_.kind(1) == TokenKind::slash && reader_.adjacent(1) &&
                           reader_.adjacent(2) && find_unit(reader_.word(2)) != nullptr;
        if (!there) return {};
        const bool power = reader_.kind(3) == TokenKind::caret && reader_.kind(4) == TokenKind::number;
        return fmt::format("{}^-{}", reader_.word(2), power ? reader_.text(reader_.peek(4)) : "1");
    }

    // at an open parenthesis: nothing but units, and what joins them, up to where it closes
    [[nodiscard]] bool unit_in_parentheses() const {
        std::size_t ahead = 1;
        for (; reader_.kind(ahead) != TokenKind::close; ++ahead) {
            const TokenKind kind = reader_.kind(ahead);
            const bool joins = kind == TokenKind::star || kind == TokenKind::slash || kind == TokenKind::caret ||
                               kind == TokenKind::number || kind == TokenKind::minus;
            if (!joins && find_unit(reader_.word(ahead)) == nullptr) return false;
        }
        return ahead > 1;
    }

    // unit words with * / ^ between them and no spaces
    bool units(std::uint32_t& index) {
        UnitValue total;
        std::vector<Dimension> dimensions;
        int sign = 1;
        while (true) {
            const UnitInfo& unit = *find_unit(reader_.word());
            const Token token = reader_.take();
            if (sign > 0 && std::find(dimensions.begin(), dimensions.end(), unit.dimension) != dimensions.end())
                total.suspect = syntax_.names.intern(reader_.text(token));
            dimensions.push_back(unit.dimension);
            int exponent = sign;
            if (reader_.kind() == TokenKind::caret && reader_.adjacent()) {
                const bool negative = reader_.kind(1) == TokenKind::minus && reader_.adjacent(1);
                const std::size_t at = negative ? 2 : 1;
                const std::string_view digits = reader_.text(reader_.peek(at));
                int power = 0;
                const auto [stop, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), power);
                if (reader_.kind(at) != TokenKind::number || problem != std::errc{} || stop != digits.data() + digits.size() ||
                    power > 12)
                    return reader_.fail(Code::E0105, reader_.span(reader_.peek(at)),
                                        "expected a whole number as the power of a unit", {}, "a whole number up to 12");
                for (std::size_t i = 0; i <= at; ++i) reader_.take();
                exponent *= negative ? -power : power;
            }
            total.dimension = total.dimension * power(unit.dimension, exponent, 1);
            const double up = std::pow(unit.numerator, std::abs(exponent)), down = std::pow(unit.denominator, std::abs(exponent));
            total.numerator *= exponent >= 0 ? up : down;
            total.denominator *= exponent >= 0 ? down : up;
            total.pi_power += unit.pi_power * exponent;
            const bool joined = (reader_.kind() == TokenKind::star || reader_.kind() == TokenKind::slash) && reader_.adjacent() &&
                                reader_.kind(1) == TokenKind::word && reader_.adjacent(1) &&
                                find_unit(reader_.word(1)) != nullptr && plain_word(1);
            if (!joined) break;
            sign = reader_.take().kind == TokenKind::slash ? -1 : 1;
        }
        syntax_.units.push_back(total);
        index = static_cast<std::uint32_t>(syntax_.units.size() - 1);
        return true;
    }

    bool word() {
        const Token token = reader_.peek();
        const Span span = reader_.span(token);
        const std::string_view text = reader_.text(token);
        if (text == "not") {
            reader_.take();
            push({Entry::What::operation, {SyntaxOp::not_, 3, true}, span});
            return true;
        }
        if (text == "and" || text == "or") return reader_.fail_expected("a number, a name or `(`");
        reader_.take();
        const NameId name = syntax_.names.intern(text);
        if (reader_.kind() == TokenKind::open && reader_.adjacent()) {
            reader_.take();
            if (text == "sum" && reader_.kind() == TokenKind::word && reader_.word(1) == "in") {
                Entry entry{Entry::What::sum, {}, span};
                entry.name = syntax_.names.intern(reader_.word());
                reader_.take();
                reader_.take();
                push(entry);
                return true;
            }
            if (text == "sum") return reader_.fail_expected("a loop name, as in sum(i in 1..n: x[i])");
            Entry entry{Entry::What::call, {}, span};
            entry.name = name;
            push(entry);
            return true;
        }
        if (reader_.kind() == TokenKind::open_bracket && reader_.adjacent()) {
            reader_.take();
            Entry entry{Entry::What::index, {}, span};
            entry.name = name;
            push(entry);
            return true;
        }
        // lambda(c, x), force(c, P, x): the axis is a word, not a name of the model
        const auto axis_of = [&](const Entry& call) {
            const std::string_view function = syntax_.names.text(call.name);
            return (function == "lambda" && call.count == 1) ||
                   ((function == "force" || function == "torque") && call.count == 2);
        };
        const bool in_call = !stack_.empty() && stack_.back().what == Entry::What::call;
        const bool axis = (text == "x" || text == "y" || text == "z") && in_call && axis_of(stack_.back());
        // matrix(M, 1, 2), count(rank): so is theirs
        const std::string_view function =
            in_call && stack_.back().count == 0 ? std::string_view(syntax_.names.text(stack_.back().name)) : "";
        const bool named = function == "matrix" || function == "count";
        SyntaxNode& node = emit(axis ? SyntaxKind::axis : named ? SyntaxKind::word : SyntaxKind::name, span);
        node.name = name;
        expect_operand_ = false;
        postfix();
        return !reader_.failed();
    }

    // primes and members behind a name or an index
    void postfix() {
        while (true) {
            SyntaxNode& last = out_.nodes.back();
            if (reader_.kind() == TokenKind::prime && last.kind == SyntaxKind::name) {
                last.span = join(last.span, reader_.span(reader_.take()));
                if (++last.primes > 2) {
                    reader_.fail(Code::E0105, last.span, "at most two primes have a meaning", "three or more", "x' or x''");
                    return;
                }
                continue;
            }
            if (reader_.kind() == TokenKind::dot && reader_.adjacent() &&
                (reader_.kind(1) == TokenKind::word || reader_.kind(1) == TokenKind::number) && reader_.adjacent(1)) {
                reader_.take();
                const Token member = reader_.take();
                SyntaxNode& node = emit(SyntaxKind::member, reader_.span(member));
                node.name = syntax_.names.intern(reader_.text(member));
                continue;
            }
            return;
        }
    }

    static bool binary(TokenKind kind, std::string_view word, Operator& out) {
        switch (kind) {
            case TokenKind::plus: out = {SyntaxOp::add, 5, false}; return true;
            case TokenKind::minus: out = {SyntaxOp::sub, 5, false}; return true;
            case TokenKind::star: out = {SyntaxOp::mul, 6, false}; return true;
            case TokenKind::slash: out = {SyntaxOp::div, 6, false}; return true;
            case TokenKind::caret: out = {SyntaxOp::pow, 8, true}; return true;
            case TokenKind::less: out = {SyntaxOp::less, 4, false}; return true;
            case TokenKind::less_equal: out = {SyntaxOp::less_equal, 4, false}; return true;
            case TokenKind::greater: out = {SyntaxOp::greater, 4, false}; return true;
            case TokenKind::greater_equal: out = {SyntaxOp::greater_equal, 4, false}; return true;
            case TokenKind::equal_equal: out = {SyntaxOp::equal, 4, false}; return true;
            case TokenKind::not_equal: out = {SyntaxOp::unequal, 4, false}; return true;
            case TokenKind::word:
                if (word == "and")
                    out = {SyntaxOp::and_, 2, false};
                else if (word == "or")
                    out = {SyntaxOp::or_, 1, false};
                else
                    return false;
                return true;
            default: return false;
        }
    }

    void emit_operation(const Entry& entry) {
        const SyntaxOp op = entry.operation.op;
        const bool unary = op == SyntaxOp::neg || op == SyntaxOp::plus || op == SyntaxOp::not_;
        emit(unary ? SyntaxKind::unary : SyntaxKind::binary, entry.span).op = op;
    }

    // writes out the operators above the innermost bracket
    void flush() {
        while (!stack_.empty() && (stack_.back().what == Entry::What::operation || stack_.back().what == Entry::What::body_at)) {
            if (stack_.back().what == Entry::What::body_at)
                emit(SyntaxKind::at, stack_.back().span);
            else
                emit_operation(stack_.back());
            stack_.pop_back();
        }
    }

    bool operation(bool& ended) {
        const Token token = reader_.peek();
        Operator next{};
        if (binary(token.kind, reader_.word(), next)) {
            reader_.take();
            while (!stack_.empty() && stack_.back().what == Entry::What::operation &&
                   (stack_.back().operation.precedence > next.precedence ||
                    (stack_.back().operation.precedence == next.precedence && !next.right))) {
                emit_operation(stack_.back());
                stack_.pop_back();
            }
            push({Entry::What::operation, next, reader_.span(token)});
            return true;
        }
        // vel(B at P)
        if (reader_.word() == "at" && innermost() != nullptr && innermost()->what == Entry::What::call) {
            flush();
            reader_.take();
            push({Entry::What::body_at, {}, reader_.span(token)});
            return true;
        }
        flush();
        if (stack_.empty()) {
            ended = true;
            return true;
        }
        return bracket(token);
    }

    Entry* innermost() {
        for (std::size_t i = stack_.size(); i-- > 0;)
            if (stack_[i].what != Entry::What::operation && stack_[i].what != Entry::What::body_at) return &stack_[i];
        return nullptr;
    }

    // the token behind a complete operand inside a bracket
    bool bracket(const Token& token) {
        Entry& top = stack_.back();
        if (top.what == Entry::What::sum) return sum_bracket(token);
        if (token.kind == TokenKind::comma) {
            reader_.take();
            ++top.count;
            expect_operand_ = true;
            fresh_bracket_ = false;
            return true;
        }
        const TokenKind closing = top.what == Entry::What::index ? TokenKind::close_bracket : TokenKind::close;
        if (token.kind != closing) return unclosed(token, closing);
        const Entry entry = top;
        stack_.pop_back();
        const Span span = join(entry.span, reader_.span(reader_.take()));
        switch (entry.what) {
            case Entry::What::group:
                if (entry.count > 0) emit(SyntaxKind::tuple, span).count = entry.count + 1;
                break;
            case Entry::What::call: {
                SyntaxNode& node = emit(SyntaxKind::call, span);
                node.name = entry.name;
                node.count = entry.count + 1;
                break;
            }
            default: {
                SyntaxNode& node = emit(SyntaxKind::name, span);
                node.name = entry.name;
                node.count = entry.count + 1;
            }
        }
        expect_operand_ = false;
        if (entry.what == Entry::What::index) postfix();
        return !reader_.failed();
    }

    bool sum_bracket(const Token& token) {
        Entry& top = stack_.back();
        if (top.stage == 0 && token.kind == TokenKind::dots) {
            top.stage = 1;
        } else if (top.stage == 1 && token.kind == TokenKind::colon) {
            top.stage = 2;
            top.begin = out_.nodes.size();
            emit(SyntaxKind::sum_begin, top.span).name = top.name;
        } else if (top.stage == 2 && token.kind == TokenKind::close) {
            const Span span = join(top.span, reader_.span(token));
            const auto distance = static_cast<std::uint32_t>(out_.nodes.size() - top.begin);
            out_.nodes[top.begin].count = distance;
            emit(SyntaxKind::sum_end, span).count = distance;
            stack_.pop_back();
            reader_.take();
            expect_operand_ = false;
            return true;
        } else {
            return reader_.fail_expected(top.stage == 0 ? "`..`" : top.stage == 1 ? "`:`" : "`)`");
        }
        reader_.take();
        expect_operand_ = true;
        fresh_bracket_ = false;
        return true;
    }

    bool unclosed(const Token& token, TokenKind closing) {
        if (token.kind == TokenKind::end)
            return reader_.fail(Code::E0106, stack_.back().span, "this bracket is not closed", std::string(describe(token.kind)),
                                std::string(describe(closing)));
        return reader_.fail_expected(fmt::format("an operator, `,` or {}", describe(closing)));
    }

    TokenReader& reader_;
    const Limits& limits_;
    Syntax& syntax_;
    SyntaxExpr& out_;
    std::vector<Entry> stack_;
    bool expect_operand_ = true;
    bool fresh_bracket_ = false;
};

}  // namespace

bool parse_expression(TokenReader& reader, const Limits& limits, Syntax& syntax, SyntaxExpr& out) {
    return ExpressionParser(reader, limits, syntax, out).run();
}

bool parse_name(TokenReader& reader, const Limits& limits, Syntax& syntax, SyntaxName& out, std::string_view what) {
    if (reader.kind() != TokenKind::word) return reader.fail_expected(what);
    out.span = reader.span(reader.peek());
    out.name = syntax.names.intern(reader.text(reader.take()));
    if (reader.kind() == TokenKind::open_bracket && reader.adjacent()) {
        const Span open = reader.span(reader.take());
        do {
            if (!parse_expression(reader, limits, syntax, out.indices.emplace_back())) return false;
        } while (reader.accept(TokenKind::comma));
        if (reader.at_end())
            return reader.fail(Code::E0106, open, "this bracket is not closed", "the end of the statement", "`]`");
        if (!reader.expect(TokenKind::close_bracket, "`]`")) return false;
        out.span = join(out.span, reader.previous_span());
    }
    while (reader.kind() == TokenKind::prime) {
        reader.take();
        ++out.primes;
        out.span = join(out.span, reader.previous_span());
    }
    return true;
}

std::size_t operands(const SyntaxNode& node) {
    switch (node.kind) {
        case SyntaxKind::name:
        case SyntaxKind::call:
        case SyntaxKind::tuple: return node.count;
        case SyntaxKind::member:
        case SyntaxKind::unary: return 1;
        case SyntaxKind::binary:
        case SyntaxKind::at:
        case SyntaxKind::sum_begin: return 2;
        default: return 0;
    }
}

bool is_relation(std::string_view word) {
    const FunctionSchema* function = find_function(word);
    return function != nullptr && function->result == "constraint";
}

}  // namespace appell
