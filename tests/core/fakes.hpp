// Stand-ins for SMs and memory partitions, and a machine of them around the real dispatcher and copy engine.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "config/gpu_config.hpp"
#include "core/copy_engine.hpp"
#include "core/dispatcher.hpp"
#include "host/host.hpp"
#include "icnt/fabric.hpp"
#include "icnt/ports.hpp"
#include "mem/address_map.hpp"
#include "sim/engine.hpp"
#include "stats/counter_source.hpp"

namespace lockstep::test {

/// All clocks at 1 GHz, so that a cycle is a nanosecond everywhere, and round latencies.
inline config::GpuConfig small_gpu(std::uint32_t sms = 8, std::uint32_t gpcs = 2) {
  config::GpuConfig c;
  c.clock.core_khz = c.clock.icnt_khz = c.clock.l2_khz = c.clock.dram_khz = 1'000'000;
  c.gpu.sms = sms;
  c.gpu.gpcs = gpcs;
  c.gpu.sms_per_tpc = 2;
  c.l2.partitions = 4;
  c.l2.slices_per_partition = 2;
  c.launch.latency_ns = 1000;
  c.launch.dispatch_interval_milli = 1000;
  c.launch.cta_latency_ps = 64'000;
  c.launch.done_latency_ps = 32'000;
  c.launch.max_kernels = 8;
  c.host.bytes_per_second = 8'000'000'000;  // 8 bytes per cycle
  c.host.command_latency_ps = 40'000;
  c.host.data_latency_ps = 50'000;
  c.host.warms_l2 = false;
  return c;
}

/// Cycles of small_gpu(): launch latency, to an SM with a CTA, back with word of its end.
inline constexpr Cycle kFloor = 1000, kToSm = 64, kBack = 32;

inline trace::KernelHeader kernel(std::uint64_t id, std::uint32_t ctas, std::uint32_t threads = 256,
                                  std::uint64_t stream = 0, std::uint32_t shared = 0,
                                  std::uint32_t registers = 16) {
  trace::KernelHeader k;
  k.name = "kernel" + std::to_string(id);
  k.id = id;
  k.grid = {ctas, 1, 1};
  k.block = {threads, 1, 1};
  k.shared_bytes = shared;
  k.registers = registers;
  k.stream = stream;
  return k;
}

struct Started {
  Cycle dispatched;
  std::uint32_t sm;
  std::uint64_t launch;  // launch_sequence of the kernel
  std::uint64_t cta;
  unsigned carveout;
  friend auto operator<=>(const Started&, const Started&) = default;
};

/// How long a CTA runs and how long its stores then take.
struct Life {
  Cycle run = 100, drain = 0;
};
using LifeOf = std::function<Life(const core::KernelSlot&, std::uint64_t cta)>;

/// Holds CTAs for the time it is told and checks on its own what the dispatcher may never do.
class FakeSm final : public sim::Domain, public stats::CounterSource {
 public:
  FakeSm(const config::GpuConfig& config, icnt::Fabric& fabric, const core::KernelTable& kernels,
         std::uint32_t index, LifeOf life)
      : config_(config),
        fabric_(&fabric),
        kernels_(&kernels),
        index_(index),
        life_(std::move(life)),
        launches_(2048) {}

  Cycle advance(Cycle from, Cycle to) override {
    launches_.gather(*fabric_->launch, index_, from);
    for (Cycle now = std::max(from, next()); now < to; now = std::max(now + 1, next())) {
      while (!events_.empty() && events_.begin()->first == now) {
        fire(now, events_.begin()->second);
        events_.erase(events_.begin());
      }
      launches_.drain(now, [&](std::uint32_t, const icnt::LaunchCta& m) { start(now, m); });
    }
    return std::max(to, next());
  }
  void settle(Cycle) override {}
  void dump(std::string& out) const override {
    out += "fake SM " + std::to_string(index_) + " holds " + std::to_string(residents_.size()) + " CTAs";
  }
  void take_counters(std::uint8_t slot, stats::KernelCounters& total) override {
    total.sm.ctas += ctas_[slot];
    ctas_[slot] = 0;
  }
  [[nodiscard]] bool quiescent() const override {
    return residents_.empty() && events_.empty() && launches_.size() == 0;
  }
  [[nodiscard]] const std::vector<Started>& started() const { return started_; }

