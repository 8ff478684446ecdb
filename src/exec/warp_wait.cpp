#include "exec/warp_wait.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <utility>

#include "exec/signal_log.hpp"
#include "exec/warp_poll.hpp"

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

/// Of a loop's lanes that have loaded: which of them leave it before they load again. No register changes.
LaneMask leaving(WarpState& warp, const SpinLoop& loop, LaneMask lanes) {
  std::vector<LaneSlots> kept;
  for (const Slot slot : loop.written) kept.push_back(*warp.at(slot));
  const WarpFlags flags = warp.flags;
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
      const Operation& op = warp.operations[pc];
      const LaneMask active = op.guard.exists() ? mask & warp.guard(op) : mask;
      const bool branches = op.handler == Handler::kBranch;
      if (branches) go(op.target, active);
      if (op.handler == Handler::kLane && active != 0) warp.lane(op, active);
      go(pc + 1, branches ? mask & ~active : mask);
    }
  };
  go(loop.load + 1, lanes);
  pass(loop.load + 1, loop.end + 1);
  pass(loop.begin, loop.load);
  for (std::size_t i = 0; i < kept.size(); ++i) *warp.at(loop.written[i]) = kept[i];
  warp.flags = flags;
  return left;
}

/// A record for each word, with the lanes that wait for it.
void note_awaited(WarpState& warp, LaneMask waited, const Addresses& a, const std::uint32_t needed[kLanes]) {
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
    warp.record->words.push_back(word);
    warp.record->words.push_back(signals);
    warp.record->records.push_back(
        trace::Record::make(warp.machine->kernel.await_record(), trace::AddressForm::kAffine, lanes));
  }
}

/// For which signals lanes have waited that leave the loop now: for the first after which all values up to
/// now would have let them leave.
void note_wait(WarpState& warp, const SpinLoop& loop, const Operation& op, LaneMask left,
               const Addresses& a) {
  const SignalLog& log = *warp.machine->options.signals;
  const MemoryForm& form = warp.machine->kernel.memory()[op.detail];
  std::uint32_t needed[kLanes];
  LaneMask waited = 0;
  for_lanes(left, [&](int l) {
    const Address word = word_of(a.lane[l]);
    if (log.value(word, 0) != word_at(word)) return;  // nobody has signalled it, or something else wrote
    waited |= LaneMask{1} << l;
    needed[l] = log.signals(word);
  });
  LaneSlots& loaded = *warp.at(warp.slots[op.operands]);
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
    leaves = known == 0 ? 0 : leaving(warp, loop, known);
    for_lanes(leaves, [&](int l) { --needed[l]; });
  }
  loaded = now;
  note_awaited(warp, waited, a, needed);
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
  const LaneMask left = leaving(warp, loop, active);
  if (left != 0) {
    if (warp.record) note_wait(warp, loop, op, left, a);
    return true;
  }
  if (warp.record) {
    const trace::Record load = warp.record->records.back();
    warp.record->words.resize(warp.record->words.size() - trace::address_words(load.form(), load.mask));
    warp.record->records.pop_back();
  }
  --warp.now.pc;
  warp.now.spins = kSpinLimit;
  warp.now.locks = false;
  return true;
}

}  // namespace lockstep::exec
