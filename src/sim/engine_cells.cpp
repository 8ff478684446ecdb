// Windows between cells, and those inside of them.
#include <algorithm>
#include <numeric>
#include <utility>

#include "sim/engine.hpp"

namespace lockstep::sim {
namespace {

// With fewer cells, threads wait for the one that has the longest.
constexpr std::size_t kCellsPerThread = 2;
constexpr double kSmoothing = 2;  // measurements over which an item's cost is a mean

}  // namespace

/// Items are cells, where they are used, or domains.
void Engine::make_cells() {
  std::uint32_t cells = 0;
  for (const std::uint32_t cell : cell_of_)
    if (cell < kHub) cells = std::max(cells, cell + 1);
  if (!are_useful(cells)) cells = 0;
  cells_ = std::vector<Cell>(cells == 0 ? 0 : cells + 2);
  for (DomainId d = 0; d < domains_.size() && cells > 0; ++d) cells_[cell_of(d)].domains.push_back(d);
  for (std::size_t c = 0; c < cells_.size(); ++c) cells_[c].shuffle_state = shuffle_state_ + c;
  const std::size_t items = cells == 0 ? domains_.size() : cells + 1;  // the hub is none
  cost_.assign(items, 0);
  order_.resize(items);
  std::iota(order_.begin(), order_.end(), 0);

  groups_.assign(cells_.size(), {.noted = std::vector<Group::Noted>(1)});
  groups_.resize(cells_.size() + kOutsides, {.noted = std::vector<Group::Noted>(options_.threads)});
  group_of_.clear();
  for (NetworkBase* network : networks_) {
    group_of_.push_back(cells == 0 ? std::uint32_t{kDirect} : group_of(*network));
    if (cells > 0) network->give_once();
  }
}

/// Not with a border, whose windows are those of all processes, nor with a work log, which is of domains.
bool Engine::are_useful(std::uint32_t cells) const {
  if (cells < 2 || cells < kCellsPerThread * options_.threads || border_ || options_.work_log) return false;
  return options_.cell_window > options_.window &&
         std::ranges::all_of(networks_, [&](const NetworkBase* n) { return n->latency() > 0; });
}

std::uint32_t Engine::cell_of(DomainId d) const {
  const std::uint32_t cell = cell_of_.at(d);
  if (cell == kCommon) return static_cast<std::uint32_t>(cells_.size()) - 2;
  return cell == kHub ? hub() : cell;
}

std::uint32_t Engine::group_of(const NetworkBase& network) const {
  const auto all_in = [&](const std::vector<DomainId>& ends, std::uint32_t cell) {
    return std::ranges::all_of(ends, [&](DomainId d) { return cell_of(d) == cell; });
  };
  const auto& from = network.source_domains();
  const auto& to = network.destination_domains();
  const auto outside = static_cast<std::uint32_t>(cells_.size());
  if (from.empty() || to.empty()) return outside + kDirect;
  const bool from_one = all_in(from, cell_of(from.front())), to_one = all_in(to, cell_of(to.front()));
  if (from_one && to_one && cell_of(from.front()) == cell_of(to.front())) return cell_of(from.front());
  if (from_one && cell_of(from.front()) == hub()) return outside + kFromHub;
  return outside + (to_one && cell_of(to.front()) == hub() ? kToHub : kDirect);
}

bool Engine::is_at_times(std::uint32_t network) const {
  return std::ranges::find(at_times_, networks_[network]) != at_times_.end();
}

/// By domain, the shortest way over networks within its cell, then one that `leads` out.
template <class Leads>
std::vector<Time> Engine::exits(Leads&& leads) const {
  std::vector<Time> exit(domains_.size(), kNever);
  for (bool changed = true; std::exchange(changed, false);)
    for (std::uint32_t n = 0; n < networks_.size(); ++n) {
      Time beyond = kNever;
      if (group_of_[n] >= cells_.size()) {
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

void Engine::note_exits() {
  const auto is = [this](std::uint32_t n, Outside kind) { return group_of_[n] == cells_.size() + kind; };
  exits_.all = exits([&](std::uint32_t n) { return is(n, kDirect); });
  exits_.calm = exits([&](std::uint32_t n) { return is(n, kDirect) && !is_at_times(n); });
  exits_.to_hub = exits([&](std::uint32_t n) { return is(n, kToHub); });
  for (const DomainId d : cells_[cells_.size() - 2].domains)
    for (std::vector<Time>* exit : {&exits_.all, &exits_.calm})
      (*exit)[d] = std::min((*exit)[d], options_.window);
  hub_exit_ = after_hub_.all = after_hub_.calm = after_hub_.to_hub = kNever;
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

/// The window ends before any message of it can arrive in another cell, but for what the hub hands on in the
/// first part of it, up to hub_to_: that it takes before the cells begin, since what they send the hub
/// arrives there later.
void Engine::end_cell_window() {
  const bool calm = in_use_ && !in_use_();
  hub_to_ = to_;
  const std::vector<Time>& exit = calm ? exits_.calm : exits_.all;
  for (DomainId d = 0; d < domains_.size(); ++d) {
    if (next_[d] >= to_) continue;
    const Time due = std::max(next_[d], now_);
    to_ = std::min(to_, add_times(due, exit[d]));
    hub_to_ = std::min(hub_to_, add_times(due, exits_.to_hub[d]));
  }
  for (const DomainId d : cells_[hub()].domains) {
    const Time arrival = add_times(std::max(next_[d], now_), hub_exit_);
    to_ = std::min(to_, add_times(arrival, calm ? after_hub_.calm : after_hub_.all));
    hub_to_ = std::min(hub_to_, add_times(arrival, after_hub_.to_hub));
  }
  hub_to_ = std::min(hub_to_, to_);
  to_ = std::min(to_, add_times(hub_to_, hub_exit_));
}

/// What cells have from the hub already they take first, as it will have more for them.
void Engine::begin_hub() {
  if (earliest_of(cells_[hub()]) >= hub_to_) return;
  Group& from_hub = groups_[cells_.size() + kFromHub];
  shares_[0].mark = Clock::now();
  for (const std::uint32_t n : from_hub.with_mail)
    for (const DomainId d : networks_[n]->destination_domains())
      if (next_[d] <= now_) do_domain(d, now_, now_, 0);
  do_cell(hub(), now_, hub_to_, 0);
  flip(from_hub, now_);
}

void Engine::finish_hub() {
  if (hub_to_ == to_) return;
  shares_[0].mark = Clock::now();
  flip(groups_[cells_.size() + kToHub], hub_to_);
  do_cell(hub(), hub_to_, to_, 0);
}

void Engine::collect_cells() {
  awake_.clear();
  for (const std::uint32_t c : order_)
    if (!options_.skip || earliest_of(cells_[c]) < to_) awake_.push_back(c);
}

Time Engine::earliest_of(const Cell& cell) const {
  Time earliest = kNever;
  for (const DomainId d : cell.domains) earliest = std::min(earliest, next_[d]);
  return earliest;
}

void Engine::do_item(std::uint32_t item, unsigned thread) {
  Share& share = shares_[thread];
  share.item_seconds = 0;
  if (cells_.empty())
    do_domain(item, now_, to_, thread);
  else
    do_cell(item, now_, to_, thread);
  if (sampled_) cost_[item] += (share.item_seconds - cost_[item]) / kSmoothing;
}

void Engine::do_cell(std::uint32_t number, Time from, Time to, unsigned thread) {
  Cell& cell = cells_[number];
  while (from < to) {
    if (options_.skip) from = std::max(from, earliest_of(cell));
    if (from >= to) return;
    const Time end = find_awake(cell.domains, from, std::min(to, from + options_.window), cell.awake);
    if (options_.shuffle) shuffle(cell.awake, cell.shuffle_state);
    cell.awake_domains += cell.awake.size();
    for (const DomainId d : cell.awake) do_domain(d, from, end, thread);
    flip(groups_[number], end);
    from = end;
  }
}

}  // namespace lockstep::sim
