#include "exec/check/race_order.hpp"

#include <algorithm>
#include <bit>

namespace lockstep::exec {

namespace {
constexpr LaneMask kWholeWarp = ~LaneMask{0};
}

void LaneOrder::join(LaneMask mask, LaneMask live, std::uint64_t now) {
  if ((live & ~mask) == 0) {
    all_ = std::max(all_, now);
    return;
  }
  if (!pairs_) pairs_ = std::make_unique<Pairs>();
  std::array<std::uint64_t, 32> known{};
  for (LaneMask left = mask; left != 0; left &= left - 1) {
    const auto& of = (*pairs_)[static_cast<unsigned>(std::countr_zero(left))];
    for (unsigned l = 0; l < known.size(); ++l) known[l] = std::max(known[l], of[l]);
  }
  for (LaneMask left = mask; left != 0; left &= left - 1)
    known[static_cast<unsigned>(std::countr_zero(left))] = now;
  for (LaneMask left = mask; left != 0; left &= left - 1)
    (*pairs_)[static_cast<unsigned>(std::countr_zero(left))] = known;
}

void CtaOrder::reset(std::uint32_t warps) {
  warps_ = warps;
  known_.assign(std::size_t{warps} * warps, 0);
  for (Clock& barrier : barriers_) barrier.clear();
  fences_.clear();
  exited_.clear();
  mbarriers_.clear();
  lanes_.resize(std::size_t{2} * warps);
  for (LaneOrder& lanes : lanes_) lanes.reset();
}

void CtaOrder::release(Clock& to, std::uint32_t w, std::uint64_t now) {
  to.resize(warps_);
  for (std::uint32_t v = 0; v < warps_; ++v) to[v] = std::max(to[v], known_[w * warps_ + v]);
  to[w] = now;
}

void CtaOrder::acquire(const Clock& from, std::uint32_t w) {
  for (std::uint32_t v = 0; v < from.size(); ++v)
    known_[w * warps_ + v] = std::max(known_[w * warps_ + v], from[v]);
}

void CtaOrder::complete(std::uint32_t barrier, const std::vector<LaneMask>& arrived, bool whole) {
  for (std::uint32_t w = 0; w < warps_; ++w) {
    if (arrived[w] == 0) continue;
    acquire(barriers_[barrier], w);
    if (whole) acquire(exited_, w);
    explicit_lanes(w).join(kWholeWarp, kWholeWarp, barriers_[barrier][w]);
  }
  barriers_[barrier].clear();
}

void CtaOrder::wait(std::uint64_t mbarrier, std::uint32_t w) {
  const Clock& signals = mbarriers_[mbarrier];
  acquire(signals, w);
  if (!signals.empty()) explicit_lanes(w).join(kWholeWarp, kWholeWarp, signals[w]);
}

void CtaOrder::join_all(std::uint64_t now) {
  std::fill(known_.begin(), known_.end(), now);
  for (LaneOrder& lanes : lanes_) lanes.join(kWholeWarp, kWholeWarp, now);
}

void GridOrder::fence(std::uint32_t cta, std::uint64_t now) {
  Cta& c = ctas_[cta];
  if (c.fresh) c.releases.push_back(now);
  c.fresh = false;
  c.acquired = now;
}

bool GridOrder::ordered(const RaceEvent& before, std::uint32_t cta) const {
  const auto from = ctas_.find(before.cta), to = ctas_.find(cta);
  if (from == ctas_.end() || to == ctas_.end()) return false;
  const auto& releases = from->second.releases;
  const auto release = std::lower_bound(releases.begin(), releases.end(), before.time);
  return release != releases.end() && *release <= to->second.acquired;
}

}  // namespace lockstep::exec
