// A warp: registers, divided paths of its lanes, and the execution of their operations. Internal to src/exec.
//
// Divergence. The lanes that run together are a *split*: one operation index, a mask, a call frame. A branch
// that divides a split opens a *meeting* at the immediate post-dominator: splits that get there wait until
// all lanes that are expected have come or exited, then go on as one. Splits form a stack: the fall-through
// path runs first.
//
// Progress (independent thread scheduling). A split that reads the same value from the same place kSpinLimit
// times is *spinning*: others of its warp run, then other warps, then other CTAs. When that does not help,
// lanes that wait at a meeting go on without the spinning ones (Warp::release_meetings); also where otherwise
// every thread would wait at a barrier or for lanes of its warp, as for `if (thread == 0) { ...; bar.sync; }`
// or a shuffle there: in machine code the other lanes exit. All of this counts operations, never time, so
// results are the same in every run.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "exec/lane_memory.hpp"
#include "exec/machine.hpp"
#include "exec/poll_cycle.hpp"
#include "trace/bulk_runs.hpp"

namespace lockstep::exec {

class Cta;
enum class AccessKind : std::uint8_t;
struct LaneAccess;
struct WarpAccess;
struct SharedMatrix;
struct Mbarrier;

inline constexpr LaneMask kAllLanes = ~LaneMask{0};
inline constexpr unsigned kSpinLimit = 16;      // equal polls until a split counts as spinning
inline constexpr unsigned kSpinsLeft = 12;      // what it starts with when it runs again
inline constexpr std::int64_t kTurn = 1 << 18;  // operations a warp runs at most before others do

enum class Turn : std::uint8_t { kDone, kBlocked, kSpinning, kTired };

struct Split {
  enum class State : std::uint8_t {
    kReady,
    kAtBarrier,
    kAtWarpBarrier,
    kAtSync,
    kAtCluster,
    kAtWarpgroup  // until its warps have committed `barrier` groups of products
  } state = State::kReady;
  bool spun = false;         // since anything else in the warp went on
  bool locks = false;        // what it spins on is an atomic
  bool owes_record = false;  // waits at a barrier that the warp's record does not wait for yet
  std::uint8_t spins = 0;
  std::uint8_t suspended = 0;  // turns that its try_wait has been for
  std::uint32_t pc = 0, meeting = 0, frame = 0;
  LaneMask mask = 0, members = 0;  // members: lanes that a blocked split waits for
  std::uint32_t barrier = 0;
  std::uint32_t poll_pc[2] = {};
  std::uint64_t poll[2] = {};
};

struct Meeting {
  std::uint32_t at = kNowhere;  // operation, or kAtReturn
  std::uint32_t frame = 0, parent = 0;
  LaneMask expected = 0, arrived = 0;  // expected 0: not in use
};

/// Bytes that each lane's alloca has taken.
struct LaneTops {
  std::uint32_t lane[kLanes];
};

struct Frame {
  std::uint32_t function = 0, base = 0;  // base: row of the register file
  std::uint32_t local = 0;               // offset of its local memory
  std::uint32_t return_pc = 0, parent = 0;
  LaneMask lanes = 0;  // 0: not in use
};

struct Addresses {
  std::uint64_t lane[kLanes];
};

/// An access, for those that follow it in its block through the same base (MemoryForm::known).
struct KnownAccess {
  LaneMask mask = 0;  // its lanes; 0: nothing is known
  std::uint32_t bytes = 0;
  std::int64_t offset = 0;  // MemoryForm's
  AddressSpan span;
  Addresses addresses;
  trace::AddressForm form = trace::AddressForm::kNone;  // of its record
  std::size_t word = 0;
};

/// Special registers that have a value of its own for each lane.
[[nodiscard]] bool differs_by_lane(ptx::Special special);

/// What an access does, for launches whose CTAs run at once.
enum class Use : std::uint8_t { kRead, kWrite, kReduce };  // kReduce: noted by who makes it

struct TensorPlace;  // warp_tensor.cpp

class Warp {
 public:
  void start(Machine& machine, Cta& cta, std::uint32_t index, WarpRecord* record);
  /// Runs until every lane has exited, is blocked or spins, or for kTurn operations.
  Turn run();

