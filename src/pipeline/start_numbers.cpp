#include "pipeline/start_numbers.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/number_format.hpp"
#include "dynam/central_inertia.hpp"
#include "expr/evaluate.hpp"

namespace appell {

namespace {

struct StartValues {
    std::vector<double> values;  // by symbol
    std::vector<double> speeds;
};

// The definitions of the speeds can be solved where |Y^-1| |Y| is not beyond all digits: free of units, unlike a determinant.
bool speeds_are_singular(Graph& g, const Kinematics& kin, std::span<const double> values) {
    const std::vector<double> determinants = evaluate<double>(g, kin.determinants(), values);
    if (std::any_of(determinants.begin(), determinants.end(), [](double v) { return v == 0 || !std::isfinite(v); })) return true;
    std::vector<SymbolId> speeds;
    for (const Speed& s : kin.model().speeds) speeds.push_back(s.u);
    const SparseMatrix inverse = jacobian(g, kin.rate_values(), speeds, DerivativeMode::reverse);
    // row sums of |Y^-1| |Y|: the sum over k of |Y^-1_ik| times the size of row k of Y in the units of rate i
    std::vector<NodeId> entries;
    for (const SparseEntry& e : inverse.entries) entries.push_back(e.value);
    for (const SparseEntry& e : kin.Y().entries) entries.push_back(e.value);
    const std::vector<double> numbers = evaluate<double>(g, entries, values);
    std::vector<std::vector<std::pair<std::uint32_t, double>>> rows(kin.Y().rows);
    for (std::size_t k = 0; k < kin.Y().entries.size(); ++k)
        rows[kin.Y().entries[k].row].emplace_back(kin.Y().entries[k].column, std::abs(numbers[inverse.entries.size() + k]));
    for (std::size_t k = 0; k < inverse.entries.size(); ++k)
        for (const auto& [column, size] : rows[inverse.entries[k].column])
            if (column == inverse.entries[k].row && !(std::abs(numbers[k]) * size < 1e12)) return true;
    return false;
}

// Bodies whose inertia about the centre is not that of any mass distribution, and direction cosines that are no rotation.
void check_numbers_of_bodies(const ConstrainedDynamics& d, std::span<const double> values, Diagnostics& diagnostics) {
    const Model& m = *d.model;
    Graph& g = d.graph();
    Diagnostics judged_before;
    for (const Body& body : m.bodies) {
        const Matrix3 I = central_inertia(*d.kinematics, body, judged_before);
        const std::vector<double> n = evaluate<double>(g, I, values);
        // no principal moment may be negative: all principal minors of a semidefinite matrix are at least zero
        const double size = std::max({std::abs(n[0]), std::abs(n[4]), std::abs(n[8])}), bar = 1e-12;
        const auto minor = [&](int i, int j) {
            return n[static_cast<std::size_t>(4 * i)] * n[static_cast<std::size_t>(4 * j)] -
                   n[static_cast<std::size_t>(3 * i + j)] * n[static_cast<std::size_t>(3 * i + j)];
        };
        const double determinant =
            n[0] * (n[4] * n[8] - n[5] * n[5]) - n[1] * (n[1] * n[8] - n[5] * n[2]) + n[2] * (n[1] * n[5] - n[4] * n[2]);
        const bool bad = std::min({n[0], n[4], n[8]}) < -bar * size ||
                         std::min({minor(0, 1), minor(1, 2), minor(0, 2)}) < -bar * size * size ||
                         determinant < -bar * size * size * size;
        if (bad)
            diagnostics.add({Code::E0713, body.span,
                             fmt::format("the inertia of {} about its mass centre has a negative principal moment", body.name),
                             fmt::format("Ixx = {}, Iyy = {}, Izz = {} about the centre", short_number(n[0]), short_number(n[4]),
                                         short_number(n[8])),
                             "an inertia that some mass distribution has",
                             "check the point it is given about, and the signs of the products"});
    }
    for (std::size_t i = 0; i < m.frames.size(); ++i) {
        if (!std::holds_alternative<DirectionCosines>(m.frames[i].orientation)) continue;
        const std::vector<double> R = evaluate<double>(g, d.kinematics->frames().rotation_to_parent(FrameId(i)), values);
        double error = 0;
        for (std::size_t a = 0; a < 3; ++a)
            for (std::size_t b = 0; b < 3; ++b)
                error = std::max(error, std::abs(R[a] * R[b] + R[3 + a] * R[3 + b] + R[6 + a] * R[6 + b] - (a == b ? 1 : 0)));
        const double determinant =
            R[0] * (R[4] * R[8] - R[5] * R[7]) - R[1] * (R[3] * R[8] - R[5] * R[6]) + R[2] * (R[3] * R[7] - R[4] * R[6]);
        if (!(error < 1e-8) || !(determinant > 0))
            diagnostics.add({Code::E0608, m.frames[i].span,
                             fmt::format("the direction cosines of frame {} are no rotation at the start", m.frames[i].name),
                             fmt::format("columns that miss orthonormality by {}", short_number(error, 3)),
                             "three orthonormal columns, right-handed",
                             "check the entries, or turn the frame by angles or a quaternion"});
    }
}

// Start values of the speeds: as given, or through the rates where rates are given.
StartValues start_values(const ConstrainedDynamics& d, const Model& numbers, double from, Diagnostics& diagnostics) {
    const Model& m = *d.model;
    Graph& g = d.graph();
    const Kinematics& kin = *d.kinematics;
    StartValues out{std::vector<double>(g.symbol_count(), 0), {}};
    std::vector<double>& values = out.values;
    values[m.time.index()] = from;
    const auto put = [&](const auto& symbols, auto symbol, const auto& from_list, auto value) {
        for (std::size_t i = 0; i < symbols.size(); ++i) values[symbol(symbols[i]).index()] = value(from_list[i]);
    };
    put(
        m.parameters, [](const Parameter& p) { return p.symbol; }, numbers.parameters,
        [](const Parameter& p) { return p.value; });
    put(
        m.inputs, [](const Input& i) { return i.symbol; }, numbers.inputs, [](const Input& i) { return i.value.value_or(0); });
    put(
        m.coordinates, [](const Coordinate& c) { return c.q; }, numbers.coordinates, [](const Coordinate& c) { return c.start; });
    put(
        m.speeds, [](const Speed& s) { return s.u; }, numbers.speeds, [](const Speed& s) { return s.start; });
    for (const Speed& s : numbers.speeds) out.speeds.push_back(s.start);
    check_numbers_of_bodies(d, values, diagnostics);
    if (speeds_are_singular(g, kin, values))
        diagnostics.add({Code::E0605, m.speeds.front().span, "the definitions of the speeds are singular at the start values",
                         "a vanishing determinant", "definitions that determine every q'",
                         "start elsewhere, or choose other speeds or coordinates (a quaternion has no such states)"});
    if (diagnostics.has_errors() || numbers.start_rates.empty()) return out;
    std::vector<SymbolId> independent(kin.independent_rates().begin(), kin.independent_rates().end());
    std::sort(independent.begin(), independent.end());
    for (const StartRate& rate : numbers.start_rates) {
        if (std::binary_search(independent.begin(), independent.end(), m.coordinates[rate.coordinate].rate)) continue;
        diagnostics.add({Code::E0610, rate.span,
                         fmt::format("the rate of {} can not be given a start value: it belongs to a quaternion",
                                     m.coordinates[rate.coordinate].name),
                         "", "start values of the angular velocity",
                         "declare speeds such as w1 = dot(omega(B), B.x) and start those"});
        return out;
    }
    // rates from the speeds' start values, the given ones replaced, and back through the definitions
    const std::vector<double> rates = evaluate<double>(g, kin.rate_values(), values);
    for (std::size_t i = 0; i < rates.size(); ++i) values[kin.independent_rates()[i].index()] = rates[i];
    for (const StartRate& rate : numbers.start_rates) values[m.coordinates[rate.coordinate].rate.index()] = rate.value;
    out.speeds = evaluate<double>(g, kin.speed_definitions(), values);
    // a speed that cancels (v*cos(a) + w*sin(a)) is 0 to the round-off of the others
    double largest = 0;
    for (const double u : out.speeds) largest = std::max(largest, std::abs(u));
    for (std::size_t i = 0; i < m.speeds.size(); ++i)
        if (numbers.speeds[i].given && std::abs(out.speeds[i] - numbers.speeds[i].start) >
                                           1e-9 * (std::abs(numbers.speeds[i].start) + std::abs(out.speeds[i])) + 1e-14 * largest)
            diagnostics.add({Code::E0609, numbers.start_rates.front().span,
                             fmt::format("the start value of speed {} and the start values of rates disagree", m.speeds[i].name),
                             fmt::format("{} = {} given, {} from the rates", m.speeds[i].name,
                                         short_number(numbers.speeds[i].start), short_number(out.speeds[i])),
                             "one of the two", "give start values of speeds or of rates"});
    for (std::size_t i = 0; i < m.speeds.size(); ++i) values[m.speeds[i].u.index()] = out.speeds[i];
    return out;
}

// In the Newtonian frame. A point whose position goes on from that of its base does so here, so that a chain costs what its links
// cost.
std::vector<NodeId> coordinates_of_points(Kinematics& kin) {
    Graph& g = kin.graph();
    std::vector<Vec3> places;
    std::vector<NodeId> out;
    for (std::size_t i = 0; i < kin.model().points.size(); ++i) {
        const std::vector<Vec3>& parts = kin.position(PointId(i)).parts;
        Vec3 place = zero_vector(g, Model::newtonian());
        std::size_t known = 0;
        if (const PointId base = kin.base(PointId(i)); base.valid()) {
            const std::vector<Vec3>& before = kin.position(base).parts;
            if (before.size() <= parts.size() && std::equal(before.begin(), before.end(), parts.begin())) {
                place = places[base.index()];
                known = before.size();
            }
        }
        for (std::size_t k = known; k < parts.size(); ++k)
            place = add(g, place, kin.frames().express(parts[k], Model::newtonian()));
        out.insert(out.end(), place.c.begin(), place.c.end());
        places.push_back(place);
    }
    return out;
}

}  // namespace

std::optional<Start> find_start(const ConstrainedDynamics& d, const Model& numbers, double from, Diagnostics& diagnostics) {
    Kinematics& kin = *d.kinematics;
    StartValues start = start_values(d, numbers, from, diagnostics);
    if (diagnostics.has_errors()) return std::nullopt;
    Start out{std::move(start.values), {}};
    std::vector<double>& x0 = out.numbers.x0;
    for (const Coordinate& c : numbers.coordinates) x0.push_back(c.start);
    x0.insert(x0.end(), start.speeds.begin(), start.speeds.end());
    if (!std::all_of(x0.begin(), x0.end(), [](double v) { return std::isfinite(v); })) {
        diagnostics.add(
            {Code::E0803, {}, "a start value is not a finite number", "", "finite start values", "check the parameters in it"});
        return std::nullopt;
    }
    // the model's length: the farthest point at the start; positions are scaled by it
    double length = 0;
    for (const double c : evaluate<double>(d.graph(), coordinates_of_points(kin), out.values))
        length = std::isfinite(c) ? std::max(length, std::abs(c)) : length;
    for (const Parameter& p : numbers.parameters) out.numbers.parameters.push_back(p.value);
    for (const Input& i : numbers.inputs) out.numbers.parameters.push_back(i.value.value_or(0));
    out.numbers.parameters.push_back(length > 0 ? length : 1);
    return out;
}

Result<StartNumbers> start_numbers(const ConstrainedDynamics& dynamics, const Model& numbers, double from) {
    Result<StartNumbers> result;
    const Model& m = *dynamics.model;
    if (numbers.parameters.size() != m.parameters.size() || numbers.inputs.size() != m.inputs.size() ||
        numbers.coordinates.size() != m.coordinates.size() || numbers.speeds.size() != m.speeds.size())
        throw Error("the numbers of a motion come from the same model");
    if (std::optional<Start> start = find_start(dynamics, numbers, from, result.diagnostics))
        result.value = std::move(start->numbers);
    return result;
}

}  // namespace appell
