// The value of printed text: a small reader of the language's scalar expressions, independent of the printer and of `lang`. It
// knows the operators, the functions of the table, if(a < b, x, y), pi, and opaque functions f, g with their partial
// derivatives (g_x, g_xyy), whose arguments are called x and y.
#pragma once

#include <cctype>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "expr/evaluate.hpp"
#include "expr/print.hpp"

namespace appell::test {

template <class T>
class TextEvaluator {
public:
    explicit TextEvaluator(std::map<std::string, T> values) : values_(std::move(values)) {}

    void define(const std::string& name, const std::string& text) { values_[name] = (*this)(text); }

    T operator()(const std::string& text) {
        text_ = text;
        at_ = 0;
        const T result = sum();
        skip();
        if (at_ != text_.size()) fail("something is left over");
        return result;
    }

private:
    [[noreturn]] void fail(const std::string& why) const {
        throw std::runtime_error(why + " at " + std::to_string(at_) + " of: " + text_);
    }
    void skip() {
        while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    }
    bool take(std::string_view token) {
        skip();
        if (text_.compare(at_, token.size(), token) != 0) return false;
        at_ += token.size();
        return true;
    }
    void expect(std::string_view token) {
        if (!take(token)) fail("expected " + std::string(token));
    }

    T sum() {
        T result = product();
        for (;;) {
            if (take("+"))
                result = result + product();
            else if (take("-"))
                result = result - product();
            else
                return result;
        }
    }
    T product() {
        T result = signed_power();
        for (;;) {
            if (take("*"))
                result = result * signed_power();
            else if (take("/"))
                result = result / signed_power();
            else
                return result;
        }
    }
    T signed_power() {
        if (take("-")) return -signed_power();
        const T base = atom();
        if (!take("^")) return base;
        const T exponent = signed_power();
        const double n = static_cast<double>(real_part(exponent));
        if (exponent == T(n) && n == std::floor(n) && std::abs(n) < 1000) return int_power(base, static_cast<int>(n));
        return apply_op<T>(Op::Pow, base, exponent, T(0));
    }
    T condition() {
        const T left = sum();
        if (take("<=")) return less_equal_value(left, sum());
        expect("<");
        return less_value(left, sum());
    }
    T atom() {
        skip();
        if (at_ >= text_.size()) fail("the text ends");
        if (take("(")) {
            const T result = sum();
            expect(")");
            return result;
        }
        if (std::isdigit(static_cast<unsigned char>(text_[at_])) != 0) {
            char* end = nullptr;
            const double value = std::strtod(text_.c_str() + at_, &end);
            at_ = static_cast<std::size_t>(end - text_.c_str());
            return T(value);
        }
        const std::size_t begin = at_;
        while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '_')) ++at_;
        while (at_ < text_.size() && text_[at_] == '\'') ++at_;
        const std::string name = text_.substr(begin, at_ - begin);
        if (name.empty()) fail("expected a name");
        if (const auto found = values_.find(name); found != values_.end()) return found->second;
        if (name == "pi") return pi_value<T>();
        expect("(");
        std::vector<T> arguments;
        arguments.push_back(name == "if" ? condition() : sum());
        while (take(",")) arguments.push_back(sum());
        expect(")");
        return call(name, arguments);
    }
    T call(const std::string& name, std::vector<T> arguments) {
        if (name.substr(0, name.find('_')).size() == 1) {
            std::vector<std::uint8_t> orders(arguments.size(), 0);
            for (const char c : name.substr(1)) {
                if (c == 'x') ++orders[0];
                if (c == 'y') ++orders.at(1);
            }
            return opaque_value<T>(name.substr(0, 1), orders, arguments);
        }
        arguments.resize(3, T(0));
        for (std::size_t i = 0; i < op_count(); ++i)
            if (const Op op = static_cast<Op>(i); info(op).scalar && info(op).text == name)
                return apply_op<T>(op, arguments[0], arguments[1], arguments[2]);
        fail("unknown function " + name);
    }

    std::map<std::string, T> values_;
    std::string text_;
    std::size_t at_ = 0;
};

// the values of printed expressions: definitions first
template <class T>
std::vector<T> values_of(const Printed& printed, std::map<std::string, T> symbols) {
    TextEvaluator<T> evaluate(std::move(symbols));
    for (const auto& [name, text] : printed.definitions) evaluate.define(name, text);
    std::vector<T> out;
    for (const std::string& text : printed.expressions) out.push_back(evaluate(text));
    return out;
}

}  // namespace appell::test
