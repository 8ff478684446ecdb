// Calls of NVML at the edges of what they take: missing places for results, small buffers, both versions of a
// call, unknown numbers. Expected results are those of the NVML API Reference Guide.
#include <catch2/catch.hpp>
#include <cstring>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "machine.hpp"
#include "nvml/abi.hpp"

using lockstep::nvml::abi::FieldValue;
using lockstep::nvml::abi::PciInfo;
using lockstep::nvml::abi::PciInfoLegacy;
using namespace lockstep::nvml::test;

extern "C" {
int nvmlInit();
int nvmlInitWithFlags(unsigned);
const char* nvmlErrorString(int);
int nvmlSystemGetDriverVersion(char*, unsigned);
int nvmlSystemGetNVMLVersion(char*, unsigned);
int nvmlSystemGetCudaDriverVersion(int*);
int nvmlSystemGetCudaDriverVersion_v2(int*);
int nvmlDeviceGetCount(unsigned*);
int nvmlDeviceGetCount_v2(unsigned*);
int nvmlDeviceGetHandleByIndex(unsigned, Gpu**);
int nvmlDeviceGetHandleByPciBusId(const char*, Gpu**);
int nvmlDeviceGetHandleByPciBusId_v2(const char*, Gpu**);
int nvmlDeviceGetHandleByUUID(const char*, Gpu**);
int nvmlDeviceGetIndex(Gpu*, unsigned*);
int nvmlDeviceGetName(Gpu*, char*, unsigned);
int nvmlDeviceGetUUID(Gpu*, char*, unsigned);
int nvmlDeviceGetPciInfo(Gpu*, PciInfoLegacy*);
int nvmlDeviceGetPciInfo_v2(Gpu*, PciInfoLegacy*);
int nvmlDeviceGetPciInfo_v3(Gpu*, PciInfo*);
int nvmlDeviceGetCudaComputeCapability(Gpu*, int*, int*);
int nvmlDeviceGetClock(Gpu*, int, int, unsigned*);
int nvmlDeviceGetClockInfo(Gpu*, int, unsigned*);
int nvmlDeviceGetMaxClockInfo(Gpu*, int, unsigned*);
int nvmlDeviceGetApplicationsClock(Gpu*, int, unsigned*);
int nvmlDeviceGetDefaultApplicationsClock(Gpu*, int, unsigned*);
int nvmlDeviceGetSupportedMemoryClocks(Gpu*, unsigned*, unsigned*);
int nvmlDeviceGetSupportedGraphicsClocks(Gpu*, unsigned, unsigned*, unsigned*);
int nvmlDeviceGetNvLinkState(Gpu*, unsigned, int*);
int nvmlDeviceGetNvLinkCapability(Gpu*, unsigned, unsigned, unsigned*);
int nvmlDeviceGetNvLinkRemotePciInfo(Gpu*, unsigned, PciInfoLegacy*);
int nvmlDeviceGetNvLinkRemotePciInfo_v2(Gpu*, unsigned, PciInfo*);
int nvmlDeviceGetP2PStatus(Gpu*, Gpu*, int, int*);
int nvmlDeviceGetFieldValues(Gpu*, int, FieldValue*);
int nvmlDeviceGetGpuFabricInfo(Gpu*, void*);
int nvmlDeviceGetArchitecture(Gpu*, unsigned*);
int nvmlDeviceGetMemoryBusWidth(Gpu*, unsigned*);
int nvmlDeviceGetMinorNumber(Gpu*, unsigned*);
int nvmlDeviceGetComputeMode(Gpu*, int*);
int nvmlDeviceGetCpuAffinity(Gpu*, unsigned, unsigned long*);
int nvmlDeviceClearCpuAffinity(Gpu*);
int nvmlDeviceGetPowerUsage(Gpu*, unsigned*);
int nvmlDeviceGetFanSpeed(Gpu*, unsigned*);
int nvmlDeviceGetPerformanceState(Gpu*, int*);
int nvmlDeviceSetPersistenceMode(Gpu*, int);
}

