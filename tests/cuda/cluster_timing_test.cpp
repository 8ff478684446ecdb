// Clusters through the timing model: distributed shared memory, barriers and mbarriers of other CTAs,
// multicast; and the same report however it runs.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/cli/program.hpp"
#include "trace/kernel_trace.hpp"

using namespace lockstep::cli;
using Json = nlohmann::json;

namespace {

constexpr const char* kHead = ".version 8.0\n.target sm_90\n.address_size 64\n";

// Thread 0 of the cluster's CTA 0 follows `steps` pointers, each of which leads to itself, in the shared
// memory of the CTA with rank `rank`; 8 bytes of `out` get the address in the end.
constexpr const char* kChase = R"(
.visible .entry chase(.param .u32 steps, .param .u32 rank, .param .u64 out) {
  .shared .align 8 .b32 cell[2];
  .reg .pred %p<3>; .reg .b32 %r<12>; .reg .b64 %rd<3>;
  ld.param.u32 %r1, [steps]; ld.param.u32 %r2, [rank]; ld.param.u64 %rd1, [out];
  mov.u32 %r3, cell; mov.u32 %r4, %cluster_ctarank;
  mapa.shared::cluster.u32 %r5, %r3, %r4;
  mapa.shared::cluster.u32 %r6, %r3, %r2;
  st.shared.u32 [%r3], %r5;
  barrier.cluster.arrive; barrier.cluster.wait;
  setp.ne.u32 %p1, %r4, 0;
  @%p1 bra $END;
$NEXT:
  ld.volatile.shared::cluster.u32 %r6, [%r6];
  add.u32 %r1, %r1, -1;
  setp.ne.u32 %p2, %r1, 0;
  @%p2 bra $NEXT;
  st.global.u32 [%rd1], %r6;
$END:
  barrier.cluster.arrive; barrier.cluster.wait;
  ret;
})";

// All CTAs of the cluster meet `rounds` times, by arrivals of one kind.
std::string meeting(const std::string& arrive) {
  return R"(
.visible .entry meet(.param .u32 rounds) {
  .reg .pred %p<2>; .reg .b32 %r<3>;
  ld.param.u32 %r1, [rounds];
$NEXT:
  )" + arrive +
         R"(; barrier.cluster.wait;
  add.u32 %r1, %r1, -1;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra $NEXT;
  ret;
})";
}

// CTAs 0 and 1 hand a turn to each other `rounds` times, by arrivals at the other's mbarrier.
constexpr const char* kTurns = R"(
.visible .entry turns(.param .u32 rounds) {
  .shared .align 8 .b64 turn;
  .reg .pred %p<3>; .reg .b32 %r<9>;
  ld.param.u32 %r1, [rounds];
  mov.u32 %r2, turn; mov.u32 %r3, %cluster_ctarank; xor.b32 %r4, %r3, 1;
  mapa.shared::cluster.u32 %r5, %r2, %r4;
  mbarrier.init.shared::cta.b64 [%r2], 1;
  fence.mbarrier_init.release.cluster;
  barrier.cluster.arrive; barrier.cluster.wait;
  mov.u32 %r6, 0;
  setp.eq.u32 %p1, %r3, 0;
$NEXT:
  @%p1 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r5];
$WAIT:
  mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [%r2], %r6;
  @!%p2 bra $WAIT;
  @!%p1 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r5];
  xor.b32 %r6, %r6, 1;
  add.u32 %r1, %r1, -1;
  setp.ne.u32 %p2, %r1, 0;
  @%p2 bra $NEXT;
  barrier.cluster.arrive; barrier.cluster.wait;
  ret;
})";

