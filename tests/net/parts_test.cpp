// Parts of the machine of the network against second ways of saying the same.
#include <catch2/catch.hpp>
#include <list>
#include <random>
#include <vector>

#include "config/network_config.hpp"
#include "net/private_cache.hpp"
#include "net/served_queues.hpp"
#include "net/service_thread.hpp"
#include "net/span.hpp"
#include "net/thread_counters.hpp"

namespace lockstep::net {

TEST_CASE("A write's masks are those of its bytes, one by one") {
  for (Address begin = 0; begin < kLineBytes; ++begin)
    for (std::uint32_t bytes = 1; bytes <= kLineBytes - begin; ++bytes) {
      const icnt::Request request = write_of(icnt::AccessKind::kStore, 0x1000 + begin, bytes);
      bool right = request.line == 0x1000;
      for (unsigned b = 0; b < kLineBytes; ++b) {
        const bool written = b >= begin && b < begin + bytes;
        right = right && (request.bytes[b / 32] >> b % 32 & 1) == (written ? 1u : 0u);
        if (written) right = right && (request.sectors >> b / 32 & 1) == 1;
      }
      for (unsigned s = 0; s < kSectorsPerLine; ++s)
        right = right && (request.sectors >> s & 1) == (request.bytes[s] != 0 ? 1 : 0);
      if (!right) {
        INFO(begin << " " << bytes);
        CHECK(right);
      }
    }
  CHECK(bytes_in_line(0x1007f, 500) == 1);
  CHECK(bytes_in_line(0x10000, 500) == 128);
  CHECK(bytes_in_line(0x10001, 5) == 5);
}

TEST_CASE("A private cache keeps what a list of the last used lines keeps") {
  constexpr std::uint32_t kWays = 4, kSets = 8;
  PrivateCache cache(kWays * kSets * kLineBytes, kWays);
  std::vector<std::list<Address>> sets(kSets);
  std::mt19937 random(7);
  unsigned hits = 0;
  for (unsigned i = 0; i < 20'000; ++i) {
    if (random() % 2000 == 0) {
      cache.empty();
      for (auto& set : sets) set.clear();
    }
    const Address line = Address{random() % 50} * kLineBytes;
    std::list<Address>& set = sets[line / kLineBytes % kSets];
    const auto found = std::find(set.begin(), set.end(), line);
    const bool hit = found != set.end();
    if (hit) set.erase(found);
    set.push_front(line);
    if (set.size() > kWays) set.pop_back();
    hits += hit;
    REQUIRE(cache.access(line) == hit);
  }
  CHECK((hits > 5'000 && hits < 18'000));
}

TEST_CASE("The read index follows the first entry that is not finished, whatever is done first") {
  ServedQueues queues;
  AgentNews queue{AgentNews::Kind::kQueue, 3, 5, 0x4000, 2 * trace::kNetEntryBytes, 0x8000, {}};
  queues.add(queue);
  AgentNews operation{AgentNews::Kind::kOperation, 3, 0, 0, 0, 0, {}};
  operation.operation.queue = 5;
  for (unsigned i = 0; i < 4; ++i) queues.push(operation);
  REQUIRE(queues.any_waiting());
  CHECK(queues.next_waiting(0) == 0);
  std::vector<OperationId> ids;
  for (unsigned i = 0; i < 4; ++i) {
    CHECK(queues.next_entry(0) == 0x4000 + i % 2 * trace::kNetEntryBytes);
    ids.push_back(queues.take(0, 0));
  }
  CHECK_FALSE(queues.any_waiting());
  const auto advances = [&] {
    unsigned count = 0;
    while (queues.advance_index(0)) ++count;
    return count;
  };
  queues.set_finished(ids[1]);
  CHECK(advances() == 0);
  queues.set_finished(ids[0]);
  CHECK(advances() == 2);
  queues.wait_quiet(ids[3]);
  OperationId quiet;
  for (const unsigned i : {1u, 0u}) {
    queues.set_complete(ids[i]);
    CHECK_FALSE(queues.take_quiet(0, quiet));
  }
  CHECK_FALSE(queues.first_incomplete(ids[3]));
  queues.set_complete(ids[2]);
  CHECK(queues.first_incomplete(ids[3]));
  REQUIRE(queues.take_quiet(0, quiet));
  CHECK(quiet.number == 3);
  CHECK_FALSE(queues.take_quiet(0, quiet));
  queues.set_finished(ids[3]);
  CHECK(advances() == 0);
  queues.set_finished(ids[2]);
  CHECK(advances() == 2);
  CHECK(queues.open() == 0);
}

TEST_CASE("Stages add up to the whole; what did not happen takes no time") {
  StageTimes times;
  times.add({100, 110, 130, 160, 200, 250, 310, 380}, true);
  times.add({0, 5, 0, 0, 0, 50, 0, 60}, true);        // a quiet: seen, issued, complete, finished
  times.add({10, 20, 30, 40, 50, 60, 70, 0}, false);  // finished when it was issued
  CHECK((times.operations == 3 && times.blocking == 2));
  CHECK(times.total == 280 + 60 + 60);
  CHECK(times.longest == 280);
  std::uint64_t sum = 0;
  for (const std::uint64_t stage : times.sum) sum += stage;
  CHECK(sum == times.total);
  CHECK(times.sum[1] == 10 + 5 + 10);
  CHECK(times.most[7] == 70);
}

TEST_CASE("Instructions take cycles of the core's clock, rounded up to cycles of the domain") {
  const Clock domain(1'500'000);
  const InstructionCosts core(domain, 2'000'000, 800), quick(domain, 4'000'000, 1800);
  CHECK(core.cycles(800) == 750);  // 500 ns
  CHECK(core.cycles(1) == 1);      // 0.625 ns of 0.667
  CHECK(quick.cycles(12) == 3);    // 1.667 ns
  CHECK(domain.ps(3) == 2000);
}

}  // namespace lockstep::net
