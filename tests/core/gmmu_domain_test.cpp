// The GMMU as a domain: what SMs and the host send and get, with the times that the channels and the GMMU's
// own latencies add up to.
#include "core/gmmu_domain.hpp"

#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "fakes.hpp"

namespace lockstep::core {
namespace {

using PageRequest = icnt::TranslationRequest;
using PageReply = icnt::TranslationReply;
constexpr Address kManaged = 0x7d0000000000;
constexpr std::uint32_t kPagingSms = 2;
constexpr Cycle kAsk = 60, kReply = 50, kWalk = 100;
/// Of 4 KB on UVMSmart's link at its clock of 1481 MHz: published (tests/uvm/rig.hpp).
constexpr Cycle kPageOnLink = 2605;

/// UVMSmart's GMMU between channels of round latencies.
config::GpuConfig paging_config() {
  config::GpuConfig c = lockstep::test::small_gpu(kPagingSms, 1);
  c.clock.core_khz = c.clock.icnt_khz = c.clock.l2_khz = c.clock.dram_khz = 1'481'000;
  uvm::Parameters& p = c.uvm;
  p.fault_mode = uvm::FaultMode::kPerCycle;
  p.link = 0;
  p.prefetcher = p.prefetcher_oversubscribed = 0;
  p.early_reuse = false;
  p.l2_tlb_entries = p.l2_tlb_large_entries = 0;
  p.walkers = p.walk_cache_entries = 0;
  p.walk_levels = 1;
  p.walk_step = kWalk;
  p.large_entries = p.merge_misses = false;
  p.request_latency = kAsk;
  p.reply_latency = kReply;
  p.l1_shootdown = 15;
  p.advise_ns = p.prefetch_ns = 0;
  p.through_l2 = p.shares_link = p.exits_wait = false;
  c.host.data_latency_ps = 100'000;
  return c;
}
Cycle done_latency() { return sim::cycles_of_ps(100'000, 1'481'000); }

/// Sends what it is told to, notes what comes, and replies to shootdowns at once.
class PagingSm final : public sim::Domain {
 public:
  PagingSm(icnt::Fabric& fabric, std::uint32_t index) : fabric_(&fabric), index_(index), inbox_(4096) {}
  Cycle advance(Cycle from, Cycle to) override {
    inbox_.gather(*fabric_->translation_reply, index_, from);
    for (Cycle now = from; now < to; ++now) {
      inbox_.drain(now, [&](std::uint32_t, const PageReply& r) {
        got.emplace_back(now, r);
        if (r.kind == PageReply::Kind::kShootdown) {
          PageRequest done;
          done.kind = PageRequest::Kind::kForgotten;
          done.token = r.token;
          fabric_->translation_request->send(index_, 0, now + kAsk, done);
        }
      });
      for (; !to_send.empty() && to_send.begin()->first == now; to_send.erase(to_send.begin()))
        fabric_->translation_request->send(index_, 0, now + kAsk, to_send.begin()->second);
    }
    return std::max(to, std::min(inbox_.next_arrival(), to_send.empty() ? kNever : to_send.begin()->first));
  }
  void settle(Cycle) override {}
  void dump(std::string&) const override {}
  std::multimap<Cycle, PageRequest> to_send;
  std::vector<std::pair<Cycle, PageReply>> got;

 private:
  icnt::Fabric* fabric_;
  std::uint32_t index_;
  sim::Inbox<PageReply> inbox_;
};

class PagingHost final : public sim::Domain {
 public:
  explicit PagingHost(icnt::Fabric& fabric) : fabric_(&fabric), inbox_(4096) {}
  Cycle advance(Cycle from, Cycle to) override {
    inbox_.gather(*fabric_->managed_done, 0, from);
    for (Cycle now = from; now < to; ++now) {
      inbox_.drain(now, [&](std::uint32_t, const icnt::ManagedCommandDone& d) { done[d.index] = now; });
      for (; !commands.empty() && commands.begin()->first == now; commands.erase(commands.begin()))
        fabric_->managed_command->send(0, 0, now + 40, commands.begin()->second);
    }
    return std::max(to, std::min(inbox_.next_arrival(), commands.empty() ? kNever : commands.begin()->first));
  }
  void settle(Cycle) override {}
  void dump(std::string&) const override {}
  std::multimap<Cycle, uvm::ManagedCommand> commands;
  std::map<std::uint32_t, Cycle> done;

 private:
  icnt::Fabric* fabric_;
  sim::Inbox<icnt::ManagedCommandDone> inbox_;
};

class PagingBench : public sim::Controller {
 public:
  explicit PagingBench(const config::GpuConfig& config, std::uint64_t frames = 4096,
                       std::uint64_t bytes = 8 << 20)
      : fabric_(config, true), map_(config), copies_(config, fabric_, map_, 8) {
    space.add(kManaged, bytes);
    gmmu = std::make_unique<GmmuDomain>(config, fabric_, space, frames, copies_);
    for (std::uint32_t i = 0; i < kPagingSms; ++i) sms.push_back(std::make_unique<PagingSm>(fabric_, i));
    for (std::uint32_t i = 0; i < config.l2.partitions; ++i)
      partitions.push_back(std::make_unique<lockstep::test::FakePartition>(config, fabric_, i, 20));
    host = std::make_unique<PagingHost>(fabric_);
  }
  /// An access to a page, counted from the first, that misses the TLB of the SM at `when`.
  void miss(Cycle when, std::uint32_t sm, std::uint32_t page, bool write = false, std::uint32_t token = 0) {
    PageRequest r;
    r.token = token;
    r.tree = page / uvm::kPagesPerTree;
    r.page = static_cast<std::uint16_t>(page % uvm::kPagesPerTree);
    r.write = write;
    sms[sm]->to_send.emplace(when, r);
  }
  void command(Cycle when, uvm::ManagedCommand::Kind kind, std::uint32_t index, std::uint64_t first_page,
               std::uint64_t pages, bool to_host = false) {
    uvm::ManagedCommand c;
    c.kind = kind;
    c.index = index;
    c.host = to_host;
    c.address = kManaged + first_page * uvm::kPageBytes;
    c.bytes = pages * uvm::kPageBytes;
    host->commands.emplace(when, c);
  }
  /// Until nothing is due, or until `limit`.
  void run(Cycle window = 16, Cycle limit = kNever) {
    sim::EngineOptions options;
    options.window = window;
    sim::Engine engine(options);
    for (auto& sm : sms) engine.add(*sm, sim::DomainKind::kSm);
    for (auto& p : partitions) engine.add(*p, sim::DomainKind::kMemory);
    engine.add(*gmmu, sim::DomainKind::kOther);
    engine.add(*host, sim::DomainKind::kOther);
    fabric_.register_with(engine);
    engine.advance_to(limit, *this);
  }
  /// When the access with that token had its reply.
  [[nodiscard]] Cycle replied(std::uint32_t sm, std::uint32_t token,
                              PageReply::Kind kind = PageReply::Kind::kResident) const {
    for (const auto& [time, r] : sms[sm]->got)
      if (r.kind == kind && r.token == token) return time;
    return kNever;
  }
  Cycle boundary(Cycle) override { return kNever; }
  bool stop() const override { return false; }
  void exhausted(Cycle) override {}

  uvm::AddressSpace space;

 private:
  icnt::Fabric fabric_;
  mem::AddressMap map_;
  CopyEngine copies_;

 public:
  std::unique_ptr<GmmuDomain> gmmu;
  std::vector<std::unique_ptr<PagingSm>> sms;
  std::vector<std::unique_ptr<lockstep::test::FakePartition>> partitions;
  std::unique_ptr<PagingHost> host;
};

TEST_CASE("GMMU domain: a fault takes the channels, a walk and its page's time on the link; a hit no link") {
  PagingBench bench(paging_config());
  bench.miss(10, 0, 7, false, 1);
  bench.miss(20'000, 1, 7, true, 2);
  bench.miss(20'000, 0, 8, false, 3);
  bench.run();
  CHECK(bench.replied(0, 1) == 10 + kAsk + kWalk + 1 + kPageOnLink + kReply);
  CHECK(bench.replied(1, 2) == 20'000 + kAsk + kWalk + kReply);
  CHECK(bench.replied(0, 3) == 20'000 + kAsk + kWalk + 1 + kPageOnLink + kReply);
  CHECK(bench.gmmu->quiescent());
  CHECK(bench.gmmu->counters().faults == 2);
  CHECK(bench.gmmu->counters().bytes_to_device == 2 * uvm::kPageBytes);
  CHECK(bench.gmmu->frames_used() == 2);
  CHECK(bench.gmmu->frames() == 4096);
}

TEST_CASE("GMMU domain: faults of several pages share the link, one page after another") {
  PagingBench bench(paging_config());
  constexpr std::uint32_t kFaults = 12;
  for (std::uint32_t i = 0; i < kFaults; ++i) bench.miss(5, i % kPagingSms, 40 * i, false, i);
  bench.run();
  std::set<Cycle> times;
  for (std::uint32_t i = 0; i < kFaults; ++i) times.insert(bench.replied(i % kPagingSms, i));
  REQUIRE(times.size() == kFaults);
  CHECK(*times.begin() == 5 + kAsk + kWalk + 1 + kPageOnLink + kReply);
  CHECK(*times.rbegin() - *times.begin() == (kFaults - 1) * kPageOnLink);
}

TEST_CASE("GMMU domain: while a page is under way the dump says so, and the end is known") {
  PagingBench bench(paging_config());
  bench.miss(0, 0, 3);
  bench.miss(0, 1, 3);
  bench.run(16, 1000);
  CHECK_FALSE(bench.gmmu->quiescent());
  CHECK(bench.gmmu->end_is_known());
  std::string text;
  bench.gmmu->dump(text);
  CHECK(text == "GMMU: 2 accesses wait for their page, host link busy\n");
  CHECK(bench.gmmu->peers().empty());
}

TEST_CASE("GMMU domain: a shootdown goes to every SM, and without early reuse frames wait for all of them") {
  auto config = paging_config();
  config.uvm.evictor = 0;
  PagingBench bench(config, 512, 8 << 20);
  for (std::uint32_t i = 0; i < 530; ++i) bench.miss(1 + 4000 * i, 0, i, i % 2 == 0, i);
  bench.run();
  CHECK(bench.gmmu->quiescent());
  for (std::uint32_t i = 0; i < 530; ++i) REQUIRE(bench.replied(0, i) != kNever);
  CHECK(bench.gmmu->frames_used() <= 512);
  std::vector<std::vector<std::pair<Cycle, std::uint32_t>>> shot(kPagingSms);
  std::uint64_t pages = 0;
  for (std::uint32_t sm = 0; sm < kPagingSms; ++sm)
    for (const auto& [time, r] : bench.sms[sm]->got)
      if (r.kind == PageReply::Kind::kShootdown) {
        shot[sm].emplace_back(time, r.token);
        if (sm == 0) pages += r.pages;
      }
  CHECK(shot[0] == shot[1]);
  CHECK(pages == 530 - bench.gmmu->frames_used());
  CHECK(pages >= 530 - 512);
  std::set<std::uint32_t> tokens;
  for (const auto& one : shot[0]) CHECK(tokens.insert(one.second).second);
}

TEST_CASE("GMMU domain: a prefetch is complete with its pages, and reported the host's latency later") {
  PagingBench bench(paging_config());
  bench.command(100, uvm::ManagedCommand::Kind::kPrefetch, 9, 16, 1);
  bench.miss(20'000, 0, 16, false, 1);
  bench.run();
  REQUIRE(bench.host->done.count(9) == 1);
  const Cycle done = bench.host->done[9];
  // The page's transfer, and some cycles for the command itself.
  CHECK(done >= 100 + 40 + kPageOnLink + done_latency());
  CHECK(done <= 100 + 40 + kPageOnLink + done_latency() + 5);
  CHECK(bench.replied(0, 1) == 20'000 + kAsk + kWalk + kReply);
  CHECK(bench.gmmu->counters().faults == 0);
}

TEST_CASE("GMMU domain: a notice adds device memory by the page") {
  PagingBench bench(paging_config(), 100);
  uvm::ManagedCommand notice;
  notice.kind = uvm::ManagedCommand::Kind::kMemory;
  notice.bytes = 300 * uvm::kPageBytes + 4095;
  bench.host->commands.emplace(50, notice);
  bench.command(60, uvm::ManagedCommand::Kind::kKernel, 0, 0, 0);
  bench.run();
  CHECK(bench.gmmu->frames() == 300);
  CHECK(bench.host->done.empty());  // notices are not completed
}

TEST_CASE("GMMU domain: where exits wait, all SMs learn when the link is busy and when it is idle") {
  auto config = paging_config();
  config.uvm.exits_wait = true;
  PagingBench bench(config);
  for (const Cycle when : {10u, 30'000u, 60'000u})
    bench.miss(when, 1, static_cast<std::uint32_t>(when / 100));
  bench.run();
  using Kind = PageReply::Kind;
  for (std::uint32_t sm = 0; sm < kPagingSms; ++sm) {
    std::vector<std::pair<Cycle, Kind>> notices;
    for (const auto& [time, r] : bench.sms[sm]->got)
      if (r.kind == Kind::kLinkBusy || r.kind == Kind::kLinkIdle) notices.emplace_back(time, r.kind);
    REQUIRE(notices.size() == 6);
    for (unsigned i = 0; i < 3; ++i) {
      const Cycle fault = std::array{10u, 30'000u, 60'000u}[i] + kAsk + kWalk + kReply;
      CHECK(notices[2 * i].second == Kind::kLinkBusy);
      CHECK(notices[2 * i].first >= fault);
      CHECK(notices[2 * i].first <= fault + 1);
      CHECK(notices[2 * i + 1].second == Kind::kLinkIdle);
      CHECK(notices[2 * i + 1].first >= fault + kPageOnLink);
      CHECK(notices[2 * i + 1].first <= fault + kPageOnLink + 2);
    }
  }
}

TEST_CASE("GMMU domain: pages that migrate go line by line through the slices, each line once") {
  auto config = paging_config();
  config.uvm.through_l2 = true;
  PagingBench bench(config);
  bench.miss(0, 0, 21, false, 5);
  bench.run();
  CHECK(bench.replied(0, 5) >= kAsk + kWalk + 1 + kPageOnLink + kReply);
  CHECK(bench.replied(0, 5) <= kAsk + kWalk + 1 + kPageOnLink + kReply + 200);
  std::multiset<Address> lines, expected;
  for (const auto& p : bench.partitions)
    for (const auto& seen : p->seen()) {
      CHECK(seen.request.kind == icnt::AccessKind::kCopy);
      CHECK(seen.request.sectors == 0xf);
      lines.insert(seen.request.line);
    }
  for (Address a = 0; a < uvm::kPageBytes; a += kLineBytes)
    expected.insert(kManaged + 21 * uvm::kPageBytes + a);
  CHECK(lines == expected);
}

TEST_CASE("GMMU domain: random accesses and prefetches have the same replies for every window") {
  for (const bool through : {false, true}) {
    using Log = std::vector<std::tuple<Cycle, unsigned, std::uint32_t>>;
    std::vector<Log> logs;
    for (const Cycle window : {1u, 7u, 16u, 40u}) {
      auto config = paging_config();
      config.uvm.through_l2 = config.uvm.shares_link = through;
      PagingBench bench(config, 600, 4 << 20);
      std::mt19937 random(3);
      for (std::uint32_t i = 0; i < 300; ++i)
        bench.miss(random() % 400'000, i % kPagingSms, static_cast<std::uint32_t>(random() % 1024),
                   random() % 3 == 0, i);
      for (std::uint32_t i = 0; i < 10; ++i)
        bench.command(random() % 400'000, uvm::ManagedCommand::Kind::kPrefetch, i, random() % 900,
                      1 + random() % 100, random() % 2 == 0);
      bench.run(window);
      CHECK(bench.gmmu->quiescent());
      CHECK(bench.host->done.size() == 10);
      Log log;
      for (std::uint32_t sm = 0; sm < kPagingSms; ++sm)
        for (const auto& [time, r] : bench.sms[sm]->got)
          log.emplace_back(time, static_cast<unsigned>(r.kind), r.token);
      for (std::uint32_t i = 0; i < 300; ++i) CHECK(bench.replied(i % kPagingSms, i) != kNever);
      logs.push_back(log);
    }
    for (const Log& log : logs) CHECK(log == logs[0]);
  }
}

}  // namespace
}  // namespace lockstep::core
