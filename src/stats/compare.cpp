// `lockstep compare`: values by path, kernel by kernel.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "stats/files.hpp"
#include "stats/report.hpp"
#include "stats/text.hpp"
#include "util/error.hpp"

namespace lockstep::stats {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kShownSections = 30, kShownValues = 40;  // in text; --json has all
constexpr unsigned kMaxDepth = 16;

/// What can be compared as one: the whole run, a kernel, a copy, an interval.
struct Section {
  std::string key;    // matches sections of A and B
  std::string title;  // for people
  std::vector<std::pair<std::string, Json>> values;
};

struct Run {
  std::string file, identity;
  std::vector<Section> sections;
};

struct Difference {
  std::string name;
  Json a, b;  // null where one side has no such value
};

std::uint64_t line_of_byte(const std::string& text, std::size_t byte) {
  const auto end = text.begin() + static_cast<std::ptrdiff_t>(std::min(byte, text.size()));
  return 1 + static_cast<std::uint64_t>(std::count(text.begin(), end, '\n'));
}

Json parse_file(const std::string& file) {
  const std::string text = read_file(file);
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& e) {
    throw InputError(file, line_of_byte(text, e.byte == 0 ? 0 : e.byte - 1),
                     fmt::format("byte {}: not valid JSON: {}", e.byte, e.what()));
  } catch (const Json::exception& e) {
    throw InputError(file, 0, fmt::format("not valid JSON: {}", e.what()));
  }
}

/// Numbers must keep every digit: whole numbers of 64 bits, or small enough decimals.
void check_number(const std::string& file, const std::string& path, const Json& value) {
  if (!value.is_number_float() || std::abs(value.get<double>()) < 1.8e19) return;
  throw InputError(file, 0, fmt::format("\"{}\" is {}, more than 64 bits", path, value.dump()));
}

void flatten(const std::string& file, const std::string& path, const Json& value, unsigned depth,
             std::vector<std::pair<std::string, Json>>& out) {
  if (depth > kMaxDepth) throw InputError(file, 0, fmt::format("\"{}\" is nested too deeply", path));
  if (value.is_object()) {
    for (const auto& [key, child] : value.items()) {
      flatten(file, path.empty() ? key : fmt::format("{}.{}", path, key), child, depth + 1, out);
    }
  } else if (value.is_array()) {
    for (std::size_t i = 0; i < value.size(); ++i) {
      flatten(file, fmt::format("{}[{}]", path, i), value[i], depth + 1, out);
    }
  } else {
    check_number(file, path, value);
    out.emplace_back(path, value);
  }
}

const Json& need(const std::string& file, const Json& object, const char* key, Json::value_t type) {
  const auto found = object.find(key);
  if (found == object.end() || found->type() != type) {
    throw InputError(file, 0,
                     fmt::format("found no \"{}\" of type {}, expected a stats.json of lockstep", key,
                                 Json(type).type_name()));
  }
  return *found;
}

std::string text_of(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? printable(found->get<std::string>()) : "?";
}

/// Kernels are told apart by id and name; the same ones again (several contexts) by how often they came.
std::string kernel_title(const Json& kernel) {
  const auto id = kernel.find("id");
  return fmt::format("kernel {} {}", id != kernel.end() ? printable(id->dump()) : "?",
                     text_of(kernel, "name"));
}

void add_list(Run& run, const Json& list, const char* what) {
  std::map<std::string, unsigned> seen;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (!list[i].is_object()) throw InputError(run.file, 0, fmt::format("{} {} is no object", what, i));
    Section section;
    section.title = std::string(what) == "kernel" ? kernel_title(list[i]) : fmt::format("{} {}", what, i);
    const unsigned again = seen[section.title]++;
    section.key = fmt::format("{}/{}", section.title, again);
    if (again > 0) section.title += fmt::format(" ({} more of this id before)", again);
    flatten(run.file, "", list[i], 0, section.values);
    run.sections.push_back(std::move(section));
  }
}

