// Direct evaluation of expressions for any scalar type: one ascending pass. The tapes of `tape` are the fast way; this is the
// independent one, for tests and for the few numbers needed before a tape exists.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "expr/graph.hpp"
#include "expr/scalar_math.hpp"
#include "expr/sweep.hpp"

namespace appell {

// the value of one operation of the table
template <class T>
T apply_op(Op op, const T& x, const T& y, const T& z) {
    using std::acos, std::acosh, std::asin, std::asinh, std::atan, std::atan2, appell::atan2, std::atanh, std::cos, std::cosh,
        std::exp, std::log, std::pow, std::sin, std::sinh, std::sqrt, std::tan, std::tanh;
    (void)y, (void)z;
    switch (op) {
#define APPELL_LEAF(Name)
#define APPELL_STRUCTURE(Name, arity)
#define APPELL_VECTOR(Name, arity)
#define APPELL_OP(Name, text, arity, value, dx, dy, dz) \
    case Op::Name:                                      \
        return T(value);
#include "expr/ops.def"
#undef APPELL_LEAF
#undef APPELL_STRUCTURE
#undef APPELL_VECTOR
#undef APPELL_OP
        default: throw Error("this node is not an operation on scalars");
    }
}

template <class T>
T pi_value() {
    using std::acos;
    if constexpr (IsComplex<T>::value)
        return T(acos(real_part(T(-1))));
    else
        return acos(T(-1));
}

// values[symbol index] is the value of a symbol; symbols beyond the span count as an error
template <class T>
std::vector<T> evaluate(const Graph& g, std::span<const NodeId> roots, std::span<const T> values) {
    Sweep sweep;
    const std::vector<NodeId>& order = sweep.collect(g, roots);
    std::vector<T> result(order.size());
    const auto at = [&](NodeId id) {
        return static_cast<std::size_t>(std::lower_bound(order.begin(), order.end(), id) - order.begin());
    };
    std::vector<T> arguments;
    for (std::size_t i = 0; i < order.size(); ++i) {
        const NodeId id = order[i];
        switch (g.op(id)) {
            case Op::Constant: result[i] = T(*g.constant_value(id)); break;
            case Op::Pi: result[i] = pi_value<T>(); break;
            case Op::Symbol:
                if (g.symbol_of(id).index() >= values.size())
                    throw Error("no value was given for symbol " + g.symbol(g.symbol_of(id)).name);
                result[i] = values[g.symbol_of(id).index()];
                break;
            case Op::PowInt: result[i] = int_power(result[at(g.operand(id, 0))], g.exponent(id)); break;
            case Op::NoArgs:
            case Op::Args: break;
            case Op::Call: {
                const FunctionInfo& f = g.function(g.function_of(id));
                arguments.clear();
                for (const NodeId argument : g.call_arguments(id)) arguments.push_back(result[at(argument)]);
                result[i] = opaque_value<T>(g.function(f.base).name, f.orders, arguments);
                break;
            }
            default: {
                const int arity = g.arity(id);
                const T none(0);
                result[i] = apply_op<T>(g.op(id), result[at(g.operand(id, 0))], arity > 1 ? result[at(g.operand(id, 1))] : none,
                                        arity > 2 ? result[at(g.operand(id, 2))] : none);
            }
        }
    }
    std::vector<T> out;
    out.reserve(roots.size());
    for (const NodeId root : roots) out.push_back(result[at(root)]);
    return out;
}

extern template std::vector<double> evaluate<double>(const Graph& g, std::span<const NodeId> roots,
                                                     std::span<const double> values);

}  // namespace appell
