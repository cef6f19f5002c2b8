// Wall-clock time per named phase, in the order the phases ran.
#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace appell {

class PhaseTimer {
public:
    // ends the current phase and starts the named one
    void start(std::string name) {
        stop();
        current_ = std::move(name);
        begin_ = Clock::now();
    }
    void stop() {
        if (current_.empty()) return;
        phases_.emplace_back(std::move(current_), std::chrono::duration<double>(Clock::now() - begin_).count());
        current_.clear();
    }
    [[nodiscard]] const std::vector<std::pair<std::string, double>>& phases() const { return phases_; }

private:
    using Clock = std::chrono::steady_clock;

    std::string current_;
    Clock::time_point begin_;
    std::vector<std::pair<std::string, double>> phases_;
};

}  // namespace appell
