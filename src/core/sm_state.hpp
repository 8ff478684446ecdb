// What an SM is made of. What it does stands in three layers on top, each of which uses the one below:
// SmWarps (sm_warps.hpp: readiness, stalls, instruction buffers), SmCtas (sm_ctas.hpp: CTAs, barriers) and
// Sm::State (sm_stages.hpp: the cycle and its stages). Internal to src/core.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/front_end.hpp"
#include "core/instruction_profile.hpp"
#include "core/memory_pipeline.hpp"
#include "core/scheduler.hpp"
#include "core/scoreboard.hpp"
#include "core/sm.hpp"
#include "core/warp.hpp"
#include "sim/inbox.hpp"

namespace lockstep::core {

using WarpSet64 = std::uint64_t;  // warp slots; sub-core s has bits 16 s to 16 s + 15

[[nodiscard]] constexpr WarpSet64 warp_bit(unsigned w) { return WarpSet64{1} << w; }

inline constexpr Tick kNoTick = 0xffffffff;

inline constexpr unsigned kUnits = static_cast<unsigned>(config::Unit::kCount);
static_assert(kUnits == stats::kPipes);

/// Products of warpgroups that the tensor core has taken and not begun: FlashGPU-Sim,
/// SM90_H100_SASS_FRONTEND, 6 whose matrices are in shared memory, 5 with one in registers, from probes of
/// its capacity.
inline constexpr unsigned kQueuedProducts = 6;

struct SubCore {
  std::array<Tick, kUnits> unit_free{};       // tick from which a unit takes the next
  std::array<WarpSet16, kUnits> ready_for{};  // ready warps whose next instruction the unit may take
  config::UnitMask wanted = 0;                // units that some ready warp's next instruction may take
  std::array<Tick, 2> bank_free{};            // register-file bank: tick from which its ports are free
  std::array<Tick, kQueuedProducts> product_starts{};  // of the newest products of warpgroups, a ring
  Tick products_end = 0;                               // of the newest one's work
  std::uint8_t newest_product = 0;
  Tick allocate_free = 0;        // the allocate stage holds an instruction until then
  std::uint8_t last_issued = 0;  // position, for the scheduler
  std::uint8_t last_fetched = 0;
  const IssueInst* last_inst = nullptr;  // whose operands the register-file cache holds
  std::uint32_t last_age = 0;            // and of which warp
  std::array<std::uint32_t, kWarpsPerSubcore> age{};
  Cycle charged = 0;  // stall cycles are booked up to here
  std::uint64_t empty_cycles = 0;
  stats::Stall held_for = stats::Stall::kMathPipe;  // while the sub-core is in Sm::State::held
  std::uint8_t held_kernel = 0;

  template <class A>
  void persist(A& a) {
    a.members(*this, unit_free, ready_for, wanted, bank_free, product_starts, products_end, newest_product,
              allocate_free, last_issued, last_fetched, a.given(last_inst), last_age, age, charged,
              empty_cycles, held_for, held_kernel);
  }
};

/// Everything an SM keeps from cycle to cycle.
struct SmState {
  SmState(const config::GpuConfig& config, icnt::Fabric& fabric, const mem::AddressMap& map,
          const KernelTable& kernel_table, std::uint32_t sm, bool skip_idle, const uvm::AddressSpace* managed,
          bool profiled);

  [[nodiscard]] Tick local(Cycle t) const { return static_cast<Tick>(t - base); }

  /// Nothing is resident, and no warp that has gone is looked at again.
  [[nodiscard]] bool at_rest() const { return occupied == 0 && wheel_used == 0 && !(ready | fetch_wanted); }
  /// At rest; warps and CTAs begin with their launch.
  template <class A>
  void persist(A& a) {
    a.members(*this, a.given(config), a.reference(), a.reference(), a.given(index), a.given(skip),
              a.given(subcore_count), a.given(done_latency), current, base, ready, held, held_until,
              fetch_wanted, line_awaited, redirected, occupied, waiting, reason, wants, wheel, wheel_used,
              subcores, a.given(warps), a.given(scoreboard), mio_next, front_next, branch_free, barrier_free,
              mio, front, launches, a.given(ctas), a.given(held_ctas), a.given(in_flight), a.given(by_lane),
              a.given(free_handles), counters, resident_warps, resident_since, seen_launch, slot_launch,
              carveout, next_age, a.given(no_cta_end_before), profile);
  }

  const config::GpuConfig config;
  icnt::Fabric& fabric;
  const KernelTable& kernels;
  const std::uint32_t index;
  const bool skip;
  const unsigned subcore_count;
  const Cycle done_latency;  // of a CTA's end to the dispatcher

  // Hot state.
  Cycle current = 0;    // the cycle that tick() is doing
  Cycle base = 0;       // cycle of tick 0
  WarpSet64 ready = 0;  // the next instruction may issue as far as the warp itself goes
  WarpSet64 held = 0;   // sub-cores none of whose ready warps can issue: all bits of each
  std::array<Tick, kMaxSubcores> held_until{kNoTick, kNoTick, kNoTick, kNoTick};  // kNoTick: not held by time
  WarpSet64 fetch_wanted = 0;
  WarpSet64 line_awaited = 0;  // the fetch waits for an instruction line
  WarpSet64 redirected = 0;    // no instruction since the last taken branch
  WarpSet64 occupied = 0;      // warp slots of resident CTAs
  std::array<WarpSet64, stats::kStalls> waiting{};
  std::array<stats::Stall, kMaxWarps> reason{};
  std::array<config::UnitMask, kMaxWarps> wants{};  // units of a ready warp's next instruction, else 0
  std::array<WarpSet64, 64> wheel{};                // warps to look at again, by cycle modulo 64
  std::uint64_t wheel_used = 0;
  std::array<SubCore, kMaxSubcores> subcores{};
  std::array<Warp, kMaxWarps> warps{};
  Scoreboard scoreboard{kMaxWarps};
  Cycle mio_next = 0, front_next = 0;
  Tick branch_free = 0;    // the shared branch unit takes the next instruction from here on
  Cycle barrier_free = 0;  // the SM's barriers take the next arrival from here on

  MemoryPipeline mio;
  FrontEnd front;
  sim::Inbox<icnt::LaunchCta> launches;
  std::vector<Cta> ctas;
  std::vector<std::uint8_t> held_ctas;  // slots: done, but exits wait (uvm.exits_wait)
  std::vector<InFlight> in_flight;
  std::vector<SignalsByLane> by_lane;  // of those in flight
  std::vector<std::uint32_t> free_handles;
  std::vector<stats::SmCounters> counters;    // by kernel slot
  std::vector<std::uint32_t> resident_warps;  // by kernel slot
  std::vector<Cycle> resident_since;          // warp_cycles are booked up to here
  std::uint64_t seen_launch = 0;              // newest launch_sequence
  std::vector<std::uint64_t> slot_launch;     // by kernel slot: launch_sequence of its last CTA here
  unsigned carveout = 0;
  std::uint32_t next_age = 1;
  Cycle no_cta_end_before = 0;                  // of those that are here; it may be later
  std::unique_ptr<InstructionProfile> profile;  // null: not profiled
};

}  // namespace lockstep::core
