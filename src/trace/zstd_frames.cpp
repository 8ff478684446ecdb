#include "trace/zstd_frames.hpp"

#include <algorithm>

namespace lockstep::trace {
namespace {

constexpr std::uint32_t kSkippableMagic = 0x184D2A50;  // low four bits free

/// Bytes of the frame header after its descriptor byte.
unsigned frame_header_bytes(std::uint32_t descriptor) {
  const bool single_segment = (descriptor & 0x20) != 0;
  constexpr unsigned kDictionary[] = {0, 1, 2, 4};
  constexpr unsigned kContentSize[] = {0, 2, 4, 8};
  const unsigned size_code = descriptor >> 6;
  const unsigned content_size = size_code == 0 && single_segment ? 1 : kContentSize[size_code];
  return (single_segment ? 0 : 1) + kDictionary[descriptor & 3] + content_size;
}

}  // namespace

void ZstdFrames::feed(const char* bytes, std::size_t size) {
  const char* const end = bytes + size;
  while (bytes != end) {
    if (skip_ > 0) {
      const auto step = std::min<std::uint64_t>(skip_, static_cast<std::uint64_t>(end - bytes));
      skip_ -= step;
      bytes += step;
      continue;
    }
    value_ |= static_cast<std::uint32_t>(static_cast<unsigned char>(*bytes++)) << (8 * have_);
    if (++have_ == need_) field_done();
  }
}

void ZstdFrames::field_done() {
  const std::uint32_t value = value_;
  switch (state_) {
    case State::kMagic:
      if ((value & ~15u) == kSkippableMagic) {
        expect(State::kSkippableSize, 4);
      } else {
        expect(State::kDescriptor, 1);
      }
      break;
    case State::kSkippableSize:
      skip_ = value;
      expect(State::kMagic, 4);
      break;
    case State::kDescriptor:
      checksum_ = (value & 4) != 0;
      skip_ = frame_header_bytes(value);
      expect(State::kBlockHeader, 3);
      break;
    case State::kBlockHeader: {
      const bool last = (value & 1) != 0;
      const bool run_length = (value >> 1 & 3) == 1;  // one byte, repeated
      skip_ = run_length ? 1 : value >> 3;
      if (last && checksum_) skip_ += 4;
      expect(last ? State::kMagic : State::kBlockHeader, last ? 4 : 3);
      break;
    }
  }
}

}  // namespace lockstep::trace
