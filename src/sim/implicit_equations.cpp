#include "sim/implicit_equations.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace appell {

namespace {

RateStatus status_of(EvalStatus status) {
    if (status == EvalStatus::not_finite) return RateStatus::not_finite;
    return status == EvalStatus::ok || status == EvalStatus::inconsistent_rows ? RateStatus::ok : RateStatus::singular;
}

}  // namespace

ImplicitEquations::ImplicitEquations(const Motion& motion)
    : form_(motion.residual.value()),
      coordinates_(motion.coordinates),
      speeds_(motion.speeds),
      states_(motion.states()),
      works_(motion.works.size()),
      parameters_(motion.parameters.size()),
      equations_(form_.equations),
      slopes_(form_.slopes),
      solution_(form_.solution),
      equations_out_(form_.equations.output("equations")),
      qd_(form_.equations.output("qd")),
      residual_(form_.slopes.output("residual")),
      rates_(form_.slopes.output("rates")),
      powers_(form_.slopes.output("powers")),
      unknowns_(form_.solution.output("unknowns")) {
    if (works_ > 0) power_ = form_.equations.output("power");
    if (form_.equations.inputs != motion.inputs() + form_.unknowns || form_.slopes.inputs != form_.equations.inputs ||
        form_.solution.inputs != motion.inputs() || equations_out_.end - equations_out_.begin != form_.unknowns)
        throw Error("the programs of the equations do not have the sizes of the motion");
    for (std::size_t i = 0; i < parameters_; ++i) set_parameter(i, motion.parameters[i]);
}

void ImplicitEquations::set_parameter(std::size_t index, double value) {
    for (Workspace<double>* program : {&equations_, &slopes_, &solution_}) program->set_input(1 + states_ + index, value);
}

RateStatus ImplicitEquations::unknowns_at(double t, std::span<const double> x, std::span<double> z) {
    const std::span<double> inputs = solution_.moving_inputs();
    inputs[0] = t;
    std::copy_n(x.begin(), states_, inputs.begin() + 1);
    const RateStatus status = status_of(solution_.run().status);
    std::ranges::copy(solution_.output(unknowns_).subspan(speeds_), z.begin());
    return status;
}

EvalStatus ImplicitEquations::run(Workspace<double>& program, const FirstOrderSystem::Implicit& at) const {
    const std::span<double> inputs = program.moving_inputs();
    inputs[0] = at.t;
    std::copy_n(at.x.begin(), states_, inputs.begin() + 1);
    const std::span<double> unknowns = inputs.subspan(1 + states_ + parameters_);
    std::copy_n(at.xd.begin() + static_cast<std::ptrdiff_t>(coordinates_), speeds_, unknowns.begin());
    std::ranges::copy(at.z, unknowns.begin() + static_cast<std::ptrdiff_t>(speeds_));
    return program.run().status;
}

// Equations in the order of the unknowns they are solved for: q', u', w', then z.
RateStatus ImplicitEquations::evaluate(const FirstOrderSystem::Implicit& at, std::span<double> F) {
    if (const RateStatus status = status_of(run(equations_, at)); status != RateStatus::ok) return status;
    const std::span<const double> qd = equations_.output(qd_), equations = equations_.output(equations_out_);
    for (std::size_t i = 0; i < coordinates_; ++i) F[i] = at.xd[i] - qd[i];
    std::copy_n(equations.begin(), speeds_, F.begin() + static_cast<std::ptrdiff_t>(coordinates_));
    for (std::size_t i = 0; i < works_; ++i) F[states_ + i] = at.xd[states_ + i] - equations_.output(power_)[i];
    std::ranges::copy(equations.subspan(speeds_), F.begin() + static_cast<std::ptrdiff_t>(states_ + works_));
    return RateStatus::ok;
}

RateStatus ImplicitEquations::slopes(const FirstOrderSystem::Implicit& at, double alpha, std::span<double> J) {
    if (const RateStatus status = status_of(run(slopes_, at)); status != RateStatus::ok) return status;
    const std::size_t size = states_ + works_ + unknowns();
    std::fill(J.begin(), J.end(), 0.0);
    for (std::size_t i = 0; i < coordinates_; ++i) J[i * size + i] = alpha;
    for (std::size_t i = states_; i < states_ + works_; ++i) J[i * size + i] = alpha;
    // by q and u; by u', which is alpha u to the integrator; by z
    const auto add = [&](std::size_t row, std::size_t variable, double slope) {
        if (variable < states_)
            J[variable * size + row] += slope;
        else if (variable < states_ + speeds_)
            J[(variable - speeds_) * size + row] += alpha * slope;
        else
            J[(variable - speeds_ + works_) * size + row] += slope;
    };
    const std::span<const double> rates = slopes_.output(rates_), residual = slopes_.output(residual_),
                                  powers = slopes_.output(powers_);
    for (std::size_t k = 0; k < rates.size(); ++k) add(form_.rates[k].first, form_.rates[k].second, -rates[k]);
    for (std::size_t k = 0; k < powers.size(); ++k) add(states_ + form_.powers[k].first, form_.powers[k].second, -powers[k]);
    for (std::size_t k = 0; k < residual.size(); ++k) {
        const std::size_t equation = form_.residual[k].first;
        add(equation < speeds_ ? coordinates_ + equation : states_ + works_ + equation - speeds_, form_.residual[k].second,
            residual[k]);
    }
    return RateStatus::ok;
}

}  // namespace appell
