// Runs of one motion that take their ordinary steps together (sim/march.hpp), up to eight at a time.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "lanes/lane_march_plan.hpp"
#include "lanes/lane_workspace.hpp"
#include "sim/march.hpp"
#include "sim/motion.hpp"

namespace appell {

class LaneMarch {
public:
    // All programs of a step can be evaluated in lanes, and the rows of velocities are solved with pivots.
    [[nodiscard]] static bool possible(const Motion& motion);

    // The motion must outlive it; copies of it march like the motion itself.
    explicit LaneMarch(const Motion& motion, const LaneKernels& kernels = best_lane_kernels());
    LaneMarch(const LaneMarch&) = delete;
    LaneMarch& operator=(const LaneMarch&) = delete;

    [[nodiscard]] bool is_for(const Motion& motion) const;
    [[nodiscard]] std::size_t seated() const;
    [[nodiscard]] bool full() const { return seated() == k_lanes; }
    // False: it has another method than those who march, and must go alone.
    [[nodiscard]] bool seat(March& march);
    // Goes on until somebody leaves, at the latest where his next step is not ordinary; his numbers are back in his memory then.
    // Those who left are put into `left`, how many is the result.
    [[nodiscard]] std::size_t go(std::array<March*, k_lanes>& left);

private:
    struct Evaluated {
        Evaluated(const Program& program, const LaneKernels& kernels, LaneEvaluation& out);
        LaneWorkspace workspace;
        std::vector<LaneEvaluation::Pivots> pivots;
    };
    void use(const MarchMethod& method);
    void exchange(std::size_t lane, March& march, bool into_lane);
    [[nodiscard]] bool at_its_end(std::size_t lane) const;

    const Motion& motion_;
    const LaneKernels& kernels_;
    MarchMethod method_;
    LaneMarchPlan plan_;
    std::optional<Evaluated> rate_, position_, velocity_;
    std::vector<std::size_t> row_begin_;
    LaneNumbers numbers_;
    std::array<March*, k_lanes> seats_{};
};

}  // namespace appell
