// What each instruction of a kernel does on an SM, and each sub-core: `--profile`. An SM without it has none
// of its costs but the tests for it.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/kernel_slot.hpp"
#include "core/warp.hpp"
#include "stats/profile.hpp"

namespace lockstep::core {

/// One for each SM. Rows are kept by kernel slot and index in the kernel's static table. `w` is a warp slot.
class InstructionProfile {
 public:
  /// Both must outlive it: the kernels, and the SM's operations in the memory pipeline by handle.
  InstructionProfile(const KernelTable& kernels, const std::vector<InFlight>& in_flight, unsigned subcores)
      : kernels_(&kernels),
        in_flight_(&in_flight),
        subcore_count_(subcores),
        rows_(kernels.size()),
        subcores_(kernels.size()) {}

  /// Cycles of a sub-core that are blamed on `warp`: they belong to its next instruction, to the last one of
  /// a warp at its end.
  void add_stall(const Warp& warp, unsigned w, stats::Stall why, Cycle cycles) {
    const trace::Record* at = warp.next == warp.end ? warp.end - 1 : warp.next;
    row(warp.kernel, at->inst()).stalls[static_cast<unsigned>(why)] += cycles;
    subcores_[warp.kernel][w / kWarpsOfSubcore][static_cast<unsigned>(why)] += cycles;
  }
  /// The warp has issued [first, next); each is reported once.
  void add_issued(const Warp& warp, unsigned w, const trace::Record* first);
  /// A line that the operation `handle` has looked up in the L1: its sectors, and those that went to the L2.
  void add_line(std::uint32_t handle, std::uint8_t kernel, unsigned sectors, unsigned sent) {
    stats::InstructionCounters& counters = of_operation(handle, kernel);
    counters.l1_sectors += sectors;
    counters.l2_sectors += sent;
  }
  void add_wavefronts(std::uint32_t handle, std::uint8_t kernel, unsigned wavefronts) {
    of_operation(handle, kernel).shared_wavefronts += wavefronts;
  }
  void add_constant_passes(std::uint32_t handle, std::uint8_t kernel, unsigned passes) {
    of_operation(handle, kernel).constant_passes += passes;
  }

  /// Adds what the slot's kernel has to `total`, by index in its static table, and starts again from zero.
  void take(std::uint8_t kernel, stats::KernelProfile& total);

  template <class A>
  void persist(A& a) {
    a.members(*this, a.given(kernels_), a.given(in_flight_), a.given(subcore_count_), rows_, subcores_);
  }

 private:
  [[nodiscard]] stats::InstructionCounters& row(std::uint8_t kernel, std::uint32_t instruction) {
    std::vector<stats::InstructionCounters>& rows = rows_[kernel];
    if (instruction >= rows.size()) rows.resize((*kernels_)[kernel].instructions->size());
    return rows[instruction];
  }
  [[nodiscard]] stats::InstructionCounters& of_operation(std::uint32_t handle, std::uint8_t kernel) {
    return row(kernel, (*kernels_)[kernel].instructions->index_of(*(*in_flight_)[handle].inst));
  }

  const KernelTable* kernels_;
  const std::vector<InFlight>* in_flight_;
  unsigned subcore_count_;
  std::vector<std::vector<stats::InstructionCounters>> rows_;
  std::vector<std::array<stats::StallCycles, kMaxSubcores>> subcores_;
};

}  // namespace lockstep::core
