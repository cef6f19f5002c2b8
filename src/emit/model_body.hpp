// The code behind the interface, the same for C and C++: what of runtime/ is needed, the programs, the functions of the
// interface.
#pragma once

#include <string>

#include "emit/exported_model.hpp"
#include "emit/interface_text.hpp"

namespace appell {

struct ModelBody {
    std::string text;
    WorkSize work;
    std::size_t functions = 0;  // of straight-line code
};

// `storage`: what stands before the functions of the interface
[[nodiscard]] ModelBody model_body(const ExportedModel& model, const ExportOptions& options, const std::string& storage);

}  // namespace appell
