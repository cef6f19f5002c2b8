// Runs a model of the gallery, or a text, through the pipeline as a user would.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "pipeline/pipeline.hpp"

namespace appell {

inline std::string gallery_text(const std::string& name) {
    std::string path = APPELL_SOURCE_DIR;
    path += "/gallery/";
    path += name;
    path += ".appell";
    std::ifstream file(path);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

inline Derivation derive_text(const std::string& text, ReadOptions options = {}) {
    return derive({"model.appell", text, [](const std::string&) { return std::nullopt; }, std::move(options)});
}

struct TextRun {
    Derivation derivation;
    Run run;

    [[nodiscard]] std::size_t column(const std::string& name) const {
        for (std::size_t i = 0; i < run.columns.size(); ++i)
            if (run.columns[i] == name) return i;
        ADD_FAILURE() << "no column " << name;
        return 0;
    }
    [[nodiscard]] double at(std::size_t row, const std::string& name) const { return run.at(row, column(name)); }
};

inline TextRun run_text(const std::string& text, const RunOptions& options = {}, ReadOptions read = {}) {
    TextRun out{derive_text(text, std::move(read)), {}};
    EXPECT_TRUE(out.derivation.ok()) << render(out.derivation.diagnostics, out.derivation.sources);
    if (auto result = run(out.derivation, options)) out.run = std::move(*result);
    EXPECT_FALSE(out.derivation.diagnostics.has_errors()) << render(out.derivation.diagnostics, out.derivation.sources);
    EXPECT_GT(out.run.rows(), 0u);
    return out;
}

}  // namespace appell
