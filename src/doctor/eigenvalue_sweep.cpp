#include "doctor/eigenvalue_sweep.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace appell {

namespace {

class Sweeping {
public:
    Sweeping(Linearizer& linearizer, const TrimRequest& request, const SweepRange& range)
        : linearizer_(linearizer), request_(request), range_(range) {}

    EigenvalueSweep run(const LinearSystem& about) {
        out_.name = range_.name;
        // from the side that is nearer to the values of the model
        std::vector<Digits50> guess = about.point;
        std::optional<LinearSystem> before;
        Digits50 value_before(0);
        for (std::size_t i = 0; i < range_.count; ++i) {
            const Digits50 value = value_at(i);
            std::optional<LinearSystem> now = at(value, before ? before->point : guess, true);
            SweepPoint point;
            point.value = static_cast<double>(value);
            if (now) {
                point.found = true;
                point.zeros = now->spectrum.zeros;
                point.unstable = now->spectrum.unstable();
                for (const Eigenvalue& e : now->spectrum.eigenvalues) point.eigenvalues.push_back(e.value());
                if (before) {
                    follow(point.eigenvalues);
                    locate(value_before, *before, value, *now);
                }
                last_ = point.eigenvalues;
                guess = now->point;
            }
            out_.points.push_back(std::move(point));
            before = std::move(now);
            value_before = value;
        }
        return std::move(out_);
    }

private:
    [[nodiscard]] Digits50 value_at(std::size_t i) const {
        if (range_.count < 2) return Digits50(range_.from);
        const Digits50 from(range_.from), to(range_.to);
        return from + (to - from) * static_cast<double>(i) / static_cast<double>(range_.count - 1);
    }

    std::optional<LinearSystem> at(const Digits50& value, std::vector<Digits50> point, bool keep_reason) {
        TrimRequest request = request_;
        if (range_.held) {
            request.held.push_back(*range_.held);
            request.held.back().value = value;
        } else {
            point[range_.place] = value;
        }
        Result<LinearSystem> found = linearizer_.at(std::move(point), request);
        if (found.ok()) return std::move(found.value);
        if (keep_reason)
            for (const Diagnostic& d : found.diagnostics.all())
                if (d.severity() == Severity::error &&
                    std::find(out_.gaps.begin(), out_.gaps.end(), d.message) == out_.gaps.end())
                    out_.gaps.push_back(d.message);
        return std::nullopt;
    }

    // each eigenvalue behind the nearest of the point before, nearest pairs first
    void follow(std::vector<std::complex<double>>& values) const {
        if (values.size() != last_.size()) return;
        std::vector<std::complex<double>> ordered(values.size());
        std::vector<bool> used(values.size(), false), filled(values.size(), false);
        for (std::size_t round = 0; round < values.size(); ++round) {
            std::size_t best_from = 0, best_to = 0;
            double best = std::numeric_limits<double>::infinity();
            for (std::size_t i = 0; i < last_.size(); ++i)
                for (std::size_t j = 0; j < values.size(); ++j)
                    if (!filled[i] && !used[j] && std::abs(values[j] - last_[i]) < best) {
                        best = std::abs(values[j] - last_[i]);
                        best_from = i;
                        best_to = j;
                    }
            ordered[best_from] = values[best_to];
            filled[best_from] = used[best_to] = true;
        }
        values = std::move(ordered);
    }

    // every change of the number of unstable eigenvalues that bisection comes upon between two points
    void locate(Digits50 low, LinearSystem at_low, const Digits50& end, const LinearSystem& at_end) {
        const Digits50 range = abs(Digits50(Digits50(range_.to) - Digits50(range_.from)));
        for (int crossings = 0; crossings < 16; ++crossings) {
            if (at_low.spectrum.unstable() == at_end.spectrum.unstable()) return;
            Digits50 high = end;
            LinearSystem at_high = at_end;
            const std::size_t below = at_low.spectrum.unstable();
            const auto narrow = [&] {
                const Digits50 size = std::max(Digits50(abs(low)), Digits50(abs(high)));
                return abs(Digits50(high - low)) <= std::max(Digits50(size * Digits50(1e-14)), Digits50(range * Digits50(1e-18)));
            };
            while (!narrow()) {
                const Digits50 middle = (low + high) / 2;
                std::optional<LinearSystem> found = at(middle, at_low.point, false);
                if (!found) return;  // a gap, which is no crossing
                if (found->spectrum.unstable() == below) {
                    low = middle;
                    at_low = std::move(*found);
                } else {
                    high = middle;
                    at_high = std::move(*found);
                }
            }
            CriticalValue critical;
            critical.value = static_cast<double>(Digits50((low + high) / 2));
            critical.width = static_cast<double>(Digits50(abs(Digits50(high - low))));
            critical.unstable_before = below;
            critical.unstable_after = at_high.spectrum.unstable();
            critical.frequency = crossing_frequency(critical.unstable_after > below ? at_high.spectrum : at_low.spectrum);
            // before and after are below and above, whichever way the sweep goes
            if (range_.to < range_.from) std::swap(critical.unstable_before, critical.unstable_after);
            if (std::abs(critical.value) <= critical.width) critical.value = 0;
            out_.critical.push_back(critical);
            low = high;
            at_low = std::move(at_high);
        }
    }

    // of the unstable eigenvalue nearest to the axis; one that passes zero is near it in both parts
    static double crossing_frequency(const Spectrum& spectrum) {
        const Eigenvalue* nearest = nullptr;
        for (const Eigenvalue& e : spectrum.eigenvalues)
            if (spectrum.sign(e) > 0 && (!nearest || e.re < nearest->re)) nearest = &e;
        if (!nearest) return 0;
        const double frequency = std::abs(static_cast<double>(nearest->im));
        return frequency > 1e-5 * static_cast<double>(spectrum.size) ? frequency : 0;
    }

    Linearizer& linearizer_;
    const TrimRequest& request_;
    const SweepRange& range_;
    EigenvalueSweep out_;
    std::vector<std::complex<double>> last_;
};

}  // namespace

EigenvalueSweep sweep_eigenvalues(Linearizer& linearizer, const LinearSystem& about, const TrimRequest& request,
                                  const SweepRange& range) {
    return Sweeping(linearizer, request, range).run(about);
}

}  // namespace appell
