#include "expr/differentiate.hpp"

#include <algorithm>
#include <numeric>

#include "expr/places.hpp"

namespace appell {

namespace {

// a constant that is made where a derivative has it
struct Number {
    Graph& graph;
    double value;

    operator Expr() const { return constant(graph, value); }
};

NodeId id_of(Expr e) { return e.id; }

}  // namespace

NodeId partial_by_operand(Graph& g, NodeId id, int which) {
    const Node node = g.node(id);
    if (node.op == Op::PowInt) {
        const int n = g.exponent(id);
        const NodeId base(node.a);
        return g.mul(g.constant(n), g.pow(base, n - 1));
    }
    const auto expr = [&](std::uint32_t n) { return Expr{&g, NodeId(n)}; };
    const Number zero{g, 0}, one{g, 1};
    const Expr r{&g, id};
    const Expr x = expr(node.a), y = expr(node.b), z = expr(node.c);
    (void)x, (void)y, (void)z, (void)r, (void)zero, (void)one;
    switch (node.op) {
#define APPELL_LEAF(Name)
#define APPELL_STRUCTURE(Name, arity)
#define APPELL_VECTOR(Name, arity)
#define APPELL_OP(Name, text, arity, value, dx, dy, dz) \
    case Op::Name:                                      \
        if (which == 0) return id_of(dx);               \
        if (which == 1) return id_of(dy);               \
        return id_of(dz);
#include "expr/ops.def"
#undef APPELL_LEAF
#undef APPELL_STRUCTURE
#undef APPELL_VECTOR
#undef APPELL_OP
        default: break;
    }
    throw Error("only scalar expressions can be differentiated; resolve vectors into components first");
}

namespace {

// Derivative of one node from the derivatives of its operands. The lookup gives an operand's derivative.
template <class Lookup>
NodeId forward_rule(Graph& g, NodeId id, NodeId zero, Lookup derivative_of) {
    const Op op = g.op(id);
    switch (op) {
        case Op::Constant:
        case Op::Pi:
        case Op::Symbol:  // leaves are the caller's business
        case Op::NoArgs:
        case Op::Args: return zero;
        case Op::Add: return g.add(derivative_of(g.operand(id, 0)), derivative_of(g.operand(id, 1)));
        case Op::Sub: return g.sub(derivative_of(g.operand(id, 0)), derivative_of(g.operand(id, 1)));
        // the side not taken may have no derivative there: chosen, not multiplied by zero
        case Op::Min:
        case Op::Max: {
            const NodeId x = g.operand(id, 0), y = g.operand(id, 1);
            const NodeId first = op == Op::Min ? g.make(Op::LessEqual, x, y) : g.make(Op::LessEqual, y, x);
            return g.make(Op::If, first, derivative_of(x), derivative_of(y));
        }
        case Op::If: return g.make(Op::If, g.operand(id, 0), derivative_of(g.operand(id, 1)), derivative_of(g.operand(id, 2)));
        case Op::Call: {
            NodeId sum = zero;
            const std::vector<NodeId> arguments = g.call_arguments(id);
            for (std::size_t i = 0; i < arguments.size(); ++i) {
                const NodeId d = derivative_of(arguments[i]);
                if (d != zero) sum = g.add(sum, g.mul(g.call(g.partial(g.function_of(id), i), arguments), d));
            }
            return sum;
        }
        default: {
            NodeId sum = zero;
            for (int i = 0; i < g.arity(id); ++i) {
                const NodeId d = derivative_of(g.operand(id, i));
                if (d != zero) sum = g.add(sum, g.mul(partial_by_operand(g, id, i), d));
            }
            return sum;
        }
    }
}

// Derivatives of all roots by one symbol after the other. A column costs what depends on its symbol.
class Forward {
public:
    Forward(Graph& graph, std::span<const NodeId> roots)
        : g_(graph), roots_(roots), order_(Sweep().collect(graph, roots)), zero_(graph.constant(0)), one_(graph.constant(1)) {
        places_.assign(order_);
        derivative_.assign(order_.size(), zero_);
        first_user_.assign(order_.size() + 1, 0);
        for_each_use([&](std::size_t used, std::size_t) { ++first_user_[used + 1]; });
        std::partial_sum(first_user_.begin(), first_user_.end(), first_user_.begin());
        users_.resize(first_user_.back());
        std::vector<std::uint32_t> next(first_user_.begin(), first_user_.end() - 1);
        for_each_use([&](std::size_t used, std::size_t user) { users_[next[used]++] = static_cast<std::uint32_t>(user); });
    }

