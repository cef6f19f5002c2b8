// Exported code at work: written to a folder, compiled by a compiler of the machine, and asked for everything at given states.
#pragma once

#include <gtest/gtest.h>

#include <sys/wait.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "emit/exported_model.hpp"
#include "emit/identifiers.hpp"
#include "emit/runtime_text.hpp"

namespace appell {

struct ProbeState {
    double t = 0;
    std::vector<double> x, p;
};

// by function, its status and what it wrote; by state
struct ProbeAnswer {
    int status = 0;
    std::vector<double> values;
};
using ProbeAnswers = std::vector<std::map<std::string, ProbeAnswer>>;

// C that is C++, too: numbers in and out in hexadecimal, so that no bit is lost
inline constexpr const char* k_probe = R"(
#include <stdio.h>
#include <stdlib.h>
INCLUDE_HEADER

static double y[LENGTH];

static void show(const char *name, int status, int count) {
    int i;
    printf("%s %d %d", name, status, count);
    for (i = 0; i < count; ++i) printf(" %a", y[i]);
    printf("\n");
}

static int read_numbers(double *v, int n) {
    int i;
    for (i = 0; i < n; ++i) {
        char word[64];
        if (scanf("%63s", word) != 1) return 0;
        v[i] = strtod(word, 0);
    }
    return 1;
}

int main(void) {
    static MODEL_work w;
    double t, x[MODEL_STATES], z[MODEL_STATES], p[MODEL_PARAMETERS + 1];
    int i, n = MODEL_STATES;
    while (read_numbers(&t, 1) && read_numbers(x, n) && read_numbers(p, MODEL_PARAMETERS)) {
        MODEL_init(&w);
        printf("state 0 0\n");
        show("rate", MODEL_rate(t, x, p, y, &w), n);
        show("multipliers", MODEL_multipliers(t, x, p, y, &w), MODEL_MULTIPLIERS);
        show("forces", MODEL_forces(t, x, p, y, &w), MODEL_FORCES);
        show("outputs", MODEL_outputs(t, x, p, y, &w), MODEL_OUTPUTS);
        show("events", MODEL_events(t, x, p, y, &w), MODEL_EVENTS);
        show("residuals", MODEL_residuals(t, x, p, y, &w), MODEL_RESIDUALS);
        show("energies", MODEL_energies(t, x, p, y, &w), 2);
        show("mass", MODEL_mass(t, x, p, y, &w), MODEL_SPEEDS * MODEL_SPEEDS);
        show("rows", MODEL_rows(t, x, p, y, &w), MODEL_ROWS * MODEL_SPEEDS + MODEL_ROWS);
        show("jacobian", MODEL_jacobian(t, x, p, y, &w), n * n);
        for (i = 0; i < n; ++i) y[i] = x[i];
        show("project", MODEL_project(t, y, p, &w), n);
        for (i = 0; i < n; ++i) y[i] = x[i];
        show("start", MODEL_start(t, y, p, &w), n);
        for (i = 0; i < n; ++i) z[i] = y[i];
        show("rate at start", MODEL_rate(t, z, p, y, &w), n);
    }
    return 0;
}
)";

inline std::string with_words(std::string text, const std::string& from, const std::string& to) {
    for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) text.replace(at, from.size(), to);
    return text;
}

class ExportedCode {
public:
    // the folder is removed in the end
    ExportedCode(const ExportedModel& model, ExportLanguage language, std::size_t most_statements = 2000) : language_(language) {
        std::string folder = (std::filesystem::temp_directory_path() / "appell-export-XXXXXX").string();
        EXPECT_NE(::mkdtemp(folder.data()), nullptr);
        folder_ = folder;
        name_ = as_identifier(model.name);
        for (const ExportedFile& file : emit_model(model, {language, most_statements})) write(file.name, file.text);
        std::string probe =
            with_words(k_probe, "INCLUDE_HEADER",
                       fmt::format("#include \"{}_model.{}\"", name_, language == ExportLanguage::c ? "h" : "hpp"));
        // a model that is too large for its jacobian is not asked for matrices
        if (model.jacobian.program.outputs.empty())
            for (const char* matrix : {"mass", "rows", "jacobian"}) {
                const std::size_t at = probe.find(fmt::format("        show(\"{}\"", matrix));
                probe.erase(at, probe.find('\n', at) + 1 - at);
            }
        const std::size_t n = model.states.size(), m = model.rows.size();
        probe = with_words(std::move(probe), "LENGTH",
                           std::to_string(n * n + m * n + m + model.forces.size() + model.outputs.size() + 10));
        write(language == ExportLanguage::c ? "probe.c" : "probe.cpp",
              with_prefix(std::move(probe), language == ExportLanguage::c ? name_ + "_" : name_ + "_model::"));
    }
    ExportedCode(const ExportedCode&) = delete;
    ExportedCode& operator=(const ExportedCode&) = delete;
    ~ExportedCode() { std::filesystem::remove_all(folder_); }

