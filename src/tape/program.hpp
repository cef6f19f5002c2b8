// Programs: the only contract between symbols and numbers.
//
// A Program is an ordered list of tape segments and solve blocks. A tape segment is straight-line arithmetic over one array of
// slots; a solve block reads its matrices from slots and writes its unknowns to slots that later segments read. Parameters are
// inputs, never folded in; what depends on nothing else is a segment of its own, so that it need not be computed again while they
// stay. A Program is const and shared; everything that changes lives in a Workspace.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "expr/differentiate.hpp"
#include "expr/graph.hpp"

namespace appell {

// ---------------------------------------------------------------- what to compute (symbolic)

// How a solve block is solved. All but `linear` give the same x where the rows are independent and M is regular
// (dense_solve.hpp).
enum class SolveKind : std::uint8_t { multipliers, minimal, nonminimal, udwadia_kalaba, ukp, realised, linear };

// x and lambda of a small solve written out (closed_solve.hpp), and what tells whether pivoting was needed: diagonal entries of
// the matrices that are eliminated, and what elimination leaves of them. By node where it is symbolic, by slot where it is
// lowered. A lowered one has no lambda where nothing reads it.
template <class Id>
struct ClosedForm {
    std::vector<Id> x, lambda;
    std::vector<Id> mass_pivots, mass_diagonal, row_pivots, row_diagonal;
    std::vector<std::uint32_t> pivot_rows = {};  // by row pivot: a row of A that it is made of

    [[nodiscard]] bool empty() const { return x.empty(); }
    template <class Visit>
    void for_each(Visit visit, bool with_lambda = true) const {
        for (const std::vector<Id>* list : {&x, &lambda, &mass_pivots, &mass_diagonal, &row_pivots, &row_diagonal})
            if (with_lambda || list != &lambda)
                for (const Id id : *list) visit(id);
    }
};

// M x - A' lambda = f,  A x = b.  M is symmetric, given by its lower triangle (row >= column); structural zeros are absent.
// The unknowns become the given symbols, which later expressions may use. A may have no rows.
//
// `linear` has no M, f and lambda: A is square, and A X = b with as many right sides as b holds, one after the other; x likewise.
struct ConstrainedSolve {
    SparseMatrix M;
    SparseMatrix A;
    std::vector<NodeId> f, b;
    std::vector<SymbolId> x;       // by column of M
    std::vector<SymbolId> lambda;  // by row of A
    SolveKind kind = SolveKind::multipliers;
    // of `minimal` and `nonminimal`: unknowns that must be the independent ones; empty: chosen by pivoting
    std::vector<std::uint32_t> independent;

    // Of `realised` (realised_solve.hpp): M x - A' lambda - law(lambda) - D tau = f,  A x = b,  S x = s.
    // The law is written in `guess`, one symbol by row of A; its segment is repeated until guess = lambda.
    std::vector<NodeId> law;      // n, or empty
    SparseMatrix law_slope;       // d law/d guess, n x rows
    std::vector<SymbolId> guess;  // of a law
    SparseMatrix S, D;            // servo rows; directions of actuators, n x their number
    std::vector<NodeId> s;
    std::vector<SymbolId> tau;

    // Of a diagonal M that is what an elimination has left (dynam/articulated_inertia.hpp): the root of the largest loss of a
    // pivot in it, for the judgement of rank.
    double growth = 1;

    // of `multipliers`, `minimal` and `nonminimal`, where it is worth it; of `linear` for native code in one piece alone
    ClosedForm<NodeId> closed;
};

struct OutputGroup {
    std::string name;
    std::vector<NodeId> values;
};

struct ProgramSpec {
    std::vector<SymbolId> inputs;          // in the order of the workspace's input array
    std::vector<ConstrainedSolve> solves;  // in order; each may use the unknowns of earlier ones
    std::vector<OutputGroup> outputs;
    // conditions: the first at least the second, or the outputs mean nothing
    std::vector<std::pair<NodeId, NodeId>> at_least = {};
};

// ---------------------------------------------------------------- what is computed (lowered)

using Slot = std::uint32_t;

struct Instruction {
    Op op;  // APPELL_OP operations, PowInt (b: exponent) and Call (a: index of its argument list, b: index of its function)
    Slot out;
    Slot a, b, c;
};

// a maximal row of instructions with one operation: the interpreter decides once per run, not per instruction
struct InstructionRun {
    Op op;
    std::uint32_t begin, end;
};

struct MatrixEntry {
    std::uint32_t row, column;
    Slot slot;
};

struct SparseElimination;

struct SolveBlock {
    SolveKind kind = SolveKind::multipliers;
    std::size_t size = 0, rows = 0;  // columns and rows of A
    std::vector<MatrixEntry> M, A;
    std::vector<Slot> f, b, x, lambda;
    std::vector<std::uint32_t> independent;
    std::vector<MatrixEntry> law_slope, S, D;
    std::vector<Slot> law, guess, s, tau;
    ClosedForm<Slot> closed;
    std::vector<std::vector<std::uint32_t>> mass_blocks;  // M's columns, grouped into the blocks that do not couple
    std::shared_ptr<const SparseElimination> sparse;      // of `multipliers`, where most entries are zero
    double growth = 1;                                    // ConstrainedSolve::growth

