#include "pipeline/extreme_parameters.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/number_format.hpp"

namespace appell {

namespace {

constexpr double k_extreme = 1e75;  // its fourth power is about the largest number
constexpr std::size_t k_most = 5;   // names in one message

std::vector<const Parameter*> extreme_parameters(const Model& m) {
    std::vector<const Parameter*> out;
    for (const Parameter& p : m.parameters)
        if (const double size = std::abs(p.value); size > k_extreme || (size > 0 && size < 1 / k_extreme)) out.push_back(&p);
    return out;
}

std::string names_and_values(const std::vector<const Parameter*>& parameters) {
    std::vector<std::string> parts;
    for (const Parameter* p : parameters) {
        if (parts.size() == k_most) break;
        parts.push_back(fmt::format("{} = {}", p->name, short_number(p->value)));
    }
    return fmt::format("{}{}", fmt::join(parts, ", "), parameters.size() > k_most ? ", ..." : "");
}

// those that no size of a number leads to: limits, wishes of the user, requests that do not fit
bool may_follow_from_a_size(Code code) {
    constexpr std::array k_others{Code::E0810, Code::E0811, Code::E0814, Code::E0815, Code::E0820, Code::E0821, Code::E0824};
    const std::string_view name = info(code).name;
    return name >= "E0590" && name < "E0860" && std::find(k_others.begin(), k_others.end(), code) == k_others.end();
}

constexpr const char* k_range = "numbers, and their products and powers, reach from about 1e-308 to 1e308";

}  // namespace

void name_extreme_parameters(Diagnostics& diagnostics, const Model& m) {
    const std::vector<const Parameter*> extreme = extreme_parameters(m);
    if (extreme.empty()) return;
    const std::string named = fmt::format("look at {} first: {}", names_and_values(extreme), k_range);
    Diagnostics out;
    bool done = false;
    for (Diagnostic d : diagnostics.all()) {
        if (!done && d.severity() == Severity::error && may_follow_from_a_size(d.code)) {
            done = true;
            if (d.hint.find(named) == std::string::npos) d.hint = d.hint.empty() ? named : fmt::format("{}; {}", named, d.hint);
        }
        out.add(std::move(d));
    }
    diagnostics = std::move(out);
}

void refuse_overflow(Diagnostics& diagnostics, const Model& m) {
    const std::vector<const Parameter*> extreme = extreme_parameters(m);
    if (extreme.empty() || diagnostics.has_errors()) return;
    diagnostics.add({Code::E0878, extreme.front()->span,
                     fmt::format("{} {} out of the range of numbers: energies are not finite", names_and_values(extreme),
                                 extreme.size() == 1 ? "leads" : "lead"),
                     "", "parameters whose products and powers are finite", fmt::format("take other units; {}", k_range)});
}

}  // namespace appell
