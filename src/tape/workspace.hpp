// The numbers of one evaluation of a program: all memory is taken at construction, and run() neither allocates nor throws. The
// pivoted solve that stands in for a closed form, or for a large sparse solve, takes its memory when it is first needed.
// The program must outlive its workspaces; any number of them may share it.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "tape/constrained_solve.hpp"
#include "tape/dense_solve.hpp"
#include "tape/linear_solve.hpp"
#include "tape/program.hpp"
#include "tape/realised_solve.hpp"
#include "tape/scalars.hpp"
#include "tape/sparse_solve.hpp"

namespace appell {

template <class T>
class Workspace {
public:
    explicit Workspace(const Program& program);
    explicit Workspace(Program&&) = delete;

    // All inputs. Who asks for them may change parameters: what depends on these alone is computed with the next run, so that
    // they are to be asked for again before every change of a parameter.
    [[nodiscard]] std::span<T> inputs() {
        settled_ = false;
        return {slots_.data(), program_->inputs};
    }
    // the same for who changes no parameter
    [[nodiscard]] std::span<T> moving_inputs() { return {slots_.data(), program_->inputs}; }
    // one of them, whatever it is
    void set_input(std::size_t index, const T& value) {
        slots_[index] = value;
        settled_ = settled_ && !program_->is_steady(static_cast<Slot>(index));
    }

    EvalReport run();
    // The whole of a small program by one piece of native code: the streamed inputs are read where they are, the outputs go where
    // they are wanted, and nothing is left of it in outputs(). False: nothing is known, and run() is to be called.
    [[nodiscard]] bool run_whole(const T* stream, T* outputs) {
        if constexpr (std::is_same_v<T, double>) {
            if (!settled_) settle();
            return whole_ != nullptr && whole_(slots_.data(), scratch_.data(), stream, outputs) != 0;
        } else {
            return false;
        }
    }
    // the same for a caller that runs it many times, with the parameters as they are; without a function where there is none
    [[nodiscard]] NativeEvaluation native() {
        if constexpr (std::is_same_v<T, double>) {
            if (!settled_) settle();
            return {whole_, slots_.data(), scratch_.data()};
        } else {
            return {};
        }
    }
    // of the last run_whole that was true
    [[nodiscard]] EvalReport whole_report() const;
    // the same by the interpreter, whether or not there is native code: the reference
    EvalReport run_interpreted();
    // likewise, with the temporaries made NaN before every segment: for tests of the slot sharing
    EvalReport run_poisoned();

    // of the last solve with rows: see ConstrainedSolver
    void limit_rank(std::size_t rank) {
        rank_limited_ = true;
        settled_ = false;
        most_rank_ = rank;
        const std::size_t last = last_with_rows();
        if (last < sparse_solvers_.size() && sparse_solvers_[last]) sparse_solvers_[last]->limit_rank(rank);
        if (last < solvers_.size() && solvers_[last]) solvers_[last]->limit_rank(rank);
        if (last < dense_solvers_.size() && dense_solvers_[last]) dense_solvers_[last]->limit_rank(rank);
        // the same rows in the blocks that find the multipliers of laws, without the servo rows that count in the rank
        for (std::size_t k = 0; k < last && last < realised_solvers_.size(); ++k)
            if (realised_solvers_[k] && program_->solves[k].rows == program_->solves[last].rows)
                realised_solvers_[k]->limit_rank(rank - std::min(rank, program_->solves[k].s.size()));
    }

    // values of the last run, contiguous; NaN when it failed before its end
    [[nodiscard]] std::span<const T> outputs() const { return outputs_; }
    [[nodiscard]] std::span<const T> output(const OutputRange& range) const {
        return {outputs_.data() + range.begin, range.end - range.begin};
    }
    [[nodiscard]] std::span<const T> output(std::string_view name) const { return output(program_->output(name)); }

    // The rows of A that a solve of kind `multipliers` worked with (ConstrainedSolver::rows, directions; SparseSolver::rows,
    // which has no directions); empty for the other kinds.
    [[nodiscard]] std::span<const T> rows(std::size_t solve) const {
        if constexpr (std::is_same_v<T, double>)
            if (sparse_solvers_[solve]) return sparse_solvers_[solve]->rows(slots_.data());
        return solvers_[solve] ? solvers_[solve]->rows() : std::span<const T>{};
    }
    [[nodiscard]] std::span<const Real<T>> directions(std::size_t solve) const {
        return solvers_[solve] ? solvers_[solve]->directions() : std::span<const Real<T>>{};
    }

    // of a sparse solve; null otherwise
    [[nodiscard]] SparseSolver* sparse(std::size_t solve) const {
        return sparse_solvers_.empty() ? nullptr : sparse_solvers_[solve].get();
    }

    [[nodiscard]] const Program& program() const { return *program_; }

private:
    EvalReport execute(bool poison, bool interpret);
    void settle();
    [[nodiscard]] std::size_t last_with_rows() const {
        std::size_t last = program_->solves.size();
        while (last > 0 && !program_->solves[last - 1].has_rows()) --last;
        return last == 0 ? program_->solves.size() : last - 1;
    }
    void execute_segment(std::size_t segment, bool interpret);
    void execute_run(const InstructionRun& run);
    void execute_call(const Instruction& instruction);

    const Program* program_;
    std::vector<T> slots_;
    std::vector<T> outputs_;
    std::vector<T> arguments_;           // of one opaque call
    std::vector<T> scratch_;             // of native code
    bool rank_limited_ = false;          // a closed form knows no rank but the full one
    bool settled_ = false;               // what depends on parameters alone is computed, with those that are there
    NativeCode::Whole whole_ = nullptr;  // where it serves with these parameters
    SolveReport solve(std::size_t segment, bool interpret);

    // by solve block, one of the four: the kind of the block decides. Complex numbers take the first road for the dense kinds.
    std::vector<std::unique_ptr<ConstrainedSolver<T>>> solvers_;
    std::vector<std::unique_ptr<DenseSolver<Real<T>>>> dense_solvers_;
    std::vector<std::unique_ptr<RealisedSolver<T>>> realised_solvers_;
    std::vector<std::unique_ptr<LinearSolver<T>>> linear_solvers_;
    // beside the first, which is then made when it is needed, unless it is small or can not be afforded; likewise beside a closed
    // form
    std::vector<std::unique_ptr<SparseSolver>> sparse_solvers_;
    std::size_t most_rank_ = static_cast<std::size_t>(-1);
};

extern template class Workspace<double>;
extern template class Workspace<std::complex<double>>;
extern template class Workspace<Digits50>;

}  // namespace appell
