// What an SM is made of, and the stages of its cycle. One class, five files: sm.cpp (cycle and domain),
// sm_ready.cpp (readiness, stalls), sm_issue.cpp (issue), sm_fetch.cpp (instruction buffers), sm_cta.cpp
// (CTAs, barriers).
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

struct SubCore {
  std::array<Tick, kUnits> unit_free{};       // tick from which a unit takes the next
  std::array<WarpSet16, kUnits> ready_for{};  // ready warps whose next instruction the unit may take
  config::UnitMask wanted = 0;                // units that some ready warp's next instruction may take
  std::array<Tick, 2> bank_free{};            // register-file bank: tick from which its ports are free
  Tick allocate_free = 0;                     // the allocate stage holds an instruction until then
  std::uint8_t last_issued = 0;               // position, for the scheduler
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
    a.members(*this, unit_free, ready_for, wanted, bank_free, allocate_free, last_issued, last_fetched,
              a.given(last_inst), last_age, age, charged, empty_cycles, held_for, held_kernel);
  }
};

struct Sm::State {
  State(const config::GpuConfig& config, icnt::Fabric& fabric, const mem::AddressMap& map,
        const KernelTable& kernel_table, std::uint32_t sm, bool skip_idle, const uvm::AddressSpace* managed,
        bool profiled);

  // --- The cycle (sm.cpp) ---
  void tick(Cycle now);
  [[nodiscard]] Cycle next_event(Cycle now) const;
  void rebase_if_due(Cycle now);
  [[nodiscard]] Tick local(Cycle t) const { return static_cast<Tick>(t - base); }

  // Stages, in the order in which tick() calls them.
  void receive_ctas(Cycle now);
  void complete_memory_operations(Cycle now);
  void refill_instructions(Cycle now);
  void wake_warps(Cycle now);
  void issue_stage(unsigned s, Cycle now);
  void fetch_stage(unsigned s, Cycle now);

  // --- Readiness and stalls (sm_ready.cpp) ---
  /// Finds out what the warp's next instruction waits for; it may issue from tick `soonest` on.
  void evaluate(unsigned w, Tick soonest);
  void set_waiting(unsigned w, stats::Stall why);
  void set_ready(unsigned w, config::UnitMask units);
  void set_wants(unsigned w, config::UnitMask units);
  void wake_at(unsigned w, Tick at);
  void hold(unsigned s, stats::Stall why, Tick until);
  /// The sub-core's ready warps may be able to issue again.
  void let_issue(unsigned s) {
    settle_subcore(s, current);
    held &= ~(WarpSet64{0xffff} << 16 * s);
    held_until[s] = kNoTick;
  }
  /// Books the cycles before `now` that are not booked yet: nothing has changed since the last that is.
  void settle_subcore(unsigned s, Cycle now) {
    if (subcores[s].charged < now) book_cycles(s, now);
  }
  /// Slot of the sub-core's first ready warp. Precondition: there is one.
  [[nodiscard]] unsigned first_ready(unsigned s) const {
    return static_cast<unsigned>(std::countr_zero(ready >> 16 * s & 0xffff)) + 16 * s;
  }
  void book_cycles(unsigned s, Cycle now);
  void charge(stats::Stall why, std::uint8_t kernel, Cycle cycles);

  // --- Issue (sm_issue.cpp) ---
  [[nodiscard]] WarpSet16 issuable(unsigned s, Cycle at);
  void issue(unsigned w, Cycle now);
  [[nodiscard]] Tick read_operands(SubCore& sub, const IssueInst& inst, unsigned w, Tick now,
                                   stats::SmCounters& counted);
  void take_unit(SubCore& sub, const IssueInst& inst, Tick now, stats::SmCounters& counted);
  void send_to_memory(unsigned w, const IssueInst& inst, const trace::Record& record, Cycle now);
  static void end_await(Warp& warp);
  [[nodiscard]] static bool awaits(const Warp& warp, const trace::Record* record);
  [[nodiscard]] static MbarrierEvents events_of(const IssueInst& inst, const trace::Record& record,
                                                const std::uint64_t* words);
  void fence(Warp& warp, const IssueInst& inst, Tick now);
  void async_groups(Warp& warp, const IssueInst& inst);
  void arrive_after_copies(Warp& warp, const MbarrierEvents& events, Cycle now);
  void end_copy(Warp& warp, unsigned group, Cycle now);
  [[nodiscard]] static bool groups_done(const Warp& warp);
  void handle_event(const MioEvent& event, Cycle now);

