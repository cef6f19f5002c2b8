#include "lanes/crew.hpp"

#include <algorithm>
#include <array>

namespace appell {

namespace {

// more than lanes, so that these are full while some wait for other programs
constexpr std::size_t k_hands = 3 * k_lanes;
// fewer are faster one by one
constexpr std::size_t k_worth_it = 3;
// Waiting for the others, and numbers side by side, cost about what so many instructions cost alone; a solve with several rows
// and without a closed form costs more.
constexpr std::size_t k_least_instructions = 600, k_least_rows = 2;
// after so many evaluations a program that more than a quarter of the lanes must do again alone is given up
constexpr std::size_t k_trial = 1000;

bool is_worth_it(const Program& program) {
    return program.instructions.size() >= k_least_instructions ||
           std::any_of(program.solves.begin(), program.solves.end(),
                       [](const SolveBlock& block) { return block.closed.empty() && block.rows >= k_least_rows; });
}

}  // namespace

Crew::Crew(const std::vector<const Program*>& programs) {
    for (const Program* const program : programs)
        if (program->native && LaneWorkspace::possible(*program) && is_worth_it(*program) && !serves(*program))
            stations_.push_back(std::make_unique<Station>(*program));
}

Crew::~Crew() = default;

bool Crew::serves(const Program& program) const {
    return std::any_of(stations_.begin(), stations_.end(),
                       [&](const auto& s) { return s->code == program.native.get() && !s->given_up(); });
}

void Crew::run(std::size_t at_most, const std::function<void()>& work) {
    const std::size_t count = std::min(at_most, k_hands);
    if (!Fiber::available() || stations_.empty() || count < k_worth_it) {
        work();
        return;
    }
    for (std::size_t i = 0; i < count; ++i) {
        hands_.push_back(std::make_unique<Hand>());
        hands_.back()->fiber = std::make_unique<Fiber>(work);
        ready_.push_back(hands_.back().get());
    }
    for (;;) {
        while (!ready_.empty()) {
            now_ = ready_.back();
            ready_.pop_back();
            now_->fiber->resume();
        }
        now_ = nullptr;
        // most of them: those who wait for something else are joined by others in time
        const auto busiest = std::max_element(stations_.begin(), stations_.end(),
                                              [](const auto& a, const auto& b) { return a->waiting.size() < b->waiting.size(); });
        if ((*busiest)->waiting.empty()) break;
        serve(**busiest);
    }
    hands_.clear();
}

bool Crew::Station::given_up() const { return tried > k_trial && 4 * failed > tried; }

void Crew::serve(Station& station) {
    std::array<Request*, k_lanes> lanes;
    const std::size_t count = std::min(station.waiting.size(), k_lanes);
    for (std::size_t i = 0; i < count; ++i) {
        lanes[i] = station.waiting[i]->request;
        ready_.push_back(station.waiting[i]);
    }
    if (count >= k_worth_it && !station.given_up()) {
        station.lanes.run({lanes.data(), count});
        station.tried += count;
        for (std::size_t i = 0; i < count; ++i) station.failed += lanes[i]->done ? 0 : 1;
    }
    station.waiting.erase(station.waiting.begin(), station.waiting.begin() + static_cast<std::ptrdiff_t>(count));
}

void Crew::evaluate(Request& request) {
    Hand* const hand = now_;
    request.done = false;
    if (hand == nullptr) return;
    const NativeCode* const code = request.program->native.get();
    for (const std::unique_ptr<Station>& station : stations_)
        if (station->code == code) {
            hand->request = &request;
            station->waiting.push_back(hand);
            hand->fiber->pause();
            return;
        }
}

}  // namespace appell
