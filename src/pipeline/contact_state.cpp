#include "pipeline/contact_state.hpp"

#include <algorithm>

namespace appell {

ContactState::ContactState(const SwitchedSystem& of) : system(of) {
    for (std::vector<double>* v : {&gap, &gap_rate, &gap_acceleration, &gap_terms, &gap_error, &push})
        v->resize(of.contacts.size());
    for (std::vector<double>* v : {&bound, &static_bound, &slip_terms}) v->resize(of.model.frictions.size());
    for (auto* v : {&slip, &slip_acceleration, &friction}) v->resize(of.model.frictions.size());
}

bool ContactState::inspect(Mode& mode, double t, std::span<const double> x) {
    if (!mode.inspected) return true;
    MotionProgram& program = *mode.inspected;
    const EvalReport report = program.run(t, x);
    if (report.status != EvalStatus::ok && report.status != EvalStatus::inconsistent_rows) return false;
    mode.rank = report.rank;
    contradicts = report.status == EvalStatus::inconsistent_rows;
    const auto take = [&](std::string_view name, std::vector<double>& to) {
        const std::span<const double> from = program.output(name);
        std::copy(from.begin(), from.end(), to.begin());
    };
    const auto take3 = [&](std::string_view name, std::vector<std::array<double, 3>>& to) {
        const std::span<const double> from = program.output(name);
        for (std::size_t i = 0; i < to.size(); ++i) to[i] = {from[3 * i], from[3 * i + 1], from[3 * i + 2]};
    };
    take("gap", gap);
    take("gap_rate", gap_rate);
    take("gap_acceleration", gap_acceleration);
    take("gap_terms", gap_terms);
    take("gap_error", gap_error);
    take("push", push);
    take("bound", bound);
    take("static_bound", static_bound);
    take("slip_terms", slip_terms);
    take3("slip", slip);
    take3("slip_acceleration", slip_acceleration);
    take3("friction", friction);
    for (const double p : push) largest_push_ = std::max(largest_push_, std::abs(p));
    return true;
}

bool ContactState::pulls(std::size_t i, const std::vector<bool>& off) const {
    return !off[system.contacts[i]] && push[i] < -force_noise();
}

bool ContactState::is_pressed_shut(std::size_t i, const std::vector<bool>& off) const {
    return off[system.contacts[i]] && rests(i) && gap_acceleration[i] < -k_force_noise * gap_terms[i];
}

bool ContactState::holds_too_much(std::size_t i, const std::vector<bool>& off) const {
    const Friction& f = system.model.frictions[i];
    return !off[f.constraint] && !off[f.stick] && length(friction[i]) > static_bound[i] * (1 + k_force_noise) + force_noise();
}

bool ContactState::slides_backward(std::size_t i, const std::vector<bool>& off, const std::array<double, 3>& direction) const {
    const Friction& f = system.model.frictions[i];
    return !off[f.constraint] && off[f.stick] && at_rest(i) &&
           dot(slip_acceleration[i], direction) < -k_force_noise * slip_terms[i];
}

bool ContactState::has_negative_bound(std::size_t i, const std::vector<bool>& off) const {
    return !off[system.model.frictions[i].constraint] && std::min(bound[i], static_bound[i]) < -force_noise();
}

}  // namespace appell
