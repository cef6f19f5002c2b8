#include "doctor/row_values.hpp"

#include <algorithm>
#include <cmath>

#include "expr/differentiate.hpp"
#include "tape/dense_rank.hpp"

namespace appell {

namespace {

const Digits50 k_zero = 1e-30;  // relative; the states are good to 1e-40

std::vector<SymbolId> coordinates_of(const Model& m) {
    std::vector<SymbolId> out;
    for (const Coordinate& c : m.coordinates) out.push_back(c.q);
    return out;
}

Vector50 flat(const std::vector<Vector50>& rows) {
    Vector50 out;
    for (const Vector50& row : rows) out.insert(out.end(), row.begin(), row.end());
    return out;
}

}  // namespace

double Draws::symmetric() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return static_cast<double>(state_ >> 11) / 4503599627370496.0 - 1;
}

bool RowValue::finite() const {
    return is_finite(value) && std::all_of(gradient.begin(), gradient.end(), [](const Digits50& g) { return is_finite(g); });
}

Digits50 largest(std::span<const Digits50> v) {
    Digits50 out(0);
    for (const Digits50& x : v) out = std::max(out, Digits50(abs(x)));
    return out;
}

Digits50 dot(std::span<const Digits50> v, std::span<const Digits50> w) {
    Digits50 out(0);
    for (std::size_t i = 0; i < v.size(); ++i) out += v[i] * w[i];
    return out;
}

RowsAt::RowsAt(const ConstrainedDynamics& d, const Samples& samples, std::span<const Digits50> state)
    : d_(d), values_(samples.values(d.graph(), state)) {
    for (const Speed& s : d.model->speeds) u_.push_back(values_[s.u.index()]);
}

double RowsAt::speed_size() const { return 1 + static_cast<double>(largest(u_)); }

GradientEntries gradient_entries(const ConstrainedDynamics& d, std::size_t row) {
    GradientEntries out;
    for (const SparseEntry& e : d.A.entries)
        if (e.row == row) {
            out.values.push_back(e.value);
            out.columns.push_back(e.column);
        }
    return out;
}

RowValue RowsAt::at(std::size_t row, std::span<const Digits50> u) const {
    std::vector<Digits50> values = values_;
    for (std::size_t i = 0; i < u.size(); ++i) values[d_.model->speeds[i].u.index()] = u[i];
    auto [roots, columns] = gradient_entries(d_, row);
    const bool has_value = d_.rows[row].velocity.valid();
    if (has_value) roots.push_back(d_.rows[row].velocity);
    const std::vector<Digits50> found = evaluate<Digits50>(d_.graph(), roots, values);
    RowValue out{has_value ? found.back() : Digits50(0), Vector50(u_.size(), Digits50(0))};
    for (std::size_t i = 0; i < columns.size(); ++i) out.gradient[columns[i]] = found[i];
    return out;
}

std::vector<bool> affine_rows(const ConstrainedDynamics& d, const Samples& samples) {
    std::vector<bool> affine(d.rows.size());
    for (std::size_t i = 0; i < d.rows.size(); ++i) affine[i] = d.rows[i].velocity.valid();
    Draws draws(7);
    for (const std::vector<Digits50>& state : samples.states) {
        const RowsAt at(d, samples, state);
        for (std::size_t i = 0; i < d.rows.size(); ++i) {
            if (!affine[i] || d.rows[i].level == Level::position) continue;
            const RowValue here = at.at(i);
            affine[i] = here.finite();
            for (int draw = 0; draw < 2 && affine[i]; ++draw) {
                Vector50 u = at.speeds();
                for (Digits50& x : u) x += at.speed_size() * draws.symmetric();
                const RowValue there = at.at(i, u);
                const Digits50 size = std::max(largest(here.gradient), largest(there.gradient));
                affine[i] = there.finite();
                for (std::size_t j = 0; j < u.size() && affine[i]; ++j)
                    affine[i] = abs(there.gradient[j] - here.gradient[j]) <= k_zero * size;
            }
        }
    }
    return affine;
}

std::vector<std::size_t> independent_rows(const std::vector<Vector50>& rows, const Digits50& bar) {
    std::vector<std::size_t> out;
    std::vector<Vector50> taken;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (rows[i].empty()) continue;
        taken.push_back(rows[i]);
        if (DenseRank(flat(taken), rows[i].size(), bar).rank() == taken.size())
            out.push_back(i);
        else
            taken.pop_back();
    }
    return out;
}

