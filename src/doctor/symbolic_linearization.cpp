#include "doctor/symbolic_linearization.hpp"

#include <algorithm>

#include "expr/differentiate.hpp"
#include "expr/evaluate.hpp"
#include "expr/linear_split.hpp"
#include "expr/print.hpp"
#include "expr/substitute.hpp"
#include "tape/zero_test.hpp"

namespace appell {

namespace {

using Rows = std::vector<std::vector<NodeId>>;
using Indices = std::vector<std::size_t>;

class SymbolicMatrices {
public:
    SymbolicMatrices(const ConstrainedDynamics& d, const LinearSystem& system)
        : d_(d), m_(*d.model), g_(d.graph()), system_(system), n_(m_.speeds.size()), zero_(g_.constant(0)) {
        for (const Coordinate& c : m_.coordinates) q_.push_back(c.q);
        for (const Speed& s : m_.speeds) u_.push_back(s.u);
        for (const Speed& s : m_.speeds) ud_.push_back(s.rate);
        x_ = q_;
        x_.insert(x_.end(), u_.begin(), u_.end());
        for (const Input& i : m_.inputs) w_.push_back(i.symbol);
        for (const Variation& v : system.variables) {
            (v.kind == Variation::Kind::speed ? speeds_ : coordinates_).push_back(v.index);
        }
        for (const Variation& v : system.dependent)
            (v.kind == Variation::Kind::speed ? dependent_speeds_ : dependent_coordinates_).push_back(v.index);
    }

    SymbolicLinearization run(std::size_t longest) {
        if (!describe_state()) return {};
        if (!tangents()) return {};
        SymbolicLinearization out;
        const std::size_t n = system_.variables.size(), k = w_.size();
        out.A.assign(n * n, NodeId());
        out.B.assign(n * k, NodeId());
        coordinate_rows(out);
        speed_rows(out);
        keep_what_holds(out.A, system_.A, longest);
        keep_what_holds(out.B, system_.B, longest);
        return out;
    }

private:
    [[nodiscard]] NodeId here(NodeId node) { return substitute(g_, node, state_); }
    [[nodiscard]] bool is_zero(NodeId node) const { return g_.is_constant(node, 0) || vanishes_identically(g_, node); }

    Rows slopes(std::span<const NodeId> roots, std::span<const SymbolId> variables) {
        return dense(jacobian(g_, roots, variables), false);
    }

    // a matrix at the state, what vanishes put to zero
    Rows dense(const SparseMatrix& matrix, bool symmetric) {
        Rows out(matrix.rows, std::vector<NodeId>(matrix.columns, zero_));
        std::vector<NodeId> values;
        for (const SparseEntry& e : matrix.entries) values.push_back(e.value);
        values = substitute(g_, values, state_);
        const std::vector<bool> vanishes = identically_zero(g_, values);
        for (std::size_t k = 0; k < values.size(); ++k) {
            if (vanishes[k]) continue;
            const SparseEntry& e = matrix.entries[k];
            out[e.row][e.column] = values[k];
            if (symmetric) out[e.column][e.row] = values[k];
        }
        return out;
    }

    Rows times(const Rows& a, const Rows& b, std::size_t columns) {
        Rows out(a.size(), std::vector<NodeId>(columns, zero_));
        for (std::size_t i = 0; i < a.size(); ++i)
            for (std::size_t j = 0; j < columns; ++j) {
                std::vector<NodeId> terms;
                for (std::size_t k = 0; k < b.size(); ++k)
                    if (a[i][k] != zero_ && b[k][j] != zero_) terms.push_back(g_.mul(a[i][k], b[k][j]));
                const NodeId sum = terms.empty() ? zero_ : g_.sum(terms);
                if (!is_zero(sum)) out[i][j] = sum;
            }
        return out;
    }

    // J x + right = 0, one unknown after the other; none where equations would have to be solved together
    std::optional<Rows> one_by_one(const Rows& J, const Rows& right, std::size_t unknowns, std::size_t columns) {
        Rows x(unknowns, std::vector<NodeId>(columns, zero_));
        std::vector<bool> solved(unknowns, false);
        for (std::size_t count = 0; count < unknowns;) {
            bool progress = false;
            for (std::size_t i = 0; i < J.size(); ++i) {
                std::size_t open = 0, which = 0;
                for (std::size_t k = 0; k < unknowns; ++k)
                    if (!solved[k] && J[i][k] != zero_) {
                        ++open;
                        which = k;
                    }
                if (open != 1) continue;
                for (std::size_t j = 0; j < columns; ++j) {
                    std::vector<NodeId> terms{right[i][j]};
                    for (std::size_t k = 0; k < unknowns; ++k)
                        if (solved[k]) terms.push_back(g_.mul(J[i][k], x[k][j]));
                    const NodeId value = g_.neg(g_.div(g_.sum(terms), J[i][which]));
                    x[which][j] = is_zero(value) ? zero_ : value;
                }
                solved[which] = true;
                progress = true;
                ++count;
            }
            if (!progress) return std::nullopt;
        }
        return x;
    }

