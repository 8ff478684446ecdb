// A launch script: read or refused with an InputError.
#include "cuda/launch_script.hpp"

#include <cstddef>
#include <cstdint>

#include "util/error.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep;
  try {
    const auto script = cuda::read_launch_script({reinterpret_cast<const char*>(data), size}, "fuzz");
    for (const cuda::ScriptStep& step : script.steps)
      if (step.line == 0) __builtin_trap();
  } catch (const InputError&) {
  }
  return 0;
}
