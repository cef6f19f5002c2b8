// Appell: equations of motion, constraint forces and simulation from one text.
//
// A System is a model that was read and derived. It is asked for counts and claims, printed equations, numbers at a state,
// a motion, linear equations, code. Nothing here opens a window, prints, or keeps anything global; systems are independent of
// each other, and one system may be used by one thread at a time.
//
// What is wrong with a model or a run is told by messages: data with a stable code, a place in the text and a hint. Answers come
// as Outcomes, a value or the messages that say why there is none; warnings and notes may come with a value. Wrong use of this
// interface (a state of the wrong length, a value that is not there) throws std::logic_error. All numbers are SI.
#pragma once

#include <complex>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "appell/version.hpp"

#define APPELL_API __attribute__((visibility("default")))

namespace appell {

// "0.1.0": of the library that is linked; APPELL_VERSION_TEXT is that of this header
[[nodiscard]] APPELL_API std::string_view library_version();

struct Message {
    enum class Kind { note, warning, error };

    Kind kind = Kind::error;
    std::string code;  // "E0201"; `appell explain E0201` and explanation() say more
    std::string text;  // what is wrong, one sentence without the final stop
    std::string file;  // where; empty: no place
    std::size_t line = 0, column = 0;
    std::string found, expected, hint;  // where they help
    std::string shown;                  // all of it as the program prints it, with the line and a caret
};

// what stands behind a code, and what to do about it; empty for a code that does not exist
[[nodiscard]] APPELL_API std::string explanation(std::string_view code);

template <class T>
struct [[nodiscard]] Outcome {
    std::optional<T> value;
    std::vector<Message> messages;

    [[nodiscard]] explicit operator bool() const { return value.has_value(); }
    [[nodiscard]] const T& operator*() const { return get(); }
    [[nodiscard]] const T* operator->() const { return &get(); }

    [[nodiscard]] const T& get() const {
        if (!value) throw std::logic_error(messages.empty() ? "an Outcome without a value was read" : messages.front().shown);
        return *value;
    }
};

struct ReadSettings {
    std::map<std::string, double> set;  // other parameters, inputs, sizes and start values (x, u, x') than the model's
    // The text of an included file, by its path from the model's folder, or nothing. read_file takes files beside the model
    // when this is empty.
    std::function<std::optional<std::string>(const std::string&)> include;
};

struct EquationSettings {
    std::string formulation;                   // one of formulations(); empty: multipliers
    std::string format = "text";               // text, latex, markdown, json
    std::optional<std::string> evidence = {};  // constraint forces to keep in the equations: all, motion, none, "c1,c2"
};

// What the model's own `run` statement says is replaced.
struct SimulationSettings {
    std::optional<double> from, until;
    std::optional<double> every;  // spacing of rows; 0: a row after every step
    std::vector<double> at = {};  // times of further rows
    std::optional<double> rtol, atol, step, first_step, max_step;
    std::optional<std::string> formulation, integrator, stabilize;
    std::vector<double> gains = {};               // of `stabilize baumgarte`
    std::optional<std::string> forces;            // a frame or body: columns of all constraint forces along its axes
    std::function<bool(double t)> progress = {};  // called between steps; false stops the run, which keeps its rows
};

struct LinearizationSettings {
    enum class Trim { none, equilibrium, steady };

    Trim trim = Trim::none;              // what to seek near the start; none: the start must be one
    std::vector<std::string> hold = {};  // coordinates, speeds and rates that keep their start values
    bool open = false;                   // servo-constraints let go, their actuators inputs
};

// Numbers by name.
struct APPELL_API Row {
    std::vector<std::string> names;
    std::vector<double> values;

    [[nodiscard]] bool has(std::string_view name) const;
    [[nodiscard]] double at(std::string_view name) const;  // throws std::out_of_range with the names there are
};

// How a checked claim came out.
struct CheckedClaim {
    std::string label;
    bool holds = false;
    bool misprint = false;  // stated as one: it should fail
    double residual = 0;    // largest, relative to the terms of the equation
};

// What `appell check` finds.
struct Findings {
    std::size_t coordinates = 0, speeds = 0;
    std::size_t rows = 0, independent_rows = 0;  // of constraints, at the start
    std::size_t freedoms = 0;                    // speeds - independent rows
    std::vector<CheckedClaim> claims;
    std::string report;  // what the doctor says about the constraints, in sentences
    // Largest relative difference of u' and of the constraint forces between all formulations that apply, with fifty digits where
    // the size allows, at this many random states on the constraints. None where too few were found.
    std::optional<double> disagreement;
    std::size_t states = 0;
};

// A motion: a table with t in its first column.
struct APPELL_API Trajectory {
    std::vector<std::string> names;  // "t", coordinates, speeds, "lambda(c)", "residual(c)", "kinetic", ..., outputs
    std::vector<double> table;       // row by row
    std::string reason;              // "finished", or why it ended before
    std::size_t steps = 0, rejected = 0;
    double largest_residual = 0;  // of the constraints, scaled
    double energy_error = 0;      // of the energy ledger, relative to the largest energy or work

