// What the issue stage and the memory pipeline say to each other.
#pragma once

#include <cstdint>

#include "core/l2_hint.hpp"
#include "trace/kernel_trace.hpp"
#include "util/types.hpp"

namespace lockstep::core {

/// An instruction of one warp that leaves its sub-core.
struct MioOperation {
  std::uint32_t handle = 0;  // the SM's own; comes back with the events
  std::uint8_t subcore = 0;
  std::uint8_t warp = 0;  // slot in the SM
  std::uint8_t kernel = 0;
  trace::OpClass op_class = trace::OpClass::kLoad;
  trace::MemSpace space =
      trace::MemSpace::kNone;  // never kGeneric: the SM resolves that from the first address
  std::uint8_t access_bytes = 0;
  bool bypass_l1 = false;
  bool prefetch = false;  // of the lines that the addresses are those of
  L2Hint l2;
  bool ranks = false;      // its addresses of shared memory name CTAs of the cluster
  bool multicast = false;  // a bulk load that goes to other CTAs of the cluster, too
  std::uint8_t cta = 0;    // slot in the SM
  bool matrix = false;  // LDSM, STSM: lanes 8m to 8m+7 give the 16-byte rows of matrix m of access_bytes / 4
  trace::SignalOp signal = trace::SignalOp::kNone;
  trace::BulkCopy bulk = trace::BulkCopy::kNone;  // of a kBulkCopy whose words say what it moves
  trace::AddressForm form = trace::AddressForm::kNone;
  LaneMask mask = 0;
  const std::uint64_t* words = nullptr;  // valid until kResult / kOperandsRead, whichever is later
  Address local_base = 0;                // of the kernel; local addresses are offsets from it
};

struct MioEvent {
  enum class Kind : std::uint8_t {
    kOperandsRead,  // source registers are free for writers (WAR)
    kResult,        // dependents may issue from this cycle on; async copies: the data are in shared memory.
                    // bulk copies: likewise, or the source has been read.
                    // Instructions without result get it too, at the time of kOperandsRead or later.
    kAcknowledged,  // stores and reductions: visible at L2; prefetches: the L2 has their requests
    kDelivered,     // bulk loads with `multicast`: the last sector has come, to all of the CTAs
  } kind;
  std::uint32_t handle;
};

/// Stores, reductions and prefetches beyond the SM owe a kAcknowledged.
[[nodiscard]] constexpr bool is_acknowledged(const MioOperation& op) {
  if (op.bulk != trace::BulkCopy::kNone)
    return trace::writes(op.bulk) || op.bulk == trace::BulkCopy::kPrefetch;
  return (op.op_class == trace::OpClass::kStore || op.op_class == trace::OpClass::kReduction) &&
         op.space != trace::MemSpace::kShared;
}

}  // namespace lockstep::core
