// The host's commands: streams, copies, waits.
#include "host/host_queue.hpp"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace lockstep::host {
namespace {

using Kind = HostCommand::Kind;

TEST_CASE("a wait holds back everything after it until everything before is complete") {
  HostQueue queue({{Kind::kKernel, 0, 0, 0, 0},
                   {Kind::kKernel, 1, 1, 0, 0},
                   {Kind::kWait, 0, 0, 0, 0},
                   {Kind::kKernel, 2, 2, 0, 0}},
                  3, config::CopyMode::kBlocking);
  const auto no_copy = [](std::uint32_t) { FAIL("there is no copy"); };
  queue.proceed(no_copy);
  CHECK(queue.pop_ready().command == 0);
  CHECK(queue.pop_ready().command == 1);
  CHECK_FALSE(queue.has_ready());
  queue.kernel_done(1, 18, 20);
  queue.proceed(no_copy);
  CHECK_FALSE(queue.has_ready());
  queue.kernel_done(0, 28, 30);
  queue.proceed(no_copy);
  REQUIRE(queue.has_ready());
  const auto last = queue.pop_ready();
  CHECK(last.command == 3);
  CHECK(last.since == 30);
  queue.kernel_done(3, 38, 40);
  CHECK(queue.done());
}

TEST_CASE("overlapped copies stop at a wait") {
  HostQueue queue(
      {{Kind::kCopyToDevice, 0, 0, 0, 4}, {Kind::kWait, 0, 0, 0, 0}, {Kind::kCopyToDevice, 0, 0, 0, 4}}, 1,
      config::CopyMode::kOverlapped);
  unsigned copies = 0;
  const auto copy = [&](std::uint32_t) { ++copies; };
  queue.proceed(copy);
  CHECK(copies == 1);
  queue.copy_done(0, 4, 5);
  queue.proceed(copy);
  CHECK(copies == 2);
}

namespace {

struct Copies {
  std::vector<std::uint32_t> started;
  void operator()(std::uint32_t command) { started.push_back(command); }
};
HostCommand in_stream(Kind kind, std::uint32_t stream, std::uint32_t event = 0) {
  return {kind, stream, 0, 0, 4, event, {}};
}

}  // namespace

TEST_CASE("a stream's copies and kernels run one after another, beside those of other streams") {
  HostQueue queue({in_stream(Kind::kStreamCopyToDevice, 0), in_stream(Kind::kKernel, 0),
                   in_stream(Kind::kStreamCopyToDevice, 1), in_stream(Kind::kKernel, 1)},
                  2, config::CopyMode::kBlocking);
  Copies copies;
  queue.proceed(copies);
  CHECK(copies.started == std::vector<std::uint32_t>{0, 2});
  CHECK(queue.taken() == 4);
  queue.copy_done(2, 10, 15);
  queue.proceed(copies);
  const auto first = queue.pop_ready();
  CHECK(first.command == 3);
  CHECK(first.since == 10);  // the end itself, not when the host learned of it
  CHECK_FALSE(queue.has_ready());
  queue.copy_done(0, 20, 25);
  queue.proceed(copies);
  CHECK(queue.pop_ready().command == 1);
  queue.kernel_done(1, 30, 33);
  queue.kernel_done(3, 31, 33);
  CHECK(queue.done());
}

TEST_CASE("a stream's wait holds it until the other stream's event; the event has the end before it") {
  HostQueue queue({in_stream(Kind::kKernel, 0), in_stream(Kind::kEventRecord, 0), in_stream(Kind::kKernel, 0),
                   in_stream(Kind::kStreamWait, 1, 0), in_stream(Kind::kKernel, 1),
                   in_stream(Kind::kEventWait, 0, 0), in_stream(Kind::kKernel, 2)},
                  3, config::CopyMode::kBlocking);
  Copies copies;
  queue.proceed(copies);
  CHECK(queue.taken() == 5);  // the host waits for the event
  CHECK(queue.pop_ready().command == 0);
  CHECK_FALSE(queue.has_ready());
  CHECK_FALSE(queue.event_time(0).has_value());
  queue.kernel_done(0, 100, 108);
  queue.proceed(copies);
  CHECK(queue.event_time(0) == 100u);
  CHECK(queue.host_time() == 108);
  const auto second = queue.pop_ready(), other = queue.pop_ready(), late = queue.pop_ready();
  CHECK((second.command == 2 && second.since == 100));
  CHECK((other.command == 4 && other.since == 100));
  CHECK((late.command == 6 && late.since == 108));  // issued after the host's wait
}

TEST_CASE("a notice is sent when the host comes to it, and nothing waits for it") {
  HostQueue queue({in_stream(Kind::kKernel, 0), in_stream(Kind::kNotice, 0), in_stream(Kind::kWait, 0),
                   in_stream(Kind::kNotice, 0), in_stream(Kind::kKernel, 0)},
                  1, config::CopyMode::kBlocking);
  Copies copies;
  queue.proceed(copies);
  CHECK(copies.started == std::vector<std::uint32_t>{1});  // beside the kernel
  CHECK(queue.copies_out() == 0);
  queue.kernel_done(queue.pop_ready().command, 100, 108);
  queue.proceed(copies);
  CHECK(copies.started == std::vector<std::uint32_t>{1, 3});
  const auto next = queue.pop_ready();
  CHECK((next.command == 4 && next.since == 108));
  queue.kernel_done(4, 200, 208);
  CHECK(queue.done());
}

TEST_CASE("a list that grows gives what the whole list gives") {
  // Kernel, kernel, wait, kernel in one stream: told at once, or one by one as late as at_end() allows.
  const std::vector<HostCommand> all{in_stream(Kind::kKernel, 0), in_stream(Kind::kKernel, 0),
                                     in_stream(Kind::kWait, 0), in_stream(Kind::kKernel, 0)};
  const auto follow = [&](HostQueue& queue, const auto& more) {
    std::vector<std::pair<std::uint32_t, Cycle>> launches;
    Copies copies;
    for (Cycle now = 0; now <= 300; now += 100) {
      if (now > 0) queue.kernel_done(launches.back().first, now - 7, now);
      queue.proceed(copies);
      while (queue.at_end()) {
        more(queue);
        queue.proceed(copies);
      }
      while (queue.has_ready()) {
        const auto ready = queue.pop_ready();
        launches.emplace_back(ready.command, ready.since);
      }
    }
    CHECK(queue.done());
    return launches;
  };
  HostQueue whole(all, 1, config::CopyMode::kBlocking);
  const auto expected = follow(whole, [](HostQueue&) { FAIL("a closed list has an end"); });
  CHECK(expected == std::vector<std::pair<std::uint32_t, Cycle>>{{0, 0}, {1, 93}, {3, 200}});
  HostQueue grown({}, 1, config::CopyMode::kBlocking);
  grown.open();
  std::size_t told = 0;
  const auto found = follow(grown, [&](HostQueue& queue) {
    if (told == all.size()) return queue.close();
    const bool wait = all[told].kind == Kind::kWait;
    queue.append({all[told++]}, wait ? HostQueue::Until::kTaken : HostQueue::Until::kComplete);
  });
  CHECK(found == expected);
}

namespace {

HostCommand call(std::uint32_t thread, std::uint32_t busy_ns) {
  HostCommand command;
  command.kind = Kind::kCall;
  command.thread = thread;
  command.busy_ns = busy_ns;
  return command;
}

/// Kernels that are ready when the queue has got to `now`, as "command@since".
std::string ready_at(HostQueue& queue, Time now) {
  Copies copies;
  queue.advance_to(now);
  queue.proceed(copies);
  std::string all;
  while (queue.has_ready()) {
    const auto kernel = queue.pop_ready();
    all += (all.empty() ? "" : " ") + std::to_string(kernel.command) + "@" + std::to_string(kernel.since);
  }
  return all;
}

}  // namespace

TEST_CASE("a kernel starts when the call that launches it has ended, and so does its thread's next call") {
  HostQueue queue({call(0, 30), in_stream(Kind::kKernel, 0), call(0, 30), in_stream(Kind::kKernel, 1),
                   call(0, 30), in_stream(Kind::kKernel, 0)},
                  2, config::CopyMode::kBlocking);
  CHECK(ready_at(queue, 0).empty());
  CHECK(queue.next_call() == 30);
  CHECK(ready_at(queue, 29).empty());
  CHECK(ready_at(queue, 30) == "1@30");
  CHECK(queue.next_call() == 60);
  CHECK(ready_at(queue, 60) == "3@60");
  CHECK(queue.next_call() == kNever);  // the stream's own kernel holds up the third
  queue.kernel_done(1, 70, 72);
  CHECK(ready_at(queue, 72).empty());
  CHECK(queue.next_call() == 90);
  CHECK(ready_at(queue, 95) == "5@90");
  queue.kernel_done(3, 100, 102);
  queue.kernel_done(5, 110, 112);
  CHECK(queue.done());
}

TEST_CASE("calls of two threads take their time side by side") {
  HostQueue queue({call(1, 30), in_stream(Kind::kKernel, 0), call(1, 30), in_stream(Kind::kKernel, 1),
                   call(2, 50), in_stream(Kind::kKernel, 2), call(1, 30), in_stream(Kind::kKernel, 3)},
                  4, config::CopyMode::kBlocking);
  CHECK(ready_at(queue, 30) == "1@30");
  CHECK(ready_at(queue, 60) == "3@60 5@50");
  CHECK(ready_at(queue, 90) == "7@90");
}

TEST_CASE("a thread that has not called begins where thread 0 is, and none before the end of a wait") {
  HostQueue queue({call(0, 40), in_stream(Kind::kKernel, 0), call(1, 20), in_stream(Kind::kKernel, 1),
                   in_stream(Kind::kWait, 0), call(0, 5), call(1, 20), in_stream(Kind::kKernel, 0),
                   call(0, 40), in_stream(Kind::kKernel, 1)},
                  2, config::CopyMode::kBlocking);
  CHECK(ready_at(queue, 60) == "1@40 3@60");
  queue.kernel_done(1, 100, 105);
  queue.kernel_done(3, 200, 205);
  CHECK(ready_at(queue, 250) == "7@225 9@250");  // 205 + 20; 205 + 5 + 40
  CHECK(queue.host_time() == 205);
}

TEST_CASE("what the caller's clock shows: the end of its calls, of waits, of plain copies") {
  HostQueue queue(
      {call(0, 30), in_stream(Kind::kKernel, 0), in_stream(Kind::kWait, 0), in_stream(Kind::kCopyToHost, 0)},
      1, config::CopyMode::kBlocking);
  CHECK(queue.caller_time() == 0);
  CHECK(ready_at(queue, 30) == "1@30");
  CHECK(queue.caller_time() == 30);
  queue.kernel_done(1, 100, 105);
  CHECK(ready_at(queue, 110).empty());
  CHECK(queue.caller_time() == 105);
  queue.copy_done(3, 150, 156);
  CHECK(queue.caller_time() == 156);
}

TEST_CASE("events, copies of streams and the host's plain copies come when their caller gets to them") {
  HostQueue queue({call(0, 30), in_stream(Kind::kEventRecord, 0), in_stream(Kind::kStreamCopyToDevice, 1),
                   call(0, 30), in_stream(Kind::kCopyToHost, 0), in_stream(Kind::kKernel, 0)},
                  2, config::CopyMode::kOverlapped);
  Copies copies;
  const auto at = [&](Time now) {
    queue.advance_to(now);
    queue.proceed(copies);
    return copies.started;
  };
  CHECK(at(29).empty());
  CHECK(at(30) == std::vector<std::uint32_t>{2});
  CHECK(queue.next_call() == 60);
  CHECK(at(59).size() == 1);
  CHECK(at(60) == std::vector<std::uint32_t>{2, 4});
  queue.copy_done(4, 80, 82);
  queue.copy_done(2, 80, 82);
  CHECK(ready_at(queue, 82) == "5@82");
  CHECK(queue.event_time(0) == 30u);
  CHECK(queue.next_call() == kNever);
}

TEST_CASE("calls in nanoseconds are converted to edges of the time base, rounded up") {
  HostQueue queue({call(0, 1000), in_stream(Kind::kKernel, 0)}, 1, config::CopyMode::kBlocking);
  queue.set_time_base(1'410'001);
  CHECK(ready_at(queue, 1411) == "1@1411");
}

}  // namespace
}  // namespace lockstep::host
