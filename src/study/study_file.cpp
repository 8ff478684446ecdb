#include "study/study_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <set>

#include "config/value.hpp"
#include "study/axes.hpp"
#include "study/figure_reader.hpp"
#include "study/joined.hpp"
#include "study/toml_reader.hpp"

namespace lockstep::study {
namespace {

using config::printable;

constexpr std::int64_t kMaxJobs = 1024;
/// Columns of the table that are neither axes nor statistics.
constexpr std::array<std::string_view, 6> kReserved{kWorkloadColumn, "state",   "error",
                                                    "run",           "speedup", "run_ns"};

std::vector<std::string> device_arguments(const std::vector<std::string>& folders) {
  std::vector<std::string> arguments;
  for (std::size_t d = 0; d < folders.size(); ++d) {
    arguments.emplace_back("--device");
    arguments.push_back(fmt::format("{}={}", d, folders[d]));
  }
  return arguments;
}

/// What stands for the workload in tables, where it says no name.
std::string default_name(const Workload& workload, const std::string& trace) {
  if (!workload.program.empty()) return joined(workload.program, " ");
  std::string_view path = trace;
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  return std::string(path.substr(path.rfind('/') + 1));
}

Workload read_workload(const TomlValue& value, const std::string& file) {
  TableReader table(value, file, "workload");
  Workload workload;
  workload.line = value.line;
  const auto trace = table.text("trace"), launch = table.text("launch");
  const auto devices = table.texts("devices");
  workload.program = table.texts("program");
  workload.inputs = table.texts("inputs");
  if ((trace ? 1 : 0) + (devices.empty() ? 0 : 1) + (workload.program.empty() ? 0 : 1) != 1)
    table.fail("expected one of trace, devices (a trace for each) and program");
  if (launch && !trace) table.fail("launch: expected trace, a PTX file, with it");
  if (!workload.inputs.empty() && workload.program.empty())
    table.fail("inputs: expected program with it, which reads these files");
  if (trace) workload.trace = {*trace};
  if (launch) workload.trace.insert(workload.trace.end(), {"--launch", *launch});
  if (!devices.empty()) workload.trace = device_arguments(devices);
  workload.name = table.text("name").value_or(default_name(workload, trace.value_or("several devices")));
  table.set_where(fmt::format("workload '{}'", printable(workload.name)));
  workload.settings = read_settings(table);
  table.done();
  return workload;
}

void check_workloads(const TableReader& table, const Study& study) {
  if (study.workloads.empty()) table.fail("expected at least one [[workload]]");
  std::set<std::string> names;
  for (const Workload& w : study.workloads)
    if (!names.insert(w.name).second)
      table.fail(fmt::format("two workloads are called '{}'; expected different names", printable(w.name)),
                 w.line);
}

/// What the axis sets: the same of two axes would be set by the later one alone.
std::set<std::string> targets_of(const Axis& axis) {
  std::set<std::string> targets;
  for (const AxisPoint& point : axis.points) {
    if (!point.settings.config.empty()) targets.insert("config");
    for (const auto& [key, unused] : point.settings.set) targets.insert("set " + key);
    for (const auto& [name, unused] : point.settings.options) targets.insert("option " + name);
  }
  return targets;
}

void check_axes(const TableReader& table, const Study& study) {
  std::set<std::string> names, targets;
  std::size_t runs = study.workloads.size();
  for (const Axis& axis : study.axes) {
    if (std::ranges::find(kReserved, axis.name) != kReserved.end())
      table.fail(fmt::format("an axis cannot be called '{}', as a column of the table is", axis.name),
                 axis.line);
    if (!names.insert(axis.name).second)
      table.fail(fmt::format("two axes are called '{}'", printable(axis.name)), axis.line);
    for (const std::string& target : targets_of(axis))
      if (!targets.insert(target).second)
        table.fail(fmt::format("axis '{}' sets what an axis before it sets ({})", printable(axis.name),
                               printable(target)),
                   axis.line);
    runs *= axis.points.size();
    if (runs > kMaxRuns) table.fail(fmt::format("more than {} runs", kMaxRuns), axis.line);
  }
}

std::optional<Speedup> read_speedup(TableReader& table, const Study& study) {
  const TomlValue* value = table.table("speedup");
  if (value == nullptr) return std::nullopt;
  TableReader reader(*value, study.file, "speedup");
  Speedup speedup;
  speedup.of = reader.text("of").value_or(speedup.of);
  const TomlValue* against = reader.table("against");
  if (against == nullptr)
    reader.fail("expected against = { AXIS = VALUE }, the runs that have a speed-up of 1");
  speedup.against = read_where(reader, "against", *against, study);
  if (speedup.against.empty()) reader.fail("against: expected at least one axis");
  reader.done();
  return speedup;
}

Study read(const TomlValue& root, const std::string& file) {
  TableReader table(root, file, "");
  Study study;
  study.file = file;
  study.title = table.text("title").value_or("");
  study.threads = static_cast<unsigned>(table.integer("threads", 1, kMaxJobs).value_or(1));
  study.jobs = static_cast<unsigned>(table.integer("jobs", 1, kMaxJobs).value_or(0));
  study.columns = table.texts("columns");
  study.settings = read_settings(table);
  for (const TomlValue& w : table.tables("workload")) study.workloads.push_back(read_workload(w, file));
  check_workloads(table, study);
  for (const TomlValue& a : table.tables("axis")) study.axes.push_back(read_axis(a, file));
  check_axes(table, study);
  study.speedup = read_speedup(table, study);
  for (const TomlValue& f : table.tables("figure")) study.figures.push_back(read_figure(f, study));
  table.done();
  return study;
}

/// What is set later comes later, as a parameter may have several keys.
template <class Pairs>
void merge_pairs(Pairs& mine, const Pairs& later) {
  for (const auto& pair : later) {
    std::erase_if(mine, [&](const auto& earlier) { return earlier.first == pair.first; });
    mine.push_back(pair);
  }
}

}  // namespace

void Settings::merge(const Settings& later) {
  if (!later.config.empty()) config = later.config;
  merge_pairs(set, later.set);
  merge_pairs(options, later.options);
}

Study read_study(const std::string& file) { return read(read_toml(file), file); }
Study parse_study(std::string_view text, const std::string& file) {
  return read(parse_toml(text, file), file);
}

}  // namespace lockstep::study
