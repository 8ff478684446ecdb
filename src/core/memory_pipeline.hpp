// Everything behind the sub-cores' memory queues: the MIO dispatch, address coalescing, shared memory, the L1
// data cache, the constant path, shuffles and special registers, and the SM's ports into the crossbar.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "config/gpu_config.hpp"
#include "core/bulk_copies.hpp"
#include "core/coalescer.hpp"
#include "core/instruction_profile.hpp"
#include "core/l1_cache.hpp"
#include "core/l1_mshrs.hpp"
#include "core/lsu_operation.hpp"
#include "core/lsu_pending.hpp"
#include "core/lsu_port.hpp"
#include "core/lsu_queue.hpp"
#include "core/lsu_wheel.hpp"
#include "core/shared_memory.hpp"
#include "core/signal_waits.hpp"
#include "core/translator.hpp"
#include "icnt/fabric.hpp"
#include "mem/address_map.hpp"
#include "stats/counters.hpp"

namespace lockstep::core {

/// Part of an SM; all times are core cycles. Each operation gets exactly one kOperandsRead, then one kResult,
/// and stores and reductions one kAcknowledged (global, local; those to shared memory none).
///
/// Way of an operation: local queue of its sub-core (kResidence cycles at least; kOperandsRead when it
/// leaves), then a unit. Shuffles, special registers and constants have a unit each with an interval and a
/// latency. Everything else goes in order through one load/store unit: shared memory and the L1 data array
/// pass wavefronts over the banks, the L1 tags look up l1.tags_per_cycle lines a cycle, and both go on side
/// by side; an operation's next one starts when the wavefronts are through and the lines are looked up.
///
/// L1: write-through, allocate on fill, misses in flight occupy no way. A load's sectors hit, merge with a
/// fill under way, or miss; a line's missing sectors are one request. Stores hit or miss; sectors written
/// whole become valid in the L1 when l1.allocate_on_store is set and no fill of theirs is under way. Local
/// memory is cached the same way (written through). Loads that bypass the L1 (all of global memory without
/// l1.cache_global), atomics and reductions count as misses and make the SM's own copy invalid. Without room
/// in port, miss registers or pending table the load/store unit waits, in order.
class MemoryPipeline {
 public:
  /// Cycles that an operation stays in its local queue, operand read and address calculation: with
  /// queue_entries 4 the sixth of six LDS in a row issues 3 cycles after the fifth (A100 microbenchmark,
  /// Strelizia: 27 to 30 cycles).
  static constexpr Cycle kResidence = 7;
  /// What a miss takes in the SM beside a hit's latency: from the tags to the port and from the port to the
  /// array.
  static constexpr Cycle kMissPath = 6;
  /// A pass over the banks gives up to 128 bytes, which reach the registers at 512 bits a cycle (Huerta et
  /// al., MICRO 2025). The first pass's way is part of l1.hit_latency, each further one of a load takes this
  /// long. So a warp's 64-bit loads take two cycles more than those of one thread: gpu-latency with 64
  /// threads and with one on V100 (30, 28 cycles) and L40 (36, 34).
  static constexpr Cycle kPassTransfer = 2;

  MemoryPipeline(const config::GpuConfig& config, icnt::Fabric& fabric, const mem::AddressMap& map,
                 std::uint32_t sm, const uvm::AddressSpace* managed = nullptr);

  /// Start of a window: takes the mail of the SM's ports.
  void gather(Cycle from) {
    port_.gather(from);
    if (translator_) translator_->gather(from);
  }

  /// Room in the sub-core's local queue.
  [[nodiscard]] bool can_accept(unsigned subcore) const { return queue_.can_accept(subcore); }
  /// The place of the sub-core's next operation: to be filled in whole, then pushed. Precondition:
  /// can_accept.
  [[nodiscard]] MioOperation& next(unsigned subcore) { return queue_.next(subcore); }
  /// At cycle `now`, at most one a sub-core and cycle. Returns the cycle at which tick() may have something
  /// to do for the operation; kNever while what stands before it decides that.
  Cycle push(Cycle now, unsigned subcore);

  /// A sector request for the instruction side (L1I miss): same port into the crossbar, `line` answered
  /// whole.
  [[nodiscard]] bool can_fetch() const { return !port_.full(); }
  void fetch_instruction(Cycle now, Address line, std::uint8_t kernel);
  /// Lines of instructions that arrived since the last call.
  [[nodiscard]] const std::vector<Address>& instruction_lines() const { return instruction_lines_; }
  void clear_instruction_lines() { instruction_lines_.clear(); }

