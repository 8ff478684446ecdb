// Runs by samples: the same bytes in every way, exact where nothing is left out, and near to the full run.
#include <catch2/catch.hpp>
#include <fstream>
#include <nlohmann/json.hpp>

#include "../gpu/end_to_end.hpp"
#include "trace/compact_feed.hpp"
#include "util/error.hpp"

namespace lockstep::test {
namespace {

/// A folder whose list launches kernels of generated traces again and again, in turn.
class Repeated {
 public:
  explicit Repeated(const std::vector<SmallTrace>& kinds, int times) {
    std::string list;
    for (const SmallTrace& kind : kinds) {
      synth::synthesize(kind.kind, kind.values, (folder_.path() / kind.name).string());
      std::filesystem::copy(folder_.path() / kind.name / "kernel-1.traceg",
                            folder_.path() / (std::string("kernel-") + kind.name + ".traceg"));
    }
    for (int i = 0; i < times; ++i)
      for (const SmallTrace& kind : kinds) list += std::string("kernel-") + kind.name + ".traceg\n";
    std::ofstream(folder_.path() / "kernelslist.g") << list;
    trace_ = trace::open_trace((folder_.path() / "kernelslist.g").string());
  }
  [[nodiscard]] const trace::TraceSet& operator*() const { return *trace_; }

