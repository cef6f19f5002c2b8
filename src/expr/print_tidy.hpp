// Tidied forms of expressions, for print_naming.hpp. A form is a sum of terms; a term is a coefficient and a product of atoms
// with whole exponents; an atom is a symbol, a named intermediate, a function of forms, or a sum that is a factor. Atoms and
// products are interned, so that equal terms meet; an atom keeps its text from when it is made, so that nothing recurses.
//
// Values are kept up to rounding and removable singularities (x/x = 1): this is for reading, not for computing.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "expr/graph.hpp"
#include "expr/print_ratio.hpp"
#include "expr/print_style.hpp"

namespace appell {

class TidyBackend {
public:
    using Atom = std::uint32_t;
    using Mono = std::uint32_t;  // a product of powers of atoms; 0 is the empty one

    struct Factor {
        Atom atom;
        std::int32_t exponent;
        friend auto operator<=>(const Factor&, const Factor&) = default;
    };
    struct Term {
        Ratio c;
        Mono mono = 0;
        friend bool operator==(const Term&, const Term&) = default;
    };
    using Sum = std::vector<Term>;  // by mono; no zero coefficients; empty is zero

    struct Form {
        Sum sum;
        bool vector = false;
    };

    TidyBackend(const Graph& graph, Notation notation);

    // --- what print_naming.hpp asks for
    [[nodiscard]] Form make(NodeId id, std::span<const Form* const> operands);
    [[nodiscard]] Form name(const std::string& name, std::size_t index, bool vector);
    [[nodiscard]] std::size_t length(const Form& form) const { return length(form.sum); }
    [[nodiscard]] bool nameable(const Form& form) const;
    [[nodiscard]] std::string render(const Form& form);
    [[nodiscard]] std::string render_name(const std::string& name) const { return style_.name(name).text; }
    template <class Definitions>
    [[nodiscard]] std::vector<bool> used_names(const Definitions& definitions, const std::vector<Form>& roots);

private:
    enum class Kind : std::uint8_t { pi, infinity, zero, symbol, vector_symbol, named, function, call, time_derivative, sum };

    struct AtomInfo {
        explicit AtomInfo(Kind k, Op o = Op::Constant, std::uint32_t w = 0, std::vector<Sum> a = {})
            : kind(k), op(o), which(w), arguments(std::move(a)) {}

        Kind kind;
        Op op;                // of functions
        std::uint32_t which;  // symbol, name, function, frame
        std::vector<Sum> arguments;
        Piece piece;
        int rank = 0;                     // place among the factors of a product: parameters, coordinates, speeds, ...
        std::uint32_t lead = 0;           // the first symbol in it, to order atoms of one rank
        std::optional<Atom> counterpart;  // of a sine the cosine of its angle, and the other way round, where it is there
        bool vector = false;
    };
    struct MonoInfo {
        std::vector<Factor> factors;  // by atom
        std::uint64_t hash = 0;
        std::size_t length = 0;
        bool vector = false;
        bool has_sum = false;  // a factor is a sum
        bool has_trig = false;
    };
    static constexpr int k_first_variable_rank = 20;  // parameters and functions of them rank below

    // a sum as one term: content times a sum that has none
    struct Content {
        Ratio c;
        std::vector<Factor> factors;
        Sum rest;
    };

    // --- atoms and products (print_tidy.cpp)
    Atom intern(AtomInfo atom);
    [[nodiscard]] static std::vector<std::uint64_t> key_of(const AtomInfo& atom);
    Mono product(std::vector<Factor> factors);
    // the factors with some exponents changed
    [[nodiscard]] static std::vector<Factor> changed(std::vector<Factor> factors, std::span<const Factor> by);
    // A sum over the factors, linear in their exponents: that of a product with some exponents changed is a few additions away.
    [[nodiscard]] static std::uint64_t hash_of(std::span<const Factor> factors);
    [[nodiscard]] std::optional<Mono> find_product(std::span<const Factor> factors) const;
    // the same of a product with some exponents changed, without making it
    [[nodiscard]] std::optional<Mono> find_changed(const MonoInfo& product, std::span<const Factor> by) const;
    [[nodiscard]] Sum single(Atom atom) { return {{Ratio{}, product({{atom, 1}})}}; }
    Atom function_atom(Op op, std::vector<Sum> arguments, std::uint32_t which = 0);
    Sum function(Op op, std::span<const Form* const> operands);

    // --- arithmetic (print_tidy.cpp)
    Sum constant(double value);
    [[nodiscard]] static Sum negated(Sum sum);
    [[nodiscard]] Sum added(const Sum& a, const Sum& b, bool minus);
    Sum multiplied(const Sum& a, const Sum& b);
    Sum raised(const Sum& a, int n);
    Term as_term(const Sum& sum);
    Term times(const Term& a, const Term& b);
    Term raised(const Term& a, int n);
    Content content(const Sum& sum) const;
    [[nodiscard]] std::size_t length(const Sum& sum) const;
    [[nodiscard]] bool leads_negative(const Sum& sum) const;

    // --- clean-up of sums (print_trigonometry.cpp)
    Sum cleaned(Sum sum);
    bool collapse_once(Sum& sum);
    bool collapse_term(Sum& sum, std::size_t at);
    [[nodiscard]] static Sum collected(Sum terms);
    std::optional<Sum> expanded(const Sum& sum);
    Sum flattened(const Sum& sum);
    Sum grouped(const Sum& sum);
    Sum sum_of_angles(Op op, const Sum& a, const Sum& b, bool minus, const Ratio& c, std::vector<Factor> rest);

    // --- order and text (print_order.cpp)
    [[nodiscard]] std::vector<Term> ordered(const Sum& sum) const;
    [[nodiscard]] bool before(const Term& a, const Term& b) const;
    [[nodiscard]] bool before(Atom a, Atom b) const;
    [[nodiscard]] int bucket(Mono mono) const;
    [[nodiscard]] Piece piece(const Sum& sum, bool vector = false) const;
    [[nodiscard]] Piece factored_piece(const Sum& sum) const;
    [[nodiscard]] Piece plain_piece(const Sum& sum) const;
    [[nodiscard]] Piece term_piece(const Ratio& c, std::span<const Factor> factors, const Sum* extra, bool& negative) const;
    [[nodiscard]] bool mixed_signs(const Sum& sum) const;
    void rank(AtomInfo& atom) const;
    void mark(const Sum& sum, std::vector<bool>& seen, std::vector<bool>& names) const;

    const Graph& graph_;
    Style style_;
    std::vector<AtomInfo> atoms_;
    std::vector<MonoInfo> monos_;
    std::map<std::vector<std::uint64_t>, Atom> atom_ids_;
    std::unordered_multimap<std::uint64_t, Mono> mono_ids_;  // by hash
};

template <class Definitions>
std::vector<bool> TidyBackend::used_names(const Definitions& definitions, const std::vector<Form>& roots) {
    std::vector<bool> seen(atoms_.size(), false), names(definitions.size(), false);
    for (const Form& root : roots) mark(root.sum, seen, names);
    for (std::size_t i = definitions.size(); i-- > 0;)
        if (names[i]) mark(definitions[i].form.sum, seen, names);
    return names;
}

}  // namespace appell
