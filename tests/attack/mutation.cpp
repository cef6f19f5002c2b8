#include "support/mutation.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

#include <fmt/format.h>

namespace appell::attack {

namespace {

using Strings = std::vector<std::string>;

bool starts_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c & 0x80) != 0; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name(const std::string& token) { return !token.empty() && starts_name(token.front()); }
bool is_number(const std::string& token) { return !token.empty() && is_digit(token.front()); }
bool is_space(const std::string& token) { return token == " " || token == "\n" || token == "\t"; }

// names, numbers, single signs and white space; all of it together is the text
Strings tokens_of(const std::string& text) {
    Strings out;
    for (std::size_t i = 0; i < text.size();) {
        std::size_t end = i + 1;
        if (starts_name(text[i]))
            while (end < text.size() && (starts_name(text[end]) || is_digit(text[end]))) ++end;
        else if (is_digit(text[i]))
            while (end < text.size() && (is_digit(text[end]) || text[end] == '.')) ++end;
        out.push_back(text.substr(i, end - i));
        i = end;
    }
    return out;
}

Strings lines_of(const std::string& text) {
    Strings out;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) out.push_back(line);
    return out;
}

std::string joined(const Strings& parts, const char* between = "") {
    std::string out;
    for (const std::string& part : parts) out += part + between;
    return out;
}

template <class Good>
std::optional<std::size_t> place(const Strings& tokens, Dice& dice, const Good& good) {
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < tokens.size(); ++i)
        if (good(tokens[i])) places.push_back(i);
    if (places.empty()) return std::nullopt;
    return dice.of(places);
}

const Strings& numbers() {
    static const Strings list{"0",    "1",   "-1",      "2",        "1e308",    "-1e308", "1e-308",   "1e15", "1e-15",
                              "0.5",  "1e9", "(0/0.0)", "log(-1)",  "sqrt(-1)", "(1/t)",  "1e400",    "3e9",  "4294967296",
                              "-0.0", "pi",  "0.1 m",   "1 kg/s^2", "30 deg",   "1e-9",   "99999999", "7",    "1e300*1e300"};
    return list;
}

const Strings& signs() {
    static const Strings list{"+", "-", "*", "/", "^", "=", ">=", "<=", "<",  ">",     "==",   "!=",   "'",  "''", ",", "(",
                              ")", "[", "]", ".", ":", "#", "\"", "=>", "..", " and ", " or ", "not ", "\n", "\\", "\0"};
    return list;
}

// what a model names, by what it is; a name of every kind is always there
struct Names {
    Strings coordinates, points, frames, constraints, parameters, speeds, all;
};

Names names_of(const std::string& text) {
    Names out;
    std::string keyword;
    for (const std::string& line : lines_of(text)) {
        const Strings tokens = tokens_of(line);
        std::size_t at = 0;
        while (at < tokens.size() && is_space(tokens[at])) ++at;
        if (at == tokens.size() || !is_name(tokens[at])) continue;
        keyword = tokens[at];
        Strings* const list = keyword == "coord"                              ? &out.coordinates
                              : keyword == "particle" || keyword == "point"   ? &out.points
                              : keyword == "frame" || keyword == "body"       ? &out.frames
                              : keyword == "constraint" || keyword == "servo" ? &out.constraints
                              : keyword == "param"                            ? &out.parameters
                              : keyword == "speed"                            ? &out.speeds
                                                                              : nullptr;
        for (std::size_t i = at + 1; i < tokens.size(); ++i) {
            if (!is_name(tokens[i])) continue;
            out.all.push_back(tokens[i]);
            if (list == nullptr) continue;
            const bool first = list->empty() || i == at + 2;
            const bool item =
                (list == &out.coordinates || list == &out.parameters || list == &out.speeds) && i >= 2 && tokens[i - 2] == ",";
            if (first || item) list->push_back(tokens[i]);
        }
    }
    for (Strings* list : {&out.coordinates, &out.parameters, &out.speeds, &out.constraints, &out.all})
        if (list->empty()) list->push_back("x");
    out.points.push_back("O");
    out.frames.push_back("N");
    return out;
}

std::string scalar_of(const Names& names, Dice& dice, int depth = 0);

