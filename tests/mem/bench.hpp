// A machine of memory partitions and scripted requesters, for the tests of the memory side.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "config/gpu_config.hpp"
#include "icnt/fabric.hpp"
#include "mem/address_map.hpp"
#include "mem/partition.hpp"
#include "sim/engine.hpp"

namespace lockstep::mem_test {

using icnt::AccessKind;
using icnt::Reply;
using icnt::Request;

inline std::uint64_t next_random(std::uint64_t& state) {  // xorshift64*, independent of the code under test
  state ^= state >> 12;
  state ^= state << 25;
  state ^= state >> 27;
  return state * 0x2545f4914f6cdd1d;
}

/// A small machine; all clocks equal unless the test changes them.
inline config::GpuConfig small_config() {
  config::GpuConfig c;
  c.gpu.sms = 4;
  c.gpu.sms_per_tpc = 1;
  c.gpu.gpcs = 2;
  c.clock = {1000000, 1000000, 1000000, 1000000};
  c.l2.partitions = 2;
  c.l2.slices_per_partition = 2;
  c.l2.slice_bytes = 16 * 1024;
  c.l2.ways = 8;
  c.l2.mshrs = 32;
  c.l2.mshr_merges = 8;
  c.l2.fetch_bytes = kSectorBytes;
  c.icnt.request_latency = c.icnt.reply_latency = 24;
  c.icnt.far_latency = 50;
  return c;
}

struct Scripted {
  Cycle at = 0;  // not before this core cycle
  Request request;
};
struct Received {
  Cycle at = 0;
  Reply reply;
};

/// Stands for an SM, or for the copy engine: sends its script in order, notes what comes back.
class Requester final : public sim::Domain {
 public:
  Requester(icnt::Fabric& fabric, const mem::AddressMap& map, std::uint32_t index, bool copies,
            std::uint32_t out_bytes)
      : map_(&map),
        half_(copies ? 0 : map.half_of_sm(index)),
        out_bytes_(out_bytes),
        reply_to_(copies ? fabric.reply_to_copy_engine() : fabric.reply_to_sm(index)),
        out_(*fabric.request, *fabric.request_credit, reply_to_, fabric.sm_request_port()),
        in_(*fabric.reply, *fabric.reply_credit, reply_to_, fabric.sm_reply_eject()) {}

  void add(Cycle at, Request r) {
    r.reply_to = reply_to_;
    script.push_back({at, r});
  }

  Cycle advance(Cycle from, Cycle to) override {
    out_.gather(from);
    in_.gather(from);
    for (Cycle now = from; now < to; ++now) step(now);
    const bool at_work = next_ < script.size() || !out_.empty() || in_.pending() > 0;
    return at_work ? to : kNever;
  }
  void settle(Cycle) override {}
  void dump(std::string&) const override {}

  std::vector<Scripted> script;
  std::vector<Received> received;
  std::vector<Cycle> sent;  // by position in the script: pushed into the port
  std::uint32_t in_flight_limit = 1u << 30;
  bool keep = true;    // note what comes back
  bool stuck = false;  // take no replies
  /// Everything sent and answered, credits home.
  [[nodiscard]] bool done() const {
    return next_ == script.size() && out_.empty() && sectors_out_ == 0 && in_.pending() == 0 &&
           out_.credits_out() == out_.credits_arriving();
  }

 private:
  void step(Cycle now) {
    const auto flits = [](const Reply& r) {
      const bool data = icnt::reply_carries_data(r.kind);
      return icnt::Fabric::flits(data ? static_cast<unsigned>(__builtin_popcount(r.sectors)) : 0, 64);
    };
    in_.tick(now, !stuck, flits, [&](const Reply& r) {
      if (keep) received.push_back({now, r});
      sectors_out_ -= static_cast<std::uint32_t>(__builtin_popcount(r.sectors));
    });
    while (next_ < script.size() && script[next_].at <= now && !out_.full() &&
           sectors_out_ < in_flight_limit) {
      const Request& r = script[next_].request;
      const auto sectors = static_cast<unsigned>(__builtin_popcount(r.sectors));
      sectors_out_ += sectors;
      out_.push(now, map_->near_slice(r.line, half_),
                icnt::Fabric::flits(icnt::carries_data(r.kind) ? sectors : 0, out_bytes_), r);
      if (keep) sent.push_back(now);
      ++next_;
    }
    out_.tick(now);
  }

