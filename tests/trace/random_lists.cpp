// Lists of random commands: read as they were written, also through a compact trace; and each field out of
// range is named with its line.
#include <fmt/format.h>

#include <set>

#include "compact_support.hpp"
#include "trace/host_task_code.hpp"
#include "trace/kernel_list.hpp"

using namespace lockstep;
using namespace lockstep::trace;
using namespace lockstep::trace::test;
using Kind = Command::Kind;

namespace {

auto all_fields(const Command& c) {
  const NetOperation& o = c.operation;
  const HostTask& t = c.task;
  return std::tuple(std::tuple(c.kind, c.address, c.bytes, c.kernel, c.stream, c.source, c.device, c.thread,
                               c.call, c.graph_node, c.timestamp),
                    std::tuple(o.kind, o.blocking, o.inlined, o.target, o.queue, o.ready, o.local, o.remote,
                               o.bytes, o.signal),
                    std::tuple(t.kind, t.within, t.peer, t.instructions, t.bytes, t.local, t.remote));
}

/// A command and the line that says it.
struct ListedCommand {
  Command command;
  std::string line;
};

class ListMaker {
 public:
  explicit ListMaker(std::uint32_t seed) : random_(seed) {}

  ListedCommand next() {
    ListedCommand out;
    out.command.device = device_;
    const unsigned which = random_() % 17;
    if (which < 3)
      kernel(out, which == 0);
    else if (which < 5)
      copy(out, which == 3);
    else if (which < 7)
      stream_copy(out, which == 5);
    else if (which < 10)
      event(out);
    else if (which < 14)
      memory(out);
    else if (which == 14)
      operation(out.command.operation, out);
    else if (which == 15)
      call(out);
    else
      task(out.command.task, out);
    return out;
  }
  /// "Device,N" before what follows.
  std::string device() {
    device_ = static_cast<std::uint16_t>(random_() % Command::kMaxDevices);
    return fmt::format("Device,{}\n", device_);
  }

 private:
  std::uint64_t wide() { return (std::uint64_t{random_()} << 32 | random_()) >> random_() % 64; }

