// `appell run --resume DIR` resumes a run and does nothing else, whatever stands in DIR.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/content_hash.hpp"
#include "cli/cli_fixture.hpp"
#include "report/run_state.hpp"
#include "support/members.hpp"

namespace appell {
namespace {

using Json = nlohmann::ordered_json;

class Resume : public Cli {
protected:
    void SetUp() override {
        Cli::SetUp();
        write("part.appell", "param c = 0.1\n");
        write("m.appell",
              "system m\nparam k = 4\ninclude \"part.appell\"\ncoord x = 1, y = 0\nparticle P mass 1 at O + x*N.x + y*N.y\n"
              "spring P O stiffness k\nconstraint r: dot(vel(P), N.y) = c*x'\nrun for 20 s, every 0.5 s\nplot x, y\n");
        ASSERT_EQ(call("run m.appell --set k=5 --forces N --at 0.3,7.1 --out whole").code, 0);
        // stopped after some steps: the same state every time
        const Outcome stopped = call("run m.appell --set k=5 --forces N --at 0.3,7.1 --out stopped --limit steps=150");
        ASSERT_EQ(stopped.code, 1) << stopped.out;
        ASSERT_TRUE(fs::exists(folder_ / "stopped/state.json")) << stopped.out;
        state_ = Json::parse(read("stopped/state.json"));
        version_ = state_["appell"].get<std::string>();
    }
    void put_state(const std::string& text) const {
        fs::remove_all(folder_ / "part");
        fs::copy(folder_ / "stopped", folder_ / "part", fs::copy_options::recursive);
        write("part/state.json", text);
        // as if it were the program's own
        auto manifest = Json::parse(read("part/.appell/manifest.json"));
        manifest["files"]["state.json"]["size"] = text.size();
        manifest["files"]["state.json"]["hash"] = fmt::format("{:016x}", content_hash(text));
        write("part/.appell/manifest.json", manifest.dump());
    }
    // with a hash that fits
    static std::string sealed(Json state) {
        state["hash"] = fmt::format("{:016x}", content_hash(state["run"].dump(-1, ' ', false, Json::error_handler_t::replace)));
        return state.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
    }
    Outcome resume() const { return call("run --resume part --limit steps=2000"); }
    // of all files outside of part/
    [[nodiscard]] std::map<std::string, std::string> others() const {
        std::map<std::string, std::string> out;
        for (fs::recursive_directory_iterator entry(folder_), end; entry != end; ++entry) {
            if (entry->path() == folder_ / "part")
                entry.disable_recursion_pending();
            else if (!entry->is_directory())
                out[entry->path().string()] = read(entry->path().lexically_relative(folder_).string());
        }
        return out;
    }
    void expect_whole(const std::string& what) const {
        for (const auto& entry : fs::directory_iterator(folder_ / "whole")) {
            const std::string name = entry.path().filename().string();
            if (name == "summary.json" || name == ".appell") continue;  // the time that was needed
            if (name == "report.html") continue;                        // it shows the limit of the command line
            EXPECT_TRUE(read("part/" + name) == read("whole/" + name)) << name << ", " << what;
        }
        EXPECT_FALSE(fs::exists(folder_ / "part/state.json")) << what;
    }

