// Where guards pass through zero inside a step, and none missed: relative to the continuous extension of the step, each guard is
// enclosed over intervals of time (crossing_search.hpp). A guard that cannot be enclosed (opaque functions, large solves, laws
// that depend on their own forces) is sampled instead, and counted.
//
// A guard has a side, the sign that it had last. It passes where it is clearly on the other one: by more than round-off. Guards
// that have just acted lie on zero, give or take the tolerances: they have no side until they have clearly left it, and count
// again from then on. A guard that comes within the tolerances of zero and goes back grazes it. Nothing allocates after
// construction.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "sim/clear_region.hpp"
#include "sim/crossing_search.hpp"
#include "sim/integrator.hpp"
#include "sim/motion_program.hpp"
#include "sim/step_polynomials.hpp"
#include "sim/switching.hpp"

namespace appell {

class GuardWatch {
public:
    // rtol, atol: of the run; dense_degree: of its integrator
    GuardWatch(const Motion& motion, std::size_t dense_degree, double rtol, double atol);
    ~GuardWatch();

    [[nodiscard]] bool empty() const { return guards_.empty(); }
    void set_parameter(std::size_t index, double value);

    // settled: what is known of guards beyond their values (switching.hpp)
    void start(double t, std::span<const double> x, std::span<const Settled> settled);
    // The first passage after `from` in the last step of the integrator; false without any. `from` is where the step began, or
    // the passage before. What there is to note about guards up to there is in notes().
    [[nodiscard]] bool look(Integrator& integrator, double from);
    // the last step was taken back: what was seen along it was not
    void take_back();
    [[nodiscard]] double t() const { return t_; }
    [[nodiscard]] std::span<const std::size_t> passed() const { return passed_; }
    // It did not leave what the tolerances make of zero, or hardly, between its last passage and this one.
    [[nodiscard]] bool hardly_left_zero(std::size_t guard) const { return memory_[guard].hardly_left; }
    // of all guards after that, the other side of those that passed; 0 where nothing is known
    [[nodiscard]] std::span<const int> sides() const { return sides_; }
    [[nodiscard]] std::span<const GuardNote> notes() const { return notes_; }
    // the sides at the end of the last step, of those that nothing has settled
    [[nodiscard]] std::span<const int> sides_now();

    // The continuous extension of the last step could not be had: nothing is known of its inside.
    [[nodiscard]] bool blind() const { return blind_; }

    // a gap that is below `limit` at a state; none where all are above
    struct Gap {
        std::size_t guard;
        double value;
    };
    [[nodiscard]] std::optional<Gap> gap_below(double t, std::span<const double> x, double limit);

private:
    class Part;
    struct Memory {                                  // of one guard
        int side = 0, side_before = 0;               // now; where the step began
        double within = 0, within_before = 0;        // above 0: settled, until it is farther from zero than that
        double size = 0, measured = 0;               // of |guard|: where the motion set out, and where the following was measured
        double band = 0;                             // what the tolerances of the state make of it
        double round_off = 0, round_off_before = 0;  // of it: now, and when it was measured before
        bool arrives = false;                        // on its side, as soon as it is through infinity
        bool at_pole = false;                        // the tolerances of the state make anything of it
        double farthest = 0;                         // it was from zero, since it passed or the motion set out
        bool hardly_left = false;                    // before it passed
        double touch = Crossing::k_none, touch_before = Crossing::k_none;  // it came near zero then, and has not left it
        bool said_no_value = false, said_sampled = false;
    };

    [[nodiscard]] double noise(std::size_t guard) const;
    [[nodiscard]] double least_noise(std::size_t guard) const;
    [[nodiscard]] double round_off(std::size_t guard) const;
    [[nodiscard]] bool counts(std::size_t guard, int from, int to) const;
    [[nodiscard]] double tolerance(double value) const;
    void know_round_off(std::span<const double> x);
    [[nodiscard]] double round_off_of_entry(std::span<const double> x, std::size_t entry) const;
    bool follow(Integrator& integrator);
    [[nodiscard]] double find_first(double from);
    void pass(double first);
    void finish_step();
    void note(GuardNote::What what, std::size_t guard, double s);
    [[nodiscard]] double time(double s) const;

    const std::vector<Guard> guards_;
    std::size_t states_, coordinates_;
    std::array<double, 2> largest_{};  // of coordinates, of speeds, where round-off was measured
    double rtol_, atol_;
    std::vector<std::unique_ptr<Part>> parts_;
    std::vector<double> parameters_;    // as the guards' programs have them
    std::vector<std::size_t> entries_;  // of the state that guards depend on
    StepPolynomials step_;
    double t_from_ = 0, t_to_ = 0, s_ = -1;  // of the step that step_ follows; the last passage in it
    ClearRegion region_;
    std::size_t steps_ = 0;  // since bands were measured
    bool followed_ = false;  // step_ is the last step
    bool blind_ = false, has_gaps_ = false;
    std::vector<double> state_, end_state_;
    std::vector<Memory> memory_;
    std::vector<int> sides_;
    std::vector<Crossing> crossings_;
    double t_ = 0;
    std::vector<std::size_t> passed_;
    std::vector<GuardNote> notes_;
};

}  // namespace appell
