#include "doctor/linear_factors.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/number_format.hpp"
#include "doctor/factor_forms.hpp"
#include "doctor/row_shape.hpp"
#include "expr/print.hpp"
#include "tape/dense_rank.hpp"

namespace appell {

namespace {

constexpr std::size_t k_most_speeds_together = 16;

Vector50 flat(const std::vector<Vector50>& rows) {
    Vector50 out;
    for (const Vector50& row : rows) out.insert(out.end(), row.begin(), row.end());
    return out;
}

// what serves as linear: a row that is, or one found to be, on the branch of each sample
struct LinearPart {
    std::vector<std::vector<Vector50>> normals;  // by sample; by speed, then the constant
    std::vector<AffineForm> forms;               // closed; empty where there are none
    std::vector<std::size_t> needs;              // the rows it is linear by
};

class Search {
public:
    Search(const ConstrainedDynamics& d, const Samples& samples) : d_(d), samples_(samples), forms_(d, samples) {
        n_ = d.model->speeds.size();
    }

    LinearFactors run() {
        LinearFactors out;
        if (samples_.size() == 0) return out;
        const std::vector<bool> affine = affine_rows(d_, samples_);
        std::vector<std::size_t> open;
        for (std::size_t i = 0; i < d_.rows.size(); ++i) {
            if (affine[i])
                add_affine(i);
            else if (d_.rows[i].velocity.valid())
                open.push_back(i);
        }
        // a row found to be linear may make others linear
        for (bool progress = true; progress;) {
            progress = false;
            for (std::size_t i = 0; i < open.size() && !progress; ++i) {
                auto found = look_at(open[i]);
                if (!found) continue;
                out.rows.push_back(std::move(*found));
                open.erase(open.begin() + static_cast<std::ptrdiff_t>(i));
                progress = true;
            }
        }
        if (auto found = look_together(open)) out.together.push_back(std::move(*found));
        std::sort(out.rows.begin(), out.rows.end(), [](const LinearRow& x, const LinearRow& y) { return x.row < y.row; });
        return out;
    }

private:
    void add_affine(std::size_t row) {
        LinearPart part;
        for (const auto& state : samples_.states) {
            const RowsAt at(d_, samples_, state);
            RowValue value = at.at(row);
            value.gradient.push_back(value.value - dot(std::span(value.gradient), at.speeds()));
            part.normals.push_back({std::move(value.gradient)});
        }
        if (auto form = forms_.affine_form(row)) part.forms = {std::move(*form)};
        linear_[row] = std::move(part);
    }

    [[nodiscard]] std::vector<Vector50> plane(std::size_t sample, const std::vector<std::size_t>& given) const {
        Vector50 entries;
        for (const std::size_t row : given)
            for (const Vector50& normal : linear_.at(row).normals[sample])
                entries.insert(entries.end(), normal.begin(), normal.end() - 1);
        return DenseRank(std::move(entries), n_).null_space();
    }

    // the row's shape, when it is the same at all samples and not genuine
    [[nodiscard]] std::optional<std::vector<RowShape>> shapes(std::size_t row, const std::vector<std::size_t>& given) const {
        std::vector<RowShape> out;
        for (std::size_t k = 0; k < samples_.size(); ++k) {
            RowShape shape = row_shape(d_, samples_, samples_.states[k], row, plane(k, given));
            if (shape.genuine || (!out.empty() && !shape.like(out.front()))) return std::nullopt;
            out.push_back(std::move(shape));
        }
        return out;
    }

    // can `row` be left out of `given`, as far as the others need it?
    [[nodiscard]] bool needed_by_others(std::size_t row, const std::vector<std::size_t>& given) const {
        return std::any_of(given.begin(), given.end(), [&](std::size_t other) {
            const std::vector<std::size_t>& needs = linear_.at(other).needs;
            return std::find(needs.begin(), needs.end(), row) != needs.end();
        });
    }

    template <class StillHolds>
    [[nodiscard]] std::vector<std::size_t> fewest(std::vector<std::size_t> given, StillHolds holds) const {
        // those that were found linear go first: they need others
        std::vector<std::size_t> order = given;
        std::stable_sort(order.begin(), order.end(),
                         [&](std::size_t x, std::size_t y) { return linear_.at(x).needs.size() > linear_.at(y).needs.size(); });
        for (const std::size_t row : order) {
            std::vector<std::size_t> less = given;
            less.erase(std::find(less.begin(), less.end(), row));
            if (!needed_by_others(row, less) && holds(less)) given = std::move(less);
        }
        return given;
    }

