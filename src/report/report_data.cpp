#include "report/report_data.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "report/html_text.hpp"
#include "report/run_files.hpp"

namespace appell {

namespace {

using Json = nlohmann::ordered_json;

struct ListedPlot {
    RunPlot plot;
    std::string title;
    bool more = false;
};

std::string unit_of(const std::optional<Dimension>& dimension) {
    return dimension && !dimension->none() ? fmt::format(" [{}]", si_text(*dimension)) : std::string();
}

// the plots of the run, then all columns that none of them needs to show
std::vector<ListedPlot> listed_plots(const Model& m, const Run& run) {
    std::vector<ListedPlot> out;
    for (RunPlot& plot : plot_list(m, run)) {
        ListedPlot listed;
        if (out.size() < m.plots.size()) {
            std::vector<std::string> labels;
            for (const PlotTrace& trace : m.plots[out.size()].traces) labels.push_back(trace.label);
            listed.title = fmt::format("{}{}", plot.spec.equal_axes ? "Path of " : "", fmt::join(labels, ", "));
            if (m.plots[out.size()].x.valid()) listed.title += " over " + m.plots[out.size()].x_label;
        } else {
            listed.title = plot.name == "energy" ? "Energy ledger" : "Residuals of the constraints";
        }
        listed.plot = std::move(plot);
        out.push_back(std::move(listed));
    }
    const RowLayout& l = run.layout;
    const auto add = [&](const char* title, std::size_t first, std::size_t end, auto unit) {
        ListedPlot listed{{title, {"", "t [s]", "", {}}, {}}, title, true};
        for (std::size_t c = first; c < end; ++c) {
            listed.plot.spec.curves.push_back({run.columns[c] + unit(c - first), {}, {}});
            listed.plot.columns.push_back({RowLayout::k_time, c});
        }
        if (first < end) out.push_back(std::move(listed));
    };
    add("Coordinates", l.coordinates, l.speeds, [&](std::size_t i) { return unit_of(m.coordinates[i].dimension); });
    add("Speeds", l.speeds, l.multipliers, [&](std::size_t i) { return unit_of(m.speeds[i].dimension); });
    add("Multipliers and actuators", l.multipliers, l.residuals, [](std::size_t) { return std::string(); });
    add("Outputs", l.outputs, l.visible, [&](std::size_t i) { return unit_of(m.outputs[i].dimension); });
    return out;
}

class Columns {
public:
    Columns(const Run& run, const ReportRows& rows) : run_(run), rows_(rows) {}

    // the places of a trace's columns in the list; null where one was not kept, and for the time
    std::pair<Json, Json> indices(const RowLayout::TraceColumns& trace) {
        const ReportRows::Pair* pair = trace.x == RowLayout::k_time ? nullptr : rows_.find_pair(trace.x, trace.y);
        const ReportRows::Column* column = rows_.find(trace.y);
        if (pair == nullptr || (column != nullptr && column->curve.whole())) return {index(trace.x), index(trace.y)};
        const std::size_t first = place({trace.x, pair});
        return {first, place({trace.y, pair})};
    }

    // `shared`: the times that columns without their own have
    Json list(Json& shared) const {
        Json out = Json::array();
        for (const Listed& listed : listed_) {
            Curve points;
            if (listed.pair != nullptr) {
                listed.pair->curve.append_to(points);
                out.push_back({{"name", run_.columns[listed.column]},
                               {"v", base64(listed.column == listed.pair->x ? points.x : points.y)},
                               {"t", base64(listed.pair->curve.times())}});
                continue;
            }
            const ThinnedCurve& curve = rows_.find(listed.column)->curve;
            curve.append_to(points);
            Json entry{{"name", run_.columns[listed.column]}, {"v", base64(points.y)}};
            if (curve.whole())
                shared = base64(points.x);
            else
                entry["t"] = base64(points.x);
            out.push_back(std::move(entry));
        }
        return out;
    }

private:
    struct Listed {
        std::size_t column;
        const ReportRows::Pair* pair = nullptr;  // of which it is a part
        friend bool operator==(const Listed&, const Listed&) = default;
    };

    std::size_t place(const Listed& listed) {
        const auto known = std::find(listed_.begin(), listed_.end(), listed);
        if (known != listed_.end()) return static_cast<std::size_t>(known - listed_.begin());
        listed_.push_back(listed);
        return listed_.size() - 1;
    }
    Json index(std::size_t column) {
        if (column == RowLayout::k_time || rows_.find(column) == nullptr) return nullptr;
        return place({column});
    }

