#include "net/thread_counters.hpp"

#include <algorithm>

#include "net/operation_log.hpp"

namespace lockstep::net {

std::uint64_t StageTimes::add(const Moments& at, bool is_blocking) {
  ++operations;
  if (is_blocking) ++blocking;
  const std::size_t last = is_blocking ? kMoments - 1 : kMoments - 2;
  std::uint64_t before = at[0];
  for (std::size_t m = 1; m <= last; ++m) {
    const std::uint64_t now = std::max(at[m], before);  // what did not happen took no time
    sum[m] += now - before;
    most[m] = std::max(most[m], now - before);
    before = now;
  }
  total += before - at[0];
  longest = std::max(longest, before - at[0]);
  return before;
}

void ThreadCounters::add(const trace::NetOperation& what, std::uint16_t device, Address entry,
                         const Moments& at, bool is_blocking) {
  const std::uint64_t end = kinds[static_cast<std::size_t>(what.kind)].add(at, is_blocking);
  if (entry != 0) ended.push_back({entry, what.ready, device, what.kind, is_blocking, at[0], end});
  if (log) log->operations.push_back({what, device, entry, is_blocking, at, {}});
}

}  // namespace lockstep::net
