// The L1 without a load/store unit in front of it.
#pragma once

#include <catch2/catch.hpp>
#include <cstdint>
#include <deque>
#include <map>
#include <tuple>
#include <vector>

#include "core/l1_lookup.hpp"
#include "icnt/fabric.hpp"
#include "lsu_bench.hpp"
#include "mem/address_map.hpp"

namespace lockstep::core::test {

/// The L1, its port and the table of pending operations; requests are replied to when the test says.
class LookupBench {
 public:
  explicit LookupBench(const config::GpuConfig& config)
      : config_(config),
        map_(config),
        fabric(config),
        port(config, fabric, map_, kSm),
        results(config.l1.pending_instructions, LsuLatencies(config)),
        counters(1),
        l1(config.l1, port, results, counters) {
    for (sim::DomainId d = 0; d <= fabric.numbering().dispatcher(); ++d) domains_.push_back(d);
    due_.resize(domains_.size());
  }

  static constexpr std::uint32_t kSm = 1;

 private:
  config::GpuConfig config_;
  mem::AddressMap map_;
  std::vector<sim::DomainId> domains_;
  std::vector<Cycle> due_;

 public:
  icnt::Fabric fabric;
  LsuPort port;
  LsuResults results;
  std::vector<stats::SmCounters> counters;
  L1Lookup l1;
  std::deque<icnt::Request> asked;                // that have come to the L2
  std::map<std::uint32_t, MioEvent::Kind> ended;  // by handle
  std::map<std::uint32_t, Cycle> ended_at;        // likewise
  Cycle now = 0;

  void next_cycle() {
    note_ends();
    port.tick(now);
    for (sim::NetworkBase* n :
         std::initializer_list<sim::NetworkBase*>{fabric.request.get(), fabric.request_credit.get()})
      n->flip(domains_, now, due_);
    ++now;
    for (std::uint32_t s = 0; s < fabric.numbering().slices(); ++s)
      fabric.request->collect(s, [&](std::uint32_t, Cycle, const icnt::Request& request) {
        asked.push_back(request);
        fabric.request_credit->send(s, kSm, now + config_.icnt.request_latency, {});
      });
    port.gather(now);
    results.begin_cycle();
    results.deliver(now);
  }
  /// Some of the sectors of the request are back; it stays in the list until all are.
  void reply(std::size_t which, SectorMask sectors) {
    icnt::Request& request = asked[which];
    l1.receive(now, {request.line, request.tag, request.kind, sectors, request.kernel});
    request.sectors = static_cast<SectorMask>(request.sectors & ~sectors);
    if (request.sectors == 0) asked.erase(asked.begin() + static_cast<std::ptrdiff_t>(which));
  }
  void note_ends() {
    for (const MioEvent& event : results.events()) {
      INFO("handle " << event.handle);
      REQUIRE(ended.emplace(event.handle, event.kind).second);
      ended_at[event.handle] = now;
    }
  }
  /// Everything that a line that is blocked must leave as it is.
  [[nodiscard]] auto state() const {
    const stats::CacheCounters& c = counters[0].l1;
    return std::tuple(c.requests, c.accesses, c.hits, c.misses, c.mshr_merges, l1.missing(),
                      results.pending(), results.under_way(), port.queued(), counters[0].l1_load_sectors_sent,
                      counters[0].l1_store_sectors_sent, counters[0].l1_atomic_sectors_sent);
  }
};

}  // namespace lockstep::core::test
