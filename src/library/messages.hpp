// Diagnostics as the messages of the public interface.
#pragma once

#include <appell/appell.hpp>

#include <vector>

#include "base/diagnostics.hpp"

namespace appell {

// those from `first` on
[[nodiscard]] std::vector<Message> messages_of(const Diagnostics& diagnostics, const SourceSet& sources, std::size_t first = 0);

}  // namespace appell
