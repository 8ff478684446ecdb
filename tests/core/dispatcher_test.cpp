#include <catch2/catch.hpp>

#include "fakes.hpp"

namespace lockstep::test {
namespace {

Log run(const config::GpuConfig& config, const Work& work, const LifeOf& life,
        sim::EngineOptions options = {}) {
  FakeMachine machine(config, work, life);
  Log log = machine.run(options);
  CHECK(machine.quiescent());
  CHECK(machine.host().done());
  return log;
}

Cycle first(const Log& log, std::uint32_t command) {
  for (const auto& [c, begin, end, cut] : log.kernels)
    if (c == command) return begin;
  throw std::logic_error("kernel not finished");
}
Cycle last(const Log& log, std::uint32_t command) {
  for (const auto& [c, begin, end, cut] : log.kernels)
    if (c == command) return end;
  throw std::logic_error("kernel not finished");
}

TEST_CASE("dispatch throughput is exact in thousandths of a cycle") {
  const std::uint32_t interval = GENERATE(1000u, 1090u, 250u, 333u, 2500u, 1u);
  auto config = small_gpu();
  config.launch.dispatch_interval_milli = interval;
  Work work;
  work.launch(kernel(1, 40));
  const Log log = run(config, work, always(5000));
  REQUIRE(log.started.size() == 40);
  for (const Started& s : log.started) CHECK(s.dispatched == (kFloor * 1000 + s.cta * interval) / 1000);
}

TEST_CASE("idle time of the dispatch port is not made up for") {
  auto config = small_gpu(1, 1);
  config.launch.dispatch_interval_milli = 3500;
  config.sm.max_ctas = 1;
  Work work;
  work.launch(kernel(1, 3));
  const Log log = run(config, work, always(100));
  const Cycle turn = kToSm + 100 + kBack;
  CHECK(log.started[1].dispatched == kFloor + turn);
  CHECK(log.started[2].dispatched == kFloor + 2 * turn);
}

TEST_CASE("CTAs go to the emptiest SM, GPCs in turn, first SMs of the TPCs first") {
  Work work;
  work.launch(kernel(1, 24));
  const Log log = run(small_gpu(8, 2), work, always(500));
  const std::uint32_t order[] = {0, 4, 2, 6, 1, 5, 3, 7};  // GPC 0: TPCs {0,1} {2,3}; GPC 1: {4,5} {6,7}
  for (const Started& s : log.started) CHECK(s.sm == order[s.cta % 8]);
}

TEST_CASE("order of dispatch where GPCs have unequal numbers of TPCs") {
  config::GpuConfig config = small_gpu(10, 2);  // 5 TPCs: 3 and 2
  const core::Placement placement(config, 1);
  CHECK(placement.order() == std::vector<std::uint32_t>{0, 6, 2, 8, 4, 1, 7, 3, 9, 5});
}

TEST_CASE("a full GPU launches no CTA until a free place is reported") {
  auto config = small_gpu(2, 1);
  Work work;
  work.launch(kernel(1, 18));  // 8 CTAs of 256 threads per SM
  const Log log = run(config, work, [](const core::KernelSlot&, std::uint64_t cta) {
    return Life{cta == 5 ? 200u : 1000u, 7};
  });
  REQUIRE(log.started.size() == 18);
  const auto of = [&](std::uint64_t cta) {
    return *std::find_if(log.started.begin(), log.started.end(),
                         [&](const Started& s) { return s.cta == cta; });
  };
  CHECK(of(16).sm == of(5).sm);
  CHECK(of(16).dispatched == of(5).dispatched + kToSm + 200 + kBack);
  CHECK(of(17).sm == of(0).sm);
  CHECK(of(17).dispatched == of(0).dispatched + kToSm + 1000 + kBack);
  // The end is when the last CTA's stores are there, in the SM's time.
  CHECK(last(log, 0) == of(17).dispatched + kToSm + 1007);
  CHECK(std::get<3>(log.kernels[0]) == last(log, 0) + 2 * kBack);
}

TEST_CASE("launch floor between kernels of a stream") {
  Work work;
  work.launch(kernel(1, 1));
  work.launch(kernel(2, 1));
  SECTION("counts from the end of the kernel before") {
    const Log log = run(small_gpu(), work, always(100, 30));
    CHECK(first(log, 0) == kFloor);
    CHECK(last(log, 0) == kFloor + kToSm + 130);
    CHECK(first(log, 1) == last(log, 0) + kFloor);
  }
  SECTION("but the dispatcher must have received the report") {
    auto config = small_gpu();
    config.launch.latency_ns = 10;
    const Log log = run(config, work, always(100));
    CHECK(first(log, 0) == 10);
    CHECK(first(log, 1) == last(log, 0) + kBack);
  }
  SECTION("in nanoseconds") {
    auto config = small_gpu();
    config.clock.core_khz = 1'380'000;
    CHECK(first(run(config, work, always(100)), 0) == 1380);
  }
}

TEST_CASE("streams run beside each other, their kernels in order") {
  Work work;
  work.launch(kernel(1, 1, 256, 0));
  work.launch(kernel(2, 1, 256, 0));
  work.launch(kernel(3, 1, 256, 1));
  const LifeOf life = [](const core::KernelSlot& k, std::uint64_t) {
    return Life{k.header->id == 1 ? 5000u : 100u, 0};
  };
  SECTION("with slots for all") {
    const Log log = run(small_gpu(), work, life);
    CHECK(first(log, 0) == kFloor);
    CHECK(first(log, 2) == kFloor + 1);  // one CTA per cycle
    CHECK(first(log, 1) == last(log, 0) + kFloor);
  }
  SECTION("with one slot: after the cut of the kernel before, in list order") {
    auto config = small_gpu();
    config.launch.max_kernels = 1;
    const Log log = run(config, work, life);
    // The slot is free after the cut; until then stream 0's second kernel waits too, and it comes first in
    // the list.
    CHECK(first(log, 1) == last(log, 0) + kFloor);
    CHECK(first(log, 2) == std::get<3>(log.kernels[1]));
    CHECK(std::get<3>(log.kernels[1]) == last(log, 1) + 2 * kBack);
  }
}

TEST_CASE("a kernel without room holds up those behind it") {
  auto config = small_gpu(2, 1);
  Work work;
  work.launch(kernel(1, 4, 1024, 0));  // fills both SMs
  work.launch(kernel(2, 3, 1024, 1));  // next in turn
  work.launch(kernel(3, 1, 32, 2));    // would fit at once only if warps were left: it waits its turn
  const Log log = run(config, work, always(300));
  CHECK(first(log, 1) >= kFloor + 300);
  CHECK(first(log, 2) > first(log, 1));
}

TEST_CASE("copies and kernels") {
  auto config = small_gpu();
  Work work;
  work.launch(kernel(1, 1, 256, 0));
  work.launch(kernel(2, 1, 256, 0));
  work.copy(true, 0x1000, 8000);
  work.launch(kernel(3, 1, 256, 1));
  const Cycle copy = 40 + 1000 + 50;
  SECTION("blocking: after all before it, before all after it") {
    const Log log = run(config, work, always(100));
    const auto [command, start, end] = log.copies.at(0);
    CHECK(start == last(log, 1) + kBack);
    CHECK(end == start + copy);
    CHECK(first(log, 3) == end + kFloor);
  }
  SECTION("overlapped: beside the kernels before it, before all after it") {
    config.host.copy_mode = config::CopyMode::kOverlapped;
    const Log log = run(config, work, always(5000));
    CHECK(log.copies.at(0) == std::tuple(2u, Cycle{0}, copy));
    CHECK(first(log, 0) == kFloor);
    CHECK(first(log, 3) == copy + kFloor);
    CHECK(first(log, 1) == last(log, 0) + kFloor);
  }
}

TEST_CASE("an SM keeps its carve-out while it holds a CTA") {
  auto config = small_gpu(1, 1);
  Work work;
  work.launch(kernel(1, 1, 32, 0, 0));          // carve-out 0 KiB
  work.launch(kernel(2, 1, 32, 1, 90 * 1024));  // needs 96 KiB: must wait for the empty SM
  work.launch(kernel(3, 1, 32, 2, 2 * 1024));   // would like 64 KiB; takes what is there
  const Log log = run(config, work, always(500));
  const auto& carveouts = config.l1.shared_carveouts_kib;
  CHECK(carveouts[log.started[0].carveout] == 0);
  CHECK(carveouts[log.started[1].carveout] == 96);
  CHECK(log.started[1].dispatched == log.started[0].dispatched + kToSm + 500 + kBack);
  CHECK(carveouts[log.started[2].carveout] == 96);
  CHECK(log.started[2].dispatched == log.started[1].dispatched + 1);
}

Work random_work(Random& random) {
  Work work;
  const auto pick = [&](std::initializer_list<std::uint32_t> from) {
    return from.begin()[random() % from.size()];
  };
  for (unsigned i = 0; i < 12; ++i) {
    if (random() % 4 == 0) {
      work.copy(random() % 2, 0x1000 + random() % 5000, random() % 20000);
      continue;
    }
    work.launch(kernel(i + 1, 1 + random() % 60, pick({32, 64, 96, 256, 1024}), random() % 3,
                       pick({0, 0, 1000, 9000, 40000}), pick({16, 32, 40, 64})));
  }
  return work;
}

LifeOf random_life(std::uint32_t seed) {
  return [=](const core::KernelSlot& k, std::uint64_t cta) {
    Random r(static_cast<std::uint32_t>(seed + k.launch_sequence * 1000 + cta));
    return Life{1 + r() % 700, r() % 100};
  };
}

TEST_CASE("nothing depends on windows or on the order of the domains") {
  for (std::uint32_t seed = 1; seed <= 6; ++seed) {
    Random random(seed);
    auto config = small_gpu(6, 2);
    config.launch.dispatch_interval_milli = 700 + random() % 2000;
    config.launch.max_kernels = 1 + random() % 4;
    config.host.copy_mode = random() % 2 ? config::CopyMode::kBlocking : config::CopyMode::kOverlapped;
    config.host.warms_l2 = random() % 2;
    const Work work = random_work(random);
    const Log expected = run(config, work, random_life(seed), windows_of(1));
    REQUIRE(expected.kernels.size() + expected.copies.size() == work.commands.size());
    for (const Cycle window : {2u, 7u, 32u}) {
      sim::EngineOptions options = windows_of(window);
      options.shuffle = seed * 77 + window;
      INFO("seed " << seed << ", window " << window);
      CHECK(run(config, work, random_life(seed), options) == expected);
    }
  }
}

TEST_CASE("a CTA that never ends leaves the kernel in the dump") {
  auto config = small_gpu();
  Work work;
  work.launch(kernel(1, 3));
  FakeMachine machine(config, work, [](const core::KernelSlot&, std::uint64_t cta) {
    return Life{cta == 1 ? kNever : 100, 0};
  });
  CHECK(machine.run().kernels.empty());
  CHECK_FALSE(machine.host().done());
  CHECK_FALSE(machine.dispatcher().quiescent());
  std::string text;
  machine.dispatcher().dump(text);
  CHECK_THAT(text,
             Catch::Contains("kernel1") && Catch::Contains("3 of 3 CTAs dispatched, 2 freed, 2 drained"));
}

}  // namespace
}  // namespace lockstep::test
