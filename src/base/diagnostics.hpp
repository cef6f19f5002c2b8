// Diagnostics: what is wrong with a model or a run, as data. Each kind has a stable code with a title and an explanation in
// one table (diagnostic_codes.def); `appell explain CODE` prints it. Stages collect all they find and go on where they can.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/source.hpp"

namespace appell {

enum class Severity { note, warning, error };

// one enumerator for each row of the table, named by its code: Code::E0101
enum class Code {
#define APPELL_CODE(code, title, explanation) code,
#include "base/diagnostic_codes.def"
#undef APPELL_CODE
};

struct CodeInfo {
    Code code;
    std::string_view name;  // "E0101"
    std::string_view title;
    std::string_view explanation;
};

[[nodiscard]] std::span<const CodeInfo> all_codes();
[[nodiscard]] const CodeInfo& info(Code code);
[[nodiscard]] std::optional<Code> find_code(std::string_view name);

struct Diagnostic {
    Code code;
    Span span;             // may be unknown
    std::string message;   // what is wrong, one sentence without the final stop
    std::string found;     // what was found, if it helps
    std::string expected;  // what was expected instead, if it helps
    std::string hint;      // what to try

    [[nodiscard]] Severity severity() const;  // from the code's letter: E, W or N
};

class Diagnostics {
public:
    Diagnostic& add(Diagnostic diagnostic);
    void append(const Diagnostics& other);

    [[nodiscard]] const std::vector<Diagnostic>& all() const { return all_; }
    [[nodiscard]] bool empty() const { return all_.empty(); }
    [[nodiscard]] bool has_errors() const;
    [[nodiscard]] bool has(Code code) const;
    [[nodiscard]] std::size_t error_count() const;

private:
    std::vector<Diagnostic> all_;
};

// One diagnostic as text: header, place, the line with a caret under the span, found, expected, hint.
[[nodiscard]] std::string render(const Diagnostic& diagnostic, const SourceSet& sources);
[[nodiscard]] std::string render(const Diagnostics& diagnostics, const SourceSet& sources);

// The nearest of the candidates to a misspelt name, for hints; empty when none is near.
[[nodiscard]] std::string nearest_name(std::string_view name, std::span<const std::string> candidates);

}  // namespace appell
