#include "report/force_lines.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "dynam/constraint_forces.hpp"
#include "expr/print.hpp"

namespace appell {

namespace {

// forces are short, as the user's own vectors stand in them; generalized ones may be long and get names
constexpr std::size_t k_longest = 400;

struct PrintedForces {
    std::vector<ConstraintForces> forces;
    Printed printed;  // expressions in the order forces, torques, generalized of each constraint
};

PrintedForces print_forces(const ConstrainedDynamics& d, Notation notation) {
    PrintedForces out{constraint_forces(d), {}};
    std::vector<NodeId> roots;
    for (const ConstraintForces& c : out.forces) {
        for (const ForceDirection& f : c.forces) roots.push_back(f.W);
        for (const TorqueDirection& t : c.torques) roots.push_back(t.tau);
        for (const GeneralizedDirection& q : c.generalized) roots.push_back(q.value);
    }
    PrintOptions options;
    options.notation = notation;
    options.max_length = k_longest;
    options.intermediate_prefix = "w";  // the equations have their own, z
    if (!roots.empty()) out.printed = print(d.graph(), roots, options);
    return out;
}

std::string sentence(const Model& m, const ConstraintForces& c) {
    return fmt::format("{} has {}: {}", m.constraints[c.constraint].name,
                       c.form == ForceForm::generalized_only ? "generalized forces only" : "a generalized part", c.why);
}

}  // namespace

std::string constraint_forces_text(const ConstrainedDynamics& d) {
    const Model& m = *d.model;
    const auto [forces, printed] = print_forces(d, Notation::text);
    std::string out;
    for (const auto& [name, expression] : printed.definitions) out += fmt::format("  {} = {}\n", name, expression);
    std::size_t next = 0;
    for (const ConstraintForces& c : forces) {
        for (const ForceDirection& f : c.forces)
            out += fmt::format("  on {}: {}\n", place_name(m, f), printed.expressions[next++]);
        for (const TorqueDirection& t : c.torques)
            out += fmt::format("  on {}: torque {}\n", body_name(m, t.body), printed.expressions[next++]);
        for (const GeneralizedDirection& q : c.generalized)
            out += fmt::format("  on speed {}: generalized force {}\n", m.speeds[q.speed].name, printed.expressions[next++]);
        if (!c.why.empty()) out += fmt::format("  {}\n", sentence(m, c));
    }
    return out;
}

Section constraint_forces_section(const ConstrainedDynamics& d) {
    const Model& m = *d.model;
    Section section{"Constraint forces", {}, {}, {}};
    Equations lines;
    std::vector<Sentence> sentences;
    for (const ConstraintForces& c : constraint_forces(d)) {
        for (const ForceDirection& f : c.forces) {
            const std::string body =
                f.body.valid() ? fmt::format("{}\\text{{ at }}", latex_name(body_name(m, f.body))) : std::string();
            lines.push_back(
                {named("on " + place_name(m, f), fmt::format("\\text{{on }}{}{}", body, latex_name(m.point(f.point).name))), ":",
                 expression(f.W)});
        }
        for (const TorqueDirection& t : c.torques)
            lines.push_back({named(fmt::format("torque on {}", body_name(m, t.body)),
                                   fmt::format("\\text{{torque on }}{}", latex_name(body_name(m, t.body)))),
                             ":", expression(t.tau)});
        for (const GeneralizedDirection& q : c.generalized)
            lines.push_back({named(fmt::format("generalized, on speed {}", m.speeds[q.speed].name),
                                   fmt::format("\\text{{generalized, on speed }}{}", latex_name(m.speeds[q.speed].name))),
                             ":", expression(q.value)});
        if (!c.why.empty()) sentences.push_back({"Constraint " + sentence(m, c) + "."});
    }
    if (!lines.empty()) section.blocks.emplace_back(std::move(lines));
    for (Sentence& s : sentences) section.blocks.emplace_back(std::move(s));
    return section;
}

std::string constraint_forces_json(const ConstrainedDynamics& d) {
    using Json = nlohmann::ordered_json;
    const Model& m = *d.model;
    const auto [forces, printed] = print_forces(d, Notation::text);
    Json out{{"constraints", Json::array()}, {"intermediates", Json::array()}};
    std::size_t next = 0;
    for (const ConstraintForces& c : forces) {
        const char* form = c.form == ForceForm::vectors              ? "vectors"
                           : c.form == ForceForm::partly_generalized ? "partly generalized"
                                                                     : "generalized only";
        Json entry{{"constraint", m.constraints[c.constraint].name}, {"form", form}};
        if (!c.why.empty()) entry["why"] = c.why;
        for (const char* key : {"forces", "torques", "generalized"}) entry[key] = Json::array();
        for (const ForceDirection& f : c.forces) {
            Json force{{"on", place_name(m, f)}, {"point", m.point(f.point).name}};
            if (f.body.valid()) force["body"] = body_name(m, f.body);
            force["value"] = printed.expressions[next++];
            entry["forces"].push_back(std::move(force));
        }
        for (const TorqueDirection& t : c.torques)
            entry["torques"].push_back({{"on", body_name(m, t.body)}, {"value", printed.expressions[next++]}});
        for (const GeneralizedDirection& q : c.generalized)
            entry["generalized"].push_back({{"speed", m.speeds[q.speed].name}, {"value", printed.expressions[next++]}});
        out["constraints"].push_back(std::move(entry));
    }
    for (const auto& [name, expression] : printed.definitions)
        out["intermediates"].push_back({{"name", name}, {"value", expression}});
    return out.dump(2);
}

}  // namespace appell
