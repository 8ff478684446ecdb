// An engine between windows: states that are kept and taken up again, what is due, mail from outside, and
// what it refuses.
#include <array>
#include <catch2/catch.hpp>
#include <cstring>
#include <string>

#include "sim/elsewhere.hpp"
#include "tests/persisted.hpp"
#include "tests/random.hpp"
#include "tests/sim/toy_nodes.hpp"

namespace lockstep::sim {
namespace {

using test::kNodes;
using test::Ping;
using test::Recorder;
using test::ToyMachine;

constexpr Time kStateEnd = 4000;

TEST_CASE("a state kept between any two windows goes on with other threads and windows as without a break") {
  ToyMachine straight({.window = 1000});
  Recorder to_end;
  straight.engine.advance_to(kStateEnd, to_end);

  lockstep::test::Random32 random(1);
  auto machine = std::make_unique<ToyMachine>(EngineOptions{.window = 7});
  Recorder recorder;
  for (Time now = 0; now < kStateEnd;) {
    now = std::min<Time>(kStateEnd, now + 1 + random() % 400);
    machine->engine.advance_to(now, recorder);
    auto next = std::make_unique<ToyMachine>(EngineOptions{
        .threads = 1 + random() % 3, .window = 1 + random() % 50, .skip = random() % 2 == 0, .shuffle = now});
    const std::string bytes = lockstep::test::persisted(*machine);
    lockstep::test::restore(*machine, *next);
    REQUIRE(next->engine.now() == now);
    REQUIRE(next->engine.earliest() == machine->engine.earliest());
    REQUIRE(lockstep::test::persisted(*next).size() == bytes.size());
    machine = std::move(next);
  }
  CHECK(machine->hashes() == straight.hashes());
}

TEST_CASE("a state is refused by an engine with another number of domains") {
  ToyMachine machine({});
  Engine small(EngineOptions{});
  Elsewhere domain;
  small.add(domain, DomainKind::kOther);
  const std::string bytes = lockstep::test::persisted(machine.engine);
  Archive archive(bytes);
  CHECK_THROWS_WITH(archive(small), "not this engine's domains");
}

/// Is due at the times given, and keeps what it gets.
struct Mailbox final : Domain {
  explicit Mailbox(Network<Ping>& from, std::vector<Cycle> times = {})
      : network(&from), due(std::move(times)), inbox(1000) {}
  Cycle advance(Cycle from, Cycle to) override {
    inbox.gather(*network, 0, from);
    while (inbox.next_arrival() < to) {
      const Cycle now = inbox.next_arrival();
      inbox.drain(now, [&](std::uint32_t, const Ping& ping) { got.emplace_back(now, ping.value); });
    }
    while (!due.empty() && due.front() < to) due.erase(due.begin());
    return std::min(due.empty() ? kNever : due.front(), inbox.next_arrival());
  }
  void settle(Cycle) override {}
  void dump(std::string&) const override {}
  Network<Ping>* network;
  std::vector<Cycle> due;
  Inbox<Ping> inbox;
  std::vector<std::pair<Cycle, std::uint64_t>> got;
};

TEST_CASE("what is due earliest: at once before the first window, then as domains say, or mail") {
  Engine engine({.window = 10});
  Elsewhere sender;
  Network<Ping> network("mail", {0}, {1}, 10);
  Mailbox box(network, {35, 72});
  engine.add(sender, DomainKind::kOther);
  engine.add(box, DomainKind::kOther);
  engine.add(network);
  Recorder recorder;
  CHECK(engine.earliest() == 0);
  engine.advance_to(20, recorder);
  CHECK(engine.earliest() == 35);
  engine.advance_to(35, recorder);
  CHECK(engine.earliest() == 35);  // it is due, not done
  engine.advance_to(36, recorder);
  CHECK(engine.earliest() == 72);

  // As sent by a domain of another process in the window before.
  const Ping ping{5};
  std::string bytes(sizeof ping, 0);
  std::memcpy(bytes.data(), &ping, sizeof ping);
  std::vector<Time> next{kNever, kNever};
  engine.put_mail(0, 0, 0, 50, bytes, engine.now(), next);
  CHECK(next == std::vector<Time>{kNever, 36});
  CHECK_THROWS_WITH(engine.put_mail(0, 1, 0, 50, bytes, engine.now(), next), "not a message of 'mail'");
}

/// A border of a process that has no others: hands in one message at each meeting.
struct Postman final : Border {
  explicit Postman(Engine& of) : engine(of) {}
  void window_ended(std::vector<Time>&) override { ++windows; }
  Time meet(Time now, std::vector<Time>& next) override {
    met.push_back(now);
    if (met.size() > 3) return kNever;
    const Ping ping{met.size()};
    std::string bytes(sizeof ping, 0);
    std::memcpy(bytes.data(), &ping, sizeof ping);
    engine.put_mail(1, 0, 0, now + 10 * met.size(), bytes, now, next);
    return now + 100;
  }
  Engine& engine;
  std::vector<Time> met;
  unsigned windows = 0;
};

TEST_CASE("a border is met where all is known, and what it hands in arrives at its time") {
  for (const unsigned threads : {1u, 2u}) {
    Engine engine({.threads = threads, .window = 30});
    Elsewhere sender;
    Network<Ping> network("mail", {0}, {1}, 10), other("other", {0}, {0}, 10);
    Mailbox box(network);
    engine.add(sender, DomainKind::kOther);
    engine.add(box, DomainKind::kOther);
    engine.add_elsewhere(other);  // number 0, as in the other process
    engine.add(network);
    CHECK(engine.networks() == std::vector<NetworkBase*>{&other, &network});
    Postman postman(engine);
    engine.set_border(postman);
    Recorder recorder;
    CHECK_THROWS_WITH(engine.advance_to(50, recorder), "a run with a border goes to its end");
    engine.run(recorder);
    CHECK(recorder.exhausted_called);
    CHECK(postman.met == std::vector<Time>{0, 100, 200, 300});
    CHECK(box.got == std::vector<std::pair<Cycle, std::uint64_t>>{{10, 1}, {120, 2}, {230, 3}});
    CHECK(postman.windows == engine.profile().windows);
  }
}

TEST_CASE("an engine without all the domains that were claimed does not run") {
  Engine engine(EngineOptions{});
  Elsewhere domain;
  const DomainId first = engine.claim(3);
  engine.place(first, domain, DomainKind::kOther);
  engine.place(first + 2, domain, DomainKind::kOther);
  Recorder recorder;
  CHECK_THROWS_WITH(engine.run(recorder), "an id was claimed for a domain that is not there");
  CHECK_THROWS_WITH(engine.place(first, domain, DomainKind::kOther), "two domains with one id");
  CHECK_THROWS_AS(engine.place(first + 3, domain, DomainKind::kOther), std::out_of_range);
  engine.place(first + 1, domain, DomainKind::kOther);
  engine.run(recorder);
  CHECK(recorder.exhausted_called);
}

/// Fails at `at`.
struct Faulty final : Domain {
  explicit Faulty(std::string of, Cycle when) : name(std::move(of)), at(when) {}
  Cycle advance(Cycle, Cycle to) override {
    if (at < to) throw std::runtime_error(name);
    return at;
  }
  void settle(Cycle) override {}
  void dump(std::string&) const override {}
  std::string name;
  Cycle at;
};

TEST_CASE("of several domains that fail in a window it is the first whose error comes out, in any order") {
  for (const unsigned threads : {1u, 3u})
    for (std::uint64_t shuffle = 0; shuffle < 4; ++shuffle) {
      Engine engine({.threads = threads, .dynamic = shuffle % 2 == 0, .window = 10, .shuffle = shuffle});
      Faulty late("late", 25), one("one", 15), two("two", 12);
      for (Faulty* domain : {&late, &one, &two}) engine.add(*domain, DomainKind::kOther);
      Recorder recorder;
      CHECK_THROWS_WITH(engine.run(recorder), "one");
    }
}

/// Plans tasks for some windows, and fails after the last.
struct FailingTasks final : TaskSource {
  std::size_t plan() override {
    order += 'p';
    return 2;
  }
  void run(std::size_t task) noexcept override { order += task == 0 ? '0' : '1'; }
  void settle() override {
    order += 's';
    if (++windows == 3) throw std::runtime_error("a task failed");
  }
  unsigned windows = 0;
  std::string order;
};

TEST_CASE("tasks have windows of their own where nothing is due, and their error ends the run") {
  Engine engine({.window = 10});
  Elsewhere domain;
  engine.add(domain, DomainKind::kOther);
  FailingTasks tasks;
  engine.set_tasks(tasks);
  Recorder recorder;
  CHECK_THROWS_WITH(engine.run(recorder), "a task failed");
  CHECK(tasks.order == "p01sp01sp01s");
  CHECK(engine.now() == 30);
  CHECK_FALSE(recorder.exhausted_called);
}

}  // namespace
}  // namespace lockstep::sim
