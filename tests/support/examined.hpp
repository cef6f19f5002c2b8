// A model's text with the states the doctor looks at.
#pragma once

#include "pipeline/doctor_samples.hpp"
#include "support/certificate_of.hpp"

namespace appell {

struct Examined {
    Derivation derivation;
    Samples samples, varied;

    [[nodiscard]] const ConstrainedDynamics& dynamics() const { return *derivation.dynamics; }
};

inline Examined examined(const std::string& text, std::size_t states = 30) {
    Examined out{derive_text(text), {}, {}};
    EXPECT_TRUE(out.derivation.ok()) << render(out.derivation.diagnostics, out.derivation.sources) << text;
    if (!out.derivation.ok()) return out;
    const auto lowered = lower_motion(out.dynamics(), {});
    EXPECT_TRUE(lowered.ok()) << text;
    if (!lowered.ok()) return out;
    const std::vector<double> start = start_of(*lowered);
    CertificateOptions options;
    options.states = states;
    const auto states_of = [&] {
        return doctor_samples(out.dynamics(), *lowered, random_consistent_states(out.dynamics(), *lowered, start, options),
                              start);
    };
    out.varied = states_of();
    options.vary_parameters = false;
    out.samples = states_of();
    EXPECT_GT(out.samples.size(), 2u) << text;
    return out;
}

// One particle on a line of its own for each coordinate: any set of rows over any space of configurations.
inline std::string on_lines(const std::vector<std::string>& coordinates, const std::string& rest) {
    std::string text = "system lines\n";
    for (std::size_t i = 0; i < coordinates.size(); ++i) {
        const std::string& q = coordinates[i];
        text += "coord " + q + " = 0." + std::to_string(3 + 2 * i) + "\n";
        text += "point P" + q + " at O + " + q + "*N.x\nparticle P" + q + " mass 1\n";
    }
    return text + rest;
}

}  // namespace appell
