// Operators, names and sums. Types and dimensions are checked at each node, so that a problem is reported at its spot.
#include "lang/evaluation.hpp"

#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace appell {

namespace {

constexpr std::optional<Dimension> k_unknown{};

// ends the evaluation: beyond every node
constexpr std::size_t k_stop = static_cast<std::size_t>(-1);

std::optional<Dimension> times(std::optional<Dimension> a, std::optional<Dimension> b) {
    return a && b ? std::optional(*a * *b) : k_unknown;
}

std::optional<Dimension> over(std::optional<Dimension> a, std::optional<Dimension> b) {
    return a && b ? std::optional(*a / *b) : k_unknown;
}

}  // namespace

std::string_view describe(ValueType type) {
    switch (type) {
        case ValueType::poison: return "something with a problem";
        case ValueType::scalar: return "a scalar";
        case ValueType::vector: return "a vector";
        case ValueType::point: return "a point";
        case ValueType::frame: return "a frame or body";
        case ValueType::condition: return "a condition";
        case ValueType::body_at: return "a body at a point";
        case ValueType::axis: return "an axis";
        case ValueType::word: return "a word";
        case ValueType::constraint: return "a constraint";
        case ValueType::equation: return "a condition";
        case ValueType::actuator: return "an actuator";
        case ValueType::matrix: return "a matrix";
        case ValueType::relation: return "a relation for `constraint`";
    }
    return "";
}

std::vector<Value> Evaluation::run(const SyntaxExpr& expr, bool tuple_allowed) {
    for (std::size_t i = 0; i < expr.nodes.size();) {
        const SyntaxNode& node = expr.nodes[i];
        const auto top = [&](std::size_t below) -> Value& { return stack_[stack_.size() - 1 - below]; };
        const auto replace = [&](std::size_t count, Value value) {
            stack_.resize(stack_.size() - count);
            stack_.push_back(value);
        };
        switch (node.kind) {
            case SyntaxKind::number: stack_.push_back(number(node)); break;
            case SyntaxKind::name: {
                const Value value = name(node);
                replace(node.count, value);
                break;
            }
            case SyntaxKind::axis: {
                Value value;
                value.type = ValueType::axis;
                value.first = static_cast<std::uint32_t>(owner_.syntax_.names.text(node.name).front() - 'x');
                stack_.push_back(value);
                break;
            }
            case SyntaxKind::word: {
                Value value;
                value.type = ValueType::word;
                value.first = node.name;
                stack_.push_back(value);
                break;
            }
            case SyntaxKind::member: replace(1, member(node, top(0))); break;
            case SyntaxKind::unary: replace(1, unary(node, top(0))); break;
            case SyntaxKind::binary: replace(2, binary(node, top(1), top(0))); break;
            case SyntaxKind::at: replace(2, at(node, top(1), top(0))); break;
            case SyntaxKind::call: {
                const std::vector<Value> arguments(stack_.end() - node.count, stack_.end());
                replace(node.count, call(node, arguments));
                break;
            }
            case SyntaxKind::tuple:
                if (tuple_allowed && i + 1 == expr.nodes.size()) return stack_;
                if (rows_ != nullptr) {
                    rows_->push_back(node.count);
                    break;
                }
                owner_.fail(Code::E0401, node.span, "a list in brackets has no meaning here",
                            fmt::format("{} values", node.count), "one value",
                            "a vector is written with basis vectors: x*N.x + y*N.y");
                replace(node.count, Value{});
                break;
            case SyntaxKind::sum_begin: i = begin_sum(node, i); continue;
            case SyntaxKind::sum_end: i = end_sum(node, i); continue;
        }
        ++i;
    }
    return stack_;
}

std::vector<Value> Evaluation::run_matrix(const SyntaxExpr& expr, std::vector<std::size_t>& rows) {
    rows_ = &rows;
    std::vector<Value> values = run(expr, true);
    rows_ = nullptr;
    return values;
}

Value Evaluation::scalar_of(NodeId node, std::optional<Dimension> dimension, std::uint32_t made_of) const {
    Value value;
    value.type = ValueType::scalar;
    value.node = node;
    if (owner_.units_) value.dimension = dimension;
    value.made_of = made_of;
    return value;
}