  void kernel(ListedCommand& out, bool node) {
    out.command.kind = Kind::kKernel;
    out.command.kernel = kernels_++;
    out.command.graph_node = node;
    out.line = node ? "GraphNode,kernel-1.traceg" : "kernel-1.traceg";
  }
  void copy(ListedCommand& out, bool to_device) {
    Command& c = out.command;
    c.kind = to_device ? Kind::kCopyToDevice : Kind::kCopyToHost;
    c.address = wide();
    c.bytes = wide();
    out.line = fmt::format("{},0x{:x},{}", to_device ? "MemcpyHtoD" : "MemcpyDtoH", c.address, c.bytes);
  }
  void stream_copy(ListedCommand& out, bool to_device) {
    copy(out, to_device);
    out.command.kind = to_device ? Kind::kStreamCopyToDevice : Kind::kStreamCopyToHost;
    out.command.stream = wide();
    out.line += fmt::format(" , {}", out.command.stream);
  }
  void event(ListedCommand& out) {
    Command& c = out.command;
    c.stream = wide();
    if (events_ > 0 && random_() % 2 == 0) {
      const bool host = random_() % 2 == 0;
      c.kind = host ? Kind::kEventWait : Kind::kStreamWait;
      if (host) c.stream = 0;
      c.event = random_() % events_;
      out.line =
          host ? fmt::format("EventWait,{}", c.event) : fmt::format("StreamWait,{},{}", c.stream, c.event);
      return;
    }
    ++events_;
    c.kind = Kind::kEventRecord;
    c.timestamp = static_cast<Command::Timestamp>(random_() % Command::kTimestamps);
    out.line = c.timestamp == Command::Timestamp::kNone
                   ? fmt::format("EventRecord,{}", c.stream)
                   : fmt::format("Timestamp,{},{}", c.stream, static_cast<unsigned>(c.timestamp));
  }
  void memory(ListedCommand& out) {
    Command& c = out.command;
    c.address = wide();
    c.bytes = wide();
    c.source = wide();
    switch (random_() % 6) {
      case 0:
        c = Command{Kind::kWait};
        c.device = device_;
        out.line = "Wait";
        return;
      case 1:
        c.kind = Kind::kPeerCopy;
        c.stream = wide();
        out.line = fmt::format("MemcpyPeer,{:x},{:#x},{},{}", c.address, c.source, c.bytes, c.stream);
        return;
      case 2:
      case 3:
        c.kind = random_() % 2 == 0 ? Kind::kPlace : Kind::kNetMemory;
        c.source = 0;
        out.line =
            fmt::format("{},{:#x},{}", c.kind == Kind::kPlace ? "Place" : "NetMemory", c.address, c.bytes);
        return;
      default:
        c.kind = random_() % 2 == 0 ? Kind::kMulticast : Kind::kNetQueue;
        out.line = fmt::format("{},{:#x},{:#x},{}", c.kind == Kind::kMulticast ? "Multicast" : "NetQueue",
                               c.address, c.source, c.bytes);
    }
  }
  void operation(NetOperation& o, ListedCommand& out) {
    out.command.kind = Kind::kNetOperation;
    o.kind = static_cast<NetOperation::Kind>(random_() % NetOperation::kKinds);
    o.blocking = random_() % 2 == 0;
    o.inlined = random_() % 2 == 0;
    o.target = static_cast<std::uint16_t>(random_() % Command::kMaxDevices);
    o.queue = random_();
    o.ready = random_();
    if (o.kind != NetOperation::Kind::kQuiet) {
      o.local = wide();
      o.remote = wide();
      o.bytes = wide();
    }
    if (o.kind == NetOperation::Kind::kPut) o.signal = wide();
    out.line = fmt::format("NetOperation,{},{},{},{},{},{:#x},{:#x},{},{:#x}", static_cast<unsigned>(o.kind),
                           (o.blocking ? 1 : 0) + (o.inlined ? 2 : 0), o.target, o.queue, o.ready, o.local,
                           o.remote, o.bytes, o.signal);
  }
  void call(ListedCommand& out) {
    Command& c = out.command;
    c.kind = Kind::kHostCall;
    c.thread = random_() % Command::kMaxThreads;
    c.call = static_cast<Command::Call>(random_() % Command::kCalls);
    out.line = fmt::format("HostCall,{},{}", c.thread, static_cast<unsigned>(c.call));
  }
  void task(HostTask& t, ListedCommand& out) {
    out.command.kind = Kind::kHostTask;
    t.kind = static_cast<HostTask::Kind>(random_() % HostTask::kKinds);
    t.within = random_() % 2 == 0;
    if (names_message(t.kind) || t.kind == HostTask::Kind::kSend || t.kind == HostTask::Kind::kReceive)
      t.peer = static_cast<std::uint16_t>(random_() % Command::kMaxDevices);
    if (t.kind == HostTask::Kind::kCompute) t.instructions = wide();
    if (names_message(t.kind)) t.instructions = random_() % kMaxMessages;
    if (moves_data(t.kind)) {
      t.bytes = wide();
      t.local = wide();
      t.remote = wide();
    }
    if (t.kind == HostTask::Kind::kCompute) t.bytes = wide();
    out.command.stream = wide();
    out.line = fmt::format("HostTask,{},{},{},{},{:#x},{:#x},{}", code_of(t), t.peer, t.instructions, t.bytes,
                           t.local, t.remote, out.command.stream);
  }

