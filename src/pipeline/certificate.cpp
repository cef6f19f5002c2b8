#include "pipeline/certificate.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/scientific.hpp"
#include "dynam/formulations.hpp"
#include "tape/workspace.hpp"

namespace appell {

namespace {

// states where a given choice of independent speeds is worse conditioned than this are passed over by those that use it
constexpr double k_worst_partition = 1e-2;

Program comparison_program(const ConstrainedDynamics& d, std::vector<ConstrainedSolve> solves, std::vector<SymbolId> inputs) {
    Graph& g = d.graph();
    ProgramSpec spec{std::move(inputs), std::move(solves), {}};
    std::vector<NodeId> ud, force(d.model->speeds.size(), g.constant(0));
    for (const Speed& s : d.model->speeds) ud.push_back(g.symbol_node(s.rate));
    for (const SparseEntry& e : d.A.entries)
        if (!d.rows[e.row].by_actuators)
            force[e.column] = g.add(force[e.column], g.mul(e.value, g.symbol_node(d.rows[e.row].multiplier)));
    for (const SparseEntry& e : d.D.entries)
        force[e.row] = g.add(force[e.row], g.mul(e.value, g.symbol_node(d.actuators[e.column])));
    std::vector<NodeId> mass(d.model->speeds.size(), g.constant(0));
    for (const SparseEntry& e : d.M().entries)
        if (e.row == e.column) mass[e.row] = e.value;
    std::vector<NodeId> speeds;
    for (const Speed& s : d.model->speeds) speeds.push_back(g.symbol_node(s.u));
    spec.outputs = {
        {"ud", std::move(ud)}, {"force", std::move(force)}, {"f", d.f()}, {"mass", std::move(mass)}, {"u", std::move(speeds)}};
    return lower_program(g, spec);
}

// which speeds are lengths per time; the others turn, or have no unit
std::vector<bool> speeds_with_length(const Model& m) {
    std::vector<bool> out;
    for (const Speed& s : m.speeds) out.push_back(s.dimension && s.dimension->exponent[0] == Dimension::k_unit);
    return out;
}

// The programs of one formulation: one, or several for different partitions of the rates.
struct ComparedFormulation {
    static constexpr std::size_t k_passed_over = static_cast<std::size_t>(-1);

