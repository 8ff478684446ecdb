#include "study/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <unordered_map>

#include "config/suggest.hpp"
#include "stats/report.hpp"
#include "stats/stored_run.hpp"
#include "stats/text.hpp"
#include "util/error.hpp"

namespace lockstep::study {
namespace {

using Values = std::vector<std::pair<std::string, Cell>>;  // by column

/// Lists have a row each elsewhere (kernels, copies), or belong to one run alone.
void flatten(const std::string& path, const Cell& value, Values& out) {
  if (value.is_object()) {
    for (const auto& [key, child] : value.items()) flatten(path.empty() ? key : path + "." + key, child, out);
  } else if (!value.is_array()) {
    out.emplace_back(path, value);
  }
}

/// What the whole run says; numbers of the configuration's and of opcodes' names are no columns.
Values values_of(const Cell& stats) {
  Values values;
  for (const auto& [key, child] : stats.items()) {
    if (key == "schema" || key == "overrides" || key == "unknown_opcodes") continue;
    flatten(key == "total" ? "" : key, child, values);
    if (key == "total_cycles" && stats.contains("core_khz") && stats["core_khz"].is_number_unsigned() &&
        child.is_number_unsigned())
      values.emplace_back("run_ns", Cell::parse(stats::cycles_to_ns(child.get<std::uint64_t>(),
                                                                    stats["core_khz"].get<std::uint64_t>()),
                                                nullptr, false));
  }
  return values;
}

/// Values of rows by column: columns come in the order in which the rows bring them.
class Builder {
 public:
  void set(std::size_t row, const std::string& column, Cell value) {
    const auto [found, added] = index_.try_emplace(column, table_.columns.size());
    if (added) table_.columns.push_back(column);
    if (table_.rows.size() <= row) table_.rows.resize(row + 1);
    auto& cells = table_.rows[row];
    if (cells.size() <= found->second) cells.resize(found->second + 1);
    cells[found->second] = std::move(value);
  }
  Table take() {
    for (auto& row : table_.rows) row.resize(table_.columns.size());
    return std::move(table_);
  }

