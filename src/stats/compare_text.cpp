#include "stats/compare_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "stats/text.hpp"

namespace lockstep::stats {
namespace {

using Json = nlohmann::ordered_json;
using Row = Comparison::Row;

constexpr std::size_t kShownSections = 30, kShownValues = 40,
                      kShownParameters = 20;  // in text; --json has all
constexpr int kValueWidth = 18, kChangedWidth = 28;

std::string shown(const Json& value) {
  if (value.is_null()) return "-";
  if (value.is_number_unsigned()) return grouped(value.get<std::uint64_t>());
  if (value.is_string()) return printable(value.get<std::string>());
  return value.dump(-1, ' ', true, Json::error_handler_t::replace);
}

/// In percent of the first run's value, "+0.09%"; empty if it is not a finite number.
std::string percent(const Json& a, const Json& b) {
  if (!a.is_number() || !b.is_number() || a.get<double>() == 0) return "";
  return fmt::format("{:+.2f}%", (b.get<double>() - a.get<double>()) / std::abs(a.get<double>()) * 100);
}

/// B against A: "+5 (+0.09%)".
std::string change(const Json& a, const Json& b) {
  if (!a.is_number() || !b.is_number()) return "";
  std::string text;
  if (a.is_number_unsigned() && b.is_number_unsigned()) {
    const auto x = a.get<std::uint64_t>(), y = b.get<std::uint64_t>();
    text = y >= x ? "+" + grouped(y - x) : "-" + grouped(x - y);
  } else {
    text = fmt::format("{:+.6g}", b.get<double>() - a.get<double>());
  }
  const std::string relative = percent(a, b);
  return relative.empty() ? text : fmt::format("{} ({})", text, relative);
}

/// Two runs: both values and the change. More: each value with its change in percent.
std::string compared_row_text(const Row& row) {
  const Json& a = row.values.front();
  std::string text = fmt::format("  {:<28} {:>{}}", printable(row.name), shown(a), kValueWidth);
  if (row.values.size() == 2) {
    const std::string difference = change(a, row.values[1]);
    text += fmt::format(" {:>{}}", shown(row.values[1]), kValueWidth);
    return text + (difference.empty() ? "\n" : fmt::format("  {}\n", difference));
  }
  for (std::size_t r = 1; r < row.values.size(); ++r) {
    const Json& b = row.values[r];
    const std::string relative = a == b ? "" : percent(a, b);
    text += fmt::format(" {:>{}}", relative.empty() ? shown(b) : fmt::format("{} ({})", shown(b), relative),
                        kChangedWidth);
  }
  return text + "\n";
}

std::string head_text(std::size_t runs) {
  std::string text = fmt::format("  {:<28} {:>{}}", "", "A", kValueWidth);
  if (runs == 2) return text + fmt::format(" {:>{}}  B against A\n", "B", kValueWidth);
  for (std::size_t r = 1; r < runs; ++r) text += fmt::format(" {:>{}}", letter(r), kChangedWidth);
  return text + "\n";
}

std::string rows_text(const std::vector<Row>& rows, std::size_t runs, std::size_t most) {
  if (rows.empty()) return "";
  std::string text = head_text(runs);
  for (std::size_t i = 0; i < std::min(most, rows.size()); ++i) text += compared_row_text(rows[i]);
  if (rows.size() > most) text += fmt::format("  ... and {} more; --json lists all\n", rows.size() - most);
  return text;
}

std::string part_text(const Comparison::Part& part, std::size_t runs) {
  const std::string where = part.only_in.empty() ? "" : fmt::format(": only in {}", part.only_in);
  return fmt::format("\n{}{}\n{}", part.label, where, rows_text(part.rows, runs, kShownValues));
}

/// "; only in A: 1 section of 20 values, only in B, C: ...".
std::string lone_text(const std::vector<Comparison::Lone>& lone) {
  std::string text;
  for (const Comparison::Lone& part : lone)
    text += fmt::format("{} only in {}: {} section{} of {} value{}", text.empty() ? ";" : ",", part.only_in,
                        grouped(part.sections), part.sections == 1 ? "" : "s", grouped(part.values),
                        part.values == 1 ? "" : "s");
  return text;
}

/// {"a": ..., "b": ...}: one key for each run, small letters.
void put_values(Json& object, const Row& row) {
  for (std::size_t r = 0; r < row.values.size(); ++r)
    object[std::string(1, static_cast<char>('a' + r))] = row.values[r];
}

}  // namespace

std::string as_text(const Comparison& comparison) {
  const std::size_t runs = comparison.runs.size();
  std::string text;
  for (std::size_t r = 0; r < runs; ++r)
    text += fmt::format("{}: {}: {}\n", letter(r), comparison.runs[r].file, comparison.runs[r].identity);
  if (!comparison.parameters.empty())
    text += "\nparameters\n" + rows_text(comparison.parameters, runs, kShownParameters);
  for (std::size_t i = 0; i < std::min(kShownSections, comparison.parts.size()); ++i)
    text += part_text(comparison.parts[i], runs);
  if (comparison.parts.size() > kShownSections) {
    text += fmt::format("\n... and differences in {} more; --json lists all\n",
                        comparison.parts.size() - kShownSections);
  }
  const std::string within =
      comparison.tolerance > 0 ? fmt::format(" by more than {:g}", comparison.tolerance) : "";
  if (comparison.parts.empty())
    return text +
           fmt::format("\nno difference{}: {} values compared\n", within, grouped(comparison.compared));
  return text + fmt::format("\n{} of {} values differ{}{}\n", grouped(comparison.different),
                            grouped(comparison.compared), within, lone_text(comparison.lone));
}

std::string as_json(const Comparison& comparison) {
  Json parameters = Json::array(), differences = Json::array(), lone = Json::array();
  for (const Row& row : comparison.parameters) {
    put_values(parameters.emplace_back(Json{{"name", row.name}}), row);
  }
  for (const Comparison::Part& part : comparison.parts) {
    if (!part.only_in.empty()) differences.push_back({{"where", part.title}, {"only_in", part.only_in}});
    for (const Row& row : part.rows)
      put_values(differences.emplace_back(Json{{"where", part.title}, {"counter", row.name}}), row);
  }
  Json result = {{"schema", 1}};
  for (std::size_t r = 0; r < comparison.runs.size(); ++r)
    result[std::string(1, static_cast<char>('a' + r))] = comparison.runs[r].file;
  result["tolerance"] = comparison.tolerance;
  result["values"] = comparison.compared;
  result["different"] = comparison.different;
  for (const Comparison::Lone& part : comparison.lone)
    lone.push_back({{"only_in", part.only_in}, {"sections", part.sections}, {"values", part.values}});
  result["lone"] = lone;
  result["parameters"] = parameters;
  result["differences"] = differences;
  return result.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace lockstep::stats
