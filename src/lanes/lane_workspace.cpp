#include "lanes/lane_workspace.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <set>
#include <utility>

#include "expr/evaluate.hpp"
#include "tape/closed_solve.hpp"
#include "tape/constrained_solve.hpp"

namespace appell {

namespace {

// sums up to this length have one order (dot of constrained_solve.cpp)
constexpr std::size_t k_most_columns = 15, k_most_rows = 8;

template <class T>
LaneSolvePlan::List<T> list(const std::vector<T>& from) {
    return {from.data(), from.size()};
}

}  // namespace

std::vector<const LaneKernels*> all_lane_kernels() {
    std::vector<const LaneKernels*> out{&k_lane_kernels_baseline};
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) out.push_back(&k_lane_kernels_avx2);
    if (__builtin_cpu_supports("avx512f")) out.push_back(&k_lane_kernels_avx512);
#endif
    return out;
}

const LaneKernels& best_lane_kernels() {
    static const LaneKernels* const best = all_lane_kernels().back();
    return *best;
}

LaneNumbers::LaneNumbers(std::size_t size) : memory_(k_lanes * (size + 1), 0.0) {
    const std::size_t bytes = k_lanes * sizeof(double), past = reinterpret_cast<std::uintptr_t>(memory_.data()) % bytes;
    data_ = memory_.data() + (past == 0 ? 0 : (bytes - past) / sizeof(double));
}

LaneNumbers::LaneNumbers(std::span<const Part> parts)
    : LaneNumbers(std::accumulate(parts.begin(), parts.end(), std::size_t(0),
                                  [](std::size_t sum, const Part& part) { return sum + part.size; })) {
    double* next = data_;
    for (const Part& part : parts) {
        *part.begin = next;
        next += k_lanes * part.size;
    }
}

// columns, blocks and places as ConstrainedSolver has them
LaneSolve::LaneSolve(const SolveBlock& block) : b_(block.b), lambda_(block.lambda) {
    std::vector<std::uint32_t> position(block.size), block_of(block.size);
    std::uint32_t columns = 0, entries = 0;
    for (const std::size_t index : RowColumns(block).block_order) {
        const auto size = static_cast<std::uint32_t>(block.mass_blocks[index].size());
        for (const std::uint32_t column : block.mass_blocks[index]) {
            block_of[column] = static_cast<std::uint32_t>(blocks_.size());
            position[column] = static_cast<std::uint32_t>(f_.size());
            f_.push_back(block.f[column]);
            x_.push_back(block.x[column]);
        }
        blocks_.push_back({columns, size, entries});
        columns += size;
        entries += size * size;
    }
    for (const MatrixEntry& e : block.M) {
        const LaneSolvePlan::Block& home = blocks_[block_of[e.row]];
        mass_.push_back({e.slot, home.offset + (position[e.row] - home.begin) * home.size + (position[e.column] - home.begin)});
    }
    std::set<std::pair<std::uint32_t, std::uint32_t>> touched;
    for (const MatrixEntry& e : block.A) {
        rows_.push_back({e.slot, static_cast<std::uint32_t>(e.row * block.size + position[e.column])});
        touched.emplace(e.row, block_of[e.column]);
    }
    for (const auto& [row, touched_block] : touched) touches_.push_back({row, touched_block});
    const std::size_t n = block.size, m = block.rows;
    plan_.n = n;
    plan_.m = m;
    plan_.mass = list(mass_);
    plan_.rows = list(rows_);
    plan_.blocks = list(blocks_);
    plan_.touches = list(touches_);
    plan_.f = list(f_);
    plan_.b = list(b_);
    plan_.x = list(x_);
    plan_.lambda = list(lambda_);
    plan_.least_pivot = std::pow(std::numeric_limits<double>::epsilon(), 2.0 / 3.0);
    plan_.least_row = k_dependent_row;
    plan_.growth = block.growth;
    const LaneNumbers::Part parts[] = {{&plan_.L, entries}, {&plan_.inverse_diagonal, n},
                                       {&plan_.A, m * n},   {&plan_.Q, m * n},
                                       {&plan_.R, m * m},   {&plan_.right, n},
                                       {&plan_.known, m},   {&plan_.length, m},
                                       {&plan_.w, m},       {&plan_.part, m},
                                       {&plan_.pivot, m}};
    numbers_ = LaneNumbers(parts);
}

