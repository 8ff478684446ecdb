// CTAs on several threads: the same memory, counts and faults as one by one.
#include <catch2/catch.hpp>
#include <map>
#include <mutex>
#include <numeric>

#include "exec/access_set.hpp"
#include "exec/fault.hpp"
#include "tests/exec/support.hpp"

namespace lockstep::exec::test {
namespace {

// What every kernel of these tests begins with: %r5 the thread's number, %rd2 the address of its element of
// `data`.
constexpr const char* kHead = R"(
  .reg .b32 %r<16>; .reg .b64 %rd<8>; .reg .pred %p<4>;
  ld.param.u64 %rd1, [data];
  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;
  mad.lo.u32 %r5, %r1, %r2, %r3;
  mul.wide.u32 %rd3, %r5, 4; add.u64 %rd2, %rd1, %rd3;
)";

std::string concurrent_kernel(const std::string& body) {
  return std::string(".visible .entry k(.param .u64 data) {") + kHead + body + "ret; }";
}

constexpr unsigned kGridCtas = 64, kCtaThreads = 64;

struct Outcome {
  bool at_once = false;
  std::vector<std::uint32_t> data;
  std::uint64_t warp_instructions = 0;
  std::string fault;
};

/// Numbers 0, 1, 2 ... with one element more than there are threads.
Outcome execute(const std::string& body, unsigned threads, AccessSets* sets = nullptr) {
  Device device(concurrent_kernel(body));
  std::vector<std::uint32_t> numbers(kGridCtas * kCtaThreads + 1);
  std::iota(numbers.begin(), numbers.end(), 0u);
  const Address data = device.array(numbers);
  const auto executable = device.kernel("k");
  const Arguments arguments(data);
  Launch launch;
  launch.kernel = executable.get();
  launch.grid = {kGridCtas, 1, 1};
  launch.block = {kCtaThreads, 1, 1};
  launch.cluster = {1, 1, 1};
  launch.parameters = arguments.bytes();
  RunOptions options;
  options.threads = threads;
  options.access_sets = sets;
  Outcome outcome;
  try {
    Grid grid(launch, device.memory, options);
    outcome.at_once = grid.run_concurrently();
    if (!outcome.at_once) {
      CHECK(device.read<std::uint32_t>(data, numbers.size()) == numbers);  // nothing has happened
      for (unsigned i = 0; i < kGridCtas; ++i)
        if (!grid.run_cta(i, nullptr)) FAIL("interrupted");
    }
    outcome.warp_instructions = grid.counts().warp_instructions;
  } catch (const DeviceFault& fault) {
    outcome.fault = fault.what();
  }
  outcome.data = device.read<std::uint32_t>(data, numbers.size());
  return outcome;
}

/// With sets of its own, and with those of all launches before.
void same_as_one(const std::string& body, bool at_once) {
  static AccessSets kept(kMemoryKinds * kRegionBytes);
  const Outcome one = execute(body, 1);
  CHECK_FALSE(one.at_once);
  for (AccessSets* const sets : {static_cast<AccessSets*>(nullptr), &kept}) {
    for (const unsigned threads : {2u, 3u, 8u}) {
      INFO(threads << " threads" << (sets ? ", sets of other launches" : ""));
      const Outcome many = execute(body, threads, sets);
      CHECK(many.at_once == at_once);
      CHECK(many.data == one.data);
      CHECK(many.warp_instructions == one.warp_instructions);
      CHECK(many.fault == one.fault);
    }
  }
}

}  // namespace

TEST_CASE("CTAs that only touch their own elements run at once") {
  const std::string body = "ld.global.u32 %r6, [%rd2]; mad.lo.u32 %r6, %r6, 3, 1; st.global.u32 [%rd2], %r6;";
  same_as_one(body, true);
  const Outcome done = execute(body, 2);
  for (unsigned i = 0; i < kGridCtas * kCtaThreads; ++i) REQUIRE(done.data[i] == 3 * i + 1);
}

TEST_CASE("CTAs that all read what none writes run at once") {
  same_as_one(
      "ld.global.u32 %r6, [%rd1]; ld.global.u32 %r7, [%rd2]; mul.wide.u32 %rd4, %r5, 4;"
      "setp.eq.u32 %p1, %r5, 0; add.u32 %r7, %r7, %r6; @!%p1 st.global.u32 [%rd2], %r7;",
      true);
}

