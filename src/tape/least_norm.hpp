// Multipliers of least norm where rows depend on each other: of all lambda with one and the same A' lambda the one whose sum of
// squares is least, for the rows as they are written, whatever their scales.
//
// Rows of unit length, which rank is judged by, say what depends on what: g_j = sum V_kj g_k. As written a row is `weight` times
// as long, and W_kj = V_kj weight_j / weight_k; lambda_k - sum W_kj z_j and z_j act alike for every z, and the least norm has
// (1 + W'W) z = W' lambda. That system is as good as W is small, so that short rows are first exchanged for long ones that can
// stand for them. Then no |V_kj| weight_j is above weight_k, but for factors near one, and what an elimination makes of a product
// of two such entries is no larger than the entry it is taken from: every number keeps its own digits, over scales as far apart
// as numbers go. What is round-off in V is set to zero: times a ratio of weights it would be anything.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "tape/scalars.hpp"

namespace appell {

template <class T>
struct LeastNorm {
    using R = Real<T>;

    // a coefficient smaller than this is not exchanged by: forces would lose as many digits
    static constexpr double k_least_exchange = 1e-6;
    // and a row that is no more than so much longer gains nothing
    static constexpr double k_worth_it = 2;
    static constexpr std::size_t k_most_exchanges = 64;  // for each row; every one makes the independent rows longer

    std::size_t rank, count;  // independent rows, the others
    T* V;                     // rank x count, row by row
    std::size_t stride;
    R* weight;             // by place: independent rows first
    T* lambda;             // by place; given for the independent ones
    std::uint32_t* order;  // by place: which row, as they were given
    T* square;             // count x count

    void spread() {
        exchange();
        solve();
    }

private:
    static R size_of(const T& x) {
        using std::abs;
        if constexpr (IsComplex<T>::value)
            return abs(x.real());
        else
            return abs(x);
    }
    T& at(std::size_t k, std::size_t j) { return V[k * stride + j]; }
    [[nodiscard]] R noise() const { return R(100) * R(static_cast<double>(rank + count)) * std::numeric_limits<R>::epsilon(); }

    // what is no more than noise against `size` is none
    static void clean(T& x, const R& size) {
        if (size_of(x) > size) return;
        if constexpr (IsComplex<T>::value)
            x = T(R(0), x.imag());
        else
            x = T(0);
    }

    void exchange() {
        for (std::size_t i = 0; i < rank + count; ++i) order[i] = static_cast<std::uint32_t>(i);
        const R least = noise();
        for (std::size_t k = 0; k < rank; ++k)
            for (std::size_t j = 0; j < count; ++j) clean(at(k, j), least);
        for (std::size_t k = 0; k < rank; ++k) lambda[k] *= weight[k];  // of rows of unit length
        for (std::size_t step = 0; step < k_most_exchanges * (rank + count); ++step) {
            std::size_t row = rank, column = 0;
            R best(k_worth_it);
            for (std::size_t k = 0; k < rank; ++k)
                for (std::size_t j = 0; j < count; ++j) {
                    const R part = size_of(at(k, j));
                    if (!(part > R(k_least_exchange))) continue;
                    if (const R gain = part * weight[rank + j] / weight[k]; gain > best) best = gain, row = k, column = j;
                }
            if (row == rank) break;
            exchange(row, column, least);
        }
        for (std::size_t k = 0; k < rank; ++k) lambda[k] /= weight[k];
    }

    // g_j stands for g_k from now on
    void exchange(std::size_t k, std::size_t j, const R& least) {
        const T inverse = T(1) / at(k, j);
        for (std::size_t l = 0; l < count; ++l)
            if (l != j) at(k, l) *= inverse;
        lambda[k] *= inverse;
        for (std::size_t i = 0; i < rank; ++i) {
            if (i == k) continue;
            const T factor = at(i, j);
            for (std::size_t l = 0; l < count; ++l) {
                if (l == j) continue;
                const T part = factor * at(k, l);
                const R size = least * (size_of(at(i, l)) + size_of(part));
                at(i, l) -= part;
                clean(at(i, l), size);
            }
            lambda[i] -= factor * lambda[k];
            at(i, j) = -(factor * inverse);
        }
        at(k, j) = inverse;
        std::swap(weight[k], weight[rank + j]);
        std::swap(order[k], order[rank + j]);
    }

    // L D L' of 1 + W'W. No pivot is below one, but for round-off.
    void solve() {
        T* const z = lambda + rank;
        for (std::size_t k = 0; k < rank; ++k)
            for (std::size_t j = 0; j < count; ++j) at(k, j) *= weight[rank + j] / weight[k];
        for (std::size_t i = 0; i < count; ++i) {
            for (std::size_t j = 0; j <= i; ++j) {
                T sum(i == j ? 1 : 0);
                for (std::size_t k = 0; k < rank; ++k) sum += at(k, i) * at(k, j);
                square[i * count + j] = sum;
            }
            z[i] = T(0);
            for (std::size_t k = 0; k < rank; ++k) z[i] += at(k, i) * lambda[k];
        }
        for (std::size_t i = 0; i < count; ++i) {
            T* const row = square + i * count;
            for (std::size_t j = 0; j < i; ++j) {
                const T* const other = square + j * count;
                for (std::size_t k = 0; k < j; ++k) row[j] -= row[k] * other[k];  // L_ij D_j
            }
            T pivot = row[i];
            for (std::size_t j = 0; j < i; ++j) {
                const T scaled = row[j] / square[j * count + j];
                pivot -= row[j] * scaled;
                row[j] = scaled;
                z[i] -= scaled * z[j];
            }
            row[i] = size_of(pivot) > R(0.5) ? pivot : T(1);
        }
        for (std::size_t i = 0; i < count; ++i) z[i] /= square[i * count + i];
        for (std::size_t i = count; i-- > 0;)
            for (std::size_t j = 0; j < i; ++j) z[j] -= square[i * count + j] * z[i];
        for (std::size_t k = 0; k < rank; ++k)
            for (std::size_t j = 0; j < count; ++j) lambda[k] -= at(k, j) * z[j];
    }
};

}  // namespace appell
