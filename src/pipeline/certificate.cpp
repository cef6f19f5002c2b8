#include "pipeline/certificate.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

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
    spec.outputs = {{"ud", std::move(ud)}, {"force", std::move(force)}, {"f", d.f()}, {"mass", std::move(mass)}};
    return lower_program(g, spec);
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

template <class T>
double norm(std::span<const T> v) {
    double sum = 0;
    for (const T& x : v) sum += static_cast<double>(x) * static_cast<double>(x);
    return std::sqrt(sum);
}

// |v - w| in the working precision: the difference is taken before it is rounded to double
template <class T>
double distance(std::span<const T> v, std::span<const T> w) {
    double sum = 0;
    for (std::size_t i = 0; i < v.size(); ++i) {
        const double difference = static_cast<double>(T(v[i] - w[i]));
        sum += difference * difference;
    }
    return std::sqrt(sum);
}

// u' is what f/m and the constraint forces leave of each other, and has no more digits than they have: where nothing can move,
// none of its own.
template <class T>
double size_of_rates(const Workspace<T>& reference) {
    double sum = 0;
    const auto f = reference.output("f"), mass = reference.output("mass");
    for (std::size_t i = 0; i < f.size(); ++i)
        if (const double m = static_cast<double>(mass[i]); m > 0) {
            const double free = static_cast<double>(f[i]) / m;
            sum += free * free;
        }
    return norm(reference.output("ud")) + std::sqrt(sum);
}

template <class T>
void compare(const std::vector<ComparedFormulation>& compared, const std::vector<std::vector<T>>& states, bool given_partition,
             std::vector<FormulationAgreement>& out, double FormulationAgreement::*acceleration,
             double FormulationAgreement::*force) {
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
            const double size = size_of_rates(reference);
            const double force_size = norm(reference.output("force")) + norm(reference.output("f"));
            const auto keep = [&](double FormulationAgreement::*member, double distance, double scale) {
                const double relative = distance == 0 ? 0 : distance / scale;
                if (!(relative <= out[k].*member)) out[k].*member = relative;  // keeps what is not a number
            };
            keep(acceleration, distance(workspace.output("ud"), reference.output("ud")), size);
            keep(force, distance(workspace.output("force"), reference.output("force")), force_size);
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
    compare<double>(compared, states.rough, given_partition, out.formulations, &FormulationAgreement::acceleration,
                    &FormulationAgreement::force);
    if (out.wide)
        compare<Digits50>(compared, {states.exact.begin(), states.exact.begin() + static_cast<std::ptrdiff_t>(out.wide_states)},
                          given_partition, out.formulations, &FormulationAgreement::acceleration_wide,
                          &FormulationAgreement::force_wide);
    const auto larger = [](double a, double b) { return !(b <= a) ? b : a; };
    for (const FormulationAgreement& f : out.formulations) {
        if (!f.not_applicable.empty()) continue;
        out.worst = larger(out.worst, larger(f.acceleration, f.force));
        out.worst_wide = larger(out.worst_wide, larger(f.acceleration_wide, f.force_wide));
    }
    return out;
}

}  // namespace appell
