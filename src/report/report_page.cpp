#include "report/report_page.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/number_format.hpp"
#include "report/html_text.hpp"
#include "report/report_assets.hpp"
#include "report/report_data.hpp"

namespace appell {

namespace {

using Content = ReportContent;

std::string cells(std::initializer_list<std::string> values, const char* tag = "td") {
    std::string out = "<tr>";
    for (const std::string& v : values) out += fmt::format("<{}>{}</{}>", tag, v, tag);
    return out + "</tr>\n";
}

std::string facts(const std::vector<std::pair<std::string, std::string>>& rows, const char* kind = "facts") {
    std::string out = fmt::format("<dl class=\"{}\">\n", kind);
    for (const auto& [name, value] : rows)
        if (!value.empty()) out += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", html_text(name), html_text(value));
    return out + "</dl>\n";
}

std::string section(const char* id, const char* title, const std::string& body) {
    return body.empty() ? "" : fmt::format("<section id=\"{}\">\n<h2>{}</h2>\n{}</section>\n", id, title, body);
}

// what went wrong, and what a reader should know, in the words of the terminal
std::string messages(const Content& c) {
    std::string out;
    for (const Diagnostic& d : c.diagnostics->all()) {
        const char* severity = d.severity() == Severity::error ? "error" : d.severity() == Severity::warning ? "warning" : "note";
        std::string place;
        if (d.span.known()) {
            const LineColumn at = c.sources->locate(d.span.file, d.span.begin);
            place = fmt::format("{}:{}", c.sources->file(d.span.file).name, at.line);
        }
        out += fmt::format("<li class=\"{}\"><b>{}</b> {}", severity, severity, html_text(d.message));
        if (!d.found.empty()) out += fmt::format("; found: {}", html_text(d.found));
        if (!d.expected.empty()) out += fmt::format("; expected: {}", html_text(d.expected));
        if (!d.hint.empty()) out += fmt::format("<br><span class=\"quiet\">{}</span>", html_text(d.hint));
        out += fmt::format(" <span class=\"quiet\">[{}]{}{}</span></li>\n", info(d.code).name, place.empty() ? "" : " ",
                           html_text(place));
    }
    return out.empty() ? "" : "<ul class=\"messages\">\n" + out + "</ul>\n";
}

std::string header(const Content& c) {
    const Model& m = *c.model;
    const SimulateSummary& s = c.run->summary;
    std::string out = fmt::format("<header>\n<p class=\"name\">{}</p>\n<h1>{}</h1>\n", html_text(m.name),
                                  html_text(m.title.empty() ? m.name : m.title));
    for (const CommentParagraph& paragraph : leading_comment(c.model_text))
        out += paragraph.set_apart ? fmt::format("<pre><code>{}</code></pre>\n", html_text(paragraph.text))
                                   : fmt::format("<p class=\"lead\">{}</p>\n", html_text(paragraph.text));
    if (s.reason != EndReason::finished)
        out += fmt::format("<p class=\"ended\"><b>The run ended at t = {} s:</b> {}</p>\n", short_number(s.t_end),
                           html_text(name(s.reason)));
    out += messages(c);
    return out + "</header>\n";
}

std::string motion() {
    // the scripts fill this in; without them it is not shown
    return "<div id=\"stage\" class=\"scripted\"></div>\n"
           "<p class=\"unscripted quiet\">The animation and the interactive plots need JavaScript.</p>\n";
}

std::string plots(const Content& c) {
    const std::vector<ReportPlot> list = report_plots(*c.model, *c.run);
    std::string first, more;
    for (std::size_t i = 0; i < list.size(); ++i)
        (list[i].more ? more : first) += fmt::format(
            "<figure class=\"plot\" data-plot=\"{}\"><figcaption>{}</figcaption></figure>\n", i, html_text(list[i].title));
    return fmt::format(
        "<p class=\"quiet scripted\">Drag across a plot to zoom, double-click to see all; a click on a name shows or hides "
        "it.</p>\n"
        "<div class=\"plots scripted\">\n{}</div>\n"
        "<details class=\"scripted\"><summary>All columns of the table</summary>\n<div class=\"plots\">\n{}</div></details>\n"
        "<p class=\"unscripted quiet\">The same plots are in the run's folder as SVG files.</p>\n",
        first, more);
}

std::string constraints(const Content& c) {
    std::vector<std::pair<std::string, std::string>> counts;
    for (const Content::Count& count : c.counts) counts.emplace_back(count.what, count.value);
    std::string forces = section_html(c.constraints);
    if (c.model->constraints.empty()) forces = "<p>The model has no constraints.</p>\n";
    return facts(counts) + forces;
}

std::string equations(const Content& c) {
    std::string out;
    for (std::size_t i = 0; i < c.equations.size(); ++i)
        out += fmt::format("<details class=\"formulation\"{}><summary>{}{}</summary>\n{}</details>\n", i == 0 ? " open" : "",
                           html_text(c.equations[i].formulation), i == 0 ? " <span class=\"quiet\">used by this run</span>" : "",
                           document_html(c.equations[i].document));
    if (!c.equations_note.empty()) out += fmt::format("<p class=\"quiet\">{}</p>\n", html_text(c.equations_note));
    return out;
}

std::string findings(const Content& c) {
    if (c.findings.empty()) return "";
    std::string out = "<h3>What the constraints are like</h3>\n<dl class=\"findings\">\n";
    std::string topic;
    for (const DiagnosisLine& line : c.findings) {
        if (line.topic != topic) out += fmt::format("<dt>{}</dt>\n", html_text(line.topic));
        topic = line.topic;
        out += fmt::format("<dd>{}</dd>\n", html_text(line.sentence));
    }
    return out + "</dl>\n";
}

std::string certificate(const Content& c) {
    if (c.certificate.empty()) return "";
    std::string out = fmt::format("<h3>Certificate</h3>\n<p>{}</p>\n", html_text(c.certificate));
    if (c.agreements.empty()) return out;
    out += "<div class=\"scroll\"><table class=\"numbers\"><thead>";
    out += c.wide ? cells({"formulation", "u&#39;", "force", "u&#39;, 50 digits", "force, 50 digits", "source"}, "th")
                  : cells({"formulation", "u&#39;", "force", "source"}, "th");
    out += "</thead><tbody>\n";
    for (const Content::Agreement& a : c.agreements) {
        const std::string source = html_text(a.source) + (a.note.empty() ? "" : "; " + html_text(a.note));
        if (a.acceleration.empty())
            out += fmt::format("<tr><td>{}</td><td colspan=\"{}\">{}</td></tr>\n", html_text(a.formulation), c.wide ? 5 : 3,
                               html_text(a.note));
        else if (c.wide)
            out += cells({html_text(a.formulation), a.acceleration, a.force, a.wide_acceleration, a.wide_force, source});
        else
            out += cells({html_text(a.formulation), a.acceleration, a.force, source});
    }
    return out + "</tbody></table></div>\n";
}

std::string claims(const Content& c) {
    if (c.claims.empty()) return "";
    const auto good = static_cast<std::size_t>(
        std::count_if(c.claims.begin(), c.claims.end(), [](const Content::Claim& claim) { return claim.good; }));
    std::string out = fmt::format(
        "<h3>Claims of the model</h3>\n<p>{} of {} are as stated.</p>\n<details{}><summary>All claims"
        "</summary>\n<div class=\"scroll\"><table class=\"claims\"><tbody>\n",
        good, c.claims.size(), good == c.claims.size() ? "" : " open");
    for (const Content::Claim& claim : c.claims)
        out += fmt::format("<tr{}><td>{}</td><td><code>{}</code></td><td>{}<br><span class=\"quiet\">{}</span></td></tr>\n",
                           claim.good ? "" : " class=\"bad\"", html_text(claim.label), html_text(claim.text),
                           html_text(claim.verdict), html_text(claim.detail));
    return out + "</tbody></table></div></details>\n";
}

std::string checks(const Content& c) {
    std::string out = findings(c) + certificate(c) + claims(c);
    if (!c.checks_note.empty()) out += fmt::format("<p class=\"quiet\">{}</p>\n", html_text(c.checks_note));
    return out;
}

std::string count_text(std::size_t value) { return fmt::format("{}", value); }

std::string statistics(const Content& c) {
    const Run& run = *c.run;
    const SimulateSummary& s = run.summary;
    const IntegratorInfo& integrator = info(run.options.integrator);
    std::vector<std::pair<std::string, std::string>> rows{
        {"ended", fmt::format("{} at t = {} s", name(s.reason), short_number(s.t_end))},
        {"time span", fmt::format("{} s to {} s{}", short_number(run.options.t0), short_number(run.options.t1),
                                  run.backwards() ? ", backwards in time" : "")},
        {"formulation", run.formulation},
        {"integrator", std::string(integrator.name)},
        {integrator.fixed_step ? "step" : "tolerances",
         integrator.fixed_step
             ? short_number(run.options.step) + " s"
             : fmt::format("{} relative, {} absolute", short_number(run.options.rtol), short_number(run.options.atol))},
        {"steps", fmt::format("{} accepted, {} rejected", s.steps, s.rejected)},
        {"evaluations", count_text(s.evaluations)},
        {"corrections onto the constraints", count_text(s.projections)},
        {"rows", count_text(s.rows)}};
    if (!run.start_mode.empty()) rows.emplace_back("mode at the start", run.start_mode);
    for (const NotFinite& c : run.not_finite)
        rows.emplace_back("not finite: " + c.column,
                          fmt::format("{} of {} rows, first at t = {} s", c.rows, s.rows, short_number(c.first)));
    if (!s.passed.empty())
        rows.emplace_back("singular positions passed",
                          fmt::format("{}, along the branch that keeps the velocities", s.passed.size()));
    for (const GuardRemark& r : run.guard_remarks) {
        if (r.grazes > 0)
            rows.emplace_back("touches zero: " + r.guard,
                              fmt::format("{} times, first at t = {} s", r.grazes, short_number(r.first_graze)));
        if (r.sampled)
            rows.emplace_back("sampled: " + r.guard, "it cannot be enclosed: passages closer than its samples may be missed");
    }
    if (run.law_switches > 0) rows.emplace_back("switches of laws", fmt::format("{}", run.law_switches));
    const bool constrained = run.layout.kinetic > run.layout.residuals;
    if (constrained)
        rows.emplace_back("largest residual",
                          fmt::format("{} scaled, {} raw", short_number(std::max(s.position_scaled, s.velocity_scaled), 3),
                                      short_number(std::max(s.position_residual, s.velocity_residual), 3)));
    rows.emplace_back("energy", fmt::format("{} J at the start, {} J at the end", short_number(run.energy.start),
                                            short_number(run.energy.end)));
    for (const EnergyBalance::Entry& entry : run.energy.works)
        rows.emplace_back("work of " + entry.name, short_number(entry.work) + " J");
    rows.emplace_back("energy balance",
                      fmt::format("{} J off at most, {} of the largest energy or work", short_number(run.energy.largest_error, 3),
                                  short_number(run.energy.relative_error(), 3)));
    std::string out = facts(rows);
    if (!s.moved.empty()) {
        const Model& m = *c.model;
        out += "<h3>Start values moved onto the constraints</h3>\n<div class=\"scroll\"><table class=\"numbers\"><thead>" +
               cells({"", "given", "taken"}, "th") + "</thead><tbody>\n";
        for (const Moved& moved : s.moved)
            out += cells({html_text(moved.is_speed ? m.speeds[moved.index].name : m.coordinates[moved.index].name),
                          short_number(moved.from, 9), short_number(moved.to, 9)});
        out += "</tbody></table></div>\n";
    }
    if (!run.events.empty()) {
        constexpr std::size_t k_most = 200;
        out += fmt::format("<h3>Events</h3>\n<details{}><summary>{} of them</summary>\n<div class=\"scroll\"><table><thead>",
                           run.events.size() <= 12 ? " open" : "", std::max(run.event_count, run.events.size()));
        out += cells({"t [s]", "what happened"}, "th") + "</thead><tbody>\n";
        for (std::size_t i = 0; i < std::min(k_most, run.events.size()); ++i)
            out += cells({short_number(run.events[i].t, 9), html_text(run.events[i].what)});
        out += "</tbody></table></div>";
        if (run.events.size() > k_most) out += "<p class=\"quiet\">More are in summary.json.</p>\n";
        out += "</details>\n";
    }
    return out;
}

std::string model_text(const Content& c) {
    std::string out = fmt::format("<p>Appell {}; the same run again:</p>\n<pre class=\"command\"><code>{}</code></pre>\n",
                                  html_text(c.version), html_text(c.command));
    std::vector<std::pair<std::string, std::string>> parameters;
    for (const Parameter& p : c.model->parameters) parameters.emplace_back(p.name, short_number(p.value, 9));
    if (!parameters.empty()) out += "<h3>Parameters of this run, in SI units</h3>\n" + facts(parameters, "facts small");
    // the sources of a run that includes others; the first is the model itself
    out += fmt::format("<h3>Text</h3>\n<pre class=\"model\"><code>{}</code></pre>\n", html_text(c.model_text));
    for (std::size_t i = 1; i < c.sources->size(); ++i) {
        const SourceFile& file = c.sources->file(static_cast<std::uint32_t>(i));
        out +=
            fmt::format("<h3>{}</h3>\n<pre class=\"model\"><code>{}</code></pre>\n", html_text(file.name), html_text(file.text));
    }
    return out;
}

}  // namespace

std::vector<CommentParagraph> leading_comment(std::string_view text) {
    constexpr std::size_t k_set_apart = 3;  // blanks behind the sign
    std::vector<CommentParagraph> out;
    bool open = false;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        std::string_view line = text.substr(at, end - at);
        at = end + 1;
        while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
        if (line.empty() && out.empty()) continue;
        if (line.empty() || line.front() != '#') break;
        line.remove_prefix(1);
        const std::size_t blanks = std::min(line.find_first_not_of(' '), line.size());
        line.remove_prefix(blanks);
        if (line.empty()) {
            open = false;
            continue;
        }
        const bool set_apart = blanks >= k_set_apart;
        if (open && out.back().set_apart == set_apart)
            out.back().text.append(set_apart ? "\n" : " ").append(line);
        else
            out.push_back({std::string(line), set_apart});
        open = true;
    }
    return out;
}

