#include "stats/host_report.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <ctime>

namespace lockstep::stats {
namespace {

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

void describe_host(HostReport& report, std::string command, double wall_seconds) {
  report.date = utc_now();
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) == 0) report.host = name.data();
  report.command = std::move(command);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  if (report.wall_seconds <= 0) report.wall_seconds = wall_seconds;
  if (report.cpu_seconds <= 0) report.cpu_seconds = seconds(usage.ru_utime) + seconds(usage.ru_stime);
  if (report.peak_rss_bytes == 0) report.peak_rss_bytes = static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

}  // namespace lockstep::stats
