#include "emit/operation_text.hpp"

#include <cctype>
#include <cmath>

#include <fmt/format.h>

#include "expr/scalar_math.hpp"

namespace appell {

namespace {

std::string_view table_text(Op op) {
    switch (op) {
#define APPELL_LEAF(Name)
#define APPELL_STRUCTURE(Name, arity)
#define APPELL_VECTOR(Name, arity)
#define APPELL_OP(Name, text, arity, value, dx, dy, dz) \
    case Op::Name:                                      \
        return #value;
#include "expr/ops.def"
#undef APPELL_LEAF
#undef APPELL_STRUCTURE
#undef APPELL_VECTOR
#undef APPELL_OP
        default: break;
    }
    APPELL_ASSERT(false, "the operation is not in the table of scalar operations");
    return {};
}

}  // namespace

std::string operation_text(Op op, const std::array<std::string, 3>& operands) {
    const std::string_view text = table_text(op);
    std::string out;
    for (std::size_t i = 0; i < text.size();) {
        std::size_t end = i;
        while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) || text[end] == '_')) ++end;
        const std::string_view word = text.substr(i, end - i);
        if (word == "x" || word == "y" || word == "z")
            out += operands[static_cast<std::size_t>(word[0] - 'x')];
        else
            out += word.empty() ? text.substr(i, 1) : word;
        i = word.empty() ? i + 1 : end;
    }
    return out;
}

double operation_value(Op op, double x, [[maybe_unused]] double y, [[maybe_unused]] double z) {
    using std::acos, std::acosh, std::asin, std::asinh, std::atan, std::atan2, std::atanh, std::cos, std::cosh, std::exp,
        std::log, std::pow, std::sin, std::sinh, std::sqrt, std::tan, std::tanh;
    switch (op) {
#define APPELL_LEAF(Name)
#define APPELL_STRUCTURE(Name, arity)
#define APPELL_VECTOR(Name, arity)
#define APPELL_OP(Name, text, arity, value, dx, dy, dz) \
    case Op::Name:                                      \
        return value;
#include "expr/ops.def"
#undef APPELL_LEAF
#undef APPELL_STRUCTURE
#undef APPELL_VECTOR
#undef APPELL_OP
        default: break;
    }
    APPELL_ASSERT(false, "the operation is not in the table of scalar operations");
    return 0;
}

std::string power_text(const std::string& x, int n, const std::string& name, std::vector<std::string>& lines) {
    const auto define = [&](std::string value) {
        std::string power = fmt::format("{}_{}", name, lines.size() + 1);
        lines.push_back(fmt::format("const double {} = {};", power, value));
        return power;
    };
    std::string base = n < 0 ? define("1.0 / " + x) : x, result;
    for (unsigned k = n < 0 ? 0u - static_cast<unsigned>(n) : static_cast<unsigned>(n); k != 0; k >>= 1) {
        if (k & 1u) result = result.empty() ? base : k > 1 ? define(result + " * " + base) : result + " * " + base;
        if (k == 2 && result.empty()) return base + " * " + base;
        if (k > 1) base = define(base + " * " + base);
    }
    return result.empty() ? "1.0" : result;
}

}  // namespace appell
