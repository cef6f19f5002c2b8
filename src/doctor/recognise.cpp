#include "doctor/recognise.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "expr/sweep.hpp"

namespace appell {

namespace {

constexpr std::size_t k_most_atoms = 32, k_most_in_triples = 12, k_longest_sum = 11;
constexpr std::size_t k_fewest_samples = 3;
constexpr double k_close = 1e-9;  // of logarithms in double; what passes is confirmed with fifty digits
const Digits50 k_equal = 1e-28;

bool equal(const Digits50& x, const Digits50& y) { return abs(x - y) <= k_equal * (abs(x) + abs(y)); }

std::optional<NodeId> ratio(Graph& g, const Digits50& value) {
    constexpr long k_largest_denominator = 1000;
    // the convergents of the continued fraction
    Digits50 x = abs(value);
    if (!(x < 1e6)) return std::nullopt;
    long p0 = 0, q0 = 1, p1 = 1, q1 = 0;
    for (int i = 0; i < 20; ++i) {
        const long whole = static_cast<long>(floor(x + Digits50(1e-20)));
        const long p = whole * p1 + p0, q = whole * q1 + q0;
        if (q > k_largest_denominator) return std::nullopt;
        p0 = p1, q0 = q1, p1 = p, q1 = q;
        if (equal(Digits50(p) / q, abs(value))) {
            const double sign = value < 0 ? -1 : 1;
            return g.div(g.constant(sign * static_cast<double>(p)), g.constant(static_cast<double>(q)));
        }
        const Digits50 rest = x - whole;
        if (!(abs(rest) > Digits50(1e-20))) return std::nullopt;
        x = 1 / rest;
    }
    return std::nullopt;
}

}  // namespace

std::optional<NodeId> recognise_number(Graph& g, const Digits50& value) {
    if (value == 0) return g.constant(0);
    const double near = static_cast<double>(value);
    if (equal(Digits50(near), value)) return g.constant(near);  // as the user wrote it
    if (const auto found = ratio(g, value)) return found;
    if (const auto square = ratio(g, value * value)) {
        const NodeId root = g.make(Op::Sqrt, *square);
        return value < 0 ? g.neg(root) : root;
    }
    return std::nullopt;
}

std::vector<NodeId> atoms_in(const Graph& g, std::span<const NodeId> roots, bool speeds) {
    struct Facts {
        std::size_t size = 1;
        bool speed = false, usable = true;
    };
    Sweep sweep;
    std::map<NodeId, Facts> facts;
    std::vector<NodeId> symbols, functions, sums;
    for (const NodeId id : sweep.collect(g, roots)) {
        Facts f;
        const Op op = g.op(id);
        for (int i = 0; i < g.arity(id); ++i) {
            const Facts& operand = facts[g.operand(id, i)];
            f.size += operand.size;
            f.speed |= operand.speed;
            f.usable &= operand.usable;
        }
        if (op == Op::Symbol) {
            const SymbolKind kind = g.symbol(g.symbol_of(id)).kind;
            f.speed = kind == SymbolKind::speed;
            f.usable = kind == SymbolKind::time || kind == SymbolKind::parameter || kind == SymbolKind::input ||
                       kind == SymbolKind::coordinate || kind == SymbolKind::speed;
        }
        f.usable &= !info(op).vector;
        f.size = std::min<std::size_t>(f.size, 1000);
        facts[id] = f;
        if (!f.usable || (f.speed && !speeds) || f.size > k_longest_sum) continue;
        if (op == Op::Symbol)
            symbols.push_back(id);
        else if (op == Op::Add || op == Op::Sub)
            sums.push_back(id);
        else if (op == Op::Sin || op == Op::Cos || op == Op::Tan || op == Op::Exp || op == Op::Sqrt)
            functions.push_back(id);
    }
    symbols.insert(symbols.end(), functions.begin(), functions.end());
    std::stable_sort(sums.begin(), sums.end(), [&](NodeId x, NodeId y) { return facts[x].size < facts[y].size; });
    symbols.insert(symbols.end(), sums.begin(), sums.end());
    if (symbols.size() > k_most_atoms) symbols.resize(k_most_atoms);
    return symbols;
}

Recogniser::Recogniser(Graph& graph, const Samples& samples, std::span<const NodeId> atoms) : graph_(graph) {
    std::vector<Vector50> found;  // by sample
    for (std::size_t k = 0; k < samples.size(); ++k) found.push_back(samples.evaluate(graph, atoms, k));
    for (std::size_t i = 0; i < atoms.size(); ++i) {
        Vector50 values;
        for (const Vector50& at : found) values.push_back(at[i]);
        const bool usable =
            std::all_of(values.begin(), values.end(), [](const Digits50& v) { return is_finite(v) && abs(v) > Digits50(1e-20); });
        if (!usable || values.empty()) continue;
        // numbers, and atoms that differ from others by a factor
        const auto repeats = [&](const Vector50& other) {
            return std::equal(values.begin(), values.end(), other.begin(),
                              [&](const Digits50& x, const Digits50& y) { return equal(x * other.front(), y * values.front()); });
        };
        if (repeats(Vector50(values.size(), Digits50(1))) || std::any_of(values_.begin(), values_.end(), repeats)) continue;
        atoms_.push_back(atoms[i]);
        std::vector<double> logs;
        for (const Digits50& v : values) logs.push_back(std::log(std::abs(static_cast<double>(v))));
        values_.push_back(std::move(values));
        logs_.push_back(std::move(logs));
    }
}

std::optional<NodeId> Recogniser::product(std::span<const Digits50> values, std::span<const Power> powers,
                                          bool up_to_sign) const {
    Digits50 factor(0);
    for (std::size_t k = 0; k < values.size(); ++k) {
        Digits50 rest = values[k];
        for (const Power& p : powers)
            for (int i = 0; i < std::abs(p.exponent); ++i)
                rest = p.exponent > 0 ? Digits50(rest / values_[p.atom][k]) : Digits50(rest * values_[p.atom][k]);
        if (up_to_sign) rest = abs(rest);
        if (k == 0)
            factor = rest;
        else if (!equal(rest, factor))
            return std::nullopt;
    }
    const auto number = recognise_number(graph_, factor);
    if (!number) return std::nullopt;
    NodeId over = *number, under = graph_.constant(1);
    for (const Power& p : powers) {
        NodeId& side = p.exponent > 0 ? over : under;
        side = graph_.mul(side, graph_.pow(atoms_[p.atom], std::abs(p.exponent)));
    }
    return graph_.div(over, under);
}

std::optional<NodeId> Recogniser::operator()(std::span<const Digits50> values, bool up_to_sign) const {
    if (values.size() < k_fewest_samples) return std::nullopt;
    const Digits50 size = largest(values);
    if (!(size > Digits50(1e-30))) return graph_.constant(0);
    if (!std::all_of(values.begin(), values.end(), [&](const Digits50& v) { return is_finite(v) && abs(v) > 1e-25 * size; }))
        return std::nullopt;
    if (const auto number = product(values, {}, up_to_sign)) return number;
    std::vector<double> logs;
    for (const Digits50& v : values) logs.push_back(std::log(std::abs(static_cast<double>(v))));
    const auto fits = [&](std::span<const Power> powers) {
        double first = 0;
        for (std::size_t k = 0; k < logs.size(); ++k) {
            double rest = logs[k];
            for (const Power& p : powers) rest -= p.exponent * logs_[p.atom][k];
            if (k == 0)
                first = rest;
            else if (std::abs(rest - first) > k_close)
                return false;
        }
        return true;
    };
    static constexpr std::array k_exponents{1, -1, 2, -2};
    const std::size_t n = atoms_.size();
    for (std::size_t i = 0; i < n; ++i)
        for (const int e : k_exponents) {
            const std::array powers{Power{i, e}};
            if (fits(powers))
                if (const auto found = product(values, powers, up_to_sign)) return found;
        }
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = i + 1; j < n; ++j)
            for (const int e : k_exponents)
                for (const int f : k_exponents) {
                    const std::array powers{Power{i, e}, Power{j, f}};
                    if (fits(powers))
                        if (const auto found = product(values, powers, up_to_sign)) return found;
                }
    const std::size_t few = std::min(n, k_most_in_triples);
    for (std::size_t i = 0; i < few; ++i)
        for (std::size_t j = i + 1; j < few; ++j)
            for (std::size_t l = j + 1; l < few; ++l)
                for (const int e : k_exponents)
                    for (const int f : k_exponents)
                        for (const int h : k_exponents) {
                            const std::array powers{Power{i, e}, Power{j, f}, Power{l, h}};
                            if (fits(powers))
                                if (const auto found = product(values, powers, up_to_sign)) return found;
                        }
    // ratios of two products, as in chains of rows
    for (std::size_t i = 0; i < few; ++i)
        for (std::size_t j = i + 1; j < few; ++j)
            for (std::size_t l = j + 1; l < few; ++l)
                for (std::size_t m = l + 1; m < few; ++m)
                    for (const int signs : {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}) {
                        const auto sign = [&](int bit) { return (signs >> bit & 1) ? -1 : 1; };
                        const std::array powers{Power{i, sign(0)}, Power{j, sign(1)}, Power{l, sign(2)}, Power{m, sign(3)}};
                        if (fits(powers))
                            if (const auto found = product(values, powers, up_to_sign)) return found;
                    }
    return std::nullopt;
}

}  // namespace appell
