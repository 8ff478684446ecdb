// A program's host as a stream of its device: no command waits for more, or for less, than the program made
// it wait for.
#include "trace/host_stream.hpp"

#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <set>
#include <string>

namespace lockstep::trace {
namespace {

using Done = std::set<std::uint32_t>;  // commands, by the number that their `kernel` has

void add_to(Done& to, const Done& more) { to.insert(more.begin(), more.end()); }

/// The rules of a trace that has one host (Command::Kind): commands of a stream in order, each after what the
/// host had waited for when it was issued.
struct HostRules {
  std::map<std::uint64_t, Done> streams;
  std::vector<Done> events;
  Done host;

  Done issue(std::uint64_t stream, std::uint32_t number) {
    Done& mine = streams[stream];
    add_to(mine, host);
    const Done before = mine;
    mine.insert(number);
    return before;
  }
  Done own(std::uint32_t number) {
    const Done before = host;
    host.insert(number);
    return before;
  }
  void record(std::uint64_t stream) {
    add_to(streams[stream], host);
    events.push_back(streams[stream]);
  }
  void stream_wait(std::uint64_t stream, std::uint32_t event) {
    add_to(streams[stream], host);
    add_to(streams[stream], events[event]);
  }
  void wait_for_all() {
    for (const auto& [stream, done] : streams) add_to(host, done);
  }
};

/// What each command comes after, by the streams and events of the list alone: it has no host.
std::map<std::uint32_t, Done> order_of(const std::vector<Command>& commands) {
  std::map<std::uint32_t, Done> before;
  std::map<std::uint64_t, Done> streams;
  std::vector<Done> events;
  for (const Command& c : commands) {
    Done& mine = streams[c.stream];
    if (c.kind == Command::Kind::kEventRecord) {
      events.push_back(mine);
    } else if (c.kind == Command::Kind::kStreamWait) {
      add_to(mine, events.at(c.event));
    } else {
      before[c.kernel] = mine;
      mine.insert(c.kernel);
    }
  }
  return before;
}

/// One program, for HostStream and for the rules.
class Program {
 public:
  Program(std::uint16_t device, std::vector<Command>& out, std::uint32_t& events)
      : host_(device, out, events) {}
  std::map<std::uint32_t, Done> expected;

  void step(std::mt19937& random, std::uint32_t number) {
    const std::uint64_t stream = random() % 4;
    Command command;
    command.kernel = number;
    command.stream = stream;
    const unsigned roll = static_cast<unsigned>(random() % 12);
    if (roll < 5) {
      host_.issue(command);
      expected[number] = rules_.issue(stream, number);
    } else if (roll == 5) {
      host_.add_own(command);
      expected[number] = rules_.own(number);
    } else if (roll == 6) {
      host_.wait_for_all();
      rules_.wait_for_all();
    } else if (roll < 9) {
      host_.enter(stream);
      events_.push_back(host_.record(stream));
      rules_.record(stream);
    } else if (!events_.empty()) {
      const auto which = static_cast<std::uint32_t>(random() % events_.size());
      if (roll == 9) {
        host_.wait_for(events_[which]);
        add_to(rules_.host, rules_.events[which]);
        return;
      }
      command.kind = Command::Kind::kStreamWait;
      command.event = events_[which];
      host_.issue(command);
      rules_.stream_wait(stream, which);
    }
  }

 private:
  HostStream host_;
  HostRules rules_;
  std::vector<std::uint32_t> events_;  // the program's, by their number in the list
};

TEST_CASE("streams and events order a program's commands as its host's waits did") {
  std::size_t ordered = 0;
  for (unsigned seed = 0; seed < 1000; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    std::vector<Command> commands;
    std::uint32_t events = 0;
    Program program(3, commands, events);
    for (std::uint32_t i = 0; i < 4 + seed % 50; ++i) program.step(random, i);
    REQUIRE(order_of(commands) == program.expected);
    std::uint32_t recorded = 0;
    for (const Command& c : commands) {
      REQUIRE(c.device == 3);
      REQUIRE(c.kind != Command::Kind::kWait);
      REQUIRE(c.kind != Command::Kind::kEventWait);
      recorded += c.kind == Command::Kind::kEventRecord;
    }
    REQUIRE(events == recorded);
    for (const auto& [number, before] : program.expected) ordered += before.size();
  }
  CHECK(ordered > 10'000);
}

TEST_CASE("programs that share a list do not wait for each other's hosts") {
  for (unsigned seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    std::vector<Command> commands;
    std::uint32_t events = 0;
    std::map<std::uint32_t, Done> expected;
    for (std::uint16_t device = 0; device < 3; ++device) {
      Program program(device, commands, events);
      for (std::uint32_t i = 0; i < 30; ++i) program.step(random, 30 * device + i);
      expected.merge(program.expected);
    }
    for (Command& c : commands) c.stream = c.stream * 3 + c.device;  // each device has its own streams
    REQUIRE(order_of(commands) == expected);
  }
}

TEST_CASE("a stream waits for the host once, until the host has waited again") {
  std::vector<Command> commands;
  std::uint32_t events = 0;
  HostStream host(0, commands, events);
  const auto kernel = [&](std::uint64_t stream) {
    Command c;
    c.stream = stream;
    host.issue(c);
  };
  kernel(3);
  host.wait_for_all();
  kernel(1);
  kernel(2);
  const std::size_t before = commands.size();
  for (unsigned i = 0; i < 100; ++i) kernel(1 + i % 2);
  CHECK(commands.size() == before + 100);
}

}  // namespace
}  // namespace lockstep::trace
