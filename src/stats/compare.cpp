#include "stats/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "stats/compare_text.hpp"
#include "stats/stored_run.hpp"
#include "util/error.hpp"

namespace lockstep::stats {
namespace {

using Json = nlohmann::ordered_json;

bool same(const Json& a, const Json& b, double tolerance) {
  if (a == b) return a.type() == b.type() || (a.is_number() && b.is_number());
  if (!a.is_number() || !b.is_number() || tolerance <= 0) return false;
  const double x = a.get<double>(), y = b.get<double>();
  return std::abs(x - y) <= tolerance * std::max(std::abs(x), std::abs(y));
}

/// Rows of the values in which a run of `sections` differs from the first of them; nullptr where a run lacks
/// it.
void add_rows(Comparison::Part& part, const std::vector<const Section*>& sections, double tolerance,
              Comparison& result) {
  std::vector<std::map<std::string_view, const Json*>> of_run(sections.size());
  std::vector<std::string_view> names;
  std::set<std::string_view> known;
  for (std::size_t r = 0; r < sections.size(); ++r) {
    if (!sections[r]) continue;
    for (const auto& [name, value] : sections[r]->values) {
      of_run[r].emplace(name, &value);
      if (known.insert(name).second) names.push_back(name);
    }
  }
  const auto first = static_cast<std::size_t>(
      std::find_if(sections.begin(), sections.end(), [](const Section* s) { return s; }) - sections.begin());
  const auto present =
      sections.size() - static_cast<std::size_t>(std::count(sections.begin(), sections.end(), nullptr));
  for (const std::string_view name : names) {
    Comparison::Row row{std::string(name), {}};
    for (const auto& values : of_run) {
      const auto found = values.find(name);
      row.values.push_back(found == values.end() ? Json(nullptr) : *found->second);
    }
    std::size_t differ = 0;
    for (std::size_t r = first + 1; r < sections.size(); ++r) {
      if (!sections[r]) continue;
      const bool here = of_run[r].count(name) > 0, there = of_run[first].count(name) > 0;
      differ += here != there || (here && !same(row.values[first], row.values[r], tolerance));
    }
    result.different += differ;
    result.compared += present - 1;
    if (differ > 0) part.rows.push_back(std::move(row));
  }
}

std::string letters(const std::vector<const Section*>& sections) {
  std::string text;
  for (std::size_t r = 0; r < sections.size(); ++r)
    if (sections[r]) text += fmt::format("{}{}", text.empty() ? "" : ", ", letter(r));
  return text;
}

void add_lone(const std::string& only_in, std::size_t values, Comparison& result) {
  auto lone = std::find_if(result.lone.begin(), result.lone.end(),
                           [&](const Comparison::Lone& known) { return known.only_in == only_in; });
  if (lone == result.lone.end()) lone = result.lone.insert(lone, {only_in});
  ++lone->sections;
  lone->values += values;
}

/// Sections in the order of the first run, then those that it lacks.
std::vector<const Section*> all_sections(const std::vector<StoredRun>& runs) {
  std::vector<const Section*> sections;
  std::set<std::string_view> known;
  for (const StoredRun& run : runs)
    for (const Section& section : run.sections)
      if (known.insert(section.key).second) sections.push_back(&section);
  return sections;
}

void compare_sections(const std::vector<StoredRun>& runs, double tolerance, Comparison& result) {
  std::vector<std::map<std::string_view, const Section*>> of_run(runs.size());
  for (std::size_t r = 0; r < runs.size(); ++r)
    for (const Section& section : runs[r].sections) of_run[r].emplace(section.key, &section);
  for (const Section* any : all_sections(runs)) {
    std::vector<const Section*> sections;
    for (const auto& own : of_run) {
      const auto found = own.find(any->key);
      sections.push_back(found == own.end() ? nullptr : found->second);
    }
    const bool everywhere = std::count(sections.begin(), sections.end(), nullptr) == 0;
    Comparison::Part part{any->title, any->label, everywhere ? "" : letters(sections), {}};
    add_rows(part, sections, tolerance, result);
    if (!everywhere) add_lone(part.only_in, any->values.size(), result);
    if (!everywhere || !part.rows.empty()) result.parts.push_back(std::move(part));
  }
}

/// Configurations may be of programs of different versions: a parameter may be missing in one.
void compare_parameters(const std::vector<ComparedRun>& given, const std::vector<StoredRun>& runs,
                        Comparison& result) {
  const bool whole =
      std::none_of(given.begin(), given.end(), [](const ComparedRun& run) { return run.parameters.empty(); });
  std::vector<std::map<std::string, std::string>> of_run;
  std::set<std::string> keys;
  for (std::size_t r = 0; r < runs.size(); ++r) {
    of_run.push_back(whole ? given[r].parameters : runs[r].overrides);
    of_run.back()["gpu.name"] = runs[r].gpu;
    for (const auto& [key, value] : of_run.back()) keys.insert(key);
  }
  for (const std::string& key : keys) {
    Comparison::Row row{key, {}};
    for (const auto& values : of_run) {
      const auto found = values.find(key);
      row.values.push_back(found == values.end() ? Json(nullptr) : Json(found->second));
    }
    const auto differs = [&](const Json& value) { return value != row.values.front(); };
    if (std::any_of(row.values.begin(), row.values.end(), differs))
      result.parameters.push_back(std::move(row));
  }
}

}  // namespace

std::string compare(const std::vector<ComparedRun>& given, const CompareOptions& options, bool& different) {
  if (given.size() < 2 || given.size() > kMaxCompared)
    throw UserError(fmt::format("found {} runs to compare, expected 2 to {}", given.size(), kMaxCompared));
  std::vector<StoredRun> runs;
  for (const ComparedRun& run : given) runs.push_back(load_run(run.path));
  Comparison result;
  result.tolerance = options.tolerance;
  for (const StoredRun& run : runs) result.runs.push_back({run.file, run.identity});
  compare_parameters(given, runs, result);
  compare_sections(runs, options.tolerance, result);
  different = !result.parts.empty();
  return options.json ? as_json(result) : as_text(result);
}

}  // namespace lockstep::stats
