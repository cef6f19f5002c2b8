// The text of the kernels; each file that includes it is compiled for other registers, and names the table it makes.
//
// NOTE: nothing of the standard library is called here. A function that is not inlined could end up in the program once, in the
// version for the widest registers, and be called where there are none.
#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "lanes/lane_kernels.hpp"

namespace appell {

namespace {

using Pack = double __attribute__((vector_size(8 * k_lanes), may_alias));
using Choice = decltype(Pack{} < Pack{});  // all bits or none, by lane

inline Pack& in(double* numbers, std::size_t i) { return *reinterpret_cast<Pack*>(numbers + k_lanes * i); }
inline const Pack& in(const double* numbers, std::size_t i) { return *reinterpret_cast<const Pack*>(numbers + k_lanes * i); }

inline void root(Pack& out, const Pack& of) {
    double* const to = reinterpret_cast<double*>(&out);
    const double* const from = reinterpret_cast<const double*>(&of);
#if defined(__AVX512F__)
    // with a mask that takes all: the one without makes gcc 12 warn of its own header
    _mm512_store_pd(to, _mm512_maskz_sqrt_pd(0xff, _mm512_load_pd(from)));
#elif defined(__AVX__)
    for (std::size_t k = 0; k < k_lanes; k += 4) _mm256_store_pd(to + k, _mm256_sqrt_pd(_mm256_load_pd(from + k)));
#elif defined(__SSE2__)
    for (std::size_t k = 0; k < k_lanes; k += 2) _mm_store_pd(to + k, _mm_sqrt_pd(_mm_load_pd(from + k)));
#else
    for (std::size_t k = 0; k < k_lanes; ++k) to[k] = __builtin_sqrt(from[k]);
#endif
}

inline LaneMask bits(const Choice& choice) {
    LaneMask out = 0;
    [[maybe_unused]] const double* const from = reinterpret_cast<const double*>(&choice);
#if defined(__AVX512F__)
    out = _mm512_test_epi64_mask(_mm512_load_si512(from), _mm512_load_si512(from));
#elif defined(__AVX__)
    for (unsigned k = 0; k < k_lanes; k += 4) out |= static_cast<unsigned>(_mm256_movemask_pd(_mm256_load_pd(from + k))) << k;
#elif defined(__SSE2__)
    for (unsigned k = 0; k < k_lanes; k += 2) out |= static_cast<unsigned>(_mm_movemask_pd(_mm_load_pd(from + k))) << k;
#else
    for (std::size_t k = 0; k < k_lanes; ++k) out |= choice[k] != 0 ? 1u << k : 0u;
#endif
    return out;
}

// ---------------------------------------------------------------- instructions

// as int_power of scalar_math.hpp multiplies
inline void power(Pack& out, const Pack& x, std::int32_t n) {
    Pack base = n < 0 ? 1.0 / x : x, result = Pack{} + 1.0;
    for (unsigned k = n < 0 ? 0u - static_cast<unsigned>(n) : static_cast<unsigned>(n); k != 0; k >>= 1) {
        if ((k & 1u) != 0) result = result * base;
        if (k > 1) base = base * base;
    }
    out = result;
}

void execute(const InstructionRun& run, const Instruction* instructions, double* slots) {
    const Instruction* const begin = instructions + run.begin;
    const Instruction* const end = instructions + run.end;
    const auto unary = [&](const auto& formula) {
        for (const Instruction* i = begin; i != end; ++i) {
            const Pack x = in(slots, i->a);
            formula(in(slots, i->out), x);
        }
    };
    const auto binary = [&](const auto& formula) {
        for (const Instruction* i = begin; i != end; ++i) {
            const Pack x = in(slots, i->a), y = in(slots, i->b);
            formula(in(slots, i->out), x, y);
        }
    };
    const Pack zero{};
    switch (run.op) {
        case Op::Add: return binary([](Pack& out, const Pack& x, const Pack& y) { out = x + y; });
        case Op::Sub: return binary([](Pack& out, const Pack& x, const Pack& y) { out = x - y; });
        case Op::Mul: return binary([](Pack& out, const Pack& x, const Pack& y) { out = x * y; });
        case Op::Div: return binary([](Pack& out, const Pack& x, const Pack& y) { out = x / y; });
        case Op::Neg: return unary([](Pack& out, const Pack& x) { out = -x; });
        case Op::Sqrt: return unary([](Pack& out, const Pack& x) { root(out, x); });
        case Op::Abs: return unary([&](Pack& out, const Pack& x) { out = x < zero ? -x : x; });
        case Op::Min: return binary([](Pack& out, const Pack& x, const Pack& y) { out = x <= y ? x : y < x ? y : x + y; });
        case Op::Max: return binary([](Pack& out, const Pack& x, const Pack& y) { out = y <= x ? x : x < y ? y : x + y; });
        case Op::If:
            for (const Instruction* i = begin; i != end; ++i) {
                const Pack x = in(slots, i->a), y = in(slots, i->b), z = in(slots, i->c);
                in(slots, i->out) = x != zero ? y : z;
            }
            return;
        case Op::PowInt:
            for (const Instruction* i = begin; i != end; ++i) {
                const Pack x = in(slots, i->a);
                power(in(slots, i->out), x, static_cast<std::int32_t>(i->b));
            }
            return;
        default: break;
    }
    const ScalarFunction function = scalar_function(run.op);
    const int arity = info(run.op).arity;
    for (const Instruction* i = begin; i != end; ++i)
        for (std::size_t k = 0; k < k_lanes; ++k)
            slots[k_lanes * i->out + k] = function(slots[k_lanes * i->a + k], slots[k_lanes * (arity > 1 ? i->b : i->a) + k],
                                                   slots[k_lanes * (arity > 2 ? i->c : i->a) + k]);
}

// ---------------------------------------------------------------- the solve

inline void dot(Pack& out, const double* x, const double* y, std::size_t n) {
    Pack sum{};
    for (std::size_t i = 0; i < n; ++i) sum += in(x, i) * in(y, i);
    out = sum;
}

// y += factor * x
inline void add_multiple(double* y, const Pack& factor, const double* x, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) in(y, i) += factor * in(x, i);
}

class Solve {
public:
    Solve(const LaneSolvePlan& plan, double* slots) : p_(plan), slots_(slots), n_(plan.n), m_(plan.m) {}

