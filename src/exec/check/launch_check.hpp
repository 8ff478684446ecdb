// The checks of one launch: of the accesses and synchronisations that its warps report. Internal to src/exec.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <tuple>
#include <vector>

#include "exec/address_space.hpp"
#include "exec/check/checker.hpp"
#include "exec/check/race_order.hpp"
#include "exec/lane_op.hpp"

namespace lockstep::exec {

struct Machine;

/// The state of the checks for one CTA.
struct CtaCheck {
  std::uint64_t index = 0;
  std::vector<std::uint64_t> written;  // a bit for each byte of shared memory
  RaceCells cells;                     // of shared memory
  CtaOrder order;
  std::vector<LaneMask> running;  // by warp: the lanes that ran together last
};

enum class AccessKind : std::uint8_t { kRead, kWrite, kAtomic };

/// Where the access of a lane goes.
struct LaneAccess {
  Space space = Space::kGlobal;
  Address address = 0;                // an offset in shared and local memory
  CtaCheck* owner = nullptr;          // of shared memory; nullptr: there is no such CTA
  bool inside = true;                 // of local memory: the lane's own
  const std::byte* memory = nullptr;  // what a write replaces; nullptr: not known
};

/// An access of the lanes of `mask`, each of `bytes` bytes.
struct WarpAccess {
  static constexpr unsigned kMaxBytes = 32;  // of a value

  AccessKind kind = AccessKind::kRead;
  bool strong = false;  // volatile, of the memory model's strong operations, or cached nowhere but in L2
  bool aligned = true;  // to a multiple of its size, or it is misaligned
  bool copies = false;  // copy() says what has been written then
  std::uint32_t warp = 0, operation = 0, bytes = 0;
  LaneMask mask = 0;
  std::array<LaneAccess, kLanes> lanes;
  const std::array<std::byte, kMaxBytes>* values = nullptr;  // by lane, what is written; nullptr: not known
};

class LaunchCheck {
 public:
  LaunchCheck(Checker& checker, const Machine& machine);

  void start(CtaCheck& cta, std::uint64_t index, std::uint32_t warps) const;

  /// Properties of an operation beyond its handler.
  struct Traits {
    bool known = false;
    bool syncs_lanes = false;
    bool fences = false, fences_grid = false;  // fences, acquire and release patterns
    bool strong = false;
  };
  [[nodiscard]] Traits traits(std::uint32_t operation);

  /// Before an operation of a warp: which of its lanes run together.
  void run(CtaCheck& cta, std::uint32_t warp, LaneMask mask, LaneMask live) const;
  void sync_lanes(CtaCheck& cta, std::uint32_t warp, LaneMask mask, LaneMask live) const;
  void fence(CtaCheck& cta, std::uint32_t warp, bool grid);
  /// A barrier of this CTA's cluster is complete.
  void join_cluster(CtaCheck& cta);
  [[nodiscard]] std::uint64_t now() const { return checker_.now_; }

  /// Before the access.
  void access(CtaCheck& cta, const WarpAccess& access);
  /// One side of a copy. `owner`: of shared memory; nullptr for global memory.
  struct End {
    CtaCheck* owner = nullptr;
    Address address = 0;
  };
  /// After access() to both sides: the bytes count as written where those that they come from do.
  void copy(const End& to, const End& from, std::uint64_t bytes);
  /// Bytes that something else writes.
  void write(const End& to, std::uint64_t bytes);

 private:
  /// Kind, which kind of race, operation, earlier operation.
  using Key = std::tuple<FindingKind, unsigned, std::uint32_t, std::uint32_t>;

  [[nodiscard]] bool is_legal(CtaCheck& cta, const WarpAccess& access, std::uint32_t lane);
  void check_written(CtaCheck& cta, const WarpAccess& access, std::uint32_t lane);
  void check_race(CtaCheck& cta, const WarpAccess& access, std::uint32_t lane);
  void check_cell(CtaCheck& cta, const WarpAccess& access, const RaceEvent& event, RaceCell& cell, Address at,
                  unsigned bytes);
  [[nodiscard]] bool changes(const WarpAccess& access, const RaceEvent& event, const RaceEvent& before,
                             Address at, unsigned bytes) const;
  void keep_read(CtaCheck& cta, const RaceEvent& event, RaceCell& cell) const;
  enum class Order : std::uint8_t { kOrdered, kImplicit, kNone };
  [[nodiscard]] Order order_of(CtaCheck& cta, const RaceEvent& before, const RaceEvent& event) const;
  enum class Hazard : std::uint8_t { kReadAfterWrite, kWriteAfterRead, kWriteAfterWrite };
  void check_pair(CtaCheck& cta, const WarpAccess& access, const RaceEvent& before, const RaceEvent& event,
                  Hazard hazard);
  /// Counts it, and where it is the first of its kind and place asks `make` for it.
  void report(const Key& key, const std::function<Finding()>& make);
  [[nodiscard]] Finding finding(FindingKind kind, const CtaCheck& cta, const WarpAccess& access,
                                std::uint32_t lane) const;
  [[nodiscard]] FindingSite site(std::uint64_t cta, std::uint32_t thread, std::uint32_t operation) const;
  /// Whether the event is of this launch: earlier ones have ended, concurrent ones are not compared.
  [[nodiscard]] bool counts(const RaceEvent& event) const {
    return event.exists() && event.launch == launch_;
  }

  Checker& checker_;
  const Machine& machine_;
  const std::uint32_t launch_;
  std::uint64_t shared_bytes_;  // of a CTA, as asked for
  std::vector<Traits> traits_;
  std::map<Key, Findings::Index> found_;
  GridOrder order_;
};

}  // namespace lockstep::exec
