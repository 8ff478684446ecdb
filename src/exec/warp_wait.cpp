// Kernels that wait for each other: signals, and the loops that wait for them (signal_log.hpp).
#include <algorithm>
#include <array>
#include <bit>
#include <optional>

#include "exec/cta.hpp"
#include "exec/lane_loop.hpp"
#include "exec/signal_log.hpp"
#include "exec/warp.hpp"
#include "util/bits.hpp"

namespace lockstep::exec {

namespace {

constexpr Address kWordBytes = 4;
constexpr std::size_t kSearched = 256;  // signals of a word, back from the last

Address word_of(Address address) { return address & ~(kWordBytes - 1); }
std::uint32_t word_at(Address word) { return read<std::uint32_t>(reinterpret_cast<const std::byte*>(word)); }

bool is_device_memory(const DeviceMemory& memory, Address address) {
  return memory.in_arena(address) && DeviceMemory::kind_of(address) == MemoryKind::kDevice;
}

/// What a load of `bytes` bytes, which lie in one word or are two, at `address` would have given before the
/// last `back` signals of its word; of 8 bytes both words must have been signalled together, or the upper one
/// never.
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

/// Of the words of an access, the one that was signalled last, where nothing else has written it since; 0:
/// none.
Address last_signalled(const SignalLog& log, Address address, unsigned bytes) {
  Address last = 0;
  for (Address word = word_of(address); word < address + bytes; word += kWordBytes)
    if (log.value(word, 0) == word_at(word) &&
        (last == 0 || static_cast<std::int32_t>(log.last_write(word) - log.last_write(last)) > 0))
      last = word;
  return last;
}

/// Does one instruction's message bring the last signals of both words?
bool come_together(const SignalLog& log, Address a, Address b) {
  return line_of(a) == line_of(b) && log.last_write(a) == log.last_write(b);
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
  machine_->options.signals->begin_write();
  for (const Address word : signalled_) machine_->options.signals->before(word, word_at(word));
}

void Warp::before_signal(LaneMask active, const Addresses& a, std::uint32_t bytes) {
  signalled_words(active, a, bytes);
  machine_->options.signals->begin_write();
  for (const Address word : signalled_) machine_->options.signals->before(word, word_at(word));
}

void Warp::after_signal() {
  for (const Address word : signalled_) machine_->options.signals->signalled(word, word_at(word));
}

/// Of a loop's lanes that have loaded: which of them leave it, or come to its rare part, before they load
/// again. No register changes.
LaneMask Warp::leaving(const SpinLoop& loop, LaneMask lanes) {
  std::vector<LaneSlots> kept;
  for (const Slot slot : loop.written) kept.push_back(*at(slot));
  const WarpFlags flags = flags_;
  std::vector<LaneMask> coming(loop.end - loop.begin + 1);  // by operation
  LaneMask left = 0;
  std::uint32_t here = loop.load;
  const auto go = [&](std::uint32_t pc, LaneMask mask) {
    const bool goes_on = pc >= loop.begin && pc <= loop.end && (here >= loop.load || pc <= loop.load);
    if (!goes_on)
      left |= mask;
    else if (pc != loop.load)
      coming[pc - loop.begin] |= mask;
  };
  const auto pass = [&](std::uint32_t first, std::uint32_t end) {
    for (here = first; here < end; ++here) {
      const LaneMask mask = std::exchange(coming[here - loop.begin], 0);
      if (mask == 0) continue;
      const Operation& op = operations_[here];
      const LaneMask active = op.guard.exists() ? mask & guard(op) : mask;
      const bool branches = op.handler == Handler::kBranch;
      if (branches) go(op.target, active);
      const LaneMask stay = branches || try_out(op, active) ? 0 : active;
      left |= stay;
      go(here + 1, mask & ~(branches ? active : stay));
    }
  };
  go(loop.load + 1, lanes);
  pass(loop.load + 1, loop.end + 1);
  pass(loop.begin, loop.load);
  for (std::size_t i = 0; i < kept.size(); ++i) *at(loop.written[i]) = kept[i];
  flags_ = flags;
  return left;
}

/// One operation of a round that is tried out. False: it does more than compute.
bool Warp::try_out(const Operation& op, LaneMask active) {
  if (active == 0 || op.handler == Handler::kNothing || op.handler == Handler::kNanosleep) return true;
  switch (op.handler) {
    case Handler::kLane:
      break;
    case Handler::kLaneSync:  // of all lanes, which are here
      if ((live_ & ~active) != 0 || (op.detail != 0 && !names_all(op, active))) return false;
      break;
    case Handler::kLoad:
      return glance(op, active);
    default:
      return false;
  }
  lane(op, active);
  return true;
}

/// Whether the member mask, the last source, is that of all live lanes.
bool Warp::names_all(const Operation& op, LaneMask active) const {
  const LaneSlots& members = *at(slots_[op.operands + op.destinations + op.sources - 1]);
  bool all = true;
  for_lanes(active, [&](int l) { all &= (live_ & ~static_cast<LaneMask>(members.lane[l])) == 0; });
  return all;
}

/// A load of a device's memory without a record.
bool Warp::glance(const Operation& op, LaneMask active) {
  const MemoryForm& form = machine_->kernel.memory()[op.detail];
  if (!form.polls) return false;
  const unsigned bytes = unsigned{form.bytes} * form.count;
  Addresses a;
  (void)addresses(form, active, bytes, a);
  Pointers from;
  bool possible = true;
  for_lanes(active, [&](int l) {
    from.lane[l] = is_device_memory(machine_->memory, a.lane[l])
                       ? resolve_one(Reach::kGlobal, static_cast<std::uint32_t>(l), bytes, a.lane[l])
                       : nullptr;
    possible &= from.lane[l] != nullptr;
  });
  if (possible) load_far(op, form, active, from);
  return possible;
}

/// A load in a loop that waits: the first of a round, or the last. Where no lane leaves the loop, it has not
/// happened: others run, and it comes again. False: this is no wait that signals can end.
bool Warp::look(const Operation& op, const MemoryForm& form, LaneMask active, const Addresses& a) {
  bool waits = true;
  for_lanes(active, [&](int l) { waits &= is_device_memory(machine_->memory, a.lane[l]); });
  if (!waits) return false;
  const SpinLoop& loop = machine_->kernel.spins()[form.spin - 1];
  if (&op != &operations_[loop.load]) {
    if (record_) note_round(loop, op, active);
    return true;
  }
  const LaneMask left = leaving(loop, active);
  if (left != 0) {
    if (record_ && !loads_more(loop)) note_wait(loop, op, left, a);
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

/// Has a round more polling loads than the first?
bool Warp::loads_more(const SpinLoop& loop) const {
  const std::vector<MemoryForm>& memory = machine_->kernel.memory();
  const std::uint32_t spin = memory[operations_[loop.load].detail].spin;
  for (std::uint32_t pc = loop.load + 1; pc <= loop.end; ++pc)
    if (operations_[pc].handler == Handler::kLoad && memory[operations_[pc].detail].spin == spin) return true;
  return false;
}

/// At the last load of a round of several: all of its loads have waited for the signals that their words have
/// had. Which of these signals decided is not asked: who writes a flag anew waits for its reader first.
void Warp::note_round(const SpinLoop& loop, const Operation& last, LaneMask active) {
  const SignalLog& log = *machine_->options.signals;
  const auto end = static_cast<std::uint32_t>(&last - operations_);
  for (std::uint32_t pc = loop.load; pc <= end; ++pc) {
    const Operation& op = operations_[pc];
    if (op.handler != Handler::kLoad || !machine_->kernel.memory()[op.detail].polls) continue;
    const MemoryForm& form = machine_->kernel.memory()[op.detail];
    const unsigned bytes = unsigned{form.bytes} * form.count;
    Addresses a;
    (void)addresses(form, active, bytes, a);
    std::uint32_t needed[kLanes];
    LaneMask waited = 0;
    for_lanes(active, [&](int l) {
      a.lane[l] = last_signalled(log, a.lane[l], bytes);
      if (a.lane[l] == 0) return;
      waited |= LaneMask{1} << l;
      needed[l] = log.signals(a.lane[l]);
    });
    note_awaited(waited, a, needed);
  }
}

/// For which signals lanes have waited that leave the loop now: for the first after which all values up to
/// now would have let them leave.
void Warp::note_wait(const SpinLoop& loop, const Operation& op, LaneMask left, const Addresses& a) {
  const SignalLog& log = *machine_->options.signals;
  const MemoryForm& form = machine_->kernel.memory()[op.detail];
  std::uint32_t needed[kLanes];
  Addresses words;
  LaneMask waited = 0;
  for_lanes(left, [&](int l) {
    words.lane[l] = last_signalled(log, a.lane[l], unsigned{form.bytes} * form.count);
    if (words.lane[l] == 0) return;  // nobody has signalled it, or something else wrote
    waited |= LaneMask{1} << l;
    needed[l] = log.signals(words.lane[l]);
  });
  std::array<LaneSlots, kMostAccessBytes> now;
  for (unsigned i = 0; i < form.count; ++i)
    if (slots_[op.operands + i].exists()) now[i] = *at(slots_[op.operands + i]);
  LaneMask leaves = waited;
  for (std::size_t back = 1; leaves != 0 && back <= kSearched; ++back) {
    const LaneMask known = load_before(op, leaves, a, back);
    leaves = known == 0 ? 0 : leaving(loop, known);
    for_lanes(leaves, [&](int l) { --needed[l]; });
  }
  for (unsigned i = 0; i < form.count; ++i)
    if (slots_[op.operands + i].exists()) *at(slots_[op.operands + i]) = now[i];
  note_awaited(waited, words, needed);
}

/// What the load would have given before the last `back` signals. The lanes for which that is known.
LaneMask Warp::load_before(const Operation& op, LaneMask lanes, const Addresses& a, std::size_t back) {
  const SignalLog& log = *machine_->options.signals;
  const MemoryForm& form = machine_->kernel.memory()[op.detail];
  for (unsigned i = 0; i < form.count; ++i) {
    const Slot slot = slots_[op.operands + i];
    for_lanes(lanes, [&](int l) {
      const Address element = a.lane[l] + i * form.bytes;
      const auto value = value_before(log, element, form.bytes, back);
      if (!value || log.signals(word_of(element)) != log.signals(word_of(a.lane[l])))
        lanes &= ~(LaneMask{1} << l);
      else if (slot.exists())
        at(slot)->lane[l] = *value;
    });
    if (form.extend != 0 && slot.exists()) extend_sign(*at(slot), lanes, form.extend, form.width);
  }
  return lanes;
}

/// A record for each word, or for words whose signals come together, with the lanes that wait for it.
void Warp::note_awaited(LaneMask waited, const Addresses& a, const std::uint32_t needed[kLanes]) {
  const SignalLog& log = *machine_->options.signals;
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
    const bool latest = signals == log.signals(word);
    for_lanes(waited & ~lanes, [&](int l) {
      const Address other = word_of(a.lane[l]);
      if (latest && needed[l] == log.signals(other) && come_together(log, word, other))
        lanes |= LaneMask{1} << l;
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
