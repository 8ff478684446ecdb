// `lockstep stats --explain`: what a statistic means.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "stats/descriptors.hpp"
#include "uvm/counter_table.hpp"

namespace lockstep::stats {
namespace {

using Json = nlohmann::ordered_json;

std::vector<FieldHelp> all_statistics() {
  std::vector<FieldHelp> all;
  const auto add = [&](const auto& rows) {
    for (const auto& row : rows) all.push_back({row.name, row.unit, row.help});
  };
  add(kernel_fields());
  add(descriptors());
  add(uvm::counter_rows());
  return all;
}

bool starts(std::string_view name, std::string_view text) { return name.starts_with(text); }

bool member_starts(std::string_view name, std::string_view text) {
  const std::size_t dot = name.find('.');
  return dot != std::string_view::npos && name.substr(dot + 1).starts_with(text);
}

bool contains(std::string_view name, std::string_view text) {
  return name.find(text) != std::string_view::npos;
}

}  // namespace

std::vector<FieldHelp> find_statistics(std::string_view name) {
  for (const auto matches : {starts, member_starts, contains}) {
    std::vector<FieldHelp> found = all_statistics();
    std::erase_if(found, [&](const FieldHelp& row) { return !matches(row.name, name); });
    if (!found.empty()) return found;
  }
  return {};
}

std::string explain(std::string_view name) {
  std::string text;
  for (const FieldHelp& row : find_statistics(name))
    text += fmt::format("{:<28} {:<20} {}\n", row.name, row.unit, row.help);
  return text;
}

std::string descriptors_json(std::string_view name) {
  Json all = Json::array();
  for (const FieldHelp& row : find_statistics(name))
    all.push_back({{"name", row.name}, {"unit", row.unit}, {"help", row.help}});
  return Json{{"schema", 1}, {"statistics", std::move(all)}}.dump(1) + "\n";
}

}  // namespace lockstep::stats
