#include "cuda/launch_monitor.hpp"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <ctime>
#include <vector>

namespace lockstep::cuda {
namespace {

using namespace std::chrono_literals;
const auto kDump = [] { return std::string("  CTA (0,0,0) warp 0: a.ptx:7 [bra again]\n"); };

}  // namespace

TEST_CASE("a remark comes where no CTA ends for long, then after twice the time") {
  ExecutionPage page;
  std::vector<std::string> said;
  LaunchMonitor monitor(page, 0s, [&](std::string_view text) { said.emplace_back(text); });
  const LaunchMonitor::Scope scope(monitor, "spin", 3, 8, 0);
  monitor.executed({1 << 20, 1 << 25}, 0, kDump);
  REQUIRE(said.size() == 1);
  CHECK_THAT(said[0], Catch::Contains("kernel spin") && Catch::Contains("1.0 million warp instructions") &&
                          Catch::Contains("--max-instructions") && Catch::EndsWith(kDump()));
  monitor.executed({10, 10}, 1, kDump);            // a CTA ends
  monitor.executed({1 << 20, 1 << 25}, 0, kDump);  // which is noticed
  CHECK(said.size() == 1);
  const Execution now = page.read();
  CHECK(now.kernel == "spin");
  CHECK(now.running);
  CHECK(now.launch == 3);
  CHECK(now.ctas == 8);
  CHECK(now.ctas_done == 1);
  CHECK(now.warp_instructions == 2 * (1 << 20) + 10);
  CHECK(now.thread_instructions == 2 * (1 << 25) + 10);
}

TEST_CASE("nothing is said before the time is over") {
  ExecutionPage page;
  std::vector<std::string> said;
  LaunchMonitor monitor(page, 1h, [&](std::string_view text) { said.emplace_back(text); });
  {
    const LaunchMonitor::Scope scope(monitor, "long", 1, 1, 0);
    for (int i = 0; i < 100; ++i) monitor.executed({1 << 20, 1 << 20}, 0, kDump);
  }
  CHECK(said.empty());
  CHECK(!page.read().running);
}

TEST_CASE("time in which the process waits does not count") {
  ExecutionPage page;
  std::vector<std::string> said;
  LaunchMonitor monitor(page, 50ms, [&](std::string_view text) { said.emplace_back(text); });
  const LaunchMonitor::Scope scope(monitor, "throttled", 1, 1, 0);
  const std::clock_t begin = std::clock();
  usleep(200'000);
  monitor.executed({1 << 20, 1 << 20}, 0, kDump);
  CHECK(said.empty());
  while (std::clock() - begin < CLOCKS_PER_SEC / 10) continue;
  monitor.executed({1 << 20, 1 << 20}, 0, kDump);
  CHECK(said.size() == 1);
}

TEST_CASE("a page is shared by its descriptor; another file is rejected") {
  SharedPage ours;
  REQUIRE(ours.descriptor() >= 0);
  ours.page().begin("k", 1, 4, 0);
  const SharedPage theirs(dup(ours.descriptor()));
  CHECK(theirs.page().read().kernel == "k");
  const SharedPage none(1000);
  CHECK(none.descriptor() == -1);
  CHECK(none.page().read().launch == 0);
}

}  // namespace lockstep::cuda