    [[nodiscard]] std::span<const NodeId> order() const { return order_; }

    // calls found(row, derivative) for each root with a derivative that is not zero, rows ascending
    template <class Found>
    void column(NodeId symbol, Found found) {
        find_dependent(places_[symbol]);
        derivative_[places_[symbol]] = one_;
        const auto of = [&](NodeId id) -> NodeId& { return derivative_[places_[id]]; };
        const auto known = [&](NodeId id) { return of(id).valid(); };
        for (const std::uint32_t row : rows_) {
            for (const NodeId id : sweep_.collect(g_, roots_.subspan(row, 1), known)) of(id) = forward_rule(g_, id, zero_, of);
            if (of(roots_[row]) != zero_) found(row, of(roots_[row]));
        }
        for (const std::uint32_t place : dependent_) derivative_[place] = zero_;
    }

private:
    // use(place, user) with the places of a node and of one that has it as operand; a root's row is a user after all nodes
    template <class Use>
    void for_each_use(Use use) const {
        for (std::size_t i = 0; i < order_.size(); ++i)
            for (int k = 0; k < g_.arity(order_[i]); ++k) use(places_[g_.operand(order_[i], k)], i);
        for (std::size_t row = 0; row < roots_.size(); ++row) use(places_[roots_[row]], order_.size() + row);
    }

    // what depends on the node at a place: nodes, whose derivatives become unknown, and rows
    void find_dependent(std::size_t place) {
        rows_.clear();
        dependent_.assign(1, static_cast<std::uint32_t>(place));
        derivative_[place] = NodeId{};
        for (std::size_t i = 0; i < dependent_.size(); ++i) {
            const std::uint32_t used = dependent_[i];
            for (std::uint32_t k = first_user_[used]; k < first_user_[used + 1]; ++k) {
                const std::uint32_t user = users_[k];
                if (user >= order_.size()) {
                    rows_.push_back(user - static_cast<std::uint32_t>(order_.size()));
                } else if (derivative_[user].valid()) {
                    derivative_[user] = NodeId{};
                    dependent_.push_back(user);
                }
            }
        }
        std::sort(rows_.begin(), rows_.end());
    }

    Graph& g_;
    std::span<const NodeId> roots_;
    std::vector<NodeId> order_;
    Places places_;
    NodeId zero_, one_;
    std::vector<std::uint32_t> first_user_;  // in users_, by place
    std::vector<std::uint32_t> users_;
    std::vector<NodeId> derivative_;  // by place; invalid means not known yet
    std::vector<std::uint32_t> dependent_, rows_;
    Sweep sweep_;
};

// Adjoint of one root: partial derivatives by every symbol in it. A descending pass.
class Reverse {
public:
    explicit Reverse(Graph& graph) : g_(graph) {}

