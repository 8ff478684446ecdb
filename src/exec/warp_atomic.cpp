// atom and red of a warp.
#include <cstring>

#include "exec/access_set.hpp"
#include "exec/warp_access.hpp"
#include "exec/warp_instructions.hpp"
#include "exec/warp_mbarrier.hpp"
#include "exec/warp_poll.hpp"
#include "exec/warp_wait.hpp"

namespace lockstep::exec {

namespace {

/// One element of each lane. `old`: what was there. Lanes that have changed it.
LaneMask change(const AtomicForm& what, unsigned bytes, LaneMask global, LaneMask active,
                std::byte* const* where, const LaneValues& b, const LaneValues& c, LaneValues& old) {
  LaneMask changed = 0;
  with_width(bytes, [&](auto width) {
    using Value = decltype(width);
    for_lanes(active, [&](int l) {
      const AtomicFn fn = (global >> l & 1) != 0 ? what.global : what.fn;
      old.lane[l] = read<Value>(where[l]);
      const auto next = static_cast<Value>(fn(old.lane[l], b.lane[l], c.lane[l]));
      write(where[l], next);
      changed |= LaneMask{next != old.lane[l]} << l;
    });
  });
  return changed;
}

/// atom.exch and atom.cas of 128 bits.
void exchange_wide(WarpState& warp, const Operation& op, LaneMask active, const Pointers& where) {
  const AtomicForm& what = warp.machine->kernel.atomics()[op.second];
  const OperandRef* const operands = warp.operands + op.operands;
  const LaneValues* const b = warp.at(operands[op.destinations]);
  const LaneValues* const c = what.compare ? warp.at(operands[op.destinations + 1]) : b;
  for_lanes(active, [&](int l) {
    const auto low = read<std::uint64_t>(where.lane[l]), high = read<std::uint64_t>(where.lane[l] + 8);
    const std::uint64_t give[2] = {c[0].lane[l], c[1].lane[l]};
    if (!what.compare || (low == b[0].lane[l] && high == b[1].lane[l]))
      std::memcpy(where.lane[l], give, sizeof give);
    if (op.destinations == 0 || !operands[0].exists()) return;
    warp.at(operands[0])[0].lane[l] = low;
    warp.at(operands[0])[1].lane[l] = high;
  });
}

/// Its elements one after the other. `old`: what the lanes' last ones were. `apart`: other CTAs may reduce
/// those in global memory at this moment.
void change_elements(WarpState& warp, const Operation& op, LaneMask active, bool apart, const Addresses& a,
                     Pointers& where, LaneValues& old) {
  const MemoryForm& form = warp.machine->kernel.memory()[op.detail];
  const AtomicForm& what = warp.machine->kernel.atomics()[op.second];
  LaneMask global = 0;
  for_lanes(active, [&](int l) {
    if (reinterpret_cast<Address>(where.lane[l]) == a.lane[l]) global |= LaneMask{1} << l;
  });
  const OperandRef* const to = warp.operands + op.operands;
  const OperandRef* const from = to + op.destinations;
  for (unsigned i = 0; i < form.count; ++i) {
    const LaneValues& b = *warp.at(from[i]);
    const LaneValues& c = what.compare ? *warp.at(from[form.count + i]) : b;
    if (apart)
      for_lanes(global, [&](int l) {
        warp.machine->accesses->reduce({a.lane[l] + i * form.bytes, b.lane[l], what.global, form.bytes});
      });
    if (change(what, form.bytes, global, apart ? active & ~global : active, where.lane, b, c, old) != 0)
      ++warp.machine->watch.changes;
    if (what.returns && to[i].exists())
      for_lanes(active, [&](int l) { warp.at(to[i])->lane[l] = old.lane[l]; });
    for_lanes(active, [&](int l) { where.lane[l] += form.bytes; });
  }
}

}  // namespace

void execute_atomic(WarpState& warp, const Operation& op, LaneMask active) {
  const MemoryForm& form = warp.machine->kernel.memory()[op.detail];
  const AtomicForm& what = warp.machine->kernel.atomics()[op.second];
  Access access;
  const Addresses& a = access.addresses;
  const std::uint32_t bytes = std::uint32_t{form.bytes} * form.count;
  if (!locate(warp, form, active, bytes, access)) return;
  const bool apart = warp.machine->accesses && what.commutes;
  Pointers where;
  (void)resolve(warp, form, active, bytes, a, access.span, apart ? Use::kReduce : Use::kWrite, where);
  if (warp.machine->watch.on()) watch_reads(warp, form, active, a);
  if (!what.fn || apart) ++warp.machine->watch.changes;  // maybe
  const bool signals = form.signals && warp.machine->options.signals;
  std::vector<Address> words;
  if (signals) {
    words = signal_words(warp, active, a, bytes);
    before_signal(warp, words);
  }
  LaneValues old{};
  if (what.fn)
    change_elements(warp, op, active, apart, a, where, old);
  else
    exchange_wide(warp, op, active, where);
  if (signals) after_signal(warp, words);
  if (!what.fn) return;
  if (what.returns) note_poll(warp, active, a, old, what.compare);
  if (what.mbarrier != ~0u) complete_bytes_of_lanes(warp, what.mbarrier, active, bytes);
}

}  // namespace lockstep::exec
