// A value or the reasons why there is none; warnings and notes may come with a value.
#pragma once

#include <optional>
#include <utility>

#include "base/diagnostics.hpp"
#include "base/error.hpp"

namespace appell {

template <class T>
struct [[nodiscard]] Result {
    std::optional<T> value;
    Diagnostics diagnostics;

    [[nodiscard]] bool ok() const { return value.has_value() && !diagnostics.has_errors(); }
    [[nodiscard]] T& operator*() {
        APPELL_ASSERT(value.has_value(), "a Result without a value was read");
        return *value;
    }
    [[nodiscard]] const T& operator*() const {
        APPELL_ASSERT(value.has_value(), "a Result without a value was read");
        return *value;
    }
    [[nodiscard]] T* operator->() { return &**this; }
    [[nodiscard]] const T* operator->() const { return &**this; }
};

}  // namespace appell
