// The shortest use of the library: a model in, a motion out.
#include <appell/appell.hpp>

#include <cstdio>

int main() {
    const auto pendulum = appell::System::read_text(R"(
system pendulum
param m = 1 kg, l = 2 m, g = 9.81 m/s^2
coord theta = 0.3 rad
frame B from N rotate theta about z
particle P mass m at O + l*B.x
gravity g*N.x
)");
    if (!pendulum) {
        for (const appell::Message& message : pendulum.messages) std::fprintf(stderr, "%s\n", message.shown.c_str());
        return 1;
    }
    std::printf("%s\n", pendulum->equations()->c_str());

    appell::SimulationSettings settings;
    settings.until = 1;
    settings.every = 0.25;
    const auto motion = pendulum->simulate(settings);
    const std::vector<double> t = motion->column("t"), theta = motion->column("theta");
    for (std::size_t row = 0; row < t.size(); ++row) std::printf("%5.2f s  %+.9f rad\n", t[row], theta[row]);
    return 0;
}
