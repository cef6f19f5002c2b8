// One line on a terminal that says how far a run is, how fast it goes and how long it will take; nothing in a pipe.
#pragma once

#include <chrono>
#include <cstddef>

namespace appell {

class ProgressLine {
public:
    using Clock = std::chrono::steady_clock;

    ProgressLine(double from, double to, bool shown) : from_(from), to_(to), at_(from), shown_(shown) {}
    ~ProgressLine() { clear(); }
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;

    void show(double t, Clock::time_point now);
    void show_members(std::size_t done, Clock::time_point now);  // of a sweep
    void clear();

private:
    [[nodiscard]] bool advance(double to, Clock::time_point now);

    double from_, to_;
    double at_;        // of the last line
    double rate_ = 0;  // of the run's time, per second; of late more than of long ago
    bool shown_, written_ = false;
    Clock::time_point last_ = Clock::now();
};

}  // namespace appell
