// Random cascades of events, impacts and switching laws of a particle in a plane, against a simulator written for such particles
// alone: between instants its motion is a parabola, whose passages are roots of quadratic equations.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "support/gallery_run.hpp"
#include "support/members.hpp"

namespace appell {
namespace {

// x, y, x', y', and a counter
using State = std::array<double, 5>;
constexpr std::array<const char*, 5> k_names{"x", "y", "x'", "y'", "n"};
enum Entry : std::size_t { X, Y, VX, VY, N };

// entry = constant + factor * (another entry, before all sets of the event)
struct Set {
    std::size_t entry, of;
    double constant, factor;
};
// of_x*x + of_y*y + of_vx*x' + of_vy*y' + of_t*t + constant
struct CascadeEvent {
    std::array<double, 4> of{};
    double of_t = 0, constant = 0;
    int direction = 0;  // -1 falling, 1 rising, 0 either
    std::vector<Set> sets{};
};
struct Cascade {
    State start{};
    double ax = 0, ay = 0;
    std::optional<double> restitution{};  // of a floor at y = 0
    bool switches = false;                // the force along x, where x > at
    double at = 0, ax_beyond = 0;
    std::vector<CascadeEvent> events{};
    double duration = 3;
};

struct Quadratic {
    double q0, q1, q2;
    [[nodiscard]] double operator()(double h) const { return q0 + h * (q1 + h * q2); }
    [[nodiscard]] double slope(double h) const { return q1 + 2 * q2 * h; }
};

// what the rules leave open, or what round-off decides: two of them a hair apart, a touch, a slide
struct Undecided {};

int sign_of(double value) { return std::abs(value) < 1e-11 ? 0 : value > 0 ? 1 : -1; }

class CascadeSimulator {
public:
    explicit CascadeSimulator(const Cascade& c) : c_(c), s_(c.start) {
        for (const CascadeEvent& e : c_.events) sides_.push_back(sign_of(value(e)));
        beyond_ = s_[X] > c_.at;
    }

    State run() {
        for (int instants = 0; instants < 150; ++instants) {
            const double h = next();
            if (h < 1e-8) throw Undecided{};  // instants that accumulate
            if (t_ + h >= c_.duration) {
                move(c_.duration - t_);
                return s_;
            }
            happen(h);
        }
        throw Undecided{};
    }

private:
    enum class Kind { event, floor, law };
    struct Guard {
        Kind kind;
        std::size_t index;
        Quadratic q;
        int side;
    };

    [[nodiscard]] double ax() const { return c_.switches && beyond_ ? c_.ax_beyond : c_.ax; }
    [[nodiscard]] double ay() const { return closed_ ? 0 : c_.ay; }
    [[nodiscard]] double value(const CascadeEvent& e) const {
        double sum = e.constant + e.of_t * t_;
        for (std::size_t i = 0; i < e.of.size(); ++i) sum += e.of[i] * s_[i];
        return sum;
    }
    void move(double h) {
        s_[X] += h * (s_[VX] + 0.5 * h * ax());
        s_[Y] += h * (s_[VY] + 0.5 * h * ay());
        s_[VX] += h * ax();
        s_[VY] += h * ay();
        t_ += h;
    }

    [[nodiscard]] std::vector<Guard> guards() const {
        std::vector<Guard> out;
        for (std::size_t i = 0; i < c_.events.size(); ++i) {
            const auto& [of, of_t, constant, direction, sets] = c_.events[i];
            out.push_back({Kind::event,
                           i,
                           {value(c_.events[i]), of[X] * s_[VX] + of[Y] * s_[VY] + of[VX] * ax() + of[VY] * ay() + of_t,
                            0.5 * (of[X] * ax() + of[Y] * ay())},
                           sides_[i]});
        }
        if (c_.restitution && !closed_) out.push_back({Kind::floor, 0, {s_[Y], s_[VY], 0.5 * ay()}, 1});
        if (c_.switches) out.push_back({Kind::law, 0, {s_[X] - c_.at, s_[VX], 0.5 * ax()}, beyond_ ? 1 : -1});
        return out;
    }

    // roots after the present one, in order
    [[nodiscard]] static std::vector<double> roots(Quadratic q) {
        if (std::abs(q.q0) < 1e-11 * (std::abs(q.q0) + std::abs(q.q1) + std::abs(q.q2) + 1e-9)) q.q0 = 0;
        std::vector<double> out;
        if (std::abs(q.q2) > 1e-12) {
            const double square = q.q1 * q.q1 - 4 * q.q2 * q.q0;
            if (std::abs(square) < 1e-7) throw Undecided{};
            if (square < 0) return out;
            const double a = -0.5 * (q.q1 + std::copysign(std::sqrt(square), q.q1));
            out = {a / q.q2, q.q0 / a};
        } else if (std::abs(q.q1) > 1e-12) {
            out = {-q.q0 / q.q1};
        }
        std::erase_if(out, [](double h) { return !(h > 1e-10); });
        std::ranges::sort(out);
        return out;
    }

