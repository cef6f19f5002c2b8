// SUNDIALS: steps of order 5(4) by ARKODE's explicit tables (Dormand and Prince's) on the hand-written right-hand sides.
//   sundials_steps SYSTEM TOLERANCE T_END
#include <arkode/arkode_erkstep.h>
#include <nvector/nvector_serial.h>
#include <sundials/sundials_version.h>

#include <cstdlib>
#include <stdexcept>

#include "right_hand_sides.hpp"
#include "worker.hpp"

namespace {

using namespace bench;

void demand(bool good, const char* what) {
    if (!good) throw std::runtime_error(what);
}

template <class System>
int right_hand_side(realtype, N_Vector x, N_Vector xd, void* system) {
    (*static_cast<const System*>(system))(N_VGetArrayPointer(x), N_VGetArrayPointer(xd));
    return 0;
}

template <class System>
int step(double tolerance, double t_end) {
    System system;
    keep(&system);
    SUNContext context = nullptr;
    demand(SUNContext_Create(nullptr, &context) == 0, "no context");
    N_Vector x = N_VNew_Serial(System::size, context);
    const auto put_start = [&] {
        const auto start = System::start();
        std::copy(start.begin(), start.end(), N_VGetArrayPointer(x));
    };
    put_start();
    void* const arkode = ERKStepCreate(right_hand_side<System>, 0, x, context);
    demand(arkode != nullptr, "no integrator");
    demand(ERKStepSetUserData(arkode, &system) == 0 && ERKStepSStolerances(arkode, tolerance, tolerance) == 0 &&
               ERKStepSetTableNum(arkode, ARKODE_DORMAND_PRINCE_7_4_5) == 0 && ERKStepSetStopTime(arkode, t_end) == 0 &&
               ERKStepSetMaxNumSteps(arkode, 1000000) == 0,
           "options were refused");
    long steps = 0, evaluations = 0;
    const auto run = [&] {
        put_start();
        demand(ERKStepReInit(arkode, right_hand_side<System>, 0, x) == 0 && ERKStepSetStopTime(arkode, t_end) == 0, "no start");
        double t = 0;
        while (t < t_end) demand(ERKStepEvolve(arkode, t_end, x, &t, ARK_ONE_STEP) >= 0, "no step");
        (void)ERKStepGetNumSteps(arkode, &steps);
        (void)ERKStepGetNumRhsEvals(arkode, &evaluations);
    };
    run();
    const std::vector<double> values = all_of_state(system, N_VGetArrayPointer(x));
    const double in_run = double(steps);
    Batches batches;
    return serve(
        {{"steps", in_run}, {"evaluations per step", double(evaluations) / in_run}},
        [&] {
            const double of_run = batches.seconds([&](long) { run(); });
            return Measurement{of_run / in_run, values};
        },
        "SUNDIALS " SUNDIALS_VERSION);
}

int work(const std::vector<std::string>& a) {
    if (a.size() < 3) throw std::runtime_error("usage: sundials_steps SYSTEM TOLERANCE T_END");
    const double tolerance = std::atof(a[1].c_str()), t_end = std::atof(a[2].c_str());
    if (a[0] == "pucks") return step<Pucks>(tolerance, t_end);
    if (a[0] == "hamel_reduced") return step<HamelReduced>(tolerance, t_end);
    if (a[0] == "hamel_nonminimal") return step<HamelNonminimal>(tolerance, t_end);
    if (a[0] == "pendulum:4") return step<Pendulum<4>>(tolerance, t_end);
    throw std::runtime_error("no steps of " + a[0]);
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return work({argv + 1, argv + argc});
    } catch (const std::exception& problem) {
        std::fprintf(stderr, "sundials_steps: %s\n", problem.what());
        return 1;
    }
}
