// Rows of a CSV file below a header that names their columns.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "correlate/csv.hpp"
#include "correlate/quantity.hpp"
#include "stats/text.hpp"
#include "util/error.hpp"

namespace lockstep::correlate {

/// Index of a column that is not there.
inline constexpr std::size_t kNone = static_cast<std::size_t>(-1);

struct Sheet {
  const std::string& file;  // for errors
  std::vector<std::string> header;
  std::span<const CsvRow> rows;
  std::uint64_t line = 0;

  [[nodiscard]] std::size_t column(std::string_view name) const {
    const auto found = std::ranges::find(header, name);
    return found == header.end() ? kNone : static_cast<std::size_t>(found - header.begin());
  }
  /// "" where the row has no such field.
  [[nodiscard]] std::string text(const CsvRow& row, std::size_t column) const {
    return column < row.fields.size() ? row.fields[column] : "";
  }
  [[noreturn]] void fail(const CsvRow& row, const std::string& message) const {
    throw InputError(file, row.line, message);
  }
  /// Throws InputError where the field is not a finite number.
  [[nodiscard]] double number(const CsvRow& row, std::size_t column) const {
    const std::string found = text(row, column);
    if (const auto value = parse_number(found)) return *value;
    fail(row, fmt::format("{}: found '{}', expected a number", stats::printable(header[column]),
                          stats::printable(found.substr(0, 60))));
  }
  /// The same in base units. Throws InputError where the product is not finite.
  [[nodiscard]] double number_in(const CsvRow& row, std::size_t column, std::string_view unit) const {
    const double value = number(row, column) * unit_factor(unit);
    if (std::isfinite(value)) return value;
    fail(row, fmt::format("{}: found '{}' in '{}', expected a number below 1.8e308 in base units",
                          stats::printable(header[column]), stats::printable(text(row, column).substr(0, 60)),
                          stats::printable(unit.substr(0, 60))));
  }
};

}  // namespace lockstep::correlate
