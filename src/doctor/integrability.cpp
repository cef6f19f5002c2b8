#include "doctor/integrability.hpp"

#include <algorithm>
#include <memory>

#include "doctor/integrals.hpp"
#include "expr/linear_split.hpp"
#include "tape/dense_rank.hpp"

namespace appell {

namespace {

constexpr std::size_t k_looked_at = 3;  // samples; a rank is the largest among them
const Digits50 k_round_off = 1e-35;
const Digits50 k_independent = 1e-25;  // of a vector of unit length, what is left outside of a span

// The span of vectors at one configuration: orthonormal, by Gram and Schmidt, twice.
class Span50 {
public:
    // false: it is inside already
    bool add(std::vector<Digits50> v) {
        const Digits50 size = norm(v);
        largest_ = std::max(largest_, size);
        // a bracket that vanishes leaves round-off of its terms, which are of the size of the fields or so
        if (!(size > k_round_off * largest_)) return false;
        for (Digits50& x : v) x /= size;
        for (int pass = 0; pass < 2; ++pass)
            for (const std::vector<Digits50>& e : basis_) {
                Digits50 along(0);
                for (std::size_t i = 0; i < v.size(); ++i) along += e[i] * v[i];
                for (std::size_t i = 0; i < v.size(); ++i) v[i] -= along * e[i];
            }
        const Digits50 left = norm(v);
        if (!(left > k_independent)) return false;
        for (Digits50& x : v) x /= left;
        basis_.push_back(std::move(v));
        return true;
    }
    [[nodiscard]] std::size_t dimension() const { return basis_.size(); }
    [[nodiscard]] const std::vector<std::vector<Digits50>>& basis() const { return basis_; }

private:
    static Digits50 norm(const std::vector<Digits50>& v) {
        Digits50 sum(0);
        for (const Digits50& x : v) sum += x * x;
        return sqrt(sum);
    }
    std::vector<std::vector<Digits50>> basis_;
    Digits50 largest_ = 0;  // vector that was added
};

// directional derivatives along one field, remembered
class Along {
public:
    Along(Graph& g, const Distribution& d, const std::vector<NodeId>& field) : derivative_(g) {
        for (std::size_t i = 0; i < d.variables.size(); ++i) derivative_.set_rate(d.variables[i], field[i]);
    }
    NodeId operator()(NodeId f) { return derivative_(f); }

private:
    TimeDerivative derivative_;
};

}  // namespace

Growth growth(Graph& g, const Distribution& d, const Samples& samples, std::size_t most_nodes) {
    const std::size_t looked_at = std::min(k_looked_at, samples.size()), first_node = g.size();
    std::vector<Span50> spans(looked_at);
    std::vector<std::vector<Digits50>> values;
    for (std::size_t k = 0; k < looked_at; ++k) values.push_back(samples.values(g, samples.states[k]));
    Growth out;
    // the fields that are independent of all before, at one of the configurations at least
    const auto take = [&](std::vector<std::vector<NodeId>> candidates) {
        std::vector<NodeId> components;
        for (const std::vector<NodeId>& field : candidates) components.insert(components.end(), field.begin(), field.end());
        std::vector<bool> is_new(candidates.size(), false);
        for (std::size_t k = 0; k < looked_at; ++k) {
            const std::vector<Digits50> numbers = evaluate<Digits50>(g, components, values[k]);
            const std::size_t n = d.variables.size();
            for (std::size_t i = 0; i < candidates.size(); ++i) {
                std::vector<Digits50> v(numbers.begin() + static_cast<std::ptrdiff_t>(i * n),
                                        numbers.begin() + static_cast<std::ptrdiff_t>((i + 1) * n));
                if (std::all_of(v.begin(), v.end(), [](const Digits50& x) { return is_finite(x); }) && spans[k].add(std::move(v)))
                    is_new[i] = true;
            }
        }
        std::vector<std::vector<NodeId>> kept;
        for (std::size_t i = 0; i < candidates.size(); ++i)
            if (is_new[i]) kept.push_back(std::move(candidates[i]));
        std::size_t dimension = 0;
        for (const Span50& span : spans) dimension = std::max(dimension, span.dimension());
        if (out.dimensions.empty() || dimension > out.dimensions.back()) out.dimensions.push_back(dimension);
        return kept;
    };

    std::vector<std::vector<NodeId>> newest = take(d.fields);
    std::vector<std::unique_ptr<Along>> along;
    for (const std::vector<NodeId>& field : d.fields) along.push_back(std::make_unique<Along>(g, d, field));
    out.fields = newest;
    for (bool first = true; !newest.empty() && out.dimensions.back() < d.dimension; first = false) {
        std::vector<std::vector<NodeId>> brackets;
        for (std::size_t j = 0; j < newest.size(); ++j) {
            const std::vector<NodeId>& Y = newest[j];
            Along along_Y(g, d, Y);
            // at the first level the newest are the generators themselves, and [X, Y] = -[Y, X]
            for (std::size_t i = first ? j + 1 : 0; i < d.fields.size(); ++i) {
                const std::vector<NodeId>& X = d.fields[i];
                std::vector<NodeId> bracket;
                for (std::size_t c = 0; c < Y.size(); ++c) bracket.push_back(g.sub((*along[i])(Y[c]), along_Y(X[c])));
                if (std::any_of(bracket.begin(), bracket.end(), [&](NodeId b) { return !g.is_constant(b, 0); }))
                    brackets.push_back(std::move(bracket));
                if (g.size() - first_node > most_nodes) {
                    out.decided = false;
                    break;
                }
            }
            if (!out.decided) break;
        }
        if (brackets.empty()) break;
        newest = take(std::move(brackets));
        out.fields.insert(out.fields.end(), newest.begin(), newest.end());
        if (!out.decided) break;
    }
    if (out.dimensions.back() >= d.dimension) out.decided = true;
    for (const Span50& span : spans) out.values.push_back(span.basis());
    return out;
}

namespace {

// The forms of the rows over the variables, written with the rates q': a . u + c with u = Y r + Z. Empty where rates of
// quaternion frames, which are no q', take part.
std::vector<std::vector<NodeId>> forms(const ConstrainedDynamics& d, const AffineRows& affine) {
    Graph& g = d.graph();
    const Model& m = *d.model;
    const Kinematics& kin = *d.kinematics;
    std::vector<std::vector<NodeId>> out;
    std::vector<SymbolId> rates;
    for (const Coordinate& c : m.coordinates) rates.push_back(c.rate);
    for (const SymbolId rate : kin.independent_rates())
        if (std::find(rates.begin(), rates.end(), rate) == rates.end()) return {};
    for (std::size_t i = 0; i < affine.rows.size(); ++i) {
        std::vector<NodeId> terms{affine.c[i]};
        for (std::size_t j = 0; j < m.speeds.size(); ++j)
            if (!g.is_constant(affine.a[i][j], 0)) terms.push_back(g.mul(affine.a[i][j], kin.speed_definitions()[j]));
        const NodeId row = g.sum(terms);
        const LinearSplit split = split_linear(g, std::span(&row, 1), rates);
        if (split.failure) return {};
        std::vector<NodeId>& form = out.emplace_back(rates.size(), g.constant(0));
        for (const SparseEntry& e : split.coefficients.entries) form[e.column] = e.value;
        form.push_back(split.remainders.front());  // dt
    }
    return out;
}

bool is_exact(Graph& g, const Model& m, const std::vector<NodeId>& form, const Samples& samples) {
    std::vector<SymbolId> variables;
    for (const Coordinate& c : m.coordinates) variables.push_back(c.q);
    variables.push_back(m.time);
    const SparseMatrix slopes = jacobian(g, form, variables);
    std::vector<NodeId> entries;
    for (const SparseEntry& e : slopes.entries) entries.push_back(e.value);
    for (std::size_t k = 0; k < std::min(k_looked_at, samples.size()); ++k) {
        const std::vector<Digits50> numbers = samples.evaluate(g, entries, k);
        std::vector<Digits50> full(variables.size() * variables.size(), Digits50(0));
        for (std::size_t i = 0; i < entries.size(); ++i)
            full[slopes.entries[i].row * variables.size() + slopes.entries[i].column] = numbers[i];
        for (std::size_t i = 0; i < variables.size(); ++i)
            for (std::size_t j = 0; j < i; ++j) {
                const Digits50 &x = full[i * variables.size() + j], &y = full[j * variables.size() + i];
                if (!(abs(x - y) <= Digits50(1e-30) * (Digits50(1) + abs(x)))) return false;
            }
    }
    return true;
}

}  // namespace

std::optional<Integrability> integrability(const ConstrainedDynamics& d, const Samples& samples, const Samples& varied,
                                           const IntegrabilityOptions& options) {
    Graph& g = d.graph();
    const Model& m = *d.model;
    const AffineRows affine = affine_rows(d);
    if (affine.rows.empty() || samples.size() == 0) return std::nullopt;
    const NullSpace ns = null_space(g, affine, m.speeds.size(), samples);
    const Distribution dist = distribution(d, ns);
    const Growth grown = growth(g, dist, samples, options.most_nodes);
    if (grown.dimensions.back() > dist.dimension) throw Error("a distribution is larger than its space");
    Integrability out;
    out.rows = affine.rows;
    out.independent = ns.pivot_rows.size();
    out.growth = grown.dimensions;
    out.dimension = dist.dimension;
    out.time = dist.time;
    out.decided = grown.decided;
    out.integrals = dist.dimension - grown.dimensions.back();

    // position rows: their own rank is what they state
    std::vector<std::size_t> position;
    for (std::size_t i = 0; i < affine.rows.size(); ++i)
        if (d.rows[affine.rows[i]].level == Level::position) position.push_back(i);
    if (!position.empty())
        out.stated = position.size() == affine.rows.size()
                         ? ns.pivot_rows.size()
                         : null_space(g, affine, m.speeds.size(), samples, position).pivot_rows.size();

    // A row is holonomic with the others at hand where its form vanishes on the whole closure: on all u that bring about the
    // fields of it, q' = K u. Its value along a field is what a . u + c is there, found from the form in q'.
    const std::vector<std::vector<NodeId>> written = forms(d, affine);
    for (std::size_t i = 0; i < affine.rows.size(); ++i) {
        const bool is_position = d.rows[affine.rows[i]].level == Level::position;
        bool holonomic = is_position;
        if (!is_position && !written.empty() && grown.decided) {
            holonomic = true;
            std::vector<NodeId> form = written[i];
            if (!dist.time) form.pop_back();
            for (std::size_t k = 0; k < grown.values.size() && holonomic; ++k) {
                const std::vector<Digits50> numbers = samples.evaluate(g, form, k);
                Digits50 size(0);
                for (const Digits50& x : numbers) size = std::max(size, Digits50(abs(x)));
                for (const std::vector<Digits50>& field : grown.values[k]) {
                    Digits50 value(0);
                    for (std::size_t c = 0; c < field.size(); ++c) value += field[c] * numbers[c];
                    holonomic = holonomic && abs(value) <= Digits50(1e-25) * size;
                }
            }
        } else if (!is_position) {
            holonomic = grown.decided && out.integrals == out.independent;
        }
        out.holonomic.push_back(holonomic);
        out.exact.push_back(is_position || (!written.empty() && is_exact(g, m, written[i], samples)));
        bool alone = is_position || out.exact.back();
        if (!alone && affine.rows.size() > 1) {
            const NullSpace one = null_space(g, affine, m.speeds.size(), samples, {i});
            const Distribution by_itself = distribution(d, one);
            const Growth of_it = growth(g, by_itself, samples, options.most_nodes);
            alone = of_it.decided && of_it.dimensions.size() == 1;
        } else if (!alone) {
            alone = grown.decided && grown.dimensions.size() == 1;
        }
        out.alone.push_back(alone);
    }
    if (options.closed_forms && out.decided && out.hidden() > 0) {
        if (varied.size() > 0) out.found = hidden_integrals(d, affine, dist, out.hidden(), varied);
        // what these parameters alone bring about
        if (out.found.empty()) out.found = hidden_integrals(d, affine, dist, out.hidden(), samples);
    }
    return out;
}

}  // namespace appell
