// Work that is done at an instant, by an impact or a jump of the state, goes into the ledger at once. The entry is one of
// Motion::works; without any other force it has the power zero.
#pragma once

#include <span>

#include "sim/motion.hpp"

namespace appell {

// in a state q, u, w; an integrator takes it with replace_state
inline void add_work(const Motion& motion, std::span<double> x, std::size_t entry, double work) {
    x[motion.states() + entry] += work;
}

}  // namespace appell
