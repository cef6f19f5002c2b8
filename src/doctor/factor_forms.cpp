#include "doctor/factor_forms.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

#include "expr/dependence.hpp"
#include "expr/differentiate.hpp"
#include "expr/print.hpp"
#include "expr/substitute.hpp"

namespace appell {

namespace {

constexpr std::size_t k_most_given = 4,
                      k_most_free = 8;  // what more would print nobody reads, and the search grows with their cube
const Digits50 k_zero = 1e-28;

std::size_t node_count(const Graph& g, NodeId node) {
    Sweep sweep;
    return sweep.collect(g, std::span(&node, 1)).size();
}

}  // namespace

FactorForms::FactorForms(const ConstrainedDynamics& d, const Samples& samples) : d_(d), samples_(samples), g_(d.graph()) {
    std::vector<NodeId> roots;
    for (const ConstraintRow& row : d.rows)
        if (row.velocity.valid()) roots.push_back(row.velocity);
    recogniser_ = std::make_unique<Recogniser>(g_, samples_, atoms_in(g_, roots, false));
}

Vector50 FactorForms::at_samples(NodeId node) const {
    Vector50 out;
    for (std::size_t k = 0; k < samples_.size(); ++k) out.push_back(samples_.evaluate(g_, std::span(&node, 1), k).front());
    return out;
}

bool FactorForms::zero(NodeId node) const {
    const auto value = g_.constant_value(node);
    return value ? *value == 0 : largest(at_samples(node)) <= k_zero;
}

NodeId FactorForms::tidy(NodeId node) const {
    if (g_.constant_value(node) || g_.op(node) == Op::Symbol) return node;
    const auto found = (*recogniser_)(at_samples(node));
    return found && node_count(g_, *found) <= node_count(g_, node) ? *found : node;
}

NodeId FactorForms::expression(const AffineForm& form) const {
    std::vector<NodeId> terms;
    for (std::size_t i = 0; i < form.size(); ++i) {
        const NodeId u = i + 1 < form.size() ? g_.symbol_node(d_.model->speeds[i].u) : g_.constant(1);
        if (!g_.is_constant(form[i], 0)) terms.push_back(g_.mul(form[i], u));
    }
    return g_.sum(terms);
}

std::vector<Vector50> FactorForms::values(const AffineForm& form) const {
    std::vector<Vector50> out;
    for (std::size_t k = 0; k < samples_.size(); ++k) out.push_back(samples_.evaluate(g_, form, k));
    return out;
}

std::optional<AffineForm> FactorForms::affine_form(std::size_t row) {
    const std::size_t n = d_.model->speeds.size();
    Substitution rest;
    for (const Speed& s : d_.model->speeds) rest.set(s.u, g_.constant(0));
    AffineForm out(n + 1, g_.constant(0));
    for (const SparseEntry& e : d_.A.entries)
        if (e.row == row) out[e.column] = substitute(g_, e.value, rest);
    out[n] = substitute(g_, d_.rows[row].velocity, rest);
    for (std::size_t k = 0; k < samples_.size(); ++k) {
        const RowValue real = RowsAt(d_, samples_, samples_.states[k]).at(row);
        const Vector50 found = samples_.evaluate(g_, out, k);
        const Digits50 size = largest(real.gradient);
        for (std::size_t i = 0; i < n; ++i)
            if (!(abs(found[i] - real.gradient[i]) <= k_zero * size)) return std::nullopt;
        if (!is_finite(found[n])) return std::nullopt;
    }
    for (NodeId& c : out) c = tidy(c);
    return out;
}

std::optional<FactorForms::Eliminated> FactorForms::eliminate(std::span<const AffineForm> given) {
    if (given.size() > k_most_given) return std::nullopt;
    const std::size_t n = d_.model->speeds.size();
    std::vector<AffineForm> rows(given.begin(), given.end());
    std::vector<bool> used(rows.size(), false);
    Eliminated out;
    out.replacement.resize(n);
    std::vector<std::pair<std::size_t, std::size_t>> pivots;  // row, column
    for (std::size_t step = 0; step < rows.size(); ++step) {
        // a pivot that can not vanish, if there is one, and a short one
        using Cost = std::tuple<int, std::size_t>;
        std::optional<std::tuple<Cost, std::size_t, std::size_t>> best;
        for (std::size_t i = 0; i < rows.size(); ++i) {
            if (used[i]) continue;
            Vector50 size(samples_.size(), Digits50(0));
            const std::vector<Vector50> values = this->values(rows[i]);
            const Vector50 at_start = evaluate<Digits50>(g_, rows[i], samples_.values(g_, samples_.start));
            for (std::size_t k = 0; k < values.size(); ++k) size[k] = largest(std::span(values[k]).first(n));
            for (std::size_t j = 0; j < n; ++j) {
                bool usable = true;
                for (std::size_t k = 0; k < values.size(); ++k) usable = usable && abs(values[k][j]) > Digits50(1e-3) * size[k];
                // nor at the start, where a form that divides by it could not be evaluated
                usable = usable && abs(at_start[j]) > Digits50(1e-3) * largest(std::span(at_start).first(n));
                if (!usable) continue;
                const NodeId entry = rows[i][j];
                const auto number = g_.constant_value(entry);
                const bool steady = !depends_on(g_, entry, SymbolKind::coordinate) && !depends_on(g_, entry, SymbolKind::time);
                const Cost cost{number ? (std::abs(*number) == 1 ? 0 : 1) : steady ? 2 : 3, node_count(g_, entry)};
                if (!best || cost < std::get<0>(*best)) best = {cost, i, j};
            }
        }
        if (!best) break;
        const std::size_t p = std::get<1>(*best), c = std::get<2>(*best);
        used[p] = true;
        pivots.emplace_back(p, c);
        const NodeId pivot = rows[p][c];
        for (NodeId& x : rows[p]) x = tidy(g_.div(x, pivot));
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const NodeId factor = rows[i][c];
            if (i == p || g_.is_constant(factor, 0)) continue;
            for (std::size_t j = 0; j <= n; ++j) {
                const NodeId next = g_.sub(rows[i][j], g_.mul(factor, rows[p][j]));
                rows[i][j] = zero(next) ? g_.constant(0) : tidy(next);
            }
        }
    }
    for (const auto& [p, c] : pivots) {
        AffineForm rest = rows[p];
        rest[c] = g_.constant(0);
        out.replacement[c] = g_.neg(expression(rest));
        out.replace.set(d_.model->speeds[c].u, out.replacement[c]);
    }
    for (std::size_t j = 0; j < n; ++j)
        if (!out.replacement[j].valid()) out.free.push_back(j);
    return out;
}

