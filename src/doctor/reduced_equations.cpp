#include "doctor/reduced_equations.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include <Eigen/LU>

#include "doctor/trim.hpp"
#include "dynam/state_partition.hpp"
#include "tape/dense_rank.hpp"

namespace appell {

namespace {

using Indices = std::vector<std::size_t>;

Eigen::Index at_index(std::size_t i) { return static_cast<Eigen::Index>(i); }
bool contains(const Indices& v, std::size_t i) { return std::find(v.begin(), v.end(), i) != v.end(); }

// a fixed generator: the same findings on every machine
class Random {
public:
    explicit Random(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15ull + 0x2545f4914f6cdd1dull) {}
    double symmetric() {
        state_ ^= state_ << 13;
        state_ ^= state_ >> 7;
        state_ ^= state_ << 17;
        return 2 * (static_cast<double>(state_ >> 11) / 9007199254740992.0) - 1;
    }

private:
    std::uint64_t state_;
};

// the dependent unknowns of J_D x_D + J_I x_I = 0 by the others; empty where J_D has no inverse
std::optional<Matrix50> solve_dependent(const Matrix50& J_D, const Matrix50& right) {
    if (J_D.rows() == 0) return Matrix50(0, right.cols());
    Eigen::FullPivLU<Matrix50> lu(J_D);
    lu.setThreshold(Digits50("1e-25"));
    if (lu.rank() < J_D.rows()) return std::nullopt;
    return Matrix50(-lu.solve(right));
}

}  // namespace

Matrix50 columns_of(const Matrix50& m, const Indices& columns) {
    Matrix50 out(m.rows(), at_index(columns.size()));
    for (std::size_t k = 0; k < columns.size(); ++k) out.col(at_index(k)) = m.col(at_index(columns[k]));
    return out;
}

Matrix50 rows_of(const Matrix50& m, const Indices& rows) {
    Matrix50 out(at_index(rows.size()), m.cols());
    for (std::size_t k = 0; k < rows.size(); ++k) out.row(at_index(k)) = m.row(at_index(rows[k]));
    return out;
}

bool choose_dependence(MotionEquations& motion, std::span<const Digits50> point, const MotionNumbers& at, Dependence& out,
                       Diagnostics& diagnostics) {
    const std::vector<double> values = motion.values(point);
    Result<StatePartition> partition = choose_state_partition(motion.dynamics(), values);
    if (!partition.ok() && !motion.dynamics().independent.empty()) {
        // the user's choice of speeds is for runs, from the start on; here it fails, and another serves
        ConstrainedDynamics any = motion.dynamics();
        any.independent.clear();
        any.dependent.clear();
        partition = choose_state_partition(any, values);
    }
    diagnostics.append(partition.diagnostics);
    if (!partition.ok()) return false;
    out = {};
    const auto place_in = [](const Indices& rows, std::size_t row) {
        return static_cast<std::size_t>(std::find(rows.begin(), rows.end(), row) - rows.begin());
    };
    for (const std::uint32_t row : partition->position_rows) out.position_rows.push_back(place_in(motion.position_rows(), row));
    for (const std::uint32_t row : partition->velocity_rows) out.velocity_rows.push_back(place_in(motion.velocity_rows(), row));
    out.dependent_speeds.assign(partition->dependent_speeds.begin(), partition->dependent_speeds.end());
    const std::size_t nu = motion.speeds();
    bool turns = false;
    for (const StatePartition::Direction& direction : partition->directions) {
        turns = turns || direction.turn;
        for (std::size_t c = 0; c < nu && !direction.turn; ++c)
            if (const Variation& v = motion.variations()[c]; v.kind == Variation::Kind::coordinate && v.index == direction.index)
                out.dependent_configuration.push_back(c);
    }
    if (turns) {
        // rows in which the dependent coordinates take no part, as far as there are
        const Matrix50 P = rows_of(at.P, out.position_rows);
        Matrix50 left = Matrix50::Identity(P.rows(), P.rows());
        if (!out.dependent_configuration.empty()) {
            Eigen::FullPivLU<Matrix50> lu(Matrix50(columns_of(P, out.dependent_configuration).transpose()));
            lu.setThreshold(Digits50("1e-25"));
            left = Matrix50(lu.kernel()).transpose();
        }
        Indices candidates;
        for (std::size_t c = 0; c < nu; ++c)
            if (motion.variations()[c].kind == Variation::Kind::turn) candidates.push_back(c);
        const Matrix50 rest = left * columns_of(P, candidates);
        std::vector<Digits50> entries;
        for (Eigen::Index i = 0; i < rest.rows(); ++i)
            for (Eigen::Index j = 0; j < rest.cols(); ++j) entries.push_back(rest(i, j));
        const DenseRank chosen(std::move(entries), candidates.size());
        for (const std::size_t k : chosen.pivot_columns()) out.dependent_configuration.push_back(candidates[k]);
        std::sort(out.dependent_configuration.begin(), out.dependent_configuration.end());
    }
    for (std::size_t c = 0; c < nu; ++c)
        if (!contains(out.dependent_configuration, c)) out.independent.push_back(c);
    for (std::size_t j = 0; j < nu; ++j)
        if (!contains(out.dependent_speeds, j)) out.independent.push_back(nu + j);
    return true;
}

Reduced reduce(const MotionNumbers& at, const MotionEquations& motion, const Dependence& dependence) {
    Reduced out;
    const std::size_t nu = motion.speeds(), ny = dependence.independent.size();
    // T: all variations by the independent ones
    Matrix50 T = Matrix50::Zero(at_index(2 * nu), at_index(ny));
    for (std::size_t k = 0; k < ny; ++k) T(at_index(dependence.independent[k]), at_index(k)) = 1;
    const Matrix50 P = rows_of(at.P, dependence.position_rows), V = rows_of(at.V, dependence.velocity_rows);
    const auto configuration = solve_dependent(columns_of(P, dependence.dependent_configuration), P * T.topRows(at_index(nu)));
    if (!configuration) return out;
    for (std::size_t k = 0; k < dependence.dependent_configuration.size(); ++k)
        T.row(at_index(dependence.dependent_configuration[k])) = configuration->row(at_index(k));
    Indices speed_columns;
    for (const std::size_t j : dependence.dependent_speeds) speed_columns.push_back(nu + j);
    const auto speeds = solve_dependent(columns_of(V, speed_columns), V * T);
    if (!speeds) return out;
    for (std::size_t k = 0; k < speed_columns.size(); ++k) T.row(at_index(speed_columns[k])) = speeds->row(at_index(k));

    const SpeedRateSlopes u_rates = speed_rate_slopes(at, T);
    out.determined = u_rates.determined;
    Matrix50 G = at.G;
    // dtheta' = dw - w x dtheta
    for (std::size_t c = 0; c < nu; ++c) {
        const Variation& v = motion.variations()[c];
        if (v.kind != Variation::Kind::turn) continue;
        const std::size_t first = c - v.axis, y = first + (v.axis + 1) % 3, z = first + (v.axis + 2) % 3;
        G(at_index(c), at_index(z)) -= at.rates(at_index(y));
        G(at_index(c), at_index(y)) += at.rates(at_index(z));
    }
    const Matrix50 rates = G * T;
    Matrix50 by_inputs(at.R_z.cols(), 0);
    if (at.R_w.cols() > 0) {
        Eigen::FullPivLU<Matrix50> lu(at.R_z);
        lu.setThreshold(Digits50("1e-30"));
        by_inputs = -lu.solve(at.R_w);
    }
    out.A = Matrix50::Zero(at_index(ny), at_index(ny));
    out.B = Matrix50::Zero(at_index(ny), at.R_w.cols());
    for (std::size_t k = 0; k < ny; ++k) {
        const std::size_t v = dependence.independent[k];
        if (v < nu) {
            out.A.row(at_index(k)) = rates.row(at_index(v));
        } else {
            out.A.row(at_index(k)) = u_rates.by_x.row(at_index(v - nu));
            out.B.row(at_index(k)) = by_inputs.row(at_index(v - nu));
        }
    }
    out.numbers = at;
    out.ok = true;
    return out;
}

void keep_ignorable(const Dependence& dependence, const Matrix50& A, Indices& ignorable) {
    const Digits50 bar = A.size() ? Digits50(A.cwiseAbs().maxCoeff() * Digits50("1e-25")) : Digits50(0);
    for (bool changed = true; changed;) {
        changed = false;
        for (std::size_t k = 0; k < dependence.independent.size() && !changed; ++k) {
            if (contains(ignorable, k)) continue;
            for (std::size_t i = 0; i < ignorable.size() && !changed; ++i)
                if (abs(A(at_index(k), at_index(ignorable[i]))) > bar) {
                    ignorable.erase(ignorable.begin() + static_cast<std::ptrdiff_t>(i));
                    changed = true;
                }
        }
    }
}

Indices find_ignorable(MotionEquations& motion, const Dependence& dependence, const std::vector<Digits50>& point,
                       const Column50& units, std::uint64_t seed, std::size_t& rank) {
    Indices ignorable;
    const std::size_t nu = motion.speeds(), nq = motion.coordinates();
    for (std::size_t k = 0; k < dependence.independent.size(); ++k)
        if (dependence.independent[k] < nu) ignorable.push_back(k);
    double q_size = 0.1, u_size = 1;
    for (std::size_t i = 0; i < nq; ++i) q_size = std::max(q_size, 0.3 * std::abs(static_cast<double>(point[1 + i])));
    for (std::size_t j = 0; j < nu; ++j) u_size = std::max(u_size, std::abs(static_cast<double>(point[1 + nq + j])));
    std::vector<TrimEquation> rows;
    for (const std::size_t i : dependence.position_rows) rows.push_back({TrimEquation::Kind::position, i});
    for (const std::size_t i : dependence.velocity_rows) rows.push_back({TrimEquation::Kind::velocity, i});
    Random random(seed);
    std::size_t found = 0;
    double spread = 1;
    for (int tried = 0; tried < 24 && found < 3; ++tried, spread *= found == 0 ? 0.7 : 1) {
        std::vector<Digits50> sample = point;
        Column50 step(at_index(2 * nu));
        for (std::size_t k = 0; k < 2 * nu; ++k) step(at_index(k)) = spread * random.symmetric() * (k < nu ? q_size : u_size);
        motion.move(sample, step);
        const TrimSearch on_rows = search(motion, sample, rows, units);
        if (!on_rows.converged) continue;
        const Reduced reduced = reduce(on_rows.numbers, motion, dependence);
        if (!reduced.ok || !reduced.determined) continue;
        std::vector<Digits50> entries;
        const Matrix50 rows_by_speeds = on_rows.numbers.V.rightCols(at_index(nu));
        for (Eigen::Index i = 0; i < rows_by_speeds.rows(); ++i)
            for (Eigen::Index j = 0; j < rows_by_speeds.cols(); ++j) entries.push_back(rows_by_speeds(i, j));
        rank = std::max(rank, DenseRank(std::move(entries), nu).rank());
        keep_ignorable(dependence, reduced.A, ignorable);
        ++found;
    }
    return found == 0 ? Indices{} : ignorable;
}

}  // namespace appell
