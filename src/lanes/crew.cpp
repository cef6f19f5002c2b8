#include "lanes/crew.hpp"

#include <algorithm>
#include <array>
#include <new>
#include <utility>

namespace appell {

namespace {

// more than lanes, so that these are full while some wait for other programs; not many more, for the nearest memory is small
constexpr std::size_t k_hands = k_lanes + k_lanes / 2;
// fewer are faster one by one
constexpr std::size_t k_worth_it = 3;
// who march go on without the others from so many on
constexpr std::size_t k_enough_to_march = k_lanes;
// Waiting for the others, and numbers side by side, cost about what so many instructions cost alone; a solve without a closed
// form costs more from so many entries of its rows on. Stages wait once for all of them.
constexpr std::size_t k_least_instructions = 600, k_least_entries = 5, k_least_in_stages = 150;
// after so many evaluations a program that more than a quarter of the lanes must do again alone is given up
constexpr std::size_t k_trial = 1000;

bool is_worth_it(const Program& program) {
    return program.moving_instructions() >= k_least_instructions ||
           std::any_of(program.solves.begin(), program.solves.end(), [](const SolveBlock& block) {
               return block.closed.empty() && block.rows * block.size >= k_least_entries;
           });
}

// its outputs can be the rates of the streamed inputs
bool takes_stages(const Program& program) {
    const std::size_t streamed = program.stream_end - program.stream_begin;
    return streamed > 0 && program.stream_begin > 0 && program.output_slots.size() >= streamed &&
           program.moving_instructions() >= k_least_in_stages;
}

}  // namespace

Crew::Station::Station(const Program& program) : code(program.native.get()), one_by_one(is_worth_it(program)), lanes(program) {}

Crew::Crew(const std::vector<const Program*>& programs) {
    for (const Program* const program : programs)
        if (program->native && LaneWorkspace::possible(*program) && (is_worth_it(*program) || takes_stages(*program)) &&
            station_of(*program) == nullptr)
            stations_.push_back(std::make_unique<Station>(*program));
}

Crew::Crew(const Motion& m) : Crew({&m.rate, &m.velocity, &m.position, &m.observe, &m.start_velocity, &m.start_position}) {
    if (LaneMarch::possible(m)) march_ = std::make_unique<LaneMarch>(m);
}

Crew::~Crew() = default;

Crew::Station* Crew::station_of(const Program& program) const {
    for (const std::unique_ptr<Station>& station : stations_)
        if (station->code == program.native.get()) return station.get();
    return nullptr;
}

bool Crew::serves(const Program& program) const {
    const Station* const station = station_of(program);
    return station != nullptr && station->one_by_one && !station->given_up();
}

bool Crew::serves_stages(const Program& program) const {
    const Station* const station = station_of(program);
    return station != nullptr && takes_stages(program) && !station->given_up();
}

// so many hands, or as many as there is memory for; are these worth it?
bool Crew::take_on(std::size_t count, const std::function<void()>& work) {
    try {
        while (hands_.size() < count) {
            auto hand = std::make_unique<Hand>();
            hand->fiber = std::make_unique<Fiber>(work);
            hands_.push_back(std::move(hand));
        }
    } catch (const std::bad_alloc&) {
        if (hands_.size() < k_worth_it) hands_.clear();
    }
    for (const std::unique_ptr<Hand>& hand : hands_) ready_.push_back(hand.get());
    return !hands_.empty();
}

void Crew::run(std::size_t at_most, const std::function<void()>& work) {
    const std::size_t count = std::min(at_most, k_hands);
    if (!Fiber::available() || (stations_.empty() && !march_) || count < k_worth_it) {
        work();
        return;
    }
    if (!take_on(count, work)) {
        work();
        return;
    }
    for (;;) {
        while (!ready_.empty()) {
            now_ = ready_.back();
            ready_.pop_back();
            now_->fiber->resume();
        }
        now_ = nullptr;
        const std::size_t marching = waiting_to_march_.size() + marching_.size();
        const bool others = std::any_of(stations_.begin(), stations_.end(),
                                        [](const auto& s) { return !s->waiting.empty() || !s->waiting_for_stages.empty(); });
        if (marching >= k_enough_to_march || (marching > 0 && !others)) {
            serve_march();
            continue;
        }
        if (!others) break;
        // most of them: those who wait for something else are joined by others in time
        const auto most = [](const Station& s) { return std::max(s.waiting.size(), s.waiting_for_stages.size()); };
        const auto busiest = std::max_element(stations_.begin(), stations_.end(),
                                              [&](const auto& a, const auto& b) { return most(*a) < most(*b); });
        Station& station = **busiest;
        if (station.waiting.size() >= station.waiting_for_stages.size())
            serve(station, station.waiting, &Hand::request);
        else
            serve(station, station.waiting_for_stages, &Hand::stages);
    }
    hands_.clear();
}

bool Crew::Station::given_up() const { return tried > k_trial && 4 * failed > tried; }

template <class R>
void Crew::serve(Station& station, std::vector<Hand*>& queue, R* Hand::*request) {
    std::array<R*, k_lanes> lanes;
    const std::size_t count = std::min(queue.size(), k_lanes);
    for (std::size_t i = 0; i < count; ++i) {
        lanes[i] = queue[i]->*request;
        ready_.push_back(queue[i]);
    }
    if (count >= k_worth_it && !station.given_up()) {
        station.lanes.run(std::span<R* const>(lanes.data(), count));
        station.tried += count;
        for (std::size_t i = 0; i < count; ++i) station.failed += lanes[i]->done ? 0 : 1;
    }
    queue.erase(queue.begin(), queue.begin() + static_cast<std::ptrdiff_t>(count));
}

template <class R>
void Crew::wait_for(R& request, R* Hand::*place, std::vector<Hand*> Station::*queue) {
    request.done = false;
    Station* const station = station_of(*request.program);
    Hand* const hand = now_;
    if (hand == nullptr || station == nullptr) return;
    hand->*place = &request;
    (station->*queue).push_back(hand);
    hand->fiber->pause();
}

// Seats that are empty are taken, then all go on until somebody leaves: to start the next run, or for a step that is not
// ordinary.
void Crew::serve_march() {
    while (!waiting_to_march_.empty() && !march_->full()) {
        Hand* const hand = waiting_to_march_.front();
        waiting_to_march_.erase(waiting_to_march_.begin());
        (march_->seat(*hand->march) ? marching_ : ready_).push_back(hand);
    }
    std::array<March*, k_lanes> left;
    const std::size_t count = march_->go(left);
    for (std::size_t i = 0; i < count; ++i) {
        const auto hand = std::find_if(marching_.begin(), marching_.end(), [&](const Hand* h) { return h->march == left[i]; });
        ready_.push_back(*hand);
        marching_.erase(hand);
    }
}

bool Crew::marches(const Motion& motion) const { return march_ && march_->is_for(motion) && now_ != nullptr; }

void Crew::march(March& march) {
    Hand* const hand = now_;
    if (hand == nullptr || !march_) return;
    hand->march = &march;
    waiting_to_march_.push_back(hand);
    hand->fiber->pause();
}

void Crew::evaluate(Request& request) { wait_for(request, &Hand::request, &Station::waiting); }

void Crew::evaluate(StageRequest& request) { wait_for(request, &Hand::stages, &Station::waiting_for_stages); }

}  // namespace appell
