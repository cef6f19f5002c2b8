// Reading models in tests of the language.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "expr/evaluate.hpp"
#include "lang/read_model.hpp"

namespace appell::language_test {

// a complete model around some statements, which begin on line 2
inline std::string with(const std::string& statements) {
    return "system s\n" + statements + "\ncoord x_ = 0 m\nparticle P_ mass 1 kg at O + x_*N.x\n";
}

inline Result<Model> read(const std::string& text, const std::map<std::string, std::string>& files = {},
                          const ReadOptions& options = {}) {
    SourceSet sources;
    const IncludeLoader loader = [&](const std::string& path) -> std::optional<std::string> {
        const auto found = files.find(path);
        return found == files.end() ? std::nullopt : std::optional(found->second);
    };
    return read_model("model.appell", text, loader, options, sources);
}

inline Model read_ok(const std::string& text) {
    SourceSet sources;
    Result<Model> result = read_model("model.appell", text, {}, {}, sources);
    EXPECT_TRUE(result.ok()) << text << "\n" << render(result.diagnostics, sources);
    if (!result.ok()) throw std::runtime_error("the model could not be read");
    return std::move(*result);
}

inline std::string file_text(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    std::stringstream out;
    out << in.rdbuf();
    return out.str();
}

// a scalar without vectors in it; parameters have their values, other symbols those given by name, else zero
inline double value_at(const Model& model, NodeId node, const std::map<std::string, double>& symbols) {
    const Graph& g = *model.graph;
    std::vector<double> values(g.symbol_count(), 0);
    for (const Parameter& p : model.parameters) values[p.symbol.index()] = p.value;
    for (std::size_t i = 0; i < values.size(); ++i)
        if (const auto found = symbols.find(g.symbol(SymbolId(i)).name); found != symbols.end()) values[i] = found->second;
    return evaluate<double>(g, std::span(&node, 1), values).front();
}

}  // namespace appell::language_test
