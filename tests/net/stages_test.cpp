// The stages of an operation that are not its agent's: the kernel writes the entry, the agent comes to see
// it, the kernel sees that it is finished.
#include "support.hpp"

namespace lockstep::test {
namespace {

std::uint64_t sum_of(const Stages& stages) {
  std::uint64_t sum = 0;
  for (const std::uint64_t one : stages.sum_ps) sum += one;
  return sum;
}

}  // namespace

TEST_CASE("An operation takes, from its kernel's first store to the entry on, what the kernel waits for it") {
  for (const char* design : kDesigns) {
    INFO(design);
    // The rest of the kernel is the same for all.
    double rest = 0;
    for (const std::uint64_t bytes : {8u, 700u, 5000u, 40'000u}) {
      NetScenario scenario;
      scenario.queue(0);
      scenario.wait(0, 0, scenario.request(0, get(1, NetScenario::data(0), NetScenario::data(1), bytes)));
      const gpu::RunResult result = scenario.run(nodes(2, design));
      const Stages stages = of_kind(result, "get");
      CHECK(sum_of(stages) == stages.total_ps);
      CHECK(stages.max_total_ps == stages.total_ps);
      const double own = kernel_time(result) - total(stages);
      if (rest == 0) rest = own;
      CHECK(own == Approx(rest).margin(3));
      CHECK((own > 0 && own < 3000));  // with a release of system scope
    }
  }
}

TEST_CASE("The store of a status word is visible when it has crossed what lies between SM and queue") {
  const auto visible = [](const char* design) {
    return stage(alone(nodes(2, design), some_put(8), "put"), "visible");
  };
  // The crossbar's 35 cycles, and that of the store itself.
  CHECK(visible("compnet") == Approx(35 / 1.5).margin(4));
  CHECK(visible("dgpu") == Approx(visible("compnet")).margin(0.1));
  // Two links of PCIe, header and a sector each. The NIC is 75 instead of 250 ns behind the second.
  CHECK(visible("dgpu_host") - visible("dgpu") == Approx(2 * (250 + 56 / 15.75)).margin(12));
  CHECK(visible("dgpu_host") - visible("direct") == Approx(250 - 75).margin(4));
}

TEST_CASE("What a kernel writes of an entry before its status word is a stage of its own") {
  const auto written = [](int nanoseconds) {
    NetScenario scenario;
    scenario.queue(0);
    scenario.store(0, scenario.entry(0, 0, 0) + 4);
    scenario.sleep(0, nanoseconds);
    scenario.store(0, scenario.entry(0, 0, 0) + 32);
    scenario.wait(0, 0, scenario.request(0, some_put(8)));
    return stage(of_kind(scenario.run(nodes()), "put"), "written");
  };
  CHECK(written(5000) - written(1000) == Approx(4000).margin(3));
}

TEST_CASE("Each entry that is used again has times of its own") {
  for (const char* design : kDesigns) {
    INFO(design);
    constexpr std::uint64_t kRounds = 7, kEntries = 2, kNanoseconds = 3000;
    NetScenario scenario(2, kEntries);
    scenario.queue(0);
    for (std::uint64_t i = 0; i < kRounds; ++i) {  // one at a time
      scenario.wait(0, 0, scenario.request(0, some_put(64)));
      scenario.sleep(0, kNanoseconds);
    }
    const gpu::RunResult result = scenario.run(nodes(2, design));
    const Stages stages = of_kind(result, "put");
    CHECK(sum_of(stages) == stages.total_ps);
    const double rest = kernel_time(result) - total(stages) - kRounds * kNanoseconds;
    CHECK((rest > 0 && rest < 3000 + kRounds * 200));
    CHECK(stages.max_total_ps < 2 * stages.total_ps / kRounds);
  }
}

}  // namespace lockstep::test
