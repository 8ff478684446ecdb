#include "study/figure_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "config/suggest.hpp"
#include "config/value.hpp"
#include "study/joined.hpp"

namespace lockstep::study {
namespace {

using config::printable;

struct KindName {
  std::string_view name;
  Figure::Kind kind;
};
constexpr KindName kFigureKinds[] = {{"lines", Figure::Kind::kLines},
                                     {"bars", Figure::Kind::kBars},
                                     {"heat_map", Figure::Kind::kHeatMap},
                                     {"pareto", Figure::Kind::kPareto}};

/// The labels of an axis, or the names of the workloads; nullopt: `column` is neither.
std::optional<std::vector<std::string>> labels_of(const Study& study, std::string_view column) {
  std::vector<std::string> labels;
  if (column == kWorkloadColumn) {
    for (const Workload& w : study.workloads) labels.push_back(w.name);
    return labels;
  }
  const auto axis = std::ranges::find(study.axes, column, &Axis::name);
  if (axis == study.axes.end()) return std::nullopt;
  for (const AxisPoint& point : axis->points) labels.push_back(point.label);
  return labels;
}

std::vector<std::string> axis_names(const Study& study) {
  std::vector<std::string> names{std::string(kWorkloadColumn)};
  for (const Axis& axis : study.axes) names.push_back(axis.name);
  return names;
}

std::vector<std::string> need_axis(const TableReader& reader, const Study& study, const std::string& key,
                                   const std::string& name, std::uint64_t line) {
  if (auto labels = labels_of(study, name)) return *labels;
  const auto names = axis_names(study);
  const std::vector<std::string_view> views(names.begin(), names.end());
  reader.fail(fmt::format("{}: '{}' is not an axis{}; expected one of {}", key, printable(name),
                          config::suggestion(name, views), joined(names, ", ")),
              line);
}

Figure::Kind read_kind(TableReader& reader) {
  const std::string name = reader.text("kind").value_or("lines");
  for (const KindName& kind : kFigureKinds)
    if (kind.name == name) return kind.kind;
  reader.fail(fmt::format("found kind = '{}', expected lines, bars, heat_map or pareto", printable(name)));
}

std::string need(TableReader& reader, const std::string& key, std::string_view what) {
  const auto text = reader.text(key);
  if (!text) reader.fail(fmt::format("expected {}, {}", key, what));
  return *text;
}

bool is_file_name(std::string_view name) {
  return name.size() <= 100 && std::ranges::all_of(name, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
                  c == '-';
         });
}

/// Where several runs would stand at one place, the figure would show one of them by chance.
void check_unique(const TableReader& reader, const Study& study, const Figure& figure) {
  for (const std::string& name : axis_names(study)) {
    const bool shown = name == figure.x || name == figure.series ||
                       (figure.kind == Figure::Kind::kHeatMap && name == figure.y);
    const bool fixed = std::ranges::any_of(figure.where, [&](const auto& w) { return w.first == name; });
    if (shown || fixed || labels_of(study, name)->size() == 1) continue;
    reader.fail(
        fmt::format("several runs would stand at one place: expected axis '{}' as x, series or in where",
                    printable(name)));
  }
}

/// A line's x has to be a number.
void check_numbers(const TableReader& reader, const Study& study, const Figure& figure) {
  const auto axis = std::ranges::find(study.axes, figure.x, &Axis::name);
  if (axis == study.axes.end() || !std::ranges::all_of(axis->points, &AxisPoint::numeric))
    reader.fail(
        fmt::format("the values of x = '{}' are not numbers; expected kind = \"bars\", or labels that are",
                    printable(figure.x)));
}

bool read_better(TableReader& reader, const Figure& figure, const std::string& key) {
  const auto text = reader.text(key);
  if (!text) return false;
  if (figure.kind != Figure::Kind::kPareto) reader.fail(key + ": only a Pareto figure has it");
  if (*text != "lower" && *text != "higher")
    reader.fail(fmt::format("found {} = '{}', expected lower or higher", key, printable(*text)));
  return *text == "higher";
}

void read_axes(TableReader& reader, const Study& study, Figure& figure) {
  using Kind = Figure::Kind;
  figure.x = need(reader, "x", figure.kind == Kind::kPareto ? "a column of the table" : "an axis");
  figure.y = need(reader, "y", figure.kind == Kind::kHeatMap ? "an axis" : "a column of the table");
  if (figure.kind == Kind::kHeatMap) figure.value = need(reader, "value", "a column of the table");
  figure.series = reader.text("series").value_or("");
  if (figure.kind == Kind::kHeatMap && !figure.series.empty()) reader.fail("series: a heat map has none");
  if (figure.kind != Kind::kPareto) (void)need_axis(reader, study, "x", figure.x, 0);
  if (figure.kind == Kind::kHeatMap) (void)need_axis(reader, study, "y", figure.y, 0);
  if (!figure.series.empty()) (void)need_axis(reader, study, "series", figure.series, 0);
  if (figure.kind == Kind::kPareto && !figure.series.empty()) reader.fail("series: a Pareto figure has none");
  if (figure.kind == Kind::kLines) check_numbers(reader, study, figure);
  figure.x_higher = read_better(reader, figure, "x_better");
  figure.y_higher = read_better(reader, figure, "y_better");
}

}  // namespace

Where read_where(const TableReader& reader, const std::string& key, const TomlValue& table,
                 const Study& study) {
  Where where;
  for (const auto& [axis, value] : std::get<TomlMap>(table.data)) {
    const auto labels = need_axis(reader, study, key, axis, value.line);
    if (!value.is_scalar()) reader.expected(key + "." + axis, value, "one value of the axis");
    if (std::ranges::find(labels, value.text()) == labels.end())
      reader.expected(key + "." + axis, value, fmt::format("one of {}", joined(labels, ", ")));
    where.emplace_back(axis, value.text());
  }
  return where;
}

Figure read_figure(const TomlValue& table, const Study& study) {
  TableReader reader(table, study.file, "figure");
  Figure figure;
  figure.line = table.line;
  figure.name = need(reader, "name", "which names its file");
  if (!is_file_name(figure.name)) reader.fail("name: expected at most 100 letters, digits, '-' and '_'");
  reader.set_where(fmt::format("figure '{}'", figure.name));
  figure.kind = read_kind(reader);
  figure.title = reader.text("title").value_or(study.title);
  read_axes(reader, study, figure);
  if (const TomlValue* where = reader.table("where"))
    figure.where = read_where(reader, "where", *where, study);
  reader.done();
  if (figure.kind != Figure::Kind::kPareto) check_unique(reader, study, figure);
  for (const Figure& other : study.figures)
    if (other.name == figure.name) reader.fail("two figures have this name");
  return figure;
}

}  // namespace lockstep::study
