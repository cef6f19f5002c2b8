// `appell sweep`: a model over grids, lists and random draws, on all cores. Members are computed in any order and written in
// their own, so that the table does not depend on the number of threads.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cmath>
#include <csignal>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/number_format.hpp"
#include "command_line.hpp"
#include "commands.hpp"
#include "failures.hpp"
#include "library/model_files.hpp"
#include "pipeline/ensemble.hpp"
#include "progress_line.hpp"
#include "report/files.hpp"
#include "report/json_text.hpp"
#include "report/run_files.hpp"
#include "results_folder.hpp"

namespace appell {

namespace {

using Json = nlohmann::ordered_json;

constexpr double k_most_values = 1e6;

// words, numbers and signs of one option, with blanks skipped
class Words {
public:
    Words(std::string_view option, const std::string& text) : option_(option), text_(text) {}

    [[nodiscard]] std::string name() {
        skip();
        const std::size_t begin = at_;
        while (at_ < text_.size() && text_[at_] != '=' && text_[at_] != ' ') ++at_;
        if (at_ == begin) fail("a name");
        return text_.substr(begin, at_ - begin);
    }
    [[nodiscard]] double number() {
        skip();
        // NOTE: `1..2` has two numbers: a point belongs to the first only if no other point follows
        std::size_t end = at_;
        while (end < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[end])) != 0 || text_[end] == '+' ||
                                      text_[end] == '-' || (text_[end] == '.' && text_.compare(end, 2, "..") != 0)))
            ++end;
        double value = 0;
        const auto [rest, error] = std::from_chars(text_.data() + at_, text_.data() + end, value);
        if (error != std::errc() || rest == text_.data() + at_ || !std::isfinite(value)) fail("a number");
        at_ = static_cast<std::size_t>(rest - text_.data());
        return value;
    }
    [[nodiscard]] bool accept(std::string_view sign) {
        skip();
        if (text_.compare(at_, sign.size(), sign) != 0) return false;
        at_ += sign.size();
        return true;
    }
    void expect(std::string_view sign) {
        if (!accept(sign)) fail(fmt::format("`{}`", sign));
    }
    void end() {
        skip();
        if (at_ < text_.size()) fail("the end");
    }
    [[noreturn]] void fail(std::string_view expected) const {
        throw UsageError(fmt::format("{} \"{}\": expected {} at \"{}\"", option_, text_, expected, text_.substr(at_)));
    }

private:
    void skip() {
        while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    }

    std::string_view option_;
    const std::string& text_;
    std::size_t at_ = 0;
};

// "m = 1..2 by 0.1", "m = 1..2 in 11", "m = (1, 2, 3)"
SweepAxis parse_axis(const std::string& text) {
    Words words("--over", text);
    SweepAxis out{words.name(), {}};
    words.expect("=");
    if (words.accept("(")) {
        do out.values.push_back(words.number());
        while (words.accept(","));
        words.expect(")");
        words.end();
        return out;
    }
    const double from = words.number();
    words.expect("..");
    const double to = words.number();
    double count = 0, step = 0;
    if (words.accept("by")) {
        step = words.number();
        count = (to - from) / step;
        // the end belongs to the range if a whole number of steps leads there, but for round-off
        count = std::floor(count + 1e-9 * std::max(1.0, std::abs(count))) + 1;
        if (!(step != 0) || !(count >= 1)) words.fail("a step that leads from the first value to the last one");
    } else if (words.accept("in")) {
        count = words.number();
        if (!(count >= 2) || count != std::floor(count)) words.fail("two values or more");
        step = (to - from) / (count - 1);
    } else {
        words.fail("`by` and a step, or `in` and how many values");
    }
    words.end();
    if (!(count <= k_most_values)) words.fail("at most a million values");
    for (double i = 0; i < count; ++i) {
        const double value = from + i * step;
        // the last value is the end itself, where it is meant to be
        out.values.push_back(i + 1 == count && std::abs(value - to) <= 1e-9 * std::abs(step) ? to : value);
    }
    return out;
}

