// How constraints share a force that is not unique.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "lang/elaborator.hpp"

namespace appell {

namespace {

// ratios of weights that say the same differ by round-off
constexpr double k_same = 1e-12;

}  // namespace

void Elaborator::elaborate_share(const Instance& instance) {
    const Statement& statement = *instance.statement;
    std::vector<const Part*> names, weights;
    for (const Part& part : statement.parts) (part.role == Role::name ? names : weights).push_back(&part);
    if (!weights.empty() && weights.size() != names.size()) {
        fail(Code::E0856, statement.span, "a share has one weight for each constraint",
             fmt::format("{} constraints and {} weights", names.size(), weights.size()), "as many weights as constraints");
        return;
    }
    std::vector<Value> members;
    std::vector<NodeId> nodes;
    std::vector<std::optional<Dimension>> units;
    bool good = true;
    for (std::size_t i = 0; i < names.size(); ++i) {
        const Part& name = *names[i];
        const Value value = value_of(name.name, instance.environment, places::anywhere);
        Value weight;
        weight.type = ValueType::scalar;
        weight.node = graph().constant(1);
        weight.dimension = Dimension{};
        if (!weights.empty()) weight = scalar(weights[i]->expr, instance.environment, places::constant);
        good = good && !value.poison() && !weight.poison();
        if (!good) continue;
        if (value.type != ValueType::constraint) {
            fail(Code::E0401, name.span, "`share` names constraints", std::string(describe(value.type)), "a constraint");
            good = false;
        } else if (!model().constraints[value.first].actuators.empty()) {
            fail(Code::E0725, name.span, "actuators keep this constraint; it has no force of its own", written(name.span),
                 "a constraint that is kept by ideal forces");
            good = false;
        } else if (std::ranges::any_of(members, [&](const Value& other) { return other.first == value.first; })) {
            fail(Code::E0209, name.span, fmt::format("`{}` is named twice", written(name.span)));
            good = false;
        } else if (!weights.empty() && evaluated(weight.node) == 0) {
            fail(Code::E0856, weights[i]->span, "a weight of a share is zero", written(weights[i]->span), "another number",
                 "leave the constraint out of the model, or out of the share");
            good = false;
        }
        members.push_back(value);
        nodes.push_back(weight.node);
        units.push_back(weight.dimension);
    }
    if (!ready() || !good) return;
    const auto equations = [&](const Value& v) { return std::pair(v.second, model().constraints[v.first].multipliers.size()); };
    for (std::size_t i = 1; i < members.size(); ++i) {
        if (equations(members[i]) != equations(members[0])) {
            fail(Code::E0856, names[i]->span, "constraints that share a force have as many equations, scalars or vectors",
                 written(names[i]->span), fmt::format("a constraint like {}", written(names[0]->span)));
            return;
        }
        for (std::uint32_t k = 0; k < members[0].second; ++k) {
            const auto unit = [&](std::size_t member) -> std::optional<Dimension> {
                const std::optional<Dimension>& force = multiplier_dimensions_[members[member].first + k];
                return force && units[member] ? std::optional(*force / *units[member]) : std::nullopt;
            };
            if (!unit(i) || !unit(0) || *unit(i) == *unit(0)) continue;
            fail(Code::E0301, names[i]->span, "the multipliers of this share have different dimensions",
                 fmt::format("{} and {}", si_text(*unit(0)), si_text(*unit(i))),
                 "the same dimension, or weights that make up for it");
            return;
        }
    }
    for (std::uint32_t k = 0; k < members[0].second; ++k) {
        Share share{{}, nodes, written(statement.span), statement.span};
        for (const Value& member : members) share.constraints.push_back(member.first + k);
        add_share(std::move(share));
    }
}

// Shares that have constraints in common belong together; what they say of two constraints must be the same.
void Elaborator::add_share(Share share) {
    const auto weight = [&](std::size_t i) { return evaluated(share.weights[i]); };
    const auto place = [&](std::size_t constraint) {
        return share_groups_.try_emplace(constraint, ShareGroup{constraint, 1.0}).first->second;
    };
    for (std::size_t i = 1; i < share.constraints.size(); ++i) {
        const ShareGroup first = place(share.constraints[i - 1]), second = place(share.constraints[i]);
        const double stated = weight(i) / weight(i - 1), known = second.weight / first.weight;
        if (first.group == second.group) {
            if (std::abs(stated - known) <= k_same * std::abs(known)) continue;
            fail(Code::E0856, share.span, "this share contradicts the ones before it", share.text,
                 fmt::format("{} : {} = 1 : {}", model().constraints[share.constraints[i - 1]].name,
                             model().constraints[share.constraints[i]].name, known),
                 "leave one of them out");
            return;
        }
        const double factor = stated * first.weight / second.weight;
        for (auto& [constraint, group] : share_groups_)
            if (group.group == second.group) group = {first.group, group.weight * factor};
    }
    model().shares.push_back(std::move(share));
}

}  // namespace appell
