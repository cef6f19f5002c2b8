#include "library/messages.hpp"

#include "base/diagnostic_reference.hpp"

namespace appell {

std::vector<Message> messages_of(const Diagnostics& diagnostics, const SourceSet& sources, std::size_t first) {
    std::vector<Message> out;
    for (std::size_t i = first; i < diagnostics.all().size(); ++i) {
        const Diagnostic& d = diagnostics.all()[i];
        Message message;
        message.kind = d.severity() == Severity::error     ? Message::Kind::error
                       : d.severity() == Severity::warning ? Message::Kind::warning
                                                           : Message::Kind::note;
        message.code = info(d.code).name;
        message.text = d.message;
        if (d.span.known()) {
            const LineColumn at = sources.locate(d.span.file, d.span.begin);
            message.file = sources.file(d.span.file).name;
            message.line = at.line;
            message.column = at.column;
        }
        message.found = d.found;
        message.expected = d.expected;
        message.hint = d.hint;
        message.shown = render(d, sources);
        out.push_back(std::move(message));
    }
    return out;
}

std::string explanation(std::string_view code) {
    const std::optional<Code> found = find_code(code);
    return found ? std::string(info(*found).explanation) + "\n\n" + std::string(remedy(*found)) : std::string();
}

}  // namespace appell