    std::optional<LinearRow> look_at(std::size_t row) {
        std::vector<std::size_t> given;
        for (const auto& [other, part] : linear_) given.push_back(other);
        auto found = shapes(row, given);
        if (!found) return std::nullopt;
        const RowShape shape = found->front();  // `found` changes below
        given = fewest(given, [&](const std::vector<std::size_t>& less) {
            auto now = shapes(row, less);
            if (!now || !now->front().like(shape)) return false;
            found = std::move(now);
            return true;
        });
        LinearRow out{row, found->front().truth, given, {}, ""};
        std::vector<std::vector<Vector50>> normals;
        bool everywhere = true;
        for (const RowShape& s : *found) {
            normals.push_back(s.normals);
            everywhere = everywhere && !s.normals.empty();
        }
        std::vector<AffineForm> given_forms, forms;
        bool closed = true;
        for (const std::size_t other : given) {
            const LinearPart& part = linear_.at(other);
            closed = closed && (!part.forms.empty() || part.normals.front().empty());
            given_forms.insert(given_forms.end(), part.forms.begin(), part.forms.end());
        }
        if (closed) forms = forms_.forms(row, out.truth, found->front().quadratic, given_forms, normals);
        LinearPart part;
        part.normals = normals;
        part.needs = given;
        for (const AffineForm& form : forms) {
            out.equations.push_back(equation(form));
            if (out.truth != LinearTruth::product || holds_at_samples(form)) part.forms.push_back(form);
        }
        if (out.truth == LinearTruth::product && part.forms.size() != 1) part.forms.clear();
        if (forms.empty()) at_start_only(out, given);
        // a factor with a denominator that vanishes at the start: the other decides
        if (out.truth == LinearTruth::product && out.equations.size() == 2)
            for (const std::size_t i : {0u, 1u})
                if (out.equations[i].normal.empty()) out.equations[i].at_start = !out.equations[1 - i].at_start;
        out.sentence = sentence(out);
        // where two factors meet there is no branch to go on with
        if (everywhere || out.truth == LinearTruth::follows) linear_[row] = std::move(part);
        return out;
    }

    [[nodiscard]] bool holds_at_samples(const AffineForm& form) const {
        const NodeId expression = forms_.expression(form);
        for (std::size_t k = 0; k < samples_.size(); ++k) {
            const Digits50 size = largest(samples_.evaluate(d_.graph(), form, k));
            if (abs(samples_.evaluate(d_.graph(), std::span(&expression, 1), k).front()) > Digits50(1e-25) * size) return false;
        }
        return true;
    }

    [[nodiscard]] LinearEquation equation(const AffineForm& form) const {
        LinearEquation out;
        out.expression = forms_.expression(form);
        out.text = to_text(d_.graph(), out.expression);
        const Vector50 c = evaluate<Digits50>(d_.graph(), form, samples_.values(d_.graph(), samples_.start));
        if (!std::all_of(c.begin(), c.end(), [](const Digits50& v) { return is_finite(v); })) return out;
        const RowsAt at(d_, samples_, samples_.start);
        const Digits50 sum = c.back() + dot(std::span(c).first(n_), at.speeds());
        out.at_start = abs(sum) <= Digits50(1e-9) * largest(c) * at.speed_size();
        set_normal(out, c);
        return out;
    }

    void set_normal(LinearEquation& e, const Vector50& c) const {
        const Digits50 size = largest(std::span(c).first(n_));
        for (std::size_t i = 0; i < n_; ++i) e.normal.push_back(size > 0 ? static_cast<double>(Digits50(c[i] / size)) : 0);
    }

    [[nodiscard]] std::string with_numbers(const Vector50& c) const {
        const Digits50 size = largest(std::span(c).first(n_));
        std::string text;
        for (std::size_t i = 0; i <= n_; ++i) {
            const double value = static_cast<double>(Digits50(c[i] / size));
            if (std::abs(value) < 1e-12) continue;
            const std::string number = fmt::format("{:.6g}", std::abs(value));
            text += text.empty() ? (value < 0 ? "-" : "") : (value < 0 ? " - " : " + ");
            const std::string name = i < n_ ? d_.graph().symbol(d_.model->speeds[i].u).name : "";
            text += i == n_ ? number : number == "1" ? name : number + "*" + name;
        }
        return text;
    }

