#include "library/evaluator.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace appell {

namespace {

EvalReport run_at(Workspace<double>& workspace, const Motion& motion, double t, const std::vector<double>& state) {
    if (state.size() != motion.states())
        throw std::invalid_argument(fmt::format("a state has {} numbers, {} coordinates and {} speeds, not {}", motion.states(),
                                                motion.coordinates, motion.speeds, state.size()));
    const std::span<double> inputs = workspace.inputs();
    inputs[0] = t;
    std::copy(state.begin(), state.end(), inputs.begin() + 1);
    std::copy(motion.parameters.begin(), motion.parameters.end(), inputs.begin() + 1 + static_cast<std::ptrdiff_t>(state.size()));
    return workspace.run();
}

}  // namespace

Evaluator::Impl::Impl(LoweredMotion lowered_motion, std::vector<std::string> parameter_names)
    : lowered(std::move(lowered_motion)),
      parameters(std::move(parameter_names)),
      rate(lowered.motion.rate),
      observe(lowered.motion.observe) {
    const RowLayout& layout = lowered.layout;
    for (std::size_t i = 0; i < layout.forces_end; ++i) {
        if (i >= layout.works && i < layout.outputs) continue;  // integrals of a run
        names.push_back(lowered.motion.columns[i]);
        columns.push_back(i);
    }
}

Evaluator::Evaluator(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Evaluator::Evaluator(Evaluator&&) noexcept = default;
Evaluator& Evaluator::operator=(Evaluator&&) noexcept = default;
Evaluator::~Evaluator() = default;

Evaluator::Rates Evaluator::rates(double t, const std::vector<double>& state) {
    const EvalReport report = run_at(impl_->rate, impl_->lowered.motion, t, state);
    const std::span<const double> qd = impl_->rate.output("qd"), ud = impl_->rate.output("ud");
    return {{qd.begin(), qd.end()}, {ud.begin(), ud.end()}, report.status == EvalStatus::ok};
}

Row Evaluator::row(double t, const std::vector<double>& state) {
    (void)run_at(impl_->observe, impl_->lowered.motion, t, state);  // what is not determined is not a number
    const std::span<const double> all = impl_->observe.output("row");
    Row out{impl_->names, {}};
    for (const std::size_t column : impl_->columns) out.values.push_back(all[column]);
    return out;
}

const std::vector<double>& Evaluator::start() const { return impl_->start; }
double Evaluator::start_time() const { return impl_->from; }

void Evaluator::set_parameter(std::string_view name, double value) {
    const std::vector<std::string>& names = impl_->parameters;
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end())
        throw std::out_of_range(fmt::format("there is no parameter or input `{}` among: {}", name, fmt::join(names, ", ")));
    impl_->lowered.motion.parameters[static_cast<std::size_t>(found - names.begin())] = value;
}

}  // namespace appell
