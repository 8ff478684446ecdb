#include "mem/partition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "util/error.hpp"

namespace lockstep::mem {
namespace {

/// Kernel slots, and the one that copies are booked to.
std::size_t counter_sets(const config::GpuConfig& config) { return config.launch.max_kernels + 1u; }

void check(const config::GpuConfig& config) {
  if (config.l2.halves > 1 && (config.l2.ways < 2 || config.l2.mshrs < 2))
    throw UserError("l2.ways and l2.mshrs must be at least 2 with l2.halves = 2: found " +
                    std::to_string(config.l2.ways) + " and " + std::to_string(config.l2.mshrs));
}

}  // namespace

Partition::Partition(const config::GpuConfig& config, icnt::Fabric& fabric, const AddressMap& map,
                     std::uint32_t index, bool skip)
    : fabric_(&fabric),
      index_(index),
      skip_(skip),
      l2_khz_(config.clock.l2_khz),
      dram_khz_(config.clock.dram_khz),
      core_to_l2_(config.clock.core_khz, config.clock.l2_khz),
      core_to_dram_(config.clock.core_khz, config.clock.dram_khz),
      l2_to_core_(config.clock.l2_khz, config.clock.core_khz),
      dram_to_core_(config.clock.dram_khz, config.clock.core_khz),
      dram_to_l2_(config.clock.dram_khz, config.clock.l2_khz),
      counters_{std::vector<stats::PartitionCounters>(counter_sets(config)),
                std::vector<stats::IcntCounters>(counter_sets(config))},
      controller_(config, index, counters_.mem.data()) {
  check(config);
  const std::uint32_t count = config.l2.slices_per_partition;
  slices_.reserve(count);
  for (std::uint32_t i = 0; i < count; ++i)
    slices_.emplace_back(config, fabric, map, controller_, counters_, index * count + i);
}

Cycle Partition::advance(Cycle from, Cycle to) {
  const Cycle l2_first = core_to_l2_.ceil(from), l2_end = core_to_l2_.ceil(to),
              dram_end = core_to_dram_.ceil(to);
  take_mail(l2_first);
  if (skip_) {
    run(l2_end, dram_end);
  } else {
    run_all(from, l2_end, dram_end);
  }
  const Cycle dram_next = skip_ && controller_.may_lag() ? kNever : controller_.next_event();
  const Cycle next = std::min(l2_to_core_.floor(next_l2_edge()), dram_to_core_.floor(dram_next));
  return std::max(next, to);
}

/// The state of a slice without mail is not even read.
void Partition::take_mail(Cycle l2_first) {
  const auto first = static_cast<std::uint32_t>(index_ * slices_.size());
  for (std::uint32_t i = 0; i < slices_.size(); ++i)
    if (l2_first == 0 || fabric_->mail_for_slice(first + i)) slices_[i].gather(l2_first);
}

/// Is the DRAM edge not later than the L2 edge?
bool Partition::dram_first(Cycle dram_edge, Cycle l2_edge) const {
  if (dram_edge == kNever || l2_edge == kNever) return dram_edge != kNever;
  return sim::Wide{dram_edge} * l2_khz_ <= sim::Wide{l2_edge} * dram_khz_;
}

void Partition::run(Cycle l2_end, Cycle dram_end) {
  for (;;) {
    const Cycle l2 = std::min(next_l2_edge(), l2_end);
    const Cycle wrote = controller_.run(dram_end, l2);
    if (wrote != kNever) announce_write_room(wrote);
    if (wrote != kNever || controller_.next_return() < l2) continue;  // something is due earlier than thought
    if (l2 == l2_end) return;
    tick_l2(l2, false);
  }
}

void Partition::run_all(Cycle from, Cycle l2_end, Cycle dram_end) {
  Cycle l2 = core_to_l2_.ceil(from), dram = core_to_dram_.ceil(from);
  while (l2 < l2_end || dram < dram_end) {
    if (dram < dram_end && (l2 >= l2_end || dram_first(dram, l2))) {
      if (controller_.tick(dram, true)) announce_write_room(dram);
      ++dram;
    } else {
      tick_l2(l2++, true);
    }
  }
}

Cycle Partition::next_l2_edge() const {
  Cycle next = controller_.next_return();
  for (const Slice& slice : slices_) next = std::min(next, slice.next_event());
  return next;
}

void Partition::tick_l2(Cycle edge, bool visit_all) {
  controller_.take_returns(
      edge, [&](const FillTarget& fill) { slices_[fill.slice].fill(edge, fill.mshr, fill.sectors); });
  for (Slice& slice : slices_)
    if (visit_all || slice.next_event() <= edge) slice.tick(edge);
}

void Partition::announce_write_room(Cycle dram_edge) {
  for (Slice& slice : slices_) slice.write_room(dram_to_l2_.ceil(dram_edge));
}

void Partition::settle(Cycle at) {
  if (controller_.may_lag()) controller_.catch_up(core_to_dram_.ceil(at));
}

void Partition::take_counters(std::uint8_t kernel, stats::KernelCounters& total) {
  stats::add(total.mem, std::exchange(counters_.mem[kernel], {}));
  stats::add(total.icnt, std::exchange(counters_.icnt[kernel], {}));
}

bool Partition::quiescent() const {
  return controller_.idle() &&
         std::all_of(slices_.begin(), slices_.end(), [](const Slice& slice) { return slice.quiescent(); });
}

void Partition::dump_idle_locks(std::string& out) const {
  if (!quiescent() || oldest_lock() == kNever) return;
  fmt::format_to(std::back_inserter(out), "memory partition {}:\n", index_);
  for (const Slice& slice : slices_) slice.dump_locks(out);
}

void Partition::dump(std::string& out) const {
  if (quiescent()) return;
  fmt::format_to(std::back_inserter(out), "memory partition {}:\n", index_);
  for (const Slice& slice : slices_) slice.dump(out);
  controller_.dump(out);
}

}  // namespace lockstep::mem
