#include "jit/native_code.hpp"

#include <math.h>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <utility>

#include "expr/evaluate.hpp"
#include "jit/code_memory.hpp"
#include "jit/lane_code.hpp"
#include "jit/segment_schedule.hpp"
#include "jit/x86_64_assembler.hpp"
#include "tape/closed_solve.hpp"

namespace appell {

namespace {

constexpr int k_none = -1;
constexpr std::uint32_t k_never = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint32_t k_no_place = k_never;
// memory is addressed by 31 bits of offset
constexpr std::size_t k_most_doubles = std::size_t(1) << 27;
// programs are also made in one piece up to here; beyond, what is saved around the pieces does not show
constexpr std::size_t k_most_whole = 5000;

// Code that is fetched from far away gains nothing over the interpreter's table where it is the longer of the two: few, short
// operations on many numbers.
constexpr std::size_t k_most_cached = std::size_t(1) << 20;
bool is_worth_its_code(const Segment& segment, std::size_t bytes) {
    std::size_t count = 0;
    for (const InstructionRun& run : segment.runs) count += run.end - run.begin;
    return bytes <= k_most_cached || bytes <= sizeof(Instruction) * count;
}

// the interpreter's formulas as functions
template <Op op>
double called(double x, double y, double z) {
    return apply_op<double>(op, x, y, z);
}

const void* function_of(Op op) {
    using Function = double (*)(double, double, double);
    Function found = nullptr;
    switch (op) {
#define APPELL_LEAF(Name)
#define APPELL_STRUCTURE(Name, arity)
#define APPELL_VECTOR(Name, arity)
#define APPELL_OP(Name, text, arity, value, dx, dy, dz) \
    case Op::Name:                                      \
        found = called<Op::Name>;                       \
        break;
#include "expr/ops.def"
#undef APPELL_LEAF
#undef APPELL_STRUCTURE
#undef APPELL_VECTOR
#undef APPELL_OP
        default: break;
    }
    return reinterpret_cast<const void*>(found);
}

// Both of an angle for little more than one: the C library computes them by the same steps as each alone, which a test confirms.
double sine_with_cosine(double x, double* cosine) {
    double sine = 0;
    ::sincos(x, &sine, cosine);
    return sine;
}
double cosine_with_sine(double x, double* sine) {
    double cosine = 0;
    ::sincos(x, sine, &cosine);
    return cosine;
}

// the same for numbers of several lanes
template <Op op, std::size_t lanes>
void called_in_lanes(double* out, const double* x, const double* y, const double* z) {
    for (std::size_t k = 0; k < lanes; ++k) out[k] = called<op>(x[k], y[k], z[k]);
}

template <std::size_t lanes>
const void* function_in_lanes(Op op) {
    using Function = void (*)(double*, const double*, const double*, const double*);
    Function found = nullptr;
    switch (op) {
#define APPELL_LEAF(Name)
#define APPELL_STRUCTURE(Name, arity)
#define APPELL_VECTOR(Name, arity)
#define APPELL_OP(Name, text, arity, value, dx, dy, dz) \
    case Op::Name:                                      \
        found = called_in_lanes<Op::Name, lanes>;       \
        break;
#include "expr/ops.def"
#undef APPELL_LEAF
#undef APPELL_STRUCTURE
#undef APPELL_VECTOR
#undef APPELL_OP
        default: break;
    }
    return reinterpret_cast<const void*>(found);
}

template <std::size_t lanes>
void sines_with_cosines(double* sine, double* cosine, const double* x) {
    for (std::size_t k = 0; k < lanes; ++k) ::sincos(x[k], &sine[k], &cosine[k]);
}

// constants stand before the code: a mask of 16 bytes, one, and what guards need
constexpr std::size_t k_sign_mask = 0, k_one = 16, k_zero = 24, k_first_guard = 32;
// of several lanes: the mask and one, each for all of them
constexpr std::size_t k_one_in_lanes = 64;

// the numbers that pivots are compared with, each once
class GuardNumbers {
public:
    explicit GuardNumbers(const Program& program) {
        for (const SolveBlock& block : program.solves) {
            for (const PivotGuard& guard : guards_of(block)) add(guard.least);
            add(least_square_of(block));
        }
    }
    [[nodiscard]] const std::vector<double>& all() const { return numbers_; }
    [[nodiscard]] std::size_t place(double number) const {
        const auto found = std::find(numbers_.begin(), numbers_.end(), number);
        return k_first_guard + 8 * static_cast<std::size_t>(found - numbers_.begin());
    }

private:
    void add(double number) {
        if (std::find(numbers_.begin(), numbers_.end(), number) == numbers_.end()) numbers_.push_back(number);
    }
    std::vector<double> numbers_;
};

class SegmentCompiler {
public:
    SegmentCompiler(X86Assembler& out, const SegmentSchedule& schedule, LaneSines lane_sines = nullptr)
        : out_(out), s_(schedule), lane_sines_(lane_sines), next_use_(schedule.first_use.begin(), schedule.first_use.end() - 1) {
        register_of_.assign(s_.values.size(), k_none);
        spilled_.assign(s_.values.size(), k_no_place);
        holds_.fill(k_nothing);
    }

