#include "gpu/ranked_run.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <sstream>
#include <utility>

#include "util/archive.hpp"
#include "util/error.hpp"

namespace lockstep::gpu {

RankedRun::RankedRun(ranks::Group& group, const RankMap& map, sim::Engine& engine, System& system,
                     std::function<bool()> interrupted)
    : group_(&group),
      system_(&system),
      asked_(std::move(interrupted)),
      channels_(engine, system.places(), map.here, map.ranks, system.copy_ends()) {
  join_distances();
  group.begin_profile();
}

void RankedRun::join_distances() {
  sim::RankChannels::Distances own = channels_.own();
  Archive mine;
  mine(own.all, own.calm);
  const std::vector<std::string> messages(group_->size(), mine.bytes());
  const ranks::Gathered gathered = group_->exchange({ranks::Topic::kDistances}, messages);
  for (unsigned r = 0; r < group_->size(); ++r) {
    if (r == group_->rank()) continue;
    Archive theirs(gathered.messages[r]);
    sim::RankChannels::Distances distances;
    theirs(distances.all, distances.calm);
    channels_.join(distances);
  }
}

Time RankedRun::meet(Time now, std::vector<Time>& next) {
  ++synchronisations_;
  ranks::Notice notice;
  notice.time = channels_.earliest_arrival(now, next, system_->earliest_copy_end(now));
  const std::vector<std::string> parcels = channels_.hand_over();
  const bool sends = std::ranges::any_of(parcels, [](const std::string& p) { return !p.empty(); });
  if (!sends && system_->quiescent()) notice.flags |= ranks::Flag::kQuiet;
  if (!system_->networking() || system_->networking()->quiescent())
    notice.flags |= ranks::Flag::kNetworksIdle;
  if (asked_ && asked_()) notice.flags |= ranks::Flag::kStop;
  const ranks::Gathered gathered = group_->exchange(notice, parcels);
  for (const std::string& message : gathered.messages) channels_.take_in(message, now, next);
  Time until = kNever;
  quiescent_ = networks_idle_ = true;
  for (const ranks::Notice& n : gathered.notices) {
    until = std::min(until, n.time);
    quiescent_ = quiescent_ && (n.flags & ranks::Flag::kQuiet) != 0;
    networks_idle_ = networks_idle_ && (n.flags & ranks::Flag::kNetworksIdle) != 0;
    stop_ = stop_ || (n.flags & ranks::Flag::kStop) != 0;
  }
  return until;
}

std::vector<stats::HostReport::Rank> gather_hosts(ranks::Group& group, stats::HostReport::Rank own) {
  const ranks::GroupProfile& profile = group.profile();
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) == 0) own.host = name.data();
  own.messages = profile.messages;
  own.bytes = profile.bytes;
  own.seconds_work = profile.work_seconds;
  own.seconds_waiting = std::max(0.0, profile.longest_seconds - profile.work_seconds);
  own.seconds_sync = std::max(0.0, profile.seconds - own.seconds_waiting);
  Archive mine;
  mine(own);
  std::vector<stats::HostReport::Rank> all;
  for (const std::string& bytes : group.gather(mine.bytes())) {
    Archive theirs{std::string_view(bytes)};
    theirs(all.emplace_back());
  }
  return all;
}

void check_same(ranks::Group& group, const std::string& what) {
  const std::vector<std::string> messages(group.size(), what);
  const ranks::Gathered gathered = group.exchange({ranks::Topic::kHello}, messages);
  for (unsigned r = 0; r < group.size(); ++r) {
    if (r == group.rank() || gathered.messages[r] == what) continue;
    std::istringstream mine(what), theirs(gathered.messages[r]);
    std::string own, other;
    while (std::getline(mine, own) && std::getline(theirs, other) && own == other) continue;
    throw UserError(fmt::format("ranks {} and {} do not simulate the same: \"{}\" and \"{}\"",
                                std::min(r, group.rank()), std::max(r, group.rank()),
                                r < group.rank() ? other : own, r < group.rank() ? own : other));
  }
}

}  // namespace lockstep::gpu
