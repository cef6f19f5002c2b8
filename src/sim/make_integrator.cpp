#include "sim/make_integrator.hpp"

#include "base/error.hpp"
#include "sim/arkode.hpp"
#include "sim/classical_runge_kutta.hpp"
#include "sim/cvode.hpp"
#include "sim/dormand_prince.hpp"
#include "sim/dormand_prince_853.hpp"
#include "sim/ida.hpp"
#include "sim/kutta_merson.hpp"

namespace appell {

std::unique_ptr<Integrator> make_integrator(IntegratorKind kind, FirstOrderSystem& system, const IntegratorOptions& options) {
    switch (kind) {
        case IntegratorKind::dopri5: return std::make_unique<DormandPrince>(system, options);
        case IntegratorKind::dop853: return std::make_unique<DormandPrince853>(system, options);
        case IntegratorKind::rk4: return std::make_unique<ClassicalRungeKutta>(system, options);
        case IntegratorKind::merson: return std::make_unique<KuttaMerson>(system, options);
        case IntegratorKind::cvode: return std::make_unique<Cvode>(system, options, Cvode::Family::bdf);
        case IntegratorKind::adams: return std::make_unique<Cvode>(system, options, Cvode::Family::adams);
        case IntegratorKind::arkode: return std::make_unique<Arkode>(system, options);
        case IntegratorKind::ida: return std::make_unique<Ida>(system, options);
    }
    throw Error("an integrator that is not in the table");
}

}  // namespace appell
