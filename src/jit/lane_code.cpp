#include "jit/lane_code.hpp"

#include <algorithm>
#include <limits>

#include "jit/code_memory.hpp"
#include "jit/program_compiler.hpp"

namespace appell {

std::shared_ptr<const LaneCode> make_lane_code([[maybe_unused]] const Program& program, [[maybe_unused]] bool eight,
                                               [[maybe_unused]] LaneSines sines) {
#if defined(__x86_64__) && defined(__unix__)
    if (program.slots > k_most_doubles / 8) return nullptr;
    X86Assembler out(eight ? X86Assembler::Lanes::eight : X86Assembler::Lanes::four);
    put_constants(out);
    auto code = std::make_shared<LaneCode>();
    SegmentSchedule schedule;
    std::vector<std::size_t> entries;
    const auto add = [&](SegmentCompiler&& compiler) {
        out.align(64);
        entries.push_back(out.size());
        code->scratch = std::max(code->scratch, compiler.run());
    };
    SegmentSchedule whole;
    code->whole = schedule_program(program, program.steady_segments, whole);
    for (std::size_t k = 0; k < (code->whole ? program.steady_segments : program.segments.size()); ++k) {
        if (!schedule_segment(program, program.segments[k], schedule)) return nullptr;
        add(SegmentCompiler(out, schedule, sines));
    }
    if (code->whole) add(ProgramCompiler(out, whole, program, sines));
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

}  // namespace appell
