#include "base/failure.hpp"

#include <new>
#include <stdexcept>
#include <system_error>

#include "base/error.hpp"

namespace appell {

Diagnostic failure(const std::exception& exception) {
    // a container asked for more than any memory has says length_error
    if (dynamic_cast<const std::bad_alloc*>(&exception) != nullptr ||
        dynamic_cast<const std::length_error*>(&exception) != nullptr)
        return {Code::E0881, {}, "there is not enough memory for this", "", "", "a smaller model, or fewer rows"};
    if (const auto* system = dynamic_cast<const std::system_error*>(&exception)) {
        if (system->code() == std::errc::not_enough_memory || system->code() == std::errc::resource_unavailable_try_again)
            return {Code::E0881, {}, "there is not enough memory for this", system->what(), "", "a smaller model, or fewer rows"};
        return {Code::E0801, {}, "the system refuses what the command needs", system->what(), "", "name another folder"};
    }
    // which asks for a report by itself
    if (dynamic_cast<const InternalError*>(&exception) != nullptr) return {Code::E0882, {}, exception.what(), "", "", ""};
    return {Code::E0882,
            {},
            std::string("internal error: ") + exception.what() +
                ". This is a bug in appell; please report it with the model that shows it",
            "",
            "",
            ""};
}

}  // namespace appell
