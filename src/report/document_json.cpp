#include <nlohmann/json.hpp>

#include "report/document.hpp"

#include "report/json_text.hpp"

namespace appell {

namespace {

using Json = nlohmann::ordered_json;

Json formula(const Math& math) { return {{"text", math.text}, {"latex", math.latex}}; }

Json cell(const Phrase& phrase) {
    if (const Math* math = std::get_if<Math>(&phrase)) return formula(*math);
    return {{"words", std::get<std::string>(phrase)}};
}

Json equations(const Equations& list) {
    Json out = Json::array();
    for (const Equation& e : list) {
        Json entry{{"left", formula(e.left)}, {"relation", e.relation}, {"right", formula(e.right)}};
        // what is on the left is a name for what is on the right, rather than an expression in the model's symbols
        entry["defines"] = !e.left.node.valid();
        out.push_back(std::move(entry));
    }
    return out;
}

struct Renderer {
    Json operator()(const Sentence& sentence) const {
        std::string text;
        for (const Phrase& phrase : sentence)
            text += std::holds_alternative<Math>(phrase) ? std::get<Math>(phrase).text : std::get<std::string>(phrase);
        return {{"kind", "sentence"}, {"text", text}};
    }
    Json operator()(const Equations& list) const { return {{"kind", "equations"}, {"equations", equations(list)}}; }
    Json operator()(const Table& table) const {
        Json out{{"kind", "table"}, {"header", Json::array()}, {"rows", Json::array()}};
        for (const Phrase& phrase : table.header) out["header"].push_back(cell(phrase));
        for (const auto& row : table.rows) {
            Json cells = Json::array();
            for (const Phrase& phrase : row) cells.push_back(cell(phrase));
            out["rows"].push_back(std::move(cells));
        }
        return out;
    }
    Json operator()(const Matrix& m) const {
        Json out{
            {"kind", "matrix"}, {"name", formula(m.name)}, {"rows", m.rows}, {"columns", m.columns}, {"entries", Json::array()}};
        for (const Matrix::Entry& e : m.entries)
            out["entries"].push_back({{"row", e.row}, {"column", e.column}, {"text", e.value.text}, {"latex", e.value.latex}});
        return out;
    }
};

}  // namespace

std::string document_json(const Document& document) {
    Json out = Json::array();
    for (const Section& section : document.sections) {
        Json entry{{"title", section.title}};
        if (!section.formula.text.empty()) entry["formula"] = formula(section.formula);
        entry["intermediates"] = equations(section.intermediates);
        entry["blocks"] = Json::array();
        for (const Block& block : section.blocks) entry["blocks"].push_back(std::visit(Renderer{}, block));
        out.push_back(std::move(entry));
    }
    return json_text(out);
}

}  // namespace appell
