// What travels through the crossbar.
#pragma once

#include <array>
#include <cstdint>

#include "util/l2_priority.hpp"
#include "util/types.hpp"

namespace lockstep::icnt {

enum class AccessKind : std::uint8_t {
  kLoad,         // data; the reply comes sector by sector as they become available
  kStore,        // one acknowledgement when the L2 has taken it
  kAtomic,       // done at L2, the reply has the old values
  kReduction,    // done at L2, acknowledged like a store
  kInstruction,  // instruction fetch, otherwise like a load
  kConstant,     // constant cache fill, otherwise like a load
  kCopy,         // write of the copy engine (whole sectors), to DRAM as well; acknowledged by the L2
  kCopyRead,     // read of the copy engine, otherwise like a load
  kEvict,        // likewise, of a whole line that leaves the L2 with it: its page moves to the host
  kDiscard,      // a line leaves the L2, changed or not; acknowledged
  kPrefetch,     // like a load, but the data stay in the L2; acknowledged when it has taken the request
  // From here on rare.
  kAwait,  // a poll of a word whose signals a warp awaits; done at the line's home, otherwise like a load
  // Lines of managed pages on the host. Their slice only passes them on, to `reply_to`. Those of pages on
  // another device go to the peer port instead, which is asked and replies with the same kinds.
  kRemoteRead,    // SM to host link
  kRemoteWrite,   // likewise, with data; a store or a reduction
  kRemoteAtomic,  // likewise; data come back
  kRemoteData,    // host link to SM: what was asked for
  kRemoteDone,    // likewise: an acknowledgement
};
[[nodiscard]] constexpr bool is_remote(AccessKind k) { return k >= AccessKind::kRemoteRead; }

[[nodiscard]] constexpr bool is_read(AccessKind k) {
  return k == AccessKind::kLoad || k == AccessKind::kInstruction || k == AccessKind::kConstant ||
         k == AccessKind::kCopyRead || k == AccessKind::kEvict || k == AccessKind::kAwait;
}
/// A write of given bytes, not one that depends on what is there.
[[nodiscard]] constexpr bool is_store(AccessKind k) {
  return k == AccessKind::kStore || k == AccessKind::kCopy;
}
[[nodiscard]] constexpr bool carries_data(AccessKind k) {
  return !is_read(k) && k != AccessKind::kDiscard && k != AccessKind::kPrefetch &&
         k != AccessKind::kRemoteRead && k != AccessKind::kRemoteDone;
}
[[nodiscard]] constexpr bool reply_carries_data(AccessKind k) {
  return is_remote(k) ? carries_data(k) : is_read(k) || k == AccessKind::kAtomic;
}

/// What a kCopy leaves in the L2. It goes to DRAM in any case.
enum class CopyInL2 : std::uint8_t {
  kPlaced,   // its sectors, in lines that get a place where they have none
  kUpdated,  // its sectors in lines that are there; no other line gets a place
  kDropped,  // none of its sectors
};

/// What a request has to do with the lock of its line in the L2 (mem::LineLocks).
enum class LineLock : std::uint8_t {
  kNone,
  kControl,  // a store that locks it until a core of the command processor accesses it
  kCore,     // an access of such a core
  kBegin,    // likewise, the read of a read-modify-write, which locks the line for its own write
  kEnd,      // that write, which unlocks it
};

/// Tag of a line on its way to the host link: the SM, and the SM's own handle. On its way to another device:
/// that device, and the handle.
constexpr std::uint32_t kRemoteTokenBits = 20;
[[nodiscard]] constexpr std::uint32_t remote_tag(std::uint32_t sm, std::uint32_t token) {
  return sm << kRemoteTokenBits | token;
}
[[nodiscard]] constexpr std::uint32_t sm_of_remote(std::uint32_t tag) { return tag >> kRemoteTokenBits; }
[[nodiscard]] constexpr std::uint32_t token_of_remote(std::uint32_t tag) {
  return tag & ((1u << kRemoteTokenBits) - 1);
}

/// To an L2 slice: up to four sectors of one 128-byte line.
struct Request {
  Address line = 0;            // 128-byte aligned
  std::uint32_t tag = 0;       // the requester's own handle, returned with every reply
  std::uint16_t reply_to = 0;  // destination in the reply network; a slice in the far-reply network
  AccessKind kind = AccessKind::kLoad;
  SectorMask sectors = 0;
  std::uint8_t kernel = 0;  // kernel slot, for the counters
  std::uint8_t operations =
      0;  // atomics and reductions: 32-bit lane operations, 1..128; serialised by address
  L2Placing placing;
  CopyInL2 copy : 2 = CopyInL2::kPlaced;
  LineLock lock : 3 = LineLock::kNone;
  bool local : 1 = false;                // local memory, for the counters
  bool signals : 1 = false;              // a write for whose words others may wait
  bool signals_twice : 1 = false;        // a store that counts for one before it, too, which came elsewhere
  bool again : 1 = false;                // of a poll: the word lacks signals
  bool missed : 1 = false;               // of a read: not all was in the slice; set there
  bool entry_status : 1 = false;         // a kernel's store to the status word of a queue's entry (EntryLog)
  std::array<std::uint32_t, 4> bytes{};  // stores, and whatever signals: written bytes of each sector, bit
                                         // per byte

  // For a poll, which writes nothing: its word, and how many signals that must have had.
  void set_awaited(Address word, std::uint32_t count) {
    bytes[0] = static_cast<std::uint32_t>(word - line);
    bytes[1] = count;
  }
  [[nodiscard]] Address awaited_word() const { return line + bytes[0]; }
  [[nodiscard]] std::uint32_t awaited_signals() const { return bytes[1]; }
  /// Likewise: such polls have come at a steady rate, `polls` of them in `core_cycles`. So the reply can wait
  /// until the word has had its signals (mem::ParkedPolls).
  void set_rate(std::uint32_t core_cycles, std::uint32_t polls) {
    bytes[2] = core_cycles;
    bytes[3] = polls;
  }
  [[nodiscard]] bool may_park() const { return bytes[3] > 0; }
  /// Likewise: the reply comes when the word has had its signals; it is no access. The sender counts polls.
  void set_watch() { set_rate(0, 1); }
  [[nodiscard]] bool is_watch() const { return bytes[2] == 0 && bytes[3] > 0; }
  /// Likewise: it also stands for `polls` before it that were not sent.
  void set_polls_before(std::uint32_t polls) { set_rate(polls, 0); }
  [[nodiscard]] std::uint32_t polls_before() const { return bytes[3] > 0 ? 0 : bytes[2]; }
  [[nodiscard]] std::uint32_t rate_cycles() const { return bytes[2]; }
  [[nodiscard]] std::uint32_t rate_polls() const { return bytes[3]; }
};

static_assert(sizeof(Request) == 40);

/// From an L2 slice. Loads may get several replies, disjoint in `sectors`; stores and reductions exactly one
/// with the request's sectors; atomics exactly one.
struct Reply {
  Address line = 0;
  std::uint32_t tag = 0;
  AccessKind kind = AccessKind::kLoad;
  SectorMask sectors = 0;
  std::uint8_t kernel = 0;
  bool again : 1 = false;   // to a poll: the word lacks signals
  bool missed : 1 = false;  // to a read: not all of it was in the slice that was asked
  bool silent : 1 = false;  // to a watch: not counted
};
static_assert(sizeof(Reply) == 16);

/// One unit of buffer space at a destination given back to its source.
struct Credit {};

}  // namespace lockstep::icnt