    // calls found(symbol, derivative) for each symbol with a derivative that is not zero
    template <class Found>
    void row(NodeId root, Found found) {
        const std::vector<NodeId>& order = sweep_.collect(g_, std::span(&root, 1));
        places_.assign(order);
        adjoint_.assign(order.size(), NodeId{});
        const NodeId zero = g_.constant(0);
        const auto slot = [&](NodeId id) -> NodeId& { return adjoint_[places_[id]]; };
        const auto push = [&](NodeId operand, NodeId contribution) {
            if (contribution == zero) return;
            NodeId& a = slot(operand);
            a = a.valid() ? g_.add(a, contribution) : contribution;
        };
        slot(root) = g_.constant(1);
        for (std::size_t i = order.size(); i-- > 0;) {
            const NodeId id = order[i], adjoint = adjoint_[i];
            if (!adjoint.valid() || adjoint == zero) continue;
            if (g_.op(id) == Op::Symbol) {
                found(g_.symbol_of(id), adjoint);
            } else if (g_.op(id) == Op::Call) {
                const std::vector<NodeId> arguments = g_.call_arguments(id);
                for (std::size_t k = 0; k < arguments.size(); ++k)
                    push(arguments[k], g_.mul(adjoint, g_.call(g_.partial(g_.function_of(id), k), arguments)));
            } else if (g_.op(id) != Op::Args) {
                for (int k = 0; k < g_.arity(id); ++k) {
                    const NodeId operand = g_.operand(id, k);
                    if (g_.op(operand) == Op::Constant || g_.op(operand) == Op::Pi) continue;
                    push(operand, g_.mul(adjoint, partial_by_operand(g_, id, k)));
                }
            }
        }
    }

private:
    Graph& g_;
    Sweep sweep_;
    Places places_;
    std::vector<NodeId> adjoint_;
};

}  // namespace

void TimeDerivative::set_rate(SymbolId symbol, NodeId rate) {
    if (rates_.size() <= symbol.index()) rates_.resize(symbol.index() + 1);
    rates_[symbol.index()] = rate;
    memo_.clear();
}

NodeId TimeDerivative::operator()(NodeId expression) {
    const auto known = [&](NodeId id) { return id.index() < memo_.size() && memo_[id.index()].valid(); };
    if (known(expression)) return memo_[expression.index()];
    const std::vector<NodeId>& order = sweep_.collect(graph_, std::span(&expression, 1), known);
    const NodeId zero = graph_.constant(0);
    memo_.resize(std::max(memo_.size(), graph_.size()));
    for (const NodeId id : order) {
        if (graph_.op(id) == Op::Symbol) {
            const std::size_t symbol = graph_.symbol_of(id).index();
            memo_[id.index()] = symbol < rates_.size() && rates_[symbol].valid() ? rates_[symbol] : zero;
        } else {
            memo_[id.index()] = forward_rule(graph_, id, zero, [&](NodeId operand) { return memo_[operand.index()]; });
        }
    }
    return memo_[expression.index()];
}

std::vector<NodeId> derivative(Graph& graph, std::span<const NodeId> roots, SymbolId variable) {
    TimeDerivative by_variable(graph);
    by_variable.set_rate(variable, graph.constant(1));
    std::vector<NodeId> out;
    out.reserve(roots.size());
    for (const NodeId root : roots) out.push_back(by_variable(root));
    return out;
}

NodeId SparseMatrix::find(std::size_t row, std::size_t column) const {
    const auto before = [](const SparseEntry& e, std::pair<std::size_t, std::size_t> at) {
        return std::pair<std::size_t, std::size_t>(e.row, e.column) < at;
    };
    const auto found = std::lower_bound(entries.begin(), entries.end(), std::pair(row, column), before);
    return found != entries.end() && found->row == row && found->column == column ? found->value : NodeId{};
}

SparseMatrix jacobian(Graph& graph, std::span<const NodeId> roots, std::span<const SymbolId> variables, DerivativeMode mode) {
    SparseMatrix matrix{roots.size(), variables.size(), {}};
    if (mode == DerivativeMode::automatic) {
        Sweep sweep;
        const auto& order = sweep.collect(graph, roots);
        const bool branches = std::any_of(order.begin(), order.end(), [&](NodeId id) {
            const Op op = graph.op(id);
            return op == Op::If || op == Op::Min || op == Op::Max;
        });
        mode = branches || variables.size() < roots.size() ? DerivativeMode::forward : DerivativeMode::reverse;
    }
    std::vector<std::uint32_t> column_of(graph.symbol_count(), 0xffffffffu);
    for (std::size_t column = 0; column < variables.size(); ++column)
        column_of[variables[column].index()] = static_cast<std::uint32_t>(column);
    if (mode == DerivativeMode::forward) {
        Forward forward(graph, roots);
        std::vector<std::pair<std::uint32_t, NodeId>> present;
        for (const NodeId id : forward.order())
            if (graph.op(id) == Op::Symbol)
                if (const std::uint32_t column = column_of[graph.symbol_of(id).index()]; column != 0xffffffffu)
                    present.emplace_back(column, id);
        std::sort(present.begin(), present.end());
        for (const auto& [column, symbol] : present)
            forward.column(symbol, [&, c = column](std::uint32_t row, NodeId value) {
                matrix.entries.push_back({row, c, value});
            });
        std::sort(matrix.entries.begin(), matrix.entries.end(), [](const SparseEntry& p, const SparseEntry& q) {
            return std::pair(p.row, p.column) < std::pair(q.row, q.column);
        });
        return matrix;
    }
    Reverse reverse(graph);
    for (std::size_t row = 0; row < roots.size(); ++row) {
        const std::size_t first = matrix.entries.size();
        reverse.row(roots[row], [&](SymbolId symbol, NodeId value) {
            if (const std::uint32_t column = column_of[symbol.index()]; column != 0xffffffffu)
                matrix.entries.push_back({static_cast<std::uint32_t>(row), column, value});
        });
        std::sort(matrix.entries.begin() + static_cast<std::ptrdiff_t>(first), matrix.entries.end(),
                  [](const SparseEntry& p, const SparseEntry& q) { return p.column < q.column; });
    }
    return matrix;
}

}  // namespace appell
