// Names of a model as identifiers of C and C++: `x[1]`, `q'` and `θ` become x_1, q_prime and theta. Every identifier that is
// made here stands behind a prefix, so that keywords and names of the standard library need no list.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace appell {

// letters, digits and underscores, none at the ends, none twice in a row; never empty
[[nodiscard]] std::string as_identifier(std::string_view name);

// Identifiers that are different from each other, whatever the names.
class IdentifierSet {
public:
    [[nodiscard]] std::string add(std::string_view name);

private:
    std::set<std::string> taken_;
};

// text that may stand between /* and */
[[nodiscard]] std::string as_comment(std::string_view text);
// a string literal, quotes included
[[nodiscard]] std::string as_literal(std::string_view text);
// a number that reads back to the same double, in parentheses where it is negative
[[nodiscard]] std::string as_number(double value);

}  // namespace appell
