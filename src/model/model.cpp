#include "model/model.hpp"

#include <algorithm>

namespace appell {

bool Model::switches() const {
    return !frictions.empty() || !events.empty() || std::any_of(constraints.begin(), constraints.end(), [](const Constraint& c) {
        return c.unilateral || c.off_at_start;
    });
}

}  // namespace appell