    [[nodiscard]] bool has_rows() const { return kind != SolveKind::linear; }  // of constraints, if only none
};

// the segment's instructions run first, then its solve block, if it has one
struct Segment {
    std::vector<InstructionRun> runs;
    std::int32_t solve = -1;
    bool repeats = false;  // until the guess of its solve is its result
};

struct OutputRange {
    std::string name;
    std::uint32_t begin, end;  // into the program's output slots
};

struct OpaqueCall {
    std::string name;
    std::vector<std::uint8_t> orders;
};

// Machine code of segments (jit/native_code.hpp), which computes what the interpreter does to the last bit.
struct NativeCode {
    using Function = void (*)(double* slots, double* scratch);
    std::vector<Function> segments;  // null: interpreted
    // All segments behind the steady ones at once, where every solve has its closed form, or null: streamed inputs in, outputs
    // out, nothing copied in between. Steady values are in their slots, and steady pivots were looked at (closed_solve.hpp). Zero
    // where some number says that the way over the segments must be taken: a pivot that is small, a condition that does not hold,
    // a result that is not finite. Otherwise the outputs are those of that way, and the pivots are in their slots.
    using Whole = int (*)(double* slots, double* scratch, const double* stream, double* outputs);
    Whole whole = nullptr;
    std::size_t scratch = 0;  // doubles, of each workspace
    std::size_t bytes = 0;
    std::shared_ptr<const void> memory;
};

// One evaluation of a whole program with the memory of its workspace, which must outlive it: what a loop that evaluates again and
// again asks for once, for as long as no parameter changes and no rank is limited.
struct NativeEvaluation {
    NativeCode::Whole function = nullptr;
    double *slots = nullptr, *scratch = nullptr;
    [[nodiscard]] bool operator()(const double* stream, double* outputs) const {
        return function(slots, scratch, stream, outputs) != 0;
    }
};

struct Program {
    std::size_t inputs = 0;
    std::size_t slots = 0;
    std::size_t first_temporary = 0;  // slots from here on are shared by values that live inside one segment
    // inputs that change with every evaluation, none of them a parameter: native code can read them where they are, without a
    // copy into their slots
    Slot stream_begin = 0, stream_end = 0;
    // by slot up to the temporaries: a constant, a parameter, or a value of these alone; empty where there are no parameters
    std::vector<bool> steady;
    std::size_t steady_segments = 0;  // the first ones, at most one: all that they compute is steady
    std::vector<std::pair<Slot, double>> constants;
    std::vector<Slot> pi_slots;
    std::vector<Instruction> instructions;
    std::vector<Segment> segments;
    std::vector<SolveBlock> solves;
    std::vector<Slot> output_slots;
    std::vector<std::pair<Slot, Slot>> at_least;  // conditions, looked at in the end
    std::vector<OutputRange> outputs;
    std::vector<std::vector<Slot>> argument_lists;  // of opaque calls
    std::vector<OpaqueCall> functions;
    std::shared_ptr<const NativeCode> native;  // where it was made

    [[nodiscard]] const OutputRange& output(std::string_view name) const;  // throws Error for an unknown name
    [[nodiscard]] bool is_steady(Slot slot) const { return slot < steady.size() && steady[slot]; }
    // those of an evaluation, where the parameters stay
    [[nodiscard]] std::size_t moving_instructions() const;
};

struct LowerOptions {
    bool share_slots = true;  // false: every value keeps a slot of its own (to check the sharing against)
};

// Slots 0 .. inputs-1 are the inputs. Inputs, constants, the operands and unknowns of solve blocks, outputs and values that a
// later segment reads keep their slots; all others share temporaries by liveness. Inputs that are symbols of kind `parameter` are
// the parameters. The instructions of one run do not depend on each other and may be executed in any order. Only what a solve or
// an output needs is computed. Throws Error for vector nodes, for symbols that are neither inputs nor unknowns, and for a solve
// that uses its own or later unknowns.
[[nodiscard]] Program lower_program(const Graph& graph, const ProgramSpec& spec, const LowerOptions& options = {});

// ---------------------------------------------------------------- running it

enum class EvalStatus : std::uint8_t {
    ok,
    not_finite,          // an operand or an unknown of a solve, or an output, is not finite
    singular_mass,       // M is singular on the motions that A allows
    inconsistent_rows,   // rows of A depend on each other and b contradicts itself
    singular_partition,  // rows do not determine the dependent unknowns from the independent ones; A of `linear` has no inverse;
                         // a condition of the program does not hold
    unreachable,         // the actuators can not produce what a servo row asks for
    needs_pivoting,      // too close to singular for the sparse solve, and too large for the pivoted one
    no_reaction,         // no constraint force satisfies the law that depends on it
    several_reactions    // more than one does
};

// NOTE: inconsistent rows do not stop an evaluation: the independent rows are solved exactly and everything after is computed,
// because a Newton iteration, or a stage of an integrator, that is a little off the constraints sees redundant rows disagree a
// little. The other failures stop it, and all outputs become NaN.
struct EvalReport {
    EvalStatus status = EvalStatus::ok;
    std::uint32_t solve = 0;        // which block the status is about; the number of blocks for outputs
    std::uint32_t rank = 0;         // of the rows of the last block that has any, and of the servo rows
    bool redundant = false;         // some block had fewer independent rows than rows; its lambda is the one of least norm
    bool bordered = false;          // some block had a (nearly) singular M and was solved by its bordered matrix
    double smallest_pivot = 1;      // least over the blocks: pivot of the last independent row, rows scaled to unit length
    std::uint32_t weakest_row = 0;  // of that block: the first dependent row, or that of the smallest pivot
    double inconsistency = 0;       // largest relative disagreement of a dependent row with its b
    std::uint32_t inconsistent_row = 0;
    std::uint32_t singular_column = 0;  // for singular_mass: a column of M that is free to move without inertia
    std::uint32_t row = 0;              // for unreachable: the servo row; for needs_pivoting: the row, if it is not a column
};

// Numbers of one evaluation, all memory allocated once. T: double, std::complex<double>, boost::multiprecision numbers.
template <class T>
class Workspace;

}  // namespace appell
