// The usual order of a CTA's warps: programs that lack a barrier between accesses to shared memory compute
// what they do where warps advance together. What is expected is that in closed form.
#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>

#include "tests/exec/support.hpp"

namespace lockstep::exec::test {
namespace {

constexpr std::uint32_t kOrderedThreads = 128;
constexpr std::uint32_t kUsual = 0, kBarrierOrder = 1 << 18;  // RunOptions::interleave

/// Words that `entry` puts at out[thread], of one CTA for each row.
std::vector<std::uint32_t> results(const std::string& text, std::uint32_t order = kUsual,
                                   std::uint32_t ctas = 1, unsigned threads = 1) {
  Device device(text);
  device.options.interleave = order;
  device.options.threads = threads;
  std::vector<std::uint32_t> numbers(kOrderedThreads);
  std::iota(numbers.begin(), numbers.end(), 1000);
  const Address out = device.zeros<std::uint32_t>(std::size_t{ctas} * kOrderedThreads),
                in = device.array(numbers);
  device.run("entry", {ctas, 1, 1}, {kOrderedThreads, 1, 1}, Arguments(out, in));
  return device.read<std::uint32_t>(out, std::size_t{ctas} * kOrderedThreads);
}

template <class F>
std::vector<std::uint32_t> by_thread(F&& value) {
  std::vector<std::uint32_t> all(kOrderedThreads);
  for (std::uint32_t t = 0; t < kOrderedThreads; ++t) all[t] = value(t);
  return all;
}

/// A kernel around `body`, which leaves its result in %r9: %r1 is the thread's number, %r2 the address of its
/// word in shared memory, %r3 that of the thread 32 after it, %r4 that of thread 127 - %r1, %rd9 that of its
/// number 1000 + %r1 in global memory.
std::string exchange_kernel(const std::string& body) {
  return R"(
.visible .entry entry(.param .u64 out, .param .u64 in) {
  .reg .pred %p<4>; .reg .b32 %r<20>; .reg .b64 %rd<20>;
  .shared .align 16 .b8 words[512];
  mov.u32 %r1, %tid.x;
  mov.u32 %r10, words;
  mad.lo.u32 %r2, %r1, 4, %r10;
  add.u32 %r11, %r1, 32;
  and.b32 %r11, %r11, 127;
  mad.lo.u32 %r3, %r11, 4, %r10;
  xor.b32 %r12, %r1, 127;
  mad.lo.u32 %r4, %r12, 4, %r10;
  ld.param.u64 %rd1, [in];
  mul.wide.u32 %rd2, %r1, 4;
  add.u64 %rd9, %rd1, %rd2;
  mov.u32 %r9, 0;
)" + body +
         R"(
  ld.param.u64 %rd3, [out];
  mov.u32 %r13, %ctaid.x;
  mul.wide.u32 %rd4, %r13, 512;
  add.u64 %rd3, %rd3, %rd4;
  add.u64 %rd3, %rd3, %rd2;
  st.global.u32 [%rd3], %r9;
  ret;
})";
}

/// `right` in the usual order, and something else where warps run from barrier to barrier.
void check_order(const std::string& text, const std::vector<std::uint32_t>& right) {
  CHECK(results(text) == right);
  CHECK(results(text, 1) == right);
  CHECK(results(text, kBarrierOrder) != right);
}

// Ten times each thread reads the word of the thread 32 after it, and writes its own: a barrier lacks
// between.
const std::string kWriteAfterRead = exchange_kernel(R"(
  mov.u32 %r5, 0;
  st.shared.u32 [%r2], %r1;
  bar.sync 0;
$AGAIN:
  ld.shared.u32 %r9, [%r3];
  add.u32 %r9, %r9, 1;
  st.shared.u32 [%r2], %r9;
  bar.sync 0;
  add.u32 %r5, %r5, 1;
  setp.lt.u32 %p1, %r5, 10;
  @%p1 bra $AGAIN;
)");

TEST_CASE("order of warps: a write after a read without a barrier") {
  check_order(kWriteAfterRead, by_thread([](auto t) { return (t + 10 * 32) % kOrderedThreads + 10; }));
}

TEST_CASE("order of warps: a read after a write without a barrier") {
  const auto mirrored = by_thread([](auto t) { return 3 * (kOrderedThreads - 1 - t); });
  check_order(exchange_kernel(R"(
  mul.lo.u32 %r5, %r1, 3;
  st.shared.u32 [%r2], %r5;
  ld.shared.u32 %r9, [%r4];
)"),
              mirrored);
  // The same by generic addresses, after an access to global memory by one.
  check_order(exchange_kernel(R"(
  cvt.u64.u32 %rd10, %r2;
  cvta.shared.u64 %rd10, %rd10;
  cvt.u64.u32 %rd11, %r4;
  cvta.shared.u64 %rd11, %rd11;
  mul.lo.u32 %r5, %r1, 3;
  st.u32 [%rd10], %r5;
  ld.u32 %r6, [%rd9];
  ld.u32 %r9, [%rd11];
)"),
              mirrored);
}

