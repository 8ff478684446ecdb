// A machine of three GPUs for the library, and what its results are called.
#pragma once

#include <catch2/catch.hpp>
#include <cstdlib>

#include "cuda/settings.hpp"

struct Gpu;
extern "C" {
int nvmlInit_v2();
int nvmlShutdown();
int nvmlDeviceGetHandleByIndex_v2(unsigned, Gpu**);
}

namespace lockstep::nvml::test {

/// nvmlReturn_t.
enum {
  kSuccess = 0,
  kUninitialized = 1,
  kInvalidArgument = 2,
  kNotSupported = 3,
  kNotFound = 6,
  kTooSmall = 7,
  kDriverNotLoaded = 9
};

/// Three A100: 0 and 1 have four links to each other, both two to the switch 3; 2 has no way to 0. The
/// library reads it once in a process.
struct Open {
  Open() {
    setenv(cuda::kConfigVariable, "a100", 1);
    setenv(cuda::kDevicesVariable, "3", 1);
    setenv(cuda::kLinksVariable, "0-1*4,0-3*2,1-3*2", 1);
    setenv(cuda::kApartVariable, "0-2", 1);
    REQUIRE(nvmlInit_v2() == kSuccess);
    for (unsigned d = 0; d < 3; ++d) REQUIRE(nvmlDeviceGetHandleByIndex_v2(d, &gpus[d]) == kSuccess);
  }
  ~Open() {
    (void)nvmlShutdown();
    for (const char* name :
         {cuda::kConfigVariable, cuda::kDevicesVariable, cuda::kLinksVariable, cuda::kApartVariable})
      unsetenv(name);
  }
  Gpu* gpus[3] = {};
};

}  // namespace lockstep::nvml::test
