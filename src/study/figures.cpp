#include "study/figures.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "plot/chart.hpp"

namespace lockstep::study {
namespace {

std::string text_of(const Cell& cell) { return cell.is_string() ? cell.get<std::string>() : cell.dump(); }

/// Whether the cell is what the axis calls `label`: "1e3" is 1000 in the table.
bool is_called(const Cell& cell, const std::string& label) {
  if (!cell.is_number()) return text_of(cell) == label;
  const Cell number = Cell::parse(label, nullptr, false);
  return number.is_number() && number == cell;
}

/// The rows that the figure's `where` lets pass.
std::vector<std::size_t> rows_of(const Figure& figure, const Table& table) {
  std::vector<std::size_t> rows;
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    const bool wanted = std::ranges::all_of(
        figure.where, [&](const auto& w) { return is_called(table.at(r, w.first), w.second); });
    if (wanted) rows.push_back(r);
  }
  return rows;
}

/// The different texts of a column in the order of the rows.
std::vector<std::string> labels_of(const Table& table, const std::vector<std::size_t>& rows,
                                   const std::string& column) {
  std::vector<std::string> labels;
  for (const std::size_t r : rows) {
    const std::string label = text_of(table.at(r, column));
    if (std::ranges::find(labels, label) == labels.end()) labels.push_back(label);
  }
  return labels;
}

std::size_t index_of(const std::vector<std::string>& labels, const std::string& label) {
  return static_cast<std::size_t>(std::ranges::find(labels, label) - labels.begin());
}

double value_of(const Cell& cell) {
  return cell.is_number() ? cell.get<double>() : std::numeric_limits<double>::quiet_NaN();
}

/// Names of the series, and of each row which it is in.
struct SeriesOf {
  std::vector<std::string> names;
  std::string column;
  SeriesOf(const Figure& figure, const Table& table, const std::vector<std::size_t>& rows)
      : column(figure.series) {
    if (column.empty()) {
      names = {""};
    } else {
      names = labels_of(table, rows, column);
    }
  }
  [[nodiscard]] std::size_t of(const Table& table, std::size_t row) const {
    return column.empty() ? 0 : index_of(names, text_of(table.at(row, column)));
  }
  [[nodiscard]] std::string title(std::size_t series) const {
    return column.empty() ? "" : column + " " + names[series];
  }
};

/// The axis as categories.
std::string draw_bars(const Figure& figure, const Table& table, const std::vector<std::size_t>& rows) {
  const SeriesOf series(figure, table, rows);
  plot::BarChart chart;
  chart.title = figure.title;
  chart.category_title = figure.x;
  chart.value.title = figure.y;
  chart.categories = labels_of(table, rows, figure.x);
  for (std::size_t s = 0; s < series.names.size(); ++s) {
    const std::vector<double> none(chart.categories.size(), std::numeric_limits<double>::quiet_NaN());
    chart.series.push_back({series.title(s), none, {}});
  }
  for (const std::size_t r : rows)
    chart.series[series.of(table, r)].values[index_of(chart.categories, text_of(table.at(r, figure.x)))] =
        value_of(table.at(r, figure.y));
  return plot::svg(chart);
}

std::string draw_lines(const Figure& figure, const Table& table, const std::vector<std::size_t>& rows) {
  const SeriesOf series(figure, table, rows);
  plot::Chart chart;
  chart.title = figure.title;
  chart.x.title = figure.x;
  chart.y.title = figure.y;
  chart.y.zero = true;
  for (std::size_t s = 0; s < series.names.size(); ++s)
    chart.series.push_back({series.title(s), {}, plot::Mark::kLineAndPoints, {}});
  for (const std::size_t r : rows)
    if (table.at(r, figure.y).is_number())
      chart.series[series.of(table, r)].points.push_back(
          {value_of(table.at(r, figure.x)), value_of(table.at(r, figure.y)), ""});
  for (plot::Series& line : chart.series) std::ranges::stable_sort(line.points, {}, &plot::Point::x);
  return plot::svg(chart);
}

std::string draw_heat_map(const Figure& figure, const Table& table, const std::vector<std::size_t>& rows) {
  plot::HeatMap map;
  map.title = figure.title;
  map.x_title = figure.x;
  map.y_title = figure.y;
  map.value_title = figure.value;
  map.columns = labels_of(table, rows, figure.x);
  map.rows = labels_of(table, rows, figure.y);
  map.values.assign(map.columns.size() * map.rows.size(), std::numeric_limits<double>::quiet_NaN());
  for (const std::size_t r : rows)
    map.values[index_of(map.rows, text_of(table.at(r, figure.y))) * map.columns.size() +
               index_of(map.columns, text_of(table.at(r, figure.x)))] = value_of(table.at(r, figure.value));
  return plot::svg(map);
}

std::string point_label(const Study& study, const Table& table, std::size_t row) {
  std::string label = study.workloads.size() > 1 ? text_of(table.at(row, kWorkloadColumn)) : "";
  for (const Axis& axis : study.axes)
    if (axis.points.size() > 1)
      label.append(label.empty() ? "" : ", ").append(axis.name + " " + text_of(table.at(row, axis.name)));
  return label;
}

std::string draw_pareto(const Study& study, const Figure& figure, const Table& table,
                        const std::vector<std::size_t>& rows) {
  plot::ParetoChart chart;
  chart.title = figure.title;
  chart.x.title = figure.x;
  chart.y.title = figure.y;
  chart.x_better = figure.x_higher ? plot::Better::kHigher : plot::Better::kLower;
  chart.y_better = figure.y_higher ? plot::Better::kHigher : plot::Better::kLower;
  for (const std::size_t r : rows)
    if (table.at(r, figure.x).is_number() && table.at(r, figure.y).is_number())
      chart.points.push_back(
          {value_of(table.at(r, figure.x)), value_of(table.at(r, figure.y)), point_label(study, table, r)});
  return plot::svg(chart);
}

}  // namespace

std::string draw(const Study& study, const Figure& figure, const Table& table) {
  const auto rows = rows_of(figure, table);
  switch (figure.kind) {
    case Figure::Kind::kLines:
      return draw_lines(figure, table, rows);
    case Figure::Kind::kBars:
      return draw_bars(figure, table, rows);
    case Figure::Kind::kHeatMap:
      return draw_heat_map(figure, table, rows);
    case Figure::Kind::kPareto:
      return draw_pareto(study, figure, table, rows);
  }
  return "";
}

}  // namespace lockstep::study
