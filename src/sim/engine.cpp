#include "sim/engine.hpp"

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <utility>
#ifdef _OPENMP
#include <omp.h>
#endif

namespace lockstep::sim {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Opening and joining the gate costs about 1 us when the workers spin and some 50 us when they sleep, so a
// window is shared only when there is clearly more work in it than that.
constexpr double kShareAbove = 10e-6, kAloneBelow = 5e-6;  // seconds of work a window
constexpr std::uint64_t kSampleEvery = 16;                 // windows between two detailed time measurements

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

DomainId Engine::add(Domain& domain, DomainKind kind) {
  domains_.push_back({&domain, kind, 0, nullptr});
  return static_cast<DomainId>(domains_.size() - 1);
}

void Engine::run(Controller& controller) {
  woken_.assign(domains_.size(), 0);
  awake_.reserve(domains_.size());
  networks_of_.assign(domains_.size(), {});
  for (NetworkBase* network : networks_) {
    network->set_threads(options_.threads);
    for (const DomainId d : network->source_domains())
      if (networks_of_[d].empty() || networks_of_[d].back() != network) networks_of_[d].push_back(network);
  }
  finished_ = false;
  shares_.assign(options_.threads, Share{});
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
      gate_->open();
    } else {
      work(thread);
    }
  }
  if (error) std::rethrow_exception(error);
#else
  lead(controller);
#endif
}

void Engine::lead(Controller& controller) {
  auto between = Clock::now();
  while (begin_window(controller)) {
    const double serial = seconds_since(between);
    profile_.serial_seconds += serial;
    if (options_.work_log) options_.work_log->window(serial);
    run_window();
    between = Clock::now();
    end_window();
  }
  profile_.serial_seconds += seconds_since(between);
  sum_up();
}

void Engine::run_window() {
  if (options_.work_log) return do_logged_share();
  if (!worth_sharing()) return do_share(0, 1);
  next_item_.store(0, std::memory_order_relaxed);
  gate_->open();
  do_share(0, team_);
  const auto wait = Clock::now();
  gate_->join();
  shares_[0].wait_seconds += seconds_since(wait);
  ++profile_.shared_windows;
}

void Engine::sum_up() {
  profile_.busy_seconds.clear();
  for (const Share& share : shares_) {
    for (unsigned k = 0; k < static_cast<unsigned>(DomainKind::kCount); ++k)
      profile_.domain_seconds[k] += share.domain_seconds[k] * kSampleEvery;
    profile_.exchange_seconds += share.exchange_seconds * kSampleEvery;
    profile_.task_seconds += share.task_seconds;
    profile_.wait_seconds += share.wait_seconds;
    profile_.busy_seconds.push_back(share.busy_seconds);
  }
}

void Engine::work(unsigned thread) {
  std::uint32_t generation = 0;
  for (;;) {
    const auto wait = Clock::now();
    generation = gate_->wait(generation);
    if (finished_) return;
    shares_[thread].wait_seconds += seconds_since(wait);
    do_share(thread, team_);
    gate_->arrive();
  }
}

bool Engine::worth_sharing() const { return team_ > 1 && sharing_ && awake_.size() + task_count_ > 1; }

Cycle Engine::earliest() const {
  Cycle earliest = kNever;
  for (DomainId d = 0; d < domains_.size(); ++d)
    earliest = std::min(earliest, woken_[d] ? now_ : std::max(now_, domains_[d].next));
  return earliest;
}

bool Engine::begin_window(Controller& controller) {
  for (;;) {
    const Cycle cut = controller.boundary(now_);
    if (controller.stop()) return false;
    task_count_ = tasks_ ? tasks_->plan() : 0;

    Cycle earliest = kNever;
    for (DomainId d = 0; d < domains_.size(); ++d)
      earliest = std::min(earliest, woken_[d] ? now_ : domains_[d].next);
    if (!options_.skip || task_count_ > 0) earliest = std::min(earliest, now_);
    if (earliest == kNever && cut == kNever) {
      controller.exhausted(now_);
      return false;
    }
    earliest = std::max(earliest, now_);
    if (earliest >= cut) {  // nothing is due before the cut: step to it
      now_ = cut;
      continue;
    }
    now_ = earliest;
    to_ = std::min(now_ + options_.window, cut);
    collect_awake();
    return true;
  }
}

