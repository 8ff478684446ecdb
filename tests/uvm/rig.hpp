// A GMMU without SMs: requests in, answers with their times out.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "uvm/gmmu.hpp"

namespace lockstep::uvm {

template <class Policies>
std::uint8_t index_of(const Policies& policies, const void* policy) {
  for (std::size_t i = 0; i < policies.size(); ++i)
    if (policies[i] == policy) return static_cast<std::uint8_t>(i);
  throw std::logic_error("no such policy");
}

inline constexpr Address kBase = 0xc000'0000;    // of the first allocation
inline constexpr std::uint64_t kMany = 1 << 18;  // frames of 1 GiB
/// Cycles at 1481 MHz that 4, 60, 64 and 2048 KB take by the arctangent curve.
inline constexpr Cycle kT4 = 2605, kT60 = 8240, kT64 = 8702, kT2048 = 242080;
inline Cycle cycles(std::uint64_t ns) { return cycles_of_ps(ns * 1000, {1481000, 16}); }

/// UVMSmart's machine.
inline Parameters smart() {
  Parameters p;
  p.fault_mode = FaultMode::kPerCycle;
  p.link = 0;  // arctan
  p.prefetcher = p.prefetcher_oversubscribed = 0;
  p.evictor = index_of(evictors(), &kLruTree);
  p.whole_units = p.early_reuse = true;
  p.l2_tlb_entries = p.l2_tlb_large_entries = 0;
  p.walkers = p.walk_cache_entries = 0;
  p.walk_levels = 1;
  p.walk_step = 100;
  p.large_entries = p.merge_misses = false;
  p.remote_threshold = 8;
  p.remote_path = RemotePath::kSlot;
  return p;
}

struct Rig {
  Rig(const Parameters& p, std::uint64_t bytes, std::uint64_t frames, std::uint32_t sources = 1)
      : Rig(p, std::vector<std::uint64_t>{bytes}, frames, sources) {}
  Rig(const Parameters& p, const std::vector<std::uint64_t>& allocations, std::uint64_t frames,
      std::uint32_t sources, std::uint64_t khz = 1481000)
      : space(make_space(allocations)), gmmu({p, khz, frames, sources}, space), sources_(sources) {
    gmmu.memory().log().record(&events);
  }
  static AddressSpace make_space(const std::vector<std::uint64_t>& allocations) {
    AddressSpace s;
    Address base = kBase;
    for (const std::uint64_t bytes : allocations) {
      s.add(base, bytes);
      base += layout_of(bytes).bytes();
    }
    return s;
  }

  /// An access that reaches the GMMU at `at`; page counted from the start of all allocations. Its token.
  std::uint64_t at(Cycle when, std::uint64_t page, bool write = false, std::uint32_t source = 0) {
    inputs.emplace(when, Input{page, write, source, tokens, false});
    return tokens++;
  }
  void hit_at(Cycle when, std::uint64_t page, bool write = false) {
    inputs.emplace(when, Input{page, write, 0, 0, true});
  }
  /// An order of the host for whole pages; complete when `completed` has its number.
  std::uint32_t order_at(Cycle when, ManagedCommand::Kind kind, std::uint64_t page, std::uint64_t pages,
                         Advice advice = Advice::kNone, bool host = false) {
    const auto index = static_cast<std::uint32_t>(orders.size());
    orders.push_back({kind, advice, host, index, kBase + page * kPageBytes, pages * kPageBytes});
    inputs.emplace(when, Input{0, false, 0, 0, false, static_cast<int>(index)});
    return index;
  }

  /// Until nothing is due any more; `every`: each cycle is visited. False after `limit` cycles.
  bool run(bool every = false, Cycle limit = 2'000'000'000) {
    while (now <= limit) {
      Cycle next = std::min(gmmu.next(), inputs.empty() ? kNever : inputs.begin()->first);
      if (!lines.empty()) next = now + 1;
      if (next == kNever) return gmmu.idle();
      now = every ? now + 1 : std::max(now + 1, next);
      step();
    }
    return false;
  }
  void step() {
    for (; !inputs.empty() && inputs.begin()->first <= now; inputs.erase(inputs.begin())) {
      const Input in = inputs.begin()->second;
      if (in.order >= 0) {
        gmmu.submit(orders[static_cast<std::size_t>(in.order)]);
        continue;
      }
      const Place place{in.page / kPagesPerTree, static_cast<std::uint32_t>(in.page % kPagesPerTree)};
      if (in.hit) {
        gmmu.accessed(place, in.write);
      } else {
        asked[in.token] = {place, in.write};
        gmmu.request(in.source, in.token, place, in.write);
      }
    }
    for (const Line& line : lines)
      gmmu.remote_request(line.source, line.token, line.place, 32, line.write, !line.write);
    lines.clear();
    gmmu.tick(now);
    for (const AccessReply& a : gmmu.replies()) {
      if (a.kind == AccessReply::Kind::kRemote) {  // the source asks for its line in the next cycle
        lines.push_back({a.source, a.token, asked.at(a.token).first, asked.at(a.token).second});
        mapped[a.token] = now;
      } else if (a.read_only && asked.at(a.token).second) {
        const Place place = asked.at(a.token).first;
        inputs.emplace(now + 1,
                       Input{place.tree * kPagesPerTree + place.page, true, a.source, a.token, false});
      } else {
        answered[a.token] = now;
      }
    }
    for (const std::uint32_t index : gmmu.completed()) completed[index] = now;
    const std::vector<Shootdown> shot = gmmu.shootdowns();
    shootdowns.insert(shootdowns.end(), shot.begin(), shot.end());
    gmmu.clear_output();
    for (const Shootdown& s : shot)
      for (std::uint32_t i = 0; i < sources_; ++i) gmmu.acknowledge(s.id, now);
  }
  /// [first page, KB] of the events of a kind, in order.
  std::vector<std::pair<unsigned, unsigned>> pieces(Event::Kind kind) const {
    std::vector<std::pair<unsigned, unsigned>> result;
    for (const Event& e : events)
      if (e.kind == kind) result.emplace_back(e.run.first, e.run.pages * 4);
    return result;
  }
  Tree& tree(TreeId id) { return gmmu.memory().table()[gmmu.memory().table().touch(id)]; }
  std::uint64_t resident() {
    std::uint64_t sum = 0;
    for (TreeIndex t = 0; t < gmmu.memory().table().size(); ++t)
      sum += gmmu.memory().table()[t].resident.count();
    return sum;
  }

  struct Input {
    std::uint64_t page;
    bool write;
    std::uint32_t source;
    std::uint64_t token;
    bool hit;
    int order = -1;
  };
  struct Line {
    std::uint32_t source;
    std::uint64_t token;
    Place place;
    bool write;
  };
  AddressSpace space;
  Gmmu gmmu;
  std::uint32_t sources_;
  std::vector<Event> events;
  std::vector<Shootdown> shootdowns;
  std::multimap<Cycle, Input> inputs;
  std::map<std::uint64_t, Cycle> answered;  // token -> time
  std::map<std::uint64_t, Cycle> mapped;    // token -> time at which it was told that its page is remote
  std::map<std::uint64_t, std::pair<Place, bool>> asked;  // token -> page, store
  std::vector<Line> lines;                                // to be asked for on the host
  std::vector<ManagedCommand> orders;
  std::map<std::uint32_t, Cycle> completed;  // order -> time
  std::uint64_t tokens = 0;
  Cycle now = 0;
};

}  // namespace lockstep::uvm
