// Watches the gradients of the constraint rows (rows of A, in the metric of M) along a run, so that no step, however tolerant,
// passes a state where the constraints are singular: where the gradient of one vanishes (x*y = 0 at the crossing of its lines),
// where it turns on the spot (u3 = sqrt(u1^2 + u2^2) at rest), or where rows become dependent for an instant.
//
// Along a step all is judged against its own neighbours in time, never against a size: on a motion that keeps clear of such
// states, gradients turn and shrink a little at a time once the steps are short enough. So a finding is a suspicion at first: the
// caller shortens the step, and believes it when the step no longer moves the state by the tolerances of the run. It is certain
// where the singularity is very near: still shorter steps would only lead round it on the errors made.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "sim/integrator.hpp"
#include "sim/project.hpp"

namespace appell {

enum class RowLoss : std::uint8_t {
    none,
    vanishes,  // the gradient of a constraint goes to zero
    turns,     // its direction jumps
    dependent  // rows that were independent no longer are
};

struct RowFinding {
    RowLoss loss = RowLoss::none;
    std::size_t row = 0;  // of the velocity program; for a vector equation its first one
    bool certain = false;
    bool unseen = false;  // nothing was found, but some state inside the step could not be had: a shorter one may show it
};

class RowWatch {
public:
    // watches the rows of this projector, which it also uses to look at other states
    RowWatch(const Motion& motion, Projector& velocity);

    // At the start: a gradient that is nothing against what it is at states around.
    [[nodiscard]] RowFinding start(double t, std::span<const double> x);
    // Along the last step of the integrator, up to the state that the projector saw last.
    [[nodiscard]] RowFinding look(Integrator& integrator);
    // Where a run ends: a gradient that is another one close by, or rows that are much less dependent there. Where a step can not
    // be projected, however short, the singularity may be farther off: residuals over gradients that vanish do not come down to
    // round-off. As far off dependent entries lose their share in a row that vanishes; they may as well without, so that a
    // gradient must be short already.
    enum class Failed { step, projection, partition };
    [[nodiscard]] RowFinding near(double t, std::span<const double> x, Failed failed = Failed::step);
    // that state was accepted: the next step sets out from there
    void accept(std::span<const double> x);
    // How large coordinates and speeds have been: a stretch of a run that begins next to a singularity shows too little of it.
    struct Sizes {
        std::vector<double> coordinates;
        double speed = 0;
    };
    [[nodiscard]] Sizes sizes() const { return {q_sizes_, u_size_}; }
    void know(const Sizes& before);
    // Its part of a march (march.hpp): what it remembers of accepted states, and where the march has come to. False where rows
    // are not watched by directions of full rank.
    [[nodiscard]] bool lend(March& march);
    void take_back(const March& march);
    void checkpoint(Checkpoint& checkpoint);

private:
    struct Sample {
        std::vector<double> rows;
        std::vector<double> directions;  // the rows made orthonormal, where all are watched together
        // By constraint, the length of its rows taken together; then the smallest pivot, and less where one of independent rows
        // of a constraint vanishes beside its others.
        std::vector<double> size;
        std::size_t weakest = 0;  // the row that is nearest to depending on the others
        bool known = false;       // everything finite
        bool bordered = false;    // the rows are in another metric
    };

    void take(Sample& sample, const EvalReport& report) const;
    void weigh_components(Sample& sample) const;
    const Sample& sample_at(Integrator& integrator, double t, Sample& sample);
    // the state inside the step, or the step is unseen
    [[nodiscard]] bool look_inside(Integrator& integrator, double t, std::vector<double>& x);
    [[nodiscard]] std::size_t constraints() const { return first_row_.size() - 1; }
    [[nodiscard]] static bool comparable(const Sample& a, const Sample& b) {
        return a.known && b.known && a.bordered == b.bordered;
    }
    [[nodiscard]] double angle(const Sample& a, const Sample& b, std::size_t which);
    // Which constraints follow from the others? Where the gradient of one of those vanishes nothing is lost.
    void find_implied(const Sample& sample);
    [[nodiscard]] bool may_vanish(std::size_t which) const { return which < constraints() && implied_[which]; }
    // its length changes so much that the gradient passes through zero, or may
    [[nodiscard]] bool vanishes_in_vain(std::size_t which, double least, double most) const;
    // against the longest it was
    [[nodiscard]] bool is_short(const Sample& sample, std::size_t constraint) const;
    [[nodiscard]] bool turns(const Sample& a, const Sample& b, std::size_t which);
    [[nodiscard]] bool turned_over(const Sample& a, const Sample& b);
    [[nodiscard]] RowFinding finding(RowLoss loss, std::size_t which) const {
        return which == constraints() ? RowFinding{RowLoss::dependent, weakest_row_} : RowFinding{loss, first_row_[which]};
    }
    void grow(std::span<const double> x);
    struct Around {
        double q_part, u_part;  // of each coordinate, and of the largest speed: how far
        double least = 0, turn = 0, pivots = 0;
        bool must_be_short = false, must_double = false;  // a gradient that turns
    };
    [[nodiscard]] RowFinding look_around(double t, std::span<const double> x, const Around& around);
    [[nodiscard]] RowFinding look_over(Integrator& integrator);
    [[nodiscard]] RowFinding look_along(Integrator& integrator);
    [[nodiscard]] RowFinding look_at_rest(Integrator& integrator);
    [[nodiscard]] RowFinding look_closely(Integrator& integrator);
    [[nodiscard]] RowFinding look_ahead(Integrator& integrator);
    [[nodiscard]] bool dips(Integrator& integrator, std::size_t which);
    [[nodiscard]] bool spikes(Integrator& integrator, std::size_t which);
    [[nodiscard]] double sign_times_least(Integrator& integrator, std::size_t which, std::size_t around, double sign);
    [[nodiscard]] bool jumps(std::size_t which) const;

    static constexpr std::size_t k_parts = 8;  // of a step that is looked at closely

    Projector& velocity_;
    std::size_t columns_, states_;
    std::vector<double> q_sizes_;         // of each coordinate, the largest so far
    double u_size_ = 0;                   // of the largest speed
    std::vector<std::size_t> first_row_;  // by constraint, and the end
    std::vector<std::size_t> begin_;      // by constraint, and the end: of its rows' entries
    std::size_t rank_ = 0;                // at the start
    bool together_ = false;               // several rows, all independent at the start: they are watched together, too
    std::vector<double> overlap_;         // of the directions of two samples
    std::vector<std::pair<std::size_t, std::size_t>> reach_a_, reach_b_;  // columns outside which they are zero
    std::vector<double> state_, other_state_, x_before_;
    Sample before_, after_, end_, middle_, trial_, other_trial_;
    std::vector<double> longest_;  // by constraint: its gradient, so far
    std::vector<bool> turned_;     // of look_around
    std::vector<bool> implied_;    // by constraint
    bool unseen_ = false;          // of look
    double longest_step_ = 0;
    double turn_rate_ = 0;                                // of the gradient that turned most, in the last step that was resolved
    std::array<std::vector<double>, k_parts + 1> sizes_;  // between the parts
    std::array<std::vector<double>, k_parts> angles_;     // turned along each part, by constraint; then all together
    std::size_t weakest_row_ = 0;                         // at the sample with the smallest pivot
};

}  // namespace appell