namespace {

/// Calls of a device that have a place for their result, each without it.
std::vector<std::function<int(Gpu*)>> calls_without_place() {
  return {
      [](Gpu* g) { return nvmlDeviceGetIndex(g, nullptr); },
      [](Gpu* g) { return nvmlDeviceGetName(g, nullptr, 96); },
      [](Gpu* g) { return nvmlDeviceGetUUID(g, nullptr, 96); },
      [](Gpu* g) { return nvmlDeviceGetPciInfo(g, nullptr); },
      [](Gpu* g) { return nvmlDeviceGetPciInfo_v3(g, nullptr); },
      [](Gpu* g) { return nvmlDeviceGetCudaComputeCapability(g, nullptr, nullptr); },
      [](Gpu* g) { return nvmlDeviceGetClockInfo(g, 0, nullptr); },
      [](Gpu* g) { return nvmlDeviceGetMaxClockInfo(g, 0, nullptr); },
      [](Gpu* g) { return nvmlDeviceGetSupportedMemoryClocks(g, nullptr, nullptr); },
      [](Gpu* g) { return nvmlDeviceGetNvLinkState(g, 0, nullptr); },
      [](Gpu* g) { return nvmlDeviceGetNvLinkCapability(g, 0, 0, nullptr); },
      [](Gpu* g) { return nvmlDeviceGetNvLinkRemotePciInfo(g, 0, nullptr); },
      [](Gpu* g) { return nvmlDeviceGetNvLinkRemotePciInfo_v2(g, 0, nullptr); },
      [](Gpu* g) { return nvmlDeviceGetP2PStatus(g, g, 0, nullptr); },
      [](Gpu* g) { return nvmlDeviceGetFieldValues(g, 1, nullptr); },
      [](Gpu* g) { return nvmlDeviceGetArchitecture(g, nullptr); },
      [](Gpu* g) { return nvmlDeviceGetMemoryBusWidth(g, nullptr); },
      [](Gpu* g) { return nvmlDeviceGetMinorNumber(g, nullptr); },
      [](Gpu* g) { return nvmlDeviceGetComputeMode(g, nullptr); },
      [](Gpu* g) { return nvmlDeviceGetCpuAffinity(g, 1024, nullptr); },
  };
}

std::string uuid_text(Gpu* gpu) {
  char text[96];
  REQUIRE(nvmlDeviceGetUUID(gpu, text, sizeof text) == kSuccess);
  return text;
}

}  // namespace

TEST_CASE("NVML calls: a result without a place for it is an invalid argument, as is no device") {
  const Open open;
  Gpu* const other = reinterpret_cast<Gpu*>(const_cast<Open*>(&open));  // a pointer, but to no device
  for (const auto& call : calls_without_place()) {
    CHECK(call(open.gpus[0]) == kInvalidArgument);
    CHECK(call(nullptr) == kInvalidArgument);
    CHECK(call(other) == kInvalidArgument);
  }
  CHECK(nvmlDeviceGetCount_v2(nullptr) == kInvalidArgument);
  CHECK(nvmlDeviceGetHandleByIndex(0, nullptr) == kInvalidArgument);
  CHECK(nvmlDeviceGetHandleByPciBusId_v2(nullptr, nullptr) == kInvalidArgument);
  CHECK(nvmlDeviceGetHandleByPciBusId_v2("0:1:0.0", nullptr) == kInvalidArgument);
  CHECK(nvmlDeviceGetHandleByUUID(nullptr, nullptr) == kInvalidArgument);
  CHECK(nvmlSystemGetCudaDriverVersion_v2(nullptr) == kInvalidArgument);
  CHECK(nvmlSystemGetNVMLVersion(nullptr, 80) == kInvalidArgument);
  int major = 0;
  CHECK(nvmlDeviceGetCudaComputeCapability(open.gpus[0], &major, nullptr) == kInvalidArgument);
}

