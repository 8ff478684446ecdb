// Clusters of a launch, against the CUDA C++ Programming Guide (Thread Block Clusters), PTX ISA 9.0 (Cluster
// Dimension Directives) and, for how many are resident, H100 PCIe: 57 TPCs of two SMs in 8 GPCs.
#include "cuda/cluster.hpp"

#include <catch2/catch.hpp>
#include <string>

#include "config/config.hpp"
#include "cuda/error.hpp"

namespace lockstep::cuda {

namespace {

struct Program {
  explicit Program(const std::string& directives)
      : module("test",
               {".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry run() " + directives +
                " { ret; }"},
               PtxLimit{}, memory) {
    kernel.name = "run";
    kernel.module = &module;
  }

  /// What becomes of a launch; its grid is counted in CTAs.
  KernelLaunch settled(KernelLaunch launch, const std::string& gpu = "h100_pcie") {
    settle_cluster(kernel, launch, config::resolve(gpu));
    return launch;
  }
  bool refused(KernelLaunch launch, const std::string& gpu = "h100_pcie") {
    try {
      (void)settled(std::move(launch), gpu);
      return false;
    } catch (const ApiError& error) {
      CHECK(error.status() == Status::kErrorInvalidClusterSize);
      return true;
    }
  }

  exec::DeviceMemory memory{64 << 20};
  Module module;
  Kernel kernel;
};

KernelLaunch launch(abi::dim3 grid, std::optional<abi::dim3> cluster = std::nullopt) {
  KernelLaunch l;
  l.grid = grid;
  l.block = {128, 1, 1};
  l.cluster = cluster;
  return l;
}

}  // namespace

TEST_CASE("a kernel with a cluster size gets it at every launch") {
  Program program(".reqnctapercluster 2, 2, 1");
  CHECK(program.settled(launch({4, 4, 1})).cluster == abi::dim3{2, 2, 1});
  CHECK(program.settled(launch({4, 4, 1})).grid == abi::dim3{4, 4, 1});
  CHECK(program.settled(launch({4, 4, 1}, abi::dim3{2, 2, 1})).cluster == abi::dim3{2, 2, 1});
  CHECK(program.refused(launch({4, 4, 1}, abi::dim3{4, 1, 1})));
  CHECK(program.refused(launch({3, 4, 1})));
}

TEST_CASE("a kernel whose blocks are clusters: its grid counts them") {
  Program program(".blocksareclusters .reqntid 128 .reqnctapercluster 2, 2, 1");
  CHECK(program.settled(launch({3, 5, 1})).grid == abi::dim3{6, 10, 1});
}

TEST_CASE("a launch's cluster: 8 CTAs, 16 where the kernel allows it, on GPUs that have clusters") {
  Program program("");
  CHECK_FALSE(program.settled(launch({3, 1, 1})).cluster);
  CHECK_FALSE(program.refused(launch({8, 1, 1}, abi::dim3{8, 1, 1})));
  CHECK(program.refused(launch({16, 1, 1}, abi::dim3{16, 1, 1})));
  program.kernel.large_clusters = true;
  CHECK_FALSE(program.refused(launch({16, 1, 1}, abi::dim3{16, 1, 1})));
  CHECK(program.refused(launch({32, 1, 1}, abi::dim3{32, 1, 1})));
  CHECK(program.refused(launch({9, 1, 1}, abi::dim3{2, 1, 1})));
  CHECK(program.refused(launch({8, 1, 1}, abi::dim3{2, 1, 1}), "a100"));
  CHECK_FALSE(program.refused(launch({8, 1, 1}, abi::dim3{1, 1, 1}), "a100"));
}

TEST_CASE("a kernel's largest cluster, and one that needs the launch's") {
  {
    Program limited(".maxclusterrank 4");
    CHECK_FALSE(limited.refused(launch({4, 1, 1}, abi::dim3{4, 1, 1})));
    CHECK(limited.refused(launch({8, 1, 1}, abi::dim3{8, 1, 1})));
  }  // one device memory at a time
  Program explicitly(".explicitcluster");
  CHECK(explicitly.refused(launch({4, 1, 1})));
  CHECK_FALSE(explicitly.refused(launch({4, 1, 1}, abi::dim3{1, 1, 1})));
}

TEST_CASE("clusters that are resident: CTAs of one share a GPC") {
  Program program("");
  const auto h100 = config::resolve("h100_pcie");
  const auto clusters = [&](unsigned size) {
    KernelLaunch l = launch({size, 1, 1}, abi::dim3{size, 1, 1});
    l.dynamic_shared = 200 * 1024;  // of 227 KiB: one CTA per SM
    return active_clusters(program.kernel, l, h100);
  };
  // Seven GPCs of 14 SMs, one of 16.
  CHECK(clusters(1) == 114);
  CHECK(clusters(2) == 7 * 7 + 8);
  CHECK(clusters(4) == 7 * 3 + 4);
  CHECK(clusters(8) == 7 * 1 + 2);
  CHECK(clusters(16) == 1);
  KernelLaunch l = launch({1, 1, 1});
  l.dynamic_shared = 200 * 1024;
  CHECK(largest_cluster(program.kernel, l, h100) == 8);
  program.kernel.large_clusters = true;
  CHECK(largest_cluster(program.kernel, l, h100) == 16);
}

}  // namespace lockstep::cuda
