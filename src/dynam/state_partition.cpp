#include "dynam/state_partition.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "dynam/column_choice.hpp"
#include "expr/evaluate.hpp"

namespace appell {

namespace {

using Indices = std::vector<std::uint32_t>;

bool contains(const Indices& v, std::uint32_t i) { return std::find(v.begin(), v.end(), i) != v.end(); }

// some rows of a matrix
SparseMatrix rows_of(const SparseMatrix& A, const Indices& rows) {
    SparseMatrix out{rows.size(), A.columns, {}};
    for (const SparseEntry& e : A.entries)
        if (const auto at = std::find(rows.begin(), rows.end(), e.row); at != rows.end())
            out.entries.push_back({static_cast<std::uint32_t>(at - rows.begin()), e.column, e.value});
    return out;
}

class Partitioning {
public:
    Partitioning(const ConstrainedDynamics& d, std::span<const double> values)
        : d_(d), m_(*d.model), values_(values), nq_(m_.coordinates.size()), nu_(m_.speeds.size()) {
        for (std::uint32_t i = 0; i < d.rows.size(); ++i) {
            if (d.rows[i].level == Level::position) position_.push_back(i);
            if (d.rows[i].level != Level::acceleration) velocity_.push_back(i);
        }
        in_quaternion_.assign(nq_, false);
        for (const Frame& frame : m_.frames)
            if (const auto* q = std::get_if<QuaternionRotation>(&frame.orientation))
                for (const std::size_t i : q->coordinates) in_quaternion_[i] = true;
        measure();
    }

    Result<StatePartition> run() {
        Result<StatePartition> result;
        if (choose_coordinates(result.diagnostics) && choose_speeds(result.diagnostics)) result.value = std::move(out_);
        return result;
    }

private:
    // one unit of a speed by its share of kinetic energy; a speed without inertia is as light as the lightest
    void measure() {
        std::vector<NodeId> entries;
        for (const SparseEntry& e : d_.M().entries) entries.push_back(e.value);
        for (const SparseEntry& e : d_.kinematics->Y().entries) entries.push_back(e.value);
        const std::vector<double> numbers = evaluate<double>(d_.graph(), entries, values_);
        M_.assign(nu_ * nu_, 0);
        for (std::size_t k = 0; k < d_.M().entries.size(); ++k) {
            const SparseEntry& e = d_.M().entries[k];
            M_[e.row * nu_ + e.column] = M_[e.column * nu_ + e.row] = numbers[k];
        }
        Y_.assign(numbers.begin() + static_cast<std::ptrdiff_t>(d_.M().entries.size()), numbers.end());
        lightest_ = std::numeric_limits<double>::infinity();
        for (std::size_t j = 0; j < nu_; ++j)
            if (M_[j * nu_ + j] > 0) lightest_ = std::min(lightest_, M_[j * nu_ + j]);
        for (std::size_t j = 0; j < nu_; ++j) out_.speed_scale.push_back(unit(M_[j * nu_ + j]));
    }

    [[nodiscard]] double unit(double inertia) const {
        const double size = inertia > 0 ? inertia : lightest_;
        return std::isfinite(size) ? 1 / std::sqrt(size) : 1;
    }

    // the same for a coordinate: the inertia of the speeds u = Y q' that its rate alone makes
    [[nodiscard]] double coordinate_scale(std::uint32_t coordinate) const {
        const auto rates = d_.kinematics->independent_rates();
        const auto at = std::find(rates.begin(), rates.end(), m_.coordinates[coordinate].rate);
        std::vector<double> u(nu_, 0);
        const std::vector<SparseEntry>& entries = d_.kinematics->Y().entries;
        for (std::size_t k = 0; k < entries.size(); ++k)
            if (entries[k].column == static_cast<std::size_t>(at - rates.begin())) u[entries[k].row] = Y_[k];
        double inertia = 0;
        for (std::size_t i = 0; i < nu_; ++i)
            for (std::size_t j = 0; j < nu_; ++j) inertia += u[i] * M_[i * nu_ + j] * u[j];
        return unit(inertia);
    }

    [[nodiscard]] bool held(std::uint32_t speed) const { return contains(d_.independent, speed); }

    static Indices at(const Indices& rows, const Indices& places) {
        Indices out;
        for (const std::uint32_t place : places) out.push_back(rows[place]);
        return out;
    }

