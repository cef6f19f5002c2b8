// Derivatives of scalar expressions. All are passes over ids in ascending or descending order; none recurses.
#pragma once

#include <span>
#include <vector>

#include "expr/graph.hpp"
#include "expr/sweep.hpp"

namespace appell {

// Total time derivative with given rates of the symbols (q -> q', u -> u', t -> 1; absent ones are constant). Results are
// remembered, so that asking for many expressions one by one costs as much as asking for all at once.
class TimeDerivative {
public:
    explicit TimeDerivative(Graph& graph) : graph_(graph) {}

    void set_rate(SymbolId symbol, NodeId rate);
    [[nodiscard]] NodeId operator()(NodeId expression);

private:
    Graph& graph_;
    std::vector<NodeId> rates_;  // by symbol; invalid means constant
    std::vector<NodeId> memo_;   // by node; invalid means not known yet
    Sweep sweep_;
};

// Partial derivative of a scalar operation by one of its operands, from the table of operations; not for Call, Args and Dot.
[[nodiscard]] NodeId partial_by_operand(Graph& graph, NodeId operation, int which);

// Derivative of each root by one symbol (forward).
[[nodiscard]] std::vector<NodeId> derivative(Graph& graph, std::span<const NodeId> roots, SymbolId variable);

struct SparseEntry {
    std::uint32_t row;
    std::uint32_t column;
    NodeId value;
};

// Entries that are not structurally zero, by row and then column.
struct SparseMatrix {
    std::size_t rows = 0;
    std::size_t columns = 0;
    std::vector<SparseEntry> entries;

    // the entry, or an invalid id for a structural zero
    [[nodiscard]] NodeId find(std::size_t row, std::size_t column) const;
};

enum class DerivativeMode {
    automatic,  // forward when if, min or max is present (the branch not taken must not spoil the other) or columns are few
    forward,    // one pass per column; a column costs what depends on its variable
    reverse     // one pass per row; a row costs what its expression costs
};

[[nodiscard]] SparseMatrix jacobian(Graph& graph, std::span<const NodeId> roots, std::span<const SymbolId> variables,
                                    DerivativeMode mode = DerivativeMode::automatic);

}  // namespace appell