std::optional<Vector50> combination(const std::vector<Vector50>& others, const Vector50& row, const Digits50& bar) {
    // columns of length one, so that the equations are judged by what is in them and not by the rows' units
    std::vector<Digits50> size;
    for (const Vector50& o : others) size.push_back(largest(o));
    size.push_back(largest(row));
    if (!(size.back() > 0)) return Vector50(others.size(), Digits50(0));
    const std::size_t columns = others.size() + 1;
    Vector50 entries;
    const auto cleaned = [&](const Digits50& x) {
        return abs(x) <= bar * Digits50(1e-5) ? Digits50(0) : x;
    };  // see DenseRank's scaling
    for (std::size_t k = 0; k < row.size(); ++k) {
        for (std::size_t j = 0; j < others.size(); ++j) entries.push_back(cleaned(others[j][k] / size[j]));
        entries.push_back(cleaned(row[k] / size.back()));
    }
    const DenseRank rank(std::move(entries), columns, bar);
    const std::vector<Vector50> null = rank.null_space();
    if (null.size() != 1 || abs(null.front().back()) <= bar * largest(null.front())) return std::nullopt;
    Vector50 out;
    for (std::size_t j = 0; j < others.size(); ++j) {
        const Digits50 c = -null.front()[j] / null.front().back();
        out.push_back(abs(c) <= bar ? Digits50(0) : Digits50(c * size.back() / size[j]));
    }
    return out;
}

std::optional<Vector50> least_solution(const std::vector<Vector50>& rows, std::span<const Digits50> r, std::size_t n) {
    std::vector<Vector50> scaled = rows;
    Vector50 right(r.begin(), r.end());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const Digits50 size = largest(rows[i]);
        if (!(size > 0)) {
            if (right[i] != 0) return std::nullopt;
            continue;
        }
        for (Digits50& x : scaled[i]) x /= size;
        right[i] /= size;
    }
    const std::vector<std::size_t> chosen = independent_rows(scaled);
    // (A A') z = r, x = A' z, by elimination with the largest pivot
    const std::size_t m = chosen.size();
    std::vector<Vector50> a(m);
    for (std::size_t i = 0; i < m; ++i) {
        for (std::size_t j = 0; j < m; ++j) a[i].push_back(dot(scaled[chosen[i]], scaled[chosen[j]]));
        a[i].push_back(right[chosen[i]]);
    }
    for (std::size_t k = 0; k < m; ++k) {
        std::size_t best = k;
        for (std::size_t i = k; i < m; ++i)
            if (abs(a[i][k]) > abs(a[best][k])) best = i;
        std::swap(a[k], a[best]);
        for (std::size_t i = 0; i < m; ++i) {
            if (i == k) continue;
            const Digits50 factor = a[i][k] / a[k][k];
            for (std::size_t j = k; j <= m; ++j) a[i][j] -= factor * a[k][j];
        }
    }
    Vector50 x(n, Digits50(0));
    for (std::size_t k = 0; k < m; ++k)
        for (std::size_t j = 0; j < n; ++j) x[j] += scaled[chosen[k]][j] * (a[k][m] / a[k][k]);
    for (std::size_t i = 0; i < rows.size(); ++i)
        if (abs(dot(scaled[i], x) - right[i]) > Digits50(1e-25) * (1 + largest(right))) return std::nullopt;
    return x;
}

namespace {

// states with the independent position rows satisfied; `spread` 1: coordinates change by a fraction of themselves
Samples near_positions(const ConstrainedDynamics& d, const Samples& samples, double spread) {
    constexpr std::size_t k_states = 6;
    Samples out;
    out.symbols = samples.symbols;
    out.start = samples.start;
    const Model& m = *d.model;
    for (const Frame& frame : m.frames)
        if (std::holds_alternative<QuaternionRotation>(frame.orientation)) return out;
    Graph& g = d.graph();
    const std::vector<SymbolId> q = coordinates_of(m);
    std::vector<NodeId> position;
    for (const ConstraintRow& row : d.rows)
        if (row.level == Level::position) position.push_back(row.position);
    const SparseMatrix J = jacobian(g, position, q);
    std::vector<NodeId> roots = position;
    for (const SparseEntry& e : J.entries) roots.push_back(e.value);

    Draws draws(11);
    double q_size = 0.1;
    for (std::size_t i = 0; i < samples.symbols.size(); ++i)
        if (g.symbol(samples.symbols[i]).kind == SymbolKind::coordinate)
            q_size = std::max(q_size, 0.3 * std::abs(static_cast<double>(samples.start[i])));
    // steps of Newton's iteration of least length
    const auto project = [&](std::vector<Digits50>& state) {
        std::vector<std::size_t> chosen;
        bool close = false;
        for (int iteration = 0; iteration < 60; ++iteration) {
            const std::vector<Digits50> found = evaluate<Digits50>(g, roots, samples.values(g, state));
            std::vector<Vector50> rows(position.size(), Vector50(q.size(), Digits50(0)));
            for (std::size_t i = 0; i < J.entries.size(); ++i)
                rows[J.entries[i].row][J.entries[i].column] = found[position.size() + i];
            if (iteration == 0) chosen = independent_rows(rows);
            std::vector<Vector50> taken;
            Vector50 right;
            for (const std::size_t i : chosen) {
                taken.push_back(rows[i]);
                right.push_back(-found[i]);
            }
            if (!std::all_of(found.begin(), found.end(), [](const Digits50& v) { return is_finite(v); })) return false;
            const auto step = least_solution(taken, right, q.size());
            if (!step) return false;
            for (std::size_t i = 0; i < step->size(); ++i)
                for (std::size_t k = 0; k < samples.symbols.size(); ++k)
                    if (samples.symbols[k] == q[i]) state[k] += (*step)[i];
            if (close) return true;
            close = largest(*step) < 1e-25;
        }
        return false;
    };
    for (int tries = 0; tries < 60 && out.states.size() < k_states; ++tries) {
        std::vector<Digits50> state = samples.start;
        for (std::size_t i = 0; i < state.size(); ++i) {
            const SymbolKind kind = g.symbol(samples.symbols[i]).kind;
            const double draw = draws.symmetric();
            if (kind == SymbolKind::parameter || kind == SymbolKind::input)
                state[i] *= std::exp2(spread * draw / 2);
            else if (kind == SymbolKind::coordinate)
                state[i] += spread * q_size * draw;
            else if (kind == SymbolKind::time)
                state[i] += spread * (1 + draw) / 2 * m.run.duration;
            else if (kind == SymbolKind::speed)
                state[i] += spread * draw;
        }
        if (position.empty() || project(state)) out.states.push_back(std::move(state));
    }
    return out;
}

}  // namespace

