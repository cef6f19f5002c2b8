// What is exported: programs, sizes, names, and start values, in a form that knows no mechanics. Every program has the inputs
// t, x = (q, u), parameters.
#pragma once

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "tape/program.hpp"

namespace appell {

struct ExportedEntry {
    std::string name;
    std::string unit;    // SI; empty where the model does not say
    double value = 0;    // of a start value or a parameter
    std::string note{};  // further words for the reader
};

struct ExportedEvent {
    std::string name, text;  // as written
    int passage = 0;         // -1: falling, 1: rising, 0: either
    bool stop = false;
    std::vector<std::size_t> sets;  // entries of x that it changes
};

// one Newton correction; outputs: residuals, the same scaled, the step of q or u
struct ExportedCorrection {
    Program program;
    std::size_t rows = 0;  // without any there is no program
};

// derivatives of the rate (RateJacobian of sim/motion.hpp); no program where the model is too large for it
struct ExportedJacobian {
    Program program;
    std::size_t equations = 0, unknowns = 0, rows = 0;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> residual, rates;
};

struct ExportedModel {
    std::string name, title, formulation;
    std::string version;  // of this program
    std::size_t coordinates = 0, speeds = 0;
    std::vector<ExportedEntry> states, parameters;
    std::vector<ExportedEntry> rows;       // of A and b
    std::vector<ExportedEntry> residuals;  // position rows, then velocity rows
    std::vector<ExportedEntry> multipliers, forces, outputs;
    std::vector<ExportedEvent> events;
    std::vector<std::array<std::size_t, 4>> quaternions;
    std::vector<std::size_t> held;   // entries of x that keep their start values
    std::vector<std::string> notes;  // what a user of the code should know

    Program rate;         // q', u'
    Program mass;         // entries of the lower triangle,
    Program rows_matrix;  // entries of A, then b
    std::vector<std::pair<std::uint32_t, std::uint32_t>> mass_places, row_places;
    Program residual_values, energies, multiplier_values, force_values, output_values, event_values;
    Program event_sets;  // by event and entry: its value behind the event
    ExportedJacobian jacobian;
    ExportedCorrection position, velocity, start_position, start_velocity;

    // of the driver: the run that the model asks for
    double from = 0, until = 1, every = 0.01, rtol = 1e-8, atol = 1e-10;
};

enum class ExportLanguage { c, cpp };

struct ExportedFile {
    std::string name, text;
};

struct ExportOptions {
    ExportLanguage language = ExportLanguage::c;
    std::size_t most_statements = 2000;  // of one function
};

// the files of an export, in the order in which a reader wants them
[[nodiscard]] std::vector<ExportedFile> emit_model(const ExportedModel& model, const ExportOptions& options);
// the model alone, in one text
[[nodiscard]] std::string emit_model_text(const ExportedModel& model, const ExportOptions& options);

}  // namespace appell
