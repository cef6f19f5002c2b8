#include "report/equations.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "report/equation_sections.hpp"
#include "report/force_lines.hpp"
#include "report/json_text.hpp"

namespace appell {

namespace {

using Json = nlohmann::ordered_json;

// the matrices of the system for machines, whatever the formulation shows of them
struct SystemKeys {
    std::vector<std::pair<const char*, const SparseMatrix*>> matrices;
    std::vector<std::pair<const char*, std::span<const NodeId>>> vectors;
    std::vector<std::pair<const char*, NodeId>> scalars;
};

SystemKeys system_keys(const ConstrainedDynamics& d) {
    SystemKeys keys{{{"K", &d.kinematics->K()}, {"M_lower", &d.M()}, {"A", &d.A}},
                    {{"k", d.kinematics->k()}, {"f", d.f()}, {"b", d.b}},
                    {{"kinetic_energy", d.kinetic_energy}, {"potential_energy", d.potential_energy}}};
    if (!d.C.empty()) keys.vectors.emplace_back("C", d.C);
    if (!d.actuators.empty()) keys.matrices.emplace_back("actuator_directions", &d.D);
    return keys;
}

std::string equations_json(const ConstrainedDynamics& d, const EquationOptions& options, Document document) {
    const Graph& g = d.graph();
    const Model& m = *d.model;
    // printed together with the sections, so that the intermediates are the same
    const SystemKeys keys = system_keys(d);
    Sentence values;
    for (const Speed& s : m.speeds) values.emplace_back(expression(s.definition));
    for (const auto& [key, matrix] : keys.matrices)
        for (const SparseEntry& e : matrix->entries) values.emplace_back(expression(e.value));
    for (const auto& [key, vector] : keys.vectors)
        for (const NodeId value : vector) values.emplace_back(expression(value));
    for (const auto& [key, value] : keys.scalars) values.emplace_back(expression(value));
    document.sections.push_back({"", {}, {std::move(values)}, {}});
    print_document(g, document, true);
    values = std::get<Sentence>(document.sections.back().blocks.front());
    document.sections.pop_back();
    auto next = values.begin();
    const auto take = [&] { return std::get<Math>(*next++).text; };

    Json out;
    out["schema"] = 1;
    out["system"] = m.name;
    out["title"] = m.title;
    for (const FormulationInfo& row : all_formulations())
        if (row.formulation == options.formulation) out["formulation"] = std::string(row.name);
    out["coordinates"] = Json::array();
    for (const Coordinate& c : m.coordinates) out["coordinates"].push_back(c.name);
    out["speeds"] = Json::array();
    for (const Speed& s : m.speeds) out["speeds"].push_back({{"name", s.name}, {"definition", take()}});
    // NOTE: names are different, so that none is looked for; an object would compare each with all before it
    Json::object_t parameters;
    for (const Parameter& p : m.parameters) parameters.emplace_back(p.name, p.value);
    out["parameters"] = std::move(parameters);
    out["constraints"] = Json::array();
    for (const ConstraintRow& row : d.rows)
        out["constraints"].push_back({{"name", row.name},
                                      {"level", level_name(row.level)},
                                      {"text", m.constraints[row.constraint].text},
                                      {"multiplier", g.symbol(row.multiplier).name}});
    out["evidence"] = Json::array();
    for (const std::size_t c : options.evidence.value_or(m.evidence)) out["evidence"].push_back(m.constraints[c].name);
    if (!d.actuators.empty()) {
        out["actuators"] = Json::array();
        for (const SymbolId magnitude : d.actuators) out["actuators"].push_back(g.symbol(magnitude).name);
    }
    out["constraint_forces"] = Json::parse(constraint_forces_json(d));
    for (const auto& [key, matrix] : keys.matrices) {
        out[key] = {{"rows", matrix->rows}, {"columns", matrix->columns}, {"entries", Json::array()}};
        for (const SparseEntry& e : matrix->entries)
            out[key]["entries"].push_back({{"row", e.row}, {"column", e.column}, {"value", take()}});
    }
    for (const auto& [key, vector] : keys.vectors) {
        out[key] = Json::array();
        for (std::size_t i = 0; i < vector.size(); ++i) out[key].push_back(take());
    }
    for (const auto& [key, value] : keys.scalars) out[key] = take();
    out["intermediates"] = Json::array();
    for (const Equation& e : document.intermediates)
        out["intermediates"].push_back(
            {{"name", e.left.text}, {"value", e.right.text}, {"latex", {{"name", e.left.latex}, {"value", e.right.latex}}}});
    out["sections"] = Json::parse(document_json(document));
    return json_text(out) + "\n";
}

}  // namespace

std::string equations(const ConstrainedDynamics& d, const EquationOptions& options) {
    Document document = equation_document(d, options);
    if (options.format == EquationFormat::json) return equations_json(d, options, std::move(document));
    print_document(d.graph(), document, options.format != EquationFormat::text);
    switch (options.format) {
        case EquationFormat::latex: return document_latex(document);
        case EquationFormat::markdown: return document_markdown(document);
        default: return document_text(document);
    }
}

}  // namespace appell
