// NVML against what the machine's description says, and against NVML's own documentation of its results.
#include <unistd.h>

#include <array>
#include <bit>
#include <catch2/catch.hpp>
#include <string>

#include "machine.hpp"
#include "nvml/abi.hpp"
#include "paths.hpp"
#include "tests/cli/program.hpp"

using lockstep::nvml::abi::FieldValue;
using lockstep::nvml::abi::PciInfo;
using lockstep::nvml::abi::PciInfoLegacy;
using namespace lockstep::nvml::test;

extern "C" {
const char* nvmlErrorString(int);
int nvmlSystemGetCudaDriverVersion(int*);
int nvmlDeviceGetCount_v2(unsigned*);
int nvmlDeviceGetHandleByPciBusId_v2(const char*, Gpu**);
int nvmlDeviceGetHandleByUUID(const char*, Gpu**);
int nvmlDeviceGetIndex(Gpu*, unsigned*);
int nvmlDeviceGetName(Gpu*, char*, unsigned);
int nvmlDeviceGetUUID(Gpu*, char*, unsigned);
int nvmlDeviceGetPciInfo_v3(Gpu*, PciInfo*);
int nvmlDeviceGetCudaComputeCapability(Gpu*, int*, int*);
int nvmlDeviceGetMaxClockInfo(Gpu*, int, unsigned*);
int nvmlDeviceGetNvLinkState(Gpu*, unsigned, int*);
int nvmlDeviceGetNvLinkCapability(Gpu*, unsigned, unsigned, unsigned*);
int nvmlDeviceGetNvLinkRemotePciInfo(Gpu*, unsigned, PciInfoLegacy*);
int nvmlDeviceGetP2PStatus(Gpu*, Gpu*, int, int*);
int nvmlDeviceGetFieldValues(Gpu*, int, FieldValue*);
int nvmlDeviceGetGpuFabricInfoV(Gpu*, void*);
int nvmlDeviceGetPowerUsage(Gpu*, unsigned*);
int nvmlDeviceGetTemperature(Gpu*, int, unsigned*);
int nvmlDeviceGetUtilizationRates(Gpu*, void*);
int nvmlDeviceGetSupportedMemoryClocks(Gpu*, unsigned*, unsigned*);
int nvmlDeviceGetSupportedGraphicsClocks(Gpu*, unsigned, unsigned*, unsigned*);
int nvmlDeviceGetArchitecture(Gpu*, unsigned*);
int nvmlDeviceGetMemoryBusWidth(Gpu*, unsigned*);
int nvmlDeviceGetMinorNumber(Gpu*, unsigned*);
int nvmlDeviceSetCpuAffinity(Gpu*);
int nvmlDeviceGetCpuAffinity(Gpu*, unsigned, unsigned long*);
}

TEST_CASE("NVML: nothing is answered before nvmlInit and after as many nvmlShutdown") {
  unsigned count = 0;
  CHECK(nvmlDeviceGetCount_v2(&count) == kUninitialized);
  {
    const Open open;
    REQUIRE(nvmlInit_v2() == kSuccess);
    REQUIRE(nvmlShutdown() == kSuccess);
    CHECK(nvmlDeviceGetCount_v2(&count) == kSuccess);
    CHECK(count == 3);
  }
  CHECK(nvmlDeviceGetCount_v2(&count) == kUninitialized);
  CHECK(nvmlShutdown() == kUninitialized);
  CHECK(nvmlErrorString(kUninitialized) == std::string("Uninitialized"));
}

