// How frictions that stick share what they hold, where the rows leave that open. With f_i the force of a friction, b_i its bound
// at rest and v_i its row, the forces that the solves give are those of least sum |f_i|^2/s_i^2, what other constraints can carry
// being carried by them. With s_i^2 = b_i all frictions are used alike. Something slips only where no shares keep all of them
// within their bounds: the largest |f_i|/b_i is then made as small as it can be, by
//     s_i^2 <- s_i^2 b_i/|f_i|,
// Lawson's iteration for the least maximum. After each round the result of the best shares, r, is known from both sides,
//     (sum |f_i|^2/s_i^2)/(sum b_i |f_i|/s_i^2) <= r <= max |f_i|/b_i:
// to the left the load's power over that of the bounds, in the motion that the weights belong to.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace appell {

class FrictionShares {
public:
    explicit FrictionShares(std::size_t frictions) : square_(frictions, 1.0), part_(frictions, 0.0) {}

    // s_i of the rows of a friction that sticks. Small, so that any other row carries before it does.
    [[nodiscard]] double weight(std::size_t friction) const;

    // as little of their bounds as they can, alike; `holding`: the frictions that stick
    void use_alike(std::span<const std::size_t> holding, std::span<const double> bounds);

    // What they carry in parts of their bounds; what is below `noise` is nothing.
    void measure(std::span<const std::size_t> holding, std::span<const double> forces, std::span<const double> bounds,
                 double noise);
    [[nodiscard]] double part(std::size_t friction) const { return part_[friction]; }
    [[nodiscard]] double largest_part() const { return largest_; }
    [[nodiscard]] double least_possible() const { return possible_; }

    // leaves next to nothing to one whose bound may be falling to zero
    void spare(std::size_t friction);
    // relieves those that carry most, by what was measured last
    void relieve(std::span<const std::size_t> holding);

private:
    void normalise(std::span<const std::size_t> holding);

    std::vector<double> square_, part_;  // by friction: s_i^2, the largest of those that stick being one; |f_i|/b_i
    double largest_ = 0, possible_ = 0;
};

}  // namespace appell
