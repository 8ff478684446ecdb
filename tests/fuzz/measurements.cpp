// Any bytes as a profiler's CSV, and as pairs of values: what is read, or one InputError.
#include "correlate/measurements.hpp"

#include <cmath>

#include "correlate/kernel_name.hpp"
#include "correlate/pairs_file.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "util/error.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep;
  try {
    const auto all = correlate::parse_measurements({reinterpret_cast<const char*>(data), size}, "file.csv");
    for (const correlate::Measurement& m : all.launches) {
      (void)correlate::kernel_name(m.kernel);
      for (const auto& [counter, value] : m.counters)
        if (!std::isfinite(value)) __builtin_trap();
    }
  } catch (const InputError&) {
  }
  try {
    for (const correlate::Pair& p :
         correlate::parse_pairs({reinterpret_cast<const char*>(data), size}, "p.csv"))
      if (!std::isfinite(p.values.hardware) || !std::isfinite(p.values.simulated)) __builtin_trap();
  } catch (const InputError&) {
  }
  return 0;
}
