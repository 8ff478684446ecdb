// The state of a device's managed memory without its users.
#pragma once

#include "uvm/memory_state.hpp"

namespace lockstep::uvm {

/// Three trees of 2 MiB on a device of `frames` frames, a link of PCIe 3.
struct Migrations {
  explicit Migrations(std::uint64_t frames, const Parameters& parameters = per_page(),
                      std::uint32_t sources = 1, bool moves_data = false)
      : state({parameters, 1'481'000, frames, sources, moves_data}, grown(space)) {
    for (TreeId id = 0; id < 3; ++id) (void)state.table.touch(id);
  }
  /// Frames by page, not by tree.
  [[nodiscard]] static Parameters per_page() {
    Parameters p;
    p.fault_mode = FaultMode::kPerCycle;
    return p;
  }
  [[nodiscard]] Tree& tree(TreeIndex i) { return state.table[i]; }
  /// The pages are on the device, with their frames.
  void place(const Run& run) {
    state.frames.take(run.tree, run.pages);
    tree(run.tree).resident |= run.set();
    tree(run.tree).counted |= run.set();
    state.residents.arrived(run.tree, run.set());
  }
  [[nodiscard]] const Counters& counters() const { return state.log.counters; }
  [[nodiscard]] Cycle out_cycles(unsigned pages) const {
    return state.link.cycles(Direction::kToHost, pages);
  }
  [[nodiscard]] Cycle in_cycles(unsigned pages) const {
    return state.link.cycles(Direction::kToDevice, pages);
  }

  AddressSpace space;
  MemoryState state;

 private:
  static const AddressSpace& grown(AddressSpace& space) {
    space.add(Address{1} << 40, 3 * kTreeBytes);
    return space;
  }
};

}  // namespace lockstep::uvm
