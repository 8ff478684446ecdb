#include "exec/warp_runtime.hpp"

#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "exec/print.hpp"
#include "exec/warp_access.hpp"
#include "exec/warp_frame.hpp"

namespace lockstep::exec {

namespace {

constexpr std::size_t kLongestText = 1 << 20;  // of one string that a kernel prints

std::string text_at(WarpState& warp, std::uint32_t l, Address address) {
  std::string text;
  for (; text.size() < kLongestText; ++address) {
    const std::byte* const from = resolve_one(warp, StateSpace::kGeneric, l, 1, address);
    if (!from) warp.fault(FaultKind::kIllegalAddress, LaneMask{1} << l, address, "a string of the kernel");
    if (*from == std::byte{0}) break;
    text += static_cast<char>(*from);
  }
  return text;
}

std::uint64_t print(WarpState& warp, const CallSite& site, std::uint32_t l) {
  const Address buffer = argument(warp, site.arguments[1], l);
  const auto read = [&](std::uint32_t offset, std::uint32_t bytes) {
    const std::byte* const from = resolve_one(warp, StateSpace::kGeneric, l, bytes, buffer + offset);
    if (!from)
      warp.fault(FaultKind::kIllegalAddress, LaneMask{1} << l, buffer + offset, "an argument of vprintf");
    std::uint64_t bits = 0;
    std::memcpy(&bits, from, bytes);
    return bits;
  };
  std::string text;
  const int taken = format_device(
      text_at(warp, l, argument(warp, site.arguments[0], l)), read,
      [&](Address a) { return text_at(warp, l, a); }, text);
  if (warp.machine->options.print) warp.machine->options.print(text);
  return static_cast<std::uint64_t>(taken);
}

[[noreturn]] void assertion(WarpState& warp, const CallSite& site, LaneMask lanes) {
  const auto l = static_cast<std::uint32_t>(std::countr_zero(lanes));
  const auto text = [&](std::size_t i) { return text_at(warp, l, argument(warp, site.arguments[i], l)); };
  warp.fault(FaultKind::kAssert, lanes, 0,
             fmt::format("{}:{}: {}: `{}`", text(1), argument(warp, site.arguments[2], l), text(3), text(0)));
}

void free_memory(WarpState& warp, const CallSite& site, std::uint32_t l) {
  const Address address = argument(warp, site.arguments[0], l);
  if (!warp.machine->heap->release(address))
    warp.fault(FaultKind::kIllegalAddress, LaneMask{1} << l, address,
               "free() of memory that malloc() did not give");
}

/// cudaGraphSetConditional
void set_condition(WarpState& warp, const CallSite& site, std::uint32_t l) {
  const Address handle = argument(warp, site.arguments[0], l);  // of a word of device memory
  std::byte* const word = resolve_one(warp, StateSpace::kGlobal, l, sizeof(std::uint32_t), handle);
  if (!word) warp.fault(FaultKind::kIllegalAddress, LaneMask{1} << l, handle, "a graph condition's handle");
  const auto value = static_cast<std::uint32_t>(argument(warp, site.arguments[1], l));
  std::memcpy(word, &value, sizeof value);
}

}  // namespace

void call_runtime(WarpState& warp, const CallSite& site, LaneMask lanes) {
  const auto expect = [&](std::size_t count) {
    if (site.arguments.size() != count)
      warp.fault(FaultKind::kIllegalInstruction, lanes, 0,
                 "a runtime function is called with other arguments than it has");
  };
  const auto set_result = [&](std::uint32_t l, std::uint64_t bits) {
    if (!site.results.empty()) give(warp, site.results[0], l, bits);
  };
  switch (site.runtime) {
    case Runtime::kVprintf:
      expect(2);
      for_lanes<std::uint32_t>(lanes, [&](std::uint32_t l) { set_result(l, print(warp, site, l)); });
      return;
    case Runtime::kMalloc:
      expect(1);
      for_lanes<std::uint32_t>(lanes, [&](std::uint32_t l) {
        set_result(l, warp.machine->heap->allocate(argument(warp, site.arguments[0], l)));
      });
      return;
    case Runtime::kFree:
      expect(1);
      for_lanes<std::uint32_t>(lanes, [&](std::uint32_t l) { free_memory(warp, site, l); });
      return;
    case Runtime::kAssertfail:
      expect(5);
      assertion(warp, site, lanes);
    case Runtime::kSetConditional:
      expect(2);
      for_lanes<std::uint32_t>(lanes, [&](std::uint32_t l) { set_condition(warp, site, l); });
      return;
    case Runtime::kNone:
      return;
    default:
      for_lanes<std::uint32_t>(lanes,
                               [&](std::uint32_t l) { set_result(l, call_device_runtime(warp, site, l)); });
      return;
  }
}

}  // namespace lockstep::exec