    // how many doubles of scratch memory it takes
    std::size_t run() {
        begin();
        out_.end_function();
        return scratch_;
    }

    // the same for a whole program, whose numbers somebody else looks at
    std::size_t run_unguarded(const Program& program) {
        list_outputs(program);
        begin();
        out_.end_function();
        return scratch_;
    }

    // the same for a whole program, whose pivots are looked at in the end
    std::size_t run_whole(const Program& program, const GuardNumbers& numbers) {
        list_outputs(program);
        paired_.assign(s_.outputs.size(), false);
        begin();
        std::vector<std::size_t> failures;
        const std::vector<Slot> plain = plain_pivots(program);
        if (!plain.empty()) {
            // the least of them above zero; their sum, in register 3, is looked at with the results
            out_.load(0, in_slots(plain.front()));
            out_.move(3, 0);
            for (std::size_t i = 1; i < plain.size(); ++i) {
                out_.arithmetic(Arithmetic::min, 0, in_slots(plain[i]));
                out_.arithmetic(Arithmetic::add, 3, in_slots(plain[i]));
            }
            out_.load_constant(1, k_zero);
            failures.push_back(out_.jump_unless_above(0, 1));
        }
        for (const SolveBlock& block : program.solves) {
            for (const PivotGuard& guard : guards_of(block)) look_at(guard, program, numbers, failures);
            if (const double least = least_square_of(block); least > 0) {
                out_.load(0, in_slots(block.closed.row_diagonal.front()));
                out_.move(1, 0);
                for (const Slot slot : block.closed.row_diagonal) {
                    out_.arithmetic(Arithmetic::min, 0, in_slots(slot));
                    out_.arithmetic(Arithmetic::max, 1, in_slots(slot));
                }
                out_.multiply_constant(1, numbers.place(least));
                failures.push_back(out_.jump_unless_above(0, 1));
            }
        }
        for (const auto& [more, less] : program.at_least) {
            out_.load(0, in_slots(more));
            failures.push_back(out_.jump_unless_at_least(0, in_slots(less)));
        }
        // What is not in pairs yet. The sum of the outputs, and that of the unknowns, is finite where all are; where only it is
        // not, the other way round is taken, and tells.
        std::array<bool, 2> begun{};  // pairs are summed up in registers 0 and 1
        const auto add_to_sum = [&](int pair, int sum) {
            if (std::exchange(begun[static_cast<std::size_t>(sum)], true))
                out_.add_pair(sum, pair);
            else if (pair != sum)
                out_.move(sum, pair);
        };
        if (!plain.empty()) add_to_sum(3, 1);  // nothing waits for it there
        const auto count = static_cast<std::uint32_t>(s_.outputs.size());
        for (std::uint32_t i = 0; i < count; i += 2) {
            // the last ones, which are ready last, come to what all others add up to
            const bool last = i + 2 >= count && begun[0] && begun[1];
            if (last && std::exchange(begun[1], false)) out_.add_pair(0, 1);
            const int sum = last ? 0 : static_cast<int>(i / 2 % 2);
            const int pair = begun[static_cast<std::size_t>(sum)] ? 4 + static_cast<int>(i / 2 % 4) : sum;
            if (paired_[i]) {
                out_.load_pair(pair, output(i));
            } else {
                out_.load(pair, output(i));  // the other half is zero
                if (i + 1 < count) {
                    out_.load_second(pair, output(i + 1));
                    out_.store_pair(output(i), pair);
                }
            }
            add_to_sum(pair, sum);
        }
        for (const SolveBlock& block : program.solves)
            for (const std::vector<Slot>* list : {&block.closed.x, &block.closed.lambda})
                for (const Slot slot : *list)
                    if (const ValueId v = value_kept_in(slot); v != k_nothing) {
                        out_.load(4, memory_of(v));
                        add_to_sum(4, 0);
                    }
        if (begun[1]) out_.add_pair(0, 1);
        if (begun[0]) {
            out_.move(1, 0);
            out_.take_second(1);
            out_.arithmetic(Arithmetic::add, 0, 1);
            out_.arithmetic(Arithmetic::sub, 0, 0);
            failures.push_back(out_.jump_unless_number(0));
        }
        out_.return_value(1);
        out_.end_function();
        for (const std::size_t jump : failures) out_.land(jump);
        out_.return_value(0);
        out_.end_function();
        return scratch_;
    }

private:
    using Memory = X86Assembler::Memory;
    using Arithmetic = X86Assembler::Arithmetic;
    static constexpr ValueId k_nothing = std::numeric_limits<ValueId>::max();

