// One-sided operations of MPI programs: what becomes of them, and what they take.
#include "messages/memory.hpp"
#include "messages/schedule.hpp"
#include "support.hpp"
#include "trace/compact_blocks.hpp"
#include "trace/compact_directory.hpp"

namespace lockstep::test {
namespace {

using Catch::Matchers::Contains;
using trace::HostTask;
using Task = trace::HostTask::Kind;

constexpr Address kGpu = Address{1} << 45;  // device memory of a process

/// A window of all processes, whose members have the numbers of the processes.
class Window : public Calls {
 public:
  explicit Window(unsigned processes, Address base = kGpu, unsigned unit = 4) : Calls(processes) {
    std::string members = std::to_string(processes);
    for (unsigned m = 0; m < processes; ++m) members += " " + std::to_string(m);
    for (unsigned p = 0; p < processes; ++p)
      line(p, "C 1 99 " + members).line(p, "V 1 " + std::to_string(base) + " " + std::to_string(unit));
  }
  Window& operate(unsigned process, const std::string& name, unsigned target, std::uint64_t bytes,
                  Address local = 0, Address result = 0, std::uint64_t displacement = 0) {
    line(process, "O 0 " + std::to_string(next_++) + " " + name + " 1 " + std::to_string(target) + " " +
                      std::to_string(bytes) + " " + std::to_string(local) + " " + std::to_string(result) +
                      " " + std::to_string(displacement));
    return *this;
  }
  Window& order(unsigned process, const std::string& name, const std::string& to = "0") {
    line(process, "Y 0 " + name + " 1 " + to);
    return *this;
  }
  Window& all(const std::string& name, const std::string& to = "0") {
    for (unsigned p = 0; p < processes(); ++p) order(p, name, to);
    return *this;
  }

