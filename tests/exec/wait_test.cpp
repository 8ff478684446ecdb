// Launches that wait for a write from outside: known by their state, set aside, and gone on with.
#include <algorithm>
#include <catch2/catch.hpp>

#include "tests/exec/support.hpp"

namespace lockstep::exec::test {
namespace {

constexpr int kWaitingKernels = 5;

/// Loops around a load of [latch], until it is not 0; 32 threads. `out`: thread 0 counts.
std::string kernel_text(const std::string& declarations, const std::string& body) {
  return ".visible .entry wait(.param .u64 latch, .param .u64 out) {\n.reg .pred %p<4>;\n.reg .b32 %r<8>;\n"
         ".reg .b64 %rd<4>;\n" +
         declarations +
         "ld.param.u64 %rd1, [latch];\nld.param.u64 %rd2, [out];\nmov.u32 %r2, 0;\nmov.u32 %r3, "
         "%ctaid.x;\n$L:\n" +
         body + "setp.eq.u32 %p1, %r1, 0;\n@%p1 bra $L;\nst.global.u32 [%rd2], %r1;\nret;\n}\n";
}

struct Waiting {
  explicit Waiting(const std::string& text, unsigned ctas = 1, unsigned threads = 32)
      : device(text), latch(device.zeros<std::uint32_t>(2)), out(device.zeros<std::uint32_t>(8)) {
    device.options.may_wait = true;
    kernel = device.kernel("wait");
    Launch launch;
    launch.kernel = kernel.get();
    launch.grid = {ctas, 1, 1};
    launch.block = {threads, 1, 1};
    launch.parameters = arguments().bytes();
    grid = std::make_unique<Grid>(launch, device.memory, device.options);
  }
  Arguments& arguments() { return *(given = std::make_unique<Arguments>(latch, out)); }
  void write(std::uint32_t value) const { std::memcpy(reinterpret_cast<void*>(latch), &value, sizeof value); }
  [[nodiscard]] std::uint32_t result() const { return device.read<std::uint32_t>(out, 1)[0]; }

