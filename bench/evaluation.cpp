// Time of one evaluation of the state's rate: ours, by interpreter and by native code, and hand-written C++ for the same system
// in the same process. Rounds alternate between the three; printed are medians over the rounds, their ratio and its spread.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "jit/native_code.hpp"
#include "pipeline/lower_motion.hpp"
#include "pipeline/pipeline.hpp"
#include "tape/workspace.hpp"

namespace {

using namespace appell;
using Clock = std::chrono::steady_clock;

constexpr int k_rounds = 15;
constexpr int k_evaluations = 200'000;

// what the optimizer must not see through
void keep(const void* p) { asm volatile("" : : "g"(p) : "memory"); }

// ---------------------------------------------------------------- hand-written

// 000 sec. 4, with the multiplier eliminated: rate of (x1, y1, x2, y2, u1, u2, u3, u4)
void pucks(const double* x, const double* p, double* out) {
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

// planar chain of N point masses on massless links, by absolute angles: Cholesky of the full matrix
template <int N>
void chain(const double* x, const double* p, double* out) {
    const double m = p[0], l = p[1], g = p[2];
    double s[N], c[N], M[N][N], f[N];
    for (int i = 0; i < N; ++i) s[i] = std::sin(x[i]), c[i] = std::cos(x[i]);
    for (int i = 0; i < N; ++i) {
        f[i] = -(N - i) * m * g * l * s[i];
        for (int j = 0; j <= i; ++j) M[i][j] = (N - i) * m * l * l * (c[i] * c[j] + s[i] * s[j]);
    }
    for (int i = 0; i < N; ++i)
        for (int j = 0; j < N; ++j) {
            if (i == j) continue;
            f[i] -= (N - std::max(i, j)) * m * l * l * (s[i] * c[j] - c[i] * s[j]) * x[N + j] * x[N + j];
        }
    for (int i = 0; i < N; ++i) {
        for (int j = 0; j < i; ++j) {
            for (int k = 0; k < j; ++k) M[i][j] -= M[i][k] * M[j][k];
            M[i][j] /= M[j][j];
        }
        for (int k = 0; k < i; ++k) M[i][i] -= M[i][k] * M[i][k];
        M[i][i] = std::sqrt(M[i][i]);
    }
    for (int i = 0; i < N; ++i) {
        for (int k = 0; k < i; ++k) f[i] -= M[i][k] * f[k];
        f[i] /= M[i][i];
    }
    for (int i = N - 1; i >= 0; --i) {
        for (int k = i + 1; k < N; ++k) f[i] -= M[k][i] * f[k];
        f[i] /= M[i][i];
    }
    for (int i = 0; i < N; ++i) out[i] = x[N + i], out[N + i] = f[i];
}

std::string chain_text(int n) {
    std::string out = "system chain\nparam m = 0.7, l = 0.4, g = 9.81\n", before = "O";
    for (int i = 1; i <= n; ++i) out += fmt::format("coord a{} = {}\n", i, 0.3 * i);
    for (int i = 1; i <= n; ++i) {
        out += fmt::format("particle P{} mass m at {} + l*sin(a{})*N.x - l*cos(a{})*N.y\n", i, before, i, i);
        before = fmt::format("P{}", i);
    }
    return out + "gravity -g*N.y\nrun for 1 s\n";
}

const std::string k_pucks =
    "system pucks\nparam m1 = 1, m2 = 2, s1 = 1, s3 = 1\ncoord x1 = 1, y1 = -2, x2 = 1, y2 = 2\n"
    "speed u1 = x1', u2 = y1', u3 = x2', u4 = y2'\nstart u1 = 0.3, u2 = 0.4, u3 = 0.4, u4 = -0.3\n"
    "particle P1 mass m1 at O + x1*N.x + y1*N.y\nparticle P2 mass m2 at O + x2*N.x + y2*N.y\n"
    "force on P1 = s1*N.x\nforce on P2 = s3*N.x\nconstraint c: dot(vel(P1), vel(P2)) = 0\nrun for 1 s\n";

// ---------------------------------------------------------------- ours

struct Ours {
    explicit Ours(const std::string& text) {
        derivation = derive({"bench.appell", text, [](const std::string&) { return std::nullopt; }, {}});
        if (!derivation.ok()) throw std::runtime_error(render(derivation.diagnostics, derivation.sources));
        LowerMotionOptions options;
        options.for_run = true;
        Result<LoweredMotion> lowered = lower_motion(*derivation.dynamics, options);
        if (!lowered.ok()) throw std::runtime_error(render(lowered.diagnostics, derivation.sources));
        motion = std::move(lowered->motion);
        x0 = lowered->x0;
        // as a run has it: with the powers of the energy ledger, which the other side does without
        const Program& rate = motion.rate;
        instructions = rate.instructions.size();
        bytes = rate.native ? rate.native->bytes : 0;
        workspace.emplace(motion.rate);
        const std::span<double> inputs = workspace->inputs();
        std::copy(x0.begin(), x0.end(), inputs.begin() + 1);
        std::copy(motion.parameters.begin(), motion.parameters.end(),
                  inputs.begin() + 1 + static_cast<std::ptrdiff_t>(x0.size()));
    }

    Derivation derivation;
    Motion motion;
    std::vector<double> x0;
    std::size_t instructions = 0, bytes = 0;
    std::optional<Workspace<double>> workspace;
};

double nanoseconds(const std::function<void(int)>& evaluate) {
    const auto start = Clock::now();
    for (int i = 0; i < k_evaluations; ++i) evaluate(i);
    return std::chrono::duration<double, std::nano>(Clock::now() - start).count() / k_evaluations;
}

double median(std::vector<double> v) {
    std::sort(v.begin(), v.end());
    return v[v.size() / 2];
}

void compare(const std::string& name, const std::string& text, void (*by_hand)(const double*, const double*, double*)) {
    Ours ours(text);
    const std::size_t nq = ours.motion.coordinates, n = ours.x0.size();
    std::vector<double> state = ours.x0, out(n);
    // the same numbers first
    by_hand(state.data(), ours.motion.parameters.data(), out.data());
    ours.workspace->run();
    const auto qd = ours.workspace->output("qd"), ud = ours.workspace->output("ud");
    double difference = 0;
    for (std::size_t i = 0; i < n; ++i)
        difference = std::max(difference, std::abs(out[i] - (i < nq ? qd[i] : ud[i - nq])) / (1 + std::abs(out[i])));
    if (difference > 1e-12) throw std::runtime_error(fmt::format("{}: the two differ by {:.1e}", name, difference));

    std::vector<double> hand, native, interpreted, ratio;
    for (int round = 0; round < k_rounds; ++round) {
        // a state that changes, so that nothing is computed once and for all
        hand.push_back(nanoseconds([&](int i) {
            state[nq] = ours.x0[nq] + 1e-9 * i;
            by_hand(state.data(), ours.motion.parameters.data(), out.data());
            keep(out.data());
        }));
        native.push_back(nanoseconds([&](int i) {
            ours.workspace->inputs()[1 + nq] = ours.x0[nq] + 1e-9 * i;
            ours.workspace->run();
            keep(ours.workspace->outputs().data());
        }));
        interpreted.push_back(nanoseconds([&](int i) {
            ours.workspace->inputs()[1 + nq] = ours.x0[nq] + 1e-9 * i;
            ours.workspace->run_interpreted();
            keep(ours.workspace->outputs().data());
        }));
        ratio.push_back(native.back() / hand.back());
    }
    std::sort(ratio.begin(), ratio.end());
    fmt::print("{:<22} {:>9.1f} {:>9.1f} {:>12.1f} {:>8.2f} ({:.2f} .. {:.2f}) {:>13} {:>8}\n", name, median(hand),
               median(native), median(interpreted), ratio[ratio.size() / 2], ratio[ratio.size() / 10],
               ratio[ratio.size() - 1 - ratio.size() / 10], ours.instructions, ours.bytes);
}

}  // namespace

int main() {
    fmt::print("{:<22} {:>9} {:>9} {:>12} {:>22} {:>15} {:>8}\n", "rate of", "hand [ns]", "native", "interpreted",
               "native / hand", "instructions", "bytes");
    try {
        compare("two pucks", k_pucks, pucks);
        compare("chain of 2", chain_text(2), chain<2>);
        compare("chain of 4", chain_text(4), chain<4>);
        compare("chain of 8", chain_text(8), chain<8>);
    } catch (const std::exception& problem) {
        fmt::print(stderr, "bench_evaluation: {}\n", problem.what());
        return 1;
    }
    return 0;
}
