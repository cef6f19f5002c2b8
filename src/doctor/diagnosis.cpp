#include "doctor/diagnosis.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "tape/dense_rank.hpp"

namespace appell {

namespace {

// ranks of position rows, of all affine ones, and of all, at one state
Counts counts_at(const ConstrainedDynamics& d, const AffineRows& affine, std::span<const Digits50> values, const Digits50& bar) {
    Graph& g = d.graph();
    const std::size_t speeds = d.model->speeds.size();
    std::vector<NodeId> entries(d.rows.size() * speeds, g.constant(0));
    for (const SparseEntry& e : d.A.entries) entries[e.row * speeds + e.column] = e.value;
    const std::vector<Digits50> numbers = evaluate<Digits50>(g, entries, values);
    const auto rank_of = [&](const auto& wanted) {
        std::vector<Digits50> rows;
        for (std::size_t i = 0; i < d.rows.size(); ++i)
            if (wanted(i))
                rows.insert(rows.end(), numbers.begin() + static_cast<std::ptrdiff_t>(i * speeds),
                            numbers.begin() + static_cast<std::ptrdiff_t>((i + 1) * speeds));
        return DenseRank(std::move(rows), speeds, bar).rank();
    };
    Counts out;
    out.speeds = speeds;
    out.position = rank_of([&](std::size_t i) { return d.rows[i].level == Level::position; });
    const std::size_t linear =
        rank_of([&](std::size_t i) { return std::find(affine.rows.begin(), affine.rows.end(), i) != affine.rows.end(); });
    const std::size_t all = rank_of([](std::size_t) { return true; });
    out.n = speeds - out.position;
    out.m = linear - out.position;
    out.p = out.n - out.m;
    out.l = all - linear;
    out.c = out.p - out.l;
    return out;
}

// The rows with nonlinear ones replaced by the linear factor that the start is on, at the singular state.
std::optional<bool> linear_rows_regular(const ConstrainedDynamics& d, const LinearFactors& factors,
                                        const SingularStates& singular, const Samples& samples) {
    Graph& g = d.graph();
    const std::size_t speeds = d.model->speeds.size();
    std::vector<SymbolId> u;
    for (const Speed& s : d.model->speeds) u.push_back(s.u);
    std::vector<NodeId> entries(d.rows.size() * speeds, g.constant(0));
    for (const SparseEntry& e : d.A.entries) entries[e.row * speeds + e.column] = e.value;
    bool replaced = false;
    for (const LinearRow& row : factors.rows)
        for (const LinearEquation& equation : row.equations) {
            if (!equation.at_start || !equation.expression.valid()) continue;
            for (std::size_t c = 0; c < speeds; ++c) entries[row.row * speeds + c] = g.constant(0);
            for (const SparseEntry& e : jacobian(g, std::span(&equation.expression, 1), u).entries)
                entries[row.row * speeds + e.column] = e.value;
            replaced = true;
            break;
        }
    if (!replaced) return std::nullopt;
    const std::vector<Digits50> inputs(singular.inputs.begin(), singular.inputs.end());
    const std::vector<Digits50> numbers = evaluate<Digits50>(g, entries, samples.values(g, inputs));
    if (!std::all_of(numbers.begin(), numbers.end(), [](const Digits50& x) { return is_finite(x); })) return std::nullopt;
    return DenseRank(numbers, speeds, Digits50(1e-6)).rank() == singular.rank;  // the state is known to half of the digits
}

// with varied parameters the same is found, in better words; what is not found then belongs to these parameters
LinearFactors factors_of(const ConstrainedDynamics& d, const Samples& samples, const Samples& varied) {
    LinearFactors out = find_linear_factors(d, samples);
    if (out.rows.empty() && out.together.empty()) return out;
    LinearFactors general = find_linear_factors(d, varied);
    for (LinearRow& row : out.rows) {
        const auto same = std::find_if(general.rows.begin(), general.rows.end(),
                                       [&](const LinearRow& other) { return other.row == row.row && other.truth == row.truth; });
        if (same != general.rows.end())
            row = *same;
        else
            row.sentence += " (for these values of the parameters)";
    }
    if (general.together.size() == out.together.size()) out.together = std::move(general.together);
    return out;
}

Redundancy redundancy_of(const ConstrainedDynamics& d, const Samples& samples, const Samples& varied) {
    Redundancy out = find_redundancy(d, samples);
    Redundancy general = find_redundancy(d, varied);
    if (general.rank == out.rank && general.dependent.size() == out.dependent.size() &&
        general.contradictory.size() == out.contradictory.size())
        return general;
    for (DependentRow& row : out.dependent) row.sentence += " (for these values of the parameters)";
    return out;
}

}  // namespace

Diagnosis diagnose(const ConstrainedDynamics& d, const Samples& samples, const Samples& varied) {
    Diagnosis out;
    const std::size_t size = d.model->speeds.size() + d.rows.size();
    if (size > k_largest_examined)
        out.not_examined = fmt::format("{} speeds and rows, the limit is {}", size, k_largest_examined);
    else if (samples.size() == 0)
        out.not_examined = "no random states could be brought onto the constraints with fifty digits";
    if (!out.not_examined.empty()) {
        // a square of linear rows is itself a reason why no state can be brought onto the constraints
        if (samples.size() == 0 && size <= k_largest_examined && !d.rows.empty()) out.factors = find_linear_factors(d, samples);
        return out;
    }
    out.examined = true;
    out.rows = classify(d, samples);
    const AffineRows affine = affine_rows(d);
    out.generic = counts_at(d, affine, samples.values(d.graph(), samples.states.front()), Digits50(1e-30));
    // start values are on the constraints to round-off of doubles
    out.start = counts_at(d, affine, samples.values(d.graph(), samples.start), Digits50(1e-9));
    if (!d.rows.empty()) {
        out.integrability = integrability(d, samples, varied);
        out.factors = factors_of(d, samples, varied);
        out.redundancy = redundancy_of(d, samples, varied);
        out.singular = singular_states(d, samples);
        if (out.singular->found) out.linear_regular = linear_rows_regular(d, out.factors, *out.singular, samples);
    }
    out.power = audit_power(d, samples);
    out.implications = test_implications(d, samples);
    return out;
}

}  // namespace appell
