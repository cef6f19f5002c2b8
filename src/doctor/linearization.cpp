#include "doctor/linearization.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <Eigen/LU>

#include "base/number_format.hpp"
#include "doctor/motion_equations.hpp"
#include "doctor/trim.hpp"
#include "dynam/realised.hpp"
#include "dynam/state_partition.hpp"
#include "expr/print.hpp"
#include "tape/dense_rank.hpp"

namespace appell {

namespace {

using Indices = std::vector<std::size_t>;

Eigen::Index at_index(std::size_t i) { return static_cast<Eigen::Index>(i); }
bool contains(const Indices& v, std::size_t i) { return std::find(v.begin(), v.end(), i) != v.end(); }

// what is left of a zero, where numbers of size one were subtracted with fifty digits
const Digits50& zero_bar() {
    static const Digits50 bar("1e-25");
    return bar;
}

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

// Variations that follow from the others, and the rows that they follow from.
struct Dependence {
    Indices position_rows, velocity_rows;               // among those of MotionEquations
    Indices dependent_configuration, dependent_speeds;  // variations; speeds counted from zero
    Indices independent;                                // variations: configuration, speeds

    friend bool operator==(const Dependence&, const Dependence&) = default;
};

// y' = A y + B w over all independent variations
struct Reduced {
    bool ok = false, determined = true;
    Matrix50 A, B;
    MotionNumbers numbers;
};

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

// the dependent unknowns of J_D x_D + J_I x_I = 0 by the others; empty where J_D has no inverse
std::optional<Matrix50> solve_dependent(const Matrix50& J_D, const Matrix50& right) {
    if (J_D.rows() == 0) return Matrix50(0, right.cols());
    Eigen::FullPivLU<Matrix50> lu(J_D);
    lu.setThreshold(Digits50("1e-25"));
    if (lu.rank() < J_D.rows()) return std::nullopt;
    return Matrix50(-lu.solve(right));
}

}  // namespace

class Linearizer::Impl {
public:
    Impl(const ConstrainedDynamics& d, const LinearizerOptions& options) : d_(d), options_(options), motion_(d, {}) {
        if (options.open && !d.actuators.empty()) {
            // without the servo rows a law of another constraint would lose its block of ideal multipliers: see refuse_open
            if (d.C.empty()) opened_ = std::make_unique<MotionEquations>(with_given_forces(d), d.actuators);
        }
    }

    Result<LinearSystem> at(std::vector<Digits50> start, const TrimRequest& request) {
        Result<LinearSystem> result;
        result.value = find(std::move(start), request, result.diagnostics);
        return result;
    }

    std::vector<Digits50> reduced_rate(const LinearSystem& system, std::size_t moved, const Digits50& step);

private:
    std::optional<LinearSystem> find(std::vector<Digits50> point, const TrimRequest& request, Diagnostics& diagnostics);
    bool choose(MotionEquations& motion, std::span<const Digits50> point, const MotionNumbers& at, Dependence& out,
                Diagnostics& diagnostics) const;
    Reduced reduce(const MotionNumbers& at, const MotionEquations& motion, const Dependence& dependence) const;
    std::vector<Indices> find_ignorable(MotionEquations& motion, const Dependence& dependence, const std::vector<Digits50>& point,
                                        const Vector50& units, std::size_t& rank);
    void keep_ignorable(const Dependence& dependence, const Matrix50& A, Indices& ignorable) const;
    bool stays(MotionEquations& motion, const Dependence& dependence, const Indices& ignorable,
               const std::vector<Digits50>& point, const MotionNumbers& at, const Reduced& reduced, const Vector50& units);
    std::vector<TrimEquation> equations(TrimKind kind, const Dependence& dependence, const Indices& ignorable,
                                        const Indices& running, const std::vector<Held>& held) const;
    std::string describe(const TrimEquation& equation, const Digits50& residual) const;
    bool smooth(const MotionEquations& motion, const MotionNumbers& at, Diagnostics& diagnostics) const;
    void refuse_evaluation(const EvalReport& report, Diagnostics& diagnostics) const;

    [[nodiscard]] std::size_t place(const Variation& v) const {
        return 1 + (v.kind == Variation::Kind::speed ? motion_.coordinates() : 0) + v.index;
    }

