// Exported C and C++, compiled here, against the interpreter: the same operations in the same order on the same numbers give the
// same bits, whatever the compiler, as long as it fuses nothing. So every function of the interface is compared bit by bit at
// random states, but the jacobian, whose last step is a decomposition of another library.
#include <gtest/gtest.h>

#include <random>

#include "pipeline/export_code.hpp"
#include "pipeline/lower_motion.hpp"
#include "sim/motion_jacobian.hpp"
#include "sim/project.hpp"
#include "support/exported_probe.hpp"
#include "support/gallery_run.hpp"
#include "tape/workspace.hpp"

namespace appell {
namespace {

struct Case {
    std::string model;
    std::string formulation = "multipliers";
    std::size_t most_statements = 2000;
    int n = 0;  // of a family; 0: the model's
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.model << " " << c.formulation << " " << c.n; }

// exact where exported code does the same operations
void expect_same(const ProbeAnswer& got, std::span<const double> wanted, const std::string& what) {
    ASSERT_EQ(got.values.size(), wanted.size()) << what;
    for (std::size_t i = 0; i < wanted.size(); ++i)
        EXPECT_EQ(ulps(got.values[i], wanted[i]), 0) << what << "[" << i << "]: " << got.values[i] << " and " << wanted[i];
}

struct Reference {
    explicit Reference(const Program& program) : program(program), workspace(this->program) {}
    Program program;
    Workspace<double> workspace;

    std::span<const double> at(const ProbeState& s, EvalReport& report) {
        const std::span<double> in = workspace.inputs();
        in[0] = s.t;
        std::copy(s.x.begin(), s.x.end(), in.begin() + 1);
        std::copy(s.p.begin(), s.p.end(), in.begin() + 1 + static_cast<std::ptrdiff_t>(s.x.size()));
        report = workspace.run();
        return workspace.outputs();
    }
};

// sparse outputs in their places
std::vector<double> placed(std::span<const double> values, const std::vector<std::pair<std::uint32_t, std::uint32_t>>& places,
                           std::size_t rows, std::size_t columns, bool symmetric) {
    std::vector<double> out(rows * columns, 0.0);
    for (std::size_t i = 0; i < places.size(); ++i) {
        out[places[i].first * columns + places[i].second] = values[i];
        if (symmetric) out[places[i].second * columns + places[i].first] = values[i];
    }
    out.insert(out.end(), values.begin() + static_cast<std::ptrdiff_t>(places.size()), values.end());
    return out;
}

// the start, states around it, one where everything is zero and one that is not finite
std::vector<ProbeState> states_around(const ExportedModel& m) {
    std::mt19937_64 random(20260115);
    std::normal_distribution<double> normal;
    std::vector<ProbeState> out;
    for (int k = 0; k < 12; ++k) {
        ProbeState s;
        s.t = m.from + (k == 0 ? 0 : std::abs(normal(random)));
        for (const ExportedEntry& e : m.states)
            s.x.push_back(k == 0 ? e.value : k == 10 ? 0.0 : e.value + (k < 6 ? 1e-3 : 1.0) * normal(random));
        for (const ExportedEntry& e : m.parameters) s.p.push_back(k == 0 ? e.value : e.value * (1 + 0.2 * normal(random)));
        if (k == 11) s.x[0] = std::numeric_limits<double>::quiet_NaN();
        out.push_back(std::move(s));
    }
    return out;
}

// the same motion as `appell run` has it, for projections and the jacobian
struct Motions {
    Result<LoweredMotion> own, multipliers;
};

Motions motions_of(const Derivation& d, const std::string& formulation) {
    LowerMotionOptions options{.formulation = *find_formulation(formulation), .from = d.model->run.from};
    Motions out;
    out.own = lower_motion(*d.dynamics, options);
    options.formulation = Formulation::multipliers;
    options.jacobian = true;
    out.multipliers = lower_motion(*d.dynamics, options);
    return out;
}

class Comparison {
public:
    Comparison(const ExportedModel& model, Motion motion, Motion with_jacobian)
        : m_(model), motion_(std::move(motion)), with_jacobian_(std::move(with_jacobian)) {}

