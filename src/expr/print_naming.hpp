// Which subexpressions get a name. One ascending pass over the nodes under the roots builds a printable form of each node from
// the forms of its operands; a form that would get too long has its longest operand replaced by a name, and forms that occur
// several times are named from a certain length on. Forms are dropped after their last use, so that memory is bounded by the
// expression's width, and their length by the limit, whatever its depth.
//
// A Backend makes forms:  Form make(NodeId, span<const Form* const> operands),  Form name(const string&),
// size_t length(const Form&),  bool nameable(const Form&),  and turns the definitions and roots that are left into a Printed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "expr/graph.hpp"
#include "expr/print.hpp"
#include "expr/sweep.hpp"

namespace appell {

// the operands as they are printed: the arguments of a call instead of its list
inline void printed_operands(const Graph& graph, NodeId id, std::vector<NodeId>& out) {
    out.clear();
    if (graph.op(id) == Op::Call) {
        out = graph.call_arguments(id);
    } else if (graph.op(id) != Op::Args) {
        for (int i = 0; i < graph.arity(id); ++i) out.push_back(graph.operand(id, i));
    }
}

// the prefix, doubled until no symbol of the graph looks like one of the names
std::string free_prefix(const Graph& graph, std::string prefix);

template <class Backend>
class Naming {
public:
    using Form = typename Backend::Form;

    struct Definition {
        std::string name;
        Form form;
    };
    struct Outcome {
        std::vector<Definition> definitions;
        std::vector<Form> roots;
        std::vector<bool> too_long;  // by root; only without naming
    };

    Naming(const Graph& graph, Backend& backend, std::size_t max_length, std::string prefix)
        : graph_(graph), backend_(backend), max_length_(max_length), prefix_(std::move(prefix)) {}

    // Forms without names. Intermediate results may be somewhat longer than the limit: tidying may shorten what contains them.
    Outcome attempt(std::span<const NodeId> roots) { return pass(roots, false); }
    // Forms with names. Decided in one pass and used in a second, so that all uses of a named node show its name.
    Outcome named(std::span<const NodeId> roots) {
        chosen_.clear();
        Outcome outcome = pass(roots, true);
        for (int round = 0; round < 3; ++round) {
            std::sort(chosen_.begin(), chosen_.end());
            keep_chosen_ = true;
            outcome = pass(roots, true);
            // what tidying made superfluous loses its name
            const std::vector<bool> used = backend_.used_names(outcome.definitions, outcome.roots);
            if (std::all_of(used.begin(), used.end(), [](bool u) { return u; })) break;
            std::vector<NodeId> kept;
            for (std::size_t i = 0; i < used.size(); ++i)
                if (used[i]) kept.push_back(named_nodes_[i]);
            chosen_ = std::move(kept);
        }
        return outcome;
    }

private:
    static constexpr std::size_t k_shared_length = 20;  // shorter forms are repeated rather than named
    static constexpr std::size_t k_cut_length = 8;      // naming less than this does not help
    static constexpr std::size_t k_attempt_factor = 10;

    struct Slot {
        Form form{};
        std::uint32_t uses = 0;  // still to come
        bool shared = false;
        bool named = false;
        bool too_long = false;
    };

    Outcome pass(std::span<const NodeId> roots, bool naming) {
        const std::vector<NodeId>& order = sweep_.collect(graph_, roots);
        slots_.assign(order.size(), Slot{});
        const auto at = [&](NodeId id) {
            return static_cast<std::size_t>(std::lower_bound(order.begin(), order.end(), id) - order.begin());
        };
        std::vector<NodeId> operands;
        for (const NodeId id : order) {
            printed_operands(graph_, id, operands);
            for (const NodeId operand : operands) ++slots_[at(operand)].uses;
        }
        for (Slot& slot : slots_) slot.shared = slot.uses > 1;
        for (const NodeId root : roots) ++slots_[at(root)].uses;  // keeps the form, but is no occurrence in a longer one

        Outcome outcome;
        named_nodes_.clear();
        std::vector<std::size_t> places;
        std::vector<const Form*> forms;
        for (std::size_t i = 0; i < order.size(); ++i) {
            const NodeId id = order[i];
            if (graph_.op(id) == Op::NoArgs || graph_.op(id) == Op::Args) continue;
            printed_operands(graph_, id, operands);
            places.clear();
            for (const NodeId operand : operands) places.push_back(at(operand));
            Slot& slot = slots_[i];
            slot.too_long = std::any_of(places.begin(), places.end(), [&](std::size_t k) { return slots_[k].too_long; });
            if (!slot.too_long) {
                make(id, places, forms, slot);
                if (naming)
                    cut(id, places, forms, slot, outcome);
                else
                    slot.too_long = backend_.length(slot.form) > k_attempt_factor * max_length_;
            }
            for (const std::size_t k : places)
                if (--slots_[k].uses == 0) slots_[k].form = Form{};
            if (naming && wanted(id, slot)) give_name(id, slot, outcome);
        }
        for (const NodeId root : roots) {
            const Slot& slot = slots_[at(root)];
            outcome.roots.push_back(slot.form);
            outcome.too_long.push_back(slot.too_long || backend_.length(slot.form) > max_length_);
        }
        return outcome;
    }

