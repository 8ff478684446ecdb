#include "exec/warp_wait.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <utility>

#include "exec/signal_log.hpp"
#include "exec/warp_access.hpp"
#include "exec/warp_poll.hpp"
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

/// The word of an access that was signalled last, if nothing else has written to it since; 0: there is
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

const MemoryForm& form_of(const WarpState& warp, const Operation& load) {
  return warp.machine->kernel.memory()[load.detail];
}

/// Whether the member mask, the last source, is that of all live lanes.
bool names_all(const WarpState& warp, const Operation& op, LaneMask active) {
  const LaneValues& members = *warp.at(warp.operands[op.operands + op.destinations + op.sources - 1]);
  bool all = true;
  for_lanes(active, [&](int l) { all &= (warp.live & ~static_cast<LaneMask>(members.lane[l])) == 0; });
  return all;
}

/// Loads from a device's memory without a record. False: the load is of another kind and is not executed.
bool glance(WarpState& warp, const Operation& op, LaneMask active) {
  const MemoryForm& form = form_of(warp, op);
  if (!form.polls) return false;
  const unsigned bytes = unsigned{form.bytes} * form.count;
  Addresses a;
  find_addresses(warp, form, a);
  Pointers from;
  bool possible = true;
  for_lanes(active, [&](int l) {
    from.lane[l] =
        is_device_memory(warp.machine->memory, a.lane[l])
            ? resolve_one(warp, StateSpace::kGlobal, static_cast<std::uint32_t>(l), bytes, a.lane[l])
            : nullptr;
    possible &= from.lane[l] != nullptr;
  });
  if (possible) load_far(warp, op, form, active, from);
  return possible;
}

/// One operation of a round that is tried out. False: it does more than compute.
bool try_out(WarpState& warp, const Operation& op, LaneMask active) {
  if (op.handler == Handler::kNothing || op.handler == Handler::kNanosleep) return true;
  switch (op.handler) {
    case Handler::kLane:
      break;
    case Handler::kLaneSync:  // of all lanes, which are here
      if ((warp.live & ~active) != 0 || (op.detail != 0 && !names_all(warp, op, active))) return false;
      break;
    case Handler::kLoad:
      return glance(warp, op, active);
    default:
      return false;
  }
  warp.lane(op, active);
  return true;
}

/// Which lanes, having executed `load`, the loop's or its entry, leave the loop, go past it or enter its rare
/// part before they load again. Changes no register.
LaneMask leaving(WarpState& warp, const SpinLoop& loop, std::uint32_t load, LaneMask lanes) {
  std::vector<LaneValues> kept;
  for (const OperandRef operand : loop.written) kept.push_back(*warp.at(operand));
  const WarpFlags flags = warp.flags;
  const std::uint32_t begin = std::min(load, loop.begin);
  std::vector<LaneMask> coming(loop.end - begin + 1);  // by operation
  LaneMask left = 0;
  std::uint32_t here = load;
  const auto go = [&](std::uint32_t pc, LaneMask mask) {
    const bool in_loop = pc >= loop.begin && pc <= loop.end && (here >= loop.load || pc <= loop.load);
    const bool goes_on = here < loop.begin ? pc > here && pc <= loop.end : in_loop;
    if (!goes_on)
      left |= mask;
    else if (pc != loop.load)
      coming[pc - begin] |= mask;
  };
  const auto pass = [&](std::uint32_t first, std::uint32_t end) {
    for (here = first; here < end; ++here) {
      const LaneMask mask = std::exchange(coming[here - begin], 0);
      if (mask == 0) continue;
      const Operation& op = warp.operations[here];
      const LaneMask active = op.guard.exists() ? mask & warp.guard(op) : mask;
      const bool branches = op.handler == Handler::kBranch;
      if (branches) go(op.target, active);
      // What lies behind an operation that does more is no part of the round, whoever executes it.
      const LaneMask stay = branches || try_out(warp, op, active) ? 0 : mask;
      left |= stay;
      go(here + 1, mask & ~(branches ? active : stay));
    }
  };
  go(load + 1, lanes);
  pass(begin, loop.begin);
  pass(loop.load + 1, loop.end + 1);
  pass(loop.begin, loop.load);
  for (std::size_t i = 0; i < kept.size(); ++i) *warp.at(loop.written[i]) = kept[i];
  warp.flags = flags;
  return left;
}

/// A record for each word, or for words whose signals come together, with the lanes that wait for it.
void note_awaited(WarpState& warp, LaneMask waited, const Addresses& a, const std::uint32_t needed[kLanes]) {
  const SignalLog& log = *warp.machine->options.signals;
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
    warp.record->words.push_back(word);
    warp.record->words.push_back(signals);
    warp.record->records.push_back(
        trace::Record::make(warp.machine->kernel.await_record(), trace::AddressForm::kAffine, lanes));
  }
}

