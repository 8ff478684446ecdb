// What goes past the L1, without a load/store unit in front of it: lines of bulk copies and polls.
#include "core/bypass_path.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <deque>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "lookup_bench.hpp"
#include "util/bits.hpp"

namespace lockstep::core::test {
namespace {

constexpr Cycle kToRegisters = 21;  // what a hit's latency has after the tags
constexpr Address kPolled = kData + 0x40000;
const std::vector<trace::BulkRun> kFourLines{{kData + 0x20, 200, 2, 1024}};  // two lines a row

config::SyncGroup without_elision() {
  config::SyncGroup group;
  group.poll_elision = false;
  return group;
}

class BypassBench : public LookupBench {
 public:
  explicit BypassBench(const config::GpuConfig& c = lsu_config())
      : LookupBench(c),
        translator(c.tlb.miss_latency > 0 ? std::make_unique<Translator>(c, fabric, nullptr, kSm) : nullptr),
        path(kToRegisters, c.tma, without_elision(), port, results, translator.get(), counters) {}

  std::unique_ptr<Translator> translator;
  BypassPath path;
  std::vector<LsuRun::Event> events;

  void cycle() {
    for (const MioEvent& e : results.events()) events.emplace_back(now, e.kind, e.handle);
    results.begin_cycle();
    next_cycle();
    if (translator) translator->receive(now);
    if (path.busy()) path.send(now);
  }
  void cycles(unsigned count) {
    for (unsigned i = 0; i < count; ++i) cycle();
  }
  [[nodiscard]] bool copy(trace::BulkCopy kind, const std::vector<trace::BulkRun>& runs,
                          bool multicast = false) {
    MioOperation& op = list_.bulk(now, kind, runs);
    op.multicast = multicast;
    return path.copy(op);
  }
  void await(Address word) {
    MioOperation& op = list_.fixed(now, OpClass::kLoad);
    op.signal = trace::SignalOp::kAwaits;
    op.form = AddressForm::kAffine;
    op.mask = 1;
    op.words = words_.emplace_back(std::array<std::uint64_t, 2>{word, 1}).data();
    path.await(now, op);
  }
  /// Takes the first request that has come to the L2, as done there.
  icnt::Request done() {
    const icnt::Request request = asked.front();
    asked.pop_front();
    path.copied(now, request.tag, bit_count(request.sectors));
    return request;
  }
  void polled(bool again) {
    icnt::Reply reply;
    reply.tag = asked.front().tag;
    reply.kind = icnt::AccessKind::kAwait;
    reply.again = again;
    asked.pop_front();
    path.polled(now, reply);
  }

