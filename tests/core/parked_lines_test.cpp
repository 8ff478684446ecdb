// A memory pipeline with managed pages, whose GMMU and slices are played by hand: what happens to lines that
// wait for their page.
#include "core/parked_lines.hpp"

#include <catch2/catch.hpp>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "lsu_bench.hpp"

namespace lockstep::core::test {
namespace {

constexpr Address kPaged = 0x7c0000000000;
constexpr Cycle kToGmmu = 60, kToSlice = 40;

config::GpuConfig paged_config() {
  config::GpuConfig c = lsu_config();
  c.gpu.sms = 1;
  c.gpu.gpcs = 1;
  c.icnt.request_latency = c.icnt.reply_latency = kToSlice;
  c.l1.tags_per_cycle = 1;
  c.uvm.request_latency = kToGmmu;
  c.uvm.reply_latency = 50;
  c.uvm.l1_tlb_entries = 64;
  c.uvm.l1_tlb_large_entries = 0;
  c.uvm.l1_shootdown = 15;
  c.uvm.touch_interval = 1'000'000;
  c.uvm.merge_misses = true;
  c.uvm.early_reuse = c.uvm.blocking_misses = c.uvm.exits_wait = false;
  c.uvm.shootdown = uvm::ShootdownScope::kEntry;
  return c;
}

class ParkedBench {
 public:
  struct Asked {
    Cycle arrival;
    std::uint32_t slice;
    icnt::Request request;
  };
  explicit ParkedBench(const config::GpuConfig& config = paged_config())
      : fabric_(config, true), map_(config) {
    space_.add(kPaged, 4 << 20);
    pipeline = std::make_unique<MemoryPipeline>(config, fabric_, map_, 0, &space_);
    for (sim::DomainId d = 0; d <= fabric_.numbering().dispatcher(); ++d) domains_.push_back(d);
    due_.resize(domains_.size());
  }
  /// Pushes the operations in order as there is room.
  void push(const OpList& list) {
    for (const OpList::Entry& e : list.entries()) waiting_.push_back(e.op);
  }
  void cycle() {
    collect();
    pipeline->gather(now);
    if (!skip || next_ <= now || fabric_has_mail_) {
      ++ticks;
      pipeline->tick(now);
      for (const MioEvent& e : pipeline->events()) events.emplace_back(now, e.kind, e.handle);
      next_ = pipeline->next_event(now);
    }
    if (!waiting_.empty() && pipeline->can_accept(0)) {
      pipeline->next(0) = waiting_.front();
      waiting_.pop_front();
      pipeline->push(now, 0);
      next_ = std::min(next_, pipeline->next_event(now));
    }
    ++now;
    for (sim::NetworkBase* n : std::initializer_list<sim::NetworkBase*>{
             fabric_.request.get(), fabric_.request_credit.get(), fabric_.reply.get(),
             fabric_.reply_credit.get(), fabric_.translation_request.get(), fabric_.translation_reply.get()})
      n->flip(domains_, now, due_);
    fabric_has_mail_ = fabric_.reply->has_mail(0) || fabric_.translation_reply->has_mail(0) ||
                       fabric_.request_credit->has_mail(0);
    if (fabric_has_mail_) next_ = std::min(next_, now);
  }
  void run_until(Cycle end) {
    while (now < end) cycle();
  }
  void reply(const icnt::TranslationReply& r) { fabric_.translation_reply->send(0, 0, now + 1, r); }
  void resident(std::uint32_t token) {
    icnt::TranslationReply r;
    r.token = token;
    reply(r);
  }
  void shoot_down(std::uint32_t number, std::uint16_t first, std::uint16_t pages) {
    icnt::TranslationReply r;
    r.kind = icnt::TranslationReply::Kind::kShootdown;
    r.token = number;
    r.first = first;
    r.pages = pages;
    reply(r);
  }
  /// The slice's reply, which arrives in the next cycle.
  void answer(const Asked& to, icnt::AccessKind kind, std::uint32_t tag) {
    fabric_.reply->send(to.slice, 0, now + 1,
                        {to.request.line, tag, kind, to.request.sectors, to.request.kernel});
  }
  void answer(const Asked& to) { answer(to, to.request.kind, to.request.tag); }
  [[nodiscard]] Cycle result(std::uint32_t handle, MioEvent::Kind kind = MioEvent::Kind::kResult) const {
    for (const auto& [time, k, h] : events)
      if (k == kind && h == handle) return time;
    return kNever;
  }
  [[nodiscard]] std::vector<std::pair<Cycle, icnt::TranslationRequest>> of_kind(
      icnt::TranslationRequest::Kind kind) const {
    std::vector<std::pair<Cycle, icnt::TranslationRequest>> found;
    for (const auto& one : pages_asked)
      if (one.second.kind == kind) found.push_back(one);
    return found;
  }

