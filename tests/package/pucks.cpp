// The two pucks of the gallery by the installed library: counts, equations, forces at a state, motion, linear equations, code.
#include <appell/appell.hpp>

#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace {

void expect(bool condition, const char* what) {
    if (condition) return;
    std::fprintf(stderr, "pucks.cpp: %s\n", what);
    std::exit(1);
}

bool near(double a, double b, double tolerance) { return std::abs(a - b) <= tolerance * (1 + std::abs(b)); }

}  // namespace

int main(int argc, char** argv) {
    expect(appell::library_version() == APPELL_VERSION_TEXT, "header and library belong together");
#ifdef GALLERY
    const std::string gallery = GALLERY;
    (void)argc, (void)argv;
#else
    expect(argc == 2, "usage: pucks GALLERY");
    const std::string gallery = argv[1];
#endif
    auto read = appell::System::read_file(gallery + "/perpendicular_pucks.appell");
    expect(bool(read), "the model of the gallery is read");
    const appell::System& pucks = *read;
    expect(pucks.coordinates().size() == 4 && pucks.speeds().at(3) == "u4", "four coordinates, four speeds");
    expect(pucks.parameters().at("m2") == 2, "the second puck has two kilograms");

    // counts, the certificate, claims
    const auto found = pucks.check();
    expect(bool(found) && found->freedoms == 3 && found->rows == 1, "three degrees of freedom");
    expect(found->disagreement && *found->disagreement < 1e-30, "all formulations agree with fifty digits");
    for (const appell::CheckedClaim& claim : found->claims) expect(claim.holds, claim.label.c_str());

    // printed equations
    expect(pucks.equations()->find("lambda") != std::string::npos, "equations with multipliers");
    expect(pucks.equations({"minimal", "latex"})->find("\\begin{document}") != std::string::npos, "a LaTeX document");

    // rates and constraint forces at a state: Roithmayr and Hodges, eq. 34 and 27
    auto evaluator = pucks.evaluator();
    expect(bool(evaluator), "the equations can be evaluated");
    appell::Evaluator at = std::move(*evaluator.value);
    const std::vector<double> state{1, -2, 1, 2, 0.6, 0.2, -0.1, 0.3};
    const double u1 = 0.6, u2 = 0.2, u3 = -0.1, u4 = 0.3, m1 = 1, m2 = 2, s1 = 1, s3 = 1;
    const double lambda = -(m1 * s3 * u1 + m2 * s1 * u3) / (m1 * (u1 * u1 + u2 * u2) + m2 * (u3 * u3 + u4 * u4));
    const appell::Evaluator::Rates rates = at.rates(0, state);
    expect(rates.good && near(rates.speeds[0], (s1 + lambda * u3) / m1, 1e-13), "u1' is that of eq. 35");
    expect(near(rates.coordinates[3], u4, 1e-15), "y2' = u4");
    const appell::Row row = at.row(0, state);
    expect(near(row.at("lambda(perpendicular)"), lambda, 1e-13), "the multiplier is that of eq. 34");
    expect(near(row.at("force(perpendicular, P1).x"), lambda * u3, 1e-13), "the force on P1 is lambda vel(P2)");
    at.set_parameter("m1", 2);
    const double heavier = -(2 * s3 * u1 + m2 * s1 * u3) / (2 * (u1 * u1 + u2 * u2) + m2 * (u3 * u3 + u4 * u4));
    expect(near(at.row(0, state).at("lambda(perpendicular)"), heavier, 1e-13), "and follows the parameters");

    // the motion
    appell::SimulationSettings settings;
    settings.until = 2;
    settings.every = 0.5;
    const auto motion = pucks.simulate(settings);
    expect(bool(motion) && motion->rows() == 5 && motion->reason == "finished", "five rows");
    const std::size_t v1 = motion->index("u1");
    for (std::size_t i = 0; i < motion->rows(); ++i)
        expect(std::abs(motion->at(i, v1) * motion->at(i, v1 + 2) + motion->at(i, v1 + 1) * motion->at(i, v1 + 3)) < 1e-12,
               "the velocities stay perpendicular");

    // linear equations: a pendulum hangs with the frequency sqrt(g/l)
    const auto pendulum = appell::System::read_file(gallery + "/simple_pendulum.appell");
    const auto linear = pendulum->linearize({appell::LinearizationSettings::Trim::equilibrium});
    expect(bool(linear) && linear->eigenvalues.size() == 2 && linear->variables.size() == 2, "one mode");
    const appell::Row numbers = pendulum->parameters();
    expect(near(std::abs(linear->eigenvalues[0].imag()), std::sqrt(numbers.at("g") / numbers.at("l")), 1e-13), "of sqrt(g/l)");

    // code
    const auto code = pucks.export_code("cpp");
    expect(bool(code) && code->front().name.find("perpendicular_pucks") == 0, "exported code");
    const auto switched = appell::System::read_file(gallery + "/bouncing_ball.appell");
    expect(!switched->evaluator() && switched->simulate()->rows() > 2, "contacts have no single set of equations, but a motion");
    std::printf("lambda = %.15g\n", lambda);
    return 0;
}
