// Messages between processes of hosts: which are refused, and who may receive what has been sent.
#include "shmem/messages.hpp"

#include <catch2/catch.hpp>
#include <deque>
#include <functional>
#include <map>
#include <string>

#include "tests/random.hpp"
#include "tests/shmem/two_pes.hpp"
#include "util/error.hpp"

namespace lockstep::shmem {
namespace {

using test::kHeapBytes;
using test::TwoPes;
using TracedTask = trace::HostTask;

HostTask task_of(Task kind, std::uint32_t pe, std::uint32_t peer) {
  HostTask task{};
  task.task = static_cast<std::uint32_t>(kind);
  task.pe = pe;
  task.peer = peer;
  return task;
}
HostTask sending(const TwoPes& pes, std::uint32_t from, std::uint64_t at, std::uint64_t to,
                 std::uint64_t bytes) {
  HostTask task = task_of(Task::kSend, from, 1 - from);
  task.local = pes.heap(from, at);
  task.remote = to;
  task.bytes = bytes;
  return task;
}

TEST_CASE("Messages: tasks of processes are refused with the PE and what was expected") {
  TwoPes pes;
  const Messages messages(pes.memory, pes.agent);
  CHECK_THROWS_WITH(messages.check(task_of(Task::kFlush, 0, 0), 0),
                    "shmem: a process of a host before init()");
  pes.agent.attach(pes.world());
  const std::pair<std::function<void(HostTask&)>, std::string> cases[] = {
      {[](HostTask& t) { t.pe = 0; }, "PE 0 has a task in a stream of device 1; expected one of its own"},
      {[](HostTask& t) { t.pe = 2; }, "PE 2 has a task in a stream of device 1; expected one of its own"},
      {[](HostTask& t) { t.task = 4; }, "PE 1 has task 4 with flags 0; expected one below 4, and at most 1"},
      {[](HostTask& t) { t.flags = 2; }, "PE 1 has task 1 with flags 2; expected one below 4, and at most 1"},
      {[](HostTask& t) { t.peer = 2; }, "PE 1 names PE 2; there are 2, counted from 0"},
      {[](HostTask& t) { t.remote = kHeapBytes - 15; },
       "PE 1 sends 16 bytes to offset 0xff1 of the symmetric heap, which has 0x1000"},
      {[](HostTask& t) { t.remote = 8, t.bytes = ~std::uint64_t{0}; },
       "PE 1 sends 18446744073709551615 bytes to offset 0x8 of the symmetric heap, which has 0x1000"},
      {[](HostTask& t) { t.local = 64; }, "PE 1 sends 16 bytes at 0x40, which is not memory of device 1"}};
  for (const auto& [change, expected] : cases) {
    HostTask task = sending(pes, 1, 0, 0, 16);
    CHECK_NOTHROW(messages.check(task, 1));
    change(task);
    CHECK_THROWS_AS(messages.check(task, 1), UserError);
    CHECK_THROWS_WITH(messages.check(task, 1), "shmem: the process of " + expected);
  }
  HostTask of_other = sending(pes, 1, 0, 0, 16);
  of_other.local = pes.heap(0);
  CHECK_THROWS_WITH(messages.check(of_other, 1), Catch::Contains("which is not memory of device 1"));
  of_other.bytes = 0;
  CHECK_NOTHROW(messages.check(of_other, 1));
}

TEST_CASE("Messages: a task is traced with what its kind has, and addresses for offsets") {
  TwoPes pes;
  pes.agent.attach(pes.world());
  const Messages messages(pes.memory, pes.agent);
  const TracedTask sent = messages.check(sending(pes, 0, 128, 256, 40), 0);
  CHECK((sent.kind == TracedTask::Kind::kSend && sent.peer == 1 && sent.bytes == 40 && !sent.within));
  CHECK((sent.local == pes.heap(0, 128) && sent.remote == pes.heap(1, 256) && sent.instructions == 0));
  HostTask computes = task_of(Task::kCompute, 1, 0);
  computes.instructions = 77, computes.bytes = 88, computes.flags = HostTask::kWithin, computes.local = 5;
  const TracedTask computed = messages.check(computes, 1);
  CHECK((computed.kind == TracedTask::Kind::kCompute && computed.instructions == 77 && computed.bytes == 88));
  CHECK((computed.within && computed.local == 0));
  for (const Task kind : {Task::kReceive, Task::kFlush}) {
    HostTask task = task_of(kind, 0, 1);
    task.instructions = task.bytes = 99;  // mean nothing
    const TracedTask traced = messages.check(task, 0);
    CHECK((traced.instructions == 0 && traced.bytes == 0 && traced.peer == 1));
  }
}

TEST_CASE("Messages: each is there when it is sent, and received once, by the process that it is for") {
  TwoPes pes;
  pes.agent.attach(pes.world());
  Messages messages(pes.memory, pes.agent);
  lockstep::test::Random32 random(8);
  std::map<std::pair<unsigned, unsigned>, unsigned> waiting;  // by sender and receiver
  unsigned received = 0, refused = 0;
  for (int i = 0; i < 3000; ++i) {
    const unsigned me = random() % 2, peer = random() % 2;
    if (random() % 2 == 0) {
      HostTask task = sending(pes, me, 64, 512 + 8 * (random() % 64), 8);
      task.peer = peer;
      pes.at<std::uint64_t>(me, 64) = random();
      REQUIRE(messages.perform(messages.check(task, me), me));
      REQUIRE(pes.at<std::uint64_t>(peer, task.remote) == pes.at<std::uint64_t>(me, 64));
      ++waiting[{me, peer}];
    } else {
      const bool there = waiting[{peer, me}] > 0;
      REQUIRE(messages.perform(messages.check(task_of(Task::kReceive, me, peer), me), me) == there);
      waiting[{peer, me}] -= there ? 1 : 0;
      ++(there ? received : refused);
    }
    REQUIRE(messages.perform(messages.check(task_of(Task::kFlush, me, 0), me), me));
  }
  CHECK(received > 300);
  CHECK(refused > 30);
}

}  // namespace
}  // namespace lockstep::shmem
