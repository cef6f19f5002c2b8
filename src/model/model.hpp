// The typed model: what the user said, as data. Vectors and scalars are nodes of the model's graph, as written: vel(P), omega(B)
// and basis vectors are vector symbols that `kinem` resolves. All lists are in dependency order: a frame's parent, a point's base
// come before it. A Model is const once it is built (builder.hpp); deriving from it appends to its graph, which never changes
// what is there.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/source.hpp"
#include "expr/graph.hpp"
#include "model/dimension.hpp"

namespace appell {

// what a vector symbol of the graph stands for; `first` and `second` of VectorSymbolInfo are the ids named here
enum class VectorKind : std::uint8_t {
    basis,         // frame, axis 0..2
    position,      // point; from the origin
    velocity,      // point; rate of its position in the Newtonian frame
    velocity_at,   // frame, point; velocity of the frame's (body's) material point that is at the point now
    omega,         // frame; angular velocity in the Newtonian frame
    acceleration,  // point; in the Newtonian frame
    alpha,         // frame; angular acceleration in the Newtonian frame
    // what keeps a constraint row, in outputs and plots; `dynam` puts the expressions in
    constraint_force,   // multiplier of the row; vector symbol of the place it acts on: pos(P), or vel(B at P) for B's point at P
    constraint_torque,  // multiplier of the row; frame it acts on
    nonideal_force,     // constraint; place as above: the nonideal member of its force (001 eq. 40)
    nonideal_torque,    // constraint; frame
    friction,           // constraint: what its friction does, whether it slides or sticks
    quantity            // index in Model::quantities
};

// Quantities of the derived dynamics that outputs, plots and claims may name, beside energies and constraint forces; `dynam`
// puts the expressions in.
enum class QuantityKind : std::uint8_t {
    active,                // first: speed; generalized active force F_r
    inertia,               // first: speed; generalized inertia force F*_r, the u' included
    nonholonomic_active,   // the same on independent speeds, the dependent ones following: with a tilde
    nonholonomic_inertia,  //
    given,                 // first: speed; the three members of 001 eq. 40 as generalized forces: given,
    ideal,                 // ideal,
    nonideal,              // nonideal
    time_derivative,       // of a scalar, along the motion
    partial,               // of a scalar or vector by the symbol `first`, every other one held
    nonholonomic_partial,  // by u_r or u_r' of an independent speed, the dependent ones following
    matrix,                // first: index in k_matrix_names; row, column from 1; column 0: place in a matrix of one row or column
    count                  // first: index in k_count_names
};

// Columns and speeds of J1 ... V are in the order: independent speeds, dependent speeds (003 eqs. 16-44).
inline constexpr std::array<std::string_view, 12> k_matrix_names{"M", "f", "A", "b", "J1", "J2", "D", "d", "A1", "A2", "T", "V"};
enum class MatrixName : std::uint8_t { M, f, A, b, J1, J2, D, d, A1, A2, T, V };
inline constexpr std::array<std::string_view, 5> k_count_names{"coordinates", "speeds", "rows", "rank", "freedoms"};
enum class CountName : std::uint8_t { coordinates, speeds, rows, rank, freedoms };

struct Quantity {
    QuantityKind kind;
    NodeId of;  // of derivatives: what is differentiated, as written
    std::uint32_t first = 0, row = 0, column = 0;
    SymbolId symbol;  // of a scalar quantity; vectors have a vector symbol of kind `quantity`
    Span span;
};

struct Parameter {
    std::string name;
    SymbolId symbol;
    double value = 0;  // SI
    std::optional<Dimension> dimension;
    Span span;
};

// a signal from outside; a run needs its value
struct Input {
    std::string name;
    SymbolId symbol;
    std::optional<double> value;  // constant default, SI
    std::optional<Dimension> dimension;
    Span span;
};

struct Coordinate {
    std::string name;
    SymbolId q, rate, rate2;  // q, q', q''
    double start = 0;
    bool fixed = false;  // the start value must not be moved by projection
    std::optional<Dimension> dimension;
    Span span;
};

struct Speed {
    std::string name;
    SymbolId u, rate;   // u, u'
    NodeId definition;  // in q', q, t and vectors
    double start = 0;
    bool given = false;  // the start value is the user's, also where it is 0
    bool fixed = false;
    std::optional<Dimension> dimension;
    Span span;
};

// Start values of q' where the user gives those instead of u: coordinate index, value.
struct StartRate {
    std::size_t coordinate;
    double value;
    Span span;
    bool fixed = false;
};

// turn about an axis fixed in both frames; the axis is given in the parent's (= the child's) basis and need not be a unit vector
struct SimpleRotation {
    std::array<NodeId, 3> axis;
    NodeId angle;
};
struct RotationSequence {
    bool body_fixed = true;     // else space-fixed
    std::array<int, 3> axes{};  // 0..2
    std::array<NodeId, 3> angles;
};
struct QuaternionRotation {
    std::array<std::size_t, 4> coordinates{};  // indices of e0 (scalar part), e1, e2, e3
    std::array<SymbolId, 3> rates;             // components of the relative angular velocity in the child's basis
};
struct DirectionCosines {
    std::array<NodeId, 9> rows;  // R: parent components = R * child components, row by row
};
using Orientation = std::variant<SimpleRotation, RotationSequence, QuaternionRotation, DirectionCosines>;

struct Frame {
    std::string name;
    FrameId parent;  // invalid for the Newtonian frame
    Orientation orientation;
    std::array<NodeId, 3> basis;  // the vector nodes of its basis vectors
    Span span;
};

struct Point {
    std::string name;
    NodeId position;  // vector from the origin, usually pos(another point) + offset; zero for the origin
    Span span;
};

struct Particle {
    std::string name;
    PointId point;
    NodeId mass;
    Span span;
};

// How a body is drawn; nothing else follows from it. Sizes are like those of a SolidShape (report/scene.hpp), centred at the mass
// centre.
struct BodyShape {
    enum class Kind { ball, cylinder, box };
    Kind kind = Kind::ball;
    std::array<NodeId, 3> size;  // of a ball: radius; of a cylinder: radius, length; of a box: edges. The rest is zero
    int axis = 2;                // of the body's frame: a cylinder's own
};

struct Body {
    std::string name;
    FrameId frame;
    PointId center;  // mass centre
    NodeId mass;
    std::array<NodeId, 6> inertia;  // Ixx Iyy Izz Ixy Iyz Izx of the dyadic (products of inertia with their minus sign)
    FrameId inertia_frame;          // basis of the six
    PointId inertia_point;          // the point they are about; the centre if not given otherwise
    std::optional<BodyShape> shape = {};
    Span span;
};

struct ForceLoad {
    PointId point;
    FrameId body;  // valid: acts on this body's material point at `point`; else on the point itself
    NodeId force;
};
struct TorqueLoad {
    FrameId body;
    FrameId reaction;  // valid: the opposite torque acts on it
    NodeId torque;
};
struct GravityLoad {
    NodeId acceleration;  // of every particle and body
};
struct SpringLoad {
    PointId first, second;
    NodeId stiffness, length;
};
struct DamperLoad {
    PointId first, second;
    NodeId coefficient;
};
struct GeneralizedLoad {
    std::size_t speed;
    NodeId force;
};
struct PotentialLoad {
    NodeId energy;  // of q and t: forces -dV/dq
};
struct Load {
    std::variant<ForceLoad, TorqueLoad, GravityLoad, SpringLoad, DamperLoad, GeneralizedLoad, PotentialLoad> what;
    std::string text;  // as written
    Span span;
};

// left - right, exactly as written. A vector equation stands for its three components in the Newtonian basis. Constraints that
// are not always there (contacts, sticking, those an event drops or enforces) make modes of the motion: dynam/modes.hpp.
struct Constraint {
    std::string name;
    NodeId phi;                               // scalar or vector
    std::vector<SymbolId> multipliers;        // one, or three for a vector equation
    std::vector<SymbolId> ideal_multipliers;  // what they were without any nonideal force (001 eq. 40, second member)
    std::string text;                         // as written
    Span span;
    std::vector<std::size_t> actuators;   // of a servo-constraint that they keep; otherwise ideal forces do
    bool unilateral = false;              // a contact: phi >= 0, closed where it is 0 and its multiplier positive
    NodeId restitution;                   // of a contact, Newton's; invalid: none
    bool off_at_start = false;            // until an event enforces it
    std::optional<std::size_t> stick_of;  // index in Model::frictions: it holds while that friction sticks
};

// what acts: a force, a torque or a generalized force; of an actuator, its direction
using Action = std::variant<ForceLoad, TorqueLoad, GeneralizedLoad>;

// The nonideal force C of a constraint (001 eq. 9). It may depend on constraint forces: on what they were without any nonideal
// force (ideal multipliers), or on what they are (multipliers).
struct NonidealForce {
    std::size_t constraint;
    Action what;
    std::string text;
    Span span;
};

// How constraints share a force that is not unique: their multipliers stand in the ratio of the weights (dynam/shares.hpp).
struct Share {
    std::vector<std::size_t> constraints;  // as many rows in each
    std::vector<NodeId> weights;           // of parameters
    std::string text;
    Span span;
};

// Dry friction that belongs to a constraint: against the slip, of the size `bound`, while there is slip; whatever keeps the slip
// at zero, up to that size, while there is none.
struct Friction {
    std::size_t constraint;
    std::size_t stick;              // the constraint slip = 0
    ForceLoad on;                   // where it acts; the force is not filled in
    std::optional<ForceLoad> from;  // where its opposite acts
    NodeId slip;                    // vector
    NodeId bound, static_bound;     // scalars; the second one invalid where it is the first
    std::string text;
    Span span;
};

// Something that happens when `value` passes through zero.
struct Event {
    std::string name;
    NodeId value;
    int passage = 0;  // -1: falling, 1: rising, 0: either
    bool stop = false;
    struct Set {
        SymbolId symbol;  // a coordinate, a speed, or a rate that is a speed
        NodeId value;     // at the state before
    };
    std::vector<Set> sets;
    std::vector<std::size_t> drops, enforces;  // constraints
    std::string text;
    Span span;
};

// A direction in which servo-constraints are kept; its magnitude is an unknown of the equations.
struct Actuator {
    std::string name;
    SymbolId magnitude;
    std::vector<Action> directions;  // one, or a force and its opposite
    std::string text;
    Span span;
};

// An equation that the author believes; `misprint`: one that a source prints and that does not hold.
struct Claim {
    std::string label;
    bool misprint = false;
    struct Equation {
        NodeId left, right;  // both scalars, or both vectors
        std::string entry;   // of a matrix: "(1, 2)"
    };
    std::vector<Equation> equations;      // one, or the entries of a matrix
    std::optional<std::uint32_t> matrix;  // index in k_matrix_names, of a whole matrix
    std::size_t rows = 0, columns = 0;    // of it; no columns: a list, which stands for one row or one column
    NodeId where;                         // a condition (1 where it holds); invalid for all states
    std::string text;
    Span span;
};

// An equation that is named, imposed or not; its components as written, left - right.
struct StatedEquation {
    std::string name;
    std::vector<NodeId> phi;  // scalars or vectors
    std::string text;
};

// The claim that equations imply others, except where one of the exceptions holds.
struct Implication {
    std::vector<StatedEquation> premises, conclusions, exceptions;
    std::string text;
    Span span;
};

struct Output {
    std::string name;
    NodeId value;
    std::optional<Dimension> dimension;
    Span span;
};

// One curve of a plot: an expression against another, or the path of a point.
struct PlotTrace {
    std::string label;
    NodeId y;      // invalid for a path
    PointId path;  // valid for a path
    std::optional<Dimension> dimension;
};
struct Plot {
    std::vector<PlotTrace> traces;
    NodeId x;  // invalid: time
    std::string x_label;
    std::optional<Dimension> x_dimension;
    std::optional<std::array<int, 2>> plane;  // Newtonian axes that paths are drawn in; found from the motion otherwise
    Span span;
};

struct RunPlan {
    double from = 0;
    double duration = 10;
    std::optional<double> every;  // spacing of output rows, 0: a row after every step; else 500 rows, unless times are given
    std::vector<double> at;       // times of further rows
    bool at_events = false;       // rows where something happens, too: before and after it
    std::optional<double> step;   // of integrators with a fixed one
    std::optional<double> first_step, max_step;  // of the others
    double rtol = 1e-8;
    double atol = 1e-10;
    std::string formulation = "multipliers";
    std::string integrator = "dopri5";  // base/integrators.hpp
    std::string stabilize = "project";  // base/drift_control.hpp
    std::vector<double> gains;          // of Baumgarte's damping: one, or two; empty: from the length of the steps
    // absolute tolerances of their own
    struct Tolerance {
        enum class Of { coordinate, rate, speed };
        Of of;
        std::size_t index;  // of the coordinate or the speed
        double value;
        Span span;
    };
    std::vector<Tolerance> tolerances;
    Span span;
};

struct Model {
    std::string name;
    std::string title;
    std::shared_ptr<Graph> graph;
    SymbolId time;
    // stand for energies in outputs and plots; `dynam` puts the expressions in
    SymbolId kinetic_energy, potential_energy, total_energy;

