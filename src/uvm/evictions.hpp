// Decisions to evict.
#pragma once

#include <cstdint>

#include "uvm/arrivals.hpp"
#include "uvm/departures.hpp"
#include "uvm/memory_state.hpp"
#include "uvm/random.hpp"

namespace lockstep::uvm {

/// When pages leave to make room, and by which policy; the smart runtime may change the policy (UVMSmart).
class Evictions {
 public:
  /// `random`: shared with the prefetchers.
  Evictions(MemoryState& state, const Arrivals& arrivals, Departures& departures, Random& random)
      : state_(&state),
        arrivals_(&arrivals),
        departures_(&departures),
        random_(&random),
        policy_(state.evictor()) {}

  /// After the faults of a cycle are staged: notes whether memory is over-subscribed from now on.
  void note_oversubscription(std::uint64_t staged_before, std::uint64_t staged_now);
  /// UVMSmart's decision of a cycle: one eviction if its inequality holds.
  void evict_if_due(Cycle now);
  /// One eviction now, against the rules if they allow none. False if no page is resident.
  bool evict_now(Cycle now);
  /// A transfer lacks frames: one eviction if nothing under way will free memory, and the rules let no unit
  /// leave. False if there is nothing to evict: the frames are those of transfers behind it.
  [[nodiscard]] bool unlock(Cycle now) {
    return !state_->fruitless || !departures_->idle() || evict_now(now);
  }

  template <class A>
  void persist(A& a) {
    a.members(*this, a.given(state_), a.given(arrivals_), a.given(departures_), a.given(random_),
              a.given(policy_));
    a.choice(policy_, evictors());
  }

 private:
  [[nodiscard]] bool due(std::uint64_t leaving, std::uint64_t staged) const {
    return eviction_due(leaving, state_->frames.all(), state_->frames.free(), staged,
                        state_->parameters().free_buffer_percent);
  }
  [[nodiscard]] EvictionRules rules() const {
    return {state_->parameters().reserve_percent, state_->parameters().whole_units};
  }
  [[nodiscard]] bool evict_with(const EvictionRules& rules, Cycle now);
  [[nodiscard]] bool droppable(const Run& run) const;
  void apply_smart_choice();
  void change_policy(const EvictionPolicy& policy);

  MemoryState* state_;
  const Arrivals* arrivals_;
  Departures* departures_;
  Random* random_;
  const EvictionPolicy* policy_;
};

}  // namespace lockstep::uvm
