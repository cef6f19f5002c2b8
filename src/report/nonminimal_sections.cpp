#include "report/formulation_sections.hpp"

#include <map>

namespace appell {

void SectionWriter::nonminimal() {
    const std::size_t n = rates_.size(), rank = partition_.rows.size();
    evidence_vectors();
    constraint_rows();
    choice();
    const Elimination e = eliminate_dependent(d_, partition_);
    std::vector<std::uint32_t> order = partition_.independent;
    order.insert(order.end(), partition_.dependent.begin(), partition_.dependent.end());
    std::vector<std::uint32_t> place(n);
    for (std::uint32_t i = 0; i < n; ++i) place[order[i]] = i;

    // Q and P: M and f in the order u_I, u_D
    SparseMatrix Q{n, n, {}};
    for (const SparseEntry& x : full(d_.M()).entries) Q.entries.push_back({place[x.row], place[x.column], x.value});
    std::vector<NodeId> P;
    for (const std::uint32_t s : order) P.push_back(d_.f()[s]);
    Section unconstrained = section("Unconstrained equations", "Q u' = P", "Q \\dot{u} = P");
    Sentence ordered{letter("Q"), " is the mass matrix ", letter("M"), " and ",
                     letter("P"), " the column ",         letter("f"), ", rows and columns in the order "};
    for (Phrase& p : speed_list(d_, order, false)) ordered.push_back(std::move(p));
    ordered.emplace_back(", independent speeds first:");
    unconstrained.blocks.emplace_back(std::move(ordered));
    unconstrained.blocks.emplace_back(matrix_of(named("Q", "Q"), Q));
    unconstrained.blocks.emplace_back(column_of(g_, named("P", "P"), P));

    const auto rows_in_evidence = [&] {
        if (shown_.rows.empty()) return;
        Section s = section("Constraints whose forces are in evidence", "G u' = g", "G \\dot{u} = g");
        s.blocks.emplace_back(row_equations(shown_.A, shown_.b, all_speeds()));
        out_.push_back(std::move(s));
    };
    if (!e.refused.empty()) {
        dependent_rates(e);
        out_.push_back(std::move(unconstrained));
        final_form(nullptr, e, P, n, rank, place);
        rows_in_evidence();
        return;
    }
    if (rank > 0) {
        Section s = section("Rows, partitioned", "u_D' = A u_I' + B,  A = -J2^-1 J1",
                            "\\dot{u}_D = A \\dot{u}_I + B,\\quad A = -J_2^{-1} J_1");
        s.blocks.emplace_back(matrix_of(named("J1", "J_1"), e.J1));
        s.blocks.emplace_back(matrix_of(named("J2", "J_2"), e.J2));
        s.blocks.emplace_back(
            Sentence{"The letter ", letter("A"), " is here, as in the source, the matrix that gives the dependent rates:"});
        s.blocks.emplace_back(matrix_of(named("A", "A"), e.D));
        s.blocks.emplace_back(column_of(g_, named("B", "B"), e.d));
        validity(e, s);
        out_.push_back(std::move(s));
    }
    out_.push_back(std::move(unconstrained));
    final_form(&Q, e, P, n, rank, place);
    rows_in_evidence();
}

void SectionWriter::final_form(const SparseMatrix* Q, const Elimination& e, const std::vector<NodeId>& P, std::size_t n,
                               std::size_t rank, const std::vector<std::uint32_t>& place) {
    const bool evidence = !shown_.rows.empty();
    Section s = evidence ? section("Nonminimal equations", "T u' = V + [0; A2 G^T] lambda",
                                   "T \\dot{u} = V + \\begin{bmatrix} 0 \\\\ A_2 G^{T} \\end{bmatrix} \\lambda")
                         : section("Nonminimal equations", "T u' = V", "T \\dot{u} = V");
    s.blocks.emplace_back(Sentence{
        named("A1 = [-A, 1], A2 = [1, A^T], T = [A1; A2 Q], V = [B; A2 P]",
              "A_1 = \\begin{bmatrix} -A & 1 \\end{bmatrix},\\quad A_2 = \\begin{bmatrix} 1 & A^{T} \\end{bmatrix},\\quad "
              "T = \\begin{bmatrix} A_1 \\\\ A_2 Q \\end{bmatrix},\\quad V = \\begin{bmatrix} B \\\\ A_2 P \\end{bmatrix}"),
        "."});
    if (evidence)
        s.blocks.emplace_back(Sentence{"The rows ", named("G u' = g", "G \\dot{u} = g"),
                                       " below are those whose forces are in evidence; the columns of ", letter("G"),
                                       " are in the order of the speeds here."});
    if (Q == nullptr) {
        s.blocks.emplace_back(Sentence{"Here ", letter("A"), " is ", letter("D"), " and ", letter("B"), " is ", letter("d"),
                                       " of the dependent rates above."});
        out_.push_back(std::move(s));
        return;
    }
    const std::size_t free = n - rank;
    SparseMatrix A1{rank, n, {}}, A2{free, n, {}};
    for (const SparseEntry& x : e.D.entries) {
        A1.entries.push_back({x.row, x.column, g_.neg(x.value)});
        A2.entries.push_back({x.column, static_cast<std::uint32_t>(free + x.row), x.value});
    }
    for (std::uint32_t i = 0; i < rank; ++i) A1.entries.push_back({i, static_cast<std::uint32_t>(free + i), g_.constant(1)});
    for (std::uint32_t i = 0; i < free; ++i) A2.entries.push_back({i, i, g_.constant(1)});
    if (rank > 0) s.blocks.emplace_back(matrix_of(named("A1", "A_1"), A1));
    s.blocks.emplace_back(matrix_of(named("A2", "A_2"), A2));

    std::vector<std::vector<SparseEntry>> Q_rows(n);
    for (const SparseEntry& q : Q->entries) Q_rows[q.row].push_back(q);
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<NodeId>> product;
    std::vector<std::vector<NodeId>> forces(free), in_evidence(free);
    const std::vector<NodeId> constraint = forces_in_evidence(shown_.A);
    std::vector<std::uint32_t> order(n);
    for (std::uint32_t speed = 0; speed < n; ++speed) order[place[speed]] = speed;
    for (const SparseEntry& x : A2.entries) {
        for (const SparseEntry& q : Q_rows[x.column]) product[{x.row, q.column}].push_back(g_.mul(x.value, q.value));
        forces[x.row].push_back(g_.mul(x.value, P[x.column]));
        in_evidence[x.row].push_back(g_.mul(x.value, constraint[order[x.column]]));
    }
    SparseMatrix T{n, n, A1.entries};
    for (const auto& [at, terms] : product)
        if (const NodeId value = g_.sum(terms); !g_.is_constant(value, 0))
            T.entries.push_back({static_cast<std::uint32_t>(rank + at.first), at.second, value});
    std::vector<NodeId> V = e.d;
    for (const std::vector<NodeId>& terms : forces) V.push_back(g_.sum(terms));
    s.blocks.emplace_back(matrix_of(named("T", "T"), T));
    s.blocks.emplace_back(column_of(g_, named("V", "V"), V));
    out_.push_back(std::move(s));

    Section written = section("The same, written out");
    std::vector<std::vector<NodeId>> left(n);
    for (const SparseEntry& x : T.entries) left[x.row].push_back(g_.mul(x.value, rates_[order[x.column]]));
    Equations list;
    for (std::size_t i = 0; i < n; ++i) {
        const NodeId right = i < rank ? V[i] : g_.add(V[i], g_.sum(in_evidence[i - rank]));
        list.push_back({expression(g_.sum(left[i])), "=", expression(right)});
    }
    written.blocks.emplace_back(std::move(list));
    out_.push_back(std::move(written));
}

}  // namespace appell
