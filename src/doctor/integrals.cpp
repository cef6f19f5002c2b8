#include "doctor/integrals.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

#include "expr/dependence.hpp"
#include "expr/sweep.hpp"
#include "tape/dense_rank.hpp"

namespace appell {

namespace {

constexpr std::size_t k_most_terms = 220;  // in one round: the solve costs the cube
const Digits50 k_zero = 1e-28;             // relative; of X(F) at a configuration
constexpr int k_most_denominator = 64;     // of coefficients, all parameters being terms

// Configurations with everything that expressions of them need. Where position rows bind the coordinates these are the samples;
// otherwise any numbers will do, and there is no end of them.
class Configurations {
public:
    Configurations(const Graph& g, const Samples& samples, std::span<const SymbolId> free, bool bound)
        : g_(g), samples_(samples), free_(free.begin(), free.end()), bound_(bound) {}

    [[nodiscard]] std::size_t most() const { return bound_ ? samples_.size() : 1'000; }
    [[nodiscard]] std::vector<Digits50> values(std::size_t k) {
        std::vector<Digits50> out = samples_.values(g_, samples_.states[k % samples_.size()]);
        if (bound_ || k < samples_.size()) return out;
        for (const SymbolId symbol : free_) {
            state_ = state_ * 6364136223846793005ull + 1442695040888963407ull;
            out[symbol.index()] += Digits50(static_cast<double>(state_ >> 11)) / Digits50(9007199254740992.0);
        }
        return out;
    }

private:
    const Graph& g_;
    const Samples& samples_;
    std::vector<SymbolId> free_;
    bool bound_;
    std::uint64_t state_ = 0x9e3779b97f4a7c15ull;
};

// p/q with a small denominator
std::optional<std::pair<long, int>> as_fraction(const Digits50& x) {
    for (int q = 1; q <= k_most_denominator; ++q) {
        const Digits50 p = round(x * q);
        if (abs(p) < 1e9 && abs(x * q - p) < Digits50(1e-22)) return {{static_cast<long>(p), q}};
    }
    return std::nullopt;
}

class Search {
public:
    Search(const ConstrainedDynamics& d, const AffineRows& affine, const Distribution& dist, std::size_t wanted,
           const Samples& samples)
        : d_(d), g_(d.graph()), m_(*d.model), dist_(dist), wanted_(wanted), samples_(samples) {
        for (const std::size_t i : affine.rows)
            if (d.rows[i].level == Level::position) known_.push_back(d.rows[i].position);
        bound_ = !known_.empty();
        for (const Frame& frame : m_.frames) bound_ = bound_ || std::holds_alternative<QuaternionRotation>(frame.orientation);
        for (const std::vector<NodeId>& field : dist.fields) {
            TimeDerivative& along = along_.emplace_back(g_);
            for (std::size_t i = 0; i < dist.variables.size(); ++i) along.set_rate(dist.variables[i], field[i]);
        }
        find_atoms(affine);
    }

