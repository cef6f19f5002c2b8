#include "pipeline/ensemble.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <new>
#include <numbers>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/failure.hpp"
#include "dynam/formulations.hpp"
#include "lanes/crew.hpp"
#include "pipeline/end_diagnostics.hpp"
#include "pipeline/energy_audit.hpp"
#include "pipeline/smooth_laws.hpp"

namespace appell {

namespace {

constexpr std::size_t k_most_members = 10'000'000;
constexpr std::size_t k_tried = 16;  // members whose values the shared derivation may start from
constexpr double k_nothing = std::numeric_limits<double>::quiet_NaN();

// splitmix64 of Steele, Lea and Flood: a counter in, a well mixed number out, so that draws need no common stream
std::uint64_t mixed(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15ull;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}

// in (0, 1)
double uniform(std::uint64_t seed, std::uint64_t member, std::uint64_t which) {
    const std::uint64_t bits = mixed(mixed(mixed(seed) ^ member) ^ which);
    return (static_cast<double>(bits >> 11) + 0.5) / 9007199254740992.0;
}

double draw(const SweepDraw& law, std::uint64_t seed, std::uint64_t member, std::uint64_t which) {
    const double u = uniform(seed, member, 2 * which);
    if (law.law == SweepDraw::Law::uniform) return law.first + u * (law.second - law.first);
    // Box and Muller
    const double v = uniform(seed, member, 2 * which + 1);
    return law.first + law.second * std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * v);
}

std::string first_problem(const Diagnostics& diagnostics) {
    for (const Diagnostic& d : diagnostics.all())
        if (d.severity() == Severity::error) return fmt::format("{}: {}", info(d.code).name, d.message);
    return "";
}

std::string first_problem(const std::exception& exception) {
    Diagnostics told;
    told.add(failure(exception));
    return first_problem(told);
}

bool is_for_memory(const std::exception& exception) { return failure(exception).code == Code::E0881; }

// what is told of a member: its last row and the extremes along all
class Collector final : public RowConsumer {
public:
    Collector(const std::vector<std::string>& finals, const std::vector<std::string>& extremes)
        : finals_(finals),
          extremes_(extremes),
          least_(extremes.size(), std::numeric_limits<double>::infinity()),
          largest_(extremes.size(), -std::numeric_limits<double>::infinity()) {}

    void begin(const Run& run) override { find(run.columns); }
    void find(const std::vector<std::string>& columns) {
        for (const auto& [names, places] : {std::pair(&finals_, &final_places_), std::pair(&extremes_, &places_)})
            for (const std::string& name : *names)
                places->push_back(static_cast<std::size_t>(std::find(columns.begin(), columns.end(), name) - columns.begin()));
    }
    void row(double t, std::span<const double> columns) override {
        t_ = t;
        last_.assign(columns.begin(), columns.end());
        for (std::size_t k = 0; k < places_.size(); ++k) {
            if (places_[k] >= columns.size()) continue;
            least_[k] = std::min(least_[k], columns[places_[k]]);
            largest_[k] = std::max(largest_[k], columns[places_[k]]);
        }
    }
    [[nodiscard]] std::vector<double> numbers(double balance) const {
        if (last_.empty()) return {};
        std::vector<double> out{t_};
        for (const std::size_t place : final_places_) out.push_back(place < last_.size() ? last_[place] : k_nothing);
        out.push_back(balance);
        for (std::size_t k = 0; k < places_.size(); ++k) {
            const bool known = places_[k] < last_.size();
            out.push_back(known ? least_[k] : k_nothing);
            out.push_back(known ? largest_[k] : k_nothing);
        }
        return out;
    }

private:
    const std::vector<std::string>&finals_, &extremes_;
    std::vector<std::size_t> final_places_, places_;
    std::vector<double> least_, largest_, last_;
    double t_ = 0;
};

// the shape of a model: what its dynamics depend on beside numbers
bool same_shape(const Model& a, const Model& b) {
    const auto rates = [](const Model& m) {
        // a fixed rate is a number in the programs
        std::vector<std::pair<std::size_t, double>> out;
        for (const StartRate& r : m.start_rates)
            if (r.fixed) out.emplace_back(r.coordinate, r.value);
        return out;
    };
    return a.graph->size() == b.graph->size() && a.parameters.size() == b.parameters.size() &&
           a.inputs.size() == b.inputs.size() && a.coordinates.size() == b.coordinates.size() &&
           a.speeds.size() == b.speeds.size() && a.constraints.size() == b.constraints.size() &&
           a.loads.size() == b.loads.size() && rates(a) == rates(b);
}

}  // namespace

