// Everything behind the sub-cores' memory queues: the dispatch to the units of the MIO, and these.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/gpu_config.hpp"
#include "core/bypass_path.hpp"
#include "core/cluster_unit.hpp"
#include "core/coalescer.hpp"
#include "core/constant_unit.hpp"
#include "core/instruction_port.hpp"
#include "core/instruction_profile.hpp"
#include "core/l1_lookup.hpp"
#include "core/lsu_latencies.hpp"
#include "core/lsu_operation.hpp"
#include "core/lsu_port.hpp"
#include "core/lsu_queue.hpp"
#include "core/lsu_results.hpp"
#include "core/parked_lines.hpp"
#include "core/shared_memory.hpp"
#include "core/tag_stage.hpp"
#include "core/translator.hpp"
#include "icnt/fabric.hpp"
#include "mem/address_map.hpp"
#include "stats/counters.hpp"

namespace lockstep::core {

/// Part of an SM; all times are core cycles. Each operation gets exactly one kOperandsRead, then one kResult,
/// and stores and reductions one kAcknowledged (global, local; those to shared memory none).
///
/// Way of an operation: local queue of its sub-core (LsuLatencies::kResidence cycles at least; kOperandsRead
/// when it leaves), then a unit. Shuffles, special registers and constants have a unit each with an interval
/// and a latency. Everything else goes in order through one load/store unit: shared memory and the L1 data
/// array pass wavefronts over the banks, the tag stage looks up l1.tags_per_cycle lines per cycle, and both
/// go on side by side; an operation's next one starts when the wavefronts are through and the lines are
/// looked up. Without room in port, miss registers or pending table the load/store unit waits, in order.
class MemoryPipeline {
 public:
  MemoryPipeline(const config::GpuConfig& config, icnt::Fabric& fabric, const mem::AddressMap& map,
                 std::uint32_t sm, const uvm::AddressSpace* managed = nullptr);
  MemoryPipeline(const MemoryPipeline&) = delete;  // its parts know each other
  MemoryPipeline& operator=(const MemoryPipeline&) = delete;

  /// Start of a window: takes the mail of the SM's ports.
  void gather(Cycle from) {
    port_.gather(from);
    if (translator_) translator_->gather(from);
    if (cluster_) cluster_->gather(from);
  }

  /// Room in the sub-core's local queue.
  [[nodiscard]] bool can_accept(unsigned subcore) const { return queue_.can_accept(subcore); }
  /// The place of the sub-core's next operation: to be filled in whole, then pushed. Precondition:
  /// can_accept.
  [[nodiscard]] MioOperation& next(unsigned subcore) { return queue_.next(subcore); }
  /// At cycle `now`, at most one a sub-core and cycle. Returns the cycle at which tick() may have something
  /// to do for the operation; kNever while what stands before it decides that.
  Cycle push(Cycle now, unsigned subcore);

  /// The instruction side's share of the SM's port.
  [[nodiscard]] InstructionPort& instructions() { return instructions_; }

  /// One core cycle, after gather() of its window. Events of this cycle are in events() until the next tick.
  void tick(Cycle now);
  [[nodiscard]] const std::vector<MioEvent>& events() const { return results_.events(); }
  /// Cycle > now at which tick() has something to do without further pushes; kNever when only mail can wake
  /// it.
  [[nodiscard]] Cycle next_event(Cycle now) const;

  /// A launch's first CTA arrives in this SM: L1 and constant cache lose their contents (not what is in
  /// flight).
  void invalidate();
  /// Likewise, of the launch in this kernel slot.
  void begin_kernel(std::uint8_t kernel) { port_.begin_kernel(kernel); }
  /// Translator::learn().
  void learn(Address line) {
    if (translator_) translator_->learn(line);
  }
  [[nodiscard]] const icnt::EntryLog& entries() const { return port_.entries(); }
  [[nodiscard]] bool stored_to_peer(std::uint8_t kernel) const { return port_.stored_to_peer(kernel); }
  /// The SM is empty: shared memory gets l1.shared_carveouts_kib[index], L1 the rest. A change empties the
  /// L1.
  void set_carveout(unsigned index);

