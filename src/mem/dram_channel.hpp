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

  /// Of both: what was due before `visible` is done. Reads beyond dram.read_queue wait in order of arrival
  /// outside the scheduler's view.
  void push_read(Cycle visible, const DramTransaction& work);
  /// Precondition: write_room().
  void push_write(Cycle visible, const DramTransaction& work);
  [[nodiscard]] bool write_room() const { return queue_.writes() < write_capacity_; }

  /// Discards what the last tick() worked out ahead: the next one looks at everything again.
  void mark_stale() { column_stale_ = row_stale_ = true; }

  /// At most one column and one row command, or one of both where they share a bus; and the column commands
  /// that follow before `end`, until a transaction is complete or something else is due. Reports a read's
  /// last data and a write's departure to on_data(FillTarget, edge of the last datum's end) and
  /// on_written(edge).
  template <class OnData, class OnWritten>
  void tick(Cycle edge, Cycle end, OnData&& on_data, OnWritten&& on_written) {
    if (next_refresh_ <= edge) refresh(edge);
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
      const DramTransaction* done = issue_columns(edge, end);
      if (done && done->write) on_written(edge);
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
              next_refreshed_, a.given(counters_), timing_, queue_, waiting_, direction_, banks_, groups_,
              column_groups_, row_groups_, a.given(banks_per_group_), done_, column_pick_, row_pick_,
              column_stale_, row_stale_, next_, a.given(first_refresh_), next_refresh_, refreshes_);
  }

 private:
  static constexpr std::uint32_t kUnknown = 0xffffffff;
  struct Bank {
    BankState state;
    BankCandidate candidate;
  };
  struct Group {
    std::uint32_t columns = 0, rows = 0;  // its banks whose candidate is a column / row command, one bit each
    std::uint32_t waiting[2] = {};        // those that transactions wait for: reads, writes
    std::uint32_t oldest = kUnknown;      // bank of the oldest of the former
    std::uint64_t age = 0;                // of that, and from when on its bank is ready
    Cycle ready = 0;
    template <class A>
    void persist(A& a) {
      a.members(*this, columns, rows, waiting, oldest, age, ready);
    }
  };
  struct Pick {
    Cycle at = kNever;
    std::uint64_t age = 0;
    std::uint32_t bank = 0;

    /// What can be issued first goes first, then what is older.
    void offer(const Pick& other) {
      if (other.at < at || (other.at == at && other.age < age)) *this = other;
    }
  };

  void push(Cycle visible, const DramTransaction& work);
  std::uint16_t enqueue(const DramTransaction& work);
  void dequeue(std::uint16_t transaction);
  void refresh(Cycle edge);
  void skip_refreshes(Cycle edge);
  void refresh_banks(std::uint32_t begin, std::uint32_t end, Cycle due);
  void find_picks(Cycle from);
  [[nodiscard]] Pick first_row(Cycle from) const;
  [[nodiscard]] Pick first_column(Cycle from);
  [[nodiscard]] Pick pick_of(std::uint32_t bank, Cycle from) const;
  void find_oldest(std::uint32_t group);
  void note_oldest(Group& group, std::uint32_t bank);
  void issue_row(Cycle edge);
  /// Those from `edge` on, which becomes that of the last. The transaction that this completes, if one.
  [[nodiscard]] const DramTransaction* issue_columns(Cycle& edge, Cycle end);
  [[nodiscard]] const DramTransaction* issue_column(Cycle edge);
  void update_candidate(std::uint32_t bank, Cycle from);
  void set_candidate(std::uint32_t bank, const BankCandidate& candidate, Cycle from);
  void take_out(std::uint32_t bank);
  void put_in(std::uint32_t bank, Cycle from);
  void update_direction(Cycle from);
  void admit_waiting(Cycle from);
  [[nodiscard]] std::uint32_t bit_of(std::uint32_t bank) const {
    return 1u << (bank & (banks_per_group_ - 1));
  }

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
  std::vector<Bank> banks_;
  std::vector<Group> groups_;
  std::uint32_t column_groups_ = 0, row_groups_ = 0;  // groups with such candidates, one bit each
  std::uint32_t banks_per_group_;
  DramTransaction done_;
  Pick column_pick_, row_pick_;  // the first of all candidates, unless stale
  bool column_stale_ = false, row_stale_ = false;
  Cycle next_ = kNever, first_refresh_, next_refresh_, refreshes_ = 0;
};

}  // namespace lockstep::mem
