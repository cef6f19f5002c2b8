// Watches the chart of a run whose equations take some rates as functions of the others (Motion::chart): the rates that the
// constraints allow form a plane, and the chart reads them off its independent ones. At the edge of the chart the plane stands
// upright over those. The share of the chart is the cosine of that angle: the determinant of the rows' dependent columns, with
// the rows orthonormal. Its sign changes where a motion goes over the edge.
//
// A step must resolve what it does to the chart: between neighbouring samples inside it the plane turns little, and along it the
// share falls to half at most. So steps become short toward the edge, with a fixed step as well, and none leads over it: not
// where the plane turns in a moment, and not where it turns by whole turns.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "sim/checkpoint.hpp"
#include "sim/integrator.hpp"
#include "sim/motion_program.hpp"

namespace appell {

class ChartWatch {
public:
    explicit ChartWatch(const Motion& motion);

    [[nodiscard]] bool empty() const { return rows_ == 0; }
    // where a stretch sets out
    void start(double t, std::span<const double> x);
    enum class Seen {
        inside,  // all along the step
        edge,    // it ends at the edge
        unclear  // the step does not resolve it: a shorter one is needed, or it leads over the edge
    };
    // Along the last step of the integrator, which ends at the state x.
    [[nodiscard]] Seen look(Integrator& integrator, std::span<const double> x);
    // that step was accepted
    void accept();
    // against the start of the stretch
    [[nodiscard]] double share() const;
    void checkpoint(Checkpoint& checkpoint);

private:
    struct Sample {
        std::vector<double> rows;  // orthonormal
        double share = 0;          // with its sign
        bool known = false;        // the rows are independent there
    };
    void take(double t, std::span<const double> x, Sample& sample);
    [[nodiscard]] double determinant();  // of square_
    // of the planes of two samples: the product of the cosines between them, with the sign of their orientations
    [[nodiscard]] double overlap(const Sample& a, const Sample& b);

    MotionProgram program_;
    OutputRange row_range_, inertia_range_;
    const std::vector<std::size_t> dependent_;
    std::size_t rows_, columns_;
    Sample before_, after_, inside_, other_inside_;
    double start_share_ = 1;
    std::vector<double> square_, state_;
};

}  // namespace appell
