// Growth with the number of points: one family of points after the other, each with more of them, from text to the rate of the
// state. A line of JSON for each: seconds of every stage, memory, counts, and nanoseconds per point of one evaluation, ours and
// by hand (a loop with a tridiagonal solve for the same system), in one process.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "pipeline/lower_motion.hpp"
#include "pipeline/pipeline.hpp"
#include "tape/workspace.hpp"

namespace {

using namespace appell;
// time of this process on its processor: other work on the machine does not count
struct Clock {
    static double now() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }
};

double seconds(double from) { return Clock::now() - from; }

double peak_memory() {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
        if (line.starts_with("VmHWM:")) return std::strtod(line.c_str() + 6, nullptr) / 1024;
    return 0;
}

const std::string k_points =
    "for i in 1..n\n"
    "  param M[i] = 1 + 0.5*cos(i), Fx[i] = 0.3*cos(i), Fy[i] = 0.3*sin(i), Fz[i] = 0.2*cos(2*i)\n"
    "  coord x[i] = 2*i, y[i] = 0, z[i] = 0\n"
    "  particle P[i] mass M[i] at O + x[i]*N.x + y[i]*N.y + z[i]*N.z\n"
    "  force on P[i] = Fx[i]*N.x + Fy[i]*N.y + Fz[i]*N.z\n"
    "end\n";

// all speeds 1.5, directions that turn from point to point
const std::string k_equal_start =
    "for i in 1..n\n"
    "  start x[i]' = 1.5*cos(0.3*i), y[i]' = 1.5*sin(0.3*i)*cos(i), z[i]' = 1.5*sin(0.3*i)*sin(i)\n"
    "end\n";

// the velocities of odd index are turned, the even ones along their axis
const std::string k_perpendicular_start =
    "for j in 1..n where 2*j - 1 <= n\n"
    "  start x[2*j-1]' = cos(0.4*j), y[2*j-1]' = sin(0.4*j), z[2*j-1]' = 0\n"
    "end\n"
    "for j in 1..n where 2*j <= n\n"
    "  start x[2*j]' = 0, y[2*j]' = 0, z[2*j]' = 0.8\n"
    "end\n";

// The hand-written rate: M = diag(m), S = A M^-1 A' tridiagonal. x = (q, u), p = (m, Fx, Fy, Fz) by point.
struct Chain {
    std::size_t n;
    bool equal;  // |v_i|^2 = |v_i+1|^2, half of its derivative's factor 2 kept as the model has it; else v_i . v_i+1 = 0
    std::vector<double> d, e, r;

    void rate(const double* x, const double* p, double* out) {
        const double* const u = x + 3 * n;
        d.resize(n), e.resize(n), r.resize(n);
        for (std::size_t i = 0; i < 3 * n; ++i) out[i] = u[i];
        double* const a = out + 3 * n;
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t k = 0; k < 3; ++k) a[3 * i + k] = p[4 * i + 1 + k] / p[4 * i];
        const auto dot = [](const double* v, const double* w) { return v[0] * w[0] + v[1] * w[1] + v[2] * w[2]; };
        // row i: g on point i, h on point i + 1
        const std::size_t m = n - 1;
        for (std::size_t i = 0; i < m; ++i) {
            const double *v = u + 3 * i, *w = v + 3;
            const double im = 1 / p[4 * i], iw = 1 / p[4 * i + 4];
            if (equal) {
                d[i] = 4 * (dot(v, v) * im + dot(w, w) * iw);
                e[i] = -4 * dot(w, w) * iw;  // with row i + 1
                r[i] = -2 * (dot(v, a + 3 * i) - dot(w, a + 3 * i + 3));
            } else {
                d[i] = dot(w, w) * im + dot(v, v) * iw;
                e[i] = i + 1 < m ? dot(v, w + 3) * iw : 0;
                r[i] = -(dot(w, a + 3 * i) + dot(v, a + 3 * i + 3));
            }
        }
        for (std::size_t i = 1; i < m; ++i) {
            const double l = e[i - 1] / d[i - 1];
            d[i] -= l * e[i - 1];
            r[i] -= l * r[i - 1];
        }
        r[m - 1] /= d[m - 1];
        for (std::size_t i = m - 1; i-- > 0;) r[i] = (r[i] - e[i] * r[i + 1]) / d[i];
        for (std::size_t i = 0; i < m; ++i) {
            const double *v = u + 3 * i, *w = v + 3;
            const double im = 1 / p[4 * i], iw = 1 / p[4 * i + 4];
            const double *g = equal ? v : w, *h = equal ? w : v;
            const double cg = equal ? 2 * r[i] : r[i], ch = equal ? -2 * r[i] : r[i];
            for (std::size_t k = 0; k < 3; ++k) a[3 * i + k] += cg * g[k] * im, a[3 * i + 3 + k] += ch * h[k] * iw;
        }
    }
};

struct Family {
    const char* name;
    const std::string& start;
    const char* constraint;
    int by_hand;  // 0: no; 1: equal; 2: perpendicular
};

