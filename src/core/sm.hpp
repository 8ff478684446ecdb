// A streaming multiprocessor.
#pragma once

#include <cstdint>
#include <memory>

#include "config/gpu_config.hpp"
#include "core/kernel_slot.hpp"
#include "icnt/entry_log.hpp"
#include "icnt/fabric.hpp"
#include "mem/address_map.hpp"
#include "sim/domain.hpp"
#include "stats/counter_source.hpp"
#include "uvm/address_space.hpp"
#include "uvm/counters.hpp"

namespace lockstep {
class Archive;
}

namespace lockstep::core {

/// Domain in core cycles. Receives CTAs from the dispatcher, runs their traces, and reports each CTA freed
/// and drained. See sm_state.hpp for what it is made of.
class Sm final : public sim::Domain, public stats::CounterSource {
 public:
  /// `skip` false: every cycle is visited, for the proof that skipping changes nothing. `managed`: managed
  /// memory, null if there is none. `profile`: count what its instructions do.
  Sm(const config::GpuConfig& config, icnt::Fabric& fabric, const mem::AddressMap& map,
     const KernelTable& kernels, std::uint32_t index, bool skip, const uvm::AddressSpace* managed = nullptr,
     bool profile = false);
  ~Sm() override;

  [[nodiscard]] Cycle advance(Cycle from, Cycle to) override;
  void settle(Cycle at) override;
  void dump(std::string& out) const override;
  void take_counters(std::uint8_t kernel, stats::KernelCounters& total) override;
  void take_profile(std::uint8_t kernel, stats::KernelProfile& total) override;
  [[nodiscard]] bool quiescent() const override;
  /// Between windows: the SM reports no CTA freed or drained before this cycle, at least `now`, the next one
  /// to be visited; kNever if none is there. CTAs that have not been sent to it yet do not count.
  [[nodiscard]] Cycle earliest_cta_end(Cycle now);
  /// Quiescent, and its state may be kept.
  [[nodiscard]] bool at_rest() const;
  void persist(Archive& a);
  /// Translations that an access, which takes no time, leaves behind (Translator::learn). Between windows.
  void learn(Address line);
  /// What it has noted of entries of network queues.
  [[nodiscard]] const icnt::EntryLog& entries() const;

  /// Sub-core cycles so far in which no warp was resident, summed over sub-cores: with the stalls of all
  /// kernels this makes the SM's cycles times its sub-cores.
  [[nodiscard]] std::uint64_t empty_subcore_cycles() const;
  void add_translation(uvm::TlbCounters& total) const override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace lockstep::core
