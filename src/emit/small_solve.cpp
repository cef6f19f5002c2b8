#include "emit/small_solve.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "emit/identifiers.hpp"
#include "emit/solve_text.hpp"

namespace appell {

namespace {

// from 16 terms on sums are taken in four parts (dot of runtime/constrained_solve.c), and unrolling pays no more
constexpr std::size_t k_most_columns = 15;
constexpr std::size_t k_most_rows = 3;

// Values are names of variables; an empty name is zero.
class Unrolling {
public:
    Unrolling(const SolveBlock& block, std::string name) : block_(&block), columns_(block), name_(std::move(name)) {
        for (const MatrixEntry& e : block.M) place(columns_.mass(e.row, e.column), e.slot);
        for (const MatrixEntry& e : block.A) place(columns_.row_entry(e.row, e.column), e.slot);
    }

    std::string text() {
        const std::size_t n = block_->size, m = block_->rows;
        L_.resize(columns_.entries);
        inverse_.resize(n);
        factor_mass();
        x_.resize(n);
        for (std::size_t i = 0; i < n; ++i) x_[i] = fmt::format("o[{}]", columns_.entries + m * n + i);
        for (const ColumnLayout::Block& b : columns_.blocks) forward(x_, b);
        for (std::size_t row = 0; row < m; ++row) {
            a_.emplace_back(n);
            for (std::size_t i = 0; i < n; ++i) a_[row][i] = operand(columns_.entries + row * n + i);
            for (const ColumnLayout::Block& b : columns_.blocks) forward(a_[row], b);
        }
        if (m == 0) finish({});
        if (m == 1 && !one_row()) return {};
        if (m > 1 && !several_rows()) return {};
        return fmt::format("static int {}(const double *o, double *z, MODEL_report *r) {{\n{}}}\n\n", name_, out_);
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
    [[nodiscard]] std::string b(std::size_t row) const {
        return fmt::format("o[{}]", columns_.entries + block_->rows * block_->size + block_->size + row);
    }

    // z = L^-1 f + g lambda with g = L^-1 A' and g z = b; false for a row without entries
    bool one_row() {
        const std::size_t n = block_->size;
        const std::string square = define(sum_of_products(a_[0], a_[0], 0, n));
        if (square.empty()) return false;
        demand(square + " > 0");
        const std::string lambda = define(fmt::format("({} - ({})) / {}", b(0), sum_of_products(a_[0], x_, 0, n), square));
        for (std::size_t i = 0; i < n; ++i)
            if (!a_[0][i].empty()) x_[i] = define(fmt::format("{} + {} * {}", x_[i], lambda, a_[0][i]));
        finish({lambda});
        return true;
    }

    // Rows made orthonormal, the longest remainder first. They begin with unit length, so that the first one leads, and of three
    // it is the second step that has a choice. A remainder above the largest tolerance that dependent rows have needs no other.
    bool several_rows() {
        const std::size_t n = block_->size, m = block_->rows;
        std::string longest;
        for (std::size_t row = 0; row < m; ++row) {
            const std::string square = sum_of_products(a_[row], a_[row], 0, n);
            if (square.empty()) return false;
            length_.push_back(define(fmt::format("sqrt({})", square)));
            longest = row == 0 ? length_[0] : define(fmt::format("larger({}, {})", longest, length_[row]));
        }
        const double round_off = static_cast<double>(std::max(n, m)) * std::numeric_limits<double>::epsilon();
        for (std::size_t row = 0; row < m; ++row) {
            demand(fmt::format("{} > {} * {}", length_[row], as_number(round_off), longest));
            const std::string scale = define("1.0 / " + length_[row]);
            q_.push_back(a_[row]);
            for (std::string& entry : q_[row])
                if (!entry.empty()) entry = define(fmt::format("{} * {}", entry, scale));
        }
        R_.assign(m * m, {});
        std::vector<std::string> left;
        for (std::size_t row = 0; row < m; ++row) left.push_back(remainder(row));
        for (std::size_t row = 1; row < m; ++row) demand(fmt::format("{} <= 1.001 * {}", left[row], left[0]));
        demand(left[0] + " > 1e-6");
        choose(0, m);
        if (m == 2) {
            demand(remainder(1) + " > 1e-6");
            choose(1, m);
            solve_rows();
            return true;
        }
        const std::string second = remainder(1), third = remainder(2);
        const Unrolling before = *this;
        std::string branches;
        for (const bool third_first : {true, false}) {
            *this = before;
            out_.clear();
            demand(fmt::format("{} > 1e-6", third_first ? third : second));
            choose(third_first ? 2 : 1, m);
            demand(remainder(third_first ? 1 : 2) + " > 1e-6");
            choose(third_first ? 1 : 2, m);
            solve_rows();
            branches += third_first ? fmt::format("    if ({} > 1.001 * {}) {{\n{}    }} else {{\n", third, second, out_)
                                    : out_ + "    }\n";
        }
        out_ = before.out_ + branches;
        return true;
    }
    std::string remainder(std::size_t row) {
        return define(fmt::format("sqrt({})", sum_of_products(q_[row], q_[row], 0, block_->size)));
    }
    // takes the part along a chosen row out of another
    void remove_part(std::size_t row, std::size_t direction, std::size_t k) {
        const std::string product = sum_of_products(q_[direction], q_[row], 0, block_->size);
        if (product.empty()) return;
        const std::string part = define(product);
        for (std::size_t i = 0; i < block_->size; ++i)
            if (!q_[direction][i].empty())
                q_[row][i] = define(q_[row][i].empty() ? fmt::format("-{} * {}", part, q_[direction][i])
                                                       : fmt::format("{} - {} * {}", q_[row][i], part, q_[direction][i]));
        std::string& entry = R_[k * block_->rows + row];
        entry = entry.empty() ? part : define(fmt::format("{} + {}", entry, part));
    }
    void choose(std::size_t row, std::size_t m) {
        const std::size_t k = pivot_.size();
        for (std::size_t i = 0; i < k; ++i) remove_part(row, pivot_[i], i);
        const std::string length = remainder(row);
        R_[k * m + row] = length;
        const std::string inverse = define("1.0 / " + length);
        for (std::string& entry : q_[row])
            if (!entry.empty()) entry = define(fmt::format("{} * {}", entry, inverse));
        pivot_.push_back(row);
        for (std::size_t other = 0; other < m; ++other)
            if (std::find(pivot_.begin(), pivot_.end(), other) == pivot_.end()) remove_part(other, row, k);
    }
    // z = L' x has the parts along the rows that b asks for, and for the rest those of L^-1 f
    void solve_rows() {
        const std::size_t n = block_->size, m = block_->rows;
        std::vector<std::string> w(m), part(m), lambda(m);
        for (std::size_t k = 0; k < m; ++k) {
            const std::size_t p = pivot_[k];
            std::string value = define(fmt::format("{} / {}", b(p), length_[p]));
            for (std::size_t i = 0; i < k; ++i)
                if (const std::string& r = R_[i * m + p]; !r.empty()) value = define(fmt::format("{} - {} * {}", value, r, w[i]));
            w[k] = define(fmt::format("{} / {}", value, R_[k * m + p]));
            part[k] = define(fmt::format("{} - ({})", w[k], sum_of_products(q_[p], x_, 0, n)));
            for (std::size_t i = 0; i < n; ++i)
                if (!q_[p][i].empty()) x_[i] = define(fmt::format("{} + {} * {}", x_[i], part[k], q_[p][i]));
        }
        for (std::size_t k = m; k-- > 0;) {
            std::string value = part[k];
            for (std::size_t i = k + 1; i < m; ++i)
                if (const std::string& r = R_[k * m + pivot_[i]]; !r.empty())
                    value = define(fmt::format("{} - {} * {}", value, r, part[i]));
            part[k] = define(fmt::format("{} / {}", value, R_[k * m + pivot_[k]]));
            lambda[pivot_[k]] = define(fmt::format("{} / {}", part[k], length_[pivot_[k]]));
        }
        const std::string& last = R_[(m - 1) * m + pivot_[m - 1]];
        out_ += fmt::format("    if ({0} < r->smallest_pivot) r->smallest_pivot = {0};\n", last);
        finish(lambda);
    }
    // x from z, the results, and whether they are finite
    void finish(const std::vector<std::string>& lambda) {
        for (const ColumnLayout::Block& block : columns_.blocks) backward(x_, block);
        std::string finite;
        for (std::size_t i = 0; i < block_->size; ++i) {
            out_ += fmt::format("    z[{}] = {};\n", columns_.order[i], x_[i]);
            finite += fmt::format("{0}({1} - {1})", i == 0 ? "" : " + ", x_[i]);
        }
        for (std::size_t i = 0; i < lambda.size(); ++i) {
            out_ += fmt::format("    z[{}] = {};\n", block_->size + i, lambda[i]);
            finite += fmt::format(" + ({0} - {0})", lambda[i]);
        }
        out_ += fmt::format("    r->rank = {} + r->servo_rank;\n    r->weakest_row = {};\n    return {} == 0;\n", lambda.size(),
                            pivot_.empty() ? 0 : pivot_.back(), finite);
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

    const SolveBlock* block_;
    ColumnLayout columns_;
    std::string name_, out_;
    std::map<std::size_t, std::size_t> written_;  // operand -> the one it is read from
    std::map<Slot, std::size_t> first_;
    std::map<std::string, std::string> known_;
    std::set<std::string> demanded_;
    std::vector<std::string> L_, inverse_, x_;
    std::vector<std::vector<std::string>> a_, q_;  // rows L^-1 A', and what is left of them
    std::vector<std::string> length_, R_;          // as in runtime/constrained_solve.c
    std::vector<std::size_t> pivot_;
};

}  // namespace

std::optional<std::string> small_solve_text(const SolveBlock& block, const std::string& name) {
    if (block.kind != SolveKind::multipliers || block.rows > k_most_rows || block.rows > block.size || block.size == 0 ||
        block.size > k_most_columns)
        return std::nullopt;
    std::string text = Unrolling(block, name).text();
    if (text.empty()) return std::nullopt;
    return text;
}

}  // namespace appell
