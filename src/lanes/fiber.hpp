// A function with a stack of its own, that can be left in the middle and gone on with later: what threads do, without any of
// them. Control changes hands only where resume() and pause() say so, and always within one thread.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace appell {

class Fiber {
public:
    // x86-64 with the calling convention of Unix
    [[nodiscard]] static bool available();

    // Nothing may leave `body` by an exception. Throws std::bad_alloc where the system gives no memory for a stack.
    explicit Fiber(std::function<void()> body);
    // one that has begun must have ended
    ~Fiber();
    Fiber(const Fiber&) = delete;
    Fiber& operator=(const Fiber&) = delete;

    // goes on with the body until it pauses or ends
    void resume();
    // back to where it was resumed; called by its body
    void pause();
    [[nodiscard]] bool ended() const { return ended_; }

private:
    static void begin(Fiber* self);

    std::function<void()> body_;
    std::shared_ptr<void> stack_;
    void* own_ = nullptr;     // top of its stack while it waits
    void* caller_ = nullptr;  // that of who resumed it, while it runs
    // for the address sanitizer
    [[maybe_unused]] const void* caller_stack_ = nullptr;
    [[maybe_unused]] std::size_t caller_size_ = 0;
    bool ended_ = false;
};

}  // namespace appell
