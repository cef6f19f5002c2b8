// Another value for a quantity of a model that was read, without reading it again.
#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include "lang/read_model.hpp"

namespace appell {

// What the values of parameters were needed for when the model was read.
struct ValueUses {
    std::set<SymbolId> computed_from;            // other numbers of the model were computed from these
    std::vector<NodeId> positive, not_negative;  // what must be so: masses, moments of inertia
};

// read_model, which also tells this
[[nodiscard]] Result<Model> read_model(const std::string& name, const std::string& text, const IncludeLoader& loader,
                                       const ReadOptions& options, SourceSet& sources, ValueUses& uses);

// Puts values where ReadOptions::set would have put them. False where reading the text with them might give something else than
// this model with other numbers: a size, a rate without a start value, a parameter that others were computed from, a mass below
// zero. Some of the values may have been put then.
[[nodiscard]] bool put_values(Model& model, const ValueUses& uses, std::span<const std::string> names,
                              std::span<const double> values);

}  // namespace appell
