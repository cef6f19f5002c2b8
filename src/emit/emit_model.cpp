// The files of an export. The same text serves both languages: C has it as a header and a source with static functions behind a
// prefix, C++ in one header with inline functions in a namespace.
#include <algorithm>
#include <cctype>
#include <string_view>

#include <fmt/format.h>

#include "base/error.hpp"
#include "emit/exported_model.hpp"
#include "emit/identifiers.hpp"
#include "emit/interface_text.hpp"
#include "emit/model_body.hpp"
#include "emit/runtime_text.hpp"

namespace appell {

namespace {

std::string replaced(std::string text, std::string_view from, std::string_view to) {
    for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) text.replace(at, from.size(), to);
    return text;
}

// the interface of a model that is too large for its jacobian
std::string without_jacobian(std::string text) {
    const auto cut = [&](std::string_view begin, std::string_view end) {
        const std::size_t at = text.find(begin);
        if (at == std::string::npos) return;  // in the other one of the two texts
        const std::size_t last = text.find(end, at);
        APPELL_ASSERT(last != std::string::npos, "a declaration of the jacobian has no end");
        text.erase(at, last + end.size() - at);
    };
    cut("/* y = d (q', u') / d x", "\n\n");
    cut("    using Jacobian", "\n");
    cut("    int jacobian(", "    }\n");
    return text;
}

// static functions and tables become inline ones
std::string inline_text(const std::string& text) {
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
        std::string line = text.substr(at, end - at);
        if (line.starts_with("static ")) line.replace(0, 6, "inline");
        out += line;
        at = end;
    }
    return out;
}

class Emitting {
public:
    Emitting(const ExportedModel& model, const ExportOptions& options) : m_(model), options_(options) {
        base_ = as_identifier(model.name);
        if (std::isdigit(static_cast<unsigned char>(base_[0]))) base_ = "m" + base_;
        file_ = base_ + "_model";  // no name of a file or a namespace of the standard library ends like this
    }

    std::vector<ExportedFile> c() const {
        const ModelBody body = model_body(m_, options_, "");
        return {{file_ + ".h", head("C99: this header, and " + file_ + ".c") + prefixed(c_header(body))},
                {file_ + ".c", head("C99: the code behind " + file_ + ".h") +
                                   prefixed(fmt::format("#include \"{}.h\"\n\n", file_) + c_source(body))},
                {"driver.c", driver("driver.c", ".h")},
                {"Makefile", makefile(true)},
                {"README.txt", readme(body)}};
    }

    std::vector<ExportedFile> cpp() const {
        const ModelBody body = model_body(m_, options_, "inline ");
        return {{file_ + ".hpp", head("C++17: all there is, in one header") + cpp_header(body)},
                {"driver.cpp", driver("driver.cpp", ".hpp")},
                {"Makefile", makefile(false)},
                {"README.txt", readme(body)}};
    }

    std::string in_one() const {
        const bool c = options_.language == ExportLanguage::c;
        const ModelBody body = model_body(m_, options_, c ? "" : "inline ");
        if (!c) return head("C++17, in one header", false) + cpp_header(body);
        return head("C99, in one file: what may stand in a header, then the code", false) +
               prefixed(c_header(body) + "\n" + c_source(body));
    }

private:
    [[nodiscard]] std::string c_header(const ModelBody& body) const {
        std::string guard = base_ + "_h_included";
        std::transform(guard.begin(), guard.end(), guard.begin(), [](unsigned char c) { return std::toupper(c); });
        return fmt::format("#ifndef {0}\n#define {0}\n\n#ifdef __cplusplus\nextern \"C\" {{\n#endif\n\n", guard) +
               interface_text(m_, body.work) + std::string(runtime_source("types.h")) + "\n" + table_declarations(m_) +
               interface_part("functions.h") + "\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n";
    }
    [[nodiscard]] std::string c_source(const ModelBody& body) const {
        return std::string(runtime_source("arithmetic.h")) + "\n#include <math.h>\n\n" + table_text(m_, "") + body.text;
    }
    [[nodiscard]] std::string cpp_header(const ModelBody& body) const {
        const std::string text =
            "#pragma once\n\n#include <math.h>\n\n#include <array>\n#include <cstddef>\n\n" +
            std::string(runtime_source("arithmetic.h")) + fmt::format("\nnamespace {} {{\n\n", file_) +
            interface_text(m_, body.work) + std::string(runtime_source("types.h")) + "\n" + table_text(m_, "inline ") +
            inline_text(functions_inline()) + inline_text(body.text) + "\n" + interface_part("model_class.hpp") +
            fmt::format("\n}}  // namespace {}\n\n#if defined(__clang__)\n#pragma STDC FP_CONTRACT DEFAULT\n#endif\n", file_);
        return replaced(with_prefix(text, ""), "NAMESPACE", file_);
    }
    [[nodiscard]] std::string prefixed(const std::string& text) const { return with_prefix(text, base_ + "_"); }

