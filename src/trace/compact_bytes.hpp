// Numbers in the byte columns of a compact trace; see docs/trace-format.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::trace {

using Bytes = std::vector<std::uint8_t>;

/// What is wrong inside a block. The reader of the block adds the file and the block's place in it.
class BrokenBlock : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

[[nodiscard]] inline std::uint64_t zigzag(std::uint64_t difference) {
  return difference << 1 ^ (0 - (difference >> 63));
}
[[nodiscard]] inline std::uint64_t unzigzag(std::uint64_t coded) { return coded >> 1 ^ (0 - (coded & 1)); }

/// Seven bits per byte, low ones first; the top bit says that another byte follows.
inline void put_varint(Bytes& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<std::uint8_t>(value | 0x80));
  out.push_back(static_cast<std::uint8_t>(value));
}
/// Little endian.
inline void put_fixed(Bytes& out, std::uint64_t value, unsigned bytes) {
  for (unsigned i = 0; i < bytes; ++i) out.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
}
inline void put_text(Bytes& out, std::string_view text) {
  put_varint(out, text.size());
  out.insert(out.end(), text.begin(), text.end());
}
[[nodiscard]] inline std::uint64_t get_fixed(const std::uint8_t* p, unsigned bytes) {
  std::uint64_t value = 0;
  for (unsigned i = 0; i < bytes; ++i) value |= std::uint64_t{p[i]} << (8 * i);
  return value;
}

/// Reads what the functions above wrote. Throws BrokenBlock rather than pass the end.
class ByteReader {
 public:
  ByteReader() = default;
  explicit ByteReader(std::span<const std::uint8_t> bytes)
      : p_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  [[nodiscard]] std::size_t left() const { return static_cast<std::size_t>(end_ - p_); }
  std::uint8_t byte() {
    if (p_ == end_) [[unlikely]]
      too_short();
    return *p_++;
  }
  std::uint64_t varint() {
    if (p_ != end_ && *p_ < 0x80) [[likely]]
      return *p_++;
    return long_varint();
  }
  /// A varint that must not exceed `limit`; `what` names it.
  std::uint64_t number(std::uint64_t limit, const char* what) {
    const std::uint64_t value = varint();
    if (value > limit) too_large(value, limit, what);
    return value;
  }
  std::uint64_t difference() { return unzigzag(varint()); }
  std::uint64_t fixed(unsigned bytes) { return get_fixed(take(bytes).data(), bytes); }
  std::span<const std::uint8_t> take(std::size_t size) {
    if (size > left()) too_short();
    const std::span<const std::uint8_t> taken(p_, size);
    p_ += size;
    return taken;
  }
  std::string text() {
    const auto taken = take(static_cast<std::size_t>(varint()));
    return {taken.begin(), taken.end()};
  }
  void expect_end(const char* what) const {
    if (left() != 0) throw BrokenBlock(std::to_string(left()) + " bytes are left over in " + what);
  }

 private:
  [[noreturn]] static void too_short() { throw BrokenBlock("a column ends too early"); }
  [[noreturn]] static void too_large(std::uint64_t value, std::uint64_t limit, const char* what) {
    throw BrokenBlock(std::string(what) + " is " + std::to_string(value) + "; expected at most " +
                      std::to_string(limit));
  }
  std::uint64_t long_varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 70; shift += 7) {
      const std::uint64_t b = byte();
      if (shift == 63 && b > 1) break;
      value |= (b & 0x7f) << shift;
      if (b < 0x80) return value;
    }
    throw BrokenBlock("a number has more than 64 bits");
  }

  const std::uint8_t* p_ = nullptr;
  const std::uint8_t* end_ = nullptr;
};

}  // namespace lockstep::trace