// Each CTA gets 4096 bytes of `in` for `rounds` rounds and adds up word 0 of each; by a multicast of the
// first CTA, or, where `each` is 1, by a copy of its own.
constexpr const char* kTiles = R"(
.visible .entry tiles(.param .u64 in, .param .u64 out, .param .u32 rounds, .param .u32 each) {
  .shared .align 128 .b8 tile[4096];
  .shared .align 8 .b64 full;
  .reg .pred %p<6>; .reg .b16 %h<2>; .reg .b32 %r<16>; .reg .b64 %rd<6>;
  ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; ld.param.u32 %r1, [rounds]; ld.param.u32 %r2, [each];
  mov.u32 %r3, tile; mov.u32 %r4, full; mov.u32 %r5, %cluster_ctarank; mov.u32 %r6, %cluster_nctarank;
  mov.u32 %r12, %ctaid.x; sub.u32 %r12, %r12, %r5; mul.lo.u32 %r13, %r12, %r1;
  mul.wide.u32 %rd3, %r13, 2048; add.u64 %rd1, %rd1, %rd3;
  mov.u32 %r14, %tid.x; setp.eq.u32 %p5, %r14, 0;
  @%p5 mbarrier.init.shared::cta.b64 [%r4], 1;
  fence.mbarrier_init.release.cluster;
  barrier.cluster.arrive; barrier.cluster.wait;
  mov.u32 %r7, 1; shl.b32 %r7, %r7, %r6; add.u32 %r7, %r7, -1; cvt.u16.u32 %h1, %r7;
  setp.ne.u32 %p1, %r2, 0; setp.eq.u32 %p2, %r5, 0;
  mov.u32 %r8, 0; mov.u32 %r9, 0;
$NEXT:
  @!%p5 bra $WAIT;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r4], 4096;
  @%p1 bra $OWN;
  @!%p2 bra $WAIT;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r3], [%rd1], 4096, [%r4], %h1;
  bra $WAIT;
$OWN:
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%rd1], 4096, [%r4];
$WAIT:
  mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r4], %r8;
  @!%p3 bra $WAIT;
  ld.shared.u32 %r10, [%r3];
  add.u32 %r9, %r9, %r10;
  add.u64 %rd1, %rd1, 4096;
  xor.b32 %r8, %r8, 1;
  barrier.cluster.arrive; barrier.cluster.wait;
  add.u32 %r1, %r1, -1;
  setp.ne.u32 %p4, %r1, 0;
  @%p4 bra $NEXT;
  mov.u32 %r11, %ctaid.x; mul.wide.u32 %rd4, %r11, 4; add.u64 %rd2, %rd2, %rd4;
  st.global.u32 [%rd2], %r9;
  ret;
})";

// Each thread reads four words of the next CTA's shared memory `rounds` times, neighbours neighbouring ones.
constexpr const char* kRing = R"(
.visible .entry ring(.param .u32 rounds, .param .u64 out) {
  .shared .align 16 .b8 data[98304];
  .reg .pred %p<2>; .reg .b32 %r<24>; .reg .b64 %rd<3>;
  ld.param.u32 %r1, [rounds]; ld.param.u64 %rd1, [out];
  mov.u32 %r2, data; mov.u32 %r3, %cluster_ctarank; mov.u32 %r4, %cluster_nctarank; mov.u32 %r5, %tid.x;
  add.u32 %r3, %r3, 1; rem.u32 %r3, %r3, %r4;
  shl.b32 %r6, %r5, 2; add.u32 %r6, %r6, %r2; mapa.shared::cluster.u32 %r7, %r6, %r3;
  mov.u32 %r20, 0;
  barrier.cluster.arrive; barrier.cluster.wait;
$NEXT:
  ld.shared::cluster.u32 %r8, [%r7]; ld.shared::cluster.u32 %r9, [%r7+4096];
  ld.shared::cluster.u32 %r10, [%r7+8192]; ld.shared::cluster.u32 %r11, [%r7+12288];
  add.u32 %r20, %r20, %r8; add.u32 %r20, %r20, %r9; add.u32 %r20, %r20, %r10; add.u32 %r20, %r20, %r11;
  add.u32 %r1, %r1, -1; setp.ne.u32 %p1, %r1, 0;
  @%p1 bra $NEXT;
  setp.eq.u32 %p1, %r20, 77;
  @%p1 st.global.u32 [%rd1], %r20;
  barrier.cluster.arrive; barrier.cluster.wait;
  ret;
})";

