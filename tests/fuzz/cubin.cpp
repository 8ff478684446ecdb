// Any bytes as a cubin: read, or refused with a UserError.
#include "cuda/cubin.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

#include "util/error.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    (void)lockstep::cuda::read_cubin(std::as_bytes(std::span(data, size)), "fuzz");
  } catch (const lockstep::UserError&) {
  }
  return 0;
}
