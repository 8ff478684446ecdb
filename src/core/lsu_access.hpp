// A memory operation as the stages behind the address coalescer see it: lines, and what these have in common.
#pragma once

#include <cstdint>

#include "core/coalescer.hpp"
#include "core/l2_hint.hpp"
#include "core/lsu_pending.hpp"
#include "icnt/messages.hpp"
#include "uvm/directory_messages.hpp"

namespace lockstep::core {

enum class LineKind : std::uint8_t {
  kCachedLoad,
  kDirectLoad,
  kStore,
  kAtomic,
  kReduction,
  kBulk,
  kPrefetch,  // into the L2; into the L1: kCachedLoad
};

[[nodiscard]] constexpr bool writes(LineKind kind) {
  return kind == LineKind::kStore || kind == LineKind::kAtomic || kind == LineKind::kReduction;
}
/// Ends with an acknowledgement; else with a result.
[[nodiscard]] constexpr bool is_acknowledged(LineKind kind) {
  return kind == LineKind::kStore || kind == LineKind::kReduction;
}

/// What an operation's lines have in common.
struct LsuAccess {
  LineKind kind = LineKind::kCachedLoad;
  bool local = false, signals = false;
  std::uint8_t kernel = 0;
  std::uint16_t entry = LsuPending::kNone;  // its pending-table entry, once it has one
  std::uint16_t extra = 0;                  // added to the latency: texture
  std::uint16_t transfer = 0;               // added when sectors miss: passes that wait for one line
  std::uint32_t handle = 0;
  L2Hint l2;

  template <class A>
  void persist(A& a) {
    a.members(*this, kind, local, signals, kernel, entry, extra, transfer, handle, l2);
  }
};

/// What a line lacks that cannot go on.
enum class Blocked : std::uint8_t { kNo, kPort, kTable, kTranslation };

/// A line of an operation that waits outside the load/store unit; enough to go on with it later.
struct ParkedLine {
  LsuAccess operation;  // a bulk copy's line has no entry, and its request's tag as handle
  LineAccess access;    // the operation's entry counts its sectors as outstanding
  StoredBytes bytes{};
  icnt::AccessKind bulk = icnt::AccessKind::kLoad;  // of a bulk copy's line
  bool write = false;
  bool returns_data = true;               // data come back: not a store or a reduction
  std::uint16_t place = uvm::kHostPlace;  // of a page that is not here: the device that has it, or the host

  template <class A>
  void persist(A& a) {
    a.members(*this, operation, access, bytes, bulk, write, returns_data, place);
  }
};

}  // namespace lockstep::core
