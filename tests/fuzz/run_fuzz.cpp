// Models, guided by coverage: check, run and the other uses of a model with small limits. Half of the changes are libFuzzer's,
// half are those of the mutants of the gallery, which keep more of a model whole.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "support/examine.hpp"
#include "support/mutation.hpp"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

namespace {

const appell::attack::Mutator& mutator() {
    static const appell::attack::Mutator all(appell::attack::small_gallery_models());
    return all;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string finding = appell::attack::examine(std::string(reinterpret_cast<const char*>(data), size));
    if (finding.empty()) return 0;
    std::fprintf(stderr, "%s\n", finding.c_str());
    std::abort();
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
    appell::attack::Dice dice(seed);
    if (dice.one_in(2)) return LLVMFuzzerMutate(data, size, most);
    const std::string text = mutator().changed(std::string(reinterpret_cast<const char*>(data), size), dice);
    const std::size_t kept = std::min(text.size(), most);
    std::copy_n(text.data(), kept, reinterpret_cast<char*>(data));
    return kept;
}
