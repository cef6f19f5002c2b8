#include "library/memory.hpp"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

namespace appell {

namespace {

// A run of a chain of springs, of a million nodes, takes 150 for each: the node, its place in the table, both while they grow,
// what a pass over the graph keeps, and the programs.
constexpr std::size_t k_bytes_for_a_node = 160;

constexpr std::size_t k_all = std::numeric_limits<std::size_t>::max();

// a number that a file of the system begins with; "max" and what can not be read are no bound
std::size_t number_in(const std::string& path) {
    std::ifstream file(path);
    std::size_t value = 0;
    return file >> value ? value : k_all;
}

// in kB, behind a name: "MemAvailable:   123 kB"
std::size_t available_to_new_processes() {
    std::ifstream file("/proc/meminfo");
    std::string name;
    std::size_t value = 0;
    for (std::string line; file >> name >> value && std::getline(file, line);)
        if (name == "MemAvailable:") return value * 1024;
    const long pages = ::sysconf(_SC_PHYS_PAGES), size = ::sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? static_cast<std::size_t>(pages) * static_cast<std::size_t>(size) : k_all;
}

std::size_t left_of(std::size_t most, std::size_t used) {
    if (most == k_all) return k_all;
    return used == k_all ? most : most - std::min(used, most);
}

// version 2 of control groups has one tree; version 1 one for each resource
std::size_t left_in_group() {
    std::size_t left = k_all;
    std::ifstream groups("/proc/self/cgroup");
    for (std::string line; std::getline(groups, line);) {
        const std::size_t first = line.find(':'), second = line.find(':', first + 1);
        if (first == std::string::npos || second == std::string::npos) continue;
        const std::string controllers = line.substr(first + 1, second - first - 1), path = line.substr(second + 1);
        const bool old = controllers.find("memory") != std::string::npos;
        if (!controllers.empty() && !old) continue;
        // inside a container the group is its own root
        for (const std::string& at : {path, std::string()}) {
            const std::string folder = (old ? "/sys/fs/cgroup/memory" : "/sys/fs/cgroup") + at + "/";
            left = std::min(
                left, old ? left_of(number_in(folder + "memory.limit_in_bytes"), number_in(folder + "memory.usage_in_bytes"))
                          : left_of(number_in(folder + "memory.max"), number_in(folder + "memory.current")));
        }
    }
    return left;
}

}  // namespace

std::size_t memory_left() {
    const std::size_t left = std::min(available_to_new_processes(), left_in_group());
    return left == k_all ? 0 : left;
}

Limits limits_within(std::size_t bytes) {
    Limits out;
    if (bytes == 0) bytes = memory_left();
    if (bytes > 0) out.nodes = std::clamp(bytes / k_bytes_for_a_node, std::size_t{10'000}, out.nodes);
    return out;
}

}  // namespace appell