/// At the last load of a round of several: all of its loads have waited for the signals that their words have
/// had. Which of these signals decided is not asked: who writes a flag anew waits for its reader first.
void note_round(WarpState& warp, const SpinLoop& loop, LaneMask active) {
  const SignalLog& log = *warp.machine->options.signals;
  for (const std::uint32_t pc : loop.loads) {
    const MemoryForm& form = form_of(warp, warp.operations[pc]);
    const unsigned bytes = unsigned{form.bytes} * form.count;
    Addresses a;
    find_addresses(warp, form, a);
    std::uint32_t needed[kLanes];
    LaneMask waited = 0;
    for_lanes(active, [&](int l) {
      a.lane[l] = last_signalled(log, a.lane[l], bytes);
      if (a.lane[l] == 0) return;
      waited |= LaneMask{1} << l;
      needed[l] = log.signals(a.lane[l]);
    });
    note_awaited(warp, waited, a, needed);
  }
}

/// What the load would have given before the last `back` signals. The lanes for which that is known.
LaneMask load_before(WarpState& warp, const Operation& op, LaneMask lanes, const Addresses& a,
                     std::size_t back) {
  const SignalLog& log = *warp.machine->options.signals;
  const MemoryForm& form = form_of(warp, op);
  for (unsigned i = 0; i < form.count; ++i) {
    const OperandRef operand = warp.operands[op.operands + i];
    for_lanes(lanes, [&](int l) {
      const Address element = a.lane[l] + i * form.bytes;
      const auto value = value_before(log, element, form.bytes, back);
      if (!value || log.signals(word_of(element)) != log.signals(word_of(a.lane[l])))
        lanes &= ~(LaneMask{1} << l);
      else if (operand.exists())
        warp.at(operand)->lane[l] = *value;
    });
    if (form.extend != 0 && operand.exists()) extend_sign(*warp.at(operand), lanes, form.extend, form.width);
  }
  return lanes;
}

/// For which signals lanes have waited that leave the loop now: for the first after which all values up to
/// now would have let them leave.
void note_wait(WarpState& warp, const SpinLoop& loop, std::uint32_t load, LaneMask left, const Addresses& a) {
  const Operation& op = warp.operations[load];
  const SignalLog& log = *warp.machine->options.signals;
  const MemoryForm& form = form_of(warp, op);
  std::uint32_t needed[kLanes];
  Addresses words;
  LaneMask waited = 0;
  for_lanes(left, [&](int l) {
    words.lane[l] = last_signalled(log, a.lane[l], unsigned{form.bytes} * form.count);
    if (words.lane[l] == 0) return;  // it has not been signalled, or something else wrote to it
    waited |= LaneMask{1} << l;
    needed[l] = log.signals(words.lane[l]);
  });
  std::array<LaneValues, kMaxAccessBytes> now;
  for (unsigned i = 0; i < form.count; ++i)
    if (const OperandRef operand = warp.operands[op.operands + i]; operand.exists())
      now[i] = *warp.at(operand);
  LaneMask leaves = waited;
  for (std::size_t back = 1; leaves != 0 && back <= kSearched; ++back) {
    const LaneMask known = load_before(warp, op, leaves, a, back);
    leaves = known == 0 ? 0 : leaving(warp, loop, load, known);
    for_lanes(leaves, [&](int l) { --needed[l]; });
  }
  for (unsigned i = 0; i < form.count; ++i)
    if (const OperandRef operand = warp.operands[op.operands + i]; operand.exists())
      *warp.at(operand) = now[i];
  note_awaited(warp, waited, words, needed);
}

}  // namespace

std::vector<Address> signal_words(const WarpState& warp, LaneMask active, const Addresses& a,
                                  std::uint32_t bytes) {
  std::vector<Address> words;
  for_lanes(active, [&](int l) {
    if (!is_device_memory(warp.machine->memory, a.lane[l])) return;
    for (Address word = word_of(a.lane[l]); word < a.lane[l] + bytes; word += kWordBytes)
      words.push_back(word);
  });
  std::ranges::sort(words);
  words.erase(std::unique(words.begin(), words.end()), words.end());
  return words;
}

void before_signal(const WarpState& warp, const std::vector<Address>& words) {
  warp.machine->options.signals->begin_write();
  for (const Address word : words) warp.machine->options.signals->before(word, word_at(word));
}

void after_signal(const WarpState& warp, const std::vector<Address>& words) {
  for (const Address word : words) warp.machine->options.signals->signalled(word, word_at(word));
}

bool wait_for_signal(WarpState& warp, const Operation& op, const MemoryForm& form, LaneMask active,
                     const Addresses& a) {
  bool waits = true;
  for_lanes(active, [&](int l) { waits &= is_device_memory(warp.machine->memory, a.lane[l]); });
  if (!waits) return false;
  const SpinLoop& loop = warp.machine->kernel.spins()[form.spin - 1];
  const auto load = static_cast<std::uint32_t>(&op - warp.operations);
  const bool enters = load == loop.entry;
  if (load != loop.load && !enters) {
    if (warp.record) note_round(warp, loop, active);
    return true;
  }
  const LaneMask left = leaving(warp, loop, load, active);
  if (left != 0) {
    if (warp.record && loop.loads.size() == 1) note_wait(warp, loop, load, left, a);
    return true;
  }
  if (enters) return true;
  if (warp.record) {
    const trace::Record polled = warp.record->records.back();
    warp.record->words.resize(warp.record->words.size() - trace::address_words(polled.form(), polled.mask));
    warp.record->records.pop_back();
  }
  --warp.now.pc;
  warp.now.spins = kSpinLimit;
  warp.now.locks = false;
  return true;
}

}  // namespace lockstep::exec
