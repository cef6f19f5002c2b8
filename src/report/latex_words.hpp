// Words for LaTeX: the characters it reserves are written out.
#pragma once

#include <string>
#include <string_view>

namespace appell {

[[nodiscard]] std::string latex_words(std::string_view words);

}  // namespace appell
