#include "lanes/fiber.hpp"

#include <cstdint>
#include <new>
#include <utility>

#if defined(__x86_64__) && defined(__unix__) && !defined(__SANITIZE_THREAD__)
#define APPELL_FIBERS 1
#include <sys/mman.h>
#include <unistd.h>
#endif

// the address sanitizer wants to know which stack is in use
#if defined(__SANITIZE_ADDRESS__)
#define APPELL_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define APPELL_ADDRESS_SANITIZER 1
#endif
#endif
#if defined(APPELL_ADDRESS_SANITIZER)
#include <sanitizer/common_interface_defs.h>
#endif

namespace appell {

#if defined(APPELL_FIBERS)

namespace {

// Room for whatever a run calls; memory is taken as it is used. The mapping is shared, though nobody shares it: private ones
// count in full against a limit on memory (RLIMIT_DATA), whether they are used or not.
constexpr std::size_t k_stack = std::size_t(8) << 20;

}  // namespace

// What a function may not change is put on the stack, the stack is changed, and the other's is taken back from there: rbx, rbp,
// r12 to r15 and the modes of floating point arithmetic (System V Application Binary Interface, AMD64, 3.2.1).
asm(R"(
    .text
    .p2align 4
    .type appell_change_stack, @function
appell_change_stack:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    subq $8, %rsp
    stmxcsr (%rsp)
    fnstcw 4(%rsp)
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    ldmxcsr (%rsp)
    fldcw 4(%rsp)
    addq $8, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
    .size appell_change_stack, .-appell_change_stack

    .p2align 4
    .type appell_enter_fiber, @function
appell_enter_fiber:
    .cfi_startproc
    .cfi_undefined %rip
    movq %r12, %rdi
    callq *%r13
    ud2
    .cfi_endproc
    .size appell_enter_fiber, .-appell_enter_fiber
)");

extern "C" void appell_change_stack(void** from, void* to) asm("appell_change_stack");
extern "C" void appell_enter_fiber() asm("appell_enter_fiber");

bool Fiber::available() { return true; }

Fiber::Fiber(std::function<void()> body) : body_(std::move(body)) {
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    void* const memory =
        ::mmap(nullptr, k_stack, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    stack_ = {memory, [](void* p) { ::munmap(p, k_stack); }};
    // the end of a stack that grows too far
    if (::mprotect(memory, page, PROT_NONE) != 0) throw std::bad_alloc();  // as many mappings as a process may have
    // as if it had changed stacks in the beginning of appell_enter_fiber
    auto* top = reinterpret_cast<std::uint64_t*>(static_cast<std::uint8_t*>(memory) + k_stack);
    const auto push = [&](std::uint64_t value) { *--top = value; };
    push(0);  // a call finds the stack at 16 bytes
    push(0);
    push(reinterpret_cast<std::uintptr_t>(&appell_enter_fiber));
    push(0);  // rbp
    push(0);  // rbx
    push(reinterpret_cast<std::uintptr_t>(this));
    push(reinterpret_cast<std::uintptr_t>(&Fiber::begin));
    push(0);  // r14
    push(0);  // r15
    std::uint32_t modes = 0;
    std::uint16_t x87 = 0;
    asm volatile("stmxcsr %0\n\tfnstcw %1" : "=m"(modes), "=m"(x87));
    push(std::uint64_t(x87) << 32 | modes);
    own_ = top;
}

Fiber::~Fiber() = default;

void Fiber::begin(Fiber* self) {
#if defined(APPELL_ADDRESS_SANITIZER)
    __sanitizer_finish_switch_fiber(nullptr, &self->caller_stack_, &self->caller_size_);
#endif
    self->body_();
    self->ended_ = true;
#if defined(APPELL_ADDRESS_SANITIZER)
    __sanitizer_start_switch_fiber(nullptr, self->caller_stack_, self->caller_size_);
#endif
    appell_change_stack(&self->own_, self->caller_);
}

void Fiber::resume() {
#if defined(APPELL_ADDRESS_SANITIZER)
    void* fake = nullptr;
    __sanitizer_start_switch_fiber(&fake, stack_.get(), k_stack);
#endif
    appell_change_stack(&caller_, own_);
#if defined(APPELL_ADDRESS_SANITIZER)
    __sanitizer_finish_switch_fiber(fake, nullptr, nullptr);
#endif
}

void Fiber::pause() {
#if defined(APPELL_ADDRESS_SANITIZER)
    void* fake = nullptr;
    __sanitizer_start_switch_fiber(&fake, caller_stack_, caller_size_);
#endif
    appell_change_stack(&own_, caller_);
#if defined(APPELL_ADDRESS_SANITIZER)
    __sanitizer_finish_switch_fiber(fake, &caller_stack_, &caller_size_);
#endif
}

#else

bool Fiber::available() { return false; }
Fiber::Fiber(std::function<void()> body) : body_(std::move(body)) {}
Fiber::~Fiber() = default;
void Fiber::resume() {
    body_();
    ended_ = true;
}
void Fiber::pause() {}

#endif

}  // namespace appell
