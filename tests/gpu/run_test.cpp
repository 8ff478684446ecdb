// The run's control, with fake SMs and memory.
#include "gpu/run.hpp"

#include <catch2/catch.hpp>

#include "fake_trace.hpp"
#include "gpu/simulation.hpp"
#include "stats/report.hpp"

namespace lockstep::test {
namespace {

gpu::RunOptions options_for(const config::GpuConfig& config = small_gpu()) {
  gpu::RunOptions options;
  options.config = config;
  return options;
}

/// Two streams, copies between, CTAs of different lengths.
void fill(FakeTrace& trace) {
  trace.copy(true, 0x1000, 10'000);
  trace.launch(kernel(1, 40, 256, 0, 3000));
  trace.launch(kernel(2, 7, 512, 5));
  trace.launch(kernel(3, 200, 64, 0));
  trace.copy(false, 0x4000, 333);
  trace.launch(kernel(4, 1, 32, 9));
}

LifeOf uneven() {
  return [](const core::KernelSlot& k, std::uint64_t cta) {
    return Life{50 + (cta * 2654435761u + k.launch_sequence * 97) % 900, cta % 60};
  };
}

TEST_CASE("a run reports every kernel and copy") {
  FakeTrace trace;
  fill(trace);
  auto options = options_for();
  int calls = 0;
  options.on_kernel_done = [&](const stats::RunReport& report) {
    CHECK(report.partial);
    CHECK(static_cast<int>(report.kernels.size()) == ++calls);
  };
  const auto result = gpu::run(trace, options, fake_parts(uneven()));
  const stats::RunReport& r = result.report;
  CHECK(result.outcome == gpu::Outcome::kDone);
  CHECK_FALSE(r.partial);
  CHECK(r.partial_reason.empty());
  REQUIRE(r.kernels.size() == 4);
  CHECK(calls == 4);
  std::uint64_t ids = 0;
  Cycle end = 0;
  for (const auto& k : r.kernels) {
    ids |= 1u << k.id;
    CHECK(k.counters.sm.ctas == k.grid.count());
    CHECK(k.start_cycle + k.cycles >= end);  // completion order
    end = k.start_cycle + k.cycles;
    CHECK(k.launch_cycles == 1000);
    CHECK(k.subcores == 32);
    CHECK(k.counters.sm.stalls[static_cast<unsigned>(stats::Stall::kEmpty)] == k.cycles * k.subcores);
  }
  CHECK(ids == 0b11110);
  REQUIRE(r.copies.size() == 2);
  CHECK(r.copies[0].kind == "host_to_device");
  CHECK(r.copies[0].start_cycle == 0);
  CHECK(r.copies[0].cycles == 40 + 1250 + 50);
  CHECK(r.copies[1].kind == "device_to_host");
  CHECK(r.copies[1].bytes == 333);
  CHECK(r.total_cycles == std::max(end, r.copies[1].start_cycle + r.copies[1].cycles));
  CHECK(r.unknown_opcodes == decltype(r.unknown_opcodes){{"FOO", 12}});
  CHECK(r.remarks.size() == 4);
  CHECK(trace.log.taken == 248);
  CHECK(trace.log.released == 248);
  CHECK(trace.log.open == 0);
  CHECK(result.host.peak_rss_bytes > 1'000'000);
  CHECK(result.host.cycles == r.total_cycles);
}

TEST_CASE("an empty trace is done at once") {
  const FakeTrace trace;
  const auto result = gpu::run(trace, options_for(), fake_parts(always(1)));
  CHECK(result.outcome == gpu::Outcome::kDone);
  CHECK(result.report.total_cycles == 0);
}

TEST_CASE("limiter of a small grid is the grid") {
  FakeTrace trace;
  trace.launch(kernel(1, 3));
  trace.launch(kernel(2, 64));
  const auto r = gpu::run(trace, options_for(), fake_parts(always(10))).report;
  CHECK(r.kernels[0].occupancy_limiter == "grid");
  CHECK(r.kernels[1].occupancy_limiter == "warps");
  CHECK(r.kernels[1].ctas_per_sm == 8);
}

TEST_CASE("selection by id") {
  FakeTrace trace;
  fill(trace);
  auto options = options_for();
  options.kernels = {{2, 2}, {4, 9}};
  const auto r = gpu::run(trace, options, fake_parts(uneven())).report;
  REQUIRE(r.kernels.size() == 2);
  CHECK(r.kernels[0].id == 2);
  CHECK(r.kernels[1].id == 4);
  CHECK(r.copies.size() == 2);
  options.kernels = {{2, 2}, {77, 77}};
  CHECK_THROWS_WITH(gpu::run(trace, options, fake_parts(uneven())), Catch::Contains("no kernel 77"));
}

TEST_CASE("kernels that cannot run are refused before anything is simulated") {
  FakeTrace trace;
  trace.launch(kernel(1, 1));
  trace.launch(kernel(2, 1, 32, 0, 1 << 20));
  CHECK_THROWS_AS(gpu::run(trace, options_for(), fake_parts(always(1))), UserError);
  CHECK(trace.log.taken == 0);
  FakeTrace empty;
  empty.launch(kernel(3, 0));
  CHECK_THROWS_WITH(gpu::run(empty, options_for(), fake_parts(always(1))), Catch::Contains("empty grid"));
}

TEST_CASE("a window longer than the machine's is refused with its reason") {
  FakeTrace trace;
  auto options = options_for();
  options.window = 33;
  CHECK_THROWS_WITH(gpu::run(trace, options, fake_parts(always(1))),
                    Catch::Contains("at most 32") && Catch::Contains("launch.cta_latency"));
  options.config.launch.cta_latency_ps = 100'000;
  options.config.launch.done_latency_ps = 12'000;
  options.window = 16;
  CHECK_THROWS_WITH(gpu::run(trace, options, fake_parts(always(1))),
                    Catch::Contains("at most 12") && Catch::Contains("done_latency"));
  options.config.launch.cta_latency_ps = 20'000;
  options.window = 11;
  CHECK_THROWS_WITH(gpu::run(trace, options, fake_parts(always(1))),
                    Catch::Contains("at most 10") && Catch::Contains("cta_latency"));
  options.config.icnt.reply_latency = 0;
  options.window = 0;
  CHECK_THROWS_WITH(gpu::run(trace, options, fake_parts(always(1))), Catch::Contains("reply"));
}

TEST_CASE("explain_window names every channel and the limit") {
  const auto config = small_gpu();
  const std::string text = gpu::explain_window(config);
  const icnt::Fabric fabric(config);
  for (const auto& edge : fabric.edges()) CHECK_THAT(text, Catch::Contains(edge.name));
  CHECK_THAT(text, Catch::Contains("32 core cycles") && Catch::Contains("launch.cta_latency_ps"));
}

TEST_CASE("code of another architecture is remarked") {
  FakeTrace trace;
  auto k = kernel(1, 1);
  k.binary_version = 80;
  trace.launch(k);
  const auto r = gpu::run(trace, options_for(), fake_parts(always(1))).report;
  REQUIRE(r.remarks.size() == 2);
  CHECK_THAT(r.remarks[1], Catch::Contains("sm_80") && Catch::Contains("sm_70"));
}

/// Parts that are never quiet, or hold a CTA for ever.
struct Restless final : sim::Domain, stats::CounterSource {
  Cycle advance(Cycle, Cycle) override { return kNever; }
  void settle(Cycle) override {}
  void dump(std::string& out) const override { out += "a lost request"; }
  void take_counters(std::uint8_t, stats::KernelCounters&) override {}
  [[nodiscard]] bool quiescent() const override { return false; }
};

TEST_CASE("something left in the machine at the end is an error that names the place") {
  FakeTrace trace;
  trace.launch(kernel(1, 8));
  auto parts = fake_parts(always(10));
  const auto partition = parts.partition;
  parts.partition = [&](const gpu::Wiring& w, std::uint32_t i) {
    return i == 2 ? gpu::make_part<Restless>() : partition(w, i);
  };
  CHECK_THROWS_AS(gpu::run(trace, options_for(), parts), std::logic_error);
  CHECK_THROWS_WITH(gpu::run(trace, options_for(), parts),
                    Catch::Contains("memory partition 2") && !Catch::Contains("partition 1"));
}

TEST_CASE("a deadlock ends the run with a dump, at the same cycle for every window") {
  FakeTrace trace;
  trace.launch(kernel(1, 4));
  trace.launch(kernel(2, 4));
  trace.launch(kernel(3, 4));
  const LifeOf stuck = [](const core::KernelSlot& k, std::uint64_t cta) {
    return Life{k.header->id == 2 && cta == 3 ? kNever : 100, 0};
  };
  std::set<std::string> reports;
  for (const Cycle window : {1u, 5u, 32u})
    for (const bool skip : {true, false}) {
      if (!skip && window < 32) continue;
      auto options = options_for();
      options.window = window;
      options.skip = skip;
      const auto result = gpu::run(trace, options, fake_parts(stuck));
      CHECK(result.outcome == gpu::Outcome::kDeadlock);
      CHECK(result.report.partial_reason == "deadlock");
      REQUIRE(result.report.kernels.size() == 2);
      CHECK_FALSE(result.report.kernels[0].partial);
      CHECK(result.report.kernels[1].partial);
      CHECK_THAT(result.dump,
                 Catch::Contains("kernel2") && Catch::Contains("fake SM") && Catch::Contains("holds 1 CTAs"));
      CHECK_THAT(result.dump, !Catch::Contains("holds 0 CTAs"));
      reports.insert(stats::to_json(result.report));
    }
  CHECK(reports.size() == 1);
}

/// Always has something to do and never gets anywhere.
struct Livelock final : sim::Domain, stats::CounterSource {
  Cycle advance(Cycle, Cycle to) override { return to + 10'000; }
  void settle(Cycle) override {}
  void dump(std::string& out) const override { out += "spinning"; }
  void take_counters(std::uint8_t, stats::KernelCounters&) override {}
  [[nodiscard]] bool quiescent() const override { return false; }
};

TEST_CASE("the watchdog ends a run that gets nowhere") {
  FakeTrace trace;
  trace.launch(kernel(1, 64));
  auto parts = fake_parts(always(10));
  const auto sm = parts.sm;
  parts.sm = [&](const gpu::Wiring& w, std::uint32_t i) {
    return i == 0 ? gpu::make_part<Livelock>() : sm(w, i);
  };
  const auto result = gpu::run(trace, options_for(), parts);
  CHECK(result.outcome == gpu::Outcome::kDeadlock);
  CHECK(result.report.total_cycles > 50'000'000);
  CHECK_THAT(result.dump, Catch::Contains("spinning"));
}

TEST_CASE("a long copy is no deadlock") {
  FakeTrace trace;
  trace.copy(true, 0, 1'000'000'000);  // 125 million cycles
  const auto result = gpu::run(trace, options_for(), fake_parts(always(1)));
  CHECK(result.outcome == gpu::Outcome::kDone);
  CHECK(result.report.total_cycles == 40 + 125'000'000 + 50);
}

TEST_CASE("a limit between the last kernel's end and its cut is no deadlock") {
  FakeTrace trace;
  trace.launch(kernel(1, 4));
  const Cycle end = gpu::run(trace, options_for(), fake_parts(always(100))).report.total_cycles;
  int stopped = 0;
  for (Cycle limit = end - 50; limit < end + 1000; ++limit) {
    auto options = options_for();
    options.max_cycles = limit;
    const auto result = gpu::run(trace, options, fake_parts(always(100)));
    INFO("limit " << limit << ", end " << end);
    REQUIRE(result.outcome != gpu::Outcome::kDeadlock);
    stopped += limit > end && result.outcome == gpu::Outcome::kMaxCycles;
  }
  CHECK(stopped > 0);
}

TEST_CASE("max_cycles and interruption leave partial kernels") {
  FakeTrace trace;
  fill(trace);
  auto options = options_for();
  SECTION("at exactly that cycle") {
    options.max_cycles = GENERATE(1u, 2400u, 2401u, 2500u, 3333u, 4000u, 4700u);
    std::set<std::string> reports;
    for (const Cycle window : {1u, 6u, 32u}) {
      options.window = window;
      const auto result = gpu::run(trace, options, fake_parts(uneven()));
      CHECK(result.outcome == gpu::Outcome::kMaxCycles);
      CHECK(result.report.partial_reason == "max-cycles");
      CHECK(result.report.total_cycles == options.max_cycles);
      for (const auto& k : result.report.kernels)
        if (k.partial) CHECK(k.start_cycle + k.cycles == options.max_cycles);
      reports.insert(stats::to_json(result.report));
    }
    CHECK(reports.size() == 1);
  }
  SECTION("a limit after the end changes nothing") {
    options.max_cycles = 100'000'000;
    const auto result = gpu::run(trace, options, fake_parts(uneven()));
    CHECK(result.outcome == gpu::Outcome::kDone);
    CHECK(stats::to_json(result.report) ==
          stats::to_json(gpu::run(trace, options_for(), fake_parts(uneven())).report));
  }
  SECTION("Ctrl-C") {
    int looks = 0;
    options.interrupted = [&] { return ++looks > 60; };
    const auto result = gpu::run(trace, options, fake_parts(uneven()));
    CHECK(result.outcome == gpu::Outcome::kInterrupted);
    CHECK(result.report.partial);
    CHECK(result.report.partial_reason == "interrupted");
  }
}

TEST_CASE("intervals sum to the totals and do not depend on windows") {
  FakeTrace trace;
  fill(trace);
  auto options = options_for();
  options.config.host.warms_l2 = true;
  options.interval = 500;
  std::set<std::string> texts;
  for (const Cycle window : {1u, 7u, 32u}) {
    options.window = window;
    const auto r = gpu::run(trace, options, fake_parts(uneven())).report;
    std::uint64_t ctas = 0, requests = 0;
    for (std::size_t i = 0; i < r.intervals.size(); ++i) {
      ctas += r.intervals[i].counters.sm.ctas;
      requests += r.intervals[i].counters.icnt.requests;
      if (i + 1 < r.intervals.size()) CHECK(r.intervals[i].end_cycle == 500 * (i + 1));
    }
    CHECK(ctas == 248);
    CHECK(requests == 79 + 3);  // lines of 10,000 bytes from 0x1000 and of 333 bytes from 0x4000
    CHECK(r.unattributed.icnt.requests == 82);
    texts.insert(stats::intervals_csv(r));
  }
  CHECK(texts.size() == 1);
}

TEST_CASE("progress counts up") {
  FakeTrace trace;
  fill(trace);
  auto options = options_for();
  std::vector<gpu::Progress> seen;
  options.on_progress = [&](const gpu::Progress& p) { seen.push_back(p); };
  (void)gpu::run(trace, options, fake_parts(uneven()));
  REQUIRE(seen.size() >= 2);
  CHECK(seen.front().kernels_done == 0);
  CHECK(seen.back().kernels_done == 4);
  CHECK(seen.back().kernels_total == 4);
  for (std::size_t i = 1; i < seen.size(); ++i) CHECK(seen[i].cycle >= seen[i - 1].cycle);
}

TEST_CASE("a broken CTA ends the run; finished kernels were delivered") {
  FakeTrace trace;
  fill(trace);
  trace.break_cta(2, 150);  // kernel 3, after kernel 1 in its stream
  auto options = options_for();
  std::size_t delivered = 0;
  options.on_kernel_done = [&](const stats::RunReport& report) { delivered = report.kernels.size(); };
  CHECK_THROWS_AS(gpu::run(trace, options, fake_parts(uneven())), InputError);
  CHECK(delivered >= 1);
  CHECK(trace.log.open == 0);
}

TEST_CASE("threads, windows, schedule, skip and shuffle change nothing; a channel without latency does") {
  FakeTrace trace;
  fill(trace);
  auto config = small_gpu();
  config.host.warms_l2 = true;
  const auto result_json = [&](unsigned threads, Cycle window, bool skip, bool shuffle,
                               const gpu::TestHooks& hooks = {}) {
    auto options = options_for(config);
    options.threads = threads;
    options.schedule = threads % 2 ? gpu::Schedule::kStatic : gpu::Schedule::kDynamic;
    options.window = window;
    options.skip = skip;
    if (shuffle) options.shuffle = 5;
    return stats::to_json(gpu::run(trace, options, fake_parts(uneven()), hooks).report);
  };
  const std::string expected = result_json(1, 1, true, false);
  CHECK(result_json(2, 0, true, true) == expected);
  CHECK(result_json(3, 13, false, true) == expected);
  CHECK(result_json(4, 32, true, false) == expected);
  CHECK(result_json(1, 5, false, false) == expected);
  config.host.data_latency_ps = 0;
  CHECK_THROWS_AS(result_json(1, 1, true, false), UserError);
  const gpu::TestHooks late{.late_copies = true};
  CHECK(result_json(1, 1, true, false, late) != result_json(1, 16, true, false, late));
}

}  // namespace
}  // namespace lockstep::test