const Family k_families[] = {
    {"perpendicular_chain", k_perpendicular_start, "for i in 1..n-1\n  constraint c[i]: dot(vel(P[i]), vel(P[i+1])) = 0\nend\n",
     2},
    {"equal_speeds_chain", k_equal_start,
     "for i in 1..n-1\n  constraint c[i]: dot(vel(P[i]), vel(P[i])) = dot(vel(P[i+1]), vel(P[i+1]))\nend\n", 1},
    {"equal_speeds_star", k_equal_start,
     "for i in 2..n\n  constraint c[i]: dot(vel(P[1]), vel(P[1])) = dot(vel(P[i]), vel(P[i]))\nend\n", 0},
};

std::string text_of(const Family& family, std::size_t n) {
    return fmt::format("system growth\nsize n = {}\n{}{}{}run for 0.1 s, every 0.1 s, rtol 1e-6, atol 1e-8\n", n, k_points,
                       family.start, family.constraint);
}

double median(std::vector<double> v) {
    std::sort(v.begin(), v.end());
    return v[v.size() / 2];
}

bool measure(const Family& family, std::size_t n) {
    Derivation derivation = derive({"growth.appell", text_of(family, n), [](const std::string&) { return std::nullopt; }, {}});
    if (!derivation.ok()) {
        fmt::print(stderr, "{}\n", render(derivation.diagnostics, derivation.sources));
        return false;
    }
    std::string stages;
    for (const auto& [name, time] : derivation.timer.phases()) stages += fmt::format("\"{}_s\":{:.4g},", name, time);
    auto start = Clock::now();
    LowerMotionOptions options;
    options.for_run = true;
    Result<LoweredMotion> lowered = lower_motion(*derivation.dynamics, options);
    if (!lowered.ok()) {
        fmt::print(stderr, "{} {} after {}\n", family.name, n, stages);
        fmt::print(stderr, "{}\n", render(lowered.diagnostics, derivation.sources));
        return false;
    }
    const double lower = seconds(start);
    const Motion& motion = lowered->motion;
    start = Clock::now();
    Workspace<double> workspace(motion.rate);
    const double workspace_seconds = seconds(start);
    const std::span<double> inputs = workspace.inputs();
    std::copy(lowered->x0.begin(), lowered->x0.end(), inputs.begin() + 1);
    std::copy(motion.parameters.begin(), motion.parameters.end(),
              inputs.begin() + 1 + static_cast<std::ptrdiff_t>(lowered->x0.size()));
    const EvalReport report = workspace.run();
    const std::span<const double> ud = workspace.output("ud");

    // by hand, with the parameters by point
    Chain chain{n, family.by_hand == 1, {}, {}, {}};
    std::vector<double> out(6 * n), x(lowered->x0);
    double difference = 0;
    if (family.by_hand != 0) {
        chain.rate(x.data(), motion.parameters.data(), out.data());
        for (std::size_t i = 0; i < 3 * n; ++i)
            difference = std::max(difference, std::abs(out[3 * n + i] - ud[i]) / (1 + std::abs(ud[i])));
    }
    const std::size_t repeats = std::max<std::size_t>(2, 400'000 / n);
    std::vector<double> ours, hand, ratio;
    for (int round = 0; round < 9; ++round) {
        start = Clock::now();
        for (std::size_t k = 0; k < repeats; ++k) {
            inputs[1 + 3 * n] = x[3 * n] + 1e-9 * static_cast<double>(k);
            (void)workspace.run();
        }
        ours.push_back(seconds(start) * 1e9 / static_cast<double>(repeats * n));
        if (family.by_hand == 0) continue;
        start = Clock::now();
        for (std::size_t k = 0; k < repeats; ++k) {
            x[3 * n] = lowered->x0[3 * n] + 1e-9 * static_cast<double>(k);
            chain.rate(x.data(), motion.parameters.data(), out.data());
        }
        hand.push_back(seconds(start) * 1e9 / static_cast<double>(repeats * n));
        ratio.push_back(ours.back() / hand.back());
    }
    fmt::print(
        "{{\"bench\":\"growth\",\"family\":\"{}\",\"n\":{},{}\"lower_s\":{:.4g},\"workspace_s\":{:.4g},\"nodes\":{},"
        "\"instructions\":{},\"peak_MB\":{:.1f},\"rank\":{},\"pivot\":{:.3g},\"ns_per_point\":{:.2f}",
        family.name, n, stages, lower, workspace_seconds, lowered->nodes, lowered->instructions, peak_memory(), report.rank,
        report.smallest_pivot, median(ours));
    if (family.by_hand != 0)
        fmt::print(",\"by_hand_ns_per_point\":{:.2f},\"ratio\":{:.2f},\"difference\":{:.2e}", median(hand), median(ratio),
                   difference);
    fmt::print("}}\n");
    std::fflush(stdout);
    return true;
}

}  // namespace

int main(int argc, char** argv) {
    std::string only;
    std::vector<std::size_t> sizes;
    for (int i = 1; i < argc; ++i) {
        if (std::isdigit(static_cast<unsigned char>(argv[i][0])))
            sizes.push_back(std::strtoul(argv[i], nullptr, 10));
        else
            only = argv[i];
    }
    if (sizes.empty()) sizes = {10, 100, 1000, 10'000, 100'000};
    for (const std::size_t n : sizes)
        if (n < 2) {
            fmt::print(stderr, "usage: bench_growth [FAMILY] [POINTS...], at least 2 points\n");
            return 2;
        }
    bool good = true;
    for (const Family& family : k_families)
        if (only.empty() || only == family.name)
            for (const std::size_t n : sizes) good = measure(family, n) && good;
    return good ? 0 : 1;
}
