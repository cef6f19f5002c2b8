#include "pipeline/value_jumps.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "expr/dependence.hpp"
#include "tape/workspace.hpp"

namespace appell {

namespace {

constexpr int k_points = 8, k_most_tries = 60;
// a change this small against the size of the values around is round-off
constexpr double k_round_off = 1e-10;
// Across a jump the values differ by more than on either of its sides; those of a root or a steep slope differ by less.
constexpr double k_apart = 1e-13, k_kept = 0.3;
// where along a line the surface is looked for
constexpr std::array k_reaches{1e-2, 0.1, 0.3, 1.0, 3.0, 10.0, 100.0, 1e4};

bool moves(SymbolKind kind) { return kind != SymbolKind::parameter && kind != SymbolKind::input; }

}  // namespace

// The values along a line through a random point.
class ValueJumps::Surface {
public:
    Surface(const Graph& g, NodeId first, NodeId second, std::span<const NodeId> values)
        : symbols_(symbols_of(g, first, second, values)),
          pair_(lower_program(g, {symbols_, {}, {{"pair", {first, second}}}})),
          values_(lower_program(g, {symbols_, {}, {{"value", {values.begin(), values.end()}}}})),
          at_pair_(pair_),
          at_values_(values_),
          origin_(symbols_.size()),
          direction_(symbols_.size(), 0.0) {
        const std::array<NodeId, 2> both{first, second};
        for (const SymbolId s : symbols_in(g, both))
            if (moves(g.symbol(s).kind)) moving_.push_back(place_of(s));
    }

    [[nodiscard]] const std::vector<SymbolId>& symbols() const { return symbols_; }
    [[nodiscard]] bool moves_at_all() const { return !moving_.empty(); }
    void set_origin(std::size_t i, double value) { origin_[i] = value; }
    template <class Draw>
    void set_direction(Draw draw) {
        for (const std::size_t i : moving_) direction_[i] = draw();
    }

    // first - second
    [[nodiscard]] double guard(double s) {
        put(at_pair_, s);
        (void)at_pair_.run();
        return at_pair_.outputs()[0] - at_pair_.outputs()[1];
    }
    [[nodiscard]] std::vector<double> values(double s) {
        put(at_values_, s);
        (void)at_values_.run();
        return {at_values_.outputs().begin(), at_values_.outputs().end()};
    }
    // two numbers next to each other with the surface between them: first < second at the first one
    [[nodiscard]] std::optional<std::pair<double, double>> crossing() {
        double nearest = guard(0);
        for (const double reach : k_reaches)
            for (const double s : {reach, -reach})
                if (const double g = guard(s); g * nearest < 0) return narrow(g < 0 ? s : 0, g < 0 ? 0 : s);
        return std::nullopt;
    }

private:
    static std::vector<SymbolId> symbols_of(const Graph& g, NodeId first, NodeId second, std::span<const NodeId> values) {
        std::vector<NodeId> roots(values.begin(), values.end());
        roots.insert(roots.end(), {first, second});
        return symbols_in(g, roots);
    }
    [[nodiscard]] std::size_t place_of(SymbolId s) const {
        return static_cast<std::size_t>(std::ranges::lower_bound(symbols_, s) - symbols_.begin());
    }
    void put(Workspace<double>& where, double s) {
        const std::span<double> inputs = where.inputs();
        for (std::size_t i = 0; i < origin_.size(); ++i) inputs[i] = origin_[i] + s * direction_[i];
    }
    [[nodiscard]] std::optional<std::pair<double, double>> narrow(double below, double above) {
        const double size = std::max(std::abs(below), std::abs(above));
        for (int i = 0; i < 200; ++i) {
            const double middle = below + 0.5 * (above - below);
            if (middle == below || middle == above) break;
            double g = guard(middle), s = middle;
            // on the surface itself: the next numbers beside it
            for (double off = std::numeric_limits<double>::epsilon() * size; g == 0 && off < size; off *= 2) {
                s = middle + (above > below ? off : -off);
                g = guard(s);
            }
            if (!std::isfinite(g) || g == 0) return std::nullopt;
            if (s != middle) {  // above it; below it lies the other side
                if (g > 0) above = s;
                double off = std::abs(s - middle);
                while (off < size && !(guard(middle - (above > below ? off : -off)) < 0)) off *= 2;
                if (g < 0 || !(off < size)) return std::nullopt;
                below = middle - (above > below ? off : -off);
                break;
            }
            (g < 0 ? below : above) = middle;
        }
        return std::pair(below, above);
    }

