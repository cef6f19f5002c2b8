#include "expr/print_style.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>

#include <fmt/format.h>

#include "base/number_format.hpp"

namespace appell {

namespace {

std::string_view latex_function(Op op) {
    switch (op) {
        case Op::Exp: return "\\exp";
        case Op::Log: return "\\ln";
        case Op::Sin: return "\\sin";
        case Op::Cos: return "\\cos";
        case Op::Tan: return "\\tan";
        case Op::Asin: return "\\arcsin";
        case Op::Acos: return "\\arccos";
        case Op::Atan: return "\\arctan";
        case Op::Sinh: return "\\sinh";
        case Op::Cosh: return "\\cosh";
        case Op::Tanh: return "\\tanh";
        case Op::Min: return "\\min";
        case Op::Max: return "\\max";
        case Op::Atan2: return "\\operatorname{atan2}";
        case Op::Asinh: return "\\operatorname{arsinh}";
        case Op::Acosh: return "\\operatorname{arcosh}";
        case Op::Atanh: return "\\operatorname{artanh}";
        case Op::Sign: return "\\operatorname{sign}";
        default: return "";
    }
}

// a name of several upright letters, possibly with dots: beside it a product needs a space, yaw spin
bool begins_upright(std::string_view factor) {
    for (const std::string_view dots : {"\\dot{", "\\ddot{", "\\dddot{"})
        if (factor.starts_with(dots)) factor.remove_prefix(dots.size());
    return factor.starts_with("\\mathrm{");
}
bool ends_upright(std::string_view product) { return begins_upright(product.substr(product.rfind(' ') + 1)); }

std::size_t wrapped(const Piece& p, Binding at_least) { return p.length + (p.text_binding < at_least ? 2 : 0); }

}  // namespace

std::string Style::parenthesised(const std::string& text) const {
    if (!latex_) return "(" + text + ")";
    const bool tall = text.find("\\frac") != std::string::npos || text.find("\\begin") != std::string::npos;
    return tall ? "\\left(" + text + "\\right)" : "(" + text + ")";
}

std::string Style::enclosed(const Piece& p, Binding at_least) const {
    return p.binding < at_least ? parenthesised(p.text) : p.text;
}

Piece Style::name(std::string_view symbol) const {
    return {latex_ ? latex_name(symbol) : std::string(symbol), Binding::atom, symbol.size()};
}

Piece Style::vector_name(std::string_view symbol) const {
    return {latex_ ? latex_vector_name(symbol) : std::string(symbol), Binding::atom, symbol.size()};
}

// the language has no zero vector of its own; no basis vector is at hand here, so a plain 0 stands for it
Piece Style::zero_vector() const { return {latex_ ? "\\mathbf{0}" : "0", Binding::atom, 1}; }

Piece Style::pi() const { return {latex_ ? "\\pi" : "pi", Binding::atom, 2}; }

Piece Style::number(double value) const {
    std::string text = round_trip(value);
    Piece p{text, std::signbit(value) ? Binding::sum : Binding::atom, text.size()};
    p.minus = std::signbit(value);
    if (!latex_) return p;
    if (std::isinf(value)) {
        p.text = value > 0 ? "\\infty" : "-\\infty";
    } else if (const std::size_t e = text.find('e'); e != std::string::npos) {
        const std::string mantissa = text.substr(0, e), exponent = std::to_string(std::stoi(text.substr(e + 1)));
        p.text = mantissa == "1"    ? "10^{" + exponent + "}"
                 : mantissa == "-1" ? "-10^{" + exponent + "}"
                                    : mantissa + " \\cdot 10^{" + exponent + "}";
        p.binding = std::min(p.binding, Binding::product);
    }
    return p;
}

Piece Style::sum(const Piece& left, const Piece& right, bool minus) const {
    const Piece x = as_number(left), y = as_number(right);
    // a + -b is a - b
    if (!minus && y.minus) return {x.text + " - " + y.text.substr(1), Binding::sum, x.length + 2 + y.length};
    const bool wrap = y.binding == Binding::sum && (minus || y.text.starts_with('-'));
    const std::size_t parentheses = y.text_binding == Binding::sum && (minus || y.text.starts_with('-')) ? 2 : 0;
    return {x.text + (minus ? " - " : " + ") + (wrap ? parenthesised(y.text) : y.text), Binding::sum,
            x.length + 3 + y.length + parentheses};
}

Piece Style::negative(const Piece& operand) const {
    const Piece x = as_number(operand);
    Piece p{"-" + enclosed(x, Binding::product), Binding::sum, 1 + wrapped(x, Binding::product)};
    p.minus = true;
    return p;
}

Piece Style::product(const Piece& left, const Piece& right) const {
    const Piece x = as_number(left), y = as_number(right);
    const std::string a = enclosed(x, Binding::product);
    // x*(y/z) keeps its parentheses in text only where it must: (a/b)*c and a*(b/c) read alike, a/(b*c) does not
    const std::string b = enclosed(y, Binding::product);
    const std::size_t length = wrapped(x, Binding::product) + 1 + wrapped(y, Binding::product);
    if (!latex_) return {a + "*" + b, Binding::product, length};
    const bool digits = !b.empty() && std::isdigit(static_cast<unsigned char>(b.front())) != 0;
    const bool words = ends_upright(a) || begins_upright(b);
    return {a + (digits ? " \\cdot " : words ? " \\, " : " ") + b, Binding::product, length};
}

Piece Style::quotient(const Piece& left, const Piece& right) const {
    const Piece x = as_number(left), y = as_number(right);
    const std::size_t length = wrapped(x, Binding::product) + 1 + wrapped(y, Binding::power);
    // a fraction needs no parentheses inside, nor in a product; only as the base of a power
    if (latex_) return {"\\frac{" + x.text + "}{" + y.text + "}", Binding::power, Binding::product, length};
    return {enclosed(x, Binding::product) + "/" + enclosed(y, Binding::power), Binding::product, length};
}

Piece Style::power(const Piece& b, const Piece& e) const {
    const Piece base = as_number(b), exponent = as_number(e);
    const std::size_t length = wrapped(base, Binding::atom) + 1 + wrapped(exponent, Binding::atom);
    if (!latex_) return {enclosed(base, Binding::atom) + "^" + enclosed(exponent, Binding::atom), Binding::power, length};
    const std::string raised = exponent.text.size() == 1 ? "^" + exponent.text : "^{" + exponent.text + "}";
    if (base.head != 0 && exponent.text.front() != '-') {
        std::string text = base.text;
        return {text.insert(base.head, raised), Binding::power, length};
    }
    // \dot{q}_1^2 and x_1^2 are fine as they are; functions without a place for exponents are enclosed
    const bool bare = base.binding == Binding::atom && base.head == 0;
    return {(bare ? base.text : parenthesised(base.text)) + raised, Binding::power, length};
}

Piece Style::conditional(std::span<const Piece* const> o) const {
    Piece p;
    const Piece yes = as_number(*o[1]), no = as_number(*o[2]);
    const bool plain = o[0]->condition;
    p.length = 4 + o[0]->length + (plain ? 0 : 9) + 2 + yes.length + 2 + no.length + 1;
    if (!latex_) {
        // any number that is not zero counts as true; the language wants a comparison
        const std::string condition = plain ? o[0]->text : "0 < abs(" + o[0]->text + ")";
        p.text = "if(" + condition + ", " + yes.text + ", " + no.text + ")";
        return p;
    }
    const std::string condition = plain ? o[0]->text : o[0]->text + " \\neq 0";
    p.text =
        "\\begin{cases} " + yes.text + " & \\text{if } " + condition + " \\\\ " + no.text + " & \\text{otherwise} \\end{cases}";
    p.binding = Binding::sum;
    return p;
}

Piece Style::function(Op op, std::span<const Piece* const> o) const {
    Piece p;
    switch (op) {
        case Op::Less:
        case Op::LessEqual: {
            const Piece x = as_number(*o[0]), y = as_number(*o[1]);
            p.text = x.text + (op == Op::Less ? " < " : latex_ ? " \\le " : " <= ") + y.text;
            p.length = x.length + y.length + 4;
            p.binding = p.text_binding = Binding::sum;
            p.condition = true;
            return p;
        }
        case Op::If: return conditional(o);
        case Op::Dot:
        case Op::Cross: {
            const bool dot = op == Op::Dot;
            p.length = (dot ? 6u : 8u) + o[0]->length + o[1]->length;
            if (!latex_) {
                p.text = (dot ? "dot(" : "cross(") + o[0]->text + ", " + o[1]->text + ")";
            } else {
                p.text = enclosed(*o[0], Binding::power) + (dot ? " \\cdot " : " \\times ") + enclosed(*o[1], Binding::power);
                p.binding = Binding::sum;  // enclosed wherever it is a factor
            }
            return p;
        }
        default: break;
    }
    std::string inside;
    std::size_t length = 0;
    for (std::size_t i = 0; i < o.size(); ++i) {
        const Piece x = as_number(*o[i]);
        inside += (i > 0 ? ", " : "") + x.text;
        length += x.length + 2;
    }
    p.length = length + info(op).text.size();
    if (!latex_) {
        p.text = std::string(info(op).text) + "(" + inside + ")";
    } else if (op == Op::Sqrt) {
        p.text = "\\sqrt{" + inside + "}";
        p.binding = Binding::power;
    } else if (op == Op::Abs) {
        p.text = "\\left|" + inside + "\\right|";
    } else {
        const std::string_view head = latex_function(op);
        p.text = std::string(head) + parenthesised(inside);
        p.head = static_cast<std::uint32_t>(head.size());
    }
    return p;
}

Piece Style::call(FunctionId id, std::span<const Piece* const> arguments) const {
    const FunctionInfo& f = graph_.function(id);
    const bool letters = std::all_of(f.arguments.begin(), f.arguments.end(), [](const std::string& a) { return a.size() == 1; });
    std::string by, by_latex;  // x, t differentiated once and twice: xtt
    for (std::size_t i = 0; i < f.orders.size(); ++i)
        for (int n = 0; n < f.orders[i]; ++n) {
            by += (by.empty() || letters ? "" : "_") + f.arguments[i];
            by_latex += (by_latex.empty() ? "" : " ") + latex_name(f.arguments[i]);
        }
    std::string head = f.name + (by.empty() ? "" : "_" + by), inside;
    Piece p;
    p.length = head.size();
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const Piece x = as_number(*arguments[i]);
        inside += (i > 0 ? ", " : "") + x.text;
        p.length += x.length + 2;
    }
    if (latex_) {
        head = latex_name(f.name);
        // a name with a subscript of its own takes no second one
        if (!by.empty()) head = (head.find('_') == std::string::npos ? head : "{" + head + "}") + "_{" + by_latex + "}";
    }
    p.text = head + parenthesised(inside);
    p.head = latex_ ? static_cast<std::uint32_t>(head.size()) : 0;
    return p;
}

Piece Style::time_derivative(const Piece& vector, std::uint32_t frame) const {
    // the frame's name is the part before the dot of its basis vectors
    std::string name = std::to_string(frame);
    for (std::size_t i = 0; i < graph_.vector_symbol_count(); ++i) {
        const VectorSymbolInfo& v = graph_.vector_symbol(VectorSymbolId(i));
        if (v.first != frame || !v.name.ends_with(".x")) continue;
        name = v.name.substr(0, v.name.size() - 2);
        break;
    }
    const std::size_t length = vector.length + name.size() + 6;
    if (!latex_) return {"dt(" + vector.text + ", " + name + ")", Binding::atom, length};
    return {"\\frac{{}^{" + latex_name(name) + "}\\mathrm{d}}{\\mathrm{d} t}" + enclosed(vector, Binding::atom), Binding::product,
            Binding::atom, length};
}

Piece Style::as_number(const Piece& p) const {
    if (!p.condition) return p;
    if (!latex_) return {"if(" + p.text + ", 1, 0)", Binding::atom, p.length + 10};
    return {"[" + p.text + "]", Binding::atom, p.length + 10};  // Iverson's bracket
}

}  // namespace appell