  Random random_;
  std::uint16_t device_ = 0;
  std::uint32_t kernels_ = 0, events_ = 0;
};

std::string list_error(const std::string& text) {
  try {
    (void)read_kernel_list(TextStream(open_memory(text), "list"));
  } catch (const InputError& e) {
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE("Random commands of a list are read as they were written, and kept by a compact trace") {
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    const TemporaryFolder dir;
    dir.write("kernel-1.traceg", small_trace({"0000 ffffffff 1 R1 MOV 0 0 0"}));
    ListMaker maker(seed);
    std::vector<Command> expected;
    std::string text;
    for (int i = 0; i < 60; ++i) {
      if (i % 7 == 6) text += maker.device();
      const ListedCommand next = maker.next();
      expected.push_back(next.command);
      text += next.line + (i % 5 == 0 ? "\r\n\n# ----\n" : "\n");
    }
    expected.push_back(Command{Kind::kKernel});
    for (const Command& c : expected)
      expected.back().kernel += &c != &expected.back() && c.kind == Kind::kKernel;
    expected.back().device = expected[expected.size() - 2].device;
    const auto set = open_trace(dir.write("kernelslist.g", text + "kernel-1.traceg\n"));
    const std::string compact = dir / "t.lst";
    write_compact(*set, compact, {.level = 1});
    const auto again = open_trace(compact);
    REQUIRE(set->commands().size() == expected.size());
    REQUIRE(again->commands().size() == expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      CAPTURE(i);
      REQUIRE(all_fields(set->commands()[i]) == all_fields(expected[i]));
      REQUIRE(all_fields(again->commands()[i]) == all_fields(expected[i]));
      if (expected[i].kind != Kind::kStreamWait && expected[i].kind != Kind::kEventWait) continue;
      REQUIRE(set->commands()[i].event == expected[i].event);
      REQUIRE(again->commands()[i].event == expected[i].event);
    }
  }
}

TEST_CASE(
    "Fields of a list's commands that are missing, too many or out of range are named with their line") {
  const std::pair<const char*, const char*> rows[] = {
      {"Wait,1", "Wait"},
      {"EventRecord,", "EventRecord,STREAM"},
      {"EventRecord,-1", "EventRecord,STREAM"},
      {"Timestamp,1,0", "Timestamp,STREAM,WHOSE"},
      {"Timestamp,1,3", "Timestamp,STREAM,WHOSE"},
      {"EventWait,4294967296", "EventWait,EVENT"},
      {"EventWait,0x0", "EventWait,EVENT"},
      {"MemcpyPeer,0x10,0x20,8,s", "MemcpyPeer,TO,FROM,BYTES,STREAM"},
      {"Place,0x11112222333344445,8", "Place,ADDRESS,BYTES"},
      {"Place,0x10,18446744073709551616", "Place,ADDRESS,BYTES"},
      {"NetQueue,0x10,0x20,8,8", "NetQueue,ADDRESS,READ_INDEX,BYTES"},
      {"HostCall,65536,0", "HostCall,THREAD,CALL"},
      {"HostCall,0,3", "HostCall,THREAD,CALL"},
      {"HostTask,32,0,0,0,0x0,0x0,0", "HostTask,KIND,PEER,INSTRUCTIONS,BYTES,LOCAL,REMOTE,STREAM"},
      {"HostTask,0,64,0,0,0x0,0x0,0", "HostTask,KIND,PEER,INSTRUCTIONS,BYTES,LOCAL,REMOTE,STREAM"},
      {"HostTask,0,0,0,0,0x0,0x0", "HostTask,KIND,PEER,INSTRUCTIONS,BYTES,LOCAL,REMOTE,STREAM"},
  };
  for (const auto& [line, form] : rows)
    CHECK(list_error(std::string("kernel-1.traceg\n\n") + line + "\n") ==
          fmt::format("list:3: found '{}'; expected '{}', addresses hexadecimal and other numbers decimal",
                      line, form));
  CHECK(list_error("GraphNode,\n") ==
        "list:1: found 'GraphNode,'; expected 'GraphNode,FILE' with a kernel's file");
  CHECK(list_error("GraphNode,Wait\n") ==
        "list:1: found 'GraphNode,Wait'; expected 'GraphNode,FILE' with a kernel's file");
  for (const char* bad : {"Device", "Device,", "Device,1,2", "Device,64", "Device,-1", "Device,0x1"})
    CHECK(list_error(bad) == fmt::format("list:1: found '{}'; expected 'Device,N' with N from 0 to 63", bad));
  CHECK(list_error("Wait\n") == "list:1: the list names no kernel; expected lines such as 'kernel-1.traceg'");
  CHECK(list_error("HostTask,0,0,1,0,0x0,0x0,0\n").empty());  // hosts alone need no kernel
}

TEST_CASE("Commands that are not modelled are remarks, each once and at most 100 of them") {
  std::string text = "kernel-1.traceg\n";
  for (int i = 0; i < 300; ++i) text += fmt::format("cudaThing{},1\ncudaThing{},2\n", i, i / 2);
  const KernelList list = read_kernel_list(TextStream(open_memory(text), "list"));
  REQUIRE(list.remarks.size() == 100);
  CHECK(list.remarks.front() == "list command 'cudaThing0' is not modelled");
  CHECK(std::set<std::string>(list.remarks.begin(), list.remarks.end()).size() == 100);
  CHECK(list.commands.size() == 1);
}
