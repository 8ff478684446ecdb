// What all components of a warp work on: the lanes that run, registers, call frames, local memory, and where
// records go. Internal to src/exec.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "exec/cta_state.hpp"
#include "exec/lane_loop.hpp"
#include "exec/lane_memory.hpp"
#include "exec/local_memory.hpp"
#include "exec/machine.hpp"
#include "exec/poll_cycle.hpp"
#include "exec/record.hpp"

namespace lockstep::exec {

/// Lanes that run together, or wait together.
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
  std::uint32_t pc = 0, point = 0, frame = 0;
  LaneMask mask = 0, members = 0;  // members: lanes that a blocked split waits for
  std::uint32_t barrier = 0;
  std::uint32_t counted = 0;  // threads that its arrival at a counted barrier has added
  std::uint32_t poll_pc[2] = {};
  std::uint64_t poll[2] = {};
};

/// The frame of a call (warp_frame.hpp).
struct Frame {
  std::uint32_t function = 0, base = 0;  // base: row of the register file
  std::uint32_t local = 0;               // offset of its local memory
  std::uint32_t return_pc = 0, parent = 0;
  LaneMask lanes = 0;  // 0: not in use
};

/// By lane; those of lanes that take no part mean nothing.
struct Addresses {
  std::uint64_t lane[kLanes];
};

struct WarpState {
  Machine* machine = nullptr;
  CtaState* cta = nullptr;
  WarpRecord* record = nullptr;  // nullptr: it is not recorded
  const Operation* operations = nullptr;
  const OperandRef* operands = nullptr;
  const LaneMemory* lanes = nullptr;
  std::uint32_t index = 0;  // in the CTA
  LaneMask live = 0;        // lanes that have not exited
  Split now;                // the split that runs
  WarpFlags flags;
  PollCycle polls;
  std::vector<LaneValues> file;  // fixed rows, then frames
  std::uint32_t first_row = 0;   // of frames
  LaneValues* bases[4] = {};     // by Home, for the frame of `now`
  std::uint32_t frame_local = 0;
  std::vector<Frame> frames;
  LocalMemory local;

  // Operands.
  [[nodiscard]] LaneValues* at(OperandRef operand) const {
    return bases[static_cast<unsigned>(operand.home())] + operand.index();
  }
  /// The value of an operand that is the same in all lanes.
  [[nodiscard]] std::uint64_t uniform(OperandRef operand, LaneMask active) const {
    return at(operand)->lane[std::countr_zero(active)];
  }
  /// Row `row` of a frame.
  [[nodiscard]] LaneValues& row(const Frame& frame, std::uint32_t row) {
    return file[first_row + frame.base + row];
  }
  /// Lanes that the operation's guard lets pass. Precondition: it has one.
  [[nodiscard]] LaneMask guard(const Operation& op) const {
    const LaneMask mask = lanes->predicate(*at(op.guard));
    return op.guard_negated ? ~mask : mask;
  }
  /// Executes a lane kernel. `present`: lanes whose sources take part.
  void lane(const Operation& op, LaneMask active, LaneMask present) {
    op.fn(lane_args(op, active, present), op.immediate);
  }
  void lane(const Operation& op, LaneMask active) { lane(op, active, active); }
  [[nodiscard]] LaneArgs lane_args(const Operation& op, LaneMask active, LaneMask present) {
    LaneArgs args;
    const OperandRef* operand = operands + op.operands;
    args.dst[1] = nullptr;  // a second result that the instruction does not name
    for (unsigned i = 0; i < op.destinations; ++i, ++operand)
      args.dst[i] = operand->exists() ? at(*operand) : nullptr;
    for (unsigned i = 0; i < op.sources; ++i, ++operand) args.src[i] = at(*operand);
    args.mask = active;
    args.present = present;
    args.flags = &flags;
    return args;
  }

  // Records of the operation that runs. Precondition: the warp is recorded.
  void note(LaneMask active) {
    record->records.push_back(trace::Record::make(now.pc, trace::AddressForm::kNone, active));
  }
  /// With addresses, which the record gets where any lane takes part. `span`: that of accesses of `bytes`
  /// bytes.
  void note(LaneMask active, const Addresses& addresses);
  void note(LaneMask active, const Addresses& addresses, const AddressSpan& span, std::uint32_t bytes);
  void note_line(LaneMask active, Address first, std::uint64_t stride) {
    record->words.push_back(first);
    record->words.push_back(stride);
    record->records.push_back(trace::Record::make(now.pc, trace::AddressForm::kAffine, active));
  }

  /// Throws a DeviceFault at the operation that runs, of the first of `lanes` (0: of those that run).
  [[noreturn]] void fault(FaultKind kind, LaneMask lanes, Address address, const std::string& detail) const;
};

}  // namespace lockstep::exec
