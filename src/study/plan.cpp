#include "study/plan.hpp"

#include <fmt/format.h>

#include <iterator>

#include "config/value.hpp"

namespace lockstep::study {
namespace {

/// The next combination, the last axis first; false after the last one.
bool advance(std::vector<std::size_t>& points, const std::vector<Axis>& axes) {
  for (std::size_t a = axes.size(); a-- > 0;) {
    if (++points[a] < axes[a].points.size()) return true;
    points[a] = 0;
  }
  return false;
}

void add_settings(std::vector<std::string>& arguments, const Settings& settings) {
  if (!settings.config.empty()) arguments.insert(arguments.end(), {"-c", settings.config});
  for (const auto& [key, value] : settings.set)
    arguments.insert(arguments.end(), {"--set", fmt::format("{}={}", key, value)});
  for (const auto& [name, value] : settings.options) {
    if (value == "false") continue;  // a flag that is not given
    arguments.push_back(value == "true" ? "--" + name : fmt::format("--{}={}", name, value));
  }
}

}  // namespace

std::vector<PlannedRun> plan(const Study& study) {
  std::vector<PlannedRun> runs;
  for (std::size_t w = 0; w < study.workloads.size(); ++w) {
    std::vector<std::size_t> points(study.axes.size(), 0);
    do {
      PlannedRun run{w, points, study.settings};
      run.settings.merge(study.workloads[w].settings);
      for (std::size_t a = 0; a < points.size(); ++a)
        run.settings.merge(study.axes[a].points[points[a]].settings);
      runs.push_back(std::move(run));
    } while (advance(points, study.axes));
  }
  return runs;
}

std::vector<std::string> arguments_of(const Study& study, const PlannedRun& run) {
  const Workload& workload = study.workloads[run.workload];
  const bool program = !workload.program.empty();
  std::vector<std::string> arguments{program ? "exec" : "run"};
  add_settings(arguments, run.settings);
  if (program) arguments.emplace_back("--");
  const auto& rest = program ? workload.program : workload.trace;
  arguments.insert(arguments.end(), rest.begin(), rest.end());
  return arguments;
}

std::string description(const Study& study, const PlannedRun& run) {
  std::string text = config::printable(study.workloads[run.workload].name);
  for (std::size_t a = 0; a < study.axes.size(); ++a)
    fmt::format_to(std::back_inserter(text), ", {} {}", config::printable(study.axes[a].name),
                   config::printable(study.axes[a].points[run.points[a]].label));
  return text;
}

}  // namespace lockstep::study