bool LaneWorkspace::possible(const Program& program) {
    if (!program.at_least.empty()) return false;  // nobody looks at conditions here
    for (const Segment& segment : program.segments) {
        if (segment.repeats) return false;
        for (const InstructionRun& run : segment.runs)
            if (run.op == Op::Call) return false;
    }
    for (const SolveBlock& block : program.solves) {
        const bool small = block.kind == SolveKind::multipliers && !block.sparse && block.size <= k_most_columns &&
                           block.rows <= k_most_rows && block.rows <= block.size;
        if (block.closed.empty() && !small) return false;
    }
    return !program.outputs.empty();
}

LaneWorkspace::LaneWorkspace(const Program& program, const LaneKernels& kernels, bool native)
    : program_(program), kernels_(kernels), slots_(program.slots), output_places_(program.output_slots) {
    if (native && kernels.in_register >= 4) code_ = make_lane_code(program, kernels.in_register == 8, kernels.sines_with_cosines);
    if (code_) scratch_ = LaneNumbers(code_->scratch);
    if (whole()) {
        outputs_ = LaneNumbers(output_places_.size());
        std::iota(output_places_.begin(), output_places_.end(), Slot(0));
    }
    const auto fill = [&](Slot slot, double value) { std::fill_n(slots_.data() + k_lanes * slot, k_lanes, value); };
    for (const auto& [slot, value] : program.constants) fill(slot, value);
    for (const Slot slot : program.pi_slots) fill(slot, pi_value<double>());
    for (const SolveBlock& block : program.solves) {
        solves_.push_back(block.closed.empty() ? std::make_unique<LaneSolve>(block) : nullptr);
        guards_.emplace_back();
        if (block.closed.empty()) continue;
        for (const PivotGuard& guard : guards_of(block))
            for (std::size_t i = 0; i < guard.pivots->size(); ++i)
                guards_.back().push_back({(*guard.pivots)[i], (*guard.diagonals)[i], guard.least});
    }
}

// inputs, side by side; places without a lane repeat the last one
void LaneWorkspace::put_in(std::span<Lane* const> lanes) {
    parameters_changed();
    for (std::size_t k = 0; k < k_lanes; ++k) {
        const Lane& lane = *lanes[std::min(k, lanes.size() - 1)];
        const double* const own = lane.inputs;
        double* const to = slots_.data() + k;
        for (std::size_t i = 0; i < program_.stream_begin; ++i) to[k_lanes * i] = own[i];
        for (std::size_t i = program_.stream_begin; i < program_.stream_end; ++i)
            to[k_lanes * i] = lane.stream[i - program_.stream_begin];
        for (std::size_t i = program_.stream_end; i < program_.inputs; ++i) to[k_lanes * i] = own[i];
    }
}

LaneMask LaneWorkspace::closed_form(const SolveBlock& block, std::size_t solve) {
    const ClosedForm<Slot>& closed = block.closed;
    LaneMask good = kernels_.guards(guards_[solve].data(), guards_[solve].size(), slots_.data());
    double* const slots = slots_.data();
    if (const double least = least_square_of(block); least > 0)
        for (std::size_t k = 0; k < k_lanes; ++k) {
            double longest = 0, shortest = std::numeric_limits<double>::infinity();
            for (const Slot slot : closed.row_diagonal) {
                longest = std::max(longest, slots[k_lanes * slot + k]);
                shortest = std::min(shortest, slots[k_lanes * slot + k]);
            }
            if (!(shortest > least * longest)) good &= ~(1u << k);
        }
    const auto take = [&](const std::vector<Slot>& from, const std::vector<Slot>& to) {
        for (std::size_t i = 0; i < from.size(); ++i) std::copy_n(slots + k_lanes * from[i], k_lanes, slots + k_lanes * to[i]);
        good &= kernels_.finite(from.data(), from.size(), slots);
    };
    take(closed.x, block.x);
    take(closed.lambda, block.lambda);
    return good;
}