    LaneMask run() {
        gather();
        factor_mass();
        for (std::size_t i = 0; i < p_.touches.size; ++i) {
            const LaneSolvePlan::Touch touch = p_.touches.begin[i];
            forward(row(p_.A, touch.row), p_.blocks.begin[touch.block]);
        }
        for (std::size_t i = 0; i < p_.blocks.size; ++i) forward(p_.right, p_.blocks.begin[i]);
        if (m_ == 1)
            one_row();
        else if (m_ > 1)
            several_rows();
        backward();
        write();
        return bits(good_);
    }

private:
    [[nodiscard]] double* row(double* matrix, std::size_t i) const { return matrix + k_lanes * i * n_; }
    [[nodiscard]] Pack& entry(double* matrix, std::size_t i, std::size_t j) const { return in(matrix, i * m_ + j); }

    void gather() {
        const Pack zero{};
        Pack spoiled{};  // zero where all operands are finite
        const auto take = [&](Pack& to, Slot slot) {
            to = in(slots_, slot);
            spoiled += to - to;
        };
        for (std::size_t i = 0; i < n_ * m_; ++i) in(p_.A, i) = zero;
        for (std::size_t i = 0; i < p_.blocks.size; ++i) {
            const LaneSolvePlan::Block& block = p_.blocks.begin[i];
            for (std::size_t k = 0; k < std::size_t(block.size) * block.size; ++k) in(p_.L, block.offset + k) = zero;
        }
        for (std::size_t i = 0; i < p_.rows.size; ++i) take(in(p_.A, p_.rows.begin[i].offset), p_.rows.begin[i].slot);
        for (std::size_t i = 0; i < p_.mass.size; ++i) take(in(p_.L, p_.mass.begin[i].offset), p_.mass.begin[i].slot);
        for (std::size_t i = 0; i < n_; ++i) take(in(p_.right, i), p_.f.begin[i]);
        for (std::size_t i = 0; i < m_; ++i) take(in(p_.known, i), p_.b.begin[i]);
        good_ = spoiled == zero;
    }

