#include "sim/cell_plan.hpp"

#include <algorithm>
#include <utility>

namespace lockstep::sim {

std::uint32_t CellDivision::cells() const {
  std::uint32_t cells = 0;
  for (const std::uint32_t cell : cell_of)
    if (cell < kHub) cells = std::max(cells, cell + 1);
  return cells;
}

CellPlan::CellPlan(CellDivision division, std::vector<NetworkBase*> networks, Time window)
    : division_(std::move(division)), networks_(std::move(networks)), domains_(division_.cells() + 2) {
  for (DomainId d = 0; d < division_.cell_of.size(); ++d) domains_[place(d)].push_back(d);
  for (const NetworkBase* network : networks_) groups_.push_back(place(*network));
  note_exits(window);
}

std::uint32_t CellPlan::place(DomainId d) const {
  const std::uint32_t cell = division_.cell_of.at(d);
  if (cell == CellDivision::kCommon) return hub() - 1;
  return cell == CellDivision::kHub ? hub() : cell;
}

std::uint32_t CellPlan::place(const NetworkBase& network) const {
  const auto& from = network.source_domains();
  const auto& to = network.destination_domains();
  if (from.empty() || to.empty()) return cells() + kDirect;
  const auto all_in = [&](const std::vector<DomainId>& ends, std::uint32_t cell) {
    return std::ranges::all_of(ends, [&](DomainId d) { return place(d) == cell; });
  };
  const std::uint32_t first = place(from.front());
  const bool from_one = all_in(from, first);
  if (from_one && all_in(to, first)) return first;
  if (from_one && first == hub()) return cells() + kFromHub;
  return cells() + (all_in(to, hub()) ? kToHub : kDirect);
}

bool CellPlan::is(std::uint32_t network, Outside kind) const { return groups_[network] == cells() + kind; }

/// By domain, the shortest way over networks within its cell, then one that `leads` out.
template <class Leads>
std::vector<Time> CellPlan::exits(Leads&& leads) const {
  std::vector<Time> exit(division_.cell_of.size(), kNever);
  for (bool changed = true; std::exchange(changed, false);)
    for (std::uint32_t n = 0; n < networks_.size(); ++n) {
      Time beyond = kNever;
      if (groups_[n] >= cells()) {
        if (leads(n)) beyond = 0;
      } else {
        for (const DomainId d : networks_[n]->destination_domains()) beyond = std::min(beyond, exit[d]);
      }
      const Time found = add_times(beyond, networks_[n]->latency());
      for (const DomainId d : networks_[n]->source_domains()) {
        changed = changed || found < exit[d];
        exit[d] = std::min(exit[d], found);
      }
    }
  return exit;
}

void CellPlan::note_exits(Time window) {
  const auto at_times = [&](std::uint32_t n) {
    return std::ranges::find(division_.at_times, networks_[n]) != division_.at_times.end();
  };
  exits_.all = exits([&](std::uint32_t n) { return is(n, kDirect); });
  exits_.calm = exits([&](std::uint32_t n) { return is(n, kDirect) && !at_times(n); });
  exits_.to_hub = exits([&](std::uint32_t n) { return is(n, kToHub); });
  for (const DomainId d : domains_[hub() - 1])
    for (std::vector<Time>* exit : {&exits_.all, &exits_.calm}) (*exit)[d] = std::min((*exit)[d], window);
  after_hub_ = {kNever, kNever, kNever};
  for (std::uint32_t n = 0; n < networks_.size(); ++n) {
    if (!is(n, kFromHub)) continue;
    hub_exit_ = std::min(hub_exit_, networks_[n]->latency());
    for (const DomainId d : networks_[n]->destination_domains()) {
      after_hub_.all = std::min(after_hub_.all, exits_.all[d]);
      after_hub_.calm = std::min(after_hub_.calm, exits_.calm[d]);
      after_hub_.to_hub = std::min(after_hub_.to_hub, exits_.to_hub[d]);
    }
  }
}

CellPlan::Window CellPlan::window(Time now, Time limit, std::span<const Time> next) const {
  const bool calm = division_.in_use && !division_.in_use();
  const std::vector<Time>& exit = calm ? exits_.calm : exits_.all;
  Window window{limit, limit};
  for (DomainId d = 0; d < next.size(); ++d) {
    if (next[d] >= window.to) continue;
    const Time due = std::max(next[d], now);
    window.to = std::min(window.to, add_times(due, exit[d]));
    window.hub_to = std::min(window.hub_to, add_times(due, exits_.to_hub[d]));
  }
  for (const DomainId d : domains_[hub()]) {
    const Time arrival = add_times(std::max(next[d], now), hub_exit_);
    window.to = std::min(window.to, add_times(arrival, calm ? after_hub_.calm : after_hub_.all));
    window.hub_to = std::min(window.hub_to, add_times(arrival, after_hub_.to_hub));
  }
  window.hub_to = std::min(window.hub_to, window.to);
  window.to = std::min(window.to, add_times(window.hub_to, hub_exit_));
  return window;
}

}  // namespace lockstep::sim
