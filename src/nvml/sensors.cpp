// What NVML says of a GPU's state. Clocks are the configuration's. Power, energy, temperature, fans and
// utilization are known after the simulation at the earliest (src/energy), so a program that asks for them
// gets NOT_SUPPORTED, as on boards without such a sensor.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "cuda/device.hpp"
#include "nvml/library.hpp"

LOCKSTEP_NVML_API nvmlDeviceGetClockInfo(const lockstep::nvml::Device*, int, unsigned*);

namespace lockstep::nvml {

namespace {

/// nvmlDeviceArchitecture_t by compute capability times 10: the last row that is not above it.
struct Architecture {
  unsigned arch, number;
};
constexpr std::array kArchitectures{Architecture{50, 3}, Architecture{60, 4},  Architecture{70, 5},
                                    Architecture{75, 6}, Architecture{80, 7},  Architecture{89, 8},
                                    Architecture{90, 9}, Architecture{100, 10}};

Return unknown(const Device* handle) {
  return device_api(handle, [](Library&, unsigned) { return Return::kNotSupported; });
}

/// `value(library, number)` as the reply.
template <class T, class Value>
Return reply(const Device* handle, T* to, Value&& value) {
  return device_api(handle, [&](Library& library, unsigned number) {
    if (to == nullptr) return Return::kInvalidArgument;
    *to = static_cast<T>(value(library, number));
    return Return::kSuccess;
  });
}

/// The one clock that a GPU of the simulator has.
Return clocks(const Device* handle, unsigned* count, unsigned* mhz, bool memory) {
  return device_api(handle, [&](Library& library, unsigned) {
    if (count == nullptr) return Return::kInvalidArgument;
    const unsigned room = std::exchange(*count, 1);
    if (room == 0 || mhz == nullptr) return Return::kInsufficientSize;
    *mhz = clock_mhz(library.machine().gpu, memory);
    return Return::kSuccess;
  });
}

}  // namespace

LOCKSTEP_NVML_API nvmlDeviceGetPowerUsage(const Device* handle, unsigned*) { return unknown(handle); }
LOCKSTEP_NVML_API nvmlDeviceGetTotalEnergyConsumption(const Device* handle, unsigned long long*) {
  return unknown(handle);
}
LOCKSTEP_NVML_API nvmlDeviceGetPowerManagementMode(const Device* handle, int*) { return unknown(handle); }
LOCKSTEP_NVML_API nvmlDeviceGetPowerManagementLimit(const Device* handle, unsigned*) {
  return unknown(handle);
}
LOCKSTEP_NVML_API nvmlDeviceGetPowerManagementDefaultLimit(const Device* handle, unsigned*) {
  return unknown(handle);
}
LOCKSTEP_NVML_API nvmlDeviceGetPowerManagementLimitConstraints(const Device* handle, unsigned*, unsigned*) {
  return unknown(handle);
}
LOCKSTEP_NVML_API nvmlDeviceGetEnforcedPowerLimit(const Device* handle, unsigned*) { return unknown(handle); }
LOCKSTEP_NVML_API nvmlDeviceGetTemperature(const Device* handle, int, unsigned*) { return unknown(handle); }
LOCKSTEP_NVML_API nvmlDeviceGetTemperatureV(const Device* handle, void*) { return unknown(handle); }
LOCKSTEP_NVML_API nvmlDeviceGetTemperatureThreshold(const Device* handle, int, unsigned*) {
  return unknown(handle);
}
LOCKSTEP_NVML_API nvmlDeviceGetFanSpeed(const Device* handle, unsigned*) { return unknown(handle); }
LOCKSTEP_NVML_API nvmlDeviceGetUtilizationRates(const Device* handle, void*) { return unknown(handle); }
LOCKSTEP_NVML_API nvmlDeviceGetPerformanceState(const Device* handle, int*) { return unknown(handle); }
LOCKSTEP_NVML_API nvmlDeviceGetPersistenceMode(const Device* handle, int*) { return unknown(handle); }
LOCKSTEP_NVML_API nvmlDeviceGetCurrentClocksThrottleReasons(const Device* handle, unsigned long long*) {
  return unknown(handle);
}
LOCKSTEP_NVML_API nvmlDeviceGetCurrentClocksEventReasons(const Device* handle, unsigned long long*) {
  return unknown(handle);
}
LOCKSTEP_NVML_API nvmlDeviceSetPersistenceMode(const Device* handle, int) { return unknown(handle); }
LOCKSTEP_NVML_API nvmlDeviceSetGpuLockedClocks(const Device* handle, unsigned, unsigned) {
  return unknown(handle);
}
LOCKSTEP_NVML_API nvmlDeviceResetGpuLockedClocks(const Device* handle) { return unknown(handle); }
LOCKSTEP_NVML_API nvmlDeviceSetApplicationsClocks(const Device* handle, unsigned, unsigned) {
  return unknown(handle);
}
LOCKSTEP_NVML_API nvmlDeviceResetApplicationsClocks(const Device* handle) { return unknown(handle); }
LOCKSTEP_NVML_API nvmlDeviceSetPowerManagementLimit(const Device* handle, unsigned) {
  return unknown(handle);
}

LOCKSTEP_NVML_API nvmlDeviceGetSupportedMemoryClocks(const Device* handle, unsigned* count, unsigned* mhz) {
  return clocks(handle, count, mhz, true);
}
LOCKSTEP_NVML_API nvmlDeviceGetSupportedGraphicsClocks(const Device* handle, unsigned memory_mhz,
                                                       unsigned* count, unsigned* mhz) {
  unsigned only = 0, one = 1;
  if (const Return found = clocks(handle, &one, &only, true); found != Return::kSuccess) return found;
  return memory_mhz == only ? clocks(handle, count, mhz, false) : Return::kNotFound;
}
LOCKSTEP_NVML_API nvmlDeviceGetClock(const Device* handle, int type, int, unsigned* mhz) {
  return nvmlDeviceGetClockInfo(handle, type, mhz);
}
LOCKSTEP_NVML_API nvmlDeviceGetApplicationsClock(const Device* handle, int type, unsigned* mhz) {
  return nvmlDeviceGetClockInfo(handle, type, mhz);
}
LOCKSTEP_NVML_API nvmlDeviceGetDefaultApplicationsClock(const Device* handle, int type, unsigned* mhz) {
  return nvmlDeviceGetClockInfo(handle, type, mhz);
}

LOCKSTEP_NVML_API nvmlDeviceGetArchitecture(const Device* handle, unsigned* architecture) {
  return reply(handle, architecture, [](Library& library, unsigned) {
    const unsigned arch = library.machine().gpu.gpu.arch;
    return std::ranges::find_if(kArchitectures.rbegin(), kArchitectures.rend(),
                                [&](const Architecture& row) { return row.arch <= arch; })
        ->number;
  });
}
LOCKSTEP_NVML_API nvmlDeviceGetMemoryBusWidth(const Device* handle, unsigned* bits) {
  return reply(handle, bits, [](Library& library, unsigned number) {
    return cuda::device_properties(library.machine().gpu, number).memoryBusWidth;
  });
}
LOCKSTEP_NVML_API nvmlDeviceGetMinorNumber(const Device* handle, unsigned* minor) {
  return reply(handle, minor, [](Library&, unsigned number) { return number; });
}
/// Several processes may use a GPU (NVML_COMPUTEMODE_DEFAULT).
LOCKSTEP_NVML_API nvmlDeviceGetComputeMode(const Device* handle, int* mode) {
  return reply(handle, mode, [](Library&, unsigned) { return 0; });
}

/// All processors are as near to a simulated GPU: a program's threads stay where they are.
LOCKSTEP_NVML_API nvmlDeviceSetCpuAffinity(const Device* handle) {
  return device_api(handle, [](Library&, unsigned) { return Return::kSuccess; });
}
LOCKSTEP_NVML_API nvmlDeviceClearCpuAffinity(const Device* handle) {
  return device_api(handle, [](Library&, unsigned) { return Return::kSuccess; });
}
LOCKSTEP_NVML_API nvmlDeviceGetCpuAffinity(const Device* handle, unsigned words, unsigned long* set) {
  return device_api(handle, [&](Library&, unsigned) {
    constexpr long kBits = 8 * sizeof *set;
    const long processors = std::max(1L, sysconf(_SC_NPROCESSORS_CONF));
    if (words == 0 || set == nullptr) return Return::kInvalidArgument;
    if (static_cast<long>(words) * kBits < processors) return Return::kInsufficientSize;
    std::fill_n(set, words, 0UL);
    for (long p = 0; p < processors; ++p) set[p / kBits] |= 1UL << (p % kBits);
    return Return::kSuccess;
  });
}

}  // namespace lockstep::nvml
