// Eigenvalues over a range of a parameter, of an input or of a held variable, and the values where stability changes.
//
// A critical value is where the number of eigenvalues with a positive real part changes. It is enclosed by bisection of that
// number, which needs no smoothness: eigenvalues that leave the imaginary axis after they have met (0 and 0, or two pairs) have
// a real part like a square root there. Eigenvalues that are zero throughout are counted apart and never take part.
#pragma once

#include <complex>
#include <string>
#include <vector>

#include "doctor/linearization.hpp"

namespace appell {

struct SweepRange {
    std::string name;
    std::size_t place = 0;     // in a point: of a parameter or an input ...
    std::optional<Held> held;  // ... or what is held at the value
    double from = 0, to = 1;
    std::size_t count = 51;
};

struct SweepPoint {
    double value = 0;
    bool found = false;
    std::size_t zeros = 0, unstable = 0;
    std::vector<std::complex<double>> eigenvalues;  // in the order of the point before, as far as they can be followed
};

struct CriticalValue {
    double value = 0;
    double width = 0;                                     // of the interval that encloses it
    std::size_t unstable_before = 0, unstable_after = 0;  // eigenvalues with a positive real part below and above
    double frequency = 0;                                 // rad/s of the pair that crosses; 0: through zero
};

struct EigenvalueSweep {
    std::string name;
    std::vector<SweepPoint> points;
    std::vector<CriticalValue> critical;
    std::vector<std::string> gaps;  // why there are points without eigenvalues, each reason once
};

// `about`: what was found at the model's own values; each point of the sweep starts from the one before.
[[nodiscard]] EigenvalueSweep sweep_eigenvalues(Linearizer& linearizer, const LinearSystem& about, const TrimRequest& request,
                                                const SweepRange& range);

}  // namespace appell
