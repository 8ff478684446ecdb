#include "mem/dram_channel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <iterator>

namespace lockstep::mem {
namespace {

void assign_bit(std::vector<std::uint64_t>& set, std::uint32_t i, bool value) {
  const std::uint64_t bit = std::uint64_t{1} << i % 64;
  set[i / 64] = value ? set[i / 64] | bit : set[i / 64] & ~bit;
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
      candidates_(banks_.size()),
      column_banks_((banks_.size() + 63) / 64),
      row_banks_(column_banks_.size()),
      oldest_(dram.bank_groups, kNoBank),
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
  queue_.push(work);
  update_direction();
  if (work.write == direction_.writing()) update_candidate(work.bank);
  if (column_stale_ || row_stale_) next_ = std::min(next_, visible);
}

void DramChannel::update_direction() {
  if (!direction_.update(queue_.reads(), queue_.writes())) return;
  for (std::uint32_t b = 0; b < banks_.size(); ++b) update_candidate(b);
}

void DramChannel::update_candidate(std::uint32_t b) {
  const BankCandidate now = candidate_of(queue_, banks_[b], b, direction_.writing());
  BankCandidate& candidate = candidates_[b];
  if (now.transaction == candidate.transaction && now.command == candidate.command) return;
  const auto is_column = [](const BankCandidate& w) {
    return w.transaction != DramQueue::kNone && w.command >= DramCommand::kRead;
  };
  const auto is_row = [](const BankCandidate& w) {
    return w.transaction != DramQueue::kNone && w.command < DramCommand::kRead;
  };
  column_stale_ |= is_column(now) || is_column(candidate);
  row_stale_ |= is_row(now) || is_row(candidate);
  candidate = now;
  oldest_[timing_.group_of(b)] = kUnknown;
  assign_bit(column_banks_, b, is_column(now));
  assign_bit(row_banks_, b, is_row(now));
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
  for (std::uint32_t b = begin; b < end; ++b) {
    if (banks_[b].open) precharge = std::max(precharge, timing_.earliest(DramCommand::kPrecharge, b));
    start = std::max(start, timing_.bank_ready(DramCommand::kActivate, b));
  }
  for (std::uint32_t b = begin; b < end; ++b) {
    if (!banks_[b].open) continue;
    start = std::max(start, precharge + precharge_time_);
    banks_[b] = {};
    update_candidate(b);
  }
  for (std::uint32_t b = begin; b < end; ++b) timing_.rest(b, start + refresh_time_);
  column_stale_ = row_stale_ = true;
}

void DramChannel::find_picks(Cycle from) {
  if (column_stale_) column_pick_ = first_column(from);
  if (row_stale_) row_pick_ = first_of(row_banks_, 0, static_cast<std::uint32_t>(banks_.size()), from);
  column_stale_ = row_stale_ = false;
  next_ = std::min(column_pick_.at, row_pick_.at);
  if (next_ != kNever) next_ = std::max(std::min(next_, next_refresh_), from);
}

/// What can be issued first among the candidates of banks [begin, end), then what is older.
DramChannel::Pick DramChannel::first_of(const BankSet& banks, std::uint32_t begin, std::uint32_t end,
                                        Cycle from) const {
  Pick best;
  for (std::uint32_t word = begin / 64; word * 64 < end; ++word) {
    std::uint64_t bits = banks[word];
    if (begin > word * 64) bits &= ~std::uint64_t{0} << begin % 64;
    if (end < word * 64 + 64) bits &= (std::uint64_t{1} << end % 64) - 1;
    for (; bits; bits &= bits - 1) {
      const std::uint32_t b = word * 64 + static_cast<std::uint32_t>(std::countr_zero(bits));
      const BankCandidate& candidate = candidates_[b];
      const Cycle at = std::max(timing_.earliest(candidate.command, b), from);
      if (at > best.at) continue;
      if (at < best.at || candidate.age < best.age) best = {at, candidate.age, b};
    }
  }
  return best;
}

/// The same for column commands. The oldest candidate of a group is its best unless its own bank is not ready
/// yet.
DramChannel::Pick DramChannel::first_column(Cycle from) {
  const DramCommand command = direction_.writing() ? DramCommand::kWrite : DramCommand::kRead;
  Pick best;
  for (std::uint32_t g = 0; g < oldest_.size(); ++g) {
    if (oldest_[g] == kUnknown) oldest_[g] = static_cast<std::uint16_t>(oldest_column(g));
    const std::uint32_t b = oldest_[g];
    if (b == kNoBank) continue;
    const Cycle at = std::max(timing_.shared_ready(command, g), from);
    if (at > best.at) continue;
    if (timing_.bank_ready(command, b) <= at) {
      if (at < best.at || candidates_[b].age < best.age) best = {at, candidates_[b].age, b};
      continue;
    }
    const Pick other = first_of(column_banks_, g * banks_per_group_, (g + 1) * banks_per_group_, from);
    if (other.at < best.at || (other.at == best.at && other.age < best.age)) best = other;
  }
  return best;
}

std::uint32_t DramChannel::oldest_column(std::uint32_t group) {
  std::uint32_t oldest = kNoBank;
  for (std::uint32_t b = group * banks_per_group_; b < (group + 1) * banks_per_group_; ++b)
    if ((column_banks_[b / 64] >> b % 64 & 1) &&
        (oldest == kNoBank || candidates_[b].age < candidates_[oldest].age))
      oldest = b;
  return oldest;
}

void DramChannel::issue_row(Cycle edge) {
  const std::uint32_t b = row_pick_.bank;
  const BankCandidate candidate = candidates_[b];
  const DramTransaction& work = queue_[candidate.transaction].work;
  timing_.issue(candidate.command, b, edge);
  stats::PartitionCounters& count = counters_[work.kernel];
  if (candidate.command == DramCommand::kActivate) {
    banks_[b] = {work.row, true, true};
    ++count.dram_activates;
  } else {
    banks_[b] = {};
    ++count.dram_precharges;
  }
  row_stale_ = true;
  update_candidate(b);
}

const DramTransaction* DramChannel::issue_column(Cycle edge) {
  const std::uint32_t b = column_pick_.bank;
  const BankCandidate candidate = candidates_[b];
  DramTransaction& work = queue_[candidate.transaction].work;
  timing_.issue(candidate.command, b, edge);
  stats::PartitionCounters& count = counters_[work.kernel];
  ++(work.write ? count.dram_writes : count.dram_reads);
  ++(banks_[b].fresh ? count.dram_row_misses : count.dram_row_hits);
  count.dram_bytes += burst_bytes_;
  banks_[b].fresh = false;
  column_stale_ = true;
  if (--work.bursts > 0) return nullptr;
  queue_.remove(candidate.transaction);
  done_ = work;
  candidates_[b].transaction = DramQueue::kNone;
  admit_waiting();
  update_direction();
  update_candidate(b);
  return &done_;
}

void DramChannel::admit_waiting() {
  while (!waiting_.empty() && queue_.reads() < read_capacity_) {
    const std::uint16_t bank = waiting_.front().bank;
    queue_.push(waiting_.front());
    waiting_.pop();
    if (!direction_.writing()) update_candidate(bank);
  }
}

void DramChannel::dump(std::string& out) const {
  if (idle()) return;
  auto to = std::back_inserter(out);
  fmt::format_to(to, "  dram: {} reads ({} more wait), {} writes, {}, next command at DRAM edge {}\n",
                 queue_.reads(), waiting_.size(), queue_.writes(),
                 direction_.writing() ? "writing" : "reading", next_);
  for (std::uint32_t b = 0; b < banks_.size(); ++b) {
    if (candidates_[b].transaction == DramQueue::kNone) continue;
    const DramTransaction& work = queue_[candidates_[b].transaction].work;
    fmt::format_to(to, "    bank {}: {}, wants row {:#x}, {} bursts left, for mshr {} of slice {}\n", b,
                   banks_[b].open ? fmt::format("row {:#x} open", banks_[b].row) : "closed", work.row,
                   work.bursts, work.fill.mshr, work.fill.slice);
  }
}

}  // namespace lockstep::mem