TEST_CASE("a CTA that reads what the one before it wrote: one by one") {
  // Thread 0 of a CTA adds its element to that of the next CTA's thread 0: a running sum.
  const std::string body =
      "setp.ne.u32 %p1, %r3, 0; @%p1 bra done;"
      "mul.wide.u32 %rd4, %r2, 4; add.u64 %rd5, %rd2, %rd4; add.u32 %r8, %r1, 1; mov.u32 %r9, %nctaid.x;"
      "setp.ge.u32 %p2, %r8, %r9; @%p2 bra done;"
      "ld.global.u32 %r6, [%rd2]; ld.global.u32 %r7, [%rd5]; add.u32 %r7, %r7, %r6; st.global.u32 [%rd5], "
      "%r7; done:";
  same_as_one(body, false);
  const Outcome done = execute(body, 3);
  for (unsigned i = 0; i < kGridCtas; ++i)
    REQUIRE(done.data[i * kCtaThreads] == kCtaThreads * i * (i + 1) / 2);
}

TEST_CASE("CTAs that write the same word: the last one's value stays") {
  same_as_one("st.global.u32 [%rd1], %r5;", false);
  CHECK(execute("st.global.u32 [%rd1], %r1;", 3).data[0] == kGridCtas - 1);
}

TEST_CASE("an atomic on global memory: one by one; on shared memory: at once") {
  same_as_one("atom.global.add.u32 %r6, [%rd1], 1; st.global.u32 [%rd2+4], %r6;", false);
  same_as_one(
      ".shared .b32 s; mov.u32 %r6, 0; setp.eq.u32 %p1, %r3, 0; @%p1 st.shared.u32 [s], %r6; bar.sync 0;"
      "red.shared.add.u32 [s], %r3; bar.sync 0; ld.shared.u32 %r7, [s]; st.global.u32 [%rd2], %r7;",
      true);
}

namespace {

/// The data after `body`, which runs at once with the same result as one by one.
std::vector<std::uint32_t> reduced(const std::string& body) {
  INFO(body);
  same_as_one(body, true);
  return execute(body, 3).data;
}

}  // namespace

TEST_CASE("integer reductions whose results are unused run concurrently, and none is lost") {
  constexpr std::uint32_t kAll = kGridCtas * kCtaThreads;
  CHECK(reduced("red.global.add.u32 [%rd1], %r5;")[0] == kAll * (kAll - 1) / 2);
  CHECK(reduced("atom.global.add.u32 %r6, [%rd1], %r5;")[0] == kAll * (kAll - 1) / 2);
  CHECK(reduced("atom.global.add.u32 _, [%rd1], 1;")[0] == kAll);
  CHECK(reduced("red.global.max.u32 [%rd1], %r5;")[0] == kAll - 1);
  CHECK(reduced("sub.s32 %r6, 9, %r5; red.global.min.s32 [%rd1], %r6;")[0] == 9u - (kAll - 1));
  CHECK(reduced("red.global.xor.b32 [%rd1+4], %r5;")[1] == 1);  // each bit is set an even number of times
  CHECK(reduced("red.global.or.b32 [%rd1], %r5;")[0] == kAll - 1);
  CHECK(reduced("or.b32 %r6, %r5, 4; red.global.and.b32 [%rd1+28], %r6;")[7] == 4);
  // Carries go into the upper word: element 1 is words 2 and 3.
  const auto wide = reduced("mov.u64 %rd4, 0x80000000; red.global.add.u64 [%rd1+8], %rd4;");
  CHECK(wide[2] == 2);
  CHECK(wide[3] == 3 + kAll / 2);
  // Many elements, each from several CTAs: thread t of each CTA adds to element t * 8.
  const auto spread = reduced("mul.wide.u32 %rd4, %r3, 32; add.u64 %rd4, %rd4, %rd1; red.add.u32 [%rd4], 2;");
  for (unsigned i = 0; i < kAll; ++i)
    REQUIRE(spread[i] == i + (i % 8 == 0 && i < 8 * kCtaThreads ? 2 * kGridCtas : 0));
}

TEST_CASE("reductions in a loop: red at once; atom, which counts as a poll, one by one") {
  const auto loop = [](const std::string& what) {
    return "mov.u32 %r7, 0; loop: " + what + "add.u32 %r7, %r7, 1; setp.lt.u32 %p1, %r7, 40; @%p1 bra loop;";
  };
  same_as_one(loop("red.global.add.u32 [%rd1], 1;"), true);
  same_as_one(loop("atom.global.add.u32 %r6, [%rd1], 1;"), false);
  CHECK(execute(loop("red.global.add.u32 [%rd1], 1;"), 2).data[0] == 40 * kGridCtas * kCtaThreads);
}

