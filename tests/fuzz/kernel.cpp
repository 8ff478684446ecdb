// One kernel's text, processed or interleaved: read to its end or refused with an InputError.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "trace/byte_source.hpp"
#include "trace/text_feed.hpp"
#include "util/error.hpp"

namespace {

void touch_addresses(const lockstep::trace::CtaTrace& cta) {
  for (const auto& warp : cta.warps) {
    std::uint32_t word = warp.first_word;
    for (std::uint32_t i = 0; i < warp.record_count; ++i) {
      const auto& record = cta.records[warp.first_record + i];
      lockstep::Address lanes[lockstep::kWarpSize];
      lockstep::trace::expand_addresses(record.form(), record.mask, cta.words.data() + word, lanes);
      word += lockstep::trace::address_words(record.form(), record.mask);
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep::trace;
  try {
    const auto feed =
        open_kernel_text(open_memory(std::string(reinterpret_cast<const char*>(data), size)), "fuzz.traceg");
    const std::uint64_t end = std::min<std::uint64_t>(feed->header().grid.count(), 100);
    feed->decode_now(end);
    for (std::uint64_t i = 0; i < end; ++i) {
      CtaTrace* const cta = feed->take(i);
      touch_addresses(*cta);
      feed->release(cta);
    }
  } catch (const lockstep::InputError&) {
  }
  return 0;
}
