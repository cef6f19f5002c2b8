#!/usr/bin/env python3
"""SymPy's side of the comparisons (bench/worker.hpp has the protocol).

    sympy_worker.py derive N | first_evaluation N | evaluate N | rolling_disk | bicycle equations|linearization

`bicycle` runs the bicycle of SymPy's own tests, with a clock at the end of its stages.
"""
import ctypes
import json
import os
import subprocess
import sys
import tempfile
import time

import sympy as sm
import sympy.physics.mechanics as me


def processor_time():
    """Of this process and of the compilers it has called."""
    return time.process_time() + sum(os.times()[2:4])


def serve(measure):
    print(json.dumps({"counts": {}, "version": f"SymPy {sm.__version__}"}), flush=True)
    for _ in sys.stdin:
        seconds, values = measure()
        print(json.dumps({"seconds": seconds, "values": [float(v) for v in values]}), flush=True)


def cart(n):
    """Kane's equations of the n-link pendulum on a cart; speeds of the links first, then the cart's."""
    q, u = me.dynamicsymbols(f"q0:{n + 1}"), me.dynamicsymbols(f"u0:{n + 1}")
    m, l = sm.symbols(f"m0:{n + 1}"), sm.symbols(f"l1:{n + 1}")
    g, t, force = sm.symbols("g t F")
    N, O = me.ReferenceFrame("N"), me.Point("O")
    O.set_vel(N, 0)
    point = O.locatenew("P0", q[0] * N.x)
    point.set_vel(N, u[0] * N.x)
    particles = [me.Particle("P0", point, m[0])]
    loads = [(point, force * N.x - m[0] * g * N.y)]
    for i in range(n):
        B = N.orientnew(f"B{i}", "Axis", [q[i + 1], N.z])
        B.set_ang_vel(N, u[i + 1] * N.z)
        end = point.locatenew(f"P{i + 1}", -l[i] * B.y)
        end.v2pt_theory(point, N, B)
        particles.append(me.Particle(f"P{i + 1}", end, m[i + 1]))
        loads.append((end, -m[i + 1] * g * N.y))
        point = end
    kane = me.KanesMethod(N, q_ind=q, u_ind=u, kd_eqs=[a.diff(t) - b for a, b in zip(q, u)])
    kane.kanes_equations(particles, loads)
    symbols = list(q) + list(u) + [g, force] + list(m) + list(l)
    numbers = ([0] + [0.1 * i for i in range(1, n + 1)] + [0.2] + [0.3 - 0.01 * i for i in range(1, n + 1)] + [9.81, 0, 1]
               + [1 + 0.01 * i for i in range(1, n + 1)] + [1 / n] * n)
    return kane, symbols, numbers


C_SOLVE = """
static void solve(int n, double *M, double *f) {
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j <= i; ++j) {
            double sum = M[i*n+j];
            for (int k = 0; k < j; ++k) sum -= M[i*n+k]*M[j*n+k];
            M[i*n+j] = i == j ? sqrt(sum) : sum/M[j*n+j];
        }
        for (int k = 0; k < i; ++k) f[i] -= M[i*n+k]*f[k];
        f[i] /= M[i*n+i];
    }
    for (int i = n; i-- > 0;) {
        for (int k = i + 1; k < n; ++k) f[i] -= M[k*n+i]*f[k];
        f[i] /= M[i*n+i];
    }
}
"""


def compiled(n):
    """The strongest route from SymPy to numbers: common subexpressions, C, gcc -O2, and a Cholesky solve."""
    kane, symbols, numbers = cart(n)
    size = n + 1
    M, f = kane.mass_matrix, kane.forcing
    entries = [M[i, j] for i in range(size) for j in range(i + 1)] + list(f)
    plain = sm.symbols(f"in0:{len(symbols)}")
    steps, results = sm.cse([e.xreplace(dict(zip(symbols, plain))) for e in entries])
    text = ["#include <math.h>", C_SOLVE, "void rate(const double *in, double *out) {"]
    text += [f"const double in{i} = in[{i}];" for i in range(len(plain))]
    text += [f"const double {a} = {sm.ccode(b)};" for a, b in steps]
    text.append(f"double M[{size * size}];")
    places = [f"M[{i * size + j}]" for i in range(size) for j in range(i + 1)] + [f"out[{i}]" for i in range(size)]
    text += [f"{place} = {sm.ccode(e)};" for place, e in zip(places, results)]
    text += [f"solve({size}, M, out);", "}",
             "double spend(const double *in, double *out, long count, double *changed) {",
             "for (long i = 0; i < count; ++i) { *changed += 1e-15; rate(in, out); } return out[0]; }"]
    folder = tempfile.mkdtemp()
    with open(f"{folder}/rate.c", "w", encoding="ascii") as file:
        file.write("\n".join(text))
    subprocess.run(["gcc", "-O2", "-shared", "-fPIC", "-o", f"{folder}/rate.so", f"{folder}/rate.c", "-lm"], check=True)
    library = ctypes.CDLL(f"{folder}/rate.so")
    state, out = (ctypes.c_double * len(numbers))(*numbers), (ctypes.c_double * size)()
    library.rate(state, out)
    subprocess.run(["rm", "-r", folder], check=True)
    return library, state, out, n


