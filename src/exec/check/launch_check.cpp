#include "exec/check/launch_check.hpp"

#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <utility>

#include "exec/machine.hpp"
#include "ptx/printer.hpp"

namespace lockstep::exec {

namespace {

using Kind = AccessKind;

const char* name(Kind kind) {
  return kind == Kind::kRead ? "read" : kind == Kind::kWrite ? "write" : "atomic";
}

const char* name(Space space) {
  switch (space) {
    case Space::kShared:
      return "shared";
    case Space::kLocal:
      return "local";
    default:
      return "global";
  }
}

bool orders(const ptx::Instruction& i) {
  return i.has(ptx::Mod::kAcquire) || i.has(ptx::Mod::kRelease) || i.has(ptx::Mod::kAcqRel);
}

/// "PTX ISA 9.0", 8.3 (strong operations), and cache operators with which programs read what others write.
bool is_strong(const ptx::Instruction& i) {
  using ptx::Mod;
  return orders(i) || i.has(Mod::kVolatile) || i.has(Mod::kRelaxed) || i.has(Mod::kMmio) || i.has(Mod::kCv) ||
         i.has(Mod::kCg) || i.has(Mod::kWt);
}

}  // namespace

LaunchCheck::LaunchCheck(Checker& checker, const Machine& machine)
    : checker_(checker),
      machine_(machine),
      launch_(++checker.launches_),
      shared_bytes_(machine.launch.dynamic_shared_bytes == 0
                        ? machine.kernel.shared_bytes()
                        : machine.kernel.dynamic_shared_offset() + machine.launch.dynamic_shared_bytes),
      traits_(machine.kernel.operations().size()) {}

void LaunchCheck::start(CtaCheck& cta, std::uint64_t index, std::uint32_t warps) const {
  cta.index = index;
  cta.written.assign((shared_bytes_ + 63) / 64, 0);
  cta.cells.reset(shared_bytes_);
  cta.order.reset(warps);
  cta.running.assign(warps, 0);
}

LaunchCheck::Traits LaunchCheck::traits(std::uint32_t operation) {
  Traits& traits = traits_[operation];
  if (traits.known) return traits;
  const ptx::Instruction& i = machine_.kernel.instruction(operation);
  const bool fence = i.op() == ptx::Opcode::kMembar || i.op() == ptx::Opcode::kFence;
  traits.known = true;
  traits.syncs_lanes = i.has(ptx::Mod::kSync);
  traits.fences = fence || orders(i);
  traits.fences_grid = traits.fences && !i.has(ptx::Mod::kCta);
  traits.strong = is_strong(i);
  return traits;
}

void LaunchCheck::run(CtaCheck& cta, std::uint32_t warp, LaneMask mask, LaneMask live) const {
  LaneMask& running = cta.running[warp];
  if (running == mask || !checker_.checks_.race) return;
  LaneOrder& lanes = cta.order.implicit_lanes(warp);
  if (running != 0) lanes.join(running, live | running, checker_.now_);
  lanes.join(mask, live, checker_.now_);
  running = mask;
}

void LaunchCheck::sync_lanes(CtaCheck& cta, std::uint32_t warp, LaneMask mask, LaneMask live) const {
  if (checker_.checks_.race) cta.order.explicit_lanes(warp).join(mask, live, checker_.now_);
}

void LaunchCheck::fence(CtaCheck& cta, std::uint32_t warp, bool grid) {
  if (!checker_.checks_.race) return;
  cta.order.fence(warp, checker_.now_);
  if (grid) order_.fence(static_cast<std::uint32_t>(cta.index), checker_.now_);
}

void LaunchCheck::join_cluster(CtaCheck& cta) {
  if (!checker_.checks_.race) return;
  cta.order.join_all(checker_.now_);
  order_.fence(static_cast<std::uint32_t>(cta.index), checker_.now_);
}

void LaunchCheck::access(CtaCheck& cta, const WarpAccess& access) {
  ++checker_.now_;
  order_.access(static_cast<std::uint32_t>(cta.index));
  for (LaneMask left = access.mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
    if (!is_legal(cta, access, lane)) continue;
    if (checker_.checks_.init) check_written(cta, access, lane);
    if (checker_.checks_.race) check_race(cta, access, lane);
  }
}

/// Reports an access that is not.
bool LaunchCheck::is_legal(CtaCheck& cta, const WarpAccess& access, std::uint32_t l) {
  const LaneAccess& lane = access.lanes[l];
  const bool reports = checker_.checks_.memory;
  if (access.aligned && (lane.address & (std::bit_floor(access.bytes) - 1)) != 0) {
    if (reports)
      report({FindingKind::kMisaligned, 0, access.operation, 0},
             [&] { return finding(FindingKind::kMisaligned, cta, access, l); });
    return false;
  }
  if (lane.space == Space::kGlobal && (!reports || checker_.allocations_.hold(lane.address, access.bytes)))
    return true;
  if (lane.space == Space::kLocal && lane.inside) return true;
  if (lane.space == Space::kShared && lane.owner && lane.address + access.bytes <= shared_bytes_) return true;
  if (!reports) return false;
  CheckedAllocations::Place place;
  if (lane.space == Space::kGlobal) place = checker_.allocations_.describe(lane.address);
  if (lane.space == Space::kShared)
    place.text = fmt::format("the CTA has {} bytes of shared memory", shared_bytes_);
  if (lane.space == Space::kLocal) place.text = "outside of the thread's local memory";
  const FindingKind kind = place.freed ? FindingKind::kUseAfterFree : FindingKind::kOutOfBounds;
  report({kind, 0, access.operation, 0}, [&] {
    Finding f = finding(kind, cta, access, l);
    f.detail = place.text;
    return f;
  });
  return false;
}

void LaunchCheck::check_written(CtaCheck& cta, const WarpAccess& access, std::uint32_t l) {
  const LaneAccess& lane = access.lanes[l];
  const bool shared = lane.space == Space::kShared;
  if (!shared && (lane.space != Space::kGlobal || !Checker::is_tracked(lane.address))) return;
  if (access.kind != Kind::kWrite && !access.copies) {
    const auto unwritten = shared ? first_bit(lane.owner->written, lane.address, access.bytes, false)
                                  : checker_.written_.first(lane.address, access.bytes, false);
    if (unwritten)
      report({FindingKind::kUninitialised, 0, access.operation, 0}, [&] {
        Finding f = finding(FindingKind::kUninitialised, cta, access, l);
        f.detail = fmt::format("nothing has written the byte at {:#x}", *unwritten);
        return f;
      });
  }
  if (access.kind != Kind::kRead && !access.copies)
    write({shared ? lane.owner : nullptr, lane.address}, access.bytes);
}

void LaunchCheck::write(const End& to, std::uint64_t bytes) {
  if (!checker_.checks_.init) return;
  if (to.owner)
    set_bits(to.owner->written, to.address, bytes, true);
  else
    checker_.wrote(to.address, bytes);
}

void LaunchCheck::copy(const End& to, const End& from, std::uint64_t bytes) {
  if (!checker_.checks_.init) return;
  if (!to.owner && !from.owner) return checker_.copied(to.address, from.address, bytes);
  const auto written = [&](std::uint64_t i) {
    if (from.owner) return !first_bit(from.owner->written, from.address + i, 1, false);
    return !Checker::is_tracked(from.address) || !checker_.written_.first(from.address + i, 1, false);
  };
  for (std::uint64_t i = 0; i < bytes; ++i) {
    if (to.owner)
      set_bits(to.owner->written, to.address + i, 1, written(i));
    else if (Checker::is_tracked(to.address))
      checker_.written_.set(to.address + i, 1, written(i));
  }
}

void LaunchCheck::check_race(CtaCheck& cta, const WarpAccess& access, std::uint32_t l) {
  const LaneAccess& lane = access.lanes[l];
  RaceEvent event;
  event.time = checker_.now_;
  event.launch = launch_;
  event.cta = static_cast<std::uint32_t>(cta.index);
  event.operation = access.operation;
  event.warp = static_cast<std::uint8_t>(access.warp);
  event.lane = static_cast<std::uint8_t>(l);
  event.strong = access.strong || access.kind == Kind::kAtomic;
  event.atomic = access.kind == Kind::kAtomic;
  const auto check = [&](RaceCell& cell, Address at, unsigned bytes) {
    check_cell(cta, access, event, cell, at, bytes);
  };
  if (lane.space == Space::kGlobal) checker_.cells_.each(lane.address, access.bytes, check);
  if (lane.space == Space::kShared && lane.owner == &cta) cta.cells.each(lane.address, access.bytes, check);
}

/// Two writes of the same value are no race. `before`: the earlier write.
bool LaunchCheck::changes(const WarpAccess& access, const RaceEvent& event, const RaceEvent& before,
                          Address at, unsigned bytes) const {
  if (!access.values) return before.time != event.time;
  const LaneAccess& lane = access.lanes[event.lane];
  const std::byte* const mine = access.values[event.lane].data() + (at - lane.address);
  if (before.time == event.time) {  // by another lane of the same instruction
    const std::byte* const others =
        access.values[before.lane].data() + (at - access.lanes[before.lane].address);
    return std::memcmp(mine, others, bytes) != 0;
  }
  return !lane.memory || std::memcmp(mine, lane.memory + (at - lane.address), bytes) != 0;
}

void LaunchCheck::check_cell(CtaCheck& cta, const WarpAccess& access, const RaceEvent& event, RaceCell& cell,
                             Address at, unsigned bytes) {
  const bool global = access.lanes[event.lane].space == Space::kGlobal;
  const RaceEvent& write = cell.write;
  const bool against_write = counts(write) && !(write.strong && event.strong);
  if (access.kind == Kind::kRead) {
    if (against_write && !(global && write.atomic))
      check_pair(cta, access, write, event, Hazard::kReadAfterWrite);
    return keep_read(cta, event, cell);
  }
  if (against_write && changes(access, event, write, at, bytes))
    check_pair(cta, access, write, event, Hazard::kWriteAfterWrite);
  for (RaceEvent& read : cell.reads) {
    if (counts(read) && !(read.strong && event.strong) && !(global && event.atomic))
      check_pair(cta, access, read, event, Hazard::kWriteAfterRead);
    read = {};
  }
  cell.write = event;
}

/// In the place of one that a write could not race with unless it races with this one too, or of the latest.
void LaunchCheck::keep_read(CtaCheck& cta, const RaceEvent& event, RaceCell& cell) const {
  for (RaceEvent& read : cell.reads)
    if (!counts(read) || (read.cta == event.cta && read.warp == event.warp)) {
      read = event;
      return;
    }
  for (RaceEvent& read : cell.reads)
    if (order_of(cta, read, event) == Order::kOrdered) {
      read = event;
      return;
    }
  cell.reads[1] = event;
}

LaunchCheck::Order LaunchCheck::order_of(CtaCheck& cta, const RaceEvent& before,
                                         const RaceEvent& event) const {
  if (before.cta != event.cta) return order_.ordered(before, event.cta) ? Order::kOrdered : Order::kNone;
  if (before.warp != event.warp)
    return cta.order.ordered(before, event.warp) ? Order::kOrdered : Order::kNone;
  if (before.lane == event.lane) return Order::kOrdered;
  if (cta.order.explicit_lanes(event.warp).ordered(before.lane, event.lane, before.time))
    return Order::kOrdered;
  if (before.time == event.time) return Order::kNone;
  const bool together = (cta.running[event.warp] >> before.lane & 1) != 0 ||
                        cta.order.implicit_lanes(event.warp).ordered(before.lane, event.lane, before.time);
  return together ? Order::kImplicit : Order::kNone;
}

void LaunchCheck::check_pair(CtaCheck& cta, const WarpAccess& access, const RaceEvent& before,
                             const RaceEvent& event, Hazard hazard) {
  const Order order = order_of(cta, before, event);
  if (order == Order::kOrdered) return;
  const bool warning = order == Order::kImplicit;
  const unsigned which = 2 * static_cast<unsigned>(hazard) + (warning ? 1 : 0);
  report({FindingKind::kRace, which, event.operation, before.operation}, [&] {
    constexpr const char* kNames[] = {"read after write", "write after read", "write after write"};
    Finding f = finding(FindingKind::kRace, cta, access, event.lane);
    f.access = kNames[static_cast<unsigned>(hazard)];
    f.warning = warning;
    f.earlier = site(before.cta, before.warp * kWarpSize + before.lane, before.operation);
    if (warning) f.detail = "the lanes ran together, but nothing synchronises them (__syncwarp)";
    return f;
  });
}

void LaunchCheck::report(const Key& key, const std::function<Finding()>& make) {
  const auto [place, is_new] = found_.try_emplace(key, 0);
  if (is_new)
    place->second = checker_.findings_.add(make());
  else
    checker_.findings_.count(place->second);
}

Finding LaunchCheck::finding(FindingKind kind, const CtaCheck& cta, const WarpAccess& access,
                             std::uint32_t l) const {
  Finding f;
  f.kind = kind;
  f.access = name(access.kind);
  f.space = name(access.lanes[l].space);
  f.bytes = access.bytes;
  f.address = access.lanes[l].address;
  f.kernel = machine_.kernel.name();
  f.site = site(cta.index, access.warp * kWarpSize + l, access.operation);
  return f;
}

FindingSite LaunchCheck::site(std::uint64_t cta, std::uint32_t thread, std::uint32_t operation) const {
  const Executable& kernel = machine_.kernel;
  const ptx::Instruction& i = kernel.instruction(operation);
  const ptx::ModuleInfo& module = kernel.program().modules[kernel.function_of(operation).source->module];
  FindingSite site{module.name,        i.place.line,         {},
                   ptx::print(i.form), machine_.cta_id(cta), machine_.thread_id(thread)};
  if (i.source.line != 0 && i.source.file < module.files.size())
    site.source = fmt::format("{}:{}", module.files[i.source.file], i.source.line);
  return site;
}

}  // namespace lockstep::exec
