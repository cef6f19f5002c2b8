// Fifty decimal digits, for comparisons where rounding must not hide a difference. Expression templates are off, so that every
// operation of the table gives the number type itself.
#pragma once

#include <boost/multiprecision/cpp_bin_float.hpp>

#include "tape/fifty_digits.hpp"

namespace appell::test {

using Digits50 = boost::multiprecision::number<boost::multiprecision::cpp_bin_float<50>, boost::multiprecision::et_off>;

}  // namespace appell::test
