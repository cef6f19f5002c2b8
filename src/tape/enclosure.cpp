#include "tape/enclosure.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/error.hpp"

namespace appell {

namespace {

constexpr std::size_t k_most_unknowns = 24;

std::size_t unknowns_of(const SolveBlock& block) {
    return block.kind == SolveKind::linear ? block.size : block.size + block.rows;
}

// Powers with a whole exponent that is a parameter have values and slopes at negative numbers, too.
bool is_whole(const Interval& exponent) {
    return exponent.lo == exponent.hi && exponent.lo == std::floor(exponent.lo) && std::abs(exponent.lo) < 1e9;
}
Interval slope_of_power(const Interval& x, const Interval& exponent) {
    return exponent * int_power(x, static_cast<int>(exponent.lo) - 1);
}

// a value that may jump inside the interval, or be none in a part of it: its rate says nothing of that
bool jumps(Op op, const Interval& x, const Interval& y, const Interval& value) {
    switch (op) {
        case Op::Less:
        case Op::LessEqual:
        case Op::Sign: return value.lo != value.hi;
        case Op::If: return x.lo != x.hi && x.contains(0);
        case Op::Div: return y.contains(0);
        case Op::Pow: return x.lo < 0 && !is_whole(y);
        case Op::Atan2: return !(y.lo > 0 || x.lo > 0 || x.hi < 0);
        default: return false;
    }
}

// what does not move has no part in a rate, whatever the slope
bool is_still(const MovingInterval& x) { return x.rate.lo == 0 && x.rate.hi == 0; }

}  // namespace

Enclosure::Solve::Solve(std::size_t n)
    : size(n),
      matrix(n * n),
      right(n),
      middle(n, n),
      inverse(n, n),
      lu(static_cast<Eigen::Index>(n)),
      excess(n * n),
      value(n),
      rate(n),
      product(n) {}

bool Enclosure::serves(const Program& program) {
    if (!program.functions.empty()) return false;
    return std::all_of(program.solves.begin(), program.solves.end(), [](const SolveBlock& block) {
        return block.kind != SolveKind::realised && block.guess.empty() && unknowns_of(block) <= k_most_unknowns;
    });
}

Enclosure::Enclosure(const Program& program) : program_(&program), slots_(program.slots), outputs_(program.output_slots.size()) {
    for (const auto& [slot, value] : program.constants) slots_[slot] = {Interval(value), Interval(0)};
    for (const Slot slot : program.pi_slots)
        slots_[slot] = {Interval(std::numbers::pi) + Interval(0), Interval(0)};  // wider than its round-off
    for (const SolveBlock& block : program.solves) solves_.emplace_back(unknowns_of(block));
}

void Enclosure::set_constant(std::size_t input, double value) {
    slots_[input] = {Interval(value), Interval(0)};
    settled_ = false;
}

void Enclosure::run() {
    for (std::size_t k = settled_ ? program_->steady_segments : 0; k < program_->segments.size(); ++k)
        execute(program_->segments[k]);
    settled_ = true;
    for (std::size_t i = 0; i < outputs_.size(); ++i) outputs_[i] = slots_[program_->output_slots[i]];
}

void Enclosure::execute(const Segment& segment) {
    for (const InstructionRun& run : segment.runs) execute(run);
    if (segment.solve < 0) return;
    const auto which = static_cast<std::size_t>(segment.solve);
    solve(program_->solves[which], solves_[which]);
}

void Enclosure::execute(const InstructionRun& run) {
    MovingInterval* const slots = slots_.data();
    const Instruction* const begin = program_->instructions.data() + run.begin;
    const Instruction* const end = program_->instructions.data() + run.end;
    [[maybe_unused]] const Interval zero(0), one(1);
    const auto moving = [](const Interval& slope, const Interval& rate) { return slope * rate; };
    switch (run.op) {
#define APPELL_LEAF(Name)
#define APPELL_STRUCTURE(Name, arity)
#define APPELL_VECTOR(Name, arity)
#define APPELL_OP(Name, text, arity, value_text, dx, dy, dz)                                     \
    case Op::Name:                                                                               \
        for (const Instruction* i = begin; i != end; ++i) {                                      \
            const MovingInterval a = slots[i->a], b = slots[i->b], c = slots[i->c];              \
            const Interval x = a.value;                                                          \
            [[maybe_unused]] const Interval y = b.value, z = c.value;                            \
            const Interval r = value_text;                                                       \
            Interval rate = is_still(a)                          ? Interval(0)                   \
                            : Op::Name == Op::Pow && is_whole(y) ? slope_of_power(x, y) * a.rate \
                                                                 : moving(dx, a.rate);           \
            if constexpr (arity > 1) rate = is_still(b) ? rate : rate + moving(dy, b.rate);      \
            if constexpr (arity > 2) rate = is_still(c) ? rate : rate + moving(dz, c.rate);      \
            slots[i->out] = {r, jumps(Op::Name, x, y, r) ? Interval::entire() : rate};           \
        }                                                                                        \
        break;
#include "expr/ops.def"
#undef APPELL_LEAF
#undef APPELL_STRUCTURE
#undef APPELL_VECTOR
#undef APPELL_OP
        case Op::PowInt:
            for (const Instruction* i = begin; i != end; ++i) {
                const MovingInterval a = slots[i->a];
                const int n = static_cast<std::int32_t>(i->b);
                slots[i->out] = {int_power(a.value, n), Interval(n) * int_power(a.value, n - 1) * a.rate};
            }
            break;
        default: APPELL_ASSERT(false, "what can not be enclosed was refused before");
    }
}

void Enclosure::assemble(const SolveBlock& block, Solve& work) const {
    const std::size_t n = work.size;
    std::fill(work.matrix.begin(), work.matrix.end(), MovingInterval{});
    std::fill(work.right.begin(), work.right.end(), MovingInterval{});
    for (const MatrixEntry& e : block.M) work.matrix[e.row * n + e.column] = work.matrix[e.column * n + e.row] = slots_[e.slot];
    if (block.kind == SolveKind::linear) {
        for (const MatrixEntry& e : block.A) work.matrix[e.row * n + e.column] = slots_[e.slot];
        return;
    }
    for (const MatrixEntry& e : block.A) {
        const MovingInterval& a = slots_[e.slot];
        work.matrix[(block.size + e.row) * n + e.column] = a;
        work.matrix[e.column * n + block.size + e.row] = {-a.value, -a.rate};
    }
    for (std::size_t i = 0; i < block.size; ++i) work.right[i] = slots_[block.f[i]];
    for (std::size_t i = 0; i < block.rows; ++i) work.right[block.size + i] = slots_[block.b[i]];
}

bool Enclosure::factor(Solve& work) const {
    const std::size_t n = work.size;
    for (std::size_t i = 0; i < n * n; ++i) {
        if (!work.matrix[i].value.bounded()) return false;
        work.middle(static_cast<Eigen::Index>(i / n), static_cast<Eigen::Index>(i % n)) = work.matrix[i].value.middle();
    }
    work.lu.compute(work.middle);
    work.inverse = work.lu.inverse();
    if (!work.inverse.allFinite()) return false;
    work.excess_norm = 0;
    for (std::size_t i = 0; i < n; ++i) {
        double sum = 0;
        for (std::size_t j = 0; j < n; ++j) {
            Interval entry(i == j ? 1 : 0);
            for (std::size_t k = 0; k < n; ++k)
                entry = entry - Interval(work.inverse(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(k))) *
                                    work.matrix[k * n + j].value;
            work.excess[i * n + j] = entry;
            sum += entry.largest();
        }
        work.excess_norm = std::max(work.excess_norm, sum);
    }
    // beyond, the bound on the unknowns is worth nothing, and round-off in it would count
    constexpr double k_most_excess = 0.99;
    return work.excess_norm < k_most_excess;
}

// x = inverse * right + excess * x: every |x_i| is at most |inverse * right| / (1 - |excess|), and what that says of x makes it
// narrower again.
void Enclosure::enclose(Solve& work, std::vector<Interval>& x) const {
    const std::size_t n = work.size;
    double largest = 0;
    for (std::size_t i = 0; i < n; ++i) {
        Interval sum(0);
        for (std::size_t k = 0; k < n; ++k)
            sum = sum + Interval(work.inverse(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(k))) * work.product[k];
        x[i] = sum;
        largest = std::max(largest, sum.largest());
    }
    std::copy(x.begin(), x.end(), work.product.begin());
    const double bound = largest / (1 - work.excess_norm) * (1 + 1e-12);
    for (std::size_t i = 0; i < n; ++i) x[i] = {-bound, bound};
    constexpr int k_rounds = 3;
    for (int round = 0; round < k_rounds; ++round)
        for (std::size_t i = 0; i < n; ++i) {
            Interval sum = work.product[i];
            for (std::size_t k = 0; k < n; ++k) sum = sum + work.excess[i * n + k] * x[k];
            x[i] = common_part(x[i], sum);
        }
}

void Enclosure::solve(const SolveBlock& block, Solve& work) {
    const std::size_t n = work.size;
    const std::size_t right_sides = block.kind == SolveKind::linear ? block.b.size() / n : 1;
    const auto unknown = [&](std::size_t side, std::size_t i) {
        return i < block.size ? block.x[side * n + i] : block.lambda[i - block.size];
    };
    assemble(block, work);
    const bool regular = factor(work);
    for (std::size_t side = 0; side < right_sides; ++side) {
        if (block.kind == SolveKind::linear)
            for (std::size_t i = 0; i < n; ++i) work.right[i] = slots_[block.b[side * n + i]];
        const bool known = regular && std::all_of(work.right.begin(), work.right.end(),
                                                  [](const MovingInterval& r) { return r.value.bounded(); });
        if (known) {
            for (std::size_t i = 0; i < n; ++i) work.product[i] = work.right[i].value;
            enclose(work, work.value);
            // matrix * x' = right' - matrix' * x
            for (std::size_t i = 0; i < n; ++i) {
                Interval sum = work.right[i].rate;
                for (std::size_t k = 0; k < n; ++k) sum = sum - work.matrix[i * n + k].rate * work.value[k];
                work.product[i] = sum;
            }
            enclose(work, work.rate);
        }
        for (std::size_t i = 0; i < n; ++i)
            slots_[unknown(side, i)] =
                known ? MovingInterval{work.value[i], work.rate[i]} : MovingInterval{Interval::entire(), Interval::entire()};
    }
}

}  // namespace appell
