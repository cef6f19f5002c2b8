// One bad model for each diagnostic of the language, with the place it points at. The last test keeps the table complete.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "lang/read_model.hpp"

namespace {

using namespace appell;

struct BadModel {
    const char* code;
    std::size_t line, column;  // 0: the diagnostic has no place
    std::string text;
    ReadOptions options{};
    std::map<std::string, std::string> files{};
};

// a complete model around the statements under test, which begin on line 2
std::string with(const std::string& statements) {
    return "system s\n" + statements + "\ncoord x_ = 0 m\nparticle P_ mass 1 kg at O + x_*N.x\n";
}

ReadOptions limited(void (*change)(Limits&)) {
    ReadOptions options;
    change(options.limits);
    return options;
}

ReadOptions setting(const std::string& name, double value) {
    ReadOptions options;
    options.set[name] = value;
    return options;
}

std::vector<BadModel> bad_models() {
    std::vector<BadModel> all;
    const auto add = [&](const char* code, std::size_t line, std::size_t column, std::string text, ReadOptions options = {},
                         std::map<std::string, std::string> files = {}) {
        all.push_back({code, line, column, std::move(text), std::move(options), std::move(files)});
    };
    // files and limits
    add("E0001", 2, 9, with("include \"gone.appell\""));
    add("E0002", 2, 9, with("include \"../secret.appell\""));
    add("E0002", 2, 9, with("include \"/etc/passwd\""));
    add("E0002", 2, 9, with("include \"a/../../b\""));
    add("E0002", 2, 9, with("include \"C:\\\\b\""));
    add("E0003", 1, 9, with("include \"a.appell\""), {}, {{"a.appell", "include \"a.appell\"\n"}});
    add("E0003", 1, 9, with("include \"a.appell\""), {},
        {{"a.appell", "include \"b.appell\"\n"}, {"b.appell", "include \"./a.appell\"\n"}});
    add("E0003", 2, 9, with("include \"model.appell\""));
    add("E0004", 1, 9, with("include \"a.appell\""), limited([](Limits& l) { l.include_depth = 1; }),
        {{"a.appell", "include \"b.appell\"\n"}, {"b.appell", "param k = 1\n"}});
    add("E0005", 0, 0, with("param m = 1"), limited([](Limits& l) { l.source_bytes = 20; }));
    add("E0005", 2, 9, with("include \"a.appell\""), limited([](Limits& l) { l.source_bytes = 120; }),
        {{"a.appell", "param k = 1 #" + std::string(100, 'x')}});
    add("E0006", 2, 9, with(std::string("param m \0= 1", 12)));
    add("E0007", 2, 7, with("param \xff = 1"));
    add("E0007", 2, 7, with("param \xc0\xaf = 1"));
    add("E0008", 1, 1, "");
    add("E0008", 1, 1, "# nothing but a remark\n\n");
    add("E0009", 1, 1, std::string(5u << 20, 'a'));
    add("E0010", 3, 3, with("for i in 1..100\n  param p[i] = 1\nend"), limited([](Limits& l) { l.statements = 50; }));
    add("E0011", 2, 19, with("let a = ((((((((((1))))))))))"), limited([](Limits& l) { l.nesting = 9; }));
    add("E0011", 2, 19, with("let a = ----------1"), limited([](Limits& l) { l.nesting = 9; }));
    add("E0012", 0, 0, with("let a = sin(1) + sin(2) + sin(3) + sin(4)"), limited([](Limits& l) { l.nodes = 10; }));
    // lexical and syntax
    add("E0101", 2, 13, with("param m = 1 \xe2\x88\x92 2"));
    add("E0101", 2, 11, with("param m = $"));
    add("E0102", 1, 10, "system s \"no end\ncoord x\nparticle P mass 1 at O + x*N.x\n");
    add("E0103", 2, 11, with("param m = 2m"));
    add("E0103", 2, 11, with("param m = 1.2.3"));
    add("E0103", 2, 11, with("param m = 1e999"));
    add("E0104", 2, 1, with("parma m = 1"));
    add("E0104", 2, 1, with("(1)"));
    add("E0105", 2, 9, with("param m 1"));
    add("E0105", 2, 11, with("point P at"));
    add("E0105", 2, 16, with("frame B from N rotat 1 about z"));
    add("E0105", 3, 3, with("param m = 1\n  coord y"));
    add("E0105", 2, 21, with("frame B from N body zxx (1, 2, 3)"));
    add("E0105", 3, 17, with("coord x\nconstraint c: x == 1"));
    add("E0106", 2, 11, with("param m = (1 + 2"));
    add("E0106", 2, 11, with("param m = sin(1"));
    add("E0107", 2, 13, with("param m = 1 kgg"));
    add("E0107", 2, 13, with("param m = 2 foo"));
    add("E0108", 2, 1, with("for i in 1..3"));
    add("E0108", 2, 1, with("end"));
    add("E0109", 3, 3, with("for i in 1..3\n  run for 1 s\nend"));
    add("E0110", 2, 1, with("body B frame N mass 1 center O"));
    add("E0110", 2, 23, with("body B frame N mass 1 mass 2"));
    add("E0110", 2, 14, with("run for 1 s, for 2 s"));
    // names
    add("E0201", 5, 6,
        "system s\ncoord x, a\nframe B from N rotate a about z\nbody B frame B mass 1 center at O + x*N.x inertia (1, 1, 1)\n"
        "body B frame B mass 1 center O inertia (1, 1, 1)\n");
    add("E0201", 5, 6,
        "system s\ncoord x, a\nframe B from N rotate a about z\nbody K frame B mass 1 center O inertia (1, 1, 1)\n"
        "body K frame B mass 1 center O inertia (1, 1, 1)\nparticle P mass 1 at O + x*N.x\n");
    add("E0201", 5, 10, "system s\ncoord x\npoint P at O + x*N.x\nparticle P mass 1\nparticle P mass 2\n");
    add("E0201", 2, 14, with("param m = 1, m = 2"));
    add("E0201", 2, 7, with("param N = 1"));
    add("E0202", 2, 11, with("param m = mm1"));
    add("E0202", 2, 11, with("let v = N.w"));
    add("E0203", 2, 7, with("param pi = 3"));
    add("E0203", 2, 7, with("param sin = 3"));
    add("E0203", 2, 10, with("function vel(x) = x"));
    add("E0204", 0, 0, with("param mass1 = 1"), setting("mass2", 1));
    add("E0205", 2, 9, with("let a = sine(1)"));
    add("E0206", 2, 5, with("let a = b\nlet b = a"));
    add("E0206", 2, 7, with("param a = b, b = 2*a"));
    add("E0206", 2, 7, with("frame A from B rotate 1 about z\nframe B from A rotate 1 about z"));
    add("E0206", 2, 7, with("point A at B + N.x\npoint B at A + N.x"));
    add("E0206", 2, 5, with("let a = a"));
    add("E0207", 5, 9, with("for i in 1..3\n  param p[i] = i\nend\nlet a = p[4]"));
    add("E0207", 3, 21, with("constraint c: x_ = 1, x_ = 1\noutput a = lambda(c.3)"));
    add("E0208", 5, 9, with("for i in 1..3\n  param p[i] = i\nend\nlet a = p + 1"));
    add("E0208", 3, 9, with("param p = 1\nlet a = p[1]"));
    add("E0209", 2, 1, with("system again"));
    add("E0209", 3, 1, with("newtonian N\nnewtonian M"));
    add("E0209", 3, 1, with("run for 1 s\nrun for 2 s"));
    // units
    add("E0301", 2, 13, with("let a = 1 m + 2 s"));
    add("E0301", 3, 15, with("param k = 1 kg\nconstraint c: x_ = k"));
    add("E0301", 2, 16, with("let a = if(1 m < 1 s, 1, 2)"));
    add("E0302", 2, 9, with("let a = sin(1 m)"));
    add("E0303", 2, 17, with("particle Q mass 1 m at O + x_*N.x"));
    add("E0303", 2, 15, with("force on P_ = 1 m*N.x"));
    add("E0303", 3, 11, with("speed u = x_'\nstart u = 1 s"));
    add("E0303", 2, 12, with("point A at O + 1 kg*N.x"));
    add("E0304", 2, 10, with("let a = 2^(1 m)"));
    add("E0304", 3, 14, with("coord y_\nlet a = (1 m)^y_"));
    add("W0301", 3, 9, with("param g = 9.81 m/s^2\nlet a = 2 kg*g"));
    // types
    add("E0401", 2, 11, with("let a = 1 + N.x"));
    add("E0401", 2, 12, with("let a = N.x*N.y"));
    add("E0401", 2, 15, with("force on P_ = 1 N"));
    add("E0401", 2, 9, with("let a = (1, 2)"));
    add("E0401", 2, 9, with("let a = vel(N)"));
    add("E0401", 2, 11, with("torque on P_ = N.x"));
    add("E0402", 2, 9, with("let a = sin(1, 2)"));
    add("E0402", 3, 9, with("function f(x) = x\nlet a = f(1, 2)"));
    add("E0403", 2, 11, with("param m = x_"));
    add("E0403", 2, 11, with("param m = t"));
    add("E0404", 2, 10, with("size n = 2.5"));
    add("E0404", 3, 13, with("param p = 2\nfor i in 1..p\n  param r[i] = 1\nend"));
    add("E0404", 0, 0, with("size n = 2"), setting("n", 2.5));
    add("E0405", 3, 17, with("speed u = x_'\npoint A at O + (u*1 s)*N.x"));
    add("E0405", 3, 16, with("constraint c: x_ = 1 m\nforce on P_ = (lambda(c))*N.x"));
    add("E0406", 2, 9, with("run for -1 s"));
    add("E0406", 2, 37, with("run stabilize baumgarte, gains (-1, 2)"));
    add("E0406", 2, 16, with("tolerance x_ = -1 m"));
    add("E0406", 2, 11, with("param m = log(0)"));
    add("E0406", 2, 12, with("param m = 1/0"));
    add("E0407", 3, 9, with("param m = 1\nlet a = m'"));
    add("E0407", 2, 7, with("coord y' = 1"));
    add("E0408", 2, 12, with("point A at x_*N.x"));
    add("E0408", 2, 12, with("point A at P_ + O + P_"));
    // completeness
    add("E0591", 0, 0, "system s\nparticle P mass 1 at O + N.x\n");
    add("E0592", 0, 0, "system s\ncoord x\n");
    add("E0593", 4, 7,
        with("coord a = 1, b, c, d\nframe A from N quaternion (a, b, c, d)\nframe B from N quaternion (a, b, c, d)"));
    add("E0503", 1, 1, "coord x\nparticle P mass 1 at O + x*N.x\n");
    add("E0503", 2, 1, "coord x\nsystem s\nparticle P mass 1 at O + x*N.x\n");
    add("E0504", 2, 7, with("param k"));
    add("E0505", 2, 17, with("particle Q mass 0 at O + x_*N.x"));
    add("E0505", 3, 17, with("param m = -1 kg\nparticle Q mass m at O + x_*N.x"));
    add("E0506", 2, 47, with("body B frame N mass 1 center O inertia (1, 1, -1)"));
    add("E0507", 2, 1, with("for i in 1..100\n  param p[i] = 1\nend"), limited([](Limits& l) { l.family_size = 50; }));
    add("E0507", 2, 9, with("let a = sum(i in 1..100: i)"), limited([](Limits& l) { l.family_size = 50; }));
    add("E0508", 2, 17, with("run formulation kane"));
    add("E0508", 2, 16, with("run integrator euler"));
    add("E0509", 3, 32, with("coord e0, e1, e2\nframe B from N quaternion (e0, e0, e1, e2)"));
    add("E0509", 3, 28, with("coord e0, e1, e2\nframe B from N quaternion (1, e0, e1, e2)"));
    add("E0510", 2, 7, with("start x_ = 1 m"));
    add("E0511", 2, 31, with("frame B from N rotate 1 about (0, 0, 0)"));
    add("W0501", 2, 40, with("body B frame N mass 1 center O inertia (1, 1, 3)"));
    add("N0501", 2, 1, with("for i in 1..0\n  param p[i] = 1\nend"));
    // contacts and friction
    add("E0726", 2, 15, with("constraint c: x_' >= 0"));
    add("E0727", 3, 25, with("constraint c: x_ >= 0\nnonideal c: friction on P_ = 1"));
    add("E0902", 2, 15, with("force on P_ = acc(P_)"));
    add("E0902", 2, 16, with("force on P_ = (x_'')*N.x"));
    // laws, actuators, claims
    add("E0401", 2, 10, with("nonideal P_: force on P_ = N.x"));
    add("E0201", 2, 6, with("body N frame N mass 1 center O inertia (1, 1, 1)"));
    add("E0202", 2, 10, with("nonideal c: force on P_ = N.x"));
    add("E0405", 4, 27,
        with("constraint c: x_ = 1 m\nactuator A: force on P_ along N.x\nnonideal c: force on P_ = actuator(A)*N.x"));
    add("E0401", 2, 22, with("servo s: x_ = 1 m by P_"));
    add("E0401", 2, 13, with("independent x_"));
    add("E0209", 2, 18, with("independent x_', x_'"));
    add("E0209", 3, 1, with("independent x_'\nindependent x_'"));
    add("E0401", 2, 10, with("evidence P_"));
    add("E0209", 3, 13, with("constraint c: x_' = 1 m/s\nevidence c, c"));
    add("E0725", 4, 10, with("actuator F: force on P_ along N.x\nservo s: x_' = 1 m/s by F\nevidence s"));
    add("E0725", 5, 11,
        with("actuator F: force on P_ along N.x\nservo s: x_' = 1 m/s by F\nconstraint c: x_' = 1 m/s\nshare c = s"));
    add("E0209", 3, 11, with("constraint c: x_' = 1 m/s\nshare c = c"));
    add("E0401", 2, 7, with("share x_ = x_"));
    add("E0301", 4, 11, with("constraint c: x_ = 0 m\nconstraint d: (2 s)*x_' = 0 m\nshare c = d"));
    add("E0725", 4, 12, with("actuator F: force on P_ along N.x\nservo s: x_' = 1 m/s by F\noutput o = lambda(s)"));
    add("E0405", 3, 27, with("constraint c: x_' = 1 m/s\nnonideal c: force on P_ = nonideal(c, P_)"));
    add("E0401", 2, 12, with("claim \"a\": N.x = 1"));
    add("E0202", 2, 12, with("claim \"a\": nothing = 1"));
    add("E0202", 2, 12, with("claim \"a\": matrix(Q, 1, 1) = 1"));
    add("E0202", 2, 12, with("claim \"a\": count(apples) = 1"));
    add("E0404", 2, 12, with("claim \"a\": matrix(M, 0, 1) = 1"));
    add("E0401", 2, 24, with("claim \"a\": matrix(M) = ((1, 2), (3))"));
    add("E0401", 2, 27, with("claim \"a\": x_ = 1 m where x_"));
    add("E0301", 2, 12, with("claim \"a\": x_ = 1 s"));
    add("E0405", 2, 12, with("output a = count(rank)"));
    add("E0401", 2, 12, with("output a = partial(x_, 2*x_)"));
    add("E0401", 2, 12, with("output a = active(x_)"));
    add("E0402", 2, 16, with("output a = dot(dt(vel(P_)), N.x)"));
    // the rest is counted
    ReadOptions few;
    few.limits.diagnostics = 2;
    add("N0001", 0, 0, with("let a = b1\nlet c = b2\nlet d = b3"), few);
    return all;
}

Result<Model> read(const BadModel& model, SourceSet& sources) {
    const IncludeLoader loader = [&](const std::string& path) -> std::optional<std::string> {
        const auto found = model.files.find(path);
        return found == model.files.end() ? std::nullopt : std::optional(found->second);
    };
    return read_model("model.appell", model.text, loader, model.options, sources);
}

TEST(LanguageErrors, EachIsReportedAtItsPlace) {
    for (const BadModel& model : bad_models()) {
        SourceSet sources;
        const Result<Model> result = read(model, sources);
        const std::string shown = model.text.size() < 400 ? model.text : "(long text)";
        const std::string report = render(result.diagnostics, sources);
        const Code code = *find_code(model.code);
        const Diagnostic* found = nullptr;
        for (const Diagnostic& d : result.diagnostics.all())
            if (d.code == code && found == nullptr) found = &d;
        ASSERT_NE(found, nullptr) << model.code << " is missing for\n" << shown << "\nreported:\n" << report;
        if (model.line == 0) {
            EXPECT_FALSE(found->span.known()) << shown << report;
        } else {
            ASSERT_TRUE(found->span.known()) << shown << report;
            const LineColumn at = sources.locate(found->span.file, found->span.begin);
            EXPECT_EQ(at.line, model.line) << shown << report;
            EXPECT_EQ(at.column, model.column) << shown << report;
        }
        EXPECT_FALSE(found->message.empty());
        // one mistake, one message: nothing follows from it
        if (code != Code::N0001) {
            EXPECT_EQ(result.diagnostics.all().size(), 1u) << shown << report;
        }
        EXPECT_EQ(result.value.has_value(), !result.diagnostics.has_errors()) << shown << report;
    }
}

// codes of E00xx to E05xx and E09xx, with W and N alike, belong to the language
TEST(LanguageErrors, EveryCodeHasABadModel) {
    std::set<std::string> covered;
    for (const BadModel& model : bad_models()) covered.insert(model.code);
    for (const CodeInfo& row : all_codes()) {
        const std::string hundred(row.name.substr(1, 2));
        if (hundred > "05" && hundred != "09") continue;
        EXPECT_TRUE(covered.contains(std::string(row.name))) << row.name << " has no bad model in this table";
    }
}

TEST(LanguageErrors, AllProblemsOfAFileAreReportedAtOnce) {
    SourceSet sources;
    const Result<Model> result = read_model("m", R"(system s
param m = 1 kg, k = 2 foo
coord x = 0 m
particle P mass m at O + x*N.x
frce on P = N.x
force on Q = N.x
let a = 1 m + 1 s
let b = k + a + unknown
spring P O stiffness k
)",
                                            {}, {}, sources);
    std::multiset<std::string> codes;
    for (const Diagnostic& d : result.diagnostics.all()) codes.insert(std::string(info(d.code).name));
    // k and m stand in a statement that could not be read: their absence is not reported again
    EXPECT_EQ(codes, (std::multiset<std::string>{"E0104", "E0107", "E0202", "E0202", "E0301"}))
        << render(result.diagnostics, sources);
}

