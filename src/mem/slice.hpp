// One L2 slice: ports, tags, lines in flight, data array, atomic unit.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/gpu_config.hpp"
#include "icnt/entry_log.hpp"
#include "icnt/fabric.hpp"
#include "mem/address_map.hpp"
#include "mem/controller.hpp"
#include "mem/line_locks.hpp"
#include "mem/mshr_file.hpp"
#include "mem/parked_polls.hpp"
#include "mem/signal_counts.hpp"
#include "mem/tag_array.hpp"
#include "mem/touch.hpp"
#include "stats/counters.hpp"
#include "util/bits.hpp"
#include "util/ring.hpp"
#include "util/types.hpp"

namespace lockstep::mem {

/// What the counters of all kernel slots are booked to.
struct CounterTable {
  std::vector<stats::PartitionCounters> mem;
  std::vector<stats::IcntCounters> icnt;
  template <class A>
  void persist(A& a) {
    a.members(*this, mem, icnt);
  }
};

/// What a request costs at a port of `bytes`.
[[nodiscard]] inline std::uint32_t request_flits(const icnt::Request& r, std::uint32_t bytes) {
  return icnt::Fabric::flits(icnt::carries_data(r.kind) ? bit_count(r.sectors) : 0, bytes);
}

/// Sectored (4 x 32 bytes), write-back, no fetch on write: a store's bytes are marked dirty, and a read of a
/// sector that is not wholly there fetches it from DRAM and merges. One request is looked up a cycle, in the
/// order of the ejection port; one that lacks a resource (line in flight, place, room in the DRAM's write
/// queue) holds up those behind it, while hits proceed under misses.
///
/// At most l2.dirty_ways lines of a set are dirty: before a write or atomic makes one more line dirty, the
/// least recently used of them is written to DRAM. It stays in the slice; its sectors whose bytes are all
/// known stay readable. Source: v100_kernels.csv, srad (see configs/v100.ini). An atomic whose line comes
/// from DRAM when the write queue is full may go beyond the limit, until the set's next write. Lines that
/// leave last are not counted: the CUDA C++ Best Practices Guide ("L2 Cache Access Window") writes to 20 of
/// an A100's 40 MB in a set-aside of 30, and is up to 50 % faster than without.
///
/// What the copy engine writes goes to DRAM at once and stays readable here: its lines are clean. A NIC may
/// leave less (icnt::CopyInL2). Source: kernels that stream more than the L2 behind a copy of it
/// (docs/design.md, memory).
///
/// With two L2 halves a slice is also near slice for lines whose home is the slice of the same position in
/// the other half: it keeps copies of what it has read, asks the home for the rest, passes the data on as
/// they come, and passes writes and atomics on. The home remembers which lines it has sent away and, when
/// such a line is written, has the other half drop its copy; the writer's acknowledgement does not wait
/// for that. GPUs are known to keep the halves coherent in hardware (A100 whitepaper); how is not
/// published. What the other half asks for comes through a port and a register of its own, may use resources
/// that requests to the other half never exhaust, and so never waits for them.
///
/// A line that a store or a command processor has locked keeps its place, and with an update under way it is
/// its core's alone: LineLocks. A request that must wait leaves its port, and goes before those there as
/// soon as it may.
///
/// All times are edges of the L2 clock.
class Slice {
 public:
  Slice(const config::GpuConfig& config, icnt::Fabric& fabric, const AddressMap& map, Controller& controller,
        CounterTable& counters, std::uint32_t slice);

  /// Start of a window, whose first edge is `first`.
  void gather(Cycle first);

  /// Data from DRAM, at edge `now`, before tick(now).
  void fill(Cycle now, std::uint16_t mshr, SectorMask sectors);
  /// A write has left a DRAM queue: a request that waits for that may go on at edge `at`.
  void write_room(Cycle at);

  void tick(Cycle now);
  /// Edge of the next tick() that does something without further mail or data.
  [[nodiscard]] Cycle next_event() const { return next_; }

