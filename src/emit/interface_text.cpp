#include "emit/interface_text.hpp"

#include <string_view>

#include <fmt/format.h>

#include "emit/identifiers.hpp"

namespace appell {

namespace {

struct Category {
    const char* count;   // name of the number of entries
    const char* letter;  // of the indices
    const char* table;   // name of the table
    const char* comment;
    const std::vector<ExportedEntry>* entries;
};

std::vector<ExportedEntry> event_entries(const ExportedModel& m) {
    std::vector<ExportedEntry> out;
    for (const ExportedEvent& e : m.events)
        out.push_back({e.name, "", static_cast<double>(e.passage), e.text + (e.stop ? " (stops)" : "")});
    return out;
}

template <class Visit>
void for_each_category(const ExportedModel& m, Visit visit) {
    const std::vector<ExportedEntry> events = event_entries(m);
    for (const Category& c :
         {Category{"STATES", "x", "state_table", "the state x: coordinates q, then speeds u; values: the start", &m.states},
          Category{"PARAMETERS", "p", "parameter_table", "parameters p; values: those of the model", &m.parameters},
          Category{"ROWS", "a", "row_table", "constraint rows of A and b", &m.rows},
          Category{"RESIDUALS", "r", "residual_table", "residuals of the constraints: of positions, then of velocities",
                   &m.residuals},
          Category{"MULTIPLIERS", "l", "multiplier_table", "multipliers, then magnitudes of actuators", &m.multipliers},
          Category{"FORCES", "f", "force_table", "what keeps the constraints, along the Newtonian axes", &m.forces},
          Category{"OUTPUTS", "o", "output_table", "outputs of the model", &m.outputs},
          Category{"EVENTS", "e", "event_table", "event functions; values: -1 falling, 1 rising, 0 either passage counts",
                   &events}})
        visit(c);
}

std::string unit_words(const ExportedEntry& e) { return e.unit.empty() ? "" : e.unit == "1" ? "no unit" : e.unit; }

}  // namespace

std::string interface_text(const ExportedModel& m, const WorkSize& work) {
    std::string out = "/* how many there are of each */\nenum {\n";
    out += fmt::format("    MODEL_COORDINATES = {},\n    MODEL_SPEEDS = {},\n", m.coordinates, m.speeds);
    for_each_category(m, [&](const Category& c) { out += fmt::format("    MODEL_{} = {},\n", c.count, c.entries->size()); });
    out += fmt::format("    MODEL_EVENT_SETS = {},\n", m.event_sets.output_slots.size());
    out += fmt::format("    MODEL_WORK_NUMBERS = {},\n    MODEL_WORK_INDICES = {}\n}};\n\n", work.numbers, work.indices);
    for_each_category(m, [&](const Category& c) {
        if (c.entries->empty()) return;
        out += fmt::format("/* {} */\nenum {{\n", c.comment);
        IdentifierSet identifiers;
        for (std::size_t i = 0; i < c.entries->size(); ++i) {
            const ExportedEntry& e = (*c.entries)[i];
            std::string words = e.name;
            if (const std::string unit = unit_words(e); !unit.empty()) words += ", " + unit;
            if (!e.note.empty()) words += "; " + e.note;
            out += fmt::format("    MODEL_{}_{} = {}{} /* {} */\n", c.letter, identifiers.add(e.name), i,
                               i + 1 < c.entries->size() ? "," : "", as_comment(words));
        }
        out += "};\n\n";
    });
    out +=
        "typedef struct {\n    const char *name; /* as in the model */\n    const char *unit; /* SI; empty where the model does "
        "not "
        "say */\n    double value;\n} MODEL_entry;\n\n";
    return out;
}

std::string table_declarations(const ExportedModel& m) {
    std::string out = "/* each ends with an entry without a name */\n";
    for_each_category(m, [&](const Category& c) {
        out += fmt::format("extern const MODEL_entry MODEL_{}[MODEL_{} + 1];\n", c.table, c.count);
    });
    return out + "\n";
}

std::string table_text(const ExportedModel& m, const std::string& storage) {
    std::string out;
    for_each_category(m, [&](const Category& c) {
        out += fmt::format("{}const MODEL_entry MODEL_{}[MODEL_{} + 1] = {{\n", storage, c.table, c.count);
        for (const ExportedEntry& e : *c.entries)
            out += fmt::format("    {{{}, {}, {}}},\n", as_literal(e.name), as_literal(e.unit), as_number(e.value));
        out += "    {0, 0, 0}};\n\n";
    });
    return out;
}

}  // namespace appell