Value Evaluation::vector_of(NodeId node, std::optional<Dimension> dimension, std::uint32_t made_of) const {
    Value value = scalar_of(node, dimension, made_of);
    value.type = ValueType::vector;
    return value;
}

Value Evaluation::number(const SyntaxNode& node) {
    if (node.unit == 0) return scalar_of(graph().constant(node.value), k_unknown, 0);
    const UnitValue& unit = owner_.syntax_.units[node.unit];
    if (unit.suspect != k_no_name && owner_.find(owner_.syntax_.names.text(unit.suspect)) != nullptr) {
        const std::string& word = owner_.syntax_.names.text(unit.suspect);
        owner_.fail(Code::W0301, node.span, fmt::format("`{}` is read as a unit here, and is also a name of the model", word), {},
                    {}, fmt::format("for a product with the name write spaces: ` * {}`", word));
    }
    // one rounding for a decimal multiple; pi stays a symbol
    NodeId value = graph().constant(node.value * unit.numerator / unit.denominator);
    if (unit.pi_power != 0) {
        value = graph().mul(graph().constant(node.value * unit.numerator), graph().pow(graph().pi(), unit.pi_power));
        value = graph().div(value, graph().constant(unit.denominator));
    }
    return scalar_of(value, unit.dimension, 0);
}

Value Evaluation::name(const SyntaxNode& node) {
    const std::string& text = owner_.syntax_.names.text(node.name);
    if (node.count == 0) {
        for (std::size_t i = loops_.size(); i-- > 0;)
            if (loops_[i].name == node.name)
                return scalar_of(graph().constant(static_cast<double>(loops_[i].current)), k_unknown, 0);
        if (const auto value = owner_.loop_value(node.name, environment_))
            return scalar_of(graph().constant(static_cast<double>(*value)), k_unknown, 0);
        // formal arguments come before the built-in constants: f(x, t)
        const Entity& current = owner_.entities_[owner_.current_];
        if (current.kind == EntityKind::function && current.state == EntityState::active) {
            const std::vector<Part>& parts = current.instance.statement->parts;
            for (std::size_t i = 0, k = 0; i < parts.size(); ++i) {
                if (parts[i].role != Role::argument) continue;
                if (parts[i].name.name == node.name && node.primes == 0)
                    return scalar_of(graph().symbol_node(SymbolId(current.index + k)), k_unknown, 0);
                ++k;
            }
        }
        if (text == "pi" && node.primes == 0) return scalar_of(graph().pi(), Dimension{}, 0);
        if (text == "t" && node.primes == 0) {
            if (!allow(uses::time, node.span, "the time t")) return {};
            return scalar_of(owner_.builder_->time().id, Dimension::of(0, 0, 1), uses::time);
        }
    }
    std::string full = text;
    if (node.count > 0) {
        const std::vector<Value> indices(stack_.end() - node.count, stack_.end());
        full = owner_.member_name(node.name, indices, node.span);
        if (full.empty()) return {};
    }
    Entity* entity = owner_.lookup(full, node.name, node.span);
    return entity == nullptr ? Value{} : owner_.entity_value(*entity, node.primes, node.span, place_);
}

Value Evaluation::member(const SyntaxNode& node, const Value& of) {
    const std::string& text = owner_.syntax_.names.text(node.name);
    if (of.poison()) return {};
    if (of.type == ValueType::constraint) {
        const bool digits = text.find_first_not_of("0123456789") == std::string::npos && text.size() < 7;
        const std::uint32_t which = digits ? static_cast<std::uint32_t>(std::stoul(text)) : 0;
        if (which < 1 || which > of.second) {
            owner_.fail(Code::E0207, node.span, fmt::format("the constraint has no equation `{}`", text), {},
                        fmt::format("1 to {}", of.second));
            return {};
        }
        Value value = of;
        value.first += which - 1;
        value.second = 1;
        return value;
    }
    if (of.type != ValueType::frame) {
        owner_.fail(Code::E0401, node.span, fmt::format("`.{}` needs a frame or a body before it", text),
                    std::string(describe(of.type)), "a frame or body, as in N.x");
        return {};
    }
    if (text != "x" && text != "y" && text != "z") {
        owner_.fail(Code::E0202, node.span, fmt::format("a frame has no `{}`", text), {}, "x, y or z");
        return {};
    }
    if (!allow(uses::geometry, node.span, "a basis vector")) return {};
    Value value = vector_of(owner_.builder_->basis(FrameId(of.first), text.front() - 'x'), Dimension{}, uses::geometry);
    value.direction = true;
    return value;
}

