#include "report/latex_lines.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace appell {

namespace {

// widths in points, of Computer Modern at 10 pt
constexpr std::array<double, 26> k_small{5.3, 4.3, 4.4, 5.2, 4.7, 5.0, 4.8, 5.8, 3.5, 4.2, 5.3, 3.0, 8.8,
                                         6.0, 4.9, 5.1, 4.5, 4.6, 4.7, 3.6, 5.8, 4.9, 7.2, 5.8, 5.0, 4.7};
constexpr std::array<double, 26> k_capitals{7.5, 7.6, 7.2, 8.3, 7.4, 7.0, 7.9, 8.4, 4.5, 5.6, 8.5, 6.8, 9.8,
                                            8.1, 7.7, 6.9, 8.0, 7.6, 6.2, 6.1, 6.9, 6.1, 9.7, 8.3, 6.1, 6.9};
constexpr double k_letter = 5.2, k_digit = 5.0, k_paren = 3.9, k_sign = 12.2, k_function_letter = 4.8, k_space = 2.5;
constexpr double k_script = 0.8, k_tall_paren = 6, k_fraction_bar = 2.4, k_root = 8.3;

enum class Kind { atom, sign, paren, fraction, root };

struct Item {
    Kind kind = Kind::atom;
    std::string text{};  // as written, blanks behind included
    double width = 0;
    std::vector<Item> inside{}, below{};  // of parentheses and roots; numerator and denominator
    std::string open{}, close{};          // of parentheses, as written
};

using Items = std::vector<Item>;

double width_of(const Items& items) {
    double sum = 0;
    for (const Item& item : items) sum += item.width;
    return sum;
}

class Parser {
public:
    explicit Parser(std::string_view text) : text_(text) {}

    Items list(std::string_view end = "") {
        Items out;
        while (at_ < text_.size() && !(end.size() > 0 && text_.substr(at_).starts_with(end))) {
            const std::size_t begin = at_;
            Item next = item(out.empty() || out.back().kind == Kind::sign);
            while (at_ < text_.size() && text_[at_] == ' ') ++at_;
            next.text = std::string(text_.substr(begin, at_ - begin));
            out.push_back(std::move(next));
        }
        at_ = std::min(at_ + end.size(), text_.size());
        return out;
    }

private:
    Item item(bool begins) {
        const char c = text_[at_];
        if (c == '\\') return command();
        ++at_;
        switch (c) {
            case ' ': return {};
            case '{': return {.width = width_of(list("}"))};
            case '(': return parentheses("(", ")");
            case '^':
            case '_': {
                // two scripts of one letter stand above each other; counted as if beside
                return {.width = 0.5 + k_script * width_of(argument())};
            }
            case '+':
            case '-':
                if (begins) return {.width = k_letter + 2};
                return {.kind = Kind::sign, .width = k_sign};
            case '=':
            case '<': return {.width = k_sign + 1};
            case ')':
            case '[':
            case ']':
            case ',':
            case '.':
            case '|': return {.width = k_paren};
            default: break;
        }
        // the further bytes of a letter have no width of their own
        if ((static_cast<unsigned char>(c) & 0xc0u) == 0x80u) return {};
        return {.width = letter_width(static_cast<unsigned char>(c))};
    }

    static double letter_width(unsigned char c) {
        if (c >= 'a' && c <= 'z') return k_small[c - 'a'];
        if (c >= 'A' && c <= 'Z') return k_capitals[c - 'A'];
        return std::isdigit(c) != 0 ? k_digit : k_letter;
    }

    // what a script or a command is applied to: a group or one token
    Items argument() {
        while (at_ < text_.size() && text_[at_] == ' ') ++at_;
        if (at_ >= text_.size()) return {};
        if (text_[at_] == '{') {
            ++at_;
            return list("}");
        }
        return {item(true)};
    }

    Item parentheses(std::string open, std::string_view close) {
        Item p{.kind = Kind::paren, .inside = list(close), .open = std::move(open), .close = std::string(close)};
        p.width = width_of(p.inside) + 2 * k_paren;
        return p;
    }

