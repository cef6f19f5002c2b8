#include "lanes/lane_kernels_source.hpp"
#include "lanes/lane_march_source.hpp"

namespace appell {

const LaneKernels k_lane_kernels_avx2{4, execute, solve, guards, finite, move, turn, nullptr};

}  // namespace appell
