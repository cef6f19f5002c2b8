// See dormand_prince.hpp.
#include "sim/dormand_prince.hpp"

#include <cmath>

#include "sim/march.hpp"

namespace appell {

namespace {

// exponents of the proportional-integral controller for an error of order 5
constexpr double k_beta = 0.04;
constexpr double k_alpha = 0.2 - 0.75 * k_beta;

// of the six stages and the rate at the new state
struct Estimates {
    static constexpr std::array<std::array<double, 7>, 2> rows{{
        // difference of the two orders
        {71.0 / 57600, 0, -71.0 / 16695, 71.0 / 1920, -17253.0 / 339200, 22.0 / 525, -1.0 / 40},
        // term of the fourth power in the continuous extension
        {-12715105075.0 / 11282082432.0, 0, 87487479700.0 / 32700410799.0, -10690763975.0 / 1880347072.0,
         701980252875.0 / 199316789632.0, -1453857185.0 / 822651844.0, 69997945.0 / 29380423.0},
    }};
};

std::array<const double*, 7> with_end(const std::array<const double*, 6>& k, const Entries& end_rate) {
    return {k[0], k[1], k[2], k[3], k[4], k[5], end_rate.data()};
}

}  // namespace

DormandPrince::DormandPrince(FirstOrderSystem& system, const IntegratorOptions& options)
    : TableauRungeKutta(system, options, {5, k_alpha, k_beta, 10, 5, true, 2.8}) {
    for (std::vector<double>* v : {&dense1_, &dense2_, &dense3_, &dense4_}) v->resize(system.size());
}

bool DormandPrince::lend(March& march) {
    const Control& c = control();
    march.method = {k_stages,
                    DormandPrinceTableau::nodes.data(),
                    DormandPrinceTableau::rows.front().data(),
                    Estimates::rows[0].data(),
                    Estimates::rows[1].data(),
                    c.alpha,
                    c.beta,
                    c.most_growth,
                    c.most_shrink,
                    c.stability};
    return lend_steps(march);
}

double DormandPrince::squared_error(double h) const {
    const auto k = with_end(rates(rate_), rate_trial_);
    const auto a = scaled_row<Estimates, 0>(h);
    return with_size<k_unrolled>(controlled(), [&](auto size) {
        return mean_square(size, [&](std::size_t i) { return weighted_rates<Estimates, 0>(a, k, i); });
    });
}

bool DormandPrince::prepare_dense(double h) {
    const auto k = with_end(rates(rate_previous_), end_rate());
    const auto a = scaled_row<Estimates, 1>(h);
    for (std::size_t i = 0; i < x_.size(); ++i) {
        const double change = end()[i] - x_previous_[i], bend = h * rate_previous_[i] - change;
        dense1_[i] = change;
        dense2_[i] = bend;
        dense3_[i] = change - h * end_rate()[i] - bend;
        dense4_[i] = weighted_rates<Estimates, 1>(a, k, i);
    }
    return true;
}

void DormandPrince::interpolate(double share, std::span<double> x) const {
    const double s = share, r = 1 - s;
    for (std::size_t i = 0; i < x_.size(); ++i)
        x[i] = x_previous_[i] + s * (dense1_[i] + r * (dense2_[i] + s * (dense3_[i] + r * dense4_[i])));
}

void DormandPrince::bound(std::span<const std::size_t> entries, std::span<double> low, std::span<double> high) const {
    for (std::size_t k = 0; k < entries.size(); ++k) {
        const std::size_t i = entries[k];
        bound_extension(x_previous_[i], std::array{dense1_[i], dense2_[i], dense3_[i], dense4_[i]}, low[k], high[k]);
    }
}

}  // namespace appell
