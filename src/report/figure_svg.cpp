#include <fmt/format.h>

#include "report/figure.hpp"
#include "report/figure_style.hpp"
#include "report/svg_text.hpp"

namespace appell {

namespace {

// horizontal and vertical lines are written short: grids are made of them
std::string short_path(const std::vector<Stroke>& strokes) {
    std::string d;
    for (const Stroke& stroke : strokes) {
        bool straight = true;
        for (std::size_t i = 1; i < stroke.size(); ++i)
            straight = straight && (stroke[i].x == stroke[i - 1].x) != (stroke[i].y == stroke[i - 1].y);
        if (!straight || stroke.size() < 2) {
            d += path_data(stroke);
            continue;
        }
        d += fmt::format("M{} {}", pixel_text(stroke[0].x), pixel_text(stroke[0].y));
        for (std::size_t i = 1; i < stroke.size(); ++i)
            d += stroke[i].x == stroke[i - 1].x ? fmt::format("V{}", pixel_text(stroke[i].y))
                                                : fmt::format("H{}", pixel_text(stroke[i].x));
    }
    return d;
}

std::string mark_svg(const FigureMark& mark) {
    static constexpr const char* k_anchors[] = {"start", "middle", "end"};
    const std::string x = pixel_text(mark.x), y = pixel_text(mark.y);
    switch (mark.kind) {
        case FigureMark::Kind::path: {
            const std::string d = short_path(mark.strokes);
            if (mark.text.empty()) return fmt::format("<path class=\"{}\" d=\"{}\"/>\n", mark.style, d);
            return fmt::format("<path class=\"{}\" d=\"{}\"><title>{}</title></path>\n", mark.style, d, escape_xml(mark.text));
        }
        case FigureMark::Kind::circle:
            return fmt::format("<circle class=\"{}\" cx=\"{}\" cy=\"{}\" r=\"{}\"/>\n", mark.style, x, y,
                               pixel_text(mark.radius));
        case FigureMark::Kind::box:
            return fmt::format("<rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"{}\"/>\n", mark.style, x, y,
                               pixel_text(mark.width), pixel_text(mark.height), pixel_text(mark.radius));
        case FigureMark::Kind::text: break;
    }
    const std::string place =
        mark.upwards ? fmt::format("transform=\"translate({} {}) rotate(-90)\"", x, y) : fmt::format("x=\"{}\" y=\"{}\"", x, y);
    return fmt::format("<text class=\"{}\" {} text-anchor=\"{}\">{}</text>\n", mark.style, place,
                       k_anchors[static_cast<std::size_t>(mark.anchor)], escape_xml(mark.text));
}

}  // namespace

std::string figure_svg(const Figure& figure) {
    const std::string title = escape_xml(figure.title), width = pixel_text(figure.width), height = pixel_text(figure.height);
    const auto length = [&](double pixels) {
        return figure.print ? pixel_text(pixels / k_pixels_per_millimetre) + "mm" : pixel_text(pixels);
    };
    std::string out = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"ap-plot\" viewBox=\"0 0 {} {}\" width=\"{}\" height=\"{}\" "
        "role=\"img\" aria-label=\"{}\">\n<title>{}</title>\n<style>\n{}</style>\n",
        width, height, length(figure.width), length(figure.height), title, title, style_sheet(figure.print));
    for (const FigureMark& mark : figure.marks) out += mark_svg(mark);
    return out + "</svg>\n";
}

}  // namespace appell
