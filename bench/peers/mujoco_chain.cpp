// A chain of rigid bodies on hinges in MuJoCo: one mj_forward without contacts, which gives all accelerations.
//   mujoco_chain planar_bodies:N|spatial_bodies:N
#include <mujoco/mujoco.h>

#include <cstdlib>

#include "worker.hpp"

int main(int argc, char** argv) {
    const std::string system = argc > 1 ? argv[1] : "";
    const std::size_t colon = system.find(':');
    const int n = colon == std::string::npos ? 0 : std::atoi(system.c_str() + colon + 1);
    if (n < 1) {
        std::fprintf(stderr, "usage: mujoco_chain planar_bodies:N|spatial_bodies:N\n");
        return 2;
    }
    const bool spatial = system.starts_with("spatial");
    std::string xml =
        "<mujoco><option gravity='0 0 -9.81'><flag contact='disable' constraint='disable'/></option>"
        "<compiler autolimits='true'/><worldbody>";
    for (int i = 1; i <= n; ++i)
        xml += std::string("<body pos='0 0 ") + (i == 1 ? "0" : "-1") + "'><joint type='hinge' axis='" +
               (spatial && i % 2 == 0 ? "1 0 0" : "0 1 0") +
               "'/><inertial pos='0 0 -0.5' mass='1' diaginertia='0.09 0.09 0.02'/>";
    for (int i = 1; i <= n; ++i) xml += "</body>";
    xml += "</worldbody></mujoco>";
    // the file is read from a virtual file system in memory
    mjVFS files;
    mj_defaultVFS(&files);
    mj_makeEmptyFileVFS(&files, "chain.xml", static_cast<int>(xml.size()));
    std::copy(xml.begin(), xml.end(), static_cast<char*>(files.filedata[0]));
    char problem[1000] = "";
    mjModel* const model = mj_loadXML("chain.xml", &files, problem, sizeof problem);
    if (model == nullptr) {
        std::fprintf(stderr, "mujoco_chain: %s\n", problem);
        return 1;
    }
    mjData* const data = mj_makeData(model);
    for (int i = 0; i < n; ++i) data->qpos[i] = i == 0 ? 0.3 : 0.1, data->qvel[i] = 0.2;
    mj_forward(model, data);
    const std::vector<double> values(data->qacc, data->qacc + n);
    bench::Batches batches;
    return bench::serve(
        {},
        [&] {
            return bench::Measurement{batches.seconds([&](long i) {
                                          data->qvel[0] = 0.2 + 1e-12 * static_cast<double>(i & 1023);
                                          mj_forward(model, data);
                                          bench::keep(data->qacc);
                                      }),
                                      values};
        },
        std::string("MuJoCo ") + mj_versionString());
}
