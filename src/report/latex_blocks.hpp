// Parts of a formula document that LaTeX and Markdown share: equations aligned and broken into lines, matrices that fit.
#pragma once

#include <string>
#include <vector>

#include "report/document.hpp"

namespace appell {

inline constexpr double k_text_width = 450;  // points: a page of A4 with margins of 25 mm

// The rows of `aligned` or `align*` environments, without row ends: one list for each environment, as TeX keeps a whole
// environment in memory and long lists must be cut.
[[nodiscard]] std::vector<std::vector<std::string>> aligned_rows(const Equations& equations);

// "M = \begin{bmatrix} ... \end{bmatrix}"; empty when it is wider than the page. `row_end` separates its rows.
[[nodiscard]] std::string matrix_formula(const Matrix& matrix, const std::string& row_end);
// ... and its entries one by one, M_{1,2} = ...
[[nodiscard]] Equations matrix_entries(const Matrix& matrix);

}  // namespace appell
