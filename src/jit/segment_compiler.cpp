#include "jit/segment_compiler.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/error.hpp"
#include "jit/called_functions.hpp"

namespace appell {

void put_constants(X86Assembler& out) {
    const auto number = [&](double value) { out.number(std::bit_cast<std::uint64_t>(value), 8); };
    if (out.packed()) {
        for (int i = 0; i < 8; ++i) number(-0.0);
        for (int i = 0; i < 8; ++i) number(1.0);
    } else {
        number(-0.0);
        out.number(0, 8);
        number(1.0);
        number(0.0);
    }
}

SegmentCompiler::SegmentCompiler(X86Assembler& out, const SegmentSchedule& schedule, LaneSines lane_sines)
    : out_(out), s_(schedule), lane_sines_(lane_sines), next_use_(schedule.first_use.begin(), schedule.first_use.end() - 1) {
    register_of_.assign(s_.values.size(), k_none);
    spilled_.assign(s_.values.size(), k_no_place);
    holds_.fill(k_nothing);
    remembered_.fill(k_nothing);
}

std::size_t SegmentCompiler::run() {
    find_partners();
    out_.begin_function(s_.calls);
    begin();
    for (std::uint32_t place = 0; place < s_.order.size(); ++place) compute(place);
    end();
    return scratch_;
}

// the sine and the cosine of one angle
void SegmentCompiler::find_partners() {
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

// ---------------------------------------------------------------- where values are

SegmentCompiler::Memory SegmentCompiler::memory_of(ValueId v) const {
    const SegmentValue& value = s_.values[v];
    if (value.streamed) return {X86Assembler::Base::stream, value.slot - stream_begin_};
    if (value.kept && (value.op == Op::Constant || spilled_[v] == k_in_slot)) return in_slots(value.slot);
    return {X86Assembler::Base::scratch, spilled_[v]};
}

void SegmentCompiler::hold(int reg, ValueId v) {
    holds_[static_cast<std::size_t>(reg)] = v;
    register_of_[v] = reg;
}

void SegmentCompiler::release(int reg) {
    ValueId& v = holds_[static_cast<std::size_t>(reg)];
    if (v != k_nothing) register_of_[v] = k_none;
    v = k_nothing;
}

void SegmentCompiler::place_in_scratch(ValueId v) {
    if (free_scratch_.empty()) {
        spilled_[v] = static_cast<std::uint32_t>(scratch_++);
    } else {
        spilled_[v] = free_scratch_.back();
        free_scratch_.pop_back();
    }
}

void SegmentCompiler::save(ValueId v) {
    if (in_memory(v)) return;
    place_in_scratch(v);
    out_.store(memory_of(v), register_of_[v]);
}

int SegmentCompiler::remembered(std::uint32_t what) const {
    const auto found = std::ranges::find(remembered_, what);
    return found == remembered_.end() ? k_none : static_cast<int>(found - remembered_.begin());
}

// rather one in which nothing is remembered
int SegmentCompiler::unused_register(std::initializer_list<int> keep) {
    int found = k_none;
    for (int reg = 0; reg < X86Assembler::k_registers; ++reg) {
        const auto at = static_cast<std::size_t>(reg);
        if (holds_[at] != k_nothing || std::ranges::find(keep, reg) != keep.end()) continue;
        if (remembered_[at] == k_nothing) return reg;
        if (found == k_none) found = reg;
    }
    if (found != k_none) remember(found, k_nothing);
    return found;
}

int SegmentCompiler::reserve_register() {
    const int reg = unused_register({});
    APPELL_ASSERT(reg != k_none, "a value is still in every register");
    holds_[static_cast<std::size_t>(reg)] = k_reserved;
    return reg;
}

int SegmentCompiler::take_register(std::initializer_list<int> keep) {
    if (const int unused = unused_register(keep); unused != k_none) return unused;
    int best = k_none;
    std::uint32_t farthest = 0;
    for (int reg = 0; reg < X86Assembler::k_registers; ++reg) {
        if (std::ranges::find(keep, reg) != keep.end()) continue;
        const std::uint32_t next = next_use(holds_[static_cast<std::size_t>(reg)]);
        if (best != k_none && next <= farthest) continue;
        best = reg;
        farthest = next;
    }
    const ValueId v = holds_[static_cast<std::size_t>(best)];
    if (farthest != k_never) save(v);
    leaves(v, best);
    release(best);
    return best;
}

void SegmentCompiler::load_into(int reg, ValueId v) {
    if (register_of_[v] == reg) return;
    if (register_of_[v] != k_none)
        out_.move(reg, register_of_[v]);
    else
        out_.load(reg, memory_of(v));
}

// a value that is needed again is better in a register, if there is one
void SegmentCompiler::fetch(ValueId v) {
    if (register_of_[v] != k_none || next_use(v) == k_never) return;
    if (const int reg = free_register(); reg != k_none) {
        out_.load(reg, memory_of(v));
        hold(reg, v);
    }
}

void SegmentCompiler::arithmetic(Arithmetic op, int reg, ValueId v) {
    if (register_of_[v] != k_none)
        out_.arithmetic(op, reg, register_of_[v]);
    else
        out_.arithmetic(op, reg, memory_of(v));
}

// ---------------------------------------------------------------- instructions

// next uses from here on are those behind `place`
void SegmentCompiler::pass(std::uint32_t place, const SegmentValue& value) {
    for (std::uint8_t k = 0; k < value.arity; ++k) {
        const ValueId v = value.operands[k];
        while (next_use(v) <= place) ++next_use_[v];
    }
}

// operands that are not needed any more leave their places
void SegmentCompiler::leave(const SegmentValue& value) {
    for (std::uint8_t k = 0; k < value.arity; ++k) {
        const ValueId v = value.operands[k];
        if (next_use(v) != k_never) continue;
        release_if_idle(v);
        if (spilled_[v] != k_no_place && spilled_[v] != k_in_slot) {
            free_scratch_.push_back(spilled_[v]);
            spilled_[v] = k_no_place;
        }
    }
}

void SegmentCompiler::compute(std::uint32_t place) {
    const ValueId id = s_.order[place];
    const SegmentValue& value = s_.values[id];
    pass(place, value);
    int reg = 0;
    if (spilled_[id] != k_no_place)  // it came with its partner
        out_.load(reg = take_register(), memory_of(id));
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
    computed(id, reg);
    release_if_idle(id);
}

// the register of an operand that may be overwritten, or k_none
int SegmentCompiler::last_of(ValueId v) const { return next_use(v) == k_never && !is_waited_for(v) ? register_of_[v] : k_none; }

int SegmentCompiler::binary(const SegmentValue& value) {
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

int SegmentCompiler::unary(const SegmentValue& value) {
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
int SegmentCompiler::power(const SegmentValue& value) {
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

// operands and results are in memory
int SegmentCompiler::call_with_lanes(ValueId id, const SegmentValue& value) {
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
        out_.call(reinterpret_cast<const void*>(!eight        ? sines_with_cosines<4>
                                                : lane_sines_ ? lane_sines_
                                                              : sines_with_cosines<8>));
    } else {
        for (std::uint8_t k = 0; k < 3; ++k)
            out_.point_at(memory_of(value.operands[k < value.arity ? k : 0]), std::size_t(1) + k);
        out_.give_address(reinterpret_cast<const void*>(scalar_function(value.op)));
        out_.call(reinterpret_cast<const void*>(eight ? call_in_lanes<8> : call_in_lanes<4>));
    }
    for (int reg = 0; reg < X86Assembler::k_registers; ++reg) release(reg);
    out_.load(0, result);
    return 0;
}

int SegmentCompiler::call(ValueId id, const SegmentValue& value) {
    if (out_.packed()) return call_with_lanes(id, value);
    for (int reg = 0; reg < X86Assembler::k_registers; ++reg) {
        const ValueId v = holds_[static_cast<std::size_t>(reg)];
        if (v == k_nothing) continue;
        bool argument = false;
        for (std::uint8_t k = 0; k < value.arity; ++k) argument = argument || value.operands[k] == v;
        // several arguments come from memory, so that none is overwritten by the others
        if (next_use(v) != k_never || (argument && value.arity > 1)) save(v);
        leaves(v, reg);
    }
    if (value.arity == 1)
        load_into(0, value.operands[0]);
    else
        for (std::uint8_t k = 0; k < value.arity; ++k) out_.load(k, memory_of(value.operands[k]));
    if (const ValueId other = partner_[id]; other != k_nothing) {
        place_in_scratch(other);
        out_.point_at(memory_of(other));
        out_.call(reinterpret_cast<const void*>(value.op == Op::Sin ? sine_with_cosine : cosine_with_sine));
    } else {
        out_.call(reinterpret_cast<const void*>(scalar_function(value.op)));
    }
    for (int reg = 0; reg < X86Assembler::k_registers; ++reg) release(reg);
    remembered_.fill(k_nothing);
    return 0;
}

}  // namespace appell