std::size_t FactorForms::length(const AffineForm& form) const {
    constexpr std::size_t k_readable = 120;  // beyond, nobody counts characters, and printing would cost more than all the rest
    const NodeId whole = expression(form);
    if (const std::size_t nodes = node_count(g_, whole); nodes > k_readable) return 10 * nodes;
    const std::string text = to_text(g_, whole);
    // a denominator can vanish, and a minus in front is not needed
    const auto slashes = static_cast<std::size_t>(std::count(text.begin(), text.end(), '/'));
    return text.size() + 6 * slashes + (text.front() == '-' ? 2 : 0);
}

std::vector<AffineForm> FactorForms::scaled(const std::vector<Vector50>& values) const {
    std::vector<AffineForm> out;
    const std::size_t n = values.front().size() - 1;
    const auto recognise = [&](std::size_t p, std::size_t atom) -> std::optional<AffineForm> {
        AffineForm form(n + 1, g_.constant(0));
        for (std::size_t i = 0; i <= n; ++i) {
            Vector50 ratio;
            for (std::size_t k = 0; k < values.size(); ++k) {
                ratio.push_back(values[k][i] / values[k][p]);
                if (atom > 0) ratio.back() *= recogniser_->values(atom - 1)[k];
            }
            const auto found = (*recogniser_)(ratio);
            if (!found) return std::nullopt;
            form[i] = *found;
        }
        return form;
    };
    for (std::size_t p = 0; p < n; ++p) {
        const bool usable =
            std::all_of(values.begin(), values.end(), [&](const Vector50& v) { return abs(v[p]) > k_zero * largest(v); });
        if (!usable) continue;
        const auto form = recognise(p, 0);
        if (!form) break;  // then with no other divisor either
        out.push_back(*form);
        for (std::size_t atom = 1; atom <= recogniser_->atoms().size(); ++atom)
            if (auto other = recognise(p, atom)) out.push_back(std::move(*other));
    }
    return out;
}