// Everything between CTAs: loads, stores, atomics and reductions of lanes that go to different CTAs, st.async
// and a bulk copy to the next CTA, arrivals of lanes at different CTAs, generic addresses, CTAs that end
// early.
constexpr const char* kAll = R"(
.visible .entry all(.param .u64 out) {
  .shared .align 16 .b32 box[256];
  .shared .align 16 .b32 from[64];
  .shared .align 16 .b32 to[64];
  .shared .align 8 .b64 bars[2];
  .reg .pred %p<4>; .reg .b32 %r<40>; .reg .b64 %rd<12>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x; mov.u32 %r2, %cluster_ctarank; mov.u32 %r3, %cluster_nctarank; mov.u32 %r4, %ctaid.x;
  mov.u32 %r5, box; mov.u32 %r6, from; mov.u32 %r7, to; mov.u32 %r8, bars;
  shl.b32 %r9, %r1, 2; add.u32 %r10, %r5, %r9; mov.u32 %r11, 0; st.shared.u32 [%r10], %r11;
  st.shared.u32 [%r10+512], %r11;
  and.b32 %r12, %r9, 255; add.u32 %r13, %r6, %r12; add.u32 %r14, %r2, 100; st.shared.u32 [%r13], %r14;
  setp.eq.u32 %p1, %r1, 0;
  @!%p1 bra $READY;
  mbarrier.init.shared::cta.b64 [%r8], 1;
  mul.lo.u32 %r15, %r3, 1; mbarrier.init.shared::cta.b64 [%r8+8], %r15;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r8], 384;
  fence.mbarrier_init.release.cluster;
$READY:
  bar.sync 0;
  barrier.cluster.arrive.release; barrier.cluster.wait.acquire;
  rem.u32 %r16, %r1, %r3; mapa.shared::cluster.u32 %r17, %r10, %r16;
  st.shared::cluster.u32 [%r17+512], %r1;
  atom.shared::cluster.add.u32 %r18, [%r17], 1;
  add.u32 %r19, %r2, 1; rem.u32 %r19, %r19, %r3;
  mapa.shared::cluster.u32 %r20, %r8, %r19; mapa.shared::cluster.u32 %r21, %r7, %r19;
  setp.lt.u32 %p2, %r1, 32;
  @!%p2 bra $BULK;
  shl.b32 %r22, %r1, 2; add.u32 %r23, %r21, %r22;
  st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r23], %r14, [%r20];
  setp.lt.u32 %p3, %r1, %r3;
  mapa.shared::cluster.u32 %r24, %r8, %r1;
  @%p3 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r24+8];
$BULK:
  @!%p1 bra $WAIT;
  fence.proxy.async;
  cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r21+128], [%r6], 128, [%r20];
  mapa.shared::cluster.u32 %r25, %r5, %r19; cvt.u64.u32 %rd2, %r25; cvta.shared.u64 %rd3, %rd2;
  mov.u32 %r26, 5; st.u32 [%rd3+1008], %r26;
  cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r21+128], [%r6], 128, [%r20];
$WAIT:
  mov.u32 %r27, 0;
$W1:
  mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r8], %r27;
  @!%p3 bra $W1;
$W2:
  mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r8+8], %r27;
  @!%p3 bra $W2;
  add.u32 %r28, %r7, %r12; ld.shared.u32 %r29, [%r28];
  rem.u32 %r30, %r1, %r3; mapa.shared::cluster.u32 %r31, %r10, %r30;
  ld.shared::cluster.u32 %r32, [%r31+512];
  add.u32 %r33, %r29, %r32; add.u32 %r33, %r33, %r18;
  mul.lo.u32 %r34, %r4, 64; add.u32 %r34, %r34, %r1; mul.wide.u32 %rd4, %r34, 4; add.u64 %rd5, %rd1, %rd4;
  st.global.u32 [%rd5], %r33;
  barrier.cluster.arrive.release; barrier.cluster.wait.acquire;
  ret;
})";

class ClusterKernel {
 public:
  explicit ClusterKernel(const std::string& ptx) { std::ofstream(folder_ / "k.ptx") << kHead << ptx; }

  /// stats.json of a run of the script; it must be right.
  std::string run(const std::string& script, std::vector<std::string> more = {},
                  const std::string& gpu = "h100_pcie") {
    std::ofstream(folder_ / "k.launch") << script;
    std::vector<std::string> words = {
        "run", folder_ / "k.ptx", "--launch", folder_ / "k.launch", "-c", gpu, "-q", "-o", folder_ / "out"};
    words.insert(words.end(), more.begin(), more.end());
    const Finished done = lockstep::cli::run(words);
    INFO(done.err);
    REQUIRE(done.code == 0);
    return slurp(folder_ / "out/stats.json");
  }
  Json kernel(const std::string& script, std::vector<std::string> more = {}) {
    return Json::parse(run(script, std::move(more))).at("kernels").at(0);
  }
  double cycles(const std::string& script, std::vector<std::string> more = {}) {
    return kernel(script, std::move(more)).at("cycles").get<double>();
  }
  /// Cycles that a step takes, from `fewest` to three times as many: of a script with {} steps.
  double slope(const std::string& script, const std::vector<std::string>& more = {}, unsigned fewest = 64) {
    const auto at = [&](unsigned steps) {
      std::string text = script;
      text.replace(text.find("{}"), 2, std::to_string(steps));
      return cycles(text, more);
    };
    return (at(3 * fewest) - at(fewest)) / (2 * fewest);
  }
  const Folder& folder() const { return folder_; }

