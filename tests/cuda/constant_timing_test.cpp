// Dependent loads from constant memory through the timing model: what lanes that read different words cost,
// and tables that the caches do not hold.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/cli/program.hpp"

using namespace lockstep::cli;

namespace {

constexpr unsigned kLoads = 512;

/// One warp. Lane l begins at byte l * lane, and each load goes on by `step` bytes within `mask` + 1: the
/// next address waits for the word, which is 0.
constexpr const char* kChasePtx = R"(.version 7.0
.target sm_60
.address_size 64
.const .align 256 .b8 table[65536];
.visible .entry chase(.param .u64 out, .param .u32 lane, .param .u32 step, .param .u32 mask, .param .u32 loads) {
  .reg .pred %p<2>; .reg .b32 %r<12>; .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [out]; ld.param.u32 %r1, [lane]; ld.param.u32 %r2, [step];
  ld.param.u32 %r3, [mask]; ld.param.u32 %r10, [loads];
  mov.u32 %r4, %tid.x; mul.lo.u32 %r5, %r4, %r1; mov.u64 %rd2, table; mov.u32 %r6, 0;
$NEXT:
  cvt.u64.u32 %rd3, %r5; add.u64 %rd4, %rd2, %rd3;
  ld.const.u32 %r7, [%rd4];
  add.u32 %r5, %r5, %r7; add.u32 %r5, %r5, %r2; and.b32 %r5, %r5, %r3;
  add.u32 %r6, %r6, 1; setp.lt.u32 %p1, %r6, %r10;
  @%p1 bra $NEXT;
  mul.wide.u32 %rd5, %r4, 4; add.u64 %rd6, %rd1, %rd5; st.global.u32 [%rd6], %r5;
  ret;
}
)";

struct Chase {
  unsigned lane = 0, step = 0, bytes = 2048;
};

class ConstantBench {
 public:
  explicit ConstantBench(std::string product) : product_(std::move(product)) {
    std::ofstream(folder_ / "chase.ptx") << kChasePtx;
  }
  /// The launch's counters; the text of all statistics in `all`.
  nlohmann::json operator()(const Chase& c, unsigned loads = kLoads, std::vector<std::string> more = {}) {
    std::ofstream(folder_ / "s.launch")
        << fmt::format("buffer out 128\nlaunch chase grid 1 block 32 args out {} {} {} {}\n", c.lane, c.step,
                       c.bytes - 1, loads);
    std::vector<std::string> words = {
        "run", folder_ / "chase.ptx", "--launch", folder_ / "s.launch", "-c", product_, "-q",
        "-o",  folder_ / "out"};
    words.insert(words.end(), more.begin(), more.end());
    const Finished done = run(words);
    INFO(done.err);
    REQUIRE(done.code == 0);
    all = slurp(folder_ / "out/stats.json");
    return nlohmann::json::parse(all).at("kernels").at(0);
  }
  /// Cycles that a load takes more than one of a single word.
  double more_than_uniform(const Chase& c) { return a_load(c) - a_load({}); }

  /// The last launch recorded, and the recording run: the text of all statistics.
  std::string recorded() {
    const Finished done = run({"record", folder_ / "kept.lst", "-c", product_, "--launch",
                               folder_ / "s.launch", "--", folder_ / "chase.ptx"});
    INFO(done.err);
    REQUIRE(done.code == 0);
    REQUIRE(run({"run", folder_ / "kept.lst", "-c", product_, "-q", "-o", folder_ / "kept"}).code == 0);
    return slurp(folder_ / "kept/stats.json");
  }

  std::string all;

 private:
  /// The second half of the loads: the first one is the first lap of the largest table that a test has.
  double a_load(const Chase& c) {
    const double half = (*this)(c, kLoads).at("cycles"), whole = (*this)(c, 2 * kLoads).at("cycles");
    return (whole - half) / kLoads;
  }

  Folder folder_;
  std::string product_;
};

}  // namespace

