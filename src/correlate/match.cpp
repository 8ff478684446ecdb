#include "correlate/match.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <tuple>

#include "correlate/kernel_name.hpp"
#include "correlate/metrics.hpp"
#include "stats/names.hpp"
#include "stats/stored_run.hpp"
#include "stats/text.hpp"
#include "util/error.hpp"

namespace lockstep::correlate {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kLabelWidth = 60;

void flatten(const std::string& path, const Json& value, std::map<std::string, double>& out) {
  if (value.is_object()) {
    for (const auto& [key, child] : value.items()) flatten(path.empty() ? key : path + "." + key, child, out);
  } else if (value.is_number()) {
    out[path] = value.get<double>();
  }
}

Dimensions dimensions_of(const Json& kernel, const char* key) {
  Dimensions result{1, 1, 1};
  const auto found = kernel.find(key);
  if (found == kernel.end() || !found->is_array()) return result;
  for (std::size_t i = 0; i < std::min<std::size_t>(3, found->size()); ++i)
    if ((*found)[i].is_number_unsigned()) result[i] = (*found)[i].get<std::uint64_t>();
  return result;
}

SimulatedLaunch launch_of(const Json& kernel) {
  SimulatedLaunch launch;
  if (kernel.contains("name") && kernel["name"].is_string())
    launch.kernel = kernel["name"].get<std::string>();
  if (kernel.contains("id") && kernel["id"].is_number_unsigned())
    launch.id = kernel["id"].get<std::uint64_t>();
  launch.grid = dimensions_of(kernel, "grid");
  launch.block = dimensions_of(kernel, "block");
  flatten("", kernel, launch.counters);
  for (const char* key : {"id", "stream", "start_cycle", "device"})
    launch.counters.erase(key);  // names, no counts
  const auto launching = launch.counters.find("launch_cycles"), running = launch.counters.find("cycles");
  if (launching != launch.counters.end() && running != launch.counters.end())
    launch.counters[std::string(kElapsedCycles)] = launching->second + running->second;
  return launch;
}

/// The launches of a kernel of a program.
struct Kernel {
  KernelName name;
  std::string label;
  std::vector<const SimulatedLaunch*> launches;
  std::vector<bool> measured;
};

std::vector<Kernel> kernels_of(const SimulatedProgram& program) {
  std::map<std::string, std::size_t> index;
  std::vector<Kernel> kernels;
  std::vector<std::string> names;
  for (const SimulatedLaunch& launch : program.launches) names.push_back(launch.kernel);
  const auto labels = stats::labels_by_name(names, kLabelWidth);
  for (const SimulatedLaunch& launch : program.launches) {
    const auto [found, added] = index.try_emplace(launch.kernel, kernels.size());
    if (added) kernels.push_back({kernel_name(launch.kernel), labels.at(launch.kernel), {}, {}});
    kernels[found->second].launches.push_back(&launch);
    kernels[found->second].measured.push_back(false);
  }
  return kernels;
}

/// The one kernel that the name identifies, or else the reason why no kernel does.
struct Found {
  Kernel* kernel = nullptr;
  std::string why;
};
Found find(std::vector<Kernel>& kernels, const KernelName& name) {
  std::vector<Kernel*> candidates;
  for (Kernel& kernel : kernels)
    if (same_function(name, kernel.name)) candidates.push_back(&kernel);
  if (candidates.size() > 1 && !name.parameters.empty()) {
    const auto differs = [&](const Kernel* k) { return !same_parameters(name, k->name); };
    std::erase_if(candidates, differs);
  }
  if (candidates.empty()) return {nullptr, "the run has no such kernel"};
  if (candidates.size() > 1) return {nullptr, "the run has several kernels of this name"};
  return {candidates.front(), ""};
}

/// Takes the measurements of one program in turn.
class Matcher {
 public:
  Matcher(const SimulatedProgram& program, const std::string& file, Matched& result)
      : program_(program.program), kernels_(kernels_of(program)), file_(file), result_(result) {}

  void add(const Measurement& m) {
    const auto [kernel, why] = find(kernels_, kernel_name(m.kernel));
    if (kernel == nullptr) return refuse(m, why);
    if (m.instances > 0) return add_mean(m, *kernel);
    const std::optional<std::size_t> launch = m.launch ? by_number(m, *kernel) : by_order(m, *kernel);
    if (!launch) return refuse(m, "the run has no such launch of this kernel");
    kernel->measured[*launch] = true;
    for (const auto& [counter, hardware] : m.counters) {
      const auto found = kernel->launches[*launch]->counters.find(counter);
      if (found == kernel->launches[*launch]->counters.end()) continue;
      result_.pairs.push_back({program_, kernel->label, *launch, 1, counter, {hardware, found->second}});
    }
  }

