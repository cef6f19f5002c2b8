#include "doctor/redundancy.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "doctor/recognise.hpp"
#include "dynam/constraint_forces.hpp"
#include "expr/dependence.hpp"
#include "expr/print.hpp"
#include "expr/substitute.hpp"
#include "expr/sweep.hpp"
#include "tape/dense_rank.hpp"

namespace appell {

namespace {

const Digits50 k_zero = 1e-25;
const Digits50 k_start_bar = 1e-10;  // the start is good to round-off of doubles
constexpr std::size_t k_most_speeds_searched = 16;

class Search {
public:
    Search(const ConstrainedDynamics& d, const Samples& samples)
        : d_(d),
          g_(d.graph()),
          n_(d.model->speeds.size()),
          m_(d.rows.size()),
          consistent_(samples),
          configurations_(random_configurations(d, samples)) {
        states_ = samples.size() > 0 ? &consistent_ : &configurations_;
        std::vector<NodeId> entries;
        for (const SparseEntry& e : d.A.entries) entries.push_back(e.value);
        std::vector<NodeId> atoms = atoms_in(g_, entries, true);
        for (const NodeId e : entries)
            if (atoms.size() < 40 && !g_.constant_value(e) && std::find(atoms.begin(), atoms.end(), e) == atoms.end())
                atoms.push_back(e);
        recogniser_ = std::make_unique<Recogniser>(g_, *states_, atoms);
        // position rows first: who leaves them out loses what they say about positions
        for (const bool position : {true, false})
            for (std::size_t i = 0; i < m_; ++i)
                if ((d.rows[i].level == Level::position) == position) order_.push_back(i);
    }

    Redundancy run() {
        out_.rows = m_;
        if (m_ == 0) return out_;
        contradictions();
        if (consistent_.size() > 0 || all_affine()) {
            dependences();
            forces();
        }
        if (consistent_.size() > 0) {
            at_start();
            resting();
        }
        return out_;
    }

private:
    [[nodiscard]] bool all_affine() const {
        const std::vector<bool> affine = affine_rows(d_, configurations_);
        return configurations_.size() > 0 && std::all_of(affine.begin(), affine.end(), [](bool a) { return a; });
    }

    [[nodiscard]] std::vector<Vector50> matrix(const Samples& samples, std::span<const Digits50> state) const {
        const RowsAt at(d_, samples, state);
        std::vector<Vector50> out;
        for (std::size_t i = 0; i < m_; ++i) {
            out.push_back(at.at(i).gradient);
            // what is round-off of a zero must not be scaled up to a number when columns are looked at
            const Digits50 size = largest(out.back());
            for (Digits50& x : out.back())
                if (abs(x) <= Digits50(1e-35) * size) x = 0;
        }
        return out;
    }

    [[nodiscard]] std::string name(std::size_t row) const {
        const std::string& name = d_.rows[row].name;
        return name.find(", ") == std::string::npos ? name : "[" + name + "]";
    }
    [[nodiscard]] std::string names(const std::vector<std::size_t>& rows) const {
        std::vector<std::string> out;
        for (const std::size_t i : rows) out.push_back(name(i));
        return listed(out);
    }
    [[nodiscard]] static std::string listed(const std::vector<std::string>& out, const char* word = "and") {
        if (out.size() < 2) return fmt::format("{}", fmt::join(out, ""));
        return fmt::format("{} {} {}", fmt::join(out.begin(), out.end() - 1, ", "), word, out.back());
    }