    void make(NodeId id, const std::vector<std::size_t>& places, std::vector<const Form*>& forms, Slot& slot) {
        forms.clear();
        for (const std::size_t k : places) forms.push_back(&slots_[k].form);
        slot.form = backend_.make(id, forms);
    }

    // names the longest operands until the form is short enough
    void cut(NodeId id, const std::vector<std::size_t>& places, std::vector<const Form*>& forms, Slot& slot, Outcome& outcome) {
        while (backend_.length(slot.form) > max_length_) {
            std::size_t longest = places.size(), length = k_cut_length;
            for (std::size_t k = 0; k < places.size(); ++k) {
                const Slot& operand = slots_[places[k]];
                if (operand.named || !backend_.nameable(operand.form) || backend_.length(operand.form) <= length) continue;
                longest = k;
                length = backend_.length(operand.form);
            }
            if (longest == places.size()) return;
            give_name(node_at(id, longest), slots_[places[longest]], outcome);
            make(id, places, forms, slot);
        }
    }

    NodeId node_at(NodeId id, std::size_t operand) {
        std::vector<NodeId> operands;
        printed_operands(graph_, id, operands);
        return operands[operand];
    }

    bool wanted(NodeId id, const Slot& slot) const {
        if (slot.named || slot.too_long || slot.uses == 0 || !backend_.nameable(slot.form)) return false;
        if (keep_chosen_) return std::binary_search(chosen_.begin(), chosen_.end(), id);
        const Op op = graph_.op(id);
        // -x shares x's name
        return slot.shared && op != Op::Neg && op != Op::VNeg && backend_.length(slot.form) >= k_shared_length;
    }

    void give_name(NodeId id, Slot& slot, Outcome& outcome) {
        std::string name = prefix_ + std::to_string(outcome.definitions.size() + 1);
        Form replacement = backend_.name(name, outcome.definitions.size(), graph_.is_vector(id));
        outcome.definitions.push_back({std::move(name), std::move(slot.form)});
        slot.form = std::move(replacement);
        slot.named = true;
        named_nodes_.push_back(id);
        if (!keep_chosen_) chosen_.push_back(id);
    }

    const Graph& graph_;
    Backend& backend_;
    std::size_t max_length_;
    std::string prefix_;
    Sweep sweep_;
    std::vector<Slot> slots_;
    std::vector<NodeId> chosen_;       // to be named; ascending once kept
    std::vector<NodeId> named_nodes_;  // by definition, of the last pass
    bool keep_chosen_ = false;
};

// The whole of printing for one backend: roots that are short enough stand for themselves, the others share intermediates.
template <class Backend>
Printed print_with(const Graph& graph, std::span<const NodeId> roots, const PrintOptions& options, Backend& backend) {
    Printed printed;
    printed.expressions.resize(roots.size());
    Naming<Backend> naming(graph, backend, options.max_length, free_prefix(graph, options.intermediate_prefix));
    std::vector<NodeId> long_roots;
    std::vector<std::size_t> places;
    {
        const auto attempt = naming.attempt(roots);
        for (std::size_t i = 0; i < roots.size(); ++i) {
            if (attempt.too_long[i]) {
                long_roots.push_back(roots[i]);
                places.push_back(i);
            } else {
                printed.expressions[i] = backend.render(attempt.roots[i]);
            }
        }
    }
    if (long_roots.empty()) return printed;
    const auto outcome = naming.named(long_roots);
    for (const auto& [name, form] : outcome.definitions)
        printed.definitions.emplace_back(backend.render_name(name), backend.render(form));
    for (std::size_t i = 0; i < places.size(); ++i) printed.expressions[places[i]] = backend.render(outcome.roots[i]);
    return printed;
}

}  // namespace appell
