// Derivation of the planar n-link pendulum on a cart: M from partial velocities, f, the program of the accelerations. Prints, for
// each n, derivation time, nodes, live instructions and memory. The numbers of links may be given on the command line.
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "../tests/support/n_link_pendulum.hpp"
#include "dynam/constrained_dynamics.hpp"
#include "dynam/multipliers.hpp"

namespace {

using namespace appell;
using Clock = std::chrono::steady_clock;

double seconds(Clock::time_point from) { return std::chrono::duration<double>(Clock::now() - from).count(); }

// peak resident memory of this process so far, in MB
double peak_memory() {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
        if (line.starts_with("VmHWM:")) return std::strtod(line.c_str() + 6, nullptr) / 1024;
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    std::vector<int> sizes;
    for (int i = 1; i < argc; ++i) {
        sizes.push_back(std::atoi(argv[i]));
        if (sizes.back() < 1) {
            fmt::print(stderr, "usage: bench_n_link_pendulum [LINKS...]\n");
            return 2;
        }
    }
    if (sizes.empty()) sizes = {5, 10, 20, 50, 100, 150, 200};
    fmt::print("{:>5} {:>12} {:>12} {:>14} {:>12} {:>14} {:>12}\n", "n", "derive [ms]", "nodes", "us per node", "lower [ms]",
               "instructions", "memory [MB]");
    for (const int n : sizes) {
        const auto start = Clock::now();
        auto built = build_n_link_pendulum(n);
        auto dynamics = derive_dynamics(std::make_shared<const Model>(std::move(*built)));
        const double derive = seconds(start);
        if (!dynamics.ok()) {
            fmt::print("n = {}: {}\n", n, render(dynamics.diagnostics, SourceSet{}));
            return 1;
        }
        const std::size_t nodes = dynamics->graph().size();
        const auto lowering = Clock::now();
        ProgramSpec spec;
        for (std::size_t i = 0; i < dynamics->graph().symbol_count(); ++i) {
            const SymbolKind kind = dynamics->graph().symbol(SymbolId(i)).kind;
            if (kind == SymbolKind::time || kind == SymbolKind::coordinate || kind == SymbolKind::speed ||
                kind == SymbolKind::parameter || kind == SymbolKind::input)
                spec.inputs.push_back(SymbolId(i));
        }
        spec.solves.push_back(multipliers_form(*dynamics));
        const Program program = lower_program(dynamics->graph(), spec);
        fmt::print("{:>5} {:>12.2f} {:>12} {:>14.3f} {:>12.2f} {:>14} {:>12.1f}\n", n, derive * 1e3, nodes,
                   derive * 1e6 / static_cast<double>(nodes), seconds(lowering) * 1e3, program.instructions.size(),
                   peak_memory());
    }
    return 0;
}
