#include "report/latex_words.hpp"

namespace appell {

std::string latex_words(std::string_view words) {
    std::string out;
    for (const char c : words) {
        if (c == '\\') {
            out += "\\textbackslash{}";
        } else if (c == '^' || c == '~') {
            out += '\\';
            out += c;
            out += "{}";
        } else {
            if (std::string_view("#$%&_{}").find(c) != std::string_view::npos) out += '\\';
            out += c;
        }
    }
    return out;
}

}  // namespace appell
