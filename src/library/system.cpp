// The public interface over the pipeline. A call works on a copy of what was derived, so that its messages are its own.
#include <appell/appell.hpp>

#include <algorithm>
#include <exception>

#include <fmt/format.h>

#include "base/failure.hpp"
#include "library/evaluator.hpp"
#include "library/memory.hpp"
#include "library/messages.hpp"
#include "library/model_files.hpp"
#include "pipeline/export_code.hpp"
#include "pipeline/linearize.hpp"
#include "pipeline/pipeline.hpp"
#include "pipeline/print_equations.hpp"
#include "report/diagnosis_lines.hpp"
#include "sim/simulate.hpp"

namespace appell {

namespace {

// rows of a run, without what only plots need
class TableRows : public RowConsumer {
public:
    explicit TableRows(Trajectory& out) : out_(out) {}

    void begin(const Run& run) override {
        wanted_ = std::max(run.layout.visible, run.layout.forces_end);
        out_.names = {"t"};
        out_.names.insert(out_.names.end(), run.columns.begin(), run.columns.begin() + static_cast<std::ptrdiff_t>(wanted_));
    }
    void row(double t, std::span<const double> columns) override {
        out_.table.push_back(t);
        out_.table.insert(out_.table.end(), columns.begin(), columns.begin() + static_cast<std::ptrdiff_t>(wanted_));
    }

private:
    Trajectory& out_;
    std::size_t wanted_ = 0;
};

// an exception of a function that the caller gave goes back to the caller
struct FromCaller {
    std::exception_ptr what;
};

template <class R, class... Arguments>
std::function<R(Arguments...)> guarded(std::function<R(Arguments...)> given) {
    if (!given) return given;
    return [given = std::move(given)](Arguments... arguments) -> R {
        try {
            return given(arguments...);
        } catch (...) {
            throw FromCaller{std::current_exception()};
        }
    };
}

void refuse_word(std::string_view what, const std::string& word, const std::vector<std::string>& choices) {
    if (std::find(choices.begin(), choices.end(), word) == choices.end())
        throw std::invalid_argument(fmt::format("there is no {} `{}`; there are {}", what, word, fmt::join(choices, ", ")));
}

}  // namespace

struct System::Impl {
    Derivation derivation;

    // `work` fills in the value, or leaves none; the messages are those it adds
    template <class T, class Work>
    [[nodiscard]] Outcome<T> ask(const Work& work) const {
        Derivation d = derivation;
        Outcome<T> out;
        try {
            work(d, out.value);
        } catch (const FromCaller& thrown) {
            std::rethrow_exception(thrown.what);
        } catch (const std::exception& problem) {
            out.value.reset();
            d.diagnostics.add(failure(problem));
        }
        out.messages = messages_of(d.diagnostics, d.sources, derivation.diagnostics.all().size());
        return out;
    }