 private:
  OpList list_;
  std::deque<std::array<std::uint64_t, 2>> words_;
};

using Events = std::vector<LsuRun::Event>;

TEST_CASE("past the L1: a store has been read with its last line, and is acknowledged with its last sector") {
  BypassBench bench;
  REQUIRE(bench.copy(trace::BulkCopy::kStore, kFourLines));
  CHECK(bench.path.busy());
  CHECK(bench.path.next_event(bench.now) == bench.now + 1);
  const Cycle from = bench.now;
  bench.cycles(4);
  CHECK_FALSE(bench.path.busy());
  CHECK(bench.path.next_event(bench.now) == kNever);
  CHECK_FALSE(bench.path.idle());
  bench.cycles(200);
  CHECK(bench.events == Events{{from + 4, MioEvent::Kind::kResult, 0}});
  REQUIRE(bench.asked.size() == 4);
  for (int i = 0; i < 3; ++i) bench.done();
  bench.cycle();
  CHECK(bench.events.size() == 1);
  bench.done();
  const Cycle last = bench.now;
  bench.cycle();
  CHECK(bench.events.back() == LsuRun::Event{last, MioEvent::Kind::kAcknowledged, 0});
  CHECK(bench.path.idle());
  CHECK(bench.counters[0].global_instructions == 1);
  CHECK(bench.counters[0].l1_store_sectors_sent == 2 * 7);  // 200 bytes from byte 32 on: 7 sectors
}

TEST_CASE(
    "past the L1: a prefetch is done for its warp with its last line, for the CTA with the last reply") {
  BypassBench bench;
  REQUIRE(bench.copy(trace::BulkCopy::kPrefetch, kFourLines));
  const Cycle from = bench.now;
  bench.cycles(200);
  CHECK(bench.events == Events{{from + 4, MioEvent::Kind::kResult, 0}});
  REQUIRE(bench.asked.size() == 4);
  for (int i = 0; i < 4; ++i) CHECK(bench.done().kind == icnt::AccessKind::kPrefetch);
  bench.cycle();
  CHECK(std::get<MioEvent::Kind>(bench.events.back()) == MioEvent::Kind::kAcknowledged);
  CHECK(bench.path.idle());
}

TEST_CASE("past the L1: a poll does not wait for the next line of a copy") {
  config::GpuConfig c = lsu_config();
  c.tma.line_interval = 50;
  BypassBench bench(c);
  REQUIRE(bench.copy(trace::BulkCopy::kStore, kFourLines));
  bench.cycle();
  CHECK(bench.path.next_event(bench.now) == bench.now + 50);
  bench.await(kPolled);
  CHECK(bench.path.next_event(bench.now) == bench.now + kToRegisters);
}

TEST_CASE("past the L1: copies' lines leave tma.line_interval apart, and tma.queue copies may wait") {
  for (const std::uint32_t interval : {1u, 5u}) {
    config::GpuConfig c = lsu_config();
    c.tma = {interval, 3};
    BypassBench bench(c);
    for (int i = 0; i < 3; ++i) {
      CHECK(bench.path.takes_copies());
      REQUIRE(bench.copy(trace::BulkCopy::kStore, kFourLines));
    }
    CHECK_FALSE(bench.path.takes_copies());
    const Cycle from = bench.now;
    bench.cycles(100);
    Events read;
    for (std::uint32_t i = 0; i < 3; ++i)
      read.emplace_back(from + 1 + (4 * i + 3) * interval, MioEvent::Kind::kResult, i);
    CHECK(bench.events == read);
    CHECK(bench.path.takes_copies());
  }
}

TEST_CASE("past the L1: a load's result takes the way of a miss, and the CTAs of a multicast know at once") {
  for (const bool multicast : {false, true}) {
    BypassBench bench;
    REQUIRE(bench.copy(trace::BulkCopy::kLoad, kFourLines, multicast));
    bench.cycles(200);
    CHECK(bench.events.empty());
    while (!bench.asked.empty()) bench.done();
    const Cycle back = bench.now;
    bench.cycles(100);
    Events expected{{back + LsuLatencies::kMissPath + kToRegisters, MioEvent::Kind::kResult, 0}};
    if (multicast) expected.insert(expected.begin(), {back, MioEvent::Kind::kDelivered, 0});
    CHECK(bench.events == expected);
  }
}

TEST_CASE("past the L1: polls go from a hit's latency on, and again until the word has its signals") {
  BypassBench bench;
  bench.await(kPolled);
  const Cycle first = bench.now + kToRegisters;
  CHECK(bench.path.next_event(bench.now) == first);
  while (bench.port.queued() == 0) bench.cycle();
  CHECK(bench.now == first);
  CHECK(bench.path.busy());  // it may have to come again
  while (bench.asked.empty()) bench.cycle();
  CHECK(bench.asked[0].line == kPolled);
  CHECK(bench.asked[0].kind == icnt::AccessKind::kAwait);
  bench.polled(true);
  CHECK(bench.path.next_event(bench.now) == bench.now + SignalWaits::kRound);
  CHECK(bench.events.empty());
  while (bench.asked.empty()) bench.cycle();
  bench.polled(false);
  const Cycle found = bench.now;
  bench.cycle();
  CHECK(bench.events == Events{{found, MioEvent::Kind::kResult, 0}});
  CHECK(bench.path.idle());
  CHECK_FALSE(bench.path.busy());
}

TEST_CASE("past the L1: a copy's line goes before a poll, and neither into a full port") {
  config::GpuConfig c = lsu_config();
  c.icnt.sm_queue_entries = 1;
  BypassBench bench(c);
  bench.await(kPolled);
  while (bench.now < kToRegisters - 1) bench.cycle();
  REQUIRE(bench.copy(trace::BulkCopy::kLoad, kFourLines));
  bench.cycles(4);  // a line each; loads leave in the cycle in which they come
  std::string text;
  bench.path.dump(text);
  CHECK(text == ", bulk copies in the queue 0, warps that wait for signals 1");
  CHECK(bench.port.full());
  CHECK(bench.path.next_event(bench.now) == kNever);
  bench.cycles(200);
  REQUIRE(bench.asked.size() == 5);
  for (std::size_t i = 0; i < 4; ++i) CHECK(bench.asked[i].kind == icnt::AccessKind::kLoad);
  CHECK(bench.asked[4].kind == icnt::AccessKind::kAwait);
}

TEST_CASE("past the L1: sixteen copies are queued, and none that names no memory") {
  BypassBench bench;
  CHECK_FALSE(bench.copy(trace::BulkCopy::kLoad, {{kData, 0, 4, 128}}));
  CHECK_FALSE(bench.path.busy());
  CHECK(bench.counters[0].global_instructions == 0);
  for (unsigned i = 0; i < lsu_config().tma.queue; ++i) {
    REQUIRE(bench.path.takes_copies());
    REQUIRE(bench.copy(trace::BulkCopy::kLoad, kFourLines));
  }
  CHECK_FALSE(bench.path.takes_copies());
  bench.cycles(3);
  CHECK_FALSE(bench.path.takes_copies());
  bench.cycle();
  CHECK(bench.path.takes_copies());
  std::string text;
  bench.path.dump(text);
  CHECK(text == ", bulk copies in the queue 15");
}

/// What the L2 is asked for by a copy, when its lines' translation takes that long.
auto requests_of(trace::BulkCopy kind, std::uint32_t translation) {
  config::GpuConfig c = lsu_config();
  c.tlb.miss_latency = translation;
  BypassBench bench(c);
  REQUIRE(bench.copy(kind, kFourLines));
  bench.cycles(10);
  CHECK(bench.counters[0].tlb_waits == (translation > 0 ? 4 : 0));
  if (translation > 0) {
    CHECK(bench.port.idle());
    while (!bench.translator->has_work()) bench.cycle();
  }
  while (bench.translator && bench.translator->has_work()) {
    REQUIRE(bench.path.send_parked(bench.now, bench.translator->line()));
    bench.translator->line_done();
  }
  bench.cycles(200);
  using Sent = std::tuple<Address, SectorMask, std::array<std::uint32_t, 4>, unsigned, icnt::AccessKind>;
  std::vector<Sent> sent;
  while (!bench.asked.empty()) {
    const icnt::Request r = bench.done();
    sent.emplace_back(r.line, r.sectors, r.bytes, r.operations, r.kind);
  }
  CHECK(bench.path.idle());
  return sent;
}

TEST_CASE("past the L1: lines that waited for their translation ask for what the others do") {
  for (const trace::BulkCopy kind :
       {trace::BulkCopy::kLoad, trace::BulkCopy::kStore, trace::BulkCopy::kReduction}) {
    const auto at_once = requests_of(kind, 0);
    REQUIRE(at_once.size() == 4);
    CHECK(requests_of(kind, 300) == at_once);
  }
}

TEST_CASE("past the L1: a line that comes back from its translation waits for room in the port") {
  config::GpuConfig c = lsu_config();
  c.tlb.miss_latency = 300;
  c.icnt.sm_queue_entries = 1;
  BypassBench bench(c);
  REQUIRE(bench.copy(trace::BulkCopy::kLoad, kFourLines));
  bench.cycles(320);
  REQUIRE(bench.translator->has_work());
  const ParkedLine line = bench.translator->line();
  CHECK(bench.path.send_parked(bench.now, line));
  CHECK_FALSE(bench.path.send_parked(bench.now, line));
  bench.cycle();
  CHECK(bench.path.send_parked(bench.now, line));
}

}  // namespace
}  // namespace lockstep::core::test
