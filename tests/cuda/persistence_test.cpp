// Data that persist in the L2: the experiment of the CUDA C++ Best Practices Guide ("L2 Cache Access
// Window"), the ways in which a program gives a window, and what ends it.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <nlohmann/json.hpp>

#include "paths.hpp"
#include "tests/cli/program.hpp"

using namespace lockstep::cli;

namespace {

const std::string kPersistencePtx = std::string(LOCKSTEP_SOURCE_DIR) + "/tests/cuda/program/persistence.ptx";
constexpr unsigned kStreaming = 1;  // cudaAccessPropertyStreaming

/// The guide's sizes for an A100, in KiB, where all of them and the L2 are 1/64. So that the threads that run
/// at a time also reach over a small part of the data, there is a ninth of the SMs and a tenth of the memory.
constexpr unsigned kMegabyte = 16, kStreamed = 1024 * kMegabyte, kAside = 30 * kMegabyte;

struct Window {
  std::string way = "stream";
  unsigned persisting = 0, aside = kAside, size = 0;
  double ratio = 1;
  unsigned misses = kStreaming;
  unsigned streamed = kStreamed;
};

class PersistenceBench {
 public:
  nlohmann::json operator()(const Window& w, const std::vector<std::string>& more = {}) {
    std::vector<std::string> words = {"exec", "-q", "-o", folder_ / "out"};
    words.insert(words.end(), machine_.begin(), machine_.end());
    words.insert(words.end(), more.begin(), more.end());
    const auto program = command(w);
    words.insert(words.end(), program.begin(), program.end());
    finish(words);
    all = slurp(folder_ / "out/stats.json");
    return nlohmann::json::parse(all).at("kernels");
  }
  double cycles(const Window& w) { return (*this)(w).at(0).at("cycles"); }

  /// The same recorded first.
  nlohmann::json recorded(const Window& w) {
    std::vector<std::string> words = {"record", folder_ / "kept.lst"};
    words.insert(words.end(), machine_.begin(), machine_.end());
    const auto program = command(w);
    words.insert(words.end(), program.begin(), program.end());
    finish(words);
    words = {"run", folder_ / "kept.lst", "-q", "-o", folder_ / "kept"};
    words.insert(words.end(), machine_.begin(), machine_.end());
    finish(words);
    return nlohmann::json::parse(slurp(folder_ / "kept/stats.json")).at("kernels");
  }

  std::string all;

 private:
  static std::vector<std::string> command(const Window& w) {
    return {"--",
            LOCKSTEP_PERSISTENCE_PROGRAM,
            kPersistencePtx,
            w.way,
            std::to_string(w.persisting),
            std::to_string(w.streamed),
            std::to_string(w.aside),
            std::to_string(w.size == 0 ? w.persisting : w.size),
            std::to_string(static_cast<int>(w.ratio * 1000)),
            std::to_string(w.misses)};
  }
  static void finish(const std::vector<std::string>& words) {
    const Finished done = run(words);
    INFO(done.err);
    REQUIRE(done.code == 0);
  }

  Folder folder_;
  std::vector<std::string> machine_ = {
      "-c",         "a100",  "--set",           "gpu.sms=12", "--set",
      "gpu.gpcs=6", "--set", "l2.partitions=4", "--set",      "l2.slice_bytes=80 KiB"};
};

}  // namespace

TEST_CASE("a sliding window: what fits the set-aside is faster by half, what does not thrashes", "[slow]") {
  // CUDA C++ Best Practices Guide, "L2 Cache Access Window": 30 of an A100's 40 MB set aside, 1024 MB of
  // which the first 10 to 60 MB persist: up to 50 % faster while these fit, about 10 % slower beyond.
  PersistenceBench bench;
  const auto gain = [&](unsigned megabytes, double ratio) {
    Window w{.persisting = megabytes * kMegabyte, .ratio = ratio};
    const double with = bench.cycles(w);
    w.way = "none";
    return bench.cycles(w) / with;
  };
  CHECK(gain(20, 1) == Approx(1.5).epsilon(0.1));
  CHECK(gain(30, 1) > 1.35);
  CHECK(gain(60, 1) < 1.05);  // without a window it does not fit either, and so nothing is lost here
  // The guide's cure: a ratio at which 20 MB of what persists are kept, however much it is.
  CHECK(gain(60, 20.0 / 60) > 1.1);
}