// "mu in 0..1", "mu in normal(0.3, 0.05)"
SweepDraw parse_draw(const std::string& text) {
    Words words("--random", text);
    SweepDraw out;
    out.name = words.name();
    words.expect("in");
    if (words.accept("normal")) {
        out.law = SweepDraw::Law::normal;
        words.expect("(");
        out.first = words.number();
        words.expect(",");
        out.second = words.number();
        words.expect(")");
    } else {
        out.first = words.number();
        words.expect("..");
        out.second = words.number();
    }
    words.end();
    return out;
}

// The table, member by member in their order, whoever comes first.
class SweepTable {
public:
    SweepTable(const Ensemble& ensemble) : ensemble_(ensemble) {
        text_ = "member";
        for (const std::string& name : ensemble.swept()) text_ += "," + csv_field(name);
        text_ += ",reason";
        for (const std::string& name : ensemble.columns()) text_ += "," + csv_field(name);
        text_ += "\n";
    }
    void add(Ensemble::Outcome outcome) {
        ++reasons_[outcome.reason];
        waiting_.emplace(outcome.member, std::move(outcome));
        for (auto first = waiting_.begin(); first != waiting_.end() && first->first == next_; first = waiting_.begin())
            write(first);
    }
    // those behind a member that was not computed, too
    void flush() {
        while (!waiting_.empty()) write(waiting_.begin());
    }
    [[nodiscard]] const std::string& text() const { return text_; }
    [[nodiscard]] const std::map<std::string, std::size_t>& reasons() const { return reasons_; }

private:
    void write(std::map<std::size_t, Ensemble::Outcome>::iterator at) {
        const Ensemble::Outcome& one = at->second;
        text_ += std::to_string(one.member);
        for (const double value : one.values) text_ += "," + round_trip(value);
        text_ += "," + csv_field(one.reason);
        for (std::size_t i = 0; i < ensemble_.columns().size(); ++i)
            text_ += "," + (one.numbers.empty() ? std::string() : round_trip(one.numbers[i]));
        text_ += "\n";
        next_ = one.member + 1;
        waiting_.erase(at);
    }

    const Ensemble& ensemble_;
    std::string text_;
    std::size_t next_ = 0;
    std::map<std::size_t, Ensemble::Outcome> waiting_;
    std::map<std::string, std::size_t> reasons_;
};

// as many threads as the system gives: the others do all the work, and the table is the same
void start_threads(std::vector<std::jthread>& pool, std::size_t count, const std::function<void()>& work) {
    pool.reserve(count);
    try {
        while (pool.size() < count) pool.emplace_back(work);
    } catch (const std::system_error&) {
    } catch (const std::bad_alloc&) {
    }
}

}  // namespace

