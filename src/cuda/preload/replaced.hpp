// For functions of a preloaded library that take the place of the C library's.
#pragma once

#include <dlfcn.h>

namespace lockstep::cuda {

template <class F>
F next(F, const char* name) {
  return reinterpret_cast<F>(dlsym(RTLD_NEXT, name));
}

}  // namespace lockstep::cuda

// The library's own function, looked up at its first call.
#define LOCKSTEP_NEXT(name) static const auto original = lockstep::cuda::next(&::name, #name)

#define LOCKSTEP_HOOK extern "C" __attribute__((visibility("default")))