  // --- Instruction buffers (sm_fetch.cpp) ---
  /// Decides whether the warp takes part in fetching from tick `now` on.
  void update_fetch(unsigned w, Tick now);
  void fetch_one(unsigned w, Cycle now);

  // --- CTAs (sm_cta.cpp) ---
  void start_cta(const icnt::LaunchCta& launch, Cycle now);
  void start_warp(unsigned w, unsigned cta, unsigned number, Tick at);
  [[nodiscard]] unsigned free_warp_slot() const;
  [[nodiscard]] unsigned free_cta_slot();
  void find_barrier_members(Cta& cta, const std::array<std::uint8_t, kMaxWarps>& slots);
  void barrier(unsigned w, const IssueInst& inst, Cycle now);
  void release_barrier_if_complete(Cta& cta, unsigned id, Cycle now);
  void wait_for_mbarrier(Warp& warp, const MbarrierEvents& wanted);
  void notify_mbarrier(Cta& cta, const MbarrierEvents& events, Cycle now);
  void end_warp(unsigned w, Cycle now);
  void free_warp_if_done(unsigned w, Cycle now);
  void free_cta(Cta& cta, Cycle now);
  void free_held_ctas(Cycle now);
  void report(Cta& cta, icnt::CtaEvent::Kind kind, Cycle now);
  void count_residency(std::uint8_t kernel, Cycle now);
  void release_cta_slot_if_drained(Cta& cta, Cycle now);

  void note_issued(unsigned w);

  void dump(std::string& out) const;

  /// Nothing is resident, and no warp that has gone is looked at again.
  [[nodiscard]] bool at_rest() const { return occupied == 0 && wheel_used == 0 && !(ready | fetch_wanted); }
  /// At rest; warps and CTAs begin with their launch.
  template <class A>
  void persist(A& a) {
    a.members(*this, a.given(config), a.reference(), a.reference(), a.given(index), a.given(skip),
              a.given(subcore_count), a.given(done_latency), current, base, ready, held, held_until,
              fetch_wanted, line_awaited, redirected, occupied, waiting, reason, wants, wheel, wheel_used,
              subcores, a.given(warps), a.given(scoreboard), mio_next, front_next, barrier_free, mio, front,
              launches, a.given(ctas), a.given(held_ctas), a.given(in_flight), a.given(free_handles),
              counters, resident_warps, resident_since, seen_launch, slot_launch, carveout, next_age,
              profile);
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
  Cycle barrier_free = 0;  // the SM's barriers take the next arrival from here on

  MemoryPipeline mio;
  FrontEnd front;
  sim::Inbox<icnt::LaunchCta> launches;
  std::vector<Cta> ctas;
  std::vector<std::uint8_t> held_ctas;  // slots: done, but exits wait (uvm.exits_wait)
  std::vector<InFlight> in_flight;
  std::vector<std::uint32_t> free_handles;
  std::vector<stats::SmCounters> counters;    // by kernel slot
  std::vector<std::uint32_t> resident_warps;  // by kernel slot
  std::vector<Cycle> resident_since;          // warp_cycles are booked up to here
  std::uint64_t seen_launch = 0;              // newest launch_sequence
  std::vector<std::uint64_t> slot_launch;     // by kernel slot: launch_sequence of its last CTA here
  unsigned carveout = 0;
  std::uint32_t next_age = 1;
  std::unique_ptr<InstructionProfile> profile;  // null: not profiled
};

}  // namespace lockstep::core
