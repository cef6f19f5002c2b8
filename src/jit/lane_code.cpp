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
    if (schedule_program(program, 0, schedule)) {
        entries.push_back(out.size());
        code->whole = true;
        code->scratch = ProgramCompiler(out, schedule, program, sines).run();
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

}  // namespace appell
