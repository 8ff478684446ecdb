// Follows the frames of a Zstandard stream (RFC 8878, section 3.1) to see whether it stops inside one.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lockstep::trace {

/// Boost's decompressor accepts a truncated stream as complete, so the frame structure is followed
/// separately. This class looks at sizes only; the decompressor detects broken content.
class ZstdFrames {
 public:
  void feed(const char* bytes, std::size_t size);
  /// True between frames, where a stream may end.
  [[nodiscard]] bool at_boundary() const { return state_ == State::kMagic && have_ == 0 && skip_ == 0; }

 private:
  enum class State : std::uint8_t { kMagic, kDescriptor, kSkippableSize, kBlockHeader };

  void field_done();
  void expect(State state, unsigned bytes) {
    state_ = state;
    need_ = bytes;
    have_ = 0;
    value_ = 0;
  }

  State state_ = State::kMagic;
  unsigned need_ = 4, have_ = 0;  // bytes of the current field
  std::uint32_t value_ = 0;       // little endian
  std::uint64_t skip_ = 0;        // bytes to pass over before the next field
  bool checksum_ = false;
};

}  // namespace lockstep::trace
