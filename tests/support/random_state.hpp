// Random values for the symbols of a model, and evaluation of nodes at them, for any scalar type.
#pragma once

#include <complex>
#include <random>
#include <vector>

#include "dynam/constrained_dynamics.hpp"
#include "expr/evaluate.hpp"

namespace appell {

template <class T>
struct State {
    std::vector<T> values;  // by symbol

    [[nodiscard]] T operator()(const Graph& g, NodeId id) const { return evaluate<T>(g, std::span(&id, 1), values).front(); }
    [[nodiscard]] std::vector<T> operator()(const Graph& g, std::span<const NodeId> ids) const {
        return evaluate<T>(g, ids, values);
    }
};

// Every symbol in (0.2, 1.2), except that the quaternions have unit norm; speeds in (-1, 1).
template <class T = double>
State<T> random_state(const Model& m, unsigned seed) {
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> positive(0.2, 1.2), any(-1, 1);
    State<T> s;
    for (std::size_t i = 0; i < m.graph->symbol_count(); ++i)
        s.values.push_back(T(m.graph->symbol(SymbolId(i)).kind == SymbolKind::speed ? any(random) : positive(random)));
    for (const Frame& frame : m.frames)
        if (const auto* q = std::get_if<QuaternionRotation>(&frame.orientation)) {
            T norm(0);
            for (const std::size_t c : q->coordinates)
                norm += s.values[m.coordinates[c].q.index()] * s.values[m.coordinates[c].q.index()];
            using std::sqrt;
            for (const std::size_t c : q->coordinates) s.values[m.coordinates[c].q.index()] /= sqrt(norm);
        }
    return s;
}

// The state moved by an imaginary step along the motion q' = K u + k, t' = 1 and given u': the imaginary part of any analytic
// expression, divided by the step, is its total time derivative to full precision.
inline constexpr double k_complex_step = 1e-30;

inline State<std::complex<double>> along_motion(const ConstrainedDynamics& d, const State<double>& s,
                                                const std::vector<double>& ud) {
    const Model& m = *d.model;
    State<std::complex<double>> out;
    for (const double v : s.values) out.values.emplace_back(v);
    const std::vector<double> qd = s(d.graph(), d.kinematics->coordinate_rates());
    for (std::size_t i = 0; i < qd.size(); ++i)
        out.values[m.coordinates[i].q.index()] += std::complex<double>(0, k_complex_step * qd[i]);
    for (std::size_t i = 0; i < ud.size(); ++i)
        out.values[m.speeds[i].u.index()] += std::complex<double>(0, k_complex_step * ud[i]);
    out.values[m.time.index()] += std::complex<double>(0, k_complex_step);
    return out;
}

}  // namespace appell
