// A running kernel as dispatcher and SMs share it.
#pragma once

#include <cstdint>
#include <vector>

#include "core/l2_hint.hpp"
#include "trace/kernel_trace.hpp"
#include "util/types.hpp"

namespace lockstep::core {

/// Written by the dispatcher before it sends the kernel's first CTA, constant until the kernel's last CTA has
/// drained; SMs read it on receiving a CTA.
struct KernelSlot {
  trace::CtaFeed* feed = nullptr;
  const trace::KernelHeader* header = nullptr;
  const class IssueTable* instructions =
      nullptr;  // issue form of the feed's static table, extended when it settles
  std::uint64_t launch_sequence =
      0;  // counts launches from 1: an SM that sees a new one invalidates L1 and constants
  std::uint32_t warps_per_cta = 0;
  std::uint32_t registers_per_warp = 0;  // allocated, rounded up to the granularity
  std::uint32_t shared_bytes = 0;        // allocated per CTA, rounded up
  class ClockLog* clocks = nullptr;      // where its reads of the clock are noted; null: nowhere
  L2Shares l2;                           // what of the L2 its persisting accesses may take
  Address code_base = 0;                 // synthetic address of the kernel's first instruction
  bool clustered = false;                // its CTAs come in clusters of more than one
};

/// Index = kernel slot; launch.max_kernels entries, never resized during a run.
using KernelTable = std::vector<KernelSlot>;

}  // namespace lockstep::core
