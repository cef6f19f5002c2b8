#include "pipeline/certificate.hpp"

#include <algorithm>
#include <cmath>

#include "dynam/formulations.hpp"
#include "sim/project.hpp"
#include "tape/workspace.hpp"

namespace appell {

namespace {

// a fixed generator of our own: the same states on every machine and library
class Random {
public:
    explicit Random(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15ull + 0x2545f4914f6cdd1dull) {}
    double unit() {  // [0, 1)
        state_ ^= state_ << 13;
        state_ ^= state_ >> 7;
        state_ ^= state_ << 17;
        return static_cast<double>(state_ >> 11) / 9007199254740992.0;
    }
    double symmetric() { return 2 * unit() - 1; }

private:
    std::uint64_t state_;
};

// states whose rows are worse conditioned than this are not used: they say more about themselves than about the formulations
constexpr double k_worst_pivot = 1e-6;

Program comparison_program(const ConstrainedDynamics& d, Formulation formulation, std::vector<SymbolId> inputs) {
    Graph& g = d.graph();
    ProgramSpec spec{std::move(inputs), {formulate(d, formulation)}, {}};
    std::vector<NodeId> ud, force(d.model->speeds.size(), g.constant(0));
    for (const Speed& s : d.model->speeds) ud.push_back(g.symbol_node(s.rate));
    for (const SparseEntry& e : d.A.entries)
        force[e.column] = g.add(force[e.column], g.mul(e.value, g.symbol_node(d.rows[e.row].multiplier)));
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
void compare(const std::vector<Program>& programs, const std::vector<std::vector<double>>& states,
             std::vector<FormulationAgreement>& out, double FormulationAgreement::*acceleration,
             double FormulationAgreement::*force) {
    std::vector<Workspace<T>> workspaces;
    workspaces.reserve(programs.size());
    for (const Program& program : programs) workspaces.emplace_back(program);
    for (const std::vector<double>& state : states)
        for (std::size_t k = 0; k < programs.size(); ++k) {
            if (!out[k].not_applicable.empty()) continue;
            std::copy(state.begin(), state.end(), workspaces[k].inputs().begin());
            const EvalReport report = workspaces[k].run();
            if (report.status == EvalStatus::singular_mass) {
                out[k].not_applicable = "the mass matrix is singular";
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

std::vector<std::vector<double>> random_consistent_states(const ConstrainedDynamics& d, const LoweredMotion& lowered,
                                                          const CertificateOptions& options, std::size_t& tried) {
    const Model& m = *d.model;
    const std::size_t nq = m.coordinates.size(), nu = m.speeds.size();
    Random random(options.seed);
    std::vector<std::vector<double>> states;
    // typical sizes: a coordinate moves by a fraction of itself and of the others
    double q_size = 0.1, u_size = 1;
    for (std::size_t i = 0; i < nq; ++i) q_size = std::max(q_size, 0.3 * std::abs(lowered.x0[i]));
    for (std::size_t i = nq; i < nq + nu; ++i) u_size = std::max(u_size, std::abs(lowered.x0[i]));
    std::size_t rank = 0;
    bool rank_known = false;
    for (tried = 0; tried < options.tries && states.size() < options.states; ++tried) {
        Motion motion = lowered.motion;
        for (std::size_t i = 0; i < m.parameters.size(); ++i) motion.parameters[i] *= std::exp2(random.symmetric());
        const double t = m.run.from + random.unit() * m.run.duration;
        std::vector<double> x = lowered.x0;
        for (std::size_t i = 0; i < nq; ++i) x[i] += q_size * random.symmetric();
        for (std::size_t i = nq; i < nq + nu; ++i) x[i] = u_size * random.symmetric();
        Projector position(motion, motion.position, Projector::Level::position);
        Projector velocity(motion, motion.velocity, Projector::Level::velocity);
        if (position.project(t, x, k_project_start).status != ProjectStatus::converged) continue;
        if (velocity.project(t, x, k_project_start).status != ProjectStatus::converged) continue;
        std::vector<double> inputs{t};
        inputs.insert(inputs.end(), x.begin(), x.end());
        inputs.insert(inputs.end(), motion.parameters.begin(), motion.parameters.end());
        Workspace<double> rate(motion.rate);
        std::copy(inputs.begin(), inputs.end(), rate.inputs().begin());
        const EvalReport report = rate.run();
        if (report.status != EvalStatus::ok || report.smallest_pivot < k_worst_pivot) continue;
        if (rank_known && report.rank != rank) continue;
        rank = report.rank;
        rank_known = true;
        states.push_back(std::move(inputs));
    }
    return states;
}

Certificate certify(const ConstrainedDynamics& d, const LoweredMotion& lowered, const CertificateOptions& options) {
    Certificate out;
    out.seed = options.seed;
    const std::size_t size = d.model->speeds.size() + d.rows.size();
    out.wide = size <= options.largest_wide;
    out.too_large = size > options.largest;
    if (out.too_large) return out;
    const std::vector<std::vector<double>> states = random_consistent_states(d, lowered, options, out.tried);
    out.states = states.size();
    out.enough = states.size() >= options.states;
    if (states.empty()) return out;
    std::vector<SymbolId> inputs = program_inputs(*d.model);
    inputs.push_back(lowered.length_symbol);
    std::vector<Program> programs;
    for (const FormulationInfo& row : all_formulations()) {
        programs.push_back(comparison_program(d, row.formulation, inputs));
        out.formulations.push_back({std::string(row.name), std::string(row.source), "", 0, 0, 0, 0});
    }
    compare<double>(programs, states, out.formulations, &FormulationAgreement::acceleration, &FormulationAgreement::force);
    if (out.wide)
        compare<Digits50>(programs, states, out.formulations, &FormulationAgreement::acceleration_wide,
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
