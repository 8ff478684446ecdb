#include "exec/local_memory.hpp"

#include <algorithm>
#include <cstring>

#include "exec/lane_loop.hpp"

namespace lockstep::exec {

namespace {

/// As much of each lane, with more room.
void widen(std::vector<std::byte>& memory, std::uint32_t& stride, std::uint32_t wider_stride) {
  std::vector<std::byte> wider(std::size_t{wider_stride} * kLanes);
  for (std::size_t l = 0; l < kLanes && stride != 0; ++l)
    std::memcpy(wider.data() + l * wider_stride, memory.data() + l * stride, stride);
  memory.swap(wider);
  stride = wider_stride;
}

}  // namespace

void LocalMemory::start(std::uint32_t bytes) {
  stride_ = bytes;
  frames_.assign(std::size_t{bytes} * kLanes, std::byte{0});
  tops_ = {};
}

void LocalMemory::reserve(std::uint32_t bytes) {
  if (bytes > stride_) widen(frames_, stride_, std::max(bytes, 2 * stride_));
}

std::byte* LocalMemory::find(std::uint32_t lane, Address offset, std::uint32_t bytes) {
  if (offset < kStackOffset) return offset + bytes <= stride_ ? at(lane, offset) : nullptr;
  const Address in_stack = offset - kStackOffset;
  if (in_stack + bytes > tops_.lane[lane]) return nullptr;
  return stack_.data() + std::size_t{lane} * stack_stride_ + in_stack;
}

std::optional<Address> LocalMemory::allocate(std::uint32_t lane, std::uint64_t bytes, std::uint64_t align,
                                             std::uint64_t most) {
  std::uint32_t& top = tops_.lane[lane];
  const std::uint64_t begin = (std::uint64_t{top} + align - 1) / align * align;
  if (bytes > most || begin + bytes > most) return std::nullopt;
  top = static_cast<std::uint32_t>(begin + bytes);
  if (top > stack_stride_) widen(stack_, stack_stride_, std::max(top, 2 * stack_stride_));
  std::fill_n(stack_.data() + std::size_t{lane} * stack_stride_ + begin, bytes, std::byte{0});
  return kStackOffset + begin;
}

bool LocalMemory::release(std::uint32_t lane, Address top) {
  if (top - kStackOffset > tops_.lane[lane]) return false;
  tops_.lane[lane] = static_cast<std::uint32_t>(top - kStackOffset);
  return true;
}

void LocalMemory::enter(std::uint32_t frame) {
  if (kept_.size() <= frame) kept_.resize(frame + 1);
  kept_[frame] = tops_;
}

void LocalMemory::leave(std::uint32_t frame, LaneMask lanes) {
  for_lanes(lanes, [&](int l) { tops_.lane[l] = kept_[frame].lane[l]; });
}

}  // namespace lockstep::exec
