// The DRAM side of a memory partition: its channels, and the way of the data back to the slices.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "config/gpu_config.hpp"
#include "mem/dram_channel.hpp"
#include "mem/dram_map.hpp"
#include "sim/clock.hpp"
#include "stats/counters.hpp"
#include "util/ring.hpp"
#include "util/types.hpp"

namespace lockstep::mem {

/// Data take dram.latency_ps from a channel to the L2, so the channels may lag behind the L2: each is brought
/// up to date by what is pushed to it, and all of them before data from any can arrive. While a write queue
/// is full they do not lag, as slices may wait for room.
class Controller {
 public:
  Controller(const config::GpuConfig& config, std::uint32_t partition, stats::PartitionCounters* counters)
      : map_(config),
        l2_khz_(config.clock.l2_khz),
        dram_khz_(config.clock.dram_khz),
        to_dram_(config.clock.l2_khz, config.clock.dram_khz),
        to_l2_(config.clock.dram_khz, config.clock.l2_khz),
        latency_(nearest_cycles(config.dram.latency_ns_x1000, config.clock.l2_khz)),
        returns_(config.dram.channels_per_partition) {
    const std::uint32_t channels = config.dram.channels_per_partition;
    const std::uint64_t all = std::uint64_t{config.l2.partitions} * channels;
    for (std::uint32_t c = 0; c < channels; ++c)
      channels_.emplace_back(config.dram, counters,
                             config.dram.tREFI + config.dram.tREFI * (partition * channels + c) / all);
    for (unsigned m = 0; m < bursts_.size(); ++m) {
      bursts_[m] = bursts(static_cast<SectorMask>(m), config.dram.burst_bytes);
      fetches_[m] =
          bursts(static_cast<SectorMask>(m), std::max(config.dram.burst_bytes, config.l2.fetch_bytes))
              .covered;
    }
  }

  [[nodiscard]] DramPlace place(std::uint64_t local_line, std::uint32_t slice) const {
    return map_.place(local_line, slice);
  }
  [[nodiscard]] bool write_room(const DramPlace& p) const { return channels_[p.channel].write_room(); }

  /// The sectors that are fetched when `sectors` are read: whole bursts.
  [[nodiscard]] SectorMask whole_bursts(SectorMask sectors) const { return bursts_[sectors].covered; }

  /// The sectors that a miss of these brings: the aligned blocks of l2.fetch_bytes, and whole bursts.
  [[nodiscard]] SectorMask whole_fetch(SectorMask sectors) const { return fetches_[sectors]; }

  /// At L2 edge `now`.
  void read(Cycle now, const DramPlace& p, std::uint8_t kernel, const FillTarget& fill) {
    push(now, p, {p.row, p.bank, bursts_[fill.sectors].count, kernel, false, fill});
  }
  void write(Cycle now, const DramPlace& p, std::uint8_t kernel, SectorMask sectors) {
    push(now, p, {p.row, p.bank, bursts_[sectors].count, kernel, true, {}});
  }

  /// DRAM edge at which something is due; while the channels lag it may be past.
  [[nodiscard]] Cycle next_event() const { return next_; }
  [[nodiscard]] bool may_lag() const { return !full_; }
  /// Does what is due before DRAM edge `end`. Precondition: may_lag(), or nothing is due.
  void catch_up(Cycle end);
  /// One DRAM edge. True when a write left a queue.
  bool tick(Cycle edge, bool visit_all);
  /// Unless the channels may lag: edges with something due, in order, while they are before `end` and not
  /// later in time than the L2 edge `l2`; stops after one that concerns the slices before that. Returns the
  /// edge at which a write left a queue, else kNever.
  [[nodiscard]] Cycle run(Cycle end, Cycle l2) {
    if (!full_) return kNever;
    const sim::Wide limit = sim::Wide{l2} * dram_khz_;
    while (next_ < end && sim::Wide{next_} * l2_khz_ <= limit && next_return_ >= l2) {
      const Cycle edge = next_;
      if (!tick(edge, false)) continue;
      full_ = any_full();
      return edge;
    }
    return kNever;
  }

  /// L2 edge at which the next data arrive, or may arrive from a channel that lags.
  [[nodiscard]] Cycle next_return() const { return std::min(next_return_, next_catch_up_); }
  /// f(FillTarget) for all data that have arrived by L2 edge `now`.
  template <class F>
  void take_returns(Cycle now, F&& f) {
    if (next_catch_up_ <= now) {
      catch_up(to_dram_.floor(now) + 1);
      next_catch_up_ = channels_idle() ? kNever : now + latency_ + 1;
    }
    if (next_return_ > now) return;
    next_return_ = kNever;
    for (Ring<Return>& ring : returns_) {
      for (; !ring.empty() && ring.front().at <= now; ring.pop()) f(ring.front().fill);
      if (!ring.empty()) next_return_ = std::min(next_return_, ring.front().at);
    }
  }

  [[nodiscard]] bool idle() const;
  void dump(std::string& out) const;

  template <class A>
  void persist(A& a) {
    a.members(*this, a.given(map_), a.given(l2_khz_), a.given(dram_khz_), a.given(to_dram_), a.given(to_l2_),
              a.given(latency_), a.given(bursts_), a.given(fetches_), channels_, returns_, next_,
              next_return_, next_catch_up_, full_);
  }

 private:
  struct Bursts {
    std::uint8_t count;
    SectorMask covered;
  };
  struct Return {
    Cycle at;  // L2 edge
    FillTarget fill;
  };

  static Cycle nearest_cycles(std::uint64_t ps, std::uint64_t khz) {
    return (ps * khz + 500'000'000) / 1'000'000'000;
  }
  static Bursts bursts(SectorMask sectors, std::uint32_t burst_bytes);
  void push(Cycle now, const DramPlace& p, const DramTransaction& work);
  /// Whether a write left.
  bool tick_channel(std::size_t c, Cycle edge, Cycle end);
  void run_channel(std::size_t c, Cycle end) {
    while (channels_[c].next_event() < end) (void)tick_channel(c, channels_[c].next_event(), end);
  }
  [[nodiscard]] bool channels_idle() const {
    return std::ranges::all_of(channels_, [](const DramChannel& channel) { return channel.idle(); });
  }
  [[nodiscard]] bool any_full() const {
    return !std::ranges::all_of(channels_, [](const DramChannel& channel) { return channel.write_room(); });
  }

  DramMap map_;
  std::uint64_t l2_khz_, dram_khz_;
  sim::ClockRatio to_dram_, to_l2_;
  Cycle latency_;  // L2 cycles
  std::array<Bursts, 16> bursts_{};
  std::array<SectorMask, 16> fetches_{};
  std::vector<DramChannel> channels_;
  std::vector<Ring<Return>> returns_;  // by channel, ascending
  Cycle next_ = kNever, next_return_ = kNever;
  Cycle next_catch_up_ = kNever;  // L2 edge before which nothing arrives but what returns_ has
  bool full_ = false;             // a write queue is
};

}  // namespace lockstep::mem
