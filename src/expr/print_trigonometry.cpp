// Clean-up of one sum of terms: squares of sine and cosine, sums of angles, and products that are shorter when multiplied out.
#include <algorithm>

#include "expr/print_tidy.hpp"

namespace appell {

namespace {

using Factor = TidyBackend::Factor;

// the factors with some exponents changed
std::vector<Factor> changed(const std::vector<Factor>& factors, std::initializer_list<Factor> by) {
    std::vector<Factor> out = factors;
    for (const Factor& f : by) {
        const auto at =
            std::lower_bound(out.begin(), out.end(), f.atom, [](const Factor& g, std::uint32_t atom) { return g.atom < atom; });
        if (at == out.end() || at->atom != f.atom)
            out.insert(at, f);
        else if ((at->exponent += f.exponent) == 0)
            out.erase(at);
    }
    return out;
}

constexpr std::size_t k_expanded_terms = 128;
constexpr int k_expanded_power = 3;
constexpr int k_expanded_levels = 4;

}  // namespace

// Sums that are a term of their own, +(a + b) or -(a + b), become terms of the sum they stand in.
TidyBackend::Sum TidyBackend::flattened(const Sum& sum) {
    Sum out;
    bool any = false;
    for (std::size_t i = 0; i < sum.size(); ++i) {
        const Term& term = sum[i];
        const std::vector<Factor>& factors = monos_[term.mono].factors;
        const bool opens = factors.size() == 1 && factors[0].exponent == 1 && atoms_[factors[0].atom].kind == Kind::sum &&
                           (term.c.is_one() || term.c == Ratio{-1, 1});
        if (opens && !any) {
            any = true;
            out.assign(sum.begin(), sum.begin() + static_cast<std::ptrdiff_t>(i));
        }
        if (opens)
            out = added(out, atoms_[factors[0].atom].arguments[0], !term.c.is_one());
        else if (any)
            out = added(out, {term}, false);
    }
    return any ? out : sum;
}

TidyBackend::Sum TidyBackend::cleaned(Sum sum) {
    while (collapse_once(sum)) {
    }
    // sums inside sums open one level at a time; what pays may be further down
    Sum best = sum;
    std::optional<Sum> other = expanded(sum);
    for (int level = 0; other && level < k_expanded_levels; ++level) {
        while (collapse_once(*other)) {
        }
        if (length(*other) < length(best)) best = *other;
        other = expanded(*other);
    }
    return best;
}

bool TidyBackend::collapse_once(Sum& sum) {
    for (std::size_t i = 0; i < sum.size(); ++i)
        if (monos_[sum[i].mono].has_trig && collapse_term(sum, i)) return true;
    return false;
}

// c R sin(a ± b) or c R cos(a ± b)
TidyBackend::Sum TidyBackend::sum_of_angles(Op op, const Sum& a, const Sum& b, bool minus, const Ratio& c,
                                            std::vector<Factor> rest) {
    const Form angle{added(a, b, minus), false};
    const Form* const operands[] = {&angle};
    const Sum wave = angle.sum.empty() ? (op == Op::Cos ? constant(1) : Sum{}) : function(op, operands);
    return multiplied({{c, product(std::move(rest))}}, wave);
}

bool TidyBackend::collapse_term(Sum& sum, std::size_t at) {
    const Term term = sum[at];
    const std::vector<Factor> factors = monos_[term.mono].factors;
    // the term with these factors, if the sum has one
    const auto partner = [&](std::vector<Factor> wanted) -> std::optional<Term> {
        const auto mono = find_product(std::move(wanted));
        if (!mono) return std::nullopt;
        const auto found = std::lower_bound(sum.begin(), sum.end(), *mono, [](const Term& t, Mono m) { return t.mono < m; });
        return found != sum.end() && found->mono == *mono ? std::optional(*found) : std::nullopt;
    };
    const auto replace = [&](const Term& other, const Sum& by) {
        const Term both[] = {term, other};
        for (const Term& t : both) sum = added(sum, {t}, true);
        sum = added(sum, flattened(by), false);
        return true;
    };
    const auto is_wave = [&](const Factor& f, Op op) {
        return f.exponent > 0 && atoms_[f.atom].kind == Kind::function && atoms_[f.atom].op == op;
    };
    for (const Factor& f : factors) {
        if (!is_wave(f, Op::Sin) && !is_wave(f, Op::Cos)) continue;
        const bool sine = is_wave(f, Op::Sin);
        const Sum angle = atoms_[f.atom].arguments[0];
        if (f.exponent >= 2) {
            const std::vector<Factor> rest = changed(factors, {{f.atom, -2}});
            if (const auto other = find_function(sine ? Op::Cos : Op::Sin, angle)) {
                const auto found = partner(changed(rest, {{*other, 2}}));
                // R sin^2 + R cos^2 = R
                if (found && found->c == term.c) return replace(*found, {{term.c, product(rest)}});
                // R cos^2 - R sin^2 = R cos(2 a)
                if (found && found->c == -term.c)
                    return replace(*found, sum_of_angles(Op::Cos, angle, angle, false, sine ? found->c : term.c, rest));
            }
            // R - R sin^2 = R cos^2
            if (const auto found = partner(rest); found && found->c == -term.c) {
                const Form form{angle, false};
                const Form* const operands[] = {&form};
                const Sum square = raised(function(sine ? Op::Cos : Op::Sin, operands), 2);
                return replace(*found, multiplied({{found->c, product(rest)}}, square));
            }
        }
        for (const Factor& h : factors) {
            if (h.atom == f.atom || (!is_wave(h, Op::Sin) && !is_wave(h, Op::Cos))) continue;
            const bool second_sine = is_wave(h, Op::Sin);
            const Sum second = atoms_[h.atom].arguments[0];
            const auto f_other = find_function(sine ? Op::Cos : Op::Sin, angle);
            const auto h_other = find_function(second_sine ? Op::Cos : Op::Sin, second);
            if (!f_other || !h_other || *f_other == h.atom) continue;
            std::vector<Factor> rest = changed(factors, {{f.atom, -1}, {h.atom, -1}});
            const auto found = partner(changed(changed(rest, {{*f_other, 1}}), {{*h_other, 1}}));
            if (!found) continue;
            const bool same = found->c == term.c;
            if (!same && !(found->c == -term.c)) continue;
            if (sine == second_sine) {
                // cos cos ± sin sin = cos(a ∓ b)
                const Ratio c = sine ? found->c : term.c;
                return replace(*found, sum_of_angles(Op::Cos, angle, second, same, c, std::move(rest)));
            }
            // sin cos ± cos sin = sin(a ± b)
            return sine ? replace(*found, sum_of_angles(Op::Sin, angle, second, !same, term.c, std::move(rest)))
                        : replace(*found, sum_of_angles(Op::Sin, second, angle, !same, term.c, std::move(rest)));
        }
    }
    return false;
}

// All products of sums multiplied out, if that is not too much.
std::optional<TidyBackend::Sum> TidyBackend::expanded(const Sum& sum) {
    if (std::none_of(sum.begin(), sum.end(), [&](const Term& t) { return monos_[t.mono].has_sum; })) return std::nullopt;
    Sum out;
    for (const Term& term : sum) {
        std::vector<Factor> kept, sums;
        for (const Factor& f : monos_[term.mono].factors) {
            const bool open = atoms_[f.atom].kind == Kind::sum && f.exponent > 0 && f.exponent <= k_expanded_power;
            (open ? sums : kept).push_back(f);
        }
        Sum part{{term.c, product(std::move(kept))}};
        for (const Factor& f : sums) {
            const Sum inside = atoms_[f.atom].arguments[0];
            for (int n = 0; n < f.exponent; ++n) {
                if (part.size() * inside.size() > k_expanded_terms) return std::nullopt;
                Sum next;
                for (const Term& a : part)
                    for (const Term& b : inside) next = added(next, {times(a, b)}, false);
                part = std::move(next);
            }
        }
        out = added(out, part, false);
        if (out.size() > k_expanded_terms) return std::nullopt;
    }
    return out;
}

// Terms that differ in parameters only become one: m1 l sin(q) + m2 l sin(q) = l (m1 + m2) sin(q). For the text alone: in the
// forms themselves it would keep terms from meeting.
TidyBackend::Sum TidyBackend::grouped(const Sum& sum) {
    if (sum.size() < 3) return sum;
    std::map<std::vector<Factor>, Sum> groups;  // by what is no parameter
    for (const Term& term : sum) {
        std::vector<Factor> variable;
        for (const Factor& f : monos_[term.mono].factors)
            if (atoms_[f.atom].rank >= k_first_variable_rank) variable.push_back(f);
        groups[std::move(variable)].push_back(term);
    }
    if (groups.size() == 1 || groups.size() == sum.size()) return sum;
    Sum out;
    for (const auto& [variable, terms] : groups)
        out = added(out, variable.empty() || terms.size() == 1 ? terms : Sum{as_term(terms)}, false);
    return length(out) < length(sum) ? out : sum;
}

}  // namespace appell
