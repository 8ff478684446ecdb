// Signals and what the record says of loops that wait for them. Values are those of the written order.
#include <catch2/catch.hpp>

#include "exec/signal_log.hpp"
#include "tests/exec/support.hpp"
#include "trace/awaited_signals.hpp"

namespace lockstep::exec::test {
namespace {

/// write(at, value, how): the ways in which a kernel writes; wait(at, least): until *at >= least.
const char* const kSignalKernels = R"(
.visible .entry plain(.param .u64 at, .param .u32 value) {
  .reg .b32 %r<2>; .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [at]; ld.param.u32 %r1, [value];
  st.global.u32 [%rd1], %r1;
  ret;
}
.visible .entry strong(.param .u64 at, .param .u32 value) {
  .reg .b32 %r<2>; .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [at]; ld.param.u32 %r1, [value];
  st.volatile.global.u32 [%rd1], %r1;
  ret;
}
.visible .entry fenced(.param .u64 at, .param .u32 value) {
  .reg .b32 %r<2>; .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [at]; ld.param.u32 %r1, [value];
  membar.sys;
  st.global.u32 [%rd1], %r1;
  ret;
}
.visible .entry add(.param .u64 at, .param .u32 value) {
  .reg .b32 %r<2>; .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [at]; ld.param.u32 %r1, [value];
  red.release.sys.global.add.u32 [%rd1], %r1;
  ret;
}
.visible .entry wait(.param .u64 at, .param .u32 least) {
  .reg .pred %p; .reg .b32 %r<3>; .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [at]; ld.param.u32 %r1, [least];
AGAIN:
  ld.acquire.sys.global.u32 %r2, [%rd1];
  setp.lt.u32 %p, %r2, %r1;
  @%p bra AGAIN;
  ret;
}
.visible .entry wait64(.param .u64 at, .param .u32 least) {
  .reg .pred %p; .reg .b32 %r<3>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [at]; ld.param.u32 %r1, [least];
  cvt.u64.u32 %rd2, %r1;
AGAIN:
  ld.volatile.global.u64 %rd3, [%rd1];
  setp.ge.u64 %p, %rd3, %rd2;
  @%p bra DONE;
  nanosleep.u32 20;
  bra.uni AGAIN;
DONE:
  ret;
}
.visible .entry wait_each(.param .u64 at, .param .u32 least) {
  .reg .pred %p; .reg .b32 %r<4>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [at]; ld.param.u32 %r1, [least];
  mov.u32 %r3, %tid.x;
  mul.wide.u32 %rd2, %r3, 4;
  add.u64 %rd3, %rd1, %rd2;
AGAIN:
  ld.volatile.global.u32 %r2, [%rd3];
  setp.lt.u32 %p, %r2, %r1;
  @%p bra AGAIN;
  ret;
}
.visible .entry counted(.param .u64 at, .param .u32 least) {
  .reg .pred %p; .reg .b32 %r<4>; .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [at]; ld.param.u32 %r1, [least];
  mov.u32 %r3, 0;
AGAIN:
  ld.volatile.global.u32 %r2, [%rd1];
  add.u32 %r3, %r3, 1;
  add.u32 %r2, %r2, %r3;
  setp.lt.u32 %p, %r2, %r1;
  @%p bra AGAIN;
  ret;
}
.visible .entry vectors(.param .u64 at, .param .u32 value) {
  .reg .b32 %r<3>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [at]; ld.param.u32 %r1, [value];
  mov.u32 %r2, %tid.x;
  mul.wide.u32 %rd2, %r2, 16;
  add.u64 %rd3, %rd1, %rd2;
  st.volatile.global.v4.u32 [%rd3], {%r1, %r1, %r1, %r1};
  ret;
}
.visible .entry wait_vectors(.param .u64 at, .param .u32 least) {
  .reg .pred %p<5>; .reg .b32 %r<9>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [at]; ld.param.u32 %r1, [least];
  mov.u32 %r2, %tid.x;
  mul.wide.u32 %rd2, %r2, 16;
  add.u64 %rd3, %rd1, %rd2;
  mov.u32 %r3, 0;
AGAIN:
  ld.volatile.global.v4.u32 {%r4, %r5, %r6, %r7}, [%rd3];
  add.u32 %r3, %r3, 1;
  setp.lt.u32 %p1, %r3, 50;
  @%p1 bra TEST;
  mov.u32 %r3, 0;
  ld.volatile.global.u32 %r8, [%rd1+1020];
  setp.ne.u32 %p2, %r8, 0;
  @%p2 bra DONE;
TEST:
  setp.lt.u32 %p3, %r5, %r1;
  setp.lt.u32 %p4, %r7, %r1;
  or.pred %p3, %p3, %p4;
  @%p3 bra AGAIN;
DONE:
  ret;
}
.visible .entry wait_all(.param .u64 at, .param .u32 least) {
  .reg .pred %p<5>; .reg .b32 %r<4>; .reg .b64 %rd<9>;
  ld.param.u64 %rd1, [at]; ld.param.u32 %r1, [least];
  cvt.u64.u32 %rd8, %r1;
  mov.u32 %r2, %tid.x;
  mul.wide.u32 %rd2, %r2, 16;
  add.u64 %rd3, %rd1, %rd2;
  mov.u32 %r3, -1;
AGAIN:
  ld.volatile.global.v2.u64 {%rd4, %rd5}, [%rd3];
  setp.lt.u64 %p1, %rd5, %rd8;
  ld.volatile.global.v2.u64 {%rd6, %rd7}, [%rd3+512];
  setp.lt.u64 %p2, %rd7, %rd8;
  or.pred %p1, %p1, %p2;
  vote.sync.any.pred %p3, %p1, %r3;
  @%p3 bra AGAIN;
  ret;
}
.visible .entry wait_both(.param .u64 at, .param .u32 least) {
  .reg .pred %p<5>; .reg .b32 %r<9>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [at]; ld.param.u32 %r1, [least];
  mov.u32 %r3, 0;
AGAIN:
  ld.volatile.global.u32 %r4, [%rd1];
  add.u32 %r3, %r3, 1;
  setp.lt.u32 %p1, %r3, 50;
  @%p1 bra TEST;
  mov.u32 %r3, 0;
  add.u64 %rd2, %rd1, 1020;
  ld.volatile.global.u32 %r8, [%rd2];
  setp.ne.u32 %p2, %r8, 0;
  @%p2 bra DONE;
TEST:
  ld.volatile.global.u32 %r5, [%rd1+128];
  setp.lt.u32 %p3, %r4, %r1;
  setp.lt.u32 %p4, %r5, %r1;
  or.pred %p3, %p3, %p4;
  @%p3 bra AGAIN;
DONE:
  ret;
}
.visible .entry wait_last(.param .u64 at, .param .u32 least) {
  .reg .pred %p; .reg .b32 %r<3>; .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [at]; ld.param.u32 %r1, [least];
AGAIN:
  ld.volatile.global.v4.u32 {_, _, _, %r2}, [%rd1];
  setp.lt.u32 %p, %r2, %r1;
  @%p bra AGAIN;
  ret;
}
.visible .entry moves(.param .u64 at, .param .u32 least) {
  .reg .pred %p; .reg .b32 %r<3>; .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [at]; ld.param.u32 %r1, [least];
  add.u64 %rd2, %rd1, 4;
AGAIN:
  ld.volatile.global.u32 %r2, [%rd1];
  mov.u64 %rd1, %rd2;
  setp.lt.u32 %p, %r2, %r1;
  @%p bra AGAIN;
  ret;
}
.visible .entry patient(.param .u64 at, .param .u32 rounds) {
  .reg .pred %p; .reg .b32 %r<4>; .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [at]; ld.param.u32 %r1, [rounds];
  mov.u32 %r3, 0;
AGAIN:
  ld.volatile.global.u32 %r2, [%rd1];
  setp.ne.u32 %p, %r2, 0;
  @%p bra DONE;
  add.u32 %r3, %r3, 1;
  setp.lt.u32 %p, %r3, %r1;
  @%p bra AGAIN;
  st.global.u32 [%rd1+4], %r3;
DONE:
  ret;
}
.visible .entry chase(.param .u64 at, .param .u32 least) {
  .reg .pred %p; .reg .b32 %r<2>; .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [at];
AGAIN:
  mov.u64 %rd2, %rd1;
  ld.volatile.global.u64 %rd1, [%rd2];
  setp.ne.u64 %p, %rd1, 0;
  @%p bra AGAIN;
  ret;
}
)";

struct Awaited {
  Address word;
  std::uint32_t signals;
  LaneMask lanes;
  bool operator==(const Awaited&) const = default;
};

struct Signalling : Device {
  Signalling() : Device(kSignalKernels), at(zeros<std::uint32_t>(512)) {
    options.signals = &log;
    options.may_wait = true;
  }
  void write(const char* how, std::uint32_t value, unsigned word = 0, unsigned threads = 1) {
    run(how, {1, 1, 1}, {threads, 1, 1}, Arguments(at + 4 * word, value));
  }
  struct Launched {
    std::unique_ptr<Executable> kernel;
    std::unique_ptr<Grid> grid;
    CtaRecord record;
    /// False: it waits.
    bool go_on() { return grid->run_cta(0, &record); }
    [[nodiscard]] std::vector<Awaited> awaited() const {
      std::vector<Awaited> found;
      const std::uint64_t* words = record.warps.at(0).words.data();
      for (const trace::Record& r : record.warps[0].records) {
        if (r.inst() == kernel->await_record()) {
          const trace::AwaitedSignals one = trace::awaited_signals(r.form(), words);
          found.push_back({one.word, one.signals, r.mask});
        }
        words += trace::address_words(r.form(), r.mask);
      }
      return found;
    }
    [[nodiscard]] std::size_t loads() const {
      std::size_t count = 0;
      for (const trace::Record& r : record.warps.at(0).records)
        count += r.inst() < kernel->operations().size() &&
                 kernel->operations()[r.inst()].handler == Handler::kLoad &&
                 kernel->memory()[kernel->operations()[r.inst()].detail].polls;
      return count;
    }
  };
  Launched launch(const char* name, std::uint32_t least, unsigned threads = 1) {
    Launched made;
    made.kernel = kernel(name);
    Launch what;
    what.kernel = made.kernel.get();
    what.grid = {1, 1, 1};
    what.block = {threads, 1, 1};
    const Arguments arguments(at, least);
    what.parameters = arguments.bytes();
    made.grid = std::make_unique<Grid>(what, memory, options);
    return made;
  }
  SignalLog log;
  Address at;
};

TEST_CASE("A kernel that comes late waits for the first signal that would have let it go on") {
  Signalling device;
  for (const std::uint32_t value : {1u, 2u, 3u, 7u, 8u, 9u}) device.write("strong", value);
  const std::pair<std::uint32_t, std::uint32_t> cases[] = {{1, 1}, {3, 3}, {4, 4}, {7, 4}, {8, 5}, {9, 6}};
  for (const auto& [least, signals] : cases) {
    auto waiter = device.launch("wait", least);
    REQUIRE(waiter.go_on());
    CHECK((waiter.awaited() == std::vector<Awaited>{{device.at, signals, 1}}));
    CHECK(waiter.loads() == 1);
  }
  auto at_once = device.launch("wait", 0);  // 0 was there before the first
  REQUIRE(at_once.go_on());
  CHECK(at_once.awaited().empty());
}

TEST_CASE("A kernel that waits leaves no rounds in its record, however often others run") {
  Signalling device;
  auto waiter = device.launch("wait", 2);
  CHECK_FALSE(waiter.go_on());
  CHECK(waiter.grid->waits());
  device.write("add", 1);
  CHECK_FALSE(waiter.go_on());
  device.write("add", 1);
  REQUIRE(waiter.go_on());
  CHECK((waiter.awaited() == std::vector<Awaited>{{device.at, 2, 1}}));
  CHECK(waiter.loads() == 1);
}

TEST_CASE("Strong stores, stores after fences and releasing reductions are signals; plain stores are not") {
  for (const auto& [how, waits] :
       {std::pair{"strong", true}, {"fenced", true}, {"add", true}, {"plain", false}}) {
    INFO(how);
    Signalling device;
    device.write(how, 1);
    auto waiter = device.launch("wait", 1);
    REQUIRE(waiter.go_on());
    CHECK(waiter.awaited().empty() != waits);
  }
}

TEST_CASE("What something else has written is not waited for") {
  Signalling device;
  device.write("strong", 1);
  const std::uint32_t five = 5;  // a copy
  std::memcpy(reinterpret_cast<void*>(device.at), &five, sizeof five);
  auto waiter = device.launch("wait", 2);
  REQUIRE(waiter.go_on());
  CHECK(waiter.awaited().empty());
  device.write("strong", 6);  // from 5 to 6: 5 would have done
  auto second = device.launch("wait", 2);
  REQUIRE(second.go_on());
  CHECK((second.awaited() == std::vector<Awaited>{{device.at, 1, 1}}));
}

TEST_CASE("Eight bytes are looked at together") {
  Signalling device;
  for (const std::uint32_t value : {1u, 2u, 3u}) device.write("strong", value);
  auto waiter = device.launch("wait64", 2);
  REQUIRE(waiter.go_on());
  CHECK((waiter.awaited() == std::vector<Awaited>{{device.at, 2, 1}}));
}

TEST_CASE("Lanes that wait for different words have a record each") {
  Signalling device;
  for (unsigned word = 0; word < 3; ++word)
    for (std::uint32_t value = 1; value <= word + 1; ++value) device.write("strong", 10 * value, word);
  auto waiter = device.launch("wait_each", 10, 3);
  REQUIRE(waiter.go_on());
  CHECK((waiter.awaited() ==
         std::vector<Awaited>{{device.at, 1, 1}, {device.at + 4, 1, 2}, {device.at + 8, 1, 4}}));
}

TEST_CASE("A loop that counts its rounds is not one that signals end") {
  Signalling device;
  device.write("strong", 1);
  auto waiter = device.launch("counted", 40);
  REQUIRE(waiter.go_on());
  CHECK(waiter.awaited().empty());
  CHECK(waiter.loads() == 39);
}

TEST_CASE(
    "A loop that counts only to look at an abort flag now and then waits, with a count that stands still") {
  Signalling device;
  auto waiter = device.launch("wait_vectors", 7, 32);
  for (int turn = 0; turn < 200; ++turn) CHECK_FALSE(waiter.go_on());
  CHECK(waiter.grid->waits());
  device.write("vectors", 7, 0, 32);
  REQUIRE(waiter.go_on());
  CHECK(waiter.loads() == 1);
  // One store of 512 bytes, which reaches its four lines of 128 bytes one by one.
  CHECK((waiter.awaited() == std::vector<Awaited>{{device.at, 1, 0xff},
                                                  {device.at + 128, 1, 0xff00},
                                                  {device.at + 256, 1, 0xff0000},
                                                  {device.at + 384, 1, 0xff000000}}));
}

TEST_CASE("Elements of a vector are looked at together") {
  Signalling device;
  for (const std::uint32_t value : {1u, 2u, 3u}) device.write("vectors", value, 0, 2);
  auto late = device.launch("wait_vectors", 2, 2);
  REQUIRE(late.go_on());
  CHECK((late.awaited() == std::vector<Awaited>{{device.at, 2, 1}, {device.at + 16, 2, 2}}));
}

TEST_CASE("Words of a line that came with different stores are waited for one by one") {
  Signalling device;
  device.write("vectors", 5);
  device.write("vectors", 5, 4);
  auto waiter = device.launch("wait_vectors", 5, 2);
  REQUIRE(waiter.go_on());
  CHECK((waiter.awaited() == std::vector<Awaited>{{device.at, 1, 1}, {device.at + 16, 1, 2}}));
}

TEST_CASE("A round of several loads and a vote waits until all lanes have what they wait for") {
  Signalling device;
  auto waiter = device.launch("wait_all", 3, 32);
  CHECK_FALSE(waiter.go_on());
  device.write("vectors", 3, 0, 32);
  CHECK_FALSE(waiter.go_on());
  device.write("vectors", 3, 128, 31);
  CHECK_FALSE(waiter.go_on());
  device.write("vectors", 3, 128 + 4 * 31);
  REQUIRE(waiter.go_on());
  CHECK(waiter.loads() == 2);
  std::vector<Awaited> all;
  for (unsigned line = 0; line < 8; ++line)
    all.push_back({device.at + 128 * line, 1, 0xffu << 8 * (line % 4)});
  all.back().lanes = 0x7f000000;
  all.push_back({device.at + 1024 - 16, 1, 0x80000000});
  CHECK(waiter.awaited() == all);
}

TEST_CASE("What the rare part loads between two loads of a round does not belong to the round") {
  Signalling device;
  device.write("strong", 5);
  device.write("strong", 5, 32);
  auto waiter = device.launch("wait_both", 5);
  REQUIRE(waiter.go_on());
  CHECK(waiter.loads() == 2);
  CHECK((waiter.awaited() == std::vector<Awaited>{{device.at, 1, 1}, {device.at + 128, 1, 1}}));
}

TEST_CASE("A vector of which the first element is not wanted is waited for, too") {
  Signalling device;
  auto waiter = device.launch("wait_last", 7);
  CHECK_FALSE(waiter.go_on());
  CHECK(waiter.grid->waits());
  device.write("vectors", 7);
  REQUIRE(waiter.go_on());
  CHECK(waiter.awaited().size() == 1);
  CHECK(waiter.loads() == 1);
}

TEST_CASE("A loop that gives up after some rounds is not a waiting loop, nor is a chain of pointers") {
  Signalling device;
  auto patient = device.launch("patient", 100);
  REQUIRE(patient.go_on());
  CHECK(patient.loads() == 100);
  CHECK(*reinterpret_cast<const std::uint32_t*>(device.at + 4) == 100);
  CHECK(device.kernel("chase")->spins().empty());
  CHECK(device.kernel("moves")->spins().empty());  // looks elsewhere from the second round on
  CHECK(device.kernel("patient")->spins().empty());
  CHECK(device.kernel("wait_all")->spins().size() == 1);
  CHECK(device.kernel("wait_vectors")->spins().size() == 1);
}

}  // namespace
}  // namespace lockstep::exec::test
