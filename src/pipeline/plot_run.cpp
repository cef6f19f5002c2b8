#include "pipeline/plot_run.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "dynam/formulations.hpp"
#include "dynam/quantities.hpp"
#include "expr/dependence.hpp"
#include "pipeline/lower_motion.hpp"
#include "pipeline/start_numbers.hpp"
#include "report/unit_labels.hpp"
#include "tape/workspace.hpp"

namespace appell {

namespace {

constexpr const char* k_source = "plot";  // the name under which diagnostics quote the request

std::string trimmed(std::string_view text) {
    const std::size_t begin = text.find_first_not_of(" \t"), end = text.find_last_not_of(" \t");
    return begin == std::string_view::npos ? "" : std::string(text.substr(begin, end - begin + 1));
}

bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '\'' ||
           static_cast<unsigned char>(c) >= 0x80;
}

// The traces and the abscissa, cut at commas and at `vs` outside of brackets.
struct Pieces {
    std::vector<std::string> traces;
    std::vector<std::string> against;  // one at most, in a request that is right
};
Pieces cut(std::string_view text) {
    std::vector<std::string> parts(1);
    std::vector<std::size_t> vs;  // indices of parts that begin behind one
    int depth = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        depth += c == '(' || c == '[' ? 1 : c == ')' || c == ']' ? -1 : 0;
        const bool word =
            text.substr(i, 2) == "vs" && (i == 0 || !is_word(text[i - 1])) && (i + 2 == text.size() || !is_word(text[i + 2]));
        if (depth == 0 && (c == ',' || word)) {
            parts.emplace_back();
            if (word) vs.push_back(parts.size() - 1), ++i;
        } else {
            parts.back() += c;
        }
    }
    Pieces out;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const bool behind = !vs.empty() && i >= vs.front();
        (behind ? out.against : out.traces).push_back(trimmed(parts[i]));
    }
    return out;
}

// One quantity of the plot.
struct DrawnQuantity {
    std::string label;
    std::optional<std::size_t> column;  // of the recorded table
    std::optional<std::size_t> asked;   // which of the further plots of the model has it
    std::string unit;                   // SI; empty: none
    bool unit_known = true;
    NodeId node;  // to be computed
    std::vector<double> values;
};

class PlotMaking {
public:
    PlotMaking(const RecordedRun& run, const PlotRequest& request) : run_(run), request_(request) {}

    PlotOfRun make() {
        if (prepare() && choose_rows() && find_quantities() && check_units() && compute()) finish();
        return std::move(out_);
    }

private:
    bool fail(Code code, std::string message, std::string found, std::string expected, std::string hint) {
        out_.diagnostics.add({code, {}, std::move(message), std::move(found), std::move(expected), std::move(hint)});
        return false;
    }

    bool prepare() {
        const auto refuse = [&](std::string found) {
            return fail(Code::E0872, "the request is no list of curves", std::move(found), "EXPR, ... [vs EXPR]",
                        "for example \"x, y vs t\" or \"path(P)\"");
        };
        if (request_.text.find_first_of("\n\r#") != std::string::npos) return refuse("a line end or `#`");
        pieces_ = cut(request_.text);
        if (pieces_.against.size() > 1) return refuse("more than one expression behind `vs`");
        const auto empty = [](const std::string& piece) { return piece.empty(); };
        if (std::any_of(pieces_.traces.begin(), pieces_.traces.end(), empty) ||
            std::any_of(pieces_.against.begin(), pieces_.against.end(), empty))
            return refuse(trimmed(request_.text).empty() ? "nothing" : "an empty expression");
        paths_ = pieces_.traces.front().starts_with("path(");
        return true;
    }

    bool choose_rows() {
        const std::vector<double>& t = run_.values.front();
        for (std::size_t i = 0; i < t.size(); ++i)
            if (t[i] >= request_.from.value_or(-HUGE_VAL) && t[i] <= request_.to.value_or(HUGE_VAL)) rows_.push_back(i);
        if (!rows_.empty()) return true;
        return fail(Code::E0872, "no row lies in the range asked for",
                    fmt::format("rows from t = {} s to {} s", t.front(), t.back()), "a range that holds rows",
                    "change --from or --to");
    }

