// Lookup by name in the tables of the public interface.
#include <appell/appell.hpp>

#include <algorithm>

#include <fmt/format.h>

#include "base/diagnostics.hpp"

namespace appell {

namespace {

std::size_t place_of(const std::vector<std::string>& names, std::string_view name) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
    const std::string near = nearest_name(name, names);
    throw std::out_of_range(fmt::format("there is no `{}`{} among: {}", name,
                                        near.empty() ? "" : fmt::format(" (did you mean `{}`?)", near), fmt::join(names, ", ")));
}

}  // namespace

bool Row::has(std::string_view name) const { return std::find(names.begin(), names.end(), name) != names.end(); }

double Row::at(std::string_view name) const { return values.at(place_of(names, name)); }

std::size_t Trajectory::index(std::string_view name) const { return place_of(names, name); }

std::vector<double> Trajectory::column(std::string_view name) const {
    const std::size_t place = index(name);
    std::vector<double> out;
    out.reserve(rows());
    for (std::size_t row = 0; row < rows(); ++row) out.push_back(at(row, place));
    return out;
}

}  // namespace appell
