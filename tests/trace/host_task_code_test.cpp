// Tasks of hosts and operations of the network in compact traces: every kind, with the numbers at its limits.
#include "trace/host_task_code.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <set>
#include <tuple>

#include "trace/kernel_trace.hpp"
#include "trace/net_operation_code.hpp"

namespace lockstep::trace {
namespace {

using HostKind = HostTask::Kind;
constexpr std::uint64_t kHuge = ~std::uint64_t{0};

/// What a kind has besides its code (docs/trace-format.md).
struct HostFields {
  HostKind kind;
  bool number, peer, bytes, places;
};
constexpr std::array<HostFields, HostTask::kKinds> kHostFields{{
    {HostKind::kCompute, true, false, true, false},
    {HostKind::kSend, false, true, true, true},
    {HostKind::kReceive, false, true, false, false},
    {HostKind::kFlush, false, false, false, false},
    {HostKind::kMessage, true, true, true, true},
    {HostKind::kOffer, true, true, true, true},
    {HostKind::kAccept, true, true, false, false},
    {HostKind::kArrived, true, true, false, false},
    {HostKind::kSent, true, true, false, false},
    {HostKind::kEnter, true, false, false, false},
    {HostKind::kCall, true, false, false, false},
    {HostKind::kPut, true, true, true, true},
    {HostKind::kGet, true, true, true, true},
    {HostKind::kAtomic, true, true, true, true},
    {HostKind::kDone, true, true, false, false},
    {HostKind::kElapse, false, false, true, false},
}};

auto fields_of(const HostTask& t) {
  return std::tuple(t.kind, t.within, t.peer, t.instructions, t.bytes, t.local, t.remote);
}
auto fields_of(const NetOperation& o) {
  return std::tuple(o.kind, o.blocking, o.inlined, o.target, o.queue, o.ready, o.local, o.remote, o.bytes,
                    o.signal);
}

template <class Decode>
std::string refusal(const Bytes& bytes, Decode decode) {
  ByteReader reader(bytes);
  try {
    (void)decode(reader);
  } catch (const BrokenBlock& e) {
    return e.what();
  }
  return "";
}

/// A task with every field that its kind has.
HostTask full_task(const HostFields& has, bool within) {
  HostTask task;
  task.kind = has.kind;
  task.within = within;
  if (has.number) task.instructions = has.kind == HostKind::kCall ? Command::kCalls - 1 : kMaxMessages - 1;
  if (has.kind == HostKind::kCompute) task.instructions = kHuge;
  if (has.peer) task.peer = Command::kMaxDevices - 1;
  if (has.bytes) task.bytes = kHuge;
  if (has.places) {
    task.local = kHostMemory + 5;
    task.remote = kHuge - 1;
  }
  return task;
}

}  // namespace

TEST_CASE("host task codes: each kind, within a call or not, has one number below the limit") {
  std::set<std::uint64_t> codes;
  for (const HostFields& has : kHostFields)
    for (const bool within : {false, true}) {
      HostTask task;
      task.kind = has.kind;
      task.within = within;
      codes.insert(code_of(task));
      HostTask decoded;
      set_code(decoded, code_of(task));
      CHECK((decoded.kind == has.kind && decoded.within == within));
    }
  CHECK(codes.size() == kHostTaskCodes);
  CHECK(*codes.rbegin() == kHostTaskCodes - 1);
  HostTask old;  // traces of the first version: 0 to 3, and 4 more of calls
  set_code(old, 6);
  CHECK((old.kind == HostKind::kReceive && old.within));
}

TEST_CASE("host tasks: every kind is read as it was written, and has no more bytes than its fields") {
  for (const HostFields& has : kHostFields)
    for (const bool within : {false, true}) {
      const HostTask task = full_task(has, within);
      Bytes bytes;
      encode_host_task(task, bytes);
      ByteReader reader(bytes);
      CHECK(fields_of(decode_host_task(reader)) == fields_of(task));
      CHECK(reader.left() == 0);
      const std::size_t number = !has.number                      ? 0
                                 : has.kind == HostKind::kCompute ? 10
                                 : has.kind == HostKind::kCall    ? 1
                                                                  : 4;
      CHECK(bytes.size() ==
            1 + number + (has.peer ? 1 : 0) + (has.bytes ? 10 : 0) + (has.places ? 9 + 10 : 0));
      for (std::size_t cut = 0; cut < bytes.size(); ++cut)
        CHECK(refusal(Bytes(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(cut)),
                      decode_host_task) == "a column ends too early");
    }
}

TEST_CASE("host tasks: a kind, a peer or a number out of range is refused by name") {
  const auto broken = [](std::initializer_list<std::uint64_t> numbers) {
    Bytes bytes;
    for (const std::uint64_t n : numbers) put_varint(bytes, n);
    return refusal(bytes, decode_host_task);
  };
  CHECK(broken({32}) == "the kind of a host's task is 32; expected at most 31");
  CHECK(broken({1, 64}) == "the other process of a host's task is 64; expected at most 63");
  CHECK(broken({8, kMaxMessages}) ==
        "the number of a message or a call is 16777216; expected at most 16777215");
  CHECK(broken({20, 3}) == "the number of a message or a call is 3; expected at most 2");
  CHECK(broken({20, 2}).empty());
}

TEST_CASE("host tasks: numbers of messages are limited, those of instructions not") {
  for (const HostFields& has : kHostFields) {
    HostTask task;
    task.kind = has.kind;
    const bool limited = has.number && has.kind != HostKind::kCompute;
    CHECK(set_instructions(task, kHuge) == !limited);
    CHECK(set_instructions(task, has.kind == HostKind::kCall ? 2 : kMaxMessages - 1));
    CHECK(task.instructions == (has.kind == HostKind::kCall ? 2 : kMaxMessages - 1));
  }
}

TEST_CASE("host tasks: statistics count them as what they amount to") {
  using K = HostKind;
  const auto counted = [](std::initializer_list<K> kinds, K as) {
    for (const K kind : kinds) CHECK(counted_as(kind) == as);
  };
  counted({K::kCompute, K::kEnter, K::kCall, K::kElapse}, K::kCompute);
  counted({K::kSend, K::kMessage, K::kOffer, K::kPut, K::kAtomic}, K::kSend);
  counted({K::kReceive, K::kAccept, K::kArrived, K::kGet}, K::kReceive);
  counted({K::kFlush, K::kSent, K::kDone}, K::kFlush);
}

TEST_CASE("network operations: every kind is read as it was written, and cut ones are refused") {
  for (unsigned kind = 0; kind < NetOperation::kKinds; ++kind)
    for (unsigned flags = 0; flags < 4; ++flags) {
      NetOperation o;
      o.kind = static_cast<NetOperation::Kind>(kind);
      o.blocking = (flags & 1) != 0;
      o.inlined = (flags & 2) != 0;
      o.target = 63;
      o.queue = o.ready = 0xffffffff;
      if (o.kind != NetOperation::Kind::kQuiet) {
        o.local = 0x1234;
        o.remote = kHuge;
        o.bytes = 1;
      }
      if (o.kind == NetOperation::Kind::kPut) o.signal = kHuge - 7;
      Bytes bytes;
      encode_net_operation(o, bytes);
      ByteReader reader(bytes);
      CHECK(fields_of(decode_net_operation(reader)) == fields_of(o));
      CHECK(reader.left() == 0);
      for (std::size_t cut = 0; cut < bytes.size(); ++cut)
        CHECK_FALSE(refusal(Bytes(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(cut)),
                            decode_net_operation)
                        .empty());
    }
}

TEST_CASE("network operations: numbers out of range are refused by name") {
  constexpr std::array<std::uint64_t, 5> kGood{3, 0, 0, 0, 0};
  const std::array<std::pair<std::uint64_t, const char*>, 5> broken{{
      {4, "the kind of a network operation is 4; expected at most 3"},
      {4, "the flags of a network operation is 4; expected at most 3"},
      {64, "the target of a network operation is 64; expected at most 63"},
      {1ull << 32, "the queue of a network operation is 4294967296; expected at most 4294967295"},
      {1ull << 32, "the signals of a network operation is 4294967296; expected at most 4294967295"},
  }};
  for (std::size_t i = 0; i < broken.size(); ++i) {
    auto numbers = kGood;
    numbers[i] = broken[i].first;
    Bytes bytes;
    for (const std::uint64_t n : numbers) put_varint(bytes, n);
    CHECK(refusal(bytes, decode_net_operation) == broken[i].second);
  }
}

}  // namespace lockstep::trace