AffineForm FactorForms::shortest(const AffineForm& form, std::span<const AffineForm> given) const {
    const std::vector<Vector50> values = this->values(form);
    AffineForm best = form;
    for (NodeId& c : best) c = zero(c) ? g_.constant(0) : tidy(c);
    std::size_t best_length = length(best), best_nodes = node_count(g_, expression(best));
    const auto consider = [&](const AffineForm& f) {
        const std::size_t nodes = node_count(g_, expression(f));
        if (nodes > best_nodes + 3) return;  // printing costs more than counting
        for (const bool negative : {false, true}) {
            AffineForm candidate = f;
            if (negative)
                for (NodeId& c : candidate) c = g_.neg(c);
            if (const std::size_t now = length(candidate); now < best_length) {
                best_length = now;
                best_nodes = nodes;
                best = std::move(candidate);
            }
        }
    };
    consider(best);
    for (const AffineForm& f : scaled(values)) consider(f);
    // plus a multiple of a given equation that makes a coefficient vanish, or two of them equal or opposite
    const std::size_t n = form.size() - 1;
    for (const AffineForm& other : given) {
        const std::vector<Vector50> more = this->values(other);
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t j = i; j < n; ++j)
                for (const int sign : {1, -1}) {
                    if (i == j && sign < 0) continue;
                    std::vector<Vector50> sum = values;
                    bool possible = true;
                    for (std::size_t k = 0; k < sum.size() && possible; ++k) {
                        const Digits50 above = i == j ? values[k][i] : Digits50(values[k][i] - sign * values[k][j]);
                        const Digits50 below = i == j ? more[k][i] : Digits50(more[k][i] - sign * more[k][j]);
                        possible = abs(below) > k_zero * largest(more[k]) && abs(above) > k_zero * largest(values[k]);
                        for (std::size_t l = 0; l <= n && possible; ++l) {
                            sum[k][l] -= above / below * more[k][l];
                            if (abs(sum[k][l]) <= Digits50(1e-35) * largest(values[k])) sum[k][l] = 0;
                        }
                    }
                    if (!possible) continue;
                    for (const AffineForm& f : scaled(sum)) consider(f);
                }
    }
    return best;
}

bool FactorForms::is_product(NodeId phi, const AffineForm& first, const AffineForm& second, const Eliminated& eliminated) {
    const std::array<NodeId, 3> roots{phi, substitute(g_, expression(first), eliminated.replace),
                                      substitute(g_, expression(second), eliminated.replace)};
    Draws draws(13);
    for (std::size_t k = 0; k < samples_.size(); ++k) {
        std::vector<Digits50> values = samples_.values(g_, samples_.states[k]);
        Digits50 ratio(0);
        for (int draw = 0; draw < 3; ++draw) {
            for (const std::size_t j : eliminated.free) values[d_.model->speeds[j].u.index()] = 2 * draws.symmetric();
            const std::vector<Digits50> v = evaluate<Digits50>(g_, roots, values);
            const Digits50 now = v[0] / (v[1] * v[2]);
            if (!is_finite(now) || now == 0) return false;
            if (draw == 0)
                ratio = now;
            else if (!(abs(now - ratio) <= Digits50(1e-22) * abs(ratio)))
                return false;
        }
    }
    return true;
}

