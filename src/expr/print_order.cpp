// Readable order and text of tidied sums: numbers and parameters first, then coordinates, then speeds; common factors in front
// where that is shorter; the first term positive if any is.
#include <algorithm>
#include <cmath>

#include "expr/print_tidy.hpp"

namespace appell {

namespace {

int rank_of(SymbolKind kind) {
    switch (kind) {
        case SymbolKind::parameter: return 10;
        case SymbolKind::input: return 12;
        case SymbolKind::argument:
        case SymbolKind::other: return 14;
        case SymbolKind::multiplier: return 20;
        case SymbolKind::time: return 22;
        case SymbolKind::coordinate: return 30;
        case SymbolKind::coordinate_rate:
        case SymbolKind::quasi_rate:
        case SymbolKind::speed: return 40;
        case SymbolKind::coordinate_rate2:
        case SymbolKind::speed_rate: return 50;
    }
    return 14;
}

constexpr int k_vector_rank = 100;
constexpr int k_named_rank = 38;

}  // namespace

// functions come behind the symbols they are made of, factors that are sums behind the functions
void TidyBackend::rank(AtomInfo& atom) const {
    atom.lead = atom.which;
    switch (atom.kind) {
        case Kind::pi:
        case Kind::infinity:
        case Kind::zero: atom.rank = 0; return;
        case Kind::symbol: atom.rank = rank_of(graph_.symbol(SymbolId(atom.which)).kind); return;
        case Kind::vector_symbol: atom.rank = k_vector_rank; return;
        case Kind::named: atom.rank = atom.vector ? k_vector_rank + 1 : k_named_rank; return;
        default: break;
    }
    atom.lead = 0xffffffffu;
    int highest = 0;
    for (const Sum& sum : atom.arguments)
        for (const Term& term : sum)
            for (const Factor& f : monos_[term.mono].factors) {
                highest = std::max(highest, atoms_[f.atom].rank);
                atom.lead = std::min(atom.lead, atoms_[f.atom].lead);
            }
    if (atom.vector) {
        atom.rank = k_vector_rank + 2;
        return;
    }
    // of what is in it, rounded down to its class; vectors inside a scalar count as coordinates
    const int kind = highest >= k_vector_rank ? 30 : std::max(10, highest / 10 * 10);
    atom.rank = kind + (atom.kind == Kind::sum ? 7 : 5);
}

bool TidyBackend::before(Atom a, Atom b) const {
    const AtomInfo &x = atoms_[a], &y = atoms_[b];
    if (x.rank != y.rank) return x.rank < y.rank;
    if (x.lead != y.lead) return x.lead < y.lead;
    return a < b;
}

int TidyBackend::bucket(Mono mono) const {
    int highest = -1;
    for (const Factor& f : monos_[mono].factors)
        if (!atoms_[f.atom].vector) highest = std::max(highest, atoms_[f.atom].rank / 10);
    return highest;
}

bool TidyBackend::before(const Term& a, const Term& b) const {
    const auto sorted = [&](Mono mono) {
        std::vector<Factor> factors = monos_[mono].factors;
        std::sort(factors.begin(), factors.end(), [&](const Factor& p, const Factor& q) { return before(p.atom, q.atom); });
        return factors;
    };
    std::vector<Factor> x = sorted(a.mono), y = sorted(b.mono);
    // components of a vector by their direction
    if (monos_[a.mono].vector && monos_[b.mono].vector && x.back().atom != y.back().atom)
        return before(x.back().atom, y.back().atom);
    if (const int p = bucket(a.mono), q = bucket(b.mono); p != q) return p < q;
    for (std::size_t i = 0; i < x.size() && i < y.size(); ++i) {
        if (x[i].atom != y[i].atom) return before(x[i].atom, y[i].atom);
        if (x[i].exponent != y[i].exponent) return x[i].exponent > y[i].exponent;  // powers descending
    }
    if (x.size() != y.size()) return x.size() < y.size();
    return a.mono < b.mono;
}

std::vector<TidyBackend::Term> TidyBackend::ordered(const Sum& sum) const {
    std::vector<Term> terms = sum;
    std::sort(terms.begin(), terms.end(), [&](const Term& a, const Term& b) { return before(a, b); });
    return terms;
}

// the sign that a sum is normalised by: that of its first term that is not a number
bool TidyBackend::leads_negative(const Sum& sum) const {
    const Term* first = nullptr;
    for (const Term& term : sum)
        if (first == nullptr || (first->mono == 0) || (term.mono != 0 && before(term, *first))) first = &term;
    return first != nullptr && first->c.num < 0;
}

bool TidyBackend::mixed_signs(const Sum& sum) const {
    const auto positive = [](const Term& t) { return t.c.num > 0; };
    return std::any_of(sum.begin(), sum.end(), positive) && !std::all_of(sum.begin(), sum.end(), positive);
}

// A term without its sign. `extra` is a factor that is a sum and has no atom of its own.
Piece TidyBackend::term_piece(const Ratio& c, std::span<const Factor> given, const Sum* extra, bool& negative) const {
    std::vector<Factor> factors(given.begin(), given.end());
    std::sort(factors.begin(), factors.end(), [&](const Factor& p, const Factor& q) { return before(p.atom, q.atom); });
    negative = c.num < 0;
    // -(a - b) is b - a
    const Factor* turned = nullptr;
    if (negative && extra == nullptr)
        for (const Factor& f : factors)
            if (atoms_[f.atom].kind == Kind::sum && std::abs(f.exponent) == 1 && mixed_signs(atoms_[f.atom].arguments[0]))
                turned = &f;
    if (turned != nullptr) negative = false;
    std::optional<Piece> above, below, direction;
    const auto put = [&](std::optional<Piece>& side, const Piece& p) { side = side ? style_.product(*side, p) : p; };
    if (std::abs(c.num) != 1) above = style_.number(std::abs(c.num));
    if (c.den != 1) below = style_.number(c.den);
    bool extra_placed = extra == nullptr;
    for (const Factor& f : factors) {
        const AtomInfo& atom = atoms_[f.atom];
        // the sum stands where its parts would: behind the parameters, before directions
        if (!extra_placed && atom.rank >= 30) {
            put(above, plain_piece(*extra));
            extra_placed = true;
        }
        Piece p = &f == turned ? plain_piece(negated(atom.arguments[0])) : style_.as_number(atom.piece);
        if (const int e = std::abs(f.exponent); e != 1) p = style_.power(p, style_.number(e));
        // in LaTeX a direction stays beside the fraction, not on top of it
        if (atom.vector && style_.latex())
            put(direction, p);
        else
            put(f.exponent > 0 ? above : below, p);
    }
    if (!extra_placed) put(above, plain_piece(*extra));
    if (below) above = style_.quotient(above ? *above : style_.number(1), *below);
    if (direction) above = above ? style_.product(*above, *direction) : *direction;
    return above ? *above : style_.number(1);
}

Piece TidyBackend::plain_piece(const Sum& sum) const {
    if (sum.empty()) return style_.number(0);
    std::vector<Term> terms = ordered(sum);
    std::vector<std::pair<Piece, bool>> parts;
    for (const Term& term : terms) {
        bool negative = false;
        Piece p = term_piece(term.c, monos_[term.mono].factors, nullptr, negative);
        parts.emplace_back(std::move(p), negative);
    }
    // a positive term first, if there is one
    const auto first = std::find_if(parts.begin(), parts.end(), [](const auto& part) { return !part.second; });
    if (first != parts.end()) std::rotate(parts.begin(), first, first + 1);
    Piece out = parts.front().second ? style_.negative(parts.front().first) : parts.front().first;
    if (parts.size() == 1) return out;
    std::string text = out.text;
    std::size_t length = out.length;
    for (std::size_t i = 1; i < parts.size(); ++i) {
        const auto& [p, negative] = parts[i];
        text += negative ? " - " : " + ";
        text += negative ? style_.enclosed(p, Binding::product) : p.text;
        length += 3 + p.length + (negative && p.text_binding == Binding::sum ? 2 : 0);
    }
    return {std::move(text), Binding::sum, length};
}

// common factors in front
Piece TidyBackend::factored_piece(const Sum& sum) const {
    const Content common = content(sum);
    Sum rest;
    for (const Term& term : sum) {
        std::vector<Factor> factors;
        for (Factor f : monos_[term.mono].factors) {
            for (const Factor& g : common.factors)
                if (g.atom == f.atom) f.exponent -= g.exponent;
            if (f.exponent != 0) factors.push_back(f);
        }
        const auto mono = find_product(factors);
        if (!mono) return plain_piece(sum);
        rest.push_back({term.c * inverse(common.c), *mono});
    }
    Ratio c = common.c;
    if (c.num < 0 && mixed_signs(rest)) {
        c = -c;
        rest = negated(std::move(rest));
    }
    bool negative = false;
    const Piece p = term_piece(c, common.factors, &rest, negative);
    return negative ? style_.negative(p) : p;
}

Piece TidyBackend::piece(const Sum& sum, bool vector) const {
    if (sum.empty()) return vector ? style_.zero_vector() : style_.number(0);
    // a comparison stays one, for `if`
    if (sum.size() == 1 && sum.front().c.is_one()) {
        const std::vector<Factor>& factors = monos_[sum.front().mono].factors;
        if (factors.size() == 1 && factors.front().exponent == 1) return atoms_[factors.front().atom].piece;
    }
    Piece plain = plain_piece(sum);
    if (sum.size() == 1) return plain;
    Piece factored = factored_piece(sum);
    return factored.length < plain.length ? factored : plain;
}

std::string TidyBackend::render(const Form& form) {
    const Sum sum = grouped(form.sum);
    // products of what is left when common factors are taken out are looked up in const code: make them here
    if (sum.size() > 1) (void)as_term(sum);
    return style_.as_number(piece(sum, form.vector)).text;
}

void TidyBackend::mark(const Sum& sum, std::vector<bool>& seen, std::vector<bool>& names) const {
    std::vector<Atom> stack;
    const auto visit = [&](const Sum& s) {
        for (const Term& term : s)
            for (const Factor& f : monos_[term.mono].factors)
                if (f.atom < seen.size() && !seen[f.atom]) {
                    seen[f.atom] = true;
                    stack.push_back(f.atom);
                }
    };
    visit(sum);
    while (!stack.empty()) {
        const AtomInfo& atom = atoms_[stack.back()];
        stack.pop_back();
        if (atom.kind == Kind::named && atom.which < names.size()) names[atom.which] = true;
        for (const Sum& s : atom.arguments) visit(s);
    }
}

}  // namespace appell
