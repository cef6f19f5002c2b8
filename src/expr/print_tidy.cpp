#include "expr/print_tidy.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/number_format.hpp"

namespace appell {

namespace {

constexpr std::size_t k_terms = 400;  // beyond, terms are no longer collected
constexpr int k_largest_exponent = 1 << 20;

bool odd(Op op) {
    switch (op) {
        case Op::Sin:
        case Op::Tan:
        case Op::Asin:
        case Op::Atan:
        case Op::Sinh:
        case Op::Tanh:
        case Op::Asinh:
        case Op::Atanh:
        case Op::Sign: return true;
        default: return false;
    }
}

bool even(Op op) { return op == Op::Cos || op == Op::Cosh || op == Op::Abs; }

void sort_and_merge(std::vector<TidyBackend::Factor>& factors) {
    std::sort(factors.begin(), factors.end());
    std::size_t out = 0;
    for (std::size_t i = 0; i < factors.size();) {
        TidyBackend::Factor f = factors[i++];
        while (i < factors.size() && factors[i].atom == f.atom) f.exponent += factors[i++].exponent;
        if (f.exponent != 0) factors[out++] = f;
    }
    factors.resize(out);
}

}  // namespace

std::vector<TidyBackend::Factor> TidyBackend::changed(std::vector<Factor> factors, std::span<const Factor> by) {
    for (const Factor& f : by) {
        const auto at = std::ranges::lower_bound(factors, f.atom, {}, &Factor::atom);
        if (at == factors.end() || at->atom != f.atom)
            factors.insert(at, f);
        else if ((at->exponent += f.exponent) == 0)
            factors.erase(at);
    }
    return factors;
}

TidyBackend::TidyBackend(const Graph& graph, Notation notation) : graph_(graph), style_(graph, notation) {
    monos_.push_back({});
    mono_ids_.emplace(0, 0);
}

// ---------------------------------------------------------------- atoms and products

std::vector<std::uint64_t> TidyBackend::key_of(const AtomInfo& atom) {
    std::vector<std::uint64_t> key{static_cast<std::uint64_t>(atom.kind) << 32 | static_cast<std::uint64_t>(atom.op), atom.which};
    for (const Sum& sum : atom.arguments) {
        key.push_back(sum.size());
        for (const Term& term : sum) {
            key.push_back(std::bit_cast<std::uint64_t>(term.c.num));
            key.push_back(std::bit_cast<std::uint64_t>(term.c.den));
            key.push_back(term.mono);
        }
    }
    return key;
}

TidyBackend::Atom TidyBackend::intern(AtomInfo atom) {
    std::vector<std::uint64_t> key = key_of(atom);
    if (const auto found = atom_ids_.find(key); found != atom_ids_.end()) return found->second;
    // the text of the arguments is known: their atoms are older
    std::vector<Piece> pieces;
    for (const Sum& sum : atom.arguments) pieces.push_back(piece(sum));
    std::vector<const Piece*> o;
    for (const Piece& p : pieces) o.push_back(&p);
    switch (atom.kind) {
        case Kind::pi: atom.piece = style_.pi(); break;
        case Kind::infinity: atom.piece = style_.number(INFINITY); break;
        case Kind::zero: atom.piece = style_.number(0); break;
        case Kind::symbol: atom.piece = style_.name(graph_.symbol(SymbolId(atom.which)).name); break;
        case Kind::vector_symbol: atom.piece = style_.vector_name(graph_.vector_symbol(VectorSymbolId(atom.which)).name); break;
        case Kind::named: break;  // the caller knows
        case Kind::function: atom.piece = atom.op == Op::Pow ? style_.power(*o[0], *o[1]) : style_.function(atom.op, o); break;
        case Kind::call: atom.piece = style_.call(FunctionId(atom.which), o); break;
        case Kind::time_derivative: atom.piece = style_.time_derivative(*o[0], atom.which); break;
        case Kind::sum: atom.piece = pieces.front(); break;
    }
    rank(atom);
    const Atom id = static_cast<Atom>(atoms_.size());
    if (atom.kind == Kind::function && (atom.op == Op::Sin || atom.op == Op::Cos)) {
        const AtomInfo other(Kind::function, atom.op == Op::Sin ? Op::Cos : Op::Sin, 0, atom.arguments);
        if (const auto found = atom_ids_.find(key_of(other)); found != atom_ids_.end()) {
            atom.counterpart = found->second;
            atoms_[found->second].counterpart = id;
        }
    }
    atom_ids_.emplace(std::move(key), id);
    atoms_.push_back(std::move(atom));
    return id;
}

TidyBackend::Mono TidyBackend::product(std::vector<Factor> factors) {
    if (const auto found = find_product(factors)) return *found;
    MonoInfo mono;
    mono.hash = hash_of(factors);
    for (const Factor& f : factors) {
        const AtomInfo& atom = atoms_[f.atom];
        mono.length += atom.piece.length + 1 + (atom.piece.text_binding < Binding::product ? 2 : 0);
        if (const int e = std::abs(f.exponent); e != 1) mono.length += 1 + std::to_string(e).size();
        mono.vector = mono.vector || atom.vector;
        mono.has_sum = mono.has_sum || atom.kind == Kind::sum;
        mono.has_trig = mono.has_trig || (atom.kind == Kind::function && (atom.op == Op::Sin || atom.op == Op::Cos));
    }
    mono.factors = std::move(factors);
    const auto id = static_cast<Mono>(monos_.size());
    mono_ids_.emplace(mono.hash, id);
    monos_.push_back(std::move(mono));
    return id;
}

std::uint64_t TidyBackend::hash_of(std::span<const Factor> factors) {
    std::uint64_t sum = 0;
    for (const Factor& f : factors) {
        // splitmix64, whose numbers have nothing to do with each other
        std::uint64_t weight = (f.atom + std::uint64_t(1)) * 0x9e3779b97f4a7c15ull;
        weight = (weight ^ (weight >> 30)) * 0xbf58476d1ce4e5b9ull;
        weight = (weight ^ (weight >> 27)) * 0x94d049bb133111ebull;
        sum += (weight ^ (weight >> 31)) * static_cast<std::uint64_t>(static_cast<std::int64_t>(f.exponent));
    }
    return sum;
}

std::optional<TidyBackend::Mono> TidyBackend::find_product(std::span<const Factor> factors) const {
    if (factors.empty()) return 0;
    const auto [begin, end] = mono_ids_.equal_range(hash_of(factors));
    for (auto at = begin; at != end; ++at)
        if (std::ranges::equal(monos_[at->second].factors, factors)) return at->second;
    return std::nullopt;
}

std::optional<TidyBackend::Mono> TidyBackend::find_changed(const MonoInfo& product, std::span<const Factor> by) const {
    const auto [begin, end] = mono_ids_.equal_range(product.hash + hash_of(by));
    if (begin == end) return std::nullopt;
    return find_product(changed(product.factors, by));
}

TidyBackend::Atom TidyBackend::function_atom(Op op, std::vector<Sum> arguments, std::uint32_t which) {
    AtomInfo atom(Kind::function, op, which, std::move(arguments));
    if (op == Op::Call) atom.kind = Kind::call;
    if (op == Op::VDt) atom.kind = Kind::time_derivative;
    atom.vector = op == Op::VDt || op == Op::Cross;
    return intern(std::move(atom));
}

TidyBackend::Sum TidyBackend::function(Op op, std::span<const Form* const> operands) {
    std::vector<Sum> arguments;
    for (const Form* form : operands) arguments.push_back(form->sum);
    if ((odd(op) || even(op)) && leads_negative(arguments[0])) {
        arguments[0] = negated(std::move(arguments[0]));
        const Sum positive = single(function_atom(op, std::move(arguments)));
        return odd(op) ? negated(positive) : positive;
    }
    return single(function_atom(op, std::move(arguments)));
}

// ---------------------------------------------------------------- arithmetic

// multiples of pi that were given as decimals are recognised
TidyBackend::Sum TidyBackend::constant(double value) {
    if (value == 0) return {};
    if (std::isinf(value)) return {{Ratio{value > 0 ? 1.0 : -1.0, 1}, product({{intern(AtomInfo(Kind::infinity)), 1}})}};
    if (round_trip(value).size() > 12) {
        constexpr double pi = 3.141592653589793;
        for (double den = 1; den <= 12; ++den)
            if (const double num = std::round(value * den / pi); num != 0 && std::abs(num) <= 100 && num * pi / den == value)
                return {{Ratio{num, 1} * Ratio{1, den}, product({{intern(AtomInfo(Kind::pi)), 1}})}};
    }
    return {{Ratio::from(value), 0}};
}

TidyBackend::Sum TidyBackend::negated(Sum sum) {
    for (Term& term : sum) term.c = -term.c;
    return sum;
}

TidyBackend::Sum TidyBackend::added(const Sum& a, const Sum& b, bool minus) {
    if (b.empty()) return a;
    Sum out;
    out.reserve(a.size() + b.size());
    auto p = a.begin(), q = b.begin();
    while (p != a.end() || q != b.end()) {
        if (q == b.end() || (p != a.end() && p->mono < q->mono)) {
            out.push_back(*p++);
        } else {
            Term term{minus ? -q->c : q->c, q->mono};
            if (p != a.end() && p->mono == q->mono) term.c = (p++)->c + term.c;
            ++q;
            if (!term.c.is_zero()) out.push_back(term);
        }
    }
    return out;
}

TidyBackend::Term TidyBackend::times(const Term& a, const Term& b) {
    std::vector<Factor> factors = monos_[a.mono].factors;
    const std::vector<Factor>& more = monos_[b.mono].factors;
    factors.insert(factors.end(), more.begin(), more.end());
    sort_and_merge(factors);
    Ratio c = a.c * b.c;
    // squares of square roots come out of the root
    for (std::size_t i = 0; i < factors.size();) {
        const Factor f = factors[i];
        if (atoms_[f.atom].kind != Kind::function || atoms_[f.atom].op != Op::Sqrt || std::abs(f.exponent) < 2) {
            ++i;
            continue;
        }
        const Sum inside = atoms_[f.atom].arguments[0];
        const Term out = raised(as_term(inside), f.exponent / 2);
        c = c * out.c;
        factors[i].exponent = f.exponent % 2;
        const std::vector<Factor>& freed = monos_[out.mono].factors;
        factors.insert(factors.end(), freed.begin(), freed.end());
        sort_and_merge(factors);
        i = 0;
    }
    return {c, product(std::move(factors))};
}

TidyBackend::Term TidyBackend::raised(const Term& a, int n) {
    std::vector<Factor> factors = monos_[a.mono].factors;
    for (Factor& f : factors) f.exponent *= n;
    return {power(a.c, n), product(std::move(factors))};
}

TidyBackend::Content TidyBackend::content(const Sum& sum) const {
    Content out{sum.front().c, monos_[sum.front().mono].factors, sum};
    if (out.c.num < 0) out.c.num = -out.c.num;
    if (!out.c.exact()) out.c = Ratio{1, 1};
    for (const Term& term : sum) {
        out.c = common_part(out.c, term.c);
        // what all terms have in common: the smaller power of each atom, where the signs agree
        std::vector<Factor> common;
        for (const Factor& f : out.factors)
            for (const Factor& g : monos_[term.mono].factors)
                if (f.atom == g.atom && (f.exponent > 0) == (g.exponent > 0))
                    common.push_back({f.atom, std::abs(f.exponent) < std::abs(g.exponent) ? f.exponent : g.exponent});
        out.factors = std::move(common);
    }
    if (leads_negative(sum)) out.c = -out.c;
    return out;
}

TidyBackend::Term TidyBackend::as_term(const Sum& sum) {
    if (sum.empty()) return {Ratio{}, product({{intern(AtomInfo(Kind::zero)), 1}})};
    if (sum.size() == 1) return sum.front();
    const Content common = content(sum);
    std::vector<Factor> inverted = common.factors;
    for (Factor& f : inverted) f.exponent = -f.exponent;
    const Term divisor{inverse(common.c), product(std::move(inverted))};
    Sum rest;
    for (const Term& term : sum) rest.push_back(times(term, divisor));
    std::sort(rest.begin(), rest.end(), [](const Term& a, const Term& b) { return a.mono < b.mono; });
    AtomInfo atom(Kind::sum, Op::Add, 0, {std::move(rest)});
    atom.vector =
        std::any_of(atom.arguments[0].begin(), atom.arguments[0].end(), [&](const Term& t) { return monos_[t.mono].vector; });
    return times({common.c, product(common.factors)}, {Ratio{}, product({{intern(std::move(atom)), 1}})});
}

TidyBackend::Sum TidyBackend::multiplied(const Sum& a, const Sum& b) {
    if (a.empty() || b.empty()) return {};
    for (const Sum* one : {&a, &b}) {
        const Sum& other = one == &a ? b : a;
        if (one->size() != 1 || one->front().mono != 0) continue;
        if (one->front().c.is_one()) return other;
        if (one->front().c == Ratio{-1, 1}) return negated(other);
    }
    const Term term = times(as_term(a), as_term(b));
    return flattened({term});
}

TidyBackend::Sum TidyBackend::raised(const Sum& a, int n) {
    if (n == 0) return constant(1);
    if (a.empty() && n > 0) return {};
    const Term base = as_term(a);
    // exponents of nested powers may multiply beyond their type
    for (const Factor& f : monos_[base.mono].factors)
        if (std::abs(static_cast<std::int64_t>(f.exponent) * n) > k_largest_exponent)
            return single(function_atom(Op::Pow, {a, constant(n)}));
    // and coefficients beyond theirs
    const Ratio c = power(base.c, n);
    if (!std::isfinite(c.num) || !std::isfinite(c.den) || c.num == 0) return single(function_atom(Op::Pow, {a, constant(n)}));
    const Term term = times(raised({Ratio{}, base.mono}, n), {c, 0});
    return flattened({term});
}

std::size_t TidyBackend::length(const Sum& sum) const {
    std::size_t total = 0;
    for (const Term& term : sum) total += 3 + term.c.length() + monos_[term.mono].length;
    return total;
}

bool TidyBackend::nameable(const Form& form) const {
    if (form.sum.size() != 1) return true;
    const std::vector<Factor>& factors = monos_[form.sum.front().mono].factors;
    return factors.size() != 1 || !atoms_[factors.front().atom].piece.condition;
}

// ---------------------------------------------------------------- nodes

TidyBackend::Form TidyBackend::name(const std::string& name, std::size_t index, bool vector) {
    AtomInfo atom(Kind::named, vector ? Op::VSymbol : Op::Symbol, static_cast<std::uint32_t>(index));
    atom.piece = style_.name(name);
    atom.vector = vector;
    return {single(intern(std::move(atom))), vector};
}

TidyBackend::Form TidyBackend::make(NodeId id, std::span<const Form* const> o) {
    const Op op = graph_.op(id);
    const bool vector = graph_.is_vector(id);
    switch (op) {
        case Op::Constant: return {constant(*graph_.constant_value(id)), false};
        case Op::Pi: return {single(intern(AtomInfo(Kind::pi))), false};
        case Op::Symbol: return {single(intern(AtomInfo(Kind::symbol, op, graph_.symbol_of(id).value))), false};
        case Op::VZero: return {{}, true};
        case Op::VSymbol: {
            AtomInfo atom(Kind::vector_symbol, op, graph_.vector_symbol_of(id).value);
            atom.vector = true;
            return {single(intern(std::move(atom))), true};
        }
        case Op::Add:
        case Op::VAdd:
        case Op::Sub: {
            if (o[0]->sum.size() + o[1]->sum.size() > k_terms) {
                // two long sums stand side by side, as they are
                const Sum x{as_term(o[0]->sum)}, y{as_term(o[1]->sum)};
                return {added(x, y, op == Op::Sub), vector};
            }
            return {cleaned(added(flattened(o[0]->sum), flattened(o[1]->sum), op == Op::Sub)), vector};
        }
        case Op::Neg:
        case Op::VNeg: return {negated(o[0]->sum), vector};
        case Op::Mul:
        case Op::VScale: return {multiplied(o[0]->sum, o[1]->sum), vector};
        case Op::Div: return {multiplied(o[0]->sum, raised(o[1]->sum, -1)), false};
        case Op::PowInt: return {raised(o[0]->sum, graph_.exponent(id)), false};
        case Op::Call: {
            std::vector<Sum> arguments;
            for (const Form* form : o) arguments.push_back(form->sum);
            return {single(function_atom(op, std::move(arguments), graph_.function_of(id).value)), false};
        }
        case Op::VDt: return {single(function_atom(op, {o[0]->sum}, graph_.frame_of_dt(id))), true};
        default: return {function(op, o), vector};
    }
}

}  // namespace appell