    bool choose_coordinates(Diagnostics& diagnostics) {
        Graph& g = d_.graph();
        std::vector<NodeId> phi;
        for (const std::uint32_t row : position_) phi.push_back(d_.rows[row].position);
        std::vector<SymbolId> q;
        for (const Coordinate& c : m_.coordinates) q.push_back(c.q);
        // columns: the coordinates, then the speeds along which quaternions turn
        const SparseMatrix along_speeds = rows_of(d_.A, position_);
        SparseMatrix matrix = jacobian(g, phi, q);
        matrix.columns = nq_ + nu_;
        for (const SparseEntry& e : along_speeds.entries)
            matrix.entries.push_back({e.row, static_cast<std::uint32_t>(nq_ + e.column), e.value});
        std::stable_sort(matrix.entries.begin(), matrix.entries.end(),
                         [](const SparseEntry& a, const SparseEntry& b) { return a.row < b.row; });
        ColumnRules rules{std::vector<bool>(nq_ + nu_, false), {}};
        for (std::uint32_t i = 0; i < nq_; ++i) {
            const auto speed = d_.speed_of(m_.coordinates[i].rate);
            rules.allowed[i] = !in_quaternion_[i] && !(speed && held(*speed));
        }
        const std::size_t needed = rank_at(g, along_speeds, values_);
        ColumnChoice choice = choose_columns(g, matrix, values_, rules);
        if (choice.columns.size() < needed) {
            for (const SparseEntry& e : d_.kinematics->K().entries)
                if (in_quaternion_[e.row] && !held(e.column)) rules.allowed[nq_ + e.column] = true;
            rules.first = choice.columns;
            choice = choose_columns(g, matrix, values_, rules);
        }
        if (choice.columns.size() < needed) return refuse(diagnostics, "the position rows leave no coordinate to solve for");
        out_.position_rows = at(position_, choice.rows);
        out_.solved_position_rows = choice.takes_turns ? position_ : out_.position_rows;
        for (const std::uint32_t column : choice.columns) {
            const bool turn = column >= nq_;
            const auto index = static_cast<std::uint32_t>(turn ? column - nq_ : column);
            out_.directions.push_back({turn, index, turn ? out_.speed_scale[index] : coordinate_scale(index)});
        }
        for (std::uint32_t i = 0; i < nq_; ++i)
            if (!contains(choice.columns, i)) out_.coordinates.push_back(i);
        return true;
    }

    bool choose_speeds(Diagnostics& diagnostics) {
        Graph& g = d_.graph();
        const SparseMatrix A = rows_of(d_.A, velocity_);
        ColumnRules rules{std::vector<bool>(nu_, d_.independent.empty()), {}};
        for (const std::uint32_t j : d_.dependent) rules.allowed[j] = true;
        for (const StatePartition::Direction& direction : out_.directions) {
            const auto speed = direction.turn ? direction.index : d_.speed_of(m_.coordinates[direction.index].rate);
            if (speed) rules.first.push_back(*speed);
        }
        const ColumnChoice choice = choose_columns(g, A, values_, rules);
        const std::size_t needed = rank_at(g, A, values_);
        // the user's dependent speeds may wait for rows on accelerations, but for nothing else
        const bool all_on_velocities = velocity_.size() == d_.rows.size();
        if (choice.columns.size() < needed || (all_on_velocities && d_.dependent.size() > needed))
            return refuse(diagnostics, "the chosen independent speeds do not determine the others at the start");
        out_.velocity_rows = at(velocity_, choice.rows);
        out_.solved_velocity_rows = choice.takes_turns ? velocity_ : out_.velocity_rows;
        out_.dependent_speeds = choice.columns;
        for (std::uint32_t j = 0; j < nu_; ++j)
            if (!contains(choice.columns, j)) out_.speeds.push_back(j);
        return true;
    }

    bool refuse(Diagnostics& diagnostics, std::string message) const {
        std::vector<std::string> names;
        for (const std::uint32_t j : d_.independent) names.push_back(m_.speeds[j].name);
        diagnostics.add({Code::E0817, m_.independent_span, std::move(message),
                         names.empty() ? std::string() : fmt::format("independent {}", fmt::join(names, ", ")),
                         "a choice whose dependent speeds follow from the constraints", "choose other independent speeds"});
        return false;
    }

    const ConstrainedDynamics& d_;
    const Model& m_;
    std::span<const double> values_;
    std::size_t nq_, nu_;
    Indices position_, velocity_;  // rows of each level
    std::vector<bool> in_quaternion_;
    std::vector<double> M_, Y_;
    double lightest_ = 0;
    StatePartition out_;
};

}  // namespace

Result<StatePartition> choose_state_partition(const ConstrainedDynamics& dynamics, std::span<const double> values) {
    return Partitioning(dynamics, values).run();
}

}  // namespace appell
