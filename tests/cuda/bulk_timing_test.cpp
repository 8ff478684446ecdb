// A pipeline of bulk copies through the timing model: bytes, bandwidth, and the same report however it runs.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/cli/program.hpp"
#include "trace/bulk_runs.hpp"
#include "trace/kernel_trace.hpp"

using namespace lockstep::cli;

namespace {

// Each CTA: thread 0 brings 32 tiles of 4096 bytes through four stages, warp 1 adds them up; in the end
// thread 0 writes the last stage to `out` in bulk.
constexpr const char* kStreamPtx = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry stream(.param .u64 in, .param .u64 out, .param .u64 sums) {
  .shared .align 128 .b8 stage[16384];
  .shared .align 8 .b64 full[4];
  .shared .align 8 .b64 empty[4];
  .reg .pred %p<4>; .reg .b32 %r<40>; .reg .b64 %rd<12>;
  ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; ld.param.u64 %rd3, [sums];
  mov.u32 %r1, %tid.x; mov.u32 %r2, full; mov.u32 %r3, empty; mov.u32 %r4, stage; mov.u32 %r20, %ctaid.x;
  mul.wide.u32 %rd4, %r20, 131072; add.u64 %rd1, %rd1, %rd4;
  mul.wide.u32 %rd4, %r20, 4096; add.u64 %rd2, %rd2, %rd4;
  mul.wide.u32 %rd4, %r20, 128; add.u64 %rd3, %rd3, %rd4;
  setp.eq.u32 %p1, %r1, 0;
  @!%p1 bra $READY;
  mbarrier.init.shared.b64 [%r2], 1;     mbarrier.init.shared.b64 [%r2+8], 1;
  mbarrier.init.shared.b64 [%r2+16], 1;  mbarrier.init.shared.b64 [%r2+24], 1;
  mbarrier.init.shared.b64 [%r3], 32;    mbarrier.init.shared.b64 [%r3+8], 32;
  mbarrier.init.shared.b64 [%r3+16], 32; mbarrier.init.shared.b64 [%r3+24], 32;
$READY:
  bar.sync 0;
  mov.u32 %r5, 0; mov.u32 %r21, 0;
  setp.lt.u32 %p2, %r1, 32;
$NEXT:
  and.b32 %r6, %r5, 3; shl.b32 %r7, %r6, 3; shr.u32 %r8, %r5, 2; and.b32 %r8, %r8, 1;
  add.u32 %r9, %r2, %r7; add.u32 %r10, %r3, %r7; shl.b32 %r11, %r6, 12; add.u32 %r11, %r11, %r4;
  @!%p2 bra $CONSUME;
  @!%p1 bra $DONE;
  xor.b32 %r12, %r8, 1;
$EMPTY:
  mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r10], %r12;
  @!%p3 bra $EMPTY;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r9], 4096;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r11], [%rd1], 4096, [%r9];
  bra $DONE;
$CONSUME:
  mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r9], %r8;
  @!%p3 bra $CONSUME;
  and.b32 %r13, %r1, 31; shl.b32 %r14, %r13, 4; add.u32 %r14, %r14, %r11;
  mov.u32 %r15, 0;
$SUM:
  ld.shared.v4.u32 {%r16, %r17, %r18, %r19}, [%r14];
  add.u32 %r21, %r21, %r16; add.u32 %r21, %r21, %r17; add.u32 %r21, %r21, %r18; add.u32 %r21, %r21, %r19;
  add.u32 %r14, %r14, 512; add.u32 %r15, %r15, 1;
  setp.lt.u32 %p3, %r15, 8;
  @%p3 bra $SUM;
  mbarrier.arrive.shared::cta.b64 _, [%r10];
$DONE:
  add.u64 %rd1, %rd1, 4096;
  add.u32 %r5, %r5, 1;
  setp.lt.u32 %p3, %r5, 32;
  @%p3 bra $NEXT;
  bar.sync 0;
  @%p2 bra $STORE;
  shl.b32 %r22, %r13, 2; cvt.u64.u32 %rd5, %r22; add.u64 %rd5, %rd5, %rd3;
  st.global.u32 [%rd5], %r21;
