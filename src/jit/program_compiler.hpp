// A whole program as one function: closed forms in place of its solves, outputs to where the caller wants them.
#pragma once

#include <array>
#include <vector>

#include "jit/segment_compiler.hpp"
#include "tape/closed_solve.hpp"

namespace appell {

// Whose numbers somebody else looks at: of lanes.
class ProgramCompiler : public SegmentCompiler {
public:
    ProgramCompiler(X86Assembler& out, const SegmentSchedule& schedule, const Program& program, LaneSines lane_sines = nullptr);

protected:
    void begin() override;
    void computed(ValueId v, int reg) override;

    static Memory output(std::uint32_t i) { return {X86Assembler::Base::outputs, i}; }
    [[nodiscard]] std::uint32_t outputs() const { return static_cast<std::uint32_t>(s_.outputs.size()); }
    // it is in its slot, or in the stream, from the beginning
    [[nodiscard]] bool is_given(std::uint32_t i) const { return s_.values[s_.outputs[i]].op == Op::Constant; }
    [[nodiscard]] const std::vector<std::uint32_t>& outputs_of(ValueId v) const { return output_indices_[v]; }

private:
    std::vector<std::vector<std::uint32_t>> output_indices_;  // by value
};

// the numbers that pivots are compared with, each once, behind the other constants
class GuardNumbers {
public:
    explicit GuardNumbers(const Program& program);
    void put(X86Assembler& out) const;
    [[nodiscard]] std::size_t place(double number) const;

private:
    std::vector<double> numbers_;
};

// Whose pivots (but for steady ones), conditions and results it looks at itself in the end: it answers one where they are good,
// and zero otherwise.
//
// Outputs are stored two by two: who reads them in pairs would wait for halves that were stored alone.
class GuardedProgramCompiler final : public ProgramCompiler {
public:
    GuardedProgramCompiler(X86Assembler& out, const SegmentSchedule& schedule, const Program& program,
                           const GuardNumbers& numbers)
        : ProgramCompiler(out, schedule, program),
          program_(program),
          numbers_(numbers),
          stored_(schedule.outputs.size(), Stored::not_yet) {}

protected:
    void begin() override;
    void end() override;
    void computed(ValueId v, int reg) override;
    [[nodiscard]] bool is_waited_for(ValueId v) const override;
    void leaves(ValueId v, int reg) override;

private:
    enum class Stored : std::uint8_t { not_yet, alone, in_pair };

    [[nodiscard]] bool has_other(std::uint32_t i) const { return (i ^ 1u) < outputs(); }
    void store_alone(std::uint32_t i, int reg);
    void store_pair(std::uint32_t first, int pair);
    void store(std::uint32_t i, int reg);

    [[nodiscard]] bool look_at_plain_pivots();
    void look_at(const PivotGuard& guard);
    void look_at_squares(const SolveBlock& block);
    void look_at_results(bool pivots_are_summed);
    [[nodiscard]] ValueId value_kept_in(Slot slot) const;

    const Program& program_;
    const GuardNumbers& numbers_;
    std::vector<Stored> stored_;         // by output
    std::vector<std::size_t> failures_;  // jumps to where zero is answered
    std::array<int, 5> work_{};          // registers, in the end
};

}  // namespace appell
