// State of warps and CTAs resident in an SM.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/issue_table.hpp"
#include "core/line_tags.hpp"
#include "core/scoreboard.hpp"
#include "stats/counters.hpp"
#include "trace/kernel_trace.hpp"

namespace lockstep::core {

inline constexpr unsigned kMaxWarps = 64;  // of an SM; slot = sub-core * kWarpsOfSubcore + position
inline constexpr unsigned kMaxSubcores = 4, kWarpsOfSubcore = kMaxWarps / kMaxSubcores;
inline constexpr unsigned kMaxIbuffer = 8;
inline constexpr unsigned kMaxAsyncGroups = 16;  // LDGSTS groups that one warp may have open
inline constexpr unsigned kProductGroups =
    4;  // groups of a warpgroup's products, the newest, that a warp keeps apart
inline constexpr std::uint64_t kMaxMbarriers = 1 << 16;  // that a CTA's records may name; 256 KiB have 32768

/// What an in-order wait of a warp is for; register dependences are found by evaluation instead.
enum class Block : std::uint8_t { kNone, kBarrier, kFence, kDepBar, kMbarrier, kSignal, kCluster };

/// In place of an mbarrier's number: the operation is an AWAIT.
inline constexpr std::uint32_t kAwaitsSignals = ~0u;
/// Likewise: it signals another mbarrier for each lane (SmState::by_lane).
inline constexpr std::uint32_t kSignalsByLane = ~0u - 1;
/// As a record of SYNCS or ARRIVES gives them.
struct MbarrierEvents {
  std::uint32_t mbarrier = 0;  // 0: none
  std::uint32_t events = 0;
  std::uint16_t targets = 0;  // ranks of the CTAs whose mbarriers have them; none: the CTA's own
};
/// The words of an operation that signals another mbarrier for each lane.
struct SignalsByLane {
  std::uint32_t handle = 0;
  trace::AddressForm form = trace::AddressForm::kNone;
  LaneMask mask = 0;
  const std::uint64_t* words = nullptr;
};

/// A CTA's part in the barrier of its cluster. Slots and ranks are bits.
struct ClusterBarrier {
  std::uint8_t ranks = 1, rank = 0;
  std::uint64_t live = 0;       // warps that have not ended
  std::uint64_t arrived = 0;    // warps, in the phase that is not complete
  std::uint64_t owes_wait = 0;  // warps that have arrived and not waited yet
  std::uint16_t here[2] = {};   // CTAs that have arrived, by parity of their phase
  std::uint16_t gone = 0;       // CTAs whose warps have all ended
  std::uint32_t phase = 0;      // how many are complete
  Cycle own_arrival = 0;        // of the CTA, in the last phase
  Cycle release = 0;            // from when on warps may go on
  [[nodiscard]] std::uint16_t everyone() const { return static_cast<std::uint16_t>((1u << ranks) - 1); }
};

/// What issue and fetch use lies in two lines of the host's cache.
struct alignas(64) Warp {
  const trace::Record* next = nullptr;   // to issue
  const trace::Record* fetch = nullptr;  // to fetch; buffered instructions lie between
  const trace::Record* end = nullptr;
  const std::uint64_t* words = nullptr;  // addresses of `next`
  const IssueTable* table = nullptr;
  const IssueInst* next_inst = nullptr;     // of `next`, once it is evaluated
  const IssueInst* fetch_inst = nullptr;    // of `fetch`
  Tick not_before = 0;                      // of the next issue: fence latency, sleep, barrier release
  Tick fetch_from = 0;                      // of the next fetch: branch redirect, start of the warp
  std::array<Tick, kMaxIbuffer> decoded{};  // tick at which a buffered instruction may issue, a ring
  std::uint32_t line = LineTags::kNoLine;   // that it fetches from
  std::uint8_t ring = 0, buffered = 0;
  std::uint8_t kernel = 0, cta = 0;
  std::uint8_t number = 0;  // in its CTA
  Block block = Block::kNone;
  std::uint8_t barrier = 0;        // id waited for; kCountedBarrier + id for waits_for.events threads
  bool branch_unresolved = false;  // the fetch waits for a branch to issue
  bool resident = false;
  stats::Stall delay = stats::Stall::kWait;                // what not_before stands for
  std::uint16_t results = 0;                               // operations under way that owe a kResult
  std::uint16_t readers = 0;                               // operations under way that owe a kOperandsRead
  std::uint16_t stores = 0;                                // operations that owe a kAcknowledged
  std::uint16_t wait_groups = 0;                           // DEPBAR: allowed groups under way
  std::uint8_t open_group = 0;                             // LDGSTS since the last LDGDEPBAR belong to it
  std::array<std::uint16_t, kMaxAsyncGroups> group{};      // async copies under way by group
  std::uint16_t awaited = 0;                               // AWAITs under way
  MbarrierEvents waits_for;                                // Block::kMbarrier, counted barriers
  std::array<MbarrierEvents, kMaxAsyncGroups> notifies{};  // when the group's copies have ended
  std::array<Tick, kProductGroups> product_groups{};       // when the products of a group have ended, a ring
  std::uint8_t product_group = 0;                          // the newest
};

struct Cta {
  trace::CtaTrace* trace = nullptr;  // null: the slot is free
  std::uint64_t index = 0;
  std::uint8_t kernel = 0;
  std::uint16_t live_warps = 0;  // not yet at their end
  std::uint16_t busy_warps = 0;  // not yet freed: at their end but results outstanding, or live
  std::uint32_t stores = 0;      // not yet acknowledged
  bool freed = false;
  std::uint64_t warps = 0;                  // slots, bit each
  std::array<std::uint64_t, 16> arrived{};  // by barrier id: slots waiting or arrived
  std::array<std::uint64_t, 16> members{};  // by barrier id: live slots that take part
  std::array<std::uint32_t, 16> counted{};  // by barrier id: threads that have arrived (trace::BarrierEvents)
  std::array<Cycle, 16> last_arrival{};  // by barrier id: when the SM's barriers processed the last arrival
  std::vector<std::uint32_t> mbarriers;  // by number: events that it has had
  std::uint64_t cluster = 0;             // its number in the kernel
  ClusterBarrier cluster_barrier;
};

/// An operation in the memory pipeline.
struct InFlight {
  const IssueInst* inst = nullptr;
  std::uint8_t warp = 0, cta = 0;
  std::uint8_t group = 0xff;  // async-copy group, 0xff: none
  std::uint8_t owed = 0;      // events still to come
  std::uint32_t age = 0;      // of the warp: its slot may be reused before the last event
  MbarrierEvents notifies;    // with its result
  bool multicast = false;     // other CTAs than its own have been told before that
  std::uint32_t filled = 0;   // bytes that it brings to each of them, too
};

}  // namespace lockstep::core
