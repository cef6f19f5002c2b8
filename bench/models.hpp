// The models of the bench that are no part of the gallery, as text. Every number that a peer needs stands here once; the peers
// repeat it, and bench/run compares what both sides compute.
#pragma once

#include <string>

#include <fmt/format.h>

namespace bench {

// 000 sec. 4
inline std::string pucks() {
    return "system pucks\nparam m1 = 1, m2 = 2, s1 = 1, s3 = 1\ncoord x1 = 1, y1 = -2, x2 = 1, y2 = 2\n"
           "speed u1 = x1', u2 = y1', u3 = x2', u4 = y2'\nstart u1 = 0.3, u2 = 0.4, u3 = 0.4, u4 = -0.3\n"
           "particle P1 mass m1 at O + x1*N.x + y1*N.y\nparticle P2 mass m2 at O + x2*N.x + y2*N.y\n"
           "force on P1 = s1*N.x\nforce on P2 = s3*N.x\nconstraint c: dot(vel(P1), vel(P2)) = 0\nrun for 10 s\n";
}

// 003 example 1, as in gallery/appell_hamel_nonlinear.appell
inline std::string appell_hamel() {
    return "system appell_hamel\n"
           "param a = 1, b = 0.5, rho = 5, m = 1, M = 5, I = 2.5, g = 9.81, z0 = 30\n"
           "coord theta = 0, phi = 0, x = 0, y = 0, z = 30\n"
           "speed u1 = theta', u2 = phi', u3 = x', u4 = y', u5 = z'\n"
           "start u1 = 1, u2 = 1, u3 = 1, u4 = 5, u5 = -0.5\nindependent u1, u2\n"
           "frame H from N rotate theta about z\nframe W from H rotate phi about y\n"
           "particle P mass m at O + x*N.x + y*N.y + z*N.z\npoint Wo at O + x*N.x + y*N.y + a*N.z - rho*H.x\n"
           "body W frame W mass M center Wo inertia (I, I, I)\ngravity -g*N.z\n"
           "constraint roll: (dot(vel(Wo), vel(Wo)) - a^2*dot(omega(W), H.y)^2)/2 = 0\n"
           "constraint edge: -dot(vel(Wo), H.y) = 0\nconstraint thread: dot(pos(P), N.z) + b*phi = z0\nrun for 10 s\n";
}

// point masses on massless links, by absolute angles
inline std::string pendulum(int n) {
    std::string out = "system chain\nparam m = 0.7, l = 0.4, g = 9.81\n", before = "O";
    for (int i = 1; i <= n; ++i) out += fmt::format("coord a{} = {}\n", i, 0.3 * i);
    for (int i = 1; i <= n; ++i) {
        out += fmt::format("particle P{} mass m at {} + l*sin(a{})*N.x - l*cos(a{})*N.y\n", i, before, i, i);
        before = fmt::format("P{}", i);
    }
    return out + "gravity -g*N.y\nrun for 1 s\n";
}

// Guards of the pendulum that never come near zero: events, a contact, a condition in a law.
inline std::string far_guards() {
    return "event turns: a1 - 1e3 => report\nevent fast: a1' + 1e4 falling => stop\nevent late: t - 1e6 => stop\n"
           "constraint wall: 1e3 + a1 >= 0\nforce on P1 = if(a2 > 1e3, 1, 0)*N.x\n";
}

// the same on a cart, with a mass and a length for each link, as SymPy's n-link pendulum has them
inline std::string cart(int n) {
    std::string out = "system cart\nparam g = 9.81, m0 = 1\ninput F = 0\ncoord x = 0\n", before = "P0";
    for (int i = 1; i <= n; ++i)
        out += fmt::format("param m{0} = {1}, l{0} = {2}\ncoord q{0} = {3}\nspeed u{0} = q{0}'\n", i, 1 + 0.01 * i, 1.0 / n,
                           0.1 * i);
    out += "speed v = x'\nstart v = 0.2\n";
    for (int i = 1; i <= n; ++i) out += fmt::format("start u{} = {}\n", i, 0.3 - 0.01 * i);
    out += "particle P0 mass m0 at O + x*N.x\nforce on P0 = F*N.x\n";
    for (int i = 1; i <= n; ++i) {
        out += fmt::format("frame B{0} from N rotate q{0} about z\nparticle P{0} mass m{0} at {1} - l{0}*B{0}.y\n", i, before);
        before = fmt::format("P{}", i);
    }
    return out + "gravity -g*N.y\nrun for 1 s\n";
}

// rigid bodies on hinges, by relative angles; spatial: every other axis is turned; skating: the end moves along the last body
// only
inline std::string bodies(int n, bool spatial, bool skating = false) {
    std::string out = "system bodies\nparam g = 9.81\n", frame = "N", joint = "O";
    for (int i = 1; i <= n; ++i)
        out += fmt::format("param m{0} = 1, c{0} = 0.5, l{0} = 1, A{0} = 0.09, B{0} = 0.09, C{0} = 0.02\n", i);
    for (int i = 1; i <= n; ++i) out += fmt::format("coord q{} = {}\n", i, i == 1 ? 0.3 : 0.1);
    for (int i = 1; i <= n; ++i) out += fmt::format("start q{}' = 0.2\n", i);
    for (int i = 1; i <= n; ++i) {
        out += fmt::format("frame F{0} from {1} rotate q{0} about {2}\n", i, frame, spatial && i % 2 == 0 ? "x" : "y");
        frame = fmt::format("F{}", i);
        out += fmt::format(
            "point G{0} at {1} - c{0}*F{0}.z\nbody F{0} frame F{0} mass m{0} center G{0} inertia (A{0}, B{0}, C{0})\n", i, joint);
        out += fmt::format("point J{0} at {1} - l{0}*F{0}.z\n", i, joint);
        joint = fmt::format("J{}", i);
    }
    if (skating) out += fmt::format("constraint skate: dot(vel(J{0}), F{0}.x) = 0\n", n);
    return out + "gravity -g*N.z\nrun for 1 s\n";
}

enum class Joined { equal_speeds, perpendicular, parallel };

// 002 examples 2, 4 and 3, each point joined with the next
inline std::string points(int n, Joined how) {
    const std::string row = how == Joined::perpendicular ? "dot(vel(P[i]), vel(P[i+1])) = 0"
                            : how == Joined::parallel    ? "parallel(vel(P[i]), vel(P[i+1]))"
                                                         : "(dot(vel(P[i]), vel(P[i])) - dot(vel(P[i+1]), vel(P[i+1])))/2 = 0";
    const std::string starts =
        how == Joined::perpendicular
            ? "  start x[i]' = sqrt(0.8)*cos(acos(-0.25)*i), y[i]' = sqrt(0.8)*sin(acos(-0.25)*i), z[i]' = sqrt(0.2)\n"
        : how == Joined::parallel ? "  start x[i]' = 2 + cos(i), y[i]' = 1 + cos(i)/2, z[i]' = -1 - cos(i)/2\n"
                                  : "  start x[i]' = sin(0.4*i)*cos(i), y[i]' = sin(0.4*i)*sin(i), z[i]' = cos(0.4*i)\n";
    return fmt::format(
        "system points\nsize n = {}\nfor i in 1..n\n"
        "  param M[i] = 1 + 0.5*cos(i), Fx[i] = 0.3*cos(i), Fy[i] = 0.3*sin(i), Fz[i] = 0.2*cos(2*i)\n"
        "  coord x[i] = 2*i, y[i] = 0, z[i] = 0\n{}"
        "  particle P[i] mass M[i] at O + x[i]*N.x + y[i]*N.y + z[i]*N.z\n"
        "  force on P[i] = Fx[i]*N.x + Fy[i]*N.y + Fz[i]*N.z\nend\nfor i in 1..n-1\n  constraint c[i]: {}\nend\nrun for 1 s\n",
        n, starts, row);
}

}  // namespace bench
