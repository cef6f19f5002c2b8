#include "doctor/row_shape.hpp"

#include <algorithm>

#include "expr/differentiate.hpp"
#include "tape/dense_rank.hpp"

namespace appell {

namespace {

const Digits50 k_zero = 1e-30;

// the row on the plane
class OnPlane {
public:
    OnPlane(const RowsAt& at, std::size_t row, const std::vector<Vector50>& S) : at_(at), row_(row), S_(S), base_(at.speeds()) {}

    void move_base(std::span<const Digits50> y) { base_ = point(y); }
    [[nodiscard]] const Vector50& base() const { return base_; }
    [[nodiscard]] Vector50 point(std::span<const Digits50> y) const {
        Vector50 u = base_;
        for (std::size_t i = 0; i < y.size(); ++i)
            for (std::size_t j = 0; j < u.size(); ++j) u[j] += y[i] * S_[i][j];
        return u;
    }
    // the gradient by y; `size` grows to the largest that the gradient by u has been
    RowValue operator()(std::span<const Digits50> y, Digits50& size) const {
        const RowValue whole = at_.at(row_, point(y));
        size = std::max(size, largest(whole.gradient));
        return {whole.value, restricted(whole.gradient)};
    }
    [[nodiscard]] Vector50 restricted(const Vector50& gradient) const {
        Vector50 out;
        for (const Vector50& s : S_) out.push_back(dot(s, gradient));
        return out;
    }
    // n.y = 0 through the base, in the speeds: (normal, constant). Any normal whose restriction is n will do: the one within the
    // plane.
    [[nodiscard]] Vector50 equation(const Vector50& n) const {
        std::vector<Vector50> rows(S_.begin(), S_.end());
        Vector50 normal = least_solution(rows, n, base_.size()).value_or(Vector50(base_.size(), Digits50(0)));
        normal.push_back(-dot(normal, base_));
        return normal;
    }

private:
    const RowsAt& at_;
    std::size_t row_;
    const std::vector<Vector50>& S_;
    Vector50 base_;
};

Vector50 flat(const std::vector<Vector50>& rows) {
    Vector50 out;
    for (const Vector50& row : rows) out.insert(out.end(), row.begin(), row.end());
    return out;
}

bool vanishes(std::span<const Digits50> v, const Digits50& size) { return largest(v) <= k_zero * size; }

RowShape found(LinearTruth truth, bool quadratic, std::size_t count) { return {false, truth, quadratic, count, {}}; }

// phi = value + g.y + y'Hy/2
RowShape quadratic_shape(const OnPlane& plane, const RowValue& here, const std::vector<Vector50>& H, double step) {
    const std::size_t d = H.size();
    std::vector<Vector50> form(d + 1, Vector50(d + 1));
    for (std::size_t i = 0; i < d; ++i) {
        for (std::size_t j = 0; j < d; ++j) form[i][j] = H[i][j] * step * step / 2;
        form[i][d] = form[d][i] = here.gradient[i] * step / 2;
    }
    form[d][d] = here.value;
    const auto [positive, negative] = inertia(form);
    const std::size_t rank = positive + negative;
    if (positive > 0 && negative > 0) {
        if (rank > 2) return {};
        RowShape out = found(LinearTruth::product, true, 2);
        if (largest(here.gradient) * step > Digits50(1e-12) * largest(flat(form))) out.normals = {plane.equation(here.gradient)};
        return out;
    }
    // semidefinite: it holds where H y + g = 0 and, as the whole form's kernel, nowhere else
    const DenseRank hessian_rank(flat(H), d);
    if (hessian_rank.rank() < rank) return found(LinearTruth::contradicts, true, 0);
    RowShape out = found(rank == 1 ? LinearTruth::square : LinearTruth::squares, true, rank);
    for (const std::size_t i : hessian_rank.pivot_rows()) {
        Vector50 equation = plane.equation(H[i]);
        equation.back() += here.gradient[i];
        out.normals.push_back(std::move(equation));
    }
    return out;
}

// It must vanish on base + span(directions) far away, and not beside it.
bool vanishes_along(const OnPlane& plane, const std::vector<Vector50>& directions, const Vector50& beside, double step) {
    Draws draws(5);
    Digits50 ignored(0);
    int good = 0;
    for (int tries = 0; tries < 24 && good < 4; ++tries) {
        Vector50 y(beside.size(), Digits50(0));
        for (const Vector50& direction : directions) {
            const double draw = (tries < 12 ? 2.0 : 0.2) * step * draws.symmetric();  // closer where the row has no value
            for (std::size_t i = 0; i < y.size(); ++i) y[i] += draw * direction[i];
        }
        Vector50 off = y;
        for (std::size_t i = 0; i < y.size(); ++i) off[i] += step * beside[i] / 10;
        const Digits50 on = plane(y, ignored).value, away = plane(off, ignored).value;
        if (!is_finite(on) || !is_finite(away)) continue;
        if (!(abs(on) <= Digits50(1e-25) * abs(away))) return false;
        ++good;
    }
    return good >= 3;
}

std::vector<Vector50> hessian(const ConstrainedDynamics& d, const Samples& samples, std::span<const Digits50> state,
                              std::size_t row, const Vector50& u, const std::vector<Vector50>& S) {
    Graph& g = d.graph();
    const auto [gradient, columns] = gradient_entries(d, row);
    std::vector<SymbolId> speeds;
    for (const Speed& s : d.model->speeds) speeds.push_back(s.u);
    const SparseMatrix second = jacobian(g, gradient, speeds);
    std::vector<NodeId> roots;
    for (const SparseEntry& e : second.entries) roots.push_back(e.value);
    std::vector<Digits50> values = samples.values(g, state);
    for (std::size_t i = 0; i < u.size(); ++i) values[speeds[i].index()] = u[i];
    const std::vector<Digits50> found = evaluate<Digits50>(g, roots, values);
    std::vector<Vector50> out(S.size(), Vector50(S.size(), Digits50(0)));
    for (std::size_t k = 0; k < found.size(); ++k)
        for (std::size_t i = 0; i < S.size(); ++i)
            for (std::size_t j = 0; j < S.size(); ++j)
                out[i][j] += S[i][columns[second.entries[k].row]] * found[k] * S[j][second.entries[k].column];
    return out;
}

}  // namespace

Inertia inertia(std::vector<Vector50> a, const Digits50& bar) {
    Inertia out;
    const Digits50 size = largest(flat(a));
    std::vector<std::size_t> left(a.size());
    for (std::size_t i = 0; i < left.size(); ++i) left[i] = i;
    const auto remove = [&](std::size_t i) { left.erase(std::find(left.begin(), left.end(), i)); };
    while (!left.empty()) {
        std::size_t p = left.front(), r = p, s = p;
        for (const std::size_t i : left) {
            if (abs(a[i][i]) > abs(a[p][p])) p = i;
            for (const std::size_t j : left)
                if (i < j && (r == s || abs(a[i][j]) > abs(a[r][s]))) r = i, s = j;
        }
        const Digits50 off = r == s ? Digits50(0) : Digits50(abs(a[r][s]));
        if (!(std::max(Digits50(abs(a[p][p])), off) > bar * size)) break;
        // Bunch and Parlett: a block of two, of one sign each, unless the diagonal is large
        if (abs(a[p][p]) >= Digits50(0.6) * off) {
            ++(a[p][p] > 0 ? out.positive : out.negative);
            remove(p);
            for (const std::size_t i : left)
                for (const std::size_t j : left) a[i][j] -= a[i][p] * a[p][j] / a[p][p];
        } else {
            ++out.positive, ++out.negative;
            remove(r), remove(s);
            const Digits50 determinant = a[r][r] * a[s][s] - a[r][s] * a[r][s];
            std::vector<Vector50> next = a;
            for (const std::size_t i : left)
                for (const std::size_t j : left)
                    next[i][j] -=
                        (a[i][r] * (a[s][s] * a[r][j] - a[r][s] * a[s][j]) + a[i][s] * (a[r][r] * a[s][j] - a[r][s] * a[r][j])) /
                        determinant;
            a = std::move(next);
        }
    }
    return out;
}

RowShape row_shape(const ConstrainedDynamics& dynamics, const Samples& samples, std::span<const Digits50> state, std::size_t row,
                   const std::vector<Vector50>& S) {
    const RowsAt at(dynamics, samples, state);
    OnPlane plane(at, row, S);
    const std::size_t d = S.size();
    const double step = at.speed_size();
    Digits50 size(0);
    const Vector50 zero(d, Digits50(0));
    RowValue here = plane(zero, size);
    if (!here.finite()) return {};
    std::vector<Vector50> H;
    bool finite = true;
    for (std::size_t i = 0; i < d; ++i) {
        Vector50 y = zero;
        y[i] = step;
        const RowValue there = plane(y, size);
        finite = finite && there.finite();
        H.push_back(there.gradient);
        for (std::size_t j = 0; j < d; ++j) H[i][j] = (H[i][j] - here.gradient[j]) / step;
    }
    bool quadratic = finite;
    Draws draws(3);
    for (int draw = 0; draw < 3 && quadratic; ++draw) {
        Vector50 y;
        for (std::size_t i = 0; i < d; ++i) y.emplace_back(2 * step * draws.symmetric());
        const RowValue there = plane(y, size);
        quadratic = there.finite();
        for (std::size_t i = 0; i < d && quadratic; ++i)
            quadratic = abs(there.gradient[i] - here.gradient[i] - dot(H[i], y)) <= k_zero * size;
    }
    if (quadratic) {
        if (!vanishes(flat(H), size / step)) return quadratic_shape(plane, here, H, step);
        if (vanishes(here.gradient, size))
            return found(abs(here.value) <= Digits50(1e-25) * size * step ? LinearTruth::follows : LinearTruth::contradicts, true,
                         0);
        RowShape out = found(LinearTruth::affine, true, 1);
        out.normals = {plane.equation(here.gradient)};
        out.normals.front().back() += here.value;
        return out;
    }
    if (!(abs(here.value) <= Digits50(1e-15) * size * step)) return {};  // not a consistent state
    if (!(largest(here.gradient) <= Digits50(1e-12) * size)) {
        // directions in the touching plane: e_i without its part along the gradient
        const Digits50 square = dot(here.gradient, here.gradient);
        std::vector<Vector50> directions;
        for (std::size_t i = 0; i < d; ++i) {
            Vector50 direction = zero;
            for (std::size_t j = 0; j < d; ++j) direction[j] = -here.gradient[i] * here.gradient[j] / square;
            direction[i] += 1;
            directions.push_back(std::move(direction));
        }
        Vector50 beside = here.gradient;
        for (Digits50& x : beside) x /= sqrt(square);
        if (!vanishes_along(plane, directions, beside, step)) return {};
        RowShape out = found(LinearTruth::factor, false, 1);
        out.normals = {plane.equation(here.gradient)};
        return out;
    }
    // The gradient vanishes where the row holds: Newton's iteration on the gradient, as the row itself fixes only half the
    // digits.
    for (int iteration = 0; iteration < 4; ++iteration) {
        H = hessian(dynamics, samples, state, row, plane.base(), S);
        if (!is_finite(largest(flat(H)))) return {};
        std::vector<Vector50> rows;
        Vector50 right;
        const DenseRank rough(flat(H), d, Digits50(1e-10));
        for (const std::size_t i : rough.pivot_rows()) {
            rows.push_back(H[i]);
            right.push_back(-here.gradient[i]);
        }
        const auto step_back = least_solution(rows, right, d);
        if (!step_back || rows.empty()) return {};
        plane.move_base(*step_back);
        here = plane(zero, size);
        if (!here.finite()) return {};
    }
    H = hessian(dynamics, samples, state, row, plane.base(), S);
    const auto [positive, negative] = inertia(H, Digits50(1e-25));
    if (!vanishes(here.gradient, size) || (positive > 0) == (negative > 0)) return {};
    const DenseRank rank(flat(H), d, Digits50(1e-25));
    if (rank.rank() == 0) return {};
    Vector50 beside = H[rank.pivot_rows().front()];
    const Digits50 length = sqrt(dot(beside, beside));
    for (Digits50& x : beside) x /= length;
    if (!vanishes_along(plane, rank.null_space(), beside, step)) return {};
    RowShape out = found(rank.rank() == 1 ? LinearTruth::square : LinearTruth::squares, false, rank.rank());
    for (const std::size_t i : rank.pivot_rows()) out.normals.push_back(plane.equation(H[i]));
    return out;
}

}  // namespace appell
