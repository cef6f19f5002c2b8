#include "pipeline/doctor_samples.hpp"

namespace appell {

Samples doctor_samples(const ConstrainedDynamics& d, const LoweredMotion& lowered, const ConsistentStates& states,
                       std::span<const double> start) {
    Samples out;
    out.symbols = program_inputs(*d.model);
    out.symbols.push_back(lowered.length_symbol);
    out.states = states.exact;
    out.start.emplace_back(d.model->run.from);
    out.start.insert(out.start.end(), start.begin(), start.end());
    out.start.insert(out.start.end(), lowered.motion.parameters.begin(), lowered.motion.parameters.end());
    return out;
}

}  // namespace appell
