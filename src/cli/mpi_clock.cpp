#include "cli/mpi_clock.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cuda/settings.hpp"
#include "stats/files.hpp"
#include "stats/stored_run.hpp"
#include "util/error.hpp"

namespace lockstep::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kClockVariable = "LOCKSTEP_MPI_CLOCK";  // as src/messages/pmpi reads it

/// A stats.json.
class Results {
 public:
  explicit Results(const std::string& folder)
      : file_(folder + "/stats.json"), root_(stats::read_stats(file_)) {}

  [[nodiscard]] const Json& root() const { return root_; }
  [[nodiscard]] const Json& member(const Json& object, const char* key, Json::value_t type) const {
    const auto found = object.find(key);
    if (found == object.end() || found->type() != type)
      fail(fmt::format("found no \"{}\" of type {}", key, Json(type).type_name()));
    return *found;
  }
  [[nodiscard]] std::string text(const Json& object, const char* key) const {
    return member(object, key, Json::value_t::string).get<std::string>();
  }
  [[nodiscard]] std::vector<std::uint64_t> numbers(const Json& object, const char* key) const {
    std::vector<std::uint64_t> all;
    for (const Json& value : member(object, key, Json::value_t::array)) {
      if (!value.is_number_unsigned()) fail(fmt::format("\"{}\" has something other than times", key));
      all.push_back(value.get<std::uint64_t>());
    }
    return all;
  }
  [[noreturn]] void fail(const std::string& found) const {
    throw InputError(file_, 0, found + "; expected the results of an MPI program of lockstep exec");
  }

 private:
  std::string file_;
  Json root_;
};

/// Those of a program's processes: with times.
std::vector<const Json*> processes_of(const Results& results) {
  const Json& root = results.root();
  std::vector<const Json*> all;
  if (!root.contains("system") || !root["system"].is_object() || !root["system"].contains("network"))
    results.fail("found no network");
  const Json& network = results.member(root["system"], "network", Json::value_t::object);
  for (const Json& process : results.member(network, "processes", Json::value_t::array))
    if (process.is_object() && process.contains("clock_ps")) all.push_back(&process);
  if (all.empty()) results.fail("found no \"clock_ps\": it neither read MPI_Wtime nor recorded an event");
  return all;
}

std::string lines(const std::vector<std::uint64_t>& numbers) {
  std::string all;
  for (const std::uint64_t number : numbers) all.append(std::to_string(number)).append("\n");
  return all;
}

}  // namespace

ShownRun read_shown_run(const std::string& folder, const ShownProgram& program, unsigned rank) {
  const Results results(folder);
  const auto differs = [&](const std::string& found, const std::string& expected) {
    throw UserError(fmt::format("--clock {}: found {}; expected {}", folder, found, expected));
  };
  const auto processes = processes_of(results);
  const Json& trace = results.member(results.root(), "trace", Json::value_t::object);
  if (const std::string name = results.text(trace, "name"); name != program.name)
    differs("a run of " + name, "one of " + program.name);
  if (processes.size() != program.processes)
    differs(fmt::format("a run of {} processes", processes.size()),
            fmt::format("one of {}", program.processes));
  if (stats::read_file(folder + "/system.ini") != program.system_ini)
    differs("a run on another system (system.ini)", "the same -c, --gpus and --set");
  if (results.member(results.root(), "partial", Json::value_t::boolean).get<bool>())
    differs("a run that has not come to its end", "a whole one");
  const auto found = std::ranges::find_if(processes, [&](const Json* process) {
    const auto device = process->find("device");
    return device != process->end() && *device == rank;
  });
  if (found == processes.end()) results.fail(fmt::format("found no process {}", rank));
  return {folder, results.text(trace, "hash"), results.numbers(**found, "clock_ps"),
          results.numbers(**found, "event_ps")};
}

void show_times(const ShownRun& run, const std::string& folder, Start& start) {
  const auto pass = [&](const char* variable, const char* name, const std::vector<std::uint64_t>& times) {
    const std::string file = folder + "/" + name;
    stats::write_file(file, lines(times));
    start.variables.emplace_back(variable, file);
  };
  pass(kClockVariable, "clock", run.clock_ps);
  pass(cuda::kEventTimesVariable, "events", run.event_ps);
}

void check_same_calls(const ShownRun& run, std::uint64_t trace_hash) {
  // Measured times of the host, which this run does not have, are in the lower half.
  constexpr std::size_t kUpper = 8;
  if (fmt::format("{:016x}", trace_hash).compare(0, kUpper, run.trace_hash, 0, kUpper) != 0)
    throw UserError(fmt::format(
        "--clock {}: what the program printed of time is not of that run: it has made other calls; "
        "expected a program that does the same in each run, the same arguments, and the same --eager "
        "and --allreduce",
        run.folder));
}

}  // namespace lockstep::cli
