// A service thread that sleeps while its polls find nothing, at a port that the test answers for.
#include <catch2/catch.hpp>
#include <vector>

#include "net/service_thread.hpp"

namespace lockstep::net {
namespace {

/// Every poll is answered kRoundTrip later.
struct Port {
  static constexpr Cycle kRoundTrip = 100;
  [[nodiscard]] bool wants_to_move() const { return false; }
  void move(QueuePair&) {}
  [[nodiscard]] bool elides() const { return true; }
  unsigned poll(Cycle now, std::uint16_t, Address, std::uint32_t, const PollRequest& request) {
    if (request.watch != nullptr) {
      watches.push_back(*request.watch);
      return 0;
    }
    polls += request.before;
    ++polls;
    if (!request.uncalled) reply_at = now + kRoundTrip;
    return 1;
  }
  unsigned read_entry(Cycle, std::uint16_t, Address) { return 0; }
  unsigned run_call(Cycle) { return 0; }
  unsigned store(Cycle, std::uint16_t, Address) { return 0; }
  unsigned write_command(Cycle, QueuePair&, std::uint64_t) { return 0; }
  unsigned ring(Cycle, QueuePair&) { return 0; }
  unsigned poll_record(Cycle, QueuePair&, std::uint64_t, const PollRequest&) { return 0; }
  void stop_waiting(Cycle) {}

  std::vector<Watched> watches;
  std::uint64_t polls = 0;
  Cycle reply_at = kNever;
};

struct Machine {
  Port port;
  ServiceThread<Port> thread{port, {}, InstructionCosts(Clock(1'000'000), 1'000'000, 1000), Clock(1'000'000)};

  Machine() {
    AgentNews news;
    news.kind = AgentNews::Kind::kQueue;
    news.bytes = 4 * trace::kNetEntryBytes;
    thread.add_queue(news);
    news.kind = AgentNews::Kind::kOperation;
    news.operation.ready = 1;
    thread.add_operation(0, news);
  }
  /// Until cycle `end`; no word has its signals.
  void run(Cycle from, Cycle end) {
    for (Cycle now = from; now < end; ++now) {
      if (now == port.reply_at) {
        port.reply_at = kNever;
        thread.poll_replied(true);
        thread.replied();
      }
      thread.tick(now);
    }
  }
};

}  // namespace

TEST_CASE("A thread that sleeps polls on where its word cannot be watched") {
  Machine machine;
  machine.run(0, 1000);
  REQUIRE(machine.port.watches.size() == 1);
  const std::uint64_t before = machine.port.polls;
  machine.run(1000, 2000);
  CHECK(machine.port.polls == before);  // asleep
  machine.thread.noticed(2000, machine.port.watches.front(), false);
  machine.run(2000, 4000);
  CHECK(machine.port.watches.size() > 1);  // it has polled for some rounds and tried again
  // As many polls as without sleep, in rounds of a round trip and the instructions of a poll.
  const Cycle period = Port::kRoundTrip + config::ServiceGroup{}.poll_instructions;
  CHECK(machine.port.polls >= 2000 / period);
}

TEST_CASE("A thread that sleeps wakes when its word has its signals") {
  Machine machine;
  machine.run(0, 1000);
  REQUIRE(machine.port.watches.size() == 1);
  machine.thread.noticed(1500, machine.port.watches.front(), true);
  machine.run(1500, 1500 + 2 * Port::kRoundTrip);
  CHECK(machine.thread.counters().found == 1);
}

}  // namespace lockstep::net
