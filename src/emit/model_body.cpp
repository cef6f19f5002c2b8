#include "emit/model_body.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "emit/program_text.hpp"
#include "emit/runtime_text.hpp"
#include "emit/solve_text.hpp"

namespace appell {

namespace {

using Places = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

std::vector<std::size_t> flat(const Places& places) {
    std::vector<std::size_t> out;
    for (const auto& [row, column] : places) {
        out.push_back(row);
        out.push_back(column);
    }
    return out;
}

std::string table_or_null(const std::string& name, const std::vector<std::size_t>& values) { return values.empty() ? "0" : name; }

class BodyWriter {
public:
    BodyWriter(const ExportedModel& model, const ExportOptions& options, std::string storage)
        : m_(model), options_(options), storage_(std::move(storage)) {}

    ModelBody write() {
        plain("rate", m_.rate, 0);
        plain("residuals", m_.residual_values);
        plain("energies", m_.energies);
        plain("multipliers", m_.multiplier_values);
        plain("forces", m_.force_values);
        plain("outputs", m_.output_values);
        plain("events", m_.event_values);
        write_mass();
        write_rows();
        // the rest works on results of programs, behind whose memory it has room
        solved_position_ = correction("position", m_.position, 1);
        solved_velocity_ = correction("velocity", m_.velocity, 2);
        solved_start_position_ = correction("start_position", m_.start_position, {});
        solved_start_velocity_ = correction("start_velocity", m_.start_velocity, {});
        program("jacobian_program", m_.jacobian.program, 0);
        program("sets_program", m_.event_sets, {});
        buffer_ = out_.work.numbers;
        write_projections();
        write_jacobian();
        write_events();
        out_.work.numbers = std::max<std::size_t>(buffer_ + room_, 1);
        out_.work.indices = std::max<std::size_t>(out_.work.indices, 1);
        write_init();
        out_.text = needed_runtime(code_) + code_;
        return std::move(out_);
    }

private:
    // the programs' functions are called NAME_program
    ProgramText program(const std::string& name, const Program& program, std::optional<std::size_t> rank_limit,
                        std::vector<std::size_t> places = {}, std::size_t size = 0, bool unroll = true) {
        if (program.outputs.empty()) return {};
        ProgramText text = program_text(program, {.name = name,
                                                  .states = m_.states.size(),
                                                  .most_statements = options_.most_statements,
                                                  .rank_limit = rank_limit,
                                                  .unroll = unroll,
                                                  .places = std::move(places),
                                                  .size = size});
        code_ += text.text;
        out_.work.numbers = std::max(out_.work.numbers, text.numbers);
        out_.work.indices = std::max(out_.work.indices, text.indices);
        out_.functions += text.functions;
        return text;
    }

    // a function of the interface that is a program and nothing else
    void plain(const std::string& name, const Program& p, std::optional<std::size_t> rank_limit = {}) {
        program(name + "_program", p, rank_limit);
        forward_to(name);
    }
    void forward_to(const std::string& name) {
        code_ += fmt::format(
            "{0}int MODEL_{1}(double t, const double *x, const double *p, double *y, MODEL_work *w) {{\n    return "
            "{1}_program(t, "
            "x, p, y, w);\n}}\n\n",
            storage_, name);
    }

    void write_mass() {
        const std::size_t n = m_.speeds;
        // each entry below the diagonal has its place above it, too
        Program full = m_.mass;
        std::vector<std::size_t> places;
        for (std::size_t i = 0; i < m_.mass_places.size(); ++i)
            places.push_back(m_.mass_places[i].first * n + m_.mass_places[i].second);
        for (std::size_t i = 0; i < m_.mass_places.size(); ++i)
            if (const auto [row, column] = m_.mass_places[i]; row != column) {
                places.push_back(column * n + row);
                full.output_slots.push_back(full.output_slots[i]);
            }
        program("mass_program", full, {}, std::move(places), n * n);
        forward_to("mass");
    }