  [[nodiscard]] bool done() const { return live_ == 0; }
  [[nodiscard]] LaneMask live() const { return live_; }
  /// What the lanes do for which others wait at a meeting.
  enum class Hold : std::uint8_t {
    kLock,  // they try to take a lock
    kSpin,
    kBarrier  // of the warp or the CTA
  };
  /// Lets lanes that wait at a meeting for such ones go on.
  bool release_meetings(Hold hold);
  /// A barrier of the CTA is complete: its splits go on. `reduced`: what bar.red of each kind gives.
  struct Reduced {
    std::uint64_t all, any, count;
  };
  void release_barrier(std::uint32_t barrier, const Reduced& reduced);
  /// Have all lanes that are left arrived at the cluster's barrier?
  [[nodiscard]] bool arrived_at_cluster() const { return (live_ & ~cluster_arrived_) == 0; }
  void release_cluster();
  /// Groups of products that it has committed.
  [[nodiscard]] std::uint32_t committed() const { return committed_; }
  /// All warps of its warpgroup have committed so many.
  void release_warpgroup(std::uint32_t groups);
  /// Where a blocked or spinning lane stands, for messages.
  struct Standing {
    std::uint32_t pc, lane;
  };
  [[nodiscard]] Standing standing() const;
  void add_to(Fingerprint& print) const;

 private:
  enum class Stop : std::uint8_t { kGone, kBlocked, kSpun, kTired, kWaits };  // kWaits: all of the warp
  struct Pointers {
    std::byte* lane[kLanes];
  };

  // warp.cpp: the loop
  bool pick();
  /// `kChecked`: each operation is told to the launch's checks first.
  template <bool kChecked>
  Stop run_split();
  [[nodiscard]] Stop spun() const;
  void step_async(const Operation& op, LaneMask active);
  Stop step_control(const Operation& op, LaneMask active, bool& stop);
  Stop step_groups(const Operation& op, LaneMask active, bool& stop);
  void lane(const Operation& op, LaneMask active) { lane(op, active, active); }
  void lane(const Operation& op, LaneMask active, LaneMask present) {
    op.fn(lane_args(op, active, present), op.immediate);
  }
  [[nodiscard]] LaneArgs lane_args(const Operation& op, LaneMask active, LaneMask present);
  [[nodiscard]] LaneMask guard(const Operation& op) const;
  [[nodiscard]] LaneSlots* at(Slot slot) const {
    return bases_[static_cast<unsigned>(slot.home())] + slot.index();
  }
  [[nodiscard]] std::uint64_t uniform(Slot slot, LaneMask active) const;
  void fill_fixed();
  [[nodiscard]] std::uint64_t fixed_value(const FixedSlot& fixed, std::uint32_t lane) const;
  void refresh_clocks();
  void fill_thread_ids(std::uint32_t index, LaneSlots& out) const;
  void note(LaneMask active);
  void note_slow_path(const Operation& op, LaneMask active);
  void note(LaneMask active, const Addresses& addresses);
  void note(LaneMask active, const Addresses& addresses, const AddressSpan& span, std::uint32_t bytes);
  void note_line(LaneMask active, Address first, std::uint64_t stride) {
    record_->words.push_back(first);
    record_->words.push_back(stride);
    record_->records.push_back(trace::Record::make(now_.pc, trace::AddressForm::kAffine, active));
  }
  void note_poll(LaneMask active, const Addresses& addresses, const LaneSlots& value, bool lock);
  [[noreturn]] void fault(FaultKind kind, LaneMask lanes, Address address, const std::string& detail) const;

