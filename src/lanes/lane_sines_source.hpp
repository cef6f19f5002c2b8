// Sines and cosines of eight angles at once, part of the kernels (lane_kernels_source.hpp), with the last bits of the C library.
//
// An angle is k pi/64 + r; sine and cosine of both parts are put together in pairs of doubles, to about a hundredth of a unit in
// the last place before they are rounded. The C library's results (glibc, sysdeps/ieee754/dbl-64/s_sin.c) are within 0.55 units
// of the truth, so that they are the nearest double wherever the truth is farther than 0.05 units from the middle between two.
// Where it is nearer, for one angle of nine, and for very small, very large and not finite ones, the library is asked itself. A
// test compares millions of them.
#include <math.h>

#if defined(__AVX512F__) && defined(__GLIBC__)

namespace appell {

namespace {

// of k pi/64, k = 0 .. 16: sine, what it lacks, cosine, what it lacks; made with 300 bits
constexpr double k_first_sines[17][4] = {
    {0, 0, 1, 0},
    {0x1.91f65f10dd814p-5, -0x1.912bd0d569a90p-61, 0x1.ff621e3796d7ep-1, -0x1.c57bc2e24aa15p-57},
    {0x1.917a6bc29b42cp-4, -0x1.e2718d26ed688p-60, 0x1.fd88da3d12526p-1, -0x1.87df6378811c7p-55},
    {0x1.2c8106e8e613ap-3, 0x1.13000a89a11e0p-58, 0x1.fa7557f08a517p-1, -0x1.7a0a8ca13571fp-55},
    {0x1.8f8b83c69a60bp-3, -0x1.26d19b9ff8d82p-57, 0x1.f6297cff75cb0p-1, 0x1.562172a361fd3p-56},
    {0x1.f19f97b215f1bp-3, -0x1.42deef11da2c4p-57, 0x1.f0a7efb9230d7p-1, 0x1.52c7adc6b4989p-56},
    {0x1.294062ed59f06p-2, -0x1.5d28da2c4612dp-56, 0x1.e9f4156c62ddap-1, 0x1.760b1e2e3f81ep-55},
    {0x1.58f9a75ab1fddp-2, -0x1.efdc0d58cf620p-62, 0x1.e212104f686e5p-1, -0x1.014c76c126527p-55},
    {0x1.87de2a6aea963p-2, -0x1.72cedd3d5a610p-57, 0x1.d906bcf328d46p-1, 0x1.457e610231ac2p-56},
    {0x1.b5d1009e15cc0p-2, 0x1.5b362cb974183p-57, 0x1.ced7af43cc773p-1, -0x1.e7b6bb5ab58aep-58},
    {0x1.e2b5d3806f63bp-2, 0x1.e0d891d3c6841p-58, 0x1.c38b2f180bdb1p-1, -0x1.6e0b1757c8d07p-56},
    {0x1.073879922ffeep-1, -0x1.a5a014347406cp-55, 0x1.b728345196e3ep-1, -0x1.bc69f324e6d61p-55},
    {0x1.1c73b39ae68c8p-1, 0x1.b25dd267f6600p-55, 0x1.a9b66290ea1a3p-1, 0x1.9f630e8b6dac8p-60},
    {0x1.30ff7fce17035p-1, -0x1.efcc626f74a6fp-57, 0x1.9b3e047f38741p-1, -0x1.30ee286712474p-55},
    {0x1.44cf325091dd6p-1, 0x1.8076a2cfdc6b3p-57, 0x1.8bc806b151741p-1, -0x1.2c5e12ed1336dp-55},
    {0x1.57d69348ceca0p-1, -0x1.75720992bfbb2p-55, 0x1.7b5df226aafafp-1, -0x1.0f537acdf0ad7p-56},
    {0x1.6a09e667f3bcdp-1, -0x1.bdd3413b26456p-55, 0x1.6a09e667f3bcdp-1, -0x1.bdd3413b26456p-55},
};

struct SineTable {
    static constexpr int k_size = 128;
    double sine[k_size], sine_low[k_size], cosine[k_size], cosine_low[k_size];
};

constexpr SineTable make_sine_table() {
    SineTable out{};
    for (int k = 0; k < SineTable::k_size; ++k) {
        const int j = k % 32;
        const double* const row = k_first_sines[j <= 16 ? j : 32 - j];
        const double* s = j <= 16 ? row : row + 2;
        const double* c = j <= 16 ? row + 2 : row;
        const bool swapped = k / 32 % 2 == 1;
        if (swapped) {
            const double* const t = s;
            s = c;
            c = t;
        }
        const double of_sine = k >= 64 ? -1 : 1, of_cosine = k >= 32 && k < 96 ? -1 : 1;
        out.sine[k] = of_sine * s[0];
        out.sine_low[k] = of_sine * s[1];
        out.cosine[k] = of_cosine * c[0];
        out.cosine_low[k] = of_cosine * c[1];
    }
    return out;
}

constexpr SineTable k_sines = make_sine_table();

inline __m512d of(const Pack& x) { return (__m512d)x; }
inline Pack fused(const Pack& a, const Pack& b, const Pack& c) { return (Pack)_mm512_fmadd_pd(of(a), of(b), of(c)); }

void sines_with_cosines(double* sine, double* cosine, const double* angle) {
    const Pack x = in(angle, 0);
    // pi/64 in parts: the first two have 30 bits, so that their products with k have no error
    constexpr double k_first = 0x1.921fb54p-5, k_second = 0x1.10b46118p-35, k_third = 0x1.313198a2e037p-66;
    constexpr double k_inverse = 0x1.45f306dc9c883p+4, k_round = 6755399441055744.0;
    const Pack shifted = x * k_inverse + k_round, k = shifted - k_round;
    const __m512i index = _mm512_and_epi64((__m512i)shifted, _mm512_set1_epi64(SineTable::k_size - 1));
    const auto gather = [&](const double* table) {
        return (Pack)_mm512_mask_i64gather_pd(_mm512_setzero_pd(), 0xff, index, table, 8);
    };
    const Pack S = gather(k_sines.sine), S_low = gather(k_sines.sine_low);
    const Pack C = gather(k_sines.cosine), C_low = gather(k_sines.cosine_low);

    // r = r + r_low
    const Pack first = fused(-k, Pack{} + k_first, x), second = k * k_second;
    const Pack high = first - second, back = high - first;
    const Pack low = ((first - (high - back)) - (second + back)) - k * k_third;
    const Pack r = high + low, r_low = low - (r - high);

    const Pack z = r * r;
    const Pack bent = r * z * (-1.0 / 6 + z * (1.0 / 120 + z * (-1.0 / 5040 + z * (1.0 / 362880))));  // sin r - r
    const Pack fallen = z * (-0.5 + z * (1.0 / 24 + z * (-1.0 / 720 + z * (1.0 / 40320))));           // cos r - 1

    const auto finish = [](const Pack& large, const Pack& product, const Pack& rest, Pack& out) {
        const Pack sum = large + product, left = (product - (sum - large)) + rest;
        out = sum + left;
        const Pack error = left - (out - sum);
        // farther than 0.05 units from the middle: what is left is less than 0.44 units
        return out + error * (0.5 / 0.44) == out;
    };
    const Pack Cr = C * r, Sr = S * r;
    const Pack rest_of_sine = fused(C, r, -Cr) + (C_low * r + C * r_low) + (C * bent + S * fallen) + S_low;
    const Pack rest_of_cosine = C_low - (fused(S, r, -Sr) + (S_low * r + S * r_low) + S * bent) + C * fallen;
    Pack s, c;
    const Choice sure_s = finish(S, Cr, rest_of_sine, s), sure_c = finish(C, -Sr, rest_of_cosine, c);
    // next to a multiple of pi/64 what its third part is rounded by would show
    const LaneMask sure = bits(sure_s & sure_c & (x * x < 0x1p34) & (z > 0x1p-60));
    in(sine, 0) = s;
    in(cosine, 0) = c;
    for (LaneMask left = ~sure & ((1u << k_lanes) - 1); left != 0; left &= left - 1) {
        const auto lane = static_cast<std::size_t>(__builtin_ctz(left));
        ::sincos(x[lane], sine + lane, cosine + lane);
    }
}

}  // namespace

}  // namespace appell

#else

namespace appell {

namespace {

constexpr LaneSines sines_with_cosines = nullptr;

}  // namespace

}  // namespace appell

#endif
