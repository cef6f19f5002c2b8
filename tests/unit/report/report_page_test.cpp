// report.html: nothing of a model becomes markup or code, the page loads nothing, and its size is bounded.
#include "report/report_page.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "pipeline/run_report.hpp"
#include "report/html_text.hpp"
#include "report/report_assets.hpp"
#include "support/gallery_run.hpp"

namespace appell {
namespace {

std::size_t count(std::string_view text, std::string_view what) {
    std::size_t n = 0;
    for (std::size_t at = text.find(what); at != std::string_view::npos; at = text.find(what, at + 1)) ++n;
    return n;
}

struct Page {
    std::string html;
    // without scripts and styles: what the model and the run put there
    std::string own;
};

Page page_of(const std::string& text, RunOptions options = {}) {
    options.scene = true;
    Derivation d = derive_text(text);
    EXPECT_TRUE(d.ok()) << render(d.diagnostics, d.sources);
    const std::optional<Run> result = run(d, options);
    EXPECT_TRUE(result.has_value());
    Page page;
    if (!result) return page;
    page.html = run_report(d, *result, {text, "1.2.3", "appell run model.appell"});
    page.own = page.html;
    for (const std::string_view part : {k_report_script, k_report_style}) {
        const std::size_t at = page.own.find(part);
        EXPECT_NE(at, std::string::npos);
        if (at != std::string::npos) page.own.erase(at, part.size());
    }
    return page;
}

nlohmann::json data_of(const Page& page) {
    const std::string begin = "<script type=\"application/json\" id=\"data\">";
    const std::size_t at = page.html.find(begin) + begin.size();
    return nlohmann::json::parse(page.html.substr(at, page.html.find("</script>", at) - at));
}

TEST(HtmlText, SignsOfMarkupAreSpeltOut) {
    EXPECT_EQ(html_text("a<b> & \"c\" 'd'"), "a&lt;b&gt; &amp; &quot;c&quot; &#39;d&#39;");
    EXPECT_EQ(json_in_script(R"({"a":"</script><!--&"})"), R"({"a":"\u003c/script\u003e\u003c!--\u0026"})");
}

TEST(HtmlText, Base64IsThatOfLittleEndianBytes) {
    const std::vector<double> one{1.0};
    EXPECT_EQ(base64(std::span<const double>(one)), "AAAAAAAA8D8=");  // 00 00 00 00 00 00 f0 3f
    const std::vector<float> three{1.0f, -2.0f, 0.5f};
    EXPECT_EQ(base64(std::span<const float>(three)), "AACAPwAAAMAAAAA/");
    EXPECT_EQ(base64(std::span<const float>()), "");
}

TEST(ReportPage, NothingOfAModelBecomesMarkup) {
    const Page page = page_of(R"(# <img src=x onerror=alert(1)> & </p><script>alert(2)</script>
system hostile "</script><img src=x onerror=alert(3)><!--"
param m = 1 kg, g = 9.81 m/s^2
coord x = 0 m
particle P mass m at O + x*N.x
gravity -g*N.x
claim "<b>bold</b>": x'' = -g   # </code></pre><iframe>
run for 1 s
plot x
)");
    EXPECT_EQ(count(page.own, "<script"), 2u);
    EXPECT_EQ(count(page.own, "</script"), 2u);
    for (const char* markup : {"<img", "<!--", "<iframe", "<b>bold", "onerror=alert(1)>"})
        EXPECT_EQ(count(page.own, markup), 0u) << markup;
    EXPECT_NE(page.own.find("&lt;/script&gt;&lt;img src=x onerror=alert(3)&gt;&lt;!--</h1>"), std::string::npos);
    EXPECT_NE(page.own.find("<title>&lt;/script&gt;"), std::string::npos);
    EXPECT_EQ(data_of(page)["system"], "hostile");
}

TEST(ReportPage, ThePageLoadsNothing) {
    const Page page = page_of(gallery_text("perpendicular_pucks"));
    EXPECT_EQ(count(page.own, " src="), 0u);
    EXPECT_EQ(count(page.own, "<link"), 0u);
    EXPECT_EQ(count(page.own, "href=\""), count(page.own, "href=\"#"));
    EXPECT_EQ(count(k_report_style, "url("), count(k_report_style, "url(data:"));
    EXPECT_EQ(count(k_report_style, "@import"), 0u);
    EXPECT_NE(page.own.find("default-src 'none'; script-src 'sha256-"), std::string::npos);
    for (const char* ending : {"</script", "<!--"}) EXPECT_EQ(count(k_report_script, ending), 0u) << ending;
    EXPECT_EQ(count(k_report_style, "</style"), 0u);
}

TEST(ReportPage, TextStandsWithoutScripts) {
    const Page page = page_of(gallery_text("perpendicular_pucks"));
    for (const char* part :
         {"<h1>Two pucks whose velocities stay perpendicular</h1>", "<p class=\"lead\">Two pucks slide on a horizontal table",
          "dot(vel(P1), vel(P2)) = 0", "lambda(perpendicular)*vel(P2)", "000 eq. 34", "<dt>degrees of freedom</dt><dd>3</dd>",
          "udwadia-kalaba", "appell run model.appell", "Appell 1.2.3", "coord  x1 = 1 m"})
        EXPECT_NE(page.own.find(part), std::string::npos) << part;
}

TEST(ReportPage, ARunThatEndsEarlySaysWhyOnTop) {
    RunOptions options;
    options.max_steps = 5;
    const Page page = page_of(gallery_text("simple_pendulum"), options);
    const std::size_t ended = page.own.find("The run ended at t = ");
    ASSERT_NE(ended, std::string::npos);
    EXPECT_LT(ended, page.own.find("<section"));
}

TEST(ReportPage, LongRunsStayBelowThreeMegabytes) {
    RunOptions options;
    options.every = 1e-3;
    options.until = 60;
    const Page page = page_of(gallery_text("double_pendulum"), options);
    EXPECT_LT(page.html.size(), 3'000'000u);
    EXPECT_LT(page.own.size(), 1'900'000u);
    const nlohmann::json data = data_of(page);
    EXPECT_EQ(data["schema"], 1);
    EXPECT_TRUE(data["t"].is_null());  // every column was thinned and has its own times
    for (const auto& column : data["columns"])
        EXPECT_EQ(column["t"].get<std::string>().size(), column["v"].get<std::string>().size());
}

TEST(ReportPage, ShortRunsAreWholeAndShareTheirTimes) {
    const nlohmann::json data = data_of(page_of(gallery_text("perpendicular_pucks")));
    // 1001 doubles
    EXPECT_EQ(data["t"].get<std::string>().size(), 4 * ((8 * 1001 + 2) / 3));
    for (const auto& column : data["columns"]) EXPECT_FALSE(column.contains("t"));
    EXPECT_EQ(data["plots"][0]["kind"], "path");
    EXPECT_EQ(data["plots"][1]["kind"], "time");
    EXPECT_EQ(data["scene"]["arrows"].size(), 2u);
}

TEST(LeadingComment, IsReadAsParagraphs) {
    EXPECT_EQ(leading_comment("# one\n#  two\n#\n# three\nsystem s\n# four\n"),
              (std::vector<CommentParagraph>{{"one two"}, {"three"}}));
    EXPECT_EQ(leading_comment("# one:\n#   appell check x\n#   appell run x\n# two\n"),
              (std::vector<CommentParagraph>{{"one:"}, {"appell check x\nappell run x", true}, {"two"}}));
    EXPECT_TRUE(leading_comment("system s\n# one\n").empty());
    EXPECT_TRUE(leading_comment("").empty());
}

}  // namespace
}  // namespace appell
