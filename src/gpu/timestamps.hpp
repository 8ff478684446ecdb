// The times that a program of several processes is told when it is executed again.
#pragma once

#include <cstdint>
#include <vector>

#include "host/host_queue.hpp"
#include "stats/network_report.hpp"
#include "trace/kernel_trace.hpp"

namespace lockstep::gpu {

/// Of the process of one device, in its order: the numbers of events' records of the trace.
struct Timestamps {
  std::vector<std::uint32_t> clocks, events;
};

/// By device. Empty where the trace has no timestamps.
[[nodiscard]] std::vector<Timestamps> timestamps_of(const std::vector<trace::Command>& commands);

/// Gives the processes of these devices their times, each list up to the first record that is not complete.
/// `base_khz`: of the queue's times.
void add_times(const std::vector<Timestamps>& timestamps, const host::HostQueue& queue,
               std::uint64_t base_khz, stats::NetworkReport& network);

}  // namespace lockstep::gpu
