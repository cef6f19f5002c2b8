#include "emit/small_solve.hpp"

#include <map>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "emit/solve_text.hpp"

namespace appell {

namespace {

// from 16 terms on sums are taken in four parts (dot of runtime/constrained_solve.c), and unrolling pays no more
constexpr std::size_t k_most_columns = 15;

// Values are names of variables; an empty name is zero.
class Unrolling {
public:
    Unrolling(const SolveBlock& block, std::string name) : block_(block), columns_(block), name_(std::move(name)) {
        for (const MatrixEntry& e : block.M) place(columns_.mass(e.row, e.column), e.slot);
        for (const MatrixEntry& e : block.A) place(columns_.row_entry(e.row, e.column), e.slot);
    }

    std::string text() {
        const std::size_t n = block_.size, m = block_.rows;
        L_.resize(columns_.entries);
        inverse_.resize(n);
        factor_mass();
        std::vector<std::string> a(n), x(n);
        for (std::size_t i = 0; i < n; ++i) x[i] = fmt::format("o[{}]", columns_.entries + m * n + i);
        std::string lambda;
        if (m == 1) {
            for (std::size_t i = 0; i < n; ++i) a[i] = operand(columns_.entries + i);
            for (const ColumnLayout::Block& b : columns_.blocks) forward(a, b);
            const std::string square = define(sum_of_products(a, a, 0, n));
            if (square.empty()) return {};  // a row without entries
            demand(square + " > 0");
            for (const ColumnLayout::Block& b : columns_.blocks) forward(x, b);
            lambda =
                define(fmt::format("(o[{}] - ({})) / {}", columns_.entries + m * n + n, sum_of_products(a, x, 0, n), square));
            for (std::size_t i = 0; i < n; ++i)
                if (!a[i].empty()) x[i] = define(fmt::format("{} + {} * {}", x[i], lambda, a[i]));
        } else {
            for (const ColumnLayout::Block& b : columns_.blocks) forward(x, b);
        }
        for (const ColumnLayout::Block& b : columns_.blocks) backward(x, b);
        std::string finite;
        for (std::size_t i = 0; i < n; ++i) {
            out_ += fmt::format("    z[{}] = {};\n", columns_.order[i], x[i]);
            finite += fmt::format("{0}({1} - {1})", i == 0 ? "" : " + ", x[i]);
        }
        if (m == 1) {
            out_ += fmt::format("    z[{}] = {};\n", n, lambda);
            finite += fmt::format(" + ({0} - {0})", lambda);
        }
        return fmt::format("static int {}(const double *o, double *z) {{\n{}    return {} == 0;\n}}\n\n", name_, out_, finite);
    }

private:
    // operands that are the same number, such as a mass for two speeds, are read from the first of them
    void place(std::size_t index, Slot slot) { written_.emplace(index, first_.emplace(slot, index).first->second); }
    [[nodiscard]] std::string operand(std::size_t index) const {
        const auto found = written_.find(index);
        return found == written_.end() ? std::string() : fmt::format("o[{}]", found->second);
    }
    // what was computed already is not computed again
    std::string define(const std::string& value) {
        if (value.empty()) return {};
        const auto [known, fresh] = known_.emplace(value, fmt::format("c{}", known_.size() + 1));
        if (fresh) out_ += fmt::format("    const double {} = {};\n", known->second, value);
        return known->second;
    }
    void demand(const std::string& condition) {
        if (demanded_.insert(condition).second) out_ += fmt::format("    if (!({})) return 0;\n", condition);
    }
    static std::string sum_of_products(const std::vector<std::string>& a, const std::vector<std::string>& b, std::size_t begin,
                                       std::size_t end) {
        std::string out;
        for (std::size_t i = begin; i < end; ++i)
            if (!a[i].empty() && !b[i].empty()) out += fmt::format("{}{} * {}", out.empty() ? "" : " + ", a[i], b[i]);
        return out;
    }
    // (value - sum) * factor
    std::string reduced(const std::string& value, const std::string& sum, const std::string& factor) {
        if (sum.empty()) return value.empty() ? std::string() : define(fmt::format("{} * {}", value, factor));
        return define(fmt::format("({} - ({})) * {}", value.empty() ? "0.0" : value, sum, factor));
    }
    // the first j entries of a row of a block's factor
    [[nodiscard]] std::vector<std::string> row(const ColumnLayout::Block& b, std::size_t j) const {
        const auto begin = L_.begin() + static_cast<std::ptrdiff_t>(b.offset + j * b.size);
        return {begin, begin + static_cast<std::ptrdiff_t>(b.size)};
    }

    void factor_mass() {
        for (const ColumnLayout::Block& b : columns_.blocks)
            for (std::size_t j = 0; j < b.size; ++j) {
                for (std::size_t i = 0; i < j; ++i)
                    L_[b.offset + j * b.size + i] = reduced(operand(b.offset + j * b.size + i),
                                                            sum_of_products(row(b, j), row(b, i), 0, i), inverse_[b.begin + i]);
                const std::string sum = sum_of_products(row(b, j), row(b, j), 0, j);
                std::string diagonal = operand(b.offset + j * b.size + j);
                if (diagonal.empty()) diagonal = "0.0";
                const std::string pivot = sum.empty() ? diagonal : define(fmt::format("{} - ({})", diagonal, sum));
                demand(fmt::format("{} > least_mass_pivot * {}", pivot, diagonal));
                const std::string root = define(fmt::format("sqrt({})", pivot));
                L_[b.offset + j * b.size + j] = root;
                inverse_[b.begin + j] = define("1.0 / " + root);
            }
    }
    // v = L^-1 v
    void forward(std::vector<std::string>& v, const ColumnLayout::Block& b) {
        for (std::size_t j = 0; j < b.size; ++j) {
            std::string sum;
            for (std::size_t i = 0; i < j; ++i)
                if (const std::string& l = L_[b.offset + j * b.size + i]; !l.empty() && !v[b.begin + i].empty())
                    sum += fmt::format("{}{} * {}", sum.empty() ? "" : " + ", l, v[b.begin + i]);
            v[b.begin + j] = reduced(v[b.begin + j], sum, inverse_[b.begin + j]);
        }
    }
    // v = L^-T v
    void backward(std::vector<std::string>& v, const ColumnLayout::Block& b) {
        for (std::size_t j = b.size; j-- > 0;) {
            v[b.begin + j] = define(fmt::format("{} * {}", v[b.begin + j], inverse_[b.begin + j]));
            for (std::size_t i = 0; i < j; ++i)
                if (const std::string& l = L_[b.offset + j * b.size + i]; !l.empty())
                    v[b.begin + i] = define(fmt::format("{} - {} * {}", v[b.begin + i], v[b.begin + j], l));
        }
    }

    const SolveBlock& block_;
    const ColumnLayout columns_;
    std::string name_, out_;
    std::map<std::size_t, std::size_t> written_;  // operand -> the one it is read from
    std::map<Slot, std::size_t> first_;
    std::map<std::string, std::string> known_;
    std::set<std::string> demanded_;
    std::vector<std::string> L_, inverse_;
};

}  // namespace

std::optional<std::string> small_solve_text(const SolveBlock& block, const std::string& name) {
    if (block.kind != SolveKind::multipliers || block.rows > 1 || block.size == 0 || block.size > k_most_columns)
        return std::nullopt;
    std::string text = Unrolling(block, name).text();
    if (text.empty()) return std::nullopt;
    return text;
}

}  // namespace appell
