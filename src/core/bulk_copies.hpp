// The SM's unit for bulk copies (the TMA unit): from the runs of a copy to requests for lines.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/lsu_operation.hpp"
#include "core/lsu_port.hpp"
#include "trace/bulk_runs.hpp"

namespace lockstep::core {

/// Copies go in order, line by line (at most 128 bytes), through the SM's port past the L1, after what the
/// load/store unit has for it. A copy is complete when its last sector is back or acknowledged. BypassPath
/// has its lines translated, as those of loads.
class BulkCopies {
 public:
  /// In the tags of its requests, beside the copy's number.
  static constexpr std::uint32_t kTag = 0x40000000u;

  /// `queue`: copies with lines still to be requested, at most.
  explicit BulkCopies(unsigned queue) : queue_(queue) {}

  /// What has happened to a copy.
  struct Done {
    bool sent = false;      // all lines are requested: the source of a store has been read
    bool complete = false;  // and none of them is on its way any more
    bool load = true;
    bool multicast = false;
    std::uint32_t handle = 0;
    L2Hint l2{};
  };

  [[nodiscard]] bool full() const { return queued_ == queue_.size(); }
  [[nodiscard]] bool has_lines() const { return queued_ > 0; }
  [[nodiscard]] bool idle() const { return used_ == 0; }
  [[nodiscard]] unsigned queued() const { return queued_; }

  /// Precondition: not full. `op` has words; false: they name no memory, and the copy is done.
  [[nodiscard]] bool add(const MioOperation& op);
  struct Line {
    icnt::Request request;
    Done done;
  };
  /// The next line to request. Precondition: has_lines().
  [[nodiscard]] Line next(std::vector<stats::SmCounters>& counters);
  /// Some sectors of a request with `tag` are back.
  [[nodiscard]] Done receive(std::uint32_t tag, unsigned sectors);

  template <class A>
  void persist(A& a) {
    a.members(*this, copies_, queue_, head_, queued_, used_, at_);
  }

 private:
  struct Copy {
    std::uint32_t handle = 0;
    std::uint32_t sectors = 0;  // on their way
    std::uint8_t kernel = 0;
    trace::BulkCopy kind = trace::BulkCopy::kNone;  // kNone: the place is free
    bool sending = false;
    bool multicast = false;
    L2Hint l2;
    unsigned runs = 0;
    std::array<trace::BulkRun, trace::kBulkRunsPerRecord> run{};
    template <class A>
    void persist(A& a) {
      a.members(*this, handle, sectors, kernel, kind, sending, multicast, l2, runs, run);
    }
  };
  /// Which bytes the first copy of the queue asks for next.
  struct Position {
    unsigned run = 0;
    std::uint32_t row = 0, byte = 0;
  };
  [[nodiscard]] std::uint32_t free_place();
  [[nodiscard]] icnt::Request next_line(const Copy& copy);
  [[nodiscard]] Done state(std::uint32_t number);

  std::vector<Copy> copies_;
  std::vector<std::uint32_t> queue_;  // a ring
  unsigned head_ = 0, queued_ = 0, used_ = 0;
  Position at_;
};

}  // namespace lockstep::core
