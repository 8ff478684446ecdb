#include "correlate/measurements.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include "correlate/csv.hpp"
#include "correlate/metrics.hpp"
#include "correlate/quantity.hpp"
#include "correlate/sheet.hpp"
#include "stats/files.hpp"
#include "stats/text.hpp"
#include "util/error.hpp"

namespace lockstep::correlate {
namespace {

bool has(const CsvRow& row, std::string_view name) {
  return std::ranges::find(row.fields, name) != row.fields.end();
}

/// "(4, 1, 1)", "4x1x1", "4,1,1", "4".
std::optional<Dimensions> parse_dimensions(std::string_view text) {
  Dimensions result{1, 1, 1};
  std::size_t count = 0;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    if (*at < '0' || *at > '9') {
      if (std::string_view("() ,x*[]").find(*at) == std::string_view::npos) return std::nullopt;
      ++at;
      continue;
    }
    if (count == 3) return std::nullopt;
    const auto [next, error] = std::from_chars(at, end, result[count++]);
    if (error != std::errc{}) return std::nullopt;
    at = next;
  }
  if (count == 0) return std::nullopt;
  return result;
}

std::optional<Dimensions> dimensions(const Sheet& sheet, const CsvRow& row, std::size_t column) {
  const std::string text = sheet.text(row, column);
  if (text.empty()) return std::nullopt;
  if (auto found = parse_dimensions(text)) return found;
  sheet.fail(row, fmt::format("{}: found '{}', expected three numbers such as 4x1x1", sheet.header[column],
                              stats::printable(text.substr(0, 60))));
}

/// Nsight Compute: which columns say what of a launch.
struct NcuColumns {
  explicit NcuColumns(const Sheet& sheet)
      : id(sheet.column("ID")),
        kernel(sheet.column("Kernel Name")),
        grid(sheet.column("Grid Size")),
        block(sheet.column("Block Size")) {}
  std::size_t id, kernel, grid, block;