    // no closed form: the row's gradient at the start
    void at_start_only(LinearRow& out, const std::vector<std::size_t>& given) const {
        if (out.truth == LinearTruth::follows || out.truth == LinearTruth::contradicts) return;
        std::vector<Vector50> normals;
        const RowsAt at(d_, samples_, samples_.start);
        if (out.truth == LinearTruth::product || out.truth == LinearTruth::factor || out.truth == LinearTruth::affine) {
            RowValue value = at.at(out.row);
            if (!(largest(value.gradient) > Digits50(1e-10))) return;
            value.gradient.push_back(value.value - dot(std::span(value.gradient), at.speeds()));
            normals.push_back(std::move(value.gradient));
        } else {
            std::vector<Vector50> rows;
            for (const std::size_t other : given) {
                if (!linear_.at(other).needs.empty()) return;
                rows.push_back(at.at(other).gradient);
            }
            normals =
                row_shape(d_, samples_, samples_.start, out.row, DenseRank(flat(rows), n_, Digits50(1e-10)).null_space()).normals;
        }
        for (const Vector50& c : normals) {
            LinearEquation e;
            e.text = with_numbers(c);
            e.at_start = true;
            set_normal(e, c);
            out.equations.push_back(std::move(e));
        }
    }

    [[nodiscard]] std::string names(const std::vector<std::size_t>& rows) const {
        std::vector<std::string> out;
        for (const std::size_t i : rows) out.push_back(d_.rows[i].name);
        if (out.size() < 2) return fmt::format("{}", fmt::join(out, ""));
        return fmt::format("{} and {}", fmt::join(out.begin(), out.end() - 1, ", "), out.back());
    }

    [[nodiscard]] static std::string equations(const std::vector<LinearEquation>& all) {
        std::vector<std::string> out;
        for (const LinearEquation& e : all) out.push_back(e.text + " = 0");
        return fmt::format("{}", fmt::join(out, ", "));
    }

    [[nodiscard]] std::string sentence(const LinearRow& found) const {
        const std::string& name = d_.rows[found.row].name;
        const std::string given = found.given.empty() ? "" : " given " + names(found.given);
        const bool closed = !found.equations.empty() && found.equations.front().expression.valid();
        const std::string where = closed ? "" : " (with the numbers it has at the start)";
        switch (found.truth) {
            case LinearTruth::contradicts: return fmt::format("constraint {} can not hold{}", name, given);
            case LinearTruth::follows:
                return found.given.empty() ? fmt::format("constraint {} holds by itself", name)
                                           : fmt::format("constraint {} follows from {}", name, names(found.given));
            case LinearTruth::affine:
                return fmt::format(
                    "constraint {} is written as nonlinear in the velocities, but is linear{}: {}{} can replace it", name, given,
                    equations(found.equations), where);
            case LinearTruth::square:
                return fmt::format(
                    "constraint {} is the square of a linear one{}: its gradient vanishes wherever it holds, so that it can "
                    "exert "
                    "no force; {}{} says the same and can replace it",
                    name, given, equations(found.equations), where);
            case LinearTruth::squares:
                return fmt::format(
                    "constraint {} holds only where {} linear ones do{}, and its gradient vanishes there, so that it can exert "
                    "no "
                    "force; {}{} can replace it",
                    name, found.equations.size(), given, equations(found.equations), where);
            case LinearTruth::product: {
                if (found.equations.empty())
                    return fmt::format("constraint {} is the product of two linear ones{}, and the start is where both vanish",
                                       name, given);
                if (!closed)
                    return fmt::format(
                        "constraint {} is the product of two linear ones{}; the start is on {}{}, which can replace it", name,
                        given, equations(found.equations), where);
                const LinearEquation &a = found.equations[0], &b = found.equations[1];
                const std::string product = fmt::format(
                    "constraint {} is nonlinear as written, but{} it is the product of {} and {}", name, given, a.text, b.text);
                if (a.at_start == b.at_start)
                    return product + (a.at_start ? ": the start is where both vanish, and the motion has a choice there"
                                                 : ": each of them set to zero is a linear constraint");
                return fmt::format("{}: the start is on {} = 0, which can replace it", product, (a.at_start ? a : b).text);
            }
            case LinearTruth::factor:
                return found.equations.empty()
                           ? fmt::format("constraint {} has a linear factor{}", name, given)
                           : fmt::format(
                                 "constraint {} is nonlinear as written, but{} it has a linear factor, on which the start is: "
                                 "{}{} can replace it",
                                 name, given, equations(found.equations), where);
        }
        return "";
    }