    void compare(const ProbeState& s, std::map<std::string, ProbeAnswer>& got) {
        values("rate", m_.rate, s, got);
        values("multipliers", m_.multiplier_values, s, got);
        values("forces", m_.force_values, s, got);
        values("outputs", m_.output_values, s, got);
        values("events", m_.event_values, s, got);
        values("residuals", m_.residual_values, s, got);
        values("energies", m_.energies, s, got);
        EvalReport report;
        Reference mass(m_.mass), rows(m_.rows_matrix);
        expect_same(got["mass"], placed(mass.at(s, report), m_.mass_places, m_.speeds, m_.speeds, true), "mass");
        expect_same(got["rows"], placed(rows.at(s, report), m_.row_places, m_.rows.size(), m_.speeds, false), "rows");
        motion_.parameters.assign(s.p.begin(), s.p.end());
        with_jacobian_.parameters.assign(s.p.begin(), s.p.end());
        projections(s, got);
        rate_at_start(s, got);
        jacobian(s, got["jacobian"]);
    }

    void compare_rate(const ProbeState& s, const ProbeAnswer& got, double tolerance) {
        Reference reference(m_.rate);
        EvalReport report;
        const std::span<const double> wanted = reference.at(s, report);
        EXPECT_EQ(got.status, static_cast<int>(report.status));
        ASSERT_EQ(got.values.size(), wanted.size());
        for (std::size_t i = 0; i < wanted.size(); ++i)
            EXPECT_NEAR(got.values[i], wanted[i], tolerance * (1 + std::abs(wanted[i]))) << "rate[" << i << "]";
    }

private:
    void values(const std::string& name, const Program& program, const ProbeState& s, std::map<std::string, ProbeAnswer>& got) {
        Reference reference(program);
        EvalReport report;
        expect_same(got[name], reference.at(s, report), name);
        EXPECT_EQ(got[name].status, static_cast<int>(report.status)) << name;
    }

    void projections(const ProbeState& s, std::map<std::string, ProbeAnswer>& got) {
        for (const bool start : {false, true}) {
            const ProbeAnswer& answer = got[start ? "start" : "project"];
            Projector position(motion_, start ? motion_.for_start_position() : motion_.position, Projector::Part::coordinates);
            Projector velocity(motion_, start ? motion_.for_start_velocity() : motion_.velocity, Projector::Part::speeds);
            std::vector<double> x = s.x;
            const ProjectOptions& options = start ? k_project_start : k_project_step;
            if (start && std::any_of(x.begin(), x.end(), [](double v) { return !std::isfinite(v); })) {
                EXPECT_NE(answer.status, 0);
                continue;
            }
            const bool done = position.project(s.t, x, options).status == ProjectStatus::converged &&
                              velocity.project(s.t, x, options).status == ProjectStatus::converged;
            if (!start) {
                EXPECT_EQ(answer.status == 0, done) << "project";
            } else if (!done) {
                EXPECT_NE(answer.status, 0) << "start";
            }
            expect_same(answer, x, start ? "start" : "project");
        }
    }

    // where rows are redundant the start has fixed their rank
    void rate_at_start(ProbeState s, std::map<std::string, ProbeAnswer>& got) {
        if (got["start"].status != 0) return;
        s.x = got["start"].values;
        Reference reference(m_.rate);
        EvalReport report;
        (void)reference.at(s, report);
        if (report.redundant) reference.workspace.limit_rank(report.rank);
        expect_same(got["rate at start"], reference.at(s, report), "rate at start");
    }

