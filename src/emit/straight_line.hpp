// The arithmetic of a program as straight-line C functions.
//
// The slots of a tape are taken apart again into single values, each computed once and held in a local variable. Values are
// ordered by need: what an operand of a solve or an output needs comes right before it, which keeps few of them alive at a time.
// Functions are cut where they grow longer than compilers digest; what another function needs goes through the array s. Inputs
// are read as t, x[i] and p[i].
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tape/program.hpp"

namespace appell {

class StraightLine {
public:
    // `states`: the inputs are t, that many states, parameters; functions have names that begin with `name`
    StraightLine(const Program& program, std::size_t states, std::string name, std::size_t most_statements);

    // A number that is written: array, index, and the slot that has it.
    struct Write {
        char array;  // 'o': operands of a solve, 'y': outputs
        std::size_t index;
        Slot slot;
    };
    // Functions that do these writes. Those that repeat are called again and again: what they need of earlier segments is
    // computed once, by the functions before.
    struct Part {
        std::vector<std::size_t> before, functions;
    };
    Part add_part(const std::vector<Write>& writes, bool repeats = false);

    // when all parts are there: the text of the functions, and of calls, a line each
    [[nodiscard]] std::string text() const;
    [[nodiscard]] std::string calls(const std::vector<std::size_t>& functions, std::string_view indent) const;
    [[nodiscard]] std::size_t stored() const { return stored_count_; }  // numbers in s
    [[nodiscard]] std::size_t functions() const { return functions_.size(); }
    // where the unknowns of a solve are in s: x, lambda, tau, then the guess
    [[nodiscard]] std::size_t unknowns(std::size_t solve) const { return unknowns_[solve]; }

private:
    enum class Kind : std::uint8_t { input, constant, unknown, instruction };
    struct Value {
        Kind kind = Kind::constant;
        std::uint32_t index = 0;  // of the input, into constants_, in s, of the instruction
    };
    struct Statement {
        bool is_write;
        std::uint32_t index;  // of the instruction, or into the writes
    };
    struct Function {
        std::vector<Statement> statements;
        std::vector<Write> writes;
        bool uses[6] = {};  // t, x, p, s, o, y
    };

    void resolve_slots();
    [[nodiscard]] double constant_value(std::uint32_t instruction) const;
    void need(Slot slot, std::vector<std::uint32_t>& order);
    void order_values(std::uint32_t root, std::vector<std::uint32_t>& order);
    [[nodiscard]] std::vector<std::uint32_t> needed_from_before(const std::vector<Write>& writes, std::uint32_t segment);
    std::vector<std::size_t> close(std::vector<Statement> statements, const std::vector<Write>& writes);
    void note_use(const Value& value, std::size_t function);
    [[nodiscard]] std::string operand(const Value& value, std::size_t function) const;
    [[nodiscard]] std::string function_text(std::size_t function) const;
    template <class Visit>
    void for_each_operand(std::uint32_t instruction, Visit visit) const;

    const Program& program_;
    std::size_t states_;
    std::string name_;
    std::size_t most_statements_;
    std::vector<double> constants_;
    std::vector<Value> slot_value_;               // by slot, at the end of the program
    std::vector<std::array<Value, 3>> operands_;  // by instruction
    std::vector<std::uint32_t> segment_of_;       // by instruction
    std::vector<std::uint32_t> function_of_;      // by instruction: where it is computed
    std::vector<std::uint32_t> local_;            // by instruction: its number among all that were placed
    std::vector<std::uint32_t> place_;            // by instruction: in s, or none
    std::vector<std::size_t> unknowns_;           // by solve
    std::size_t stored_count_ = 0;
    std::uint32_t placed_ = 0;
    std::vector<Function> functions_;
};

}  // namespace appell