// what is made of a value that could not be read is no further problem
TEST(LanguageErrors, AValueThatIsMissingIsToldOnce) {
    for (const char* value : {"1 + kg", "unknown", "1/0", "2*(1 s + 1 m)"}) {
        SourceSet sources;
        const Result<Model> result = read_model("m",
                                                fmt::format("system s\nparam m = {}\nparam k = 2*m\ncoord x = 0 m\n"
                                                            "particle P mass k at O + x*N.x\nspring P O stiffness k + m\n",
                                                            value),
                                                {}, {}, sources);
        EXPECT_EQ(result.diagnostics.all().size(), 1u) << render(result.diagnostics, sources);
    }
}

TEST(LanguageErrors, TheRestIsCounted) {
    std::string text = "system s\ncoord x\nparticle P mass 1 at O + x*N.x\n";
    for (int i = 0; i < 250; ++i) text += "let a" + std::to_string(i) + " = unknown" + std::to_string(i) + "\n";
    SourceSet sources;
    const Result<Model> result = read_model("m", text, {}, {}, sources);
    ASSERT_EQ(result.diagnostics.all().size(), 101u);
    EXPECT_EQ(result.diagnostics.all().back().code, Code::N0001);
    EXPECT_NE(result.diagnostics.all().back().message.find("150"), std::string::npos);
}

