// The linear factors of a row in closed form: in the user's speeds, with coefficients of q, t and parameters.
#pragma once

#include <memory>
#include <optional>

#include "doctor/linear_factors.hpp"
#include "doctor/recognise.hpp"
#include "expr/substitute.hpp"

namespace appell {

// coefficients by speed, then the constant
using AffineForm = std::vector<NodeId>;

class FactorForms {
public:
    FactorForms(const ConstrainedDynamics& dynamics, const Samples& samples);

    // the row as written; none where it contains the speeds in a way that does not reduce to coefficients
    [[nodiscard]] std::optional<AffineForm> affine_form(std::size_t row);
    // What a row of this shape is, given linear equations in closed form. `normals` by sample, as RowShape's. Empty where no
    // short closed form was found.
    [[nodiscard]] std::vector<AffineForm> forms(std::size_t row, LinearTruth truth, bool quadratic,
                                                std::span<const AffineForm> given,
                                                const std::vector<std::vector<Vector50>>& normals);
    // Equations known by their normals at the samples, reduced to unit pivots and recognised; empty where one is not.
    [[nodiscard]] std::vector<AffineForm> recognised(const std::vector<std::vector<Vector50>>& normals,
                                                     std::span<const AffineForm> given = {});

    [[nodiscard]] NodeId expression(const AffineForm& form) const;
    [[nodiscard]] std::vector<Vector50> values(const AffineForm& form) const;  // by sample

private:
    struct Eliminated {
        std::vector<NodeId> replacement;  // by speed; invalid: free
        Substitution replace;             // the same
        std::vector<std::size_t> free;
    };
    [[nodiscard]] std::optional<Eliminated> eliminate(std::span<const AffineForm> given);
    [[nodiscard]] Vector50 at_samples(NodeId node) const;
    [[nodiscard]] bool zero(NodeId node) const;
    [[nodiscard]] NodeId tidy(NodeId node) const;
    // The same equation times what makes it short, and with multiples of the given ones added.
    [[nodiscard]] AffineForm shortest(const AffineForm& form, std::span<const AffineForm> given) const;
    [[nodiscard]] std::size_t length(const AffineForm& form) const;
    // all coefficients recognised, after division by the one of a speed and multiplication by an atom; `values` by sample
    [[nodiscard]] std::vector<AffineForm> scaled(const std::vector<Vector50>& values) const;
    [[nodiscard]] std::vector<AffineForm> quadratic(NodeId phi, LinearTruth truth, const Eliminated& eliminated,
                                                    std::span<const AffineForm> given);
    [[nodiscard]] bool is_product(NodeId phi, const AffineForm& first, const AffineForm& second, const Eliminated& eliminated);

    const ConstrainedDynamics& d_;
    const Samples& samples_;
    Graph& g_;
    std::unique_ptr<Recogniser> recogniser_;
};

}  // namespace appell
