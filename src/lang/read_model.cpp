// Files of a model, the order of the stages, and the number of problems shown.
#include "lang/read_model.hpp"

#include <algorithm>
#include <iterator>
#include <limits>

#include <fmt/format.h>

#include "lang/elaborator.hpp"
#include "lang/parser.hpp"

namespace appell {

namespace {

// The path from the model's folder, with `.` and `..` worked out; nothing when it leaves the folder.
std::optional<std::string> confined_path(const std::string& folder, const std::string& written) {
    const bool drive = written.size() > 1 && written[1] == ':';
    if (written.empty() || written.front() == '/' || drive || written.find('\\') != std::string::npos) return {};
    std::vector<std::string> steps;
    std::string step;
    for (const char c : folder + written + "/") {
        if (c != '/') {
            step += c;
            continue;
        }
        if (step == "..") {
            if (steps.empty()) return {};
            steps.pop_back();
        } else if (!step.empty() && step != ".") {
            steps.push_back(step);
        }
        step.clear();
    }
    if (steps.empty()) return {};
    return fmt::format("{}", fmt::join(steps, "/"));
}

class FileReader {
public:
    FileReader(const IncludeLoader& loader, const Limits& limits, SourceSet& sources, Syntax& syntax, Diagnostics& diagnostics)
        : loader_(loader), limits_(limits), sources_(sources), syntax_(syntax), diagnostics_(diagnostics) {}

    // Statements of the file and, in their places, of the files it includes; then those that come from elsewhere. Files being
    // read are kept on an explicit stack.
    void run(const std::string& name, const std::string& text, const std::vector<SourceFile>& further) {
        std::vector<Statement> out;
        open(name, name.substr(name.rfind('/') + 1), text);
        if (!files_.empty() && files_.front().statements.empty() && diagnostics_.empty())
            diagnostics_.add({Code::E0008,
                              {files_.front().file, 0, 0},
                              "the file is empty",
                              {},
                              "`system NAME` and the statements of a model",
                              {}});
        take_statements(out);
        for (const SourceFile& file : further) {
            open(file.name, file.name, file.text);
            take_statements(out);
        }
        syntax_.statements = std::move(out);
    }

private:
    struct File {
        std::string path;  // from the model's folder
        std::uint32_t file;
        std::vector<Statement> statements;
        std::size_t next = 0;
    };

    void take_statements(std::vector<Statement>& out) {
        while (!files_.empty()) {
            File& file = files_.back();
            if (file.next == file.statements.size()) {
                files_.pop_back();
                continue;
            }
            Statement statement = std::move(file.statements[file.next++]);
            if (statement.kind == StatementKind::include)
                include(statement);
            else
                out.push_back(std::move(statement));
        }
    }

    void open(const std::string& name, const std::string& path, const std::string& text, Span from = {}) {
        if (!fits(text.size(), from)) return;
        const std::uint32_t file = sources_.add(name, text);
        syntax_.statements.clear();
        parse_file(sources_.file(file).text, file, limits_, syntax_, diagnostics_);
        files_.push_back({path, file, std::move(syntax_.statements), 0});
        syntax_.statements.clear();
    }

    // is reported once; nothing is read after it
    bool fits(std::size_t bytes, Span from) {
        if (bytes_ > limits_.source_bytes) return false;
        bytes_ += std::min(bytes, std::numeric_limits<std::size_t>::max() - bytes_);
        if (bytes_ <= limits_.source_bytes) return true;
        diagnostics_.add({Code::E0005,
                          from,
                          "the files of the model are too large",
                          fmt::format("{} bytes", bytes_),
                          fmt::format("at most {} bytes", limits_.source_bytes),
                          {}});
        return false;
    }