$STORE:
  @!%p1 bra $END;
  add.u32 %r23, %r4, 12288;
  cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r23], 4096;
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;
$END:
  ret;
}
)";

/// Where the first bulk load of a recording begins.
lockstep::Address first_load(const std::string& path) {
  using namespace lockstep::trace;
  const auto trace = open_trace(path);
  const auto feed = trace->open(0);
  feed->decode_now(1);
  const CtaTrace& cta = *feed->take(0);
  const std::uint64_t* words = cta.words.data() + cta.warps.at(0).first_word;
  for (std::uint32_t i = 0; i < cta.warps[0].record_count; ++i) {
    const Record& r = cta.records[cta.warps[0].first_record + i];
    if (feed->instructions()[r.inst()].bulk == BulkCopy::kLoad) {
      lockstep::Address lanes[lockstep::kWarpSize] = {};
      expand_addresses(r.form(), r.mask, words, lanes);
      return unpack({lanes[2], lanes[3]}).first;
    }
    words += address_words(r.form(), r.mask);
  }
  return 0;
}

constexpr std::uint64_t kCtas = 114, kRead = kCtas * 131072, kWritten = kCtas * 4096;

}  // namespace

TEST_CASE("bulk copies move their bytes at the DRAM's pace; threads, windows and recordings change nothing",
          "[matrix][long]") {
  const Folder folder;
  std::ofstream(folder / "stream.ptx") << kStreamPtx;
  // Sums: 32 tiles of 8 x 4 words per lane, all of them 3.
  std::ofstream(folder / "s.launch") << "buffer in " << kRead << " sequence u32 3 0\nbuffer out " << kWritten
                                     << "\nbuffer sums " << kCtas * 128 << "\nlaunch stream grid " << kCtas
                                     << " block 64 args in out sums\nwait\nexpect out u32 sequence 3 0\n"
                                        "expect sums u32 sequence 3072 0\n";
  const auto play = [&](const std::string& name, std::vector<std::string> more) {
    std::vector<std::string> words = {"run",        folder / "stream.ptx", "--launch", folder / "s.launch",
                                      "-c",         "h100_pcie",           "-q",       "-o",
                                      folder / name};
    words.insert(words.end(), more.begin(), more.end());
    const Finished done = run(words);
    INFO(done.err);
    REQUIRE(done.code == 0);
    CHECK(done.err.find("bulk") == std::string::npos);  // no remark: nothing is left out
    return slurp(folder / (name + "/stats.json"));
  };
  const std::string stats = play("one", {"--threads", "1"});
  CHECK(play("two", {"--threads", "2", "--window", "7", "--shuffle", "3"}) == stats);
  CHECK(play("three", {"--threads", "4", "--no-skip"}) == stats);
  const Finished recorded = run({"record", folder / "kept.lst", "-c", "h100_pcie", "--launch",
                                 folder / "s.launch", "--", folder / "stream.ptx"});
  INFO(recorded.err);
  REQUIRE(recorded.code == 0);
  REQUIRE(run({"run", folder / "kept.lst", "-c", "h100_pcie", "-q", "-o", folder / "four"}).code == 0);
  CHECK(slurp(folder / "four/stats.json") == stats);

  const Finished info = run({"info", folder / "kept.lst", "--json"});
  const auto global = nlohmann::json::parse(info.out).at("total").at("memory").at("global");
  CHECK(global.at("loads").at("warp") == kCtas * 32);
  CHECK(global.at("stores").at("warp") == kCtas * 2);
  CHECK(global.at("bytes_moved") == kRead + kWritten + kCtas * 128);
  CHECK(global.at("touched_bytes") == kRead + kWritten + kCtas * 128);

  const auto kernel = nlohmann::json::parse(stats).at("kernels").at(0);
  CHECK(kernel.at("l1").at("load_sectors_sent") == kRead / 32);
  CHECK(kernel.at("l1").at("store_sectors_sent") == (kWritten + kCtas * 128) / 32);
  // 2039 GB/s at 1.755 GHz: NVIDIA's data sheet of the H100 PCIe. Of a copy of 15 MB in one wave half is
  // reached at least.
  const double cycles = kernel.at("cycles").get<double>(), peak = static_cast<double>(kRead) / (2039 / 1.755);
  CHECK(cycles > peak);
  CHECK(cycles < 2 * peak);

  // The same with its input on the host: each page comes once.
  const std::string range = fmt::format("{:#x}+{}", first_load(folder / "kept.lst"), kRead);
  const auto managed = [&](const std::string& name, std::vector<std::string> more) {
    std::vector<std::string> words = {"run", folder / "kept.lst", "-c", "h100_pcie", "-q", "--managed", range,
                                      "-o",  folder / name};
    words.insert(words.end(), more.begin(), more.end());
    const Finished done = run(words);
    INFO(done.err);
    REQUIRE(done.code == 0);
    return slurp(folder / (name + "/stats.json"));
  };
  const std::string faulting = managed("five", {"--threads", "1"});
  CHECK(managed("six", {"--threads", "3", "--window", "5", "--shuffle", "2"}) == faulting);
  const auto report = nlohmann::json::parse(faulting);
  CHECK(report.at("managed").at("faults") > 0);
  CHECK(report.at("managed").at("bytes_to_device") == kRead);
  CHECK(report.at("kernels").at(0).at("cycles") > kernel.at("cycles"));
}

