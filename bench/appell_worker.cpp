// Our side of every comparison (bench/run, bench/worker.hpp):  bench_appell_worker TASK [ARGUMENTS]
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <complex>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <mutex>
#include <span>
#include <stdexcept>
#include <thread>

#include <Eigen/Dense>

#include "expr/evaluate.hpp"
#include "jit/native_code.hpp"
#include "models.hpp"
#include "pipeline/ensemble.hpp"
#include "pipeline/linearize.hpp"
#include "pipeline/lower_motion.hpp"
#include "pipeline/pipeline.hpp"
#include "pipeline/start_numbers.hpp"
#include "sim/make_integrator.hpp"
#include "sim/motion_rate.hpp"
#include "sim/reduction.hpp"
#include "sim/simulate.hpp"
#include "worker.hpp"

namespace {

std::atomic<std::size_t> allocations{0};

}  // namespace

// every way to memory that glibc has, for new and for libraries that do without it
extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
void* malloc(std::size_t size) noexcept { return ++allocations, __libc_malloc(size); }
void* calloc(std::size_t count, std::size_t size) noexcept { return ++allocations, __libc_calloc(count, size); }
void* realloc(void* p, std::size_t size) noexcept { return ++allocations, __libc_realloc(p, size); }
void* memalign(std::size_t alignment, std::size_t size) noexcept { return ++allocations, __libc_memalign(alignment, size); }
void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept { return memalign(alignment, size); }
int posix_memalign(void** p, std::size_t alignment, std::size_t size) noexcept {
    *p = memalign(alignment, size);
    return *p == nullptr ? ENOMEM : 0;
}
}

