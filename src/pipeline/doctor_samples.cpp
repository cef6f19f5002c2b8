#include "pipeline/doctor_samples.hpp"

#include <algorithm>

namespace appell {

namespace {

// what holds at these holds almost everywhere; each costs an evaluation with fifty digits of all that is looked at
constexpr std::size_t k_samples = 8;

}  // namespace

Samples doctor_samples(const ConstrainedDynamics& d, const LoweredMotion& lowered, const ConsistentStates& states,
                       std::span<const double> start) {
    Samples out;
    out.symbols = program_inputs(*d.model);
    out.symbols.push_back(lowered.length_symbol);
    out.states.assign(states.exact.begin(),
                      states.exact.begin() + static_cast<std::ptrdiff_t>(std::min(states.exact.size(), k_samples)));
    out.start.emplace_back(d.model->run.from);
    out.start.insert(out.start.end(), start.begin(), start.end());
    out.start.insert(out.start.end(), lowered.motion.parameters.begin(), lowered.motion.parameters.end());
    return out;
}

}  // namespace appell