TEST_CASE("bulk copies of CTAs of one thread: the record has more words than the CTA has lanes", "[long]") {
  // There and back: what arrives is what the CTA's number says.
  constexpr std::uint64_t kOf = 8, kEach = 2048;
  const Folder folder;
  std::ofstream(folder / "one.ptx") << R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry one(.param .u64 in, .param .u64 out) {
  .shared .align 128 .b8 stage[2048];
  .shared .align 8 .b64 full;
  .reg .pred %p1; .reg .b32 %r<6>; .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out];
  mov.u32 %r1, %ctaid.x; mov.u32 %r2, full; mov.u32 %r3, stage; mov.u32 %r4, 0;
  mul.wide.u32 %rd3, %r1, 2048; add.u64 %rd1, %rd1, %rd3; add.u64 %rd2, %rd2, %rd3;
  mbarrier.init.shared.b64 [%r2], 1;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 2048;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%rd1], 2048, [%r2];
$WAIT:
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r2], %r4;
  @!%p1 bra $WAIT;
  cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r3], 2048;
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;
  ret;
}
)";
  std::ofstream(folder / "one.launch")
      << "buffer in " << kOf * kEach << " sequence u32 0 1\nbuffer out " << kOf * kEach
      << "\nlaunch one grid " << kOf << " block 1 args in out\nwait\nexpect out u32 sequence 0 1\n";
  const auto play = [&](const char* threads) {
    const Finished done = run({"run", folder / "one.ptx", "--launch", folder / "one.launch", "-c",
                               "h100_pcie", "-q", "--threads", threads, "-o", folder / threads});
    INFO(done.err);
    REQUIRE(done.code == 0);
    return slurp(folder / (std::string(threads) + "/stats.json"));
  };
  const std::string stats = play("1");
  CHECK(play("3") == stats);
  const auto kernel = nlohmann::json::parse(stats).at("kernels").at(0);
  CHECK(kernel.at("l1").at("load_sectors_sent") == kOf * kEach / 32);
  CHECK(kernel.at("l1").at("store_sectors_sent") == kOf * kEach / 32);
}

