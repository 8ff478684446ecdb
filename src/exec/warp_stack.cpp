// Local memory that programs take while they run: alloca, stacksave, stackrestore. It lies apart from frames,
// so a function gives back what it took when its lanes return.
#include <algorithm>
#include <bit>
#include <cstring>

#include "exec/cta.hpp"
#include "exec/warp.hpp"

namespace lockstep::exec {

namespace {

template <class F>
void for_lanes(LaneMask mask, F&& f) {
  for (; mask != 0; mask &= mask - 1) f(static_cast<std::uint32_t>(std::countr_zero(mask)));
}

}  // namespace

std::byte* Warp::stack_memory(std::uint32_t l, Address offset, std::uint32_t bytes) {
  if (offset + bytes > stack_tops_.lane[l]) return nullptr;
  return stack_.data() + std::size_t{l} * stack_stride_ + offset;
}

void Warp::stack(const Operation& op, LaneMask active) {
  if (record_) note(active);
  const Slot first = slots_[op.operands];
  const std::uint64_t most = machine_->options.stack_bytes;
  std::uint32_t highest = 0, begins[kWarpSize] = {};
  for_lanes(active, [&](std::uint32_t l) {
    std::uint32_t& top = stack_tops_.lane[l];
    if (op.detail == 1) {  // stacksave
      if (first.exists()) at(first)->lane[l] = kStackOffset + top;
      return;
    }
    if (op.detail == 2) {  // stackrestore
      const Address to = at(first)->lane[l] - kStackOffset;
      if (to > top)
        fault(FaultKind::kIllegalInstruction, LaneMask{1} << l, at(first)->lane[l], "not saved before");
      top = static_cast<std::uint32_t>(to);
      return;
    }
    const std::uint64_t bytes = at(slots_[op.operands + 1])->lane[l];
    const std::uint64_t begin = (std::uint64_t{top} + op.immediate - 1) / op.immediate * op.immediate;
    if (bytes > most || begin + bytes > most)
      fault(FaultKind::kStackOverflow, LaneMask{1} << l, 0, "the stack is used up");
    begins[l] = static_cast<std::uint32_t>(begin);
    top = static_cast<std::uint32_t>(begin + bytes);
    highest = std::max(highest, top);
    if (first.exists()) at(first)->lane[l] = kStackOffset + begin;
  });
  widen_stack(highest);
  for_lanes(op.detail == 0 ? active : 0, [&](std::uint32_t l) {
    std::fill_n(stack_.data() + std::size_t{l} * stack_stride_ + begins[l], stack_tops_.lane[l] - begins[l],
                std::byte{0});
  });
}

void Warp::widen_stack(std::uint32_t highest) {
  if (highest <= stack_stride_) return;
  const std::uint32_t stride = std::max(highest, 2 * stack_stride_);
  std::vector<std::byte> wider(std::size_t{stride} * kWarpSize);
  for (std::uint32_t l = 0; l < kWarpSize && stack_stride_ != 0; ++l)
    std::memcpy(wider.data() + std::size_t{l} * stride, stack_.data() + std::size_t{l} * stack_stride_,
                stack_stride_);
  stack_.swap(wider);
  stack_stride_ = stride;
}

void Warp::keep_stack(std::uint32_t frame) {
  if (stack_kept_.size() <= frame) stack_kept_.resize(frame + 1);
  stack_kept_[frame] = stack_tops_;
}

void Warp::drop_stack(const Split& split) {
  for_lanes(split.mask, [&](std::uint32_t l) { stack_tops_.lane[l] = stack_kept_[split.frame].lane[l]; });
}

}  // namespace lockstep::exec