TEST_CASE("what a reduction seems to return does not change the order of warps") {
  // The first warp adds as often as a poll may see the same; it stores before the second does, as its sums
  // differ.
  const std::string body =
      "mul.wide.u32 %rd4, %r1, 256; add.u64 %rd4, %rd4, %rd1; mov.u32 %r7, 0; setp.ge.u32 %p1, %r3, 32;"
      "@%p1 bra last; loop: atom.global.add.u32 %r6, [%rd1], 1; add.u32 %r7, %r7, 1; setp.lt.u32 %p2, %r7, "
      "18;"
      "@%p2 bra loop; last: st.global.u32 [%rd4+4], %r3;";
  same_as_one(body, false);
  CHECK(execute(body, 2).data[1] == kCtaThreads - 1);
}

TEST_CASE("reductions that somebody looks at, or whose order matters: one by one", "[long]") {
  same_as_one("atom.global.add.u32 %r6, [%rd1], 1; add.u32 %r6, %r6, 1;", false);  // a result that is read
  same_as_one("cvt.rn.f32.u32 %r6, %r5; red.global.add.f32 [%rd1], %r6;", false);
  same_as_one("atom.global.exch.b32 %r6, [%rd1], %r5;", false);
  same_as_one("atom.global.inc.u32 %r6, [%rd1], %r5;", false);
  same_as_one("red.global.add.u32 [%rd1], 1; red.global.add.u64 [%rd1+8], 1;", false);  // two widths
  // Another CTA reads the element, and keeps what it saw.
  same_as_one(
      "setp.eq.u32 %p1, %r1, 0; @%p1 red.global.add.u32 [%rd1], 5; setp.eq.u32 %p2, %r1, 1;"
      "@%p2 ld.global.u32 %r6, [%rd1]; @%p2 st.global.u32 [%rd2], %r6;",
      false);
  // So does the one that reduces it, here before the next one does.
  same_as_one(
      "and.b32 %r6, %r5, 1; setp.eq.u32 %p1, %r6, 0; @%p1 bra done; red.global.add.u32 [%rd2], 5;"
      "ld.global.u32 %r6, [%rd2]; st.global.u32 [%rd2-4], %r6; done:",
      false);
  same_as_one("ld.global.u32 %r6, [%rd2]; red.global.add.u32 [%rd2], %r6;", false);
  same_as_one("st.global.u32 [%rd2], %r3; red.global.add.u32 [%rd2], %r5;", false);
  same_as_one("red.global.add.u32 [%rd2], %r5; st.global.u32 [%rd2], %r3;", false);
  // A loop that only its own reductions end.
  same_as_one(
      "loop: red.global.add.u32 [%rd2], 1; ld.global.u32 %r6, [%rd2]; setp.lt.u32 %p1, %r6, 5000; @%p1 bra "
      "loop;",
      false);
}

TEST_CASE("two reductions of one launch: of one element one by one, of different ones at once") {
  const std::string odd = "and.b32 %r6, %r1, 1; setp.eq.u32 %p1, %r6, 1;";
  same_as_one(odd + "@%p1 red.global.add.u32 [%rd1], 3; @!%p1 red.global.max.u32 [%rd1], 100;", false);
  const auto apart =
      reduced(odd + "@%p1 red.global.add.u32 [%rd1], 3; @!%p1 red.global.max.u32 [%rd1+4], %r5;");
  CHECK(apart[0] == 3 * kGridCtas / 2 * kCtaThreads);
  CHECK(apart[1] == (kGridCtas - 1) * kCtaThreads - 1);
}

namespace {

/// The first warp of each of the first 32 CTAs takes a matrix of 16 x 16 f16, adds 0x10001 to each of its
/// words, and stores it `ahead` bytes further. There are 32 matrices and 4 bytes.
std::string add_to_matrix(const std::string& ahead, const std::string& stride = "16") {
  return "setp.ge.u32 %p1, %r3, 32; @%p1 exit; setp.ge.u32 %p2, %r1, 31; @%p2 exit;"
         ".reg .b32 %c<4>; mul.wide.u32 %rd4, %r1, 512; add.u64 %rd4, %rd4, %rd1; mov.u32 %r8, " +
         stride +
         ";"
         "wmma.load.c.sync.aligned.row.m16n16k16.global.f16 {%c0, %c1, %c2, %c3}, [%rd4];"
         "add.u32 %c0, %c0, 0x10001; add.u32 %c1, %c1, 0x10001; add.u32 %c2, %c2, 0x10001;"
         "add.u32 %c3, %c3, 0x10001;"
         "wmma.store.d.sync.aligned.row.m16n16k16.global.f16 [%rd4+" +
         ahead + "], {%c0, %c1, %c2, %c3}, %r8;";
}

}  // namespace

