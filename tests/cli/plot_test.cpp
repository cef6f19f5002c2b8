// `appell plot`: the numbers in the picture are the numbers of the run; bad requests are told by name and leave no file.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <regex>

#include <fmt/format.h>

#include "cli/cli_fixture.hpp"
#include "support/xml_check.hpp"

namespace appell {
namespace {

// with names that need quoting, an include and a size, so that the folder must hold all that the model needs
constexpr const char* k_model = R"(system swing "A pendulum and a bead"
size n = 1
include "parts/numbers.appell"
coord theta = 0.4 rad, x = 0.1 m
frame B from N rotate theta about z
point P at O + l*B.x
particle P mass m
gravity g*N.x
for i in 1..n
  particle Q[i] mass m at O + (x + i)*N.y
end
constraint held: x = 0.1 m + 0.01 m*sin(t/1 s)
output double_angle = 2*theta, broken = sqrt(theta - 0.2)
run for 2 s, every 0.01 s, rtol 1e-10, atol 1e-12
)";

struct Table {
    std::map<std::string, std::vector<double>> columns;
};

class PlotCommandTest : public Cli {
protected:
    void SetUp() override {
        Cli::SetUp();
        write("m.appell", k_model);
        write("parts/numbers.appell", "param l = 1 m, m = 2 kg, g = 9.81 m/s^2\n");
        const Outcome made = call("run m.appell --out r --set l=0.8 --set n=2 --forces N --no-report");
        ASSERT_EQ(made.code, 0) << made.out;
        fs::remove_all(folder_ / "parts");
        for (const char* file : {"r/trajectory.csv", "r/forces.csv"}) {
            std::istringstream lines(read(file));
            std::string line;
            std::getline(lines, line);
            std::vector<std::string> names;
            const std::regex field("\"([^\"]*)\"|([^,]+)");
            for (std::sregex_iterator it(line.begin(), line.end(), field), end; it != end; ++it)
                names.push_back((*it)[1].matched ? (*it)[1] : (*it)[2]);
            while (std::getline(lines, line)) {
                std::istringstream cells(line);
                std::string cell;
                for (const std::string& name : names) {
                    std::getline(cells, cell, ',');
                    if (std::string(file) == "r/trajectory.csv" || name != "t") table_[name].push_back(std::stod(cell));
                }
            }
        }
    }

    // The curves of a picture in the units of its axes, which are read off two ticks each.
    [[nodiscard]] std::vector<std::vector<std::pair<double, double>>> curves(const std::string& svg) const {
        const auto scale = [&](const std::string& pattern) {
            std::vector<std::pair<double, double>> ticks;  // pixel, value
            const std::regex label(pattern);
            for (std::sregex_iterator it(svg.begin(), svg.end(), label), end; it != end; ++it) {
                std::string text = (*it)[2];
                const std::size_t minus = text.find("\u2212");
                if (minus != std::string::npos) text.replace(minus, 3, "-");
                ticks.emplace_back(std::stod((*it)[1]), std::stod(text));
            }
            EXPECT_GE(ticks.size(), 2u) << svg;
            return [first = ticks.front(), last = ticks.back()](double p) {
                return first.second + (p - first.first) / (last.first - first.first) * (last.second - first.second);
            };
        };
        const auto x = scale("<text class=\"ap-tick\" x=\"([0-9.]+)\" y=\"[0-9.]+\" text-anchor=\"middle\">([^<]*)<");
        // the base line of a label lies below its tick by 0.36 of the font size of 12
        const auto y = scale("<text class=\"ap-tick\" x=\"[0-9.]+\" y=\"([0-9.]+)\" text-anchor=\"end\">([^<]*)<");
        std::vector<std::vector<std::pair<double, double>>> out;
        const std::string begin = "<path class=\"ap-line ";
        for (std::size_t at = svg.find(begin); at != std::string::npos; at = svg.find(begin, at + 1)) {
            const std::size_t from = svg.find(" d=\"", at) + 4, to = svg.find('"', from);
            if (svg.compare(to, 9, "\"><title>") != 0) continue;  // a sample of the legend
            out.emplace_back();
            std::string d = svg.substr(from, to - from);
            for (char& c : d)
                if (c == 'M' || c == 'L') c = ' ';
            std::istringstream numbers(d);
            double px = 0, py = 0;
            while (numbers >> px >> py) out.back().emplace_back(x(px), y(py + 12 * 0.36));
        }
        return out;
    }