    // columns that are no expressions of the language
    [[nodiscard]] bool recorded_only(const Model& model, DrawnQuantity& quantity) const {
        const std::string& name = run_.columns[*quantity.column];
        for (const Output& output : model.outputs)
            if (output.name == name) {
                quantity.unit = unit_of(model, output.value, output.dimension);
                quantity.unit_known = output.dimension.has_value();
                return true;
            }
        if (name == "kinetic" || name == "potential" || name == "energy" || name == "balance" || name.starts_with("work(")) {
            quantity.unit = std::string("J");
            return true;
        }
        const bool force = *quantity.column >= run_.forces;
        if (!force && !name.starts_with("residual(")) return false;
        const auto unit = run_.units.find(name);
        quantity.unit_known = force && unit != run_.units.end();
        if (quantity.unit_known) quantity.unit = unit->second;
        return true;
    }

    [[nodiscard]] ModelText text_with(std::string statements) const {
        ModelText text{run_.model_name,
                       run_.model_text,
                       [this](const std::string& name) -> std::optional<std::string> {
                           const auto found = run_.includes.find(name);
                           return found == run_.includes.end() ? std::nullopt : std::optional(found->second);
                       },
                       {}};
        text.options.set = run_.set;
        text.options.limits.source_bytes += statements.size();
        if (!statements.empty()) text.options.further.push_back({k_source, std::move(statements)});
        return text;
    }

    // errors, and what else is said about the request; the model's own warnings were told when it was run
    void keep(const Diagnostics& diagnostics, const SourceSet& sources) {
        out_.sources = sources;
        for (const Diagnostic& d : diagnostics.all())
            if (d.severity() == Severity::error || (d.span.known() && sources.file(d.span.file).name == k_source))
                out_.diagnostics.add(d);
    }

    bool find_quantities() {
        SourceSet sources;
        const ModelText plain = text_with("");
        const Result<Model> model = read_model(plain.name, plain.text, plain.include, plain.options, sources);
        if (!model.ok()) {
            keep(model.diagnostics, sources);
            return false;
        }
        std::string statements;
        std::size_t count = model->plots.size();
        const auto ask = [&](const std::string& piece) {
            statements += "plot " + piece + "\n";
            return count++;
        };
        if (paths_) {
            paths_asked_ = ask(trimmed(request_.text));
        } else {
            for (const std::string& piece : pieces_.traces)
                quantities_.push_back({piece, run_.find(piece), {}, "", true, {}, {}});
            quantities_.push_back({pieces_.against.empty() ? "t" : pieces_.against.front(), {}, {}, "", true, {}, {}});
            quantities_.back().column = run_.find(quantities_.back().label);
            for (DrawnQuantity& quantity : quantities_)
                if (!quantity.column || !recorded_only(*model, quantity)) quantity.asked = ask(quantity.label);
        }
        if (statements.empty()) return true;
        ModelText asked = text_with(statements);
        computed_ =
            paths_ || std::any_of(quantities_.begin(), quantities_.end(), [](const DrawnQuantity& q) { return !q.column; });
        if (computed_) {
            derivation_ = derive(asked);
            keep(derivation_.diagnostics, derivation_.sources);
            model_ = derivation_.model;
            if (!derivation_.ok()) return false;
        } else {
            SourceSet places;
            Result<Model> known = read_model(asked.name, asked.text, asked.include, asked.options, places);
            keep(known.diagnostics, places);
            if (!known.ok()) return false;
            model_ = std::make_shared<const Model>(std::move(*known));
        }
        for (DrawnQuantity& quantity : quantities_) {
            if (!quantity.asked) continue;
            const PlotTrace& trace = model_->plots[*quantity.asked].traces.front();
            quantity.unit = unit_of(*model_, trace.y, trace.dimension);
            quantity.unit_known = trace.dimension.has_value();
            quantity.node = trace.y;
        }
        return true;
    }

    bool check_units() {
        const DrawnQuantity* first = nullptr;
        const auto same = [](const std::string& unit) { return unit == "N m" ? std::string("J") : unit; };
        for (std::size_t i = 0; i + 1 < quantities_.size(); ++i) {
            const DrawnQuantity& quantity = quantities_[i];
            if (!quantity.unit_known) continue;
            if (!first) first = &quantity;
            if (same(first->unit) == same(quantity.unit)) continue;
            const auto name = [](const std::string& unit) { return unit.empty() ? std::string("no unit") : unit; };
            return fail(Code::E0873, "the curves of one plot have different units",
                        fmt::format("{} in {}, {} in {}", first->label, name(first->unit), quantity.label, name(quantity.unit)),
                        "curves of one unit", "make two plots, or divide by a quantity that makes them alike");
        }
        return true;
    }