  std::unique_ptr<MemoryPipeline> pipeline;
  std::vector<LsuRun::Event> events;
  std::vector<Asked> asked;                                             // of slices, by arrival
  std::vector<std::pair<Cycle, icnt::TranslationRequest>> pages_asked;  // of the GMMU, likewise
  Cycle now = 0;
  std::uint64_t ticks = 0;
  bool skip = false;

 private:
  void collect() {
    for (std::uint32_t s = 0; s < fabric_.numbering().slices(); ++s) {
      fabric_.request->collect(s, [&](std::uint32_t, Cycle arrival, const icnt::Request& r) {
        asked.push_back({arrival, s, r});
        fabric_.request_credit->send(s, 0, arrival + kToSlice, {});
      });
    }
    fabric_.translation_request->collect(
        0, [&](std::uint32_t, Cycle arrival, const icnt::TranslationRequest& r) {
          pages_asked.emplace_back(arrival, r);
        });
  }
  icnt::Fabric fabric_;
  mem::AddressMap map_;
  uvm::AddressSpace space_;
  std::deque<MioOperation> waiting_;
  std::vector<sim::DomainId> domains_;
  std::vector<Time> due_;
  Cycle next_ = 0;
  bool fabric_has_mail_ = false;
};

using RequestKind = icnt::TranslationRequest::Kind;

TEST_CASE("parked lines: an access of many lines of a page asks for it once, then goes line by line") {
  ParkedBench bench;
  OpList list;
  list.strided(0, OpClass::kLoad, MemSpace::kGlobal, 4, kPaged + 5 * uvm::kPageBytes, 128);
  bench.push(list);
  bench.run_until(200);
  const auto misses = bench.of_kind(RequestKind::kMiss);
  REQUIRE(misses.size() == 1);
  CHECK(misses[0].second.page == 5);
  CHECK_FALSE(misses[0].second.write);
  CHECK(bench.asked.empty());
  CHECK(bench.result(0) == kNever);
  CHECK_FALSE(bench.pipeline->quiescent());
  bench.resident(misses[0].second.token);
  const Cycle came = bench.now + 1;
  bench.run_until(400);
  REQUIRE(bench.asked.size() == 32);
  std::set<Address> lines;
  for (unsigned i = 0; i < 32; ++i) {
    // A look-up and a request per cycle.
    CHECK(bench.asked[i].arrival == came + i + kToSlice);
    CHECK(bench.asked[i].request.kind == icnt::AccessKind::kLoad);
    lines.insert(bench.asked[i].request.line);
  }
  CHECK(lines.size() == 32);
  for (const ParkedBench::Asked& a : bench.asked) bench.answer(a);
  bench.run_until(800);
  CHECK(bench.result(0) != kNever);
  CHECK(bench.pipeline->quiescent());
}

TEST_CASE("parked lines: others of the SM go on under a miss, and the page's next access needs no walk") {
  ParkedBench bench;
  OpList list;
  list.strided(0, OpClass::kLoad, MemSpace::kGlobal, 4, kPaged, 4);
  list.strided(0, OpClass::kLoad, MemSpace::kShared, 4, 0, 4);
  list.strided(0, OpClass::kLoad, MemSpace::kGlobal, 4, kData, 4);  // not managed
  bench.push(list);
  bench.run_until(150);
  REQUIRE(bench.asked.size() == 1);
  CHECK(bench.asked[0].request.line == kData);
  CHECK(bench.result(1) != kNever);
  bench.answer(bench.asked[0]);
  bench.run_until(300);
  CHECK(bench.result(2) != kNever);
  CHECK(bench.result(0) == kNever);
  bench.resident(bench.pages_asked.at(0).second.token);
  bench.run_until(400);
  bench.answer(bench.asked.at(1));
  bench.run_until(600);
  CHECK(bench.result(0) != kNever);
  OpList again;
  again.strided(0, OpClass::kLoad, MemSpace::kGlobal, 4, kPaged + 256, 4);
  bench.push(again);
  bench.run_until(800);
  CHECK(bench.of_kind(RequestKind::kMiss).size() == 1);
  CHECK(bench.asked.size() == 3);
}

TEST_CASE("parked lines: pages that stay on the host are read and written line by line, past the L1") {
  for (const OpClass op_class : {OpClass::kLoad, OpClass::kStore, OpClass::kAtomic}) {
    ParkedBench bench;
    OpList list;
    list.strided(0, op_class, MemSpace::kGlobal, 4, kPaged + 3 * uvm::kPageBytes, 16);  // four lines
    bench.push(list);
    bench.run_until(200);
    REQUIRE(bench.pages_asked.size() == 1);
    icnt::TranslationReply remote;
    remote.kind = icnt::TranslationReply::Kind::kRemote;
    remote.token = bench.pages_asked[0].second.token;
    bench.reply(remote);
    bench.run_until(400);
    REQUIRE(bench.asked.size() == 4);
    const bool store = op_class == OpClass::kStore;
    const icnt::AccessKind kind = store                          ? icnt::AccessKind::kRemoteWrite
                                  : op_class == OpClass::kAtomic ? icnt::AccessKind::kRemoteAtomic
                                                                 : icnt::AccessKind::kRemoteRead;
    const auto ends = store ? MioEvent::Kind::kAcknowledged : MioEvent::Kind::kResult;
    for (unsigned i = 0; i < 4; ++i) {
      CHECK(bench.asked[i].request.kind == kind);
      CHECK(bench.asked[i].request.reply_to == 1);  // the copy engine, behind the one SM
      CHECK(icnt::sm_of_remote(bench.asked[i].request.tag) == 0);
      CHECK(bench.result(0, ends) == kNever);
      bench.answer(bench.asked[i], store ? icnt::AccessKind::kRemoteDone : icnt::AccessKind::kRemoteData,
                   icnt::token_of_remote(bench.asked[i].request.tag));
      bench.run_until(bench.now + 300);
    }
    CHECK(bench.result(0, ends) != kNever);
    CHECK(bench.pipeline->quiescent());
    // The second access knows where the page is, and nothing of it is in the L1.
    bench.push(list);
    bench.run_until(bench.now + 200);
    CHECK(bench.of_kind(RequestKind::kMiss).size() == 1);
    CHECK(bench.asked.size() == 8);
  }
}

TEST_CASE("parked lines: a shootdown waits for fills of its pages, and the L1 forgets these alone") {
  ParkedBench bench;
  OpList list;
  for (const unsigned page : {2u, 9u})
    list.strided(0, OpClass::kLoad, MemSpace::kGlobal, 4, kPaged + page * uvm::kPageBytes, 4);
  bench.push(list);
  bench.run_until(200);
  for (const auto& miss : bench.of_kind(RequestKind::kMiss)) bench.resident(miss.second.token);
  bench.run_until(400);
  REQUIRE(bench.asked.size() == 2);
  const std::size_t second = bench.asked[0].request.line == kPaged + 2 * uvm::kPageBytes ? 1 : 0;
  bench.answer(bench.asked[second]);  // page 9 is in the L1; page 2 is under way
  bench.run_until(500);
  bench.shoot_down(70, 9, 1);
  const Cycle first_came = bench.now + 1;
  bench.run_until(800);
  auto forgotten = bench.of_kind(RequestKind::kForgotten);
  REQUIRE(forgotten.size() == 1);
  CHECK(forgotten[0].second.token == 70);
  CHECK(forgotten[0].first == first_came + 15 + kToGmmu);
  bench.shoot_down(71, 0, 8);
  bench.run_until(1200);
  CHECK(bench.of_kind(RequestKind::kForgotten).size() == 1);
  bench.answer(bench.asked[1 - second]);
  const Cycle filled = bench.now + 1;
  bench.run_until(1500);
  forgotten = bench.of_kind(RequestKind::kForgotten);
  REQUIRE(forgotten.size() == 2);
  CHECK(forgotten[1].second.token == 71);
  CHECK(forgotten[1].first == filled + 15 + kToGmmu);
  // Both are asked for again: page and line.
  bench.push(list);
  bench.run_until(1700);
  const auto misses = bench.of_kind(RequestKind::kMiss);
  REQUIRE(misses.size() == 4);
  for (std::size_t i = 2; i < 4; ++i) bench.resident(misses[i].second.token);
  bench.run_until(1900);
  CHECK(bench.asked.size() == 4);
}

TEST_CASE("parked lines: a store to a duplicate asks again, and goes on when the page is its own") {
  ParkedBench bench;
  OpList list;
  list.strided(0, OpClass::kStore, MemSpace::kGlobal, 4, kPaged, 4);
  bench.push(list);
  bench.run_until(200);
  icnt::TranslationReply reply;
  reply.read_only = true;
  reply.token = bench.pages_asked.at(0).second.token;
  CHECK(bench.pages_asked[0].second.write);
  bench.reply(reply);
  bench.run_until(400);
  CHECK(bench.asked.empty());
  REQUIRE(bench.of_kind(RequestKind::kMiss).size() == 2);
  bench.resident(bench.pages_asked[1].second.token);
  bench.run_until(600);
  REQUIRE(bench.asked.size() == 1);
  CHECK(bench.asked[0].request.kind == icnt::AccessKind::kStore);
}

/// Random accesses to 64 pages that are resident, remote or shot down now and then; slices and the GMMU
/// reply after random times.
class PagedTraffic {
 public:
  explicit PagedTraffic(bool skip) : random_(12) {
    bench.skip = skip;
    constexpr OpClass kClasses[] = {OpClass::kLoad, OpClass::kStore, OpClass::kAtomic, OpClass::kReduction};
    for (unsigned i = 0; i < kOperations; ++i)
      list_.strided(0, kClasses[random_() % 4], MemSpace::kGlobal, 4,
                    kPaged + random_() % 64 * uvm::kPageBytes + random_() % 16 * 128, 4 << random_() % 5);
    bench.push(list_);
  }
  void run(Cycle end) {
    while (bench.now < end) {
      bench.cycle();
      for (; pages_ < bench.pages_asked.size(); ++pages_) reply_to(bench.pages_asked[pages_].second);
      for (; lines_ < bench.asked.size(); ++lines_) reply_to(bench.asked[lines_]);
      for (; !slices_.empty() && slices_.begin()->first <= bench.now; slices_.erase(slices_.begin())) {
        const auto& [asked, kind, tag] = slices_.begin()->second;
        bench.answer(asked, kind, tag);
      }
      for (; !gmmu_.empty() && gmmu_.begin()->first <= bench.now; gmmu_.erase(gmmu_.begin()))
        bench.reply(gmmu_.begin()->second);
      if (bench.now % 3000 == 0) bench.shoot_down(++shootdowns, 8 * (bench.now / 3000 % 8) & 63, 8);
    }
  }
  static constexpr unsigned kOperations = 400;
  ParkedBench bench;
  std::uint32_t shootdowns = 0, remotes = 0;

