#include "exec/fault.hpp"

#include <fmt/format.h>

namespace lockstep::exec {

namespace {

const char* text(FaultKind kind) {
  switch (kind) {
    case FaultKind::kIllegalAddress:
      return "illegal address";
    case FaultKind::kMisalignedAddress:
      return "misaligned address";
    case FaultKind::kIllegalInstruction:
      return "illegal instruction";
    case FaultKind::kStackOverflow:
      return "stack overflow";
    case FaultKind::kTrap:
      return "trap";
    case FaultKind::kAssert:
      return "assertion failed";
    case FaultKind::kDeadlock:
      return "deadlock";
    case FaultKind::kInstructionLimit:
      return "instruction limit reached";
  }
  return "fault";
}

std::string message(FaultKind kind, const FaultSite& site, const std::string& detail) {
  std::string line =
      fmt::format("{}:{}{}: {} in kernel {}, CTA ({},{},{}), thread ({},{},{})", site.module, site.line,
                  site.source.empty() ? "" : " (" + site.source + ")", text(kind), site.kernel, site.cta.x,
                  site.cta.y, site.cta.z, site.thread.x, site.thread.y, site.thread.z);
  if (kind == FaultKind::kIllegalAddress || kind == FaultKind::kMisalignedAddress)
    line += fmt::format(", address {:#x}", site.address);
  if (!detail.empty()) line += ": " + detail;
  if (!site.instruction.empty()) line += fmt::format(" [{}]", site.instruction);
  return line;
}

}  // namespace

DeviceFault::DeviceFault(FaultKind kind, FaultSite site, const std::string& detail)
    : std::runtime_error(message(kind, site, detail)), kind_(kind), site_(std::move(site)) {}

}  // namespace lockstep::exec