 private:
  Table table_;
  std::unordered_map<std::string, std::size_t> index_;
};

Cell cell_of(const AxisPoint& point) {
  if (!point.numeric) return point.label;
  const Cell number = Cell::parse(point.label, nullptr, false);  // "12" as a whole number
  return number.is_number() ? number : Cell(point.label);
}

double number_of(const Cell& cell) { return cell.is_number() ? cell.get<double>() : 0; }

/// The row with the labels of `against`, and else those of `run`.
std::size_t baseline_of(const Study& study, std::span<const PlannedRun> runs, const PlannedRun& run) {
  std::size_t workload = run.workload;
  std::vector<std::size_t> points = run.points;
  for (const auto& [name, label] : study.speedup->against) {
    if (name == kWorkloadColumn) {
      workload = static_cast<std::size_t>(std::ranges::find(study.workloads, label, &Workload::name) -
                                          study.workloads.begin());
      continue;
    }
    const auto axis = std::ranges::find(study.axes, name, &Axis::name);
    points[static_cast<std::size_t>(axis - study.axes.begin())] = static_cast<std::size_t>(
        std::ranges::find(axis->points, label, &AxisPoint::label) - axis->points.begin());
  }
  std::size_t row = workload;
  for (std::size_t a = 0; a < study.axes.size(); ++a) row = row * study.axes[a].points.size() + points[a];
  return std::min(row, runs.size() - 1);
}

void add_speedup(const Study& study, std::span<const PlannedRun> runs, Table& table) {
  const std::size_t of = table.column(study.speedup->of);
  if (of == table.columns.size()) return;
  table.columns.emplace_back("speedup");
  for (std::size_t r = 0; r < runs.size(); ++r) {
    const double base = number_of(table.rows[baseline_of(study, runs, runs[r])][of]);
    const double own = number_of(table.rows[r][of]);
    table.rows[r].push_back(base > 0 && own > 0 ? Cell(base / own) : Cell());
  }
}

/// Quoted where it must be.
std::string csv_cell(const Cell& cell) {
  if (cell.is_null()) return "";
  const std::string text = cell.is_string() ? cell.get<std::string>() : cell.dump();
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted.append(c == '"' ? 2 : 1, c);
  return quoted + '"';
}

Cell row_object(const Table& table, const std::vector<Cell>& row) {
  Cell object = Cell::object();
  for (std::size_t c = 0; c < row.size(); ++c)
    if (!row[c].is_null()) object[table.columns[c]] = row[c];
  return object;
}

std::string dumped(const Cell& value) { return value.dump(-1, ' ', false, Cell::error_handler_t::replace); }

std::string shown(const Cell& cell) {
  if (cell.is_null()) return "-";
  if (cell.is_number_unsigned()) return stats::grouped(cell.get<std::uint64_t>());
  if (cell.is_number_float()) return fmt::format("{:.6g}", cell.get<double>());
  return stats::printable(cell.is_string() ? cell.get<std::string>() : cell.dump());
}

/// Axis values as written: "1312" is no "1,312" there.
std::string shown_label(const Cell& cell) { return cell.is_number() ? cell.dump() : shown(cell); }

std::vector<std::string> shown_columns(const Study& study, const Table& table) {
  std::vector<std::string> columns;
  if (study.workloads.size() > 1) columns.emplace_back(kWorkloadColumn);
  for (const Axis& axis : study.axes) columns.push_back(axis.name);
  columns.emplace_back("state");
  std::vector<std::string> statistics = study.columns;
  if (statistics.empty()) statistics = {"cycles", "elapsed_ns", "ipc"};
  if (study.speedup && std::ranges::find(statistics, "speedup") == statistics.end())
    statistics.emplace_back("speedup");
  for (const std::string& name : statistics)
    if (table.column(name) < table.columns.size()) columns.push_back(name);
  return columns;
}

std::string aligned(const std::vector<std::vector<std::string>>& lines, std::size_t left) {
  std::vector<std::size_t> widths(lines.front().size());
  for (const auto& line : lines)
    for (std::size_t c = 0; c < line.size(); ++c) widths[c] = std::max(widths[c], line[c].size());
  std::string text;
  for (const auto& line : lines) {
    std::string row;
    for (std::size_t c = 0; c < line.size(); ++c)
      row += c < left ? fmt::format("{:<{}}  ", line[c], widths[c])
                      : fmt::format("{:>{}}  ", line[c], widths[c]);
    row.erase(row.find_last_not_of(' ') + 1);
    text += row + "\n";
  }
  return text;
}

/// All statistics that a run of this version can have. Which there are depends on the devices, on managed
/// memory and on sampling.
std::vector<std::string> possible_statistics() {
  std::vector<std::string> columns;
  stats::RunReport report;
  report.core_khz = 1;
  report.kernels.resize(1);
  report.kernels[0].energy = stats::EnergyParts{};
  report.managed = stats::ManagedReport{};
  report.system = stats::SystemReport{};
  report.system->devices.resize(1);
  report.sampling = stats::SamplingReport{};
  for (auto& [column, value] : values_of(Cell::parse(stats::to_json(report)))) columns.push_back(column);
  return columns;
}

/// Throws where the study names a column that is not one of `columns` and does not begin with `group`.
void need_columns(const Study& study, const std::vector<std::string>& columns,
                  const std::optional<std::string_view>& group) {
  const auto need = [&](const std::string& what, const std::string& name, std::uint64_t line) {
    const bool known =
        (group && name.starts_with(*group)) || std::ranges::find(columns, name) != columns.end();
    if (name.empty() || known) return;
    const std::vector<std::string_view> names(columns.begin(), columns.end());
    throw InputError(study.file, line,
                     fmt::format("{}: no run has the statistic '{}'{}; `lockstep stats` lists them", what,
                                 stats::printable(name), config::key_suggestion(name, names)));
  };
  for (const std::string& name : study.columns) need("columns", name, 0);
  if (study.speedup) need("speedup", study.speedup->of, 0);
  for (const Figure& figure : study.figures)
    for (const std::string* name : {&figure.x, &figure.y, &figure.value})
      need(fmt::format("figure '{}'", figure.name), *name, figure.line);
}

}  // namespace

std::size_t Table::column(std::string_view name) const {
  return static_cast<std::size_t>(std::ranges::find(columns, name) - columns.begin());
}

const Cell& Table::at(std::size_t row, std::string_view column_name) const {
  static const Cell kNone;
  const std::size_t c = column(column_name);
  return c < columns.size() ? rows[row][c] : kNone;
}

Table make_table(const Study& study, std::span<const PlannedRun> runs, std::span<const std::string> keys,
                 const RunStore& store) {
  Builder builder;
  std::unordered_map<std::string, std::pair<Stored, Values>> known;  // a run may stand for several rows
  for (std::size_t r = 0; r < runs.size(); ++r) {
    const auto [found, added] = known.try_emplace(keys[r]);
    auto& [stored, values] = found->second;
    if (added) {
      stored = store.lookup(keys[r]);
      if (stored.state == State::kComplete) values = values_of(stats::read_stats(store.folder_of(keys[r])));
    }
    builder.set(r, std::string(kWorkloadColumn), study.workloads[runs[r].workload].name);
    for (std::size_t a = 0; a < study.axes.size(); ++a)
      builder.set(r, study.axes[a].name, cell_of(study.axes[a].points[runs[r].points[a]]));
    builder.set(r, "state", name_of(stored.state));
    builder.set(r, "error", stored.error.empty() ? Cell() : Cell(stored.error));
    builder.set(r, "run", "runs/" + keys[r]);
    for (const auto& [column, value] : values) builder.set(r, column, value);
  }
  Table table = builder.take();
  if (study.speedup) add_speedup(study, runs, table);
  return table;
}

void check_columns(const Study& study, const Table& table) {
  const std::size_t state = table.column("state");
  if (std::ranges::none_of(table.rows, [&](const auto& row) { return row[state] == "complete"; })) return;
  need_columns(study, table.columns, {});
}

void check_names_of_columns(const Study& study) {
  auto columns = possible_statistics();
  for (const Axis& axis : study.axes)
    if (std::ranges::find(columns, axis.name) != columns.end())
      throw InputError(study.file, axis.line,
                       fmt::format("an axis cannot be called '{}', as a statistic of the runs is; expected "
                                   "another name = \"...\"",
                                   axis.name));
  columns.insert(columns.end(), {std::string(kWorkloadColumn), "state", "error", "run"});
  for (const Axis& axis : study.axes) columns.push_back(axis.name);
  if (study.speedup) columns.emplace_back("speedup");
  need_columns(study, columns, "system.network.");  // what there is depends on the nodes
}

std::string to_csv(const Table& table) {
  std::string text;
  const auto add = [&](const auto& cells, const auto& make) {
    for (std::size_t c = 0; c < cells.size(); ++c) text.append(c > 0 ? "," : "").append(make(cells[c]));
    text += "\n";
  };
  add(table.columns, [](const std::string& name) { return csv_cell(Cell(name)); });
  for (const auto& row : table.rows) add(row, csv_cell);
  return text;
}

std::string to_json_lines(const Table& table) {
  std::string text;
  for (const auto& row : table.rows) text += dumped(row_object(table, row)) + "\n";
  return text;
}

std::string to_json(const Study& study, const Table& table) {
  Cell runs = Cell::array();
  for (const auto& row : table.rows) runs.push_back(row_object(table, row));
  return dumped({{"schema", 1}, {"title", study.title}, {"runs", std::move(runs)}}) + "\n";
}

std::string jobs_json(std::span<const Job> jobs, std::span<const std::string> names, const RunStore& store) {
  Cell list = Cell::array();
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    const Stored stored = store.lookup(jobs[j].key);
    Cell& job = list.emplace_back(
        Cell{{"task", j + 1}, {"state", name_of(stored.state)}, {"key", jobs[j].key}, {"run", names[j]}});
    if (!stored.error.empty()) job["error"] = stored.error;
  }
  return dumped({{"schema", 1}, {"runs", std::move(list)}}) + "\n";
}

std::string to_text(const Study& study, const Table& table) {
  const auto columns = shown_columns(study, table);
  const std::size_t state = static_cast<std::size_t>(std::ranges::find(columns, "state") - columns.begin());
  std::vector<std::vector<std::string>> lines(1);
  for (const std::string& column : columns) lines.front().push_back(stats::printable(column));
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    std::vector<std::string>& line = lines.emplace_back();
    for (std::size_t c = 0; c < columns.size(); ++c)
      line.push_back(c <= state ? shown_label(table.at(r, columns[c])) : shown(table.at(r, columns[c])));
  }
  std::string text = aligned(lines, state + 1);
  for (std::size_t r = 0; r < table.rows.size(); ++r)
    if (const Cell& error = table.at(r, "error"); error.is_string())
      text += fmt::format("{}: {}\n", shown(table.at(r, "run")), shown(error));
  return text;
}

}  // namespace lockstep::study
