// Finds short expressions for quantities that are known by their values at the samples: numbers, and products of powers of a few
// atoms (symbols, sines, sums that occur in the model). What is found agrees at all samples with fifty digits, and parameters
// differ from sample to sample, so that a coincidence is out of the question.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "doctor/row_values.hpp"

namespace appell {

// Symbols, functions and short sums below the roots; with `speeds` also those that contain speeds.
[[nodiscard]] std::vector<NodeId> atoms_in(const Graph& graph, std::span<const NodeId> roots, bool speeds);

class Recogniser {
public:
    Recogniser(Graph& graph, const Samples& samples, std::span<const NodeId> atoms);

    // `values` by sample; up to sign: each value's sign is arbitrary
    [[nodiscard]] std::optional<NodeId> operator()(std::span<const Digits50> values, bool up_to_sign = false) const;
    [[nodiscard]] const std::vector<NodeId>& atoms() const { return atoms_; }
    [[nodiscard]] const Vector50& values(std::size_t atom) const { return values_[atom]; }  // by sample

private:
    struct Power {
        std::size_t atom;
        int exponent;
    };
    [[nodiscard]] std::optional<NodeId> product(std::span<const Digits50> values, std::span<const Power> powers,
                                                bool up_to_sign) const;

    Graph& graph_;
    std::vector<NodeId> atoms_;
    std::vector<Vector50> values_;           // by atom, sample
    std::vector<std::vector<double>> logs_;  // of their sizes
};

// a number that is a double, p/q with a small denominator, or the root of one; none otherwise
[[nodiscard]] std::optional<NodeId> recognise_number(Graph& graph, const Digits50& value);

}  // namespace appell