  // warp_split.cpp: divergence
  void enter_frame();
  void split_off(LaneMask lanes, std::uint32_t pc);
  void open_meeting(std::uint32_t at);
  void branch(const Operation& op, LaneMask taken);
  void branch_table(const Operation& op, LaneMask active);
  bool arrive();
  void go_on(std::uint32_t meeting, LaneMask lanes, Split& split);
  void kill(LaneMask lanes);
  void settle_meetings();
  bool block(Split::State state, LaneMask lanes, LaneMask members, std::uint32_t barrier);

  // warp_call.cpp
  bool call(const Operation& op, LaneMask active);
  void call_function(const CallSite& site, std::uint32_t function, LaneMask lanes, Split& split);
  void call_runtime(const CallSite& site, LaneMask lanes);
  bool ret(LaneMask active);
  void leave_frame(Split& split);
  void clear_frame(const Frame& frame, LaneMask lanes);
  std::uint32_t new_frame(const Frame& frame);
  void reserve_local(std::uint32_t bytes);
  void move_in(const CallValue& value, const ParameterPlace& place, const Frame& caller, const Frame& callee,
               LaneMask lanes);
  void move_out(const CallValue& value, const ParameterPlace& place, const Frame& caller, const Frame& callee,
                LaneMask lanes);
  [[nodiscard]] LaneSlots& row(const Frame& frame, std::uint32_t slot) {
    return file_[first_row_ + frame.base + slot];
  }
  [[nodiscard]] std::byte* local(std::uint32_t lane, std::uint64_t offset) {
    return local_.data() + std::size_t{lane} * local_stride_ + offset;
  }
  [[nodiscard]] std::uint64_t argument(const CallValue& value, std::uint32_t lane);
  void give(const CallValue& value, std::uint32_t lane, std::uint64_t bits);
  [[nodiscard]] std::string text_at(std::uint32_t lane, Address address);
  std::uint64_t print(const CallSite& site, std::uint32_t lane);
  [[noreturn]] void assertion(const CallSite& site, LaneMask lanes);

  // warp_children.cpp: dynamic parallelism
  [[nodiscard]] std::uint64_t device_runtime(const CallSite& site, std::uint32_t lane);
  [[nodiscard]] Dim3 dim3_argument(const CallValue& value, std::uint32_t lane);
  [[nodiscard]] Address parameter_buffer(const CallSite& site, std::uint32_t lane);
  std::uint32_t launch_child(const CallSite& site, std::uint32_t lane);
  std::uint32_t child_copy(const CallSite& site, std::uint32_t lane, bool fill);
  void add_child(ChildLaunch child);
  std::uint32_t note_error(std::uint32_t lane, std::uint32_t error);
  [[nodiscard]] std::uint32_t last_error(std::uint32_t lane, bool take);
  [[nodiscard]] Address device_text(const char* text);
  void put_result(std::uint32_t lane, Address to, std::uint64_t value, std::uint32_t bytes);

  // warp_stack.cpp: local memory of alloca
  void stack(const Operation& op, LaneMask active);
  [[nodiscard]] std::byte* stack_memory(std::uint32_t lane, Address offset, std::uint32_t bytes);
  void widen_stack(std::uint32_t highest);
  void keep_stack(std::uint32_t frame);
  void drop_stack(const Split& split);

