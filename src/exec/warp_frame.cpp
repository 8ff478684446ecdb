#include "exec/warp_frame.hpp"

#include <algorithm>
#include <cstring>
#include <span>

namespace lockstep::exec {

namespace {

constexpr std::uint32_t kMinFrameBytes =
    16;  // what a call takes of the stack at least: endless recursion ends

/// Bytes of a value that one lane of a row holds.
std::uint32_t lane_bytes(std::uint32_t bytes) {
  return std::min<std::uint32_t>(bytes, sizeof(std::uint64_t));
}

std::uint32_t new_frame(std::vector<Frame>& frames, const Frame& frame) {
  std::size_t free = 1;
  while (free < frames.size() && frames[free].lanes != 0) ++free;
  if (free == frames.size()) frames.emplace_back();
  frames[free] = frame;
  return static_cast<std::uint32_t>(free);
}

void clear(WarpState& warp, const Frame& frame, std::span<const std::uint32_t> rows, LaneMask lanes) {
  for (const std::uint32_t row : rows) {
    LaneValues& to = warp.row(frame, row);
    for_lanes(lanes, [&](int l) { to.lane[l] = 0; });
  }
}

/// Registers that may be read before they are written are 0; those that hold addresses of the frame get them.
void clear_frame(WarpState& warp, const Frame& frame, LaneMask lanes) {
  const FunctionCode& code = warp.machine->kernel.functions()[frame.function];
  clear(warp, frame, code.cleared, lanes);
  for (const auto& address : code.addresses) {
    LaneValues& to = warp.row(frame, address.first);
    const std::uint64_t value = std::uint64_t{frame.local} + address.second;
    for_lanes(lanes, [&](int l) { to.lane[l] = value; });
  }
}

void move_in(WarpState& warp, const CallValue& value, const ParameterPlace& place, const Frame& caller,
             const Frame& callee, LaneMask lanes) {
  const std::uint32_t bytes = std::min(value.bytes, place.bytes);
  for_lanes<std::uint32_t>(lanes, [&](std::uint32_t l) {
    std::byte* const to = place.in_register ? nullptr : warp.local.at(l, callee.local + place.offset);
    if (value.in_frame && to) {
      std::memcpy(to, warp.local.at(l, caller.local + value.offset), bytes);
      return;
    }
    std::uint64_t bits = 0;
    if (value.in_frame)
      std::memcpy(&bits, warp.local.at(l, caller.local + value.offset), lane_bytes(bytes));
    else
      bits = warp.at(value.operand)->lane[l];
    if (to)
      std::memcpy(to, &bits, lane_bytes(place.bytes));
    else
      warp.row(callee, place.row).lane[l] = bits;
  });
}

void move_out(WarpState& warp, const CallValue& value, const ParameterPlace& place, const Frame& caller,
              const Frame& callee, LaneMask lanes) {
  const std::uint32_t bytes = std::min(value.bytes, place.bytes);
  for_lanes<std::uint32_t>(lanes, [&](std::uint32_t l) {
    const std::byte* const from = place.in_register ? nullptr : warp.local.at(l, callee.local + place.offset);
    if (value.in_frame && from) {
      std::memcpy(warp.local.at(l, caller.local + value.offset), from, bytes);
      return;
    }
    std::uint64_t bits = 0;
    if (from)
      std::memcpy(&bits, from, lane_bytes(bytes));
    else
      bits = warp.row(callee, place.row).lane[l];
    if (value.in_frame)
      std::memcpy(warp.local.at(l, caller.local + value.offset), &bits, lane_bytes(bytes));
    else if (value.operand.exists())
      warp.row(caller, value.operand.index()).lane[l] = bits;
  });
}

}  // namespace

void start_frames(WarpState& warp) {
  const FunctionCode& entry = warp.machine->kernel.functions().front();
  warp.first_row = static_cast<std::uint32_t>(warp.machine->kernel.fixed().size());
  if (warp.file.size() < warp.first_row + entry.rows) warp.file.resize(warp.first_row + entry.rows);
  warp.local.start(entry.frame_bytes);
  warp.frames.assign(1, Frame{0, 0, 0, 0, 0, warp.live});
  clear_frame(warp, warp.frames[0], warp.live);
}

void clear_rows(WarpState& warp) {
  const Frame& frame = warp.frames[warp.now.frame];
  const std::vector<RowClear>& clears = warp.machine->kernel.functions()[frame.function].clears;
  const auto found = std::ranges::lower_bound(clears, warp.now.pc, {}, &RowClear::operation);
  clear(warp, frame, found->rows, warp.now.mask);
}

void push_frame(WarpState& warp, const CallSite& site, std::uint32_t function, LaneMask lanes, Split& split) {
  const Executable& kernel = warp.machine->kernel;
  const Frame caller = warp.frames[split.frame];
  const FunctionCode& from = kernel.functions()[caller.function];
  const FunctionCode& to = kernel.functions()[function];
  Frame callee;
  callee.function = function;
  callee.base = caller.base + from.rows;
  callee.local = caller.local + std::max(from.frame_bytes, kMinFrameBytes);
  callee.return_pc = split.pc + 1;
  callee.parent = split.frame;
  callee.lanes = lanes;
  const std::uint64_t top = std::uint64_t{callee.local} + to.frame_bytes;
  if (top > std::uint64_t{kernel.local_bytes()} + kMinFrameBytes + warp.machine->options.stack_bytes)
    warp.fault(FaultKind::kStackOverflow, lanes, 0, "the stack is used up");
  const std::size_t rows = std::size_t{warp.first_row} + callee.base + to.rows;
  if (warp.file.size() < rows) {
    warp.file.resize(std::max(rows, warp.file.size() * 2));
    enter_frame(warp);  // the registers have moved
  }
  warp.local.reserve(static_cast<std::uint32_t>(top));
  clear_frame(warp, callee, lanes);
  for (std::size_t i = 0; i < to.parameters.size(); ++i)
    move_in(warp, site.arguments[i], to.parameters[i], caller, callee, lanes);
  split.frame = new_frame(warp.frames, callee);
  if (kernel.allocates()) warp.local.enter(split.frame);
  split.pc = to.first;
}

void pop_frame(WarpState& warp, Split& split) {
  Frame& callee = warp.frames[split.frame];
  const Frame& caller = warp.frames[callee.parent];
  const Executable& kernel = warp.machine->kernel;
  if (kernel.allocates()) warp.local.leave(split.frame, split.mask);
  const FunctionCode& code = kernel.functions()[callee.function];
  const CallSite& site = kernel.calls()[warp.operations[callee.return_pc - 1].detail];
  for (std::size_t i = 0; i < std::min(code.results.size(), site.results.size()); ++i)
    move_out(warp, site.results[i], code.results[i], caller, callee, split.mask);
  callee.lanes &= ~split.mask;
  split.pc = callee.return_pc;
  split.frame = callee.parent;
}

std::uint64_t argument(WarpState& warp, const CallValue& value, std::uint32_t l) {
  if (!value.in_frame) return warp.at(value.operand)->lane[l];
  std::uint64_t bits = 0;
  std::memcpy(&bits, warp.local.at(l, warp.frame_local + value.offset), lane_bytes(value.bytes));
  return bits;
}

void give(WarpState& warp, const CallValue& value, std::uint32_t l, std::uint64_t bits) {
  if (value.in_frame)
    std::memcpy(warp.local.at(l, warp.frame_local + value.offset), &bits, lane_bytes(value.bytes));
  else if (value.operand.exists())
    warp.at(value.operand)->lane[l] = bits;
}

}  // namespace lockstep::exec
