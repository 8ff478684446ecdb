// Functions that the device's runtime provides: vprintf, __assertfail, malloc, free, cudaGraphSetConditional.
#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "exec/cta.hpp"
#include "exec/print.hpp"
#include "exec/warp.hpp"

namespace lockstep::exec {

namespace {

constexpr std::size_t kLongestText = 1 << 20;  // of one string that a kernel prints

template <class F>
void for_lanes(LaneMask mask, F&& f) {
  for (; mask != 0; mask &= mask - 1) f(static_cast<std::uint32_t>(std::countr_zero(mask)));
}

}  // namespace

std::uint64_t Warp::argument(const CallValue& value, std::uint32_t l) {
  if (!value.in_frame) return at(value.slot)->lane[l];
  std::uint64_t bits = 0;
  std::memcpy(&bits, local(l, frame_local_ + value.offset), std::min<std::uint32_t>(value.bytes, 8));
  return bits;
}

void Warp::give(const CallValue& value, std::uint32_t l, std::uint64_t bits) {
  if (value.in_frame)
    std::memcpy(local(l, frame_local_ + value.offset), &bits, std::min<std::uint32_t>(value.bytes, 8));
  else if (value.slot.exists())
    at(value.slot)->lane[l] = bits;
}

std::string Warp::text_at(std::uint32_t l, Address address) {
  std::string text;
  for (; text.size() < kLongestText; ++address) {
    const std::byte* const from = resolve_one(Reach::kGeneric, l, 1, address);
    if (!from) fault(FaultKind::kIllegalAddress, LaneMask{1} << l, address, "a string of the kernel");
    if (*from == std::byte{0}) break;
    text += static_cast<char>(*from);
  }
  return text;
}

void Warp::call_runtime(const CallSite& site, LaneMask lanes) {
  const auto expect = [&](std::size_t count) {
    if (site.arguments.size() != count)
      fault(FaultKind::kIllegalInstruction, lanes, 0,
            "a runtime function is called with other arguments than it has");
  };
  const auto answer = [&](std::uint32_t l, std::uint64_t bits) {
    if (!site.results.empty()) give(site.results[0], l, bits);
  };
  switch (site.runtime) {
    case Runtime::kVprintf:
      expect(2);
      for_lanes(lanes, [&](std::uint32_t l) { answer(l, print(site, l)); });
      return;
    case Runtime::kMalloc:
      expect(1);
      for_lanes(lanes, [&](std::uint32_t l) {
        answer(l, machine_->heap->allocate(argument(site.arguments[0], l)));
      });
      return;
    case Runtime::kFree:
      expect(1);
      for_lanes(lanes, [&](std::uint32_t l) {
        const Address address = argument(site.arguments[0], l);
        if (!machine_->heap->release(address))
          fault(FaultKind::kIllegalAddress, LaneMask{1} << l, address,
                "free() of memory that malloc() did not give");
      });
      return;
    case Runtime::kAssertfail:
      expect(5);
      assertion(site, lanes);
    case Runtime::kSetConditional:
      expect(2);
      for_lanes(lanes, [&](std::uint32_t l) {
        const Address handle = argument(site.arguments[0], l);  // of a word of device memory
        std::byte* const word = resolve_one(Reach::kGlobal, l, sizeof(std::uint32_t), handle);
        if (!word) fault(FaultKind::kIllegalAddress, LaneMask{1} << l, handle, "a graph condition's handle");
        const auto value = static_cast<std::uint32_t>(argument(site.arguments[1], l));
        std::memcpy(word, &value, sizeof value);
      });
      return;
    case Runtime::kNone:
      return;
    default:
      for_lanes(lanes, [&](std::uint32_t l) { answer(l, device_runtime(site, l)); });
      return;
  }
}

std::uint64_t Warp::print(const CallSite& site, std::uint32_t l) {
  const Address buffer = argument(site.arguments[1], l);
  const auto read = [&](std::uint32_t offset, std::uint32_t bytes) {
    const std::byte* const from = resolve_one(Reach::kGeneric, l, bytes, buffer + offset);
    if (!from) fault(FaultKind::kIllegalAddress, LaneMask{1} << l, buffer + offset, "an argument of vprintf");
    std::uint64_t bits = 0;
    std::memcpy(&bits, from, bytes);
    return bits;
  };
  std::string text;
  const int taken = format_device(
      text_at(l, argument(site.arguments[0], l)), read, [&](Address a) { return text_at(l, a); }, text);
  if (machine_->options.print) machine_->options.print(text);
  return static_cast<std::uint64_t>(taken);
}

void Warp::assertion(const CallSite& site, LaneMask lanes) {
  const auto l = static_cast<std::uint32_t>(std::countr_zero(lanes));
  const auto text = [&](std::size_t i) { return text_at(l, argument(site.arguments[i], l)); };
  fault(FaultKind::kAssert, lanes, 0,
        fmt::format("{}:{}: {}: `{}`", text(1), argument(site.arguments[2], l), text(3), text(0)));
}

}  // namespace lockstep::exec