    // NOTE: a decomposition with other pivots loses the condition of the equations times a few roundings
    void jacobian(const ProbeState& s, const ProbeAnswer& got) {
        MotionJacobian jacobian(with_jacobian_);
        const std::size_t n = m_.states.size();
        std::vector<double> J(n * n);
        const RateStatus status = jacobian.evaluate(s.t, s.x, J, n);
        EXPECT_EQ(status == RateStatus::ok, got.status == 0 || got.status == 3);
        if (status != RateStatus::ok) return;
        double size = 0, worst = 0;
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t j = 0; j < n; ++j) {
                size = std::max(size, std::abs(J[j * n + i]));
                worst = std::max(worst, std::abs(J[j * n + i] - got.values[i * n + j]));
            }
        EXPECT_LE(worst, 1e-9 * size) << "jacobian";
    }

    const ExportedModel& m_;
    Motion motion_, with_jacobian_;
};

std::string text_of(const Case& c) { return c.model.find('\n') == std::string::npos ? gallery_text(c.model) : c.model; }

class ExportedCodeIs : public ::testing::TestWithParam<Case> {
protected:
    void compare(ExportLanguage language, const std::string& compiler, const std::string& options = "-O1") {
        ReadOptions read;
        if (GetParam().n != 0) read.set["n"] = GetParam().n;
        Derivation d = derive_text(text_of(GetParam()), read);
        ASSERT_TRUE(d.ok()) << render(d.diagnostics, d.sources);
        ExportRequest request;
        request.formulation = GetParam().formulation;
        const std::optional<ExportedModel> model = exported_model(d, request);
        ASSERT_TRUE(model.has_value()) << render(d.diagnostics, d.sources);
        if (GetParam().n != 0) {
            ASSERT_NE(model->rate.solves.back().sparse, nullptr) << "the case is there for its sparse solve";
        }
        const ExportedCode code(*model, language, GetParam().most_statements);
        if (!code.compile(compiler, options)) return;
        const std::vector<ProbeState> states = states_around(*model);
        ProbeAnswers answers = code.ask(states);
        ASSERT_EQ(answers.size(), states.size());
        const Motions motions = motions_of(d, GetParam().formulation);
        Comparison comparison(*model, motions.own->motion, motions.multipliers->motion);
        for (std::size_t k = 0; k < states.size(); ++k) {
            SCOPED_TRACE("state " + std::to_string(k));
            // all rows vanish; the interpreter leaves those of a large sparse solve out by itself, exported code by pivoting
            if (GetParam().n > 70 && k == 10) {
                comparison.compare_rate(states[k], answers[k]["rate"], 1e-13);
                continue;
            }
            comparison.compare(states[k], answers[k]);
            if (HasFailure()) break;
        }
    }
};

TEST_P(ExportedCodeIs, TheInterpreterInC) { compare(ExportLanguage::c, "gcc"); }

// the other language, by one compiler or the other; what is special about a formulation is the same text
TEST_P(ExportedCodeIs, TheInterpreterInCpp) {
    const bool minimal = GetParam().formulation == "minimal";
    if (!minimal && GetParam().formulation != "multipliers") GTEST_SKIP();
    compare(ExportLanguage::cpp, !minimal && has_command("clang++") ? "clang++" : "g++");
}

// Names that are words of C, or fall together when they are spelled in its letters; text that would end a comment.
const char* const k_hostile = R"(system int "ends */ here ??/ MODEL_x NAMESPACE \\"
param double = 1 kg, g = 9.81 m/s^2, MODEL_g = 2
coord θ = 0.1, while = 0.2, x_1 = 0
for i in 1..2
  coord x[i] = 0.1*i
end
frame B from N rotate θ about z
particle P mass double at O + (1 m)*B.x
particle Q mass double at O + (1 m)*(while*N.x + x_1*N.y)
for i in 1..2
  particle R[i] mass double at O + (1 m)*x[i]*N.y
end
gravity -g*N.y
constraint for_: x[1]' = MODEL_g*x[2]'
output class = θ + while
event struct: θ - 3 rising => set θ' = 0
event stop_: x_1 + 100 falling => stop
run for 1 s
)";

