// The certificate of a model's text, and one formulation's part in it.
#pragma once

#include <gtest/gtest.h>

#include "pipeline/certificate.hpp"
#include "sim/simulate.hpp"
#include "support/gallery_run.hpp"

namespace appell {

inline std::vector<double> start_of(const LoweredMotion& lowered) {
    return simulate(lowered.motion, lowered.x0, {.t0 = 0, .t1 = 0}, [](double, std::span<const double>) {}).x_start;
}

inline Certificate certificate_of(const ConstrainedDynamics& dynamics) {
    const auto lowered = lower_motion(dynamics, {});
    EXPECT_TRUE(lowered.ok());
    if (!lowered.ok()) return {};
    return certify(dynamics, *lowered, random_consistent_states(dynamics, *lowered, start_of(*lowered)));
}

inline Certificate certificate_of(const std::string& text) {
    const Derivation d = derive_text(text);
    EXPECT_TRUE(d.ok()) << render(d.diagnostics, d.sources);
    return d.ok() ? certificate_of(*d.dynamics) : Certificate{};
}

inline FormulationAgreement agreement(const Certificate& certificate, const std::string& name) {
    for (const FormulationAgreement& f : certificate.formulations)
        if (f.name == name) return f;
    ADD_FAILURE() << "no formulation " << name;
    return {};
}

}  // namespace appell