void LaneWorkspace::call(LaneCode::Function function) {
    const double* const stream = slots_.data() + k_lanes * program_.stream_begin;
    for (std::size_t k = 0; k < k_lanes; k += code_->step)
        function(slots_.data() + k, scratch_.data() + k, stream + k, outputs_.data() + k);
}

void LaneWorkspace::execute(std::size_t segment) {
    if (code_) return call(code_->functions[segment]);
    for (const InstructionRun& run : program_.segments[segment].runs)
        kernels_.execute(run, program_.instructions.data(), slots_.data());
}

// the lanes whose numbers are good
LaneMask LaneWorkspace::evaluate() {
    const std::size_t first = program_.steady_segments;
    for (std::size_t i = 0; i < first && !settled_; ++i) execute(i);
    settled_ = true;
    if (whole()) call(code_->functions[first]);
    LaneMask good = (1u << k_lanes) - 1;
    for (std::size_t i = first; i < program_.segments.size(); ++i) {
        if (!whole()) execute(i);
        if (program_.segments[i].solve < 0) continue;
        const auto solve = static_cast<std::size_t>(program_.segments[i].solve);
        good &=
            solves_[solve] ? kernels_.solve(solves_[solve]->plan(), slots_.data()) : closed_form(program_.solves[solve], solve);
    }
    return good & kernels_.finite(output_places_.data(), output_places_.size(), outputs());
}

void LaneWorkspace::run(std::span<Lane* const> lanes) {
    put_in(lanes);
    const LaneMask good = evaluate();
    for (std::size_t k = 0; k < lanes.size(); ++k) {
        lanes[k]->done = (good >> k & 1u) != 0;
        if (lanes[k]->done) take_out(*lanes[k], k);
    }
}

void LaneWorkspace::run(std::span<Neighbours::StageRequest* const> lanes) {
    const StepStages& method = lanes.front()->stages;
    const std::size_t count = method.count, size = output_places_.size();
    const std::size_t streamed = program_.stream_end - program_.stream_begin;
    if (rates_.size() < (count + 1) * size) {
        start_ = LaneNumbers(size);
        state_ = LaneNumbers(size);
        step_ = LaneNumbers(1);
        rates_ = LaneNumbers((count + 1) * size);
    }
    parameters_changed();
    const auto of = [&](std::size_t k) -> const Neighbours::StageRequest& { return *lanes[std::min(k, lanes.size() - 1)]; };
    for (std::size_t k = 0; k < k_lanes; ++k) {
        const Neighbours::StageRequest& lane = of(k);
        for (std::size_t i = 1; i < program_.stream_begin; ++i) slots_.data()[k_lanes * i + k] = lane.inputs[i];
        for (std::size_t i = program_.stream_end; i < program_.inputs; ++i) slots_.data()[k_lanes * i + k] = lane.inputs[i];
        for (std::size_t i = 0; i < size; ++i) {
            start_.data()[k_lanes * i + k] = lane.stages.x[i];
            rates_.data()[k_lanes * i + k] = lane.stages.rates[0][i];
        }
        step_.data()[k] = lane.stages.h;
    }
    const auto take = [&](const LaneNumbers& from, std::size_t offset, std::size_t k, double* to) {
        const double* const numbers = from.data() + k_lanes * offset + k;
        for (std::size_t i = 0; i < size; ++i) to[i] = numbers[k_lanes * i];
    };
    LaneMask good = 0;
    for (std::size_t k = 0; k < lanes.size(); ++k) good |= lanes[k]->stages.rows == method.rows ? 1u << k : 0u;
    for (std::size_t stage = 1; stage <= count && good != 0; ++stage) {
        kernels_.move(state_.data(), start_.data(), step_.data(), rates_.data(), method.rows + (stage - 1) * count, stage, size);
        std::copy_n(state_.data(), k_lanes * streamed, slots_.data() + k_lanes * program_.stream_begin);
        const bool at_end = stage == count || method.nodes[stage - 1] == 1;
        for (std::size_t k = 0; k < k_lanes; ++k)
            slots_.data()[k] = at_end ? of(k).stages.t_end : of(k).stages.t + of(k).stages.h * method.nodes[stage - 1];
        good &= evaluate();
        double* const rate = rates_.data() + k_lanes * stage * size;
        for (std::size_t i = 0; i < size; ++i) std::copy_n(outputs() + k_lanes * output_places_[i], k_lanes, rate + k_lanes * i);
        for (std::size_t k = 0; k < lanes.size() && stage + 1 >= count; ++k)
            take(state_, 0, k, stage == count ? lanes[k]->stages.end : lanes[k]->stages.last_stage);
    }
    for (std::size_t k = 0; k < lanes.size(); ++k) {
        Neighbours::StageRequest& lane = *lanes[k];
        lane.done = (good >> k & 1u) != 0;
        if (!lane.done) continue;
        for (std::size_t stage = 1; stage <= count; ++stage)
            take(rates_, stage * size, k, stage == count ? lane.end_rate : lane.stages.rates[stage]);
        lane.report = report(k);
    }
}