void add_intervals(Run& run, const Json& root) {
  const auto found = root.find("intervals");
  if (found == root.end()) return;
  Section section{"intervals", "intervals", {}};
  flatten(run.file, "", *found, 0, section.values);
  run.sections.push_back(std::move(section));
}

Run load(const std::string& path) {
  Run run;
  std::error_code error;
  run.file = std::filesystem::is_directory(path, error) ? path + "/stats.json" : path;
  const Json root = parse_file(run.file);
  if (!root.is_object()) throw InputError(run.file, 0, "found no object, expected a stats.json of lockstep");
  const Json& schema = need(run.file, root, "schema", Json::value_t::number_unsigned);
  if (schema != 1u) {
    throw InputError(run.file, 0, fmt::format("found schema {}, this program reads schema 1", schema.dump()));
  }
  const Json& trace = need(run.file, root, "trace", Json::value_t::object);
  run.identity = fmt::format("{} (configuration {}), trace {} ({}), lockstep {}", text_of(root, "gpu"),
                             text_of(root, "config_hash"), text_of(trace, "name"), text_of(trace, "hash"),
                             text_of(root, "version"));
  const Json& kernels = need(run.file, root, "kernels", Json::value_t::array);
  add_list(run, kernels, "kernel");
  add_list(run, need(run.file, root, "copies", Json::value_t::array), "copy");
  add_intervals(run, root);
  Section total{"total", "total", {}};
  flatten(run.file, "", need(run.file, root, "total", Json::value_t::object), 0, total.values);
  for (const char* key : {"unattributed", "core_khz", "total_cycles", "partial", "partial_reason",
                          "unknown_opcodes", "remarks"}) {
    if (const auto found = root.find(key); found != root.end())
      flatten(run.file, key, *found, 0, total.values);
  }
  run.sections.push_back(std::move(total));
  return run;
}

bool same(const Json& a, const Json& b, double tolerance) {
  if (a == b) return a.type() == b.type() || (a.is_number() && b.is_number());
  if (!a.is_number() || !b.is_number() || tolerance <= 0) return false;
  const double x = a.get<double>(), y = b.get<double>();
  return std::abs(x - y) <= tolerance * std::max(std::abs(x), std::abs(y));
}

std::vector<Difference> differences(const Section& a, const Section& b, double tolerance) {
  std::map<std::string_view, const Json*> of_b;
  for (const auto& [name, value] : b.values) of_b.emplace(name, &value);
  std::vector<Difference> result;
  for (const auto& [name, value] : a.values) {
    const auto found = of_b.find(name);
    if (found == of_b.end()) {
      result.push_back({name, value, nullptr});
      continue;
    }
    if (!same(value, *found->second, tolerance)) result.push_back({name, value, *found->second});
    of_b.erase(found);
  }
  for (const auto& [name, value] : b.values) {
    if (of_b.count(name)) result.push_back({name, nullptr, value});
  }
  return result;
}

std::string shown(const Json& value) {
  if (value.is_null()) return "-";
  if (value.is_number_unsigned()) return grouped(value.get<std::uint64_t>());
  if (value.is_string()) return printable(value.get<std::string>());
  return value.dump(-1, ' ', true, Json::error_handler_t::replace);
}

/// B against A: "+5 (+0.09%)".
std::string change(const Difference& d) {
  if (!d.a.is_number() || !d.b.is_number()) return "";
  std::string text;
  if (d.a.is_number_unsigned() && d.b.is_number_unsigned()) {
    const auto a = d.a.get<std::uint64_t>(), b = d.b.get<std::uint64_t>();
    text = b >= a ? "+" + grouped(b - a) : "-" + grouped(a - b);
  } else {
    text = fmt::format("{:+.6g}", d.b.get<double>() - d.a.get<double>());
  }
  const double a = d.a.get<double>();
  if (a == 0) return text;
  return text + fmt::format(" ({:+.2f}%)", (d.b.get<double>() - a) / std::abs(a) * 100);
}

