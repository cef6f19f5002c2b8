// Words for LaTeX and for names of files: the characters they have no place for are written out.
#pragma once

#include <string>
#include <string_view>

namespace appell {

[[nodiscard]] std::string latex_words(std::string_view words);

// Declarations for the letters of a document that pdflatex does not know by itself: Greek ones, and others by their number.
[[nodiscard]] std::string latex_letters(std::string_view document);

// letters and digits of ASCII, Greek letters spelt out, other letters by their number; one underscore for everything between
[[nodiscard]] std::string plain_words(std::string_view words);

}  // namespace appell