// what may be asked of a model, in outputs, claims, events and plots
std::string quantity_of(const Names& names, Dice& dice) {
    const std::string& q = dice.of(names.coordinates);
    const std::string u = dice.one_in(2) ? q + "'" : dice.of(names.speeds);
    const std::string &c = dice.of(names.constraints), &p = dice.of(names.points), &f = dice.of(names.frames);
    static const Strings matrices{"M", "f", "A", "b", "J1", "J2", "D", "d", "A1", "A2", "T", "V"};
    switch (dice.below(24)) {
        case 0: return fmt::format("matrix({}, {}, {})", dice.of(matrices), 1 + dice.below(3), 1 + dice.below(3));
        case 1: return fmt::format("matrix({}, {})", dice.of(matrices), 1 + dice.below(3));
        case 2: return fmt::format("nonholonomic_active({})", u);
        case 3: return fmt::format("nonholonomic_inertia({})", u);
        case 4: return fmt::format("nonholonomic_partial(kinetic(), {})", u);
        case 5: return fmt::format("mag(nonholonomic_partial(vel({}), {}))", p, u);
        case 6: return fmt::format("active({})", u);
        case 7: return fmt::format("inertia({})", u);
        case 8: return fmt::format("generalized_ideal({})", u);
        case 9: return fmt::format("generalized_nonideal({})", u);
        case 10: return fmt::format("mag(force({}, {}))", c, p);
        case 11: return fmt::format("mag(torque({}, {}))", c, f);
        case 12: return fmt::format("mag(ideal({}, {}))", c, p);
        case 13: return fmt::format("mag(nonideal({}, {}))", c, p);
        case 14: return fmt::format("mag(friction({}))", c);
        case 15: return fmt::format("lambda({})", c);
        case 16: return fmt::format("dt({})", u);
        case 17: return fmt::format("partial(kinetic(), {})", u);
        case 18: return fmt::format("dot(vel({}), acc({}))", p, dice.of(names.points));
        case 19: return fmt::format("dot(omega({}), alpha({}))", f, dice.of(names.frames));
        case 20: return fmt::format("reaction({})", c);
        case 21: return dice.one_in(2) ? "energy()" : "kinetic() + potential()";
        case 22: return fmt::format("{}''", q);
        default: return scalar_of(names, dice, 1);
    }
}

std::string scalar_of(const Names& names, Dice& dice, int depth) {
    const auto again = [&] { return depth > 2 ? dice.of(names.coordinates) : scalar_of(names, dice, depth + 1); };
    static const Strings functions{"sin", "cos", "tan", "exp", "log", "sqrt", "abs", "sign", "asin", "atan", "sinh", "tanh"};
    switch (dice.below(14)) {
        case 0: return dice.of(names.coordinates);
        case 1: return dice.of(names.coordinates) + "'";
        case 2: return dice.of(names.parameters);
        case 3: return dice.of(names.speeds);
        case 4: return "t";
        case 5: return dice.of(numbers());
        case 6: return fmt::format("{}({})", dice.of(functions), again());
        case 7: return fmt::format("if({} > {}, {}, {})", again(), again(), again(), again());
        case 8: return fmt::format("{}({}, {})", dice.one_in(2) ? "min" : "max", again(), again());
        case 9: return fmt::format("({})^{}", again(), dice.of(numbers()));
        case 10: return fmt::format("({})*({})", again(), again());
        case 11: return fmt::format("({})/({})", again(), again());
        case 12: return fmt::format("atan2({}, {})", again(), again());
        default: return fmt::format("{} - {}", again(), again());
    }
}

