// The host's calls and waits against a clock for each thread.
#include "export/host_threads.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <utility>
#include <vector>

#include "tests/random.hpp"

namespace lockstep::exporter {
namespace {

/// When each node is complete, if it begins as soon as what it waits for is.
std::vector<std::uint64_t> ends_of(const Graph& graph) {
  std::vector<std::uint64_t> ends, begins;
  for (const Node& node : graph.nodes) {
    std::uint64_t begin = 0;
    for (const std::uint32_t before : node.after) begin = std::max(begin, ends.at(before));
    for (const std::uint32_t before : node.underway) begin = std::max(begin, begins.at(before));
    begins.push_back(begin);
    ends.push_back(begin + node.time_ps);
  }
  return ends;
}

/// What the calls of threads are worth by their definition.
class Clocks {
 public:
  void call(std::uint32_t thread, std::uint64_t time) {
    while (clocks_.size() <= thread) clocks_.push_back(clocks_.front());
    now_ = std::max(clocks_[thread], waited_);
    if (time > 0) clocks_[thread] = now_ += time;
  }
  void waited(std::uint64_t until) {
    waited_ = std::max(waited_, until);
    now_ = std::max(now_, waited_);
  }
  [[nodiscard]] std::uint64_t now() const { return now_; }

 private:
  std::vector<std::uint64_t> clocks_{0};
  std::uint64_t waited_ = 0, now_ = 0;
};

}  // namespace

TEST_CASE("Of a chain, a frontier keeps the last node; of others, each once") {
  test::Random32 random(3);
  for (unsigned round = 0; round < 100; ++round) {
    Frontier all, parts;
    std::map<std::uint32_t, std::uint32_t> last;
    std::vector<std::uint32_t> single;
    for (unsigned i = 0; i < 30; ++i) {
      const std::uint32_t node = random() % 20, chain = random() % 4;
      const bool alone = chain == 3;
      const Frontier::Entry entry{node, alone ? Frontier::kNoChain : chain, false};
      Frontier one;
      one.add(entry);
      (random() % 2 == 0 ? all : parts).merge(one);
      if (!alone) last[chain] = std::max(last[chain], node);
      if (alone && std::ranges::find(single, node) == single.end()) single.push_back(node);
    }
    all.merge(parts);
    CHECK(all.entries().size() == last.size() + single.size());
    for (const Frontier::Entry& e : all.entries()) {
      if (e.chain == Frontier::kNoChain) CHECK(std::ranges::count(single, e.node) == 1);
      if (e.chain != Frontier::kNoChain) CHECK(last.at(e.chain) == e.node);
    }
  }
}

TEST_CASE("Calls of threads one after another, waits for all threads: as clocks of their own say") {
  constexpr std::uint16_t kRank = 0;
  test::Random32 random(11);
  for (unsigned round = 0; round < 200; ++round) {
    Draft draft(1);
    HostThreads host(draft, 1);
    Clocks clocks;
    std::vector<std::uint64_t> kernel_ends;   // by the clocks
    std::vector<std::uint32_t> kernel_nodes;  // probes of the graph
    std::vector<std::size_t> kernels;
    std::uint32_t thread = 0;
    for (unsigned i = 0; i < 60; ++i) {
      const std::uint32_t what = random() % 8;
      const std::uint64_t time = random() % 4 == 0 ? 0 : random() % 100;
      if (what < 4) {
        thread = random() % 4;
        host.call(thread, time, random() % 2 == 0);
        clocks.call(thread, time);
      } else if (what < 6 || kernels.empty()) {  // a kernel that begins when it is launched
        Frontier before;
        host.merge_into(before, kRank);
        kernel_nodes.push_back(draft.compute(kRank, {Lane::Kind::kStream, i}, time, "kernel", before));
        kernel_ends.push_back(clocks.now() + time);
        kernels.push_back(kernel_ends.size() - 1);
      } else {
        const std::size_t k = kernels[random() % kernels.size()];
        Frontier until;
        until.add({kernel_nodes[k]});
        host.waited(until);
        clocks.waited(kernel_ends[k]);
        // The thread that has waited goes on; the clock of another one does not move.
        host.call(thread, 1, true);
        clocks.call(thread, 1);
      }
    }
    const std::vector<std::uint64_t> ends = ends_of(draft.finish());
    for (std::size_t k = 0; k < kernel_nodes.size(); ++k) {
      CAPTURE(round, k);
      REQUIRE(ends.at(kernel_nodes[k]) == kernel_ends[k]);
    }
  }
}

TEST_CASE("Each rank has the host's calls itself, without messages") {
  Draft draft(3);
  HostThreads host(draft, 3);
  host.call(0, 5, false);
  host.call(1, 7, false);  // begins with thread 0, after its first call
  host.call(0, 11, true);
  std::vector<std::uint32_t> probes;
  for (std::uint16_t rank = 0; rank < 3; ++rank)
    for (const std::uint32_t thread : {0u, 1u}) {
      host.call(thread, 0, false);
      Frontier before;
      host.merge_into(before, rank);
      probes.push_back(draft.compute(rank, {Lane::Kind::kStream, 0}, 1, "kernel", before));
    }
  const Graph graph = draft.finish();
  const std::vector<std::uint64_t> ends = ends_of(graph);
  for (std::size_t p = 0; p < probes.size(); ++p) CHECK(ends[probes[p]] == 1 + (p % 2 == 0 ? 16u : 12u));
  for (const Node& node : graph.nodes) CHECK(node.kind == Node::Kind::kCompute);
}

TEST_CASE("The version changes with each call and wait that later work may depend on") {
  Draft draft(1);
  HostThreads host(draft, 1);
  std::uint64_t version = host.version();
  const auto changed = [&] {
    const std::uint64_t before = std::exchange(version, host.version());
    return before != version;
  };
  host.call(0, 0, false);
  CHECK_FALSE(changed());
  host.call(0, 3, false);
  CHECK(changed());
  host.call(1, 0, false);
  CHECK(changed());
  host.waited({});
  CHECK(changed());
  host.waited_last({});
  CHECK(changed());
}

}  // namespace lockstep::exporter
