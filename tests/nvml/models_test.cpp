// What the library says of the GPU models, against data sheets. It reads its machine once in a process: each
// model is read by another one.
#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "machine.hpp"
#include "tests/cli/program.hpp"

using namespace lockstep::nvml::test;

extern "C" {
int nvmlDeviceGetCount_v2(unsigned*);
int nvmlDeviceGetCudaComputeCapability(Gpu*, int*, int*);
int nvmlDeviceGetArchitecture(Gpu*, unsigned*);
int nvmlDeviceGetMemoryBusWidth(Gpu*, unsigned*);
int nvmlDeviceGetMaxClockInfo(Gpu*, int, unsigned*);
int nvmlDeviceGetNvLinkState(Gpu*, unsigned, int*);
int nvmlDeviceGetP2PStatus(Gpu*, Gpu*, int, int*);
}

namespace {

/// What the hidden test below prints in a process with this environment.
std::string described(std::vector<std::pair<std::string, std::string>> environment) {
  lockstep::cli::Launch launch;
  launch.arguments = {"[described]", "-o", "/dev/null"};
  launch.environment = std::move(environment);
  launch.environment.emplace_back("LOCKSTEP_TEST_DESCRIBES", "1");
  launch.program = std::filesystem::read_symlink("/proc/self/exe").string();
  const lockstep::cli::Finished done = lockstep::cli::run(launch);
  CHECK(done.code == 0);
  return done.out + done.err;
}

std::string described_model(const char* model) {
  return described({{lockstep::cuda::kConfigVariable, model}});
}

}  // namespace

TEST_CASE("a machine is described to another process", "[described]") {
  if (std::getenv("LOCKSTEP_TEST_DESCRIBES") == nullptr) return;
  const int opened = nvmlInit_v2();
  unsigned count = 0;
  const int counted = nvmlDeviceGetCount_v2(&count);
  if (opened != kSuccess) {
    std::fprintf(stderr, "nvmlInit %d, nvmlDeviceGetCount %d\n", opened, counted);
    return;
  }
  std::vector<Gpu*> gpus(count);
  for (unsigned d = 0; d < count; ++d) (void)nvmlDeviceGetHandleByIndex_v2(d, &gpus[d]);
  int major = 0, minor = 0, link = 0;
  unsigned architecture = 0, bits = 0, mhz = 0, memory_mhz = 0;
  (void)nvmlDeviceGetCudaComputeCapability(gpus[0], &major, &minor);
  (void)nvmlDeviceGetArchitecture(gpus[0], &architecture);
  (void)nvmlDeviceGetMemoryBusWidth(gpus[0], &bits);
  (void)nvmlDeviceGetMaxClockInfo(gpus[0], 1, &mhz);
  (void)nvmlDeviceGetMaxClockInfo(gpus[0], 2, &memory_mhz);
  std::printf("%u GPUs, %d.%d, %u, %u bits, %u MHz, %u MHz, link %d, peers", count, major, minor,
              architecture, bits, mhz, memory_mhz, nvmlDeviceGetNvLinkState(gpus[0], 0, &link));
  for (Gpu* peer : gpus)
    for (const int access : {0, 2}) {  // read, NVLink
      int status = -1;
      (void)nvmlDeviceGetP2PStatus(gpus[0], peer, access, &status);
      std::printf(" %d", status);
    }
  std::printf("\n");
}

TEST_CASE("NVML: architectures, capabilities, memory buses and clocks are the published ones") {
  // nvmlDeviceArchitecture_t: 4 Pascal, 5 Volta, 6 Turing, 7 Ampere, 8 Ada, 9 Hopper, 10 Blackwell. Memory
  // clocks: peak bandwidth over twice the bus width.
  const std::pair<const char*, const char*> models[] = {
      {"gtx1080ti", "6.1, 4, 352 bits, 1481 MHz, 5500 MHz"},
      {"v100_sxm2", "7.0, 5, 4096 bits, 1530 MHz, 877 MHz"},
      {"t4", "7.5, 6, 256 bits, 1590 MHz, 5000 MHz"},
      {"rtx2080ti", "7.5, 6, 352 bits, 1545 MHz, 7000 MHz"},
      {"a100", "8.0, 7, 5120 bits, 1410 MHz, 1593 MHz"},
      {"rtxa6000", "8.6, 7, 384 bits, 1800 MHz, 8000 MHz"},
      {"l40", "8.9, 8, 384 bits, 2490 MHz, 9000 MHz"},
      {"h100_sxm", "9.0, 9, 5120 bits, 1980 MHz, 2619 MHz"},
      {"rtx5090", "12.0, 10, 512 bits, 2407 MHz, 14000 MHz"},
  };
  for (const auto& [model, facts] : models) {
    CAPTURE(model);
    // One GPU without links: it reaches its own memory, and nothing over NVLink.
    CHECK(described_model(model) == std::string("1 GPUs, ") + facts + ", link 2, peers 0 5\n");
  }
}

TEST_CASE("NVML: GPUs that reach each other without NVLink are peers, but not over NVLink") {
  const std::string pair =
      described({{lockstep::cuda::kConfigVariable, "a100"}, {lockstep::cuda::kDevicesVariable, "2"}});
  CHECK_THAT(pair, Catch::StartsWith("2 GPUs, ") && Catch::EndsWith(", link 2, peers 0 5 0 5\n"));
  const std::string apart = described({{lockstep::cuda::kConfigVariable, "a100"},
                                       {lockstep::cuda::kDevicesVariable, "3"},
                                       {lockstep::cuda::kLinksVariable, "0-1*1"},
                                       {lockstep::cuda::kApartVariable, "0-2"}});
  CHECK_THAT(apart, Catch::EndsWith(", link 0, peers 0 5 0 0 5 5\n"));
}

TEST_CASE("NVML: without lockstep exec there is no driver, and nothing is open") {
  CHECK(described({}) ==
        "lockstep: LOCKSTEP_CUDA_CONFIG is not set: start the program with `lockstep exec -- PROGRAM`\n"
        "nvmlInit 9, nvmlDeviceGetCount 1\n");
  CHECK_THAT(described_model("no_such_gpu"), Catch::EndsWith("nvmlInit 9, nvmlDeviceGetCount 1\n"));
  CHECK_THAT(described({{lockstep::cuda::kConfigVariable, "a100"}, {lockstep::cuda::kDevicesVariable, "0"}}),
             Catch::Contains("LOCKSTEP_CUDA_DEVICES is 0; expected 1 to") &&
                 Catch::EndsWith("nvmlInit 9, nvmlDeviceGetCount 1\n"));
}
