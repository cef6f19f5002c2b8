// Arithmetic on eight numbers at once, one from each lane: the interpreter's loop over instructions, and the solve of
// tape/constrained_solve.hpp on its fast path. Every lane gets what it would get alone, to the last bit: additions, products,
// quotients and roots are rounded the same way in registers of any width, nothing is fused, and sums keep their order; functions
// are called lane by lane. The same source is compiled for the widths of registers that processors have.
#pragma once

#include <cstddef>
#include <cstdint>

#include "expr/scalar_function.hpp"
#include "jit/lane_code.hpp"
#include "tape/program.hpp"

namespace appell {

inline constexpr std::size_t k_lanes = 8;
using LaneMask = std::uint32_t;  // bit by lane

// One solve without redundant rows and with a regular M. Slots and places are those of ConstrainedSolver.
struct LaneSolvePlan {
    struct Target {
        Slot slot;
        std::uint32_t offset;
    };
    struct Block {
        std::uint32_t begin, size, offset;
    };
    struct Touch {
        std::uint32_t row, block;
    };
    template <class T>
    struct List {
        const T* begin = nullptr;
        std::size_t size = 0;
    };

    std::size_t n = 0, m = 0;
    List<Target> mass, rows;
    List<Block> blocks;
    List<Touch> touches;
    List<Slot> f, b, x, lambda;
    double least_pivot = 0;
    double growth = 1;     // of the rows, at least
    double least_row = 0;  // a row closer than this to the others is dependent
    // numbers of all lanes, side by side
    double *L = nullptr, *inverse_diagonal = nullptr, *A = nullptr, *Q = nullptr, *R = nullptr;
    double *right = nullptr, *known = nullptr, *length = nullptr, *w = nullptr, *part = nullptr;
    double* pivot = nullptr;  // rows, in the order of their choice; Q, R and length are in that order
};

// A closed form: pivots that must be above so much of their diagonals, and where the unknowns go.
struct LaneGuard {
    Slot pivot, diagonal;
    double least;
};

struct LaneMarchPlan;

struct LaneKernels {
    std::size_t in_register;  // lanes
    void (*execute)(const InstructionRun& run, const Instruction* instructions, double* slots);
    // the lanes whose numbers are good; x and lambda are in their slots
    LaneMask (*solve)(const LaneSolvePlan& plan, double* slots);
    LaneMask (*guards)(const LaneGuard* guards, std::size_t count, const double* slots);
    LaneMask (*finite)(const Slot* list, std::size_t count, const double* slots);
    // out = x + (sum of coefficients[j] * h * rates[j]), `size` numbers; a coefficient that is zero takes no part
    void (*move)(double* out, const double* x, const double* h, const double* rates, const double* coefficients,
                 std::size_t count, std::size_t size);
    // one turn of a march, of the lanes given: those that stay
    LaneMask (*turn)(const LaneMarchPlan& plan, LaneMask among);
    // of the angles of all lanes, or null: one after the other
    LaneSines sines_with_cosines;
};

extern const LaneKernels k_lane_kernels_baseline;
#if defined(__x86_64__)
extern const LaneKernels k_lane_kernels_avx2, k_lane_kernels_avx512;
#endif

}  // namespace appell
