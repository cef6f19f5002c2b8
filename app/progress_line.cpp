#include "progress_line.hpp"

#include <cmath>
#include <cstdio>
#include <string>

#include <fmt/format.h>

#include "base/number_format.hpp"
#include "command_line.hpp"

namespace appell {

namespace {

constexpr double k_between = 0.25;  // seconds
constexpr double k_recent = 0.3;    // share of the last stretch in the rate

std::string duration(double seconds) {
    if (!(seconds < 360'000)) return "days";
    const auto whole = static_cast<long>(std::ceil(seconds));
    if (whole < 60) return fmt::format("{} s", whole);
    if (whole < 3600) return fmt::format("{}:{:02} min", whole / 60, whole % 60);
    return fmt::format("{}:{:02} h", whole / 3600, whole / 60 % 60);
}

}  // namespace

// false: it is too early for another line
bool ProgressLine::advance(double to, Clock::time_point now) {
    const double passed = std::chrono::duration<double>(now - last_).count();
    if (!shown_ || passed < k_between) return false;
    const double rate = std::abs(to - at_) / passed;
    rate_ = rate_ == 0 ? rate : rate_ + k_recent * (rate - rate_);
    last_ = now;
    at_ = to;
    return written_ = true;
}

void ProgressLine::show(double t, Clock::time_point now) {
    if (!advance(t, now)) return;
    tell(fmt::format("\rsimulating: {:3.0f}%  t = {} s  {} s per second  {} left\x1b[K", 100 * (t - from_) / (to_ - from_),
                     short_number(t, 4), short_number(rate_, 3), rate_ > 0 ? duration(std::abs(to_ - t) / rate_) : "?"));
    std::fflush(stderr);
}

void ProgressLine::show_members(std::size_t done, Clock::time_point now) {
    const auto count = static_cast<double>(done);
    if (!advance(count, now)) return;
    tell(fmt::format("\rsweeping: {} of {:.0f} members  {} per second  {} left\x1b[K", done, to_, short_number(rate_, 3),
                     rate_ > 0 ? duration((to_ - count) / rate_) : "?"));
    std::fflush(stderr);
}

void ProgressLine::clear() {
    if (!written_) return;
    tell("\r\x1b[K");
    std::fflush(stderr);
    written_ = false;
}

}  // namespace appell
