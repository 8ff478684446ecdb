// Translation in an SM, with a GMMU that is played by hand.
#include "core/translator.hpp"

#include <catch2/catch.hpp>
#include <optional>
#include <vector>

namespace lockstep::core {
namespace {

using Asked = icnt::TranslationRequest;
using Replied = icnt::TranslationReply;

constexpr std::uint32_t kThisSm = 2;
constexpr Address kPages = 0x7e0000000000;  // of managed memory: 4 MiB, two trees

config::GpuConfig translating_gpu() {
  config::GpuConfig c;
  c.gpu.sms = 4;
  c.uvm.request_latency = 100;
  c.uvm.reply_latency = 100;
  c.uvm.touch_interval = 1000;
  c.uvm.l1_tlb_entries = 4;
  c.uvm.l1_tlb_large_entries = 0;
  c.uvm.l1_shootdown = 15;
  c.uvm.l1_flush = 40;
  c.uvm.shootdown = uvm::ShootdownScope::kEntry;
  c.uvm.merge_misses = true;
  c.uvm.early_reuse = c.uvm.blocking_misses = false;
  c.tlb.miss_latency = 700;
  c.tlb.pages = 2;
  return c;
}

ParkedLine line_at(Address address, bool write = false, std::uint32_t handle = 0) {
  ParkedLine line;
  line.access = {address, 0b0110, 7};
  line.operation.handle = handle;
  line.operation.kernel = 1;
  line.write = write;
  line.returns_data = !write;
  return line;
}

/// Windows of one cycle; `managed`: two trees at kPages.
class TranslatorBench {
 public:
  explicit TranslatorBench(const config::GpuConfig& config = translating_gpu(), bool managed = true)
      : fabric(config, true) {
    if (managed) pages.add(kPages, 4 << 20);
    translator.emplace(config, fabric, managed ? &pages : nullptr, kThisSm);
  }

  /// Goes on to `cycle`; what the SM sent until then, with the time at which it arrives.
  std::vector<std::pair<Cycle, Asked>> go_to(Cycle cycle) {
    std::vector<std::pair<Cycle, Asked>> sent;
    const std::vector<sim::DomainId> all{fabric.numbering().sm(kThisSm), fabric.numbering().gmmu()};
    std::vector<Time> wake(fabric.numbering().domains() + 1);
    while (now < cycle) {
      fabric.translation_request->flip(all, now + 1, wake);
      fabric.translation_reply->flip(all, now + 1, wake);
      ++now;
      fabric.translation_request->collect(0, [&](std::uint32_t sm, Cycle arrival, const Asked& r) {
        CHECK(sm == kThisSm);
        sent.emplace_back(arrival, r);
      });
      translator->gather(now);
      translator->receive(now);
    }
    return sent;
  }
  /// Arrives in the next cycle.
  void reply(const Replied& r) { fabric.translation_reply->send(0, kThisSm, now + 1, r); }
  void resident(std::uint32_t token, bool read_only = false) {
    Replied r;
    r.token = token;
    r.read_only = read_only;
    reply(r);
  }
  /// A line misses, its page is resident, and it goes through.
  void learn(Address line) {
    REQUIRE_FALSE(translator->translate(now, line, false));
    CHECK(translator->park(now, line_at(line)));
    const auto sent = go_to(now + 1);
    REQUIRE(sent.size() == 1);
    resident(sent[0].second.token);
    (void)go_to(now + 1);
    REQUIRE(translator->has_work());
    translator->line_done();
  }
  Translator& operator*() { return *translator; }
  Translator* operator->() { return &*translator; }