  // warp_memory.cpp
  [[nodiscard]] std::pair<std::uint64_t, std::uint64_t> reach_offset(const MemoryForm& form) const;
  void addresses(const MemoryForm& form, LaneMask active, Addresses& out) const;
  AddressSpan addresses(const MemoryForm& form, LaneMask active, std::uint32_t bytes, Addresses& out) const;
  [[nodiscard]] bool locate(const MemoryForm& form, LaneMask active, std::uint32_t bytes, KnownAccess& out);
  std::byte* direct(const MemoryForm& form, LaneMask active, std::uint32_t bytes, const Addresses& addresses,
                    const AddressSpan& span, Use use);
  bool resolve(const MemoryForm& form, LaneMask active, std::uint32_t bytes, const Addresses& addresses,
               Use use, Pointers& out);
  bool resolve(const MemoryForm& form, LaneMask active, std::uint32_t bytes, const Addresses& addresses,
               const AddressSpan& span, Use use, Pointers& out);
  void note_range(Address first, std::uint64_t bytes, Use use);
  void note_global(const AddressSpan& span, LaneMask active, std::uint32_t bytes, const Addresses& addresses,
                   Use use);
  void load_parameter(const Operation& op, const MemoryForm& form, LaneMask active);
  [[nodiscard]] std::byte* resolve_one(Reach reach, std::uint32_t lane, std::uint32_t bytes, Address address);
  void load(const Operation& op, LaneMask active);
  void load_anywhere(const Operation& op, const MemoryForm& form, LaneMask active);
  void load_near(const Operation& op, const MemoryForm& form, LaneMask active, bool neighbours,
                 const std::byte* from);
  void load_far(const Operation& op, const MemoryForm& form, LaneMask active, const Pointers& from);
  void store(const Operation& op, LaneMask active);

  // warp_wait.cpp: kernels that wait for each other
  void signalled_words(LaneMask active, const Addresses& addresses, std::uint32_t bytes);
  void before_signal(LaneMask active, const Addresses& addresses, std::uint32_t bytes);
  void before_multicast_signal(LaneMask active, const Addresses& addresses, std::uint32_t bytes);
  void after_signal();
  [[nodiscard]] LaneMask leaving(const SpinLoop& loop, LaneMask lanes);
  [[nodiscard]] bool try_out(const Operation& op, LaneMask active);
  [[nodiscard]] bool names_all(const Operation& op, LaneMask active) const;
  [[nodiscard]] bool glance(const Operation& op, LaneMask active);
  [[nodiscard]] bool loads_more(const SpinLoop& loop) const;
  void note_round(const SpinLoop& loop, const Operation& last, LaneMask active);
  [[nodiscard]] LaneMask load_before(const Operation& op, LaneMask lanes, const Addresses& addresses,
                                     std::size_t back);
  [[nodiscard]] bool look(const Operation& op, const MemoryForm& form, LaneMask active,
                          const Addresses& addresses);
  void note_wait(const SpinLoop& loop, const Operation& op, LaneMask left, const Addresses& addresses);
  void note_awaited(LaneMask waited, const Addresses& addresses, const std::uint32_t needed[kLanes]);

  // warp_atomic.cpp
  void atomic(const Operation& op, LaneMask active);
  void atomic_wide(const Operation& op, LaneMask active, const Pointers& where);

  // warp_multimem.cpp
  void multimem(const Operation& op, LaneMask active);
  [[nodiscard]] MulticastWindows::Places multimem_places(std::uint32_t lane, std::uint32_t bytes,
                                                         Address address) const;
  void load_reduce(const Operation& op, std::uint32_t lane, const MulticastWindows::Places& places);
  void store_to_all(const Operation& op, std::uint32_t lane, const MulticastWindows::Places& places);
  void check_multimem(const Operation& op, LaneMask active);

  // warp_check.cpp: of launches that are checked
  void check(const Operation& op, LaneMask active);
  void check_sync(const Operation& op, LaneMask active);
  void place_access(Reach reach, const Addresses& addresses, WarpAccess& access);
  void check_lanes(Reach reach, const Addresses& addresses, WarpAccess& access);
  void check_access(const MemoryForm& form, LaneMask active, AccessKind kind);
  void check_store(const Operation& op, LaneMask active);
  void check_copy(std::uint32_t lane, Reach to_reach, Address to, Reach from_reach, Address from,
                  std::uint32_t bytes, std::uint32_t reads, bool reduces);
  void check_copy_async(const Operation& op, LaneMask active);
  void check_copy_bulk(const Operation& op, LaneMask active);
  void check_tensor_unit(const TensorForm& form, std::uint32_t lane, Address unit, std::uint32_t skip,
                         Address element, std::uint32_t bytes);
  void check_tensor_map(const Operation& op, LaneMask active);
  void check_mbarrier(const Operation& op, LaneMask active);
  void check_signal(const LaneAccess& lane);
  void check_signal(Reach reach, std::uint32_t lane, Address where);
  void check_wait(Reach reach, LaneMask complete, const Addresses& where);
  void check_matrix_rows(const Operation& op, LaneMask active);
  void check_matrix_lines(const MatrixForm& form, Reach reach, const std::vector<Address>& lines);

