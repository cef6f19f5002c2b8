// A model's text with the samples the doctor looks at, as `check` makes them.
#pragma once

#include "pipeline/doctor_samples.hpp"
#include "support/certificate_of.hpp"

namespace appell {

struct DoctorLook {
    Derivation derivation;
    Samples samples;

    [[nodiscard]] const ConstrainedDynamics& dynamics() const { return *derivation.dynamics; }
};

inline DoctorLook doctor_look(const std::string& text, ReadOptions options = {}) {
    DoctorLook out{derive_text(text, std::move(options)), {}};
    EXPECT_TRUE(out.derivation.ok()) << text << render(out.derivation.diagnostics, out.derivation.sources);
    if (!out.derivation.ok()) return out;
    const auto lowered = lower_motion(out.dynamics(), {});
    EXPECT_TRUE(lowered.ok());
    std::vector<double> start = start_of(*lowered);
    if (start.empty()) start = lowered->x0;
    CertificateOptions few;
    few.states = 8;
    few.tries = 300;
    out.samples = doctor_samples(out.dynamics(), *lowered, random_consistent_states(out.dynamics(), *lowered, start, few), start);
    return out;
}

}  // namespace appell
