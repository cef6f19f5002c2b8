#include <exception>

#include <fmt/format.h>

#include "lang/format.hpp"
#include "lang/read_model.hpp"
#include "support/examine.hpp"

namespace appell::attack {

namespace {

std::string read_twice(const std::string& text) {
    const auto no_file = [](const std::string&) { return std::nullopt; };
    ReadOptions options;
    options.limits.source_bytes = 100'000;
    options.limits.statements = 2'000;
    options.limits.family_size = 200;
    options.limits.nodes = 100'000;
    SourceSet sources;
    const Result<Model> model = read_model("model.appell", text, no_file, options, sources);
    if (const std::string strange = strange_message(model.diagnostics, sources); !strange.empty()) return "read: " + strange;
    if (!model.ok() && !model.diagnostics.has_errors()) return "read: no answer, and no error that says why";

    SourceSet once_sources, twice_sources, again_sources;
    const Result<std::string> once = format_model("model.appell", text, once_sources);
    if (const std::string strange = strange_message(once.diagnostics, once_sources); !strange.empty())
        return "format: " + strange;
    if (!once.ok()) return once.diagnostics.has_errors() ? "" : "format: no answer, and no error that says why";
    const Result<std::string> twice = format_model("model.appell", *once, twice_sources);
    if (!twice.ok()) return "format: its own text is refused";
    if (*twice != *once) return "format: its own text is laid out in another way";
    // another layout is the same model
    const Result<Model> again = read_model("model.appell", *once, no_file, options, again_sources);
    if (again.ok() != model.ok()) return "format: its text is another model";
    if (model.ok() && again->graph->size() != model.value->graph->size()) return "format: its text has other expressions";
    return "";
}

}  // namespace

std::string strange_message(const Diagnostics& diagnostics, const SourceSet& sources) {
    for (const Diagnostic& one : diagnostics.all()) {
        if (one.message.empty()) return fmt::format("{} says nothing", info(one.code).name);
        if (one.code == Code::E0882) return "an internal error: " + one.message;
        if (one.span.known() && (one.span.file >= sources.size() || one.span.begin > one.span.end ||
                                 one.span.end > sources.file(one.span.file).text.size()))
            return fmt::format("{} points outside the text", info(one.code).name);
    }
    (void)render(diagnostics, sources);
    return "";
}

std::string examine_text(const std::string& text) {
    try {
        return read_twice(text);
    } catch (const std::exception& problem) {
        return fmt::format("text: exception {}", problem.what());
    }
}

}  // namespace appell::attack