    // when the side of a guard changes first; sides that it has none of are taken up after it has left zero
    [[nodiscard]] static double passage(Guard& g) {
        std::vector<double> ends = roots(g.q);
        ends.insert(ends.begin(), 0);
        for (std::size_t i = 0; i < ends.size(); ++i) {
            const double inside = i + 1 < ends.size() ? 0.5 * (ends[i] + ends[i + 1]) : ends[i] + 5;
            const int side = g.q(inside) > 0 ? 1 : -1;
            if (g.side == 0) g.side = side;
            if (side != g.side) return ends[i];
        }
        return 1e9;
    }

    [[nodiscard]] double next() {
        guards_ = guards();
        double first = 1e9;
        for (Guard& g : guards_) first = std::min(first, passage(g));
        return first;
    }

    void happen(double h) {
        move(h);
        std::vector<std::size_t> round;
        bool hits = false, switches = false;
        for (const Guard& g : guards_) {
            const double there = g.q(h), slope = g.q.slope(h);
            const double size = std::abs(g.q.q0) + std::abs(g.q.q1 * h) + std::abs(g.q.q2 * h * h);
            const bool on_zero = std::abs(there) < 1e-9 * (1 + size);
            if (on_zero && std::abs(slope) < 1e-6) throw Undecided{};
            const int side = (on_zero ? slope : there) > 0 ? 1 : -1;
            if (g.kind == Kind::event) {
                const int direction = c_.events[g.index].direction;
                if (side != g.side && (direction == 0 || direction == side)) round.push_back(g.index);
                sides_[g.index] = side;
            } else if (side != g.side) {
                (g.kind == Kind::floor ? hits : switches) = true;
            }
        }
        if (switches) beyond_ = !beyond_;
        if (hits) hit();
        cascade(round, hits || switches);
    }

    void hit() {
        s_[Y] = 0;
        s_[VY] *= -*c_.restitution;
        if (s_[VY] * s_[VY] / (-2 * c_.ay) >= 1e-12) return;
        s_[VY] = 0;
        closed_ = true;
    }

    void act(std::size_t i) {
        const State before = s_;
        for (const Set& set : c_.events[i].sets) s_[set.entry] = set.constant + set.factor * before[set.of];
        // what an event does to its own expression is no passage
        if (const int side = sign_of(value(c_.events[i])); side != 0 && !c_.events[i].sets.empty()) sides_[i] = side;
    }

    void cascade(std::vector<std::size_t> round, bool changed) {
        std::vector<bool> acted(c_.events.size());
        for (int rounds = 0; rounds == 0 || !round.empty(); ++rounds) {
            if (rounds > 50) throw Undecided{};
            for (const std::size_t i : round) {
                act(i);
                acted[i] = acted[i] || !c_.events[i].sets.empty();
                changed = changed || acted[i];
            }
            if (!changed) break;
            settle_floor();
            round.clear();
            for (std::size_t i = 0; i < c_.events.size(); ++i) {
                const int side = sign_of(value(c_.events[i])), direction = c_.events[i].direction;
                if (side == 0) continue;
                if (sides_[i] * side < 0 && (direction == 0 || direction == side)) round.push_back(i);
                sides_[i] = side;
            }
        }
        for (std::size_t i = 0; i < acted.size(); ++i)
            if (acted[i] && sign_of(value(c_.events[i])) == 0) sides_[i] = 0;  // it has the one that it leaves zero for
        if (!c_.switches) return;
        const int side = sign_of(s_[X] - c_.at);
        if (side == 0 && std::abs(s_[VX]) < 1e-9) throw Undecided{};
        beyond_ = (side != 0 ? side : s_[VX]) > 0;
    }

    void settle_floor() {
        if (closed_ && s_[VY] > 1e-9) closed_ = false;
        const bool driven_in = closed_ ? s_[VY] < -1e-9 : c_.restitution && std::abs(s_[Y]) < 1e-12 && s_[VY] < -1e-9;
        if (driven_in || (c_.restitution && s_[Y] < 0)) throw Undecided{};
    }

    const Cascade& c_;
    State s_;
    double t_ = 0;
    bool beyond_ = false, closed_ = false;
    std::vector<int> sides_;
    std::vector<Guard> guards_;
};

class CascadeDraw {
public:
    explicit CascadeDraw(unsigned seed) : random_(seed) {}

    [[nodiscard]] Cascade cascade() {
        Cascade c;
        c.start = {uniform(-1, 1), uniform(0.3, 1.5), uniform(-2, 2), uniform(-2, 2), 0};
        c.ax = uniform(-1, 1);
        c.ay = uniform(-6, -2);
        c.switches = chance(0.4);
        c.at = uniform(-0.8, 0.8);
        c.ax_beyond = uniform(-1.5, 1.5);
        if (chance(0.6)) c.restitution = uniform(0.3, 0.95);
        const int events = 1 + static_cast<int>(uniform(0, 4));
        for (int i = 0; i < events; ++i) c.events.push_back(event(i));
        if (chance(0.25)) {  // one that passes at the same instants as the first
            CascadeEvent same = c.events.front();
            for (double& a : same.of) a *= 2;
            same.of_t *= 2;
            same.constant *= 2;
            same.sets = {{VY, VY, uniform(0.5, 1.5), 0}};
            c.events.push_back(same);
        }
        return c;
    }

private:
    double uniform(double a, double b) { return std::uniform_real_distribution(a, b)(random_); }
    bool chance(double p) { return uniform(0, 1) < p; }

