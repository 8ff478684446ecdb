// A system that several ranks simulate, here threads of the test, against one that one simulates.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "config/system_config.hpp"
#include "gpu/rank_map.hpp"
#include "support.hpp"
#include "tests/gpu/listed_trace.hpp"
#include "util/error.hpp"

namespace lockstep::test {
namespace {

using Catch::Matchers::Contains;

std::string on(int device) { return "Device," + std::to_string(device) + "\n"; }

/// Devices that use each other's memory: kernels that load and store over links, copies, events, waits of the
/// host, and copies from and to it.
std::string entangled(int devices) {
  std::string text = on(1) + "Place," + kOutput + ",16777216\n" + on(0) + "Place," + kFirstInput +
                     ",16777216\nMemcpyHtoD,0x7f8000000000,65536\n";
  for (int d = 0; d < devices; ++d) text += on(d) + "kernel-1.traceg\nEventRecord,0\n";
  text += on(1) + "StreamWait,5,0\nMemcpyPeer," + kFirstInput + "," + kOutput + ",100001,5\nWait\n";
  text += on(devices - 1) + "kernel-1.traceg\nWait\n" + on(0) + "kernel-1.traceg\n";
  return text + "MemcpyDtoH,0x7f8000000000,4096\n";
}

TEST_CASE("Ranks change no byte of devices that use each other's memory") {
  const ListedTrace trace(entangled(4));
  check_identity(*trace, options_of("dgx_a100", 4), {2, 3, 4});
}

TEST_CASE("Nor of devices whose links are direct, or that have none") {
  const ListedTrace trace(entangled(2));
  check_identity(*trace, options_of("hgx_a100_4", 2), {2});
  gpu::RunOptions apart;
  apart.system = config::unlinked_system(config::resolve("a100"), 3);
  apart.config = apart.system->devices.front();
  const ListedTrace alone(on(0) + "kernel-1.traceg\n" + on(2) + "kernel-1.traceg\nWait\n" + on(1) +
                          "kernel-1.traceg\n");
  check_identity(*alone, apart, {2, 3});
}

TEST_CASE("Nor with a map, with smaller windows in one rank, in another order, and without skipping") {
  const ListedTrace trace(entangled(3));
  gpu::RunOptions options = options_of("dgx_a100", 3);
  const std::string one = bytes_of(gpu::simulate(*trace, options));
  options.rank_map = {1, 0, 1, 0};
  const auto differ = [](unsigned rank, gpu::RunOptions& own) {
    own.window = rank == 0 ? 5 : 0;
    own.skip = rank == 0;
    own.shuffle = 3 + rank;
  };
  CHECK((bytes_of(simulate_on(2, *trace, options, differ)) == one));
}

TEST_CASE("Series, limits and timelines are those of one process") {
  const ListedTrace trace(entangled(2));
  gpu::RunOptions options = options_of("dgx_a100", 2);
  options.timeline = true;
  options.interval = 1000;
  check_identity(*trace, options, {2});
  options.max_cycles = 9000;
  const gpu::RunResult one = gpu::simulate(*trace, options);
  REQUIRE(one.outcome == gpu::Outcome::kMaxCycles);
  REQUIRE(one.report.kernels.back().partial);
  check_identity(*trace, options, {2});
}

TEST_CASE("A rank that is asked to stop ends all of them, and finished kernels are there") {
  const ListedTrace trace(entangled(2));
  gpu::RunOptions options = options_of("dgx_a100", 2);
  const gpu::RunResult whole = gpu::simulate(*trace, options);
  std::atomic<bool> stop{false};
  const auto each = [&](unsigned rank, gpu::RunOptions& own) {
    if (rank == 0) own.on_kernel_done = [&](const stats::RunReport&) { stop = true; };
    if (rank == 1) own.interrupted = [&] { return stop.load(); };
  };
  const gpu::RunResult part = simulate_on(2, *trace, options, each);
  CHECK(part.outcome == gpu::Outcome::kInterrupted);
  REQUIRE(part.report.kernels.size() > 1);
  CHECK((part.report.kernels[0].cycles == whole.report.kernels[0].cycles &&
         part.report.kernels[0].counters.sm.warp_instructions ==
             whole.report.kernels[0].counters.sm.warp_instructions));
}

TEST_CASE("A rank that fails ends the others") {
  const ListedTrace trace(entangled(2));
  const auto each = [](unsigned rank, gpu::RunOptions& own) {
    if (rank == 1) own.on_kernel_done = [](const stats::RunReport&) { throw UserError("no room"); };
  };
  CHECK_THROWS_WITH(simulate_on(2, *trace, options_of("dgx_a100", 2), each), Contains("no room"));
}

TEST_CASE("What ranks cannot share yet is refused") {
  const ListedTrace trace(entangled(2));
  gpu::RunOptions options = options_of("dgx_a100", 2);
  options.profile = true;
  CHECK_THROWS_WITH(simulate_on(2, *trace, options), Contains("failed") || Contains("--profile"));
  CHECK_THROWS_WITH(gpu::spread(config::resolve_system("compnet_8", 2), 3),
                    Contains("3 processes for the 2"));
  CHECK_THROWS_WITH(gpu::spread(config::resolve_system("dgx_a100", 2), 3), Contains("3 processes for the 2"));
}

TEST_CASE("Devices are spread in rows, and a switch goes with its first device") {
  CHECK((gpu::spread(config::resolve_system("dgx_a100", 4), 2) == std::vector<sim::Rank>{0, 0, 1, 1, 0}));
  CHECK((gpu::spread(config::resolve_system("dgx_a100", 5), 3) == std::vector<sim::Rank>{0, 0, 1, 1, 2, 0}));
}

TEST_CASE("A map of ranks is read, and what is wrong in it is named with its line") {
  const TemporaryFolder folder;
  const config::SystemConfig system = config::resolve_system("dgx_a100", 2);
  const std::string file = (folder.path() / "map").string();
  const auto read = [&](const std::string& text) {
    std::ofstream(file) << text;
    return gpu::read_rank_map(file, system, 2);
  };
  CHECK((read("gpu0 1  # far\n\ngpu1 0\n") == std::vector<sim::Rank>{1, 0, 1}));
  CHECK((read("gpu0 1\ngpu1 0\nnvswitch 0\n") == std::vector<sim::Rank>{1, 0, 0}));
  CHECK_THROWS_WITH(read("gpu0 1\ngpu7 0\n"), Contains(":2: found 'gpu7'"));
  CHECK_THROWS_WITH(read("gpu0 2\n"), Contains(":1: found '2', expected a rank from 0 to 1"));
  CHECK_THROWS_WITH(read("gpu0\n"), Contains(":1: found ''"));
  CHECK_THROWS_WITH(read("gpu0 0\ngpu0 1\n"), Contains(":2: gpu0 has a rank already"));
  CHECK_THROWS_WITH(read("gpu0 0 1\n"), Contains(":1: found '1', expected NODE RANK"));
  CHECK_THROWS_WITH(read("gpu0 0\n"), Contains("no rank for gpu1"));
  CHECK_THROWS_WITH(read("gpu0 0\ngpu1 0\n"), Contains("no device for rank 1"));
}

}  // namespace
}  // namespace lockstep::test
