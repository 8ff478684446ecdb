// Kernels that wait for each other: signals, and the loops that wait for them (signal_log.hpp).
#include <algorithm>
#include <array>
#include <bit>
#include <optional>

#include "exec/cta.hpp"
#include "exec/lane_loop.hpp"
#include "exec/signal_log.hpp"
#include "exec/warp.hpp"

namespace lockstep::exec {

namespace {

constexpr Address kWordBytes = 4;
constexpr std::size_t kSearched = 256;  // signals of a word, back from the last

Address word_of(Address address) { return address & ~(kWordBytes - 1); }
std::uint32_t word_at(Address word) { return read<std::uint32_t>(reinterpret_cast<const std::byte*>(word)); }

bool is_device_memory(const DeviceMemory& memory, Address address) {
  return memory.in_arena(address) && DeviceMemory::kind_of(address) == MemoryKind::kDevice;
}

/// What a load of `bytes` bytes at `address` would have given before the last `back` signals of its word; of
/// 8 bytes both words must have been signalled together, or the upper one never.
std::optional<std::uint64_t> value_before(const SignalLog& log, Address address, unsigned bytes,
                                          std::size_t back) {
  const Address word = word_of(address), upper = word + kWordBytes;
  const auto value = log.value(word, back);
  if (!value) return std::nullopt;
  if (bytes < kWordBytes)
    return (*value >> 8 * (address % kWordBytes)) & ((std::uint64_t{1} << 8 * bytes) - 1);
  if (bytes == kWordBytes) return *value;
  if (log.signals(upper) == 0) return *value | std::uint64_t{word_at(upper)} << 32;
  const auto high = log.value(upper, back);
  if (!high || log.signals(upper) != log.signals(word)) return std::nullopt;
  return *value | std::uint64_t{*high} << 32;
}

}  // namespace

/// The words of a device's memory that a write touches, each once.
void Warp::signalled_words(LaneMask active, const Addresses& a, std::uint32_t bytes) {
  signalled_.clear();
  for_lanes(active, [&](int l) {
    if (!is_device_memory(machine_->memory, a.lane[l])) return;
    for (Address word = word_of(a.lane[l]); word < a.lane[l] + bytes; word += kWordBytes)
      signalled_.push_back(word);
  });
  std::ranges::sort(signalled_);
  signalled_.erase(std::unique(signalled_.begin(), signalled_.end()), signalled_.end());
}

/// Of a write to multicast addresses: the words of every device.
void Warp::before_multicast_signal(LaneMask active, const Addresses& a, std::uint32_t bytes) {
  std::vector<Address> all;
  Addresses of_device;
  for (unsigned device = 0, most = 1; device < most; ++device) {
    LaneMask there = 0;
    for_lanes(active, [&](int l) {
      const auto places = multimem_places(static_cast<std::uint32_t>(l), bytes, a.lane[l]);
      most = std::max(most, places.count);
      if (device < places.count) there |= LaneMask{1} << l;
      of_device.lane[l] = places.at[device];
    });
    signalled_words(there, of_device, bytes);
    all.insert(all.end(), signalled_.begin(), signalled_.end());
  }
  signalled_ = std::move(all);
  for (const Address word : signalled_) machine_->options.signals->before(word, word_at(word));
}

void Warp::before_signal(LaneMask active, const Addresses& a, std::uint32_t bytes) {
  signalled_words(active, a, bytes);
  for (const Address word : signalled_) machine_->options.signals->before(word, word_at(word));
}

void Warp::after_signal() {
  for (const Address word : signalled_) machine_->options.signals->signalled(word, word_at(word));
}

/// Of a loop's lanes that have loaded: which of them leave it before they load again. No register changes.
LaneMask Warp::leaving(const SpinLoop& loop, LaneMask lanes) {
  std::vector<LaneSlots> kept;
  for (const Slot slot : loop.written) kept.push_back(*at(slot));
  const WarpFlags flags = flags_;
  std::vector<LaneMask> coming(loop.end - loop.begin + 1);  // by operation
  LaneMask left = 0;
  const auto go = [&](std::uint32_t pc, LaneMask mask) {
    if (pc < loop.begin || pc > loop.end)
      left |= mask;
    else if (pc != loop.load)
      coming[pc - loop.begin] |= mask;
  };
  const auto pass = [&](std::uint32_t first, std::uint32_t end) {
    for (std::uint32_t pc = first; pc < end; ++pc) {
      const LaneMask mask = std::exchange(coming[pc - loop.begin], 0);
      if (mask == 0) continue;
      const Operation& op = operations_[pc];
      const LaneMask active = op.guard.exists() ? mask & guard(op) : mask;
      const bool branches = op.handler == Handler::kBranch;
      if (branches) go(op.target, active);
      if (op.handler == Handler::kLane && active != 0) lane(op, active);
      go(pc + 1, branches ? mask & ~active : mask);
    }
  };
  go(loop.load + 1, lanes);
  pass(loop.load + 1, loop.end + 1);
  pass(loop.begin, loop.load);
  for (std::size_t i = 0; i < kept.size(); ++i) *at(loop.written[i]) = kept[i];
  flags_ = flags;
  return left;
}

/// A load in a loop that waits. Where no lane leaves the loop, it has not happened: others run, and it comes
/// again. False: this is no wait that signals can end.
bool Warp::look(const Operation& op, const MemoryForm& form, LaneMask active, const Addresses& a) {
  bool waits = true;
  for_lanes(active, [&](int l) { waits &= is_device_memory(machine_->memory, a.lane[l]); });
  if (!waits) return false;
  const SpinLoop& loop = machine_->kernel.spins()[form.spin - 1];
  const LaneMask left = leaving(loop, active);
  if (left != 0) {
    if (record_) note_wait(loop, op, left, a);
    return true;
  }
  if (record_) {
    const trace::Record load = record_->records.back();
    record_->words.resize(record_->words.size() - trace::address_words(load.form(), load.mask));
    record_->records.pop_back();
  }
  --now_.pc;
  now_.spins = kSpinLimit;
  now_.locks = false;
  return true;
}

/// For which signals lanes have waited that leave the loop now: for the first after which all values up to
/// now would have let them leave.
void Warp::note_wait(const SpinLoop& loop, const Operation& op, LaneMask left, const Addresses& a) {
  const SignalLog& log = *machine_->options.signals;
  const MemoryForm& form = machine_->kernel.memory()[op.detail];
  std::uint32_t needed[kLanes];
  LaneMask waited = 0;
  for_lanes(left, [&](int l) {
    const Address word = word_of(a.lane[l]);
    if (log.value(word, 0) != word_at(word)) return;  // nobody has signalled it, or something else wrote
    waited |= LaneMask{1} << l;
    needed[l] = log.signals(word);
  });
  LaneSlots& loaded = *at(slots_[op.operands]);
  const LaneSlots now = loaded;
  LaneMask leaves = waited;
  for (std::size_t back = 1; leaves != 0 && back <= kSearched; ++back) {
    LaneMask known = 0;
    for_lanes(leaves, [&](int l) {
      const auto value = value_before(log, a.lane[l], form.bytes, back);
      if (!value) return;
      loaded.lane[l] = *value;
      known |= LaneMask{1} << l;
    });
    if (form.extend != 0) extend_sign(loaded, known, form.extend, form.width);
    leaves = known == 0 ? 0 : leaving(loop, known);
    for_lanes(leaves, [&](int l) { --needed[l]; });
  }
  loaded = now;
  note_awaited(waited, a, needed);
}

/// A record for each word, with the lanes that wait for it.
void Warp::note_awaited(LaneMask waited, const Addresses& a, const std::uint32_t needed[kLanes]) {
  while (waited != 0) {
    const int first = std::countr_zero(waited);
    const Address word = word_of(a.lane[first]);
    std::uint32_t signals = needed[first];
    LaneMask lanes = 0;
    for_lanes(waited, [&](int l) {
      if (word_of(a.lane[l]) != word) return;
      lanes |= LaneMask{1} << l;
      if (static_cast<std::int32_t>(needed[l] - signals) > 0) signals = needed[l];
    });
    waited &= ~lanes;
    if (signals == 0) continue;
    record_->words.push_back(word);
    record_->words.push_back(signals);
    record_->records.push_back(
        trace::Record::make(machine_->kernel.await_record(), trace::AddressForm::kAffine, lanes));
  }
}

}  // namespace lockstep::exec
