// The cycle of an SM and its stages. Internal to src/core.
#pragma once

#include "core/sm_ctas.hpp"

namespace lockstep::core {

struct Sm::State : SmCtas {
  using SmCtas::SmCtas;

  // --- The cycle (sm.cpp) ---
  void tick(Cycle now);
  [[nodiscard]] Cycle next_event(Cycle now) const;
  void rebase_if_due(Cycle now);

  // Stages, in the order in which tick() calls them.
  void receive_ctas(Cycle now);
  void complete_memory_operations(Cycle now);
  void receive_of_clusters(Cycle now);
  void refill_instructions(Cycle now);
  void wake_warps(Cycle now);
  void issue_stage(unsigned s, Cycle now);
  void fetch_stage(unsigned s, Cycle now);

  // --- Issue (sm_issue.cpp) ---
  [[nodiscard]] WarpSet16 issuable(unsigned s, Cycle at);
  void issue(unsigned w, Cycle now);
  void execute_other(unsigned w, const IssueInst& inst, const trace::Record& record, Cycle now, Tick delay);
  [[nodiscard]] Tick read_operands(SubCore& sub, const IssueInst& inst, unsigned w, Tick now,
                                   stats::SmCounters& counted);
  void take_unit(SubCore& sub, const IssueInst& inst, Tick now, stats::SmCounters& counted);
  void queue_branch(unsigned w, const IssueInst& inst, Tick now, Tick delay);
  [[gnu::noinline]] void queue_product(unsigned w, const IssueInst& inst, Tick now, Tick delay);
  [[gnu::noinline]] static void end_group(Warp& warp, Tick at);
  [[gnu::noinline]] static void wait_for_products(Warp& warp, const IssueInst& inst, Tick now);
  void send_to_memory(unsigned w, const IssueInst& inst, const trace::Record& record, Cycle now);
  void synchronise(unsigned w, const IssueInst& inst, const trace::Record& record, const MioOperation& op);
  void notify(const InFlight& f, std::uint32_t handle, Cycle now);
  static void end_await(Warp& warp);
  [[nodiscard]] static bool awaits(const Warp& warp, const trace::Record* record);
  [[nodiscard]] static MbarrierEvents events_of(const IssueInst& inst, const trace::Record& record,
                                                const std::uint64_t* words);
  void notify_own(const InFlight& f, Cycle now);
  void signal_by_lane(const InFlight& f, std::uint32_t handle, Cycle now);
  void fence(Warp& warp, const IssueInst& inst, Tick now);
  void async_groups(Warp& warp, const IssueInst& inst);
  void arrive_after_copies(Warp& warp, const MbarrierEvents& events, Cycle now);
  void end_copy(Warp& warp, unsigned group, Cycle now);
  [[nodiscard]] static bool groups_done(const Warp& warp);
  void handle_event(const MioEvent& event, Cycle now);
};

}  // namespace lockstep::core
