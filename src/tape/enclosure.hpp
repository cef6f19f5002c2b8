// A program in intervals: enclosures of its outputs, and of how they change with time, where the inputs move inside intervals and
// change at rates inside intervals. Operations and their slopes are those of the operation table. Solve blocks that are small and
// regular are enclosed by their midpoint's inverse; where one is not regular over the whole interval, what depends on it is
// unbounded, and smaller intervals may do better. All memory is taken at construction.
#pragma once

#include <span>
#include <vector>

#include <Eigen/Dense>

#include "tape/interval.hpp"
#include "tape/program.hpp"

namespace appell {

// a number along an interval of time
struct MovingInterval {
    Interval value, rate;
};

class Enclosure {
public:
    // The program must outlive it.
    explicit Enclosure(const Program& program);

    // Opaque functions, large solves and those whose laws depend on their own unknowns can not be enclosed.
    [[nodiscard]] static bool serves(const Program& program);

    // of inputs that do not move: parameters
    void set_constant(std::size_t input, double value);
    // all others, before every run
    void set(std::size_t input, const MovingInterval& value) { slots_[input] = value; }
    void run();
    [[nodiscard]] std::span<const MovingInterval> outputs() const { return outputs_; }

private:
    // M x - A' lambda = f, A x = b as one matrix; or the matrix of a linear block
    struct Solve {
        Solve() = default;
        explicit Solve(std::size_t size);

        std::size_t size = 0;
        std::vector<MovingInterval> matrix, right;  // row by row
        Eigen::MatrixXd middle, inverse;
        Eigen::PartialPivLU<Eigen::MatrixXd> lu;
        std::vector<Interval> excess;  // 1 - inverse * matrix
        std::vector<Interval> value, rate, product;
        double excess_norm = 0;
    };

    void execute(const Segment& segment);
    void execute(const InstructionRun& run);
    void solve(const SolveBlock& block, Solve& work);
    // what enters a column of unknowns: matrix and right side from the slots
    void assemble(const SolveBlock& block, Solve& work) const;
    bool factor(Solve& work) const;
    // x with matrix * x = right, where `right` is in `product`
    void enclose(Solve& work, std::vector<Interval>& x) const;

    const Program* program_;
    std::vector<MovingInterval> slots_, outputs_;
    std::vector<Solve> solves_;
    bool settled_ = false;  // what depends on parameters alone is computed
};

}  // namespace appell
