// The tables themselves. A new statement, function or unit is one row here, plus its elaboration.
#include "lang/schema.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/drift_control.hpp"
#include "base/integrators.hpp"

namespace appell {

namespace {

using Kind = StatementKind;

constexpr auto k_statements = std::to_array<StatementInfo>({
    {Kind::system, "system", "system NAME [\"title\"]", "Names the model. It is the first statement of a model file.",
     "system pendulum \"A mass on a rod\"", false},
    {Kind::include, "include", "include \"FILE\"",
     "Puts the statements of another file in this place. The path is relative to the including file and can not leave the "
     "model's folder.",
     "include \"parts/wheel.appell\"", false},
    {Kind::newtonian, "newtonian", "newtonian NAME", "Names the Newtonian frame; it is called N when this statement is absent.",
     "newtonian N", false},
    {Kind::size, "size", "size NAME = NUMBER [, ...]",
     "A whole number that shapes the model: bounds of families, indices. `--set` may override it.", "size n = 5", false},
    {Kind::param, "param", "param NAME [= VALUE] [, ...]",
     "A parameter. The value is a constant expression of numbers, units and other parameters; without a value it must be given "
     "by `--set`. "
     "Parameters stay symbols in the equations.",
     "param m = 1 kg, l = 2 m, k", true},
    {Kind::input, "input", "input NAME [= VALUE] [, ...]", "A signal from outside, with a constant default value.",
     "input F = 0 N", true},
    {Kind::coord, "coord", "coord NAME [= VALUE] [fixed] [, ...]",
     "A generalized coordinate and its start value (0 when absent). `fixed`: assembling the start must not move it.",
     "coord x = 1 m, theta = 30 deg fixed", true},
    {Kind::speed, "speed", "speed NAME = EXPR [, ...]",
     "A generalized speed, defined by a rate q' or by any expression linear in the rates, velocities included. Without any speed "
     "statement the speeds are the rates of the coordinates and, for a quaternion frame, the components of its angular velocity "
     "along its own axes. To give a quaternion body a start spin, declare speeds such as w1 = dot(omega(B), B.x).",
     "speed u1 = x', u2 = dot(vel(P), B.x)", true},
    {Kind::start, "start", "start NAME = VALUE [fixed] [, ...]", "Start values of speeds, of coordinates, or of rates q'.",
     "start u1 = 0.3 m/s, x' = 2 m/s fixed", true},
    {Kind::let, "let", "let NAME = EXPR [, ...]", "A name for a scalar or vector expression.", "let r = sqrt(x^2 + y^2)", true},
    {Kind::function, "function", "function NAME(ARG, ...) = EXPR  |  function NAME(ARG, ...) opaque",
     "A scalar function of scalars: given by an expression, or opaque (known by name and partial derivatives only).",
     "function f(x, t) = sin(x)*t", false},
    {Kind::frame, "frame",
     "frame NAME from FRAME rotate ANGLE about AXIS [, ...]  |  body|space SEQUENCE (A, B, C)  |  quaternion (E0, E1, E2, E3)  | "
     " "
     "cosines ((..), (..), (..))",
     "A frame turned from another one: about an axis x, y, z or (a, b, c) given in the common basis (several turns follow each "
     "other, each "
     "about axes of the frame reached so far); by a body-fixed or space-fixed sequence such as zxz; by a quaternion of four "
     "coordinates; or "
     "by direction cosines R with parent components = R * child components.",
     "frame B from N rotate theta about z", true},
    {Kind::point, "point", "point NAME fixed in FRAME  |  point NAME at POSITION",
     "A point. `fixed in` the Newtonian frame names the origin (O when absent). A position is a point plus or minus vectors.",
     "point P at O + l*B.x", true},
    {Kind::particle, "particle", "particle NAME mass MASS [at POSITION]",
     "A point with mass. Without `at` the point of that name must be declared.", "particle P mass m at O + x*N.x", true},
    {Kind::body, "body",
     "body NAME frame FRAME mass MASS center POINT | center at POSITION inertia (Ixx, Iyy, Izz [, Ixy, Iyz, Izx]) [about POINT] "
     "[in FRAME] [shape sphere R | shape box (A, B, C) | shape disk R [along AXIS] | shape cylinder (R, L) [along AXIS] | shape "
     "rod "
     "L [along AXIS]]",
     "A rigid body: its frame, mass, mass centre and inertia. The inertia is about the mass centre and in the body's frame "
     "unless said "
     "otherwise; products of inertia carry their minus sign (entries of the dyadic). `center at` makes the point NAME_o. "
     "`shape` says how the report draws it, around the mass centre and along the body's axes, z unless said otherwise; nothing "
     "else "
     "follows from it. Without, it is drawn as the uniform solid that has its inertia.",
     "body D frame B mass m center C inertia (A, A, 2*A)", true},
    {Kind::gravity, "gravity", "gravity VECTOR", "A uniform gravitational acceleration of every particle and body.",
     "gravity -g*N.z", false},
    {Kind::force, "force", "force on POINT|BODY [at POINT] [from POINT] = VECTOR",
     "A force on a point, or on the material point of a body that is at a point (at its mass centre if none is named); `from`: "
     "its "
     "opposite acts on that point.",
     "force on P = s*N.x", true},
    {Kind::torque, "torque", "torque on BODY [from BODY] = VECTOR",
     "A torque on a body or frame; `from`: its opposite acts on that one.", "torque on B from A = T*A.z", true},
    {Kind::spring, "spring", "spring POINT POINT stiffness K [length L]",
     "A linear spring between two points, with its natural length (0 when absent).", "spring P Q stiffness k length l0", true},
    {Kind::damper, "damper", "damper POINT POINT coefficient C", "A linear damper between two points.",
     "damper P Q coefficient c", true},
    {Kind::load, "load", "load on SPEED = EXPR", "A generalized force on a speed.", "load on u1 = -c*u1", true},
    {Kind::potential, "potential", "potential EXPR", "A potential energy of coordinates and time; its forces are -dV/dq.",
     "potential k*x^2/2", true},
    {Kind::constraint, "constraint",
     "constraint NAME: LEFT = RIGHT [, ...] [initially off]  |  constraint NAME: RELATION [, ...]  |  constraint NAME: GAP >= 0 "
     "[restitution E]",
     "A constraint: scalar or vector equations in positions, velocities and angular velocities, or the relations orthogonal(v, "
     "w), "
     "parallel(v, w), rolling(B, A, P). Several equations are called NAME.1, NAME.2, ... The multiplier belongs to left - right "
     "as "
     "written. `initially off`: it holds from the event on that enforces it. An inequality of positions is a contact: it closes "
     "where the gap comes to zero, by an impact that reverses the rate of the gap times the coefficient of restitution (0 when "
     "absent; without friction during the impact), and opens where its multiplier, positive while it pushes, comes to zero.",
     "constraint perpendicular: dot(vel(P1), vel(P2)) = 0", true},
    {Kind::nonideal, "nonideal",
     "nonideal CONSTRAINT: force on POINT|BODY [at POINT] [from POINT] = VECTOR | torque on BODY [from BODY] = VECTOR | load on "
     "SPEED = EXPR | friction on POINT|BODY [at POINT] [from POINT|BODY] [along VECTOR] = BOUND [static BOUND] [, ...]",
     "The nonideal part of a constraint's force. It may depend on constraint forces: ideal(c) and ideal(c, P) are what they were "
     "without any nonideal part, reaction(c) and reaction(c, P) what they are; a law that the latter leave without a solution, "
     "or with several, is diagnosed. `friction` is dry friction: a force of the size BOUND against the velocity of the place "
     "relative to what `from` names, tangential to the constraint, while it slides; while it sticks, the force that keeps it at "
     "rest, as long as that is no larger than BOUND, or than the one behind `static`. `along` gives the direction of the slip "
     "where it can not be read off the constraint. friction(c) is the force.",
     "nonideal contact: friction on P = mu*abs(reaction(contact))", true},
    {Kind::share, "share",
     "share CONSTRAINT = CONSTRAINT [= ...]  |  share CONSTRAINT : CONSTRAINT [: ...] = WEIGHT : WEIGHT [: ...]",
     "How constraints share a force that is not unique, such as the load of four feet or of a guide written twice: their "
     "multipliers are equal, or stand in the ratio of the weights. Without it the multipliers of least norm are taken. Vector "
     "constraints share by component. Of contacts those share that are closed. A share has no effect while the forces are "
     "unique; one that contradicts the others, or that the constraints never leave free, is an error.",
     "share left : right = 1 : 2", true},
    {Kind::actuator, "actuator",
     "actuator NAME: force on POINT|BODY [at POINT] [from POINT] along VECTOR | torque on BODY [from BODY] along VECTOR | load "
     "on SPEED",
     "A direction in which servo-constraints may be kept; its magnitude is actuator(NAME).", "actuator F1: force on P along N.x",
     true},
    {Kind::servo, "servo", "servo NAME: LEFT = RIGHT [, ...] [by ACTUATOR, ...]",
     "A control objective, kept by actuators; without any, by ideal forces like a constraint. More actuators than needed share "
     "the work with the least sum of squares of their magnitudes.",
     "servo track: x = 1 m by F1", true},
    {Kind::independent, "independent", "independent SPEED, ...",
     "Fixes the independent speeds of `minimal` and of the matrices J1 to V; they are chosen by conditioning at the start when "
     "absent. Where contacts, friction or events switch constraints, the choice is a preference: a mode in which it does not fit "
     "takes of the speeds named as many as are independent there, and others where these are too few "
     "([N0867](diagnostics.md#n0867)). A speed may be named by its rate x' where it is that rate.",
     "independent u1, u2", false},
    {Kind::evidence, "evidence", "evidence CONSTRAINT, ...",
     "Constraints whose forces stay in the equations that `derive` prints, with their multipliers; the others are eliminated "
     "first. `minimal` and `nonminimal` follow it, `minimal` is the default then; `multipliers` has all constraint forces in its "
     "equations, the other formulations none, and say so. `derive --evidence all|motion|none|NAME,...` replaces it. Motion and "
     "forces do not depend on it: a run has the multipliers of all constraints as columns, `check` compares all formulations.",
     "evidence c1", false},
    {Kind::claim, "claim", "claim \"LABEL\": LEFT = RIGHT [where CONDITION]",
     "An equation that the derived dynamics must satisfy: scalars, vectors, or matrix(NAME) = ((a, b), (c, d)). `check` tests it "
     "with 50 digits at random consistent states, those where the condition holds.",
     "claim \"eq. 3\": lambda(c) = m*g where u3 > 0", true},
    {Kind::misprint, "misprint", "misprint \"LABEL\": LEFT = RIGHT [where CONDITION]",
     "An equation that a source prints and that does not hold. `check` shows that it fails; one that holds is an error.",
     "misprint \"eq. 4\": lambda(c) = -m*g", true},
    {Kind::condition, "condition", "condition NAME: LEFT = RIGHT [, ...]  |  condition NAME: RELATION [, ...]",
     "An equation with a name that is not imposed; written like a constraint. For `imply`.",
     "condition same: mag(vel(P1)) = mag(vel(P2))", true},
    {Kind::imply, "imply", "imply NAME, ... => NAME, ... [except NAME, ...]",
     "The claim that some constraints or conditions imply others, except where one of the last ones holds. A conclusion on "
     "positions says that its two sides differ by a constant. `check` searches for states that break it, and says what is "
     "special "
     "about them.",
     "imply c1, c2 => same", true},
    {Kind::event, "event",
     "event NAME: EXPR [rising|falling] => stop | report | set SPEED|COORDINATE = EXPR, ... | drop CONSTRAINT | enforce "
     "CONSTRAINT "
     "[, ...]",
     "Something that happens when an expression passes through zero: the run stops, speeds or coordinates get new values (all "
     "computed from the state before), a constraint goes or comes. Every event is listed in the summary with its time. A "
     "constraint on positions can be enforced where it holds; speeds are then moved onto it as by a plastic impact.",
     "event landing: y falling => stop", true},
    {Kind::output, "output", "output NAME = EXPR [, ...]", "A named column of the results.", "output angle = atan2(y, x)", true},
    {Kind::tolerance, "tolerance", "tolerance NAME = VALUE [, ...]",
     "Absolute tolerances of single coordinates, rates q' and speeds, in their own units, in place of the run's `atol`.",
     "tolerance x = 1e-6 m, u1 = 1e-4 m/s", true},
    {Kind::run, "run",
     "run [for TIME] [from TIME] [every TIME|step] [at (TIME, ...)] [at events] [integrator NAME] [step TIME] "
     "[first_step TIME] [max_step TIME] [rtol NUMBER] [atol NUMBER] [formulation NAME] [stabilize NAME] [gains (G) | (G1, G2)]",
     "The plan of a run. The parts may come in any order, separated by commas or not. Rows are written at the start and the end, "
     "with `every` at equal spacing or after every step, with `at` at the times listed; without either there are 500. With `at "
     "events` rows are written where contacts, friction "
     "and events switch, before and after, too. The integrators are in a table below; `step` is for those with a fixed step, "
     "`first_step`, `max_step`, `rtol` and `atol` for the others. The first step is what is tried where integration sets out, at "
     "the start and after what switches; it is shortened like any other, and chosen from the equations when absent. "
     "`stabilize` says what is done about drift; a table is below, too. The gains of `baumgarte` are negative, in 1/s and 1/s^2; "
     "one gain G stands for (2 G, -G^2), a double root. Rows on velocities take G, or G1/2. With "
     "`formulation minimal` only "
     "independent coordinates and speeds are integrated; the others solve the constraints themselves, at every step and in "
     "every row, so that there is no drift and `stabilize` has nothing to do. Where the independent ones no longer determine "
     "the others well, others are chosen; those of `independent` are kept, and the run ends by name where they fail; "
     "in models that switch constraints they are a preference.",
     "run for 10 s, every 0.01 s, rtol 1e-7, atol 1e-8", false},
    {Kind::plot, "plot", "plot EXPR, ... [vs EXPR]  |  plot path(POINT), ... [in plane AXIS AXIS]",
     "Curves against time or another expression, or the paths of points.", "plot x, y vs t", true},
    {Kind::for_, "for", "for NAME in FIRST..LAST [where CONDITION]",
     "A family: the statements up to `end` are repeated for each value. Members are named x[i]; indices are whole-number "
     "expressions of "
     "sizes and loop names.",
     "for i in 1..n", true},
    {Kind::end, "end", "end", "Closes a family.", "end", true},
});

constexpr std::string_view k_clause_words[] = {
    "at",         "on",          "from",        "in",         "about",     "mass",      "frame",      "center",
    "inertia",    "fixed",       "rotate",      "body",       "space",     "stiffness", "length",     "coefficient",
    "quaternion", "cosines",     "opaque",      "for",        "every",     "step",      "first_step", "max_step",
    "rtol",       "atol",        "formulation", "integrator", "stabilize", "gains",     "vs",         "plane",
    "where",      "by",          "along",       "except",     "rising",    "falling",   "stop",       "report",
    "set",        "drop",        "enforce",     "and",        "or",        "not",       "force",      "torque",
    "load",       "restitution", "initially",   "off",        "friction",  "static",    "shape"};

// scalar operations: angle functions, exp and log take pure numbers
constexpr FunctionSchema operation(std::string_view name, std::string_view syntax, std::string_view description, Op op, int arity,
                                   bool dimensionless) {
    return {name, syntax, "scalar", description, Builtin::operation, op, arity, arity, dimensionless, true};
}

constexpr FunctionSchema mechanics(std::string_view name, std::string_view syntax, std::string_view result,
                                   std::string_view description, Builtin builtin, int least, int most, bool reserved = false) {
    return {name, syntax, result, description, builtin, Op::Constant, least, most, false, reserved};
}

constexpr FunctionSchema generalized(std::string_view name, std::string_view syntax, std::string_view description,
                                     QuantityKind kind) {
    FunctionSchema row = mechanics(name, syntax, "scalar", description, Builtin::generalized_force, 1, 1);
    row.quantity = kind;
    return row;
}

constexpr auto k_functions = std::to_array<FunctionSchema>({
    operation("sqrt", "sqrt(x)", "square root", Op::Sqrt, 1, false),
    operation("exp", "exp(x)", "exponential", Op::Exp, 1, true),
    operation("log", "log(x)", "natural logarithm", Op::Log, 1, true),
    operation("sin", "sin(x)", "sine", Op::Sin, 1, true),
    operation("cos", "cos(x)", "cosine", Op::Cos, 1, true),
    operation("tan", "tan(x)", "tangent", Op::Tan, 1, true),
    operation("asin", "asin(x)", "arc sine", Op::Asin, 1, true),
    operation("acos", "acos(x)", "arc cosine", Op::Acos, 1, true),
    operation("atan", "atan(x)", "arc tangent", Op::Atan, 1, true),
    operation("atan2", "atan2(y, x)", "angle of the direction (x, y)", Op::Atan2, 2, false),
    operation("sinh", "sinh(x)", "hyperbolic sine", Op::Sinh, 1, true),
    operation("cosh", "cosh(x)", "hyperbolic cosine", Op::Cosh, 1, true),
    operation("tanh", "tanh(x)", "hyperbolic tangent", Op::Tanh, 1, true),
    operation("asinh", "asinh(x)", "inverse hyperbolic sine", Op::Asinh, 1, true),
    operation("acosh", "acosh(x)", "inverse hyperbolic cosine", Op::Acosh, 1, true),
    operation("atanh", "atanh(x)", "inverse hyperbolic tangent", Op::Atanh, 1, true),
    operation("abs", "abs(x)", "absolute value", Op::Abs, 1, false),
    operation("sign", "sign(x)", "-1, 0 or 1", Op::Sign, 1, false),
    operation("min", "min(x, y)", "the smaller one", Op::Min, 2, false),
    operation("max", "max(x, y)", "the larger one", Op::Max, 2, false),
    mechanics("if", "if(condition, a, b)", "scalar", "a where the condition holds, else b", Builtin::if_, 3, 3, true),
    mechanics("smooth", "smooth(x)", "scalar",
              "x itself; the conditions in it (`if`, `abs`, `min`, `max`) are harmless: no step has to end where they switch. "
              "Refused where the value of x jumps",
              Builtin::smooth, 1, 1),
    mechanics("sum", "sum(i in a..b: expr)", "as its argument", "sum over a range of whole numbers; of scalars or vectors",
              Builtin::sum, 1, 1, true),
    mechanics("dot", "dot(v, w)", "scalar", "scalar product", Builtin::dot, 2, 2, true),
    mechanics("cross", "cross(v, w)", "vector", "vector product", Builtin::cross, 2, 2, true),
    mechanics("mag", "mag(v)", "scalar", "magnitude of a vector", Builtin::mag, 1, 1),
    mechanics("unit", "unit(v)", "vector", "v/mag(v)", Builtin::unit, 1, 1),
    mechanics("pos", "pos(P) | pos(P, Q)", "vector", "position of P from the origin, or from Q", Builtin::pos, 1, 2),
    mechanics("vel", "vel(P) | vel(P, A) | vel(B at P)", "vector",
              "velocity of P in the Newtonian frame; in frame A: vel(P) - vel(A at P); of the material point of body B that is "
              "at P now",
              Builtin::vel, 1, 2),
    mechanics("omega", "omega(B) | omega(B, A)", "vector", "angular velocity of B in the Newtonian frame, or in A",
              Builtin::omega, 1, 2),
    mechanics("acc", "acc(P)", "vector", "acceleration of P in the Newtonian frame", Builtin::acc, 1, 1),
    mechanics("alpha", "alpha(B)", "vector", "angular acceleration of B in the Newtonian frame", Builtin::alpha, 1, 1),
    mechanics("dt", "dt(v, A) | dt(x)", "vector or scalar",
              "time derivative of a vector in frame A; of a scalar along the motion (outputs, plots and claims only)",
              Builtin::dt, 1, 2),
    mechanics("kinetic", "kinetic()", "scalar", "kinetic energy of the system", Builtin::kinetic, 0, 0),
    mechanics("potential", "potential()", "scalar", "potential energy of gravity, springs and potentials", Builtin::potential, 0,
              0),
    mechanics("energy", "energy()", "scalar", "their sum", Builtin::energy, 0, 0),
    mechanics("lambda", "lambda(c) | lambda(c, x)", "scalar or vector",
              "multiplier of constraint c; of a vector constraint the vector, or its component along x, y or z", Builtin::lambda,
              1, 2),
    mechanics(
        "force", "force(c, P) | force(c, B at P) | force(c, P, x)", "vector",
        "force of constraint c on the point P, or on the material point of body B that is at P now; with an axis: the part of "
        "that component of a vector constraint. Outputs and plots only",
        Builtin::force, 2, 3),
    mechanics("torque", "torque(c, B) | torque(c, B, x)", "vector",
              "torque of constraint c on the body or frame B, or the part of one component. Outputs and plots only",
              Builtin::torque, 2, 3),
    mechanics("ideal", "ideal(c) | ideal(c, P) | ideal(c, B at P) | ideal(c, B)", "scalar or vector",
              "multiplier of constraint c, its force on P, or its torque on B, as it were without any nonideal force",
              Builtin::ideal, 1, 2),
    mechanics("reaction", "reaction(c) | reaction(c, P) | reaction(c, B at P) | reaction(c, B)", "scalar or vector",
              "multiplier of constraint c, its force on P, or its torque on B, as it is: lambda(c), force(c, P), torque(c, B)",
              Builtin::reaction, 1, 2),
    mechanics("nonideal", "nonideal(c, P) | nonideal(c, B at P) | nonideal(c, B)", "vector",
              "nonideal member of the force of constraint c on P, or of its torque on B: its law there, and what all laws add to "
              "the force of its multiplier. ideal(c, P) + nonideal(c, P) is the whole force. `B at P` and `P` are "
              "one place where they always move with the same velocity. Outputs, plots and claims only",
              Builtin::nonideal, 2, 2),
    mechanics("friction", "friction(c)", "vector",
              "friction of constraint c on the place it acts on, sliding or sticking; zero while c is off. Outputs, plots and "
              "events only",
              Builtin::friction, 1, 1),
    mechanics("actuator", "actuator(F)", "scalar", "magnitude of an actuator; outputs, plots and claims only", Builtin::actuator,
              1, 1),
    mechanics("partial", "partial(e, u)", "as its argument",
              "partial derivative of a scalar or vector by a speed, its rate, a coordinate, a rate, a parameter or t, all others "
              "held; vectors by speeds and their rates only. partial(vel(P), u) is a partial velocity. Claims, outputs, plots",
              Builtin::partial, 2, 2),
    mechanics("nonholonomic_partial", "nonholonomic_partial(e, u)", "as its argument",
              "by an independent speed u or its rate u', the dependent ones following the constraints: "
              "nonholonomic_partial(acc(P), u') is a nonholonomic partial acceleration. Needs `independent`",
              Builtin::nonholonomic_partial, 2, 2),
    generalized("active", "active(u)", "generalized active force on a speed", QuantityKind::active),
    generalized("inertia", "inertia(u)", "generalized inertia force on a speed, the accelerations included",
                QuantityKind::inertia),
    generalized("nonholonomic_active", "nonholonomic_active(u)",
                "generalized active force on an independent speed, the dependent ones following; needs `independent`",
                QuantityKind::nonholonomic_active),
    generalized("nonholonomic_inertia", "nonholonomic_inertia(u)",
                "generalized inertia force on an independent speed, the dependent ones following; needs `independent`",
                QuantityKind::nonholonomic_inertia),
    generalized("generalized_given", "generalized_given(u)",
                "what acts on a speed without any constraint: active force and the inertia terms without accelerations",
                QuantityKind::given),
    generalized("generalized_ideal", "generalized_ideal(u)", "generalized constraint force were there no nonideal part",
                QuantityKind::ideal),
    generalized("generalized_nonideal", "generalized_nonideal(u)",
                "what nonideal forces add to it, with the change of the multipliers they cause", QuantityKind::nonideal),
    mechanics("matrix", "matrix(NAME) | matrix(NAME, i) | matrix(NAME, i, j)", "scalar",
              "entry of a matrix of the dynamics, numbered from 1, or all of it in a claim. M u' = f + A' lambda, A u' = b; with "
              "`independent`: J1, J2 = d phi/d u_I, d phi/d u_D; u_D' = D u_I' + d; A1 = [-D I], A2 = [I D'], T = [A1; A2 M], V "
              "= [d; A2 f], columns in the order u_I, u_D",
              Builtin::matrix, 1, 3),
    mechanics("count", "count(NAME)", "scalar",
              "number of coordinates, speeds, rows, rank (independent rows) or freedoms; claims only", Builtin::count, 1, 1),
    mechanics("orthogonal", "orthogonal(v, w)", "constraint", "dot(v, w) = 0", Builtin::orthogonal, 2, 2),
    mechanics("parallel", "parallel(v, w)", "constraint", "cross(v, w) = 0", Builtin::parallel, 2, 2),
    mechanics("rolling", "rolling(B, A, P)", "constraint", "vel(B at P) = vel(A at P)", Builtin::rolling, 3, 3),
});

constexpr Dimension k_none = Dimension::of(0, 0, 0), k_length = Dimension::of(1, 0, 0), k_mass = Dimension::of(0, 1, 0),
                    k_time = Dimension::of(0, 0, 1), k_force = Dimension::of(1, 1, -2), k_energy = Dimension::of(2, 1, -2),
                    k_power = Dimension::of(2, 1, -3), k_pressure = Dimension::of(-1, 1, -2),
                    k_frequency = Dimension::of(0, 0, -1);

constexpr auto k_units = std::to_array<UnitInfo>({
    {"m", k_length, 1, 1, 0, "metre"},
    {"km", k_length, 1000, 1, 0, "kilometre"},
    {"cm", k_length, 1, 100, 0, "centimetre"},
    {"mm", k_length, 1, 1000, 0, "millimetre"},
    {"um", k_length, 1, 1e6, 0, "micrometre"},
    {"in", k_length, 254, 10000, 0, "inch"},
    {"ft", k_length, 3048, 10000, 0, "foot"},
    {"kg", k_mass, 1, 1, 0, "kilogram"},
    {"g", k_mass, 1, 1000, 0, "gram"},
    {"lb", k_mass, 45359237, 1e8, 0, "pound"},
    {"s", k_time, 1, 1, 0, "second"},
    {"ms", k_time, 1, 1000, 0, "millisecond"},
    {"us", k_time, 1, 1e6, 0, "microsecond"},
    {"min", k_time, 60, 1, 0, "minute"},
    {"h", k_time, 3600, 1, 0, "hour"},
    {"N", k_force, 1, 1, 0, "newton"},
    {"kN", k_force, 1000, 1, 0, "kilonewton"},
    {"mN", k_force, 1, 1000, 0, "millinewton"},
    {"J", k_energy, 1, 1, 0, "joule"},
    {"kJ", k_energy, 1000, 1, 0, "kilojoule"},
    {"W", k_power, 1, 1, 0, "watt"},
    {"kW", k_power, 1000, 1, 0, "kilowatt"},
    {"Pa", k_pressure, 1, 1, 0, "pascal"},
    {"kPa", k_pressure, 1000, 1, 0, "kilopascal"},
    {"MPa", k_pressure, 1e6, 1, 0, "megapascal"},
    {"Hz", k_frequency, 1, 1, 0, "hertz, 1/s"},
    {"rad", k_none, 1, 1, 0, "radian"},
    {"deg", k_none, 1, 180, 1, "degree"},
    {"rev", k_none, 2, 1, 1, "revolution, 2 pi rad"},
    {"rpm", k_frequency, 1, 30, 1, "revolution per minute"},
});

constexpr std::string_view k_formulations[] = {"multipliers", "minimal",      "nonminimal", "udwadia-kalaba",
                                               "ukp",         "gibbs-appell", "voronec",    "chaplygin"};

template <class Table>
std::vector<std::string> names_of(const Table& table) {
    std::vector<std::string> names;
    for (const auto& row : table) names.emplace_back(row.name);
    return names;
}

// pipes would end a table cell
std::string cell(std::string_view text) {
    std::string out;
    for (const char c : text) out += c == '|' ? std::string("\\|") : std::string(1, c);
    return out;
}

}  // namespace

std::span<const StatementInfo> statement_table() { return k_statements; }

const StatementInfo& info(StatementKind kind) { return k_statements[static_cast<std::size_t>(kind)]; }

const StatementInfo* find_statement(std::string_view keyword) {
    const auto found =
        std::find_if(k_statements.begin(), k_statements.end(), [&](const auto& row) { return row.keyword == keyword; });
    return found == k_statements.end() ? nullptr : &*found;
}

std::span<const std::string_view> clause_words() { return k_clause_words; }

bool is_clause_word(std::string_view word) {
    return std::find(std::begin(k_clause_words), std::end(k_clause_words), word) != std::end(k_clause_words);
}

std::span<const FunctionSchema> function_table() { return k_functions; }

const FunctionSchema* find_function(std::string_view name) {
    const auto found = std::find_if(k_functions.begin(), k_functions.end(), [&](const auto& row) { return row.name == name; });
    return found == k_functions.end() ? nullptr : &*found;
}

std::span<const UnitInfo> unit_table() { return k_units; }

const UnitInfo* find_unit(std::string_view name) {
    const auto found = std::find_if(k_units.begin(), k_units.end(), [&](const auto& row) { return row.name == name; });
    return found == k_units.end() ? nullptr : &*found;
}

bool is_reserved(std::string_view name) {
    if (name == "pi" || name == "t" || name == "and" || name == "or" || name == "not") return true;
    if (find_statement(name) != nullptr) return true;
    const FunctionSchema* function = find_function(name);
    return function != nullptr && function->reserved;
}

std::vector<std::string> statement_keywords() {
    std::vector<std::string> names;
    for (const StatementInfo& row : k_statements) names.emplace_back(row.keyword);
    return names;
}

std::vector<std::string> function_names() { return names_of(k_functions); }
std::vector<std::string> unit_names() { return names_of(k_units); }

std::string language_reference() {
    std::string out = "### Statements\n\n";
    for (const StatementInfo& row : k_statements) {
        out += fmt::format("#### `{}`\n\n```\n{}\n```\n\n{}\n", row.keyword, row.syntax, row.description);
        out += fmt::format("\nExample: `{}`\n\n", row.example);
    }
    out += "### Functions\n\n| written | gives | meaning |\n|---|---|---|\n";
    for (const FunctionSchema& row : k_functions)
        out += fmt::format("| `{}` | {} | {} |\n", cell(row.syntax), row.result, cell(row.description));
    out += "\n### Integrators\n\n| name | order | step | method |\n|---|---|---|---|\n";
    for (const IntegratorInfo& row : integrator_table())
        out +=
            fmt::format("| `{}` | {} | {} | {} |\n", row.name, row.order == 0 ? std::string("varies") : std::to_string(row.order),
                        row.fixed_step ? "fixed" : "by the tolerances", row.description);
    out += "\n### Drift control\n\n| name | what is done |\n|---|---|\n";
    for (const DriftControlInfo& row : drift_control_table()) out += fmt::format("| `{}` | {} |\n", row.name, row.description);
    out += "\n### Units\n\n| unit | in SI | name |\n|---|---|---|\n";
    for (const UnitInfo& row : k_units) {
        std::string value = row.pi_power != 0 ? (row.numerator == 1 ? "pi" : fmt::format("{} pi", row.numerator)) : "";
        if (row.pi_power != 0 && row.denominator != 1) value += fmt::format("/{}", row.denominator);
        if (row.pi_power == 0) value = fmt::format("{}", row.numerator / row.denominator);
        out += fmt::format("| `{}` | {} {} | {} |\n", row.name, value, si_text(row.dimension), row.description);
    }
    return out;
}

std::vector<std::string> supported_formulations() { return {std::begin(k_formulations), std::end(k_formulations)}; }

}  // namespace appell