struct Outcome {
  std::size_t compared = 0, different = 0;
  struct Part {
    std::string title, only_in;  // only_in: "A", "B" or empty
    std::vector<Difference> values;
  };
  std::vector<Part> parts;  // those with differences
};

Outcome compare_runs(const Run& a, const Run& b, double tolerance) {
  std::map<std::string_view, const Section*> of_b;
  for (const Section& section : b.sections) of_b.emplace(section.key, &section);
  Outcome outcome;
  const auto only = [&](const Section& section, const char* where) {
    outcome.different += section.values.size();
    outcome.parts.push_back({section.title, where, {}});
  };
  for (const Section& section : a.sections) {
    outcome.compared += section.values.size();
    const auto found = of_b.find(section.key);
    if (found == of_b.end()) {
      only(section, "A");
      continue;
    }
    auto values = differences(section, *found->second, tolerance);
    of_b.erase(found);
    outcome.different += values.size();
    if (!values.empty()) outcome.parts.push_back({section.title, "", std::move(values)});
  }
  for (const Section& section : b.sections) {
    if (of_b.count(section.key)) only(section, "B");
  }
  return outcome;
}

std::string part_text(const Outcome::Part& part) {
  if (!part.only_in.empty()) return fmt::format("\n{}: only in {}\n", part.title, part.only_in);
  std::string text = fmt::format("\n{}\n  {:<28} {:>18} {:>18}  B against A\n", part.title, "", "A", "B");
  for (std::size_t i = 0; i < std::min(kShownValues, part.values.size()); ++i) {
    const Difference& d = part.values[i];
    text += fmt::format("  {:<28} {:>18} {:>18}  {}\n", printable(d.name), shown(d.a), shown(d.b), change(d));
  }
  if (part.values.size() > kShownValues) {
    text += fmt::format("  ... and {} more\n", part.values.size() - kShownValues);
  }
  return text;
}

std::string as_text(const Run& a, const Run& b, const Outcome& outcome, double tolerance) {
  std::string text = fmt::format("A: {}: {}\nB: {}: {}\n", a.file, a.identity, b.file, b.identity);
  for (std::size_t i = 0; i < std::min(kShownSections, outcome.parts.size()); ++i)
    text += part_text(outcome.parts[i]);
  if (outcome.parts.size() > kShownSections) {
    text += fmt::format("\n... and differences in {} more; --json lists all\n",
                        outcome.parts.size() - kShownSections);
  }
  const std::string within = tolerance > 0 ? fmt::format(" by more than {:g}", tolerance) : "";
  return text +
         (outcome.different == 0
              ? fmt::format("\nno difference{}: {} values compared\n", within, grouped(outcome.compared))
              : fmt::format("\n{} of {} values differ{}\n", grouped(outcome.different),
                            grouped(outcome.compared), within));
}

std::string as_json(const Run& a, const Run& b, const Outcome& outcome, double tolerance) {
  Json differences = Json::array();
  for (const Outcome::Part& part : outcome.parts) {
    if (!part.only_in.empty()) differences.push_back({{"where", part.title}, {"only_in", part.only_in}});
    for (const Difference& d : part.values) {
      differences.push_back({{"where", part.title}, {"counter", d.name}, {"a", d.a}, {"b", d.b}});
    }
  }
  const Json result = {{"schema", 1},
                       {"a", a.file},
                       {"b", b.file},
                       {"tolerance", tolerance},
                       {"values", outcome.compared},
                       {"different", outcome.different},
                       {"differences", differences}};
  return result.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string compare(const std::string& a, const std::string& b, const CompareOptions& options,
                    bool& different) {
  const Run run_a = load(a), run_b = load(b);
  const Outcome outcome = compare_runs(run_a, run_b, options.tolerance);
  different = outcome.different > 0 || !outcome.parts.empty();
  return options.json ? as_json(run_a, run_b, outcome, options.tolerance)
                      : as_text(run_a, run_b, outcome, options.tolerance);
}

}  // namespace lockstep::stats