    // "row = 2*path - y*lift", or the rows and that their coefficients vary
    [[nodiscard]] std::string combination_text(std::size_t row, const std::vector<RowTerm>& terms) const {
        constexpr std::size_t k_short = 60;
        const bool readable = std::all_of(terms.begin(), terms.end(), [&](const RowTerm& t) {
            return t.coefficient.valid() && to_text(g_, t.coefficient).size() <= k_short;
        });
        if (!readable) {
            std::vector<std::size_t> rows;
            for (const RowTerm& t : terms) rows.push_back(t.row);
            return fmt::format("it is a combination of {} with coefficients that vary", names(rows));
        }
        std::string text;
        for (const RowTerm& t : terms) {
            std::string c = to_text(g_, t.coefficient);
            const bool negative = c.front() == '-' && c.find(" + ") == std::string::npos && c.find(" - ") == std::string::npos;
            if (negative) c = c.substr(1);
            if (c.find(" + ") != std::string::npos || c.find(" - ") != std::string::npos) c = "(" + c + ")";
            text += text.empty() ? (negative ? "-" : "") : (negative ? " - " : " + ");
            text += c == "1" ? name(t.row) : c + "*" + name(t.row);
        }
        return name(row) + " = " + text + where_valid(terms);
    }

    // divisors in the coefficients: where one vanishes the rows depend on each other in another way
    [[nodiscard]] std::string where_valid(const std::vector<RowTerm>& terms) const {
        std::vector<NodeId> roots;
        for (const RowTerm& t : terms) roots.push_back(t.coefficient);
        std::set<std::string> divisors;
        Sweep sweep;
        for (const NodeId n : sweep.collect(g_, roots)) {
            if (g_.op(n) != Op::Div) continue;
            const NodeId divisor = g_.operand(n, 1);
            if (depends_on(g_, divisor, SymbolKind::coordinate) || depends_on(g_, divisor, SymbolKind::time))
                divisors.insert(to_text(g_, divisor));
        }
        if (divisors.empty()) return "";
        return fmt::format(", where {} {} not vanish", fmt::join(divisors, ", "), divisors.size() == 1 ? "does" : "do");
    }

    // coefficients by sample, then by row of `rows`
    [[nodiscard]] std::vector<RowTerm> terms(const std::vector<Vector50>& coefficients, const std::vector<std::size_t>& rows,
                                             const Recogniser& recogniser) const {
        std::vector<RowTerm> out;
        for (std::size_t j = 0; j < rows.size(); ++j) {
            Vector50 values;
            for (const Vector50& c : coefficients) values.push_back(c[j]);
            if (largest(values) <= k_zero) continue;
            RowTerm term{rows[j], recogniser(values).value_or(NodeId{}), static_cast<double>(values.front())};
            // a number without a short name
            const bool constant = std::all_of(values.begin(), values.end(), [&](const Digits50& v) {
                return abs(v - values.front()) <= Digits50(1e-28) * abs(values.front());
            });
            if (!term.coefficient.valid() && constant) term.coefficient = g_.constant(term.at_first);
            out.push_back(term);
        }
        return out;
    }

    void dependences() {
        std::vector<std::vector<Vector50>> A;
        for (const auto& state : states_->states) A.push_back(matrix(*states_, state));
        std::vector<std::size_t> independent;
        for (const std::size_t i : order_) {
            std::vector<Vector50> coefficients;
            for (const std::vector<Vector50>& a : A) {
                std::vector<Vector50> others;
                for (const std::size_t j : independent) others.push_back(a[j]);
                auto c = combination(others, a[i]);
                if (!c) break;
                coefficients.push_back(std::move(*c));
            }
            if (coefficients.size() < A.size()) {
                independent.push_back(i);
                continue;
            }
            DependentRow found{i, terms(coefficients, independent, *recogniser_), ""};
            found.sentence = found.terms.empty()
                                 ? fmt::format("row {} restricts no speed", name(i))
                                 : fmt::format("row {} is redundant: {}", name(i), combination_text(i, found.terms));
            out_.dependent.push_back(std::move(found));
        }
        out_.rank = independent.size();
        // what contradicts is no mere redundancy
        std::erase_if(out_.dependent, [&](const DependentRow& row) {
            return std::any_of(out_.contradictory.begin(), out_.contradictory.end(),
                               [&](const ContradictoryRows& c) { return c.row == row.row && c.kind != Contradiction::except; });
        });
        for (const DependentRow& row : out_.dependent) out_.sentences.push_back(row.sentence);
    }