// Speeds without inertia of their own: M is singular, the bordered matrix is solved; one row repeats another.
const char* const k_massless = R"(system massless
param m = 1 kg, g = 9.81 m/s^2
coord x = 1 m, y = 0.5 m, z = 0.5 m
particle P mass m at O + x*N.x + y*N.y
point Q at O + x*N.x + z*N.y
gravity -g*N.y
speed u = x', v = y' + z', w = y' - z'
constraint follow: y' = z'
constraint again: 2*y' = 2*z'
constraint circle: x^2 + y^2 = 1.25*(1 m)^2
run for 1 s
)";

// Rows that follow from others, on scales so far apart that a short one is less than round-off of a long one.
const char* const k_scaled = R"(system scaled
param m = 2 kg, g = 9.81 m/s^2
coord x = 1 m, y = 0.5 m, z = 0.5 m
particle P mass m at O + x*N.x + y*N.y + z*N.z
gravity -g*N.y
constraint path: y' = z'
constraint slope: x' + 2*y' = 0
constraint long: 1e8*(x' + 3*y' - z') = 0
constraint short: 1e-9*(1 + x/(1 m))*(x' + 2*z') = 0
start x' = 1 m/s
run for 1 s
)";

// start values that are held, a rate among them
const char* const k_held = R"(system held
coord x = 1 m fixed, y = 2 m, z = 0.5 m
particle P mass 1 at O + x*N.x + y*N.y + z*N.z
gravity -9.81*N.y
start x' = 1 fixed, y' = 2
constraint sphere: x^2 + y^2 + z^2 = 4*(1 m)^2
run for 1 s
)";

INSTANTIATE_TEST_SUITE_P(
    Models, ExportedCodeIs,
    ::testing::Values(Case{"perpendicular_pucks"}, Case{"perpendicular_pucks", "minimal"},
                      Case{"perpendicular_pucks", "nonminimal"}, Case{"perpendicular_pucks", "udwadia-kalaba"},
                      Case{"perpendicular_pucks", "ukp"}, Case{"appell_hamel_nonlinear", "multipliers", 20},
                      Case{"appell_hamel_nonlinear", "voronec"}, Case{"rolling_disk"}, Case{"redundant_constraints"},
                      Case{"redundant_constraints", "udwadia-kalaba"}, Case{"free_body"}, Case{"double_pendulum"},
                      Case{"rough_rod"}, Case{"marle_plane"}, Case{"perpendicular_chain_planar_closed"}, Case{k_hostile},
                      Case{k_massless}, Case{k_scaled}, Case{k_scaled, "minimal"}, Case{k_scaled, "nonminimal"},
                      Case{k_scaled, "udwadia-kalaba"}, Case{k_scaled, "ukp"}, Case{k_held},
                      Case{"perpendicular_chain", "multipliers", 2000, 12}, Case{"equal_speeds", "multipliers", 2000, 12},
                      // large enough that the pivoted solve is not asked about every row in doubt
                      Case{"perpendicular_chain", "multipliers", 2000, 75}),
    [](const auto& info) {
        const std::string& model = info.param.model;
        const std::size_t begin = model.starts_with("system ") ? 7 : 0;
        std::string name = model.substr(begin, model.find_first_of(" \n", begin) - begin) + "_" + info.param.formulation;
        for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
        return info.param.n == 0 ? name : name + "_of_" + std::to_string(info.param.n);
    });

ExportedModel model_of(const std::string& text, ReadOptions read = {}) {
    Derivation d = derive_text(text, std::move(read));
    EXPECT_TRUE(d.ok()) << render(d.diagnostics, d.sources);
    std::optional<ExportedModel> model = exported_model(d, {});
    EXPECT_TRUE(model.has_value()) << render(d.diagnostics, d.sources);
    return model ? std::move(*model) : ExportedModel{};
}