    void write_rows() {
        const std::size_t n = m_.speeds, m = m_.rows.size();
        std::vector<std::size_t> places;
        for (const auto& [row, column] : m_.row_places) places.push_back(row * n + column);
        for (std::size_t i = 0; i < m; ++i) places.push_back(m * n + i);
        program("rows_program", m_.rows_matrix, {}, std::move(places), m * n + m);
        forward_to("rows");
    }

    // of a correction: where its solve leaves the rows
    struct Solved {
        std::size_t rows = 0;
        std::string sparse_shape;
    };
    Solved correction(const std::string& name, const ExportedCorrection& c, std::optional<std::size_t> rank_limit) {
        if (c.rows == 0) return {};
        ProgramText text = program(name + "_program", c.program, rank_limit, {}, 0, false);
        return {text.solved_rows, std::move(text.sparse_shape)};
    }

    // the iteration of a correction; where nothing is held at the start it is that of every step
    std::string projection(const std::string& name, const ExportedCorrection& c, const Solved& solved, bool coordinates) {
        const std::size_t count = coordinates ? m_.coordinates : m_.speeds;
        room_ = std::max(room_, 3 * c.rows + 3 * count);
        const bool quaternions = coordinates && !m_.quaternions.empty();
        const std::string sparse = solved.sparse_shape.empty() ? "0, 0" : "sparse_row_square, &" + solved.sparse_shape;
        code_ += fmt::format("static const projection_shape {}_projection = {{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}}};\n\n",
                             name, c.rows == 0 ? "0" : name + "_program", c.rows, coordinates ? 0 : m_.coordinates, count,
                             m_.speeds, solved.rows, sparse, quaternions ? m_.quaternions.size() : 0,
                             quaternions ? "quaternion_table" : "0", buffer_);
        return name + "_projection";
    }

    void write_projections() {
        std::vector<std::size_t> quaternions;
        for (const auto& e : m_.quaternions) quaternions.insert(quaternions.end(), e.begin(), e.end());
        code_ += index_table("quaternion_table", quaternions) + index_table("held_table", m_.held);
        const std::string position = projection("position", m_.position, solved_position_, true);
        const std::string velocity = projection("velocity", m_.velocity, solved_velocity_, false);
        const std::string first = m_.start_position.rows == 0
                                      ? position
                                      : projection("start_position", m_.start_position, solved_start_position_, true);
        const std::string second = m_.start_velocity.rows == 0
                                       ? velocity
                                       : projection("start_velocity", m_.start_velocity, solved_start_velocity_, false);
        const std::size_t held = m_.held.size();
        room_ = std::max(room_, m_.states.size());
        code_ += fmt::format("{}int MODEL_start(double t, double *x, const double *p, MODEL_work *w) {{\n", storage_);
        if (held != 0) code_ += fmt::format("    double given[{0}];\n    int i;\n", held);
        code_ += "    int status;\n";
        if (held != 0) code_ += fmt::format("    for (i = 0; i < {}; ++i) given[i] = x[held_table[i]];\n", held);
        code_ += fmt::format(
            "    set_limits(w, 0x7fffffff);\n    if (!finite_all(x, MODEL_STATES)) return MODEL_not_finite;\n"
            "    status = project_part(&{}, t, x, p, w, 60, 1);\n    if (status != MODEL_ok) return status;\n"
            "    status = project_part(&{}, t, x, p, w, 60, 1);\n    if (status != MODEL_ok) return status;\n",
            first, second);
        if (held != 0) code_ += fmt::format("    if (held_moved(held_table, {}, x, given)) return MODEL_no_solution;\n", held);
        code_ += fmt::format(
            "    limit_rank(&{}, t, x, p, w, 1);\n    limit_rank(&{}, t, x, p, w, 2);\n"
            "    status = rate_program(t, x, p, w->d + {}, w);\n"
            "    if (w->last.redundant) w->most_rank[0] = w->last.rank;\n    return status;\n}}\n\n",
            position, velocity, buffer_);
        code_ += fmt::format(
            "{}int MODEL_project(double t, double *x, const double *p, MODEL_work *w) {{\n"
            "    const int status = project_part(&{}, t, x, p, w, 6, 0);\n    if (status != MODEL_ok) return status;\n"
            "    return project_part(&{}, t, x, p, w, 6, 0);\n}}\n\n",
            storage_, position, velocity);
    }