    [[nodiscard]] std::string interface_part(std::string_view name) const {
        std::string text(runtime_source(name));
        return m_.jacobian.program.outputs.empty() ? without_jacobian(std::move(text)) : text;
    }

    // the declarations of the interface, with their comments
    [[nodiscard]] std::string functions_inline() const {
        std::string text = interface_part("functions.h");
        return replaced(replaced(text, "\nint MODEL_", "\ninline int MODEL_"), "\nvoid MODEL_", "\ninline void MODEL_") + "\n";
    }

    [[nodiscard]] std::string head(const std::string& what, bool in_folder = true) const {
        std::string out = fmt::format("/* {}{}\n", as_comment(m_.name), m_.title.empty() ? "" : ": " + as_comment(m_.title));
        out += fmt::format("   {}. Exported by Appell {}, formulation {}{}. */\n", what, m_.version, m_.formulation,
                           in_folder ? "; see README.txt" : "");
        return out;
    }

    [[nodiscard]] std::string driver(std::string_view name, const char* ending) const {
        std::string text(runtime_source(name));
        text = replaced(std::move(text), "MODEL_HEADER", file_ + ending);
        text = replaced(std::move(text), "NAMESPACE", file_);
        text = replaced(std::move(text), "PLAN_FROM", as_number(m_.from));
        text = replaced(std::move(text), "PLAN_UNTIL", as_number(m_.until));
        text = replaced(std::move(text), "PLAN_EVERY", as_number(m_.every));
        text = replaced(std::move(text), "PLAN_RTOL", as_number(m_.rtol));
        text = replaced(std::move(text), "PLAN_ATOL", as_number(m_.atol));
        return head("A program that uses it") + prefixed(text);
    }

    [[nodiscard]] std::string made() const { return fmt::format("# Exported by Appell {}.\n", m_.version); }

    // NOTE: no contraction, so that every compiler gives the interpreter's results to the last bit
    [[nodiscard]] std::string makefile(bool c) const {
        if (c)
            return fmt::format(
                "{1}CC = cc\nCFLAGS = -std=c99 -O2 -ffp-contract=off -Wall -Wextra\n\ndriver: driver.o {0}.o\n\t$(CC) -o $@ "
                "driver.o "
                "{0}.o -lm\n\ndriver.o: driver.c {0}.h\n{0}.o: {0}.c {0}.h\n\nclean:\n\trm -f driver driver.o {0}.o\n",
                file_, made());
        return fmt::format(
            "{1}CXX = c++\nCXXFLAGS = -std=c++17 -O2 -ffp-contract=off -Wall -Wextra\n\ndriver: driver.cpp {0}.hpp\n\t$(CXX) "
            "$(CXXFLAGS) "
            "-o $@ driver.cpp -lm\n\nclean:\n\trm -f driver\n",
            file_, made());
    }

    [[nodiscard]] std::string readme(const ModelBody& body) const {
        const bool c = options_.language == ExportLanguage::c;
        const double bytes = 8.0 * static_cast<double>(body.work.numbers) + 4.0 * static_cast<double>(body.work.indices);
        std::string out = fmt::format("{}{}\nExported by Appell {}, formulation {}.\n\n", m_.name,
                                      m_.title.empty() ? "" : ": " + m_.title, m_.version, m_.formulation);
        out += c ? fmt::format(
                       "{0}.h    the interface: names, units, default values, functions\n{0}.c    the code, C99\ndriver.c   "
                       "integrates it and prints a table: make && ./driver\n\n",
                       file_)
                 : fmt::format(
                       "{0}.hpp  everything, C++17, in namespace {0}; begin with class Model\ndriver.cpp   integrates it and "
                       "prints a table: make && ./driver\n\n",
                       file_);
        out +=
            "Units are SI. Parameters are arguments of every call and can be changed between calls. There are no variables "
            "outside\n"
            "the workspace, nothing is allocated, and any number of threads can use the code, each with a workspace of its own";
        out += fmt::format(" ({:.0f} bytes).\n", bytes);
        out +=
            "The functions give the numbers that Appell itself computes with, to the last bit, where the same mathematical "
            "library is\n"
            "used and products and sums are not fused (-ffp-contract=off); within round-off only for the jacobian, and where "
            "rows of a\n"
            "large system depend on others.\n";
        for (const std::string& note : m_.notes) out += "\n" + note + "\n";
        return out;
    }

    const ExportedModel& m_;
    const ExportOptions& options_;
    std::string base_, file_;
};

}  // namespace

std::vector<ExportedFile> emit_model(const ExportedModel& model, const ExportOptions& options) {
    const Emitting emitting(model, options);
    return options.language == ExportLanguage::c ? emitting.c() : emitting.cpp();
}

std::string emit_model_text(const ExportedModel& model, const ExportOptions& options) {
    return Emitting(model, options).in_one();
}

}  // namespace appell