    void factor_mass() {
        growth_ = Pack{} + 1.0;
        for (std::size_t b = 0; b < p_.blocks.size; ++b) {
            const LaneSolvePlan::Block& block = p_.blocks.begin[b];
            double* const L = p_.L + k_lanes * block.offset;
            for (std::size_t j = 0; j < block.size; ++j) {
                double* const line = L + k_lanes * j * block.size;
                const Pack diagonal = in(line, j);
                Pack sum;
                for (std::size_t i = 0; i < j; ++i) {
                    dot(sum, line, L + k_lanes * i * block.size, i);
                    in(line, i) = (in(line, i) - sum) * in(p_.inverse_diagonal, block.begin + i);
                }
                dot(sum, line, line, j);
                const Pack pivot = diagonal - sum;
                good_ &= pivot > p_.least_pivot * diagonal;
                const Pack loss = diagonal / pivot;
                growth_ = ((pivot < diagonal) & (growth_ < loss)) ? loss : growth_;
                root(in(line, j), pivot);
                in(p_.inverse_diagonal, block.begin + j) = 1.0 / in(line, j);
            }
        }
        const Pack growth = growth_;
        root(growth_, growth);
        growth_ = growth_ < p_.growth ? Pack{} + p_.growth : growth_;
    }

    void forward(double* v, const LaneSolvePlan::Block& block) const {
        const double* line = p_.L + k_lanes * block.offset;
        double* const part = v + k_lanes * block.begin;
        for (std::size_t j = 0; j < block.size; ++j, line += k_lanes * block.size) {
            Pack sum;
            dot(sum, line, part, j);
            in(part, j) = (in(part, j) - sum) * in(p_.inverse_diagonal, block.begin + j);
        }
    }

    void backward() const {
        for (std::size_t b = 0; b < p_.blocks.size; ++b) {
            const LaneSolvePlan::Block& block = p_.blocks.begin[b];
            const double* const L = p_.L + k_lanes * block.offset;
            double* const part = p_.right + k_lanes * block.begin;
            for (std::size_t j = block.size; j-- > 0;) {
                in(part, j) *= in(p_.inverse_diagonal, block.begin + j);
                const Pack factor = -in(part, j);
                add_multiple(part, factor, L + k_lanes * j * block.size, j);
            }
        }
    }

    void one_row() {
        Pack square, along;
        dot(square, p_.A, p_.A, n_);
        good_ &= square > Pack{};
        dot(along, p_.A, p_.right, n_);
        const Pack lambda = (in(p_.known, 0) - along) / square;
        add_multiple(p_.right, lambda, p_.A, n_);
        in(p_.part, 0) = lambda;
        in(p_.pivot, 0) = Pack{};
    }

    void measure(Pack& out, std::size_t i) const {
        Pack square;
        dot(square, row(p_.Q, i), row(p_.Q, i), n_);
        root(out, square);
    }
    // takes the part along the k-th direction out of a row
    void remove_part(std::size_t i, std::size_t k) const {
        Pack part;
        dot(part, row(p_.Q, k), row(p_.Q, i), n_);
        const Pack back = -part;
        add_multiple(row(p_.Q, i), back, row(p_.Q, k), n_);
        entry(p_.R, k, i) += part;
    }
    // The row chosen as the k-th comes to that place, those before it move on by one: each lane has its own order.
    void choose(std::size_t k) {
        Pack best = Pack{} + static_cast<double>(k), longest{};
        for (std::size_t j = k; j < m_; ++j) {
            Pack length;
            measure(length, j);
            const Choice longer = length > 1.001 * longest;
            longest = longer ? length : longest;
            best = longer ? Pack{} + static_cast<double>(j) : best;
        }
        good_ &= longest > tolerance_;
        if (bits(best == static_cast<double>(k)) == (1u << k_lanes) - 1) return;
        const auto rotate = [&](double* numbers, std::size_t stride, std::size_t offset) {
            const auto at = [&](std::size_t j) -> Pack& { return in(numbers, j * stride + offset); };
            Pack chosen = at(k);
            for (std::size_t j = k + 1; j < m_; ++j) chosen = best == static_cast<double>(j) ? at(j) : chosen;
            for (std::size_t j = m_; j-- > k + 1;) at(j) = best >= static_cast<double>(j) ? at(j - 1) : at(j);
            at(k) = chosen;
        };
        for (std::size_t i = 0; i < n_; ++i) rotate(p_.Q, n_, i);
        for (std::size_t i = 0; i < k; ++i) rotate(p_.R, 1, i * m_);
        for (double* const numbers : {p_.length, p_.known, p_.pivot}) rotate(numbers, 1, 0);
    }

