// Queues that kernels write to directly: news and doorbells come in any order between queues, replies in any
// parts; entries are finished in the order of their queue, each once.
#include "net/direct_queues.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <vector>

#include "config/system_config.hpp"
#include "tests/net/port_bench.hpp"

namespace lockstep::test {
namespace {

/// The NIC of device 0, which has `kQueues` queues there.
class DirectRun {
 public:
  explicit DirectRun(std::uint32_t seed)
      : random_(seed),
        pending_(seed),
        system_(config::resolve_system("compnet_8", 2)),
        clock_(system_.devices.front().clock.core_khz),
        bench_(static_cast<std::uint16_t>(system_.nic_of(0)), system_.endpoints()),
        operations_(bench_.port, system_, clock_),
        queues_(operations_, clock_) {
    for (std::uint32_t q = 0; q < kQueues; ++q) open(q);
    run();
    check_end();
  }

 private:
  static constexpr std::uint32_t kQueues = 3, kEntries = 8, kEach = 29;  // operations of a queue
  static constexpr Address kIndex = 0x90'0000, kData = Address{1} << 40;
  struct Queue {
    std::uint32_t told = 0, rung = 0, begun = 0;  // operations, doorbells, both
    std::uint32_t finished = 0, indexed = 0;      // status words and indices that the NIC has written
  };

  [[nodiscard]] static Address entry(std::uint32_t queue, std::uint32_t number) {
    return 0x10'0000 + queue * 0x1'0000 + number % kEntries * trace::kNetEntryBytes;
  }
  void open(std::uint32_t q) {
    net::AgentNews news;
    news.kind = net::AgentNews::Kind::kQueue;
    news.queue = q;
    news.address = entry(q, 0);
    news.bytes = kEntries * trace::kNetEntryBytes;
    news.index = kIndex + 64 * q;
    queues_.receive(0, news);
  }
  void tell(std::uint32_t q) {
    net::AgentNews news;
    news.operation.kind =
        random_() % 2 != 0 ? trace::NetOperation::Kind::kPut : trace::NetOperation::Kind::kGet;
    news.operation.queue = q;
    news.operation.target = 1;
    news.operation.bytes = random_() % 5 == 0 ? 0 : random_() % 600;
    news.operation.local = kData + (all_told_ << 12);
    news.operation.remote = 2 * kData + (all_told_++ << 12);
    news.operation.blocking = random_() % 2 != 0;
    queues_.receive(now_, news);
    ++state_[q].told;
  }
  /// The kernel's store to the entry's status word. A place is used again when its entry has been finished.
  void ring(std::uint32_t q) {
    Queue& queue = state_[q];
    const Address word = entry(q, queue.rung++);
    icnt::Request store;
    store.kind = icnt::AccessKind::kStore;
    store.line = line_of(word);
    store.sectors = static_cast<SectorMask>(1u << sector_in_line(word));
    store.bytes[sector_in_line(word)] = 0xf;
    queues_.ring(now_, 0, store);
    rung_.emplace_back(word, now_);
  }
  void some_input() {
    const std::uint32_t q = random_() % kQueues;
    Queue& queue = state_[q];
    if (random_() % 2 != 0 && queue.told < kEach) tell(q);
    if (random_() % 2 != 0 && queue.rung < kEach && queue.rung < queue.indexed + kEntries) ring(q);
  }