    // warnings are errors; what the compiler says is in the test's message
    bool compile(const std::string& compiler, const std::string& options = "-O1") const {
        const bool c = language_ == ExportLanguage::c;
        const std::string sources = c ? "probe.c " + name_ + "_model.c" : "probe.cpp";
        return shell(fmt::format("{} -std={} -pedantic -Wall -Wextra -Werror -ffp-contract=off {} -o probe {} -lm", compiler,
                                 c ? "c99" : "c++17", options, sources));
    }

    [[nodiscard]] ProbeAnswers ask(const std::vector<ProbeState>& states) const {
        std::string in;
        for (const ProbeState& s : states) {
            in += fmt::format("{:a}", s.t);
            for (const std::vector<double>* list : {&s.x, &s.p})
                for (const double v : *list) in += fmt::format(" {:a}", v);
            in += "\n";
        }
        write("in.txt", in);
        EXPECT_TRUE(shell("./probe <in.txt >out.txt"));
        ProbeAnswers out;
        std::ifstream answers(folder_ / "out.txt");
        for (std::string line; std::getline(answers, line);) {
            // a name may have blanks; it ends where the numbers begin
            const std::size_t end = line.find_first_of("-0123456789");
            std::istringstream words(line.substr(end));
            const std::string name = line.substr(0, end - 1);
            if (name == "state") {
                out.emplace_back();
                continue;
            }
            ProbeAnswer answer;
            std::size_t count = 0;
            words >> answer.status >> count;
            for (std::string word; words >> word;) answer.values.push_back(std::strtod(word.c_str(), nullptr));
            EXPECT_EQ(answer.values.size(), count) << line;
            out.back()[name] = std::move(answer);
        }
        return out;
    }

    bool shell(const std::string& command) const {
        const int status = std::system(fmt::format("cd '{}' && {} 2>log.txt", folder_.string(), command).c_str());
        const bool good = WIFEXITED(status) && WEXITSTATUS(status) == 0;
        EXPECT_TRUE(good) << command << "\n" << read("log.txt").substr(0, 3000);
        return good;
    }
    [[nodiscard]] std::string read(const std::string& name) const {
        std::ifstream file(folder_ / name, std::ios::binary);
        std::ostringstream text;
        text << file.rdbuf();
        return text.str();
    }
    void write(const std::string& name, const std::string& text) const {
        std::ofstream(folder_ / name, std::ios::binary) << text;
    }

private:
    ExportLanguage language_;
    std::filesystem::path folder_;
    std::string name_;
};

inline bool has_command(const std::string& command) {
    return std::system(("command -v " + command + " >/dev/null 2>&1").c_str()) == 0;
}

// units in the last place between two numbers; 0 for two that are not finite
inline double ulps(double a, double b) {
    if (a == b || (!(a - a == 0) && !(b - b == 0))) return 0;
    if (!(a - a == 0) || !(b - b == 0)) return HUGE_VAL;
    // doubles in their order, as whole numbers
    const auto order = [](double v) {
        const auto bits = std::bit_cast<std::uint64_t>(v);
        return v < 0 ? 0x8000000000000000u - (bits & 0x7fffffffffffffffu) : 0x8000000000000000u + bits;
    };
    const std::uint64_t first = order(a), second = order(b);
    return static_cast<double>(first < second ? second - first : first - second);
}

}  // namespace appell