int sweep_command(const std::string& file, SweepCommand command, const SharedOptions& shared) {
    SweepPlan plan;
    for (const std::string& text : command.over) plan.over.push_back(parse_axis(text));
    for (const std::string& text : command.random) plan.random.push_back(parse_draw(text));
    plan.samples = command.samples;
    plan.seed = command.seed;
    plan.extremes = command.extremes;
    if (!plan.random.empty() && command.samples == 0) throw UsageError("--random needs --samples N, how many to draw");
    if (plan.random.empty() && command.samples > 0) throw UsageError("--samples says how many to draw: name what with --random");
    plan.samples = std::max<std::size_t>(plan.samples, 1);

    Derivation problems;
    const ReadOptions read = read_options(shared);
    Result<ModelText> text = read_model_file(file, read);
    problems.diagnostics.append(text.diagnostics);
    if (!text.ok()) return finish(problems, shared, false);
    command.options.max_steps = read.limits.steps;
    command.options.max_rows = read.limits.output_rows;
    Result<Ensemble> made = Ensemble::make(std::move(*text), command.options, plan, &problems.sources);
    if (!made.ok()) {
        problems.diagnostics.append(made.diagnostics);
        return finish(problems, shared, false);
    }
    Ensemble& ensemble = *made;
    const std::string out = command.out.empty() ? default_folder(file, ensemble.model().name, ".sweep") : command.out;
    Result<OutputFolder> folder = OutputFolder::create(out, author_of("sweep", file, shared));
    Diagnostics claimed = folder.diagnostics;
    if (folder.ok()) claimed.append(folder->claim(std::vector<std::string>{"sweep.csv", "summary.json"}));
    // of results that will be replaced people hear while there is time to stop it
    if (claimed.has_errors() || shared.json)
        problems.diagnostics.append(claimed);
    else
        show(claimed, problems.sources);
    if (claimed.has_errors()) return finish(problems, shared, false);

    remove_when_ended(folder->made());
    stop_on_signals();
    const std::size_t count = ensemble.size();
    const std::size_t cores = std::max(1u, std::thread::hardware_concurrency());
    const std::size_t threads = std::min(command.threads > 0 ? command.threads : cores, count);
    std::mutex preparing, writing;
    std::atomic<std::size_t> next = 0;
    SweepTable table(ensemble);
    std::size_t done = 0;
    std::vector<std::size_t> too_large;  // for the memory that was left while others ran
    ProgressLine line(0, static_cast<double>(count), isatty(STDERR_FILENO) != 0 && !shared.json);
    const auto keep = [&](Ensemble::Outcome outcome) {
        table.add(std::move(outcome));
        line.show_members(++done, ProgressLine::Clock::now());
    };
    const auto work = [&](Neighbours* neighbours) {
        while (!stop_asked()) {
            const std::size_t member = next++;
            if (member >= count) return;
            Ensemble::Prepared prepared;
            {
                const std::lock_guard lock(preparing);
                prepared = ensemble.prepare(member);
            }
            Ensemble::Outcome outcome = ensemble.run(
                prepared, [](double) { return !stop_asked(); }, neighbours);
            // what was cut short is not a result
            if (stop_asked() && outcome.reason == name(EndReason::cancelled)) return;
            const std::lock_guard lock(writing);
            if (outcome.out_of_memory && (threads > 1 || neighbours != nullptr))
                too_large.push_back(member);
            else
                keep(std::move(outcome));
        }
    };
    // what a thread cannot go on from ends the others; the command reports it
    std::exception_ptr failed;
    const auto keeping = [&](const auto& part) {
        try {
            part();
        } catch (...) {
            const std::lock_guard lock(writing);
            failed = std::current_exception();
            next = count;
        }
    };
    {
        // every thread gets its share of a sweep with few members; an exception stays on the stack that it was thrown on
        const auto kept = [&](Neighbours* neighbours) { keeping([&] { work(neighbours); }); };
        const auto in_lanes = [&] { keeping([&] { ensemble.in_lanes((count + threads - 1) / threads, kept); }); };
        allow_stacks_of_threads(threads - 1);
        std::vector<std::jthread> pool;  // joins before what the threads use goes
        keeping([&] { start_threads(pool, threads - 1, in_lanes); });
        in_lanes();
    }
    // alone they may fit, and their outcome does not depend on how many ran at a time
    for (const std::size_t member : too_large) {
        if (stop_asked() || failed) break;
        Ensemble::Outcome outcome = ensemble.run(ensemble.prepare(member), [](double) { return !stop_asked(); });
        if (!stop_asked() || outcome.reason != name(EndReason::cancelled)) keep(std::move(outcome));
    }
    line.clear();
    if (failed) std::rethrow_exception(failed);
    table.flush();

    if (done < count)
        problems.diagnostics.add({Code::E0811,
                                  {},
                                  fmt::format("the sweep was stopped after {} of {} members", done, count),
                                  "",
                                  "",
                                  "those that were finished are in the table"});
    Json summary{{"schema", 1},       {"appell", APPELL_VERSION}, {"system", ensemble.model().name},
                 {"members", count},  {"computed", done},         {"swept", ensemble.swept()},
                 {"seed", plan.seed}, {"samples", plan.samples},  {"reasons", table.reasons()}};
    summary["diagnostics"] = Json::parse(diagnostics_json(problems.diagnostics, problems.sources));
    Diagnostics written = folder->write("sweep.csv", table.text());
    written.append(folder->write("summary.json", json_text(summary) + "\n"));
    if (!written.has_errors()) written.append(folder->commit());
    problems.diagnostics.append(written);
    if (written.has_errors()) return finish(problems, shared, false);
    if (shared.json) {
        fmt::print("{}\n", json_text(summary));
    } else {
        fmt::print("{}: {} members\n", ensemble.model().name, done);
        for (const auto& [reason, members] : table.reasons()) fmt::print("  {}  {}\n", members, reason);
        fmt::print("results in {}/: sweep.csv, summary.json\n", out);
    }
    return finish(problems, shared, true);
}

}  // namespace appell
