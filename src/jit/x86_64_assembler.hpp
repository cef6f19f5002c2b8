// The few instructions of x86-64 that straight-line arithmetic on doubles needs, encoded into a byte buffer. SSE2 only, which
// every x86-64 processor has, and no fused operations: results are those of the interpreter to the last bit. The same for numbers
// of several lanes at once, for processors that have AVX (four in a register) or AVX-512 (eight); a number is eight doubles in
// memory then, whatever the width. Encodings: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <vector>

namespace appell {

class X86Assembler {
public:
    enum class Base : std::uint8_t { slots, scratch, stream, outputs };
    struct Memory {
        Base base;
        std::uint32_t index;  // of a double
    };
    // scalar operations  xmm = xmm op xmm/m64
    enum class Arithmetic : std::uint8_t { add = 0x58, mul = 0x59, sub = 0x5c, div = 0x5e, sqrt = 0x51, min = 0x5d, max = 0x5f };
    static constexpr int k_registers = 16;
    enum class Lanes : std::uint8_t { one, four, eight };  // in a register

    explicit X86Assembler(Lanes lanes = Lanes::one) : lanes_(lanes) {}
    [[nodiscard]] bool packed() const { return lanes_ != Lanes::one; }
    [[nodiscard]] Lanes lanes() const { return lanes_; }

    // The arguments are the four bases, in order. Where functions are called, they move to registers that these keep.
    void begin_function(bool calls) {
        calls_ = calls;
        bytes({0xf3, 0x0f, 0x1e, 0xfa});  // endbr64
        base_registers_ = {7, 6, 2, 1};   // rdi, rsi, rdx, rcx
        if (!calls) return;
        base_registers_ = {3, 5, 14, 15};                                     // rbx, rbp, r14, r15
        bytes({0x53, 0x55, 0x41, 0x56, 0x41, 0x57, 0x48, 0x83, 0xec, 0x08});  // push them; calls want the stack at 16
        bytes({0x48, 0x89, 0xfb, 0x48, 0x89, 0xf5, 0x49, 0x89, 0xd6, 0x49, 0x89, 0xcf});
    }
    void end_function() {
        if (packed()) bytes({0xc5, 0xf8, 0x77});  // vzeroupper
        if (calls_) bytes({0x48, 0x83, 0xc4, 0x08, 0x41, 0x5f, 0x41, 0x5e, 0x5d, 0x5b});
        code_.push_back(0xc3);
    }
    void return_value(int value) {
        code_.push_back(0xb8);  // mov eax, imm32
        number(static_cast<std::uint32_t>(value), 4);
    }

    void load(int to, Memory from) { packed() ? packed_memory(0x28, to, k_unused, from) : with_memory(0xf2, 0x10, to, from); }
    void store(Memory to, int from) { packed() ? packed_memory(0x29, from, k_unused, to) : with_memory(0xf2, 0x11, from, to); }
    void move(int to, int from) { packed() ? packed_register(0x28, to, k_unused, from) : with_register(0x66, 0x28, to, from); }
    void arithmetic(Arithmetic op, int to, int from) {
        const auto code = static_cast<std::uint8_t>(op);
        packed() ? packed_register(code, to, first_operand(op, to), from) : with_register(0xf2, code, to, from);
    }
    void arithmetic(Arithmetic op, int to, Memory from) {
        const auto code = static_cast<std::uint8_t>(op);
        packed() ? packed_memory(code, to, first_operand(op, to), from) : with_memory(0xf2, code, to, from);
    }
    // two doubles side by side in a register
    void load_second(int to, Memory from) { with_memory(0x66, 0x16, to, from); }  // movhpd
    void load_pair(int to, Memory from) { with_memory(0x66, 0x10, to, from); }
    void store_pair(Memory to, int from) { with_memory(0x66, 0x11, from, to); }
    void join(int to, int second) { with_register(0x66, 0x14, to, second); }  // unpcklpd
    void add_pair(int to, int from) { with_register(0x66, 0x58, to, from); }
    void take_second(int of) { with_register(0x66, 0x15, of, of); }  // unpckhpd
    // constants beside the code, at a distance from the beginning of the buffer
    void load_constant(int to, std::size_t place) {
        packed() ? packed_place(0x28, to, k_unused, place) : with_place(0xf2, 0x10, to, place);
    }
    void multiply_constant(int to, std::size_t place) { with_place(0xf2, 0x59, to, place); }
    // xorpd; with AVX-512 it is vpxorq, since the former takes more of a processor
    void flip_sign(int to, std::size_t mask_place) {
        packed() ? packed_place(lanes_ == Lanes::eight ? 0xef : 0x57, to, to, mask_place)
                 : with_place(0x66, 0x57, to, mask_place);
    }

    // compares two doubles; then a jump, to be ended by land(), where the first is not above the second
    [[nodiscard]] std::size_t jump_unless_above(int a, int b) {
        with_register(0x66, 0x2e, a, b);  // ucomisd
        bytes({0x0f, 0x86});              // jbe
        number(0, 4);
        return code_.size();
    }
    // where the first is below the second, or one is not a number
    [[nodiscard]] std::size_t jump_unless_at_least(int a, Memory b) {
        with_memory(0x66, 0x2e, a, b);
        bytes({0x0f, 0x82});  // jb
        number(0, 4);
        return code_.size();
    }
    // or where it is not a number
    [[nodiscard]] std::size_t jump_unless_number(int a) {
        with_register(0x66, 0x2e, a, a);
        bytes({0x0f, 0x8a});  // jp
        number(0, 4);
        return code_.size();
    }
    void land(std::size_t jump) {
        const auto distance = static_cast<std::uint32_t>(code_.size() - jump);
        for (int i = 0; i < 4; ++i)
            code_[jump - 4 + static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(distance >> (8 * i));
    }
    // An argument of a function, in the order of a call: the address of a place in memory.
    void point_at(Memory memory, std::size_t argument = 0) {
        constexpr std::array<int, 4> k_arguments{7, 6, 2, 1};  // rdi, rsi, rdx, rcx
        const int base = base_registers_[static_cast<std::size_t>(memory.base)];
        bytes({static_cast<std::uint8_t>(base >= 8 ? 0x49 : 0x48), 0x8d, modrm(2, k_arguments[argument], base)});
        number(offset_of(memory), 4);
    }

    // the fifth argument: an address
    void give_address(const void* address) {
        bytes({0x49, 0xb8});  // mov r8, imm64
        number(static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(address)), 8);
    }