 private:
  unsigned next_ = 1000;
};

std::vector<HostTask> tasks(const Calls& calls, unsigned process) {
  const TemporaryFolder folder;
  std::vector<messages::Recording> all;
  for (const auto& files : calls.write(folder.path())) all.push_back(messages::read_recording(files.calls));
  std::vector<HostTask> found;
  const auto scheduled = messages::schedule(all, {});
  for (const auto& placed : scheduled[process]) found.push_back(placed.task);
  return found;
}

std::vector<Task> kinds(const Calls& calls, unsigned process) {
  std::vector<Task> found;
  for (const HostTask& task : tasks(calls, process)) found.push_back(task.kind);
  return found;
}

}  // namespace

TEST_CASE("A put goes to the target's base, displaced by its units, a get comes from there") {
  Window calls(2, kGpu + 256, 8);
  calls.operate(0, "MPI_Put", 1, 16, kGpu + 64, 0, 3).operate(0, "MPI_Get", 1, 24, 12345, 0, 5);
  calls.order(0, "MPI_Win_flush_all");
  const auto all = tasks(calls, 0);
  REQUIRE(all.size() == 4);
  CHECK(all[0].kind == Task::kPut);
  CHECK(all[0].local == kGpu + 64);
  CHECK(all[0].remote == messages::moved(kGpu + 256 + 24, 1));
  CHECK(all[1].kind == Task::kGet);
  CHECK(all[1].local == trace::kHostMemory);
  CHECK(all[1].remote == messages::moved(kGpu + 256 + 40, 1));
  for (const unsigned i : {2u, 3u}) {
    CHECK(all[i].kind == Task::kDone);
    CHECK(all[i].instructions == i - 2);
    CHECK(all[i].within == (i == 3));
  }
}

TEST_CASE("A flush waits for the operations on its member, and each is waited for once") {
  Window calls(3);
  calls.operate(0, "MPI_Put", 1, 8).operate(0, "MPI_Put", 2, 8).operate(0, "MPI_Put", 1, 8);
  calls.order(0, "MPI_Win_flush", "1 1").order(0, "MPI_Win_flush", "1 1").order(0, "MPI_Win_flush_all");
  CHECK(kinds(calls, 0) == std::vector<Task>{Task::kPut, Task::kPut, Task::kPut, Task::kDone, Task::kDone,
                                             Task::kEnter, Task::kDone});
  CHECK(tasks(calls, 0).back().peer == 2);
}

TEST_CASE("One element of 4 or 8 bytes is an atomic, more are read, combined and put") {
  Window calls(2);
  calls.operate(0, "MPI_Fetch_and_op", 1, 8, 0, 0).operate(0, "MPI_Accumulate", 1, 320);
  calls.operate(0, "MPI_Fetch_and_op", 1, 8, 0, kGpu + 4);  // not where an atomic may write
  const auto all = tasks(calls, 0);
  const std::vector<Task> replaced{Task::kGet, Task::kDone, Task::kCompute, Task::kPut};
  std::vector<Task> expected{Task::kAtomic};
  for (int i = 0; i < 2; ++i) expected.insert(expected.end(), replaced.begin(), replaced.end());
  CHECK(kinds(calls, 0) == expected);
  CHECK(all[0].local == 0);
  CHECK(all[3].instructions == 50);
  CHECK(all[3].bytes == 3 * 320);
}

TEST_CASE("Operations on a process's own memory, and those of no bytes, are calls and no more") {
  Window calls(2);
  calls.operate(0, "MPI_Put", 0, 8).operate(0, "MPI_Get", 1, 0).order(0, "MPI_Win_lock", "1 0");
  calls.order(0, "MPI_Win_flush_all");
  CHECK(kinds(calls, 0) == std::vector<Task>(4, Task::kEnter));
}

TEST_CASE("Broken lines of windows are refused") {
  const auto reading = [](const std::string& text) { return tasks(Window(2).line(0, text), 0); };
  CHECK_THROWS_WITH(reading("V 2 0 1"), Contains("expected a communicator"));
  CHECK_THROWS_WITH(reading("V 0 0 4294967296"), Contains("expected a unit"));
  CHECK_THROWS_WITH(reading("O 0 0 MPI_Put 0 1 8 0 0 0"), Contains("expected a window"));
  CHECK_THROWS_WITH(reading("O 0 0 MPI_Foo 1 1 8 0 0 0"), Contains("a one-sided operation's name"));
  CHECK_THROWS_WITH(reading("O 0 0 MPI_Fetch_and_op 1 1 16 0 0 0"), Contains("expected 4 or 8 bytes"));
  CHECK_THROWS_WITH(reading("Y 0 MPI_Win_foo 1 0"), Contains("a call that orders operations"));
  CHECK_THROWS_WITH(reading("Y 0 MPI_Win_lock 1 1 2"), Contains("expected a member"));
  Calls one(2);
  one.line(0, "C 1 99 2 0 1").line(0, "V 1 0 1").line(0, "O 0 0 MPI_Put 1 1 8 0 0 0");
  CHECK_THROWS_WITH(tasks(one, 0),
                    Contains("process 0 accesses a window of process 1 that was not recorded"));
}

TEST_CASE("One-sided operations take a round trip, many at once as one") {
  const auto one = [](const std::string& name, std::uint64_t bytes, Address base, unsigned count = 1) {
    Window calls(2, base);
    for (unsigned i = 0; i < count; ++i) calls.operate(0, name, 1, bytes);
    return ways(calls.order(0, "MPI_Win_flush_all").order(0, "MPI_Win_flush_all"));
  };
  for (const Address base : {Address{0}, kGpu}) {
    INFO(base);
    CHECK(one("MPI_Put", 8, base) == Approx(2).margin(0.05));
    CHECK(one("MPI_Put", 20000, base) == Approx(2).margin(0.05));  // whatever --eager says
    CHECK(one("MPI_Get", 8, base) == Approx(2).margin(0.05));
    CHECK(one("MPI_Fetch_and_op", 8, base) == Approx(2).margin(0.05));
    CHECK(one("MPI_Put", 8, base, 16) == Approx(2).margin(0.05));
    CHECK(one("MPI_Accumulate", 400, base) == Approx(4).margin(0.05));  // a get, then a put
  }
}

TEST_CASE("A fence is a barrier after the operations, a lock a round trip, an unlock waits for none") {
  Window fences(8);
  for (unsigned p = 0; p < 8; ++p) fences.operate(p, "MPI_Put", (p + 3) % 8, 8);
  CHECK(ways(fences.all("MPI_Win_fence")) == Approx(2 + 3).margin(0.05));
  Window locks(2);
  for (int i = 0; i < 3; ++i)
    locks.order(0, "MPI_Win_lock", "1 1").operate(0, "MPI_Put", 1, 8).order(0, "MPI_Win_unlock", "1 1");
  CHECK(ways(locks) == Approx(3 * (2 + 2)).margin(0.1));
  // The target has posted; its data are there; it is told.
  Window epochs(2);
  epochs.order(1, "MPI_Win_post", "1 0").order(0, "MPI_Win_start", "1 1").operate(0, "MPI_Put", 1, 8);
  epochs.order(0, "MPI_Win_complete", "1 1").order(1, "MPI_Win_wait", "1 0");
  CHECK(ways(epochs) == Approx(1 + 2 + 1).margin(0.05));
}

TEST_CASE("A request of one operation waits for that one alone") {
  Window calls(2);
  calls.operate(0, "MPI_Get", 1, 8).line(0, "W 0 0 1000");
  calls.order(0, "MPI_Win_flush_all");
  CHECK(kinds(calls, 0) == std::vector<Task>{Task::kGet, Task::kDone, Task::kEnter});
}

TEST_CASE("Long puts and gets move at the slowest link's rate") {
  const auto time = [](const char* name, std::uint64_t bytes) {
    Window calls(2);
    calls.operate(0, name, 1, bytes, kGpu).order(0, "MPI_Win_flush_all");
    return time_of(calls.run(nodes(2, "inter_kernel")));
  };
  for (const char* name : {"MPI_Put", "MPI_Get"})
    CHECK((1 << 20) / (time(name, 2 << 20) - time(name, 1 << 20)) ==
          Approx(12.5 * 4096 / (4096 + 46)).epsilon(0.03));
}

TEST_CASE("One-sided operations in a compact trace are read as they were written") {
  Window calls(2);
  calls.operate(0, "MPI_Put", 1, 8).operate(0, "MPI_Get", 1, 9).operate(0, "MPI_Fetch_and_op", 1, 4);
  calls.order(0, "MPI_Win_flush_all");
  const messages::JoinedTrace trace = calls.join();
  trace::CompactDirectory directory;
  directory.commands = trace.commands();
  CHECK(trace::version_of(directory) == trace::kOneSidedVersion);
  trace::Bytes bytes;
  trace::encode_directory(directory, bytes);
  const auto read = trace::decode_directory(bytes, trace::kOneSidedVersion);
  trace::Bytes again;
  trace::encode_directory(read, again);
  CHECK(again == bytes);
  CHECK(read.commands.at(1).task.kind == trace.commands().at(1).task.kind);
}

}  // namespace lockstep::test