std::size_t Ensemble::size() const {
    std::size_t count = plan_.samples;
    for (const SweepAxis& axis : plan_.over) count *= axis.values.size();
    return count;
}

std::vector<double> Ensemble::values(std::size_t member) const {
    std::vector<double> out(plan_.over.size());
    std::size_t place = member / plan_.samples;
    for (std::size_t k = plan_.over.size(); k-- > 0;) {
        out[k] = plan_.over[k].values[place % plan_.over[k].values.size()];
        place /= plan_.over[k].values.size();
    }
    for (std::size_t k = 0; k < plan_.random.size(); ++k) out.push_back(draw(plan_.random[k], plan_.seed, member, k));
    return out;
}

ReadOptions Ensemble::read_options(const std::vector<double>& values) const {
    ReadOptions options = text_.options;
    for (std::size_t k = 0; k < values.size(); ++k) options.set.insert_or_assign(swept_[k], values[k]);
    return options;
}

Result<Ensemble> Ensemble::make(ModelText text, RunOptions options, SweepPlan plan, SourceSet* quoted) {
    Result<Ensemble> result;
    Diagnostics& diagnostics = result.diagnostics;
    Ensemble out;
    out.text_ = std::move(text);
    out.run_ = std::move(options);
    out.plan_ = std::move(plan);
    const auto refuse = [&](std::string message, std::string expected, std::string hint = "") {
        diagnostics.add({Code::E0826, {}, std::move(message), "", std::move(expected), std::move(hint)});
    };
    double count = static_cast<double>(out.plan_.samples);
    for (const SweepAxis& axis : out.plan_.over) {
        out.swept_.push_back(axis.name);
        count *= static_cast<double>(axis.values.size());
    }
    for (const SweepDraw& one : out.plan_.random) out.swept_.push_back(one.name);
    if (out.swept_.empty()) refuse("nothing is swept", "a range, a list or a random draw of some quantity");
    for (std::size_t i = 0; i < out.swept_.size(); ++i)
        if (std::find(out.swept_.begin(), out.swept_.begin() + static_cast<std::ptrdiff_t>(i), out.swept_[i]) !=
            out.swept_.begin() + static_cast<std::ptrdiff_t>(i))
            refuse(fmt::format("{} is swept twice", out.swept_[i]), "one range, list or draw for each quantity");
    if (!(count >= 1) || count > k_most_members)
        refuse(fmt::format("a sweep of {} members", count), fmt::format("from 1 to {} members", k_most_members));
    if (diagnostics.has_errors()) return result;

    // the dynamics, at the values of the first member that can be started
    const auto formulation = [&](const Model& m) {
        return find_formulation(out.run_.formulation.value_or(m.run.formulation)).value_or(Formulation::multipliers);
    };
    for (std::size_t i = 0; i < std::min(out.size(), k_tried) && !out.base_; ++i) {
        ModelText member = out.text_;
        member.options = out.read_options(out.values(i));
        auto base = std::make_shared<Base>();
        base->derivation = derive(member);
        Diagnostics problems = base->derivation.diagnostics;
        if (base->derivation.ok()) {
            const Model& m = *base->derivation.model;
            const Run plan_of_run = planned_run(m, out.run_);
            if (!check_run_options(problems, m, out.run_, plan_of_run)) {
                const LowerMotionOptions lower{.formulation = formulation(m),
                                               .from = plan_of_run.options.t0,
                                               .solve_entries = base->derivation.limits.solve_entries,
                                               .for_run = true,
                                               .drift = plan_of_run.drift,
                                               .gains = plan_of_run.gains,
                                               .step = plan_of_run.options.step,
                                               .jacobian = info(plan_of_run.options.integrator).implicit,
                                               .residual = plan_of_run.options.integrator == IntegratorKind::ida,
                                               .whole = base->derivation.whole ? &*base->derivation.whole : nullptr};
                try {
                    Result<LoweredMotion> lowered = lower_motion(*base->derivation.dynamics, lower);
                    problems.append(lowered.diagnostics);
                    if (lowered.ok()) base->lowered = std::move(*lowered);
                } catch (const NodeLimitReached& limit) {
                    problems.add(
                        {Code::E0012, {}, limit.what(), "", "a smaller model, or a higher limit", "use --limit nodes=N"});
                }
            }
        }
        if (!problems.has_errors()) {
            // the graph of the derivation has grown since
            SourceSet sources;
            Result<Model> shape = read_model(member.name, member.text, member.include, member.options, sources, base->uses);
            base->shape = std::make_shared<const Model>(std::move(*shape));
            base->numbers = *base->shape;
            out.base_ = std::move(base);
            if (!put_values(*out.base_->numbers, out.base_->uses, out.swept_, out.values(i))) out.base_->numbers.reset();
        }
        if (problems.has_errors() && i == 0) {
            diagnostics = problems;
            if (quoted != nullptr) *quoted = base->derivation.sources;
        }
    }
    if (!out.base_) return result;
    diagnostics = Diagnostics();
    const Model& m = *out.base_->derivation.model;
    const FormulationInfo& info_of_formulation =
        *std::find_if(all_formulations().begin(), all_formulations().end(),
                      [&](const FormulationInfo& row) { return row.formulation == formulation(m); });
    // what a run finds out about itself beyond the numbers: partitions, modes, conditions in laws, tolerances by name, gains
    // among the parameters
    FrozenConditions conditions(out.base_->derivation.dynamics->graph());
    find_law_conditions(*out.base_->derivation.dynamics, conditions, diagnostics);
    out.own_partition_ = m.switches() || !conditions.empty() || !m.run.tolerances.empty() ||
                         planned_run(m, out.run_).drift == DriftControl::baumgarte || info_of_formulation.partitioned ||
                         formulation(m) == Formulation::minimal || formulation(m) == Formulation::nonminimal;

    const RowLayout& layout = out.base_->lowered.layout;
    const std::vector<std::string>& columns = out.base_->lowered.motion.columns;
    const auto named = [&](std::size_t first, std::size_t end) {
        for (std::size_t i = first; i < end; ++i) out.finals_.push_back(columns[i]);
    };
    named(layout.coordinates, layout.multipliers);
    named(layout.energy, layout.energy + 1);
    named(layout.outputs, layout.visible);
    out.extremes_ = out.plan_.extremes;
    const std::vector<std::string> visible(columns.begin(), columns.begin() + static_cast<std::ptrdiff_t>(layout.visible));
    for (const std::string& name : out.extremes_)
        if (std::find(visible.begin(), visible.end(), name) == visible.end()) {
            const std::string near = nearest_name(name, visible);
            refuse(fmt::format("the table of a run has no column `{}` that could have extremes", name),
                   "coordinates, speeds, multipliers, energies and outputs of the model",
                   near.empty() ? "declare an output for it" : fmt::format("did you mean {}?", near));
        }
    if (diagnostics.has_errors()) return result;
    out.columns_.emplace_back("t_end");
    out.columns_.insert(out.columns_.end(), out.finals_.begin(), out.finals_.end());
    out.columns_.emplace_back("balance_relative");
    for (const std::string& name : out.extremes_)
        for (const char* which : {"min", "max"}) out.columns_.push_back(fmt::format("{}({})", which, name));
    result.value = std::move(out);
    return result;
}