  [[nodiscard]] bool quiescent() const;
  /// Between windows: forgets all lines that are not in flight.
  void empty() { tags_.clear(); }
  [[nodiscard]] const LineLockCounters& locks() const { return locks_.counters(); }
  [[nodiscard]] const std::vector<LockChange>& lock_changes() const { return locks_.changes(); }
  /// LineLocks::oldest(), an L2 edge.
  [[nodiscard]] Cycle oldest_lock() const { return locks_.oldest(); }
  /// When status words of queues' entries have been written by kernels.
  [[nodiscard]] const std::vector<icnt::EntryTime>& visible_entries() const { return visible_; }
  /// Between windows: what it holds is as after this access; nothing is counted and no time passes. A line
  /// whose home is the other half's becomes a copy; one of the home's own half makes a copy invalid, one
  /// of the other half goes through it. Device::touch_l2() says which slices see an access.
  void touch(const Touch& t);
  void dump(std::string& out) const;
  /// The part of dump() about locked lines.
  void dump_locks(std::string& out) const;

  template <class A>
  void persist(A& a) {
    a.members(*this, a.given(map_), a.given(controller_), a.given(counters_), a.given(slice_),
              a.given(index_), a.given(twin_), a.given(latency_), a.given(bytes_per_cycle_),
              a.given(atomic_interval_), a.given(in_bytes_), a.given(out_bytes_), a.given(pipe_capacity_),
              a.given(far_ways_), a.given(far_mshrs_), a.given(dirty_ways_), a.given(code_resident_), in_,
              out_, far_, latches_, turn_, tags_, signals_, visible_, parked_, mshrs_, locks_, held_,
              far_in_flight_, pipe_, atomic_pipe_, passing_, waiting_kernels_, data_free_, atomic_free_,
              next_);
  }

 private:
  enum class Stall : std::uint8_t { kNone, kPipe, kFill, kWrite, kFarPort };
  enum Origin : std::uint8_t { kNear, kFar };  // which port a request came through
  struct Latch {
    icnt::Request request;
    bool full = false;
    Stall stall = Stall::kNone;  // what it lacked at the last try
  };
  struct Outgoing {   // a reply, and the sectors that move through the data array for it
    Cycle ready = 0;  // its first sector is read
    icnt::Reply reply;
    std::uint16_t to = 0;
    Origin origin = kNear;
  };
  struct Forwarded {  // a write or atomic that the other half works on
    icnt::Request request;
  };
  /// Everything that connects the two halves.
  struct FarPorts {
    FarPorts(icnt::Fabric& fabric, std::uint32_t slice);
    icnt::InjectionPort<icnt::Request> out;
    icnt::InjectionPort<icnt::Reply> reply_out;
    icnt::EjectionPort<icnt::Request> in;
    icnt::EjectionPort<icnt::Reply> reply_in;
    std::vector<Forwarded> forwarded;
    std::vector<std::uint32_t> free;
    template <class A>
    void persist(A& a) {
      a.members(*this, out, reply_out, in, reply_in, forwarded, free);
    }
  };

  // The stages of tick().
  void accept_requests(Cycle now);
  void look_up(Cycle now);
  void move_data(Cycle now);
  void send_replies(Cycle now);

  [[nodiscard]] bool serve(Latch& latch, Origin origin, Cycle now);
  [[nodiscard]] bool serve_any(Latch& latch, Origin origin, Cycle now);

  // Locked lines (slice_locks.cpp).
  [[nodiscard]] bool locks_matter(const icnt::Request& r) const {
    return r.lock != icnt::LineLock::kNone || locks_.any() || !held_.empty();
  }
  [[nodiscard]] bool blocks(const icnt::Request& r) const {
    return locks_.blocks(r, map_->locking().exclusive);
  }
  [[nodiscard]] bool serve_locking(Latch& latch, Origin origin, Cycle now);
  [[nodiscard]] bool serve_and_lock(Latch& latch, Origin origin, Cycle now);
  [[nodiscard]] bool serve_held(Cycle now);
  [[nodiscard]] bool any_held_may_go() const;

