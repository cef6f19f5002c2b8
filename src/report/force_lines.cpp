#include "report/force_lines.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "dynam/acting_forces.hpp"
#include "dynam/constraint_forces.hpp"
#include "expr/print.hpp"
#include "report/json_text.hpp"

namespace appell {

namespace {

using Json = nlohmann::ordered_json;
using Kind = ActingForce::Kind;

// forces are short, as the user's own vectors stand in them; generalized ones may be long and get names
constexpr std::size_t k_longest = 400;

struct PrintedForces {
    std::vector<ActingForce> forces;
    Printed printed;  // expressions in the same order
};

PrintedForces print_forces(const ConstrainedDynamics& d) {
    PrintedForces out{acting_forces(d), {}};
    std::vector<NodeId> roots;
    for (const ActingForce& f : out.forces) roots.push_back(f.value);
    PrintOptions options;
    options.notation = Notation::text;
    options.max_length = k_longest;
    options.intermediate_prefix = "w";  // the equations have their own, z
    if (!roots.empty()) out.printed = print(d.graph(), roots, options);
    return out;
}

std::string_view member_name(ForceMember member) {
    switch (member) {
        case ForceMember::reaction: return "reaction";
        case ForceMember::law: return "law";
        case ForceMember::ideal: return "ideal";
        case ForceMember::nonideal: return "nonideal";
        case ForceMember::actuator: return "actuator";
    }
    return "";
}

// what stands before the colon, the same for people wherever they read it: "on P", "torque on A", "ideal, on B at P",
// "actuator F, on P", "generalized, on speed u"
Math words(const Model& m, const ActingForce& f) {
    std::string first;
    if (f.member == ForceMember::actuator)
        first = fmt::format("actuator {}, ", m.actuators[f.owner].name);
    else if (f.member != ForceMember::reaction)
        first = fmt::format("{}, ", member_name(f.member));
    first += f.kind == Kind::force ? "on " : f.kind == Kind::torque ? "torque on " : "generalized, on speed ";
    std::string latex = fmt::format("\\text{{{}}}", first);
    if (f.member == ForceMember::actuator) {
        const std::size_t end = first.find(", ");
        latex = fmt::format("\\text{{actuator }}{}\\text{{{}}}", latex_name(m.actuators[f.owner].name), first.substr(end));
    }
    if (f.kind == Kind::force)
        latex += (f.body.valid() ? fmt::format("{}\\text{{ at }}", latex_name(body_name(m, f.body))) : std::string()) +
                 latex_name(m.point(f.point).name);
    else
        latex += latex_name(place_name(m, f));
    return named(first + place_name(m, f), latex);
}

// constraints whose forces are not vectors, with the reason
std::vector<std::string> sentences(const ConstrainedDynamics& d) {
    std::vector<std::string> out;
    for (const ConstraintForces& c : constraint_forces(d))
        if (!c.why.empty() && !d.model->constraints[c.constraint].stick_of)
            out.push_back(fmt::format("{} has {}: {}", d.model->constraints[c.constraint].name,
                                      c.form == ForceForm::generalized_only ? "generalized forces only" : "a generalized part",
                                      c.why));
    return out;
}

bool has_members(const std::vector<ActingForce>& forces) {
    return std::any_of(forces.begin(), forces.end(), [](const ActingForce& f) { return f.member == ForceMember::ideal; });
}

constexpr const char* k_members =
    "Ideal: what the constraint force were without the laws; nonideal: a law with the change of the multipliers that the laws "
    "cause. The two add up to the whole force of a constraint";

Json place(const Model& m, const ActingForce& f, const std::string& value) {
    if (f.kind == Kind::generalized) return {{"speed", m.speeds[f.speed].name}, {"value", value}};
    Json out{{"on", place_name(m, f)}};
    if (f.kind == Kind::force) {
        out["point"] = m.point(f.point).name;
        if (f.body.valid()) out["body"] = body_name(m, f.body);
    }
    out["value"] = value;
    return out;
}

constexpr const char* key_of(Kind kind) {
    return kind == Kind::force ? "forces" : kind == Kind::torque ? "torques" : "generalized";
}

Json empty_lists() { return {{"forces", Json::array()}, {"torques", Json::array()}, {"generalized", Json::array()}}; }

}  // namespace

std::string constraint_forces_text(const ConstrainedDynamics& d) {
    const auto [forces, printed] = print_forces(d);
    std::string out;
    for (const auto& [name, expression] : printed.definitions) out += fmt::format("  {} = {}\n", name, expression);
    for (std::size_t i = 0; i < forces.size(); ++i)
        out += fmt::format("  {}: {}\n", words(*d.model, forces[i]).text, printed.expressions[i]);
    if (has_members(forces)) out += fmt::format("  {}\n", k_members);
    for (const std::string& s : sentences(d)) out += fmt::format("  {}\n", s);
    return out;
}

Section constraint_forces_section(const ConstrainedDynamics& d) {
    Section section{"Constraint forces", {}, {}, {}};
    Equations lines;
    const std::vector<ActingForce> forces = acting_forces(d);
    for (const ActingForce& f : forces) lines.push_back({words(*d.model, f), ":", expression(f.value)});
    if (!lines.empty()) section.blocks.emplace_back(std::move(lines));
    if (has_members(forces)) section.blocks.emplace_back(Sentence{std::string(k_members) + "."});
    for (const std::string& s : sentences(d)) section.blocks.emplace_back(Sentence{"Constraint " + s + "."});
    return section;
}

std::string constraint_forces_json(const ConstrainedDynamics& d) {
    const Model& m = *d.model;
    const auto [forces, printed] = print_forces(d);
    Json out{{"constraints", Json::array()}, {"intermediates", Json::array()}};
    for (const ConstraintForces& c : constraint_forces(d)) {
        if (m.constraints[c.constraint].stick_of) continue;  // the nonideal member of another one
        const char* form = c.form == ForceForm::vectors              ? "vectors"
                           : c.form == ForceForm::partly_generalized ? "partly generalized"
                                                                     : "generalized only";
        Json entry{{"constraint", m.constraints[c.constraint].name}, {"form", form}};
        if (!c.why.empty()) entry["why"] = c.why;
        entry.update(empty_lists());
        for (std::size_t i = 0; i < forces.size(); ++i) {
            const ActingForce& f = forces[i];
            if (f.member == ForceMember::actuator || f.owner != c.constraint) continue;
            if (f.member == ForceMember::reaction) {
                entry[key_of(f.kind)].push_back(place(m, f, printed.expressions[i]));
                continue;
            }
            const std::string member(member_name(f.member));
            if (!entry.contains(member)) entry[member] = empty_lists();
            entry[member][key_of(f.kind)].push_back(place(m, f, printed.expressions[i]));
        }
        out["constraints"].push_back(std::move(entry));
    }
    if (!m.actuators.empty()) out["actuators"] = Json::array();
    for (std::size_t i = 0; i < forces.size(); ++i) {
        if (forces[i].member != ForceMember::actuator) continue;
        const std::string& name = m.actuators[forces[i].owner].name;
        if (out["actuators"].empty() || out["actuators"].back()["actuator"] != name) {
            Json servos = Json::array();
            for (const Constraint& c : m.constraints)
                if (std::find(c.actuators.begin(), c.actuators.end(), forces[i].owner) != c.actuators.end())
                    servos.push_back(c.name);
            Json entry{{"actuator", name}, {"keeps", std::move(servos)}};
            entry.update(empty_lists());
            out["actuators"].push_back(std::move(entry));
        }
        out["actuators"].back()[key_of(forces[i].kind)].push_back(place(m, forces[i], printed.expressions[i]));
    }
    for (const auto& [name, expression] : printed.definitions)
        out["intermediates"].push_back({{"name", name}, {"value", expression}});
    return json_text(out);
}

}  // namespace appell
