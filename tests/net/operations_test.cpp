// A NIC's operations, byte by byte: what is read, written and acknowledged, in whatever order and parts
// replies come.
#include "net/operations.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <string>
#include <vector>

#include "config/system_config.hpp"
#include "tests/net/port_bench.hpp"

namespace lockstep::test {
namespace {

using OperationKind = trace::NetOperation::Kind;
using MomentOf = net::Moment;

/// Device 0's NIC, whose operations all go to device 1. Local and remote data of an operation lie at the same
/// places of two large areas but for `shift` bytes, so that no two operations share a byte.
class NicRun {
 public:
  NicRun(std::uint32_t seed, std::uint32_t outstanding, std::uint32_t operations)
      : random_(seed),
        pending_(seed),
        system_(machine(outstanding, operations)),
        clock_(system_.devices.front().clock.core_khz),
        bench_(static_cast<std::uint16_t>(system_.nic_of(0)), system_.endpoints()),
        nic_(bench_.port, system_, clock_),
        pair_(kCommands, 0, 0) {
    pair_.commands = 0x1000;
    pair_.records = 0x9000;
    run();
  }

 private:
  static constexpr std::uint32_t kCommands = 24;
  static constexpr Address kLocal = Address{1} << 40, kRemote = Address{1} << 41, kSignals = Address{1} << 42;
  static constexpr std::uint64_t kEach = 1 << 12;

  static config::SystemConfig machine(std::uint32_t outstanding, std::uint32_t operations) {
    config::SystemConfig system = config::resolve_system("compnet_8", 2);
    system.network.nic.outstanding = outstanding;
    system.network.nic.operations = operations;
    return system;
  }

  [[nodiscard]] trace::NetOperation make(std::uint32_t number) {
    trace::NetOperation o;
    o.kind = static_cast<OperationKind>(random_() % 3);
    o.target = 1;
    const bool atomic = o.kind == OperationKind::kAtomic, put = o.kind == OperationKind::kPut;
    o.bytes = atomic ? 4 + 4 * (random_() % 2) : random_() % 4 == 0 ? random_() % 3 : 1 + random_() % 900;
    o.local = kLocal + number * kEach + (atomic ? 8 * (random_() % 40) : random_() % 300);
    o.remote = kRemote + number * kEach + (atomic ? 8 * (random_() % 40) : random_() % 300);
    o.inlined = put && random_() % 4 == 0;
    if (atomic && random_() % 3 == 0) o.local = 0;
    if (put && random_() % 2 == 0) o.signal = kSignals + number * 8;
    return o;
  }

