// Integrates the model by the classical method of order 4 in equal steps and prints a table (CSV): t, the state, the energy.
//     ./driver [UNTIL [STEPS]]
// After each step the state is brought back onto the constraints. A step in which an event happens is cut there; the run ends at
// one that stops it. Exit status: 0 good, 1 the run has a problem.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "MODEL_HEADER"

namespace {

using NAMESPACE::Model;

bool good(int status) { return status == NAMESPACE::ok || status == NAMESPACE::inconsistent_rows; }

// no sign before what is no number
void print_number(const char* separator, double value) {
    if (value != value)
        std::printf("%snan", separator);
    else
        std::printf("%s%.17g", separator, value);
}

void print_row(Model& model, double t, const Model::State& x) {
    std::array<double, 2> energy{};
    model.energies(t, x, energy);
    print_number("", t);
    for (const double value : x) print_number(",", value);
    print_number(",", energy[0] + energy[1]);
    std::printf("\n");
}

bool step(Model& model, double t, double h, Model::State& x) {
    constexpr double at[] = {0, 0.5, 0.5, 1}, weight[] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
    Model::State slope{}, stage{}, end = x;
    for (int j = 0; j < 4; ++j) {
        for (std::size_t i = 0; i < x.size(); ++i) stage[i] = x[i] + h * at[j] * slope[i];
        if (!good(model.rate(t + h * at[j], stage, slope))) return false;
        for (std::size_t i = 0; i < x.size(); ++i) end[i] += h * weight[j] * slope[i];
    }
    x = end;
    return model.project(t + h, x) == NAMESPACE::ok;
}

using Events = std::array<double, NAMESPACE::EVENTS>;

// Does its number pass through zero, in a direction that counts? It has passed where it is clearly beyond: laws that jump there
// then have their values of that side.
bool passes(int event, const Events& before, const Events& after) {
    const double which = NAMESPACE::event_table[event].value;
    const double from = before[std::size_t(event)], to = after[std::size_t(event)];
    return (which <= 0 && from > 0 && to < 0) || (which >= 0 && from < 0 && to > 0);
}

// an event that does; -1 without any
int passing(const Events& before, const Events& after) {
    int found = -1;
    for (int i = 0; i < NAMESPACE::EVENTS; ++i)
        if (passes(i, before, after)) found = i;
    return found;
}

// what is on zero has the side that it had before
void keep_sides(const Events& now, Events& before) {
    for (std::size_t i = 0; i < now.size(); ++i)
        if (now[i] != 0) before[i] = now[i];
}

// A step of length h, or of what there is before the first event: halved between where it has not happened and where it has.
struct Advance {
    double h;
    int event = -1;
    bool good = true;
};

Advance advance(Model& model, double t, double h, const Events& before, Model::State& x) {
    const Model::State begin = x;
    Advance out{h};
    Events after{};
    const auto try_step = [&](double length, Model::State& end) {
        end = begin;
        if (!step(model, t, length, end)) return false;
        model.events(t + length, end, after);
        return true;
    };
    out.good = try_step(h, x);
    if (NAMESPACE::EVENTS == 0 || !out.good) return out;
    out.event = passing(before, after);
    double low = 0;
    for (int k = 0; out.event >= 0 && k < 60 && out.h - low > 1e-15 * (std::fabs(t) + out.h); ++k) {
        const double middle = 0.5 * (low + out.h);
        Model::State end;
        if (!try_step(middle, end)) break;
        if (const int earlier = passing(before, after); earlier >= 0) {
            out.h = middle;
            out.event = earlier;
            x = end;
        } else {
            low = middle;
        }
    }
    return out;
}

}  // namespace

int main(int count, char** words) {
    const auto model = std::make_unique<Model>();
    const double from = PLAN_FROM, until = count > 1 ? std::atof(words[1]) : PLAN_UNTIL;
    const long steps = count > 2 ? std::atol(words[2]) : 10000;
    Model::State x = Model::start_values();
    if (!good(model->start(from, x))) return 1;
    std::printf("t");
    for (int i = 0; i < NAMESPACE::STATES; ++i) std::printf(",%s", NAMESPACE::state_table[i].name);
    std::printf(",energy\n");
    Events before{}, after{};
    std::array<bool, NAMESPACE::EVENTS> happened{};
    model->events(from, x, before);
    for (long k = 0; k < steps; ++k) {
        const double end = from + (k + 1) * (until - from) / steps;
        double t = from + k * (until - from) / steps;
        if (k % (steps > 500 ? steps / 500 : 1) == 0) print_row(*model, t, x);
        // what is left of the step behind an event is taken as well
        for (bool whole = false; !whole;) {
            const Advance taken = advance(*model, t, end - t, before, x);
            bool good_step = taken.good;
            whole = taken.event < 0;
            t = whole ? end : t + taken.h;
            if (!whole) {
                // those that happen at the same instant happen, too
                bool stops = false;
                model->events(t, x, after);
                for (int i = 0; i < NAMESPACE::EVENTS; ++i) {
                    happened[std::size_t(i)] = i == taken.event || passes(i, before, after);
                    if (!happened[std::size_t(i)]) continue;
                    std::fprintf(stderr, "t = %.9g: event %s\n", t, NAMESPACE::event_table[i].name);
                    stops = model->happen(i, t, x) || stops;
                }
                if (stops) {
                    print_row(*model, t, x);
                    return 0;
                }
                good_step = model->project(t, x) == NAMESPACE::ok;
            }
            if (!good_step) {
                std::fprintf(stderr, "driver: status %d in step %ld\n", model->last_report().status, k + 1);
                return 1;
            }
            model->events(t, x, after);
            keep_sides(after, before);
            // an event leaves its own function at zero: it may not happen again at once
            for (std::size_t i = 0; !whole && i < before.size(); ++i)
                if (happened[i]) before[i] = 0;
            whole = whole || !(t < end);
        }
    }
    print_row(*model, until, x);
}