    void include(const Statement& statement) {
        if (bytes_ > limits_.source_bytes) return;
        const Part& part = statement.parts.front();
        const std::string& here = files_.back().path;
        const std::size_t slash = here.rfind('/');
        const auto path = confined_path(slash == std::string::npos ? "" : here.substr(0, slash + 1), part.word);
        if (!path) {
            diagnostics_.add({Code::E0002,
                              part.span,
                              "an included file must lie in the model's folder or below it",
                              part.word,
                              "a relative path with `/`, such as \"parts/wheel.appell\"",
                              {}});
            return;
        }
        for (const File& file : files_)
            if (file.path == *path) {
                diagnostics_.add({Code::E0003, part.span, fmt::format("`{}` includes itself", *path), {}, {}, {}});
                return;
            }
        if (files_.size() > limits_.include_depth) {
            diagnostics_.add({Code::E0004,
                              part.span,
                              "files are included too deeply",
                              {},
                              fmt::format("at most {} levels", limits_.include_depth),
                              {}});
            return;
        }
        const IncludedFile file = loader_ ? loader_(*path) : IncludedFile(std::nullopt);
        if (file.too_large > 0) {
            (void)fits(file.too_large, part.span);
            return;
        }
        if (!file.text) {
            diagnostics_.add({Code::E0001, part.span, fmt::format("the file `{}` can not be read", *path), {}, {}, {}});
            return;
        }
        open(*path, *path, *file.text, part.span);
    }

    const IncludeLoader& loader_;
    const Limits& limits_;
    SourceSet& sources_;
    Syntax& syntax_;
    Diagnostics& diagnostics_;
    std::vector<File> files_;
    std::size_t bytes_ = 0;
};

// in the order of the text, those without a place first; the ones beyond the limit are counted
Diagnostics ordered(const Diagnostics& all, std::size_t limit) {
    std::vector<Diagnostic> list = all.all();
    std::stable_sort(list.begin(), list.end(), [](const Diagnostic& a, const Diagnostic& b) {
        if (a.span.known() != b.span.known()) return !a.span.known();
        return std::pair(a.span.file, a.span.begin) < std::pair(b.span.file, b.span.begin);
    });
    Diagnostics out;
    const std::size_t shown = std::min(list.size(), std::max<std::size_t>(limit, 1));
    // an error is never hidden behind warnings alone
    const auto is_error = [](const Diagnostic& d) { return d.severity() == Severity::error; };
    const auto first_error = std::find_if(list.begin(), list.end(), is_error);
    if (first_error != list.end() && static_cast<std::size_t>(first_error - list.begin()) >= shown)
        std::iter_swap(list.begin() + static_cast<std::ptrdiff_t>(shown) - 1, first_error);
    for (std::size_t i = 0; i < shown; ++i) out.add(std::move(list[i]));
    if (list.size() > shown)
        out.add({Code::N0001,
                 {},
                 fmt::format("{} further problem{} not shown", list.size() - shown, list.size() - shown == 1 ? " is" : "s are"),
                 {},
                 {},
                 {}});
    return out;
}

}  // namespace

Result<Model> read_model(const std::string& name, const std::string& text, const IncludeLoader& loader,
                         const ReadOptions& options, SourceSet& sources, ValueUses& uses) {
    Result<Model> result;
    Diagnostics diagnostics;
    Syntax syntax;
    FileReader(loader, options.limits, sources, syntax, diagnostics).run(name, text, options.further);
    const bool readable = !diagnostics.has(Code::E0005) && !diagnostics.has(Code::E0006) && !diagnostics.has(Code::E0007) &&
                          !diagnostics.has(Code::E0008) && !diagnostics.has(Code::E0009);
    std::optional<Model> model;
    if (readable) {
        try {
            Elaborator elaborator(syntax, sources, options, diagnostics);
            model = elaborator.run();
            uses = elaborator.value_uses();
        } catch (const NodeLimitReached& limit) {
            diagnostics.add({Code::E0012, {}, limit.what(), {}, {}, {}});
        }
    }
    result.diagnostics = ordered(diagnostics, options.limits.diagnostics);
    if (!result.diagnostics.has_errors()) result.value = std::move(model);
    return result;
}

Result<Model> read_model(const std::string& name, const std::string& text, const IncludeLoader& loader,
                         const ReadOptions& options, SourceSet& sources) {
    ValueUses uses;
    return read_model(name, text, loader, options, sources, uses);
}

}  // namespace appell
