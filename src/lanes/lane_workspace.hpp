// A program at the inputs of several callers at once. Lanes whose numbers leave the fast path (a pivot that is small, rows that
// depend on each other, a result that is not finite) are left to their callers' own workspaces, where everything is decided that
// is not plain sailing.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "jit/lane_code.hpp"
#include "lanes/lane_kernels.hpp"
#include "sim/neighbours.hpp"

namespace appell {

// The kernels for the widest registers that this processor has.
[[nodiscard]] const LaneKernels& best_lane_kernels();
// all that it can run, the narrowest registers first: for tests
[[nodiscard]] std::vector<const LaneKernels*> all_lane_kernels();

// numbers of all lanes, aligned for the widest registers
class LaneNumbers {
public:
    explicit LaneNumbers(std::size_t size = 0);
    // several lists, one behind the other; where each begins is put where it is kept
    struct Part {
        double** begin;
        std::size_t size;
    };
    explicit LaneNumbers(std::span<const Part> parts);
    [[nodiscard]] double* data() const { return data_; }
    [[nodiscard]] std::size_t size() const { return memory_.size() / k_lanes - 1; }

private:
    std::vector<double> memory_;
    double* data_ = nullptr;
};

// what a solve without a closed form takes; see LaneSolvePlan
class LaneSolve {
public:
    explicit LaneSolve(const SolveBlock& block);
    LaneSolve(const LaneSolve&) = delete;
    LaneSolve& operator=(const LaneSolve&) = delete;

    [[nodiscard]] const LaneSolvePlan& plan() const { return plan_; }

private:
    std::vector<LaneSolvePlan::Target> mass_, rows_;
    std::vector<LaneSolvePlan::Block> blocks_;
    std::vector<LaneSolvePlan::Touch> touches_;
    std::vector<Slot> f_, b_, x_, lambda_;
    LaneNumbers numbers_;
    LaneSolvePlan plan_;
};

class LaneWorkspace {
public:
    // Every solve has a closed form or is a small one of kind `multipliers`, and no opaque function is called.
    [[nodiscard]] static bool possible(const Program& program);

    // `native`: machine code in place of the loop over instructions, where the registers of the kernels are wide enough
    explicit LaneWorkspace(const Program& program, const LaneKernels& kernels = best_lane_kernels(), bool native = true);

    using Lane = Neighbours::Request;
    // at most k_lanes of them, all with this program or a copy of it
    void run(std::span<Lane* const> lanes);
    // likewise; those with another method than the first one are left to their callers
    void run(std::span<Neighbours::StageRequest* const> lanes);

    // The numbers by slot, inputs first, and to be said when parameters among them have changed; the program at them, and the
    // lanes whose numbers are good; its outputs, by place; a solve without a closed form, or null. They stay where they are.
    [[nodiscard]] double* slots() const { return slots_.data(); }
    void parameters_changed() { settled_ = false; }
    [[nodiscard]] LaneMask evaluate();
    [[nodiscard]] const double* outputs() const { return whole() ? outputs_.data() : slots_.data(); }
    [[nodiscard]] const std::vector<Slot>& output_places() const { return output_places_; }
    [[nodiscard]] const LaneSolvePlan* solve_plan(std::size_t solve) const {
        return solves_[solve] ? &solves_[solve]->plan() : nullptr;
    }

private:
    void put_in(std::span<Lane* const> lanes);
    [[nodiscard]] EvalReport report(std::size_t place) const;
    void execute(std::size_t segment);
    void call(LaneCode::Function function);
    void take_out(Lane& lane, std::size_t place) const;
    [[nodiscard]] LaneMask closed_form(const SolveBlock& block, std::size_t solve);
    [[nodiscard]] bool whole() const { return code_ && code_->whole; }

    const Program& program_;
    const LaneKernels& kernels_;
    std::shared_ptr<const LaneCode> code_;
    LaneNumbers slots_, scratch_;
    LaneNumbers start_, state_, rates_, step_;        // of stages
    LaneNumbers outputs_;                             // of the whole program at once; otherwise they are in their slots
    std::vector<Slot> output_places_;                 // in either
    std::vector<std::unique_ptr<LaneSolve>> solves_;  // by solve; none where it has its closed form
    std::vector<std::vector<LaneGuard>> guards_;      // by solve
    bool settled_ = false;                            // what depends on parameters alone is computed
};

}  // namespace appell