TEST_CASE("NVML calls: without nvmlInit every device call says so, whatever else is wrong") {
  Gpu* gpu = nullptr;
  {
    const Open open;
    gpu = open.gpus[0];
  }
  for (const auto& call : calls_without_place()) CHECK(call(gpu) == kUninitialized);
  char text[80];
  CHECK(nvmlSystemGetDriverVersion(text, sizeof text) == kUninitialized);
  CHECK(nvmlDeviceGetPowerUsage(gpu, nullptr) == kUninitialized);
  // Each of the ways to open it counts.
  const Open open;
  REQUIRE(nvmlInit() == kSuccess);
  REQUIRE(nvmlInitWithFlags(1) == kSuccess);
  REQUIRE((nvmlShutdown() == kSuccess && nvmlShutdown() == kSuccess));
  unsigned count = 0;
  CHECK((nvmlDeviceGetCount(&count) == kSuccess && count == 3));
}

TEST_CASE("NVML calls: a text needs room for its end, and what does not fit is left alone") {
  const Open open;
  const std::string uuid = uuid_text(open.gpus[0]);
  std::string buffer(64, '?');
  const auto bytes = static_cast<unsigned>(uuid.size());
  CHECK(nvmlDeviceGetUUID(open.gpus[0], buffer.data(), bytes) == kTooSmall);
  CHECK(buffer == std::string(64, '?'));
  CHECK(nvmlDeviceGetUUID(open.gpus[0], buffer.data(), bytes + 1) == kSuccess);
  CHECK(buffer == uuid + '\0' + std::string(64 - uuid.size() - 1, '?'));
  CHECK(nvmlDeviceGetName(open.gpus[0], buffer.data(), 0) == kTooSmall);
  char name[96];
  REQUIRE(nvmlDeviceGetName(open.gpus[0], name, sizeof name) == kSuccess);
  CHECK(std::string(name) == "a100");
}

TEST_CASE("NVML calls: each GPU has a UUID of its own, in the form of RFC 9562") {
  const Open open;
  std::set<std::string> uuids;
  for (Gpu* gpu : open.gpus) {
    const std::string uuid = uuid_text(gpu);
    uuids.insert(uuid);
    CHECK_THAT(uuid, Catch::Matches("GPU-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"));
  }
  CHECK(uuids.size() == 3);
  Gpu* found = nullptr;
  CHECK(nvmlDeviceGetHandleByUUID("GPU-00000000-0000-0000-0000-000000000000", &found) == kNotFound);
  CHECK(nvmlDeviceGetHandleByUUID("", &found) == kNotFound);
  CHECK(found == nullptr);
}

TEST_CASE("NVML calls: a bus that is not a GPU's is not found") {
  const Open open;
  Gpu* found = nullptr;
  // Buses 1 to 3 are the GPUs'; domain, device and function are 0.
  for (const char* bus : {"0000:00:00.0", "0001:01:00.0", "0000:01:01.0", "0000:01:00.1", "0000:ff:00.0"}) {
    CHECK(nvmlDeviceGetHandleByPciBusId(bus, &found) == kNotFound);
    CHECK(found == nullptr);
  }
  CHECK(nvmlDeviceGetHandleByPciBusId("00000000:03:00", &found) == kSuccess);  // without a function
  CHECK(found == open.gpus[2]);
  for (const char* bus : {"", "0000", "0000:01"})
    CHECK(nvmlDeviceGetHandleByPciBusId(bus, &found) == kInvalidArgument);
}