  void run() {
    for (; !at_end(); ++now_) {
      REQUIRE(now_ < 400'000);
      if (random_() % 30 == 0) some_input();
      operations_.tick(now_);
      take_sent();
      for (auto n = random_() % 3; n > 0 && !pending_.empty(); --n)
        pending_.reply_to_one(
            [&](const link::Message&, const link::Message& reply) { operations_.replied(now_, reply); });
      take_sent();
    }
  }
  [[nodiscard]] bool at_end() const {
    return pending_.empty() && operations_.idle() && std::ranges::all_of(state_, [](const Queue& queue) {
             return queue.told == kEach && queue.rung == kEach && queue.indexed == kEach;
           });
  }
  void take_sent() {
    for (const link::Message& message : bench_.sent(now_)) {
      pending_.add(message);
      if (message.to == 0 && message.access.signals && message.access.line < kData) note_word(message);
    }
  }
  /// Status words and indices of a queue take turns, in the order of its entries.
  void note_word(const link::Message& message) {
    for (std::uint32_t q = 0; q < kQueues; ++q) {
      Queue& queue = state_[q];
      const Address index = kIndex + 64 * q, status = entry(q, queue.finished);
      if (covers(message, index)) {
        REQUIRE(queue.indexed < queue.finished);
        REQUIRE_FALSE(message.access.signals_twice);
        ++queue.indexed;
        return;
      }
      if (queue.finished == queue.indexed && covers(message, status)) {
        REQUIRE(queue.finished < std::min(queue.told, queue.rung));
        REQUIRE(message.access.signals_twice);
        ++queue.finished;
        return;
      }
    }
    FAIL("a signal of no word that is due");
  }
  [[nodiscard]] static bool covers(const link::Message& message, Address word) {
    const std::uint32_t sector = sector_in_line(word);
    return message.access.line == line_of(word) &&
           (message.access.bytes[sector] >> word % kSectorBytes & 0xf) == 0xf;
  }

  void check_end() {
    constexpr std::uint64_t kAll = kQueues * kEach;
    CHECK(queues_.idle());
    const net::ThreadCounters& counters = queues_.counters();
    CHECK(counters.found == kAll);
    CHECK(counters.records == kAll);
    CHECK(counters.polls + counters.record_polls == 0);
    std::uint64_t ended = 0, blocking = 0;
    for (const net::StageTimes& kind : counters.kinds) ended += kind.operations, blocking += kind.blocking;
    CHECK(ended == kAll);
    CHECK(blocking < kAll);
    REQUIRE(queues_.visible_entries().size() == rung_.size());
    for (std::size_t i = 0; i < rung_.size(); ++i) {
      CHECK(queues_.visible_entries()[i].entry == rung_[i].first);
      CHECK(queues_.visible_entries()[i].at == rung_[i].second);
    }
    const net::DepthCounters depth = queues_.depth(clock_.ps(now_));
    CHECK(depth.queues == kQueues);
    CHECK(depth.entered == kAll);
    CHECK(depth.most <= kEntries);
    CHECK(depth.total_ps > 0);
    CHECK(queues_.depth(clock_.ps(now_) + 1'000'000).total_ps == depth.total_ps);  // nothing is left in them
    std::string dump;
    queues_.dump(dump);
    CHECK(dump.empty());
    std::uint64_t stays = 0;  // by Little's law
    for (const net::EndedEntry& one : counters.ended) stays += one.end - one.seen;
    if (!counters.ended.empty()) CHECK(stays == depth.total_ps);
  }

  Random32 random_;
  Pending pending_;
  config::SystemConfig system_;
  net::Clock clock_;
  PortBench bench_;
  net::Operations operations_;
  net::DirectQueues queues_;
  Queue state_[kQueues];
  std::vector<std::pair<Address, Cycle>> rung_;
  std::uint64_t all_told_ = 0;
  Cycle now_ = 1;
};

TEST_CASE("direct queues: entries are finished in order, whenever their news, doorbells and replies come") {
  for (std::uint32_t seed = 1; seed <= 12; ++seed) {
    INFO("seed " << seed);
    const DirectRun run(seed);
  }
}

TEST_CASE(
    "direct queues: a doorbell of no queue is no entry's, that of reused memory is the newest queue's") {
  const config::SystemConfig system = config::resolve_system("compnet_8", 2);
  const net::Clock clock(system.devices.front().clock.core_khz);
  PortBench bench(static_cast<std::uint16_t>(system.nic_of(0)), system.endpoints());
  net::Operations operations(bench.port, system, clock);
  net::DirectQueues queues(operations, clock);
  const auto ring = [&](std::uint16_t device, Address word) {
    icnt::Request store;
    store.line = line_of(word);
    store.bytes[sector_in_line(word)] = 0xf;
    queues.ring(5, device, store);
  };
  ring(0, 0x1000);
  ring(1, 0x1000);
  const auto open = [&](std::uint32_t number, Address at) {
    net::AgentNews news;
    news.kind = net::AgentNews::Kind::kQueue;
    news.queue = number, news.address = at, news.bytes = 256;
    queues.receive(5, news);
  };
  open(0, 0x1000);
  ring(0, 0x0fc0);
  ring(0, 0x1100);
  ring(1, 0x1000);
  CHECK(queues.visible_entries().empty());
  ring(0, 0x10c0);
  REQUIRE(queues.visible_entries().size() == 1);
  CHECK(queues.visible_entries()[0].entry == 0x10c0);
  open(1, 0x1080);  // its memory has become another queue's
  ring(0, 0x1080);
  net::AgentNews news;
  news.operation.queue = 1;
  queues.receive(6, news);
  CHECK(queues.counters().found == 1);  // by the second queue's doorbell
  CHECK_FALSE(queues.idle());
  std::string dump;
  queues.dump(dump);
  CHECK(dump.find("queue 1 of device 0: doorbell rung 1 times, 0 entries finished, 0 more") !=
        std::string::npos);
  news.operation.queue = 0;
  queues.receive(7, news);
  CHECK(queues.counters().found == 2);
}

}  // namespace
}  // namespace lockstep::test
