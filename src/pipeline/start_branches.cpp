#include "pipeline/start_branches.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include <fmt/format.h>

#include "base/number_format.hpp"
#include "expr/dependence.hpp"
#include "expr/evaluate.hpp"
#include "pipeline/lower_motion.hpp"
#include "sim/project.hpp"

namespace appell {

namespace {

constexpr std::size_t k_guesses = 24;
constexpr int k_most_rounds = 200;
constexpr double k_part = 0.1;  // of the way back, each round
// another branch is news when it is at most this much farther than the one taken
constexpr double k_about_as_near = 2;
// start values that were moved by less, against their size, were rounded and meant to be where they are
constexpr double k_rounded = 1e-4;
// the search costs some thousand evaluations: models beyond this many instructions go without
constexpr std::size_t k_most_instructions = 20'000;
constexpr std::size_t k_most_speeds = 60;

// square, row by row
struct Matrix {
    explicit Matrix(std::size_t n) : n(n), entries(n * n, 0.0) {}
    [[nodiscard]] double& operator()(std::size_t i, std::size_t j) { return entries[i * n + j]; }
    [[nodiscard]] double operator()(std::size_t i, std::size_t j) const { return entries[i * n + j]; }
    [[nodiscard]] double square(std::span<const double> v) const {
        double sum = 0;
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t j = 0; j < n; ++j) sum += v[i] * entries[i * n + j] * v[j];
        return sum;
    }

    std::size_t n;
    std::vector<double> entries;
};

// The states on the constraints that are nearest to given values among their neighbours, in one part of the state.
class NearestStates {
public:
    NearestStates(const Motion& motion, Projector::Part part, double t, std::vector<double> given, Matrix metric)
        : projector_(motion, part == Projector::Part::coordinates ? motion.for_start_position() : motion.for_start_velocity(),
                     part),
          t_(t),
          given_(std::move(given)),
          offset_(part == Projector::Part::coordinates ? 0 : motion.coordinates),
          count_(part == Projector::Part::coordinates ? motion.coordinates : motion.speeds),
          metric_(std::move(metric)) {}

    [[nodiscard]] double distance(const std::vector<double>& a, const std::vector<double>& b) const {
        std::vector<double> d(count_);
        for (std::size_t i = 0; i < count_; ++i) d[i] = a[offset_ + i] - b[offset_ + i];
        return std::sqrt(std::max(0.0, metric_.square(d)));
    }

    // From a state near the constraints onto them, a little back to the given values, onto them again, and so on: what stays is
    // a state whose difference from the given values is normal to the constraints. Least distances attract, largest repel; long
    // steps would jump from branch to branch.
    [[nodiscard]] std::optional<std::vector<double>> settle(std::vector<double> x) {
        std::vector<double> last;
        for (int round = 0; round < k_most_rounds; ++round) {
            if (projector_.project(t_, x, k_project_start).status != ProjectStatus::converged) return std::nullopt;
            if (!last.empty() && distance(x, last) <= 1e-5 * distance(x, given_)) return x;
            last = x;
            for (std::size_t i = offset_; i < offset_ + count_; ++i) x[i] += k_part * (given_[i] - x[i]);
        }
        return std::nullopt;
    }

    // another one than `taken` that is not much farther; the nearest found
    [[nodiscard]] std::optional<std::vector<double>> another(const std::vector<double>& taken) {
        const double reach = distance(taken, given_);
        const auto here = settle(taken);
        std::optional<std::vector<double>> best;
        double least = k_about_as_near * reach;
        std::mt19937_64 random(1);
        std::uniform_real_distribution<double> symmetric(-1, 1);
        for (std::size_t guess = 0; guess < k_guesses; ++guess) {
            std::vector<double> x = given_;
            const double far = 0.5 + static_cast<double>(guess % 4);
            for (std::size_t i = 0; i < count_; ++i) {
                const double weight = metric_(i, i);
                x[offset_ + i] += guess < 4    ? far * (given_[offset_ + i] - taken[offset_ + i])
                                  : weight > 0 ? far * symmetric(random) * reach / std::sqrt(weight)
                                               : 0;
            }
            const auto found = settle(std::move(x));
            if (!found || distance(*found, taken) < 0.2 * reach || (here && distance(*found, *here) < 0.2 * reach)) continue;
            if (const double d = distance(*found, given_); d < least) {
                least = d;
                best = found;
            }
        }
        return best;
    }

private:
    Projector projector_;
    double t_;
    std::vector<double> given_;
    std::size_t offset_, count_;
    Matrix metric_;
};

// M, and Y' M Y for the coordinates where each rate is one of q'
struct Metrics {
    Matrix speeds;
    std::optional<Matrix> coordinates;
};

Metrics metrics(const ConstrainedDynamics& d, const Motion& motion, double t, std::span<const double> x) {
    const Graph& g = d.graph();
    const Model& m = *d.model;
    std::vector<double> values(g.symbol_count(), 0.0), state{t};
    state.insert(state.end(), x.begin(), x.end());
    state.insert(state.end(), motion.parameters.begin(), motion.parameters.end());
    const std::vector<SymbolId> symbols = program_inputs(m);
    for (std::size_t i = 0; i < symbols.size(); ++i) values[symbols[i].index()] = state[i];
    const std::size_t n = m.speeds.size();
    const auto fill = [&](const SparseMatrix& from, Matrix& to) {
        std::vector<NodeId> nodes;
        for (const SparseEntry& e : from.entries) nodes.push_back(e.value);
        const std::vector<double> numbers = evaluate<double>(g, nodes, values);
        for (std::size_t i = 0; i < numbers.size(); ++i) to(from.entries[i].row, from.entries[i].column) = numbers[i];
    };
    Metrics out{Matrix(n), std::nullopt};
    fill(d.M(), out.speeds);
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < i; ++j) out.speeds(j, i) = out.speeds(i, j);
    const std::span<const SymbolId> rates = d.kinematics->independent_rates();
    if (rates.size() != n || m.coordinates.size() != n) return out;
    Matrix Y(n), product(n);
    fill(d.kinematics->Y(), Y);
    std::vector<std::vector<double>> speeds_by_rate(n, std::vector<double>(n));
    for (std::size_t i = 0; i < n; ++i) {
        const auto rate = std::find(rates.begin(), rates.end(), m.coordinates[i].rate);
        if (rate == rates.end()) return out;
        for (std::size_t r = 0; r < n; ++r) speeds_by_rate[i][r] = Y(r, static_cast<std::size_t>(rate - rates.begin()));
    }
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j)
            for (std::size_t r = 0; r < n; ++r)
                for (std::size_t c = 0; c < n; ++c)
                    product(i, j) += speeds_by_rate[i][r] * out.speeds(r, c) * speeds_by_rate[j][c];
    out.coordinates = std::move(product);
    return out;
}