    std::vector<SymbolId> symbols_;
    Program pair_, values_;
    Workspace<double> at_pair_, at_values_;
    std::vector<double> origin_, direction_;
    std::vector<std::size_t> moving_;
};

ValueJumps::ValueJumps(const Model& model) : g_(*model.graph) {
    numbers_.assign(g_.symbol_count(), std::numeric_limits<double>::quiet_NaN());
    for (const Parameter& p : model.parameters) numbers_[p.symbol.index()] = p.value;
    for (const Input& i : model.inputs) numbers_[i.symbol.index()] = i.value.value_or(1);
    for (const Coordinate& c : model.coordinates) numbers_[c.q.index()] = c.start;
    for (const Speed& s : model.speeds) numbers_[s.u.index()] = s.start;
}

double ValueJumps::any_value(SymbolId symbol) {
    const auto uniform = [&](double a, double b) { return std::uniform_real_distribution(a, b)(random_); };
    const double known = symbol.index() < numbers_.size() ? numbers_[symbol.index()] : std::numeric_limits<double>::quiet_NaN();
    if (!moves(g_.symbol(symbol).kind) && std::isfinite(known) && known != 0) return known * std::exp2(uniform(-1, 1));
    return (std::isfinite(known) ? known : 0) + std::exp2(uniform(-3, 3)) * uniform(-1, 1);
}

ValueJumps::Verdict ValueJumps::look(NodeId first, NodeId second, std::span<const NodeId> values, Jump& jump) {
    Surface surface(g_, first, second, values);
    if (!surface.moves_at_all()) return Verdict::none;  // it never switches
    random_.seed(1);
    int points = 0;
    for (int tries = 0; tries < k_most_tries && points < k_points; ++tries) {
        for (std::size_t i = 0; i < surface.symbols().size(); ++i) surface.set_origin(i, any_value(surface.symbols()[i]));
        surface.set_direction([&] { return std::uniform_real_distribution(-1.0, 1.0)(random_); });
        const auto found = surface.crossing();
        if (!found) continue;
        const auto [below, above] = *found;
        const double off = (above > below ? 1 : -1) * (1 + std::abs(above));
        const std::vector<double> at_below = surface.values(below), at_above = surface.values(above);
        const std::vector<double> below_it = surface.values(below - k_apart * off),
                                  above_it = surface.values(above + k_apart * off);
        const std::vector<double> far_below = surface.values(below - 0.1 * off), far_above = surface.values(above + 0.1 * off);
        bool finite = true;
        for (std::size_t i = 0; i < values.size(); ++i) {
            const double change = std::abs(at_above[i] - at_below[i]);
            finite = finite && std::isfinite(change);
            double size = std::max(std::abs(at_above[i]), std::abs(at_below[i]));
            for (const double v : {far_below[i], far_above[i]})
                if (std::isfinite(v)) size = std::max(size, std::abs(v));
            const double farther = std::abs(above_it[i] - at_above[i]) + std::abs(below_it[i] - at_below[i]);
            if (!(change > k_round_off * size) || change < k_kept * farther) continue;
            jump = {at_below[i], at_above[i]};
            return Verdict::jumps;
        }
        points += finite ? 1 : 0;
    }
    return points > 0 ? Verdict::none : Verdict::never_met;
}

}  // namespace appell