    const Run& run_;
    const ReportRows& rows_;
    std::vector<Listed> listed_;
};

Json plots_json(const Model& m, const Run& run, Columns& columns) {
    Json out = Json::array();
    for (const ListedPlot& listed : listed_plots(m, run)) {
        const PlotSpec& spec = listed.plot.spec;
        const bool over_time = std::all_of(listed.plot.columns.begin(), listed.plot.columns.end(),
                                           [](const RowLayout::TraceColumns& c) { return c.x == RowLayout::k_time; });
        Json entry{{"title", listed.title}, {"kind", over_time ? "time" : spec.equal_axes ? "path" : "xy"},
                   {"x", spec.x_label},     {"y", spec.y_label},
                   {"more", listed.more},   {"traces", Json::array()}};
        for (std::size_t k = 0; k < spec.curves.size(); ++k) {
            auto [x, y] = columns.indices(listed.plot.columns[k]);
            if (y.is_null()) continue;
            entry["traces"].push_back({{"label", spec.curves[k].label}, {"x", std::move(x)}, {"y", std::move(y)}});
        }
        out.push_back(std::move(entry));
    }
    return out;
}

// by Shepperd: from the largest of the four, so that nothing is divided by little
std::array<double, 4> quaternion(const std::array<double, 9>& R) {
    const double trace = R[0] + R[4] + R[8];
    std::array<double, 4> q{};  // x, y, z, w
    const std::array<double, 4> size{R[0], R[4], R[8], trace};
    const auto k = static_cast<std::size_t>(std::max_element(size.begin(), size.end()) - size.begin());
    if (k == 3) {
        q = {R[7] - R[5], R[2] - R[6], R[3] - R[1], 1 + trace};
    } else {
        const std::size_t i = k, j = (k + 1) % 3, l = (k + 2) % 3;
        q[i] = 1 + R[3 * i + i] - R[3 * j + j] - R[3 * l + l];
        q[j] = R[3 * i + j] + R[3 * j + i];
        q[l] = R[3 * i + l] + R[3 * l + i];
        q[3] = R[3 * l + j] - R[3 * j + l];
    }
    const double length = std::sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    for (double& c : q) c /= length;
    return q;
}

// frame by frame; one value where all are the same
template <std::size_t N, class Value>
Json track(std::size_t frames, const Value& value) {
    std::vector<float> all;
    all.reserve(N * frames);
    bool same = true;
    for (std::size_t i = 0; i < frames; ++i) {
        const std::array<double, N> v = value(i);
        for (std::size_t k = 0; k < N; ++k) {
            all.push_back(static_cast<float>(v[k]));
            same = same && all.back() == all[k];
        }
    }
    if (same && frames > 0) {
        Json out = Json::array();
        for (std::size_t k = 0; k < N; ++k) out.push_back(all[k]);
        return out;
    }
    return base64(std::span<const float>(all));
}

Json numbers(std::span<const double> values) {
    Json out = Json::array();
    for (const double v : values) out.push_back(v);
    return out;
}

Json scene_json(const Scene& scene, const ReportRows& rows) {
    const std::size_t frames = rows.frames();
    const auto vector_track = [&](std::size_t column) {
        return track<3>(frames, [&](std::size_t i) {
            return std::array{rows.at(i, column), rows.at(i, column + 1), rows.at(i, column + 2)};
        });
    };
    Json out{{"t", base64(rows.times())}, {"frame", scene.frame},    {"gravity", numbers(scene.gravity)},
             {"points", Json::array()},   {"bodies", Json::array()}, {"links", Json::array()},
             {"arrows", Json::array()}};
    for (const Scene::Point& p : scene.points)
        out["points"].push_back({{"name", p.name}, {"mass", p.mass}, {"fixed", p.fixed}, {"at", vector_track(p.at)}});
    static constexpr const char* k_shapes[] = {"none", "ball", "cylinder", "box"};
    for (const Scene::Body& b : scene.bodies) {
        std::array<double, 4> last{0, 0, 0, 1};
        out["bodies"].push_back({{"name", b.name},
                                 {"center", b.center},
                                 {"mass", b.mass},
                                 {"shape", k_shapes[static_cast<std::size_t>(b.shape.kind)]},
                                 {"size", numbers(b.shape.size)},
                                 {"axes", numbers(quaternion(b.shape.axes))},
                                 {"turn", track<4>(frames, [&](std::size_t i) {
                                      std::array<double, 9> R{};
                                      for (std::size_t k = 0; k < 9; ++k) R[k] = rows.at(i, b.turn + k);
                                      std::array<double, 4> q = quaternion(R);
                                      // the sign that is nearer to the frame before, so that what lies between is too
                                      double dot = 0;
                                      for (std::size_t k = 0; k < 4; ++k) dot += q[k] * last[k];
                                      if (dot < 0)
                                          for (double& c : q) c = -c;
                                      return last = q;
                                  })}});
    }
    static constexpr const char* k_links[] = {"rod", "spring", "damper"};
    for (const Scene::Link& link : scene.links)
        out["links"].push_back({{"kind", k_links[static_cast<std::size_t>(link.kind)]}, {"from", link.from}, {"to", link.to}});
    for (const Scene::Arrow& arrow : scene.arrows)
        out["arrows"].push_back({{"owner", arrow.owner},
                                 {"place", arrow.place},
                                 {"torque", arrow.torque},
                                 {"at", arrow.at},
                                 {"v", vector_track(arrow.value)}});
    return out;
}

}  // namespace

std::vector<ReportPlot> report_plots(const Model& m, const Run& run) {
    std::vector<ReportPlot> out;
    for (ListedPlot& listed : listed_plots(m, run)) out.push_back({std::move(listed.title), listed.more});
    return out;
}

std::string report_data_json(const Model& m, const Run& run, std::string_view version) {
    Json out{{"schema", 1}, {"appell", version}, {"system", m.name}};
    if (run.report_rows) {
        Columns columns(run, *run.report_rows);
        out["plots"] = plots_json(m, run, columns);
        out["t"] = nullptr;
        out["columns"] = columns.list(out["t"]);
        if (!run.layout.scene.empty()) out["scene"] = scene_json(run.layout.scene, *run.report_rows);
    }
    out["events"] = Json::array();
    constexpr std::size_t k_most_events = 2000;
    for (std::size_t i = 0; i < std::min(k_most_events, run.events.size()); ++i)
        out["events"].push_back({{"t", run.events[i].t}, {"what", run.events[i].what}});
    return out.dump(-1, ' ', true, Json::error_handler_t::replace);
}

}  // namespace appell