TEST_CASE("order of warps: atomics between stores and loads") {
  check_order(exchange_kernel(R"(
  st.shared.u32 [%r4], 100;
  red.shared.add.u32 [%r2], %r1;
  ld.shared.u32 %r9, [%r4];
)"),
              by_thread([](auto t) { return 100 + kOrderedThreads - 1 - t; }));
  check_order(exchange_kernel(R"(
  st.shared.u32 [%r4], %r12;
  atom.shared.exch.b32 %r9, [%r2], 0;
)"),
              by_thread([](auto t) { return t; }));
}

TEST_CASE("order of warps: asynchronous copies and matrices") {
  check_order(exchange_kernel(R"(
  cp.async.ca.shared.global [%r2], [%rd9], 4;
  cp.async.wait_all;
  ld.shared.u32 %r9, [%r4];
)"),
              by_thread([](auto t) { return 1000 + kOrderedThreads - 1 - t; }));
  // Row r of the matrix of 8 rows of 16 bytes: words 4 r to 4 r + 3 of the thread's other warp; lane l gets
  // word l of them.
  check_order(exchange_kernel(R"(
  st.shared.u32 [%r2], %r1;
  and.b32 %r5, %r1, 96;
  xor.b32 %r5, %r5, 96;
  mad.lo.u32 %r6, %r5, 4, %r10;
  and.b32 %r7, %r1, 7;
  mad.lo.u32 %r6, %r7, 16, %r6;
  ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r9}, [%r6];
)"),
              by_thread([](auto t) { return t ^ 96; }));
}

TEST_CASE("order of warps: after one of them has waited at a barrier of half of them") {
  // Warps 0 and 1 wait for each other, then read what warps 2 and 3 have written; these come later.
  check_order(exchange_kernel(R"(
  setp.lt.u32 %p1, %r1, 64;
  @!%p1 bra $WRITE;
  bar.sync 1, 64;
$WRITE:
  st.shared.u32 [%r2], %r1;
  ld.shared.u32 %r9, [%r4];
)"),
              by_thread([](auto t) { return kOrderedThreads - 1 - t; }));
}

// A sum with all of its barriers: each half is added to the other, by fewer and fewer warps.
const std::string kOrdered = exchange_kernel(R"(
  ld.global.u32 %r5, [%rd9];
  st.shared.u32 [%r2], %r5;
  mov.u32 %r6, 64;
$HALVE:
  bar.sync 0;
  setp.ge.u32 %p1, %r1, %r6;
  @%p1 bra $REST;
  mad.lo.u32 %r7, %r6, 4, %r2;
  ld.shared.u32 %r8, [%r7];
  ld.shared.u32 %r9, [%r2];
  add.u32 %r9, %r9, %r8;
  st.shared.u32 [%r2], %r9;
$REST:
  shr.u32 %r6, %r6, 1;
  setp.ne.u32 %p2, %r6, 0;
  @%p2 bra $HALVE;
  bar.sync 0;
  ld.shared.u32 %r9, [%r10];
)");

std::vector<CtaRecord> records_of(const std::string& text, std::uint32_t order) {
  Device device(text);
  device.options.interleave = order;
  const Address out = device.zeros<std::uint32_t>(3 * kOrderedThreads),
                in = device.array(std::vector<std::uint32_t>(kOrderedThreads, 1));
  auto records = device.record("entry", {3, 1, 1}, {kOrderedThreads, 1, 1}, Arguments(out, in));
  CHECK(device.read<std::uint32_t>(out, 3 * kOrderedThreads) ==
        std::vector<std::uint32_t>(3 * kOrderedThreads, kOrderedThreads));
  return records;
}

