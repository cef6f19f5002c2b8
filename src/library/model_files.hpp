// Model files on disk: reading, and includes confined to the model's folder.
#pragma once

#include <iosfwd>
#include <string>

#include "pipeline/pipeline.hpp"

namespace appell {

// The text of the file with a loader for its includes; a file that can not be read, or is too large, is a diagnostic.
[[nodiscard]] Result<ModelText> read_model_file(const std::string& path, const ReadOptions& options);

// all of a stream, such as standard input, up to the limit on source bytes
[[nodiscard]] Result<std::string> read_model_stream(std::istream& stream, const std::string& name, const Limits& limits);

}  // namespace appell
