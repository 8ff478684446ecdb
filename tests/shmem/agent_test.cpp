// The agent of network queues: what it serves, in which order, what counts as a signal, what it refuses.
#include "shmem/agent.hpp"

#include <catch2/catch.hpp>
#include <cstring>
#include <random>

#include "tests/shmem/two_pes.hpp"
#include "util/error.hpp"

using namespace lockstep;
using namespace lockstep::shmem;
using namespace lockstep::shmem::test;
using Kind = trace::Command::Kind;
using Operation = trace::NetOperation;

TEST_CASE(
    "Agent: one entry of each queue in turn, each with one signal of its status and of its read index") {
  TwoPes m;
  m.agent.keep_commands();
  m.agent.attach(m.world());
  std::vector<Entry*> entries_posted;
  for (const std::uint32_t queue : {2u, 0u, 0u, 2u, 0u})
    entries_posted.push_back(&m.post(0, queue, m.put(0, 1, 0, 8 * entries_posted.size(), 8)));
  CHECK(m.serve_all(0) == 3);
  CHECK_FALSE(m.agent.serve(1));
  std::vector<std::pair<std::uint32_t, std::uint64_t>> order;
  for (const trace::Command& c : m.agent.take_commands())
    if (c.kind == Kind::kNetOperation) {
      CHECK(c.device == 0);
      CHECK(c.operation.target == 1);
      CHECK(c.operation.ready == 1);
      order.emplace_back(c.operation.queue, c.operation.remote - m.heap(1));
    }
  CHECK(order ==
        std::vector<std::pair<std::uint32_t, std::uint64_t>>{{0, 8}, {2, 0}, {0, 16}, {2, 24}, {0, 32}});
  for (const Entry* posted : entries_posted) {
    CHECK(posted->status == Entry::kFree);
    CHECK(m.signals(&posted->status) == 2);
  }
  CHECK(m.pes[0].controls[0].served == 3);
  CHECK(m.signals(&m.pes[0].controls[0].served) == 3);
  CHECK(m.signals(&m.pes[0].controls[1].served) == 0);
}

TEST_CASE("Agent: entries are used again, and say how often their status word was signalled") {
  TwoPes m;
  m.agent.keep_commands();
  m.agent.attach(m.world());
  for (std::uint32_t i = 0; i < 5 * kDepth; ++i) {
    m.at<int>(0, 0) = static_cast<int>(i);
    m.post(0, 1, m.put(0, 1, 0, 4 * i, 4));
    CHECK(m.agent.serve(0));
    CHECK(m.at<int>(1, 4 * i) == static_cast<int>(i));
  }
  std::uint32_t i = 0;
  for (const trace::Command& c : m.agent.take_commands())
    if (c.kind == Kind::kNetOperation) CHECK(c.operation.ready == 2 * (i++ / kDepth) + 1);
  CHECK(i == 5 * kDepth);
}

TEST_CASE("Agent: queues and the agent's memory are commands, numbered on when others are attached") {
  TwoPes m;
  m.agent.keep_commands();
  m.agent.attach(m.world());
  const auto commands = m.agent.take_commands();
  REQUIRE(commands.size() == 2 * (1 + kQueues));
  for (unsigned d = 0; d < 2; ++d) {
    const auto* const own = &commands[d * (1 + kQueues)];
    CHECK((own->kind == Kind::kNetMemory && own->device == d && own->bytes == kAgentBytes));
    CHECK(own->address == reinterpret_cast<Address>(m.pes[d].agent));
    for (std::uint32_t q = 0; q < kQueues; ++q) {
      CHECK((own[1 + q].kind == Kind::kNetQueue && own[1 + q].device == d));
      CHECK(own[1 + q].address == reinterpret_cast<Address>(m.pes[d].entries) + q * kDepth * 64);
      CHECK(own[1 + q].bytes == kDepth * 64);
      CHECK(own[1 + q].source == reinterpret_cast<Address>(m.pes[d].controls) + q * 128);
    }
  }
  m.agent.detach();
  m.agent.attach(m.world());
  m.post(1, 2, m.put(1, 0, 0, 0, 8));
  CHECK(m.agent.serve(1));
  CHECK(m.agent.take_commands().back().operation.queue == kQueues + 2);
}