    // --- the state: zeros, and what the constraints and the equations give
    void put(SymbolId symbol, const Digits50& value) {
        if (abs(value) <= Digits50(1e-30)) state_.set(symbol, zero_);
    }

    // solves equations for symbols, each from one in which it stands alone and linearly
    void resolve(std::span<const NodeId> equations, std::vector<SymbolId> unknowns) {
        for (bool progress = true; progress;) {
            progress = false;
            for (const NodeId equation : equations) {
                const NodeId now = here(equation);
                std::erase_if(unknowns, [&](SymbolId s) { return state_.find(s).valid(); });
                if (unknowns.empty()) return;
                const LinearSplit split = split_linear(g_, std::span(&now, 1), unknowns);
                if (split.failure) continue;
                std::vector<const SparseEntry*> present;
                for (const SparseEntry& e : split.coefficients.entries)
                    if (!is_zero(e.value)) present.push_back(&e);
                if (present.size() != 1) continue;
                state_.set(unknowns[present[0]->column], g_.neg(g_.div(split.remainders[0], present[0]->value)));
                progress = true;
            }
        }
    }

    bool describe_state() {
        if (!d_.C.empty() || !d_.actuators.empty() || n_ > 12) return false;
        for (const Frame& frame : m_.frames)
            if (std::holds_alternative<QuaternionRotation>(frame.orientation)) return false;
        values_.assign(g_.symbol_count(), Digits50(0));
        values_[m_.time.index()] = system_.point[0];
        std::size_t at = 1;
        for (const SymbolId s : x_) values_[s.index()] = system_.point[at++];
        for (const Parameter& p : m_.parameters) values_[p.symbol.index()] = system_.point[at++];
        for (const SymbolId s : w_) values_[s.index()] = system_.point[at++];
        for (std::size_t j = 0; j < n_; ++j) values_[ud_[j].index()] = system_.speed_rates[j];
        std::vector<SymbolId> multipliers;
        for (std::size_t i = 0; i < d_.rows.size(); ++i) {
            if (d_.rows[i].level == Level::acceleration) return false;
            multipliers.push_back(d_.rows[i].multiplier);
            values_[multipliers.back().index()] = system_.multipliers[i];
        }
        for (const SymbolId s : x_) put(s, values_[s.index()]);
        for (const SymbolId s : ud_) put(s, values_[s.index()]);
        for (const SymbolId s : multipliers) put(s, values_[s.index()]);

        // M u' - A' lambda - f and A u' - b
        std::vector<std::vector<NodeId>> terms(n_), rows(d_.rows.size());
        const auto product = [&](NodeId value, SymbolId symbol) { return g_.mul(value, g_.symbol_node(symbol)); };
        for (const SparseEntry& e : d_.M().entries) {
            terms[e.row].push_back(product(e.value, ud_[e.column]));
            if (e.row != e.column) terms[e.column].push_back(product(e.value, ud_[e.row]));
        }
        for (const SparseEntry& e : d_.A.entries) {
            terms[e.column].push_back(g_.neg(product(e.value, multipliers[e.row])));
            rows[e.row].push_back(product(e.value, ud_[e.column]));
        }
        for (std::size_t i = 0; i < n_; ++i) {
            terms[i].push_back(g_.neg(d_.f()[i]));
            equations_.push_back(g_.sum(terms[i]));
        }
        for (std::size_t i = 0; i < d_.rows.size(); ++i) {
            rows[i].push_back(g_.neg(d_.b[i]));
            row_equations_.push_back(g_.sum(rows[i]));
            velocity_.push_back(d_.rows[i].velocity);
            if (d_.rows[i].level == Level::position) position_.push_back(d_.rows[i].position);
        }
        std::vector<SymbolId> unknowns;
        for (const std::size_t j : dependent_speeds_) unknowns.push_back(u_[j]);
        resolve(velocity_, unknowns);
        unknowns.clear();
        for (const std::size_t j : dependent_speeds_) unknowns.push_back(ud_[j]);
        resolve(row_equations_, unknowns);
        resolve(equations_, multipliers);
        return true;
    }

    // --- all variations by those of y; how dependent accelerations follow
    static Rows columns_of(const Rows& matrix, const Indices& columns, std::size_t offset = 0) {
        Rows out(matrix.size());
        for (std::size_t i = 0; i < matrix.size(); ++i)
            for (const std::size_t j : columns) out[i].push_back(matrix[i][offset + j]);
        return out;
    }

