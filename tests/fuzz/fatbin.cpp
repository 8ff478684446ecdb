// Any bytes as a fatbin: its images are read, or it is refused with a UserError.
#include "cuda/fatbin.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "util/error.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep::cuda;
  try {
    for (const FatbinImage& image : read_fatbin({reinterpret_cast<const std::byte*>(data), size}, "fuzz"))
      if (image.bytes.size() > kMaxImageBytes) std::abort();
  } catch (const lockstep::UserError&) {
  }
  return 0;
}
