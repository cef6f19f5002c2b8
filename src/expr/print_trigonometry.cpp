// Clean-up of one sum of terms: squares of sine and cosine, sums of angles, and products that are shorter when multiplied out.
#include <algorithm>

#include "expr/print_tidy.hpp"

namespace appell {

namespace {

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

// NOTE: the search makes nothing, so that what it refers to stays where it is; what is found is copied first.
bool TidyBackend::collapse_term(Sum& sum, std::size_t at) {
    const Term term = sum[at];
    const MonoInfo& mono = monos_[term.mono];
    // the term with these exponents changed, if the sum has one
    const auto partner = [&](std::initializer_list<Factor> by) -> std::optional<Term> {
        const auto found = find_changed(mono, by);
        if (!found) return std::nullopt;
        const auto place = std::ranges::lower_bound(sum, *found, {}, &Term::mono);
        return place != sum.end() && place->mono == *found ? std::optional(*place) : std::nullopt;
    };
    const auto rest_without = [&](std::initializer_list<Factor> by) { return changed(mono.factors, by); };
    const auto replace = [&](const Term& other, const Sum& by) {
        const Term both[] = {term, other};
        for (const Term& t : both) sum = added(sum, {t}, true);
        sum = added(sum, flattened(by), false);
        return true;
    };
    const auto is_wave = [&](const Factor& f, Op op) {
        return f.exponent > 0 && atoms_[f.atom].kind == Kind::function && atoms_[f.atom].op == op;
    };
    for (const Factor& f : mono.factors) {
        if (!is_wave(f, Op::Sin) && !is_wave(f, Op::Cos)) continue;
        const bool sine = is_wave(f, Op::Sin);
        const AtomInfo& wave = atoms_[f.atom];
        if (f.exponent >= 2) {
            if (const auto other = wave.counterpart) {
                const auto found = partner({{f.atom, -2}, {*other, 2}});
                // R sin^2 + R cos^2 = R
                if (found && found->c == term.c) return replace(*found, {{term.c, product(rest_without({{f.atom, -2}}))}});
                // R cos^2 - R sin^2 = R cos(2 a)
                if (found && found->c == -term.c) {
                    const Sum angle = wave.arguments[0];
                    const Ratio c = sine ? found->c : term.c;
                    return replace(*found, sum_of_angles(Op::Cos, angle, angle, false, c, rest_without({{f.atom, -2}})));
                }
            }
            // R - R sin^2 = R cos^2
            if (const auto found = partner({{f.atom, -2}}); found && found->c == -term.c) {
                std::vector<Factor> rest = rest_without({{f.atom, -2}});
                const Form form{wave.arguments[0], false};
                const Form* const operands[] = {&form};
                const Sum square = raised(function(sine ? Op::Cos : Op::Sin, operands), 2);
                return replace(*found, multiplied({{found->c, product(std::move(rest))}}, square));
            }
        }
        if (!wave.counterpart) continue;
        for (const Factor& h : mono.factors) {
            if (h.atom == f.atom || (!is_wave(h, Op::Sin) && !is_wave(h, Op::Cos))) continue;
            const bool second_sine = is_wave(h, Op::Sin);
            const AtomInfo& second_wave = atoms_[h.atom];
            if (!second_wave.counterpart || *wave.counterpart == h.atom) continue;
            const auto found = partner({{f.atom, -1}, {h.atom, -1}, {*wave.counterpart, 1}, {*second_wave.counterpart, 1}});
            if (!found) continue;
            const bool same = found->c == term.c;
            if (!same && !(found->c == -term.c)) continue;
            std::vector<Factor> rest = rest_without({{f.atom, -1}, {h.atom, -1}});
            const Sum angle = wave.arguments[0], second = second_wave.arguments[0];
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

// terms in any order, of which some may be of one product
TidyBackend::Sum TidyBackend::collected(Sum terms) {
    std::ranges::stable_sort(terms, {}, &Term::mono);
    Sum out;
    for (auto term = terms.begin(); term != terms.end();) {
        Term sum = *term++;
        for (; term != terms.end() && term->mono == sum.mono; ++term) sum.c = sum.c.is_zero() ? term->c : sum.c + term->c;
        if (!sum.c.is_zero()) out.push_back(sum);
    }
    return out;
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
                next.reserve(part.size() * inside.size());
                for (const Term& a : part)
                    for (const Term& b : inside) next.push_back(times(a, b));
                part = collected(std::move(next));
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
