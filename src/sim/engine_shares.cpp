// How a window's work is divided among threads, and done.
#include <algorithm>
#include <utility>

#include "sim/engine.hpp"

namespace lockstep::sim {

/// Before a window: each thread's share of it. Orders awake_ by owner.
void Engine::divide(unsigned team) {
  next_task_.store(0, std::memory_order_relaxed);
  if (team == 1) {
    shares_[0].next.store(0, std::memory_order_relaxed);
    shares_[0].end = awake_.size();
    return;
  }
  for (unsigned t = 0; t < team; ++t) shares_[t].count = 0;
  for (const std::uint32_t item : awake_) ++shares_[item % team].count;
  std::size_t begin = 0;
  for (unsigned t = 0; t < team; ++t) {
    Share& share = shares_[t];
    share.next.store(begin, std::memory_order_relaxed);
    share.end = begin;
    begin += share.count;
    share.window_seconds = 0;  // a thread that does not come in time adds nothing
  }
  divided_.resize(awake_.size());
  for (const std::uint32_t item : awake_) divided_[shares_[item % team].end++] = item;
  awake_.swap(divided_);
}

/// Tasks first: they are longer than what a domain does in a window. Returns its end.
Engine::TimePoint Engine::do_share(unsigned thread, unsigned team, TimePoint start) {
  Share& own = shares_[thread];
  if (options_.dynamic) {
    for (std::size_t i; (i = next_task_.fetch_add(1, std::memory_order_relaxed)) < run_tasks_;)
      do_task(i, thread);
  } else {
    for (std::size_t i = thread; i < run_tasks_; i += team) do_task(i, thread);
  }
  own.mark = sampled_ && run_tasks_ > 0 ? Clock::now() : start;
  if (options_.dynamic) {
    while (do_next_of(own, thread)) continue;
    for (unsigned t; (t = fullest(thread, team)) < team;) do_next_of(shares_[t], thread);
  } else {
    for (std::size_t i = own.next; i < own.end; ++i) do_item(awake_[i], thread);
  }
  const auto end = Clock::now();
  own.window_seconds = seconds(end - start);
  own.busy_seconds += own.window_seconds;
  return end;
}

/// False when nothing is left of the share.
bool Engine::do_next_of(Share& from, unsigned thread) {
  const std::size_t i = from.next.fetch_add(1, std::memory_order_relaxed);
  if (i >= from.end) return false;
  do_item(awake_[i], thread);
  return true;
}

/// The share with the most items left, which ends last; of equal ones the next after the thread's own. The
/// team's size when all are taken.
unsigned Engine::fullest(unsigned thread, unsigned team) const {
  unsigned found = team;
  std::size_t most = 0;
  for (unsigned k = 1; k < team; ++k) {
    const unsigned t = thread + k < team ? thread + k : thread + k - team;
    const std::size_t next = shares_[t].next.load(std::memory_order_relaxed), end = shares_[t].end;
    if (next >= end || end - next <= most) continue;
    most = end - next;
    found = t;
  }
  return found;
}

/// All items on one thread, each timed. Returns its end.
Engine::TimePoint Engine::do_logged_share(TimePoint start) {
  auto before = start;
  for (std::size_t i = 0; i < run_tasks_ + awake_.size(); ++i) {
    const bool task = i < run_tasks_;
    const DomainId id = task ? 0 : awake_[i - run_tasks_];
    if (task) {
      do_task(i, 0);
    } else {
      shares_[0].mark = before;
      do_item(id, 0);
    }
    const auto after = Clock::now();
    if (task) {
      options_.work_log->task(seconds(after - before));
    } else {
      options_.work_log->domain(id, seconds(after - before));
    }
    before = after;
  }
  shares_[0].window_seconds = seconds(before - start);
  shares_[0].busy_seconds += shares_[0].window_seconds;
  return before;
}

void Engine::do_task(std::size_t task, unsigned thread) {
  const auto start = Clock::now();
  tasks_->run(task);
  shares_[thread].task_seconds += seconds_since(start);
}

/// Seconds since the thread's mark, which moves.
double Engine::take_time(Share& share) {
  const auto now = Clock::now();
  return seconds(now - std::exchange(share.mark, now));
}

/// What is done in which order never shows in results; here it follows the host's times.
void Engine::order_by_cost(std::vector<std::uint32_t>& items) const {
  std::sort(items.begin(), items.end(), [this](std::uint32_t a, std::uint32_t b) {
    return cost_[a] != cost_[b] ? cost_[a] > cost_[b] : a < b;
  });
}

}  // namespace lockstep::sim
