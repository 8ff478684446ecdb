// The contract of the project: threads, windows, schedule, skipping and the order of domains change no byte.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <span>

#include "end_to_end.hpp"
#include "gpu/run.hpp"
#include "paths.hpp"
#include "run_ways.hpp"

namespace lockstep::test {
namespace {

std::string describe(const Way& way) {
  return "threads " + std::to_string(way.threads) + ", window " + std::to_string(way.window) + ", skip " +
         std::to_string(way.skip) + ", shuffle " + std::to_string(way.shuffle) + ", dynamic " +
         std::to_string(way.dynamic);
}

std::string statistics(const trace::TraceSet& trace, const config::GpuConfig& config, const Way& way,
                       Cycle interval) {
  gpu::RunOptions options;
  options.config = config;
  options.threads = way.threads;
  options.window = way.window;
  options.skip = way.skip;
  options.schedule = way.dynamic ? gpu::Schedule::kDynamic : gpu::Schedule::kStatic;
  if (way.shuffle) options.shuffle = 42;
  options.interval = interval;
  const stats::RunReport report = gpu::simulate(trace, options).report;
  return stats::to_json(report) + stats::to_csv(report) + stats::intervals_csv(report);
}

/// Every pair of values of any two parameters occurs (checked below).
constexpr Way kPairwise[] = {
    {1, 1, true, false, true},   {1, 2, false, true, false},  {1, 0, true, true, false},
    {2, 1, false, true, false},  {2, 2, true, false, true},   {2, 0, false, false, true},
    {3, 1, true, true, true},    {3, 2, false, false, false}, {3, 0, false, true, true},
    {4, 1, false, false, false}, {4, 2, true, true, true},    {4, 0, true, false, false},
};

TEST_CASE("the everyday ways cover every pair") {
  const auto value = [](const Way& w, int parameter) -> Cycle {
    switch (parameter) {
      case 0:
        return w.threads;
      case 1:
        return w.window;
      case 2:
        return w.skip;
      case 3:
        return w.shuffle;
      default:
        return w.dynamic;
    }
  };
  const std::vector<std::vector<Cycle>> values = {{1, 2, 3, 4}, {1, 2, 0}, {0, 1}, {0, 1}, {0, 1}};
  for (int a = 0; a < 5; ++a)
    for (int b = a + 1; b < 5; ++b)
      for (const Cycle x : values[static_cast<std::size_t>(a)])
        for (const Cycle y : values[static_cast<std::size_t>(b)]) {
          INFO("parameters " << a << "=" << x << " " << b << "=" << y);
          CHECK(std::any_of(std::begin(kPairwise), std::end(kPairwise),
                            [&](const Way& w) { return value(w, a) == x && value(w, b) == y; }));
        }
}

/// A small trace, run in each of the ways.
void check_ways(std::size_t index, std::span<const Way> ways) {
  const OpenTrace trace(small_traces().at(index));
  // Another GPU for each trace, so that all clocks and both L2 layouts occur; small ones, because a run
  // that skips nothing takes its time. The slow tier has them whole.
  const auto models = config::gpu_model_names();
  const auto config = small_gpu(models[index % models.size()]);
  const std::string expected = statistics(*trace, config, {1, 0, true, false, false}, 1000);
  for (const Way& way : ways) {
    INFO(small_traces()[index].name << " on " << config.gpu.name << ": " << describe(way));
    CHECK((statistics(*trace, config, way, 1000) == expected));
  }
}

TEST_CASE("identity: pairwise", "[long]") {
  check_ways(GENERATE(range(std::size_t{0}, std::size_t{5})), kPairwise);
}

// For the sanitizers, which have no time for the pairs.
TEST_CASE("identity: two ways that differ in everything") {
  static constexpr Way kOpposite[] = {{3, 0, false, true, true}, {2, 1, true, false, false}};
  check_ways(GENERATE(std::size_t{0}, std::size_t{3}), kOpposite);
}

TEST_CASE("identity: a run cut short is cut at the same place for all") {
  const OpenTrace trace(small_traces().at(1));
  const auto result_json = [&](const Way& way, Cycle limit) {
    gpu::RunOptions options;
    options.config = small_gpu("a100");
    options.threads = way.threads;
    options.window = way.window;
    options.skip = way.skip;
    options.max_cycles = limit;
    const auto result = gpu::simulate(*trace, options);
    CHECK(result.outcome == gpu::Outcome::kMaxCycles);
    return stats::to_json(result.report);
  };
  for (const Cycle limit : {2500u, 4001u}) {
    const std::string expected = result_json({1, 0, true, false, true}, limit);
    CHECK((result_json({2, 3, true, false, true}, limit) == expected));
    CHECK((result_json({1, 1, false, false, true}, limit) == expected));
  }
}

TEST_CASE("identity fails where a channel has no latency") {
  const OpenTrace trace(small_traces().at(0));
  gpu::RunOptions options;
  options.config = small_gpu("v100");
  options.config.host.data_latency_ps = 0;
  const auto result_json = [&](Cycle window) {
    options.window = window;
    return stats::to_json(gpu::run(*trace, options, gpu::real_parts(), {.late_copies = true}).report);
  };
  REQUIRE_FALSE(trace->commands().front().kind == trace::Command::Kind::kKernel);  // needs a copy to be late
  CHECK((result_json(1) != result_json(16)));
}

void check_all_ways(const trace::TraceSet& trace, const config::GpuConfig& config) {
  const std::string expected = statistics(trace, config, {1, 0, true, false, false}, 0);
  for (const unsigned threads : {1u, 2u, 3u, 4u})
    for (const Cycle window : {1u, 2u, 0u})
      for (unsigned bits = 0; bits < 8; ++bits) {
        const Way way{threads, window, (bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0};
        INFO(trace.name() << " on " << config.gpu.name << ": " << describe(way));
        CHECK((statistics(trace, config, way, 0) == expected));
      }
}

TEST_CASE("identity: the whole matrix", "[.][slow]") {
  for (const SmallTrace& small : small_traces())
    for (const char* model : {"v100", "a100"}) check_all_ways(*OpenTrace(small), config::resolve(model));
}

TEST_CASE("identity: the whole matrix on real traces", "[.][slow]") {
  const std::filesystem::path folder =
      std::filesystem::path(LOCKSTEP_SOURCE_DIR) / ".." / "shared" / "traces";
  for (const auto& [name, model] :
       {std::pair{"bfs-a100", "a100"}, {"vectoradd-a100", "a100"}, {"ffma-h100-10", "h100_pcie"}})
    if (std::filesystem::exists(folder / name))
      check_all_ways(*trace::open_trace((folder / name).string()), config::resolve(model));
}

}  // namespace
}  // namespace lockstep::test
