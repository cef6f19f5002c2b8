#include "doctor/linearization.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/number_format.hpp"
#include "doctor/motion_equations.hpp"
#include "doctor/reduced_equations.hpp"
#include "doctor/trim.hpp"
#include "dynam/realised.hpp"
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

std::array<Digits50, 4> quaternion_product(const std::array<Digits50, 4>& a, const std::array<Digits50, 4>& b) {
    return {a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3], a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
            a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1], a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0]};
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
    bool stays(MotionEquations& motion, const Dependence& dependence, const Indices& ignorable,
               const std::vector<Digits50>& point, const MotionNumbers& at, const Reduced& reduced, const Column50& units);
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
        if (at.limit || !MotionEquations::is_kink(at.kinks(at_index(i)))) continue;
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
                             const Column50& units) {
    const std::size_t nu = motion.speeds();
    Column50 along = Column50::Zero(at_index(2 * nu));
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
    const Column50 units = units_of(numbers);

    // --- independent variations, ignorable ones
    Dependence dependence;
    Indices ignorable;
    const bool known = known_.has_value() && reduce(numbers, motion_, *known_).ok;
    const auto decide = [&]() -> bool {
        if (!choose_dependence(motion_, point, numbers, dependence, diagnostics)) return false;
        generic_rank_ = 0;
        ignorable = find_ignorable(motion_, dependence, point, units, options_.seed, generic_rank_);
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
    // Rows are measured against what they were at the start, in the units of the speeds: what is left of a gradient that vanishes
    // is round-off, which elimination would scale up again.
    const auto rows_on_speeds = [&](const MotionNumbers& at) {
        return Matrix50(at.V.rightCols(at_index(nu)) * units.tail(at_index(nu)).asDiagonal());
    };
    const auto rank_of = [&](const Matrix50& rows, const std::vector<Digits50>& sizes) {
        std::vector<Digits50> entries;
        for (Eigen::Index i = 0; i < rows.rows(); ++i) {
            const bool zero = rows.row(i).norm() <= sizes[static_cast<std::size_t>(i)] * zero_bar();
            for (Eigen::Index j = 0; j < rows.cols(); ++j) entries.push_back(zero ? Digits50(0) : rows(i, j));
        }
        return DenseRank(std::move(entries), nu).rank();
    };
    std::vector<Digits50> row_sizes;
    {
        const Matrix50 rows_at_start = rows_on_speeds(numbers);
        for (Eigen::Index i = 0; i < rows_at_start.rows(); ++i) row_sizes.emplace_back(rows_at_start.row(i).norm());
        generic_rank_ = std::max(generic_rank_, rank_of(rows_at_start, row_sizes));
    }
    const std::size_t usual_rank = generic_rank_;
    const auto loses_rank = [&] {
        // a constraint that loses its gradient here (one quadratic in velocities, at rest) has no linear equations
        const Matrix50 rows_here = rows_on_speeds(numbers);
        const std::size_t rank = rank_of(rows_here, row_sizes);
        if (rank < usual_rank) {
            std::string name;
            for (Eigen::Index i = 0; i < rows_here.rows() && name.empty(); ++i)
                if (rows_here.row(i).norm() <= row_sizes[static_cast<std::size_t>(i)] * zero_bar())
                    name = d_.rows[motion_.velocity_rows()[static_cast<std::size_t>(i)]].name;
            diagnostics.add({Code::E1105,
                             {},
                             "the constraints lose rank at this state, so that there are no linear equations about it",
                             name.empty() ? fmt::format("{} independent rows, {} elsewhere", rank, usual_rank)
                                          : fmt::format("constraint {} has no gradient there", name),
                             fmt::format("{} independent rows", usual_rank),
                             "a constraint that is quadratic in velocities says nothing at rest; linearize a motion"});
            return true;
        }
        return false;
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
            if (found.nearly) {
                diagnostics.add({Code::E1105,
                                 {},
                                 fmt::format("the only {} near the start is a state where the equations are singular",
                                             kind == TrimKind::equilibrium ? "equilibrium" : "steady motion"),
                                 "a search that comes closer and closer without arriving",
                                 "a state where constraints and forces are regular",
                                 "a constraint that is quadratic in velocities says nothing at rest; linearize a motion"});
                return std::nullopt;
            }
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
        if (loses_rank()) return std::nullopt;
        if (known) break;
        Dependence now;
        if (!choose_dependence(motion_, point, numbers, now, diagnostics)) return std::nullopt;
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
    // --- the linear equations
    MotionEquations& motion = opened_ ? *opened_ : motion_;
    std::vector<Digits50> at_point = point;
    Dependence used = dependence;
    Indices used_ignorable = ignorable;
    if (opened_) {
        for (Eigen::Index i = 0; i < numbers.actuators.size(); ++i) at_point.push_back(numbers.actuators(i));
        const MotionNumbers open_numbers = motion.at(at_point);
        if (!choose_dependence(motion, at_point, open_numbers, used, diagnostics)) return std::nullopt;
        std::size_t rank = 0;
        used_ignorable = find_ignorable(motion, used, at_point, units, options_.seed, rank);
    }
    const MotionNumbers at = opened_ ? motion.at(at_point) : numbers;
    const Reduced reduced = reduce(at, motion, used);
    if (!reduced.ok || !reduced.determined) {
        diagnostics.add({Code::E1105,
                         {},
                         reduced.ok ? "the equations do not determine how the accelerations change"
                                    : "the independent variables do not determine the others at this state",
                         reduced.ok && !d_.actuators.empty() ? "more actuators than servo-constraints"
                         : reduced.ok                        ? "constraints that are singular, or a law of redundant ones"
                                                             : "a singular choice of independent variables",
                         reduced.ok && !d_.actuators.empty() ? "as many actuators as servo rows"
                                                             : "a state where the constraints are regular",
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
    // what is zero is left as round-off of fifty digits
    const auto clean = [](Digits50 value, const Digits50& size) {
        return abs(value) <= Digits50(1e-30) * size ? Digits50(0) : value;
    };
    out.kind = kind;
    out.point = point;
    for (std::size_t i = 1; i <= motion_.coordinates() + nu; ++i) out.point[i] = clean(out.point[i], Digits50(1));
    out.frozen_time = motion_.depends_on_time();
    for (Eigen::Index i = 0; i < numbers.speed_rates.size(); ++i)
        out.speed_rates.push_back(clean(numbers.speed_rates(i), Digits50(1)));
    for (Eigen::Index i = 0; i < numbers.multipliers.size(); ++i)
        out.multipliers.push_back(clean(numbers.multipliers(i), Digits50(1)));
    for (Eigen::Index i = 0; i < numbers.actuators.size(); ++i) out.actuators.push_back(clean(numbers.actuators(i), Digits50(1)));
    Indices kept;
    for (std::size_t k = 0; k < used.independent.size(); ++k) {
        const std::size_t v = used.independent[k];
        const double rate = v < nu ? static_cast<double>(clean(at.rates(at_index(v)), Digits50(1))) : 0;
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
    // entries against the largest, in the units of their variables
    const auto unit = [&](Eigen::Index i) { return out.scale[static_cast<std::size_t>(i)]; };
    Digits50 largest(0);
    for (Eigen::Index i = 0; i < A.rows(); ++i)
        for (Eigen::Index j = 0; j < A.cols(); ++j) largest = std::max(largest, Digits50(abs(A(i, j)) * unit(j) / unit(i)));
    for (Eigen::Index i = 0; i < A.rows(); ++i) {
        for (Eigen::Index j = 0; j < A.cols(); ++j) out.A.push_back(clean(A(i, j), Digits50(largest * unit(i) / unit(j))));
        for (Eigen::Index j = 0; j < B.cols(); ++j) out.B.push_back(clean(B(i, j), Digits50(B.col(j).cwiseAbs().maxCoeff())));
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
    Column50 along = Column50::Zero(at_index(2 * nu));
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
                // relative to the motion that goes on: w - R' w0, R the turn since then
                const auto& places = std::get<QuaternionRotation>(d_.model->frames[v.index].orientation).coordinates;
                std::array<Digits50, 4> e0, e;
                for (std::size_t i = 0; i < 4; ++i) {
                    e0[i] = system.point[1 + places[i]];
                    e[i] = point[1 + places[i]];
                }
                for (std::size_t i = 1; i < 4; ++i) e0[i] = -e0[i];
                const std::array<Digits50, 4> turn = quaternion_product(e0, e);
                std::array<Digits50, 4> back = turn, w0{};
                for (std::size_t i = 1; i < 4; ++i) {
                    back[i] = -back[i];
                    w0[i] = reference.rates(at_index(k - v.axis + i - 1));
                }
                const std::array<Digits50, 4> seen = quaternion_product(quaternion_product(back, w0), turn);
                rate -= seen[1 + v.axis];
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