    std::vector<NodeId> run() {
        // nothing may move: every coordinate stays
        if (dist_.fields.empty())
            for (const SymbolId s : dist_.variables)
                if (found_.size() < wanted_) accept(g_.symbol_node(s));
        struct Round {
            int degree, parameters;
            bool inverses;
        };
        for (const Round& round : {Round{1, 0, false}, Round{1, 1, false}, Round{1, 2, false}, Round{2, 0, false},
                                   Round{2, 1, false}, Round{2, 0, true}, Round{3, 0, false}, Round{2, 2, false},
                                   Round{3, 1, false}, Round{3, 0, true}, Round{4, 0, false}}) {
            if (found_.size() >= wanted_) break;
            std::vector<NodeId> terms = products(round.degree, round.parameters, round.inverses);
            if (terms.size() <= 1 || terms.size() > k_most_terms) continue;
            solve(terms);
        }
        return found_;
    }

private:
    // What the rows are made of, without coordinates that no integral can depend on: those along which the rows let the system
    // move freely at every configuration.
    void find_atoms(const AffineRows& affine) {
        std::vector<NodeId> roots;
        for (const std::vector<NodeId>& a : affine.a)
            for (const NodeId node : a) roots.push_back(node);
        roots.insert(roots.end(), affine.c.begin(), affine.c.end());
        roots.insert(roots.end(), d_.kinematics->coordinate_rates().begin(), d_.kinematics->coordinate_rates().end());
        std::vector<SymbolId> variables;
        for (std::size_t i = 0; i < dist_.variables.size(); ++i)
            if (!free_direction(i)) variables.push_back(dist_.variables[i]);
        const auto is_variable = [&](SymbolId s) { return std::find(variables.begin(), variables.end(), s) != variables.end(); };
        // of configurations only, and of those that matter
        const auto usable = [&](NodeId node) {
            const std::vector<SymbolId> symbols = symbols_in(g_, std::span(&node, 1));
            bool varies = false;
            for (const SymbolId s : symbols) {
                if (is_variable(s))
                    varies = true;
                else if (g_.symbol(s).kind != SymbolKind::parameter)
                    return false;
            }
            return varies;
        };
        const auto add = [&](NodeId node) {
            if (std::find(atoms_.begin(), atoms_.end(), node) == atoms_.end()) atoms_.push_back(node);
        };
        for (const SymbolId s : variables) add(g_.symbol_node(s));
        Sweep sweep;
        for (const NodeId node : sweep.collect(g_, roots)) {
            switch (g_.op(node)) {
                case Op::Sin:
                case Op::Cos:
                    if (usable(node)) {
                        add(g_.make(Op::Sin, g_.operand(node, 0)));
                        add(g_.make(Op::Cos, g_.operand(node, 0)));
                    }
                    break;
                case Op::Tan:
                case Op::Exp:
                case Op::Log:
                case Op::Sqrt:
                case Op::Sinh:
                case Op::Cosh:
                case Op::Tanh:
                case Op::Atan:
                    if (usable(node)) add(node);
                    break;
                default: break;
            }
        }
        for (const SymbolId s : symbols_in(g_, roots))
            if (g_.symbol(s).kind == SymbolKind::parameter) parameters_.push_back(g_.symbol_node(s));
    }

    // the unit vector of a variable is among the velocities left, at the samples
    bool free_direction(std::size_t variable) const {
        const std::size_t n = dist_.variables.size();
        for (std::size_t k = 0; k < std::min<std::size_t>(2, samples_.size()); ++k) {
            std::vector<NodeId> nodes;
            for (const std::vector<NodeId>& field : dist_.fields) nodes.insert(nodes.end(), field.begin(), field.end());
            std::vector<Digits50> matrix = samples_.evaluate(g_, nodes, k);
            const std::size_t before = DenseRank(matrix, n).rank();
            matrix.resize(matrix.size() + n, Digits50(0));
            matrix[matrix.size() - n + variable] = 1;
            if (DenseRank(std::move(matrix), n).rank() > before) return false;
        }
        return true;
    }

    // products of atoms, up to a degree, times products of parameters, in order of degree
    std::vector<NodeId> products(int degree, int parameters, bool inverses) {
        std::vector<NodeId> atoms = atoms_;
        if (inverses) {
            for (const NodeId atom : atoms_) atoms.push_back(g_.div(g_.constant(1), atom));
            for (const NodeId atom : atoms_)
                if (g_.op(atom) == Op::Symbol) atoms.push_back(g_.make(Op::Log, atom));
        }
        std::vector<NodeId> out;
        const auto push = [&](NodeId node) {
            if (out.size() <= k_most_terms && std::find(out.begin(), out.end(), node) == out.end()) out.push_back(node);
        };
        std::vector<std::pair<NodeId, std::size_t>> level{{g_.constant(1), 0}};  // product, first atom that may follow
        std::vector<NodeId> monomials;
        for (int k = 0; k < degree && monomials.size() <= k_most_terms; ++k) {
            std::vector<std::pair<NodeId, std::size_t>> next;
            for (const auto& [product, from] : level)
                for (std::size_t i = from; i < atoms.size() && monomials.size() <= k_most_terms; ++i) {
                    const NodeId node = g_.mul(product, atoms[i]);
                    if (g_.constant_value(node)) continue;
                    next.emplace_back(node, i);
                    monomials.push_back(node);
                }
            level = std::move(next);
        }
        std::vector<NodeId> factors{g_.constant(1)};
        std::size_t begin = 0;
        for (int k = 0; k < parameters; ++k) {
            const std::size_t end = factors.size();
            for (std::size_t i = begin; i < end; ++i)
                for (const NodeId p : parameters_) {
                    const NodeId node = g_.mul(factors[i], p);
                    if (std::find(factors.begin(), factors.end(), node) == factors.end()) factors.push_back(node);
                }
            begin = end;
        }
        for (const NodeId factor : factors)
            for (const NodeId monomial : monomials) push(g_.mul(factor, monomial));
        // what does not vary with the configuration (x/x) is no term
        std::erase_if(out, [&](NodeId node) { return gradient_is_zero(node); });
        return out;
    }

