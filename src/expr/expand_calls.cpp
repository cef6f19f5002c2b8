#include "expr/expand_calls.hpp"

#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "expr/substitute.hpp"
#include "expr/sweep.hpp"

namespace appell {

namespace {

using Call = std::pair<FunctionId, std::vector<NodeId>>;

// a body on the way: its nodes, operands first, and what has become of those before `next`
struct Expansion {
    Call call;    // that it is the value of
    NodeId root;  // of the body
    std::vector<NodeId> order;
    std::unordered_map<std::uint32_t, NodeId> images;
    std::size_t next = 0;
};

class Expander {
public:
    explicit Expander(Graph& graph) : graph_(graph) {}

    NodeId run(Call outermost) {
        begin(std::move(outermost));
        return run();
    }
    // an expression with the calls in it expanded
    NodeId run(NodeId expression) {
        stack_.push_back({{}, expression, sweep_.collect(graph_, std::span(&expression, 1)), {}, 0});
        return run();
    }

private:
    NodeId run() {
        for (;;) {
            Expansion& now = stack_.back();
            if (now.next < now.order.size()) {
                step(now);
                continue;
            }
            const NodeId result = now.images.at(now.root.value);
            done_.emplace(std::move(now.call), result);
            stack_.pop_back();
            if (stack_.empty()) return result;
        }
    }

    void begin(Call call) {
        const FunctionInfo& function = graph_.function(call.first);
        Expansion out{std::move(call), function.body, sweep_.collect(graph_, std::span(&function.body, 1)), {}, 0};
        for (std::size_t i = 0; i < function.formals.size(); ++i)
            out.images[graph_.symbol_node(function.formals[i]).value] = out.call.second[i];
        stack_.push_back(std::move(out));
    }

    // the next node of a body; or, where that is a call, the body it stands for first
    void step(Expansion& now) {
        const NodeId id = now.order[now.next];
        if (graph_.op(id) == Op::Call && graph_.function(graph_.function_of(id)).body.valid()) {
            Call inner{graph_.function_of(id), arguments_of(now, id)};
            const auto found = done_.find(inner);
            if (found == done_.end()) return begin(std::move(inner));
            now.images[id.value] = found->second;
        } else if (!now.images.contains(id.value)) {
            now.images[id.value] = image(now, id);
        }
        ++now.next;
    }

    [[nodiscard]] std::vector<NodeId> arguments_of(const Expansion& now, NodeId call) const {
        std::vector<NodeId> out;
        for (const NodeId argument : graph_.call_arguments(call)) out.push_back(now.images.at(argument.value));
        return out;
    }

    NodeId image(const Expansion& now, NodeId id) {
        const int arity = graph_.arity(id);
        NodeId operands[3];
        bool same = true;
        for (int i = 0; i < arity; ++i) {
            operands[i] = now.images.at(graph_.operand(id, i).value);
            same = same && operands[i] == graph_.operand(id, i);
        }
        return same ? id : rebuild(graph_, id, operands[0], operands[1], operands[2]);
    }

    Graph& graph_;
    Sweep sweep_;
    std::vector<Expansion> stack_;
    std::map<Call, NodeId> done_;
};

}  // namespace

NodeId expand_calls(Graph& graph, NodeId expression) { return Expander(graph).run(expression); }

NodeId call_as_written(Graph& graph, FunctionId function, std::span<const NodeId> arguments) {
    NodeId list = graph.intern({Op::NoArgs});
    for (const NodeId argument : arguments) list = graph.intern({Op::Args, list.value, argument.value});
    return graph.intern({Op::Call, list.value, function.value});
}

NodeId expand_call(Graph& graph, FunctionId function, std::span<const NodeId> arguments) {
    return Expander(graph).run({function, {arguments.begin(), arguments.end()}});
}

}  // namespace appell
