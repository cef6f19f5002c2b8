#include "jit/program_compiler.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/error.hpp"

namespace appell {

ProgramCompiler::ProgramCompiler(X86Assembler& out, const SegmentSchedule& schedule, const Program& program, LaneSines lane_sines)
    : SegmentCompiler(out, schedule, lane_sines), output_indices_(schedule.values.size()) {
    stream_begin_ = program.stream_begin;
    for (std::uint32_t i = 0; i < outputs(); ++i) output_indices_[s_.outputs[i]].push_back(i);
}

void ProgramCompiler::begin() {
    for (std::uint32_t i = 0; i < outputs(); ++i)
        if (is_given(i)) {
            const int reg = take_register();
            out_.load(reg, memory_of(s_.outputs[i]));
            out_.store(output(i), reg);
        }
}

void ProgramCompiler::computed(ValueId v, int reg) {
    for (const std::uint32_t i : output_indices_[v]) out_.store(output(i), reg);
}

// ---------------------------------------------------------------- numbers of guards

GuardNumbers::GuardNumbers(const Program& program) {
    const auto add = [&](double number) {
        if (std::ranges::find(numbers_, number) == numbers_.end()) numbers_.push_back(number);
    };
    for (const SolveBlock& block : program.solves) {
        for (const PivotGuard& guard : guards_of(block)) add(guard.least);
        add(least_square_of(block));
    }
}

void GuardNumbers::put(X86Assembler& out) const {
    for (const double number : numbers_) out.number(std::bit_cast<std::uint64_t>(number), 8);
}

std::size_t GuardNumbers::place(double number) const {
    return k_constants_end + 8 * static_cast<std::size_t>(std::ranges::find(numbers_, number) - numbers_.begin());
}

// ---------------------------------------------------------------- outputs in pairs

void GuardedProgramCompiler::store_alone(std::uint32_t i, int reg) {
    out_.store(output(i), reg);
    stored_[i] = Stored::alone;
}

void GuardedProgramCompiler::store_pair(std::uint32_t first, int pair) {
    out_.store_pair(output(first), pair);
    stored_[first] = stored_[first + 1] = Stored::in_pair;
    remember(pair, first);  // for the look at the results
}

// before anything is computed
void GuardedProgramCompiler::begin() {
    for (std::uint32_t i = 0; i < outputs(); i += 2) {
        const bool both = has_other(i) && is_given(i + 1);
        if (!is_given(i) || (!both && has_other(i))) continue;  // with what is computed
        const int reg = take_register();
        out_.load(reg, memory_of(s_.outputs[i]));
        if (!both) {
            store_alone(i, reg);
            continue;
        }
        out_.load_second(reg, memory_of(s_.outputs[i + 1]));
        store_pair(i, reg);
    }
}

// An output waits in its register for the other one of its pair.
void GuardedProgramCompiler::store(std::uint32_t i, int reg) {
    const std::uint32_t other = i ^ 1u;
    if (!has_other(i)) return store_alone(i, reg);
    if (stored_[i] == Stored::in_pair) return;  // both are one value
    const ValueId value = s_.outputs[other];
    const int at_hand = register_of(value);
    if (at_hand == k_none && !is_given(other) && stored_[other] == Stored::not_yet) return;
    const int pair = take_register({reg, at_hand});
    const Memory from = is_given(other) ? memory_of(value) : output(other);
    if (i < other) {
        out_.move(pair, reg);
        at_hand != k_none ? out_.join(pair, at_hand) : out_.load_second(pair, from);
    } else {
        at_hand != k_none ? out_.move(pair, at_hand) : out_.load(pair, from);
        out_.join(pair, reg);
    }
    store_pair(std::min(i, other), pair);
    if (at_hand != k_none) release_if_idle(value);
}

void GuardedProgramCompiler::computed(ValueId v, int reg) {
    for (const std::uint32_t i : outputs_of(v)) store(i, reg);
}

bool GuardedProgramCompiler::is_waited_for(ValueId v) const {
    return std::ranges::any_of(outputs_of(v), [&](std::uint32_t i) { return stored_[i] == Stored::not_yet && !is_given(i); });
}

void GuardedProgramCompiler::leaves(ValueId v, int reg) {
    for (const std::uint32_t i : outputs_of(v))
        if (stored_[i] == Stored::not_yet && !is_given(i)) store_alone(i, reg);
}

// ---------------------------------------------------------------- the look at the numbers
//
// NOTE: steady pivots were looked at when the parameters changed (Workspace::settle).

void GuardedProgramCompiler::end() {
    APPELL_ASSERT(std::ranges::none_of(stored_, [](Stored s) { return s == Stored::not_yet; }), "an output is not stored");
    for (int& reg : work_) reg = reserve_register();
    const bool pivots_are_summed = look_at_plain_pivots();
    for (const SolveBlock& block : program_.solves) {
        for (const PivotGuard& guard : guards_of(block)) look_at(guard);
        look_at_squares(block);
    }
    for (const auto& [more, less] : program_.at_least) {
        out_.load(work_[0], in_slots(more));
        failures_.push_back(out_.jump_unless_at_least(work_[0], in_slots(less)));
    }
    look_at_results(pivots_are_summed);
    out_.return_value(1);
    out_.end_function();
    for (const std::size_t jump : failures_) out_.land(jump);
    out_.return_value(0);
    out_.end_function();
}

// Pivots of which nothing was taken off are above a part of themselves where they are finite and above zero. The least of them is
// looked at here; their sum stays in the last register of work_, for the look at what is finite.
bool GuardedProgramCompiler::look_at_plain_pivots() {
    std::vector<Slot> plain;  // each once
    for (const SolveBlock& block : program_.solves)
        for (const PivotGuard& guard : guards_of(block))
            for (std::size_t i = 0; i < guard.pivots->size(); ++i)
                if (const Slot pivot = (*guard.pivots)[i]; pivot == (*guard.diagonals)[i] && !program_.is_steady(pivot) &&
                                                           std::ranges::find(plain, pivot) == plain.end())
                    plain.push_back(pivot);
    if (plain.empty()) return false;
    const int least = work_[0], zero = work_[1], sum = work_.back();
    out_.load(sum, in_slots(plain.front()));
    out_.move(least, sum);
    for (std::size_t i = 1; i < plain.size(); ++i) {
        out_.arithmetic(Arithmetic::min, least, in_slots(plain[i]));
        out_.arithmetic(Arithmetic::add, sum, in_slots(plain[i]));
    }
    out_.load_constant(zero, k_zero);
    failures_.push_back(out_.jump_unless_above(least, zero));
    return true;
}

void GuardedProgramCompiler::look_at(const PivotGuard& guard) {
    const int at = work_[0], zero = work_[1], left = work_[2];
    bool zero_is_there = false;
    for (std::size_t i = 0; i < guard.pivots->size(); ++i) {
        const Slot pivot = (*guard.pivots)[i], diagonal = (*guard.diagonals)[i];
        if (pivot == diagonal || guard.is_steady(i, program_)) continue;
        if (!std::exchange(zero_is_there, true)) out_.load_constant(zero, k_zero);
        out_.load(at, in_slots(diagonal));
        out_.load(left, in_slots(pivot));
        failures_.push_back(out_.jump_unless_above(at, zero));
        out_.multiply_constant(at, numbers_.place(guard.least));
        failures_.push_back(out_.jump_unless_above(left, at));
    }
}

void GuardedProgramCompiler::look_at_squares(const SolveBlock& block) {
    const double least = least_square_of(block);
    if (!(least > 0)) return;
    const int shortest = work_[0], longest = work_[1];
    out_.load(shortest, in_slots(block.closed.row_diagonal.front()));
    out_.move(longest, shortest);
    for (const Slot slot : block.closed.row_diagonal) {
        out_.arithmetic(Arithmetic::min, shortest, in_slots(slot));
        out_.arithmetic(Arithmetic::max, longest, in_slots(slot));
    }
    out_.multiply_constant(longest, numbers_.place(least));
    failures_.push_back(out_.jump_unless_above(shortest, longest));
}

// of a closed form's unknowns: those that are no outputs
ValueId GuardedProgramCompiler::value_kept_in(Slot slot) const {
    for (ValueId v = 0; v < s_.values.size(); ++v)
        if (s_.values[v].slot == slot && s_.values[v].kept && outputs_of(v).empty()) return v;
    return k_nothing;
}

// The sum of the outputs, and of the unknowns, is finite where all are; where only it is not, the other way round is taken, and
// tells. Two sums, by pairs, so that additions wait less for each other.
void GuardedProgramCompiler::look_at_results(bool pivots_are_summed) {
    std::array<bool, 2> begun{};
    const auto add = [&](int pair, std::size_t sum) {
        if (std::exchange(begun[sum], true))
            out_.add_pair(work_[sum], pair);
        else if (pair != work_[sum])
            out_.move(work_[sum], pair);
    };
    if (pivots_are_summed) add(work_.back(), 1);  // nothing waits for it there
    const auto join_sums = [&] {
        if (begun[0] && std::exchange(begun[1], false)) out_.add_pair(work_[0], work_[1]);
    };
    for (std::uint32_t i = 0; i < outputs(); i += 2) {
        // the last ones, which are ready last, come to what all others add up to
        const bool last = i + 2 >= outputs() && begun[0] && begun[1];
        if (last) join_sums();
        const std::size_t sum = last ? 0 : i / 2 % 2;
        int pair = remembered(i);
        if (pair == k_none) {
            pair = begun[sum] ? work_[2 + i / 2 % 2] : work_[sum];
            if (has_other(i))
                out_.load_pair(pair, output(i));
            else
                out_.load(pair, output(i));  // the other half is zero
        }
        add(pair, sum);
    }
    for (const SolveBlock& block : program_.solves)
        for (const std::vector<Slot>* list : {&block.closed.x, &block.closed.lambda})
            for (const Slot slot : *list)
                if (const ValueId v = value_kept_in(slot); v != k_nothing) {
                    out_.load(work_[2], memory_of(v));
                    add(work_[2], 0);
                }
    join_sums();
    const int sum = begun[0] ? work_[0] : work_[1], second = work_[2];
    if (!begun[0] && !begun[1]) return;
    out_.move(second, sum);
    out_.take_second(second);
    out_.arithmetic(Arithmetic::add, sum, second);
    out_.arithmetic(Arithmetic::sub, sum, sum);
    failures_.push_back(out_.jump_unless_number(sum));
}

}  // namespace appell
