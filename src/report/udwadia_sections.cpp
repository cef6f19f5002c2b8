#include "report/formulation_sections.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

namespace appell {

namespace {

constexpr std::size_t k_largest_shown = 30;

}  // namespace

void SectionWriter::scaled(bool without_generalized_inverse) {
    const std::size_t n = rates_.size();
    Section s = section("Unconstrained system", "M u' = F,  a = M^-1 F", "M \\dot{u} = F,\\quad a = M^{-1} F");
    s.blocks.emplace_back(matrix_of(named("M", "M"), full(d_.M())));
    s.blocks.emplace_back(column_of(g_, named("F", "F"), d_.f()));
    const std::vector<NodeId> masses = diagonal_masses(d_);
    std::vector<NodeId> a;
    for (std::size_t i = 0; i < masses.size(); ++i) a.push_back(g_.div(d_.f()[i], masses[i]));
    if (!masses.empty()) s.blocks.emplace_back(column_of(g_, named("a", "a"), a));
    out_.push_back(std::move(s));
    if (d_.rows.empty()) {
        Section free = section("Equations of motion", "u' = a", "\\dot{u} = a");
        free.blocks.emplace_back(Sentence{"There are no constraints."});
        out_.push_back(std::move(free));
        return;
    }
    Section rows = section("Constraints at the acceleration level", "A u' = b", "A \\dot{u} = b");
    rows.blocks.emplace_back(matrix_of(named("A", "A"), d_.A));
    rows.blocks.emplace_back(column_of(g_, named("b", "b"), d_.b));
    out_.push_back(std::move(rows));
    if (without_generalized_inverse) choice();

    Section motion =
        without_generalized_inverse
            ? section("Equations of motion", "M u' = F + M^(1/2) J B^T (b - A a)", "M \\dot{u} = F + M^{1/2} J B^{T} (b - A a)")
            : section("Equations of motion", "u' = a + M^(-1/2) B^+ (b - A a)", "\\dot{u} = a + M^{-1/2} B^{+} (b - A a)");
    // the last member of eqs. 40 and 49 is what C among the given forces leads to: M^-1 C - M^-1/2 B^+ A M^-1 C
    const Sentence ideal = d_.added_force.empty()
                               ? Sentence{"The constraints are ideal, ", letter("C = 0"), "."}
                               : Sentence{"The given forces ", letter("F"),
                                          " contain the nonideal ones and the actuators, and so the source's last member."};
    motion.blocks.emplace_back(
        without_generalized_inverse
            ? Sentence{"Here ", named("B = A M^(-1/2)", "B = A M^{-1/2}"), ", ",
                       named("J = (B^T B + V V^T)^-1", "J = (B^{T} B + V V^{T})^{-1}"), ", and the columns of ", letter("V"),
                       " span what ", letter("B"), " annihilates: ", named("V = M^(1/2) S", "V = M^{1/2} S"), ", the columns of ",
                       letter("S"), " being the rates the rows leave free, ",
                       named("u' = S u_I' + s", "\\dot{u} = S \\dot{u}_I + s"), ". ", ideal[0], ideal[1], ideal[2]}
            : Sentence{"Here ", named("B = A M^(-1/2)", "B = A M^{-1/2}"), " and ", named("B^+", "B^{+}"),
                       " is its Moore-Penrose inverse. ", ideal[0], ideal[1], ideal[2]});
    if (masses.empty()) {
        const bool coupled =
            std::any_of(d_.M().entries.begin(), d_.M().entries.end(), [](const SparseEntry& x) { return x.row != x.column; });
        motion.blocks.emplace_back(
            coupled ? Sentence{letter("M"), " is not diagonal: its square root, and with it ", letter("B"),
                               ", is left to the computation."}
                    : Sentence{letter("M"), " has a zero on its diagonal: it is singular, and the formula does not apply."});
        out_.push_back(std::move(motion));
        return;
    }
    SparseMatrix B{d_.A.rows, d_.A.columns, {}};
    for (const SparseEntry& x : d_.A.entries)
        B.entries.push_back({x.row, x.column, g_.div(x.value, g_.make(Op::Sqrt, masses[x.column]))});
    motion.blocks.emplace_back(matrix_of(named("B", "B"), B));
    if (without_generalized_inverse) annihilated(motion, masses, B, n);
    out_.push_back(std::move(motion));
    if (partition_.redundant.empty()) explicit_motion(masses, without_generalized_inverse);
}

void SectionWriter::annihilated(Section& motion, const std::vector<NodeId>& masses, const SparseMatrix& B, std::size_t n) {
    const Elimination e = eliminate_dependent(d_, partition_);
    if (!e.refused.empty()) {
        motion.blocks.emplace_back(Sentence{letter("S"), fmt::format(" is not written out: {}.", e.refused)});
        return;
    }
    const std::size_t free = partition_.independent.size();
    SparseMatrix V{n, free, {}};
    const auto root = [&](std::uint32_t speed) { return g_.make(Op::Sqrt, masses[speed]); };
    for (std::uint32_t r = 0; r < free; ++r) V.entries.push_back({partition_.independent[r], r, root(partition_.independent[r])});
    for (const SparseEntry& x : e.D.entries)
        V.entries.push_back({partition_.dependent[x.row], x.column, g_.mul(root(partition_.dependent[x.row]), x.value)});
    motion.blocks.emplace_back(matrix_of(named("V", "V"), V));
    validity(e, motion);
    if (n > k_largest_shown) return;  // its entries are sums over V and B, and as many as the square of the speeds
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<NodeId>> terms;
    for (const SparseEntry& x : B.entries)
        for (const SparseEntry& y : B.entries)
            if (x.row == y.row) terms[{x.column, y.column}].push_back(g_.mul(x.value, y.value));
    for (const SparseEntry& x : V.entries)
        for (const SparseEntry& y : V.entries)
            if (x.column == y.column) terms[{x.row, y.row}].push_back(g_.mul(x.value, y.value));
    SparseMatrix sum{n, n, {}};
    for (const auto& [at, list] : terms)
        if (const NodeId value = g_.sum(list); !g_.is_constant(value, 0)) sum.entries.push_back({at.first, at.second, value});
    motion.blocks.emplace_back(matrix_of(named("J^-1", "J^{-1}"), sum));
}

void SectionWriter::explicit_motion(const std::vector<NodeId>& masses, bool without_generalized_inverse) {
    const auto solved = solved_multipliers(d_);
    if (!solved) return;
    Section s = section("The same, written out", "F^c = A^T (B B^T)^-1 (b - A a)", "F^{c} = A^{T} (B B^{T})^{-1} (b - A a)");
    s.blocks.emplace_back(Sentence{"The rows are independent, so that ",
                                   without_generalized_inverse ? named("J B^T = B^T (B B^T)^-1", "J B^{T} = B^{T} (B B^{T})^{-1}")
                                                               : named("B^+ = B^T (B B^T)^-1", "B^{+} = B^{T} (B B^{T})^{-1}"),
                                   ":"});
    s.blocks.emplace_back(matrix_of(named("B B^T", "B B^{T}"), solved->G));
    s.blocks.emplace_back(column_of(g_, named("b - A a", "b - A a"), solved->missing));
    std::vector<std::vector<NodeId>> terms(rates_.size());
    for (const SparseEntry& x : d_.A.entries) terms[x.column].push_back(g_.mul(solved->lambda[x.row], x.value));
    std::vector<NodeId> force;
    Equations list;
    for (std::size_t r = 0; r < terms.size(); ++r) {
        force.push_back(g_.sum(terms[r]));
        list.push_back({speed_rate(d_, r), "=", expression(g_.div(g_.add(d_.f()[r], force[r]), masses[r]))});
    }
    s.blocks.emplace_back(column_of(g_, named("F^c", "F^{c}"), force));
    s.blocks.emplace_back(std::move(list));
    out_.push_back(std::move(s));
}

}  // namespace appell