    std::string plot(const std::string& request, const std::string& more = "") const {
        const Outcome made = call("plot r '" + request + "' -o p.svg " + more);
        EXPECT_EQ(made.code, 0) << made.out;
        const std::string svg = read("p.svg");
        EXPECT_EQ(test::xml_problem(svg), "");
        return svg;
    }

    // every point of a drawn curve lies where the values are; a picture is exact to half a hundredth of a pixel, and its scale,
    // read off labels, to as much over some 200 pixels
    void expect_curve(const std::vector<std::pair<double, double>>& curve, const std::vector<double>& x,
                      const std::vector<double>& y, double axis = 0) {
        ASSERT_GT(curve.size(), 50u);
        const auto span = [](const std::vector<double>& v) {
            return *std::max_element(v.begin(), v.end()) - *std::min_element(v.begin(), v.end());
        };
        const double dx = 1e-4 * span(x), dy = 2e-4 * std::max(axis, span(y));  // `axis`: where other curves reach further
        std::size_t row = 0;
        for (const auto& [px, py] : curve) {
            while (row < x.size() && (std::abs(x[row] - px) > dx || std::abs(y[row] - py) > dy)) ++row;
            ASSERT_LT(row, x.size()) << px << " " << py;
        }
    }

    std::map<std::string, std::vector<double>> table_;
};

TEST_F(PlotCommandTest, RecordedColumnsAreDrawnAsTheyAre) {
    const std::string svg = plot("theta, x/1 m vs t", "--title 'A & B' --width 160 --height 100");
    EXPECT_NE(svg.find("width=\"160mm\" height=\"100mm\""), std::string::npos) << svg.substr(0, 300);
    EXPECT_NE(svg.find(">t [s]<"), std::string::npos);
    EXPECT_NE(svg.find("A &amp; B"), std::string::npos);
    EXPECT_NE(svg.find("ap-d1"), std::string::npos);  // the second curve has a pattern
    EXPECT_EQ(svg.find("prefers-color-scheme"), std::string::npos);
    const auto drawn = curves(svg);
    ASSERT_EQ(drawn.size(), 2u);
    expect_curve(drawn[0], table_.at("t"), table_.at("theta"));
    expect_curve(drawn[1], table_.at("t"), table_.at("x"), 0.8);
}

TEST_F(PlotCommandTest, ExpressionsAreComputedWithTheModelAsItWasSet) {
    // 0.8 m was set in place of 1 m: the speed of P is 0.8 m times the rate of theta
    const std::string svg = plot("mag(vel(P)) vs t", "--width 160 --height 100");
    EXPECT_NE(svg.find(">mag(vel(P)) [m/s]<"), std::string::npos) << svg;
    std::vector<double> speed;
    for (const double u : table_.at("theta'")) speed.push_back(0.8 * std::abs(u));
    expect_curve(curves(svg).at(0), table_.at("t"), speed);
    // what is recorded and computed is the same
    for (const auto& [computed, recorded] : {std::pair("kinetic() + potential()", "energy"),
                                             std::pair("1*lambda(held)", "lambda(held)"), std::pair("2*theta", "double_angle")}) {
        const std::string one = plot(std::string(computed) + " vs t"), other = plot(std::string(recorded) + " vs t");
        const auto path = [](const std::string& picture) {
            return picture.substr(picture.find("<path class=\"ap-line"), 2000).substr(0, picture.find("><title>"));
        };
        EXPECT_EQ(path(one).substr(0, 1500), path(other).substr(0, 1500)) << computed;
    }
    // the second member of the family, whose size was set
    std::vector<double> place;
    for (const double x : table_.at("x")) place.push_back(x + 2);
    expect_curve(curves(plot("dot(pos(Q[2], O), N.y) vs t", "--width 160 --height 100")).at(0), table_.at("t"), place);
}

TEST_F(PlotCommandTest, PathsOtherAbscissasRangesAndLogarithms) {
    const auto path = curves(plot("path(P)", "--width 120 --height 120"));
    ASSERT_EQ(path.size(), 1u);
    for (const auto& [x, y] : path[0]) EXPECT_NEAR(std::hypot(x, y), 0.8, 2e-3);
    expect_curve(curves(plot("theta'\\'' vs theta", "--width 160 --height 100")).at(0), table_.at("theta"), table_.at("theta'"));
    const auto part = curves(plot("theta vs t", "--from 0.5 --to 1.5 --width 160 --height 100"));
    ASSERT_EQ(part.size(), 1u);
    for (const auto& [t, theta] : part[0]) EXPECT_TRUE(t > 0.4999 && t < 1.5001) << t;
    const std::string logarithmic = plot("exp(5*t/1 s) vs t", "--log y");
    for (const char* decade : {">1<", ">10<", ">100<", ">1000<", ">10⁴<"})
        EXPECT_NE(logarithmic.find(decade), std::string::npos) << decade;
}

TEST_F(PlotCommandTest, ForceColumnsHaveTheirUnits) {
    ASSERT_EQ(call("run " + model("perpendicular_pucks") + " --until 1 --forces N --out f --no-report").code, 0);
    ASSERT_EQ(call("plot f 'force(perpendicular, P1).x, force(perpendicular,P2).y' -o f.svg").code, 0);
    EXPECT_NE(read("f.svg").find(">[N]<"), std::string::npos);
    // a generalized force has none
    EXPECT_NE(plot("generalized(held, x'\\'')").find(">generalized(held, x&#39;)<"), std::string::npos);
}

TEST_F(PlotCommandTest, PdfHasSelectableTextAndItsSize) {
    ASSERT_EQ(call("plot r 'theta vs t' -o p.pdf --title 'Swing of P' --width 90 --height 60").code, 0);
    const std::string pdf = read("p.pdf");
    EXPECT_TRUE(pdf.starts_with("%PDF-1."));
    // the same figure, the same bytes
    ASSERT_EQ(call("plot r 'theta vs t' -o q.pdf --title 'Swing of P' --width 90 --height 60").code, 0);
    EXPECT_EQ(read("q.pdf"), pdf);
    if (std::system("command -v pdftotext >/dev/null") != 0) GTEST_SKIP() << "no pdftotext";
    const std::string at = "cd '" + folder_.string() + "' && ";
    ASSERT_EQ(std::system((at + "pdftotext p.pdf p.txt && pdfinfo p.pdf > i.txt && pdftoppm -r 100 -png p.pdf page").c_str()), 0);
    const std::string text = read("p.txt");
    for (const char* words : {"Swing of P", "t [s]", "theta", "0.5"}) EXPECT_NE(text.find(words), std::string::npos) << text;
    // 90 mm x 60 mm are 255.1 x 170.1 points
    EXPECT_TRUE(std::regex_search(read("i.txt"), std::regex("Page size: +255\\.1[0-9]* x 170\\.0?[0-9]* pts"))) << read("i.txt");
}

TEST_F(PlotCommandTest, PngHasItsPixelsAndResolution) {
    ASSERT_EQ(call("plot r 'theta vs t' -o p.png --width 100 --height 50 --dpi 254").code, 0);
    const std::string png = read("p.png");
    const auto word = [&](std::size_t at) {
        std::uint32_t value = 0;
        for (std::size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<std::uint8_t>(png[at + i]);
        return value;
    };
    ASSERT_TRUE(png.starts_with("\x89PNG\r\n\x1a\n"));
    EXPECT_EQ(word(16), 1000u);
    EXPECT_EQ(word(20), 500u);
    ASSERT_EQ(png.substr(37, 4), "pHYs");
    EXPECT_EQ(word(41), 10000u);  // pixels per metre
    if (std::system("command -v pngcheck >/dev/null") == 0) {
        EXPECT_EQ(std::system(("pngcheck -q '" + (folder_ / "p.png").string() + "'").c_str()), 0);
    }
    if (std::system("command -v python3 >/dev/null") != 0) GTEST_SKIP() << "no python3";
    // decoded: mostly white, and grey levels in between, which antialiasing makes
    write("decode.py", R"(import struct, sys, zlib
data = open(sys.argv[1], 'rb').read()
at, packed = 8, b''
while at < len(data):
    n, = struct.unpack('>I', data[at:at + 4])
    kind, body = data[at + 4:at + 8], data[at + 8:at + 8 + n]
    assert zlib.crc32(kind + body) == struct.unpack('>I', data[at + 8 + n:at + 12 + n])[0], kind
    if kind == b'IHDR': w, h, depth, colour = struct.unpack('>IIBB', body[:10])
    if kind == b'IDAT': packed += body
    at += 12 + n
raw = zlib.decompress(packed)
step = {2: 3, 6: 4}[colour]
assert depth == 8 and len(raw) == h * (1 + w * step)
rows, last = [], bytearray(w * step)
for y in range(h):
    f, line = raw[y * (1 + w * step)], bytearray(raw[y * (1 + w * step) + 1:(y + 1) * (1 + w * step)])
    for i in range(len(line)):
        a, b = (line[i - step] if i >= step else 0), last[i]
        c = last[i - step] if i >= step else 0
        if f == 1: line[i] = (line[i] + a) & 255
        elif f == 2: line[i] = (line[i] + b) & 255
        elif f == 3: line[i] = (line[i] + (a + b) // 2) & 255
        elif f == 4:
            p = a + b - c
            line[i] = (line[i] + min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]) & 255
    rows.append(line); last = line
reds = [v for line in rows for v in line[::step]]
white = reds.count(255) / len(reds)
print(0.7 < white < 0.99, len(set(reds)) > 40)
)");
    const std::string command = "python3 '" + (folder_ / "decode.py").string() + "' '" + (folder_ / "p.png").string() + "'";
    FILE* pipe = popen(command.c_str(), "r");
    std::array<char, 100> answer{};
    (void)!std::fgets(answer.data(), answer.size(), pipe);
    EXPECT_EQ(pclose(pipe), 0);
    EXPECT_STREQ(answer.data(), "True True\n");
}

TEST_F(PlotCommandTest, BadRequestsAreToldByNameAndWriteNothing) {
    const std::pair<const char*, const char*> bad[] = {
        {"plot r 'thetta vs t' -o no.svg", "E0202"},     // an unknown name
        {"plot r 'theta + x vs t' -o no.svg", "E0301"},  // unlike units added
        {"plot r 'theta, x vs t' -o no.svg", "E0873"},   // on one axis
        {"plot r 'theta, vs t' -o no.svg", "E0872"},     // nothing between
        {"plot r '' -o no.svg", "E0872"},
        {"plot r 'theta vs t vs x' -o no.svg", "E0872"},
        {"plot r 'theta vs t, x' -o no.svg", "E0872"},
        {"plot r 'theta vs t' --from 5 --to 6 -o no.svg", "E0872"},
        {"plot r 'sqrt(-1 - t/1 s) vs t' -o no.svg", "E0872"},
        {"plot r '-1 - t/1 s vs t' --log y -o no.svg", "E0872"},
        {"plot r \"theta\nparam q = 1\" -o no.svg", "E0872"},
        {"plot nowhere 'theta' -o no.svg", "E0871"},
        {"plot m.appell 'theta' -o no.svg", "E0871"},
        {"plot . 'theta' -o no.svg", "E0871"},
        {"plot r 'theta' -o no/such/folder/p.svg", "E0801"},
    };
    for (const auto& [arguments, code] : bad) {
        expect_problem(arguments, code);
        EXPECT_FALSE(fs::exists(folder_ / "no.svg")) << arguments;
    }
    for (const char* wrong : {"plot r", "plot r theta", "plot r theta -o p", "plot r theta -o p.gif",
                              "plot r theta -o p.png --dpi 3", "plot r theta -o p.svg --width 5", "plot r theta -o p.svg --log z",
                              "plot r theta -o p.svg --from 2 --to 1", "plot r theta -o p.png --width 1900 --dpi 2400"})
        EXPECT_EQ(call(wrong).code, 2) << wrong;
    // gaps are told, and the rest is drawn
    const Outcome gaps = call("plot r 'broken' -o gaps.svg");
    EXPECT_EQ(gaps.code, 0) << gaps.out;
    EXPECT_NE(gaps.out.find("[W0875]"), std::string::npos) << gaps.out;
    // half a run
    fs::remove(folder_ / "r/summary.json");
    expect_problem("plot r 'theta' -o no.svg", "E0871");
}

TEST_F(PlotCommandTest, WhatTheStateDoesNotDetermineIsRefused) {
    ASSERT_EQ(call("run " + model("bouncing_ball") + " --out b --no-report").code, 0);
    const auto header = read("b/trajectory.csv").substr(0, 200);
    EXPECT_EQ(call("plot b 'energy vs t' -o e.svg").code, 0);
    const auto acceleration = call("plot b \"dt(dt(" + header.substr(2, header.find(',', 2) - 2) + ")) vs t\" -o no.svg");
    EXPECT_EQ(acceleration.code, 1);
    EXPECT_NE(acceleration.out.find("[E0874]"), std::string::npos) << acceleration.out;
}

// Half a table is not drawn as if it were whole.
TEST_F(PlotCommandTest, ADamagedTableIsRefusedByItsRow) {
    for (const char* name : {"r/trajectory.csv", "r/forces.csv"}) {
        const std::string whole = read(name);
        std::vector<std::size_t> ends;
        for (std::size_t at = whole.find('\n'); at != std::string::npos; at = whole.find('\n', at + 1)) ends.push_back(at);
        ASSERT_EQ(ends.size(), 202u);  // with the header
        const auto refused = [&](const std::string& text, std::size_t row) {
            write(name, text);
            const Outcome outcome = call("plot r 'theta vs t' -o no.svg");
            EXPECT_EQ(outcome.code, 1) << outcome.out;
            EXPECT_NE(outcome.out.find("[E0871]"), std::string::npos) << outcome.out;
            EXPECT_NE(outcome.out.find(fmt::format("row {} is missing or another one", row)), std::string::npos) << outcome.out;
            EXPECT_FALSE(fs::exists(folder_ / "no.svg"));
        };
        std::mt19937_64 random(5);
        const auto row = [&] { return std::uniform_int_distribution<std::size_t>(1, 201)(random); };
        for (int i = 0; i < 5; ++i) {
            const std::size_t at = row();
            std::string text = whole;
            text[whole.find(',', ends[at - 1])] = ';';
            refused(text, at);
            text[whole.find(',', ends[at - 1])] = '\0';
            refused(text, at);
            refused(whole.substr(0, ends[at] - 1), at);
            refused(whole.substr(0, ends[at - 1] + 1), at);
        }
        refused(whole.substr(0, ends[200] + 1) + whole.substr(ends[200] + 1, 3), 201);
        // a row of another run
        if (std::string(name) == "r/forces.csv") refused(whole.substr(0, ends[9] + 1) + whole.substr(ends[10] + 1), 10);
        write(name, whole);
    }
    EXPECT_EQ(call("plot r 'theta vs t' -o yes.svg").code, 0);
    // A run that was resumed has more rows than the summary of its first end; one that is being written does not count.
    write("r/trajectory.csv", read("r/trajectory.csv") + "2.5,1");
    EXPECT_EQ(call("plot r 'theta vs t' -o more.svg").code, 0);
    EXPECT_EQ(read("yes.svg"), read("more.svg"));
}

TEST_F(PlotCommandTest, FilesOfARunAreMeasuredBeforeTheyAreRead) {
    for (const char* name : {"r/model.appell", "r/summary.json", "r/trajectory.csv"}) {
        const std::string text = read(name);
        fs::resize_file(folder_ / name, 30'000'000'000);  // takes no room
        expect_problem("plot r 'theta vs t' -o no.svg", "E0871");
        write(name, text);
    }
    EXPECT_EQ(call("plot r 'theta vs t' -o yes.svg").code, 0);
}

}  // namespace
}  // namespace appell