TEST_CASE(
    "Agent: small puts are signals of their words, signals of both of their words, and all come in order") {
  TwoPes m;
  m.agent.attach(m.world());
  for (unsigned i = 0; i < 100; ++i) m.at<std::uint8_t>(0, i) = static_cast<std::uint8_t>(i + 1);
  const auto signalled = [&](std::uint64_t offset) { return m.log.signals(m.heap(1, offset)); };
  m.post(0, 0, m.put(0, 1, 0, 1024, 64));
  m.post(0, 0, m.put(0, 1, 0, 2048, 68));
  m.post(0, 0, m.put(0, 1, 0, 3071, 2));  // the last byte of a word and the first of the next
  Entry with = m.put(0, 1, 0, 512, 68);
  with.flags = Entry::kSignal | Entry::kSignalAdd | Entry::kBlocking;
  with.signal = 640;
  with.value = (std::uint64_t{1} << 32) + 5;
  m.at<std::uint64_t>(1, 640) = 0xfffffffe;
  m.post(0, 0, with);
  CHECK(m.serve_all(0) == 4);
  for (std::uint64_t word = 0; word < 64; word += 4) CHECK(signalled(1024 + word) == 1);
  CHECK(signalled(1088) == 0);
  CHECK(signalled(2048) == 0);
  CHECK((signalled(3068) == 1 && signalled(3072) == 1 && signalled(3076) == 0));
  CHECK((m.at<std::uint8_t>(1, 3071) == 1 && m.at<std::uint8_t>(1, 3072) == 2));
  CHECK(m.at<std::uint64_t>(1, 640) == 0x200000003);
  CHECK((signalled(640) == 1 && signalled(644) == 1 && signalled(512) == 0));
  CHECK(m.log.last_write(m.heap(1, 640)) == m.log.last_write(m.heap(1, 644)));
  CHECK(std::memcmp(&m.at<char>(1, 512), &m.at<char>(0, 0), 68) == 0);
}

TEST_CASE("Agent: atomic operations, of both widths, give and leave what integers do") {
  TwoPes m;
  m.agent.keep_commands();
  m.agent.attach(m.world());
  constexpr std::uint64_t kOld = 0xf0f0f0f0fffffffeull, kValue = 0x1234567800000003ull;
  for (const unsigned bytes : {4u, 8u}) {
    const std::uint64_t mask = bytes == 4 ? 0xffffffff : ~std::uint64_t{0};
    const std::uint64_t results[] = {kOld,          kValue,        kValue,       kOld + kValue,
                                     kOld & kValue, kOld | kValue, kOld ^ kValue};
    for (unsigned op = 0; op < kAtomicOps; ++op) {
      INFO(op << " on " << bytes);
      m.at<std::uint64_t>(1, 128) = kOld & mask;
      m.at<std::uint64_t>(0, 64) = 0;
      Entry e = m.put(0, 1, 64, 128, bytes);
      e.op = static_cast<std::uint8_t>(Op::kAtomic);
      e.atomic_op = static_cast<std::uint8_t>(op);
      e.flags = Entry::kBlocking | Entry::kReturns;
      e.value = kValue;
      e.compare = kOld;
      const std::uint32_t before = m.log.signals(m.heap(1, 128));
      m.post(0, 0, e);
      CHECK(m.agent.serve(0));
      CHECK(m.at<std::uint64_t>(1, 128) == (results[op] & mask));
      CHECK(m.at<std::uint64_t>(0, 64) == (kOld & mask));
      CHECK(m.log.signals(m.heap(1, 128)) == before + 1);
      CHECK(m.log.signals(m.heap(0, 64)) == 0);
      const Operation operation = m.agent.take_commands().back().operation;
      CHECK((operation.kind == Operation::Kind::kAtomic && operation.blocking && operation.bytes == bytes));
      CHECK((operation.remote == m.heap(1, 128) && operation.local == m.heap(0, 64)));
    }
  }
  Entry e = m.put(0, 1, 0, 128, 8);  // a swap that does not compare
  e.op = static_cast<std::uint8_t>(Op::kAtomic);
  e.atomic_op = static_cast<std::uint8_t>(AtomicOp::kCompareSwap);
  e.compare = 1;
  m.at<std::uint64_t>(1, 128) = 2;
  m.post(0, 0, e);
  CHECK(m.agent.serve(0));
  CHECK(m.at<std::uint64_t>(1, 128) == 2);
  CHECK(m.agent.take_commands().back().operation.local == 0);
}

TEST_CASE("Agent: gets, puts from an entry and quiet") {
  TwoPes m;
  m.agent.keep_commands();
  m.agent.attach(m.world());
  (void)m.agent.take_commands();
  m.at<std::uint64_t>(1, 0) = 77;
  Entry get = m.put(0, 1, 256, 0, 8);
  get.op = static_cast<std::uint8_t>(Op::kGet);
  m.post(0, 0, get);
  Entry inlined = m.put(0, 1, 0, 304, 3);
  inlined.flags = Entry::kInline;
  inlined.local = 0x44332211;
  m.post(0, 0, inlined);
  Entry quiet{};
  quiet.op = static_cast<std::uint8_t>(Op::kQuiet);
  quiet.flags = Entry::kBlocking;
  quiet.bytes = ~std::uint64_t{0};  // means nothing
  m.post(0, 0, quiet);
  CHECK(m.serve_all(0) == 3);
  CHECK(m.at<std::uint64_t>(0, 256) == 77);
  CHECK(m.at<std::uint32_t>(1, 304) == 0x332211);
  CHECK(m.log.signals(m.heap(0, 256)) == 0);
  const auto commands = m.agent.take_commands();
  REQUIRE(commands.size() == 3);
  const Operation &a = commands[0].operation, &b = commands[1].operation, &c = commands[2].operation;
  CHECK(
      (a.kind == Operation::Kind::kGet && !a.blocking && a.local == m.heap(0, 256) && a.remote == m.heap(1)));
  CHECK((b.kind == Operation::Kind::kPut && b.inlined && b.local == 0 && b.remote == m.heap(1, 304) &&
         b.bytes == 3));
  CHECK((c.kind == Operation::Kind::kQuiet && c.blocking && c.bytes == 0));
}

