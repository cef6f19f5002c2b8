#include "lanes/lane_kernels_source.hpp"
#include "lanes/lane_march_source.hpp"
#include "lanes/lane_sines_source.hpp"

namespace appell {

const LaneKernels k_lane_kernels_avx512{8, execute, solve, guards, finite, move, turn, sines_with_cosines};

}  // namespace appell
