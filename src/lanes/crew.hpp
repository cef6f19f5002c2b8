// Computations that go their own ways on one thread and evaluate their programs together. Each is a fiber; where it needs the
// numbers of a program it waits until most of the others do, and eight are evaluated as one. What a computation does depends on
// its own numbers only, so that nothing in it depends on its neighbours.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "lanes/fiber.hpp"
#include "lanes/lane_march.hpp"
#include "lanes/lane_workspace.hpp"
#include "sim/neighbours.hpp"

namespace appell {

class Crew final : public Neighbours {
public:
    // The programs must outlive the crew; those that can not be evaluated in lanes, or would not gain, are passed over. Copies of
    // a program are served like the program itself.
    explicit Crew(const std::vector<const Program*>& programs);
    // The programs of a motion, and whole steps of it.
    explicit Crew(const Motion& motion);
    ~Crew() override;

    // Calls `work` several times, at most so many, each in a fiber of its own, until all have returned. Once, where lanes are of
    // no use here. Nothing may leave it by an exception.
    void run(std::size_t at_most, const std::function<void()>& work);

    [[nodiscard]] bool serves(const Program& program) const override;
    [[nodiscard]] bool serves_stages(const Program& program) const override;
    void evaluate(Request& request) override;
    void evaluate(StageRequest& request) override;
    [[nodiscard]] bool marches(const Motion& motion) const override;
    void march(March& march) override;

private:
    struct Hand {
        std::unique_ptr<Fiber> fiber;
        Request* request = nullptr;
        StageRequest* stages = nullptr;
        March* march = nullptr;
    };
    struct Station {
        explicit Station(const Program& program);
        [[nodiscard]] bool given_up() const;

        const NativeCode* code;  // what copies of a program have in common
        bool one_by_one;         // evaluations outside of stages are worth it
        LaneWorkspace lanes;
        std::vector<Hand*> waiting = {}, waiting_for_stages = {};
        std::size_t tried = 0, failed = 0;
    };

    [[nodiscard]] bool take_on(std::size_t count, const std::function<void()>& work);
    [[nodiscard]] Station* station_of(const Program& program) const;
    template <class R>
    void wait_for(R& request, R* Hand::*place, std::vector<Hand*> Station::*queue);
    template <class R>
    void serve(Station& station, std::vector<Hand*>& queue, R* Hand::*request);
    void serve_march();

    std::vector<std::unique_ptr<Station>> stations_;
    std::unique_ptr<LaneMarch> march_;  // where there is one
    std::vector<Hand*> waiting_to_march_, marching_;
    std::vector<std::unique_ptr<Hand>> hands_;
    std::vector<Hand*> ready_;
    Hand* now_ = nullptr;  // whose fiber runs
};

}  // namespace appell
