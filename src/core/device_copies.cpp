#include "core/device_copies.hpp"

#include <algorithm>

namespace lockstep::core {
namespace {

/// Bytes in a second.
std::uint64_t share_of_peak(const config::GpuConfig& config, std::uint64_t percent) {
  const std::uint64_t channels = std::uint64_t{config.l2.partitions} * config.dram.channels_per_partition;
  const std::uint64_t per_cycle = channels * config.dram.burst_bytes;  // times burst_cycles
  return per_cycle * config.clock.dram_khz * 10 * percent / config.dram.burst_cycles;
}

}  // namespace

DeviceCopies::DeviceCopies(const config::GpuConfig& config)
    : launch_cycles_(
          sim::cycles_of_ps(std::uint64_t{config.launch.latency_ns} * 1000, config.clock.core_khz)),
      fill_(share_of_peak(config, config.dram.fill_percent), config.clock.core_khz * 1000),
      copy_(share_of_peak(config, config.dram.copy_percent), config.clock.core_khz * 1000) {}

void DeviceCopies::add(const icnt::CopyCommand& command, Cycle asked) {
  const Cycle cycles = command.path == icnt::CopyCommand::Path::kFill ? fill_.ceil(command.bytes)
                                                                      : copy_.ceil(2 * command.bytes);
  free_ = std::max(asked + launch_cycles_, free_) + cycles;
  queue_.push_back({command.index, asked, free_});
}

std::optional<icnt::CopyDone> DeviceCopies::take(Cycle now) {
  if (next() > now) return std::nullopt;
  const icnt::CopyDone done = queue_.front();
  queue_.pop_front();
  return done;
}

}  // namespace lockstep::core
