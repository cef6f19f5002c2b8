// Strong 32-bit ids. Every entity of a graph or a model is named by an index of its own type, so that a frame can not
// be passed where a point is meant, and tables stay dense arrays.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace appell {

template <class Tag>
struct Id {
    static constexpr std::uint32_t k_none = 0xffffffffu;

    std::uint32_t value = k_none;

    constexpr Id() = default;
    constexpr explicit Id(std::size_t index) : value(static_cast<std::uint32_t>(index)) {}

    [[nodiscard]] constexpr bool valid() const { return value != k_none; }
    [[nodiscard]] constexpr std::size_t index() const { return value; }
    friend constexpr auto operator<=>(Id, Id) = default;
};

struct NodeTag;
struct SymbolTag;
struct VectorSymbolTag;
struct FunctionTag;
struct FrameTag;
struct PointTag;

using NodeId = Id<NodeTag>;                  // a node of an expression graph
using SymbolId = Id<SymbolTag>;              // a scalar symbol of a graph
using VectorSymbolId = Id<VectorSymbolTag>;  // a vector symbol of a graph
using FunctionId = Id<FunctionTag>;          // a user function, or one of its partial derivatives
using FrameId = Id<FrameTag>;
using PointId = Id<PointTag>;

}  // namespace appell

template <class Tag>
struct std::hash<appell::Id<Tag>> {
    std::size_t operator()(appell::Id<Tag> id) const noexcept { return std::hash<std::uint32_t>{}(id.value); }
};
