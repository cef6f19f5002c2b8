// Models as nobody would write them: texts of the gallery with characters, tokens, lines and names changed, spliced with each
// other, and with statements put in that the language has but their authors did not think of. A seed gives always the same text.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace appell::attack {

// splitmix64
class Dice {
public:
    explicit Dice(std::uint64_t seed) : state_(seed) {}
    std::uint64_t next() {
        std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ull);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
        return z ^ (z >> 31);
    }
    // below `count`, which is not zero
    std::size_t below(std::size_t count) { return static_cast<std::size_t>(next() % count); }
    bool one_in(std::size_t n) { return below(n) == 0; }
    template <class List>
    const auto& of(const List& list) {
        return list[below(list.size())];
    }

private:
    std::uint64_t state_;
};

class Mutator {
public:
    explicit Mutator(std::vector<std::string> models) : models_(std::move(models)) {}

    // of one of the models, by one to three changes
    [[nodiscard]] std::string mutant(std::uint64_t seed) const;
    [[nodiscard]] std::string changed(std::string text, Dice& dice) const;  // once
    [[nodiscard]] std::size_t models() const { return models_.size(); }

private:
    std::vector<std::string> models_;
};

// the models of the gallery that are small enough to be looked at in some milliseconds
[[nodiscard]] std::vector<std::string> small_gallery_models();

}  // namespace appell::attack
