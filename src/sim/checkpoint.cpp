#include "sim/checkpoint.hpp"

#include <algorithm>

namespace appell {

// the place of a list: a new one, or the one of that name and length; none where there is no such
double* Checkpoint::find(std::string_view name, std::size_t size) {
    if (!restoring_) return values_.insert_or_assign(std::string(name), std::vector<double>(size)).first->second.data();
    const auto found = values_.find(std::string(name));
    if (found != values_.end() && found->second.size() == size) return found->second.data();
    fits_ = false;
    return nullptr;
}

void Checkpoint::operator()(std::string_view name, double& value) {
    double* const place = find(name, 1);
    if (!restoring_)
        *place = value;
    else if (place != nullptr)
        value = *place;
}

void Checkpoint::operator()(std::string_view name, std::size_t& value) {
    auto number = static_cast<double>(value);
    (*this)(name, number);
    if (!restoring_) return;
    if (!(number >= 0) || !(number <= 9007199254740992.0))
        fits_ = false;
    else
        value = static_cast<std::size_t>(number);
}

void Checkpoint::operator()(std::string_view name, bool& value) {
    double number = value ? 1 : 0;
    (*this)(name, number);
    value = number != 0;
}

void Checkpoint::operator()(std::string_view name, std::vector<double>& values) {
    double* const place = find(name, values.size());
    if (place == nullptr) return;
    if (restoring_)
        std::copy_n(place, values.size(), values.begin());
    else
        std::copy(values.begin(), values.end(), place);
}

}  // namespace appell
