// Which function each lane of a warp is in. The tracer prints PCs relative to their function, so the code of
// callees would otherwise overlap the kernel's.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "trace/text_scan.hpp"
#include "util/types.hpp"

namespace lockstep::trace {

/// A call enters another function if the next instruction of its lanes is at PC 0. If that instruction simply
/// follows, the callee was not traced, and it counts as no call; otherwise it is a call within the function.
/// Functions are distinguished by the chain of call sites, up to kDepth deep.
class CallTracker {
 public:
  static constexpr unsigned kDepth = 8;

  void start_warp() {
    if (!used_) return;
    *this = CallTracker{};
  }
  /// Key of the function that the instruction at `pc` with `mask` belongs to; 0 is the kernel.
  [[nodiscard]] std::uint64_t function(std::uint32_t pc, LaneMask mask) {
    if (!used_) [[likely]]
      return 0;
    const LaneMask arriving = mask != 0 ? pending_ & mask : pending_;
    if (arriving != 0) resolve(pc, arriving);
    if (mask != 0) last_lane_ = std::countr_zero(mask);
    return key_of(last_lane_);
  }
  void call(std::uint32_t pc, std::uint32_t bytes, LaneMask mask) {
    used_ = true;
    pending_ |= mask;
    call_pc_ = pc;
    return_pc_ = pc + bytes;
  }
  void ret(LaneMask mask) {
    for (; mask != 0; mask &= mask - 1) {
      auto& depth = depth_[static_cast<std::size_t>(std::countr_zero(mask))];
      if (depth > 0) --depth;
    }
  }

 private:
  [[nodiscard]] std::uint64_t key_of(int lane) const {
    const auto i = static_cast<std::size_t>(lane);
    const unsigned depth = depth_[i] < kDepth ? depth_[i] : kDepth;
    return depth == 0 ? 0 : keys_[i][depth - 1];
  }
  void resolve(std::uint32_t pc, LaneMask lanes) {
    pending_ &= ~lanes;
    if (pc == return_pc_) return;
    for (; lanes != 0; lanes &= lanes - 1) {
      const int lane = std::countr_zero(lanes);
      const std::uint64_t caller = key_of(lane);
      const auto i = static_cast<std::size_t>(lane);
      if (depth_[i] < kDepth) keys_[i][depth_[i]] = pc == 0 ? mix_hash(caller + 1, call_pc_) | 1 : caller;
      ++depth_[i];
    }
  }

  bool used_ = false;
  LaneMask pending_ = 0;  // lanes that called and have not been seen since
  std::uint32_t call_pc_ = 0, return_pc_ = 0;
  int last_lane_ = 0;
  std::array<std::uint32_t, kWarpSize> depth_{};
  std::array<std::array<std::uint64_t, kDepth>, kWarpSize> keys_{};
};

}  // namespace lockstep::trace