  Device device;
  Address latch, out;
  std::unique_ptr<Arguments> given;
  std::unique_ptr<const Executable> kernel;
  std::unique_ptr<Grid> grid;
};

}  // namespace

TEST_CASE("a grid that only polls waits, for the words it has read, and goes on", "[long]") {
  const std::string bodies[kWaitingKernels] = {
      "ld.volatile.global.u32 %r1, [%rd1];\n",
      "ld.global.u32 %r1, [%rd1];\nmembar.sys;\n",
      "atom.global.add.u32 %r1, [%rd1], 0;\nnanosleep.u32 100;\n",
      "ld.acquire.sys.global.u32 %r1, [%rd1];\nst.global.u32 [%rd2+4], %r3;\n",  // what is there already
      "ld.volatile.global.v2.u32 {%r1, %r4}, [%rd1];\nbar.sync 0;\n",
  };
  for (const std::string& body : bodies) {
    INFO(body);
    Waiting w(kernel_text("", body));
    CtaRecord record;
    CHECK_FALSE(w.grid->run_cta(0, &record));
    REQUIRE(w.grid->waits());
    const auto words = w.grid->awaited();
    REQUIRE_FALSE(words.empty());
    CHECK(words[0].address == w.latch);
    CHECK(words[0].bytes == (body.find(".v2") == std::string::npos ? 4 : 8));
    CHECK(words[0].bits == 0);
    CHECK_FALSE(w.grid->run_cta(0, &record));  // nothing has been written
    CHECK(w.grid->waits());
    w.write(7);
    CHECK(w.grid->run_cta(0, &record));
    CHECK_FALSE(w.grid->waits());
    CHECK(w.result() == 7);
  }
}

TEST_CASE("a plain load in a loop without a fence takes long, and waits too") {
  Waiting w(kernel_text("", "ld.global.u32 %r1, [%rd1];\n"));
  CHECK_FALSE(w.grid->run_cta(0, nullptr));
  CHECK(w.grid->waits());
  w.write(1);
  CHECK(w.grid->run_cta(0, nullptr));
}

TEST_CASE("who gets further does not wait: registers, stores, clocks") {
  const std::string counts = "ld.volatile.global.u32 %r1, [%rd1];\nadd.u32 %r2, %r2, 1;\n";
  const auto until = [](const std::string& what) {
    return what + "setp.gt.u32 %p2, %r2, 50000;\n@%p2 mov.u32 %r1, 9;\n";
  };
  const std::string stores = "st.volatile.global.u32 [%rd2+4], %r2;\n";
  for (const std::string& body : {until(counts), until(counts + stores)}) {
    INFO(body);
    Waiting w(kernel_text("", body), 1, 1);
    CHECK(w.grid->run_cta(0, nullptr));
    CHECK(w.result() == 9);
  }
  Waiting clock(kernel_text("",
                            "ld.volatile.global.u32 %r1, [%rd1];\nmov.u32 %r4, %clock;\n"
                            "setp.gt.u32 %p2, %r4, 1000000;\n@%p2 mov.u32 %r1, 4;\n"),
                1, 1);
  CHECK(clock.grid->run_cta(0, nullptr));
  CHECK(clock.result() == 4);
}

TEST_CASE("CTAs that wait for one that comes after them do not wait for the outside") {
  Waiting w(kernel_text("",
                        "setp.eq.u32 %p2, %r3, 39;\n@%p2 st.volatile.global.u32 [%rd1], 3;\n"
                        "ld.volatile.global.u32 %r1, [%rd1];\n"),
            40);
  for (std::uint64_t cta = 0; cta < 40; ++cta) CHECK(w.grid->run_cta(cta, nullptr));
  CHECK(w.result() == 3);
}

TEST_CASE("what led back to the same state is not recorded, and the record is the same in every run") {
  std::size_t sizes[2] = {};
  for (std::size_t& size : sizes) {
    Waiting w(kernel_text("", "ld.volatile.global.u32 %r1, [%rd1];\n"), 2);
    CtaRecord record;
    CHECK_FALSE(w.grid->run_cta(0, &record));
    w.write(1);
    CHECK(w.grid->run_cta(0, &record));
    size = record.warps[0].records.size();
    CHECK(w.grid->run_cta(1, &record));
  }
  CHECK(sizes[0] == sizes[1]);
  CHECK(sizes[0] < 4 + 200 * 3);
}

TEST_CASE("threads that poll shared memory that no other thread can change are a deadlock") {
  // 64 arrivals are expected, 32 come: PTX ISA, mbarrier: the phase is not complete before all have come.
  const std::string text = R"(
.visible .entry wait(.param .u64 latch, .param .u64 out) {
  .reg .pred %p<3>; .reg .b32 %r<3>; .reg .b64 %rd<2>;
  .shared .align 8 .b64 bar;
  mov.u32 %r1, %tid.x;
  setp.lt.u32 %p1, %r1, 32;
  setp.ne.u32 %p2, %r1, 0;
  @!%p2 mbarrier.init.shared.b64 [bar], 64;
  bar.sync 0;
  @%p1 bra $END;
  mbarrier.arrive.shared.b64 %rd1, [bar];
$L:
  mbarrier.test_wait.shared.b64 %p2, [bar], %rd1;
  @!%p2 bra $L;
$END:
  bar.sync 0;
  ret;
})";
  Waiting w(text, 1, 64);
  try {
    (void)w.grid->run_cta(0, nullptr);
    FAIL("no fault");
  } catch (const DeviceFault& fault) {
    CHECK(fault.kind() == FaultKind::kDeadlock);
  }
}

TEST_CASE("without leave to wait a launch goes on until it is interrupted") {
  Waiting w(kernel_text("", "ld.volatile.global.u32 %r1, [%rd1];\n"));
  RunOptions options = w.device.options;
  options.may_wait = false;
  options.max_instructions = 1 << 20;
  Launch launch;
  launch.kernel = w.kernel.get();
  launch.parameters = w.arguments().bytes();
  Grid grid(launch, w.device.memory, options);
  CHECK_THROWS_AS(grid.run_cta(0, nullptr), DeviceFault);
}

}  // namespace lockstep::exec::test
