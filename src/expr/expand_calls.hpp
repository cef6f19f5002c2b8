// Functions given by an expression, put in where they are called. A call inside the body of another function stays as it is
// written, so that a chain of functions costs what its bodies cost, and nothing where it is not used; called from the model, the
// chain is put in from the outside inwards, each function once for each list of arguments.
#pragma once

#include <span>

#include "expr/graph.hpp"

namespace appell {

// a call that waits to be expanded with the body it stands in
[[nodiscard]] NodeId call_as_written(Graph& graph, FunctionId function, std::span<const NodeId> arguments);

// the body of a given function with the arguments in their places, without a call of a given function
[[nodiscard]] NodeId expand_call(Graph& graph, FunctionId function, std::span<const NodeId> arguments);

// an expression without a call of a given function
[[nodiscard]] NodeId expand_calls(Graph& graph, NodeId expression);

}  // namespace appell
