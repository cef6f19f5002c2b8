#include "expr/scalar_function.hpp"

#include "expr/evaluate.hpp"

namespace appell {

namespace {

template <Op op>
double of_numbers(double x, double y, double z) {
    return apply_op<double>(op, x, y, z);
}

}  // namespace

ScalarFunction scalar_function(Op op) {
    switch (op) {
#define APPELL_LEAF(Name)
#define APPELL_STRUCTURE(Name, arity)
#define APPELL_VECTOR(Name, arity)
#define APPELL_OP(Name, text, arity, value, dx, dy, dz) \
    case Op::Name:                                      \
        return of_numbers<Op::Name>;
#include "expr/ops.def"
#undef APPELL_LEAF
#undef APPELL_STRUCTURE
#undef APPELL_VECTOR
#undef APPELL_OP
        default: return nullptr;
    }
}

}  // namespace appell
