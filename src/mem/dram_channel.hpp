// One DRAM channel (or pseudo-channel): queues, banks, command scheduling, refresh.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/gpu_config.hpp"
#include "mem/dram_queue.hpp"
#include "mem/dram_timing.hpp"
#include "mem/fr_fcfs.hpp"
#include "stats/counters.hpp"
#include "util/ring.hpp"
#include "util/types.hpp"

namespace lockstep::mem {

/// All times are edges of the DRAM command clock. The channel acts only in tick(); what is pushed counts from
/// edge `visible` on, the first edge after the push.
class DramChannel {
 public:
  /// `counters`: one set per kernel slot, owned by the partition.
  /// `first_refresh`: edge of the first refresh; channels take turns.
  DramChannel(const config::DramGroup& dram, stats::PartitionCounters* counters, Cycle first_refresh);

  /// Reads beyond dram.read_queue wait in order of arrival outside the scheduler's view.
  void push_read(Cycle visible, const DramTransaction& work);
  /// Precondition: write_room().
  void push_write(Cycle visible, const DramTransaction& work);
  [[nodiscard]] bool write_room() const { return queue_.writes() < write_capacity_; }

  /// Discards what the last tick() worked out ahead: the next one looks at everything again.
  void mark_stale() { column_stale_ = row_stale_ = true; }

  /// At most one column and one row command, or one of both where they share a bus. Reports a read's last
  /// data and a write's departure to on_data(FillTarget, edge of the last datum's end) and on_written().
  template <class OnData, class OnWritten>
  void tick(Cycle edge, OnData&& on_data, OnWritten&& on_written) {
    refresh(edge);
    find_picks(edge);
    const bool column = column_pick_.at <= edge;
    if (row_pick_.at <= edge) {
      // On a shared bus data go first: a column command every tCCD leaves room for row commands.
      if (column && one_command_bus_) {
        row_stale_ = true;  // at the next edge an older one may be ready
      } else {
        issue_row(edge);
      }
    }
    if (column) {
      const DramTransaction* done = issue_column(edge);
      if (done && done->write) on_written();
      if (done && !done->write) on_data(done->fill, edge + read_latency_);
    }
    find_picks(edge + 1);
  }

  /// Earliest edge at which tick() does something; kNever when idle.
  [[nodiscard]] Cycle next_event() const { return next_; }
  [[nodiscard]] bool idle() const { return queue_.reads() + queue_.writes() == 0; }
  void dump(std::string& out) const;

  template <class A>
  void persist(A& a) {
    a.members(*this, a.given(read_capacity_), a.given(write_capacity_), a.given(burst_bytes_),
              a.given(read_latency_), a.given(refresh_interval_), a.given(refresh_time_),
              a.given(precharge_time_), a.given(refreshed_at_a_time_), a.given(one_command_bus_),
              next_refreshed_, a.given(counters_), timing_, queue_, waiting_, direction_, banks_, candidates_,
              column_banks_, row_banks_, oldest_, a.given(banks_per_group_), done_, column_pick_, row_pick_,
              column_stale_, row_stale_, next_, a.given(first_refresh_), next_refresh_, refreshes_);
  }

 private:
  using BankSet = std::vector<std::uint64_t>;  // one bit per bank
  static constexpr std::uint16_t kNoBank = 0xffff, kUnknown = 0xfffe;
  struct Pick {
    Cycle at = kNever;
    std::uint64_t age = 0;
    std::uint32_t bank = 0;
  };

  void push(Cycle visible, const DramTransaction& work);
  void refresh(Cycle edge);
  void skip_refreshes(Cycle edge);
  void refresh_banks(std::uint32_t begin, std::uint32_t end, Cycle due);
  void find_picks(Cycle from);
  [[nodiscard]] Pick first_column(Cycle from);
  [[nodiscard]] Pick first_of(const BankSet& banks, std::uint32_t begin, std::uint32_t end, Cycle from) const;
  [[nodiscard]] std::uint32_t oldest_column(std::uint32_t group);
  void issue_row(Cycle edge);
  /// The transaction that this completes, if it does.
  [[nodiscard]] const DramTransaction* issue_column(Cycle edge);
  void update_candidate(std::uint32_t bank);
  void update_direction();
  void admit_waiting();

  std::uint32_t read_capacity_, write_capacity_, burst_bytes_, read_latency_;
  std::uint32_t refresh_interval_, refresh_time_, precharge_time_;
  std::uint32_t refreshed_at_a_time_;  // banks
  bool one_command_bus_;
  std::uint32_t next_refreshed_ = 0;  // the first of the banks whose turn it is
  stats::PartitionCounters* counters_;

  DramTiming timing_;
  DramQueue queue_;
  Ring<DramTransaction> waiting_;  // reads that found the queue full
  Direction direction_;
  std::vector<BankState> banks_;
  std::vector<BankCandidate> candidates_;  // by bank
  BankSet column_banks_, row_banks_;       // banks whose candidate is a column / row command
  std::vector<std::uint16_t>
      oldest_;  // of each group: bank of the oldest column candidate, kNoBank, or kUnknown
  std::uint32_t banks_per_group_;
  DramTransaction done_;
  Pick column_pick_, row_pick_;
  bool column_stale_ = false, row_stale_ = false;
  Cycle next_ = kNever, first_refresh_, next_refresh_, refreshes_ = 0;
};

}  // namespace lockstep::mem