TEST(ExportedCodeOf, ManyLinksIsCutIntoFunctions) {
    const std::string chain = R"(system chain
size n = 50
coord s = 0 m
particle P[0] mass 1 at O + s*N.x
for i in 1..n
  coord q[i] = 0.1*i
  frame B[i] from N rotate q[i] about z
  particle P[i] mass 1 at P[i-1] + 0.5*B[i].x
end
gravity -9.81*N.y
run for 1 s
)";
    std::istringstream lines(emit_model(model_of(chain), {}).at(1).text);
    std::size_t length = 0, longest = 0, total = 0;
    for (std::string line; std::getline(lines, line); ++total) {
        length = line.starts_with("}") || line.starts_with("static ") ? 0 : length + 1;
        longest = std::max(longest, length);
    }
    // 2000 statements, some of which also store their value
    EXPECT_LE(longest, 4000u);
    EXPECT_GT(total, 50'000u);
    // the same in functions of a few hundred statements, compiled: what they share goes through memory
    ReadOptions small;
    small.set["n"] = 8;
    const ExportedModel model = model_of(chain, small);
    const ExportedCode code(model, ExportLanguage::c, 100);
    ASSERT_TRUE(code.compile("gcc"));
    const std::vector<ProbeState> states = states_around(model);
    ProbeAnswers answers = code.ask(states);
    for (std::size_t k = 0; k < states.size(); ++k) {
        EvalReport report;
        Reference rate(model.rate);
        expect_same(answers[k]["rate"], rate.at(states[k], report), "rate");
    }
}

// rows of a table of numbers, after the header
std::vector<std::vector<double>> table(const std::string& text) {
    std::vector<std::vector<double>> out;
    std::istringstream lines(text);
    std::string line;
    std::getline(lines, line);
    while (std::getline(lines, line)) {
        std::istringstream words(line);
        out.emplace_back();
        for (std::string word; std::getline(words, word, ',');) out.back().push_back(std::strtod(word.c_str(), nullptr));
    }
    return out;
}

// Two integrations at tolerances of 1e-12: they differ by what some hundred steps of that accuracy leave.
TEST(ExportedCodeOf, ADriverMovesAsARunDoes) {
    for (const char* name : {"perpendicular_pucks", "rolling_disk", "redundant_constraints", "free_body"}) {
        SCOPED_TRACE(name);
        RunOptions options;
        options.rtol = options.atol = 1e-12;
        options.until = 2;
        options.every = 0.5;
        const TextRun run = run_text(gallery_text(name), options);
        const ExportedCode code(model_of(gallery_text(name)), ExportLanguage::c);
        ASSERT_TRUE(code.shell("make -s CFLAGS='-std=c99 -O1 -Wall -Wextra -Werror -ffp-contract=off'"));
        ASSERT_TRUE(code.shell("./driver --until 2 --every 0.5 --rtol 1e-12 --atol 1e-12 >motion.csv"));
        const auto rows = table(code.read("motion.csv"));
        ASSERT_EQ(rows.size(), run.run.rows());
        const std::size_t same = run.run.layout.works;  // columns up to here are in both tables
        for (std::size_t r = 0; r < rows.size(); ++r) {
            EXPECT_NEAR(rows[r][0], run.run.t(r), 1e-12);
            for (std::size_t c = 0; c < same; ++c)
                EXPECT_NEAR(rows[r][1 + c], run.run.at(r, c), 1e-9 * (1 + std::abs(run.run.at(r, c))))
                    << r << " " << run.run.columns[c];
        }
    }
}

// thrown up, caught at the top and sent down at 1 m/s; stopped on the ground
const std::string k_ball = R"(system ball
coord y = 0 m
particle P mass 1 at O + y*N.y
gravity -(10 m/s^2)*N.y
start y' = 10 m/s
event top: y' falling => set y' = -(1 m/s)
event ground: y falling => stop
run for 10 s, every 5 s
)";

