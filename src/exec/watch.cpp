#include "exec/watch.hpp"

#include <algorithm>
#include <cstring>

#include "exec/cta.hpp"
#include "exec/lane_loop.hpp"

namespace lockstep::exec {

void Watch::read(Address address, std::uint32_t bytes) {
  constexpr std::uint32_t kMost = sizeof(std::uint64_t);
  for (std::uint32_t at = 0; at < bytes; at += kMost) {
    Value value{std::min(bytes - at, kMost), 0};
    std::memcpy(&value.bits, reinterpret_cast<const void*>(address + at), value.bytes);
    values[address + at] = value;
  }
  ++reads;
}

void Fingerprint::add(std::span<const std::byte> bytes) {
  std::uint64_t word = 0;
  for (std::size_t at = 0; at < bytes.size(); at += sizeof word) {
    const std::size_t some = std::min(bytes.size() - at, sizeof word);
    std::memcpy(&word, bytes.data() + at, some);
    add(word);
  }
}

void StandStill::begin(std::uint64_t print) {
  if (watch_.askers++ == 0) watch_.values.clear();
  watching_ = true;
  kept_ = print;
  changes_ = watch_.changes;
  reads_ = watch_.reads;
  compared_ = 0;
}

void StandStill::stop() {
  if (watching_) --watch_.askers;
  watching_ = false;
}

/// All that decides what the warp does next, but for memory that others reach.
void Warp::add_to(Fingerprint& all) const {
  if (!print_) print_ = print_now();
  all.add(*print_);
}

std::uint64_t Warp::print_now() const {
  Fingerprint print;
  const auto add = [&](auto... words) { (print.add(static_cast<std::uint64_t>(words)), ...); };
  add(live_, cluster_arrived_, committed_, splits_.size());
  for (const Split& s : splits_) {
    add(s.state, s.spun, s.locks, s.spins, s.pc, s.meeting, s.frame, s.mask, s.members, s.barrier);
    add(s.poll_pc[0], s.poll_pc[1], s.poll[0], s.poll[1]);
  }
  for (const Meeting& m : meetings_) add(m.at, m.frame, m.parent, m.expected, m.arrived);
  for (const Frame& f : frames_) add(f.function, f.base, f.local, f.return_pc, f.parent, f.lanes);
  add(flags_.carry);
  polls_.add_to(print);
  print.add(std::as_bytes(std::span(file_)));
  print.add(std::span(local_));
  return print.value();
}

void Cta::add_to(Fingerprint& print) const {
  print.add(index_);
  for (const Barrier& b : barriers_) {
    print.add(b.pending);
    if (!b.pending) continue;
    for (const std::uint64_t word : {std::uint64_t{b.threads}, std::uint64_t{b.all}, b.yes}) print.add(word);
    for (const LaneMask arrived : b.arrived) print.add(arrived);
  }
  for (const Warp& warp : warps_)
    if (!warp.done()) warp.add_to(print);
}

/// Before a load or an atomic operation.
void Warp::watch_reads(const MemoryForm& form, LaneMask active, const Addresses& a) {
  const std::uint32_t bytes = std::uint32_t{form.bytes} * form.count;
  for_lanes(active, [&](int l) {
    const std::byte* const at = resolve_one(form.reach, static_cast<std::uint32_t>(l), bytes, a.lane[l]);
    if (at && reinterpret_cast<Address>(at) == a.lane[l]) machine_->watch.read(a.lane[l], bytes);
  });
}

/// Before a store of `from`, an element's values one after the other: does it make a difference?
void Warp::watch_store(const Operation& op, const MemoryForm& form, LaneMask active, const Pointers& to) {
  if (op.second != ~0u) ++machine_->watch.changes;  // completes bytes of an mbarrier
  const std::byte* const own = local_.data();
  for (unsigned i = 0; i < form.count; ++i) {
    const LaneSlots* const from = at(slots_[op.operands + i]);
    for_lanes(active, [&](int l) {
      const std::byte* const there = to.lane[l] + std::size_t{i} * form.bytes;
      if (there >= own && there < own + local_.size()) return;  // seen with the warp's state
      const unsigned low = std::min<unsigned>(form.bytes, sizeof(std::uint64_t));
      const bool same = std::memcmp(there, &from->lane[l], low) == 0 &&
                        (form.bytes <= low || std::memcmp(there + low, &from[1].lane[l], low) == 0);
      if (!same) ++machine_->watch.changes;
    });
  }
}

}  // namespace lockstep::exec
