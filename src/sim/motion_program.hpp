// A program of a motion with the numbers of its last evaluation: parameters are put in once, t and x = (q, u) at every run.
#pragma once

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

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
        if (motion.neighbours != nullptr && motion.neighbours->serves(program)) join(*motion.neighbours);
    }

    // x may have more entries than the motion has states
    EvalReport run(double t, std::span<const double> x) {
        const std::span<double> inputs = workspace_.inputs();
        inputs[0] = t;
        std::copy_n(x.begin(), states_, inputs.begin() + 1);
        if (run_together(inputs.data() + workspace_.program().stream_begin, outputs_.data())) return together_.report;
        return workspace_.run();
    }

    // the same without a copy, straight into `out`, where the program allows it; see Workspace::run_whole
    [[nodiscard]] bool run_whole(double t, std::span<const double> x, std::span<double> out) {
        workspace_.inputs()[0] = t;
        return run_together(x.data(), out.data()) || workspace_.run_whole(x.data(), out.data());
    }
    [[nodiscard]] EvalReport whole_report() const { return together_.done ? together_.report : workspace_.whole_report(); }

    void set_parameter(std::size_t index, double value) {
        if (!workspace_.program().outputs.empty()) workspace_.inputs()[1 + states_ + index] = value;
    }

    void limit_rank(std::size_t rank) {
        workspace_.limit_rank(rank);
        neighbours_ = nullptr;
        together_.done = false;
    }

    [[nodiscard]] std::span<const double> outputs() const { return together_.done ? std::span(outputs_) : workspace_.outputs(); }
    [[nodiscard]] std::span<const double> output(const OutputRange& range) const {
        if (!together_.done) return workspace_.output(range);
        return {outputs_.data() + range.begin, range.end - range.begin};
    }
    [[nodiscard]] std::span<const double> output(std::string_view name) const {
        return output(workspace_.program().output(name));
    }
    // of its first solve (Workspace::rows); where a row begins in them
    [[nodiscard]] std::span<const double> rows() const { return together_.done ? rows_ : workspace_.rows(0); }
    [[nodiscard]] std::size_t row_begin(std::size_t row) const {
        const SparseSolver* const sparse = workspace_.sparse(0);
        return sparse ? sparse->row_begin()[row] : row * workspace_.program().solves[0].size;
    }
    [[nodiscard]] SparseSolver* sparse() const { return workspace_.program().solves.empty() ? nullptr : workspace_.sparse(0); }
    [[nodiscard]] std::span<const double> directions() const { return together_.done ? directions_ : workspace_.directions(0); }

private:
    void join(Neighbours& neighbours) {
        neighbours_ = &neighbours;
        const Program& program = workspace_.program();
        outputs_.resize(program.output_slots.size());
        if (program.solves.empty()) return;
        rows_.resize(program.solves[0].rows * program.solves[0].size);
        directions_.resize(rows_.size());
    }
    [[nodiscard]] bool run_together(const double* stream, double* outputs) {
        if (neighbours_ == nullptr) return false;
        together_ = {&workspace_.program(), workspace_.inputs().data(), stream, outputs, rows_.data(), directions_.data()};
        neighbours_->evaluate(together_);
        return together_.done;
    }

    Workspace<double> workspace_;
    std::size_t states_;
    Neighbours* neighbours_ = nullptr;
    Neighbours::Request together_;  // done: the numbers of the last evaluation are here
    std::vector<double> outputs_, rows_, directions_;
};

}  // namespace appell