Samples states_near_start(const ConstrainedDynamics& d, const Samples& samples) {
    Samples out = near_positions(d, samples, 0.02);
    // as many rows as are independent at the start, which is good to doubles
    const auto rows_of = [&](const RowsAt& at, std::span<const Digits50> u, Vector50& values) {
        std::vector<Vector50> rows;
        values.clear();
        for (std::size_t i = 0; i < d.rows.size(); ++i) {
            if (!d.rows[i].velocity.valid()) continue;
            RowValue row = at.at(i, u);
            rows.push_back(std::move(row.gradient));
            values.push_back(row.value);
        }
        return rows;
    };
    Vector50 values;
    const RowsAt start(d, samples, samples.start);
    const std::vector<std::size_t> chosen = independent_rows(rows_of(start, start.speeds(), values), Digits50(1e-8));
    std::erase_if(out.states, [&](std::vector<Digits50>& state) {
        const RowsAt at(d, out, state);
        Vector50 u = at.speeds();
        bool close = false;
        for (int iteration = 0; iteration < 30; ++iteration) {
            const std::vector<Vector50> rows = rows_of(at, u, values);
            std::vector<Vector50> taken;
            Vector50 right;
            for (const std::size_t i : chosen) {
                taken.push_back(rows[i]);
                right.push_back(-values[i]);
            }
            const auto step = least_solution(taken, right, u.size());
            if (!step || !is_finite(largest(*step))) return true;
            for (std::size_t j = 0; j < step->size(); ++j) u[j] += (*step)[j];
            if (close) break;
            close = largest(*step) < 1e-25;
        }
        (void)rows_of(at, u, values);
        if (!close || !(largest(values) < 1e-35)) return true;
        for (std::size_t j = 0; j < u.size(); ++j)
            for (std::size_t k = 0; k < out.symbols.size(); ++k)
                if (out.symbols[k] == d.model->speeds[j].u) state[k] = u[j];
        return false;
    });
    return out;
}

Samples random_configurations(const ConstrainedDynamics& d, const Samples& samples) {
    Samples out = near_positions(d, samples, 1);
    const Model& m = *d.model;
    // speeds onto the affine rows
    const std::vector<bool> affine = affine_rows(d, out);
    for (std::vector<Digits50>& state : out.states) {
        const RowsAt at(d, out, state);
        std::vector<Vector50> rows;
        Vector50 values;
        for (std::size_t i = 0; i < d.rows.size(); ++i) {
            if (!affine[i]) continue;
            const RowValue row = at.at(i);
            rows.push_back(row.gradient);
            values.push_back(row.value);
        }
        std::vector<Vector50> taken;
        Vector50 right;
        for (const std::size_t i : independent_rows(rows)) {
            taken.push_back(rows[i]);
            right.push_back(-values[i]);
        }
        const auto step = least_solution(taken, right, m.speeds.size());
        if (!step) continue;
        for (std::size_t j = 0; j < step->size(); ++j)
            for (std::size_t k = 0; k < out.symbols.size(); ++k)
                if (out.symbols[k] == m.speeds[j].u) state[k] += (*step)[j];
    }
    return out;
}

}  // namespace appell
