// A program of a motion with the numbers of its last evaluation: parameters are put in once, t and x = (q, u) at every run.
#pragma once

#include <algorithm>
#include <span>
#include <string_view>

#include "sim/motion.hpp"
#include "tape/workspace.hpp"

namespace appell {

class MotionProgram {
public:
    // A program without outputs is one that is not there, and must not be run. Throws Error for other inputs than the motion's.
    MotionProgram(const Motion& motion, const Program& program) : workspace_(program), states_(motion.states()) {
        if (program.outputs.empty()) return;
        if (program.inputs != motion.inputs()) throw Error("the programs of a motion take the inputs t, q, u and the parameters");
        std::copy(motion.parameters.begin(), motion.parameters.end(),
                  workspace_.inputs().begin() + static_cast<std::ptrdiff_t>(1 + states_));
    }

    // x may have more entries than the motion has states
    EvalReport run(double t, std::span<const double> x) {
        const std::span<double> inputs = workspace_.inputs();
        inputs[0] = t;
        std::copy_n(x.begin(), states_, inputs.begin() + 1);
        return workspace_.run();
    }

    // the same without a copy, straight into `out`, where the program allows it; see Workspace::run_whole
    [[nodiscard]] bool run_whole(double t, std::span<const double> x, std::span<double> out) {
        workspace_.inputs()[0] = t;
        return workspace_.run_whole(x.data(), out.data());
    }
    [[nodiscard]] EvalReport whole_report() const { return workspace_.whole_report(); }

    void set_parameter(std::size_t index, double value) {
        if (!workspace_.program().outputs.empty()) workspace_.inputs()[1 + states_ + index] = value;
    }

    void limit_rank(std::size_t rank) { workspace_.limit_rank(rank); }

    [[nodiscard]] std::span<const double> outputs() const { return workspace_.outputs(); }
    [[nodiscard]] std::span<const double> output(const OutputRange& range) const { return workspace_.output(range); }
    [[nodiscard]] std::span<const double> output(std::string_view name) const { return workspace_.output(name); }
    // of its first solve (Workspace::rows); where a row begins in them
    [[nodiscard]] std::span<const double> rows() const { return workspace_.rows(0); }
    [[nodiscard]] std::size_t row_begin(std::size_t row) const {
        const SparseSolver* const sparse = workspace_.sparse(0);
        return sparse ? sparse->row_begin()[row] : row * workspace_.program().solves[0].size;
    }
    [[nodiscard]] SparseSolver* sparse() const { return workspace_.program().solves.empty() ? nullptr : workspace_.sparse(0); }
    [[nodiscard]] std::span<const double> directions() const { return workspace_.directions(0); }

private:
    Workspace<double> workspace_;
    std::size_t states_;
};

}  // namespace appell