// rows that are affine in the speeds leave them one plane, which has one nearest state
bool several_branches_of_speeds(const ConstrainedDynamics& d) {
    std::vector<NodeId> slopes;
    for (const SparseEntry& e : d.A.entries)
        if (d.rows[e.row].level != Level::acceleration) slopes.push_back(e.value);
    const std::vector<SymbolId> present = symbols_in(d.graph(), slopes);
    return std::any_of(d.model->speeds.begin(), d.model->speeds.end(),
                       [&](const Speed& s) { return std::binary_search(present.begin(), present.end(), s.u); });
}

}  // namespace

std::optional<Diagnostic> other_branches(const ConstrainedDynamics& d, const Motion& motion, const SimulateSummary& s) {
    const Model& m = *d.model;
    if (s.moved.empty() || motion.rate.instructions.size() > k_most_instructions || motion.speeds > k_most_speeds)
        return std::nullopt;
    std::vector<double> given = s.x_start;
    bool coordinates_moved = false;
    for (const Moved& moved : s.moved) {
        given[moved.is_speed ? motion.coordinates + moved.index : moved.index] = moved.from;
        coordinates_moved = coordinates_moved || !moved.is_speed;
    }
    const Metrics metric = metrics(d, motion, s.t_start, s.x_start);
    const auto look = [&](Projector::Part part, const Matrix& weights) -> std::optional<Diagnostic> {
        if (!std::all_of(weights.entries.begin(), weights.entries.end(), [](double w) { return std::isfinite(w); }))
            return std::nullopt;
        const bool of_speeds = part == Projector::Part::speeds;
        std::vector<double> from = given;
        // speeds belong to the coordinates that were found
        if (of_speeds) std::copy_n(s.x_start.begin(), motion.coordinates, from.begin());
        NearestStates nearest(motion, part, s.t_start, from, weights);
        const double reach = nearest.distance(s.x_start, from);
        const std::vector<double> rest(from.size(), 0.0);
        if (!(reach > k_rounded * nearest.distance(from, rest))) return std::nullopt;
        const auto other = nearest.another(s.x_start);
        if (!other) return std::nullopt;
        std::vector<std::string> taken, instead;
        const std::size_t offset = of_speeds ? motion.coordinates : 0, count = of_speeds ? motion.speeds : motion.coordinates;
        for (std::size_t i = 0; i < count && taken.size() < 4; ++i) {
            const double a = s.x_start[offset + i], b = (*other)[offset + i];
            if (std::abs(a - b) <= 1e-3 * (std::abs(a) + std::abs(b))) continue;
            const std::string& name = of_speeds ? m.speeds[i].name : m.coordinates[i].name;
            taken.push_back(fmt::format("{} = {}", name, short_number(a, 3)));
            instead.push_back(fmt::format("{} = {}", name, short_number(b, 3)));
        }
        if (taken.empty()) return std::nullopt;
        return Diagnostic{Code::W0825,
                          {},
                          "the start values lie between branches of the constraints",
                          fmt::format("moved to {}; {} would be {} from them", fmt::join(taken, ", "), fmt::join(instead, ", "),
                                      nearest.distance(*other, from) < reach ? "less far" : "about as far"),
                          "start values near the branch that is meant",
                          "give values closer to it, or mark those that must stay with `fixed`"};
    };
    if (coordinates_moved && metric.coordinates)
        if (auto found = look(Projector::Part::coordinates, *metric.coordinates)) return found;
    return several_branches_of_speeds(d) ? look(Projector::Part::speeds, metric.speeds) : std::nullopt;
}

}  // namespace appell