TEST(LanguageErrors, HintsNameTheNearest) {
    const auto hint = [](const std::string& statements) {
        SourceSet sources;
        const Result<Model> result = read_model("m", with(statements), {}, {}, sources);
        return result.diagnostics.empty() ? std::string() : result.diagnostics.all().front().hint;
    };
    EXPECT_NE(hint("parma m = 1").find("param"), std::string::npos);
    EXPECT_NE(hint("param length1 = 1\nlet a = lenght1").find("length1"), std::string::npos);
    EXPECT_NE(hint("let a = sinn(1)").find("sin"), std::string::npos);
    EXPECT_NE(hint("param m = 2 kgg").find("kg"), std::string::npos);
    EXPECT_NE(hint("let a = 1 m / s").find("2 m/s"), std::string::npos);
    EXPECT_EQ(hint("param w = 2 1/s"), "write `2 s^-1` or `2 Hz`");
    EXPECT_EQ(hint("param w = 0.5 1/s^2"), "write `0.5 s^-2`");
    EXPECT_EQ(hint("let a = 2 (3 + 4)"), "write `2*(...)` for a product");
    EXPECT_EQ(hint("param v = 2 (m/s)^2"), "units have no parentheses: 1 m^2/s^2");
    EXPECT_EQ(hint("param v = 2 (m + 1)"), "write `2*(...)` for a product");
    EXPECT_EQ(hint("param v = 2 kg (x + 1)"), "write `2 kg*(...)` for a product");
    EXPECT_EQ(hint("run from 0 to 10 s"), "a range is written `0..10`, and a run `run from 0 s for 10 s`");
    EXPECT_EQ(hint("run from 0 s to 10 s"), "write `run from 2 s for 8 s`, or `run for 8 s` from t = 0 on");
    EXPECT_EQ(hint("run until 10 s"), "write `run from 2 s for 8 s`, or `run for 8 s` from t = 0 on");
    for (const char* again : {"rotate a about z rotate a about x", "rotate a about z, rotate a about x",
                              "rotate a about z\nframe B from N rotate a about x"})
        EXPECT_NE(hint("coord a\nframe B from N " + std::string(again)).find("behind commas"), std::string::npos) << again;
}

// a family repeats a mistake for each member; the user made it once
TEST(LanguageErrors, AFamilyReportsOnce) {
    SourceSet sources;
    const Result<Model> result = read_model("m", with("for i in 1..50\n  let a[i] = nothing + i\nend"), {}, {}, sources);
    EXPECT_EQ(result.diagnostics.all().size(), 1u) << render(result.diagnostics, sources);
}

TEST(LanguageErrors, CirclesAreShown) {
    SourceSet sources;
    const Result<Model> result = read_model("m", with("let a = b\nlet b = c\nlet c = a"), {}, {}, sources);
    ASSERT_EQ(result.diagnostics.all().size(), 1u) << render(result.diagnostics, sources);
    EXPECT_EQ(result.diagnostics.all().front().found, "a -> b -> c -> a");
}

}  // namespace
