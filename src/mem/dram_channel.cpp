#include "mem/dram_channel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <iterator>
#include <utility>

namespace lockstep::mem {
namespace {

bool is_column(const BankCandidate& candidate) { return candidate.command >= DramCommand::kRead; }

/// f(i) for each bit of `bits`.
template <class F>
void each_bit(std::uint32_t bits, F&& f) {
  for (; bits; bits &= bits - 1) f(static_cast<std::uint32_t>(std::countr_zero(bits)));
}

void assign(std::uint32_t& bits, std::uint32_t i, bool value) {
  bits = (bits & ~(1u << i)) | std::uint32_t{value} << i;
}

}  // namespace

DramChannel::DramChannel(const config::DramGroup& dram, stats::PartitionCounters* counters,
                         Cycle first_refresh)
    : read_capacity_(dram.read_queue),
      write_capacity_(dram.write_queue),
      burst_bytes_(dram.burst_bytes),
      read_latency_(dram.tCL + dram.burst_cycles),
      refresh_interval_(dram.tREFI),
      refresh_time_(dram.tRFC),
      precharge_time_(dram.tRP),
      refreshed_at_a_time_(
          dram.refresh == config::Refresh::kAllBanks ? dram.bank_groups * dram.banks_per_group : 1),
      one_command_bus_(dram_standard(dram.standard).one_command_bus),
      counters_(counters),
      timing_(dram),
      queue_(dram.bank_groups * dram.banks_per_group, dram.read_queue + dram.write_queue),
      direction_(dram),
      banks_(dram.bank_groups * dram.banks_per_group),
      groups_(dram.bank_groups),
      banks_per_group_(dram.banks_per_group),
      first_refresh_(first_refresh),
      next_refresh_(first_refresh) {}

void DramChannel::push_read(Cycle visible, const DramTransaction& work) {
  if (queue_.reads() == read_capacity_) {
    waiting_.push(work);
  } else {
    push(visible, work);
  }
}

void DramChannel::push_write(Cycle visible, const DramTransaction& work) { push(visible, work); }

void DramChannel::push(Cycle visible, const DramTransaction& work) {
  const std::uint16_t newest = enqueue(work);
  update_direction(visible);
  if (work.write == direction_.writing()) {
    const Bank& bank = banks_[work.bank];
    set_candidate(work.bank, candidate_with(bank.candidate, queue_, bank.state, newest), visible);
  }
  find_picks(visible);
}

std::uint16_t DramChannel::enqueue(const DramTransaction& work) {
  groups_[timing_.group_of(work.bank)].waiting[work.write] |= bit_of(work.bank);
  return queue_.push(work);
}

void DramChannel::dequeue(std::uint16_t transaction) {
  queue_.remove(transaction);
  const DramTransaction& work = queue_[transaction].work;
  if (queue_.head(work.bank, work.write) == DramQueue::kNone)
    groups_[timing_.group_of(work.bank)].waiting[work.write] &= ~bit_of(work.bank);
}

/// Banks that have neither a candidate nor get one are not even read.
void DramChannel::update_direction(Cycle from) {
  if (!direction_.update(queue_.reads(), queue_.writes())) return;
  for (std::uint32_t g = 0; g < groups_.size(); ++g) {
    const Group& group = groups_[g];
    each_bit(group.columns | group.rows | group.waiting[direction_.writing()],
             [&](std::uint32_t b) { update_candidate(g * banks_per_group_ + b, from); });
  }
}

void DramChannel::update_candidate(std::uint32_t b, Cycle from) {
  set_candidate(b, candidate_of(queue_, banks_[b].state, b, direction_.writing()), from);
}

void DramChannel::set_candidate(std::uint32_t b, const BankCandidate& now, Cycle from) {
  BankCandidate& candidate = banks_[b].candidate;
  if (now.transaction == candidate.transaction && now.command == candidate.command) return;
  if (candidate.transaction != DramQueue::kNone) take_out(b);
  candidate = now;
  if (now.transaction != DramQueue::kNone) put_in(b, from);
}

void DramChannel::take_out(std::uint32_t b) {
  const std::uint32_t g = timing_.group_of(b);
  Group& group = groups_[g];
  if (is_column(banks_[b].candidate)) {
    group.columns &= ~bit_of(b);
    assign(column_groups_, g, group.columns != 0);
    if (group.oldest == b) group.oldest = kUnknown;
    column_stale_ |= column_pick_.bank == b;
  } else {
    group.rows &= ~bit_of(b);
    assign(row_groups_, g, group.rows != 0);
    row_stale_ |= row_pick_.bank == b;
  }
}

void DramChannel::put_in(std::uint32_t b, Cycle from) {
  const std::uint32_t g = timing_.group_of(b);
  Group& group = groups_[g];
  const BankCandidate& candidate = banks_[b].candidate;
  if (is_column(candidate)) {
    if (group.columns == 0 || (group.oldest != kUnknown && candidate.age < group.age)) note_oldest(group, b);
    group.columns |= bit_of(b);
    column_groups_ |= 1u << g;
    if (!column_stale_) column_pick_.offer(pick_of(b, from));
  } else {
    group.rows |= bit_of(b);
    row_groups_ |= 1u << g;
    if (!row_stale_) row_pick_.offer(pick_of(b, from));
  }
}

/// Refreshes that fell due while the channel slept change nothing but the banks, so they are made up for
/// here.
void DramChannel::refresh(Cycle edge) {
  while (next_refresh_ <= edge) {
    refresh_banks(next_refreshed_, next_refreshed_ + refreshed_at_a_time_, next_refresh_);
    next_refreshed_ += refreshed_at_a_time_;
    next_refresh_ = first_refresh_ + ++refreshes_ * refresh_interval_ * refreshed_at_a_time_ / banks_.size();
    if (next_refreshed_ < banks_.size()) continue;
    next_refreshed_ = 0;
    skip_refreshes(edge);
  }
}

/// After a long sleep: the banks are closed and rested since the interval before the last, so that only the
/// last refresh of each matters.
void DramChannel::skip_refreshes(Cycle edge) {
  if (edge < next_refresh_ + 3 * Cycle{refresh_interval_}) return;
  const Cycle intervals = (edge - next_refresh_) / refresh_interval_ - 2;
  refreshes_ += intervals * (banks_.size() / refreshed_at_a_time_);
  next_refresh_ += intervals * refresh_interval_;
}

/// The open ones of banks [begin, end) are precharged as soon as all may be, then the refresh keeps them all
/// from activating.
void DramChannel::refresh_banks(std::uint32_t begin, std::uint32_t end, Cycle due) {
  Cycle precharge = due, start = due;
  column_stale_ = row_stale_ = true;
  for (std::uint32_t b = begin; b < end; ++b) {
    if (banks_[b].state.open) precharge = std::max(precharge, timing_.earliest(DramCommand::kPrecharge, b));
    start = std::max(start, timing_.bank_ready(DramCommand::kActivate, b));
  }
  for (std::uint32_t b = begin; b < end; ++b) {
    if (!banks_[b].state.open) continue;
    start = std::max(start, precharge + precharge_time_);
    banks_[b].state = {};
    update_candidate(b, due);
  }
  for (std::uint32_t b = begin; b < end; ++b) timing_.rest(b, start + refresh_time_);
}

void DramChannel::find_picks(Cycle from) {
  if (column_stale_) column_pick_ = first_column(from);
  if (row_stale_) row_pick_ = first_row(from);
  column_stale_ = row_stale_ = false;
  next_ = std::min(column_pick_.at, row_pick_.at);
  if (next_ != kNever) next_ = std::max(std::min(next_, next_refresh_), from);
}

DramChannel::Pick DramChannel::pick_of(std::uint32_t b, Cycle from) const {
  const BankCandidate& candidate = banks_[b].candidate;
  return {std::max(timing_.earliest(candidate.command, b), from), candidate.age, b};
}

DramChannel::Pick DramChannel::first_row(Cycle from) const {
  Pick best;
  each_bit(row_groups_, [&](std::uint32_t g) {
    each_bit(groups_[g].rows, [&](std::uint32_t b) { best.offer(pick_of(g * banks_per_group_ + b, from)); });
  });
  return best;
}

/// The oldest candidate of a group is its best unless its own bank is not ready yet.
DramChannel::Pick DramChannel::first_column(Cycle from) {
  const DramCommand command = direction_.column();
  Pick best;
  each_bit(column_groups_, [&](std::uint32_t g) {
    Group& group = groups_[g];
    if (group.oldest == kUnknown) find_oldest(g);
    const Cycle at = std::max(timing_.shared_ready(command, g), from);
    if (at > best.at) return;
    if (group.ready <= at) {
      best.offer({at, group.age, group.oldest});
    } else {
      each_bit(group.columns, [&](std::uint32_t b) { best.offer(pick_of(g * banks_per_group_ + b, from)); });
    }
  });
  return best;
}

/// Precondition: the group has a column candidate.
void DramChannel::find_oldest(std::uint32_t g) {
  Group& group = groups_[g];
  each_bit(group.columns, [&](std::uint32_t i) {
    const std::uint32_t b = g * banks_per_group_ + i;
    if (group.oldest == kUnknown || banks_[b].candidate.age < group.age) note_oldest(group, b);
  });
}

void DramChannel::note_oldest(Group& group, std::uint32_t b) {
  const BankCandidate& candidate = banks_[b].candidate;
  group.oldest = b;
  group.age = candidate.age;
  group.ready = timing_.bank_ready(candidate.command, b);
}

void DramChannel::issue_row(Cycle edge) {
  const std::uint32_t b = row_pick_.bank;
  BankCandidate next = banks_[b].candidate;
  const DramTransaction& work = queue_[next.transaction].work;
  timing_.issue(next.command, b, edge);
  row_stale_ = true;
  stats::PartitionCounters& count = counters_[work.kernel];
  if (next.command == DramCommand::kActivate) {
    banks_[b].state = {work.row, true, true};
    ++count.dram_activates;
    next.command = work.write ? DramCommand::kWrite : DramCommand::kRead;
  } else {
    banks_[b].state = {};
    ++count.dram_precharges;
    next.command = DramCommand::kActivate;
  }
  set_candidate(b, next, edge + 1);
}

const DramTransaction* DramChannel::issue_columns(Cycle& edge, Cycle end) {
  if (std::exchange(row_stale_, false)) row_pick_ = first_row(edge + 1);
  end = std::min({end, next_refresh_, row_pick_.at});
  for (;;) {
    if (const DramTransaction* done = issue_column(edge)) return done;
    column_pick_ = first_column(edge + 1);
    column_stale_ = false;
    if (column_pick_.at >= end) return nullptr;
    edge = column_pick_.at;
  }
}

const DramTransaction* DramChannel::issue_column(Cycle edge) {
  const std::uint32_t b = column_pick_.bank;
  Bank& bank = banks_[b];
  const std::uint16_t transaction = bank.candidate.transaction;
  DramTransaction& work = queue_[transaction].work;
  timing_.issue(bank.candidate.command, b, edge);
  column_stale_ = true;
  stats::PartitionCounters& count = counters_[work.kernel];
  ++(work.write ? count.dram_writes : count.dram_reads);
  ++(bank.state.fresh ? count.dram_row_misses : count.dram_row_hits);
  count.dram_bytes += burst_bytes_;
  bank.state.fresh = false;
  if (--work.bursts > 0) return nullptr;
  done_ = work;
  set_candidate(b, {}, edge + 1);
  dequeue(transaction);
  admit_waiting(edge + 1);
  update_direction(edge + 1);
  update_candidate(b, edge + 1);
  return &done_;
}

void DramChannel::admit_waiting(Cycle from) {
  while (!waiting_.empty() && queue_.reads() < read_capacity_) {
    const std::uint16_t bank = waiting_.front().bank;
    enqueue(waiting_.front());
    waiting_.pop();
    if (!direction_.writing()) update_candidate(bank, from);
  }
}

void DramChannel::dump(std::string& out) const {
  if (idle()) return;
  auto to = std::back_inserter(out);
  fmt::format_to(to, "  dram: {} reads ({} more wait), {} writes, {}, next command at DRAM edge {}\n",
                 queue_.reads(), waiting_.size(), queue_.writes(),
                 direction_.writing() ? "writing" : "reading", next_);
  for (std::uint32_t b = 0; b < banks_.size(); ++b) {
    const auto& [state, candidate] = banks_[b];
    if (candidate.transaction == DramQueue::kNone) continue;
    const DramTransaction& work = queue_[candidate.transaction].work;
    fmt::format_to(to, "    bank {}: {}, wants row {:#x}, {} bursts left, for mshr {} of slice {}\n", b,
                   state.open ? fmt::format("row {:#x} open", state.row) : "closed", work.row, work.bursts,
                   work.fill.mshr, work.fill.slice);
  }
}

}  // namespace lockstep::mem
