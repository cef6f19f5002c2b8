// Kane's equations of the planar n-link pendulum on a cart, derived with GiNaC the way we do it: velocities, partial velocities
// by differentiation, M from partial velocities, f from active forces and accelerations without u'.
//   ginac_chain N          GiNaC is under the GPL: this program is no part of the product.
#include <ginac/ginac.h>

#include <cmath>
#include <cstdlib>

#include "worker.hpp"

namespace {

using namespace GiNaC;

struct Equations {
    std::vector<std::vector<ex>> M;  // lower triangle
    std::vector<ex> f;
    std::vector<symbol> q, u, m, l;
    symbol g{"g"}, F{"F"};
};

// index 0 is the cart
Equations derive(int links) {
    Equations out;
    const auto n = static_cast<std::size_t>(links) + 1;
    for (std::size_t i = 0; i < n; ++i) {
        out.q.emplace_back("q" + std::to_string(i));
        out.u.emplace_back("u" + std::to_string(i));
        out.m.emplace_back("m" + std::to_string(i));
        out.l.emplace_back("l" + std::to_string(i));
    }
    // velocities, and what their time derivatives are without u'
    std::vector<ex> vx(n), vy(n), ax(n), ay(n);
    vx[0] = out.u[0];
    for (std::size_t k = 1; k < n; ++k) {
        const ex dx = out.l[k] * out.u[k] * cos(out.q[k]), dy = out.l[k] * out.u[k] * sin(out.q[k]);
        vx[k] = vx[k - 1] + dx;
        vy[k] = vy[k - 1] + dy;
        ax[k] = ax[k - 1] + dx.diff(out.q[k]) * out.u[k];
        ay[k] = ay[k - 1] + dy.diff(out.q[k]) * out.u[k];
    }
    std::vector<std::vector<ex>> px(n, std::vector<ex>(n)), py = px;
    for (std::size_t k = 0; k < n; ++k)
        for (std::size_t r = 0; r <= k; ++r) {
            px[k][r] = vx[k].diff(out.u[r]);
            py[k][r] = vy[k].diff(out.u[r]);
        }
    out.M.resize(n);
    for (std::size_t r = 0; r < n; ++r) {
        for (std::size_t s = 0; s <= r; ++s) {
            ex sum = 0;
            for (std::size_t k = r; k < n; ++k) sum += out.m[k] * (px[k][r] * px[k][s] + py[k][r] * py[k][s]);
            out.M[r].push_back(sum);
        }
        ex sum = r == 0 ? ex(out.F) : ex(0);
        for (std::size_t k = r; k < n; ++k)
            sum += -out.m[k] * out.g * py[k][r] - out.m[k] * (px[k][r] * ax[k] + py[k][r] * ay[k]);
        out.f.push_back(sum);
    }
    return out;
}

// u' at the state of bench/models.hpp: links, then the cart, with the rates of the coordinates before
std::vector<double> values(const Equations& e, int links) {
    const std::size_t n = e.q.size();
    exmap at{{e.g, 9.81}, {e.F, 0}};
    for (std::size_t i = 0; i < n; ++i) {
        const double k = static_cast<double>(i);
        at[e.q[i]] = i == 0 ? 0 : 0.1 * k;
        at[e.u[i]] = i == 0 ? 0.2 : 0.3 - 0.01 * k;
        at[e.m[i]] = i == 0 ? 1 : 1 + 0.01 * k;
        at[e.l[i]] = 1.0 / links;
    }
    const auto number = [&](const ex& x) { return ex_to<numeric>(x.subs(at).evalf()).to_double(); };
    std::vector<std::vector<double>> L(n);
    std::vector<double> x;
    for (std::size_t i = 0; i < n; ++i) {
        x.push_back(number(e.f[i]));
        for (std::size_t j = 0; j <= i; ++j) {
            double sum = number(e.M[i][j]);
            for (std::size_t k = 0; k < j; ++k) sum -= L[i][k] * L[j][k];
            L[i].push_back(i == j ? std::sqrt(sum) : sum / L[j][j]);
        }
    }
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t k = 0; k < i; ++k) x[i] -= L[i][k] * x[k];
        x[i] /= L[i][i];
    }
    for (std::size_t i = n; i-- > 0;) {
        for (std::size_t k = i + 1; k < n; ++k) x[i] -= L[k][i] * x[k];
        x[i] /= L[i][i];
    }
    std::vector<double> out(x.begin() + 1, x.end());
    out.push_back(x[0]);
    return out;
}

}  // namespace

int main(int argc, char** argv) {
    const int n = argc > 1 ? std::atoi(argv[1]) : 0;
    if (n < 1) {
        std::fprintf(stderr, "usage: ginac_chain N\n");
        return 2;
    }
    const std::vector<double> found = values(derive(n), n);
    return bench::serve(
        {},
        [&] {
            const double start = bench::processor_time();
            const Equations e = derive(n);
            bench::keep(&e);
            return bench::Measurement{(bench::processor_time() - start), found};
        },
        "GiNaC " + std::to_string(GINACLIB_MAJOR_VERSION) + "." + std::to_string(GINACLIB_MINOR_VERSION));
}