    bool gradient_is_zero(NodeId node) {
        for (const SymbolId s : symbols_in(g_, std::span(&node, 1)))
            if (std::find(dist_.variables.begin(), dist_.variables.end(), s) != dist_.variables.end()) return false;
        return true;
    }

    // X(term) for all fields, at the configurations from `first` on
    std::vector<std::vector<Digits50>> slopes(std::span<const NodeId> terms, std::size_t first, std::size_t count) {
        std::vector<NodeId> nodes;
        for (TimeDerivative& along : along_)
            for (const NodeId term : terms) nodes.push_back(along(term));
        Configurations configurations(g_, samples_, dist_.variables, bound_);  // parameters are the samples' own
        std::vector<std::vector<Digits50>> rows;
        for (std::size_t k = 0; k < first + count && k < configurations.most(); ++k) {
            const std::vector<Digits50> values = configurations.values(k);
            if (k < first) continue;
            const std::vector<Digits50> numbers = evaluate<Digits50>(g_, nodes, values);
            for (std::size_t f = 0; f < along_.size(); ++f) {
                std::vector<Digits50> row(numbers.begin() + static_cast<std::ptrdiff_t>(f * terms.size()),
                                          numbers.begin() + static_cast<std::ptrdiff_t>((f + 1) * terms.size()));
                if (std::all_of(row.begin(), row.end(), [](const Digits50& x) { return is_finite(x); }))
                    rows.push_back(std::move(row));
            }
        }
        return rows;
    }

    void solve(std::span<const NodeId> terms) {
        const std::size_t n = terms.size();
        // each configuration gives an equation for every field, though not all are independent of each other
        const std::size_t wanted = n / std::max<std::size_t>(1, along_.size()) * 2 + 6;
        std::vector<std::vector<Digits50>> rows = slopes(terms, 0, wanted);
        if (rows.size() < n + 4) return;
        // Column by column: one that depends on those before it is an integral, in the simplest terms there are.
        std::vector<std::size_t> pivot_columns;
        for (std::size_t j = 0; j < n && found_.size() < wanted_; ++j) {
            Digits50 size(0);
            for (std::size_t i = 0; i < rows.size(); ++i) size = std::max(size, Digits50(abs(rows[i][j])));
            std::size_t best = pivot_columns.size();
            for (std::size_t i = best; i < rows.size(); ++i)
                if (abs(rows[i][j]) > abs(rows[best][j])) best = i;
            if (best < rows.size() && abs(rows[best][j]) > k_zero * (Digits50(1) + size)) {
                const std::size_t k = pivot_columns.size();
                std::swap(rows[k], rows[best]);
                const Digits50 pivot = rows[k][j];
                for (std::size_t c = j; c < n; ++c) rows[k][c] /= pivot;
                for (std::size_t i = 0; i < rows.size(); ++i) {
                    const Digits50 factor = rows[i][j];
                    if (i == k || factor == 0) continue;
                    for (std::size_t c = j; c < n; ++c) rows[i][c] -= factor * rows[k][c];
                }
                pivot_columns.push_back(j);
                continue;
            }
            std::vector<NodeId> sum{terms[j]};
            bool simple = true;
            for (std::size_t k = 0; k < pivot_columns.size() && simple; ++k) {
                const Digits50 coefficient = -rows[k][j];
                if (abs(coefficient) < Digits50(1e-22)) continue;
                const NodeId number = simple_number(coefficient);
                simple = number.valid();
                if (!simple) break;
                sum.push_back(g_.mul(number, terms[pivot_columns[k]]));
            }
            if (simple) accept(g_.sum(sum));
        }
    }