TEST_CASE("NVML: devices are found by index, bus and UUID, and have the configured GPU's properties") {
  const Open open;
  Gpu* found = nullptr;
  CHECK(nvmlDeviceGetHandleByIndex_v2(3, &found) == kInvalidArgument);
  for (const char* bus : {"0000:02:00.0", "00000000:02:00.0", "0:2:0.0"}) {
    REQUIRE(nvmlDeviceGetHandleByPciBusId_v2(bus, &found) == kSuccess);
    CHECK(found == open.gpus[1]);
  }
  CHECK(nvmlDeviceGetHandleByPciBusId_v2("0000:04:00.0", &found) == kNotFound);  // the switch
  CHECK(nvmlDeviceGetHandleByPciBusId_v2("GPU", &found) == kInvalidArgument);
  char text[96];
  REQUIRE(nvmlDeviceGetUUID(open.gpus[2], text, sizeof text) == kSuccess);
  CHECK(std::string(text).size() == 40);  // GPU- and 32 digits in five groups
  REQUIRE(nvmlDeviceGetHandleByUUID(text, &found) == kSuccess);
  CHECK(found == open.gpus[2]);
  unsigned index = 0, mhz = 0;
  CHECK(nvmlDeviceGetIndex(open.gpus[2], &index) == kSuccess);
  CHECK(index == 2);
  CHECK(nvmlDeviceGetIndex(reinterpret_cast<Gpu*>(&index), &index) == kInvalidArgument);
  PciInfo info{};
  REQUIRE(nvmlDeviceGetPciInfo_v3(open.gpus[2], &info) == kSuccess);
  CHECK(info.bus_id == std::string("00000000:03:00.0"));
  CHECK(info.bus_id_legacy == std::string("0000:03:00.0"));
  CHECK(info.bus == 3);
  int major = 0, minor = -1, version = 0;
  REQUIRE(nvmlDeviceGetCudaComputeCapability(open.gpus[0], &major, &minor) == kSuccess);
  CHECK((major == 8 && minor == 0));
  REQUIRE(nvmlSystemGetCudaDriverVersion(&version) == kSuccess);
  CHECK(version == 13000);
  CHECK(nvmlDeviceGetName(open.gpus[0], text, 3) == kTooSmall);
  CHECK(nvmlDeviceGetMaxClockInfo(open.gpus[0], 1, &mhz) == kSuccess);
  CHECK(mhz == 1410);  // A100 SXM: NVIDIA A100 whitepaper, boost clock
}

TEST_CASE("NVML: a device's links in the order of the description, and their other ends") {
  const Open open;
  const std::string ends[] = {"0000:01:00.0", "0000:01:00.0", "0000:01:00.0",
                              "0000:01:00.0", "0000:04:00.0", "0000:04:00.0"};
  int active = 0;
  unsigned has = 0;
  for (unsigned link = 0; link < 6; ++link) {
    PciInfoLegacy info{};
    REQUIRE(nvmlDeviceGetNvLinkRemotePciInfo(open.gpus[1], link, &info) == kSuccess);
    CHECK(info.bus_id == ends[link]);
    CHECK(nvmlDeviceGetNvLinkState(open.gpus[1], link, &active) == kSuccess);
    CHECK(active == 1);
  }
  CHECK(nvmlDeviceGetNvLinkState(open.gpus[1], 6, &active) == kInvalidArgument);
  CHECK(nvmlDeviceGetNvLinkState(open.gpus[2], 0, &active) == kInvalidArgument);
  CHECK(nvmlDeviceGetNvLinkCapability(open.gpus[0], 0, 0, &has) == kSuccess);  // P2P
  CHECK(has == 1);
  CHECK(nvmlDeviceGetNvLinkCapability(open.gpus[0], 0, 4, &has) == kSuccess);  // SLI
  CHECK(has == 0);
  CHECK(nvmlDeviceGetNvLinkCapability(open.gpus[0], 0, 6, &has) == kInvalidArgument);
  FieldValue values[3] = {};
  values[0].field = 165, values[0].scope = 5;  // NVML_FI_DEV_NVLINK_GET_STATE
  values[1].field = 165, values[1].scope = 6;
  values[2].field = 1;
  REQUIRE(nvmlDeviceGetFieldValues(open.gpus[0], 3, values) == kSuccess);
  CHECK(static_cast<int>(values[0].result) == kSuccess);
  CHECK(values[0].value.ui == 1);
  CHECK(static_cast<int>(values[1].result) == kInvalidArgument);
  CHECK(static_cast<int>(values[2].result) == kNotSupported);
  CHECK(nvmlDeviceGetGpuFabricInfoV(open.gpus[0], values) == kNotSupported);
}

