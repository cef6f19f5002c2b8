#include <algorithm>

#include <fmt/format.h>

#include "base/number_format.hpp"
#include "dynam/constraint_forces.hpp"
#include "expr/print.hpp"
#include "report/equation_sections.hpp"

namespace appell {

namespace {

// 2.5e-05 as 2.5 \cdot 10^{-5}
std::string latex_number(double value) {
    const std::string text = short_number(value);
    const std::size_t e = text.find('e');
    if (e == std::string::npos) return text;
    return fmt::format("{} \\cdot 10^{{{}}}", text.substr(0, e), std::stoi(text.substr(e + 1)));
}

// "kg m^2/s" as \mathrm{kg\,m^{2}/s}
std::string latex_unit(const std::string& unit) {
    std::string out;
    for (std::size_t i = 0; i < unit.size(); ++i) {
        if (unit[i] == ' ') {
            out += "\\,";
        } else if (unit[i] == '^') {
            const std::size_t end = std::min(unit.find_first_of(" /", i), unit.size());
            out += fmt::format("^{{{}}}", unit.substr(i + 1, end - i - 1));
            i = end - 1;
        } else {
            out += unit[i];
        }
    }
    return "\\mathrm{" + out + "}";
}

Sentence parameter_sentence(const Model& m) {
    Sentence out{m.parameters.size() == 1 ? "Parameter: " : "Parameters: "};
    for (const Parameter& p : m.parameters) {
        if (out.size() > 1) out.emplace_back(", ");
        const std::string unit = p.dimension && !p.dimension->none() ? si_text(*p.dimension) : "";
        out.emplace_back(named(
            fmt::format("{} = {}{}{}", p.name, short_number(p.value), unit.empty() ? "" : " ", unit),
            fmt::format("{} = {}{}", latex_name(p.name), latex_number(p.value), unit.empty() ? "" : "\\," + latex_unit(unit))));
    }
    out.emplace_back(".");
    return out;
}

constexpr std::array<const char*, 3> k_axes{"x", "y", "z"};

// no brackets around formulas: code hosts take $...$ for one behind a blank only
struct OrientationPhrases {
    const Model& m;
    Sentence& out;

    void turn(NodeId angle, const std::array<NodeId, 3>& axis) const {
        out.emplace_back("by ");
        out.emplace_back(expression(angle));
        out.emplace_back(" about ");
        const Graph& g = *m.graph;
        for (std::size_t i = 0; i < 3; ++i)
            if (g.is_constant(axis[i], 1) && g.is_constant(axis[(i + 1) % 3], 0) && g.is_constant(axis[(i + 2) % 3], 0)) {
                out.emplace_back(named(k_axes[i], k_axes[i]));
                return;
            }
        for (std::size_t i = 0; i < 3; ++i) {
            out.emplace_back(i == 0 ? "the axis " : ", ");
            out.emplace_back(expression(axis[i]));
        }
    }