Ensemble::Prepared Ensemble::prepare(std::size_t member) {
    Prepared out{member, values(member), std::nullopt, {}, ""};
    try {
        if (!own_partition_) read_numbers(out);
    } catch (const NodeLimitReached& limit) {
        out.problem = limit.what();
    } catch (const std::exception& problem) {
        // one member must not lose the others
        out.numbers.reset();
        out.problem = first_problem(problem);
        out.out_of_memory = is_for_memory(problem);
    }
    return out;
}

void Ensemble::read_numbers(Prepared& out) {
    std::optional<Model> read;
    if (!base_->numbers || !put_values(*base_->numbers, base_->uses, swept_, out.values)) {
        SourceSet sources;
        Result<Model> result = read_model(text_.name, text_.text, text_.include, read_options(out.values), sources);
        if (!result.ok()) {
            out.problem = first_problem(result.diagnostics);
            return;
        }
        if (!same_shape(*result, *base_->shape)) return;
        read = std::move(*result);
    }
    const Model& model = read ? *read : *base_->numbers;
    const Run planned = planned_run(model, run_);
    out.options = planned.options;
    Diagnostics problems;
    if (check_run_options(problems, model, run_, planned)) {
        out.problem = first_problem(problems);
        return;
    }
    Result<StartNumbers> numbers = start_numbers(*base_->derivation.dynamics, model, out.options.t0);
    if (numbers.ok())
        out.numbers = std::move(*numbers);
    else
        out.problem = first_problem(numbers.diagnostics);
}

