#include "dynam/material_points.hpp"

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "dynam/loads.hpp"
#include "expr/dependence.hpp"

namespace appell {

namespace {

class MaterialPoints {
public:
    MaterialPoints(const Model& m, Diagnostics& diagnostics) : m_(m), diagnostics_(diagnostics), has_body_(m.frames.size()) {
        has_body_[Model::newtonian().index()] = true;
        for (const Body& b : m.bodies) has_body_[b.frame.index()] = true;
    }

    void check() {
        bool any = false;
        for (std::size_t i = 0; i < m_.graph->vector_symbol_count(); ++i) any = any || is_missing(VectorSymbolId(i));
        if (any) check_expressions();
        check_places();
        // what stands in no statement of the motion (a `let` or a function that nobody uses)
        for (std::size_t i = 0; any && reported_.empty() && i < m_.graph->vector_symbol_count(); ++i)
            if (is_missing(VectorSymbolId(i))) report(FrameId(m_.graph->vector_symbol(VectorSymbolId(i)).first), {});
    }

private:
    [[nodiscard]] bool is_missing(FrameId frame) const { return frame.valid() && !has_body_[frame.index()]; }
    [[nodiscard]] bool is_missing(VectorSymbolId id) const {
        const VectorSymbolInfo& symbol = m_.graph->vector_symbol(id);
        return static_cast<VectorKind>(symbol.kind) == VectorKind::velocity_at && is_missing(FrameId(symbol.first));
    }

    void report(FrameId frame, Span span) {
        if (!reported_.insert({frame.value, span.begin}).second) return;
        diagnostics_.add({Code::E0604, span,
                          fmt::format("frame {} belongs to no body, so that it has no material points", m_.frame(frame).name), "",
                          "a body, or the Newtonian frame", "declare a body with this frame, or use vel(P) of a point"});
    }

    void expression(NodeId node, Span span) {
        if (!node.valid()) return;
        for (VectorSymbolId id : vector_symbols_in(*m_.graph, std::span(&node, 1))) {
            const VectorSymbolInfo& symbol = m_.graph->vector_symbol(id);
            const auto kind = static_cast<VectorKind>(symbol.kind);
            // force(c, B at P): the place that it acts on
            if (kind == VectorKind::constraint_force || kind == VectorKind::nonideal_force) id = VectorSymbolId(symbol.second);
            if (is_missing(id)) report(FrameId(m_.graph->vector_symbol(id).first), span);
        }
    }

    void place(const ForceLoad& force, Span span) {
        if (is_missing(force.body)) report(force.body, span);
    }
    void action(const Action& action, Span span) {
        if (const auto* force = std::get_if<ForceLoad>(&action)) place(*force, span);
        for (const NodeId n : expressions_of(action)) expression(n, span);
    }

    void check_expressions() {
        for (const Speed& s : m_.speeds) expression(s.definition, s.span);
        for (const Constraint& c : m_.constraints) {
            expression(c.phi, c.span);
            expression(c.restitution, c.span);
        }
        for (const Load& load : m_.loads)
            for (const NodeId n : expressions_of(load.what)) expression(n, load.span);
        for (const Friction& f : m_.frictions)
            for (const NodeId n : {f.slip, f.bound, f.static_bound}) expression(n, f.span);
        for (const Event& e : m_.events) {
            expression(e.value, e.span);
            for (const Event::Set& set : e.sets) expression(set.value, e.span);
        }
        for (const Output& o : m_.outputs) expression(o.value, o.span);
        for (const Plot& p : m_.plots) {
            expression(p.x, p.span);
            for (const PlotTrace& t : p.traces) expression(t.y, p.span);
        }
        for (const Claim& c : m_.claims) {
            for (const Claim::Equation& e : c.equations)
                for (const NodeId n : {e.left, e.right}) expression(n, c.span);
            expression(c.where, c.span);
        }
        for (const Implication& i : m_.implications)
            for (const auto* list : {&i.premises, &i.conclusions, &i.exceptions})
                for (const StatedEquation& e : *list)
                    for (const NodeId n : e.phi) expression(n, i.span);
        for (const Quantity& q : m_.quantities) expression(q.of, q.span);
    }

    void check_places() {
        for (const Load& load : m_.loads)
            if (const auto* force = std::get_if<ForceLoad>(&load.what)) place(*force, load.span);
        for (const NonidealForce& n : m_.nonideal) action(n.what, n.span);
        for (const Actuator& a : m_.actuators)
            for (const Action& direction : a.directions) action(direction, a.span);
        for (const Friction& f : m_.frictions) {
            place(f.on, f.span);
            if (f.from) place(*f.from, f.span);
        }
    }

    const Model& m_;
    Diagnostics& diagnostics_;
    std::vector<bool> has_body_;
    std::set<std::pair<std::uint32_t, std::uint32_t>> reported_;  // frame, where
};

}  // namespace

void check_material_points(const Model& model, Diagnostics& diagnostics) { MaterialPoints(model, diagnostics).check(); }

}  // namespace appell
