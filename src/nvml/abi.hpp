// Numbers and structures of NVML's C interface (NVML API Reference Guide, R580; x86-64).
#pragma once

#include <cstdint>

namespace lockstep::nvml::abi {

/// nvmlReturn_t.
enum class Return : int {
  kSuccess = 0,
  kUninitialized = 1,
  kInvalidArgument = 2,
  kNotSupported = 3,
  kNotFound = 6,
  kInsufficientSize = 7,
  kDriverNotLoaded = 9,
  kUnknown = 999,
};

/// nvmlPciInfo_t before version 3.
struct PciInfoLegacy {
  char bus_id[16];  // 0000:01:00.0
  unsigned domain, bus, device;
  unsigned device_id;     // 16 bits of device, 16 of vendor
  unsigned subsystem_id;  // likewise
  unsigned reserved[4];
};

/// nvmlPciInfo_t of version 3.
struct PciInfo {
  char bus_id_legacy[16];
  unsigned domain, bus, device;
  unsigned device_id, subsystem_id;
  char bus_id[32];  // 00000000:01:00.0
};

/// nvmlFieldValue_t.
struct FieldValue {
  unsigned field, scope;
  long long timestamp, latency_us;
  int value_type;  // nvmlValueType_t
  Return result;
  union {
    double d;
    unsigned ui;
    unsigned long long ull;
  } value;
};

static_assert(sizeof(PciInfoLegacy) == 52 && sizeof(PciInfo) == 68 && sizeof(FieldValue) == 40);

}  // namespace lockstep::nvml::abi
