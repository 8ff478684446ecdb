// Graphs, device properties, error texts: against values of the CUDA documentation.
#include <catch2/catch.hpp>
#include <fstream>
#include <map>
#include <string>

#include "config/config.hpp"
#include "cuda/device.hpp"
#include "cuda/error.hpp"
#include "cuda/graph.hpp"
#include "cuda/modules.hpp"
#include "paths.hpp"

extern "C" {
const char* cudaGetErrorName(int status);
const char* cudaGetErrorString(int status);
int cuGetErrorName(int result, const char** text);
int cuGetErrorString(int result, const char** text);
}

namespace lockstep::cuda {

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

TEST_CASE("device properties of the consumer and inference GPUs: programming guide and data sheets") {
  struct Sheet {
    const char* name;
    int compute_capability, sms, threads, ctas;
    std::size_t shared, shared_reserved;  // bytes that a CTA may ask for
    int bus_bits, l2_mib;
    std::size_t memory_gib;
  };
  for (const Sheet& s : {Sheet{"rtx4090", 89, 128, 1536, 24, 99 << 10, 1024, 384, 72, 24},
                         {"rtx5090", 120, 170, 1536, 24, 99 << 10, 1024, 512, 96, 32},
                         {"l40", 89, 142, 1536, 24, 99 << 10, 1024, 384, 96, 48},
                         {"rtx3070", 86, 46, 1536, 16, 99 << 10, 1024, 256, 4, 8},
                         {"t4", 75, 40, 1024, 16, 64 << 10, 0, 256, 4, 16}}) {
    const auto p = device_properties(config::resolve(s.name));
    CAPTURE(s.name);
    CHECK(std::string(p.name) == s.name);
    CHECK(p.major * 10 + p.minor == s.compute_capability);
    CHECK(p.multiProcessorCount == s.sms);
    CHECK(p.maxThreadsPerMultiProcessor == s.threads);
    CHECK(p.maxBlocksPerMultiProcessor == s.ctas);
    CHECK(p.sharedMemPerBlockOptin == s.shared);
    CHECK(p.reservedSharedMemPerBlock == s.shared_reserved);
    CHECK(p.memoryBusWidth == s.bus_bits);
    CHECK(p.l2CacheSize == s.l2_mib << 20);
    CHECK(p.totalGlobalMem == s.memory_gib << 30);
    CHECK(p.clusterLaunch == (s.compute_capability >= 90 ? 1 : 0));
  }
}

TEST_CASE("peak bandwidth is twice the memory clock times the bus, as programs compute it") {
  // Bus width and GB/s of data sheets; memory clocks in MHz as nvidia-smi shows them.
  struct Memory {
    const char* name;
    int bits;
    double mhz, gigabytes;
  };
  for (const Memory& m : {Memory{"v100", 4096, 877, 900},
                          {"a100", 5120, 1593, 2039},
                          {"h100_pcie", 5120, 1593, 2039},
                          {"h100_sxm", 5120, 2619, 3350},
                          {"h200", 6144, 3125, 4800},
                          {"gtx1080ti", 352, 5505, 484},
                          {"rtx3080ti", 384, 9501, 912},
                          {"rtx4090", 384, 10501, 1008},
                          {"rtx5090", 512, 14001, 1792},
                          {"t4", 256, 5001, 320}}) {
    const auto gpu = config::resolve(m.name);
    CAPTURE(m.name);
    const int khz = device_attribute(gpu, 36).value(), bits = device_attribute(gpu, 37).value();
    CHECK(bits == m.bits);
    CHECK(khz / 1000.0 == Approx(m.mhz).epsilon(0.002));
    CHECK(2.0 * khz * (bits / 8.0) / 1e6 == Approx(m.gigabytes).epsilon(0.005));
  }
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
  CHECK(std::string(status_name(static_cast<Status>(12345))) == "unrecognized error code");
}

namespace {

/// Rows of a file of tests/cuda/data by their number; the other fields as one text.
std::map<int, std::string> rows_of(const char* name) {
  std::ifstream file(std::string(LOCKSTEP_SOURCE_DIR) + "/tests/cuda/data/" + name);
  std::map<int, std::string> rows;
  for (std::string line; std::getline(file, line);) {
    const std::size_t tab = line.find('\t');
    if (line[0] != '#') rows[std::stoi(line)] = line.substr(tab + 1);
  }
  return rows;
}

}  // namespace

TEST_CASE("names and texts of result codes are those that NVIDIA's runtime gives") {
  const auto rows = rows_of("error_texts.tsv");
  REQUIRE(rows.size() > 100);
  for (int number = 0; number < 11000; ++number) {
    const auto row = rows.find(number);
    const std::string expected =
        row != rows.end() ? row->second : "unrecognized error code\tunrecognized error code";
    const std::string name = cudaGetErrorName(number), text = cudaGetErrorString(number);
    if (name + "\t" + text != expected)
      FAIL(number << ": " << name << ", " << text << "; expected " << expected);
  }
}

TEST_CASE("the driver's result codes have the names of cuda.h and the runtime's texts") {
  const auto rows = rows_of("driver_results.tsv"), runtime = rows_of("error_texts.tsv");
  REQUIRE(rows.size() > 90);
  for (int number = 0; number < 11000; ++number) {
    INFO(number);
    const char *name = nullptr, *text = nullptr;
    const auto row = rows.find(number);
    const int result = row != rows.end() ? 0 : 1;  // CUDA_ERROR_INVALID_VALUE
    if (cuGetErrorName(number, &name) != result || cuGetErrorString(number, &text) != result)
      FAIL("the result");
    if (row == rows.end()) {
      if (name != nullptr || text != nullptr) FAIL("a text of a number that the driver does not have");
      continue;
    }
    CHECK(name == row->second);
    const auto same = runtime.find(number);
    if (same != runtime.end()) CHECK(text == same->second.substr(same->second.find('\t') + 1));
  }
  const char* text = nullptr;
  CHECK(cuGetErrorString(700, &text) == 0);
  CHECK(std::string(text) == "an illegal memory access was encountered");
  CHECK(cuGetErrorName(1, nullptr) == 1);
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
  Module module("program", std::vector<std::string>{program, library}, PtxLimit{}, memory);
  const auto id = module.program().find_function("__cudaCDP2LaunchDeviceV2");
  REQUIRE(id);
  CHECK_FALSE(module.program().functions[*id].has_body);
  CHECK_NOTHROW(exec::Executable(module.image(), module.program().find_function("k").value()));
}

}  // namespace lockstep::cuda
