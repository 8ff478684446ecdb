// CTAs of one device that wait for each other's flags: waits take the time until the flag is there, however
// often the executor polled.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/cli/program.hpp"

using namespace lockstep::cli;
using Json = nlohmann::json;

namespace {

/// CTA i waits, as `wait` does it, until flag i is `round`, but for CTA 0, and sets flag i + 1; flags are 128
/// bytes apart.
std::string passing_on(const std::string& name, const std::string& wait) {
  return ".visible .entry " + name + R"((.param .u64 flags, .param .u32 round) {
  .reg .pred %p<3>; .reg .b32 %r<6>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [flags]; ld.param.u32 %r1, [round];
  mov.u32 %r2, %ctaid.x; mul.wide.u32 %rd2, %r2, 128; add.u64 %rd3, %rd1, %rd2;
  setp.eq.u32 %p1, %r2, 0;
  @%p1 bra $SET;
)" + wait +
         R"(
$SET:
  st.volatile.global.u32 [%rd3+128], %r1;
  ret;
}
)";
}

constexpr const char* kPolling = R"($WAIT:
  ld.volatile.global.u32 %r3, [%rd3];
  setp.lt.u32 %p1, %r3, %r1;
  @%p1 bra $WAIT;)";
// As a compiler turns while (*flag < round) __nanosleep(20): the first test is before the loop.
constexpr const char* kSleeping = R"(
  ld.volatile.global.u32 %r3, [%rd3];
  setp.ge.u32 %p1, %r3, %r1;
  @%p1 bra $SET;
$WAIT:
  mov.u32 %r4, 20; nanosleep.u32 %r4;
  ld.volatile.global.u32 %r5, [%rd3];
  setp.lt.u32 %p2, %r5, %r1;
  @%p2 bra $WAIT;)";

// guarded: CTA 0 sets the flag to 5 and to 9; with 5, which CTA 1 never sees, a round would change what it
// stores.
// turns: CTA 0 and CTA 1 answer each other `round` times.
// meet: a barrier of all CTAs, as a cooperative launch has it, `round` times.
constexpr const char* kOthers = R"(.visible .entry guarded(.param .u64 flag, .param .u64 out) {
  .reg .pred %p<5>; .reg .b32 %r<6>; .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [flag]; ld.param.u64 %rd2, [out];
  mov.u32 %r1, %ctaid.x; mov.u32 %r2, 1; setp.ne.u32 %p1, %r1, 0;
  @%p1 bra $WAIT;
  mov.u32 %r3, 5; st.volatile.global.u32 [%rd1], %r3; mov.u32 %r3, 9; st.volatile.global.u32 [%rd1], %r3;
  ret;
$WAIT:
  ld.volatile.global.u32 %r3, [%rd1];
  setp.eq.u32 %p1, %r3, 9;
  @%p1 bra $DONE;
  setp.ne.u32 %p2, %r3, 5;
  @%p2 bra $AGAIN;
  setp.eq.u32 %p3, %r3, 1;
  @%p3 st.global.u32 [%rd2], %r3;
  mov.u32 %r2, 77;
$AGAIN:
  bra $WAIT;
$DONE:
  st.global.u32 [%rd2], %r2;
  ret;
}
.visible .entry turns(.param .u64 flags, .param .u32 round) {
  .reg .pred %p<3>; .reg .b32 %r<6>; .reg .b64 %rd<6>;
  ld.param.u64 %rd1, [flags]; ld.param.u32 %r1, [round];
  mov.u32 %r2, %ctaid.x; xor.b32 %r3, %r2, 1; setp.eq.u32 %p1, %r2, 0;
  mul.wide.u32 %rd2, %r2, 128; add.u64 %rd2, %rd1, %rd2; mul.wide.u32 %rd3, %r3, 128; add.u64 %rd3, %rd1, %rd3;
  mov.u32 %r4, 1;
$NEXT:
  @%p1 st.volatile.global.u32 [%rd3], %r4;
$WAIT:
  ld.volatile.global.u32 %r5, [%rd2];
  setp.lt.u32 %p2, %r5, %r4;
  @%p2 bra $WAIT;
  @!%p1 st.volatile.global.u32 [%rd3], %r4;
  add.u32 %r4, %r4, 1; setp.le.u32 %p2, %r4, %r1;
  @%p2 bra $NEXT;
  ret;
}
.visible .entry meet(.param .u64 count, .param .u32 round) {
  .reg .pred %p<2>; .reg .b32 %r<7>; .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [count]; ld.param.u32 %r1, [round];
  mov.u32 %r2, %nctaid.x; mov.u32 %r3, %r2;
$NEXT:
  membar.gl;
  atom.global.add.u32 %r4, [%rd1], 1;
$WAIT:
  ld.volatile.global.u32 %r5, [%rd1];
  setp.lt.u32 %p1, %r5, %r3;
  @%p1 bra $WAIT;
  add.u32 %r3, %r3, %r2; add.u32 %r1, %r1, -1; setp.ne.u32 %p1, %r1, 0;
  @%p1 bra $NEXT;
  ret;
}
)";

// RRZE-HPC/gpu-benches, gpu-latency on a V100: a load that hits the L2, 212 cycles. Whoever waits for a flag
// sees it after the store's way to the L2 and its own load's way back, and one more load at most: one that
// was just too early.
constexpr double kRoundTrip = 212;

