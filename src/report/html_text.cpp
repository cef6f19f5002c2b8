#include "report/html_text.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>

namespace appell {

namespace {

constexpr std::string_view k_replacement = "\xEF\xBF\xBD";

// bytes of the character of UTF-8 that a text begins with; 0 where it begins with none
std::size_t character(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned first = byte(0);
    const std::size_t length = first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
    if (length > text.size()) return 0;
    for (std::size_t i = 1; i < length; ++i)
        if ((byte(i) & 0xc0u) != 0x80) return 0;
    // spelt too long, halves of pairs, beyond the last
    if (length > 2 && ((first == 0xe0 && byte(1) < 0xa0) || (first == 0xed && byte(1) > 0x9f) ||
                       (first == 0xf0 && byte(1) < 0x90) || (first == 0xf4 && byte(1) > 0x8f)))
        return 0;
    return length;
}

}  // namespace

// names of files need not be UTF-8, a page must
std::string html_text(std::string_view text) {
    std::string out;
    out.reserve(text.size() + text.size() / 8);
    for (std::size_t i = 0; i < text.size();) {
        const std::size_t length = character(text.substr(i));
        switch (text[i]) {
            case '&': out += "&amp;"; break;
            case '<': out += "&lt;"; break;
            case '>': out += "&gt;"; break;
            case '"': out += "&quot;"; break;
            case '\'': out += "&#39;"; break;
            case '\0': out += k_replacement; break;
            default: out += length == 0 ? k_replacement : text.substr(i, length);
        }
        i += std::max<std::size_t>(length, 1);
    }
    return out;
}

// In JSON these signs stand in strings only, where \u may spell them.
std::string json_in_script(std::string_view json) {
    std::string out;
    out.reserve(json.size() + 64);
    for (const char c : json) switch (c) {
            case '<': out += "\\u003c"; break;
            case '>': out += "\\u003e"; break;
            case '&': out += "\\u0026"; break;
            default: out += c;
        }
    return out;
}

namespace {

class Base64 {
public:
    explicit Base64(std::size_t bytes) { out_.reserve(4 * ((bytes + 2) / 3)); }

    template <class Bits>
    void add(Bits bits) {
        for (std::size_t i = 0; i < sizeof bits; ++i) add_byte(static_cast<std::uint8_t>(bits >> (8 * i)));
    }

    std::string take() {
        if (count_ != 0) {
            const int missing = 3 - count_;
            pending_ <<= 8 * missing;
            put(4 - missing);
            out_.append(static_cast<std::size_t>(missing), '=');
        }
        return std::move(out_);
    }

private:
    void add_byte(std::uint8_t byte) {
        pending_ = pending_ << 8 | byte;
        if (++count_ < 3) return;
        put(4);
        count_ = 0;
        pending_ = 0;
    }
    void put(int letters) {
        static constexpr char k_letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        for (int i = 0; i < letters; ++i) out_ += k_letters[pending_ >> (18 - 6 * i) & 63u];
    }

    std::string out_;
    std::uint32_t pending_ = 0;
    int count_ = 0;  // bytes pending
};

}  // namespace

std::string base64(std::span<const double> values) {
    Base64 out(8 * values.size());
    for (const double v : values) out.add(std::bit_cast<std::uint64_t>(v));
    return out.take();
}

std::string base64(std::span<const float> values) {
    Base64 out(4 * values.size());
    for (const float v : values) out.add(std::bit_cast<std::uint32_t>(v));
    return out.take();
}

}  // namespace appell