    void contradictions() {
        if (configurations_.size() == 0) return;
        const std::vector<bool> affine = affine_rows(d_, configurations_);
        const Recogniser recogniser(g_, configurations_, recogniser_->atoms());
        std::vector<RowsAt> at;
        std::vector<std::vector<Vector50>> A;
        for (const auto& state : configurations_.states) {
            at.emplace_back(d_, configurations_, state);
            A.push_back(matrix(configurations_, state));
        }
        std::vector<std::size_t> independent;
        for (const std::size_t i : order_) {
            if (!affine[i]) continue;
            std::vector<Vector50> coefficients;
            Vector50 mismatch, position;
            for (std::size_t k = 0; k < A.size(); ++k) {
                std::vector<Vector50> others;
                for (const std::size_t j : independent) others.push_back(A[k][j]);
                auto c = combination(others, A[k][i]);
                if (!c) break;
                const RowValue row = at[k].at(i);
                Digits50 rest = row.value, size = largest(row.gradient) * at[k].speed_size();
                for (std::size_t j = 0; j < independent.size(); ++j) rest -= (*c)[j] * at[k].at(independent[j]).value;
                mismatch.push_back(size > 0 ? Digits50(rest / size) : rest);
                if (d_.rows[i].level == Level::position)
                    position.push_back(configurations_.evaluate(g_, std::span(&d_.rows[i].position, 1), k).front());
                coefficients.push_back(std::move(*c));
            }
            if (coefficients.size() < A.size()) {
                independent.push_back(i);
                continue;
            }
            const auto nowhere_zero = [](const Vector50& v) {
                return !v.empty() && std::all_of(v.begin(), v.end(), [](const Digits50& x) { return abs(x) > k_zero; });
            };
            ContradictoryRows found{Contradiction::position, i, terms(coefficients, independent, recogniser), {}, ""};
            std::vector<std::size_t> rows{i};
            for (const RowTerm& t : found.terms) rows.push_back(t.row);
            std::sort(rows.begin(), rows.end());
            if (nowhere_zero(position)) {
                found.sentence = fmt::format(
                    "position rows {} can not hold together: the others leave {} a value other than zero", names(rows), name(i));
            } else if (nowhere_zero(mismatch)) {
                found.mismatch = mismatch_expression(i, found.terms);
                const bool somewhere = consistent_.size() > 0 || vanishes_at_start(i, found.terms);
                found.kind = somewhere ? Contradiction::except : Contradiction::velocity;
                const std::string text = found.mismatch.valid() ? to_text(g_, found.mismatch) : "";
                if (somewhere)
                    found.sentence =
                        fmt::format("rows {} agree only where {}: a condition on positions is hidden in them", names(rows),
                                    text.empty() ? "the configuration is a special one" : text + " = 0");
                else
                    found.sentence = fmt::format("rows {} contradict each other{}", names(rows),
                                                 text.empty() ? "" : fmt::format(": together they say {} = 0", text));
            } else {
                continue;
            }
            out_.sentences.push_back(found.sentence);
            out_.contradictory.push_back(std::move(found));
        }
    }

    // the row minus its combination, with the speeds at zero; invalid where a coefficient has no closed form
    [[nodiscard]] NodeId mismatch_expression(std::size_t row, const std::vector<RowTerm>& terms) const {
        Substitution rest;
        for (const Speed& s : d_.model->speeds) rest.set(s.u, g_.constant(0));
        NodeId sum = d_.rows[row].velocity;
        for (const RowTerm& t : terms) {
            if (!t.coefficient.valid()) return {};
            sum = g_.sub(sum, g_.mul(t.coefficient, d_.rows[t.row].velocity));
        }
        return substitute(g_, sum, rest);
    }

    [[nodiscard]] bool vanishes_at_start(std::size_t row, const std::vector<RowTerm>& terms) const {
        const RowsAt at(d_, consistent_, consistent_.start);
        std::vector<Vector50> others;
        for (const RowTerm& t : terms) others.push_back(at.at(t.row).gradient);
        const RowValue value = at.at(row);
        const auto c = combination(others, value.gradient, k_start_bar);
        if (!c) return false;
        Digits50 rest = value.value, size = largest(value.gradient) * at.speed_size();
        for (std::size_t j = 0; j < terms.size(); ++j) rest -= (*c)[j] * at.at(terms[j].row).value;
        return abs(rest) <= Digits50(1e-9) * size;
    }

