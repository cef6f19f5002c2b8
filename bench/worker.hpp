// What every program of the bench, ours and the peers', speaks with bench/run: it prepares itself and prints one line of JSON
// with its counts; then, for each line on its standard input, it measures once and prints {"seconds": s, "values": [...]}.
// So both sides of a comparison wait beside each other, and measurements alternate between them.
#pragma once

#include <time.h>

#include <cstdio>
#include <functional>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

namespace bench {

using Counts = std::vector<std::pair<std::string, double>>;

// Time of the processor spent by this process: others may be at work on the machine.
inline double processor_time() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

inline double wall_time() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// what the optimizer must not see through
inline void keep(const void* p) { asm volatile("" : : "g"(p) : "memory"); }

// Seconds of one call, by batches that last long enough for the clock.
class Batches {
public:
    explicit Batches(double at_least = 0.02) : at_least_(at_least) {}

    template <class Call>
    double seconds(Call call) {
        for (;;) {
            const double start = processor_time();
            for (long i = 0; i < count_; ++i) call(i);
            const double elapsed = processor_time() - start;
            if (elapsed >= at_least_) return elapsed / static_cast<double>(count_);
            count_ = elapsed > at_least_ / 100 ? static_cast<long>(static_cast<double>(count_) * 1.3 * at_least_ / elapsed) + 1
                                               : count_ * 10;
        }
    }

private:
    double at_least_;
    long count_ = 1;
};

// The states that an evaluation is measured at. A small one is moved along the last rate, as the stages of an integrator have it:
// the next evaluation waits for this one, and all numbers are written the way they are read. (With one number changed by itself,
// whoever reads it as half of a pair waits for the store, longer than a small right-hand side takes.) In a large one, which lasts
// longer than any wait, one number changes.
class States {
public:
    States(std::vector<double> x, std::size_t changed) : changed_(changed), start_(std::move(x)), x_(start_) {}
    [[nodiscard]] const std::vector<double>& state() const { return x_; }
    void next(long i, const double* rate) {
        if (x_.size() > 256)
            x_[changed_] = start_[changed_] + 1e-12 * static_cast<double>(i & 1023);
        else
            for (std::size_t k = 0; k < x_.size(); ++k) x_[k] = start_[k] + 1e-12 * rate[k];
    }

private:
    std::size_t changed_;
    std::vector<double> start_, x_;
};

struct Measurement {
    double seconds = 0;
    std::vector<double> values = {};  // what both sides must agree on
};

// `version` is that of the peer, as it says it
inline int serve(const Counts& counts, const std::function<Measurement()>& measure, const std::string& version = "") {
    std::string line = "{\"version\": \"" + version + "\", \"counts\": {";
    for (const auto& [name, value] : counts) {
        char number[40];
        std::snprintf(number, sizeof number, "%.17g", value);
        line += (line.back() == '{' ? "\"" : ", \"") + name + "\": " + number;
    }
    std::cout << line << "}}" << std::endl;
    for (std::string request; std::getline(std::cin, request);) {
        const Measurement found = measure();
        std::string values;
        for (const double value : found.values) {
            char number[40];
            std::snprintf(number, sizeof number, "%s%.17g", values.empty() ? "" : ", ", value);
            values += number;
        }
        char seconds[40];
        std::snprintf(seconds, sizeof seconds, "%.9g", found.seconds);
        std::cout << "{\"seconds\": " << seconds << ", \"values\": [" << values << "]}" << std::endl;
    }
    return 0;
}

}  // namespace bench