  // watch.cpp
  [[nodiscard]] std::uint64_t print_now() const;
  void watch_reads(const MemoryForm& form, LaneMask active, const Addresses& addresses);
  void watch_store(const Operation& op, const MemoryForm& form, LaneMask active, const Pointers& to);

  // warp_known.cpp: accesses through a base that the warp has looked at
  [[nodiscard]] std::byte* known_place(const MemoryForm& form, LaneMask active, Use use);
  [[nodiscard]] bool note_known_global(const KnownAccess& known, const MemoryForm& form, Address first,
                                       Use use);
  void note_shifted(const KnownAccess& known, std::uint64_t shift);
  void load_known(const Operation& op, const MemoryForm& form, LaneMask active, const std::byte* first);
  void store_known(const Operation& op, const MemoryForm& form, LaneMask active, std::byte* first);

  // warp_async.cpp
  void copy_async(const Operation& op, LaneMask active);
  void copy_bulk(const Operation& op, LaneMask active);
  void copy_lines(const CopyForm& form, std::uint32_t lane, Address to, Address from, std::uint64_t bytes);
  /// Where a lane's bulk copy goes: deliver(place in shared memory, mbarrier), for each CTA of a multicast's
  /// mask.
  template <class F>
  void each_target(Slot multicast, std::uint32_t lane, Address shared, Address mbarrier, F&& deliver) const {
    constexpr Address kOffset = (Address{1} << kSharedRankShift) - 1;
    if (!multicast.exists()) return deliver(shared, mbarrier);
    for (std::uint64_t ranks = at(multicast)->lane[lane] & 0xffff; ranks != 0; ranks &= ranks - 1) {
      const Address base = (Address{static_cast<unsigned>(std::countr_zero(ranks))} + 1) << kSharedRankShift;
      deliver(base | (shared & kOffset), base | (mbarrier & kOffset));
    }
  }
  void mbarrier(const Operation& op, LaneMask active);
  template <class Change>
  std::uint64_t change_mbarrier(std::byte* where, Change&& change);
  void note_events(LaneMask active, std::uint32_t mbarrier, std::uint32_t events);
  void note_bulk(std::uint32_t mbarrier);
  static void step_mbarrier(const MbarrierForm& form, Mbarrier& barrier, std::uint64_t value);
  void matrix_move(const Operation& op, LaneMask active);
  void wmma_move(const Operation& op, LaneMask active);
  struct WmmaPlace;
  [[nodiscard]] bool wmma_lines(const WmmaPlace& place, Reach reach, Pointers& lines);
  void wmma_by_lines(const Operation& op, const WmmaPlace& place, const Pointers& lines);
  void wmma_one_by_one(const Operation& op, const WmmaPlace& place, Reach reach);

  // warp_tensor.cpp
  void tensor_copy(const Operation& op, LaneMask active);
  [[nodiscard]] TensorMap tensor_map(const TensorForm& form, std::uint32_t lane, Address at);
  void tensor_unit(const TensorForm& form, const TensorMap& map, std::byte* unit, Address row_address,
                   std::int64_t x, bool row_inside, AtomicFn fn);
  std::uint32_t copy_tile(const TensorForm& form, const TensorMap& map, std::uint32_t lane, Address shared,
                          const TensorPlace& place);
  void note_row(const TensorMap& map, Address row_address, std::int64_t first);
  void tell_mbarriers(std::uint32_t mbarrier, LaneMask active, std::uint32_t bytes);
  void complete_bytes(std::uint32_t mbarrier, std::uint32_t lane, Address where, std::uint32_t bytes,
                      std::uint32_t* heard = nullptr);
  void change_tensor_map(const Operation& op, LaneMask active);

