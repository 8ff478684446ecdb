// Any bytes as a kernel file, an interleaved one or a list: a trace, or one UserError.
#include <algorithm>
#include <array>

#include "tests/fuzz/fuzz.hpp"
#include "trace/kernel_trace.hpp"
#include "util/error.hpp"

using namespace lockstep;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  constexpr std::array kNames{"kernel-1.traceg",    "kernel-1.trace",     "kernelslist.g",
                              "kernel-1.traceg.gz", "kernel-1.traceg.xz", "kernel-1.traceg.zst"};
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::string file = fuzz::write(kNames[data[0] % kNames.size()], bytes);
  try {
    const auto set = trace::open_trace(file, {.strict = (data[0] & 0x80) != 0});
    for (std::uint32_t kernel = 0; kernel < set->kernels().size() && kernel < 4; ++kernel) {
      const auto feed = set->open(kernel);
      const std::uint64_t ctas = std::min<std::uint64_t>(feed->header().grid.count(), 16);
      feed->decode_now(ctas);
      for (std::uint64_t i = 0; i < ctas; ++i) feed->release(feed->take(i));
    }
  } catch (const UserError&) {
  }
  std::filesystem::remove(file);
  return 0;
}
