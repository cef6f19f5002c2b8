// The few functions a newcomer reads first: text in, values out. Nothing here touches files, the terminal, signals or threads;
// the caller does (app/). The stages, in order: read (lang), derive (kinem, dynam), lower (tape), simulate (sim).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/phase_timer.hpp"
#include "doctor/diagnosis.hpp"
#include "dynam/constrained_dynamics.hpp"
#include "lang/read_model.hpp"
#include "pipeline/certificate.hpp"
#include "pipeline/claims.hpp"
#include "pipeline/vanishing_velocities.hpp"
#include "report/run_record.hpp"

namespace appell {

struct ModelText {
    std::string name;  // as the user named it
    std::string text;
    IncludeLoader include;
    ReadOptions options;
    bool complete = false;  // conditions on positions that hide in the constraints are added to them
};

// A model read and its dynamics derived; what is missing has its reasons in the diagnostics.
struct Derivation {
    SourceSet sources;
    Diagnostics diagnostics;
    std::shared_ptr<const Model> model;
    std::optional<ConstrainedDynamics> dynamics;  // in the mode of the start values, where there are modes
    std::optional<ConstrainedDynamics> whole;     // where there are modes: with the rows of all constraints
    std::string start_mode;
    std::vector<std::string> completed;  // the conditions that were added: "hidden: x = 0"
    PhaseTimer timer;
    Limits limits;

    [[nodiscard]] bool ok() const { return dynamics.has_value() && !diagnostics.has_errors(); }
};

[[nodiscard]] Derivation derive(const ModelText& text);

// Counts at the start state, after the start values were moved onto the constraints.
struct Check {
    std::size_t coordinates = 0, speeds = 0, quaternions = 0;
    std::size_t position_rows = 0, velocity_rows = 0, acceleration_rows = 0;  // rows by the level they are written at
    std::size_t rank = 0;                                                     // independent rows
    std::size_t freedoms = 0;                                                 // speeds - rank
    std::vector<Moved> moved;
    std::vector<double> start;      // q, u on the constraints
    Diagnosis diagnosis;            // what kind of constraints these are
    Certificate certificate;        // all formulations at random consistent states
    VanishingVelocities vanishing;  // what rests at each of them
    ClaimResults claims;            // the model's, at the same states
    ForcesChosen forces;            // at these states
};

// Adds what it finds to the derivation's diagnostics; no value when the model can not be started. `states`: random ones, at
// which formulations are compared and claims tested.
[[nodiscard]] std::optional<Check> check(Derivation& derivation, std::size_t states = 100);

struct RunOptions {
    // what the model's own `run` says is replaced
    std::optional<double> from, until, step, first_step, max_step, rtol, atol;
    std::optional<double> every;  // 0: a row after every step
    std::vector<double> at;
    bool at_events = false;  // beside the model's
    bool through = false;    // singular positions, where the motion goes on smoothly
    std::optional<std::string> formulation, integrator, stabilize;
    std::vector<double> gains = {};     // of `stabilize baumgarte`; empty: the model's
    bool native = true;                 // machine code instead of the interpreter; the numbers are the same
    std::optional<std::string> forces;  // a frame or body: columns of all constraint forces along its axes
    bool scene = false;                 // rows are kept, thinned, for a report with plots and an animation
    std::size_t max_steps = 100'000'000;
    std::size_t max_rows = 20'000'000;
    std::size_t max_events = 10'000;  // that are listed
};

// what RunOptions::formulation may be
[[nodiscard]] std::vector<std::string_view> formulation_names();

// Simulates. A run that ended early still has its rows; the reason is among the derivation's diagnostics.
[[nodiscard]] std::optional<Run> run(Derivation& derivation, const RunOptions& options, const Progress& progress = {});

// how a run of this model with these options goes
[[nodiscard]] Run planned_run(const Model& model, const RunOptions& options);

// A run that hands its rows on, and that can be stopped and resumed.
struct RunHooks {
    Progress progress;
    RowConsumer* rows = nullptr;  // none: the rows are kept in the Run
    Resumable resumable;
    // of a run that is resumed: t and the visible columns of the rows that it has written, in order
    std::function<bool(std::span<double>)> written_row;
};
[[nodiscard]] std::optional<Run> run(Derivation& derivation, const RunOptions& options, const RunHooks& hooks);

}  // namespace appell
