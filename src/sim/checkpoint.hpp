// A run in the middle, as named lists of numbers: what must be known to go on as if nothing had happened. Every class that takes
// part lists what it remembers from one step to the next in one function, checkpoint(), which serves both ways: it puts the
// numbers into an empty checkpoint, and takes them out of a filled one.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace appell {

class Checkpoint {
public:
    using Values = std::map<std::string, std::vector<double>>;

    Checkpoint() = default;                                                               // to be filled
    explicit Checkpoint(Values values) : values_(std::move(values)), restoring_(true) {}  // to be taken out of

    void operator()(std::string_view name, double& value);
    void operator()(std::string_view name, std::size_t& value);  // exact up to 2^53
    void operator()(std::string_view name, bool& value);
    void operator()(std::string_view name, std::vector<double>& values);

    [[nodiscard]] bool restoring() const { return restoring_; }
    // false once a number was missing, or a list had another length: the checkpoint is not one of this run
    [[nodiscard]] bool fits() const { return fits_; }
    [[nodiscard]] const Values& values() const { return values_; }

private:
    double* find(std::string_view name, std::size_t size);

    Values values_;
    bool restoring_ = false, fits_ = true;
};

}  // namespace appell