 private:
  Folder folder_;
};

std::vector<std::string> set(const std::string& value) { return {"--set", value}; }
/// A barrier takes no less than the way to another SM.
std::vector<std::string> set_latency(unsigned cycles) {
  return {"--set", fmt::format("cluster.latency={}", cycles), "--set", "cluster.barrier_latency=180"};
}

}  // namespace

TEST_CASE("a pointer chase in another CTA's shared memory takes cluster.latency a step", "[long]") {
  ClusterKernel program(kChase);
  const auto script = [](unsigned rank) {
    return fmt::format("buffer out 8\nlaunch chase grid 4 block 1 cluster 4 args {{}} {} out\nwait\n", rank);
  };
  const double own = program.slope(script(0)), other = program.slope(script(2));
  CHECK(other == Approx(180).margin(0.02));  // Luo et al.: 180 cycles, which is what the product says
  CHECK(own == Approx(29).margin(4));
  for (const unsigned latency : {131u, 250u})
    CHECK(program.slope(script(3), set_latency(latency)) ==
          Approx(latency).margin(0.02));  // the loops' ends differ by a cycle or two
}

TEST_CASE("a cluster's barrier takes cluster.barrier_latency from the last arrival, with any number of CTAs",
          "[long]") {
  ClusterKernel program(meeting("barrier.cluster.arrive.relaxed"));
  const std::string two = "launch meet grid 2 block 64 cluster 2 args {}\nwait\n";
  const double usual = program.slope(two);
  CHECK(usual == Approx(102).margin(2));  // a B300's: ademeure/QuickRunCUDA, b300_clean/08_sync_primitives.md
  CHECK(program.slope(two, set("cluster.barrier_latency=300")) == usual + 220);
  const double eight = program.slope("launch meet grid 16 block 64 cluster 8 args {}\nwait\n");
  CHECK(eight >= usual);
  CHECK(eight <= usual + 8);  // a port sends one message per cycle
  CHECK(program.slope("launch meet grid 4 block 64 args {}\nwait\n") < 60);  // no clusters
  for (const std::string arrive : {"barrier.cluster.arrive", "barrier.cluster.arrive.release"}) {
    ClusterKernel fenced(meeting(arrive));
    for (const unsigned fence : {200u, 500u})
      CHECK(fenced.slope(two, set(fmt::format("sync.membar_gpu={}", fence))) - usual ==
            Approx(fence).margin(4));
  }
}

TEST_CASE("CTAs that read each other's shared memory reach what was measured on an H100 PCIe", "[long]") {
  // Luo et al. 2024, ring-based copy: 3.27 TB/s with clusters of two, 2.65 with four. One CTA of 1024 threads
  // per SM; GPCs of 14 and 16 SMs have room for 57 clusters of two, and for 25 of four.
  ClusterKernel program(kRing);
  const auto terabytes = [&](unsigned cluster, unsigned ctas) {
    const double cycles = program.slope(fmt::format("buffer out 8\nlaunch ring grid {} block 1024 cluster {} "
                                                    "shared 40000 args {{}} out\nwait\n",
                                                    ctas, cluster),
                                        {}, 8);
    return ctas * 1024 * 16. / cycles * 1.755e9 / 1e12;
  };
  CHECK(terabytes(2, 114) == Approx(3.27).epsilon(0.05));
  CHECK(terabytes(4, 100) == Approx(2.65).epsilon(0.08));
}

TEST_CASE("turns by arrivals at each other's mbarrier take the way there and back", "[long]") {
  ClusterKernel program(kTurns);
  const std::string script = "launch turns grid 2 block 1 cluster 2 args {}\nwait\n";
  const double usual = program.slope(script);
  CHECK(usual > 150);  // two hops of (180 - 29) / 2
  CHECK(usual < 300);
  CHECK(program.slope(script, set_latency(280)) == Approx(usual + 100).margin(1));
}

