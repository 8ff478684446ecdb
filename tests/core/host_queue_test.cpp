// The host's commands: streams, copies, waits.
#include "core/host_queue.hpp"

#include <catch2/catch.hpp>

using namespace lockstep;
using namespace lockstep::core;
using Kind = HostCommand::Kind;

TEST_CASE("a wait holds back everything after it until everything before is complete") {
  HostQueue queue({{Kind::kKernel, 0, 0, 0, 0},
                   {Kind::kKernel, 1, 1, 0, 0},
                   {Kind::kWait, 0, 0, 0, 0},
                   {Kind::kKernel, 2, 2, 0, 0}},
                  3, config::CopyMode::kBlocking);
  const auto no_copy = [](std::uint32_t) { FAIL("there is no copy"); };
  queue.proceed(10, no_copy);
  CHECK(queue.pop_ready().command == 0);
  CHECK(queue.pop_ready().command == 1);
  CHECK_FALSE(queue.has_ready());
  queue.kernel_done(1, 20);
  queue.proceed(20, no_copy);
  CHECK_FALSE(queue.has_ready());
  queue.kernel_done(0, 30);
  queue.proceed(30, no_copy);
  REQUIRE(queue.has_ready());
  const auto last = queue.pop_ready();
  CHECK(last.command == 3);
  CHECK(last.since == 30);
  queue.kernel_done(3, 40);
  CHECK(queue.done());
}

TEST_CASE("overlapped copies stop at a wait") {
  HostQueue queue(
      {{Kind::kCopyToDevice, 0, 0, 0, 4}, {Kind::kWait, 0, 0, 0, 0}, {Kind::kCopyToDevice, 0, 0, 0, 4}}, 1,
      config::CopyMode::kOverlapped);
  unsigned copies = 0;
  const auto copy = [&](std::uint32_t) { ++copies; };
  queue.proceed(0, copy);
  CHECK(copies == 1);
  queue.copy_done();
  queue.proceed(5, copy);
  CHECK(copies == 2);
}