 private:
  struct Event {
    icnt::CtaEvent::Kind kind;
    std::uint8_t kernel;
    std::uint64_t cta;
  };
  using Resident = std::pair<std::uint8_t, std::uint64_t>;

  [[nodiscard]] Cycle next() const {
    return std::min(launches_.next_arrival(), events_.empty() ? kNever : events_.begin()->first);
  }

  void start(Cycle now, const icnt::LaunchCta& m) {
    const core::KernelSlot& slot = (*kernels_)[m.kernel];
    if (!residents_.empty() && m.carveout != carveout_)
      throw std::logic_error("carve-out changed under a CTA");
    carveout_ = m.carveout;
    residents_[{m.kernel, m.cta}] = slot;
    if (slot.feed) traces_[{m.kernel, m.cta}] = slot.feed->take(m.cta);
    check_resources();
    ++ctas_[m.kernel];
    started_.push_back({now - config_.cta_latency(), index_, slot.launch_sequence, m.cta, m.carveout});
    const Life life = life_(slot, m.cta);
    if (life.run == kNever) return;  // never ends
    events_.insert({now + life.run, {icnt::CtaEvent::Kind::kFreed, m.kernel, m.cta}});
    events_.insert({now + life.run + life.drain, {icnt::CtaEvent::Kind::kDrained, m.kernel, m.cta}});
  }

  void fire(Cycle now, const Event& event) {
    const Resident who{event.kernel, event.cta};
    if (event.kind == icnt::CtaEvent::Kind::kFreed) {
      if (residents_.at(who).feed) residents_.at(who).feed->release(traces_.at(who));
      residents_.erase(who);
      traces_.erase(who);
    }
    fabric_->cta_event->send(index_, 0, now + config_.done_latency(),
                             {event.kind, event.kernel, event.cta, now});
  }

  void check_resources() const {
    std::uint64_t warps = 0, registers = 0, shared = 0;
    for (const auto& [who, slot] : residents_) {
      warps += slot.warps_per_cta;
      registers += std::uint64_t{slot.registers_per_warp} * slot.warps_per_cta;
      shared += slot.shared_bytes;
    }
    if (warps > config_.sm.max_warps || warps * kWarpSize > config_.sm.max_threads ||
        residents_.size() > config_.sm.max_ctas || registers > config_.sm.registers ||
        shared > std::uint64_t{config_.l1.shared_carveouts_kib[carveout_]} * 1024)
      throw std::logic_error("more CTAs than the SM has room for");
  }

  config::GpuConfig config_;
  icnt::Fabric* fabric_;
  const core::KernelTable* kernels_;
  std::uint32_t index_;
  LifeOf life_;
  sim::Inbox<icnt::LaunchCta> launches_;
  std::multimap<Cycle, Event> events_;
  std::map<Resident, core::KernelSlot> residents_;
  std::map<Resident, trace::CtaTrace*> traces_;
  std::map<std::uint8_t, std::uint64_t> ctas_;
  std::vector<Started> started_;
  unsigned carveout_ = 0;
};

/// Answers every request of the copy engine `latency` cycles after it leaves the crossbar. One clock for all.
class FakePartition final : public sim::Domain, public stats::CounterSource {
 public:
  FakePartition(const config::GpuConfig& config, icnt::Fabric& fabric, std::uint32_t index, Cycle latency)
      : in_bytes_(config.icnt.slice_in_bytes), out_bytes_(config.icnt.slice_out_bytes), latency_(latency) {
    for (std::uint32_t i = 0; i < config.l2.slices_per_partition; ++i) {
      const std::uint32_t s = index * config.l2.slices_per_partition + i;
      slices_.push_back(
          std::make_unique<Slice>(icnt::EjectionPort<icnt::Request>(*fabric.request, *fabric.request_credit,
                                                                    s, fabric.slice_request_eject()),
                                  icnt::InjectionPort<icnt::Reply>(*fabric.reply, *fabric.reply_credit, s,
                                                                   fabric.slice_reply_port())));
    }
  }
  Cycle advance(Cycle from, Cycle to) override {
    for (auto& s : slices_) {
      s->in.gather(from);
      s->out.gather(from);
    }
    for (Cycle now = from; now < to; ++now)
      for (auto& s : slices_) tick(*s, now);
    return quiescent() ? kNever : to;
  }
  void settle(Cycle) override {}
  void dump(std::string& out) const override { out += "fake partition"; }
  void take_counters(std::uint8_t, stats::KernelCounters&) override {}
  [[nodiscard]] bool quiescent() const override {
    return std::all_of(slices_.begin(), slices_.end(), [](const auto& s) {
      return s->in.pending() == 0 && s->queue.empty() && s->out.empty() && s->out.credits_missing() == 0;
    });
  }
  struct Seen {
    Cycle at;
    icnt::Request request;
  };
  [[nodiscard]] const std::vector<Seen>& seen() const { return seen_; }