 private:
  TemporaryFolder folder_;
  std::unique_ptr<trace::TraceSet> trace_;
};

const std::vector<SmallTrace>& two_kernels() {
  static const std::vector<SmallTrace> kinds = {{"streaming", "streaming", {{"ctas", "24"}}},
                                                {"random", "random", {{"ctas", "8"}, {"loads", "2"}}}};
  return kinds;
}

gpu::RunOptions options_of(const config::GpuConfig& config, bool sampled) {
  gpu::RunOptions options;
  options.config = config;
  if (sampled) options.sample.emplace();
  return options;
}

std::string text(const stats::RunReport& report) { return stats::to_json(report) + stats::to_csv(report); }

TEST_CASE("A run by samples is the same for threads, windows, schedule, skipping and order") {
  const bool a100 = GENERATE(false, true);
  const Repeated trace(two_kernels(), 30);
  const config::GpuConfig config = small_gpu(a100 ? "a100" : "v100");
  const std::string expected = text(gpu::simulate(*trace, options_of(config, true)).report);
  for (const unsigned way : {1u, 2u, 3u, 4u, 5u}) {
    gpu::RunOptions options = options_of(config, true);
    options.threads = 1 + way % 3;
    options.window = way % 2 == 0 ? 0 : way;
    options.skip = way != 3;
    options.schedule = way % 2 == 0 ? gpu::Schedule::kStatic : gpu::Schedule::kDynamic;
    if (way > 2) options.shuffle = way;
    INFO("way " << way);
    CHECK((text(gpu::simulate(*trace, options).report) == expected));
  }
}

TEST_CASE("Launches: the sample's interval holds the full run's total") {
  const Repeated trace(two_kernels(), 60);
  const config::GpuConfig config = small_gpu("v100");
  const stats::RunReport full = gpu::simulate(*trace, options_of(config, false)).report;
  const stats::RunReport report = gpu::simulate(*trace, options_of(config, true)).report;
  Cycle cycles = 0;
  std::uint64_t instructions = 0;
  for (const auto& kernel : full.kernels) {
    cycles += kernel.cycles;
    instructions += kernel.counters.sm.warp_instructions;
  }
  REQUIRE(report.kernels.size() == full.kernels.size());
  const stats::SamplingReport& sampling = report.sampling.value();
  CHECK(sampling.launches == 120);
  CHECK(sampling.launches_timed < 40);
  CHECK(std::abs(sampling.cycles.value - static_cast<double>(cycles)) <= sampling.cycles.half_width + 1);
  CHECK(sampling.cycles.value == Approx(static_cast<double>(cycles)).epsilon(0.02));
  CHECK(sampling.counters[0].value == Approx(static_cast<double>(instructions)));  // known without timing
  CHECK(static_cast<double>(report.total_cycles) ==
        Approx(static_cast<double>(full.total_cycles)).epsilon(0.02));
  std::uint64_t estimated = 0, sum = 0;
  for (const auto& kernel : report.kernels) {
    estimated += kernel.estimated;
    sum += kernel.cycles;
  }
  CHECK(estimated == sampling.launches - sampling.launches_timed);
  CHECK(static_cast<double>(sum) == Approx(sampling.cycles.value).margin(120));
  CHECK_FALSE(full.sampling.has_value());
}

TEST_CASE("CTAs of a long kernel: the interval holds the full run's time, in every way of running") {
  const SmallTrace kind = {"long", "streaming", {{"ctas", "4000"}}};
  const Repeated trace({kind}, 1);
  config::GpuConfig config = small_gpu("v100");
  config.gpu.sms = 5;
  config.gpu.gpcs = 1;
  const stats::KernelResult full = gpu::simulate(*trace, options_of(config, false)).report.kernels.at(0);
  gpu::RunOptions asked = options_of(config, true);
  asked.sample->error = 0.05;
  const stats::RunReport report = gpu::simulate(*trace, asked).report;
  const stats::KernelResult& kernel = report.kernels.at(0);
  const stats::SamplingReport& sampling = report.sampling.value();
  CHECK(sampling.launches_timed == 1);
  CHECK(kernel.ctas_left_out > 2400);
  CHECK(sampling.ctas_timed == 4000 - kernel.ctas_left_out);
  CHECK(static_cast<double>(kernel.cycles) == Approx(static_cast<double>(full.cycles)).epsilon(0.1));
  CHECK(std::abs(static_cast<double>(kernel.cycles) - static_cast<double>(full.cycles)) <=
        sampling.cycles.half_width + 1);
  CHECK(static_cast<double>(kernel.counters.sm.warp_instructions) ==
        Approx(static_cast<double>(full.counters.sm.warp_instructions)).epsilon(0.001));
  CHECK(static_cast<double>(kernel.counters.mem.dram_reads) ==
        Approx(static_cast<double>(full.counters.mem.dram_reads)).epsilon(0.1));
  gpu::RunOptions other = asked;
  other.threads = 2;
  other.window = 7;
  other.shuffle = 3;
  CHECK((text(gpu::simulate(*trace, other).report) == text(report)));
  // A compact trace, whose chunks are skipped, gives what a text gives, which is read through.
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "long.lst").string();
  trace::write_compact(*trace, path, {.level = 1});
  CHECK((text(gpu::simulate(*trace::open_trace(path), other).report) == text(report)));
}

TEST_CASE("The report of a run by samples says what was timed and how sure it is") {
  const Repeated trace(two_kernels(), 20);
  const auto json = nlohmann::json::parse(
      stats::to_json(gpu::simulate(*trace, options_of(small_gpu("v100"), true)).report));
  const auto& sampling = json.at("sampling");
  CHECK(sampling.at("error") == 0.02);
  CHECK(sampling.at("groups").size() == 2);
  CHECK(sampling.at("estimates").at("cycles").size() == 2);
  CHECK(sampling.at("estimates").contains("dram.bytes"));
  std::uint64_t timed = 0;
  for (const auto& kernel : json.at("kernels")) timed += !kernel.at("estimated").get<bool>();
  CHECK(timed == sampling.at("launches_timed"));
}

TEST_CASE("Samples of managed memory are refused") {
  const Repeated trace(two_kernels(), 1);
  gpu::RunOptions options = options_of(small_gpu("v100"), true);
  options.managed = gpu::parse_managed("all");
  CHECK_THROWS_AS(gpu::simulate(*trace, options), UserError);
}

TEST_CASE("Samples of several devices are refused") {
  const Repeated trace(two_kernels(), 1);
  gpu::RunOptions options = options_of(small_gpu("v100"), true);
  options.system = config::unlinked_system(options.config, 2);
  CHECK_THROWS_AS(gpu::simulate(*trace, options), UserError);
}

}  // namespace
}  // namespace lockstep::test
