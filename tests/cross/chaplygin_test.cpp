// Chaplygin systems: recognised whatever way they are written, refused with the reason, and solved by the reduced equations.
#include <gtest/gtest.h>

#include <cmath>

#include "dynam/formulations.hpp"
#include "support/certificate_of.hpp"

namespace appell {
namespace {

// Chaplygin's sleigh: the mass centre is a distance b ahead of the blade
const std::string k_sleigh =
    "system sleigh\nparam m = 2, I = 0.3, b = 0.4\ncoord x = 0, y = 0, theta = 0.3\nframe B from N rotate theta "
    "about z\npoint A at O + x*N.x + y*N.y\nbody S frame B mass m center at A + b*B.x inertia (I, I, I)\n";
const std::string k_blade = "constraint blade: dot(vel(A), B.y) = 0\nstart x' = 1, theta' = 2\n";

const std::string k_vertical_disk =
    "system disk\nparam m = 1, r = 0.5, I = 0.1, J = 0.2\ncoord x = 0, y = 0, yaw = 0.2, spin = 0\nframe A from N rotate yaw "
    "about "
    "z\nframe D from A rotate spin about y\npoint K at O + x*N.x + y*N.y\nbody D frame D mass m center at K + r*N.z inertia (I, "
    "J, I)\ntorque on D = 0.1*N.z + sin(t)*A.y\nconstraint roll: rolling(D, N, K)\nstart spin' = 3, yaw' = 1\n";

// a carriage of two steered wheels' kind: three rows, angles that turn with each other, drag
const std::string k_snakeboard =
    "system board\nparam l = 0.5, m = 2, J = 0.3, k = 0.1\ncoord x = 0, y = 0, theta = 0.1, phi = 0.5, psi = 0.2\nframe B from N "
    "rotate theta about z\nframe F from B rotate phi about z\nframe R from B rotate (-phi) about z\npoint C at O + x*N.x + "
    "y*N.y\npoint P at C + l*B.x\npoint Q at C - l*B.x\nframe W from B rotate psi about z\nbody B frame B mass m center C "
    "inertia "
    "(J, J, J)\nbody W frame W mass 0.5 center C inertia (0.1, 0.1, 0.1)\nbody F frame F mass 0.2 center P inertia (0.01, 0.01, "
    "0.01)\nbody R frame R mass 0.2 center Q inertia (0.01, 0.01, 0.01)\nforce on C = -k*vel(C)\nconstraint front: dot(vel(P), "
    "F.y) = 0\nconstraint back: dot(vel(Q), R.y) = 0\nstart x' = 1, psi' = 1, phi' = 0.3\n";

std::string reason(const std::string& text) {
    Derivation d = derive_text(text);
    EXPECT_TRUE(d.ok()) << render(d.diagnostics, d.sources);
    if (!d.ok()) return "no dynamics";
    return FormulatedDynamics(*d.dynamics, Formulation::chaplygin).not_applicable();
}

void expect_agreement(const std::string& text) {
    const Certificate c = certificate_of(text);
    ASSERT_TRUE(c.enough);
    const FormulationAgreement f = agreement(c, "chaplygin");
    ASSERT_EQ(f.not_applicable, "") << text;
    // as for the other formulations; mistakes are not small
    EXPECT_LT(f.acceleration, 1e-11);
    EXPECT_LT(f.force, 1e-11);
    EXPECT_LT(f.acceleration_wide, 1e-38);
    EXPECT_LT(f.force_wide, 1e-38);
}

TEST(Chaplygin, SleighDiskAndBoardAgreeWithTheOthers) {
    expect_agreement(k_sleigh + k_blade);
    expect_agreement(k_vertical_disk);
    expect_agreement(k_snakeboard);
}

TEST(Chaplygin, IsRecognisedWhateverTheWriting) {
    // speeds in the body: T is m/2 (u1^2 + u2^2) + ..., and theta is in its definition
    expect_agreement(k_sleigh +
                     "speed u1 = dot(vel(A), B.x), u2 = dot(vel(A), B.y), u3 = theta'\nconstraint blade: u2 = 0\nstart u1 = "
                     "1, u3 = 2\n");
    // a row may be multiplied by a function of the dependent coordinate
    expect_agreement(k_sleigh + "constraint blade: dot(vel(A), B.y)*(2 + sqrt(1 + y^2)) = 0\nstart x' = 1, theta' = 2\n");
    // a height that is constant by an identity which no rule of the graph knows: x is in T as written, but not by value
    expect_agreement(
        "system s\ncoord x = 0.1, y = 0.2, theta = 0.4\nframe B from N rotate theta about z\nbody S frame B mass 2 center at O + "
        "x*N.x + y*N.y + (sin(2*x)^2 + (cos(x)^2 - sin(x)^2)^2)*N.z inertia (1, 1, 1)\nconstraint blade: dot(vel(S_o), B.y) = "
        "0\nstart theta' = 1, x' = 1\n");
    // forces that change with time and with the independent coordinate do no harm
    expect_agreement(k_sleigh + "force on S at A = (sin(t) + cos(theta))*N.x\n" + k_blade);
}

TEST(Chaplygin, IsRefusedWithTheReason) {
    EXPECT_EQ(reason(k_sleigh), "the model has no constraints");
    EXPECT_EQ(reason(gallery_text("perpendicular_pucks")), "constraint perpendicular is not linear in the rates");
    EXPECT_EQ(reason(k_sleigh + "constraint blade: dot(vel(A), B.y) = 1\n"), "constraint blade is not homogeneous in the rates");
    EXPECT_EQ(reason(k_sleigh + "constraint blade: dot(vel(A), B.y) = sin(t)*x'\n"), "the constraints depend on time");
    EXPECT_EQ(reason(k_sleigh + "constraint blade: dot(vel(A), B.y) = abs(x')\n"),
              "constraint blade is made of pieces (if, min, max, abs, sign)");
    EXPECT_EQ(reason("system s\nparam w = 1\ncoord x = 0.1, y = 0.2\nframe R from N rotate w*t about z\nparticle P mass 1 at O + "
                     "x*R.x + y*N.y\nconstraint c: x' = y'\n"),
              "the kinetic energy depends on time");
    // a spring to the origin: both coordinates that could depend are in the forces
    EXPECT_EQ(reason(k_sleigh + "spring O A stiffness 1 length 0\n" + k_blade),
              "1 dependent coordinate would have to be absent from the kinetic energy, the given forces and the coefficients of "
              "the constraints, but x is in the given forces, y is in the given forces, theta is in the kinetic energy");
    // a force that is zero where the random points lie is a force
    EXPECT_NE(reason(k_sleigh + "force on A = (max(abs(x) - 5, 0) + max(abs(y) - 5, 0))*N.x\n" + k_blade)
                  .find("x is in the given forces, y is in the given forces"),
              std::string::npos);
    EXPECT_EQ(reason(k_sleigh + k_blade + "nonideal blade: force on A = -0.1*abs(ideal(blade))*B.x\n"),
              "the forces of nonideal laws and actuators depend on all coordinates");
    // one spring leaves the other coordinate
    expect_agreement(k_sleigh + "force on A = -x*N.x\n" + k_blade);
    // and the partition must be among what is left
    Derivation d = derive_text(k_sleigh + "force on A = -x*N.x\n" + k_blade);
    const FormulatedDynamics chaplygin(*d.dynamics, Formulation::chaplygin);
    const std::vector<double> values(d.dynamics->graph().symbol_count(), 1);
    const std::vector<std::size_t> x{0}, y{1};
    EXPECT_EQ(chaplygin.choose(values, x).not_applicable, "the equations contain the coordinate x, whose rate is to depend");
    EXPECT_EQ(chaplygin.choose(values, y).not_applicable, "");
    EXPECT_EQ(chaplygin.choose(values).partition.dependent, y);
}

// The sleigh without forces: v' = b w^2, (I + m b^2) w' = -m b v w for the blade's speed v and the spin w, so that energy is kept
// and v tends to its largest value (Chaplygin 1911). Integrated by hand: with k^2 = m b^2/(I + m b^2), E = v^2 + b^2 w^2/k^2,
// v = sqrt(E) tanh(sqrt(E) k^2 t/b + const).
TEST(Chaplygin, SleighRunsAsInClosedForm) {
    RunOptions options;
    options.formulation = "chaplygin";
    const TextRun r =
        run_text(k_sleigh + k_blade + "output v = dot(vel(A), B.x)\nrun for 3 s, every 0.5 s, rtol 1e-11, atol 1e-11\n", options);
    const double m = 2, I = 0.3, b = 0.4, k2 = m * b * b / (I + m * b * b);
    const double v0 = r.at(0, "v"), w0 = r.at(0, "theta'"), E = v0 * v0 + b * b * w0 * w0 / k2;
    for (std::size_t row = 1; row <= 6; ++row) {
        const double t = 0.5 * static_cast<double>(row);
        EXPECT_NEAR(r.at(row, "v"), std::sqrt(E) * std::tanh(std::sqrt(E) * k2 * t / b + std::atanh(v0 / std::sqrt(E))), 1e-8);
    }
}

}  // namespace
}  // namespace appell