void Engine::collect_awake() {
  awake_.clear();
  for (DomainId d = 0; d < domains_.size(); ++d)
    if (woken_[d] || domains_[d].next < to_ || !options_.skip) awake_.push_back(d);
  if (options_.shuffle)
    for (std::size_t i = awake_.size(); i > 1; --i)
      std::swap(awake_[i - 1], awake_[next_random(shuffle_state_) % i]);
  sampled_ = profile_.windows % kSampleEvery == 0;
}

void Engine::do_share(unsigned thread, unsigned team) {
  Share& share = shares_[thread];
  const auto start = Clock::now();
  const std::size_t items = awake_.size() + task_count_;
  if (team > 1 && options_.dynamic) {
    for (std::size_t i; (i = next_item_.fetch_add(1, std::memory_order_relaxed)) < items;) do_item(i, thread);
  } else {
    for (std::size_t i = thread; i < items; i += team) do_item(i, thread);
  }
  share.window_seconds = seconds_since(start);
  share.busy_seconds += share.window_seconds;
}

void Engine::do_logged_share() {
  const auto start = Clock::now();
  auto before = start;
  for (std::size_t i = 0; i < awake_.size() + task_count_; ++i) {
    do_item(i, 0);
    const auto after = Clock::now();
    options_.work_log->item(std::chrono::duration<double>(after - before).count());
    before = after;
  }
  shares_[0].window_seconds = std::chrono::duration<double>(before - start).count();
  shares_[0].busy_seconds += shares_[0].window_seconds;
}

void Engine::do_item(std::size_t item, unsigned thread) {
  Share& share = shares_[thread];
  if (item >= awake_.size()) {
    const auto start = Clock::now();
    tasks_->run(item - awake_.size());
    share.task_seconds += seconds_since(start);
    return;
  }
  Slot& slot = domains_[awake_[item]];
  const auto start = sampled_ ? Clock::now() : Clock::time_point{};
  try {
    slot.next = slot.domain->advance(now_, to_);
    if (sampled_) share.domain_seconds[static_cast<unsigned>(slot.kind)] += seconds_since(start);
    const auto handing_over = sampled_ ? Clock::now() : Clock::time_point{};
    for (NetworkBase* network : networks_of_[awake_[item]]) network->note(awake_[item], thread);
    if (sampled_) share.exchange_seconds += seconds_since(handing_over);
  } catch (...) {
    slot.error = std::current_exception();
    slot.next = kNever;
  }
}

void Engine::end_window() {
  rethrow_first_error();
  double sum = 0, largest = 0;
  const bool shared = worth_sharing();
  for (unsigned t = 0; t < (shared ? team_ : 1u); ++t) {
    sum += shares_[t].window_seconds;
    largest = std::max(largest, shares_[t].window_seconds);
  }
  if (shared) {
    profile_.largest_share += largest;
    profile_.mean_share += sum / team_;
  } else {
    profile_.alone_seconds += sum;
  }
  work_estimate_ += (sum - work_estimate_) / 8;
  sharing_ = work_estimate_ > (sharing_ ? kAloneBelow : kShareAbove);

  ++profile_.windows;
  profile_.window_cycles += to_ - now_;
  profile_.awake_domains += awake_.size();
  std::fill(woken_.begin(), woken_.end(), std::uint8_t{0});
  for (NetworkBase* network : networks_) network->flip(woken_);
  now_ = to_;
  if (tasks_) tasks_->settle();
}

void Engine::rethrow_first_error() {
  for (Slot& slot : domains_)
    if (slot.error) std::rethrow_exception(std::exchange(slot.error, nullptr));
}

}  // namespace lockstep::sim
