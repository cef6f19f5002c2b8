#include "report/figure_style.hpp"

#include <cstdlib>

#include <fmt/format.h>

#include "base/error.hpp"

namespace appell {

namespace {

// Okabe and Ito's colours, which remain distinct under the common kinds of colour blindness, without the yellow that drowns on
// white; the dark set has the same hues, lighter.
constexpr std::string_view k_light = R"(.ap-bg{fill:#fff}.ap-veil{fill:#fff;fill-opacity:.88}
.ap-title{fill:#16191d;font-size:15px;font-weight:600}.ap-label{fill:#2c3138;font-size:13px}
.ap-tick{fill:#4a515b;font-size:12px;font-variant-numeric:tabular-nums}.ap-quiet{fill:#6d7580;font-size:12px}
.ap-axis{stroke:#4a515b;stroke-width:1;fill:none}.ap-grid{stroke:#dde1e6;stroke-width:1;fill:none}
.ap-fine{stroke:#f1f3f5;stroke-width:1;fill:none}.ap-zero{stroke:#aab1ba;stroke-width:1;fill:none}
.ap-line{fill:none;stroke-width:1.7;stroke-linejoin:round;stroke-linecap:round}.ap-end{fill:none;stroke-width:1.5}
.ap-c0{stroke:#0072b2}.ap-c1{stroke:#d55e00}.ap-c2{stroke:#009e73}.ap-c3{stroke:#cc79a7}
.ap-c4{stroke:#e69f00}.ap-c5{stroke:#56b4e9}.ap-c6{stroke:#3d434b}
.ap-f0{fill:#0072b2}.ap-f1{fill:#d55e00}.ap-f2{fill:#009e73}.ap-f3{fill:#cc79a7}
.ap-f4{fill:#e69f00}.ap-f5{fill:#56b4e9}.ap-f6{fill:#3d434b}
.ap-d1{stroke-dasharray:7 4}.ap-d2{stroke-dasharray:1.5 4}
)";

constexpr std::string_view k_dark = R"(@media (prefers-color-scheme:dark){
.ap-bg{fill:#14171b}.ap-veil{fill:#14171b}.ap-title{fill:#f0f2f4}.ap-label{fill:#d3d8de}
.ap-tick{fill:#aeb6c0}.ap-quiet{fill:#929ba6}.ap-axis{stroke:#aeb6c0}.ap-grid{stroke:#2b3138}
.ap-fine{stroke:#1e2328}.ap-zero{stroke:#59626d}
.ap-c0{stroke:#4aa8e0}.ap-c1{stroke:#ff8a4a}.ap-c2{stroke:#2fc598}.ap-c3{stroke:#e6a2c8}
.ap-c4{stroke:#f3b840}.ap-c5{stroke:#9ad3f7}.ap-c6{stroke:#d5dae0}
.ap-f0{fill:#4aa8e0}.ap-f1{fill:#ff8a4a}.ap-f2{fill:#2fc598}.ap-f3{fill:#e6a2c8}
.ap-f4{fill:#f3b840}.ap-f5{fill:#9ad3f7}.ap-f6{fill:#d5dae0}
}
)";

// On paper colours may turn grey: patterns tell curves apart then. Round ends would fill the gaps of short dashes.
constexpr std::string_view k_print = R"(.ap-title{fill:#000}.ap-label{fill:#000}.ap-tick{fill:#1c1f24}.ap-quiet{fill:#3d434b}
.ap-axis{stroke:#1c1f24}.ap-line{stroke-linecap:butt}
.ap-d1{stroke-dasharray:7 3}.ap-d2{stroke-dasharray:2 2.5}.ap-d3{stroke-dasharray:9 3 2 3}.ap-d4{stroke-dasharray:14 4}
)";

int hex(char c) { return c <= '9' ? c - '0' : c - 'a' + 10; }

std::optional<std::array<double, 3>> colour(std::string_view value) {
    if (value == "none") return std::nullopt;
    APPELL_ASSERT(value.size() == 4 || value.size() == 7, "a colour of the sheet is #rgb or #rrggbb");
    std::array<double, 3> out{};
    for (std::size_t i = 0; i < 3; ++i)
        out[i] = value.size() == 4 ? hex(value[1 + i]) / 15.0 : (16 * hex(value[1 + 2 * i]) + hex(value[2 + 2 * i])) / 255.0;
    return out;
}

void apply(std::string_view property, std::string_view value, InkStyle& style) {
    const auto number = [](std::string_view text) { return std::strtod(std::string(text).c_str(), nullptr); };
    if (property == "fill") style.fill = colour(value);
    if (property == "stroke") style.stroke = colour(value);
    if (property == "fill-opacity") style.fill_opacity = number(value);
    if (property == "stroke-width") style.stroke_width = number(value);
    if (property == "stroke-linecap") style.round = value == "round";
    if (property == "font-size") style.font_size = number(value);  // ends with px
    if (property == "font-weight") style.bold = number(value) >= 600;
    if (property != "stroke-dasharray") return;
    style.dashes.clear();
    while (!value.empty()) {
        const std::size_t end = std::min(value.find(' '), value.size());
        style.dashes.push_back(number(value.substr(0, end)));
        value.remove_prefix(std::min(end + 1, value.size()));
    }
}

// the declarations of one class, `.name{property:value;...}`
void apply_class(std::string_view sheet, std::string_view name, InkStyle& style) {
    const std::string rule = fmt::format(".{}{{", name);
    std::size_t at = sheet.find(rule);
    if (at == std::string_view::npos) return;
    at += rule.size();
    std::string_view body = sheet.substr(at, sheet.find('}', at) - at);
    while (!body.empty()) {
        const std::string_view declaration = body.substr(0, body.find(';'));
        const std::size_t colon = declaration.find(':');
        apply(declaration.substr(0, colon), declaration.substr(colon + 1), style);
        body.remove_prefix(std::min(declaration.size() + 1, body.size()));
    }
}

}  // namespace

std::string style_sheet(bool print) {
    return ".ap-plot{font-family:system-ui,-apple-system,\"Segoe UI\",Roboto,\"Helvetica Neue\",Arial,sans-serif}\n" +
           std::string(k_light) + std::string(print ? k_print : k_dark);
}

InkStyle ink_style(std::string_view classes, bool print) {
    InkStyle style;
    for (const std::string_view sheet : {k_light, print ? k_print : std::string_view()}) {
        std::string_view rest = classes;
        while (!rest.empty()) {
            const std::string_view name = rest.substr(0, rest.find(' '));
            apply_class(sheet, name, style);
            rest.remove_prefix(std::min(name.size() + 1, rest.size()));
        }
    }
    return style;
}

}  // namespace appell