    std::vector<Program> programs;
    std::vector<std::size_t> by_state;  // which program
    std::string not_applicable;
};

// A partition serves a state where it is conditioned as well as this: second derivatives of the dependent rates lose the cube of
// it, three digits. Programs are costly, so that after a few a state takes the best of them, unless that one is poor.
// Where their equations are large no more are made for it, and it is passed over: with a fair one double keeps its 1e-11.
constexpr double k_good_partition = 0.1, k_fair_partition = 0.03, k_poor_partition = 1e-3;
constexpr std::size_t k_enough_partitions = 8;

ComparedFormulation prepare(const ConstrainedDynamics& d, Formulation formulation, const std::vector<SymbolId>& inputs,
                            const std::vector<std::vector<double>>& states, std::size_t most_nodes) {
    ComparedFormulation out;
    const FormulatedDynamics formulated(d, formulation);
    out.not_applicable = formulated.not_applicable();
    std::vector<Partition> known;
    const std::size_t nodes_before = d.graph().size();
    std::vector<double> values(d.graph().symbol_count(), 0);
    for (const std::vector<double>& state : states) {
        if (!out.not_applicable.empty()) break;
        for (std::size_t i = 0; i < inputs.size(); ++i) values[inputs[i].index()] = state[i];
        std::size_t best = 0;
        double quality = 0;
        for (std::size_t k = 0; k < known.size() && quality < k_good_partition; ++k)
            if (const double here = formulated.conditioning(values, known[k]); here > quality) {
                quality = here;
                best = k;
            }
        const bool too_many_nodes = !known.empty() && d.graph().size() - nodes_before > most_nodes;
        const bool enough = known.size() >= k_enough_partitions || too_many_nodes;
        if (too_many_nodes && quality < k_fair_partition) {
            best = ComparedFormulation::k_passed_over;
        } else if (quality < (enough ? k_poor_partition : k_good_partition)) {
            PartitionChoice choice = formulated.choose(values);
            if (!choice.not_applicable.empty()) return {{}, {}, std::move(choice.not_applicable)};
            best = static_cast<std::size_t>(std::find(known.begin(), known.end(), choice.partition) - known.begin());
            if (best == known.size()) {
                out.programs.push_back(comparison_program(d, formulated.solves(choice.partition), inputs));
                known.push_back(std::move(choice.partition));
            }
            // the user's choice has to do, or the state is passed over
            if (formulated.given() && formulated.conditioning(values, known[best]) < k_worst_partition)
                best = ComparedFormulation::k_passed_over;
        }
        out.by_state.push_back(best);
    }
    return out;
}

// squares of large numbers would overflow
template <class T>
double norm(std::span<const T> v) {
    double length = 0;
    for (const T& x : v) length = std::hypot(length, static_cast<double>(x));
    return length;
}

// |v - w| in the working precision: the difference is taken before it is rounded to double
// |v - w| in the working precision: the difference is taken before it is rounded to double
template <class T>
double distance(std::span<const T> v, std::span<const T> w) {
    double length = 0;
    for (std::size_t i = 0; i < v.size(); ++i) length = std::hypot(length, static_cast<double>(T(v[i] - w[i])));
    return length;
}

// What differences of u' and of the constraint force are measured by. Both are what large terms leave of each other, and have no
// more digits than those: f/m, and the inertia terms. A velocity v that turns within a length l has the acceleration v^2/l, also
// where such terms cancel and u' is zero (a parallelogram that turns freely).
struct Sizes {
    double rates, force;
};

template <class T>
Sizes sizes(const Workspace<T>& reference, const std::vector<bool>& with_length, double length) {
    const auto f = reference.output("f"), mass = reference.output("mass"), u = reference.output("u");
    const auto unit = [&](std::size_t i) { return with_length[i] ? length : 1.0; };
    double turning = 0, rates = 0, force = 0;  // turning: the largest rate of change, 1/s
    for (std::size_t i = 0; i < u.size(); ++i) turning = std::max(turning, std::abs(static_cast<double>(u[i])) / unit(i));
    for (std::size_t i = 0; i < f.size(); ++i) {
        const double m = static_cast<double>(mass[i]), inertial = turning * turning * unit(i);
        rates = std::hypot(rates, inertial, m > 0 ? static_cast<double>(f[i]) / m : 0.0);
        force = std::hypot(force, m * inertial);
    }
    return {norm(reference.output("ud")) + rates, norm(reference.output("force")) + norm(f) + force};
}

template <class T>
void compare(const std::vector<ComparedFormulation>& compared, const std::vector<std::vector<T>>& states, bool given_partition,
             const std::vector<bool>& with_length, std::vector<FormulationAgreement>& out,
             double FormulationAgreement::*acceleration, double FormulationAgreement::*force) {
    std::vector<std::vector<Workspace<T>>> workspaces(compared.size());
    for (std::size_t k = 0; k < compared.size(); ++k)
        for (const Program& program : compared[k].programs) workspaces[k].emplace_back(program);
    for (std::size_t i = 0; i < states.size(); ++i)
        for (std::size_t k = 0; k < compared.size(); ++k) {
            if (!out[k].not_applicable.empty()) continue;
            if (compared[k].by_state[i] == ComparedFormulation::k_passed_over) {
                out[k].passed_over = true;
                continue;
            }
            Workspace<T>& workspace = workspaces[k][compared[k].by_state[i]];
            std::copy(states[i].begin(), states[i].end(), workspace.inputs().begin());
            const EvalReport report = workspace.run();
            if (report.status != EvalStatus::ok && report.status != EvalStatus::inconsistent_rows) {
                out[k].not_applicable = report.status == EvalStatus::singular_mass ? "the mass matrix is singular"
                                        : report.status == EvalStatus::singular_partition
                                            ? "the chosen independent speeds do not determine the others at some state"
                                            : "it can not be evaluated at some state";
                continue;
            }
            // the projection on partial accelerations squares the condition of the partition
            if (given_partition && report.smallest_pivot < k_worst_partition) {
                out[k].passed_over = true;
                continue;
            }
            Workspace<T>& reference = workspaces.front().front();
            const Sizes size = sizes(reference, with_length, static_cast<double>(states[i].back()));
            const auto keep = [&](double FormulationAgreement::*member, double distance, double scale) {
                const double relative = distance == 0 ? 0 : distance / scale;
                if (!(relative <= out[k].*member)) out[k].*member = relative;  // keeps what is not a number
            };
            keep(acceleration, distance(workspace.output("ud"), reference.output("ud")), size.rates);
            keep(force, distance(workspace.output("force"), reference.output("force")), size.force);
        }
}

}  // namespace

Certificate certify(const ConstrainedDynamics& d, const LoweredMotion& lowered, const ConsistentStates& states,
                    const CertificateOptions& options) {
    Certificate out;
    out.seed = options.seed;
    out.size = size_of(d);
    out.too_large = out.size > options.largest_dense;
    if (out.size > options.largest) out.limit = out.too_large ? options.largest_dense : options.largest;
    if (out.too_large) return out;
    out.tried = states.tried;
    out.least_pivot = states.least_pivot;
    out.states = states.rough.size();
    out.enough = states.rough.size() >= (out.limit == 0 ? options.states : std::min<std::size_t>(options.states, 3));
    if (states.rough.empty()) return out;
    out.wide_states = std::min(states.exact.size(), affordable_states(options.wide_comparison_work, out.size, options.states));
    out.wide = out.wide_states > 0;
    out.wide_limit = static_cast<std::size_t>(std::cbrt(options.wide_comparison_work));
    std::vector<SymbolId> inputs = program_inputs(*d.model);
    inputs.push_back(lowered.length_symbol);
    std::vector<ComparedFormulation> compared;
    for (const FormulationInfo& row : all_formulations()) {
        const bool beyond = row.partitioned && out.size > options.largest_partitioned;
        compared.push_back(
            beyond ? ComparedFormulation{{}, {}, fmt::format("more than {} speeds and rows", options.largest_partitioned)}
                   : prepare(d, row.formulation, inputs, states.rough, options.formulation_nodes));
        out.formulations.push_back(
            {std::string(row.name), std::string(row.source), compared.back().not_applicable, beyond, 0, 0, 0, 0, false});
    }
    const bool given_partition = !d.independent.empty();
    const std::vector<bool> with_length = speeds_with_length(*d.model);
    compare<double>(compared, states.rough, given_partition, with_length, out.formulations, &FormulationAgreement::acceleration,
                    &FormulationAgreement::force);
    if (out.wide)
        compare<Digits50>(compared, {states.exact.begin(), states.exact.begin() + static_cast<std::ptrdiff_t>(out.wide_states)},
                          given_partition, with_length, out.formulations, &FormulationAgreement::acceleration_wide,
                          &FormulationAgreement::force_wide);
    const auto larger = [](double a, double b) { return !(b <= a) ? b : a; };
    for (const FormulationAgreement& f : out.formulations) {
        if (!f.not_applicable.empty()) continue;
        out.worst = larger(out.worst, larger(f.acceleration, f.force));
        out.worst_wide = larger(out.worst_wide, larger(f.acceleration_wide, f.force_wide));
    }
    return out;
}

namespace {

// With fifty digits round-off is far below any mistake. Double alone has to allow for rows that nearly depend on each other:
// formulations that form A A' square that.
constexpr double k_most_wide = 1e-30, k_most_in_double = 1e-6, k_sound_pivot = 1e-3;

double most_in_double(const Certificate& c) {
    const double loss = std::min(c.least_pivot / k_sound_pivot, 1.0);
    return k_most_in_double / (loss * loss);
}

}  // namespace

void add_disagreements(Diagnostics& diagnostics, const Certificate& c) {
    for (const FormulationAgreement& f : c.formulations) {
        if (!f.not_applicable.empty()) continue;
        const double rough = f.acceleration + f.force, wide = f.acceleration_wide + f.force_wide;
        const double found = c.wide ? wide : rough, most = c.wide ? k_most_wide : most_in_double(c);
        if (!std::isfinite(rough))
            diagnostics.add({Code::E0846,
                             {},
                             fmt::format("the formulation {} cannot be compared: at some of {} random states its accelerations "
                                         "or forces, or those of multipliers, are not finite in double",
                                         f.name, c.states),
                             "",
                             "finite numbers",
                             "parameters or masses of very different sizes do that; other units help"});
        else if (!(found <= most))
            diagnostics.add({Code::E0846,
                             {},
                             fmt::format("the formulation {} disagrees with multipliers at random states: relative difference "
                                         "{} of u', {} of the constraint force",
                                         f.name, scientific(c.wide ? f.acceleration_wide : f.acceleration),
                                         scientific(c.wide ? f.force_wide : f.force)),
                             "",
                             fmt::format("at most {}{}", scientific(most, 0), c.wide ? ", with 50 digits" : ""),
                             "do not trust this formulation for this model, and please report it"});
    }
}

}  // namespace appell