    [[nodiscard]] static Outcome<System> read(const ModelText& text) {
        auto impl = std::make_unique<Impl>();
        Outcome<System> out;
        try {
            impl->derivation = derive(text);
        } catch (const FromCaller& thrown) {
            std::rethrow_exception(thrown.what);
        } catch (const std::exception& problem) {
            Diagnostics told;
            told.add(failure(problem));
            out.messages = messages_of(told, {});
            return out;
        }
        out.messages = messages_of(impl->derivation.diagnostics, impl->derivation.sources);
        if (impl->derivation.ok()) out.value = System(std::move(impl));
        return out;
    }
};

System::System(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
System::System(System&&) noexcept = default;
System& System::operator=(System&&) noexcept = default;
System::~System() = default;

Outcome<System> System::read_text(const std::string& text, const ReadSettings& settings, const std::string& name) {
    ModelText model{name, text, guarded(settings.include), {}};
    model.options.limits = limits_within();
    model.options.set = settings.set;
    return Impl::read(model);
}

Outcome<System> System::read_file(const std::string& path, const ReadSettings& settings) {
    ReadOptions options;
    options.limits = limits_within();
    options.set = settings.set;
    Result<ModelText> text = read_model_file(path, options);
    if (!text.ok()) return {{}, messages_of(text.diagnostics, {})};
    if (settings.include) text->include = guarded(settings.include);
    return Impl::read(*text);
}

const std::string& System::name() const { return impl_->derivation.model->name; }
const std::string& System::title() const { return impl_->derivation.model->title; }

std::vector<std::string> System::coordinates() const {
    std::vector<std::string> out;
    for (const Coordinate& c : impl_->derivation.model->coordinates) out.push_back(c.name);
    return out;
}

std::vector<std::string> System::speeds() const {
    std::vector<std::string> out;
    for (const Speed& s : impl_->derivation.model->speeds) out.push_back(s.name);
    return out;
}

Row System::parameters() const {
    Row out;
    for (const Parameter& p : impl_->derivation.model->parameters) {
        out.names.push_back(p.name);
        out.values.push_back(p.value);
    }
    return out;
}

std::vector<std::string> System::constraints() const {
    std::vector<std::string> out;
    const Derivation& d = impl_->derivation;
    for (const ConstraintRow& row : (d.whole ? *d.whole : *d.dynamics).rows) out.push_back(row.name);
    return out;
}

Outcome<Findings> System::check() const {
    return impl_->ask<Findings>([](Derivation& d, std::optional<Findings>& value) {
        const std::optional<Check> found = appell::check(d);
        if (!found) return;
        Findings out;
        out.coordinates = found->coordinates;
        out.speeds = found->speeds;
        out.rows = found->position_rows + found->velocity_rows + found->acceleration_rows;
        out.independent_rows = found->rank;
        out.freedoms = found->freedoms;
        for (const ClaimResult& claim : found->claims.claims)
            out.claims.push_back({claim.label, claim.holds, claim.misprint, claim.residual});
        out.report = diagnosis_text(*d.dynamics, found->diagnosis);
        const Certificate& certificate = found->certificate;
        if (certificate.enough && !certificate.too_large) {
            out.disagreement = certificate.wide ? certificate.worst_wide : certificate.worst;
            out.states = certificate.states;
        }
        value = std::move(out);
    });
}

Outcome<std::string> System::equations(const EquationSettings& settings) const {
    if (!settings.formulation.empty()) refuse_word("formulation", settings.formulation, formulations());
    std::vector<std::string> formats;
    for (const std::string_view format : format_names()) formats.emplace_back(format);
    refuse_word("format", settings.format, formats);
    return impl_->ask<std::string>([&](Derivation& d, std::optional<std::string>& value) {
        value = print_equations(d, {settings.formulation, settings.format, settings.evidence});
    });
}

Outcome<Evaluator> System::evaluator(const std::string& formulation) const {
    refuse_word("formulation", formulation, formulations());
    return impl_->ask<Evaluator>([&](Derivation& d, std::optional<Evaluator>& value) {
        const Model& m = *d.model;
        if (m.switches()) {
            d.diagnostics.add({Code::E0861,
                               {},
                               "a model whose constraints come and go has no equations that hold at every state",
                               "",
                               "one set of equations for the whole motion",
                               "take contacts and friction out of the model, or simulate it"});
            return;
        }
        LowerMotionOptions options;
        options.formulation = *find_formulation(formulation);
        options.from = m.run.from;
        options.solve_entries = d.limits.solve_entries;
        options.for_run = true;
        options.forces_in = Model::newtonian();
        Result<LoweredMotion> lowered = lower_motion(*d.dynamics, options);
        d.diagnostics.append(lowered.diagnostics);
        if (!lowered.ok()) return;
        std::vector<std::string> names;
        for (const Parameter& p : m.parameters) names.push_back(p.name);
        for (const Input& input : m.inputs) names.push_back(input.name);
        auto impl = std::make_unique<Evaluator::Impl>(std::move(*lowered), std::move(names));
        // a run of no length brings the start values onto the constraints
        SimulateOptions run;
        run.t0 = run.t1 = impl->from = m.run.from;
        const SimulateSummary summary =
            appell::simulate(impl->lowered.motion, impl->lowered.x0, run, [](double, std::span<const double>) {});
        impl->start = summary.x_start.empty() ? impl->lowered.x0 : summary.x_start;
        value = Evaluator(std::move(impl));
    });
}

Outcome<Trajectory> System::simulate(const SimulationSettings& settings) const {
    if (settings.formulation) refuse_word("formulation", *settings.formulation, formulations());
    if (settings.integrator) refuse_word("integrator", *settings.integrator, integrators());
    if (settings.stabilize) refuse_word("stabilization", *settings.stabilize, drift_control_names());
    return impl_->ask<Trajectory>([&](Derivation& d, std::optional<Trajectory>& value) {
        RunOptions options;
        options.from = settings.from;
        options.until = settings.until;
        options.every = settings.every;
        options.at = settings.at;
        options.rtol = settings.rtol;
        options.atol = settings.atol;
        options.step = settings.step;
        options.first_step = settings.first_step;
        options.max_step = settings.max_step;
        options.formulation = settings.formulation;
        options.integrator = settings.integrator;
        options.stabilize = settings.stabilize;
        options.gains = settings.gains;
        options.forces = settings.forces;
        options.max_steps = d.limits.steps;
        options.max_rows = d.limits.output_rows;
        options.max_events = d.limits.events;
        Trajectory out;
        TableRows rows(out);
        RunHooks hooks;
        hooks.rows = &rows;
        hooks.progress = guarded(settings.progress);
        const std::optional<Run> run = appell::run(d, options, hooks);
        if (!run || run->summary.rows == 0) return;
        out.reason = std::string(appell::name(run->summary.reason));
        out.steps = run->summary.steps;
        out.rejected = run->summary.rejected;
        out.largest_residual = std::max(run->summary.position_scaled, run->summary.velocity_scaled);
        out.energy_error = run->energy.relative_error();
        for (const RunEvent& event : run->events) out.events.push_back({event.t, event.what});
        value = std::move(out);
    });
}

Outcome<LinearEquations> System::linearize(const LinearizationSettings& settings) const {
    return impl_->ask<LinearEquations>([&](Derivation& d, std::optional<LinearEquations>& value) {
        LinearizeRequest request;
        using Trim = LinearizationSettings::Trim;
        request.trim = settings.trim == Trim::equilibrium ? TrimKind::equilibrium
                       : settings.trim == Trim::steady    ? TrimKind::steady
                                                          : TrimKind::none;
        request.hold = settings.hold;
        request.open = settings.open;
        const std::optional<Linearization> found = appell::linearize(d, request);
        if (!found) return;
        const LinearSystem& system = found->system;
        LinearEquations out;
        out.steady = system.kind == TrimKind::steady;
        for (const Variation& variable : system.variables) out.variables.push_back(variable.name);
        out.inputs = system.inputs;
        for (const Digits50& entry : system.A) out.A.push_back(static_cast<double>(entry));
        for (const Digits50& entry : system.B) out.B.push_back(static_cast<double>(entry));
        out.zero_eigenvalues = system.spectrum.zeros;
        for (const Eigenvalue& eigenvalue : system.spectrum.eigenvalues) out.eigenvalues.push_back(eigenvalue.value());
        out.modes = system.spectrum.modes;
        std::size_t at = 1;  // behind t
        const auto add = [&](const std::string& name) {
            out.state.names.push_back(name);
            out.state.values.push_back(static_cast<double>(system.point[at++]));
        };
        for (const Coordinate& c : d.model->coordinates) add(c.name);
        for (const Speed& s : d.model->speeds) add(s.name);
        value = std::move(out);
    });
}

Outcome<std::vector<CodeFile>> System::export_code(const std::string& language,
                                                   const std::optional<std::string>& formulation) const {
    refuse_word("language", language, {"c", "cpp"});
    if (formulation) refuse_word("formulation", *formulation, formulations());
    return impl_->ask<std::vector<CodeFile>>([&](Derivation& d, std::optional<std::vector<CodeFile>>& value) {
        ExportRequest request;
        request.formulation = formulation;
        request.options.language = language == "c" ? ExportLanguage::c : ExportLanguage::cpp;
        request.version = APPELL_VERSION_TEXT;
        const std::optional<std::vector<ExportedFile>> files = appell::export_code(d, request);
        if (!files) return;
        value.emplace();
        for (const ExportedFile& file : *files) value->push_back({file.name, file.text});
    });
}

std::string_view library_version() { return APPELL_VERSION_TEXT; }

std::vector<std::string> formulations() {
    std::vector<std::string> out;
    for (const std::string_view name : formulation_names()) out.emplace_back(name);
    return out;
}

std::vector<std::string> integrators() { return integrator_names(); }

}  // namespace appell
