// Any bytes as an archive with a static runtime, which is then looked for in them.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "cuda/preload/static_runtime.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view archive(reinterpret_cast<const char*>(data), size);
  for (const lockstep::cuda::ArchivedCode& code : lockstep::cuda::read_runtime_archive(archive)) {
    (void)code.find(archive);
    for (const auto& function : code.functions())
      if (function.offset + function.bytes > size) std::abort();
  }
  return 0;
}
