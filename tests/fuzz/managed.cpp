// A file of managed allocations: read or refused with an InputError.
#include "gpu/managed.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

#include "gpu/managed_file.hpp"
#include "trace/byte_source.hpp"
#include "util/error.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep;
  try {
    for (const auto& [first, bytes] : gpu::read_managed_file(trace::TextStream(
             trace::open_memory(std::string(reinterpret_cast<const char*>(data), size)), "fuzz")))
      if (bytes == 0 || first + bytes > gpu::kAddressEnd || first + bytes < first) __builtin_trap();
  } catch (const InputError&) {
  }
  return 0;
}