  icnt::Fabric fabric;
  uvm::AddressSpace pages;
  std::optional<Translator> translator;
  Cycle now = 1;
};

TEST_CASE("translator: lines of 2 MiB of other memory wait for its translation together, once") {
  TranslatorBench t(translating_gpu(), false);
  CHECK(t->manages_nothing());
  constexpr Address kMiB = 1 << 20;
  CHECK_FALSE(t->translate(1, 5 * kMiB, false));
  CHECK_FALSE(t->park(1, line_at(5 * kMiB, false, 10)));  // not of managed memory
  (void)t.go_to(300);
  CHECK_FALSE(t->translate(300, 4 * kMiB, false));
  CHECK_FALSE(t->park(300, line_at(4 * kMiB, true, 11)));
  CHECK_FALSE(t->park(300, line_at(6 * kMiB, false, 12)));
  CHECK(t->next_arrival() == 1 + 700);
  CHECK(t.go_to(700).empty());  // nothing is requested from the GMMU
  CHECK_FALSE(t->has_work());
  (void)t.go_to(701);
  for (const std::uint32_t handle : {10u, 11u}) {
    REQUIRE((t->has_work() && t->next_is_line()));
    CHECK(t->line().operation.handle == handle);
    t->line_done();
  }
  CHECK_FALSE(t->has_work());
  CHECK(t->translate(701, 5 * kMiB + 128, true));
  CHECK_FALSE(t->quiescent());
  (void)t.go_to(1000);
  REQUIRE(t->has_work());
  CHECK(t->line().operation.handle == 12);
  t->line_done();
  CHECK(t->quiescent());
  CHECK(t->counters().accesses == 0);
  CHECK(t->counters().replays == 0);
  // Two blocks are known at most.
  t->learn(8 * kMiB);
  CHECK_FALSE(t->knows(4 * kMiB));
  CHECK(t->knows(6 * kMiB));
  t->forget_blocks();
  CHECK_FALSE(t->knows(8 * kMiB));
}

TEST_CASE("translator: without a miss latency other memory is there at once") {
  auto config = translating_gpu();
  config.tlb.miss_latency = 0;
  TranslatorBench t(config, false);
  CHECK(t->translate(1, 0x1234500, true));
}

TEST_CASE("translator: misses of a page are one request, whose lines go on in order") {
  TranslatorBench t;
  const Address line = kPages + (2 << 20) + 3 * 4096 + 256;
  for (const std::uint32_t handle : {20u, 21u, 22u}) {
    CHECK_FALSE(t->translate(t.now, line + 128 * handle % 2048, true));
    CHECK(t->park(t.now, line_at(line + 128 * handle % 2048, true, handle)));
  }
  const Cycle asked = t.now;
  const auto sent = t.go_to(asked + 5);
  REQUIRE(sent.size() == 1);
  CHECK(sent[0].first == asked + 100);
  CHECK(sent[0].second.kind == Asked::Kind::kMiss);
  CHECK(sent[0].second.tree == 1);
  CHECK(sent[0].second.page == 3);
  CHECK(sent[0].second.write);
  CHECK(t->counters().misses == 3);
  CHECK(t->counters().merged == 2);
  t.resident(sent[0].second.token);
  (void)t.go_to(t.now + 1);
  for (const std::uint32_t handle : {20u, 21u, 22u}) {
    REQUIRE(t->has_work());
    CHECK(t->line().operation.handle == handle);
    t->line_done();
  }
  CHECK(t->quiescent());
  CHECK(t->counters().replays == 3);
  CHECK(t->counters().inserts == 1);
  CHECK(t->translate(t.now, line, false));
  CHECK(t->counters().hits == 1);
}

TEST_CASE("translator: without merging each miss is a request of its own") {
  auto config = translating_gpu();
  config.uvm.merge_misses = false;
  TranslatorBench t(config);
  for (const std::uint32_t handle : {1u, 2u}) CHECK(t->park(t.now, line_at(kPages, false, handle)));
  const auto sent = t.go_to(3);
  REQUIRE(sent.size() == 2);
  CHECK(sent[0].second.token != sent[1].second.token);
  t.resident(sent[1].second.token);
  (void)t.go_to(4);
  CHECK(t->line().operation.handle == 2);
  t->line_done();
  CHECK_FALSE(t->quiescent());
  CHECK(t->counters().merged == 0);
}

TEST_CASE("translator: the TLB forgets the page used least recently") {
  TranslatorBench t;
  for (Address page = 0; page < 4; ++page) t.learn(kPages + page * 4096);
  CHECK(t->translate(t.now, kPages, false));
  (void)t.go_to(t.now + 1);  // its report
  t.learn(kPages + 4 * 4096);
  CHECK(t->counters().evictions == 1);
  CHECK(t->translate(t.now, kPages, false));
  CHECK_FALSE(t->translate(t.now, kPages + 4096, false));
}

TEST_CASE("translator: uses of a page are reported now and then, the first write at once") {
  TranslatorBench t;
  t.learn(kPages);
  const Cycle begin = t.now;
  std::vector<std::pair<Cycle, bool>> reports;  // since the first use; write
  for (const auto& [after, write] : {std::pair<Cycle, bool>{0, false},
                                     {10, false},
                                     {20, true},
                                     {30, true},
                                     {40, false},
                                     {1019, true},
                                     {1020, false},
                                     {1030, true}}) {
    (void)t.go_to(begin + after);
    CHECK(t->translate(t.now, kPages + 128 * (after % 32), write));
    for (const auto& [arrival, r] : t.go_to(t.now + 1)) {
      CHECK(r.kind == Asked::Kind::kAccessed);
      CHECK((r.tree == 0 && r.page == 0));
      reports.emplace_back(arrival - 100 - begin, r.write);
    }
  }
  // 20: the first write. 1020: a thousand cycles after it. 1030: the first write since then.
  CHECK(reports == std::vector<std::pair<Cycle, bool>>{{0, false}, {20, true}, {1020, false}, {1030, true}});
}

TEST_CASE("translator: lines of a page on the host go there one by one") {
  TranslatorBench t;
  CHECK(t->park(t.now, line_at(kPages + 0x180, false, 5)));
  const auto sent = t.go_to(3);
  Replied r;
  r.kind = Replied::Kind::kRemote;
  r.token = sent.at(0).second.token;
  t.reply(r);
  (void)t.go_to(4);
  REQUIRE(t->has_remote());
  CHECK_FALSE(t->has_work());
  const icnt::Request read = t->take_remote();
  CHECK(read.kind == icnt::AccessKind::kRemoteRead);
  CHECK(read.line == kPages + 0x180);
  CHECK(read.sectors == 0b0110);
  CHECK(read.kernel == 1);
  CHECK(read.reply_to == t.fabric.reply_to_copy_engine());
  CHECK(icnt::sm_of_remote(read.tag) == kThisSm);
  // The page is known to be there: the next line asks nothing. A store, then an atomic.
  CHECK_FALSE(t->translate(4, kPages, true));
  ParkedLine atomic = line_at(kPages, true, 7);
  atomic.returns_data = true;
  CHECK(t->park(4, line_at(kPages, true, 6)));
  CHECK(t->park(4, atomic));
  CHECK(t.go_to(5).empty());
  const icnt::Request write = t->take_remote(), both = t->take_remote();
  CHECK(write.kind == icnt::AccessKind::kRemoteWrite);
  CHECK(both.kind == icnt::AccessKind::kRemoteAtomic);
  for (const auto& [request, handle] : {std::pair{&both, 7u}, {&read, 5u}, {&write, 6u}})
    CHECK(t->remote_done(icnt::token_of_remote(request->tag)).operation.handle == handle);
  CHECK(t->quiescent());
  CHECK(t->counters().remote_lines == 3);
  CHECK(t->counters().peer_lines == 0);
}

TEST_CASE("translator: lines of a page on another device go there with their bytes") {
  TranslatorBench t;
  ParkedLine line = line_at(kPages, true);
  line.bytes = {0, 0xff, 0xf, 0};
  line.access.operations = 200;
  CHECK(t->park(t.now, line));
  Replied r;
  r.kind = Replied::Kind::kRemote;
  r.place = 3;
  r.token = t.go_to(3).at(0).second.token;
  t.reply(r);
  (void)t.go_to(4);
  const icnt::Request request = t->take_remote();
  CHECK(icnt::sm_of_remote(request.tag) == 3);
  CHECK(request.reply_to == t.fabric.reply_to_sm(kThisSm));
  CHECK(request.bytes == line.bytes);
  CHECK(request.operations == 128);  // what a request may have at most
  (void)t->remote_done(icnt::token_of_remote(request.tag));
  CHECK(t->counters().peer_lines == 1);
  CHECK(t->counters().remote_lines == 0);
}

TEST_CASE("translator: a store to a duplicate asks for the page again, a load does not") {
  TranslatorBench t;
  CHECK(t->park(t.now, line_at(kPages, false, 1)));
  CHECK(t->park(t.now, line_at(kPages, true, 2)));
  const auto sent = t.go_to(3);
  REQUIRE(sent.size() == 1);
  CHECK_FALSE(sent[0].second.write);  // the load came first
  t.resident(sent[0].second.token, true);
  const auto again = t.go_to(5);
  REQUIRE(again.size() == 1);
  CHECK(again[0].second.write);
  CHECK(t->line().operation.handle == 1);
  t->line_done();
  CHECK(t->translate(t.now, kPages, false));
  CHECK_FALSE(t->translate(t.now, kPages, true));
  t.resident(again[0].second.token);
  (void)t.go_to(6);
  CHECK(t->line().operation.handle == 2);
  t->line_done();
  CHECK(t->translate(t.now, kPages, true));
}

Replied shootdown_of(std::uint16_t first, std::uint16_t pages, std::uint32_t id) {
  Replied r;
  r.kind = Replied::Kind::kShootdown;
  r.token = id;
  r.tree = 1;
  r.first = first;
  r.pages = pages;
  return r;
}

TEST_CASE("translator: a shootdown drops its pages at once, waits for its turn and is acknowledged") {
  auto config = translating_gpu();
  for (const auto scope : {uvm::ShootdownScope::kEntry, uvm::ShootdownScope::kAll}) {
    config.uvm.shootdown = scope;
    const bool all = scope == uvm::ShootdownScope::kAll;
    TranslatorBench t(config);
    const Address tree = kPages + (2 << 20);
    t.learn(tree + 2 * 4096);
    t.learn(tree + 4 * 4096);
    CHECK(t->park(t.now, line_at(tree + 3 * 4096)));
    t.resident(t.go_to(t.now + 1).at(0).second.token);
    (void)t.go_to(t.now + 1);
    t.reply(shootdown_of(2, 2, 99));
    (void)t.go_to(t.now + 1);
    CHECK_FALSE(t->translate(t.now, tree + 2 * 4096, false));
    CHECK(t->translate(t.now, tree + 4 * 4096, false) == !all);
    CHECK(t->counters().shot_down == (all ? 2 : 1));
    // The line whose reply came before it goes first, and its entry does not outlive the shootdown.
    REQUIRE(t->next_is_line());
    t->line_done();
    REQUIRE((t->has_work() && !t->next_is_line()));
    CHECK(t->acknowledges());
    CHECK(t->shootdown_base() == tree + 2 * 4096);
    (void)t.go_to(t.now + 1);  // the report of the access above
    const Cycle done = t.now;
    t->finish_shootdown(done);
    const auto sent = t.go_to(done + 1);
    REQUIRE(sent.size() == 1);
    CHECK(sent[0].second.kind == Asked::Kind::kForgotten);
    CHECK(sent[0].second.token == 99);
    CHECK(sent[0].first == done + 100 + (all ? 40 : 15));
    CHECK_FALSE(t->translate(t.now, tree + 3 * 4096, false));
    CHECK(t->quiescent());
  }
}

TEST_CASE("translator: with early reuse of frames a shootdown is not acknowledged") {
  auto config = translating_gpu();
  config.uvm.early_reuse = true;
  TranslatorBench t(config);
  t.reply(shootdown_of(0, 512, 1));
  (void)t.go_to(2);
  REQUIRE(t->has_work());
  CHECK_FALSE(t->acknowledges());
  t->finish_shootdown(2);
  CHECK(t.go_to(4).empty());
  CHECK(t->quiescent());
}

TEST_CASE("translator: blocking misses, and exits that wait for the link") {
  auto config = translating_gpu();
  config.uvm.blocking_misses = true;
  TranslatorBench t(config);
  CHECK_FALSE(t->blocks());
  CHECK(t->park(t.now, line_at(kPages)));
  CHECK(t->blocks());
  t.resident(t.go_to(2).at(0).second.token);
  (void)t.go_to(3);
  t->line_done();
  CHECK_FALSE(t->blocks());
  for (const auto& [kind, holds] :
       {std::pair{Replied::Kind::kLinkBusy, true}, {Replied::Kind::kLinkIdle, false}}) {
    Replied r;
    r.kind = kind;
    t.reply(r);
    (void)t.go_to(t.now + 1);
    CHECK(t->holds_exits() == holds);
    CHECK_FALSE(t->has_work());
  }
}

}  // namespace
}  // namespace lockstep::core
