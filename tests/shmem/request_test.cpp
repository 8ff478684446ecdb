// What entries ask for: every way to be refused with its text, and what is performed against two arrays of
// bytes.
#include "shmem/request.hpp"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cstring>
#include <functional>
#include <string>

#include "tests/random.hpp"
#include "tests/shmem/two_pes.hpp"

namespace lockstep::shmem {
namespace {

using test::kHeapBytes;
using test::TwoPes;

TEST_CASE("Requests: each thing that is wrong with an entry is named, with what was expected") {
  const TwoPes pes;
  const Address own_end = pes.heap(0) + (std::uint64_t{1} << 40);
  struct Case {
    std::function<void(Entry&)> change;
    std::string expected;
  };
  const auto op = [](Op of) { return static_cast<std::uint8_t>(of); };
  const Case cases[] = {
      {[](Entry& e) { e.op = 4; }, "operation 4; expected one below 4"},
      {[](Entry& e) { e.flags = 0x20; }, "flags 0x20, reserved 0x0; expected flags of 0x1f and 0"},
      {[](Entry& e) { e.reserved = 7; }, "flags 0x0, reserved 0x7; expected flags of 0x1f and 0"},
      {[](Entry& e) { e.pe = 2; }, "PE 2; there are 2, counted from 0"},
      {[](Entry& e) { e.context = 0; }, "it is of the context of queue 0"},
      {[](Entry& e) { e.remote = kHeapBytes - 7; },
       "it writes 8 bytes at offset 0xff9 of the symmetric heap, which has 0x1000"},
      {[](Entry& e) { e.remote = ~std::uint64_t{0}; },
       "it writes 8 bytes at offset 0xffffffffffffffff of the symmetric heap, which has 0x1000"},
      {[](Entry& e) { e.flags = Entry::kInline, e.bytes = 9; },
       "9 bytes in the entry itself; expected at most 8"},
      {[](Entry& e) { e.flags = Entry::kSignal, e.signal = kHeapBytes - 4; },
       "it signals 8 bytes at offset 0xffc of the symmetric heap, which has 0x1000"},
      {[](Entry& e) { e.flags = Entry::kSignal, e.signal = 12; },
       "a signal at offset 12; expected a multiple of 8"},
      {[&](Entry& e) { e.op = op(Op::kGet), e.bytes = kHeapBytes, e.remote = 1; },
       "it reads 4096 bytes at offset 0x1 of the symmetric heap, which has 0x1000"},
      {[&](Entry& e) { e.op = op(Op::kAtomic), e.atomic_op = 7; },
       "atomic operation 7; expected one below 7"},
      {[&](Entry& e) { e.op = op(Op::kAtomic), e.bytes = 2; },
       "an atomic operation on 2 bytes; expected 4 or 8"},
      {[&](Entry& e) { e.op = op(Op::kAtomic), e.remote = 4; },
       "an atomic operation on 8 bytes at offset 4, which is not a multiple of that"},
      {[&](Entry& e) { e.local = own_end; }, "its data come from 8 bytes at "},
      {[&](Entry& e) { e.local = pes.heap(1); }, "which is not memory of device 0"},
      {[&](Entry& e) { e.local = ~std::uint64_t{0} - 3; },
       "its data come from 8 bytes at 0xfffffffffffffffc"},
      {[&](Entry& e) { e.op = op(Op::kGet), e.local = pes.heap(1); }, "its data go to 8 bytes at "},
      {[&](Entry& e) { e.op = op(Op::kAtomic), e.flags = Entry::kReturns, e.local = 16; },
       "the old value goes to 8 bytes at 0x10, which is not memory of device 0"}};
  for (const Case& c : cases) {
    Entry entry = pes.put(0, 1, 0, 0, 8);
    entry.context = 2;
    CHECK_NOTHROW(read_request(entry, {0, 2, 3}, pes.pes, pes.memory));
    c.change(entry);
    CHECK_THROWS_AS(read_request(entry, {0, 2, 3}, pes.pes, pes.memory), BadEntry);
    CHECK_THROWS_WITH(
        read_request(entry, {0, 2, 3}, pes.pes, pes.memory),
        Catch::StartsWith("device 0, network queue 2, entry 3: ") && Catch::Contains(c.expected));
  }
}

TEST_CASE("Requests: no bytes need no memory, and an atomic that returns nothing no place for it") {
  const TwoPes pes;
  Entry entry = pes.put(0, 1, 0, kHeapBytes, 0);
  entry.local = 12345;
  CHECK(read_request(entry, {0, 0, 0}, pes.pes, pes.memory).operation.bytes == 0);
  entry = pes.put(0, 1, 0, 8, 8);
  entry.op = static_cast<std::uint8_t>(Op::kAtomic);
  entry.local = 12345;
  CHECK(read_request(entry, {0, 0, 0}, pes.pes, pes.memory).operation.local == 0);
}

/// Both heaps, byte by byte.
using Heaps = std::array<std::array<unsigned char, kHeapBytes>, 2>;

/// Device 0's entry, performed on the arrays.
void perform_on(Heaps& heaps, const Entry& e, std::uint64_t local) {
  unsigned char* const remote = heaps[e.pe].data() + e.remote;
  if (e.op == static_cast<std::uint8_t>(Op::kGet)) {
    std::memmove(heaps[0].data() + local, remote, e.bytes);
    return;
  }
  if (e.op == static_cast<std::uint8_t>(Op::kQuiet)) return;
  if (e.op == static_cast<std::uint8_t>(Op::kPut)) {
    for (std::uint64_t b = 0; (e.flags & Entry::kInline) != 0 && b < e.bytes; ++b)
      remote[b] = static_cast<unsigned char>(e.local >> 8 * b);
    if ((e.flags & Entry::kInline) == 0) std::memmove(remote, heaps[0].data() + local, e.bytes);
    if ((e.flags & Entry::kSignal) == 0) return;
    std::uint64_t sum = e.value, old = 0;
    std::memcpy(&old, heaps[e.pe].data() + e.signal, 8);
    if ((e.flags & Entry::kSignalAdd) != 0) sum += old;
    std::memcpy(heaps[e.pe].data() + e.signal, &sum, 8);
    return;
  }
  std::uint64_t old = 0;
  std::memcpy(&old, remote, e.bytes);
  const std::uint64_t mask = e.bytes == 4 ? 0xffffffff : ~std::uint64_t{0};
  const std::uint64_t results[] = {old,           e.value,       old == (e.compare & mask) ? e.value : old,
                                   old + e.value, old & e.value, old | e.value,
                                   old ^ e.value};
  std::memcpy(remote, &results[e.atomic_op], e.bytes);
  if ((e.flags & Entry::kReturns) != 0) std::memcpy(heaps[0].data() + local, &old, e.bytes);
}

TEST_CASE("Requests: random ones leave both heaps as arrays of bytes that are changed alike") {
  lockstep::test::Random32 random(3);
  TwoPes pes;
  pes.agent.attach(pes.world());
  Heaps heaps{};
  for (unsigned d = 0; d < 2; ++d)
    for (std::uint64_t b = 0; b < kHeapBytes; ++b)
      pes.at<unsigned char>(d, b) = heaps[d][b] = static_cast<unsigned char>(random());
  for (int i = 0; i < 5000; ++i) {
    const std::uint64_t local = 8 * (random() % 256);
    Entry e = pes.put(0, random() % 2, local, random() % 2048, random() % 200);
    e.op = static_cast<std::uint8_t>(random() % kOps);
    e.flags = static_cast<std::uint8_t>(random() & Entry::kAllFlags);
    e.signal = 8 * (random() % (kHeapBytes / 8));
    e.value = std::uint64_t{random()} << 32 | random();
    if (e.op == static_cast<std::uint8_t>(Op::kAtomic)) {
      e.atomic_op = static_cast<std::uint8_t>(random() % kAtomicOps);
      e.bytes = 4 + 4 * (random() % 2);
      e.remote = 8 * (random() % 256);
      std::memcpy(&e.compare, heaps[e.pe].data() + e.remote, 8);
      e.compare += random() % 2;  // or the swap finds another value
    } else if (e.op == static_cast<std::uint8_t>(Op::kPut) && (e.flags & Entry::kInline) != 0) {
      e.bytes = random() % 9;
      e.local = std::uint64_t{random()} << 32 | random();
    }
    perform_on(heaps, e, local);
    pes.post(0, random() % test::kQueues, e);
    REQUIRE(pes.agent.serve(0));
    for (unsigned d = 0; d < 2; ++d)
      REQUIRE(std::memcmp(heaps[d].data(), reinterpret_cast<const void*>(pes.heap(d)), kHeapBytes) == 0);
  }
}

TEST_CASE("Queues whose size is more than 64 bits can say are not taken for small ones") {
  TwoPes pes;
  World world = pes.world();
  world.queues = 1u << 27;
  world.depth = 1u << 31;  // 2^58 entries of 64 bytes
  CHECK_THROWS_WITH(pes.agent.attach(world), Catch::Contains("the queues of PE 0 must be"));
}

}  // namespace
}  // namespace lockstep::shmem