    void call(const void* function) {
        if (packed()) bytes({0xc5, 0xf8, 0x77});  // vzeroupper
        bytes({0x48, 0xb8});                      // mov rax, imm64
        const auto address = reinterpret_cast<std::uintptr_t>(function);
        number(static_cast<std::uint64_t>(address), 8);
        bytes({0xff, 0xd0});  // call rax
    }

    void number(std::uint64_t value, int size) {
        for (int i = 0; i < size; ++i) code_.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
    }
    void align(std::size_t to) {
        while (code_.size() % to != 0) code_.push_back(0xcc);
    }
    [[nodiscard]] std::size_t size() const { return code_.size(); }
    // a function that was made last is not wanted after all
    void discard_from(std::size_t begin) { code_.resize(begin); }
    [[nodiscard]] const std::vector<std::uint8_t>& code() const { return code_; }

private:
    void bytes(std::initializer_list<std::uint8_t> list) { code_.insert(code_.end(), list); }

    // prefix, REX where a register beyond the eighth takes part, 0F, opcode
    void opcode(std::uint8_t prefix, std::uint8_t op, int reg, int rm) {
        code_.push_back(prefix);
        const int rex = (reg >= 8 ? 4 : 0) | (rm >= 8 ? 1 : 0);
        if (rex != 0) code_.push_back(static_cast<std::uint8_t>(0x40 | rex));
        bytes({0x0f, op});
    }
    static std::uint8_t modrm(int mod, int reg, int rm) {
        return static_cast<std::uint8_t>(mod << 6 | (reg & 7) << 3 | (rm & 7));
    }

    void with_register(std::uint8_t prefix, std::uint8_t op, int reg, int rm) {
        opcode(prefix, op, reg, rm);
        code_.push_back(modrm(3, reg, rm));
    }
    void with_memory(std::uint8_t prefix, std::uint8_t op, int reg, Memory memory) {
        const int base = base_registers_[static_cast<std::size_t>(memory.base)];
        opcode(prefix, op, reg, base);
        const std::uint64_t offset = offset_of(memory);
        const bool near = offset < 128;
        code_.push_back(modrm(near ? 1 : 2, reg, base));
        number(offset, near ? 1 : 4);
    }
    void with_place(std::uint8_t prefix, std::uint8_t op, int reg, std::size_t place) {
        opcode(prefix, op, reg, 0);
        code_.push_back(modrm(0, reg, 5));  // [rip + disp32], from the end of the instruction
        number(static_cast<std::uint64_t>(place) - (code_.size() + 4), 4);
    }

    // ---- several lanes

    static constexpr int k_unused = 0;  // a first operand that an instruction does not have; encoded as its complement
    static int first_operand(Arithmetic op, int to) { return op == Arithmetic::sqrt ? k_unused : to; }

    [[nodiscard]] std::uint64_t offset_of(Memory memory) const { return (packed() ? 64 : 8) * std::uint64_t(memory.index); }

    // VEX of three bytes with 256 bits, or EVEX with 512; packed doubles, 66 0F
    void packed_opcode(std::uint8_t op, int reg, int first, int rm) {
        const int r = reg >= 8 ? 0 : 0x80, b = rm >= 8 ? 0 : 0x20, v = (~first & 15) << 3;
        if (lanes_ == Lanes::eight)
            bytes({0x62, static_cast<std::uint8_t>(r | 0x40 | b | 0x11), static_cast<std::uint8_t>(0x80 | v | 0x05), 0x48, op});
        else
            bytes({0xc4, static_cast<std::uint8_t>(r | 0x40 | b | 0x01), static_cast<std::uint8_t>(v | 0x05), op});
    }
    void packed_register(std::uint8_t op, int reg, int first, int rm) {
        packed_opcode(op, reg, first, rm);
        code_.push_back(modrm(3, reg, rm));
    }
    void packed_memory(std::uint8_t op, int reg, int first, Memory memory) {
        const int base = base_registers_[static_cast<std::size_t>(memory.base)];
        packed_opcode(op, reg, first, base);
        // a short offset counts numbers of 512 bits in EVEX, bytes in VEX
        const std::uint64_t offset = offset_of(memory), brief = lanes_ == Lanes::eight ? memory.index : offset;
        code_.push_back(modrm(brief < 128 ? 1 : 2, reg, base));
        number(brief < 128 ? brief : offset, brief < 128 ? 1 : 4);
    }
    void packed_place(std::uint8_t op, int reg, int first, std::size_t place) {
        packed_opcode(op, reg, first, 0);
        code_.push_back(modrm(0, reg, 5));
        number(static_cast<std::uint64_t>(place) - (code_.size() + 4), 4);
    }

    Lanes lanes_;
    std::vector<std::uint8_t> code_;
    std::array<int, 4> base_registers_{};  // none of them needs a SIB byte
    bool calls_ = false;
};

}  // namespace appell
