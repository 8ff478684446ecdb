// Any bytes as a profiler's CSV: measurements, or one InputError.
#include "correlate/measurements.hpp"

#include <cmath>

#include "correlate/kernel_name.hpp"
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
  return 0;
}