TEST_CASE("NVML calls: old and new forms of a call agree, and write all of their structure and no more") {
  const Open open;
  struct {
    PciInfoLegacy info;
    unsigned char behind[8];
  } old;
  struct {
    PciInfo info;
    unsigned char behind[8];
  } now;
  for (const bool remote : {false, true}) {
    std::memset(&old, 0xee, sizeof old);
    std::memset(&now, 0xee, sizeof now);
    if (remote) {
      REQUIRE(nvmlDeviceGetNvLinkRemotePciInfo(open.gpus[0], 4, &old.info) == kSuccess);
      REQUIRE(nvmlDeviceGetNvLinkRemotePciInfo_v2(open.gpus[0], 4, &now.info) == kSuccess);
    } else {
      REQUIRE(nvmlDeviceGetPciInfo_v2(open.gpus[1], &old.info) == kSuccess);
      REQUIRE(nvmlDeviceGetPciInfo_v3(open.gpus[1], &now.info) == kSuccess);
    }
    const unsigned bus = remote ? 4 : 2;  // link 4 of GPU 0 leads to the switch
    CHECK((old.info.bus == bus && now.info.bus == bus));
    CHECK((old.info.domain == 0 && now.info.domain == 0 && old.info.device == 0 && now.info.device == 0));
    CHECK(std::string(old.info.bus_id) == now.info.bus_id_legacy);
    CHECK(std::string("0000") + old.info.bus_id == now.info.bus_id);
    for (const unsigned reserved : old.info.reserved) CHECK(reserved == 0);
    for (const auto* behind : {old.behind, now.behind})
      for (unsigned i = 0; i < 8; ++i) CHECK(behind[i] == 0xee);
  }
  int one = 0, two = 0;
  CHECK((nvmlSystemGetCudaDriverVersion(&one) == kSuccess &&
         nvmlSystemGetCudaDriverVersion_v2(&two) == kSuccess));
  CHECK(one == two);
  char driver[80], library[80];
  REQUIRE(nvmlSystemGetDriverVersion(driver, sizeof driver) == kSuccess);
  REQUIRE(nvmlSystemGetNVMLVersion(library, sizeof library) == kSuccess);
  CHECK(std::string(library) == std::string("13.") + driver);  // CUDA's major version before the driver's
}

TEST_CASE("NVML calls: clocks by their kind, and the clocks that go with a memory clock") {
  const Open open;
  Gpu* const gpu = open.gpus[0];
  constexpr int kGraphics = 0, kSm = 1, kMemory = 2, kVideo = 3;
  unsigned mhz = 0;
  for (const auto& [kind, expected] : {std::pair{kGraphics, 1410u}, {kSm, 1410u}, {kMemory, 1593u}}) {
    CHECK((nvmlDeviceGetClockInfo(gpu, kind, &mhz) == kSuccess && mhz == expected));
    CHECK((nvmlDeviceGetMaxClockInfo(gpu, kind, &mhz) == kSuccess && mhz == expected));
    CHECK((nvmlDeviceGetClock(gpu, kind, 0, &mhz) == kSuccess && mhz == expected));
    CHECK((nvmlDeviceGetApplicationsClock(gpu, kind, &mhz) == kSuccess && mhz == expected));
    CHECK((nvmlDeviceGetDefaultApplicationsClock(gpu, kind, &mhz) == kSuccess && mhz == expected));
  }
  CHECK(nvmlDeviceGetClockInfo(gpu, kVideo, &mhz) == kNotSupported);
  unsigned count = 5, clocks[5] = {1, 1, 1, 1, 1};
  CHECK(nvmlDeviceGetSupportedMemoryClocks(gpu, &count, clocks) == kSuccess);
  CHECK((count == 1 && clocks[0] == 1593 && clocks[1] == 1));
  count = 0;
  CHECK(nvmlDeviceGetSupportedGraphicsClocks(gpu, 1593, &count, clocks) == kTooSmall);
  CHECK(count == 1);  // how many there are
}