  // Kernels that wait for each other (slice_signals.cpp).
  [[nodiscard]] bool serve_parked(Cycle now);
  [[nodiscard]] bool serve_poll(Latch& latch, Origin origin, Cycle now);
  void count_elided(const icnt::Request& poll, bool far, std::uint64_t polls);
  void keep_awaited_lines(std::uint32_t set);
  void dump_parked(std::string& out) const;
  [[nodiscard]] bool serve_special(Latch& latch, Origin origin, Cycle now);
  [[nodiscard]] bool serve_signal(Latch& latch, Origin origin, Cycle now);
  [[nodiscard]] bool serve_read(Latch& latch, Origin origin, bool far, Cycle now);
  [[nodiscard]] bool await(Latch& latch, Origin origin, bool far, std::optional<LineIndex>& index,
                           std::uint32_t set, SectorMask merged, SectorMask missed, Cycle now);
  [[nodiscard]] bool serve_discard(const icnt::Request& r, Origin origin, Cycle now);
  void drop(LineIndex index, std::uint8_t kernel, Cycle now);
  [[nodiscard]] bool serve_store(Latch& latch, Origin origin, Cycle now);
  [[nodiscard]] bool serve_copy(Latch& latch, Origin origin, Cycle now);
  [[nodiscard]] SectorMask take_copy(const icnt::Request& r, LineIndex index);
  [[nodiscard]] std::optional<LineIndex> place_line(Latch& latch, std::uint32_t set, bool far, Cycle now);
  [[nodiscard]] bool write_back(LineIndex index, std::uint8_t kernel, Cycle now);
  [[nodiscard]] bool write_back_excess(std::uint32_t set, std::uint8_t kernel, Cycle now);
  [[nodiscard]] bool make_room_to_dirty(Latch& latch, std::optional<LineIndex> index, std::uint32_t set,
                                        Cycle now);
  [[nodiscard]] std::optional<LineIndex> touched_place(const Touch& t, std::uint32_t set, bool far);
  void fetch(const icnt::Request& r, LineIndex index, SectorMask missed, Cycle now);
  void operate(const icnt::Request& r, LineIndex index, Origin origin, Cycle now);
  void reply(const icnt::Request& r, SectorMask sectors, Origin origin, Cycle now);
  void pass_on(const icnt::Request& r, SectorMask sectors, Origin origin, Cycle now);

  // Two halves (slice_far.cpp).
  [[nodiscard]] bool forward(Latch& latch, Cycle now);
  void accept_far_replies(Cycle now);
  void drop_copies(Line& line, SectorMask sectors, std::uint8_t kernel, Cycle now);

  [[nodiscard]] Cycle find_next(Cycle now) const;
  [[nodiscard]] Cycle next_of(const Latch& latch, const icnt::EjectionPort<icnt::Request>& port,
                              Cycle now) const;
  [[nodiscard]] bool pipe_full() const {
    return pipe_.size() + atomic_pipe_.size() + passing_.size() >= pipe_capacity_;
  }
  [[nodiscard]] const Ring<Outgoing>& first_out() const;
  [[nodiscard]] bool can_leave(const Outgoing& item) const;
  [[nodiscard]] bool is_far(Address line) const { return far_ && map_->home_slice(line) != slice_; }
  void push_reply(const Outgoing& item, Cycle now);

  // Specification.
  const AddressMap* map_;
  Controller* controller_;
  CounterTable* counters_;
  std::uint32_t slice_, index_;  // in the GPU, in the partition
  std::uint32_t twin_;           // the slice of the same position in the other half
  std::uint32_t latency_, bytes_per_cycle_, atomic_interval_, in_bytes_, out_bytes_;
  std::uint32_t pipe_capacity_, far_ways_, far_mshrs_;
  std::uint32_t dirty_ways_;  // 0: no limit
  bool code_resident_;

  // State.
  icnt::EjectionPort<icnt::Request> in_;
  icnt::InjectionPort<icnt::Reply> out_;
  std::optional<FarPorts> far_;
  std::array<Latch, 2> latches_;  // by origin
  std::uint8_t turn_ = kNear;     // origin that is looked up first
  TagArray tags_;
  SignalCounts signals_;
  std::vector<icnt::EntryTime> visible_;
  ParkedPolls parked_;
  MshrFile mshrs_;
  LineLocks locks_;
  struct Held {
    Latch latch;
    Origin origin = kNear;
  };
  std::vector<Held> held_;              // until their lines are unlocked, by their arrival
  std::uint32_t far_in_flight_ = 0;     // lines being fetched from the other half
  Ring<Outgoing> pipe_, atomic_pipe_;   // by ascending readiness
  Ring<Outgoing> passing_;              // likewise: data of the other half on its way through
  Ring<std::uint8_t> waiting_kernels_;  // of the replies in out_
  Cycle data_free_ = 0, atomic_free_ = 0;
  Cycle next_ = 0;
};

}  // namespace lockstep::mem