    void several_rows() {
        for (std::size_t i = 0; i < n_ * m_; ++i) in(p_.Q, i) = in(p_.A, i);
        for (std::size_t i = 0; i < m_ * m_; ++i) in(p_.R, i) = Pack{};
        Pack longest{};
        for (std::size_t j = 0; j < m_; ++j) {
            Pack& length = in(p_.length, j);
            measure(length, j);
            longest = longest < length ? length : longest;
            in(p_.pivot, j) = Pack{} + static_cast<double>(j);
        }
        const double round_off = static_cast<double>(n_ < m_ ? m_ : n_) * __DBL_EPSILON__;
        for (std::size_t j = 0; j < m_; ++j) {
            good_ &= in(p_.length, j) > round_off * longest;
            const Pack scale = 1.0 / in(p_.length, j);
            for (std::size_t i = 0; i < n_; ++i) in(row(p_.Q, j), i) *= scale;
        }
        tolerance_ = 100 * round_off * growth_;
        tolerance_ = tolerance_ < p_.least_row ? Pack{} + p_.least_row : tolerance_;
        tolerance_ = tolerance_ > 1e-6 ? Pack{} + 1e-6 : tolerance_;
        for (std::size_t k = 0; k < m_; ++k) {
            choose(k);
            for (std::size_t i = 0; i < k; ++i) remove_part(k, i);
            Pack& length = entry(p_.R, k, k);
            measure(length, k);
            const Pack inverse = 1.0 / length;
            for (std::size_t i = 0; i < n_; ++i) in(row(p_.Q, k), i) *= inverse;
            for (std::size_t j = k + 1; j < m_; ++j) remove_part(j, k);
        }
        for (std::size_t k = 0; k < m_; ++k) {
            Pack w = in(p_.known, k) / in(p_.length, k);
            for (std::size_t i = 0; i < k; ++i) w -= entry(p_.R, i, k) * in(p_.w, i);
            in(p_.w, k) = w / entry(p_.R, k, k);
            Pack along;
            dot(along, row(p_.Q, k), p_.right, n_);
            const Pack part = in(p_.w, k) - along;
            in(p_.part, k) = part;
            add_multiple(p_.right, part, row(p_.Q, k), n_);
        }
        for (std::size_t k = m_; k-- > 0;) {
            Pack value = in(p_.part, k);
            for (std::size_t i = k + 1; i < m_; ++i) value -= entry(p_.R, k, i) * in(p_.part, i);
            in(p_.part, k) = value / entry(p_.R, k, k);
        }
        for (std::size_t k = 0; k < m_; ++k) in(p_.part, k) = in(p_.part, k) / in(p_.length, k);
    }

    void write() {
        Pack spoiled{};
        for (std::size_t i = 0; i < n_; ++i) {
            in(slots_, p_.x.begin[i]) = in(p_.right, i);
            spoiled += in(p_.right, i) - in(p_.right, i);
        }
        for (std::size_t i = 0; i < m_; ++i) {
            Pack lambda{};
            for (std::size_t k = 0; k < m_; ++k) lambda = in(p_.pivot, k) == static_cast<double>(i) ? in(p_.part, k) : lambda;
            in(slots_, p_.lambda.begin[i]) = lambda;
            spoiled += lambda - lambda;
        }
        good_ &= spoiled == Pack{};
    }

    const LaneSolvePlan& p_;
    double* slots_;
    std::size_t n_, m_;
    Choice good_{};
    Pack growth_{}, tolerance_{};
};

LaneMask solve(const LaneSolvePlan& plan, double* slots) { return Solve(plan, slots).run(); }

LaneMask guards(const LaneGuard* guards, std::size_t count, const double* slots) {
    Choice good = Pack{} == Pack{};
    for (std::size_t i = 0; i < count; ++i) {
        const Pack diagonal = in(slots, guards[i].diagonal);
        good &= (diagonal > Pack{}) & (in(slots, guards[i].pivot) > guards[i].least * diagonal);
    }
    return bits(good);
}

LaneMask finite(const Slot* list, std::size_t count, const double* slots) {
    Pack spoiled{};
    for (std::size_t i = 0; i < count; ++i) spoiled += in(slots, list[i]) - in(slots, list[i]);
    return bits(spoiled == Pack{});
}

// as TableauRungeKutta moves
void move(double* out, const double* x, const double* h, const double* rates, const double* coefficients, std::size_t count,
          std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) {
        Pack sum{};
        for (std::size_t j = 0; j < count; ++j)
            if (coefficients[j] != 0) sum += coefficients[j] * in(h, 0) * in(rates, j * size + i);
        in(out, i) = in(x, i) + sum;
    }
}

}  // namespace

}  // namespace appell
