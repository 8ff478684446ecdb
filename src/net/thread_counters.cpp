#include "net/thread_counters.hpp"

#include <algorithm>

#include "net/operation_log.hpp"

namespace lockstep::net {

void StageTimes::add(const Moments& at, bool is_blocking) {
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
}

void ThreadCounters::add(const trace::NetOperation& what, std::uint16_t device, const Moments& at,
                         bool is_blocking) {
  kinds[static_cast<std::size_t>(what.kind)].add(at, is_blocking);
  if (log) log->operations.push_back({what, device, is_blocking, at});
}

}  // namespace lockstep::net
