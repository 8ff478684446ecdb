// Everything behind the sub-cores' memory queues: the MIO dispatch, address coalescing, shared memory, the L1 data
// cache, the constant path, shuffles and special registers, and the SM's ports into the crossbar.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "config/gpu_config.hpp"
#include "icnt/fabric.hpp"
#include "mem/address_map.hpp"
#include "stats/counters.hpp"
#include "trace/kernel_trace.hpp"

namespace lockstep::core {

/// An instruction of one warp that leaves its sub-core.
struct MioOperation {
  std::uint32_t handle = 0;      // the SM's own; comes back with the events
  std::uint8_t subcore = 0;
  std::uint8_t warp = 0;         // slot in the SM
  std::uint8_t kernel = 0;
  trace::OpClass op_class = trace::OpClass::kLoad;
  trace::MemSpace space = trace::MemSpace::kNone;   // never kGeneric: the SM resolves that from the first address
  std::uint8_t access_bytes = 0;
  bool bypass_l1 = false, evict_first = false;
  trace::AddressForm form = trace::AddressForm::kNone;
  LaneMask mask = 0;
  const std::uint64_t* words = nullptr;   // valid until kResult / kOperandsRead, whichever is later
  Address local_base = 0;        // of the kernel; local addresses are offsets from it
};

struct MioEvent {
  enum class Kind : std::uint8_t {
    kOperandsRead,   // source registers are free for writers (WAR)
    kResult,         // dependents may issue from this cycle on; async copies: the data are in shared memory.
                     // Instructions without result get it too, at the time of kOperandsRead or later.
    kAcknowledged,   // stores and reductions: visible at L2
  } kind;
  std::uint32_t handle;
};

/// Part of an SM; all times are core cycles. Each operation gets exactly one kOperandsRead, then one kResult, and
/// stores and reductions one kAcknowledged (global, local; those to shared memory none).
class MemoryPipeline {
 public:
  MemoryPipeline(const config::GpuConfig& config, icnt::Fabric& fabric, const mem::AddressMap& map, std::uint32_t sm);
  ~MemoryPipeline();

  /// Start of a window: takes the mail of the SM's ports.
  void gather(Cycle from);

  /// Room in the sub-core's local queue.
  [[nodiscard]] bool can_accept(unsigned subcore) const;
  /// At cycle `now`, at most one a sub-core and cycle. Precondition: can_accept.
  void push(Cycle now, const MioOperation& operation);

  /// A sector request for the instruction side (L1I miss): same port into the crossbar, `line` answered whole.
  [[nodiscard]] bool can_fetch() const;
  void fetch_instruction(Cycle now, Address line, std::uint8_t kernel);
  /// Lines of instructions that arrived since the last call.
  [[nodiscard]] const std::vector<Address>& instruction_lines() const;
  void clear_instruction_lines();

  /// One core cycle, after gather() of its window. Events of this cycle are in events() until the next tick.
  void tick(Cycle now);
  [[nodiscard]] const std::vector<MioEvent>& events() const;
  /// Cycle > now at which tick() has something to do without further pushes; kNever when only mail can wake it.
  [[nodiscard]] Cycle next_event(Cycle now) const;

  /// A kernel's first CTA arrives in this SM: L1 and constant cache lose their contents (not what is in flight).
  void invalidate();
  /// The SM is empty: shared memory gets l1.shared_carveouts_kib[index], L1 the rest.
  void set_carveout(unsigned index);

  /// Counters of a kernel slot (l1*, shared*, global/local/const_instructions of SmCounters; icnt requests, flits, stalls).
  [[nodiscard]] stats::SmCounters& counters(std::uint8_t kernel);
  [[nodiscard]] stats::IcntCounters& icnt_counters(std::uint8_t kernel);
  [[nodiscard]] bool quiescent() const;
  void dump(std::string& out) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace lockstep::core
