// A whole program as C: its arithmetic, its solves, and the function that runs them in order,
//     static int NAME(double t, const double *x, const double *p, double *y, MODEL_work *w)
// which does what Workspace<double>::run does and returns a status. Its numbers are at the front of w->d.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tape/program.hpp"

namespace appell {

struct ProgramTextOptions {
    std::string name;
    std::size_t states = 0;                   // inputs are t, states, parameters
    std::size_t most_statements = 2000;       // of a function
    std::optional<std::size_t> rank_limit{};  // which of w->most_rank its last solve obeys
    bool unroll = true;                       // small solves; then they leave no rows behind
    // where the outputs go: all in a row, or these places of an array of this size, which is zero elsewhere
    std::vector<std::size_t> places{};
    std::size_t size = 0;
};

struct ProgramText {
    std::string text;
    std::size_t numbers = 0, indices = 0;  // of the workspace
    std::size_t solved_rows = 0;           // where the last solve leaves its rows
    std::string sparse_shape{};            // its shape, where it is sparse
    std::size_t outputs = 0;               // length of y
    std::size_t functions = 0;
};

[[nodiscard]] ProgramText program_text(const Program& program, const ProgramTextOptions& options);

}  // namespace appell