    // States near a sample that satisfy rows: by Newton's iteration on as many rows as are independent at the sample.
    struct Hull {
        std::size_t rank = 0;           // of all rows at the sample
        std::vector<Vector50> normals;  // of the affine hull: by speed, then the constant
    };
    [[nodiscard]] std::optional<Hull> hull(std::size_t sample, const std::vector<std::size_t>& rows,
                                           const std::vector<std::size_t>& given) const {
        const RowsAt at(d_, samples_, samples_.states[sample]);
        const Vector50& base = at.speeds();
        std::vector<Vector50> fixed;
        for (const std::size_t row : given)
            for (const Vector50& normal : linear_.at(row).normals[sample]) fixed.emplace_back(normal.begin(), normal.end() - 1);
        std::vector<Vector50> all = fixed;
        for (const std::size_t row : rows) {
            RowValue value = at.at(row);
            if (!value.finite()) return std::nullopt;
            all.push_back(std::move(value.gradient));
        }
        const std::vector<std::size_t> chosen = independent_rows(all);
        Hull out;
        out.rank = chosen.size();
        Draws draws(17 + sample);
        std::vector<Vector50> chords;
        for (std::size_t tries = 0; tries < 4 * n_ && chords.size() < n_ + 2; ++tries) {
            Vector50 u = base;
            // so near that other branches are far, and yet the curvature is some 1e-4 of a chord
            for (Digits50& x : u) x += 1e-4 * at.speed_size() * draws.symmetric();
            bool good = false, close = false;
            for (int iteration = 0; iteration < 30 && !good; ++iteration) {
                std::vector<Vector50> taken;
                Vector50 right;
                for (const std::size_t i : chosen) {
                    if (i < fixed.size()) {
                        Digits50 value(0);
                        for (std::size_t j = 0; j < n_; ++j) value += fixed[i][j] * (u[j] - base[j]);
                        taken.push_back(fixed[i]);
                        right.push_back(-value);
                    } else {
                        RowValue value = at.at(rows[i - fixed.size()], u);
                        if (!value.finite()) break;
                        taken.push_back(std::move(value.gradient));
                        right.push_back(-value.value);
                    }
                }
                if (taken.size() < chosen.size()) break;
                const auto step = least_solution(taken, right, n_);
                if (!step) break;
                for (std::size_t j = 0; j < n_; ++j) u[j] += (*step)[j];
                good = close;
                close = largest(*step) < 1e-25;
            }
            // the other rows must hold as well
            for (std::size_t i = 0; i < rows.size() && good; ++i) {
                const RowValue value = at.at(rows[i], u);
                good = abs(value.value) <= Digits50(1e-30) * largest(value.gradient) * at.speed_size();
            }
            if (!good) continue;
            for (std::size_t j = 0; j < n_; ++j) u[j] -= base[j];
            chords.push_back(std::move(u));
        }
        if (chords.size() < n_ + 2) return std::nullopt;
        for (Vector50& normal : DenseRank(flat(chords), n_, Digits50(1e-22)).null_space()) {
            normal.push_back(-dot(std::span(normal).first(n_), base));
            out.normals.push_back(std::move(normal));
        }
        return out;
    }

    // by sample: the hull, when it has the same number of normals everywhere and more than the linear rows
    [[nodiscard]] std::optional<std::vector<Hull>> hulls(const std::vector<std::size_t>& rows,
                                                         const std::vector<std::size_t>& given) const {
        std::vector<Hull> out;
        for (std::size_t k = 0; k < samples_.size(); ++k) {
            auto found = hull(k, rows, given);
            const std::size_t known = n_ - plane(k, given).size();
            if (!found || found->normals.size() <= known) return std::nullopt;
            if (!out.empty() && found->normals.size() != out.front().normals.size()) return std::nullopt;
            out.push_back(std::move(*found));
        }
        return out;
    }