    void begin() {
        find_partners();
        out_.begin_function(s_.calls);
        if (!output_indices_.empty()) store_given_outputs();
        for (std::uint32_t place = 0; place < s_.order.size(); ++place) compute(place);
    }

    // ---- what ends a whole program

    static Memory in_slots(Slot slot) { return {X86Assembler::Base::slots, slot}; }
    // of which nothing was taken off: above a part of themselves where they are finite and above zero; each once
    static std::vector<Slot> plain_pivots(const Program& program) {
        std::vector<Slot> out;
        for (const SolveBlock& block : program.solves)
            for (const PivotGuard& guard : guards_of(block))
                for (std::size_t i = 0; i < guard.pivots->size(); ++i)
                    if (const Slot pivot = (*guard.pivots)[i]; pivot == (*guard.diagonals)[i] && !program.is_steady(pivot) &&
                                                               std::find(out.begin(), out.end(), pivot) == out.end())
                        out.push_back(pivot);
        return out;
    }
    // NOTE: steady pivots are looked at when parameters change (Workspace::settle)
    void look_at(const PivotGuard& guard, const Program& program, const GuardNumbers& numbers,
                 std::vector<std::size_t>& failures) {
        bool zero_at_hand = false;
        for (std::size_t i = 0; i < guard.pivots->size(); ++i) {
            const Slot pivot = (*guard.pivots)[i], diagonal = (*guard.diagonals)[i];
            if (pivot == diagonal || guard.is_steady(i, program)) continue;
            if (!std::exchange(zero_at_hand, true)) out_.load_constant(1, k_zero);
            out_.load(0, in_slots(diagonal));
            out_.load(2, in_slots(pivot));
            failures.push_back(out_.jump_unless_above(0, 1));
            out_.multiply_constant(0, numbers.place(guard.least));
            failures.push_back(out_.jump_unless_above(2, 0));
        }
    }
    // of a closed form's unknowns: those that are no outputs
    [[nodiscard]] ValueId value_kept_in(Slot slot) const {
        for (ValueId v = 0; v < s_.values.size(); ++v)
            if (s_.values[v].slot == slot && s_.values[v].kept && output_indices_[v].empty()) return v;
        return k_nothing;
    }