    [[nodiscard]] CascadeEvent event(int i) {
        CascadeEvent e;
        const double kind = uniform(0, 1);
        if (kind < 0.4)
            e.of[X] = 1;
        else if (kind < 0.6)
            e.of[Y] = 1;
        else if (kind < 0.75)
            e.of = {uniform(-1, 1), uniform(-1, 1), uniform(-0.5, 0.5), 0};
        else if (kind < 0.85)
            e.of_t = 1;
        else
            e.of[chance(0.5) ? VX : VY] = 1;
        e.constant = e.of_t != 0 ? -uniform(0.1, 2.5) : uniform(-1, 1);
        e.direction = static_cast<int>(std::floor(uniform(-1, 2)));
        const double does = uniform(0, 1);
        if (does < 0.2) return e;
        if (does < 0.4)
            e.sets = {{VX, VX, uniform(-2, 2), 0}};
        else if (does < 0.6)
            e.sets = {{VX, VX, 0, uniform(-1.2, -0.5)}};
        else if (does < 0.7)
            e.sets = {{VY, VY, uniform(0.5, 2), 0}};
        else if (does < 0.8)
            e.sets = {{X, X, uniform(-1, 1), 0}};
        else if (does < 0.9)
            e.sets = {{X, X, uniform(-1, 1), 0}, {VX, VY, 0, uniform(-1, 1)}};
        else
            e.sets = {{VY, VY, 0, uniform(-1, -0.5)}};
        e.sets.push_back({N, N, i + 1.0, 1});
        return e;
    }

    std::mt19937 random_;
};

std::string number(double x) { return fmt::format("({:.17g})", x); }

std::string text_of(const Cascade& c) {
    std::string out = fmt::format(
        "system cascade\ncoord x = {}, y = {}, n = 0\nparticle P mass 1 at O + x*N.x + y*N.y\nparticle C mass 1 at O + n*N.z\n"
        "start x' = {}, y' = {}\n",
        number(c.start[X]), number(c.start[Y]), number(c.start[VX]), number(c.start[VY]));
    const std::string ax =
        c.switches ? fmt::format("if(x > {}, {}, {})", number(c.at), number(c.ax_beyond), number(c.ax)) : number(c.ax);
    out += fmt::format("force on P = {}*N.x + {}*N.y\n", ax, number(c.ay));
    if (c.restitution) out += fmt::format("constraint floor: y >= 0 restitution {}\n", number(*c.restitution));
    for (std::size_t i = 0; i < c.events.size(); ++i) {
        const CascadeEvent& e = c.events[i];
        out += fmt::format("event e{}: {}*t + {}", i, number(e.of_t), number(e.constant));
        for (std::size_t k = 0; k < e.of.size(); ++k) out += fmt::format(" + {}*{}", number(e.of[k]), k_names[k]);
        out += e.direction < 0 ? " falling =>" : e.direction > 0 ? " rising =>" : " =>";
        if (e.sets.empty()) out += " report";
        for (std::size_t k = 0; k < e.sets.size(); ++k)
            out += fmt::format("{} {} = {} + {}*{}", k == 0 ? " set" : ",", k_names[e.sets[k].entry], number(e.sets[k].constant),
                               number(e.sets[k].factor), k_names[e.sets[k].of]);
        out += "\n";
    }
    return out + fmt::format("run for {}, every 1, rtol 1e-10, atol 1e-12\n", number(c.duration));
}

TEST(EventCascades, AreThoseOfAParticleThatIsSimulatedByHand) {
    constexpr std::array k_integrators{"dopri5", "dop853", "ida", "cvode"};
    std::size_t compared = 0;
    for (std::size_t k = 0; k < members(); ++k) {
        const Cascade c = CascadeDraw(static_cast<unsigned>(k)).cascade();
        SCOPED_TRACE(k);
        State expected;
        try {
            expected = CascadeSimulator(c).run();
        } catch (const Undecided&) {
            continue;
        }
        ++compared;
        RunOptions options;
        options.integrator = k_integrators[k % k_integrators.size()];
        const TextRun r = run_text(text_of(c), options);
        ASSERT_TRUE(r.run.rows() > 0) << text_of(c);
        const std::size_t last = r.run.rows() - 1;
        EXPECT_EQ(r.run.t(last), c.duration) << text_of(c);
        for (std::size_t i = 0; i < expected.size(); ++i)
            EXPECT_NEAR(r.at(last, k_names[i]), expected[i], 1e-6) << k << ' ' << k_names[i] << '\n' << text_of(c);
    }
    EXPECT_GT(2 * compared, members());
}

}  // namespace
}  // namespace appell