    Json state_;
    std::string version_;
};

TEST_F(Resume, GoesOnToTheSameEnd) {
    put_state(sealed(state_));
    const Outcome resumed = resume();
    EXPECT_EQ(resumed.code, 0) << resumed.out;
    EXPECT_EQ(resumed.out.find("W0879"), std::string::npos) << resumed.out;
    expect_whole("as it was saved");
    // stopped and resumed again and again, over and over the same folder
    put_state(sealed(state_));
    for (int steps = 180; steps < 260; steps += 20) {
        const Outcome part = call("run --resume part --limit steps=" + std::to_string(steps));
        EXPECT_EQ(part.code, 1) << part.out;
        EXPECT_NE(part.out.find("E0810"), std::string::npos) << part.out;
    }
    EXPECT_EQ(resume().code, 0);
    expect_whole("in many parts");
    // whoever runs it anew hears that a stopped one is there
    put_state(sealed(state_));
    const Outcome anew = call("run m.appell --set k=5 --forces N --at 0.3,7.1 --out part");
    EXPECT_EQ(anew.code, 0) << anew.out;
    EXPECT_NE(anew.out.find("`appell run --resume part` goes on with it instead"), std::string::npos) << anew.out;
    expect_whole("anew");
}

TEST_F(Resume, TakesNoOtherOptions) {
    put_state(sealed(state_));
    const std::string before = read("part/state.json");
    for (const char* more : {" --until 30", " --set k=7", " --out elsewhere", " --rtol 1e-3", " --every 1", " m.appell",
                             " --formulation minimal", " --no-report", " --forces N"}) {
        const Outcome outcome = call("run --resume part" + std::string(more));
        EXPECT_EQ(outcome.code, 2) << more << outcome.out;
        EXPECT_EQ(read("part/state.json"), before);
    }
    EXPECT_FALSE(fs::exists(folder_ / "elsewhere"));
    const Outcome json = call("run --resume part --json --interpret --limit steps=2000", false);
    EXPECT_EQ(json.code, 0);
    EXPECT_TRUE(Json::accept(json.out)) << json.out;
    expect_whole("interpreted");
}

// a state that carries a command line, or anything else that is no option of a run
TEST_F(Resume, CarriesOutNothing) {
    const std::vector<std::pair<std::string, std::string>> hostile{{"--out", "../victim"},
                                                                   {"--out", "/tmp/victim"},
                                                                   {"-o", "victim"},
                                                                   {"--resume", "whole"},
                                                                   {"--force", ""},
                                                                   {"--help", ""},
                                                                   {"-h", ""},
                                                                   {"--version", ""},
                                                                   {"--json", ""},
                                                                   {"FILE", "m.appell"},
                                                                   {"m.appell", ""},
                                                                   {"gallery", "skate"},
                                                                   {"", "skate"},
                                                                   {"format", "m.appell"},
                                                                   {"--", "gallery"},
                                                                   {"--config", "x"},
                                                                   {"--until", "soon"},
                                                                   {"--limit", "steps=-1"},
                                                                   {"--limit", "towels=3"},
                                                                   {"--set", "k"},
                                                                   {"--set", "nothing=1"},
                                                                   {"--integrator", "euler"},
                                                                   {"--rtol", "nan"},
                                                                   {"--every", "never"},
                                                                   {"--at", ""},
                                                                   {"--out=victim", ""},
                                                                   {"--interpret", "gallery"},
                                                                   {"--until", "20 gallery skate"},
                                                                   {"--until", "20\n--out\nvictim"}};
    const auto before = others();
    for (const auto& [name, value] : hostile) {
        Json state = state_;
        state["run"]["options"].push_back(Json::array({name, value}));
        put_state(sealed(state));
        const Outcome outcome = resume();
        EXPECT_EQ(outcome.code, 1) << name << "=" << value << "\n" << outcome.out;
        const bool of_the_model = name == "--set" && value.find('=') != std::string::npos;
        EXPECT_NE(outcome.out.find(of_the_model ? "[E0" : "E0824"), std::string::npos) << name << "=" << value << "\n"
                                                                                       << outcome.out;
        EXPECT_TRUE(others() == before) << name << "=" << value;
    }
    // what the report would show is text, too
    Json state = state_;
    state["run"]["command"] = "<script>alert(1)</script> $(touch victim)";
    put_state(sealed(state));
    EXPECT_EQ(resume().code, 0);
    EXPECT_TRUE(others() == before);
    EXPECT_EQ(read("part/report.html").find("<script>alert"), std::string::npos);
}

// a byte here or there, a piece that is missing: refused, unless it says the same
TEST_F(Resume, DamagedStatesAreRefused) {
    const std::string good = read("stopped/state.json");
    const auto same = [&](const std::string& text) {
        return Json::accept(text) && Json::parse(text)["run"] == state_["run"] && Json::parse(text)["appell"] == version_;
    };
    fs::create_directories(folder_ / "part");
    std::mt19937 random(22);
    const auto below = [&](std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random); };
    std::size_t refused = 0;
    for (std::size_t i = 0; i < members(1000); ++i) {
        std::string text = good;
        for (std::size_t change = below(3) + 1; change > 0; --change) {
            const std::size_t at = below(text.size());
            switch (below(5)) {
                case 0: text[at] = static_cast<char>(below(256)); break;
                case 1: text.erase(at, below(40) + 1); break;
                case 2: text.insert(at, good.substr(below(good.size()), below(60))); break;
                case 3: text.resize(at); break;
                case 4: text[at] = static_cast<char>(text[at] ^ (1 << below(8))); break;
            }
            if (text.empty()) break;
        }
        write("part/state.json", text);
        const Result<RunState> state = read_run_state(folder_ / "part", version_);
        if (state.ok()) {
            EXPECT_TRUE(same(text)) << text;
        } else {
            ++refused;
            EXPECT_TRUE(state.diagnostics.has(Code::E0824));
        }
    }
    EXPECT_GT(refused, members(1000) * 9 / 10);
    for (const std::string text : {"", "null", "[]", "3", "{}", "{\"schema\": 2}", "\"run\""}) {
        write("part/state.json", text);
        EXPECT_TRUE(read_run_state(folder_ / "part", version_).diagnostics.has(Code::E0824)) << text;
    }
    write("part/state.json", std::string(1'000'000, '['));
    EXPECT_TRUE(read_run_state(folder_ / "part", version_).diagnostics.has(Code::E0824));
    fs::remove(folder_ / "part/state.json");
    fs::create_directories(folder_ / "part/state.json");
    EXPECT_TRUE(read_run_state(folder_ / "part", version_).diagnostics.has(Code::E0824));
}

// Another shape or other numbers, with a hash that fits: the program ends well or says E0824 (or what is wrong with the run), and
// nothing outside the folder changes.
TEST_F(Resume, ForgedStatesDoNoHarm) {
    const auto before = others();
    std::mt19937 random(1066);
    const auto below = [&](std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random); };
    const std::vector<Json> values{Json(nullptr),
                                   Json(true),
                                   Json(-1),
                                   Json(0),
                                   Json(1e300),
                                   Json(-1e300),
                                   Json(18446744073709551615u),
                                   Json("inf"),
                                   Json("-inf"),
                                   Json("nan"),
                                   Json("../../victim"),
                                   Json(std::string(100'000, 'a')),
                                   Json::array(),
                                   Json::object(),
                                   Json(Json::array({1, 2, 3})),
                                   Json(0.5),
                                   Json(1e-300)};
    std::size_t resumed = 0, refused = 0;
    for (std::size_t i = 0; i < members(60); ++i) {
        Json state = state_;
        // a random place in the tree
        Json* at = &state["run"];
        for (std::size_t depth = 0; depth < 1 + i % 4 && at->is_structured() && !at->empty(); ++depth) {
            auto next = at->begin();
            std::advance(next, static_cast<std::ptrdiff_t>(below(at->size())));
            at = &*next;
        }
        *at = values[below(values.size())];
        put_state(sealed(state));
        const Outcome outcome = call("run --resume part --limit steps=2000 --limit output_rows=10000");
        ASSERT_TRUE(outcome.code == 0 || outcome.code == 1) << outcome.code << "\n"
                                                            << outcome.out << sealed(state).substr(0, 3000);
        EXPECT_EQ(outcome.out.find("json.exception"), outcome.out.find("state.json: [json.exception")) << outcome.out;
        outcome.code == 0 ? ++resumed : ++refused;
        EXPECT_EQ(outcome.code == 1, outcome.out.find("error[E") != std::string::npos) << outcome.out;
        ASSERT_TRUE(others() == before);
    }
    EXPECT_GT(refused, members(60) / 4);
    EXPECT_GT(resumed + refused, 0u);
}

TEST_F(Resume, AFullDiskSaysWhatIsKept) {
    const std::string rows = read("stopped/trajectory.csv"), state = read("stopped/state.json");
    const Outcome full = call("explain E0001 >/dev/null; ulimit -f 0; '" + std::string(APPELL_BINARY_DIR) +
                              "/appell' run --resume stopped --limit steps=2000");
    EXPECT_EQ(full.code, 1) << full.out;
    EXPECT_NE(full.out.find("[E0801]"), std::string::npos) << full.out;
    EXPECT_EQ(full.out.find("no rows of this run are kept"), std::string::npos) << full.out;
    EXPECT_NE(full.out.find("`appell run --resume stopped` goes on"), std::string::npos) << full.out;
    EXPECT_EQ(read("stopped/trajectory.csv"), rows);
    EXPECT_EQ(read("stopped/state.json"), state);
    EXPECT_EQ(call("run --resume stopped --limit steps=1000000").code, 0);
    EXPECT_EQ(read("stopped/trajectory.csv"), read("whole/trajectory.csv"));
}

}  // namespace
}  // namespace appell
