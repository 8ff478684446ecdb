// Which SM takes the next CTA, which SMs those of the next cluster.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "config/gpu_config.hpp"
#include "config/occupancy.hpp"

namespace lockstep::core {

/// The dispatcher's mirror of every SM's free resources: taken at dispatch, given back when the CTA's kFreed
/// comes.
class Placement {
 public:
  Placement(const config::GpuConfig& config, std::uint32_t kernel_slots);

  struct Choice {
    std::uint32_t sm;
    std::uint8_t carveout;
  };

  /// Takes the resources of one CTA of kernel slot `slot` in the SM with the fewest resident CTAs among those
  /// with room; between equals the first in dispatch order. An empty SM takes the kernel's own carve-out,
  /// another keeps its own: changing it would need the SM drained. Nothing when no SM has room.
  [[nodiscard]] std::optional<Choice> place(const config::Occupancy& need, std::uint8_t slot);
  /// The same for all CTAs of a cluster, one after the other, in SMs of one GPC: of those with room the one
  /// with the fewest resident CTAs per SM (assumed), between equals the first. False: no GPC has room, and
  /// nothing is taken.
  [[nodiscard]] bool place_cluster(const config::Occupancy& need, std::uint8_t slot,
                                   std::span<Choice> choices);
  void release(std::uint32_t sm, const config::Occupancy& need, std::uint8_t slot);
  [[nodiscard]] bool empty() const { return resident_ == 0; }

  /// SMs in the order of dispatch: one of each GPC in turn, first SMs of all TPCs before the second ones.
  [[nodiscard]] const std::vector<std::uint32_t>& order() const { return order_; }

  template <class A>
  void persist(A& a) {
    a.members(*this, a.given(sm_), a.given(carveouts_), a.given(order_), a.given(position_), a.given(gpcs_),
              mirrors_, of_kernel_, resident_);
  }

 private:
  struct Mirror {
    std::uint32_t warps, threads, registers, shared;  // free
    std::uint32_t ctas = 0;                           // resident
    std::uint8_t carveout = 0;
  };

  [[nodiscard]] bool fits(const Mirror& m, std::uint32_t position, const config::Occupancy& need,
                          std::uint8_t slot) const;
  [[nodiscard]] Choice take(std::uint32_t position, const config::Occupancy& need, std::uint8_t slot);
  [[nodiscard]] std::uint64_t resident_in(const std::vector<std::uint32_t>& gpc) const;
  [[nodiscard]] bool place_in(const std::vector<std::uint32_t>& gpc, const config::Occupancy& need,
                              std::uint8_t slot, std::span<Choice> choices);
  [[nodiscard]] std::uint32_t shared_bytes(std::uint8_t carveout) const { return carveouts_[carveout]; }

  config::SmGroup sm_;
  std::vector<std::uint32_t> carveouts_;          // bytes
  std::vector<std::uint32_t> order_;              // position -> SM
  std::vector<std::uint32_t> position_;           // SM -> position
  std::vector<std::vector<std::uint32_t>> gpcs_;  // positions of their SMs, ascending
  std::vector<Mirror> mirrors_;                   // by position
  std::vector<std::uint32_t> of_kernel_;          // resident CTAs by [slot * SMs + position]
  std::uint64_t resident_ = 0;
};

}  // namespace lockstep::core
