// Evaluations that are done together with those of others: several computations that go their own ways, and need the same
// programs at different numbers. Who implements it may let the caller wait until enough of them are there.
#pragma once

#include "tape/program.hpp"

namespace appell {

struct March;
struct Motion;

// The stages of a step of an explicit Runge-Kutta method, for a program whose outputs are the rates of its streamed inputs. Stage
// i + 1 is at t + nodes[i] * h, which is t_end where the node is 1, in the state x + (sum of rows[i][j] * h * rate of stage j);
// after the last one there is the state that the step ends in.
struct StepStages {
    std::size_t count = 0;          // of stages
    const double* nodes = nullptr;  // count - 1
    const double* rows = nullptr;   // count x count, one after the other
    double t = 0, h = 0, t_end = 0;
    const double* x = nullptr;
    double* const* rates = nullptr;  // by stage; the first is given
    double *last_stage = nullptr, *end = nullptr;
};

class Neighbours {
public:
    virtual ~Neighbours() = default;

    // A program at the inputs given; the streamed ones are read from `stream`. Outputs, report, and the rows and directions of
    // the first solve (ConstrainedSolver), where it is one of kind `multipliers`, are what a Workspace would have, to the last
    // bit.
    struct Request {
        const Program* program = nullptr;
        const double* inputs = nullptr;
        const double* stream = nullptr;
        double* outputs = nullptr;
        double *rows = nullptr, *directions = nullptr;
        EvalReport report = {};
        bool done = false;
    };
    // All stages at once, and the rate where the step ends, with its report. Inputs that are not streamed are read from `inputs`,
    // other than the first, which is t.
    struct StageRequest {
        const Program* program = nullptr;
        const double* inputs = nullptr;
        StepStages stages = {};
        double* end_rate = nullptr;
        EvalReport report = {};
        bool done = false;
    };
    [[nodiscard]] virtual bool serves(const Program& program) const = 0;
    [[nodiscard]] virtual bool serves_stages(const Program& program) const = 0;
    // set `done`, or leave it to the caller to evaluate the program by itself
    virtual void evaluate(Request& request) = 0;
    virtual void evaluate(StageRequest& request) = 0;
    // Whole steps (march.hpp), of a motion that is one of many; as many as are ordinary.
    [[nodiscard]] virtual bool marches(const Motion&) const { return false; }
    virtual void march(March&) {}
};

}  // namespace appell
