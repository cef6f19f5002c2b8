// Native code for the segments of a program, in process, on x86-64: straight-line machine code with registers given by farthest
// next use. It computes what the interpreter computes, to the last bit, and touches nothing but the program's slots and the
// scratch memory of its workspace. Elsewhere, and where the system refuses executable memory, programs stay as they are.
#pragma once

#include "tape/program.hpp"

namespace appell {

void add_native_code(Program& program);

}  // namespace appell