    void at_start() {
        const std::vector<Vector50> A = matrix(consistent_, consistent_.start);
        std::vector<Vector50> ordered;
        for (const std::size_t i : order_) ordered.push_back(A[i]);
        const std::vector<std::size_t> chosen = independent_rows(ordered, k_start_bar);
        out_.rank_at_start = chosen.size();
        if (out_.rank_at_start >= out_.rank) return;
        for (std::size_t k = 0; k < order_.size(); ++k) {
            const std::size_t i = order_[k];
            const bool generic =
                std::any_of(out_.dependent.begin(), out_.dependent.end(), [&](const DependentRow& row) { return row.row == i; });
            if (!generic && std::find(chosen.begin(), chosen.end(), k) == chosen.end()) out_.dependent_at_start_only.push_back(i);
        }
        out_.sentences.push_back(fmt::format(
            "at the start {} of {} rows are independent, elsewhere {}: there {} {} on the others", out_.rank_at_start, m_,
            out_.rank, names(out_.dependent_at_start_only), out_.dependent_at_start_only.size() == 1 ? "depends" : "depend"));
    }

    // --- what is left of the multipliers

    struct Place {
        std::string name;
        bool torque;
        std::vector<std::pair<std::size_t, std::array<NodeId, 3>>> directions;  // row, components in the Newtonian frame
    };

    void forces() {
        if (out_.rank == m_) return;
        std::vector<std::size_t> rows;
        for (std::size_t i = 0; i < m_; ++i)
            if (!d_.rows[i].by_actuators) rows.push_back(i);
        // null vectors of A' at each sample, by row of `rows`
        std::vector<std::vector<Vector50>> null;
        for (const auto& state : states_->states) {
            const std::vector<Vector50> A = matrix(*states_, state);
            Vector50 transposed;
            for (std::size_t j = 0; j < n_; ++j)
                for (const std::size_t i : rows) transposed.push_back(A[i][j]);
            null.push_back(DenseRank(std::move(transposed), rows.size()).null_space());
        }
        if (std::all_of(null.begin(), null.end(), [](const auto& vectors) { return vectors.empty(); })) return;
        for (std::size_t i = 0; i < rows.size(); ++i) {
            bool unique = true;
            for (const auto& vectors : null)
                for (const Vector50& v : vectors) unique = unique && abs(v[i]) <= k_zero * largest(v);
            (unique ? out_.determinate : out_.indeterminate).push_back(rows[i]);
        }
        for (const Place& place : places()) {
            bool unique = true;
            std::vector<NodeId> roots;
            for (const auto& [row, w] : place.directions) roots.insert(roots.end(), w.begin(), w.end());
            for (std::size_t k = 0; k < null.size(); ++k) {
                const Vector50 w = states_->evaluate(g_, roots, k);
                const Digits50 size = largest(w);
                for (const Vector50& v : null[k])
                    for (std::size_t axis = 0; axis < 3; ++axis) {
                        Digits50 sum(0);
                        for (std::size_t p = 0; p < place.directions.size(); ++p) {
                            const auto at = std::find(rows.begin(), rows.end(), place.directions[p].first);
                            if (at != rows.end()) sum += v[static_cast<std::size_t>(at - rows.begin())] * w[3 * p + axis];
                        }
                        unique = unique && abs(sum) <= k_zero * largest(v) * size;
                    }
            }
            out_.forces.push_back({place.name, place.torque, unique});
        }
        force_sentences();
    }

