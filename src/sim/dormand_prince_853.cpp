// See dormand_prince_853.hpp.
#include "sim/dormand_prince_853.hpp"

#include <cmath>

namespace appell {

namespace {

// of the twelve stages
struct Estimates {
    static constexpr std::array<std::array<double, 12>, 2> rows{{
        // the estimate of order 5
        {0.1312004499419488073250102996e-01, 0, 0, 0, 0, -0.1225156446376204440720569753e+01, -0.4957589496572501915214079952,
         0.1664377182454986536961530415e+01, -0.3503288487499736816886487290, 0.3341791187130174790297318841,
         0.8192320648511571246570742613e-01, -0.2235530786388629525884427845e-01},
        // the weights of order 8 less those of order 3
        {5.42937341165687622380535766363e-2 - 0.244094488188976377952755905512, 0, 0, 0, 0, 4.45031289275240888144113950566,
         1.89151789931450038304281599044, -5.8012039600105847814672114227,
         3.1116436695781989440891606237e-1 - 0.733846688281611857341361741547, -1.52160949662516078556178806805e-1,
         2.01365400804030348374776537501e-1, 4.47106157277725905176885569043e-2 - 0.220588235294117647058823529412e-01},
    }};
};

// of the twelve stages, the rate at the new state and the three rates inside
struct Inside {
    static constexpr std::array<double, 3> nodes{0.1, 0.2, 0.777777777777777777777777777778};
    static constexpr std::array<std::array<double, 16>, 3> rows{{
        {5.61675022830479523392909219681e-2, 0, 0, 0, 0, 0, 2.53500210216624811088794765333e-1,
         -2.46239037470802489917441475441e-1, -1.24191423263816360469010140626e-1, 1.5329179827876569731206322685e-1,
         8.20105229563468988491666602057e-3, 7.56789766054569976138603589584e-3, -8.298e-3},
        {3.18346481635021405060768473261e-2, 0, 0, 0, 0, 2.83009096723667755288322961402e-2, 5.35419883074385676223797384372e-2,
         -5.49237485713909884646569340306e-2, 0, 0, -1.08347328697249322858509316994e-4, 3.82571090835658412954920192323e-4,
         -3.40465008687404560802977114492e-4, 1.41312443674632500278074618366e-1},
        {-4.28896301583791923408573538692e-1, 0, 0, 0, 0, -4.69762141536116384314449447206, 7.68342119606259904184240953878,
         4.06898981839711007970213554331, 3.56727187455281109270669543021e-1, 0, 0, 0, -1.39902416515901462129418009734e-3,
         2.9475147891527723389556272149, -9.15095847217987001081870187138},
    }};
};

struct Extension {
    static constexpr std::array<std::array<double, 16>, 4> rows{{
        {-0.84289382761090128651353491142e+01, 0, 0, 0, 0, 0.56671495351937776962531783590, -0.30689499459498916912797304727e+01,
         0.23846676565120698287728149680e+01, 0.21170345824450282767155149946e+01, -0.87139158377797299206789907490,
         0.22404374302607882758541771650e+01, 0.63157877876946881815570249290, -0.88990336451333310820698117400e-01,
         0.18148505520854727256656404962e+02, -0.91946323924783554000451984436e+01, -0.44360363875948939664310572000e+01},
        {0.10427508642579134603413151009e+02, 0, 0, 0, 0, 0.24228349177525818288430175319e+03,
         0.16520045171727028198505394887e+03, -0.37454675472269020279518312152e+03, -0.22113666853125306036270938578e+02,
         0.77334326684722638389603898808e+01, -0.30674084731089398182061213626e+02, -0.93321305264302278729567221706e+01,
         0.15697238121770843886131091075e+02, -0.31139403219565177677282850411e+02, -0.93529243588444783865713862664e+01,
         0.35816841486394083752465898540e+02},
        {0.19985053242002433820987653617e+02, 0, 0, 0, 0, -0.38703730874935176555105901742e+03,
         -0.18917813819516756882830838328e+03, 0.52780815920542364900561016686e+03, -0.11573902539959630126141871134e+02,
         0.68812326946963000169666922661e+01, -0.10006050966910838403183860980e+01, 0.77771377980534432092869265740,
         -0.27782057523535084065932004339e+01, -0.60196695231264120758267380846e+02, 0.84320405506677161018159903784e+02,
         0.11992291136182789328035130030e+02},
        {-0.25693933462703749003312586129e+02, 0, 0, 0, 0, -0.15418974869023643374053993627e+03,
         -0.23152937917604549567536039109e+03, 0.35763911791061412378285349910e+03, 0.93405324183624310003907691704e+02,
         -0.37458323136451633156875139351e+02, 0.10409964950896230045147246184e+03, 0.29840293426660503123344363579e+02,
         -0.43533456590011143754432175058e+02, 0.96324553959188282948394950600e+02, -0.39177261675615439165231486172e+02,
         -0.14972683625798562581422125276e+03},
    }};
};

}  // namespace

// the step follows the last error alone (beta is zero in DOP853)
DormandPrince853::DormandPrince853(FirstOrderSystem& system, const IntegratorOptions& options)
    : TableauRungeKutta(system, options, {8, 1.0 / 8, 0, 6, 3, false, 5.5}), inside_(system.size()) {
    for (std::vector<double>& k : k_inside_) k.resize(system.size());
    for (std::vector<double>& d : dense_) d.resize(system.size());
}

// the two estimates together behave like one of order 7: err5^2 / sqrt(err5^2 + 0.01 err3^2)
double DormandPrince853::squared_error(double h) const {
    const Rates k = rates(rate_);
    const auto to_five = scaled_row<Estimates, 0>(h), to_three = scaled_row<Estimates, 1>(h);
    const double five = mean_square([&](std::size_t i) { return weighted_rates<Estimates, 0>(to_five, k, i); });
    const double three = mean_square([&](std::size_t i) { return weighted_rates<Estimates, 1>(to_three, k, i); });
    const double size = five + 0.01 * three;
    return size <= 0 ? 0 : five * five / size;
}

bool DormandPrince853::prepare_dense(double h) {
    const std::size_t n = x_.size();
    std::array<const double*, 16> k{};
    const Rates stages = rates(rate_previous_);
    std::copy(stages.begin(), stages.end(), k.begin());
    k[12] = end_rate().data();
    for (std::size_t j = 0; j < 3; ++j) k[13 + j] = k_inside_[j].data();
    const auto rate_inside = [&]<std::size_t I>(std::integral_constant<std::size_t, I>) {
        const auto a = scaled_row<Inside, I>(h);
        for (std::size_t i = 0; i < n; ++i) inside_[i] = x_previous_[i] + weighted_rates<Inside, I>(a, k, i);
        return evaluate(t_previous_ + h * Inside::nodes[I], inside_, k_inside_[I]);
    };
    if (!rate_inside(std::integral_constant<std::size_t, 0>{}) || !rate_inside(std::integral_constant<std::size_t, 1>{}) ||
        !rate_inside(std::integral_constant<std::size_t, 2>{}))
        return false;
    const auto a0 = scaled_row<Extension, 0>(h), a1 = scaled_row<Extension, 1>(h);
    const auto a2 = scaled_row<Extension, 2>(h), a3 = scaled_row<Extension, 3>(h);
    for (std::size_t i = 0; i < n; ++i) {
        const double change = end()[i] - x_previous_[i], bend = h * rate_previous_[i] - change;
        dense_[0][i] = change;
        dense_[1][i] = bend;
        dense_[2][i] = change - h * end_rate()[i] - bend;
        dense_[3][i] = weighted_rates<Extension, 0>(a0, k, i);
        dense_[4][i] = weighted_rates<Extension, 1>(a1, k, i);
        dense_[5][i] = weighted_rates<Extension, 2>(a2, k, i);
        dense_[6][i] = weighted_rates<Extension, 3>(a3, k, i);
    }
    return true;
}

void DormandPrince853::interpolate(double share, std::span<double> x) const {
    const double s = share, r = 1 - s;
    for (std::size_t i = 0; i < x_.size(); ++i)
        x[i] = x_previous_[i] +
               s * (dense_[0][i] +
                    r * (dense_[1][i] +
                         s * (dense_[2][i] + r * (dense_[3][i] + s * (dense_[4][i] + r * (dense_[5][i] + s * dense_[6][i]))))));
}

void DormandPrince853::bound(std::span<const std::size_t> entries, std::span<double> low, std::span<double> high) const {
    for (std::size_t k = 0; k < entries.size(); ++k) {
        const std::size_t i = entries[k];
        bound_extension(
            x_previous_[i],
            std::array{dense_[0][i], dense_[1][i], dense_[2][i], dense_[3][i], dense_[4][i], dense_[5][i], dense_[6][i]}, low[k],
            high[k]);
    }
}

}  // namespace appell