TEST(ExportedCodeOf, ADriverStopsAtEventsAndSetsValues) {
    for (const char* method : {"", " --rk4 0.01"}) {
        const ExportedCode code(model_of(k_ball), ExportLanguage::c);
        ASSERT_TRUE(code.shell("make -s CFLAGS=-std=c99"));
        ASSERT_TRUE(code.shell(std::string("./driver >motion.csv") + method));
        const auto rows = table(code.read("motion.csv"));
        ASSERT_FALSE(rows.empty());
        // 1 s to the top, 5 m above the ground; 5 t^2 + t = 5 from there. Each instant is found to 1e-15 of a step.
        EXPECT_NEAR(rows.back()[0], 1 + (-1 + std::sqrt(101.0)) / 10, 1e-9);
        EXPECT_NEAR(rows.back()[1], 0, 1e-9);
        EXPECT_NEAR(rows.back()[2], -std::sqrt(101.0), 1e-8);
    }
}

TEST(ExportedCodeOf, ADriverInCppStopsAtEventsAsWell) {
    const ExportedCode code(model_of(k_ball), ExportLanguage::cpp);
    ASSERT_TRUE(code.shell("make -s CXXFLAGS='-std=c++17 -O1 -Wall -Wextra -Werror -ffp-contract=off'"));
    ASSERT_TRUE(code.shell("./driver 10 700 >motion.csv"));
    const auto rows = table(code.read("motion.csv"));
    ASSERT_FALSE(rows.empty());
    // steps that end neither at the top nor on the ground; the motion is a polynomial that the method has exactly
    EXPECT_NEAR(rows.back()[0], 1 + (-1 + std::sqrt(101.0)) / 10, 1e-9);
    EXPECT_NEAR(rows.back()[1], 0, 1e-9);
    EXPECT_NEAR(rows.back()[2], -std::sqrt(101.0), 1e-8);
    for (const auto& row : rows) EXPECT_GE(row[1], -1e-9) << "below the ground at " << row[0];
}

// Two that happen at one instant both happen.
TEST(ExportedCodeOf, EventsOfOneInstantAllHappen) {
    const std::string balls = R"(system balls
coord a = 1 m, b = 1 m
particle A mass 1 at O + a*N.y
particle B mass 1 at O + N.x + b*N.y
gravity -(10 m/s^2)*N.y
event hit_a: a falling => set a' = -a'
event hit_b: b falling => set b' = -b'
run for 0.8 s, every 0.1 s
)";
    const ExportedCode c(model_of(balls), ExportLanguage::c), cpp(model_of(balls), ExportLanguage::cpp);
    ASSERT_TRUE(c.shell("make -s && ./driver --until 0.8 >motion.csv"));
    ASSERT_TRUE(cpp.shell("make -s && ./driver 0.8 300 >motion.csv"));
    // up again after sqrt(1/5) s
    const double hit = std::sqrt(0.2), up = 10 * hit * (0.8 - hit) - 5 * (0.8 - hit) * (0.8 - hit);
    for (const ExportedCode* code : {&c, &cpp}) {
        const auto rows = table(code->read("motion.csv"));
        ASSERT_FALSE(rows.empty());
        EXPECT_NEAR(rows.back()[0], 0.8, 1e-12);
        EXPECT_NEAR(rows.back()[1], up, 1e-6);
        EXPECT_NEAR(rows.back()[2], up, 1e-6);
    }
}

