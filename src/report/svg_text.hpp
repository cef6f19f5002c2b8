// Text inside SVG and HTML: escaping that always gives well-formed XML, and widths estimated without a font.
// The estimate is for the sans-serif families the figures ask for, a little generous, so that labels do not collide when a
// viewer falls back to a wider font.
#pragma once

#include <string>
#include <string_view>

namespace appell {

// for XML text and attribute values; bytes that are no UTF-8 and characters XML forbids become U+FFFD
[[nodiscard]] std::string escape_xml(std::string_view text);

// the same without escapes, and with blanks for line ends and tabs: for those who draw letters one by one
[[nodiscard]] std::string plain_text(std::string_view text);

// in pixels, at a font size in pixels
[[nodiscard]] double text_width(std::string_view text, double font_size);

// the text itself, or its beginning with an ellipsis, so that it is at most this wide
[[nodiscard]] std::string fit_text(std::string_view text, double font_size, double width);

}  // namespace appell
