// Kernels as a profiler runs them: one after the other, each with empty caches.
#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>

#include "end_to_end.hpp"

namespace lockstep::test {
namespace {

/// A kernel of vector addition three times; the third in another stream, so that it could overlap the others.
class ThreeTimes {
 public:
  ThreeTimes() {
    const auto path = folder_.path();
    synth::synthesize("streaming", {{"ctas", "40"}}, path.string());
    std::ifstream file(path / "kernel-1.traceg");
    const std::string kernel{std::istreambuf_iterator<char>(file), {}};
    std::ofstream list(path / "kernelslist.g");
    for (const std::string number : {"1", "2", "3"}) {
      std::string text = kernel;
      replace(text, "-kernel id = 1\n", "-kernel id = " + number + "\n");
      if (number == "3") replace(text, "-cuda stream id = 0\n", "-cuda stream id = 7\n");
      std::ofstream(path / ("kernel-" + number + ".traceg")) << text;
      list << "kernel-" << number << ".traceg\n";
    }
    list.close();
    trace_ = trace::open_trace((path / "kernelslist.g").string());
  }
  [[nodiscard]] const trace::TraceSet& operator*() const { return *trace_; }

 private:
  static void replace(std::string& text, const std::string& from, const std::string& to) {
    const auto at = text.find(from);
    REQUIRE(at != std::string::npos);
    text.replace(at, from.size(), to);
  }
  TemporaryFolder folder_;
  std::unique_ptr<trace::TraceSet> trace_;
};

gpu::RunOptions options_for(config::CacheControl control, const char* model = "v100") {
  gpu::RunOptions options;
  options.config = small_gpu(model);
  options.config.launch.cache_control = control;
  return options;
}

TEST_CASE("a kernel finds nothing of what the one before left in the L2") {
  const ThreeTimes trace;
  // Two arrays of 40 * 256 floats.
  constexpr std::uint64_t kRead = 2 * 40 * 256 * 4 / kSectorBytes;
  const auto warm = gpu::simulate(*trace, options_for(config::CacheControl::kNone)).report.kernels;
  const auto cold = gpu::simulate(*trace, options_for(config::CacheControl::kAll)).report.kernels;
  REQUIRE(warm.size() == 3);
  REQUIRE(cold.size() == 3);
  // The three read the same arrays: with warm caches they come from DRAM once.
  std::uint64_t fetched = 0;
  for (const auto& kernel : warm) fetched += kernel.counters.mem.dram_reads;
  CHECK(fetched == kRead);
  for (const auto& kernel : cold) {
    CHECK(kernel.counters.mem.dram_reads == kRead);
    CHECK(kernel.counters.sm.l1.read_hits == 0);
  }
}

TEST_CASE("kernels of different streams do not overlap, nor does a copy warm the L2") {
  const ThreeTimes trace;
  const auto kernels = gpu::simulate(*trace, options_for(config::CacheControl::kAll)).report.kernels;
  REQUIRE(kernels.size() == 3);
  for (std::size_t i = 1; i < kernels.size(); ++i)
    CHECK(kernels[i].start_cycle >= kernels[i - 1].start_cycle + kernels[i - 1].cycles);
  const OpenTrace copied({"streaming", "streaming", {{"ctas", "40"}}});
  auto cold = options_for(config::CacheControl::kAll), explicitly = options_for(config::CacheControl::kNone);
  cold.config.host.warms_l2 = true;
  explicitly.config.host.warms_l2 = false;
  CHECK(gpu::simulate(*copied, cold).report.kernels[0].cycles ==
        gpu::simulate(*copied, explicitly).report.kernels[0].cycles);
}

TEST_CASE("empty caches do not depend on threads, windows, skipping or order") {
  const ThreeTimes trace;
  for (const char* model : {"v100", "a100"}) {
    auto options = options_for(config::CacheControl::kAll, model);
    const std::string expected = stats::to_json(gpu::simulate(*trace, options).report);
    options.threads = 3;
    options.window = 1;
    options.skip = false;
    options.shuffle = 42;
    CHECK(stats::to_json(gpu::simulate(*trace, options).report) == expected);
    options.threads = 2;
    options.window = 7;
    options.skip = true;
    options.schedule = gpu::Schedule::kStatic;
    CHECK(stats::to_json(gpu::simulate(*trace, options).report) == expected);
  }
}

}  // namespace
}  // namespace lockstep::test
