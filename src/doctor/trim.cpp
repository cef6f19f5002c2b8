#include "doctor/trim.hpp"

#include <algorithm>

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <Eigen/QR>

namespace appell {

namespace {

Eigen::Index at_index(std::size_t i) { return static_cast<Eigen::Index>(i); }

// pivots below this part of the largest are zeros: of fifty digits, twenty are left to the condition of the equations
const Digits50& rank_bar() {
    static const Digits50 bar("1e-30");
    return bar;
}

struct Linearised {
    Column50 error;  // by equation
    Matrix50 slope;  // equations by variations
};

Linearised linearise(const MotionEquations& equations, const MotionNumbers& at, std::span<const Digits50> point,
                     const std::vector<TrimEquation>& wanted) {
    const auto nu = at_index(equations.speeds());
    Linearised out{Column50::Zero(at_index(wanted.size())), Matrix50::Zero(at_index(wanted.size()), 2 * nu)};
    const bool accelerations =
        std::any_of(wanted.begin(), wanted.end(), [](const TrimEquation& e) { return e.kind == TrimEquation::Kind::speed_rate; });
    SpeedRateSlopes slopes;
    if (accelerations) slopes = speed_rate_slopes(at, Matrix50::Identity(2 * nu, 2 * nu));
    for (std::size_t k = 0; k < wanted.size(); ++k) {
        const TrimEquation& e = wanted[k];
        const auto row = at_index(k), i = at_index(e.index);
        switch (e.kind) {
            case TrimEquation::Kind::position:
                out.error(row) = at.phi(i);
                out.slope.row(row).head(nu) = at.P.row(i);
                break;
            case TrimEquation::Kind::velocity:
                out.error(row) = at.psi(i);
                out.slope.row(row) = at.V.row(i);
                break;
            case TrimEquation::Kind::speed_rate:
                out.error(row) = at.speed_rates(i);
                out.slope.row(row) = slopes.by_x.row(i);
                break;
            case TrimEquation::Kind::rate:
                out.error(row) = at.rates(i) - e.target;
                out.slope.row(row) = at.G.row(i);
                break;
            case TrimEquation::Kind::value: {
                const Variation& v = equations.variations()[e.index];
                const std::size_t place = 1 + (v.kind == Variation::Kind::speed ? equations.coordinates() : 0) + v.index;
                out.error(row) = point[place] - e.target;
                out.slope(row, i) = 1;
            }
        }
    }
    return out;
}

// The s of least norm among those with the least |J s + error|^2 + damping^2 |s|^2.
Column50 damped_step(const Matrix50& J, const Column50& error, const Digits50& damping, bool constraints) {
    // Constraints that are well independent of each other: s = -J' (J J' + damping^2)^-1 error is a small system. Its condition
    // is the square of that of J, for which fifty digits have room. The equations of a trim may be singular where they hold.
    if (constraints && J.rows() <= J.cols()) {
        Matrix50 square = J * J.transpose();
        square.diagonal().array() += damping * damping;
        const Eigen::LDLT<Matrix50> factors(square);
        const Column50 pivots = factors.vectorD();
        if (pivots.minCoeff() > pivots.maxCoeff() * Digits50(1e-12)) return -(J.transpose() * factors.solve(error));
    }
    Matrix50 damped(J.rows() + J.cols(), J.cols());
    damped << J, Matrix50(Matrix50::Identity(J.cols(), J.cols()) * damping);
    Column50 right = Column50::Zero(damped.rows());
    right.head(J.rows()) = -error;
    Eigen::CompleteOrthogonalDecomposition<Matrix50> decomposition(damped.rows(), damped.cols());
    decomposition.setThreshold(Digits50("1e-45"));
    decomposition.compute(damped);
    return decomposition.solve(right);
}

// Towards constraints in doubles, by the rule of `iterate`, as far as they have digits: a way of many steps that fifty digits
// would make dear, and that leaves to them the last two or three.
void approach(MotionEquations& equations, std::vector<Digits50>& point, const std::vector<TrimEquation>& wanted,
              const Column50& units, const std::vector<std::size_t>& columns, const Column50& weight) {
    const auto as_double = [](const Digits50& value) { return static_cast<double>(value); };
    const Eigen::VectorXd weights = weight.unaryExpr(as_double), sizes = units.unaryExpr(as_double);
    const auto nu = at_index(equations.speeds());
    Eigen::VectorXd error(at_index(wanted.size()));
    Eigen::MatrixXd J(error.size(), at_index(columns.size()));
    const auto linearise_at = [&](std::span<const Digits50> at) {
        const std::optional<RoughRows> rows = equations.rough_rows_at(at);
        if (!rows) return false;
        Eigen::RowVectorXd slope(2 * nu);
        for (Eigen::Index k = 0; k < error.size(); ++k) {
            const TrimEquation& e = wanted[static_cast<std::size_t>(k)];
            const auto i = at_index(e.index);
            const bool position = e.kind == TrimEquation::Kind::position;
            error(k) = weights(k) * (position ? rows->phi(i) : rows->psi(i));
            slope.setZero();
            if (position)
                slope.head(nu) = rows->P.row(i);
            else
                slope = rows->V.row(i);
            for (std::size_t c = 0; c < columns.size(); ++c)
                J(k, at_index(c)) = weights(k) * slope(at_index(columns[c])) * sizes(at_index(columns[c]));
        }
        return true;
    };
    constexpr double k_close = 1e-13;
    if (!linearise_at(point)) return;
    for (int iteration = 0; iteration < 60 && error.cwiseAbs().maxCoeff() > k_close; ++iteration) {
        const double damping = std::min(error.norm(), J.norm() / 100), merit = error.squaredNorm();
        Eigen::MatrixXd square = J * J.transpose();
        square.diagonal().array() += damping * damping;
        const Eigen::LDLT<Eigen::MatrixXd> factors(square);
        const Eigen::VectorXd pivots = factors.vectorD();
        if (!(pivots.minCoeff() > 1e-8 * pivots.maxCoeff())) return;
        const Eigen::VectorXd reduced = -(J.transpose() * factors.solve(error));
        std::vector<Digits50> next;
        double share = 1;
        bool better = false;
        for (int halving = 0; halving < 20 && !better; ++halving, share /= 2) {
            Column50 step = Column50::Zero(units.size());
            for (std::size_t c = 0; c < columns.size(); ++c)
                step(at_index(columns[c])) = Digits50(share * reduced(at_index(c)) * sizes(at_index(columns[c])));
            next = point;
            equations.move(next, step);
            equations.normalise(next);
            better = linearise_at(next) && error.squaredNorm() < merit;
        }
        if (!better) return;
        point = std::move(next);
    }
}

// `constraints`: nothing else is wanted, which needs no accelerations on the way
TrimSearch iterate(MotionEquations& equations, bool constraints, std::vector<Digits50>& point,
                   const std::vector<TrimEquation>& wanted, const Column50& units, const std::vector<std::size_t>& free) {
    const auto numbers_at = [&](std::span<const Digits50> p) { return constraints ? equations.rows_at(p) : equations.at(p); };
    TrimSearch out;
    out.numbers = numbers_at(point);
    if (!out.numbers.finite) {
        out.finite = false;
        return out;
    }
    if (wanted.empty()) {
        out.converged = true;
        return out;
    }
    std::vector<std::size_t> columns = free;
    if (columns.empty())
        for (std::size_t i = 0; i < equations.variations().size(); ++i) columns.push_back(i);
    // sizes of the state, against which a step is small
    const auto size_of = [&](std::span<const Digits50> p) {
        Digits50 size(1);
        for (std::size_t k = 0; k < equations.variations().size(); ++k) {
            const Variation& v = equations.variations()[k];
            if (v.kind == Variation::Kind::turn) continue;
            const std::size_t place = 1 + (v.kind == Variation::Kind::speed ? equations.coordinates() : 0) + v.index;
            size = std::max(size, Digits50(abs(p[place]) / units(at_index(k))));
        }
        return size;
    };
    bool close = false;
    Column50 weight;  // of the equations
    for (int iteration = 0; iteration < 80; ++iteration) {
        const Linearised at = linearise(equations, out.numbers, point, wanted);
        Matrix50 J(at.slope.rows(), at_index(columns.size()));
        for (std::size_t k = 0; k < columns.size(); ++k)
            J.col(at_index(k)) = at.slope.col(at_index(columns[k])) * units(at_index(columns[k]));
        // Constraints by their length at the start, the others in the units of mass. Not by their length now: an equation whose
        // gradient vanishes where the others hold must fade, or it would stop the iteration from being quadratic.
        if (weight.size() == 0) {
            weight.resize(at.error.size());
            for (std::size_t k = 0; k < wanted.size(); ++k) {
                const TrimEquation& e = wanted[k];
                const auto i = at_index(k);
                if (e.kind == TrimEquation::Kind::position || e.kind == TrimEquation::Kind::velocity) {
                    const Digits50 length = J.row(i).norm();
                    weight(i) = length > 0 ? Digits50(1 / length) : Digits50(1);
                } else {
                    const std::size_t speed = e.kind == TrimEquation::Kind::speed_rate ? equations.speeds() : 0;
                    weight(i) = 1 / units(at_index(speed + e.index));
                }
            }
            if (constraints) {
                const std::vector<Digits50> start = point;
                approach(equations, point, wanted, units, columns, weight);
                if (MotionNumbers near = numbers_at(point); near.finite)
                    out.numbers = std::move(near);
                else
                    point = start;
                continue;
            }
        }
        const Column50 error = at.error.cwiseProduct(weight);
        J = Matrix50(weight.asDiagonal() * J);
        Eigen::Index worst = 0;
        const Digits50 missed = error.cwiseAbs().maxCoeff(&worst);
        out.worst = static_cast<std::size_t>(worst);
        out.residual = at.error(worst);
        const Digits50 size = size_of(point);
        out.nearly = missed <= size * Digits50(1e-10);
        if (missed <= size * Digits50(1e-40) && (close || missed == 0)) {
            out.converged = true;
            return out;
        }
        close = missed <= size * Digits50(1e-40);
        // Damped by what is missing (Levenberg, Marquardt): nothing at the end, where convergence stays quadratic even onto
        // states that are not isolated; but far off no faint combination of equations may govern the step. Spins about the
        // principal axes of a body would all be led to rest without it.
        const Digits50 damping = std::min(Digits50(error.norm()), Digits50(J.norm() / 100));
        const Column50 reduced = damped_step(J, error, damping, constraints);
        if (reduced.norm() <= size * Digits50(1e-45)) {  // at round-off, or at the nearest that there is
            out.converged = missed <= size * Digits50(1e-35);
            return out;
        }
        // whole steps, halved while they lead away
        const std::vector<Digits50> before = point;
        const Digits50 merit = error.squaredNorm();
        Digits50 share(1);
        bool better = false;
        for (int halving = 0; halving < 40 && !better; ++halving, share /= 2) {
            Column50 step = Column50::Zero(units.size());
            for (std::size_t k = 0; k < columns.size(); ++k)
                step(at_index(columns[k])) = reduced(at_index(k)) * units(at_index(columns[k])) * share;
            point = before;
            equations.move(point, step);
            equations.normalise(point);
            MotionNumbers next = numbers_at(point);
            if (!next.finite) continue;
            const Column50 now = linearise(equations, next, point, wanted).error.cwiseProduct(weight);
            better = now.squaredNorm() < merit || close;
            if (better) out.numbers = std::move(next);
        }
        if (!better) {
            point = before;
            out.numbers = numbers_at(point);
            out.converged = missed <= size * Digits50(1e-35);
            return out;
        }
    }
    return out;
}

}  // namespace

SpeedRateSlopes speed_rate_slopes(const MotionNumbers& at, const Matrix50& directions) {
    SpeedRateSlopes out;
    const Eigen::Index nu = at.speed_rates.size();
    Eigen::FullPivLU<Matrix50> lu(at.R_z);
    lu.setThreshold(rank_bar());
    const Matrix50 right = -at.R_x * directions;
    out.by_x = Matrix50(lu.solve(right)).topRows(nu);
    if (lu.rank() < at.R_z.cols()) {
        const Matrix50 kernel = lu.kernel();
        const Digits50 size = kernel.cwiseAbs().maxCoeff();
        out.determined = kernel.topRows(nu).cwiseAbs().maxCoeff() <= size * Digits50(1e-20);
    }
    return out;
}

Column50 units_of(const MotionNumbers& at) {
    const Eigen::Index nu = at.speed_rates.size();
    Column50 inertia(2 * nu);
    inertia.head(nu) = (at.Y.transpose() * at.M * at.Y).diagonal();
    inertia.tail(nu) = at.M.diagonal();
    Digits50 lightest(0);
    for (Eigen::Index i = 0; i < 2 * nu; ++i)
        if (inertia(i) > 0 && (lightest == 0 || inertia(i) < lightest)) lightest = inertia(i);
    Column50 out(2 * nu);
    for (Eigen::Index i = 0; i < 2 * nu; ++i)
        out(i) = lightest == 0 ? Digits50(1) : Digits50(1 / sqrt(Digits50(inertia(i) > 0 ? inertia(i) : lightest)));
    return out;
}

TrimSearch search(MotionEquations& equations, std::vector<Digits50>& point, const std::vector<TrimEquation>& wanted,
                  const Column50& units, const std::vector<std::size_t>& free) {
    const bool constraints = equations.kinks().empty() && std::all_of(wanted.begin(), wanted.end(), [](const TrimEquation& e) {
                                 return e.kind == TrimEquation::Kind::position || e.kind == TrimEquation::Kind::velocity;
                             });
    TrimSearch out = iterate(equations, constraints, point, wanted, units, free);
    if (constraints && out.converged) {
        out.numbers = equations.at(point);
        out.finite = out.converged = out.numbers.finite;
    }
    return out;
}

}  // namespace appell