std::vector<AffineForm> FactorForms::quadratic(NodeId phi, LinearTruth truth, const Eliminated& eliminated,
                                               std::span<const AffineForm> given) {
    const std::size_t n = d_.model->speeds.size(), f = eliminated.free.size();
    if (f > k_most_free) return {};
    std::vector<SymbolId> y;
    Substitution rest;
    for (const std::size_t j : eliminated.free) {
        y.push_back(d_.model->speeds[j].u);
        rest.set(y.back(), g_.constant(0));
    }
    // the form in (y, 1): Q
    std::vector<NodeId> first;
    for (const SymbolId s : y) first.push_back(derivative(g_, std::span(&phi, 1), s).front());
    std::vector<std::vector<NodeId>> Q(f + 1, std::vector<NodeId>(f + 1, g_.constant(0)));
    const NodeId half = g_.constant(0.5);
    for (std::size_t j = 0; j < f; ++j) {
        const std::vector<NodeId> second = derivative(g_, first, y[j]);
        for (std::size_t i = 0; i < f; ++i) Q[i][j] = g_.mul(half, substitute(g_, second[i], rest));
        Q[j][f] = Q[f][j] = g_.mul(half, substitute(g_, first[j], rest));
    }
    Q[f][f] = substitute(g_, phi, rest);
    for (std::size_t i = 0; i <= f; ++i)
        for (std::size_t j = i; j <= f; ++j) Q[i][j] = Q[j][i] = zero(Q[i][j]) ? g_.constant(0) : tidy(Q[i][j]);
    const auto is_zero = [&](std::size_t i, std::size_t j) { return g_.is_constant(Q[i][j], 0); };
    const auto form = [&](const std::vector<NodeId>& c) {
        AffineForm out(n + 1, g_.constant(0));
        for (std::size_t i = 0; i < f; ++i) out[eliminated.free[i]] = c[i];
        out[n] = c[f];
        return out;
    };

    if (truth == LinearTruth::square || truth == LinearTruth::squares || truth == LinearTruth::affine) {
        if (truth == LinearTruth::affine) {
            std::vector<NodeId> c(f + 1);
            for (std::size_t i = 0; i < f; ++i) c[i] = g_.mul(g_.constant(2), Q[i][f]);
            c[f] = Q[f][f];
            return {shortest(form(c), given)};
        }
        // rows of Q, the independent ones
        std::vector<AffineForm> out;
        std::vector<Vector50> taken;
        for (std::size_t i = 0; i < f; ++i) {
            taken.push_back(samples_.evaluate(g_, Q[i], 0));
            if (independent_rows(taken).size() < taken.size())
                taken.pop_back();
            else
                out.push_back(shortest(form(Q[i]), given));
        }
        return out;
    }

    // A zero on the diagonal at i: Q_i is a factor, and the other is 2 y_i + ... with rational coefficients.
    struct Pair {
        std::vector<NodeId> first, second;
        std::size_t size;
    };
    std::vector<Pair> pairs;
    const auto add_pair = [&](std::vector<NodeId> first, std::vector<NodeId> second) {
        const NodeId both[] = {expression(form(first)), expression(form(second))};
        Sweep sweep;
        const std::size_t size = sweep.collect(g_, both).size();
        pairs.push_back({std::move(first), std::move(second), size});
    };
    for (std::size_t i = 0; i <= f; ++i) {
        if (!is_zero(i, i)) continue;
        for (std::size_t j = 0; j <= f; ++j) {
            if (j == i || is_zero(i, j)) continue;
            std::vector<NodeId> other(f + 1, g_.constant(0));
            const NodeId own = g_.div(Q[j][j], Q[i][j]);
            for (std::size_t k = 0; k <= f; ++k) {
                if (k == i)
                    other[k] = g_.constant(2);
                else if (k == j)
                    other[k] = own;
                else
                    other[k] = g_.div(g_.sub(g_.mul(g_.constant(2), Q[j][k]), g_.mul(Q[i][k], own)), Q[i][j]);
            }
            add_pair(Q[i], std::move(other));
        }
    }
    // Otherwise with the root of a discriminant: Q_ii phi = prod (Q_ii y_i + sum (Q_ik +- r_k) y_k)
    const bool rational = !pairs.empty();
    for (std::size_t i = 0; i < f && !rational; ++i)
        for (std::size_t j = 0; j <= f; ++j) {
            if (j == i || is_zero(i, i)) continue;
            const NodeId discriminant = g_.sub(g_.mul(Q[i][j], Q[i][j]), g_.mul(Q[i][i], Q[j][j]));
            Vector50 roots = at_samples(discriminant);
            if (!std::all_of(roots.begin(), roots.end(), [](const Digits50& v) { return v > k_zero; })) continue;
            for (Digits50& v : roots) v = sqrt(v);
            const NodeId r = (*recogniser_)(roots, true).value_or(g_.make(Op::Sqrt, discriminant));
            std::vector<NodeId> plus(f + 1), minus(f + 1);
            for (std::size_t k = 0; k <= f; ++k) {
                NodeId rk = g_.constant(0);
                if (k == j)
                    rk = r;
                else if (k != i)
                    rk = g_.div(g_.sub(g_.mul(Q[i][j], Q[i][k]), g_.mul(Q[i][i], Q[j][k])), r);
                plus[k] = tidy(g_.add(Q[i][k], rk));
                minus[k] = tidy(g_.sub(Q[i][k], rk));
            }
            add_pair(std::move(plus), std::move(minus));
        }
    // the shortest of the few simplest that stand the test
    constexpr std::size_t k_tried = 3;
    std::stable_sort(pairs.begin(), pairs.end(), [](const Pair& x, const Pair& y) { return x.size < y.size; });
    std::vector<AffineForm> best;
    std::size_t best_length = 0, tried = 0;
    for (const Pair& pair : pairs) {
        if (tried == k_tried) break;
        if (!is_product(phi, form(pair.first), form(pair.second), eliminated)) continue;
        ++tried;
        std::vector<AffineForm> now{shortest(form(pair.first), given), shortest(form(pair.second), given)};
        const std::size_t size = length(now[0]) + length(now[1]);
        if ((!best.empty() && size >= best_length) || !is_product(phi, now[0], now[1], eliminated)) continue;
        best = std::move(now);
        best_length = size;
    }
    return best;
}

