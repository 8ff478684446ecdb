// CTAs of clusters come to one GPC together.
#include <catch2/catch.hpp>
#include <map>

#include "core/cluster_order.hpp"
#include "fakes.hpp"

namespace lockstep::test {
namespace {

trace::KernelHeader clustered(std::uint32_t ctas, const Dim3& cluster, std::uint32_t threads = 256) {
  trace::KernelHeader k = kernel(1, ctas, threads);
  k.cluster = cluster;
  return k;
}

Log run_clusters(const config::GpuConfig& config, const Work& work, const LifeOf& life,
                 sim::EngineOptions options = {}) {
  FakeMachine machine(config, work, life);
  Log log = machine.run(options);
  CHECK(machine.quiescent());
  return log;
}

/// small_gpu(): SMs 0 to 3 are GPC 0, 4 to 7 GPC 1.
std::uint32_t gpc(const Started& s) { return s.sm / 4; }

std::map<std::uint64_t, std::vector<Started>> by_cluster(const Log& log, std::uint64_t size) {
  std::map<std::uint64_t, std::vector<Started>> clusters;
  for (const Started& s : log.started) clusters[s.cta / size].push_back(s);
  return clusters;
}

TEST_CASE("a cluster starts in one cycle in the SMs of one GPC, and clusters take GPCs in turn") {
  Work work;
  work.launch(clustered(16, {4, 1, 1}));
  const Log log = run_clusters(small_gpu(8, 2), work, always(500));
  REQUIRE(log.started.size() == 16);
  for (const auto& [number, ctas] : by_cluster(log, 4)) {
    REQUIRE(ctas.size() == 4);
    std::set<std::uint32_t> sms;
    for (const Started& s : ctas) {
      CHECK(gpc(s) == number % 2);
      CHECK(s.dispatched == kFloor + 4 * number);  // the port takes a cycle for each CTA
      sms.insert(s.sm);
    }
    CHECK(sms.size() == 4);
  }
}

TEST_CASE("a cluster that no GPC has room for waits, even where single CTAs would fit") {
  auto config = small_gpu(8, 2);
  config.sm.max_ctas = 1;
  Work work;
  work.launch(clustered(9, {3, 1, 1}));
  const Log log = run_clusters(config, work, [](const core::KernelSlot&, std::uint64_t cta) {
    return Life{cta == 4 ? 700u : 300u, 0};
  });
  const auto clusters = by_cluster(log, 3);
  CHECK(gpc(clusters.at(0)[0]) == 0);
  CHECK(gpc(clusters.at(1)[0]) == 1);
  // One SM of each GPC is free all the time; the third cluster needs two more in the same GPC.
  for (const Started& s : clusters.at(2)) {
    CHECK(gpc(s) == 0);
    CHECK(s.dispatched == kFloor + kToSm + 300 + kBack);
  }
}

TEST_CASE("several CTAs of a cluster may share an SM where a GPC has fewer SMs") {
  Work work;
  work.launch(clustered(16, {8, 2, 1}));
  work.kernels.back().grid = {8, 2, 1};
  const Log log = run_clusters(small_gpu(8, 2), work, always(100));
  std::map<std::uint32_t, unsigned> of_sm;
  for (const Started& s : log.started) {
    CHECK(gpc(s) == 0);
    ++of_sm[s.sm];
  }
  REQUIRE(of_sm.size() == 4);
  for (const auto& [sm, ctas] : of_sm) CHECK(ctas == 4);
}

TEST_CASE("the order of CTAs is that of clusters, and each comes once") {
  trace::KernelHeader header;
  header.grid = {6, 4, 4};
  header.cluster = {2, 2, 2};
  const core::ClusterOrder order(header);
  REQUIRE(order.size() == 8);
  // PTX ISA: rank = x + y * 2 + z * 4 in the cluster; the second cluster begins at x = 2.
  const std::uint64_t first[] = {0, 1, 6, 7, 24, 25, 30, 31}, second[] = {2, 3, 8, 9, 26, 27, 32, 33};
  for (unsigned i = 0; i < 8; ++i) CHECK(order.cta(i) == first[i]);
  for (unsigned i = 0; i < 8; ++i) CHECK(order.cta(8 + i) == second[i]);
  std::set<std::uint64_t> all;
  for (std::uint64_t n = 0; n < header.grid.count(); ++n) all.insert(order.cta(n));
  CHECK(all.size() == 96);
  CHECK(*all.rbegin() == 95);
}

TEST_CASE("clusters beside other kernels do not depend on windows or the order of domains") {
  auto config = small_gpu(8, 2);
  Work work;
  for (unsigned i = 0; i < 6; ++i) {
    trace::KernelHeader k = kernel(i + 1, 24, 128u << i % 3, i % 3);
    if (i % 2 == 0) k.cluster = {i % 4 == 0 ? 3u : 8u, 1, 1};
    work.launch(k);
  }
  const LifeOf life = [](const core::KernelSlot& k, std::uint64_t cta) {
    return Life{100 + (k.header->id * 7919 + cta * 104729) % 900, cta % 5};
  };
  sim::EngineOptions one;
  one.window = 1;
  const Log expected = run_clusters(config, work, life, one);
  REQUIRE(expected.kernels.size() == 6);
  for (const Cycle window : {2u, 7u, 32u}) {
    sim::EngineOptions options;
    options.window = window;
    options.shuffle = 77 + window;
    CHECK(run_clusters(config, work, life, options) == expected);
  }
}

}  // namespace
}  // namespace lockstep::test
