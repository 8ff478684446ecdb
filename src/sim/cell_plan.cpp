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

std::uint32_t CellDivision::cells(std::uint32_t tier) const {
  std::uint32_t count = 0;
  for (std::uint32_t cell = 0; cell < cells(); ++cell) count += tier_of(cell) == tier;
  return count;
}

CellPlan::CellPlan(CellDivision division, std::vector<NetworkBase*> networks, Time window)
    : division_(std::move(division)), networks_(std::move(networks)), domains_(division_.cells() + 2) {
  std::uint32_t last_tier = 0;
  for (std::uint32_t cell = 0; cell < hub(); ++cell) last_tier = std::max(last_tier, division_.tier_of(cell));
  tiers_.resize(last_tier + 1);
  for (std::uint32_t cell = 0; cell < hub(); ++cell) tiers_[division_.tier_of(cell)].cells.push_back(cell);
  for (DomainId d = 0; d < division_.cell_of.size(); ++d) {
    domains_[place(d)].push_back(d);
    for (std::uint32_t t = 0; t < tier_of_domain(d); ++t) tiers_[t].hub.push_back(d);
  }
  for (const NetworkBase* network : networks_) groups_.push_back(place(*network));
  for (std::uint32_t t = 0; t < tiers(); ++t) note_exits(t);
  note_at_times();
  for (const DomainId d : domains_[hub() - 1])
    tiers_.front().direct[d] = std::min(tiers_.front().direct[d], window);
}

std::uint32_t CellPlan::place(DomainId d) const {
  const std::uint32_t cell = division_.cell_of.at(d);
  if (cell == CellDivision::kCommon) return hub() - 1;
  return cell == CellDivision::kHub ? hub() : cell;
}

std::uint32_t CellPlan::tier_of_domain(DomainId d) const {
  return place(d) == hub() ? tiers() : division_.tier_of(place(d));
}

std::uint32_t CellPlan::place(const NetworkBase& network) const {
  const auto& from = network.source_domains();
  const auto& to = network.destination_domains();
  if (from.empty() || to.empty()) return group(0, kDirect);
  const std::uint32_t first = place(from.front());
  const auto in_first = [&](DomainId d) { return place(d) == first; };
  if (std::ranges::all_of(from, in_first) && std::ranges::all_of(to, in_first)) return first;
  std::uint32_t tier = tiers();
  for (const auto* ends : {&from, &to})
    for (const DomainId d : *ends) tier = std::min(tier, tier_of_domain(d));
  const auto in_hub = [&](DomainId d) { return tier_of_domain(d) > tier; };
  if (std::ranges::all_of(from, in_hub)) return group(tier, kFromHub);
  return group(tier, std::ranges::all_of(to, in_hub) ? kToHub : kDirect);
}

/// Over networks within cells, within the tier's hub, or from there to a cell, then over one that `leads`
/// there.
template <class Leads>
CellPlan::Exits CellPlan::exits(std::uint32_t tier, Leads&& leads) const {
  Exits exits(division_.cell_of.size(), kNever);
  for (bool changed = true; std::exchange(changed, false);)
    for (std::uint32_t n = 0; n < networks_.size(); ++n) {
      Time beyond = kNever;
      if (leads(n)) {
        beyond = 0;
      } else if (groups_[n] < cells() || groups_[n] >= group(tier + 1, kDirect) || is(n, tier, kFromHub)) {
        for (const DomainId d : networks_[n]->destination_domains()) beyond = std::min(beyond, exits[d]);
      }
      const Time found = add_times(beyond, networks_[n]->latency());
      for (const DomainId d : networks_[n]->source_domains()) {
        changed = changed || found < exits[d];
        exits[d] = std::min(exits[d], found);
      }
    }
  return exits;
}

bool CellPlan::only_at_times(std::uint32_t network) const {
  return std::ranges::any_of(division_.at_times, [&](const CellDivision::AtTimes& a) {
    return std::ranges::find(a.networks, networks_[network]) != a.networks.end();
  });
}

void CellPlan::note_exits(std::uint32_t t) {
  Tier& tier = tiers_[t];
  tier.direct = exits(t, [&](std::uint32_t n) { return is(n, t, kDirect) && !only_at_times(n); });
  tier.to_hub = exits(t, [&](std::uint32_t n) { return is(n, t, kToHub); });
  for (std::uint32_t n = 0; n < networks_.size(); ++n)
    if (is(n, t, kFromHub)) tier.hub_exit = std::min(tier.hub_exit, networks_[n]->latency());
}

void CellPlan::note_at_times() {
  for (const CellDivision::AtTimes& a : division_.at_times) {
    const auto used = [&](std::uint32_t n) {
      return is(n, 0, kDirect) && std::ranges::find(a.networks, networks_[n]) != a.networks.end();
    };
    Time shortest = kNever;
    for (std::uint32_t n = 0; n < networks_.size(); ++n)
      if (used(n)) shortest = std::min(shortest, networks_[n]->latency());
    at_times_.push_back({exits(0, used), shortest});
  }
}

/// When what domains do from `now` on can have come out by these exits; at most `limit`.
Time CellPlan::earliest(const Exits& exits, Time now, Time limit, std::span<const Time> next) {
  Time earliest = limit;
  for (DomainId d = 0; d < next.size(); ++d)
    if (next[d] < earliest) earliest = std::min(earliest, add_times(std::max(next[d], now), exits[d]));
  return earliest;
}

CellPlan::Window CellPlan::window(std::uint32_t t, Time now, Time limit, std::span<const Time> next) const {
  const Tier& tier = tiers_[t];
  Window window;
  window.to = earliest(tier.direct, now, limit, next);
  window.hub_to = earliest(tier.to_hub, now, window.to, next);
  window.to = std::min(window.to, add_times(window.hub_to, tier.hub_exit));
  for (std::size_t i = 0; t == 0 && i < at_times_.size(); ++i) {
    const AtTimes& used = at_times_[i];
    if (add_times(now, used.shortest) >= window.to) continue;
    const Time from = std::max(now, division_.at_times[i].from(now));
    if (add_times(from, used.shortest) >= window.to) continue;
    window.to = std::max(add_times(from, used.shortest), earliest(used.exits, now, window.to, next));
  }
  window.hub_to = std::min(window.hub_to, window.to);
  return window;
}

}  // namespace lockstep::sim
