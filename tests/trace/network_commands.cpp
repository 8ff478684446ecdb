// Commands of the network in lists and in compact traces.
#include <random>

#include "compact_support.hpp"
#include "trace/compact_directory.hpp"

using namespace lockstep;
using namespace lockstep::trace;
using namespace lockstep::trace::test;
using Kind = Command::Kind;
using Operation = NetOperation::Kind;

namespace {

bool same(const NetOperation& a, const NetOperation& b) {
  const auto fields = [](const NetOperation& o) {
    return std::tuple(o.kind, o.blocking, o.inlined, o.target, o.queue, o.ready, o.local, o.remote, o.bytes,
                      o.signal);
  };
  return fields(a) == fields(b);
}

}  // namespace

TEST_CASE("A list says what kernels ask of the network, and a compact trace keeps it") {
  const TemporaryFolder dir;
  dir.write("kernel-1.traceg", small_trace({"0000 ffffffff 1 R1 MOV 0 0 0"}));
  const auto open = [&](const std::string& text) { return open_trace(dir.write("kernelslist.g", text)); };
  const auto set = open(
      "Device,1\nNetMemory,0x10000,4096\nNetQueue,0x20000,0x30000,256\n"
      "NetOperation,0,2,3,0,4294967295,0x0,0x40000,8,0x50008\n"
      "NetOperation,1,1,0,0,3,0x60000,0x70000,65536,0x0\nNetOperation,2,1,0,7,5,0x60000,0x70004,4,0x0\n"
      "NetOperation,3,1,1,0,7,0x0,0x0,0,0x0\nkernel-1.traceg\n");
  const auto check = [](const TraceSet& trace) {
    const auto& c = trace.commands();
    REQUIRE(c.size() == 7);
    CHECK((c[0].kind == Kind::kNetMemory && c[0].address == 0x10000 && c[0].bytes == 4096));
    CHECK((c[1].kind == Kind::kNetQueue && c[1].address == 0x20000 && c[1].bytes == 256));
    CHECK(c[1].source == 0x30000);
    for (std::size_t i = 0; i < 6; ++i) CHECK(c[i].device == 1);
    CHECK(same(c[2].operation, {Operation::kPut, false, true, 3, 0, 0xffffffff, 0, 0x40000, 8, 0x50008}));
    CHECK(same(c[3].operation, {Operation::kGet, true, false, 0, 0, 3, 0x60000, 0x70000, 65536, 0}));
    CHECK(same(c[4].operation, {Operation::kAtomic, true, false, 0, 7, 5, 0x60000, 0x70004, 4, 0}));
    CHECK(same(c[5].operation, {Operation::kQuiet, true, false, 1, 0, 7, 0, 0, 0, 0}));
    CHECK(devices_of(c) == 4);
  };
  check(*set);
  const std::string compact = dir / "t.lst";
  write_compact(*set, compact, {});
  check(*open_trace(compact));
  CHECK(slurp(compact)[8] == 5);
  for (const char* line : {"NetMemory,0x10", "NetQueue,0x10,0x20", "NetOperation,4,0,0,0,0,0x0,0x0,0,0x0",
                           "NetOperation,0,4,0,0,0,0x0,0x0,0,0x0", "NetOperation,0,0,64,0,0,0x0,0x0,0,0x0",
                           "NetOperation,0,0,0,4294967296,0,0x0,0x0,0,0x0",
                           "NetOperation,0,0,0,0,0,x,0x0,0,0x0", "NetOperation,0,0,0,0,0,0x0,0x0,0"})
    CHECK_THROWS_WITH(
        open(std::string("kernel-1.traceg\n") + line + "\n"),
        Catch::Matchers::Contains("kernelslist.g:2: found '" + std::string(line) + "'; expected '"));
}

TEST_CASE("Commands of the network are read as they were written, and cut ones refused") {
  std::mt19937_64 random(1);  // NOLINT: the same in every run
  for (int i = 0; i < 500; ++i) {
    const auto wide = [&] { return random() >> random() % 64; };
    Command command{Kind::kNetOperation};
    command.device = static_cast<std::uint16_t>(random() % Command::kMaxDevices);
    NetOperation& o = command.operation;
    o.kind = static_cast<Operation>(random() % NetOperation::kKinds);
    o.blocking = random() % 2 != 0;
    o.inlined = random() % 2 != 0;
    o.target = static_cast<std::uint16_t>(random() % Command::kMaxDevices);
    o.queue = static_cast<std::uint32_t>(wide());
    o.ready = static_cast<std::uint32_t>(wide());
    if (o.kind != Operation::kQuiet) o.local = wide(), o.remote = wide(), o.bytes = wide();
    if (o.kind == Operation::kPut) o.signal = wide();
    Bytes bytes;
    encode_command(command, bytes);
    ByteReader in(bytes);
    const Command read = decode_command(in, 0, 0);
    CHECK((read.kind == command.kind && read.device == command.device && same(read.operation, o)));
    CHECK(in.left() == 0);
    bytes.pop_back();
    ByteReader cut(bytes);
    CHECK_THROWS_AS(decode_command(cut, 0, 0), BrokenBlock);
  }
}