namespace {

/// One thread prefetches `lines` lines from `in` on, as `ahead` says for line %rd3 or once, computes for a
/// while and then follows `lines` pointers, one in each line: words of 0, each of which is added to the next
/// one's address.
std::string walk(const std::string& name, const std::string& ahead, const std::string& load) {
  return ".visible .entry " + name + R"((.param .u64 in, .param .u32 lines, .param .u64 out) {
  .reg .pred %p<3>; .reg .b32 %r<8>; .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [in]; ld.param.u32 %r1, [lines]; ld.param.u64 %rd2, [out];
  mov.u32 %r2, %r1; mov.u64 %rd3, %rd1; shl.b32 %r6, %r1, 7;
)" + ahead +
         R"(
  mov.u32 %r3, 4000; mov.u32 %r4, %tid.x;
$AGAIN:
  mad.lo.u32 %r4, %r4, %r4, %r3;
  add.u32 %r3, %r3, -1; setp.ne.u32 %p2, %r3, 0;
  @%p2 bra $AGAIN;
$NEXT:
  )" + load +
         R"( %r5, [%rd1];
  add.u32 %r4, %r4, %r5; cvt.u64.u32 %rd3, %r5; add.u64 %rd1, %rd1, %rd3; add.u64 %rd1, %rd1, 128;
  add.u32 %r1, %r1, -1; setp.ne.u32 %p2, %r1, 0;
  @%p2 bra $NEXT;
  st.global.u32 [%rd2], %r4;
  ret;
}
)";
}

std::string line_by_line(const std::string& prefetch) {
  return "$AHEAD:\n  " + prefetch + R"( [%rd3];
  add.u64 %rd3, %rd3, 128; add.u32 %r2, %r2, -1; setp.ne.u32 %p1, %r2, 0;
  @%p1 bra $AHEAD;)";
}

}  // namespace

TEST_CASE("after prefetches loads find their lines in the L2, or in the L1; data for the L2 go no further",
          "[long]") {
  constexpr std::int64_t kLines = 512;
  const Folder folder;
  std::ofstream(folder / "walk.ptx") << ".version 8.0\n.target sm_90\n.address_size 64\n"
                                     << walk("plain", "", "ld.global.cg.u32")
                                     << walk("bulk", "cp.async.bulk.prefetch.L2.global [%rd3], %r6;",
                                             "ld.global.cg.u32")
                                     << walk("lines", line_by_line("prefetch.global.L2"), "ld.global.cg.u32")
                                     << walk("near", line_by_line("prefetch.global.L1"), "ld.global.u32");
  const auto launch = [](const std::string& kernel, const std::string& buffer, std::int64_t lines) {
    return fmt::format("launch {} grid 1 block 1 args {} {} out\nwait\n", kernel, buffer, lines);
  };
  std::string script = "buffer out 4\n";
  for (const std::string buffer : {"code", "a", "b", "c", "d"})
    script += fmt::format("buffer {} {} sequence u32 0 0\n", buffer, kLines * 128);
  for (const std::string kernel : {"plain", "bulk", "lines", "near"})  // the code is there from then on
    script += launch(kernel, "code", 1);
  script += launch("plain", "a", kLines) + launch("plain", "a", kLines) + launch("bulk", "b", kLines) +
            launch("lines", "c", kLines) + launch("near", "d", kLines);
  std::ofstream(folder / "walk.launch") << script;
  const auto play = [&](const std::string& threads) {
    const Finished done = run({"run", folder / "walk.ptx", "--launch", folder / "walk.launch", "-c",
                               "h100_pcie", "-q", "--threads", threads, "-o", folder / threads});
    INFO(done.err);
    REQUIRE(done.code == 0);
    CHECK(done.err.find("prefetch") == std::string::npos);  // no remark
    return slurp(folder / (threads + "/stats.json"));
  };
  const std::string stats = play("1");
  CHECK(play("4") == stats);

  const auto kernels = nlohmann::json::parse(stats).at("kernels");
  constexpr std::size_t kCold = 4, kWarm = 5, kBulk = 6, kByLine = 7, kNear = 8;
  const auto count = [&](std::size_t kernel, const char* group, const char* name) {
    return kernels.at(kernel).at(group).at(name).get<std::int64_t>();
  };
  const auto more = [&](std::size_t kernel, const char* group, const char* name) {
    return count(kernel, group, name) - count(kWarm, group, name);
  };
  const auto cycles = [&](std::size_t kernel) { return kernels.at(kernel).at("cycles").get<std::int64_t>(); };
  CHECK(cycles(kCold) - cycles(kWarm) > kLines * 200);  // the DRAM is that much further
  CHECK(count(kCold, "dram", "bytes") == kLines * 64);  // l2.fetch_bytes for each word
  CHECK(count(kWarm, "dram", "bytes") == 0);
  CHECK(std::abs(cycles(kBulk) - cycles(kWarm)) < 100);
  CHECK(cycles(kNear) < cycles(kWarm) - kLines * 100);
  CHECK(count(kNear, "l1", "read_hits") == kLines);
  for (const std::size_t kernel : {kBulk, kByLine, kNear}) {
    INFO(kernel);
    CHECK(count(kernel, "dram", "bytes") == kLines * 128);
    CHECK(count(kernel, "l2", "read_misses") == 4 * kLines);
    const std::int64_t loads = kernel == kNear ? kLines : 0;  // that go no further than the L1
    CHECK(more(kernel, "l1", "load_sectors_sent") == 4 * kLines - loads);
    CHECK(more(kernel, "icnt", "requests") == kLines - loads);
    if (kernel == kNear) continue;
    CHECK(more(kernel, "l2", "read_hits") == 0);
    CHECK(more(kernel, "icnt", "replies") == kLines);
    CHECK(more(kernel, "icnt", "flits") == 2 * kLines);  // none with data
  }
}

