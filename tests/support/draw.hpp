// Random numbers of a test, by a fixed seed, and numbers as text that a model reads back with every digit.
#pragma once

#include <cstddef>
#include <random>
#include <string>

#include <fmt/format.h>

namespace appell {

class Draw {
public:
    explicit Draw(unsigned seed) : random_(seed) {}
    double uniform(double a, double b) { return std::uniform_real_distribution(a, b)(random_); }
    double sign() { return uniform(-1, 1) < 0 ? -1 : 1; }
    std::size_t below(std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random_); }

private:
    std::mt19937 random_;
};

inline std::string text(double x) { return fmt::format("({:.17g})", x); }

}  // namespace appell