    [[nodiscard]] std::vector<Place> places() const {
        std::vector<Place> out;
        const std::vector<ConstraintForces> all = row_forces(d_);
        const auto add = [&](const std::string& name, bool torque, std::size_t row, NodeId vector) {
            Kinematics& kin = *d_.kinematics;
            const Vec3 w = kin.frames().express(kin.resolve_vector(vector), Model::newtonian());
            auto found =
                std::find_if(out.begin(), out.end(), [&](const Place& p) { return p.name == name && p.torque == torque; });
            if (found == out.end()) found = out.insert(out.end(), {name, torque, {}});
            found->directions.push_back({row, w.c});
        };
        for (std::size_t i = 0; i < all.size(); ++i) {
            if (d_.rows[i].by_actuators) continue;
            for (const ForceDirection& f : all[i].forces) add(place_name(*d_.model, f), false, i, f.W);
            for (const TorqueDirection& t : all[i].torques) add(body_name(*d_.model, t.body), true, i, t.tau);
        }
        return out;
    }

    void force_sentences() {
        std::vector<std::string> lost;
        for (const std::size_t i : out_.indeterminate) lost.push_back("lambda(" + d_.rows[i].name + ")");
        std::string sentence = fmt::format(
            "{} {} not unique: {}; the motion and the generalized forces of the constraints are",
            out_.indeterminate.size() == 1 ? "one multiplier" : fmt::format("{} multipliers", out_.indeterminate.size()),
            out_.indeterminate.size() == 1 ? "is" : "are", listed(lost));
        std::vector<std::string> kept;
        for (const std::size_t i : out_.determinate) kept.push_back("lambda(" + d_.rows[i].name + ")");
        if (!kept.empty()) sentence += fmt::format(", and so {} {}", kept.size() == 1 ? "is" : "are", listed(kept));
        out_.sentences.push_back(sentence);
        for (const bool unique : {true, false}) {
            std::vector<std::string> what;
            for (const DeterminateForce& f : out_.forces)
                if (f.determinate == unique) what.push_back((f.torque ? "torque on " : "force on ") + f.place);
            if (!what.empty())
                out_.sentences.push_back(fmt::format("of all constraints together, the {} {} {}", listed(what),
                                                     what.size() == 1 ? "is" : "are", unique ? "unique" : "not unique"));
        }
    }

    // --- points that can not move

    struct Mover {
        std::string name;
        std::array<NodeId, 3> velocity;
    };

    void resting() {
        const std::vector<bool> affine = affine_rows(d_, consistent_);
        std::vector<std::size_t> nonlinear;
        for (std::size_t i = 0; i < m_; ++i)
            if (!affine[i] && d_.rows[i].velocity.valid()) nonlinear.push_back(i);
        if (nonlinear.size() < 2) return;
        Kinematics& kin = *d_.kinematics;
        std::vector<Mover> movers;
        const auto add = [&](PointId point) {
            const Vec3 v = kin.frames().express(kin.velocity(point), Model::newtonian());
            movers.push_back({d_.model->point(point).name, v.c});
        };
        for (const Particle& p : d_.model->particles) add(p.point);
        for (const Body& b : d_.model->bodies) add(b.center);
        std::erase_if(movers, [&](const Mover& mover) { return !may_move(mover, affine); });
        const auto resting_at = [&](const Samples& samples, std::size_t k) {
            std::set<std::string> out;
            const RowsAt at(d_, samples, samples.states[k]);
            for (const Mover& mover : movers)
                if (largest(samples.evaluate(g_, mover.velocity, k)) <= k_zero * at.speed_size()) out.insert(mover.name);
            return out;
        };
        std::set<std::string> some;
        for (std::size_t k = 0; k < consistent_.size(); ++k) {
            const std::set<std::string> now = resting_at(consistent_, k);
            if (now.empty()) return;
            some.insert(now.begin(), now.end());
        }
        // the samples may be on several branches: the start's own is found near it
        const Samples near = states_near_start(d_, consistent_);
        for (const Mover& mover : movers) {
            bool rests = near.size() > 0;
            for (std::size_t k = 0; k < near.size() && rests; ++k) rests = resting_at(near, k).count(mover.name) > 0;
            if (rests) out_.rests.push_back(mover.name);
        }
        if (!out_.rests.empty())
            out_.sentences.push_back(
                fmt::format("{} can not move where the rows {} hold, near the start", listed(out_.rests), names(nonlinear)));
        if (const auto found = resting_anywhere(movers)) {
            some.insert(found->begin(), found->end());
            out_.one_rests.assign(some.begin(), some.end());
            out_.sentences.push_back(fmt::format("in every solution found of these rows a velocity vanishes: that of {}",
                                                 listed(out_.one_rests, "or")));
        }
    }

