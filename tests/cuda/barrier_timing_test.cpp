// Named barriers through the timing model, where only the count of threads and a register say who meets whom.
#include <catch2/catch.hpp>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/cli/program.hpp"

using namespace lockstep::cli;

namespace {

// Two warps take turns: warp w waits at barrier 1 + w, computes a chain of `chain` sums and arrives at the
// other's. Warp 1 lets warp 0 begin. 16 turns each; the last arrival of warp 1 is missing, since nothing
// waits for it.
std::string turns(const std::string& chain) {
  return R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry turns(.param .u64 out) {
  .reg .pred %p<4>; .reg .b32 %r<12>; .reg .f32 %f<3>; .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  shr.u32 %r2, %r1, 5;
  add.u32 %r3, %r2, 1;
  sub.u32 %r4, 2, %r2;
  cvt.rn.f32.u32 %f1, %r2;
  mov.u32 %r5, 0;
  setp.eq.u32 %p1, %r2, 0;
  @%p1 bra $NEXT;
  bar.arrive %r4, 64;
$NEXT:
  .pragma "nounroll";
  bar.sync %r3, 64;
)" + chain +
         R"(
  add.u32 %r5, %r5, 1;
  setp.lt.u32 %p2, %r5, 16;
  or.pred %p3, %p1, %p2;
  @!%p3 bra $LAST;
  bar.arrive %r4, 64;
$LAST:
  @%p2 bra $NEXT;
  mul.wide.u32 %rd2, %r1, 4;
  add.u64 %rd2, %rd1, %rd2;
  st.global.f32 [%rd2], %f1;
  ret;
}
)";
}

}  // namespace

TEST_CASE(
    "warps that hand over by named barriers compute one after the other; threads and windows change nothing",
    "[matrix][long]") {
  const Folder folder;
  std::ofstream(folder / "t.launch") << "buffer out 256\nlaunch turns grid 2 block 64 args out\n";
  const auto play = [&](unsigned sums, const std::vector<std::string>& more) {
    std::string chain;
    for (unsigned i = 0; i < sums; ++i) chain += "  add.f32 %f1, %f1, 0f3F800000;\n";
    std::ofstream(folder / "turns.ptx") << turns(chain);
    std::vector<std::string> words = {"run",         folder / "turns.ptx", "--launch", folder / "t.launch",
                                      "-c",          "h100_pcie",          "-q",       "-o",
                                      folder / "out"};
    words.insert(words.end(), more.begin(), more.end());
    const Finished done = run(words);
    INFO(done.err);
    REQUIRE(done.code == 0);
    return slurp(folder / "out/stats.json");
  };
  const std::string stats = play(96, {"--threads", "1"});
  CHECK(play(96, {"--threads", "2", "--window", "5", "--shuffle", "3"}) == stats);
  CHECK(play(96, {"--threads", "3", "--no-skip"}) == stats);
  const auto cycles = [](const std::string& text) {
    return nlohmann::json::parse(text).at("kernels").at(0).at("cycles").get<double>();
  };
  // 32 turns of 32 more dependent sums, 4 cycles each; side by side it would be half of that.
  const double more = cycles(stats) - cycles(play(64, {"--threads", "1"}));
  CHECK(more > 0.95 * 32 * 32 * 4);
  CHECK(more < 1.05 * 32 * 32 * 4);
}
