// Right-hand sides as a careful person writes them for one system, with every size known to the compiler: the limit that derived
// code is measured against. Steps are those of Boost.odeint's dopri5 on them.
//   hand_written evaluate|step SYSTEM [TOLERANCE T_END]
#include <array>
#include <boost/numeric/odeint.hpp>
#include <cmath>
#include <cstdlib>
#include <stdexcept>

#include "worker.hpp"

namespace {

using bench::Batches;
using bench::Measurement;

// 000 sec. 4, with the multiplier eliminated, eqs. 34 and 35
struct Pucks {
    static constexpr std::size_t size = 8, q = 4;
    std::array<double, 4> p{1, 2, 1, 1};  // m1, m2, s1, s3
    static std::array<double, size> start() { return {1, -2, 1, 2, 0.3, 0.4, 0.4, -0.3}; }
    void operator()(const double* x, double* out) const {
        const double m1 = p[0], m2 = p[1], s1 = p[2], s3 = p[3];
        const double u1 = x[4], u2 = x[5], u3 = x[6], u4 = x[7];
        const double lambda = -(m1 * s3 * u1 + m2 * s1 * u3) / (m1 * (u1 * u1 + u2 * u2) + m2 * (u3 * u3 + u4 * u4));
        out[0] = u1, out[1] = u2, out[2] = u3, out[3] = u4;
        const double i1 = 1 / m1, i2 = 1 / m2;
        out[4] = (s1 + lambda * u3) * i1;
        out[5] = lambda * u4 * i1;
        out[6] = (s3 + lambda * u1) * i2;
        out[7] = lambda * u2 * i2;
    }
};

// 003 example 1: u_D' = D u_I' + d from the rows (eqs. 65-72), M and f of eqs. 99 and 100
struct Hamel {
    std::array<double, 7> p{1, 0.5, 5, 1, 5, 2.5, 9.81};  // a, b, rho, m, M, I, g
    struct Terms {
        double s, c, D[3][2], d[3];
    };
    [[nodiscard]] Terms terms(double theta, double u1, double u2, double u3, double u4) const {
        const double a = p[0], b = p[1], rho = p[2];
        const double s = std::sin(theta), c = std::cos(theta);
        const double n1 = rho * (rho * u1 + u3 * s - u4 * c), n2 = -a * a * u2;
        const double n3 = u3 + rho * u1 * s, n4 = u4 - rho * u1 * c;
        const double i5 = 1 / (n3 * c + n4 * s), n6 = u3 * c + u4 * s;
        return {s,
                c,
                {{(-rho * n4 - n1 * c) * i5, -n2 * c * i5}, {(rho * n3 - n1 * s) * i5, -n2 * s * i5}, {0, -b}},
                {-n6 * i5 * u1 * (n4 + rho * u1 * c), n6 * i5 * u1 * (n3 - rho * u1 * s), 0}};
    }
};

// S'(M u' - f) = 0 with u' = S u_I' + s (000 eqs. 8-18), two by two
struct HamelMinimal : Hamel {
    static constexpr std::size_t size = 10, q = 5;
    static std::array<double, size> start() { return {0, 0, 0, 0, 30, 1, 1, 1, 5, -0.5}; }
    void operator()(const double* x, double* out) const {
        const double b = p[1], rho = p[2], m = p[3], M = p[4], I = p[5], g = p[6];
        const double u1 = x[5], u2 = x[6], u3 = x[7], u4 = x[8], u5 = x[9];
        const Terms w = terms(x[0], u1, u2, u3, u4);
        const double a13 = M * rho * w.s, a14 = -M * rho * w.c, all = M + m;
        // M S, column by column, and M s - f
        const double c1[5] = {M * rho * rho + I + a13 * w.D[0][0] + a14 * w.D[1][0], 0, a13 + all * w.D[0][0],
                              a14 + all * w.D[1][0], 0};
        const double c2[5] = {a13 * w.D[0][1] + a14 * w.D[1][1], I, all * w.D[0][1], all * w.D[1][1], -m * b};
        const double r[5] = {a13 * w.d[0] + a14 * w.d[1], 0, all * w.d[0] + M * rho * u1 * u1 * w.c,
                             all * w.d[1] + M * rho * u1 * u1 * w.s, m * g};
        const double m11 = c1[0] + w.D[0][0] * c1[2] + w.D[1][0] * c1[3];
        const double m12 = c2[0] + w.D[0][0] * c2[2] + w.D[1][0] * c2[3];
        const double m22 = c2[1] + w.D[0][1] * c2[2] + w.D[1][1] * c2[3] - b * c2[4];
        const double r1 = -(r[0] + w.D[0][0] * r[2] + w.D[1][0] * r[3]);
        const double r2 = -(r[1] + w.D[0][1] * r[2] + w.D[1][1] * r[3] - b * r[4]);
        const double inverse = 1 / (m11 * m22 - m12 * m12);
        const double a1 = (m22 * r1 - m12 * r2) * inverse, a2 = (m11 * r2 - m12 * r1) * inverse;
        out[0] = u1, out[1] = u2, out[2] = u3, out[3] = u4, out[4] = u5;
        out[5] = a1, out[6] = a2;
        out[7] = w.D[0][0] * a1 + w.D[0][1] * a2 + w.d[0];
        out[8] = w.D[1][0] * a1 + w.D[1][1] * a2 + w.d[1];
        out[9] = -b * a2;
    }
};

// [A1; A2 M] u' = [B; A2 f] (003 eqs. 20-50), five by five, by elimination with A1 = (-D, 1) leading
struct HamelNonminimal : Hamel {
    static constexpr std::size_t size = 10, q = 5;
    static std::array<double, size> start() { return HamelMinimal::start(); }
    void operator()(const double* x, double* out) const {
        const double rho = p[2], m = p[3], M = p[4], I = p[5], g = p[6];
        const double u1 = x[5], u2 = x[6], u3 = x[7], u4 = x[8], u5 = x[9];
        const Terms w = terms(x[0], u1, u2, u3, u4);
        const double mass[5][5] = {{M * rho * rho + I, 0, M * rho * w.s, -M * rho * w.c, 0},
                                   {0, I, 0, 0, 0},
                                   {M * rho * w.s, 0, M + m, 0, 0},
                                   {-M * rho * w.c, 0, 0, M + m, 0},
                                   {0, 0, 0, 0, m}};
        const double f[5] = {0, 0, -M * rho * u1 * u1 * w.c, -M * rho * u1 * u1 * w.s, -m * g};
        double T[2][5], V[2];
        for (int i = 0; i < 2; ++i) {
            V[i] = f[i];
            for (int k = 0; k < 3; ++k) V[i] += w.D[k][i] * f[2 + k];
            for (int j = 0; j < 5; ++j) {
                T[i][j] = mass[i][j];
                for (int k = 0; k < 3; ++k) T[i][j] += w.D[k][i] * mass[2 + k][j];
            }
        }
        double left[2][2], right[2];
        for (int i = 0; i < 2; ++i) {
            right[i] = V[i];
            for (int k = 0; k < 3; ++k) right[i] -= T[i][2 + k] * w.d[k];
            for (int j = 0; j < 2; ++j) {
                left[i][j] = T[i][j];
                for (int k = 0; k < 3; ++k) left[i][j] += T[i][2 + k] * w.D[k][j];
            }
        }
        const double inverse = 1 / (left[0][0] * left[1][1] - left[0][1] * left[1][0]);
        const double a1 = (left[1][1] * right[0] - left[0][1] * right[1]) * inverse;
        const double a2 = (left[0][0] * right[1] - left[1][0] * right[0]) * inverse;
        out[0] = u1, out[1] = u2, out[2] = u3, out[3] = u4, out[4] = u5;
        out[5] = a1, out[6] = a2;
        for (int k = 0; k < 3; ++k) out[7 + k] = w.D[k][0] * a1 + w.D[k][1] * a2 + w.d[k];
    }
};

// What is integrated by the minimal equations: theta, phi, x, y, z are not all free either, but three speeds follow from two.
// On the branch of the start values u3 and u4 solve the rows roll and edge.
struct HamelReduced : HamelMinimal {
    static constexpr std::size_t size = 6;  // theta, phi, x, y, u1, u2; z follows from phi
    static std::array<double, size> start() { return {0, 0, 0, 0, 1, 1}; }
    static std::array<double, 10> whole(const std::array<double, size>& x) {
        const std::array<double, 7> p = Hamel{}.p;
        const double s = std::sin(x[0]), c = std::cos(x[0]);
        return {x[0],
                x[1],
                x[2],
                x[3],
                30 - p[1] * x[1],
                x[4],
                x[5],
                p[0] * x[5] * c - p[2] * x[4] * s,
                p[0] * x[5] * s + p[2] * x[4] * c,
                -p[1] * x[5]};
    }
    void operator()(const double* x, double* out) const {
        const double a = p[0], b = p[1], rho = p[2];
        const double s = std::sin(x[0]), c = std::cos(x[0]), u1 = x[4], u2 = x[5];
        const double u3 = a * u2 * c - rho * u1 * s, u4 = a * u2 * s + rho * u1 * c;
        const double whole[10] = {x[0], x[1], x[2], x[3], 30 - b * x[1], u1, u2, u3, u4, -b * u2};
        double rate[10];
        HamelMinimal::operator()(whole, rate);
        out[0] = u1, out[1] = u2, out[2] = u3, out[3] = u4, out[4] = rate[5], out[5] = rate[6];
    }
};

// planar pendulum of N point masses on massless links, by absolute angles: Cholesky of the full matrix
template <std::size_t N>
struct Pendulum {
    static constexpr std::size_t size = 2 * N, q = N;
    std::array<double, 3> p{0.7, 0.4, 9.81};  // m, l, g
    static std::array<double, size> start() {
        std::array<double, size> x{};
        for (std::size_t i = 0; i < N; ++i) x[i] = 0.3 * static_cast<double>(i + 1);
        return x;
    }
    void operator()(const double* x, double* out) const {
        const double m = p[0], l = p[1], g = p[2];
        double s[N], c[N], M[N][N], f[N];
        for (std::size_t i = 0; i < N; ++i) s[i] = std::sin(x[i]), c[i] = std::cos(x[i]);
        for (std::size_t i = 0; i < N; ++i) {
            f[i] = -double(N - i) * m * g * l * s[i];
            for (std::size_t j = 0; j <= i; ++j) M[i][j] = double(N - i) * m * l * l * (c[i] * c[j] + s[i] * s[j]);
        }
        for (std::size_t i = 0; i < N; ++i)
            for (std::size_t j = 0; j < N; ++j)
                if (i != j) f[i] -= double(N - (i > j ? i : j)) * m * l * l * (s[i] * c[j] - c[i] * s[j]) * x[N + j] * x[N + j];
        for (std::size_t i = 0; i < N; ++i) {
            for (std::size_t j = 0; j < i; ++j) {
                for (std::size_t k = 0; k < j; ++k) M[i][j] -= M[i][k] * M[j][k];
                M[i][j] /= M[j][j];
            }
            for (std::size_t k = 0; k < i; ++k) M[i][i] -= M[i][k] * M[i][k];
            M[i][i] = std::sqrt(M[i][i]);
        }
        for (std::size_t i = 0; i < N; ++i) {
            for (std::size_t k = 0; k < i; ++k) f[i] -= M[i][k] * f[k];
            f[i] /= M[i][i];
        }
        for (std::size_t i = N; i-- > 0;) {
            for (std::size_t k = i + 1; k < N; ++k) f[i] -= M[k][i] * f[k];
            f[i] /= M[i][i];
        }
        for (std::size_t i = 0; i < N; ++i) out[i] = x[N + i], out[N + i] = f[i];
    }
};

// N points, neighbours joined by a row each (bench/models.hpp): A M^-1 A' is tridiagonal
class Points {
public:
    Points(std::size_t n, bool perpendicular) : n_(n), perpendicular_(perpendicular), mass_(n), force_(3 * n) {
        for (std::size_t i = 0; i < n; ++i) {
            const double k = static_cast<double>(i + 1);
            mass_[i] = 1 + 0.5 * std::cos(k);
            force_[3 * i] = 0.3 * std::cos(k);
            force_[3 * i + 1] = 0.3 * std::sin(k);
            force_[3 * i + 2] = 0.2 * std::cos(2 * k);
        }
        for (std::vector<double>* v : {&diagonal_, &right_, &factor_}) v->resize(n);
    }
    [[nodiscard]] std::vector<double> start() const {
        std::vector<double> x(6 * n_, 0.0);
        for (std::size_t i = 0; i < n_; ++i) {
            const double k = static_cast<double>(i + 1);
            x[3 * i] = 2 * k;
            double* const v = &x[3 * (n_ + i)];
            if (perpendicular_) {
                const double turn = std::acos(-0.25) * k;
                v[0] = std::sqrt(0.8) * std::cos(turn), v[1] = std::sqrt(0.8) * std::sin(turn), v[2] = std::sqrt(0.2);
            } else {
                v[0] = std::sin(0.4 * k) * std::cos(k), v[1] = std::sin(0.4 * k) * std::sin(k), v[2] = std::cos(0.4 * k);
            }
        }
        return x;
    }
    void operator()(const double* x, double* out) {
        const double* const u = x + 3 * n_;
        double* const ud = out + 3 * n_;
        for (std::size_t i = 0; i < 3 * n_; ++i) out[i] = u[i];
        for (std::size_t i = 0; i < n_; ++i)
            for (std::size_t k = 0; k < 3; ++k) ud[3 * i + k] = force_[3 * i + k] / mass_[i];
        const auto dot = [](const double* a, const double* b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; };
        // row i has the gradient g on point i and h on point i + 1
        const auto on_first = [&](std::size_t i) { return perpendicular_ ? u + 3 * (i + 1) : u + 3 * i; };
        const auto on_second = [&](std::size_t i) { return perpendicular_ ? u + 3 * i : u + 3 * (i + 1); };
        const double sign = perpendicular_ ? 1 : -1;
        for (std::size_t i = 0; i + 1 < n_; ++i) {
            const double *g = on_first(i), *h = on_second(i);
            diagonal_[i] = dot(g, g) / mass_[i] + dot(h, h) / mass_[i + 1];
            right_[i] = -(dot(g, ud + 3 * i) + sign * dot(h, ud + 3 * (i + 1)));
            if (i > 0) {
                const double off = sign * dot(on_second(i - 1), g) / mass_[i];
                factor_[i] = off / diagonal_[i - 1];
                diagonal_[i] -= factor_[i] * off;
                right_[i] -= factor_[i] * right_[i - 1];
            }
        }
        double next = 0;
        for (std::size_t i = n_ - 1; i-- > 0;) {
            const double lambda = right_[i] / diagonal_[i] - (i + 2 < n_ ? factor_[i + 1] * next : 0);
            const double *g = on_first(i), *h = on_second(i);
            for (std::size_t k = 0; k < 3; ++k) {
                ud[3 * i + k] += lambda * g[k] / mass_[i];
                ud[3 * (i + 1) + k] += sign * lambda * h[k] / mass_[i + 1];
            }
            next = lambda;
        }
    }

private:
    std::size_t n_;
    bool perpendicular_;
    std::vector<double> mass_, force_, diagonal_, right_, factor_;
};

template <class System>
__attribute__((noinline)) void rate(const System& system, const double* x, double* out) {
    system(x, out);
}

template <class System>
int evaluate() {
    System system;
    bench::keep(&system);
    auto x = System::start();
    std::array<double, System::size> out;
    rate(system, x.data(), out.data());
    const std::vector<double> values(out.begin(), out.end());
    const double u = x[System::q];
    Batches batches;
    return bench::serve({}, [&] {
        return Measurement{batches.seconds([&](long i) {
                               x[System::q] = u + 1e-12 * static_cast<double>(i & 1023);
                               rate(system, x.data(), out.data());
                               bench::keep(out.data());
                           }),
                           values};
    });
}

int evaluate_points(std::size_t n, bool perpendicular) {
    Points points(n, perpendicular);
    std::vector<double> x = points.start(), out(x.size());
    points(x.data(), out.data());
    const std::vector<double> values = out;
    const double u = x[3 * n];
    Batches batches;
    return bench::serve({}, [&] {
        return Measurement{batches.seconds([&](long i) {
                               x[3 * n] = u + 1e-12 * static_cast<double>(i & 1023);
                               points(x.data(), out.data());
                               bench::keep(out.data());
                           }),
                           values};
    });
}

template <class System>
int step(double tolerance, double t_end) {
    namespace odeint = boost::numeric::odeint;
    using State = std::array<double, System::size>;
    System system;
    bench::keep(&system);
    auto stepper = odeint::make_controlled<odeint::runge_kutta_dopri5<State>>(tolerance, tolerance);
    const auto of = [&](const State& x, State& xd, double) { system(x.data(), xd.data()); };
    std::size_t steps = 0, trials = 0;
    State x;
    const auto run = [&] {
        x = System::start();
        double t = 0, h = 1e-3;
        stepper.reset();
        while (t < t_end) {
            if (t + h > t_end) h = t_end - t;
            ++trials;
            if (stepper.try_step(of, x, t, h) == odeint::success) ++steps;
        }
    };
    run();
    // all of q and u
    const auto end = [&] {
        if constexpr (requires { System::whole(x); })
            return System::whole(x);
        else
            return x;
    }();
    const std::vector<double> values(end.begin(), end.end());
    const double in_run = double(steps);
    Batches batches;
    return bench::serve({{"steps", in_run}, {"evaluations per step", 6.0 * double(trials) / in_run}}, [&] {
        const double of_run = batches.seconds([&](long) { run(); });
        return Measurement{of_run / in_run, values};
    });
}

int work(const std::vector<std::string>& a) {
    if (a.size() < 2) throw std::runtime_error("usage: hand_written evaluate|step SYSTEM [TOLERANCE T_END]");
    const std::string &task = a[0], &system = a[1];
    if (task == "evaluate") {
        if (system == "pucks") return evaluate<Pucks>();
        if (system == "hamel_minimal") return evaluate<HamelMinimal>();
        if (system == "hamel_nonminimal") return evaluate<HamelNonminimal>();
        if (system == "pendulum:2") return evaluate<Pendulum<2>>();
        if (system == "pendulum:4") return evaluate<Pendulum<4>>();
        if (system == "pendulum:8") return evaluate<Pendulum<8>>();
        const std::size_t colon = system.find(':');
        const std::size_t n = colon == std::string::npos ? 0 : static_cast<std::size_t>(std::atol(system.c_str() + colon + 1));
        if (system.substr(0, colon) == "equal_speeds" && n > 1) return evaluate_points(n, false);
        if (system.substr(0, colon) == "perpendicular" && n > 1) return evaluate_points(n, true);
    }
    if (task == "step") {
        const double tolerance = a.size() > 2 ? std::atof(a[2].c_str()) : 1e-8,
                     t_end = a.size() > 3 ? std::atof(a[3].c_str()) : 10;
        if (system == "pucks") return step<Pucks>(tolerance, t_end);
        if (system == "hamel_minimal") return step<HamelMinimal>(tolerance, t_end);
        if (system == "hamel_reduced") return step<HamelReduced>(tolerance, t_end);
        if (system == "hamel_nonminimal") return step<HamelNonminimal>(tolerance, t_end);
        if (system == "pendulum:4") return step<Pendulum<4>>(tolerance, t_end);
    }
    throw std::runtime_error("no " + task + " of " + system);
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return work({argv + 1, argv + argc});
    } catch (const std::exception& problem) {
        std::fprintf(stderr, "hand_written: %s\n", problem.what());
        return 1;
    }
}
