// The continuous extension of a step as polynomials of the step's own time s, -1 to 1, one for each entry that is asked for: what
// intervals of time can be enclosed with. Fitted at Chebyshev's nodes, both ends among them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "tape/enclosure.hpp"

namespace appell {

class StepPolynomials {
public:
    StepPolynomials(std::size_t entries, std::size_t degree);

    [[nodiscard]] std::size_t nodes() const { return nodes_.size(); }
    [[nodiscard]] double node(std::size_t k) const { return nodes_[k]; }
    // the value of an entry at a node, before `fit`
    void set(std::size_t k, std::size_t entry, double value) { values_[entry * nodes_.size() + k] = value; }
    void fit();

    [[nodiscard]] double value(std::size_t entry, double s) const;
    // for s from a to b: the value, and its slope by s
    [[nodiscard]] MovingInterval enclose(std::size_t entry, double a, double b);

private:
    std::vector<double> nodes_;
    std::vector<double> fit_;           // from values at the nodes to coefficients, row by row
    std::vector<double> values_;        // of entry after entry
    std::vector<double> coefficients_;  // likewise
    std::vector<double> miss_;          // round-off of the fit
    std::vector<double> shifted_;
};

}  // namespace appell