namespace {

// One thread copies `bytes` bytes into shared memory and waits for them, `rounds` times.
constexpr const char* kChainPtx = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry chain(.param .u64 in, .param .u32 bytes, .param .u32 rounds) {
  .shared .align 128 .b8 tile[65536];
  .shared .align 8 .b64 full;
  .reg .pred %p<3>; .reg .b32 %r<7>; .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [in]; ld.param.u32 %r1, [bytes]; ld.param.u32 %r2, [rounds];
  mov.u32 %r3, tile; mov.u32 %r4, full; mov.u32 %r5, 0;
  mbarrier.init.shared.b64 [%r4], 1;
$NEXT:
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r4], %r1;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%rd1], %r1, [%r4];
$WAIT:
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r4], %r5;
  @!%p1 bra $WAIT;
  xor.b32 %r5, %r5, 1;
  add.u32 %r2, %r2, -1; setp.ne.u32 %p2, %r2, 0;
  @%p2 bra $NEXT;
  ret;
}
)";

}  // namespace

TEST_CASE("bulk copies from the L2 come at the pace of the SM's port, or of the unit where that is slower",
          "[long]") {
  const Folder folder;
  std::ofstream(folder / "chain.ptx") << kChainPtx;
  const auto cycles = [&](unsigned bytes, unsigned rounds, const std::vector<std::string>& sets) {
    std::ofstream(folder / "chain.launch")
        << "buffer in 65536\nlaunch chain grid 1 block 1 args in " << bytes << " " << rounds << "\nwait\n";
    std::vector<std::string> words = {
        "run", folder / "chain.ptx", "--launch", folder / "chain.launch", "-c", "h100_pcie", "-q",
        "-o",  folder / "out"};
    for (const std::string& set : sets) words.insert(words.end(), {"--set", set});
    const Finished done = run(words);
    INFO(done.err);
    REQUIRE(done.code == 0);
    return nlohmann::json::parse(slurp(folder / "out/stats.json"))
        .at("kernels")
        .at(0)
        .at("cycles")
        .get<double>();
  };
  const auto round = [&](unsigned bytes, const std::vector<std::string>& sets) {
    return (cycles(bytes, 12, sets) - cycles(bytes, 4, sets)) / 8;
  };
  const auto rate = [&](const std::vector<std::string>& sets) {
    return 49152 / (round(65536, sets) - round(16384, sets));
  };
  CHECK(rate({}) == Approx(64 * 1600. / 1755).epsilon(0.02));
  const std::vector<std::string> wide = {"icnt.sm_in_bytes=128", "clock.icnt_khz=1755MHz"};
  std::vector<std::string> slow = wide;
  slow.emplace_back("tma.line_interval=2");
  CHECK(rate(wide) ==
        Approx(124).epsilon(0.05));  // a B200's: facebookexperimental/triton, NVLatencyModel.cpp
  CHECK(rate(slow) == Approx(64).epsilon(0.02));
}
