#include "report/linearization_report.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/number_format.hpp"
#include "expr/print.hpp"
#include "report/files.hpp"
#include "report/json_text.hpp"
#include "report/run_files.hpp"
#include "report/svg_plot.hpp"

namespace appell {

namespace {

using Json = nlohmann::ordered_json;

std::string number(double value) {
    std::string out = short_number(value);
    return out == "-0" ? "0" : out;
}
Math math_number(double value) { return named(number(value), number(value)); }

// a variable's name, which is one of the model or turn(B, x)
Math math_name(const std::string& name) {
    const std::size_t open = name.find('(');
    if (open == std::string::npos) return named(name, latex_name(name));
    const bool rate = name.ends_with("'");
    const std::string inside = name.substr(open + 1, name.find(')') - open - 1);
    return named(name, fmt::format("{}_{{\\mathrm{{{}}}}}", rate ? "\\dot{\\vartheta}" : "\\vartheta", inside));
}

std::string eigenvalue_count(std::size_t count) { return fmt::format("{} eigenvalue{}", count, count == 1 ? "" : "s"); }

// what an eigenvalue says, in words and numbers of people
struct Reading {
    std::string value, frequency, damping, time;
};

Reading read(const Spectrum& spectrum, const Eigenvalue& e) {
    Reading out;
    const int sign = spectrum.sign(e);
    const double re = sign == 0 ? 0 : static_cast<double>(e.re), im = static_cast<double>(e.im);
    out.value = number(re);
    if (im != 0) {
        out.value = sign == 0 ? fmt::format("+-{} i", number(im)) : fmt::format("{} +- {} i", number(re), number(im));
        out.frequency = fmt::format("{} Hz", number(im / (2 * std::numbers::pi)));
        out.damping = number(-re / std::hypot(re, im));
    }
    if (sign < 0) out.time = fmt::format("decays in {} s", number(-1 / re));
    if (sign > 0) out.time = fmt::format("grows in {} s", number(1 / re));
    if (sign == 0) out.time = "neutral";
    return out;
}

// a mode in names: entries below a thousandth of the largest are left out
std::string mode_text(const LinearSystem& system, const std::vector<std::complex<double>>& mode) {
    std::string out;
    for (std::size_t i = 0; i < mode.size(); ++i) {
        if (std::abs(mode[i]) < 1e-3) continue;
        const double angle = std::arg(mode[i]) * 180 / std::numbers::pi;
        const bool real = std::abs(mode[i].imag()) < 1e-9 * std::abs(mode[i]);
        if (!out.empty()) out += ", ";
        out += real ? fmt::format("{} {}", system.variables[i].name, short_number(mode[i].real(), 4))
                    : fmt::format("{} {} at {} deg", system.variables[i].name, short_number(std::abs(mode[i]), 4),
                                  short_number(angle, 4));
    }
    return out;
}

// the entries of a matrix with names at its rows and columns; expressions where there are short ones
Table matrix_table(const LinearSystem& system, std::size_t columns, const std::vector<NodeId>& symbols,
                   const std::vector<std::string>& names, const auto& value) {
    Table table;
    table.header.emplace_back(std::string());
    for (const std::string& name : names) table.header.emplace_back(math_name(name));
    for (std::size_t i = 0; i < system.variables.size(); ++i) {
        std::vector<Phrase> row{math_name(system.variables[i].rate_name)};
        for (std::size_t j = 0; j < columns; ++j) {
            const NodeId symbol = symbols.empty() ? NodeId() : symbols[i * columns + j];
            row.emplace_back(symbol.valid() ? expression(symbol) : math_number(value(i, j)));
        }
        table.rows.push_back(std::move(row));
    }
    return table;
}

bool any_valid(const std::vector<NodeId>& nodes) {
    return std::any_of(nodes.begin(), nodes.end(), [](NodeId n) { return n.valid(); });
}

std::string stability_sentence(const Spectrum& s) {
    const std::size_t unstable = s.unstable();
    if (unstable > 0)
        return fmt::format("Unstable: {} with a positive real part.",
                           unstable == 1 ? "one eigenvalue" : fmt::format("{} eigenvalues", unstable));
    const bool damped =
        std::all_of(s.eigenvalues.begin(), s.eigenvalues.end(), [&](const Eigenvalue& e) { return s.sign(e) < 0; });
    if (damped && s.zeros == 0) return "Stable: every eigenvalue has a negative real part.";
    return "No eigenvalue has a positive real part; those on the imaginary axis leave stability to the terms of higher order.";
}

}  // namespace

Document linearization_document(const ConstrainedDynamics& d, const LinearSystem& system, const SymbolicLinearization& symbols,
                                const EigenvalueSweep* sweep) {
    const Model& m = *d.model;
    Document out;
    out.name = m.name;
    out.title = m.title.empty() ? m.name : m.title;
    out.lead = {std::string(system.kind == TrimKind::equilibrium ? "Linear equations about an equilibrium."
                                                                 : "Linear equations about a steady motion.")};

    Section state{system.kind == TrimKind::equilibrium ? "The equilibrium" : "The steady motion", {}, {}, {}};
    Equations values;
    for (std::size_t i = 0; i < m.coordinates.size(); ++i)
        values.push_back({math_name(m.coordinates[i].name), "=", math_number(static_cast<double>(system.point[1 + i]))});
    for (std::size_t j = 0; j < m.speeds.size(); ++j)
        values.push_back(
            {math_name(m.speeds[j].name), "=", math_number(static_cast<double>(system.point[1 + m.coordinates.size() + j]))});
    std::size_t k = 0;
    for (const ConstraintRow& row : d.rows)
        if (!row.by_actuators) {
            const std::string& name = d.graph().symbol(row.multiplier).name;
            values.push_back({named(name, latex_name(name)), "=", math_number(static_cast<double>(system.multipliers[k++]))});
        }
    for (std::size_t i = 0; i < system.actuators.size(); ++i) {
        const std::string& name = d.graph().symbol(d.actuators[i]).name;
        values.push_back({named(name, latex_name(name)), "=", math_number(static_cast<double>(system.actuators[i]))});
    }
    state.blocks.emplace_back(std::move(values));
    if (!system.moved.empty()) {
        Sentence sentence{std::string("Found from the start values, which moved: ")};
        for (std::size_t i = 0; i < system.moved.size(); ++i) {
            const MovedValue& v = system.moved[i];
            sentence.emplace_back(std::string(i == 0 ? "" : "; "));
            sentence.emplace_back(math_name(v.name));
            sentence.emplace_back(fmt::format(" from {} to {}", number(v.from), number(v.to)));
        }
        state.blocks.emplace_back(std::move(sentence));
    }
    for (const Ignorable& i : system.ignorable) {
        Sentence sentence{math_name(i.variation.name)};
        sentence.emplace_back(
            i.rate == 0
                ? std::string(" is ignorable: the other equations do not contain it, and it is left out below.")
                : fmt::format(
                      " is ignorable and runs at {} per second: the other equations do not contain it, and it is left out below.",
                      number(i.rate)));
        state.blocks.emplace_back(std::move(sentence));
    }
    if (!system.dependent.empty()) {
        Sentence sentence{std::string("By the constraints the others give ")};
        for (std::size_t i = 0; i < system.dependent.size(); ++i) {
            sentence.emplace_back(std::string(i == 0 ? "" : ", "));
            sentence.emplace_back(math_name(system.dependent[i].name));
        }
        sentence.emplace_back(std::string("."));
        state.blocks.emplace_back(std::move(sentence));
    }
    out.sections.push_back(std::move(state));

    std::vector<std::string> names;
    for (const Variation& v : system.variables) names.push_back(v.name);
    const std::size_t n = names.size();
    Section equations{"Linear equations", named("y' = A y + B w", "\\dot y = A y + B w"), {}, {}};
    if (n == 0) equations.blocks.emplace_back(Sentence{std::string("No variable is left: every independent one is ignorable.")});
    if (any_valid(symbols.A)) {
        equations.blocks.emplace_back(Sentence{std::string("A, deviations from the state above (columns) to rates (rows):")});
        equations.blocks.emplace_back(matrix_table(system, n, symbols.A, names, [&](auto i, auto j) { return system.a(i, j); }));
        equations.blocks.emplace_back(Sentence{std::string("In numbers:")});
    } else if (n > 0) {
        equations.blocks.emplace_back(Sentence{std::string("A, deviations from the state above (columns) to rates (rows):")});
    }
    // a matrix that nobody reads is in the JSON only
    constexpr std::size_t k_readable = 16;
    if (n > 0 && n <= k_readable)
        equations.blocks.emplace_back(matrix_table(system, n, {}, names, [&](auto i, auto j) { return system.a(i, j); }));
    else if (n > k_readable)
        equations.blocks.emplace_back(Sentence{fmt::format("{} x {}: see --json", n, n)});
    if (!system.inputs.empty() && n > 0) {
        equations.blocks.emplace_back(Sentence{std::string("B, inputs to rates:")});
        equations.blocks.emplace_back(
            matrix_table(system, system.inputs.size(), symbols.B, system.inputs, [&](auto i, auto j) { return system.b(i, j); }));
    }
    out.sections.push_back(std::move(equations));

    Section eigen{"Eigenvalues", {}, {}, {}};
    if (system.spectrum.zeros > 0)
        eigen.blocks.emplace_back(
            Sentence{fmt::format("{} {} zero: directions in which the state goes over into others of its kind, or drifts.",
                                 eigenvalue_count(system.spectrum.zeros), system.spectrum.zeros == 1 ? "is" : "are")});
    if (!system.spectrum.eigenvalues.empty()) {
        Table table;
        for (const char* head : {"eigenvalue [1/s]", "frequency", "damping ratio", "", "mode"})
            table.header.emplace_back(std::string(head));
        for (std::size_t i = 0; i < system.spectrum.eigenvalues.size(); ++i) {
            const Eigenvalue& e = system.spectrum.eigenvalues[i];
            if (e.im < 0) continue;  // the other of a pair
            const Reading reading = read(system.spectrum, e);
            table.rows.push_back(
                {reading.value, reading.frequency, reading.damping, reading.time,
                 i < system.spectrum.modes.size() ? mode_text(system, system.spectrum.modes[i]) : std::string()});
        }
        eigen.blocks.emplace_back(std::move(table));
    }
    eigen.blocks.emplace_back(Sentence{stability_sentence(system.spectrum)});
    out.sections.push_back(std::move(eigen));

    if (sweep) {
        Section section{fmt::format("Sweep of {}", sweep->name), {}, {}, {}};
        section.blocks.emplace_back(
            Sentence{fmt::format("{} values from {} to {}.", sweep->points.size(), number(sweep->points.front().value),
                                 number(sweep->points.back().value))});
        if (sweep->critical.empty())
            section.blocks.emplace_back(Sentence{fmt::format(
                "No critical value was met: the number of eigenvalues with a positive real part is the same at all of them{}.",
                sweep->points.front().found ? fmt::format(", {}", sweep->points.front().unstable) : "")});
        for (const CriticalValue& c : sweep->critical)
            section.blocks.emplace_back(Sentence{
                fmt::format("Critical value {} = {}: {} unstable below, {} above; {}.", sweep->name, short_number(c.value, 12),
                            eigenvalue_count(c.unstable_before), c.unstable_after,
                            c.frequency > 0 ? fmt::format("a pair crosses the imaginary axis at {} rad/s", number(c.frequency))
                                            : "eigenvalues meet at zero")});
        out.sections.push_back(std::move(section));
    }
    return out;
}

std::string linearization_json(const ConstrainedDynamics& d, const LinearSystem& system, const SymbolicLinearization& symbols,
                               const EigenvalueSweep* sweep, const Diagnostics& diagnostics, const SourceSet& sources) {
    const Model& m = *d.model;
    const std::size_t n = system.variables.size();
    Json state = Json::object(), moved = Json::array(), ignorable = Json::array(), A = Json::array(), B = Json::array();
    for (std::size_t i = 0; i < m.coordinates.size(); ++i)
        state[m.coordinates[i].name] = static_cast<double>(system.point[1 + i]);
    for (std::size_t j = 0; j < m.speeds.size(); ++j)
        state[m.speeds[j].name] = static_cast<double>(system.point[1 + m.coordinates.size() + j]);
    std::size_t k = 0;
    for (const ConstraintRow& row : d.rows)
        if (!row.by_actuators) state[d.graph().symbol(row.multiplier).name] = static_cast<double>(system.multipliers[k++]);
    for (std::size_t i = 0; i < system.actuators.size(); ++i)
        state[d.graph().symbol(d.actuators[i]).name] = static_cast<double>(system.actuators[i]);
    for (const MovedValue& v : system.moved) moved.push_back({{"name", v.name}, {"from", v.from}, {"to", v.to}});
    for (const Ignorable& i : system.ignorable) ignorable.push_back({{"name", i.variation.name}, {"rate", i.rate}});
    Json symbolic_a = Json::array();
    for (std::size_t i = 0; i < n; ++i) {
        Json a = Json::array(), b = Json::array(), s = Json::array();
        for (std::size_t j = 0; j < n; ++j) {
            a.push_back(system.a(i, j));
            const NodeId node = symbols.A.empty() ? NodeId() : symbols.A[i * n + j];
            s.push_back(node.valid() ? Json(to_text(d.graph(), node)) : Json());
        }
        for (std::size_t j = 0; j < system.inputs.size(); ++j) b.push_back(system.b(i, j));
        A.push_back(std::move(a));
        B.push_back(std::move(b));
        symbolic_a.push_back(std::move(s));
    }
    Json variables = Json::array(), dependent = Json::array(), eigenvalues = Json::array();
    for (const Variation& v : system.variables) variables.push_back(v.name);
    for (const Variation& v : system.dependent) dependent.push_back(v.name);
    for (std::size_t i = 0; i < system.spectrum.eigenvalues.size(); ++i) {
        const Eigenvalue& e = system.spectrum.eigenvalues[i];
        Json mode = Json::array();
        for (const std::complex<double>& entry : system.spectrum.modes[i]) mode.push_back({entry.real(), entry.imag()});
        eigenvalues.push_back({{"re", static_cast<double>(e.re)},
                               {"im", static_cast<double>(e.im)},
                               {"stability", -system.spectrum.sign(e)},
                               {"mode", mode}});
    }
    Json out{{"schema", 1},
             {"system", m.name},
             {"kind", system.kind == TrimKind::equilibrium ? "equilibrium" : "steady motion"},
             {"time_held", system.frozen_time},
             {"state", state},
             {"moved", moved},
             {"variables", variables},
             {"dependent", dependent},
             {"ignorable", ignorable},
             {"inputs", system.inputs},
             {"A", A},
             {"A_expressions", any_valid(symbols.A) ? symbolic_a : Json()},
             {"B", B},
             {"zero_eigenvalues", system.spectrum.zeros},
             {"unstable", system.spectrum.unstable()},
             {"eigenvalues", eigenvalues}};
    if (sweep) {
        Json critical = Json::array();
        for (const CriticalValue& c : sweep->critical)
            critical.push_back({{"value", c.value},
                                {"width", c.width},
                                {"unstable_below", c.unstable_before},
                                {"unstable_above", c.unstable_after},
                                {"frequency", c.frequency}});
        out["sweep"] = {{"name", sweep->name}, {"points", sweep->points.size()}, {"critical", critical}};
    }
    out["diagnostics"] = Json::parse(diagnostics_json(diagnostics, sources));
    return json_text(out) + "\n";
}

std::string eigenvalues_csv(const EigenvalueSweep& sweep) {
    std::size_t most = 0;
    for (const SweepPoint& p : sweep.points) most = std::max(most, p.eigenvalues.size());
    std::string out = csv_field(sweep.name) + ",zeros,unstable";
    for (std::size_t i = 1; i <= most; ++i) out += fmt::format(",re{0},im{0}", i);
    out += '\n';
    for (const SweepPoint& p : sweep.points) {
        out += round_trip(p.value);
        out += p.found ? fmt::format(",{},{}", p.zeros, p.unstable) : ",,";
        for (std::size_t i = 0; i < most; ++i)
            out += i < p.eigenvalues.size()
                       ? fmt::format(",{},{}", round_trip(p.eigenvalues[i].real()), round_trip(p.eigenvalues[i].imag()))
                       : ",,";
        out += '\n';
    }
    return out;
}

namespace {

PlotSpec sweep_plot(const Model& m, const EigenvalueSweep& sweep, const std::string& y_label, bool imaginary) {
    PlotSpec spec{m.title.empty() ? m.name : m.title, sweep.name, y_label, {}};
    std::size_t most = 0;
    for (const SweepPoint& p : sweep.points) most = std::max(most, p.eigenvalues.size());
    for (std::size_t i = 0; i < most; ++i) {
        Curve curve{fmt::format("s{}", i + 1), {}, {}};
        for (const SweepPoint& p : sweep.points) {
            curve.x.push_back(p.value);
            const bool there = i < p.eigenvalues.size();
            curve.y.push_back(!there ? std::nan("") : imaginary ? p.eigenvalues[i].imag() : p.eigenvalues[i].real());
        }
        spec.curves.push_back(std::move(curve));
    }
    return spec;
}

}  // namespace

std::string real_parts_svg(const Model& m, const EigenvalueSweep& sweep) {
    return render_svg(sweep_plot(m, sweep, "real part [1/s]", false));
}
std::string frequencies_svg(const Model& m, const EigenvalueSweep& sweep) {
    return render_svg(sweep_plot(m, sweep, "imaginary part [rad/s]", true));
}

}  // namespace appell
