#include "jit/native_code.hpp"

#include <algorithm>
#include <limits>

#include "base/error.hpp"
#include "jit/code_memory.hpp"
#include "jit/program_compiler.hpp"

namespace appell {

namespace {

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

}  // namespace

void add_native_code([[maybe_unused]] Program& program) {
#if defined(__x86_64__) && defined(__unix__)
    if (program.instructions.empty() || program.slots > k_most_doubles) return;
    for (Slot slot = program.stream_begin; slot < program.stream_end; ++slot)
        APPELL_ASSERT(!program.is_steady(slot), "a parameter is not streamed");
    X86Assembler out;
    const GuardNumbers numbers(program);
    put_constants(out);
    numbers.put(out);
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
        scratch = std::max(scratch, GuardedProgramCompiler(out, schedule, program, numbers).run());
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
