#include "ranks/group.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace lockstep::ranks {
namespace {

// Seconds from a signal until who waits gives up. mpirun kills a second after the signal.
constexpr double kFirstPatience = 0.3, kPatience = 2;

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

void Group::begin_profile() {
  profile_ = {};
  last_end_ = seconds_now();
}

Gathered Group::exchange(const Notice& notice, std::span<const std::string> messages) {
  const double start = seconds_now(), work = last_end_ > 0 ? start - last_end_ : 0;
  Notice own = notice;
  own.work_ns = static_cast<std::uint64_t>(work * 1e9);
  Gathered gathered;
  gathered.notices.resize(size());
  gathered.messages.resize(size());
  try {
    carry(own, messages, gathered);
  } catch (...) {
    over_ = true;
    throw;
  }
  last_end_ = seconds_now();
  note(work, last_end_ - start, messages, gathered);
  for (unsigned r = 0; r < size(); ++r) {
    const Notice& other = gathered.notices[r];
    if (other.topic == Topic::kFailed) {
      over_ = true;
      throw Failed("rank " + std::to_string(r) + " has failed", static_cast<int>(other.flags));
    }
  }
  for (unsigned r = 0; r < size(); ++r)
    if (gathered.notices[r].topic != notice.topic)
      throw std::logic_error("ranks " + std::to_string(rank()) + " and " + std::to_string(r) +
                             " are out of step");
  return gathered;
}

void Group::note(double work, double exchange, std::span<const std::string> messages,
                 const Gathered& gathered) {
  profile_.seconds += exchange;
  profile_.work_seconds += work;
  std::uint64_t longest = 0;
  for (const Notice& other : gathered.notices) longest = std::max(longest, other.work_ns);
  profile_.longest_seconds += static_cast<double>(longest) * 1e-9;
  ++profile_.exchanges;
  for (const std::string& message : messages) {
    profile_.messages += message.empty() ? 0 : 1;
    profile_.bytes += message.size();
  }
}

Gathered Group::exchange(const Notice& notice) { return exchange(notice, std::vector<std::string>(size())); }

std::vector<std::string> Group::gather(std::string mine) {
  std::vector<std::string> messages(size());
  if (rank() != 0) messages[0] = std::move(mine);
  Gathered gathered = exchange({Topic::kReport}, messages);
  if (rank() != 0) return {};
  gathered.messages[0] = std::move(mine);
  return std::move(gathered.messages);
}

std::uint64_t Group::sum(std::uint64_t mine) {
  const Gathered gathered = exchange({Topic::kSum, mine});
  std::uint64_t all = 0;
  for (const Notice& notice : gathered.notices) all += notice.time;
  return all;
}

bool Group::fail(int code) noexcept {
  if (std::exchange(over_, true)) return false;
  try {
    Gathered gathered;
    gathered.notices.resize(size());
    gathered.messages.resize(size());
    const std::vector<std::string> none(size());
    carry({Topic::kFailed, 0, static_cast<std::uint64_t>(code)}, none, gathered);
    for (unsigned r = 0; r < rank(); ++r)
      if (gathered.notices[r].topic == Topic::kFailed) return false;
  } catch (...) {  // the others are gone: their own errors say why
  }
  return true;
}

void Group::part() noexcept {
  try {
    Gathered gathered;
    gathered.notices.resize(size());
    gathered.messages.resize(size());
    carry({Topic::kEnd}, std::vector<std::string>(size()), gathered);
  } catch (...) {  // they are gone
  }
}

bool Group::must_give_up() {
  if (!interrupted_ || !interrupted_()) return false;
  const double now = seconds_now();
  if (interrupted_since_ == 0) interrupted_since_ = now;
  return now - interrupted_since_ > (rank() == 0 ? kFirstPatience : kPatience);
}

}  // namespace lockstep::ranks