    // ---- outputs, of a whole program

    static Memory output(std::uint32_t i) { return {X86Assembler::Base::outputs, i}; }
    void list_outputs(const Program& program) {
        stream_begin_ = program.stream_begin;
        output_indices_.resize(s_.values.size());
        for (std::uint32_t i = 0; i < s_.outputs.size(); ++i) output_indices_[s_.outputs[i]].push_back(i);
    }
    [[nodiscard]] bool is_given(std::uint32_t i) const { return s_.values[s_.outputs[i]].op == Op::Constant; }
    // before anything is computed
    void store_given_outputs() {
        const auto count = static_cast<std::uint32_t>(s_.outputs.size());
        for (std::uint32_t i = 0; i < count; ++i) {
            if (!is_given(i)) continue;
            const int reg = static_cast<int>(i / 2 % 8);
            out_.load(reg, memory_of(s_.outputs[i]));
            if (!paired_.empty() && i % 2 == 0 && i + 1 < count && is_given(i + 1)) {
                out_.load_second(reg, memory_of(s_.outputs[i + 1]));
                out_.store_pair(output(i), reg);
                paired_[i++] = true;
            } else {
                out_.store(output(i), reg);
            }
        }
    }
    // Two by two, where the other one is at hand: who reads them in pairs would wait for halves that were stored alone.
    void store_output(std::uint32_t i, int reg) {
        const std::uint32_t other = i ^ 1u;
        const int pair = paired_.empty() || other >= s_.outputs.size() ? k_none : free_register();
        const int at_hand = pair == k_none ? k_none : register_of_[s_.outputs[other]];
        if (pair == k_none || (at_hand == k_none && !is_given(other))) return out_.store(output(i), reg);
        const bool first = i < other;
        if (first || at_hand != k_none)
            out_.move(pair, first ? reg : at_hand);
        else
            out_.load(pair, memory_of(s_.outputs[other]));
        if (!first || at_hand != k_none)
            out_.join(pair, first ? at_hand : reg);
        else
            out_.load_second(pair, memory_of(s_.outputs[other]));
        out_.store_pair(output(std::min(i, other)), pair);
        paired_[std::min(i, other)] = true;
    }
    void store_outputs(ValueId v, int reg) {
        if (output_indices_.empty()) return;
        for (const std::uint32_t i : output_indices_[v]) store_output(i, reg);
    }
    // an output that is computed stays in its register, as long as nobody needs it, for the other one of its pair
    [[nodiscard]] bool waits_for_its_pair(ValueId v) const {
        if (paired_.empty()) return false;
        return std::ranges::any_of(output_indices_[v], [&](std::uint32_t i) { return !paired_[i & ~1u]; });
    }

    // the sine and the cosine of one angle
    void find_partners() {
        partner_.assign(s_.values.size(), k_nothing);
        if (!s_.calls) return;
        std::vector<std::array<ValueId, 2>> of_angle(s_.values.size(), {k_nothing, k_nothing});
        for (const ValueId v : s_.order)
            if (s_.values[v].op == Op::Sin || s_.values[v].op == Op::Cos)
                of_angle[s_.values[v].operands[0]][s_.values[v].op == Op::Sin ? 0 : 1] = v;
        for (const std::array<ValueId, 2>& both : of_angle)
            if (both[0] != k_nothing && both[1] != k_nothing) {
                partner_[both[0]] = both[1];
                partner_[both[1]] = both[0];
            }
    }

    // ---- where values are