    void write_jacobian() {
        const ExportedJacobian& j = m_.jacobian;
        if (j.program.outputs.empty()) return;
        const std::size_t n = m_.states.size(), values = j.rates.size() + j.residual.size();
        const std::vector<std::size_t> rates = flat(j.rates), entries = flat(j.residual);
        room_ = std::max(room_, values + j.equations * j.unknowns + j.equations * n + j.unknowns * n + j.unknowns * j.unknowns +
                                    std::max(j.equations, 3 * j.unknowns));
        out_.work.indices = std::max(out_.work.indices, j.unknowns);
        code_ += index_table("jacobian_rates", rates) + index_table("jacobian_entries", entries);
        code_ += fmt::format("static const jacobian_shape jacobian_form = {{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}}};\n\n",
                             m_.coordinates, n, j.equations, j.unknowns, j.rates.size(), table_or_null("jacobian_rates", rates),
                             j.residual.size(), table_or_null("jacobian_entries", entries),
                             std::max<std::size_t>(1, j.equations / (m_.speeds + j.rows)), j.rows, buffer_);
        code_ += fmt::format(
            "{}int MODEL_jacobian(double t, const double *x, const double *p, double *y, MODEL_work *w) {{\n"
            "    const int status = jacobian_program(t, x, p, w->d + {}, w);\n"
            "    if (status == MODEL_ok || status == MODEL_inconsistent_rows)\n        assemble_jacobian(&jacobian_form, w, y);\n"
            "    else\n        fill(y, NAN, {});\n    return status;\n}}\n\n",
            storage_, buffer_, n * n);
    }

    void write_events() {
        code_ += fmt::format("{}int MODEL_happen(int event, double t, double *x, const double *p, MODEL_work *w) {{\n", storage_);
        std::size_t at = 0;
        bool stops = false;
        room_ = std::max(room_, m_.event_sets.output_slots.size());
        if (!m_.event_sets.outputs.empty())
            code_ +=
                fmt::format("    const double *const values = w->d + {0};\n    sets_program(t, x, p, w->d + {0}, w);\n", buffer_);
        else
            code_ += "    (void)t;\n    (void)x;\n    (void)p;\n    (void)w;\n";
        std::string stopping;
        for (std::size_t k = 0; k < m_.events.size(); ++k) {
            const ExportedEvent& e = m_.events[k];
            for (const std::size_t entry : e.sets)
                code_ += fmt::format("    if (event == {}) x[{}] = values[{}];\n", k, entry, at++);
            if (e.stop) stopping += fmt::format("{}event == {}", stops ? " || " : "", k);
            stops = stops || e.stop;
        }
        if (at == 0 && !stops) code_ += "    (void)event;\n";
        code_ += fmt::format("    return {};\n}}\n\n", stops ? stopping : "0");
    }

    void write_init() {
        code_ += fmt::format(
            "{}void MODEL_init(MODEL_work *w) {{\n    int i;\n    fill(w->d, 0, MODEL_WORK_NUMBERS);\n"
            "    for (i = 0; i < MODEL_WORK_INDICES; ++i) w->i[i] = 0;\n    set_limits(w, 0x7fffffff);\n"
            "    begin_report(&w->last);\n}}\n",
            storage_);
    }

    const ExportedModel& m_;
    const ExportOptions& options_;
    std::string storage_, code_;
    ModelBody out_;
    std::size_t buffer_ = 0;  // where the memory of the programs ends
    std::size_t room_ = 0;    // behind it
    Solved solved_position_, solved_velocity_, solved_start_position_, solved_start_velocity_;
};

}  // namespace

ModelBody model_body(const ExportedModel& model, const ExportOptions& options, const std::string& storage) {
    return BodyWriter(model, options, storage).write();
}

}  // namespace appell