Value Evaluation::unary(const SyntaxNode& node, const Value& x) {
    if (x.poison()) return {};
    if (node.op == SyntaxOp::not_) {
        if (!need(x, ValueType::condition, node.span, "behind `not`")) return {};
        Value value = x;
        value.node = graph().sub(graph().constant(1), x.node);
        return value;
    }
    Value value = x.type == ValueType::point ? owner_.as_vector(x, node.span) : x;
    if (value.type != ValueType::scalar && value.type != ValueType::vector) {
        owner_.fail(Code::E0401, node.span, "a sign needs a number or a vector behind it", std::string(describe(x.type)),
                    "a scalar or a vector");
        return {};
    }
    if (node.op == SyntaxOp::neg) {
        value.node = value.type == ValueType::scalar ? graph().neg(value.node) : graph().vneg(value.node);
        value.points = -value.points;
    }
    return value;
}

Value Evaluation::binary(const SyntaxNode& node, const Value& x, const Value& y) {
    if (x.poison() || y.poison()) return {};
    switch (node.op) {
        case SyntaxOp::add:
        case SyntaxOp::sub: return sum(node, x, y);
        case SyntaxOp::mul: return product(node, x, y);
        case SyntaxOp::div: return quotient(node, x, y);
        case SyntaxOp::pow: return power(node, x, y);
        case SyntaxOp::and_:
        case SyntaxOp::or_: return logical(node, x, y);
        default: return comparison(node, x, y);
    }
}

std::optional<Dimension> Evaluation::common(const Value& x, const Value& y, Span span, std::string_view what) {
    if (owner_.is_zero(x) || x.direction) return y.dimension;
    if (owner_.is_zero(y) || y.direction) return x.dimension;
    if (!x.dimension || !y.dimension) return k_unknown;
    if (*x.dimension == *y.dimension) return x.dimension;
    owner_.fail(Code::E0301, span, fmt::format("the two sides of {} have different dimensions", what),
                fmt::format("{} and {}", si_text(*x.dimension), si_text(*y.dimension)), "the same dimension");
    return k_unknown;
}

Value Evaluation::sum(const SyntaxNode& node, const Value& x, const Value& y) {
    const bool minus = node.op == SyntaxOp::sub;
    const std::uint32_t made_of = x.made_of | y.made_of;
    const std::string_view what = minus ? "this difference" : "this sum";
    if (x.type == ValueType::scalar && y.type == ValueType::scalar)
        return scalar_of(minus ? graph().sub(x.node, y.node) : graph().add(x.node, y.node), common(x, y, node.span, what),
                         made_of);
    const auto spatial = [&](const Value& v) {
        return v.type == ValueType::vector || v.type == ValueType::point || owner_.is_zero(v);
    };
    if (!spatial(x) || !spatial(y)) {
        owner_.fail(Code::E0401, node.span, fmt::format("the two sides of {} do not fit together", what),
                    fmt::format("{} and {}", describe(x.type), describe(y.type)), "two scalars, or points and vectors");
        return {};
    }
    const Value a = owner_.as_vector(x, node.span), b = owner_.as_vector(y, node.span);
    Value value = vector_of(graph().vadd(a.node, minus ? graph().vneg(b.node) : b.node), common(a, b, node.span, what), made_of);
    value.points = minus ? a.points - b.points : a.points + b.points;
    value.direction = (a.direction || owner_.is_zero(a)) && (b.direction || owner_.is_zero(b));
    return value;
}