  /// Simulated launches that nothing was measured of.
  [[nodiscard]] std::size_t unmeasured() const {
    std::size_t count = 0;
    for (const Kernel& k : kernels_) count += static_cast<std::size_t>(std::ranges::count(k.measured, false));
    return count;
  }

 private:
  void refuse(const Measurement& m, const std::string& why) {
    result_.unmatched.push_back(
        fmt::format("{}:{}: {}: {}", file_, m.line, stats::printable(m.kernel.substr(0, 200)), why));
  }

  static bool same_shape(const Measurement& m, const SimulatedLaunch& launch) {
    return (!m.grid || *m.grid == launch.grid) && (!m.block || *m.block == launch.block);
  }

  static std::optional<std::size_t> by_number(const Measurement& m, const Kernel& kernel) {
    if (*m.launch >= kernel.launches.size() || !same_shape(m, *kernel.launches[*m.launch]))
      return std::nullopt;
    return *m.launch;
  }

  /// The first one of this shape that no measurement before it has had.
  static std::optional<std::size_t> by_order(const Measurement& m, const Kernel& kernel) {
    for (std::size_t i = 0; i < kernel.launches.size(); ++i)
      if (!kernel.measured[i] && same_shape(m, *kernel.launches[i])) return i;
    return std::nullopt;
  }

  void add_mean(const Measurement& m, Kernel& kernel) {
    if (m.instances != kernel.launches.size())
      return refuse(
          m, fmt::format("a mean over {} launches, and the run has {}", m.instances, kernel.launches.size()));
    for (const auto& [counter, hardware] : m.counters) {
      const auto has = [&name = counter](const SimulatedLaunch* launch) {
        return launch->counters.contains(name);
      };
      if (!std::ranges::all_of(kernel.launches, has)) continue;
      double sum = 0;
      for (const SimulatedLaunch* launch : kernel.launches) sum += launch->counters.at(counter);
      const double mean = sum / static_cast<double>(kernel.launches.size());
      result_.pairs.push_back({program_, kernel.label, 0, m.instances, counter, {hardware, mean}});
    }
    kernel.measured.assign(kernel.measured.size(), true);
  }

  std::string program_;
  std::vector<Kernel> kernels_;
  const std::string& file_;
  Matched& result_;
};

/// Counters that no run has are a mistake of the file.
void check_counters(const std::vector<SimulatedProgram>& programs, const Measurements& measured,
                    const std::string& file) {
  std::set<std::string_view> known;
  for (const SimulatedProgram& program : programs)
    for (const SimulatedLaunch& launch : program.launches)
      for (const auto& [counter, value] : launch.counters) known.insert(counter);
  for (const Measurement& m : measured.launches)
    for (const auto& [counter, value] : m.counters)
      if (!known.contains(counter))
        throw InputError(file, m.line,
                         fmt::format("found '{}', expected a counter of stats.json (`lockstep stats`) or {}",
                                     stats::printable(counter), kElapsedCycles));
}

}  // namespace

SimulatedProgram load_program(const std::string& path, const std::string& program) {
  const Json root = stats::read_stats(path);
  SimulatedProgram result;
  result.program = program;
  const auto trace = root.find("trace");
  if (program.empty() && trace != root.end() && trace->is_object() && trace->contains("name") &&
      (*trace)["name"].is_string())
    result.program = stats::printable((*trace)["name"].get<std::string>());
  const auto kernels = root.find("kernels");
  if (kernels == root.end() || !kernels->is_array())
    throw InputError(stats::stats_file(path), 0, "found no list \"kernels\"");
  for (const Json& kernel : *kernels)
    if (kernel.is_object()) result.launches.push_back(launch_of(kernel));
  std::ranges::stable_sort(result.launches, {}, &SimulatedLaunch::id);
  return result;
}

Matched match(const std::vector<SimulatedProgram>& programs, const Measurements& measured,
              const std::string& file, const std::string& program) {
  check_counters(programs, measured, file);
  Matched result;
  std::vector<Matcher> matchers;
  for (const SimulatedProgram& p : programs) matchers.emplace_back(p, file, result);
  std::set<std::size_t> touched;
  for (std::size_t p = 0; p < programs.size(); ++p)
    for (const Measurement& m : measured.launches)
      if ((m.program.empty() ? program : m.program) == programs[p].program) {
        matchers[p].add(m);
        touched.insert(p);
      }
  for (const Measurement& m : measured.launches) {
    const std::string& name = m.program.empty() ? program : m.program;
    if (std::ranges::find(programs, name, &SimulatedProgram::program) == programs.end())
      result.unmatched.push_back(
          fmt::format("{}:{}: no run is of program '{}'", file, m.line, stats::printable(name)));
  }
  for (const std::size_t p : touched) result.unmeasured += matchers[p].unmeasured();
  return result;
}

}  // namespace lockstep::correlate