  // warp_warpgroup.cpp
  void warpgroup(const Operation& op, LaneMask active);
  void warpgroup_commit(LaneMask active);
  bool warpgroup_wait(const Operation& op, LaneMask active);
  template <class Put>
  void read_matrix(const SharedMatrix& matrix, ptx::Type type, unsigned first, unsigned lines, unsigned along,
                   Put put);
  void read_warpgroup_a(const WarpgroupForm& form, const Slot* slots, WarpgroupOperands& operands);
  void read_warpgroup_b(const WarpgroupForm& form, WarpgroupOperands& operands);

  // warp_texture.cpp
  void texture(const Operation& op, LaneMask active);
  void fetch_texels(const TextureForm& form, const Operation& op, LaneMask active);
  [[nodiscard]] Fetch fetch_of(const TextureForm& form, const Slot* sources, std::uint32_t lane,
                               const Texture& texture) const;
  void access_surface(const TextureForm& form, const Operation& op, LaneMask active);
  [[nodiscard]] Address surface_address(const TextureForm& form, const Slot* sources, std::uint32_t lane);
  void query_image(const TextureForm& form, const Operation& op, LaneMask active);

  // warp_sync.cpp
  bool lane_sync(const Operation& op, LaneMask active);
  LaneMask sync_groups(const Operation& op, LaneMask present);
  bool warp_barrier(const Operation& op, LaneMask active);
  void settle_sync();
  bool barrier(const Operation& op, LaneMask active);
  void note_arrival();
  void note_barrier(std::uint32_t which);
  void cluster_arrive(LaneMask active);
  bool cluster_wait(LaneMask active);

  Machine* machine_ = nullptr;
  Cta* cta_ = nullptr;
  WarpRecord* record_ = nullptr;
  bool suspends_ = false;           // the try_wait at hand has others run, and comes again
  trace::BulkRuns runs_;            // of the bulk copy at hand, where it is recorded
  std::vector<Address> signalled_;  // words of the write at hand
  const Operation* operations_ = nullptr;
  const Slot* slots_ = nullptr;
  const LaneMemory* lanes_ = nullptr;
  std::uint32_t index_ = 0;
  LaneMask live_ = 0;
  std::uint32_t committed_ = 0;   // groups of wgmma
  LaneMask cluster_arrived_ = 0;  // at the cluster's barrier, in the phase that is not complete
  WarpFlags flags_;
  PollCycle polls_;
  std::vector<LaneSlots> file_;  // fixed slots, then frames
  std::uint32_t first_row_ = 0;
  std::vector<std::byte> local_;
  std::uint32_t local_stride_ = 0;
  std::vector<std::byte> stack_;  // what alloca gave, lane by lane
  std::uint32_t stack_stride_ = 0;
  LaneTops stack_tops_{};
  std::vector<LaneTops> stack_kept_;  // by frame: where its lanes' stacks were at its call
  LaneSlots* bases_[4] = {};          // by Home
  Split now_;                         // the split that runs
  std::uint32_t meet_ = kNowhere;     // where now_ must stop: its meeting's operation, in its frame
  std::array<KnownAccess, kBasePlaces + 1> known_;  // by MemoryForm::place; of this run_split()
  std::uint32_t frame_local_ = 0;
  std::vector<Split> splits_;  // the others, the next to run last
  std::vector<Meeting> meetings_;
  std::vector<Frame> frames_;
  std::int64_t budget_ = 0;
  mutable std::optional<std::uint64_t> print_;  // of its state, where that is as at the last add_to()
  std::uint64_t clock_reads_ = 0;
};

}  // namespace lockstep::exec