    // the two components of every path, in the plane that they are drawn in
    void take_paths() {
        Kinematics& kin = *derivation_.dynamics->kinematics;
        const Plot& plot = model_->plots[paths_asked_];
        std::vector<Vec3> paths;
        for (const PlotTrace& trace : plot.traces)
            paths.push_back(kin.frames().express(kin.position(trace.path), Model::newtonian()));
        plane_ = plot.plane ? std::pair((*plot.plane)[0], (*plot.plane)[1]) : path_plane(derivation_.dynamics->graph(), paths);
        for (std::size_t i = 0; i < paths.size(); ++i)
            for (const int axis : {plane_.first, plane_.second})
                quantities_.push_back({plot.traces[i].label, {}, {}, "m", true, paths[i].c[static_cast<std::size_t>(axis)], {}});
    }

    // does it follow from t, q and u alone
    [[nodiscard]] static bool of_state(const Graph& g, NodeId node) {
        const std::vector<SymbolId> symbols = symbols_in(g, std::span(&node, 1));
        return std::all_of(symbols.begin(), symbols.end(), [&](SymbolId s) {
            const SymbolKind kind = g.symbol(s).kind;
            return kind == SymbolKind::time || kind == SymbolKind::parameter || kind == SymbolKind::input ||
                   kind == SymbolKind::coordinate || kind == SymbolKind::speed;
        });
    }

    bool compute() {
        if (paths_) take_paths();
        for (DrawnQuantity& quantity : quantities_)
            if (quantity.column)
                for (const std::size_t row : rows_) quantity.values.push_back(run_.values[*quantity.column][row]);
        if (!computed_) return true;

        const ConstrainedDynamics& d = *derivation_.dynamics;
        const Model& m = *model_;
        Diagnostics problems;
        Quantities observable(d, problems);
        std::vector<DrawnQuantity*> wanted;
        std::vector<NodeId> nodes;
        bool accelerations = false;
        for (DrawnQuantity& quantity : quantities_) {
            if (quantity.column) continue;
            const NodeId node = paths_ ? quantity.node : observable.scalar(quantity.node, {});
            if (!of_state(d.graph(), node)) {
                accelerations = true;
                if (m.switches() || run_.damped)
                    return fail(Code::E0874, fmt::format("{} does not follow from the recorded state", quantity.label),
                                m.switches() ? "a model whose constraints come and go" : "a run with Baumgarte's damping",
                                "a column of the run, or an expression of coordinates and speeds",
                                "state `output NAME = ...` in the model and run it again");
            }
            wanted.push_back(&quantity);
            nodes.push_back(node);
        }
        keep(problems, derivation_.sources);
        if (problems.has_errors()) return false;
        std::vector<ConstrainedSolve> solves = observable.solves();
        if (accelerations) {
            const std::optional<Start> start = find_start(d, m, m.run.from, problems);
            keep(problems, derivation_.sources);
            if (!start) return false;
            const Formulated equations = formulate(d, Formulation::multipliers, start->values);
            solves.insert(solves.end(), equations.solves.begin(), equations.solves.end());
        }
        const Program program = lower_program(d.graph(), {program_inputs(m), std::move(solves), {{"row", std::move(nodes)}}});
        return evaluate(program, wanted);
    }

    bool evaluate(const Program& program, const std::vector<DrawnQuantity*>& wanted) {
        Workspace<double> workspace(program);
        const std::span<double> inputs = workspace.inputs();
        std::vector<std::size_t> from{0};  // columns of t, q, u
        const auto column = [&](const std::string& name) {
            const std::optional<std::size_t> found = run_.find(name);
            if (found) from.push_back(*found);
            return found.has_value() || fail(Code::E0871, "the table of the run does not belong to its model",
                                             fmt::format("there is no column {}", name), "a column of every coordinate and speed",
                                             "run the model again");
        };
        for (const Coordinate& c : model_->coordinates)
            if (!column(c.name)) return false;
        for (const Speed& s : model_->speeds)
            if (!column(s.name)) return false;
        std::size_t at = from.size();
        for (const Parameter& p : model_->parameters) inputs[at++] = p.value;
        for (const Input& input : model_->inputs) inputs[at++] = input.value.value_or(std::nan(""));
        for (const std::size_t row : rows_) {
            for (std::size_t i = 0; i < from.size(); ++i) inputs[i] = run_.values[from[i]][row];
            (void)workspace.run();  // what has no value is not a number, and left out
            const std::span<const double> values = workspace.output("row");
            for (std::size_t i = 0; i < wanted.size(); ++i) wanted[i]->values.push_back(values[i]);
        }
        return true;
    }

