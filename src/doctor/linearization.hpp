// Equilibria, steady motions and the linear equations about them, of a system with constraints.
//
// With z = (u', lambda, tau), everything that is solved for, the equations are a residual R(q, u, z, w) = 0:
//     M u' - A' lambda - C - D tau = f,   A u' = b           (w: the inputs)
// and q' = K u + k. Differentiated where R = 0: R_z dz + R_x dx + R_w dw = 0, which is solved with numbers; nothing is inverted
// symbolically. dx is not free: it is tangent to the constraints. The dependent coordinates and speeds follow from the
// independent ones (dynam/state_partition.hpp) by the jacobians of the position and velocity rows, which leaves
//     y' = A y + B w
// over the independent ones. A quaternion varies by small turns about the axes of its frame, de = 1/2 G(e) dtheta, and
// dtheta' = dw - w x dtheta along a motion in which it turns with w.
//
// All is done with fifty digits: what is zero then is told from what is small, eigenvalues that are zero by a symmetry are
// counted (eigenvalues.hpp), and no difference quotient appears anywhere. docs/linearization.md has the theory.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "doctor/eigenvalues.hpp"
#include "dynam/constrained_dynamics.hpp"
#include "tape/scalars.hpp"

namespace appell {

// one entry of y
struct Variation {
    enum class Kind { coordinate, turn, speed };
    Kind kind;
    std::uint32_t index;    // of the coordinate, the frame or the speed
    std::uint32_t axis;     // of a turn
    std::string name;       // x, u1, turn(B, x)
    std::string rate_name;  // x', u1', ...
};

// a coordinate, a speed or a rate that keeps a value while the trim is sought
struct Held {
    enum class Kind { coordinate, speed, rate };
    Kind kind;
    std::uint32_t index;
    Digits50 value;
};

enum class TrimKind {
    none,         // the start itself, which must be an equilibrium or a steady motion
    equilibrium,  // q' = 0, u' = 0
    steady,       // u' = 0 of the independent speeds, q' = 0 of the coordinates that matter
    instant       // any state: how the rates change with the state at this instant, as implicit methods need it
};

struct TrimRequest {
    TrimKind kind = TrimKind::none;
    std::vector<Held> held;
};

struct MovedValue {
    std::string name;
    double from, to;
};

// a coordinate (or turn) that the equations of the others do not contain
struct Ignorable {
    Variation variation;
    double rate;  // with which it runs
};

struct LinearSystem {
    TrimKind kind = TrimKind::equilibrium;  // what was found
    std::vector<Digits50> point;            // t, q, u, parameters, inputs there
    std::vector<Digits50> speed_rates;      // u' there; those of dependent speeds need not vanish
    std::vector<Digits50> multipliers;      // by row of the dynamics that ideal forces keep
    std::vector<Digits50> actuators;
    std::vector<MovedValue> moved;     // by the search, from the start on the constraints
    std::vector<Variation> variables;  // y: coordinates, turns, speeds
    std::vector<Variation> dependent;  // what follows from y and the constraints
    std::vector<Ignorable> ignorable;  // not in y
    std::vector<double> running;       // by variable: the rate of a coordinate or turn along a steady motion; zero otherwise
    std::vector<std::string> inputs;   // w
    std::vector<Digits50> A, B;        // row by row
    std::vector<Digits50> scale;       // by variable: what stands for one unit in the metric of mass
    Spectrum spectrum;
    bool frozen_time = false;  // something depends on t, which is held

    [[nodiscard]] double a(std::size_t row, std::size_t column) const {
        return static_cast<double>(A[row * variables.size() + column]);
    }
    [[nodiscard]] double b(std::size_t row, std::size_t column) const {
        return static_cast<double>(B[row * inputs.size() + column]);
    }
};

struct LinearizerOptions {
    // The servo rows are let go and the magnitudes of their actuators become inputs, with the values they have at the trim.
    bool open = false;
    std::uint64_t seed = 1;
};

class Linearizer {
public:
    Linearizer(const ConstrainedDynamics& dynamics, const LinearizerOptions& options = {});
    ~Linearizer();

    // `start`: t, q, u, parameters, inputs. It is moved onto the constraints first. What stands in the way is a diagnostic.
    // Which variables are independent and which ignorable is decided at the first call and kept for the next ones, while it
    // serves.
    [[nodiscard]] Result<LinearSystem> at(std::vector<Digits50> start, const TrimRequest& request);

    // The rates of the variables of the last result where one of them is moved by `step` and the dependent ones are solved for:
    // A is their derivative. For tests, of closed loops.
    [[nodiscard]] std::vector<Digits50> reduced_rate(const LinearSystem& system, std::size_t moved, const Digits50& step);

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace appell
