// Graphs, device properties, error texts: against values of the CUDA documentation.
#include <catch2/catch.hpp>
#include <string>

#include "config/config.hpp"
#include "cuda/device.hpp"
#include "cuda/error.hpp"
#include "cuda/graph.hpp"
#include "cuda/modules.hpp"

using namespace lockstep;
using namespace lockstep::cuda;

TEST_CASE("a graph's nodes come after what they depend on, otherwise as added") {
  Graph graph;
  GraphNode* a = graph.add(Nothing{}, {});
  GraphNode* b = graph.add(Nothing{}, {});
  GraphNode* c = graph.add(Nothing{}, {a, b, a});
  a->dependencies.push_back(b);
  CHECK(graph.ordered() == std::vector<const GraphNode*>{b, a, c});
  CHECK(c->dependencies.size() == 2);
  b->dependencies.push_back(c);
  CHECK_THROWS_AS(graph.ordered(), ApiError);
}

TEST_CASE("a clone has twins of all nodes with the same dependences among themselves") {
  Graph graph;
  GraphNode* a = graph.add(HostCall{nullptr, nullptr}, {});
  GraphNode* b = graph.add(Nothing{}, {a});
  const auto clone = graph.clone();
  REQUIRE(clone->nodes.size() == 2);
  CHECK(clone->nodes[1]->original == b);
  CHECK(clone->nodes[1]->dependencies == std::vector<GraphNode*>{clone->nodes[0].get()});
  CHECK_THROWS_AS(graph.add(Nothing{}, {clone->nodes[0].get()}), ApiError);
}

TEST_CASE("device properties: the technical specifications of compute capability 7.0 and 9.0") {
  const auto v100 = device_properties(config::resolve("v100"));
  CHECK(std::string(v100.name) == "v100");
  CHECK(v100.major * 10 + v100.minor == 70);
  CHECK(v100.multiProcessorCount == 80);
  CHECK(v100.maxThreadsPerMultiProcessor == 2048);
  CHECK(v100.maxBlocksPerMultiProcessor == 32);
  CHECK(v100.regsPerMultiprocessor == 65536);
  CHECK(v100.sharedMemPerBlock == 49152);
  CHECK(v100.sharedMemPerBlockOptin == 98304);
  CHECK(v100.totalGlobalMem == std::size_t{16} << 30);
  CHECK(v100.memoryBusWidth == 4096);
  CHECK(v100.l2CacheSize == 6 << 20);
  CHECK(v100.clusterLaunch == 0);
  CHECK(v100.persistingL2CacheMaxSize == 0);
  CHECK(device_properties(config::resolve("a100")).persistingL2CacheMaxSize == 30 << 20);
  const auto h100 = device_properties(config::resolve("h100_pcie"));
  CHECK(h100.sharedMemPerBlockOptin == 232448);
  CHECK(h100.reservedSharedMemPerBlock == 1024);
  CHECK(h100.clusterLaunch == 1);
}

TEST_CASE("attributes are the properties by number, and the clocks that are no longer properties") {
  const auto gpu = config::resolve("v100");
  CHECK(device_attribute(gpu, 1) == 1024);      // MaxThreadsPerBlock
  CHECK(device_attribute(gpu, 13) == 1380000);  // ClockRate, kHz
  CHECK(device_attribute(gpu, 16) == 80);       // MultiProcessorCount
  CHECK(device_attribute(gpu, 36) == 877000);   // MemoryClockRate, kHz
  CHECK(device_attribute(gpu, 75) == 7);        // ComputeCapabilityMajor
  CHECK(device_attribute(gpu, 97) == 98304);    // MaxSharedMemoryPerBlockOptin
  CHECK(device_attribute(gpu, 95) == 1);        // CooperativeLaunch
  CHECK_FALSE(device_attribute(gpu, 0).has_value());
  CHECK_FALSE(device_attribute(gpu, 5000).has_value());
}

TEST_CASE("result codes have the runtime's names") {
  CHECK(std::string(status_name(Status::kSuccess)) == "cudaSuccess");
  CHECK(static_cast<int>(Status::kErrorMemoryAllocation) == 2);
  CHECK(static_cast<int>(Status::kErrorIllegalAddress) == 700);
  CHECK(static_cast<int>(Status::kErrorNotSupported) == 801);
  CHECK(std::string(status_name(Status::kErrorIllegalAddress)) == "cudaErrorIllegalAddress");
  CHECK(std::string(status_text(Status::kErrorIllegalAddress)) == "illegal address");
  CHECK(std::string(status_name(static_cast<Status>(12345))) == "unrecognized error code");
}

TEST_CASE("the device's part of the runtime is left out of a program: the executor has it") {
  const std::string head = ".version 8.0\n.target sm_75\n.address_size 64\n";
  const std::string library =
      head +
      ".extern .func (.param .b32 r) __cuda_syscall_cnpv2LaunchDeviceV2(.param .b64 b, .param .b64 s);\n"
      ".visible .func (.param .b32 r) __cudaCDP2LaunchDeviceV2(.param .b64 b, .param .b64 s) {\n"
      ".reg .b64 %d<3>;\nld.param.b64 %d1, [b];\nld.param.b64 %d2, [s];\n"
      "{ .param .b64 p; .param .b64 q; .param .b32 v; st.param.b64 [p], %d1; st.param.b64 [q], %d2;\n"
      "call (v), __cuda_syscall_cnpv2LaunchDeviceV2, (p, q); }\nret;\n}\n";
  const std::string program =
      head +
      ".extern .func (.param .b32 r) __cudaCDP2LaunchDeviceV2(.param .b64 b, .param .b64 s);\n"
      ".visible .entry k() {\n{ .param .b64 p; .param .b64 q; .param .b32 v; st.param.b64 [p], 0;"
      " st.param.b64 [q], 0; call (v), __cudaCDP2LaunchDeviceV2, (p, q); }\nret;\n}\n";
  exec::DeviceMemory memory(std::uint64_t{1} << 22);
  Module module("program", std::vector<std::string>{program, library}, memory);
  const auto id = module.program().find_function("__cudaCDP2LaunchDeviceV2");
  REQUIRE(id);
  CHECK_FALSE(module.program().functions[*id].has_body);
  CHECK_NOTHROW(exec::Executable(module.image(), module.program().find_function("k").value()));
}