// a statement that fits the model, more or less
std::string statement_for(const Names& names, Dice& dice) {
    const std::string &q = dice.of(names.coordinates), &p = dice.of(names.points), &c = dice.of(names.constraints);
    const std::string& f = dice.of(names.frames);
    const auto s = [&] { return scalar_of(names, dice); };
    const std::string n = std::to_string(dice.below(100));
    static const Strings axes{"x", "y", "z"}, sides{"", " rising", " falling"};
    static const Strings integrators{"dopri5", "dop853", "rk4", "merson", "cvode", "adams", "arkode", "ida"};
    static const Strings formulations{"multipliers", "minimal", "nonminimal", "udwadia-kalaba",
                                      "ukp",         "voronec", "chaplygin",  "gibbs-appell"};
    switch (dice.below(30)) {
        case 0: return fmt::format("constraint k{}: {} = {}", n, s(), s());
        case 1: return fmt::format("constraint k{}: {} >= {}", n, s(), dice.of(numbers()));
        case 2: return fmt::format("constraint k{}: {}' = {} initially off", n, q, s());
        case 3: return fmt::format("constraint k{}: {} >= 0 restitution {}", n, s(), dice.of(numbers()));
        case 4: return fmt::format("independent {}", dice.one_in(2) ? q + "'" : dice.of(names.speeds));
        case 5: return fmt::format("independent {}', {}'", q, dice.of(names.coordinates));
        case 6:
        case 7:
        case 8: return fmt::format("output o{} = {}", n, quantity_of(names, dice));
        case 9: return fmt::format("claim \"c{}\": {} = {}", n, quantity_of(names, dice), s());
        case 10: return fmt::format("event e{}: {}{} => report", n, s(), dice.of(sides));
        case 11: return fmt::format("event e{}: {}{} => set {}' = {}", n, s(), dice.of(sides), q, s());
        case 12: return fmt::format("event e{}: {}{} => drop {}", n, s(), dice.of(sides), c);
        case 13: return fmt::format("event e{}: {}{} => enforce {}", n, s(), dice.of(sides), c);
        case 14: return fmt::format("event e{}: {}{} => stop", n, s(), dice.of(sides));
        case 15: return fmt::format("nonideal {}: friction on {} = {}", c, p, s());
        case 16: return fmt::format("nonideal {}: force on {} = {}*{}.{}", c, p, s(), f, dice.of(axes));
        case 17: return fmt::format("force on {} = {}*{}.{}", p, s(), f, dice.of(axes));
        case 18: return fmt::format("torque on {} = {}*{}.{}", f, s(), f, dice.of(axes));
        case 19: return fmt::format("spring {} {} stiffness {} length {}", p, dice.of(names.points), s(), dice.of(numbers()));
        case 20: return fmt::format("damper {} {} coefficient {}", p, dice.of(names.points), s());
        case 21: return fmt::format("potential {}", s());
        case 22: return fmt::format("load on {}' = {}", q, s());
        case 23: return fmt::format("let l{} = {}", n, s());
        case 24: return fmt::format("start {}' = {}", q, dice.of(numbers()));
        case 25: return fmt::format("evidence {}", c);
        case 26:
            return fmt::format("run for {} s, integrator {}, formulation {}", dice.of(numbers()), dice.of(integrators),
                               dice.of(formulations));
        case 27:
            return fmt::format("actuator a{0}: force on {1} along {2}.{3}\nservo v{0}: {4} = {5} by a{0}", n, p, f, dice.of(axes),
                               q, s());
        case 28: return fmt::format("condition i{0}: {1} = 0\nimply {2} => i{0}", n, s(), c);
        default: return fmt::format("plot {} vs {}", quantity_of(names, dice), s());
    }
}

std::string change_characters(std::string text, Dice& dice) {
    if (text.empty()) return "x";
    static const Strings odd{"\xc3\xa9", "\xff", "\xe2\x88\x9e", "\t", "\r\n", std::string(1, '\0'), "\xf0\x9f\x98\x80",
                             "\"",       "#"};
    for (std::size_t count = 1 + dice.below(4); count-- > 0 && !text.empty();) {
        const std::size_t at = dice.below(text.size());
        switch (dice.below(6)) {
            case 0: text.erase(at, 1 + dice.below(5)); break;
            case 1: text.insert(at, 1, static_cast<char>(32 + dice.below(95))); break;
            case 2: text[at] = static_cast<char>(dice.below(256)); break;
            case 3: text.insert(at, dice.of(odd)); break;
            case 4: text.insert(at, text.substr(at, 1 + dice.below(30))); break;
            default: text.resize(at); break;
        }
    }
    return text;
}

