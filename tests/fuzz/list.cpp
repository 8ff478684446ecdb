// A kernel list: read or refused with an InputError.
#include <cstddef>
#include <cstdint>
#include <string>

#include "trace/byte_source.hpp"
#include "trace/kernel_list.hpp"
#include "util/error.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep::trace;
  try {
    const KernelList list = read_kernel_list(
        TextStream(open_memory(std::string(reinterpret_cast<const char*>(data), size)), "fuzz"));
    if (list.files.size() != list.lines.size()) __builtin_trap();
  } catch (const lockstep::InputError&) {
  }
  return 0;
}
