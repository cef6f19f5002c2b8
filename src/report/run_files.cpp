#include "report/run_files.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/number_format.hpp"
#include "report/json_text.hpp"
#include "report/latex_words.hpp"
#include "report/svg_plot.hpp"
#include "report/unit_labels.hpp"

namespace appell {

namespace {

using Json = nlohmann::ordered_json;

// JSON has no infinities; they become null
Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json to_json(const Diagnostics& diagnostics, const SourceSet& sources) {
    Json out = Json::array();
    for (const Diagnostic& d : diagnostics.all()) {
        Json entry{{"code", info(d.code).name},
                   {"severity", d.severity() == Severity::error     ? "error"
                                : d.severity() == Severity::warning ? "warning"
                                                                    : "note"},
                   {"message", d.message}};
        if (d.span.known()) {
            const LineColumn at = sources.locate(d.span.file, d.span.begin);
            entry["file"] = sources.file(d.span.file).name;
            entry["line"] = at.line;
            entry["column"] = at.column;
        }
        if (!d.found.empty()) entry["found"] = d.found;
        if (!d.expected.empty()) entry["expected"] = d.expected;
        if (!d.hint.empty()) entry["hint"] = d.hint;
        out.push_back(std::move(entry));
    }
    return out;
}

}  // namespace

std::string diagnostics_json(const Diagnostics& diagnostics, const SourceSet& sources) {
    return json_text(to_json(diagnostics, sources)) + "\n";
}

namespace {

Json to_json(const ForcesChosen& f) {
    return {{"constraints", f.constraints},
            {"rule", f.constraints.empty() ? Json(f.shares.empty() ? "unique" : "shares") : Json("least norm")},
            {"shares", f.shares},
            {"motion_depends_since", f.motion_since ? number(*f.motion_since) : Json(nullptr)}};
}

}  // namespace

std::string forces_chosen_json(const ForcesChosen& forces) { return json_text(to_json(forces)); }

std::string ForcesChosen::text() const {
    std::vector<std::string> parts;
    if (!shares.empty()) parts.push_back(fmt::format("shared out as stated: {}", fmt::join(shares, "; ")));
    if (!constraints.empty()) parts.push_back(fmt::format("of least norm, as not unique: {}", fmt::join(constraints, ", ")));
    if (motion_since)
        parts.push_back(fmt::format("the motion depends on the choice since t = {} s", short_number(*motion_since)));
    return fmt::format("{}", fmt::join(parts, "; "));
}

std::string summary_json(const Model& m, const Run& run, const Diagnostics& diagnostics, const SourceSet& sources,
                         const RunSource& source) {
    const SimulateSummary& s = run.summary;
    Json out;
    out["schema"] = 1;
    out["appell"] = source.version;
    out["system"] = m.name;
    out["title"] = m.title;
    out["reason"] = name(s.reason);
    out["t_start"] = run.options.t0;
    out["t_end"] = number(s.t_end);
    if (run.backwards()) out["backwards"] = true;
    const IntegratorInfo& integrator = info(run.options.integrator);
    out["options"] = {{"formulation", run.formulation}, {"integrator", integrator.name}};
    if (integrator.fixed_step) {
        out["options"]["step"] = run.options.step;
    } else {
        out["options"]["rtol"] = run.options.rtol;
        out["options"]["atol"] = run.options.atol;
        if (run.options.first_step > 0) out["options"]["first_step"] = run.options.first_step;
        if (run.options.max_step > 0) out["options"]["max_step"] = run.options.max_step;
    }
    out["options"]["every"] = run.options.every == 0 ? Json("step") : number(run.options.every);
    out["options"]["stabilize"] = info(run.drift).name;
    if (run.drift == DriftControl::baumgarte)
        out["options"]["gains"] = run.gains.empty() ? Json("from the steps") : Json(run.gains);
    if (!run.options.at.empty()) out["options"]["at"] = run.options.at;
    if (run.options.at_events) out["options"]["at_events"] = true;
    if (run.options.through) out["options"]["through"] = true;
    if (run.formulation == "minimal")
        out["independent"] = {{"speeds", run.independent_speeds}, {"coordinates", run.independent_coordinates}};
    out["rows"] = s.rows;
    out["steps"] = {{"accepted", s.steps}, {"rejected", s.rejected}};
    out["evaluations"] = s.evaluations;
    if (integrator.implicit) out["jacobians"] = s.jacobians;
    out["projections"] = s.projections;
    out["constraints"] = {{"rank", s.rank},
                          {"redundant", s.redundant},
                          {"smallest_pivot", number(s.smallest_pivot)},
                          {"smallest_pivot_at", number(s.smallest_pivot_at)}};
    out["residuals"] = {{"position", {{"raw", number(s.position_residual)}, {"scaled", number(s.position_scaled)}}},
                        {"velocity", {{"raw", number(s.velocity_residual)}, {"scaled", number(s.velocity_scaled)}}}};
    const double relative = run.energy.largest > 0 ? run.energy.largest_change / run.energy.largest : 0;
    Json works = Json::object();
    for (const EnergyBalance::Entry& entry : run.energy.works) works[entry.name] = number(entry.work);
    out["energy"] = {{"start", number(run.energy.start)},
                     {"end", number(run.energy.end)},
                     {"largest_change", number(run.energy.largest_change)},
                     {"largest_change_relative", number(relative)},
                     {"works", std::move(works)},
                     {"balance", number(run.energy.error)},
                     {"largest_balance", number(run.energy.largest_error)},
                     {"largest_balance_relative", number(run.energy.relative_error())}};
    if (!run.completed.empty()) out["completed"] = run.completed;
    if (run.forces.any()) out["forces_not_unique"] = to_json(run.forces);
    if (!run.start_mode.empty()) out["start_mode"] = run.start_mode;
    if (run.law_switches > 0) out["law_switches"] = run.law_switches;
    for (const GuardRemark& r : run.guard_remarks) {
        if (r.grazes > 0) out["grazes"].push_back({{"guard", r.guard}, {"count", r.grazes}, {"first", number(r.first_graze)}});
        if (r.sampled) out["sampled_guards"].push_back(r.guard);
    }
    if (!run.not_finite.empty()) {
        out["not_finite"] = Json::array();
        for (const NotFinite& c : run.not_finite)
            out["not_finite"].push_back({{"column", c.column}, {"rows", c.rows}, {"first", number(c.first)}});
    }
    for (const PassedPosition& passed : s.passed)
        out["singular_positions"].push_back({{"t", number(passed.t)},
                                             {"constraint", m.constraints[passed.constraint].name},
                                             {"arc", {number(passed.from), number(passed.to)}},
                                             {"branch", "keeps the velocities"}});
    if (m.switches() || !run.events.empty()) {
        if (run.event_count > run.events.size()) out["event_count"] = run.event_count;
        out["events"] = Json::array();
        for (const RunEvent& event : run.events) {
            Json state = Json::object();
            for (std::size_t i = 0; i < event.x.size(); ++i)
                state[i < m.coordinates.size() ? m.coordinates[i].name : m.speeds[i - m.coordinates.size()].name] =
                    number(event.x[i]);
            out["events"].push_back({{"t", number(event.t)}, {"what", event.what}, {"state", std::move(state)}});
        }
    }
    out["start_moved"] = Json::array();
    for (const Moved& moved : s.moved)
        out["start_moved"].push_back({{"name", moved.is_speed ? m.speeds[moved.index].name : m.coordinates[moved.index].name},
                                      {"from", number(moved.from)},
                                      {"to", number(moved.to)}});
    if (!run.layout.forces_frame.empty()) {
        Json columns = Json::array();
        for (std::size_t i = run.layout.visible; i < run.layout.forces_end; ++i) {
            Json column{{"name", run.columns[i]}};
            if (const std::string& unit = run.layout.force_units[i - run.layout.visible]; !unit.empty()) column["unit"] = unit;
            columns.push_back(std::move(column));
        }
        out["forces"] = {{"file", "forces.csv"}, {"frame", run.layout.forces_frame}, {"columns", std::move(columns)}};
    }
    // NOTE: names are different, so that none is looked for; an object would compare each with all before it
    Json::object_t parameters;
    for (const Parameter& p : m.parameters) parameters.emplace_back(p.name, number(p.value));
    out["parameters"] = std::move(parameters);
    out["set"] = Json::object();
    for (const auto& [name, value] : source.set) out["set"][name] = number(value);
    // what the model includes, so that model.appell can be read where the run is
    out["includes"] = Json::object();
    for (std::size_t i = 1; i < sources.size(); ++i) {
        const SourceFile& file = sources.file(static_cast<std::uint32_t>(i));
        out["includes"][file.name] = file.text;
    }
    out["sizes"] = {{"coordinates", m.coordinates.size()},
                    {"speeds", m.speeds.size()},
                    {"nodes", run.nodes},
                    {"instructions", run.instructions}};
    out["seconds"] = Json::object();
    for (const auto& [phase, seconds] : run.phases) out["seconds"][phase] = seconds;
    out["diagnostics"] = to_json(diagnostics, sources);
    return json_text(out) + "\n";
}

std::vector<RunCurve> plot_curves(const RowLayout& layout, std::size_t works) {
    std::vector<RunCurve> out;
    for (const RowLayout::PlotColumns& plot : layout.plots)
        for (const RowLayout::TraceColumns& trace : plot.traces) out.push_back({trace.x, trace.y, ThinnedCurve()});
    for (std::size_t c = layout.residuals; c < layout.works + works + 1; ++c)
        out.push_back({RowLayout::k_time, c, ThinnedCurve()});
    return out;
}

namespace {

constexpr const char *k_energy = "energy", *k_residuals = "residuals";

std::string plot_name(const Plot& plot) {
    std::vector<std::string> names;
    for (const PlotTrace& trace : plot.traces) names.push_back(trace.label);
    return fmt::format("{}", fmt::join(names, "_"));
}

std::string plot_file_name(std::size_t number, const std::string& name) {
    return fmt::format("{:02}_{}", number, plain_words(name).substr(0, 60));
}

}  // namespace

std::vector<std::string> plot_file_names(const Model& m, bool residuals) {
    std::vector<std::string> out;
    for (const Plot& plot : m.plots) out.push_back(plot_file_name(out.size() + 1, plot_name(plot)));
    out.push_back(plot_file_name(out.size() + 1, k_energy));
    if (residuals) out.push_back(plot_file_name(out.size() + 1, k_residuals));
    return out;
}

std::vector<RunPlot> plot_list(const Model& m, const Run& run) {
    std::vector<RunPlot> out;
    static constexpr const char* k_axes[] = {"x", "y", "z"};
    const std::string& newton = m.frame(Model::newtonian()).name;
    for (std::size_t i = 0; i < m.plots.size(); ++i) {
        const Plot& plot = m.plots[i];
        const RowLayout::PlotColumns& where = run.layout.plots[i];
        PlotSpec spec;
        const bool paths = !plot.traces.empty() && plot.traces.front().path.valid();
        spec.equal_axes = spec.mark_start = paths;
        if (paths) {
            spec.x_label = fmt::format("{}.{} [m]", newton, k_axes[where.across]);
            spec.y_label = fmt::format("{}.{} [m]", newton, k_axes[where.up]);
        } else {
            spec.x_label = plot.x.valid() ? with_unit(plot.x_label, unit_of(m, plot.x, plot.x_dimension)) : "t [s]";
        }
        for (const PlotTrace& trace : plot.traces)
            spec.curves.push_back({paths ? trace.label : with_unit(trace.label, unit_of(m, trace.y, trace.dimension)), {}, {}});
        if (!paths && plot.traces.size() == 1) spec.y_label = spec.curves.front().label;
        spec.title = m.title;
        out.push_back({plot_name(plot), std::move(spec), where.traces});
    }
    // the ledger: energies, works, and what is left
    RunPlot energy{k_energy, {m.title, "t [s]", "energy, work [J]", {}}, {}};
    const auto add = [](RunPlot& plot, std::string label, std::size_t column) {
        plot.spec.curves.push_back({std::move(label), {}, {}});
        plot.columns.push_back({RowLayout::k_time, column});
    };
    add(energy, "kinetic", run.layout.kinetic);
    add(energy, "potential", run.layout.potential);
    add(energy, "total", run.layout.energy);
    const std::size_t balance = run.layout.works + run.energy.works.size();
    for (std::size_t c = run.layout.works; c <= balance; ++c) add(energy, run.columns[c], c);
    out.push_back(std::move(energy));
    if (run.layout.kinetic > run.layout.residuals) {
        RunPlot residuals{k_residuals, {m.title, "t [s]", "constraint residual", {}}, {}};
        for (std::size_t c = run.layout.residuals; c < run.layout.kinetic; ++c) add(residuals, run.columns[c], c);
        out.push_back(std::move(residuals));
    }
    return out;
}

std::vector<NamedPlot> run_plots(const Model& m, const Run& run) {
    std::vector<NamedPlot> out;
    for (RunPlot& plot : plot_list(m, run)) {
        for (std::size_t k = 0; k < plot.columns.size(); ++k) {
            const auto found = std::find_if(run.curves.begin(), run.curves.end(), [&](const RunCurve& c) {
                return c.x == plot.columns[k].x && c.y == plot.columns[k].y;
            });
            if (found != run.curves.end()) found->points.append_to(plot.spec.curves[k]);
        }
        out.push_back({plot_file_name(out.size() + 1, plot.name), render_svg(plot.spec)});
    }
    return out;
}

}  // namespace appell
