// Evaluations that are done together with those of others: several computations that go their own ways, and need the same
// programs at different numbers. Who implements it may let the caller wait until enough of them are there.
#pragma once

#include "tape/program.hpp"

namespace appell {

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
    [[nodiscard]] virtual bool serves(const Program& program) const = 0;
    // sets `done`, or leaves it to the caller to evaluate the program by itself
    virtual void evaluate(Request& request) = 0;
};

}  // namespace appell