TEST_CASE("order of warps: a program with its barriers has the same results and records in each") {
  const std::uint32_t sum = kOrderedThreads * 1000 + kOrderedThreads * (kOrderedThreads - 1) / 2;
  const auto usual = records_of(kOrdered, kUsual);
  for (const std::uint32_t order : {kBarrierOrder, 1U}) {
    CHECK(results(kOrdered, order) == by_thread([=](auto) { return sum; }));
    const auto other = records_of(kOrdered, order);
    for (std::size_t cta = 0; cta < usual.size(); ++cta)
      for (std::size_t warp = 0; warp < usual[cta].warps.size(); ++warp) {
        const WarpRecord &one = usual[cta].warps[warp], &two = other[cta].warps[warp];
        REQUIRE(one.words.size() > 10);
        CHECK(one.words == two.words);
        const auto same = [](const auto& a, const auto& b) {
          return a.inst() == b.inst() && a.form() == b.form() && a.mask == b.mask;
        };
        CHECK(
            std::equal(one.records.begin(), one.records.end(), two.records.begin(), two.records.end(), same));
      }
  }
  CHECK(results(kOrdered) == by_thread([=](auto) { return sum; }));
}

// The threads of a CTA take numbers in the order in which they come, between loads and stores.
const std::string kNumbers = exchange_kernel(R"(
  mov.u32 %r5, 0;
$AGAIN:
  ld.shared.u32 %r6, [%r3];
  atom.shared.add.u32 %r7, [%r10], 1;
  st.shared.u32 [%r4], %r7;
  mad.lo.u32 %r9, %r9, 31, %r7;
  add.u32 %r9, %r9, %r6;
  add.u32 %r5, %r5, 1;
  setp.lt.u32 %p1, %r5, 20;
  @%p1 bra $AGAIN;
)");

TEST_CASE("order of warps: the same for any number of threads") {
  constexpr std::uint32_t kCtas = 40;
  const auto first = results(kNumbers);
  const auto one = results(kNumbers, kUsual, kCtas);
  for (std::uint32_t cta = 0; cta < kCtas; ++cta)
    CHECK(std::equal(first.begin(), first.end(), one.begin() + cta * kOrderedThreads));
  CHECK(results(kNumbers, kUsual, kCtas, 2) == one);
  CHECK(results(kNumbers, kUsual, kCtas, 4) == one);
}

// Each warp waits for the one after it, the last for none; while it waits it also writes its own word.
const std::string kSpin = exchange_kernel(R"(
  shr.u32 %r5, %r1, 5;
  mov.u32 %r9, 4;
  setp.eq.u32 %p1, %r5, 3;
  @%p1 bra $DONE;
$WAIT:
  ld.volatile.shared.u32 %r9, [%r3];
  st.shared.u32 [%r2], 0;
  setp.eq.u32 %p2, %r9, 0;
  @%p2 bra $WAIT;
  add.u32 %r9, %r9, 1;
$DONE:
  st.volatile.shared.u32 [%r2], %r9;
)");

// A lock in shared memory that the first lanes of the warps take in turn, ten times each; what it protects is
// read and written.
const std::string kLocked = exchange_kernel(R"(
  and.b32 %r5, %r1, 31;
  mov.u32 %r6, 0;
  setp.ne.u32 %p1, %r5, 0;
  @%p1 bra $DONE;
$TRY:
  atom.shared.cas.b32 %r7, [%r10], 0, 1;
  setp.ne.u32 %p2, %r7, 0;
  @%p2 bra $TRY;
  ld.volatile.shared.u32 %r8, [%r10+4];
  add.u32 %r8, %r8, 1;
  st.volatile.shared.u32 [%r10+4], %r8;
  membar.cta;
  atom.shared.exch.b32 %r7, [%r10], 0;
  add.u32 %r6, %r6, 1;
  setp.lt.u32 %p2, %r6, 10;
  @%p2 bra $TRY;
$DONE:
  bar.sync 0;
  ld.shared.u32 %r9, [%r10+4];
)");

TEST_CASE("order of warps: those that wait for others, and locks") {
  CHECK(results(kSpin) == by_thread([](auto t) { return 7 - t / 32; }));
  CHECK(results(kLocked) == by_thread([](auto) { return 40u; }));
}

TEST_CASE("order of warps: warps that wait for ever, and write to shared memory meanwhile, are found") {
  Device device(exchange_kernel(R"(
$WAIT:
  ld.volatile.shared.u32 %r9, [%r3];
  st.shared.u32 [%r2], 0;
  setp.eq.u32 %p2, %r9, 0;
  @%p2 bra $WAIT;
)"));
  device.options.may_wait = true;
  const Address out = device.zeros<std::uint32_t>(kOrderedThreads),
                in = device.zeros<std::uint32_t>(kOrderedThreads);
  try {
    device.run("entry", {1, 1, 1}, {kOrderedThreads, 1, 1}, Arguments(out, in));
    FAIL("it has ended");
  } catch (const DeviceFault& fault) {
    CHECK(fault.kind() == FaultKind::kDeadlock);
  }
}

}  // namespace
}  // namespace lockstep::exec::test