void Ensemble::in_lanes(std::size_t at_most, const std::function<void(Neighbours*)>& work) const {
    if (own_partition_) return work(nullptr);
    std::unique_ptr<Crew> crew;
    try {
        crew = std::make_unique<Crew>(base_->lowered.motion);
    } catch (const std::bad_alloc&) {
        return work(nullptr);  // what fits without lanes is not lost for want of them
    }
    crew->run(at_most, [&] { work(crew.get()); });
}

std::unique_ptr<Motion> Ensemble::take_motion() const {
    {
        const std::lock_guard lock(base_->mutex);
        if (!base_->spare.empty()) {
            std::unique_ptr<Motion> out = std::move(base_->spare.back());
            base_->spare.pop_back();
            return out;
        }
    }
    return std::make_unique<Motion>(base_->lowered.motion);
}

void Ensemble::give_back(std::unique_ptr<Motion> motion) const {
    const std::lock_guard lock(base_->mutex);
    base_->spare.push_back(std::move(motion));
}

Ensemble::Outcome Ensemble::run(const Prepared& member, const Progress& progress, Neighbours* neighbours) const {
    Outcome out{member.member, member.values, member.problem, {}, member.out_of_memory};
    if (!member.problem.empty()) return out;
    Collector collector(finals_, extremes_);
    try {
        if (member.numbers) {
            std::unique_ptr<Motion> own = take_motion();
            Motion& motion = *own;
            motion.parameters = member.numbers->parameters;
            motion.neighbours = neighbours;
            EnergyAudit audit(base_->lowered.layout, motion.works);
            collector.find(motion.columns);
            std::vector<double> row(motion.columns.size());
            const SimulateSummary summary = simulate(
                motion, member.numbers->x0, member.options,
                [&](double t, std::span<const double> observed) {
                    std::copy(observed.begin(), observed.end(), row.begin());
                    audit.note(t, row);
                    collector.row(t, row);
                },
                progress);
            give_back(std::move(own));
            out.reason = name(summary.reason);
            out.numbers = collector.numbers(audit.balance().relative_error());
            return out;
        }
        ModelText text = text_;
        text.options = read_options(member.values);
        Derivation derivation = derive(text);
        RunHooks hooks;
        hooks.progress = progress;
        hooks.rows = &collector;
        const std::optional<Run> result = appell::run(derivation, run_, hooks);
        out.reason = result ? std::string(name(result->summary.reason)) : first_problem(derivation.diagnostics);
        if (result) out.numbers = collector.numbers(result->energy.relative_error());
    } catch (const std::exception& problem) {
        // one member must not lose the others
        out.reason = first_problem(problem);
        out.out_of_memory = is_for_memory(problem);
    }
    return out;
}

}  // namespace appell