  /// One core cycle, after gather() of its window. Events of this cycle are in events() until the next tick.
  void tick(Cycle now);
  [[nodiscard]] const std::vector<MioEvent>& events() const { return events_; }
  /// Cycle > now at which tick() has something to do without further pushes; kNever when only mail can wake
  /// it.
  [[nodiscard]] Cycle next_event(Cycle now) const;

  /// A kernel's first CTA arrives in this SM: L1 and constant cache lose their contents (not what is in
  /// flight).
  void invalidate() {
    l1_.invalidate();
    const_cold_ = true;
    if (translator_ && empties_caches_) translator_->forget_blocks();
  }
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
  [[nodiscard]] std::uint64_t backpressure_cycles() const { return backpressure_cycles_; }
  [[nodiscard]] const L1Cache& l1() const { return l1_; }
  void dump(std::string& out) const;
  /// Also tells `to`, which must outlive it, what operations look up.
  void profile(InstructionProfile* to) { profile_ = to; }
  /// Null where nothing is translated: no managed memory, no tlb.miss_latency.
  [[nodiscard]] const Translator* translator() const { return translator_.get(); }
  [[nodiscard]] bool holds_exits() const { return translator_ && translator_->holds_exits(); }

 private:
  enum class LineKind : std::uint8_t { kCachedLoad, kDirectLoad, kStore, kAtomic, kReduction, kBulk };
  enum class Blocked : std::uint8_t { kNo, kPort, kTable, kTranslation };
  /// What its lines have in common.
  struct Access {
    LineKind kind = LineKind::kCachedLoad;
    Blocked blocked = Blocked::kNo;  // why the last line did not get through
    bool evict_first = false, local = false, signals = false;
    std::uint8_t kernel = 0;
    std::uint16_t entry = LsuPending::kNone;
    std::uint16_t extra = 0;     // added to the latency: texture
    std::uint16_t transfer = 0;  // added when sectors miss: passes that wait for one line
    std::uint32_t handle = 0;
  };
  /// The operation in the tag stage: its lines from `next` on are to be looked up.
  struct Current {
    Access access;
    bool active = false;
    bool parking = false;  // the line missed the TLB and waits for a pending-table entry
    unsigned next = 0;
    unsigned untranslated = ~0u;  // first line that has not been through the TLB
    Cycle last_wavefront = 0;     // through the banks or, where that takes longer, its data to the registers
    Cycle blocked_since = 0;
  };
  /// Tags of load replies: a miss register, or with this bit a pending-table entry.
  static constexpr std::uint32_t kDirectTag = 0x80000000u;

  struct InstructionFetch {
    Address line = 0;        // as asked for
    SectorMask missing = 0;  // 0: the entry is free
  };

  // Stages, in the order in which tick() calls them.
  void receive_reply(Cycle now);
  void look_up_lines(Cycle now);
  void dispatch(Cycle now);
  void send_bulk_line(Cycle now);
  void deliver_results(Cycle now);

  [[nodiscard]] static LsuUnit unit_of(const MioOperation& op);
  /// Cycles from which the units take an operation, the constant unit's need of the port included, for which
  /// `changed` is room.
  [[nodiscard]] const LsuUnitTimes& unit_times(LsuUnitTimes& changed) const;
  [[nodiscard]] Cycle& free_from(LsuUnit unit) { return unit_free_[static_cast<unsigned>(unit)]; }
  void set_memory_free(Cycle now);
  void bulk(Cycle now, const MioOperation& op);
  [[nodiscard]] bool can_send_bulk_line() const;
  void park_bulk_line(Cycle now, const icnt::Request& request);
  [[nodiscard]] bool send_parked_bulk_line(Cycle now, const ParkedLine& line);
  void heed(Cycle now, const BulkCopies::Done& done);
  void fixed_latency(Cycle now, const MioOperation& op, Cycle latency);
  void constant(Cycle now, const MioOperation& op);
  void shared(Cycle now, const MioOperation& op);
  void global(Cycle now, const MioOperation& op, LsuUnit unit);
  void await_signals(Cycle now, const MioOperation& op);
  void send_beside(Cycle now);
  [[nodiscard]] LineKind kind_of(const MioOperation& op) const;
  void list_lines(const MioOperation& op, LineKind kind);

