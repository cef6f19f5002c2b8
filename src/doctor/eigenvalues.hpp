// Eigenvalues of a real matrix with fifty digits, those that are exactly zero counted apart, and their vectors.
//
// Zero eigenvalues (of symmetries and of families of steady motions) sit in Jordan blocks, where round-off moves them by its k-th
// root. They are taken out before anything is iterated: the null space is found by elimination (tape/dense_rank.hpp), the matrix
// is replaced by what it does modulo that space, and so on until the rank is full. The rest has no zero eigenvalue.
#pragma once

#include <complex>
#include <cstddef>
#include <span>
#include <vector>

#include "tape/scalars.hpp"

namespace appell {

struct Eigenvalue {
    Digits50 re, im;

    [[nodiscard]] std::complex<double> value() const { return {static_cast<double>(re), static_cast<double>(im)}; }
};

struct Spectrum {
    std::size_t zeros = 0;                // algebraic multiplicity of zero
    std::vector<Eigenvalue> eigenvalues;  // the others: largest real part first, of a pair the one above the axis first
    // by eigenvalue: its vector in the variables of the matrix, largest entry one
    std::vector<std::vector<std::complex<double>>> modes;
    Digits50 size;  // of the largest eigenvalue; real parts below 1e-20 of it count as zero

    [[nodiscard]] int sign(const Eigenvalue& eigenvalue) const;  // of the real part: -1, 0, 1
    [[nodiscard]] std::size_t unstable() const;                  // how many have a positive real part
};

// `matrix` is square, row by row; `scale`: units of the variables, to balance it with
[[nodiscard]] Spectrum spectrum_of(std::span<const Digits50> matrix, std::span<const Digits50> scale, bool with_modes = true);

}  // namespace appell
