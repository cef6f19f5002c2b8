// Names as LaTeX: Greek letters, subscripts from trailing digits, underscores, indices and arguments, dots from primes.
#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <string_view>
#include <vector>

#include "expr/print.hpp"

namespace appell {

namespace {

constexpr auto k_greek = std::to_array<std::string_view>(
    {"alpha", "beta",  "gamma",  "delta", "epsilon", "zeta",  "eta",     "theta", "iota", "kappa", "lambda", "mu",
     "nu",    "xi",    "pi",     "rho",   "sigma",   "tau",   "upsilon", "phi",   "chi",  "psi",   "omega",  "Gamma",
     "Delta", "Theta", "Lambda", "Xi",    "Pi",      "Sigma", "Upsilon", "Phi",   "Psi",  "Omega"});

// Greek letters of two bytes in UTF-8, in the order of Unicode from alpha (U+03B1); final sigma is sigma, omicron is o
constexpr auto k_small = std::to_array<std::string_view>(
    {"alpha", "beta", "gamma", "delta", "epsilon", "zeta",  "eta", "theta",   "iota", "kappa", "lambda", "mu",   "nu",
     "xi",    "o",    "pi",    "rho",   "sigma",   "sigma", "tau", "upsilon", "phi",  "chi",   "psi",    "omega"});

// a Greek letter typed as such, spelt out; other text stays
std::string spelt(std::string_view text) {
    if (text.size() != 2) return std::string(text);
    const auto byte = [&](std::size_t i) { return static_cast<unsigned>(static_cast<unsigned char>(text[i])); };
    const unsigned code = (byte(0) & 0x1fu) << 6 | (byte(1) & 0x3fu);
    if ((byte(0) & 0xe0u) != 0xc0u) return std::string(text);
    if (code >= 0x3b1 && code <= 0x3c9) return std::string(k_small[code - 0x3b1]);
    if (code >= 0x391 && code <= 0x3a9 && code != 0x3a2) {
        std::string name(k_small[code - 0x391]);
        name[0] = static_cast<char>(name[0] - 'a' + 'A');
        return name;
    }
    return std::string(text);
}

bool is_greek(std::string_view word) { return std::find(k_greek.begin(), k_greek.end(), word) != k_greek.end(); }
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

std::string escaped(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c == '_' || c == '%' || c == '&' || c == '#' || c == '$' || c == '{' || c == '}') out += '\\';
        out += c;
    }
    return out;
}

// one word without structure: a letter, a Greek letter, or upright text
std::string word(std::string_view given) {
    const std::string text = spelt(given);
    if (is_greek(text)) return "\\" + text;
    const bool number = std::all_of(text.begin(), text.end(), is_digit);
    // one letter, possibly one of several bytes
    const std::size_t letters = static_cast<std::size_t>(
        std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0u) != 0x80u; }));
    if (letters <= 1 || number) return escaped(text);
    return "\\mathrm{" + escaped(text) + "}";
}

// a subscript's part: trailing digits of a word stay with it, "c1" is c1 upright
std::string subscript_word(std::string_view text) {
    if (is_greek(text) || std::all_of(text.begin(), text.end(), is_digit)) return word(text);
    return "\\mathrm{" + escaped(text) + "}";
}

// Behind an underscore digits are slanted: x_1 is another name than x1.
std::string underscored_word(std::string_view text) {
    const bool number = std::all_of(text.begin(), text.end(), is_digit);
    return number ? "\\mathit{" + std::string(text) + "}" : subscript_word(text);
}

struct NameParts {
    std::string base;
    std::string subscript;
    int primes = 0;
};

void append_subscript(NameParts& parts, std::string_view text) {
    if (text.empty()) return;
    if (!parts.subscript.empty()) parts.subscript += ',';
    parts.subscript += text;
}

NameParts split_name(std::string_view name) {
    NameParts parts;
    while (!name.empty() && name.back() == '\'') {
        ++parts.primes;
        name.remove_suffix(1);
    }
    // bracketed tails, x[3] and lambda(c), from the first bracket on
    std::string_view tail;
    if (const std::size_t open = name.find_first_of("[("); open != std::string_view::npos && open > 0) {
        tail = name.substr(open);
        name = name.substr(0, open);
    }
    // words between underscores; digits at the end of the first word
    std::size_t end = std::min(name.find('_', 1), name.size());
    std::string_view first = name.substr(0, end);
    std::string_view rest = name.substr(std::min(end + 1, name.size()));
    std::size_t digits = first.size();
    while (digits > 1 && is_digit(first[digits - 1])) --digits;
    parts.base = word(first.substr(0, digits));
    append_subscript(parts, first.substr(digits));
    while (!rest.empty()) {
        end = std::min(rest.find('_'), rest.size());
        if (end > 0) append_subscript(parts, underscored_word(rest.substr(0, end)));
        rest = rest.substr(std::min(end + 1, rest.size()));
    }
    // the tail's words, whatever separates them
    std::string current;
    const auto flush = [&] {
        if (!current.empty()) append_subscript(parts, subscript_word(current));
        current.clear();
    };
    for (const char c : tail) {
        if (c == '[' || c == ']' || c == '(' || c == ')' || c == ',' || c == ' ')
            flush();
        else
            current += c;
    }
    flush();
    return parts;
}

std::string with_subscript(std::string base, const std::string& subscript) {
    if (subscript.empty()) return base;
    return base + (subscript.size() == 1 ? "_" + subscript : "_{" + subscript + "}");
}

}  // namespace

std::string latex_name(std::string_view name) {
    NameParts parts = split_name(name);
    switch (parts.primes) {
        case 0: break;
        case 1: parts.base = "\\dot{" + parts.base + "}"; break;
        case 2: parts.base = "\\ddot{" + parts.base + "}"; break;
        case 3: parts.base = "\\dddot{" + parts.base + "}"; break;
        default: return with_subscript(parts.base, parts.subscript) + "^{(" + std::to_string(parts.primes) + ")}";
    }
    return with_subscript(std::move(parts.base), parts.subscript);
}

std::string latex_vector_name(std::string_view name) {
    struct Quantity {
        std::string_view head, symbol;
    };
    constexpr auto k_quantities = std::to_array<Quantity>({{"pos(", "\\mathbf{r}"},
                                                           {"vel(", "\\mathbf{v}"},
                                                           {"acc(", "\\mathbf{a}"},
                                                           {"omega(", "\\boldsymbol{\\omega}"},
                                                           {"alpha(", "\\boldsymbol{\\alpha}"}});
    for (const auto& [head, symbol] : k_quantities) {
        if (!name.starts_with(head) || !name.ends_with(')')) continue;
        const std::string_view inside = name.substr(head.size(), name.size() - head.size() - 1);
        if (const std::size_t at = inside.find(" at "); at != std::string_view::npos)
            return std::string(symbol) + "^{" + latex_name(inside.substr(0, at)) + "\\,\\text{at}\\," +
                   latex_name(inside.substr(at + 4)) + "}";
        return std::string(symbol) + "^{" + latex_name(inside) + "}";
    }
    // a basis vector, N.x: the frame's letter, small, with a hat
    if (name.size() > 2 && name[name.size() - 2] == '.') {
        NameParts frame = split_name(name.substr(0, name.size() - 2));
        if (frame.base.size() == 1) frame.base[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(frame.base[0])));
        append_subscript(frame, name.substr(name.size() - 1));
        return with_subscript("\\hat{\\mathbf{" + frame.base + "}}", frame.subscript);
    }
    const NameParts parts = split_name(name);
    return with_subscript("\\mathbf{" + parts.base + "}", parts.subscript);
}

}  // namespace appell
