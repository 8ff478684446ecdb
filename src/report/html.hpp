// Pieces of the page. All text that comes from a run is escaped here.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::report {

/// A cell of a table: text, and the number by which it is sorted, if any.
struct Cell {
  std::string html;
  std::optional<double> value;
};
[[nodiscard]] Cell text_cell(std::string_view text);
/// A link to a part of the page.
[[nodiscard]] Cell link_cell(std::string_view anchor, std::string_view text);
/// "1,234,567"; decimals where it is not a whole number.
[[nodiscard]] Cell number_cell(double value, unsigned decimals = 0);
/// "12.3 %" beside a bar.
[[nodiscard]] Cell share_cell(double share);
/// "1.5M" with the exact number as a hint.
[[nodiscard]] Cell short_cell(double value, std::string_view unit = "");
/// "+12.3 %" of b against a; "new" where a is 0.
[[nodiscard]] Cell change_cell(double a, double b);

struct Column {
  std::string title;
  std::string hint;  // explanation, shown as a tooltip
  bool numeric = true;
};
/// `sortable`: a click on a heading sorts, where scripts run.
[[nodiscard]] std::string table(const std::vector<Column>& columns,
                                const std::vector<std::vector<Cell>>& rows, bool sortable = true);

[[nodiscard]] std::string heading(unsigned level, std::string_view text, std::string_view anchor = "");
[[nodiscard]] std::string paragraph(std::string_view text, std::string_view css_class = "");
/// A part that can be collapsed.
[[nodiscard]] std::string folded(std::string_view title, std::string_view html, bool open);

/// The whole document: one file that needs no other.
[[nodiscard]] std::string document(std::string_view title, std::string_view body);

}  // namespace lockstep::report