    struct Event {
        double t = 0;
        std::string what;
    };
    std::vector<Event> events;

    [[nodiscard]] std::size_t rows() const { return names.empty() ? 0 : table.size() / names.size(); }
    [[nodiscard]] double at(std::size_t row, std::size_t column) const { return table.at(row * names.size() + column); }
    [[nodiscard]] std::size_t index(std::string_view name) const;  // throws std::out_of_range with the names there are
    [[nodiscard]] std::vector<double> column(std::string_view name) const;
};

// y' = A y + B w about an equilibrium or a steady motion.
struct LinearEquations {
    bool steady = false;                 // not an equilibrium
    std::vector<std::string> variables;  // y
    std::vector<std::string> inputs;     // w
    std::vector<double> A, B;            // row by row
    std::size_t zero_eigenvalues = 0;
    std::vector<std::complex<double>> eigenvalues;         // the others, largest real part first
    std::vector<std::vector<std::complex<double>>> modes;  // by eigenvalue: its vector in y, largest entry one
    Row state;                                             // coordinates and speeds there
};

struct CodeFile {
    std::string name, text;
};

// Evaluates the equations of motion at states (q, u), which need not satisfy the constraints: nothing is corrected. Made once,
// it allocates nothing further but its answers. A model whose constraints come and go (contacts, friction) has none.
class APPELL_API Evaluator {
public:
    Evaluator(Evaluator&&) noexcept;
    Evaluator& operator=(Evaluator&&) noexcept;
    ~Evaluator();

    struct Rates {
        std::vector<double> coordinates, speeds;  // q', u'
        bool good = true;                         // false: the equations do not determine them there
    };
    [[nodiscard]] Rates rates(double t, const std::vector<double>& state);
    // everything of a row of a trajectory (without works), and constraint forces and torques along the Newtonian axes:
    // "lambda(c)", "force(c, P).x", "torque(c, B).z", "kinetic", "potential", "energy", outputs
    [[nodiscard]] Row row(double t, const std::vector<double>& state);

    [[nodiscard]] const std::vector<double>& start() const;  // q, u, moved onto the constraints
    [[nodiscard]] double start_time() const;
    void set_parameter(std::string_view name, double value);  // parameters and inputs; start() stays

private:
    friend class System;
    struct Impl;
    explicit Evaluator(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

class APPELL_API System {
public:
    // a model; `name` is what messages call the text
    [[nodiscard]] static Outcome<System> read_text(const std::string& text, const ReadSettings& settings = {},
                                                   const std::string& name = "model");
    [[nodiscard]] static Outcome<System> read_file(const std::string& path, const ReadSettings& settings = {});

    System(System&&) noexcept;
    System& operator=(System&&) noexcept;
    ~System();

    [[nodiscard]] const std::string& name() const;
    [[nodiscard]] const std::string& title() const;
    [[nodiscard]] std::vector<std::string> coordinates() const;  // the state is these,
    [[nodiscard]] std::vector<std::string> speeds() const;       // then these
    [[nodiscard]] Row parameters() const;
    [[nodiscard]] std::vector<std::string> constraints() const;  // one for each scalar row: "c", or "c.1", "c.2"

    [[nodiscard]] Outcome<Findings> check() const;
    [[nodiscard]] Outcome<std::string> equations(const EquationSettings& settings = {}) const;
    [[nodiscard]] Outcome<Evaluator> evaluator(const std::string& formulation = "multipliers") const;
    // A run that ended early has its rows; `reason` and the messages say why.
    [[nodiscard]] Outcome<Trajectory> simulate(const SimulationSettings& settings = {}) const;
    [[nodiscard]] Outcome<LinearEquations> linearize(const LinearizationSettings& settings = {}) const;
    // `language`: c (C99) or cpp (one header, C++17)
    [[nodiscard]] Outcome<std::vector<CodeFile>> export_code(const std::string& language = "c",
                                                             const std::optional<std::string>& formulation = {}) const;

private:
    struct Impl;
    explicit System(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

// names that settings take
[[nodiscard]] APPELL_API std::vector<std::string> formulations();
[[nodiscard]] APPELL_API std::vector<std::string> integrators();

}  // namespace appell