// Three rows of rank two for each pair: the interpreter leaves rows out by the sparse solve, exported code by pivoting.
TEST(ExportedCodeOf, DependentRowsOfAFamilyAreSolvedAsWell) {
    const std::string parallel = R"(system parallel_points
size n = 45
for i in 1..n
  param M[i] = 1 + 0.5*cos(i), F[i] = 0.3*cos(i), G[i] = 0.3*sin(i)
  coord x[i] = 0, y[i] = 2*i, z[i] = 0
  start x[i]' = 2 + cos(i), y[i]' = 1 + cos(i)/2, z[i]' = -1 - cos(i)/2
  particle P[i] mass M[i] at O + x[i]*N.x + y[i]*N.y + z[i]*N.z
  force on P[i] = F[i]*N.x + G[i]*N.z
end
for i in 1..n-1
  constraint c[i]: parallel(vel(P[i]), vel(P[i+1]))
end
run for 1 s
)";
    const ExportedModel model = model_of(parallel);
    ASSERT_NE(model.rate.solves.back().sparse, nullptr);
    ASSERT_GT(model.rate.solves.back().sparse->pivoted_entries(), SparseElimination::k_pivoted_decides);
    const ExportedCode code(model, ExportLanguage::c);
    ASSERT_TRUE(code.compile("gcc", "-O1"));
    ProbeState start = states_around(model)[0], faster = start;
    for (std::size_t i = 135; i < 270; ++i) faster.x[i] *= 1.25;
    const std::vector<ProbeState> states{start, faster};
    ProbeAnswers answers = code.ask(states);
    ASSERT_EQ(answers.size(), states.size());
    Reference rate(model.rate), multipliers(model.multiplier_values);
    for (std::size_t k = 0; k < states.size(); ++k) {
        EvalReport report;
        for (const char* name : {"rate", "multipliers"}) {
            const std::span<const double> wanted = (name[0] == 'r' ? rate : multipliers).at(states[k], report);
            EXPECT_EQ(report.status, EvalStatus::ok);
            EXPECT_EQ(report.rank, 88u);
            const ProbeAnswer& found = answers[k][name];
            EXPECT_EQ(found.status, 0);
            ASSERT_EQ(found.values.size(), wanted.size());
            for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(found.values[i], wanted[i], 1e-10) << name << ' ' << i;
        }
    }
}

// Beyond the pivoted solve: what is plain is solved as the interpreter solves it, rows that vanish are refused by name.
TEST(ExportedCodeOf, ManyPointsNeedNoPivotedSolve) {
    ReadOptions read;
    read.set["n"] = 520;
    const ExportedModel model = model_of(gallery_text("perpendicular_chain"), read);
    ASSERT_TRUE(model.jacobian.program.outputs.empty());
    const ExportedCode code(model, ExportLanguage::c);
    ASSERT_TRUE(code.compile("gcc", "-O0"));
    EXPECT_EQ(code.read("perpendicular_chain_model.h").find("jacobian"), std::string::npos);
    std::vector<ProbeState> states = states_around(model);
    states = {states[0], states[3], states[7], states[10], states[11]};
    ProbeAnswers answers = code.ask(states);
    ASSERT_EQ(answers.size(), states.size());
    Reference rate(model.rate), multipliers(model.multiplier_values);
    for (std::size_t k = 0; k < states.size(); ++k) {
        SCOPED_TRACE(k);
        EvalReport report;
        const std::span<const double> wanted = rate.at(states[k], report);
        if (k == 3) {
            EXPECT_EQ(answers[k]["rate"].status, static_cast<int>(EvalStatus::needs_pivoting)) << "at rest all rows vanish";
            continue;
        }
        EXPECT_EQ(answers[k]["rate"].status, static_cast<int>(report.status));
        expect_same(answers[k]["rate"], wanted, "rate");
        expect_same(answers[k]["multipliers"], multipliers.at(states[k], report), "multipliers");
    }
    // text of the same model in C++
    const std::string header = emit_model(model, {ExportLanguage::cpp, 2000}).at(0).text;
    EXPECT_EQ(header.find("acobian"), std::string::npos);
}

