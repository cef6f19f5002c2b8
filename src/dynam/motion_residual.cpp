#include "dynam/motion_residual.hpp"

#include "dynam/modes.hpp"
#include "dynam/multipliers.hpp"
#include "dynam/realised.hpp"
#include "dynam/shares.hpp"

namespace appell {

namespace {

struct Block {
    std::vector<SymbolId> rates, multipliers, actuators;
    bool law;
};

// M u' - A' lambda - D tau - f - C and A u' - b, in the unknowns given
void add_block(const ConstrainedDynamics& d, const Block& block, MotionResidual& out) {
    Graph& g = d.graph();
    const std::size_t nu = d.model->speeds.size();
    std::vector<std::vector<NodeId>> terms(nu + d.rows.size());
    const auto times = [&](NodeId value, SymbolId symbol) { return g.mul(value, g.symbol_node(symbol)); };
    for (const SparseEntry& e : d.M().entries) {
        terms[e.row].push_back(times(e.value, block.rates[e.column]));
        if (e.row != e.column) terms[e.column].push_back(times(e.value, block.rates[e.row]));
    }
    std::vector<SymbolId> multiplier(d.rows.size());
    for (std::size_t i = 0, k = 0; i < d.rows.size(); ++i)
        if (!d.rows[i].by_actuators) multiplier[i] = block.multipliers[k++];
    for (const SparseEntry& e : d.A.entries) {
        terms[nu + e.row].push_back(times(e.value, block.rates[e.column]));
        if (!d.rows[e.row].by_actuators) terms[e.column].push_back(g.neg(times(e.value, multiplier[e.row])));
    }
    for (const SparseEntry& e : d.D.entries) terms[e.row].push_back(g.neg(times(e.value, block.actuators[e.column])));
    for (std::size_t i = 0; i < nu; ++i) terms[i].push_back(g.neg(d.f()[i]));
    for (std::size_t i = 0; block.law && i < d.C.size(); ++i) terms[i].push_back(g.neg(d.C[i]));
    for (std::size_t i = 0; i < d.rows.size(); ++i) terms[nu + i].push_back(g.neg(d.b[i]));
    for (const std::vector<NodeId>& row : terms) out.equations.push_back(g.sum(row));
    for (const std::vector<SymbolId>* part : {&block.rates, &block.multipliers, &block.actuators})
        out.unknowns.insert(out.unknowns.end(), part->begin(), part->end());
}

}  // namespace

MotionResidual motion_residual(const ConstrainedDynamics& d) {
    if (!d.shared.empty()) return motion_residual(share_out(d).dynamics);
    MotionResidual out;
    out.rows = d.rows.size();
    const Realisation realisation = realise(d);
    out.solves = realisation.before;
    out.solves.push_back(multipliers_form(realisation.ideal));
    std::vector<SymbolId> rates, multipliers;
    for (const Speed& s : d.model->speeds) rates.push_back(s.rate);
    for (const ConstraintRow& row : d.rows)
        if (!row.by_actuators) multipliers.push_back(row.multiplier);
    add_block(d, {rates, multipliers, d.actuators, true}, out);
    if (!d.C.empty()) {  // laws may depend on what the multipliers were without them
        const ConstrainedSolve& ideal = realisation.before.front();
        add_block(without_sticking(d), {ideal.x, ideal.lambda, ideal.tau, false}, out);
    }
    return out;
}

}  // namespace appell
