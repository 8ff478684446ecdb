// What ends a launch early: errors of the device program, as hardware reports them.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include "util/types.hpp"

namespace lockstep::exec {

enum class FaultKind : std::uint8_t {
  kIllegalAddress,  // not mapped, or outside the CTA's shared or the thread's local memory
  kMisalignedAddress,
  kIllegalInstruction,  // operands that the instruction does not allow; an indirect call to no function
  kStackOverflow,
  kTrap,              // trap
  kAssert,            // __assertfail
  kDeadlock,          // every thread left waits for one that never comes
  kInstructionLimit,  // RunOptions::max_instructions
};

/// Where a fault happened. `line` counts in the PTX text of `module`, from 1; `source` is the line of the
/// program's source (ptx::source_text), where the PTX says it.
struct FaultSite {
  std::string kernel, module;
  std::uint32_t line = 0;
  std::string source;
  std::string instruction;  // as PTX text
  Dim3 cta{0, 0, 0}, thread{0, 0, 0};
  Address address = 0;  // of the access, for the kinds that have one
};

/// `what()` names kind, kernel, line, thread and address in one line.
class DeviceFault : public std::runtime_error {
 public:
  DeviceFault(FaultKind kind, FaultSite site, const std::string& detail);
  [[nodiscard]] FaultKind kind() const { return kind_; }
  [[nodiscard]] const FaultSite& site() const { return site_; }

 private:
  FaultKind kind_;
  FaultSite site_;
};

}  // namespace lockstep::exec
