// Gallery files, included files, the reference page, determinism, and text that nobody would write.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <random>

#include "lang/schema.hpp"
#include "language/read.hpp"

namespace {

using namespace appell;
using language_test::file_text;
using language_test::read;
using language_test::with;

std::vector<std::string> gallery() {
    std::vector<std::string> paths;
    for (const auto& entry : std::filesystem::directory_iterator(APPELL_SOURCE_DIR "/gallery"))
        if (entry.path().extension() == ".appell") paths.push_back(entry.path().string());
    std::sort(paths.begin(), paths.end());
    return paths;
}

TEST(LanguageFiles, TheGalleryIsRead) {
    ASSERT_GE(gallery().size(), 9u);
    for (const std::string& path : gallery()) {
        SourceSet sources;
        const std::string text = file_text(path);
        const Result<Model> result = read_model(path, text, {}, {}, sources);
        EXPECT_TRUE(result.ok()) << render(result.diagnostics, sources);
        EXPECT_TRUE(result.diagnostics.empty()) << render(result.diagnostics, sources);
        EXPECT_TRUE(text.starts_with("#")) << path << " opens with what it shows";
        if (result.ok()) {
            EXPECT_EQ(result->name, std::filesystem::path(path).stem().string());
        }
    }
}

TEST(LanguageFiles, IncludesStandInTheirPlace) {
    const std::string text = "system s\ninclude \"parts/a.appell\"\nparticle P mass m at O + x*N.x\n";
    std::vector<std::string> asked;
    const IncludeLoader loader = [&](const std::string& path) -> std::optional<std::string> {
        asked.push_back(path);
        if (path == "parts/a.appell") return "param m = 1 kg\ninclude \"./deep/../b.appell\"\ninclude \"../top.appell\"\n";
        if (path == "parts/b.appell") return "coord x = 0 m\n";
        if (path == "top.appell") return "param k = 1\n";
        return std::nullopt;
    };
    SourceSet sources;
    const Result<Model> result = read_model("dir/model.appell", text, loader, {}, sources);
    EXPECT_TRUE(result.ok()) << render(result.diagnostics, sources);
    EXPECT_EQ(asked, (std::vector<std::string>{"parts/a.appell", "parts/b.appell", "top.appell"}));
}

TEST(LanguageFiles, NoPathLeavesTheFolder) {
    for (const std::string path :
         {"/etc/passwd", "../x", "a/../../x", "..", ".", "", "a/..", "\\\\host\\x", "C:/x", "a\\..\\..\\x", "//x", "./../x"}) {
        bool asked = false;
        const IncludeLoader loader = [&](const std::string&) -> std::optional<std::string> {
            asked = true;
            return "";
        };
        SourceSet sources;
        const Result<Model> result = read_model("m", with("include \"" + path + "\""), loader, {}, sources);
        EXPECT_TRUE(result.diagnostics.has(Code::E0002)) << path;
        EXPECT_FALSE(asked) << path;
    }
}

TEST(LanguageFiles, TheReferencePageHoldsTheSchema) {
    const std::string page = file_text(APPELL_SOURCE_DIR "/docs/language.md");
    const std::string tables = language_reference();
    EXPECT_NE(page.find(tables), std::string::npos) << "docs/language.md must contain this text:\n" << tables;
    for (const StatementInfo& row : statement_table()) EXPECT_NE(page.find(row.syntax), std::string::npos) << row.keyword;
}

// every code block of the page that is marked as a model is one
TEST(LanguageFiles, ModelsOfTheReferencePageAreRead) {
    const std::string page = file_text(APPELL_SOURCE_DIR "/docs/language.md");
    const std::string mark = "```appell\n";
    int models = 0;
    for (std::size_t at = page.find(mark); at != std::string::npos; at = page.find(mark, at + 1)) {
        const std::size_t begin = at + mark.size();
        const std::string text = page.substr(begin, page.find("```", begin) - begin);
        SourceSet sources;
        const Result<Model> result = read_model("language.md", text, {}, {}, sources);
        EXPECT_TRUE(result.ok()) << text << render(result.diagnostics, sources);
        ++models;
    }
    EXPECT_GE(models, 2);
}

TEST(LanguageFiles, ReadingTwiceGivesTheSameNodes) {
    for (const std::string& path : gallery()) {
        const std::string text = file_text(path);
        const Result<Model> a = read(text), b = read(text);
        ASSERT_TRUE(a.ok() && b.ok());
        ASSERT_EQ(a->graph->size(), b->graph->size());
        for (std::size_t i = 0; i < a->graph->size(); ++i) ASSERT_EQ(a->graph->node(NodeId(i)), b->graph->node(NodeId(i)));
        for (std::size_t i = 0; i < a->points.size(); ++i) EXPECT_EQ(a->points[i].position, b->points[i].position);
    }
}

// any text gives a model or at least one error, and never more diagnostics than allowed
void expect_answer(const std::string& text, const std::string& what) {
    const Result<Model> result = read(text);
    EXPECT_EQ(result.value.has_value(), !result.diagnostics.has_errors()) << what;
    EXPECT_TRUE(result.value.has_value() || result.diagnostics.has_errors()) << what;
    EXPECT_LE(result.diagnostics.all().size(), Limits{}.diagnostics + 1) << what;
}

TEST(LanguageFuzz, TruncatedFiles) {
    for (const std::string& path : gallery()) {
        const std::string text = file_text(path);
        // every length would say little more
        for (std::size_t i = path.size() % 7; i < text.size(); i += 7)
            expect_answer(text.substr(0, i), path + " cut at " + std::to_string(i));
    }
}

TEST(LanguageFuzz, ChangedBytes) {
    std::mt19937 random(20240611);
    const std::string bytes = "()[]{}.,:='\"#+-*/^<>!0123456789eExyzNO \n\t\\\xce\xb8\xff\x80";
    for (const std::string& path : gallery()) {
        const std::string text = file_text(path);
        for (int round = 0; round < 90; ++round) {
            std::string changed = text;
            for (int k = 0; k <= round % 3; ++k) {
                const std::size_t at = random() % changed.size();
                const char byte = bytes[random() % bytes.size()];
                switch (random() % 4) {
                    case 0: changed.erase(at, 1 + random() % 5); break;
                    case 1: changed.insert(at, 1, byte); break;
                    case 2: changed.insert(at, changed.substr(random() % changed.size(), 1 + random() % 40)); break;
                    default: changed[at] = byte;
                }
            }
            expect_answer(changed, path + ":\n" + changed);
        }
    }
}

TEST(LanguageFuzz, SwappedTokens) {
    std::mt19937 random(77);
    const std::vector<std::string> words{"for",
                                         "end",
                                         "in",
                                         "1..3",
                                         "system",
                                         "x'",
                                         "N.x",
                                         "(",
                                         ")",
                                         "=",
                                         "vel(",
                                         "at",
                                         "lambda(",
                                         "sum(i in 1..3:",
                                         "if(",
                                         "param",
                                         "let",
                                         "coord",
                                         "1 kg",
                                         "\n",
                                         ",",
                                         "rolling(",
                                         "point",
                                         "fixed in",
                                         "run",
                                         "plot",
                                         "[1]",
                                         "''",
                                         "-",
                                         "t",
                                         "pi",
                                         "not",
                                         "and",
                                         "claim \"a\":",
                                         "=>",
                                         "size n =",
                                         "function f(x) ="};
    for (int round = 0; round < 4000; ++round) {
        std::string text = round % 2 == 0 ? "system s\n" : "";
        const std::size_t count = 1 + random() % 25;
        for (std::size_t i = 0; i < count; ++i) text += words[random() % words.size()] + (random() % 4 == 0 ? "\n" : " ");
        expect_answer(text, text);
    }
}

TEST(LanguageFuzz, Extremes) {
    expect_answer(std::string(10u << 20, 'a'), "ten million letters");
    expect_answer(std::string(10u << 20, '('), "ten million brackets");
    expect_answer("system s\nlet a = " + std::string(3u << 20, '('), "brackets on a line");
    expect_answer("system s\nlet a = " + std::string(3u << 20, '-') + "1", "signs on a line");
    expect_answer("system s\nlet a = x" + std::string(1u << 20, '\''), "primes");
    expect_answer(std::string(1u << 20, '\n'), "empty lines");
    expect_answer(std::string(1u << 20, '\0'), "zero bytes");
    std::string families;
    for (int i = 0; i < 3000; ++i) families += "for i" + std::to_string(i) + " in 1..2\n";
    expect_answer("system s\n" + families, "open families");
    std::string nested = "system s\n";
    for (int i = 0; i < 40; ++i) nested += "for i" + std::to_string(i) + " in 1..2\n";
    nested += "param p = 1\n";
    for (int i = 0; i < 40; ++i) nested += "end\n";
    expect_answer(nested, "two to the fortieth statements");
    expect_answer(with("let a = sum(i in 1..100000: sum(j in 1..100000: i*j))"), "ten billion terms");
    expect_answer(with("let a = 2^999999, b = 0^-1, c = (1 m)^100, d = (1 m)^0.3, e = 1e308*1e308, f = 1/(1 - 1)"), "powers");
    expect_answer(with("param p = 1 kg^12*m^12*s^12\nlet q = (p*p*p)^12"), "dimensions out of range");
    expect_answer(with("param a[1] = 1, a[2] = a[1], a[1.5] = 2, a[10^14] = 3\nlet b = a[2] + a[-1] + a[a[1]]"), "indices");
}

}  // namespace