Value Evaluation::product(const SyntaxNode& node, const Value& x, const Value& y) {
    const std::uint32_t made_of = x.made_of | y.made_of;
    const auto spatial = [](const Value& v) { return v.type == ValueType::vector || v.type == ValueType::point; };
    if (x.type == ValueType::scalar && y.type == ValueType::scalar)
        return scalar_of(graph().mul(x.node, y.node), times(x.dimension, y.dimension), made_of);
    const bool left = x.type == ValueType::scalar && spatial(y), right = y.type == ValueType::scalar && spatial(x);
    if (!left && !right) {
        const bool both = spatial(x) && spatial(y);
        owner_.fail(Code::E0401, node.span, "these two can not be multiplied",
                    fmt::format("{} and {}", describe(x.type), describe(y.type)), "scalars, or a scalar and a vector",
                    both ? "use dot(v, w) or cross(v, w)" : "");
        return {};
    }
    const Value& s = left ? x : y;
    const Value v = owner_.as_vector(left ? y : x, node.span);
    Value value = vector_of(graph().vscale(s.node, v.node), times(s.dimension, v.dimension), made_of);
    const auto factor = graph().constant_value(s.node);
    value.points = v.points == 0 ? 0 : factor ? v.points * *factor : std::numeric_limits<double>::quiet_NaN();
    return value;
}

Value Evaluation::quotient(const SyntaxNode& node, const Value& x, const Value& y) {
    if (y.type != ValueType::scalar) {
        owner_.fail(Code::E0401, node.span, "only a scalar can be divided by", std::string(describe(y.type)), "a scalar");
        return {};
    }
    if (owner_.is_zero(y)) {
        owner_.fail(Code::E0406, node.span, "division by zero", {}, "a divisor that is not zero");
        return {};
    }
    const std::uint32_t made_of = x.made_of | y.made_of;
    if (x.type == ValueType::scalar) return scalar_of(graph().div(x.node, y.node), over(x.dimension, y.dimension), made_of);
    if (x.type != ValueType::vector && x.type != ValueType::point) {
        owner_.fail(Code::E0401, node.span, "this can not be divided", std::string(describe(x.type)), "a scalar or a vector");
        return {};
    }
    const Value v = owner_.as_vector(x, node.span);
    Value value =
        vector_of(graph().vscale(graph().div(graph().constant(1), y.node), v.node), over(v.dimension, y.dimension), made_of);
    const auto divisor = graph().constant_value(y.node);
    value.points = v.points == 0 ? 0 : divisor ? v.points / *divisor : std::numeric_limits<double>::quiet_NaN();
    return value;
}

Value Evaluation::power(const SyntaxNode& node, const Value& x, const Value& y) {
    if (x.type != ValueType::scalar || y.type != ValueType::scalar) {
        const bool square = x.type == ValueType::vector || x.type == ValueType::point;
        owner_.fail(Code::E0401, node.span, "a power needs scalars", fmt::format("{} and {}", describe(x.type), describe(y.type)),
                    "two scalars", square ? "the square of a vector is dot(v, v)" : "");
        return {};
    }
    if (y.dimension && !y.dimension->none()) {
        owner_.fail(Code::E0304, node.span, "the exponent has a dimension", si_text(*y.dimension), "a pure number");
        return {};
    }
    // 1/3 is not one node, but a constant all the same
    const bool constant = y.made_of == 0;
    const double exponent = constant ? owner_.number_of(y.node) : 0;
    std::optional<Dimension> dimension;
    if (x.dimension && x.dimension->none()) dimension = Dimension{};
    if (x.dimension && !x.dimension->none()) {
        if (!constant) {
            owner_.fail(Code::E0304, node.span, "a quantity with a dimension needs a constant number as its exponent",
                        fmt::format("a base in {}", si_text(*x.dimension)), "a pure number as the base, or a constant exponent");
            return {};
        }
        // exponents that are multiples of 1/12 keep the dimension exact; others leave it unknown
        const double twelfths = std::round(exponent * Dimension::k_unit);
        if (std::abs(twelfths - exponent * Dimension::k_unit) < 1e-9 && std::abs(twelfths) < 200)
            dimension = appell::power(*x.dimension, static_cast<int>(twelfths), Dimension::k_unit);
    }
    const std::uint32_t made_of = x.made_of | y.made_of;
    if (constant && exponent == std::floor(exponent) && std::abs(exponent) < 1e6) {
        if (owner_.is_zero(x) && exponent < 0) {
            owner_.fail(Code::E0406, node.span, "division by zero", {}, "a divisor that is not zero");
            return {};
        }
        return scalar_of(graph().pow(x.node, static_cast<int>(exponent)), dimension, made_of);
    }
    if (constant && exponent == 0.5) return scalar_of(graph().make(Op::Sqrt, x.node), dimension, made_of);
    return scalar_of(graph().make(Op::Pow, x.node, y.node), dimension, made_of);
}

