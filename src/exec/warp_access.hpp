// Memory accesses of a warp's lanes: their addresses, and where these lead. Internal to src/exec.
#pragma once

#include <cstddef>
#include <cstdint>

#include "exec/warp_state.hpp"

namespace lockstep::exec {

/// What an access does, for launches whose CTAs run at once.
enum class Use : std::uint8_t { kRead, kWrite, kReduce };  // kReduce: noted by who makes it

/// Host addresses, by lane; those of lanes that take no part mean nothing.
struct Pointers {
  std::byte* lane[kLanes];
};

/// An access and its record.
struct Access {
  LaneMask mask = 0;  // its lanes; 0: nothing is known
  std::uint32_t bytes = 0;
  std::int64_t offset = 0;  // MemoryForm's
  AddressSpan span;
  Addresses addresses;
  trace::AddressForm form = trace::AddressForm::kNone;  // of its record
  std::size_t word = 0;                                 // the first of its record
};

/// The lanes' addresses in the space of form.reach.
void find_addresses(const WarpState& warp, const MemoryForm& form, Addresses& out);
/// As above, of accesses of `bytes` bytes, which are recorded. False: no lane takes part, and that is
/// recorded.
[[nodiscard]] bool locate(WarpState& warp, const MemoryForm& form, LaneMask active, std::uint32_t bytes,
                          Access& out);

/// Where an access of one lane lands; nullptr where there is no such memory.
[[nodiscard]] std::byte* resolve_one(WarpState& warp, StateSpace state_space, std::uint32_t lane,
                                     std::uint32_t bytes, Address address);
/// Where accesses of `bytes` bytes land. Faults where they are misaligned or there is no such memory. True:
/// all lanes take part, and their accesses are neighbours.
bool resolve(WarpState& warp, const MemoryForm& form, LaneMask active, std::uint32_t bytes,
             const Addresses& addresses, const AddressSpan& span, Use use, Pointers& out);
bool resolve(WarpState& warp, const MemoryForm& form, LaneMask active, std::uint32_t bytes,
             const Addresses& addresses, Use use, Pointers& out);
/// The usual cases: aligned accesses, all lanes in one mapped page or in the CTA's shared memory. Where the
/// first active lane's lands, the others as far from it as their addresses; nullptr: another case.
[[nodiscard]] std::byte* resolve_together(WarpState& warp, const MemoryForm& form, LaneMask active,
                                          std::uint32_t bytes, const Addresses& addresses,
                                          const AddressSpan& span, Use use);

/// Puts the elements of each lane's value, which lie at `from`, into the load's destinations.
void load_far(WarpState& warp, const Operation& op, const MemoryForm& form, LaneMask active,
              const Pointers& from);

/// Global memory of a launch whose CTAs run at once. Precondition: machine->accesses.
void note_range(WarpState& warp, Address first, std::uint64_t bytes, Use use);

/// For those who ask whether the launch gets any further (watch.hpp). Before a load or an atomic operation.
void watch_reads(WarpState& warp, const MemoryForm& form, LaneMask active, const Addresses& addresses);
/// Before a store: does it make a difference?
void watch_store(WarpState& warp, const Operation& op, const MemoryForm& form, LaneMask active,
                 const Pointers& to);

}  // namespace lockstep::exec
