#include "exec/warp_copy.hpp"

#include <algorithm>
#include <cstring>

#include "exec/warp_access.hpp"
#include "exec/warp_mbarrier.hpp"
#include "exec/warp_multicast.hpp"
#include "exec/warp_multimem.hpp"
#include "trace/mbarrier_words.hpp"

namespace lockstep::exec {

namespace {

/// 16 bytes of a bulk copy.
void copy_row(const CopyForm& form, std::byte* to, const std::byte* from) {
  if (!form.reduction) std::memmove(to, from, CopyForm::kUnitBytes);
  for (unsigned i = 0; form.reduction && i < CopyForm::kUnitBytes; i += form.element) {
    std::uint64_t old = 0, value = 0;
    std::memcpy(&old, to + i, form.element);
    std::memcpy(&value, from + i, form.element);
    value = form.reduction(old, value, value);
    std::memcpy(to + i, &value, form.element);
  }
}

/// One lane's bulk copy, from 16-byte line to 16-byte line.
void copy_lines(WarpState& warp, const CopyForm& form, std::uint32_t l, Address to, Address from,
                std::uint64_t bytes) {
  const StateSpace to_state_space = warp.machine->kernel.memory()[form.to].state_space,
                   from_reach = warp.machine->kernel.memory()[form.from].state_space;
  for (std::uint64_t done = 0; done < bytes; done += CopyForm::kUnitBytes) {
    const std::byte* const source = resolve_one(warp, from_reach, l, CopyForm::kUnitBytes, from + done);
    if (!source) warp.fault(FaultKind::kIllegalAddress, LaneMask{1} << l, from + done, {});
    if (form.multimem) {
      const auto places = multimem_places(warp, l, CopyForm::kUnitBytes, to + done);
      for (unsigned i = 0; i < places.count; ++i)
        copy_row(form, reinterpret_cast<std::byte*>(places.at[i]), source);
      continue;
    }
    std::byte* const target = resolve_one(warp, to_state_space, l, CopyForm::kUnitBytes, to + done);
    if (!target) warp.fault(FaultKind::kIllegalAddress, LaneMask{1} << l, to + done, {});
    copy_row(form, target, source);
  }
}

/// Records the lanes' lines of global memory.
void prefetch_lines(WarpState& warp, const MemoryForm& form, LaneMask active) {
  if (!warp.record) return;
  Addresses a;
  find_addresses(warp, form, a);
  LaneMask there = 0;
  for_lanes<std::uint32_t>(active, [&](std::uint32_t l) {
    a.lane[l] = line_of(a.lane[l]);
    const bool global = form.state_space == StateSpace::kGlobal || form.state_space == StateSpace::kGeneric;
    if (global && warp.machine->view.accessible(a.lane[l], 1)) there |= LaneMask{1} << l;
  });
  there != 0 ? warp.note(there, a) : warp.note(active);
}

/// Records the bytes. What is not there is left out: a prefetch reads nothing that could be missed.
void prefetch_bulk(WarpState& warp, trace::BulkRuns& runs, const CopyForm& form, LaneMask active) {
  Addresses from;
  find_addresses(warp, warp.machine->kernel.memory()[form.from], from);
  if (warp.record && active == 0) warp.note(active);
  for_lanes<std::uint32_t>(active, [&](std::uint32_t l) {
    const std::uint64_t bytes = static_cast<std::uint32_t>(warp.at(form.size)->lane[l]);
    if (((bytes | from.lane[l]) & (CopyForm::kUnitBytes - 1)) != 0)
      warp.fault(FaultKind::kMisalignedAddress, LaneMask{1} << l, from.lane[l],
                 "address and size must be multiples of 16");
    if (!warp.record) return;
    runs.clear();
    note_prefetch(warp, runs, from.lane[l], bytes);
    note_bulk(warp, runs, {});
  });
}

}  // namespace

void note_prefetch(const WarpState& warp, trace::BulkRuns& runs, Address row, std::uint64_t bytes) {
  if (bytes > 0 && warp.machine->view.accessible(row, bytes)) runs.add(row, bytes);
}

void execute_copy_async(WarpState& warp, const Operation& op, LaneMask active) {
  const CopyForm& form = warp.machine->kernel.copies()[op.detail];
  if (form.prefetch) return prefetch_lines(warp, warp.machine->kernel.memory()[form.from], active);
  const MemoryForm &from_form = warp.machine->kernel.memory()[form.from],
                   &to_form = warp.machine->kernel.memory()[form.to];
  Addresses from, to;
  find_addresses(warp, from_form, from);
  find_addresses(warp, to_form, to);
  if (warp.record) warp.note(active, from);
  if (active == 0) return;
  Pointers target, source;
  (void)resolve(warp, to_form, active, form.bytes, to, Use::kWrite, target);
  LaneMask reading = 0;
  for_lanes<std::uint32_t>(active, [&](std::uint32_t l) {
    const bool ignored = form.ignore.exists() && (warp.at(form.ignore)->lane[l] & 1) != 0;
    const bool empty = form.size.exists() && static_cast<std::uint32_t>(warp.at(form.size)->lane[l]) == 0;
    if (!ignored && !empty) reading |= LaneMask{1} << l;
  });
  if (reading != 0) (void)resolve(warp, from_form, reading, form.bytes, from, Use::kRead, source);
  for_lanes<std::uint32_t>(active, [&](std::uint32_t l) {
    std::byte bytes[16] = {};
    if (reading >> l & 1) {
      const std::uint64_t size =
          form.size.exists() ? static_cast<std::uint32_t>(warp.at(form.size)->lane[l]) : form.bytes;
      std::memcpy(bytes, source.lane[l], std::min<std::uint64_t>(size, form.bytes));
    }
    std::memcpy(target.lane[l], bytes, form.bytes);
  });
}

void execute_copy_bulk(WarpState& warp, trace::BulkRuns& runs, const Operation& op, LaneMask active) {
  const CopyForm& form = warp.machine->kernel.copies()[op.detail];
  if (form.prefetch) return prefetch_bulk(warp, runs, form, active);
  const auto& memory = warp.machine->kernel.memory();
  Addresses from, to, barrier{};
  find_addresses(warp, memory[form.from], from);
  find_addresses(warp, memory[form.to], to);
  if (form.mbarrier != ~0u) find_addresses(warp, memory[form.mbarrier], barrier);
  if (warp.record && active == 0) warp.note(active);
  const auto same = [&](std::uint32_t a, std::uint32_t b) {
    return from.lane[a] == from.lane[b] && to.lane[a] == to.lane[b] &&
           warp.at(form.size)->lane[a] == warp.at(form.size)->lane[b];
  };
  if (memory[form.to].state_space == StateSpace::kGlobal && !form.reduction)
    active = storing_lanes(active, same);
  for_lanes<std::uint32_t>(active, [&](std::uint32_t l) {
    const std::uint64_t bytes = static_cast<std::uint32_t>(warp.at(form.size)->lane[l]);
    const LaneMask self = LaneMask{1} << l;
    if (((bytes | from.lane[l] | to.lane[l]) & (CopyForm::kUnitBytes - 1)) != 0)
      warp.fault(FaultKind::kMisalignedAddress, self,
                 from.lane[l] & (CopyForm::kUnitBytes - 1) ? from.lane[l] : to.lane[l],
                 "addresses and size must be multiples of 16");
    Signalled signalled;
    const auto deliver = [&](Address target, Address mbarrier_at) {
      copy_lines(warp, form, l, target, from.lane[l], bytes);
      if (form.mbarrier == ~0u) return;
      complete_bytes(warp, form.mbarrier, l, mbarrier_at, static_cast<std::uint32_t>(bytes), &signalled);
    };
    each_target(warp, form.multicast, l, to.lane[l], barrier.lane[l], deliver);
    if (!warp.record) return;
    runs.clear();
    if (memory[form.from].state_space == StateSpace::kGlobal) runs.add(from.lane[l], bytes);
    if (memory[form.to].state_space == StateSpace::kGlobal) runs.add(to.lane[l], bytes);
    if (runs.runs().empty()) signalled.bytes = static_cast<std::uint32_t>(bytes);
    note_bulk(warp, runs, signalled);
  });
}

void note_bulk(WarpState& warp, const trace::BulkRuns& collected, const Signalled& signalled) {
  const auto& runs = collected.runs();
  const bool signals = signalled.number != 0;
  std::size_t next = 0;
  do {
    const std::size_t count = std::min<std::size_t>(runs.size() - next, trace::kBulkRunsPerRecord);
    const bool last = next + count == runs.size();
    Addresses words{};
    words.lane[0] = last ? trace::signal_word(signalled.number, signalled.ranks) : 0;
    words.lane[1] = (last && signals ? 1 : 0) | std::uint64_t{signalled.bytes} << 32;
    for (std::size_t i = 0; i < count; ++i) {
      const trace::BulkRunWords run = trace::pack(runs[next + i]);
      words.lane[2 * i + 2] = run.place;
      words.lane[2 * i + 3] = run.shape;
    }
    warp.note(static_cast<LaneMask>((std::uint64_t{1} << (2 * count + 2)) - 1), words);
    next += count;
  } while (next < runs.size());
}

}  // namespace lockstep::exec