    Item command() {
        const std::size_t begin = at_++;
        while (at_ < text_.size() && std::isalpha(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
        if (at_ == begin + 1) {  // a backslash and a sign: \, \_ \%
            ++at_;
            return {.width = k_space};
        }
        const std::string_view word = text_.substr(begin + 1, at_ - begin - 1);
        if (word == "left") {
            std::string open("\\left");
            open += text_[at_++];
            const std::string close = open.back() == '(' ? "\\right)" : "\\right|";
            Item p = parentheses(open, close);
            if (open.back() != '(') p.kind = Kind::atom;  // a modulus stays whole
            p.width += 2;
            return p;
        }
        if (word == "frac") {
            Item f{.kind = Kind::fraction};
            f.inside = argument();
            f.below = argument();
            f.width = std::max(width_of(f.inside), width_of(f.below)) + k_fraction_bar;
            return f;
        }
        if (word == "sqrt") {
            Item r{.kind = Kind::root, .inside = argument()};
            r.width = width_of(r.inside) + k_root;
            return r;
        }
        if (word == "begin") {  // cases: the longer of its lines counts, but never broken
            const std::size_t end = std::min(text_.find("\\end{cases}", at_), text_.size());
            const std::string_view body = text_.substr(std::min(at_ + 7, end), end - std::min(at_ + 7, end));
            double widest = 0;
            for (std::size_t from = 0; from <= body.size();) {
                const std::size_t to = std::min(body.find("\\\\", from), body.size());
                widest = std::max(widest, latex_width(body.substr(from, to - from)));
                from = to + 2;
            }
            at_ = std::min(end + 11, text_.size());
            return {.width = widest + 20};
        }
        constexpr auto k_accents =
            std::to_array<std::string_view>({"mathrm", "mathit", "mathbf", "boldsymbol", "text", "dot", "ddot", "dddot", "hat",
                                             "tilde", "widetilde", "operatorname"});
        if (std::find(k_accents.begin(), k_accents.end(), word) != k_accents.end()) return {.width = width_of(argument())};
        constexpr auto k_signs = std::to_array<std::string_view>({"cdot", "times", "le", "neq"});
        if (std::find(k_signs.begin(), k_signs.end(), word) != k_signs.end()) return {.width = k_sign - 3};
        constexpr auto k_functions = std::to_array<std::string_view>(
            {"sin", "cos", "tan", "sinh", "cosh", "tanh", "arcsin", "arccos", "arctan", "exp", "ln", "min", "max"});
        if (std::find(k_functions.begin(), k_functions.end(), word) != k_functions.end())
            return {.width = static_cast<double>(word.size()) * k_function_letter + k_space};
        if (word == "quad") return {.width = 10};
        if (word.starts_with("Big")) return {.width = 2};
        return {.width = k_letter + 0.8};  // a Greek letter or another sign
    }

    std::string_view text_;
    std::size_t at_ = 0;
};

class Breaker {
public:
    Breaker(double first_limit, double limit) : room_(first_limit), limit_(limit) {}

    std::vector<std::string> lines(const Items& items) {
        sum(items);
        close_line();
        return std::move(lines_);
    }

private:
    void close_line() {
        current_.erase(current_.find_last_not_of(' ') + 1);
        lines_.push_back(std::move(current_));
        current_.clear();
        used_ = 0;
        room_ = limit_;
    }
    void put(const std::string& text, double width) {
        current_ += text;
        used_ += width;
    }
    // text that ends with a command must not run into the letter behind it
    void put_written(const std::string& text, double width) { put(text + " ", width); }

    void sum(const Items& items) {
        for (std::size_t begin = 0; begin < items.size();) {
            std::size_t end = begin + 1;
            while (end < items.size() && items[end].kind != Kind::sign) ++end;
            term(items, begin, end);
            begin = end;
        }
    }

    void term(const Items& items, std::size_t begin, std::size_t end) {
        double width = 0;
        for (std::size_t i = begin; i < end; ++i) width += items[i].width;
        const bool sign = items[begin].kind == Kind::sign;
        if (sign && used_ + width > room_ && used_ > 0) {
            close_line();
            put("{} ", 0);
        }
        for (std::size_t i = begin; i < end; ++i) {
            const Item& item = items[i];
            // what hangs on an item, as an exponent does, stays with it
            double tail = 0;
            for (std::size_t k = i + 1; k < end && hangs(items[k]); ++k) tail += items[k].width;
            if (used_ + item.width + tail <= room_ || !breakable(item)) {
                put(item.text, item.width);
            } else if (tail > 0 && i > begin && used_ > 0 && k_sign + item.width + tail <= limit_) {
                // a power that fits in a line is not torn
                close_line();
                put("{} \\cdot ", k_sign);
                put(item.text, item.width);
            } else {
                open(item);
            }
        }
    }

    static bool hangs(const Item& item) { return item.text.starts_with('^') || item.text.starts_with('_'); }
    static bool breakable(const Item& item) {
        return item.kind == Kind::paren || item.kind == Kind::fraction || item.kind == Kind::root;
    }

    void open(const Item& item) {
        const auto grouped = [&](const Items& inside, bool tall) {
            const double width = tall ? k_tall_paren : k_paren;
            put(tall ? "\\Bigl(" : "(", width);
            sum(inside);
            current_.erase(current_.find_last_not_of(' ') + 1);
            put_written(tall ? "\\Bigr)" : ")", width);
        };
        switch (item.kind) {
            case Kind::paren: grouped(item.inside, item.open != "("); break;
            case Kind::root:
                grouped(item.inside, true);
                put_written("^{1/2}", 10);
                break;
            default: {
                const double below = width_of(item.below);
                const std::string denominator = text_of(item.below);
                if (below <= limit_ / 3) {
                    put_written("\\frac{1}{" + denominator + "}", below + k_fraction_bar);
                    // a product needs no parentheses behind a factor
                    const bool product = std::none_of(item.inside.begin(), item.inside.end(),
                                                      [](const Item& i) { return i.kind == Kind::sign; }) &&
                                         !item.inside.empty() && !item.inside.front().text.starts_with('-');
                    if (product)
                        sum(item.inside);
                    else
                        grouped(item.inside, true);
                } else {
                    grouped(item.inside, true);
                    const double whole = below + 3 * k_tall_paren;
                    if (used_ + whole > room_ && whole <= limit_) {
                        close_line();
                        put("{} ", 0);
                    }
                    put_written("\\Big/", k_tall_paren);
                    grouped(item.below, true);
                }
            }
        }
    }

    static std::string text_of(const Items& items) {
        std::string out;
        for (const Item& item : items) out += item.text;
        return out;
    }

    double room_, limit_;
    double used_ = 0;
    std::string current_;
    std::vector<std::string> lines_;
};

}  // namespace

double latex_width(std::string_view formula) { return width_of(Parser(formula).list()); }

std::vector<std::string> latex_lines(const std::string& formula, double first_limit, double limit) {
    const Items items = Parser(formula).list();
    if (width_of(items) <= first_limit) return {formula};
    return Breaker(first_limit, limit).lines(items);
}

}  // namespace appell
