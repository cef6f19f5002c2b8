// A schedule as machine code: registers by farthest next use, one pass over the values, whatever their number.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <vector>

#include "jit/lane_code.hpp"
#include "jit/segment_schedule.hpp"
#include "jit/x86_64_assembler.hpp"

namespace appell {

// constants stand before the code: a mask of 16 bytes, one, and zero
inline constexpr std::size_t k_sign_mask = 0, k_one = 16, k_zero = 24, k_constants_end = 32;
// of several lanes: the mask and one, each for all of them
inline constexpr std::size_t k_one_in_lanes = 64;
void put_constants(X86Assembler& out);

class SegmentCompiler {
public:
    SegmentCompiler(X86Assembler& out, const SegmentSchedule& schedule, LaneSines lane_sines = nullptr);
    virtual ~SegmentCompiler() = default;
    SegmentCompiler(const SegmentCompiler&) = delete;
    SegmentCompiler& operator=(const SegmentCompiler&) = delete;

    // one function; how many doubles of scratch memory it takes
    std::size_t run();

protected:
    using Memory = X86Assembler::Memory;
    using Arithmetic = X86Assembler::Arithmetic;
    static constexpr int k_none = -1;
    static constexpr ValueId k_nothing = std::numeric_limits<ValueId>::max();

    // ---- what a whole program adds (program_compiler.hpp)

    virtual void begin() {}
    virtual void end() { out_.end_function(); }
    // a value is in a register now
    virtual void computed(ValueId, int /*reg*/) {}
    // it stays in its register while there are others, though no instruction needs it any more
    [[nodiscard]] virtual bool is_waited_for(ValueId) const { return false; }
    // its register is about to be used for something else
    virtual void leaves(ValueId, int /*reg*/) {}

    // ---- where values are

    static Memory in_slots(Slot slot) { return {X86Assembler::Base::slots, slot}; }
    [[nodiscard]] Memory memory_of(ValueId v) const;
    [[nodiscard]] int register_of(ValueId v) const { return register_of_[v]; }
    // A register that is free, or else the one whose value is not needed for longest; `keep` are in use now.
    int take_register(std::initializer_list<int> keep = {});
    // one that is free, or none
    int free_register() { return unused_register({}); }
    // what nobody needs or waits for any more leaves its register
    void release_if_idle(ValueId v) {
        if (register_of_[v] != k_none && next_use(v) == k_never && !is_waited_for(v)) release(register_of_[v]);
    }
    // for what comes behind the values: it is nobody else's from here on
    int reserve_register();
    // What a free register holds, for who asks before it is used again.
    void remember(int reg, std::uint32_t what) { remembered_[static_cast<std::size_t>(reg)] = what; }
    [[nodiscard]] int remembered(std::uint32_t what) const;

    X86Assembler& out_;
    const SegmentSchedule& s_;
    Slot stream_begin_ = 0;

private:
    static constexpr ValueId k_reserved = k_nothing - 1;
    static constexpr std::uint32_t k_never = std::numeric_limits<std::uint32_t>::max();
    static constexpr std::uint32_t k_no_place = k_never, k_in_slot = k_no_place - 1;

    void find_partners();
    [[nodiscard]] bool in_memory(ValueId v) const { return spilled_[v] != k_no_place || s_.values[v].op == Op::Constant; }
    [[nodiscard]] std::uint32_t next_use(ValueId v) const {
        return next_use_[v] < s_.first_use[v + 1] ? s_.uses[next_use_[v]] : k_never;
    }
    void hold(int reg, ValueId v);
    void release(int reg);
    void place_in_scratch(ValueId v);
    void save(ValueId v);
    int unused_register(std::initializer_list<int> keep);
    void load_into(int reg, ValueId v);
    void fetch(ValueId v);
    void arithmetic(Arithmetic op, int reg, ValueId v);

    void pass(std::uint32_t place, const SegmentValue& value);
    void leave(const SegmentValue& value);
    void compute(std::uint32_t place);
    [[nodiscard]] int last_of(ValueId v) const;
    int binary(const SegmentValue& value);
    int unary(const SegmentValue& value);
    int power(const SegmentValue& value);
    [[nodiscard]] std::size_t one() const { return out_.packed() ? k_one_in_lanes : k_one; }
    int call_with_lanes(ValueId id, const SegmentValue& value);
    int call(ValueId id, const SegmentValue& value);

    LaneSines lane_sines_;
    std::vector<ValueId> partner_;         // by value: the sine of a cosine's angle, and the other way round
    std::vector<std::uint32_t> next_use_;  // by value, into uses
    std::vector<int> register_of_;
    std::vector<std::uint32_t> spilled_;  // by value: where in the scratch memory, k_in_slot, or nowhere
    std::array<ValueId, X86Assembler::k_registers> holds_{};
    std::array<std::uint32_t, X86Assembler::k_registers> remembered_{};
    std::vector<std::uint32_t> free_scratch_;
    std::size_t scratch_ = 0;
};

}  // namespace appell
