#include "report/formulation_sections.hpp"

#include <fmt/format.h>

#include "expr/print.hpp"

namespace appell {

void SectionWriter::minimal() {
    const bool evidence = !shown_.rows.empty();
    evidence_vectors();
    constraint_rows();
    choice();
    const Elimination e = eliminate_dependent(d_, partition_);
    if (!dependent_rates(e)) {
        Section s =
            evidence ? section("Dynamical equations", "S^T M S u_I' = S^T (f - M s + A^T lambda),  A S u_I' = b - A s",
                               "S^{T} M S \\dot{u}_I = S^{T} (f - M s + A^{T} \\lambda),\\quad "
                               "A S \\dot{u}_I = b - A s")
                     : section("Dynamical equations", "S^T M S u_I' = S^T (f - M s)", "S^{T} M S \\dot{u}_I = S^{T} (f - M s)");
        s.blocks.emplace_back(Sentence{letter("S"), " has the rows of the unit matrix for the independent speeds and those of ",
                                       letter("D"), " for the dependent ones; ", letter("s"), " has zeros and ", letter("d"),
                                       ". ", letter("M"), " and ", letter("f"),
                                       " are those of the system without its constraints:"});
        s.blocks.emplace_back(matrix_of(named("M", "M"), full(d_.M())));
        s.blocks.emplace_back(column_of(g_, named("f", "f"), d_.f()));
        if (evidence) {
            s.blocks.emplace_back(Sentence{"The rows whose forces are in evidence:"});
            s.blocks.emplace_back(matrix_of(named("A", "A"), shown_.A));
            s.blocks.emplace_back(column_of(g_, named("b", "b"), shown_.b));
        }
        out_.push_back(std::move(s));
        return;
    }
    const MinimalEquations minimal = minimal_equations(d_, e);
    const std::vector<std::uint32_t>& free = partition_.independent;

    // accelerations, the dependent rates embedded (eqs. 11, 39, 68), and their coefficients
    Section accelerations = section(m_.bodies.empty() ? "Accelerations" : "Accelerations and angular accelerations");
    Equations vectors;
    std::vector<VectorColumn> columns;
    const auto add = [&](const std::string& text, const AccelerationParts& parts) {
        if (is_listed(vectors, text)) return;
        // a tilde over the letter, and the index r
        const std::string latex = latex_vector_name(text);
        const std::size_t up = latex.find('^'), open = text.find('(');
        columns.push_back({text.substr(0, open) + "~" + text.substr(open),
                           "\\tilde{" + latex.substr(0, up) + "}_{r}" + latex.substr(up), parts.partials});
        Vec3 total = parts.remainder;
        for (const PartialVelocity& p : parts.partials) total = appell::add(g_, total, scale(g_, rates_[p.speed], p.v));
        vectors.push_back({named(text, latex), "=", expression(vector_of(d_, total))});
    };
    for (std::size_t i = 0; i < m_.particles.size(); ++i)
        add(fmt::format("acc({})", m_.point(m_.particles[i].point).name), minimal.particles[i]);
    for (std::size_t i = 0; i < m_.bodies.size(); ++i) {
        add(fmt::format("acc({})", m_.point(m_.bodies[i].center).name), minimal.centers[i]);
        add(fmt::format("alpha({})", m_.bodies[i].name), minimal.bodies[i]);
    }
    accelerations.blocks.emplace_back(std::move(vectors));
    out_.push_back(std::move(accelerations));
    if (std::optional<Block> block = vector_block(d_, named("u_r'", "\\dot{u}_{r}"), free, true, columns)) {
        Section partials = section(m_.bodies.empty() ? "Nonholonomic partial accelerations"
                                                     : "Nonholonomic partial accelerations and partial angular accelerations");
        partials.blocks.emplace_back(Sentence{"The coefficients of the independent rates in the accelerations:"});
        partials.blocks.push_back(std::move(*block));
        out_.push_back(std::move(partials));
    }

    const std::vector<NodeId> inertia = times_rates(minimal.M, free);
    const RemainingRows remaining = remaining_rows(shown_, e);
    const std::vector<NodeId> constraint = forces_in_evidence(remaining.A);
    Equations active, stars, kane, solved;
    for (std::size_t r = 0; r < free.size(); ++r) {
        const NodeId star = g_.neg(g_.add(inertia[r], minimal.L[r]));
        active.push_back({F_tilde(free[r]), "=", expression(minimal.F[r])});
        stars.push_back({F_star_tilde(free[r]), "=", expression(star)});
        kane.push_back({expression(g_.add(g_.add(minimal.F[r], constraint[r]), star)), "=", expression(g_.constant(0))});
        solved.push_back({expression(inertia[r]), "=", expression(g_.add(minimal.f[r], constraint[r]))});
    }
    const auto put = [&](Section s, Equations list) {
        s.blocks.emplace_back(std::move(list));
        out_.push_back(std::move(s));
    };
    if (free.empty()) {
        Section none = section("Dynamical equations");
        none.blocks.emplace_back(Sentence{"The rows alone determine all rates."});
        out_.push_back(std::move(none));
        return;
    }
    put(section("Generalized active forces"), std::move(active));
    put(section("Generalized inertia forces"), std::move(stars));
    if (!evidence) {
        put(section("Dynamical equations", "F~_r + F~*_r = 0", "\\tilde{F}_r + \\tilde{F}_r^{\\star} = 0"), std::move(kane));
        put(section("The same, ordered by the rates", "M~ u_I' = f~", "\\tilde{M} \\dot{u}_I = \\tilde{f}"), std::move(solved));
        return;
    }
    put(section("Dynamical equations", "F~_r + F~*_r + sum_s lambda_s A~_sr = 0",
                "\\tilde{F}_r + \\tilde{F}_r^{\\star} + \\textstyle\\sum_s \\lambda_s \\tilde{A}_{sr} = 0"),
        std::move(kane));
    put(section("The same, ordered by the rates", "M~ u_I' = f~ + A~^T lambda",
                "\\tilde{M} \\dot{u}_I = \\tilde{f} + \\tilde{A}^{T} \\lambda"),
        std::move(solved));
    put(section("Constraints whose forces are in evidence", "A~ u_I' = b~", "\\tilde{A} \\dot{u}_I = \\tilde{b}"),
        row_equations(remaining.A, remaining.b, free));
}

}  // namespace appell
