// Simbody: the accelerations of a chain of rigid bodies on pins, and a ball that rolls on a plane.
//   simbody_worker planar_bodies:N|spatial_bodies:N        one realize(Acceleration)
//   simbody_worker roll TOLERANCE T_END                     sphere on plane with friction, per simulated second
#include <Simbody.h>

#include <cstdlib>
#include <stdexcept>

#include "worker.hpp"

namespace {

using namespace SimTK;

std::string version() {
    int major = 0, minor = 0, build = 0;
    SimTK_version_simbody(&major, &minor, &build);
    return "Simbody " + std::to_string(major) + "." + std::to_string(minor);
}

int chain(int n, bool spatial) {
    MultibodySystem system;
    SimbodyMatterSubsystem matter(system);
    GeneralForceSubsystem forces(system);
    Force::Gravity gravity(forces, matter, Vec3(0, 0, -9.81));
    const Body::Rigid body(
        MassProperties(1, Vec3(0, 0, -0.5), Inertia(0.09, 0.09, 0.02).shiftFromMassCenter(Vec3(0, 0, -0.5), 1)));
    MobilizedBody last = matter.Ground();
    for (int i = 1; i <= n; ++i) {
        // a pin turns about z of its frames
        const Rotation axis = spatial && i % 2 == 0 ? Rotation(Pi / 2, YAxis) : Rotation(-Pi / 2, XAxis);
        last = MobilizedBody::Pin(last, Transform(axis, Vec3(0, 0, i == 1 ? 0 : -1)), body, Transform(axis, Vec3(0)));
    }
    system.realizeTopology();
    State state = system.getDefaultState();
    for (int i = 0; i < n; ++i) state.updQ()[i] = i == 0 ? 0.3 : 0.1, state.updU()[i] = 0.2;
    system.realize(state, Stage::Acceleration);
    std::vector<double> values;
    for (int i = 0; i < n; ++i) values.push_back(state.getUDot()[i]);
    bench::Batches batches;
    return bench::serve(
        {},
        [&] {
            return bench::Measurement{batches.seconds([&](long i) {
                                          // as an integrator has it: positions are new, too
                                          state.updQ()[0] = 0.3;
                                          state.updU()[0] = 0.2 + 1e-12 * static_cast<double>(i & 1023);
                                          system.realize(state, Stage::Acceleration);
                                          bench::keep(&state.getUDot()[0]);
                                      }),
                                      values};
        },
        version());
}

int roll(double tolerance, double t_end) {
    MultibodySystem system;
    SimbodyMatterSubsystem matter(system);
    GeneralForceSubsystem forces(system);
    Force::Gravity gravity(forces, matter, Vec3(0, 0, -9.81));
    const Body::Rigid body(MassProperties(1, Vec3(0), Inertia(0.005, 0.018, 0.021)));
    MobilizedBody::Free ball(matter.Ground(), Transform(), body, Transform());
    // the plane's normal is z of its frame; the sphere must not slip on it
    Constraint::SphereOnPlaneContact contact(matter.Ground(), Transform(), ball, Vec3(0), 0.2, true);
    system.realizeTopology();
    State start = system.getDefaultState();
    ball.setQToFitTranslation(start, Vec3(0, 0, 0.2));
    ball.setUToFitAngularVelocity(start, Vec3(0.3, 4, 4));
    ball.setUToFitLinearVelocity(start, Vec3(0.8, -0.06, 0));
    system.realize(start, Stage::Velocity);
    double slip = 0;
    int steps = 0;
    std::vector<double> last;
    const auto run = [&](bool looking) {
        RungeKuttaMersonIntegrator integrator(system);
        integrator.setAccuracy(tolerance);
        integrator.setConstraintTolerance(tolerance);
        integrator.initialize(start);
        for (int k = 1; integrator.getTime() < t_end; ++k) {
            while (integrator.stepTo(std::min(0.01 * k, t_end)) != Integrator::ReachedScheduledEvent &&
                   integrator.getTime() < std::min(0.01 * k, t_end)) {
            }
            const State& state = integrator.getState();
            if (!looking) continue;
            system.realize(state, Stage::Velocity);
            const Vec3 lowest = ball.findStationAtGroundPoint(state, ball.getBodyOriginLocation(state) - Vec3(0, 0, 0.2));
            slip = std::max(slip, ball.findStationVelocityInGround(state, lowest).norm());
        }
        steps = integrator.getNumStepsTaken();
        const Vec3 centre = ball.getBodyOriginLocation(integrator.getState());
        last = {centre[0], centre[1]};
    };
    run(true);
    return bench::serve(
        {{"steps", double(steps)}, {"slip", slip}},
        [&] {
            const double begin = bench::processor_time();
            run(false);
            return bench::Measurement{(bench::processor_time() - begin) / t_end, last};
        },
        version());
}

}  // namespace

int main(int argc, char** argv) {
    try {
        const std::string system = argc > 1 ? argv[1] : "";
        if (system == "roll") return roll(argc > 2 ? std::atof(argv[2]) : 1e-8, argc > 3 ? std::atof(argv[3]) : 10);
        const std::size_t colon = system.find(':');
        const int n = colon == std::string::npos ? 0 : std::atoi(system.c_str() + colon + 1);
        if (n < 1) throw std::runtime_error("usage: simbody_worker planar_bodies:N|spatial_bodies:N|roll TOLERANCE T_END");
        return chain(n, system.rfind("spatial", 0) == 0);
    } catch (const std::exception& problem) {
        std::fprintf(stderr, "simbody_worker: %s\n", problem.what());
        return 1;
    }
}
