#include "cli/assumed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "config/assumed.hpp"
#include "config/config.hpp"
#include "config/value.hpp"
#include "gpu/simulation.hpp"
#include "trace/kernel_trace.hpp"
#include "util/console.hpp"
#include "util/error.hpp"

namespace lockstep::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr Cycle kPatience =
    1000;  // limit of a run, as a multiple of the cycles with the unchanged configuration

struct Trial {
  std::string value, reason;  // one of them
  std::vector<Cycle> cycles;  // of each trace
};

struct Entry {
  config::AssumedValue value;
  Trial half, twice;
  double influence = 0;  // the greatest relative change of a trace's cycles
};

/// Cycles of a trace; nothing where it does not come to its end.
std::optional<Cycle> cycles_of(const trace::TraceSet& trace, const config::GpuConfig& config, Cycle most) {
  gpu::RunOptions options;
  options.config = config;
  options.max_cycles = most;
  const gpu::RunResult result = gpu::simulate(trace, options);
  if (result.outcome != gpu::Outcome::kDone) return std::nullopt;
  return result.report.total_cycles;
}

/// Comments and file names may hold anything.
std::string one_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return (c >= 0 && c < ' ') || c == '\x7f'; }, ' ');
  return text;
}

class Influence {
 public:
  explicit Influence(const AssumedRequest& request) : request_(request) {
    for (const std::string& path : request.traces) {
      traces_.push_back(trace::open_trace(path));
      const auto cycles = cycles_of(*traces_.back(), request.resolved.config, 0);
      if (!cycles || *cycles == 0)
        throw UserError(fmt::format("--influence: {} does not run to its end", path));
      cycles_.push_back(*cycles);
    }
  }

  [[nodiscard]] Trial trial(const config::Parameter& parameter, std::uint64_t numerator,
                            std::uint64_t denominator) const {
    const config::Multiple multiple =
        config::multiple(parameter, request_.resolved.config, numerator, denominator);
    Trial trial{multiple.value, multiple.reason, {}};
    if (!trial.reason.empty()) return trial;
    try {
      const config::GpuConfig config = request_.with(parameter.key + "=" + trial.value);
      for (std::size_t i = 0; i < traces_.size(); ++i) {
        const auto cycles = cycles_of(*traces_[i], config, kPatience * cycles_[i]);
        if (!cycles) return {"", fmt::format("{} does not run to its end", trial.value), {}};
        trial.cycles.push_back(*cycles);
      }
    } catch (const UserError& error) {
      return {"", fmt::format("{}: {}", trial.value, error.what()), {}};
    }
    return trial;
  }

  [[nodiscard]] double change(const Trial& trial, std::size_t trace) const {
    return static_cast<double>(trial.cycles[trace]) / static_cast<double>(cycles_[trace]) - 1;
  }
  [[nodiscard]] double greatest(const Trial& trial) const {
    double most = 0;
    for (std::size_t i = 0; i < trial.cycles.size(); ++i) most = std::max(most, std::abs(change(trial, i)));
    return most;
  }
  [[nodiscard]] std::string name(std::size_t trace) const { return traces_[trace]->name(); }
  [[nodiscard]] std::size_t traces() const { return traces_.size(); }
  [[nodiscard]] Cycle cycles(std::size_t trace) const { return cycles_[trace]; }

 private:
  const AssumedRequest& request_;
  std::vector<std::unique_ptr<trace::TraceSet>> traces_;
  std::vector<Cycle> cycles_;  // of the configuration itself
};

Json trial_json(const Trial& trial) {
  if (!trial.reason.empty()) return {{"reason", trial.reason}};
  return {{"value", trial.value}, {"cycles", trial.cycles}};
}

void print_as_json(const AssumedRequest& request, const Influence& influence,
                   const std::vector<Entry>& entries) {
  const config::GpuConfig& config = request.resolved.config;
  Json out = {{"schema", 1},
              {"gpu", config.gpu.name},
              {"config_hash", fmt::format("{:016x}", config::hash(config))},
              {"parameters", config::schema().size()}};
  for (std::size_t i = 0; i < influence.traces(); ++i)
    out["traces"].push_back({{"name", influence.name(i)}, {"cycles", influence.cycles(i)}});
  out["assumed"] = Json::array();
  for (const Entry& e : entries) {
    const config::Parameter& p = *e.value.parameter;
    Json row = {{"key", p.key},
                {"value", config::value_text(p, config)},
                {"unit", config::info(p.measure).name},
                {"source", e.value.origin.note},
                {"place", e.value.origin.place}};
    if (influence.traces() > 0) {
      row["half"] = trial_json(e.half);
      row["double"] = trial_json(e.twice);
    }
    out["assumed"].push_back(row);
  }
  print_out("{}\n", out.dump(1, ' ', false, Json::error_handler_t::replace));
}

void print_trial(const char* what, const Trial& trial, const Influence& influence) {
  if (!trial.reason.empty()) return print_out("    {:<6} none: {}\n", what, trial.reason);
  std::string changes;
  for (std::size_t i = 0; i < influence.traces(); ++i)
    changes += fmt::format("  {} {:+.2f} %", influence.name(i), 100 * influence.change(trial, i));
  print_out("    {:<6} {}:{}\n", what, trial.value, changes);
}

void print_as_text(const AssumedRequest& request, const Influence& influence,
                   const std::vector<Entry>& entries) {
  const config::GpuConfig& config = request.resolved.config;
  print_out("; {}, configuration hash {:016x}: {} of {} values are assumed\n", config.gpu.name,
            config::hash(config), entries.size(), config::schema().size());
  for (std::size_t i = 0; i < influence.traces(); ++i)
    print_out("; {}: {} core cycles\n", influence.name(i), influence.cycles(i));
  for (const Entry& e : entries) {
    print_out("{} = {} ; {} ({})\n", e.value.parameter->key,
              config::value_with_unit(*e.value.parameter, config), one_line(e.value.origin.note),
              one_line(e.value.origin.place));
    if (influence.traces() == 0) continue;
    print_trial("half", e.half, influence);
    print_trial("double", e.twice, influence);
  }
}

}  // namespace

void print_assumed(const AssumedRequest& request) {
  const Influence influence(request);
  std::vector<Entry> entries;
  for (const config::AssumedValue& value : config::assumed_values(request.resolved)) {
    entries.push_back({value, {}, {}});
    if (influence.traces() == 0) continue;
    Entry& e = entries.back();
    e.half = influence.trial(*value.parameter, 1, 2);
    e.twice = influence.trial(*value.parameter, 2, 1);
    e.influence = std::max(influence.greatest(e.half), influence.greatest(e.twice));
  }
  std::stable_sort(entries.begin(), entries.end(),
                   [](const Entry& a, const Entry& b) { return a.influence > b.influence; });
  if (request.json) return print_as_json(request, influence, entries);
  print_as_text(request, influence, entries);
}

}  // namespace lockstep::cli
