// Advances cells, each in windows of its own, and the hub between them.
#include <algorithm>
#include <numeric>

#include "sim/engine.hpp"

namespace lockstep::sim {
namespace {

// With fewer cells, threads wait for the one that has the longest.
constexpr std::size_t kCellsPerThread = 2;
constexpr double kSmoothing = 2;  // measurements over which an item's cost is a mean

}  // namespace

/// Not with a border, whose windows are those of all processes, nor with a work log, which is of domains.
bool Engine::cells_are_useful() const {
  const std::uint32_t cells = division_.cells();
  if (cells < 2 || cells < kCellsPerThread * options_.threads || border_ || options_.work_log) return false;
  return options_.cell_window > options_.window &&
         std::ranges::all_of(networks_, [](const NetworkBase* n) { return n->latency() > 0; });
}

/// Items are cells, but for the hub, or without them domains.
void Engine::make_cells() {
  plan_ = cells_are_useful() ? CellPlan(division_, networks_, options_.window) : CellPlan();
  cells_ = std::vector<Cell>(plan_.cells());
  for (std::size_t c = 0; c < cells_.size(); ++c) cells_[c].shuffle_state = shuffle_state_ + c;
  if (!plan_.empty())
    for (NetworkBase* network : networks_) network->give_once();
  const std::size_t items = plan_.empty() ? domains_.size() : plan_.hub();
  cost_.assign(items, 0);
  order_.resize(items);
  std::iota(order_.begin(), order_.end(), 0);
  groups_.assign(cells_.size(), {.noted = std::vector<Group::Noted>(1)});
  groups_.resize(cells_.size() + CellPlan::kOutsides, {.noted = std::vector<Group::Noted>(options_.threads)});
}

void Engine::begin_cell_window() {
  const CellPlan::Window window = plan_.window(now_, to_, next_);
  to_ = window.to;
  hub_to_ = window.hub_to;
  begin_hub();
  awake_.clear();
  for (const std::uint32_t c : order_)
    if (!options_.skip || earliest_of(c) < to_) awake_.push_back(c);
}

/// What cells have from the hub already they take first, as it will have more for them.
void Engine::begin_hub() {
  if (options_.skip && earliest_of(plan_.hub()) >= hub_to_) return;
  Group& from_hub = groups_[cells_.size() + CellPlan::kFromHub];
  shares_[0].mark = Clock::now();
  for (const std::uint32_t n : from_hub.with_mail)
    for (const DomainId d : networks_[n]->destination_domains())
      if (next_[d] <= now_) do_domain(d, now_, now_, 0);
  do_cell(plan_.hub(), now_, hub_to_, 0);
  flip(from_hub, now_);
}

void Engine::finish_hub() {
  if (hub_to_ == to_) return;
  shares_[0].mark = Clock::now();
  flip(groups_[cells_.size() + CellPlan::kToHub], hub_to_);
  do_cell(plan_.hub(), hub_to_, to_, 0);
}

Time Engine::earliest_of(std::uint32_t cell) const {
  Time earliest = kNever;
  for (const DomainId d : plan_.domains_of(cell)) earliest = std::min(earliest, next_[d]);
  return earliest;
}

void Engine::do_item(std::uint32_t item, unsigned thread) {
  Share& share = shares_[thread];
  share.item_seconds = 0;
  if (plan_.empty())
    do_domain(item, now_, to_, thread);
  else
    do_cell(item, now_, to_, thread);
  if (sampled_) cost_[item] += (share.item_seconds - cost_[item]) / kSmoothing;
}

void Engine::do_cell(std::uint32_t number, Time from, Time to, unsigned thread) {
  Cell& cell = cells_[number];
  while (from < to) {
    if (options_.skip) from = std::max(from, earliest_of(number));
    if (from >= to) return;
    const Time end =
        find_awake(plan_.domains_of(number), from, std::min(to, from + options_.window), cell.awake);
    if (options_.shuffle) shuffle(cell.awake, cell.shuffle_state);
    cell.awake_domains += cell.awake.size();
    for (const DomainId d : cell.awake) do_domain(d, from, end, thread);
    flip(groups_[number], end);
    from = end;
  }
}

}  // namespace lockstep::sim