    [[nodiscard]] bool in_slot(ValueId v) const { return s_.values[v].kept && (s_.values[v].op == Op::Constant || stored(v)); }
    [[nodiscard]] bool stored(ValueId v) const { return spilled_[v] == k_in_slot; }
    [[nodiscard]] bool in_memory(ValueId v) const { return spilled_[v] != k_no_place || s_.values[v].op == Op::Constant; }
    [[nodiscard]] Memory memory_of(ValueId v) const {
        if (s_.values[v].streamed) return {X86Assembler::Base::stream, s_.values[v].slot - stream_begin_};
        if (in_slot(v)) return {X86Assembler::Base::slots, s_.values[v].slot};
        return {X86Assembler::Base::scratch, spilled_[v]};
    }
    [[nodiscard]] std::uint32_t next_use(ValueId v) const {
        return next_use_[v] < s_.first_use[v + 1] ? s_.uses[next_use_[v]] : k_never;
    }

    void hold(int reg, ValueId v) {
        holds_[static_cast<std::size_t>(reg)] = v;
        register_of_[v] = reg;
    }
    void release(int reg) {
        ValueId& v = holds_[static_cast<std::size_t>(reg)];
        if (v != k_nothing) register_of_[v] = k_none;
        v = k_nothing;
    }
    void place_in_scratch(ValueId v) {
        if (free_scratch_.empty()) {
            spilled_[v] = static_cast<std::uint32_t>(scratch_++);
        } else {
            spilled_[v] = free_scratch_.back();
            free_scratch_.pop_back();
        }
    }
    void save(ValueId v) {
        if (in_memory(v)) return;
        place_in_scratch(v);
        out_.store(memory_of(v), register_of_[v]);
    }

    // A register that is free, or else the one whose value is not needed for longest; `keep` are in use now.
    int take_register(std::initializer_list<int> keep) {
        int best = k_none;
        std::uint32_t farthest = 0;
        for (int reg = 0; reg < X86Assembler::k_registers; ++reg) {
            const ValueId v = holds_[static_cast<std::size_t>(reg)];
            bool kept = false;
            for (const int other : keep) kept = kept || other == reg;
            if (kept) continue;
            if (v == k_nothing) return reg;
            if (best == k_none || next_use(v) > farthest) {
                best = reg;
                farthest = next_use(v);
            }
        }
        if (farthest != k_never) save(holds_[static_cast<std::size_t>(best)]);
        release(best);
        return best;
    }
    [[nodiscard]] int free_register() const {
        for (int reg = 0; reg < X86Assembler::k_registers; ++reg)
            if (holds_[static_cast<std::size_t>(reg)] == k_nothing) return reg;
        return k_none;
    }

    void load_into(int reg, ValueId v) {
        if (register_of_[v] == reg) return;
        if (register_of_[v] != k_none)
            out_.move(reg, register_of_[v]);
        else
            out_.load(reg, memory_of(v));
    }
    // a value that is needed again is better in a register, if there is one
    void fetch(ValueId v) {
        if (register_of_[v] != k_none || next_use(v) == k_never) return;
        if (const int reg = free_register(); reg != k_none) {
            out_.load(reg, memory_of(v));
            hold(reg, v);
        }
    }
    void arithmetic(Arithmetic op, int reg, ValueId v) {
        if (register_of_[v] != k_none)
            out_.arithmetic(op, reg, register_of_[v]);
        else
            out_.arithmetic(op, reg, memory_of(v));
    }

    // ---- instructions

    // next uses from here on are those behind `place`
    void pass(std::uint32_t place, const SegmentValue& value) {
        for (std::uint8_t k = 0; k < value.arity; ++k) {
            const ValueId v = value.operands[k];
            while (next_use(v) <= place) ++next_use_[v];
        }
    }
    // operands that are not needed any more leave their places
    void leave(const SegmentValue& value) {
        for (std::uint8_t k = 0; k < value.arity; ++k) {
            const ValueId v = value.operands[k];
            if (next_use(v) != k_never) continue;
            if (register_of_[v] != k_none && !waits_for_its_pair(v)) release(register_of_[v]);
            if (spilled_[v] != k_no_place && spilled_[v] != k_in_slot) {
                free_scratch_.push_back(spilled_[v]);
                spilled_[v] = k_no_place;
            }
        }
    }

