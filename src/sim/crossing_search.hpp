// Where functions of one variable first cross zero, and none missed: each function is enclosed over intervals that are halved
// until its sign is decided, it is monotone and its end tells, it stays within a band around zero that means nothing, or the
// interval is as short as the variable is resolved. Works on any source of enclosures; nothing allocates after construction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "tape/enclosure.hpp"

namespace appell {

// Functions of a variable s, all evaluated together. `rate`: their slopes by s.
class EnclosedFunctions {
public:
    virtual ~EnclosedFunctions() = default;
    // NaN where a function has no value
    [[nodiscard]] virtual std::span<const double> evaluate(double s) = 0;
    [[nodiscard]] virtual std::span<const MovingInterval> enclose(double from, double to) = 0;
};

// What is known of a function where the search sets out, and what it finds.
struct Crossing {
    static constexpr double k_none = std::numeric_limits<double>::quiet_NaN();

    int side = 0;          // the sign that it has; 0: none yet
    double noise = 0;      // values this close to zero have no sign
    double least = 0;      // what that becomes once it has a clear sign
    double band = 0;       // within it a function may touch zero without crossing it
    bool on_zero = false;  // it set out there, and has not left it clearly: its sign may be round-off
    bool leaves = false;   // from side 0, the first clear sign counts as a crossing
    // A change of sign through infinity, or across where it has no value, is a crossing. Otherwise there is no side left there,
    // and the next clear sign is taken without one.
    bool through_infinity = false;

    bool arrives = false;  // it comes to its side from beyond infinity first

    double at = k_none;      // the first crossing
    double grazes = k_none;  // it touches zero there, and does not cross it
    double lost = k_none;    // it has no value there

    double clear = k_none;  // of the search: on its side there, or not looked at further than that
};

class CrossingSearch {
public:
    explicit CrossingSearch(std::size_t functions);

    // From `begin` up to `end`, which is larger. Stops after the first crossing of any: `at` of the others is right up to there.
    // False: the work was too much, and crossings may be missing.
    [[nodiscard]] bool run(EnclosedFunctions& functions, double begin, double end, std::span<Crossing> crossings);

private:
    struct Piece {
        double a, b;
        std::size_t first, last;  // in undecided_
    };
    enum class Verdict { none, crossing, unclear, near_zero, no_value };

    void look_at(const Piece& piece, std::span<Crossing> crossings);
    [[nodiscard]] static bool has_arrived(Crossing& c, const MovingInterval& over, double at_end, bool shortest);
    [[nodiscard]] Verdict judge(const Crossing& c, const Piece& piece, const MovingInterval& over, double at_end) const;
    void settle(Crossing& c, const Piece& piece, std::size_t which);
    void cross(Crossing& c, const Piece& piece, std::size_t which);
    void section(std::size_t which, int side, double zero, double& a, double& b) const;
    [[nodiscard]] bool go_back_to_clear(const Crossing& c, std::size_t which, int side, double b, double& clear) const;
    [[nodiscard]] bool has_value_after(double s, std::size_t which) const;
    void lose(Crossing& c, double at) const;
    [[nodiscard]] bool is_pole(const Piece& piece, double a, double b, std::size_t which) const;
    [[nodiscard]] bool is_shortest(const Piece& piece) const;

    EnclosedFunctions* functions_ = nullptr;
    double begin_ = 0, end_ = 0, first_ = 0;
    std::vector<Piece> pieces_;
    std::vector<std::size_t> undecided_;
    std::vector<double> at_end_;
};

}  // namespace appell
