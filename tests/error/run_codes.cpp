// One bad model for every diagnostic of kinematics, dynamics and the run (E06xx to E08xx, and the builder's E059x), found the way
// a user finds it: through the pipeline. A last test demands that no code is left without one.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <new>
#include <set>
#include <stdexcept>
#include <string>

#include "base/error.hpp"
#include "base/failure.hpp"
#include "model/builder.hpp"
#include "pipeline/certificate.hpp"
#include "pipeline/end_diagnostics.hpp"
#include "pipeline/export_code.hpp"
#include "pipeline/lower_motion.hpp"
#include "pipeline/print_equations.hpp"
#include "report/output_folder.hpp"
#include "support/gallery_run.hpp"

namespace appell {
namespace {

struct BadModel {
    Code code;
    std::string text;
    RunOptions run{};
    ReadOptions read{};
    bool keeps_rows = false;  // the run ends early with rows intact
    std::string place{};      // the text it must point at, where that is not obvious
};

// the code stands for the model in the names of tests
void PrintTo(const BadModel& bad, std::ostream* out) { *out << info(bad.code).name; }

// a particle in the plane, to be completed
std::string particle(const std::string& rest) {
    return "system bad\nparam m = 1 kg, g = 9.81 m/s^2\ncoord x = 1 m, y = 0 m\nparticle P mass m at O + x*N.x + y*N.y\n" + rest +
           "\n";
}

// a rod that slides on a rough plane, leaning backward; Painleve's paradox from mu = 4/3 on (tests/truth/nonideal_test.cpp)
std::string rough_rod(const std::string& mu) {
    return "system rod\nparam mu = " + mu +
           "\ncoord x = 0, y = 1, theta = 2.034443935795703\nframe B from N rotate theta about z\n"
           "point C at O + x*N.x + y*N.y\npoint P at C - B.x\nbody B frame B mass 1 center C inertia (0, 1/3, 1/3)\n"
           "gravity -9.81*N.y\nstart x' = 3\nconstraint contact: dot(P - O, N.y) = 0\n"
           "nonideal contact: force on P = -mu*abs(reaction(contact))*sign(dot(vel(P), N.x))*N.x\nrun for 0.01 s";
}

std::vector<BadModel> bad_models() {
    std::vector<BadModel> out;
    const auto add = [&](Code code, std::string text) -> BadModel& { return out.emplace_back(BadModel{code, std::move(text)}); };
    add(Code::E0591, "system bad\nparticle P mass 1 kg at O");
    add(Code::E0592, "system bad\ncoord x = 1 m");
    add(Code::E0593,
        "system bad\ncoord a = 1, b, c, d\nframe A from N quaternion (a, b, c, d)\nframe B from N quaternion (a, b, c, d)\nbody "
        "A frame A mass 1 center O inertia (1, 1, 1)\nbody B frame B mass 1 center O inertia (1, 1, 1)");
    add(Code::E0601, particle("speed u = x'"));
    add(Code::E0602, particle("speed u = x'*y', v = y'"));
    add(Code::E0603, particle("speed u = x' + y', v = 2*x' + 2*y'"));
    add(Code::E0604, particle("coord a = 0\nframe B from N rotate a about z\nconstraint c: dot(vel(B at P), N.x) = 0"));
    add(Code::E0605,
        "system bad\ncoord a = 0, b = 0, c = 0\nframe B from N body zxz (a, b, c)\nbody B frame B mass 1 kg center O inertia (1, "
        "2, 3)\n"
        "speed u = dot(omega(B), B.x), v = dot(omega(B), B.y), w = dot(omega(B), B.z)");
    {
        // eleven speeds, each of all eleven rates, with coefficients that are no structure
        std::string text = "system bad\n", speeds = "speed ";
        for (int i = 1; i <= 11; ++i) {
            const std::string n = std::to_string(i);
            text += "coord q" + n + " = 0.1\nparticle P" + n + " mass 1 at O + q" + n + "*N.x\n";
            speeds += (i > 1 ? ", u" : "u") + n + " = ";
            for (int j = 1; j <= 11; ++j)
                speeds += (j > 1 ? " + " : "") + std::string(i == j ? "5*" : "") + "q" + std::to_string(j) + "'";
        }
        add(Code::E0606, text + speeds);
    }
    add(Code::E0607,
        "system bad\ncoord a = 0, s = 0 m\nframe B from N rotate a about z\npoint Q at O + s*B.x\nbody B frame B mass 1 kg "
        "center O inertia (1, 1, 1) about Q");
    {
        BadModel& many = add(Code::W0884, particle("event e: sin(50*t) => report\nrun for 10 s"));
        many.run.max_events = 20;
        many.keeps_rows = true;
    }
    add(Code::E0721, particle("constraint c: dot(vel(P), N.x) = 0\noutput f = mag(force(c, O))"));
    add(Code::E0721, particle("constraint c: x' = 0\nplot mag(force(c, P))"));  // generalized forces only
    add(Code::E0721, particle("constraint c: dot(vel(P), N.x) = 0\noutput f = mag(torque(c, N))"));
    add(Code::E0721,  // at P the force acts on P and its opposite on B
        particle("coord a = 0\nframe B from N rotate a about z\nbody B frame B mass 1 kg center O inertia (1, 1, 1)\n"
                 "constraint c: dot(vel(P, B), B.x) = 0\noutput f = mag(force(c, P))"));
    add(Code::E0608, particle("coord a = 1\nframe B from N cosines ((a, 0, 0), (0, 2, 0), (0, 0, 1))\nbody B frame B mass 1 kg "
                              "center P inertia (1, 1, 1)"));
    add(Code::E0609, particle("speed u = x', v = y'\nstart u = 1 m/s, x' = 2 m/s"));
    add(Code::E0610,
        "system bad\ncoord e0 = 1, e1, e2, e3\nframe B from N quaternion (e0, e1, e2, e3)\nbody B frame B mass 1 center O "
        "inertia (1, 2, 3)\nstart e3' = 1");
    add(Code::E0611, particle("speed u = 2*x', v = y'\nconstraint c: u = v\nindependent x'"));
    add(Code::E0611, particle("speed u = x', v = y'\nindependent u"));
    add(Code::E0612, particle("constraint c: x' = y'\noutput a = matrix(D, 1, 1)"));
    add(Code::E0612, particle("constraint c: x' = y'\nindependent x'\noutput a = nonholonomic_active(y')"));
    add(Code::E0613, particle("output a = matrix(M, 3, 1)"));
    add(Code::E0722, particle("constraint c: dot(acc(P), acc(P)) = 4"));
    add(Code::E0723, particle("actuator F: force on P along N.x"));
    add(Code::E0723, particle("actuator F: force on P along N.z\nservo s: x = 1 m by F"));
    add(Code::E0724, particle("actuator F: force on P along N.x\nservo s: x' = 1, y' = 1 by F"));
    add(Code::E0725, particle("actuator F: force on P along N.x\nservo s: x' = 1 by F\nnonideal s: force on P = -N.x"));
    add(Code::E0405, particle("constraint c: x' = y'\noutput a = dt(matrix(A, 1, 1)*lambda(c))"));
    add(Code::E0817, particle("constraint c: y' = 0\nindependent y'\nrun formulation minimal"));
    add(Code::E0817, particle("constraint c: y = 0\nindependent y'\nrun formulation minimal"));
    // x is solved for, being all of the row's gradient at the start; at the lowest point it has no part in it
    add(Code::E0817,
        particle(
            "gravity -g*N.y\nconstraint c: x^2 + y^2 = 1 m^2\nindependent y'\nrun for 2 s, every 0.01 s, formulation minimal"))
        .keeps_rows = true;
    add(Code::E0818, particle("actuator F: force on P along N.y\nservo s: x' = 1 by F"));
    add(Code::E0819, rough_rod("2"));
    // a direction of motion where nothing moves: 0/0, whether the law is one of the reaction or of the ideal force
    for (const std::string force : {"reaction", "ideal"}) {
        const std::string law = "P = -0.3*mag(" + force + "(floor, P))*unit(vel(P))";
        add(Code::E0851, particle("gravity -g*N.y\nconstraint floor: dot(P - O, N.y) = 0\nnonideal floor: force on " + law));
        out.back().place = law;
    }
    add(Code::E0853, particle("constraint huge: 1e150*x' = 0\nrun for 1 s"));
    add(Code::E0853, particle("constraint tiny: 1e-150*x = 0 m\nrun for 1 s"));
    add(Code::W0854, particle("coord z = 0 m\nparticle Q mass m at O + z*N.z\nconstraint long: 1e14*x' = 1e14*y'\n"
                              "constraint short: 1e-14*y' = 0 m/s\nrun for 1 s"));
    // two angles about one axis at the start; the body has inertia about every axis
    add(Code::E0605,
        "system bad\ncoord a = 0, b = 0, c = 0\nframe B from N body zxz (a, b, c)\nbody B frame B mass 1 center O "
        "inertia (1, 2, 3)\nrun for 1 s");
    add(Code::E0715, particle("constraint a: x' = 0\nconstraint b: y' = 0")).read.limits.solve_entries = 1;
    add(Code::E0714, particle("gravity -(g/(1 m))*x*N.x"));
    add(Code::E0203, particle("output energy = x"));
    add(Code::E0713,
        "system bad\ncoord a = 0\nframe B from N rotate a about z\npoint C at O + (2 m)*B.x\nbody B frame B mass 1 kg center C "
        "inertia (1, 1, 1) about O");
    add(Code::E0701, particle("coord z = 0 m"));
    add(Code::E0702,
        "system bad\ncoord a = 0\nframe B from N rotate a about z\nbody B frame B mass 1 kg center O inertia (0, 0, 0)");
    add(Code::E0703, particle("constraint c: m = 1 kg"));
    add(Code::E0704, particle("constraint c: 1 = 2"));
    add(Code::E0706, particle("function h(s) opaque\nforce on P = h(x)*N.x"));
    add(Code::E0707, particle("input F\nforce on P = F*N.x"));
    add(Code::E0012, particle("gravity -g*N.y\nconstraint c: x*y^3 = sin(x/(1 m))*(1 m^4)")).read.limits.nodes = 60;
    add(Code::E0709, "system bad\ncoord x = 0 m, y = 0 m\nparticle P mass 1 kg at O + (x + y)*N.x");
    add(Code::N0711, particle("constraint c: parallel(vel(P), N.x)"));
    add(Code::E0802, particle("constraint c: x^2 + 1 = 0"));
    add(Code::E0802, particle("constraint c: x' = 2*y'\nstart x' = 1 fixed, y' = 1 fixed")).place = "x' = 2*y'";
    add(Code::E0802, particle("constraint c: x' = 2*y'\nspeed u = x', v = y'\nstart u = 1 fixed, v = 1 fixed"));
    // a zero that was written is as good as any other number
    add(Code::E0609, particle("speed u = x', v = y'\nstart u = 0, x' = 1"));
    add(Code::E0803, particle("force on P = (1 N*m)/y*N.x")).place = "force on P = (1 N*m)/y*N.x";
    add(Code::E0803, particle("constraint c: sqrt(y - 1 m)*x' = 0")).place = "sqrt(y - 1 m)*x' = 0";
    // finite itself, its derivatives are not
    add(Code::E0803, particle("constraint c: sqrt(y/(1 m)) = x/(1 m) - 1")).place = "sqrt(y/(1 m)) = x/(1 m) - 1";
    {
        BadModel& bad = add(Code::E0804, particle("force on P = log(1 - t)*N.x\nrun for 2 s"));
        bad.keeps_rows = true;
    }
    add(Code::E0805, "system bad\ncoord x = 1\nparticle P mass 1 at O + x*N.x\nforce on P = -x/abs(x)^3*N.x\nrun for 5 s")
        .keeps_rows = true;
    add(Code::E0806, "system bad\ncoord x = 0 m\nparticle P mass 1 kg at O + if(t < 1 s, x, 0)*N.x\nrun for 2 s").keeps_rows =
        true;
    add(Code::E0807, "system bad\ncoord x = 0\nparticle P mass 1 at O + x*N.x\nconstraint a: x' = t\nconstraint b: x' = 2*t")
        .place = "x' = 2*t";
    {
        const auto lost = [&](const std::string& text, const std::string& place, bool keeps_rows) {
            BadModel& bad = add(Code::E0808, particle(text + "\nrun for 2 s"));
            bad.place = place;
            bad.keeps_rows = keeps_rows;
        };
        // rows that become dependent, a gradient that vanishes on the way, one that is zero from the start
        lost("constraint a: x' = 0\nconstraint b: x' + max(1 - t, 0)*y' = 0", "x' + max(1 - t, 0)*y' = 0", true);
        lost("coord z = 0\nparticle Q mass 1 at O + z*N.z\nconstraint still: z' = 0\nconstraint c: x*y = 0\nstart x' = -1",
             "x*y = 0", true);
        lost("constraint a: x = 1\nconstraint c: y^2 = 0", "y^2 = 0", false);
    }
    add(Code::E0833, particle("constraint c: x^2 = if(t < 1, 1, -1)\nrun for 2 s")).keeps_rows = true;
    {
        // the chart of a blade, of which there is another where the user names none; lines that cross
        BadModel& chart = add(Code::E0863,
                              "system bad\ncoord x = 0, y = 0, a = 0\nframe B from N rotate a about z\nbody B frame B mass 1 "
                              "center at O + x*N.x + y*N.y inertia (1, 1, 1)\nstart a' = 1, x' = 1\nconstraint blade: "
                              "dot(vel(B_o), B.y) = 0\nindependent x', a'\nrun for 3 s");
        chart.keeps_rows = true;
        chart.run.formulation = "chaplygin";
        add(Code::N0865, particle("start x' = -1 m/s\nconstraint c: x*y = 0\nrun for 3 s")).run.through = true;
    }
    // no real x beyond t = 1, where its gradient vanishes
    add(Code::E0808, particle("constraint c: x^2 = 1 - t\nrun for 2 s")).keeps_rows = true;
    add(Code::E0810, particle("gravity -g*N.y\nforce on P = sin(50*t)*N.x\nrun for 10 s")).run.max_steps = 10;
    out.back().keeps_rows = true;
    add(Code::N0812, particle("constraint c: x^2 + y^2 = 4"));
    add(Code::W0825, particle("constraint c: (x - 0.8)^2 = 4"));
    add(Code::W0813, particle("constraint a: x' = 0\nconstraint b: 2*x' = 0"));
    add(Code::E0856, particle("constraint a: x' = 0\nconstraint b: y' = 0\nshare a = b")).place = "share a = b";
    add(Code::E0856,
        particle("constraint a: x' = 0\nconstraint b: x' = 0\nconstraint c: x' = 0\nshare a = b = c\nshare a : c = 1 : 2"))
        .place = "share a : c = 1 : 2";
    // friction by one of two guides that carry the weight together
    for (const Code code : {Code::W0858, Code::N0859})
        add(code, particle("gravity -g*N.y\nconstraint a: dot(pos(P), N.y) = 0\nconstraint b: dot(pos(P), N.y) = 0\n"
                           "nonideal a: friction on P = 0.1*reaction(a)\nstart x' = 1 m/s\nrun for 0.1 s"));
    std::string many_rows;  // more than are examined
    for (int i = 1; i <= 121; ++i) many_rows += fmt::format("constraint c{0}: {0}*dot(pos(P), N.y) = 0\n", i);
    add(Code::N0866,
        particle(many_rows + "nonideal c1: friction on P = 0.1*reaction(c1)\nstart x' = 1 m/s\nrun for 0.1 s, every 0.1 s"));
    add(Code::E0814, particle("run for 10 s, every 1e-9 s"));
    add(Code::E0878, "system bad\nparam h = 1e308\ncoord y = h\nparticle P mass 1 at O + y*N.y\ngravity -9.81*N.y\nrun for 1 s");
    add(Code::E0815, particle("run for 10 s")).run.rtol = -1;
    add(Code::E0841, particle("constraint floor: dot(pos(P), N.y) >= 1 m\nrun for 1 s"));
    add(Code::E0842, particle("constraint c: x = 5 m initially off\nevent e: t - 0.5 s => enforce c\nrun for 1 s")).keeps_rows =
        true;
    add(Code::E0842, particle("start x' = 1 m/s\ngravity -g*N.y\nconstraint f: dot(pos(P), N.y) >= 0\n"
                              "nonideal f: friction on P = -0.3*reaction(f)\nrun for 1 s"));
    add(Code::E0843, particle("start x' = -1 m/s\nevent a: x falling => set x = 1 m\n"
                              "event b: x - 0.5 m rising => set x = -1 m\nrun for 10 s, every 1 s"))
        .keeps_rows = true;
    add(Code::E0832, particle("start x' = 2 m/s\nforce on P = -sign(x')*N.x*(1 N)\nrun for 10 s, every 1 s")).keeps_rows = true;
    add(Code::E0833, particle("constraint c: x = if(t > 1 s, 2 m, 1 m)\nrun for 2 s, every 0.5 s")).keeps_rows = true;
    add(Code::E0833, particle("particle Q mass m at O + if(t > 1 s, 2 m, 1 m)*N.z\nrun for 2 s, every 0.5 s")).keeps_rows = true;
    add(Code::E0833, particle("start x' = 1 m/s\npotential if(x > 2 m, 5 J, 0 J)\nrun for 2 s, every 0.5 s")).keeps_rows = true;
    add(Code::E0834, particle("start x' = 1 m/s\nconstraint wall: 2 m - x >= 0\n"
                              "event e: x - 1.5 m rising => set x = 3 m\nrun for 10 s, every 1 s"))
        .keeps_rows = true;
    add(Code::E0835, particle("force on P = smooth(if(x > 1 m, 1 N, 0 N))*N.x\nrun for 1 s"));
    add(Code::E0835, particle("function f(s) = smooth(s*sign(s - 1))\nforce on P = f(x/(1 m))*(1 N)*N.x\nrun for 1 s"));
    add(Code::W0837,
        particle("gravity -g*N.y\nconstraint c: y = 0\nnonideal c: force on P = if(reaction(c) > 5 N, 1 N, 0 N)*N.x\n"
                 "run for 1 s"))
        .keeps_rows = true;
    add(Code::N0838, particle("potential smooth(abs(x))*(1 N)\nrun for 1 s")).keeps_rows = true;
    for (const char* const text : {"constraint floor: y >= 0", "event e: x - 2 m => set x' = 0",
                                   "constraint f: dot(pos(P), N.y) = 0\nnonideal f: friction on P = 0.3*abs(reaction(f))"})
        add(Code::E0847, particle(text)).run.until = -1;
    add(Code::E0848, particle("constraint floor: y + 1 m + (1 m)*sqrt(1.5 - x/(1 m)) >= 0\nstart x' = 1\nrun for 2 s"))
        .keeps_rows = true;
    add(Code::E0848, particle("constraint floor: y >= (1 m)*sqrt(-1)"));
    add(Code::E0848, particle("start x' = 1\nforce on P = if(log(2 - x/(1 m)) > -3, 1 N, 0 N)*N.y\nrun for 2 s")).keeps_rows =
        true;
    add(Code::W0849, particle("start x' = 1\noutput s = sqrt(2 - x/(1 m))\nrun for 2 s"));
    add(Code::W0850, particle("start x' = 1\nevent dome: log(2 - x/(1 m)) + 100 => report\nrun for 2 s"));
    add(Code::E0815, particle("run from 1e15 s, for 1 s"));
    add(Code::E0815, particle("run from 1e9 s, for 1 s, every 1e-7 s"));
    add(Code::W0845, particle("start x' = 1 m/s\nevent a: x - 2 m rising => set x' = 2 m/s\n"
                              "event b: 2*x - 4 m rising => set x' = 3 m/s\nrun for 2 s, every 1 s"));
    add(Code::W0868,
        "system bad\ncoord a = 0, b = 1, c = 2\nparticle A mass 1 at O + a*N.x\nparticle B mass 1 at O + b*N.x\n"
        "particle C mass 1 at O + c*N.x\nconstraint ab: b - a >= 0.5 restitution 1\n"
        "constraint bc: c - b >= 1 restitution 1\nstart a' = 1\nrun for 1");
    add(Code::N0867, particle("constraint floor: y >= 0\nindependent y'\nrun for 1 s, formulation minimal"));
    // without stabilization the circle is left, and its force does work that no ledger has
    add(Code::W0823,
        particle("gravity -g*N.y\nconstraint c: x^2 + y^2 = 1\nrun for 300 s, rtol 1e-5, atol 1e-5, stabilize none"));
    // the forces of the potential are finite at the start, its change with time is not
    add(Code::W0823, particle("potential (1 J)*((x/(1 m))^2 + sqrt(t/(1 s)))\nrun for 1 s"));
    add(Code::E0815, particle("run for 10 s, integrator rk4"));
    add(Code::E0815, particle("run for 10 s, step 0.1 s"));
    add(Code::E0815, particle("run for 10 s, integrator merson, step 0.1 s, max_step 1 s"));
    add(Code::E0815, particle("run for 10 s, integrator merson, step 0.1 s, first_step 1 s"));
    add(Code::E0815, particle("speed u = x' + y', v = y'\ntolerance x' = 1e-3\nrun for 1 s")).place = "x'";
    add(Code::E0815, particle("run for 1 s, stabilize project, gains (-1)"));
    add(Code::E0815, particle("constraint c: x' = y'\nrun for 1 s, formulation voronec, stabilize baumgarte"));
    add(Code::E0815, particle("constraint c: x' = y'\nrun for 1 s, integrator cvode, stabilize baumgarte"));
    add(Code::W0831, particle("force on P = -2e4*vel(P) + N.x\nrun for 1 s, rtol 1e-6, atol 1e-6")).keeps_rows = true;
    add(Code::E0820, particle("constraint c: x'*y' = 1\nstart x' = 1, y' = 1\nrun for 1 s, formulation chaplygin"));
    // x' depends at the start, and from t = 1 on the constraint says nothing about it; the user's choice is kept
    add(Code::E0863,
        particle("constraint c: max(1 - t, 0)*x' + min(t, 1)*y' = 0\nindependent y'\nrun for 2 s, formulation voronec"))
        .keeps_rows = true;
    return out;
}

// codes that no model text reaches, with the test that does
const std::set<Code> k_elsewhere{
    Code::E0846,  // found by check: FormulationsThatDisagreeAreNamed below
    Code::N0855,  // with --complete: NothingToCompleteIsSaid below
    Code::E0881,  // memory: tests/cli/limits_test.cpp
    Code::E0882,  // an internal error: AnInternalErrorIsToldLikeAProblem below
    Code::E0705,  // refused earlier by the language (E0405); see RefusedByTheLibraryToo below
    Code::E0712,  // refused earlier by the language (E0405); see RefusedByTheLibraryToo below
    Code::E0726,  // refused by the language: lang_codes.cpp
    Code::E0727,  // likewise
    Code::E0801,  // writing: WhatCanNotBeWritten below
    Code::E0809,  // where nothing more precise is known: AProjectionThatFailsIsNamed below
    Code::E0811,  // cancelling: Cancelled below
    Code::E0816,  // files in the way: tests/cli/folders_test.cpp
    Code::E0876,  // a folder in use: likewise
    Code::W0879,  // results that are replaced: likewise
    Code::E0861,  // asked of `export`, below
    Code::E0821,  // derive: EvidenceThatAFormulationCanNotShow below
    Code::N0822,  // check: tests/truth/gallery_claims_test.cpp
    Code::E0824,  // resuming: tests/cross/resumed_run_test.cpp
    Code::E0826,  // sweeping: tests/cross/ensemble_test.cpp
    Code::E0862,  // beside E0808: tests/property/singular_positions.cpp
    Code::E0871,  // plotting: tests/cli/plot_test.cpp
    Code::E0872,  // likewise
    Code::E0873,  // likewise
    Code::E0874,  // likewise
    Code::W0875,  // likewise
    Code::N0852,  // check: ClaimsWithoutAValueAtSomeStates below
    Code::N0844   // beside E0808: LinearRowsAreNamedWhereAProductLosesItsRank below
};

class BadRun : public ::testing::TestWithParam<BadModel> {};

TEST_P(BadRun, IsDiagnosedByName) {
    const BadModel& bad = GetParam();
    Derivation d = derive_text(bad.text, bad.read);
    const auto result = run(d, bad.run);
    EXPECT_TRUE(d.diagnostics.has(bad.code)) << info(bad.code).name << " expected\n" << render(d.diagnostics, d.sources);
    const bool is_error = info(bad.code).name.front() == 'E';
    EXPECT_EQ(d.diagnostics.has_errors(), is_error) << render(d.diagnostics, d.sources);
    // one problem, one error
    EXPECT_EQ(d.diagnostics.error_count(), is_error ? 1u : 0u) << render(d.diagnostics, d.sources);
    if (bad.keeps_rows) {
        ASSERT_TRUE(result.has_value());
        ASSERT_GT(result->rows(), 1u);
        for (const double v : std::span(result->table).first(result->width())) EXPECT_TRUE(std::isfinite(v));
    }
    for (const Diagnostic& diagnostic : d.diagnostics.all())
        if (diagnostic.code == bad.code) {
            EXPECT_FALSE(diagnostic.message.empty());
            EXPECT_NE(diagnostic.message.back(), '.');
            if (bad.place.empty()) continue;
            EXPECT_EQ(d.sources.text(diagnostic.span), bad.place) << render(d.diagnostics, d.sources);
        }
}

INSTANTIATE_TEST_SUITE_P(Codes, BadRun, ::testing::ValuesIn(bad_models()), [](const auto& at) {
    return std::string(appell::info(at.param.code).name) + "_" + std::to_string(at.index);
});

// That `sim` ends a run so is shown by Simulate.AProjectionThatFailsIsNoLossOfRank.
TEST(BadRunMore, AProjectionThatFailsIsNamed) {
    Derivation d = derive_text(particle("constraint c: x^2 + y^2 = 1\nrun for 1 s"));
    const auto result = run(d, {});
    ASSERT_TRUE(result.has_value());
    Result<LoweredMotion> lowered = lower_motion(*d.dynamics, {});
    ASSERT_TRUE(lowered.ok());
    SimulateSummary ended = result->summary;
    ended.reason = EndReason::projection_failed;
    Diagnostics diagnostics;
    add_end_diagnostics(diagnostics, *d.dynamics, lowered->motion, ended);
    EXPECT_TRUE(diagnostics.has(Code::E0809)) << render(diagnostics, d.sources);
    EXPECT_EQ(diagnostics.error_count(), 1u);
}

// What a dense formulation would work on is known beforehand: nothing is made for one that is too large.
TEST(BadRunMore, TooManyRowsAreFoundBeforeEquationsAreMade) {
    for (const FormulationInfo& row : all_formulations()) {
        const bool known = row.formulation != Formulation::multipliers && !row.partitioned;
        Derivation d = derive_text(particle("constraint a: x' = 0\nrun for 1 s"));
        const std::size_t nodes = d.dynamics->graph().size(), size = d.model->speeds.size();
        LowerMotionOptions options{.formulation = row.formulation, .solve_entries = size * (size + 1) - 1};
        const Result<LoweredMotion> refused = lower_motion(*d.dynamics, options);
        EXPECT_EQ(refused.diagnostics.has(Code::E0715), known) << row.name;
        if (known) {
            EXPECT_EQ(d.dynamics->graph().size(), nodes) << row.name;
        }
        ++options.solve_entries;
        EXPECT_FALSE(lower_motion(*d.dynamics, options).diagnostics.has(Code::E0715)) << row.name;
    }
}

TEST(BadRunMore, LinearRowsAreNamedWhereAProductLosesItsRank) {
    Derivation d = derive_text(particle("constraint c: x'*y' = 0\nstart y' = 1 m/s\nforce on P = -1 N*N.y\nrun for 2 s"));
    const auto result = run(d, {});
    ASSERT_TRUE(result.has_value());
    EXPECT_GT(result->rows(), 100u);
    EXPECT_TRUE(d.diagnostics.has(Code::E0808)) << render(d.diagnostics, d.sources);
    ASSERT_TRUE(d.diagnostics.has(Code::N0844)) << render(d.diagnostics, d.sources);
    EXPECT_NE(render(d.diagnostics, d.sources).find("the product of y' and x'"), std::string::npos);
}

// Squares have no gradient anywhere on them, so that no random states can be brought onto them; what they say is named all the
// same.
TEST(BadRunMore, LinearRowsAreNamedWhereASquareHasNoGradient) {
    struct Case {
        const char *constraints, *found;
    };
    for (const Case& c :
         {Case{"constraint c: (x' - y')^2 + z'^2 = 0", "x' - y' = 0, z' = 0 can replace it"},
          Case{"constraint c: (x' - y')^2 = 0", "x' - y' = 0 says the same"},
          Case{"constraint flat: z' = 0\nconstraint c: (x' - y')^2 + z'*x' = 0", "square of a linear one given flat"}}) {
        const std::string model = particle("coord z = 0 m\nparticle Q mass m at O + z*N.z\n" + std::string(c.constraints) +
                                           "\nstart x' = 1 m/s, y' = 1 m/s\nforce on P = 1 N*N.y\nrun for 1 s");
        Derivation d = derive_text(model), again = derive_text(model);
        (void)check(d);
        EXPECT_NE(render(d.diagnostics, d.sources).find(c.found), std::string::npos) << render(d.diagnostics, d.sources);
        (void)run(again, {});
        EXPECT_TRUE(again.diagnostics.has_errors()) << c.constraints;
        ASSERT_TRUE(again.diagnostics.has(Code::N0844)) << render(again.diagnostics, again.sources);
        EXPECT_NE(render(again.diagnostics, again.sources).find(c.found), std::string::npos);
    }
}

TEST(BadRunMore, RefusedByTheLibraryToo) {
    ModelBuilder b("bad");
    Graph& g = b.graph();
    const Expr x = b.coordinate("x");
    const PointId P = b.point("P", g.vadd(b.position(Model::origin()), g.vscale(x.id, b.basis(Model::newtonian(), 0))));
    b.particle("P", P, g.constant(1));
    b.constraint("c", x.id);
    b.constraint("d", g.sub(x.id, g.symbol_node(b.model().constraints[0].multipliers[0])));
    b.load({ForceLoad{P, {}, g.vscale(g.symbol_node(b.model().constraints[0].multipliers[0]), b.basis(Model::newtonian(), 0))},
            "",
            {0, 7, 11}});
    const auto derived = derive_dynamics(std::make_shared<const Model>(std::move(*b.build())));
    EXPECT_TRUE(derived.diagnostics.has(Code::E0705));
    EXPECT_TRUE(derived.diagnostics.has(Code::E0712));
    for (const Diagnostic& d : derived.diagnostics.all())
        if (d.code == Code::E0712) {
            EXPECT_EQ(d.span, (Span{0, 7, 11}));
        }
}

Diagnostic only(const std::string& text, Code code) {
    Derivation d = derive_text(text);
    (void)run(d, {});
    Diagnostic found{code, {}, "", "", "", ""};
    std::size_t count = 0;
    for (const Diagnostic& diagnostic : d.diagnostics.all())
        if (diagnostic.code == code) {
            found = diagnostic;
            ++count;
        }
    EXPECT_EQ(count, 1u) << render(d.diagnostics, d.sources);
    return found;
}

TEST(BadRunMore, ComponentsLeftOutAreOneNote) {
    EXPECT_EQ(only(particle("constraint c: parallel(vel(P), N.x)"), Code::N0711).message,
              "components x and y of constraint c are identically zero and were left out");
    // of a family once
    EXPECT_EQ(only("system s\nfor i in 1..5\n  coord x[i] = i, y[i] = 0\n  start x[i]' = 1\n"
                   "  particle P[i] mass 1 at O + x[i]*N.x + y[i]*N.y\nend\n"
                   "for i in 1..4\n  constraint c[i]: parallel(vel(P[i]), vel(P[i+1]))\nend\nrun for 1 s\n",
                   Code::N0711)
                  .message,
              "components x and y of constraint c[1] and of 3 others of its family are identically zero and were left out");
}

TEST(BadRunMore, SingularAnglesAreNamed) {
    const Diagnostic d = only(
        "system bad\ncoord a = 0.3, b = 0, c = 0\nframe B from N body zxz (a, b, c)\nbody B frame B mass 1 center O inertia (1, "
        "2, "
        "3)\nrun for 1 s",
        Code::E0605);
    EXPECT_EQ(d.message, "the coordinates are singular at the start: a' and c' together move nothing there");
    EXPECT_EQ(d.found, "no kinetic energy in a' - c'");
}

// three rows, and actuators that move x and y together: the difference is what none of them reaches
TEST(BadRunMore, UnreachableCombinationIsNamed) {
    const Diagnostic d = only(
        "system bad\ncoord x = 0, y = 0, z = 0\nparticle P mass 2 at O + x*N.x + y*N.y + z*N.z\n"
        "actuator F1: force on P along N.x + N.y\nactuator F2: force on P along N.x + N.y + 2*N.z\n"
        "actuator F3: force on P along N.z\n"
        "servo sx: x' = t by F1, F2, F3\nservo sy: y' = 2*t by F1, F2, F3\nservo sz: z' = t by F1, F2, F3\nrun for 1 s",
        Code::E0818);
    EXPECT_EQ(d.found, "no actuator accelerates sx - sy");
}

// the start is on both, and no other time is: `check` says so as `run` does
TEST(BadRunMore, ConstraintsThatHoldAtTheStartAlone) {
    const std::string text = particle("constraint a: y/(1 m) = sin(t/(1 s))\nconstraint b: y/(1 m) = t/(1 s)\nrun for 1 s");
    (void)only(text, Code::E0807);
    Derivation d = derive_text(text);
    (void)check(d);
    EXPECT_TRUE(d.diagnostics.has(Code::W1009)) << render(d.diagnostics, d.sources);
    EXPECT_TRUE(d.diagnostics.has(Code::E0807)) << render(d.diagnostics, d.sources);
}

// one and the same answer from every command: x' follows from the constraint and can not be independent
TEST(BadRunMore, IndependentSpeedsThatCanNotBe) {
    Derivation d = derive_text(particle("constraint a: x' = 0\nindependent x'\nrun for 1 s"));
    EXPECT_TRUE(d.diagnostics.has(Code::E0817)) << render(d.diagnostics, d.sources);
    EXPECT_FALSE(d.ok());
    EXPECT_EQ(d.sources.text(d.diagnostics.all().front().span).substr(0, 11), "independent");
    // y*x' + x*y' determines either of them, though not at the start, where y is zero
    Derivation good = derive_text(particle("constraint a: y*x' + x*y' = 0\nindependent y'\nrun for 1 s"));
    EXPECT_TRUE(good.ok()) << render(good.diagnostics, good.sources);
}

TEST(BadRunMore, ManyMovesAreCounted) {
    const std::string text =
        "system many\nfor i in 1..50\n  coord x[i] = i\n  particle P[i] mass 1 at O + x[i]*N.x\n"
        "  constraint c[i]: x[i] = 0\nend\nrun for 1 s";
    const std::string message = only(text, Code::N0812).message;
    EXPECT_NE(message.find("x[1] from 1 to 0"), std::string::npos) << message;
    EXPECT_NE(message.find("and 44 others"), std::string::npos) << message;
}

TEST(BadRunMore, ContradictionAtTheStartIsSaid) {
    const Diagnostic d = only(particle("constraint a: x' = 1\nconstraint b: x' = 2"), Code::E0802);
    EXPECT_NE(d.hint.find("contradict"), std::string::npos) << d.hint;
    const Diagnostic held = only(particle("constraint c: x' = 2*y'\nstart x' = 1 fixed, y' = 1 fixed"), Code::E0802);
    EXPECT_NE(held.hint.find("x', y'"), std::string::npos) << held.hint;
    EXPECT_EQ(only(particle("constraint c: x^2 + 1 = 0"), Code::E0802).hint.find("contradict"), std::string::npos);
}

// the coordinates move first, and with them what a rate means in terms of speeds
TEST(BadRunMore, AFixedRateIsKept) {
    Derivation d = derive_text(particle("speed u = x', v = x*y'/(1 m)\nconstraint c: x^2 + y^2 = 4 m^2\nstart y' = 3 fixed"));
    const auto result = run(d, {});
    ASSERT_TRUE(result.has_value()) << render(d.diagnostics, d.sources);
    EXPECT_NEAR(result->at(0, result->layout.coordinates), 2, 1e-12);
    EXPECT_NEAR(result->at(0, result->layout.speeds + 1), 6, 1e-12);  // x = 2 and y' = 3
}

// Rows written with any factor: the parabola holds at first and is left on the way, by a residual that must not hold the other
// row back.
TEST(BadRunMore, RowsOfAnyScaleStart) {
    const auto starts = [](const std::string& constraints) {
        Derivation d = derive_text(particle(constraints));
        const auto result = run(d, {});
        ASSERT_TRUE(result.has_value()) << render(d.diagnostics, d.sources);
        EXPECT_FALSE(d.diagnostics.has_errors()) << constraints << render(d.diagnostics, d.sources);
    };
    for (const std::string factor : {"1e-9", "1", "1e9"})
        starts("constraint a: " + factor + "*(x - 1 m - y^2/(1 m)) = 0\nconstraint b: y + y^3/(1 m^2) = 5 m");
    starts("constraint c: x'/(1 m/s) + (x'/(1 m/s))^3 = 1");  // from rest, where velocities have no size
}

// s moves no mass and is bound on velocities only: the position row alone does not say how it moves
TEST(BadRunMore, MasslessCoordinateBesideAPositionRow) {
    Derivation d =
        derive_text(particle("coord s = 0 m\nconstraint a: x = 2 m\nconstraint b: s' = y'\nstart y' = 1\nrun for 1 s"));
    const auto result = run(d, {});
    ASSERT_TRUE(result.has_value()) << render(d.diagnostics, d.sources);
    EXPECT_FALSE(d.diagnostics.has_errors()) << render(d.diagnostics, d.sources);
    EXPECT_NEAR(result->at(0, result->layout.coordinates), 2, 1e-12);
    EXPECT_NEAR(result->at(result->rows() - 1, result->layout.coordinates + 2), 1, 1e-9);
}

// P and Q are one point, given in different bases: their distance is round-off, and never a root of something negative
TEST(BadRunMore, DistanceAcrossBasesIsANumber) {
    Derivation d = derive_text(
        "system same\nparam l = 1.1\ncoord a = 0.3\nframe A from N rotate a about z\nparticle P mass 1 at O + l*A.x\n"
        "point Q at O + l*cos(a)*N.x + l*sin(a)*N.y\nstart a' = 2\noutput distance = mag(P - Q)\nrun for 10 s");
    const auto result = run(d, {});
    ASSERT_TRUE(result.has_value()) << render(d.diagnostics, d.sources);
    for (std::size_t i = 0; i < result->rows(); ++i) {
        ASSERT_LT(result->at(i, result->layout.outputs), 1e-14) << "row " << i;
    }
}

TEST(BadRunMore, WhatCanNotBeWrittenIsDiagnosed) {
    EXPECT_TRUE(OutputFolder::create("/dev/null/results").diagnostics.has(Code::E0801));
}

TEST(BadRunMore, CancelledKeepsItsRows) {
    Derivation d = derive_text(gallery_text("double_pendulum"));
    const auto result = run(d, {}, [](double t) { return t < 1; });
    EXPECT_TRUE(d.diagnostics.has(Code::E0811));
    ASSERT_TRUE(result.has_value());
    EXPECT_GT(result->rows(), 50u);
    EXPECT_LT(result->rows(), 1000u);
}

// no model has one that is known: the exception stands for it
TEST(BadRunMore, AnInternalErrorIsToldLikeAProblem) {
    const Diagnostic assertion = failure(InternalError("internal error: 1 = 2 does not hold")),
                     other = failure(std::out_of_range("at"));
    EXPECT_EQ(assertion.code, Code::E0882);
    EXPECT_EQ(other.code, Code::E0882);
    EXPECT_NE(other.message.find("report"), std::string::npos);
    EXPECT_EQ(failure(std::bad_alloc()).code, Code::E0881);
    EXPECT_EQ(failure(std::length_error("vector")).code, Code::E0881);
}

// asked of `derive`
TEST(BadRunMore, EvidenceThatAFormulationCanNotShow) {
    Derivation d = derive_text(particle("constraint c: x' = 2*y'\nconstraint d: y = 0 m"));
    EXPECT_FALSE(print_equations(d, {"ukp", "text", "c"}).has_value());
    EXPECT_TRUE(d.diagnostics.has(Code::E0821));
}

// asked of `export`: what makes several sets of equations is named, all of it, and so is what has no values
TEST(BadRunMore, WhatCanNotBeExported) {
    const auto said = [](const std::string& rest) {
        Derivation d = derive_text(particle(rest));
        EXPECT_TRUE(d.ok()) << render(d.diagnostics, d.sources);
        EXPECT_FALSE(export_code(d, {}).has_value());
        return render(d.diagnostics, d.sources);
    };
    const std::string contact = said("gravity -g*N.y\nconstraint floor: y >= 0");
    EXPECT_NE(contact.find("E0861"), std::string::npos) << contact;
    EXPECT_NE(contact.find("floor, a contact that opens and closes"), std::string::npos) << contact;
    const std::string event = said("constraint rail: y = 0 m\nevent off: x - 2 m rising => drop rail");
    EXPECT_NE(event.find("event off, which drops or enforces constraints"), std::string::npos) << event;
    const std::string friction =
        said("gravity -g*N.y\nconstraint table: dot(pos(P), N.y) = 0\nnonideal table: friction on P = 0.3*abs(reaction(table))");
    EXPECT_NE(friction.find("friction that sticks and slides"), std::string::npos) << friction;
    const std::string opaque = said("function h(a) opaque\nforce on P = h(x/(1 m))*(1 N)*N.x");
    EXPECT_NE(opaque.find("E0706"), std::string::npos) << opaque;
    EXPECT_NE(opaque.find("function h has no expression"), std::string::npos) << opaque;
}

// claims are judged by `check`
TEST(BadRunMore, ClaimsThatFail) {
    const auto code_of = [](const std::string& rest) {
        Derivation d = derive_text(particle("constraint c: x' = 2*y'\nforce on P = m*g*N.y\n" + rest));
        (void)check(d);
        EXPECT_EQ(d.diagnostics.error_count(), 1u) << render(d.diagnostics, d.sources);
        for (const Diagnostic& diagnostic : d.diagnostics.all())
            if (diagnostic.severity() == Severity::error) return diagnostic.code;
        return Code::E0001;
    };
    EXPECT_EQ(code_of("claim \"a\": x'' = y''"), Code::E1001);
    EXPECT_EQ(code_of("misprint \"a\": x'' = 2*y''"), Code::E1002);
    EXPECT_EQ(code_of("claim \"a\": x'' = 2*y'' where x > 1e6 m"), Code::E1003);
    EXPECT_EQ(code_of("claim \"a\": sqrt(-1 - (x/(1 m))^2) = 1"), Code::E1003);
    // one entry of a list without a value is not outvoted by the others
    EXPECT_EQ(code_of("claim \"a\": matrix(f) = (sqrt(-1 - (x/(1 m))^2)*(1 N), m*g)"), Code::E1003);
    EXPECT_EQ(code_of("claim \"a\": matrix(M) = ((m, 0), (0, m), (0, 0))"), Code::E0613);
    EXPECT_EQ(code_of("claim \"a\": matrix(D) = (2, 2)"), Code::E0612);
}

TEST(BadRunMore, ClaimsWithoutAValueAtSomeStates) {
    Derivation d = derive_text(particle("claim \"root\": log((x'/(1 m/s))^2) = 2*log(x'/(1 m/s))"));
    const std::optional<Check> found = check(d);
    ASSERT_TRUE(found.has_value());
    const ClaimResult& claim = found->claims.claims.at(0);
    EXPECT_TRUE(claim.holds);
    EXPECT_GT(claim.without_value, 0u);
    EXPECT_LT(claim.without_value, claim.states);
    EXPECT_TRUE(d.diagnostics.has(Code::N0852)) << render(d.diagnostics, d.sources);
    EXPECT_FALSE(d.diagnostics.has_errors()) << render(d.diagnostics, d.sources);
}

// no model is known whose formulations disagree: planted differences
TEST(BadRunMore, FormulationsThatDisagreeAreNamed) {
    const auto judged = [](double rough, double wide, bool with_wide, double least_pivot = 1) {
        Certificate c;
        c.enough = true;
        c.wide = with_wide;
        c.least_pivot = least_pivot;
        FormulationAgreement f;
        f.name = "minimal";
        f.acceleration = rough;
        f.force_wide = wide;
        c.formulations = {f};
        Diagnostics said;
        add_disagreements(said, c);
        EXPECT_LE(said.error_count(), 1u);
        if (!said.has(Code::E0846)) return std::string();
        return said.all().front().message;
    };
    EXPECT_EQ(judged(1e-9, 1e-40, true), "");
    EXPECT_EQ(judged(1e-9, 0, false), "");
    // round-off of double, which fifty digits tell from mistakes; rows that nearly depend on each other
    EXPECT_EQ(judged(1e-3, 1e-40, true), "");
    EXPECT_EQ(judged(1e-3, 0, false, 1e-5), "");
    EXPECT_NE(judged(1e-3, 0, false).find("minimal disagrees"), std::string::npos);
    EXPECT_NE(judged(1e-9, 1e-20, true).find("minimal disagrees"), std::string::npos);
    EXPECT_NE(judged(1e-9, NAN, true).find("no value of the constraint force"), std::string::npos);
    for (const double none : {static_cast<double>(NAN), static_cast<double>(INFINITY)})
        EXPECT_NE(judged(none, 0, true).find("not finite in double"), std::string::npos);
}

TEST(BadRunMore, NothingToCompleteIsSaid) {
    Derivation d = derive({"model.appell",
                           particle("constraint c: x^2 + y^2 = 1 m^2\nrun for 1 s"),
                           [](const std::string&) { return std::nullopt; },
                           {},
                           true});
    EXPECT_TRUE(d.diagnostics.has(Code::N0855)) << render(d.diagnostics, d.sources);
    EXPECT_FALSE(d.diagnostics.has_errors()) << render(d.diagnostics, d.sources);
}

TEST(BadRunMore, EveryCodeHasAModel) {
    std::set<Code> covered = k_elsewhere;
    for (const BadModel& bad : bad_models()) covered.insert(bad.code);
    for (const CodeInfo& row : all_codes()) {
        const std::string number(row.name.substr(1));
        if (number >= "0590" && number < "0900") {
            EXPECT_TRUE(covered.contains(row.code)) << row.name << " has no bad model";
        }
    }
}

}  // namespace
}  // namespace appell
