// A number that tells one text from another, taken piece by piece: to see that a file is still what was written. It guards
// against accidents, not against somebody who forges.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace appell {

class ContentHash {
public:
    void add(std::string_view text) {
        size_ += text.size();
        while (!text.empty()) {
            const std::size_t part = text.size() < k_word - used_ ? text.size() : k_word - used_;
            std::memcpy(pending_ + used_, text.data(), part);
            used_ += part;
            text.remove_prefix(part);
            if (used_ == k_word) take();
        }
    }
    // of all so far; more may follow
    [[nodiscard]] std::uint64_t value() const {
        ContentHash end = *this;
        std::memset(end.pending_ + end.used_, 0, k_word - end.used_);
        end.take();
        end.state_ ^= size_;
        end.mix();
        end.mix();
        return end.state_;
    }
    [[nodiscard]] std::uint64_t size() const { return size_; }

private:
    static constexpr std::size_t k_word = sizeof(std::uint64_t);

    void take() {
        std::uint64_t word = 0;
        std::memcpy(&word, pending_, k_word);
        used_ = 0;
        state_ ^= word;
        mix();
    }
    void mix() {
        state_ *= 0x9e3779b97f4a7c15u;
        state_ ^= state_ >> 32;
    }

    std::uint64_t state_ = 0x2545f4914f6cdd1du, size_ = 0;
    char pending_[k_word] = {};
    std::size_t used_ = 0;
};

[[nodiscard]] inline std::uint64_t content_hash(std::string_view text) {
    ContentHash hash;
    hash.add(text);
    return hash.value();
}

}  // namespace appell
