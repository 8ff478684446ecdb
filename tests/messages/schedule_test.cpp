// Recordings of MPI calls: how they are read, matched, and become tasks.
#include "messages/schedule.hpp"

#include "support.hpp"

namespace lockstep::test {
namespace {

using Catch::Matchers::Contains;
using trace::HostTask;
using Task = trace::HostTask::Kind;

std::vector<std::vector<messages::PlacedTask>> tasks(const Calls& calls,
                                                     const messages::Protocol& protocol = {}) {
  const TemporaryFolder folder;
  std::vector<messages::Recording> all;
  for (const auto& files : calls.write(folder.path())) all.push_back(messages::read_recording(files.calls));
  return messages::schedule(all, protocol);
}

/// The numbers of the messages for which a process waits, in its order.
std::vector<std::uint64_t> arrivals(const std::vector<messages::PlacedTask>& all) {
  std::vector<std::uint64_t> numbers;
  for (const auto& placed : all)
    if (placed.task.kind == Task::kArrived) numbers.push_back(placed.task.instructions);
  return numbers;
}

}  // namespace

TEST_CASE("Messages are matched by source, tag and communicator, and do not overtake") {
  Calls calls(2);
  for (const int tag : {7, 8, 7, 8, 9}) calls.send(0, 1, 8, tag);
  for (const int tag : {8, 9, 7, 8, 7}) calls.receive(1, 0, tag);
  CHECK(arrivals(tasks(calls)[1]) == std::vector<std::uint64_t>{1, 4, 0, 3, 2});
}

TEST_CASE(
    "Receives get their messages in the order in which they were posted, whenever they are waited for") {
  Calls calls(2);
  for (int i = 0; i < 3; ++i) calls.send(0, 1, 8, 5);
  const unsigned a = calls.irecv(1), b = calls.irecv(1), c = calls.irecv(1);
  calls.wait_received(1, c, 0, 5).wait_received(1, a, 0, 5).wait_received(1, b, 0, 5);
  CHECK(arrivals(tasks(calls)[1]) == std::vector<std::uint64_t>{2, 0, 1});
}

TEST_CASE("Communicators keep messages apart, and their ranks are translated") {
  Calls calls(3);
  for (unsigned p = 0; p < 3; ++p) calls.line(p, "C 1 99 3 2 0 1");
  calls.line(2, "S 0 0 0 1 1 5 8 0").line(2, "S 0 0 1 0 1 5 8 0");
  calls.line(1, "R 0 0 0 0 0").line(1, "W 0 1 0 2 5").line(1, "R 0 0 1 1 0").line(1, "W 0 1 1 2 5");
  CHECK(arrivals(tasks(calls)[1]) == std::vector<std::uint64_t>{1, 0});
  for (unsigned p = 0; p < 3; ++p) calls.line(p, "K 0 MPI_Gather 1 1 0 0 1 64");  // to process 0
  const auto all = tasks(calls);
  CHECK(all[1].back().task.kind == Task::kMessage);
  CHECK(all[1].back().task.peer == 0);
  CHECK(arrivals(all[0]).size() == 2);
}

TEST_CASE("A receive that got nothing takes nothing, a message that is not received is sent") {
  Calls calls(2);
  calls.irecv(1);
  calls.send(0, 1, 50000);
  const auto all = tasks(calls);
  CHECK(all[1].empty());
  REQUIRE(all[0].size() == 1);
  CHECK(all[0][0].task.kind == Task::kMessage);
}

TEST_CASE("A receive of a message that a probe has matched has the probe's place among the receives") {
  Calls calls(2);
  for (int i = 0; i < 2; ++i) calls.send(0, 1, 8, 5);
  calls.line(1, "R 0 0 1 0 0").line(1, "W 0 1 1 0 5");  // request 0 is that of the probe
  calls.line(1, "R 0 0 0 0 0").line(1, "W 0 1 0 0 5");
  CHECK(arrivals(tasks(calls)[1]) == std::vector<std::uint64_t>{1, 0});
}

TEST_CASE("A collective call with a request begins when it is made, and goes on when it is completed") {
  // Process 0 is the root of a binomial tree of four: to 2 and 1; 2 to 3.
  Calls calls(4);
  for (unsigned p = 0; p < 4; ++p)
    calls.line(p, "C 1 9 4 0 1 2 3")
        .line(p, "I 0 0 MPI_Bcast 1 0 0 0 1 8")
        .line(p, "K 0 MPI_Barrier 0 0 0 0 0")
        .line(p, "W 0 0 0");
  const auto all = tasks(calls);
  const auto kinds = [&](unsigned process) {
    std::string text;
    for (const auto& placed : all[process]) {
      text += placed.task.within ? '+' : '|';
      text += placed.task.kind == Task::kMessage   ? 'm'
              : placed.task.kind == Task::kArrived ? 'a'
              : placed.task.kind == Task::kSent    ? 's'
                                                   : 'e';
      if (placed.task.kind == Task::kMessage) text += std::to_string(placed.task.peer);
    }
    return text;
  };
  // The barrier, of another communicator, stands between: accept, send, arrived, twice.
  CHECK(kinds(0) == "|m2+m1|e+m1+a+e+m2+a|e");
  CHECK(kinds(2) == "|e|e+m3+a+e+m0+a|e+a+m3");
  CHECK(kinds(3) == "|e|e+m0+a+e+m1+a|e+a");
}

TEST_CASE("Neighbours exchange as many messages as there are edges between them") {
  // A ring of two: both neighbours of a process are the other one.
  Calls calls(2);
  for (unsigned p = 0; p < 2; ++p) {
    const std::string other = std::to_string(1 - p);
    calls.line(
        p, "K 0 MPI_Neighbor_alltoall 0 0 0 0 2 8 16 " + other + " " + other + " 2 " + other + " " + other);
  }
  const auto all = tasks(calls);
  CHECK(arrivals(all[0]) == std::vector<std::uint64_t>{0, 1});
  CHECK(all[0][3].task.bytes == 16);
}

TEST_CASE("Recordings that do not fit together are refused") {
  Calls calls(2);
  calls.receive(1, 0, 3);
  CHECK_THROWS_WITH(tasks(calls), Contains("process 1 receives a message of process 0 (tag 3)"));
}

TEST_CASE("A broken recording is refused with its line") {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "broken").string();
  const std::string head = "lockstep-mpi 1 0 2\nC 0 0 2 0 1\n";
  const auto reading = [&](const std::string& text) {
    std::ofstream(path) << text;
    return messages::read_recording(path);
  };
  CHECK(reading(head + "K 5 MPI_Barrier 0 0 0 0 0\nN MPI_Put\nE 6\n").complete);
  const std::pair<std::string, const char*> broken[] = {
      {"", "broken"},
      {"lockstep-mpi 2 0 2\n", ":1: "},
      {"lockstep-mpi 1 2 2\n", ":1: "},
      {"lockstep-mpi 1 0 65\n", ":1: "},
      {head + "S 0 0 0 0 2 0 8 0\n", ":3: found 'S 0 0 0 0 2 0 8 0'; expected a process"},
      {head + "S 0 0 0 1 1 0 8 0\n", "expected a communicator"},
      {head + "S 0 0 0 0 1 0 8\n", "expected an address"},
      {head + "S 0 0 0 0 1 0 8 0 0\n", "expected nothing more"},
      {head + "S 0 2 0 0 1 0 8 0\n", "expected 0 or 1"},
      {head + "W 0 0 0\n", "expected a request that has begun"},
      {head + "R 0 0 0 0 0\nW 0 0 0\n", ":4: "},
      {head + "R 9 0 0 0 0\nR 8 0 1 0 0\n", "expected a position not before"},
      {head + "R 0 0 0 0 0\nR 0 0 0 0 0\n", "expected a new request"},
      {head + "K 0 MPI_Bcast 0 2 0 0 1 8\n", "expected a root"},
      {head + "K 0 MPI_Bcast 0 0 0 0 2 8 8\n", "expected 1 sizes"},
      {head + "K 0 MPI_Foo 0 0 0 0 0\n", "a collective call's name"},
      {head + "C 2 0 1 0\n", "expected communicator 1"},
      {head + "E 0\nE 0\n", ":4: "},
      {head + "I 0 0 MPI_Foo 0 0 0 0 0\n", "a collective call's name"},
      {head + "I 0 0 MPI_Barrier 0 0 0 0 0\nI 0 0 MPI_Barrier 0 0 0 0 0\n", ":4: "},
      {head + "K 0 MPI_Scan 0 0 0 0 2 8 8\n", "expected 1 sizes"},
      {head + "K 0 MPI_Reduce_scatter 0 0 0 0 1 8\n", "expected 2 sizes"},
      {head + "K 0 MPI_Neighbor_alltoall 0 0 0 0 1 8 2 0\n", "expected a member, a number up to 1"},
      {head + "K 0 MPI_Neighbor_alltoall 0 0 0 0 1 8 1 1\n", "expected a member"},
      {head + "T\n", "expected a position, a number"},
      {head + "T 0 0\n", "expected nothing more"},
      {head + "T -1\n", "expected a position, a number"},
      {head + "T 5\nT 4\n", ":4: "},
      {head + "E 0\nT 0\n", "nothing behind the end"},
      {head + "Q\n", "expected one of"}};
  for (const auto& [text, expected] : broken) CHECK_THROWS_WITH(reading(text), Contains(expected));
}

TEST_CASE("A process that reads its clock too often is refused") {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "clock").string();
  std::string text = "lockstep-mpi 1 0 2\nC 0 0 2 0 1\n";
  for (std::uint64_t i = 0; i < messages::kMaxClockReads; ++i) text += "T 0\n";
  std::ofstream(path) << text << "E 0\n";
  CHECK(messages::read_recording(path).calls.size() == 1048576);
  std::ofstream(path) << text << "T 0\nE 0\n";
  CHECK_THROWS_WITH(messages::read_recording(path),
                    Contains("process 0 reads its clock (MPI_Wtime) more than 1048576 times"));
}

TEST_CASE("Processes of different programs, and one without its end, are refused") {
  const TemporaryFolder folder;
  auto files = Calls(2).write(folder.path());
  std::swap(files[0], files[1]);
  CHECK_THROWS_WITH(messages::JoinedTrace(files, {}, "p"), Contains("is of process 1 of 2; expected 0 of 2"));
  std::swap(files[0], files[1]);
  std::ofstream(files[1].calls) << "lockstep-mpi 1 1 2\n";
  CHECK_THROWS_WITH(messages::JoinedTrace(files, {}, "p"), Contains("process 1 has not called MPI_Finalize"));
}

}  // namespace lockstep::test