std::vector<AffineForm> FactorForms::recognised(const std::vector<std::vector<Vector50>>& normals,
                                                std::span<const AffineForm> given) {
    if (normals.empty() || normals.front().empty()) return {};
    const std::size_t count = normals.front().size(), n = normals.front().front().size() - 1;
    std::vector<std::vector<Vector50>> reduced = normals;
    // the same pivots at all samples, from the first
    std::vector<bool> used(n, false);
    for (std::size_t p = 0; p < count; ++p) {
        std::size_t column = n;
        Digits50 largest_entry(0);
        std::size_t row = p;
        for (std::size_t i = p; i < count; ++i)
            for (std::size_t j = 0; j < n; ++j)
                if (!used[j] && abs(reduced[0][i][j]) > largest_entry) {
                    largest_entry = abs(reduced[0][i][j]);
                    row = i;
                    column = j;
                }
        if (column == n) return {};
        used[column] = true;
        for (std::vector<Vector50>& m : reduced) {
            if (m.size() != count) return {};
            // any row with a good pivot there: the order of normals may differ between samples
            std::size_t good = p;
            for (std::size_t i = p; i < count; ++i)
                if (abs(m[i][column]) > abs(m[good][column])) good = i;
            if (&m == &reduced.front()) good = row;
            std::swap(m[p], m[good]);
            const Digits50 pivot = m[p][column];
            if (!(abs(pivot) > Digits50(1e-20))) return {};
            for (Digits50& x : m[p]) x /= pivot;
            for (std::size_t i = 0; i < count; ++i) {
                if (i == p) continue;
                const Digits50 factor = m[i][column];
                for (std::size_t j = 0; j <= n; ++j) m[i][j] -= factor * m[p][j];
            }
        }
    }
    std::vector<AffineForm> out;
    for (std::size_t p = 0; p < count; ++p) {
        AffineForm form(n + 1);
        for (std::size_t j = 0; j <= n; ++j) {
            Vector50 entry;
            for (const std::vector<Vector50>& m : reduced) entry.push_back(m[p][j]);
            const auto found = (*recogniser_)(entry);
            if (!found) return {};
            form[j] = *found;
        }
        out.push_back(shortest(form, given));
    }
    return out;
}

std::vector<AffineForm> FactorForms::forms(std::size_t row, LinearTruth truth, bool quadratic_row,
                                           std::span<const AffineForm> given, const std::vector<std::vector<Vector50>>& normals) {
    if (truth == LinearTruth::follows || truth == LinearTruth::contradicts) return {};
    const auto eliminated = eliminate(given);
    if (!eliminated) return {};
    const NodeId phi = substitute(g_, d_.rows[row].velocity, eliminated->replace);
    if (quadratic_row) return quadratic(phi, truth, *eliminated, given);

    // normals in the free speeds only: what belongs to the others goes by the given equations
    const std::size_t n = d_.model->speeds.size();
    std::vector<std::vector<Vector50>> reduced = normals;
    for (std::size_t k = 0; k < reduced.size(); ++k)
        for (Vector50& v : reduced[k])
            for (std::size_t j = 0; j < n; ++j) {
                const NodeId r = eliminated->replacement[j];
                if (!r.valid()) continue;
                Substitution rest;
                std::vector<NodeId> parts;
                for (const std::size_t i : eliminated->free) rest.set(d_.model->speeds[i].u, g_.constant(0));
                for (const std::size_t i : eliminated->free)
                    parts.push_back(substitute(g_, derivative(g_, std::span(&r, 1), d_.model->speeds[i].u).front(), rest));
                parts.push_back(substitute(g_, r, rest));
                const Vector50 values = samples_.evaluate(g_, parts, k);
                for (std::size_t i = 0; i < eliminated->free.size(); ++i) v[eliminated->free[i]] += v[j] * values[i];
                v[n] += v[j] * values.back();
                v[j] = 0;
            }
    if (auto found = recognised(reduced, given); !found.empty()) return found;
    if (truth != LinearTruth::factor) return {};
    // where everything rests on the factor, its normal is the gradient there
    Substitution rest;
    AffineForm form(n + 1, g_.constant(0));
    for (const std::size_t i : eliminated->free) rest.set(d_.model->speeds[i].u, g_.constant(0));
    for (const std::size_t i : eliminated->free)
        form[i] = substitute(g_, derivative(g_, std::span(&phi, 1), d_.model->speeds[i].u).front(), rest);
    const std::vector<Vector50> values = this->values(form);
    for (std::size_t k = 0; k < values.size(); ++k) {
        const auto c = combination({values[k]}, reduced[k].front(), Digits50(1e-25));
        if (!c || !(abs(c->front()) > 0) || !is_finite(c->front())) return {};
    }
    return {shortest(form, given)};
}

}  // namespace appell