TEST_CASE("NVML calls: links can do what NVLink does, and read, write and atomics are what peers may") {
  const Open open;
  // Peers, system memory, peers' atomics, atomics of system memory, SLI, whether the link is valid.
  const unsigned has[] = {1, 0, 1, 0, 0, 1};
  for (unsigned capability = 0; capability < 6; ++capability) {
    unsigned found = 7;
    CHECK(nvmlDeviceGetNvLinkCapability(open.gpus[0], 5, capability, &found) == kSuccess);
    CHECK(found == has[capability]);
  }
  unsigned found = 7;
  CHECK(nvmlDeviceGetNvLinkCapability(open.gpus[0], 6, 0, &found) == kInvalidArgument);
  CHECK(found == 7);
  constexpr int kOk = 0, kNo = 5;
  int status = -1;
  for (const auto& [access, expected] : {std::pair{0, kOk}, {1, kOk}, {2, kOk}, {3, kOk}, {4, kNo}}) {
    CHECK(nvmlDeviceGetP2PStatus(open.gpus[0], open.gpus[1], access, &status) == kSuccess);
    CHECK(status == expected);
    CHECK(nvmlDeviceGetP2PStatus(open.gpus[2], open.gpus[0], access, &status) == kSuccess);
    CHECK(status == kNo);
  }
  CHECK(nvmlDeviceGetP2PStatus(open.gpus[0], open.gpus[0], 2, &status) == kSuccess);
  CHECK(status == kNo);  // a GPU has no NVLink to itself
  CHECK(nvmlDeviceGetP2PStatus(open.gpus[0], open.gpus[1], -1, &status) == kInvalidArgument);
}

TEST_CASE("NVML calls: fields are looked up one by one, and one that fails does not stop the others") {
  const Open open;
  constexpr unsigned kC2cLinks = 170, kLinkState = 165;
  FieldValue values[4] = {};
  values[0].field = kLinkState, values[0].scope = 99;
  values[1].field = kC2cLinks;
  values[2].field = 12345;
  values[3].field = kLinkState, values[3].scope = 0;
  for (FieldValue& value : values) value.timestamp = 1, value.value.ui = 77;
  REQUIRE(nvmlDeviceGetFieldValues(open.gpus[0], 4, values) == kSuccess);
  const int results[] = {kInvalidArgument, kSuccess, kNotSupported, kSuccess};
  for (unsigned i = 0; i < 4; ++i) CHECK(static_cast<int>(values[i].result) == results[i]);
  CHECK((values[1].value.ui == 0 && values[1].value_type == 1));  // no link to a CPU; unsigned
  CHECK(values[3].value.ui == 1);
  CHECK(nvmlDeviceGetFieldValues(open.gpus[0], -1, values) == kInvalidArgument);
  CHECK(nvmlDeviceGetFieldValues(open.gpus[0], 0, values) == kSuccess);
  CHECK(nvmlDeviceGetGpuFabricInfo(open.gpus[0], values) == kNotSupported);
}

TEST_CASE("NVML calls: a set of processors needs a word for the last one; GPUs take several processes") {
  const Open open;
  std::vector<unsigned long> set(64, ~0ul);
  CHECK(nvmlDeviceGetCpuAffinity(open.gpus[0], 64, set.data()) == kSuccess);
  CHECK(set.back() == 0);  // 4096 processors are more than there are here
  CHECK((set.front() & 1) == 1);
  CHECK(nvmlDeviceClearCpuAffinity(open.gpus[0]) == kSuccess);
  int mode = -1;
  CHECK(
      (nvmlDeviceGetComputeMode(open.gpus[0], &mode) == kSuccess && mode == 0));  // NVML_COMPUTEMODE_DEFAULT
  CHECK(nvmlDeviceGetFanSpeed(open.gpus[0], nullptr) == kNotSupported);
  CHECK(nvmlDeviceGetPerformanceState(open.gpus[0], &mode) == kNotSupported);
  CHECK(nvmlDeviceSetPersistenceMode(open.gpus[0], 1) == kNotSupported);
  CHECK(mode == 0);
}

TEST_CASE("NVML calls: results have the texts of NVML") {
  const std::pair<int, const char*> texts[] = {
      {0, "Success"},   {1, "Uninitialized"},     {2, "Invalid Argument"},  {3, "Not Supported"},
      {6, "Not Found"}, {7, "Insufficient Size"}, {9, "Driver Not Loaded"}, {999, "Unknown Error"}};
  for (const auto& [result, text] : texts) CHECK(nvmlErrorString(result) == std::string(text));
  CHECK(nvmlErrorString(54321) == std::string("Unknown Error"));
}
