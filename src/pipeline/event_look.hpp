// What the expressions of events are worth at a state: their values, what round-off and the tolerances of the run make of them,
// and where the motion takes them.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <vector>

#include "sim/motion.hpp"
#include "sim/motion_program.hpp"
#include "tape/enclosure.hpp"

namespace appell {

struct EventValue {
    double value = 0;
    double noise = 0;  // what the round-off of the state makes of it
    double band = 0;   // what the tolerances of the state make of it
    int heads = 0;     // the sign of its rate in the direction of the run; 0: the rate is round-off
    double speed = 0;  // the size of that rate

    [[nodiscard]] bool near_zero() const { return std::abs(value) <= std::max(noise, band); }
    [[nodiscard]] int side() const { return !(std::abs(value) > noise) ? 0 : value > 0 ? 1 : -1; }
};

class EventLook {
public:
    // rtol, atol, direction: of the run; `events`: with the output "value"
    EventLook(const Motion& motion, const Program& events, double rtol, double atol, int direction);

    [[nodiscard]] std::span<const EventValue> run(double t, std::span<const double> x);

private:
    void take_parameters();
    void measure_by_intervals(double t, std::span<const double> x);
    void measure_by_differences(double t, std::span<const double> x);
    void set_entries(double t, double of_time, std::span<const double> x, std::span<const double> widths);
    [[nodiscard]] double largest(std::span<const double> entries) const;

    const Motion& motion_;
    double rtol_, atol_;
    int direction_;
    MotionProgram values_, rate_;
    OutputRange output_;
    std::optional<Enclosure> enclosure_;
    std::vector<double> round_off_, tolerance_, xd_, xd_round_off_, moved_;  // by entry of the state
    std::vector<EventValue> out_;
};

}  // namespace appell
