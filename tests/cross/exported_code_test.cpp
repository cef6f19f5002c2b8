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
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.model << " " << c.formulation; }

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
        jacobian(s, got["jacobian"]);
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
        Derivation d = derive_text(text_of(GetParam()));
        ASSERT_TRUE(d.ok()) << render(d.diagnostics, d.sources);
        ExportRequest request;
        request.formulation = GetParam().formulation;
        const std::optional<ExportedModel> model = exported_model(d, request);
        ASSERT_TRUE(model.has_value()) << render(d.diagnostics, d.sources);
        const ExportedCode code(*model, language, GetParam().most_statements);
        if (!code.compile(compiler, options)) return;
        const std::vector<ProbeState> states = states_around(*model);
        ProbeAnswers answers = code.ask(states);
        ASSERT_EQ(answers.size(), states.size());
        const Motions motions = motions_of(d, GetParam().formulation);
        Comparison comparison(*model, motions.own->motion, motions.multipliers->motion);
        for (std::size_t k = 0; k < states.size(); ++k) {
            SCOPED_TRACE("state " + std::to_string(k));
            comparison.compare(states[k], answers[k]);
            if (HasFailure()) break;
        }
    }
};

TEST_P(ExportedCodeIs, TheInterpreterInC) { compare(ExportLanguage::c, "gcc"); }

// the other compiler and the other language on every second model: they share the text
TEST_P(ExportedCodeIs, TheInterpreterInCpp) {
    if (GetParam().formulation != "multipliers" && GetParam().formulation != "minimal") GTEST_SKIP();
    compare(ExportLanguage::cpp, has_command("clang++") ? "clang++" : "g++");
}

INSTANTIATE_TEST_SUITE_P(Models, ExportedCodeIs,
                         ::testing::Values(Case{"perpendicular_pucks"}, Case{"perpendicular_pucks", "minimal"},
                                           Case{"perpendicular_pucks", "nonminimal"},
                                           Case{"perpendicular_pucks", "udwadia-kalaba"}, Case{"perpendicular_pucks", "ukp"},
                                           Case{"appell_hamel_nonlinear", "multipliers", 20},
                                           Case{"appell_hamel_nonlinear", "voronec"}, Case{"rolling_disk"},
                                           Case{"redundant_constraints"}, Case{"redundant_constraints", "udwadia-kalaba"},
                                           Case{"free_body"}, Case{"double_pendulum"}, Case{"rough_rod"}, Case{"marle_plane"},
                                           Case{"perpendicular_chain_planar_closed"}),
                         [](const auto& info) {
                             std::string name = info.param.model + "_" + info.param.formulation;
                             for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
                             return name;
                         });

}  // namespace
}  // namespace appell