 private:
  struct Slice {
    Slice(icnt::EjectionPort<icnt::Request> i, icnt::InjectionPort<icnt::Reply> o)
        : in(std::move(i)), out(std::move(o)) {}
    icnt::EjectionPort<icnt::Request> in;
    icnt::InjectionPort<icnt::Reply> out;
    std::deque<Seen> queue;
  };
  void tick(Slice& s, Cycle now) {
    const auto sectors = [](const icnt::Request& r) {
      return static_cast<unsigned>(std::popcount(r.sectors));
    };
    s.in.tick(
        now, true,
        [&](const icnt::Request& r) {
          return icnt::Fabric::flits(icnt::carries_data(r.kind) ? sectors(r) : 0, in_bytes_);
        },
        [&](const icnt::Request& r) {
          s.queue.push_back({now + latency_, r});
          seen_.push_back({now, r});
        });
    while (!s.queue.empty() && s.queue.front().at <= now && !s.out.full()) {
      const icnt::Request& r = s.queue.front().request;
      s.out.push(now, r.reply_to, icnt::Fabric::flits(icnt::is_read(r.kind) ? sectors(r) : 0, out_bytes_),
                 {r.line, r.tag, r.kind, r.sectors, r.kernel});
      s.queue.pop_front();
    }
    s.out.tick(now);
  }

  std::uint32_t in_bytes_, out_bytes_;
  Cycle latency_;
  std::vector<std::unique_ptr<Slice>> slices_;
  std::vector<Seen> seen_;
};

struct Work {
  std::vector<trace::KernelHeader> kernels;
  std::vector<host::HostCommand> commands;
  std::uint32_t streams = 1;

  void launch(const trace::KernelHeader& k) {
    const auto stream = static_cast<std::uint32_t>(k.stream);
    streams = std::max(streams, stream + 1);
    commands.push_back(
        {host::HostCommand::Kind::kKernel, stream, static_cast<std::uint32_t>(kernels.size()), 0, 0});
    kernels.push_back(k);
  }
  void copy(bool to_device, Address address, std::uint64_t bytes) {
    using Kind = host::HostCommand::Kind;
    commands.push_back({to_device ? Kind::kCopyToDevice : Kind::kCopyToHost, 0, 0, address, bytes});
  }
};

/// Everything that must not depend on windows, order or threads.
struct Log {
  std::vector<Started> started;                                         // sorted
  std::vector<std::tuple<std::uint32_t, Cycle, Cycle, Cycle>> kernels;  // command, first dispatch, end, cut
  std::vector<std::tuple<std::uint32_t, Cycle, Cycle>> copies;          // command, start, end
  friend bool operator==(const Log&, const Log&) = default;
};

class FakeMachine : public sim::Controller {
 public:
  FakeMachine(const config::GpuConfig& config, Work work, LifeOf life, Cycle memory_latency = 20)
      : work_(std::move(work)), config_(config), fabric_(config), map_(config) {
    host_ = std::make_unique<host::Host>(work_.commands, work_.streams, config.host.copy_mode);
    dispatcher_ = std::make_unique<core::Dispatcher>(config, fabric_, table_);
    host_->add_device(*dispatcher_);
    for (std::uint32_t i = 0; const auto& k : work_.kernels)
      dispatcher_->set_plan(i++, {&k, config::occupancy(config, k), core::L2Shares::of(k.l2, config.l2), 0,
                                  k.grid.count(), static_cast<std::uint32_t>(k.cluster.count())});
    copies_ = std::make_unique<core::CopyEngine>(config, fabric_, map_,
                                                 static_cast<std::uint8_t>(config.launch.max_kernels));
    for (std::uint32_t i = 0; i < config.gpu.sms; ++i)
      sms_.push_back(std::make_unique<FakeSm>(config, fabric_, table_, i, life));
    for (std::uint32_t i = 0; i < config.l2.partitions; ++i)
      partitions_.push_back(std::make_unique<FakePartition>(config, fabric_, i, memory_latency));
  }

