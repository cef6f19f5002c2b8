#include "dynam/rate_equations.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "dynam/gibbs_appell.hpp"
#include "dynam/multipliers.hpp"
#include "dynam/row_sizes.hpp"
#include "expr/evaluate.hpp"
#include "expr/substitute.hpp"

namespace appell {

namespace {

// the Jacobian with its zeros
std::vector<NodeRow> dense_jacobian(Graph& g, std::span<const NodeId> roots, std::span<const SymbolId> variables) {
    std::vector<NodeRow> out(roots.size(), NodeRow(variables.size(), g.constant(0)));
    for (const SparseEntry& e : jacobian(g, roots, variables, DerivativeMode::automatic).entries) out[e.row][e.column] = e.value;
    return out;
}

// Powers of two that rows are multiplied by where their sizes are far apart: the solves here have no pivots for rows and columns
// of any scale. Ones elsewhere.
std::vector<double> row_scales(const ConstrainedDynamics& d) {
    std::vector<double> out = row_sizes(d);
    for (double& size : out) size = std::exp2(-std::round(std::log2(size)));
    out.resize(d.rows.size(), 1);
    return out;
}

// Multipliers were solved for on some rows alone, which the others follow from. Those of least norm with the same forces are what
// holds the system at rest against them: M x - A' lambda = -A' mu, A x = 0. `mu`: by chosen row.
ConstrainedSolve spread(const ConstrainedDynamics& d, std::span<const std::size_t> chosen, std::span<const NodeId> mu) {
    Graph& g = d.graph();
    ConstrainedSolve solve = multipliers_form(d);
    for (std::size_t i = 0; i < solve.x.size(); ++i) solve.x[i] = g.add_symbol(fmt::format("rest {}", i + 1), SymbolKind::other);
    for (std::size_t row = 0; row < d.rows.size(); ++row) solve.b[row] = g.constant(0);
    std::vector<std::vector<NodeId>> forces(solve.x.size());
    for (std::size_t k = 0; k < chosen.size(); ++k)
        for (const SparseEntry& e : d.A.entries)
            if (e.row == chosen[k]) forces[e.column].push_back(g.neg(g.mul(e.value, mu[k])));
    for (std::size_t i = 0; i < forces.size(); ++i) solve.f[i] = g.sum(forces[i]);
    return solve;
}

std::string rate_names(const RateForm& form, std::span<const std::size_t> coordinates) {
    std::vector<std::string> names;
    for (const std::size_t j : coordinates) names.push_back(form.dynamics->model->coordinates[j].name + "'");
    return fmt::format("{}", fmt::join(names, ", "));
}

// d phi / d q' as numbers, the columns over the square root of the kinetic energy's second derivative, the rows of unit length
struct NumericRows {
    std::size_t columns;
    std::vector<double> entries;