TEST(ExportedCodeOf, NothingIsAllocated) {
    if (!has_command("nm")) GTEST_SKIP();
    // each with another kind of solve
    for (const char* name : {"rolling_disk", "redundant_constraints", "rough_rod", "perpendicular_chain"}) {
        SCOPED_TRACE(name);
        ReadOptions read;
        if (name == std::string_view("perpendicular_chain")) read.set["n"] = 12;  // a sparse one
        const ExportedModel model = model_of(gallery_text(name), read);
        const std::string allocate = "' (malloc|calloc|realloc|free|aligned_alloc|alloca|_Zn[wa].*|_Zd[la].*|__cxa.*)(@.*)?$'";
        const ExportedCode c(model, ExportLanguage::c), cpp(model, ExportLanguage::cpp);
        EXPECT_TRUE(c.shell(fmt::format("gcc -std=c99 -O1 -c {}_model.c -o code.o && nm -u code.o >uses.txt", name)));
        EXPECT_TRUE(c.shell("grep -q ' sqrt' uses.txt && ! grep -E " + allocate + " uses.txt"));
        EXPECT_TRUE(cpp.shell("g++ -std=c++17 -O1 -c probe.cpp -o code.o && nm -u code.o >uses.txt"));
        EXPECT_TRUE(cpp.shell("! grep -E " + allocate + " uses.txt"));
    }
}

// Options that change the arithmetic behind the code's back.
TEST(ExportedCodeOf, ArithmeticIsKeptOrRefused) {
    const ExportedModel model = model_of(gallery_text("rolling_disk"));
    const ExportedCode c(model, ExportLanguage::c), cpp(model, ExportLanguage::cpp);
    for (const char* option : {"-ffast-math", "-Ofast", "-ffinite-math-only"}) {
        EXPECT_TRUE(c.shell(fmt::format("! gcc -std=c99 {} -c rolling_disk_model.c -o code.o", option)));
        EXPECT_NE(c.read("log.txt").find("would not notice"), std::string::npos) << c.read("log.txt");
        EXPECT_TRUE(cpp.shell(fmt::format("! g++ -std=c++17 {} -c probe.cpp -o code.o", option)));
    }
#if defined(__x86_64__)
    if (!has_command("clang")) return;
    // fused where the processor can, unless it is told not to; user code behind the header is left as it was
    EXPECT_TRUE(c.shell("clang -std=c99 -O2 -mfma -ffp-contract=on -S rolling_disk_model.c -o code.s"));
    EXPECT_EQ(c.read("code.s").find("vfmadd"), std::string::npos);
    cpp.write("after.cpp",
              "#include \"rolling_disk_model.hpp\"\ndouble fused(double a, double b, double c) { return a * b + c; }\n");
    EXPECT_TRUE(cpp.shell("clang++ -std=c++17 -O2 -mfma -ffp-contract=on -Wall -Wextra -Werror -S after.cpp -o code.s"));
    EXPECT_NE(cpp.read("code.s").find("vfmadd"), std::string::npos);
    EXPECT_TRUE(cpp.shell("clang++ -std=c++17 -O2 -mfma -ffp-contract=on -S probe.cpp -o code.s"));
    EXPECT_EQ(cpp.read("code.s").find("vfmadd"), std::string::npos);
#endif
}

TEST(ExportedCodeOf, BothDriversCompileAndRun) {
    const ExportedModel model = model_of(gallery_text("double_pendulum"));
    const ExportedCode cpp(model, ExportLanguage::cpp);
    ASSERT_TRUE(
        cpp.shell("make -s CXXFLAGS='-std=c++17 -O1 -Wall -Wextra -Werror -ffp-contract=off' && ./driver 1 1000 >motion.csv"));
    const ExportedCode c(model, ExportLanguage::c);
    ASSERT_TRUE(c.shell("make -s && ./driver --until 1 --every 1 --rk4 0.001 >motion.csv"));
    // the same method, but for the round-off of the sums of its stages
    const auto first = table(cpp.read("motion.csv")), second = table(c.read("motion.csv"));
    ASSERT_FALSE(first.empty());
    ASSERT_FALSE(second.empty());
    for (std::size_t i = 0; i < model.states.size(); ++i) EXPECT_NEAR(first.back()[1 + i], second.back()[1 + i], 1e-10);
}

}  // namespace
}  // namespace appell
