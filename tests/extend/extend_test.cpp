// The examples of docs/how-to-add.md: each works as its page says.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <deque>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "config/topology.hpp"
#include "link/framing.hpp"
#include "lockstep/simulator.hpp"
#include "lockstep/trace_builder.hpp"
#include "mem/dram_standard.hpp"
#include "mem/dram_timing.hpp"
#include "paths.hpp"
#include "tests/extend/replacement_fifo.hpp"
#include "tests/extend/scheduler_youngest.hpp"
#include "uvm/evictor.hpp"
#include "uvm/prefetcher.hpp"

namespace lockstep {
namespace config {
extern const Topology kLine;
}
namespace link {
extern const FramingModel kChecked;
}
namespace mem {
extern const DramStandard kLpddr;
}
namespace uvm {
extern const PrefetchPolicy kNextPagePrefetch;
extern const EvictionPolicy kNewestTree;
}  // namespace uvm

namespace {

/// In place of their lines in the registries; before any configuration is read.
const bool kAdded = [] {
  uvm::add_prefetcher(uvm::kNextPagePrefetch);
  uvm::add_evictor(uvm::kNewestTree);
  return true;
}();

constexpr std::uint64_t kData = 0x7f0000000000, kPage = 4096, kTree = 2 << 20;

/// One warp that loads from `count` addresses, `distance` apart, one after another and so often.
Trace loads(std::uint64_t count, std::uint64_t distance, unsigned rounds) {
  TraceBuilder builder;
  builder.kernel({.name = "loads"}, [&](const Warp&, std::vector<Instruction>& code) {
    for (std::uint64_t i = 0; i < count * rounds; ++i)
      code.push_back({.opcode = "LDG.E",
                      .destination = 4,
                      .sources = {4},
                      .access_bytes = 4,
                      .base = kData + i % count * distance,
                      .stride = 4});
    code.push_back({.opcode = "EXIT"});
  });
  return builder.finish();
}

/// A counter of managed memory.
std::uint64_t managed(const Trace& trace, const std::vector<std::string>& settings, std::uint64_t bytes,
                      const std::string& memory, const char* counter) {
  Options options;
  options.managed = std::to_string(kData) + "+" + std::to_string(bytes);
  options.gpu_memory = memory;
  const auto json = nlohmann::json::parse(simulate(trace, Machine("v100", settings), options).json());
  return json.at("managed").at(counter).get<std::uint64_t>();
}

TEST_CASE("how to add: the GPU's file is a machine") {
  const Machine gpu(LOCKSTEP_SOURCE_DIR "/tests/extend/my_gpu.ini");
  CHECK_THAT(gpu.ini(), Catch::Contains("sms = 54\n"));
  CHECK(simulate(loads(4, kPage, 1), gpu).outcome() == Outcome::kDone);
}

TEST_CASE("how to add: the scheduler picks the youngest, whoever issued last") {
  std::array<std::uint32_t, core::kWarpsPerSubcore> age{};
  for (unsigned w = 0; w < age.size(); ++w) age[w] = (w * 7) % 16;  // 0 7 14 5 12 3 10 1 8 15 ...
  CHECK(core::YoungestFirst::pick(0xffff, {0, &age}) == 9);         // age 15
  CHECK(core::YoungestFirst::pick(0x000f, {1, &age}) == 2);         // age 14
  CHECK(core::YoungestFirst::fetch(0x0003, {0, &age}) == 1);
}

TEST_CASE("how to add: the replacement policy gives lines up in the order of their arrival") {
  constexpr std::uint32_t kWays = 8;
  mem::FifoReplacement fifo;
  mem::RecencyWords words(kWays);
  std::deque<mem::LineIndex> arrived;  // the oldest first
  std::mt19937 random(1);
  for (int i = 0; i < 5000; ++i) {
    fifo.touch(words, {0, kWays}, random() % kWays);
    const mem::LineIndex index = fifo.choose(words, {0, kWays}, [](mem::LineIndex) { return true; });
    if (arrived.size() == kWays) {
      REQUIRE(index == arrived.front());
      arrived.pop_front();
    }
    fifo.insert(words, {0, kWays}, index);
    arrived.push_back(index);
  }
  const mem::LineIndex kept = arrived.front();
  CHECK(fifo.choose(words, {0, kWays}, [&](mem::LineIndex s) { return s != kept; }) == arrived[1]);
  CHECK(fifo.choose(words, {0, kWays}, [](mem::LineIndex) { return false; }) == mem::kNoLine);
}

TEST_CASE("how to add: with the prefetcher every second page of a sweep faults") {
  const Trace sweep = loads(64, kPage, 1);
  const auto faults = [&](const std::string& prefetcher) {
    return managed(sweep, {"uvm.prefetcher=" + prefetcher}, 64 * kPage, "", "faults");
  };
  CHECK(faults("none") == 64);
  CHECK(faults("next_page") == 32);
}

TEST_CASE("how to add: with the evictor a part of a cycle that does not fit stays") {
  // Three trees in turn, 1 page of each, with room for two pages of 4 KB: least recently used misses always.
  // Most recently used keeps one of the pages and misses every second time: Belady's choice for a cycle.
  const Trace cycle = loads(3, kTree, 20);
  const auto faults = [&](const std::string& evictor) {
    return managed(cycle, {"uvm.prefetcher=none", "uvm.evictor=" + evictor}, 3 * kTree, "8 KiB", "faults");
  };
  CHECK(faults("lru_4k") == 60);
  CHECK(faults("mru_2m") <= 40);
}

TEST_CASE("how to add: the DRAM standard keeps precharges apart") {
  const config::DramGroup dram{};
  mem::DramTiming with(dram, mem::kLpddr.rules(dram)), without(dram);
  for (mem::DramTiming* timing : {&with, &without}) timing->issue(mem::DramCommand::kPrecharge, 0, 1000);
  CHECK(with.earliest(mem::DramCommand::kPrecharge, 1) == 1004);
  CHECK(without.earliest(mem::DramCommand::kPrecharge, 1) == 0);
  CHECK(mem::kLpddr.one_command_bus);
}

TEST_CASE("how to add: the link's model counts the checksum") {
  const link::FramingBytes bytes{.packet = 256, .header = 16, .store = 0, .ack = 1};
  const link::Framing checked(link::kChecked, bytes), plain(link::kPackets, bytes);
  for (const icnt::AccessKind kind : {icnt::AccessKind::kLoad, icnt::AccessKind::kStore}) {
    CHECK(checked.request(kind, 0xf) == plain.request(kind, 0xf) + 4);
    CHECK(checked.reply(kind, 0x1) == plain.reply(kind, 0x1) + 4);
  }
}

TEST_CASE("how to add: the topology is a line") {
  const config::TopologyGraph graph = config::kLine.generate(5, [](std::string_view) { return 1u; });
  CHECK(graph.switches.size() == 5);
  CHECK(graph.attached.size() == 5);
  REQUIRE(graph.between.size() == 4);  // a tree of five nodes
  for (std::uint32_t d = 0; d < 4; ++d) CHECK(graph.between[d] == config::TopologyGraph::Edge{5 + d, 6 + d});
}

}  // namespace
}  // namespace lockstep
