// What `info` says of devices and of the network, against counting over memory kept byte by byte.
#include "cli/info_devices.hpp"

#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <vector>

#include "tests/random.hpp"
#include "trace/kernel_trace.hpp"

namespace lockstep::cli {
namespace {

using test::Random32;
using trace::Command;
using trace::HostTask;
using trace::NetOperation;
using Kind = Command::Kind;

constexpr std::uint16_t kDevices = 4;
constexpr Address kPieces = 32, kPieceBytes = 0x100;  // of a small address space
constexpr std::uint16_t kTeam = 0xff;                 // the owner of a multicast address

Command command_of(Kind kind, Random32& random) {
  Command c{kind};
  c.device = static_cast<std::uint16_t>(random() % kDevices);
  c.address = random() % kPieces * kPieceBytes;
  c.source = random() % kPieces * kPieceBytes;
  c.bytes = 1 + random() % 1000;
  return c;
}

/// Who has each piece; nothing: the one who asks.
class Owners {
 public:
  void place(const Command& c, std::uint16_t owner) {
    for (Address at = c.address; at < c.address + c.bytes; at += kPieceBytes)
      owners_[at / kPieceBytes] = owner;
  }
  [[nodiscard]] std::uint16_t of(Address address, std::uint16_t asker) const {
    const auto found = owners_.find(address / kPieceBytes);
    return found == owners_.end() ? asker : found->second;
  }

 private:
  std::map<Address, std::uint16_t> owners_;
};

void check_same(const DeviceInfo& found, const DeviceInfo& expected) {
  CHECK(found.kernels == expected.kernels);
  CHECK(found.copies.to_device == expected.copies.to_device);
  CHECK(found.copies.to_device_bytes == expected.copies.to_device_bytes);
  CHECK(found.copies.to_host == expected.copies.to_host);
  CHECK(found.copies.to_host_bytes == expected.copies.to_host_bytes);
  CHECK(found.peer_copies == expected.peer_copies);
  CHECK(found.peer_bytes_to == expected.peer_bytes_to);
  CHECK(found.multicast_bytes == expected.multicast_bytes);
}

HostTask task_of(Random32& random) {
  HostTask task;
  task.kind = static_cast<HostTask::Kind>(random() % HostTask::kKinds);
  task.bytes = random() % 5000;
  return task;
}

}  // namespace

TEST_CASE("info: commands of random traces are counted for the device that they concern") {
  constexpr Kind kKinds[] = {
      Kind::kCopyToDevice,       Kind::kCopyToHost,       Kind::kKernel, Kind::kWait,
      Kind::kStreamCopyToDevice, Kind::kStreamCopyToHost, Kind::kFill,   Kind::kDeviceCopy,
      Kind::kPeerCopy,           Kind::kPeerCopy,         Kind::kPlace,  Kind::kMulticast};
  std::uint64_t peers = 0;
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    Random32 random(seed);
    std::vector<Command> commands;
    std::vector<DeviceInfo> expected(kDevices);
    for (DeviceInfo& device : expected) device.peer_bytes_to.resize(kDevices);
    std::map<std::pair<std::uint16_t, Address>, std::uint64_t> multicast;
    Owners owners;
    for (int i = 0; i < 150; ++i) {
      Command c = command_of(kKinds[random() % std::size(kKinds)], random);
      if (i == 0) c.device = kDevices - 1;  // all of them are there
      if (c.kind == Kind::kPlace || c.kind == Kind::kMulticast) c.bytes = kPieceBytes * (1 + random() % 4);
      commands.push_back(c);
      DeviceInfo& own = expected[c.device];
      own.kernels += c.kind == Kind::kKernel;
      if (c.kind == Kind::kPlace) owners.place(c, c.device);
      if (c.kind == Kind::kMulticast) {
        owners.place(c, kTeam);
        multicast[{c.device, c.address}] = c.bytes;
      }
      if (c.kind == Kind::kCopyToDevice || c.kind == Kind::kStreamCopyToDevice) {
        ++own.copies.to_device;
        own.copies.to_device_bytes += c.bytes;
      }
      if (c.kind == Kind::kCopyToHost || c.kind == Kind::kStreamCopyToHost) {
        ++own.copies.to_host;
        own.copies.to_host_bytes += c.bytes;
      }
      const std::uint16_t from = owners.of(c.source, c.device), to = owners.of(c.address, c.device);
      if (c.kind != Kind::kPeerCopy || from == kTeam || to == kTeam) continue;
      ++expected[from].peer_copies;
      expected[from].peer_bytes_to[to] += c.bytes;
      ++peers;
    }
    for (const auto& [of, bytes] : multicast) expected[of.first].multicast_bytes += bytes;
    const auto found = devices_info(commands);
    REQUIRE(found.size() == kDevices);
    CopyTotals sum;
    for (std::size_t d = 0; d < kDevices; ++d) {
      CAPTURE(seed, d);
      check_same(found[d], expected[d]);
      sum.to_device += expected[d].copies.to_device;
      sum.to_host_bytes += expected[d].copies.to_host_bytes;
    }
    CHECK(copies_of(found).to_device == sum.to_device);
    CHECK(copies_of(found).to_host_bytes == sum.to_host_bytes);
  }
  CHECK(peers > 200);
}

