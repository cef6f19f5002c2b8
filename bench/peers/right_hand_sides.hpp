// Right-hand sides as a careful person writes them for one system: every size known to the compiler, structural zeros left out,
// what depends on parameters alone computed once. The limit that derived code is measured against.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

namespace bench {

// 000 sec. 4, with the multiplier eliminated, eqs. 34 and 35
struct Pucks {
    static constexpr std::size_t size = 8, q = 4;
    double m1, m2, s1, s3;
    double i1 = 1 / m1, i2 = 1 / m2, m1s3 = m1 * s3, m2s1 = m2 * s1;
    explicit Pucks(std::array<double, 4> p = {1, 2, 1, 1}) : m1(p[0]), m2(p[1]), s1(p[2]), s3(p[3]) {}
    static std::array<double, size> start() { return {1, -2, 1, 2, 0.3, 0.4, 0.4, -0.3}; }
    void operator()(const double* x, double* out) const {
        const double u1 = x[4], u2 = x[5], u3 = x[6], u4 = x[7];
        const double lambda = -(m1s3 * u1 + m2s1 * u3) / (m1 * (u1 * u1 + u2 * u2) + m2 * (u3 * u3 + u4 * u4));
        out[0] = u1, out[1] = u2, out[2] = u3, out[3] = u4;
        out[4] = (s1 + lambda * u3) * i1;
        out[5] = lambda * u4 * i1;
        out[6] = (s3 + lambda * u1) * i2;
        out[7] = lambda * u2 * i2;
    }
};

// 003 example 1: u_D' = D u_I' + d from the rows (eqs. 65-72), M and f of eqs. 99 and 100
struct Hamel {
    double a, b, rho, m, M, I, g;
    double aa = a * a, Mrho = M * rho, m11 = M * rho * rho + I, all = M + m, mb = m * b, mg = m * g;
    explicit Hamel(std::array<double, 7> p = {1, 0.5, 5, 1, 5, 2.5, 9.81})
        : a(p[0]), b(p[1]), rho(p[2]), m(p[3]), M(p[4]), I(p[5]), g(p[6]) {}
    // u3' = D31 u1' + D32 u2' + d3, u4' likewise; u5' = -b u2'
    struct Terms {
        double s, c, D31, D32, D41, D42, d3, d4;
    };
    [[nodiscard]] Terms terms(double theta, double u1, double u2, double u3, double u4) const {
        const double s = std::sin(theta), c = std::cos(theta);
        const double n1 = rho * (rho * u1 + u3 * s - u4 * c), n2 = -aa * u2;
        const double n3 = u3 + rho * u1 * s, n4 = u4 - rho * u1 * c;
        const double i5 = 1 / (n3 * c + n4 * s), n6 = (u3 * c + u4 * s) * i5 * u1;
        return {s,
                c,
                (-rho * n4 - n1 * c) * i5,
                -n2 * c * i5,
                (rho * n3 - n1 * s) * i5,
                -n2 * s * i5,
                -n6 * (n4 + rho * u1 * c),
                n6 * (n3 - rho * u1 * s)};
    }
    void finish(const Terms& w, const double* x, double a1, double a2, double* out) const {
        for (std::size_t i = 0; i < 5; ++i) out[i] = x[5 + i];
        out[5] = a1, out[6] = a2;
        out[7] = w.D31 * a1 + w.D32 * a2 + w.d3;
        out[8] = w.D41 * a1 + w.D42 * a2 + w.d4;
        out[9] = -b * a2;
    }
};

// S'(M u' - f) = 0 with u' = S u_I' + s (000 eqs. 8-18), two by two and symmetric
struct HamelMinimal : Hamel {
    static constexpr std::size_t size = 10, q = 5;
    static std::array<double, size> start() { return {0, 0, 0, 0, 30, 1, 1, 1, 5, -0.5}; }
    void operator()(const double* x, double* out) const {
        const double u1 = x[5], u2 = x[6];
        const Terms w = terms(x[0], u1, u2, x[7], x[8]);
        const double a13 = Mrho * w.s, a14 = -Mrho * w.c, centrifugal = Mrho * u1 * u1;
        // M S, column by column, and M s - f
        const double c11 = m11 + a13 * w.D31 + a14 * w.D41, c13 = a13 + all * w.D31, c14 = a14 + all * w.D41;
        const double c21 = a13 * w.D32 + a14 * w.D42, c23 = all * w.D32, c24 = all * w.D42;
        const double r1 = a13 * w.d3 + a14 * w.d4, r3 = all * w.d3 + centrifugal * w.c, r4 = all * w.d4 + centrifugal * w.s;
        const double left11 = c11 + w.D31 * c13 + w.D41 * c14;
        const double left12 = c21 + w.D31 * c23 + w.D41 * c24;
        const double left22 = I + w.D32 * c23 + w.D42 * c24 + mb * b;
        const double right1 = -(r1 + w.D31 * r3 + w.D41 * r4), right2 = -(w.D32 * r3 + w.D42 * r4 - b * mg);
        const double inverse = 1 / (left11 * left22 - left12 * left12);
        finish(w, x, (left22 * right1 - left12 * right2) * inverse, (left11 * right2 - left12 * right1) * inverse, out);
    }
};

// [A1; A2 M] u' = [B; A2 f] (003 eqs. 20-50), five by five, by elimination with A1 = (-D, 1) leading
struct HamelNonminimal : Hamel {
    static constexpr std::size_t size = 10, q = 5;
    static std::array<double, size> start() { return HamelMinimal::start(); }
    void operator()(const double* x, double* out) const {
        const double u1 = x[5], u2 = x[6];
        const Terms w = terms(x[0], u1, u2, x[7], x[8]);
        const double a13 = Mrho * w.s, a14 = -Mrho * w.c, centrifugal = Mrho * u1 * u1;
        const double f3 = -centrifugal * w.c, f4 = -centrifugal * w.s;
        // T = A2 M and V = A2 f
        const double T11 = m11 + w.D31 * a13 + w.D41 * a14, T13 = a13 + w.D31 * all, T14 = a14 + w.D41 * all;
        const double T21 = w.D32 * a13 + w.D42 * a14, T23 = w.D32 * all, T24 = w.D42 * all;
        const double V1 = w.D31 * f3 + w.D41 * f4, V2 = w.D32 * f3 + w.D42 * f4 + b * mg;
        const double left11 = T11 + T13 * w.D31 + T14 * w.D41, left12 = T13 * w.D32 + T14 * w.D42;
        const double left21 = T21 + T23 * w.D31 + T24 * w.D41, left22 = I + T23 * w.D32 + T24 * w.D42 + mb * b;
        const double right1 = V1 - T13 * w.d3 - T14 * w.d4, right2 = V2 - T23 * w.d3 - T24 * w.d4;
        const double inverse = 1 / (left11 * left22 - left12 * left21);
        finish(w, x, (left22 * right1 - left12 * right2) * inverse, (left11 * right2 - left21 * right1) * inverse, out);
    }
};

// What is integrated by the minimal equations: theta, phi, x, y, z are not all free either, but three speeds follow from two.
// On the branch of the start values u3 and u4 solve the rows roll and edge.
struct HamelReduced : HamelMinimal {
    static constexpr std::size_t size = 6;  // theta, phi, x, y, u1, u2; z follows from phi
    static std::array<double, size> start() { return {0, 0, 0, 0, 1, 1}; }
    [[nodiscard]] std::array<double, 10> whole(const double* x) const {
        const double s = std::sin(x[0]), c = std::cos(x[0]), u1 = x[4], u2 = x[5];
        return {x[0], x[1], x[2], x[3], 30 - b * x[1], u1, u2, a * u2 * c - rho * u1 * s, a * u2 * s + rho * u1 * c, -b * u2};
    }
    void operator()(const double* x, double* out) const {
        const std::array<double, 10> all_of_it = whole(x);
        double rate[10];
        HamelMinimal::operator()(all_of_it.data(), rate);
        out[0] = rate[0], out[1] = rate[1], out[2] = rate[2], out[3] = rate[3], out[4] = rate[5], out[5] = rate[6];
    }
};

// planar pendulum of N point masses on massless links, by absolute angles: L D L' of the full matrix, a quotient for each pivot
template <std::size_t N>
struct Pendulum {
    static constexpr std::size_t size = 2 * N, q = N;
    double mgl, mll;
    explicit Pendulum(std::array<double, 3> p = {0.7, 0.4, 9.81}) : mgl(p[0] * p[2] * p[1]), mll(p[0] * p[1] * p[1]) {}
    static std::array<double, size> start() {
        std::array<double, size> x{};
        for (std::size_t i = 0; i < N; ++i) x[i] = 0.3 * static_cast<double>(i + 1);
        return x;
    }
    void operator()(const double* x, double* out) const {
        double s[N], c[N], M[N][N], f[N], inverse[N];
        for (std::size_t i = 0; i < N; ++i) s[i] = std::sin(x[i]), c[i] = std::cos(x[i]);
        for (std::size_t i = 0; i < N; ++i) {
            f[i] = -double(N - i) * mgl * s[i];
            M[i][i] = double(N - i) * mll;
            for (std::size_t j = 0; j < i; ++j) {
                const double mass = double(N - i) * mll;
                M[i][j] = mass * (c[i] * c[j] + s[i] * s[j]);
                const double turn = mass * (s[i] * c[j] - c[i] * s[j]);
                f[i] -= turn * x[N + j] * x[N + j];
                f[j] += turn * x[N + i] * x[N + i];
            }
        }
        for (std::size_t i = 0; i < N; ++i) {
            for (std::size_t j = 0; j < i; ++j) {
                // M[i][j] is D L' until the row is done, then L
                for (std::size_t k = 0; k < j; ++k) M[i][j] -= M[i][k] * M[j][k];
                f[i] -= M[i][j] * inverse[j] * f[j];
            }
            for (std::size_t j = 0; j < i; ++j) {
                const double scaled = M[i][j] * inverse[j];
                M[i][i] -= M[i][j] * scaled;
                M[i][j] = scaled;
            }
            inverse[i] = 1 / M[i][i];
        }
        for (std::size_t i = N; i-- > 0;) {
            f[i] *= inverse[i];
            for (std::size_t k = i + 1; k < N; ++k) f[i] -= M[k][i] * f[k];
        }
        for (std::size_t i = 0; i < N; ++i) out[i] = x[N + i], out[N + i] = f[i];
    }
};

// N points, neighbours joined by a row each (bench/models.hpp): A M^-1 A' is tridiagonal
template <bool perpendicular>
class Points {
public:
    explicit Points(std::size_t n) : n_(n), inverse_mass_(n), free_(3 * n), diagonal_(n), right_(n), factor_(n) {
        for (std::size_t i = 0; i < n; ++i) {
            const double k = static_cast<double>(i + 1), mass = 1 + 0.5 * std::cos(k);
            inverse_mass_[i] = 1 / mass;
            free_[3 * i] = 0.3 * std::cos(k) / mass;
            free_[3 * i + 1] = 0.3 * std::sin(k) / mass;
            free_[3 * i + 2] = 0.2 * std::cos(2 * k) / mass;
        }
    }
    [[nodiscard]] std::vector<double> start() const {
        std::vector<double> x(6 * n_, 0.0);
        for (std::size_t i = 0; i < n_; ++i) {
            const double k = static_cast<double>(i + 1);
            x[3 * i] = 2 * k;
            double* const v = &x[3 * (n_ + i)];
            if (perpendicular) {
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
        for (std::size_t i = 0; i < 3 * n_; ++i) ud[i] = free_[i];
        const auto dot = [](const double* a, const double* b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; };
        // row i has the gradient g on point i and h on point i + 1
        const auto on_first = [&](std::size_t i) { return perpendicular ? u + 3 * (i + 1) : u + 3 * i; };
        const auto on_second = [&](std::size_t i) { return perpendicular ? u + 3 * i : u + 3 * (i + 1); };
        constexpr double sign = perpendicular ? 1 : -1;
        double inverse = 0;  // of the last pivot
        for (std::size_t i = 0; i + 1 < n_; ++i) {
            const double *g = on_first(i), *h = on_second(i);
            double diagonal = dot(g, g) * inverse_mass_[i] + dot(h, h) * inverse_mass_[i + 1];
            double right = -(dot(g, ud + 3 * i) + sign * dot(h, ud + 3 * (i + 1)));
            if (i > 0) {
                const double off = sign * dot(on_second(i - 1), g) * inverse_mass_[i];
                factor_[i] = off * inverse;
                diagonal -= factor_[i] * off;
                right -= factor_[i] * right_[i - 1];
            }
            inverse = 1 / diagonal;
            diagonal_[i] = inverse;
            right_[i] = right;
        }
        double next = 0;
        for (std::size_t i = n_ - 1; i-- > 0;) {
            const double lambda = right_[i] * diagonal_[i] - (i + 2 < n_ ? factor_[i + 1] * next : 0);
            const double *g = on_first(i), *h = on_second(i);
            for (std::size_t k = 0; k < 3; ++k) {
                ud[3 * i + k] += lambda * inverse_mass_[i] * g[k];
                ud[3 * (i + 1) + k] += sign * lambda * inverse_mass_[i + 1] * h[k];
            }
            next = lambda;
        }
    }

private:
    std::size_t n_;
    std::vector<double> inverse_mass_, free_, diagonal_, right_, factor_;
};

// all of q and u, whatever of it is integrated
template <class System>
std::vector<double> all_of_state(const System& system, const double* x) {
    if constexpr (requires { system.whole(x); }) {
        const auto out = system.whole(x);
        return {out.begin(), out.end()};
    } else {
        return {x, x + System::size};
    }
}

}  // namespace bench
