#include <fmt/format.h>

#include "dynam/acting_forces.hpp"
#include "dynam/constraint_forces.hpp"
#include "report/equation_sections.hpp"
#include "report/report_page.hpp"

namespace appell {

namespace {

std::string kind_of(const ConstrainedDynamics& d, std::size_t constraint) {
    const Constraint& c = d.model->constraints[constraint];
    std::string out;
    for (const ConstraintRow& row : d.rows)
        if (row.constraint == constraint) {
            out = level_name(row.level);
            break;
        }
    if (c.unilateral) out += out.empty() ? "contact" : ", contact";
    if (!c.actuators.empty()) out += out.empty() ? "servo" : ", servo";
    return out;
}

}  // namespace

Section constraint_table(const ConstrainedDynamics& d) {
    const Model& m = *d.model;
    Section section{"Constraints", {}, {}, {}};
    Table table;
    table.header = {"constraint", "as written", "level", "acts on", "force or torque"};
    const std::vector<ActingForce> forces = acting_forces(d);
    const auto add = [&](std::string name, std::string text, std::string level, const ActingForce& f) {
        std::string place = place_name(m, f);
        if (f.kind == ActingForce::Kind::torque) place += " (torque)";
        if (f.kind == ActingForce::Kind::generalized) place = fmt::format("speed {} (generalized)", place);
        if (f.member == ForceMember::law) place += ", law";
        table.rows.push_back({std::move(name), std::move(text), std::move(level), std::move(place), expression(f.value)});
    };
    for (std::size_t i = 0; i < m.constraints.size(); ++i) {
        const Constraint& c = m.constraints[i];
        if (c.stick_of) continue;
        bool first = true;
        for (const ActingForce& f : forces) {
            const bool own = f.member == ForceMember::reaction || f.member == ForceMember::law;
            if (!own || f.owner != i) continue;
            if (first)
                add(c.name, c.text, kind_of(d, i), f);
            else
                add("", "", "", f);
            first = false;
        }
        if (first) {
            std::vector<std::string> names;
            for (const std::size_t a : c.actuators) names.push_back(m.actuators[a].name);
            table.rows.push_back(
                {c.name, c.text, kind_of(d, i),
                 names.empty() ? std::string("nothing that moves") : fmt::format("kept by {}", fmt::join(names, ", ")),
                 std::string()});
        }
    }
    for (const ActingForce& f : forces)
        if (f.member == ForceMember::actuator) add(m.actuators[f.owner].name, m.actuators[f.owner].text, "actuator", f);
    if (!table.rows.empty()) section.blocks.emplace_back(std::move(table));
    for (const ConstraintForces& c : constraint_forces(d))
        if (!c.why.empty())
            section.blocks.emplace_back(
                Sentence{fmt::format("Of {} {}: {}.", m.constraints[c.constraint].name,
                                     c.form == ForceForm::generalized_only ? "there are generalized forces only"
                                                                           : "a part of the force is generalized",
                                     c.why)});
    return section;
}

}  // namespace appell