TEST_CASE("info: operations of the network and tasks of hosts are counted by kind, for their device") {
  for (std::uint32_t seed = 0; seed < 40; ++seed) {
    Random32 random(seed);
    std::vector<Command> commands;
    std::vector<NetworkInfo> expected(kDevices);
    for (int i = 0; i < 200; ++i) {
      constexpr Kind kKinds[] = {Kind::kKernel, Kind::kNetMemory, Kind::kNetQueue, Kind::kNetOperation,
                                 Kind::kHostTask};
      Command c = command_of(kKinds[random() % std::size(kKinds)], random);
      c.operation.target = i == 0 ? kDevices - 1 : 0;
      if (i == 0) c.kind = Kind::kNetOperation;
      NetworkInfo& own = expected[c.device];
      own.queues += c.kind == Kind::kNetQueue;
      if (c.kind == Kind::kNetOperation) {
        c.operation.kind = static_cast<NetOperation::Kind>(random() % NetOperation::kKinds);
        c.operation.bytes = random() % 3000;
        c.operation.signal = random() % 2 == 0 ? 0 : 0x1000;
        ++own.operations[static_cast<std::size_t>(c.operation.kind)];
        own.bytes[static_cast<std::size_t>(c.operation.kind)] += c.operation.bytes;
        own.signals += c.operation.signal != 0;
      }
      if (c.kind == Kind::kHostTask) {
        c.task = task_of(random);
        const HostTask::Kind as = trace::counted_as(c.task.kind);
        ++own.tasks[static_cast<std::size_t>(as)];
        if (as == HostTask::Kind::kSend) own.sent_bytes += c.task.bytes;
      }
      commands.push_back(c);
    }
    const auto found = network_info(commands);
    REQUIRE(found.size() == kDevices);
    for (std::size_t d = 0; d < kDevices; ++d) {
      CAPTURE(seed, d);
      CHECK(found[d].queues == expected[d].queues);
      CHECK((found[d].operations == expected[d].operations && found[d].bytes == expected[d].bytes));
      CHECK(found[d].signals == expected[d].signals);
      CHECK((found[d].tasks == expected[d].tasks && found[d].sent_bytes == expected[d].sent_bytes));
    }
  }
}

TEST_CASE("info: a trace of one device has one, and one without a network none for it") {
  CHECK(devices_info({}).size() == 1);
  CHECK(network_info({}).empty());
  Command c{Kind::kKernel};
  CHECK(devices_info({c}).size() == 1);
  CHECK(network_info({c}).empty());
  c.device = 63;
  CHECK(devices_info({c}).size() == 64);
}

}  // namespace lockstep::cli