    bool tangents() {
        const std::size_t ny = system_.variables.size();
        T_.assign(2 * n_, std::vector<NodeId>(ny, zero_));
        for (std::size_t k = 0; k < ny; ++k) {
            const Variation& v = system_.variables[k];
            T_[(v.kind == Variation::Kind::speed ? n_ : 0) + v.index][k] = g_.constant(1);
        }
        const auto follow = [&](std::span<const NodeId> roots, const Indices& unknowns, std::size_t offset) {
            const Rows J = slopes(roots, x_);
            const auto found = one_by_one(columns_of(J, unknowns, offset), times(J, T_, ny), unknowns.size(), ny);
            if (!found) return false;
            for (std::size_t k = 0; k < unknowns.size(); ++k) T_[offset + unknowns[k]] = (*found)[k];
            return true;
        };
        if (!follow(position_, dependent_coordinates_, 0) || !follow(velocity_, dependent_speeds_, n_)) return false;
        // the rows' accelerations at u_I' = 0
        const Rows A = dense(d_.A, false);
        const auto S =
            one_by_one(columns_of(A, dependent_speeds_), times(slopes(row_equations_, x_), T_, ny), dependent_speeds_.size(), ny);
        if (!S) return false;
        S_.assign(n_, std::vector<NodeId>(ny, zero_));
        for (std::size_t k = 0; k < dependent_speeds_.size(); ++k) S_[dependent_speeds_[k]] = (*S)[k];
        return true;
    }

    void coordinate_rows(SymbolicLinearization& out) {
        const std::size_t ny = system_.variables.size();
        std::vector<NodeId> rates;
        for (const std::size_t i : coordinates_) rates.push_back(d_.kinematics->coordinate_rates()[i]);
        const Rows rows = times(slopes(rates, x_), T_, ny);
        for (std::size_t i = 0; i < rows.size(); ++i) {
            for (std::size_t j = 0; j < ny; ++j) out.A[i * ny + j] = rows[i][j];
            for (std::size_t j = 0; j < w_.size(); ++j) out.B[i * w_.size() + j] = zero_;
        }
    }

    void speed_rows(SymbolicLinearization& out) {
        const std::size_t ny = system_.variables.size(), p = speeds_.size();
        // D: speeds by independent ones, and its transpose
        Rows D(n_, std::vector<NodeId>(p, zero_)), Dt(p, std::vector<NodeId>(n_, zero_));
        for (std::size_t k = 0; k < p; ++k)
            for (std::size_t i = 0; i < n_; ++i) D[i][k] = Dt[k][i] = T_[n_ + i][coordinates_.size() + k];
        const Rows M = dense(d_.M(), true), reduced = times(times(Dt, M, n_), D, p);
        const Rows along = times(slopes(equations_, x_), T_, ny), coriolis = times(M, S_, ny);
        Rows sum(n_, std::vector<NodeId>(ny, zero_));
        for (std::size_t i = 0; i < n_; ++i)
            for (std::size_t j = 0; j < ny; ++j) sum[i][j] = g_.add(along[i][j], coriolis[i][j]);
        const Rows F = times(Dt, sum, ny), by_inputs = times(Dt, slopes(equations_, w_), w_.size());
        for (std::size_t k = 0; k < p; ++k) {
            bool alone = reduced[k][k] != zero_;
            for (std::size_t i = 0; i < p; ++i) alone = alone && (i == k || reduced[k][i] == zero_);
            if (!alone) continue;
            const std::size_t row = coordinates_.size() + k;
            const auto over = [&](NodeId value) { return value == zero_ ? zero_ : g_.neg(g_.div(value, reduced[k][k])); };
            for (std::size_t j = 0; j < ny; ++j) out.A[row * ny + j] = over(F[k][j]);
            for (std::size_t j = 0; j < w_.size(); ++j) out.B[row * w_.size() + j] = over(by_inputs[k][j]);
        }
    }

    // an expression that is not the number it stands for, or that nobody would read, is no entry
    void keep_what_holds(std::vector<NodeId>& nodes, const std::vector<Digits50>& numbers, std::size_t longest) {
        values_.resize(g_.symbol_count(), Digits50(0));
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            if (!nodes[i].valid()) continue;
            const Digits50 value = evaluate<Digits50>(g_, std::span<const NodeId>(&nodes[i], 1), values_).front();
            const bool same = abs(Digits50(value - numbers[i])) <= Digits50(1e-25) * Digits50(1 + abs(numbers[i]));
            if (!same || to_text(g_, nodes[i]).size() > longest) nodes[i] = NodeId();
        }
    }

    const ConstrainedDynamics& d_;
    const Model& m_;
    Graph& g_;
    const LinearSystem& system_;
    std::size_t n_;
    NodeId zero_;
    std::vector<SymbolId> q_, u_, ud_, x_, w_;
    Indices coordinates_, speeds_;                      // of y
    Indices dependent_coordinates_, dependent_speeds_;  // that follow
    std::vector<Digits50> values_;                      // by symbol
    Substitution state_;
    std::vector<NodeId> equations_, row_equations_, position_, velocity_;
    Rows T_, S_;
};

}  // namespace

SymbolicLinearization symbolic_linearization(const ConstrainedDynamics& dynamics, const LinearSystem& system,
                                             std::size_t longest) {
    return SymbolicMatrices(dynamics, system).run(longest);
}

}  // namespace appell
