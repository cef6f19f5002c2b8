// PDF and PNG by Cairo (docs/decisions/029-plots-as-files.md), from the same marks as SVG.
#include <cairo/cairo-pdf.h>
#include <cairo/cairo.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <memory>

#include <fmt/format.h>

#include "base/error.hpp"
#include "report/figure.hpp"
#include "report/figure_style.hpp"
#include "report/svg_text.hpp"

namespace appell {

namespace {

// Cairo's plain text calls take one font and do not look for letters elsewhere: a family with Greek, superscripts and signs
constexpr const char* k_family = "DejaVu Sans";

struct SurfaceDeleter {
    void operator()(cairo_surface_t* surface) const { cairo_surface_destroy(surface); }
};
struct ContextDeleter {
    void operator()(cairo_t* context) const { cairo_destroy(context); }
};
using Surface = std::unique_ptr<cairo_surface_t, SurfaceDeleter>;

void check(cairo_status_t status) {
    if (status != CAIRO_STATUS_SUCCESS)
        throw Error(fmt::format("the figure could not be drawn: {}", cairo_status_to_string(status)));
}

cairo_status_t append(void* text, const unsigned char* bytes, unsigned int count) {
    static_cast<std::string*>(text)->append(reinterpret_cast<const char*>(bytes), count);
    return CAIRO_STATUS_SUCCESS;
}

class Painter {
public:
    Painter(cairo_surface_t* surface, bool print) : c_(cairo_create(surface)), print_(print) {}

    void draw(const Figure& figure, double scale) {
        // whole pixels may reach a little beyond the figure
        cairo_set_source_rgb(c_.get(), 1, 1, 1);
        cairo_paint(c_.get());
        cairo_scale(c_.get(), scale, scale);
        for (const FigureMark& mark : figure.marks) draw(mark);
        check(cairo_status(c_.get()));
    }

private:
    void draw(const FigureMark& mark) {
        cairo_t* c = c_.get();
        const InkStyle style = ink_style(mark.style, print_);
        cairo_new_path(c);
        switch (mark.kind) {
            case FigureMark::Kind::text: text(mark, style); return;
            case FigureMark::Kind::circle: cairo_arc(c, mark.x, mark.y, mark.radius, 0, 2 * M_PI); break;
            case FigureMark::Kind::box: cairo_rectangle(c, mark.x, mark.y, mark.width, mark.height); break;
            case FigureMark::Kind::path:
                for (const Stroke& stroke : mark.strokes)
                    for (std::size_t i = 0; i < stroke.size(); ++i)
                        (i == 0 ? cairo_move_to : cairo_line_to)(c, stroke[i].x, stroke[i].y);
        }
        if (style.fill) {
            cairo_set_source_rgba(c, (*style.fill)[0], (*style.fill)[1], (*style.fill)[2], style.fill_opacity);
            cairo_fill_preserve(c);
        }
        if (!style.stroke) return;
        cairo_set_source_rgb(c, (*style.stroke)[0], (*style.stroke)[1], (*style.stroke)[2]);
        cairo_set_line_width(c, style.stroke_width);
        cairo_set_line_cap(c, style.round ? CAIRO_LINE_CAP_ROUND : CAIRO_LINE_CAP_BUTT);
        cairo_set_line_join(c, CAIRO_LINE_JOIN_ROUND);
        cairo_set_dash(c, style.dashes.data(), static_cast<int>(style.dashes.size()), 0);
        cairo_stroke(c);
    }

    void text(const FigureMark& mark, const InkStyle& style) {
        cairo_t* c = c_.get();
        const std::array<double, 3> ink = style.fill.value_or(std::array<double, 3>{});
        cairo_set_source_rgb(c, ink[0], ink[1], ink[2]);
        cairo_select_font_face(c, k_family, CAIRO_FONT_SLANT_NORMAL,
                               style.bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
        cairo_set_font_size(c, style.font_size);
        const std::string shown = plain_text(mark.text);
        cairo_text_extents_t size;
        cairo_text_extents(c, shown.c_str(), &size);
        const double share = mark.anchor == FigureMark::Anchor::start ? 0 : mark.anchor == FigureMark::Anchor::middle ? 0.5 : 1;
        cairo_save(c);
        cairo_translate(c, mark.x, mark.y);
        if (mark.upwards) cairo_rotate(c, -M_PI / 2);
        cairo_move_to(c, -share * size.x_advance, 0);
        cairo_show_text(c, shown.c_str());
        cairo_restore(c);
    }

    std::unique_ptr<cairo_t, ContextDeleter> c_;
    bool print_;
};

// A chunk of a PNG file: length, name, content, checksum (ISO/IEC 15948, clause 5)
std::string png_chunk(std::string content) {
    const auto word = [](std::uint32_t value) {
        std::string out;
        for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(value >> shift & 0xffu);
        return out;
    };
    std::uint32_t crc = 0xffffffffu;
    for (const char c : content) {
        crc ^= static_cast<std::uint8_t>(c);
        for (int bit = 0; bit < 8; ++bit) crc = (crc & 1u) != 0 ? crc >> 1 ^ 0xedb88320u : crc >> 1;
    }
    return word(static_cast<std::uint32_t>(content.size() - 4)) + content + word(~crc);
}

// pixels per metre in both directions, which Cairo leaves out; it stands behind the header
std::string with_resolution(const std::string& png, double dots_per_inch) {
    const auto per_metre = static_cast<std::uint32_t>(std::lround(dots_per_inch / 0.0254));
    std::string content = "pHYs";
    for (int i = 0; i < 2; ++i)
        for (int shift = 24; shift >= 0; shift -= 8) content += static_cast<char>(per_metre >> shift & 0xffu);
    content += '\1';
    constexpr std::size_t k_header = 8 + 25;  // the signature and IHDR
    return png.substr(0, k_header) + png_chunk(content) + png.substr(k_header);
}

}  // namespace

std::string figure_pdf(const Figure& figure) {
    constexpr double k_points = 72.0 / 96;
    std::string out;
    const Surface surface(cairo_pdf_surface_create_for_stream(append, &out, figure.width * k_points, figure.height * k_points));
    cairo_pdf_surface_set_metadata(surface.get(), CAIRO_PDF_METADATA_TITLE, plain_text(figure.title).c_str());
    // the same figure, the same bytes
    cairo_pdf_surface_set_metadata(surface.get(), CAIRO_PDF_METADATA_CREATE_DATE, "");
    Painter(surface.get(), figure.print).draw(figure, k_points);
    cairo_surface_finish(surface.get());
    check(cairo_surface_status(surface.get()));
    return out;
}

std::string figure_png(const Figure& figure, double dots_per_inch) {
    const double scale = dots_per_inch / 96;
    const auto pixels = [&](double length) { return static_cast<int>(std::lround(length * scale)); };
    const Surface surface(cairo_image_surface_create(CAIRO_FORMAT_RGB24, pixels(figure.width), pixels(figure.height)));
    check(cairo_surface_status(surface.get()));
    Painter(surface.get(), figure.print).draw(figure, scale);
    std::string out;
    check(cairo_surface_write_to_png_stream(surface.get(), append, &out));
    return with_resolution(out, dots_per_inch);
}

}  // namespace appell