TEST_CASE("matrices of wmma: apart at once, through each other's one by one") {
  const auto apart = reduced(add_to_matrix("0"));
  for (unsigned i = 0; i < kGridCtas * kCtaThreads; ++i)
    REQUIRE(apart[i] == i + (i < 31 * 128 ? 0x10001 : 0));
  same_as_one(add_to_matrix("512"), false);
  const auto chain = execute(add_to_matrix("512"), 3).data;
  for (unsigned i = 0; i < kGridCtas * kCtaThreads; ++i) REQUIRE(chain[i] == i % 128 + i / 128 * 0x10001);
  // Lines that overlap are stored element by element; here in what the next CTA loads.
  same_as_one(add_to_matrix("480", "8"), false);
  // As they do here: register by register, which puts columns 8 to 15 of a row over 0 to 7 of the next.
  const auto narrow = reduced(add_to_matrix("0", "8"));
  for (unsigned i = 0; i < 68; ++i)
    REQUIRE(narrow[128 + i] == 128 + (i < 4 ? i : (i / 4 - 1) * 8 + 4 + i % 4) + 0x10001);
  // Odd lanes name another matrix than even ones, which PTX leaves open: the next CTA's, whose even elements
  // are not theirs, or, 4 bytes before it, are.
  const auto by_lane = [](const std::string& bytes) {
    return "and.b32 %r9, %r3, 1; mul.wide.u32 %rd3, %r9, " + bytes + "; add.u64 %rd1, %rd1, %rd3;" +
           add_to_matrix("0");
  };
  same_as_one(by_lane("512"), true);
  same_as_one(by_lane("508"), false);
}

TEST_CASE("a fault names the same CTA and thread on any number of threads, and what ran before it is there") {
  const std::string body =
      "st.global.u32 [%rd2], %r1; setp.lt.u32 %p1, %r1, 40; @%p1 bra done; mov.u64 %rd1, 64; st.global.u32 "
      "[%rd1], 1; done:";
  CHECK_FALSE(execute(body, 1).fault.empty());
  same_as_one(body, false);
}

namespace {

struct Kept : CtaSink {
  void take(unsigned, const CtaRecord& record, const std::atomic<bool>&) override {
    const std::lock_guard lock(mutex);
    ctas[record.index] = record;
  }
  void end(unsigned, const std::atomic<bool>&) override {
    const std::lock_guard lock(mutex);
    ++ended;
  }
  std::mutex mutex;
  unsigned ended = 0;
  std::map<std::uint64_t, CtaRecord> ctas;
};

}  // namespace

TEST_CASE("what CTAs executed at once is what they execute one by one") {
  // Each thread loops as often as its number in the CTA says. Matrices and sums lie behind its elements.
  Device device(
      concurrent_kernel("loop: ld.global.u32 %r6, [%rd2]; add.u32 %r6, %r6, %r5; st.global.u32 [%rd2], %r6;"
                        "sub.u32 %r3, %r3, 1; setp.gt.s32 %p1, %r3, 0; @%p1 bra loop;"
                        ".reg .b32 %c<4>; mul.wide.u32 %rd4, %r1, 512; add.u64 %rd4, %rd4, %rd1;"
                        "wmma.load.c.sync.aligned.col.m16n16k16.f16 {%c0, %c1, %c2, %c3}, [%rd4+20480];"
                        "wmma.store.d.sync.aligned.row.m16n16k16.f16 [%rd4+20480], {%c0, %c1, %c2, %c3};"
                        "mov.u32 %r3, %tid.x; mul.wide.u32 %rd5, %r3, 8; add.u64 %rd5, %rd5, %rd1;"
                        "red.global.add.u32 [%rd5+16384], %r1; atom.global.add.u32 %r7, [%rd5+16388], %r1;"));
  const Address data = device.zeros<std::uint32_t>(kGridCtas * kCtaThreads + 1024 + kGridCtas * 128);
  const auto executable = device.kernel("k");
  const Arguments arguments(data);
  Launch launch;
  launch.kernel = executable.get();
  launch.grid = {kGridCtas, 1, 1};
  launch.block = {kCtaThreads, 1, 1};
  launch.cluster = {1, 1, 1};
  launch.parameters = arguments.bytes();
  RunOptions options;
  options.threads = 3;
  Kept kept;
  Grid at_once(launch, device.memory, options);
  REQUIRE(at_once.run_concurrently(&kept));
  REQUIRE(kept.ctas.size() == kGridCtas);
  CHECK(kept.ended == options.threads);
  Grid grid(launch, device.memory, options);
  CtaRecord record;
  for (std::uint64_t i = 0; i < kGridCtas; ++i) {
    REQUIRE(grid.run_cta(i, &record));
    const CtaRecord& same = kept.ctas.at(i);
    REQUIRE(same.warps.size() == record.warps.size());
    for (std::size_t w = 0; w < record.warps.size(); ++w) {
      CHECK((same.warps[w].records == record.warps[w].records));
      CHECK((same.warps[w].words == record.warps[w].words));
    }
  }
}

}  // namespace lockstep::exec::test
