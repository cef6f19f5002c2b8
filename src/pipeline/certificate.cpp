#include "pipeline/certificate.hpp"

#include <algorithm>
#include <cmath>

#include "dynam/formulations.hpp"
#include "tape/workspace.hpp"

namespace appell {

namespace {

// states where a given choice of independent speeds is worse conditioned than this are passed over by those that use it
constexpr double k_worst_partition = 1e-2;

Program comparison_program(const ConstrainedDynamics& d, Formulation formulation, std::vector<SymbolId> inputs) {
    Graph& g = d.graph();
    ProgramSpec spec{std::move(inputs), formulate(d, formulation), {}};
    std::vector<NodeId> ud, force(d.model->speeds.size(), g.constant(0));
    for (const Speed& s : d.model->speeds) ud.push_back(g.symbol_node(s.rate));
    for (const SparseEntry& e : d.A.entries)
        if (!d.rows[e.row].by_actuators)
            force[e.column] = g.add(force[e.column], g.mul(e.value, g.symbol_node(d.rows[e.row].multiplier)));
    for (const SparseEntry& e : d.D.entries)
        force[e.row] = g.add(force[e.row], g.mul(e.value, g.symbol_node(d.actuators[e.column])));
    spec.outputs = {{"ud", std::move(ud)}, {"force", std::move(force)}, {"f", d.f}};
    return lower_program(g, spec);
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

template <class T>
void compare(const std::vector<Program>& programs, const std::vector<std::vector<T>>& states, bool given_partition,
             std::vector<FormulationAgreement>& out, double FormulationAgreement::*acceleration,
             double FormulationAgreement::*force) {
    std::vector<Workspace<T>> workspaces;
    workspaces.reserve(programs.size());
    for (const Program& program : programs) workspaces.emplace_back(program);
    for (const std::vector<T>& state : states)
        for (std::size_t k = 0; k < programs.size(); ++k) {
            if (!out[k].not_applicable.empty()) continue;
            std::copy(state.begin(), state.end(), workspaces[k].inputs().begin());
            const EvalReport report = workspaces[k].run();
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
            Workspace<T>& reference = workspaces.front();
            const double size = norm(reference.output("ud"));
            const double force_size = norm(reference.output("force")) + norm(reference.output("f"));
            const auto keep = [&](double FormulationAgreement::*member, double distance, double scale) {
                const double relative = distance == 0 ? 0 : distance / scale;
                if (!(relative <= out[k].*member)) out[k].*member = relative;  // keeps what is not a number
            };
            keep(acceleration, distance(workspaces[k].output("ud"), reference.output("ud")), size);
            keep(force, distance(workspaces[k].output("force"), reference.output("force")), force_size);
        }
}

}  // namespace

Certificate certify(const ConstrainedDynamics& d, const LoweredMotion& lowered, const ConsistentStates& states,
                    const CertificateOptions& options) {
    Certificate out;
    out.seed = options.seed;
    const std::size_t size = d.model->speeds.size() + d.rows.size();
    out.wide = size <= options.largest_wide;
    out.too_large = size > options.largest;
    if (out.too_large) return out;
    out.tried = states.tried;
    out.least_pivot = states.least_pivot;
    out.states = states.rough.size();
    out.enough = states.rough.size() >= options.states;
    if (states.rough.empty()) return out;
    std::vector<SymbolId> inputs = program_inputs(*d.model);
    inputs.push_back(lowered.length_symbol);
    std::vector<Program> programs;
    for (const FormulationInfo& row : all_formulations()) {
        programs.push_back(comparison_program(d, row.formulation, inputs));
        out.formulations.push_back({std::string(row.name), std::string(row.source), "", 0, 0, 0, 0, false});
    }
    const bool given_partition = !d.independent.empty();
    compare<double>(programs, states.rough, given_partition, out.formulations, &FormulationAgreement::acceleration,
                    &FormulationAgreement::force);
    if (out.wide)
        compare<Digits50>(programs, states.exact, given_partition, out.formulations, &FormulationAgreement::acceleration_wide,
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