Value Evaluation::comparison(const SyntaxNode& node, const Value& x, const Value& y) {
    if (x.type != ValueType::scalar || y.type != ValueType::scalar) {
        owner_.fail(Code::E0401, node.span, "only scalars can be compared",
                    fmt::format("{} and {}", describe(x.type), describe(y.type)), "two scalars");
        return {};
    }
    (void)common(x, y, node.span, "this comparison");
    Value value;
    value.type = ValueType::condition;
    value.made_of = x.made_of | y.made_of;
    const NodeId one = graph().constant(1);
    const auto less = [&](NodeId a, NodeId b) { return graph().make(Op::Less, a, b); };
    const auto less_equal = [&](NodeId a, NodeId b) { return graph().make(Op::LessEqual, a, b); };
    switch (node.op) {
        case SyntaxOp::less: value.node = less(x.node, y.node); break;
        case SyntaxOp::less_equal: value.node = less_equal(x.node, y.node); break;
        case SyntaxOp::greater: value.node = less(y.node, x.node); break;
        case SyntaxOp::greater_equal: value.node = less_equal(y.node, x.node); break;
        default:
            value.node = graph().mul(less_equal(x.node, y.node), less_equal(y.node, x.node));
            if (node.op == SyntaxOp::unequal) value.node = graph().sub(one, value.node);
    }
    return value;
}

Value Evaluation::logical(const SyntaxNode& node, const Value& x, const Value& y) {
    const std::string_view where = node.op == SyntaxOp::and_ ? "beside `and`" : "beside `or`";
    if (!need(x, ValueType::condition, node.span, where) || !need(y, ValueType::condition, node.span, where)) return {};
    Value value = x;
    value.made_of |= y.made_of;
    value.node = node.op == SyntaxOp::and_ ? graph().mul(x.node, y.node) : graph().make(Op::Max, x.node, y.node);
    return value;
}

Value Evaluation::at(const SyntaxNode& node, const Value& body, const Value& point) {
    if (body.poison() || point.poison()) return {};
    if (!need(body, ValueType::frame, node.span, "before `at`") || !need(point, ValueType::point, node.span, "behind `at`"))
        return {};
    Value value;
    value.type = ValueType::body_at;
    value.first = body.first;
    value.second = point.first;
    value.dimension = point.dimension;
    return value;
}

std::size_t Evaluation::begin_sum(const SyntaxNode& node, std::size_t index) {
    const auto bound = [&](const Value& value) -> std::optional<long long> {
        if (value.poison()) return {};
        const auto constant = value.type == ValueType::scalar ? graph().constant_value(value.node) : std::nullopt;
        if (constant && *constant == std::floor(*constant) && std::abs(*constant) < 1e15)
            return static_cast<long long>(*constant);
        owner_.fail(Code::E0404, node.span, "the bounds of a sum are whole numbers", std::string(describe(value.type)),
                    "numbers, sizes and loop names");
        return {};
    };
    const auto first = bound(stack_[stack_.size() - 2]), last = bound(stack_.back());
    stack_.resize(stack_.size() - 2);
    const std::size_t behind = index + node.count + 1;
    if (!first || !last) {
        stack_.emplace_back();
        return behind;
    }
    if (*first > *last) {
        stack_.push_back(scalar_of(graph().constant(0), k_unknown, 0));
        return behind;
    }
    const auto members = static_cast<std::size_t>(*last - *first) + 1;
    const Limits& limits = owner_.options_.limits;
    if (members > limits.family_size) {
        owner_.fail(Code::E0507, node.span, "the sum has too many terms", fmt::format("{}", members),
                    fmt::format("at most {}", limits.family_size), "use --limit family_size=N for more");
        stack_.emplace_back();
        return behind;
    }
    loops_.push_back({node.name, *first, *last, index + 1, {}, {}, false});
    return index + 1;
}

