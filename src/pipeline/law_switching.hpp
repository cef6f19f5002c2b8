// Conditions in the laws of a run (expr/conditions.hpp): on which side of each the motion is, where that changes, and by what.
//
// A condition that depends on the state is a guard like any other; the instants of those that depend on time alone are solved for
// beforehand. Near its surface (the states where its two sides are equal) a condition has the side that the motion leads to: with
// the rates under both sides known, there is one such side, or the laws hold as they are written while the state stays on the
// surface. Where both sides lead back to the surface, the motion would slide along it: no law of the model says how, and the run
// ends with the condition's name.
#pragma once

#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/diagnostics.hpp"
#include "dynam/constrained_dynamics.hpp"
#include "expr/conditions.hpp"
#include "pipeline/law_programs.hpp"
#include "sim/crossing_search.hpp"
#include "sim/simulate.hpp"
#include "tape/enclosure.hpp"

namespace appell {

// the side of a guard that has no side while its condition is on its surface
[[nodiscard]] constexpr int side_off_surface(int side) { return side == k_on_surface ? 0 : side; }

class LawSwitching {
public:
    // of all laws of the system; options: of the run
    LawSwitching(const ConstrainedDynamics& whole, const SimulateOptions& options, Diagnostics& diagnostics);

    [[nodiscard]] FrozenConditions& conditions() { return conditions_; }
    [[nodiscard]] bool empty() const { return conditions_.empty(); }
    // by condition: 1 or -1; k_on_surface; 0: as it is written
    [[nodiscard]] std::span<const int> sides() const { return sides_; }
    [[nodiscard]] std::size_t switches() const { return switches_; }
    [[nodiscard]] bool backwards() const { return direction_ < 0; }

    struct Flip {
        std::size_t condition;
        int side;
    };
    // The sides at a state. `flips`: conditions that just came to their surface, and the sides they go to. False where the motion
    // would slide; then `why` says along what.
    [[nodiscard]] bool decide(LawPrograms& programs, double t, std::span<const double> x, std::span<const Flip> flips,
                              Diagnostic& why);

    // After speeds have jumped with the sides: conditions that came to their surface go on to their new side. False where one
    // goes back; then `why` names it.
    [[nodiscard]] bool leaves_surfaces(LawPrograms& programs, double t, std::span<const double> x, Diagnostic& why);

    // The first instant after t at which conditions switch by time alone; t_end without any.
    [[nodiscard]] double next_instant(LawPrograms& programs, double t, double t_end);
    // those that do there; none where the search only got that far
    [[nodiscard]] std::span<const Flip> due() const { return due_; }

    // A condition of time alone that has no value right after t, on which the rate of the motion depends at a state.
    [[nodiscard]] std::optional<std::size_t> without_value(LawPrograms& programs, double t, std::span<const double> x);

    // the surface of a condition: "x = 1"
    [[nodiscard]] std::string text(std::size_t condition) const;
    // a condition that the motion can neither cross nor leave
    [[nodiscard]] Diagnostic sliding(std::size_t condition, double t) const;
    // where a run goes on no more because conditions switch again and again from some time on
    [[nodiscard]] std::optional<Diagnostic> endless(double from, double t) const;

private:
    struct Last {
        std::size_t condition;
        double t;
    };
    enum class Lead { one_side, as_written, slides };

    // a condition that came to its surface at the last instant, and its value there
    struct Mark {
        bool set = false;
        double value = 0;
        int from = 0;          // the side that it came from; 0: none
        bool certain = false;  // that it is on the other side from then on
    };

    // when a condition of time alone switches next, found from some time on
    struct Next {
        double at = 0;  // then, or where it loses its value, or where the search came to its end
        double t_end = std::numeric_limits<double>::quiet_NaN();
        int from = 0, to = 0;  // sides; to 0: it does not
    };
    [[nodiscard]] Next search(LawPrograms& programs, std::size_t clock, double t, double t_end) const;

    void grow();
    void mark(double t, std::span<const Flip> flips);
    [[nodiscard]] bool is_on_surface(std::size_t condition) const;
    void measure_noise(LawPrograms& programs, double t, std::span<const double> x);
    void take_values(LawPrograms& programs, double t, std::span<const double> x);
    void look(LawPrograms& programs, double t, std::span<const double> x);
    [[nodiscard]] double rate_with(LawPrograms& programs, double t, std::span<const double> x, std::size_t condition, int side);
    struct Second {
        double rate, size;
    };
    [[nodiscard]] Second second_with(LawPrograms& programs, double t, std::span<const double> x, std::size_t condition, int side);
    [[nodiscard]] Lead lead(LawPrograms& programs, double t, std::span<const double> x, std::size_t condition);
    [[nodiscard]] Lead rest(LawPrograms& programs, double t, std::span<const double> x, std::size_t condition);
    [[nodiscard]] bool is_held(LawPrograms& programs, double t, std::span<const double> x, std::size_t condition) const;
    void look_at_held(LawPrograms& programs, double t, std::span<const double> x);
    void put(LawPrograms& programs, std::size_t condition, int side);

    const Graph& g_;
    FrozenConditions conditions_;
    double direction_, duration_;
    bool begun_ = false;
    std::vector<int> sides_;
    std::vector<Mark> marks_;
    double marked_at_ = std::numeric_limits<double>::quiet_NaN();
    double rate_size_ = 0;                                  // of the terms of the last rate_with
    std::vector<double> values_, sizes_, largest_, noise_;  // by condition; differences below the noise have no sign
    std::vector<Flip> due_;
    std::vector<Next> next_;  // by condition
    std::size_t switches_ = 0;
    std::optional<Last> last_;  // switch
};

}  // namespace appell
