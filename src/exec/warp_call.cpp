// Calls: frames, parameters, results.
#include <algorithm>
#include <bit>
#include <cstring>

#include "exec/cta.hpp"
#include "exec/warp.hpp"

namespace lockstep::exec {

namespace {

constexpr std::uint32_t kLeastFrameBytes =
    16;  // what a call takes of the stack at least: endless recursion ends

template <class F>
void for_lanes(LaneMask mask, F&& f) {
  for (; mask != 0; mask &= mask - 1) f(static_cast<std::uint32_t>(std::countr_zero(mask)));
}

}  // namespace

void Warp::reserve_local(std::uint32_t bytes) {
  if (bytes <= local_stride_) return;
  const std::uint32_t stride = std::max(bytes, local_stride_ * 2);
  std::vector<std::byte> wider(std::size_t{stride} * kWarpSize);
  for (std::uint32_t l = 0; l < kWarpSize && local_stride_ != 0; ++l)
    std::memcpy(wider.data() + std::size_t{l} * stride, local(l, 0), local_stride_);
  local_.swap(wider);
  local_stride_ = stride;
}

std::uint32_t Warp::new_frame(const Frame& frame) {
  std::size_t free = 1;
  while (free < frames_.size() && frames_[free].lanes != 0) ++free;
  if (free == frames_.size()) frames_.emplace_back();
  frames_[free] = frame;
  return static_cast<std::uint32_t>(free);
}

/// Registers that may be read before they are written are 0; those that hold addresses of the frame get them.
void Warp::clear_frame(const Frame& frame, LaneMask lanes) {
  const FunctionCode& code = machine_->kernel.functions()[frame.function];
  for (const std::uint32_t slot : code.cleared) {
    LaneSlots& to = row(frame, slot);
    for_lanes(lanes, [&](std::uint32_t l) { to.lane[l] = 0; });
  }
  for (const auto& address : code.addresses) {
    LaneSlots& to = row(frame, address.first);
    const std::uint64_t value = std::uint64_t{frame.local} + address.second;
    for_lanes(lanes, [&](std::uint32_t l) { to.lane[l] = value; });
  }
}

void Warp::move_in(const CallValue& value, const ParameterPlace& place, const Frame& caller,
                   const Frame& callee, LaneMask lanes) {
  const std::uint32_t bytes = std::min(value.bytes, place.bytes);
  for_lanes(lanes, [&](std::uint32_t l) {
    std::byte* const to = place.in_register ? nullptr : local(l, callee.local + place.offset);
    if (value.in_frame && to) {
      std::memcpy(to, local(l, caller.local + value.offset), bytes);
      return;
    }
    std::uint64_t bits = 0;
    if (value.in_frame)
      std::memcpy(&bits, local(l, caller.local + value.offset), std::min<std::uint32_t>(bytes, 8));
    else
      bits = at(value.slot)->lane[l];
    if (to)
      std::memcpy(to, &bits, std::min<std::uint32_t>(place.bytes, 8));
    else
      row(callee, place.slot).lane[l] = bits;
  });
}

void Warp::move_out(const CallValue& value, const ParameterPlace& place, const Frame& caller,
                    const Frame& callee, LaneMask lanes) {
  const std::uint32_t bytes = std::min(value.bytes, place.bytes);
  for_lanes(lanes, [&](std::uint32_t l) {
    const std::byte* const from = place.in_register ? nullptr : local(l, callee.local + place.offset);
    if (value.in_frame && from) {
      std::memcpy(local(l, caller.local + value.offset), from, bytes);
      return;
    }
    std::uint64_t bits = 0;
    if (from)
      std::memcpy(&bits, from, std::min<std::uint32_t>(bytes, 8));
    else
      bits = row(callee, place.slot).lane[l];
    if (value.in_frame)
      std::memcpy(local(l, caller.local + value.offset), &bits, std::min<std::uint32_t>(bytes, 8));
    else if (value.slot.exists())
      row(caller, value.slot.index()).lane[l] = bits;
  });
}

/// False: now_ has no lanes left to run.
bool Warp::call(const Operation& op, LaneMask active) {
  const CallSite& site = machine_->kernel.calls()[op.detail];
  if (active == 0 || site.runtime != Runtime::kNone) {
    if (active != 0) call_runtime(site, active), ++machine_->watch.changes;
    ++now_.pc;
    return true;
  }
  if (active != now_.mask) {  // those that do not call wait behind
    open_meeting(op.meet);
    split_off(now_.mask & ~active, now_.pc + 1);
  }
  if (site.function != ~0u) {
    call_function(site, site.function, active, now_);
    enter_frame();
    return true;
  }
  const LaneSlots target = *at(site.target);
  for (LaneMask left = active; left != 0;) {
    const Address address = target.lane[std::countr_zero(left)];
    LaneMask same = 0;
    for_lanes(left, [&](std::uint32_t l) { same |= LaneMask{target.lane[l] == address} << l; });
    const std::uint32_t function = machine_->kernel.function_at(address);
    if (function == ~0u)
      fault(FaultKind::kIllegalInstruction, same, address, "call of an address that is no function");
    if (machine_->kernel.functions()[function].parameters.size() != site.arguments.size())
      fault(FaultKind::kIllegalInstruction, same, address,
            "call with another number of arguments than the function has");
    left &= ~same;
    if (left == 0) {
      call_function(site, function, same, now_);
      break;
    }
    open_meeting(op.meet);
    Split other = now_;
    other.mask = same;
    now_.mask &= ~same;
    enter_frame();
    call_function(site, function, same, other);
    splits_.push_back(other);
    enter_frame();
  }
  enter_frame();
  return true;
}

void Warp::call_function(const CallSite& site, std::uint32_t function, LaneMask lanes, Split& split) {
  const Executable& kernel = machine_->kernel;
  const Frame caller = frames_[split.frame];
  const FunctionCode& from = kernel.functions()[caller.function];
  const FunctionCode& to = kernel.functions()[function];
  Frame callee;
  callee.function = function;
  callee.base = caller.base + from.slots;
  callee.local = caller.local + std::max(from.frame_bytes, kLeastFrameBytes);
  callee.return_pc = split.pc + 1;
  callee.parent = split.frame;
  callee.lanes = lanes;
  const std::uint64_t top = std::uint64_t{callee.local} + to.frame_bytes;
  if (top > std::uint64_t{kernel.local_bytes()} + kLeastFrameBytes + machine_->options.stack_bytes)
    fault(FaultKind::kStackOverflow, lanes, 0, "the stack is used up");
  const std::size_t rows = std::size_t{first_row_} + callee.base + to.slots;
  if (file_.size() < rows) {
    file_.resize(std::max(rows, file_.size() * 2));
    enter_frame();
  }
  reserve_local(static_cast<std::uint32_t>(top));
  clear_frame(callee, lanes);
  for (std::size_t i = 0; i < to.parameters.size(); ++i)
    move_in(site.arguments[i], to.parameters[i], caller, callee, lanes);
  split.frame = new_frame(callee);
  if (kernel.allocates()) keep_stack(split.frame);
  split.pc = to.first;
}

/// False: now_ waits for others, or is gone.
bool Warp::ret(LaneMask active) {
  if (active == 0) {
    ++now_.pc;
    return true;
  }
  if (active != now_.mask) {
    open_meeting(kAtReturn);
    meetings_[now_.meeting].arrived |= active;
    now_.mask &= ~active;
    ++now_.pc;
    return true;
  }
  const Meeting& meeting = meetings_[now_.meeting];
  if (meeting.at == kAtReturn && meeting.frame == now_.frame) return arrive();
  leave_frame(now_);
  enter_frame();
  return true;
}

void Warp::leave_frame(Split& split) {
  Frame& callee = frames_[split.frame];
  const Frame& caller = frames_[callee.parent];
  if (machine_->kernel.allocates()) drop_stack(split);
  const Executable& kernel = machine_->kernel;
  const FunctionCode& code = kernel.functions()[callee.function];
  const CallSite& site = kernel.calls()[operations_[callee.return_pc - 1].detail];
  for (std::size_t i = 0; i < std::min(code.results.size(), site.results.size()); ++i)
    move_out(site.results[i], code.results[i], caller, callee, split.mask);
  callee.lanes &= ~split.mask;
  split.pc = callee.return_pc;
  split.frame = callee.parent;
}

}  // namespace lockstep::exec
