#include "report/equation_sections.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "dynam/modes.hpp"
#include "dynam/realised.hpp"
#include "expr/linear_split.hpp"
#include "expr/print.hpp"
#include "report/force_lines.hpp"

namespace appell {

namespace {

constexpr std::size_t k_most_cells = 900;  // of a table of vectors

std::string plural(std::size_t count, std::string_view word, std::string_view many = "") {
    return count == 1 ? fmt::format("1 {}", word) : fmt::format("{} {}", count, many.empty() ? std::string(word) + "s" : many);
}

// speeds that are the rates of the coordinates need no equations q' = u
bool speeds_are_rates(const ConstrainedDynamics& d) {
    const Model& m = *d.model;
    if (m.speeds.size() != m.coordinates.size()) return false;
    for (std::size_t i = 0; i < m.speeds.size(); ++i)
        if (m.speeds[i].name != m.coordinates[i].name + "'" ||
            d.kinematics->coordinate_rates()[i] != d.graph().symbol_node(m.speeds[i].u))
            return false;
    return true;
}

// an expression equated to zero, in front of the abbreviations that it may come with
std::string set_to_zero(std::string expression, std::string_view with, std::string_view zero) {
    return expression.insert(std::min(expression.find(with), expression.size()), zero);
}

Section system_section(const ConstrainedDynamics& d, const SpeedPartition& partition, const std::string& place) {
    const Model& m = *d.model;
    Graph& g = d.graph();
    Section section{"System", {}, {}, {}};
    Sentence coordinates{plural(m.coordinates.size(), "coordinate") + ": "};
    for (std::size_t i = 0; i < m.coordinates.size(); ++i) {
        if (i > 0) coordinates.emplace_back(", ");
        coordinates.emplace_back(expression(g.symbol_node(m.coordinates[i].q)));
    }
    section.blocks.emplace_back(std::move(coordinates));
    if (speeds_are_rates(d)) {
        section.blocks.emplace_back(
            Sentence{"The speeds are the rates of the coordinates; the index ", named("r", "r"), " counts them in this order."});
    } else {
        Table speeds{{named("r", "r"), "speed", "definition"}, {}};
        for (std::size_t i = 0; i < m.speeds.size(); ++i)
            speeds.rows.push_back(
                {std::to_string(i + 1), expression(g.symbol_node(m.speeds[i].u)), expression(m.speeds[i].definition)});
        section.blocks.emplace_back(std::move(speeds));
    }
    for (Block& block : description_blocks(m)) section.blocks.push_back(std::move(block));
    if (!d.rows.empty()) {
        Table constraints{{"constraint", "level", "as stated"}, {}};
        std::size_t last = m.constraints.size();
        for (const ConstraintRow& row : d.rows) {
            if (row.constraint == last) continue;  // one line for the components of a vector equation
            last = row.constraint;
            const Constraint& c = m.constraints[last];
            const std::string latex =
                set_to_zero(to_latex(g, c.phi), "\\quad\\text{with }", g.is_vector(c.phi) ? " = \\mathbf{0}" : " = 0");
            const std::string text = c.text.empty() ? set_to_zero(to_text(g, c.phi), " with ", " = 0") : c.text;
            constraints.rows.push_back({c.name, std::string(level_name(row.level)), named(text, latex)});
        }
        section.blocks.emplace_back(std::move(constraints));
    }
    const std::size_t n = m.speeds.size(), rank = partition.rows.size();
    const std::string counts = fmt::format("n = {}, m = {}, p = n - m = {}", n, rank, n - rank);
    section.blocks.emplace_back(Sentence{
        named(counts, counts), fmt::format(": {}, {}, {}.", plural(n, "speed"), plural(rank, "independent constraint row"),
                                           plural(n - rank, "degree of freedom", "degrees of freedom"))});
    if (!partition.redundant.empty()) {
        std::vector<std::string> names;
        for (const std::uint32_t row : partition.redundant) names.push_back(d.rows[row].name);
        section.blocks.emplace_back(
            Sentence{fmt::format("Decided {}; there {} on the other rows: {}.", place,
                                 names.size() == 1 ? "this row depends" : "these rows depend", fmt::join(names, "; "))});
    }
    return section;
}

Section kinematical_section(const ConstrainedDynamics& d) {
    Section section{"Kinematical equations", named("q' = K u + k", "\\dot{q} = K u + k"), {}, {}};
    Equations list;
    for (std::size_t i = 0; i < d.model->coordinates.size(); ++i)
        list.push_back({expression(d.graph().symbol_node(d.model->coordinates[i].rate)), "=",
                        expression(d.kinematics->coordinate_rates()[i])});
    section.blocks.emplace_back(std::move(list));
    return section;
}

Math vector_symbol(const std::string& text) { return named(text, latex_vector_name(text)); }

// v^P with the index r, as in the sources
std::string with_index(std::string latex) { return latex.insert(latex.find('^'), "_{r}"); }

void velocity_sections(const ConstrainedDynamics& d, std::vector<Section>& out) {
    const Model& m = *d.model;
    Kinematics& kin = *d.kinematics;
    Equations velocities;
    std::vector<VectorColumn> columns;
    const auto add = [&](const std::string& name, const Vec3& v, std::span<const PartialVelocity> partials) {
        if (is_listed(velocities, name)) return;
        velocities.push_back({vector_symbol(name), "=", expression(vector_of(d, v))});
        columns.push_back({name, with_index(latex_vector_name(name)), {partials.begin(), partials.end()}});
    };
    for (const Particle& p : m.particles)
        add(fmt::format("vel({})", m.point(p.point).name), kin.velocity(p.point), kin.partial_velocities(p.point));
    for (const Body& b : m.bodies) {
        add(fmt::format("vel({})", m.point(b.center).name), kin.velocity(b.center), kin.partial_velocities(b.center));
        add(fmt::format("omega({})", b.name), kin.omega(b.frame), kin.partial_omegas(b.frame));
    }
    Section section{m.bodies.empty() ? "Velocities" : "Velocities and angular velocities", {}, {}, {}};
    section.blocks.emplace_back(std::move(velocities));
    out.push_back(std::move(section));
    std::vector<std::uint32_t> all(m.speeds.size());
    for (std::uint32_t i = 0; i < all.size(); ++i) all[i] = i;
    std::optional<Block> block = vector_block(d, named("u_r", "u_{r}"), all, false, columns);
    if (!block) return;
    Section partials{m.bodies.empty() ? "Partial velocities" : "Partial velocities and partial angular velocities", {}, {}, {}};
    partials.blocks.emplace_back(Sentence{"The coefficients of the speeds in the velocities:"});
    partials.blocks.push_back(std::move(*block));
    out.push_back(std::move(partials));
}

Section energy_section(const ConstrainedDynamics& d) {
    Graph& g = d.graph();
    Section section{"Energies", {}, {}, {}};
    Equations list{{named("kinetic", "E_{\\mathrm{kin}}"), "=", expression(d.kinetic_energy)}};
    if (!g.is_constant(d.potential_energy, 0))
        list.push_back({named("potential", "E_{\\mathrm{pot}}"), "=", expression(d.potential_energy)});
    section.blocks.emplace_back(std::move(list));
    return section;
}

}  // namespace

std::string_view level_name(Level level) {
    return level == Level::position ? "position" : level == Level::velocity ? "velocity" : "acceleration";
}

NodeId vector_of(const ConstrainedDynamics& d, const Vec3& v) {
    Graph& g = d.graph();
    NodeId sum = g.vector_zero();
    for (std::size_t i = 0; i < 3; ++i)
        if (!g.is_constant(v.c[i], 0)) sum = g.vadd(sum, g.vscale(v.c[i], d.model->frame(v.frame).basis[i]));
    return sum;
}

Math speed_rate(const ConstrainedDynamics& d, std::size_t speed) {
    return expression(d.graph().symbol_node(d.model->speeds[speed].rate));
}

Matrix matrix_of(Math name, const SparseMatrix& a) {
    Matrix out{std::move(name), a.rows, a.columns, {}};
    for (const SparseEntry& e : a.entries) out.entries.push_back({e.row, e.column, expression(e.value)});
    std::sort(out.entries.begin(), out.entries.end(), [](const Matrix::Entry& x, const Matrix::Entry& y) {
        return x.row != y.row ? x.row < y.row : x.column < y.column;
    });
    return out;
}

Matrix column_of(const Graph& g, Math name, std::span<const NodeId> values) {
    Matrix out{std::move(name), values.size(), 1, {}};
    for (std::size_t i = 0; i < values.size(); ++i)
        if (!g.is_constant(values[i], 0)) out.entries.push_back({i, 0, expression(values[i])});
    return out;
}

Sentence speed_list(const ConstrainedDynamics& d, std::span<const std::uint32_t> speeds, bool rates) {
    Sentence out;
    for (const std::uint32_t s : speeds) {
        if (!out.empty()) out.emplace_back(", ");
        const Speed& speed = d.model->speeds[s];
        out.emplace_back(expression(d.graph().symbol_node(rates ? speed.rate : speed.u)));
    }
    return out;
}

bool is_listed(const Equations& list, const std::string& name) {
    return std::any_of(list.begin(), list.end(), [&](const Equation& e) { return e.left.text == name; });
}

std::optional<Block> vector_block(const ConstrainedDynamics& d, Math corner, std::span<const std::uint32_t> rows, bool rates,
                                  const std::vector<VectorColumn>& columns) {
    std::vector<const VectorColumn*> shown;
    for (const VectorColumn& c : columns)
        if (!c.partials.empty()) shown.push_back(&c);
    if (shown.empty() || rows.empty()) return std::nullopt;
    const auto symbol = [&](std::uint32_t speed) {
        return d.graph().symbol_node(rates ? d.model->speeds[speed].rate : d.model->speeds[speed].u);
    };
    if (rows.size() * shown.size() > k_most_cells) {
        Equations list;
        for (const VectorColumn* c : shown)
            for (const PartialVelocity& p : c->partials) {
                const std::string& name = d.graph().symbol(d.graph().symbol_of(symbol(p.speed))).name;
                std::string latex = c->latex;
                latex.replace(latex.find("_{r}"), 4, "_{" + latex_name(name) + "}");
                list.push_back({named(fmt::format("{}, {}", c->name, name), latex), ":", expression(vector_of(d, p.v))});
            }
        return list;
    }
    Table table{{std::move(corner)}, {}};
    for (const VectorColumn* c : shown) table.header.emplace_back(named(c->name, c->latex));
    std::map<std::uint32_t, std::size_t> row_of;
    for (const std::uint32_t speed : rows) {
        row_of[speed] = table.rows.size();
        table.rows.push_back({expression(symbol(speed))});
        table.rows.back().resize(1 + shown.size(), expression(d.graph().vector_zero()));
    }
    for (std::size_t j = 0; j < shown.size(); ++j)
        for (const PartialVelocity& p : shown[j]->partials) table.rows[row_of.at(p.speed)][1 + j] = expression(vector_of(d, p.v));
    return table;
}

namespace {

// the three members of 001 eq. 40 as generalized forces
Section members_section(const ConstrainedDynamics& d) {
    Graph& g = d.graph();
    Section section{"Members of the force",
                    named("M u' = f + F_i + F_n,  F_i = A^T lambda_i,  F_n = C + A^T (lambda - lambda_i)",
                          "M \\dot{u} = f + F^{\\mathrm{i}} + F^{\\mathrm{n}},\\quad F^{\\mathrm{i}} = A^{T} "
                          "\\lambda_{\\mathrm{i}},\\quad F^{\\mathrm{n}} = C + A^{T} (\\lambda - \\lambda_{\\mathrm{i}})"),
                    {},
                    {}};
    section.blocks.emplace_back(
        Sentence{"The given force and its inertia terms, the ideal member and the nonideal one (Udwadia, "
                 "Kalaba and Phohomsiri, eq. 40)",
                 d.actuators.empty() ? ":" : "; the work of the actuators is to be added:"});
    std::vector<std::vector<NodeId>> ideal(d.f().size()), nonideal(d.f().size());
    for (std::size_t r = 0; r < d.C.size(); ++r) nonideal[r].push_back(d.C[r]);
    for (const SparseEntry& e : d.A.entries) {
        const ConstraintRow& row = d.rows[e.row];
        if (row.by_actuators) continue;
        const Constraint& c = d.model->constraints[row.constraint];
        if (sticks(d, row)) {  // friction altogether
            nonideal[e.column].push_back(g.mul(g.symbol_node(row.multiplier), e.value));
            continue;
        }
        const auto at = std::find(c.multipliers.begin(), c.multipliers.end(), row.multiplier) - c.multipliers.begin();
        const NodeId without = g.symbol_node(c.ideal_multipliers[static_cast<std::size_t>(at)]);
        ideal[e.column].push_back(g.mul(without, e.value));
        nonideal[e.column].push_back(g.mul(g.sub(g.symbol_node(row.multiplier), without), e.value));
    }
    Equations list;
    for (std::size_t r = 0; r < d.f().size(); ++r) {
        const auto member = [&](const char* text, const char* latex, NodeId value) {
            list.push_back(
                {named(fmt::format("{}_{}", text, r + 1), fmt::format("{}_{{{}}}", latex, r + 1)), "=", expression(value)});
        };
        member("f", "f", d.f()[r]);
        member("F_i", "F^{\\mathrm{i}}", g.sum(ideal[r]));
        member("F_n", "F^{\\mathrm{n}}", g.sum(nonideal[r]));
    }
    section.blocks.emplace_back(std::move(list));
    return section;
}

// The multiplier of a single row whose law is linear in it, C = C1 lambda + C0:
// lambda = (b - A M^-1 (f + C0)) / (A M^-1 (A' + C1)). Invalid for other systems.
NodeId multiplier_of_law(const ConstrainedDynamics& d) {
    Graph& g = d.graph();
    const std::vector<NodeId> masses = diagonal_masses(d);
    if (d.rows.size() != 1 || masses.empty() || !d.actuators.empty()) return {};
    const LinearSplit law = split_linear(g, d.C, std::span(&d.rows.front().multiplier, 1));
    if (law.failure) return {};
    std::vector<NodeId> above{d.b.front()}, below;
    for (const SparseEntry& e : d.A.entries) {
        const NodeId slope = law.coefficients.find(e.column, 0);
        const NodeId along = slope.valid() ? g.add(e.value, slope) : e.value;
        below.push_back(g.div(g.mul(e.value, along), masses[e.column]));
        above.push_back(g.neg(g.div(g.mul(e.value, g.add(d.f()[e.column], law.remainders[e.column])), masses[e.column])));
    }
    return g.div(g.sum(above), g.sum(below));
}

// C and G tau of M u' = f + C + G tau + A' lambda, and the rows that the actuators keep; on the page the letter D is that of
// u_D' = D u_I' + d
void added_sections(const ConstrainedDynamics& d, std::vector<Section>& out) {
    Graph& g = d.graph();
    if (d.C.empty() && d.actuators.empty()) return;
    Section section{
        d.actuators.empty() ? "Nonideal forces"
        : d.C.empty()       ? "Actuators"
                            : "Nonideal forces and actuators",
        named(fmt::format("M u' = f{}{} + A^T lambda", d.C.empty() ? "" : " + C", d.actuators.empty() ? "" : " + G tau"),
              fmt::format("M \\dot{{u}} = f{}{} + A^{{T}} \\lambda", d.C.empty() ? "" : " + C",
                          d.actuators.empty() ? "" : " + G \\tau")),
        {},
        {}};
    Equations list;
    std::vector<std::vector<NodeId>> work(d.model->speeds.size());
    for (const SparseEntry& e : d.D.entries) work[e.row].push_back(g.mul(e.value, g.symbol_node(d.actuators[e.column])));
    for (std::size_t r = 0; r < d.C.size(); ++r)
        if (!g.is_constant(d.C[r], 0))
            list.push_back({named(fmt::format("C_{}", r + 1), fmt::format("C_{{{}}}", r + 1)), "=", expression(d.C[r])});
    for (std::size_t r = 0; r < work.size(); ++r)
        if (!work[r].empty())
            list.push_back({named(fmt::format("(G tau)_{}", r + 1), fmt::format("(G \\tau)_{{{}}}", r + 1)), "=",
                            expression(g.sum(work[r]))});
    section.blocks.emplace_back(std::move(list));
    section.blocks.emplace_back(Sentence{"In what follows they count among the given forces."});
    // the members below are written with the ideal multipliers, whether or not a law is
    if (!d.C.empty()) {
        section.blocks.emplace_back(Sentence{"Multipliers marked as ideal are what they were without the nonideal forces."});
        const ConstrainedDynamics without = without_sticking(d);
        if (const auto solved = d.actuators.empty() ? solved_multipliers(without) : std::nullopt) {
            Equations ideal;
            for (std::size_t i = 0; i < without.rows.size(); ++i) {
                const Constraint& c = d.model->constraints[without.rows[i].constraint];
                for (std::size_t k = 0; k < c.multipliers.size(); ++k)
                    if (c.multipliers[k] == without.rows[i].multiplier)
                        ideal.push_back({expression(g.symbol_node(c.ideal_multipliers[k])), "=", expression(solved->lambda[i])});
            }
            section.blocks.emplace_back(std::move(ideal));
        } else {
            section.blocks.emplace_back(Sentence{
                "They solve ",
                named("A M^-1 A^T lambda_i = b - A M^-1 f", "A M^{-1} A^{T} \\lambda_{\\mathrm{i}} = b - A M^{-1} f"), "."});
        }
    }
    if (d.C_of_reaction) {
        section.blocks.emplace_back(
            Sentence{"The laws contain the multipliers themselves: the equations are to be solved for both together."});
        if (const NodeId lambda = multiplier_of_law(d); lambda.valid())
            section.blocks.emplace_back(
                Equations{{expression(g.symbol_node(d.rows.front().multiplier)), "=", expression(lambda)}});
    }
    out.push_back(std::move(section));
    if (has_nonideal(d)) out.push_back(members_section(d));
    if (d.actuators.empty()) return;
    Section servo{"Servo-constraints at the acceleration level", {}, {}, {}};
    servo.blocks.emplace_back(Sentence{"The magnitudes of the actuators are those that keep these rows:"});
    std::vector<std::vector<NodeId>> rows(d.rows.size());
    for (const SparseEntry& e : d.A.entries) rows[e.row].push_back(g.mul(e.value, g.symbol_node(d.model->speeds[e.column].rate)));
    Equations kept;
    for (std::size_t i = 0; i < rows.size(); ++i)
        if (d.rows[i].by_actuators) kept.push_back({expression(g.sum(rows[i])), "=", expression(d.b[i])});
    servo.blocks.emplace_back(std::move(kept));
    out.push_back(std::move(servo));
}

// which speeds depend on which, and a few words about who decided
struct Decision {
    SpeedPartition partition;
    std::string words;
};

// `fewer`: the speeds that the model lets depend are candidates for the rows of this system, which are not all of the model's
Decision decide(const ConstrainedDynamics& system, const EquationOptions& options, const std::vector<double>& state,
                const std::vector<std::uint32_t>& named_by_model, bool fewer) {
    const SpeedPartition own = choose_speed_partition(system, state);
    const auto following = [&](const std::vector<std::uint32_t>& dependent, bool all) -> std::optional<SpeedPartition> {
        SpeedPartition p = choose_speed_partition(system, state, dependent);
        if ((all && p.dependent.size() < dependent.size()) || p.rows.size() < own.rows.size()) return std::nullopt;
        return p;
    };
    if (!options.dependent.empty()) {
        if (const auto p = following(options.dependent, true)) return {*p, "Given, and regular " + options.place};
        throw Error("the speeds given can not depend on the others, or are too few, at this state");
    }
    if (!named_by_model.empty()) {
        if (const auto p = following(named_by_model, !fewer))
            return {*p, fmt::format("{}, and regular {}", fewer ? "As far as the model names them" : "Named by the model",
                                    options.place)};
        return {own, "Chosen, since those that the model names do not determine the others, " + options.place};
    }
    return {own, "Chosen " + options.place};
}

// the constraints in evidence and the others, in words
std::string evidence_sentence(const ConstrainedDynamics& d, Formulation formulation, const std::vector<bool>& shown) {
    std::vector<std::string> in, out;
    for (std::size_t i = 0; i < d.model->constraints.size(); ++i) {
        const Constraint& c = d.model->constraints[i];
        if (c.actuators.empty()) (shown[i] ? in : out).push_back(c.name);
    }
    if (in.empty()) return "";
    if (follows_evidence(formulation))
        return fmt::format(
            " In evidence: the forces of {}. {} Each row in evidence adds its equation and its multiplier.", fmt::join(in, ", "),
            out.empty() ? "Nothing is eliminated." : fmt::format("Eliminated: those of {}.", fmt::join(out, ", ")));
    if (formulation == Formulation::multipliers)
        return out.empty() ? ""
                           : fmt::format(
                                 " All of them are, those of {} as well, which the model does not ask for; `minimal` and "
                                 "`nonminimal` eliminate them.",
                                 fmt::join(out, ", "));
    return fmt::format(
        " It has no constraint forces in its equations; the model wants those of {} in evidence, which `minimal`, "
        "`nonminimal` and `multipliers` can show.",
        fmt::join(in, ", "));
}

}  // namespace

Document equation_document(const ConstrainedDynamics& d, const EquationOptions& options) {
    const std::vector<double> state = options.state.empty() ? generic_values(d.graph()) : options.state;
    std::vector<bool> shown(d.model->constraints.size(), false);
    for (const std::size_t c : options.evidence.value_or(d.model->evidence)) shown.at(c) = true;
    const ConstrainedDynamics ideal = with_given_forces(d);
    std::vector<bool> in_evidence, eliminated;
    for (const ConstraintRow& row : ideal.rows) {
        in_evidence.push_back(follows_evidence(options.formulation) && shown[row.constraint]);
        eliminated.push_back(!in_evidence.back());
    }
    const ConstrainedDynamics system = with_rows(ideal, eliminated);
    const bool all_rows = ideal.rows.size() == d.rows.size();
    const bool fewer = system.rows.size() < ideal.rows.size();
    // a partition that the model names is one of all rows
    const Decision decision = decide(system, options, state, all_rows ? d.dependent : std::vector<std::uint32_t>{}, fewer);
    Document document{d.model->name,
                      d.model->title,
                      {formulation_sentence(options.formulation) + evidence_sentence(d, options.formulation, shown)},
                      {},
                      {}};
    document.sections.push_back(
        system_section(d, all_rows && !fewer ? decision.partition : choose_speed_partition(d, state), options.place));
    if (!speeds_are_rates(d)) document.sections.push_back(kinematical_section(d));
    velocity_sections(d, document.sections);
    // of a system with laws or actuators all of them; otherwise `multipliers` lists the forces
    if (has_nonideal(d) || !d.actuators.empty()) document.sections.push_back(constraint_forces_section(d));
    added_sections(d, document.sections);
    for (Section& section : formulation_sections(system, with_rows(ideal, in_evidence), options.formulation, decision.partition,
                                                 decision.words, state))
        document.sections.push_back(std::move(section));
    document.sections.push_back(energy_section(d));
    return document;
}

}  // namespace appell