def in_our_order(out, n):
    return list(out)[1:] + [out[0]]


def derive(n):
    def values():
        kane, symbols, numbers = cart(n)
        at = dict(zip(symbols, numbers))
        M = sm.Matrix(n + 1, n + 1, lambda i, j: kane.mass_matrix[i, j].xreplace(at).evalf())
        f = kane.forcing.xreplace(at).evalf()
        return in_our_order(list(M.LUsolve(f)), n)

    found = values()

    def measure():
        start = processor_time()
        cart(n)
        return processor_time() - start, found

    serve(measure)


def first_evaluation(n):
    def measure():
        start = processor_time()
        _, _, out, _ = compiled(n)
        return processor_time() - start, in_our_order(out, n)

    serve(measure)


def evaluate(n):
    library, state, out, _ = compiled(n)
    values = in_our_order(out, n)
    changed = ctypes.cast(ctypes.addressof(state) + 8 * (n + 1), ctypes.POINTER(ctypes.c_double))
    count = [1000]

    def measure():
        while True:
            start = processor_time()
            library.spend(state, out, ctypes.c_long(count[0]), changed)
            elapsed = processor_time() - start
            if elapsed > 0.02:
                return elapsed / count[0], values
            count[0] *= 4

    serve(measure)


def rolling_disk():
    """After the rolling disk of SymPy's documentation: three coordinates, two nonholonomic constraints, all forces in sight."""
    def measure():
        start = processor_time()
        t = me.dynamicsymbols._t
        q = me.dynamicsymbols("q1:6")  # x, y, yaw, lean, spin
        u = me.dynamicsymbols("u1:6")
        r, mass, g = sm.symbols("r m g")
        N = me.ReferenceFrame("N")
        Y = N.orientnew("Y", "Axis", [q[2], N.z])
        L = Y.orientnew("L", "Axis", [q[3], Y.x])
        R = L.orientnew("R", "Axis", [q[4], L.y])
        kinematics = [a.diff(t) - b for a, b in zip(q, u)]
        rates = sm.solve(kinematics, [a.diff(t) for a in q])
        w = R.ang_vel_in(N).subs(rates)
        R.set_ang_vel(N, w)
        O = me.Point("O")
        O.set_vel(N, 0)
        P = O.locatenew("P", q[0] * N.x + q[1] * N.y)
        C = P.locatenew("C", r * L.z)
        C.set_vel(N, C.pos_from(O).dt(N).subs(rates))
        slip = C.vel(N) + w.cross(-r * L.z)
        constraints = [slip & N.x, slip & N.y]
        I = me.inertia(L, mass / 4 * r**2, mass / 2 * r**2, mass / 4 * r**2)
        disk = me.RigidBody("D", C, R, mass, (I, C))
        kane = me.KanesMethod(N, q_ind=q, u_ind=u[2:], kd_eqs=kinematics, u_dependent=u[:2], velocity_constraints=constraints)
        kane.kanes_equations([disk], [(C, -mass * g * N.z)])
        seconds = processor_time() - start
        # at the start of gallery/rolling_disk.appell; it has the dependent rates last, we have them first
        at = dict(zip(q + u, [0, 0, 0, sm.pi / 12, 0, 3, 0, 0, 0, 6])) | {r: 0.5, mass: 1, g: 9.81}
        rates = list(kane.mass_matrix.xreplace(at).evalf().LUsolve(kane.forcing.xreplace(at).evalf()))
        return seconds, rates[3:] + rates[:3]

    serve(measure)


def bicycle(part):
    from sympy.physics.mechanics.tests import test_kane3

    # the test asks the function for what its module has
    if not hasattr(test_kane3.evalf, "N"):
        test_kane3.evalf = sys.modules["sympy.core.evalf"]

    def measure():
        ends = {}
        original = test_kane3.KanesMethod

        class Timed(original):
            def kanes_equations(self, *arguments, **options):
                result = super().kanes_equations(*arguments, **options)
                ends["equations"] = processor_time()
                if part == "equations":
                    raise StopIteration
                return result

        test_kane3.KanesMethod = Timed
        test_kane3.ON_TRAVIS = False
        start = processor_time()
        try:
            test_kane3.test_bicycle()
        except (StopIteration, AssertionError, sm.matrices.common.NonInvertibleMatrixError):
            pass  # SymPy 1.11 has no number in some entries of the mass matrix when upright, and gives up on its inverse
        finally:
            test_kane3.KanesMethod = original
        end = processor_time()
        if part == "equations":
            return ends["equations"] - start, []
        return end - ends["equations"], []

    serve(measure)


def main():
    tasks = {"derive": lambda a: derive(int(a[0])), "first_evaluation": lambda a: first_evaluation(int(a[0])),
             "evaluate": lambda a: evaluate(int(a[0])), "rolling_disk": lambda a: rolling_disk(), "bicycle": lambda a: bicycle(a[0])}
    tasks[sys.argv[1]](sys.argv[2:])


if __name__ == "__main__":
    main()
