// The language's entry: text to model. All problems of the text are reported at once; there is a value only when there is no
// error. No file is opened here: included files come through the loader.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/limits.hpp"
#include "base/result.hpp"
#include "model/model.hpp"

namespace appell {

struct ReadOptions {
    Limits limits;
    std::map<std::string, double> set;     // overrides of parameters, sizes, inputs and start values (x, u, x'), in SI
    std::vector<SourceFile> further = {};  // statements that are read after the model's own, as if they stood at its end
};

// The text of an included file; nothing when it cannot be read, or when it is too large to be: then its size stands there.
struct IncludedFile {
    std::optional<std::string> text;
    std::size_t too_large = 0;

    IncludedFile(std::nullopt_t) {}
    IncludedFile(std::optional<std::string> content) : text(std::move(content)) {}
    static IncludedFile beyond_limit(std::size_t bytes) {
        IncludedFile out{std::nullopt};
        out.too_large = bytes;
        return out;
    }
};

// The path is relative to the model's folder, normalised, and never leaves it.
using IncludeLoader = std::function<IncludedFile(const std::string& relative_path)>;

[[nodiscard]] Result<Model> read_model(const std::string& name, const std::string& text, const IncludeLoader& loader,
                                       const ReadOptions& options, SourceSet& sources);

}  // namespace appell