    void compute(std::uint32_t place) {
        const ValueId id = s_.order[place];
        const SegmentValue& value = s_.values[id];
        pass(place, value);
        int reg = 0;
        if (spilled_[id] != k_no_place)  // it came with its partner
            out_.load(reg = take_register({}), memory_of(id));
        else if (!is_inlined(value.op))
            reg = call(id, value);
        else if (value.op == Op::PowInt)
            reg = power(value);
        else if (value.arity == 2)
            reg = binary(value);
        else
            reg = unary(value);
        // what was in the register was saved, or is not needed any more
        release(reg);
        leave(value);
        hold(reg, id);
        if (value.kept) {
            out_.store(in_slots(value.slot), reg);
            if (spilled_[id] != k_no_place) free_scratch_.push_back(spilled_[id]);
            spilled_[id] = k_in_slot;
        }
        store_outputs(id, reg);
        if (next_use(id) == k_never && !waits_for_its_pair(id)) release(reg);
    }

    // the register of an operand that may be overwritten, or k_none
    [[nodiscard]] int last_of(ValueId v) const { return next_use(v) == k_never ? register_of_[v] : k_none; }

    int binary(const SegmentValue& value) {
        ValueId a = value.operands[0], b = value.operands[1];
        const Arithmetic op = value.op == Op::Add   ? Arithmetic::add
                              : value.op == Op::Sub ? Arithmetic::sub
                              : value.op == Op::Mul ? Arithmetic::mul
                                                    : Arithmetic::div;
        const bool commutes = value.op == Op::Add || value.op == Op::Mul;
        if (commutes && last_of(a) == k_none && (last_of(b) != k_none || register_of_[a] == k_none)) std::swap(a, b);
        fetch(b);
        int reg = last_of(a);
        // overwriting a must leave b as it is
        if (reg == k_none || (a != b && register_of_[b] == reg)) {
            reg = take_register({register_of_[a], register_of_[b]});
            load_into(reg, a);
        }
        if (a == b && register_of_[a] == k_none)
            out_.arithmetic(op, reg, reg);
        else
            arithmetic(op, reg, b);
        return reg;
    }

    int unary(const SegmentValue& value) {
        const ValueId a = value.operands[0];
        if (value.op == Op::Abs) {
            // the larger of -a and a: of zeros and of what is not a number it is a, as abs_value has it
            const int reg = take_register({register_of_[a]});
            load_into(reg, a);
            out_.flip_sign(reg, k_sign_mask);
            arithmetic(Arithmetic::max, reg, a);
            return reg;
        }
        int reg = last_of(a);
        if (reg == k_none) {
            reg = take_register({register_of_[a]});
            if (value.op == Op::Neg) load_into(reg, a);
        }
        if (value.op == Op::Neg)
            out_.flip_sign(reg, k_sign_mask);
        else
            arithmetic(Arithmetic::sqrt, reg, a);
        return reg;
    }

    // as int_power of scalar_math.hpp multiplies
    int power(const SegmentValue& value) {
        const ValueId a = value.operands[0];
        const int n = value.exponent;
        const int base = take_register({register_of_[a]});
        if (n < 0) {
            out_.load_constant(base, one());
            arithmetic(Arithmetic::div, base, a);
        } else {
            load_into(base, a);
        }
        int result = k_none;
        for (unsigned k = n < 0 ? 0u - static_cast<unsigned>(n) : static_cast<unsigned>(n); k != 0; k >>= 1) {
            if ((k & 1u) != 0 && k == 1) {  // the last factor
                if (result == k_none) return base;
                out_.arithmetic(Arithmetic::mul, result, base);
                return result;
            }
            if ((k & 1u) != 0) {
                if (result == k_none) {
                    result = take_register({register_of_[a], base});
                    out_.move(result, base);
                } else {
                    out_.arithmetic(Arithmetic::mul, result, base);
                }
            }
            out_.arithmetic(Arithmetic::mul, base, base);
        }
        out_.load_constant(base, one());  // x^0
        return base;
    }

