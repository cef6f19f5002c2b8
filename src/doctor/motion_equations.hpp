// The residual form of a system's equations with all its jacobians as one program, and its numbers with fifty digits at a point
// (linearization.hpp has the equations). What varies: the configuration, by coordinates and by turns of quaternion frames in the
// order of Kinematics::independent_rates, then the speeds.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include <boost/multiprecision/eigen.hpp>

#include <Eigen/Core>

#include "doctor/linearization.hpp"
#include "tape/program.hpp"
#include "tape/workspace.hpp"

namespace appell {

using Matrix50 = Eigen::Matrix<Digits50, Eigen::Dynamic, Eigen::Dynamic>;
using Column50 = Eigen::Matrix<Digits50, Eigen::Dynamic, 1>;

struct MotionNumbers {
    EvalReport report;
    bool finite = false;
    bool limit = false;    // what the numbers around the point tend to: there are kinks there, or gaps, that are removable
    Column50 speed_rates;  // u'
    Column50 rates;        // of the configuration: q' and w
    Column50 phi, psi;     // position rows; all rows on velocities
    Column50 multipliers, actuators;
    Column50 kinks;          // arguments of sign, abs and their like
    Matrix50 R_z, R_x, R_w;  // columns of R_z: u' first
    Matrix50 G;              // rates by configuration and speeds
    Matrix50 P;              // position rows by configuration
    Matrix50 V;              // rows on velocities by configuration and speeds
    Matrix50 M, Y;           // inertia; speeds by rates
};

// the same of the rows alone, in doubles
struct RoughRows {
    Eigen::VectorXd phi, psi;
    Eigen::MatrixXd P, V;
};

class MotionEquations {
public:
    // `free`: magnitudes of actuators that are inputs here
    MotionEquations(const ConstrainedDynamics& dynamics, std::span<const SymbolId> free);
    MotionEquations(const MotionEquations&) = delete;
    MotionEquations& operator=(const MotionEquations&) = delete;

    // t, q, u, parameters, inputs, free actuators
    [[nodiscard]] MotionNumbers at(std::span<const Digits50> point);
    // phi, psi, P and V alone, which is a small part of the work; not for equations with kinks, whose limits `at` takes
    [[nodiscard]] MotionNumbers rows_at(std::span<const Digits50> point);
    // the way to a point on them needs no more; none where a number is not finite
    [[nodiscard]] std::optional<RoughRows> rough_rows_at(std::span<const Digits50> point);
    // at the zero of what sign, abs and their like look at
    [[nodiscard]] static bool is_kink(const Digits50& argument);

    [[nodiscard]] const ConstrainedDynamics& dynamics() const { return d_; }
    [[nodiscard]] std::size_t coordinates() const { return nq_; }
    [[nodiscard]] std::size_t speeds() const { return nu_; }  // as many as variations of the configuration
    [[nodiscard]] const std::vector<Variation>& variations() const { return variations_; }          // configuration, speeds
    [[nodiscard]] const std::vector<std::size_t>& position_rows() const { return position_rows_; }  // rows of the dynamics
    [[nodiscard]] const std::vector<std::size_t>& velocity_rows() const { return velocity_rows_; }
    [[nodiscard]] const std::vector<std::string>& inputs() const { return input_names_; }
    [[nodiscard]] const std::vector<NodeId>& kinks() const { return kink_nodes_; }
    [[nodiscard]] bool depends_on_time() const { return depends_on_time_; }
    [[nodiscard]] bool rows_depend_on_inputs() const { return rows_depend_on_inputs_; }

    // q and u of a point moved along the variations; quaternions by a turn
    void move(std::vector<Digits50>& point, const Column50& step) const;
    void normalise(std::vector<Digits50>& point) const;
    // values by symbol of the graph, for what is decided with doubles
    [[nodiscard]] std::vector<double> values(std::span<const Digits50> point) const;

private:
    struct Entries {
        std::size_t rows = 0, columns = 0;
        std::vector<std::pair<std::uint32_t, std::uint32_t>> places;

        template <class T>
        [[nodiscard]] Eigen::MatrixX<T> read(const Workspace<T>& from, const std::string& name) const;
    };

    [[nodiscard]] MotionNumbers evaluate(std::span<const Digits50> point);
    [[nodiscard]] std::optional<MotionNumbers> limit_at(std::span<const Digits50> point);
    Entries add_jacobian(ProgramSpec& spec, const std::string& name, std::span<const NodeId> roots,
                         std::span<const SymbolId> variables);
    void find_kinks(ProgramSpec& spec, std::vector<NodeId> roots);
    template <class T, class Rows>
    void read_rows(const Workspace<T>& from, std::span<const Digits50> point, Rows& out) const;
    template <class T>
    [[nodiscard]] Eigen::MatrixX<T> by_variations(const Eigen::MatrixX<T>& by_x, std::span<const Digits50> point) const;
    template <class T>
    [[nodiscard]] Eigen::MatrixX<T> by_configuration(const Eigen::MatrixX<T>& by_q, std::span<const Digits50> point) const;

    const ConstrainedDynamics d_;
    std::size_t nq_, nu_;
    std::vector<SymbolId> symbols_;  // of a point
    std::vector<Variation> variations_;
    std::vector<std::size_t> position_rows_, velocity_rows_;
    std::vector<std::string> input_names_;
    std::vector<NodeId> kink_nodes_;
    bool depends_on_time_ = false, rows_depend_on_inputs_ = false;
    Entries R_, rates_, phi_, psi_;
    std::size_t unknowns_ = 0, inputs_ = 0;
    Program program_, rows_program_;
    std::unique_ptr<Workspace<Digits50>> workspace_, rows_workspace_;
    std::unique_ptr<Workspace<double>> rough_rows_;
};

}  // namespace appell