    void operator()(const SimpleRotation& r) const { turn(r.angle, r.axis); }
    void operator()(const RotationSequence& r) const {
        for (std::size_t i = 0; i < 3; ++i) {
            out.emplace_back(i == 0 ? "by " : ", ");
            out.emplace_back(expression(r.angles[i]));
            out.emplace_back(" about ");
            out.emplace_back(
                named(k_axes.at(static_cast<std::size_t>(r.axes[i])), k_axes.at(static_cast<std::size_t>(r.axes[i]))));
        }
        out.emplace_back(r.body_fixed ? ", axes fixed in the body" : ", axes fixed in space");
    }
    void operator()(const QuaternionRotation& r) const {
        for (std::size_t i = 0; i < 4; ++i) {
            out.emplace_back(i == 0 ? "by the quaternion " : ", ");
            out.emplace_back(expression(m.graph->symbol_node(m.coordinates[r.coordinates[i]].q)));
        }
    }
    void operator()(const DirectionCosines& r) const {
        for (std::size_t i = 0; i < 9; ++i) {
            out.emplace_back(i == 0 ? "with the direction cosines, row by row, " : i % 3 == 0 ? "; " : ", ");
            out.emplace_back(expression(r.rows[i]));
        }
    }
};

Math name_of(const std::string& name) { return named(name, latex_name(name)); }

bool same_orientation(const Model& m, const Frame& frame) {
    const SimpleRotation* turn = std::get_if<SimpleRotation>(&frame.orientation);
    return turn != nullptr && m.graph->is_constant(turn->angle, 0);
}

// The turns of `frame B from N rotate a about z, b about x` are frames of their own, B.1 and so on: no one named them.
void frame_sentences(const Model& m, std::vector<Block>& out) {
    for (std::size_t i = 1; i < m.frames.size(); ++i) {
        const Frame& frame = m.frames[i];
        std::vector<const Frame*> turns{&frame};
        while (m.frame(turns.back()->parent).name.starts_with(frame.name + ".")) turns.push_back(&m.frame(turns.back()->parent));
        const bool on_the_way = std::any_of(m.frames.begin() + static_cast<std::ptrdiff_t>(i) + 1, m.frames.end(),
                                            [&](const Frame& f) { return frame.name.starts_with(f.name + "."); });
        if (on_the_way) continue;
        Sentence sentence{"Frame ", name_of(frame.name), ": ", name_of(m.frame(turns.back()->parent).name)};
        if (turns.size() == 1 && same_orientation(m, frame)) {
            sentence.emplace_back(", not turned.");
        } else {
            sentence.emplace_back(" turned ");
            for (std::size_t k = turns.size(); k-- > 0;) {
                std::visit(OrientationPhrases{m, sentence}, turns[k]->orientation);
                sentence.emplace_back(k == 0 ? "." : ", ");
            }
        }
        out.emplace_back(std::move(sentence));
    }
}

void point_equations(const Model& m, std::vector<Block>& out) {
    Equations list;
    for (std::size_t i = 1; i < m.points.size(); ++i) {
        const std::string name = fmt::format("pos({})", m.points[i].name);
        list.push_back({named(name, latex_vector_name(name)), "=", expression(m.points[i].position)});
    }
    if (!list.empty()) out.emplace_back(std::move(list));
}

void mass_sentences(const Model& m, std::vector<Block>& out) {
    const Graph& g = *m.graph;
    if (!m.particles.empty()) {
        Sentence sentence{m.particles.size() == 1 ? "Particle: " : "Particles: "};
        for (const Particle& p : m.particles) {
            if (sentence.size() > 1) sentence.emplace_back(", ");
            sentence.insert(sentence.end(), {name_of(p.name), " of mass ", expression(p.mass)});
        }
        sentence.emplace_back(".");
        out.emplace_back(std::move(sentence));
    }
    for (const Body& b : m.bodies) {
        Sentence sentence{"Body ", name_of(b.name), ": mass ", expression(b.mass), ", centre ", name_of(m.point(b.center).name)};
        const auto list = [&](const char* words, std::size_t first) {
            for (std::size_t i = first; i < first + 3; ++i) {
                sentence.emplace_back(i == first ? words : ", ");
                sentence.emplace_back(expression(b.inertia[i]));
            }
        };
        list(", moments of inertia ", 0);
        const bool principal = std::all_of(b.inertia.begin() + 3, b.inertia.end(), [&](NodeId n) { return g.is_constant(n, 0); });
        if (!principal) list(" and entries xy, yz, zx of the dyadic ", 3);
        sentence.insert(sentence.end(), {" along the axes of ", name_of(m.frame(b.inertia_frame).name)});
        if (b.inertia_point != b.center) sentence.insert(sentence.end(), {", about ", name_of(m.point(b.inertia_point).name)});
        sentence.emplace_back(".");
        out.emplace_back(std::move(sentence));
    }
}

Math place_of(const Model& m, std::string_view words, const ForceLoad& force) {
    const std::string point = m.point(force.point).name;
    if (!force.body.valid())
        return named(fmt::format("{} {}", words, point), fmt::format("\\text{{{} }}{}", words, latex_name(point)));
    const std::string body = body_name(m, force.body);
    return named(fmt::format("{} {} at {}", words, body, point),
                 fmt::format("\\text{{{} }}{}\\text{{ at }}{}", words, latex_name(body), latex_name(point)));
}

struct LoadEquations {
    const Model& m;
    Equations& out;

    void add(const std::string& words, const std::string& name, NodeId value) const {
        out.push_back({named(words + name, fmt::format("\\text{{{}}}{}", words, latex_name(name))), ":", expression(value)});
    }
    void between(const char* what, PointId first, PointId second, NodeId value) const {
        const std::string &p = m.point(first).name, &q = m.point(second).name;
        out.push_back({named(fmt::format("{} between {} and {}", what, p, q),
                             fmt::format("\\text{{{} between }}{}\\text{{ and }}{}", what, latex_name(p), latex_name(q))),
                       ":", expression(value)});
    }

    void operator()(const ForceLoad& f) const { out.push_back({place_of(m, "force on", f), ":", expression(f.force)}); }
    void operator()(const TorqueLoad& t) const {
        add("torque on ", body_name(m, t.body), t.torque);
        if (t.reaction.valid()) add("its opposite on ", body_name(m, t.reaction), m.graph->vneg(t.torque));
    }
    void operator()(const GravityLoad& l) const {
        out.push_back({named("gravity", "\\text{gravity}"), ":", expression(l.acceleration)});
    }
    void operator()(const SpringLoad& s) const {
        between("spring stiffness", s.first, s.second, s.stiffness);
        between("free length", s.first, s.second, s.length);
    }
    void operator()(const DamperLoad& l) const { between("damper coefficient", l.first, l.second, l.coefficient); }
    void operator()(const GeneralizedLoad& l) const { add("force on the speed ", m.speeds[l.speed].name, l.force); }
    void operator()(const PotentialLoad& l) const {
        out.push_back({named("potential energy", "\\text{potential energy}"), ":", expression(l.energy)});
    }
};

void load_equations(const Model& m, std::vector<Block>& out) {
    Equations list;
    for (const Load& load : m.loads) std::visit(LoadEquations{m, list}, load.what);
    for (const Friction& f : m.frictions) {
        list.push_back({place_of(m, "friction, at most, on", f.on), ":", expression(f.bound)});
        if (f.static_bound.valid())
            list.push_back({place_of(m, "while sticking, at most, on", f.on), ":", expression(f.static_bound)});
    }
    if (!list.empty()) out.emplace_back(std::move(list));
}

}  // namespace

std::vector<Block> description_blocks(const Model& m) {
    std::vector<Block> out;
    if (!m.parameters.empty()) out.emplace_back(parameter_sentence(m));
    frame_sentences(m, out);
    point_equations(m, out);
    mass_sentences(m, out);
    load_equations(m, out);
    return out;
}

}  // namespace appell
