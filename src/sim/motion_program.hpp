// A program of a motion with the numbers of its last evaluation: parameters are put in once, t and x = (q, u) at every run.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "sim/motion.hpp"
#include "tape/workspace.hpp"

namespace appell {

class MotionProgram {
public:
    // A program without outputs is one that is not there, and must not be run. Throws Error for other inputs than the motion's.
    MotionProgram(const Motion& motion, const Program& program) : program_(&program), states_(motion.states()) {
        if (program.outputs.empty()) return;
        if (program.inputs != motion.inputs()) throw Error("the programs of a motion take the inputs t, q, u and the parameters");
        const bool together = motion.neighbours != nullptr && motion.neighbours->serves(program);
        if (together) join(*motion.neighbours);
        const std::span<double> inputs = together ? std::span(inputs_) : own().inputs();
        std::copy(motion.parameters.begin(), motion.parameters.end(), inputs.begin() + static_cast<std::ptrdiff_t>(1 + states_));
        if (motion.neighbours != nullptr && motion.neighbours->serves_stages(program)) stages_together_ = motion.neighbours;
    }

    // x may have more entries than the motion has states
    EvalReport run(double t, std::span<const double> x) {
        if (neighbours_ != nullptr) {
            inputs_[0] = t;
            std::copy_n(x.begin(), states_, inputs_.begin() + 1);
            if (run_together(inputs_.data() + program_->stream_begin, outputs_.data())) return together_.report;
        }
        const std::span<double> inputs = own().moving_inputs();
        inputs[0] = t;
        std::copy_n(x.begin(), states_, inputs.begin() + 1);
        return own_->run();
    }

    // the same without a copy, straight into `out`, where the program allows it; see Workspace::run_whole
    [[nodiscard]] bool run_whole(double t, std::span<const double> x, std::span<double> out) {
        if (neighbours_ != nullptr || !own_) return run_whole_together(t, x, out);
        own_->moving_inputs()[0] = t;
        return own_->run_whole(x.data(), out.data());
    }
    // of run_whole, where nobody is waited for; t goes into the first of its slots
    [[nodiscard]] NativeEvaluation native() {
        if (neighbours_ != nullptr || stages_together_ != nullptr || !own_) return {};
        return own_->native();
    }
    [[nodiscard]] EvalReport whole_report() const { return together_.done ? together_.report : own_->whole_report(); }

    // Of a program whose streamed inputs are x and whose outputs are x'; with the rate at the end of the step, and its report.
    [[nodiscard]] bool offers_stages() const { return stages_together_ != nullptr; }
    [[nodiscard]] bool run_stages(const StepStages& stages, std::span<double> end_rate, EvalReport& report) {
        const double* const inputs = own_ ? own_->moving_inputs().data() : inputs_.data();
        Neighbours::StageRequest request{program_, inputs, stages, end_rate.data()};
        stages_together_->evaluate(request);
        if (request.done) report = request.report;
        return request.done;
    }

    void set_parameter(std::size_t index, double value) {
        if (program_->outputs.empty()) return;
        if (!inputs_.empty()) inputs_[1 + states_ + index] = value;
        if (own_) own_->set_input(1 + states_ + index, value);
    }

    void limit_rank(std::size_t rank) {
        own().limit_rank(rank);
        neighbours_ = stages_together_ = nullptr;
        together_.done = false;
    }

    [[nodiscard]] std::span<const double> outputs() const { return together_.done ? std::span(outputs_) : own_->outputs(); }
    [[nodiscard]] std::span<const double> output(const OutputRange& range) const {
        if (!together_.done) return own_->output(range);
        return {outputs_.data() + range.begin, range.end - range.begin};
    }
    [[nodiscard]] std::span<const double> output(std::string_view name) const { return output(program_->output(name)); }
    // of its first solve (Workspace::rows); where a row begins in them
    [[nodiscard]] std::span<const double> rows() const { return together_.done ? rows_ : own_->rows(0); }
    [[nodiscard]] std::size_t row_begin(std::size_t row) const {
        const SparseSolver* const of = sparse();
        return of ? of->row_begin()[row] : row * program_->solves[0].size;
    }
    // of the first solve; programs that are evaluated together have none
    [[nodiscard]] SparseSolver* sparse() const { return own_ && !program_->solves.empty() ? own_->sparse(0) : nullptr; }
    [[nodiscard]] std::span<const double> directions() const { return together_.done ? directions_ : own_->directions(0); }

private:
    // NOTE: apart, since alone a small program takes no longer than what this would add around it
    [[gnu::noinline]] bool run_whole_together(double t, std::span<const double> x, std::span<double> out) {
        if (neighbours_ != nullptr) {
            inputs_[0] = t;
            if (run_together(x.data(), out.data())) return true;
        }
        own().moving_inputs()[0] = t;
        return own_->run_whole(x.data(), out.data());
    }
    void join(Neighbours& neighbours) {
        neighbours_ = &neighbours;
        inputs_.resize(program_->inputs);
        outputs_.resize(program_->output_slots.size());
        if (program_->solves.empty()) return;
        rows_.resize(program_->solves[0].rows * program_->solves[0].size);
        directions_.resize(rows_.size());
    }
    [[nodiscard]] bool run_together(const double* stream, double* outputs) {
        together_ = {program_, inputs_.data(), stream, outputs, rows_.data(), directions_.data()};
        neighbours_->evaluate(together_);
        return together_.done;
    }
    Workspace<double>& own() {
        if (!own_) {
            own_.emplace(*program_);
            std::copy(inputs_.begin(), inputs_.end(), own_->inputs().begin());
        }
        return *own_;
    }

    const Program* program_;
    std::size_t states_;
    std::optional<Workspace<double>> own_;  // with neighbours only where they have left an evaluation to it
    Neighbours *neighbours_ = nullptr, *stages_together_ = nullptr;
    Neighbours::Request together_;  // done: the numbers of the last evaluation are here
    std::vector<double> inputs_, outputs_, rows_, directions_;
};

}  // namespace appell
