#include "correlate/pairs_file.hpp"

#include <cmath>

#include "correlate/sheet.hpp"
#include "stats/files.hpp"

namespace lockstep::correlate {
namespace {

constexpr double kMaxExact = 9007199254740992.0;  // 2^53: whole numbers up to it are exact

std::uint64_t whole(const Sheet& sheet, const CsvRow& row, std::size_t column) {
  const double value = sheet.number(row, column);
  if (value >= 0 && value <= kMaxExact && value == std::floor(value))
    return static_cast<std::uint64_t>(value);
  sheet.fail(row, fmt::format("{}: found '{}', expected a whole number", sheet.header[column],
                              stats::printable(sheet.text(row, column).substr(0, 60))));
}

}  // namespace

std::vector<Pair> parse_pairs(std::string_view text, const std::string& file) {
  const std::vector<CsvRow> rows = parse_csv(text, file);
  if (rows.empty()) throw InputError(file, 1, "found nothing, expected a header with hardware and simulated");
  const Sheet sheet{file, rows.front().fields, std::span(rows).subspan(1), rows.front().line};
  const std::size_t hardware = sheet.column("hardware"), simulated = sheet.column("simulated"),
                    program = sheet.column("program"), kernel = sheet.column("kernel"),
                    launch = sheet.column("launch"), instances = sheet.column("instances"),
                    counter = sheet.column("counter");
  if (hardware == kNone || simulated == kNone)
    throw InputError(file, sheet.line, "expected a header with the columns hardware and simulated");
  std::vector<Pair> pairs;
  for (const CsvRow& row : sheet.rows) {
    Pair& pair = pairs.emplace_back();
    pair.program = sheet.text(row, program);
    pair.kernel = sheet.text(row, kernel);
    if (launch != kNone) pair.launch = whole(sheet, row, launch);
    if (instances != kNone) pair.instances = whole(sheet, row, instances);
    pair.counter = counter == kNone ? "value" : sheet.text(row, counter);
    pair.values = {sheet.number(row, hardware), sheet.number(row, simulated)};
  }
  return pairs;
}

std::vector<Pair> read_pairs(const std::string& file) { return parse_pairs(stats::read_file(file), file); }

}  // namespace lockstep::correlate