    void finish() {
        PlotSpec spec;
        spec.print = true;
        spec.log_x = request_.log_x;
        spec.log_y = request_.log_y;
        if (paths_) {
            static constexpr const char* k_axes[] = {"x", "y", "z"};
            const std::string& newton = model_->frame(Model::newtonian()).name;
            const bool linear = !spec.log_x && !spec.log_y;
            spec.equal_axes = spec.mark_start = linear;
            spec.x_label = fmt::format("{}.{} [m]", newton, k_axes[plane_.first]);
            spec.y_label = fmt::format("{}.{} [m]", newton, k_axes[plane_.second]);
            for (std::size_t i = 0; i + 1 < quantities_.size(); i += 2)
                spec.curves.push_back({quantities_[i].label, quantities_[i].values, quantities_[i + 1].values});
        } else {
            const DrawnQuantity& against = quantities_.back();
            spec.x_label = with_unit(against.label, against.unit);
            const std::size_t curves = quantities_.size() - 1;
            // what is known of some curves is not said of the axis
            const auto all_known = std::all_of(quantities_.begin(), quantities_.end() - 1,
                                               [](const DrawnQuantity& quantity) { return quantity.unit_known; });
            for (std::size_t i = 0; i < curves; ++i) {
                const DrawnQuantity& quantity = quantities_[i];
                const std::string label = all_known || curves == 1 ? quantity.label : with_unit(quantity.label, quantity.unit);
                spec.curves.push_back({label, against.values, quantity.values});
            }
            const std::string& unit = quantities_.front().unit;
            if (curves == 1)
                spec.y_label = with_unit(quantities_.front().label, unit);
            else if (all_known && !unit.empty())
                spec.y_label = "[" + unit + "]";
        }
        if (count_left_out(spec)) out_.spec = std::move(spec);
    }

    // false where a curve would have no point at all
    bool count_left_out(const PlotSpec& spec) {
        for (const Curve& curve : spec.curves) {
            std::size_t left_out = 0;
            bool finite = false;  // somewhere
            for (std::size_t i = 0; i < curve.x.size(); ++i) {
                const bool shown = can_be_shown(curve.x[i]) && can_be_shown(curve.y[i]);
                finite = finite || shown;
                if (!shown || (spec.log_x && !(curve.x[i] > 0)) || (spec.log_y && !(curve.y[i] > 0))) ++left_out;
            }
            if (left_out == curve.x.size())
                return fail(Code::E0872, fmt::format("{} has no value that can be shown", curve.label),
                            finite ? "no positive value for a logarithmic axis" : "no finite value", "a curve with some points",
                            finite ? "draw it without --log" : "");
            if (left_out > 0)
                out_.diagnostics.add({Code::W0875,
                                      {},
                                      fmt::format("{} of {} values of {} are left out", left_out, curve.x.size(), curve.label),
                                      finite && (spec.log_x || spec.log_y) ? "values that are not positive, or not finite"
                                                                           : "values that are not finite",
                                      "",
                                      ""});
        }
        return true;
    }

    const RecordedRun& run_;
    const PlotRequest& request_;
    PlotOfRun out_;
    Pieces pieces_;
    bool paths_ = false;
    std::size_t paths_asked_ = 0;
    std::pair<int, int> plane_{0, 1};
    std::vector<std::size_t> rows_;
    std::vector<DrawnQuantity> quantities_;  // the traces, then the abscissa; of paths, across and up
    bool computed_ = false;                  // something is no column
    Derivation derivation_;
    std::shared_ptr<const Model> model_;
};

}  // namespace

PlotOfRun plot_of_run(const RecordedRun& run, const PlotRequest& request) { return PlotMaking(run, request).make(); }

}  // namespace appell