  void run() {
    for (std::uint32_t i = 0; i < kCommands; ++i) {
      pair_.command[i].operation = make(i);
      expected_put_ += pair_.command[i].operation.kind == OperationKind::kGet ? 0 : operation(i).bytes;
      expected_got_ += pair_.command[i].operation.kind == OperationKind::kGet ? operation(i).bytes : 0;
    }
    std::uint32_t rung = 0;
    for (now_ = 0; rung < kCommands || !nic_.idle() || !pending_.empty(); ++now_) {
      REQUIRE(now_ < 200'000);
      if (rung < kCommands && random_() % 20 == 0) nic_.ring(now_, pair_, rung++);
      nic_.tick(now_);
      for (const link::Message& m : bench_.sent(now_)) take(m);
      REQUIRE(pending_.accesses() <= system_.network.nic.outstanding);
      for (auto n = random_() % 3; n > 0 && !pending_.empty(); --n)
        pending_.reply_to_one([&](const link::Message& request, const link::Message& reply) {
          note(request, reply.access.sectors);
          nic_.replied(now_, reply);
        });
      for (const link::Message& m : bench_.sent(now_)) take(m);
    }
    check_end();
  }

  [[nodiscard]] const trace::NetOperation& operation(std::uint32_t number) const {
    return pair_.command[number].operation;
  }
  [[nodiscard]] static std::uint32_t number_of(Address line, Address area) {
    return static_cast<std::uint32_t>((line - area) / kEach);
  }
  /// At device 0 or, by way of its NIC, at device 1.
  [[nodiscard]] bool is_remote_message(const link::Message& m) const {
    if (m.to == 0) return false;
    CHECK(m.to == system_.nic_of(1));
    CHECK(m.device() == 1);
    return true;
  }

  void take(const link::Message& m) {
    pending_.add(m);
    const icnt::Request& access = m.access;
    if (icnt::is_read(access.kind)) return;
    if (access.line >= kSignals) {
      take_signal(m);
    } else if (access.line < kLocal) {
      ++records_;
      REQUIRE(access.signals);
      check_complete(pair_.record[records_ - 1]);
    } else {
      take_write(m);
    }
  }
  void take_signal(const link::Message& m) {
    REQUIRE(is_remote_message(m));
    for (unsigned b = 0; b < kLineBytes; b += 8)
      if (m.access.bytes[b / 32] >> b % 32 & 1) {
        const auto number = static_cast<std::uint32_t>((m.access.line + b - kSignals) / 8);
        REQUIRE(m.after_data);
        REQUIRE(m.access.signals);
        REQUIRE(operation(number).signal != 0);
        REQUIRE(++signalled_[number] == 1);
        REQUIRE(written_[number] == operation(number).bytes);  // all data are on their way
      }
  }
  /// Of a put's or an atomic's data there, of a get's or an old value here.
  void take_write(const link::Message& m) {
    const bool remote = is_remote_message(m);
    const std::uint32_t number = number_of(m.access.line, remote ? kRemote : kLocal);
    const trace::NetOperation& o = operation(number);
    REQUIRE((m.access.kind == icnt::AccessKind::kAtomic) == (o.kind == OperationKind::kAtomic && remote));
    const Address begin = remote ? o.remote : o.local;
    const Address source = remote ? o.local : o.remote;
    for (unsigned b = 0; b < kLineBytes; ++b) {
      if ((m.access.bytes[b / 32] >> b % 32 & 1) == 0) continue;
      const Address at = m.access.line + b;
      REQUIRE(at - begin < o.bytes);
      REQUIRE(++bytes_[at] == 1);
      ++written_[number];
      // What it writes has come, unless the command had it, or it is an atomic's operand.
      if (o.kind != OperationKind::kAtomic && !o.inlined)
        REQUIRE(sectors_.contains((source + at - begin) / 32));
      if (o.kind == OperationKind::kAtomic && !remote) REQUIRE(acknowledged_[number] == o.bytes);
    }
  }
  /// A reply is about to be taken.
  void note(const link::Message& request, SectorMask sectors) {
    const icnt::Request& access = request.access;
    if (access.line < kLocal) return;
    if (icnt::is_read(access.kind)) {
      for (unsigned s = 0; s < kSectorsPerLine; ++s)
        if (sectors >> s & 1) sectors_[access.line / 32 + s] = true;
      return;
    }
    if (access.line >= kSignals) return;
    for (const std::uint32_t mask : access.bytes)
      acknowledged_[number_of(access.line, request.to == 0 ? kLocal : kRemote)] += bit_count(mask);
  }

  void check_complete(std::uint32_t number) {
    const trace::NetOperation& o = operation(number);
    const bool returns = o.kind == OperationKind::kAtomic && o.local != 0;
    REQUIRE(acknowledged_[number] == o.bytes * (returns ? 2 : 1));
    REQUIRE(signalled_[number] == (o.signal != 0 ? 1 : 0));
    net::Command& command = pair_.command[number];
    REQUIRE(command.moment(MomentOf::kRung) <= command.moment(MomentOf::kFetched));
    REQUIRE(command.moment(MomentOf::kFetched) < command.moment(MomentOf::kSent));
    REQUIRE(command.moment(MomentOf::kSent) <= command.moment(MomentOf::kComplete));
  }
  void check_end() {
    CHECK(records_ == kCommands);
    CHECK(pair_.records_written == kCommands);
    std::vector<std::uint32_t> places = pair_.record;
    std::ranges::sort(places);
    for (std::uint32_t i = 0; i < kCommands; ++i) CHECK(places[i] == i);
    const auto& counters = nic_.counters();
    CHECK(counters.begun[0] + counters.begun[1] + counters.begun[2] == kCommands);
    CHECK(counters.bytes_put == expected_put_);
    CHECK(counters.bytes_got == expected_got_);
    CHECK(counters.commands == kCommands);
    const net::DepthCounters depth = nic_.command_depth(clock_.ps(now_));
    std::uint64_t times = 0;
    for (net::Command& command : pair_.command)
      times += command.moment(MomentOf::kComplete) - command.moment(MomentOf::kRung);
    CHECK(depth.total_ps == times);
    CHECK(depth.entered == kCommands);
  }

  Random32 random_;
  Pending pending_;
  config::SystemConfig system_;
  net::Clock clock_;
  PortBench bench_;
  net::Operations nic_;
  net::QueuePair pair_;
  Cycle now_ = 0;
  std::uint32_t records_ = 0;
  std::uint64_t expected_put_ = 0, expected_got_ = 0;
  std::map<Address, unsigned> bytes_;                              // how often each has been written
  std::map<Address, bool> sectors_;                                // that have been read
  std::map<std::uint32_t, std::uint64_t> written_, acknowledged_;  // by operation: bytes
  std::map<std::uint32_t, unsigned> signalled_;
};

}  // namespace

TEST_CASE("Operations: each byte is written once, from what was read, and signals and records come last") {
  for (std::uint32_t seed = 0; seed < 3; ++seed)
    for (const std::uint32_t outstanding : {1u, 3u, 64u}) {
      CAPTURE(seed, outstanding);
      const NicRun run(seed, outstanding, seed % 3 == 0 ? 1 : 8);
    }
}

TEST_CASE("Operations: a command that has been fetched is under way while the NIC processes it") {
  config::SystemConfig system = config::resolve_system("compnet_8", 2);
  system.network.nic.process_ps = 100'000;
  const net::Clock clock(system.devices.front().clock.core_khz);
  PortBench bench(static_cast<std::uint16_t>(system.nic_of(0)), system.endpoints());
  net::Operations nic(bench.port, system, clock);
  net::QueuePair pair(4, 0, 0);
  pair.command[0].operation.kind = OperationKind::kPut;
  pair.command[0].operation.target = 1;
  nic.ring(0, pair, 0);
  nic.tick(0);
  const auto fetch = bench.sent(0);
  REQUIRE(fetch.size() == 1);
  link::Message reply = fetch[0];
  reply.is_reply = true;
  nic.replied(10, reply);
  const Cycle processed = 10 + clock.cycles(100'000);
  for (Cycle now = 10; now < processed; ++now) {
    nic.tick(now);
    CHECK_FALSE(nic.idle());
    CHECK(nic.next_event(now) == processed);
  }
  CHECK(bench.sent(processed - 1).empty());
  nic.tick(processed);
  CHECK(bench.sent(processed).size() == 1);  // nothing to move: the record
}

}  // namespace lockstep::test