    // do the linear rows let it move?
    [[nodiscard]] bool may_move(const Mover& mover, const std::vector<bool>& affine) const {
        const RowsAt at(d_, consistent_, consistent_.states.front());
        std::vector<Vector50> rows;
        for (std::size_t i = 0; i < m_; ++i)
            if (affine[i]) rows.push_back(at.at(i).gradient);
        const std::vector<Vector50> free = [&] {
            Vector50 flat;
            for (const Vector50& row : rows) flat.insert(flat.end(), row.begin(), row.end());
            return DenseRank(std::move(flat), n_).null_space();
        }();
        std::vector<Digits50> values = consistent_.values(g_, consistent_.states.front());
        const Vector50 here = evaluate<Digits50>(g_, mover.velocity, values);
        Draws draws(19);
        for (const Vector50& direction : free) {
            const double step = 1 + draws.symmetric() / 2;
            for (std::size_t j = 0; j < n_; ++j) values[d_.model->speeds[j].u.index()] += step * direction[j];
        }
        const Vector50 there = evaluate<Digits50>(g_, mover.velocity, values);
        for (std::size_t axis = 0; axis < 3; ++axis)
            if (abs(there[axis] - here[axis]) > k_zero) return true;
        return false;
    }

    // Solutions from random velocities at the samples' configurations. The movers of which at least one rests in each; none where
    // there is a solution in which all move.
    [[nodiscard]] std::optional<std::set<std::string>> resting_anywhere(const std::vector<Mover>& movers) const {
        std::set<std::string> out;
        if (n_ > k_most_speeds_searched) return std::nullopt;
        Draws draws(23);
        int solutions = 0;
        for (int tries = 0; tries < 40 && solutions < 16; ++tries) {
            const auto& state = consistent_.states[static_cast<std::size_t>(tries) % consistent_.size()];
            const RowsAt at(d_, consistent_, state);
            Vector50 u(n_);
            for (Digits50& x : u) x = at.speed_size() * draws.symmetric();
            bool close = false, good = false;
            for (int iteration = 0; iteration < 40 && !good; ++iteration) {
                std::vector<Vector50> rows;
                Vector50 right;
                for (std::size_t i = 0; i < m_; ++i) {
                    if (!d_.rows[i].velocity.valid()) continue;
                    RowValue value = at.at(i, u);
                    rows.push_back(std::move(value.gradient));
                    right.push_back(-value.value);
                }
                const auto step = least_solution(rows, right, n_);
                if (!step || !is_finite(largest(*step))) break;
                for (std::size_t j = 0; j < n_; ++j) u[j] += (*step)[j];
                good = close;
                close = largest(*step) < 1e-25;
            }
            if (!good) continue;
            ++solutions;
            std::vector<Digits50> values = consistent_.values(g_, state);
            for (std::size_t j = 0; j < n_; ++j) values[d_.model->speeds[j].u.index()] = u[j];
            bool any = false;
            for (const Mover& mover : movers)
                if (largest(evaluate<Digits50>(g_, mover.velocity, values)) <= k_zero) {
                    out.insert(mover.name);
                    any = true;
                }
            if (!any) return std::nullopt;
        }
        if (solutions < 4) return std::nullopt;
        return out;
    }

    const ConstrainedDynamics& d_;
    Graph& g_;
    std::size_t n_, m_;
    const Samples& consistent_;
    const Samples configurations_;
    const Samples* states_ = nullptr;
    std::unique_ptr<Recogniser> recogniser_;
    std::vector<std::size_t> order_;
    Redundancy out_;
};

}  // namespace

Redundancy find_redundancy(const ConstrainedDynamics& dynamics, const Samples& samples) {
    return Search(dynamics, samples).run();
}

}  // namespace appell