TEST_CASE("lanes that read different constants are served one after the other", "[long]") {
  // As many requests as there are addresses: CUDA C++ Programming Guide, constant memory. A word in two
  // cycles: microbenchmark of an RTX 3070 (github.com/mushihao/cuda, nv_study).
  ConstantBench bench("v100_sxm2");
  const auto passes = [&](unsigned words) {
    const auto sm = bench({.lane = 4 * words, .step = 0, .bytes = 65536}).at("sm");
    CHECK(sm.at("const_instructions") == kLoads);
    CHECK(sm.at("const_l15_misses") == 0);
    return sm.at("const_passes").get<unsigned>();
  };
  CHECK(passes(0) == kLoads);
  for (const unsigned words : {1u, 2u, 32u}) CHECK(passes(words) == 32 * kLoads);
  // 32 words apart are 32 lines: the L1 holds them.
  for (const unsigned words : {1u, 2u, 16u})
    CHECK(bench.more_than_uniform({.lane = 4 * words, .step = 0, .bytes = 65536}) ==
          Approx(31 * 2).margin(0.1));
}

TEST_CASE("a table beyond the L1 constant cache takes as much longer as mt4g measures", "[long]") {
  // caps-tum/mt4g, sample results @043c8c6 and @4cc5566: latency of the L1.5 less that of the L1.
  for (const auto& [product, more] : {std::pair{"v100", 112.835 - 41.890},
                                      {"rtx2080ti", 124.157 - 71.882},
                                      {"gtx1080ti", 168.528 - 62.910},
                                      {"a100", 120.7 - 74.9},
                                      {"h100_pcie", 104.9 - 20.7}}) {
    INFO(product);
    ConstantBench bench(product);
    CHECK(bench.more_than_uniform({.lane = 0, .step = 64, .bytes = 2048}) == Approx(0).margin(0.1));
    CHECK(bench.more_than_uniform({.lane = 0, .step = 64, .bytes = 16384}) == Approx(more).margin(0.6));
  }
}

TEST_CASE("a table beyond the L1.5 constant cache comes from the L2", "[long]") {
  // The first lap of 64 KiB fills the L1.5 of a GTX 1080 Ti, 32 KiB; from then on each line of 256 bytes is a
  // miss, and every eighth sector of the table a request.
  ConstantBench bench("gtx1080ti");
  const auto half = bench({.lane = 0, .step = 256, .bytes = 65536}, 256);
  const auto whole = bench({.lane = 0, .step = 256, .bytes = 65536}, 512);
  const auto count = [&](const char* name) {
    return whole.at("sm").at(name).get<int>() - half.at("sm").at(name).get<int>();
  };
  CHECK(count("const_l15_misses") == 256);
  CHECK(whole.at("l2").at("fetches").get<int>() - half.at("l2").at("fetches").get<int>() == 256 * 8);
  // Jia et al. 2018, P4 (GP104): an L2 hit takes 216 cycles, of data, where an L1 hit takes 82; the constant
  // L1 takes 28 here. The L1.5 stands on the way: half of its round trip comes on top.
  const double cycles = (whole.at("cycles").get<double>() - half.at("cycles").get<double>()) / 256;
  const double uniform =
      (bench({}, 512).at("cycles").get<double>() - bench({}, 256).at("cycles").get<double>()) / 256;
  CHECK(cycles - uniform == Approx(216 - 82 + (168.528 - 62.910) / 2).epsilon(0.05));
}

TEST_CASE("constant loads: threads, windows and recordings change nothing", "[long]") {
  ConstantBench bench("gtx1080ti");
  for (const Chase& c :
       {Chase{.lane = 4, .step = 4, .bytes = 2048}, Chase{.lane = 132, .step = 1024, .bytes = 65536}}) {
    (void)bench(c, 100, {"--threads", "1"});
    const std::string one = bench.all;
    (void)bench(c, 100, {"--threads", "2", "--window", "5", "--shuffle", "3"});
    CHECK(bench.all == one);
    (void)bench(c, 100, {"--threads", "3", "--no-skip"});
    CHECK(bench.all == one);
    CHECK(bench.recorded() == one);
  }
}
