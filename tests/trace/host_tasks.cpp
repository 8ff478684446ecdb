// Tasks of hosts in lists and in compact traces.
#include <random>

#include "compact_support.hpp"
#include "trace/compact_directory.hpp"

using namespace lockstep;
using namespace lockstep::trace;
using namespace lockstep::trace::test;
using Task = HostTask::Kind;

namespace {

auto fields(const Command& c) {
  const HostTask& t = c.task;
  return std::tuple(c.kind, c.device, c.stream, t.kind, t.within, t.peer, t.instructions, t.bytes, t.local,
                    t.remote);
}

}  // namespace

TEST_CASE("A list of hosts' tasks needs no kernel, and a compact trace keeps it") {
  const TemporaryFolder dir;
  const auto open = [&](const std::string& text) { return open_trace(dir.write("kernelslist.g", text)); };
  const auto set = open(
      "HostTask,0,0,1000,2000,0x0,0x0,0\nDevice,1\nHostTask,5,3,0,4096,0x10000,0x20000,7\n"
      "HostTask,2,3,0,0,0x0,0x0,7\nHostTask,7,0,0,0,0x0,0x0,7\n");
  const auto check = [](const TraceSet& trace) {
    CHECK(trace.kernels().empty());
    const auto& c = trace.commands();
    REQUIRE(c.size() == 4);
    const auto task = [](Task kind, bool within, std::uint16_t peer, std::uint64_t instructions,
                         std::uint64_t bytes, Address local, Address remote, std::uint16_t device,
                         std::uint64_t stream) {
      return std::tuple(Command::Kind::kHostTask, device, stream, kind, within, peer, instructions, bytes,
                        local, remote);
    };
    CHECK(fields(c[0]) == task(Task::kCompute, false, 0, 1000, 2000, 0, 0, 0, 0));
    CHECK(fields(c[1]) == task(Task::kSend, true, 3, 0, 4096, 0x10000, 0x20000, 1, 7));
    CHECK(fields(c[2]) == task(Task::kReceive, false, 3, 0, 0, 0, 0, 1, 7));
    CHECK(fields(c[3]) == task(Task::kFlush, true, 0, 0, 0, 0, 0, 1, 7));
    CHECK(devices_of(c) == 4);
  };
  check(*set);
  const std::string compact = dir / "t.lst";
  write_compact(*set, compact, {});
  check(*open_trace(compact));
  CHECK(slurp(compact)[8] == 7);
  // One-sided operations of an MPI library are newer.
  write_compact(*open("HostTask,22,1,0,8,0x8,0x10,0\nHostTask,28,1,0,0,0x0,0x0,0\n"), compact, {});
  CHECK(open_trace(compact)->commands().at(1).task.kind == Task::kDone);
  CHECK(slurp(compact)[8] == 10);
  write_compact(*open("HostTask,30,0,0,99,0x0,0x0,0\n"), compact, {});
  CHECK(open_trace(compact)->commands().at(0).task.bytes == 99);
  CHECK(slurp(compact)[8] == 11);
  for (const char* line :
       {"HostTask,0,0,0,0,0x0,0x0", "HostTask,32,0,0,0,0x0,0x0,0", "HostTask,8,0,16777216,0,0x0,0x0,0",
        "HostTask,1,64,0,0,0x0,0x0,0", "HostTask,0,0,x,0,0x0,0x0,0", "HostTask,0,0,0,0,x,0x0,0",
        "HostTask,0,0,0,0,0x0,0x0,x"})
    CHECK_THROWS_WITH(
        open(std::string("HostTask,3,0,0,0,0x0,0x0,0\n") + line + "\n"),
        Catch::Matchers::Contains("kernelslist.g:2: found '" + std::string(line) + "'; expected '"));
  CHECK_THROWS_WITH(open("Device,1\nWait\n"), Catch::Matchers::Contains("the list names no kernel"));
}

TEST_CASE("Tasks of hosts are read as they were written, and cut ones refused") {
  std::mt19937_64 random(1);  // NOLINT: the same in every run
  for (int i = 0; i < 500; ++i) {
    const auto wide = [&] { return random() >> random() % 64; };
    Command command{Command::Kind::kHostTask};
    command.device = static_cast<std::uint16_t>(random() % Command::kMaxDevices);
    command.stream = wide();
    HostTask& t = command.task;
    t.kind = static_cast<Task>(random() % HostTask::kKinds);
    t.within = random() % 2 != 0;
    if (t.kind == Task::kCompute) t.instructions = wide();
    if (is_library_task(t.kind)) t.instructions = random() % (t.kind == Task::kCall ? 3 : kMaxMessages);
    if (t.kind == Task::kSend || t.kind == Task::kReceive || names_message(t.kind))
      t.peer = static_cast<std::uint16_t>(random() % Command::kMaxDevices);
    if (t.kind == Task::kCompute || t.kind == Task::kElapse || moves_data(t.kind)) t.bytes = wide();
    if (moves_data(t.kind)) t.local = wide(), t.remote = wide();
    Bytes bytes;
    encode_command(command, bytes);
    ByteReader in(bytes);
    CHECK(fields(decode_command(in, 0, 0)) == fields(command));
    CHECK(in.left() == 0);
    bytes.pop_back();
    ByteReader cut(bytes);
    CHECK_THROWS_AS(decode_command(cut, 0, 0), BrokenBlock);
  }
  for (const Bytes& wrong : {Bytes{26, 0, 32, 0}, Bytes{26, 0, 1, 64, 0, 0, 0}}) {
    ByteReader in(wrong);
    CHECK_THROWS_AS(decode_command(in, 1, 0), BrokenBlock);
  }
}