    double& at(std::size_t i, std::size_t j) { return entries[i * columns + j]; }
};

NumericRows numeric_rows(const RateForm& form, std::span<const double> given) {
    Graph& g = form.graph();
    const std::size_t n = form.v.size(), rows = form.phi.size();
    NodeRow wanted = form.inertia;
    for (const NodeRow& row : form.phi_v) wanted.insert(wanted.end(), row.begin(), row.end());
    std::vector<double> values(given.begin(), given.end());
    values.resize(g.symbol_count());
    const std::vector<double> rates = evaluate<double>(g, form.dynamics->kinematics->coordinate_rates(), values);
    for (std::size_t j = 0; j < n; ++j) values[form.v[j].index()] = rates[j];
    const std::vector<double> numbers = evaluate<double>(g, wanted, values);
    NumericRows out{n, std::vector<double>(rows * n)};
    for (std::size_t i = 0; i < rows; ++i) {
        double squared = 0;
        for (std::size_t j = 0; j < n; ++j) {
            const double inertia = numbers[j];
            out.at(i, j) = numbers[n + i * n + j] / (inertia > 0 ? std::sqrt(inertia) : 1);
            squared += out.at(i, j) * out.at(i, j);
        }
        for (std::size_t j = 0; j < n && squared > 0; ++j) out.at(i, j) /= std::sqrt(squared);
    }
    return out;
}

struct Elimination {
    Partition partition;         // in the order of the pivots
    double first = 0, last = 0;  // pivots
};

// Gaussian elimination with complete pivoting among the given rows and columns
Elimination eliminate(NumericRows a, std::span<const std::size_t> rows, std::span<const std::size_t> columns) {
    const double noise = 100 * static_cast<double>(rows.size() + a.columns) * std::numeric_limits<double>::epsilon();
    std::vector<std::size_t> open_rows(rows.begin(), rows.end()), open_columns(columns.begin(), columns.end());
    Elimination out;
    while (!open_rows.empty() && !open_columns.empty()) {
        auto row = open_rows.begin();
        auto column = open_columns.begin();
        double largest = 0;
        for (auto i = open_rows.begin(); i != open_rows.end(); ++i)
            for (auto j = open_columns.begin(); j != open_columns.end(); ++j)
                if (std::abs(a.at(*i, *j)) > largest) {
                    largest = std::abs(a.at(*i, *j));
                    row = i;
                    column = j;
                }
        if (out.first == 0) out.first = largest;
        if (!(largest > noise * out.first)) break;
        out.last = largest;
        const std::size_t pivot_row = *row, pivot_column = *column;
        out.partition.rows.push_back(pivot_row);
        out.partition.dependent.push_back(pivot_column);
        open_rows.erase(row);
        open_columns.erase(column);
        for (const std::size_t i : open_rows) {
            const double factor = a.at(i, pivot_column) / a.at(pivot_row, pivot_column);
            for (const std::size_t j : open_columns) a.at(i, j) -= factor * a.at(pivot_row, j);
        }
    }
    return out;
}

std::vector<std::size_t> counted(std::size_t count) {
    std::vector<std::size_t> out(count);
    std::iota(out.begin(), out.end(), std::size_t{0});
    return out;
}

// one name for one partition, whatever the order of its pivots
Partition in_order(Partition partition) {
    std::sort(partition.rows.begin(), partition.rows.end());
    std::sort(partition.dependent.begin(), partition.dependent.end());
    return partition;
}

}  // namespace

NodeId inner(Graph& g, const NodeRow& x, const NodeRow& y) {
    NodeRow terms;
    for (std::size_t i = 0; i < x.size(); ++i) terms.push_back(g.mul(x[i], y[i]));
    return g.sum(terms);
}

RateForm derive_rate_form(const ConstrainedDynamics& d, FrozenConditions* conditions) {
    RateForm form;
    form.dynamics = &d;
    const Model& m = *d.model;
    Graph& g = d.graph();
    const Kinematics& kin = *d.kinematics;
    if (m.coordinates.size() != m.speeds.size()) {
        form.not_applicable =
            fmt::format("{} coordinates and {} speeds; the equations are written in independent rates of the coordinates",
                        m.coordinates.size(), m.speeds.size());
        return form;
    }
    for (const ConstraintRow& row : d.rows)
        if (row.level == Level::acceleration) {
            form.not_applicable =
                fmt::format("constraint {} is on accelerations; the equations need constraints on rates", row.name);
            return form;
        }
    for (const Coordinate& c : m.coordinates) {
        form.q.push_back(c.q);
        form.v.push_back(c.rate);
    }
    // u = Y q' + Z put in: the speeds' definitions themselves, no inverse
    Substitution speeds;
    for (std::size_t i = 0; i < m.speeds.size(); ++i) speeds.set(m.speeds[i].u, kin.speed_definitions()[i]);
    const auto of_rates = [&](NodeId expression) {
        return substitute(g, conditions != nullptr ? (*conditions)(expression) : expression, speeds);
    };
    form.T = of_rates(d.kinetic_energy);
    form.momentum = dense_jacobian(g, std::span(&form.T, 1), form.v).front();
    for (std::size_t j = 0; j < form.v.size(); ++j)
        form.inertia.push_back(derivative(g, std::span(&form.momentum[j], 1), form.v[j]).front());
    form.T_q = dense_jacobian(g, std::span(&form.T, 1), form.q).front();
    const std::vector<double> scales = row_scales(d);
    for (std::size_t i = 0; i < d.rows.size(); ++i)
        form.phi.push_back(of_rates(g.mul(g.constant(scales[i]), d.rows[i].velocity)));
    form.phi_v = dense_jacobian(g, form.phi, form.v);
    form.phi_q = dense_jacobian(g, form.phi, form.q);
    // the same power in either set: F^(q) = Y' F^(u)
    const NodeRow by_speed = generalized_active_forces(d);
    NodeRow force(form.q.size(), g.constant(0));
    for (const SparseEntry& e : kin.Y().entries) {
        const auto rate = std::find(form.v.begin(), form.v.end(), kin.independent_rates()[e.column]) - form.v.begin();
        NodeId& sum = force[static_cast<std::size_t>(rate)];
        sum = g.add(sum, g.mul(e.value, by_speed[e.row]));
    }
    for (const NodeId component : force) form.force.push_back(of_rates(component));
    return form;
}

PartitionChoice choose_partition(const RateForm& form, std::span<const double> values, std::span<const std::size_t> candidates,
                                 std::span<const std::size_t> dependent) {
    PartitionChoice out;
    if (form.phi.empty()) {
        if (!dependent.empty()) out.not_applicable = "without constraints no rate depends on the others";
        return out;
    }
    const NumericRows numbers = numeric_rows(form, values);
    const std::vector<std::size_t> rows = counted(form.phi.size());
    out.partition = in_order(eliminate(numbers, rows, counted(form.v.size())).partition);
    const std::size_t rank = out.partition.rows.size();
    if (candidates.empty() && dependent.empty()) return out;
    if (!dependent.empty() && dependent.size() != rank) {
        out.not_applicable = fmt::format("the constraints determine {} of the rates at this state, and {} are to depend ({})",
                                         rank, dependent.size(), rate_names(form, dependent));
        return out;
    }
    const std::span<const std::size_t> columns = dependent.empty() ? candidates : dependent;
    out.partition = in_order(eliminate(numbers, rows, columns).partition);
    if (out.partition.rows.size() != rank)
        out.not_applicable = fmt::format(
            "the constraints do not determine {} at this state",
            dependent.empty() ? fmt::format("{} of the rates {}", rank, rate_names(form, columns)) : rate_names(form, columns));
    return out;
}

double conditioning(const RateForm& form, std::span<const double> values, const Partition& partition) {
    if (partition.rows.empty()) return 1;
    const NumericRows numbers = numeric_rows(form, values);
    const Elimination here = eliminate(numbers, partition.rows, partition.dependent);
    if (here.partition.rows.size() != partition.rows.size()) return 0;
    return here.last / eliminate(numbers, counted(form.phi.size()), counted(form.v.size())).last;
}

ChartRows chart_rows(const RateForm& form, const Partition& partition) {
    Graph& g = form.graph();
    const auto rates = form.dynamics->kinematics->coordinate_rates();
    Substitution of_speeds;
    for (std::size_t j = 0; j < form.v.size(); ++j) of_speeds.set(form.v[j], rates[j]);
    ChartRows out;
    for (const std::size_t i : partition.rows)
        for (const NodeId entry : substitute(g, form.phi_v[i], of_speeds)) out.rows.push_back(entry);
    out.inertia = substitute(g, form.inertia, of_speeds);
    return out;
}

RateSolves::RateSolves(const RateForm& form, const Partition& partition) : form_(form), g_(form.graph()), partition_(partition) {
    for (std::size_t j = 0; j < form.v.size(); ++j)
        if (std::find(partition.dependent.begin(), partition.dependent.end(), j) == partition.dependent.end())
            independent_.push_back(j);
    // the numbers of q' from those of u
    const auto rates = form.dynamics->kinematics->coordinate_rates();
    define(form.v, {rates.begin(), rates.end()});
}

NodeRow RateSolves::of_dependent(const NodeRow& by_coordinate) const {
    NodeRow out;
    for (const std::size_t j : dependent()) out.push_back(by_coordinate[j]);
    return out;
}

TimeDerivative RateSolves::along_rate(std::size_t s, const NodeRow& alpha_v) const {
    TimeDerivative along(g_);
    along.set_rate(form_.v[independent_[s]], g_.constant(1));
    for (std::size_t nu = 0; nu < dependent().size(); ++nu) along.set_rate(form_.v[dependent()[nu]], alpha_v[nu]);
    return along;
}

TimeDerivative RateSolves::along_motion(const NodeRow& dependent_rates) const {
    TimeDerivative along(g_);
    along.set_rate(form_.dynamics->model->time, g_.constant(1));
    for (std::size_t j = 0; j < form_.q.size(); ++j) along.set_rate(form_.q[j], g_.symbol_node(form_.v[j]));
    for (std::size_t nu = 0; nu < dependent_rates.size(); ++nu) along.set_rate(form_.v[dependent()[nu]], dependent_rates[nu]);
    return along;
}

// x = values, as a linear block with the matrix (1) and as many right sides as values
void RateSolves::define(std::vector<SymbolId> symbols, NodeRow values) {
    if (symbols.empty()) return;
    ConstrainedSolve solve;
    solve.kind = SolveKind::linear;
    solve.A = {1, 1, {{0, 0, g_.constant(1)}}};
    solve.b = std::move(values);
    solve.x = std::move(symbols);
    solves_.push_back(std::move(solve));
}

// the matrix phi_D, without unknowns and right sides yet
ConstrainedSolve RateSolves::dependent_block(bool transposed) const {
    const std::size_t k = rows().size();
    ConstrainedSolve solve;
    solve.kind = SolveKind::linear;
    solve.A = {k, k, {}};
    for (std::uint32_t i = 0; i < k; ++i)
        for (std::uint32_t nu = 0; nu < k; ++nu)
            if (const NodeId value = form_.phi_v[rows()[i]][dependent()[nu]]; !g_.is_constant(value, 0))
                solve.A.entries.push_back(transposed ? SparseEntry{nu, i, value} : SparseEntry{i, nu, value});
    return solve;
}

std::vector<NodeRow> RateSolves::solve_dependent(std::span<const NodeRow> right_sides) {
    ConstrainedSolve solve = dependent_block(false);
    std::vector<NodeRow> out;
    for (const NodeRow& right : right_sides) {
        NodeRow unknowns(right.size(), g_.constant(0));
        if (std::any_of(right.begin(), right.end(), [&](NodeId value) { return !g_.is_constant(value, 0); })) {
            for (NodeId& unknown : unknowns) {
                solve.x.push_back(g_.add_symbol(fmt::format("alpha{}", solve.x.size() + 1), SymbolKind::other));
                unknown = g_.symbol_node(solve.x.back());
            }
            solve.b.insert(solve.b.end(), right.begin(), right.end());
        }
        out.push_back(std::move(unknowns));
    }
    if (!solve.x.empty()) solves_.push_back(std::move(solve));
    return out;
}

NodeRow RateSolves::second_right_side(TimeDerivative& along, std::size_t r, const NodeRow& alpha_v) const {
    NodeRow right;
    for (const std::size_t i : rows()) {
        NodeId sum = along(form_.phi_v[i][independent_[r]]);
        for (std::size_t nu = 0; nu < dependent().size(); ++nu)
            sum = g_.add(sum, g_.mul(along(form_.phi_v[i][dependent()[nu]]), alpha_v[nu]));
        right.push_back(g_.neg(sum));
    }
    return right;
}

RestrictedEnergy RateSolves::restricted_energy(const RateDerivatives& derivatives) {
    // phi_D' mu = dT/dq'_D
    NodeRow mu;
    if (!rows().empty()) {
        ConstrainedSolve solve = dependent_block(true);
        solve.b = of_dependent(form_.momentum);
        for (std::size_t i = 0; i < rows().size(); ++i) {
            solve.x.push_back(g_.add_symbol(fmt::format("mu{}", i + 1), SymbolKind::other));
            mu.push_back(g_.symbol_node(solve.x.back()));
        }
        solves_.push_back(std::move(solve));
    }
    const auto derivative_of_L = [&](const NodeRow& of_T, const std::vector<NodeRow>& of_phi) {
        NodeRow out = of_T;
        for (std::size_t j = 0; j < out.size(); ++j)
            for (std::size_t i = 0; i < mu.size(); ++i) out[j] = g_.sub(out[j], g_.mul(mu[i], of_phi[rows()[i]][j]));
        return out;
    };
    const NodeRow L_v = derivative_of_L(form_.momentum, form_.phi_v);
    const auto changes = [&](TimeDerivative along) {
        NodeRow out;
        for (const NodeId p : L_v) out.push_back(along(p));
        return out;
    };
    const auto along_surface = [&](std::size_t r, const NodeRow& change) {
        return g_.add(change[independent_[r]], inner(g_, derivatives.alpha_v[r], of_dependent(change)));
    };
    const std::size_t m = independent_.size();
    RestrictedEnergy out{derivative_of_L(form_.T_q, form_.phi_q), {}, std::vector<NodeRow>(m)};
    const NodeRow by_motion = changes(along_motion(derivatives.alpha_motion));
    for (std::size_t r = 0; r < m; ++r) out.v_motion.push_back(along_surface(r, by_motion));
    for (std::size_t s = 0; s < m; ++s) {
        const NodeRow by_rate = changes(along_rate(s, derivatives.alpha_v[s]));
        for (std::size_t r = s; r < m; ++r) out.vv[r].push_back(along_surface(r, by_rate));
    }
    return out;
}

NodeRow RateSolves::solve_reduced(const std::vector<NodeRow>& mass, const NodeRow& right) {
    const std::size_t m = independent_.size();
    if (m == 0) return {};
    ConstrainedSolve solve;
    solve.M = {m, m, {}};
    for (std::uint32_t r = 0; r < m; ++r)
        for (std::uint32_t s = 0; s <= r; ++s)
            if (!g_.is_constant(mass[r][s], 0)) solve.M.entries.push_back({r, s, mass[r][s]});
    solve.A = {0, m, {}};
    solve.f = right;
    NodeRow out;
    for (const std::size_t j : independent_) {
        solve.x.push_back(form_.dynamics->model->coordinates[j].rate2);
        out.push_back(g_.symbol_node(solve.x.back()));
    }
    solves_.push_back(std::move(solve));
    return out;
}

// d/dt dT/dq' - dT/dq - F = phi_v' lambda on the dependent coordinates
void RateSolves::solve_multipliers(TimeDerivative& along) {
    if (rows().empty()) return;
    ConstrainedSolve solve = dependent_block(true);
    for (const std::size_t j : dependent())
        solve.b.push_back(g_.sub(g_.sub(along(form_.momentum[j]), form_.T_q[j]), form_.force[j]));
    for (const std::size_t i : rows()) solve.x.push_back(form_.dynamics->rows[i].multiplier);
    solves_.push_back(std::move(solve));
}

std::vector<ConstrainedSolve> RateSolves::finish(const std::vector<NodeRow>& mass, const NodeRow& right,
                                                 const RateDerivatives& derivatives) {
    const Model& m = *form_.dynamics->model;
    const NodeRow accelerations = solve_reduced(mass, right);
    // along the motion as it is: q''_D = d alpha / dt
    NodeRow dependent_rates = derivatives.alpha_motion;
    for (std::size_t nu = 0; nu < dependent_rates.size(); ++nu)
        for (std::size_t s = 0; s < accelerations.size(); ++s)
            dependent_rates[nu] = g_.add(dependent_rates[nu], g_.mul(derivatives.alpha_v[s][nu], accelerations[s]));
    TimeDerivative along = along_motion(dependent_rates);
    for (std::size_t s = 0; s < accelerations.size(); ++s) along.set_rate(form_.v[independent_[s]], accelerations[s]);
    solve_multipliers(along);

    // u' from u = Y q' + Z
    std::vector<SymbolId> symbols;
    NodeRow values;
    for (std::size_t i = 0; i < m.speeds.size(); ++i) {
        symbols.push_back(m.speeds[i].rate);
        values.push_back(along(form_.dynamics->kinematics->speed_definitions()[i]));
    }
    const std::vector<ConstraintRow>& all = form_.dynamics->rows;
    const std::vector<double> scales = row_scales(*form_.dynamics);
    const bool plain = std::all_of(scales.begin(), scales.end(), [](double scale) { return scale == 1; });
    if (rows().empty()) {
        for (const ConstraintRow& row : all) {
            symbols.push_back(row.multiplier);
            values.push_back(g_.constant(0));
        }
    } else if (rows().size() < all.size() || !plain) {
        // of the rows as they are written
        NodeRow mu;
        for (std::size_t k = 0; k < rows().size(); ++k) {
            SymbolId& solved = solves_.back().x[k];
            solved = g_.add_symbol(fmt::format("multiplier of a chosen row {}", k + 1), SymbolKind::other);
            mu.push_back(g_.mul(g_.constant(scales[rows()[k]]), g_.symbol_node(solved)));
        }
        if (rows().size() < all.size()) {
            solves_.push_back(spread(*form_.dynamics, rows(), mu));
        } else {
            for (std::size_t k = 0; k < mu.size(); ++k) symbols.push_back(all[rows()[k]].multiplier);
            values.insert(values.end(), mu.begin(), mu.end());
        }
    }
    define(std::move(symbols), std::move(values));
    return std::move(solves_);
}

}  // namespace appell