  Log run(sim::EngineOptions options = {}) {
    sim::Engine engine(options);
    for (auto& sm : sms_) engine.add(*sm, sim::DomainKind::kSm);
    for (auto& p : partitions_) engine.add(*p, sim::DomainKind::kMemory);
    engine.add(*copies_, sim::DomainKind::kOther);
    engine.add(*host_, sim::DomainKind::kOther);
    fabric_.register_with(engine);
    engine.run(*this);
    Log log;
    for (const auto& sm : sms_)
      log.started.insert(log.started.end(), sm->started().begin(), sm->started().end());
    std::sort(log.started.begin(), log.started.end());
    for (const auto& f : dispatcher_->finished())
      log.kernels.emplace_back(f.command, f.first_dispatch, f.end, f.cut);
    for (const auto& c : host_->copied()) log.copies.emplace_back(c.command, c.start, c.end);
    return log;
  }

  Cycle boundary(Cycle) override { return kNever; }
  bool stop() const override { return false; }
  void exhausted(Cycle) override {}

  [[nodiscard]] core::Dispatcher& dispatcher() { return *dispatcher_; }
  [[nodiscard]] host::Host& host() { return *host_; }
  [[nodiscard]] core::CopyEngine& copies() { return *copies_; }
  /// Requests that reached memory, of all partitions, by time.
  [[nodiscard]] std::vector<FakePartition::Seen> seen() const {
    std::vector<FakePartition::Seen> all;
    for (const auto& p : partitions_) all.insert(all.end(), p->seen().begin(), p->seen().end());
    std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.at < b.at; });
    return all;
  }
  [[nodiscard]] bool quiescent() const {
    return host_->quiescent() && copies_->quiescent() &&
           std::all_of(sms_.begin(), sms_.end(), [](const auto& s) { return s->quiescent(); }) &&
           std::all_of(partitions_.begin(), partitions_.end(), [](const auto& p) { return p->quiescent(); });
  }

 private:
  Work work_;
  config::GpuConfig config_;
  icnt::Fabric fabric_;
  mem::AddressMap map_;
  core::KernelTable table_;
  std::unique_ptr<host::Host> host_;
  std::unique_ptr<core::Dispatcher> dispatcher_;
  std::unique_ptr<core::CopyEngine> copies_;
  std::vector<std::unique_ptr<FakeSm>> sms_;
  std::vector<std::unique_ptr<FakePartition>> partitions_;
};

/// The same numbers everywhere, 32 bits at a time.
class Random {
 public:
  explicit Random(std::uint32_t seed) : engine_(seed) {}
  std::uint32_t operator()() { return static_cast<std::uint32_t>(engine_()); }

 private:
  std::mt19937 engine_;
};

inline LifeOf always(Cycle run, Cycle drain = 0) {
  return [=](const core::KernelSlot&, std::uint64_t) { return Life{run, drain}; };
}

inline sim::EngineOptions windows_of(Cycle window) {
  sim::EngineOptions options;
  options.window = window;
  return options;
}

}  // namespace lockstep::test
