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

// Given a path relative to the model's folder, the text of the file, or nothing when it can not be read. The path is relative,
// normalised, and never leaves the folder.
using IncludeLoader = std::function<std::optional<std::string>(const std::string& relative_path)>;

[[nodiscard]] Result<Model> read_model(const std::string& name, const std::string& text, const IncludeLoader& loader,
                                       const ReadOptions& options, SourceSet& sources);

}  // namespace appell
