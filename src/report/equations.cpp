#include "report/equations.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "expr/print.hpp"
#include "report/force_lines.hpp"
#include "report/latex_words.hpp"

namespace appell {

namespace {

struct Equation {
    NodeId left, right;
};

struct Section {
    std::string title;    // words
    std::string formula;  // what it is, in text
    std::string formula_latex;
    std::vector<Equation> equations;
};

// the speeds' definitions; one print for all, as each print costs a look at every symbol
std::vector<std::string> speed_definitions(const ConstrainedDynamics& d, Notation notation) {
    std::vector<NodeId> roots;
    for (const Speed& s : d.model->speeds) roots.push_back(s.definition);
    PrintOptions options;
    options.notation = notation;
    options.max_length = 10'000;
    return print(d.graph(), roots, options).expressions;
}

// speeds that are the rates of the coordinates need no equations q' = u
bool speeds_are_rates(const ConstrainedDynamics& d) {
    const Model& m = *d.model;
    if (m.speeds.size() != m.coordinates.size()) return false;
    for (std::size_t i = 0; i < m.speeds.size(); ++i)
        if (m.speeds[i].name != m.coordinates[i].name + "'" ||
            d.kinematics->coordinate_rates()[i] != d.graph().symbol_node(m.speeds[i].u))
            return false;
    return true;
}

// all equations as pairs of expressions, in the order they are read
std::vector<Section> sections_of(const ConstrainedDynamics& d) {
    Graph& g = d.graph();
    const Model& m = *d.model;
    std::vector<Section> out;

    if (!speeds_are_rates(d)) {
        Section kinematical{"Kinematical equations", "q' = K u + k", "\\dot q = K u + k", {}};
        for (std::size_t i = 0; i < m.coordinates.size(); ++i)
            kinematical.equations.push_back({g.symbol_node(m.coordinates[i].rate), d.kinematics->coordinate_rates()[i]});
        out.push_back(std::move(kinematical));
    }

    // rows of M u' = f + A' lambda; the other triangle of M by symmetry
    const bool constrained = !d.rows.empty();
    Section dynamical{"Dynamical equations",
                      constrained ? "M u' = f + A^T lambda" : "M u' = f",
                      constrained ? "M \\dot u = f + A^{T} \\lambda" : "M \\dot u = f",
                      {}};
    std::vector<std::vector<NodeId>> left(m.speeds.size()), right(m.speeds.size());
    for (const SparseEntry& e : d.M.entries) {
        left[e.row].push_back(g.mul(e.value, g.symbol_node(m.speeds[e.column].rate)));
        if (e.row != e.column) left[e.column].push_back(g.mul(e.value, g.symbol_node(m.speeds[e.row].rate)));
    }
    for (std::size_t i = 0; i < m.speeds.size(); ++i) right[i].push_back(d.f[i]);
    std::vector<std::vector<NodeId>> rows(d.rows.size());
    for (const SparseEntry& e : d.A.entries) {
        right[e.column].push_back(g.mul(g.symbol_node(d.rows[e.row].multiplier), e.value));
        rows[e.row].push_back(g.mul(e.value, g.symbol_node(m.speeds[e.column].rate)));
    }
    for (std::size_t i = 0; i < m.speeds.size(); ++i) dynamical.equations.push_back({g.sum(left[i]), g.sum(right[i])});
    out.push_back(std::move(dynamical));

    if (constrained) {
        Section accelerations{"Constraints at the acceleration level", "A u' = b", "A \\dot u = b", {}};
        for (std::size_t i = 0; i < d.rows.size(); ++i) accelerations.equations.push_back({g.sum(rows[i]), d.b[i]});
        out.push_back(std::move(accelerations));
    }
    Section energies{"Energies", "", "", {}};
    energies.equations.push_back({g.symbol_node(m.kinetic_energy), d.kinetic_energy});
    if (!g.is_constant(d.potential_energy, 0))
        energies.equations.push_back({g.symbol_node(m.potential_energy), d.potential_energy});
    out.push_back(std::move(energies));
    return out;
}

// every expression of the sections, printed with shared intermediates: left, right, left, right, ...
Printed print_sections(const Graph& g, const std::vector<Section>& sections, Notation notation) {
    std::vector<NodeId> roots;
    for (const Section& section : sections)
        for (const Equation& e : section.equations) {
            roots.push_back(e.left);
            roots.push_back(e.right);
        }
    PrintOptions options;
    options.notation = notation;
    return print(g, roots, options);
}

std::string level_words(Level level) {
    return level == Level::position ? "position level" : level == Level::velocity ? "velocity level" : "acceleration level";
}

std::vector<std::string> names_of(const Model& m) {
    std::vector<std::string> names;
    for (const Coordinate& c : m.coordinates) names.push_back(c.name);
    return names;
}

}  // namespace

std::string equations_text(const ConstrainedDynamics& d) {
    const Model& m = *d.model;
    Graph& g = d.graph();
    std::string out = m.title.empty() ? m.name + "\n" : fmt::format("{}: {}\n", m.name, m.title);
    out += fmt::format("\ncoordinates  {}\n", fmt::join(names_of(m), ", "));
    if (speeds_are_rates(d)) {
        out += "speeds       the rates of the coordinates\n";
    } else {
        const std::vector<std::string> definitions = speed_definitions(d, Notation::text);
        for (std::size_t i = 0; i < m.speeds.size(); ++i)
            out += fmt::format("{}{} = {}\n", i == 0 ? "speeds       " : "             ", m.speeds[i].name, definitions[i]);
    }
    std::size_t last = m.constraints.size();
    for (const ConstraintRow& row : d.rows) {
        if (row.constraint == last) continue;  // one line for the components of a vector equation
        last = row.constraint;
        const Constraint& c = m.constraints[last];
        out += fmt::format("constraint   {}: {} ({})\n", c.name, c.text.empty() ? to_text(g, c.phi) + " = 0" : c.text,
                           level_words(row.level));
    }
    if (const std::string forces = constraint_forces_text(d); !forces.empty()) out += "\nConstraint forces\n" + forces;
    const std::vector<Section> sections = sections_of(d);
    const Printed printed = print_sections(g, sections, Notation::text);
    if (!printed.definitions.empty()) {
        out += "\nIntermediates\n";
        for (const auto& [name, expression] : printed.definitions) out += fmt::format("  {} = {}\n", name, expression);
    }
    std::size_t next = 0;
    for (const Section& section : sections) {
        out += fmt::format("\n{}{}\n", section.title, section.formula.empty() ? "" : ",  " + section.formula);
        for (std::size_t i = 0; i < section.equations.size(); ++i, next += 2)
            out += fmt::format("  {} = {}\n", printed.expressions[next], printed.expressions[next + 1]);
    }
    return out;
}

std::string equations_latex(const ConstrainedDynamics& d) {
    const Model& m = *d.model;
    Graph& g = d.graph();
    std::string out =
        "\\documentclass[a4paper]{article}\n\\usepackage[utf8]{inputenc}\n\\usepackage[margin=25mm]{geometry}\n\\usepackage{"
        "amsmath,amssymb}\n\\allowdisplaybreaks\n\\begin{document}\n";
    out += fmt::format("\\section*{{{}}}\n", latex_words(m.title.empty() ? m.name : m.title));
    std::vector<std::string> coordinates;
    for (const Coordinate& c : m.coordinates) coordinates.push_back("$" + latex_name(c.name) + "$");
    if (speeds_are_rates(d)) {
        out +=
            fmt::format("Generalized coordinates: {}; their rates are the generalized speeds.\n\n", fmt::join(coordinates, ", "));
    } else {
        const std::vector<std::string> definitions = speed_definitions(d, Notation::latex);
        std::vector<std::string> lines;
        for (std::size_t i = 0; i < m.speeds.size(); ++i)
            lines.push_back(fmt::format("  {} &= {}", latex_name(m.speeds[i].name), definitions[i]));
        out += fmt::format("Generalized coordinates: {}. Generalized speeds:\n\\begin{{align*}}\n{}\n\\end{{align*}}\n",
                           fmt::join(coordinates, ", "), fmt::join(lines, " \\\\\n"));
    }
    if (!d.rows.empty()) {
        out += "Constraints, as stated:\n\\begin{align*}\n";
        std::vector<std::string> lines;
        std::size_t last = m.constraints.size();
        for (const ConstraintRow& row : d.rows) {
            if (row.constraint == last) continue;
            last = row.constraint;
            const Constraint& c = m.constraints[last];
            lines.push_back(fmt::format("  {} &= {} && \\text{{({}, {})}}", to_latex(g, c.phi),
                                        g.is_vector(c.phi) ? "\\mathbf 0" : "0", latex_words(c.name), level_words(row.level)));
        }
        out += fmt::format("{}\n\\end{{align*}}\n", fmt::join(lines, " \\\\\n"));
    }
    out += constraint_forces_latex(d);
    const std::vector<Section> sections = sections_of(d);
    const Printed printed = print_sections(g, sections, Notation::latex);
    if (!printed.definitions.empty()) {
        std::vector<std::string> lines;
        for (const auto& [name, expression] : printed.definitions) lines.push_back(fmt::format("  {} &= {}", name, expression));
        out += fmt::format("With the abbreviations\n\\begin{{align*}}\n{}\n\\end{{align*}}\n", fmt::join(lines, " \\\\\n"));
    }
    std::size_t next = 0;
    for (const Section& section : sections) {
        out += section.formula_latex.empty() ? fmt::format("{}:\n", section.title)
                                             : fmt::format("{}, ${}$:\n", section.title, section.formula_latex);
        std::vector<std::string> lines;
        for (std::size_t i = 0; i < section.equations.size(); ++i, next += 2)
            lines.push_back(fmt::format("  {} &= {}", printed.expressions[next], printed.expressions[next + 1]));
        out += fmt::format("\\begin{{align*}}\n{}\n\\end{{align*}}\n", fmt::join(lines, " \\\\\n"));
    }
    return out + "\\end{document}\n";
}

std::string equations_json(const ConstrainedDynamics& d) {
    using Json = nlohmann::ordered_json;
    const Model& m = *d.model;
    Graph& g = d.graph();
    // every scalar in one print, so that intermediates are shared
    std::vector<NodeId> roots;
    const auto place = [&](NodeId id) {
        roots.push_back(id);
        return roots.size() - 1;
    };
    struct Pending {
        std::size_t root;
        Json::json_pointer at;
    };
    std::vector<Pending> pending;
    Json out;
    out["schema"] = 1;
    out["system"] = m.name;
    out["title"] = m.title;
    out["formulation"] = "multipliers";
    out["coordinates"] = Json::array();
    for (const Coordinate& c : m.coordinates) out["coordinates"].push_back(c.name);
    out["speeds"] = Json::array();
    const std::vector<std::string> definitions = speed_definitions(d, Notation::text);
    for (std::size_t i = 0; i < m.speeds.size(); ++i)
        out["speeds"].push_back({{"name", m.speeds[i].name}, {"definition", definitions[i]}});
    out["parameters"] = Json::object();
    for (const Parameter& p : m.parameters) out["parameters"][p.name] = p.value;
    out["constraints"] = Json::array();
    for (const ConstraintRow& row : d.rows)
        out["constraints"].push_back({{"name", row.name},
                                      {"level", level_words(row.level)},
                                      {"text", m.constraints[row.constraint].text},
                                      {"multiplier", g.symbol(row.multiplier).name}});
    out["constraint_forces"] = Json::parse(constraint_forces_json(d));
    const auto vector = [&](const char* key, std::span<const NodeId> values) {
        out[key] = Json::array();
        for (std::size_t i = 0; i < values.size(); ++i) {
            out[key].push_back("");
            pending.push_back({place(values[i]), Json::json_pointer(fmt::format("/{}/{}", key, i))});
        }
    };
    const auto matrix = [&](const char* key, const SparseMatrix& a) {
        out[key] = {{"rows", a.rows}, {"columns", a.columns}, {"entries", Json::array()}};
        for (std::size_t i = 0; i < a.entries.size(); ++i) {
            out[key]["entries"].push_back({{"row", a.entries[i].row}, {"column", a.entries[i].column}, {"value", ""}});
            pending.push_back({place(a.entries[i].value), Json::json_pointer(fmt::format("/{}/entries/{}/value", key, i))});
        }
    };
    matrix("K", d.kinematics->K());
    vector("k", d.kinematics->k());
    matrix("M_lower", d.M);
    vector("f", d.f);
    matrix("A", d.A);
    vector("b", d.b);
    out["kinetic_energy"] = "";
    pending.push_back({place(d.kinetic_energy), Json::json_pointer("/kinetic_energy")});
    out["potential_energy"] = "";
    pending.push_back({place(d.potential_energy), Json::json_pointer("/potential_energy")});
    const Printed printed = print(g, roots);
    for (const Pending& p : pending) out[p.at] = printed.expressions[p.root];
    out["intermediates"] = Json::array();
    for (const auto& [name, expression] : printed.definitions)
        out["intermediates"].push_back({{"name", name}, {"value", expression}});
    return out.dump(2) + "\n";
}

}  // namespace appell