    std::vector<Parameter> parameters;
    std::vector<Input> inputs;
    std::vector<Coordinate> coordinates;
    std::vector<Speed> speeds;
    std::vector<StartRate> start_rates;
    std::vector<Frame> frames;  // the first is Newtonian
    std::vector<Point> points;  // the first is the origin, fixed in the Newtonian frame
    std::vector<Particle> particles;
    std::vector<Body> bodies;
    std::vector<Load> loads;
    std::vector<Constraint> constraints;
    std::vector<NonidealForce> nonideal;
    std::vector<Share> shares;
    std::vector<Friction> frictions;
    std::vector<Event> events;
    std::vector<Actuator> actuators;
    std::vector<SymbolId> independent;  // speeds u chosen by the user, or rates q' that are speeds; empty: by conditioning
    Span independent_span;
    std::vector<std::size_t> evidence;  // constraints whose multipliers stay in the equations of `minimal`
    std::vector<Quantity> quantities;   // each after the ones it contains
    std::vector<Claim> claims;
    std::vector<Implication> implications;
    std::vector<Output> outputs;
    std::vector<Plot> plots;
    RunPlan run;

    // constraints may come and go: a run has modes
    [[nodiscard]] bool switches() const;
    [[nodiscard]] const Frame& frame(FrameId id) const { return frames.at(id.index()); }
    [[nodiscard]] const Point& point(PointId id) const { return points.at(id.index()); }
    [[nodiscard]] static constexpr FrameId newtonian() { return FrameId(0); }
    [[nodiscard]] static constexpr PointId origin() { return PointId(0); }
};

}  // namespace appell