TEST_CASE("NVML: peers are those that a way of links connects") {
  const Open open;
  constexpr int kOk = 0, kNo = 5, kNvLink = 2;
  const int expected[3][3] = {{kOk, kOk, kNo}, {kOk, kOk, kOk}, {kNo, kOk, kOk}};
  int status = -1;
  for (unsigned a = 0; a < 3; ++a)
    for (unsigned b = 0; b < 3; ++b) {
      REQUIRE(nvmlDeviceGetP2PStatus(open.gpus[a], open.gpus[b], 0, &status) == kSuccess);
      CHECK(status == expected[a][b]);
    }
  CHECK(nvmlDeviceGetP2PStatus(open.gpus[0], open.gpus[1], kNvLink, &status) == kSuccess);
  CHECK(status == kOk);
  CHECK(nvmlDeviceGetP2PStatus(open.gpus[0], nullptr, 0, &status) == kInvalidArgument);
}

TEST_CASE("NVML: a program under exec loads it and sees the system's links") {
  const auto seen = [](const char* system, const char* gpus) {
    const lockstep::cli::Finished done = lockstep::cli::run(
        {"exec", "-q", "--functional", "-c", system, "--gpus", gpus, "--", LOCKSTEP_NVML_PROGRAM});
    CHECK(done.code == 0);
    return done.out;
  };
  const std::string to_switch = "00000000:03:00.0 ";
  CHECK(seen("dgx_a100", "2") == "0 0 2\n" + to_switch + to_switch + to_switch + "12 links; 0 0\n" +
                                     to_switch + to_switch + to_switch + "12 links; 0 0\n0\n");
  CHECK(seen("hgx_a100_4", "2") ==
        "0 0 2\n00000000:02:00.0 4 links; 0 0\n00000000:01:00.0 4 links; 0 0\n0\n");
}

TEST_CASE("NVML: sensors are not supported and leave no value; clocks, bus and architecture are the A100's") {
  const Open open;
  Gpu* const gpu = open.gpus[1];
  unsigned value = 4711;
  CHECK(nvmlDeviceGetPowerUsage(gpu, &value) == kNotSupported);
  CHECK(nvmlDeviceGetTemperature(gpu, 0, &value) == kNotSupported);
  CHECK(nvmlDeviceGetUtilizationRates(gpu, &value) == kNotSupported);
  CHECK(value == 4711);
  CHECK(nvmlDeviceGetPowerUsage(nullptr, &value) == kInvalidArgument);
  unsigned count = 0, clock = 0;
  CHECK(nvmlDeviceGetSupportedMemoryClocks(gpu, &count, nullptr) == kTooSmall);
  REQUIRE(count == 1);
  CHECK(nvmlDeviceGetSupportedMemoryClocks(gpu, &count, &clock) == kSuccess);
  CHECK(clock == 1593);  // 80 GB of HBM2e, data sheet
  CHECK(nvmlDeviceGetSupportedGraphicsClocks(gpu, clock, &count, &value) == kSuccess);
  CHECK(value == 1410);  // data sheet
  CHECK(nvmlDeviceGetSupportedGraphicsClocks(gpu, clock + 1, &count, &value) == kNotFound);
  CHECK((nvmlDeviceGetArchitecture(gpu, &value) == kSuccess && value == 7));  // NVML_DEVICE_ARCH_AMPERE
  CHECK((nvmlDeviceGetMemoryBusWidth(gpu, &value) == kSuccess && value == 5120));
  CHECK((nvmlDeviceGetMinorNumber(gpu, &value) == kSuccess && value == 1));
}

TEST_CASE("NVML: every processor is near a GPU") {
  const Open open;
  std::array<unsigned long, 64> set{};
  CHECK(nvmlDeviceSetCpuAffinity(open.gpus[0]) == kSuccess);
  REQUIRE(nvmlDeviceGetCpuAffinity(open.gpus[0], set.size(), set.data()) == kSuccess);
  long near = 0;
  for (const unsigned long word : set) near += std::popcount(word);
  CHECK(near == sysconf(_SC_NPROCESSORS_CONF));
  CHECK(nvmlDeviceGetCpuAffinity(open.gpus[0], 0, set.data()) == kInvalidArgument);
}