  const mem::AddressMap* map_;
  std::uint32_t half_, out_bytes_;
  std::uint16_t reply_to_;
  icnt::InjectionPort<Request> out_;
  icnt::EjectionPort<Reply> in_;
  std::size_t next_ = 0;
  std::uint32_t sectors_out_ = 0;
};

class Idle final : public sim::Domain {
 public:
  Cycle advance(Cycle, Cycle) override { return kNever; }
  void settle(Cycle) override {}
  void dump(std::string&) const override {}
};

struct BenchOptions {
  Cycle window = 0;  // 0: the machine's own
  bool skip = true;
  std::optional<std::uint64_t> shuffle = {};
  Cycle limit = kNever;
};

class Bench final : public sim::Controller {
 public:
  explicit Bench(const config::GpuConfig& c, const BenchOptions& o = {})
      : config(c),
        options_(o),
        fabric(c),
        map(c),
        engine_({1, true, o.window ? o.window : fabric.longest_window(), o.skip, o.shuffle}) {
    const auto sms = c.gpu.sms;
    for (std::uint32_t i = 0; i <= sms; ++i)
      requesters.push_back(std::make_unique<Requester>(fabric, map, i, i == sms, c.icnt.sm_out_bytes));
    for (std::uint32_t i = 0; i < sms; ++i) engine_.add(*requesters[i], sim::DomainKind::kSm);
    for (std::uint32_t i = 0; i < c.l2.partitions; ++i) {
      partitions.push_back(std::make_unique<mem::Partition>(c, fabric, map, i, o.skip));
      engine_.add(*partitions.back(), sim::DomainKind::kMemory);
    }
    engine_.add(*requesters[sms], sim::DomainKind::kOther);
    engine_.add(idle_, sim::DomainKind::kOther);  // in the host's place
    fabric.register_with(engine_);
  }

  /// Until nothing is left to do; the cycle at which that was seen.
  Cycle run() {
    engine_.run(*this);
    return engine_.now();
  }
  [[nodiscard]] const sim::EngineProfile& profile() const { return engine_.profile(); }

  [[nodiscard]] Cycle boundary(Cycle now) override {
    now_ = now;
    const Cycle check = options_.skip ? kNever : (now / kCheckInterval + 1) * kCheckInterval;
    return options_.limit > now ? std::min(options_.limit, check) : check;
  }
  [[nodiscard]] bool stop() const override {
    if (now_ >= options_.limit) return true;
    if (options_.skip) return false;  // ends when nothing is due
    return now_ % kCheckInterval == 0 && now_ > 0 && quiescent();
  }
  void exhausted(Cycle) override {}

  [[nodiscard]] bool quiescent() const {
    for (const auto& r : requesters)
      if (!r->done()) return false;
    return std::all_of(partitions.begin(), partitions.end(), [](const auto& p) { return p->quiescent(); });
  }

  [[nodiscard]] stats::KernelCounters take(std::uint8_t kernel = 0) {
    stats::KernelCounters total;
    for (auto& p : partitions) p->take_counters(kernel, total);
    return total;
  }

  config::GpuConfig config;

 private:
  static constexpr Cycle kCheckInterval =
      64;  // without skipping: cycles between two checks whether all is done
  BenchOptions options_;

 public:
  icnt::Fabric fabric;
  mem::AddressMap map;
  std::vector<std::unique_ptr<Requester>> requesters;  // SMs, then the copy engine
  std::vector<std::unique_ptr<mem::Partition>> partitions;

 private:
  sim::Engine engine_;
  Idle idle_;
  Cycle now_ = 0;
};

inline Request load(Address line, SectorMask sectors = 0xf, std::uint32_t tag = 0) {
  Request r;
  r.line = line;
  r.sectors = sectors;
  r.tag = tag;
  return r;
}

/// The bytes of a store that writes its sectors whole.
inline constexpr std::array<std::uint32_t, 4> kAllBytes{~0u, ~0u, ~0u, ~0u};

inline Request store(Address line, SectorMask sectors, std::array<std::uint32_t, 4> bytes,
                     std::uint32_t tag = 0) {
  Request r = load(line, sectors, tag);
  r.kind = AccessKind::kStore;
  for (unsigned s = 0; s < 4; ++s) r.bytes[s] = sectors >> s & 1 ? bytes[s] : 0;
  return r;
}

}  // namespace lockstep::mem_test
