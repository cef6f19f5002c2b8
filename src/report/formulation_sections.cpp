#include "report/formulation_sections.hpp"

#include <fmt/format.h>

#include "base/number_format.hpp"
#include "dynam/gibbs_appell.hpp"
#include "report/force_lines.hpp"

namespace appell {

namespace {

Math force_name(const char* text, const char* latex, std::size_t speed) {
    return named(fmt::format("{}_{}", text, speed + 1), fmt::format(fmt::runtime(latex), speed + 1));
}

}  // namespace

SectionWriter::SectionWriter(const ConstrainedDynamics& d, const ConstrainedDynamics& shown, const SpeedPartition& partition,
                             const std::string& decision, std::span<const double> state)
    : d_(d),
      shown_(shown),
      m_(*d.model),
      g_(d.graph()),
      kin_(*d.kinematics),
      partition_(partition),
      decision_(decision),
      state_(state) {
    for (const Speed& s : m_.speeds) rates_.push_back(g_.symbol_node(s.rate));
}

std::vector<Section> SectionWriter::sections(Formulation formulation) {
    switch (formulation) {
        case Formulation::multipliers: multipliers(); break;
        case Formulation::minimal: minimal(); break;
        case Formulation::nonminimal: nonminimal(); break;
        case Formulation::udwadia_kalaba: scaled(false); break;
        case Formulation::ukp: scaled(true); break;
        case Formulation::gibbs_appell: gibbs_appell(); break;
        case Formulation::voronec: in_rates(false); break;
        case Formulation::chaplygin: in_rates(true); break;
    }
    return std::move(out_);
}

Section SectionWriter::section(std::string title, std::string formula, std::string latex) {
    return {std::move(title), named(std::move(formula), std::move(latex)), {}, {}};
}

Math SectionWriter::F(std::size_t r) { return force_name("F", "F_{{{}}}", r); }
Math SectionWriter::F_star(std::size_t r) { return force_name("F*", "F_{{{}}}^{{\\star}}", r); }
Math SectionWriter::F_tilde(std::size_t r) { return force_name("F~", "\\tilde{{F}}_{{{}}}", r); }
Math SectionWriter::F_star_tilde(std::size_t r) { return force_name("F~*", "\\tilde{{F}}_{{{}}}^{{\\star}}", r); }

std::vector<NodeId> SectionWriter::times_rates(const SparseMatrix& lower, std::span<const std::uint32_t> speeds) const {
    std::vector<std::vector<NodeId>> terms(lower.rows);
    for (const SparseEntry& e : lower.entries) {
        terms[e.row].push_back(g_.mul(e.value, rates_[speeds[e.column]]));
        if (e.row != e.column) terms[e.column].push_back(g_.mul(e.value, rates_[speeds[e.row]]));
    }
    std::vector<NodeId> out;
    for (const std::vector<NodeId>& t : terms) out.push_back(g_.sum(t));
    return out;
}

std::vector<std::uint32_t> SectionWriter::all_speeds() const {
    std::vector<std::uint32_t> all(rates_.size());
    for (std::uint32_t i = 0; i < all.size(); ++i) all[i] = i;
    return all;
}

SparseMatrix SectionWriter::full(const SparseMatrix& lower) {
    SparseMatrix out = lower;
    for (const SparseEntry& e : lower.entries)
        if (e.row != e.column) out.entries.push_back({e.column, e.row, e.value});
    return out;
}

void SectionWriter::constraint_rows() {
    if (d_.rows.empty()) return;
    Section s = section("Constraints at the acceleration level", "A u' = b", "A \\dot{u} = b");
    s.blocks.emplace_back(row_equations(d_.A, d_.b, all_speeds()));
    out_.push_back(std::move(s));
}

Equations SectionWriter::row_equations(const SparseMatrix& A, std::span<const NodeId> b,
                                       std::span<const std::uint32_t> speeds) const {
    std::vector<std::vector<NodeId>> rows(b.size());
    for (const SparseEntry& e : A.entries) rows[e.row].push_back(g_.mul(e.value, rates_[speeds[e.column]]));
    Equations list;
    for (std::size_t i = 0; i < rows.size(); ++i) list.push_back({expression(g_.sum(rows[i])), "=", expression(b[i])});
    return list;
}

std::vector<NodeId> SectionWriter::forces_in_evidence(const SparseMatrix& A) const {
    std::vector<std::vector<NodeId>> terms(A.columns);
    for (const SparseEntry& e : A.entries)
        terms[e.column].push_back(g_.mul(g_.symbol_node(shown_.rows[e.row].multiplier), e.value));
    std::vector<NodeId> out;
    for (const std::vector<NodeId>& t : terms) out.push_back(g_.sum(t));
    return out;
}

void SectionWriter::evidence_vectors() {
    if (shown_.rows.empty()) return;
    Section s = constraint_forces_section(shown_);
    s.title = "Constraint forces in evidence";
    out_.push_back(std::move(s));
}

void SectionWriter::generalized_forces(const std::vector<NodeId>& active) {
    Section forces = section("Generalized active forces");
    Equations list;
    for (std::size_t r = 0; r < active.size(); ++r) list.push_back({F(r), "=", expression(active[r])});
    forces.blocks.emplace_back(std::move(list));
    out_.push_back(std::move(forces));
}

void SectionWriter::choice() {
    if (partition_.rows.empty()) return;
    Section s = section("Independent and dependent speeds");
    Sentence sentence{"Independent: "};
    for (Phrase& p : speed_list(d_, partition_.independent, false)) sentence.push_back(std::move(p));
    if (partition_.independent.empty()) sentence.emplace_back("none");
    sentence.emplace_back("; dependent: ");
    for (Phrase& p : speed_list(d_, partition_.dependent, false)) sentence.push_back(std::move(p));
    sentence.emplace_back(fmt::format(". {}, where ", decision_));
    sentence.emplace_back(named(fmt::format("|det J2| = {}", short_number(partition_.determinant, 3)),
                                fmt::format("|\\det J_2| = {}", short_number(partition_.determinant, 3))));
    sentence.emplace_back("; ");
    sentence.emplace_back(named("J2", "J_2"));
    sentence.emplace_back(" has the columns of ");
    sentence.emplace_back(letter("A"));
    sentence.emplace_back(" that belong to the dependent speeds, its rows scaled to unit length.");
    if (partition_.steady) sentence.emplace_back(" Unscaled, the determinant is the same in every state.");
    s.blocks.emplace_back(std::move(sentence));
    out_.push_back(std::move(s));
}

bool SectionWriter::dependent_rates(const Elimination& e) {
    if (partition_.rows.empty()) return true;
    if (!e.refused.empty()) {
        Section s = section("Dependent rates", "J1 u_I' + J2 u_D' = b", "J_1 \\dot{u}_I + J_2 \\dot{u}_D = b");
        s.blocks.emplace_back(Sentence{fmt::format("They are not written out: {}. ", e.refused), letter("D"), " and ",
                                       letter("d"), " solve ", named("J2 D = -J1, J2 d = b", "J_2 D = -J_1,\\quad J_2 d = b"),
                                       "; then ", named("u_D' = D u_I' + d", "\\dot{u}_D = D \\dot{u}_I + d"), "."});
        s.blocks.emplace_back(matrix_of(named("J1", "J_1"), e.J1));
        s.blocks.emplace_back(matrix_of(named("J2", "J_2"), e.J2));
        s.blocks.emplace_back(column_of(g_, named("b", "b"), e.b));
        Sentence where{"They hold where det "};
        where.emplace_back(letter("J2"));
        where.emplace_back(" does not vanish.");
        if (partition_.takes_turns && !e.combined)
            where.emplace_back(" Where it vanishes, other rows than those taken here may still determine the dependent rates.");
        s.blocks.emplace_back(std::move(where));
        out_.push_back(std::move(s));
        return false;
    }
    Section s = section("Dependent rates", "u_D' = D u_I' + d", "\\dot{u}_D = D \\dot{u}_I + d");
    Equations list;
    std::vector<std::vector<NodeId>> terms(e.d.size());
    for (std::size_t i = 0; i < e.d.size(); ++i) terms[i].push_back(e.d[i]);
    for (const SparseEntry& entry : e.D.entries)
        terms[entry.row].push_back(g_.mul(entry.value, rates_[partition_.independent[entry.column]]));
    for (std::size_t i = 0; i < e.d.size(); ++i)
        list.push_back({speed_rate(d_, partition_.dependent[i]), "=", expression(g_.sum(terms[i]))});
    s.blocks.emplace_back(std::move(list));
    validity(e, s);
    out_.push_back(std::move(s));
    return true;
}

void SectionWriter::validity(const Elimination& e, Section& s) const {
    if (e.combined)
        s.blocks.emplace_back(Sentence{
            "No choice of rows determines the dependent rates wherever all rows do, so that all of them are taken together: ",
            letter("J1"), ", ", letter("J2"), " and ", letter("b"), " stand for ",
            named("J2^T J1, J2^T J2 and J2^T b", "J_2^{T} J_1,\\quad J_2^{T} J_2,\\quad J_2^{T} b"), " of all rows."});
    if (!e.determinants.empty()) {
        Sentence where{e.determinants.size() == 1 ? "They hold where this does not vanish: "
                                                  : "They hold where none of these vanishes: "};
        for (std::size_t i = 0; i < e.determinants.size(); ++i) {
            if (i > 0) where.emplace_back(", ");
            where.emplace_back(expression(e.determinants[i]));
        }
        where.emplace_back(".");
        s.blocks.emplace_back(std::move(where));
    }
    if (partition_.takes_turns && !e.combined && !e.determinants.empty())
        s.blocks.emplace_back(
            Sentence{"Where it vanishes, other rows than those taken here may still determine the dependent rates."});
}

void SectionWriter::multipliers() {
    // with laws or actuators among the given forces, all forces have been listed
    if (Section forces = constraint_forces_section(d_); d_.added_force.empty() && !forces.blocks.empty())
        out_.push_back(std::move(forces));
    generalized_forces(generalized_active_forces(d_));
    const std::vector<NodeId> inertia = times_rates(d_.M(), all_speeds());
    const std::vector<NodeId> remainders = inertia_remainders(d_);
    Section stars = section("Generalized inertia forces");
    Equations list;
    for (std::size_t r = 0; r < inertia.size(); ++r)
        list.push_back({F_star(r), "=", expression(g_.neg(g_.add(inertia[r], remainders[r])))});
    stars.blocks.emplace_back(std::move(list));
    out_.push_back(std::move(stars));

    const bool constrained = !d_.rows.empty();
    Section kane = section("Dynamical equations", constrained ? "M u' = f + A^T lambda" : "M u' = f",
                           constrained ? "M \\dot{u} = f + A^{T} \\lambda" : "M \\dot{u} = f");
    kane.blocks.emplace_back(constrained ? Sentence{"Kane's equations ",
                                                    named("F_r + F*_r + sum_s lambda_s A_sr = 0",
                                                          "F_r + F_r^{\\star} + \\textstyle\\sum_s \\lambda_s A_{sr} = 0"),
                                                    ", the constraint forces in evidence:"}
                                         : Sentence{"Kane's equations ", named("F_r + F*_r = 0", "F_r + F_r^{\\star} = 0"), ":"});
    std::vector<std::vector<NodeId>> right(inertia.size());
    for (std::size_t r = 0; r < right.size(); ++r) right[r].push_back(d_.f()[r]);
    for (const SparseEntry& e : d_.A.entries)
        right[e.column].push_back(g_.mul(g_.symbol_node(d_.rows[e.row].multiplier), e.value));
    Equations equations;
    for (std::size_t r = 0; r < right.size(); ++r)
        equations.push_back({expression(inertia[r]), "=", expression(g_.sum(right[r]))});
    kane.blocks.emplace_back(std::move(equations));
    out_.push_back(std::move(kane));
    constraint_rows();

    if (!partition_.redundant.empty() || d_.C_of_reaction) return;
    if (const auto solved = solved_multipliers(d_)) {
        Section s = section("Multipliers", "lambda = (A M^-1 A^T)^-1 (b - A M^-1 f)",
                            "\\lambda = (A M^{-1} A^{T})^{-1} (b - A M^{-1} f)");
        Equations lambdas;
        for (std::size_t i = 0; i < solved->lambda.size(); ++i)
            lambdas.push_back({expression(g_.symbol_node(d_.rows[i].multiplier)), "=", expression(solved->lambda[i])});
        s.blocks.emplace_back(std::move(lambdas));
        out_.push_back(std::move(s));
    }
}

std::vector<Section> formulation_sections(const ConstrainedDynamics& d, const ConstrainedDynamics& shown, Formulation formulation,
                                          const SpeedPartition& partition, const std::string& decision,
                                          std::span<const double> state) {
    return SectionWriter(d, shown, partition, decision, state).sections(formulation);
}

std::string formulation_sentence(Formulation formulation) {
    const char* what = "";
    switch (formulation) {
        case Formulation::multipliers:
            what = "Kane's equations with the constraint forces in evidence (Roithmayr and Hodges, eqs. 5-7)";
            break;
        case Formulation::minimal:
            what =
                "as many equations as degrees of freedom, by nonholonomic partial accelerations (Roithmayr and Hodges, eqs. "
                "8-18)";
            break;
        case Formulation::nonminimal:
            what = "Kane's equations for all rates, without multipliers (Bajodah, Hodges and Chen, eqs. 16-50)";
            break;
        case Formulation::udwadia_kalaba:
            what = "the explicit equations of Udwadia and Kalaba (Udwadia, Kalaba and Phohomsiri, eqs. 47-49)";
            break;
        case Formulation::ukp:
            what = "explicit equations without generalized inverses (Udwadia, Kalaba and Phohomsiri, eqs. 15-40)";
            break;
        case Formulation::gibbs_appell: what = "the gradient of the acceleration energy (Talamucci, eqs. 72-75)"; break;
        case Formulation::voronec:
            what = "the kinetic energy and its restriction to the independent rates (Talamucci, eqs. 48-57)";
            break;
        case Formulation::chaplygin:
            what = "equations that the dependent coordinates have dropped out of (Talamucci, eqs. 62-63)";
            break;
    }
    return fmt::format("Formulation {}: {}.", name_of(formulation), what);
}

}  // namespace appell
