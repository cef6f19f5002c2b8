// `voronec` and `chaplygin`: everything in the true rates, T and its restriction, the explicit rates, the coefficients B.
#include <algorithm>

#include <fmt/format.h>

#include "dynam/chaplygin.hpp"
#include "dynam/voronec.hpp"
#include "expr/print.hpp"
#include "report/formulation_sections.hpp"

namespace appell {

namespace {

Math rate_name(const Graph& g, SymbolId rate) { return named(g.symbol(rate).name, latex_name(g.symbol(rate).name)); }

Sentence rate_list(const RateForm& form, const std::vector<std::size_t>& coordinates) {
    Sentence out;
    for (const std::size_t j : coordinates) {
        if (!out.empty()) out.emplace_back(", ");
        out.emplace_back(rate_name(form.graph(), form.v[j]));
    }
    if (out.empty()) out.emplace_back("none");
    return out;
}

void append(Sentence& to, Sentence more) {
    for (Phrase& p : more) to.push_back(std::move(p));
}

}  // namespace

// The partition of the speeds where they are rates; else the best one of the rates at the state.
PartitionChoice SectionWriter::rate_partition(const RateForm& form, std::span<const std::size_t> candidates) const {
    std::vector<std::size_t> dependent;
    for (std::size_t j = 0; j < m_.coordinates.size(); ++j)
        if (const auto speed = d_.speed_of(m_.coordinates[j].rate);
            speed && std::find(partition_.dependent.begin(), partition_.dependent.end(), *speed) != partition_.dependent.end())
            dependent.push_back(j);
    const auto allowed = [&](std::size_t j) {
        return candidates.empty() || std::find(candidates.begin(), candidates.end(), j) != candidates.end();
    };
    const bool rates =
        dependent.size() == partition_.dependent.size() && std::all_of(dependent.begin(), dependent.end(), allowed);
    return choose_partition(form, state_, candidates,
                            rates ? std::span<const std::size_t>(dependent) : std::span<const std::size_t>{});
}

void SectionWriter::in_rates(bool chaplygin) {
    const RateForm form = derive_rate_form(d_);
    ChaplyginStructure structure;
    if (chaplygin) structure = recognise_chaplygin(form);
    const std::string& refused = chaplygin ? structure.not_applicable : form.not_applicable;
    PartitionChoice choice;
    if (refused.empty()) choice = rate_partition(form, structure.candidates);
    if (chaplygin && choice.not_applicable.empty()) choice.not_applicable = structure_lost(structure.rank, choice.partition);
    if (!refused.empty() || !choice.not_applicable.empty()) {
        Section s = section(k_not_applicable);
        s.blocks.emplace_back(
            Sentence{fmt::format("The system has no such equations: {}.", refused.empty() ? choice.not_applicable : refused)});
        out_.push_back(std::move(s));
        return;
    }
    const Partition& partition = choice.partition;
    std::vector<std::size_t> independent;
    for (std::size_t j = 0; j < form.q.size(); ++j)
        if (std::find(partition.dependent.begin(), partition.dependent.end(), j) == partition.dependent.end())
            independent.push_back(j);

    Section energy = section("Kinetic energy in the rates of the coordinates");
    energy.blocks.emplace_back(Equations{{letter("T"), "=", expression(form.T)}});
    out_.push_back(std::move(energy));
    Section forces = section("Given forces by coordinate");
    Equations list;
    for (std::size_t j = 0; j < form.force.size(); ++j)
        list.push_back(
            {named(fmt::format("F({})", m_.coordinates[j].name), fmt::format("F^{{({})}}", latex_name(m_.coordinates[j].name))),
             "=", expression(form.force[j])});
    forces.blocks.emplace_back(std::move(list));
    out_.push_back(std::move(forces));

    const bool constrained = !partition.rows.empty();
    if (constrained) {
        Section rows = section("Constraints in the rates", "phi(q, q', t) = 0", "\\phi(q, \\dot{q}, t) = 0");
        Equations equations;
        for (const std::size_t i : partition.rows)
            equations.push_back({expression(form.phi[i]), "=", expression(g_.constant(0))});
        rows.blocks.emplace_back(std::move(equations));
        Sentence which{"Independent rates: "};
        append(which, rate_list(form, independent));
        which.emplace_back("; dependent: ");
        append(which, rate_list(form, partition.dependent));
        which.emplace_back(fmt::format(". {}.", decision_));
        rows.blocks.emplace_back(std::move(which));
        out_.push_back(std::move(rows));
    }

    const ExplicitVoronec e = explicit_voronec(form, partition);
    if (constrained) {
        Section s =
            section("Explicit rates", "q'_nu = alpha_nu(q, q'_I, t)", "\\dot{q}_{\\nu} = \\alpha_{\\nu}(q, \\dot{q}_I, t)");
        if (!e.refused.empty()) {
            s.blocks.emplace_back(Sentence{fmt::format("They are not written out: {}. Their derivatives follow from ", e.refused),
                                           named("phi = 0", "\\phi = 0"), "; so do those of ", named("T*", "T^{*}"),
                                           ", the kinetic energy with ", named("alpha", "\\alpha"), " put in."});
        } else {
            Equations rates;
            for (std::size_t nu = 0; nu < e.alpha.size(); ++nu)
                rates.push_back({rate_name(g_, form.v[partition.dependent[nu]]), "=", expression(e.alpha[nu])});
            s.blocks.emplace_back(std::move(rates));
            s.blocks.emplace_back(Sentence{"The kinetic energy with them put in:"});
            s.blocks.emplace_back(Equations{{named("T*", "T^{*}"), "=", expression(e.T_star)}});
        }
        out_.push_back(std::move(s));
    }
    if (constrained && e.refused.empty()) {
        Section s =
            chaplygin
                ? section("Coefficients", "B_r^nu = sum_j (dalpha_nu,r/dq_j - dalpha_nu,j/dq_r) q_j'",
                          "B_r^{\\nu} = \\textstyle\\sum_j (\\partial \\alpha_{\\nu,r} / \\partial q_j - \\partial "
                          "\\alpha_{\\nu,j} / \\partial q_r)\\, \\dot{q}_j")
                : section("Coefficients",
                          "B_r^nu = d/dt dalpha_nu/dq_r' - dalpha_nu/dq_r - sum_mu dalpha_mu/dq_r' dalpha_nu/dq_mu",
                          "B_r^{\\nu} = \\frac{d}{dt} \\frac{\\partial \\alpha_{\\nu}}{\\partial \\dot{q}_r} - \\frac{\\partial "
                          "\\alpha_{\\nu}}{\\partial q_r} - \\textstyle\\sum_{\\mu} \\frac{\\partial \\alpha_{\\mu}}{\\partial "
                          "\\dot{q}_r} \\frac{\\partial \\alpha_{\\nu}}{\\partial q_{\\mu}}");
        Equations coefficients;
        for (std::size_t r = 0; r < independent.size(); ++r)
            for (std::size_t nu = 0; nu < partition.dependent.size(); ++nu)
                coefficients.push_back(
                    {named(fmt::format("B_{}^{}", r + 1, nu + 1), fmt::format("B_{{{}}}^{{{}}}", r + 1, nu + 1)), "=",
                     expression(e.B[r][nu])});
        s.blocks.emplace_back(std::move(coefficients));
        out_.push_back(std::move(s));
    }
    Section motion =
        !constrained
            ? section("Dynamical equations", "d/dt dT/dq_r' - dT/dq_r = F_r",
                      "\\frac{d}{dt} \\frac{\\partial T}{\\partial \\dot{q}_r} - \\frac{\\partial T}{\\partial q_r} = F_r")
        : chaplygin
            ? section("Dynamical equations", "d/dt dT*/dq_r' - dT*/dq_r - sum_nu B_r^nu dT/dq_nu' = F_r + sum_nu alpha_nu,r F_nu",
                      "\\frac{d}{dt} \\frac{\\partial T^{*}}{\\partial \\dot{q}_r} - \\frac{\\partial T^{*}}{\\partial q_r} - "
                      "\\textstyle\\sum_{\\nu} B_r^{\\nu} \\frac{\\partial T}{\\partial \\dot{q}_{\\nu}} = F_r + \\sum_{\\nu} "
                      "\\alpha_{\\nu,r} F_{\\nu}")
            : section("Dynamical equations",
                      "d/dt dT*/dq_r' - dT*/dq_r - sum_nu (dT*/dq_nu dalpha_nu/dq_r' + B_r^nu dT/dq_nu') = F_r + sum_nu "
                      "dalpha_nu/dq_r' F_nu",
                      "\\frac{d}{dt} \\frac{\\partial T^{*}}{\\partial \\dot{q}_r} - \\frac{\\partial T^{*}}{\\partial q_r} - "
                      "\\textstyle\\sum_{\\nu} \\left( \\frac{\\partial T^{*}}{\\partial q_{\\nu}} \\frac{\\partial "
                      "\\alpha_{\\nu}}{\\partial "
                      "\\dot{q}_r} + B_r^{\\nu} \\frac{\\partial T}{\\partial \\dot{q}_{\\nu}} \\right) = F_r + \\sum_{\\nu} "
                      "\\frac{\\partial "
                      "\\alpha_{\\nu}}{\\partial \\dot{q}_r} F_{\\nu}");
    motion.blocks.emplace_back(Sentence{!constrained ? "Lagrange's equations:"
                                        : e.refused.empty()
                                            ? "One equation for each independent rate, together with the constraints:"
                                            : "One equation for each independent rate, together with the constraints."});
    if (e.refused.empty()) {
        Equations equations;
        for (std::size_t r = 0; r < e.left.size(); ++r) equations.push_back({expression(e.left[r]), "=", expression(e.right[r])});
        motion.blocks.emplace_back(std::move(equations));
    }
    out_.push_back(std::move(motion));
}

}  // namespace appell
