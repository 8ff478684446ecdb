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
  const std::uint32_t cells = division_.cells(0);
  if (cells < 2 || cells < kCellsPerThread * options_.threads || border_ || options_.work_log) return false;
  return options_.cell_window > options_.window &&
         std::ranges::all_of(networks_, [](const NetworkBase* n) { return n->latency() > 0; });
}

void Engine::make_cells() {
  plan_ = cells_are_useful() ? CellPlan(division_, networks_, options_.window) : CellPlan();
  cells_ = std::vector<Cell>(plan_.cells());
  for (std::size_t c = 0; c < cells_.size(); ++c) cells_[c].shuffle_state = shuffle_state_ + c;
  if (!plan_.empty())
    for (NetworkBase* network : networks_) network->give_once();
  cost_.assign(plan_.empty() ? domains_.size() : plan_.cells(), 0);
  tiers_ = std::vector<Tier>(plan_.empty() ? 1 : plan_.tiers());
  for (std::uint32_t t = 0; t < plan_.tiers(); ++t) tiers_[t].order = plan_.cells_of(t);
  if (plan_.empty()) {
    tiers_.front().order.resize(domains_.size());
    std::iota(tiers_.front().order.begin(), tiers_.front().order.end(), 0);
  }
  groups_.assign(cells_.size(), {.noted = std::vector<Group::Noted>(1)});
  groups_.resize(plan_.groups(), {.noted = std::vector<Group::Noted>(options_.threads)});
}

/// A window of the tier's cells and their hub, from `from` on. Returns its end.
Time Engine::do_tier(std::uint32_t number, Time from, Time limit, std::size_t tasks) {
  const CellPlan::Window window = plan_.window(number, from, limit, next_);
  begin_hub(number, from, window.hub_to);
  awake_.clear();
  for (const std::uint32_t c : tiers_[number].order)
    if (!options_.skip || earliest_of(plan_.domains_of(c)) < window.to) awake_.push_back(c);
  run_items(tiers_[number], from, window.to, tasks);
  finish_hub(number, window.hub_to, window.to);
  for (std::uint32_t kind = 0; kind < CellPlan::kOutsides; ++kind)
    flip(groups_[plan_.group(number, static_cast<CellPlan::Outside>(kind))], window.to);
  return window.to;
}

/// What cells have from the hub already they take first, as it will have more for them.
void Engine::begin_hub(std::uint32_t tier, Time from, Time to) {
  if (options_.skip && earliest_of(plan_.hub_of(tier)) >= to) return;
  Group& from_hub = groups_[plan_.group(tier, CellPlan::kFromHub)];
  shares_[0].mark = Clock::now();
  for (const std::uint32_t n : from_hub.with_mail)
    for (const DomainId d : networks_[n]->destination_domains())
      if (next_[d] <= from) do_domain(d, from, from, 0);
  do_hub(tier, from, to);
  flip(from_hub, from);
}

void Engine::finish_hub(std::uint32_t tier, Time from, Time to) {
  if (from == to) return;
  shares_[0].mark = Clock::now();
  flip(groups_[plan_.group(tier, CellPlan::kToHub)], from);
  do_hub(tier, from, to);
}

void Engine::do_hub(std::uint32_t tier, Time from, Time to) {
  if (tier + 1 == plan_.tiers()) return do_cell(plan_.hub(), from, to, 0);
  while (from < to) {
    if (options_.skip) from = std::max(from, earliest_of(plan_.hub_of(tier)));
    if (from >= to) return;
    from = do_tier(tier + 1, from, to, 0);
  }
}

Time Engine::earliest_of(std::span<const DomainId> domains) const {
  Time earliest = kNever;
  for (const DomainId d : domains) earliest = std::min(earliest, next_[d]);
  return earliest;
}

void Engine::do_item(std::uint32_t item, unsigned thread) {
  Share& share = shares_[thread];
  share.item_seconds = 0;
  if (plan_.empty())
    do_domain(item, run_from_, run_to_, thread);
  else
    do_cell(item, run_from_, run_to_, thread);
  if (sampled_) cost_[item] += (share.item_seconds - cost_[item]) / kSmoothing;
}

void Engine::do_cell(std::uint32_t number, Time from, Time to, unsigned thread) {
  Cell& cell = cells_[number];
  while (from < to) {
    if (options_.skip) from = std::max(from, earliest_of(plan_.domains_of(number)));
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
