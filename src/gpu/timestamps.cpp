#include "gpu/timestamps.hpp"

#include <algorithm>

#include "sim/clock.hpp"

namespace lockstep::gpu {

std::vector<Timestamps> timestamps_of(const std::vector<trace::Command>& commands) {
  using Timestamp = trace::Command::Timestamp;
  if (std::ranges::all_of(commands, [](const auto& c) { return c.timestamp == Timestamp::kNone; })) return {};
  std::vector<Timestamps> all(trace::devices_of(commands));
  std::uint32_t number = 0;
  for (const trace::Command& c : commands) {
    if (c.kind != trace::Command::Kind::kEventRecord) continue;
    if (c.timestamp == Timestamp::kClock) all[c.device].clocks.push_back(number);
    if (c.timestamp == Timestamp::kEvent) all[c.device].events.push_back(number);
    ++number;
  }
  return all;
}

void add_times(const std::vector<Timestamps>& timestamps, const host::HostQueue& queue,
               std::uint64_t base_khz, stats::NetworkReport& network) {
  constexpr std::uint64_t kPicosecondsKhz = 1'000'000'000;
  const sim::ClockRatio to_ps(base_khz, kPicosecondsKhz);
  const auto times = [&](const std::vector<std::uint32_t>& records) {
    std::vector<std::uint64_t> all;
    for (const std::uint32_t record : records) {
      const auto time = queue.record_time(record);
      if (!time) break;
      all.push_back(to_ps.floor(*time));
    }
    return all;
  };
  for (stats::NetworkReport::Process& process : network.processes) {
    if (process.device >= timestamps.size()) continue;
    process.clock_ps = times(timestamps[process.device].clocks);
    process.event_ps = times(timestamps[process.device].events);
  }
}

}  // namespace lockstep::gpu
