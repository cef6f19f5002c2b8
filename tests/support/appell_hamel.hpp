// A nonlinear row, a linear row on velocities and a row on positions in one model.
#pragma once

#include <string>

namespace appell {

// 003 example 1 with the constraint modelled as nonlinear: eqs. 57-59
inline const std::string k_appell_hamel =
    "system appell_hamel\nparam m = 1, M = 5, I = 2.5, rho = 5, a = 1, b = 0.5, z0 = 30, g = 9.81\n"
    "coord theta = 0, phi = 0, x = 0, y = 0, z = 30\nspeed u1 = theta', u2 = phi', u3 = x', u4 = y', u5 = z'\n"
    "start u1 = 1, u2 = 1, u3 = 1, u4 = 5, u5 = -0.5\n"
    "frame A from N rotate theta about z\nframe W from A rotate phi about y\n"
    "particle P mass m at O + x*N.x + y*N.y + z*N.z\n"
    "body W frame W mass M center at O + x*N.x + y*N.y - rho*A.x + a*N.z inertia (I, I, I)\ngravity -g*N.z\n"
    "constraint c1: (u3 + rho*u1*sin(theta))^2/2 + (u4 - rho*u1*cos(theta))^2/2 - a^2*u2^2/2 = 0\n"
    "constraint c2: u3*sin(theta) - u4*cos(theta) + rho*u1 = 0\nconstraint c3: z = z0 - b*phi\n";

}  // namespace appell
