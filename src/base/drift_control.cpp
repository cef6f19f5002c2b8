#include "base/drift_control.hpp"

#include <algorithm>

namespace appell {

namespace {

// by control
constexpr DriftControlInfo k_controls[] = {
    {DriftControl::project, "project",
     "after each step, where it is off the constraints by more than round-off: positions, then speeds are brought back onto "
     "them, "
     "with the least change in the metric of mass; the default"},
    {DriftControl::baumgarte, "baumgarte",
     "inside the equations: rows on positions become phi'' = G1 phi' + G2 phi, those on velocities phi' = G phi, with the gains "
     "of "
     "`gains`, or gains from the length of the steps of an explicit integrator"},
    {DriftControl::blajer, "blajer",
     "after each step one correction, not repeated, of positions and of speeds in the metric of mass"},
    {DriftControl::yoon, "yoon",
     "after each step one correction, not repeated, of positions and of speeds along the gradients of the constraints, all "
     "coordinates and all speeds weighing alike"},
    {DriftControl::none, "none", "nothing; the start values are brought onto the constraints all the same"},
};

}  // namespace

std::span<const DriftControlInfo> drift_control_table() { return k_controls; }

const DriftControlInfo& info(DriftControl control) { return k_controls[static_cast<std::size_t>(control)]; }

const DriftControlInfo* find_drift_control(std::string_view name) {
    const auto found =
        std::find_if(std::begin(k_controls), std::end(k_controls), [&](const auto& row) { return row.name == name; });
    return found == std::end(k_controls) ? nullptr : found;
}

std::vector<std::string> drift_control_names() {
    std::vector<std::string> names;
    for (const DriftControlInfo& row : k_controls) names.emplace_back(row.name);
    return names;
}

}  // namespace appell