// The page's policy lets nothing be loaded and no script run but the bundle: what a model says stays text even if it should
// escape from where it stands.
std::string report_html(const ReportContent& c) {
    const Model& m = *c.model;
    struct Part {
        const char *id, *title;
        std::string body;
    };
    const std::vector<Part> parts{
        {"motion", "Motion", motion()},           {"plots", "Plots", plots(c)},    {"constraints", "Constraints", constraints(c)},
        {"equations", "Equations", equations(c)}, {"checks", "Checks", checks(c)}, {"run", "Run", statistics(c)},
        {"model", "Model", model_text(c)}};
    std::string links, body;
    for (const Part& part : parts) {
        if (part.body.empty()) continue;
        links += fmt::format("<a href=\"#{}\">{}</a>\n", part.id, part.title);
        body += section(part.id, part.title, part.body);
    }
    std::string out = fmt::format(
        "<!DOCTYPE html>\n<html lang=\"en\" class=\"plain\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light "
        "dark\">\n"
        "<meta name=\"generator\" content=\"Appell {}\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src '{}'; "
        "style-src 'unsafe-inline'; font-src data:; img-src data: blob:; base-uri 'none'; form-action 'none'\">\n"
        "<title>{}</title>\n<style>",
        html_text(c.version), k_report_script_hash, html_text(m.title.empty() ? m.name : m.title));
    out += k_report_style;
    out += "</style>\n</head>\n<body>\n<nav>" + links + "</nav>\n<main>\n" + header(c) + body;
    out += fmt::format("</main>\n<footer class=\"quiet\">Made by Appell {}. The page stands alone: it loads nothing.</footer>\n",
                       html_text(c.version));
    out +=
        "<script type=\"application/json\" id=\"data\">" + json_in_script(report_data_json(m, *c.run, c.version)) + "</script>\n";
    out += "<script>";
    out += k_report_script;
    return out + "</script>\n</body>\n</html>\n";
}

}  // namespace appell