class Waits {
 public:
  Waits() {
    std::ofstream(folder_ / "k.ptx") << ".version 7.0\n.target sm_70\n.address_size 64\n"
                                     << passing_on("chain", kPolling) << passing_on("sleeping", kSleeping)
                                     << kOthers;
  }

  std::string run(const std::string& script, std::vector<std::string> more = {}) const {
    std::ofstream(folder_ / "k.launch") << script;
    std::vector<std::string> words = {"run", folder_ / "k.ptx", "--launch", folder_ / "k.launch", "-c",
                                      "v100"};
    more.insert(more.end(), {"-q", "-o", folder_ / "out"});
    return stats(words, more);
  }
  /// Of a recording of the script.
  std::string replay(const std::string& script, const std::vector<std::string>& more) const {
    std::ofstream(folder_ / "k.launch") << script;
    const Finished recorded = lockstep::cli::run({"record", folder_ / "kept.lst", "-c", "v100", "--launch",
                                                  folder_ / "k.launch", "--", folder_ / "k.ptx"});
    INFO(recorded.err);
    REQUIRE(recorded.code == 0);
    std::vector<std::string> words = more;
    words.insert(words.end(), {"-q", "-o", folder_ / "out"});
    return stats({"run", folder_ / "kept.lst", "-c", "v100"}, words);
  }
  double cycles(const std::string& script, const std::vector<std::string>& more = {}) const {
    return Json::parse(run(script, more)).at("kernels").at(0).at("cycles").get<double>();
  }
  /// What each of `steps` more adds; `script` has {} for their number.
  double slope(const std::string& script, unsigned steps) const {
    const auto at = [&](unsigned n) { return cycles(fmt::format(fmt::runtime(script), n)); };
    return (at(2 * steps) - at(steps)) / steps;
  }

 private:
  std::string stats(std::vector<std::string> words, const std::vector<std::string>& more) const {
    words.insert(words.end(), more.begin(), more.end());
    const Finished done = lockstep::cli::run(words);
    INFO(done.err);
    REQUIRE(done.code == 0);
    return slurp(folder_ / "out/stats.json");
  }

  Folder folder_;
};

const std::string kChain = "buffer flags 65536\nlaunch chain grid {} block 1 args flags 1\nwait\n";

}  // namespace

TEST_CASE("a flag that CTAs pass on takes its way through the L2 from each to the next", "[long]") {
  const Waits program;
  const double hop = program.slope(kChain, 32);
  CHECK(hop > kRoundTrip);
  CHECK(hop < 3 * kRoundTrip);
  const double sleeping =
      program.slope("buffer flags 65536\nlaunch sleeping grid {} block 1 args flags 1\nwait\n", 32);
  CHECK(sleeping > kRoundTrip);
  CHECK(sleeping < 3 * kRoundTrip);
  const double turn =
      program.slope("buffer flags 256\nlaunch turns grid 2 block 1 args flags {}\nwait\n", 32);
  CHECK(turn > 2 * kRoundTrip);
  CHECK(turn < 6 * kRoundTrip);
}

TEST_CASE("a barrier of all CTAs takes an atomic's round trip and the flag's", "[long]") {
  const Waits program;
  const double barrier =
      program.slope("buffer count 4\nlaunch meet grid 80 block 1 args count {}\nwait\n", 8);
  CHECK(barrier > 2 * kRoundTrip);
  CHECK(barrier < 6 * kRoundTrip + 2 * 80);  // and an atomic and a poll of each CTA at one word
}

TEST_CASE("looking for the signal that ended a wait changes no register") {
  const Waits program;
  (void)program.run(
      "buffer flag 4\nbuffer out 4\nlaunch guarded grid 2 block 1 args flag out\nwait\n"
      "expect out u32 sequence 1 0 count 1\n");
}

TEST_CASE("waits of CTAs: threads, windows, order and recordings change nothing", "[matrix][long]") {
  const Waits program;
  const std::string script = fmt::format(fmt::runtime(kChain), 100) +
                             "buffer count 4\nlaunch meet grid 120 block 32 args count 3\nwait\n";
  const std::string stats = program.run(script, {"--threads", "1"});
  CHECK(program.run(script, {"--threads", "2", "--window", "7", "--shuffle", "3"}) == stats);
  CHECK(program.run(script, {"--threads", "4", "--no-skip"}) == stats);
  CHECK(program.replay(script, {"--threads", "3", "--window", "1", "--shuffle", "9"}) == stats);
}

TEST_CASE("where only some kernels are timed, waits for what the others signalled end") {
  const Waits program;
  // Each launch waits for flags with as many signals as there were launches.
  const std::string script =
      "buffer flags 65536\nlaunch chain grid 60 block 1 args flags 1\nwait\n"
      "launch chain grid 60 block 1 args flags 2\nwait\nlaunch chain grid 60 block 1 args flags 3\nwait\n";
  const Json all = Json::parse(program.replay(script, {}));
  REQUIRE(all.at("kernels").size() == 3);
  const Json third = Json::parse(program.replay(script, {"--kernels", "3"}));
  REQUIRE(third.at("kernels").size() == 1);
  const double alone = third.at("kernels")[0].at("cycles"), among = all.at("kernels")[2].at("cycles");
  CHECK(alone < among / 2);  // it waits for nothing: CTAs run side by side
  const Json sampled = Json::parse(program.replay(script, {"--sample", "error=50%,confidence=80%,seed=1"}));
  CHECK(sampled.at("kernels").size() == 3);
}
