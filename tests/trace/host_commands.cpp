// Calls of host threads and nodes of graphs, in lists and in compact traces.
#include <random>

#include "compact_support.hpp"
#include "trace/compact_directory.hpp"

using namespace lockstep;
using namespace lockstep::trace;
using namespace lockstep::trace::test;
using Kind = Command::Kind;
using Call = Command::Call;

namespace {

struct Lists {
  TemporaryFolder dir;
  Lists() { dir.write("kernel-1.traceg", small_trace({"0000 ffffffff 1 R1 MOV 0 0 0"})); }
  std::unique_ptr<TraceSet> open(const std::string& text) {
    return open_trace(dir.write("kernelslist.g", text));
  }
};

}  // namespace

TEST_CASE("A list says who calls and which kernels are nodes of a graph, and a compact trace keeps it") {
  Lists lists;
  const auto set = lists.open(
      "HostCall,0,1\nkernel-1.traceg\nDevice,3\nHostCall,65535,0\nGraphNode,kernel-1.traceg\nWait\n"
      "HostCall,2,2\n");
  const auto check = [](const TraceSet& trace) {
    const auto& c = trace.commands();
    REQUIRE(c.size() == 6);
    CHECK((c[0].kind == Kind::kHostCall && c[0].thread == 0 && c[0].call == Call::kLaunch));
    CHECK((c[1].kind == Kind::kKernel && !c[1].graph_node));
    CHECK((c[2].kind == Kind::kHostCall && c[2].thread == 65535 && c[2].call == Call::kNothing));
    CHECK((c[3].kind == Kind::kKernel && c[3].graph_node && c[3].device == 3));
    CHECK(c[4].kind == Kind::kWait);
    CHECK((c[5].kind == Kind::kHostCall && c[5].thread == 2 && c[5].call == Call::kReturn));
    CHECK((c[5].device == 3 && c[0].device == 0));
  };
  check(*set);
  const std::string compact = lists.dir / "t.lst";
  write_compact(*set, compact, {});
  check(*open_trace(compact));
  CHECK(slurp(compact)[8] == 6);
  for (const char* line : {"HostCall,1", "HostCall,65536,0", "HostCall,0,3", "HostCall,x,0", "HostCall,0,0,0",
                           "GraphNode", "GraphNode,Wait"})
    CHECK_THROWS_WITH(
        lists.open(std::string("kernel-1.traceg\n") + line + "\n"),
        Catch::Matchers::Contains("kernelslist.g:2: found '" + std::string(line) + "'; expected '"));
}

TEST_CASE("A list says whose time an event's record is, and a compact trace keeps it") {
  Lists lists;
  const auto set = lists.open(
      "Timestamp,7,1\nkernel-1.traceg\nDevice,3\nTimestamp,18446744073709551615,2\nEventRecord,0\nEventWait,"
      "2\n");
  const auto check = [](const TraceSet& trace) {
    using Timestamp = Command::Timestamp;
    const auto& c = trace.commands();
    REQUIRE(c.size() == 5);
    CHECK((c[0].kind == Kind::kEventRecord && c[0].stream == 7 && c[0].timestamp == Timestamp::kEvent));
    CHECK((c[2].kind == Kind::kEventRecord && c[2].device == 3 && c[2].timestamp == Timestamp::kClock));
    CHECK(c[2].stream == ~std::uint64_t{0});
    CHECK((c[3].kind == Kind::kEventRecord && c[3].timestamp == Timestamp::kNone));
    CHECK(c[4].event == 2);
  };
  check(*set);
  const std::string compact = lists.dir / "t.lst";
  write_compact(*set, compact, {});
  check(*open_trace(compact));
  CHECK(slurp(compact)[8] == 9);
  for (const char* line :
       {"Timestamp,1", "Timestamp,1,0", "Timestamp,1,3", "Timestamp,x,1", "Timestamp,1,1,1"})
    CHECK_THROWS_WITH(
        lists.open(std::string("kernel-1.traceg\n") + line + "\n"),
        Catch::Matchers::Contains("kernelslist.g:2: found '" + std::string(line) + "'; expected '"));
  for (const Bytes& wrong : {Bytes{27, 0, 0}, Bytes{27, 0, 3}, Bytes{27, 0}, Bytes{28}, Bytes{32 + 28, 1}}) {
    ByteReader in(wrong);
    CHECK_THROWS_AS(decode_command(in, 1, 0), BrokenBlock);
  }
}

TEST_CASE("A trace that says nothing of its host keeps its version") {
  Lists lists;
  const auto set = lists.open("kernel-1.traceg\nWait\n");
  const std::string compact = lists.dir / "t.lst";
  write_compact(*set, compact, {});
  CHECK(slurp(compact)[8] == 4);
}

TEST_CASE("Calls and nodes are read as they were written, and cut ones refused") {
  std::mt19937_64 random(1);  // NOLINT: the same in every run
  for (int i = 0; i < 300; ++i) {
    Command command{i % 2 == 0 ? Kind::kHostCall : Kind::kKernel};
    command.device = static_cast<std::uint16_t>(random() % Command::kMaxDevices);
    command.graph_node = i % 2 != 0;
    if (i % 2 == 0) command.thread = static_cast<std::uint32_t>(random() % Command::kMaxThreads);
    if (i % 2 == 0) command.call = static_cast<Call>(random() % Command::kCalls);
    if (i % 2 != 0) command.kernel = static_cast<std::uint32_t>(random() % 1000);
    Bytes bytes;
    encode_command(command, bytes);
    ByteReader in(bytes);
    const Command read = decode_command(in, 1000, 0);
    const auto fields = [](const Command& c) {
      return std::tuple(c.kind, c.device, c.graph_node, c.thread, c.call, c.kernel);
    };
    CHECK(fields(read) == fields(command));
    CHECK(in.left() == 0);
    bytes.pop_back();
    ByteReader cut(bytes);
    CHECK_THROWS_AS(decode_command(cut, 1000, 0), BrokenBlock);
  }
  for (const Bytes& wrong : {Bytes{24, 0, 3}, Bytes{24, 0x80, 0x80, 4, 0}, Bytes{27}, Bytes{32 + 27, 1}}) {
    ByteReader in(wrong);
    CHECK_THROWS_AS(decode_command(in, 1, 0), BrokenBlock);
  }
}