TEST_CASE("a window is the stream's, the launch's or the graph node's", "[long]") {
  PersistenceBench bench;
  Window w{.persisting = 20 * kMegabyte, .streamed = 128 * kMegabyte};
  const auto l2 = [&](const char* way) {
    w.way = way;
    return bench(w).at(0).at("l2");
  };
  const auto by_stream = l2("stream");
  CHECK(l2("launch") == by_stream);
  CHECK(l2("graph") == by_stream);
  CHECK(l2("node") == by_stream);  // its parameters set again: attributes stay
  CHECK(l2("none") != by_stream);
  w.aside = 0;  // nothing to persist in, and all lines of the window are hits
  CHECK(l2("stream") == l2("none"));
}

TEST_CASE("persisting lines stay for launches without a window, until they are reset", "[long]") {
  PersistenceBench bench;
  Window w{.persisting = 20 * kMegabyte, .streamed = 128 * kMegabyte};
  const auto misses_of_second = [&](const char* way) {
    w.way = way;
    return bench(w).at(1).at("l2").at("misses").get<double>();
  };
  const double kept = misses_of_second("again"), reset = misses_of_second("reset");
  // Four sectors of a line: one miss each of what is streamed, read and then written in place.
  constexpr double kSectors = 128.0 * kMegabyte * 1024 / 32;
  CHECK(kept == Approx(kSectors).epsilon(0.02));
  CHECK(reset > 1.1 * kept);
}

TEST_CASE("persisting accesses: threads, windows and recordings change nothing", "[long]") {
  PersistenceBench bench;
  const Window w{.way = "reset", .persisting = 20 * kMegabyte, .ratio = 0.6, .streamed = 64 * kMegabyte};
  const auto kernels = bench(w, {"--threads", "1"});
  const std::string one = bench.all;
  (void)bench(w, {"--threads", "2", "--window", "5", "--shuffle", "3"});
  CHECK(bench.all == one);
  (void)bench(w, {"--threads", "3", "--no-skip"});
  CHECK(bench.all == one);
  CHECK(bench.recorded(w) == kernels);
}

TEST_CASE("createpolicy's values are descriptors in libcu++'s layout", "[long]") {
  // cuda/std/detail/__access_property, and CUTLASS's TMA::CacheHintSm90.
  const Folder folder;
  std::ofstream(folder / "p.ptx") << R"(.version 7.4
.target sm_80
.address_size 64
.visible .entry make(.param .u64 out, .param .f32 part) {
  .reg .f32 %f<2>; .reg .b64 %rd<9>;
  ld.param.u64 %rd1, [out]; ld.param.f32 %f1, [part];
  createpolicy.fractional.L2::evict_first.b64 %rd2;
  createpolicy.fractional.L2::evict_last.b64 %rd3, 0f3F800000;
  createpolicy.fractional.L2::evict_last.L2::evict_first.b64 %rd4, %f1;
  createpolicy.cvt.L2.b64 %rd5, %rd3;
  st.global.u64 [%rd1], %rd2; st.global.u64 [%rd1+8], %rd3;
  st.global.u64 [%rd1+16], %rd4; st.global.u64 [%rd1+24], %rd5;
  ret;
}
)";
  std::ofstream(folder / "s.launch")
      << "buffer out 32\nlaunch make grid 1 block 1 args out 0.5\nprint out u32 8\n";
  const Finished done = run({"run", folder / "p.ptx", "--launch", folder / "s.launch", "-c", "a100", "-q"});
  INFO(done.err);
  REQUIRE(done.code == 0);
  CHECK(done.out ==
        fmt::format("out: 0 {} 0 {} 0 {} 0 {}\n", 0x12F00000, 0x14F00000, 0x15700000, 0x14F00000));
}