  [[nodiscard]] Measurement start(const Sheet& sheet, const CsvRow& row) const {
    Measurement m;
    m.kernel = sheet.text(row, kernel);
    m.grid = dimensions(sheet, row, grid);
    m.block = dimensions(sheet, row, block);
    m.line = row.line;
    if (m.kernel.empty()) sheet.fail(row, "found no kernel's name");
    return m;
  }
};

/// A line a metric; lines of one launch have one ID.
Measurements read_ncu_lines(const Sheet& sheet) {
  const NcuColumns columns(sheet);
  const std::size_t name = sheet.column("Metric Name"), unit = sheet.column("Metric Unit"),
                    value = sheet.column("Metric Value");
  Measurements all;
  std::set<std::string> unknown;
  std::map<std::pair<std::string, std::string>, std::size_t> launches;  // by process and ID
  const std::size_t process = sheet.column("Process ID");
  for (const CsvRow& row : sheet.rows) {
    const auto key = std::pair(sheet.text(row, process),
                               columns.id == kNone ? std::to_string(row.line) : sheet.text(row, columns.id));
    const auto [found, added] = launches.try_emplace(key, all.launches.size());
    if (added) all.launches.push_back(columns.start(sheet, row));
    const std::string metric = sheet.text(row, name);
    if (metric.empty()) continue;  // a rule's line of the details page
    if (const auto counter = counter_of(metric)) {
      all.launches[found->second].counters[std::string(*counter)] =
          sheet.number_in(row, value, sheet.text(row, unit));
    } else {
      unknown.insert(metric);
    }
  }
  all.unknown.assign(unknown.begin(), unknown.end());
  return all;
}

/// A column a metric; the first row below the header has the units.
Measurements read_ncu_columns(const Sheet& sheet) {
  const NcuColumns columns(sheet);
  Measurements all;
  std::vector<std::pair<std::size_t, std::string>> known;  // column, our counter
  for (std::size_t c = 0; c < sheet.header.size(); ++c) {
    if (const auto counter = counter_of(sheet.header[c])) {
      known.emplace_back(c, *counter);
    } else if (sheet.header[c].find("__") != std::string::npos) {
      all.unknown.push_back(sheet.header[c]);
    }
  }
  std::ranges::sort(all.unknown);
  std::vector<std::string> units(sheet.header.size());
  for (const CsvRow& row : sheet.rows) {
    if (sheet.text(row, columns.kernel).empty()) {
      for (std::size_t c = 0; c < units.size(); ++c) units[c] = sheet.text(row, c);
      continue;
    }
    Measurement& m = all.launches.emplace_back(columns.start(sheet, row));
    for (const auto& [c, counter] : known)
      if (!sheet.text(row, c).empty()) m.counters[counter] = sheet.number_in(row, c, units[c]);
  }
  return all;
}

/// Nsight Systems: one line per kernel, with the mean of its launches.
Measurements read_nsys(const Sheet& sheet) {
  const std::size_t name = sheet.column("Name"), instances = sheet.column("Instances");
  const std::size_t mean = sheet.column("Avg (ns)");
  Measurements all;
  for (const CsvRow& row : sheet.rows) {
    Measurement& m = all.launches.emplace_back();
    m.kernel = sheet.text(row, name);
    m.line = row.line;
    if (m.kernel.empty()) sheet.fail(row, "found no kernel's name");
    const double count = sheet.number(row, instances);
    if (!(count >= 1 && count < 1e15 && count == std::floor(count)))
      sheet.fail(row, fmt::format("Instances: found {}, expected a whole number from 1 on", count));
    m.instances = static_cast<std::uint64_t>(count);
    m.counters["elapsed_ns"] = sheet.number(row, mean);
  }
  return all;
}

/// Our own, without its counters.
Measurement read_own_place(const Sheet& sheet, const CsvRow& row) {
  Measurement m;
  m.line = row.line;
  m.kernel = sheet.text(row, sheet.column("kernel"));
  m.program = sheet.text(row, sheet.column("program"));
  if (m.kernel.empty()) sheet.fail(row, "found no kernel's name");
  m.grid = dimensions(sheet, row, sheet.column("grid"));
  m.block = dimensions(sheet, row, sheet.column("block"));
  const std::size_t launch = sheet.column("launch");
  if (const std::string text = sheet.text(row, launch); !text.empty()) {
    const double number = sheet.number(row, launch);
    if (number < 0 || number >= 1e15 || number != static_cast<double>(static_cast<std::uint64_t>(number)))
      sheet.fail(
          row, fmt::format("launch: found '{}', expected a whole number from 0 on", stats::printable(text)));
    m.launch = static_cast<std::uint64_t>(number);
  }
  return m;
}

/// A count or a time of our own form.
double read_value(const Sheet& sheet, const CsvRow& row, std::size_t column, std::string_view unit = "") {
  const double value = sheet.number_in(row, column, unit);
  if (value < 0)
    sheet.fail(row, fmt::format("{}: found '{}', expected a number of 0 or more",
                                stats::printable(sheet.header[column]),
                                stats::printable(sheet.text(row, column).substr(0, 60))));
  return value;
}

/// Our own form is written by hand: a comma too many would move values into other columns.
void check_form(const Sheet& sheet) {
  std::set<std::string_view> names;
  for (const std::string& name : sheet.header)
    if (!name.empty() && !names.insert(name).second)
      throw InputError(sheet.file, sheet.line, fmt::format("found two columns '{}'", stats::printable(name)));
  for (const CsvRow& row : sheet.rows)
    if (row.fields.size() != sheet.header.size())
      sheet.fail(row, fmt::format("found {} fields, expected {} as in line {}", row.fields.size(),
                                  sheet.header.size(), sheet.line));
}

bool same_place(const Measurement& a, const Measurement& b) {
  return a.program == b.program && a.kernel == b.kernel && a.launch == b.launch && a.grid == b.grid &&
         a.block == b.block;
}

/// Lines of one launch follow each other; a counter that is there already begins the next launch.
Measurements read_own_lines(const Sheet& sheet) {
  check_form(sheet);
  const std::size_t counter = sheet.column("counter"), value = sheet.column("value"),
                    unit = sheet.column("unit");
  Measurements all;
  for (const CsvRow& row : sheet.rows) {
    Measurement m = read_own_place(sheet, row);
    const std::string name = sheet.text(row, counter);
    if (name.empty()) sheet.fail(row, "found no counter's name");
    if (all.launches.empty() || !same_place(all.launches.back(), m) ||
        all.launches.back().counters.contains(name))
      all.launches.push_back(std::move(m));
    all.launches.back().counters[name] = read_value(sheet, row, value, sheet.text(row, unit));
  }
  return all;
}

Measurements read_own_columns(const Sheet& sheet) {
  check_form(sheet);
  constexpr std::array<std::string_view, 5> kPlaces{"program", "kernel", "launch", "grid", "block"};
  Measurements all;
  for (const CsvRow& row : sheet.rows) {
    Measurement& m = all.launches.emplace_back(read_own_place(sheet, row));
    for (std::size_t c = 0; c < sheet.header.size(); ++c)
      if (std::ranges::find(kPlaces, sheet.header[c]) == kPlaces.end() && !sheet.text(row, c).empty())
        m.counters[sheet.header[c]] = read_value(sheet, row, c);
  }
  return all;
}

/// The reader for a file with this header; nullptr: it is no header.
using Reader = Measurements (*)(const Sheet&);
Reader reader_for(const CsvRow& row) {
  if (has(row, "Kernel Name") && has(row, "Metric Name") && has(row, "Metric Value")) return read_ncu_lines;
  if (has(row, "Kernel Name")) return read_ncu_columns;
  if (has(row, "Name") && has(row, "Instances") && has(row, "Avg (ns)")) return read_nsys;
  if (has(row, "kernel") && has(row, "counter") && has(row, "value")) return read_own_lines;
  if (has(row, "kernel")) return read_own_columns;
  return nullptr;
}

/// The text that profilers print before their tables may contain quotes that do not follow CSV's rules.
std::string_view without_preamble(std::string_view text) {
  for (std::string_view rest = text; rest.starts_with("==") || rest.starts_with("Processing ");) {
    const std::size_t end = rest.find('\n');
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    text = rest;
  }
  return text;
}

}  // namespace

Measurements parse_measurements(std::string_view text, const std::string& file) {
  const std::string_view table = without_preamble(text);
  const auto skipped = static_cast<std::uint64_t>(
      std::count(text.begin(), text.end() - static_cast<std::ptrdiff_t>(table.size()), '\n'));
  const auto rows = parse_csv(table, file, skipped + 1);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const Reader reader = reader_for(rows[r]);
    if (reader == nullptr) continue;
    const Sheet sheet{file, rows[r].fields, std::span(rows).subspan(r + 1), rows[r].line};
    Measurements all = reader(sheet);
    if (all.launches.empty())
      throw InputError(file, sheet.line, "found a header and no measurement below it");
    return all;
  }
  throw InputError(file, 0,
                   "found no header of measurements, expected CSV of `ncu --csv`, of `nsys stats --report "
                   "cuda_gpu_kern_sum --format csv`, or with a column `kernel`");
}

Measurements read_measurements(const std::string& file) {
  return parse_measurements(stats::read_file(file), file);
}

}  // namespace lockstep::correlate