namespace {

using namespace appell;
using bench::Batches;
using bench::Counts;
using bench::keep;
using bench::Measurement;
using bench::processor_time;
using bench::serve;

std::string read(const std::string& path) {
    std::ifstream file(path);
    if (!file) throw std::runtime_error("no file " + path);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// NAME or NAME:SIZE, or the path of a model file
std::string text_of(const std::string& model) {
    const std::size_t colon = model.find(':');
    const std::string name = model.substr(0, colon);
    const int n = colon == std::string::npos ? 0 : std::atoi(model.c_str() + colon + 1);
    if (name == "pucks") return bench::pucks();
    if (name == "appell_hamel") return bench::appell_hamel();
    if (name == "pendulum") return bench::pendulum(n);
    if (name == "cart") return bench::cart(n);
    if (name == "planar_bodies") return bench::bodies(n, false);
    if (name == "spatial_bodies") return bench::bodies(n, true);
    if (name == "skating_bodies") return bench::bodies(n, true, true);
    if (name == "equal_speeds") return bench::points(n, bench::Joined::equal_speeds);
    if (name == "perpendicular") return bench::points(n, bench::Joined::perpendicular);
    if (name == "parallel") return bench::points(n, bench::Joined::parallel);
    return read(model);
}

ModelText model_text(const std::string& text) {
    return {"bench.appell", text, [](const std::string&) { return std::nullopt; }, {}};
}

Derivation derived(const std::string& text) {
    Derivation out = derive(model_text(text));
    if (!out.ok()) throw std::runtime_error(render(out.diagnostics, out.sources));
    return out;
}

// peak resident memory of this process so far, in bytes
double peak_memory() {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
        if (line.starts_with("VmHWM:")) return std::strtod(line.c_str() + 6, nullptr) * 1024;
    return 0;
}

// ---------------------------------------------------------------- evaluation and steps

// The motion of a model. Peers integrate no works, so that by default there are none.
struct Ours {
    Ours(const std::string& text, Formulation formulation, bool ledger = false) : derivation(derived(text)) {
        LowerMotionOptions options;
        options.for_run = true;
        options.formulation = formulation;
        options.works = ledger;
        Result<LoweredMotion> found = lower_motion(*derivation.dynamics, options);
        if (!found.ok()) throw std::runtime_error(render(found.diagnostics, derivation.sources));
        lowered = std::move(*found);
    }

    Motion& motion() { return lowered.motion; }
    [[nodiscard]] Counts counts() const {
        const Program& rate = lowered.motion.rate;
        double solved = 0;
        for (const SolveBlock& block : rate.solves)
            if (block.sparse) solved += static_cast<double>(block.sparse->operations());
        return {{"nodes", static_cast<double>(lowered.nodes)},
                {"instructions", static_cast<double>(rate.instructions.size())},
                {"operations of sparse solves", solved},
                {"bytes of code", rate.native ? static_cast<double>(rate.native->bytes) : 0}};
    }

    Derivation derivation;
    LoweredMotion lowered;
};

Formulation formulation_named(const std::string& name) {
    const std::optional<Formulation> found = find_formulation(name);
    if (!found) throw std::runtime_error("no formulation " + name);
    return *found;
}

std::vector<double> rates_of_speeds(const Motion& motion, const std::vector<double>& xd) {
    return {xd.begin() + static_cast<std::ptrdiff_t>(motion.coordinates),
            xd.begin() + static_cast<std::ptrdiff_t>(motion.states())};
}

// the time is shared by so many parts of the model
int evaluate(const std::string& model, const std::string& formulation, double parts = 1) {
    Ours ours(text_of(model), formulation_named(formulation));
    const Motion& motion = ours.motion();
    MotionRate rate(motion);
    std::vector<double> x = ours.lowered.x0, xd(motion.carried());
    x.resize(motion.carried());
    if (rate.rate(0, x, xd) != RateStatus::ok) throw std::runtime_error("no rate at the start of " + model);
    const std::vector<double> values = rates_of_speeds(motion, xd);
    Batches batches;
    Counts counts = ours.counts();
    const std::size_t before = allocations;
    const double begin = processor_time();
    for (int i = 0; i < 1000 && processor_time() - begin < 0.1; ++i) (void)rate.rate(0, x, xd);
    counts.emplace_back("allocations", static_cast<double>(allocations - before));
    counts.emplace_back("memory", peak_memory());
    bench::States states(std::move(x), motion.coordinates);
    return serve(counts, [&] {
        const double seconds = batches.seconds([&](long i) {
            if (rate.rate(0, states.state(), xd) != RateStatus::ok) throw std::runtime_error("no rate of " + model);
            keep(xd.data());
            states.next(i, xd.data());
        });
        return Measurement{seconds / parts, values};
    });
}

// accepted steps of dopri5 from the start to the end of the model's run, again and again
int step(const std::string& model, const std::string& formulation, double tolerance, double t_end, bool ledger) {
    Ours ours(text_of(model), formulation_named(formulation), ledger);
    const Motion& motion = ours.motion();
    MotionRate rate(motion);
    const IntegratorOptions options{tolerance, tolerance};
    std::unique_ptr<Integrator> integrator;
    if (motion.reduction)
        integrator = std::make_unique<ReducedIntegrator>(motion, rate, IntegratorKind::dopri5, options);
    else
        integrator = make_integrator(IntegratorKind::dopri5, rate, options);
    std::vector<double> x = ours.lowered.x0;
    x.resize(motion.carried());
    std::size_t steps = 0;
    const auto run = [&] {
        if (integrator->start(0, x, t_end) != StepStatus::ok) throw std::runtime_error("no start of " + model);
        while (!integrator->at_end()) {
            if (integrator->step() != StepStatus::ok) throw std::runtime_error("no step of " + model);
            ++steps;
        }
    };
    run();
    Counts counts = ours.counts();
    const std::size_t steps_before = steps, before = allocations;
    const std::size_t evaluations_before = integrator->statistics().evaluations;
    run();
    const auto in_run = static_cast<double>(steps - steps_before);
    counts.emplace_back("steps", in_run);
    counts.emplace_back("allocations per step", static_cast<double>(allocations - before) / in_run);
    counts.emplace_back("memory", peak_memory());
    counts.emplace_back("evaluations per step",
                        static_cast<double>(integrator->statistics().evaluations - evaluations_before) / in_run);
    const auto end = integrator->x();
    const std::vector<double> values(end.begin(), end.begin() + static_cast<std::ptrdiff_t>(motion.states()));
    Batches batches;
    return serve(counts, [&] {
        const double of_run = batches.seconds([&](long) { run(); });
        return Measurement{of_run / in_run, values};
    });
}

// ---------------------------------------------------------------- derivation

constexpr std::size_t k_most_solved = 100;  // unknowns, by a full matrix

// All of M, f, A and b: they are formed when they are first asked for. The numbers are u' by them, with the start values, for
// regular M; for a family of points M is diagonal, and the numbers would say nothing of it.
struct Equations {
    explicit Equations(const std::string& text) : derivation(derived(text)) {
        entries = derivation.dynamics->M().entries.size() + derivation.dynamics->f().size();
    }
    [[nodiscard]] std::vector<double> start() const {
        Diagnostics diagnostics;
        const Model& model = *derivation.model;
        const std::optional<Start> found = find_start(*derivation.dynamics, model, model.run.from, diagnostics);
        if (!found) throw std::runtime_error(render(diagnostics, derivation.sources));
        return found->values;
    }
    [[nodiscard]] std::vector<double> accelerations() const {
        const ConstrainedDynamics& d = *derivation.dynamics;
        const std::size_t n = d.f().size(), m = d.rows.size();
        std::vector<NodeId> nodes;
        for (const SparseMatrix* matrix : {&d.M(), &d.A})
            for (const SparseEntry& e : matrix->entries) nodes.push_back(e.value);
        nodes.insert(nodes.end(), d.f().begin(), d.f().end());
        nodes.insert(nodes.end(), d.b.begin(), d.b.end());
        const std::vector<double> numbers = appell::evaluate<double>(d.graph(), nodes, start());
        const auto size = static_cast<Eigen::Index>(n + m);
        Eigen::MatrixXd left = Eigen::MatrixXd::Zero(size, size);
        Eigen::VectorXd right(size);
        std::size_t next = 0;
        const auto put = [&](std::size_t row, std::size_t column) {
            const auto i = static_cast<Eigen::Index>(row), j = static_cast<Eigen::Index>(column);
            left(i, j) = left(j, i) = numbers[next++];
        };
        for (const SparseEntry& e : d.M().entries) put(e.row, e.column);
        for (const SparseEntry& e : d.A.entries) put(n + e.row, e.column);
        for (Eigen::Index i = 0; i < size; ++i) right(i) = numbers[next++];
        const Eigen::VectorXd x = left.fullPivLu().solve(right);
        return {x.data(), x.data() + n};
    }

    Derivation derivation;
    std::size_t entries = 0;
};

int derive_task(const std::string& model) {
    const std::string text = text_of(model);
    std::size_t nodes = 0;
    std::vector<double> values;
    double memory = 0;
    {
        const Equations once(text);
        nodes = once.derivation.dynamics->graph().size();
        memory = peak_memory();
        if (once.derivation.dynamics->f().size() <= k_most_solved) values = once.accelerations();
    }
    Batches batches;
    return serve({{"nodes", static_cast<double>(nodes)}, {"memory", memory}}, [&] {
        return Measurement{batches.seconds([&](long) {
                               const Equations equations(text);
                               keep(&equations);
                           }),
                           values};
    });
}

int linearize_task(const std::string& path) {
    const std::string text = text_of(path);
    const auto eigenvalues = [&] {
        ModelText model = model_text(text);
        model.options.set = {{"lean'", 0.0}, {"x'", 5.0}};
        Derivation derivation = derive(model);
        std::optional<Linearization> found = linearize(derivation, {});
        if (!found) throw std::runtime_error(render(derivation.diagnostics, derivation.sources));
        // those that are not zero, by real parts; then the imaginary ones
        std::vector<std::complex<double>> values;
        for (const Eigenvalue& e : found->system.spectrum.eigenvalues)
            if (std::abs(e.value()) > 1e-6) values.push_back(e.value());
        std::sort(values.begin(), values.end(),
                  [](const auto& a, const auto& b) { return std::pair(a.real(), a.imag()) < std::pair(b.real(), b.imag()); });
        std::vector<double> out;
        for (const auto& value : values) out.push_back(value.real());
        for (const auto& value : values) out.push_back(std::abs(value.imag()));
        return out;
    };
    return serve({}, [&] {
        // the peer takes minutes once; what takes milliseconds is taken several times
        std::vector<double> times, values;
        for (int i = 0; i < 9; ++i) {
            const double start = processor_time();
            values = eigenvalues();
            times.push_back(processor_time() - start);
        }
        std::nth_element(times.begin(), times.begin() + 4, times.end());
        return Measurement{times[4], values};
    });
}

// text to the first value of u'
int first_evaluation(const std::string& model) {
    const std::string text = text_of(model);
    const auto measure = [&] {
        const double start = processor_time();
        Ours ours(text, Formulation::multipliers);
        MotionRate rate(ours.motion());
        std::vector<double> x = ours.lowered.x0, xd(ours.motion().carried());
        x.resize(ours.motion().carried());
        if (rate.rate(0, x, xd) != RateStatus::ok) throw std::runtime_error("no rate");
        const double seconds = processor_time() - start;
        return Measurement{seconds, rates_of_speeds(ours.motion(), xd)};
    };
    (void)measure();
    return serve({{"memory", peak_memory()}}, measure);
}

// parse, derive and compile everything that a run needs
int prepare(const std::string& path) {
    const std::string text = text_of(path);
    Batches batches;
    return serve({}, [&] {
        return Measurement{batches.seconds([&](long) {
            const Ours ours(text, Formulation::multipliers, true);
            keep(&ours);
        })};
    });
}

// ---------------------------------------------------------------- runs

// a run of a pendulum as a user has it, with guards far from zero or without any
int swing(const std::string& model, bool guarded, double t_end) {
    Derivation derivation = derived(text_of(model) + (guarded ? bench::far_guards() : ""));
    RunOptions options;
    options.until = t_end;
    options.every = t_end / 10;
    return serve({}, [&] {
        const double start = processor_time();
        const std::optional<Run> found = run(derivation, options);
        const double seconds = processor_time() - start;
        if (!found) throw std::runtime_error(render(derivation.diagnostics, derivation.sources));
        const std::vector<double>& x = found->summary.x_end;
        return Measurement{seconds, {x.begin(), x.end()}};
    });
}

// per simulated second; the values are where the centre has got to, and slips are metres per second
int roll(const std::string& path, double tolerance, double t_end) {
    Ours ours(text_of(path), Formulation::multipliers, true);
    SimulateOptions options;
    options.t1 = t_end;
    options.every = 0.01;
    options.rtol = options.atol = tolerance;
    SimulateSummary summary;
    std::vector<double> last;
    const auto run = [&] {
        summary = simulate(ours.motion(), ours.lowered.x0, options, [&](double, std::span<const double> row) {
            last.assign(row.begin(), row.begin() + 2);  // x and y are the first two coordinates
            keep(last.data());
        });
        if (summary.reason != EndReason::finished) throw std::runtime_error("the run ended early");
    };
    run();
    return serve({{"steps", static_cast<double>(summary.steps)},
                  {"slip", summary.velocity_residual},
                  {"evaluations per step", static_cast<double>(summary.evaluations) / static_cast<double>(summary.steps)}},
                 [&] {
                     const double start = processor_time();
                     run();
                     return Measurement{(processor_time() - start) / t_end, last};
                 });
}

// Seconds of one member of an ensemble: as `appell sweep` runs it, in lanes and on so many threads at once, by the clock on the
// wall; without threads, one member after another, in processor time.
int ensemble(const std::string& path, std::size_t count, std::size_t threads) {
    SweepPlan plan;
    plan.random = {{"m", SweepDraw::Law::uniform, 0.9, 1.1}, {"u1", SweepDraw::Law::uniform, 0.5, 1.5}};
    plan.samples = count;
    RunOptions options;
    options.until = 10.0;
    options.every = 10.0;
    Result<Ensemble> made = Ensemble::make(model_text(text_of(path)), options, plan);
    if (!made.ok()) throw std::runtime_error("no ensemble");
    return serve({{"members", static_cast<double>(count)}}, [&] {
        std::vector<std::vector<double>> numbers(count);
        std::atomic<std::size_t> next = 0;
        std::mutex preparing;
        const auto members = [&](Neighbours* neighbours) {
            for (std::size_t i = next++; i < count; i = next++) {
                Ensemble::Prepared prepared;
                {
                    const std::lock_guard lock(preparing);
                    prepared = made->prepare(i);
                }
                numbers[i] = made->run(prepared, {}, neighbours).numbers;
            }
        };
        const auto now = [&] { return threads == 0 ? processor_time() : bench::wall_time(); };
        const double start = now();
        if (threads == 0) {
            members(nullptr);
        } else {
            std::vector<std::jthread> pool;
            for (std::size_t i = 0; i < threads; ++i) pool.emplace_back([&] { made->in_lanes(count / threads, members); });
        }
        const double seconds = (now() - start) / static_cast<double>(count);
        // of members that ensembles of other sizes have as well
        std::vector<double> some;
        for (std::size_t i = 0; i < std::min<std::size_t>(count, 2000); ++i)
            some.insert(some.end(), numbers[i].begin(), numbers[i].end());
        return Measurement{seconds, some};
    });
}

int work(std::span<const std::string> a) {
    const std::string task = a.empty() ? "" : a[0];
    const auto argument = [&](std::size_t i, const char* otherwise) { return i < a.size() ? a[i] : std::string(otherwise); };
    const auto number = [&](std::size_t i, const char* otherwise) { return std::atof(argument(i, otherwise).c_str()); };
    if (task == "evaluate") return evaluate(a[1], argument(2, "multipliers"));
    if (task == "evaluate_point") return evaluate(a[1], "multipliers", std::atof(a[1].c_str() + a[1].find(':') + 1));
    if (task == "step")
        return step(a[1], argument(2, "multipliers"), number(3, "1e-8"), number(4, "10"), argument(5, "") == "ledger");
    if (task == "derive") return derive_task(a[1]);
    if (task == "linearize") return linearize_task(a[1]);
    if (task == "first_evaluation") return first_evaluation(a[1]);
    if (task == "prepare") return prepare(a[1]);
    if (task == "roll") return roll(a[1], number(2, "1e-8"), number(3, "10"));
    if (task == "swing") return swing(a[1], argument(2, "") == "guarded", number(3, "100"));
    if (task == "ensemble")
        return ensemble(a[1], static_cast<std::size_t>(number(2, "1000")), static_cast<std::size_t>(number(3, "0")));
    throw std::runtime_error("no task " + task);
}

}  // namespace

int main(int argc, char** argv) {
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    try {
        return work(arguments);
    } catch (const std::exception& problem) {
        std::fprintf(stderr, "bench_appell_worker: %s\n", problem.what());
        return 1;
    }
}
