#include "study/axes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "config/value.hpp"
#include "study/joined.hpp"

namespace lockstep::study {
namespace {

/// What the values of an axis stand for.
struct Target {
  std::string name;               // of the axis, where it says none itself
  std::vector<std::string> keys;  // of the configuration
  std::string option;
  bool config = false, points = false;
};

Target read_target(TableReader& table) {
  Target target;
  const char* const kinds[] = {"config", "key", "keys", "option", "point"};
  const auto given = std::ranges::count_if(kinds, [&](const char* k) { return table.has(k); });
  if (given != 1)
    table.fail(fmt::format("found {} of config, key, keys, option and [[axis.point]], expected one",
                           given == 0 ? "none" : "several"));
  if (const auto key = table.text("key")) {
    target.name = *key;
    target.keys = {*key};
  } else if (const auto option = table.text("option")) {
    target.name = target.option = *option;
  } else if (table.has("keys")) {
    target.keys = table.texts("keys");
  } else if (table.has("config")) {
    target.name = "config";
    target.config = true;
  } else {
    target.points = true;
  }
  return target;
}

Settings settings_of(const Target& target, const std::vector<std::string>& values) {
  Settings settings;
  if (target.config) settings.config = values.front();
  if (!target.option.empty()) settings.options.emplace_back(target.option, values.front());
  for (std::size_t k = 0; k < target.keys.size(); ++k) settings.set.emplace_back(target.keys[k], values[k]);
  return settings;
}

/// The values of one point: one, or for `keys` a list with one for each.
std::vector<std::string> values_of(const TableReader& table, const Target& target, const TomlValue& element) {
  if (target.keys.size() < 2) {
    if (!element.is_scalar()) table.expected("values", element, "strings, numbers or booleans in the list");
    return {element.text()};
  }
  const auto* list = std::get_if<TomlArray>(&element.data);
  if (list == nullptr || list->size() != target.keys.size())
    table.expected("values", element,
                   fmt::format("lists of {} values, one for each of keys", target.keys.size()));
  return scalar_texts(table, "values", element);
}

/// As JSON writes numbers, so that the table has it as one: not "007" nor ".5".
bool is_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() && std::isfinite(value) &&
         nlohmann::json::accept(text);
}

void add_point(Axis& axis, std::string label, Settings settings, std::uint64_t line) {
  const bool numeric = is_number(label);
  axis.points.push_back({std::move(label), numeric, std::move(settings), line});
}

void add_values(TableReader& table, const Target& target, const TomlValue& list, Axis& axis) {
  for (const TomlValue& element : std::get<TomlArray>(list.data)) {
    const auto values = values_of(table, target, element);
    add_point(axis, joined(values, " / "), settings_of(target, values), element.line);
  }
}

/// from, to and step or factor; both ends are in it where the steps meet the upper one.
std::vector<double> range_of(TableReader& range) {
  const auto from = range.number("from"), to = range.number("to"), step = range.number("step"),
             factor = range.number("factor");
  if (!from || !to || step.has_value() == factor.has_value())
    range.fail("expected from, to, and either step or factor");
  if (!std::isfinite(*from) || !std::isfinite(*to) || *to < *from)
    range.fail(fmt::format("found {} to {}, expected to >= from", *from, *to));
  if (step && !(*step > 0 && std::isfinite(*step)))
    range.fail(fmt::format("found step = {}, expected more than 0", *step));
  if (factor && !(*factor > 1 && std::isfinite(*factor) && *from > 0))
    range.fail(fmt::format("found factor = {} from {}, expected a factor above 1 from a number above 0",
                           *factor, *from));
  std::vector<double> values;
  const double slack = step ? *step * 1e-9 : *to * 1e-9;  // of sums and products of decimals
  for (std::size_t i = 0; i <= kMaxValues; ++i) {
    const double n = static_cast<double>(i);
    const double value = step ? *from + n * *step : *from * std::pow(*factor, n);
    if (value > *to + slack) return values;
    const bool is_zero = value == 0 || (step && i > 0 && std::abs(value) <= slack);
    values.push_back(is_zero ? 0 : value);
  }
  range.fail(fmt::format("expected at most {} values", kMaxValues));
}

/// Decimals as people write them, 0.3 and not 0.30000000000000004; whole numbers with all digits.
std::string number_text(double value) {
  constexpr double kWhole = 0x1p53;  // up to here all whole numbers are doubles
  const bool is_whole = std::abs(value) <= kWhole && value == std::floor(value);
  return is_whole ? fmt::format("{:.0f}", value) : fmt::format("{:.12g}", value);
}

void add_range(TableReader& table, const Target& target, const TomlValue& range, Axis& axis) {
  TableReader reader(range, table.file(), fmt::format("axis '{}': range", axis.name));
  if (target.config || target.keys.size() > 1)
    reader.fail("expected values: a range is of one key or option");
  const std::string unit = reader.text("unit").value_or("");
  const std::vector<double> values = range_of(reader);
  reader.done();
  for (const double value : values) {
    const std::string number = number_text(value);
    add_point(axis, number, settings_of(target, {unit.empty() ? number : number + " " + unit}), range.line);
  }
}

/// [[axis.point]]: each says freely what it sets.
void add_points(TableReader& table, Axis& axis) {
  for (const TomlValue& value : table.tables("point")) {
    TableReader reader(value, table.file(), fmt::format("axis '{}': point", axis.name));
    const auto label = reader.text("label");
    if (!label) reader.fail("expected a label");
    Settings settings = read_settings(reader);
    reader.done();
    if (settings.config.empty() && settings.set.empty() && settings.options.empty())
      reader.fail("expected config, set or options");
    add_point(axis, *label, std::move(settings), value.line);
  }
}

void rename_points(TableReader& table, Axis& axis) {
  if (!table.has("labels")) return;
  const auto labels = table.texts("labels");
  if (labels.size() != axis.points.size())
    table.fail(fmt::format("found {} labels for {} values", labels.size(), axis.points.size()));
  for (std::size_t i = 0; i < labels.size(); ++i) {
    axis.points[i].label = labels[i];
    axis.points[i].numeric = is_number(labels[i]);
  }
}

void check_points(const TableReader& table, const Axis& axis) {
  if (axis.points.empty()) table.fail("expected at least one value");
  if (axis.points.size() > kMaxValues) table.fail(fmt::format("expected at most {} values", kMaxValues));
  std::set<std::string> labels;
  for (const AxisPoint& point : axis.points)
    if (!labels.insert(point.label).second)
      table.fail(fmt::format("the value '{}' is there twice", config::printable(point.label)), point.line);
}

/// Dotted keys without quotes are tables in TOML: "l1.bytes" again.
void flatten(const TableReader& table, const std::string& path, const TomlValue& value,
             std::vector<std::pair<std::string, std::string>>& out) {
  if (const auto* map = std::get_if<TomlMap>(&value.data)) {
    for (const auto& [key, child] : *map) flatten(table, path.empty() ? key : path + "." + key, child, out);
  } else if (value.is_scalar()) {
    out.emplace_back(path, value.text());
  } else {
    table.expected(path, value, "a string, a number or a boolean");
  }
}

}  // namespace

Settings read_settings(TableReader& table) {
  Settings settings;
  settings.config = table.text("config").value_or("");
  if (const TomlValue* set = table.table("set")) flatten(table, "", *set, settings.set);
  if (const TomlValue* options = table.table("options")) flatten(table, "", *options, settings.options);
  return settings;
}

Axis read_axis(const TomlValue& value, const std::string& file) {
  TableReader table(value, file, "axis");
  const Target target = read_target(table);
  Axis axis;
  axis.line = value.line;
  axis.name = table.text("name").value_or(target.name);
  if (axis.name.empty()) table.fail("expected a name");
  table.set_where(fmt::format("axis '{}'", config::printable(axis.name)));
  if (target.points) {
    add_points(table, axis);
  } else if (target.config) {
    add_values(table, target, *table.array("config"), axis);
  } else {
    const TomlValue* list = table.array("values");
    const TomlValue* range = table.table("range");
    if ((list == nullptr) == (range == nullptr)) table.fail("expected either values or range");
    if (list != nullptr) add_values(table, target, *list, axis);
    if (range != nullptr) add_range(table, target, *range, axis);
  }
  rename_points(table, axis);
  table.done();
  check_points(table, axis);
  return axis;
}

}  // namespace lockstep::study
