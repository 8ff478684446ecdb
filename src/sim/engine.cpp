#include "sim/engine.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <span>
#include <stdexcept>
#include <utility>
#ifdef _OPENMP
#include <omp.h>
#endif

namespace lockstep::sim {
namespace {

// Opening and closing the gate costs about 1 us when the workers spin, some more when they are to be woken,
// so a window is shared only when there is clearly more work in it than that.
constexpr double kShareAbove = 10e-6, kAloneBelow = 5e-6;  // seconds of work a window
constexpr std::uint64_t kSampleEvery = 8;                  // windows between two detailed time measurements

/// Of the network at `position` of those that a domain sends on: the last bit is for all from there on.
constexpr std::size_t kSentBits = 64;
std::uint64_t sent_bit(std::size_t position) { return std::uint64_t{1} << std::min(position, kSentBits - 1); }

std::uint64_t next_random(std::uint64_t& state) {  // splitmix64
  std::uint64_t z = (state += 0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

}  // namespace

Engine::Engine(const EngineOptions& options) : options_(options) {
  if (options_.work_log && options_.threads > 1)
    throw std::logic_error("a work log needs an engine of one thread");
  if (options_.shuffle) shuffle_state_ = *options_.shuffle;
#ifndef _OPENMP
  options_.threads = 1;
#endif
}

Engine::~Engine() = default;

DomainId Engine::claim(std::uint32_t count) {
  const auto first = static_cast<DomainId>(domains_.size());
  domains_.resize(first + count);
  next_.resize(domains_.size());
  return first;
}

void Engine::place(DomainId id, Domain& domain, DomainKind kind, const DomainClock& clock) {
  if (domains_.at(id).domain) throw std::logic_error("two domains with one id");
  domains_[id] = {.domain = &domain, .kind = kind, .clock = clock};
}

void Engine::advance_to(Time until, Controller& controller) {
  if (border_ && until != kNever) throw std::logic_error("a run with a border goes to its end");
  until_ = border_ ? now_ : until;
  if (networks_of_.size() != domains_.size()) note_sources();
  finished_ = false;
  begin_shares();
  gate_ = std::make_unique<Gate>(0);
#ifdef _OPENMP
  std::exception_ptr error;
#pragma omp parallel num_threads(static_cast <int>(options_.threads))
  {
    const auto thread = static_cast<unsigned>(omp_get_thread_num());
#pragma omp single
    {
      team_ = static_cast<unsigned>(omp_get_num_threads());
      gate_ = std::make_unique<Gate>(team_ - 1);
    }
    if (thread == 0) {
      try {
        lead(controller);
      } catch (...) {
        error = std::current_exception();
      }
      finished_ = true;
      gate_->wake();
    } else {
      work(thread);
    }
  }
  if (error) std::rethrow_exception(error);
#else
  lead(controller);
#endif
}

/// Mail may wait in any network.
void Engine::begin_shares() {
  shares_ = std::vector<Share>(options_.threads);
  for (Share& share : shares_) share.noted_in.assign(networks_.size(), 0);
  flipped_in_.assign(networks_.size(), 0);
  for (Group& group : groups_) group = {.noted = std::vector<Group::Noted>(group.noted.size())};
  for (std::uint32_t n = 0; n < networks_.size(); ++n) groups_[plan_.group_of(n)].with_mail.push_back(n);
}

void Engine::note_sources() {
  for (const Placed& placed : domains_)
    if (!placed.domain) throw std::logic_error("an id was claimed for a domain that is not there");
  make_cells();
  networks_of_.assign(domains_.size(), {});
  reach_.assign(domains_.size(), kNever);
  for (std::uint32_t n = 0; n < networks_.size(); ++n) {
    networks_[n]->set_threads(options_.threads);
    for (const DomainId d : networks_[n]->source_domains()) {
      if (networks_of_[d].empty() || networks_of_[d].back() != n) networks_of_[d].push_back(n);
      const bool ends_windows = plan_.empty() || plan_.group_of(n) < plan_.cells();
      if (ends_windows && networks_[n]->latency() > 0)
        reach_[d] = std::min(reach_[d], networks_[n]->latency());
    }
  }
  for (DomainId d = 0; d < domains_.size(); ++d)
    for (std::size_t i = 0; i < networks_of_[d].size(); ++i)
      networks_[networks_of_[d][i]]->set_sent_word(d, domains_[d].sent, sent_bit(i));
}

void Engine::lead(Controller& controller) {
  between_ = Clock::now();
  while (begin_window(controller)) {
    if (plan_.empty()) {
      to_ = find_awake(tiers_.front().order, now_, to_, awake_);
      run_items(tiers_.front(), now_, to_, task_count_);
    } else {
      to_ = do_tier(0, now_, to_, task_count_);
    }
    end_window();
  }
  profile_.serial_seconds += seconds_since(between_);
  sum_up();
}

/// All of awake_, which are items of the tier, and the tasks.
void Engine::run_items(Tier& tier, Time from, Time to, std::size_t tasks) {
  run_from_ = from;
  run_to_ = to;
  run_tasks_ = tasks;
  if (options_.shuffle) shuffle(awake_, shuffle_state_);
  sampled_ = tier.runs++ % kSampleEvery == 0;
  const unsigned team = worth_sharing(tier) ? team_ : 1;
  divide(team);
  const auto start = Clock::now();
  const double serial = seconds(start - between_);
  profile_.serial_seconds += serial;
  if (options_.work_log) options_.work_log->window(serial);
  run_window(team, start);
  note_run(tier, team);
}

void Engine::run_window(unsigned team, TimePoint start) {
  if (options_.work_log || team == 1) {
    between_ = options_.work_log ? do_logged_share(start) : do_share(0, 1, start);
    return;
  }
  gate_->open();
  const auto wait = do_share(0, team, start);
  gate_->close(!options_.dynamic);
  between_ = Clock::now();
  shares_[0].wait_seconds += seconds(between_ - wait);
}

void Engine::note_run(Tier& tier, unsigned team) {
  double sum = 0, largest = 0;
  for (unsigned t = 0; t < team; ++t) {
    sum += shares_[t].window_seconds;
    largest = std::max(largest, shares_[t].window_seconds);
  }
  if (team > 1) {
    ++profile_.shared_windows;
    profile_.largest_share += largest;
    profile_.mean_share += sum / team;
  } else {
    profile_.alone_seconds += sum;
  }
  if (sampled_ && team > 1 && options_.dynamic) order_by_cost(tier.order);
  tier.work_estimate += (sum - tier.work_estimate) / 8;
  tier.sharing = tier.work_estimate > (tier.sharing ? kAloneBelow : kShareAbove);
  profile_.awake_domains += plan_.empty() ? awake_.size() : 0;
}

void Engine::sum_up() {
  profile_.busy_seconds.resize(shares_.size());
  for (Cell& cell : cells_) profile_.awake_domains += std::exchange(cell.awake_domains, 0);
  for (std::size_t t = 0; t < shares_.size(); ++t) {
    const Share& share = shares_[t];
    for (unsigned k = 0; k < static_cast<unsigned>(DomainKind::kCount); ++k)
      profile_.domain_seconds[k] += share.domain_seconds[k] * kSampleEvery;
    profile_.exchange_seconds += share.exchange_seconds * kSampleEvery;
    profile_.task_seconds += share.task_seconds;
    profile_.wait_seconds += share.wait_seconds;
    profile_.busy_seconds[t] += share.busy_seconds;
  }
}

void Engine::work(unsigned thread) {
  std::uint32_t generation = 0;
  auto wait = Clock::now();
  for (;;) {
    generation = gate_->wait(generation);
    if (finished_) return;
    if (!gate_->enter(thread - 1, generation)) continue;
    const auto start = Clock::now();
    shares_[thread].wait_seconds += seconds(start - wait);
    wait = do_share(thread, team_, start);
    gate_->leave(thread - 1, generation);
  }
}

bool Engine::worth_sharing(const Tier& tier) const {
  return team_ > 1 && tier.sharing && awake_.size() + run_tasks_ > 1;
}

Time Engine::earliest() const {
  Time earliest = kNever;
  for (const Time next : next_) earliest = std::min(earliest, next);
  return std::max(earliest, now_);
}

/// Sets now_, and to_ to the time by which the window must end.
bool Engine::begin_window(Controller& controller) {
  for (;;) {
    if (now_ >= until_) {
      if (!border_) return false;
      until_ = border_->meet(now_, next_);
    }
    const Time cut = std::min(controller.boundary(now_), until_);
    if (controller.stop()) return false;
    task_count_ = tasks_ ? tasks_->plan() : 0;

    const Time due = options_.skip && task_count_ == 0 ? earliest() : now_;
    if (due == kNever && cut == kNever) {
      controller.exhausted(now_);
      return false;
    }
    if (due >= cut) {  // nothing is due before the cut: step to it
      now_ = cut;
      continue;
    }
    now_ = due;
    const bool long_one = !plan_.empty() && task_count_ == 0;
    to_ = std::min(now_ + (long_one ? options_.cell_window : options_.window), cut);
    return true;
  }
}

/// Who is awake in a window that begins at `from` and ends by `to`. Returns its end: the earliest arrival of
/// a message that one of these may send, which it does when it is due and not before.
Time Engine::find_awake(std::span<const DomainId> order, Time from, Time to,
                        std::vector<DomainId>& awake) const {
  awake.clear();
  const std::span<const Time> next(next_), reach(reach_);
  Time latest = 0;
  for (const DomainId d : order) {
    if (next[d] >= to) {
      if (!options_.skip) awake.push_back(d);
      continue;
    }
    const Time due = std::max(next[d], from);
    if (reach[d] < to - due) to = due + reach[d];
    latest = std::max(latest, due);
    awake.push_back(d);
  }
  if (options_.skip && latest >= to) std::erase_if(awake, [&](DomainId d) { return next[d] >= to; });
  return to;
}

void Engine::shuffle(std::vector<std::uint32_t>& items, std::uint64_t& state) const {
  for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[next_random(state) % i]);
}

/// Brings the domain to `to`. A cycle belongs to the window in which its edge lies.
Time Engine::advance(Placed& placed, Time from, Time to) const {
  const DomainClock& clock = placed.clock;
  if (clock.to_cycles.identity()) return placed.domain->advance(from, to);
  const Cycle due = placed.domain->advance(clock.to_cycles.ceil(from), clock.to_cycles.ceil(to));
  return std::max(clock.to_time.floor(due), to);
}

void Engine::do_domain(DomainId id, Time from, Time to, unsigned thread) {
  Share& share = shares_[thread];
  Placed& placed = domains_[id];
  try {
    next_[id] = advance(placed, from, to);
    if (sampled_) {
      const double took = take_time(share);
      share.domain_seconds[static_cast<unsigned>(placed.kind)] += took;
      share.item_seconds += took;
    }
    if (placed.sent != 0) note_sent(id, thread);
    if (sampled_) share.exchange_seconds += take_time(share);
  } catch (...) {
    placed.error = std::current_exception();
    failed_.store(true, std::memory_order_relaxed);
    next_[id] = kNever;
  }
}

void Engine::note_sent(DomainId id, unsigned thread) {
  const std::vector<std::uint32_t>& networks = networks_of_[id];
  Share& share = shares_[thread];
  const auto note = [&](std::uint32_t network) {
    networks_[network]->note(id, thread);
    const std::uint64_t flip = flipped_in_[network] + 1;  // a later one
    if (std::exchange(share.noted_in[network], flip) == flip) return;
    Group& group = groups_[plan_.group_of(network)];
    group.noted[group.noted.size() > 1 ? thread : 0].networks.push_back(network);
  };
  const std::uint64_t sent = std::exchange(domains_[id].sent, 0);
  for (std::uint64_t bits = sent & ~sent_bit(kSentBits); bits; bits &= bits - 1)
    note(networks[static_cast<std::size_t>(std::countr_zero(bits))]);
  if (sent & sent_bit(kSentBits))
    for (std::size_t i = kSentBits - 1; i < networks.size(); ++i) note(networks[i]);
}

void Engine::end_window() {
  rethrow_first_error();
  profile_.window_cycles += to_ - now_;
  now_ = to_;
  if (plan_.empty())
    for (Group& group : groups_) flip(group, now_);
  ++profile_.windows;
  if (border_) border_->window_ended(next_);
  if (tasks_) tasks_->settle();
}

/// Of the group, the networks on which something was sent, and those whose mail has been read.
void Engine::flip(Group& group, Time now) {
  std::swap(group.with_mail, group.had_mail);
  group.with_mail.clear();
  ++group.flips;
  const auto flip_once = [&](std::uint32_t network) {
    if (std::exchange(flipped_in_[network], group.flips) == group.flips) return false;
    networks_[network]->flip(now, next_);
    return true;
  };
  for (Group::Noted& noted : group.noted) {
    for (const std::uint32_t network : noted.networks)
      if (flip_once(network)) group.with_mail.push_back(network);
    noted.networks.clear();
  }
  for (const std::uint32_t network : group.had_mail) flip_once(network);
}

void Engine::rethrow_first_error() {
  if (!failed_.load(std::memory_order_relaxed)) return;
  for (Placed& placed : domains_)
    if (placed.error) std::rethrow_exception(std::exchange(placed.error, nullptr));
}

}  // namespace lockstep::sim