 private:
  void reply_to(const icnt::TranslationRequest& r) {
    if (r.kind != RequestKind::kMiss) return;
    icnt::TranslationReply reply;
    reply.token = r.token;
    if (r.page % 4 == 3) reply.kind = icnt::TranslationReply::Kind::kRemote;
    gmmu_.emplace(bench.now + 200 + random_() % 500, reply);
  }
  void reply_to(const ParkedBench::Asked& a) {
    icnt::AccessKind kind = a.request.kind;
    std::uint32_t tag = a.request.tag;
    if (icnt::is_remote(kind)) {
      ++remotes;
      kind = kind == icnt::AccessKind::kRemoteWrite ? icnt::AccessKind::kRemoteDone
                                                    : icnt::AccessKind::kRemoteData;
      tag = icnt::token_of_remote(tag);
    }
    slices_.emplace(bench.now + kToSlice + random_() % 100, std::tuple{a, kind, tag});
  }
  std::mt19937 random_;
  OpList list_;
  std::size_t pages_ = 0, lines_ = 0;
  std::multimap<Cycle, std::tuple<ParkedBench::Asked, icnt::AccessKind, std::uint32_t>> slices_;
  std::multimap<Cycle, icnt::TranslationReply> gmmu_;
};

TEST_CASE("parked lines: of random accesses each ends once, whichever cycles are visited") {
  PagedTraffic all(false), due(true);
  all.run(61'000);
  due.run(61'000);
  CHECK(all.bench.pipeline->quiescent());
  std::vector<unsigned> results(PagedTraffic::kOperations);
  for (const auto& [time, kind, handle] : all.bench.events)
    results[handle] += kind == MioEvent::Kind::kResult;
  CHECK(results == std::vector<unsigned>(PagedTraffic::kOperations, 1));
  CHECK(all.bench.of_kind(RequestKind::kForgotten).size() == all.shootdowns);
  CHECK(all.remotes > 50);
  CHECK(due.bench.events == all.bench.events);
  CHECK(due.bench.ticks < all.bench.ticks);
}

}  // namespace
}  // namespace lockstep::core::test
