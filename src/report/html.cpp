#include "report/html.hpp"

#include <fmt/format.h>

#include <cmath>

#include "plot/canvas.hpp"
#include "plot/chart.hpp"
#include "plot/ticks.hpp"
#include "report/style.hpp"
#include "stats/text.hpp"

namespace lockstep::report {

using plot::escaped;

namespace {

constexpr double kTwoTo64 = 18446744073709551616.0;

/// As JavaScript's Number() reads it.
std::string sort_key(double value) {
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  return fmt::format("{}", value);
}

}  // namespace

Cell text_cell(std::string_view text) { return {escaped(text), {}}; }

Cell link_cell(std::string_view anchor, std::string_view text) {
  return {fmt::format("<a href=\"#{}\">{}</a>", escaped(anchor), escaped(text)), {}};
}

Cell number_cell(double value, unsigned decimals) {
  if (decimals > 0) return {fmt::format("{:.{}f}", value, decimals), value};
  const double whole = std::round(std::max(0.0, value));
  if (whole >= kTwoTo64) return {fmt::format("{:.4g}", whole), value};
  return {stats::grouped(static_cast<std::uint64_t>(whole)), value};
}

Cell share_cell(double share) {
  const double percent = 100 * share;
  return {fmt::format("<span class=\"bar\"><i style=\"width:{:.1f}%\"></i></span>{:.1f} %",
                      std::min(100.0, std::max(0.0, percent)), percent),
          share};
}

Cell short_cell(double value, std::string_view unit) {
  return {fmt::format("<span title=\"{0}\">{1}{2}{3}</span>", number_cell(value).html, plot::number(value),
                      unit.empty() ? "" : " ", escaped(unit)),
          value};
}

Cell change_cell(double a, double b) {
  if (a == 0) return {b == 0 ? "=" : "new", b == 0 ? 0.0 : HUGE_VAL};
  const double change = b / a - 1;
  if (change == 0) return {"=", 0.0};
  return {fmt::format("{:+.1f} %", 100 * change), change};
}

std::string table(const std::vector<Column>& columns, const std::vector<std::vector<Cell>>& rows,
                  bool sortable) {
  std::string html =
      fmt::format("<div class=\"wide\"><table{}><thead><tr>", sortable ? " class=\"sortable\"" : "");
  for (const Column& c : columns)
    html +=
        fmt::format("<th{}{}>{}</th>", c.numeric ? " class=\"n\"" : "",
                    c.hint.empty() ? "" : fmt::format(" title=\"{}\"", escaped(c.hint)), escaped(c.title));
  html += "</tr></thead><tbody>\n";
  for (const auto& row : rows) {
    html += "<tr>";
    for (std::size_t i = 0; i < row.size(); ++i) {
      const bool numeric = i < columns.size() && columns[i].numeric;
      html += fmt::format("<td{}{}>{}</td>", numeric ? " class=\"n\"" : "",
                          row[i].value ? fmt::format(" data-v=\"{}\"", sort_key(*row[i].value)) : "",
                          row[i].html);
    }
    html += "</tr>\n";
  }
  return html + "</tbody></table></div>\n";
}

std::string heading(unsigned level, std::string_view text, std::string_view anchor) {
  return fmt::format("<h{0}{2}>{1}</h{0}>\n", level, escaped(text),
                     anchor.empty() ? "" : fmt::format(" id=\"{}\"", escaped(anchor)));
}

std::string paragraph(std::string_view text, std::string_view css_class) {
  return fmt::format("<p{}>{}</p>\n", css_class.empty() ? "" : fmt::format(" class=\"{}\"", css_class),
                     escaped(text));
}

std::string folded(std::string_view title, std::string_view html, bool open) {
  return fmt::format("<details{}><summary>{}</summary>\n{}</details>\n", open ? " open" : "", escaped(title),
                     html);
}

std::string document(std::string_view title, std::string_view body) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{}</title>\n"
      "<style>\n{}{}</style>\n</head>\n<body>\n{}<script>\n{}</script>\n</body>\n</html>\n",
      escaped(title), page_style(), plot::style_sheet(), body, page_script());
}

}  // namespace lockstep::report