  /// Counters of a kernel slot (l1*, shared*, global/local/const_instructions of SmCounters; icnt requests,
  /// flits, stalls).
  [[nodiscard]] stats::SmCounters& counters(std::uint8_t kernel) { return counters_[kernel]; }
  [[nodiscard]] stats::IcntCounters& icnt_counters(std::uint8_t kernel) { return port_.counters(kernel); }
  [[nodiscard]] bool quiescent() const;
  /// Request credits that are neither home nor on their way back; 0 some time after the last request.
  [[nodiscard]] std::uint64_t credits_missing() const { return port_.credits_missing(); }
  /// Cycles that the load/store unit waited for the port, a miss register or a pending-table entry.
  [[nodiscard]] std::uint64_t backpressure_cycles() const { return tags_.backpressure_cycles(); }
  [[nodiscard]] const L1Cache& l1() const { return l1_.cache(); }
  void dump(std::string& out) const;
  /// Also reports what operations look up to `to`, which must outlive it.
  void profile(InstructionProfile* to) {
    profile_ = to;
    l1_.profile(to);
    constants_.profile(to);
    bypass_.profile(to);
  }
  /// Null where nothing is translated: no managed memory, no tlb.miss_latency.
  [[nodiscard]] const Translator* translator() const { return translator_.get(); }
  /// Null where the GPU has no clusters.
  [[nodiscard]] ClusterUnit* cluster() { return cluster_.get(); }
  [[nodiscard]] bool holds_exits() const { return translator_ && translator_->holds_exits(); }

  template <class A>
  void persist(A& a) {
    a.members(*this, a.given(latencies_), a.given(shuffle_interval_), a.given(special_interval_),
              a.given(texture_interval_), a.given(texture_extra_), a.given(data_bytes_),
              a.given(cache_global_), a.given(empties_caches_), a.given(sm_), a.given(max_warps_),
              a.given(carveouts_kib_), queue_, unit_free_, data_free_, counters_, port_, results_,
              translator_, instructions_, constants_, l1_, bypass_, a.given(profile_), a.given(coalescer_),
              a.given(addresses_), a.given(wavefronts_), tags_, a.given(parked_), cluster_);
  }

 private:
  // Stages, in the order in which tick() calls them.
  void receive_reply(Cycle now);
  void dispatch(Cycle now);
  void send_past_l1(Cycle now);
  void receive_of_cluster(Cycle now);
  void send_to_cluster(Cycle now);

  // Units.
  [[nodiscard]] static LsuUnit unit_of(const MioOperation& op);
  /// Cycles from which the units take an operation, the constant unit's wait for the port included, for which
  /// `changed` is room.
  [[nodiscard]] const LsuUnitTimes& unit_times(LsuUnitTimes& changed) const;
  [[nodiscard]] Cycle& free_from(LsuUnit unit) { return unit_free_[static_cast<unsigned>(unit)]; }
  void set_memory_free(Cycle now);
  void start(Cycle now, const MioOperation& op, LsuUnit unit);
  void fixed_latency(Cycle now, const MioOperation& op, Cycle latency);
  void bulk(Cycle now, const MioOperation& op);
  void shared(Cycle now, const MioOperation& op);
  void global(Cycle now, const MioOperation& op, LsuUnit unit);
  void await_signals(Cycle now, const MioOperation& op);
  [[nodiscard]] LineKind kind_of(const MioOperation& op) const;
  void list_lines(const MioOperation& op, LineKind kind);

  [[nodiscard]] bool translates() const { return translator_ && translator_->attentive(); }

  // Configuration.
  LsuLatencies latencies_;
  Cycle shuffle_interval_, special_interval_, texture_interval_;
  std::uint16_t texture_extra_;
  std::uint32_t data_bytes_;
  bool cache_global_;
  bool empties_caches_;  // launch.cache_control = all
  std::uint32_t sm_, max_warps_;
  std::vector<std::uint32_t> carveouts_kib_;

  // State. Parts point to those before them.
  LsuQueue queue_;
  LsuUnitTimes unit_free_{};
  Cycle data_free_ = 0;  // the banks take the next operation from here on
  std::vector<stats::SmCounters> counters_;
  LsuPort port_;
  LsuResults results_;
  std::unique_ptr<Translator> translator_;
  InstructionPort instructions_;
  ConstantUnit constants_;
  L1Lookup l1_;
  BypassPath bypass_;
  InstructionProfile* profile_ = nullptr;
  Coalescer coalescer_;
  LaneAddresses addresses_;
  WavefrontMemo wavefronts_;
  TagStage tags_;
  std::optional<ParkedLines> parked_;  // where there is a translator
  std::unique_ptr<ClusterUnit> cluster_;
};

}  // namespace lockstep::core