    [[nodiscard]] std::size_t one() const { return out_.packed() ? k_one_in_lanes : k_one; }

    // operands and results are in memory
    int call_in_lanes(ValueId id, const SegmentValue& value) {
        for (int reg = 0; reg < X86Assembler::k_registers; ++reg)
            if (holds_[static_cast<std::size_t>(reg)] != k_nothing) save(holds_[static_cast<std::size_t>(reg)]);
        const bool eight = out_.lanes() == X86Assembler::Lanes::eight;
        const ValueId other = partner_[id];
        place_in_scratch(id);
        const Memory result{X86Assembler::Base::scratch, spilled_[id]};
        out_.point_at(result, 0);
        if (other != k_nothing) {
            place_in_scratch(other);
            const bool sine = value.op == Op::Sin;
            out_.point_at(memory_of(other), sine ? 1 : 0);
            if (!sine) out_.point_at(result, 1);
            out_.point_at(memory_of(value.operands[0]), 2);
            out_.call(!eight        ? reinterpret_cast<const void*>(sines_with_cosines<4>)
                      : lane_sines_ ? reinterpret_cast<const void*>(lane_sines_)
                                    : reinterpret_cast<const void*>(sines_with_cosines<8>));
        } else {
            for (std::uint8_t k = 0; k < 3; ++k)
                out_.point_at(memory_of(value.operands[k < value.arity ? k : 0]), std::size_t(1) + k);
            out_.call(eight ? function_in_lanes<8>(value.op) : function_in_lanes<4>(value.op));
        }
        for (int reg = 0; reg < X86Assembler::k_registers; ++reg) release(reg);
        out_.load(0, result);
        return 0;
    }

    int call(ValueId id, const SegmentValue& value) {
        if (out_.packed()) return call_in_lanes(id, value);
        for (int reg = 0; reg < X86Assembler::k_registers; ++reg) {
            const ValueId v = holds_[static_cast<std::size_t>(reg)];
            if (v == k_nothing) continue;
            bool argument = false;
            for (std::uint8_t k = 0; k < value.arity; ++k) argument = argument || value.operands[k] == v;
            // several arguments come from memory, so that none is overwritten by the others
            if (next_use(v) != k_never || (argument && value.arity > 1)) save(v);
        }
        if (value.arity == 1)
            load_into(0, value.operands[0]);
        else
            for (std::uint8_t k = 0; k < value.arity; ++k) out_.load(k, memory_of(value.operands[k]));
        if (const ValueId other = partner_[id]; other != k_nothing) {
            place_in_scratch(other);
            out_.point_at(memory_of(other));
            out_.call(value.op == Op::Sin ? reinterpret_cast<const void*>(sine_with_cosine)
                                          : reinterpret_cast<const void*>(cosine_with_sine));
        } else {
            out_.call(function_of(value.op));
        }
        for (int reg = 0; reg < X86Assembler::k_registers; ++reg) release(reg);
        return 0;
    }

    static constexpr std::uint32_t k_in_slot = k_no_place - 1;

    Slot stream_begin_ = 0;
    std::vector<std::vector<std::uint32_t>> output_indices_;  // by value, of a whole program
    std::vector<bool> paired_;                                // by even output: both of the pair are stored, as a pair
    std::vector<ValueId> partner_;                            // by value

