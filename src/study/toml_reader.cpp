#include "study/toml_reader.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <sstream>

#include "config/ini.hpp"
#include "config/suggest.hpp"
#include "config/value.hpp"
#include "util/error.hpp"

namespace lockstep::study {
namespace {

constexpr unsigned kMaxDepth = 16;

std::uint64_t line_of(const toml::node& node) { return node.source().begin.line; }

TomlValue convert(const toml::node& node, const std::string& file, unsigned depth) {
  if (depth > kMaxDepth) throw InputError(file, line_of(node), "values are nested too deeply");
  TomlValue value;
  value.line = line_of(node);
  if (const auto* table = node.as_table()) {
    TomlMap map;
    for (const auto& [key, child] : *table)
      map.emplace(std::string(key.str()), convert(child, file, depth + 1));
    value.data = std::move(map);
  } else if (const auto* array = node.as_array()) {
    TomlArray list;
    for (const toml::node& child : *array) list.push_back(convert(child, file, depth + 1));
    value.data = std::move(list);
  } else if (const auto* boolean = node.as_boolean()) {
    value.data = boolean->get();
  } else if (const auto* integer = node.as_integer()) {
    value.data = integer->get();
  } else if (const auto* decimal = node.as_floating_point()) {
    value.data = decimal->get();
  } else if (const auto* text = node.as_string()) {
    value.data = text->get();
  } else {
    std::ostringstream date;
    node.visit([&](const auto& n) {
      if constexpr (toml::is_chronological<decltype(n)>) date << n.get();
    });
    value.data = date.str();
  }
  return value;
}

}  // namespace

std::string TomlValue::text() const {
  switch (data.index()) {
    case 0:
      return std::get<bool>(data) ? "true" : "false";
    case 1:
      return std::to_string(std::get<std::int64_t>(data));
    case 2:
      return fmt::format("{}", std::get<double>(data));
    case 3:
      return std::get<std::string>(data);
    default:
      return "";
  }
}

double TomlValue::number() const {
  return data.index() == 1 ? static_cast<double>(std::get<std::int64_t>(data)) : std::get<double>(data);
}

std::string_view TomlValue::kind() const {
  constexpr std::string_view kKinds[] = {"a boolean", "a whole number", "a decimal number",
                                         "a string",  "a list",         "a table"};
  return kKinds[data.index()];
}

TomlValue parse_toml(std::string_view text, const std::string& file) {
  try {
    const toml::table root = toml::parse(text, file);
    return convert(root, file, 0);
  } catch (const toml::parse_error& e) {
    throw InputError(file, e.source().begin.line,
                     fmt::format("not valid TOML: {}", config::printable(std::string(e.description()))));
  }
}

TomlValue read_toml(const std::string& file) {
  return parse_toml(config::read_text_file(file, "a TOML file"), file);
}

TableReader::TableReader(const TomlValue& table, std::string file, std::string where)
    : map_(std::get_if<TomlMap>(&table.data)),
      file_(std::move(file)),
      where_(std::move(where)),
      line_(table.line) {
  if (map_ == nullptr) fail(fmt::format("found {}, expected a table", table.kind()));
}

void TableReader::fail(const std::string& message, std::uint64_t line) const {
  throw InputError(file_, line ? line : line_,
                   where_.empty() ? message : fmt::format("{}: {}", where_, message));
}

void TableReader::expected(const std::string& key, const TomlValue& found, std::string_view what) const {
  const std::string shown =
      found.is_scalar() ? fmt::format("'{}'", config::printable(found.text())) : std::string(found.kind());
  fail(fmt::format("{} = {}: expected {}", key, shown, what), found.line);
}

const TomlValue* TableReader::value(const std::string& key) {
  asked_.push_back(key);
  const auto found = map_->find(key);
  return found == map_->end() ? nullptr : &found->second;
}

std::optional<std::string> TableReader::text(const std::string& key) {
  const TomlValue* found = value(key);
  if (found == nullptr) return std::nullopt;
  const auto* text = std::get_if<std::string>(&found->data);
  if (text == nullptr || text->empty()) expected(key, *found, "a string that is not empty");
  return *text;
}

std::optional<std::int64_t> TableReader::integer(const std::string& key, std::int64_t low,
                                                 std::int64_t high) {
  const TomlValue* found = value(key);
  if (found == nullptr) return std::nullopt;
  const auto* number = std::get_if<std::int64_t>(&found->data);
  if (number == nullptr || *number < low || *number > high)
    expected(key, *found, fmt::format("a whole number from {} to {}", low, high));
  return *number;
}

std::optional<double> TableReader::number(const std::string& key) {
  const TomlValue* found = value(key);
  if (found == nullptr) return std::nullopt;
  if (!found->is_number()) expected(key, *found, "a number");
  return found->number();
}

const TomlValue* TableReader::array(const std::string& key) {
  const TomlValue* found = value(key);
  if (found == nullptr) return nullptr;
  const auto* list = std::get_if<TomlArray>(&found->data);
  if (list == nullptr || list->empty()) expected(key, *found, "a list with at least one element");
  return found;
}

const TomlValue* TableReader::table(const std::string& key) {
  const TomlValue* found = value(key);
  if (found != nullptr && !std::holds_alternative<TomlMap>(found->data)) expected(key, *found, "a table");
  return found;
}

std::span<const TomlValue> TableReader::tables(const std::string& key) {
  const TomlValue* found = value(key);
  if (found == nullptr) return {};
  const auto* list = std::get_if<TomlArray>(&found->data);
  const auto is_table = [](const TomlValue& v) { return std::holds_alternative<TomlMap>(v.data); };
  if (list == nullptr || !std::ranges::all_of(*list, is_table))
    expected(key, *found, fmt::format("tables, each headed [[{}]]", key));
  return *list;
}

std::vector<std::string> scalar_texts(const TableReader& reader, const std::string& key,
                                      const TomlValue& list) {
  std::vector<std::string> texts;
  for (const TomlValue& element : std::get<TomlArray>(list.data)) {
    if (!element.is_scalar()) reader.expected(key, element, "strings, numbers or booleans in the list");
    texts.push_back(element.text());
  }
  return texts;
}

std::vector<std::string> TableReader::texts(const std::string& key) {
  const TomlValue* list = array(key);
  return list == nullptr ? std::vector<std::string>{} : scalar_texts(*this, key, *list);
}

void TableReader::done() const {
  std::vector<std::string_view> known(asked_.begin(), asked_.end());
  for (const auto& [key, found] : *map_) {
    if (std::ranges::find(asked_, key) != asked_.end()) continue;
    fail(fmt::format("unknown key '{}'{}", config::printable(key), config::suggestion(key, known)),
         found.line);
  }
}

}  // namespace lockstep::study
