#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <map>
#include <utility>

#include "api/guarded.hpp"
#include "api/machine.hpp"
#include "api/trace.hpp"
#include "config/config.hpp"
#include "gpu/managed.hpp"
#include "gpu/simulation.hpp"
#include "stats/descriptors.hpp"
#include "stats/files.hpp"
#include "stats/host_report.hpp"
#include "util/version.hpp"

namespace lockstep {

struct Result::Content {
  gpu::RunResult run;
  std::vector<Kernel> kernels;
  std::string config_ini, system_ini;
};

namespace {

gpu::RunOptions run_options(const Machine& machine, const Options& options) {
  gpu::RunOptions run;
  run.config = machine.description().gpu;
  run.system = machine.description().system;
  run.threads = options.threads;
  run.max_cycles = options.max_cycles;
  if (!options.managed.empty()) run.managed = gpu::parse_managed(options.managed);
  if (!options.gpu_memory.empty()) run.managed.memory = gpu::parse_gpu_memory(options.gpu_memory);
  gpu::check(run.managed);
  run.interrupted = options.interrupted;
  return run;
}

Kernel kernel_of(const stats::KernelResult& from) {
  Kernel kernel{from.name,        from.id,     from.stream,  from.device,
                from.start_cycle, from.cycles, from.partial, {}};
  for (const stats::Descriptor& counter : stats::descriptors())
    kernel.counters.push_back(stats::value(from.counters, counter));
  return kernel;
}

/// The program's own command line.
std::string command_line() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!text.empty()) text.pop_back();
  std::ranges::replace(text, '\0', ' ');
  return text;
}

std::size_t position_of(std::string_view name) {
  static const auto positions = [] {
    std::map<std::string_view, std::size_t> all;
    for (const Counter& counter : counters()) all.emplace(counter.name, all.size());
    return all;
  }();
  const auto found = positions.find(name);
  if (found == positions.end())
    throw Error("there is no counter '" + std::string(name) + "' (`lockstep stats` lists them)");
  return found->second;
}

}  // namespace

const std::vector<Counter>& counters() {
  static const auto all = [] {
    std::vector<Counter> list;
    for (const stats::Descriptor& counter : stats::descriptors())
      list.push_back({counter.name, counter.unit, counter.help});
    return list;
  }();
  return all;
}

std::uint64_t Kernel::counter(std::string_view counter) const { return counters.at(position_of(counter)); }

Result simulate(const Trace& trace, const Machine& machine, const Options& options) {
  if (options.threads == 0) throw Error("threads: found 0, expected at least 1");
  auto content = std::make_shared<Result::Content>();
  const auto begin = std::chrono::steady_clock::now();
  guarded([&] { content->run = gpu::simulate(*trace.content().trace, run_options(machine, options)); });
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
  stats::describe_host(content->run.host, command_line(), wall.count());
  content->run.report.version = version();
  for (const stats::KernelResult& kernel : content->run.report.kernels)
    content->kernels.push_back(kernel_of(kernel));
  content->config_ini = config::to_ini(machine.description().gpu);
  if (machine.description().system) content->system_ini = machine.ini();
  return Result(std::move(content));
}

Outcome Result::outcome() const {
  switch (content_->run.outcome) {
    case gpu::Outcome::kDone:
      break;
    case gpu::Outcome::kMaxCycles:
      return Outcome::kMaxCycles;
    case gpu::Outcome::kInterrupted:
      return Outcome::kInterrupted;
    case gpu::Outcome::kDeadlock:
      return Outcome::kDeadlock;
  }
  return Outcome::kDone;
}

std::uint64_t Result::cycles() const { return content_->run.report.total_cycles; }
const std::vector<Kernel>& Result::kernels() const { return content_->kernels; }
std::string Result::json() const { return stats::to_json(content_->run.report); }
const std::string& Result::deadlock() const { return content_->run.dump; }

void Result::write(const std::string& folder) const {
  guarded([&] {
    stats::write_outputs(folder, content_->run.report, content_->run.host);
    stats::write_file(folder + "/config.ini", content_->config_ini);
    if (!content_->system_ini.empty()) stats::write_file(folder + "/system.ini", content_->system_ini);
  });
}

}  // namespace lockstep
