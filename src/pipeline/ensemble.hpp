// Many runs of one model: over grids and lists of parameters and start values, and over random draws of them. The model is
// derived once; a member brings its own numbers. Each member is what `run` with the same values set makes of it, whoever computes
// it and whenever: random draws depend on the seed and on the member's place alone.
//
// The caller owns the threads: prepare() is called by one at a time, run() by any number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "lang/value_uses.hpp"
#include "pipeline/lower_motion.hpp"
#include "pipeline/pipeline.hpp"

namespace appell {

struct SweepAxis {
    std::string name;  // parameter, input, size, coordinate x, speed u or rate x', as with --set
    std::vector<double> values;
};

struct SweepDraw {
    enum class Law { uniform, normal };

    std::string name;
    Law law = Law::uniform;
    double first = 0, second = 1;  // the ends, or mean and standard deviation
};

struct SweepPlan {
    std::vector<SweepAxis> over;    // all combinations, the last one changing fastest
    std::vector<SweepDraw> random;  // drawn anew for each member
    std::size_t samples = 1;        // members for each combination
    std::uint64_t seed = 1;
    std::vector<std::string> extremes;  // columns whose least and largest value along the rows are told
};

class Ensemble {
public:
    // Problems of the model or of the plan are diagnostics; `quoted`: the texts that they show a place in.
    [[nodiscard]] static Result<Ensemble> make(ModelText text, RunOptions options, SweepPlan plan, SourceSet* quoted = nullptr);

    [[nodiscard]] std::size_t size() const;
    [[nodiscard]] const std::vector<std::string>& swept() const { return swept_; }
    [[nodiscard]] std::vector<double> values(std::size_t member) const;
    // of a result's numbers
    [[nodiscard]] const std::vector<std::string>& columns() const { return columns_; }
    [[nodiscard]] const Model& model() const { return *base_->derivation.model; }
    [[nodiscard]] const Derivation& derivation() const { return base_->derivation; }

    struct Prepared {
        std::size_t member = 0;
        std::vector<double> values;
        std::optional<StartNumbers> numbers;  // of the motion that all share; none: the member is derived by itself
        SimulateOptions options;              // with the numbers: the length of a run may follow from a parameter
        std::string problem;                  // the first diagnostic, where there is nothing to run
        bool out_of_memory = false;           // which it may have for itself
    };
    [[nodiscard]] Prepared prepare(std::size_t member);

    struct Outcome {
        std::size_t member = 0;
        std::vector<double> values;
        std::string reason;           // of the end
        std::vector<double> numbers;  // empty where there are no rows
        bool out_of_memory = false;   // which members that ran at the same time shared
    };
    [[nodiscard]] Outcome run(const Prepared& member, const Progress& progress, Neighbours* neighbours = nullptr) const;
    // Calls `work` several times at once on this thread, at most so many, so that the members that it runs with these neighbours
    // are evaluated in lanes; once, where lanes do not serve. The outcomes are the same, to the last bit.
    void in_lanes(std::size_t at_most, const std::function<void(Neighbours*)>& work) const;

private:
    struct Base {
        std::shared_ptr<const Model> shape;  // as it was read
        // The same with the values of the member that was prepared last, where a member differs from another in these values and
        // in nothing else.
        std::optional<Model> numbers;
        ValueUses uses;
        Derivation derivation;
        LoweredMotion lowered;
        // Copies of the motion, each for one member at a time: to copy programs takes longer than some steps.
        std::mutex mutex;
        std::vector<std::unique_ptr<Motion>> spare;
    };
    [[nodiscard]] std::unique_ptr<Motion> take_motion() const;
    void give_back(std::unique_ptr<Motion> motion) const;

    void read_numbers(Prepared& member);
    [[nodiscard]] ReadOptions read_options(const std::vector<double>& values) const;

    ModelText text_;
    RunOptions run_;
    SweepPlan plan_;
    std::vector<std::string> swept_, columns_;
    std::vector<std::string> finals_, extremes_;  // names of columns
    bool own_partition_ = false;                  // chosen at each start: every member is derived by itself
    std::shared_ptr<Base> base_;
};

}  // namespace appell
