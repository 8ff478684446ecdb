// Spans of traffic: bounds that hold for any messages, and examples by hand.
#include "link/traffic_log.hpp"

#include <catch2/catch.hpp>

#include "tests/persisted.hpp"
#include "tests/random.hpp"

namespace lockstep::link {

TEST_CASE("Traffic log: messages that follow each other are one span, a gap of 1024 cycles ends it") {
  TrafficLog log;
  CHECK_FALSE(log.on());
  log.record();
  CHECK(log.on());
  log.note(100, 110, 64);
  log.note(110, 120, 32);
  log.note(120 + 1023, 1150, 8);  // within the gap
  REQUIRE(log.spans().size() == 1);
  CHECK((log.spans()[0].from == 100 && log.spans()[0].to == 1150));
  CHECK((log.spans()[0].messages == 3 && log.spans()[0].bytes == 104));
  log.note(1150 + 1024, 2180, 1);
  REQUIRE(log.spans().size() == 2);
  CHECK((log.spans()[1].from == 2174 && log.spans()[1].messages == 1));
}

TEST_CASE("Traffic log: a span takes no message that begins 8192 cycles after it, however dense") {
  TrafficLog log;
  for (Cycle at = 0; at < 20'000; at += 10) log.note(at, at + 10, 1);
  REQUIRE(log.spans().size() == 3);
  CHECK((log.spans()[0].from == 0 && log.spans()[0].to == 8200));
  CHECK((log.spans()[1].from == 8200 && log.spans()[2].from == 16'400));
}

TEST_CASE("Traffic log: spans of any messages are in order, apart, and hold every message and byte") {
  test::Random32 random(2);
  TrafficLog log;
  Cycle at = 0, end = 0;
  std::uint64_t messages = 0, bytes = 0;
  for (unsigned i = 0; i < 5000; ++i) {
    at += random() % 50 == 0 ? random() % 5000 : random() % 40;
    const std::uint32_t size = 1 + random() % 4000;
    end = std::max(end, at) + size / 32;
    log.note(at, end, size);
    ++messages;
    bytes += size;
  }
  std::uint64_t found = 0, carried = 0;
  Cycle before = 0;
  for (const TrafficLog::Span& span : log.spans()) {
    CHECK(span.from >= before);
    CHECK(span.to > span.from);
    before = span.to;
    found += span.messages;
    carried += span.bytes;
  }
  CHECK((found == messages && carried == bytes));
  CHECK(log.spans().back().to == end);
  TrafficLog copy;
  test::restore(log, copy);
  CHECK(copy.spans().size() == log.spans().size());
}

}  // namespace lockstep::link
