// A .tracez file: read to its end or refused with an InputError.
#include "trace/tracez.hpp"

#include <algorithm>

#include "fuzz.hpp"
#include "util/error.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep::trace;
  const std::string path =
      lockstep::fuzz::write("kernel.tracez", {reinterpret_cast<const char*>(data), size});
  try {
    const auto feed = open_tracez(path);
    const std::uint64_t end = std::min<std::uint64_t>(feed->header().grid.count(), 100);
    feed->decode_now(end);
    for (std::uint64_t i = 0; i < end; ++i) feed->release(feed->take(i));
  } catch (const lockstep::InputError&) {
  }
  return 0;
}