    X86Assembler& out_;
    const SegmentSchedule& s_;
    LaneSines lane_sines_;
    std::vector<std::uint32_t> next_use_;  // by value, into uses
    std::vector<int> register_of_;
    std::vector<std::uint32_t> spilled_;  // by value: where in the scratch memory, k_in_slot, or nowhere
    std::array<ValueId, X86Assembler::k_registers> holds_{};
    std::vector<std::uint32_t> free_scratch_;
    std::size_t scratch_ = 0;
};

}  // namespace

std::shared_ptr<const LaneCode> make_lane_code([[maybe_unused]] const Program& program, [[maybe_unused]] bool eight,
                                               [[maybe_unused]] LaneSines sines) {
#if defined(__x86_64__) && defined(__unix__)
    if (program.slots > k_most_doubles / 8) return nullptr;
    X86Assembler out(eight ? X86Assembler::Lanes::eight : X86Assembler::Lanes::four);
    for (int i = 0; i < 8; ++i) out.number(std::bit_cast<std::uint64_t>(-0.0), 8);
    for (int i = 0; i < 8; ++i) out.number(std::bit_cast<std::uint64_t>(1.0), 8);
    auto code = std::make_shared<LaneCode>();
    SegmentSchedule schedule;
    std::vector<std::size_t> entries;
    if (schedule_program(program, 0, schedule)) {
        entries.push_back(out.size());
        code->whole = true;
        code->scratch = SegmentCompiler(out, schedule, sines).run_unguarded(program);
    } else {
        for (const Segment& segment : program.segments) {
            if (!schedule_segment(program, segment, schedule)) return nullptr;
            out.align(64);
            entries.push_back(out.size());
            code->scratch = std::max(code->scratch, SegmentCompiler(out, schedule, sines).run());
        }
    }
    if (code->scratch > k_most_doubles / 8 || out.size() > std::numeric_limits<std::int32_t>::max()) return nullptr;
    code->memory = executable_copy(out.code());
    if (!code->memory) return nullptr;
    const auto* const begin = static_cast<const std::uint8_t*>(code->memory.get());
    for (const std::size_t entry : entries)
        code->functions.push_back(reinterpret_cast<LaneCode::Function>(const_cast<std::uint8_t*>(begin + entry)));
    code->step = eight ? 8 : 4;
    return code;
#else
    return nullptr;
#endif
}

void add_native_code([[maybe_unused]] Program& program) {
#if defined(__x86_64__) && defined(__unix__)
    if (program.instructions.empty() || program.slots > k_most_doubles) return;
    X86Assembler out;
    const auto number = [&](double value) { out.number(std::bit_cast<std::uint64_t>(value), 8); };
    const GuardNumbers numbers(program);
    number(-0.0);
    out.number(0, 8);
    number(1.0);
    number(0.0);
    for (const double least : numbers.all()) number(least);
    std::vector<std::size_t> entries;
    std::size_t scratch = 0, whole = 0;
    SegmentSchedule schedule;
    for (const Segment& segment : program.segments) {
        const bool possible = schedule_segment(program, segment, schedule);
        out.align(16);
        const std::size_t begin = out.size();
        const std::size_t needed = possible ? SegmentCompiler(out, schedule).run() : 0;
        const bool worth_it = possible && is_worth_its_code(segment, out.size() - begin);
        if (!worth_it) out.discard_from(begin);
        entries.push_back(worth_it ? begin : 0);
        if (worth_it) scratch = std::max(scratch, needed);
    }
    if (program.instructions.size() <= k_most_whole && schedule_program(program, program.steady_segments, schedule)) {
        out.align(64);
        whole = out.size();
        scratch = std::max(scratch, SegmentCompiler(out, schedule).run_whole(program, numbers));
    }
    if (scratch > k_most_doubles || out.size() > std::numeric_limits<std::int32_t>::max()) return;
    const std::shared_ptr<const std::uint8_t> memory = executable_copy(out.code());
    if (!memory) return;
    const auto entered = [&](std::size_t entry) { return const_cast<std::uint8_t*>(memory.get() + entry); };
    auto native = std::make_shared<NativeCode>();
    for (const std::size_t entry : entries)
        native->segments.push_back(entry == 0 ? nullptr : reinterpret_cast<NativeCode::Function>(entered(entry)));
    if (whole != 0) native->whole = reinterpret_cast<NativeCode::Whole>(entered(whole));
    native->scratch = scratch;
    native->bytes = out.size();
    native->memory = memory;
    program.native = std::move(native);
#endif
}

}  // namespace appell
