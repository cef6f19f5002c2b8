// The way of a run through a singular position, where the constraints on positions lose rank for an instant: along the branch of
// the motion that keeps the velocities (decision 038).
//
// The positions that satisfy the constraints form branches which cross there. On the one that the motion came in along everything
// is smooth, the accelerations included, though multipliers need not be. So the arc across is one step of Gauss's collocation
// whose stages lie on both sides of the singular position and none on it. Each stage is brought onto the constraints from the
// arc's polynomial, its rate is evaluated, and the rates make the next polynomial, until nothing changes. The arc holds where
//     - all stages are states of full rank on the constraints, and so is its end;
//     - two orders of the method agree to the tolerances of the run: a branch with a kink has no such polynomial;
//     - the rank is lost linearly in time, from both sides toward the same instant: then every other branch through the singular
//       position has another direction there, and no other motion keeps these velocities.
// Arcs of several lengths are tried; where none holds there is no smooth continuation. To those who look into it the arc is a
// step of an integrator.
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "sim/integrator.hpp"
#include "sim/motion_rate.hpp"
#include "sim/passed_position.hpp"
#include "sim/project.hpp"

namespace appell {

// How far the constraints on positions are from losing rank: the smallest singular value of their rows, each over the longest it
// was. It vanishes as the distance to a singular position does, and in the same way along whatever axes a vector equation is
// written: components that come to depend on each other, or one that vanishes. Of many rows, or sparse ones: the smallest pivot,
// or the length of the shortest row against the longest it was.
class PositionRank {
public:
    explicit PositionRank(const Motion& motion) : rows_(motion.position_rows), longest_(motion.position_rows, 0.0) {}
    // `learn`: rows that are longer than they were count as longest
    [[nodiscard]] double operator()(Projector& position, double t, std::span<const double> x, bool learn = false);

private:
    [[nodiscard]] double smallest_singular_value(std::span<const double> rows);

    std::size_t rows_, rank_ = 0;
    std::vector<double> longest_, gram_;
};

class Passage final : public Integrator {
public:
    // The way that a run has come, by accepted states: oldest first; the nearer, the closer together. It is forgotten where the
    // motion or its state changes at once.
    struct Way {
        struct Noted {
            double t;
            std::vector<double> x;
        };
        std::vector<Noted> noted;
        double longest = 0;  // step
        void forget() {
            noted.clear();
            longest = 0;
        }
    };
    struct Tolerances {
        double rtol, atol;
    };
    Passage(const Motion& motion, MotionRate& rate, Projector& position, Projector& velocity, Tolerances tolerances, Way& way);

    // an accepted state on the way
    void note(double t, std::span<const double> x);
    // the last of them
    [[nodiscard]] double t_noted() const { return noted_.empty() ? std::numeric_limits<double>::quiet_NaN() : noted_.back().t; }
    // An arc across the singular position that is next to the state noted last, and no other; false where none holds. (A step
    // that was refused because of it may lead far beyond.) What is used of the arc ends at t_end at most: where the run may end
    // there it is followed beyond, and else it is shorter.
    [[nodiscard]] bool across(double t_end, bool may_end_there);
    [[nodiscard]] PassedPosition passed();
    // the singular position lies on what is used of the arc, up to t, or ends it
    [[nodiscard]] bool is_passed(double t) const;

    // ---- the arc, from where the run has come to
    [[nodiscard]] StepStatus start(double, std::span<const double>, double) override { return StepStatus::ok; }
    [[nodiscard]] StepStatus step() override { return StepStatus::ok; }
    [[nodiscard]] bool retreat() override { return false; }
    // on the constraints, but next to the singular position itself
    [[nodiscard]] bool dense(double t, std::span<double> x) override;
    [[nodiscard]] std::size_t dense_degree() const override { return k_stages; }
    [[nodiscard]] StepStatus replace_state(std::span<const double>, bool) override { return StepStatus::ok; }
    [[nodiscard]] double t() const override { return t_end_; }
    [[nodiscard]] double t_previous() const override { return t_seen_; }
    [[nodiscard]] bool at_end() const override { return false; }
    [[nodiscard]] std::span<const double> x() const override { return end_; }
    [[nodiscard]] RateStatus rate_status() const override { return RateStatus::ok; }
    [[nodiscard]] const IntegratorStatistics& statistics() const override { return statistics_; }

private:
    static constexpr std::size_t k_stages = 8;  // an even number: none in the middle

    // nodes, weights, and what the integrals of the stages' polynomials are at the nodes
    struct Gauss {
        explicit Gauss(std::size_t stages);
        [[nodiscard]] std::size_t size() const { return nodes.size(); }
        // of the polynomial of stage j, from 0 to s
        [[nodiscard]] double integral(std::size_t j, double s) const;
        std::vector<double> nodes, weights, at_nodes;
    };
    struct Arc {
        const Gauss* method = nullptr;
        double from = 0, length = 0;
        std::vector<double> start, rates, end;
    };

    [[nodiscard]] bool attempt(std::size_t first, double t_end, bool may_end_there);
    void foresee(std::size_t first);
    [[nodiscard]] bool find_arc(const Gauss& method, std::size_t first, double t_end, Arc& arc);
    [[nodiscard]] bool find_end(Arc& arc);
    void along(const Arc& arc, double t, std::span<double> x) const;
    void guess(double t, std::span<double> x) const;
    [[nodiscard]] bool onto_constraints(double t, std::span<double> x);
    [[nodiscard]] double distance(std::span<const double> a, std::span<const double> b) const;
    [[nodiscard]] bool crosses_once();
    [[nodiscard]] std::optional<double> zero_on_arc(double except);
    void locate();
    [[nodiscard]] std::optional<double> rank_at(double t);
    [[nodiscard]] bool lies_on_constraints();

    const Motion& motion_;
    MotionRate& rate_;
    Projector &position_, &velocity_;
    const Tolerances tolerances_;
    PositionRank rank_;
    const std::size_t states_, carried_;
    Way& way_;
    std::vector<Way::Noted>& noted_;
    const Gauss gauss_, lower_;
    Arc arc_, other_;
    bool has_arc_ = false;
    std::vector<double> hermite_nodes_, hermite_;  // Newton's form of the polynomial through states and rates before
    double t_singular_ = 0, t_seen_ = 0, t_end_ = 0;
    std::vector<double> end_, state_, next_;
    IntegratorStatistics statistics_;
};

}  // namespace appell
