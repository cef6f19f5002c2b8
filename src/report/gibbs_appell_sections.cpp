#include "report/formulation_sections.hpp"

#include <fmt/format.h>

#include "dynam/gibbs_appell.hpp"
#include "expr/print.hpp"

namespace appell {

void SectionWriter::gibbs_appell() {
    Section accelerations = section(m_.bodies.empty() ? "Accelerations" : "Accelerations and angular accelerations");
    Equations vectors;
    const auto moving = [&](const Vec3& v) {
        const Vec3 local{v.frame, {kin_.rate(v.c[0]), kin_.rate(v.c[1]), kin_.rate(v.c[2])}};
        return appell::add(g_, local, cross(g_, kin_.omega(v.frame), v));
    };
    const auto put = [&](const std::string& name, const Vec3& v) {
        if (!is_listed(vectors, name))
            vectors.push_back({named(name, latex_vector_name(name)), "=", expression(vector_of(d_, v))});
    };
    for (const Particle& p : m_.particles) put(fmt::format("acc({})", m_.point(p.point).name), moving(kin_.velocity(p.point)));
    for (const Body& b : m_.bodies) {
        put(fmt::format("acc({})", m_.point(b.center).name), moving(kin_.velocity(b.center)));
        const Vec3& w = kin_.omega(b.frame);
        put(fmt::format("alpha({})", b.name), {b.frame, {kin_.rate(w.c[0]), kin_.rate(w.c[1]), kin_.rate(w.c[2])}});
    }
    accelerations.blocks.emplace_back(std::move(vectors));
    out_.push_back(std::move(accelerations));

    const std::vector<NodeId> energies = acceleration_energies(d_);
    const char *masses = "S = sum m acc.acc/2",
               *masses_latex = "S = \\textstyle\\sum \\frac{1}{2} m\\, \\mathbf{a} \\cdot \\mathbf{a}";
    Section energy =
        m_.bodies.empty()
            ? section("Acceleration energy", masses, masses_latex)
            : section("Acceleration energy", fmt::format("{} + sum (alpha.I.alpha/2 + alpha.(omega x I.omega))", masses),
                      fmt::format(
                          "{} + \\sum (\\frac{{1}}{{2}} \\boldsymbol{{\\alpha}} \\cdot I \\cdot \\boldsymbol{{\\alpha}} + "
                          "\\boldsymbol{{\\alpha}} \\cdot (\\boldsymbol{{\\omega}} \\times I \\cdot \\boldsymbol{{\\omega}}))",
                          masses_latex));
    Equations list;
    std::vector<std::string> names, latex;
    const auto name_of = [&](const std::string& owner) {
        names.push_back(fmt::format("S({})", owner));
        latex.push_back(fmt::format("S^{{{}}}", latex_name(owner)));
        return named(names.back(), latex.back());
    };
    for (std::size_t i = 0; i < energies.size(); ++i)
        list.push_back({name_of(i < m_.particles.size() ? m_.particles[i].name : m_.bodies[i - m_.particles.size()].name), "=",
                        expression(energies[i])});
    list.push_back(
        {named("S", "S"), "=", named(fmt::format("{}", fmt::join(names, " + ")), fmt::format("{}", fmt::join(latex, " + ")))});
    energy.blocks.emplace_back(std::move(list));
    out_.push_back(std::move(energy));

    const NodeId S = g_.sum(energies);
    std::vector<SymbolId> symbols;
    for (const Speed& s : m_.speeds) symbols.push_back(s.rate);
    std::vector<NodeId> gradient(symbols.size(), g_.constant(0));
    for (const SparseEntry& e : jacobian(g_, std::span(&S, 1), symbols, DerivativeMode::reverse).entries)
        gradient[e.column] = e.value;
    const std::vector<NodeId> active = generalized_active_forces(d_);
    Section slopes = section("Its gradient");
    Equations gradients;
    for (std::size_t r = 0; r < gradient.size(); ++r)
        gradients.push_back({named(fmt::format("dS/d{}", g_.symbol(symbols[r]).name),
                                   fmt::format("\\partial S / \\partial {}", latex_name(g_.symbol(symbols[r]).name))),
                             "=", expression(gradient[r])});
    slopes.blocks.emplace_back(std::move(gradients));
    out_.push_back(std::move(slopes));
    generalized_forces(active);
    if (partition_.rows.empty()) {
        Section s = section("Dynamical equations", "dS/du_r' = F_r", "\\partial S / \\partial \\dot{u}_r = F_r");
        Equations equations;
        for (std::size_t r = 0; r < gradient.size(); ++r)
            equations.push_back({expression(gradient[r]), "=", expression(active[r])});
        s.blocks.emplace_back(std::move(equations));
        out_.push_back(std::move(s));
        return;
    }
    constraint_rows();
    choice();
    const Elimination e = eliminate_dependent(d_, partition_);
    const bool closed = dependent_rates(e);
    Section s = section("Dynamical equations", "dS/du_r' + sum_D D_Dr dS/du_D' = F_r + sum_D D_Dr F_D",
                        "\\partial S / \\partial \\dot{u}_r + \\textstyle\\sum_D D_{Dr} \\, \\partial S / \\partial \\dot{u}_D = "
                        "F_r + \\sum_D D_{Dr} F_D");
    s.blocks.emplace_back(Sentence{closed ? "One equation for each independent speed, together with the rows:"
                                          : "One equation for each independent speed, together with the rows."});
    if (closed) {
        Equations equations;
        for (std::uint32_t r = 0; r < partition_.independent.size(); ++r) {
            std::vector<NodeId> left{gradient[partition_.independent[r]]}, right{active[partition_.independent[r]]};
            for (const SparseEntry& x : e.D.entries)
                if (x.column == r) {
                    left.push_back(g_.mul(x.value, gradient[partition_.dependent[x.row]]));
                    right.push_back(g_.mul(x.value, active[partition_.dependent[x.row]]));
                }
            equations.push_back({expression(g_.sum(left)), "=", expression(g_.sum(right))});
        }
        s.blocks.emplace_back(std::move(equations));
    }
    out_.push_back(std::move(s));
}

}  // namespace appell
