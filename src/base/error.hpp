// The two error families that are not diagnostics: misuse of the library (Error), and our own bugs (APPELL_ASSERT).
// Problems of a model or of a run are Diagnostics (diagnostics.hpp) and never exceptions.
#pragma once

#include <stdexcept>
#include <string>

namespace appell {

// Wrong use of the C++ interface: mixed graphs, ids out of range, options outside their rule.
class Error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

// A broken invariant of the library itself; the message asks for a report.
class InternalError : public std::logic_error {
public:
    using std::logic_error::logic_error;
};

[[noreturn]] void fail_assertion(const char* expression, const char* file, int line, const std::string& note);

}  // namespace appell

#define APPELL_ASSERT(condition, note)                                                    \
    do {                                                                                  \
        if (!(condition)) ::appell::fail_assertion(#condition, __FILE__, __LINE__, note); \
    } while (false)
