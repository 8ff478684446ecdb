#include "cli/host.hpp"

#include <sched.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <thread>

namespace lockstep::cli {
namespace {

/// The leading number of an environment variable ("8" or "8,2"), when it is a possible thread count.
std::optional<unsigned> threads_from(const char* variable) {
  const char* text = std::getenv(variable);
  if (text == nullptr) return std::nullopt;
  std::string_view first = text;
  first = first.substr(0, first.find(','));
  unsigned value = 0;
  const auto [end, error] = std::from_chars(first.data(), first.data() + first.size(), value);
  if (error != std::errc{} || end != first.data() + first.size()) return std::nullopt;
  if (value < 1 || value > kMaxThreads) return std::nullopt;
  return value;
}

}  // namespace

unsigned affinity_cores() {
  // The kernel refuses a set smaller than its own; 16384 CPUs are more than any machine has.
  constexpr int kCpus = 16384;
  cpu_set_t* set = CPU_ALLOC(kCpus);
  if (set == nullptr) return 1;
  const std::size_t bytes = CPU_ALLOC_SIZE(kCpus);
  const bool ok = sched_getaffinity(0, bytes, set) == 0;
  const int cores = ok ? CPU_COUNT_S(bytes, set) : static_cast<int>(std::thread::hardware_concurrency());
  CPU_FREE(set);
  return static_cast<unsigned>(std::max(cores, 1));
}

unsigned default_threads() {
  for (const char* variable : {"SLURM_CPUS_PER_TASK", "OMP_NUM_THREADS"}) {
    if (const auto threads = threads_from(variable)) return *threads;
  }
  return std::min(affinity_cores(), kMaxThreads);
}

std::string command_line(int argc, char** argv) {
  std::string command = "lockstep";
  for (int i = 0; i < argc; ++i) command.append(" ").append(argv[i]);
  return command;
}

}  // namespace lockstep::cli