std::size_t Evaluation::end_sum(const SyntaxNode& node, std::size_t index) {
    Loop& loop = loops_.back();
    const Value term = stack_.back();
    stack_.pop_back();
    if (!loop.started) {
        loop.total = term.type == ValueType::point ? owner_.as_vector(term, node.span) : term;
        if (!term.poison() && loop.total.type != ValueType::scalar && loop.total.type != ValueType::vector) {
            owner_.fail(Code::E0401, node.span, "only scalars and vectors can be added up", std::string(describe(term.type)),
                        "scalars or vectors");
            loop.total = {};
        }
        loop.started = true;
        if (!loop.total.poison()) loop.terms.push_back(loop.total.node);
    } else if (term.poison() || loop.total.poison()) {
        loop.total = {};
    } else if (loop.total.type == ValueType::scalar && term.type == ValueType::scalar) {
        // scalars are collected and added up as a balanced tree
        loop.total.dimension = common(loop.total, term, node.span, "this sum");
        loop.total.made_of |= term.made_of;
        loop.terms.push_back(term.node);
    } else {
        SyntaxNode plus = node;
        plus.op = SyntaxOp::add;
        loop.total = sum(plus, loop.total, term);
    }
    if (++rounds_ > owner_.options_.limits.statements) {
        owner_.fail(Code::E0507, node.span, "the sums have too many terms", {},
                    fmt::format("at most {}", owner_.options_.limits.statements), "use --limit statements=N for more");
        loops_.clear();
        stack_.assign(1, Value{});
        return k_stop;
    }
    if (loop.current < loop.last) {
        ++loop.current;
        return loop.body;
    }
    Value total = loop.total;
    if (total.type == ValueType::scalar) total.node = graph().sum(loop.terms);
    loops_.pop_back();
    stack_.push_back(total);
    return index + 1;
}

bool Evaluation::allow(std::uint32_t made_of, Span span, std::string_view text) {
    const std::uint32_t refused = made_of & ~place_.allowed;
    if (refused == 0) return true;
    if (place_.allowed == places::whole.allowed) {
        owner_.fail(Code::E0404, span, fmt::format("{} can not be used in a whole number", text), {},
                    "numbers, sizes and loop names");
    } else if (place_.allowed == places::constant.allowed) {
        owner_.fail(Code::E0403, span, fmt::format("{} is not constant", text), {}, "numbers, units and parameters");
    } else if ((refused & uses::acceleration) != 0) {
        owner_.fail(Code::E0902, span, fmt::format("accelerations can not be used in {}", place_.what), std::string(text), {},
                    "accelerations are available in outputs and plots");
    } else {
        std::string_view kind = "this quantity";
        if ((refused & uses::multiplier) != 0)
            kind = "a constraint force";
        else if ((refused & (uses::speed | uses::rate | uses::velocity)) != 0)
            kind = "a speed";
        else if ((refused & uses::input) != 0)
            kind = "an input";
        else if ((refused & uses::energy) != 0)
            kind = "an energy";
        else if ((refused & uses::coordinate) != 0)
            kind = "a coordinate";
        owner_.fail(Code::E0405, span, fmt::format("{} can not be used in {}", text, place_.what), std::string(kind));
    }
    return false;
}

bool Evaluation::need(const Value& value, ValueType type, Span span, std::string_view where) {
    if (value.poison()) return false;
    if (value.type == type) return true;
    owner_.fail(Code::E0401, span, fmt::format("{} is needed {}", describe(type), where), std::string(describe(value.type)),
                std::string(describe(type)));
    return false;
}

}  // namespace appell
