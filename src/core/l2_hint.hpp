// What an access asks for in the L2.
#pragma once

#include "config/gpu_config.hpp"
#include "icnt/messages.hpp"
#include "trace/l2_policy.hpp"

namespace lockstep::core {

struct KernelSlot;

/// The hint of an instruction, or the window of its launch: an instruction that has a hint of its own does
/// not follow the window. Which lines of a hint or window are those that it is for is decided by a hash of
/// the line's address, and so in the same way for each access.
struct L2Hint {
  const KernelSlot* launch = nullptr;  // null: the access asks for nothing
  trace::L2Policy policy = trace::kNoL2Policy;

  [[nodiscard]] L2Placing placing(Address line) const;
  /// Completes a request to the L2.
  void complete(icnt::Request& request) const {
    if (launch != nullptr) [[unlikely]]
      request.placing = placing(request.line);
  }
  template <class A>
  void persist(A& a) {
    a.members(*this, a.given(launch), policy);
  }
};

/// What a launch's accesses may take of the L2.
struct L2Shares {
  bool any = false;              // the launch asks for something, whatever the instruction
  std::uint8_t window_ways = 0;  // of a set, for persisting accesses of its window; 0: not set aside
  std::uint8_t last_ways = 0;    // likewise of instructions
  std::uint16_t resets = 0;      // as L2Placing's

  [[nodiscard]] static L2Shares of(const trace::L2Launch& launch, const config::L2Group& l2);
};

[[nodiscard]] L2Placing placing_of(const trace::L2Launch& launch, const L2Shares& shares,
                                   trace::L2Policy policy, Address line);

}  // namespace lockstep::core
