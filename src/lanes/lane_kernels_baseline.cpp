#include "lanes/lane_kernels_source.hpp"
#include "lanes/lane_march_source.hpp"

namespace appell {

const LaneKernels k_lane_kernels_baseline{2, execute, solve, guards, finite, move, turn, nullptr};

}  // namespace appell
