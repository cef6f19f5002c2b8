// The interpreter: one decision per run of equal operations, then a plain loop over its instructions. The formulas are those of
// ops.def, so that a tape gives bit for bit what direct evaluation gives.
#include "tape/workspace.hpp"

#include <algorithm>
#include <limits>

#include "expr/evaluate.hpp"
#include "tape/closed_solve.hpp"

namespace appell {

namespace {

template <class T>
T not_a_number() {
    return T(std::numeric_limits<Real<T>>::quiet_NaN());
}

}  // namespace

template <class T>
Workspace<T>::Workspace(const Program& program)
    : program_(&program), slots_(program.slots, T(0)), outputs_(program.output_slots.size(), T(0)) {
    for (const auto& [slot, value] : program.constants) slots_[slot] = T(value);
    for (const Slot slot : program.pi_slots) slots_[slot] = pi_value<T>();
    std::size_t longest = 0;
    for (const std::vector<Slot>& list : program.argument_lists) longest = std::max(longest, list.size());
    arguments_.resize(longest);
    if constexpr (std::is_same_v<T, double>)
        if (program.native) scratch_.resize(program.native->scratch);
    for (const SolveBlock& block : program.solves) {
        const bool realised = block.kind == SolveKind::realised, linear = block.kind == SolveKind::linear;
        const bool dense = !realised && !linear && block.kind != SolveKind::multipliers && !IsComplex<T>::value;
        const bool sparse = std::is_same_v<T, double> && block.sparse;
        const bool closed = std::is_same_v<T, double> && !block.closed.empty();
        const bool later = closed || (sparse && block.sparse->pivoted_entries() > SparseElimination::k_pivoted_decides);
        solvers_.push_back(dense || realised || linear || later ? nullptr : std::make_unique<ConstrainedSolver<T>>(block));
        sparse_solvers_.push_back(sparse ? std::make_unique<SparseSolver>(block) : nullptr);
        dense_solvers_.push_back(dense ? std::make_unique<DenseSolver<Real<T>>>(block) : nullptr);
        realised_solvers_.push_back(realised ? std::make_unique<RealisedSolver<T>>(block) : nullptr);
        linear_solvers_.push_back(linear ? std::make_unique<LinearSolver<T>>(block) : nullptr);
    }
}

template <class T>
SolveReport Workspace<T>::solve(std::size_t index, bool interpret) {
    const Segment& segment = program_->segments[index];
    const auto block = static_cast<std::size_t>(segment.solve);
    if (RealisedSolver<T>* const realised = realised_solvers_[block].get()) {
        const auto evaluate_law = [&] { execute_segment(index, interpret); };
        realised->begin(slots_.data());
        while (segment.repeats && realised->next_start(slots_.data())) {
            evaluate_law();
            while (realised->iterate(slots_.data())) evaluate_law();
        }
        const SolveReport report = realised->finish(slots_.data());
        if (segment.repeats) evaluate_law();
        return report;
    }
    if (linear_solvers_[block]) return linear_solvers_[block]->solve(slots_.data());
    if constexpr (std::is_same_v<T, double>)
        if (const SolveBlock& b = program_->solves[block]; !b.closed.empty() && !rank_limited_)
            if (take_closed_form(b, slots_.data())) return report_of_closed_form(b, slots_.data());
    if constexpr (!IsComplex<T>::value)
        if (dense_solvers_[block]) return dense_solvers_[block]->solve(slots_.data());
    if constexpr (std::is_same_v<T, double>)
        if (SparseSolver* const sparse = sparse_solvers_[block].get()) {
            const std::size_t entries = program_->solves[block].sparse->pivoted_entries();
            const SparseSolver::Pivoted pivoted = entries <= SparseElimination::k_pivoted_decides ? SparseSolver::Pivoted::decides
                                                  : entries <= SparseElimination::k_most_pivoted  ? SparseSolver::Pivoted::helps
                                                                                                  : SparseSolver::Pivoted::absent;
            SolveReport report;
            if (sparse->solve(slots_.data(), report, pivoted)) return report;
        }
    if (!solvers_[block]) {
        solvers_[block] = std::make_unique<ConstrainedSolver<T>>(program_->solves[block]);
        if (block == last_with_rows()) solvers_[block]->limit_rank(most_rank_);
    }
    return solvers_[block]->solve(slots_.data());
}

template <class T>
void Workspace<T>::execute_segment(std::size_t segment, [[maybe_unused]] bool interpret) {
    if constexpr (std::is_same_v<T, double>)
        if (const NativeCode* const native = program_->native.get(); native != nullptr && !interpret)
            if (const NativeCode::Function code = native->segments[segment]) {
                code(slots_.data(), scratch_.data());
                return;
            }
    for (const InstructionRun& run : program_->segments[segment].runs) execute_run(run);
}

template <class T>
void Workspace<T>::execute_call(const Instruction& instruction) {
    const std::vector<Slot>& list = program_->argument_lists[instruction.a];
    const OpaqueCall& call = program_->functions[instruction.b];
    for (std::size_t i = 0; i < list.size(); ++i) arguments_[i] = slots_[list[i]];
    slots_[instruction.out] = opaque_value<T>(call.name, call.orders, std::span<const T>(arguments_.data(), list.size()));
}

template <class T>
void Workspace<T>::execute_run(const InstructionRun& run) {
    using std::acos, std::acosh, std::asin, std::asinh, std::atan, std::atan2, appell::atan2, std::atanh, std::cos, std::cosh,
        std::exp, std::log, std::pow, std::sin, std::sinh, std::sqrt, std::tan, std::tanh;
    T* const slots = slots_.data();
    const Instruction* const begin = program_->instructions.data() + run.begin;
    const Instruction* const end = program_->instructions.data() + run.end;
    switch (run.op) {
#define APPELL_LEAF(Name)
#define APPELL_STRUCTURE(Name, arity)
#define APPELL_VECTOR(Name, arity)
#define APPELL_OP(Name, text, arity, value, dx, dy, dz)     \
    case Op::Name:                                          \
        for (const Instruction* i = begin; i != end; ++i) { \
            const T& x = slots[i->a];                       \
            [[maybe_unused]] const T& y = slots[i->b];      \
            [[maybe_unused]] const T& z = slots[i->c];      \
            slots[i->out] = T(value);                       \
        }                                                   \
        break;
#include "expr/ops.def"
#undef APPELL_LEAF
#undef APPELL_STRUCTURE
#undef APPELL_VECTOR
#undef APPELL_OP
        case Op::PowInt:
            for (const Instruction* i = begin; i != end; ++i)
                slots[i->out] = int_power(slots[i->a], static_cast<std::int32_t>(i->b));
            break;
        case Op::Call:
            for (const Instruction* i = begin; i != end; ++i) execute_call(*i);
            break;
        default: APPELL_ASSERT(false, "a tape holds operations on scalars only");
    }
}

// what stays while the parameters do, and whether the program in one piece, which looks at none of it, serves with them
template <class T>
void Workspace<T>::settle() {
    settled_ = true;
    for (std::size_t k = 0; k < program_->steady_segments; ++k) execute_segment(k, false);
    whole_ = nullptr;
    if constexpr (std::is_same_v<T, double>)
        if (program_->native && program_->native->whole != nullptr && !rank_limited_ &&
            steady_pivots_are_good(*program_, slots_.data()))
            whole_ = program_->native->whole;
}

template <class T>
EvalReport Workspace<T>::execute(bool poison, bool interpret) {
    EvalReport report;
    std::uint32_t servo_rank = 0;  // the same rows may stand in several blocks
    if (!settled_ && !interpret) settle();
    for (std::size_t k = interpret ? 0 : program_->steady_segments; k < program_->segments.size(); ++k) {
        const Segment& segment = program_->segments[k];
        if (poison)
            std::fill(slots_.begin() + static_cast<std::ptrdiff_t>(program_->first_temporary), slots_.end(), not_a_number<T>());
        if (!segment.repeats) execute_segment(k, interpret);
        if (segment.solve < 0) continue;
        const SolveReport solve = this->solve(k, interpret);
        servo_rank = std::max(servo_rank, solve.servo_rank);
        if (program_->solves[static_cast<std::size_t>(segment.solve)].has_rows()) {
            report.rank = solve.rank + servo_rank;
            report.weakest_row = solve.weakest_row;
        }
        report.redundant |= solve.redundant;
        report.bordered |= solve.bordered;
        report.smallest_pivot = std::min(report.smallest_pivot, solve.smallest_pivot);
        if (solve.inconsistency > report.inconsistency) report.inconsistent_row = solve.inconsistent_row;
        report.inconsistency = std::max(report.inconsistency, solve.inconsistency);
        if (solve.status == EvalStatus::ok) continue;
        if (report.status == EvalStatus::ok || solve.status != EvalStatus::inconsistent_rows) {
            report.status = solve.status;
            report.solve = static_cast<std::uint32_t>(segment.solve);
            report.singular_column = solve.singular_column;
            report.row = solve.row;
        }
        if (solve.status == EvalStatus::inconsistent_rows) continue;
        std::fill(outputs_.begin(), outputs_.end(), not_a_number<T>());
        return report;
    }
    const auto holds = [&](const std::pair<Slot, Slot>& pair) {
        return real_part(slots_[pair.first]) >= real_part(slots_[pair.second]);
    };
    if (!std::all_of(program_->at_least.begin(), program_->at_least.end(), holds)) {
        report.status = EvalStatus::singular_partition;
        std::fill(outputs_.begin(), outputs_.end(), not_a_number<T>());
        return report;
    }
    bool finite = true;
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
        outputs_[i] = slots_[program_->output_slots[i]];
        finite &= is_finite(outputs_[i]);
    }
    if (!finite) {
        report.status = EvalStatus::not_finite;
        report.solve = static_cast<std::uint32_t>(program_->solves.size());
    }
    return report;
}

template <class T>
EvalReport Workspace<T>::whole_report() const {
    EvalReport report;
    if constexpr (std::is_same_v<T, double>)
        for (const SolveBlock& block : program_->solves) {
            const SolveReport solve = report_of_closed_form(block, slots_.data());
            if (block.has_rows()) {
                report.rank = solve.rank;
                report.weakest_row = solve.weakest_row;
            }
            report.smallest_pivot = std::min(report.smallest_pivot, solve.smallest_pivot);
        }
    return report;
}

template <class T>
EvalReport Workspace<T>::run() {
    if (run_whole(slots_.data() + program_->stream_begin, outputs_.data())) return whole_report();
    return execute(false, false);
}

template <class T>
EvalReport Workspace<T>::run_interpreted() {
    return execute(false, true);
}

template <class T>
EvalReport Workspace<T>::run_poisoned() {
    return execute(true, true);
}

template class Workspace<double>;
template class Workspace<std::complex<double>>;
template class Workspace<Digits50>;

}  // namespace appell