    const ConstrainedDynamics& d_;
    LinearizerOptions options_;
    MotionEquations motion_;
    std::unique_ptr<MotionEquations> opened_;
    std::optional<Dependence> known_;  // of the last result
    Indices known_ignorable_, running_;
    std::size_t generic_rank_ = 0;
};

// The partition of the state (dynam/state_partition.hpp) in terms of variations: where it turns a quaternion along speeds, turns
// about the frame's axes are chosen instead.
bool Linearizer::Impl::choose(MotionEquations& motion, std::span<const Digits50> point, const MotionNumbers& at, Dependence& out,
                              Diagnostics& diagnostics) const {
    const Result<StatePartition> partition = choose_state_partition(motion.dynamics(), motion.values(point));
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

Reduced Linearizer::Impl::reduce(const MotionNumbers& at, const MotionEquations& motion, const Dependence& dependence) const {
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
    Eigen::FullPivLU<Matrix50> lu(at.R_z);
    lu.setThreshold(Digits50("1e-30"));
    const Matrix50 by_inputs = at.R_w.cols() > 0 ? Matrix50(-lu.solve(at.R_w)) : Matrix50(at.R_z.cols(), 0);
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

// Of candidates, those whose columns are zero in the rows of everything else; a row of one that is not ignorable must not
// contain one that is, so that dropping one may drop others.
void Linearizer::Impl::keep_ignorable(const Dependence& dependence, const Matrix50& A, Indices& ignorable) const {
    const Digits50 bar = A.size() ? Digits50(A.cwiseAbs().maxCoeff() * zero_bar()) : Digits50(0);
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

// Coordinates and turns that the reduced equations do not contain at random states near the point, parameters as they are.
std::vector<Indices> Linearizer::Impl::find_ignorable(MotionEquations& motion, const Dependence& dependence,
                                                      const std::vector<Digits50>& point, const Vector50& units,
                                                      std::size_t& rank) {
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
    Random random(options_.seed);
    std::size_t found = 0;
    double spread = 1;
    for (int tried = 0; tried < 24 && found < 3; ++tried, spread *= found == 0 ? 0.7 : 1) {
        std::vector<Digits50> sample = point;
        Vector50 step(at_index(2 * nu));
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
    return {found == 0 ? Indices{} : ignorable};
}

std::vector<TrimEquation> Linearizer::Impl::equations(TrimKind kind, const Dependence& dependence, const Indices& ignorable,
                                                      const Indices& running, const std::vector<Held>& held) const {
    using Kind = TrimEquation::Kind;
    const std::size_t nu = motion_.speeds();
    std::vector<TrimEquation> out;
    for (const std::size_t i : dependence.position_rows) out.push_back({Kind::position, i});
    if (kind != TrimKind::equilibrium)
        for (const std::size_t i : dependence.velocity_rows) out.push_back({Kind::velocity, i});
    for (std::size_t k = 0; k < dependence.independent.size(); ++k) {
        const std::size_t v = dependence.independent[k];
        if (v >= nu)
            out.push_back({Kind::speed_rate, v - nu});
        else if (kind == TrimKind::steady && !contains(ignorable, k) && !contains(running, k))
            out.push_back({Kind::rate, v});
    }
    for (std::size_t c = 0; c < nu && kind == TrimKind::equilibrium; ++c) out.push_back({Kind::rate, c});
    for (const Held& h : held)
        for (std::size_t k = 0; k < motion_.variations().size(); ++k) {
            const Variation& v = motion_.variations()[k];
            if (v.index != h.index || v.kind == Variation::Kind::turn) continue;
            if ((h.kind == Held::Kind::speed) != (v.kind == Variation::Kind::speed)) continue;
            out.push_back({h.kind == Held::Kind::rate ? Kind::rate : Kind::value, k, h.value});
        }
    return out;
}

std::string Linearizer::Impl::describe(const TrimEquation& e, const Digits50& residual) const {
    const std::string amount = short_number(static_cast<double>(residual), 4);
    switch (e.kind) {
        case TrimEquation::Kind::position:
            return fmt::format("constraint {} is missed by {}", d_.rows[motion_.position_rows()[e.index]].name, amount);
        case TrimEquation::Kind::velocity:
            return fmt::format("constraint {} is missed by {}", d_.rows[motion_.velocity_rows()[e.index]].name, amount);
        case TrimEquation::Kind::speed_rate:
            return fmt::format("{} = {}", motion_.variations()[motion_.speeds() + e.index].rate_name, amount);
        case TrimEquation::Kind::rate:
            if (e.target == 0) return fmt::format("{} = {}", motion_.variations()[e.index].rate_name, amount);
            return fmt::format("{} is off its held value by {}", motion_.variations()[e.index].rate_name, amount);
        default: return fmt::format("{} is off its held value by {}", motion_.variations()[e.index].name, amount);
    }
}

bool Linearizer::Impl::smooth(const MotionEquations& motion, const MotionNumbers& at, Diagnostics& diagnostics) const {
    for (std::size_t i = 0; i < motion.kinks().size(); ++i) {
        if (abs(at.kinks(at_index(i))) > zero_bar()) continue;
        diagnostics.add({Code::E1104,
                         {},
                         "the equations are not smooth at this state, so that they have no linear ones",
                         fmt::format("{}, at the zero of what it looks at", to_text(d_.graph(), motion.kinks()[i])),
                         "a state off the jump",
                         "friction at rest and stops have no linear equations; linearize a motion, or smooth the law"});
        return false;
    }
    return true;
}

void Linearizer::Impl::refuse_evaluation(const EvalReport& report, Diagnostics& diagnostics) const {
    if (report.status == EvalStatus::ok || report.status == EvalStatus::not_finite)
        diagnostics.add({Code::E1104,
                         {},
                         "the equations or their derivatives are not finite at this state",
                         "a division by zero, or a root or direction of zero (unit(vel(P)) at rest)",
                         "a state where every force and constraint is smooth",
                         "linearize another state, or smooth the law"});
    else
        diagnostics.add({Code::E1105,
                         {},
                         "the accelerations are not determined at this state",
                         report.status == EvalStatus::unreachable         ? "actuators that can not keep a servo-constraint"
                         : report.status == EvalStatus::no_reaction       ? "a law that no constraint force satisfies"
                         : report.status == EvalStatus::several_reactions ? "a law that several constraint forces satisfy"
                                                                          : "a singular mass matrix",
                         "equations of motion with one solution",
                         "see `appell check`"});
}

// Along a steady motion whose running coordinates are not ignorable the equations must look the same: the motion is followed at
// constant rates, the dependent variables solved for, and the linear equations compared.
bool Linearizer::Impl::stays(MotionEquations& motion, const Dependence& dependence, const Indices& ignorable,
                             const std::vector<Digits50>& point, const MotionNumbers& at, const Reduced& reduced,
                             const Vector50& units) {
    const std::size_t nu = motion.speeds();
    Vector50 along = Vector50::Zero(at_index(2 * nu));
    Digits50 fastest(0);
    for (std::size_t k = 0; k < dependence.independent.size(); ++k) {
        const std::size_t v = dependence.independent[k];
        if (v >= nu || contains(ignorable, k)) continue;
        along(at_index(v)) = at.rates(at_index(v));
        fastest = std::max(fastest, Digits50(abs(at.rates(at_index(v)))));
    }
    if (fastest <= zero_bar()) return true;
    Indices dependent = dependence.dependent_configuration, kept;
    for (const std::size_t j : dependence.dependent_speeds) dependent.push_back(nu + j);
    for (std::size_t k = 0; k < dependence.independent.size(); ++k)
        if (!contains(ignorable, k)) kept.push_back(k);
    std::vector<TrimEquation> rows;
    for (const std::size_t i : dependence.position_rows) rows.push_back({TrimEquation::Kind::position, i});
    for (const std::size_t i : dependence.velocity_rows) rows.push_back({TrimEquation::Kind::velocity, i});
    const auto part = [&](const Matrix50& A) { return columns_of(rows_of(A, kept), kept); };
    const Digits50 size = reduced.A.cwiseAbs().maxCoeff();
    for (const double angle : {0.37, 1.13, 2.9}) {
        std::vector<Digits50> later = point;
        motion.move(later, along * Digits50(angle / fastest));
        TrimSearch found;
        if (rows.empty() || dependent.empty())
            found.numbers = motion.at(later), found.converged = found.numbers.finite;
        else
            found = search(motion, later, rows, units, dependent);
        if (!found.converged) return false;
        const Reduced then = reduce(found.numbers, motion, dependence);
        if (!then.ok || (part(then.A) - part(reduced.A)).cwiseAbs().maxCoeff() > size * Digits50(1e-20)) return false;
        for (const std::size_t v : dependence.independent)
            if (v >= nu && abs(found.numbers.speed_rates(at_index(v - nu))) >
                               Digits50(1e-20) * fastest * fastest * units(at_index(v)) / units.minCoeff())
                return false;
    }
    return true;
}

std::optional<LinearSystem> Linearizer::Impl::find(std::vector<Digits50> point, const TrimRequest& request,
                                                   Diagnostics& diagnostics) {
    const std::size_t nu = motion_.speeds();
    if (options_.open && !d_.actuators.empty() && !opened_) {
        diagnostics.add({Code::E1105,
                         {},
                         "servo-constraints can not be let go in a model with nonideal laws",
                         "both actuators and nonideal forces",
                         "one of the two",
                         "linearize the closed loop, without --open"});
        return std::nullopt;
    }
    if (motion_.rows_depend_on_inputs()) {
        diagnostics.add({Code::E1105,
                         {},
                         "a constraint depends on an input: where the system may be would depend on the signal's past",
                         "an input in a constraint",
                         "inputs in forces and torques",
                         ""});
        return std::nullopt;
    }
    motion_.normalise(point);
    MotionNumbers numbers = motion_.at(point);
    if (!numbers.finite) {
        refuse_evaluation(numbers.report, diagnostics);
        return std::nullopt;
    }
    const Vector50 units = units_of(numbers);

    // --- independent variations, ignorable ones
    Dependence dependence;
    Indices ignorable;
    const bool known = known_.has_value() && reduce(numbers, motion_, *known_).ok;
    const auto decide = [&]() -> bool {
        if (!choose(motion_, point, numbers, dependence, diagnostics)) return false;
        generic_rank_ = 0;
        ignorable = find_ignorable(motion_, dependence, point, units, generic_rank_).front();
        return true;
    };
    if (known) {
        dependence = *known_;
        ignorable = known_ignorable_;
    } else if (!decide()) {
        return std::nullopt;
    }
    // onto the constraints, where doubles have left it
    std::vector<TrimEquation> rows;
    for (const std::size_t i : dependence.position_rows) rows.push_back({TrimEquation::Kind::position, i});
    for (const std::size_t i : dependence.velocity_rows) rows.push_back({TrimEquation::Kind::velocity, i});
    std::vector<Digits50> start = point;
    if (const TrimSearch on_rows = search(motion_, start, rows, units); on_rows.converged) {
        point = start;
        numbers = on_rows.numbers;
    }
    start = point;

    // --- the trim
    TrimKind kind = request.kind;
    if (kind == TrimKind::none) {
        const bool rest = numbers.rates.cwiseAbs().maxCoeff() <= Digits50(1e-12);
        kind = rest ? TrimKind::equilibrium : TrimKind::steady;
        running_.clear();
        for (std::size_t k = 0; k < dependence.independent.size() && !rest; ++k)
            if (dependence.independent[k] < nu && !contains(ignorable, k) &&
                abs(numbers.rates(at_index(dependence.independent[k]))) > Digits50(1e-12))
                running_.push_back(k);
    }
    // what is told of a start that is none
    const auto start_residual = [&] {
        std::string out;
        const Indices none;
        const std::vector<TrimEquation> wanted = equations(kind, dependence, ignorable, none, {});
        const MotionNumbers at = motion_.at(start);
        Digits50 largest(-1);
        for (const TrimEquation& e : wanted) {
            if (e.kind != TrimEquation::Kind::speed_rate && e.kind != TrimEquation::Kind::rate) continue;
            const bool rate = e.kind == TrimEquation::Kind::rate;
            const Digits50 value = rate ? at.rates(at_index(e.index)) : at.speed_rates(at_index(e.index));
            const Digits50 size = abs(value) / units(at_index(rate ? e.index : nu + e.index));
            if (size <= largest || value == 0) continue;
            largest = size;
            out = describe(e, value);
        }
        return out;
    };
    TrimSearch found;
    found.converged = kind == TrimKind::instant;
    for (int round = 0; round < 4 && kind != TrimKind::instant; ++round) {
        const std::vector<TrimEquation> wanted = equations(kind, dependence, ignorable, running_, request.held);
        found = search(motion_, point, wanted, units);
        if (!found.finite) {
            refuse_evaluation(found.numbers.report, diagnostics);
            return std::nullopt;
        }
        if (!found.converged) {
            if (request.kind == TrimKind::none) break;
            diagnostics.add({Code::E1102,
                             {},
                             fmt::format("no {} was found from the start values",
                                         kind == TrimKind::equilibrium ? "equilibrium" : "steady motion"),
                             fmt::format("nearest to one, {}", describe(wanted[found.worst], found.residual)),
                             "a state where it vanishes",
                             request.held.empty() ? "start nearer to one with --set, or look whether there is one"
                                                  : "start nearer to one with --set, or hold less"});
            return std::nullopt;
        }
        numbers = found.numbers;
        if (known) break;
        Dependence now;
        if (!choose(motion_, point, numbers, now, diagnostics)) return std::nullopt;
        if (now == dependence) break;
        // the search ended where other variables are the better independent ones
        if (!decide()) return std::nullopt;
        if (request.kind != TrimKind::none) running_.clear();
    }
    LinearSystem out;
    Digits50 q_size(0), u_size(0);
    for (std::size_t k = 0; k < 2 * nu; ++k) {
        const Variation& v = motion_.variations()[k];
        if (v.kind == Variation::Kind::turn) continue;
        Digits50& size = v.kind == Variation::Kind::speed ? u_size : q_size;
        size = std::max(size, Digits50(abs(start[place(v)]) / units(at_index(k))));
    }
    bool far = !found.converged;
    for (std::size_t i = 0; i < motion_.coordinates() + nu; ++i) {
        const Digits50 &from = start[1 + i], &to = point[1 + i];
        const bool speed = i >= motion_.coordinates();
        Digits50 size = abs(from);
        for (std::size_t k = 0; k < 2 * nu; ++k)
            if (const Variation& v = motion_.variations()[k]; v.kind != Variation::Kind::turn && place(v) == 1 + i)
                size = std::max(size, Digits50((speed ? u_size : q_size) * units(at_index(k))));
        if (size == 0) size = 1;
        if (abs(Digits50(to - from)) > size * Digits50(1e-6)) far = true;
        if (abs(Digits50(to - from)) > size * Digits50(1e-12))
            out.moved.push_back({speed ? d_.model->speeds[i - motion_.coordinates()].name : d_.model->coordinates[i].name,
                                 static_cast<double>(from), static_cast<double>(to)});
    }
    if (request.kind == TrimKind::none && far) {
        diagnostics.add({Code::E1101,
                         {},
                         kind == TrimKind::equilibrium ? "the start is at rest, but it is no equilibrium"
                                                       : "the start moves, but it is no steady motion",
                         start_residual(),
                         kind == TrimKind::equilibrium ? "u' = 0 of every speed"
                                                       : "u' = 0 of the independent speeds, and q' = 0 of every coordinate "
                                                         "that the equations contain",
                         "use --trim equilibrium or --trim steady to have one sought from here"});
        return std::nullopt;
    }
    // rows that the search left out hold with the others, or there is no such state
    const Digits50 row_bar("1e-20");
    for (Eigen::Index i = 0; i < numbers.psi.size(); ++i)
        if (abs(numbers.psi(i)) > row_bar * Digits50(1 + numbers.V.row(i).cwiseAbs().maxCoeff())) {
            diagnostics.add({Code::E1102,
                             d_.model->constraints[d_.rows[motion_.velocity_rows()[static_cast<std::size_t>(i)]].constraint].span,
                             fmt::format("there is no equilibrium: constraint {} keeps the system moving",
                                         d_.rows[motion_.velocity_rows()[static_cast<std::size_t>(i)]].name),
                             fmt::format("at rest it is missed by {}", short_number(static_cast<double>(numbers.psi(i)), 4)),
                             "a constraint that holds at rest", "use --trim steady"});
            return std::nullopt;
        }
    if (!smooth(motion_, numbers, diagnostics)) return std::nullopt;
    {
        // a constraint that loses its gradient here (one quadratic in velocities, at rest) has no linear equations
        std::vector<Digits50> entries;
        for (Eigen::Index i = 0; i < numbers.V.rows(); ++i)
            for (std::size_t j = 0; j < nu; ++j) entries.push_back(numbers.V(i, at_index(nu + j)));
        const std::size_t rank = DenseRank(std::move(entries), nu).rank();
        if (rank < generic_rank_) {
            std::string name;
            for (Eigen::Index i = 0; i < numbers.V.rows() && name.empty(); ++i)
                if (numbers.V.row(i).tail(at_index(nu)).cwiseAbs().maxCoeff() <= zero_bar())
                    name = d_.rows[motion_.velocity_rows()[static_cast<std::size_t>(i)]].name;
            diagnostics.add({Code::E1105,
                             {},
                             "the constraints lose rank at this state, so that there are no linear equations about it",
                             name.empty() ? fmt::format("{} independent rows, {} elsewhere", rank, generic_rank_)
                                          : fmt::format("constraint {} has no gradient there", name),
                             fmt::format("{} independent rows", generic_rank_),
                             "a constraint that is quadratic in velocities says nothing at rest; linearize a motion"});
            return std::nullopt;
        }
    }

    // --- the linear equations
    MotionEquations& motion = opened_ ? *opened_ : motion_;
    std::vector<Digits50> at_point = point;
    Dependence used = dependence;
    Indices used_ignorable = ignorable;
    if (opened_) {
        for (Eigen::Index i = 0; i < numbers.actuators.size(); ++i) at_point.push_back(numbers.actuators(i));
        const MotionNumbers open_numbers = motion.at(at_point);
        if (!choose(motion, at_point, open_numbers, used, diagnostics)) return std::nullopt;
        std::size_t rank = 0;
        used_ignorable = find_ignorable(motion, used, at_point, units, rank).front();
    }
    const MotionNumbers at = opened_ ? motion.at(at_point) : numbers;
    const Reduced reduced = reduce(at, motion, used);
    if (!reduced.ok || !reduced.determined) {
        diagnostics.add({Code::E1105,
                         {},
                         reduced.ok ? "the equations do not determine how the accelerations change"
                                    : "the independent variables do not determine the others at this state",
                         reduced.ok ? "more actuators than servo-constraints, or a law of redundant constraints"
                                    : "a singular choice of independent variables",
                         reduced.ok ? "as many actuators as servo rows" : "a state where the constraints are regular",
                         ""});
        return std::nullopt;
    }
    keep_ignorable(used, reduced.A, used_ignorable);
    if (kind == TrimKind::steady && !stays(motion, used, used_ignorable, at_point, at, reduced, units)) {
        std::vector<std::string> names;
        for (std::size_t k = 0; k < used.independent.size(); ++k)
            if (const std::size_t v = used.independent[k];
                v < nu && !contains(used_ignorable, k) && abs(at.rates(at_index(v))) > zero_bar())
                names.push_back(motion.variations()[v].name);
        diagnostics.add({Code::E1103,
                         {},
                         "this is no steady motion: its linear equations would change along it",
                         fmt::format("{} {} not constant, and the equations contain {}", fmt::join(names, ", "),
                                     names.size() == 1 ? "is" : "are", names.size() == 1 ? "it" : "them"),
                         "a motion that looks the same at all times",
                         "choose coordinates or speeds in which the motion is constant"});
        return std::nullopt;
    }
    out.kind = kind;
    out.point = point;
    out.frozen_time = motion_.depends_on_time();
    for (Eigen::Index i = 0; i < numbers.speed_rates.size(); ++i) out.speed_rates.push_back(numbers.speed_rates(i));
    for (Eigen::Index i = 0; i < numbers.multipliers.size(); ++i) out.multipliers.push_back(numbers.multipliers(i));
    for (Eigen::Index i = 0; i < numbers.actuators.size(); ++i) out.actuators.push_back(numbers.actuators(i));
    Indices kept;
    for (std::size_t k = 0; k < used.independent.size(); ++k) {
        const std::size_t v = used.independent[k];
        const double rate = v < nu ? static_cast<double>(at.rates(at_index(v))) : 0;
        if (contains(used_ignorable, k)) {
            out.ignorable.push_back({motion.variations()[v], rate});
            continue;
        }
        kept.push_back(k);
        out.variables.push_back(motion.variations()[v]);
        out.running.push_back(rate);
        out.scale.push_back(units(at_index(v)));
    }
    for (const std::size_t v : used.dependent_configuration) out.dependent.push_back(motion.variations()[v]);
    for (const std::size_t j : used.dependent_speeds) out.dependent.push_back(motion.variations()[nu + j]);
    out.inputs = motion.inputs();
    const Matrix50 A = columns_of(rows_of(reduced.A, kept), kept), B = rows_of(reduced.B, kept);
    for (Eigen::Index i = 0; i < A.rows(); ++i) {
        for (Eigen::Index j = 0; j < A.cols(); ++j) out.A.push_back(A(i, j));
        for (Eigen::Index j = 0; j < B.cols(); ++j) out.B.push_back(B(i, j));
    }
    out.spectrum = spectrum_of(out.A, out.scale);
    known_ = dependence;
    known_ignorable_ = ignorable;
    return out;
}

std::vector<Digits50> Linearizer::Impl::reduced_rate(const LinearSystem& system, std::size_t moved, const Digits50& step) {
    const std::size_t nu = motion_.speeds();
    const Dependence& dependence = *known_;
    const Variation& variable = system.variables[moved];
    const auto same = [](const Variation& a, const Variation& b) {
        return a.kind == b.kind && a.index == b.index && a.axis == b.axis;
    };
    Vector50 along = Vector50::Zero(at_index(2 * nu));
    for (std::size_t k = 0; k < 2 * nu; ++k)
        if (same(motion_.variations()[k], variable)) along(at_index(k)) = step;
    const MotionNumbers reference = motion_.at(system.point);
    std::vector<Digits50> point = system.point;
    motion_.move(point, along);
    Indices dependent = dependence.dependent_configuration;
    for (const std::size_t j : dependence.dependent_speeds) dependent.push_back(nu + j);
    std::vector<TrimEquation> rows;
    for (const std::size_t i : dependence.position_rows) rows.push_back({TrimEquation::Kind::position, i});
    for (const std::size_t i : dependence.velocity_rows) rows.push_back({TrimEquation::Kind::velocity, i});
    if (!dependent.empty()) (void)search(motion_, point, rows, units_of(reference), dependent);
    const MotionNumbers at = motion_.at(point);
    std::vector<Digits50> out;
    for (const Variation& v : system.variables)
        for (std::size_t k = 0; k < 2 * nu; ++k) {
            if (!same(motion_.variations()[k], v)) continue;
            if (v.kind == Variation::Kind::speed) {
                out.push_back(at.speed_rates(at_index(k - nu)));
                continue;
            }
            Digits50 rate = at.rates(at_index(k));
            if (v.kind == Variation::Kind::turn) {
                // relative to the motion that goes on: w - R' w0, R the turn by `step` about `axis`
                const std::size_t first = k - v.axis;
                std::array<Digits50, 3> w0;
                for (std::size_t i = 0; i < 3; ++i) w0[i] = reference.rates(at_index(first + i));
                std::array<Digits50, 3> seen = w0;
                if (variable.kind == Variation::Kind::turn && variable.index == v.index) {
                    const std::size_t y = (variable.axis + 1) % 3, z = (variable.axis + 2) % 3;
                    seen[y] = cos(step) * w0[y] + sin(step) * w0[z];
                    seen[z] = cos(step) * w0[z] - sin(step) * w0[y];
                }
                rate -= seen[v.axis];
            }
            out.push_back(rate);
        }
    return out;
}

Linearizer::Linearizer(const ConstrainedDynamics& dynamics, const LinearizerOptions& options)
    : impl_(std::make_unique<Impl>(dynamics, options)) {}
Linearizer::~Linearizer() = default;

Result<LinearSystem> Linearizer::at(std::vector<Digits50> start, const TrimRequest& request) {
    return impl_->at(std::move(start), request);
}

std::vector<Digits50> Linearizer::reduced_rate(const LinearSystem& system, std::size_t moved, const Digits50& step) {
    return impl_->reduced_rate(system, moved, step);
}

}  // namespace appell
