// PTX of which one instruction is changed: an operand, a modifier, the mnemonic. What the fuzz targets of
// lowering and execution begin with, since text that is changed anywhere is almost never read to its end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace lockstep::fuzz {

/// The bytes of an input as a series of choices; zeros where they are used up.
class Choices {
 public:
  Choices(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}

  /// From 0 to limit - 1.
  std::size_t below(std::size_t limit) {
    std::size_t value = 0;
    for (int i = 0; i < 3; ++i) value = value << 8 | (at_ < size_ ? data_[at_++] : 0u);
    return limit == 0 ? 0 : value % limit;
  }

 private:
  const std::uint8_t* data_;
  std::size_t size_, at_ = 0;
};

/// One of the example files, or a kernel with one instruction of tests/ptx/forms.inc, changed once or twice.
[[nodiscard]] std::string changed_ptx(Choices& choices);

}  // namespace lockstep::fuzz