    [[nodiscard]] std::optional<LinearTogether> look_together(std::vector<std::size_t> rows) {
        if (rows.size() < 2 || n_ > k_most_speeds_together) return std::nullopt;
        std::vector<std::size_t> given;
        for (const auto& [other, part] : linear_) given.push_back(other);
        auto found = hulls(rows, given);
        if (!found) return std::nullopt;
        const auto gained = [&](const std::vector<Hull>& h, const std::vector<std::size_t>& g) {
            return h.front().normals.size() - (n_ - plane(0, g).size());
        };
        const std::size_t wanted = gained(*found, given);
        for (const std::size_t row : std::vector<std::size_t>(rows)) {
            std::vector<std::size_t> less = rows;
            less.erase(std::find(less.begin(), less.end(), row));
            auto now = less.size() < 2 ? std::nullopt : hulls(less, given);
            if (!now || gained(*now, given) != wanted) continue;
            rows = std::move(less);
            found = std::move(now);
        }
        given = fewest(given, [&](const std::vector<std::size_t>& less) {
            auto now = hulls(rows, less);
            if (!now || gained(*now, less) != wanted) return false;
            found = std::move(now);
            return true;
        });
        LinearTogether out;
        out.rows = rows;
        out.given = given;
        out.complete = found->front().rank == found->front().normals.size();
        std::vector<std::vector<Vector50>> normals;
        for (const Hull& h : *found) normals.push_back(h.normals);
        for (const AffineForm& form : forms_.recognised(normals)) {
            // without what the given rows say already
            std::vector<Vector50> known;
            for (const std::size_t row : given)
                for (const Vector50& normal : linear_.at(row).normals.front()) known.push_back(normal);
            known.push_back(forms_.values(form).front());
            if (independent_rows(known).back() == known.size() - 1) out.equations.push_back(equation(form));
        }
        const std::string by = given.empty() ? "" : ", given " + names(given) + ",";
        const std::string what = out.equations.empty() ? fmt::format("{} linear equation{}", wanted, wanted == 1 ? "" : "s")
                                                       : equations(out.equations);
        out.sentence = out.complete ? fmt::format(
                                          "constraints {} are nonlinear as written, but together{} they say {} near the start, "
                                          "which can replace them",
                                          names(rows), by, what)
                                    : fmt::format("constraints {} together{} imply {}", names(rows), by, what);
        return out;
    }

    const ConstrainedDynamics& d_;
    const Samples& samples_;
    FactorForms forms_;
    std::size_t n_ = 0;
    std::map<std::size_t, LinearPart> linear_;
};

}  // namespace

LinearFactors find_linear_factors(const ConstrainedDynamics& dynamics, const Samples& samples) {
    if (samples.size() == 0) {
        const Samples configurations = random_configurations(dynamics, samples);
        return Search(dynamics, configurations).run();
    }
    LinearFactors out = Search(dynamics, samples).run();
    // Samples may be on several branches, and then have no equation in common: the start's own is found near the start.
    const auto closed = [](const std::vector<LinearEquation>& equations) {
        return !equations.empty() &&
               std::all_of(equations.begin(), equations.end(), [](const LinearEquation& e) { return e.expression.valid(); });
    };
    const auto open_row = [&](const LinearRow& r) { return r.truth == LinearTruth::factor && !closed(r.equations); };
    const auto open_rows = [&](const LinearTogether& t) { return !closed(t.equations); };
    if (std::none_of(out.rows.begin(), out.rows.end(), open_row) &&
        std::none_of(out.together.begin(), out.together.end(), open_rows))
        return out;
    const Samples near = states_near_start(dynamics, samples);
    if (near.size() == 0) return out;
    const LinearFactors again = Search(dynamics, near).run();
    for (LinearRow& r : out.rows)
        for (const LinearRow& other : again.rows)
            if (open_row(r) && other.row == r.row && other.truth == r.truth && closed(other.equations)) r = other;
    for (LinearTogether& t : out.together)
        for (const LinearTogether& other : again.together)
            if (open_rows(t) && closed(other.equations)) t = other;
    return out;
}

}  // namespace appell
