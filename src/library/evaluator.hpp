// The inside of an Evaluator.
#pragma once

#include <appell/appell.hpp>

#include <vector>

#include "pipeline/lower_motion.hpp"
#include "tape/workspace.hpp"

namespace appell {

struct Evaluator::Impl {
    Impl(LoweredMotion lowered_motion, std::vector<std::string> parameter_names);

    LoweredMotion lowered;
    std::vector<std::string> parameters;  // names of the first of the motion's parameters
    double from = 0;
    std::vector<double> start;
    std::vector<std::string> names;    // of a row
    std::vector<std::size_t> columns;  // theirs, of the observed row
    Workspace<double> rate, observe;   // of the programs of `lowered`, which must not move
};

}  // namespace appell
