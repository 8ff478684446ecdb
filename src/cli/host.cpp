#include "cli/host.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <ctime>
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

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text.data();
}

double seconds(const timeval& t) {
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
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

void describe_host(stats::HostReport& report, int argc, char** argv, double wall_seconds) {
  report.date = utc_now();
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) == 0) report.host = name.data();
  report.command = "lockstep";
  for (int i = 0; i < argc; ++i) report.command += fmt::format(" {}", argv[i]);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  if (report.wall_seconds <= 0) report.wall_seconds = wall_seconds;
  if (report.cpu_seconds <= 0) report.cpu_seconds = seconds(usage.ru_utime) + seconds(usage.ru_stime);
  if (report.peak_rss_bytes == 0) report.peak_rss_bytes = static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

}  // namespace lockstep::cli