TEST_CASE(
    "Agent: whatever an entry says, it is refused or changes nothing but heaps and the caller's memory") {
  TwoPes m;
  m.agent.attach(m.world());
  std::mt19937_64 random(7);  // NOLINT: the same in every run
  const auto any = [&](std::uint64_t limit) {
    return random() % 4 == 0 ? random() >> random() % 64 : random() % limit;
  };
  const std::size_t other_entries = kQueues * kDepth * sizeof(Entry);
  const std::vector<char> zeros(other_entries);
  int refused = 0, performed = 0;
  for (int i = 0; i < 20000; ++i) {
    Entry e = m.put(0, static_cast<std::uint32_t>(any(2)), 0, any(kHeapBytes + 64), any(kHeapBytes + 64));
    e.op = static_cast<std::uint8_t>(any(kOps));
    e.atomic_op = static_cast<std::uint8_t>(any(kAtomicOps));
    e.flags = static_cast<std::uint8_t>(any(Entry::kAllFlags + 1));
    e.local = random() % 2 == 0 ? m.heap(0, any(kHeapBytes)) : random() >> random() % 64;
    if (e.op == static_cast<std::uint8_t>(Op::kAtomic)) e.bytes = 4 + 4 * any(2);
    if (e.local >= m.heap(0) + kHeapBytes - 64) e.local = random();  // not the test's own queues
    if (e.op != static_cast<std::uint8_t>(Op::kPut) && e.bytes > m.heap(0) + kHeapBytes - e.local)
      e.bytes = 8;
    e.signal = any(kHeapBytes + 64);
    Entry& posted = m.post(0, 0, e);
    try {
      const bool served = m.agent.serve(0);
      CHECK(served);
      ++performed;
    } catch (const BadEntry& bad) {
      ++refused;
      CHECK(std::string(bad.what()).starts_with("device 0, network queue 0, entry "));
      posted.status = Entry::kFree;
      --m.written[{0, 0}];
    }
  }
  CHECK(refused > 1000);
  CHECK(performed > 1000);
  CHECK(std::memcmp(m.pes[1].entries, zeros.data(), zeros.size()) == 0);
  CHECK(std::memcmp(m.pes[1].controls, zeros.data(), kQueues * sizeof(QueueControl)) == 0);
  CHECK(std::memcmp(m.pes[1].agent, zeros.data(), 512) == 0);
}

TEST_CASE("Agent: what is attached is checked, and queues that were freed are an error") {
  TwoPes m;
  const auto refused = [&](const World& world, const char* what) {
    CHECK_THROWS_AS(m.agent.attach(world), UserError);
    CHECK_THROWS_WITH(m.agent.attach(world), Catch::Matchers::Contains(what));
    CHECK_FALSE(m.agent.attached());
  };
  World world = m.world();
  world.version = 99;
  refused(world, "version 99 of shmem.cuh; expected 1");
  world = m.world();
  world.pes = 1;
  refused(world, "1 PEs; expected one for each of the 2 devices");
  world = m.world();
  world.depth = 3;
  refused(world, "3 queues of 3 entries");
  world = m.world();
  world.queues = 1u << 20;
  refused(world, "the queues of PE 0 must be");
  const PeMemory good = m.pes[1];
  m.pes[1].heap = m.pes[0].heap;
  refused(m.world(), "the symmetric heap of PE 1 must be 4096 bytes of memory of device 1");
  m.pes[1] = good;
  m.pes[1].controls = nullptr;
  refused(m.world(), "the read indices of PE 1");
  m.pes[1] = good;
  m.pes[1].heap_bytes = ~std::uint64_t{0};
  refused(m.world(), "the symmetric heap of PE 1");
  m.pes[1] = good;
  m.agent.attach(m.world());
  CHECK_THROWS_WITH(m.agent.attach(m.world()), Catch::Matchers::Contains("one set of PEs at a time"));
  for (const exec::Allocation& a : m.memory.allocations()) m.memory.release(a.begin);
  CHECK_THROWS_WITH(m.agent.serve(1), "device 1: the memory of its network queues has been freed");
}

TEST_CASE("Agent: words are described by what they are to kernels") {
  TwoPes m;
  m.agent.attach(m.world());
  CHECK(m.agent.describe(m.heap(1, 72)) == "offset 0x48 of PE 1's symmetric heap");
  CHECK(m.agent.describe(reinterpret_cast<Address>(&m.pes[0].entries[kDepth + 2].status)) ==
        "entry 2 of PE 0's network queue 1");
  CHECK(m.agent.describe(reinterpret_cast<Address>(&m.pes[1].controls[2].served)) ==
        "the read index of PE 1's network queue 2");
  CHECK(m.agent.describe(16).empty());
}