std::string change_tokens(const std::string& text, const std::string& other, Dice& dice) {
    Strings tokens = tokens_of(text);
    const Strings others = tokens_of(other);
    const auto word = [](const std::string& token) { return !is_space(token); };
    for (std::size_t count = 1 + dice.below(3); count-- > 0;) {
        const auto at = place(tokens, dice, word), there = place(others, dice, word);
        if (!at) return text;
        switch (dice.below(7)) {
            case 0: tokens[*at].clear(); break;
            case 1: tokens[*at] += (is_name(tokens[*at]) ? " " : "") + tokens[*at]; break;
            case 2: std::swap(tokens[*at], tokens[*place(tokens, dice, word)]); break;
            case 3: tokens[*at] = there ? others[*there] : "0"; break;
            case 4: tokens[*at] = dice.of(signs()); break;
            case 5:
                if (const auto name = place(tokens, dice, is_name)) tokens[*name] = tokens[*place(tokens, dice, is_name)];
                break;
            default: tokens.insert(tokens.begin() + static_cast<std::ptrdiff_t>(*at), there ? others[*there] : " "); break;
        }
    }
    return joined(tokens);
}

std::string change_numbers(const std::string& text, Dice& dice) {
    Strings tokens = tokens_of(text);
    for (std::size_t count = 1 + dice.below(3); count-- > 0;)
        if (const auto at = place(tokens, dice, is_number)) tokens[*at] = dice.of(numbers());
    return joined(tokens);
}

// two names everywhere in each other's places
std::string swap_names(const std::string& text, Dice& dice) {
    Strings tokens = tokens_of(text);
    const auto first = place(tokens, dice, is_name), second = place(tokens, dice, is_name);
    if (!first) return text;
    const std::string a = tokens[*first], b = tokens[*second];
    for (std::string& token : tokens) token = token == a ? b : token == b ? a : token;
    return joined(tokens);
}

std::string change_lines(const std::string& text, const std::string& other, Dice& dice) {
    Strings lines = lines_of(text);
    const Strings others = lines_of(other);
    for (std::size_t count = 1 + dice.below(3); count-- > 0 && !lines.empty();) {
        const auto at = lines.begin() + static_cast<std::ptrdiff_t>(dice.below(lines.size()));
        switch (dice.below(6)) {
            case 0: lines.erase(at); break;
            case 1: lines.insert(at, std::string(*at)); break;
            case 2: std::swap(*at, lines[dice.below(lines.size())]); break;
            case 3: lines.insert(at, dice.of(others)); break;
            case 4: *at = dice.of(others); break;
            default: lines.push_back(dice.of(others)); break;
        }
    }
    return joined(lines, "\n");
}

// the beginning of one and the end of the other
std::string splice(const std::string& text, const std::string& other, Dice& dice) {
    Strings lines = lines_of(text), tail = lines_of(other);
    lines.resize(dice.below(lines.size() + 1));
    tail.erase(tail.begin(), tail.begin() + static_cast<std::ptrdiff_t>(dice.below(tail.size())));
    return joined(lines, "\n") + joined(tail, "\n");
}

}  // namespace

std::string Mutator::changed(std::string text, Dice& dice) const {
    const std::string& other = dice.of(models_);
    switch (dice.below(12)) {
        case 0: return change_characters(std::move(text), dice);
        case 1:
        case 2: return change_tokens(text, other, dice);
        case 3:
        case 4: return change_numbers(text, dice);
        case 5: return swap_names(text, dice);
        case 6: return change_lines(text, other, dice);
        case 7: return dice.one_in(3) ? splice(text, other, dice) : change_lines(text, other, dice);
        default: break;
    }
    const Names names = names_of(text);
    for (std::size_t count = 1 + dice.below(4); count-- > 0;) text += statement_for(names, dice) + "\n";
    return text;
}

std::string Mutator::mutant(std::uint64_t seed) const {
    Dice dice(seed * 0x9e3779b97f4a7c15ull + 1);
    std::string text = dice.of(models_);
    for (std::size_t rounds = 1 + dice.below(3); rounds-- > 0;) text = changed(std::move(text), dice);
    return text;
}

std::vector<std::string> small_gallery_models() {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(APPELL_SOURCE_DIR "/gallery"))
        if (entry.path().extension() == ".appell") names.push_back(entry.path().string());
    std::sort(names.begin(), names.end());
    std::vector<std::string> out;
    for (const std::string& name : names) {
        std::ifstream file(name, std::ios::binary);
        std::ostringstream text;
        text << file.rdbuf();
        // remarks are no use to a mutant
        std::string model;
        for (const std::string& line : lines_of(text.str()))
            if (!line.starts_with("#")) model += line + "\n";
        if (model.size() < 1500) out.push_back(std::move(model));
    }
    return out;
}

}  // namespace appell::attack
