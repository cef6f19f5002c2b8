// What an expression of the language stands for, and where it may stand. A value carries its dimension, where one is known, and
// the kinds of quantities it was made of, so that a place can refuse what has no meaning there.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "expr/graph.hpp"
#include "model/dimension.hpp"

namespace appell {

enum class ValueType : std::uint8_t {
    poison,  // the result of a problem that was reported: everything made of it stays silent
    scalar,
    vector,
    point,
    frame,
    condition,
    body_at,  // B at P, inside vel()
    axis,     // the word x, y or z
    word,     // the name of a matrix or a count
    constraint,
    equation,  // a condition that is not imposed
    actuator,
    matrix,   // a whole one; in claims
    relation  // orthogonal(v, w) and the like
};

// kinds of quantities, one bit each
namespace uses {
inline constexpr std::uint32_t parameter = 1, coordinate = 2, rate = 4, speed = 8, velocity = 16, acceleration = 32,
                               multiplier = 64, input = 128, time = 256, energy = 512, geometry = 1024, opaque = 2048,
                               derived = 4096, count = 8192, magnitude = 16384;
inline constexpr std::uint32_t everything = 0xffffffffu;
}  // namespace uses

struct Value {
    ValueType type = ValueType::poison;
    NodeId node;
    std::optional<Dimension> dimension;
    std::uint32_t made_of = 0;
    // of vectors: how many points it contains, P - Q none, (P + Q)/2 one; NaN when it depends on symbols
    double points = 0;
    bool direction = false;  // made of basis vectors alone: like a bare number in a sum, without a dimension in a product
    std::uint32_t first = 0, second = 0;  // entities: point; frame; body and point; constraint and count; axis

    [[nodiscard]] bool poison() const { return type == ValueType::poison; }
};

// a place in the model where an expression stands
struct Place {
    std::string_view what;  // "the position of a point"
    std::uint32_t allowed;
};

namespace places {
inline constexpr std::uint32_t k_configuration = uses::parameter | uses::coordinate | uses::time | uses::geometry | uses::opaque;
inline constexpr std::uint32_t k_motion = k_configuration | uses::rate | uses::velocity;
inline constexpr Place whole{"a whole number", 0};
inline constexpr Place constant{"a constant", uses::parameter};
inline constexpr Place configuration{"a position or an orientation", k_configuration};
inline constexpr Place speed{"the definition of a speed", k_motion};
inline constexpr Place load{"a load", k_motion | uses::speed | uses::input};
inline constexpr Place potential{"a potential energy", k_configuration};
inline constexpr Place constraint{"a constraint", k_motion | uses::speed | uses::acceleration};
inline constexpr Place nonideal{"a nonideal force", k_motion | uses::speed | uses::input | uses::multiplier};
inline constexpr Place function{"the body of a function", uses::parameter | uses::time | uses::opaque};
inline constexpr Place anywhere{"a definition", uses::everything};
inline constexpr Place result{"an output", uses::everything & ~uses::count};
inline constexpr Place claim{"a claim", uses::everything};
}  // namespace places

}  // namespace appell