void LaneWorkspace::take_out(Lane& lane, std::size_t place) const {
    for (std::size_t i = 0; i < output_places_.size(); ++i) lane.outputs[i] = outputs()[k_lanes * output_places_[i] + place];
    lane.report = report(place);
    if (solves_.empty() || !solves_[0]) return;
    const LaneSolvePlan& plan = solves_[0]->plan();
    const std::size_t n = plan.n, m = plan.m;
    for (std::size_t i = 0; i < m * n; ++i) lane.rows[i] = plan.A[k_lanes * i + place];
    for (std::size_t k = 0; k < m && m > 1; ++k) {
        const auto row = static_cast<std::size_t>(plan.pivot[k_lanes * k + place]);
        for (std::size_t i = 0; i < n; ++i) lane.directions[row * n + i] = plan.Q[k_lanes * (k * n + i) + place];
    }
}

EvalReport LaneWorkspace::report(std::size_t place) const {
    const double* const from = slots_.data() + place;
    EvalReport report;
    for (std::size_t s = 0; s < program_.solves.size(); ++s) {
        const SolveBlock& block = program_.solves[s];
        if (block.has_rows()) {
            report.rank = static_cast<std::uint32_t>(block.rows);
            report.weakest_row = 0;
        }
        double smallest = 1;
        if (!solves_[s]) {
            // as report_of_closed_form has it
            for (std::size_t i = 0; i < block.closed.row_pivots.size(); ++i) {
                const double share = from[k_lanes * block.closed.row_pivots[i]] / from[k_lanes * block.closed.row_diagonal[i]];
                if (!(share < smallest)) continue;
                smallest = share;
                report.weakest_row = block.closed.pivot_rows[i];  // only rows have pivots of rows
            }
            smallest = std::sqrt(smallest);
        } else {
            const LaneSolvePlan& plan = solves_[s]->plan();
            if (const std::size_t m = plan.m; m > 1) {
                smallest = plan.R[k_lanes * (m * m - 1) + place];
                report.weakest_row = static_cast<std::uint32_t>(plan.pivot[k_lanes * (m - 1) + place]);
            }
        }
        report.smallest_pivot = std::min(report.smallest_pivot, smallest);
    }
    return report;
}

}  // namespace appell
