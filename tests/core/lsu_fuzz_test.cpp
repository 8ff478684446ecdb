// Random operations through the whole memory pipeline: what goes in comes out once, skipped cycles change
// nothing, and the counters of the L1 are those of a model that knows no cycles.
#include <catch2/catch.hpp>
#include <cstring>
#include <list>
#include <random>

#include "lsu_bench.hpp"
#include "lsu_reference.hpp"

using namespace lockstep;
using namespace lockstep::core;
using namespace lockstep::core::test;

namespace {

/// Delays and splits that depend on the request alone, so that they are the same in every mode.
std::vector<std::pair<Cycle, SectorMask>> scattered_answer(const icnt::Request& r) {
  const std::uint64_t h =
      (r.line / 128 * 31 + r.sectors + static_cast<std::uint64_t>(r.kind)) * 0x9e3779b97f4a7c15u;
  const Cycle delay = 20 + (h >> 32) % 200;
  if (!icnt::is_read(r.kind) || (h >> 60) % 2) return {{delay, r.sectors}};
  std::vector<std::pair<Cycle, SectorMask>> parts;
  for (unsigned s = 0; s < 4; ++s)
    if (r.sectors >> s & 1) parts.emplace_back(delay + (h >> (8 * s)) % 60, static_cast<SectorMask>(1u << s));
  return parts;
}

struct Mix {
  bool plain_only = false;   // loads and stores that use the L1, no other unit
  unsigned footprint = 256;  // lines
};

OpList random_operations(std::uint64_t seed, unsigned count, const Mix& mix) {
  std::mt19937_64 rng(seed);
  OpList list;
  Cycle t = 0;
  for (unsigned i = 0; i < count; ++i) {
    t += rng() % 4 ? rng() % 3 : rng() % 100;
    const std::uint64_t kind = mix.plain_only ? 4 + rng() % 8 : rng() % 17;
    MioOperation* op;
    if (kind == 16) {
      std::vector<trace::BulkRun> runs(rng() % 4);
      for (trace::BulkRun& run : runs)
        run = {kData + rng() % (mix.footprint * 128), static_cast<std::uint32_t>(rng() % 300),
               static_cast<std::uint32_t>(rng() % 6), static_cast<std::int64_t>(rng() % 4096) - 2048};
      constexpr trace::BulkCopy kKinds[] = {trace::BulkCopy::kLoad, trace::BulkCopy::kStore,
                                            trace::BulkCopy::kReduction, trace::BulkCopy::kPrefetch};
      op = &list.bulk(t, kKinds[rng() % 4], runs);
    } else if (kind < 3) {
      constexpr OpClass kFixed[] = {OpClass::kShuffle,  OpClass::kSpecialReg, OpClass::kConstLoad,
                                    OpClass::kMbarrier, OpClass::kBulkCopy,   OpClass::kTexture,
                                    OpClass::kStore};
      op = &list.fixed(t, kFixed[rng() % std::size(kFixed)]);
    } else {
      const unsigned width = 1u << rng() % 5;
      LaneMask mask;
      Lanes lanes = random_lanes(rng, width, mask);
      for (Address& a : lanes) a = kData + a % (Address{mix.footprint} * 128);
      OpClass op_class = OpClass::kLoad;
      MemSpace space = MemSpace::kGlobal;
      if (kind == 3) space = MemSpace::kShared;
      if (kind == 4 || kind == 5) op_class = OpClass::kStore;
      if (kind == 12) op_class = rng() % 2 ? OpClass::kAtomic : OpClass::kReduction;
      if (kind == 13) op_class = rng() % 2 ? OpClass::kAsyncCopy : OpClass::kTexture;
      if (kind == 14) space = MemSpace::kLocal;
      if (kind == 15) space = rng() % 2 ? MemSpace::kShared : MemSpace::kLocal;
      if (kind == 15) op_class = rng() % 2 ? OpClass::kStore : OpClass::kAtomic;
      if (kind == 11 && !mix.plain_only && rng() % 2) {
        op_class = OpClass::kConstLoad;
        space = MemSpace::kConstant;
      }
      op = &list.add(t, op_class, space, width, mask, lanes);
      op->bypass_l1 = op_class == OpClass::kLoad && rng() % 8 == 0;
      op->prefetch = kind >= 6 && kind <= 10 && !mix.plain_only && rng() % 8 == 0;
      op->matrix = space == MemSpace::kShared && op_class == OpClass::kLoad && rng() % 4 == 0;
      op->local_base = kData;
    }
    op->subcore = static_cast<std::uint8_t>(rng() % 4);
    op->warp = static_cast<std::uint8_t>(rng() % 64);
    op->kernel = static_cast<std::uint8_t>(rng() % 4);
  }
  return list;
}

config::GpuConfig random_config(std::uint64_t seed) {
  std::mt19937_64 rng(seed);
  auto c = lsu_config();
  const auto one_of = [&](std::initializer_list<std::uint32_t> v) { return *(v.begin() + rng() % v.size()); };
  c.l1.bytes = one_of({4096, 16384, 131072});
  c.l1.ways = one_of({1, 4, 32});
  c.l1.replacement = rng() % 2 ? config::L1Replacement::kLru : config::L1Replacement::kFifo;
  c.l1.mshrs = one_of({1, 3, 16, 256});
  c.l1.pending_instructions = one_of({1, 4, 128});
  c.l1.tags_per_cycle = one_of({1, 2, 4});
  c.l1.data_bytes_per_cycle = one_of({32, 64, 128});
  c.l1.allocate_on_store = rng() % 2;
  c.l1.cache_global = rng() % 4 > 0;
  c.icnt.sm_queue_entries = one_of({1, 2, 8});
  c.icnt.request_credits = one_of({1, 4, 16});
  c.mio.queue_entries = one_of({1, 4, 7});
  c.mio.dispatch_interval = one_of({1, 2, 5});
  c.mio.shuffle_latency = one_of({1, 23});
  c.mio.const_cold_miss = rng() % 2;
  c.mio.const_l1_bytes = one_of({256, 2048});
  c.mio.const_l15_bytes = one_of({1024, 65536});
  c.mio.const_pass_interval = one_of({1, 2, 7});
  c.clock.icnt_khz = one_of({1'000'000, 700'000, 1'300'000});
  return c;
}

struct Outcome {
  LsuRun run;
  std::vector<stats::SmCounters> counters;
  std::vector<stats::IcntCounters> icnt;
  std::uint64_t backpressure = 0;
  bool quiet = false;
};

Outcome run(const config::GpuConfig& c, const OpList& list, Cycle window, bool skip) {
  LsuBench bench(c);
  bench.answer = scattered_answer;
  bench.window = window;
  bench.skip = skip;
  for (Cycle t = 50; t < 2000; t += 70) bench.fetches.emplace_back(t, Address{1} << 33 | t * 128);
  Outcome out;
  out.run = bench.run(list, 2'000'000);
  for (std::uint8_t k = 0; k < c.launch.max_kernels; ++k) {
    out.counters.push_back(bench.pipeline().counters(k));
    out.icnt.push_back(bench.pipeline().icnt_counters(k));
  }
  out.backpressure = bench.pipeline().backpressure_cycles();
  out.quiet = bench.pipeline().quiescent() && bench.pipeline().credits_missing() == 0;
  return out;
}

/// What the runs do not agree on first; "" if nothing.
std::string first_difference(const LsuRun& a, const LsuRun& b) {
  const auto text = [](const LsuRun& r, std::size_t i) {
    if (i >= r.events.size()) return std::string("nothing");
    const auto& [time, kind, handle] = r.events[i];
    return "event " + std::to_string(static_cast<int>(kind)) + " of " + std::to_string(handle) + " at " +
           std::to_string(time);
  };
  for (std::size_t i = 0; i < std::max(a.events.size(), b.events.size()); ++i)
    if (text(a, i) != text(b, i)) return text(a, i) + ", " + text(b, i);
  return "";
}

template <class T>
bool same(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

void check_exactly_once(const OpList& list, const LsuRun& r) {
  struct Seen {
    int read = 0, result = 0, acknowledged = 0;
  };
  std::vector<Seen> seen(list.entries().size());
  for (const auto& [time, kind, handle] : r.events) {
    Seen& s = seen.at(handle);
    if (kind == MioEvent::Kind::kOperandsRead) ++s.read;
    if (kind == MioEvent::Kind::kResult) {
      REQUIRE(s.read == 1);
      ++s.result;
    }
    if (kind == MioEvent::Kind::kAcknowledged) {
      REQUIRE(s.result == 1);
      ++s.acknowledged;
    }
  }
  for (std::size_t i = 0; i < seen.size(); ++i) {
    REQUIRE(seen[i].read == 1);
    REQUIRE(seen[i].result == 1);
    const MioOperation& op = list.entries()[i].op;
    const bool store = op.op_class == OpClass::kStore || op.op_class == OpClass::kReduction;
    const bool bulk = op.bulk != trace::BulkCopy::kNone && op.bulk != trace::BulkCopy::kLoad;
    REQUIRE(seen[i].acknowledged == (bulk || (store && op.space != MemSpace::kShared) ? 1 : 0));
  }
}

void check_conservation(const Outcome& o) {
  stats::SmCounters sm;
  stats::IcntCounters icnt;
  for (const auto& c : o.counters) stats::add(sm, c);
  for (const auto& c : o.icnt) stats::add(icnt, c);
  CHECK(sm.l1.accesses == sm.l1.hits + sm.l1.misses + sm.l1.mshr_merges);
  CHECK(sm.l1.accesses == sm.l1.sectors_read + sm.l1.sectors_written);
  CHECK(icnt.requests == o.run.requests.size());
  CHECK(icnt.replies == 0);  // whoever sends a message books it
  std::uint64_t asked = 0, answered = 0, loads = 0, stores = 0, atomics = 0;
  for (const auto& s : o.run.requests) {
    const auto n = static_cast<unsigned>(std::popcount(s.request.sectors));
    asked += n;
    using K = icnt::AccessKind;
    if (s.request.kind == K::kLoad || s.request.kind == K::kPrefetch) loads += n;
    if (s.request.kind == K::kStore) stores += n;
    if (s.request.kind == K::kAtomic || s.request.kind == K::kReduction) atomics += n;
  }
  for (const auto& t : o.run.replies) answered += static_cast<unsigned>(std::popcount(t.reply.sectors));
  CHECK(asked == answered);
  CHECK(sm.l1_load_sectors_sent == loads);
  CHECK(sm.l1_store_sectors_sent == stores);
  CHECK(sm.l1_atomic_sectors_sent == atomics);
}

}  // namespace

TEST_CASE("LSU: random operations, each event once, skipping and windows change nothing", "[long]") {
  std::uint64_t ticks = 0, skipped = 0, waited = 0;
  for (std::uint64_t seed = 0; seed < 24; ++seed) {
    CAPTURE(seed);
    const auto c = random_config(seed);
    const OpList list = random_operations(seed, 250, {false, seed % 2 ? 64u : 4096u});
    const Outcome every = run(c, list, 1, false);
    REQUIRE(every.quiet);
    check_exactly_once(list, every.run);
    check_conservation(every);
    waited += every.backpressure;
    for (const Cycle window : {1u, 7u, 16u}) {
      const Outcome other = run(c, list, window, true);
      REQUIRE(other.quiet);
      REQUIRE(first_difference(every.run, other.run) == "");
      REQUIRE(other.run.pushed == every.run.pushed);
      REQUIRE(other.run.lines == every.run.lines);
      REQUIRE(same(other.counters, every.counters));
      REQUIRE(same(other.icnt, every.icnt));
      REQUIRE(other.backpressure == every.backpressure);
      ticks += every.run.ticks;
      skipped += every.run.ticks - std::min(every.run.ticks, other.run.ticks);
    }
  }
  CHECK(skipped > ticks / 4);  // the comparison means something
  CHECK(waited > 0);
}

namespace {

/// Sectored LRU or FIFO sets and lines under way, fed with operations and fills in their order.
class L1Model {
 public:
  L1Model(std::size_t ways, const config::L1Group& l1, std::function<std::uint32_t(Address)> set_of)
      : ways_(ways),
        lru_(l1.replacement == config::L1Replacement::kLru),
        on_miss_(l1.allocate_on_miss),
        on_store_(l1.allocate_on_store),
        set_of_(std::move(set_of)) {}
  stats::CacheCounters counters;

  void fill(Address line, SectorMask sectors) {
    pending_[line] = static_cast<SectorMask>(pending_[line] & ~sectors);
    if (!on_miss_) return insert(line, sectors, false);
    for (Way& way : sets_[set_of_(line)])
      if (way.line == line) way = {line, static_cast<SectorMask>(way.valid | sectors), false};
  }
  void load(Address line, SectorMask sectors) {
    const bool there = known(line);
    const SectorMask valid = use(line);
    const auto rest = static_cast<SectorMask>(sectors & ~valid),
               missing = static_cast<SectorMask>(rest & ~pending_[line]);
    count(sectors, valid, missing);
    counters.sectors_read += bits(sectors);
    counters.read_hits += bits(static_cast<SectorMask>(sectors & valid));
    counters.read_misses += bits(missing);
    counters.read_line_misses += missing != 0 && !there;
    pending_[line] |= missing;
    if (missing && on_miss_) insert(line, 0, true);
  }
  void store(Address line, SectorMask sectors, SectorMask whole) {
    const bool there = known(line);
    const SectorMask valid = use(line);
    const auto missing = static_cast<SectorMask>(sectors & ~valid);
    count(sectors, valid, missing);
    counters.sectors_written += bits(sectors);
    counters.write_hits += bits(static_cast<SectorMask>(sectors & valid));
    counters.write_misses += bits(missing);
    counters.write_line_misses += missing != 0 && !there;
    whole = static_cast<SectorMask>(whole & ~pending_[line]);
    if (on_store_ && (whole & ~valid)) insert(line, whole, false);
  }
  void bypass(Address line, SectorMask sectors) {
    count(sectors, 0, sectors);
    counters.sectors_read += bits(sectors);
    counters.read_misses += bits(sectors);
    counters.read_line_misses += !known(line);
    auto& set = sets_[set_of_(line)];
    for (Way& way : set)
      if (way.line == line) way.valid = static_cast<SectorMask>(way.valid & ~sectors);
    set.remove_if([](const Way& way) { return way.valid == 0 && !way.awaited; });
  }

 private:
  struct Way {
    Address line;
    SectorMask valid;
    bool awaited;  // taken for a load of which no sector has come
  };
  static unsigned bits(SectorMask m) { return static_cast<unsigned>(std::popcount(m)); }
  void count(SectorMask sectors, SectorMask valid, SectorMask missing) {
    ++counters.requests;
    counters.accesses += bits(sectors);
    counters.hits += bits(static_cast<SectorMask>(sectors & valid));
    counters.misses += bits(missing);
    counters.mshr_merges += bits(static_cast<SectorMask>(sectors & ~valid & ~missing));
  }
  bool known(Address line) {
    bool there = pending_[line] != 0;
    for (const Way& way : sets_[set_of_(line)]) there = there || way.line == line;
    return there;
  }
  SectorMask use(Address line) {
    auto& set = sets_[set_of_(line)];
    for (auto i = set.begin(); i != set.end(); ++i)
      if (i->line == line) {
        if (lru_) set.splice(set.begin(), set, i);
        return i->valid;
      }
    return 0;
  }
  void insert(Address line, SectorMask sectors, bool awaited) {
    auto& set = sets_[set_of_(line)];
    for (Way& way : set)
      if (way.line == line) {
        way.valid |= sectors;
        return;
      }
    set.push_front({line, sectors, awaited});
    if (set.size() > ways_) set.pop_back();
  }

  std::size_t ways_;
  bool lru_, on_miss_, on_store_;
  std::function<std::uint32_t(Address)> set_of_;
  std::map<std::uint32_t, std::list<Way>> sets_;
  std::map<Address, SectorMask> pending_;
};

}  // namespace

TEST_CASE("LSU: L1 counters of random streams against a straightforward model") {
  for (std::uint64_t seed = 0; seed < 16; ++seed) {
    CAPTURE(seed);
    auto c = lsu_config();
    c.l1.bytes = seed % 3 ? 8192 : 65536;
    c.l1.ways = seed % 2 ? c.l1.bytes / 128 : 8;  // fully associative: nothing to know of the sets
    c.l1.allocate_on_store = seed % 4 < 2;
    c.l1.allocate_on_miss = seed % 16 < 8;
    c.l1.replacement = seed % 8 < 4 ? config::L1Replacement::kLru : config::L1Replacement::kFifo;
    c.l1.tags_per_cycle = 32;  // all lines in the cycle of the dispatch
    c.l1.mshrs = c.l1.pending_instructions = c.icnt.sm_queue_entries = 4096;
    const OpList list = random_operations(1000 + seed, 400, {true, 128});
    LsuBench bench(c);
    bench.answer = scattered_answer;
    const LsuRun r = bench.run(list);
    REQUIRE(bench.pipeline().backpressure_cycles() == 0);

    const L1Cache tags(c.l1);
    L1Model model(tags.ways(), c.l1, [&](Address a) { return tags.set_of(a); });
    // Fills come before the lookups of their cycle.
    std::vector<std::tuple<Cycle, int, std::size_t>> order;
    for (std::size_t i = 0; i < r.replies.size(); ++i) order.emplace_back(r.replies[i].time, 0, i);
    for (const auto& [time, kind, handle] : r.events)
      if (kind == MioEvent::Kind::kOperandsRead) order.emplace_back(time, 1, handle);
    std::sort(order.begin(), order.end());
    for (const auto& [time, what, i] : order) {
      if (what == 0) {
        const icnt::Reply& reply = r.replies[i].reply;
        if (reply.kind == icnt::AccessKind::kLoad && !(reply.tag >> 31))
          model.fill(reply.line, reply.sectors);
        continue;
      }
      const MioOperation& op = list.entries()[i].op;
      Lanes lanes{};
      trace::expand_addresses(op.form, op.mask, op.words, lanes.data());
      for (const ReferenceLine& line : reference_lines(op.mask, lanes, op.access_bytes)) {
        SectorMask whole = 0;
        for (unsigned s = 0; s < 4; ++s)
          if (line.bytes[s] == 0xffffffff) whole = static_cast<SectorMask>(whole | 1u << s);
        if (op.op_class == OpClass::kStore) {
          model.store(line.line, line.sectors(), whole);
        } else if (op.bypass_l1) {
          model.bypass(line.line, line.sectors());
        } else {
          model.load(line.line, line.sectors());
        }
      }
    }
    stats::CacheCounters sum;
    for (std::uint8_t k = 0; k < 4; ++k) stats::add(sum, bench.pipeline().counters(k).l1);
    CHECK(sum.requests == model.counters.requests);
    CHECK(sum.accesses == model.counters.accesses);
    CHECK(sum.hits == model.counters.hits);
    CHECK(sum.misses == model.counters.misses);
    CHECK(sum.mshr_merges == model.counters.mshr_merges);
    CHECK(sum.sectors_read == model.counters.sectors_read);
    CHECK(sum.sectors_written == model.counters.sectors_written);
    CHECK(sum.read_hits == model.counters.read_hits);
    CHECK(sum.write_hits == model.counters.write_hits);
    CHECK(sum.read_misses == model.counters.read_misses);
    CHECK(sum.write_misses == model.counters.write_misses);
    CHECK(sum.read_line_misses == model.counters.read_line_misses);
    CHECK(sum.write_line_misses == model.counters.write_line_misses);
    CHECK(sum.read_misses > sum.read_line_misses);
    CHECK(sum.write_hits > 0);
    CHECK(sum.hits > 100);
    CHECK(sum.mshr_merges > 100);
  }
}