    // a fraction, or a number that was written as a decimal
    NodeId simple_number(const Digits50& x) {
        if (const auto fraction = as_fraction(x))
            return g_.div(g_.constant(static_cast<double>(fraction->first)), g_.constant(fraction->second));
        const double near = static_cast<double>(x), inverse = static_cast<double>(Digits50(1 / x));
        if (abs(x - Digits50(near)) < Digits50(1e-30)) return g_.constant(near);
        return abs(Digits50(1 / x) - Digits50(inverse)) < Digits50(1e-30) ? g_.div(g_.constant(1), g_.constant(inverse))
                                                                          : NodeId{};
    }

    void accept(NodeId F) {
        // of use where the motion starts
        const std::vector<Digits50> start = evaluate<Digits50>(g_, std::span(&F, 1), samples_.values(g_, samples_.start));
        if (!is_finite(start.front())) return;
        // elsewhere
        const std::size_t first = bound_ ? samples_.size() / 2 : samples_.size() + 500;
        for (const std::vector<Digits50>& row : slopes(std::span(&F, 1), first, 5))
            if (!(abs(row.front()) < Digits50(1e-20))) return;
        std::vector<NodeId> functions = known_;
        functions.insert(functions.end(), found_.begin(), found_.end());
        functions.push_back(F);
        const SparseMatrix gradients = jacobian(g_, functions, dist_.variables);
        std::vector<NodeId> nodes;
        for (const SparseEntry& e : gradients.entries) nodes.push_back(e.value);
        const auto rank_of_first = [&](std::size_t count, std::span<const Digits50> numbers) {
            std::vector<Digits50> matrix(count * dist_.variables.size(), Digits50(0));
            for (std::size_t i = 0; i < numbers.size(); ++i)
                if (gradients.entries[i].row < count)
                    matrix[gradients.entries[i].row * dist_.variables.size() + gradients.entries[i].column] = numbers[i];
            return DenseRank(std::move(matrix), dist_.variables.size(), Digits50(1e-20)).rank();
        };
        const std::vector<Digits50> numbers = samples_.evaluate(g_, nodes, 0);
        if (!std::all_of(numbers.begin(), numbers.end(), [](const Digits50& x) { return is_finite(x); })) return;
        // sums that vanish identically, such as sin^2 + cos^2 - 1, have gradients of round-off
        Digits50 size(0);
        for (std::size_t i = 0; i < numbers.size(); ++i)
            if (gradients.entries[i].row + 1 == functions.size()) size = std::max(size, Digits50(abs(numbers[i])));
        if (!(size > Digits50(1e-20))) return;
        if (rank_of_first(functions.size(), numbers) > rank_of_first(functions.size() - 1, numbers)) found_.push_back(F);
    }

    const ConstrainedDynamics& d_;
    Graph& g_;
    const Model& m_;
    const Distribution& dist_;
    std::size_t wanted_;
    const Samples& samples_;
    std::vector<NodeId> known_, found_;  // position rows; integrals found
    bool bound_ = false;
    std::vector<TimeDerivative> along_;
    std::vector<NodeId> atoms_;
    std::vector<NodeId> parameters_;
};

}  // namespace

std::vector<NodeId> hidden_integrals(const ConstrainedDynamics& d, const AffineRows& affine, const Distribution& dist,
                                     std::size_t wanted, const Samples& samples) {
    return Search(d, affine, dist, wanted, samples).run();
}

}  // namespace appell