TEST_CASE("a multicast is fetched from the L2 once for all CTAs, and each waits for its part", "[long]") {
  ClusterKernel program(kTiles);
  // 64 clusters of two CTAs, 8 tiles each.
  const auto script = [](unsigned each, unsigned cluster) {
    return fmt::format(
        "buffer in 4194304 sequence u32 2 0\nbuffer out 512\nlaunch tiles grid 64 block 32 "
        "cluster {} args in out 8 {}\nwait\nexpect out u32 sequence 16 0 count 64\n",
        cluster, each);
  };
  const auto sectors = [&](unsigned each, unsigned cluster) {
    return program.kernel(script(each, cluster)).at("l1").at("load_sectors_sent").get<std::uint64_t>();
  };
  constexpr std::uint64_t kTile = 4096 / 32;
  CHECK(sectors(1, 2) == 64 * 8 * kTile);
  CHECK(sectors(0, 2) == 32 * 8 * kTile);
  CHECK(sectors(0, 4) == 16 * 8 * kTile);
}

TEST_CASE("everything between the CTAs of clusters: threads, windows, order and recordings change nothing",
          "[matrix][long]") {
  ClusterKernel program(kAll);
  const std::string script =
      "buffer out 16384\nlaunch all grid 48 block 64 cluster 4 args out\nwait\n"
      "print out u32 4\n";
  const std::string stats = program.run(script, {"--threads", "1"});
  CHECK(program.run(script, {"--threads", "2", "--window", "7", "--shuffle", "3"}) == stats);
  CHECK(program.run(script, {"--threads", "4", "--no-skip"}) == stats);
  CHECK(program.run(script, {"--threads", "3", "--window", "1", "--shuffle", "9"}) == stats);
  const Folder& folder = program.folder();
  CHECK(program.run(script, {"--threads", "2", "--profile"}) == stats);
  const Json profile = Json::parse(slurp(folder / "out/profile.json"));
  const auto& columns = profile.at("columns");
  const auto column = std::find(columns.begin(), columns.end(), "shared_wavefronts") - columns.begin();
  std::uint64_t wavefronts = 0;
  for (const Json& row : profile.at("kernels").at(0).at("rows"))
    wavefronts += row.at(static_cast<std::size_t>(column)).get<std::uint64_t>();
  constexpr std::uint64_t kCopied = 48 * 2;  // by 48 CTAs: two bulk copies each, one pass
  CHECK(wavefronts + kCopied == Json::parse(stats).at("kernels").at(0).at("sm").at("shared_wavefronts"));
  const Finished recorded = run({"record", folder / "kept.lst", "-c", "h100_pcie", "--launch",
                                 folder / "k.launch", "--", folder / "k.ptx"});
  INFO(recorded.err);
  REQUIRE(recorded.code == 0);
  CHECK(recorded.err.find("cluster") == std::string::npos);  // no remark: nothing is left out
  REQUIRE(run({"run", folder / "kept.lst", "-c", "h100_pcie", "-q", "-o", folder / "again"}).code == 0);
  CHECK(slurp(folder / "again/stats.json") == stats);
  const auto trace = lockstep::trace::open_trace(folder / "kept.lst");
  CHECK(trace->kernels().at(0).cluster.x == 4);
  CHECK(trace->kernels().at(0).shared_ranks);

  const Finished other = run({"run", folder / "kept.lst", "-c", "a100", "-q", "-o", folder / "other"});
  CHECK(other.code == 2);
  CHECK(other.err.find("has clusters of 4 thread blocks, and a100 has none") != std::string::npos);
}

TEST_CASE("a cluster that no GPC has room for is refused", "[long]") {
  ClusterKernel program(meeting("barrier.cluster.arrive"));
  const Folder& folder = program.folder();
  (void)program.run("launch meet grid 8 block 1024 cluster 8 args 1\nwait\n");
  REQUIRE(run({"record", folder / "kept.lst", "-c", "h100_pcie", "--launch", folder / "k.launch", "--",
               folder / "k.ptx"})
              .code == 0);
  const Finished done = run(
      {"run", folder / "kept.lst", "-c", "h100_pcie", "-q", "-o", folder / "small", "--set", "gpu.gpcs=57"});
  CHECK(done.code == 2);
  CHECK(done.err.find("a cluster has 8 thread blocks, and the largest GPC of h100_pcie has room for 4") !=
        std::string::npos);
}