  /// Outcome of a line's translation: it may be looked up, it must wait in the tag stage, or it waits
  /// outside.
  enum class Translation : std::uint8_t { kKnown, kWaits, kParked };

  // One line in the tags. False: it must wait, for what access.blocked says.
  [[nodiscard]] bool look_up_next(Cycle now);
  [[nodiscard]] bool look_up(Cycle now, Access& access, const LineAccess& line, const StoredBytes& bytes);
  [[nodiscard]] bool translates() const { return translator_ && translator_->attentive(); }
  /// The usual case, without a call.
  [[nodiscard]] bool needs_no_translation(Address line) {
    return translator_->manages_nothing() && !current_.parking && translator_->knows(line);
  }
  [[nodiscard]] Translation translate(Cycle now, const LineAccess& line);
  [[nodiscard]] ParkedLine parked(const LineAccess& line, bool write) const;
  void serve_translations(Cycle now);
  void receive_remote(Cycle now, std::uint32_t token);
  [[nodiscard]] bool shoot_down(Cycle now);
  [[nodiscard]] bool try_line_again(Cycle now);
  [[nodiscard]] bool load_line(Cycle now, Access& access, const LineAccess& line);
  [[nodiscard]] bool store_line(Cycle now, Access& access, const LineAccess& line, const StoredBytes& bytes);
  [[nodiscard]] bool direct_line(Cycle now, Access& access, const LineAccess& line, const StoredBytes& bytes);
  [[nodiscard]] bool room_for_request(Access& access, bool request) const;
  void take_entry(Access& access);
  void book(const Access& access, bool read, unsigned hits, unsigned misses, unsigned merges,
            bool line_there);
  [[nodiscard]] static icnt::Request request_of(const Access& access, Address line, SectorMask sectors,
                                                std::uint32_t tag, icnt::AccessKind kind);
  void finish_lines(Cycle now);
  void sectors_back(Cycle now, std::uint16_t entry, unsigned sectors);
  void finish_entry(Cycle now, std::uint16_t entry);
  void receive_instructions(const icnt::Reply& reply);
  void receive_constants(Cycle now, const icnt::Reply& reply);

  void emit(MioEvent::Kind kind, std::uint32_t handle) { events_.push_back({kind, handle}); }

  // Configuration.
  Cycle residence_;               // kResidence, or less where a latency is shorter
  Cycle hit_rest_, shared_rest_;  // of the latency, after the queue
  Cycle shuffle_rest_, special_rest_, const_rest_;
  Cycle shuffle_interval_, special_interval_, const_interval_, texture_interval_;
  std::uint16_t texture_extra_;
  std::uint32_t tags_per_cycle_, data_bytes_;
  bool const_cold_miss_, allocate_on_store_, cache_global_;
  std::uint32_t sm_, max_warps_;
  SectorMask instruction_sectors_;
  std::vector<std::uint32_t> carveouts_kib_;

  // State.
  LsuQueue queue_;
  LsuWheel wheel_;
  std::vector<MioEvent> events_;
  Current current_;
  Cycle data_free_ = 0;  // the banks take the next operation from here on
  Cycle tag_cycle_ = 0;  // in this cycle `tags_used_` lines have been looked up
  std::uint32_t tags_used_ = 0;
  LsuUnitTimes unit_free_{};
  bool empties_caches_;  // launch.cache_control = all
  bool const_cold_ = true, const_filling_ = false;
  SectorMask const_missing_ = 0;
  std::uint64_t backpressure_cycles_ = 0;
  L1Cache l1_;
  L1Mshrs mshrs_;
  LsuPending pending_;
  LsuPort port_;
  BulkCopies bulk_;
  SignalWaits signal_waits_;
  bool beside_ = false;  // one of these two has something to do
  std::unique_ptr<Translator> translator_;
  std::vector<std::uint32_t> const_waiting_;  // handles
  std::vector<InstructionFetch> fetches_;
  std::vector<Address> instruction_lines_;
  std::vector<stats::SmCounters> counters_;
  InstructionProfile* profile_ = nullptr;
  Coalescer coalescer_;
  LaneAddresses addresses_;
  WavefrontMemo wavefronts_;
  LineList lines_;
};

}  // namespace lockstep::core
