#include "cuda/clock_reads.hpp"

#include <algorithm>
#include <utility>

namespace lockstep::cuda {

ClockReads::ClockReads(std::vector<std::vector<std::uint64_t>> cycles, std::uint32_t warps_per_cta,
                       std::uint64_t core_khz)
    : cycles_(std::move(cycles)), used_(cycles_.size()), warps_per_cta_(warps_per_cta), core_khz_(core_khz) {}

std::uint64_t ClockReads::cycle(std::uint64_t cta, std::uint32_t warp, std::uint64_t read) {
  const std::uint64_t index = cta * warps_per_cta_ + warp;
  if (index >= cycles_.size()) return 0;
  used_[index] = std::max(used_[index], read + 1);
  const std::vector<std::uint64_t>& known = cycles_[index];
  if (read < known.size()) return known[read];
  if (known.empty()) return 0;
  const std::uint64_t step = (known.back() - known.front()) / known.size() + 1;
  return known.back() + step * (read - known.size() + 1);
}

bool ClockReads::differed() const {
  for (std::size_t i = 0; i < cycles_.size(); ++i)
    if (used_[i] != cycles_[i].size()) return true;
  return false;
}

exec::ClockSource ClockReads::source() {
  exec::ClockSource source;
  source.context = this;
  source.cycle = [](void* self, std::uint64_t cta, std::uint32_t warp, std::uint64_t read) {
    return static_cast<ClockReads*>(self)->cycle(cta, warp, read);
  };
  source.nanosecond = [](void* self, std::uint64_t cta, std::uint32_t warp, std::uint64_t read) {
    auto* reads = static_cast<ClockReads*>(self);
    constexpr std::uint64_t kNsPerMs = 1'000'000;
    const std::uint64_t cycle = reads->cycle(cta, warp, read), khz = reads->core_khz_;
    return cycle / khz * kNsPerMs + cycle % khz * kNsPerMs / khz;
  };
  return source;
}

}  // namespace lockstep::cuda
